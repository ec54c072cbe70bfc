/* Rules of control and constant ops: what an op says about itself. What its blocks must look like is in
 * verify_blocks.c, so that an op can be checked before its blocks are filled. */
#include "ir/context/float_format.h"
#include "ir/op_rules.h"
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>
#include <math.h>

/* ---- functions ---- */

static status check_facts(const module *m, op_id op)
{
    const ir_context *c = module_context(m);
    attr_id facts = op_attr(m, op, "facts");
    for (uint32_t i = 0; facts != 0 && i < attr_at(c, facts)->count; i++) {
        relation rel;
        expr_id left, right;
        if (!fact_read(c, attr_at(c, facts)->items[i], &rel, &left, &right))
            return op_error(m, op, &E0412, "has a malformed fact number %" PRIu32 ": it needs [relation, left, right]",
                            i);
        if (expr_at(c, left)->has_slot || expr_at(c, right)->has_slot)
            return op_error(m, op, &E0412, "has a fact about a value; facts are about symbols");
    }
    return OK;
}

static status check_modes(const module *m, op_id op)
{
    static const char *const legal[] = {"in", "out", "inout", "const"};
    const ir_context *c = module_context(m);
    attr_id params = op_attr(m, op, "params");
    for (uint32_t i = 0; params != 0 && i < attr_at(c, params)->count; i++) {
        const attr_node *n = attr_at(c, attr_at(c, params)->items[i]);
        bool known = false;
        for (uint32_t k = 0; n->kind == ATTR_STRING && k < 4; k++) known |= str_is(string_of(c, n->id), legal[k]);
        if (!known)
            return op_error(m, op, &E0334,
                            "has an unknown mode for parameter %" PRIu32 "; legal are in, out, inout and const", i);
    }
    return OK;
}

static status check_name(const module *m, op_id op)
{
    if (op_attr_str(m, op, "name").n == 0) return op_error(m, op, &E0314, "needs a name that is not empty");
    op_id other = module_find_symbol(m, function_name(m, op));
    if (other == 0 || other == op || !op_is_live(m, other)) return OK;
    str name = string_of(module_context(m), function_name(m, op));
    status s = op_error(m, op, &E0325, "has the name @%.*s, which is taken", (int)name.n, name.p);
    op_note(m, other, "the other one is here");
    return s;
}

/* One name for each `out` parameter and result. */
static status check_outputs(const module *m, op_id op)
{
    const ir_context *c = module_context(m);
    const attr_id outputs = op_attr(m, op, "outputs"), params = op_attr(m, op, "params"),
                  results = op_attr(m, op, "results");
    uint32_t want = results != 0 ? attr_at(c, results)->count : 0;
    if (outputs == 0) return OK;
    for (uint32_t i = 0; params != 0 && i < attr_at(c, params)->count; i++)
        want += str_is(string_of(c, attr_at(c, attr_at(c, params)->items[i])->id), "out");
    for (uint32_t i = 0; results != 0 && i < attr_at(c, results)->count; i++)
        want -= function_alias(m, op, i) != UINT32_MAX;
    const attr_node *n = attr_at(c, outputs);
    for (uint32_t i = 0; i < n->count; i++)
        if (attr_at(c, n->items[i])->kind != ATTR_STRING || string_of(c, attr_at(c, n->items[i])->id).n == 0)
            return op_error(m, op, &E0314, "has an attribute `outputs` whose item %" PRIu32 " is not a name", i);
    if (n->count == want) return OK;
    return op_error(m, op, &E0314, "has an attribute `outputs` with %" PRIu32 " names for %" PRIu32 " outputs",
                    n->count, want);
}

static status check_known(const module *m, op_id op)
{
    ir_context *c = module_context(m);
    const attr_id known = op_attr(m, op, "known");
    for (uint32_t i = 0; known != 0 && i < attr_at(c, known)->count; i++) {
        str name;
        expr_id value;
        if (!known_read(c, attr_at(c, known)->items[i], &name, &value) || expr_at(c, value)->has_slot)
            return op_error(m, op, &E0412,
                            "has a malformed item %" PRIu32 " of `known`: it needs [\"name\", expression]", i);
    }
    return OK;
}

static bool has_known(const module *m, op_id op, str symbol)
{
    ir_context *c = module_context(m);
    const attr_id known = op_attr(m, op, "known");
    for (uint32_t i = 0; known != 0 && i < attr_at(c, known)->count; i++) {
        str name;
        expr_id value;
        if (known_read(c, attr_at(c, known)->items[i], &name, &value) && str_eq(name, symbol)) return true;
    }
    return false;
}

/* `expect` and `when`: numbers of symbols, of at least `least`. */
static status check_numbers(const module *m, op_id op, const char *attr, int64_t least)
{
    const ir_context *c = module_context(m);
    const attr_id list = op_attr(m, op, attr);
    for (uint32_t i = 0; list != 0 && i < attr_at(c, list)->count; i++) {
        const attr_node *n = attr_at(c, attr_at(c, list)->items[i]);
        if (n->kind != ATTR_LIST || n->count != 2 || attr_at(c, n->items[0])->kind != ATTR_STRING ||
            attr_at(c, n->items[1])->kind != ATTR_INT || attr_at(c, n->items[1])->i < least)
            return op_error(m, op, &E0412,
                            "has a malformed item %" PRIu32 " of `%s`: it needs [\"name\", number of at least %" PRId64
                            "]",
                            i, attr, least);
        const str_id symbol = attr_at(c, n->items[0])->id;
        const str name = string_of(c, symbol);
        if (!is_parameter_symbol(m, op, symbol) && !has_known(m, op, name))
            return op_error(m, op, &E0412, "has in `%s` a number of $%.*s, which no parameter mentions", attr,
                            (int)name.n, name.p);
    }
    return OK;
}

status verify_func(module *m, uint32_t op)
{
    TRY(check_name(m, op));
    TRY(check_modes(m, op));
    TRY(check_outputs(m, op));
    TRY(check_known(m, op));
    TRY(check_numbers(m, op, "expect", 0));
    TRY(check_numbers(m, op, "when", 1));
    return check_facts(m, op);
}

status verify_kernel(module *m, uint32_t op)
{
    ir_context *c = module_context(m);
    TRY(check_name(m, op));
    TRY(check_modes(m, op));
    TRY(check_facts(m, op));
    const attr_node *grid = attr_at(c, op_attr(m, op, "grid"));
    if (grid->count == 0) return op_error(m, op, &E0412, "needs at least one grid index");
    for (uint32_t i = 0; i < grid->count; i++) {
        expr_id e = attr_as_expr(c, grid->items[i]);
        if (e == 0 || expr_at(c, e)->has_slot)
            return op_error(m, op, &E0412,
                            "has an extent of grid index %" PRIu32 " that is not an expression over symbols", i);
        expr_range r = op_expr_range(m, op, e);
        if (r.hi < 0) return op_error(m, op, &E0412, "has a grid extent of %" PRId64 "; it cannot be below 0", r.hi);
    }
    return OK;
}

/* ---- calls ---- */

/* Signatures of other functions are read before it is known whether they are well-formed. */
static uint32_t list_count(const module *m, op_id f, const char *attr)
{
    attr_id a = op_attr(m, f, attr);
    if (a == 0 || attr_at(module_context(m), a)->kind != ATTR_LIST) return 0;
    return attr_at(module_context(m), a)->count;
}

static type_id type_of_declared(const module *m, op_id f, uint32_t i)
{
    const ir_context *c = module_context(m);
    const attr_node *n = attr_at(c, attr_at(c, op_attr(m, f, "results"))->items[i]);
    return n->kind == ATTR_TYPE ? n->id : 0;
}

static op_id find_callee(const module *m, op_id op, op_kind want, status *out)
{
    str name = op_attr_str(m, op, "callee");
    op_id callee = name.n == 0 ? 0 : module_find_symbol(m, string_intern(module_context(m), name));
    *out = OK;
    if (callee == 0)
        *out = op_error(m, op, &E0321, "names @%.*s, which is not in the module", (int)name.n, name.p);
    else if (op_kind_of(m, callee) != want)
        *out = op_error(m, op, &E0322, "names @%.*s, which is a %s; it needs a %s", (int)name.n, name.p,
                        op_info_of(m, callee)->name, op_info_at(context_ops(module_context(m)), want)->name);
    return *out == OK ? callee : 0;
}

status verify_launch(module *m, uint32_t op)
{
    status s;
    op_id kernel = find_callee(m, op, OP_BLOCK_KERNEL, &s);
    TRY(s);
    block_id body = function_body(m, kernel);
    uint32_t first = list_count(m, kernel, "grid");
    uint32_t args = block_arg_count(m, body);
    uint32_t want = args < first ? 0 : args - first;
    uint32_t have = op_value_operand_count(m, op);
    if (have != want)
        return op_error(m, op, &E0323, "passes %" PRIu32 " argument%s to a kernel with %" PRIu32 " parameter%s", have,
                        have == 1 ? "" : "s", want, want == 1 ? "" : "s");
    for (uint32_t i = 0; i < have; i++) {
        value_id param = block_arg(m, body, first + i);
        type_id given = value_type(m, op_operand(m, op, i));
        if (!types_agree(m, op, given, value_type(m, param)))
            return op_error(m, op, &E0323, "passes %s for parameter %s of %s", type_words(m, given),
                            value_words(m, param), type_words(m, value_type(m, param)));
    }
    return OK;
}

/* Symbols of the callee and what the arguments say they are. */
enum { CALL_SYMBOLS_MAX = 64 };
typedef struct call_symbols {
    uint32_t count;
    str_id names[CALL_SYMBOLS_MAX];
    expr_id values[CALL_SYMBOLS_MAX];
} call_symbols;

static expr_id lookup_symbol(void *self, str_id name)
{
    const call_symbols *s = self;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->names[i] == name) return s->values[i];
    return 0;
}

static bool learn_symbols(const module *m, call_symbols *s, const type_node *param, const type_node *given)
{
    const ir_context *c = module_context(m);
    for (uint32_t i = 0; i < param->rank && i < given->rank; i++) {
        const expr_node *d = expr_at(c, param->dims[i]);
        if (d->kind != EXPR_SYMBOL || lookup_symbol(s, (str_id)d->value) != 0) continue;
        if (s->count == CALL_SYMBOLS_MAX) return false;
        s->names[s->count] = (str_id)d->value;
        s->values[s->count++] = given->dims[i];
    }
    return true;
}

/* A callee's type as the caller sees it; tensors and gm stand for each other when levels meet. */
static bool call_type_fits(module *m, op_id op, call_symbols *s, type_id declared, type_id given)
{
    ir_context *c = module_context(m);
    expr_substitution known = {.symbol = lookup_symbol, .self = s};
    type_id want = type_substitute(c, declared, &known);
    if (want == 0) return false;
    type_node n = *type_at(c, want);
    bool memory = n.kind == TYPE_TENSOR || n.kind == TYPE_GM;
    uint8_t kind = type_at(c, given)->kind;
    if (memory && n.kind != kind && (kind == TYPE_TENSOR || kind == TYPE_GM)) {
        n.kind = kind;
        want = type_intern(c, &n);
    }
    return types_agree(m, op, want, given);
}

typedef struct param_mode {
    bool in, out; /* inout: both, unless a result is what becomes of it */
} param_mode;

static bool has_alias(const module *m, op_id function, uint32_t param)
{
    for (uint32_t i = 0; i < list_count(m, function, "aliases"); i++)
        if (function_alias(m, function, i) == param) return true;
    return false;
}

static param_mode mode_of(const module *m, op_id function, uint32_t index)
{
    const ir_context *c = module_context(m);
    attr_id params = op_attr(m, function, "params");
    if (params == 0 || index >= list_count(m, function, "params")) return (param_mode){true, false};
    const attr_node *n = attr_at(c, attr_at(c, params)->items[index]);
    str word = n->kind == ATTR_STRING ? string_of(c, n->id) : STR("in");
    if (has_alias(m, function, index)) return (param_mode){true, false};
    return (param_mode){!str_is(word, "out"), str_is(word, "out") || str_is(word, "inout")};
}

typedef struct call_shape {
    op_id callee;
    block_id body;
    bool by_value; /* out parameters come back as results and take no argument */
    uint32_t plain_results;
} call_shape;

static type_id declared_result(const module *m, const call_shape *s, uint32_t index)
{
    if (index < s->plain_results) return type_of_declared(m, s->callee, index);
    uint32_t left = index - s->plain_results;
    for (uint32_t i = 0; i < block_arg_count(m, s->body); i++)
        if (mode_of(m, s->callee, i).out && left-- == 0) return value_type(m, block_arg(m, s->body, i));
    return 0;
}

static status check_call_counts(const module *m, op_id op, call_shape *s)
{
    uint32_t params = block_arg_count(m, s->body), outs = 0, only_outs = 0;
    for (uint32_t i = 0; i < params; i++) {
        param_mode mode = mode_of(m, s->callee, i);
        outs += mode.out;
        only_outs += mode.out && !mode.in;
    }
    s->plain_results = list_count(m, s->callee, "results");
    uint32_t args = op_value_operand_count(m, op), have = op_result_count(m, op);
    s->by_value = outs > 0 && have == s->plain_results + outs && args == params - only_outs;
    if (s->by_value || (args == params && have == s->plain_results)) return OK;
    return op_error(m, op, &E0323,
                    "has %" PRIu32 " arguments and %" PRIu32 " results for a function with %" PRIu32
                    " parameters (%" PRIu32 " written to) and %" PRIu32 " results",
                    args, have, params, outs, s->plain_results);
}

/* `left - right` lies in `r`: does the relation fail for all of it? */
static bool is_broken(relation rel, expr_range r)
{
    switch (rel) {
    case RELATION_EQ: return r.lo > 0 || r.hi < 0;
    case RELATION_NE: return r.lo == 0 && r.hi == 0;
    case RELATION_LT: return r.lo >= 0;
    case RELATION_LE: return r.lo > 0;
    case RELATION_GT: return r.hi <= 0;
    case RELATION_GE: return r.hi < 0;
    default: return false;
    }
}

typedef struct unknown_symbol {
    call_symbols *known;
    bool found;
} unknown_symbol;

static void find_unknown(void *self, str_id name)
{
    unknown_symbol *u = self;
    u->found = u->found || lookup_symbol(u->known, name) == 0;
}

/* What the callee relies on, in the caller's symbols: refused when it cannot hold. */
static status check_call_fact(module *m, op_id op, op_id callee, call_symbols *s, attr_id fact)
{
    ir_context *c = module_context(m);
    expr_substitution known = {.symbol = lookup_symbol, .self = s};
    unknown_symbol u = {s, false};
    relation rel;
    expr_id left, right;
    if (!fact_read(c, fact, &rel, &left, &right)) return OK; /* reported at the callee */
    expr_visit_symbols(c, left, find_unknown, &u);
    expr_visit_symbols(c, right, find_unknown, &u);
    if (u.found) return OK;
    expr_id given_left = expr_substitute(c, left, &known), given_right = expr_substitute(c, right, &known);
    expr_id difference = expr_sub(c, given_left, given_right);
    if (difference == 0 || !is_broken(rel, op_expr_range(m, op, difference))) return OK;
    str name = string_of(c, function_name(m, callee));
    return op_error(m, op, &E0323, "breaks the fact `%s %s %s` of @%.*s: here it is %s against %s",
                    expr_words(m, op, left), relation_sign(rel), expr_words(m, op, right), (int)name.n, name.p,
                    expr_words(m, op, given_left), expr_words(m, op, given_right));
}

status verify_call(module *m, uint32_t op)
{
    status found;
    call_shape s = {.callee = find_callee(m, op, OP_FUNC, &found)};
    TRY(found);
    s.body = function_body(m, s.callee);
    TRY(check_call_counts(m, op, &s));
    call_symbols symbols = {0};
    for (uint32_t i = 0, next = 0; i < block_arg_count(m, s.body); i++) {
        if (s.by_value && !mode_of(m, s.callee, i).in) continue;
        const type_node *param = type_of_value(m, block_arg(m, s.body, i));
        if (!learn_symbols(m, &symbols, param, type_of_value(m, op_operand(m, op, next++))))
            return op_error(m, op, &E0323, "calls a function with more than %d symbols", CALL_SYMBOLS_MAX);
    }
    for (uint32_t i = 0, next = 0; i < block_arg_count(m, s.body); i++) {
        if (s.by_value && !mode_of(m, s.callee, i).in) continue;
        value_id param = block_arg(m, s.body, i);
        type_id given = value_type(m, op_operand(m, op, next++));
        if (!call_type_fits(m, op, &symbols, value_type(m, param), given))
            return op_error(m, op, &E0323, "passes %s for parameter %s of %s", type_words(m, given),
                            value_words(m, param), type_words(m, value_type(m, param)));
    }
    attr_id facts = op_attr(m, s.callee, "facts");
    for (uint32_t i = 0; i < list_count(m, s.callee, "facts"); i++)
        TRY(check_call_fact(m, op, s.callee, &symbols, attr_at(module_context(m), facts)->items[i]));
    for (uint32_t i = 0; i < op_result_count(m, op); i++) {
        type_id declared = declared_result(m, &s, i);
        type_id given = value_type(m, op_result(m, op, i));
        if (declared == 0 || !call_type_fits(m, op, &symbols, declared, given))
            return op_error(m, op, &E0323, "has result %" PRIu32 " of %s where the function returns %s", i,
                            type_words(m, given), declared == 0 ? "nothing" : type_words(m, declared));
    }
    return OK;
}

/* ---- terminators ---- */

static status check_handed_over(module *m, op_id op, uint32_t want, type_id (*wanted)(const module *, op_id, uint32_t),
                                op_id owner)
{
    uint32_t have = op_value_operand_count(m, op);
    if (have != want)
        return op_error(m, op, &E0320, "hands over %" PRIu32 " value%s; `%s` needs %" PRIu32, have,
                        have == 1 ? "" : "s", op_info_of(m, owner)->name, want);
    for (uint32_t i = 0; i < have; i++) {
        type_id given = value_type(m, op_operand(m, op, i));
        type_id declared = wanted(m, owner, i);
        if (declared == 0 || !types_agree(m, op, given, declared))
            return op_error(m, op, &E0320, "hands over %s as value %" PRIu32 "; `%s` needs %s", type_words(m, given), i,
                            op_info_of(m, owner)->name, declared == 0 ? "none" : type_words(m, declared));
    }
    return OK;
}

static type_id type_of_result(const module *m, op_id o, uint32_t i) { return value_type(m, op_result(m, o, i)); }

status verify_return(module *m, uint32_t op)
{
    op_id f = op_parent(m, op);
    if (f == 0 || (op_info_of(m, f)->traits & TRAIT_FUNCTION) == 0)
        return op_error(m, op, &E0318, "is outside the body of a function; a block inside one ends in `yield`");
    uint32_t want = op_kind_of(m, f) == OP_FUNC ? list_count(m, f, "results") : 0;
    return check_handed_over(m, op, want, type_of_declared, f);
}

/* A tile that becomes another value: both have one valid region. */
static status check_same_valid(module *m, op_id op, value_id from, value_id to, const char *how)
{
    expr_id have[2], want[2];
    if (type_of_value(m, from)->kind != TYPE_TILE || type_of_value(m, to)->kind != TYPE_TILE) return OK;
    if (!tile_valid(m, from, have) || !tile_valid(m, to, want))
        return op_error(m, op, &E0223, "hands over %s, whose valid region is not known", value_words(m, from));
    if (valid_same(m, op, have, want)) return OK;
    return op_error(m, op, &E0223, "needs the valid region (%s, %s) for the tile that %s, got (%s, %s)",
                    expr_words(m, op, want[0]), expr_words(m, op, want[1]), how, expr_words(m, op, have[0]),
                    expr_words(m, op, have[1]));
}

/* Yielded tiles have the valid region that the results of the op around have. */
static status check_yielded_valid(module *m, op_id op, op_id owner)
{
    for (uint32_t i = 0; i < op_value_operand_count(m, op); i++)
        TRY(check_same_valid(m, op, op_operand(m, op, i), op_result(m, owner, i), "is handed over"));
    return OK;
}

/* Bits have no copy: loops and branches would need one. */
static status check_no_masks(module *m, op_id op, op_id owner)
{
    for (uint32_t i = 0; i < op_value_operand_count(m, op); i++)
        if (type_of_value(m, op_operand(m, op, i))->dtype == DTYPE_MASK)
            return op_error(m, op, &E0211,
                            "hands over a tile of mask as value %" PRIu32 " of `%s`; only `tile.fused` does", i,
                            op_info_of(m, owner)->name);
    return OK;
}

/* `while`: the first block yields the condition, the second the next carried values. */
static status verify_while_yield(module *m, op_id op, op_id loop)
{
    if (op_block(m, op) == op_block_at(m, loop, 1)) {
        TRY(check_handed_over(m, op, op_result_count(m, loop), type_of_result, loop));
        return check_yielded_valid(m, op, loop);
    }
    if (op_value_operand_count(m, op) != 1)
        return op_error(m, op, &E0320, "hands over %" PRIu32 " values; the condition of `while` is one bool scalar",
                        op_value_operand_count(m, op));
    const type_node *t = type_of_value(m, op_operand(m, op, 0));
    if (t->kind == TYPE_SCALAR && t->dtype == DTYPE_BOOL) return OK;
    return op_error(m, op, &E0320, "hands over %s as the condition of `while`, which is a bool scalar",
                    type_words(m, value_type(m, op_operand(m, op, 0))));
}

status verify_yield(module *m, uint32_t op)
{
    op_id owner = op_parent(m, op);
    if (owner == 0 || (op_info_of(m, owner)->traits & TRAIT_FUNCTION) != 0)
        return op_error(m, op, &E0318, "is in the body of a function, which ends in `return`");
    switch (op_kind_of(m, owner)) {
    case OP_FORALL: return check_handed_over(m, op, 0, type_of_result, owner);
    case OP_WHILE:
        if (op_block_count(m, owner) == 2) return verify_while_yield(m, op, owner);
        return OK;
    case OP_TILE_FUSED: break;
    default: TRY(check_no_masks(m, op, owner)); break;
    }
    TRY(check_handed_over(m, op, op_result_count(m, owner), type_of_result, owner));
    return check_yielded_valid(m, op, owner);
}

/* ---- loops and branches ---- */

/* Carried values come back as results of the same types. */
static status check_carried(module *m, op_id op)
{
    uint32_t n = op_value_operand_count(m, op);
    if (op_result_count(m, op) != n)
        return op_error(m, op, &E0311,
                        "takes %" PRIu32 " value%s in and returns %" PRIu32 " result%s; both must be as many", n,
                        n == 1 ? "" : "s", op_result_count(m, op), op_result_count(m, op) == 1 ? "" : "s");
    for (uint32_t i = 0; i < n; i++) {
        type_id in = value_type(m, op_operand(m, op, i));
        type_id out = value_type(m, op_result(m, op, i));
        if (!types_agree(m, op, in, out))
            return op_error(m, op, &E0214, "takes %s as value %" PRIu32 " and returns it as %s", type_words(m, in), i,
                            type_words(m, out));
    }
    return OK;
}

static status check_stated_valid(module *m, op_id op)
{
    const ir_context *c = module_context(m);
    attr_id valid = op_attr(m, op, "valid");
    uint32_t n = op_value_operand_count(m, op);
    if (valid == 0) return OK;
    uint32_t stated = attr_at(c, valid)->count, tiles = 0;
    for (uint32_t i = 0; i < n; i++) tiles += type_of_value(m, op_operand(m, op, i))->kind == TYPE_TILE;
    if (stated != n && stated != tiles)
        return op_error(m, op, &E0327, "states %" PRIu32 " valid regions for %" PRIu32 " carried values", stated, n);
    for (uint32_t i = 0; i < stated; i++) {
        const attr_node *pair = attr_at(c, attr_at(c, valid)->items[i]);
        bool tile = stated != n || type_of_value(m, op_operand(m, op, i))->kind == TYPE_TILE;
        if (pair->kind != ATTR_LIST || (pair->count != 0 && (pair->count != 2 || !tile)))
            return op_error(
                m, op, &E0327,
                "states a valid region for carried value %" PRIu32 " that is not two expressions for a tile", i);
    }
    return OK;
}

status verify_for(module *m, uint32_t op)
{
    TRY(check_index_count(m, op, "from", 1));
    TRY(check_index_count(m, op, "to", 1));
    TRY(check_index_count(m, op, "step", 1));
    expr_id step = op_index_expr(m, op, "step", 0);
    expr_range r = op_expr_range(m, op, step);
    if (r.hi < 1) return op_error(m, op, &E0328, "has the step %s; it must be 1 or more", expr_words(m, op, step));
    TRY(check_carried(m, op));
    TRY(check_stated_valid(m, op));
    for (uint32_t i = 0; i < op_result_count(m, op); i++)
        TRY(check_same_valid(m, op, op_operand(m, op, i), op_result(m, op, i), "is carried in"));
    return OK;
}

status verify_forall(module *m, uint32_t op)
{
    uint32_t dims = op_index_count(m, op, "to");
    if (dims == 0) return op_error(m, op, &E0327, "needs at least one index");
    for (uint32_t i = 0; i < dims; i++) {
        expr_range r = op_expr_range(m, op, op_index_expr(m, op, "to", i));
        if (r.hi < 0) return op_error(m, op, &E0327, "has an extent of %" PRId64 "; it cannot be below 0", r.hi);
    }
    return check_carried(m, op);
}

status verify_if(module *m, uint32_t op)
{
    TRY(check_index_count(m, op, "left", 1));
    TRY(check_index_count(m, op, "right", 1));
    uint32_t blocks = op_block_count(m, op);
    if (blocks < 1 || blocks > 2) return op_error(m, op, &E0326, "has %" PRIu32 " blocks; legal are 1 and 2", blocks);
    if (blocks == 1 && op_result_count(m, op) != 0)
        return op_error(m, op, &E0326, "has results and no `else`, so nothing defines them when the condition fails");
    return OK;
}

status verify_while(module *m, uint32_t op) { return check_carried(m, op); }

status verify_group(module *m, uint32_t op)
{
    if (op_result_count(m, op) == 0) return op_error(m, op, &E0311, "needs at least one result");
    return OK;
}

status verify_bind(module *m, uint32_t op)
{
    static const char *const lists[] = {"value", "lo", "hi"};
    for (uint32_t i = 0; i < 3; i++) TRY(check_index_count(m, op, lists[i], 1));
    int64_t lo, hi;
    expr_id high = op_index_expr(m, op, "hi", 0), low = op_index_expr(m, op, "lo", 0);
    if (!expr_is_const(module_context(m), high, &hi))
        return op_error(m, op, &E0413, "has the upper bound %s; it is the static capacity and must be a constant",
                        expr_words(m, op, high));
    if (hi < 0) return op_error(m, op, &E0413, "has the upper bound %" PRId64 "; extents are 0 or more", hi);
    if (expr_is_const(module_context(m), low, &lo) && (lo > hi || lo < 0))
        return op_error(m, op, &E0413,
                        "has the range [%" PRId64 ", %" PRId64 "]; it must hold a number and start at 0 or more", lo,
                        hi);
    expr_id value = op_index_expr(m, op, "value", 0);
    expr_range r = op_expr_range(m, op, value), least = op_expr_range(m, op, low);
    if (r.lo > hi || (least.lo != INT64_MIN && r.hi < least.lo))
        return op_error(m, op, &E0413, "has the value %s, which is always outside of its range [%s, %" PRId64 "]",
                        expr_words(m, op, value), expr_words(m, op, low), hi);
    return OK;
}

/* ---- constants and views ---- */

static status check_integer(const module *m, op_id o, const attr_node *value, dtype d)
{
    uint32_t bits = dtype_bits(d);
    bool integral = value->kind == ATTR_INT || value->kind == ATTR_BOOL;
    int64_t lo = 0, hi = 1;
    if (dtype_class_of(d) == DTYPE_CLASS_SINT || dtype_class_of(d) == DTYPE_CLASS_INDEX) {
        lo = bits >= 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
        hi = bits >= 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
    } else if (dtype_class_of(d) == DTYPE_CLASS_UINT) {
        hi = bits >= 64 ? INT64_MAX : (INT64_C(1) << bits) - 1;
    }
    if (!integral) return op_error(m, o, &E0219, "has a value that is not an integer for %s", dtype_name(d));
    if (value->is_large && d != DTYPE_U64)
        return op_error(m, o, &E0219, "has the value %" PRIu64 " outside of %s: %" PRId64 " to %" PRId64,
                        (uint64_t)value->i, dtype_name(d), lo, hi);
    if (value->is_large) return OK;
    if (value->i < lo || value->i > hi)
        return op_error(m, o, &E0219, "has the value %" PRId64 " outside of %s: %" PRId64 " to %" PRId64, value->i,
                        dtype_name(d), lo, hi);
    return OK;
}

/* A number as the constant value of a type. */
static status check_number(const module *m, op_id o, const attr_node *value, dtype d)
{
    if (dtype_class_of(d) != DTYPE_CLASS_FLOAT) return check_integer(m, o, value, d);
    if (value->kind != ATTR_INT && value->kind != ATTR_FLOAT)
        return op_error(m, o, &E0219, "has a value that is not a number for %s", dtype_name(d));
    double v = value->kind == ATTR_FLOAT ? value->f : attr_number(value);
    if (isfinite(v) && fabs(v) > float_largest(d) &&
        !(fabs(float_decode(d, float_encode(d, v, ROUND_RINT, false))) <= float_largest(d)))
        return op_error(m, o, &E0219, "has the value %.17g beyond the largest %s, %.17g", v, dtype_name(d),
                        float_largest(d));
    return OK;
}

status verify_constant(module *m, uint32_t op)
{
    const ir_context *c = module_context(m);
    const type_node *t = type_of_value(m, op_result(m, op, 0));
    return check_number(m, op, attr_at(c, op_attr(m, op, "value")), t->dtype);
}

/* Whether the type of listed elements, a tensor, is that of memory except for its kind. */
static bool lists_for(const ir_context *c, type_id listed, type_id memory)
{
    const type_node *a = type_at(c, listed), *b = type_at(c, memory);
    if (a->dtype != b->dtype || a->rank != b->rank || b->has_strides || b->format != a->format) return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->dims[d] != b->dims[d]) return false;
    return true;
}

/* Elements that are listed fill the result. */
static status check_listed(module *m, uint32_t op, const attr_node *value, type_id type)
{
    ir_context *c = module_context(m);
    if (!lists_for(c, value->type, type))
        return op_error(m, op, &E0219, "has the value of %s for the result %s", type_words(m, value->type),
                        type_words(m, type));
    int64_t count;
    expr_id elements = type_element_count(c, type);
    if (elements == 0 || !expr_is_const(c, elements, &count))
        return op_error(m, op, &E0219, "lists elements for %s, whose extents are not all numbers", type_words(m, type));
    uint32_t bytes = dtype_bytes(type_at(c, type)->dtype);
    if (count != (int64_t)(value->byte_count / bytes) || value->byte_count % bytes != 0)
        return op_error(m, op, &E0219, "lists %" PRIu32 " bytes for %" PRId64 " elements of %" PRIu32 " bytes",
                        value->byte_count, count, bytes);
    return OK;
}

status verify_tensor_constant(module *m, uint32_t op)
{
    ir_context *c = module_context(m);
    type_id type = value_type(m, op_result(m, op, 0));
    const attr_node *value = attr_at(c, op_attr(m, op, "value"));
    if (value->kind == ATTR_RESOURCE) return OK;
    if (value->kind != ATTR_DENSE) return check_number(m, op, value, type_at(c, type)->dtype);
    return check_listed(m, op, value, type);
}

status verify_pad(module *m, uint32_t op)
{
    const type_node *t = type_of_value(m, op_result(m, op, 0));
    return check_number(m, op, attr_at(module_context(m), op_attr(m, op, "value")), t->dtype);
}

status verify_constant_array(module *m, uint32_t op)
{
    type_id type = value_type(m, op_result(m, op, 0));
    const attr_node *value = attr_at(module_context(m), op_attr(m, op, "value"));
    if (value->kind == ATTR_RESOURCE) return OK;
    if (value->kind == ATTR_DENSE) return check_listed(m, op, value, type);
    return op_error(m, op, &E0219, "has a number as value; it holds what dense [..] lists or a resource has");
}

status verify_compare(module *m, uint32_t op)
{
    dtype a = type_of_value(m, op_operand(m, op, 0))->dtype, b = type_of_value(m, op_operand(m, op, 1))->dtype;
    dtype to = type_of_value(m, op_result(m, op, 0))->dtype;
    if (a != b) return op_error(m, op, &E0212, "takes one element type, got %s and %s", dtype_name(a), dtype_name(b));
    if (to == DTYPE_BOOL) return OK;
    return op_error(m, op, &E0212, "has a bool as result, got %s", dtype_name(to));
}

status verify_index_cast(module *m, uint32_t op)
{
    uint32_t count = attr_at(module_context(m), op_attr(m, op, "from"))->count;
    if (count == 1) return OK;
    return op_error(m, op, &E0219, "has %" PRIu32 " index expressions in `from`; it converts one", count);
}

/* The `forall` or kernel that an op is in, or 0. */
static uint32_t nest_around(module *m, uint32_t op)
{
    uint32_t at = op_parent(m, op);
    while (at != 0 && op_kind_of(m, at) != OP_FORALL && op_kind_of(m, at) != OP_BLOCK_KERNEL) at = op_parent(m, at);
    return at;
}

status verify_debug(module *m, uint32_t op)
{
    const uint32_t inside = nest_around(m, op);
    if (inside == 0) return OK;
    return op_error(m, op, &E0318, "is inside `%s`; it looks at tensors, memory and scalars of a function",
                    op_info_of(m, inside)->name);
}

status verify_scalar_of(module *m, uint32_t op)
{
    const type_node *from = type_of_value(m, op_operand(m, op, 0));
    const dtype to = type_of_value(m, op_result(m, op, 0))->dtype;
    const expr_id one = expr_const(module_context(m), 1);
    if (to != from->dtype)
        return op_error(m, op, &E0212, "makes a scalar of %s of an element of %s", dtype_name(to),
                        dtype_name(from->dtype));
    const uint32_t inside = nest_around(m, op);
    if (inside != 0)
        return op_error(m, op, &E0318, "is inside `%s`; there `tile.read_scalar` reads an element of a tile",
                        op_info_of(m, inside)->name);
    if (op_index_count(m, op, "offsets") != from->rank)
        return op_error(m, op, &E0226, "has %" PRIu32 " offsets into %" PRIu32 " dims",
                        op_index_count(m, op, "offsets"), from->rank);
    for (uint32_t d = 0; d < from->rank; d++)
        TRY(verify_window_dim(m, op, d, op_index_expr(m, op, "offsets", d), one, from->dims[d]));
    return OK;
}

status verify_random(module *m, uint32_t op)
{
    const dtype d = type_at(module_context(m), value_type(m, op_result(m, op, 0)))->dtype;
    if ((DT_FLOAT & 1u << d) != 0) return OK;
    return op_error(m, op, &E0211, "cannot make %s; legal are f32, f16 and bf16", dtype_name(d));
}

status verify_view(module *m, uint32_t op)
{
    ir_context *c = module_context(m);
    type_id from = value_type(m, op_operand(m, op, 0));
    type_id to = value_type(m, op_result(m, op, 0));
    const type_node *a = type_at(c, from);
    const type_node *b = type_at(c, to);
    if (a->kind != b->kind)
        return op_error(m, op, &E0210, "turns %s into %s; both must be tensors or both gm", type_words(m, from),
                        type_words(m, to));
    if (a->has_strides || b->has_strides || a->format != FORMAT_ND || b->format != FORMAT_ND)
        return op_error(m, op, &E0213, "needs contiguous row-major elements on both sides, got %s and %s",
                        type_words(m, from), type_words(m, to));
    expr_id have = type_element_count(c, from), want = type_element_count(c, to);
    if (have != 0 && want != 0 && a->dtype != b->dtype) {
        const expr_id from_bytes = expr_const(c, dtype_bytes(a->dtype)), bytes = expr_const(c, dtype_bytes(b->dtype));
        if (b->dtype != DTYPE_BOOL && op_expr_same(m, op, expr_mul(c, have, from_bytes), expr_mul(c, want, bytes)))
            return OK;
        return op_error(m, op, &E0212, "changes the element type from %s to %s, and with it how many bytes there are",
                        dtype_name(a->dtype), dtype_name(b->dtype));
    }
    if (have == 0 || want == 0 || !op_expr_same(m, op, have, want))
        return op_error(m, op, &E0217, "cannot show %s as %s: %s elements against %s", type_words(m, from),
                        type_words(m, to), have == 0 ? "too many" : expr_words(m, op, have),
                        want == 0 ? "too many" : expr_words(m, op, want));
    return OK;
}
