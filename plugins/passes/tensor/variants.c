/* pto.variants: a function of which there are two forms, for few of something and for any number, chosen at launch.
 *
 *     func @f(%x: tensor<$M x 64 x f32>) -> ..     =>     %y = if $M <= 16 {
 *       %y = tensor.exp %x                                   %y_m16 = tensor.exp %x
 *       return %y                                            yield %y_m16
 *                                                          } else {
 *                                                            %y_rest = tensor.exp %x
 *                                                            yield %y_rest
 *                                                          }
 *                                                          return %y
 *
 * The attribute `when = [["M", 16]]` of a function asks for forms, and so do the option `symbol`, of every function
 * that has it, and a pin of the decision `variants`: for each symbol the largest number that a form is for, 0 for none.
 * Of several, the first border that holds decides. Each form is fused and tiled alone: pto.tile knows what the
 * condition says. Without any of these a function has one form. Functions with `bind`, `tune` or results in the memory
 * of a parameter have one form, and so has `@f.init`, which runs once.
 *
 * Requires functions at tensor level; leaves the same. Exact. */
#include <pto/plugin.h>

#include <stdio.h>

#define KINDS(X)    \
    X(FUNC, "func") \
    X(BIND, "bind") \
    X(TUNE, "tune") \
    X(IF, "if")     \
    X(YIELD, "yield")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                            \
    X(SYMBOL, STR, "symbol", .def = "", .doc = "The symbol that functions have a variant for; empty: none.",  \
      .example = "with: { symbol: M, at-most: 16 }")                                                          \
    X(AT_MOST, I64, "at-most", .def = "16", .min = "1", .doc = "The largest number that the variant is for.", \
      .example = "with: { symbol: M, at-most: 16 }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(VARIANTS, "variants")
PTO_STATS(STATS);

enum { SYMBOLS_MAX = 16 /* values of a decision */, VARIANTS_MAX = 3 };

/* Symbols that are extents of parameters, in the order of the text. */
typedef struct symbol_list {
    uint32_t count;
    pto_str names[SYMBOLS_MAX];
    const char *words[SYMBOLS_MAX];
    int64_t least[SYMBOLS_MAX], none[SYMBOLS_MAX], most[SYMBOLS_MAX], border[SYMBOLS_MAX];
} symbol_list;

static void add_symbol(pto_op function, pto_expr extent, symbol_list *list)
{
    if (pto_expr_kind_of(extent) != PTO_EXPR_SYMBOL || list->count == SYMBOLS_MAX) return;
    const pto_str name = pto_expr_symbol_name(extent);
    for (uint32_t i = 0; i < list->count; i++)
        if (pto_str_same(list->names[i], name)) return;
    const pto_range r = pto_extent_range(function, extent);
    char *word = pto_scratch(function.run, name.n + 1);
    memcpy(word, name.p, name.n);
    word[name.n] = '\0';
    list->names[list->count] = name;
    list->words[list->count] = word;
    list->least[list->count] = r.lo > 0 ? r.lo : 0;
    list->none[list->count] = list->border[list->count] = 0;
    list->most[list->count++] = r.hi > PTO_TILING_EXTENT_MAX ? PTO_TILING_EXTENT_MAX : r.hi > 0 ? r.hi - 1 : 0;
}

static symbol_list symbols_of(pto_op function)
{
    symbol_list list = {.count = 0};
    const pto_block body = pto_body(function);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, i));
        if (pto_type_kind_of(type) != PTO_TYPE_TENSOR) continue;
        for (uint32_t d = 0; d < pto_type_rank(type); d++) add_symbol(function, pto_type_dim(type, d), &list);
    }
    return list;
}

static int is_init(pto_op function)
{
    const pto_str name = pto_function_name(function), end = PTO_STR(".init");
    return name.n > end.n && pto_str_same(pto_str_make(name.p + name.n - end.n, end.n), end);
}

static int can_split(pto_op function)
{
    if (is_init(function)) return 0;
    const pto_attr aliases = pto_op_attr(function, PTO_STR("aliases"));
    for (uint32_t i = 0; PTO_SOME(aliases) && i < pto_attr_count(aliases); i++)
        if (pto_attr_i64(pto_attr_item(aliases, i, NULL)) >= 0) return 0;
    if (PTO_SOME(pto_op_attr(function, PTO_STR("may_alias")))) return 0; /* all forms write to one memory */
    PTO_WALK(function, op)
    {
        if (PTO_IS(op, BIND) || PTO_IS(op, TUNE)) return 0;
    }
    const pto_op last = pto_block_last(pto_body(function));
    return PTO_SOME(last) && PTO_SOME(pto_op_prev(last));
}

/* ---- the decision ---- */

static pto_status check_borders(pto_op function, const symbol_list *list)
{
    uint32_t variants = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->border[i] == 0) continue;
        if (list->border[i] < list->least[i])
            return pto_error(function, "pto.variants/never-taken",
                             "a variant for $%s of at most %lld is never taken: $%s is at least %lld", list->words[i],
                             (long long)list->border[i], list->words[i], (long long)list->least[i]);
        if (++variants > VARIANTS_MAX)
            return pto_error(function, "pto.variants/too-many", "a function has at most %d variants beside the rest",
                             (int)VARIANTS_MAX);
    }
    return PTO_OK;
}

/* A border that does not tell two forms apart is none. */
static int set_border(symbol_list *list, pto_str symbol, int64_t border)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (!pto_str_same(list->names[i], symbol)) continue;
        if (border >= list->least[i] && border <= list->most[i]) list->border[i] = border;
        return list->border[i] == border ? 2 : 1;
    }
    return 0;
}

static pto_status set_asked(pto_op function, symbol_list *list)
{
    const pto_attr when = pto_op_attr(function, PTO_STR("when"));
    for (uint32_t i = 0; PTO_SOME(when) && i < pto_attr_count(when); i++) {
        const pto_attr item = pto_attr_item(when, i, NULL);
        const pto_str symbol = pto_attr_str(pto_attr_item(item, 0, NULL));
        const int64_t border = pto_attr_i64(pto_attr_item(item, 1, NULL));
        for (uint32_t k = 0; k < i; k++)
            if (pto_str_same(symbol, pto_attr_str(pto_attr_item(pto_attr_item(when, k, NULL), 0, NULL))))
                return pto_error(function, "pto.variants/twice", "asks for two forms for $%.*s by `when`: one is made",
                                 PTO_FMT(symbol));
        if (set_border(list, symbol, border) < 2)
            pto_remark(function, "pto.variants/one-form",
                       "needs no form for `$%.*s <= %lld`: what is known of the symbol decides it already",
                       PTO_FMT(symbol), (long long)border);
    }
    /* What is made from here on has the forms. */
    return PTO_SOME(when) ? pto_op_set_attr(function, PTO_STR("when"), pto_attr_none(function.run)) : PTO_OK;
}

/* Borders of the attribute and of the option, where they tell two forms apart; then those that are pinned. */
static pto_status decide(pto_op function, symbol_list *list, int *is_used)
{
    PTO_TRY(set_asked(function, list));
    *is_used |= set_border(list, pto_opt_str(function.run, OPT_SYMBOL), pto_opt_i64(function.run, OPT_AT_MOST)) > 0;
    const pto_decision d = {.struct_size = sizeof d,
                            .count = list->count,
                            .name = "variants",
                            .keys = list->words,
                            .min = list->none,
                            .max = list->most};
    PTO_TRY(pto_decision_pinned(function, &d, list->border));
    PTO_TRY(check_borders(function, list));
    return pto_decision_made(function, &d, list->border);
}

/* ---- the forms ---- */

static pto_str named(const pto_run *run, pto_str name, pto_str suffix)
{
    const size_t capacity = name.n + suffix.n + 2;
    char *text = pto_scratch(run, capacity);
    (void)snprintf(text, capacity, "%.*s_%.*s", PTO_FMT(name), PTO_FMT(suffix));
    return pto_s(text);
}

static pto_op build_if(pto_op end, pto_str symbol, int64_t border)
{
    const pto_expr left = pto_expr_symbol(end.run, symbol), right = pto_expr_const(end.run, border);
    pto_spec s = pto_spec_make(end.run, pto_kind(end.run, KIND_IF));
    pto_spec_str(&s, PTO_STR("relation"), PTO_STR("le"));
    pto_spec_exprs(&s, PTO_STR("left"), 1, &left);
    pto_spec_exprs(&s, PTO_STR("right"), 1, &right);
    for (uint32_t i = 0; i < pto_op_operand_count(end); i++)
        pto_spec_result(&s, pto_value_type(pto_op_operand(end, i)));
    pto_spec_blocks(&s, 2);
    pto_spec_loc(&s, pto_op_loc(end));
    return pto_spec_build(&s, pto_before(end));
}

static pto_status end_block(pto_block block, pto_op end, uint32_t count, const pto_value *values)
{
    pto_spec s = pto_spec_make(end.run, pto_kind(end.run, KIND_YIELD));
    pto_spec_operands(&s, count, values);
    pto_spec_loc(&s, pto_op_loc(end));
    return PTO_SOME(pto_spec_build(&s, pto_at_end(block))) ? PTO_OK : PTO_FAILED;
}

/* Copies what is before `branch` in its block; `values` become those of the copy. */
static pto_status copy_into(pto_block block, pto_op first, pto_op branch, uint32_t count, pto_value *values)
{
    const pto_run *run = branch.run;
    pto_value *from = NULL, *to = NULL;
    uint32_t known = 0, capacity = 0, to_capacity = 0;
    for (pto_op op = first; !pto_op_same(op, branch); op = pto_op_next(op)) {
        const pto_op clone = pto_op_clone(op, pto_at_end(block), known, from, to);
        PTO_NEED(clone);
        for (uint32_t r = 0; r < pto_op_result_count(op); r++) {
            PTO_GROW(run, from, known, capacity);
            PTO_GROW(run, to, known, to_capacity);
            from[known] = pto_op_result(op, r);
            to[known++] = pto_op_result(clone, r);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < known; k++)
            if (pto_value_same(values[i], from[k])) {
                values[i] = to[k];
                break;
            }
    return PTO_OK;
}

/* Results of the branch have the names that values had, since outputs are called so. */
static pto_status name_results(pto_op branch, uint32_t count, const pto_value *copies, const pto_value *values,
                               pto_str variant)
{
    for (uint32_t i = 0; i < count; i++) {
        const pto_str name = pto_value_name(values[i]);
        if (PTO_SOME(pto_value_op(values[i]))) {
            PTO_TRY(pto_value_set_name(copies[i], named(branch.run, name, variant)));
            PTO_TRY(pto_value_set_name(values[i], named(branch.run, name, PTO_STR("rest"))));
        }
        PTO_TRY(pto_value_set_name(pto_op_result(branch, i), name));
    }
    return PTO_OK;
}

/* Everything before `end`, the last op of its block, in two forms; `end` becomes the last op of the rest. */
static pto_status split(pto_op *end, pto_str symbol, int64_t border)
{
    const pto_run *run = end->run;
    const uint32_t count = pto_op_operand_count(*end);
    pto_value *values = PTO_SCRATCH(run, pto_value, count), *copies = PTO_SCRATCH(run, pto_value, count);
    const pto_op first = pto_block_first(pto_op_block(*end)), branch = build_if(*end, symbol, border);
    char number[32];
    PTO_NEED(branch);
    for (uint32_t i = 0; i < count; i++) copies[i] = values[i] = pto_op_operand(*end, i);
    (void)snprintf(number, sizeof number, "%lld", (long long)border);
    PTO_TRY(copy_into(pto_op_block_at(branch, 0), first, branch, count, copies));
    PTO_TRY(end_block(pto_op_block_at(branch, 0), *end, count, copies));
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pto_op_set_operand(*end, i, pto_op_result(branch, i)));
    const pto_block rest = pto_op_block_at(branch, 1);
    for (pto_op op = first; !pto_op_same(op, branch);) {
        const pto_op next = pto_op_next(op);
        PTO_TRY(pto_op_move(op, pto_at_end(rest)));
        op = next;
    }
    PTO_TRY(end_block(rest, *end, count, values));
    PTO_TRY(name_results(branch, count, copies, values, named(run, symbol, pto_s(number))));
    pto_stat_add(run, STAT_VARIANTS, 1);
    *end = pto_block_last(rest);
    return PTO_OK;
}

static pto_status check_unasked(pto_op function)
{
    if (!PTO_SOME(pto_op_attr(function, PTO_STR("when")))) return PTO_OK;
    return pto_error(function, "pto.variants/one-form-only",
                     "asks for forms by `when`, and a function with `bind`, `tune`, a result in the memory of a "
                     "parameter or without an op has one form only");
}

/* `function` is one that can have variants, if there is such a one. */
static pto_status refuse_symbol(pto_op function, pto_str symbol)
{
    symbol_list list = symbols_of(function);
    char known[160] = "";
    if (!can_split(function)) list.count = 0;
    for (uint32_t i = 0, n = 0; i < list.count && n < sizeof known; i++)
        n += (uint32_t)snprintf(known + n, sizeof known - n, "%s$%s", i == 0 ? "; this one has " : ", ", list.words[i]);
    return pto_error(function, "pto.variants/no-symbol",
                     "no function that can have variants has a parameter with an extent $%.*s%s", PTO_FMT(symbol),
                     known);
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    const pto_str symbol = pto_opt_str(run, OPT_SYMBOL);
    int is_used = symbol.n == 0, is_found = 0;
    pto_op any = pto_op_none(run);
    (void)unit;
    PTO_EACH_OP(pto_module_top(run), function) {
        if (!PTO_IS(function, FUNC)) continue;
        symbol_list list = symbols_of(function);
        if (!is_found) any = function;
        if (list.count == 0) {
            PTO_TRY(set_asked(function, &list));
            continue;
        }
        if (!can_split(function)) {
            PTO_TRY(check_unasked(function));
            continue;
        }
        is_found = 1;
        PTO_TRY(decide(function, &list, &is_used));
        pto_op end = pto_block_last(pto_body(function));
        for (uint32_t i = 0; i < list.count; i++)
            if (list.border[i] != 0) PTO_TRY(split(&end, list.names[i], list.border[i]));
    }
    if (is_used || !PTO_SOME(any)) return PTO_OK;
    return refuse_symbol(any, symbol);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.variants",
    .summary = "Give functions a form of their own for few of something",
    .scope = "module",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.variants", "pass:pto.variants", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
