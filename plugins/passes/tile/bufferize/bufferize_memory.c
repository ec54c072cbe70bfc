/* Which memory a tensor is, and which nests may write over it. */
#include "bufferize.h"

pto_value bufferize_origin(pto_value v)
{
    while (PTO_IS(pto_value_op(v), VIEW)) v = pto_op_operand(pto_value_op(v), 0);
    return v;
}

pto_value bufferize_root(const pto_run *run, pto_value v, pto_value *last_nest)
{
    *last_nest = pto_value_none(run);
    for (;;) {
        v = bufferize_origin(v);
        pto_op def = pto_value_op(v);
        if (!PTO_IS(def, FORALL)) return v;
        if (!PTO_SOME(*last_nest)) *last_nest = v;
        v = pto_op_operand(def, pto_value_index(v));
    }
}

const char *bufferize_view_reason(pto_value v, pto_value root)
{
    const pto_dtype made = pto_type_dtype(pto_value_type(root)), wanted = pto_type_dtype(pto_value_type(v));
    return made == PTO_BOOL && wanted != PTO_BOOL ? "its bytes were truth values" : NULL;
}

int bufferize_is_written(pto_value empty)
{
    PTO_EACH_USE(empty, use) {
        if (PTO_IS(use.op, FORALL) || PTO_IS(use.op, FOR) || PTO_IS(use.op, WHILE)) return 1;
        if (PTO_IS(use.op, VIEW) && bufferize_is_written(pto_op_result(use.op, 0))) return 1;
    }
    return 0;
}

/* ---- what nests may write over ---- */

/* The op of the block that `op` is or is in. */
static pto_op op_within(pto_op op, pto_block block)
{
    while (!pto_block_same(pto_op_block(op), block)) op = pto_op_parent(op);
    return op;
}

/* Elements are seen directly or through views. What a loop or branch hands on may be used anywhere. */
int bufferize_is_used_later(pto_value value, pto_op op, uint32_t slot, pto_value *todo)
{
    const pto_block block = pto_op_block(op);
    uint32_t count = 0;
    todo[count++] = value;
    while (count != 0) {
        pto_value v = todo[--count];
        PTO_EACH_USE(v, use) {
            pto_op top = op_within(use.op, block);
            if (PTO_IS(use.op, VIEW) && pto_op_same(top, use.op)) {
                todo[count++] = pto_op_result(use.op, 0);
                continue;
            }
            if (pto_op_same(use.op, op) && use.slot == slot) continue;
            if (PTO_IS(use.op, YIELD) || bufferize_is_control(use.op) || !pto_op_is_before(top, op)) return 1;
        }
    }
    return 0;
}

static int is_inout(pto_value param)
{
    pto_op function = pto_block_parent(pto_value_block(param));
    pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    uint32_t i = pto_value_index(param);
    return PTO_SOME(modes) && i < pto_attr_count(modes) &&
           pto_str_is(pto_attr_str(pto_attr_item(modes, i, NULL)), "inout");
}

/* Whether the value is what an iteration begins with of a tensor that its loop carries in one place. */
static int is_kept_argument(const bufferizer *b, pto_value v)
{
    const pto_block block = pto_value_block(v);
    const pto_op loop = pto_block_parent(block);
    const uint32_t count = pto_op_result_count(loop), all = pto_block_arg_count(block);
    if (!pto_block_same(block, pto_op_block_at(loop, pto_op_block_count(loop) - 1)) || all < count) return 0;
    const uint32_t first = all - count, i = pto_value_index(v);
    return i >= first && bufferize_is_kept(b, loop, i - first);
}

/* Why a nest or loop cannot write over what its operand `i` is; NULL: it can. */
static const char *match_copy_reason(const bufferizer *b, pto_op nest, uint32_t i, pto_value *todo)
{
    const pto_value origin = bufferize_origin(pto_op_operand(nest, i));
    const pto_op def = pto_value_op(origin);
    if (PTO_IS(def, EMPTY)) return NULL;
    if (PTO_IS(def, ARRAY)) return "it is a constant";
    if (PTO_SOME(def) && bufferize_is_control(def) && !bufferize_is_kept(b, def, pto_value_index(origin)))
        return "a loop or branch hands it on";
    const pto_block block = PTO_SOME(def) ? pto_op_block(def) : pto_value_block(origin);
    const int is_parameter = !PTO_SOME(def) && pto_op_same(pto_block_parent(block), b->function);
    if (!PTO_SOME(def) && !is_parameter && !is_kept_argument(b, origin)) return "a loop carries it";
    if (is_parameter && !is_inout(origin)) return "it is a parameter that may not be written to";
    if (!pto_block_same(block, pto_op_block(nest))) return "it is also there in other iterations and branches";
    if (bufferize_is_used_later(origin, nest, i, todo)) return "its old elements are used after they are overwritten";
    return NULL;
}

/* An empty tensor has no elements to keep, so each nest that starts from it gets one of its own. */
static pto_status own_empty(const pto_run *run, pto_op nest, uint32_t i)
{
    const pto_value v = pto_op_operand(nest, i);
    const pto_op empty = pto_value_op(bufferize_origin(v));
    if (!PTO_IS(empty, EMPTY)) return PTO_OK;
    int shared = !pto_block_same(pto_op_block(empty), pto_op_block(nest));
    for (pto_value at = v;; at = pto_op_operand(pto_value_op(at), 0)) {
        shared |= pto_value_use_count(at) > 1;
        if (!PTO_IS(pto_value_op(at), VIEW)) break;
    }
    if (!shared) return PTO_OK;
    const pto_value fresh = bufferize_empty(run, pto_before(nest), pto_value_type(v), PTO_STR("e"));
    PTO_NEED(fresh);
    return pto_op_set_operand(nest, i, fresh);
}

uint32_t bufferize_value_count(const bufferizer *b)
{
    uint32_t count = 1;
    PTO_WALK(b->function, op)
    count += 1 + 4 * pto_op_operand_count(op); /* a copy makes three views at most */
    return count;
}

pto_status bufferize_separate_one(bufferizer *b, pto_op op, uint32_t slot, pto_value *todo)
{
    PTO_TRY(own_empty(b->run, op, slot));
    const char *why = match_copy_reason(b, op, slot, todo);
    if (why == NULL) return PTO_OK;
    const pto_value copy = bufferize_copy(b, op, pto_op_operand(op, slot), why);
    PTO_NEED(copy);
    return pto_op_set_operand(op, slot, copy);
}

pto_status bufferize_separate(bufferizer *b)
{
    pto_value *todo = PTO_SCRATCH(b->run, pto_value, bufferize_value_count(b));
    PTO_WALK(b->function, op)
    {
        if (!PTO_IS(op, FORALL)) continue;
        for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++)
            PTO_TRY(bufferize_separate_one(b, op, i, todo));
    }
    return PTO_OK;
}
