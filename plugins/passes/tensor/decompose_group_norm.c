/* pto.decompose-group-norm: the group norm becomes a layer norm over rows, one for each group.
 *
 *                                                       %r = tensor.reshape %x : tensor<$N x 2 x 20 x f32>
 *     %x: tensor<$N x 4 x 10 x f32>                =>   %n = tensor.layer_norm %r
 *     %y = tensor.group_norm %x, %g {groups = 2}        %b = tensor.reshape %n : tensor<$N x 4 x 10 x f32>
 *                                                       %y = tensor.mul %b, %g as a column
 *
 * f16 and bf16 operands are cast to f32 first, and the result is cast back once.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.group_norm`, and `tensor.layer_norm` in its place. */
#include "composite.h"

#define KINDS(X)                       \
    X(GROUP_NORM, "tensor.group_norm") \
    X(LAYER_NORM, "tensor.layer_norm") \
    X(MUL, "tensor.mul")               \
    X(ADD, "tensor.add")               \
    X(CAST, "tensor.cast")             \
    X(RESHAPE, "tensor.reshape")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value reshape(pto_op op, pto_value x, uint32_t rank, const pto_expr *dims, const char *suffix)
{
    if (!PTO_SOME(x)) return x;
    return composite_unary(op, pto_kind(op.run, KIND_RESHAPE), pto_type_tensor(op.run, PTO_F32, rank, dims), suffix, x);
}

/* gamma or beta in f32: one for each channel, which are dim 1. */
static pto_value of_channels(pto_op op, uint32_t operand, pto_type type, const char *suffix)
{
    const pto_run *run = op.run;
    const pto_value x = composite_cast(op, pto_kind(run, KIND_CAST), PTO_F32, suffix, pto_op_operand(op, operand));
    const uint32_t rank = pto_type_rank(type) - 1;
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < rank; d++) dims[d] = d == 0 ? pto_type_dim(type, 1) : pto_expr_const(run, 1);
    return rank == 1 ? x : reshape(op, x, rank, dims, suffix);
}

static pto_value in_groups(pto_op op, pto_value x, pto_type type)
{
    const pto_run *run = op.run;
    const pto_expr groups = pto_expr_const(run, pto_attr_int_of(op, PTO_STR("groups"), 1));
    pto_expr dims[3] = {pto_type_dim(type, 0), groups, pto_expr_floordiv(pto_type_dim(type, 1), groups)};
    for (uint32_t d = 2; d < pto_type_rank(type); d++) dims[2] = pto_expr_mul(dims[2], pto_type_dim(type, d));
    return reshape(op, x, 3, dims, "_groups");
}

static pto_value expand_group_norm(const pto_run *run, pto_op op)
{
    const uint32_t count = pto_op_operand_count(op);
    const pto_dtype given = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    const pto_value x = composite_cast(op, pto_kind(run, KIND_CAST), PTO_F32, "_x", pto_op_operand(op, 0));
    const pto_type type = pto_value_type(x);
    const pto_value rows = in_groups(op, x, type);
    if (!PTO_SOME(rows)) return rows;
    pto_spec s = composite_spec(op, pto_kind(run, KIND_LAYER_NORM), pto_value_type(rows), "_norm");
    pto_spec_operand(&s, rows);
    pto_spec_float(&s, PTO_STR("eps"), pto_attr_float_of(op, PTO_STR("eps"), 1e-6));
    const pto_value normal = pto_spec_value(&s, pto_before(op));
    if (!PTO_SOME(normal)) return normal;
    const char *last = given == PTO_F32 ? "" : "_f32";
    pto_value y = composite_unary(op, pto_kind(run, KIND_RESHAPE), type, count > 1 ? "_normal" : last, normal);
    if (count > 1)
        y = composite_binary(op, pto_kind(run, KIND_MUL), type, count > 2 ? "_scaled" : last, y,
                             of_channels(op, 1, type, "_gamma"));
    if (count > 2) y = composite_binary(op, pto_kind(run, KIND_ADD), type, last, y, of_channels(op, 2, type, "_beta"));
    return PTO_SOME(y) ? composite_cast(op, pto_kind(run, KIND_CAST), given, "", y) : y;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_GROUP_NORM), STAT_DECOMPOSED, expand_group_norm);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-group-norm",
    .summary = "Make a layer norm over rows of the group norm",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-group-norm", "pass:pto.decompose-group-norm rewrites:tensor.group_norm", "",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
