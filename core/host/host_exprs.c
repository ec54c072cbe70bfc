/* Host functions about index expressions. */
#include "core/host/host_handle.h"

#include "ir/text/lexer.h"
#include "ir/verify/ranges.h"

/* NULL for none and after a diagnostic. */
static inline __attribute__((always_inline)) const expr_node *node_of(run_context *c, pto_expr h)
{
    const expr_id e = expr_from(c, h);
    return e != 0 ? expr_at(c->ir, e) : NULL;
}

pto_expr_kind host_expr_kind_of(pto_expr h)
{
    const expr_node *n = node_of(run_of(h.run), h);
    return n != NULL ? n->kind : PTO_EXPR_NONE;
}

int64_t host_expr_number(pto_expr h)
{
    const expr_node *n = node_of(run_of(h.run), h);
    return n != NULL && (n->kind == EXPR_CONST || n->kind == EXPR_SLOT || n->kind == EXPR_SUM) ? n->value : 0;
}

pto_str host_expr_symbol_name(pto_expr h)
{
    run_context *c = run_of(h.run);
    const expr_node *n = node_of(c, h);
    return n != NULL && n->kind == EXPR_SYMBOL ? pto_str_of(string_of(c->ir, (str_id)n->value)) : (pto_str){0};
}

pto_value host_expr_leaf(pto_expr h)
{
    run_context *c = run_of(h.run);
    const expr_node *n = node_of(c, h);
    const bool is_leaf = n != NULL && n->kind == EXPR_VALUE && value_is_live(c->m, (value_id)n->value);
    return value_handle(c, is_leaf ? (value_id)n->value : 0);
}

uint32_t host_expr_arg_count(pto_expr h)
{
    const expr_node *n = node_of(run_of(h.run), h);
    return n != NULL ? n->arg_count : 0;
}

pto_expr host_expr_arg(pto_expr h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const expr_node *n = node_of(c, h);
    return expr_handle(c, n != NULL && index < n->arg_count ? n->args[index] : 0);
}

int64_t host_expr_coef(pto_expr h, uint32_t index)
{
    const expr_node *n = node_of(run_of(h.run), h);
    return n != NULL && n->kind == EXPR_SUM && index < n->arg_count ? n->coefs[index] : 0;
}

/* ---- making ---- */

pto_expr host_expr_const(const pto_run *run, int64_t v)
{
    run_context *c = run_of(run);
    return expr_handle(c, expr_const(c->ir, v));
}

pto_expr host_expr_symbol(const pto_run *run, pto_str name)
{
    run_context *c = run_of(run);
    if (!lexer_is_name(str_of(name), false)) {
        run_misuse(c, &E1324, "made a symbol of `%.*s`, which is not a name", (int)name.n, name.p);
        return expr_handle(c, 0);
    }
    return expr_handle(c, expr_symbol(c->ir, string_intern(c->ir, str_of(name))));
}

pto_expr host_expr_value(pto_value h)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    const type_node *t = v != 0 ? type_at(c->ir, value_type(c->m, v)) : NULL;
    const dtype_class of = t != NULL ? dtype_class_of(t->dtype) : DTYPE_CLASS_INDEX;
    if (t != NULL && (t->kind != TYPE_SCALAR || of == DTYPE_CLASS_FLOAT || of == DTYPE_CLASS_OPAQUE)) {
        run_misuse(c, &E1324, "made an expression of a value that is not an index, integer or bool scalar");
        return expr_handle(c, 0);
    }
    return expr_handle(c, v != 0 ? expr_value(c->ir, v) : 0);
}

pto_expr host_expr_make(pto_expr first, pto_expr_kind kind, pto_expr second)
{
    run_context *c = run_of(first.run);
    const expr_id a = expr_from(c, first), b = expr_from(c, second);
    expr_id e = 0;
    switch (kind) {
    case PTO_EXPR_SUM: e = expr_add(c->ir, a, b); break;
    case PTO_EXPR_PRODUCT: e = expr_mul(c->ir, a, b); break;
    case PTO_EXPR_FLOORDIV: e = expr_floordiv(c->ir, a, b); break;
    case PTO_EXPR_CEILDIV: e = expr_ceildiv(c->ir, a, b); break;
    case PTO_EXPR_MOD: e = expr_mod(c->ir, a, b); break;
    case PTO_EXPR_MIN: e = expr_min(c->ir, a, b); break;
    case PTO_EXPR_MAX: e = expr_max(c->ir, a, b); break;
    default: run_misuse(c, &E1324, "made an expression of kind %u", kind); break;
    }
    return expr_handle(c, e);
}

/* ---- replacing leaves ---- */

typedef struct leaf_map {
    uint32_t count;
    const uint32_t *from;
    const expr_id *to;
} leaf_map;

static expr_id leaf_to(void *self, uint32_t leaf)
{
    const leaf_map *map = self;
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->from[i] == leaf) return map->to[i];
    }
    return 0;
}

static bool targets_from(run_context *c, uint32_t count, const pto_expr *to, expr_id *out)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = expr_from(c, to[i]);
        if (out[i] == 0) return false;
    }
    return true;
}

pto_expr host_expr_substitute(pto_expr h, uint32_t count, const pto_value *from, const pto_expr *to)
{
    run_context *c = run_of(h.run);
    const expr_id e = expr_from(c, h);
    uint32_t *leaves = arena_array(c->scratch, count, sizeof *leaves);
    expr_id *targets = arena_array(c->scratch, count, sizeof *targets);
    if (e == 0 || !targets_from(c, count, to, targets)) return expr_handle(c, 0);
    for (uint32_t i = 0; i < count; i++) leaves[i] = value_from(c, from[i]);
    leaf_map map = {count, leaves, targets};
    return expr_handle(c, expr_substitute(c->ir, e, &(expr_substitution){.value = leaf_to, .self = &map}));
}

pto_expr host_expr_rename(pto_expr h, uint32_t count, const pto_str *symbols, const pto_expr *to)
{
    run_context *c = run_of(h.run);
    const expr_id e = expr_from(c, h);
    uint32_t *names = arena_array(c->scratch, count, sizeof *names);
    expr_id *targets = arena_array(c->scratch, count, sizeof *targets);
    if (e == 0 || !targets_from(c, count, to, targets)) return expr_handle(c, 0);
    for (uint32_t i = 0; i < count; i++) names[i] = string_intern(c->ir, str_of(symbols[i]));
    leaf_map map = {count, names, targets};
    return expr_handle(c, expr_substitute(c->ir, e, &(expr_substitution){.symbol = leaf_to, .self = &map}));
}

/* ---- questions ---- */

int32_t host_expr_equal(pto_expr first, pto_expr second)
{
    run_context *c = run_of(first.run);
    const expr_id a = expr_from(c, first), b = expr_from(c, second);
    return a != 0 && b != 0 && expr_same(c->ir, a, b);
}

/* The plugin's knowledge of leaves on top of the host's. */
typedef struct range_source {
    run_context *c;
    op_id at;
    uint32_t generation; /* of `at`, which a callback may erase, and the values of the expression too */
    const pto_expr_env *env;
} range_source;

static expr_range host_range(const range_source *s, expr_id e)
{
    if (op_is_live_since(s->c->m, s->at, s->generation) && run_check_leaves(s->c, e))
        return op_expr_range(s->c->m, s->at, e);
    return expr_bounds(s->c->ir, e, &(expr_ranges){0});
}

static expr_range narrower(expr_range a, expr_range b)
{
    return (expr_range){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static bool range_of_symbol(void *self, str_id name, expr_range *out)
{
    const range_source *s = self;
    *out = host_range(s, expr_symbol(s->c->ir, name));
    expr_range told = {INT64_MIN, INT64_MAX};
    if (s->env->symbol != NULL &&
        s->env->symbol(s->env->self, pto_str_of(string_of(s->c->ir, name)), &told.lo, &told.hi))
        *out = narrower(*out, told);
    return true;
}

static bool range_of_value(void *self, uint32_t v, expr_range *out)
{
    const range_source *s = self;
    *out = host_range(s, expr_value(s->c->ir, v));
    expr_range told = {INT64_MIN, INT64_MAX};
    if (s->env->value != NULL && s->env->value(s->env->self, value_handle(s->c, v), &told.lo, &told.hi))
        *out = narrower(*out, told);
    return true;
}

pto_range host_expr_range(pto_expr h, pto_op at, const pto_expr_env *env)
{
    run_context *c = run_of(h.run);
    const expr_id e = expr_from(c, h);
    const op_id o = op_from(c, at);
    range_source s = {c, o, op_generation(c->m, o), env};
    if (e == 0 || !run_check_leaves(c, e)) return (pto_range){INT64_MIN, INT64_MAX};
    expr_range r = host_range(&s, e);
    if (env != NULL && PTO_HAS(env, value)) {
        const expr_ranges leaves = {.symbol = range_of_symbol, .value = range_of_value, .self = &s};
        r = narrower(r, expr_bounds(c->ir, e, &leaves));
    }
    return (pto_range){r.lo, r.hi};
}
