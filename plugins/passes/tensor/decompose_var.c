/* pto.decompose-var: a variance becomes the mean of the squares of the distances from the mean.
 *
 *                                                      %m = tensor.reduce_mean %x {axis = 1}
 *                                                      %d = tensor.sub %x, %m
 *     %y = tensor.var %x {axis = 1}              =>    %q = tensor.mul %d, %d
 *                                                      %s = tensor.reduce_sum %q {axis = 1}
 *                                                      %y = tensor.div %s, the number of elements less the correction
 *
 * f16 and bf16 operands are cast to f32 first, and the quotient is cast back once. Two passes over the row: no square
 * of the mean is taken away from a sum of squares, which would leave nothing of small variances.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.var`. */
#include "composite.h"

#define KINDS(X)                         \
    X(VAR, "tensor.var")                 \
    X(REDUCE_MEAN, "tensor.reduce_mean") \
    X(REDUCE_SUM, "tensor.reduce_sum")   \
    X(SUB, "tensor.sub")                 \
    X(MUL, "tensor.mul")                 \
    X(DIV, "tensor.div")                 \
    X(CAST, "tensor.cast")               \
    X(INDEX_CAST, "tensor.index_cast")   \
    X(RESHAPE, "tensor.reshape")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value along(pto_op op, uint32_t kind, pto_type type, const char *suffix, pto_value x)
{
    pto_spec s = composite_spec(op, pto_kind(op.run, kind), type, suffix);
    pto_spec_operand(&s, x);
    pto_spec_attr(&s, PTO_STR("axis"), pto_op_attr(op, PTO_STR("axis")));
    composite_keep_order(&s, op);
    return pto_spec_value(&s, pto_before(op));
}

/* How many elements there are, less the correction, 0 at least. */
static pto_value divisor(pto_op op, pto_type type, uint32_t reduced)
{
    const pto_run *run = op.run;
    pto_expr count = pto_expr_const(run, 1);
    for (uint32_t i = 0; i < pto_type_rank(type); i++)
        if ((reduced & (1u << i)) != 0) count = pto_expr_mul(count, pto_type_dim(type, i));
    const pto_expr correction = pto_expr_const(run, pto_attr_int_of(op, PTO_STR("correction"), 0));
    count = pto_expr_max(pto_expr_sub(count, correction), pto_expr_const(run, 0));
    pto_spec s = composite_spec(op, pto_kind(run, KIND_INDEX_CAST), pto_type_tensor(run, PTO_F32, 0, NULL), "_count");
    pto_spec_exprs(&s, PTO_STR("from"), 1, &count);
    return pto_spec_value(&s, pto_before(op));
}

static pto_value expand_var(const pto_run *run, pto_op op)
{
    const pto_type given = pto_value_type(pto_op_result(op, 0));
    const pto_value x = composite_cast(op, pto_kind(run, KIND_CAST), PTO_F32, "_x", pto_op_operand(op, 0));
    const pto_type type = pto_value_type(x);
    const uint32_t reduced = pto_axes_of(op, pto_type_rank(type));
    pto_type kept = type;
    for (uint32_t i = 0; i < pto_type_rank(type); i++)
        if ((reduced & (1u << i)) != 0) kept = pto_type_with_dim(run, kept, i, pto_expr_const(run, 1));
    const pto_value mean = along(op, KIND_REDUCE_MEAN, kept, "_mean", x);
    const pto_value distance = composite_binary(op, pto_kind(run, KIND_SUB), type, "_distance", x, mean);
    const pto_value squares = composite_binary(op, pto_kind(run, KIND_MUL), type, "_squares", distance, distance);
    const pto_value sum = along(op, KIND_REDUCE_SUM, kept, "_sum", squares);
    const int keeps = pto_attr_bool_of(op, PTO_STR("keepdim"), 1), is_f32 = pto_type_dtype(given) == PTO_F32;
    pto_value y = composite_binary(op, pto_kind(run, KIND_DIV), kept, keeps && is_f32 ? "" : "_f32", sum,
                                   divisor(op, type, reduced));
    if (!PTO_SOME(y)) return y;
    y = composite_cast(op, pto_kind(run, KIND_CAST), pto_type_dtype(given), keeps ? "" : "_kept", y);
    return keeps || !PTO_SOME(y) ? y : composite_unary(op, pto_kind(run, KIND_RESHAPE), given, "", y);
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_VAR), STAT_DECOMPOSED, expand_var);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-var",
    .summary = "Take a variance apart into a mean and a sum of squares",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-var", "pass:pto.decompose-var rewrites:tensor.var", "", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
