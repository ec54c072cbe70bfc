/* Calls: frames, arguments, symbols, results; and launches, whose instances share a frame one after the other. */
#include "reference_interp.h"

#include <pto/bind.h>

#include <inttypes.h>
#include <string.h>

/* ---- frames ---- */

static frame *make_frame(interp *in, const function_code *f, frame *caller, const op_code *call)
{
    frame *fr = NULL;
    for (frame **at = &in->free_frames; *at != NULL; at = &(*at)->caller) {
        if ((*at)->f != f) continue;
        fr = *at;
        *at = fr->caller;
        break;
    }
    if (fr == NULL) {
        fr = PTO_SCRATCH(in->run, frame, 1);
        fr->values = PTO_SCRATCH(in->run, value, f->value_count);
        fr->slots = PTO_SCRATCH(in->run, int64_t, f->value_count);
    }
    fr->f = f;
    fr->caller = caller;
    fr->call = call;
    fr->at = 0;
    fr->instances = NULL;
    return fr;
}

static void leave_frame(interp *in, frame *fr)
{
    for (uint32_t i = 0; i < fr->f->value_count; i++) value_clear(in->pool, &fr->values[i]);
    fr->caller = in->free_frames;
    in->free_frames = fr;
}

static void give(interp *in, frame *fr, uint32_t id, const value *v)
{
    value_copy(in->pool, &fr->values[id], v);
    if (v->kind == VALUE_NUMBER && v->number.is_int) fr->slots[id] = v->number.i;
}

/* ---- symbols and shapes ---- */

pto_status interp_shape(const frame *fr, pto_op at, const shape_code *s, array *out)
{
    int64_t count;
    *out = (array){.dtype = s->dtype, .rank = s->rank};
    for (uint32_t d = 0; d < s->rank; d++) PTO_TRY(interp_eval(fr, at, &s->dims[d], &out->dims[d]));
    if (!array_count(out, &count))
        return pto_error(at, "pto.reference/limit", "extents that are negative or too large");
    array_pack(out);
    for (uint32_t d = 0; d < s->rank && s->has_strides; d++)
        PTO_TRY(interp_eval(fr, at, &s->strides[d], &out->strides[d]));
    return PTO_OK;
}

/* The value of a symbol: an extent of an argument, or the caller's symbol of that name. */
static bool find_symbol(const frame *fr, uint32_t slot, pto_str name, int64_t *out)
{
    for (uint32_t i = 0; i < fr->f->parameter_count; i++) {
        const parameter_code *p = &fr->f->parameters[i];
        const value *v = &fr->values[p->value];
        for (uint32_t d = 0; v->kind == VALUE_ARRAY && d < p->shape.rank && d < v->array.rank; d++) {
            if (p->shape.bare[d] != slot) continue;
            *out = v->array.dims[d];
            return true;
        }
    }
    const frame *from = fr->caller;
    for (uint32_t i = 0; from != NULL && i < from->f->all_symbol_count; i++) {
        if (!pto_str_same(from->f->symbol_names[i], name)) continue;
        *out = from->slots[from->f->symbols[i]];
        return true;
    }
    return false;
}

static pto_status bind_symbols(frame *fr, pto_op at)
{
    for (uint32_t i = 0; i < fr->f->symbol_count; i++) {
        const pto_str name = fr->f->symbol_names[i];
        if (!find_symbol(fr, fr->f->symbols[i], name, &fr->slots[fr->f->symbols[i]]))
            return pto_error(at, "pto.reference/arguments", "nothing says what $%.*s of @%.*s is", PTO_FMT(name),
                             PTO_FMT(fr->f->name));
    }
    return PTO_OK;
}

static pto_status check_argument(const frame *fr, pto_op at, const parameter_code *p)
{
    const value *v = &fr->values[p->value];
    if (v->kind != VALUE_ARRAY) return PTO_OK;
    array want;
    PTO_TRY(interp_shape(fr, at, &p->shape, &want));
    if (want.rank != v->array.rank || want.dtype != v->array.dtype)
        return pto_error(at, "pto.reference/arguments",
                         "parameter %%%.*s of @%.*s needs rank %" PRIu32 ", %s; got rank %" PRIu32 ", %s",
                         PTO_FMT(p->name), PTO_FMT(fr->f->name), want.rank, pto_dtype_name(want.dtype), v->array.rank,
                         pto_dtype_name(v->array.dtype));
    for (uint32_t d = 0; d < want.rank; d++) {
        if (want.dims[d] != v->array.dims[d])
            return pto_error(at, "pto.reference/arguments",
                             "dim %" PRIu32 " of parameter %%%.*s of @%.*s is %" PRId64 ", got %" PRId64, d,
                             PTO_FMT(p->name), PTO_FMT(fr->f->name), want.dims[d], v->array.dims[d]);
        if (want.dims[d] > 1 && want.strides[d] != v->array.strides[d])
            return pto_error(at, "pto.reference/arguments",
                             "stride %" PRIu32 " of parameter %%%.*s of @%.*s is %" PRId64 ", got %" PRId64, d,
                             PTO_FMT(p->name), PTO_FMT(fr->f->name), want.strides[d], v->array.strides[d]);
    }
    return PTO_OK;
}

static pto_status check_frame(const frame *fr, pto_op at)
{
    const function_code *f = fr->f;
    for (uint32_t i = 0; i < f->parameter_count; i++) PTO_TRY(check_argument(fr, at, &f->parameters[i]));
    for (uint32_t i = 0; i < f->fact_count; i++) {
        int64_t left, right;
        PTO_TRY(interp_eval(fr, at, &f->facts[i].left, &left));
        PTO_TRY(interp_eval(fr, at, &f->facts[i].right, &right));
        if (!pto_relation_holds(f->facts[i].relation, left, right))
            return pto_error(at, "pto.reference/arguments",
                             "fact %" PRIu32 " of @%.*s does not hold: %" PRId64 " %s %" PRId64, i, PTO_FMT(f->name),
                             left, pto_relation_sign(f->facts[i].relation), right);
    }
    return PTO_OK;
}

/* ---- the outermost call ---- */

static void read_number(const pto_tensor *t, value *out)
{
    *out = (value){.kind = VALUE_NUMBER, .dtype = t->dtype};
    if (element_is_float(t->dtype)) {
        double f;
        element_read_f64(t->dtype, t->data, 1, 1, &f);
        out->number = number_from_float(f);
    } else {
        int64_t i;
        element_read_i64(t->dtype, t->data, 1, 1, &i);
        out->number = number_from_int(i);
    }
}

static void wrap_tensor(interp *in, const pto_tensor *t, const parameter_code *p, value *out)
{
    array *a = &out->array;
    *out = (value){.kind = VALUE_ARRAY};
    *a = (array){.in = storage_wrap(in->pool, t->data, t->bytes), .base = t->data, .dtype = t->dtype, .rank = t->rank};
    memcpy(a->dims, t->dims, sizeof a->dims);
    memcpy(a->strides, t->strides, sizeof a->strides);
    a->is_read_only = !p->out;
    if (!p->in && p->out) {
        if (t->bytes != 0 && !pto_call_shares(in->call, t)) memset(t->data, 0xff, t->bytes);
        storage_mark(in->pool, a->in, element_bytes(a->dtype), MARK_NEVER);
    }
}

pto_status interp_start(interp *in, const function_code *f)
{
    const pto_call *call = in->call;
    frame *fr = make_frame(in, f, NULL, NULL);
    pto_binding *bindings = PTO_SCRATCH(in->run, pto_binding, call->argument_count + call->result_count);
    PTO_TRY(pto_backend_bind(call, "pto.reference/arguments", bindings));
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const parameter_code *p = &f->parameters[i];
        value v;
        if (p->shape.kind == PTO_TYPE_SCALAR)
            read_number(bindings[i].tensor, &v);
        else
            wrap_tensor(in, bindings[i].tensor, p, &v);
        give(in, fr, p->value, &v);
        value_clear(in->pool, &v);
    }
    for (uint32_t i = 0; i < f->symbol_count; i++) {
        if (!pto_call_symbol(call, f->symbol_names[i], &fr->slots[f->symbols[i]]))
            return pto_error(f->op, "pto.reference/arguments", "the call has no value of $%.*s",
                             PTO_FMT(f->symbol_names[i]));
    }
    PTO_TRY(check_frame(fr, f->op));
    in->frame = fr;
    return PTO_OK;
}

/* An `out` that a path leaves unwritten is an error of the program, not a result. */
static pto_status check_written(const frame *fr)
{
    for (uint32_t i = 0; i < fr->f->parameter_count; i++) {
        const parameter_code *p = &fr->f->parameters[i];
        const array *a = &fr->values[p->value].array;
        if (!p->out || p->in || fr->values[p->value].kind != VALUE_ARRAY || a->in->marks == NULL) continue;
        const size_t each = (size_t)storage_marks_each(a->in, element_bytes(a->dtype));
        const size_t count = a->in->bytes / element_bytes(a->dtype);
        size_t missing = 0, first = count;
        for (size_t k = count * each; k-- > 0;) {
            if (a->in->marks[k] != MARK_NEVER) continue;
            missing += k / each != first;
            first = k / each;
        }
        if (missing != 0)
            return pto_error(fr->f->op, "pto.reference/never-written",
                             "%zu of the %zu elements of %%%.*s are never written, the first one is %zu", missing,
                             count, PTO_FMT(p->name), first);
    }
    return PTO_OK;
}

/* A result that is what a parameter holds, while another result is about to be written there. */
static pto_status keep_results(interp *in, const frame *fr, const op_code *o)
{
    if (!PTO_SOME(pto_op_attr(fr->f->op, PTO_STR("aliases"))) &&
        !PTO_SOME(pto_op_attr(fr->f->op, PTO_STR("may_alias"))))
        return PTO_OK;
    for (uint32_t i = 0; i < o->operand_count; i++) {
        value *v = &fr->values[o->operands[i]], made = *v;
        if (v->kind != VALUE_ARRAY || !v->array.in->is_foreign) continue;
        if (!array_make(in->pool, &made.array))
            return pto_error(o->op, "pto.reference/limit", "result %" PRIu32 " takes more than 64 GiB", i);
        array_copy(in->pool, &made.array, &v->array);
        value_clear(in->pool, v);
        *v = made;
    }
    return PTO_OK;
}

static pto_status give_results(interp *in, const frame *fr, const op_code *o)
{
    PTO_TRY(check_written(fr));
    PTO_TRY(keep_results(in, fr, o));
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const value *v = &fr->values[o->operands[i]];
        const pto_tensor *t = in->call->results[i];
        if (v->kind != VALUE_ARRAY)
            return pto_error(o->op, "pto.reference/unsupported", "result %" PRIu32 " is not a tensor", i);
        const array *from = &v->array;
        PTO_TRY(instances_read_array(in, o->op, from));
        bool fits = t->rank == from->rank && t->dtype == from->dtype;
        for (uint32_t d = 0; fits && d < t->rank; d++) fits = t->dims[d] == from->dims[d];
        if (!fits)
            return pto_error(o->op, "pto.reference/arguments",
                             "result %" PRIu32 " has another shape or type than the call expects", i);
        array to = *from;
        storage wrapped = {.data = t->data, .bytes = t->bytes, .refs = 1, .is_foreign = true};
        storage unmarked = {.data = from->in->data, .bytes = from->in->bytes, .refs = 1};
        array source = *from;
        source.in = &unmarked;
        to.in = &wrapped;
        to.base = t->data;
        memcpy(to.strides, t->strides, sizeof to.strides);
        array_copy(in->pool, &to, &source);
    }
    return PTO_OK;
}

/* ---- calls ---- */

/* Memory for an out parameter that comes back as a result; a copy for an inout one. */
static pto_status make_out(interp *in, frame *fr, pto_op at, const parameter_code *p)
{
    value *v = &fr->values[p->value], made = {.kind = VALUE_ARRAY};
    PTO_TRY(interp_shape(fr, at, &p->shape, &made.array));
    if (!array_is_contiguous(&made.array))
        return pto_error(at, "pto.reference/unsupported", "a strided out parameter in a call by value");
    if (!array_make(in->pool, &made.array))
        return pto_error(at, "pto.reference/limit", "an out parameter takes more than 64 GiB");
    if (p->in)
        array_copy(in->pool, &made.array, &v->array);
    else
        storage_mark(in->pool, made.array.in, element_bytes(made.array.dtype), MARK_NEVER);
    value_clear(in->pool, v);
    *v = made;
    return PTO_OK;
}

static void take_arguments(interp *in, frame *caller, frame *fr, const op_code *o)
{
    for (uint32_t i = 0, next = 0; i < fr->f->parameter_count; i++) {
        const parameter_code *p = &fr->f->parameters[i];
        if (o->by_value && !p->in) continue;
        give(in, fr, p->value, &caller->values[o->operands[next++]]);
        value *v = &fr->values[p->value];
        if (v->kind == VALUE_ARRAY && !p->out) v->array.is_read_only = true;
    }
}

pto_status interp_call(interp *in, frame *caller, const op_code *o)
{
    frame *fr = make_frame(in, o->callee, caller, o);
    take_arguments(in, caller, fr, o);
    PTO_TRY(bind_symbols(fr, o->op));
    for (uint32_t i = 0; o->by_value && i < fr->f->parameter_count; i++)
        if (fr->f->parameters[i].out) PTO_TRY(make_out(in, fr, o->op, &fr->f->parameters[i]));
    PTO_TRY(check_frame(fr, o->op));
    in->frame = fr;
    return PTO_OK;
}

static void return_to_caller(interp *in, frame *fr, const op_code *o)
{
    frame *caller = fr->caller;
    const op_code *call = fr->call;
    uint32_t next = 0;
    for (; next < o->operand_count; next++) give(in, caller, call->results[next], &fr->values[o->operands[next]]);
    for (uint32_t i = 0; call->by_value && i < fr->f->parameter_count; i++)
        if (fr->f->parameters[i].out) give(in, caller, call->results[next++], &fr->values[fr->f->parameters[i].value]);
    leave_frame(in, fr);
    interp_done(in, caller, call);
}

/* ---- launches ---- */

static void start_instance(frame *fr)
{
    int64_t index[PTO_MAX_DIMS];
    instances_indices(fr->instances, index);
    for (uint32_t d = 0; d < fr->instances->rank; d++) interp_set_index(fr, fr->f->args[d], index[d]);
    fr->at = 0;
}

static void end_launch(interp *in, frame *fr, instances *s)
{
    frame *caller = fr->caller;
    const op_code *call = fr->call;
    instances_end(in, s);
    leave_frame(in, fr);
    interp_done(in, caller, call);
}

pto_status interp_launch(interp *in, frame *caller, const op_code *o)
{
    int64_t extents[PTO_MAX_DIMS] = {0};
    const function_code *f = o->callee;
    frame *fr = make_frame(in, f, caller, o);
    take_arguments(in, caller, fr, o);
    PTO_TRY(bind_symbols(fr, o->op));
    PTO_TRY(check_frame(fr, o->op));
    if (f->program != NULL) {
        PTO_TRY(interp_program(in, fr, o));
        leave_frame(in, fr);
        interp_done(in, caller, o);
        return PTO_OK;
    }
    for (uint32_t d = 0; d < f->grid_rank; d++) PTO_TRY(interp_eval(fr, f->op, &f->grid[d], &extents[d]));
    instances *s = instances_begin(in, f->op, f->grid_rank, extents);
    if (s == NULL) return PTO_FAILED;
    if (s->count == 0) {
        end_launch(in, fr, s);
        return PTO_OK;
    }
    in->frame = fr;
    fr->instances = s;
    start_instance(fr);
    return PTO_OK;
}

pto_status interp_return(interp *in, const op_code *o)
{
    frame *fr = in->frame;
    if (fr->instances != NULL) {
        bool more;
        PTO_TRY(instances_next(in, fr->instances, &more));
        if (more) {
            start_instance(fr);
            return PTO_OK;
        }
        in->frame = fr->caller;
        end_launch(in, fr, fr->instances);
        return PTO_OK;
    }
    in->frame = fr->caller;
    if (fr->caller != NULL) {
        return_to_caller(in, fr, o);
        return PTO_OK;
    }
    PTO_TRY(give_results(in, fr, o));
    leave_frame(in, fr);
    return PTO_OK;
}
