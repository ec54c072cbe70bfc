/* What may overlap: `may_alias` says which parameter, that is only read, the memory of a result or of an `inout` tensor
 * may overlap. Nothing is written there while elements of the parameter are still needed: where the order of nests says
 * so, that is all; else a result is made elsewhere and copied last, and an `inout` tensor is written to after the
 * parameter was copied. */
#include "bufferize.h"

#define WHY_RESULT "its memory may overlap that of a parameter, which is read until then"
#define WHY_PARAMETER "memory that may overlap it is written to before it is read last"

static pto_op top_op(const bufferizer *b, pto_op op)
{
    while (!pto_op_same(pto_op_parent(op), b->function)) op = pto_op_parent(op);
    return op;
}

static uint32_t pair_count(const bufferizer *b)
{
    const pto_attr pairs = pto_op_attr(b->function, PTO_STR("may_alias"));
    return PTO_SOME(pairs) ? pto_attr_count(pairs) : 0;
}

static int64_t pair_item(const bufferizer *b, uint32_t pair, uint32_t i)
{
    const pto_attr list = pto_attr_item(pto_op_attr(b->function, PTO_STR("may_alias")), pair, NULL);
    return pto_attr_i64(pto_attr_item(list, i, NULL));
}

/* ---- whether the order of nests is enough ---- */

/* Ops of the function's body that use memory: the first that may write to it and the last that uses it. */
typedef struct use_span {
    pto_op first_write, last_use;
    int escapes; /* it is handed on: what uses it then is not known */
} use_span;

static void note_use(const bufferizer *b, use_span *s, pto_use use)
{
    const pto_op top = top_op(b, use.op);
    const int is_control = bufferize_is_control(use.op) || PTO_IS(use.op, YIELD);
    const int is_write = is_control || PTO_IS(use.op, CALL) || PTO_IS(use.op, FORALL);
    s->escapes |= is_control || PTO_IS(use.op, CALL);
    if (is_write && (!PTO_SOME(s->first_write) || pto_op_is_before(top, s->first_write))) s->first_write = top;
    if (!PTO_SOME(s->last_use) || pto_op_is_before(s->last_use, top)) s->last_use = top;
}

/* Through views. */
static use_span find_uses(const bufferizer *b, pto_value memory)
{
    use_span s = {pto_op_none(b->run), pto_op_none(b->run), 0};
    pto_value *todo = PTO_SCRATCH(b->run, pto_value, bufferize_value_count(b));
    uint32_t count = 0;
    todo[count++] = memory;
    while (count != 0) {
        const pto_value v = todo[--count];
        PTO_EACH_USE(v, use) {
            if (PTO_IS(use.op, VIEW))
                todo[count++] = pto_op_result(use.op, 0);
            else
                note_use(b, &s, use);
        }
    }
    return s;
}

/* Whether all that reads the parameter runs before all that writes to the memory. */
static int is_ordered(const bufferizer *b, pto_value memory, pto_value parameter)
{
    const use_span w = find_uses(b, memory), r = find_uses(b, parameter);
    if (!PTO_SOME(r.last_use) || !PTO_SOME(w.first_write)) return 1;
    return !r.escapes && pto_op_is_before(r.last_use, w.first_write);
}

/* ---- results ---- */

static int must_copy_result(const bufferizer *b, uint32_t result, pto_value home)
{
    const pto_block body = pto_body(b->function);
    for (uint32_t i = 0; i < pair_count(b); i++)
        if (pair_item(b, i, 0) == -1 - (int64_t)result &&
            !is_ordered(b, home, pto_block_arg(body, (uint32_t)pair_item(b, i, 1))))
            return 1;
    return 0;
}

pto_status bufferize_copy_overlapping(bufferizer *b, pto_op ret, pto_value *homes)
{
    pto_value nest;
    if (pair_count(b) == 0) return PTO_OK;
    for (uint32_t i = 0; i < pto_op_operand_count(ret); i++) {
        if (!must_copy_result(b, i, homes[i])) continue;
        const pto_value copy = bufferize_copy(b, ret, pto_op_operand(ret, i), WHY_RESULT);
        PTO_NEED(copy);
        PTO_TRY(pto_op_set_operand(ret, i, copy));
        homes[i] = bufferize_root(b->run, copy, &nest);
    }
    return PTO_OK;
}

/* ---- `inout` tensors ---- */

/* The number of the pair's parameter that is only read, when both are tensors; else -1. */
static int64_t read_parameter(const bufferizer *b, uint32_t pair, pto_value *out_written)
{
    const pto_block body = pto_body(b->function);
    const pto_attr modes = pto_op_attr(b->function, PTO_STR("params"));
    int64_t written = pair_item(b, pair, 0), read = pair_item(b, pair, 1);
    if (written < 0) return -1;
    if (pto_str_is(pto_attr_str(pto_attr_item(modes, (uint32_t)written, NULL)), "in")) {
        const int64_t other = written;
        written = read;
        read = other;
    }
    *out_written = pto_block_arg(body, (uint32_t)written);
    const pto_value v = pto_block_arg(body, (uint32_t)read);
    return bufferize_is_tensor(v) && bufferize_is_tensor(*out_written) ? read : -1;
}

/* Whether a result that aliases the parameter begins in memory of its own, and may be made in that of the parameter. */
static int is_replaced(const bufferizer *b, pto_value parameter)
{
    const pto_op ret = pto_block_terminator(pto_body(b->function));
    pto_value nest;
    for (uint32_t i = 0; i < pto_op_operand_count(ret); i++)
        if (bufferize_alias_of(b, i) == (int64_t)pto_value_index(parameter) &&
            !pto_value_same(bufferize_root(b->run, pto_op_operand(ret, i), &nest), parameter))
            return 1;
    return 0;
}

/* The copy takes the place of the parameter everywhere. */
static pto_status copy_parameter(bufferizer *b, pto_value v)
{
    const uint32_t count = pto_value_use_count(v);
    pto_use *uses = PTO_SCRATCH(b->run, pto_use, count);
    for (uint32_t i = 0; i < count; i++) uses[i] = pto_use_at(v, i);
    const pto_value copy = bufferize_copy(b, pto_block_first(pto_body(b->function)), v, WHY_PARAMETER);
    PTO_NEED(copy);
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pto_op_set_operand(uses[i].op, uses[i].slot, copy));
    return PTO_OK;
}

pto_status bufferize_copy_overlapped(bufferizer *b)
{
    for (uint32_t i = 0; i < pair_count(b); i++) {
        pto_value written;
        const int64_t read = read_parameter(b, i, &written);
        if (read < 0) continue;
        const pto_value v = pto_block_arg(pto_body(b->function), (uint32_t)read);
        if (is_replaced(b, written) || !is_ordered(b, written, v)) PTO_TRY(copy_parameter(b, v));
    }
    return PTO_OK;
}

/* ---- the pairs afterwards ---- */

pto_status bufferize_number_pairs(const bufferizer *b, const uint32_t *out_numbers)
{
    const pto_run *run = b->run;
    const uint32_t count = pair_count(b);
    if (count == 0) return PTO_OK;
    pto_attr *pairs = PTO_SCRATCH(run, pto_attr, count);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t who = pair_item(b, i, 0);
        const pto_attr pair[] = {pto_attr_make_i64(run, who < 0 ? (int64_t)out_numbers[-1 - who] : who),
                                 pto_attr_make_i64(run, pair_item(b, i, 1))};
        pairs[i] = pto_attr_make_list(run, 2, pair);
    }
    return pto_op_set_attr(b->function, PTO_STR("may_alias"), pto_attr_make_list(run, count, pairs));
}
