/* Rows of tensor.def that compute with indices. */
#include "semantics/tensor_walk.h"

#include <string.h>

pto_status eval_TENSOR_IOTA(tensor_call *call)
{
    const pto_tensor *out = call->out;
    uint32_t axis;
    walk w;
    TENSOR_TRY(tensor_check_axis(call, call->axis_count != 0 ? call->axes[0] : 0, out->rank, &axis));
    TENSOR_TRY(walk_broadcast(call, 0, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const uint64_t bits = element_from_number(out->dtype, number_from_int(w.index[axis]), false);
        memcpy(tensor_at(out, w.offset[0]), &bits, element_bytes(out->dtype));
    }
    return PTO_OK;
}

/* x where `column - row` is at most the diagonal, or at least. */
static pto_status triangle(tensor_call *call, bool is_lower)
{
    const pto_tensor *x = call->in[0], *out = call->out;
    walk w;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    if (out->rank < 2) return tensor_fail(call, "a tensor of rank %u has no rows and columns", out->rank);
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    const size_t size = element_bytes(out->dtype);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const int64_t place = w.index[out->rank - 1] - w.index[out->rank - 2];
        if (is_lower ? place <= call->offsets[0] : place >= call->offsets[0])
            memcpy(tensor_at(out, w.offset[0]), tensor_at(x, w.offset[1]), size);
        else
            memset(tensor_at(out, w.offset[0]), 0, size);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_TRIL(tensor_call *call) { return triangle(call, true); }
pto_status eval_TENSOR_TRIU(tensor_call *call) { return triangle(call, false); }
