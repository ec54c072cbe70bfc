/* Memory that one instance of a kernel writes to overlaps nothing else that the kernel uses: loads and stores are put
 * in order by the parameter that they name. Views of one memory become one parameter, and `may_alias` is checked. */
#include "outline_nest.h"

/* ---- views ---- */

static pto_value root_of(pto_value v, const outline_kinds *kinds)
{
    while (pto_op_is(pto_value_op(v), kinds->view)) v = pto_op_operand(pto_value_op(v), 0);
    return v;
}

static int is_memory(const capture *c) { return (c->uses & (USE_READ | USE_WRITE)) != 0; }

/* Whether both are the same elements, some of which the nest writes: a result that is made in the memory of an input
 * has a view of its own. */
static int match_views(const capture *a, const capture *b, const outline_kinds *kinds)
{
    return is_memory(a) && is_memory(b) && ((a->uses | b->uses) & USE_WRITE) != 0 &&
           pto_value_same(root_of(a->value, kinds), root_of(b->value, kinds));
}

static pto_status refuse(const nest *n, const capture *written, const capture *used, const char *instead)
{
    return pto_error(n->op, "pto.outline/may-overlap",
                     "the nest writes to %%%.*s and uses %%%.*s, which may overlap it; copy one of them in a nest of "
                     "its own, or %s",
                     PTO_FMT(pto_value_name(written->value)), PTO_FMT(pto_value_name(used->value)), instead);
}

static pto_status replace_inside(const nest *n, pto_value from, pto_value to)
{
    PTO_WALK(n->op, op)
    {
        for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
            if (pto_value_same(pto_op_operand(op, i), from)) PTO_TRY(pto_op_set_operand(op, i, to));
    }
    return PTO_OK;
}

pto_status outline_join_views(nest *n, const outline_kinds *kinds)
{
    for (uint32_t i = 0; i < n->count; i++) {
        for (uint32_t k = n->count; --k > i;) {
            capture *a = &n->captures[i], *b = &n->captures[k];
            if (!match_views(a, b, kinds)) continue;
            if (!pto_type_same(pto_value_type(a->value), pto_value_type(b->value)))
                return refuse(n, (a->uses & USE_WRITE) != 0 ? a : b, (a->uses & USE_WRITE) != 0 ? b : a,
                              "use one view");
            PTO_TRY(replace_inside(n, b->value, a->value));
            a->uses |= b->uses;
            memmove(b, b + 1, (--n->count - k) * sizeof *b);
        }
    }
    return PTO_OK;
}

/* ---- `may_alias` ---- */

/* Values that one memory may have come from, through views, loops and branches. */
typedef struct origins {
    const outline_kinds *kinds;
    pto_op function;
    pto_value seen[64];
    uint32_t count;
    int is_cut; /* there are more */
} origins;

static void push(origins *o, pto_value v)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (pto_value_same(o->seen[i], v)) return;
    if (o->count == sizeof o->seen / sizeof o->seen[0]) {
        o->is_cut = 1;
        return;
    }
    o->seen[o->count++] = v;
}

/* What a loop or branch hands on: what it began with and what its blocks end with. */
static void push_carried(origins *o, pto_op op, uint32_t slot)
{
    if (slot < pto_op_operand_count(op)) push(o, pto_op_operand(op, slot));
    for (uint32_t i = 0, blocks = pto_op_block_count(op); i < blocks; i++) {
        const pto_op last = pto_block_terminator(pto_op_block_at(op, i));
        const uint32_t count = pto_op_operand_count(last), results = pto_op_result_count(op);
        if (count >= results && slot < results) push(o, pto_op_operand(last, count - results + slot));
    }
}

static void push_origins(origins *o, pto_value v)
{
    const pto_op def = pto_value_op(v);
    if (pto_op_is(def, o->kinds->view)) {
        push(o, pto_op_operand(def, 0));
    } else if (PTO_SOME(def)) {
        if (pto_op_block_count(def) != 0) push_carried(o, def, pto_value_index(v));
    } else if (!pto_op_same(pto_block_parent(pto_value_block(v)), o->function)) {
        const pto_block block = pto_value_block(v);
        const pto_op op = pto_block_parent(block);
        const uint32_t all = pto_block_arg_count(block), results = pto_op_result_count(op);
        if (all >= results && pto_value_index(v) >= all - results)
            push_carried(o, op, pto_value_index(v) - (all - results));
    }
}

/* Whether `memory` may be that of the parameter. */
static int may_be(const nest *n, const outline_kinds *kinds, pto_value memory, pto_value parameter)
{
    origins o = {.kinds = kinds, .function = n->function};
    push(&o, memory);
    for (uint32_t i = 0; i < o.count; i++) {
        if (pto_value_same(o.seen[i], parameter)) return 1;
        push_origins(&o, o.seen[i]);
    }
    return o.is_cut;
}

static pto_status check_pair(const nest *n, const outline_kinds *kinds, pto_value a, pto_value b)
{
    for (uint32_t i = 0; i < n->count; i++) {
        const capture *w = &n->captures[i];
        if ((w->uses & USE_WRITE) == 0 || !may_be(n, kinds, w->value, a)) continue;
        for (uint32_t k = 0; k < n->count; k++) {
            const capture *r = &n->captures[k];
            if ((r->uses & (USE_READ | USE_WRITE)) == 0 || !may_be(n, kinds, r->value, b)) continue;
            return refuse(n, w, r, "take `may_alias` out");
        }
    }
    return PTO_OK;
}

pto_status outline_check_overlaps(const nest *n, const outline_kinds *kinds)
{
    const pto_attr pairs = pto_op_attr(n->function, PTO_STR("may_alias"));
    const pto_block body = pto_body(n->function);
    for (uint32_t i = 0; PTO_SOME(pairs) && i < pto_attr_count(pairs); i++) {
        const pto_attr pair = pto_attr_item(pairs, i, NULL);
        const int64_t a = pto_attr_i64(pto_attr_item(pair, 0, NULL)), b = pto_attr_i64(pto_attr_item(pair, 1, NULL));
        if (a < 0) continue; /* a result: no nest writes to it */
        const pto_value first = pto_block_arg(body, (uint32_t)a), second = pto_block_arg(body, (uint32_t)b);
        PTO_TRY(check_pair(n, kinds, first, second));
        PTO_TRY(check_pair(n, kinds, second, first));
    }
    return PTO_OK;
}
