/* Shape rules of tensor ops that move elements: windows, parts along an axis, dims of extent 1. */
#include "ir/op_rules.h"
#include "ir/verify/infer.h"
#include "ir/verify/ranges.h"

#include <inttypes.h>

/* ---- windows ---- */

/* Item `index` of a list of integers, or of a lone one; false when it is none. */
static bool integer_at(const module *m, attr_id list, uint32_t index, int64_t *out)
{
    const ir_context *c = module_context(m);
    const attr_node *n = attr_at(c, list);
    if (n->kind == ATTR_LIST) n = index < n->count ? attr_at(c, n->items[index]) : n;
    *out = n->i;
    return n->kind == ATTR_INT;
}

static status check_list(const module *m, op_id op, const char *attr, uint32_t rank)
{
    uint32_t count = op_index_count(m, op, attr);
    if (count == rank) return OK;
    return op_error(m, op, &E0226, "has %" PRIu32 " %s in `%s` for %" PRIu32 " dim%s", count,
                    count == 1 ? "entry" : "entries", attr, rank, rank == 1 ? "" : "s");
}

static status check_same_rank(const module *m, op_id op, type_id window, type_id whole)
{
    const ir_context *c = module_context(m);
    uint32_t a = type_at(c, window)->rank, b = type_at(c, whole)->rank;
    if (a == b) return OK;
    return op_error(m, op, &E0213,
                    "has a window %s in %s: both need the same number of dims; `tensor.squeeze` and "
                    "`tensor.unsqueeze` change it",
                    type_words(m, window), type_words(m, whole));
}

/* `count` elements from `offset` on, `stride` apart, in a dim. */
static status check_walk(module *m, op_id op, uint32_t index, expr_id offset, expr_id count, int64_t stride,
                         expr_id dim)
{
    ir_context *c = module_context(m);
    int64_t size = stride < 0 ? -stride : stride;
    expr_id one = expr_const(c, 1), last = expr_mul(c, expr_sub(c, count, one), expr_const(c, size));
    expr_id span = expr_add(c, last, one), first = stride < 0 ? expr_sub(c, offset, last) : offset;
    if (span == 0 || first == 0) return OK;
    return verify_window_dim(m, op, index, first, span, dim);
}

status infer_view(module *m, uint32_t op, type_id *out)
{
    const type_id x = value_type(m, op_operand(m, op, 0));
    TRY(check_same_rank(m, op, *out, x));
    const type_node from = *type_at(module_context(m), x);
    const shape s = infer_shape_of(type_at(module_context(m), *out));
    const attr_id strides = op_attr(m, op, "strides");
    TRY(check_list(m, op, "offsets", s.rank));
    if (strides != 0) TRY(check_list(m, op, "strides", s.rank));
    for (uint32_t d = 0; d < s.rank; d++) {
        int64_t stride = 1;
        if (strides != 0 && (!integer_at(m, strides, d, &stride) || stride == 0 || stride == INT64_MIN))
            return op_error(m, op, &E0226,
                            "has stride %" PRId64 " along dim %" PRIu32 "; it steps on to other elements", stride, d);
        TRY(check_walk(m, op, d, op_index_expr(m, op, "offsets", d), s.dims[d], stride, from.dims[d]));
    }
    return infer_give(m, from.dtype, &s, out);
}

status infer_assemble(module *m, uint32_t op, type_id *out)
{
    const type_id window = value_type(m, op_operand(m, op, 0)), whole = value_type(m, op_operand(m, op, 1));
    TRY(infer_same_dtype(m, op));
    TRY(check_same_rank(m, op, window, whole));
    const shape part = infer_shape_of(type_at(module_context(m), window)),
                s = infer_shape_of(type_at(module_context(m), whole));
    TRY(check_list(m, op, "offsets", s.rank));
    for (uint32_t d = 0; d < s.rank; d++)
        TRY(check_walk(m, op, d, op_index_expr(m, op, "offsets", d), part.dims[d], 1, s.dims[d]));
    const dtype d = type_at(module_context(m), whole)->dtype;
    if (str_is(op_attr_str(m, op, "atomic"), "add") && (DT_NUMBER & (1u << d)) == 0)
        return op_error(m, op, &E0211, "does not add %s; `atomic = \"add\"` is for numbers, so leave it out or cast",
                        dtype_name(d));
    return infer_give(m, d, &s, out);
}

/* ---- around and along ---- */

status infer_fit_extent(module *m, op_id op, uint32_t d, expr_id made, type_id stated, expr_id *out)
{
    const type_node *t = type_at(module_context(m), stated);
    *out = made;
    if (made != 0 && d < t->rank && op_expr_same(m, op, made, t->dims[d])) *out = t->dims[d];
    if (made == 0) return op_error(m, op, &E0218, "makes an extent of dim %" PRIu32 " that overflows", d);
    if (!expr_at(module_context(m), *out)->has_slot) return OK;
    return op_error(m, op, &E0207,
                    "makes an extent of dim %" PRIu32 " that depends on a value, %s; extents are of symbols", d,
                    expr_words(m, op, made));
}

status infer_pad(module *m, uint32_t op, type_id *out)
{
    static const char *const sides[] = {"low", "high"};
    const type_node x = *type_of_value(m, op_operand(m, op, 0));
    shape s = infer_shape_of(&x);
    for (uint32_t side = 0; side < 2; side++) {
        TRY(check_list(m, op, sides[side], s.rank));
        for (uint32_t d = 0; d < s.rank; d++) {
            const expr_id count = op_index_expr(m, op, sides[side], d);
            if (op_expr_range(m, op, count).hi < 0 && !op_is_never_reached(m, op))
                return op_error(m, op, &E0226, "has %s elements in `%s` of dim %" PRIu32 "; it needs 0 or more",
                                expr_words(m, op, count), sides[side], d);
            s.dims[d] = expr_add(module_context(m), s.dims[d], count);
        }
    }
    for (uint32_t d = 0; d < s.rank; d++) TRY(infer_fit_extent(m, op, d, s.dims[d], *out, &s.dims[d]));
    return infer_give(m, x.dtype, &s, out);
}

static status one_axis(const module *m, op_id op, uint32_t rank, uint32_t *out)
{
    return infer_axis(m, op, op_attr(m, op, "axis"), rank, out);
}

/* A part along an axis of something with the extents `s`: the other extents are equal. */
static status check_part(module *m, op_id op, const char *what, uint32_t number, type_id part, const shape *s,
                         uint32_t axis)
{
    const type_node t = *type_at(module_context(m), part);
    bool fits = t.rank == s->rank;
    for (uint32_t d = 0; fits && d < s->rank; d++) fits = d == axis || op_expr_same(m, op, t.dims[d], s->dims[d]);
    if (fits) return OK;
    return op_error(m, op, &E0213, "has %s %" PRIu32 " of %s: its extents differ in more than dim %" PRIu32, what,
                    number, type_words(m, part), axis);
}

status infer_concat(module *m, uint32_t op, type_id *out)
{
    const uint32_t count = op_value_operand_count(m, op);
    if (count == 0) return op_error(m, op, &E0310, "has 0 operands and needs at least 1");
    const type_node first = *type_of_value(m, op_operand(m, op, 0));
    shape s = infer_shape_of(&first);
    uint32_t axis = 0;
    TRY(one_axis(m, op, s.rank, &axis));
    for (uint32_t i = 1; i < count; i++) {
        const type_id part = value_type(m, op_operand(m, op, i));
        const type_node t = *type_at(module_context(m), part);
        if (t.dtype != first.dtype)
            return op_error(m, op, &E0212, "takes one element type; operand 0 has %s and operand %" PRIu32 " has %s",
                            dtype_name(first.dtype), i, dtype_name(t.dtype));
        TRY(check_part(m, op, "operand", i, part, &s, axis));
        s.dims[axis] = expr_add(module_context(m), s.dims[axis], t.dims[axis]);
    }
    TRY(infer_fit_extent(m, op, axis, s.dims[axis], *out, &s.dims[axis]));
    return infer_give(m, first.dtype, &s, out);
}

status infer_split(module *m, uint32_t op, type_id *out)
{
    const uint32_t count = op_result_count(m, op);
    const type_node x = *type_of_value(m, op_operand(m, op, 0));
    const shape s = infer_shape_of(&x);
    expr_id sum = expr_const(module_context(m), 0);
    uint32_t axis = 0;
    if (count == 0) return op_error(m, op, &E0311, "has no result; it needs one for each part");
    TRY(one_axis(m, op, s.rank, &axis));
    for (uint32_t i = 0; i < count; i++) {
        TRY(check_part(m, op, "result", i, out[i], &s, axis));
        shape part = s;
        part.dims[axis] = type_at(module_context(m), out[i])->dims[axis];
        sum = expr_add(module_context(m), sum, part.dims[axis]);
        TRY(infer_give(m, x.dtype, &part, &out[i]));
    }
    if (sum != 0 && op_expr_same(m, op, sum, s.dims[axis])) return OK;
    return op_error(m, op, &E0217, "makes parts of %s elements along dim %" PRIu32 " of %s",
                    sum == 0 ? "too many" : expr_words(m, op, sum), axis,
                    type_words(m, value_type(m, op_operand(m, op, 0))));
}

/* ---- sets of dims ---- */

static status read_axes(const module *m, op_id op, uint32_t rank, uint32_t *out)
{
    const ir_context *c = module_context(m);
    const attr_id axes = op_attr(m, op, "axis");
    const bool is_list = attr_at(c, axes)->kind == ATTR_LIST;
    *out = 0;
    for (uint32_t i = 0; i < (is_list ? attr_at(c, axes)->count : 1); i++) {
        uint32_t axis = 0;
        TRY(infer_axis(m, op, is_list ? attr_at(c, axes)->items[i] : axes, rank, &axis));
        if ((*out & (1u << axis)) != 0) return op_error(m, op, &E0215, "names axis %" PRIu32 " twice", axis);
        *out |= 1u << axis;
    }
    return OK;
}

status infer_flip(module *m, uint32_t op, type_id *out)
{
    const type_node x = *type_of_value(m, op_operand(m, op, 0));
    const shape s = infer_shape_of(&x);
    uint32_t axes;
    TRY(read_axes(m, op, s.rank, &axes));
    return infer_give(m, x.dtype, &s, out);
}

status infer_squeeze(module *m, uint32_t op, type_id *out)
{
    const type_node x = *type_of_value(m, op_operand(m, op, 0));
    shape s = {0};
    uint32_t axes;
    TRY(read_axes(m, op, x.rank, &axes));
    for (uint32_t d = 0; d < x.rank; d++) {
        int64_t extent;
        if ((axes & (1u << d)) == 0) {
            s.dims[s.rank++] = x.dims[d];
        } else if (!expr_is_const(module_context(m), x.dims[d], &extent) || extent != 1) {
            return op_error(m, op, &E0213, "drops dim %" PRIu32 " of extent %s; only extent 1 can go", d,
                            expr_words(m, op, x.dims[d]));
        }
    }
    return infer_give(m, x.dtype, &s, out);
}

status infer_unsqueeze(module *m, uint32_t op, type_id *out)
{
    const type_node x = *type_of_value(m, op_operand(m, op, 0));
    const attr_node *axes_of = attr_at(module_context(m), op_attr(m, op, "axis"));
    shape s = {.rank = x.rank + (axes_of->kind == ATTR_LIST ? axes_of->count : 1)};
    uint32_t axes, next = 0;
    if (s.rank > TYPE_MAX_RANK)
        return op_error(m, op, &E0218, "makes %" PRIu32 " dims; the most is %d", s.rank, TYPE_MAX_RANK);
    TRY(read_axes(m, op, s.rank, &axes));
    for (uint32_t d = 0; d < s.rank; d++)
        s.dims[d] = (axes & (1u << d)) != 0 ? expr_const(module_context(m), 1) : x.dims[next++];
    return infer_give(m, x.dtype, &s, out);
}
