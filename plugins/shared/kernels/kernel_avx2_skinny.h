/* Few rows by AVX2: B is read once, as it lies. What the next lines of B will be is asked for early: lines of one
 * column are far apart, which processors do not foresee. */
#ifndef PTO_KERNEL_AVX2_SKINNY_H
#define PTO_KERNEL_AVX2_SKINNY_H

#include "kernel_avx2.h"
#include "kernel_skinny.h"

/* Up to THIN_ROWS rows memory is what takes time: lines are short pieces of few rows of B, which is how it is read
 * fastest. For more, WIDE_DEPTH units of 16 columns at a time are kept in the first-level cache. */
enum {
    FEW_ROWS_MOST = 28,
    THIN_ROWS = 4,
    THIN_LINES = 8,
    THIN_GROUPS = 4, /* of 16 columns */
    WIDE_DEPTH = 64,
    WIDE_COLUMNS = 512,
    AHEAD_BYTES = 512, /* along a row */
    SHORT_BYTES = 8192,
    SHORT_AHEAD = 8192
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

/* A piece of a product: lines of B from element `at` on times units of A, `left`, for 16 columns of C. `asked`: the
 * first line that is asked for; `step`: bytes from row to row of B. */
typedef struct skinny_piece {
    const int32_t *left;
    const void *b;
    int64_t at, b_k_stride;
    char *c;
    int64_t c_row_bytes;
    bool adds;
    uintptr_t asked, step;
} skinny_piece;

/* For 16 * groups columns. rows and groups are constants, and except for the last columns and lines so are n, depth and
 * k_left. */
KERNEL_INLINE void thin_step(skinny_form form, int rows, int groups, const skinny_piece *x, int64_t n, int64_t depth,
                             int64_t k_left)
{
    const int has_lines = groups * NR * form.bits >= 512;
    __m256i sum[THIN_ROWS][THIN_GROUPS][2];
    int64_t at = x->at;
    uintptr_t asked = x->asked;
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int g = 0; g < groups; g++) {
            const char *const c = x->c + i * x->c_row_bytes + 64 * g;
#pragma GCC unroll 2
            for (int v = 0; v < 2; v++)
                sum[i][g][v] = x->adds ? load_units(c + 32 * v, n - NR * g - 8 * v) : _mm256_setzero_si256();
            if (form.turns) turn_quarters(sum[i][g]);
        }
#pragma GCC unroll 8
    for (int64_t q = 0; q < depth; q++, at += form.group * x->b_k_stride, asked += (uintptr_t)form.group * x->step)
#pragma GCC unroll 4
        for (int g = 0; g < groups; g++) {
            __m256i line[2];
            form.lines(x->b, at + NR * g, x->b_k_stride, k_left - q * form.group, n - NR * g, line);
            const uintptr_t line_asked = asked + (uintptr_t)(2 * form.bits * g);
            if (g * NR * form.bits % 512 == 0) ask_for(line_asked);
            if (g * NR * form.bits % 512 == 0 && has_lines && form.group == 2) ask_for(line_asked + x->step);
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++) {
                const __m256i left = _mm256_set1_epi32(x->left[q * rows + i]);
                sum[i][g][0] = form.step(sum[i][g][0], left, line[0]);
                sum[i][g][1] = form.step(sum[i][g][1], left, line[1]);
            }
        }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int g = 0; g < groups; g++) {
            if (form.turns) turn_quarters(sum[i][g]);
#pragma GCC unroll 2
            for (int v = 0; v < 2; v++)
                store_units(x->c + i * x->c_row_bytes + 64 * g + 32 * v, sum[i][g][v], n - NR * g - 8 * v);
        }
}

/* Where the lines begin that are asked for with a piece of column j: further along the same rows, or along those that
 * come `rows` later; where so many rows are short, the same columns of those that come SHORT_AHEAD bytes later. */
KERNEL_INLINE uintptr_t asked_of(const skinny_product *x, int bits, int64_t p, int64_t j, int64_t rows)
{
    const int64_t bytes = rows * x->n * bits / 8, later = j + AHEAD_BYTES * 8 / bits, wraps = later >= x->n;
    const int64_t short_line = p + (SHORT_AHEAD / bytes + 1) * rows, line = p + (wraps ? rows : 0);
    const int64_t at =
        bytes <= SHORT_BYTES ? short_line * x->b_k_stride + j : line * x->b_k_stride + later - (wraps ? x->n : 0);
    return (uintptr_t)x->b + (uintptr_t)(at * bits / 8);
}

/* The piece of column j, from line p on. Where it is less than a line of the cache, the pieces of one ask for lines of
 * different rows. */
KERNEL_INLINE skinny_piece piece_of(skinny_form form, const skinny_product *x, const int32_t *left, int64_t p,
                                    int64_t j, int64_t columns, int64_t rows)
{
    const int64_t line_columns = 512 / form.bits, row = columns < line_columns ? j % line_columns / NR % form.group : 0;
    return (skinny_piece){.left = left,
                          .b = x->b,
                          .at = p * x->b_k_stride + j,
                          .b_k_stride = x->b_k_stride,
                          .c = x->c + 4 * j,
                          .c_row_bytes = x->c_row_bytes,
                          .adds = x->accumulate || p > 0,
                          .asked = asked_of(x, form.bits, p + row, j, rows),
                          .step = (uintptr_t)(x->b_k_stride * form.bits / 8)};
}

/* Few lines of B at a time, for all columns; rows and groups are constants. */
KERNEL_INLINE void skinny_thin(skinny_form form, int rows, int groups, kernel_unit *unit, const skinny_product *x)
{
    int32_t left[THIN_LINES * THIN_ROWS];
    const int64_t most = THIN_LINES / form.group, columns = groups * NR;
    for (int64_t p = 0; p < x->k; p += THIN_LINES) {
        const int64_t k_left = x->k - p, depth = k_left < THIN_LINES ? (k_left + form.group - 1) / form.group : most;
        int64_t j = 0;
        for (int64_t q = 0; q < depth; q++)
            for (int64_t i = 0; i < rows; i++)
                left[q * rows + i] = unit(x->a, i * x->a_row_stride + (p + q * form.group) * x->a_k_stride,
                                          x->a_k_stride, k_left - q * form.group);
        for (; k_left >= THIN_LINES && x->n - j >= columns; j += columns) {
            const skinny_piece piece = piece_of(form, x, left, p, j, columns, THIN_LINES);
            thin_step(form, rows, groups, &piece, columns, most, THIN_LINES);
        }
        for (; j < x->n; j += NR) {
            const skinny_piece piece = piece_of(form, x, left, p, j, NR, THIN_LINES);
            thin_step(form, rows, 1, &piece, x->n - j, depth, k_left);
        }
    }
}

/* Units of 16 columns become a panel; except for the last columns n and k_left are constants. */
KERNEL_INLINE void keep_lines(skinny_form form, const skinny_piece *x, int64_t n, int64_t depth, int64_t k_left,
                              int32_t *kept)
{
    int64_t at = x->at;
    for (int64_t q = 0; q < depth; q++, at += form.group * x->b_k_stride, kept += NR) {
        __m256i line[2];
        form.lines(x->b, at, x->b_k_stride, k_left - q * form.group, n, line);
        if (form.turns) turn_quarters(line);
        _mm256_store_si256((void *)kept, line[0]);
        _mm256_store_si256((void *)(kept + 8), line[1]);
    }
}

/* Asks for the lines from number `begin` on. */
KERNEL_INLINE void ask_lines(skinny_form form, const skinny_piece *x, int64_t begin, int64_t end)
{
    const uintptr_t step = (uintptr_t)form.group * x->step;
    for (int64_t q = begin; q < end; q++) ask_for(x->asked + (uintptr_t)q * step);
}

/* WIDE_DEPTH lines of 16 columns for all rows of A. Each part of the rows asks for a part of the lines, no more than
 * are on their way at once. */
KERNEL_INLINE void wide_columns(skinny_form form, pto_contraction_micro *micro, const skinny_piece *x, int64_t m,
                                int64_t n, int64_t depth, int64_t k_left)
{
    _Alignas(64) int32_t kept[WIDE_DEPTH * NR];
    const int64_t share = (depth * MR + m - 1) / m;
    if (n >= NR && k_left >= depth * form.group)
        keep_lines(form, x, NR, depth, WIDE_DEPTH * form.group, kept);
    else
        keep_lines(form, x, n, depth, k_left, kept);
    for (int64_t i = 0, q = 0; i < m; i += MR, q += share) {
        ask_lines(form, x, q, q + share < depth ? q + share : depth);
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
    const int64_t step = WIDE_DEPTH * form.group;
    for (int64_t first = 0; first < all->n; first += WIDE_COLUMNS) {
        skinny_product x = *all;
        x.n = all->n - first < WIDE_COLUMNS ? all->n - first : WIDE_COLUMNS;
        x.b = (const char *)all->b + first * form.bits / 8;
        x.c = all->c + 4 * first;
        for (int64_t p = 0; p < x.k; p += step) {
            const int64_t k_left = x.k - p < step ? x.k - p : step, depth = (k_left + form.group - 1) / form.group;
            pack(x.m, k_left, x.a, p * x.a_k_stride, x.a_row_stride, x.a_k_stride, left, 4 * PANEL_UNITS);
            for (int64_t j = 0; j < x.n; j += NR) {
                const skinny_piece piece = piece_of(form, &x, left, p, j, NR, step);
                wide_columns(form, micro, &piece, x.m, x.n - j, depth, k_left);
            }
        }
    }
}

/* ---- columns that go upwards along k: rows of B are turned in registers ---- */

enum { TURNED_ROWS = 4, TURNED_VECTORS = 4, TURNED_MOST = 8 };

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
    skinny_along ahead = along_of(first, bytes, column);
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
        const turned_part part = turned_part_at(x, column_stride, p, left);
        int64_t j = 0;
        skinny_left(load, x, 0, rows, p, part.depth, left);
        for (; j + 8 * vectors <= x->n; j += 8 * vectors) turned_columns(turn, load, rows, vectors, bits, &part, j, 0);
        for (; j + 8 <= x->n; j += 8) turned_columns(turn, load, rows, 1, bits, &part, j, 0);
        /* The last ones with some that are done, which stay as they are. */
        if (j < x->n) turned_columns(turn, load, rows, 1, bits, &part, x->n - 8, j - x->n + 8);
    }
}

/* One row or two: 32 columns at a time, or 16 where they are so far apart that they share a set of the first-level
 * cache. */
KERNEL_INLINE void turned_few(kernel_turn turn, kernel_element load, int rows, int bits, const skinny_product *x,
                              int64_t column_stride)
{
    enum { SET_APART = 4096 };
    if (column_stride * bits / 8 % SET_APART == 0)
        turned_rows(turn, load, rows, TURNED_VECTORS / 2, bits, x, column_stride);
    else
        turned_rows(turn, load, rows, TURNED_VECTORS, bits, x, column_stride);
}

/* A function that computes C, or returns false where there are too many rows or too few columns. */
#define KERNEL_TURNED(name, turn, load, bits)                                                  \
    __attribute__((noinline)) static bool name(const skinny_product *x, int64_t column_stride) \
    {                                                                                          \
        if (x->n < 8) return false;                                                            \
        switch (x->m) {                                                                        \
        case 1: turned_few(turn, load, 1, bits, x, column_stride); return true;                \
        case 2: turned_few(turn, load, 2, bits, x, column_stride); return true;                \
        case 3: turned_rows(turn, load, 3, 2, bits, x, column_stride); return true;            \
        case 4: turned_rows(turn, load, 4, 2, bits, x, column_stride); return true;            \
        default: return false;                                                                 \
        }                                                                                      \
    }                                                                                          \
    _Static_assert(TURNED_ROWS == 4 && (bits) > 0, "cases")

/* With eight sums in registers, or six. */
#define KERNEL_THIN_CASE(rows) \
    case rows: skinny_thin(form, rows, THIN_GROUPS / (rows), unit, x); break;

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
