/* What the rows of AVX2 have in common: lines of eight units of four bytes, micro-kernels, transposes, panels. */
#ifndef PTO_KERNEL_AVX2_H
#define PTO_KERNEL_AVX2_H

#include "kernel_load.h"
#include "kernel_nibbles.h"

#include <immintrin.h>

/* Of 16 registers 12 are sums; the rest are a line of B and what is broadcast of A. Lines of B are asked for
 * AHEAD_LINES early: few rows of A take less time than memory does. */
enum { MR = 6, NR = 16, AHEAD_LINES = 128 };

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
                            int64_t b_step, char *c, int64_t c_row_bytes, int64_t n, bool accumulate)
{
    __m256i sum[MR][2];
    load_sums(rows, vectors, c, c_row_bytes, n - 8 * (vectors - 1), accumulate, sum);
    for (int64_t g = 0; g < groups; g++, a.from += a.step, b += b_step) {
        __m256i line[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) line[v] = load_line(b + 8 * v);
        const uintptr_t ahead = (uintptr_t)b + (uintptr_t)(4 * AHEAD_LINES * b_step);
        __builtin_prefetch((const void *)ahead, 0, 2); // NOLINT(performance-no-int-to-ptr): it may be beyond the panel
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            const __m256i left = repeat_unit(a.from + i * a.row);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sum[i][v] = step(sum[i][v], left, line[v]);
        }
    }
    store_sums(rows, vectors, c, c_row_bytes, n - 8 * (vectors - 1), sum);
}

#define KERNEL_MICRO_CASE(rows)                                                                           \
    case 2 * (rows): micro_of(step, rows, 1, groups, a, b, b_step, c, c_row_bytes, n, accumulate); break; \
    case 2 * (rows) + 1: micro_of(step, rows, 2, groups, a, b, b_step, c, c_row_bytes, n, accumulate); break;

/* Of m rows and n columns. */
KERNEL_INLINE void micro_of_any(kernel_step step, int64_t groups, micro_left a, const int32_t *b, int64_t b_step,
                                char *c, int64_t c_row_bytes, int64_t m, int64_t n, bool accumulate)
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
        micro_of_any(step, (k + (group) - 1) / (group), a, b_panel, NR, c, 4 * c_row_stride, m, n, accumulate);     \
    }                                                                                                               \
    _Static_assert((group) > 0, "of elements")

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

/* What kernel_pack.h needs. */
typedef __m256i kernel_vector;
enum { LANES = 8 };

/* Eight units that are 0. */
KERNEL_INLINE kernel_vector vector_of_zeros(void) { return _mm256_setzero_si256(); }

/* Rows become columns, in place. */
KERNEL_INLINE void turn_lanes(kernel_vector r[LANES]) { transpose_8x8(r); }

/* The first n units of each vector, all of them `width` units apart. Where those are more than n, the ones that come
 * next are written over. */
KERNEL_INLINE void store_lines(int32_t *to, int64_t width, int64_t n, const kernel_vector r[LANES])
{
    const bool fills = n >= LANES;
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i++)
        if (fills || (i + 1 < LANES && n == width && 2 * width >= LANES))
            _mm256_storeu_si256((void *)(to + i * width), r[i]);
        else
            store_units(to + i * width, r[i], n);
}

#include "kernel_pack.h"

#endif
