/* Sums whose order is stated. Instructions add up rows of columns one by one, and columns of a row as far as they fit
 * into a tile; where the order is another one the dims move.
 *
 *     %s = tensor.reduce_sum %x {axis = 1, order = "ascending"}      %t = tensor.transpose %x {perm = [1, 0]}
 *         : tensor<$N x 1 x f32>                                =>   %r = tensor.reduce_sum %t {axis = 0, ..}
 *                                                                    %s = tensor.reshape %r : tensor<$N x 1 x f32>
 *
 * One long row alone becomes two equal columns, since columns of one element are taken for one row.
 *
 *     %s = tensor.reduce_sum %x {axis = 1, order = "tree(4)"}        %p = tensor.reshape %x : tensor<$N x 8 x 4 x f32>
 *         : tensor<$N x 1 x f32>                                =>   %q = tensor.reduce_sum %p {axis = 1, ..}
 *                                                                    %a = tensor.view %q, elements 0 and 1 of 4
 *                                                                    %b = tensor.view %q, elements 2 and 3
 *                                                                    and so on with the sum of the two, once more
 *
 * Terms that n does not divide are filled up with 0, of products with 1. All in f32, rounded once. */
#include "expand_math.h"

enum { ORDERED_ROW_MAX = 8192 }; /* columns that surely fit into a tile */

typedef struct ordered {
    pto_op op;
    pto_type type;    /* of what is reduced */
    uint32_t reduced; /* dims, bit by bit */
    int64_t lanes;    /* n of a tree; 0: ascending */
    /* Of the dims with other extents than 1: some are reduced, some stay; the reduced ones are neighbours, before or
     * after all others. */
    int has_reduced, has_kept, is_together, is_first, is_last;
} ordered;

static int is_reduced(const ordered *s, uint32_t d) { return (s->reduced >> d & 1) != 0; }

static void find_places(ordered *s)
{
    int was_reduced = 0;
    s->is_together = s->is_first = s->is_last = 1;
    for (uint32_t d = 0; d < pto_type_rank(s->type); d++) {
        int64_t n;
        if (pto_dim_is_const(s->type, d, &n) && n == 1) continue;
        if (is_reduced(s, d) && s->has_kept) s->is_first = 0;
        if (is_reduced(s, d) && s->has_reduced && !was_reduced) s->is_together = 0;
        if (!is_reduced(s, d) && s->has_reduced) s->is_last = 0;
        was_reduced = is_reduced(s, d);
        *(was_reduced ? &s->has_reduced : &s->has_kept) = 1;
    }
}

/* False: the order is any, or that of the terms does not matter. */
static int read(ordered *s, pto_op op)
{
    if (!PTO_IS(op, REDUCE_SUM) && !PTO_IS(op, REDUCE_PROD)) return 0;
    const pto_str order = pto_attr_str_of(op, PTO_STR("order"));
    *s = (ordered){.op = op, .type = pto_value_type(pto_op_operand(op, 0))};
    if (!pto_dtype_is_float(pto_type_dtype(s->type)) || order.n == 0 || pto_str_is(order, "any")) return 0;
    s->reduced = pto_axes_of(op, pto_type_rank(s->type));
    s->lanes = pto_tree_of(op);
    find_places(s);
    return 1;
}

/* The product of the extents of the reduced dims, or of the others. */
static pto_expr extent_of(const ordered *s, int of_reduced)
{
    pto_expr n = pto_expr_const(s->op.run, 1);
    for (uint32_t d = 0; d < pto_type_rank(s->type); d++)
        if (is_reduced(s, d) == of_reduced) n = pto_expr_mul(n, pto_type_dim(s->type, d));
    return n;
}

int ordered_sum_expands(pto_op op)
{
    ordered s;
    int64_t n;
    if (!read(&s, op)) return 0;
    if (s.lanes != 0) return 1;
    if (!s.has_reduced) return 0;
    if (!s.is_together) return 1;
    if (!s.is_last) return 0;
    if (!pto_str_is(pto_opt_str(op.run, OPT_ROW_SUMS), "ascending")) return 1;
    return !(pto_expr_is_const(extent_of(&s, 1), &n) && n <= ORDERED_ROW_MAX);
}

/* ---- making ops ---- */

static pto_spec begin(const ordered *s, uint32_t kind, const char *suffix, pto_value a, pto_type type)
{
    pto_spec spec = pto_spec_make(s->op.run, pto_kind(s->op.run, kind));
    pto_spec_operand(&spec, a);
    pto_spec_result(&spec, type);
    pto_spec_name(&spec, pto_name_after(s->op, pto_s(suffix)));
    return spec;
}

static pto_value end(const ordered *s, pto_spec *spec) { return pto_spec_value(spec, pto_before(s->op)); }

static pto_type shape(const ordered *s, pto_value like, uint32_t rank, const pto_expr *dims)
{
    return pto_type_tensor(s->op.run, pto_type_dtype(pto_value_type(like)), rank, dims);
}

static pto_value reshaped(const ordered *s, const char *suffix, pto_value a, uint32_t rank, const pto_expr *dims)
{
    pto_spec spec = begin(s, KIND_RESHAPE, suffix, a, shape(s, a, rank, dims));
    return end(s, &spec);
}

static pto_value converted(const ordered *s, const char *suffix, pto_value a, pto_dtype to)
{
    const pto_type type = pto_value_type(a);
    if (pto_type_dtype(type) == to) return a;
    pto_spec spec = begin(s, KIND_CAST, suffix, a, pto_type_with_dtype(s->op.run, type, to));
    return end(s, &spec);
}

/* Part of a dim: `count` from `at` on. */
static pto_value part(const ordered *s, const char *suffix, pto_value a, uint32_t dim, int64_t at, int64_t count)
{
    pto_expr offsets[PTO_MAX_DIMS];
    const pto_type type = pto_value_type(a);
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t d = 0; d < rank; d++) offsets[d] = pto_expr_const(s->op.run, d == dim ? at : 0);
    const pto_type of_part = pto_type_with_dim(s->op.run, type, dim, pto_expr_const(s->op.run, count));
    pto_spec spec = begin(s, KIND_VIEW, suffix, a, of_part);
    pto_spec_exprs(&spec, PTO_STR("offsets"), rank, offsets);
    return end(s, &spec);
}

/* Reduces `count` dims, from `from` on, their elements one by one as the indices grow. */
static pto_value summed(const ordered *s, pto_value a, uint32_t from, uint32_t count)
{
    int64_t axes[PTO_MAX_DIMS];
    pto_type type = pto_value_type(a);
    for (uint32_t i = 0; i < count; i++) {
        axes[i] = from + i;
        type = pto_type_with_dim(s->op.run, type, from + i, pto_expr_const(s->op.run, 1));
    }
    pto_spec spec = begin(s, PTO_IS(s->op, REDUCE_SUM) ? KIND_REDUCE_SUM : KIND_REDUCE_PROD, "_sum", a, type);
    if (count == 1)
        pto_spec_int(&spec, PTO_STR("axis"), axes[0]);
    else
        pto_spec_ints(&spec, PTO_STR("axis"), count, axes);
    pto_spec_str(&spec, PTO_STR("order"), PTO_STR("ascending"));
    return end(s, &spec);
}

/* Under the type of the result, which may lack the reduced dims; takes the place of it. */
static pto_value finished(const ordered *s, pto_value sum)
{
    const pto_type type = pto_value_type(pto_op_result(s->op, 0));
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < pto_type_rank(type); d++) dims[d] = pto_type_dim(type, d);
    const pto_dtype to = pto_type_dtype(type);
    const char *suffix = pto_type_dtype(pto_value_type(sum)) == to ? "" : "_wide";
    return converted(s, "", reshaped(s, suffix, sum, pto_type_rank(type), dims), to);
}

/* Reduced dims become the outermost ones; `out_count` of them. */
static pto_value columns_of(const ordered *s, pto_value x, uint32_t *out_count)
{
    pto_expr dims[PTO_MAX_DIMS];
    int64_t perm[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(s->type);
    uint32_t n = 0;
    for (int of_reduced = 1; of_reduced >= 0; of_reduced--) {
        for (uint32_t d = 0; d < rank; d++)
            if (is_reduced(s, d) == of_reduced) perm[n++] = d;
        if (of_reduced) *out_count = n;
    }
    for (uint32_t d = 0; d < rank; d++) dims[d] = pto_type_dim(s->type, (uint32_t)perm[d]);
    pto_spec spec = begin(s, KIND_TRANSPOSE, "_columns", x, shape(s, x, rank, dims));
    pto_spec_ints(&spec, PTO_STR("perm"), rank, perm);
    return end(s, &spec);
}

static pto_value expand_ascending(const ordered *s, pto_value x)
{
    uint32_t count;
    if (s->has_kept) {
        const pto_value columns = columns_of(s, x, &count);
        return finished(s, summed(s, columns, 0, count));
    }
    const pto_run *run = s->op.run;
    const pto_expr one = pto_expr_const(run, 1), n = extent_of(s, 1);
    const pto_expr column[2] = {n, one}, twice[2] = {n, pto_expr_const(run, 2)};
    const pto_value a = reshaped(s, "_column", x, 2, column);
    pto_spec spec = begin(s, KIND_BROADCAST, "_columns", a, shape(s, a, 2, twice));
    return finished(s, part(s, "_one", summed(s, end(s, &spec), 0, 1), 1, 0, 1));
}

/* Filled up along `dim` to a multiple of what the tree has. */
static pto_value filled_up(const ordered *s, pto_value a, uint32_t dim)
{
    const pto_run *run = s->op.run;
    const pto_expr lanes = pto_expr_const(run, s->lanes), zero = pto_expr_const(run, 0),
                   extent = pto_type_dim(pto_value_type(a), dim),
                   all = pto_expr_mul(lanes, pto_expr_ceildiv(extent, lanes));
    const pto_expr low[2] = {zero, zero}, more = pto_expr_sub(all, extent),
                   high[2] = {dim == 0 ? more : zero, dim == 1 ? more : zero};
    if (pto_expr_equal(all, extent)) return a;
    pto_spec spec = begin(s, KIND_PAD, "_filled", a, pto_type_with_dim(run, pto_value_type(a), dim, all));
    pto_spec_exprs(&spec, PTO_STR("low"), 2, low);
    pto_spec_exprs(&spec, PTO_STR("high"), 2, high);
    if (PTO_IS(s->op, REDUCE_PROD)) pto_spec_float(&spec, PTO_STR("value"), 1.0);
    return end(s, &spec);
}

/* What stays and what is reduced become a dim each, this one along `dim`; of it, every n-th term goes to one sum. */
static pto_value expand_tree(const ordered *s, pto_value x)
{
    const pto_run *run = s->op.run;
    const uint32_t dim = s->is_last ? 1 : 0;
    const pto_expr lanes = pto_expr_const(run, s->lanes), kept = extent_of(s, 0), reduced = extent_of(s, 1);
    uint32_t count;
    pto_value a = converted(s, "_wide", x, PTO_F32);
    if (!s->is_last && !s->is_first) a = columns_of(s, a, &count);
    const pto_expr two[2] = {dim == 1 ? kept : reduced, dim == 1 ? reduced : kept};
    a = filled_up(s, reshaped(s, "_terms", a, 2, two), dim);
    const pto_expr each = pto_expr_ceildiv(reduced, lanes),
                   three[3] = {dim == 1 ? kept : each, dim == 1 ? each : lanes, dim == 1 ? lanes : kept};
    a = summed(s, reshaped(s, "_terms", a, 3, three), dim, 1);
    for (int64_t n = s->lanes / 2; n >= 1; n /= 2) {
        const pto_value low = part(s, "_low", a, dim + 1, 0, n), high = part(s, "_high", a, dim + 1, n, n);
        if (!PTO_SOME(low) || !PTO_SOME(high)) return low;
        pto_spec spec = begin(s, PTO_IS(s->op, REDUCE_SUM) ? KIND_ADD : KIND_MUL, "_pairs", low, pto_value_type(low));
        pto_spec_operand(&spec, high);
        a = end(s, &spec);
    }
    return finished(s, a);
}

pto_value ordered_sum_expand(pto_op op)
{
    ordered s;
    if (!read(&s, op)) return pto_value_none(op.run);
    const pto_value x = pto_op_operand(op, 0);
    return s.lanes != 0 ? expand_tree(&s, x) : expand_ascending(&s, x);
}
