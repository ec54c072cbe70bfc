/* tensor.matmul. Sums of a block of results are on the stack while k runs; each result adds its products in ascending
 * k. */
#include "semantics/insn_semantics.h"
#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCK_ROWS = 16, BLOCK_COLS = 64, BLOCK_DEPTH = 64 };

/* One product of matrices: extents, and strides in elements along (m, k), (k, n) and (m, n). */
typedef struct matmul {
    uint32_t cpu;
    int64_t m, k, n, a_strides[2], b_strides[2], out_strides[2];
    const pto_tensor *a, *b, *out;
    const uint8_t *a_base, *b_base;
    uint8_t *out_base;
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
    for (size_t r = 0; r < w->rows; r++)
        element_write_f64(p->out->dtype, out_at(p, i + (int64_t)r, j), p->out_strides[1], w->cols, w->sum[r]);
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
    const pto_dtype sums = element_is_unsigned(p->a->dtype) ? PTO_U64 : PTO_I64;
    for (size_t r = 0; r < w->rows; r++) {
        element_convert(p->out->dtype, out_at(p, i + (int64_t)r, j), p->out_strides[1], sums, w->sum[r], 1, w->cols,
                        ROUND_RINT, false, false);
    }
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

/* The dims before the last two, broadcast; arrays are out, a, b. */
static pto_status batch_walk(tensor_call *call, walk *w)
{
    pto_tensor cut[3];
    const pto_tensor *all[] = {call->out, call->in[0], call->in[1]};
    for (int i = 0; i < 3; i++) {
        cut[i] = *all[i];
        cut[i].rank -= 2;
    }
    tensor_call batch = {.in = {&cut[1], &cut[2]}, .out = &cut[0]};
    const pto_status s = walk_broadcast(&batch, 2, w);
    if (s != PTO_OK) return tensor_fail(call, "batch dims: %.200s", batch.text);
    return PTO_OK;
}

pto_status eval_TENSOR_MATMUL(tensor_call *call)
{
    const pto_tensor *a = call->in[0], *b = call->in[1], *out = call->out;
    if (a->dtype != b->dtype)
        return tensor_fail(call, "a is %s, b %s: they must be equal", pto_dtype_name(a->dtype),
                           pto_dtype_name(b->dtype));
    if (element_is_float(a->dtype)) TENSOR_TRY(tensor_check_float(call));
    if (a->rank < 2 || b->rank < 2 || out->rank < 2) {
        return tensor_fail(call, "ranks %u and %u to %u, the least is 2", a->rank, b->rank, out->rank);
    }
    matmul p = {.cpu = call->cpu, .a = a, .b = b, .out = out};
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
    TENSOR_TRY(batch_walk(call, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        p.out_base = tensor_at(out, w.offset[0]);
        p.a_base = tensor_at(a, w.offset[1]);
        p.b_base = tensor_at(b, w.offset[2]);
        multiply(&p);
    }
    return PTO_OK;
}
