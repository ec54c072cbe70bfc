/* Rows of tensor.def that copy or convert elements. */
#include "semantics/tensor_walk.h"

#include <inttypes.h>

/* Copies in[0] as the walk says: array 0 is the result, array 1 the operand. */
static void copy_walk(tensor_call *call, walk *w)
{
    int64_t strides[WALK_ARRAYS];
    const pto_tensor *in = call->in[0], *out = call->out;
    const int64_t n = walk_split_last(w, strides);
    for (bool more = walk_begin(w); more; more = walk_next(w)) {
        element_copy(element_bytes(out->dtype), tensor_at(out, w->offset[0]), strides[0], tensor_at(in, w->offset[1]),
                     strides[1], n > 0 ? (size_t)n : 0);
    }
}

pto_status eval_TENSOR_BROADCAST(tensor_call *call)
{
    walk w;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    copy_walk(call, &w);
    return PTO_OK;
}

pto_status eval_TENSOR_CONSTANT(tensor_call *call)
{
    walk w;
    int64_t strides[WALK_ARRAYS];
    if (call->in[0] != NULL) return eval_TENSOR_BROADCAST(call);
    const uint64_t bits = element_from_number(call->out->dtype, call->value, false);
    TENSOR_TRY(walk_broadcast(call, 0, &w));
    const int64_t n = walk_split_last(&w, strides);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        element_copy(element_bytes(call->out->dtype), tensor_at(call->out, w.offset[0]), strides[0], &bits, 0,
                     n > 0 ? (size_t)n : 0);
    }
    return PTO_OK;
}

/* The interpreter has evaluated the index expression. */
pto_status eval_TENSOR_INDEX_CAST(tensor_call *call) { return eval_TENSOR_CONSTANT(call); }

pto_status eval_TENSOR_TRANSPOSE(tensor_call *call)
{
    const pto_tensor *in = call->in[0], *out = call->out;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    if (call->axis_count != in->rank || out->rank != in->rank) {
        return tensor_fail(call, "%u entries permute a tensor of rank %u to rank %u", call->axis_count, in->rank,
                           out->rank);
    }
    walk w = {.rank = out->rank};
    bool used[PTO_MAX_DIMS] = {false};
    for (uint32_t d = 0; d < out->rank; d++) {
        const int64_t p = call->axes[d];
        if (p < 0 || p >= (int64_t)in->rank || used[p])
            return tensor_fail(call, "entry %u of perm is %" PRId64 ", no permutation", d, p);
        used[p] = true;
        if (out->dims[d] != in->dims[p]) {
            return tensor_fail(call, "dim %u of the result is %" PRId64 ", dim %" PRId64 " of the operand %" PRId64, d,
                               out->dims[d], p, in->dims[p]);
        }
        w.dims[d] = out->dims[d];
        w.strides[0][d] = out->strides[d];
        w.strides[1][d] = in->strides[p];
    }
    copy_walk(call, &w);
    return PTO_OK;
}

/* A walk over a tensor's own dims, and the run along its last one. */
static walk walk_of(const pto_tensor *t)
{
    walk w = {.rank = t->rank};
    for (uint32_t d = 0; d < t->rank; d++) {
        w.dims[d] = t->dims[d];
        w.strides[0][d] = t->strides[d];
    }
    return w;
}

pto_status eval_TENSOR_RESHAPE(tensor_call *call)
{
    const pto_tensor *in = call->in[0], *out = call->out;
    int64_t from_strides[WALK_ARRAYS], to_strides[WALK_ARRAYS];
    TENSOR_TRY(tensor_check_dtype(call, 0));
    if (tensor_count(in) != tensor_count(out)) {
        return tensor_fail(call, "%" PRId64 " elements for a shape of %" PRId64, tensor_count(in), tensor_count(out));
    }
    walk from = walk_of(in), to = walk_of(out);
    const int64_t from_n = walk_split_last(&from, from_strides), to_n = walk_split_last(&to, to_strides);
    bool more = walk_begin(&from) && walk_begin(&to) && from_n > 0 && to_n > 0;
    for (int64_t i = 0, j = 0; more;) {
        const int64_t n = from_n - i < to_n - j ? from_n - i : to_n - j;
        element_copy(element_bytes(in->dtype), tensor_at(out, to.offset[0] + j * to_strides[0]), to_strides[0],
                     tensor_at(in, from.offset[0] + i * from_strides[0]), from_strides[0], (size_t)n);
        i += n;
        j += n;
        if (i == from_n) {
            i = 0;
            more = walk_next(&from);
        }
        if (j == to_n) {
            j = 0;
            more = walk_next(&to) && more;
        }
    }
    return PTO_OK;
}

pto_status eval_TENSOR_CAST(tensor_call *call)
{
    walk w;
    int64_t strides[WALK_ARRAYS];
    const pto_tensor *in = call->in[0], *out = call->out;
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    const int64_t n = walk_split_last(&w, strides);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        element_convert(out->dtype, tensor_at(out, w.offset[0]), strides[0], in->dtype, tensor_at(in, w.offset[1]),
                        strides[1], n > 0 ? (size_t)n : 0, call->mode, call->saturate, false);
    }
    return PTO_OK;
}
