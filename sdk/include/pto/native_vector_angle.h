/* Sine and its relatives, of f32 vectors. Include <pto/native_vector.h>.
 *
 * x = n pi/2 + r, |r| <= pi/4, by three parts of pi/2 up to 65536 (Cody and Waite); beyond that, and this branches, by
 * those bits of 2/pi that count (M. Payne and R. Hanek, "Radian reduction for trigonometric functions", 1983).
 * Polynomials: tests/native/fit_polynomials.py. */
#ifndef PTO_NATIVE_VECTOR_ANGLE_H
#define PTO_NATIVE_VECTOR_ANGLE_H

#include <pto/native_vector_exp.h>

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#define PTO_HALF_PI 0x1.921fb6p+0f
#define PTO_HALF_PI_REST -0x1.777a5cp-25f
#define PTO_HALF_PI_LAST -0x1.ee59dap-50f

/* Of numbers beyond 65536: n modulo 4 and r. Numbers up to 65536 stay as they are. */
static __attribute__((noinline, unused)) void pto_reduce_large(const float *x, int *n, float *r)
{
    /* 32 zeros, and 2/pi. */
    static const unsigned digits[] = {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041};
    for (int i = 0; i < PTO_LANES; i++) {
        unsigned bits;
        __builtin_memcpy(&bits, x + i, 4);
        const unsigned field = bits >> 23 & 0xff;
        if (!(__builtin_fabsf(x[i]) > 65536.0f)) continue;
        r[i] = x[i] - x[i];
        if (field == 0xff) continue;
        /* x is m 2^e; of 2/pi those bits count that come two places before m's point and later. */
        const unsigned long long m = (bits & 0x7fffff) | 0x800000;
        const unsigned place = field - 150 + 30, word = place / 32, shift = place % 32;
        unsigned w[3];
        for (int k = 0; k < 3; k++) {
            const unsigned long long pair =
                (unsigned long long)digits[word + (unsigned)k] << 32 | digits[word + (unsigned)k + 1];
            w[k] = (unsigned)(pair >> (32 - shift));
        }
        const unsigned long long low = m * w[2], middle = m * w[1] + (low >> 32);
        const unsigned long long turns = ((m * w[0] + (middle >> 32)) << 32) | (middle & 0xffffffff);
        /* Two bits of n, and what is left as a signed part of one. */
        const long long part = (long long)(turns << 2);
        const unsigned quarter = (unsigned)(turns >> 62) + (part < 0);
        const float angle = (float)((double)part * 0x1.921fb54442d18p-64);
        r[i] = bits >> 31 ? -angle : angle;
        n[i] = (int)(bits >> 31 ? 0 - quarter : quarter);
    }
}

/* sin(r) and cos(r), and how many quarters of a turn are to be added. */
typedef struct pto_quarters {
    pto_f32 sine, cosine;
    pto_i32 n;
} pto_quarters;

/* Of x: rows `sin` and `cos`. NaN of infinities. Branches where a lane is beyond 65536. */
PTO_VECTOR_FN pto_quarters pto_angle_parts(pto_f32 x)
{
    const pto_f32 shifted = pto_fma_f32(x, pto_splat_f32(0x1.45f306p-1f), pto_splat_f32(PTO_WHOLE_BITS));
    const pto_f32 whole = shifted - PTO_WHOLE_BITS;
    pto_i32 n = (pto_i32)shifted;
    pto_f32 r = pto_fma_f32(whole, pto_splat_f32(-PTO_HALF_PI), x);
    r = pto_fma_f32(whole, pto_splat_f32(-PTO_HALF_PI_REST), r);
    r = pto_fma_f32(whole, pto_splat_f32(-PTO_HALF_PI_LAST), r);
    if (__builtin_expect(pto_mask_any(pto_gt_f32(pto_abs_f32(x), pto_splat_f32(65536.0f))), 0)) {
        float from[PTO_LANES], rest[PTO_LANES];
        int quarter[PTO_LANES];
        __builtin_memcpy(from, &x, sizeof x);
        __builtin_memcpy(rest, &r, sizeof r);
        __builtin_memcpy(quarter, &n, sizeof n);
        pto_reduce_large(from, quarter, rest);
        __builtin_memcpy(&r, rest, sizeof r);
        __builtin_memcpy(&n, quarter, sizeof n);
    }
    const pto_f32 z = r * r, s = PTO_POLY2(z, -0x1.995400p-13f, 0x1.110778p-7f, -0x1.555546p-3f);
    const pto_f32 c = PTO_POLY2(z, 0x1.99e0ecp-16f, -0x1.6c0c1ap-10f, 0x1.55554ap-5f);
    const pto_quarters parts = {pto_fma_f32(r * z, s, r),
                                pto_fma_f32(z * z, c, pto_fma_f32(z, pto_splat_f32(-0.5f), pto_splat_f32(1))), n};
    return parts;
}

/* The sine where n is even, else the cosine; turned by half a turn where n has the second bit. */
PTO_VECTOR_FN pto_f32 pto_quarter_of(pto_quarters q, pto_i32 n)
{
    const pto_f32 y = pto_select_f32(pto_ne_i32(n & 1, pto_splat_i32(0)), q.cosine, q.sine);
    return (pto_f32)((pto_i32)y ^ (pto_i32)((pto_u32)(n & 2) << 30));
}

/* Sine and cosine: 2 ulp. */
PTO_VECTOR_FN pto_f32 pto_sin_f32(pto_f32 x)
{
    const pto_quarters q = pto_angle_parts(x);
    /* The fused step would lose the sign of -0. */
    return pto_select_f32(pto_eq_f32(x, pto_splat_f32(0)), x, pto_quarter_of(q, q.n));
}
PTO_CALL_OF_ONE(sin)
PTO_VECTOR_FN pto_f32 pto_cos_f32(pto_f32 x)
{
    const pto_quarters q = pto_angle_parts(x);
    return pto_quarter_of(q, q.n + 1);
}
PTO_CALL_OF_ONE(cos)

/* Tangent: 4 ulp. Minus the cosine over the sine where n is odd. */
PTO_VECTOR_FN pto_f32 pto_tan_f32(pto_f32 x)
{
    const pto_quarters q = pto_angle_parts(x);
    const pto_mask odd = pto_ne_i32(q.n & 1, pto_splat_i32(0));
    const pto_f32 y = pto_select_f32(odd, q.cosine, q.sine) / pto_select_f32(odd, pto_neg_f32(q.sine), q.cosine);
    return pto_select_f32(pto_eq_f32(x, pto_splat_f32(0)), x, y);
}
PTO_CALL_OF_ONE(tan)

/* asin(s), where s is |x| up to 0.5 and beyond that the root of (1 - |x|) / 2: s + s z P(z), z = s^2, row `asin`. */
PTO_VECTOR_FN pto_f32 pto_arc_part(pto_f32 size, pto_mask is_large)
{
    const pto_f32 half = pto_fma_f32(size, pto_splat_f32(-0.5f), pto_splat_f32(0.5f));
    const pto_f32 z = pto_select_f32(is_large, half, size * size),
                  s = pto_select_f32(is_large, pto_sqrt_f32(half), size);
    const pto_f32 p = PTO_POLY4(z, 0x1.59cc8ep-5f, 0x1.8bb538p-6f, 0x1.748a2cp-5f, 0x1.33016ap-4f, 0x1.5555cap-3f);
    return pto_fma_f32(s * z, p, s);
}

/* Inverse of the sine and of the cosine, NaN beyond 1: 2.5 ulp. */
PTO_VECTOR_FN pto_f32 pto_asin_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x), pi = pto_splat_f32(PTO_HALF_PI), rest = pto_splat_f32(PTO_HALF_PI_REST);
    const pto_mask is_large = pto_gt_f32(size, pto_splat_f32(0.5f));
    const pto_f32 y = pto_arc_part(size, is_large);
    return pto_copysign_f32(pto_select_f32(is_large, pi - (y + y - rest), y), x);
}
PTO_CALL_OF_ONE(asin)
PTO_VECTOR_FN pto_f32 pto_acos_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x), pi = pto_splat_f32(PTO_HALF_PI), rest = pto_splat_f32(PTO_HALF_PI_REST);
    const pto_mask is_large = pto_gt_f32(size, pto_splat_f32(0.5f)), below = pto_lt_f32(x, pto_splat_f32(0));
    const pto_f32 y = pto_arc_part(size, is_large), near = pi - (pto_copysign_f32(y, x) - rest);
    const pto_f32 back = (pi - (y - rest)) * 2.0f;
    return pto_select_f32(is_large, pto_select_f32(below, back, y + y), near);
}
PTO_CALL_OF_ONE(acos)

/* atan(t) for t from 0 to 1: t + t z P(z), z = t^2, row `atan`. */
PTO_VECTOR_FN pto_f32 pto_atan_part(pto_f32 t)
{
    const pto_f32 z = t * t;
    const pto_f32 p = PTO_POLY8(z, -0x1.d4984ap-10f, 0x1.64c1cep-7f, -0x1.fdfc1cp-6f, 0x1.da5ed4p-5f, -0x1.58155ep-4f,
                                0x1.c08f64p-4f, -0x1.2420b6p-3f, 0x1.9991e6p-3f, -0x1.55553ep-2f);
    return pto_fma_f32(t * z, p, t);
}

/* Inverse of the tangent: 2 ulp. pi/2 less that of 1 / |x| beyond 1. */
PTO_VECTOR_FN pto_f32 pto_atan_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x), one = pto_splat_f32(1);
    const pto_mask steep = pto_gt_f32(size, one);
    const pto_f32 y = pto_atan_part(pto_select_f32(steep, one / size, size));
    const pto_f32 turned = pto_splat_f32(PTO_HALF_PI) - (y - PTO_HALF_PI_REST);
    return pto_copysign_f32(pto_select_f32(steep, turned, y), x);
}
PTO_CALL_OF_ONE(atan)

/* The angle of the point (b, a), from -pi to pi, as C has it for zeros and infinities: 3 ulp. */
PTO_VECTOR_FN pto_f32 pto_atan2_f32(pto_f32 a, pto_f32 b)
{
    const pto_f32 p = pto_abs_f32(a), q = pto_abs_f32(b), none = pto_splat_f32(0), pi = pto_splat_f32(PTO_HALF_PI);
    const pto_f32 most = pto_max_any_f32(p, q), least = pto_min_any_f32(p, q);
    /* Equal ones, which are 0 or infinite too, have the quotient 1, but of zeros, which have 0. */
    const pto_f32 equal = pto_select_f32(pto_eq_f32(most, none), none, pto_splat_f32(1));
    const pto_f32 t = pto_select_f32(pto_eq_f32(p, q), equal, least / most), y = pto_atan_part(t);
    const pto_f32 steep = pto_select_f32(pto_gt_f32(p, q), pi - (y - PTO_HALF_PI_REST), y);
    const pto_mask back = pto_lt_i32((pto_i32)b, pto_splat_i32(0));
    const pto_f32 twice = pto_splat_f32(2 * PTO_HALF_PI) - (steep - 2 * PTO_HALF_PI_REST);
    const pto_f32 angle = pto_copysign_f32(pto_select_f32(back, twice, steep), a);
    /* Of an operand that is NaN. */
    const pto_mask wild = pto_mask_or(pto_isnan_f32(a), pto_isnan_f32(b));
    return pto_select_f32(wild, a + b, angle);
}
PTO_CALL_OF_TWO(atan2)

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
