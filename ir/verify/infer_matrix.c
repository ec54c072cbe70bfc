/* Shape rules of products of matrices, and of windows with kernels. */
#include "ir/op_rules.h"
#include "ir/verify/infer.h"
#include "ir/verify/ranges.h"

#include <inttypes.h>

static const char *const transposes[] = {"transpose_a", "transpose_b"};

static bool is_true(const module *m, op_id op, const char *flag) { return op_attr_int(m, op, flag, 0) != 0; }

static const char *operand_name(const module *m, op_id op, uint32_t i) { return op_info_of(m, op)->in[i].name; }

static const type_node *operand_type(const module *m, op_id op, uint32_t i)
{
    return type_of_value(m, op_operand(m, op, i));
}

/* The result type: that of a, or the attribute; floats from floats, integers from integers, any from what is scaled. */
static status product_dtype(module *m, op_id op, bool is_scaled, dtype *out)
{
    const ir_context *c = module_context(m);
    dtype from = operand_type(m, op, 0)->dtype;
    *out = from;
    attr_id a = op_attr(m, op, "out");
    if (a != 0 && attr_at(c, a)->kind == ATTR_TYPE) *out = type_at(c, attr_at(c, a)->id)->dtype;
    bool is_float = dtype_class_of(from) == DTYPE_CLASS_FLOAT;
    uint32_t legal = is_scaled ? DT_NUMBER : is_float ? DT_FLOAT : DT_INT;
    if ((legal & (1u << *out)) == 0)
        return op_error(m, op, &E0212, "cannot give %s from %s; legal are %s", dtype_name(*out), dtype_name(from),
                        is_scaled  ? "f32, f16, bf16 and integer types"
                        : is_float ? "f32, f16 and bf16"
                                   : "integer types");
    return OK;
}

/* Extents along the two dims of operand 0 or 1, in the order (m, k) or (k, n). A vector lacks m or n: 0. */
static status matrix_dims(const module *m, op_id op, uint32_t operand, expr_id out[2])
{
    const type_node *t = operand_type(m, op, operand);
    const uint32_t rank = t->rank;
    const bool turned = is_true(m, op, transposes[operand]);
    if (rank == 0)
        return op_error(m, op, &E0213, "multiplies matrices and vectors; `%s` has no dims",
                        operand_name(m, op, operand));
    if (rank == 1 && turned)
        return op_error(m, op, &E0314, "has a vector as `%s`, so `%s` has no effect; leave it out",
                        operand_name(m, op, operand), transposes[operand]);
    out[0] = rank == 1 ? 0 : t->dims[rank - (turned ? 1 : 2)];
    out[1] = rank == 1 ? 0 : t->dims[rank - (turned ? 2 : 1)];
    if (rank == 1) out[operand == 0 ? 1 : 0] = t->dims[0];
    return OK;
}

static shape batch_of(const type_node *t)
{
    shape s = infer_shape_of(t);
    s.rank = t->rank < 2 ? 0 : t->rank - 2u;
    return s;
}

/* Operands from `first` on are repeated up to the result. */
static status check_repeated(module *m, op_id op, uint32_t first, const shape *result)
{
    for (uint32_t i = first; i < op_value_operand_count(m, op); i++) {
        shape to = *result, from = infer_shape_of(operand_type(m, op, i));
        TRY(infer_broadcast_into(m, op, &to, i, &from));
        bool grows = to.rank != result->rank;
        for (uint32_t d = 0; d < to.rank && !grows; d++) grows = to.dims[d] != result->dims[d];
        if (grows)
            return op_error(m, op, &E0213, "repeats `%s` up to its result; that has fewer elements than %s",
                            operand_name(m, op, i), type_words(m, value_type(m, op_operand(m, op, i))));
    }
    return OK;
}

/* bias and scale: the third operand is one of them, a fourth is scale. */
static status check_epilogue(module *m, op_id op, bool *is_scaled)
{
    const uint32_t count = op_value_operand_count(m, op);
    const bool third = str_is(op_attr_str(m, op, "third"), "scale");
    *is_scaled = third || count == 4;
    if (third && count != 3)
        return op_error(m, op, &E0314,
                        "has %" PRIu32 " operands, so `third` has no effect: of three it says what the last one is",
                        count);
    if (*is_scaled && (DT_FLOAT & 1u << operand_type(m, op, count - 1)->dtype) == 0)
        return op_error(m, op, &E0212, "scales by f32, f16 or bf16, got %s",
                        dtype_name(operand_type(m, op, count - 1)->dtype));
    if (count < 3 || third) return OK;
    const dtype t = operand_type(m, op, 0)->dtype, bias = operand_type(m, op, 2)->dtype;
    const bool is_float = dtype_class_of(t) == DTYPE_CLASS_FLOAT;
    if (((is_float ? DT_FLOAT : DT_INT) & 1u << bias) == 0)
        return op_error(m, op, &E0212, "adds `bias` to sums of %s; it has %s and must have %s", dtype_name(t),
                        dtype_name(bias), is_float ? "f32, f16 or bf16" : "an integer type");
    return OK;
}

/* The extents of the result. */
static status product_shape(module *m, op_id op, shape *out)
{
    expr_id a[2] = {0}, b[2] = {0};
    TRY(matrix_dims(m, op, 0, a));
    TRY(matrix_dims(m, op, 1, b));
    if (!op_expr_same(m, op, a[1], b[0]))
        return op_error(m, op, &E0213, "sums over %s elements of `a` and %s of `b`; both must be the same number",
                        expr_words(m, op, a[1]), expr_words(m, op, b[0]));
    shape s = batch_of(operand_type(m, op, 0)), batch_b = batch_of(operand_type(m, op, 1));
    TRY(infer_broadcast_into(m, op, &s, 1, &batch_b));
    if (a[0] != 0) s.dims[s.rank++] = a[0];
    if (b[1] != 0) s.dims[s.rank++] = b[1];
    *out = s;
    return OK;
}

status infer_matmul(module *m, uint32_t op, type_id *out)
{
    TRY(infer_same_dtype(m, op));
    shape s;
    TRY(product_shape(m, op, &s));
    bool is_scaled = false;
    TRY(check_epilogue(m, op, &is_scaled));
    TRY(check_repeated(m, op, 2, &s));
    dtype d;
    TRY(product_dtype(m, op, is_scaled, &d));
    return infer_give(m, d, &s, out);
}

/* Scales have the shape of operand `i` with fewer elements along its dim of k. */
static status check_scales(module *m, op_id op, uint32_t i, int64_t block)
{
    const type_node *x = operand_type(m, op, i), *scale = operand_type(m, op, i + 2);
    if (x->rank < 2)
        return op_error(m, op, &E0213, "multiplies matrices; `%s` has %u dims", operand_name(m, op, i), x->rank);
    const bool turned = is_true(m, op, transposes[i]);
    const uint32_t along = x->rank - (turned == (i == 0) ? 2u : 1u);
    return infer_check_blocks(m, op, x, i + 2, scale, along, block);
}

status infer_scaled_matmul(module *m, uint32_t op, type_id *out)
{
    const ir_context *c = module_context(m);
    int64_t block = 0;
    TRY(infer_block(m, op, &block));
    for (uint32_t i = 0; i < 2; i++) TRY(check_scales(m, op, i, block));
    shape s;
    TRY(product_shape(m, op, &s));
    dtype d = DTYPE_F32;
    attr_id a = op_attr(m, op, "out");
    if (a != 0 && attr_at(c, a)->kind == ATTR_TYPE) d = type_at(c, attr_at(c, a)->id)->dtype;
    if ((DT_FLOAT & 1u << d) == 0)
        return op_error(m, op, &E0212, "cannot give %s; legal are f32, f16 and bf16", dtype_name(d));
    return infer_give(m, d, &s, out);
}

/* ---- windows with kernels ---- */

enum { MOST_WINDOW = 1 << 16 };

/* Which dims of x and the result are batch, rows, columns and channels; which of w rows, columns, channels, results. */
typedef struct conv_dims {
    uint32_t x[4], w[4];
} conv_dims;

static const conv_dims *conv_dims_of(module *m, op_id op)
{
    static const conv_dims last = {{0, 1, 2, 3}, {0, 1, 2, 3}}, first = {{0, 2, 3, 1}, {2, 3, 1, 0}};
    return str_is(op_attr_str(m, op, "layout"), "nchw") ? &first : &last;
}

/* Two numbers, along rows and columns. */
static status both_dims(module *m, op_id op, const char *attr, int64_t absent, int64_t out[2])
{
    out[0] = out[1] = absent;
    if (op_attr(m, op, attr) == 0) return OK;
    const uint32_t count = op_index_count(m, op, attr);
    if (count != 2)
        return op_error(m, op, &E0226, "has %" PRIu32 " %s in `%s` and needs 2, along rows and columns", count,
                        count == 1 ? "entry" : "entries", attr);
    for (uint32_t d = 0; d < 2; d++) {
        const expr_id item = op_index_expr(m, op, attr, d);
        if (!expr_is_const(module_context(m), item, &out[d]) || out[d] < absent || out[d] > MOST_WINDOW)
            return op_error(m, op, &E0314, "has %s in `%s`; legal are %" PRId64 " to %d", expr_words(m, op, item), attr,
                            absent, MOST_WINDOW);
    }
    return OK;
}

/* How many windows there are along rows or columns. */
static status count_windows(module *m, op_id op, uint32_t d, expr_id *out)
{
    ir_context *c = module_context(m);
    const uint32_t in_x = conv_dims_of(m, op)->x[d + 1], in_w = conv_dims_of(m, op)->w[d];
    const expr_id x = operand_type(m, op, 0)->dims[in_x], w = operand_type(m, op, 1)->dims[in_w];
    int64_t kernel, stride[2], dilation[2], low[2], high[2];
    if (!expr_is_const(c, w, &kernel) || kernel < 1 || kernel > MOST_WINDOW)
        return op_error(m, op, &E0213, "has a kernel of extent %s in dim %" PRIu32 " of `w`; legal are 1 to %d",
                        expr_words(m, op, w), in_w, MOST_WINDOW);
    TRY(both_dims(m, op, "strides", 1, stride));
    TRY(both_dims(m, op, "dilations", 1, dilation));
    TRY(both_dims(m, op, "low", 0, low));
    TRY(both_dims(m, op, "high", 0, high));
    const int64_t window = (kernel - 1) * dilation[d] + 1;
    const expr_id rest = expr_add(c, x, expr_const(c, low[d] + high[d] - window));
    if (rest != 0 && op_expr_range(m, op, rest).hi < 0 && !op_is_never_reached(m, op))
        return op_error(m, op, &E0213,
                        "has windows of %" PRId64 " elements along dim %" PRIu32 " of `x`, which has %s and %" PRId64
                        " zeros",
                        window, in_x, expr_words(m, op, x), low[d] + high[d]);
    const expr_id steps = rest == 0 ? 0 : expr_floordiv(c, rest, expr_const(c, stride[d]));
    *out = steps == 0 ? 0 : expr_add(c, steps, expr_const(c, 1));
    return OK;
}

/* What the channels of x and the results are in. */
static status check_groups(module *m, op_id op)
{
    ir_context *c = module_context(m);
    const conv_dims *dims = conv_dims_of(m, op);
    const type_node *x = operand_type(m, op, 0), *w = operand_type(m, op, 1);
    const expr_id of_x = x->dims[dims->x[3]], of_group = w->dims[dims->w[2]], results = w->dims[dims->w[3]];
    const int64_t groups = op_attr_int(m, op, "groups", 1);
    if (groups < 1) return op_error(m, op, &E0314, "has %" PRId64 " groups; legal are 1 and more", groups);
    const expr_id count = expr_const(c, groups), channels = expr_mul(c, of_group, count);
    if (channels == 0 || !op_expr_same(m, op, channels, of_x))
        return op_error(m, op, &E0213,
                        "has %" PRId64 " group%s of %s channels in `w` and %s channels in `x`; both must be the same "
                        "number",
                        groups, groups == 1 ? "" : "s", expr_words(m, op, of_group), expr_words(m, op, of_x));
    const expr_id all = expr_mul(c, expr_floordiv(c, results, count), count);
    if (all != 0 && op_expr_same(m, op, all, results)) return OK;
    return op_error(m, op, &E0213, "has %" PRId64 " groups of %s results, which is not known to be a multiple", groups,
                    expr_words(m, op, results));
}

static status check_conv_bias(module *m, op_id op, expr_id results)
{
    if (op_value_operand_count(m, op) < 3) return OK;
    const type_node *bias = operand_type(m, op, 2);
    const bool is_float = dtype_class_of(operand_type(m, op, 0)->dtype) == DTYPE_CLASS_FLOAT;
    if (((is_float ? DT_FLOAT : DT_INT) & 1u << bias->dtype) == 0)
        return op_error(m, op, &E0212, "adds `bias` to sums of %s; it has %s and must have %s",
                        dtype_name(operand_type(m, op, 0)->dtype), dtype_name(bias->dtype),
                        is_float ? "f32, f16 or bf16" : "an integer type");
    if (bias->rank == 1 && op_expr_same(m, op, bias->dims[0], results)) return OK;
    return op_error(m, op, &E0213, "needs `bias` with the one extent %s of dim %" PRIu32 " of `w`, got %s",
                    expr_words(m, op, results), conv_dims_of(m, op)->w[3],
                    type_words(m, value_type(m, op_operand(m, op, 2))));
}

status infer_conv2d(module *m, uint32_t op, type_id *out)
{
    TRY(infer_same_dtype(m, op));
    for (uint32_t i = 0; i < 2; i++)
        if (operand_type(m, op, i)->rank != 4)
            return op_error(m, op, &E0213, "has `%s` with %u dims and needs 4", operand_name(m, op, i),
                            (unsigned)operand_type(m, op, i)->rank);
    TRY(check_groups(m, op));
    const conv_dims *dims = conv_dims_of(m, op);
    shape s = infer_shape_of(operand_type(m, op, 0));
    const expr_id results = operand_type(m, op, 1)->dims[dims->w[3]];
    s.dims[dims->x[3]] = results;
    TRY(check_conv_bias(m, op, results));
    for (uint32_t d = 0; d < 2; d++) {
        const uint32_t in_x = dims->x[d + 1];
        expr_id windows = 0;
        TRY(count_windows(m, op, d, &windows));
        TRY(infer_fit_extent(m, op, in_x, windows, *out, &s.dims[in_x]));
    }
    dtype t;
    TRY(product_dtype(m, op, false, &t));
    return infer_give(m, t, &s, out);
}
