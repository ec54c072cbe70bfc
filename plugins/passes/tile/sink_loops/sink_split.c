/* What instances of the new nest may divide: a dim of each tensor that the loop writes to, so that all that is read and
 * written of it by an index of each nest's grid lies in rows of that index. */
#include "sink_loops.h"

enum { BLOCK_MAX = 1 << 20 /* rows of an instance */ };

static pto_value index_of(const sink_nest *n) { return pto_block_arg(pto_body(n->op), (uint32_t)n->index); }

static pto_value memory_of(pto_op access)
{
    return pto_op_operand(access, PTO_IS(access, STORE) ? pto_op_operand_count(access) - 1 : 0);
}

/* ---- one access ---- */

/* The dim of the tensor that the nest's index walks along in the access; -1: none. Sets the step of the nest. */
static int32_t dim_along(sink_nest *n, pto_op access)
{
    for (uint32_t d = 0; d < pto_expr_count_of(access, PTO_STR("offsets")); d++) {
        const int64_t step = sink_step_along(pto_expr_of(access, PTO_STR("offsets"), d), index_of(n));
        if (step == 0) continue;
        if ((n->step != 0 && n->step != step) || sink_window_extent(access, d) > step) return -1;
        n->step = step;
        return (int32_t)d;
    }
    return -1;
}

/* The index of the nest that walks along a dim of the tensor; -1: none. */
static int32_t index_along(const sink_nest *n, pto_op access, uint32_t dim)
{
    for (uint32_t i = 0; i < pto_expr_count_of(n->op, PTO_STR("to")); i++)
        if (sink_step_along(pto_expr_of(access, PTO_STR("offsets"), dim), pto_block_arg(pto_body(n->op), i)) != 0)
            return (int32_t)i;
    return -1;
}

/* ---- all of them ---- */

static int set_dim(sink_memory *m, int32_t dim, int *has_changed)
{
    if (m->dim == dim) return 1;
    if (m->dim >= 0) return 0;
    m->dim = dim;
    *has_changed = 1;
    return 1;
}

/* What an access says of its nest and its tensor; 0: they do not fit. */
static int visit_access(sink_body *b, sink_nest *n, pto_op op, int *has_changed)
{
    for (uint32_t k = 0; k < pto_op_operand_count(op); k++) {
        const sink_name *name = sink_body_find(b, pto_op_operand(op, k));
        if (name == NULL) continue;
        if ((!PTO_IS(op, LOAD) && !PTO_IS(op, STORE)) || name->is_view || !pto_value_same(memory_of(op), name->value))
            return 0;
        sink_memory *m = &b->memories[name->memory];
        if (n->index < 0 && m->dim >= 0) {
            n->index = index_along(n, op, (uint32_t)m->dim);
            if (n->index < 0) return 0;
            *has_changed = 1;
        }
        if (n->index < 0) continue;
        const int32_t dim = dim_along(n, op);
        if (dim < 0 || !set_dim(m, dim, has_changed)) return 0;
    }
    return 1;
}

static int visit_nest(sink_body *b, sink_nest *n, int *has_changed)
{
    PTO_WALK(n->op, op) if (!visit_access(b, n, op, has_changed)) return 0;
    return 1;
}

/* A tensor and what it becomes are divided alike. */
static int visit_homes(sink_body *b, int *has_changed)
{
    for (uint32_t i = 0; i < b->memory_count; i++) {
        sink_memory *m = &b->memories[i], *home = m->home >= 0 ? &b->memories[m->home] : m;
        if (!pto_type_same(m->type, home->type)) return 0;
        if (m->dim >= 0 && !set_dim(home, m->dim, has_changed)) return 0;
        if (home->dim >= 0 && !set_dim(m, home->dim, has_changed)) return 0;
    }
    return 1;
}

/* Whether instances can take over an index that the nest reads as a number, too. */
static int has_free_index(const sink_body *b, const sink_nest *n)
{
    if (n->step == b->block) return 1;
    PTO_EACH_USE(index_of(n), use) {
        if (use.slot < pto_op_operand_count(use.op)) return 0;
    }
    return 1;
}

/* Blocks of rows that all nests have whole steps of. */
static int find_block(sink_body *b)
{
    b->block = 1;
    for (uint32_t i = 0; i < b->memory_count; i++) {
        const sink_memory *m = &b->memories[i];
        if (m->dim < 0) return 0;
        const pto_expr extent = pto_type_dim(m->type, (uint32_t)m->dim);
        if (i == 0) b->extent = extent;
        if (!pto_expr_equal(extent, b->extent)) return 0;
    }
    for (uint32_t i = 0; i < b->nest_count; i++) {
        const sink_nest *n = &b->nests[i];
        if (n->index < 0 || n->step == 0) return 0;
        const pto_expr steps = pto_expr_ceildiv(b->extent, pto_expr_const(b->run, n->step));
        if (!pto_expr_equal(pto_expr_of(n->op, PTO_STR("to"), (uint32_t)n->index), steps)) return 0;
        b->block *= n->step / pto_gcd(b->block, n->step);
        if (b->block > BLOCK_MAX) return 0;
    }
    for (uint32_t i = 0; i < b->nest_count; i++)
        if (!has_free_index(b, &b->nests[i])) return 0;
    return 1;
}

/* Divides along the given index of the first nest, and along what follows from it. */
static int split_along(sink_body *b, int32_t index)
{
    int has_changed = 1;
    for (uint32_t i = 0; i < b->memory_count; i++) b->memories[i].dim = -1;
    for (uint32_t i = 0; i < b->nest_count; i++) {
        b->nests[i].index = i == 0 ? index : -1;
        b->nests[i].step = 0;
    }
    while (has_changed) {
        has_changed = 0;
        for (uint32_t i = 0; i < b->nest_count; i++)
            if (!visit_nest(b, &b->nests[i], &has_changed)) return 0;
        if (!visit_homes(b, &has_changed)) return 0;
    }
    return find_block(b);
}

void sink_body_split(sink_body *b)
{
    if (b->why != NULL) return;
    const uint32_t dims = pto_expr_count_of(b->nests[0].op, PTO_STR("to"));
    for (uint32_t i = 0; i < dims; i++)
        if (split_along(b, (int32_t)i)) return;
    b->why_whole = "no dim divides what the nests read and write";
    for (uint32_t i = 0; i < b->nest_count; i++) b->nests[i].index = -1;
}

int64_t sink_body_share(const sink_body *b, const sink_nest *n) { return n->index < 0 ? 1 : b->block / n->step; }

int sink_body_is_single(const sink_body *b, const sink_nest *n)
{
    int64_t extent = 0;
    if (sink_body_share(b, n) != 1) return 0;
    for (uint32_t i = 0; i < pto_expr_count_of(n->op, PTO_STR("to")); i++)
        if ((int32_t)i != n->index &&
            (!pto_expr_is_const(pto_expr_of(n->op, PTO_STR("to"), i), &extent) || extent != 1))
            return 0;
    return 1;
}
