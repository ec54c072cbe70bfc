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
/* Of 16 x 16 elements, each line of the result written whole: vectors of half a line meet in a block of their own. */
enum { PTO_LINE = 16 };
PTO_VECTOR_FN void pto_transpose_lines(float *to, int64_t to_stride, const float *from, int64_t from_stride)
{
    float block[PTO_LINE * PTO_LINE] __attribute__((aligned(64)));
    for (int64_t i = 0; i < PTO_LINE; i++) pto_prefetch(from + i * from_stride + 2 * PTO_LINE);
    if (PTO_LANES == PTO_LINE) {
        pto_transpose_square(to, to_stride, from, from_stride, 1);
        return;
    }
    for (int64_t i = 0; i < PTO_LINE; i += PTO_LANES)
        for (int64_t j = 0; j < PTO_LINE; j += PTO_LANES)
            pto_transpose_square(block + j * PTO_LINE + i, PTO_LINE, from + i * from_stride + j, from_stride, 0);
    for (int64_t j = 0; j < PTO_LINE; j++)
        for (int64_t i = 0; i < PTO_LINE; i += PTO_LANES)
            pto_stream_bits32(to + j * to_stride + i, pto_load_f32(block + j * PTO_LINE + i));
}
static inline __attribute__((unused)) void pto_transpose_b32(void *to, int64_t to_stride, const void *from,
                                                             int64_t from_stride, int64_t rows, int64_t columns,
                                                             int streams)
{
    float *t = (float *)to;
    const float *f = (const float *)from;
    const int whole = streams && ((uintptr_t)to / 4 | (uintptr_t)to_stride) % PTO_LINE == 0;
    for (int64_t j = 0; j < columns; j += PTO_LINE)
        for (int64_t i = 0; i < rows; i += PTO_LINE) {
            const int64_t end_i = rows - i < PTO_LINE ? rows : i + PTO_LINE;
            const int64_t end_j = columns - j < PTO_LINE ? columns : j + PTO_LINE;
            if (whole && end_i - i == PTO_LINE && end_j - j == PTO_LINE) {
                pto_transpose_lines(t + j * to_stride + i, to_stride, f + i * from_stride + j, from_stride);
                continue;
            }
            for (int64_t q = j; q < end_j; q += PTO_LANES)
                for (int64_t p = i; p < end_i; p += PTO_LANES) {
                    if (p + PTO_LANES <= end_i && q + PTO_LANES <= end_j) {
                        pto_transpose_square(t + q * to_stride + p, to_stride, f + p * from_stride + q, from_stride, 0);
                        continue;
                    }
                    for (int64_t k = q; k < q + PTO_LANES && k < end_j; k++)
                        for (int64_t l = p; l < p + PTO_LANES && l < end_i; l++)
                            t[k * to_stride + l] = f[l * from_stride + k];
                }
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
