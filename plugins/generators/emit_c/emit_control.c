/* Loops, branches, and ops on scalars. */
#include "emit.h"

/* Results of a loop are what it carries. */
static void alias_results(emitter *e, pto_op op, pto_block block, uint32_t first)
{
    for (uint32_t i = 0; i < pto_op_result_count(op); i++)
        if (!storage_is_tile(pto_op_result(op, i)))
            emit_alias(e, pto_op_result(op, i), emit_value(e, pto_block_arg(block, first + i)));
}

/* The operands of `from`, a loop or a yield, become what the block has as arguments. */
static pto_status hand_to(emitter *e, pto_block block, uint32_t first, pto_op from, uint32_t count, int declares)
{
    pto_value *to = PTO_SCRATCH(e->run, pto_value, count), *values = PTO_SCRATCH(e->run, pto_value, count);
    for (uint32_t i = 0; i < count; i++) {
        to[i] = pto_block_arg(block, first + i);
        values[i] = pto_op_operand(from, i);
    }
    return emit_hand_over(e, count, to, values, declares);
}

static int holds_workspaces(emitter *e, pto_op op)
{
    PTO_WALK(op, inner)
    if (EMIT_IS(e, inner, WORKSPACE)) return 1;
    return 0;
}

static int carries_memory(pto_op op)
{
    for (uint32_t i = 0; i < pto_op_result_count(op); i++)
        if (pto_type_kind_of(pto_value_type(pto_op_result(op, i))) == PTO_TYPE_GM) return 1;
    return 0;
}

/* The body of a loop; workspaces of an iteration end with it. */
static pto_status loop_body(emitter *e, pto_op loop, pto_block body)
{
    const int frees = !e->is_kernel && holds_workspaces(e, loop) && !carries_memory(loop);
    const char *mark = frees ? emit_spare(e, "mark") : NULL;
    if (frees) text_line(e->out, "const uint64_t %s = call_->services->mark(call_->services->self);", mark);
    PTO_TRY(emit_block(e, body));
    if (frees) text_line(e->out, "call_->services->release(call_->services->self, %s);", mark);
    return PTO_OK;
}

static pto_status put_for(emitter *e, pto_op op)
{
    const pto_block body = pto_body(op);
    const uint32_t n = pto_op_result_count(op);
    const pto_expr by = pto_expr_of(op, PTO_STR("step"), 0);
    const char *index = emit_value(e, pto_block_arg(body, 0)), *step = emit_index(e, by);
    const char *from = emit_index_of(e, op, "from", 0), *to = emit_index_of(e, op, "to", 0);
    emit_comment(e, op);
    if (strchr(to, '(') != NULL) to = emit_extent(e, pto_expr_of(op, PTO_STR("to"), 0), "end");
    PTO_TRY(hand_to(e, body, 1, op, n, 1));
    if (pto_expr_range(by, op, NULL).lo < 1)
        text_line(e->out, "if (%s < 1) return %u;", step, emit_fault_of(e, op, "has a step below 1"));
    if (strcmp(step, "1") == 0)
        text_open(e->out, "for (int64_t %s = %s; %s < %s; %s++)", index, from, index, to, index);
    else
        text_open(e->out, "for (int64_t %s = %s; %s < %s; %s += %s)", index, from, index, to, index, step);
    PTO_TRY(loop_body(e, op, body));
    PTO_TRY(hand_to(e, body, 1, pto_block_terminator(body), n, 0));
    text_close(e->out, "");
    alias_results(e, op, body, 1);
    return PTO_OK;
}

static pto_status emit_for(emitter *e, pto_op op)
{
    text *const out = e->out;
    emit_loop *const around = e->loop;
    text code = {.run = e->run, .depth = out->depth};
    emit_loop loop = {.op = op, .before = code, .after = code};
    e->loop = &loop;
    e->out = &code;
    PTO_TRY(put_for(e, op));
    e->out = out;
    e->loop = around;
    if (loop.before.n != 0) text_bytes(out, loop.before.p, loop.before.n);
    text_bytes(out, code.p, code.n);
    if (loop.after.n != 0) text_bytes(out, loop.after.p, loop.after.n);
    return PTO_OK;
}

static pto_status emit_while(emitter *e, pto_op op)
{
    const pto_block test = pto_body(op), body = pto_op_block_at(op, 1);
    const uint32_t n = pto_op_result_count(op);
    PTO_TRY(hand_to(e, test, 0, op, n, 1));
    for (uint32_t i = 0; i < n; i++)
        if (!storage_is_tile(pto_block_arg(body, i)))
            emit_alias(e, pto_block_arg(body, i), emit_value(e, pto_block_arg(test, i)));
    text_open(e->out, "for (;;)");
    PTO_TRY(emit_block(e, test));
    text_line(e->out, "if (!%s) break;", emit_value(e, pto_op_operand(pto_block_terminator(test), 0)));
    PTO_TRY(loop_body(e, op, body));
    PTO_TRY(hand_to(e, test, 0, pto_block_terminator(body), n, 0));
    text_close(e->out, "");
    alias_results(e, op, test, 0);
    return PTO_OK;
}

static pto_status emit_if(emitter *e, pto_op op)
{
    const uint32_t n = pto_op_result_count(op), blocks = pto_op_block_count(op);
    const char *relation = emit_relation(op);
    pto_value *to = PTO_SCRATCH(e->run, pto_value, n), *from = PTO_SCRATCH(e->run, pto_value, n);
    if (relation == NULL) return emit_refuse(op, "its relation is not known");
    for (uint32_t i = 0; i < n; i++) {
        to[i] = pto_op_result(op, i);
        if (!storage_is_tile(to[i])) text_line(e->out, "%s%s;", emit_type_of(e, to[i]), emit_value(e, to[i]));
    }
    text_open(e->out, "if (%s %s %s)", emit_index_of(e, op, "left", 0), relation, emit_index_of(e, op, "right", 0));
    for (uint32_t b = 0; b < blocks; b++) {
        const pto_block block = pto_op_block_at(op, b);
        const pto_op yield = pto_block_terminator(block);
        if (b != 0) {
            e->out->depth--;
            text_open(e->out, "} else");
        }
        PTO_TRY(emit_block(e, block));
        for (uint32_t i = 0; i < n; i++) from[i] = pto_op_operand(yield, i);
        PTO_TRY(emit_hand_over(e, n, to, from, 0));
    }
    text_close(e->out, "");
    return PTO_OK;
}

static pto_status emit_bind(emitter *e, pto_op op)
{
    const char *symbol = emit_symbol(e, pto_attr_str_of(op, PTO_STR("symbol")));
    text_line(e->out, "const int64_t %s = %s;", symbol, emit_index_of(e, op, "value", 0));
    text_line(e->out, "if (%s < %s || %s > %s) return %u;", symbol, emit_index_of(e, op, "lo", 0), symbol,
              emit_index_of(e, op, "hi", 0), emit_fault_of(e, op, "has a value that is not in its range"));
    return PTO_OK;
}

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

static void define(emitter *e, pto_op op, const char *value)
{
    const pto_value v = pto_op_result(op, 0);
    text_line(e->out, "const %s%s = %s;", emit_type_of(e, v), emit_value(e, v), value);
}

static pto_status emit_scalar_op(emitter *e, pto_op op)
{
    const pto_dtype t = dtype_of(pto_op_result(op, 0));
    if (emit_lane_type(t) == NULL) return emit_refuse(op, "its element type has no C");
    if (EMIT_IS(e, op, CONSTANT)) {
        const char *number = emit_number(e, t, pto_op_attr(op, PTO_STR("value")), 0);
        if (t == PTO_F32) /* in the places where it is used */
            emit_alias(e, pto_op_result(op, 0), number[0] == '-' ? emit_format(e, "(%s)", number) : number);
        else
            define(e, op, number);
        return PTO_OK;
    }
    if (EMIT_IS(e, op, INDEX_CAST)) {
        const char *from = emit_format(e, "(%s)", emit_index_of(e, op, "from", 0));
        define(e, op, emit_convert(e, t, PTO_I64, from, 1, 0, 0));
        return PTO_OK;
    }
    const char *relation = emit_relation(op);
    if (relation == NULL) return emit_refuse(op, "its relation is not known");
    define(e, op,
           emit_format(e, "(uint8_t)(%s %s %s)", emit_value(e, pto_op_operand(op, 0)), relation,
                       emit_value(e, pto_op_operand(op, 1))));
    return PTO_OK;
}

static pto_status emit_op(emitter *e, pto_op op)
{
    if (EMIT_IS(e, op, IF) || EMIT_IS(e, op, WHILE) || EMIT_IS(e, op, BIND)) emit_comment(e, op);
    if (EMIT_IS(e, op, FOR)) return emit_for(e, op);
    if (EMIT_IS(e, op, IF)) return emit_if(e, op);
    if (EMIT_IS(e, op, WHILE)) return emit_while(e, op);
    if (EMIT_IS(e, op, BIND)) return emit_bind(e, op);
    if (EMIT_IS(e, op, CONSTANT) || EMIT_IS(e, op, INDEX_CAST) || EMIT_IS(e, op, COMPARE)) return emit_scalar_op(e, op);
    if (EMIT_IS(e, op, SCALAR_OF)) return emit_scalar_of(e, op);
    if (EMIT_IS(e, op, YIELD)) return PTO_OK;
    if (EMIT_IS(e, op, FUSED)) return emit_fused(e, op);
    if (storage_is_tile_op(op)) return emit_tile_op(e, op);
    return emit_function_op(e, op);
}

pto_status emit_ops(emitter *e, pto_block block)
{
    PTO_EACH_OP(block, op) {
        int taken = 0;
        PTO_TRY(pto_go_on(e->run));
        if (e->is_kernel && fused_stores_product(&e->model, op)) {
            PTO_TRY(emit_stored_product(e, op));
            continue;
        }
        if (e->is_kernel) PTO_TRY(emit_alone(e, op, &taken));
        if (!taken) PTO_TRY(emit_op(e, op));
    }
    return PTO_OK;
}
