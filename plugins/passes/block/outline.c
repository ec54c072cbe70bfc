/* pto.outline: every nest becomes a kernel, and what is left of the function launches the kernels in order.
 *
 *     forall "f_0" (%core) to (48) core(vector) { .. %x .. }
 *                =>
 *     block.kernel @f_0 core(vector) grid(%core: 48) reads(%x) writes(%y) (%x: gm<..>, out %y: gm<..>) { .. }
 *     block.launch @f_0 args(%x, %y)
 *
 * Memory that the nest uses becomes parameters; scalar constants are made again inside. Nests that are equal but for
 * the memory they work on share one kernel. Exact: no computation changes. */
#include <pto/plugin.h>

#include <stdio.h>

#define KINDS(X)                   \
    X(FUNC, "func")                \
    X(FORALL, "forall")            \
    X(RETURN, "return")            \
    X(YIELD, "yield")              \
    X(TUNE, "tune")                \
    X(CONSTANT, "constant")        \
    X(STORE, "tile.store")         \
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

enum { USE_READ = 1, USE_WRITE = 2, USE_SHAPE = 4, DEPTH_MAX = 64 };

/* A value from outside that a nest uses. */
typedef struct capture {
    pto_value value;
    uint32_t uses; /* USE_* of memory; 0: a constant. USE_SHAPE alone: only its extents are wanted */
} capture;

typedef struct nest {
    const pto_run *run;
    pto_op op, function;
    capture *captures;
    uint32_t count;
    int wants_symbols; /* all uses are known */
} nest;

/* ---- what a nest uses ---- */

static int is_inside(pto_op op, pto_op root)
{
    for (pto_op p = op; PTO_SOME(p); p = pto_op_parent(p)) {
        if (pto_op_same(p, root)) return 1;
    }
    return 0;
}

static int is_defined_inside(pto_value v, pto_op root)
{
    const pto_op def = pto_value_op(v);
    return is_inside(PTO_SOME(def) ? def : pto_block_parent(pto_value_block(v)), root);
}

static capture *find_capture(nest *n, pto_value v)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (pto_value_same(n->captures[i].value, v)) return &n->captures[i];
    }
    return NULL;
}

static pto_status note_use(nest *n, pto_op op, pto_value v, uint32_t uses)
{
    if (is_defined_inside(v, n->op)) return PTO_OK;
    const pto_type_kind kind = pto_type_kind_of(pto_value_type(v));
    const int is_constant = pto_op_is(pto_value_op(v), pto_kind(n->run, KIND_CONSTANT));
    if (kind != PTO_TYPE_GM && !is_constant) {
        const pto_str name = pto_value_name(v);
        return pto_error(op, "pto.outline/captured-value",
                         "a nest uses `%%%.*s` from outside, which is neither memory nor a constant", PTO_FMT(name));
    }
    capture *c = find_capture(n, v);
    if (!c) {
        c = &n->captures[n->count++];
        *c = (capture){v, 0};
    }
    if (!is_constant) c->uses |= uses;
    return PTO_OK;
}

static int mentions(pto_expr e, pto_expr symbol, int depth)
{
    if (pto_expr_same(e, symbol)) return 1;
    for (uint32_t i = 0; depth < DEPTH_MAX && i < pto_expr_arg_count(e); i++) {
        if (mentions(pto_expr_arg(e, i), symbol, depth + 1)) return 1;
    }
    return 0;
}

static int memory_mentions(pto_value memory, pto_expr symbol)
{
    const pto_type type = pto_value_type(memory);
    if (pto_type_kind_of(type) != PTO_TYPE_GM) return 0;
    for (uint32_t i = 0; i < pto_type_rank(type); i++) {
        if (mentions(pto_type_dim(type, i), symbol, 0)) return 1;
    }
    return 0;
}

/* A kernel knows a symbol by its memory. When none that it uses mentions it, a parameter that does comes along. */
static void note_symbol(nest *n, pto_expr symbol)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses != 0 && memory_mentions(n->captures[i].value, symbol)) return;
    }
    const pto_block body = pto_body(n->function);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_value memory = pto_block_arg(body, i);
        if (!memory_mentions(memory, symbol)) continue;
        n->captures[n->count++] = (capture){memory, USE_SHAPE};
        return;
    }
}

static pto_status note_expr(nest *n, pto_op op, pto_expr e, int depth)
{
    const pto_expr_kind kind = pto_expr_kind_of(e);
    if (kind == PTO_EXPR_VALUE) return n->wants_symbols ? PTO_OK : note_use(n, op, pto_expr_leaf(e), USE_READ);
    if (kind == PTO_EXPR_SYMBOL && n->wants_symbols) note_symbol(n, e);
    for (uint32_t i = 0; depth < DEPTH_MAX && i < pto_expr_arg_count(e); i++)
        PTO_TRY(note_expr(n, op, pto_expr_arg(e, i), depth + 1));
    return PTO_OK;
}

/* Index operands stand inside attributes. */
static pto_status note_attr(nest *n, pto_op op, pto_attr a, int depth)
{
    if (pto_attr_kind_of(a) == PTO_ATTR_EXPR) return note_expr(n, op, pto_attr_expr(a), 0);
    if (pto_attr_kind_of(a) != PTO_ATTR_LIST || depth == DEPTH_MAX) return PTO_OK;
    for (uint32_t i = 0; i < pto_attr_count(a); i++) PTO_TRY(note_attr(n, op, pto_attr_item(a, i, NULL), depth + 1));
    return PTO_OK;
}

static uint32_t count_operands(pto_op root)
{
    uint32_t n = 0;
    PTO_WALK(root, op) n += pto_operand_count(op) + 1;
    return n;
}

static pto_status note_attrs(nest *n, pto_op op)
{
    for (uint32_t i = 0; i < pto_op_attr_count(op); i++) PTO_TRY(note_attr(n, op, pto_op_attr_at(op, i, NULL), 0));
    return PTO_OK;
}

static pto_status find_captures(nest *n)
{
    const uint32_t room = count_operands(n->op) + pto_block_arg_count(pto_body(n->function));
    n->captures = PTO_SCRATCH(n->run, capture, room);
    PTO_WALK(n->op, op)
    {
        const int is_store = pto_op_is(op, pto_kind(n->run, KIND_STORE));
        for (uint32_t i = 0; i < pto_operand_count(op); i++)
            PTO_TRY(note_use(n, op, pto_operand(op, i), is_store && i == 1 ? USE_WRITE : USE_READ));
        PTO_TRY(note_attrs(n, op));
    }
    PTO_TRY(note_attrs(n, n->op));
    n->wants_symbols = 1;
    PTO_WALK(n->op, op) PTO_TRY(note_attrs(n, op));
    return note_attrs(n, n->op);
}

/* ---- equal nests ---- */

typedef struct twin_map {
    pto_value *from, *to;
    uint32_t count;
} twin_map;

static int map_values(const twin_map *m, pto_value a, pto_value b)
{
    for (uint32_t i = m->count; i-- > 0;) {
        if (pto_value_same(m->from[i], a)) return pto_value_same(m->to[i], b);
    }
    return 0;
}

static void map_add(twin_map *m, pto_value a, pto_value b)
{
    m->from[m->count] = a;
    m->to[m->count++] = b;
}

static int same_expr(const twin_map *m, pto_expr a, pto_expr b, int depth)
{
    if (pto_expr_kind_of(a) != pto_expr_kind_of(b) || depth == DEPTH_MAX) return 0;
    if (pto_expr_kind_of(a) == PTO_EXPR_VALUE) return map_values(m, pto_expr_leaf(a), pto_expr_leaf(b));
    if (pto_expr_kind_of(a) == PTO_EXPR_SYMBOL) return pto_expr_same(a, b);
    if (pto_expr_number(a) != pto_expr_number(b) || pto_expr_arg_count(a) != pto_expr_arg_count(b)) return 0;
    for (uint32_t i = 0; i < pto_expr_arg_count(a); i++) {
        if (pto_expr_kind_of(a) == PTO_EXPR_SUM && pto_expr_coef(a, i) != pto_expr_coef(b, i)) return 0;
        if (!same_expr(m, pto_expr_arg(a, i), pto_expr_arg(b, i), depth + 1)) return 0;
    }
    return 1;
}

static int same_attr(const twin_map *m, pto_attr a, pto_attr b, int depth)
{
    if (pto_attr_same(a, b)) return 1;
    if (pto_attr_kind_of(a) != pto_attr_kind_of(b) || depth == DEPTH_MAX) return 0;
    if (pto_attr_kind_of(a) == PTO_ATTR_EXPR) return same_expr(m, pto_attr_expr(a), pto_attr_expr(b), 0);
    if (pto_attr_kind_of(a) != PTO_ATTR_LIST || pto_attr_count(a) != pto_attr_count(b)) return 0;
    for (uint32_t i = 0; i < pto_attr_count(a); i++) {
        if (!same_attr(m, pto_attr_item(a, i, NULL), pto_attr_item(b, i, NULL), depth + 1)) return 0;
    }
    return 1;
}

static int same_attrs(const twin_map *m, pto_op a, pto_op b)
{
    if (pto_op_attr_count(a) != pto_op_attr_count(b)) return 0;
    for (uint32_t i = 0; i < pto_op_attr_count(a); i++) {
        pto_str name_a = pto_no_str(), name_b = pto_no_str();
        const pto_attr x = pto_op_attr_at(a, i, &name_a), y = pto_op_attr_at(b, i, &name_b);
        /* The label names the kernel and does nothing else. */
        if (!pto_str_same(name_a, name_b) || (!pto_str_is(name_a, "label") && !same_attr(m, x, y, 0))) return 0;
    }
    return 1;
}

static int same_op(twin_map *m, pto_op a, pto_op b)
{
    if (pto_op_kind(a) != pto_op_kind(b) || pto_operand_count(a) != pto_operand_count(b) ||
        pto_result_count(a) != pto_result_count(b) || pto_op_block_count(a) != pto_op_block_count(b) ||
        !same_attrs(m, a, b))
        return 0;
    for (uint32_t i = 0; i < pto_operand_count(a); i++) {
        if (!map_values(m, pto_operand(a, i), pto_operand(b, i))) return 0;
    }
    for (uint32_t i = 0; i < pto_result_count(a); i++) {
        if (!pto_type_same(pto_value_type(pto_result(a, i)), pto_value_type(pto_result(b, i)))) return 0;
        map_add(m, pto_result(a, i), pto_result(b, i));
    }
    for (uint32_t k = 0; k < pto_op_block_count(a); k++) {
        const pto_block x = pto_op_block_at(a, k), y = pto_op_block_at(b, k);
        if (pto_block_arg_count(x) != pto_block_arg_count(y)) return 0;
        for (uint32_t i = 0; i < pto_block_arg_count(x); i++) {
            if (!pto_type_same(pto_value_type(pto_block_arg(x, i)), pto_value_type(pto_block_arg(y, i)))) return 0;
            map_add(m, pto_block_arg(x, i), pto_block_arg(y, i));
        }
    }
    return 1;
}

static uint32_t count_values(pto_op root)
{
    uint32_t n = 0;
    PTO_WALK(root, op)
    {
        n += pto_result_count(op);
        for (uint32_t k = 0; k < pto_op_block_count(op); k++) n += pto_block_arg_count(pto_op_block_at(op, k));
    }
    return n + pto_block_arg_count(pto_body(root)) + pto_result_count(root);
}

static int same_constant(pto_value a, pto_value b)
{
    return pto_attr_same(pto_op_attr(pto_value_op(a), "value"), pto_op_attr(pto_value_op(b), "value"));
}

static int match_twin(const nest *a, const nest *b)
{
    if (a->count != b->count) return 0;
    const uint32_t room = count_values(a->op) + a->count;
    twin_map m = {PTO_SCRATCH(a->run, pto_value, room), PTO_SCRATCH(a->run, pto_value, room), 0};
    for (uint32_t i = 0; i < a->count; i++) {
        const capture *x = &a->captures[i], *y = &b->captures[i];
        if (x->uses != y->uses || !pto_type_same(pto_value_type(x->value), pto_value_type(y->value))) return 0;
        if (x->uses == 0 && !same_constant(x->value, y->value)) return 0;
        map_add(&m, x->value, y->value);
    }
    if (!same_op(&m, a->op, b->op)) return 0;
    pto_op y = pto_op_walk_next(b->op, b->op);
    PTO_WALK(a->op, x)
    {
        if (!PTO_SOME(y) || !same_op(&m, x, y)) return 0;
        y = pto_op_walk_next(y, b->op);
    }
    return !PTO_SOME(y);
}

/* ---- making kernels ---- */

/* The nest's label, or the function's name; with a number when the name is taken. */
static pto_str kernel_name(const pto_run *run, pto_op function, pto_op forall)
{
    pto_str base = pto_attr_str_of(forall, "label");
    if (base.n == 0) base = pto_function_name(function);
    char *text = (char *)pto_scratch(run, base.n + 16);
    for (uint32_t i = 0;; i++) {
        const int n = i == 0 && pto_attr_str_of(forall, "label").n != 0
                          ? snprintf(text, base.n + 16, "%.*s", PTO_FMT(base))
                          : snprintf(text, base.n + 16, "%.*s_%u", PTO_FMT(base), i);
        const pto_str name = pto_str_make(text, (size_t)n);
        if (!PTO_SOME(pto_symbol_find(run, name))) return name;
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

static pto_op build_kernel_op(const nest *n, pto_op function, pto_str name)
{
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_KERNEL));
    pto_spec_attr(&s, "name", pto_attr_make_str(n->run, name));
    const pto_attr core = pto_op_attr(n->op, "core"), facts = pto_op_attr(function, "facts");
    pto_spec_attr(&s, "core", PTO_SOME(core) ? core : pto_attr_make_str(n->run, pto_s("any")));
    pto_spec_attr(&s, "grid", pto_op_attr(n->op, "to"));
    pto_spec_attr(&s, "params", parameter_kinds(n));
    const pto_attr reads = region_list(n, USE_READ), writes = region_list(n, USE_WRITE);
    if (PTO_SOME(reads)) pto_spec_attr(&s, "reads", reads);
    if (PTO_SOME(writes)) pto_spec_attr(&s, "writes", writes);
    if (PTO_SOME(facts)) pto_spec_attr(&s, "facts", facts);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(n->op));
    return pto_spec_build(&s, pto_before(function));
}

/* Copies the nest's body behind what the kernel's body holds. */
static pto_status fill_body(const nest *n, pto_op kernel)
{
    const pto_block from = pto_body(n->op), to = pto_body(kernel);
    const uint32_t room = pto_block_arg_count(from) + n->count + count_values(n->op);
    pto_value *old = PTO_SCRATCH(n->run, pto_value, room), *new_values = PTO_SCRATCH(n->run, pto_value, room);
    uint32_t count = 0;
    for (uint32_t i = 0; i < pto_block_arg_count(from); i++, count++) {
        old[count] = pto_block_arg(from, i);
        new_values[count] = pto_block_add_arg(to, pto_value_type(old[count]), "i");
        PTO_TRY(n->run->host->value_set_name(new_values[count], pto_value_name(old[count])));
    }
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses == 0) continue;
        old[count] = n->captures[i].value;
        new_values[count] = pto_block_add_arg(to, pto_value_type(old[count]), "m");
        PTO_TRY(n->run->host->value_set_name(new_values[count], pto_value_name(old[count])));
        count++;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->captures[i].uses != 0) continue;
        const pto_op made = pto_clone(pto_value_op(n->captures[i].value), pto_at_end(to), 0, NULL, NULL);
        PTO_NEED(made);
        old[count] = n->captures[i].value;
        new_values[count++] = pto_result(made, 0);
    }
    PTO_EACH_OP(from, op) {
        if (pto_op_is(op, pto_kind(n->run, KIND_YIELD))) continue;
        const pto_op made = pto_clone(op, pto_at_end(to), count, old, new_values);
        PTO_NEED(made);
        for (uint32_t i = 0; i < pto_result_count(op); i++, count++) {
            old[count] = pto_result(op, i);
            new_values[count] = pto_result(made, i);
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
    pto_spec_symbol(&s, "callee", kernel);
    pto_spec_loc(&s, pto_op_loc(n->op));
    return PTO_SOME(pto_spec_build(&s, pto_before(n->op))) ? PTO_OK : PTO_FAILED;
}

/* ---- the function ---- */

typedef struct nest_list {
    nest *nests;
    pto_str *kernels;
    uint32_t count;
} nest_list;

static pto_status rewrite_nest(pto_op function, nest_list *done, nest *n)
{
    const pto_run *run = n->run;
    for (uint32_t i = 0; pto_opt_bool(run, OPT_SHARE) && i < done->count; i++) {
        if (!match_twin(&done->nests[i], n)) continue;
        pto_count(run, STAT_SHARED);
        return launch(n, done->kernels[i]);
    }
    const pto_str name = kernel_name(run, function, n->op);
    const pto_op kernel = build_kernel_op(n, function, name);
    PTO_NEED(kernel);
    PTO_TRY(fill_body(n, kernel));
    pto_count(run, STAT_KERNELS);
    done->nests[done->count] = *n;
    done->kernels[done->count++] = name;
    return launch(n, name);
}

static pto_status rewrite_workspace(const pto_run *run, pto_op op)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_BLOCK_WORKSPACE));
    pto_spec_result(&s, pto_value_type(pto_result(op, 0)));
    pto_spec_name(&s, pto_value_name(pto_result(op, 0)));
    const pto_value made = pto_spec_value(&s, pto_before(op));
    PTO_NEED(made);
    return pto_replace(op, made);
}

/* The next op of the walk behind a nest, or inside any other op: nests in nests belong to the outer kernel. */
static pto_op next_outside(const pto_run *run, pto_op op, pto_op function)
{
    return pto_op_is(op, pto_kind(run, KIND_FORALL)) ? pto_walk_skip(op, function) : pto_op_walk_next(op, function);
}

static uint32_t count_nests(const pto_run *run, pto_op function)
{
    uint32_t n = 0;
    for (pto_op op = pto_op_walk_next(function, function); PTO_SOME(op); op = next_outside(run, op, function))
        n += pto_op_is(op, pto_kind(run, KIND_FORALL)) ? 1u : 0u;
    return n;
}

static pto_status outline_function(const pto_run *run, pto_op function)
{
    const uint32_t count = count_nests(run, function);
    nest_list done = {PTO_SCRATCH(run, nest, count), PTO_SCRATCH(run, pto_str, count), 0};
    pto_op *nests = PTO_SCRATCH(run, pto_op, count);
    uint32_t k = 0;
    for (pto_op op = pto_op_walk_next(function, function), next; PTO_SOME(op); op = next) {
        next = next_outside(run, op, function);
        if (pto_op_is(op, pto_kind(run, KIND_WORKSPACE)))
            PTO_TRY(rewrite_workspace(run, op));
        else if (pto_op_is(op, pto_kind(run, KIND_FORALL)))
            nests[k++] = op;
    }
    /* Nests are compared with earlier ones, so they go only when all are done. */
    for (uint32_t i = 0; i < count; i++) {
        nest n = {.run = run, .op = nests[i], .function = function};
        PTO_TRY(find_captures(&n));
        PTO_TRY(rewrite_nest(function, &done, &n));
    }
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pto_erase(nests[i]));
    /* Constants that only nests used. */
    PTO_WALK(function, op)
    {
        if (pto_op_is(op, pto_kind(run, KIND_CONSTANT)) && pto_value_use_count(pto_result(op, 0)) == 0)
            PTO_TRY(pto_erase(op));
    }
    return PTO_OK;
}

/* Whether the function holds a nest or workspace of its own: others stand at another level. */
static int match_function(const pto_run *run, pto_op op)
{
    if (!pto_op_is(op, pto_kind(run, KIND_FUNC))) return 0;
    PTO_WALK(op, inner)
    {
        if (pto_op_is(inner, pto_kind(run, KIND_FORALL)) || pto_op_is(inner, pto_kind(run, KIND_WORKSPACE))) return 1;
    }
    return 0;
}

/* A kernel knows the symbols of its memory, and no ranges. */
static pto_status refuse_open_symbols(const pto_run *run, pto_op function)
{
    PTO_EACH_OP(pto_body(function), op) {
        if (!pto_op_is(op, pto_kind(run, KIND_TUNE))) continue;
        const pto_str symbol = pto_attr_str_of(op, "symbol");
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
        if (!match_function(run, op)) continue;
        PTO_TRY(refuse_open_symbols(run, op));
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
