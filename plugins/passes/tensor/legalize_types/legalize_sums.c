/* Sums of more numbers of 64 bits than one sum of their 16 bits holds: in parts of fewer. They wrap, so that their
 * order does not matter.
 *
 *   reduce_sum    of an extent that is known: parts of 65536 numbers at once, then those sums. Of another one: such
 * parts one after the other. And what is left.
 *   sums at indices   a loop adds a part of the indices after the other, and then what is left of them. */
#include "legalize_parts.h"

enum { PART = 65536, AT_ONCE_MAX = 65535, OPERANDS_MAX = 12 };

/* ---- reduce_sum ---- */

/* x along the axis as so many parts, each of PART numbers along the next dim. */
static pto_value in_rows(const in_parts *p, pto_value x, pto_expr rows)
{
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < p->rank + 1; d++)
        dims[d] = d == p->axis       ? rows
                  : d == p->axis + 1 ? parts_number(p, PART)
                                     : pto_type_dim(pto_value_type(x), d < p->axis ? d : d - 1);
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_RESHAPE));
    pto_spec_operand(&s, x);
    return parts_make(p, &s, pto_type_tensor(p->op.run, parts_dtype(x), p->rank + 1, dims), "_rows");
}

static pto_value sum_along(const in_parts *p, pto_value x, uint32_t axis, int stays, pto_type type)
{
    const int64_t along = axis;
    pto_spec s = pto_spec_make(p->op.run, pto_op_kind(p->op));
    pto_spec_operand(&s, x);
    pto_spec_ints(&s, PTO_STR("axis"), 1, &along);
    if (!stays) pto_spec_bool(&s, PTO_STR("keepdim"), 0);
    return parts_make(p, &s, type, "_sums");
}

static pto_value add(const in_parts *p, pto_value a, pto_value b)
{
    if (!PTO_SOME(a) || !PTO_SOME(b)) return pto_value_none(p->op.run);
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_ADD));
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    return parts_make(p, &s, pto_value_type(a), "_sum");
}

/* Of that many numbers from `first` on, at most PART. */
static pto_value sum_of_part(const in_parts *p, pto_value x, pto_expr first, pto_expr extent)
{
    const pto_value part = parts_view(p, x, first, extent);
    return PTO_SOME(part) ? sum_along(p, part, p->axis, 1, parts_type(p, x, parts_number(p, 1))) : part;
}

/* Of parts all at once. */
static pto_value sum_of_rows(const in_parts *p, pto_value x, int64_t rows)
{
    const pto_value view = parts_view(p, x, parts_number(p, 0), parts_number(p, rows * PART));
    const pto_value in_two = PTO_SOME(view) ? in_rows(p, view, parts_number(p, rows)) : view;
    if (!PTO_SOME(in_two)) return in_two;
    const pto_value sums = sum_along(p, in_two, p->axis + 1, 0, parts_type(p, x, parts_number(p, rows)));
    return PTO_SOME(sums) ? sum_along(p, sums, p->axis, 1, parts_type(p, x, parts_number(p, 1))) : sums;
}

/* Of one part after the other. */
static pto_value sum_in_loop(in_parts *p, pto_value x, pto_expr trips)
{
    const pto_value none = pto_value_none(p->op.run);
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_CONSTANT));
    pto_spec_int(&s, PTO_STR("value"), 0);
    const pto_value zero = parts_make(p, &s, parts_type(p, x, parts_number(p, 1)), "_zeros");
    const pto_op loop = PTO_SOME(zero) ? parts_begin_loop(p, trips, 1, &zero) : pto_op_none(p->op.run);
    if (!PTO_SOME(loop)) return none;
    const pto_expr first = pto_expr_scale(pto_expr_value(pto_block_arg(pto_body(loop), 0)), PART);
    const pto_value of_part = sum_of_part(p, x, first, parts_number(p, PART));
    pto_value next = add(p, pto_block_arg(pto_body(loop), 1), of_part);
    return PTO_SOME(next) && parts_end_loop(p, loop, 1, &next) ? next : none;
}

pto_value legalize_sum(pto_op op, uint32_t axis)
{
    const pto_value x = pto_op_operand(op, 0);
    in_parts p = {.op = op, .at = pto_before(op), .axis = axis, .rank = pto_type_rank(pto_value_type(x))};
    const pto_expr extent = pto_type_dim(pto_value_type(x), axis), part = parts_number(&p, PART);
    const pto_expr rest = pto_expr_mod(extent, part), first = pto_expr_sub(extent, rest);
    int64_t known;
    if (!pto_expr_is_const(extent, &known)) {
        const pto_value whole = sum_in_loop(&p, x, pto_expr_floordiv(extent, part));
        return add(&p, whole, sum_of_part(&p, x, first, rest));
    }
    const pto_value whole = sum_of_rows(&p, x, known / PART);
    return known % PART == 0 ? whole : add(&p, whole, sum_of_part(&p, x, first, rest));
}

/* ---- sums at indices ---- */

/* Of each operand the dim along which indices follow each other; x is added to as it is. */
typedef struct index_parts {
    in_parts p;
    uint32_t axis[OPERANDS_MAX], count;
} index_parts;

static pto_value operand_part(const index_parts *w, uint32_t i, pto_expr first, pto_expr extent)
{
    in_parts p = w->p;
    const pto_value x = pto_op_operand(p.op, i);
    p.axis = w->axis[i];
    p.rank = pto_type_rank(pto_value_type(x));
    return parts_view(&p, x, first, extent);
}

static pto_value add_part(const index_parts *w, pto_value so_far, pto_expr first, pto_expr extent)
{
    const pto_op op = w->p.op;
    pto_spec s = pto_spec_make(op.run, pto_op_kind(op));
    pto_spec_operand(&s, so_far);
    for (uint32_t i = 1; i < w->count; i++) pto_spec_operand(&s, operand_part(w, i, first, extent));
    pto_spec_attrs_of(&s, op);
    return parts_make(&w->p, &s, pto_value_type(so_far), "_put");
}

/* x with `count` dims from `first` on as one. */
static pto_value flat(const in_parts *p, pto_value x, uint32_t first, uint32_t count)
{
    const pto_type type = pto_value_type(x);
    const uint32_t rank = pto_type_rank(type) - count + 1;
    pto_expr dims[PTO_MAX_DIMS], all = parts_number(p, 1);
    for (uint32_t d = 0; d < count; d++) all = pto_expr_mul(all, pto_type_dim(type, first + d));
    for (uint32_t d = 0; d < rank; d++) dims[d] = d == first ? all : pto_type_dim(type, d > first ? d + count - 1 : d);
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_RESHAPE));
    pto_spec_operand(&s, x);
    return parts_make(p, &s, pto_type_tensor(p->op.run, parts_dtype(x), rank, dims), "_flat");
}

/* tensor.index_add of indices of several dims as that of a list of them. */
static pto_value in_a_row(const in_parts *p, uint32_t axis)
{
    const pto_value x = pto_op_operand(p->op, 0), index = pto_op_operand(p->op, 1);
    const uint32_t count = pto_type_rank(pto_value_type(index));
    pto_spec s = pto_spec_make(p->op.run, pto_op_kind(p->op));
    pto_spec_operand(&s, x);
    pto_spec_operand(&s, flat(p, index, 0, count));
    pto_spec_operand(&s, flat(p, pto_op_operand(p->op, 2), axis, count));
    pto_spec_attrs_of(&s, p->op);
    return parts_make(p, &s, pto_value_type(x), "_put");
}

pto_value legalize_sums_at(pto_op op, uint32_t values, uint32_t index, int in_lines)
{
    const pto_value none = pto_value_none(op.run), x = pto_op_operand(op, 0);
    const pto_type type = pto_value_type(pto_op_operand(op, index)), added = pto_value_type(pto_op_operand(op, values));
    const int64_t given = pto_attr_int_of(op, PTO_STR("axis"), 0), rank = pto_type_rank(pto_value_type(x));
    const uint32_t axis = (uint32_t)(given < 0 ? given + rank : given), along = in_lines ? axis : 0;
    index_parts w = {.p = {.op = op, .at = pto_before(op)}, .count = pto_op_operand_count(op)};
    if (w.count > OPERANDS_MAX || pto_type_rank(type) == 0) return none;
    if (PTO_IS(op, INDEX_ADD) && pto_type_rank(type) > 1) return in_a_row(&w.p, axis);
    for (uint32_t i = 1; i < w.count; i++) w.axis[i] = along;
    if (PTO_IS(op, INDEX_ADD)) w.axis[values] = axis;
    const pto_expr extent = pto_type_dim(type, along);
    /* What is repeated along the dim is not in parts. */
    if (w.axis[values] >= pto_type_rank(added) || !pto_expr_equal(pto_type_dim(added, w.axis[values]), extent))
        return none;
    const pto_expr part = parts_number(&w.p, AT_ONCE_MAX), trips = pto_expr_floordiv(extent, part);
    const pto_expr rest = pto_expr_mod(extent, part);
    const pto_op loop = parts_begin_loop(&w.p, trips, 1, &x);
    if (!PTO_SOME(loop)) return none;
    const pto_expr i = pto_expr_value(pto_block_arg(pto_body(loop), 0));
    pto_value next = add_part(&w, pto_block_arg(pto_body(loop), 1), pto_expr_scale(i, AT_ONCE_MAX), part);
    if (!PTO_SOME(next) || !parts_end_loop(&w.p, loop, 1, &next)) return none;
    return add_part(&w, next, pto_expr_sub(extent, rest), rest);
}
