/* pto.outline: every nest becomes a kernel, and what is left of the function launches the kernels in order.
 *
 *     forall "f_0" (%core) to (48) core(vector) { .. %x .. }
 *                =>
 *     block.kernel @f_0 core(vector) grid(%core: 48) reads(%x) writes(%y) (%x: gm<..>, out %y: gm<..>) { .. }
 *     block.launch @f_0 args(%x, %y)
 *
 * Memory and scalars that the nest uses become parameters; constants are made again inside. Nests that are equal except
 * for the memory they work on share one kernel. Exact: no computation changes.
 *
 * Requires functions on memory (pto.bufferized), tiles with layouts (pto.layouts-assigned), nests with a core kind
 * (pto.distributed), and fixed symbols. Leaves kernels of tile ops, and functions that launch them. */
#include "outline_nest.h"

#include <stdio.h>

#define KINDS(X)                   \
    X(FUNC, "func")                \
    X(FORALL, "forall")            \
    X(RETURN, "return")            \
    X(YIELD, "yield")              \
    X(TUNE, "tune")                \
    X(BIND, "bind")                \
    X(CONSTANT, "constant")        \
    X(VIEW, "view")                \
    X(WORKSPACE, "tile.workspace") \
    X(KERNEL, "block.kernel")      \
    X(LAUNCH, "block.launch")      \
    X(BLOCK_WORKSPACE, "block.workspace")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                    \
    X(SHARE, BOOL, "share", .def = "true", .doc = "let equal nests share one kernel", \
      .example = "with: { share: false }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(KERNELS, "kernels") X(SHARED, "nests that share a kernel")
PTO_STATS(STATS);

/* ---- making kernels ---- */

/* Where the search for a free name goes on: names stay taken, so a base that repeats need not begin at 0. */
typedef struct kernel_names {
    pto_str base;
    int is_label;
    uint32_t next;
} kernel_names;

/* The nest's label, or the function's name; with a number when the name is taken. */
static pto_str kernel_name(kernel_names *names, const nest *n)
{
    pto_str base = pto_attr_str_of(n->op, PTO_STR("label"));
    const int is_label = base.n != 0;
    if (!is_label) base = pto_function_name(n->function);
    if (is_label != names->is_label || !pto_str_same(base, names->base)) *names = (kernel_names){base, is_label, 0};
    char *text = (char *)pto_scratch(n->run, base.n + 16);
    for (;;) {
        const uint32_t i = names->next++;
        const int length = i == 0 && is_label ? snprintf(text, base.n + 16, "%.*s", PTO_FMT(base))
                                              : snprintf(text, base.n + 16, "%.*s_%u", PTO_FMT(base), i);
        const pto_str name = pto_str_make(text, (size_t)length);
        if (!PTO_SOME(pto_symbol_find(n->run, name))) return name;
    }
}

static pto_attr region_list(const nest *n, uint32_t uses)
{
    pto_attr *regions = PTO_SCRATCH(n->run, pto_attr, n->count);
    uint32_t count = 0;
    int64_t parameter = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses == 0) continue;
        if (n->captures[i].uses & uses) {
            const pto_attr index = pto_attr_make_i64(n->run, parameter);
            regions[count++] = pto_attr_make_list(n->run, 1, &index);
        }
        parameter++;
    }
    return count ? pto_attr_make_list(n->run, count, regions) : pto_attr_none(n->run);
}

static pto_attr parameter_kinds(const nest *n)
{
    pto_attr *kinds = PTO_SCRATCH(n->run, pto_attr, n->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        const uint32_t uses = n->captures[i].uses;
        if (uses == 0) continue;
        kinds[count++] = pto_attr_make_str(n->run, pto_s((uses & USE_WRITE) == 0 ? "in"
                                                         : uses == USE_WRITE     ? "out"
                                                                                 : "inout"));
    }
    return pto_attr_make_list(n->run, count, kinds);
}

static int knows_symbol(const nest *n, pto_expr symbol)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses != 0 && outline_memory_mentions(n->captures[i].value, symbol)) return 1;
    }
    return 0;
}

/* Whether the kernel's memory mentions all symbols of the expression. */
static int knows_symbols(const nest *n, pto_expr e, int depth)
{
    if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL) return knows_symbol(n, e);
    if (depth == OUTLINE_DEPTH_MAX) return 0;
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++) {
        if (!knows_symbols(n, pto_expr_arg(e, i), depth + 1)) return 0;
    }
    return 1;
}

/* Those facts of the function that speak of what the kernel knows. */
static pto_attr kernel_facts(const nest *n)
{
    const pto_attr facts = pto_op_attr(n->function, PTO_STR("facts"));
    const uint32_t count = PTO_SOME(facts) ? pto_attr_count(facts) : 0;
    pto_attr *known = PTO_SCRATCH(n->run, pto_attr, count);
    uint32_t k = 0;
    for (uint32_t i = 0; i < count; i++) {
        const pto_attr fact = pto_attr_item(facts, i, NULL);
        if (knows_symbols(n, pto_attr_expr(pto_attr_item(fact, 1, NULL)), 0) &&
            knows_symbols(n, pto_attr_expr(pto_attr_item(fact, 2, NULL)), 0))
            known[k++] = fact;
    }
    return k != 0 ? pto_attr_make_list(n->run, k, known) : pto_attr_none(n->run);
}

/* A value that the expression mentions; none: it is made of symbols and numbers. */
static pto_value mentioned_value(pto_expr e, int depth)
{
    pto_value found = pto_value_none(e.run);
    if (pto_expr_kind_of(e) == PTO_EXPR_VALUE) return pto_expr_leaf(e);
    for (uint32_t i = 0; depth < OUTLINE_DEPTH_MAX && !PTO_SOME(found) && i < pto_expr_arg_count(e); i++)
        found = mentioned_value(pto_expr_arg(e, i), depth + 1);
    return found;
}

/* The extents of the nest; they come before the body of the kernel, which says its binds again. */
static pto_attr kernel_grid(const nest *n)
{
    const uint32_t count = pto_expr_count_of(n->op, PTO_STR("to"));
    pto_attr *grid = PTO_SCRATCH(n->run, pto_attr, count);
    for (uint32_t i = 0; i < count; i++) {
        pto_expr extent = pto_expr_of(n->op, PTO_STR("to"), i);
        for (uint32_t k = n->bind_count; k-- > 0;) {
            const pto_str symbol = pto_attr_str_of(n->binds[k], PTO_STR("symbol"));
            const pto_expr value = pto_expr_of(n->binds[k], PTO_STR("value"), 0);
            extent = pto_expr_rename(extent, 1, &symbol, &value);
        }
        const pto_value value = mentioned_value(extent, 0);
        if (PTO_SOME(value)) {
            pto_error(n->op, "pto.outline/grid-of-a-value",
                      "the number of instances depends on `%%%.*s`, and that of a kernel on symbols alone: bind a "
                      "symbol to it that an extent of its memory mentions",
                      PTO_FMT(pto_value_name(value)));
            return pto_attr_none(n->run);
        }
        grid[i] = pto_attr_make_expr(n->run, extent);
    }
    return pto_attr_make_list(n->run, count, grid);
}

static pto_op build_kernel_op(const nest *n, pto_str name)
{
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_KERNEL));
    pto_spec_attr(&s, PTO_STR("name"), pto_attr_make_str(n->run, name));
    const pto_attr core = pto_op_attr(n->op, PTO_STR("core")), facts = kernel_facts(n);
    pto_spec_attr(&s, PTO_STR("core"), PTO_SOME(core) ? core : pto_attr_make_str(n->run, PTO_STR("any")));
    pto_spec_attr(&s, PTO_STR("grid"), kernel_grid(n));
    pto_spec_attr(&s, PTO_STR("params"), parameter_kinds(n));
    const pto_attr reads = region_list(n, USE_READ), writes = region_list(n, USE_WRITE);
    if (PTO_SOME(reads)) pto_spec_attr(&s, PTO_STR("reads"), reads);
    if (PTO_SOME(writes)) pto_spec_attr(&s, PTO_STR("writes"), writes);
    if (PTO_SOME(facts)) pto_spec_attr(&s, PTO_STR("facts"), facts);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(n->op));
    return pto_spec_build(&s, pto_before(n->function));
}

static uint32_t count_values(pto_op root)
{
    uint32_t n = 0;
    PTO_WALK(root, op) n += pto_op_result_count(op);
    return n;
}

/* Copies the nest's body after what the kernel's body holds. */
static pto_status fill_body(const nest *n, pto_op kernel)
{
    const pto_block from = pto_body(n->op), to = pto_body(kernel);
    const uint32_t capacity = pto_block_arg_count(from) + n->count + count_values(n->op);
    pto_value *old = PTO_SCRATCH(n->run, pto_value, capacity), *new_values = PTO_SCRATCH(n->run, pto_value, capacity);
    uint32_t count = 0;
    for (uint32_t i = 0; i < pto_block_arg_count(from); i++, count++) {
        old[count] = pto_block_arg(from, i);
        new_values[count] = pto_block_add_arg(to, pto_value_type(old[count]), PTO_STR("i"));
        PTO_TRY(pto_value_set_name(new_values[count], pto_value_name(old[count])));
    }
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses == 0) continue;
        old[count] = n->captures[i].value;
        new_values[count] = pto_block_add_arg(to, pto_value_type(old[count]), PTO_STR("m"));
        PTO_TRY(pto_value_set_name(new_values[count], pto_value_name(old[count])));
        count++;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses != 0) continue;
        const pto_op made = pto_op_clone(pto_value_op(n->captures[i].value), pto_at_end(to), 0, NULL, NULL);
        PTO_NEED(made);
        old[count] = n->captures[i].value;
        new_values[count++] = pto_op_result(made, 0);
    }
    for (uint32_t i = 0; i < n->bind_count; i++)
        PTO_NEED(pto_op_clone(n->binds[i], pto_at_end(to), count, old, new_values));
    PTO_EACH_OP(from, op) {
        if (PTO_IS(op, YIELD)) continue;
        const pto_op made = pto_op_clone(op, pto_at_end(to), count, old, new_values);
        PTO_NEED(made);
        for (uint32_t i = 0; i < pto_op_result_count(op); i++, count++) {
            old[count] = pto_op_result(op, i);
            new_values[count] = pto_op_result(made, i);
        }
    }
    pto_spec end = pto_spec_make(n->run, pto_kind(n->run, KIND_RETURN));
    return PTO_SOME(pto_spec_build(&end, pto_at_end(to))) ? PTO_OK : PTO_FAILED;
}

static pto_status launch(const nest *n, pto_str kernel)
{
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_LAUNCH));
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses != 0) pto_spec_operand(&s, n->captures[i].value);
    }
    pto_spec_symbol(&s, PTO_STR("callee"), kernel);
    pto_spec_loc(&s, pto_op_loc(n->op));
    return PTO_SOME(pto_spec_build(&s, pto_before(n->op))) ? PTO_OK : PTO_FAILED;
}

/* ---- the function ---- */

/* The nests of a function that became kernels. */
typedef struct nest_list {
    nest *nests;
    pto_str *kernels;
    uint32_t count;
    capture_memory captured;
    kernel_names names;
    twin_table twins;
} nest_list;

static pto_status rewrite_nest(nest_list *done, nest *n)
{
    const pto_run *run = n->run;
    const outline_kinds kinds = {pto_kind(run, KIND_CONSTANT), pto_kind(run, KIND_BIND), pto_kind(run, KIND_VIEW)};
    outline_find_captures(n, &done->captured, &kinds);
    PTO_TRY(outline_join_views(n, &kinds));
    PTO_TRY(outline_check_overlaps(n, &kinds));
    const uint32_t twin =
        pto_opt_bool(run, OPT_SHARE) ? outline_find_twin(&done->twins, n, done->count) : OUTLINE_NO_TWIN;
    if (twin != OUTLINE_NO_TWIN) {
        pto_stat_add(run, STAT_SHARED, 1);
        return launch(n, done->kernels[twin]);
    }
    const pto_str name = kernel_name(&done->names, n);
    const pto_op kernel = build_kernel_op(n, name);
    PTO_NEED(kernel);
    PTO_TRY(fill_body(n, kernel));
    pto_stat_add(run, STAT_KERNELS, 1);
    done->nests[done->count] = *n;
    done->kernels[done->count++] = name;
    return launch(n, name);
}

static pto_status rewrite_workspace(const pto_run *run, pto_op op)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_BLOCK_WORKSPACE));
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_name(&s, pto_value_name(pto_op_result(op, 0)));
    const pto_value made = pto_spec_value(&s, pto_before(op));
    PTO_NEED(made);
    return pto_op_replace_by(op, made);
}

/* The next op of the walk after a nest, or inside any other op: nests in nests belong to the outer kernel. */
static pto_op next_outside(pto_op op, pto_op function)
{
    return PTO_IS(op, FORALL) ? pto_walk_skip(op, function) : pto_op_walk_next(op, function);
}

static uint32_t count_nests(pto_op function)
{
    uint32_t n = 0;
    for (pto_op op = pto_op_walk_next(function, function); PTO_SOME(op); op = next_outside(op, function))
        n += PTO_IS(op, FORALL) ? 1u : 0u;
    return n;
}

static pto_status outline_function(const pto_run *run, pto_op function)
{
    const uint32_t count = count_nests(function);
    nest_list done = {.nests = PTO_SCRATCH(run, nest, count), .kernels = PTO_SCRATCH(run, pto_str, count)};
    pto_op *nests = PTO_SCRATCH(run, pto_op, count);
    uint32_t k = 0;
    done.twins = outline_twin_table(run, done.nests, count);
    for (pto_op op = pto_op_walk_next(function, function), next; PTO_SOME(op); op = next) {
        next = next_outside(op, function);
        if (PTO_IS(op, WORKSPACE))
            PTO_TRY(rewrite_workspace(run, op));
        else if (PTO_IS(op, FORALL))
            nests[k++] = op;
    }
    /* Nests are compared with earlier ones, so they go only when all are done. */
    for (uint32_t i = 0; i < count; i++) {
        nest n = {.run = run, .op = nests[i], .function = function};
        PTO_TRY(pto_go_on(run));
        PTO_TRY(rewrite_nest(&done, &n));
    }
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pto_op_erase(nests[i]));
    /* Constants that only nests used. */
    PTO_WALK(function, op)
    {
        if (PTO_IS(op, CONSTANT) && pto_value_use_count(pto_op_result(op, 0)) == 0) PTO_TRY(pto_op_erase(op));
    }
    return PTO_OK;
}

/* Whether the function holds a nest or workspace of its own: others are at another level. */
static int match_function(pto_op op)
{
    if (!PTO_IS(op, FUNC)) return 0;
    PTO_WALK(op, inner)
    {
        if (PTO_IS(inner, FORALL) || PTO_IS(inner, WORKSPACE)) return 1;
    }
    return 0;
}

/* A kernel knows the symbols of its memory, and no ranges. */
static pto_status refuse_open_symbols(pto_op function)
{
    PTO_EACH_OP(pto_body(function), op) {
        if (!PTO_IS(op, TUNE)) continue;
        const pto_str symbol = pto_attr_str_of(op, PTO_STR("symbol"));
        return pto_error(op, "pto.outline/open-symbol",
                         "$%.*s is not fixed and kernels cannot leave it open: give it with pto-run --sym %.*s=N, or "
                         "compile from the tensor level, where pto.tile fixes it",
                         PTO_FMT(symbol), PTO_FMT(symbol));
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    (void)unit;
    PTO_EACH_OP(pto_module_top(run), op) {
        if (!match_function(op)) continue;
        PTO_TRY(refuse_open_symbols(op));
        PTO_TRY(outline_function(run, op));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.outline",
    .summary = "Make a kernel of every nest and launch it",
    .scope = "module",
    .consumes = "tile/1",
    .produces = "block/1",
    .requires_props = PTO_STRS("pto.bufferized", "pto.layouts-assigned", "pto.distributed"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.outline", "pass:pto.outline", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
