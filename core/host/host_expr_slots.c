/* Expressions in attributes: slots inside the IR, value leaves in front of plugins. */
#include "core/host/host_handle.h"

enum { LIST_DEPTH = 3 }; /* lists around an expression; ir/op_index.c looks as deep */

/* What is nested too deeply to be looked into is refused wherever leaves are. */
static bool has_leaves_at(const ir_context *ir, attr_id a, int depth)
{
    const attr_node *n = attr_at(ir, a);
    return n->has_slot || n->nesting > depth;
}

bool attr_has_leaves(const ir_context *ir, attr_id a) { return has_leaves_at(ir, a, 16); }

/* Rewrites every expression of an attribute. */
typedef struct attr_rewrite {
    run_context *c;
    op_id op;
    expr_substitution substitution;
    bool failed;
} attr_rewrite;

static attr_id rewrite_attr(attr_rewrite *r, attr_id a, int depth)
{
    ir_context *ir = r->c->ir;
    const attr_node n = *attr_at(ir, a);
    if (n.kind == ATTR_EXPR && expr_at(ir, n.id)->has_slot) {
        const expr_id e = expr_substitute(ir, n.id, &r->substitution);
        r->failed = r->failed || e == 0;
        return e != 0 ? attr_expr(ir, e) : a;
    }
    if (n.kind != ATTR_LIST || depth == 0) return a;
    attr_id *items = arena_array(r->c->scratch, n.count, sizeof *items);
    bool same = true;
    for (uint32_t i = 0; i < n.count; i++) {
        items[i] = rewrite_attr(r, n.items[i], depth - 1);
        same = same && items[i] == n.items[i];
    }
    return same ? a : attr_list(ir, n.count, items);
}

static bool is_function(const module *m, op_id o) { return (op_info_of(m, o)->traits & TRAIT_FUNCTION) != 0; }

static expr_id leaf_of_argument(void *self, uint32_t slot)
{
    const attr_rewrite *r = self;
    const block_id body = function_body(r->c->m, r->op);
    return slot < block_arg_count(r->c->m, body) ? expr_value(r->c->ir, block_arg(r->c->m, body, slot)) : 0;
}

attr_id attr_with_leaves(run_context *c, op_id o, attr_id a)
{
    const attr_node *n = attr_at(c->ir, a);
    if ((n->kind != ATTR_EXPR && n->kind != ATTR_LIST) || !n->has_slot) return a;
    if (!is_function(c->m, o)) return op_attr_over_values(c->m, o, a);
    attr_rewrite r = {.c = c, .op = o};
    r.substitution = (expr_substitution){.slot = leaf_of_argument, .self = &r};
    return rewrite_attr(&r, a, LIST_DEPTH);
}

/* Block arguments of a kernel as slots of its own attributes. */
static expr_id slot_of_argument(void *self, uint32_t v)
{
    attr_rewrite *r = self;
    const module *m = r->c->m;
    if (value_is_live(m, v) && value_block(m, v) == function_body(m, r->op))
        return expr_slot(r->c->ir, value_index(m, v));
    r->failed = true;
    return 0;
}

static void note_slot(void *self, uint32_t slot)
{
    (void)slot;
    *(bool *)self = true;
}

static bool holds_slots(const ir_context *ir, attr_id a, int depth)
{
    const attr_node *n = attr_at(ir, a);
    bool found = false;
    if (n->kind == ATTR_EXPR) {
        /* Only slots: a leaf names its value. */
        if (expr_at(ir, n->id)->has_slot) expr_visit_slots(ir, n->id, note_slot, &found);
        return found;
    }
    if (n->kind != ATTR_LIST || depth == 0) return false;
    for (uint32_t i = 0; i < n->count && !found; i++) found = holds_slots(ir, n->items[i], depth - 1);
    return found;
}

/* Whether the values that the expressions of an attribute name still exist; reports when not. */
static bool check_leaves(run_context *c, attr_id a, int depth)
{
    const attr_node *n = attr_at(c->ir, a);
    if (n->kind == ATTR_EXPR) return run_check_leaves(c, n->id);
    if (n->kind != ATTR_LIST || depth == 0) return true;
    for (uint32_t i = 0; i < n->count; i++) {
        if (!check_leaves(c, n->items[i], depth - 1)) return false;
    }
    return true;
}

/* Whether index expressions of such ops may name values at all. */
static bool takes_leaves(const op_info *info)
{
    for (uint32_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        if (info->attrs[i].kind == SPEC_EXPRS) return (info->traits & TRAIT_FUNCTION) == 0;
    }
    return false;
}

attr_id attr_for_op(run_context *c, const op_info *info, op_id o, str name, pto_attr h)
{
    const attr_id a = attr_from(c, h);
    if (a == 0 || name.n == 0) {
        run_misuse(c, &E1324, "gave `%s` an attribute `%.*s` without %s", info->name, (int)name.n, name.p,
                   a == 0 ? "a value" : "a name");
        return 0;
    }
    if (!run_check_text(c, pto_str_of(name))) return 0;
    if (!has_leaves_at(c->ir, a, LIST_DEPTH)) return a;
    if (!check_leaves(c, a, LIST_DEPTH)) return 0;
    attr_rewrite r = {.c = c, .op = o, .failed = holds_slots(c->ir, a, LIST_DEPTH)};
    attr_id stored = a;
    if (!r.failed && !takes_leaves(info)) {
        r.substitution = (expr_substitution){.value = slot_of_argument, .self = &r};
        r.failed = o == 0 || !is_function(c->m, o);
        if (!r.failed) stored = rewrite_attr(&r, a, LIST_DEPTH);
    }
    if (!r.failed && attr_has_leaves(c->ir, a)) return stored;
    run_misuse(c, &E1324,
               "gave `%s` the attribute `%.*s` with an expression over values that it cannot name, or with lists "
               "nested too deeply",
               info->name, (int)name.n, name.p);
    return 0;
}
