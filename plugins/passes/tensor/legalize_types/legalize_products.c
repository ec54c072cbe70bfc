/* Products of many numbers of 64 bits, of products of two. They wrap, so that their order does not matter.
 *
 *   reduce_prod   of an extent that is known: its halves are multiplied, until one number is left. Of another one:
 * parts of 64 numbers in a loop, then their halves, then what is left one by one cumprod       of an extent that is
 * known: each number times the one 1 before it, then 2, 4 and so on; of another one, or a long one, one by one, each in
 * the place of the number */
#include "legalize_parts.h"

enum { PART = 64, DOUBLED_MAX = 4096 };

static pto_value times(const in_parts *p, pto_value a, pto_value b)
{
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_MUL));
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    return parts_make(p, &s, pto_value_type(a), "_product");
}

static pto_value ones(const in_parts *p, pto_value like, int64_t extent)
{
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_CONSTANT));
    pto_spec_int(&s, PTO_STR("value"), 1);
    return parts_make(p, &s, parts_type(p, like, parts_number(p, extent)), "_ones");
}

static pto_value behind(const in_parts *p, pto_value a, pto_value b, pto_type type)
{
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_CONCAT));
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    pto_spec_int(&s, PTO_STR("axis"), p->axis);
    return parts_make(p, &s, type, "_all");
}

/* `so_far` times each of the parts of that extent from `first` on. */
static pto_value times_parts(in_parts *p, pto_value x, pto_value so_far, pto_expr first, pto_expr trips, int64_t extent)
{
    const pto_value none = pto_value_none(p->op.run);
    const pto_op loop = parts_begin_loop(p, trips, 1, &so_far);
    if (!PTO_SOME(loop)) return none;
    const pto_expr index = pto_expr_value(pto_block_arg(pto_body(loop), 0));
    const pto_value part =
        parts_view(p, x, pto_expr_add(first, pto_expr_scale(index, extent)), parts_number(p, extent));
    pto_value next = times(p, pto_block_arg(pto_body(loop), 1), part);
    return PTO_SOME(next) && parts_end_loop(p, loop, 1, &next) ? next : none;
}

/* ---- reduce_prod ---- */

/* Of an extent of 1 and more; numbers that have no other in a half are multiplied in the end. */
static pto_value of_halves(const in_parts *p, pto_value x, int64_t extent)
{
    pto_value left = pto_value_none(p->op.run);
    for (; extent > 1 && PTO_SOME(x); extent /= 2) {
        const int64_t half = extent / 2;
        if (extent % 2 != 0) {
            const pto_value last = parts_view(p, x, parts_number(p, extent - 1), parts_number(p, 1));
            left = PTO_SOME(left) ? times(p, left, last) : last;
        }
        const pto_value low = parts_view(p, x, parts_number(p, 0), parts_number(p, half)),
                        high = parts_view(p, x, parts_number(p, half), parts_number(p, half));
        x = times(p, low, high);
    }
    return PTO_SOME(left) && PTO_SOME(x) ? times(p, x, left) : x;
}

pto_value legalize_product(pto_op op, uint32_t axis)
{
    const pto_value x = pto_op_operand(op, 0);
    in_parts p = {.op = op, .at = pto_before(op), .axis = axis, .rank = pto_type_rank(pto_value_type(x))};
    const pto_expr extent = pto_type_dim(pto_value_type(x), axis), part = parts_number(&p, PART);
    int64_t known;
    if (pto_expr_is_const(extent, &known)) return known == 0 ? ones(&p, x, 1) : of_halves(&p, x, known);
    const pto_expr rest = pto_expr_mod(extent, part);
    const pto_value parts =
        times_parts(&p, x, ones(&p, x, PART), parts_number(&p, 0), pto_expr_floordiv(extent, part), PART);
    const pto_value one = PTO_SOME(parts) ? of_halves(&p, parts, PART) : parts;
    return PTO_SOME(one) ? times_parts(&p, x, one, pto_expr_sub(extent, rest), rest, 1) : one;
}

/* ---- cumprod ---- */

/* The extent is known and 1 or more; `reverse`: of the numbers after each. */
static pto_value doubled(const in_parts *p, pto_value x, int64_t extent, int reverse)
{
    const pto_type type = pto_value_type(x);
    for (int64_t step = 1; step < extent && PTO_SOME(x); step *= 2) {
        const pto_expr by = parts_number(p, step), rest = parts_number(p, extent - step), zero = parts_number(p, 0);
        const pto_value after = parts_view(p, x, by, rest), before = parts_view(p, x, zero, rest);
        const pto_value far = times(p, after, before);
        const pto_value near = parts_view(p, x, reverse ? rest : zero, by);
        x = reverse ? behind(p, far, near, type) : behind(p, near, far, type);
    }
    return x;
}

static pto_value one_by_one(in_parts *p, pto_value x, pto_expr extent, int exclusive, int reverse)
{
    const pto_value none = pto_value_none(p->op.run), carried[] = {ones(p, x, 1), x};
    const pto_op loop = parts_begin_loop(p, extent, 2, carried);
    if (!PTO_SOME(loop)) return none;
    const pto_expr index = pto_expr_value(pto_block_arg(pto_body(loop), 0));
    const pto_expr at = reverse ? pto_expr_sub(pto_expr_offset(extent, -1), index) : index;
    const pto_value before = pto_block_arg(pto_body(loop), 1), all = pto_block_arg(pto_body(loop), 2);
    const pto_value upto = times(p, before, parts_view(p, all, at, parts_number(p, 1)));
    pto_expr offsets[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < p->rank; d++) offsets[d] = d == p->axis ? at : parts_number(p, 0);
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_ASSEMBLE));
    pto_spec_operand(&s, exclusive ? before : upto);
    pto_spec_operand(&s, all);
    pto_spec_exprs(&s, PTO_STR("offsets"), p->rank, offsets);
    pto_value next[] = {upto, parts_make(p, &s, pto_value_type(x), "_put")};
    return PTO_SOME(next[1]) && parts_end_loop(p, loop, 2, next) ? next[1] : none;
}

pto_value legalize_products_up_to(pto_op op)
{
    const pto_value x = pto_op_operand(op, 0);
    const pto_type type = pto_value_type(x);
    const int exclusive = pto_attr_bool_of(op, PTO_STR("exclusive"), 0),
              reverse = pto_attr_bool_of(op, PTO_STR("reverse"), 0);
    in_parts p = {.op = op, .at = pto_before(op), .rank = pto_type_rank(type)};
    const int64_t given = pto_attr_int_of(op, PTO_STR("axis"), 0);
    p.axis = (uint32_t)(given < 0 ? given + p.rank : given);
    const pto_expr extent = pto_type_dim(type, p.axis);
    int64_t known;
    if (!pto_expr_is_const(extent, &known) || known > DOUBLED_MAX) return one_by_one(&p, x, extent, exclusive, reverse);
    if (known == 0) return x;
    const pto_value all = doubled(&p, x, known, reverse);
    if (!exclusive || !PTO_SOME(all)) return all;
    if (known == 1) return ones(&p, x, 1);
    const pto_value rest = parts_view(&p, all, parts_number(&p, reverse), parts_number(&p, known - 1));
    const pto_value one = ones(&p, x, 1);
    return reverse ? behind(&p, rest, one, type) : behind(&p, one, rest, type);
}

/* ---- products at indices ---- */

static pto_value in_line(const in_parts *p, uint32_t kind, pto_value x, pto_value at, const pto_value *put)
{
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, kind));
    pto_spec_operand(&s, x);
    pto_spec_operand(&s, at);
    if (put != NULL) pto_spec_operand(&s, *put);
    pto_spec_int(&s, PTO_STR("axis"), p->axis);
    const pto_type like = put != NULL ? pto_value_type(x) : pto_value_type(at);
    return parts_make(p, &s, pto_type_with_dtype(p->op.run, like, parts_dtype(x)), put != NULL ? "_put" : "_old");
}

pto_value legalize_products_at(pto_op op)
{
    const pto_run *run = op.run;
    const pto_value x = pto_op_operand(op, 0), index = pto_op_operand(op, 1), none = pto_value_none(run);
    in_parts p = {.op = op, .at = pto_before(op), .rank = pto_type_rank(pto_value_type(x))};
    const int64_t given = pto_attr_int_of(op, PTO_STR("axis"), 0);
    const pto_type all = pto_type_with_dtype(run, pto_value_type(index), parts_dtype(x));
    pto_value factors = pto_op_operand(op, 2);
    p.axis = (uint32_t)(given < 0 ? given + p.rank : given);
    if (!pto_type_same(pto_value_type(factors), all)) {
        pto_spec s = pto_spec_make(run, pto_kind(run, KIND_BROADCAST));
        pto_spec_operand(&s, factors);
        factors = parts_make(&p, &s, all, "_factors");
    }
    const pto_op loop = parts_begin_loop(&p, pto_type_dim(pto_value_type(index), p.axis), 1, &x);
    if (!PTO_SOME(loop)) return none;
    const pto_expr i = pto_expr_value(pto_block_arg(pto_body(loop), 0)), one = parts_number(&p, 1);
    const pto_value so_far = pto_block_arg(pto_body(loop), 1), at = parts_view(&p, index, i, one);
    const pto_value factor = parts_view(&p, factors, i, one), old = in_line(&p, KIND_GATHER, so_far, at, NULL);
    const pto_value product_of = times(&p, old, factor);
    pto_value next = in_line(&p, KIND_SCATTER, so_far, at, &product_of);
    return PTO_SOME(next) && parts_end_loop(&p, loop, 1, &next) ? next : none;
}
