/* Ops on whole arrays: tensor ops, views, memory. */
#include "reference_interp.h"

#include "semantics/array_file.h"

#include <inttypes.h>
#include <string.h>

/* ---- arrays as the tensor ops need them ---- */

pto_tensor interp_tensor_of(const array *a)
{
    pto_tensor t = {.struct_size = sizeof t, .dtype = a->dtype, .rank = a->rank, .data = a->base};
    t.bytes = a->in->bytes - (size_t)(a->base - a->in->data);
    memcpy(t.dims, a->dims, sizeof t.dims);
    memcpy(t.strides, a->strides, sizeof t.strides);
    return t;
}

pto_status interp_make_result(interp *in, frame *fr, const op_code *o, uint32_t index, value *out)
{
    *out = (value){.kind = VALUE_NONE};
    PTO_TRY(interp_shape(fr, o->op, &fr->f->shapes[o->results[index]], &out->array));
    if (!array_is_contiguous(&out->array))
        return pto_error(o->op, "pto.reference/unsupported", "`%.*s` makes memory with strides", PTO_FMT(o->name));
    if (!array_make(in->pool, &out->array))
        return pto_error(o->op, "pto.reference/limit", "`%.*s` makes more than 64 GiB", PTO_FMT(o->name));
    out->kind = VALUE_ARRAY;
    return PTO_OK;
}

static void set_result(interp *in, frame *fr, const op_code *o, uint32_t index, value *v)
{
    value_copy(in->pool, &fr->values[o->results[index]], v);
    value_clear(in->pool, v);
}

/* ---- attributes of tensor ops ---- */

static nan_rule nan_rule_of(pto_str s)
{
    return pto_str_is(s, "ignore") ? NAN_IGNORE : pto_str_is(s, "any") ? NAN_ANY : NAN_PROPAGATE;
}

static void read_axes(const op_code *o, const char *name, tensor_call *call)
{
    const pto_attr a = pto_op_attr(o->op, pto_s(name));
    if (!PTO_SOME(a)) return;
    if (pto_attr_kind_of(a) != PTO_ATTR_LIST) {
        call->axes[call->axis_count++] = pto_attr_i64(a);
        return;
    }
    for (uint32_t i = 0; i < pto_attr_count(a) && i < PTO_MAX_DIMS; i++)
        call->axes[call->axis_count++] = pto_attr_i64(pto_attr_item(a, i, NULL));
}

static void read_strides(const op_code *o, tensor_call *call)
{
    const pto_attr a = pto_op_attr(o->op, PTO_STR("strides"));
    call->has_strides = PTO_SOME(a);
    for (uint32_t d = 0; call->has_strides && d < PTO_MAX_DIMS; d++)
        call->strides[d] = pto_int_of(o->op, PTO_STR("strides"), d, 1);
}

/* Those of ops that go by indices, sort, or scan. */
static void read_orders(const op_code *o, tensor_call *call)
{
    const pto_str reduce = pto_attr_str_of(o->op, PTO_STR("reduce"));
    const pto_attr alpha = pto_op_attr(o->op, PTO_STR("alpha"));
    const bool adds = pto_str_is(reduce, "add") || pto_attr_bool_of(o->op, PTO_STR("accumulate"), 0) ||
                      pto_str_is(pto_attr_str_of(o->op, PTO_STR("atomic")), "add") ||
                      o->tensor == EVAL_TENSOR_INDEX_ADD;
    call->combine = adds ? COMBINE_ADD : pto_str_is(reduce, "mul") ? COMBINE_MUL : COMBINE_NONE;
    call->descending = pto_attr_bool_of(o->op, PTO_STR("descending"), 0) ||
                       (o->tensor == EVAL_TENSOR_TOPK && pto_attr_bool_of(o->op, PTO_STR("largest"), 1));
    call->exclusive = pto_attr_bool_of(o->op, PTO_STR("exclusive"), 0);
    call->reverse = pto_attr_bool_of(o->op, PTO_STR("reverse"), 0);
    call->alpha = pto_attr_kind_of(alpha) == PTO_ATTR_FLOAT ? number_from_float(pto_attr_f64(alpha))
                  : PTO_SOME(alpha)                         ? number_from_int(pto_attr_i64(alpha))
                                                            : number_from_int(1);
}

static void read_composite(const op_code *o, tensor_call *call)
{
    if (o->tensor == EVAL_TENSOR_CONV2D) {
        read_axes(o, "dilations", call);
        for (uint32_t d = 0; d < 2; d++) call->offsets[d] = pto_int_of(o->op, PTO_STR("low"), d, 0);
        call->channels_first = pto_str_is(pto_attr_str_of(o->op, PTO_STR("layout")), "nchw");
    }
    call->causal = pto_attr_bool_of(o->op, PTO_STR("causal"), 0);
    call->interleaved = pto_str_is(pto_attr_str_of(o->op, PTO_STR("pairs")), "interleaved");
    call->groups = pto_attr_int_of(o->op, PTO_STR("groups"), 0);
    call->has_scale = PTO_SOME(pto_op_attr(o->op, PTO_STR("scale")));
    call->scale = pto_attr_float_of(o->op, PTO_STR("scale"), 0);
}

static void read_attributes(const op_code *o, tensor_call *call)
{
    const pto_str mode = pto_attr_str_of(o->op, PTO_STR("mode"));
    read_axes(o, "axis", call);
    read_axes(o, "perm", call);
    read_strides(o, call);
    call->nan = nan_rule_of(pto_attr_str_of(o->op, PTO_STR("nan")));
    call->offsets[0] =
        pto_attr_int_of(o->op, PTO_STR("diagonal"), 0) + pto_attr_int_of(o->op, PTO_STR("correction"), 0);
    call->drop_reduced = !pto_attr_bool_of(o->op, PTO_STR("keepdim"), 1);
    call->transpose_a = pto_attr_bool_of(o->op, PTO_STR("transpose_a"), 0);
    call->transpose_b = pto_attr_bool_of(o->op, PTO_STR("transpose_b"), 0);
    call->third_is_scale = pto_str_is(pto_attr_str_of(o->op, PTO_STR("third")), "scale");
    call->relu = pto_str_is(pto_attr_str_of(o->op, PTO_STR("activation")), "relu");
    call->block = pto_attr_int_of(o->op, PTO_STR("block"), 0);
    call->key = (uint64_t)pto_attr_int_of(o->op, PTO_STR("key"), 0);
    call->counter = (uint64_t)pto_attr_int_of(o->op, PTO_STR("counter"), 0);
    call->saturate = pto_attr_bool_of(o->op, PTO_STR("saturate"), 0);
    call->mode = mode.n != 0 ? round_mode_by_name(mode.p, mode.n) : ROUND_RINT;
    call->approx = pto_str_is(pto_attr_str_of(o->op, PTO_STR("approx")), "sigmoid") ? GELU_SIGMOID : GELU_TANH;
    call->eps = pto_attr_float_of(o->op, PTO_STR("eps"), 0);
    read_composite(o, call);
    read_orders(o, call);
}

static pto_status evaluate(interp *in, const op_code *o, tensor_call *call)
{
    const size_t need = tensor_scratch_bytes(o->tensor, call);
    storage *scratch = need != 0 ? storage_make(in->pool, need) : NULL;
    if (need != 0 && scratch == NULL)
        return pto_error(o->op, "pto.reference/limit", "`%.*s` works in more than 64 GiB", PTO_FMT(o->name));
    call->scratch = scratch != NULL ? scratch->data : NULL;
    const pto_status s = tensor_run(o->tensor, call);
    if (scratch != NULL) storage_release(in->pool, scratch);
    if (s < 0 && call->is_outside)
        return pto_error(o->op, "pto.reference/out-of-bounds", "`%.*s` %s", PTO_FMT(o->name), call->text);
    if (s < 0) return pto_error(o->op, "pto.reference/unsupported", "%s", call->text);
    if (call->faults == 0) return PTO_OK;
    return pto_error(o->op, "pto.reference/division-by-zero", "`%.*s` divides %" PRIu64 " integers by zero",
                     PTO_FMT(o->name), call->faults);
}

/* A scalar is an array without dims. `out_made` holds it, and must be cleared. */
static pto_status array_of(interp *in, const op_code *o, const value *v, value *out_made, const array **out)
{
    *out = &v->array;
    if (v->kind != VALUE_NUMBER) return instances_read_array(in, o->op, *out);
    *out_made = (value){.kind = VALUE_ARRAY, .array = {.dtype = v->dtype}};
    if (!array_make(in->pool, &out_made->array)) return PTO_FAILED;
    const uint64_t bits = element_from_number(v->dtype, v->number, false);
    memcpy(out_made->array.base, &bits, element_bytes(v->dtype));
    *out = &out_made->array;
    return PTO_OK;
}

static pto_status run_on(interp *in, frame *fr, const op_code *o, tensor_call *call, const array *const *from,
                         value results[TENSOR_RESULTS])
{
    pto_tensor targets[TENSOR_RESULTS];
    const array *made[TENSOR_RESULTS] = {NULL};
    for (uint32_t i = 0; i < o->result_count && i < TENSOR_RESULTS; i++) {
        PTO_TRY(interp_make_result(in, fr, o, i, &results[i]));
        made[i] = &results[i].array;
        targets[i] = interp_tensor_of(made[i]);
    }
    call->out = &targets[0];
    call->second = o->result_count > 1 ? &targets[1] : NULL;
    call->cpu = in->cpu;
    pto_status status = evaluate(in, o, call);
    if (status == PTO_OK && in->pool->shadow != NULL) status = bound_tensor(in, o, from, call, made);
    call->out = call->second = NULL;
    return status;
}

static pto_status compute(interp *in, frame *fr, const op_code *o, tensor_call *call, const array *const *from)
{
    value results[TENSOR_RESULTS] = {{.kind = VALUE_NONE}, {.kind = VALUE_NONE}};
    const pto_status status = run_on(in, fr, o, call, from, results);
    for (uint32_t i = 0; i < o->result_count && i < TENSOR_RESULTS; i++) {
        if (status == PTO_OK)
            set_result(in, fr, o, i, &results[i]);
        else
            value_clear(in->pool, &results[i]);
    }
    return status;
}

static pto_status run_tensor(interp *in, frame *fr, const op_code *o, tensor_call call)
{
    pto_tensor sources[TENSOR_OPERANDS];
    value made[TENSOR_OPERANDS] = {{.kind = VALUE_NONE}};
    const array *from[TENSOR_OPERANDS] = {NULL};
    pto_status status = PTO_OK;
    for (uint32_t i = 0; i < o->operand_count && i < TENSOR_OPERANDS && status == PTO_OK; i++) {
        status = array_of(in, o, &fr->values[o->operands[i]], &made[i], &from[i]);
        sources[i] = interp_tensor_of(from[i]);
        call.in[i] = &sources[i];
    }
    if (status == PTO_OK) status = compute(in, fr, o, &call, from);
    for (uint32_t i = 0; i < TENSOR_OPERANDS; i++) value_clear(in->pool, &made[i]);
    return status;
}

static pto_status read_offsets(const frame *fr, const op_code *o, tensor_call *call)
{
    for (uint32_t i = 0; i < o->expr_count && i < PTO_MAX_DIMS; i++)
        PTO_TRY(interp_eval(fr, o->op, &o->exprs[i], &call->offsets[i]));
    return PTO_OK;
}

/* Of tensor.pad: `low`, then `high`, which follows from the extents. */
static pto_status read_padding(const frame *fr, const op_code *o, tensor_call *call)
{
    const uint32_t rank = o->expr_count / 2;
    for (uint32_t i = 0; i < 2 * rank; i++) {
        int64_t n;
        PTO_TRY(interp_eval(fr, o->op, &o->exprs[i], &n));
        if (n < 0)
            return pto_error(o->op, "pto.reference/out-of-bounds",
                             "`%.*s` puts %" PRId64 " elements %s dim %" PRIu32 ", it must be 0 or more",
                             PTO_FMT(o->name), n, i < rank ? "before" : "after", i % rank);
        if (i < rank) call->offsets[i] = n;
    }
    return PTO_OK;
}

pto_status interp_tensor(interp *in, frame *fr, const op_code *o)
{
    tensor_call call = {0};
    read_attributes(o, &call);
    call.value = o->constant;
    PTO_TRY(o->tensor == EVAL_TENSOR_PAD ? read_padding(fr, o, &call) : read_offsets(fr, o, &call));
    return run_tensor(in, fr, o, call);
}

/* One part of a concat or split. */
static pto_status move_part(interp *in, const op_code *o, const array *from, const array *to, uint32_t axis,
                            int64_t start)
{
    const pto_tensor source = interp_tensor_of(from), target = interp_tensor_of(to);
    tensor_call call = {.in = {&source}, .out = &target, .cpu = in->cpu};
    call.offsets[axis] = start;
    PTO_TRY(evaluate(in, o, &call));
    const array *const sources[TENSOR_OPERANDS] = {from}, *const made[TENSOR_RESULTS] = {to};
    return in->pool->shadow != NULL ? bound_tensor(in, o, sources, &call, made) : PTO_OK;
}

pto_status interp_concat(interp *in, frame *fr, const op_code *o)
{
    value result;
    int64_t start = 0;
    PTO_TRY(interp_make_result(in, fr, o, 0, &result));
    const uint32_t axis = (uint32_t)__builtin_ctz(pto_axes_of(o->op, result.array.rank));
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const array *part = &fr->values[o->operands[i]].array;
        PTO_TRY(instances_read_array(in, o->op, part));
        PTO_TRY(move_part(in, o, part, &result.array, axis, start));
        start += part->dims[axis];
    }
    set_result(in, fr, o, 0, &result);
    return PTO_OK;
}

pto_status interp_split(interp *in, frame *fr, const op_code *o)
{
    const array *x = &fr->values[o->operands[0]].array;
    const uint32_t axis = (uint32_t)__builtin_ctz(pto_axes_of(o->op, x->rank));
    int64_t start = 0;
    PTO_TRY(instances_read_array(in, o->op, x));
    for (uint32_t i = 0; i < o->result_count; i++) {
        value part;
        PTO_TRY(interp_make_result(in, fr, o, i, &part));
        PTO_TRY(move_part(in, o, x, &part.array, axis, start));
        start += part.array.dims[axis];
        set_result(in, fr, o, i, &part);
    }
    return PTO_OK;
}

/* ---- constants ---- */

pto_status interp_index_tensor(interp *in, frame *fr, const op_code *o, int64_t n)
{
    tensor_call call = {.value = number_from_int(n)};
    return run_tensor(in, fr, o, call);
}

pto_status interp_constant(interp *in, frame *fr, const op_code *o)
{
    const pto_attr a = pto_op_attr(o->op, PTO_STR("value"));
    const pto_attr_kind kind = pto_attr_kind_of(a);
    if (kind != PTO_ATTR_DENSE && kind != PTO_ATTR_RESOURCE) {
        tensor_call call = {0};
        call.value = kind == PTO_ATTR_FLOAT ? number_from_float(pto_attr_f64(a)) : number_from_int(pto_attr_i64(a));
        return run_tensor(in, fr, o, call);
    }
    value result;
    PTO_TRY(interp_make_result(in, fr, o, 0, &result));
    const array *to = &result.array;
    const array_file file = {.op = o->op,
                             .code = "pto.reference/resource",
                             .rest_code = "pto.reference/resource-rest",
                             .dtype = to->dtype,
                             .rank = to->rank,
                             .dims = to->dims,
                             .base = to->base,
                             .bytes = to->in->bytes};
    PTO_TRY(array_file_read(&file, a));
    result.array.is_read_only = pto_str_is(o->name, "constant_array");
    set_result(in, fr, o, 0, &result);
    return PTO_OK;
}

/* ---- views and memory ---- */

pto_status interp_view(interp *in, frame *fr, const op_code *o)
{
    const array *from = &fr->values[o->operands[0]].array;
    value v = {.kind = VALUE_ARRAY};
    int64_t have = -1, want = -1;
    PTO_TRY(interp_shape(fr, o->op, &fr->f->shapes[o->results[0]], &v.array));
    if (!array_count(from, &have) || !array_count(&v.array, &want) ||
        have * (int64_t)element_bytes(from->dtype) != want * (int64_t)element_bytes(v.array.dtype))
        return pto_error(o->op, "pto.reference/unsupported", "%" PRId64 " elements are shown as %" PRId64, have, want);
    if (!array_is_contiguous(from))
        return pto_error(o->op, "pto.reference/unsupported", "the elements are not contiguous");
    array_pack(&v.array);
    v.array.in = from->in;
    v.array.base = from->base;
    v.array.is_read_only = from->is_read_only;
    value_copy(in->pool, &fr->values[o->results[0]], &v);
    return PTO_OK;
}

pto_status interp_empty(interp *in, frame *fr, const op_code *o)
{
    value v;
    PTO_TRY(interp_make_result(in, fr, o, 0, &v));
    storage_mark(in->pool, v.array.in, element_bytes(v.array.dtype), MARK_NEVER);
    set_result(in, fr, o, 0, &v);
    return PTO_OK;
}

pto_status interp_free(frame *fr, const op_code *o)
{
    storage *s = fr->values[o->operands[0]].array.in;
    if (s->is_freed) return pto_error(o->op, "pto.reference/freed", "the memory was freed before");
    s->is_freed = true;
    return PTO_OK;
}
