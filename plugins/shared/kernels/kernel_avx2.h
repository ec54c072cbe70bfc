/* What the rows of AVX2 have in common: lines of eight units of four bytes, micro-kernels, transposes, panels. */
#ifndef PTO_KERNEL_AVX2_H
#define PTO_KERNEL_AVX2_H

#include "kernel_load.h"
#include "kernel_nibbles.h"

#include <immintrin.h>

/* Of 16 registers 12 are sums; the rest are a line of B and what is broadcast of A. */
enum { MR = 6, NR = 16 };

/* The first n of eight lanes; n may be any number. */
KERNEL_INLINE __m256i mask_of(int64_t n)
{
    const int32_t count = n > 8 ? 8 : (int32_t)n;
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* Eight units. */
KERNEL_INLINE __m256i load_line(const void *from) { return _mm256_loadu_si256(from); }

/* The first n units of a line, the others 0; n may be any number. */
KERNEL_INLINE __m256i load_units(const void *from, int64_t n)
{
    return n >= 8 ? load_line(from) : _mm256_maskload_epi32(from, mask_of(n));
}

/* Writes the first n units of a line; n may be any number. Stores under a mask, which would do it in one, take as long
 * as twenty others on some processors. */
KERNEL_INLINE void store_units(void *to, __m256i units, int64_t n)
{
    __m128i half = _mm256_castsi256_si128(units);
    char *at = to;
    if (n >= 8) {
        _mm256_storeu_si256(to, units);
        return;
    }
    if (n <= 0) return;
    if (n & 4) {
        _mm_storeu_si128((void *)at, half);
        half = _mm256_extracti128_si256(units, 1);
        at += 16;
    }
    if (n & 2) {
        _mm_storel_epi64((void *)at, half);
        half = _mm_unpackhi_epi64(half, half);
        at += 8;
    }
    if (n & 1) {
        const int32_t unit = _mm_cvtsi128_si32(half);
        memcpy(at, &unit, sizeof unit);
    }
}

/* What one step of a micro-kernel does: sum + left * line, in units of four bytes. */
typedef __m256i kernel_step(__m256i sum, __m256i left, __m256i line);

/* Of floats. */
KERNEL_INLINE __m256i step_f32(__m256i sum, __m256i left, __m256i line)
{
    return _mm256_castps_si256(
        _mm256_fmadd_ps(_mm256_castsi256_ps(left), _mm256_castsi256_ps(line), _mm256_castsi256_ps(sum)));
}

/* Of pairs of 16-bit integers. */
KERNEL_INLINE __m256i step_pairs(__m256i sum, __m256i left, __m256i line)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(left, line));
}

/* Sums of a tile of C, from 0 or from what it holds; rows and vectors are constants, so that they stay in registers. Of
 * the last vector of each row `n` units are there. */
KERNEL_INLINE void load_sums(int rows, int vectors, const char *c, int64_t c_row_bytes, int64_t n, bool accumulate,
                             __m256i sum[][2])
{
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            const void *const from = c + i * c_row_bytes + 32 * v;
            sum[i][v] = !accumulate ? _mm256_setzero_si256() : v == vectors - 1 ? load_units(from, n) : load_line(from);
        }
}

/* Writes them back. */
KERNEL_INLINE void store_sums(int rows, int vectors, char *c, int64_t c_row_bytes, int64_t n, __m256i sum[][2])
{
    char *const last = c + 32 * (vectors - 1);
    int32_t parts[MR][8];
#pragma GCC unroll 6
    for (int i = 0; i < rows && vectors == 2; i++) _mm256_storeu_si256((void *)(c + i * c_row_bytes), sum[i][0]);
    if (n >= 8) {
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) _mm256_storeu_si256((void *)(last + i * c_row_bytes), sum[i][vectors - 1]);
        return;
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) _mm256_storeu_si256((void *)parts[i], sum[i][vectors - 1]);
    for (int i = 0; i < rows; i++) store_units(last + i * c_row_bytes, load_line(parts[i]), n);
}

/* A unit, at an address that is a multiple of nothing, in all lanes. */
KERNEL_INLINE __m256i repeat_unit(const char *from)
{
    int32_t unit;
    memcpy(&unit, from, sizeof unit);
    return _mm256_set1_epi32(unit);
}

/* Units of A: those of one row `row` bytes below those of the one before, and those of one k `step` bytes further. In
 * a panel both are constants. */
typedef struct micro_left {
    const char *from;
    int64_t row, step;
} micro_left;

/* rows and vectors are constants where this is called. C is at an address that is a multiple of nothing. */
KERNEL_INLINE void micro_of(kernel_step step, int rows, int vectors, int64_t groups, micro_left a, const int32_t *b,
                            char *c, int64_t c_row_bytes, int64_t n, bool accumulate)
{
    __m256i sum[MR][2];
    load_sums(rows, vectors, c, c_row_bytes, n - 8 * (vectors - 1), accumulate, sum);
    for (int64_t g = 0; g < groups; g++, a.from += a.step, b += NR) {
        __m256i line[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) line[v] = load_line(b + 8 * v);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            const __m256i left = repeat_unit(a.from + i * a.row);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sum[i][v] = step(sum[i][v], left, line[v]);
        }
    }
    store_sums(rows, vectors, c, c_row_bytes, n - 8 * (vectors - 1), sum);
}

#define KERNEL_MICRO_CASE(rows)                                                                   \
    case 2 * (rows): micro_of(step, rows, 1, groups, a, b, c, c_row_bytes, n, accumulate); break; \
    case 2 * (rows) + 1: micro_of(step, rows, 2, groups, a, b, c, c_row_bytes, n, accumulate); break;

/* Of m rows and n columns. */
KERNEL_INLINE void micro_of_any(kernel_step step, int64_t groups, micro_left a, const int32_t *b, char *c,
                                int64_t c_row_bytes, int64_t m, int64_t n, bool accumulate)
{
    switch (2 * m + (n > 8)) {
        KERNEL_MICRO_CASE(1)
        KERNEL_MICRO_CASE(2)
        KERNEL_MICRO_CASE(3)
        KERNEL_MICRO_CASE(4) KERNEL_MICRO_CASE(5) KERNEL_MICRO_CASE(6) default : break;
    }
}

/* A function pto_contraction_micro of panels with `group` elements in each unit. */
#define KERNEL_MICRO(name, step, group)                                                                             \
    static void name(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride, int64_t m, \
                     int64_t n, bool accumulate)                                                                    \
    {                                                                                                               \
        const micro_left a = {a_panel, 4, 4 * MR};                                                                  \
        micro_of_any(step, (k + (group) - 1) / (group), a, b_panel, c, 4 * c_row_stride, m, n, accumulate);         \
    }                                                                                                               \
    _Static_assert((group) > 0, "of elements")

/* Eight units of one row from `at` upwards along k, of which k_left elements are there. */
typedef __m256i kernel_units_along(const void *from, int64_t at, int64_t k_left);

/* One unit of each of eight columns beside each other, of which columns_left are there. */
typedef __m256i kernel_units_across(const void *from, int64_t at, int64_t k_stride, int64_t k_left,
                                    int64_t columns_left);

/* Rows become columns, in place. */
KERNEL_INLINE void transpose_8x8(__m256i r[8])
{
    __m256i t[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        t[c] = _mm256_permute2x128_si256(r[c], r[c + 4], 0x20);
        t[c + 4] = _mm256_permute2x128_si256(r[c], r[c + 4], 0x31);
    }
#pragma GCC unroll 8
    for (int c = 0; c < 8; c++) r[c] = t[c];
}

/* Some units of one panel whose rows or columns lie beside each other; `left` of them are there. */
KERNEL_INLINE void lines_across(kernel_units_across units, int64_t width, int64_t group, int64_t left, int64_t begin,
                                int64_t end, int64_t k, const void *from, int64_t offset, int64_t k_stride, int32_t *to)
{
    for (int64_t p = begin; p < end; p += group, to += width)
        for (int64_t v = 0; v < width; v += 8)
            store_units(to + v, units(from, offset + p * k_stride + v, k_stride, k - p, left - v), width - v);
}

/* Packs panels whose rows or columns lie beside each other: a few lines of a few panels at a time, so that memory is
 * read along its lines. */
KERNEL_INLINE void pack_across(kernel_units_across units, int64_t width, int64_t group, int64_t count, int64_t k,
                               const void *from, int64_t offset, int64_t k_stride, char *panels, int64_t panel_bytes)
{
    enum { PANELS = 8, LINES = 4 };
    for (int64_t first = 0; first < count; first += PANELS * width) {
        const int64_t last = first + PANELS * width < count ? first + PANELS * width : count;
        for (int64_t p = 0; p < k; p += LINES * group) {
            const int64_t end = p + LINES * group < k ? p + LINES * group : k;
            for (int64_t i = first; i < last; i += width) {
                int32_t *const to = (void *)(panels + i / width * panel_bytes + 4 * width * (p / group));
                if (last - i >= width)
                    lines_across(units, width, group, width, p, end, k, from, offset + i, k_stride, to);
                else
                    lines_across(units, width, group, last - i, p, end, k, from, offset + i, k_stride, to);
            }
        }
    }
}

/* Packs a panel whose rows or columns each go upwards along k. */
KERNEL_INLINE void pack_along(kernel_units_along units, int64_t width, int64_t group, int64_t count, int64_t k,
                              const void *from, int64_t offset, int64_t stride, int32_t *to)
{
    for (int64_t p = 0; p < k; p += 8 * group, to += 8 * width)
        for (int64_t v = 0; v < width; v += 8) {
            __m256i r[8];
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                r[i] = v + i < count ? units(from, offset + (v + i) * stride + p, k - p) : _mm256_setzero_si256();
            transpose_8x8(r);
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                if (p + i * group < k) store_units(to + i * width + v, r[i], width - v);
        }
}

/* A function pto_contraction_pack: along_LOAD and across_LOAD read units of `group` elements, load_LOAD single ones. */
#define KERNEL_PACK_UNITS(name, type, load, width, group)                                                          \
    KERNEL_PACK(name##_any, type, load_##load, width, group);                                                      \
    static void name(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride, \
                     void *panels, int64_t panel_bytes)                                                            \
    {                                                                                                              \
        if (stride == 1)                                                                                           \
            pack_across(across_##load, width, group, count, k, from, offset, k_stride, panels, panel_bytes);       \
        else if (k_stride != 1)                                                                                    \
            name##_any(count, k, from, offset, stride, k_stride, panels, panel_bytes);                             \
        for (int64_t i = 0; i < count && stride != 1 && k_stride == 1; i += (width))                               \
            pack_along(along_##load, width, group, count - i, k, from, offset + i * stride, stride,                \
                       (void *)((char *)panels + i / (width) * panel_bytes));                                      \
    }                                                                                                              \
    _Static_assert((width) > 0, "of a panel")

#endif
