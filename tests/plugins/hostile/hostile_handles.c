/* Handles that nobody gave out, handles of what is gone, and none where something must be. */
#include "hostile.h"

/* Past the end of any table of a small module; the host can tell it from every number that it gave out. */
enum { FAR = 1000 };

HOSTILE_WAY(none_as_location) { return pto_op_set_loc(pto_block_first(pto_body(unit)), pto_loc_none(run)); }

HOSTILE_WAY(forge_type)
{
    pto_type t = pto_value_type(pto_block_arg(pto_body(unit), 0));
    t.index += FAR;
    return pto_type_rank(t) != 0 ? PTO_OK : PTO_FAILED;
}

HOSTILE_WAY(forge_attribute)
{
    pto_attr a = pto_attr_make_i64(run, 1);
    a.index += FAR;
    return pto_attr_i64(a) != 0 ? PTO_OK : PTO_FAILED;
}

HOSTILE_WAY(forge_expression)
{
    pto_expr e = pto_expr_const(run, 1);
    e.index += FAR;
    return pto_expr_number(e) != 0 ? PTO_OK : PTO_FAILED;
}

HOSTILE_WAY(forge_location)
{
    pto_loc l = pto_op_loc(unit);
    l.index = UINT32_MAX - FAR;
    return pto_op_set_loc(unit, l);
}

/* A new argument and an expression over it; then the argument goes. */
static pto_expr over_erased(const pto_run *run, pto_op unit)
{
    const pto_block body = pto_body(unit);
    const uint32_t last = pto_block_arg_count(body);
    const pto_expr e = pto_expr_value(pto_block_add_arg(body, pto_type_scalar(run, PTO_INDEX), PTO_STR("q")));
    return pto_block_erase_arg(body, last) == PTO_OK ? e : pto_expr_none(run);
}

HOSTILE_WAY(range_over_erased)
{
    (void)pto_expr_range(over_erased(run, unit), unit, NULL);
    return PTO_OK;
}

/* The number of the erased argument must not go to another value, or the expression would be over that one. */
HOSTILE_WAY(range_over_replaced)
{
    const pto_expr e = over_erased(run, unit);
    for (int i = 0; i < 100; i++)
        PTO_NEED(pto_block_add_arg(pto_body(unit), pto_type_scalar(run, PTO_INDEX), PTO_STR("r")));
    (void)pto_expr_range(e, unit, NULL);
    return PTO_OK;
}

HOSTILE_WAY(attribute_over_erased)
{
    return pto_op_set_attr(pto_block_first(pto_body(unit)), PTO_STR("acme.e"),
                           pto_attr_make_expr(run, over_erased(run, unit)));
}

HOSTILE_WAY(set_operand_beyond)
{
    return pto_op_set_operand(pto_op_next(pto_block_first(pto_body(unit))), 2, pto_block_arg(pto_body(unit), 0));
}

static pto_status rewrite(const pto_run *run, pto_op op)
{
    (void)run;
    (void)op;
    return 77;
}

HOSTILE_WAY(pattern_without_status)
{
    const pto_pattern pattern = {.struct_size = sizeof pattern, .rewrite = rewrite};
    const pto_pattern *const patterns[] = {&pattern};
    return pto_greedy(run, unit, 1, patterns, 0);
}

#define WAYS(X)         \
    X(none_as_location) \
    X(forge_type)       \
    X(forge_attribute)  \
    X(forge_expression) \
    X(forge_location)   \
    X(range_over_erased) X(range_over_replaced) X(attribute_over_erased) X(set_operand_beyond) X(pattern_without_status)
HOSTILE("test.hostile-handles", WAYS);
