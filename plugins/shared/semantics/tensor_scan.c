/* Rows of tensor.def that sort or scan along an axis. */
#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The axis of a call whose result has the extents of the operand except for that along it. */
static pto_status find_axis(tensor_call *call, uint32_t *out)
{
    const pto_tensor *in = call->in[0], *made = call->out;
    TENSOR_TRY(tensor_check_axis(call, call->axis_count != 0 ? call->axes[0] : -1, in->rank, out));
    if (made->rank != in->rank) return tensor_fail(call, "the result has rank %u, it must be %u", made->rank, in->rank);
    for (uint32_t d = 0; d < in->rank; d++) {
        if (d == *out || made->dims[d] == in->dims[d]) continue;
        return tensor_fail(call, "dim %u of the result is %" PRId64 ", it must be %" PRId64, d, made->dims[d],
                           in->dims[d]);
    }
    if (made->dims[*out] <= in->dims[*out]) return PTO_OK;
    return tensor_fail(call, "%" PRId64 " elements of an axis that has %" PRId64, made->dims[*out], in->dims[*out]);
}

/* ---- order ---- */

size_t tensor_scratch_bytes(tensor_op op, const tensor_call *call)
{
    const pto_tensor *in = call->in[0];
    size_t count = 1, bytes;
    switch (op) {
    case EVAL_TENSOR_SORT:
    case EVAL_TENSOR_ARGSORT:
    case EVAL_TENSOR_TOPK:
        for (uint32_t d = 0; d < in->rank; d++) count = (size_t)in->dims[d] > count ? (size_t)in->dims[d] : count;
        return __builtin_mul_overflow(count, 3 * sizeof(int64_t), &bytes) ? SIZE_MAX : bytes;
    case EVAL_TENSOR_SCATTER:
    case EVAL_TENSOR_INDEX_ADD:
    case EVAL_TENSOR_INDEX_PUT:
        if (call->combine == COMBINE_NONE || !element_is_float(in->dtype)) return 0;
        return __builtin_mul_overflow((size_t)tensor_count(in), sizeof(double), &bytes) ? SIZE_MAX : bytes;
    case EVAL_TENSOR_ATTENTION: /* of one query: its scores, and what is made of values */
        in = call->in[2];
        if (in->rank < 2) return 0;
        count = (size_t)in->dims[in->rank - 2];
        if (__builtin_add_overflow(count, (size_t)in->dims[in->rank - 1], &count)) return SIZE_MAX;
        return __builtin_mul_overflow(count, sizeof(double), &bytes) ? SIZE_MAX : bytes;
    default: return 0;
    }
}

static int compare(const order_line *l, int64_t a, int64_t b)
{
    if (element_is_float(l->dtype)) {
        const double x = l->reals[a], y = l->reals[b];
        if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
        return (x > y) - (x < y);
    }
    const int64_t x = l->wholes[a], y = l->wholes[b];
    if (element_is_unsigned(l->dtype)) return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
    return (x > y) - (x < y);
}

/* Merges neighbouring runs, of two equal elements the first one first. */
void order_sort(order_line *l)
{
    for (int64_t i = 0; i < l->n; i++) l->order[i] = i;
    for (int64_t run = 1; run < l->n; run *= 2) {
        for (int64_t first = 0; first < l->n; first += 2 * run) {
            const int64_t middle = first + run < l->n ? first + run : l->n,
                          end = middle + run < l->n ? middle + run : l->n;
            for (int64_t to = first, a = first, b = middle; to < end; to++) {
                const int order = a < middle && b < end ? compare(l, l->order[a], l->order[b]) : 0;
                const bool second = a == middle || (b < end && (l->descending ? order < 0 : order > 0));
                l->spare[to] = l->order[second ? b++ : a++];
            }
        }
        int64_t *const sorted = l->spare;
        l->spare = l->order;
        l->order = sorted;
    }
}

/* Sorts each line, and makes the values in `values` and the places in `places`, those that are there. */
static pto_status run_sort(tensor_call *call, const pto_tensor *values, const pto_tensor *places)
{
    uint32_t axis;
    const pto_tensor *in = call->in[0];
    TENSOR_TRY(find_axis(call, &axis));
    if (values != NULL) TENSOR_TRY(tensor_check_dtype(call, 0));
    const int64_t n = in->dims[axis], made = call->out->dims[axis];
    int64_t *const memory = call->scratch;
    void *const keys = call->scratch;
    walk w = tensor_lines(call, axis);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        order_line l = {.dtype = in->dtype, .descending = call->descending, .n = n, .reals = keys, .wholes = keys};
        l.order = memory + n;
        l.spare = memory + 2 * n;
        if (element_is_float(in->dtype))
            element_read_f64(in->dtype, tensor_at(in, w.offset[1]), in->strides[axis], (size_t)n, l.reals);
        else
            element_read_i64(in->dtype, tensor_at(in, w.offset[1]), in->strides[axis], (size_t)n, l.wholes);
        order_sort(&l);
        for (int64_t i = 0; i < made && values != NULL; i++)
            element_copy(element_bytes(in->dtype), tensor_at(values, w.offset[0] + i * values->strides[axis]), 1,
                         tensor_at(in, w.offset[1] + l.order[i] * in->strides[axis]), 1, 1);
        if (places != NULL)
            element_write_i64(places->dtype, tensor_at(places, w.offset[places == call->out ? 0 : 2]),
                              places->strides[axis], (size_t)made, l.order);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_SORT(tensor_call *call) { return run_sort(call, call->out, NULL); }
pto_status eval_TENSOR_ARGSORT(tensor_call *call) { return run_sort(call, NULL, call->out); }
pto_status eval_TENSOR_TOPK(tensor_call *call) { return run_sort(call, call->out, call->second); }

/* ---- scans ---- */

/* Up to each of `n` elements; `*real` and `*whole` are what is before them. */
static void scan_floats(const tensor_call *call, bool multiplies, size_t n, double *x, double *before)
{
    for (size_t i = 0; i < n; i++) {
        const double through = multiplies ? *before * x[i] : *before + x[i];
        x[i] = call->exclusive ? *before : through;
        *before = through;
    }
}

static void scan_ints(const tensor_call *call, bool multiplies, size_t n, int64_t *x, int64_t *before)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t a = (uint64_t)*before, b = (uint64_t)x[i];
        const int64_t through = (int64_t)(multiplies ? a * b : a + b);
        x[i] = call->exclusive ? *before : through;
        *before = through;
    }
}

static pto_status scan(tensor_call *call, bool multiplies)
{
    uint32_t axis;
    const pto_tensor *in = call->in[0], *out = call->out;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    TENSOR_TRY(find_axis(call, &axis));
    const int64_t n = in->dims[axis], step = call->reverse ? -1 : 1, start = call->reverse ? n - 1 : 0;
    walk w = tensor_lines(call, axis);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        double real = multiplies;
        int64_t whole = multiplies;
        for (int64_t i = 0; i < n; i += TENSOR_LANES) {
            const size_t k = tensor_piece(n, i);
            const int64_t at = start + step * i, from_stride = step * in->strides[axis],
                          to_stride = step * out->strides[axis];
            const uint8_t *from = tensor_at(in, w.offset[1] + at * in->strides[axis]);
            uint8_t *to = tensor_at(out, w.offset[0] + at * out->strides[axis]);
            if (element_is_float(in->dtype)) {
                double x[TENSOR_LANES];
                element_read_f64(in->dtype, from, from_stride, k, x);
                scan_floats(call, multiplies, k, x, &real);
                element_write_f64(out->dtype, to, to_stride, k, x);
            } else {
                int64_t x[TENSOR_LANES];
                element_read_i64(in->dtype, from, from_stride, k, x);
                scan_ints(call, multiplies, k, x, &whole);
                element_write_i64(out->dtype, to, to_stride, k, x);
            }
        }
    }
    return PTO_OK;
}

pto_status eval_TENSOR_CUMSUM(tensor_call *call) { return scan(call, false); }
pto_status eval_TENSOR_CUMPROD(tensor_call *call) { return scan(call, true); }
