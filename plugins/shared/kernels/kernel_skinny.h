/* What the forms of products of few rows have in common: what is multiplied, and how lines of B are asked for early. */
#ifndef PTO_KERNEL_SKINNY_H
#define PTO_KERNEL_SKINNY_H

#include "kernel_rows.h"

enum { PIECE = 8 /* lines that are asked for one after the other */ };

typedef float kernel_element(const void *from, int64_t at);

/* Lines of B that are asked for: pieces of the rows that come next, one after the other, or, where those are short,
 * what lies below the lines that are read. Addresses need not be inside of B. */
typedef struct skinny_ahead {
    uintptr_t at, row, end; /* of a row */
    uintptr_t step, stride; /* bytes from one line to the next, and from row to row */
    bool is_below;
} skinny_ahead;

/* Where the next piece begins. */
KERNEL_INLINE uintptr_t next_piece(skinny_ahead *ahead)
{
    const uintptr_t piece = ahead->at;
    ahead->at += PIECE * ahead->step;
    if (!ahead->is_below && ahead->at >= ahead->end) {
        ahead->row += ahead->stride;
        ahead->end += ahead->stride;
        ahead->at = ahead->row;
    }
    return piece;
}

/* Asks for the line of the cache at that address. */
KERNEL_INLINE void ask_for(uintptr_t at)
{
    __builtin_prefetch((const void *)at, 0, 2); // NOLINT(performance-no-int-to-ptr): it need not be inside of B
}

/* The same, into the first-level cache. */
KERNEL_INLINE void ask_near(uintptr_t at)
{
    __builtin_prefetch((const void *)at, 0, 3); // NOLINT(performance-no-int-to-ptr): it need not be inside of B
}

/* Of `columns` columns in the rows from element `at` on, `bits` each; or below them, for the lines of each step. */
KERNEL_INLINE skinny_ahead ahead_of(const void *b, int64_t at, int64_t b_k_stride, int64_t columns, int bits,
                                    int vectors, bool is_below)
{
    const uintptr_t line = 2 * (uintptr_t)bits, first = (uintptr_t)b + (uintptr_t)(at * bits / 8);
    const uintptr_t stride = (uintptr_t)(b_k_stride * bits / 8);
    return (skinny_ahead){.at = first,
                          .row = first,
                          .end = first + (uintptr_t)(columns * bits / 8),
                          .step = is_below ? stride : line * (uintptr_t)vectors,
                          .stride = stride,
                          .is_below = is_below};
}

/* Lines of columns of B that go upwards along k, from the one that is asked for next on. */
typedef struct skinny_along {
    uintptr_t at, end, bytes, stride; /* end of a column, bytes of one, from column to column */
} skinny_along;

/* Columns that follow each other without a gap are one. */
KERNEL_INLINE skinny_along along_of(uintptr_t first, uintptr_t bytes, uintptr_t stride)
{
    return (skinny_along){first, bytes == stride ? UINTPTR_MAX : first + bytes, bytes, stride};
}

/* Asks for a line, of the next column where one ends. */
KERNEL_INLINE void ask_along(skinny_along *x)
{
    ask_for(x->at);
    x->at += 64;
    if (x->at < x->end) return;
    x->at = x->end - x->bytes + x->stride;
    x->end += x->stride;
}

/* A product of few rows whose B has its columns beside each other. */
typedef struct skinny_product {
    int64_t m, n, k;
    const void *a;
    int64_t a_row_stride, a_k_stride;
    const void *b;
    int64_t b_k_stride;
    char *c;
    int64_t c_row_bytes;
    bool accumulate;
} skinny_product;

/* So many elements along k of A are spread at a time where columns of B go upwards along k. */
enum { TURNED_DEPTH = 512 };

/* A product whose B has such columns, or a part of it: `depth` elements of k from p on. */
typedef struct turned_part {
    const skinny_product *x;
    int64_t column_stride, p, depth;
    const float *left; /* those of one k beside each other */
} turned_part;

/* The part that begins with element p of k. */
KERNEL_INLINE turned_part turned_part_at(const skinny_product *x, int64_t column_stride, int64_t p, const float *left)
{
    return (turned_part){x, column_stride, p, x->k - p < TURNED_DEPTH ? x->k - p : TURNED_DEPTH, left};
}

#if defined(__x86_64__)
/* Of bf16 by fma, where sums are flushed; they need AVX-512. They return false, and do nothing, where there are too
 * many rows: with short rows of B, and with columns of it that go upwards along k. */
bool kernel_narrow_bf16(const skinny_product *x);
bool kernel_turned_bf16(const skinny_product *x, int64_t column_stride);
#endif

/* Elements of `rows` rows of A, `depth` deep, those of one k beside each other. Of each row a line is read at a time:
 * lines of rows that are far apart drive each other out of a cache. */
KERNEL_INLINE void skinny_left(kernel_element load, const skinny_product *x, int64_t row, int64_t rows, int64_t p,
                               int64_t depth, float *left)
{
    enum { LINE_ELEMENTS = 16 };
    for (int64_t first = 0; first < depth; first += LINE_ELEMENTS) {
        const int64_t end = depth - first < LINE_ELEMENTS ? depth : first + LINE_ELEMENTS;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t q = first; q < end; q++)
                left[q * rows + i] = load(x->a, (row + i) * x->a_row_stride + (p + q) * x->a_k_stride);
    }
}

#endif
