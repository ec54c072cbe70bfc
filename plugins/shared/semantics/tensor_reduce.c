/* Rows of tensor.def that reduce along axes, softmax and rms_norm. */
#include "semantics/lanes.h"
#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <math.h>

typedef enum fold_op { FOLD_OP_SUM, FOLD_OP_MEAN, FOLD_OP_PROD, FOLD_OP_MAX, FOLD_OP_MIN } fold_op;

pto_status walk_reduction(tensor_call *call, walk *kept, walk *reduced)
{
    const pto_tensor *in = call->in[0], *out = call->out;
    bool is_reduced[PTO_MAX_DIMS] = {false};
    *kept = *reduced = (walk){0};
    if (call->axis_count > PTO_MAX_DIMS)
        return tensor_fail(call, "%u axes, the limit is %d", call->axis_count, PTO_MAX_DIMS);
    for (uint32_t i = 0; i < call->axis_count; i++) {
        uint32_t axis;
        TENSOR_TRY(tensor_check_axis(call, call->axes[i], in->rank, &axis));
        if (is_reduced[axis]) return tensor_fail(call, "axis %" PRId64 " occurs twice", call->axes[i]);
        is_reduced[axis] = true;
    }
    const uint32_t want_rank = call->drop_reduced ? in->rank - call->axis_count : in->rank;
    if (out->rank != want_rank) return tensor_fail(call, "the result has rank %u, it must be %u", out->rank, want_rank);
    for (uint32_t d = 0, o = 0; d < in->rank; d++) {
        walk *w = is_reduced[d] ? reduced : kept;
        w->dims[w->rank] = in->dims[d];
        w->strides[1][w->rank] = in->strides[d];
        if (is_reduced[d] && call->drop_reduced) {
            w->rank++;
            continue;
        }
        const int64_t want = is_reduced[d] ? 1 : in->dims[d];
        if (out->dims[o] != want) {
            return tensor_fail(call, "dim %u of the result is %" PRId64 ", it must be %" PRId64, o, out->dims[o], want);
        }
        w->strides[0][w->rank++] = out->strides[o++];
    }
    return PTO_OK;
}

typedef struct fold {
    double value;
    int64_t whole, count;
} fold;

static void fold_floats(fold *f, fold_op op, nan_rule nan, size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++, f->count++) {
        if (op == FOLD_OP_SUM || op == FOLD_OP_MEAN)
            f->value += x[i];
        else if (op == FOLD_OP_PROD)
            f->value *= x[i];
        else
            f->value = f->count == 0 ? x[i] : tensor_extreme(f->value, x[i], op == FOLD_OP_MIN, nan);
    }
}

static void fold_ints(fold *f, fold_op op, bool is_unsigned, size_t n, const int64_t *x)
{
    static const lane_op lanes[] = {
        [FOLD_OP_SUM] = LANE_ADD, [FOLD_OP_PROD] = LANE_MUL, [FOLD_OP_MAX] = LANE_MAX, [FOLD_OP_MIN] = LANE_MIN};
    const lane_op lane = lanes[op];
    for (size_t i = 0; i < n; i++) lanes_i64(lane, is_unsigned, 1, &f->whole, &x[i], &f->whole);
}

static fold fold_start(fold_op op, pto_dtype t)
{
    fold f = {0};
    if (op == FOLD_OP_PROD) f = (fold){.value = 1, .whole = 1};
    if (op == FOLD_OP_MAX)
        f = (fold){.value = -(double)INFINITY, .whole = element_is_float(t) ? 0 : element_int_min(t)};
    if (op == FOLD_OP_MIN) f = (fold){.value = (double)INFINITY, .whole = element_is_float(t) ? 0 : element_int_max(t)};
    return f;
}

/* Folds the elements that `reduced` walks from `at` on, along its last dim in runs of n. */
static fold fold_all(const tensor_call *call, fold_op op, walk *reduced, int64_t n, int64_t stride, int64_t at)
{
    const pto_tensor *in = call->in[0];
    fold f = fold_start(op, in->dtype);
    for (bool more = walk_begin(reduced); more; more = walk_next(reduced)) {
        for (int64_t i = 0; i < n; i += TENSOR_LANES) {
            const size_t k = tensor_piece(n, i);
            const uint8_t *from = tensor_at(in, at + reduced->offset[1] + i * stride);
            if (element_is_float(in->dtype)) {
                double x[TENSOR_LANES];
                element_read_f64(in->dtype, from, stride, k, x);
                fold_floats(&f, op, call->nan, k, x);
            } else {
                int64_t x[TENSOR_LANES];
                element_read_i64(in->dtype, from, stride, k, x);
                fold_ints(&f, op, element_is_unsigned(in->dtype), k, x);
            }
        }
    }
    return f;
}

static pto_status reduce(tensor_call *call, fold_op op)
{
    walk kept, reduced;
    int64_t strides[WALK_ARRAYS];
    const pto_tensor *out = call->out;
    if (element_is_float(out->dtype) || op == FOLD_OP_MEAN) TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(walk_reduction(call, &kept, &reduced));
    const int64_t n = walk_split_last(&reduced, strides);
    for (bool more = walk_begin(&kept); more; more = walk_next(&kept)) {
        const fold f = fold_all(call, op, &reduced, n, strides[1], kept.offset[1]);
        const double value = op == FOLD_OP_MEAN ? f.value / (double)f.count : f.value;
        if (element_is_float(out->dtype))
            element_write_f64(out->dtype, tensor_at(out, kept.offset[0]), 1, 1, &value);
        else
            element_write_i64(out->dtype, tensor_at(out, kept.offset[0]), 1, 1, &f.whole);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_REDUCE_SUM(tensor_call *call) { return reduce(call, FOLD_OP_SUM); }
pto_status eval_TENSOR_REDUCE_PROD(tensor_call *call) { return reduce(call, FOLD_OP_PROD); }
pto_status eval_TENSOR_REDUCE_MAX(tensor_call *call) { return reduce(call, FOLD_OP_MAX); }
pto_status eval_TENSOR_REDUCE_MIN(tensor_call *call) { return reduce(call, FOLD_OP_MIN); }
pto_status eval_TENSOR_ANY(tensor_call *call) { return reduce(call, FOLD_OP_MAX); }
pto_status eval_TENSOR_ALL(tensor_call *call) { return reduce(call, FOLD_OP_MIN); }
pto_status eval_TENSOR_REDUCE_MEAN(tensor_call *call) { return reduce(call, FOLD_OP_MEAN); }

static double element_f64(const pto_tensor *t, int64_t at)
{
    double x;
    element_read_f64(t->dtype, tensor_at(t, at), 1, 1, &x);
    return x;
}

/* The mean first, then the squares of the distances from it. */
static double variance(const tensor_call *call, walk *reduced, int64_t at)
{
    const pto_tensor *in = call->in[0];
    double sum = 0, squares = 0, count = 0;
    for (bool more = walk_begin(reduced); more; more = walk_next(reduced), count++)
        sum += element_f64(in, at + reduced->offset[1]);
    const double mean = sum / count, divisor = count - (double)call->offsets[0];
    for (bool more = walk_begin(reduced); more; more = walk_next(reduced)) {
        const double distance = element_f64(in, at + reduced->offset[1]) - mean;
        squares += distance * distance;
    }
    return squares / (divisor > 0 ? divisor : 0);
}

pto_status eval_TENSOR_VAR(tensor_call *call)
{
    walk kept, reduced;
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(walk_reduction(call, &kept, &reduced));
    for (bool more = walk_begin(&kept); more; more = walk_next(&kept)) {
        const double value = variance(call, &reduced, kept.offset[1]);
        element_write_f64(call->out->dtype, tensor_at(call->out, kept.offset[0]), 1, 1, &value);
    }
    return PTO_OK;
}

/* Whether the element at `a` is chosen before that at `b`, which comes first. */
static bool is_chosen(const pto_tensor *t, bool smaller, int64_t a, int64_t b)
{
    if (element_is_float(t->dtype)) {
        const double x = element_f64(t, a), y = element_f64(t, b);
        if (x != x || y != y) return y == y;
        return smaller ? x < y : x > y;
    }
    int64_t x, y;
    element_read_i64(t->dtype, tensor_at(t, a), 1, 1, &x);
    element_read_i64(t->dtype, tensor_at(t, b), 1, 1, &y);
    const bool is_above = element_is_unsigned(t->dtype) ? (uint64_t)x > (uint64_t)y : x > y;
    return smaller ? !is_above && x != y : is_above;
}

static pto_status choose(tensor_call *call, bool smaller)
{
    walk kept, reduced;
    const pto_tensor *in = call->in[0], *out = call->out;
    if (out->dtype != PTO_I32 && out->dtype != PTO_I64)
        return tensor_fail(call, "the result is %s, it must be i32 or i64", pto_dtype_name(out->dtype));
    TENSOR_TRY(walk_reduction(call, &kept, &reduced));
    for (bool more = walk_begin(&kept); more; more = walk_next(&kept)) {
        int64_t index = 0, best = INT32_MAX, place = 0;
        for (bool on = walk_begin(&reduced); on; on = walk_next(&reduced), index++) {
            const int64_t at = kept.offset[1] + reduced.offset[1];
            if (index != 0 && !is_chosen(in, smaller, at, place)) continue;
            best = index;
            place = at;
        }
        element_write_i64(out->dtype, tensor_at(out, kept.offset[0]), 1, 1, &best);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_ARGMAX(tensor_call *call) { return choose(call, false); }
pto_status eval_TENSOR_ARGMIN(tensor_call *call) { return choose(call, true); }

/* One row along an axis, in pieces; a NaN anywhere makes all of the row NaN. */
static void softmax_row(const pto_tensor *in, const pto_tensor *out, int64_t from, int64_t from_stride, int64_t to,
                        int64_t to_stride, int64_t n)
{
    double x[TENSOR_LANES], most = -(double)INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i += TENSOR_LANES) {
        const size_t k = tensor_piece(n, i);
        element_read_f64(in->dtype, tensor_at(in, from + i * from_stride), from_stride, k, x);
        for (size_t j = 0; j < k; j++) most = tensor_extreme(most, x[j], false, NAN_PROPAGATE);
    }
    for (int64_t i = 0; i < n; i += TENSOR_LANES) {
        const size_t k = tensor_piece(n, i);
        element_read_f64(in->dtype, tensor_at(in, from + i * from_stride), from_stride, k, x);
        for (size_t j = 0; j < k; j++) sum += exp(x[j] - most);
    }
    for (int64_t i = 0; i < n; i += TENSOR_LANES) {
        const size_t k = tensor_piece(n, i);
        element_read_f64(in->dtype, tensor_at(in, from + i * from_stride), from_stride, k, x);
        for (size_t j = 0; j < k; j++) x[j] = exp(x[j] - most) / sum;
        element_write_f64(out->dtype, tensor_at(out, to + i * to_stride), to_stride, k, x);
    }
}

pto_status eval_TENSOR_SOFTMAX(tensor_call *call)
{
    const pto_tensor *in = call->in[0], *out = call->out;
    uint32_t axis;
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    TENSOR_TRY(tensor_check_axis(call, call->axis_count ? call->axes[0] : -1, in->rank, &axis));
    walk w = {0};
    for (uint32_t d = 0; d < in->rank; d++) {
        if (d == axis) continue;
        w.dims[w.rank] = in->dims[d];
        w.strides[0][w.rank] = out->strides[d];
        w.strides[1][w.rank++] = in->strides[d];
    }
    for (bool more = walk_begin(&w); more; more = walk_next(&w))
        softmax_row(in, out, w.offset[1], in->strides[axis], w.offset[0], out->strides[axis], in->dims[axis]);
    return PTO_OK;
}

pto_status eval_TENSOR_RMS_NORM(tensor_call *call)
{
    const pto_tensor *in = call->in[0], *gamma = call->in[1], *out = call->out;
    walk w;
    int64_t strides[WALK_ARRAYS];
    double x[TENSOR_LANES], g[TENSOR_LANES];
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    if (in->rank == 0) return tensor_fail(call, "a tensor of rank 0 has no last axis");
    if (!element_is_float(gamma->dtype)) return tensor_fail(call, "gamma is %s", pto_dtype_name(gamma->dtype));
    TENSOR_TRY(walk_broadcast(call, 2, &w));
    const int64_t n = walk_split_last(&w, strides);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        double squares = 0;
        for (int64_t i = 0; i < n; i += TENSOR_LANES) {
            const size_t k = tensor_piece(n, i);
            element_read_f64(in->dtype, tensor_at(in, w.offset[1] + i * strides[1]), strides[1], k, x);
            for (size_t j = 0; j < k; j++) squares += x[j] * x[j];
        }
        const double root = sqrt(squares / (double)n + call->eps);
        for (int64_t i = 0; i < n; i += TENSOR_LANES) {
            const size_t k = tensor_piece(n, i);
            element_read_f64(in->dtype, tensor_at(in, w.offset[1] + i * strides[1]), strides[1], k, x);
            element_read_f64(gamma->dtype, tensor_at(gamma, w.offset[2] + i * strides[2]), strides[2], k, g);
            for (size_t j = 0; j < k; j++) x[j] = x[j] / root * g[j];
            element_write_f64(out->dtype, tensor_at(out, w.offset[0] + i * strides[0]), strides[0], k, x);
        }
    }
    return PTO_OK;
}
