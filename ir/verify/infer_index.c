/* Shape rules of tensor ops that go by indices, sort, or scan. */
#include "ir/op_rules.h"
#include "ir/verify/infer.h"
#include "ir/verify/ranges.h"

#include <inttypes.h>

static const type_node *operand_type(const module *m, op_id op, uint32_t i)
{
    return type_of_value(m, op_operand(m, op, i));
}

static const char *operand_name(const module *m, op_id op, uint32_t i)
{
    const op_info *info = op_info_of(m, op);
    const uint32_t listed = op_info_operands(info);
    return info->in[i < listed ? i : listed - 1].name;
}

/* The one axis of the op, for its first operand. */
static status op_axis(const module *m, op_id op, uint32_t *out)
{
    const attr_id axis = op_attr(m, op, "axis");
    *out = 0;
    return axis == 0 ? OK : infer_axis(m, op, axis, operand_type(m, op, 0)->rank, out);
}

/* Operand `i` has the element type of the first one. */
static status check_element_type(const module *m, op_id op, uint32_t i)
{
    const dtype x = operand_type(m, op, 0)->dtype, other = operand_type(m, op, i)->dtype;
    if (x == other) return OK;
    return op_error(m, op, &E0212, "takes one element type; `%s` has %s and `%s` has %s: cast one of them",
                    operand_name(m, op, 0), dtype_name(x), operand_name(m, op, i), dtype_name(other));
}

/* Operand `i` has the extents `want`. */
static status check_extents(module *m, op_id op, uint32_t i, const shape *want)
{
    const type_node *t = operand_type(m, op, i);
    if (t->rank != want->rank)
        return op_error(m, op, &E0213, "has `%s` with %u dims and needs %" PRIu32, operand_name(m, op, i),
                        (unsigned)t->rank, want->rank);
    for (uint32_t d = 0; d < want->rank; d++) {
        if (op_expr_same(m, op, t->dims[d], want->dims[d])) continue;
        return op_error(m, op, &E0213, "has `%s` with extent %s along axis %" PRIu32 " and needs %s",
                        operand_name(m, op, i), expr_words(m, op, t->dims[d]), d, expr_words(m, op, want->dims[d]));
    }
    return OK;
}

/* The index of gather and scatter, operand 1: it has the dims of x, and is nowhere longer but along the axis. */
static status check_index_of_elements(module *m, op_id op, uint32_t axis)
{
    const ir_context *c = module_context(m);
    const type_node *x = operand_type(m, op, 0), *index = operand_type(m, op, 1);
    if (x->rank != index->rank)
        return op_error(m, op, &E0213, "has `x` with %u dims and `index` with %u; both need the same number",
                        (unsigned)x->rank, (unsigned)index->rank);
    for (uint32_t d = 0; d < x->rank; d++) {
        int64_t have = 0, most = 0;
        if (d == axis || op_expr_same(m, op, index->dims[d], x->dims[d])) continue;
        if (expr_is_const(c, index->dims[d], &have) && expr_is_const(c, x->dims[d], &most) && have <= most) continue;
        return op_error(m, op, &E0213,
                        "has `index` with extent %s along axis %" PRIu32 ", where `x` has %s; except along `axis` it "
                        "has the extents of `x`, or smaller numbers",
                        expr_words(m, op, index->dims[d]), d, expr_words(m, op, x->dims[d]));
    }
    return OK;
}

status infer_gather(module *m, uint32_t op, type_id *out)
{
    uint32_t axis;
    TRY(op_axis(m, op, &axis));
    TRY(check_index_of_elements(m, op, axis));
    const shape s = infer_shape_of(operand_type(m, op, 1));
    return infer_give(m, operand_type(m, op, 0)->dtype, &s, out);
}

/* Of one number, or one extent for each of the index or 1. */
static status check_source_of_elements(module *m, op_id op)
{
    const type_node *src = operand_type(m, op, 2), *index = operand_type(m, op, 1);
    bool fits = src->rank <= index->rank;
    for (uint32_t d = 0; d < src->rank && fits; d++) {
        int64_t one = 0;
        fits = op_expr_same(m, op, src->dims[d], index->dims[index->rank - src->rank + d]) ||
               (expr_is_const(module_context(m), src->dims[d], &one) && one == 1);
    }
    if (fits) return OK;
    return op_error(m, op, &E0213, "has `src` of %s, which does not broadcast to the extents of `index` of %s",
                    type_words(m, value_type(m, op_operand(m, op, 2))),
                    type_words(m, value_type(m, op_operand(m, op, 1))));
}

/* Truth values are neither added nor multiplied. */
static status check_no_truth(const module *m, op_id op, bool combines)
{
    if (!combines || operand_type(m, op, 0)->dtype != DTYPE_BOOL) return OK;
    return op_error(m, op, &E0211, "combines elements of `x`, which is bool; legal are numbers");
}

status infer_scatter(module *m, uint32_t op, type_id *out)
{
    uint32_t axis;
    const str reduce = op_attr_str(m, op, "reduce");
    TRY(op_axis(m, op, &axis));
    TRY(check_no_truth(m, op, reduce.n != 0 && !str_is(reduce, "none")));
    TRY(check_element_type(m, op, 2));
    TRY(check_index_of_elements(m, op, axis));
    TRY(check_source_of_elements(m, op));
    const shape s = infer_shape_of(operand_type(m, op, 0));
    return infer_give(m, operand_type(m, op, 0)->dtype, &s, out);
}

/* The extents of x, with those of the index in the place of one axis. */
static status taken_shape(module *m, op_id op, uint32_t axis, shape *out)
{
    const type_node *x = operand_type(m, op, 0), *index = operand_type(m, op, 1);
    if (x->rank == 0) return op_error(m, op, &E0213, "needs an operand `x` with at least one dim");
    if (x->rank - 1 + index->rank > TYPE_MAX_RANK)
        return op_error(m, op, &E0218, "takes by an index with %u dims from %u dims, which makes %u; the most is %d",
                        (unsigned)index->rank, (unsigned)x->rank, (unsigned)(x->rank - 1 + index->rank), TYPE_MAX_RANK);
    *out = (shape){0};
    for (uint32_t d = 0; d < axis; d++) out->dims[out->rank++] = x->dims[d];
    for (uint32_t d = 0; d < index->rank; d++) out->dims[out->rank++] = index->dims[d];
    for (uint32_t d = axis + 1; d < x->rank; d++) out->dims[out->rank++] = x->dims[d];
    return OK;
}

status infer_take(module *m, uint32_t op, type_id *out)
{
    uint32_t axis;
    shape s = {0};
    TRY(op_axis(m, op, &axis));
    TRY(taken_shape(m, op, axis, &s));
    return infer_give(m, operand_type(m, op, 0)->dtype, &s, out);
}

status infer_scatter_update(module *m, uint32_t op, type_id *out)
{
    uint32_t axis;
    shape taken = {0};
    TRY(op_axis(m, op, &axis));
    TRY(check_element_type(m, op, 2));
    TRY(taken_shape(m, op, axis, &taken));
    TRY(check_extents(m, op, 2, &taken));
    const shape s = infer_shape_of(operand_type(m, op, 0));
    return infer_give(m, operand_type(m, op, 0)->dtype, &s, out);
}

status infer_index_add(module *m, uint32_t op, type_id *out)
{
    const attr_id alpha = op_attr(m, op, "alpha");
    const dtype d = operand_type(m, op, 0)->dtype;
    if (alpha != 0 && attr_at(module_context(m), alpha)->kind != ATTR_INT && dtype_class_of(d) != DTYPE_CLASS_FLOAT)
        return op_error(m, op, &E0219, "has an `alpha` that is not an integer for %s", dtype_name(d));
    return infer_scatter_update(m, op, out);
}

status infer_index_put(module *m, uint32_t op, type_id *out)
{
    enum { FIRST_INDEX = 2 };
    const type_node *x = operand_type(m, op, 0);
    const uint32_t count = op_value_operand_count(m, op) - FIRST_INDEX;
    if (count == 0 || count > x->rank)
        return op_error(m, op, &E0310,
                        "has %" PRIu32 " operands `index` for `x` with %u dims; it takes one for each of the first "
                        "dims of `x`, at least one",
                        count, (unsigned)x->rank);
    shape want = {.rank = 1, .dims = {operand_type(m, op, FIRST_INDEX)->dims[0]}};
    const dtype first = operand_type(m, op, FIRST_INDEX)->dtype;
    for (uint32_t i = 0; i < count; i++) {
        TRY(check_extents(m, op, FIRST_INDEX + i, &want));
        if (operand_type(m, op, FIRST_INDEX + i)->dtype != first)
            return op_error(m, op, &E0212, "takes indices of one type, and got %s and %s", dtype_name(first),
                            dtype_name(operand_type(m, op, FIRST_INDEX + i)->dtype));
    }
    for (uint32_t d = count; d < x->rank; d++) want.dims[want.rank++] = x->dims[d];
    TRY(check_no_truth(m, op, op_attr_int(m, op, "accumulate", 0) != 0));
    TRY(check_element_type(m, op, 1));
    TRY(check_extents(m, op, 1, &want));
    const shape s = infer_shape_of(x);
    return infer_give(m, x->dtype, &s, out);
}

status infer_one_hot(module *m, uint32_t op, type_id *out)
{
    const type_node *index = operand_type(m, op, 0), *own = type_at(module_context(m), *out);
    if (own->rank != index->rank + 1u)
        return op_error(m, op, &E0213, "makes %u dims of %u; it adds one, whose extent is the number of classes",
                        (unsigned)own->rank, (unsigned)index->rank);
    if (((DT_NUMBER | DT(BOOL)) & (1u << own->dtype)) == 0)
        return op_error(m, op, &E0211, "makes %s; it makes numbers or bool", dtype_name(own->dtype));
    shape s = infer_shape_of(index);
    s.dims[s.rank++] = own->dims[own->rank - 1];
    return infer_give(m, own->dtype, &s, out);
}

/* ---- along an axis ---- */

/* The axis of an op and its operand, which has it. */
static status operand_of_axis(module *m, op_id op, uint32_t *out_axis, const type_node **out)
{
    TRY(op_axis(m, op, out_axis));
    *out = operand_type(m, op, 0);
    if ((*out)->rank == 0) return op_error(m, op, &E0213, "needs an operand `x` with at least one dim");
    return OK;
}

/* Results have the extents of x; of sort and scans also its element type. */
status infer_along_axis(module *m, uint32_t op, type_id *out)
{
    uint32_t axis;
    const type_node *x;
    TRY(operand_of_axis(m, op, &axis, &x));
    const shape s = infer_shape_of(x);
    return infer_give(m, x->dtype, &s, out);
}

/* Places along an axis are i32, or i64 where the result says so. */
static status give_places(module *m, op_id op, const shape *s, type_id *out)
{
    const dtype own = type_at(module_context(m), *out)->dtype;
    if (own != DTYPE_I32 && own != DTYPE_I64)
        return op_error(m, op, &E0211, "makes indices of %s; legal are i32 and i64", dtype_name(own));
    return infer_give(m, own, s, out);
}

status infer_argsort(module *m, uint32_t op, type_id *out)
{
    uint32_t axis;
    const type_node *x;
    TRY(operand_of_axis(m, op, &axis, &x));
    const shape s = infer_shape_of(x);
    return give_places(m, op, &s, out);
}

status infer_topk(module *m, uint32_t op, type_id *out)
{
    uint32_t axis;
    int64_t extent = 0;
    const type_node *x;
    TRY(operand_of_axis(m, op, &axis, &x));
    const int64_t k = op_attr_int(m, op, "k", 0);
    const bool is_known = expr_is_const(module_context(m), x->dims[axis], &extent);
    if (k < 0 || (is_known && k > extent))
        return op_error(m, op, &E0314, "has k = %" PRId64 " for an axis of extent %s; legal are 0 up to the extent", k,
                        expr_words(m, op, x->dims[axis]));
    shape s = infer_shape_of(x);
    s.dims[axis] = expr_const(module_context(m), k);
    TRY(infer_give(m, x->dtype, &s, &out[0]));
    return give_places(m, op, &s, &out[1]);
}
