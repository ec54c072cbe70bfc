/* pto.decompose-one-hot: whether an index is that of a class, for all classes at once.
 *
 *                                                            %c = tensor.reshape %i : tensor<3 x 1 x i32>
 *     %y = tensor.one_hot %i : tensor<3 x 5 x f32>    =>     %k = tensor.iota {axis = 1} : tensor<1 x 5 x i32>
 *                                                            %h = tensor.eq %c, %k : tensor<3 x 5 x bool>
 *                                                            %y = tensor.where %h, 1, 0
 *
 * An index out of range is not that of any class. Indices are i32, to which i64 is cast within its range. Exact.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.one_hot`. */
#include "composite.h"

#define KINDS(X)                   \
    X(ONE_HOT, "tensor.one_hot")   \
    X(RESHAPE, "tensor.reshape")   \
    X(IOTA, "tensor.iota")         \
    X(EQ, "tensor.eq")             \
    X(WHERE, "tensor.where")       \
    X(CONSTANT, "tensor.constant") \
    X(CAST, "tensor.cast")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_status check_classes(pto_op op, pto_type type, uint32_t axis)
{
    int64_t classes = 0;
    if (!pto_dim_is_const(type, axis, &classes) || classes <= INT32_MAX) return PTO_OK;
    return pto_error(op, "pto.decompose-one-hot/many",
                     "`tensor.one_hot` makes %lld classes, and they are lowered in i32, up to %d: split the classes",
                     (long long)classes, INT32_MAX);
}

static pto_value index_in_i32(pto_op op)
{
    const pto_value index = pto_op_operand(op, 0);
    const pto_type type = pto_value_type(index);
    if (pto_type_dtype(type) == PTO_I32) return index;
    pto_spec s = composite_spec(op, pto_kind(op.run, KIND_CAST), pto_type_with_dtype(op.run, type, PTO_I32), "_index");
    pto_spec_operand(&s, index);
    if (pto_type_dtype(type) == PTO_I64) pto_spec_bool(&s, PTO_STR("saturate"), 1);
    return pto_spec_value(&s, pto_before(op));
}

static pto_value expand_one_hot(const pto_run *run, pto_op op)
{
    const pto_type type = pto_value_type(pto_op_result(op, 0)), truth = pto_type_with_dtype(run, type, PTO_BOOL);
    const pto_dtype dtype = pto_type_dtype(type);
    const uint32_t last = pto_type_rank(type) - 1;
    const pto_type column =
        pto_type_with_dim(run, pto_type_with_dtype(run, type, PTO_I32), last, pto_expr_const(run, 1));
    if (check_classes(op, type, last) != PTO_OK) return pto_value_none(run);
    const pto_value index = composite_unary(op, pto_kind(run, KIND_RESHAPE), column, "_column", index_in_i32(op));
    const pto_value classes = composite_count(op, pto_kind(run, KIND_IOTA), type, last, "_class");
    const pto_value hit =
        composite_binary(op, pto_kind(run, KIND_EQ), truth, dtype == PTO_BOOL ? "" : "_hit", index, classes);
    if (dtype == PTO_BOOL) return hit;
    /* No machine chooses between elements of 64 bits. */
    const pto_dtype chosen = pto_dtype_bytes(dtype) > 4 ? PTO_I32 : dtype;
    const pto_kind_id constant = pto_kind(run, KIND_CONSTANT);
    const pto_value none = composite_number(op, constant, chosen, "_c", 0),
                    one = composite_number(op, constant, chosen, "_c", 1);
    const pto_value y = composite_where(op, pto_kind(run, KIND_WHERE), pto_type_with_dtype(run, type, chosen),
                                        chosen == dtype ? "" : "_i32", hit, one, none);
    return PTO_SOME(y) ? composite_cast(op, pto_kind(run, KIND_CAST), dtype, "", y) : y;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_ONE_HOT), STAT_DECOMPOSED, expand_one_hot);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_NEEDED,
    .id = "pto.decompose-one-hot",
    .summary = "Compare indices with those of all classes",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-one-hot", "pass:pto.decompose-one-hot rewrites:tensor.one_hot", "", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
