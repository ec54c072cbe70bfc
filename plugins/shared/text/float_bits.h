/* Floats as bits, for code generators and readers: numbers and patterns of any float type, by the fields of its row in
 * <pto/ops/types.def>. */
#ifndef PTO_FLOAT_BITS_H
#define PTO_FLOAT_BITS_H

#include <pto/names.h>
#include <pto/native.h>

/* The fields of a float type, for functions of <pto/native.h>; not of f8e8m0, which has no sign. */
static inline pto_cast_format float_bits_format(pto_dtype t)
{
    const pto_float_format f = pto_dtype_float_format(t);
    if (f.exponent_bits == 0) return (pto_cast_format){.bias = 0};
    return (pto_cast_format){.bias = (UINT32_C(1) << (f.exponent_bits - 1)) - 1,
                             .mantissa_bits = f.mantissa_bits,
                             .sign_bit = UINT32_C(1) << (f.exponent_bits + f.mantissa_bits),
                             .max_bits = f.largest,
                             .inf_bits = f.largest + 1,
                             .nan_bits = f.quiet_nan};
}

/* The pattern of the number of a float type that is nearest to `x`, of two the even one. */
static inline uint32_t float_bits_of(pto_dtype t, double x)
{
    if (t == PTO_F8E8M0) return pto_cast_encode_f8e8m0(x, PTO_CAST_RINT, 0);
    return pto_cast_encode(float_bits_format(t), x, PTO_CAST_RINT, 0);
}

/* The number of a pattern. */
static inline float float_bits_number(pto_dtype t, uint32_t bits)
{
    if (t == PTO_F8E8M0) return pto_f8e8m0_load_1((uint8_t)bits);
    return pto_cast_decode(float_bits_format(t), bits);
}

/* The number of the type that is nearest. */
static inline float float_bits_rounded(pto_dtype t, double x) { return float_bits_number(t, float_bits_of(t, x)); }

#endif
