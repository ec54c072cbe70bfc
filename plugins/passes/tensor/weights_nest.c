/* pto.weights-nest: products with weights of 4 bits become one nest each, which reads the weights as they lie, on a
 * machine of which one kind of core has matrix and vector units.
 *
 *     %q = tensor.unpack %b                                   %c = call @f_weights(%a, %b, %s)
 *     %w = tensor.dequantize %q, %s {axis = 0, block = 32}
 *     %c = tensor.matmul %a, %w                         =>    func private @f_weights(%a: gm<..>, .., out %c: gm<..>) {
 *                                                               forall "f_weights" (%i, %j) to (..) {
 *                                                                 %z = tile.zero_acc valid(..)
 *                                                                 %t = tile.contract_weights %z, %a[..], %b, %s ..
 *                                                                 tile.store %t, %c[..]
 *                                                               }
 *                                                             }
 *
 * What the weights stand for is never in memory as a whole. Each element of it is rounded as tensor.dequantize rounds
 * it; sums keep k ascending, in f32.
 *
 * Requires tensor ops, of any form, before pto.decompose-quantize takes them apart. Leaves calls of functions of nests
 * in the place of products of f32 with such weights; a remark says why another one stays. On other machines it changes
 * nothing. The decision `weights` of a product is its form, `weights-blocks` what an instance computes. */
#include "machine_types.h"
#include "nest_function.h"

#define KINDS(X)                         \
    X(MATMUL, "tensor.matmul")           \
    X(UNPACK, "tensor.unpack")           \
    X(DEQUANTIZE, "tensor.dequantize")   \
    X(FUNC, "func")                      \
    X(CALL, "call")                      \
    X(RETURN, "return")                  \
    X(FORALL, "forall")                  \
    X(YIELD, "yield")                    \
    X(ZERO_ACC, "tile.zero_acc")         \
    X(CONTRACT, "tile.contract_weights") \
    X(STORE, "tile.store")
PTO_KINDS(KINDS);

#define STATS(X) X(MADE, "made") X(LEFT, "left")
PTO_STATS(STATS);

#define OPTIONS(X)                                                                                         \
    X(ROWS, I64, "rows", .def = "512", .min = "1", .max = "1024", .doc = "rows that an instance computes", \
      .example = "with: { rows: 256 }")                                                                    \
    X(COLUMNS, I64, "columns", .def = "1024", .min = "16", .max = "4096",                                  \
      .doc = "columns that an instance computes; it unpacks them once", .example = "with: { columns: 512 }")
PTO_OPTIONS(OPTIONS);

static const char *const form_words[] = {"apart", "in-product", NULL};
enum { FORM_APART, FORM_IN_PRODUCT };
enum { BLOCK_ROWS, BLOCK_COLUMNS, BLOCK_DIMS, ROWS_MAX = 1024, COLUMNS_MAX = 4096, EXTENT_MAX = INT32_MAX };
static const char *const block_keys[BLOCK_DIMS] = {"rows", "columns"};

/* A product with weights. */
typedef struct product {
    const pto_run *run;
    pto_op op, dequantize, unpack;
    pto_value left, bytes, scales;
    int turns_left, turns_right;
    int64_t block;
    int64_t blocks[BLOCK_DIMS];
} product;

/* ---- what a nest can be made of ---- */

static int is_f32_matrix(pto_value v)
{
    const pto_type type = pto_value_type(v);
    return pto_type_dtype(type) == PTO_F32 && pto_type_rank(type) == 2;
}

/* Scales: one for each column, and along k one for each block, or for all of it. */
static const char *read_scales(product *p)
{
    const pto_type type = pto_value_type(pto_op_operand(p->dequantize, 0)), scales = pto_value_type(p->scales);
    const uint32_t along_k = p->turns_right ? 1 : 0, along_n = 1 - along_k;
    const int64_t axis = pto_attr_int_of(p->dequantize, PTO_STR("axis"), -1);
    p->block = pto_attr_int_of(p->dequantize, PTO_STR("block"), 0);
    if (pto_type_dtype(scales) != PTO_F32 || pto_type_rank(scales) != 2 ||
        !pto_expr_equal(pto_type_dim(scales, along_n), pto_type_dim(type, along_n)))
        return "its scales are not f32, or not one for each column";
    if (p->block != 0) return (uint32_t)(axis < 0 ? axis + 2 : axis) == along_k ? NULL : "its blocks are not along k";
    int64_t n = 0;
    p->block = EXTENT_MAX;
    return pto_expr_is_const(pto_type_dim(scales, along_k), &n) && n == 1 ? NULL : "each weight has a scale of its own";
}

/* Reads a product whose right side is dequantised. Returns why it stays, or NULL; then `*p` is complete. */
static const char *read_product(pto_op op, product *p)
{
    const pto_op none = pto_op_none(op.run);
    const pto_value wide = pto_op_operand(p->dequantize, 0);
    p->unpack = PTO_SOME(pto_value_op(wide)) && PTO_IS(pto_value_op(wide), UNPACK) ? pto_value_op(wide) : none;
    if (!PTO_SOME(p->unpack)) return "its weights are not halves of bytes";
    if (pto_type_dtype(pto_value_type(wide)) != PTO_I8) return "its weights are numbers without sign";
    if (pto_op_operand_count(p->dequantize) > 2) return "its weights have a zero point";
    if (pto_op_operand_count(op) > 2 || !pto_str_is(pto_attr_str_of(op, PTO_STR("activation")), "none"))
        return "it has a bias, a scale or an activation of its own";
    if (pto_tree_of(op) != 0) return "its sum is a tree";
    p->left = pto_op_operand(op, 0);
    p->bytes = pto_op_operand(p->unpack, 0);
    p->scales = pto_op_operand(p->dequantize, 1);
    p->turns_left = pto_attr_bool_of(op, PTO_STR("transpose_a"), 0);
    p->turns_right = pto_attr_bool_of(op, PTO_STR("transpose_b"), 0);
    if (!is_f32_matrix(p->left) || !is_f32_matrix(pto_op_operand(op, 1)) || !is_f32_matrix(pto_op_result(op, 0)))
        return "it is not one of two matrices of f32";
    return read_scales(p);
}

/* ---- decisions ---- */

static pto_status decide_form(const product *p, const char *obstacle, int64_t *form)
{
    const int64_t least = FORM_APART, most = obstacle != NULL ? FORM_APART : FORM_IN_PRODUCT;
    const pto_decision d = {.struct_size = sizeof d,
                            .count = 1,
                            .name = "weights",
                            .words = form_words,
                            .min = &least,
                            .max = &most,
                            .limit = obstacle};
    *form = most;
    PTO_TRY(pto_decision_pinned(p->op, &d, form));
    return pto_decision_made(p->op, &d, form);
}

static pto_status decide_blocks(product *p)
{
    const pto_type result = pto_value_type(pto_op_result(p->op, 0));
    const int64_t least[BLOCK_DIMS] = {1, 1}, most[BLOCK_DIMS] = {ROWS_MAX, COLUMNS_MAX};
    const pto_decision d = {.struct_size = sizeof d,
                            .count = BLOCK_DIMS,
                            .name = "weights-blocks",
                            .keys = block_keys,
                            .min = least,
                            .max = most};
    p->blocks[BLOCK_ROWS] = nest_block(pto_opt_i64(p->run, OPT_ROWS), pto_type_dim(result, 0));
    p->blocks[BLOCK_COLUMNS] = nest_block(pto_opt_i64(p->run, OPT_COLUMNS), pto_type_dim(result, 1));
    PTO_TRY(pto_decision_pinned(p->op, &d, p->blocks));
    return pto_decision_made(p->op, &d, p->blocks);
}

/* ---- the function ---- */

enum { LEFT, BYTES, SCALES, RESULT, ARGUMENT_COUNT };

/* A matrix in memory, its dims the other way round where it is turned. */
static pto_type matrix(const product *p, pto_dtype dtype, pto_expr rows, pto_expr columns, int turns)
{
    const pto_expr dims[2] = {turns ? columns : rows, turns ? rows : columns};
    return pto_type_gm(p->run, dtype, 2, dims);
}

/* Types in memory, of symbols of the function: $M rows, and of k and of columns $K and $N, or twice that where bytes
 * have two along it. */
static void argument_types(const product *p, pto_type *types)
{
    const uint32_t along_k = p->turns_right ? 1 : 0;
    const pto_type bytes = pto_value_type(p->bytes), result = pto_value_type(pto_op_result(p->op, 0));
    const pto_expr m = nest_symbol_or_number(p->run, pto_type_dim(result, 0), "M"),
                   bytes_k = nest_symbol_or_number(p->run, pto_type_dim(bytes, along_k), "K"),
                   bytes_n = nest_symbol_or_number(p->run, pto_type_dim(bytes, 1 - along_k), "N"),
                   k = pto_expr_scale(bytes_k, p->turns_right ? 2 : 1),
                   n = pto_expr_scale(bytes_n, p->turns_right ? 1 : 2),
                   groups = nest_symbol_or_number(p->run, pto_type_dim(pto_value_type(p->scales), along_k), "G");
    types[LEFT] = matrix(p, PTO_F32, m, k, p->turns_left);
    types[BYTES] = matrix(p, PTO_U8, bytes_k, bytes_n, p->turns_right);
    types[SCALES] = matrix(p, PTO_F32, groups, n, p->turns_right);
    types[RESULT] = matrix(p, PTO_F32, m, n, 0);
}

static pto_op make_function(const product *p, pto_str name)
{
    static const char *const names[ARGUMENT_COUNT] = {"a", "b", "s", "c"};
    pto_type types[ARGUMENT_COUNT];
    argument_types(p, types);
    const pto_op function = nest_function(p->op, pto_kind(p->run, KIND_FUNC), name, ARGUMENT_COUNT);
    if (!PTO_SOME(function)) return function;
    for (uint32_t i = 0; i < ARGUMENT_COUNT; i++)
        if (!PTO_SOME(pto_block_add_arg(pto_body(function), types[i], pto_s(names[i])))) return pto_op_none(p->run);
    return function;
}

/* An op without results at the end of a block. */
static pto_status end_with(const product *p, uint32_t kind, pto_block block)
{
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, kind));
    pto_spec_loc(&s, pto_op_loc(p->op));
    PTO_NEED(pto_spec_build(&s, pto_at_end(block)));
    return PTO_OK;
}

/* The product of rows and columns that begin at `first`, `valid` of each. */
static pto_status write_body(const product *p, pto_block function, pto_block body, const pto_expr first[2],
                             const pto_expr valid[2])
{
    const pto_place end = pto_at_end(body);
    const pto_value left = pto_block_arg(function, LEFT);
    const pto_expr depth = pto_type_dim(pto_value_type(left), p->turns_left ? 0 : 1), zero = pto_expr_const(p->run, 0),
                   start[2] = {p->turns_left ? zero : first[0], p->turns_left ? first[0] : zero};
    const pto_type tile = pto_type_tile(p->run, PTO_F32, p->blocks[BLOCK_ROWS], p->blocks[BLOCK_COLUMNS],
                                        PTO_SPACE_NONE, PTO_LAYOUT_NONE);
    pto_spec z = pto_spec_make(p->run, pto_kind(p->run, KIND_ZERO_ACC));
    pto_spec_exprs(&z, PTO_STR("valid"), 2, valid);
    pto_spec_result(&z, tile);
    pto_spec_loc(&z, pto_op_loc(p->op));
    pto_spec_name(&z, PTO_STR("z"));
    const pto_value zeros = pto_spec_value(&z, end);
    PTO_NEED(zeros);
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_CONTRACT));
    pto_spec_operand(&s, zeros);
    for (uint32_t i = LEFT; i <= SCALES; i++) pto_spec_operand(&s, pto_block_arg(function, i));
    pto_spec_exprs(&s, PTO_STR("left"), 2, start);
    pto_spec_exprs(&s, PTO_STR("column"), 1, &first[1]);
    pto_spec_exprs(&s, PTO_STR("depth"), 1, &depth);
    pto_spec_int(&s, PTO_STR("block"), p->block);
    if (p->turns_left) pto_spec_bool(&s, PTO_STR("transpose_left"), 1);
    if (p->turns_right) pto_spec_bool(&s, PTO_STR("transpose_right"), 1);
    pto_spec_result(&s, tile);
    pto_spec_loc(&s, pto_op_loc(p->op));
    pto_spec_name(&s, PTO_STR("tc"));
    const pto_value sums = pto_spec_value(&s, end);
    PTO_NEED(sums);
    pto_spec store = pto_spec_make(p->run, pto_kind(p->run, KIND_STORE));
    pto_spec_operand(&store, sums);
    pto_spec_operand(&store, pto_block_arg(function, RESULT));
    pto_spec_exprs(&store, PTO_STR("offsets"), 2, first);
    pto_spec_loc(&store, pto_op_loc(p->op));
    PTO_NEED(pto_spec_build(&store, end));
    return end_with(p, KIND_YIELD, body);
}

static pto_status write_nest(const product *p, pto_str name, pto_block function)
{
    static const char *const index_names[BLOCK_DIMS] = {"i", "j"};
    const pto_type result = pto_value_type(pto_block_arg(function, RESULT)), index = pto_type_scalar(p->run, PTO_INDEX);
    pto_expr to[BLOCK_DIMS], first[BLOCK_DIMS], valid[BLOCK_DIMS];
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_FORALL));
    for (uint32_t d = 0; d < BLOCK_DIMS; d++)
        to[d] = pto_expr_ceildiv(pto_type_dim(result, d), pto_expr_const(p->run, p->blocks[d]));
    pto_spec_str(&s, PTO_STR("label"), name);
    pto_spec_exprs(&s, PTO_STR("to"), BLOCK_DIMS, to);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(p->op));
    const pto_op nest = pto_spec_build(&s, pto_at_end(function));
    PTO_NEED(nest);
    for (uint32_t d = 0; d < BLOCK_DIMS; d++) {
        const pto_value at = pto_block_add_arg(pto_body(nest), index, pto_s(index_names[d]));
        PTO_NEED(at);
        first[d] = pto_expr_scale(pto_expr_value(at), p->blocks[d]);
        valid[d] = pto_expr_min(pto_expr_const(p->run, p->blocks[d]), pto_expr_sub(pto_type_dim(result, d), first[d]));
    }
    PTO_TRY(write_body(p, function, pto_body(nest), first, valid));
    return end_with(p, KIND_RETURN, function);
}

/* ---- the pass ---- */

/* Erases what nothing reads any more. */
static pto_status drop_unused(pto_op op)
{
    return pto_value_use_count(pto_op_result(op, 0)) == 0 ? pto_op_erase(op) : PTO_OK;
}

static pto_status make_nest(const product *p)
{
    const pto_str name = nest_free_name(p->op, "_weights");
    const pto_op function = make_function(p, name);
    PTO_NEED(function);
    PTO_TRY(write_nest(p, name, pto_body(function)));
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_CALL));
    pto_spec_symbol(&s, PTO_STR("callee"), name);
    pto_spec_operand(&s, p->left);
    pto_spec_operand(&s, p->bytes);
    pto_spec_operand(&s, p->scales);
    pto_spec_result(&s, pto_value_type(pto_op_result(p->op, 0)));
    pto_spec_loc(&s, pto_op_loc(p->op));
    pto_spec_name(&s, pto_name_after(p->op, pto_s("")));
    const pto_value sums = pto_spec_value(&s, pto_before(p->op));
    PTO_NEED(sums);
    pto_stat_add(p->run, STAT_MADE, 1);
    pto_remark(p->op, "pto.weights-nest/made",
               "reads its weights as they lie, of 4 bits, and not as f32, in blocks of %lld rows and %lld columns",
               (long long)p->blocks[BLOCK_ROWS], (long long)p->blocks[BLOCK_COLUMNS]);
    PTO_TRY(pto_op_replace_by(p->op, sums));
    PTO_TRY(drop_unused(p->dequantize));
    return drop_unused(p->unpack);
}

static pto_status lower(pto_op op)
{
    product p = {.run = op.run, .op = op, .dequantize = pto_value_op(pto_op_operand(op, 1))};
    int64_t form;
    const char *obstacle = read_product(op, &p);
    PTO_TRY(decide_form(&p, obstacle, &form));
    if (form == FORM_APART) {
        pto_stat_add(op.run, STAT_LEFT, 1);
        if (obstacle != NULL) pto_remark(op, "pto.weights-nest/left", "dequantises its weights apart: %s", obstacle);
        return PTO_OK;
    }
    PTO_TRY(decide_blocks(&p));
    return make_nest(&p);
}

static int has_weights(pto_op op)
{
    if (!PTO_IS(op, MATMUL)) return 0;
    const pto_op right = pto_value_op(pto_op_operand(op, 1));
    return PTO_SOME(right) && PTO_IS(right, DEQUANTIZE);
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    return machine_has_common_core(run) ? nest_lower_each(unit, has_weights, lower) : PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_KEEPS_LEVEL,
    .id = "pto.weights-nest",
    .summary = "Multiply with weights of 4 bits as they lie, for cores with matrix and vector units",
    .scope = "module",
    .consumes = "tensor/1",
    .produces = "tile/1",
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.weights-nest", "pass:pto.weights-nest", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
