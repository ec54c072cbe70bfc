/* pto.use-facts: a symbol that a fact makes equal to a number, or to what other symbols are, becomes that.
 *
 *     func @f(%x: tensor<$B x $C x f32>) where ($C == 256)  =>  func @f(%x: tensor<$B x 256 x f32>)
 *
 * Requires functions at tensor level; leaves the same module as the number in place of the symbol would. The attribute
 * `known` of the function keeps the name, so that a tool may still be given it. Functions that are called keep their
 * symbols: pto.inline puts them in the place of their calls. Exact. */
#include <pto/plugin.h>
#include <pto/relation.h>

#define KINDS(X)    \
    X(FUNC, "func") \
    X(CALL, "call")
PTO_KINDS(KINDS);

#define STATS(X) X(SYMBOLS, "symbols")
PTO_STATS(STATS);

typedef struct fact {
    pto_relation relation;
    pto_expr left, right;
} fact;

static fact fact_of(pto_attr item)
{
    return (fact){pto_relation_by_name(pto_attr_str(pto_attr_item(item, 0, NULL))),
                  pto_attr_expr(pto_attr_item(item, 1, NULL)), pto_attr_expr(pto_attr_item(item, 2, NULL))};
}

/* Whether a parameter has the symbol as an extent, so that a call says what it is. */
static int is_extent(pto_op function, pto_str symbol)
{
    const pto_block body = pto_body(function);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, i));
        for (uint32_t d = 0; d < pto_type_rank(type); d++) {
            const pto_expr extent = pto_type_dim(type, d);
            if (pto_expr_kind_of(extent) == PTO_EXPR_SYMBOL && pto_str_same(pto_expr_symbol_name(extent), symbol))
                return 1;
        }
    }
    return 0;
}

/* Whether a call says what the expression is, without `symbol`. */
static int is_known_without(pto_op function, pto_expr e, pto_str symbol)
{
    if (pto_expr_kind_of(e) == PTO_EXPR_CONST) return pto_expr_number(e) >= 0;
    if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL)
        return !pto_str_same(pto_expr_symbol_name(e), symbol) && is_extent(function, pto_expr_symbol_name(e));
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++)
        if (!is_known_without(function, pto_expr_arg(e, i), symbol)) return 0;
    return 1;
}

static int replaces(pto_op function, pto_expr symbol, pto_expr by)
{
    return pto_expr_kind_of(symbol) == PTO_EXPR_SYMBOL && is_extent(function, pto_expr_symbol_name(symbol)) &&
           is_known_without(function, by, pto_expr_symbol_name(symbol));
}

static pto_status add_known(pto_op function, pto_str symbol, pto_expr by)
{
    const pto_run *run = function.run;
    const pto_attr known = pto_op_attr(function, PTO_STR("known"));
    const int is_number = pto_expr_kind_of(by) == PTO_EXPR_CONST;
    const pto_attr pair[] = {pto_attr_make_str(run, symbol),
                             is_number ? pto_attr_make_i64(run, pto_expr_number(by)) : pto_attr_make_expr(run, by)};
    const uint32_t count = PTO_SOME(known) ? pto_attr_count(known) : 0;
    pto_attr *all = PTO_SCRATCH(run, pto_attr, count + 1);
    for (uint32_t i = 0; i < count; i++) all[i] = pto_attr_item(known, i, NULL);
    all[count] = pto_attr_make_list(run, 2, pair);
    return pto_op_set_attr(function, PTO_STR("known"), pto_attr_make_list(run, count + 1, all));
}

static pto_status replace_symbol(pto_op function, pto_expr symbol, pto_expr by)
{
    const pto_str name = pto_expr_symbol_name(symbol);
    PTO_TRY(pto_op_replace_symbols(function, 1, &name, &by));
    pto_stat_add(function.run, STAT_SYMBOLS, 1);
    return add_known(function, name, by);
}

/* The facts without those that hold now whatever the symbols are. */
static pto_status drop_plain_facts(pto_op function)
{
    const pto_attr facts = pto_op_attr(function, PTO_STR("facts"));
    const uint32_t count = pto_attr_count(facts);
    pto_attr *left = PTO_SCRATCH(function.run, pto_attr, count);
    uint32_t left_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const fact f = fact_of(pto_attr_item(facts, i, NULL));
        if (f.relation != PTO_RELATION_EQ || !pto_expr_equal(f.left, f.right))
            left[left_count++] = pto_attr_item(facts, i, NULL);
    }
    return pto_op_set_attr(function, PTO_STR("facts"),
                           left_count != 0 ? pto_attr_make_list(function.run, left_count, left)
                                           : pto_attr_none(function.run));
}

static pto_status use_facts(pto_op function)
{
    int is_changed = 0;
    for (uint32_t i = 0;; i++) {
        const pto_attr facts = pto_op_attr(function, PTO_STR("facts")); /* with what was put in place so far */
        if (!PTO_SOME(facts) || i >= pto_attr_count(facts)) break;
        const fact f = fact_of(pto_attr_item(facts, i, NULL));
        if (f.relation != PTO_RELATION_EQ) continue;
        const int takes_left = replaces(function, f.left, f.right);
        if (!takes_left && !replaces(function, f.right, f.left)) continue;
        PTO_TRY(takes_left ? replace_symbol(function, f.left, f.right) : replace_symbol(function, f.right, f.left));
        is_changed = 1;
    }
    return is_changed ? drop_plain_facts(function) : PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    const pto_block top = pto_module_top(run);
    uint32_t functions = 0;
    (void)unit;
    PTO_EACH_OP(top, op) {
        if (op.index >= functions) functions = op.index + 1;
    }
    uint8_t *is_called = PTO_SCRATCH(run, uint8_t, functions);
    PTO_WALK((pto_op){.run = run}, op)
    {
        if (!PTO_IS(op, CALL)) continue;
        const pto_op callee = pto_symbol_find(run, pto_attr_str_of(op, PTO_STR("callee")));
        if (PTO_SOME(callee)) is_called[callee.index] = 1;
    }
    PTO_EACH_OP(top, op) {
        if (PTO_IS(op, FUNC) && !is_called[op.index]) PTO_TRY(use_facts(op));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.use-facts",
    .summary = "Put what facts say of symbols in their place",
    .scope = "module",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.use-facts", "pass:pto.use-facts", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
