/* What the files of rows have in common: the entries of a row, and the rows of each instruction set. */
#ifndef PTO_KERNEL_ROWS_H
#define PTO_KERNEL_ROWS_H

#include "kernel_table.h"

#define KERNEL_INLINE static inline __attribute__((always_inline))

/* Bytes of scratch that contraction_block() needs for a row. */
int64_t contraction_scratch_bytes(const pto_contraction *row, int64_t m, int64_t n, int64_t k);

/* pto_contraction_block_finish for a row; finish may be NULL. */
void contraction_block(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                       int64_t a_k_stride, const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c,
                       int64_t c_row_stride, bool accumulate, void *scratch, const pto_contraction_finish *finish);

/* Applies `finish` to rows [row, row + m) and columns [column, column + n) of C, whose first element is at c. */
void contraction_finish(const pto_contraction_finish *finish, pto_dtype acc, int64_t row, int64_t column, int64_t m,
                        int64_t n, const void *c, int64_t c_row_stride);

/* Functions without a row among their arguments, for emitted code to call through a pointer: NAME_scratch_bytes,
 * NAME_block and NAME_block_finish of ROWS[INDEX]. A semicolon comes after it. */
#define KERNEL_ENTRIES(name, rows, index)                                                                              \
    static int64_t name##_scratch_bytes(int64_t m, int64_t n, int64_t k)                                               \
    {                                                                                                                  \
        return contraction_scratch_bytes(&rows[index], m, n, k);                                                       \
    }                                                                                                                  \
    static void name##_block(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride, \
                             const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c,                      \
                             int64_t c_row_stride, bool accumulate, void *scratch)                                     \
    {                                                                                                                  \
        contraction_block(&rows[index], m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c,       \
                          c_row_stride, accumulate, scratch, NULL);                                                    \
    }                                                                                                                  \
    static void name##_block_finish(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,              \
                                    int64_t a_k_stride, const void *b, int64_t b_k_stride, int64_t b_column_stride,    \
                                    void *c, int64_t c_row_stride, bool accumulate, void *scratch,                     \
                                    const pto_contraction_finish *finish)                                              \
    {                                                                                                                  \
        contraction_block(&rows[index], m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c,       \
                          c_row_stride, accumulate, scratch, finish);                                                  \
    }                                                                                                                  \
    _Static_assert((index) >= 0, "a row's index")

#define KERNEL_ENTRIES_OF(name) \
    .scratch_bytes = name##_scratch_bytes, .block = name##_block, .block_finish = name##_block_finish

/* Rows of one file each, ended by a row without a name. */
extern const pto_contraction kernel_rows_plain[];
#if defined(__x86_64__)
extern const pto_contraction kernel_rows_avx2[];
extern const pto_contraction kernel_rows_avx512[];
extern const pto_contraction kernel_rows_vnni[];
extern const pto_contraction kernel_rows_bf16[];
#endif

#endif
