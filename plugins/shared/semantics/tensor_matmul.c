/* tensor.matmul and tensor.conv2d. Sums of a block of results are on the stack while k runs; each result adds its
 * products in ascending k. Then comes what follows the sum: bias, scale, relu. */
#include "semantics/insn_semantics.h"
#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 16, BLOCK_COLS = 64, BLOCK_DEPTH = 64 };

/* One product of matrices: extents, and strides in elements along (m, k), (k, n) and (m, n). */
typedef struct matmul {
    uint32_t cpu;
    int64_t m, k, n, a_strides[2], b_strides[2], out_strides[2];
    const pto_tensor *a, *b, *out;
    const uint8_t *a_base, *b_base;
    uint8_t *out_base;
    const pto_tensor *bias, *scale; /* with the dims of out; NULL: none */
    const uint8_t *bias_base, *scale_base;
    bool relu;
} matmul;

typedef struct block_f64 {
    size_t rows, cols, depth;
    double left[BLOCK_ROWS][BLOCK_DEPTH], right[BLOCK_DEPTH][BLOCK_COLS], sum[BLOCK_ROWS][BLOCK_COLS];
} block_f64;

typedef struct block_i64 {
    size_t rows, cols, depth;
    int64_t left[BLOCK_ROWS][BLOCK_DEPTH], right[BLOCK_DEPTH][BLOCK_COLS], sum[BLOCK_ROWS][BLOCK_COLS];
} block_i64;

static size_t at_most(int64_t left, size_t most) { return left < (int64_t)most ? (size_t)left : most; }

#if defined(__GNUC__) && !defined(__clang__)
#define VECTORISED __attribute__((optimize("O3"))) /* gcc 12 vectorises little at -O2 */
#else
#define VECTORISED
#endif

/* All columns of a block are computed: the number is constant, and what lies beyond `cols` is never stored. */
static inline __attribute__((always_inline)) void add_products(block_f64 *w)
{
    for (size_t i = 0; i < w->rows; i++) {
        double *sum = w->sum[i];
        for (size_t k = 0; k < w->depth; k++) {
            const double l = w->left[i][k];
            for (size_t j = 0; j < BLOCK_COLS; j++) sum[j] += l * w->right[k][j];
        }
    }
}

VECTORISED static void add_products_plain(block_f64 *w) { add_products(w); }
#if defined(__x86_64__)
/* Products of f32 and narrower are exact, so a fused operation would compute the same bits; none is made anyway. */
__attribute__((target("avx2"))) VECTORISED static void add_products_avx2(block_f64 *w) { add_products(w); }
#endif

static void add_products_f64(uint32_t cpu, block_f64 *w)
{
#if defined(__x86_64__)
    if (cpu & INSN_CPU_FMA) {
        add_products_avx2(w);
        return;
    }
#endif
    (void)cpu;
    add_products_plain(w);
}

static const uint8_t *a_at(const matmul *p, int64_t i, int64_t k)
{
    return p->a_base + (i * p->a_strides[0] + k * p->a_strides[1]) * (int64_t)element_bytes(p->a->dtype);
}

static const uint8_t *b_at(const matmul *p, int64_t k, int64_t j)
{
    return p->b_base + (k * p->b_strides[0] + j * p->b_strides[1]) * (int64_t)element_bytes(p->b->dtype);
}

static uint8_t *out_at(const matmul *p, int64_t i, int64_t j)
{
    return p->out_base + (i * p->out_strides[0] + j * p->out_strides[1]) * (int64_t)element_bytes(p->out->dtype);
}

/* ---- what follows the sum, for `n` elements of row i from column j on ----
 * Each step is rounded to f32: ops of their own after a product without them have the same result, an infinity too. */

static const uint8_t *after_at(const pto_tensor *t, const uint8_t *base, int64_t i, int64_t j)
{
    return base + (i * t->strides[t->rank - 2] + j * t->strides[t->rank - 1]) * (int64_t)element_bytes(t->dtype);
}

static void round_to_f32(size_t n, double *x)
{
    for (size_t c = 0; c < n; c++) x[c] = (double)(float)x[c];
}

static void finish_numbers(const matmul *p, int64_t i, int64_t j, size_t n, double *x)
{
    double y[BLOCK_COLS];
    if (p->bias != NULL || p->scale != NULL) round_to_f32(n, x);
    if (p->scale != NULL) {
        element_read_f64(p->scale->dtype, after_at(p->scale, p->scale_base, i, j),
                         p->scale->strides[p->scale->rank - 1], n, y);
        for (size_t c = 0; c < n; c++) x[c] *= y[c];
        round_to_f32(n, x);
    }
    for (size_t c = 0; c < n && p->relu; c++) x[c] = x[c] > 0 || isnan(x[c]) ? x[c] : 0;
    if (element_is_float(p->out->dtype)) {
        element_write_f64(p->out->dtype, out_at(p, i, j), p->out_strides[1], n, x);
        return;
    }
    for (size_t c = 0; c < n; c++) {
        const int64_t bits = (int64_t)element_from_number(p->out->dtype, number_from_float(x[c]), true);
        element_write_i64(p->out->dtype, out_at(p, i, j + (int64_t)c), 1, 1, &bits);
    }
}

static void finish_floats(const matmul *p, int64_t i, int64_t j, size_t n, double *sum)
{
    double bias[BLOCK_COLS];
    if (p->bias != NULL) {
        element_read_f64(p->bias->dtype, after_at(p->bias, p->bias_base, i, j), p->bias->strides[p->bias->rank - 1], n,
                         bias);
        round_to_f32(n, sum);
        for (size_t c = 0; c < n; c++) sum[c] += bias[c];
    }
    finish_numbers(p, i, j, n, sum);
}

/* What sums of integers are kept in before they are scaled. */
static pto_dtype sums_to_scale(pto_dtype t) { return t == PTO_U32 || t == PTO_U64 || t == PTO_I64 ? t : PTO_I32; }

static void finish_ints(const matmul *p, int64_t i, int64_t j, size_t n, int64_t *sum)
{
    const bool is_unsigned = element_is_unsigned(p->a->dtype);
    int64_t bias[BLOCK_COLS];
    if (p->bias != NULL) {
        element_read_i64(p->bias->dtype, after_at(p->bias, p->bias_base, i, j), p->bias->strides[p->bias->rank - 1], n,
                         bias);
        for (size_t c = 0; c < n; c++) sum[c] = (int64_t)((uint64_t)sum[c] + (uint64_t)bias[c]);
    }
    if (p->scale != NULL) {
        int64_t cut[BLOCK_COLS];
        double x[BLOCK_COLS];
        const pto_dtype t = sums_to_scale(p->a->dtype);
        element_write_i64(t, cut, 1, n, sum);
        element_read_f64(t, cut, 1, n, x);
        finish_numbers(p, i, j, n, x);
        return;
    }
    element_convert(p->out->dtype, out_at(p, i, j), p->out_strides[1], is_unsigned ? PTO_U64 : PTO_I64, sum, 1, n,
                    ROUND_RINT, false, false);
    if (!p->relu || element_is_unsigned(p->out->dtype)) return;
    element_read_i64(p->out->dtype, out_at(p, i, j), p->out_strides[1], n, sum);
    for (size_t c = 0; c < n; c++) sum[c] = sum[c] > 0 ? sum[c] : 0;
    element_write_i64(p->out->dtype, out_at(p, i, j), p->out_strides[1], n, sum);
}

static void block_floats(const matmul *p, block_f64 *w, int64_t i, int64_t j)
{
    memset(w->sum, 0, sizeof w->sum);
    for (int64_t k = 0; k < p->k; k += BLOCK_DEPTH) {
        w->depth = at_most(p->k - k, BLOCK_DEPTH);
        for (size_t r = 0; r < w->rows; r++)
            element_read_f64(p->a->dtype, a_at(p, i + (int64_t)r, k), p->a_strides[1], w->depth, w->left[r]);
        for (size_t d = 0; d < w->depth; d++)
            element_read_f64(p->b->dtype, b_at(p, k + (int64_t)d, j), p->b_strides[1], w->cols, w->right[d]);
        add_products_f64(p->cpu, w);
    }
    for (size_t r = 0; r < w->rows; r++) finish_floats(p, i + (int64_t)r, j, w->cols, w->sum[r]);
}

static void add_products_i64(block_i64 *w)
{
    for (size_t i = 0; i < w->rows; i++) {
        for (size_t k = 0; k < w->depth; k++) {
            const uint64_t l = (uint64_t)w->left[i][k];
            for (size_t j = 0; j < w->cols; j++)
                w->sum[i][j] = (int64_t)((uint64_t)w->sum[i][j] + l * (uint64_t)w->right[k][j]);
        }
    }
}

static void block_ints(const matmul *p, block_i64 *w, int64_t i, int64_t j)
{
    memset(w->sum, 0, sizeof w->sum);
    for (int64_t k = 0; k < p->k; k += BLOCK_DEPTH) {
        w->depth = at_most(p->k - k, BLOCK_DEPTH);
        for (size_t r = 0; r < w->rows; r++)
            element_read_i64(p->a->dtype, a_at(p, i + (int64_t)r, k), p->a_strides[1], w->depth, w->left[r]);
        for (size_t d = 0; d < w->depth; d++)
            element_read_i64(p->b->dtype, b_at(p, k + (int64_t)d, j), p->b_strides[1], w->cols, w->right[d]);
        add_products_i64(w);
    }
    for (size_t r = 0; r < w->rows; r++) finish_ints(p, i + (int64_t)r, j, w->cols, w->sum[r]);
}

static void multiply(const matmul *p)
{
    const bool is_float = element_is_float(p->a->dtype);
    block_f64 floats;
    block_i64 ints;
    memset(&floats, 0, sizeof floats);
    memset(&ints, 0, sizeof ints);
    for (int64_t i = 0; i < p->m; i += BLOCK_ROWS) {
        for (int64_t j = 0; j < p->n; j += BLOCK_COLS) {
            floats.rows = ints.rows = at_most(p->m - i, BLOCK_ROWS);
            floats.cols = ints.cols = at_most(p->n - j, BLOCK_COLS);
            if (is_float)
                block_floats(p, &floats, i, j);
            else
                block_ints(p, &ints, i, j);
        }
    }
}

/* Extents and strides of the last two dims of an operand, exchanged when it is stored transposed. */
static void last_dims(const pto_tensor *t, bool transposed, int64_t out_dims[2], int64_t out_strides[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t d = t->rank - 2 + (transposed ? 1 - i : i);
        out_dims[i] = t->dims[d];
        out_strides[i] = t->strides[d];
    }
}

/* ---- vectors, and operands that are repeated ---- */

/* As arrays of a walk: the result comes first. */
enum { OUT, A, B, BIAS, SCALE, ARRAYS };

/* An operand that follows the sum, with the dims of the result and stride 0 where it is repeated. */
static pto_status repeat(tensor_call *call, const pto_tensor *from, const char *what, pto_tensor *out)
{
    walk w;
    tensor_call one = {.in = {from}, .out = call->out};
    if (walk_broadcast(&one, 1, &w) != PTO_OK) return tensor_fail(call, "%s: %.200s", what, one.text);
    *out = *from;
    out->rank = call->out->rank;
    memcpy(out->dims, w.dims, sizeof out->dims);
    memcpy(out->strides, w.strides[1], sizeof out->strides);
    return PTO_OK;
}

/* All arrays with the dims of matrices; out_there[i]: there is array i. */
static pto_status to_matrices(tensor_call *call, pto_tensor arrays[ARRAYS], bool out_there[ARRAYS])
{
    const pto_tensor *bias = call->third_is_scale ? NULL : call->in[2],
                     *scale = call->third_is_scale ? call->in[2] : call->in[3];
    const bool row = call->in[0]->rank == 1, column = call->in[1]->rank == 1;
    const uint32_t rank = call->out->rank;
    if (call->in[0]->rank == 0 || call->in[1]->rank == 0 || rank + row + column < 2 ||
        rank + row + column > PTO_MAX_DIMS)
        return tensor_fail(call, "ranks %u and %u to %u", call->in[0]->rank, call->in[1]->rank, rank);
    arrays[OUT] = *call->out;
    arrays[A] = *call->in[0];
    arrays[B] = *call->in[1];
    if (bias != NULL) TENSOR_TRY(repeat(call, bias, "bias", &arrays[BIAS]));
    if (scale != NULL) TENSOR_TRY(repeat(call, scale, "scale", &arrays[SCALE]));
    for (int i = 0; i < ARRAYS; i++) {
        out_there[i] = i < BIAS || (i == BIAS ? bias : scale) != NULL;
        if (!out_there[i] || i == A || i == B) continue;
        if (row) tensor_insert_dim(&arrays[i], column ? rank : rank - 1);
        if (column) tensor_insert_dim(&arrays[i], arrays[i].rank);
    }
    if (row) tensor_insert_dim(&arrays[A], 0);
    if (column) tensor_insert_dim(&arrays[B], 1);
    return PTO_OK;
}

/* The dims before the last two, broadcast. */
static pto_status batch_walk(tensor_call *call, const pto_tensor arrays[ARRAYS], const bool is_there[ARRAYS], walk *w)
{
    pto_tensor cut[ARRAYS];
    tensor_call batch = {.out = &cut[OUT]};
    for (int i = 0; i < ARRAYS; i++) {
        cut[i] = arrays[is_there[i] ? i : OUT];
        cut[i].rank -= 2;
        if (i != OUT) batch.in[i - 1] = &cut[i];
    }
    if (walk_broadcast(&batch, ARRAYS - 1, w) != PTO_OK) return tensor_fail(call, "batch dims: %.200s", batch.text);
    return PTO_OK;
}

static pto_status check_types(tensor_call *call, const pto_tensor arrays[ARRAYS], const bool is_there[ARRAYS])
{
    const pto_dtype a = arrays[A].dtype, b = arrays[B].dtype;
    if (a != b) return tensor_fail(call, "a is %s, b %s: they must be equal", pto_dtype_name(a), pto_dtype_name(b));
    if (is_there[SCALE] || !element_is_float(a)) return PTO_OK;
    return tensor_check_float(call);
}

pto_status eval_TENSOR_MATMUL(tensor_call *call)
{
    pto_tensor arrays[ARRAYS] = {{.rank = 0}};
    bool is_there[ARRAYS] = {false};
    TENSOR_TRY(to_matrices(call, arrays, is_there));
    TENSOR_TRY(check_types(call, arrays, is_there));
    const pto_tensor *a = &arrays[A], *b = &arrays[B], *out = &arrays[OUT];
    matmul p = {.cpu = call->cpu,
                .a = a,
                .b = b,
                .out = out,
                .bias = is_there[BIAS] ? &arrays[BIAS] : NULL,
                .scale = is_there[SCALE] ? &arrays[SCALE] : NULL,
                .relu = call->relu};
    int64_t a_dims[2], b_dims[2], out_dims[2];
    last_dims(a, call->transpose_a, a_dims, p.a_strides);
    last_dims(b, call->transpose_b, b_dims, p.b_strides);
    last_dims(out, false, out_dims, p.out_strides);
    if (a_dims[1] != b_dims[0] || out_dims[0] != a_dims[0] || out_dims[1] != b_dims[1]) {
        return tensor_fail(call,
                           "%" PRId64 " x %" PRId64 " times %" PRId64 " x %" PRId64 " is not %" PRId64 " x %" PRId64,
                           a_dims[0], a_dims[1], b_dims[0], b_dims[1], out_dims[0], out_dims[1]);
    }
    p.m = a_dims[0];
    p.k = a_dims[1];
    p.n = b_dims[1];
    walk w;
    TENSOR_TRY(batch_walk(call, arrays, is_there, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        p.out_base = tensor_at(out, w.offset[OUT]);
        p.a_base = tensor_at(a, w.offset[A]);
        p.b_base = tensor_at(b, w.offset[B]);
        if (p.bias != NULL) p.bias_base = tensor_at(p.bias, w.offset[BIAS]);
        if (p.scale != NULL) p.scale_base = tensor_at(p.scale, w.offset[SCALE]);
        multiply(&p);
    }
    return PTO_OK;
}

/* ---- windows with kernels ---- */

/* Which dims of x, the result and the index of the result are those of `conv`, where the channels come first. */
static const uint32_t first_x[4] = {0, 2, 3, 1}, first_w[4] = {2, 3, 1, 0};

static pto_tensor channels_last(const tensor_call *call, const pto_tensor *t, const uint32_t from[4])
{
    pto_tensor y = *t;
    if (!call->channels_first || t->rank != 4) return y;
    for (uint32_t d = 0; d < 4; d++) {
        y.dims[d] = t->dims[from[d]];
        y.strides[d] = t->strides[from[d]];
    }
    return y;
}

static tensor_conv conv_of(const tensor_call *call)
{
    tensor_conv v = {.x = channels_last(call, call->in[0], first_x),
                     .w = channels_last(call, call->in[1], first_w),
                     .out = channels_last(call, call->out, first_x),
                     .bias = call->in[2],
                     .groups = call->groups};
    if (v.groups == 0) v.groups = 1;
    for (uint32_t d = 0; d < 2; d++) {
        v.strides[d] = call->has_strides ? call->strides[d] : 1;
        v.dilations[d] = call->axis_count != 0 ? call->axes[d] : 1;
    }
    return v;
}

static pto_status check_conv(tensor_call *call, const tensor_conv *v)
{
    if (v->x.rank != 4 || v->w.rank != 4 || v->out.rank != 4)
        return tensor_fail(call, "ranks %u and %u to %u", v->x.rank, v->w.rank, v->out.rank);
    const int64_t *x = v->x.dims, *w = v->w.dims, *to = v->out.dims;
    if (v->groups < 1 || x[3] != w[2] * v->groups || w[3] % v->groups != 0)
        return tensor_fail(call, "%" PRId64 " groups of %" PRId64 " channels and %" PRId64 " results for %" PRId64,
                           v->groups, w[2], w[3], x[3]);
    const bool has_odd_bias = v->bias != NULL && (v->bias->rank != 1 || v->bias->dims[0] != w[3]);
    if (to[0] != x[0] || to[3] != w[3] || has_odd_bias)
        return tensor_fail(call, "%" PRId64 " x %" PRId64 " from %" PRId64 " x %" PRId64 "%s", to[0], to[3], x[0], w[3],
                           has_odd_bias ? ", with a bias that does not fit" : "");
    if (v->x.dtype != v->w.dtype)
        return tensor_fail(call, "x is %s, w %s: they must be equal", pto_dtype_name(v->x.dtype),
                           pto_dtype_name(v->w.dtype));
    if (element_is_float(v->x.dtype)) TENSOR_TRY(tensor_check_float(call));
    return PTO_OK;
}

/* Adds the products of `n` channels, which are `x_at` and `w_at` elements into x and w; outside: of zeros. */
static void add_channels(const tensor_conv *v, int64_t n, bool is_outside, int64_t x_at, int64_t w_at, double *sum,
                         uint64_t *whole)
{
    const pto_dtype t = v->x.dtype;
    const int64_t x_step = v->x.strides[3], w_step = v->w.strides[2];
    double a[TENSOR_LANES] = {0}, b[TENSOR_LANES];
    int64_t i[TENSOR_LANES] = {0}, j[TENSOR_LANES];
    for (int64_t c = 0; c < n; c += TENSOR_LANES) {
        const size_t lanes = tensor_piece(n, c);
        const uint8_t *w = tensor_at(&v->w, w_at + c * w_step);
        if (element_is_float(t)) {
            if (!is_outside) element_read_f64(t, tensor_at(&v->x, x_at + c * x_step), x_step, lanes, a);
            element_read_f64(t, w, w_step, lanes, b);
            for (size_t k = 0; k < lanes; k++) *sum += a[k] * b[k];
        } else {
            if (!is_outside) element_read_i64(t, tensor_at(&v->x, x_at + c * x_step), x_step, lanes, i);
            element_read_i64(t, w, w_step, lanes, j);
            for (size_t k = 0; k < lanes; k++) *whole += (uint64_t)i[k] * (uint64_t)j[k];
        }
    }
}

/* The result at `at`: the window begins at `from` in x. */
static void one_window(const tensor_conv *v, const int64_t at[4], const int64_t from[2], uint8_t *out)
{
    const int64_t *x = v->x.strides, *w = v->w.strides, *dims = v->x.dims, channels = v->w.dims[2],
                  first = at[3] / (v->w.dims[3] / v->groups) * channels;
    double sum = 0, bias = 0;
    uint64_t whole = 0;
    for (int64_t i = 0; i < v->w.dims[0]; i++) {
        for (int64_t j = 0; j < v->w.dims[1]; j++) {
            const int64_t row = from[0] + i * v->dilations[0], column = from[1] + j * v->dilations[1];
            const bool is_outside = row < 0 || row >= dims[1] || column < 0 || column >= dims[2];
            const int64_t x_at = at[0] * x[0] + row * x[1] + column * x[2] + first * x[3];
            add_channels(v, channels, is_outside, x_at, i * w[0] + j * w[1] + at[3] * w[3], &sum, &whole);
        }
    }
    if (element_is_float(v->x.dtype)) {
        if (v->bias != NULL)
            element_read_f64(v->bias->dtype, tensor_at(v->bias, at[3] * v->bias->strides[0]), 1, 1, &bias);
        sum += bias;
        element_write_f64(v->out.dtype, out, 1, 1, &sum);
        return;
    }
    int64_t more = 0;
    if (v->bias != NULL) element_read_i64(v->bias->dtype, tensor_at(v->bias, at[3] * v->bias->strides[0]), 1, 1, &more);
    whole += (uint64_t)more;
    const int64_t bits = (int64_t)whole;
    element_write_i64(v->out.dtype, out, 1, 1, &bits);
}

pto_status tensor_conv_of(tensor_call *call, tensor_conv *out)
{
    *out = conv_of(call);
    return check_conv(call, out);
}

pto_status eval_TENSOR_CONV2D(tensor_call *call)
{
    tensor_conv v;
    TENSOR_TRY(tensor_conv_of(call, &v));
    walk w;
    TENSOR_TRY(walk_broadcast(call, 0, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        int64_t at[4], from[2];
        for (uint32_t d = 0; d < 4; d++) at[d] = w.index[call->channels_first ? first_x[d] : d];
        for (uint32_t d = 0; d < 2; d++) from[d] = at[d + 1] * v.strides[d] - call->offsets[d];
        one_window(&v, at, from, tensor_at(&v.out, w.offset[0]));
    }
    return PTO_OK;
}
