/* pto.bind-products: products of tiles in kernels for CPUs become products of windows of memory, over all of k at once.
 *
 *     %z = tile.zero_acc ..                                    %z = tile.zero_acc ..
 *     %c = for %k to ceildiv($K, 16) carry(%s = %z) {          %c = tile.contract %z, %a[%i, 0], %b[0, %j] depth($K)
 *       %ta = tile.load %a[%i, 16 * %k] size(..)
 *       %tb = tile.load %b[16 * %k, %j] size(..)          =>
 *       %la = tile.move %ta
 *       %rb = tile.move %tb
 *       %p = tile.matmul_acc %s, %la, %rb
 *       yield %p
 *     }
 *
 * Loads and moves go: what multiplies reads memory as it is. Where the loop does more than that, or its windows do not
 * follow each other along k, the product inside is bound alone, and a remark says what kept the loop. An operand that
 * the kernel computes stays a tile. Sums keep k ascending. Exact.
 *
 * Requires kernels of tiles as values (pto.outline). Leaves such kernels, with tile.contract in place of tile.matmul
 * and tile.matmul_acc except where nobody has kernels for the element type. */
#include <pto/plugin.h>

#define KINDS(X)                     \
    X(KERNEL, "block.kernel")        \
    X(FOR, "for")                    \
    X(YIELD, "yield")                \
    X(LOAD, "tile.load")             \
    X(STORE, "tile.store")           \
    X(STORE_FP, "tile.store_fp")     \
    X(MOVE, "tile.move")             \
    X(ZERO_ACC, "tile.zero_acc")     \
    X(MATMUL, "tile.matmul")         \
    X(MATMUL_ACC, "tile.matmul_acc") \
    X(CONTRACT, "tile.contract")
PTO_KINDS(KINDS);

#define STATS(X)                                   \
    X(WHOLE, "products over all of k")             \
    X(PART, "products of one iteration of a loop") \
    X(LEFT, "products left as they were")
PTO_STATS(STATS);

/* Left or right of a product: a window of memory, or a tile. */
typedef struct operand {
    pto_value from;
    pto_op load; /* none: `from` is a tile */
    pto_expr offsets[PTO_MAX_DIMS];
    uint32_t rank, along_k; /* along_k: the dim of `from` that k is; rank where it has none */
    int transposes;
} operand;

typedef struct product {
    const pto_run *run;
    pto_op op, loop; /* loop: that which sums, when all of it can go; else none */
    operand left, right;
    pto_expr depth;
    const char *obstacle; /* why the loop stays; NULL: there is none, or it goes */
} product;

/* ---- operands ---- */

static int is_stored_to(pto_value memory)
{
    for (uint32_t i = 0; i < pto_value_use_count(memory); i++) {
        const pto_op user = pto_value_use(memory, i, NULL);
        if (PTO_IS(user, STORE) || PTO_IS(user, STORE_FP)) return 1;
    }
    return 0;
}

/* Spaces and layouts are all one to what multiplies. */
static int is_plain_move(pto_op op)
{
    return PTO_IS(op, MOVE) && pto_type_dtype(pto_value_type(pto_op_operand(op, 0))) ==
                                   pto_type_dtype(pto_value_type(pto_op_result(op, 0)));
}

static operand operand_of(pto_value tile, int is_right)
{
    pto_op def = pto_value_op(tile);
    for (; PTO_SOME(def) && is_plain_move(def); def = pto_value_op(tile)) tile = pto_op_operand(def, 0);
    operand o = {.from = tile, .load = pto_op_none(tile.run), .rank = 2};
    const int is_window = PTO_SOME(def) && PTO_IS(def, LOAD) && !PTO_SOME(pto_op_attr(def, PTO_STR("pad"))) &&
                          !is_stored_to(pto_op_operand(def, 0));
    if (is_window) {
        o.from = pto_op_operand(def, 0);
        o.load = def;
        o.rank = pto_type_rank(pto_value_type(o.from));
        o.transposes = pto_attr_bool_of(def, PTO_STR("transpose"), 0);
    }
    for (uint32_t d = 0; d < o.rank; d++)
        o.offsets[d] = is_window ? pto_expr_of(def, PTO_STR("offsets"), d) : pto_expr_const(tile.run, 0);
    const uint32_t from_last = is_right != o.transposes ? 2 : 1;
    o.along_k = from_last <= o.rank ? o.rank - from_last : o.rank;
    return o;
}

/* ---- loops along k ---- */

/* An expression in the iteration with index `at`. */
static pto_expr in_iteration(pto_expr x, pto_value index, pto_expr at)
{
    return pto_expr_substitute(x, 1, &index, &at);
}

static int is_equal(pto_expr a, pto_expr b) { return PTO_SOME(a) && PTO_SOME(b) && pto_expr_equal(a, b); }

/* Whether the windows of an operand follow each other, `step` apart along k, and are the same otherwise. */
static int walks_along_k(const operand *o, pto_value index, pto_expr step)
{
    const pto_expr next = pto_expr_offset(pto_expr_value(index), 1);
    if (!PTO_SOME(o->load) || o->along_k >= o->rank) return 0;
    for (uint32_t d = 0; d < o->rank; d++) {
        const pto_expr there = in_iteration(o->offsets[d], index, next);
        if (!is_equal(there, d == o->along_k ? pto_expr_add(o->offsets[d], step) : o->offsets[d])) return 0;
    }
    return 1;
}

/* The loop does nothing but load, move, multiply and hand over. */
static int does_nothing_else(const product *p)
{
    const pto_block body = pto_body(p->loop);
    PTO_EACH_OP(body, op) {
        if (pto_op_same(op, p->op) || PTO_IS(op, LOAD) || PTO_IS(op, MOVE) || PTO_IS(op, YIELD)) continue;
        return 0;
    }
    return 1;
}

/* All of k that the loop walks, from the depth of an iteration: `step`, or the least of that and of what is left. None
 * when the iterations do not add up. */
static pto_expr depth_of_loop(const product *p, pto_expr depth, pto_value index, pto_expr step)
{
    const pto_expr from = pto_expr_of(p->loop, PTO_STR("from"), 0), to = pto_expr_of(p->loop, PTO_STR("to"), 0);
    const pto_expr trips = pto_expr_sub(to, from);
    if (is_equal(depth, step)) return pto_expr_mul(trips, step);
    if (pto_expr_kind_of(depth) != PTO_EXPR_MIN || pto_expr_arg_count(depth) != 2) return pto_expr_none(p->run);
    const uint32_t which = is_equal(pto_expr_arg(depth, 0), step) ? 1 : 0;
    const pto_expr rest = pto_expr_arg(depth, which), next = pto_expr_offset(pto_expr_value(index), 1);
    const int is_rest = is_equal(pto_expr_arg(depth, 1 - which), step) &&
                        is_equal(pto_expr_sub(rest, step), in_iteration(rest, index, next));
    const pto_expr all = in_iteration(rest, index, from);
    return is_rest && is_equal(trips, pto_expr_ceildiv(all, step)) ? all : pto_expr_none(p->run);
}

/* How far apart windows are along k: what an iteration multiplies when it is not the last one. */
static pto_expr step_of(const product *p, pto_expr depth)
{
    int64_t n = 0;
    if (pto_expr_kind_of(depth) != PTO_EXPR_MIN) return depth;
    for (uint32_t i = 0; i < pto_expr_arg_count(depth); i++)
        if (pto_expr_is_const(pto_expr_arg(depth, i), &n)) return pto_expr_arg(depth, i);
    return pto_expr_none(p->run);
}

static const char *join_loop(product *p)
{
    const pto_block body = pto_body(p->loop);
    const pto_value index = pto_block_arg(body, 0), sums = pto_op_operand(p->op, 0);
    int64_t by = 0;
    if (pto_op_result_count(p->loop) != 1) return "it carries more than the sums";
    if (!pto_value_same(sums, pto_block_arg(body, 1)) ||
        !pto_value_same(pto_op_operand(pto_block_terminator(body), 0), pto_op_result(p->op, 0)))
        return "it does more with the sums than to add to them";
    if (!does_nothing_else(p)) return "it does more than to load and to multiply";
    if (!pto_expr_is_const(pto_expr_of(p->loop, PTO_STR("step"), 0), &by) || by != 1) return "its step is not 1";
    const pto_expr step = step_of(p, p->depth);
    if (!PTO_SOME(step)) return "what it multiplies at a time is not constant";
    if (!walks_along_k(&p->left, index, step) || !walks_along_k(&p->right, index, step))
        return "its windows do not follow each other along k";
    const pto_expr all = depth_of_loop(p, p->depth, index, step);
    if (!PTO_SOME(all)) return "its iterations do not add up to an extent";
    p->depth = pto_expr_range(all, p->loop, NULL).lo >= 0 ? all : pto_expr_max(all, pto_expr_const(p->run, 0));
    const pto_expr from = pto_expr_of(p->loop, PTO_STR("from"), 0);
    operand *const both[] = {&p->left, &p->right};
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t d = both[i]->along_k;
        both[i]->offsets[d] = in_iteration(both[i]->offsets[d], index, from);
    }
    return NULL;
}

/* ---- binding ---- */

static pto_dtype type_of_left(pto_op op)
{
    return pto_type_dtype(pto_value_type(pto_op_operand(op, PTO_IS(op, MATMUL_ACC) ? 1 : 0)));
}

static int has_kernels(pto_dtype t) { return t == PTO_F32 || t == PTO_F16 || t == PTO_BF16 || t == PTO_I8; }

/* Sums that begin at 0, in the type of the result. */
static pto_value zeros(const product *p, pto_place at)
{
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_ZERO_ACC));
    pto_expr valid[2];
    if (pto_value_valid(pto_op_result(p->op, 0), valid) != PTO_OK) return pto_value_none(p->run);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    pto_spec_result(&s, pto_value_type(pto_op_result(p->op, 0)));
    pto_spec_name(&s, PTO_STR("z"));
    return pto_spec_value(&s, at);
}

/* Erases loads and moves that nothing uses any more. */
static pto_status drop(pto_value tile)
{
    pto_op def = pto_value_op(tile);
    while (PTO_SOME(def) && pto_value_use_count(tile) == 0 && (PTO_IS(def, MOVE) || PTO_IS(def, LOAD))) {
        const int is_move = PTO_IS(def, MOVE);
        if (is_move) tile = pto_op_operand(def, 0);
        PTO_TRY(pto_op_erase(def));
        def = is_move ? pto_value_op(tile) : pto_op_none(tile.run);
    }
    return PTO_OK;
}

static pto_status bind(product *p)
{
    const int accumulates = PTO_IS(p->op, MATMUL_ACC);
    const pto_op goes = PTO_SOME(p->loop) ? p->loop : p->op;
    const pto_value tiles[2] = {pto_op_operand(p->op, (uint32_t)accumulates),
                                pto_op_operand(p->op, 1 + (uint32_t)accumulates)};
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_CONTRACT));
    pto_spec_operand(&s, PTO_SOME(p->loop) ? pto_op_operand(p->loop, 0)
                         : accumulates     ? pto_op_operand(p->op, 0)
                                           : zeros(p, pto_before(p->op)));
    pto_spec_operand(&s, p->left.from);
    pto_spec_operand(&s, p->right.from);
    pto_spec_exprs(&s, PTO_STR("left"), p->left.rank, p->left.offsets);
    pto_spec_exprs(&s, PTO_STR("right"), p->right.rank, p->right.offsets);
    pto_spec_exprs(&s, PTO_STR("depth"), 1, &p->depth);
    if (p->left.transposes) pto_spec_bool(&s, PTO_STR("transpose_left"), 1);
    if (p->right.transposes) pto_spec_bool(&s, PTO_STR("transpose_right"), 1);
    pto_spec_result(&s, pto_value_type(pto_op_result(goes, 0)));
    pto_spec_loc(&s, pto_op_loc(p->op));
    pto_spec_name(&s, pto_value_name(pto_op_result(goes, 0)));
    const pto_value sums = pto_spec_value(&s, pto_before(goes));
    PTO_NEED(sums);
    PTO_TRY(pto_op_replace(goes, 1, &sums));
    if (PTO_SOME(p->loop)) return PTO_OK;
    PTO_TRY(drop(tiles[0]));
    return drop(tiles[1]);
}

static pto_status bind_product(const pto_run *run, pto_op op)
{
    const uint32_t first = PTO_IS(op, MATMUL_ACC) ? 1 : 0;
    const pto_value left = pto_op_operand(op, first), right = pto_op_operand(op, first + 1);
    const pto_dtype t = type_of_left(op);
    product p = {.run = run, .op = op, .loop = pto_op_none(run)};
    pto_expr valid[2];
    PTO_TRY(pto_value_valid(left, valid));
    if (!has_kernels(t)) {
        pto_remark(op, "pto.bind-products/type", "stays as it is: there are no kernels for products of %s",
                   pto_dtype_name(t));
        pto_stat_add(run, STAT_LEFT, 1);
        return PTO_OK;
    }
    p.left = operand_of(left, 0);
    p.right = operand_of(right, 1);
    p.depth = valid[1];
    const pto_op around = pto_op_parent(op);
    if (first != 0 && PTO_IS(around, FOR) && pto_op_result_count(around) != 0) {
        p.loop = around;
        p.obstacle = join_loop(&p);
        if (p.obstacle != NULL) p.loop = pto_op_none(run);
    }
    if (p.obstacle != NULL) pto_remark(around, "pto.bind-products/loop", "stays around its product: %s", p.obstacle);
    pto_stat_add(run, PTO_SOME(p.loop) ? STAT_WHOLE : STAT_PART, 1);
    return bind(&p);
}

static int is_product(pto_op op) { return PTO_IS(op, MATMUL) || PTO_IS(op, MATMUL_ACC); }

static pto_status run_kernel(const pto_run *run, pto_op unit)
{
    uint32_t count = 0, n = 0;
    if (!PTO_IS(unit, KERNEL)) return PTO_OK;
    PTO_WALK(unit, op)
    if (is_product(op)) count++;
    pto_op *products = PTO_SCRATCH(run, pto_op, count);
    PTO_WALK(unit, op)
    if (is_product(op)) products[n++] = op;
    for (uint32_t i = 0; i < n; i++) {
        PTO_TRY(pto_go_on(run));
        PTO_TRY(bind_product(run, products[i]));
    }
    return PTO_OK;
}

/* ---- what it leaves ---- */

static pto_status check_bound(const pto_run *run, pto_op unit)
{
    (void)run;
    PTO_WALK(unit, op)
    {
        if (!is_product(op) || !has_kernels(type_of_left(op))) continue;
        const pto_str name = pto_op_name(op);
        return pto_error(op, "pto.bind-products/not-bound",
                         "`%.*s` multiplies tiles, and there are kernels for products of windows of memory",
                         PTO_FMT(name));
    }
    return PTO_OK;
}

static const pto_property property = {
    .struct_size = sizeof property,
    .id = "pto.products-bound",
    .doc = "products that there are kernels for read windows of memory",
    .level = "block/1",
    .kinds = pass_kinds,
    .check = check_bound,
};

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.bind-products",
    .summary = "Make products read windows of memory, over all of k at once",
    .scope = "function",
    .consumes = "block/1",
    .produces = "block/1",
    .establishes = PTO_STRS("pto.products-bound"),
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_kernel,
};
PTO_PLUGIN("pto.bind-products", "pass:pto.bind-products property:pto.products-bound", "pto.products-bound",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &property));
