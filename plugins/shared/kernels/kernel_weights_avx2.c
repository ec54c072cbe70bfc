/* Weights of 4 bits for AVX2: thirty-two columns of one row at once. A half of a byte is a whole number from -8 to 7,
 * which bf16 holds, so that two tables of sixteen bytes have the bytes of all of them. */
#if defined(__x86_64__)
#include "kernel_avx2.h"
#include "kernel_weights.h"

enum { STRIP = 32, VECTORS = STRIP / 8, FEW_ROWS = 4, FEW_DEPTH = 8, FEW_COLUMNS = 2048, UNIT = 8, LINE = 8 * UNIT };

/* The upper and the lower bytes of 0 .. 7, -8 .. -1 in bf16. */
KERNEL_INLINE __m256i upper_bytes(void)
{
    return _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 0x3f, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, -63, -64, -64, -64, -64, -64, -64, -65));
}

KERNEL_INLINE __m256i lower_bytes(void)
{
    return _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -128, 0, 0x40, -128, -96, -64, -32, 0, -32, -64, -96, -128, 0x40, 0, -128));
}

/* Thirty-two columns from an address on, as f32 in the order of the columns. The halves are spread over the lanes
 * beforehand so that unpacking, which stays in lanes, leaves them in order. */
KERNEL_INLINE void unpack_strip(const char *from, __m256 out[VECTORS])
{
    const __m128i spread = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    const __m256i wide = _mm256_cvtepu8_epi16(_mm_shuffle_epi8(_mm_loadu_si128((const void *)from), spread));
    const __m256i halves =
        _mm256_and_si256(_mm256_or_si256(wide, _mm256_slli_epi16(wide, 4)), _mm256_set1_epi16(0x0f0f));
    const __m256i upper = _mm256_shuffle_epi8(upper_bytes(), halves),
                  lower = _mm256_shuffle_epi8(lower_bytes(), halves), none = _mm256_setzero_si256();
    const __m256i first = _mm256_unpacklo_epi8(lower, upper), last = _mm256_unpackhi_epi8(lower, upper);
    out[0] = _mm256_castsi256_ps(_mm256_unpacklo_epi16(none, first));
    out[1] = _mm256_castsi256_ps(_mm256_unpackhi_epi16(none, first));
    out[2] = _mm256_castsi256_ps(_mm256_unpacklo_epi16(none, last));
    out[3] = _mm256_castsi256_ps(_mm256_unpackhi_epi16(none, last));
}

/* Eight columns of one row, of which `left` are there. */
KERNEL_INLINE __m256 unpack_eight(const pto_native_weights *w, int64_t at, const float *scales, int64_t left)
{
    const __m128i bytes = nibbles_at(w->halves, at, left < 8 ? left : 8);
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)), _mm256_maskload_ps(scales, mask_of(left)));
}

/* A row of weights as bytes, from a column that is the first of a byte. */
KERNEL_INLINE const char *bytes_of(const pto_native_weights *w, int64_t at, int64_t column)
{
    return (const char *)w->halves + (w->first + at * w->k_stride + column) / 2;
}

KERNEL_INLINE const float *scales_of(const pto_native_weights *w, int64_t at, int64_t column)
{
    return w->scales + at / w->group * w->scale_k_stride + column;
}

/* ---- panels ---- */

KERNEL_INLINE float weight_at(const pto_native_weights *w, int64_t at, int64_t column)
{
    return load_i4_f32(w->halves, w->first + at * w->k_stride + column * w->column_stride) *
           w->scales[at / w->group * w->scale_k_stride + column * w->scale_column_stride];
}

/* Elements one at a time, along k. */
static void unpack_any(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t count,
                       int64_t width, float *panels)
{
    const int64_t all = (count + width - 1) / width * width;
    for (int64_t i = 0; i < all; i++) {
        float *to = panels + i / width * width * depth + i % width;
        for (int64_t p = at; p < at + depth; p++, to += width) *to = i < count ? weight_at(w, p, column + i) : 0;
    }
}

/* Where eight columns of a panel begin. */
KERNEL_INLINE float *panel_at(float *panels, int64_t i, int64_t width, int64_t depth)
{
    return panels + i / width * width * depth + i % width;
}

/* A strip of all rows, which have one scale as far as a group goes. */
static void unpack_strips(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t i,
                          int64_t width, float *panels)
{
    float *to[VECTORS];
    for (int v = 0; v < VECTORS; v++) to[v] = panel_at(panels, i + 8 * v, width, depth);
    for (int64_t p = at, end; p < at + depth; p = end) {
        const float *const scales = scales_of(w, p, column + i);
        const int64_t group_end = (p / w->group + 1) * w->group;
        __m256 scale[VECTORS];
        for (int v = 0; v < VECTORS; v++) scale[v] = _mm256_loadu_ps(scales + 8 * v);
        end = group_end < at + depth ? group_end : at + depth;
        for (int64_t q = p; q < end; q++) {
            __m256 line[VECTORS];
            unpack_strip(bytes_of(w, q, column + i), line);
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; v++) {
                _mm256_storeu_ps(to[v], _mm256_mul_ps(line[v], scale[v]));
                to[v] += width;
            }
        }
    }
}

/* Up to eight columns from i on, of all rows; what is beyond `count` is 0. */
static void unpack_eights(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t count,
                          int64_t i, int64_t width, float *panels)
{
    float *to = panel_at(panels, i, width, depth);
    for (int64_t p = at; p < at + depth; p++, to += width)
        _mm256_storeu_ps(
            to, unpack_eight(w, w->first + p * w->k_stride + column + i, scales_of(w, p, column + i), count - i));
}

/* Eight rows of eight columns, a unit of each in its lane: a float from 2^23 on in which bit 0 is worth 1, and the like
 * with the next halves, stores a half as 8 more. Half of the rows are four halves further. */
KERNEL_INLINE void unpack_unit(__m256i unit, __m256 scale, int64_t width, float *to)
{
    const __m256i units[] = {unit, _mm256_srli_epi32(unit, 16)};
#pragma GCC unroll 8
    for (int i = 0; i < UNIT; i++) {
        const int shift = 4 * (i % 4);
        const __m256i half = _mm256_and_si256(units[i / 4], _mm256_set1_epi32(15 << shift)),
                      bits = _mm256_xor_si256(half, _mm256_set1_epi32((127 + 23 - shift) << 23 | 8 << shift));
        const __m256 offset = _mm256_set1_ps((float)(1 << (23 - shift)) + 8);
        _mm256_storeu_ps(to + i * width, _mm256_mul_ps(_mm256_sub_ps(_mm256_castsi256_ps(bits), offset), scale));
    }
}

/* The scales of a row of weights from a column on, of which `count` are there. */
KERNEL_INLINE __m256 scales_across(const pto_native_weights *w, int64_t at, int64_t column, int64_t count)
{
    float scales[8] = {0};
    for (int64_t i = 0; i < 8 && i < count; i++)
        scales[i] = w->scales[at / w->group * w->scale_k_stride + (column + i) * w->scale_column_stride];
    return _mm256_loadu_ps(scales);
}

/* Up to eight columns from i on, each dense along k, of `depth` rows, a multiple of UNIT: a line of each where there
 * are as many rows. */
static void unpack_turned_eights(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t count,
                                 int64_t width, float *to)
{
    const char *const from = (const char *)w->halves + (w->first + column * w->column_stride + at) / 2;
    const int64_t column_bytes = w->column_stride / 2;
    __m256 scale = _mm256_setzero_ps();
    int64_t group_end = at;
    for (int64_t p = at, rows; p < at + depth; p += rows) {
        __m256i units[8] = {_mm256_setzero_si256()};
        rows = at + depth - p < LINE ? UNIT : LINE;
        for (int64_t i = 0; i < 8; i++) {
            int32_t unit = 0;
            const char *const line = from + i * column_bytes + (p - at) / 2;
            __builtin_prefetch(line + 64);
            if (i < count && rows == LINE) units[i] = load_line(line);
            if (i < count && rows == UNIT) memcpy(&unit, line, sizeof unit);
            if (rows == UNIT) units[i] = _mm256_castsi128_si256(_mm_cvtsi32_si128(unit));
        }
        transpose_8x8(units);
        for (int64_t q = 0; q < rows; q += UNIT, to += UNIT * width) {
            if (p + q == group_end || q + p == at) {
                scale = scales_across(w, p + q, column, count);
                group_end = ((p + q) / w->group + 1) * w->group;
            }
            unpack_unit(units[q / UNIT], scale, width, to);
        }
    }
}

/* `at` is a multiple of UNIT. */
static void unpack_turned(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t count,
                          int64_t width, float *panels)
{
    const int64_t all = (count + width - 1) / width * width, whole = depth / UNIT * UNIT;
    for (int64_t i = 0; i < all; i += 8) {
        float *const to = panel_at(panels, i, width, depth);
        unpack_turned_eights(w, at, column + i, whole, count - i, width, to);
        for (int64_t p = whole; p < depth; p++)
            for (int64_t l = 0; l < 8; l++)
                to[p * width + l] = i + l < count ? weight_at(w, at + p, column + i + l) : 0;
    }
}

void kernel_unpack_avx2(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t count,
                        int64_t width, float *panels)
{
    const int64_t all = (count + width - 1) / width * width;
    const bool begins_bytes = ((w->first + column) & 1) == 0 && (w->k_stride & 1) == 0;
    int64_t i = 0;
    if (width % 8 == 0 && at % UNIT == 0 && weights_are_turned(w)) {
        unpack_turned(w, at, column, depth, count, width, panels);
        return;
    }
    if (!weights_are_along_rows(w) || width % 8 != 0) {
        unpack_any(w, at, column, depth, count, width, panels);
        return;
    }
    for (; begins_bytes && i + STRIP <= count; i += STRIP) unpack_strips(w, at, column, depth, i, width, panels);
    for (; i < all; i += 8) unpack_eights(w, at, column, depth, count, i, width, panels);
}

/* ---- few rows: weights are read once, as they lie ---- */

/* The columns of a strip, or eight of them, for `depth` rows of weights that have one scale. rows, depth and vectors
 * are constants. */
KERNEL_INLINE void few_columns(int rows, int depth, int vectors, const pto_native_weights *w, int64_t at, int64_t j,
                               int64_t n, float left[][FEW_ROWS], float *c, int64_t c_row_stride, bool adds)
{
    const __m256i mask = mask_of(n - j);
    const float *const scales = scales_of(w, at, j);
    __m256 sum[FEW_ROWS][VECTORS];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            const float *const from = c + i * c_row_stride + j + 8 * v;
            sum[i][v] = !adds          ? _mm256_setzero_ps()
                        : vectors == 1 ? _mm256_maskload_ps(from, mask)
                                       : _mm256_loadu_ps(from);
        }
#pragma GCC unroll 8
    for (int q = 0; q < depth; q++) {
        __m256 line[VECTORS];
        if (vectors == 1)
            line[0] = unpack_eight(w, w->first + (at + q) * w->k_stride + j, scales, n - j);
        else
            unpack_strip(bytes_of(w, at + q, j), line);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            if (vectors != 1) line[v] = _mm256_mul_ps(line[v], _mm256_loadu_ps(scales + 8 * v));
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++) sum[i][v] = _mm256_fmadd_ps(_mm256_set1_ps(left[q][i]), line[v], sum[i][v]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            float *const to = c + i * c_row_stride + j + 8 * v;
            if (vectors == 1)
                _mm256_maskstore_ps(to, mask, sum[i][v]);
            else
                _mm256_storeu_ps(to, sum[i][v]);
        }
}

KERNEL_INLINE void few_lines(int rows, int depth, const pto_native_weights *w, int64_t at, int64_t from, int64_t to,
                             float left[][FEW_ROWS], float *c, int64_t c_row_stride, bool adds)
{
    int64_t j = from;
    for (; j + STRIP <= to; j += STRIP) few_columns(rows, depth, VECTORS, w, at, j, to, left, c, c_row_stride, adds);
    for (; j < to; j += 8) few_columns(rows, depth, 1, w, at, j, to, left, c, c_row_stride, adds);
}

/* All of C, some columns at a time, so that their sums stay in the first-level cache while k goes upwards. */
KERNEL_INLINE void few_rows(int rows, int64_t n, int64_t k, const float *a, int64_t a_row_stride, int64_t a_k_stride,
                            const pto_native_weights *w, float *c, int64_t c_row_stride, bool accumulate)
{
    float left[FEW_DEPTH][FEW_ROWS];
    for (int64_t j = 0; j < n; j += FEW_COLUMNS) {
        const int64_t end = n - j < FEW_COLUMNS ? n : j + FEW_COLUMNS;
        int64_t depth;
        for (int64_t p = 0; p < k; p += depth) {
            const int64_t group_left = w->group - p % w->group, rows_left = k - p < group_left ? k - p : group_left;
            depth = rows_left < FEW_DEPTH ? 1 : FEW_DEPTH;
            for (int q = 0; q < depth; q++)
                for (int i = 0; i < rows; i++) left[q][i] = load_f32(a, i * a_row_stride + (p + q) * a_k_stride);
            if (depth == 1)
                few_lines(rows, 1, w, p, j, end, left, c, c_row_stride, accumulate || p > 0);
            else
                few_lines(rows, FEW_DEPTH, w, p, j, end, left, c, c_row_stride, accumulate || p > 0);
        }
    }
}

#define FEW_CASE(rows) \
    case rows: few_rows(rows, n, k, a, a_row_stride, a_k_stride, w, c, c_row_stride, accumulate); return true;

bool kernel_few_weights_avx2(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row_stride, int64_t a_k_stride,
                             const pto_native_weights *w, float *c, int64_t c_row_stride, bool accumulate)
{
    if (!weights_begin_bytes(w)) return false;
    switch (m) {
        FEW_CASE(1)
        FEW_CASE(2)
        FEW_CASE(3)
        FEW_CASE(4)
    default: return false;
    }
}
_Static_assert(FEW_ROWS == 4, "cases");
#endif
