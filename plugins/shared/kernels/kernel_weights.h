/* Products with weights of 4 bits and scales: what unpacks them, one row for each instruction set. */
#ifndef PTO_KERNEL_WEIGHTS_H
#define PTO_KERNEL_WEIGHTS_H

#include "kernel_rows.h"

#include <pto/native.h>

/* Columns column .. column + count - 1 of `depth` rows from row `at` on, times their scales, into panels of `width`
 * columns, each of depth * width floats; columns of a panel beyond `count` are 0. */
typedef void pto_weights_unpack(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t count,
                                int64_t width, float *panels);

/* Computes C for few rows of A without panels, when it has a way for these strides; false when it does not. */
typedef bool pto_weights_few(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row_stride, int64_t a_k_stride,
                             const pto_native_weights *w, float *c, int64_t c_row_stride, bool accumulate);

/* One row. Its products sum as those of the f32 row of its instruction set, and have the same bits as products of what
 * the weights stand for. Rows are static. */
typedef struct pto_weights {
    const char *name;
    uint32_t isa; /* PTO_ISA_*, all of which it needs */
    pto_weights_unpack *unpack;
    pto_weights_few *few; /* or NULL */
    /* As pto_contraction_block and pto_contraction's scratch_most. */
    void (*block)(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                  const pto_native_weights *w, void *c, int64_t c_row_stride, bool accumulate, void *scratch);
    int64_t (*scratch_most)(int64_t m, int64_t n);
} pto_weights;

/* The last row that `isa` has all instruction sets of; all rows, NULL past the last one. */
const pto_weights *pto_weights_find(uint32_t isa);
const pto_weights *pto_weights_at(uint32_t index);

/* Columns of a row lie beside each other, and so do their scales. */
static inline bool weights_are_along_rows(const pto_native_weights *w)
{
    return w->column_stride == 1 && w->scale_column_stride == 1;
}

/* The same, and each row begins a byte. */
static inline bool weights_begin_bytes(const pto_native_weights *w)
{
    return weights_are_along_rows(w) && (w->first & 1) == 0 && (w->k_stride & 1) == 0;
}

/* Columns are dense along k and begin a byte, and the eight rows of four bytes have one scale. */
static inline bool weights_are_turned(const pto_native_weights *w)
{
    return w->k_stride == 1 && (w->first & 1) == 0 && (w->column_stride & 1) == 0 && w->group % 8 == 0;
}

#if defined(__x86_64__)
/* A pto_weights_unpack and, after it, a pto_weights_few; both need AVX2. */
void kernel_unpack_avx2(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t count,
                        int64_t width, float *panels);
/* Of one to four rows of A. */
bool kernel_few_weights_avx2(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row_stride, int64_t a_k_stride,
                             const pto_native_weights *w, float *c, int64_t c_row_stride, bool accumulate);
/* The same of more rows; needs AVX-512. */
bool kernel_few_weights_avx512(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row_stride,
                               int64_t a_k_stride, const pto_native_weights *w, float *c, int64_t c_row_stride,
                               bool accumulate);
#endif

#endif
