/* Host functions about types. */
#include "core/host/host_handle.h"

#include <pto/abi.h>

/* NULL for none and after a diagnostic. */
static inline __attribute__((always_inline)) const type_node *node_of(run_context *c, pto_type h)
{
    const type_id t = type_from(c, h);
    return t != 0 ? type_at(c->ir, t) : NULL;
}

pto_type_kind host_type_kind_of(pto_type h)
{
    const type_node *t = node_of(run_of(h.run), h);
    return t != NULL ? t->kind : PTO_TYPE_NONE;
}

pto_dtype host_type_dtype(pto_type h)
{
    const type_node *t = node_of(run_of(h.run), h);
    return t != NULL ? t->dtype : PTO_DTYPE_NONE;
}

uint32_t host_type_rank(pto_type h)
{
    const type_node *t = node_of(run_of(h.run), h);
    return t != NULL ? t->rank : 0;
}

pto_expr host_type_dim(pto_type h, uint32_t dim)
{
    run_context *c = run_of(h.run);
    const type_node *t = node_of(c, h);
    return expr_handle(c, t != NULL && dim < t->rank ? t->dims[dim] : 0);
}

pto_expr host_type_stride(pto_type h, uint32_t dim)
{
    run_context *c = run_of(h.run);
    const type_node *at = node_of(c, h);
    if (at == NULL || dim >= at->rank) return expr_handle(c, 0);
    const type_node t = *at; /* making expressions may move the table */
    if (t.has_strides) return expr_handle(c, t.strides[dim]);
    expr_id stride = expr_const(c->ir, 1);
    for (uint32_t d = dim + 1; d < t.rank; d++) stride = expr_mul(c->ir, stride, t.dims[d]);
    return expr_handle(c, stride);
}

pto_space host_type_space(pto_type h)
{
    const type_node *t = node_of(run_of(h.run), h);
    return t != NULL && (t->kind == TYPE_TILE || t->kind == TYPE_CHANNEL) ? t->space : PTO_SPACE_NONE;
}

pto_layout host_type_layout(pto_type h)
{
    const type_node *t = node_of(run_of(h.run), h);
    return t != NULL && (t->kind == TYPE_TILE || t->kind == TYPE_CHANNEL) ? t->layout : PTO_LAYOUT_NONE;
}

/* ---- making ---- */

static bool is_dtype(run_context *c, pto_dtype d)
{
    if (d != DTYPE_NONE && d < DTYPE_COUNT) return true;
    run_misuse(c, &E1324, "asked for a type with the element type %u, which does not exist", d);
    return false;
}

pto_type host_type_scalar(const pto_run *run, pto_dtype d)
{
    run_context *c = run_of(run);
    return type_handle(c, is_dtype(c, d) ? type_scalar(c->ir, (dtype)d) : 0);
}

/* Extents are constants of at least 0, or expressions over symbols. */
static bool dims_from(run_context *c, uint32_t rank, const pto_expr *dims, expr_id *out)
{
    if (rank > TYPE_MAX_RANK) {
        run_misuse(c, &E1324, "asked for a type of rank %u; at most 8 is possible", rank);
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        int64_t n = 0;
        out[i] = expr_from(c, dims[i]);
        if (out[i] != 0 && !expr_at(c->ir, out[i])->has_slot && (!expr_is_const(c->ir, out[i], &n) || n >= 0)) continue;
        run_misuse(c, &E1324, "asked for a type whose extent %u is %s", i,
                   out[i] == 0                        ? "none"
                   : expr_at(c->ir, out[i])->has_slot ? "over values"
                                                      : "negative");
        return false;
    }
    return true;
}

pto_type host_type_tensor(const pto_run *run, pto_dtype d, uint32_t rank, const pto_expr *dims)
{
    run_context *c = run_of(run);
    expr_id ids[TYPE_MAX_RANK];
    if (!is_dtype(c, d) || !dims_from(c, rank, dims, ids)) return type_handle(c, 0);
    return type_handle(c, type_tensor(c->ir, (dtype)d, rank, ids));
}

pto_type host_type_gm(const pto_run *run, pto_dtype d, uint32_t rank, const pto_expr *dims)
{
    run_context *c = run_of(run);
    expr_id ids[TYPE_MAX_RANK];
    if (!is_dtype(c, d) || !dims_from(c, rank, dims, ids)) return type_handle(c, 0);
    return type_handle(c, type_gm(c->ir, (dtype)d, rank, ids));
}

static bool is_name(run_context *c, name_kind kind, uint32_t id)
{
    if (id >= role_names_count(context_names(c->ir), kind)) return false;
    run_note_name(c, kind, id);
    return true;
}

pto_type host_type_tile(const pto_run *run, pto_dtype d, int64_t rows, int64_t columns, pto_space s, pto_layout l)
{
    run_context *c = run_of(run);
    if (!is_dtype(c, d)) return type_handle(c, 0);
    if (rows < 1 || columns < 1 || rows > INT32_MAX || columns > INT32_MAX || !is_name(c, NAME_SPACE, s) ||
        !is_name(c, NAME_LAYOUT, l)) {
        run_misuse(c, &E1324, "asked for a tile type of %lld x %lld elements in space %u with layout %u",
                   (long long)rows, (long long)columns, s, l);
        return type_handle(c, 0);
    }
    return type_handle(c, type_tile(c->ir, (dtype)d, rows, columns, s, l));
}

pto_type host_type_buffer(const pto_run *run)
{
    run_context *c = run_of(run);
    return type_handle(c, type_buffer(c->ir));
}
