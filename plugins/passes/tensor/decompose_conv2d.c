/* pto.decompose-conv2d: windows with kernels become a product of two matrices.
 *
 *                                                  %p = tensor.pad %x
 *                                                  %a = tensor.view %p[0, i, j, 0] ..     for each i, j of the kernel
 *     %y = tensor.conv2d %x, %w, %bias      =>     %c = tensor.concat %a, .. {axis = 3} : N x OH x OW x (KH KW C)
 *                                                  %m = tensor.matmul %c, %w, %bias     : (N OH OW) x O, by reshapes
 *                                                  %y = tensor.reshape %m
 *
 * The channels come last, so a window of x has its elements in the order in which the kernel has them, and neither the
 * kernel nor the result is transposed. Groups are a batch of products, whose dim is moved to the front and back again.
 * A kernel of one element with strides of 1 needs no windows. Where the channels come first, the operands are
 * transposed to have them last, and the result is transposed back.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.conv2d`, and `tensor.matmul` in its place. */
#include "composite.h"

#define KINDS(X)                     \
    X(CONV2D, "tensor.conv2d")       \
    X(PAD, "tensor.pad")             \
    X(VIEW, "tensor.view")           \
    X(CONCAT, "tensor.concat")       \
    X(MATMUL, "tensor.matmul")       \
    X(TRANSPOSE, "tensor.transpose") \
    X(RESHAPE, "tensor.reshape")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

typedef struct conv {
    const pto_run *run;
    pto_op op;
    pto_value x, w;  /* the channels last */
    pto_type result; /* so too */
    int is_first;    /* in the op the channels come first */
    int64_t kernel[2], groups;
    pto_expr rows, depth, of_group; /* N OH OW; KH KW and the channels of a group; results of a group */
} conv;

static pto_value reshape(const conv *v, pto_value x, uint32_t rank, const pto_expr *dims, const char *suffix)
{
    if (!PTO_SOME(x)) return x;
    const pto_type type = pto_type_tensor(v->run, pto_type_dtype(pto_value_type(x)), rank, dims);
    return composite_unary(v->op, pto_kind(v->run, KIND_RESHAPE), type, suffix, x);
}

static pto_type permuted(const pto_run *run, pto_type type, uint32_t rank, const int64_t *perm)
{
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < rank; d++) dims[d] = pto_type_dim(type, (uint32_t)perm[d]);
    return pto_type_tensor(run, pto_type_dtype(type), rank, dims);
}

static pto_value transpose(const conv *v, pto_value x, uint32_t rank, const int64_t *perm, const char *suffix)
{
    if (!PTO_SOME(x)) return x;
    pto_spec s = composite_spec(v->op, pto_kind(v->run, KIND_TRANSPOSE),
                                permuted(v->run, pto_value_type(x), rank, perm), suffix);
    pto_spec_operand(&s, x);
    pto_spec_ints(&s, PTO_STR("perm"), rank, perm);
    return pto_spec_value(&s, pto_before(v->op));
}

static conv read_conv(const pto_run *run, pto_op op)
{
    static const int64_t x_perm[] = {0, 2, 3, 1}, w_perm[] = {2, 3, 1, 0};
    conv v = {.run = run, .op = op, .x = pto_op_operand(op, 0), .w = pto_op_operand(op, 1), .kernel = {1, 1}};
    v.result = pto_value_type(pto_op_result(op, 0));
    v.is_first = pto_str_is(pto_attr_str_of(op, PTO_STR("layout")), "nchw");
    if (v.is_first) {
        v.x = transpose(&v, v.x, 4, x_perm, "_x");
        v.w = transpose(&v, v.w, 4, w_perm, "_w");
        v.result = permuted(run, v.result, 4, x_perm);
    }
    if (!PTO_SOME(v.x) || !PTO_SOME(v.w)) return v;
    const pto_type w = pto_value_type(v.w);
    for (uint32_t d = 0; d < 2; d++) (void)pto_expr_is_const(pto_type_dim(w, d), &v.kernel[d]);
    v.groups = pto_attr_int_of(op, PTO_STR("groups"), 1);
    v.rows =
        pto_expr_mul(pto_expr_mul(pto_type_dim(v.result, 0), pto_type_dim(v.result, 1)), pto_type_dim(v.result, 2));
    v.depth = pto_expr_scale(pto_type_dim(w, 2), v.kernel[0] * v.kernel[1]);
    v.of_group = pto_expr_floordiv(pto_type_dim(w, 3), pto_expr_const(run, v.groups));
    return v;
}

static pto_value padded(const conv *v, pto_value x)
{
    pto_expr sides[2][4];
    pto_type type = pto_value_type(x);
    int is_padded = 0;
    for (uint32_t d = 0; d < 4; d++) {
        const int is_outer = d == 0 || d == 3;
        const int64_t low = is_outer ? 0 : pto_int_of(v->op, PTO_STR("low"), d - 1, 0),
                      high = is_outer ? 0 : pto_int_of(v->op, PTO_STR("high"), d - 1, 0);
        sides[0][d] = pto_expr_const(v->run, low);
        sides[1][d] = pto_expr_const(v->run, high);
        type = pto_type_with_dim(v->run, type, d, pto_expr_offset(pto_type_dim(type, d), low + high));
        is_padded |= low + high > 0;
    }
    if (!is_padded) return x;
    pto_spec s = composite_spec(v->op, pto_kind(v->run, KIND_PAD), type, "_padded");
    pto_spec_operand(&s, x);
    pto_spec_exprs(&s, PTO_STR("low"), 4, sides[0]);
    pto_spec_exprs(&s, PTO_STR("high"), 4, sides[1]);
    return pto_spec_value(&s, pto_before(v->op));
}

/* What the kernel's element (i, j) meets: one element of each window. */
static pto_value window(const conv *v, pto_value x, int64_t i, int64_t j)
{
    const int64_t strides[4] = {1, pto_int_of(v->op, PTO_STR("strides"), 0, 1),
                                pto_int_of(v->op, PTO_STR("strides"), 1, 1), 1};
    const int is_dense = strides[1] == 1 && strides[2] == 1;
    if (is_dense && v->kernel[0] == 1 && v->kernel[1] == 1) return x;
    const pto_expr zero = pto_expr_const(v->run, 0);
    const pto_expr offsets[4] = {zero, pto_expr_const(v->run, i * pto_int_of(v->op, PTO_STR("dilations"), 0, 1)),
                                 pto_expr_const(v->run, j * pto_int_of(v->op, PTO_STR("dilations"), 1, 1)), zero};
    pto_type type = pto_value_type(x);
    for (uint32_t d = 1; d < 3; d++) type = pto_type_with_dim(v->run, type, d, pto_type_dim(v->result, d));
    pto_spec s = composite_spec(v->op, pto_kind(v->run, KIND_VIEW), type, "_window");
    pto_spec_operand(&s, x);
    pto_spec_exprs(&s, PTO_STR("offsets"), 4, offsets);
    if (!is_dense) pto_spec_ints(&s, PTO_STR("strides"), 4, strides);
    return pto_spec_value(&s, pto_before(v->op));
}

/* N x OH x OW x (KH KW C). */
static pto_value columns(const conv *v, pto_value x)
{
    const pto_expr channels = pto_type_dim(pto_value_type(x), 3);
    const int64_t count = v->kernel[0] * v->kernel[1];
    if (count == 1) return window(v, x, 0, 0);
    const pto_type type =
        pto_type_with_dim(v->run, pto_type_with_dtype(v->run, v->result, pto_type_dtype(pto_value_type(x))), 3,
                          pto_expr_scale(channels, count));
    pto_spec s = composite_spec(v->op, pto_kind(v->run, KIND_CONCAT), type, "_columns");
    for (int64_t k = 0; k < count; k++) pto_spec_operand(&s, window(v, x, k / v->kernel[1], k % v->kernel[1]));
    pto_spec_int(&s, PTO_STR("axis"), 3);
    return pto_spec_value(&s, pto_before(v->op));
}

static pto_value product(const conv *v, uint32_t rank, const pto_expr *dims, pto_value a, pto_value b, pto_value bias)
{
    const pto_dtype to = pto_type_dtype(v->result);
    if (!PTO_SOME(a) || !PTO_SOME(b)) return pto_value_none(v->run);
    pto_spec s =
        composite_spec(v->op, pto_kind(v->run, KIND_MATMUL), pto_type_tensor(v->run, to, rank, dims), "_product");
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    if (pto_op_operand_count(v->op) > 2) pto_spec_operand(&s, bias);
    if (to != pto_type_dtype(pto_value_type(a))) pto_spec_type(&s, PTO_STR("out"), pto_type_scalar(v->run, to));
    return pto_spec_value(&s, pto_before(v->op));
}

/* (N OH OW) x O. */
static pto_value one_product(const conv *v, pto_value x, pto_value w, pto_value bias)
{
    const pto_expr results = pto_type_dim(v->result, 3);
    const pto_expr a[] = {v->rows, v->depth}, b[] = {v->depth, results}, dims[] = {v->rows, results};
    const pto_value kernel = reshape(v, w, 2, b, "_kernel"), matrix = reshape(v, x, 2, a, "_matrix");
    return product(v, 2, dims, matrix, kernel, bias);
}

/* (N OH OW) x groups x O of a group. */
static pto_value products_of_groups(const conv *v, pto_value x, pto_value w, pto_value bias)
{
    static const int64_t x_perm[] = {2, 0, 1, 3}, swap[] = {1, 0, 2};
    const pto_expr one = pto_expr_const(v->run, 1), groups = pto_expr_const(v->run, v->groups);
    const pto_expr split[] = {v->rows, pto_expr_const(v->run, v->kernel[0] * v->kernel[1]), groups,
                              pto_type_dim(pto_value_type(w), 2)};
    const pto_expr a[] = {groups, v->rows, v->depth}, b[] = {v->depth, groups, v->of_group},
                   more[] = {groups, one, v->of_group}, dims[] = {groups, v->rows, v->of_group};
    x = transpose(v, reshape(v, x, 4, split, "_split"), 4, x_perm, "_groups");
    w = transpose(v, reshape(v, w, 3, b, "_kernel"), 3, swap, "_kernels");
    if (pto_op_operand_count(v->op) > 2) bias = reshape(v, bias, 3, more, "_bias");
    return transpose(v, product(v, 3, dims, reshape(v, x, 3, a, "_matrix"), w, bias), 3, swap, "_together");
}

static pto_value expand_conv2d(const pto_run *run, pto_op op)
{
    static const int64_t back[] = {0, 3, 1, 2};
    const pto_kind_id kind = pto_kind(run, KIND_RESHAPE);
    const conv v = read_conv(run, op);
    const pto_value bias = pto_op_operand_count(op) > 2 ? pto_op_operand(op, 2) : pto_value_none(run);
    if (!PTO_SOME(v.x) || !PTO_SOME(v.w)) return pto_value_none(run);
    pto_value x = padded(&v, v.x);
    if (PTO_SOME(x)) x = columns(&v, x);
    if (!PTO_SOME(x)) return x;
    const pto_value y = v.groups == 1 ? one_product(&v, x, v.w, bias) : products_of_groups(&v, x, v.w, bias);
    if (!PTO_SOME(y) || !v.is_first) return PTO_SOME(y) ? composite_unary(op, kind, v.result, "", y) : y;
    return transpose(&v, composite_unary(op, kind, v.result, "_last", y), 4, back, "");
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_CONV2D), STAT_DECOMPOSED, expand_conv2d);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-conv2d",
    .summary = "Take windows with kernels apart into columns and a product of matrices",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-conv2d", "pass:pto.decompose-conv2d rewrites:tensor.conv2d", "", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
