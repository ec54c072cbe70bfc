/* Few rows by AVX-512 and weights in panels: memory is read from its begin to its end, and what A holds is spread once
 * for all columns. For kernel_avx512*.c alone. */
#ifndef PTO_KERNEL_AVX512_FEW_H
#define PTO_KERNEL_AVX512_FEW_H

#include "kernel_avx512_skinny.h"

/* FEW_DEPTH lines of f32 or PANEL_LINES of bf16 stay in the second-level cache while parts of the rows take turns:
 * fewer would stay in the first one, but C is read and written for each so many. One part alone goes on, and asks for
 * lines FEW_AHEAD bytes early. What the second-level cache has comes into the first one NEAR_AHEAD bytes early, which
 * takes 1 to 3 % of the time away from eight rows and more. Panels beside each other are asked for BESIDE_AHEAD bytes
 * early: more was slower with four rows, where the processor itself sees what is read at several places. FEW_BESIDE of
 * them have all their sums of three rows in registers. */
enum {
    FEW_COLUMNS = 32,
    FEW_DEPTH = 1024,
    PANEL_LINES = 2048,
    FEW_AHEAD = 8192,
    NEAR_AHEAD = 2048,
    FEW_UNITS = CONTRACTION_FEW_BYTES / 4,
    FEW_BESIDE = 4,
    BESIDE_MOST = 8,
    BESIDE_AHEAD = 1024
};

/* How the rows of a product take turns, and how many elements along k are spread at a time, `unit` in four bytes. */
typedef struct few_turns {
    int64_t parts, rows, depth, most;
} few_turns;

/* Of m rows, at most `rows_most` in a turn, and k elements: `depth` of them at a time when there are several turns, all
 * that may be spread at once when there is one. */
KERNEL_INLINE few_turns turns_of(int64_t m, int64_t k, int64_t rows_most, int64_t depth, int64_t unit)
{
    const int64_t parts = (m + rows_most - 1) / rows_most, most = FEW_UNITS / m * unit / depth * depth;
    const int64_t whole = k < most ? k : most;
    return (few_turns){
        .parts = parts, .rows = (m + parts - 1) / parts, .depth = parts == 1 ? whole : depth, .most = most};
}

/* 32 columns of a line, of which those of the masks are there, as floats: those of sums[0] and of sums[1]. */
typedef struct few_line {
    __m512 of[2];
} few_line;
typedef few_line few_lines(const char *b, const __mmask16 masks[2]);

/* The first 16 columns of a line of f32, and the last 16. */
KERNEL_INLINE few_line halves_f32(const char *b, const __mmask16 masks[2])
{
    return (few_line){
        {_mm512_castsi512_ps(load_units(b, masks[0])), _mm512_castsi512_ps(load_units(b + 64, masks[1]))}};
}

/* The same of a line of f16. */
KERNEL_INLINE few_line halves_f16(const char *b, const __mmask16 masks[2])
{
    return (few_line){{_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(masks[0], b)),
                       _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(masks[1], b + 32))}};
}

/* The columns with even and those with odd numbers: that takes no shuffle. */
KERNEL_INLINE few_line turns_bf16(const char *b, const __mmask16 masks[2])
{
    const __m512i x = load_halves(b, (__mmask32)masks[1] << 16 | masks[0]);
    return (few_line){{_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)),
                       _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32((int32_t)0xffff0000)))}};
}

/* Columns beside each other become those with even and with odd numbers. */
KERNEL_INLINE void take_turns(__m512 sum[2])
{
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512 x = _mm512_permutex2var_ps(sum[0], even, sum[1]);
    sum[1] = _mm512_permutex2var_ps(sum[0], _mm512_add_epi32(even, _mm512_set1_epi32(1)), sum[1]);
    sum[0] = x;
}

/* And back. */
KERNEL_INLINE void lie_beside(__m512 sum[2])
{
    const __m512i first = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512 x = _mm512_permutex2var_ps(sum[0], first, sum[1]);
    sum[1] = _mm512_permutex2var_ps(sum[0], _mm512_add_epi32(first, _mm512_set1_epi32(8)), sum[1]);
    sum[0] = x;
}

/* What is read of B: how, whether its columns take turns, and the bytes of a line. */
typedef struct few_form {
    few_lines *lines;
    bool takes_turns;
    int64_t line_bytes;
} few_form;

/* Lines of a panel, or of up to BESIDE_MOST beside each other, times elements of A, `left`, for the columns of C of
 * which `n` are there: sums begin with those of `from` if the product `adds`, and go to `to`. With each line of some
 * panels the one `beside` bytes further is asked for; of one panel those from `ahead` on, `step` bytes apart. */
typedef struct few_piece {
    int64_t depth, n;
    const float *left;
    const char *b;
    int64_t line_bytes, panel_bytes; /* from line to line, and from panel to panel */
    uintptr_t beside, ahead, step;
    few_sums from, to;
    bool adds;
} few_piece;

/* Elements of C for one panel, before the first line of it and after the last. */
KERNEL_INLINE void few_begin(few_form form, int rows, const few_piece *x, int panel, const __mmask16 masks[2],
                             __m512 sum[MR][2])
{
    const char *const from = x->from.first + 4 * FEW_COLUMNS * panel;
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            sum[i][v] =
                x->adds ? _mm512_maskz_loadu_ps(masks[v], from + i * x->from.row_bytes + 64 * v) : _mm512_setzero_ps();
        if (form.takes_turns && x->adds) take_turns(sum[i]);
    }
}
KERNEL_INLINE void few_end(few_form form, int rows, const few_piece *x, int panel, const __mmask16 masks[2],
                           __m512 sum[MR][2])
{
    char *const to = x->to.first + 4 * FEW_COLUMNS * panel;
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
        if (form.takes_turns) lie_beside(sum[i]);
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) _mm512_mask_storeu_ps(to + i * x->to.row_bytes + 64 * v, masks[v], sum[i][v]);
    }
}

/* form, rows and panels are constants; of several panels all columns are there. */
KERNEL_INLINE void few_step(few_form form, int rows, int panels, const few_piece *x)
{
    const __mmask16 masks[2] = {panels > 1 ? 0xffff : mask_of(x->n), panels > 1 ? 0xffff : mask_of(x->n - 16)};
    const int64_t depth = x->depth, line_bytes = x->line_bytes, panel_bytes = x->panel_bytes;
    const uintptr_t beside = x->beside;
    const char *b = x->b;
    const float *left = x->left;
    uintptr_t ahead = x->ahead;
    __m512 sum[BESIDE_MOST][MR][2];
#pragma GCC unroll 8
    for (int j = 0; j < panels; j++) few_begin(form, rows, x, j, masks, sum[j]);
#pragma GCC unroll 2
    for (int64_t p = 0; p < depth; p++, b += line_bytes, left += rows, ahead += x->step) {
#pragma GCC unroll 8
        for (int j = 0; j < panels; j++) {
            const char *const from = b + j * panel_bytes;
            const few_line line = form.lines(from, masks);
#pragma GCC unroll 2
            for (int64_t q = 0; q < form.line_bytes; q += 64) {
                ask_for((panels > 1 ? (uintptr_t)from + beside : ahead) + (uintptr_t)q);
                if (panels == 1) ask_near((uintptr_t)from + NEAR_AHEAD + (uintptr_t)q);
            }
#pragma GCC unroll 14
            for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
                for (int v = 0; v < 2; v++)
                    sum[j][i][v] = _mm512_fmadd_ps(_mm512_set1_ps(left[i]), line.of[v], sum[j][i][v]);
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < panels; j++) few_end(form, rows, x, j, masks, sum[j]);
}

#define FEW_STEP_CASE(rows) \
    case rows: few_step(form, rows, 1, x); return;

/* Any number of rows up to MR. */
KERNEL_INLINE void few_step_of(few_form form, int64_t rows, const few_piece *x)
{
    switch (rows) {
        KERNEL_ROWS_1_TO_MR(FEW_STEP_CASE)
    default: return;
    }
}

#define FEW_BESIDE_CASE(rows, panels)                \
    case rows:                                       \
        if (x->n < (panels) * FEW_COLUMNS) return 0; \
        few_step(form, rows, panels, x);             \
        return panels;

/* So few rows that they are as fast as memory take some panels at a time: it is faster where it is read at several
 * places than at one. How many; 0: nothing was done, there are more rows or fewer columns. */
KERNEL_INLINE int64_t few_beside(few_form form, int64_t rows, const few_piece *x)
{
    switch (rows) {
        FEW_BESIDE_CASE(1, FEW_BESIDE)
        FEW_BESIDE_CASE(2, FEW_BESIDE)
        FEW_BESIDE_CASE(3, FEW_BESIDE)
        FEW_BESIDE_CASE(4, FEW_BESIDE - 1)
    default: return 0;
    }
}

/* The columns of one panel times `depth` elements along k of all rows. Sums that are not complete stay beside each
 * other: rows of C may be a multiple of 4 KiB apart, and then what one turn writes would have to be written before the
 * next one reads. */
KERNEL_INLINE void few_columns(few_form form, few_turns turns, int64_t m, int64_t depth, few_piece piece)
{
    float between[FEW_ROWS_MOST * FEW_COLUMNS];
    const few_sums kept = {(char *)between, 4 * FEW_COLUMNS}, c = piece.to;
    const float *const left = piece.left;
    few_sums from = piece.from;
    for (int64_t q = 0; q < depth; q += turns.depth, piece.b += turns.depth * form.line_bytes, piece.adds = true) {
        const few_sums to = depth - q > turns.depth ? kept : c;
        piece.depth = depth - q < turns.depth ? depth - q : turns.depth;
        /* One part goes on; several ask for what all of them read next, each for a share. */
        piece.step = (uintptr_t)(form.line_bytes / turns.parts);
        piece.ahead = (uintptr_t)piece.b + (uintptr_t)(turns.parts == 1 ? FEW_AHEAD : turns.depth * form.line_bytes);
        for (int64_t i = 0; i < m; i += turns.rows, piece.ahead += (uintptr_t)piece.depth * piece.step) {
            piece.left = left + q * m + i * piece.depth;
            piece.from = sums_from(from, i, 0);
            piece.to = sums_from(to, i, 0);
            few_step_of(form, m - i < turns.rows ? m - i : turns.rows, &piece);
        }
        from = to;
    }
}

/* The whole product, panel by panel, for as much of k as can be spread at a time. A panel has `panel_bytes`; `left` has
 * place for FEW_UNITS floats. */
KERNEL_INLINE void few_rows(few_left load, few_form form, const skinny_product *x, int64_t panel_bytes, float *left)
{
    const few_turns turns = turns_of(x->m, x->k, MR, FEW_DEPTH, 1);
    for (int64_t p = 0; p < x->k; p += turns.most) {
        const int64_t depth = x->k - p < turns.most ? x->k - p : turns.most;
        for (int64_t q = 0; q < depth; q += turns.depth) {
            const int64_t count = depth - q < turns.depth ? depth - q : turns.depth;
            for (int64_t i = 0; i < x->m; i += turns.rows)
                few_spread(load, x, i, x->m - i < turns.rows ? x->m - i : turns.rows, p + q, count,
                           left + q * x->m + i * count);
        }
        const few_sums c = {x->c, x->c_row_bytes};
        few_piece piece = {.depth = depth,
                           .n = x->n,
                           .left = left,
                           .b = (const char *)x->b + p * form.line_bytes,
                           .line_bytes = form.line_bytes,
                           .panel_bytes = panel_bytes,
                           .beside = BESIDE_AHEAD,
                           .from = c,
                           .to = c,
                           .adds = x->accumulate || p > 0};
        for (int64_t panels; piece.n > 0; piece.n -= panels * FEW_COLUMNS) {
            panels = few_beside(form, x->m, &piece);
            if (panels == 0) {
                few_columns(form, turns, x->m, depth, piece);
                panels = 1;
            }
            piece.b += panels * panel_bytes;
            piece.from.first += 4 * FEW_COLUMNS * panels;
            piece.to.first += 4 * FEW_COLUMNS * panels;
        }
    }
}

/* A function pto_contraction_few of floats, `static` or `extern`: load_LOAD reads elements of A, LINES lines of B, of
 * so many bytes, whose columns take turns or not. Not inlined: it may run in another mode of rounding. */
#define KERNEL_FEW_OF_FLOATS(linkage, name, load_of_a, lines_of_b, turns, bytes)                                    \
    __attribute__((noinline)) linkage bool name(                                                                    \
        int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride, const void *b,    \
        int64_t width, int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate, void *scratch)         \
    {                                                                                                               \
        const few_form form = {.lines = lines_of_b, .takes_turns = turns, .line_bytes = bytes};                     \
        const skinny_product x = {m, n, k, a, a_row_stride, a_k_stride, b, width, c, 4 * c_row_stride, accumulate}; \
        if (m > FEW_ROWS_MOST || width != FEW_COLUMNS) return false;                                                \
        few_rows((few_left){load_##load_of_a, along_##load_of_a}, form, &x, panel_stride *((bytes) / FEW_COLUMNS),  \
                 scratch);                                                                                          \
        return true;                                                                                                \
    }                                                                                                               \
    _Static_assert(FEW_UNITS / FEW_ROWS_MOST >= (FEW_DEPTH > PANEL_LINES / 2 ? FEW_DEPTH : PANEL_LINES / 2),        \
                   "a part of k is spread at a time")

#endif
