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
        return op_error(m, op, &E0318, "stands inside `%s`; it belongs to the body of a `func`",
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

/* ---- fixing ---- */

typedef struct fixing {
    module *m;
    ir_context *c;
    arena *scratch;
    str_id name;
    expr_id value;
    expr_substitution substitution;
} fixing;

static expr_id fixed_symbol(void *self, str_id name)
{
    const fixing *f = self;
    return name == f->name ? f->value : 0;
}

/* 0 on overflow. */
static attr_id fixed_attr(fixing *f, attr_id a, uint32_t depth)
{
    const attr_node n = *attr_at(f->c, a);
    if (n.kind == ATTR_EXPR) {
        expr_id e = expr_substitute(f->c, n.id, &f->substitution);
        return e == 0 ? 0 : attr_expr(f->c, e);
    }
    if (n.kind == ATTR_TYPE) {
        type_id t = type_substitute(f->c, n.id, &f->substitution);
        return t == 0 ? 0 : attr_type(f->c, t);
    }
    if ((n.kind != ATTR_LIST && n.kind != ATTR_DICT) || depth == ATTR_DEPTH_MAX || n.count == 0) return a;
    attr_id *items = arena_array(f->scratch, n.count, sizeof *items);
    bool same = true;
    for (uint32_t i = 0; i < n.count; i++) {
        items[i] = fixed_attr(f, n.items[i], depth + 1);
        if (items[i] == 0) return 0;
        same = same && items[i] == n.items[i];
    }
    if (same) return a;
    return n.kind == ATTR_LIST ? attr_list(f->c, n.count, items) : attr_dict(f->c, n.count, n.keys, items);
}

static bool fix_value(fixing *f, value_id v)
{
    type_id t = type_substitute(f->c, value_type(f->m, v), &f->substitution);
    if (t != 0 && t != value_type(f->m, v)) value_set_type(f->m, v, t);
    return t != 0;
}

static bool fix_op(fixing *f, op_id o)
{
    attr_id attrs = op_attrs(f->m, o);
    attr_id fixed = attrs == 0 ? 0 : fixed_attr(f, attrs, 0);
    if (attrs != 0 && fixed == 0) return false;
    if (fixed != attrs) op_set_attrs(f->m, o, fixed);
    for (uint32_t i = 0; i < op_result_count(f->m, o); i++)
        if (!fix_value(f, op_result(f->m, o, i))) return false;
    for (uint32_t b = 0; b < op_block_count(f->m, o); b++) {
        block_id block = op_block_at(f->m, o, b);
        for (uint32_t i = 0; i < block_arg_count(f->m, block); i++)
            if (!fix_value(f, block_arg(f->m, block, i))) return false;
    }
    return true;
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
    ir_context *c = module_context(m);
    str name = op_attr_str(m, tune, "symbol");
    fixing f = {
        .m = m, .c = c, .scratch = arena_create("tune"), .name = string_intern(c, name), .value = expr_const(c, value)};
    f.substitution = (expr_substitution){.symbol = fixed_symbol, .self = &f};
    status s = OK;
    op_id function = op_function(m, tune);
    IR_WALK(m, o, function)
    {
        if (s != OK || o == function || o == tune || fix_op(&f, o)) continue;
        s = op_error(m, o, &E0401, "has an expression that overflows 64 bits or divides by 0 for $%.*s = %" PRId64,
                     (int)name.n, name.p, value);
    }
    arena_destroy(f.scratch);
    if (s == OK) op_erase(m, tune);
    return s;
}
