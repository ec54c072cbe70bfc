/* Shape rules of composite ops. */
#include "ir/op_rules.h"
#include "ir/verify/infer.h"
#include "ir/verify/ranges.h"

#include <inttypes.h>

static const type_node *operand_type(const module *m, op_id op, uint32_t i)
{
    return type_of_value(m, op_operand(m, op, i));
}

static const char *operand_name(const module *m, op_id op, uint32_t i) { return op_info_of(m, op)->in[i].name; }

static status needs_a_dim(module *m, op_id op, uint32_t operand)
{
    return op_error(m, op, &E0213, "needs an operand `%s` with at least one dim", operand_name(m, op, operand));
}

/* The result has the type of x. */
static status give_x(module *m, op_id op, type_id *out)
{
    const type_node *x = operand_type(m, op, 0);
    const shape s = infer_shape_of(x);
    return infer_give(m, x->dtype, &s, out);
}

status infer_softmax(module *m, uint32_t op, type_id *out)
{
    const type_node *x = type_of_value(m, op_operand(m, op, 0));
    attr_id axis = op_attr(m, op, "axis");
    uint32_t place;
    if (axis != 0) TRY(infer_axis(m, op, axis, x->rank, &place));
    return give_x(m, op, out);
}

status infer_rms_norm(module *m, uint32_t op, type_id *out)
{
    TRY(infer_same_dtype(m, op));
    const type_node *x = type_of_value(m, op_operand(m, op, 0));
    const type_node *gamma = type_of_value(m, op_operand(m, op, 1));
    if (x->rank == 0) return op_error(m, op, &E0213, "needs an operand `x` with at least one dim");
    if (gamma->rank != 1 || !op_expr_same(m, op, gamma->dims[0], x->dims[x->rank - 1]))
        return op_error(m, op, &E0213, "needs `gamma` with the one extent %s of the last axis of `x`, got %s",
                        expr_words(m, op, x->dims[x->rank - 1]), type_words(m, value_type(m, op_operand(m, op, 1))));
    shape s = infer_shape_of(x);
    return infer_give(m, x->dtype, &s, out);
}

/* gamma and beta, one extent each, that of dim `axis` of x. */
static status check_scales_and_shifts(module *m, op_id op, uint32_t axis)
{
    const expr_id extent = operand_type(m, op, 0)->dims[axis];
    for (uint32_t i = 1; i < op_value_operand_count(m, op); i++) {
        const type_node *t = operand_type(m, op, i);
        if (t->rank != 1 || !op_expr_same(m, op, t->dims[0], extent))
            return op_error(m, op, &E0213, "needs `%s` with the one extent %s of dim %" PRIu32 " of `x`, got %s",
                            operand_name(m, op, i), expr_words(m, op, extent), axis,
                            type_words(m, value_type(m, op_operand(m, op, i))));
    }
    return OK;
}

status infer_layer_norm(module *m, uint32_t op, type_id *out)
{
    const uint32_t rank = operand_type(m, op, 0)->rank;
    const attr_id named = op_attr(m, op, "axis");
    if (rank == 0) return needs_a_dim(m, op, 0);
    uint32_t axis = rank - 1;
    if (named != 0) TRY(infer_axis(m, op, named, rank, &axis));
    TRY(check_scales_and_shifts(m, op, axis));
    return give_x(m, op, out);
}

/* `of` is that often `part`. */
static bool is_multiple(module *m, op_id op, expr_id of, expr_id part)
{
    ir_context *c = module_context(m);
    return op_expr_same(m, op, of, part) || op_expr_same(m, op, expr_mul(c, expr_floordiv(c, of, part), part), of);
}

status infer_group_norm(module *m, uint32_t op, type_id *out)
{
    const type_node *x = operand_type(m, op, 0);
    const int64_t groups = op_attr_int(m, op, "groups", 0);
    if (x->rank < 2)
        return op_error(m, op, &E0213, "has channels as dim 1; `x` has %u dims and needs 2 or more", (unsigned)x->rank);
    if (groups < 1) return op_error(m, op, &E0314, "has %" PRId64 " groups; legal are 1 and more", groups);
    if (!is_multiple(m, op, x->dims[1], expr_const(module_context(m), groups)))
        return op_error(m, op, &E0213, "has %" PRId64 " groups of %s channels, which is not known to be a multiple",
                        groups, expr_words(m, op, x->dims[1]));
    TRY(check_scales_and_shifts(m, op, 1));
    return give_x(m, op, out);
}

/* Operand `i` is repeated up to `to`, which does not grow. */
static status check_repeated(module *m, op_id op, uint32_t i, const shape *to, const char *what)
{
    shape all = *to, from = infer_shape_of(operand_type(m, op, i));
    TRY(infer_broadcast_into(m, op, &all, i, &from));
    bool grows = all.rank != to->rank;
    for (uint32_t d = 0; d < all.rank && !grows; d++) grows = all.dims[d] != to->dims[d];
    if (!grows) return OK;
    return op_error(m, op, &E0213, "repeats `%s` up to %s; that has fewer elements than %s", operand_name(m, op, i),
                    what, type_words(m, value_type(m, op_operand(m, op, i))));
}

status infer_rope(module *m, uint32_t op, type_id *out)
{
    ir_context *c = module_context(m);
    shape pairs = infer_shape_of(operand_type(m, op, 0));
    if (pairs.rank == 0) return needs_a_dim(m, op, 0);
    expr_id *last = &pairs.dims[pairs.rank - 1];
    if (!is_multiple(m, op, *last, expr_const(c, 2)))
        return op_error(m, op, &E0213, "turns pairs of elements; the last dim has %s, which is not known to be even",
                        expr_words(m, op, *last));
    *last = expr_floordiv(c, *last, expr_const(c, 2));
    for (uint32_t i = 1; i < 3; i++) {
        const type_node *t = operand_type(m, op, i);
        if (t->rank == 0) return needs_a_dim(m, op, i);
        if (!op_expr_same(m, op, t->dims[t->rank - 1], *last))
            return op_error(m, op, &E0213, "has %s pairs in `x` and %s values along the last dim of `%s`",
                            expr_words(m, op, *last), expr_words(m, op, t->dims[t->rank - 1]), operand_name(m, op, i));
        TRY(check_repeated(m, op, i, &pairs, "the pairs of `x`"));
    }
    return give_x(m, op, out);
}

status infer_cross_entropy(module *m, uint32_t op, type_id *out)
{
    const type_node *x = operand_type(m, op, 0), *index = operand_type(m, op, 1);
    if (x->rank == 0) return needs_a_dim(m, op, 0);
    if (index->rank != x->rank - 1u)
        return op_error(m, op, &E0213, "has `index` with %u dims and needs %u: one for each but the last of `x`",
                        (unsigned)index->rank, x->rank - 1u);
    for (uint32_t d = 0; d < index->rank; d++)
        if (!op_expr_same(m, op, index->dims[d], x->dims[d]))
            return op_error(m, op, &E0213, "has `index` with extent %s along dim %" PRIu32 ", where `x` has %s",
                            expr_words(m, op, index->dims[d]), d, expr_words(m, op, x->dims[d]));
    const shape s = infer_shape_of(index);
    return infer_give(m, x->dtype, &s, out);
}

/* Extents that operands have in common: `d` counts from the end. */
static status check_common(module *m, op_id op, uint32_t a, uint32_t d_a, uint32_t b, uint32_t d_b)
{
    const type_node *x = operand_type(m, op, a), *y = operand_type(m, op, b);
    const expr_id have = x->dims[x->rank - d_a], want = y->dims[y->rank - d_b];
    if (op_expr_same(m, op, have, want)) return OK;
    return op_error(m, op, &E0213, "has extent %s in dim %u of `%s` and %s in dim %u of `%s`; both must be the same",
                    expr_words(m, op, have), x->rank - d_a, operand_name(m, op, a), expr_words(m, op, want),
                    y->rank - d_b, operand_name(m, op, b));
}

static status check_heads(module *m, op_id op)
{
    const type_node *q = operand_type(m, op, 0), *k = operand_type(m, op, 1);
    for (uint32_t d = q->rank; d > 3; d--)
        for (uint32_t i = 1; i < 3; i++) TRY(check_common(m, op, 0, d, i, d));
    if (q->rank < 3) return OK;
    TRY(check_common(m, op, 1, 3, 2, 3));
    const expr_id heads = q->dims[q->rank - 3], shared = k->dims[k->rank - 3];
    if (is_multiple(m, op, heads, shared)) return OK;
    return op_error(m, op, &E0213, "has %s heads of `q` for %s of `k`, which is not known to be a multiple",
                    expr_words(m, op, heads), expr_words(m, op, shared));
}

status infer_attention(module *m, uint32_t op, type_id *out)
{
    const type_node *q = operand_type(m, op, 0), *k = operand_type(m, op, 1), *v = operand_type(m, op, 2);
    if (q->rank < 2 || k->rank != q->rank || v->rank != q->rank)
        return op_error(m, op, &E0213, "takes `q`, `k` and `v` with as many dims, 2 or more; they have %u, %u and %u",
                        (unsigned)q->rank, (unsigned)k->rank, (unsigned)v->rank);
    for (uint32_t i = 1; i < 3; i++)
        if (operand_type(m, op, i)->dtype != q->dtype)
            return op_error(m, op, &E0212, "has `q` of %s and `%s` of %s; both must be the same", dtype_name(q->dtype),
                            operand_name(m, op, i), dtype_name(operand_type(m, op, i)->dtype));
    TRY(check_common(m, op, 0, 1, 1, 1));
    TRY(check_common(m, op, 1, 2, 2, 2));
    TRY(check_heads(m, op));
    shape s = infer_shape_of(q);
    s.dims[s.rank - 1] = k->dims[k->rank - 2];
    if (op_value_operand_count(m, op) == 4) TRY(check_repeated(m, op, 3, &s, "the scores"));
    s.dims[s.rank - 1] = v->dims[v->rank - 1];
    return infer_give(m, q->dtype, &s, out);
}
