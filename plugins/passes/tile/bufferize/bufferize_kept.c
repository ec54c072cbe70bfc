/* Loops that carry a tensor in one place.
 *
 *     %r = for %i to $T carry(%a = %x) {           for %i to $T {
 *       %y = forall .. out(%o = %a) { .. }    =>     forall .. { to %x }
 *       yield %y                                   }
 *     }                                            %x is %r
 *
 * Each iteration begins with memory that nobody else needs, changes a part of it and hands it on: nests that write to
 * what they were handed, and loops inside that do the same. Nothing reads an element as it was after the nest that
 * overwrites it. What such a loop begins with is copied once, before it, where it may not be written to. */
#include "bufferize.h"

static pto_block last_block(pto_op op) { return pto_op_block_at(op, pto_op_block_count(op) - 1); }

int bufferize_is_kept(const bufferizer *b, pto_op loop, uint32_t slot)
{
    for (uint32_t i = 0; i < b->kept_count; i++)
        if (pto_op_same(b->kept[i].loop, loop) && b->kept[i].slot == slot) return 1;
    return 0;
}

/* Whether the value is made by writing to what its op was handed. */
static int is_update(const bufferizer *b, pto_value v)
{
    const pto_op def = pto_value_op(v);
    return PTO_IS(def, FORALL) || bufferize_is_kept(b, def, pto_value_index(v));
}

static int match_kept(const bufferizer *b, pto_op loop, uint32_t slot, pto_value *todo)
{
    const pto_block body = last_block(loop);
    const uint32_t first = pto_block_arg_count(body) - pto_op_result_count(loop);
    const pto_value begin = pto_block_arg(body, first + slot);
    pto_value v = bufferize_origin(pto_op_operand(pto_block_terminator(body), slot));
    if (pto_value_same(v, begin)) return 0;
    while (!pto_value_same(v, begin)) {
        if (!is_update(b, v)) return 0;
        const pto_op def = pto_value_op(v);
        const uint32_t i = pto_value_index(v);
        if (!pto_block_same(pto_op_block(def), body)) return 0;
        v = bufferize_origin(pto_op_operand(def, i));
        const pto_op before = pto_value_op(v);
        const pto_block home = PTO_SOME(before) ? pto_op_block(before) : pto_value_block(v);
        if (!pto_block_same(home, body) || bufferize_is_used_later(v, def, i, todo)) return 0;
    }
    return 1;
}

static pto_status find_in_loop(bufferizer *b, pto_op loop, pto_value *todo)
{
    for (uint32_t i = 0; i < pto_op_result_count(loop); i++) {
        if (!bufferize_is_tensor(pto_op_result(loop, i)) || !match_kept(b, loop, i, todo)) continue;
        PTO_GROW(b->run, b->kept, b->kept_count, b->kept_capacity);
        b->kept[b->kept_count++] = (kept_tensor){loop, i};
    }
    return PTO_OK;
}

/* Inner loops first, since what they hand on is a part of what those around them change. */
pto_status bufferize_find_kept(bufferizer *b)
{
    uint32_t count = 0, capacity = 0;
    pto_op *loops = NULL;
    PTO_WALK(b->function, op)
    {
        if (!PTO_IS(op, FOR) && !PTO_IS(op, WHILE)) continue;
        PTO_GROW(b->run, loops, count, capacity);
        loops[count++] = op;
    }
    if (count == 0) return PTO_OK;
    pto_value *todo = PTO_SCRATCH(b->run, pto_value, bufferize_value_count(b));
    while (count-- > 0) PTO_TRY(find_in_loop(b, loops[count], todo));
    for (uint32_t i = 0; i < b->kept_count; i++) {
        todo = PTO_SCRATCH(b->run, pto_value, bufferize_value_count(b));
        PTO_TRY(bufferize_separate_one(b, b->kept[i].loop, b->kept[i].slot, todo));
    }
    return PTO_OK;
}

/* The arguments and ops of a block, without the carried values that are kept. */
static pto_status take_block(const bufferizer *b, pto_op old, pto_op fresh, uint32_t block)
{
    const pto_block from = pto_op_block_at(old, block), to = pto_op_block_at(fresh, block);
    const uint32_t count = pto_op_result_count(old), all = pto_block_arg_count(from), first = all - count;
    for (uint32_t i = 0; i < all; i++) {
        const pto_value arg = pto_block_arg(from, i);
        pto_value now;
        if (i >= first && bufferize_is_kept(b, old, i - first))
            now = bufferize_view(b->run, pto_before(fresh), pto_op_operand(old, i - first), pto_value_type(arg),
                                 pto_value_name(arg));
        else
            now = pto_block_add_arg(to, pto_value_type(arg), pto_value_name(arg));
        PTO_NEED(now);
        PTO_TRY(pto_value_replace(arg, now));
    }
    PTO_EACH_OP(from, op) PTO_TRY(pto_op_move(op, pto_at_end(to)));
    return PTO_OK;
}

static pto_op build_without(const bufferizer *b, pto_op old)
{
    pto_spec s = pto_spec_make(b->run, pto_op_kind(old));
    pto_spec_attrs_of(&s, old);
    for (uint32_t i = 0; i < pto_op_result_count(old); i++) {
        if (bufferize_is_kept(b, old, i)) continue;
        pto_spec_operand(&s, pto_op_operand(old, i));
        pto_spec_result(&s, pto_value_type(pto_op_result(old, i)));
    }
    pto_spec_blocks(&s, pto_op_block_count(old));
    pto_spec_loc(&s, pto_op_loc(old));
    return pto_spec_build(&s, pto_before(old));
}

static pto_status end_without(const bufferizer *b, pto_op old, pto_op fresh)
{
    const pto_op yield = pto_block_terminator(last_block(fresh));
    pto_spec s = pto_spec_make(b->run, pto_kind(b->run, KIND_YIELD));
    for (uint32_t i = 0; i < pto_op_operand_count(yield); i++)
        if (!bufferize_is_kept(b, old, i)) pto_spec_operand(&s, pto_op_operand(yield, i));
    pto_spec_loc(&s, pto_op_loc(yield));
    PTO_NEED(pto_spec_build(&s, pto_before(yield)));
    return pto_op_erase(yield);
}

pto_status bufferize_drop_kept(bufferizer *b, pto_op *loop)
{
    const pto_op old = *loop;
    int is_any = 0;
    for (uint32_t i = 0; i < pto_op_result_count(old); i++) is_any |= bufferize_is_kept(b, old, i);
    if (!is_any) return PTO_OK;
    const pto_op fresh = build_without(b, old);
    PTO_NEED(fresh);
    for (uint32_t block = 0; block < pto_op_block_count(old); block++) PTO_TRY(take_block(b, old, fresh, block));
    PTO_TRY(end_without(b, old, fresh));
    for (uint32_t i = 0, next = 0; i < pto_op_result_count(old); i++) {
        const pto_value result = pto_op_result(old, i);
        pto_value now;
        if (bufferize_is_kept(b, old, i))
            now = bufferize_view(b->run, pto_before(fresh), pto_op_operand(old, i), pto_value_type(result),
                                 pto_value_name(result));
        else {
            now = pto_op_result(fresh, next++);
            PTO_TRY(pto_value_set_name(now, pto_value_name(result)));
        }
        PTO_NEED(now);
        PTO_TRY(pto_value_replace(result, now));
    }
    *loop = fresh;
    return pto_op_erase(old);
}
