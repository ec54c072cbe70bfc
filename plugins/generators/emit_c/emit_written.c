/* Workspaces that something reads and nothing writes: C would read whatever was there. */
#include "emit.h"

/* Whether a list of regions of a kernel, `reads` or `writes`, has that parameter; without the list it may be all. */
static int is_listed(pto_op kernel, const char *list, uint32_t parameter)
{
    const pto_attr regions = pto_op_attr(kernel, pto_s(list));
    if (!PTO_SOME(regions)) return 1;
    for (uint32_t i = 0; i < pto_attr_count(regions); i++) {
        const pto_attr region = pto_attr_item(regions, i, NULL);
        if (pto_attr_i64(pto_attr_item(region, 0, NULL)) == (int64_t)parameter) return 1;
    }
    return 0;
}

/* Whether a use of memory writes it, views included; what is not known may. */
static int is_writer(emitter *e, pto_op user, uint32_t slot)
{
    if (EMIT_IS(e, user, VIEW)) return emit_is_ever_written(e, pto_op_result(user, 0));
    if (EMIT_IS(e, user, PRINT) || EMIT_IS(e, user, ASSERT)) return 0;
    if (!EMIT_IS(e, user, LAUNCH)) return 1;
    return is_listed(pto_symbol_find(e->run, pto_attr_str_of(user, PTO_STR("callee"))), "writes", slot);
}

int emit_is_ever_written(emitter *e, pto_value memory)
{
    PTO_EACH_USE(memory, use) {
        if (is_writer(e, use.op, use.slot)) return 1;
    }
    return pto_value_use_count(memory) == 0;
}
