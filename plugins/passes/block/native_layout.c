/* pto.native-layout: weights that products read are packed into panels once, by @f.init, and not in each run.
 *
 *     %c = tile.contract %z, %a[..], %w[0, 512 * %j] depth(256)      in a kernel that %w of @f is given to, a constant
 *
 *     =>  block.kernel @f.init_w_panels ..                            copies 16 columns after the other
 *         func @f.init(const %w: .., out %w_panels: gm<.. x 256 x 16 x f32>) {outputs = ["w_panels"]}
 *         %c = tile.contract %z, %a[..], %w[32 * %j, 0, 0] depth(256) {panels = 16}    which is given %w_panels
 *
 * A panel has as many columns as kernels of products multiply at a time. Some rows take longer to pack what they
 * multiply than to multiply it, and many rows hide it. Few rows need no packing, but read memory faster from its begin
 * to its end, which machines with vectors of 64 bytes have kernels for, also for elements of 16 and 8 bits, and others
 * for two rows of f32 and more. More rows of such elements, and rows whose number the run alone knows, take what
 * backends pack for them, once while constants stay the same. A weight is packed where that spares its product at least
 * `gain` of its time, which takes as much memory again. The decision `layout` of a product, the first that reads a
 * weight, says `panels` or `as-is`.
 *
 * A weight stays where something else than such products reads it in the kernel, where a kernel is launched with other
 * memory in its place, where blocks of columns do not begin with a panel, or where a function has an @f.init already.
 * Exact.
 *
 * Requires kernels of tiles as values (pto.outline) whose products read windows (pto.bind-products). Leaves such
 * kernels. */
#include <pto/plugin.h>

#define KINDS(X)              \
    X(FUNC, "func")           \
    X(RETURN, "return")       \
    X(KERNEL, "block.kernel") \
    X(LAUNCH, "block.launch") \
    X(FOR, "for")             \
    X(YIELD, "yield")         \
    X(CONSTANT, "constant")   \
    X(FILL, "tile.fill")      \
    X(LOAD, "tile.load")      \
    X(STORE, "tile.store")    \
    X(CONTRACT, "tile.contract")
PTO_KINDS(KINDS);

#define STATS(X) X(PACKED, "packed") X(LEFT, "left")
PTO_STATS(STATS);

#define OPTIONS(X)                                                                                                   \
    X(GAIN, F64, "gain", .def = "0.02", .min = "0",                                                                  \
      .doc = "the least share of the time of its products that a weight is packed for; 1 and more: none is",         \
      .example = "with: { gain: 0.1 }")                                                                              \
    X(COLUMNS, I64, "columns", .def = "0", .min = "0", .max = "256",                                                 \
      .doc =                                                                                                         \
          "columns of a panel, a multiple of 16; 0: a vector of elements, two of sums, and 16 at least; kernels of " \
          "another width take panels too, and longer",                                                               \
      .example = "with: { columns: 32 }")
PTO_OPTIONS(OPTIONS);

enum {
    PACK_ROWS = 12, /* packing an element takes the time of so many products of f32 with it */
    FEW_ROWS = 4,   /* need no panels: memory is what takes their time */
    WIDE_VECTOR_BYTES = 64,
    LOAD_ROWS = 256, /* of a panel that are copied at a time */
    COLUMNS_LEAST = 16,
    SYMBOLS_MAX = 16
};
static const char *const layout_words[] = {"as-is", "panels", NULL};
enum { AS_IS, PANELS };

/* A weight of a function, and the launches that read it. */
typedef struct weight {
    const pto_run *run;
    pto_op function;
    pto_value value;
    int64_t width;
    uint32_t use_count;
    pto_op first; /* the first product that reads it */
    double rows;  /* of all its products, the most */
    int turns;    /* it is (n, k) */
} weight;

/* ---- what reads it ---- */

static pto_op kernel_of(pto_op launch)
{
    return pto_symbol_find(launch.run, pto_attr_str_of(launch, PTO_STR("callee")));
}

/* The parameter of its kernel that an operand of a launch is. */
static pto_value parameter_of(pto_op launch, uint32_t operand)
{
    const pto_op kernel = kernel_of(launch);
    return pto_block_arg(pto_body(kernel), pto_attr_count(pto_op_attr(kernel, PTO_STR("grid"))) + operand);
}

static int is_product_with(pto_op op, uint32_t slot) { return PTO_IS(op, CONTRACT) && slot == 2; }

/* The products that read it, in any kernel. */
static void find_products(weight *w)
{
    PTO_EACH_USE(w->value, given) {
        if (!PTO_IS(given.op, LAUNCH)) continue;
        PTO_EACH_USE(parameter_of(given.op, given.slot), use) {
            pto_expr valid[2];
            if (!is_product_with(use.op, use.slot)) continue;
            if (w->use_count++ == 0) {
                w->first = use.op;
                w->turns = pto_attr_bool_of(use.op, PTO_STR("transpose_right"), 0);
            }
            if (pto_value_valid(pto_op_result(use.op, 0), valid) != PTO_OK) continue;
            const double rows = (double)pto_expr_range(valid[0], use.op, NULL).hi;
            if (rows > w->rows) w->rows = rows;
        }
    }
}

static const char *check_product(const weight *w, pto_op product, uint32_t slot)
{
    int64_t rest = 1;
    if (!is_product_with(product, slot)) return "something else than a product reads it";
    if (pto_attr_int_of(product, PTO_STR("panels"), 0) != 0) return "it is in panels";
    if (pto_attr_bool_of(product, PTO_STR("transpose_right"), 0) != w->turns) return "products read it both ways";
    const pto_expr column = pto_expr_of(product, PTO_STR("right"), w->turns ? 0 : 1);
    if (!pto_expr_is_const(pto_expr_mod(column, pto_expr_const(w->run, w->width)), &rest) || rest != 0)
        return "a block of columns does not begin with a panel";
    return NULL;
}

/* Whether another parameter of the kernel has the symbol as an extent, if it is one. */
static int is_bound_elsewhere(pto_op kernel, pto_value parameter, pto_expr extent)
{
    const pto_block body = pto_body(kernel);
    if (pto_expr_kind_of(extent) != PTO_EXPR_SYMBOL) return pto_expr_kind_of(extent) == PTO_EXPR_CONST;
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_type type = pto_value_type(pto_block_arg(body, i));
        if (pto_value_same(pto_block_arg(body, i), parameter) || pto_type_kind_of(type) != PTO_TYPE_GM) continue;
        for (uint32_t d = 0; d < pto_type_rank(type); d++)
            if (pto_expr_equal(pto_type_dim(type, d), extent)) return 1;
    }
    return 0;
}

/* Another launch of the kernel has the weight in the same place, too. */
static int is_given_everywhere(const weight *w, pto_op kernel, uint32_t operand)
{
    const pto_op all = pto_op_none(w->run);
    PTO_WALK(all, op)
    {
        if (PTO_IS(op, LAUNCH) && pto_op_same(kernel_of(op), kernel) &&
            !pto_value_same(pto_op_operand(op, operand), w->value))
            return 0;
    }
    return 1;
}

static const char *check_launch(const weight *w, pto_op launch, uint32_t operand)
{
    const pto_op kernel = kernel_of(launch);
    const pto_value parameter = parameter_of(launch, operand);
    const pto_type type = pto_value_type(parameter);
    if (pto_value_use_count(parameter) == 0) return "something else than a product reads it";
    if (!is_given_everywhere(w, kernel, operand)) return "its kernel is launched with other memory, too";
    for (uint32_t d = 0; d < 2; d++)
        if (!is_bound_elsewhere(kernel, parameter, pto_type_dim(type, d)))
            return "it alone says in a kernel what one of its extents is";
    PTO_EACH_USE(parameter, use) {
        const char *why = check_product(w, use.op, use.slot);
        if (why != NULL) return why;
    }
    return NULL;
}

/* Whether a launch has an earlier operand that is the same memory. */
static int is_given_twice(pto_op launch, uint32_t operand)
{
    for (uint32_t i = 0; i < pto_op_operand_count(launch); i++)
        if (i != operand && pto_value_same(pto_op_operand(launch, i), pto_op_operand(launch, operand))) return 1;
    return 0;
}

/* Why it stays; NULL: it can be packed. */
static const char *check_weight(const weight *w)
{
    PTO_EACH_USE(w->value, use) {
        if (!PTO_IS(use.op, LAUNCH) || is_given_twice(use.op, use.slot))
            return "something else than a product reads it";
        const char *why = check_launch(w, use.op, use.slot);
        if (why != NULL) return why;
    }
    return NULL;
}

/* ---- the decision ---- */

static pto_dtype dtype_of(const weight *w) { return pto_type_dtype(pto_value_type(w->value)); }

/* The most rows that read panels of narrow elements faster than what is packed for products of many rows. */
static int64_t narrow_rows(pto_dtype type)
{
    enum { HALVES = 8, BF16_PAIRS = 16, BYTES = 6 };
    return type == PTO_F16 ? HALVES : type == PTO_BF16 ? BF16_PAIRS : BYTES;
}

static int is_narrow(const weight *w) { return pto_dtype_bytes(dtype_of(w)) < (int64_t)sizeof(float); }

static int is_wide(const weight *w)
{
    return pto_machine_i64_or(w->run, 0, "vector.repeat-bytes") >= WIDE_VECTOR_BYTES;
}

/* Whether it has kernels for panels, but not for so many rows. */
static int has_too_many_rows(const weight *w)
{
    return is_narrow(w) && is_wide(w) && w->rows > (double)narrow_rows(dtype_of(w));
}

/* What few rows spare that read lines in their order, measured where caches and memory were fast and slow: least with
 * elements of f32, of which as many bytes are read with fewer lines. */
static const double in_order_f32 = 0.1, in_order_narrow = 0.2;

/* The share of the time of its products that panels spare. */
static double gain_of(const weight *w)
{
    const double pack_rows = (double)PACK_ROWS * sizeof(float) / (double)pto_dtype_bytes(dtype_of(w));
    if ((is_narrow(w) && !is_wide(w)) || has_too_many_rows(w)) return 0;
    if (w->rows > (double)FEW_ROWS) return pack_rows / (pack_rows + w->rows);
    if (!is_wide(w) && w->rows < 2) return 0;
    return is_narrow(w) ? in_order_narrow : in_order_f32;
}

/* What they spare is, and of what. */
static const char *reason_of(const weight *w)
{
    return w->rows > (double)FEW_ROWS ? "packing it in each run" : "reading it out of order";
}

static pto_status decide(const weight *w, const char *obstacle, int64_t *layout)
{
    const int64_t least = AS_IS, most = obstacle != NULL ? AS_IS : PANELS;
    const pto_decision d = {.struct_size = sizeof d,
                            .count = 1,
                            .name = "layout",
                            .words = layout_words,
                            .min = &least,
                            .max = &most,
                            .limit = obstacle};
    *layout = obstacle == NULL && gain_of(w) >= pto_opt_f64(w->run, OPT_GAIN) ? PANELS : AS_IS;
    PTO_TRY(pto_decision_pinned(w->first, &d, layout));
    PTO_TRY(pto_decision_made(w->first, &d, layout));
    const pto_str name = pto_value_name(w->value);
    if (*layout == PANELS)
        pto_remark(
            w->first, "pto.native-layout/packed",
            "reads %%%.*s in panels of %lld columns, which @f.init packs: %s is %.0f %% of the time of a product of "
            "%.0f rows; the panels take as many bytes again as the weight",
            PTO_FMT(name), (long long)w->width, reason_of(w), 100 * gain_of(w), w->rows);
    else if (obstacle != NULL)
        pto_remark(w->first, "pto.native-layout/left", "reads %%%.*s as it lies: %s", PTO_FMT(name), obstacle);
    else if (has_too_many_rows(w))
        pto_remark(w->first, "pto.native-layout/left",
                   "reads %%%.*s as it lies: a product of up to %.0f rows is faster when its backend packs it for the "
                   "number of them in the run; panels are for %lld rows at most",
                   PTO_FMT(name), w->rows, (long long)narrow_rows(dtype_of(w)));
    else
        pto_remark(w->first, "pto.native-layout/left",
                   "reads %%%.*s as it lies: %s is %.0f %% of the time of a product of %.0f rows", PTO_FMT(name),
                   reason_of(w), 100 * gain_of(w), w->rows);
    pto_stat_add(w->run, *layout == PANELS ? STAT_PACKED : STAT_LEFT, 1);
    return PTO_OK;
}

/* ---- panels ---- */

/* The panels of a matrix (k, n), or (n, k) where it turns. */
static pto_type panels_type(const weight *w, pto_type type)
{
    const pto_expr n = pto_type_dim(type, w->turns ? 0 : 1), k = pto_type_dim(type, w->turns ? 1 : 0),
                   width = pto_expr_const(w->run, w->width), dims[3] = {pto_expr_ceildiv(n, width), k, width};
    return pto_type_gm(w->run, dtype_of(w), 3, dims);
}

/* The products of a kernel read panels in the place of the weight. */
static pto_status turn_kernel(const weight *w, pto_value parameter)
{
    const pto_expr zero = pto_expr_const(w->run, 0), width = pto_expr_const(w->run, w->width);
    PTO_TRY(pto_value_set_type(parameter, panels_type(w, pto_value_type(parameter))));
    PTO_EACH_USE(parameter, use) {
        const pto_expr column = pto_expr_of(use.op, PTO_STR("right"), w->turns ? 0 : 1),
                       row = pto_expr_of(use.op, PTO_STR("right"), w->turns ? 1 : 0),
                       at[3] = {pto_expr_floordiv(column, width), row, zero};
        PTO_TRY(pto_op_set_attr(use.op, PTO_STR("right"), pto_attr_make_exprs(w->run, 3, at)));
        PTO_TRY(pto_op_set_attr(use.op, PTO_STR("panels"), pto_attr_make_i64(w->run, w->width)));
        if (w->turns) PTO_TRY(pto_op_set_attr(use.op, PTO_STR("transpose_right"), pto_attr_none(w->run)));
    }
    return PTO_OK;
}

/* Regions of a kernel: all of each parameter. */
static pto_attr region(const pto_run *run, int64_t parameter)
{
    const pto_attr index = pto_attr_make_i64(run, parameter), all = pto_attr_make_list(run, 1, &index);
    return pto_attr_make_list(run, 1, &all);
}

/* An op without operands at the end of a block. */
static pto_status end_with(const weight *w, uint32_t kind, pto_block block)
{
    pto_spec s = pto_spec_make(w->run, pto_kind(w->run, kind));
    pto_spec_loc(&s, pto_op_loc(w->first));
    PTO_NEED(pto_spec_build(&s, pto_at_end(block)));
    return PTO_OK;
}

/* Of rows of a panel: the tile, and where it goes. */
typedef struct piece {
    pto_type type;
    pto_block body;
    pto_value to;
    pto_expr ends[3];
} piece;

static pto_status write_store(const weight *w, const piece *p, pto_value tile)
{
    pto_spec s = pto_spec_make(w->run, pto_kind(w->run, KIND_STORE));
    pto_spec_operand(&s, tile);
    pto_spec_operand(&s, p->to);
    pto_spec_exprs(&s, PTO_STR("offsets"), 3, p->ends);
    pto_spec_loc(&s, pto_op_loc(w->first));
    PTO_NEED(pto_spec_build(&s, pto_at_end(p->body)));
    return PTO_OK;
}

/* The columns that a panel has beyond those of the matrix are 0: all are, to begin with. */
static pto_status write_zeros(const weight *w, const piece *p, pto_expr rows)
{
    const pto_expr valid[2] = {rows, pto_expr_const(w->run, w->width)};
    pto_spec zero = pto_spec_make(w->run, pto_kind(w->run, KIND_CONSTANT));
    if (pto_dtype_is_float(dtype_of(w)))
        pto_spec_float(&zero, PTO_STR("value"), 0);
    else
        pto_spec_int(&zero, PTO_STR("value"), 0);
    pto_spec_result(&zero, pto_type_scalar(w->run, dtype_of(w)));
    pto_spec_loc(&zero, pto_op_loc(w->first));
    const pto_value number = pto_spec_value(&zero, pto_at_end(p->body));
    PTO_NEED(number);
    pto_spec s = pto_spec_make(w->run, pto_kind(w->run, KIND_FILL));
    pto_spec_operand(&s, number);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    pto_spec_result(&s, p->type);
    pto_spec_loc(&s, pto_op_loc(w->first));
    pto_spec_name(&s, PTO_STR("z"));
    const pto_value zeros = pto_spec_value(&s, pto_at_end(p->body));
    PTO_NEED(zeros);
    return write_store(w, p, zeros);
}

/* Some rows of a panel: `panel` and `part` count panels, and parts of one. */
static pto_status write_copy(const weight *w, pto_block body, pto_block kernel, pto_expr panel, pto_expr part)
{
    const pto_value from = pto_block_arg(kernel, 1), to = pto_block_arg(kernel, 2);
    const pto_expr k = pto_type_dim(pto_value_type(to), 1), n = pto_type_dim(pto_value_type(from), w->turns ? 0 : 1),
                   row = pto_expr_scale(part, LOAD_ROWS), column = pto_expr_scale(panel, w->width),
                   size[2] = {pto_expr_min(pto_expr_const(w->run, LOAD_ROWS), pto_expr_sub(k, row)),
                              pto_expr_min(pto_expr_const(w->run, w->width), pto_expr_sub(n, column))},
                   starts[2] = {w->turns ? column : row, w->turns ? row : column};
    const piece p = {.type = pto_type_tile(w->run, dtype_of(w), LOAD_ROWS, w->width,
                                           pto_space_of_role(w->run, PTO_ROLE_SCRATCHPAD),
                                           pto_layout_of_order(w->run, PTO_ORDER_ROW)),
                     .body = body,
                     .to = to,
                     .ends = {panel, row, pto_expr_const(w->run, 0)}};
    int64_t columns = 0;
    if (!pto_expr_is_const(n, &columns) || columns % w->width != 0) PTO_TRY(write_zeros(w, &p, size[0]));
    pto_spec load = pto_spec_make(w->run, pto_kind(w->run, KIND_LOAD));
    pto_spec_operand(&load, from);
    pto_spec_exprs(&load, PTO_STR("offsets"), 2, starts);
    pto_spec_exprs(&load, PTO_STR("sizes"), 2, size);
    if (w->turns) pto_spec_bool(&load, PTO_STR("transpose"), 1);
    pto_spec_result(&load, p.type);
    pto_spec_loc(&load, pto_op_loc(w->first));
    pto_spec_name(&load, PTO_STR("t"));
    const pto_value tile = pto_spec_value(&load, pto_at_end(body));
    PTO_NEED(tile);
    PTO_TRY(write_store(w, &p, tile));
    return end_with(w, KIND_YIELD, body);
}

/* The loop along k. */
static pto_status write_loop(const weight *w, pto_block kernel)
{
    const pto_expr zero = pto_expr_const(w->run, 0), one = pto_expr_const(w->run, 1),
                   k = pto_type_dim(pto_value_type(pto_block_arg(kernel, 2)), 1),
                   parts = pto_expr_ceildiv(k, pto_expr_const(w->run, LOAD_ROWS));
    pto_spec s = pto_spec_make(w->run, pto_kind(w->run, KIND_FOR));
    pto_spec_exprs(&s, PTO_STR("from"), 1, &zero);
    pto_spec_exprs(&s, PTO_STR("to"), 1, &parts);
    pto_spec_exprs(&s, PTO_STR("step"), 1, &one);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(w->first));
    const pto_op loop = pto_spec_build(&s, pto_at_end(kernel));
    PTO_NEED(loop);
    const pto_value part = pto_block_add_arg(pto_body(loop), pto_type_scalar(w->run, PTO_INDEX), PTO_STR("p"));
    PTO_NEED(part);
    PTO_TRY(write_copy(w, pto_body(loop), kernel, pto_expr_value(pto_block_arg(kernel, 0)), pto_expr_value(part)));
    return end_with(w, KIND_RETURN, kernel);
}

static pto_attr words(const pto_run *run, uint32_t count, const char *const *list)
{
    pto_attr items[2];
    for (uint32_t i = 0; i < count; i++) items[i] = pto_attr_make_str(run, pto_s(list[i]));
    return pto_attr_make_list(run, count, items);
}

/* A kernel whose instances copy a panel each. */
static pto_status write_kernel(const weight *w, pto_op init, pto_str name, pto_type panels)
{
    static const char *const modes[] = {"in", "out"};
    const pto_run *run = w->run;
    const pto_attr grid = pto_attr_make_expr(run, pto_type_dim(panels, 0));
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_KERNEL));
    pto_spec_str(&s, PTO_STR("name"), name);
    pto_spec_str(&s, PTO_STR("core"), PTO_STR("any"));
    pto_spec_attr(&s, PTO_STR("grid"), pto_attr_make_list(run, 1, &grid));
    pto_spec_attr(&s, PTO_STR("params"), words(run, 2, modes));
    pto_spec_attr(&s, PTO_STR("reads"), region(run, 0));
    pto_spec_attr(&s, PTO_STR("writes"), region(run, 1));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(w->first));
    const pto_op kernel = pto_spec_build(&s, pto_before(init));
    PTO_NEED(kernel);
    const pto_block body = pto_body(kernel);
    PTO_NEED(pto_block_add_arg(body, pto_type_scalar(run, PTO_INDEX), PTO_STR("panel")));
    PTO_NEED(pto_block_add_arg(body, pto_value_type(w->value), PTO_STR("w")));
    PTO_NEED(pto_block_add_arg(body, panels, PTO_STR("to")));
    return write_loop(w, body);
}

/* ---- @f.init ---- */

static pto_str init_name(pto_op function)
{
    return pto_str_join(function.run, pto_function_name(function), PTO_STR(".init"));
}

static pto_op make_init(const pto_run *run, pto_op function)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FUNC));
    pto_spec_str(&s, PTO_STR("name"), init_name(function));
    pto_spec_attr(&s, PTO_STR("params"), pto_attr_make_list(run, 0, NULL));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(function));
    const pto_op init = pto_spec_build(&s, pto_before(function));
    if (!PTO_SOME(init)) return init;
    pto_spec end = pto_spec_make(run, pto_kind(run, KIND_RETURN));
    pto_spec_loc(&end, pto_op_loc(function));
    return PTO_SOME(pto_spec_build(&end, pto_at_end(pto_body(init)))) ? init : pto_op_none(run);
}

static int is_mode(pto_op function, uint32_t i, const char *mode)
{
    return pto_str_is(pto_attr_str(pto_attr_item(pto_op_attr(function, PTO_STR("params")), i, NULL)), mode);
}

/* A parameter before those that are results. Returns it; none after a diagnostic. */
static pto_value add_const(pto_op function, pto_type type, pto_str name)
{
    const pto_run *run = function.run;
    const pto_block body = pto_body(function);
    const pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    const uint32_t count = pto_block_arg_count(body);
    const pto_value none = pto_value_none(run);
    uint32_t first = count;
    while (first > 0 && is_mode(function, first - 1, "out")) first--;
    pto_attr *all = PTO_SCRATCH(run, pto_attr, count + 1);
    for (uint32_t i = 0; i < count; i++) all[i < first ? i : i + 1] = pto_attr_item(modes, i, NULL);
    all[first] = pto_attr_make_str(run, PTO_STR("const"));
    const pto_value added = pto_block_add_arg(body, type, name);
    for (uint32_t i = first; i < count && PTO_SOME(added); i++) {
        const pto_value old = pto_block_arg(body, first);
        const pto_str kept = pto_str_join(run, pto_value_name(old), pto_no_str());
        const pto_value moved = pto_block_add_arg(body, pto_value_type(old), pto_no_str());
        if (!PTO_SOME(moved) || pto_value_replace(old, moved) != PTO_OK || pto_block_erase_arg(body, first) != PTO_OK ||
            pto_value_set_name(moved, kept) != PTO_OK)
            return none;
    }
    /* Each result is after the new one now, in order. */
    return pto_op_set_attr(function, PTO_STR("params"), pto_attr_make_list(run, count + 1, all)) == PTO_OK
               ? pto_block_arg(body, first)
               : none;
}

/* A result after the others, by the name of the parameter that it is. */
static pto_value add_result(pto_op init, pto_type type, pto_str name)
{
    const pto_run *run = init.run;
    const pto_attr modes = pto_op_attr(init, PTO_STR("params")), names = pto_op_attr(init, PTO_STR("outputs"));
    const uint32_t count = pto_block_arg_count(pto_body(init)), named = PTO_SOME(names) ? pto_attr_count(names) : 0;
    pto_attr *all = PTO_SCRATCH(run, pto_attr, count + 1), *texts = PTO_SCRATCH(run, pto_attr, named + 1);
    for (uint32_t i = 0; i < count; i++) all[i] = pto_attr_item(modes, i, NULL);
    for (uint32_t i = 0; i < named; i++) texts[i] = pto_attr_item(names, i, NULL);
    all[count] = pto_attr_make_str(run, PTO_STR("out"));
    texts[named] = pto_attr_make_str(run, name);
    const pto_value added = pto_block_add_arg(pto_body(init), type, name);
    if (!PTO_SOME(added)) return added;
    const pto_status modes_set = pto_op_set_attr(init, PTO_STR("params"), pto_attr_make_list(run, count + 1, all)),
                     names_set = pto_op_set_attr(init, PTO_STR("outputs"), pto_attr_make_list(run, named + 1, texts));
    return modes_set == PTO_OK && names_set == PTO_OK ? added : pto_value_none(run);
}

/* @f.init packs the weight, and @f and its kernels have panels in its place. */
static pto_status pack(const weight *w, pto_op init)
{
    const pto_type panels = panels_type(w, pto_value_type(w->value));
    const pto_str name = pto_str_join(w->run, pto_value_name(w->value), PTO_STR("_panels"));
    const pto_value packed = add_const(w->function, panels, name);
    PTO_NEED(packed);
    const pto_value from =
        add_const(init, pto_value_type(w->value), pto_str_join(w->run, pto_value_name(w->value), pto_no_str()));
    PTO_NEED(from);
    const pto_value to = add_result(init, panels, pto_value_name(packed));
    PTO_NEED(to);
    const pto_str kernel = pto_str_join(w->run, pto_str_join(w->run, pto_function_name(init), PTO_STR("_")), name);
    PTO_TRY(write_kernel(w, init, kernel, panels));
    pto_spec s = pto_spec_make(w->run, pto_kind(w->run, KIND_LAUNCH));
    pto_spec_operand(&s, from);
    pto_spec_operand(&s, to);
    pto_spec_symbol(&s, PTO_STR("callee"), kernel);
    pto_spec_loc(&s, pto_op_loc(w->first));
    PTO_NEED(pto_spec_build(&s, pto_before(pto_block_terminator(pto_body(init)))));
    while (pto_value_use_count(w->value) != 0) {
        uint32_t slot = 0;
        const pto_op launch = pto_value_use(w->value, 0, &slot);
        const pto_value parameter = parameter_of(launch, slot);
        if (pto_type_rank(pto_value_type(parameter)) == 2) PTO_TRY(turn_kernel(w, parameter));
        PTO_TRY(pto_op_set_operand(launch, slot, packed));
    }
    return PTO_OK;
}

/* ---- the pass ---- */

/* Whether products could read it in panels at all. */
static int is_weight(pto_op function, uint32_t i)
{
    const pto_value v = pto_block_arg(pto_body(function), i);
    const pto_type type = pto_value_type(v);
    return is_mode(function, i, "const") && pto_type_kind_of(type) == PTO_TYPE_GM && pto_type_rank(type) == 2 &&
           pto_value_use_count(v) != 0;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t width_of(const weight *w)
{
    const int64_t asked = pto_opt_i64(w->run, OPT_COLUMNS),
                  vector = pto_machine_i64_or(w->run, 0, "vector.repeat-bytes"),
                  bytes = larger(pto_dtype_bytes(dtype_of(w)), 1), sums = 2 * vector / (int64_t)sizeof(float),
                  elements = vector / bytes;
    if (asked != 0) return asked;
    return larger(larger(sums, elements), COLUMNS_LEAST);
}

static pto_status lay_out(const pto_run *run, pto_op function)
{
    const int has_init = PTO_SOME(pto_symbol_find(run, init_name(function)));
    const pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    pto_op init = pto_op_none(run);
    if (!PTO_SOME(modes) || pto_attr_count(modes) != pto_block_arg_count(pto_body(function))) return PTO_OK;
    for (uint32_t i = 0; i < pto_block_arg_count(pto_body(function)); i++) {
        int64_t layout;
        weight w = {.run = run, .function = function, .value = pto_block_arg(pto_body(function), i)};
        if (!is_weight(function, i)) continue;
        w.width = width_of(&w);
        find_products(&w);
        if (w.use_count == 0) continue;
        const char *obstacle = check_weight(&w);
        if (obstacle == NULL && has_init) obstacle = "there is an @f.init already, to which nothing is added";
        if (obstacle == NULL && PTO_SOME(pto_op_attr(function, PTO_STR("aliases"))))
            obstacle = "results of the function may lie in the memory of parameters";
        PTO_TRY(decide(&w, obstacle, &layout));
        if (layout != PANELS) continue;
        if (!PTO_SOME(init)) init = make_init(run, function);
        PTO_NEED(init);
        PTO_TRY(pack(&w, init));
    }
    return PTO_OK;
}

static int is_init(pto_op function)
{
    const pto_str name = pto_function_name(function), end = PTO_STR(".init");
    return name.n > end.n && pto_str_same(pto_str_make(name.p + name.n - end.n, end.n), end);
}

static pto_status check_columns(const pto_run *run)
{
    const int64_t asked = pto_opt_i64(run, OPT_COLUMNS), next = pto_round_up(asked, COLUMNS_LEAST);
    if (asked == next) return PTO_OK;
    return pto_error_at(run, pto_loc_none(run), "pto.native-layout/columns",
                        "option `columns` is %lld, and panels have a multiple of %d columns; the next one is %lld",
                        (long long)asked, COLUMNS_LEAST, (long long)next);
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    (void)unit;
    PTO_TRY(check_columns(run));
    PTO_EACH_OP(pto_module_top(run), function) {
        if (!PTO_IS(function, FUNC) || is_init(function) ||
            pto_str_is(pto_attr_str_of(function, PTO_STR("visibility")), "private"))
            continue;
        PTO_TRY(pto_go_on(run));
        PTO_TRY(lay_out(run, function));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.native-layout",
    .summary = "Pack weights that products read into panels, once",
    .scope = "module",
    .consumes = "block/1",
    .produces = "block/1",
    .requires_props = PTO_STRS("pto.products-bound"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.native-layout", "pass:pto.native-layout", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
