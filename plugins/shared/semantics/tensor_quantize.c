/* Rows of tensor.def that make few bits of many, and bring them back. */
#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <math.h>

/* ---- scales, for each element or for blocks along an axis ---- */

/* Dim `axis` becomes two: blocks, and the elements of one; of scales the second is 1. */
static void split(pto_tensor *t, uint32_t axis, int64_t inner)
{
    for (uint32_t d = t->rank++; d > axis + 1; d--) {
        t->dims[d] = t->dims[d - 1];
        t->strides[d] = t->strides[d - 1];
    }
    t->dims[axis] /= inner;
    t->dims[axis + 1] = inner;
    t->strides[axis + 1] = t->strides[axis];
    t->strides[axis] *= inner;
}

enum { OUT, X, SCALE, ZERO, ARRAYS };

typedef struct scaling {
    pto_tensor arrays[ARRAYS];
    bool has_zero;
    walk w;
} scaling;

/* A walk over all elements, with the places of what belongs to each. */
static pto_status scaling_make(tensor_call *call, scaling *s)
{
    uint32_t axis = 0;
    s->has_zero = call->in[2] != NULL;
    s->arrays[OUT] = *call->out;
    s->arrays[X] = *call->in[0];
    s->arrays[SCALE] = *call->in[1];
    s->arrays[ZERO] = s->has_zero ? *call->in[2] : *call->in[1];
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    if (call->block != 0) {
        TENSOR_TRY(tensor_check_axis(call, call->axis_count != 0 ? call->axes[0] : -1, call->out->rank, &axis));
        if (call->out->rank == PTO_MAX_DIMS || call->out->dims[axis] % call->block != 0)
            return tensor_fail(call, "%" PRId64 " elements in blocks of %" PRId64, call->out->dims[axis], call->block);
        for (int i = 0; i < ARRAYS; i++) {
            if (s->arrays[i].rank != call->out->rank)
                return tensor_fail(call, "scales with rank %u, of %u dims", s->arrays[i].rank, call->out->rank);
            split(&s->arrays[i], axis, i == OUT || i == X ? call->block : 1);
        }
    }
    tensor_call all = {.out = &s->arrays[OUT]};
    for (int i = X; i < ARRAYS; i++) all.in[i - 1] = &s->arrays[i];
    if (walk_broadcast(&all, ARRAYS - 1, &s->w) == PTO_OK) return PTO_OK;
    return tensor_fail(call, "%.200s", all.text);
}

static double at(const scaling *s, int i)
{
    double x;
    element_read_f64(s->arrays[i].dtype, tensor_at(&s->arrays[i], s->w.offset[i]), 1, 1, &x);
    return x;
}

/* What quantising makes of x / scale, in type t. */
static void write_quantised(pto_dtype t, uint8_t *to, float quotient, double zero)
{
    if (element_is_float(t)) {
        const int64_t bits = element_encode(t, (double)quotient, ROUND_RINT, true);
        element_write_i64(element_bits_type(t), to, 1, 1, &bits);
        return;
    }
    const double q = isnan(quotient) ? 0 : rint((double)quotient) + zero;
    const int64_t bits = (int64_t)element_from_number(t, number_from_float(q), true);
    element_write_i64(t, to, 1, 1, &bits);
}

pto_status eval_TENSOR_QUANTIZE(tensor_call *call)
{
    scaling s;
    TENSOR_TRY(scaling_make(call, &s));
    for (bool more = walk_begin(&s.w); more; more = walk_next(&s.w)) {
        const float x = (float)at(&s, X), scale = (float)at(&s, SCALE);
        write_quantised(call->out->dtype, tensor_at(&s.arrays[OUT], s.w.offset[OUT]), x / scale,
                        s.has_zero ? at(&s, ZERO) : 0);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_DEQUANTIZE(tensor_call *call)
{
    scaling s;
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(scaling_make(call, &s));
    for (bool more = walk_begin(&s.w); more; more = walk_next(&s.w)) {
        const float x = (float)at(&s, X), zero = s.has_zero ? (float)at(&s, ZERO) : 0, moved = x - zero,
                    y = moved * (float)at(&s, SCALE);
        element_write_f32(call->out->dtype, tensor_at(&s.arrays[OUT], s.w.offset[OUT]), 1, 1, &y);
    }
    return PTO_OK;
}

/* ---- scales that are found ---- */

/* The largest value of a type, and the exponent of its largest power of two. */
static void limit_of(pto_dtype t, float *out_largest, int *out_exponent)
{
    *out_largest = t == PTO_F8E4M3 ? 448 : t == PTO_F8E5M2 ? 57344 : 127;
    *out_exponent = t == PTO_F8E4M3 ? 8 : t == PTO_F8E5M2 ? 15 : 6;
}

/* The scale of a block, written as one; `to` of type t is what it is for. */
static float write_scale(pto_dtype t, float magnitude, pto_dtype scale_type, uint8_t *to)
{
    float largest, scale;
    int exponent;
    limit_of(t, &largest, &exponent);
    if (scale_type == PTO_F32) {
        scale = magnitude / largest;
        if (scale == 0) scale = 1;
        element_write_f32(PTO_F32, to, 1, 1, &scale);
        return scale;
    }
    const int64_t bits = element_encode(scale_type, (double)(magnitude * ldexpf(1, -exponent)), ROUND_FLOOR, true);
    element_write_i64(element_bits_type(scale_type), to, 1, 1, &bits);
    element_read_f32(scale_type, to, 1, 1, &scale);
    return scale;
}

static float read_one(const pto_tensor *t, int64_t offset)
{
    float x;
    element_read_f32(t->dtype, tensor_at(t, offset), 1, 1, &x);
    return x;
}

pto_status eval_TENSOR_QUANTIZE_BLOCK(tensor_call *call)
{
    uint32_t axis;
    pto_tensor x = *call->in[0], q = *call->out, scale = *call->second;
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    TENSOR_TRY(tensor_check_axis(call, call->axis_count != 0 ? call->axes[0] : -1, x.rank, &axis));
    if (call->block <= 0 || x.rank == PTO_MAX_DIMS || scale.rank != x.rank ||
        scale.dims[axis] * call->block != x.dims[axis])
        return tensor_fail(call, "%" PRId64 " elements in blocks of %" PRId64, x.dims[axis], call->block);
    split(&x, axis, call->block);
    split(&q, axis, call->block);
    split(&scale, axis, 1);
    walk w = {.rank = scale.rank};
    for (uint32_t d = 0; d < scale.rank; d++) {
        w.dims[d] = scale.dims[d];
        w.strides[0][d] = scale.strides[d];
        w.strides[1][d] = x.strides[d];
        w.strides[2][d] = q.strides[d];
    }
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        float magnitude = 0;
        for (int64_t i = 0; i < call->block; i++) {
            const float v = fabsf(read_one(&x, w.offset[1] + i * x.strides[axis + 1]));
            magnitude = isnan(magnitude) || v <= magnitude ? magnitude : v;
        }
        const float s = write_scale(q.dtype, magnitude, scale.dtype, tensor_at(&scale, w.offset[0]));
        for (int64_t i = 0; i < call->block; i++) {
            const float v = read_one(&x, w.offset[1] + i * x.strides[axis + 1]);
            write_quantised(q.dtype, tensor_at(&q, w.offset[2] + i * q.strides[axis + 1]), v / s, 0);
        }
    }
    return PTO_OK;
}

/* ---- products of what is scaled ---- */

/* One operand as a walk sees it, with its scales: strides along (m or n, k). */
typedef struct scaled {
    const pto_tensor *x, *scale;
    int64_t x_strides[2], scale_strides[2], k;
} scaled;

static pto_status scaled_make(tensor_call *call, int i, scaled *s)
{
    const pto_tensor *x = call->in[i], *scale = call->in[i + 2];
    const bool turned = i == 0 ? call->transpose_a : call->transpose_b;
    if (x->rank < 2 || x->rank > call->out->rank || scale->rank != x->rank || call->block <= 0)
        return tensor_fail(call, "operand %d has rank %u, its scales %u", i + 1, x->rank, scale->rank);
    const uint32_t along = x->rank - (turned == (i == 0) ? 2 : 1), other = 2 * x->rank - 3 - along;
    *s = (scaled){.x = x,
                  .scale = scale,
                  .x_strides = {x->strides[other], x->strides[along]},
                  .scale_strides = {scale->dims[other] == 1 ? 0 : scale->strides[other], scale->strides[along]},
                  .k = x->dims[along]};
    const int64_t wanted = call->out->dims[call->out->rank - (i == 0 ? 2 : 1)];
    if (scale->dims[along] * call->block == s->k && x->dims[other] == wanted) return PTO_OK;
    return tensor_fail(call, "operand %d has %" PRId64 " elements in %" PRId64 " blocks of %" PRId64, i + 1, s->k,
                       scale->dims[along], call->block);
}

/* Elements k .. k + n - 1 of line i, in f32. */
static void read_scaled(const scaled *s, int64_t block, int64_t x_at, int64_t scale_at, int64_t k, size_t n, float *out)
{
    double x[TENSOR_LANES];
    element_read_f64(s->x->dtype, tensor_at(s->x, x_at + k * s->x_strides[1]), s->x_strides[1], n, x);
    for (size_t j = 0; j < n; j++) {
        float scale;
        element_read_f32(s->scale->dtype,
                         tensor_at(s->scale, scale_at + (k + (int64_t)j) / block * s->scale_strides[1]), 1, 1, &scale);
        out[j] = (float)x[j] * scale;
    }
}

static double sum_of_products(const scaled s[2], int64_t block, const int64_t at[4])
{
    double sum = 0;
    float x[2][TENSOR_LANES];
    for (int64_t k = 0; k < s[0].k; k += TENSOR_LANES) {
        const size_t n = tensor_piece(s[0].k, k);
        for (int i = 0; i < 2; i++) read_scaled(&s[i], block, at[i], at[i + 2], k, n, x[i]);
        for (size_t j = 0; j < n; j++) sum += (double)x[0][j] * (double)x[1][j];
    }
    return sum;
}

/* Dims before the last two; those of arrays[1 + i] are of in[i]. */
static pto_status walk_batch(tensor_call *call, walk *w)
{
    pto_tensor cut[5];
    tensor_call batch = {.out = &cut[0]};
    for (int i = 0; i < 5; i++) {
        cut[i] = i == 0 ? *call->out : *call->in[i - 1];
        cut[i].rank -= 2;
        if (i != 0) batch.in[i - 1] = &cut[i];
    }
    if (walk_broadcast(&batch, 4, w) == PTO_OK) return PTO_OK;
    return tensor_fail(call, "batch dims: %.200s", batch.text);
}

pto_status eval_TENSOR_SCALED_MATMUL(tensor_call *call)
{
    scaled s[2] = {{.k = 0}, {.k = 0}};
    walk w;
    const pto_tensor *out = call->out;
    TENSOR_TRY(tensor_check_float(call));
    for (int i = 0; i < 2; i++) TENSOR_TRY(scaled_make(call, i, &s[i]));
    if (s[0].k != s[1].k) return tensor_fail(call, "sums over %" PRId64 " and %" PRId64 " elements", s[0].k, s[1].k);
    TENSOR_TRY(walk_batch(call, &w));
    const uint32_t rows = out->rank - 2, columns = out->rank - 1;
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        for (int64_t i = 0; i < out->dims[rows]; i++) {
            for (int64_t j = 0; j < out->dims[columns]; j++) {
                const int64_t at[] = {w.offset[1] + i * s[0].x_strides[0], w.offset[2] + j * s[1].x_strides[0],
                                      w.offset[3] + i * s[0].scale_strides[0], w.offset[4] + j * s[1].scale_strides[0]};
                const double sum = sum_of_products(s, call->block, at);
                element_write_f64(out->dtype,
                                  tensor_at(out, w.offset[0] + i * out->strides[rows] + j * out->strides[columns]), 1,
                                  1, &sum);
            }
        }
    }
    return PTO_OK;
}

/* ---- two in a byte ---- */

static walk walk_of(const pto_tensor *to, const pto_tensor *from)
{
    walk w = {.rank = to->rank};
    for (uint32_t d = 0; d < to->rank; d++) {
        w.dims[d] = d + 1 == to->rank ? 1 : to->dims[d];
        w.strides[0][d] = to->strides[d];
        w.strides[1][d] = from->strides[d];
    }
    return w;
}

/* `wide` has two elements for each of `narrow`; other extents are equal. */
static pto_status check_halves(tensor_call *call, const pto_tensor *wide, const pto_tensor *narrow)
{
    bool fits = wide->rank == narrow->rank && wide->rank > 0;
    for (uint32_t d = 0; fits && d < wide->rank; d++)
        fits = wide->dims[d] == narrow->dims[d] * (d + 1 == wide->rank ? 2 : 1);
    return fits ? PTO_OK : tensor_fail(call, "two elements to a byte: the last dims are not n and 2 n");
}

pto_status eval_TENSOR_PACK(tensor_call *call)
{
    const pto_tensor *in = call->in[0], *out = call->out;
    TENSOR_TRY(check_halves(call, in, out));
    walk w = walk_of(out, in);
    const uint32_t last = out->rank - 1;
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        for (int64_t i = 0; i < out->dims[last]; i++) {
            const uint8_t low = *tensor_at(in, w.offset[1] + 2 * i * in->strides[last]),
                          high = *tensor_at(in, w.offset[1] + (2 * i + 1) * in->strides[last]);
            *tensor_at(out, w.offset[0] + i * out->strides[last]) = (uint8_t)((low & 15) | (high & 15) << 4);
        }
    }
    return PTO_OK;
}

pto_status eval_TENSOR_UNPACK(tensor_call *call)
{
    const pto_tensor *in = call->in[0], *out = call->out;
    TENSOR_TRY(check_halves(call, out, in));
    walk w = walk_of(out, in);
    const uint32_t last = out->rank - 1;
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        for (int64_t i = 0; i < out->dims[last]; i++) {
            const unsigned byte = *tensor_at(in, w.offset[1] + i / 2 * in->strides[last]),
                           half = byte >> (i % 2 * 4) & 15;
            const bool is_below = half >= 8 && out->dtype == PTO_I8;
            *tensor_at(out, w.offset[0] + i * out->strides[last]) = (uint8_t)(is_below ? half | 0xf0 : half);
        }
    }
    return PTO_OK;
}
