/* Few rows of bytes by AVX-512 VNNI: four lines of B are joined in registers. For kernel_avx512_vnni.c alone. */
#ifndef PTO_KERNEL_AVX512_VNNI_SKINNY_H
#define PTO_KERNEL_AVX512_VNNI_SKINNY_H

#include "kernel_avx512_few.h"

/* QUAD_DEPTH lines of 64 columns that are joined stay in the first-level cache while parts of the rows take turns, and
 * QUAD_LINES of a panel in the second. QUAD_FAST_ROWS of them read a panel faster than memory is: asked for
 * QUAD_NEAR_AHEAD bytes early it takes half the time that it takes FEW_AHEAD early, where the processor does not ask
 * by itself any more; more rows take a quarter longer then. */
enum {
    QUAD_ROWS = 6,
    QUAD_COLUMNS = 64,
    QUAD_DEPTH = 256,
    QUAD_LINES = 1024,
    QUAD_THIN_DEPTH = 32,
    QUAD_FAST_ROWS = 3,
    QUAD_NEAR_AHEAD = 1024
};

/* How the products of a pair of types are made: which operand is the unsigned one, whether B is moved by 128, or I4 by
 * 8, to be what is asked of it, and by what times the sum of a row of A the sums are off then. */
typedef struct skinny_form {
    bool b_is_unsigned, moves_b, b_is_i4;
    int32_t factor;
} skinny_form;

/* 64 columns of a row of B from byte `b` on, of which those of the mask are there; the bytes of I4 are half as many. */
KERNEL_INLINE __m512i quad_line(skinny_form form, const char *b, __mmask64 mask)
{
    if (form.b_is_i4) {
        const __m512i x = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8((__mmask32)mask, b));
        const __m512i both = _mm512_and_si512(_mm512_or_si512(x, _mm512_slli_epi16(x, 4)), _mm512_set1_epi8(15));
        return _mm512_xor_si512(both, _mm512_set1_epi8(8));
    }
    const __m512i x = load_bytes(b, mask);
    return form.moves_b ? _mm512_xor_si512(x, _mm512_set1_epi8(-128)) : x;
}

/* Four rows become four vectors of units of one column each; quarter l of vector v has columns 16 l + 4 v and on. */
KERNEL_INLINE void join_quads(const __m512i row[4], __m512i quads[4])
{
    const __m512i low[] = {_mm512_unpacklo_epi8(row[0], row[1]), _mm512_unpacklo_epi8(row[2], row[3])};
    const __m512i high[] = {_mm512_unpackhi_epi8(row[0], row[1]), _mm512_unpackhi_epi8(row[2], row[3])};
    quads[0] = _mm512_unpacklo_epi16(low[0], low[1]);
    quads[1] = _mm512_unpackhi_epi16(low[0], low[1]);
    quads[2] = _mm512_unpacklo_epi16(high[0], high[1]);
    quads[3] = _mm512_unpackhi_epi16(high[0], high[1]);
}

/* Quarter l of vector v becomes quarter v of vector l. */
KERNEL_INLINE void turn_quarters(__m512i x[4])
{
    const __m512i a = _mm512_shuffle_i32x4(x[0], x[1], 0x44), b = _mm512_shuffle_i32x4(x[0], x[1], 0xee);
    const __m512i c = _mm512_shuffle_i32x4(x[2], x[3], 0x44), d = _mm512_shuffle_i32x4(x[2], x[3], 0xee);
    x[0] = _mm512_shuffle_i32x4(a, c, 0x88);
    x[1] = _mm512_shuffle_i32x4(a, c, 0xdd);
    x[2] = _mm512_shuffle_i32x4(b, d, 0x88);
    x[3] = _mm512_shuffle_i32x4(b, d, 0xdd);
}

/* A piece of a product: lines of B times elements of A, `left`, for 64 columns of C, of which `n` are there. */
typedef struct quad_piece {
    int64_t depth, n;
    const int32_t *left, *more; /* more: what is added to each row to begin with, or NULL */
    const char *b;
    int64_t b_row_bytes;
    char *c;
    int64_t c_row_bytes;
    bool adds, is_first, is_last; /* between the first and the last piece C holds sums as they lie in registers */
    __m512i *kept;                /* lines of B that are joined, for the rows that come after */
} quad_piece;

/* The sums of row i of a piece as they lie in registers. */
KERNEL_INLINE void load_quads(const quad_piece *x, int64_t i, __m512i sum[4])
{
    const char *const c = x->c + i * x->c_row_bytes;
    const __m512i more = _mm512_set1_epi32(x->is_first ? x->more[i] : 0);
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++)
        sum[v] = x->adds ? _mm512_maskz_loadu_epi32(mask_of(x->n - 16 * v), c + 64 * v) : _mm512_setzero_si512();
    if (x->adds && (x->is_first || x->n < QUAD_COLUMNS)) turn_quarters(sum);
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) sum[v] = _mm512_add_epi32(sum[v], more);
}

/* Writes them to C. */
KERNEL_INLINE void store_quads(const quad_piece *x, int64_t i, __m512i sum[4])
{
    char *const c = x->c + i * x->c_row_bytes;
    if (x->is_last || x->n < QUAD_COLUMNS) turn_quarters(sum);
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) _mm512_mask_storeu_epi32(c + 64 * v, mask_of(x->n - 16 * v), sum[v]);
}

enum quad_lines { QUADS_READ, QUADS_KEPT, QUADS_TAKEN };

/* Four lines from b on, of which `left` are there, joined; and asks for as many. */
KERNEL_INLINE void read_quads(skinny_form form, const char *b, int64_t b_row_bytes, int64_t left, __mmask64 mask,
                              uintptr_t asked, uintptr_t step, __m512i quads[4])
{
    __m512i row[4];
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++) {
        row[q] = quad_line(form, b + q * b_row_bytes, q < left ? mask : 0);
        ask_for(asked + (uintptr_t)q * step);
    }
    join_quads(row, quads);
}

/* One unit of each row of A times four vectors of units of B. */
KERNEL_INLINE void add_quads(skinny_form form, int rows, const int32_t *left, const __m512i quads[4], __m512i sum[][4])
{
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        const __m512i a = _mm512_set1_epi32(left[i]);
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++)
            sum[i][v] = form.b_is_unsigned ? step_bytes(sum[i][v], quads[v], a) : step_bytes(sum[i][v], a, quads[v]);
    }
}

/* Copies four vectors. */
KERNEL_INLINE void keep_quads(const __m512i quads[4], __m512i kept[4])
{
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) kept[v] = quads[v];
}

/* form, rows and lines are constants. `lines`: whether B is read, and what is joined kept, or taken from there. */
KERNEL_INLINE void quad_step(skinny_form form, int rows, enum quad_lines lines, const quad_piece *x,
                             skinny_ahead *ahead)
{
    const int64_t there = form.b_is_i4 ? (x->n + 1) / 2 : x->n, depth = x->depth, b_row_bytes = x->b_row_bytes;
    const __mmask64 mask = there >= 64 ? UINT64_MAX : (UINT64_C(1) << there) - 1;
    const uintptr_t step = lines == QUADS_TAKEN ? 0 : ahead->step;
    const char *b = x->b;
    const int32_t *left = x->left;
    __m512i sum[QUAD_ROWS][4], quads[4], *kept = x->kept;
    int64_t p = 0;
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) load_quads(x, i, sum[i]);
    for (; p + PIECE <= depth; p += PIECE) {
        const uintptr_t asked = lines == QUADS_TAKEN ? 0 : next_piece(ahead);
#pragma GCC unroll 2
        for (int q = 0; q < PIECE; q += 4, left += rows, kept += 4, b += 4 * b_row_bytes) {
            if (lines == QUADS_TAKEN)
                keep_quads(kept, quads);
            else
                read_quads(form, b, b_row_bytes, 4, mask, asked + (uintptr_t)q * step, step, quads);
            if (lines == QUADS_KEPT) keep_quads(quads, kept);
            add_quads(form, rows, left, quads, sum);
        }
    }
    for (; p < depth; p += 4, left += rows, kept += 4, b += 4 * b_row_bytes) {
        if (lines == QUADS_TAKEN)
            keep_quads(kept, quads);
        else
            read_quads(form, b, b_row_bytes, depth - p, mask, (uintptr_t)b, 0, quads);
        if (lines == QUADS_KEPT) keep_quads(quads, kept);
        add_quads(form, rows, left, quads, sum);
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) store_quads(x, i, sum[i]);
}

#define QUAD_STEP_CASE(rows) \
    case rows: quad_step(form, rows, lines, x, ahead); return;

/* Any number of rows up to QUAD_ROWS. */
KERNEL_INLINE void quad_step_of(skinny_form form, int64_t rows, enum quad_lines lines, const quad_piece *x,
                                skinny_ahead *ahead)
{
    switch (rows) {
        QUAD_STEP_CASE(1)
        QUAD_STEP_CASE(2)
        QUAD_STEP_CASE(3)
        QUAD_STEP_CASE(4)
        QUAD_STEP_CASE(5)
        QUAD_STEP_CASE(6)
    default: return;
    }
}

/* Four elements along k of each row of A beside each other; what A has beyond k is 0. */
static void quad_left(const skinny_product *x, int64_t row, int64_t rows, int64_t p, int64_t depth, int32_t *left)
{
    for (int64_t i = 0; i < rows; i++) {
        const int64_t at = (row + i) * x->a_row_stride + p * x->a_k_stride;
        for (int64_t q = 0; q < depth; q += 4) {
            const int64_t count = depth - q < 4 ? depth - q : 4;
            int32_t unit = 0;
            if (x->a_k_stride == 1 && count == 4)
                memcpy(&unit, (const char *)x->a + at + q, 4);
            else
                for (int64_t t = 0; t < count; t++)
                    ((uint8_t *)&unit)[t] = (uint8_t)load_u8(x->a, at + (q + t) * x->a_k_stride);
            left[q / 4 * rows + i] = unit;
        }
    }
}

/* The same of up to QUAD_ROWS rows, 64 elements of each at a time where they lie beside each other. */
static void quad_spread(const skinny_product *x, int64_t row, int64_t rows, int64_t p, int64_t depth, int32_t *left)
{
    if (x->a_k_stride != 1) {
        quad_left(x, row, rows, p, depth, left);
        return;
    }
    for (int64_t q = 0; q < depth; q += 64) {
        const int64_t count = depth - q < 64 ? depth - q : 64;
        const char *from = (const char *)x->a + row * x->a_row_stride + p + q;
        __m512i r[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            r[i] = i < rows ? _mm512_maskz_loadu_epi8(UINT64_MAX >> (64 - count), from + i * x->a_row_stride)
                            : _mm512_setzero_si512();
        spread_units(r, rows, rows, (count + 3) / 4, left + q / 4 * rows);
    }
}

/* What is to be added to the sums of each row of A. */
static void quad_more(skinny_form form, const skinny_product *x, int32_t *more)
{
    const __m512i ones = _mm512_set1_epi8(1);
    for (int64_t i = 0; i < x->m; i++) {
        __m512i sums = _mm512_setzero_si512();
        uint32_t sum = 0;
        int64_t p = 0;
        if (form.factor != 0 && x->a_k_stride == 1)
            for (; p + 64 <= x->k; p += 64) {
                const __m512i a = _mm512_loadu_si512((const char *)x->a + i * x->a_row_stride + p);
                sums = form.b_is_unsigned ? step_bytes(sums, ones, a) : step_bytes(sums, a, ones);
            }
        for (; form.factor != 0 && p < x->k; p++) {
            const int64_t at = i * x->a_row_stride + p * x->a_k_stride;
            sum += (uint32_t)(form.b_is_unsigned ? load_i8(x->a, at) : load_u8(x->a, at));
        }
        more[i] = (int32_t)((sum + (uint32_t)_mm512_reduce_add_epi32(sums)) * (uint32_t)form.factor);
    }
}

/* 64 columns for all rows of A, some at a time. */
KERNEL_INLINE void quad_columns(skinny_form form, int64_t m, int64_t rows, quad_piece piece, const int32_t *left,
                                const int32_t *more, skinny_ahead *ahead)
{
    const int64_t groups = (piece.depth + 3) / 4;
    for (int64_t i = 0; i < m; i += rows, piece.c += rows * piece.c_row_bytes) {
        const int64_t count = m - i < rows ? m - i : rows;
        piece.left = left + i * groups;
        piece.more = more + i;
        if (count == m)
            quad_step_of(form, count, QUADS_READ, &piece, ahead);
        else if (i == 0)
            quad_step_of(form, count, QUADS_KEPT, &piece, ahead);
        else
            quad_step_of(form, count, QUADS_TAKEN, &piece, ahead);
    }
}

/* All of C; form is a constant where the loops are to be fast. */
KERNEL_INLINE void quad_rows(skinny_form form, const skinny_product *x)
{
    int32_t left[QUAD_DEPTH / 4 * FEW_ROWS_MOST], more[FEW_ROWS_MOST];
    __m512i kept[QUAD_DEPTH];
    const int64_t parts = (x->m + QUAD_ROWS - 1) / QUAD_ROWS, rows = (x->m + parts - 1) / parts;
    const int bits = form.b_is_i4 ? 4 : 8;
    /* With few rows memory is what takes time: pieces of B are few lines, read along their whole length. */
    const bool is_thin = x->m <= THIN_ROWS;
    const int64_t deepest = is_thin ? QUAD_THIN_DEPTH : QUAD_DEPTH, widest = is_thin ? THIN_COLUMNS : WIDE_COLUMNS;
    quad_more(form, x, more);
    for (int64_t first = 0; first < x->n; first += widest) {
        const int64_t columns = x->n - first < widest ? x->n - first : widest;
        const bool is_below = is_thin || columns < WIDE_COLUMNS / 2;
        const int64_t below = is_thin ? QUAD_THIN_DEPTH : WIDE_AHEAD;
        for (int64_t p = 0; p < x->k; p += deepest) {
            const int64_t depth = x->k - p < deepest ? x->k - p : deepest, at = p * x->b_k_stride + first;
            const int64_t next = x->k - p <= deepest ? 0 : is_below ? below : deepest;
            if (is_thin) quad_left(x, 0, x->m, p, depth, left);
            for (int64_t i = 0; i < x->m && !is_thin; i += rows)
                quad_spread(x, i, x->m - i < rows ? x->m - i : rows, p, depth, left + i * ((depth + 3) / 4));
            skinny_ahead ahead =
                ahead_of(x->b, at + next * x->b_k_stride, x->b_k_stride, columns, bits, QUAD_COLUMNS / 16, is_below);
            for (int64_t j = 0; j < columns; j += QUAD_COLUMNS) {
                if (is_below) ahead = ahead_of(x->b, at + j + next * x->b_k_stride, x->b_k_stride, 0, bits, 1, true);
                quad_columns(form, x->m, rows,
                             (quad_piece){.depth = depth,
                                          .n = columns - j,
                                          .b = (const char *)x->b + (at + j) * bits / 8,
                                          .b_row_bytes = x->b_k_stride * bits / 8,
                                          .c = x->c + 4 * (first + j),
                                          .c_row_bytes = x->c_row_bytes,
                                          .adds = x->accumulate || p > 0,
                                          .is_first = p == 0,
                                          .is_last = p + depth == x->k,
                                          .kept = kept},
                             left, more, &ahead);
            }
        }
    }
}

/* The columns of one panel, from element `at` of B on, times the elements of all rows from `p` on, which are `left`. */
KERNEL_INLINE void quad_panel(skinny_form form, few_turns turns, const skinny_product *x, int64_t p, int64_t depth,
                              quad_piece piece, const int32_t *left, const int32_t *more)
{
    const int64_t early = x->m <= QUAD_FAST_ROWS ? QUAD_NEAR_AHEAD : FEW_AHEAD;
    for (int64_t q = 0; q < depth; q += turns.depth, piece.b += turns.depth * QUAD_COLUMNS) {
        skinny_ahead ahead = ahead_of(piece.b, early, QUAD_COLUMNS, 0, 8, 1, true);
        piece.depth = depth - q < turns.depth ? depth - q : turns.depth;
        piece.adds = x->accumulate || p + q > 0;
        piece.is_first = p + q == 0;
        piece.is_last = p + q + piece.depth == x->k;
        quad_columns(form, x->m, turns.rows, piece, left + q / 4 * x->m, more, &ahead);
    }
}

/* All of C from panels of 64 columns. */
KERNEL_INLINE void quad_panels(skinny_form form, const skinny_product *x, int64_t panel_stride, int32_t *left)
{
    int32_t more[FEW_ROWS_MOST];
    __m512i kept[QUAD_LINES];
    const few_turns turns = turns_of(x->m, (x->k + 3) / 4 * 4, QUAD_ROWS, QUAD_LINES, 4);
    quad_more(form, x, more);
    for (int64_t p = 0; p < x->k; p += turns.most) {
        const int64_t depth = x->k - p < turns.most ? x->k - p : turns.most;
        for (int64_t q = 0; q < depth; q += turns.depth) {
            const int64_t count = depth - q < turns.depth ? depth - q : turns.depth;
            for (int64_t i = 0; i < x->m; i += turns.rows)
                quad_spread(x, i, x->m - i < turns.rows ? x->m - i : turns.rows, p + q, count,
                            left + q / 4 * x->m + i * ((count + 3) / 4));
        }
        for (int64_t j = 0; j < x->n; j += QUAD_COLUMNS)
            quad_panel(form, turns, x, p, depth,
                       (quad_piece){.n = x->n - j,
                                    .b = (const char *)x->b + j / QUAD_COLUMNS * panel_stride + p * QUAD_COLUMNS,
                                    .b_row_bytes = QUAD_COLUMNS,
                                    .c = x->c + 4 * j,
                                    .c_row_bytes = x->c_row_bytes,
                                    .kept = kept},
                       left, more);
    }
}

/* What generated code asks for has loops of its own; the other forms share some, which take less time to compile. */
__attribute__((noinline)) static void quad_rows_of_any(skinny_form form, const skinny_product *x)
{
    quad_rows(form, x);
}

/* A function pto_contraction_skinny of that form, by quad_rows or quad_rows_of_any. */
#define KERNEL_SKINNY_OF_BYTES(name, compute, ...)                                                              \
    static bool name(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,  \
                     const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride, \
                     bool accumulate)                                                                           \
    {                                                                                                           \
        const skinny_form form = {__VA_ARGS__};                                                                 \
        const skinny_product x = {                                                                              \
            m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, c, 4 * c_row_stride, accumulate};              \
        if (m > FEW_ROWS_MOST || b_column_stride != 1 || (form.b_is_i4 && b_k_stride % 2 != 0)) return false;   \
        compute(form, &x);                                                                                      \
        return true;                                                                                            \
    }                                                                                                           \
    _Static_assert(QUAD_ROWS == 6, "cases")

#endif
