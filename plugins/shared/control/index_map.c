#include "index_map.h"

enum { LIST_DEPTH_MAX = 3 };

static pto_attr substitute(pto_attr a, const index_map *map, int depth)
{
    if (pto_attr_kind_of(a) == PTO_ATTR_EXPR)
        return pto_attr_make_expr(a.run, pto_expr_substitute(pto_attr_expr(a), map->count, map->from, map->to));
    if (pto_attr_kind_of(a) != PTO_ATTR_LIST || depth == LIST_DEPTH_MAX) return a;
    uint32_t count = pto_attr_count(a);
    pto_attr *items = PTO_SCRATCH(a.run, pto_attr, count);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = substitute(pto_attr_item(a, i, NULL), map, depth + 1);
        if (!PTO_SOME(items[i])) return items[i];
    }
    return pto_attr_make_list(a.run, count, items);
}

pto_status index_map_apply(pto_op op, const index_map *map)
{
    const uint32_t count = pto_op_attr_count(op);
    const char **names = pto_scratch_array(op.run, count, sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        pto_str name = pto_no_str();
        (void)pto_op_attr_at(op, i, &name);
        char *text = pto_scratch(op.run, name.n + 1);
        if (name.n != 0) memcpy(text, name.p, name.n);
        names[i] = text;
    }
    for (uint32_t i = 0; i < count; i++) {
        const pto_attr a = pto_op_attr(op, pto_s(names[i]));
        if (pto_attr_kind_of(a) != PTO_ATTR_EXPR && pto_attr_kind_of(a) != PTO_ATTR_LIST) continue;
        const pto_attr b = substitute(a, map, 0);
        PTO_NEED(b);
        if (!pto_attr_same(a, b)) PTO_TRY(pto_op_set_attr(op, pto_s(names[i]), b));
    }
    return PTO_OK;
}
