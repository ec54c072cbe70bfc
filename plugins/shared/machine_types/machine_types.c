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
    return (pto_kind_id)pto_kind_column(run, tensor_kind, PTO_COLUMN_TYPED_BY);
}

pto_str machine_dtypes(const pto_run *run, pto_kind_id kind)
{
    const pto_str cost = pto_kind_cost(run, kind);
    const pto_str own = pto_machine_text(run, "instructions.%.*s.dtypes", PTO_FMT(cost));
    return own.n != 0 ? own : pto_machine_text(run, "vector.dtypes");
}

int machine_takes(const pto_run *run, pto_kind_id kind, pto_dtype t)
{
    if (pto_kind_column(run, kind, PTO_COLUMN_RULE) == PTO_RULE_CONVERT) return machine_converts(run, t, t);
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
