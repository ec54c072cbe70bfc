/* Rows of tensor.def that copy or convert elements. */
#include "semantics/tensor_walk.h"

#include <inttypes.h>

/* Copies elements as the walk says: array 0 from `to` on, array 1 from `from` on. */
static void copy_elements(pto_dtype dtype, uint8_t *to, const uint8_t *from, walk *w)
{
    int64_t strides[WALK_ARRAYS];
    const size_t bytes = element_bytes(dtype);
    const int64_t n = walk_split_last(w, strides);
    for (bool more = walk_begin(w); more; more = walk_next(w)) {
        element_copy(bytes, to + w->offset[0] * (int64_t)bytes, strides[0], from + w->offset[1] * (int64_t)bytes,
                     strides[1], n > 0 ? (size_t)n : 0);
    }
}

/* Copies in[0] as the walk says: array 0 is the result, array 1 the operand. */
static void copy_walk(tensor_call *call, walk *w)
{
    copy_elements(call->out->dtype, tensor_at(call->out, 0), tensor_at(call->in[0], 0), w);
}

pto_status eval_TENSOR_BROADCAST(tensor_call *call)
{
    walk w;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    copy_walk(call, &w);
    return PTO_OK;
}

pto_status eval_TENSOR_FULL(tensor_call *call) { return eval_TENSOR_BROADCAST(call); }

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

/* The elements of one in row-major order become those of the other, which has as many, of as many bytes. */
static pto_status copy_in_order(const pto_tensor *in, const pto_tensor *out)
{
    int64_t from_strides[WALK_ARRAYS], to_strides[WALK_ARRAYS];
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

pto_status eval_TENSOR_RESHAPE(tensor_call *call)
{
    const pto_tensor *in = call->in[0], *out = call->out;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    if (tensor_count(in) != tensor_count(out)) {
        return tensor_fail(call, "%" PRId64 " elements for a shape of %" PRId64, tensor_count(in), tensor_count(out));
    }
    return copy_in_order(in, out);
}

/* t as elements of another type that take `parts` times less bytes, along a new last dim. */
static pto_tensor in_parts(const pto_tensor *t, pto_dtype dtype, int64_t parts)
{
    pto_tensor p = *t;
    p.dtype = dtype;
    if (parts <= 1) return p;
    for (uint32_t d = 0; d < p.rank; d++) p.strides[d] *= parts;
    p.dims[p.rank] = parts;
    p.strides[p.rank++] = 1;
    return p;
}

pto_status eval_TENSOR_BITCAST(tensor_call *call)
{
    const pto_tensor *in = call->in[0], *out = call->out;
    const int64_t from_bytes = (int64_t)element_bytes(in->dtype), bytes = (int64_t)element_bytes(out->dtype);
    if (tensor_count(in) * from_bytes != tensor_count(out) * bytes)
        return tensor_fail(call, "%" PRId64 " elements of %" PRId64 " bytes as %" PRId64 " of %" PRId64,
                           tensor_count(in), from_bytes, tensor_count(out), bytes);
    const pto_dtype part = from_bytes < bytes ? in->dtype : out->dtype;
    const pto_tensor from = in_parts(in, part, from_bytes / bytes), to = in_parts(out, part, bytes / from_bytes);
    return copy_in_order(&from, &to);
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

/* ---- windows ---- */

/* Strides and offsets of the walk over a flip's operand. */
static pto_status turn(tensor_call *call, int64_t *strides, int64_t *offsets)
{
    const pto_tensor *in = call->in[0];
    for (uint32_t i = 0; i < call->axis_count; i++) {
        uint32_t d;
        TENSOR_TRY(tensor_check_axis(call, call->axes[i], in->rank, &d));
        strides[d] = -1;
        offsets[d] = in->dims[d] - 1;
    }
    return PTO_OK;
}

static pto_status check_inside(tensor_call *call, uint32_t d, int64_t first, int64_t last, int64_t extent)
{
    const int64_t index = first < 0 || first >= extent ? first : last;
    if (index >= 0 && index < extent) return PTO_OK;
    call->is_outside = true;
    return tensor_fail(call, "reaches index %" PRId64 " of dim %u, whose extent is %" PRId64, index, d, extent);
}

pto_status walk_window(tensor_op op, tensor_call *call, window_walk *out)
{
    const bool reads = op == EVAL_TENSOR_VIEW || op == EVAL_TENSOR_FLIP || op == EVAL_TENSOR_SPLIT;
    const pto_tensor *window = reads ? call->out : call->in[0], *whole = reads ? call->in[0] : call->out;
    int64_t strides[PTO_MAX_DIMS], offsets[PTO_MAX_DIMS];
    bool is_empty = false;
    if (window->rank != whole->rank)
        return tensor_fail(call, "a window of rank %u in rank %u", window->rank, whole->rank);
    for (uint32_t d = 0; d < window->rank; d++) {
        strides[d] = call->has_strides ? call->strides[d] : 1;
        offsets[d] = call->offsets[d];
        is_empty |= window->dims[d] == 0;
    }
    if (op == EVAL_TENSOR_FLIP) TENSOR_TRY(turn(call, strides, offsets));
    const int at_whole = reads ? 1 : 0;
    *out = (window_walk){.w = {.rank = window->rank}};
    for (uint32_t d = 0; d < window->rank; d++) {
        const int64_t n = window->dims[d];
        int64_t last = 0;
        if (!is_empty &&
            (__builtin_mul_overflow(n - 1, strides[d], &last) || __builtin_add_overflow(offsets[d], last, &last)))
            return tensor_fail(call, "reaches an index of dim %u beyond 64 bits", d);
        if (!is_empty) TENSOR_TRY(check_inside(call, d, offsets[d], last, whole->dims[d]));
        out->w.dims[d] = n;
        out->w.strides[1 - at_whole][d] = window->strides[d];
        out->w.strides[at_whole][d] = whole->strides[d] * strides[d];
        out->at[at_whole] += is_empty ? 0 : offsets[d] * whole->strides[d];
    }
    return PTO_OK;
}

static pto_status move_window(tensor_op op, tensor_call *call)
{
    window_walk w = {.at = {0}};
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(walk_window(op, call, &w));
    copy_elements(call->out->dtype, tensor_at(call->out, w.at[0]), tensor_at(call->in[0], w.at[1]), &w.w);
    return PTO_OK;
}

pto_status eval_TENSOR_VIEW(tensor_call *call) { return move_window(EVAL_TENSOR_VIEW, call); }
pto_status eval_TENSOR_FLIP(tensor_call *call) { return move_window(EVAL_TENSOR_FLIP, call); }
pto_status eval_TENSOR_SPLIT(tensor_call *call) { return move_window(EVAL_TENSOR_SPLIT, call); }
pto_status eval_TENSOR_CONCAT(tensor_call *call) { return move_window(EVAL_TENSOR_CONCAT, call); }

/* The walk comes first: a window that leaves the result changes nothing. */
pto_status eval_TENSOR_PAD(tensor_call *call)
{
    window_walk w;
    tensor_call fill = {.out = call->out, .value = call->value};
    TENSOR_TRY(walk_window(EVAL_TENSOR_PAD, call, &w));
    TENSOR_TRY(eval_TENSOR_CONSTANT(&fill));
    return move_window(EVAL_TENSOR_PAD, call);
}

/* The elements of in[0] are added to those of the result that they are moved to. */
static void add_window(tensor_call *call, window_walk *w)
{
    const pto_dtype t = call->out->dtype;
    for (bool more = walk_begin(&w->w); more; more = walk_next(&w->w)) {
        uint8_t *const to = tensor_at(call->out, w->at[0] + w->w.offset[0]);
        const uint8_t *const from = tensor_at(call->in[0], w->at[1] + w->w.offset[1]);
        if (element_is_float(t)) {
            double a, b;
            element_read_f64(t, to, 1, 1, &a);
            element_read_f64(t, from, 1, 1, &b);
            a += b;
            element_write_f64(t, to, 1, 1, &a);
        } else {
            int64_t a, b;
            element_read_i64(t, to, 1, 1, &a);
            element_read_i64(t, from, 1, 1, &b);
            a = (int64_t)((uint64_t)a + (uint64_t)b);
            element_write_i64(t, to, 1, 1, &a);
        }
    }
}

pto_status eval_TENSOR_ASSEMBLE(tensor_call *call)
{
    window_walk w;
    tensor_call base = {.in = {call->in[1]}, .out = call->out};
    TENSOR_TRY(walk_window(EVAL_TENSOR_ASSEMBLE, call, &w));
    TENSOR_TRY(tensor_check_dtype(call, 1));
    TENSOR_TRY(tensor_check_same_dims(call, 1));
    TENSOR_TRY(eval_TENSOR_BROADCAST(&base));
    if (call->combine == COMBINE_NONE) return move_window(EVAL_TENSOR_ASSEMBLE, call);
    TENSOR_TRY(tensor_check_dtype(call, 0));
    add_window(call, &w);
    return PTO_OK;
}

pto_status eval_TENSOR_SQUEEZE(tensor_call *call) { return eval_TENSOR_RESHAPE(call); }
pto_status eval_TENSOR_UNSQUEEZE(tensor_call *call) { return eval_TENSOR_RESHAPE(call); }
