/* Few rows of bf16 with the sums of AMX, by vectors of 512 bits: B is read once, 32 lines of it side by side, and never
 * packed. Operands count with their value. */
#if defined(__x86_64__)
#include "kernel_load.h"

#include <immintrin.h>

enum { STEP = 32, LANES = 16, ROWS = 4, ROWS_MOST = 16, FETCHED_AHEAD = 512 };

static __mmask16 mask_of(int64_t n) { return n >= LANES ? 0xffff : n <= 0 ? 0 : (__mmask16)((1U << n) - 1); }

/* Subnormal numbers become zeros of their sign. */
KERNEL_INLINE __m512 flushed(__m512 value)
{
    const __m512i bits = _mm512_castps_si512(value), exponent = _mm512_set1_epi32(0x7f800000);
    const __mmask16 is_subnormal = _mm512_testn_epi32_mask(bits, exponent);
    return _mm512_castsi512_ps(_mm512_mask_and_epi32(bits, is_subnormal, bits, _mm512_set1_epi32(INT32_MIN)));
}

/* 32 elements of a line of B, a cache line; zeros where there are none. */
KERNEL_INLINE __m512i line_of(const char *at, __mmask32 mask) { return _mm512_maskz_loadu_epi16(mask, at); }

/* Of these the first, third and so on in f32, and the others. */
KERNEL_INLINE __m512 widened(__m512i line, int half)
{
    const __m512i upper = _mm512_set1_epi32((int32_t)0xffff0000);
    return _mm512_castsi512_ps(half == 0 ? _mm512_slli_epi32(line, 16) : _mm512_and_si512(line, upper));
}

/* The halves of 32 columns as they are in memory: 16 columns from 16 * part on. */
KERNEL_INLINE __m512 in_order(const __m512 halves[2], int part)
{
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i places = _mm512_add_epi32(first, _mm512_set1_epi32(8 * part));
    return _mm512_permutex2var_ps(halves[0], places, halves[1]);
}

/* A step of so many rows, all columns: `left` has their elements, 0 beyond k; `lines` of B are there. */
KERNEL_INLINE void step_of_rows(int rows, float left[][STEP], const char *b, int64_t b_k_bytes, int64_t lines,
                                int64_t n, char *c, int64_t c_row_bytes, bool accumulate)
{
    for (int64_t j = 0; j < n; j += 2 * LANES) {
        const __mmask32 mask = (__mmask32)mask_of(n - j) | (__mmask32)mask_of(n - j - LANES) << LANES;
        __m512 sums[ROWS][2][2]; /* even and odd of k; halves of columns */
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sums[i][0][0] = sums[i][0][1] = sums[i][1][0] = sums[i][1][1] = _mm512_setzero_ps();
        for (int64_t p = 0; p < STEP; p += 2) {
            const char *const at = b + p * b_k_bytes + 2 * j;
#pragma GCC unroll 2
            for (int q = 0; q < 2; q++) {
                const __m512i line = line_of(at + q * b_k_bytes, p + q < lines ? mask : 0);
                /* So many lines side by side are more than the processor fetches ahead by itself. */
                if (p + q < lines) __builtin_prefetch(at + q * b_k_bytes + FETCHED_AHEAD);
#pragma GCC unroll 4
                for (int i = 0; i < rows; i++) {
                    const __m512 x = _mm512_set1_ps(left[i][p + q]);
                    sums[i][q][0] = _mm512_fmadd_ps(x, widened(line, 0), sums[i][q][0]);
                    sums[i][q][1] = _mm512_fmadd_ps(x, widened(line, 1), sums[i][q][1]);
                }
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            const __m512 both[2] = {_mm512_add_ps(sums[i][0][0], sums[i][1][0]),
                                    _mm512_add_ps(sums[i][0][1], sums[i][1][1])};
#pragma GCC unroll 2
            for (int part = 0; part < 2; part++) {
                const int64_t first = j + part * LANES;
                char *const to = c + i * c_row_bytes + 4 * first;
                const __mmask16 here = mask_of(n - first);
                const __m512 before = accumulate ? flushed(_mm512_maskz_loadu_ps(here, to)) : _mm512_setzero_ps();
                _mm512_mask_storeu_ps(to, here, _mm512_add_ps(before, in_order(both, part)));
            }
        }
    }
}

/* The same for 1 to ROWS of them, a number that the compiler does not know. */
static void step_of(int64_t rows, float left[][STEP], const char *b, int64_t b_k_bytes, int64_t lines, int64_t n,
                    char *c, int64_t c_row_bytes, bool accumulate)
{
    switch (rows) {
    case 1: step_of_rows(1, left, b, b_k_bytes, lines, n, c, c_row_bytes, accumulate); break;
    case 2: step_of_rows(2, left, b, b_k_bytes, lines, n, c, c_row_bytes, accumulate); break;
    case 3: step_of_rows(3, left, b, b_k_bytes, lines, n, c, c_row_bytes, accumulate); break;
    default: step_of_rows(4, left, b, b_k_bytes, lines, n, c, c_row_bytes, accumulate); break;
    }
}

bool kernel_few_by_tiles(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                         const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride,
                         bool accumulate)
{
    enum { FLUSHES_RESULTS = 0x8000 };
    if (m > ROWS_MOST || b_column_stride != 1) return false;
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | FLUSHES_RESULTS);
    for (int64_t p = 0; p < k; p += STEP) {
        float left[ROWS_MOST][STEP];
        for (int64_t i = 0; i < m; i++)
            for (int64_t q = 0; q < STEP; q++)
                left[i][q] = p + q < k ? load_bf16(a, i * a_row_stride + (p + q) * a_k_stride) : 0;
        for (int64_t i = 0; i < m; i += ROWS)
            step_of(m - i < ROWS ? m - i : ROWS, left + i, (const char *)b + 2 * p * b_k_stride, 2 * b_k_stride, k - p,
                    n, (char *)c + 4 * i * c_row_stride, 4 * c_row_stride, accumulate || p > 0);
    }
    _mm_setcsr(mode);
    return true;
}
#endif
