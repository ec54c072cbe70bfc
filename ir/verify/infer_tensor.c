/* Shape rules of tensor ops. Each arrives with the op's own result type, which passed the class check, and replaces
 * its extents and element type from the operands; formats stay. */
#include "ir/context/float_format.h"
#include "ir/op_rules.h"
#include "ir/verify/infer.h"
#include "ir/verify/ranges.h"

#include <inttypes.h>

shape infer_shape_of(const type_node *t)
{
    shape s = {.rank = t->rank};
    for (uint32_t i = 0; i < t->rank; i++) s.dims[i] = t->dims[i];
    return s;
}

status infer_give(module *m, uint32_t dtype_id, const shape *s, type_id *out)
{
    type_node n = *type_at(module_context(m), *out);
    n.dtype = (uint8_t)dtype_id;
    n.rank = (uint8_t)s->rank;
    for (uint32_t i = 0; i < TYPE_MAX_RANK; i++) n.dims[i] = i < s->rank ? s->dims[i] : 0;
    *out = type_intern(module_context(m), &n);
    return OK;
}

static const char *operand_name(const module *m, op_id op, uint32_t i) { return op_info_of(m, op)->in[i].name; }

/* The first operand without an element type of its own. */
static uint32_t main_operand(const module *m, op_id op)
{
    uint32_t i = 0;
    while (op_info_of(m, op)->in[i].dtypes != 0) i++;
    return i;
}

static bool is_scalar(const module *m, op_id op, uint32_t i)
{
    return type_of_value(m, op_operand(m, op, i))->kind == TYPE_SCALAR;
}

status infer_same_dtype(module *m, op_id op)
{
    uint32_t n = op_value_operand_count(m, op), main = main_operand(m, op);
    for (uint32_t i = main + 1; i < n; i++) {
        if (op_info_of(m, op)->in[i].dtypes != 0) continue;
        dtype first = type_of_value(m, op_operand(m, op, main))->dtype;
        dtype other = type_of_value(m, op_operand(m, op, i))->dtype;
        if (first != other)
            return op_error(m, op, &E0212, "takes one element type; `%s` has %s and `%s` has %s: cast %s",
                            operand_name(m, op, main), dtype_name(first), operand_name(m, op, i), dtype_name(other),
                            is_scalar(m, op, main) || is_scalar(m, op, i) ? "the tensor, or pass a scalar of its type"
                                                                          : "one of them");
    }
    return OK;
}

static bool is_one(const module *m, expr_id e)
{
    int64_t v;
    return expr_is_const(module_context(m), e, &v) && v == 1;
}

status infer_broadcast_into(module *m, op_id op, shape *to, uint32_t operand, const shape *from)
{
    if (from->rank > to->rank) {
        shape wider = *from;
        uint32_t lead = from->rank - to->rank;
        for (uint32_t i = 0; i < to->rank; i++) {
            if (!is_one(m, from->dims[lead + i]) && is_one(m, to->dims[i])) continue;
            if (!is_one(m, from->dims[lead + i]) && !op_expr_same(m, op, from->dims[lead + i], to->dims[i])) {
                return op_error(m, op, &E0213,
                                "cannot broadcast `%s` of %s: its extent %s meets %s; extents must be equal or 1",
                                operand_name(m, op, operand), type_words(m, value_type(m, op_operand(m, op, operand))),
                                expr_words(m, op, from->dims[lead + i]), expr_words(m, op, to->dims[i]));
            }
            wider.dims[lead + i] = to->dims[i];
        }
        *to = wider;
        return OK;
    }
    uint32_t lead = to->rank - from->rank;
    for (uint32_t i = 0; i < from->rank; i++) {
        expr_id *dim = &to->dims[lead + i];
        if (*dim == from->dims[i] || is_one(m, from->dims[i])) continue;
        if (is_one(m, *dim)) {
            *dim = from->dims[i];
            continue;
        }
        if (!op_expr_same(m, op, *dim, from->dims[i]))
            return op_error(m, op, &E0213,
                            "cannot broadcast `%s` of %s: its extent %s meets %s; extents must be equal or 1",
                            operand_name(m, op, operand), type_words(m, value_type(m, op_operand(m, op, operand))),
                            expr_words(m, op, from->dims[i]), expr_words(m, op, *dim));
    }
    return OK;
}

static status broadcast_operands(module *m, op_id op, shape *out)
{
    *out = infer_shape_of(type_of_value(m, op_operand(m, op, 0)));
    for (uint32_t i = 1; i < op_value_operand_count(m, op); i++) {
        shape s = infer_shape_of(type_of_value(m, op_operand(m, op, i)));
        TRY(infer_broadcast_into(m, op, out, i, &s));
    }
    return OK;
}

/* No instruction takes one. */
static status check_no_truth_scalar(module *m, op_id op)
{
    for (uint32_t i = 0; i < op_value_operand_count(m, op); i++)
        if (is_scalar(m, op, i) && type_of_value(m, op_operand(m, op, i))->dtype == DTYPE_BOOL)
            return op_error(m, op, &E0212,
                            "has a bool scalar as `%s`; scalars that are operands are numbers: choose with `if`, or "
                            "make the condition a tensor",
                            operand_name(m, op, i));
    return OK;
}

status infer_elementwise(module *m, uint32_t op, type_id *out)
{
    TRY(infer_same_dtype(m, op));
    TRY(check_no_truth_scalar(m, op));
    shape s;
    TRY(broadcast_operands(m, op, &s));
    const uint32_t makes = op_info_of(m, op)->makes;
    return infer_give(m, makes != 0 ? makes : type_of_value(m, op_operand(m, op, main_operand(m, op)))->dtype, &s, out);
}

/* Bits of an integer or a bool beside its sign. */
static uint32_t whole_bits(dtype d)
{
    return d == DTYPE_BOOL ? 1 : dtype_bits(d) - (dtype_class_of(d) == DTYPE_CLASS_SINT ? 1 : 0);
}

/* Whether every value of a type is one of another. */
static bool has_all(dtype to, dtype from)
{
    const bool is_float = dtype_class_of(from) == DTYPE_CLASS_FLOAT;
    if (to == from) return true;
    if (dtype_class_of(to) == DTYPE_CLASS_FLOAT)
        return is_float ? float_has_float(to, from) : float_has_integers(to, whole_bits(from));
    if (is_float || to == DTYPE_BOOL) return false;
    return whole_bits(to) >= whole_bits(from) &&
           (dtype_class_of(to) == DTYPE_CLASS_SINT || dtype_class_of(from) != DTYPE_CLASS_SINT);
}

/* Whether no value of a type is beyond the range of another. */
static bool spans_all(dtype to, dtype from)
{
    if (dtype_class_of(to) != DTYPE_CLASS_FLOAT) return has_all(to, from);
    return dtype_class_of(from) == DTYPE_CLASS_FLOAT ? float_spans_float(to, from)
                                                     : float_spans_integers(to, whole_bits(from));
}

/* Where nothing is rounded a mode has no effect, and `saturate` has none where nothing is beyond the target's range. */
static status check_cast_options(const module *m, op_id op, dtype from, dtype to)
{
    const bool is_exact = has_all(to, from) || to == DTYPE_BOOL,
               is_whole = dtype_class_of(from) != DTYPE_CLASS_FLOAT && dtype_class_of(to) != DTYPE_CLASS_FLOAT;
    const char *const why = to == DTYPE_BOOL      ? "which asks whether a number is 0"
                            : from == to          ? "which changes no value"
                            : has_all(to, from)   ? "which has all values of it"
                            : spans_all(to, from) ? "whose range has all of it"
                                                  : "which rounds nothing";
    if (op_attr_int(m, op, "saturate", 0) != 0 && (to == DTYPE_BOOL || spans_all(to, from)))
        return op_error(m, op, &E0314, "casts %s to %s, %s, so `saturate` has no effect; leave it out",
                        dtype_name(from), dtype_name(to), why);
    if (str_is(op_attr_str(m, op, "mode"), "rint") || !(is_exact || is_whole)) return OK;
    return op_error(m, op, &E0314, "casts %s to %s, %s, so `mode` has no effect; leave it out%s", dtype_name(from),
                    dtype_name(to), why,
                    from == to && dtype_class_of(to) == DTYPE_CLASS_FLOAT
                        ? ", or cast to an integer type and back to round to whole numbers"
                        : "");
}

status infer_cast(module *m, uint32_t op, type_id *out)
{
    shape s = infer_shape_of(type_of_value(m, op_operand(m, op, 0)));
    dtype to = type_at(module_context(m), *out)->dtype;
    if ((op_info_of(m, op)->dtypes & (1u << to)) == 0)
        return op_error(m, op, &E0211, "cannot convert to %s", dtype_name(to));
    TRY(check_cast_options(m, op, type_of_value(m, op_operand(m, op, 0))->dtype, to));
    return infer_give(m, to, &s, out);
}

status infer_axis(const module *m, op_id op, attr_id item, uint32_t rank, uint32_t *out)
{
    const attr_node *n = attr_at(module_context(m), item);
    int64_t axis = n->kind == ATTR_INT ? n->i : INT64_MIN;
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return op_error(m, op, &E0215,
                        "has axis %" PRId64 " for an operand with %" PRIu32 " dims; legal are %" PRId64 " to %" PRId64,
                        axis, rank, -(int64_t)rank, (int64_t)rank - 1);
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return OK;
}

status verify_dim(module *m, uint32_t op)
{
    uint32_t axis = 0;
    const dtype to = type_of_value(m, op_result(m, op, 0))->dtype;
    TRY(infer_axis(m, op, op_attr(m, op, "axis"), type_of_value(m, op_operand(m, op, 0))->rank, &axis));
    if (((DT_NUMBER | DT(INDEX)) & (1u << to)) != 0) return OK;
    return op_error(m, op, &E0211, "has a number or an index as result, got %s", dtype_name(to));
}

status infer_reduce(module *m, uint32_t op, type_id *out)
{
    const ir_context *c = module_context(m);
    const type_node *x = type_of_value(m, op_operand(m, op, 0));
    attr_id axes = op_attr(m, op, "axis");
    bool reduced[TYPE_MAX_RANK] = {false};
    uint32_t count = attr_at(c, axes)->kind == ATTR_LIST ? attr_at(c, axes)->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis = 0;
        TRY(infer_axis(m, op, attr_at(c, axes)->kind == ATTR_LIST ? attr_at(c, axes)->items[i] : axes, x->rank, &axis));
        if (reduced[axis]) return op_error(m, op, &E0215, "names axis %" PRIu32 " twice", axis);
        reduced[axis] = true;
    }
    if (count == 0) return op_error(m, op, &E0215, "reduces no axis; name at least one");
    bool keep = op_attr_int(m, op, "keepdim", 1) != 0;
    expr_id one = expr_const(module_context(m), 1);
    shape s = {0};
    for (uint32_t i = 0; i < x->rank; i++) {
        if (!reduced[i])
            s.dims[s.rank++] = x->dims[i];
        else if (keep)
            s.dims[s.rank++] = one;
    }
    return infer_give(m, x->dtype, &s, out);
}

/* What cannot be chosen, since there is nothing. */
static status check_not_empty(module *m, op_id op)
{
    const ir_context *c = module_context(m);
    const type_node *x = type_of_value(m, op_operand(m, op, 0));
    const attr_id axes = op_attr(m, op, "axis");
    const bool is_list = attr_at(c, axes)->kind == ATTR_LIST;
    for (uint32_t i = 0; i < (is_list ? attr_at(c, axes)->count : 1); i++) {
        uint32_t axis = 0;
        int64_t extent = 1;
        TRY(infer_axis(m, op, is_list ? attr_at(c, axes)->items[i] : axes, x->rank, &axis));
        if (expr_is_const(c, x->dims[axis], &extent) && extent == 0)
            return op_error(m, op, &E0215,
                            "has axis %" PRIu32 " of extent 0, along which there is no element to choose", axis);
    }
    return OK;
}

status infer_argument(module *m, uint32_t op, type_id *out)
{
    const ir_context *c = module_context(m);
    const attr_id wanted = op_attr(m, op, "out");
    const dtype d = wanted != 0 ? type_at(c, attr_at(c, wanted)->id)->dtype : DTYPE_I32;
    if (d != DTYPE_I32 && d != DTYPE_I64)
        return op_error(m, op, &E0212, "cannot give %s; legal are i32 and i64", dtype_name(d));
    type_id like = *out;
    TRY(infer_reduce(m, op, &like));
    TRY(check_not_empty(m, op));
    shape s = infer_shape_of(type_at(c, like));
    return infer_give(m, d, &s, out);
}

status infer_full(module *m, uint32_t op, type_id *out)
{
    shape s = infer_shape_of(type_at(module_context(m), *out));
    return infer_give(m, type_of_value(m, op_operand(m, op, 0))->dtype, &s, out);
}

status infer_reshape(module *m, uint32_t op, type_id *out)
{
    ir_context *c = module_context(m);
    type_id x = value_type(m, op_operand(m, op, 0));
    expr_id have = type_element_count(c, x);
    expr_id want = type_element_count(c, *out);
    if (have == 0 || want == 0 || !op_expr_same(m, op, have, want))
        return op_error(m, op, &E0217, "cannot turn %s into %s: %s elements against %s", type_words(m, x),
                        type_words(m, *out), have == 0 ? "too many" : expr_words(m, op, have),
                        want == 0 ? "too many" : expr_words(m, op, want));
    shape s = infer_shape_of(type_at(c, *out));
    return infer_give(m, type_at(c, x)->dtype, &s, out);
}

/* Any byte may be that of a number, but not of a bool. */
status infer_bitcast(module *m, uint32_t op, type_id *out)
{
    ir_context *c = module_context(m);
    const type_node *x = type_of_value(m, op_operand(m, op, 0));
    const dtype to = type_at(c, *out)->dtype;
    const uint32_t from_bytes = dtype_bytes(x->dtype), bytes = dtype_bytes(to);
    shape s = infer_shape_of(x);
    if (to == DTYPE_BOOL && x->dtype != to)
        return op_error(m, op, &E0211, "cannot make bool, in which a byte is 0 or 1; compare with 0");
    if (from_bytes > bytes) {
        if (s.rank == TYPE_MAX_RANK) return op_error(m, op, &E0213, "has no dim left for the elements of one");
        s.dims[s.rank++] = expr_const(c, from_bytes / bytes);
    } else if (from_bytes < bytes) {
        const expr_id count = expr_const(c, bytes / from_bytes);
        if (s.rank == 0 || !op_expr_same(m, op, s.dims[s.rank - 1], count))
            return op_error(m, op, &E0213, "makes one %s of %" PRIu32 " elements, and has %s as operand",
                            dtype_name(to), bytes / from_bytes, type_words(m, value_type(m, op_operand(m, op, 0))));
        s.rank--;
    }
    return infer_give(m, to, &s, out);
}

status infer_transpose(module *m, uint32_t op, type_id *out)
{
    const ir_context *c = module_context(m);
    const type_node *x = type_of_value(m, op_operand(m, op, 0));
    const attr_node *perm = attr_at(c, op_attr(m, op, "perm"));
    uint32_t count = perm->kind == ATTR_LIST ? perm->count : 1;
    if (count != x->rank)
        return op_error(m, op, &E0216, "has %" PRIu32 " entries in `perm` for an operand with %u dims", count,
                        (unsigned)x->rank);
    uint32_t seen = 0;
    shape s = {.rank = x->rank};
    for (uint32_t i = 0; i < count; i++) {
        const attr_node *n = perm->kind == ATTR_LIST ? attr_at(c, perm->items[i]) : perm;
        if (n->kind != ATTR_INT || n->i < 0 || n->i >= x->rank || (seen & (1u << n->i)) != 0)
            return op_error(m, op, &E0216,
                            "needs each of 0 to %d once in `perm`; entry %" PRIu32 " is out of range or repeated",
                            x->rank - 1, i);
        seen |= 1u << n->i;
        s.dims[i] = x->dims[n->i];
    }
    return infer_give(m, x->dtype, &s, out);
}

status infer_broadcast(module *m, uint32_t op, type_id *out)
{
    type_id x = value_type(m, op_operand(m, op, 0));
    const type_node *from = type_at(module_context(m), x);
    shape s = infer_shape_of(type_at(module_context(m), *out));
    if (from->rank > s.rank)
        return op_error(m, op, &E0213, "cannot broadcast %s to %s: it has more dims", type_words(m, x),
                        type_words(m, *out));
    for (uint32_t i = 0; i < from->rank; i++) {
        expr_id to = s.dims[s.rank - from->rank + i];
        if (!is_one(m, from->dims[i]) && !op_expr_same(m, op, from->dims[i], to))
            return op_error(m, op, &E0213, "cannot broadcast %s to %s: extent %s becomes %s; only extent 1 can grow",
                            type_words(m, x), type_words(m, *out), expr_words(m, op, from->dims[i]),
                            expr_words(m, op, to));
    }
    return infer_give(m, from->dtype, &s, out);
}

status infer_iota(module *m, uint32_t op, type_id *out)
{
    const type_node *t = type_at(module_context(m), *out);
    const shape s = infer_shape_of(t);
    uint32_t axis;
    TRY(infer_axis(m, op, op_attr(m, op, "axis"), t->rank, &axis));
    return infer_give(m, t->dtype, &s, out);
}

status infer_triangle(module *m, uint32_t op, type_id *out)
{
    const type_node *x = type_of_value(m, op_operand(m, op, 0));
    if (x->rank < 2)
        return op_error(m, op, &E0213, "takes matrices; `x` has %u dims and needs 2 or more", (unsigned)x->rank);
    shape s = infer_shape_of(x);
    return infer_give(m, x->dtype, &s, out);
}
