/* Powers, roots of sums and remainders of f32 vectors, quotients of integers. Include <pto/native_vector.h>.
 *
 * Halves of a vector go through float64, which holds what would cancel or lose digits in f32: the result is
 * rounded once more. Polynomials: tests/native/fit_polynomials.py. */
#ifndef PTO_NATIVE_VECTOR_POW_H
#define PTO_NATIVE_VECTOR_POW_H

#include <pto/native_vector_base.h>

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* Half as many lanes: of 64 bits, and of 32 on their way there. A mask of 64-bit lanes is pto_i64, 0 or all ones. */
typedef double pto_f64 __attribute__((vector_size(PTO_VECTOR_BYTES)));
typedef long long pto_i64 __attribute__((vector_size(PTO_VECTOR_BYTES)));
typedef float pto_half_f32 __attribute__((vector_size(PTO_VECTOR_BYTES / 2)));
typedef int pto_half_i32 __attribute__((vector_size(PTO_VECTOR_BYTES / 2)));
typedef unsigned pto_half_u32 __attribute__((vector_size(PTO_VECTOR_BYTES / 2)));

#if PTO_LANES == 16
#define PTO_LOWER(v) __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)
#define PTO_UPPER(v) __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)
#define PTO_JOINED(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif PTO_LANES == 8
#define PTO_LOWER(v) __builtin_shufflevector(v, v, 0, 1, 2, 3)
#define PTO_UPPER(v) __builtin_shufflevector(v, v, 4, 5, 6, 7)
#define PTO_JOINED(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define PTO_LOWER(v) __builtin_shufflevector(v, v, 0, 1)
#define PTO_UPPER(v) __builtin_shufflevector(v, v, 2, 3)
#define PTO_JOINED(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3)
#endif
#define PTO_WIDE(v) __builtin_convertvector(v, pto_f64)
/* f of two vectors, by halves as float64; the result as `half`, and joined. */
#define PTO_BY_HALVES(f, a, b, half)                                                             \
    PTO_JOINED(__builtin_convertvector(f(PTO_WIDE(PTO_LOWER(a)), PTO_WIDE(PTO_LOWER(b))), half), \
               __builtin_convertvector(f(PTO_WIDE(PTO_UPPER(a)), PTO_WIDE(PTO_UPPER(b))), half))

/* The same number in every lane of float64, and a where the mask holds, else b. */
PTO_VECTOR_FN pto_f64 pto_splat_f64(double x)
{
    const pto_f64 zero = {0};
    return x - zero;
}
PTO_VECTOR_FN pto_f64 pto_select_f64(pto_i64 m, pto_f64 a, pto_f64 b)
{
    return (pto_f64)((m & (pto_i64)a) | (~m & (pto_i64)b));
}
/* |x| of float64. */
PTO_VECTOR_FN pto_f64 pto_abs_f64(pto_f64 x) { return (pto_f64)((pto_i64)x & 0x7fffffffffffffff); }
/* |a| with the sign of b. */
PTO_VECTOR_FN pto_f64 pto_copysign_f64(pto_f64 a, pto_f64 b)
{
    const pto_i64 sign = (pto_i64)pto_splat_f64(-0.0);
    return (pto_f64)(((pto_i64)a & ~sign) | ((pto_i64)b & sign));
}
/* The whole part of x, which is 0 or more, below 2^52, infinite or NaN. */
PTO_VECTOR_FN pto_f64 pto_whole_part_f64(pto_f64 x)
{
    const pto_f64 near = (x + 0x1p52) - 0x1p52;
    return near - (pto_f64)((pto_i64)(near > x) & (pto_i64)pto_splat_f64(1));
}

/* ---- powers ---- */

#define PTO_STEP(p, x, c) ((p) * (x) + (c))

/* a^b of a from 2^-149 to 2^128, as exp2(b log2(a)): a = 2^k (1 + f), log2(1 + f) = f P(f), row `pow_log2`; 2^r by row
 * `pow_exp2`. Of other a a number. */
PTO_VECTOR_FN pto_f64 pto_pow_part(pto_f64 a, pto_f64 b)
{
    const pto_i64 bits = (pto_i64)a, magic = (pto_i64)pto_splat_f64(0x1.8p52);
    const pto_i64 k = (bits - 0x3fe6a09e667f3bcd) >> 52; /* of sqrt(1/2) */
    const pto_f64 f = (pto_f64)(bits - (k << 52)) - 1.0, whole = (pto_f64)(k + magic) - 0x1.8p52;
    pto_f64 p = PTO_STEP(pto_splat_f64(-0x1.1da46754d3b23p-4), f, 0x1.0f619834f61e3p-3);
    p = PTO_STEP(PTO_STEP(p, f, -0x1.13b8bdeeca131p-3), f, 0x1.0ace304f6012dp-3);
    p = PTO_STEP(PTO_STEP(p, f, -0x1.23d6515318eaep-3), f, 0x1.481fa60feff70p-3);
    p = PTO_STEP(PTO_STEP(p, f, -0x1.7188d295d78a5p-3), f, 0x1.a61b7e291dd75p-3);
    p = PTO_STEP(PTO_STEP(p, f, -0x1.ec6f2e07fadd2p-3), f, 0x1.2776b6cbda9d0p-2);
    p = PTO_STEP(PTO_STEP(p, f, -0x1.715478882bc55p-2), f, 0x1.ec709de33f7a8p-2);
    p = PTO_STEP(PTO_STEP(p, f, -0x1.71547651b7101p-1), f, 0x1.71547652b58f0p+0);
    pto_f64 t = (whole + f * p) * b;
    t = pto_select_f64((pto_i64)(t > 200.0), pto_splat_f64(200), t);
    t = pto_select_f64((pto_i64)(t < -200.0), pto_splat_f64(-200), t);
    const pto_f64 shifted = t + 0x1.8p52, r = t - (shifted - 0x1.8p52);
    pto_f64 q = PTO_STEP(pto_splat_f64(0x1.fde5f609679bcp-17), r, 0x1.445c843f0fb9dp-13);
    q = PTO_STEP(PTO_STEP(q, r, 0x1.5d8a860550fb3p-10), r, 0x1.3b29f39cf2464p-7);
    q = PTO_STEP(PTO_STEP(q, r, 0x1.c6b08ac065535p-5), r, 0x1.ebfbe07787a4fp-3);
    q = PTO_STEP(PTO_STEP(q, r, 0x1.62e42ff0e1952p-1), r, 1.0);
    return (pto_f64)((pto_i64)q + ((pto_i64)shifted << 52));
}

/* a to the power of b, special cases as C has them: 0.51 ulp. */
PTO_VECTOR_FN pto_f32 pto_pow_f32(pto_f32 a, pto_f32 b)
{
    const pto_f32 none = pto_splat_f32(0), one = pto_splat_f32(1), infinite = pto_splat_f32(__builtin_inff());
    const pto_f32 size = pto_abs_f32(a), half = b * 0.5f;
    pto_f32 y = PTO_BY_HALVES(pto_pow_part, size, b, pto_half_f32);
    const pto_mask is_zero = pto_eq_f32(size, none), is_infinite = pto_eq_f32(size, infinite),
                   down = pto_lt_f32(b, none);
    y = pto_select_f32(is_zero, pto_select_f32(down, infinite, none), y);
    y = pto_select_f32(is_infinite, pto_select_f32(down, none, infinite), y);
    y = pto_select_f32(pto_mask_or(pto_isnan_f32(a), pto_isnan_f32(b)), a + b, y);
    const pto_mask endless = pto_eq_f32(pto_abs_f32(b), infinite);
    const pto_mask unit = pto_mask_or(pto_eq_f32(a, one), pto_mask_and(pto_eq_f32(size, one), endless));
    y = pto_select_f32(pto_mask_or(pto_eq_f32(b, none), unit), one, y);
    const pto_mask fraction = pto_mask_and(pto_ne_f32(b, pto_trunc_f32(b)), pto_eq_f32(b, b));
    const pto_mask below = pto_mask_and(pto_lt_f32(a, none), pto_lt_f32(size, infinite));
    y = pto_select_f32(pto_mask_and(below, fraction), pto_splat_f32(__builtin_nanf("")), y);
    const pto_mask odd = pto_mask_and(pto_ne_f32(half, pto_trunc_f32(half)), pto_eq_f32(b, pto_trunc_f32(b)));
    return pto_select_f32(odd, pto_copysign_f32(y, a), y);
}
PTO_CALL_OF_TWO(pow)

/* Cube root: 1 ulp. A third of the exponent, which is within 4 % (W. Kahan, "Computing a real cube root", 1991), a step
 * of Halley's method, and one of Newton's with the rest of the cube exact to 2 f32. */
PTO_VECTOR_FN pto_f32 pto_cbrt_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x);
    const pto_mask is_small = pto_lt_f32(size, pto_splat_f32(0x1p-100f)),
                   is_large = pto_gt_f32(size, pto_splat_f32(0x1p100f));
    /* Cubes neither underflow nor overflow between 2^-100 and 2^100. */
    const pto_f32 a = pto_select_f32(is_small, size * 0x1p60f, pto_select_f32(is_large, size * 0x1p-60f, size));
    const pto_f32 third = __builtin_convertvector((pto_i32)a, pto_f32) * 0x1.555556p-2f;
    pto_f32 y = (pto_f32)(__builtin_convertvector(third, pto_i32) + 709921077);
    pto_f32 cube = y * y * y;
    y = y - y * ((cube - a) / (cube + cube + a));
    cube = y * y * y;
    y = y - y * ((cube - a) / (cube + cube + a));
    const pto_f32 square = y * y, lost = pto_fma_f32(y, y, -square), high = square * y;
    const pto_f32 low = pto_fma_f32(lost, y, pto_fma_f32(square, y, -high));
    y = y - ((high - a) + low) / (square * 3.0f);
    y = pto_select_f32(is_small, y * 0x1p-20f, pto_select_f32(is_large, y * 0x1p20f, y));
    const pto_mask edge = pto_mask_not(
        pto_mask_and(pto_gt_f32(size, pto_splat_f32(0)), pto_lt_f32(size, pto_splat_f32(__builtin_inff()))));
    return pto_select_f32(edge, x, pto_copysign_f32(y, x));
}
PTO_CALL_OF_ONE(cbrt)

/* The root of a a + b b, infinite when one of them is: 1.1 ulp. Both scaled, so that squares stay numbers. */
PTO_VECTOR_FN pto_f32 pto_hypot_f32(pto_f32 a, pto_f32 b)
{
    const pto_f32 p = pto_abs_f32(a), q = pto_abs_f32(b), infinite = pto_splat_f32(__builtin_inff());
    const pto_f32 most = pto_max_any_f32(p, q), least = pto_min_any_f32(p, q), one = pto_splat_f32(1);
    const pto_mask is_small = pto_lt_f32(most, pto_splat_f32(0x1p-50f)),
                   is_large = pto_gt_f32(most, pto_splat_f32(0x1p50f));
    const pto_f32 up =
        pto_select_f32(is_small, pto_splat_f32(0x1p100f), pto_select_f32(is_large, pto_splat_f32(0x1p-100f), one));
    const pto_f32 down =
        pto_select_f32(is_small, pto_splat_f32(0x1p-100f), pto_select_f32(is_large, pto_splat_f32(0x1p100f), one));
    const pto_f32 x = most * up, z = least * up, y = pto_sqrt_f32(pto_fma_f32(x, x, z * z)) * down;
    const pto_mask wild = pto_mask_or(pto_isnan_f32(a), pto_isnan_f32(b));
    const pto_mask endless = pto_mask_or(pto_eq_f32(p, infinite), pto_eq_f32(q, infinite));
    return pto_select_f32(endless, infinite, pto_select_f32(wild, a + b, y));
}
PTO_CALL_OF_TWO(hypot)

/* ---- remainders ---- */

/* |a| less |b| times the whole part of their quotient, exact. Loops while quotients have more than 28 digits, which go
 * by 28 at a time. */
PTO_VECTOR_FN pto_f64 pto_rest_f64(pto_f64 a, pto_f64 b)
{
    const pto_f64 size = pto_abs_f64(b);
    pto_f64 rest = pto_abs_f64(a), q = rest / size;
    for (;;) {
        const pto_i64 is_far = (pto_i64)(q >= 0x1p28) & (pto_i64)(q < (double)__builtin_inff());
        long long any = 0;
        for (int i = 0; i < PTO_LANES / 2; i++) any |= is_far[i];
        if (any == 0) break;
        const pto_f64 power = (pto_f64)((((pto_i64)q >> 52) - 27) << 52);
        const pto_f64 step = size * pto_select_f64(is_far, power, pto_splat_f64(1)),
                      next = rest - pto_whole_part_f64(rest / step) * step;
        rest = pto_select_f64(is_far, next, rest);
        q = rest / size;
    }
    return pto_select_f64((pto_i64)(q < 1.0), rest, rest - pto_whole_part_f64(q) * size);
}
/* What is left of a with the sign of a, and of b; the whole number below a / b. */
PTO_VECTOR_FN pto_f64 pto_fmod_part(pto_f64 a, pto_f64 b) { return pto_copysign_f64(pto_rest_f64(a, b), a); }
PTO_VECTOR_FN pto_f64 pto_mod_part(pto_f64 a, pto_f64 b)
{
    const pto_f64 rest = pto_fmod_part(a, b), none = pto_splat_f64(0);
    const pto_i64 differ = (pto_i64)(rest < none) ^ (pto_i64)(b < none), whole = (pto_i64)(rest == none);
    const pto_i64 is_number = (pto_i64)(rest == rest); /* NOLINT(misc-redundant-expression) */
    const pto_f64 turned = pto_select_f64(differ & is_number, rest + b, rest);
    return pto_select_f64(whole, pto_copysign_f64(none, b), turned);
}
PTO_VECTOR_FN pto_f64 pto_floordiv_part(pto_f64 a, pto_f64 b)
{
    const pto_f64 rest = pto_fmod_part(a, b), none = pto_splat_f64(0), ratio = a / b, exact = (a - rest) / b;
    const pto_f64 size = pto_abs_f64(exact), near = (size + 0x1p52) - 0x1p52;
    const pto_f64 whole = pto_select_f64((pto_i64)(size < 0x1p52), pto_copysign_f64(near, exact), exact);
    const pto_i64 differ = (pto_i64)(rest != none) & ((pto_i64)(rest < none) ^ (pto_i64)(b < none));
    const pto_f64 lower = pto_select_f64(differ, whole - 1.0, whole);
    const pto_f64 y = pto_select_f64((pto_i64)(lower == none), pto_copysign_f64(none, ratio), lower);
    return pto_select_f64((pto_i64)(b == none), ratio, y);
}

/* tensor.fmod and tensor.mod: exact, and 0.5 ulp where b is added. tensor.floordiv: 0.5 ulp. Branch as pto_rest_f64. */
PTO_VECTOR_FN pto_f32 pto_fmod_f32(pto_f32 a, pto_f32 b) { return PTO_BY_HALVES(pto_fmod_part, a, b, pto_half_f32); }
PTO_VECTOR_FN pto_f32 pto_mod_f32(pto_f32 a, pto_f32 b) { return PTO_BY_HALVES(pto_mod_part, a, b, pto_half_f32); }
PTO_VECTOR_FN pto_f32 pto_floordiv_f32(pto_f32 a, pto_f32 b)
{
    return PTO_BY_HALVES(pto_floordiv_part, a, b, pto_half_f32);
}
PTO_CALL_OF_TWO(fmod)
PTO_CALL_OF_TWO(mod)
PTO_CALL_OF_TWO(floordiv)

/* ---- integers ---- */

#define PTO_QUOTIENT(a, b) ((a) / (b))

/* a / b towards 0, a b-th of which float64 has exactly enough digits; what is left, with the sign of a, and of b. By 0
 * all of them are all ones; the lowest number by -1 wraps. */
PTO_VECTOR_FN pto_i32 pto_div_i32(pto_i32 a, pto_i32 b)
{
    const pto_i32 none = pto_splat_i32(0), minus = pto_splat_i32(-1);
    const pto_mask by_none = pto_eq_i32(b, none), by_minus = pto_eq_i32(b, minus);
    const pto_i32 safe = pto_select_i32(pto_mask_or(by_none, by_minus), pto_splat_i32(1), b);
    const pto_i32 q = PTO_BY_HALVES(PTO_QUOTIENT, a, safe, pto_half_i32);
    return pto_select_i32(by_none, minus, pto_select_i32(by_minus, pto_sub_i32(none, a), q));
}
PTO_VECTOR_FN pto_u32 pto_div_u32(pto_u32 a, pto_u32 b)
{
    const pto_mask by_none = pto_eq_u32(b, pto_splat_u32(0));
    const pto_u32 safe = pto_select_u32(by_none, pto_splat_u32(1), b);
    const pto_u32 q = PTO_BY_HALVES(PTO_QUOTIENT, a, safe, pto_half_u32);
    return pto_select_u32(by_none, pto_splat_u32(0xffffffff), q);
}
PTO_VECTOR_FN pto_i32 pto_fmod_i32(pto_i32 a, pto_i32 b)
{
    const pto_i32 rest = pto_sub_i32(a, pto_mul_i32(pto_div_i32(a, b), b));
    return pto_select_i32(pto_eq_i32(b, pto_splat_i32(0)), pto_splat_i32(-1), rest);
}
PTO_VECTOR_FN pto_u32 pto_fmod_u32(pto_u32 a, pto_u32 b)
{
    return pto_select_u32(pto_eq_u32(b, pto_splat_u32(0)), pto_splat_u32(0xffffffff), a - pto_div_u32(a, b) * b);
}
PTO_VECTOR_FN pto_i32 pto_mod_i32(pto_i32 a, pto_i32 b)
{
    const pto_i32 rest = pto_fmod_i32(a, b), none = pto_splat_i32(0);
    const pto_mask differ = pto_lt_i32(rest ^ b, none), inexact = pto_ne_i32(rest, none), by_none = pto_eq_i32(b, none);
    const pto_mask turns = pto_mask_and(pto_mask_and(differ, inexact), pto_mask_not(by_none));
    return pto_select_i32(turns, pto_add_i32(rest, b), rest);
}
PTO_VECTOR_FN pto_u32 pto_mod_u32(pto_u32 a, pto_u32 b) { return pto_fmod_u32(a, b); }

/* Shifts of a type of `width` bits: by less than 0 or by `width` and more, as far as there are bits. */
PTO_VECTOR_FN pto_i32 pto_shl_i32(pto_i32 a, pto_i32 b, unsigned width)
{
    const pto_mask within = pto_lt_u32((pto_u32)b, pto_splat_u32(width));
    return pto_select_i32(within, (pto_i32)((pto_u32)a << ((pto_u32)b & 31)), pto_splat_i32(0));
}
PTO_VECTOR_FN pto_i32 pto_shr_i32(pto_i32 a, pto_i32 b, unsigned width)
{
    const pto_mask within = pto_lt_u32((pto_u32)b, pto_splat_u32(width));
    return a >> pto_select_i32(within, b, pto_splat_i32(31));
}
PTO_VECTOR_FN pto_u32 pto_shl_u32(pto_u32 a, pto_u32 b, unsigned width)
{
    return pto_select_u32(pto_lt_u32(b, pto_splat_u32(width)), a << (b & 31), pto_splat_u32(0));
}
PTO_VECTOR_FN pto_u32 pto_shr_u32(pto_u32 a, pto_u32 b, unsigned width)
{
    return pto_select_u32(pto_lt_u32(b, pto_splat_u32(width)), a >> (b & 31), pto_splat_u32(0));
}

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
