/* Nests that make the same in each iteration run once, before the loop, where there is an iteration. */
#include "sink_loops.h"

enum { HOIST_BODY_MAX = 256 };

typedef struct loop_body {
    pto_op loop, ops[HOIST_BODY_MAX];
    uint8_t changes[HOIST_BODY_MAX]; /* from iteration to iteration, or is not what is hoisted */
    uint32_t count;
} loop_body;

/* The ops of the body that read the value change with it. */
static void spread_change(loop_body *b, pto_value v)
{
    PTO_EACH_USE(v, use) {
        pto_op top = use.op;
        while (!pto_op_same(pto_op_parent(top), b->loop)) top = pto_op_parent(top);
        for (uint32_t i = 0; i < b->count; i++)
            if (pto_op_same(b->ops[i], top)) b->changes[i] = 1;
    }
}

/* A nest with memory of its own, of which the loop does not hand on a result. */
static int is_hoistable(pto_op op)
{
    if (!PTO_IS(op, FORALL)) return 0;
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (!PTO_IS(pto_value_op(pto_op_operand(op, i)), EMPTY)) return 0;
    for (uint32_t i = 0; i < pto_op_result_count(op); i++) {
        PTO_EACH_USE(pto_op_result(op, i), use) {
            if (PTO_IS(use.op, YIELD) && pto_block_same(pto_op_block(use.op), pto_op_block(op))) return 0;
        }
    }
    return 1;
}

static void find_changes(loop_body *b)
{
    for (uint32_t i = 0; i < pto_block_arg_count(pto_body(b->loop)); i++)
        spread_change(b, pto_block_arg(pto_body(b->loop), i));
    for (uint32_t i = 0; i < b->count; i++) {
        if (PTO_IS(b->ops[i], EMPTY)) continue;
        b->changes[i] |= !is_hoistable(b->ops[i]);
        for (uint32_t r = 0; b->changes[i] && r < pto_op_result_count(b->ops[i]); r++)
            spread_change(b, pto_op_result(b->ops[i], r));
    }
}

pto_status sink_hoist(const pto_run *run, pto_op loop)
{
    loop_body b = {.loop = loop};
    if (!sink_has_iteration(run, loop)) return PTO_OK;
    PTO_EACH_OP(pto_body(loop), op) {
        /* Extents that are bound in an iteration are its own. */
        if (b.count == HOIST_BODY_MAX || PTO_IS(op, BIND)) return PTO_OK;
        b.ops[b.count++] = op;
    }
    find_changes(&b);
    for (uint32_t i = 0; i < b.count; i++) {
        if (b.changes[i] || !PTO_IS(b.ops[i], FORALL)) continue;
        for (uint32_t k = 0; k < pto_op_operand_count(b.ops[i]); k++) {
            const pto_op empty = pto_value_op(pto_op_operand(b.ops[i], k));
            if (sink_is_inside(empty, loop)) PTO_TRY(pto_op_move(empty, pto_before(loop)));
        }
        PTO_TRY(pto_op_move(b.ops[i], pto_before(loop)));
        pto_remark(b.ops[i], "pto.sink-loops/hoisted",
                   "runs once, before the loop: it makes the same in each iteration");
        pto_stat_add(run, STAT_HOISTED, 1);
    }
    return PTO_OK;
}
