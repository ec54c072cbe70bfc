/* pto.inline: the body of a function takes the place of its calls.
 *
 *     func private @scale(%x: tensor<$N x f32>) -> tensor<$N x f32> {
 *       %s = tensor.mul %x, %x : tensor<$N x f32>
 *       return %s
 *     }
 *     %y = call @scale(%a) : tensor<8 x f32>      =>    %y = tensor.mul %a, %a : tensor<8 x f32>
 *
 * Requires functions at tensor level; leaves no call of one that has neither `out` nor `inout` parameters, and no
 * private function whose calls have all been replaced. Symbols of the function become the extents of the arguments;
 * those that a `bind` or `tune` declares keep their names, with a number where the caller has them. A fact of the
 * function that does not follow from what the caller knows becomes a fact of the caller, when the call is not inside a
 * loop or branch: both end the same runs, the caller at its entry. Functions are taken in the order of their calls, so
 * that each body is complete before it is copied. Exact.
 *
 * pto.inline-nests does the same for functions of nests, when everything is memory: what they write to are arguments.
 * Calls of others stay. */
#include <pto/plugin.h>
#include <pto/relation.h>

#include <stdio.h>

#define KINDS(X)    \
    X(FUNC, "func") \
    X(CALL, "call") \
    X(BIND, "bind") \
    X(TUNE, "tune") \
    X(RETURN, "return")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                          \
    X(MAX_OPS, I64, "max-ops", .def = "100000", .min = "1", \
      .doc = "largest number of ops of a function with what is inlined", .example = "with: { max-ops: 5000 }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(INLINED, "inlined") X(REMOVED, "removed")
PTO_STATS(STATS);

enum { FACT_ITEMS = 3 };

/* A function of the module, and how far it is. */
typedef struct function_node {
    pto_op op;
    pto_op next;      /* the walk through its ops stopped before this one */
    int64_t op_count; /* with what its calls stand for */
    uint32_t inlined;
    enum { UNSEEN, OPEN, DONE } state;
    int is_caller, is_inlinable;
} function_node;

typedef struct call_tree {
    const pto_run *run;
    function_node *nodes;
    uint32_t count, *by_index; /* number of a node + 1, by index of its op */
    uint32_t index_count;
    uint32_t *order, order_count; /* callees before callers */
    int64_t level;                /* PTO_HOME_TENSOR or PTO_HOME_TILE */
} call_tree;

/* ---- which functions, in which order ---- */

static function_node *node_of(const call_tree *t, pto_op function)
{
    if (!PTO_SOME(function) || function.index >= t->index_count || t->by_index[function.index] == 0) return NULL;
    return &t->nodes[t->by_index[function.index] - 1];
}

static function_node *callee_of(const call_tree *t, pto_op call)
{
    return node_of(t, pto_symbol_find(t->run, pto_attr_str_of(call, PTO_STR("callee"))));
}

/* What becomes of a parameter is a result. */
static int has_alias(pto_op function, uint32_t parameter)
{
    const pto_attr aliases = pto_op_attr(function, PTO_STR("aliases"));
    for (uint32_t i = 0; PTO_SOME(aliases) && i < pto_attr_count(aliases); i++)
        if (pto_attr_i64(pto_attr_item(aliases, i, NULL)) == (int64_t)parameter) return 1;
    return 0;
}

static int writes_parameters(pto_op function)
{
    const pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    for (uint32_t i = 0; PTO_SOME(modes) && i < pto_attr_count(modes); i++) {
        const pto_str mode = pto_attr_str(pto_attr_item(modes, i, NULL));
        if ((pto_str_is(mode, "out") || pto_str_is(mode, "inout")) && !has_alias(function, i)) return 1;
    }
    return 0;
}

static int is_at_level(pto_op function, int64_t level)
{
    PTO_WALK(function, op)
    {
        const int64_t home = pto_kind_column(function.run, pto_op_kind(op), PTO_COLUMN_HOME);
        if (home != PTO_HOME_ANY && home != level) return 0;
    }
    return 1;
}

/* Whether the function returns nothing and takes no tensor: what it computes it writes to memory. */
static int is_on_memory(pto_op function)
{
    const pto_block body = pto_body(function);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++)
        if (pto_type_kind_of(pto_value_type(pto_block_arg(body, i))) == PTO_TYPE_TENSOR) return 0;
    return pto_op_operand_count(pto_block_terminator(body)) == 0;
}

static void collect_functions(call_tree *t)
{
    const pto_block top = pto_module_top(t->run);
    uint32_t count = 0;
    PTO_EACH_OP(top, op) {
        count += PTO_IS(op, FUNC) ? 1u : 0u;
        if (op.index >= t->index_count) t->index_count = op.index + 1;
    }
    t->nodes = PTO_SCRATCH(t->run, function_node, count);
    t->order = PTO_SCRATCH(t->run, uint32_t, count);
    t->by_index = PTO_SCRATCH(t->run, uint32_t, t->index_count);
    PTO_EACH_OP(top, op) {
        if (!PTO_IS(op, FUNC)) continue;
        const int is_caller = is_at_level(op, t->level);
        const int is_value = t->level == PTO_HOME_TENSOR ? !writes_parameters(op) : is_on_memory(op);
        t->nodes[t->count] =
            (function_node){.op = op, .next = op, .is_caller = is_caller, .is_inlinable = is_caller && is_value};
        t->by_index[op.index] = ++t->count;
    }
}

static pto_status too_large(const function_node *f, const function_node *callee, int64_t max)
{
    const pto_str caller = pto_function_name(f->op), called = pto_function_name(callee->op);
    return pto_error(f->next, "pto.inline/too-large",
                     "would make more than %lld ops of `@%.*s`, with %lld of `@%.*s`; raise the option `max-ops`",
                     (long long)max, (int)caller.n, caller.p, (long long)callee->op_count, (int)called.n, called.p);
}

/* Walks on to the next call of a function that has not been seen, which is returned; NULL: the walk is at its end. The
 * verifier has refused calls in a circle. */
static pto_status walk_on(const call_tree *t, function_node *f, function_node **out)
{
    const int64_t max = pto_opt_i64(t->run, OPT_MAX_OPS);
    *out = NULL;
    for (; PTO_SOME(f->next); f->next = pto_op_walk_next(f->next, f->op)) {
        function_node *callee = PTO_IS(f->next, CALL) ? callee_of(t, f->next) : NULL;
        f->op_count++;
        if (callee == NULL || !callee->is_inlinable) continue;
        if (callee->state != DONE) {
            f->op_count--; /* it is counted when the walk comes back */
            *out = callee;
            return PTO_OK;
        }
        if (callee->op_count > max - f->op_count) return too_large(f, callee, max);
        f->op_count += callee->op_count;
    }
    return PTO_OK;
}

static pto_status sort_functions(call_tree *t)
{
    function_node **open = PTO_SCRATCH(t->run, function_node *, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t depth = 0;
        if (t->nodes[i].state == UNSEEN) open[depth++] = &t->nodes[i];
        while (depth != 0) {
            function_node *f = open[depth - 1], *callee = NULL;
            f->state = OPEN;
            PTO_TRY(walk_on(t, f, &callee));
            if (callee != NULL) {
                open[depth++] = callee;
                continue;
            }
            f->state = DONE;
            t->order[t->order_count++] = (uint32_t)(f - t->nodes);
            depth--;
        }
    }
    return PTO_OK;
}

/* ---- symbols ---- */

typedef struct renaming {
    uint32_t count;
    pto_str *from;
    pto_expr *to;
} renaming;

static int knows(const renaming *r, pto_str symbol)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (pto_str_same(r->from[i], symbol)) return 1;
    return 0;
}

static void add_name(renaming *r, pto_str symbol, pto_expr to)
{
    if (knows(r, symbol)) return;
    r->from[r->count] = symbol;
    r->to[r->count++] = to;
}

static int declares_symbol(pto_op op) { return PTO_IS(op, BIND) || PTO_IS(op, TUNE); }

/* A symbol of the caller. */
typedef struct taken_symbol {
    pto_str name;
    uint32_t next_number; /* smaller ones make no free name of it */
    int is_declared;      /* by a `bind` or `tune` inside of the caller */
} taken_symbol;

/* The symbols of a caller, with those of what has been inlined: open addressing, at most half full. */
typedef struct symbol_table {
    const pto_run *run;
    taken_symbol *items;
    uint32_t count, capacity;
} symbol_table;

static taken_symbol *place_of(const symbol_table *t, pto_str name)
{
    uint32_t hash = UINT32_C(2166136261);
    for (uint32_t i = 0; i < name.n; i++) hash = (hash ^ (unsigned char)name.p[i]) * UINT32_C(16777619);
    for (uint32_t i = hash & (t->capacity - 1);; i = (i + 1) & (t->capacity - 1))
        if (t->items[i].name.n == 0 || pto_str_same(t->items[i].name, name)) return &t->items[i];
}

static void take_symbol(symbol_table *t, pto_str name, int is_declared)
{
    if (2 * (t->count + 1) > t->capacity) {
        const symbol_table old = *t;
        t->capacity = old.capacity == 0 ? 16 : 2 * old.capacity;
        t->items = PTO_SCRATCH(t->run, taken_symbol, t->capacity);
        for (uint32_t i = 0; i < old.capacity; i++)
            if (old.items[i].name.n != 0) *place_of(t, old.items[i].name) = old.items[i];
    }
    taken_symbol *at = place_of(t, name);
    if (at->name.n == 0) {
        *at = (taken_symbol){.name = name, .next_number = 1};
        t->count++;
    }
    at->is_declared |= is_declared;
}

static symbol_table symbols_of(pto_op caller)
{
    symbol_table t = {.run = caller.run};
    const pto_block body = pto_body(caller);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, i));
        for (uint32_t d = 0; d < pto_type_rank(type); d++) {
            const pto_expr extent = pto_type_dim(type, d);
            if (pto_expr_kind_of(extent) == PTO_EXPR_SYMBOL) take_symbol(&t, pto_expr_symbol_name(extent), 0);
        }
    }
    PTO_WALK(caller, op)
    {
        if (declares_symbol(op)) take_symbol(&t, pto_attr_str_of(op, PTO_STR("symbol")), 1);
    }
    return t;
}

static int is_taken(const symbol_table *t, pto_str name) { return t->count != 0 && place_of(t, name)->name.n != 0; }

/* `symbol`, or with the first number that makes it a name that the caller does not have; it has it from now on. */
static pto_str free_symbol(symbol_table *t, pto_str symbol)
{
    pto_str name = symbol;
    while (is_taken(t, name)) {
        char number[16];
        snprintf(number, sizeof number, "_%u", place_of(t, symbol)->next_number++);
        name = pto_str_join(t->run, symbol, pto_s(number));
    }
    take_symbol(t, name, 1);
    return name;
}

static uint32_t most_symbols(pto_op function)
{
    const pto_block body = pto_body(function);
    uint32_t count = 0;
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++)
        count += pto_type_rank(pto_value_type(pto_block_arg(body, i)));
    PTO_WALK(function, op) count += declares_symbol(op) ? 1u : 0u;
    return count;
}

static renaming find_symbols(symbol_table *taken, pto_op call, pto_op copy)
{
    const uint32_t most = most_symbols(copy);
    renaming r = {0, PTO_SCRATCH(call.run, pto_str, most), PTO_SCRATCH(call.run, pto_expr, most)};
    const pto_block body = pto_body(copy);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, i)), given = pto_value_type(pto_op_operand(call, i));
        for (uint32_t d = 0; d < pto_type_rank(type); d++) {
            const pto_expr extent = pto_type_dim(type, d);
            if (pto_expr_kind_of(extent) == PTO_EXPR_SYMBOL)
                add_name(&r, pto_expr_symbol_name(extent), pto_type_dim(given, d));
        }
    }
    PTO_WALK(copy, op)
    {
        if (!declares_symbol(op)) continue;
        const pto_str symbol = pto_attr_str_of(op, PTO_STR("symbol"));
        if (!knows(&r, symbol)) add_name(&r, symbol, pto_expr_symbol(call.run, free_symbol(taken, symbol)));
    }
    return r;
}

/* ---- facts ---- */

/* Whether the relation holds for all that the difference of its sides can be. */
static int always_holds(pto_relation relation, pto_range difference)
{
    switch (relation) {
    case PTO_RELATION_EQ: return difference.lo == 0 && difference.hi == 0;
    case PTO_RELATION_NE: return difference.lo > 0 || difference.hi < 0;
    case PTO_RELATION_LT: return difference.hi < 0;
    case PTO_RELATION_LE: return difference.hi <= 0;
    case PTO_RELATION_GT: return difference.lo > 0;
    case PTO_RELATION_GE: return difference.lo >= 0;
    default: return 0;
    }
}

static int is_same_fact(pto_attr a, pto_attr b)
{
    return pto_str_same(pto_attr_str(pto_attr_item(a, 0, NULL)), pto_attr_str(pto_attr_item(b, 0, NULL))) &&
           pto_expr_equal(pto_attr_expr(pto_attr_item(a, 1, NULL)), pto_attr_expr(pto_attr_item(b, 1, NULL))) &&
           pto_expr_equal(pto_attr_expr(pto_attr_item(a, 2, NULL)), pto_attr_expr(pto_attr_item(b, 2, NULL)));
}

static int is_known(pto_op call, pto_attr fact)
{
    const pto_relation relation = pto_relation_by_name(pto_attr_str(pto_attr_item(fact, 0, NULL)));
    const pto_expr left = pto_attr_expr(pto_attr_item(fact, 1, NULL)),
                   right = pto_attr_expr(pto_attr_item(fact, 2, NULL));
    if (always_holds(relation, pto_expr_range(pto_expr_sub(left, right), call, NULL))) return 1;
    const pto_attr facts = pto_op_attr(pto_op_function(call), PTO_STR("facts"));
    for (uint32_t i = 0; PTO_SOME(facts) && i < pto_attr_count(facts); i++)
        if (is_same_fact(pto_attr_item(facts, i, NULL), fact)) return 1;
    return 0;
}

/* Symbols that are declared inside of the caller have no meaning at its entry. */
static int is_of_signature(const symbol_table *symbols, pto_expr e)
{
    if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL && symbols->count != 0 &&
        place_of(symbols, pto_expr_symbol_name(e))->is_declared)
        return 0;
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++)
        if (!is_of_signature(symbols, pto_expr_arg(e, i))) return 0;
    return 1;
}

static pto_status add_fact(pto_op function, pto_attr fact)
{
    const pto_run *run = function.run;
    const pto_attr facts = pto_op_attr(function, PTO_STR("facts"));
    const uint32_t count = PTO_SOME(facts) ? pto_attr_count(facts) : 0;
    pto_attr *all = PTO_SCRATCH(run, pto_attr, count + 1);
    for (uint32_t i = 0; i < count; i++) all[i] = pto_attr_item(facts, i, NULL);
    all[count] = fact;
    return pto_op_set_attr(function, PTO_STR("facts"), pto_attr_make_list(run, count + 1, all));
}

static pto_status unknown_fact(pto_op call, pto_op callee, uint32_t index)
{
    const pto_str called = pto_function_name(callee), caller = pto_function_name(pto_op_function(call));
    return pto_error(
        call, "pto.inline/fact",
        "calls `@%.*s` where it is not known that fact %u of its `where` holds: state it in `where` of `@%.*s`",
        (int)called.n, called.p, index + 1, (int)caller.n, caller.p);
}

static pto_status keep_facts(const symbol_table *symbols, pto_op call, pto_op callee, pto_op copy)
{
    const pto_op caller = pto_op_function(call);
    const pto_attr facts = pto_op_attr(copy, PTO_STR("facts"));
    for (uint32_t i = 0; PTO_SOME(facts) && i < pto_attr_count(facts); i++) {
        const pto_attr fact = pto_attr_item(facts, i, NULL);
        if (pto_attr_count(fact) != FACT_ITEMS || is_known(call, fact)) continue;
        const int is_always_run = pto_op_same(pto_op_parent(call), caller);
        if (!is_always_run || !is_of_signature(symbols, pto_attr_expr(pto_attr_item(fact, 1, NULL))) ||
            !is_of_signature(symbols, pto_attr_expr(pto_attr_item(fact, 2, NULL))))
            return unknown_fact(call, callee, i);
        PTO_TRY(add_fact(caller, fact));
    }
    return PTO_OK;
}

/* ---- one call ---- */

static pto_status name_results(pto_op call, pto_op terminator, pto_op copy)
{
    for (uint32_t i = 0; i < pto_op_result_count(call); i++) {
        const pto_value returned = pto_op_operand(terminator, i);
        const pto_str name = pto_value_name(pto_op_result(call, i));
        if (name.n == 0 || !pto_op_same(pto_op_function(pto_value_op(returned)), copy)) continue;
        PTO_TRY(pto_value_set_name(returned, name));
    }
    return PTO_OK;
}

/* The ops of the copy before the call; a `tune` belongs to the body of a function. */
static pto_status move_body(pto_op call, pto_op copy)
{
    const pto_op caller = pto_op_function(call);
    PTO_EACH_OP(pto_body(copy), op) {
        if (PTO_IS(op, RETURN)) continue;
        PTO_TRY(pto_op_move(op, PTO_IS(op, TUNE) ? pto_at_start(pto_body(caller)) : pto_before(call)));
    }
    return PTO_OK;
}

static pto_status add_origin(pto_op call, pto_op copy)
{
    PTO_WALK(copy, op)
    {
        const pto_loc origins[] = {pto_op_loc(op), pto_op_loc(call)};
        PTO_TRY(pto_op_set_loc(op, pto_loc_fuse(call.run, 2, origins)));
    }
    return PTO_OK;
}

static pto_status inline_call(symbol_table *taken, pto_op call, pto_op callee)
{
    const pto_run *run = call.run;
    const pto_op copy = pto_op_clone(callee, pto_after(callee), 0, NULL, NULL);
    PTO_NEED(copy);
    const pto_block body = pto_body(copy);
    const renaming symbols = find_symbols(taken, call, copy);
    PTO_TRY(pto_op_replace_symbols(copy, symbols.count, symbols.from, symbols.to));
    PTO_TRY(keep_facts(taken, call, callee, copy));
    PTO_TRY(add_origin(call, copy));
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++)
        PTO_TRY(pto_value_replace(pto_block_arg(body, i), pto_op_operand(call, i)));
    const pto_op terminator = pto_block_terminator(body);
    const uint32_t count = pto_op_operand_count(terminator);
    pto_value *returned = PTO_SCRATCH(run, pto_value, count);
    for (uint32_t i = 0; i < count; i++) returned[i] = pto_op_operand(terminator, i);
    PTO_TRY(name_results(call, terminator, copy));
    PTO_TRY(move_body(call, copy));
    PTO_TRY(pto_op_erase(copy));
    pto_stat_add(run, STAT_INLINED, 1);
    return pto_op_replace(call, count, returned);
}

/* ---- the pass ---- */

static pto_status inline_calls(const call_tree *t, const function_node *f)
{
    symbol_table taken = symbols_of(f->op);
    PTO_WALK(f->op, op)
    {
        function_node *callee = PTO_IS(op, CALL) ? callee_of(t, op) : NULL;
        if (callee == NULL || !callee->is_inlinable) continue;
        callee->inlined++;
        PTO_TRY(pto_go_on(t->run));
        PTO_TRY(inline_call(&taken, op, callee->op));
    }
    return PTO_OK;
}

static int has_calls(const pto_run *run)
{
    PTO_WALK((pto_op){.run = run}, op)
    {
        if (PTO_IS(op, CALL)) return 1;
    }
    return 0;
}

static pto_status inline_at(const pto_run *run, int64_t level)
{
    call_tree t = {.run = run, .level = level};
    if (!has_calls(run)) return PTO_OK;
    collect_functions(&t);
    PTO_TRY(sort_functions(&t));
    for (uint32_t i = 0; i < t.order_count; i++)
        if (t.nodes[t.order[i]].is_caller) PTO_TRY(inline_calls(&t, &t.nodes[t.order[i]]));
    for (uint32_t i = 0; i < t.count; i++) {
        const function_node *f = &t.nodes[i];
        if (f->inlined == 0 || !pto_str_is(pto_attr_str_of(f->op, PTO_STR("visibility")), "private")) continue;
        PTO_TRY(pto_op_erase(f->op));
        pto_stat_add(run, STAT_REMOVED, 1);
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    (void)unit;
    return inline_at(run, PTO_HOME_TENSOR);
}

static pto_status run_nests(const pto_run *run, pto_op unit)
{
    (void)unit;
    return inline_at(run, PTO_HOME_TILE);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.inline",
    .summary = "Put the body of a function in the place of its calls",
    .scope = "module",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};

static const pto_pass nests = {
    .struct_size = sizeof nests,
    .flags = PTO_PASS_NEEDED,
    .id = "pto.inline-nests",
    .summary = "Put the nests of a function in the place of its calls",
    .scope = "module",
    .consumes = "tile/1",
    .produces = "tile/1",
    .requires_props = PTO_STRS("pto.bufferized"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_nests,
};
PTO_PLUGIN("pto.inline", "pass:pto.inline pass:pto.inline-nests", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass, &nests));
