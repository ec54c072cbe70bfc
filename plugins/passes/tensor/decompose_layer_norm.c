/* pto.decompose-layer-norm: the layer norm becomes two means, a root and products.
 *
 *                                                       %m = tensor.reduce_mean %x {axis = 1}
 *                                                       %d = tensor.sub %x, %m
 *                                                       %q = tensor.mul %d, %d
 *     %y = tensor.layer_norm %x, %g, %b            =>   %v = tensor.reduce_mean %q {axis = 1}
 *                                                       %r = tensor.rsqrt %v + eps
 *                                                       %s = tensor.mul %d, %r
 *                                                       %y = tensor.add %s * %g, %b
 *
 * f16 and bf16 operands are cast to f32 first, and the result is cast back once. Two passes over a row, as those of
 * pto.decompose-var. gamma and beta of an axis that is not the last become columns of it by a reshape.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.layer_norm`. */
#include "composite.h"

#define KINDS(X)                         \
    X(LAYER_NORM, "tensor.layer_norm")   \
    X(CONSTANT, "tensor.constant")       \
    X(REDUCE_MEAN, "tensor.reduce_mean") \
    X(SUB, "tensor.sub")                 \
    X(MUL, "tensor.mul")                 \
    X(ADD, "tensor.add")                 \
    X(RSQRT, "tensor.rsqrt")             \
    X(CAST, "tensor.cast")               \
    X(RESHAPE, "tensor.reshape")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

/* gamma or beta in f32, with as many dims after its own as `type` has after the axis. */
static pto_value along_axis(pto_op op, uint32_t operand, pto_type type, uint32_t axis, const char *suffix)
{
    const pto_run *run = op.run;
    const pto_value x = composite_cast(op, pto_kind(run, KIND_CAST), PTO_F32, suffix, pto_op_operand(op, operand));
    const uint32_t rank = pto_type_rank(type) - axis;
    if (!PTO_SOME(x) || rank == 1) return x;
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < rank; d++) dims[d] = d == 0 ? pto_type_dim(type, axis) : pto_expr_const(run, 1);
    return composite_unary(op, pto_kind(run, KIND_RESHAPE), pto_type_tensor(run, PTO_F32, rank, dims), suffix, x);
}

static pto_value expand_layer_norm(const pto_run *run, pto_op op)
{
    const pto_kind_id mul = pto_kind(run, KIND_MUL), add = pto_kind(run, KIND_ADD),
                      mean_of = pto_kind(run, KIND_REDUCE_MEAN);
    const uint32_t count = pto_op_operand_count(op);
    const pto_dtype given = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    const pto_value x = composite_cast(op, pto_kind(run, KIND_CAST), PTO_F32, "_x", pto_op_operand(op, 0));
    const pto_type type = pto_value_type(x);
    const int64_t named = pto_attr_int_of(op, PTO_STR("axis"), -1),
                  axis = named < 0 ? named + pto_type_rank(type) : named;
    const pto_value mean = composite_reduce(op, mean_of, axis, NULL, "_mean", x);
    const pto_value distance = composite_binary(op, pto_kind(run, KIND_SUB), type, "_distance", x, mean);
    const pto_value squares = composite_binary(op, mul, type, "_squares", distance, distance);
    const pto_value variance = composite_reduce(op, mean_of, axis, NULL, "_variance", squares);
    const pto_type column = pto_value_type(variance);
    const pto_value eps =
        composite_number(op, pto_kind(run, KIND_CONSTANT), PTO_F32, "_eps", pto_attr_float_of(op, PTO_STR("eps"), 0.0));
    const pto_value biased = composite_binary(op, add, column, "_biased", variance, eps);
    const pto_value root = composite_unary(op, pto_kind(run, KIND_RSQRT), column, "_rsqrt", biased);
    const char *last = given == PTO_F32 ? "" : "_f32";
    pto_value y = composite_binary(op, mul, type, count > 1 ? "_normal" : last, distance, root);
    if (count > 1)
        y = composite_binary(op, mul, type, count > 2 ? "_scaled" : last, y,
                             along_axis(op, 1, type, (uint32_t)axis, "_gamma"));
    if (count > 2) y = composite_binary(op, add, type, last, y, along_axis(op, 2, type, (uint32_t)axis, "_beta"));
    return PTO_SOME(y) ? composite_cast(op, pto_kind(run, KIND_CAST), given, "", y) : y;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_LAYER_NORM), STAT_DECOMPOSED, expand_layer_norm);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-layer-norm",
    .summary = "Take the layer norm apart into two means, a root and products",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-layer-norm", "pass:pto.decompose-layer-norm rewrites:tensor.layer_norm", "",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
