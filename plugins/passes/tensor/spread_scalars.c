/* pto.spread-scalars: scalars that tensor ops take become tensors without dims.
 *
 *                                               %s_t = tensor.full %s : tensor<f32>
 *     %y = tensor.mul %x, %s              =>    %y = tensor.mul %x, %s_t
 *
 * A `constant` becomes a tensor.constant, so that it folds. Exact. Later passes know tensors alone; pto.tile makes
 * scalar forms of instructions of them where there are such, and a tile filled with the scalar elsewhere.
 *
 * Requires tensor ops, of any form. Leaves tensor ops whose operands are tensors, except for tensor.full. */
#include <pto/plugin.h>

#define KINDS(X)           \
    X(SCALAR, "constant")  \
    X(FULL, "tensor.full") \
    X(CONSTANT, "tensor.constant")
PTO_KINDS(KINDS);

#define STATS(X) X(SPREAD, "spread")
PTO_STATS(STATS);

/* The first operand from `from` on that is spread; the number of operands when there is none. */
static uint32_t find_scalar(pto_op op, uint32_t from)
{
    const uint32_t count = pto_op_operand_count(op);
    if (pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_HOME) != PTO_HOME_TENSOR || PTO_IS(op, FULL)) return count;
    while (from < count && pto_type_kind_of(pto_value_type(pto_op_operand(op, from))) != PTO_TYPE_SCALAR) from++;
    return from;
}

static pto_value spread(pto_op op, pto_value scalar)
{
    const pto_run *run = op.run;
    const pto_op def = pto_value_op(scalar);
    const int is_constant = PTO_SOME(def) && PTO_IS(def, SCALAR);
    pto_spec s = pto_spec_make(run, pto_kind(run, is_constant ? KIND_CONSTANT : KIND_FULL));
    if (is_constant)
        pto_spec_attr(&s, PTO_STR("value"), pto_op_attr(def, PTO_STR("value")));
    else
        pto_spec_operand(&s, scalar);
    pto_spec_result(&s, pto_type_tensor(run, pto_type_dtype(pto_value_type(scalar)), 0, NULL));
    pto_spec_name(&s, pto_value_name(scalar));
    return pto_spec_value(&s, pto_before(op));
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        for (uint32_t i = find_scalar(op, 0); i < pto_op_operand_count(op); i = find_scalar(op, i + 1)) {
            const pto_value tensor = spread(op, pto_op_operand(op, i));
            PTO_NEED(tensor);
            PTO_TRY(pto_op_set_operand(op, i, tensor));
            pto_stat_add(run, STAT_SPREAD, 1);
        }
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_NEEDED,
    .id = "pto.spread-scalars",
    .summary = "Make tensors of the scalars that tensor ops take",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.spread-scalars", "pass:pto.spread-scalars", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
