#include "machine_types.h"

#include <stdio.h>

int machine_lists(pto_str list, const char *item)
{
    const size_t n = strlen(item);
    for (size_t at = 0; at < list.n;) {
        size_t end = at;
        while (end < list.n && list.p[end] != ',') end++;
        if (end - at == n && memcmp(list.p + at, item, n) == 0) return 1;
        at = end + 1;
    }
    return 0;
}

pto_kind_id machine_tile_kind(const pto_run *run, pto_kind_id tensor_kind)
{
    static const char *const others[][2] = {{"tensor.maximum", "tile.max"},       {"tensor.minimum", "tile.min"},
                                            {"tensor.relu", "tile.max"},          {"tensor.reduce_sum", "tile.rowsum"},
                                            {"tensor.reduce_max", "tile.rowmax"}, {"tensor.reduce_min", "tile.rowmin"},
                                            {"tensor.broadcast", "tile.add"}};
    static const char prefix[] = "tensor.";
    const pto_str name = pto_kind_name(run, tensor_kind);
    char text[64];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (pto_str_is(name, others[i][0])) return pto_kind_by_name(run, pto_s(others[i][1]));
    }
    if (name.n < sizeof prefix || memcmp(name.p, prefix, sizeof prefix - 1) != 0) return 0;
    snprintf(text, sizeof text, "tile.%.*s", (int)(name.n - sizeof prefix + 1), name.p + sizeof prefix - 1);
    return pto_kind_by_name(run, pto_s(text));
}

pto_str machine_dtypes(const pto_run *run, pto_kind_id kind)
{
    const pto_str cost = pto_kind_cost(run, kind);
    const pto_str own = pto_machine_text(run, "instructions.%.*s.dtypes", PTO_FMT(cost));
    return own.n != 0 ? own : pto_machine_text(run, "vector.dtypes");
}

int machine_takes(const pto_run *run, pto_kind_id kind, pto_dtype t)
{
    return machine_lists(machine_dtypes(run, kind), pto_dtype_name(t));
}

pto_str machine_conversions(const pto_run *run, pto_dtype from)
{
    return pto_machine_text(run, "vector.conversions.%s", pto_dtype_name(from));
}

int machine_converts(const pto_run *run, pto_dtype from, pto_dtype to)
{
    return machine_lists(machine_conversions(run, from), pto_dtype_name(to));
}
