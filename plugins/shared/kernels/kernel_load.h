/* Elements of each type as what panels hold, one at a time, and packing by them: what rows do for strides that they
 * have no faster way for. */
#ifndef PTO_KERNEL_LOAD_H
#define PTO_KERNEL_LOAD_H

#include "kernel_rows.h"

#include <string.h>

/* The float whose bits these are. */
KERNEL_INLINE float kernel_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* load_*: element `at` of an array, as what panels hold. */
KERNEL_INLINE float load_f32(const void *from, int64_t at)
{
    float value;
    memcpy(&value, (const char *)from + at * (int64_t)sizeof value, sizeof value);
    return value;
}

/* Of a 16-bit type. */
KERNEL_INLINE uint16_t load_bits16(const void *from, int64_t at)
{
    uint16_t bits;
    memcpy(&bits, (const char *)from + at * (int64_t)sizeof bits, sizeof bits);
    return bits;
}

/* Exact: bf16 is the upper half of f32. */
KERNEL_INLINE float load_bf16(const void *from, int64_t at)
{
    return kernel_float_of_bits((uint32_t)load_bits16(from, at) << 16);
}

/* The exponent is moved by a product, which makes subnormals right as well. */
KERNEL_INLINE float load_f16(const void *from, int64_t at)
{
    const uint32_t bits = load_bits16(from, at), magnitude = bits & 0x7fff, sign = (bits & 0x8000) << 16;
    if (magnitude >= 0x7c00) return kernel_float_of_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    const float value = kernel_float_of_bits(magnitude << 13) * 0x1p112F;
    return sign ? -value : value;
}

/* Of single bytes. */
KERNEL_INLINE int32_t load_i8(const void *from, int64_t at) { return ((const int8_t *)from)[at]; }
KERNEL_INLINE int32_t load_u8(const void *from, int64_t at) { return ((const uint8_t *)from)[at]; }

/* Offsets may be negative, by strides that are. */
KERNEL_INLINE int32_t load_i4(const void *from, int64_t at)
{
    const int32_t byte = ((const uint8_t *)from)[(at - (at & 1)) / 2];
    const int32_t half = (at & 1) ? byte >> 4 : byte & 15;
    return (half ^ 8) - 8;
}

/* The same as a float. */
KERNEL_INLINE float load_i4_f32(const void *from, int64_t at) { return (float)load_i4(from, at); }

/* Bits of an element in memory, by the names of what reads it: `same` and `moved` read bytes. */
static const int64_t bits_f32 = 32, bits_bf16 = 16, bits_f16 = 16, bits_i8 = 8, bits_u8 = 8, bits_same = 8,
                     bits_moved = 8, bits_i4 = 4, bits_i4_f32 = 4;

/* NAME packs elements of TYPE that LOAD reads into panels of `width`, in groups of `group` along k. */
#define KERNEL_PACK(name, type, load, width, group)                                                                \
    static void name(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride, \
                     void *panels, int64_t panel_bytes)                                                            \
    {                                                                                                              \
        for (int64_t first = 0; first < count; first += (width)) {                                                 \
            type *to = (void *)((char *)panels + first / (width) * panel_bytes);                                   \
            for (int64_t p = 0; p < k; p += (group))                                                               \
                for (int64_t i = first; i < first + (width); i++)                                                  \
                    for (int64_t q = 0; q < (group); q++) {                                                        \
                        const int64_t at = offset + i * stride + (p + q) * k_stride;                               \
                        *to++ = i < count && p + q < k ? (type)load(from, at) : (type)0;                           \
                    }                                                                                              \
        }                                                                                                          \
    }                                                                                                              \
    _Static_assert((width) > 0 && (group) > 0, "of a panel")

#endif
