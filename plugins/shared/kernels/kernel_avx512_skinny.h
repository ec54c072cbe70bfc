/* Few rows by AVX-512: B is read once, as it lies, and not packed. What the next lines of B will be is asked for early,
 * into the second-level cache: lines of one column are far apart, which not all processors foresee. Far ahead is too
 * early: what comes before it is used goes out again. */
#ifndef PTO_KERNEL_AVX512_SKINNY_H
#define PTO_KERNEL_AVX512_SKINNY_H

#include "kernel_avx512.h"
#include "kernel_skinny.h"

/* Up to THIN_ROWS rows memory is what takes time: lines are short pieces of few rows of B, which is how it is read
 * fastest. More rows have all their sums of one column in registers for WIDE_DEPTH lines, in pieces of WIDE_COLUMNS
 * columns; more than LONG_ROWS are faster with shorter ones, of which a cache keeps all sums. */
enum {
    FEW_ROWS_MOST = 64,
    THIN_ROWS = 4,
    THIN_VECTORS = 2,
    THIN_DEPTH = 8,
    THIN_AHEAD = 16, /* lines */
    THIN_COLUMNS = 4096,
    WIDE_ROWS = 28,
    WIDE_DEPTH = 64,
    WIDE_AHEAD = 32,
    WIDE_COLUMNS = 1024,
    LONG_ROWS = 16,
    SHORT_COLUMNS = WIDE_COLUMNS * LONG_ROWS / FEW_ROWS_MOST
};

/* Elements of A as floats: one, and 16 of a row beside each other, of which k_left are there. */
typedef struct few_left {
    kernel_element *element;
    __m512i (*along)(const void *from, int64_t at, int64_t k_left);
} few_left;

/* Sixteen units of up to 16 rows become 16 lines, of which `count` are stored, `all` units apart: those of the first
 * `rows` rows. */
KERNEL_INLINE void spread_units(__m512i r[16], int64_t rows, int64_t all, int64_t count, void *to)
{
    const __mmask16 mask = mask_of(rows);
    transpose_16x16(r);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        if (i < count) _mm512_mask_storeu_epi32((int32_t *)to + i * all, mask, r[i]);
}

/* As skinny_left(), 16 elements of each row at a time where they lie beside each other. */
KERNEL_INLINE void few_spread(few_left load, const skinny_product *x, int64_t row, int64_t rows, int64_t p,
                              int64_t depth, float *left)
{
    if (x->a_k_stride != 1) {
        skinny_left(load.element, x, row, rows, p, depth, left);
        return;
    }
    for (int64_t q = 0; q < depth; q += 16)
        for (int64_t first = 0; first < rows; first += 16) {
            const int64_t count = depth - q < 16 ? depth - q : 16;
            __m512i r[16];
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++)
                r[i] = first + i < rows ? load.along(x->a, (row + first + i) * x->a_row_stride + p + q, count)
                                        : _mm512_setzero_si512();
            spread_units(r, rows - first, rows, count, left + q * rows + first);
        }
}

/* Where sums of rows lie. */
typedef struct few_sums {
    char *first;
    int64_t row_bytes;
} few_sums;

/* Those from a row and a column on. */
KERNEL_INLINE few_sums sums_from(few_sums sums, int64_t row, int64_t column)
{
    return (few_sums){sums.first + row * sums.row_bytes + 4 * column, sums.row_bytes};
}

/* Lines of B times their elements of A, `left`, for 16 * vectors columns of C, of which `n` are there: sums begin with
 * those of `from` if the product `adds`, and go to `to`. rows, vectors and, in the thin form, depth are constants. */
KERNEL_INLINE void skinny_step(kernel_units_along line, int rows, int vectors, int64_t depth, const float *left,
                               const void *b, int64_t at, int64_t b_k_stride, int64_t n, few_sums from, few_sums to,
                               bool adds, skinny_ahead *ahead)
{
    const __mmask16 masks[] = {mask_of(n), mask_of(n - 16)};
    __m512 sum[WIDE_ROWS][THIN_VECTORS];
#pragma GCC unroll 28
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            sum[i][v] =
                adds ? _mm512_maskz_loadu_ps(masks[v], from.first + i * from.row_bytes + 64 * v) : _mm512_setzero_ps();
    for (int64_t p = 0; p < depth;) {
        const int64_t end = depth - p < PIECE ? depth : p + PIECE;
        uintptr_t asked = next_piece(ahead);
#pragma GCC unroll 8
        for (; p < end; p++, at += b_k_stride, left += rows, asked += ahead->step) {
            __m512 x[THIN_VECTORS];
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) {
                x[v] = _mm512_castsi512_ps(line(b, at + 16 * v, n - 16 * v));
                ask_for(asked + (uintptr_t)(64 * v));
            }
#pragma GCC unroll 28
            for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
                for (int v = 0; v < vectors; v++) sum[i][v] = _mm512_fmadd_ps(_mm512_set1_ps(left[i]), x[v], sum[i][v]);
        }
    }
#pragma GCC unroll 28
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            _mm512_mask_storeu_ps(to.first + i * to.row_bytes + 64 * v, masks[v], sum[i][v]);
}

/* rows is a constant. */
KERNEL_INLINE void skinny_thin(kernel_element load, kernel_units_along line, int rows, int bits,
                               const skinny_product *x)
{
    float left[THIN_DEPTH * THIN_ROWS];
    for (int64_t first = 0; first < x->n; first += THIN_COLUMNS) {
        const int64_t end = x->n - first < THIN_COLUMNS ? x->n : first + THIN_COLUMNS;
        int64_t depth;
        for (int64_t p = 0; p < x->k; p += depth) {
            depth = x->k - p < THIN_DEPTH ? x->k - p : THIN_DEPTH;
            skinny_left(load, x, 0, rows, p, depth, left);
            const int64_t below = x->k - p < THIN_AHEAD + THIN_DEPTH ? 0 : THIN_AHEAD;
            for (int64_t j = first; j < end; j += 16 * THIN_VECTORS) {
                const int64_t at = p * x->b_k_stride + j;
                const few_sums c = {x->c + 4 * j, x->c_row_bytes};
                skinny_ahead ahead = ahead_of(x->b, at + below * x->b_k_stride, x->b_k_stride, 0, bits, 1, true);
                if (depth == THIN_DEPTH)
                    skinny_step(line, rows, THIN_VECTORS, THIN_DEPTH, left, x->b, at, x->b_k_stride, x->n - j, c, c,
                                x->accumulate || p > 0, &ahead);
                else
                    skinny_step(line, rows, THIN_VECTORS, depth, left, x->b, at, x->b_k_stride, x->n - j, c, c,
                                x->accumulate || p > 0, &ahead);
            }
        }
    }
}

#define SKINNY_15_TO_28(X) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28)
#define SKINNY_1_TO_28(X) KERNEL_ROWS_1_TO_MR(X) SKINNY_15_TO_28(X)
#define SKINNY_STEP_CASE(rows) \
    case rows: skinny_step(line, rows, 1, depth, left, b, at, b_k_stride, n, from, to, adds, ahead); return;

/* rows is any number up to WIDE_ROWS. */
KERNEL_INLINE void skinny_step_of(kernel_units_along line, int64_t rows, int64_t depth, const float *left,
                                  const void *b, int64_t at, int64_t b_k_stride, int64_t n, few_sums from, few_sums to,
                                  bool adds, skinny_ahead *ahead)
{
    switch (rows) {
        SKINNY_1_TO_28(SKINNY_STEP_CASE)
    default: return;
    }
}

/* WIDE_DEPTH lines of B, of 16 columns at a time, for all rows of A. Sums of 16 columns that are not complete lie
 * beside each other: rows of C may be a multiple of 4 KiB apart, of which a first-level cache has place for few lines.
 */
KERNEL_INLINE void skinny_wide(few_left load, kernel_units_along line, int bits, const skinny_product *x)
{
    float left[WIDE_DEPTH * FEW_ROWS_MOST], between[WIDE_COLUMNS * LONG_ROWS];
    const int64_t widest = x->m <= LONG_ROWS ? WIDE_COLUMNS : SHORT_COLUMNS;
    const int64_t parts = (x->m + WIDE_ROWS - 1) / WIDE_ROWS, rows = (x->m + parts - 1) / parts;
    for (int64_t first = 0; first < x->n; first += widest) {
        const int64_t columns = x->n - first < widest ? x->n - first : widest;
        const bool is_below = columns * bits / 8 < WIDE_COLUMNS;
        for (int64_t p = 0; p < x->k; p += WIDE_DEPTH) {
            const int64_t depth = x->k - p < WIDE_DEPTH ? x->k - p : WIDE_DEPTH, at = p * x->b_k_stride + first;
            const int64_t next = x->k - p <= WIDE_DEPTH ? 0 : is_below ? WIDE_AHEAD : WIDE_DEPTH;
            for (int64_t i = 0; i < x->m; i += rows)
                few_spread(load, x, i, x->m - i < rows ? x->m - i : rows, p, depth, left + i * depth);
            skinny_ahead ahead = ahead_of(x->b, at + next * x->b_k_stride, x->b_k_stride, columns, bits, 1, is_below);
            for (int64_t j = 0; j < columns; j += 16) {
                const few_sums c = {x->c + 4 * (first + j), x->c_row_bytes}, kept = {(char *)(between + j * x->m), 64};
                const few_sums from = p > 0 ? kept : c, to = next != 0 ? kept : c;
                for (int64_t i = 0; i < x->m; i += rows) {
                    /* The other rows read the same lines. */
                    const int64_t below = i == 0 ? next * x->b_k_stride : 0;
                    skinny_ahead beside = ahead_of(x->b, at + j + below, x->b_k_stride, 0, bits, 1, true);
                    skinny_step_of(line, x->m - i < rows ? x->m - i : rows, depth, left + i * depth, x->b, at + j,
                                   x->b_k_stride, columns - j, sums_from(from, i, 0), sums_from(to, i, 0),
                                   x->accumulate || p > 0, i == 0 && !is_below ? &ahead : &beside);
                }
            }
        }
    }
}

#define SKINNY_THIN_CASE(rows) \
    case rows: skinny_thin(load.element, line, rows, bits, &x); break;

/* A function pto_contraction_skinny of floats: load_LOAD reads elements of A, along_LINE lines of B, whose elements
 * have so many bits. NARROW is for short rows of B, TURNED for columns of it that go upwards along k; where they return
 * false they did nothing. Not inlined: it may run in another mode of rounding. */
#define KERNEL_SKINNY_OF_FLOATS(name, load_of_a, line_of_b, bits_of_b, narrow, turned)                               \
    __attribute__((noinline)) static bool name(                                                                      \
        int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride, const void *b,     \
        int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride, bool accumulate)                 \
    {                                                                                                                \
        const few_left load = {load_##load_of_a, along_##load_of_a};                                                 \
        kernel_units_along *const line = along_##line_of_b;                                                          \
        const int bits = bits_of_b;                                                                                  \
        const skinny_product x = {                                                                                   \
            m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, c, 4 * c_row_stride, accumulate};                   \
        if (m > FEW_ROWS_MOST) return false;                                                                         \
        if (b_column_stride != 1) return b_k_stride == 1 && turned(&x, b_column_stride);                             \
        if (narrow(&x)) return true;                                                                                 \
        switch (m) {                                                                                                 \
            SKINNY_THIN_CASE(1)                                                                                      \
            SKINNY_THIN_CASE(2) SKINNY_THIN_CASE(3) SKINNY_THIN_CASE(4) default : skinny_wide(load, line, bits, &x); \
        }                                                                                                            \
        return true;                                                                                                 \
    }                                                                                                                \
    _Static_assert(THIN_ROWS == 4, "cases")

#endif
