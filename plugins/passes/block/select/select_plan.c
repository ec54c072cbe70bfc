/* Checks what a kernel holds, and lets the rule of storage_plan.h say which tiles share a buffer. */
#include "select_plan.h"

static pto_status check_op(const select_plan *p, pto_op op)
{
    pto_op around = pto_op_parent(op);
    if (pto_op_is(op, pto_kind(p->run, KIND_WHILE)) || pto_op_is(around, pto_kind(p->run, KIND_WHILE)))
        return pto_error(op, "pto.select/while",
                         "a kernel has `while`, which has no lowering yet; legal are `for` and `if`");
    if (!storage_is_tile_op(op)) return PTO_OK;
    if (!pto_kind_column(p->run, pto_op_kind(op), PTO_COLUMN_PARTNER) &&
        !pto_op_is(op, pto_kind(p->run, KIND_ZERO_ACC))) {
        pto_str name = pto_op_name(op);
        return pto_error(op, "pto.select/no-instruction",
                         "`%.*s` has no PTO instruction; bufferize and outline replace it before", PTO_FMT(name));
    }
    return PTO_OK;
}

static pto_status check_operands(const select_plan *p, pto_op op)
{
    if (!p->storage.ops[storage_find_op(&p->source, op)].hands_over && !storage_is_tile_op(op)) return PTO_OK;
    for (uint32_t i = 0; i < pto_operand_count(op); i++) {
        const pto_value v = pto_operand(op, i);
        if (!storage_is_tile(v) || storage_find_value(&p->source, v) != STORAGE_NONE) continue;
        const pto_str name = pto_value_name(v), user = pto_op_name(op);
        return pto_error(op, "pto.select/mixed",
                         "`%.*s` uses `%%%.*s`, which is a descriptor already; a kernel is either selected or not",
                         PTO_FMT(user), PTO_FMT(name));
    }
    return PTO_OK;
}

pto_status select_plan_make(select_plan *p, const pto_run *run, pto_op kernel, int in_place)
{
    *p = (select_plan){.run = run, .kernel = kernel, .last_buffer = pto_op_none(run)};
    PTO_WALK(kernel, op) PTO_TRY(check_op(p, op));
    p->storage = storage_plan_make(run, in_place);
    storage_read(&p->storage, &p->source, kernel);
    PTO_WALK(kernel, user) PTO_TRY(check_operands(p, user));
    p->values = PTO_SCRATCH(run, select_value, p->storage.value_count);
    p->scratches = PTO_SCRATCH(run, pto_value, p->storage.scratch_count);
    pto_count_by(run, STAT_IN_PLACE, p->storage.shared);
    return PTO_OK;
}
