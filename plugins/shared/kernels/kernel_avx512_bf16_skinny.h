/* Few rows of bf16 by AVX-512 BF16: lines of B that belong together are joined in registers. In pieces of B or of A
 * that hold subnormal elements each pair is looked at. For kernel_avx512_bf16.c alone. */
#ifndef PTO_KERNEL_AVX512_BF16_SKINNY_H
#define PTO_KERNEL_AVX512_BF16_SKINNY_H

#include "kernel_avx512_few.h"

/* PAIR_LINES lines of 32 columns that are joined stay in the first-level cache while parts of the rows take turns. Up
 * to FMA_ROWS rows take panels that no cache holds in 0.7 of the time by fma, one element at a time, which reads some
 * panels side by side; what a cache nearly holds takes 1.3 times as long so. Up to KEPT_BYTES of B are in a cache near
 * enough that FMA_ROWS rows are multiplied in pairs in 0.7 of the time. */
enum { PAIR_ROWS = 12, PAIR_COLUMNS = 32, PAIR_LINES = 256, LOOKING_ROWS = 4, FMA_ROWS = 3, KEPT_BYTES = 2 << 20 };

/* Two lines of B of 32 columns, elements of one column beside each other, that of the lower k in the upper half. */
typedef struct joined_lines {
    __m512i of[2];
} joined_lines;

/* Quarter l of the first has four columns from 8 l on, quarter l of the second four from 8 l + 4 on: two shuffles leave
 * them so. */
KERNEL_INLINE joined_lines join_lines(__m512i low, __m512i high)
{
    return (joined_lines){{_mm512_unpacklo_epi16(high, low), _mm512_unpackhi_epi16(high, low)}};
}

/* Columns of sums in their order become those of joined lines, and back. */
KERNEL_INLINE void part_quarters(__m512 sum[2])
{
    const __m512 x = _mm512_shuffle_f32x4(sum[0], sum[1], 0x88);
    sum[1] = _mm512_shuffle_f32x4(sum[0], sum[1], 0xdd);
    sum[0] = x;
}
KERNEL_INLINE void join_quarters(__m512 sum[2])
{
    const __m512i first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0),
                  other = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    const __m512d x = _mm512_castps_pd(sum[0]), y = _mm512_castps_pd(sum[1]);
    sum[0] = _mm512_castpd_ps(_mm512_permutex2var_pd(x, first, y));
    sum[1] = _mm512_castpd_ps(_mm512_permutex2var_pd(x, other, y));
}

/* A piece of a product: lines of B times elements of A, `left`, for 32 columns of C, of which `n` are there. */
typedef struct bf16_piece {
    int64_t depth, n;
    const int32_t *left;
    const char *b;
    int64_t b_row_bytes;
    char *c;
    int64_t c_row_bytes;
    bool adds;
    __m512i *kept; /* NULL, or place for lines of B that are joined, for the rows that come after */
} bf16_piece;

/* Those of the 32 columns that are there. */
KERNEL_INLINE __mmask32 columns_of(const bf16_piece *x) { return x->n >= 32 ? 0xffffffff : (1U << x->n) - 1; }

/* Elements of C in row i of a piece, in the order of joined lines: before the first line and after the last. */
KERNEL_INLINE void begin_pairs(const bf16_piece *x, int64_t i, __m512 sum[2])
{
    const char *const c = x->c + i * x->c_row_bytes;
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++)
        sum[v] = x->adds ? _mm512_maskz_loadu_ps(mask_of(x->n - 16 * v), c + 64 * v) : _mm512_setzero_ps();
    if (x->adds) part_quarters(sum);
}
KERNEL_INLINE void end_pairs(const bf16_piece *x, int64_t i, __m512 sum[2])
{
    char *const c = x->c + i * x->c_row_bytes;
    join_quarters(sum);
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++) _mm512_mask_storeu_ps(c + 64 * v, mask_of(x->n - 16 * v), sum[v]);
}

/* Some rows of a piece from row i on, of which `all` are there, pair by pair; rows is a constant. */
KERNEL_INLINE void bf16_look_at(int rows, int64_t i, int64_t all, const bf16_piece *x)
{
    const __mmask32 mask = columns_of(x);
    const char *b = x->b;
    __m512 sum[LOOKING_ROWS][2];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) begin_pairs(x, i + r, sum[r]);
    for (int64_t p = 0; p < x->depth; p += 2, b += 2 * x->b_row_bytes) {
        const __m512i high = _mm512_maskz_loadu_epi16(p + 1 < x->depth ? mask : 0, b + x->b_row_bytes);
        const joined_lines line = join_lines(_mm512_maskz_loadu_epi16(mask, b), high);
        add_pair(rows, x->left + p / 2 * all + i, line.of, sum);
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) end_pairs(x, i + r, sum[r]);
}

/* A piece whose operands hold subnormal elements. */
static void bf16_piece_looking(int64_t rows, const bf16_piece *x)
{
    int64_t i = 0;
    for (; i + LOOKING_ROWS <= rows; i += LOOKING_ROWS) bf16_look_at(LOOKING_ROWS, i, rows, x);
    for (; i < rows; i++) bf16_look_at(1, i, rows, x);
}

/* Whether B is read for the first time, or again, without asking for what comes next and looking for subnormals; or
 * what is joined is kept when it is read first, and taken from there then. */
enum bf16_lines { LINES_READ, LINES_READ_AGAIN, LINES_KEPT, LINES_TAKEN };

/* rows and lines are constants, and so is the depth of x where rows are few. Returns whether B has subnormal elements;
 * then nothing was written. */
KERNEL_INLINE bool bf16_step(int rows, enum bf16_lines lines, const bf16_piece *x, skinny_ahead *ahead)
{
    const bool is_first = lines == LINES_READ || lines == LINES_KEPT;
    const __mmask32 mask = columns_of(x);
    const char *b = x->b;
    const int32_t *left = x->left;
    __m512 sum[PAIR_ROWS][2];
    __m512i least = _mm512_set1_epi16(-1), *const kept = x->kept;
    const int64_t depth = x->depth, b_row_bytes = x->b_row_bytes;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) begin_pairs(x, i, sum[i]);
    for (int64_t p = 0; p < depth;) {
        const int64_t end = depth - p < PIECE ? depth : p + PIECE;
        uintptr_t asked = is_first ? next_piece(ahead) : 0;
#pragma GCC unroll 4
        for (; p < end; p += 2, b += 2 * b_row_bytes, left += rows) {
            joined_lines line;
            if (lines == LINES_TAKEN) {
                line = (joined_lines){{kept[p], kept[p + 1]}};
            } else {
                const __m512i low = load_halves(b, mask), high = load_halves(b + b_row_bytes, p + 1 < depth ? mask : 0);
                line = join_lines(low, high);
                if (is_first) {
                    ask_for(asked);
                    ask_for(asked + ahead->step);
                    asked += 2 * ahead->step;
                    least = _mm512_min_epu16(least, _mm512_min_epu16(size_of(low), size_of(high)));
                }
            }
            if (lines == LINES_KEPT) {
                kept[p] = line.of[0];
                kept[p + 1] = line.of[1];
            }
#pragma GCC unroll 12
            for (int i = 0; i < rows; i++) {
                const __m512bh a = (__m512bh)_mm512_set1_epi32(left[i]);
#pragma GCC unroll 2
                for (int v = 0; v < 2; v++) sum[i][v] = _mm512_dpbf16_ps(sum[i][v], a, (__m512bh)line.of[v]);
            }
        }
    }
    if (is_first && is_subnormal(least)) return true;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) end_pairs(x, i, sum[i]);
    return false;
}

#define BF16_1_TO_12(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
#define BF16_STEP_CASE(rows) \
    case rows: return bf16_step(rows, lines, x, ahead);

/* Any number of rows up to PAIR_ROWS. */
KERNEL_INLINE bool bf16_step_of(int64_t rows, enum bf16_lines lines, const bf16_piece *x, skinny_ahead *ahead)
{
    switch (rows) {
        BF16_1_TO_12(BF16_STEP_CASE)
    default: return false;
    }
}

/* Up to 16 pairs of elements along k of a row of A, from element `at` on, that of the lower k in the upper half; `left`
 * elements are there. What A has beyond k is the zero that leaves a sum of -0 so. */
static __m512i bf16_pairs(const void *a, int64_t at, int64_t k_stride, int64_t left)
{
    uint16_t beside[32];
    const int64_t count = left < 32 ? left : 32;
    const __mmask32 mask = count == 32 ? 0xffffffff : (1U << count) - 1;
    const char *from = (const char *)a + 2 * at;
    if (k_stride != 1) {
        for (int64_t q = 0; q < count; q++) beside[q] = load_bits16(a, at + q * k_stride);
        from = (const char *)beside;
    }
    const __m512i x = _mm512_rol_epi32(_mm512_maskz_loadu_epi16(mask, from), 16);
    const __mmask16 last = count % 2 != 0 ? (__mmask16)(1U << count / 2) : 0;
    return _mm512_mask_or_epi32(x, last, x, _mm512_set1_epi32(0x8000));
}

/* Pairs of up to PAIR_ROWS rows of A, those of one k beside each other; returns whether an element is subnormal. */
KERNEL_INLINE bool bf16_left(const skinny_product *x, int64_t row, int64_t rows, int64_t p, int64_t depth,
                             int32_t *left)
{
    __m512i least = _mm512_set1_epi16(-1);
    for (int64_t q = 0; q < depth; q += 32) {
        const int64_t rest = depth - q, at = row * x->a_row_stride + (p + q) * x->a_k_stride;
        __m512i r[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            r[i] = i < rows ? bf16_pairs(x->a, at + i * x->a_row_stride, x->a_k_stride, rest) : _mm512_setzero_si512();
            if (i < rows) least = _mm512_min_epu16(least, size_of(r[i]));
        }
        spread_units(r, rows, rows, (rest + 1) / 2, left + q / 2 * rows);
    }
    return is_subnormal(least);
}

/* Few lines of B at a time, for so few rows that memory is what takes time; rows is a constant. */
KERNEL_INLINE void bf16_thin(int rows, const skinny_product *x)
{
    int32_t left[THIN_DEPTH / 2 * THIN_ROWS];
    for (int64_t p = 0; p < x->k; p += THIN_DEPTH) {
        bf16_piece piece = {.depth = x->k - p < THIN_DEPTH ? x->k - p : THIN_DEPTH,
                            .left = left,
                            .b_row_bytes = 2 * x->b_k_stride,
                            .c_row_bytes = x->c_row_bytes,
                            .adds = x->accumulate || p > 0};
        const bool is_rare = bf16_left(x, 0, rows, p, piece.depth, left);
        const int64_t below = x->k - p < THIN_AHEAD + THIN_DEPTH ? 0 : THIN_AHEAD;
        for (int64_t j = 0; j < x->n; j += PAIR_COLUMNS) {
            const int64_t at = p * x->b_k_stride + j;
            skinny_ahead ahead = ahead_of(x->b, at + below * x->b_k_stride, x->b_k_stride, 0, 16, 1, true);
            piece.n = x->n - j;
            piece.b = (const char *)x->b + 2 * at;
            piece.c = x->c + 4 * j;
            if (is_rare || (piece.depth == THIN_DEPTH ? bf16_step(rows, LINES_READ, &piece, &ahead)
                                                      : bf16_step_of(rows, LINES_READ, &piece, &ahead)))
                bf16_piece_looking(rows, &piece);
        }
    }
}

/* 32 columns for all rows of A, some at a time. The lines that they share are kept where there is place for that, or
 * read again. */
static void bf16_columns(int64_t m, int64_t rows, bf16_piece piece, bool is_rare, const int32_t *left,
                         skinny_ahead *ahead)
{
    const int64_t pairs = (piece.depth + 1) / 2;
    for (int64_t i = 0; i < m; i += rows, piece.c += rows * piece.c_row_bytes) {
        const int64_t count = m - i < rows ? m - i : rows;
        piece.left = left + i * pairs;
        if (!is_rare && i == 0)
            is_rare = piece.kept == NULL || count == m ? bf16_step_of(count, LINES_READ, &piece, ahead)
                                                       : bf16_step_of(count, LINES_KEPT, &piece, ahead);
        else if (!is_rare && piece.kept == NULL)
            (void)bf16_step_of(count, LINES_READ_AGAIN, &piece, ahead);
        else if (!is_rare)
            (void)bf16_step_of(count, LINES_TAKEN, &piece, ahead);
        if (is_rare) bf16_piece_looking(count, &piece);
    }
}

/* PAIR_LINES lines of B, of 32 columns at a time, for all rows of A. */
static void bf16_wide(const skinny_product *x)
{
    int32_t left[PAIR_LINES / 2 * FEW_ROWS_MOST];
    __m512i kept[PAIR_LINES];
    const int64_t parts = (x->m + PAIR_ROWS - 1) / PAIR_ROWS, rows = (x->m + parts - 1) / parts;
    for (int64_t first = 0; first < x->n; first += WIDE_COLUMNS) {
        const int64_t columns = x->n - first < WIDE_COLUMNS ? x->n - first : WIDE_COLUMNS;
        const bool is_below = columns < WIDE_COLUMNS / 2;
        for (int64_t p = 0; p < x->k; p += PAIR_LINES) {
            const int64_t depth = x->k - p < PAIR_LINES ? x->k - p : PAIR_LINES, at = p * x->b_k_stride + first;
            const int64_t next = x->k - p <= PAIR_LINES ? 0 : is_below ? WIDE_AHEAD : PAIR_LINES;
            bool is_rare = false;
            for (int64_t i = 0; i < x->m; i += rows)
                is_rare |= bf16_left(x, i, x->m - i < rows ? x->m - i : rows, p, depth, left + i * ((depth + 1) / 2));
            skinny_ahead ahead = ahead_of(x->b, at + next * x->b_k_stride, x->b_k_stride, columns, 16, 2, is_below);
            for (int64_t j = 0; j < columns; j += PAIR_COLUMNS) {
                if (is_below) ahead = ahead_of(x->b, at + j + next * x->b_k_stride, x->b_k_stride, 0, 16, 1, true);
                bf16_columns(x->m, rows,
                             (bf16_piece){.depth = depth,
                                          .n = columns - j,
                                          .b = (const char *)x->b + 2 * (at + j),
                                          .b_row_bytes = 2 * x->b_k_stride,
                                          .c = x->c + 4 * (first + j),
                                          .c_row_bytes = x->c_row_bytes,
                                          .adds = x->accumulate || p > 0,
                                          .kept = kept},
                             is_rare, left, &ahead);
            }
        }
    }
}

/* The columns of one panel times the elements of all rows from `p` on, which are `left`. */
static void bf16_panel(few_turns turns, const skinny_product *x, int64_t p, int64_t depth, bf16_piece piece,
                       bool is_rare, const int32_t *left)
{
    for (int64_t q = 0; q < depth; q += turns.depth, piece.b += turns.depth * piece.b_row_bytes) {
        skinny_ahead ahead = ahead_of(piece.b, FEW_AHEAD, PAIR_COLUMNS, 0, 16, 1, true);
        piece.depth = depth - q < turns.depth ? depth - q : turns.depth;
        piece.adds = x->accumulate || p + q > 0;
        bf16_columns(x->m, turns.rows, piece, is_rare, left + q / 2 * x->m, &ahead);
    }
}

/* All of C from panels of 32 columns. */
static void bf16_in_panels(const skinny_product *x, int64_t panel_stride, int32_t *left)
{
    const few_turns turns = turns_of(x->m, (x->k + 1) / 2 * 2, PAIR_ROWS, PANEL_LINES, 2);
    for (int64_t p = 0; p < x->k; p += turns.most) {
        const int64_t depth = x->k - p < turns.most ? x->k - p : turns.most;
        bool is_rare = false;
        for (int64_t q = 0; q < depth; q += turns.depth) {
            const int64_t count = depth - q < turns.depth ? depth - q : turns.depth;
            for (int64_t i = 0; i < x->m; i += turns.rows)
                is_rare |= bf16_left(x, i, x->m - i < turns.rows ? x->m - i : turns.rows, p + q, count,
                                     left + q / 2 * x->m + i * ((count + 1) / 2));
        }
        for (int64_t j = 0; j < x->n; j += PAIR_COLUMNS)
            bf16_panel(turns, x, p, depth,
                       (bf16_piece){.n = x->n - j,
                                    .b = (const char *)x->b + 2 * (j / PAIR_COLUMNS * panel_stride + p * PAIR_COLUMNS),
                                    .b_row_bytes = 2 * PAIR_COLUMNS,
                                    .c = x->c + 4 * j,
                                    .c_row_bytes = x->c_row_bytes},
                       is_rare, left);
    }
}

/* The function pto_contraction_few of bf16; runs where sums are flushed. */
static bool few_bf16(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                     const void *b, int64_t width, int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate,
                     void *scratch)
{
    const skinny_product x = {m, n, k, a, a_row_stride, a_k_stride, b, width, c, 4 * c_row_stride, accumulate};
    if (m > FEW_ROWS_MOST || width != PAIR_COLUMNS) return false;
    bf16_in_panels(&x, panel_stride, scratch);
    return true;
}

/* The same for panels that no cache holds. */
static bool few_bf16_beyond(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                            const void *b, int64_t width, int64_t panel_stride, void *c, int64_t c_row_stride,
                            bool accumulate, void *scratch)
{
    return (m <= FMA_ROWS ? kernel_few_bf16 : few_bf16)(m, n, k, a, a_row_stride, a_k_stride, b, width, panel_stride, c,
                                                        c_row_stride, accumulate, scratch);
}

/* The function pto_contraction_skinny of bf16; runs where sums are flushed. */
static bool skinny_bf16(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                        const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride,
                        bool accumulate)
{
    const skinny_product x = {m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, c, 4 * c_row_stride, accumulate};
    if (m > FEW_ROWS_MOST) return false;
    if (b_column_stride != 1) return b_k_stride == 1 && kernel_turned_bf16(&x, b_column_stride);
    if (m >= FMA_ROWS && 2 * n * k <= KEPT_BYTES) {
        bf16_wide(&x);
        return true;
    }
    if (kernel_narrow_bf16(&x)) return true;
    switch (m) {
    case 1: bf16_thin(1, &x); break;
    case 2: bf16_thin(2, &x); break;
    case 3: bf16_thin(3, &x); break;
    case 4: bf16_thin(4, &x); break;
    default: bf16_wide(&x);
    }
    return true;
}

#endif
