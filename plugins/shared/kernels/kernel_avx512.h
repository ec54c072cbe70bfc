/* What the rows of AVX-512 have in common: masks, transposes of 16 x 16 units of four bytes, panels of them. */
#ifndef PTO_KERNEL_AVX512_H
#define PTO_KERNEL_AVX512_H

#include "kernel_load.h"
#include "kernel_nibbles.h"

#include <immintrin.h>

/* The first n of 16 lanes; n may be any number. */
KERNEL_INLINE __mmask16 mask_of(int64_t n) { return n >= 16 ? 0xffff : n <= 0 ? 0 : (__mmask16)((1U << n) - 1); }

/* Elements of 1, 2 or 4 bytes that the mask names; the others are 0. Processors load by a mask more slowly, also where
 * it names all, which most do. */
KERNEL_INLINE __m512i load_bytes(const void *from, __mmask64 mask)
{
    return mask == UINT64_MAX ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi8(mask, from);
}
KERNEL_INLINE __m512i load_halves(const void *from, __mmask32 mask)
{
    return mask == UINT32_MAX ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi16(mask, from);
}
KERNEL_INLINE __m512i load_units(const void *from, __mmask16 mask)
{
    return mask == UINT16_MAX ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi32(mask, from);
}

/* Rows become columns, in place. */
KERNEL_INLINE void transpose_16x16(__m512i r[16])
{
    __m512i t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    /* r[4 g + c] holds column 4 l + c of rows 4 g .. in quarter l. */
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        t[c] = _mm512_shuffle_i32x4(r[c], r[c + 4], 0x88);
        t[c + 4] = _mm512_shuffle_i32x4(r[c], r[c + 4], 0xdd);
        t[c + 8] = _mm512_shuffle_i32x4(r[c + 8], r[c + 12], 0x88);
        t[c + 12] = _mm512_shuffle_i32x4(r[c + 8], r[c + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        r[c] = _mm512_shuffle_i32x4(t[c], t[c + 8], 0x88);
        r[c + 4] = _mm512_shuffle_i32x4(t[c + 4], t[c + 12], 0x88);
        r[c + 8] = _mm512_shuffle_i32x4(t[c], t[c + 8], 0xdd);
        r[c + 12] = _mm512_shuffle_i32x4(t[c + 4], t[c + 12], 0xdd);
    }
}

/* What one step of a micro-kernel does: sum + left * line, in units of four bytes. */
typedef __m512i kernel_step(__m512i sum, __m512i left, __m512i line);

/* Of 32 registers 28 are sums; the rest are a line of B and what is broadcast of A. */
enum { MR = 14, NR = 32, HALF = MR / 2 };

/* Most of each that is packed at a time, of k in bytes. A block of A fills half of a second-level cache of 1 MiB beside
 * a panel of B, which passes through the first one as panels of A do; a block of B lies in the third. Blocks along k
 * are long since C is read and written once for each. */
enum { M_BLOCK = 9 * MR, K_BLOCK_BYTES = 4096, N_BLOCK = 2048 };

/* How many lines of B ahead are asked for: few rows of A take less time than memory does. */
enum { AHEAD_LINES = 48 };

/* Units of A: those of one row `row` bytes below those of the one before, and those of one k `step` bytes further. In
 * a panel both are constants. */
typedef struct micro_left {
    const char *from;
    int64_t row, step;
} micro_left;

/* A unit, at an address that is a multiple of nothing, in all lanes. */
KERNEL_INLINE __m512i repeat_unit(const char *from)
{
    int32_t unit;
    memcpy(&unit, from, sizeof unit);
    return _mm512_set1_epi32(unit);
}

/* rows and vectors are constants where this is called, so that sums stay in registers. The tails of panels, when they
 * are heeded, are what to add to each row and each column. */
KERNEL_INLINE void micro_of(kernel_step step, bool heeds_tails, int rows, int vectors, int64_t groups, micro_left a,
                            const int32_t *b, int64_t b_step, char *c, int64_t c_row_bytes, __mmask16 last,
                            bool accumulate)
{
    __m512i sum[MR][2];
    /* From two addresses all rows are a small multiple of `row` away, of which registers hold few. */
    const char *lower = a.from + HALF * a.row;
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            const __mmask16 mask = v == vectors - 1 ? last : 0xffff;
            sum[i][v] =
                accumulate ? _mm512_maskz_loadu_epi32(mask, c + i * c_row_bytes + 64 * v) : _mm512_setzero_si512();
        }
    for (int64_t g = 0; g < groups; g++, a.from += a.step, lower += a.step, b += b_step) {
        __m512i line[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            line[v] = _mm512_loadu_si512(b + 16 * v);
            const uintptr_t ahead = (uintptr_t)(b + 16 * v) + (uintptr_t)(4 * AHEAD_LINES * b_step);
            __builtin_prefetch((const void *)ahead); // NOLINT(performance-no-int-to-ptr): it may be beyond the panel
        }
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            const __m512i left = repeat_unit(i < HALF ? a.from + i * a.row : lower + (i - HALF) * a.row);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sum[i][v] = step(sum[i][v], left, line[v]);
        }
    }
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            if (heeds_tails) {
                const __m512i of_row = repeat_unit(a.from + 4 * i), of_columns = _mm512_loadu_si512(b + 16 * v);
                sum[i][v] = _mm512_add_epi32(sum[i][v], _mm512_add_epi32(of_row, of_columns));
            }
            _mm512_mask_storeu_epi32(c + i * c_row_bytes + 64 * v, v == vectors - 1 ? last : 0xffff, sum[i][v]);
        }
}

#define KERNEL_ROWS_1_TO_MR(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define KERNEL_MICRO_CASE(rows)                                                                                     \
    case 2 * (rows): micro_of(step, heeds, rows, 1, groups, a, b, b_step, c, c_row_bytes, last, accumulate); break; \
    case 2 * (rows) + 1: micro_of(step, heeds, rows, 2, groups, a, b, b_step, c, c_row_bytes, last, accumulate); break;

/* Of m rows and n columns. */
KERNEL_INLINE void micro_of_any(kernel_step step, bool heeds, int64_t groups, micro_left a, const int32_t *b,
                                int64_t b_step, char *c, int64_t c_row_bytes, int64_t m, int64_t n, bool accumulate)
{
    const __mmask16 last = mask_of(n > 16 ? n - 16 : n);
    switch (2 * m + (n > 16)) {
        KERNEL_ROWS_1_TO_MR(KERNEL_MICRO_CASE)
    default: break;
    }
}

/* A function pto_contraction_micro of panels with `group` elements in each unit. */
#define KERNEL_MICRO(name, step, heeds_tails, group)                                                                \
    static void name(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride, int64_t m, \
                     int64_t n, bool accumulate)                                                                    \
    {                                                                                                               \
        const micro_left a = {a_panel, 4, 4 * MR};                                                                  \
        micro_of_any(step, heeds_tails, (k + (group) - 1) / (group), a, b_panel, NR, c, 4 * c_row_stride, m, n,     \
                     accumulate);                                                                                   \
    }                                                                                                               \
    _Static_assert((group) > 0, "of elements")

/* What kernel_pack.h needs. */
typedef __m512i kernel_vector;
enum { LANES = 16 };

/* Sixteen units that are 0. */
KERNEL_INLINE kernel_vector vector_of_zeros(void) { return _mm512_setzero_si512(); }

/* Rows become columns, in place. */
KERNEL_INLINE void turn_lanes(kernel_vector r[LANES]) { transpose_16x16(r); }

/* The first n units of a vector; n may be any number. */
KERNEL_INLINE void store_units(void *to, kernel_vector units, int64_t n)
{
    _mm512_mask_storeu_epi32(to, mask_of(n), units);
}

/* The first n units of each vector, all of them `width` units apart. */
KERNEL_INLINE void store_lines(int32_t *to, int64_t width, int64_t n, const kernel_vector r[LANES])
{
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) store_units(to + i * width, r[i], n);
}

#include "kernel_pack.h"

#endif
