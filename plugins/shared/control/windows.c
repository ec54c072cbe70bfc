#include "windows.h"

static uint32_t rank_of(pto_op access) { return pto_expr_count_of(access, PTO_STR("offsets")); }

static pto_expr offset_of(pto_op access, uint32_t dim) { return pto_expr_of(access, PTO_STR("offsets"), dim); }

int64_t window_step_along(pto_expr e, pto_value index)
{
    const pto_expr zero = pto_expr_const(e.run, 0), one = pto_expr_const(e.run, 1);
    const pto_expr first = pto_expr_substitute(e, 1, &index, &zero), second = pto_expr_substitute(e, 1, &index, &one);
    int64_t at = 0, step = 0;
    if (!PTO_SOME(first) || !PTO_SOME(second) || !pto_expr_is_const(first, &at) || at != 0 ||
        !pto_expr_is_const(second, &step) || step < 1)
        return 0;
    return pto_expr_equal(e, pto_expr_scale(pto_expr_value(index), step)) ? step : 0;
}

/* Rows and columns that a load or store covers of memory; none of an op that does not say. */
static int covered(pto_op access, pto_expr out[2])
{
    const int is_turned = pto_attr_bool_of(access, PTO_STR("transpose"), 0);
    if (pto_op_transfer(access) == PTO_TRANSFER_STORE) return pto_value_valid(pto_op_operand(access, 0), out) >= 0;
    for (uint32_t d = 0; d < 2; d++) out[is_turned ? 1 - d : d] = pto_expr_of(access, PTO_STR("sizes"), d);
    return 1;
}

int64_t window_extent(pto_op access, uint32_t dim)
{
    const uint32_t rank = rank_of(access);
    pto_expr size[2];
    if (dim + 2 < rank) return 1;
    if (!covered(access, size)) return INT64_MAX;
    return pto_expr_range(size[dim + 1 == rank ? 1 : 0], access, NULL).hi;
}

int32_t window_dim_along(pto_op access, pto_value index)
{
    for (uint32_t d = 0; d < rank_of(access); d++) {
        const int64_t step = window_step_along(offset_of(access, d), index);
        if (step != 0 && window_extent(access, d) <= step) return (int32_t)d;
    }
    return -1;
}

int window_is_same_along(pto_op a, pto_op b, uint32_t dim)
{
    const uint32_t rank = rank_of(a);
    pto_expr one[2], other[2];
    if (rank_of(b) != rank || !pto_expr_equal(offset_of(a, dim), offset_of(b, dim))) return 0;
    if (dim + 2 < rank) return 1;
    const int which = dim + 1 == rank ? 1 : 0;
    return covered(a, one) && covered(b, other) && pto_expr_equal(one[which], other[which]);
}

int window_is_same(pto_op a, pto_op b)
{
    const uint32_t rank = rank_of(a);
    pto_expr one[2], other[2];
    if (rank_of(b) != rank || !covered(a, one) || !covered(b, other)) return 0;
    for (uint32_t d = 0; d < rank; d++)
        if (!window_is_same_along(a, b, d)) return 0;
    return pto_expr_equal(one[0], other[0]) && pto_expr_equal(one[1], other[1]);
}
