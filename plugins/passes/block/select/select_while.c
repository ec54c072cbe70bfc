/* Work that decides about the next iteration goes to where all other work is, so that only bodies hold instructions:
 *
 *     %r = while carry(%a = %x) {           %c = work on %x
 *       %go = work on %a                    %r, %last = while carry(%a = %x, %go = %c) {
 *       yield %go                     =>      yield %go
 *     } do (%b) {                           } do (%b, %gone) {
 *       ..                                    ..
 *       yield %n                              %c1 = work on %n
 *     }                                       yield %n, %c1
 *                                           }
 *
 * Both ask the same questions in the same order. Exact. */
#include "select_plan.h"

static int has_work(pto_op loop)
{
    const pto_block condition = pto_op_block_at(loop, 0);
    PTO_EACH_OP(condition, op) {
        if (storage_is_tile_op(op)) return 1;
        PTO_WALK(op, inner)
        if (storage_is_tile_op(inner)) return 1;
    }
    return 0;
}

static pto_value image_of(pto_value v, uint32_t count, const pto_value *from, const pto_value *to)
{
    for (uint32_t i = 0; i < count; i++) {
        if (pto_value_same(from[i], v)) return to[i];
    }
    return v;
}

/* The condition again at `place`, about `carried`; what it yields. */
static pto_value copy_condition(const pto_run *run, pto_op loop, const pto_value *carried, pto_place place)
{
    const pto_block condition = pto_op_block_at(loop, 0);
    uint32_t count = pto_block_arg_count(condition), capacity = count;
    PTO_EACH_OP(condition, op) capacity += pto_op_result_count(op);
    pto_value *from = PTO_SCRATCH(run, pto_value, capacity), *to = PTO_SCRATCH(run, pto_value, capacity);
    for (uint32_t i = 0; i < count; i++) {
        from[i] = pto_block_arg(condition, i);
        to[i] = carried[i];
    }
    const pto_op yield = pto_block_last(condition);
    PTO_EACH_OP(condition, op) {
        if (pto_op_same(op, yield)) break;
        const pto_op copy = pto_op_clone(op, place, count, from, to);
        if (!PTO_SOME(copy)) return pto_value_none(run);
        for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
            from[count] = pto_op_result(op, i);
            to[count++] = pto_op_result(copy, i);
        }
    }
    return image_of(pto_op_operand(yield, 0), count, from, to);
}

/* Arguments of a block of the new loop like those of the old, and one more; that one. */
static pto_value add_arguments(const pto_run *run, pto_block from, pto_block to, pto_type decision)
{
    for (uint32_t i = 0, end = pto_block_arg_count(from); i < end; i++) {
        const pto_value old = pto_block_arg(from, i), made = pto_block_add_arg(to, pto_value_type(old), PTO_STR("c"));
        if (!PTO_SOME(made) || pto_value_set_name(made, pto_value_name(old)) != PTO_OK) return pto_value_none(run);
    }
    return pto_block_add_arg(to, decision, PTO_STR("go"));
}

static pto_status build_yield(const pto_run *run, pto_op old, uint32_t count, const pto_value *values, pto_value last,
                              pto_block to)
{
    pto_spec s = pto_spec_make(run, pto_op_kind(old));
    pto_spec_operands(&s, count, values);
    pto_spec_operand(&s, last);
    pto_spec_loc(&s, pto_op_loc(old));
    return PTO_SOME(pto_spec_build(&s, pto_at_end(to))) ? PTO_OK : PTO_FAILED;
}

/* The body moves over; its arguments are those of the new loop. */
static pto_status move_body(const pto_run *run, pto_op loop, pto_op made, pto_type decision)
{
    const pto_block from = pto_op_block_at(loop, 1), to = pto_op_block_at(made, 1);
    const pto_op yield = pto_block_last(from);
    const uint32_t count = pto_op_operand_count(yield);
    PTO_NEED(add_arguments(run, from, to, decision));
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pto_value_replace(pto_block_arg(from, i), pto_block_arg(to, i)));
    PTO_EACH_OP(from, op) {
        if (!pto_op_same(op, yield)) PTO_TRY(pto_op_move(op, pto_at_end(to)));
    }
    pto_value *next = PTO_SCRATCH(run, pto_value, count);
    for (uint32_t i = 0; i < count; i++) next[i] = pto_op_operand(yield, i);
    const pto_value again = copy_condition(run, loop, next, pto_at_end(to));
    PTO_NEED(again);
    return build_yield(run, yield, count, next, again, to);
}

static pto_status rotate(const pto_run *run, pto_op loop)
{
    const uint32_t count = pto_op_result_count(loop);
    const pto_block condition = pto_op_block_at(loop, 0);
    pto_value *carried = PTO_SCRATCH(run, pto_value, count);
    for (uint32_t i = 0; i < count; i++) carried[i] = pto_op_operand(loop, i);
    const pto_value first = copy_condition(run, loop, carried, pto_before(loop));
    PTO_NEED(first);
    const pto_type decision = pto_value_type(first);
    pto_spec s = pto_spec_make(run, pto_op_kind(loop));
    pto_spec_operands(&s, count, carried);
    pto_spec_operand(&s, first);
    for (uint32_t i = 0; i < count; i++) pto_spec_result(&s, pto_value_type(pto_op_result(loop, i)));
    pto_spec_result(&s, decision);
    pto_spec_blocks(&s, 2);
    pto_spec_loc(&s, pto_op_loc(loop));
    const pto_op made = pto_spec_build(&s, pto_before(loop));
    PTO_NEED(made);
    const pto_value go = add_arguments(run, condition, pto_op_block_at(made, 0), decision);
    PTO_NEED(go);
    PTO_TRY(build_yield(run, pto_block_last(condition), 0, NULL, go, pto_op_block_at(made, 0)));
    PTO_TRY(move_body(run, loop, made, decision));
    for (uint32_t i = 0; i < count; i++) {
        PTO_TRY(pto_value_set_name(pto_op_result(made, i), pto_value_name(pto_op_result(loop, i))));
        PTO_TRY(pto_value_replace(pto_op_result(loop, i), pto_op_result(made, i)));
    }
    return pto_op_erase(loop);
}

pto_status select_rotate_loops(const pto_run *run, pto_op kernel)
{
    uint32_t count = 0, capacity = 0;
    pto_op *loops = NULL;
    PTO_WALK(kernel, op)
    {
        if (!PTO_IS(op, WHILE)) continue;
        PTO_GROW(run, loops, count, capacity);
        loops[count++] = op;
    }
    while (count-- > 0) { /* inner ones first */
        if (!has_work(loops[count])) continue;
        pto_stat_add(run, STAT_ROTATED, 1);
        PTO_TRY(rotate(run, loops[count]));
    }
    return PTO_OK;
}
