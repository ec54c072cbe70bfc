/* Few rows by AVX2: B is read once, as it lies. What the next lines of B will be is asked for early: lines of one
 * column are far apart, which processors do not foresee. */
#ifndef PTO_KERNEL_AVX2_SKINNY_H
#define PTO_KERNEL_AVX2_SKINNY_H

#include "kernel_avx2.h"
#include "kernel_skinny.h"

/* Up to THIN_ROWS rows memory is what takes time: lines are short pieces of few rows of B, which is how it is read
 * fastest. More rows go over WIDE_DEPTH lines of 16 columns, which the first of them keep for the others. Depths count
 * units. */
enum {
    FEW_ROWS_MOST = 28,
    THIN_ROWS = 4,
    THIN_LINES = 8,
    WIDE_DEPTH = 64,
    WIDE_COLUMNS = 512,
    AHEAD_BYTES = 512 /* along a row */
};

/* Units of 16 columns from element `at` of B on, of which n are there, and k_left elements along k: two vectors, of
 * which a form may exchange the second quarters. */
typedef void kernel_lines(const void *b, int64_t at, int64_t k_stride, int64_t k_left, int64_t n, __m256i line[2]);

/* The unit of A at element `at`, of which k_left elements along k are there. */
typedef int32_t kernel_unit(const void *a, int64_t at, int64_t k_stride, int64_t k_left);

/* How B is read: elements of a unit along k, bits of one, and whether second quarters are exchanged. */
typedef struct skinny_form {
    kernel_lines *lines;
    kernel_step *step;
    int group, bits;
    bool turns;
} skinny_form;

/* The second quarter of x[0] and the first of x[1] take each other's place. */
KERNEL_INLINE void turn_quarters(__m256i x[2])
{
    const __m256i low = _mm256_permute2x128_si256(x[0], x[1], 0x20);
    x[1] = _mm256_permute2x128_si256(x[0], x[1], 0x31);
    x[0] = low;
}

/* A piece of a product: lines of B from element `at` on times units of A, `left`, for 16 columns of C. `asked` and
 * `step`: the first line that the thin form asks for, and how many bytes further the next one is. */
typedef struct skinny_piece {
    const int32_t *left;
    const void *b;
    int64_t at, b_k_stride;
    char *c;
    int64_t c_row_bytes;
    bool adds;
    uintptr_t asked, step;
} skinny_piece;

/* rows is a constant, and but for the last columns and the last lines so are n, depth and k_left. */
KERNEL_INLINE void thin_step(skinny_form form, int rows, const skinny_piece *x, int64_t n, int64_t depth,
                             int64_t k_left)
{
    __m256i sum[THIN_ROWS][2], line[2];
    int64_t at = x->at;
    uintptr_t asked = x->asked;
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            sum[i][v] = x->adds ? load_units(x->c + i * x->c_row_bytes + 32 * v, n - 8 * v) : _mm256_setzero_si256();
        if (form.turns) turn_quarters(sum[i]);
    }
#pragma GCC unroll 8
    for (int64_t q = 0; q < depth; q++, at += form.group * x->b_k_stride, asked += x->step) {
        form.lines(x->b, at, x->b_k_stride, k_left - q * form.group, n, line);
        ask_for(asked);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            const __m256i left = _mm256_set1_epi32(x->left[q * rows + i]);
            sum[i][0] = form.step(sum[i][0], left, line[0]);
            sum[i][1] = form.step(sum[i][1], left, line[1]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        if (form.turns) turn_quarters(sum[i]);
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) store_units(x->c + i * x->c_row_bytes + 32 * v, sum[i][v], n - 8 * v);
    }
}

/* Where the lines begin that are asked for with a piece of column j: further along the same rows, or along those that
 * come `rows` later. */
KERNEL_INLINE uintptr_t asked_of(const skinny_product *x, int bits, int64_t p, int64_t j, int64_t rows)
{
    const int64_t later = j + AHEAD_BYTES * 8 / bits, wraps = later >= x->n;
    return (uintptr_t)x->b +
           (uintptr_t)(((p + (wraps ? rows : 0)) * x->b_k_stride + later - (wraps ? x->n : 0)) * bits / 8);
}

/* Few lines of B at a time, for all columns; rows is a constant. */
KERNEL_INLINE void skinny_thin(skinny_form form, int rows, kernel_unit *unit, const skinny_product *x)
{
    int32_t left[THIN_LINES * THIN_ROWS];
    const int64_t most = THIN_LINES / form.group, line_columns = 512 / form.bits;
    for (int64_t p = 0; p < x->k; p += THIN_LINES) {
        const int64_t k_left = x->k - p, depth = k_left < THIN_LINES ? (k_left + form.group - 1) / form.group : most;
        for (int64_t q = 0; q < depth; q++)
            for (int64_t i = 0; i < rows; i++)
                left[q * rows + i] = unit(x->a, i * x->a_row_stride + (p + q * form.group) * x->a_k_stride,
                                          x->a_k_stride, k_left - q * form.group);
        for (int64_t j = 0; j < x->n; j += NR) {
            /* Pieces of one line of the cache ask for lines of different rows. */
            const int64_t row = p + (j % line_columns / NR) % form.group;
            const skinny_piece piece = {.left = left,
                                        .b = x->b,
                                        .at = p * x->b_k_stride + j,
                                        .b_k_stride = x->b_k_stride,
                                        .c = x->c + 4 * j,
                                        .c_row_bytes = x->c_row_bytes,
                                        .adds = x->accumulate || p > 0,
                                        .asked = asked_of(x, form.bits, row, j, THIN_LINES),
                                        .step = (uintptr_t)(form.group * x->b_k_stride * form.bits / 8)};
            if (k_left >= THIN_LINES && x->n - j >= NR)
                thin_step(form, rows, &piece, NR, most, THIN_LINES);
            else
                thin_step(form, rows, &piece, x->n - j, depth, k_left);
        }
    }
}

/* The first rows of A, a constant number; keeps the lines in the order of a panel. But for the last columns n is a
 * constant. */
KERNEL_INLINE void wide_step(skinny_form form, int rows, const skinny_piece *x, int64_t n, int64_t depth,
                             int64_t k_left, int32_t *kept)
{
    __m256i sum[MR][2], line[2];
    const int32_t *left = x->left;
    int64_t at = x->at;
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            sum[i][v] = x->adds ? load_units(x->c + i * x->c_row_bytes + 32 * v, n - 8 * v) : _mm256_setzero_si256();
    for (int64_t q = 0; q < depth; q++, at += form.group * x->b_k_stride, left += MR, kept += NR) {
        form.lines(x->b, at, x->b_k_stride, k_left - q * form.group, n, line);
        if (form.turns) turn_quarters(line);
        _mm256_store_si256((void *)kept, line[0]);
        _mm256_store_si256((void *)(kept + 8), line[1]);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            const __m256i a = _mm256_set1_epi32(left[i]);
            sum[i][0] = form.step(sum[i][0], a, line[0]);
            sum[i][1] = form.step(sum[i][1], a, line[1]);
        }
    }
    if (n > 8)
        store_sums(rows, 2, x->c, x->c_row_bytes, n - 8, sum);
    else
        store_sums(rows, 1, x->c, x->c_row_bytes, n, sum);
}

/* Asks for the lines from number `begin` on. */
KERNEL_INLINE void ask_lines(const skinny_piece *x, int64_t begin, int64_t end)
{
    for (int64_t q = begin; q < end; q++) ask_for(x->asked + (uintptr_t)q * x->step);
}

/* WIDE_DEPTH lines of 16 columns for all rows of A; m is above THIN_ROWS. Each part of the rows asks for a part of the
 * lines: so many at once as are on their way beside each other. */
KERNEL_INLINE void wide_columns(skinny_form form, pto_contraction_micro *micro, const skinny_piece *x, int64_t m,
                                int64_t n, int64_t depth, int64_t k_left)
{
    _Alignas(64) int32_t kept[WIDE_DEPTH * NR];
    const int64_t share = (depth * MR + m - 1) / m;
    ask_lines(x, 0, share < depth ? share : depth);
    if (m < MR)
        wide_step(form, MR - 1, x, n, depth, k_left, kept);
    else if (n >= NR && k_left >= depth * form.group)
        wide_step(form, MR, x, NR, depth, WIDE_DEPTH * form.group, kept);
    else
        wide_step(form, MR, x, n, depth, k_left, kept);
    for (int64_t i = MR, q = share; i < m; i += MR, q += share) {
        ask_lines(x, q, q + share < depth ? q + share : depth);
        micro(depth * form.group, x->left + i * WIDE_DEPTH, kept, x->c + i * x->c_row_bytes, x->c_row_bytes / 4,
              m - i < MR ? m - i : MR, n < NR ? n : NR, x->adds);
    }
}

/* WIDE_DEPTH lines at a time, of some columns, so that their sums stay in the second-level cache while B passes. */
KERNEL_INLINE void skinny_wide(skinny_form form, pto_contraction_pack *pack, pto_contraction_micro *micro,
                               const skinny_product *all)
{
    enum { PANEL_UNITS = MR * WIDE_DEPTH, PANELS = (FEW_ROWS_MOST + MR - 1) / MR };
    _Alignas(64) int32_t left[PANELS * PANEL_UNITS];
    const int64_t step = WIDE_DEPTH * form.group, line_columns = 512 / form.bits;
    for (int64_t first = 0; first < all->n; first += WIDE_COLUMNS) {
        skinny_product x = *all;
        x.n = all->n - first < WIDE_COLUMNS ? all->n - first : WIDE_COLUMNS;
        x.b = (const char *)all->b + first * form.bits / 8;
        x.c = all->c + 4 * first;
        for (int64_t p = 0; p < x.k; p += step) {
            const int64_t k_left = x.k - p < step ? x.k - p : step, depth = (k_left + form.group - 1) / form.group;
            pack(x.m, k_left, x.a, p * x.a_k_stride, x.a_row_stride, x.a_k_stride, left, 4 * PANEL_UNITS);
            for (int64_t j = 0; j < x.n; j += NR) {
                const int64_t row = p + (j % line_columns / NR) % form.group;
                const skinny_piece piece = {.left = left,
                                            .b = x.b,
                                            .at = p * x.b_k_stride + j,
                                            .b_k_stride = x.b_k_stride,
                                            .c = x.c + 4 * j,
                                            .c_row_bytes = x.c_row_bytes,
                                            .adds = x.accumulate || p > 0,
                                            .asked = asked_of(&x, form.bits, row, j, step),
                                            .step = (uintptr_t)(form.group * x.b_k_stride * form.bits / 8)};
                wide_columns(form, micro, &piece, x.m, x.n - j, depth, k_left);
            }
        }
    }
}

/* ---- columns that go upwards along k: rows of B are turned in registers ---- */

enum { TURNED_ROWS = 4, TURNED_VECTORS = 4, TURNED_DEPTH = 512, TURNED_MOST = 8 };

/* Elements `at` .. of eight columns, as many as TURN says: a vector for each k. */
typedef void kernel_turn(const void *b, int64_t at, int64_t column_stride, __m256 out[TURNED_MOST]);

/* Four units of each of eight columns of four bytes become columns. */
KERNEL_INLINE void turn_units(const char *b, int64_t column_bytes, __m256i out[4])
{
    __m256i x[4], t[4];
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        const void *const low = b + c * column_bytes, *const high = b + (c + 4) * column_bytes;
        x[c] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
    }
    t[0] = _mm256_unpacklo_epi32(x[0], x[1]);
    t[1] = _mm256_unpackhi_epi32(x[0], x[1]);
    t[2] = _mm256_unpacklo_epi32(x[2], x[3]);
    t[3] = _mm256_unpackhi_epi32(x[2], x[3]);
    out[0] = _mm256_unpacklo_epi64(t[0], t[2]);
    out[1] = _mm256_unpackhi_epi64(t[0], t[2]);
    out[2] = _mm256_unpacklo_epi64(t[1], t[3]);
    out[3] = _mm256_unpackhi_epi64(t[1], t[3]);
}

/* Of 8 * vectors columns of B some lines, from the one that is asked for next on. */
typedef struct turned_ahead {
    uintptr_t at, end, bytes, stride; /* end of a column, bytes of one, from column to column */
} turned_ahead;

/* Asks for a line, of the next column where one ends. */
KERNEL_INLINE void ask_along(turned_ahead *x)
{
    ask_for(x->at);
    x->at += 64;
    if (x->at < x->end) return;
    x->at = x->end - x->bytes + x->stride;
    x->end += x->stride;
}

/* A product whose B has its columns along k, or a part of it: `depth` elements of k from p on. */
typedef struct turned_part {
    const skinny_product *x;
    int64_t column_stride, p, depth;
    const float *left; /* those of one k beside each other */
} turned_part;

/* 8 * vectors columns from j on, of which the first `skipped` are not written; rows, vectors and turned are constants:
 * so many k are turned at a time. */
KERNEL_INLINE void turned_columns(kernel_turn turn, kernel_element load, int rows, int vectors, int bits,
                                  const turned_part *part, int64_t j, int64_t skipped)
{
    const skinny_product *const x = part->x;
    const int turned = 128 / bits;
    const int64_t stride = part->column_stride, whole = part->depth / turned * turned;
    const bool adds = x->accumulate || part->p > 0;
    const uintptr_t bytes = (uintptr_t)(part->depth * bits / 8), next = (uintptr_t)(j + 8 * vectors);
    const uintptr_t column = (uintptr_t)(stride * bits / 8);
    const uintptr_t first = (uintptr_t)x->b + next * column + (uintptr_t)(part->p * bits / 8);
    turned_ahead ahead = {first, first + bytes, bytes, column};
    const float *left = part->left;
    __m256 sum[TURNED_ROWS][TURNED_VECTORS], line[TURNED_MOST];
    char *const c = x->c + 4 * j;
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sum[i][v] = adds ? _mm256_loadu_ps((const void *)(c + i * x->c_row_bytes + 32 * v)) : _mm256_setzero_ps();
    for (int64_t p = 0; p < whole; p += turned, left += turned * rows)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            turn(x->b, (j + 8 * v) * stride + part->p + p, stride, line);
            ask_along(&ahead);
            ask_along(&ahead);
#pragma GCC unroll 8
            for (int t = 0; t < turned; t++)
#pragma GCC unroll 4
                for (int i = 0; i < rows; i++)
                    sum[i][v] = _mm256_fmadd_ps(_mm256_set1_ps(left[t * rows + i]), line[t], sum[i][v]);
        }
    for (int64_t p = whole; p < part->depth; p++, left += rows)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            float beside[8];
            for (int l = 0; l < 8; l++) beside[l] = load(x->b, (j + 8 * v + l) * stride + part->p + p);
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++)
                sum[i][v] = _mm256_fmadd_ps(_mm256_set1_ps(left[i]), _mm256_loadu_ps(beside), sum[i][v]);
        }
    for (int i = 0; i < rows && skipped > 0; i++) {
        float beside[8];
        _mm256_storeu_ps(beside, sum[i][0]);
        memcpy(c + i * x->c_row_bytes + 4 * skipped, beside + skipped, (size_t)(4 * (8 - skipped)));
    }
    if (skipped > 0) return;
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) _mm256_storeu_ps((void *)(c + i * x->c_row_bytes + 32 * v), sum[i][v]);
}

/* rows and vectors are constants; n is at least 8. */
KERNEL_INLINE void turned_rows(kernel_turn turn, kernel_element load, int rows, int vectors, int bits,
                               const skinny_product *x, int64_t column_stride)
{
    float left[TURNED_DEPTH * TURNED_ROWS];
    for (int64_t p = 0; p < x->k; p += TURNED_DEPTH) {
        const turned_part part = {.x = x,
                                  .column_stride = column_stride,
                                  .p = p,
                                  .depth = x->k - p < TURNED_DEPTH ? x->k - p : TURNED_DEPTH,
                                  .left = left};
        int64_t j = 0;
        skinny_left(load, x, 0, rows, p, part.depth, left);
        for (; j + 8 * vectors <= x->n; j += 8 * vectors) turned_columns(turn, load, rows, vectors, bits, &part, j, 0);
        for (; j + 8 <= x->n; j += 8) turned_columns(turn, load, rows, 1, bits, &part, j, 0);
        /* The last ones with some that are done, which stay as they are. */
        if (j < x->n) turned_columns(turn, load, rows, 1, bits, &part, x->n - 8, j - x->n + 8);
    }
}

/* A function that computes C, or returns false where there are too many rows or too few columns. */
#define KERNEL_TURNED(name, turn, load, bits)                                                  \
    __attribute__((noinline)) static bool name(const skinny_product *x, int64_t column_stride) \
    {                                                                                          \
        if (x->n < 8) return false;                                                            \
        switch (x->m) {                                                                        \
        case 1: turned_rows(turn, load, 1, 4, bits, x, column_stride); return true;            \
        case 2: turned_rows(turn, load, 2, 4, bits, x, column_stride); return true;            \
        case 3: turned_rows(turn, load, 3, 2, bits, x, column_stride); return true;            \
        case 4: turned_rows(turn, load, 4, 2, bits, x, column_stride); return true;            \
        default: return false;                                                                 \
        }                                                                                      \
    }                                                                                          \
    _Static_assert(TURNED_ROWS == 4 && (bits) > 0, "cases")

#define KERNEL_THIN_CASE(rows) \
    case rows: skinny_thin(form, rows, unit, x); break;

/* A function for all types of A that have the same units: UNIT reads these, PACK packs them. */
#define KERNEL_FEW(name, micro, ...)                                                                                   \
    __attribute__((noinline)) static void name(const skinny_product *x, kernel_unit *unit, pto_contraction_pack *pack) \
    {                                                                                                                  \
        const skinny_form form = {__VA_ARGS__};                                                                        \
        switch (x->m) {                                                                                                \
            KERNEL_THIN_CASE(1)                                                                                        \
            KERNEL_THIN_CASE(2) KERNEL_THIN_CASE(3) KERNEL_THIN_CASE(4) default : skinny_wide(form, pack, micro, x);   \
        }                                                                                                              \
    }                                                                                                                  \
    _Static_assert(THIN_ROWS == 4, "cases")

/* A function pto_contraction_skinny by one of these; TURNED is for columns that go upwards along k. */
#define KERNEL_SKINNY(name, few, unit, pack, turned)                                                            \
    static bool name(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,  \
                     const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride, \
                     bool accumulate)                                                                           \
    {                                                                                                           \
        const skinny_product x = {                                                                              \
            m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, c, 4 * c_row_stride, accumulate};              \
        if (m > FEW_ROWS_MOST) return false;                                                                    \
        if (b_column_stride != 1) return b_k_stride == 1 && turned(&x, b_column_stride);                        \
        few(&x, unit, pack);                                                                                    \
        return true;                                                                                            \
    }                                                                                                           \
    _Static_assert(FEW_ROWS_MOST > THIN_ROWS, "rows")

#endif
