#include "nest_function.h"

#include <stdio.h>

pto_status nest_lower_each(pto_op unit, int (*matches)(pto_op op), pto_status (*lower)(pto_op op))
{
    const pto_run *run = unit.run;
    uint32_t count = 0, capacity = 0;
    pto_op *found = NULL;
    PTO_WALK(unit, op)
    {
        if (!matches(op)) continue;
        PTO_GROW(run, found, count, capacity);
        found[count++] = op;
    }
    for (uint32_t i = 0; i < count; i++) {
        PTO_TRY(pto_go_on(run));
        PTO_TRY(lower(found[i]));
    }
    return PTO_OK;
}

int64_t nest_block(int64_t n, pto_expr extent)
{
    int64_t there = 0;
    return pto_expr_is_const(extent, &there) && there > 0 && there < n ? there : n;
}

pto_str nest_free_name(pto_op op, const char *suffix)
{
    const pto_str stem = pto_str_join(op.run, pto_function_name(pto_op_function(op)), pto_s(suffix));
    pto_str name = stem;
    for (uint32_t i = 0; PTO_SOME(pto_symbol_find(op.run, name)); i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%u", (unsigned)i);
        name = pto_str_join(op.run, stem, pto_s(number));
    }
    return name;
}

pto_expr nest_symbol_or_number(const pto_run *run, pto_expr extent, const char *symbol)
{
    int64_t n = 0;
    return pto_expr_is_const(extent, &n) ? extent : pto_expr_symbol(run, pto_s(symbol));
}

pto_op nest_function(pto_op op, pto_kind_id func, pto_str name, uint32_t count)
{
    pto_attr *modes = PTO_SCRATCH(op.run, pto_attr, count);
    for (uint32_t i = 0; i < count; i++)
        modes[i] = pto_attr_make_str(op.run, i + 1 < count ? PTO_STR("in") : PTO_STR("out"));
    pto_spec s = pto_spec_make(op.run, func);
    pto_spec_str(&s, PTO_STR("name"), name);
    pto_spec_str(&s, PTO_STR("visibility"), PTO_STR("private"));
    pto_spec_attr(&s, PTO_STR("params"), pto_attr_make_list(op.run, count, modes));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(op));
    return pto_spec_build(&s, pto_after(pto_op_function(op)));
}
