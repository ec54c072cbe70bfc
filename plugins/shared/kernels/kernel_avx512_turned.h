/* Few rows by AVX-512 and a B whose columns go upwards along k: it is read once, as it lies, and turned in registers.
 * For kernel_avx512.c alone. */
#ifndef PTO_KERNEL_AVX512_TURNED_H
#define PTO_KERNEL_AVX512_TURNED_H

#include "kernel_avx512_few.h"

/* Of 16 columns TURNED_UNITS units of four bytes are turned at a time. Lines are asked for TURNED_AHEAD
 * bytes early. Memory is read faster where fewer columns take turns: up to TURNED_VECTORS times 16 of them do so where
 * a sum alone would wait for itself. */
enum { TURNED_ROWS = 8, TURNED_VECTORS = 2, TURNED_UNITS = 8, TURNED_AHEAD = 16384 /* bytes */ };

/* The elements along k of a unit of each of 16 columns, as floats. */
typedef void turned_elements(__m512i units, __m512 lines[2]);
typedef struct turned_form {
    turned_elements *elements;
    int bits; /* of an element */
} turned_form;

/* A unit is one element. */
KERNEL_INLINE void elements_f32(__m512i units, __m512 lines[2]) { lines[0] = _mm512_castsi512_ps(units); }

/* A unit is two elements, that of the lower k in its lower half. */
KERNEL_INLINE void elements_bf16(__m512i units, __m512 lines[2])
{
    lines[0] = _mm512_castsi512_ps(_mm512_slli_epi32(units, 16));
    lines[1] = _mm512_castsi512_ps(_mm512_and_si512(units, _mm512_set1_epi32((int32_t)0xffff0000)));
}

/* The same of f16. */
KERNEL_INLINE void elements_f16(__m512i units, __m512 lines[2])
{
    lines[0] = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(units));
    lines[1] = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(units, 16)));
}

/* 16 columns, of which the last one that is there stands for those beyond; of their halves of units those that `mask`
 * names. */
typedef struct turned_block {
    const char *first;
    int64_t column_bytes, last;
    __mmask16 mask;
} turned_block;

/* Those of one column, from 0 to 15. */
KERNEL_INLINE __m256i units_of(const turned_block *x, int column)
{
    const char *const at = x->first + (column < x->last ? column : x->last) * x->column_bytes;
    return x->mask == UINT16_MAX ? _mm256_loadu_si256((const void *)at) : _mm256_maskz_loadu_epi16(x->mask, at);
}

/* A vector for each unit along k. */
KERNEL_INLINE void turn_block(const turned_block *x, __m512i units[TURNED_UNITS])
{
    __m512i r[8], t[8];
    /* Columns c and c + 4: quarters of r are units 0 to 3 and 4 to 7 of the one and of the other. */
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const int c = i < 4 ? i : i + 4;
        r[i] = _mm512_inserti64x4(_mm512_castsi256_si512(units_of(x, c)), units_of(x, c + 4), 1);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 4
    for (int u = 0; u < 4; u++) {
        units[u] = _mm512_shuffle_i32x4(r[u], r[u + 4], 0x88);
        units[u + 4] = _mm512_shuffle_i32x4(r[u], r[u + 4], 0xdd);
    }
}

/* The blocks of `vectors` times 16 columns from `b` on, a constant number; as many lines are asked for. */
KERNEL_INLINE void turn_blocks(int vectors, turned_block *block, const char *b,
                               __m512i units[TURNED_VECTORS][TURNED_UNITS], skinny_along *ahead)
{
    enum { LINES = 16 * TURNED_UNITS * 4 / 64 };
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
        block->first = b + 16 * v * block->column_bytes;
        turn_block(block, units[v]);
#pragma GCC unroll 8
        for (int q = 0; q < LINES; q++) ask_along(ahead);
    }
}

/* What was turned, of `vectors` times 16 columns, times elements of A; rows and vectors are constants. */
KERNEL_INLINE void add_turned(turned_form form, int rows, int vectors, __m512i units[TURNED_VECTORS][TURNED_UNITS],
                              const float *left, __m512 sum[TURNED_ROWS][TURNED_VECTORS])
{
    const int each = 32 / form.bits;
#pragma GCC unroll 8
    for (int u = 0; u < TURNED_UNITS; u++) {
        __m512 line[TURNED_VECTORS][2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) form.elements(units[v][u], line[v]);
#pragma GCC unroll 2
        for (int e = 0; e < each; e++)
#pragma GCC unroll 8
            for (int i = 0; i < rows; i++) {
                const __m512 of_row = _mm512_set1_ps(left[(u * each + e) * rows + i]);
#pragma GCC unroll 2
                for (int v = 0; v < vectors; v++) sum[i][v] = _mm512_fmadd_ps(of_row, line[v][e], sum[i][v]);
            }
    }
}

/* The last elements along k, fewer than are turned at a time, element by element. */
KERNEL_INLINE void add_last(turned_form form, int rows, int vectors, int64_t count,
                            __m512i units[TURNED_VECTORS][TURNED_UNITS], const float *left,
                            __m512 sum[TURNED_ROWS][TURNED_VECTORS])
{
    const int each = 32 / form.bits;
    float lines[2 * TURNED_UNITS][16];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
        for (int u = 0; u < TURNED_UNITS; u++) {
            __m512 line[2];
            form.elements(units[v][u], line);
            for (int e = 0; e < each; e++) _mm512_storeu_ps(lines[u * each + e], line[e]);
        }
        for (int64_t q = 0; q < count; q++)
#pragma GCC unroll 8
            for (int i = 0; i < rows; i++)
                sum[i][v] = _mm512_fmadd_ps(_mm512_set1_ps(left[q * rows + i]), _mm512_loadu_ps(lines[q]), sum[i][v]);
    }
}

/* How many columns early lines are asked for, in multiples of so many. */
KERNEL_INLINE int64_t columns_ahead(int64_t columns, int64_t column_bytes)
{
    const int64_t most = column_bytes > 0 ? TURNED_AHEAD / column_bytes / columns * columns : 0;
    return most > columns ? most : columns;
}

/* 16 * vectors columns from j on; without is_full one vector, of whose columns some are there. rows, vectors and
 * is_full are constants. */
KERNEL_INLINE void turned_columns(turned_form form, int rows, int vectors, bool is_full, const turned_part *part,
                                  int64_t j)
{
    const skinny_product *const x = part->x;
    const int each = 32 / form.bits, turned = TURNED_UNITS * each;
    const int64_t whole = part->depth / turned * turned, column_bytes = part->column_stride * form.bits / 8;
    const bool adds = x->accumulate || part->p > 0;
    const __mmask16 mask = is_full ? 0xffff : mask_of(x->n - j);
    const char *b = (const char *)x->b + j * column_bytes + part->p * form.bits / 8;
    skinny_along ahead = along_of((uintptr_t)b + (uintptr_t)(columns_ahead(16 * vectors, column_bytes) * column_bytes),
                                  (uintptr_t)(part->depth * form.bits / 8), (uintptr_t)column_bytes);
    turned_block block = {.column_bytes = column_bytes, .last = is_full ? 15 : x->n - j - 1, .mask = 0xffff};
    const float *left = part->left;
    __m512 sum[TURNED_ROWS][TURNED_VECTORS];
    __m512i units[TURNED_VECTORS][TURNED_UNITS];
    char *const c = x->c + 4 * j;
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            sum[i][v] = adds ? _mm512_maskz_loadu_ps(mask, c + i * x->c_row_bytes + 64 * v) : _mm512_setzero_ps();
    for (int64_t p = 0; p < whole; p += turned, left += turned * rows, b += 4 * TURNED_UNITS) {
        turn_blocks(vectors, &block, b, units, &ahead);
        add_turned(form, rows, vectors, units, left, sum);
    }
    if (part->depth > whole) {
        block.mask = mask_of((part->depth - whole) * 2 / each);
        turn_blocks(vectors, &block, b, units, &ahead);
        add_last(form, rows, vectors, part->depth - whole, units, left, sum);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) _mm512_mask_storeu_ps(c + i * x->c_row_bytes + 64 * v, mask, sum[i][v]);
}

/* rows and vectors are constants. */
KERNEL_INLINE void turned_rows(few_left load, turned_form form, int rows, int vectors, const skinny_product *x,
                               int64_t column_stride)
{
    float left[TURNED_DEPTH * TURNED_ROWS];
    for (int64_t p = 0; p < x->k; p += TURNED_DEPTH) {
        const turned_part part = turned_part_at(x, column_stride, p, left);
        int64_t j = 0;
        few_spread(load, x, 0, rows, p, part.depth, left);
        for (; j + 16 * vectors <= x->n; j += 16 * vectors) turned_columns(form, rows, vectors, true, &part, j);
        for (; j < x->n; j += 16) turned_columns(form, rows, 1, false, &part, j);
    }
}

#define TURNED_CASE(rows, vectors) \
    case rows: turned_rows(load, form, rows, vectors, x, column_stride); return true;

/* A function that computes C, or returns false where there are too many rows; `static` or `extern`. One row has its
 * sums in `vectors_of_one` vectors. Not inlined: it may run in another mode of rounding. */
#define KERNEL_TURNED(linkage, name, load_of_a, elements_of_b, bits_of_b, vectors_of_one)       \
    __attribute__((noinline)) linkage bool name(const skinny_product *x, int64_t column_stride) \
    {                                                                                           \
        const few_left load = {load_##load_of_a, along_##load_of_a};                            \
        const turned_form form = {elements_of_b, bits_of_b};                                    \
        switch (x->m) {                                                                         \
            TURNED_CASE(1, vectors_of_one)                                                      \
            TURNED_CASE(2, 1)                                                                   \
            TURNED_CASE(3, 1)                                                                   \
            TURNED_CASE(4, 1)                                                                   \
            TURNED_CASE(5, 1)                                                                   \
            TURNED_CASE(6, 1)                                                                   \
            TURNED_CASE(7, 1)                                                                   \
            TURNED_CASE(8, 1)                                                                   \
        default: return false;                                                                  \
        }                                                                                       \
    }                                                                                           \
    _Static_assert(TURNED_ROWS == 8 && (vectors_of_one) <= TURNED_VECTORS, "cases")

#endif
