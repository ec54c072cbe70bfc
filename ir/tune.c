#include "ir/tune.h"

#include "ir/op_message.h"
#include "ir/op_rules.h"

#include <inttypes.h>

enum { VALUES_TRIED = 256, ATTR_DEPTH_MAX = 16 };

tune_range tune_range_of(const module *m, op_id tune)
{
    tune_range r = {op_attr_int(m, tune, "lo", 1), op_attr_int(m, tune, "hi", 1), op_attr_int(m, tune, "step", 1)};
    if (r.lo < 1 || r.hi < r.lo || r.step < 1) return (tune_range){1, INT64_MAX, 1};
    r.hi = r.lo + (r.hi - r.lo) / r.step * r.step;
    return r;
}

op_id tune_find(const module *m, op_id function, str name)
{
    BLOCK_EACH_OP(m, o, function_body(m, function)) {
        if (op_kind_of(m, o) == OP_TUNE && (name.n == 0 || str_eq(op_attr_str(m, o, "symbol"), name))) return o;
    }
    return 0;
}

status verify_tune(module *m, uint32_t op)
{
    op_id parent = op_parent(m, op);
    if (parent == 0 || op_kind_of(m, parent) != OP_FUNC)
        return op_error(m, op, &E0318, "is inside `%s`; it belongs to the body of a `func`",
                        parent == 0 ? "module" : op_info_of(m, parent)->name);
    int64_t lo = op_attr_int(m, op, "lo", 1), hi = op_attr_int(m, op, "hi", 1), step = op_attr_int(m, op, "step", 1);
    if (lo > hi || lo < 1)
        return op_error(m, op, &E0413,
                        "has the range [%" PRId64 ", %" PRId64 "]; it must hold a number and start at 1 or more", lo,
                        hi);
    if (step < 1) return op_error(m, op, &E0328, "has the step %" PRId64 "; it must be 1 or more", step);
    return OK;
}

/* ---- extents ---- */

typedef struct one_value {
    int64_t value;
} one_value;

static bool value_of_symbol(void *self, str_id name, int64_t *out)
{
    (void)name; /* there is one */
    *out = ((const one_value *)self)->value;
    return true;
}

static status check_value(const module *m, op_id o, type_id type, expr_id extent, op_id tune, int64_t value)
{
    str name = op_attr_str(m, tune, "symbol");
    one_value self = {value};
    expr_values values = {.symbol = value_of_symbol, .self = &self};
    int64_t n;
    if (!expr_eval(module_context(m), extent, &values, &n))
        return op_error(m, o, &E0401, "has %s, whose extent %s overflows 64 bits or divides by 0 for $%.*s = %" PRId64,
                        type_words(m, type), expr_words(m, o, extent), (int)name.n, name.p, value);
    if (n >= 0) return OK;
    return op_error(m, o, &E0218, "has %s, whose extent %s is %" PRId64 " for $%.*s = %" PRId64, type_words(m, type),
                    expr_words(m, o, extent), n, (int)name.n, name.p, value);
}

status tune_check_extent(const module *m, op_id o, type_id type, expr_id extent, op_id tune)
{
    tune_range r = tune_range_of(m, tune);
    TRY(check_value(m, o, type, extent, tune, r.hi));
    int64_t count = (r.hi - r.lo) / r.step;
    for (int64_t i = 0; i < count && i < VALUES_TRIED; i++)
        TRY(check_value(m, o, type, extent, tune, r.lo + i * r.step));
    return OK;
}

/* ---- replacing ---- */

typedef struct replacing {
    module *m;
    ir_context *c;
    arena *scratch;
    uint32_t count;
    const str_id *names;
    const expr_id *by;
    expr_substitution substitution;
} replacing;

static expr_id replaced_symbol(void *self, str_id name)
{
    const replacing *r = self;
    for (uint32_t i = 0; i < r->count; i++)
        if (name == r->names[i]) return r->by[i];
    return 0;
}

/* 0 on overflow. */
static attr_id replaced_attr(replacing *r, attr_id a, uint32_t depth)
{
    const attr_node n = *attr_at(r->c, a);
    if (n.kind == ATTR_EXPR) {
        expr_id e = expr_substitute(r->c, n.id, &r->substitution);
        return e == 0 ? 0 : attr_expr(r->c, e);
    }
    if (n.kind == ATTR_TYPE) {
        type_id t = type_substitute(r->c, n.id, &r->substitution);
        return t == 0 ? 0 : attr_type(r->c, t);
    }
    if ((n.kind != ATTR_LIST && n.kind != ATTR_DICT) || depth == ATTR_DEPTH_MAX || n.count == 0) return a;
    attr_id *items = arena_array(r->scratch, n.count, sizeof *items);
    bool same = true;
    for (uint32_t i = 0; i < n.count; i++) {
        items[i] = replaced_attr(r, n.items[i], depth + 1);
        if (items[i] == 0) return 0;
        same = same && items[i] == n.items[i];
    }
    if (same) return a;
    return n.kind == ATTR_LIST ? attr_list(r->c, n.count, items) : attr_dict(r->c, n.count, n.keys, items);
}

static bool replace_in_value(replacing *r, value_id v)
{
    type_id t = type_substitute(r->c, value_type(r->m, v), &r->substitution);
    if (t != 0 && t != value_type(r->m, v)) value_set_type(r->m, v, t);
    return t != 0;
}

/* The name that a `bind` or `tune` declares follows its uses. */
static void replace_declared(replacing *r, op_id o)
{
    if (op_kind_of(r->m, o) != OP_BIND && op_kind_of(r->m, o) != OP_TUNE) return;
    const expr_id by = replaced_symbol(r, string_intern(r->c, op_attr_str(r->m, o, "symbol")));
    if (by != 0 && expr_at(r->c, by)->kind == EXPR_SYMBOL)
        op_set_attr(r->m, o, "symbol", attr_string(r->c, (str_id)expr_at(r->c, by)->value));
}

static bool replace_in_op(replacing *r, op_id o)
{
    replace_declared(r, o);
    attr_id attrs = op_attrs(r->m, o);
    attr_id replaced = attrs == 0 ? 0 : replaced_attr(r, attrs, 0);
    if (attrs != 0 && replaced == 0) return false;
    if (replaced != attrs) op_set_attrs(r->m, o, replaced);
    for (uint32_t i = 0; i < op_result_count(r->m, o); i++)
        if (!replace_in_value(r, op_result(r->m, o, i))) return false;
    for (uint32_t b = 0; b < op_block_count(r->m, o); b++) {
        block_id block = op_block_at(r->m, o, b);
        for (uint32_t i = 0; i < block_arg_count(r->m, block); i++)
            if (!replace_in_value(r, block_arg(r->m, block, i))) return false;
    }
    return true;
}

static status report_overflow(const replacing *r, op_id o)
{
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < r->count && t.n < 500; i++) {
        const str name = string_of(r->c, r->names[i]);
        text_printf(&t, "%s$%.*s = %s", i != 0 ? ", " : "", (int)name.n, name.p, expr_words(r->m, o, r->by[i]));
    }
    (void)!op_error(r->m, o, &E0401, "has an expression that overflows 64 bits or divides by 0 for %s", t.p);
    text_fini(&t);
    return FAILED;
}

status symbols_replace(module *m, op_id root, uint32_t count, const str_id *names, const expr_id *by)
{
    replacing r = {
        .m = m, .c = module_context(m), .scratch = arena_create("symbols"), .count = count, .names = names, .by = by};
    r.substitution = (expr_substitution){.symbol = replaced_symbol, .self = &r};
    status s = OK;
    IR_WALK(m, o, root)
    {
        if (s == OK && !replace_in_op(&r, o)) s = report_overflow(&r, o);
    }
    arena_destroy(r.scratch);
    return s;
}

static status check_is_offered(const module *m, op_id tune, int64_t value)
{
    tune_range r = tune_range_of(m, tune);
    str name = op_attr_str(m, tune, "symbol");
    if (value >= r.lo && value <= r.hi && (value - r.lo) % r.step == 0) return OK;
    return op_error(m, tune, &E0415,
                    "cannot fix $%.*s at %" PRId64 "; it is one of %" PRId64 " to %" PRId64 " in steps of %" PRId64,
                    (int)name.n, name.p, value, r.lo, r.hi, r.step);
}

status tune_fix(module *m, op_id tune, int64_t value)
{
    TRY(check_is_offered(m, tune, value));
    const str_id name = string_intern(module_context(m), op_attr_str(m, tune, "symbol"));
    const expr_id by = expr_const(module_context(m), value);
    TRY(symbols_replace(m, op_function(m, tune), 1, &name, &by));
    op_erase(m, tune);
    return OK;
}
