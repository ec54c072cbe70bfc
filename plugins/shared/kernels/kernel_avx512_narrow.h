/* Few rows by AVX-512 and a B whose rows are short, as those of values are in attention: all sums are in registers, and
 * B is read as it lies, from its begin to its end. For kernel_avx512.c alone. */
#ifndef PTO_KERNEL_AVX512_NARROW_H
#define PTO_KERNEL_AVX512_NARROW_H

#include "kernel_avx512_few.h"

/* NARROW_DEPTH elements along k of A are spread at a time; a line of B is asked for NARROW_AHEAD bytes early. */
enum { NARROW_ROWS = 4, NARROW_DEPTH = 512, NARROW_AHEAD = 1024 };

/* Rows in up to TWICE_BYTES are halved where sums of all columns do not fit, a part of TWICE_DEPTH lines after the
 * other: both halves of a line are in the first-level cache. Longer ones are slower so than in short pieces. */
enum { TWICE_BYTES = 256, TWICE_DEPTH = 64 };

#define NARROW_CASE(rows, panels) \
    case 16 * (rows) + (panels): few_step(form, rows, panels, x); return;

/* How many panels of 32 columns have their sums in registers: those that have a case below. */
KERNEL_INLINE int64_t narrow_most(int64_t rows)
{
    static const int8_t most[] = {0, 8, 6, 4, 3};
    return rows > NARROW_ROWS ? 0 : most[rows];
}

/* few_step() with so many rows and panels. */
KERNEL_INLINE void narrow_step(few_form form, int64_t rows, int64_t panels, const few_piece *x)
{
    switch (16 * rows + panels) {
        NARROW_CASE(1, 1)
        NARROW_CASE(1, 2)
        NARROW_CASE(1, 3)
        NARROW_CASE(1, 4)
        NARROW_CASE(1, 5)
        NARROW_CASE(1, 6)
        NARROW_CASE(1, 7)
        NARROW_CASE(1, 8)
        NARROW_CASE(2, 1)
        NARROW_CASE(2, 2)
        NARROW_CASE(2, 3)
        NARROW_CASE(2, 4)
        NARROW_CASE(2, 5)
        NARROW_CASE(2, 6)
        NARROW_CASE(3, 1)
        NARROW_CASE(3, 2)
        NARROW_CASE(3, 3)
        NARROW_CASE(3, 4)
        NARROW_CASE(4, 1)
        NARROW_CASE(4, 2)
        NARROW_CASE(4, 3)
    default: return;
    }
}

/* How many panels are multiplied at a time; 0: rows of B are too long. */
KERNEL_INLINE int64_t narrow_panels(few_form form, int64_t rows, int64_t n)
{
    const int64_t most = narrow_most(rows), panels = (n + FEW_COLUMNS - 1) / FEW_COLUMNS;
    if (panels <= most) return panels;
    return panels <= 2 * most && panels * form.line_bytes <= TWICE_BYTES ? (panels + 1) / 2 : 0;
}

/* From a line to the one that is asked for with it, in whole lines, which may be apart: of halves the one of the next
 * part, else that which is NARROW_AHEAD bytes of lines away. */
KERNEL_INLINE uintptr_t narrow_ahead(few_form form, bool is_whole, int64_t n, int64_t line_bytes)
{
    const int64_t lines = is_whole ? NARROW_AHEAD * FEW_COLUMNS / (n * form.line_bytes) : TWICE_DEPTH;
    return (uintptr_t)((lines > 1 ? lines : 1) * line_bytes);
}

/* Returns false, and does nothing, where there are more rows or longer ones of B. */
KERNEL_INLINE bool few_narrow(few_left load, few_form form, const skinny_product *x)
{
    float left[NARROW_DEPTH * NARROW_ROWS];
    const int64_t most = narrow_panels(form, x->m, x->n), line_bytes = x->b_k_stride * form.line_bytes / FEW_COLUMNS;
    const bool is_whole = most * FEW_COLUMNS == x->n;
    const int64_t step = is_whole ? NARROW_DEPTH : TWICE_DEPTH;
    if (most == 0) return false;
    for (int64_t p = 0; p < x->k; p += step) {
        const few_sums c = {x->c, x->c_row_bytes};
        few_piece piece = {.depth = x->k - p < step ? x->k - p : step,
                           .n = x->n,
                           .left = left,
                           .b = (const char *)x->b + p * line_bytes,
                           .line_bytes = line_bytes,
                           .panel_bytes = form.line_bytes,
                           .beside = narrow_ahead(form, is_whole, x->n, line_bytes),
                           .step = (uintptr_t)line_bytes,
                           .from = c,
                           .to = c,
                           .adds = x->accumulate || p > 0};
        few_spread(load, x, 0, x->m, p, piece.depth, left);
        /* The last columns, which are not a panel, are by themselves. */
        for (int64_t panels; piece.n > 0; piece.n -= panels * FEW_COLUMNS) {
            const int64_t full = piece.n / FEW_COLUMNS;
            panels = full > most ? most : full < 1 ? 1 : full;
            piece.ahead = (uintptr_t)piece.b + piece.beside;
            narrow_step(form, x->m, panels, &piece);
            piece.b += panels * form.line_bytes;
            piece.from.first += 4 * FEW_COLUMNS * panels;
            piece.to.first += 4 * FEW_COLUMNS * panels;
        }
    }
    return true;
}

/* A function that computes C, or returns false; `static` or `extern`, with what KERNEL_FEW_OF_FLOATS takes. Not
 * inlined: it may run in another mode of rounding. */
#define KERNEL_NARROW(linkage, name, load_of_a, lines_of_b, turns, bytes)                       \
    __attribute__((noinline)) linkage bool name(const skinny_product *x)                        \
    {                                                                                           \
        const few_form form = {.lines = lines_of_b, .takes_turns = turns, .line_bytes = bytes}; \
        return few_narrow((few_left){load_##load_of_a, along_##load_of_a}, form, x);            \
    }                                                                                           \
    _Static_assert(BESIDE_MOST == 8 && NARROW_ROWS == 4, "cases")

#endif
