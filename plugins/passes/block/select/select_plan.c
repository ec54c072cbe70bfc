/* Checks what a kernel holds, and lets the rule of storage_plan.h say which tiles share a buffer. */
#include "select_plan.h"

static pto_status check_op(const select_plan *p, pto_op op)
{
    if (pto_kind_column(p->run, pto_op_kind(op), PTO_COLUMN_PARTNER) != 0 || !storage_is_tile_op(op) ||
        PTO_IS(op, ZERO_ACC))
        return PTO_OK;
    const pto_str name = pto_op_name(op);
    return pto_error(op, "pto.select/no-instruction",
                     "`%.*s` has no PTO instruction; bufferize and outline replace it before", PTO_FMT(name));
}

/* What is to rotate needs a trip number to turn with. */
static pto_status check_stages(const select_plan *p, uint32_t place)
{
    const region_table *r = &p->source.regions;
    const pto_op op = r->ops[place].op;
    const uint32_t loop = region_loop_around(r, place);
    if (loop == REGION_NONE || r->ops[loop].kind != REGION_WHILE || !storage_on_tiles(&p->source, place - 1) ||
        pto_attr_int_of(op, PTO_STR("stages"), 1) < 2)
        return PTO_OK;
    const pto_str name = pto_op_name(op);
    pto_error(op, "pto.select/stages",
              "`%.*s` rotates through %lld buffers in a `while`, whose iterations have no number to rotate by; leave "
              "`stages` out, or put a `for` around what is loaded",
              PTO_FMT(name), (long long)pto_attr_int_of(op, PTO_STR("stages"), 1));
    pto_note(r->ops[loop].op, "the `while` is here");
    return PTO_FAILED;
}

static pto_status check_operands(const select_plan *p, uint32_t k)
{
    const pto_op op = storage_op_at(&p->source, k);
    if (!p->storage.ops[k].hands_over && !storage_on_tiles(&p->source, k)) return PTO_OK;
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        const pto_value v = pto_op_operand(op, i);
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
    p->is_packed = pto_machine_i64_or(run, 0, "matrix.packed") != 0;
    p->dim_min = pto_machine_i64_or(run, 0, "matrix.dim-min");
    PTO_WALK(kernel, op) PTO_TRY(check_op(p, op));
    p->storage = storage_plan_make(run, in_place);
    storage_read(&p->storage, &p->source, kernel);
    for (uint32_t place = 1; place < p->source.regions.count; place++) {
        PTO_TRY(check_stages(p, place));
        PTO_TRY(check_operands(p, place - 1));
    }
    p->values = PTO_SCRATCH(run, select_value, p->storage.value_count);
    p->scratches = PTO_SCRATCH(run, pto_value, p->storage.scratch_count);
    pto_stat_add(run, STAT_IN_PLACE, p->storage.shared);
    return PTO_OK;
}
