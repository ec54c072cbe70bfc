/* Control flow, without recursion: a stack of levels, each in a block. */
#include "reference_interp.h"

#include <inttypes.h>
#include <string.h>

enum { OPS_PER_LOOK = 4096 };

pto_status interp_eval(const frame *fr, pto_op at, const index_expr *e, int64_t *out)
{
    switch (index_eval(fr->f->codes, e, fr->slots, out)) {
    case INDEX_OK: return PTO_OK;
    case INDEX_OVERFLOW: return pto_error(at, "pto.reference/expression", "an index expression leaves 64 bits");
    case INDEX_DIVISOR: break;
    }
    return pto_error(at, "pto.reference/expression", "an index expression divides by a number below 1");
}

level *interp_push(interp *in, frame *fr, const block_code *b, const op_code *owner)
{
    PTO_GROW(in->run, in->levels, in->depth, in->room);
    level *l = &in->levels[in->depth++];
    *l = (level){.block = b, .at = b->first, .owner = owner, .frame = fr};
    return l;
}

void interp_set_number(frame *fr, uint32_t id, pto_dtype dtype, number n)
{
    if (n.is_int) fr->slots[id] = n.i;
    fr->values[id] = (value){.kind = VALUE_NUMBER, .dtype = dtype, .number = n};
}

void interp_set_index(frame *fr, uint32_t id, int64_t n) { interp_set_number(fr, id, PTO_INDEX, number_from_int(n)); }

static void set_value(interp *in, frame *fr, uint32_t id, const value *v)
{
    value_copy(in->pool, &fr->values[id], v);
    if (v->kind == VALUE_NUMBER && v->number.is_int) fr->slots[id] = v->number.i;
}

void interp_done(interp *in, frame *fr, const op_code *o)
{
    for (uint32_t i = 0; i < o->drop_count; i++) value_clear(in->pool, &fr->values[o->drops[i]]);
}

/* Hands the operands of `from` to values `to`, all at once: they may be each other's sources. */
static void hand_over(interp *in, frame *fr, const op_code *from, uint32_t count, const uint32_t *to)
{
    value few[8], *all = count <= 8 ? few : PTO_SCRATCH(in->run, value, count);
    for (uint32_t i = 0; i < count; i++) {
        all[i].kind = VALUE_NONE;
        value_copy(in->pool, &all[i], &fr->values[from->operands[i]]);
    }
    for (uint32_t i = 0; i < count; i++) {
        set_value(in, fr, to[i], &all[i]);
        value_clear(in->pool, &all[i]);
    }
}

static void pass_on(interp *in, frame *fr, uint32_t count, const uint32_t *from, const uint32_t *to)
{
    for (uint32_t i = 0; i < count; i++) set_value(in, fr, to[i], &fr->values[from[i]]);
}

/* ---- for ---- */

static pto_status check_carried(frame *fr, const op_code *o, const uint32_t *values)
{
    for (uint32_t i = 0; i < o->operand_count; i++) {
        if (!o->states_valid[i]) continue;
        int64_t rows, cols;
        PTO_TRY(interp_eval(fr, o->op, &o->exprs[3 + 2 * i], &rows));
        PTO_TRY(interp_eval(fr, o->op, &o->exprs[4 + 2 * i], &cols));
        const tile_ref *t = &fr->values[values[i]].tile;
        if (t->valid_rows != rows || t->valid_cols != cols)
            return pto_error(o->op, "pto.reference/valid",
                             "carried tile %" PRIu32 " has the valid region %" PRId64 " x %" PRId64
                             ", the loop states %" PRId64 " x %" PRId64,
                             i, t->valid_rows, t->valid_cols, rows, cols);
    }
    return PTO_OK;
}

static pto_status enter_for(interp *in, frame *fr, const op_code *o)
{
    int64_t from, to, step;
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[0], &from));
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[1], &to));
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[2], &step));
    if (step < 1)
        return pto_error(o->op, "pto.reference/expression", "'for' has the step %" PRId64 ", it must be 1 or more",
                         step);
    PTO_TRY(check_carried(fr, o, o->operands));
    if (from >= to) {
        pass_on(in, fr, o->result_count, o->operands, o->results);
        interp_done(in, fr, o);
        return PTO_OK;
    }
    const block_code *b = &o->blocks[0];
    pass_on(in, fr, o->operand_count, o->operands, b->args + 1);
    interp_set_index(fr, b->args[0], from);
    level *l = interp_push(in, fr, b, o);
    l->index = from;
    l->to = to;
    l->step = step;
    return PTO_OK;
}

static pto_status yield_for(interp *in, level *l, const op_code *yield)
{
    const op_code *o = l->owner;
    frame *fr = l->frame;
    const bool more = (uint64_t)l->step < (uint64_t)l->to - (uint64_t)l->index;
    PTO_TRY(check_carried(fr, o, yield->operands));
    if (more) {
        hand_over(in, fr, yield, yield->operand_count, l->block->args + 1);
        l->index += l->step;
        interp_set_index(fr, l->block->args[0], l->index);
        l->at = l->block->first;
        return PTO_OK;
    }
    hand_over(in, fr, yield, yield->operand_count, o->results);
    in->depth--;
    interp_done(in, fr, o);
    return PTO_OK;
}

/* ---- forall ---- */

/* A value of its own for each `out`, so that nothing else sees what instances write. */
static pto_status make_outs(interp *in, frame *fr, const op_code *o, const uint32_t *args)
{
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const value *from = &fr->values[o->operands[i]];
        value to = {.kind = VALUE_NONE};
        value_copy(in->pool, &to, from);
        if (!o->takes[i]) {
            if (!array_make(in->pool, &to.array))
                return pto_error(o->op, "pto.reference/limit", "the copy of `out` %" PRIu32 " takes more than 64 GiB",
                                 i);
            from->array.in->refs--; /* the copy does not hold it */
            array_copy(in->pool, &to.array, &from->array);
        }
        storage_mark(in->pool, to.array.in, element_bytes(to.array.dtype), MARK_BEFORE);
        set_value(in, fr, args[i], &to);
        value_clear(in->pool, &to);
    }
    return PTO_OK;
}

static void start_instance(level *l)
{
    int64_t index[PTO_MAX_DIMS];
    instances_indices(l->instances, index);
    for (uint32_t d = 0; d < l->instances->rank; d++) interp_set_index(l->frame, l->block->args[d], index[d]);
    l->at = l->block->first;
}

static void leave_forall(interp *in, frame *fr, const op_code *o)
{
    const uint32_t *args = o->blocks[0].args + o->expr_count;
    pass_on(in, fr, o->result_count, args, o->results);
    for (uint32_t i = 0; i < o->operand_count; i++) value_clear(in->pool, &fr->values[args[i]]);
    interp_done(in, fr, o);
}

static pto_status enter_forall(interp *in, frame *fr, const op_code *o)
{
    int64_t extents[PTO_MAX_DIMS] = {0};
    for (uint32_t d = 0; d < o->expr_count; d++) PTO_TRY(interp_eval(fr, o->op, &o->exprs[d], &extents[d]));
    PTO_TRY(make_outs(in, fr, o, o->blocks[0].args + o->expr_count));
    instances *s = instances_begin(in, o->op, o->expr_count, extents);
    if (s == NULL) return PTO_FAILED;
    if (s->count == 0) {
        instances_end(in, s);
        leave_forall(in, fr, o);
        return PTO_OK;
    }
    level *l = interp_push(in, fr, &o->blocks[0], o);
    l->instances = s;
    start_instance(l);
    return PTO_OK;
}

static pto_status yield_forall(interp *in, level *l)
{
    bool more;
    PTO_TRY(instances_next(in, l->instances, &more));
    if (more) {
        start_instance(l);
        return PTO_OK;
    }
    instances_end(in, l->instances);
    in->depth--;
    leave_forall(in, l->frame, l->owner);
    return PTO_OK;
}

/* ---- if, while, groups ---- */

static pto_status enter_if(interp *in, frame *fr, const op_code *o)
{
    int64_t left, right;
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[0], &left));
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[1], &right));
    const uint32_t block = pto_relation_holds(o->relation, left, right) ? 0 : 1;
    if (block < o->block_count)
        interp_push(in, fr, &o->blocks[block], o);
    else
        interp_done(in, fr, o);
    return PTO_OK;
}

static pto_status enter_while(interp *in, frame *fr, const op_code *o)
{
    pass_on(in, fr, o->operand_count, o->operands, o->blocks[0].args);
    interp_push(in, fr, &o->blocks[0], o)->is_condition = true;
    return PTO_OK;
}

/* The values that the condition saw go to the body, or out. */
static pto_status yield_while(interp *in, level *l, const op_code *yield)
{
    const op_code *o = l->owner;
    frame *fr = l->frame;
    const block_code *test = &o->blocks[0], *body = &o->blocks[1];
    if (!l->is_condition) {
        hand_over(in, fr, yield, yield->operand_count, test->args);
        l->block = test;
        l->at = test->first;
        l->is_condition = true;
        return PTO_OK;
    }
    if (fr->slots[yield->operands[0]] != 0) {
        pass_on(in, fr, test->arg_count, test->args, body->args);
        l->block = body;
        l->at = body->first;
        l->is_condition = false;
        return PTO_OK;
    }
    pass_on(in, fr, o->result_count, test->args, o->results);
    in->depth--;
    interp_done(in, fr, o);
    return PTO_OK;
}

static pto_status yield_once(interp *in, const level *l, const op_code *yield)
{
    hand_over(in, l->frame, yield, yield->operand_count, l->owner->results);
    in->depth--;
    interp_done(in, l->frame, l->owner);
    return PTO_OK;
}

static pto_status do_yield(interp *in, level *l, const op_code *o)
{
    switch (l->owner->what) {
    case DO_FOR: return yield_for(in, l, o);
    case DO_FORALL: return yield_forall(in, l);
    case DO_WHILE: return yield_while(in, l, o);
    default: return yield_once(in, l, o);
    }
}

/* ---- single ops ---- */

static pto_status do_bind(frame *fr, const op_code *o)
{
    int64_t n, lo, hi;
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[0], &n));
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[1], &lo));
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[2], &hi));
    if (n < lo || n > hi)
        return pto_error(o->op, "pto.reference/expression",
                         "'bind' gives %" PRId64 ", its range is %" PRId64 " to %" PRId64, n, lo, hi);
    fr->slots[o->symbol] = n;
    return PTO_OK;
}

static pto_status give_number(frame *fr, const op_code *o, number n)
{
    interp_set_number(fr, o->results[0], fr->f->shapes[o->results[0]].dtype, n);
    return PTO_OK;
}

static pto_status do_compare(frame *fr, const op_code *o)
{
    const value *a = &fr->values[o->operands[0]], *b = &fr->values[o->operands[1]];
    return give_number(fr, o, number_from_int(element_relation_holds(a->dtype, o->relation, a->number, b->number)));
}

static pto_status do_index_cast(interp *in, frame *fr, const op_code *o)
{
    int64_t n;
    PTO_TRY(interp_eval(fr, o->op, &o->exprs[0], &n));
    if (o->tensor != EVAL_NONE) return interp_index_tensor(in, fr, o, n);
    return give_number(fr, o, number_from_int(n));
}

/* Ops without blocks. */
static pto_status do_simple(interp *in, frame *fr, const op_code *o)
{
    switch (o->what) {
    case DO_BIND: return do_bind(fr, o);
    case DO_NUMBER: return give_number(fr, o, o->number);
    case DO_COMPARE: return do_compare(fr, o);
    case DO_INDEX_CAST: return do_index_cast(in, fr, o);
    case DO_VIEW: return interp_view(in, fr, o);
    case DO_CONSTANT: return interp_constant(in, fr, o);
    case DO_TENSOR: return interp_tensor(in, fr, o);
    case DO_EMPTY: return interp_empty(in, fr, o);
    case DO_FREE: return interp_free(fr, o);
    case DO_ZERO_ACC: return interp_zero_acc(in, fr, o);
    case DO_TILE: return interp_tile(in, fr, o);
    default:
        return pto_error(o->op, "pto.reference/unsupported", "'%.*s' has no semantics in this backend",
                         PTO_FMT(o->name));
    }
}

static pto_status do_op(interp *in, level *l, const op_code *o)
{
    frame *fr = l->frame;
    switch (o->what) {
    case DO_RETURN: return interp_return(in, o);
    case DO_YIELD: return do_yield(in, l, o);
    case DO_CALL: return interp_call(in, fr, o);
    case DO_LAUNCH: return interp_launch(in, fr, o);
    case DO_FOR: return enter_for(in, fr, o);
    case DO_FORALL: return enter_forall(in, fr, o);
    case DO_IF: return enter_if(in, fr, o);
    case DO_WHILE: return enter_while(in, fr, o);
    case DO_GROUP: interp_push(in, fr, &o->blocks[0], o); return PTO_OK;
    default: break;
    }
    PTO_TRY(do_simple(in, fr, o));
    interp_done(in, fr, o);
    return PTO_OK;
}

pto_status interp_run(interp *in, const function_code *entry)
{
    PTO_TRY(interp_start(in, entry));
    while (in->depth != 0) {
        level *l = &in->levels[in->depth - 1];
        const op_code *o = l->at;
        if (++in->op_count % OPS_PER_LOOK == 0 && pto_should_stop(in->run))
            return pto_error(o->op, "pto.reference/interrupted", "stopped before the end");
        l->at = o->next;
        PTO_TRY(do_op(in, l, o));
    }
    return PTO_OK;
}
