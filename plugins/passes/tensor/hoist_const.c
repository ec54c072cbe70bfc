/* pto.hoist-const: what a function computes of its `const` parameters alone is computed once, by @f.init.
 *
 *     func @f(%x: tensor<$M x $K x f32>,        =>  func @f.init(const %w: ..) -> tensor<$K x 8 x f32> {
 *             const %w: tensor<8 x $K x f32>)         %t = tensor.transpose %w ..
 *       %t = tensor.transpose %w ..                   return %t
 *       %y = tensor.matmul %x, %t ..                }
 *                                                   func @f(%x: .., const %w: .., const %t: tensor<$K x 8 x f32>)
 *                                                     %y = tensor.matmul %x, %t ..
 *
 * A result moves where reading it costs less than making it. It has at most `growth` times the bytes of the constants
 * that it is made of; or, as an operand of a product, which is in memory in any case, `product-growth` times; or it
 * takes `work-per-byte` operations for each of its bytes to make. What is only another view of a constant stays, and so
 * does what would make all of them larger than `all-growth` times the constants of the function. The decision
 * `constant` of an op says `kept` or `computed`.
 *
 * Parameters of @f stay as they are, the new ones come after them. Functions that are called, and those with an @f.init
 * that the user wrote, are left alone. Requires functions at tensor level; leaves the same. Exact. */
#include <pto/extent.h>
#include <pto/plugin.h>

#include <stdio.h>

#define KINDS(X)                     \
    X(FUNC, "func")                  \
    X(CALL, "call")                  \
    X(RETURN, "return")              \
    X(SCALAR, "constant")            \
    X(CONSTANT, "tensor.constant")   \
    X(FULL, "tensor.full")           \
    X(VIEW, "tensor.view")           \
    X(RESHAPE, "tensor.reshape")     \
    X(SQUEEZE, "tensor.squeeze")     \
    X(UNSQUEEZE, "tensor.unsqueeze") \
    X(BITCAST, "tensor.bitcast")     \
    X(BROADCAST, "tensor.broadcast") \
    X(MATMUL, "tensor.matmul")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                                    \
    X(GROWTH, F64, "growth", .def = "1", .min = "0",                                                                  \
      .doc = "how many times the bytes of the constants that it is made of a result may have; 0: work alone decides", \
      .example = "with: { growth: 2 }")                                                                               \
    X(PRODUCT_GROWTH, F64, "product-growth", .def = "2", .min = "0",                                                  \
      .doc = "the same of an operand of a product, which is written to memory in any case",                           \
      .example = "with: { product-growth: 4 }")                                                                       \
    X(ALL_GROWTH, F64, "all-growth", .def = "4", .min = "0",                                                          \
      .doc = "how many times the bytes of all constants of the function those results may have together",             \
      .example = "with: { all-growth: 1 }")                                                                           \
    X(WORK_PER_BYTE, F64, "work-per-byte", .def = "4", .min = "0",                                                    \
      .doc = "how many operations on elements it takes to make a byte of a result that may be larger than that",      \
      .example = "with: { work-per-byte: 16 }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(KEPT, "kept") X(MOVED, "moved")
PTO_STATS(STATS);

enum {
    SYMBOLS_MAX = 32,
    CONE_MAX = 256,        /* ops that are looked at to price one result */
    UNKNOWN_EXTENT = 1024, /* what a symbol is taken for of which nobody says anything */
    PRODUCTS_PER_WORK = 64 /* products of a matmul that take the time of one operation on an element */
};
enum { COMPUTED, KEPT };

/* An op of the body of the function. */
typedef struct const_op {
    pto_op op;
    double work;
    int is_constant; /* of constants alone */
    int is_kept;     /* some of its results become parameters */
    int remains;     /* in the function */
    int is_made;     /* by @f.init */
    uint32_t seen;   /* by the walk of that number */
} const_op;

typedef struct hoister {
    const pto_run *run;
    pto_op function;
    uint32_t count, *by_index, index_count; /* number of an op + 1, by index */
    const_op *ops;
    uint32_t symbol_count;
    pto_str symbols[SYMBOLS_MAX]; /* that constants bind */
    uint32_t arg_count, *arg_seen;
    int *is_arg_constant;
    uint32_t walk_count;
    double constant_bytes, kept_bytes; /* of results that are kept for their size */
    uint32_t kept_count;
    pto_value *kept; /* results that become parameters, in the order of the text */
} hoister;

/* ---- what is constant ---- */

static int is_bound(const hoister *h, pto_str symbol)
{
    for (uint32_t i = 0; i < h->symbol_count; i++)
        if (pto_str_same(h->symbols[i], symbol)) return 1;
    return 0;
}

/* Whether the expression has no values, and no symbols but those that constants bind. */
static int is_expr_constant(const hoister *h, pto_expr e)
{
    if (!PTO_SOME(e)) return 1;
    if (pto_expr_kind_of(e) == PTO_EXPR_VALUE) return 0;
    if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL) return is_bound(h, pto_expr_symbol_name(e));
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++)
        if (!is_expr_constant(h, pto_expr_arg(e, i))) return 0;
    return 1;
}

static int is_type_constant(const hoister *h, pto_type type)
{
    for (uint32_t d = 0; d < pto_type_rank(type); d++)
        if (!is_expr_constant(h, pto_type_dim(type, d))) return 0;
    return 1;
}

static int is_attr_constant(const hoister *h, pto_attr a)
{
    const pto_attr_kind kind = pto_attr_kind_of(a);
    if (kind == PTO_ATTR_EXPR) return is_expr_constant(h, pto_attr_expr(a));
    if (kind == PTO_ATTR_TYPE) return is_type_constant(h, pto_attr_type(a));
    if (kind != PTO_ATTR_LIST && kind != PTO_ATTR_DICT) return 1;
    for (uint32_t i = 0; i < pto_attr_count(a); i++)
        if (!is_attr_constant(h, pto_attr_item(a, i, NULL))) return 0;
    return 1;
}

static const_op *find_op(const hoister *h, pto_op op)
{
    if (!PTO_SOME(op) || op.index >= h->index_count || h->by_index[op.index] == 0) return NULL;
    return &h->ops[h->by_index[op.index] - 1];
}

static int is_value_constant(const hoister *h, pto_value v)
{
    const const_op *made = find_op(h, pto_value_op(v));
    if (PTO_SOME(pto_value_op(v))) return made != NULL && made->is_constant;
    return pto_block_same(pto_value_block(v), pto_body(h->function)) && h->is_arg_constant[pto_value_index(v)];
}

static int is_op_constant(const hoister *h, pto_op op)
{
    const int is_scalar = PTO_IS(op, SCALAR);
    if (pto_kind_column(h->run, pto_op_kind(op), PTO_COLUMN_HOME) != PTO_HOME_TENSOR && !is_scalar) return 0;
    if (!pto_kind_has(h->run, pto_op_kind(op), PTO_TRAIT_PURE) || pto_op_block_count(op) != 0) return 0;
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (!is_value_constant(h, pto_op_operand(op, i))) return 0;
    for (uint32_t i = 0; i < pto_op_result_count(op); i++) {
        const pto_type type = pto_value_type(pto_op_result(op, i));
        if ((pto_type_kind_of(type) != PTO_TYPE_TENSOR && !is_scalar) || !is_type_constant(h, type)) return 0;
    }
    for (uint32_t i = 0; i < pto_op_attr_count(op); i++)
        if (!is_attr_constant(h, pto_op_attr_at(op, i, NULL))) return 0;
    return 1;
}

/* ---- prices ---- */

/* An extent as a number; a symbol of which nobody says what it will be is taken for UNKNOWN_EXTENT. */
static double extent_of(const hoister *h, pto_expr extent)
{
    pto_expr numbers[SYMBOLS_MAX];
    const int64_t expected = pto_expected_extent(h->function, extent);
    if (expected >= 0) return (double)expected;
    for (uint32_t i = 0; i < h->symbol_count; i++)
        numbers[i] = pto_expr_const(
            h->run, pto_extent_near(h->function, pto_expr_symbol(h->run, h->symbols[i]), UNKNOWN_EXTENT));
    const pto_expr e = pto_expr_rename(extent, h->symbol_count, h->symbols, numbers);
    return PTO_SOME(e) && pto_expr_kind_of(e) == PTO_EXPR_CONST ? (double)pto_expr_number(e) : (double)UNKNOWN_EXTENT;
}

static double elements_of(const hoister *h, pto_type type)
{
    double n = 1;
    for (uint32_t d = 0; d < pto_type_rank(type); d++) n *= extent_of(h, pto_type_dim(type, d));
    return n;
}

static double bytes_of(const hoister *h, pto_type type)
{
    return elements_of(h, type) * (double)pto_dtype_bytes(pto_type_dtype(type));
}

/* Operations on elements; none for another view of memory. */
static double work_of(const hoister *h, pto_op op)
{
    if (PTO_IS(op, SCALAR) || PTO_IS(op, CONSTANT) || PTO_IS(op, FULL) || PTO_IS(op, VIEW) || PTO_IS(op, RESHAPE) ||
        PTO_IS(op, SQUEEZE) || PTO_IS(op, UNSQUEEZE) || PTO_IS(op, BITCAST) || PTO_IS(op, BROADCAST))
        return 0;
    double most = 0, products = 1;
    for (uint32_t i = 0; i < pto_op_result_count(op); i++) {
        const double n = elements_of(h, pto_value_type(pto_op_result(op, i)));
        most = n > most ? n : most;
    }
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const double n = elements_of(h, pto_value_type(pto_op_operand(op, i)));
        most = n > most ? n : most;
    }
    if (!PTO_IS(op, MATMUL)) return most;
    pto_iteration it = {.struct_size = sizeof it};
    if (pto_op_iteration(op, &it) != PTO_OK) return most;
    for (uint32_t d = 0; d < it.dim_count; d++) products *= extent_of(h, it.extent[d]);
    products /= (double)PRODUCTS_PER_WORK;
    return products > most ? products : most;
}

/* What it takes to make an op's results. */
typedef struct cone {
    double work, source_bytes;
    uint32_t op_count;
} cone;

/* Adds what a value is made of; of a large cone a part, whose price is that of the whole for our purpose. */
static void add_cone(hoister *h, pto_value v, cone *c, uint32_t depth)
{
    const_op *made = find_op(h, pto_value_op(v));
    if (made == NULL) {
        const uint32_t arg = pto_value_index(v);
        if (h->arg_seen[arg] != h->walk_count) c->source_bytes += bytes_of(h, pto_value_type(v));
        h->arg_seen[arg] = h->walk_count;
        return;
    }
    if (made->seen == h->walk_count || depth == CONE_MAX || c->op_count++ == CONE_MAX) return;
    made->seen = h->walk_count;
    c->work += made->work;
    for (uint32_t i = 0; i < pto_op_operand_count(made->op); i++)
        add_cone(h, pto_op_operand(made->op, i), c, depth + 1);
}

/* ---- which results ---- */

static int is_used_by_product(pto_value v)
{
    PTO_EACH_USE(v, use) {
        if (PTO_IS(use.op, MATMUL) && use.slot < 2) return 1;
    }
    return 0;
}

/* Whether an op that remains reads it; `*is_returned`: whether it is a result of the function, which copies it. */
static int is_needed(const hoister *h, pto_value v, int *is_returned)
{
    int is_read = 0;
    PTO_EACH_USE(v, use) {
        const const_op *user = find_op(h, use.op);
        if (user != NULL && user->is_constant && !user->remains) continue;
        is_read = 1;
        *is_returned |= PTO_IS(use.op, RETURN);
    }
    return is_read;
}

static const char *const constant_words[] = {"computed", "kept", NULL};

/* Says what was found, for readers of remarks. */
static void remark(const hoister *h, const const_op *o, int is_too_much, const cone *c, double bytes)
{
    if (o->is_kept)
        pto_remark(o->op, "pto.hoist-const/kept",
                   "is computed once: its %.0f bytes are made of %.0f bytes of constants in %.0f operations", bytes,
                   c->source_bytes, c->work);
    else if (is_too_much)
        pto_remark(o->op, "pto.hoist-const/computed",
                   "depends on constants alone and is computed in every run: with its %.0f bytes those of all that is "
                   "kept would be %.0f, and those of the constants are %.0f",
                   bytes, h->kept_bytes + bytes, h->constant_bytes);
    else
        pto_remark(o->op, "pto.hoist-const/computed",
                   "depends on constants alone and is computed in every run: keeping it would read %.0f bytes in place "
                   "of %.0f, and spare %.0f operations",
                   bytes, c->source_bytes, c->work);
}

/* Decides whether the results that are needed are kept. */
static pto_status decide(hoister *h, const_op *o, int is_returned)
{
    const pto_run *run = h->run;
    cone c = {0};
    double bytes = 0, growth = pto_opt_f64(run, OPT_GROWTH);
    h->walk_count++;
    add_cone(h, pto_op_result(o->op, 0), &c, 0);
    if (c.work == 0) return PTO_OK;
    for (uint32_t i = 0; i < pto_op_result_count(o->op); i++) {
        const pto_value v = pto_op_result(o->op, i);
        bytes += bytes_of(h, pto_value_type(v));
        if (is_used_by_product(v) && pto_opt_f64(run, OPT_PRODUCT_GROWTH) > growth)
            growth = pto_opt_f64(run, OPT_PRODUCT_GROWTH);
    }
    const int is_long = c.work >= pto_opt_f64(run, OPT_WORK_PER_BYTE) * bytes;
    if (c.source_bytes == 0 && !is_long) return PTO_OK; /* a number, not of what is given */
    const int is_small = bytes <= growth * c.source_bytes, is_wanted = !is_returned && (is_long || is_small);
    const int is_too_much =
        is_wanted && !is_long && h->kept_bytes + bytes > pto_opt_f64(run, OPT_ALL_GROWTH) * h->constant_bytes;
    int64_t choice = is_wanted && !is_too_much ? KEPT : COMPUTED;
    const pto_decision d = {.struct_size = sizeof d, .count = 1, .name = "constant", .words = constant_words};
    PTO_TRY(pto_decision_pinned(o->op, &d, &choice));
    PTO_TRY(pto_decision_made(o->op, &d, &choice));
    o->is_kept = choice == KEPT;
    remark(h, o, is_too_much, &c, bytes);
    if (o->is_kept && !is_long) h->kept_bytes += bytes;
    return PTO_OK;
}

/* From the last op to the first: users are known before what they use. */
static pto_status choose(hoister *h)
{
    for (uint32_t n = h->count; n-- > 0;) {
        const_op *o = &h->ops[n];
        int is_any_needed = 0, is_returned = 0;
        if (!o->is_constant) {
            o->remains = 1;
            continue;
        }
        for (uint32_t i = 0; i < pto_op_result_count(o->op); i++)
            is_any_needed |= is_needed(h, pto_op_result(o->op, i), &is_returned);
        if (!is_any_needed) continue;
        if (!PTO_IS(o->op, SCALAR)) PTO_TRY(decide(h, o, is_returned));
        o->remains = !o->is_kept;
    }
    return PTO_OK;
}

/* What is kept, and what it is made of: users are after what they use. */
static void mark_made(const hoister *h)
{
    for (uint32_t n = h->count; n-- > 0;) {
        const_op *o = &h->ops[n];
        o->is_made |= o->is_kept;
        for (uint32_t i = 0; o->is_made && i < pto_op_operand_count(o->op); i++) {
            const_op *made = find_op(h, pto_value_op(pto_op_operand(o->op, i)));
            if (made != NULL) made->is_made = 1;
        }
    }
}

static void collect_kept(hoister *h)
{
    uint32_t capacity = 0;
    mark_made(h);
    for (uint32_t n = 0; n < h->count; n++) {
        const const_op *o = &h->ops[n];
        int is_returned = 0;
        if (!o->is_kept) continue;
        for (uint32_t i = 0; i < pto_op_result_count(o->op); i++) {
            const pto_value v = pto_op_result(o->op, i);
            if (!is_needed(h, v, &is_returned)) continue;
            PTO_GROW(h->run, h->kept, h->kept_count, capacity);
            h->kept[h->kept_count++] = v;
        }
    }
}

/* ---- @f.init ---- */

static int binds(pto_value arg, pto_str symbol)
{
    const pto_type type = pto_value_type(arg);
    for (uint32_t d = 0; d < pto_type_rank(type); d++) {
        const pto_expr e = pto_type_dim(type, d);
        if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL && pto_str_same(pto_expr_symbol_name(e), symbol)) return 1;
    }
    return 0;
}

/* Whether another argument of the block binds each symbol that this one binds. */
static int is_bound_by_others(pto_block body, uint32_t index)
{
    const pto_type type = pto_value_type(pto_block_arg(body, index));
    for (uint32_t d = 0; d < pto_type_rank(type); d++) {
        const pto_expr e = pto_type_dim(type, d);
        int is_elsewhere = pto_expr_kind_of(e) != PTO_EXPR_SYMBOL;
        for (uint32_t i = 0; i < pto_block_arg_count(body) && !is_elsewhere; i++)
            is_elsewhere = i != index && binds(pto_block_arg(body, i), pto_expr_symbol_name(e));
        if (!is_elsewhere) return 0;
    }
    return 1;
}

/* Leaves the constants that are used, or that bind a symbol. */
static pto_status keep_args(const hoister *h, pto_op init)
{
    const pto_block body = pto_body(init);
    for (uint32_t i = h->arg_count; i-- > 0;)
        if (!h->is_arg_constant[i]) PTO_TRY(pto_block_erase_arg(body, i));
    for (uint32_t i = pto_block_arg_count(body); i-- > 0;)
        if (pto_value_use_count(pto_block_arg(body, i)) == 0 && is_bound_by_others(body, i))
            PTO_TRY(pto_block_erase_arg(body, i));
    const uint32_t count = pto_block_arg_count(body);
    pto_attr *modes = PTO_SCRATCH(h->run, pto_attr, count);
    for (uint32_t i = 0; i < count; i++) modes[i] = pto_attr_make_str(h->run, PTO_STR("const"));
    return pto_op_set_attr(init, PTO_STR("params"), pto_attr_make_list(h->run, count, modes));
}

/* What a list attribute says of symbols that constants bind: items that mention no other. `expect` names its symbol. */
static pto_status keep_items(const hoister *h, pto_op init, pto_str name, int is_named)
{
    const pto_attr old = pto_op_attr(init, name);
    uint32_t count = 0;
    if (!PTO_SOME(old)) return PTO_OK;
    pto_attr *items = PTO_SCRATCH(h->run, pto_attr, pto_attr_count(old));
    for (uint32_t i = 0; i < pto_attr_count(old); i++) {
        const pto_attr item = pto_attr_item(old, i, NULL);
        if (is_named ? is_bound(h, pto_attr_str(pto_attr_item(item, 0, NULL))) : is_attr_constant(h, item))
            items[count++] = item;
    }
    return pto_op_set_attr(init, name, count != 0 ? pto_attr_make_list(h->run, count, items) : pto_attr_none(h->run));
}

static pto_status set_results(const hoister *h, pto_op init, const pto_value *results, const pto_str *names)
{
    pto_attr *types = PTO_SCRATCH(h->run, pto_attr, h->kept_count),
             *texts = PTO_SCRATCH(h->run, pto_attr, h->kept_count);
    const pto_op old = pto_block_last(pto_body(init));
    pto_spec s = pto_spec_make(h->run, pto_kind(h->run, KIND_RETURN));
    pto_spec_operands(&s, h->kept_count, results);
    pto_spec_loc(&s, pto_op_loc(old));
    for (uint32_t i = 0; i < h->kept_count; i++) {
        types[i] = pto_attr_make_type(h->run, pto_value_type(results[i]));
        texts[i] = pto_attr_make_str(h->run, names[i]);
    }
    PTO_TRY(pto_op_set_attr(init, PTO_STR("aliases"), pto_attr_none(h->run)));
    PTO_TRY(pto_op_set_attr(init, PTO_STR("results"), pto_attr_make_list(h->run, h->kept_count, types)));
    PTO_TRY(pto_op_set_attr(init, PTO_STR("outputs"), pto_attr_make_list(h->run, h->kept_count, texts)));
    PTO_NEED(pto_spec_build(&s, pto_before(old)));
    return pto_op_erase(old);
}

/* The function once more, without what it is not made for. */
static pto_status make_init(const hoister *h, pto_op init, const pto_str *names)
{
    pto_value *results = PTO_SCRATCH(h->run, pto_value, h->kept_count);
    pto_op *copies = PTO_SCRATCH(h->run, pto_op, h->count);
    uint32_t n = 0;
    for (pto_op op = pto_block_first(pto_body(init)); n < h->count; op = pto_op_next(op)) copies[n++] = op;
    for (uint32_t i = 0; i < h->kept_count; i++) {
        const const_op *made = find_op(h, pto_value_op(h->kept[i]));
        results[i] = pto_op_result(copies[made - h->ops], pto_value_index(h->kept[i]));
    }
    PTO_TRY(set_results(h, init, results, names));
    for (n = h->count - 1; n-- > 0;)
        if (!h->ops[n].is_made) PTO_TRY(pto_op_erase(copies[n]));
    PTO_TRY(keep_args(h, init));
    PTO_TRY(keep_items(h, init, PTO_STR("facts"), 0));
    PTO_TRY(keep_items(h, init, PTO_STR("known"), 0));
    PTO_TRY(pto_op_set_attr(init, PTO_STR("when"), pto_attr_none(h->run))); /* it runs once */
    return keep_items(h, init, PTO_STR("expect"), 1);
}

static int is_output(pto_op function, pto_str name)
{
    const pto_attr outputs = pto_op_attr(function, PTO_STR("outputs"));
    for (uint32_t i = 0; PTO_SOME(outputs) && i < pto_attr_count(outputs); i++)
        if (pto_str_same(pto_attr_str(pto_attr_item(outputs, i, NULL)), name)) return 1;
    return 0;
}

/* The name of a value for the parameter that it becomes: callers tell arguments by name, and a step before may have
 * left the name of an output to a value that the output is made of. */
static pto_str parameter_name(const hoister *h, pto_value kept)
{
    pto_str name = pto_str_join(h->run, pto_value_name(kept), pto_no_str());
    while (is_output(h->function, name)) name = pto_str_join(h->run, name, PTO_STR("_const"));
    return name;
}

/* Each result that is kept is a parameter; what nothing needs any more goes. */
static pto_status take_kept(const hoister *h, pto_str *names)
{
    const pto_block body = pto_body(h->function);
    const pto_attr old = pto_op_attr(h->function, PTO_STR("params"));
    pto_attr *modes = PTO_SCRATCH(h->run, pto_attr, h->arg_count + h->kept_count);
    pto_str *wanted = PTO_SCRATCH(h->run, pto_str, h->kept_count);
    for (uint32_t i = 0; i < h->arg_count; i++) modes[i] = pto_attr_item(old, i, NULL);
    for (uint32_t i = 0; i < h->kept_count; i++) {
        wanted[i] = parameter_name(h, h->kept[i]);
        const pto_value arg = pto_block_add_arg(body, pto_value_type(h->kept[i]), pto_no_str());
        PTO_NEED(arg);
        PTO_TRY(pto_value_replace(h->kept[i], arg));
        modes[h->arg_count + i] = pto_attr_make_str(h->run, PTO_STR("const"));
    }
    for (uint32_t n = h->count; n-- > 0;) {
        const const_op *o = &h->ops[n];
        if (!o->is_constant || o->remains) continue;
        PTO_TRY(pto_op_erase(o->op));
        pto_stat_add(h->run, STAT_MOVED, 1);
    }
    for (uint32_t i = 0; i < h->kept_count; i++) {
        const pto_value arg = pto_block_arg(body, h->arg_count + i);
        PTO_TRY(pto_value_set_name(arg, wanted[i]));
        names[i] = pto_str_join(h->run, pto_value_name(arg), pto_no_str());
        pto_stat_add(h->run, STAT_KEPT, 1);
    }
    return pto_op_set_attr(h->function, PTO_STR("params"),
                           pto_attr_make_list(h->run, h->arg_count + h->kept_count, modes));
}

/* ---- the pass ---- */

static void find_symbols(hoister *h, pto_type type)
{
    for (uint32_t d = 0; d < pto_type_rank(type); d++) {
        const pto_expr e = pto_type_dim(type, d);
        if (pto_expr_kind_of(e) != PTO_EXPR_SYMBOL || is_bound(h, pto_expr_symbol_name(e))) continue;
        if (h->symbol_count < SYMBOLS_MAX) h->symbols[h->symbol_count++] = pto_expr_symbol_name(e);
    }
}

/* Which parameters are constants whose extents constants say. Returns whether there is one. */
static int find_constants(hoister *h)
{
    const pto_block body = pto_body(h->function);
    const pto_attr modes = pto_op_attr(h->function, PTO_STR("params"));
    int is_any = 0;
    h->arg_count = pto_block_arg_count(body);
    h->is_arg_constant = PTO_SCRATCH(h->run, int, h->arg_count);
    h->arg_seen = PTO_SCRATCH(h->run, uint32_t, h->arg_count);
    for (uint32_t i = 0; i < h->arg_count && PTO_SOME(modes) && i < pto_attr_count(modes); i++) {
        h->is_arg_constant[i] = pto_str_is(pto_attr_str(pto_attr_item(modes, i, NULL)), "const");
        if (h->is_arg_constant[i]) find_symbols(h, pto_value_type(pto_block_arg(body, i)));
    }
    for (uint32_t i = 0; i < h->arg_count; i++) {
        h->is_arg_constant[i] = h->is_arg_constant[i] && is_type_constant(h, pto_value_type(pto_block_arg(body, i)));
        is_any |= h->is_arg_constant[i];
        if (h->is_arg_constant[i]) h->constant_bytes += bytes_of(h, pto_value_type(pto_block_arg(body, i)));
    }
    return is_any;
}

static void number_ops(hoister *h)
{
    const pto_block body = pto_body(h->function);
    PTO_EACH_OP(body, op) {
        h->count++;
        if (op.index >= h->index_count) h->index_count = op.index + 1;
    }
    h->ops = PTO_SCRATCH(h->run, const_op, h->count);
    h->by_index = PTO_SCRATCH(h->run, uint32_t, h->index_count);
    uint32_t n = 0;
    PTO_EACH_OP(body, op) {
        const_op *o = &h->ops[n++];
        *o = (const_op){.op = op, .is_constant = is_op_constant(h, op)};
        h->by_index[op.index] = n;
        if (o->is_constant) o->work = work_of(h, op);
    }
}

/* The functions that are called, as far as somebody has asked. */
typedef struct called_functions {
    pto_str *names;
    uint32_t count, capacity;
    int is_known;
} called_functions;

static int is_called(pto_op function, called_functions *called)
{
    const pto_run *run = function.run;
    if (!called->is_known) {
        PTO_WALK((pto_op){.run = run}, op)
        {
            if (!PTO_IS(op, CALL)) continue;
            PTO_GROW(run, called->names, called->count, called->capacity);
            called->names[called->count++] = pto_attr_str_of(op, PTO_STR("callee"));
        }
        called->is_known = 1;
    }
    for (uint32_t i = 0; i < called->count; i++)
        if (pto_str_same(called->names[i], pto_function_name(function))) return 1;
    return 0;
}

static pto_status hoist(const pto_run *run, pto_op function, called_functions *called)
{
    hoister h = {.run = run, .function = function};
    if (!find_constants(&h) || is_called(function, called)) return PTO_OK;
    const pto_str name = pto_str_join(run, pto_function_name(function), PTO_STR(".init"));
    if (PTO_SOME(pto_symbol_find(run, name))) {
        pto_remark(function, "pto.hoist-const/written", "has an @%.*s already, to which nothing is added",
                   PTO_FMT(name));
        return PTO_OK;
    }
    number_ops(&h);
    PTO_TRY(choose(&h));
    collect_kept(&h);
    if (h.kept_count == 0) return PTO_OK;
    const pto_op init = pto_op_clone(function, pto_before(function), 0, NULL, NULL);
    PTO_NEED(init);
    pto_str *names = PTO_SCRATCH(run, pto_str, h.kept_count);
    PTO_TRY(pto_op_set_attr(init, PTO_STR("name"), pto_attr_make_str(run, name)));
    for (uint32_t i = 0; i < h.kept_count; i++) names[i] = pto_value_name(h.kept[i]);
    PTO_TRY(make_init(&h, init, names));
    PTO_TRY(take_kept(&h, names));
    pto_attr *texts = PTO_SCRATCH(run, pto_attr, h.kept_count);
    for (uint32_t i = 0; i < h.kept_count; i++) texts[i] = pto_attr_make_str(run, names[i]);
    return pto_op_set_attr(init, PTO_STR("outputs"), pto_attr_make_list(run, h.kept_count, texts));
}

/* Whether it computes constants of another function itself. */
static int is_init(pto_op function)
{
    const pto_str name = pto_function_name(function), end = PTO_STR(".init");
    return name.n > end.n && pto_str_same(pto_str_make(name.p + name.n - end.n, end.n), end);
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    called_functions called = {0};
    (void)unit;
    PTO_EACH_OP(pto_module_top(run), function) {
        if (!PTO_IS(function, FUNC) || is_init(function)) continue;
        PTO_TRY(pto_go_on(run));
        PTO_TRY(hoist(run, function, &called));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.hoist-const",
    .summary = "Compute once what depends on constants alone",
    .scope = "module",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.hoist-const", "pass:pto.hoist-const", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
