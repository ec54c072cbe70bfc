/* exp and what is made of it, of f32 vectors. Include <pto/native_vector.h>.
 *
 * exp: x = k ln 2 / 16 + r with k whole, |r| <= ln 2 / 32, so that e^x is the product of 2^(k/16), of which a table has
 * the sixteen fractions, and of a short polynomial: P. T. P. Tang, "Table-Driven Implementation of the Exponential
 * Function in IEEE Floating-Point Arithmetic" (1989). k / 16 is what stays of x / ln 2 when PTO_SIXTEENTH_BITS is
 * added and taken away, and the last bits of the sum are those of k. k / 16 times the first part of ln 2 is exact
 * within the fused multiply-add: W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980). The
 * powers in the table are times e^-s with a small s, by which all sixteen happen to be near to what f32 holds: S. Gal,
 * "Computing elementary functions: a new approach for achieving high accuracy and good performance" (1986). Polynomials
 * and powers: tests/native/fit_polynomials.py; rows of its name are said. */
#ifndef PTO_NATIVE_VECTOR_EXP_H
#define PTO_NATIVE_VECTOR_EXP_H

#include <pto/native_vector_base.h>

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* a x + b, (a x + b) x + c, .. */
#define PTO_POLY1(x, a, b) pto_fma_f32(pto_splat_f32(a), x, pto_splat_f32(b))
#define PTO_POLY2(x, a, b, c) pto_fma_f32(PTO_POLY1(x, a, b), x, pto_splat_f32(c))
#define PTO_POLY3(x, a, b, c, d) pto_fma_f32(PTO_POLY2(x, a, b, c), x, pto_splat_f32(d))
#define PTO_POLY4(x, a, b, c, d, e) pto_fma_f32(PTO_POLY3(x, a, b, c, d), x, pto_splat_f32(e))
#define PTO_POLY5(x, a, b, c, d, e, f) pto_fma_f32(PTO_POLY4(x, a, b, c, d, e), x, pto_splat_f32(f))
#define PTO_POLY6(x, a, b, c, d, e, f, g) pto_fma_f32(PTO_POLY5(x, a, b, c, d, e, f), x, pto_splat_f32(g))
#define PTO_POLY7(x, a, b, c, d, e, f, g, h) pto_fma_f32(PTO_POLY6(x, a, b, c, d, e, f, g), x, pto_splat_f32(h))
#define PTO_POLY8(x, a, b, c, d, e, f, g, h, i) pto_fma_f32(PTO_POLY7(x, a, b, c, d, e, f, g, h), x, pto_splat_f32(i))

#define PTO_LN2 0x1.62e430p-1f
#define PTO_LN2_REST -0x1.05c610p-29f
#define PTO_LOG2E 0x1.715476p+0f
#define PTO_WHOLE_BITS 0x1.8p23f
/* 2^19 to 2^20, so that f32 there are multiples of 1/16. s is its product with -PTO_LN2_REST; of multiples of 512 it is
 * the one by which the sixteen 2^(k/16) e^-s are nearest to numbers of f32: within 0.34 2^-23. */
#define PTO_SIXTEENTH_BITS 0x1.6dp+19f

/* 2^n of whole n from -126 to 127. */
PTO_VECTOR_FN pto_f32 pto_power_of_two(pto_i32 n) { return (pto_f32)((n + 127) << 23); }

/* part 2^n, rounded once: part is 0, NaN, or from 2^-20 to 2^20 in size. n is from -252 to 252, or NaN where part is,
 * and what pto_whole_power made: of fractions the whole number below counts. */
PTO_VECTOR_FN pto_f32 pto_scale_f32(pto_f32 part, pto_f32 n)
{
#if PTO_MASK_REGISTERS
    return __builtin_ia32_scalefps512_mask(part, n, part, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
#else
    const pto_i32 whole = __builtin_convertvector(n, pto_i32), half = whole >> 1;
    return part * pto_power_of_two(half) * pto_power_of_two(whole - half);
#endif
}

/* n of a number of sixteenths. The instruction of pto_scale_f32 leaves fractions out itself. */
PTO_VECTOR_FN pto_f32 pto_whole_power(pto_f32 sixteenths)
{
#if PTO_MASK_REGISTERS
    return sixteenths;
#else
    return pto_floor_f32(sixteenths);
#endif
}

/* x between -most and most, NaN as it is. */
PTO_VECTOR_FN pto_f32 pto_bounded(pto_f32 x, float most)
{
    return pto_second_min_f32(pto_splat_f32(most), pto_second_max_f32(pto_splat_f32(-most), x));
}

/* powers[k], k from 0 to 15; of what other bits k has nothing counts. */
PTO_VECTOR_FN pto_f32 pto_of_sixteen(const float *powers, pto_i32 k)
{
    pto_f32 y;
#if PTO_MASK_REGISTERS
    __builtin_memcpy(&y, powers, sizeof y);
#if defined(__clang__)
    y = __builtin_ia32_permvarsf512(y, k);
#else
    y = __builtin_ia32_permvarsf512_mask(y, k, y, PTO_ALL_LANES);
#endif
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX2__)
    pto_f32 low, high;
    __builtin_memcpy(&low, powers, sizeof low);
    __builtin_memcpy(&high, powers + 8, sizeof high);
    y = __builtin_ia32_blendvps256(__builtin_ia32_permvarsf256(low, k), __builtin_ia32_permvarsf256(high, k),
                                   (pto_f32)(k << 28));
#else
    for (int i = 0; i < PTO_LANES; i++) y[i] = powers[k[i] & 15];
#endif
    return y;
}

/* 2^(k/16), rounded. */
static const float pto_exp2_powers[16] = {0x1.000000p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                          0x1.306fe0p+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                          0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                          0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};

/* 2^(k/16) e^-s, rounded, times c: row `exp_powers`. */
#define PTO_EXP_POWERS(c)                                                                    \
    {0x1.ff4584p-1f * (c), 0x1.0af428p+0f * (c), 0x1.16c5d6p+0f * (c), 0x1.231d78p+0f * (c), \
     0x1.3000fep+0f * (c), 0x1.3d769ap+0f * (c), 0x1.4b84c2p+0f * (c), 0x1.5a3238p+0f * (c), \
     0x1.69860ap+0f * (c), 0x1.798794p+0f * (c), 0x1.8a3e88p+0f * (c), 0x1.9bb2eep+0f * (c), \
     0x1.aded2ap+0f * (c), 0x1.c0f5fcp+0f * (c), 0x1.d4d68cp+0f * (c), 0x1.e99866p+0f * (c)}
static const float pto_exp_powers[16] = PTO_EXP_POWERS(1);

/* n + PTO_SIXTEENTH_BITS, where n is the multiple of 1/16 next to x / ln 2: the last bits are those of k = 16 n. */
PTO_VECTOR_FN pto_f32 pto_exp_shifted(pto_f32 x)
{
    return pto_fma_f32(x, pto_splat_f32(PTO_LOG2E), pto_splat_f32(PTO_SIXTEENTH_BITS));
}

/* e^x / 2^(n - k/16) as 2^(k/16) e^-s times e^(r + s), r = x - n ln 2, of pto_exp_shifted, n, and `power` =
 * 2^(k/16) e^-s or that times a power of two that keeps the product a normal number. The last part of ln 2 is taken
 * away `shifted` times instead of n times, which adds s. Row `exp`, of r without that part. */
PTO_VECTOR_FN pto_f32 pto_exp_times(pto_f32 x, pto_f32 shifted, pto_f32 n, pto_f32 power)
{
    const pto_f32 near = pto_fma_f32(n, pto_splat_f32(-PTO_LN2), x);
    const pto_f32 r = pto_fma_f32(shifted, pto_splat_f32(-PTO_LN2_REST), near);
    return pto_fma_f32(PTO_POLY2(near, 0x1.5601c4p-3f, 0x1.00404cp-1f, 0x1.002eacp+0f), r * power, power);
}

/* A power, part 2^n for pto_scale_f32: part is from 0.97 to 2. Of NaN both are NaN. */
typedef struct pto_exponential {
    pto_f32 part, n;
} pto_exponential;

/* e^x in two parts, of x from -174 to 174 or NaN. */
PTO_VECTOR_FN pto_exponential pto_exp_parts(pto_f32 x)
{
    const pto_f32 shifted = pto_exp_shifted(x), n = shifted - PTO_SIXTEENTH_BITS;
    const pto_exponential e = {pto_exp_times(x, shifted, n, pto_of_sixteen(pto_exp_powers, (pto_i32)shifted)),
                               pto_whole_power(n)};
    return e;
}

/* e^x: 1 ulp. */
PTO_VECTOR_FN pto_f32 pto_exp_f32(pto_f32 x)
{
    const pto_exponential e = pto_exp_parts(pto_bounded(x, 174));
    return pto_scale_f32(e.part, e.n);
}
/* Of 0 at once: online softmax asks for it with each block of keys that leaves a row's largest score as it is. */
PTO_ROW_FN float pto_exp_f32_1(float x) { return x == 0 ? 1 : pto_exp_f32(pto_splat_f32(x))[0]; }

#if !PTO_MASK_REGISTERS
/* e^x c, where that is a normal number, of `powers` that are times c. PTO_SIXTEENTH_BITS leaves the nine bits alone
 * that come before the last four, so that they are those of the whole power. */
PTO_VECTOR_FN pto_f32 pto_exp_normal(pto_f32 x, const float *powers)
{
    const pto_f32 shifted = pto_exp_shifted(x), n = shifted - PTO_SIXTEENTH_BITS;
    const pto_u32 k = (pto_u32)shifted, whole = (k >> 4) << 23;
    const pto_f32 power = (pto_f32)((pto_u32)pto_of_sixteen(powers, (pto_i32)k) + whole);
    return pto_exp_times(x, shifted, n, power);
}
#endif

/* e^x of x that is at most 0 or NaN: the bits of pto_exp_f32, with fewer steps. No power is above 1, so that all of
 * them times 2^64 are normal numbers, and one factor takes that away again. */
PTO_VECTOR_FN pto_f32 pto_exp_below_f32(pto_f32 x)
{
    const pto_f32 y = pto_second_max_f32(pto_splat_f32(-105), x);
#if PTO_MASK_REGISTERS
    const pto_exponential e = pto_exp_parts(y);
    return pto_scale_f32(e.part, e.n);
#else
    static const float powers[16] = PTO_EXP_POWERS(0x1p64f);
    return pto_exp_normal(y, powers) * 0x1p-64f;
#endif
}
PTO_CALL_OF_ONE(exp_below)

/* 2^x: 1 ulp. x = k / 16 + r is exact; row `exp2`. */
PTO_VECTOR_FN pto_f32 pto_exp2_f32(pto_f32 x)
{
    const pto_f32 y = pto_bounded(x, 245), shifted = y + PTO_SIXTEENTH_BITS, n = shifted - PTO_SIXTEENTH_BITS;
    const pto_f32 r = y - n, power = pto_of_sixteen(pto_exp2_powers, (pto_i32)shifted);
    const pto_f32 slope = PTO_POLY2(r, 0x1.c6acdep-5f, 0x1.ebfff4p-3f, 0x1.62e430p-1f);
    return pto_scale_f32(pto_fma_f32(slope, r * power, power), pto_whole_power(n));
}
PTO_CALL_OF_ONE(exp2)

/* (e^x - 1) `scale`, which is 1, 1/2 or 1/4, for x from -40 to what keeps scale 2^n below 2^128:
 * e^r - 1 = r + r^2 P(r), row `expm1`. */
PTO_VECTOR_FN pto_f32 pto_expm1_parts(pto_f32 x, float scale)
{
    const pto_f32 shifted = pto_fma_f32(x, pto_splat_f32(PTO_LOG2E), pto_splat_f32(PTO_WHOLE_BITS));
    const pto_f32 n = shifted - PTO_WHOLE_BITS;
    const pto_f32 near = pto_fma_f32(n, pto_splat_f32(-PTO_LN2), x),
                  r = pto_fma_f32(n, pto_splat_f32(-PTO_LN2_REST), near);
    const pto_f32 p = PTO_POLY4(r, 0x1.6b97a6p-10f, 0x1.122538p-7f, 0x1.5556f6p-5f, 0x1.5554b4p-3f, 0x1.fffffep-2f);
    const pto_f32 rest = pto_fma_f32(r * r, p, r);
    const int one = scale == 1.0f ? 127 : scale == 0.5f ? 126 : 125;
    const pto_f32 power = (pto_f32)(((pto_i32)shifted + one) << 23);
    return pto_fma_f32(power, rest, power - scale);
}

/* e^x - 1: 2 ulp. */
PTO_VECTOR_FN pto_f32 pto_expm1_f32(pto_f32 x)
{
    const pto_f32 most = pto_second_min_f32(pto_splat_f32(88.8f), x),
                  cut = pto_second_max_f32(pto_splat_f32(-40), most);
    const pto_f32 half = pto_expm1_parts(cut, 0.5f), size = pto_abs_f32(x);
    /* Half of a subnormal number is not exact; there e^x - 1 = x. */
    const pto_f32 y = pto_select_f32(pto_lt_f32(size, pto_splat_f32(0x1p-30f)), x, half + half);
    return y;
}
PTO_CALL_OF_ONE(expm1)

/* Sigmoid: 3 ulp. The smaller of e^x and 1, over 1 + e^-|x|: nothing cancels, and what underflows is the result. */
PTO_VECTOR_FN pto_f32 pto_sigmoid_f32(pto_f32 x)
{
    const pto_f32 e = pto_exp_below_f32(pto_minus_size_f32(x)), one = pto_splat_f32(1);
    return pto_select_f32(pto_lt_f32(x, pto_splat_f32(0)), e, one) / (one + e);
}
PTO_CALL_OF_ONE(sigmoid)

/* e^x of x from -80 to 0: the bits of pto_exp_f32, and a normal number. */
PTO_VECTOR_FN pto_f32 pto_exp_near_f32(pto_f32 x)
{
#if PTO_MASK_REGISTERS
    const pto_f32 shifted = pto_exp_shifted(x), n = shifted - PTO_SIXTEENTH_BITS;
    return pto_exp_times(x, shifted, n, pto_scale_f32(pto_of_sixteen(pto_exp_powers, (pto_i32)shifted), n));
#else
    return pto_exp_normal(x, pto_exp_powers);
#endif
}

/* x sigmoid(z) = part 2^n, where z has the sign of x. e^z x may be far below what it is of: its n stays apart. NaN of
 * x = -inf, as x / (1 + exp(-z)) is. */
PTO_VECTOR_FN pto_exponential pto_gated_parts(pto_f32 x, pto_f32 z)
{
    const pto_exponential e = pto_exp_parts(pto_second_max_f32(pto_splat_f32(-174), pto_minus_size_f32(z)));
    const pto_f32 over = pto_scale_f32(e.part, e.n) + 1.0f, none = pto_splat_f32(0);
    const pto_mask below = pto_lt_f32(z, none);
    /* Far below 0 only n counts; x - x is NaN of -inf and else 0. */
    const pto_f32 near = pto_second_max_f32(pto_splat_f32(-300), x);
    const pto_f32 lost = x - x; /* NOLINT(misc-redundant-expression) */
    const pto_exponential gated = {pto_select_f32(below, pto_fma_f32(near, e.part, lost), x) / over,
                                   pto_select_f32(below, e.n, none)};
    return gated;
}

/* Where a gate's exponential or what it is times may leave the normal numbers, or be NaN: calls, which few vectors
 * need. Each lane has the bits of one of the two ways, whatever the others are. */
PTO_ROW_FN void pto_gated_far(const pto_f32 *x, const pto_f32 *z, pto_mask is_near, pto_f32 *y)
{
    const pto_exponential g = pto_gated_parts(*x, *z);
    *y = pto_select_f32(is_near, *y, pto_scale_f32(g.part, g.n));
}

/* x sigmoid(z), where z has the sign of x. */
PTO_VECTOR_FN pto_f32 pto_gated_f32(pto_f32 x, pto_f32 z)
{
    const pto_f32 least = pto_splat_f32(-80), e = pto_exp_near_f32(pto_second_max_f32(least, pto_minus_size_f32(z)));
    const pto_f32 y = pto_select_f32(pto_is_signed_f32(z), x * e, x) / (e + 1.0f);
    const pto_mask is_near = pto_ge_f32(z, least);
    if (__builtin_expect(pto_mask_all(is_near), 1)) return y;
    const pto_f32 of = x, at = z;
    pto_f32 all = y;
    pto_gated_far(&of, &at, is_near, &all);
    return all;
}

/* x sigmoid(x): 3.5 ulp. */
PTO_VECTOR_FN pto_f32 pto_silu_f32(pto_f32 x) { return pto_gated_f32(x, x); }
PTO_CALL_OF_ONE(silu)

/* a sigmoid(a) b, of lanes that do not hold `is_near`: b comes between two parts of the power, of which the second is 1
 * unless a is far below 0, and a that is near 0 is scaled until then. */
PTO_ROW_FN void pto_swiglu_far(const pto_f32 *a, const pto_f32 *b, pto_mask is_near, pto_f32 *y)
{
    const pto_f32 one = pto_splat_f32(1);
    const pto_mask is_small = pto_lt_f32(pto_abs_f32(*a), pto_splat_f32(0x1p-100f));
    const pto_f32 sized = *a * pto_select_f32(is_small, pto_splat_f32(0x1p30f), one);
    const pto_exponential g = pto_gated_parts(sized, *a);
    const pto_f32 first = pto_second_max_f32(pto_splat_f32(-126), g.n), rest = g.n - first;
    const pto_f32 last = pto_select_f32(is_small, pto_splat_f32(0x1p-30f), pto_scale_f32(one, rest));
    *y = pto_select_f32(is_near, *y, pto_scale_f32(g.part, first) * *b * last);
}

/* a sigmoid(a) b: 5 ulp where a is above -174. */
PTO_VECTOR_FN pto_f32 pto_swiglu_f32(pto_f32 a, pto_f32 b)
{
    const pto_f32 least = pto_splat_f32(-80), e = pto_exp_near_f32(pto_second_max_f32(least, pto_minus_size_f32(a)));
    const pto_f32 product = pto_select_f32(pto_is_signed_f32(a), a * e, a) * b, y = product / (e + 1.0f);
    const pto_mask is_finite = pto_le_f32(pto_abs_f32(product), pto_splat_f32(0x1.fffffep127f));
    const pto_mask is_near = pto_mask_and(pto_ge_f32(a, least), is_finite);
    if (__builtin_expect(pto_mask_all(is_near), 1)) return y;
    const pto_f32 of = a, times = b;
    pto_f32 all = y;
    pto_swiglu_far(&of, &times, is_near, &all);
    return all;
}
PTO_CALL_OF_TWO(swiglu)

/* gelu as approx=tanh has it, x sigmoid(z), z = x (sqrt(8/pi) + 0.044715 sqrt(8/pi) x^2), and as approx=sigmoid has it,
 * z = 1.702 x: 3.5 ulp, and where x is below 0 2.6 |z| and 1.25 |z| ulp more, since z is rounded. */
PTO_VECTOR_FN pto_f32 pto_gelu_tanh_f32(pto_f32 x)
{
    const pto_f32 slope = pto_fma_f32(x * x, pto_splat_f32(0x1.2444f2p-4f), pto_splat_f32(0x1.988454p+0f));
    return pto_gated_f32(x, x * slope);
}
PTO_CALL_OF_ONE(gelu_tanh)
PTO_VECTOR_FN pto_f32 pto_gelu_sigmoid_f32(pto_f32 x) { return pto_gated_f32(x, x * 1.702f); }
PTO_CALL_OF_ONE(gelu_sigmoid)

/* tanh(|x|) = t / (t + 2), t = e^(2 |x|) - 1: 2.6 ulp. Beyond 10 it is 1. */
PTO_VECTOR_FN pto_f32 pto_tanh_f32(pto_f32 x)
{
    const pto_f32 size = pto_second_min_f32(pto_splat_f32(10), pto_abs_f32(x)), t = pto_expm1_parts(size + size, 1.0f);
    return pto_copysign_f32(t / (t + 2.0f), x);
}
PTO_CALL_OF_ONE(tanh)

/* sinh(|x|) = 2 (q + q / (4 q + 1)), q = (e^|x| - 1) / 4: 2.5 ulp. A quarter of what is near 0 may not be exact. */
PTO_VECTOR_FN pto_f32 pto_sinh_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x), q = pto_expm1_parts(pto_second_min_f32(pto_splat_f32(89.5f), size), 0.25f);
    const pto_f32 b = pto_second_min_f32(pto_splat_f32(0x1p100f), q), half = q + b / (b * 4.0f + 1.0f);
    const pto_f32 y = pto_select_f32(pto_lt_f32(size, pto_splat_f32(0x1p-20f)), size, half + half);
    return pto_copysign_f32(y, x);
}
PTO_CALL_OF_ONE(sinh)

/* cosh: p + 1 / (4 p), p = e^|x| / 2: 1.5 ulp. */
PTO_VECTOR_FN pto_f32 pto_cosh_f32(pto_f32 x)
{
    const pto_exponential e = pto_exp_parts(pto_second_min_f32(pto_splat_f32(174), pto_abs_f32(x)));
    const pto_f32 p = pto_scale_f32(e.part, e.n - 1.0f);
    return p + pto_splat_f32(0.25f) / p;
}
PTO_CALL_OF_ONE(cosh)

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
