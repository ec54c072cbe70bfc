/* pto.decompose-cross-entropy: the cross entropy becomes what softmax becomes, a logarithm and one element of each row.
 *
 *                                                 %m = tensor.reduce_max %x {axis = 1, nan = "any"}
 *                                                 %e = tensor.exp %x - %m
 *                                                 %l = tensor.log of the sum of %e {axis = 1}
 *     %y = tensor.cross_entropy %x, %i      =>    %p = tensor.gather %x, %i as a column {axis = 1}
 *                                                 %d = tensor.sub %p, %m
 *                                                 %y = tensor.sub %l, %d
 *
 * The maximum is taken away from the element before the logarithm is, so that numbers of any size leave what differs
 * between them. f16 and bf16 operands are cast to f32 first, and the result is cast back once. The maximum may treat
 * NaN as it likes: a NaN of x makes the sum NaN. An index that is out of range is a fault, as that of tensor.gather.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.cross_entropy`. */
#include "composite.h"

#define KINDS(X)                             \
    X(CROSS_ENTROPY, "tensor.cross_entropy") \
    X(REDUCE_MAX, "tensor.reduce_max")       \
    X(REDUCE_SUM, "tensor.reduce_sum")       \
    X(SUB, "tensor.sub")                     \
    X(EXP, "tensor.exp")                     \
    X(LOG, "tensor.log")                     \
    X(GATHER, "tensor.gather")               \
    X(CAST, "tensor.cast")                   \
    X(RESHAPE, "tensor.reshape")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value expand_cross_entropy(const pto_run *run, pto_op op)
{
    const pto_kind_id cast = pto_kind(run, KIND_CAST), sub = pto_kind(run, KIND_SUB),
                      reshape = pto_kind(run, KIND_RESHAPE);
    const pto_value given = pto_op_operand(op, 0), index = pto_op_operand(op, 1);
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    const pto_dtype dtype = pto_type_dtype(result);
    const pto_value x = composite_cast(op, cast, PTO_F32, "_x", given);
    const pto_type type = pto_value_type(x);
    const int64_t axis = (int64_t)pto_type_rank(type) - 1;
    const pto_value most = composite_reduce(op, pto_kind(run, KIND_REDUCE_MAX), axis, "any", "_max", x);
    const pto_type column = pto_value_type(most);
    const pto_value shifted = composite_binary(op, sub, type, "_shifted", x, most);
    const pto_value exp = composite_unary(op, pto_kind(run, KIND_EXP), type, "_exp", shifted);
    const pto_value sum = composite_reduce(op, pto_kind(run, KIND_REDUCE_SUM), axis, NULL, "_sum", exp);
    const pto_value log = composite_unary(op, pto_kind(run, KIND_LOG), column, "_log", sum);
    const pto_type indices = pto_type_with_dtype(run, column, pto_type_dtype(pto_value_type(index)));
    pto_spec s = composite_spec(op, pto_kind(run, KIND_GATHER), pto_type_with_dtype(run, column, dtype), "_picked");
    pto_spec_operand(&s, given);
    pto_spec_operand(&s, composite_unary(op, reshape, indices, "_index", index));
    pto_spec_int(&s, PTO_STR("axis"), axis);
    const pto_value picked = pto_spec_value(&s, pto_before(op));
    if (!PTO_SOME(picked)) return picked;
    const pto_value below =
        composite_binary(op, sub, column, "_below", composite_cast(op, cast, PTO_F32, "_picked", picked), most);
    const pto_value y = composite_binary(op, sub, column, "_column", log, below);
    if (!PTO_SOME(y)) return y;
    const pto_value shaped =
        composite_unary(op, reshape, pto_type_with_dtype(run, result, PTO_F32), dtype == PTO_F32 ? "" : "_f32", y);
    return PTO_SOME(shaped) ? composite_cast(op, cast, dtype, "", shaped) : shaped;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_CROSS_ENTROPY), STAT_DECOMPOSED, expand_cross_entropy);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-cross-entropy",
    .summary = "Take the cross entropy apart into a maximum, exponentials, a logarithm and one element of each row",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-cross-entropy", "pass:pto.decompose-cross-entropy rewrites:tensor.cross_entropy", "",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
