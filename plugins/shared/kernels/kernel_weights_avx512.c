/* Weights of 4 bits for AVX-512: multiplied as they lie, a strip of 32 columns of one row at a time. No shuffle unpacks
 * them: a half of a byte becomes bits of a float where it is, and what is larger than it is taken off again. So a strip
 * of columns beside each other is two vectors, of its even and of its odd ones, in whose order sums are and scales are
 * brought. Columns that are dense along k are turned eight halves at a time. */
#if defined(__x86_64__)
#include "kernel_avx512.h"
#include "kernel_weights.h"

/* Rows of A are multiplied up to ROWS at a time, since 28 of 32 registers are sums, by DEPTH rows of COLUMNS weights:
 * C is read and written once for so many. Of more than ROWS_MOST panels that are made once are faster. */
enum { STRIP = 32, VECTORS = 2, STRIPS = 4, ROWS = 14, ROWS_MOST = 56, DEPTH = 256, COLUMNS = 2048, AHEAD_BYTES = 64 };

/* Of a column that is dense along k: halves in four bytes, and those in a line. */
enum { UNIT = 8, UNITS = 16, LINE = UNIT * UNITS, GROUPS = DEPTH / UNIT };

/* What a half at bit 0 of a float from 2^23 on is, with which it is stored as 8 more, and how much more it is then. */
enum { AND_XOR = (0xf0 & 0xcc) ^ 0xaa, LOW = 0x0f, LOW_BITS = 0x4b000008 };
static const float low_offset = 0x1p23F + 8;

KERNEL_INLINE __m512 low_halves(__m512i x)
{
    const __m512i bits = _mm512_ternarylogic_epi32(x, _mm512_set1_epi32(LOW), _mm512_set1_epi32(LOW_BITS), AND_XOR);
    return _mm512_sub_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(low_offset));
}

/* Columns of one row of weights from there on, without their scale; columns that are not there are anything. The odd
 * ones are at bit 4 of a float from 2^19 on. */
KERNEL_INLINE void unpack_strip(const char *from, __mmask16 bytes, __m512 out[VECTORS])
{
    const __m512i x = _mm512_cvtepu8_epi32(bytes == UINT16_MAX ? _mm_loadu_si128((const void *)from)
                                                               : _mm_maskz_loadu_epi8(bytes, from));
    const __m512i odd = _mm512_ternarylogic_epi32(x, _mm512_set1_epi32(0xf0), _mm512_set1_epi32(0x49000080), AND_XOR);
    out[0] = low_halves(x);
    out[1] = _mm512_sub_ps(_mm512_castsi512_ps(odd), _mm512_set1_ps(0x1p19F + 8));
}

KERNEL_INLINE __m512 load_floats(const float *from, __mmask16 mask)
{
    return _mm512_castsi512_ps(load_units(from, mask));
}

/* Two vectors of other lanes of both, from 0 to 31. */
KERNEL_INLINE void reorder(__m512 x[VECTORS], __m512i first, __m512i second)
{
    const __m512 before = x[0];
    x[0] = _mm512_permutex2var_ps(before, first, x[1]);
    x[1] = _mm512_permutex2var_ps(before, second, x[1]);
}

/* Sixteen columns and the next sixteen become the even and the odd ones. */
KERNEL_INLINE void to_even_and_odd(__m512 x[VECTORS])
{
    reorder(x, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
            _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
}

KERNEL_INLINE void from_even_and_odd(__m512 x[VECTORS])
{
    reorder(x, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
            _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}

/* The even and the odd columns of a strip of which the masks say what is there. */
KERNEL_INLINE void load_strip(const float *from, const __mmask16 masks[VECTORS], __m512 out[VECTORS])
{
    for (int v = 0; v < VECTORS; v++) out[v] = load_floats(from + 16 * v, masks[v]);
    to_even_and_odd(out);
}

KERNEL_INLINE void store_strip(float *to, const __mmask16 masks[VECTORS], __m512 x[VECTORS])
{
    from_even_and_odd(x);
    for (int v = 0; v < VECTORS; v++)
        if (masks[v] == UINT16_MAX)
            _mm512_storeu_ps(to + 16 * v, x[v]);
        else
            _mm512_mask_storeu_ps(to + 16 * v, masks[v], x[v]);
}

/* Some rows of weights, and of A as many columns of up to ROWS rows. */
typedef struct piece {
    const pto_native_weights *w;
    int64_t at, depth; /* the first row, and how many */
    const float *left; /* ROWS for each row of weights */
    float *c;
    int64_t c_row_stride;
    bool is_turned, adds;
} piece;

/* `strips` strips from column j on, of which `count` columns are there: all of each but the last strip. rows and strips
 * are constants. */
KERNEL_INLINE void multiply_strips(int rows, int strips, const piece *x, int64_t j, int64_t count)
{
    const pto_native_weights *const w = x->w;
    const int64_t tail = count - STRIP * (strips - 1), row_bytes = w->k_stride / 2, end = x->at + x->depth;
    const __mmask16 whole[VECTORS] = {UINT16_MAX, UINT16_MAX}, part[VECTORS] = {mask_of(tail), mask_of(tail - 16)},
                    bytes = mask_of((tail + 1) / 2);
    const char *from = (const char *)w->halves + (w->first + x->at * w->k_stride + j) / 2;
    const float *left = x->left, *scales = w->scales + x->at / w->group * w->scale_k_stride + j;
    __m512 sum[ROWS][STRIPS][VECTORS];
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int s = 0; s < strips; s++)
            if (x->adds)
                load_strip(x->c + i * x->c_row_stride + j + STRIP * s, s == strips - 1 ? part : whole, sum[i][s]);
            else
                sum[i][s][0] = sum[i][s][1] = _mm512_setzero_ps();
    for (int64_t p = x->at, left_of_group = w->group - p % w->group; p < end; left_of_group = w->group) {
        const int64_t group_end = end - p < left_of_group ? end : p + left_of_group;
        __m512 scale[STRIPS][VECTORS];
#pragma GCC unroll 4
        for (int s = 0; s < strips; s++) load_strip(scales + STRIP * s, s == strips - 1 ? part : whole, scale[s]);
        scales += w->scale_k_stride;
        for (; p < group_end; p++, from += row_bytes, left += ROWS) {
            _mm_prefetch(from + AHEAD_BYTES, _MM_HINT_T0);
#pragma GCC unroll 4
            for (int s = 0; s < strips; s++) {
                __m512 line[VECTORS];
                unpack_strip(from + STRIP / 2 * s, s == strips - 1 ? bytes : UINT16_MAX, line);
#pragma GCC unroll 2
                for (int v = 0; v < VECTORS; v++) line[v] = _mm512_mul_ps(line[v], scale[s][v]);
#pragma GCC unroll 14
                for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
                    for (int v = 0; v < VECTORS; v++)
                        sum[i][s][v] = _mm512_fmadd_ps(_mm512_set1_ps(left[i]), line[v], sum[i][s][v]);
            }
        }
    }
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int s = 0; s < strips; s++)
            store_strip(x->c + i * x->c_row_stride + j + STRIP * s, s == strips - 1 ? part : whole, sum[i][s]);
}

/* ---- columns that are dense along k ---- */

/* Up to LINE rows of a strip of which `count` columns are there, eight of one column in each unit. */
KERNEL_INLINE void load_turned(const pto_native_weights *w, int64_t at, int64_t rows, int64_t j, int64_t count,
                               int64_t ahead, __m512i units[UNITS][VECTORS])
{
    const char *const from = (const char *)w->halves + (w->first + j * w->column_stride + at) / 2;
    const int64_t column_bytes = w->column_stride / 2;
    const __mmask64 bytes = rows >= LINE ? UINT64_MAX : (UINT64_C(1) << (rows + 1) / 2) - 1;
    for (int v = 0; v < VECTORS; v++) {
        __m512i r[16];
        for (int i = 0; i < 16; i++) {
            const char *const line = from + (16 * v + i) * column_bytes;
            r[i] = 16 * v + i < count ? load_bytes(line, bytes) : _mm512_setzero_si512();
            _mm_prefetch(line + ahead, _MM_HINT_T0);
        }
        transpose_16x16(r);
        for (int d = 0; d < UNITS; d++) units[d][v] = r[d];
    }
}

/* The scales of a strip for each group that the piece has rows of. */
KERNEL_INLINE void load_scales(const piece *x, int64_t j, int64_t count, __m512 out[GROUPS][VECTORS])
{
    const pto_native_weights *const w = x->w;
    const int64_t first = x->at / w->group, groups = (x->at + x->depth - 1) / w->group - first + 1;
    const float *const from = w->scales + first * w->scale_k_stride + j * w->scale_column_stride;
    if (w->scale_k_stride != 1 || groups > 16) {
        for (int64_t g = 0; g < groups; g++) {
            float scales[STRIP] = {0};
            for (int64_t i = 0; i < STRIP && i < count; i++)
                scales[i] = from[g * w->scale_k_stride + i * w->scale_column_stride];
            for (int v = 0; v < VECTORS; v++) out[g][v] = _mm512_loadu_ps(scales + 16 * v);
        }
        return;
    }
    for (int v = 0; v < VECTORS; v++) {
        __m512i r[16];
        for (int i = 0; i < 16; i++) {
            const float *const line = from + (16 * v + i) * w->scale_column_stride;
            r[i] = 16 * v + i < count ? load_units(line, mask_of(groups)) : _mm512_setzero_si512();
            _mm_prefetch((const void *)(line + STRIP * w->scale_column_stride), _MM_HINT_T0);
        }
        transpose_16x16(r);
        for (int g = 0; g < 16; g++) out[g][v] = _mm512_castsi512_ps(r[g]);
    }
}

/* A strip from column j on, of which `count` columns are there. rows is a constant. */
KERNEL_INLINE void multiply_turned(int rows, const piece *x, int64_t j, int64_t count)
{
    const pto_native_weights *const w = x->w;
    const int64_t end = x->at + x->depth;
    const __mmask16 masks[VECTORS] = {mask_of(count), mask_of(count - 16)};
    const float *left = x->left;
    const int64_t next = STRIP * (w->column_stride / 2);
    int64_t group = 0, group_end = (x->at / w->group + 1) * w->group;
    __m512i units[UNITS][VECTORS];
    __m512 sum[ROWS][VECTORS], scales[GROUPS][VECTORS];
    load_scales(x, j, count, scales);
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            sum[i][v] = x->adds ? load_floats(x->c + i * x->c_row_stride + j + 16 * v, masks[v]) : _mm512_setzero_ps();
    for (int64_t p = x->at; p < end; p += UNIT) {
        const int64_t unit = (p - x->at) / UNIT % UNITS, unit_end = end - p < UNIT ? end : p + UNIT;
        if (unit == 0) load_turned(w, p, end - p, j, count, p + LINE < end ? LINE / 2 : next - (p - x->at) / 2, units);
        if (p == group_end) {
            group++;
            group_end += w->group;
        }
        __m512i halves[VECTORS] = {units[unit][0], units[unit][1]};
        for (int64_t q = p; q < unit_end; q++, left += ROWS) {
            __m512 line[VECTORS];
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++) {
                line[v] = _mm512_mul_ps(low_halves(halves[v]), scales[group][v]);
                halves[v] = _mm512_srli_epi32(halves[v], 4);
            }
#pragma GCC unroll 14
            for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
                for (int v = 0; v < VECTORS; v++)
                    sum[i][v] = _mm512_fmadd_ps(_mm512_set1_ps(left[i]), line[v], sum[i][v]);
        }
    }
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            _mm512_mask_storeu_ps(x->c + i * x->c_row_stride + j + 16 * v, masks[v], sum[i][v]);
}

/* ---- all columns ---- */

/* Columns `from` .. `to` - 1; as many strips at a time as registers hold sums of. */
KERNEL_INLINE void multiply_columns(int rows, const piece *x, int64_t from, int64_t to)
{
    const int strips = rows <= 3 ? STRIPS : rows <= 7 ? 2 : 1;
    const int64_t columns = (int64_t)strips * STRIP;
    int64_t j = from;
    if (x->is_turned) {
        for (; j < to; j += STRIP) multiply_turned(rows, x, j, to - j < STRIP ? to - j : STRIP);
        return;
    }
    for (; j + columns <= to; j += columns) multiply_strips(rows, strips, x, j, columns);
    for (; j < to; j += STRIP) multiply_strips(rows, 1, x, j, to - j < STRIP ? to - j : STRIP);
}

#define CASES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
_Static_assert(ROWS == 14, "cases");
#define FUNCTION(rows) \
    static void multiply_##rows(const piece *x, int64_t from, int64_t to) { multiply_columns(rows, x, from, to); }
#define ENTRY(rows) [rows] = multiply_##rows,
CASES(FUNCTION)
static void (*const multiply[ROWS + 1])(const piece *x, int64_t from, int64_t to) = {CASES(ENTRY)};

/* Up to ROWS rows of C, some columns at a time, so that their sums stay in a cache while k goes upwards. */
static void multiply_rows(int64_t rows, int64_t n, int64_t k, const float *a, int64_t a_row_stride, int64_t a_k_stride,
                          const pto_native_weights *w, float *c, int64_t c_row_stride, bool accumulate)
{
    float left[DEPTH * ROWS];
    for (int64_t j = 0; j < n; j += COLUMNS)
        for (int64_t p = 0; p < k; p += DEPTH) {
            const piece x = {.w = w,
                             .at = p,
                             .depth = k - p < DEPTH ? k - p : DEPTH,
                             .left = left,
                             .c = c,
                             .c_row_stride = c_row_stride,
                             .is_turned = !weights_are_along_rows(w),
                             .adds = accumulate || p > 0};
            for (int64_t i = 0; i < rows; i++)
                for (int64_t q = 0; q < x.depth; q++)
                    left[q * ROWS + i] = load_f32(a, i * a_row_stride + (p + q) * a_k_stride);
            multiply[rows](&x, j, n - j < COLUMNS ? n : j + COLUMNS);
        }
}

bool kernel_few_weights_avx512(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row_stride,
                               int64_t a_k_stride, const pto_native_weights *w, float *c, int64_t c_row_stride,
                               bool accumulate)
{
    const int64_t parts = (m + ROWS - 1) / ROWS, rows = (m + parts - 1) / parts;
    if (m > ROWS_MOST || (!weights_begin_bytes(w) && !weights_are_turned(w))) return false;
    for (int64_t i = 0; i < m; i += rows)
        multiply_rows(m - i < rows ? m - i : rows, n, k, a + i * a_row_stride, a_row_stride, a_k_stride, w,
                      c + i * c_row_stride, c_row_stride, accumulate);
    return true;
}
#endif
