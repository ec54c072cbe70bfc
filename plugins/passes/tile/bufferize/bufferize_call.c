/* Calls of functions that write to their parameters.
 *
 *     %y, %n = call @g(%x, %m)   =>   %y, %n = forall "call" (%i) to (1) out(%o = %e, %p = %m) { call @g(%x, %o, %p) }
 *
 * While tensors are values, such a call is a nest with one instance: what holds for nests, such as which memory they
 * may write over, holds for it. In the end the call takes the place of the nest. */
#include "bufferize.h"

enum param_mode { MODE_IN, MODE_OUT, MODE_INOUT };

static enum param_mode mode_of(pto_op function, uint32_t i)
{
    const pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    if (!PTO_SOME(modes) || i >= pto_attr_count(modes)) return MODE_IN;
    const pto_str mode = pto_attr_str(pto_attr_item(modes, i, NULL));
    if (pto_str_is(mode, "out")) return MODE_OUT;
    return pto_str_is(mode, "inout") ? MODE_INOUT : MODE_IN;
}

static pto_op callee_of(pto_op call) { return pto_symbol_find(call.run, pto_attr_str_of(call, PTO_STR("callee"))); }

int bufferize_is_call_of_memory(pto_op call)
{
    const pto_op callee = callee_of(call);
    if (!PTO_SOME(callee) || PTO_SOME(pto_op_attr(callee, PTO_STR("results")))) return 0;
    const pto_block body = pto_body(callee);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++)
        if (bufferize_is_tensor(pto_block_arg(body, i))) return 0;
    PTO_WALK(callee, op)
    {
        const int64_t home = pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_HOME);
        if (home != PTO_HOME_ANY && home != PTO_HOME_TILE) return 0;
    }
    return 1;
}

static pto_status fill_nest(pto_op call, pto_op callee, pto_op nest, pto_op *out)
{
    const pto_run *run = call.run;
    const pto_block body = pto_body(nest);
    PTO_NEED(pto_block_add_arg(body, pto_type_scalar(run, PTO_INDEX), PTO_STR("i")));
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_CALL));
    pto_spec_attrs_of(&s, call);
    uint32_t next = 0, made = 0;
    for (uint32_t i = 0; i < pto_block_arg_count(pto_body(callee)); i++) {
        const enum param_mode mode = mode_of(callee, i);
        pto_value v = mode == MODE_OUT ? pto_op_result(call, made) : pto_op_operand(call, next++);
        if (mode != MODE_IN) {
            v = pto_block_add_arg(body, pto_value_type(v), PTO_STR("o"));
            PTO_NEED(v);
            made++;
        }
        pto_spec_operand(&s, v);
    }
    pto_spec_loc(&s, pto_op_loc(call));
    *out = pto_spec_build(&s, pto_at_end(body));
    PTO_NEED(*out);
    pto_spec yield = pto_spec_make(run, pto_kind(run, KIND_YIELD));
    return PTO_SOME(pto_spec_build(&yield, pto_at_end(body))) ? PTO_OK : PTO_FAILED;
}

static pto_status wrap_call(bufferizer *b, pto_op call)
{
    const pto_run *run = b->run;
    const pto_op callee = callee_of(call);
    const pto_expr one = pto_expr_const(run, 1);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FORALL));
    pto_spec_str(&s, PTO_STR("label"), PTO_STR("call"));
    pto_spec_exprs(&s, PTO_STR("to"), 1, &one);
    uint32_t next = 0, made = 0;
    for (uint32_t i = 0; i < pto_block_arg_count(pto_body(callee)); i++) {
        const enum param_mode mode = mode_of(callee, i);
        pto_value v = mode == MODE_OUT ? pto_value_none(run) : pto_op_operand(call, next++);
        if (mode == MODE_IN) continue;
        const pto_value result = pto_op_result(call, made++);
        if (mode == MODE_OUT)
            v = bufferize_empty(run, pto_before(call), pto_value_type(result), pto_value_name(result));
        PTO_NEED(v);
        pto_spec_operand(&s, v);
        pto_spec_result(&s, pto_value_type(result));
    }
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(call));
    const pto_op nest = pto_spec_build(&s, pto_before(call));
    PTO_NEED(nest);
    PTO_GROW(run, b->calls, b->call_count, b->call_capacity);
    PTO_TRY(fill_nest(call, callee, nest, &b->calls[b->call_count++]));
    for (uint32_t i = 0; i < made; i++) {
        const pto_value result = pto_op_result(call, i);
        PTO_TRY(pto_value_set_name(pto_op_result(nest, i), pto_value_name(result)));
        PTO_TRY(pto_value_replace(result, pto_op_result(nest, i)));
    }
    return pto_op_erase(call);
}

pto_status bufferize_wrap_calls(bufferizer *b)
{
    uint32_t count = 0, capacity = 0;
    pto_op *calls = NULL;
    PTO_WALK(b->function, op)
    {
        if (!PTO_IS(op, CALL) || pto_op_result_count(op) == 0) continue;
        PTO_GROW(b->run, calls, count, capacity);
        calls[count++] = op;
    }
    for (uint32_t i = 0; i < count; i++) PTO_TRY(wrap_call(b, calls[i]));
    return PTO_OK;
}

static int is_wrapped(const bufferizer *b, pto_op call)
{
    for (uint32_t i = 0; i < b->call_count; i++)
        if (pto_op_same(b->calls[i], call)) return 1;
    return 0;
}

pto_status bufferize_unwrap_calls(bufferizer *b)
{
    uint32_t count = 0;
    pto_op *calls = PTO_SCRATCH(b->run, pto_op, b->call_count);
    PTO_WALK(b->function, op)
    {
        if (PTO_IS(op, CALL) && is_wrapped(b, op)) calls[count++] = op; /* others went with their nests */
    }
    for (uint32_t i = 0; i < count; i++) {
        const pto_op nest = pto_op_parent(calls[i]);
        PTO_TRY(pto_op_move(calls[i], pto_before(nest)));
        PTO_TRY(pto_op_erase(nest));
    }
    return PTO_OK;
}
