/* Following the code of a function, without recursion. */
#include "reference_interp.h"

#include <inttypes.h>
#include <string.h>

enum { CODES_PER_LOOK = 4096 };

pto_status interp_eval(const frame *fr, pto_op at, const index_expr *e, int64_t *out)
{
    switch (index_eval(fr->f->codes, e, fr->slots, out)) {
    case INDEX_OK: return PTO_OK;
    case INDEX_OVERFLOW: return pto_error(at, "pto.reference/expression", "an index expression leaves 64 bits");
    case INDEX_DIVISOR: break;
    }
    return pto_error(at, "pto.reference/expression", "an index expression divides by a number below 1");
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

static pto_status check_carried(const frame *fr, const op_code *o)
{
    for (uint32_t i = 0; i < o->operand_count; i++) {
        if (!o->states_valid[i]) continue;
        int64_t rows, cols;
        PTO_TRY(interp_eval(fr, o->op, &o->exprs[2 * i], &rows));
        PTO_TRY(interp_eval(fr, o->op, &o->exprs[2 * i + 1], &cols));
        const tile_ref *t = &fr->values[o->operands[i]].tile;
        if (t->valid_rows != rows || t->valid_cols != cols)
            return pto_error(o->op, "pto.reference/valid",
                             "carried tile %" PRIu32 " has the valid region %" PRId64 " x %" PRId64
                             ", the loop states %" PRId64 " x %" PRId64,
                             i, t->valid_rows, t->valid_cols, rows, cols);
    }
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

static void start_instance(frame *fr, const op_code *o, const instances *s)
{
    int64_t index[PTO_MAX_DIMS];
    instances_indices(s, index);
    for (uint32_t d = 0; d < s->rank; d++) interp_set_index(fr, o->args[d], index[d]);
}

static void leave_forall(interp *in, frame *fr, const op_code *o)
{
    const uint32_t *args = o->args + o->expr_count;
    for (uint32_t i = 0; i < o->result_count; i++) set_value(in, fr, o->results[i], &fr->values[args[i]]);
    for (uint32_t i = 0; i < o->operand_count; i++) value_clear(in->pool, &fr->values[args[i]]);
}

static pto_status enter_forall(interp *in, frame *fr, const op_code *o, uint32_t end)
{
    int64_t extents[PTO_MAX_DIMS] = {0};
    for (uint32_t d = 0; d < o->expr_count; d++) PTO_TRY(interp_eval(fr, o->op, &o->exprs[d], &extents[d]));
    PTO_TRY(make_outs(in, fr, o, o->args + o->expr_count));
    instances *s = instances_begin(in, o->op, o->expr_count, extents);
    if (s == NULL) return PTO_FAILED;
    if (s->count != 0) {
        start_instance(fr, o, s);
        return PTO_OK;
    }
    instances_end(in, s);
    leave_forall(in, fr, o);
    fr->at = end;
    return PTO_OK;
}

/* Those of this forall are the innermost. */
static pto_status next_instance(interp *in, frame *fr, const op_code *o, uint32_t begin)
{
    bool more;
    PTO_TRY(instances_next(in, in->innermost, &more));
    if (more) {
        start_instance(fr, o, in->innermost);
        fr->at = begin;
        return PTO_OK;
    }
    instances_end(in, in->innermost);
    leave_forall(in, fr, o);
    return PTO_OK;
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
                         "`bind` is %" PRId64 ", its range is %" PRId64 " to %" PRId64, n, lo, hi);
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

static pto_status do_op(interp *in, frame *fr, const op_code *o)
{
    switch (o->what) {
    case DO_RETURN: return interp_return(in, o);
    case DO_CALL: return interp_call(in, fr, o);
    case DO_LAUNCH: return interp_launch(in, fr, o);
    case DO_CARRIED: return check_carried(fr, o);
    case DO_BIND: PTO_TRY(do_bind(fr, o)); break;
    case DO_NUMBER: PTO_TRY(give_number(fr, o, o->constant)); break;
    case DO_COMPARE: PTO_TRY(do_compare(fr, o)); break;
    case DO_INDEX_CAST: PTO_TRY(do_index_cast(in, fr, o)); break;
    case DO_SCALAR_OF: PTO_TRY(interp_scalar_of(in, fr, o)); break;
    case DO_DEBUG: PTO_TRY(interp_debug(in, fr, o)); break;
    case DO_VIEW: PTO_TRY(interp_view(in, fr, o)); break;
    case DO_CONSTANT: PTO_TRY(interp_constant(in, fr, o)); break;
    case DO_TENSOR: PTO_TRY(interp_tensor(in, fr, o)); break;
    case DO_CONCAT: PTO_TRY(interp_concat(in, fr, o)); break;
    case DO_SPLIT: PTO_TRY(interp_split(in, fr, o)); break;
    case DO_EVALUATE: PTO_TRY(interp_evaluate(in, fr, o)); break;
    case DO_EMPTY: PTO_TRY(interp_empty(in, fr, o)); break;
    case DO_FREE: PTO_TRY(interp_free(fr, o)); break;
    case DO_ZERO_ACC: PTO_TRY(interp_zero_acc(in, fr, o)); break;
    case DO_CONTRACT: PTO_TRY(interp_contract(in, fr, o)); break;
    case DO_CONTRACT_WEIGHTS: PTO_TRY(interp_contract_weights(in, fr, o)); break;
    case DO_TILE: PTO_TRY(interp_tile(in, fr, o)); break;
    case DO_CONTROL:
    case DO_FORALL:
        return pto_error(o->op, "pto.reference/unsupported", "`%.*s` has no semantics in this backend",
                         PTO_FMT(o->name));
    }
    interp_done(in, fr, o);
    return PTO_OK;
}

/* ---- for, if, while: control_code.h ---- */

static pto_status eval(void *self, const void *site, const index_expr *e, const char *which, int64_t *out)
{
    const interp *in = self;
    (void)which;
    return interp_eval(in->frame, ((const op_code *)site)->op, e, out);
}

static pto_status bad_step(void *self, const void *site, int64_t step)
{
    (void)self;
    return pto_error(((const op_code *)site)->op, "pto.reference/expression",
                     "`for` has the step %" PRId64 ", it must be 1 or more", step);
}

static void set_index(void *self, uint32_t slot, int64_t n)
{
    const interp *in = self;
    interp_set_index(in->frame, slot, n);
}

static void copy(void *self, uint32_t to, uint32_t from, int is_move)
{
    interp *in = self;
    value *v = &in->frame->values[from];
    if (to != from) set_value(in, in->frame, to, v);
    if (to != from && is_move) value_clear(in->pool, v);
}

static const control_actions actions = {eval, bad_step, set_index, copy};

static pto_status do_code(interp *in, frame *fr, const control_code *c)
{
    const op_code *const *ops = fr->f->ops;
    switch (c->what) {
    case CODE_OP: return do_op(in, fr, ops[c->a]);
    case CODE_DROP: interp_done(in, fr, ops[c->a]); return PTO_OK;
    case CODE_INSTANCES: return enter_forall(in, fr, ops[c->a], c->b);
    case CODE_INSTANCE: return next_instance(in, fr, ops[c->a], c->b);
    default: return control_step(&fr->f->flow, c, &actions, in, fr->slots, &fr->at);
    }
}

pto_status interp_run(interp *in, const function_code *entry)
{
    pto_op last = entry->op;
    PTO_TRY(interp_start(in, entry));
    while (in->frame != NULL) {
        frame *fr = in->frame;
        const control_code *c = &fr->f->flow.codes[fr->at++];
        if (c->what == CODE_OP) last = fr->f->ops[c->a]->op;
        in->op_count += c->what >= CONTROL_FOR && c->what != CODE_DROP;
        if (++in->code_count % CODES_PER_LOOK == 0 && pto_should_stop(in->run))
            return pto_error(last, "pto.reference/interrupted", "stopped before the end");
        PTO_TRY(do_code(in, fr, c));
    }
    return PTO_OK;
}
