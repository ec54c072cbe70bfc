/* Logarithms, what is made of them, and the error function, of f32 vectors. Include <pto/native_vector.h>.
 *
 * log: x = 2^k (1 + f), f from -1/4 to 1/2; log(1 + f) = f - f^2/2 + f^3 P(f). The division of x as in
 * the public Cephes library by S. Moshier and fdlibm by Sun. Polynomials: tests/native/fit_polynomials.py. */
#ifndef PTO_NATIVE_VECTOR_LOG_H
#define PTO_NATIVE_VECTOR_LOG_H

#include <pto/native_vector_exp.h>

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* x = 2^k (1 + f) for positive finite x. */
typedef struct pto_factors {
    pto_f32 k, f;
} pto_factors;

/* In parts: by instructions, or by bits, subnormals scaled first. */
PTO_VECTOR_FN pto_factors pto_log_factors(pto_f32 x)
{
#if PTO_MASK_REGISTERS
    const pto_f32 part = __builtin_ia32_getmantps512_mask(x, 3, x, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
    const pto_f32 of_x = __builtin_ia32_getexpps512_mask(x, x, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
    const pto_f32 of_part = __builtin_ia32_getexpps512_mask(part, x, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
    const pto_factors parts = {of_x - of_part, part - 1.0f};
#else
    const pto_mask is_small = pto_lt_f32(x, pto_splat_f32(0x1p-126f));
    const pto_i32 bits = (pto_i32)pto_select_f32(is_small, x * 0x1p24f, x);
    const pto_i32 k = (bits - 0x3f400000) >> 23; /* of 3/4 */
    const pto_f32 part = (pto_f32)(bits - (k << 23)), whole = __builtin_convertvector(k, pto_f32);
    const pto_factors parts = {pto_select_f32(is_small, whole - 24.0f, whole), part - 1.0f};
#endif
    return parts;
}

/* log(1 + f) - f: row `log`. */
PTO_VECTOR_FN pto_f32 pto_log_rest(pto_f32 f)
{
    const pto_f32 p = PTO_POLY7(f, -0x1.718ed6p-5f, 0x1.acce26p-4f, -0x1.0d989cp-3f, 0x1.28841ap-3f, -0x1.54ee38p-3f,
                                0x1.996978p-3f, -0x1.000046p-2f, 0x1.5555a4p-2f);
    /* f^2 (f P - 1/2) */
    return f * f * pto_fma_f32(f, p, pto_splat_f32(-0.5f));
}

/* y, but what a logarithm is beyond positive numbers: -inf of 0, x of inf and NaN, NaN below 0. */
PTO_VECTOR_FN pto_f32 pto_log_ends(pto_f32 x, pto_f32 y)
{
#if PTO_MASK_REGISTERS
    /* By what x is, four bits each from the lowest: NaN (2: x), NaN, 0 (4: -inf), 1, -inf (3: NaN), inf (5), below 0,
     * else (0: y). */
    return __builtin_ia32_fixupimmps512_mask(y, x, pto_splat_i32(0x03530422), 0, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
#else
    const pto_f32 none = pto_splat_f32(0), infinite = pto_splat_f32(__builtin_inff());
    const pto_f32 below = pto_select_f32(pto_lt_f32(x, none), pto_splat_f32(__builtin_nanf("")), x);
    const pto_f32 end = pto_select_f32(pto_eq_f32(x, none), -infinite, below);
    return pto_select_f32(pto_mask_and(pto_gt_f32(x, none), pto_lt_f32(x, infinite)), y, end);
#endif
}

/* k ln 2 + f + rest, as exactly as the three are known. */
PTO_VECTOR_FN pto_f32 pto_log_sum(pto_f32 k, pto_f32 f, pto_f32 rest)
{
    const pto_f32 low = pto_fma_f32(k, pto_splat_f32(PTO_LN2_REST), rest);
    return pto_fma_f32(k, pto_splat_f32(PTO_LN2), f + low);
}

/* Natural logarithm: 1 ulp. */
PTO_VECTOR_FN pto_f32 pto_log_f32(pto_f32 x)
{
    const pto_factors p = pto_log_factors(x);
    return pto_log_ends(x, pto_log_sum(p.k, p.f, pto_log_rest(p.f)));
}
PTO_CALL_OF_ONE(log)

/* (f + rest) c + k d, where c = high + low. */
PTO_VECTOR_FN pto_f32 pto_log_in_base(pto_factors p, float high, float low, float k_high, float k_low)
{
    const pto_f32 rest = pto_log_rest(p.f), sum = p.f + rest, lost = rest - (sum - p.f);
    const pto_f32 small = pto_fma_f32(sum, pto_splat_f32(low), pto_fma_f32(p.k, pto_splat_f32(k_low), lost * high));
    return pto_fma_f32(p.k, pto_splat_f32(k_high), pto_fma_f32(sum, pto_splat_f32(high), small));
}

/* Logarithms to the bases 2 and 10: 2 ulp. */
PTO_VECTOR_FN pto_f32 pto_log2_f32(pto_f32 x)
{
    return pto_log_ends(x, pto_log_in_base(pto_log_factors(x), PTO_LOG2E, 0x1.4ae0c0p-26f, 1.0f, 0.0f));
}
PTO_CALL_OF_ONE(log2)
PTO_VECTOR_FN pto_f32 pto_log10_f32(pto_f32 x)
{
    return pto_log_ends(
        x, pto_log_in_base(pto_log_factors(x), 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344136p-2f, -0x1.ec10c0p-27f));
}
PTO_CALL_OF_ONE(log10)

/* log(1 + x): 1.5 ulp. u = 1 + x rounded; what the rounding lost belongs to f. */
PTO_VECTOR_FN pto_f32 pto_log1p_f32(pto_f32 x)
{
    const pto_f32 one = pto_splat_f32(1), u = x + one;
    const pto_mask is_large = pto_gt_f32(x, one);
    /* The smaller of both summands against what the sum has of it. */
    const pto_f32 lost = pto_select_f32(is_large, one - (u - x), x - (u - one));
    const pto_i32 k = ((pto_i32)u - 0x3f400000) >> 23;
    const pto_f32 f = (pto_f32)((pto_i32)u - (k << 23)) - one;
    const pto_f32 part = lost * pto_power_of_two(pto_max_i32(0 - k, pto_splat_i32(-127)));
    const pto_f32 g = f + part, rest = pto_log_rest(g) + (part - (g - f));
    const pto_f32 y = pto_log_sum(__builtin_convertvector(k, pto_f32), g, rest);
    const pto_f32 tiny = pto_select_f32(pto_lt_f32(pto_abs_f32(x), pto_splat_f32(0x1p-30f)), x, y);
    return pto_log_ends(u, tiny);
}
PTO_CALL_OF_ONE(log1p)

/* Error function: 2 ulp. |x| below 0.85: x + x P(x^2), row `erf_near`; beyond: 1 - e^-Q(|x|), row `erf_far`, which is 1
 * from 4 on. */
PTO_VECTOR_FN pto_f32 pto_erf_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x), z = x * x, b = pto_second_min_f32(pto_splat_f32(4), size);
    const pto_f32 p = PTO_POLY6(z, 0x1.465526p-14f, -0x1.a4186cp-11f, 0x1.542560p-8f, -0x1.b7fef6p-6f, 0x1.ce2d5ap-4f,
                                -0x1.812740p-2f, 0x1.06eba8p-3f);
    const pto_f32 near = pto_fma_f32(x, p, x);
    const pto_f32 q = PTO_POLY8(b, 0x1.8ae506p-20f, 0x1.5d3140p-20f, -0x1.500fa2p-12f, 0x1.f2a08cp-9f, -0x1.8fb966p-6f,
                                0x1.b7ddc4p-4f, 0x1.449e3ap-1f, 0x1.21153ep+0f, -0x1.0209d2p-13f);
    const pto_f32 far = pto_copysign_f32(1.0f - pto_exp_f32(pto_neg_f32(q)), x);
    return pto_select_f32(pto_lt_f32(size, pto_splat_f32(0.85f)), near, far);
}
PTO_CALL_OF_ONE(erf)

/* 1 - erf(x): 4.5 ulp. |x| below 0.85: 1 - (x + x P(x^2)); beyond: e^(-x^2) Q((x - 3) / (x + 3)), row `erfc`, what x^2
 * loses when it is rounded taken back; 2 less that below 0. */
PTO_VECTOR_FN pto_f32 pto_erfc_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x), z = x * x, b = pto_second_min_f32(pto_splat_f32(10.1f), size);
    const pto_f32 p = PTO_POLY6(z, 0x1.465526p-14f, -0x1.a4186cp-11f, 0x1.542560p-8f, -0x1.b7fef6p-6f, 0x1.ce2d5ap-4f,
                                -0x1.812740p-2f, 0x1.06eba8p-3f);
    const pto_f32 near = pto_splat_f32(1) - pto_fma_f32(x, p, x), t = (b - 3.0f) / (b + 3.0f);
    const pto_f32 q = PTO_POLY8(t, -0x1.1af9b2p-11f, 0x1.80d292p-11f, 0x1.16825ep-8f, -0x1.8fbc0ap-6f, 0x1.258e08p-4f,
                                -0x1.336fc8p-3f, 0x1.f6ff0cp-3f, -0x1.4e102cp-2f, 0x1.6e9828p-3f);
    const pto_f32 square = b * b, lost = pto_fma_f32(b, b, -square);
    const pto_exponential e = pto_exp_parts(pto_neg_f32(square));
    const pto_f32 part = e.part * q, far = pto_scale_f32(pto_fma_f32(part, -lost, part), e.n);
    const pto_f32 turned = pto_select_f32(pto_lt_f32(x, pto_splat_f32(0)), 2.0f - far, far);
    return pto_select_f32(pto_lt_f32(size, pto_splat_f32(0.85f)), near, turned);
}
PTO_CALL_OF_ONE(erfc)

/* Inverses of the hyperbolic sine and cosine, by log(1 + y): 3 ulp. From 2^28 on log(2 |x|). */
PTO_VECTOR_FN pto_f32 pto_asinh_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x), near = pto_second_min_f32(pto_splat_f32(0x1p28f), size), square = near * near;
    const pto_mask far = pto_gt_f32(size, pto_splat_f32(0x1p28f));
    const pto_f32 small = near + square / (pto_sqrt_f32(square + 1.0f) + 1.0f);
    const pto_f32 log = pto_log1p_f32(pto_select_f32(far, size, small));
    return pto_copysign_f32(pto_select_f32(far, log + PTO_LN2, log), x);
}
PTO_CALL_OF_ONE(asinh)
PTO_VECTOR_FN pto_f32 pto_acosh_f32(pto_f32 x)
{
    const pto_f32 t = pto_second_min_f32(pto_splat_f32(0x1p28f), x) - 1.0f;
    const pto_mask far = pto_gt_f32(x, pto_splat_f32(0x1p28f));
    const pto_f32 small = t + pto_sqrt_f32(pto_fma_f32(t, t, t + t));
    const pto_f32 log = pto_log1p_f32(pto_select_f32(far, x, small));
    const pto_f32 y = pto_select_f32(far, log + PTO_LN2, log);
    return pto_select_f32(pto_lt_f32(x, pto_splat_f32(1)), pto_splat_f32(__builtin_nanf("")), y);
}
PTO_CALL_OF_ONE(acosh)

/* Inverse of the hyperbolic tangent, NaN beyond 1: log(1 + 2 |x| / (1 - |x|)) / 2, 3 ulp. Half of what is subnormal is
 * not exact; there it is x. */
PTO_VECTOR_FN pto_f32 pto_atanh_f32(pto_f32 x)
{
    const pto_f32 size = pto_abs_f32(x), y = pto_log1p_f32((size + size) / (1.0f - size)) * 0.5f;
    return pto_copysign_f32(pto_select_f32(pto_lt_f32(size, pto_splat_f32(0x1p-20f)), size, y), x);
}
PTO_CALL_OF_ONE(atanh)

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
