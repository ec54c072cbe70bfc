/* Transposes from memory to memory. Include <pto/native_vector.h>. */
#ifndef PTO_NATIVE_VECTOR_TRANSPOSE_H
#define PTO_NATIVE_VECTOR_TRANSPOSE_H

#include <pto/native_vector_memory.h>

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#define PTO_UNROLL _Pragma("GCC unroll 16")
#else
#define PTO_UNROLL _Pragma("unroll")
#endif

/* Halves of groups of 2 s lanes: of `a` and `b` the first ones, or the last ones. */
#define PTO_LOW(k, s) ((k) & (s) ? PTO_LANES + ((k) ^ (s)) : (k))
#define PTO_HIGH(k, s) ((k) & (s) ? PTO_LANES + (k) : ((k) ^ (s)))
#if PTO_LANES == 16
#define PTO_HALVES(a, b, half, s)                                                                                     \
    __builtin_shufflevector(a, b, half(0, s), half(1, s), half(2, s), half(3, s), half(4, s), half(5, s), half(6, s), \
                            half(7, s), half(8, s), half(9, s), half(10, s), half(11, s), half(12, s), half(13, s),   \
                            half(14, s), half(15, s))
#elif PTO_LANES == 8
#define PTO_HALVES(a, b, half, s)                                                                                     \
    __builtin_shufflevector(a, b, half(0, s), half(1, s), half(2, s), half(3, s), half(4, s), half(5, s), half(6, s), \
                            half(7, s))
#else
#define PTO_HALVES(a, b, half, s) __builtin_shufflevector(a, b, half(0, s), half(1, s), half(2, s), half(3, s))
#endif
#define PTO_TRANSPOSE_STEP(v, s)                         \
    PTO_UNROLL for (int i_ = 0; i_ < PTO_LANES; i_++)    \
    {                                                    \
        if (i_ & (s)) continue;                          \
        const pto_f32 a_ = (v)[i_], b_ = (v)[i_ | (s)];  \
        (v)[i_] = PTO_HALVES(a_, b_, PTO_LOW, s);        \
        (v)[i_ | (s)] = PTO_HALVES(a_, b_, PTO_HIGH, s); \
    }

/* A square of vectors; strides are elements. */
PTO_VECTOR_FN void pto_transpose_square(float *to, int64_t to_stride, const float *from, int64_t from_stride,
                                        int streams)
{
    pto_f32 v[PTO_LANES];
    PTO_UNROLL for (int i = 0; i < PTO_LANES; i++) v[i] = pto_load_f32(from + i * from_stride);
#if PTO_LANES == 16
    PTO_TRANSPOSE_STEP(v, 8)
#endif
#if PTO_LANES >= 8
    PTO_TRANSPOSE_STEP(v, 4)
#endif
    PTO_TRANSPOSE_STEP(v, 2)
    PTO_TRANSPOSE_STEP(v, 1)
    PTO_UNROLL for (int i = 0; i < PTO_LANES; i++) pto_put_f32(to + i * to_stride, v[i], streams);
}

/* pto_transpose_b32 and of elements of 8, 16 and 64 bits: to[j][i] = from[i][j] for `rows` i and `columns` j; strides
 * are elements. `streams`: the result is large, as pto_streams says of its first row. */
#define PTO_TRANSPOSE(bits, element)                                                                             \
    PTO_VECTOR_FN void pto_transpose_b##bits(void *to, int64_t to_stride, const void *from, int64_t from_stride, \
                                             int64_t rows, int64_t columns, int streams)                         \
    {                                                                                                            \
        enum { SQUARE = 16 };                                                                                    \
        (void)streams;                                                                                           \
        for (int64_t i = 0; i < rows; i += SQUARE)                                                               \
            for (int64_t j = 0; j < columns; j += SQUARE)                                                        \
                for (int64_t q = j; q < j + SQUARE && q < columns; q++)                                          \
                    for (int64_t p = i; p < i + SQUARE && p < rows; p++)                                         \
                        ((element *)to)[q * to_stride + p] = ((const element *)from)[p * from_stride + q];       \
    }
PTO_TRANSPOSE(8, uint8_t)
PTO_TRANSPOSE(16, uint16_t)
PTO_TRANSPOSE(64, uint64_t)
#undef PTO_TRANSPOSE
static inline __attribute__((unused)) void pto_transpose_b32(void *to, int64_t to_stride, const void *from,
                                                             int64_t from_stride, int64_t rows, int64_t columns,
                                                             int streams)
{
    enum { LINE = 16 }; /* elements; lines are written whole, one after the other */
    float *t = (float *)to;
    const float *f = (const float *)from;
    const int whole = streams && ((uintptr_t)to / 4 | (uintptr_t)to_stride | (uintptr_t)rows) % LINE == 0;
    for (int64_t i = 0; i < rows; i += LINE)
        for (int64_t j = 0; j < columns; j += PTO_LANES)
            for (int64_t k = i; k < i + LINE && k < rows; k += PTO_LANES) {
                if (k + PTO_LANES <= rows && j + PTO_LANES <= columns) {
                    pto_transpose_square(t + j * to_stride + k, to_stride, f + k * from_stride + j, from_stride, whole);
                    continue;
                }
                for (int64_t q = j; q < j + PTO_LANES && q < columns; q++)
                    for (int64_t p = k; p < k + PTO_LANES && p < rows; p++)
                        t[q * to_stride + p] = f[p * from_stride + q];
            }
}
#undef PTO_TRANSPOSE_STEP
#undef PTO_HALVES
#undef PTO_LOW
#undef PTO_HIGH

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
