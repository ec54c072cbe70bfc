/* Vectors of 32-bit lanes, for emitted C: types, masks, selection, arithmetic that has an instruction, reductions.
 * Include <pto/native_vector.h>, which says what holds for all of it. */
#ifndef PTO_NATIVE_VECTOR_BASE_H
#define PTO_NATIVE_VECTOR_BASE_H

#include <stdint.h>

#ifndef PTO_VECTOR_BYTES
#if defined(__AVX512F__)
#define PTO_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define PTO_VECTOR_BYTES 32
#else
#define PTO_VECTOR_BYTES 16
#endif
#endif

/* Lanes of a vector: elements that one step of a loop takes, whatever their size in memory. */
#define PTO_LANES (PTO_VECTOR_BYTES / 4)

#define PTO_VECTOR_FN static inline __attribute__((always_inline, unused))

/* Of what is long and runs once a row: a call, of which the compiler makes code once. */
#define PTO_ROW_FN static __attribute__((noinline, unused))

/* Vectors in parameters of functions that are always inlined meet no calling convention. */
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef float pto_f32 __attribute__((vector_size(PTO_VECTOR_BYTES)));
typedef int pto_i32 __attribute__((vector_size(PTO_VECTOR_BYTES)));
typedef unsigned pto_u32 __attribute__((vector_size(PTO_VECTOR_BYTES)));

/* Which instructions there are: those of AVX-512 with mask registers, of AVX, of SSE4.1, or what the compiler makes of
 * lanes. PTO_ELEMENTWISE: the compiler has __builtin_elementwise_*. */
#if PTO_VECTOR_BYTES == 64 && defined(__AVX512F__)
#define PTO_MASK_REGISTERS 1
#else
#define PTO_MASK_REGISTERS 0
#endif
#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma)
#define PTO_ELEMENTWISE 1
#endif
#endif
#ifndef PTO_ELEMENTWISE
#define PTO_ELEMENTWISE 0
#endif
#if defined(__FMA__) || defined(__AVX512F__) || defined(__ARM_FEATURE_FMA)
#define PTO_HAS_FMA 1
#else
#define PTO_HAS_FMA 0
#endif

/* Of a kernel with a sweep that trails, whose many addresses GCC would keep in vector registers where AVX-512 has
 * enough of them. They come from there in the order of the arithmetic before them, so that nothing of the next row is
 * read ahead. Where GCC tunes for Haswell it does not do that, and what it makes is as fast otherwise. */
#if PTO_MASK_REGISTERS && defined(__x86_64__) && !defined(__clang__)
#define PTO_TRAILING __attribute__((target("tune=haswell")))
#else
#define PTO_TRAILING
#endif

/* One truth value a lane: read and made by the functions below alone. */
#if PTO_MASK_REGISTERS
typedef unsigned short pto_mask;
#else
typedef pto_i32 pto_mask;
#endif

#define PTO_ALL_LANES ((unsigned short)-1)
#define PTO_CURRENT_ROUNDING 4

/* ---- making and reading vectors ---- */

/* The same number in every lane. */
PTO_VECTOR_FN pto_f32 pto_splat_f32(float x)
{
    const pto_f32 zero = {0};
    return x - zero;
}
PTO_VECTOR_FN pto_i32 pto_splat_i32(int x)
{
    const pto_i32 zero = {0};
    return x + zero;
}
PTO_VECTOR_FN pto_u32 pto_splat_u32(unsigned x)
{
    const pto_u32 zero = {0};
    return x + zero;
}

/* A loop over `columns` elements of a row, a vector at a time: from element j on there are n, which is PTO_LANES until
 * the last trip has what is left. Functions that end in `_tail` take n; while it is PTO_LANES they cost as much as the
 * others, since compilers make a loop of whole vectors and one trip more, whose n they know to be less. Of less than no
 * columns there are none. */
#if defined(__GNUC__) && !defined(__clang__)
#define PTO_TWICE _Pragma("GCC unroll 2")
#else
#define PTO_TWICE
#endif
#define PTO_SWEEP(j, n, columns)                                                                      \
    PTO_TWICE for (int64_t rest_ = 0, j = 0; rest_ < 2;                                               \
                   rest_++) for (int64_t n = rest_ ? ((columns) - (j)) & (PTO_LANES - 1) : PTO_LANES; \
                                 rest_ ? n != 0 && (j) < (columns) : (j) + PTO_LANES <= (columns);    \
                                 rest_ ? (n = 0) : ((j) += PTO_LANES))
/* The same with the second trip from element `head` on, which is less than PTO_LANES: those after it are whole vectors
 * from where the row's memory may be streamed to. */
#define PTO_SWEEP_FROM(j, n, columns, head)                                                           \
    PTO_TWICE for (int64_t rest_ = 0, step_ = (head) != 0 ? (head) : PTO_LANES, j = 0; rest_ < 2;     \
                   rest_++) for (int64_t n = rest_ ? ((columns) - (j)) & (PTO_LANES - 1) : PTO_LANES; \
                                 rest_ ? n != 0 && (j) < (columns) : (j) + PTO_LANES <= (columns);    \
                                 rest_ ? (n = 0) : ((j) += step_, step_ = PTO_LANES))

/* The bits of a vector as lanes of another type. */
PTO_VECTOR_FN pto_f32 pto_f32_from_bits(pto_i32 x) { return (pto_f32)x; }
PTO_VECTOR_FN pto_i32 pto_bits_f32(pto_f32 x) { return (pto_i32)x; }

/* 0, 1, 2, .. */
PTO_VECTOR_FN pto_i32 pto_lane_numbers(void)
{
#if PTO_LANES == 16
    const pto_i32 v = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif PTO_LANES == 8
    const pto_i32 v = {0, 1, 2, 3, 4, 5, 6, 7};
#else
    const pto_i32 v = {0, 1, 2, 3};
#endif
    return v;
}

/* ---- masks ---- */

#if PTO_MASK_REGISTERS
#define PTO_COMPARE_F32(word, code, op)                                                                 \
    PTO_VECTOR_FN pto_mask pto_##word##_f32(pto_f32 a, pto_f32 b)                                       \
    {                                                                                                   \
        return (pto_mask)__builtin_ia32_cmpps512_mask(a, b, code, PTO_ALL_LANES, PTO_CURRENT_ROUNDING); \
    }
#define PTO_COMPARE_INT(word, code, op)                                                             \
    PTO_VECTOR_FN pto_mask pto_##word##_i32(pto_i32 a, pto_i32 b)                                   \
    {                                                                                               \
        return (pto_mask)__builtin_ia32_cmpd512_mask(a, b, code, PTO_ALL_LANES);                    \
    }                                                                                               \
    PTO_VECTOR_FN pto_mask pto_##word##_u32(pto_u32 a, pto_u32 b)                                   \
    {                                                                                               \
        return (pto_mask)__builtin_ia32_ucmpd512_mask((pto_i32)a, (pto_i32)b, code, PTO_ALL_LANES); \
    }
#else
#define PTO_COMPARE_F32(word, code, op) \
    PTO_VECTOR_FN pto_mask pto_##word##_f32(pto_f32 a, pto_f32 b) { return (pto_mask)(a op b); }
#define PTO_COMPARE_INT(word, code, op)                                                          \
    PTO_VECTOR_FN pto_mask pto_##word##_i32(pto_i32 a, pto_i32 b) { return (pto_mask)(a op b); } \
    PTO_VECTOR_FN pto_mask pto_##word##_u32(pto_u32 a, pto_u32 b) { return (pto_mask)(a op b); }
#endif
/* pto_eq_f32(a, b), pto_eq_i32, pto_eq_u32, and so on: where the relation holds. With a NaN `ne` holds and no other. */
PTO_COMPARE_F32(eq, 0, ==)
PTO_COMPARE_F32(ne, 4, !=)
PTO_COMPARE_F32(lt, 1, <)
PTO_COMPARE_F32(le, 2, <=)
PTO_COMPARE_F32(ge, 13, >=)
PTO_COMPARE_F32(gt, 14, >)
PTO_COMPARE_INT(eq, 0, ==)
PTO_COMPARE_INT(ne, 4, !=)
PTO_COMPARE_INT(lt, 1, <)
PTO_COMPARE_INT(le, 2, <=)
PTO_COMPARE_INT(ge, 5, >=)
PTO_COMPARE_INT(gt, 6, >)
#undef PTO_COMPARE_F32
#undef PTO_COMPARE_INT

/* Masks combined lane by lane. */
PTO_VECTOR_FN pto_mask pto_mask_and(pto_mask a, pto_mask b) { return (pto_mask)(a & b); }
PTO_VECTOR_FN pto_mask pto_mask_or(pto_mask a, pto_mask b) { return (pto_mask)(a | b); }
PTO_VECTOR_FN pto_mask pto_mask_xor(pto_mask a, pto_mask b) { return (pto_mask)(a ^ b); }
PTO_VECTOR_FN pto_mask pto_mask_not(pto_mask a) { return (pto_mask)~a; }

/* a where the mask holds, else b; bits stay as they are. */
PTO_VECTOR_FN pto_i32 pto_select_i32(pto_mask m, pto_i32 a, pto_i32 b)
{
#if PTO_MASK_REGISTERS && defined(__clang__)
    return (pto_i32)__builtin_ia32_selectd_512(m, a, b);
#elif PTO_MASK_REGISTERS
    return (pto_i32)__builtin_ia32_blendmd_512_mask(b, a, m);
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX2__)
    return (pto_i32)__builtin_ia32_blendvps256((pto_f32)b, (pto_f32)a, (pto_f32)m);
#else
    return (m & a) | (~m & b);
#endif
}
PTO_VECTOR_FN pto_u32 pto_select_u32(pto_mask m, pto_u32 a, pto_u32 b)
{
    return (pto_u32)pto_select_i32(m, (pto_i32)a, (pto_i32)b);
}
PTO_VECTOR_FN pto_f32 pto_select_f32(pto_mask m, pto_f32 a, pto_f32 b)
{
#if PTO_MASK_REGISTERS && defined(__clang__)
    return (pto_f32)__builtin_ia32_selectps_512(m, a, b);
#elif PTO_MASK_REGISTERS
    return (pto_f32)__builtin_ia32_blendmps_512_mask(b, a, m);
#else
    return (pto_f32)pto_select_i32(m, (pto_i32)a, (pto_i32)b);
#endif
}

/* 1 where the mask holds, else 0: how truth values lie in lanes of integers. */
PTO_VECTOR_FN pto_i32 pto_i32_from_mask(pto_mask m) { return pto_select_i32(m, pto_splat_i32(1), pto_splat_i32(0)); }
/* Whether lanes are not 0. */
PTO_VECTOR_FN pto_mask pto_mask_from_i32(pto_i32 x) { return pto_ne_i32(x, pto_splat_i32(0)); }

/* The first n lanes of x, and `rest` in the others. */
#define PTO_FIRST(word, vector, scalar)                                                                             \
    PTO_VECTOR_FN vector pto_first_##word##_tail(vector x, scalar rest, int64_t n)                                  \
    {                                                                                                               \
        if (n == PTO_LANES) return x;                                                                               \
        return pto_select_##word(pto_gt_i32(pto_splat_i32((int)n), pto_lane_numbers()), x, pto_splat_##word(rest)); \
    }
PTO_FIRST(f32, pto_f32, float)
PTO_FIRST(i32, pto_i32, int)
PTO_FIRST(u32, pto_u32, unsigned)
#undef PTO_FIRST

/* Whether the mask holds in one of the lanes, or in all of them. */
PTO_VECTOR_FN int pto_mask_any(pto_mask m)
{
#if PTO_MASK_REGISTERS
    return m != 0;
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX2__)
    return __builtin_ia32_movmskps256((pto_f32)m) != 0;
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE2__)
    return __builtin_ia32_movmskps((pto_f32)m) != 0;
#else
    int any = 0;
    for (int i = 0; i < PTO_LANES; i++) any |= m[i];
    return any != 0;
#endif
}
PTO_VECTOR_FN int pto_mask_all(pto_mask m)
{
#if PTO_MASK_REGISTERS
    return m == PTO_ALL_LANES;
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX2__)
    return __builtin_ia32_movmskps256((pto_f32)m) == 0xff;
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE2__)
    return __builtin_ia32_movmskps((pto_f32)m) == 0xf;
#else
    return !pto_mask_any(pto_mask_not(m));
#endif
}

/* Whether lanes have the sign bit, -0 and some NaN among them. */
PTO_VECTOR_FN pto_mask pto_is_signed_f32(pto_f32 x) { return pto_lt_i32((pto_i32)x, pto_splat_i32(0)); }

/* Whether lanes are NaN. */
PTO_VECTOR_FN pto_mask pto_isnan_f32(pto_f32 x) { return pto_ne_f32(x, x); }

/* x, but any NaN is the one that arithmetic makes: 7fc00000. */
PTO_VECTOR_FN pto_f32 pto_canonical_f32(pto_f32 x)
{
    return pto_select_f32(pto_isnan_f32(x), pto_f32_from_bits(pto_splat_i32(0x7fc00000)), x);
}

/* ---- arithmetic ---- */

#if !PTO_HAS_FMA
typedef double pto_wide_f64 __attribute__((vector_size(PTO_VECTOR_BYTES * 2)));
typedef long long pto_wide_i64 __attribute__((vector_size(PTO_VECTOR_BYTES * 2)));
#endif

/* a b + c, rounded once. Where the ISA lacks it: in double, the sum rounded to odd, which a second rounding to f32
 * leaves exact. Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums" (2008). */
PTO_VECTOR_FN pto_f32 pto_fma_f32(pto_f32 a, pto_f32 b, pto_f32 c)
{
#if PTO_ELEMENTWISE && PTO_HAS_FMA
    return __builtin_elementwise_fma(a, b, c);
#elif PTO_MASK_REGISTERS
    return __builtin_ia32_vfmaddps512_mask(a, b, c, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
#elif PTO_VECTOR_BYTES == 32 && defined(__FMA__)
    return __builtin_ia32_vfmaddps256(a, b, c);
#elif PTO_VECTOR_BYTES == 16 && defined(__FMA__)
    return __builtin_ia32_vfmaddps(a, b, c);
#elif PTO_HAS_FMA
    for (int i = 0; i < PTO_LANES; i++) a[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return a;
#else
    const pto_wide_f64 p = __builtin_convertvector(a, pto_wide_f64) * __builtin_convertvector(b, pto_wide_f64);
    const pto_wide_f64 q = __builtin_convertvector(c, pto_wide_f64), s = p + q, t = s - p;
    const pto_wide_f64 e = (p - (s - t)) + (q - t); /* the rest of the sum; NaN where that is infinite */
    const pto_wide_i64 bits = (pto_wide_i64)s, zero = {0}, one = zero + 1;
    const pto_wide_i64 inexact = (pto_wide_i64)(e < 0) | (pto_wide_i64)(e > 0);
    /* Towards the rest: away from zero where it has the sign of the sum. */
    const pto_wide_i64 step = one | ((bits ^ (pto_wide_i64)e) >> 63);
    return __builtin_convertvector((pto_wide_f64)(bits + (step & inexact & ((bits & 1) - 1))), pto_f32);
#endif
}

/* The function of one number: lane 0 of the vector's. That of a long one is a call. */
#define PTO_LANE_OF_ONE(kind, name) \
    kind float pto_##name##_f32_1(float x) { return pto_##name##_f32(pto_splat_f32(x))[0]; }
#define PTO_LANE_OF_TWO(kind, name) \
    kind float pto_##name##_f32_1(float a, float b) { return pto_##name##_f32(pto_splat_f32(a), pto_splat_f32(b))[0]; }
#define PTO_OF_ONE(name) PTO_LANE_OF_ONE(PTO_VECTOR_FN, name)
#define PTO_OF_TWO(name) PTO_LANE_OF_TWO(PTO_VECTOR_FN, name)
#define PTO_CALL_OF_ONE(name) PTO_LANE_OF_ONE(PTO_ROW_FN, name)
#define PTO_CALL_OF_TWO(name) PTO_LANE_OF_TWO(PTO_ROW_FN, name)

/* The square root, correctly rounded; NaN below 0, -0 of -0. */
PTO_VECTOR_FN pto_f32 pto_sqrt_f32(pto_f32 x)
{
#if PTO_ELEMENTWISE
    return __builtin_elementwise_sqrt(x);
#elif PTO_MASK_REGISTERS && defined(__clang__)
    return __builtin_ia32_sqrtps512(x, PTO_CURRENT_ROUNDING);
#elif PTO_MASK_REGISTERS
    return __builtin_ia32_sqrtps512_mask(x, x, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX__)
    return __builtin_ia32_sqrtps256(x);
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE__)
    return __builtin_ia32_sqrtps(x);
#else
    for (int i = 0; i < PTO_LANES; i++) x[i] = __builtin_sqrtf(x[i]);
    return x;
#endif
}

PTO_OF_ONE(sqrt)

/* |x| and -x: the sign bit alone changes, so that every NaN keeps its other bits. */
PTO_VECTOR_FN pto_f32 pto_abs_f32(pto_f32 x) { return (pto_f32)((pto_i32)x & 0x7fffffff); }
PTO_VECTOR_FN pto_f32 pto_minus_size_f32(pto_f32 x) { return (pto_f32)((pto_i32)x | (int)0x80000000u); }
PTO_VECTOR_FN pto_f32 pto_neg_f32(pto_f32 x) { return (pto_f32)((pto_i32)x ^ pto_splat_i32((int)0x80000000u)); }
PTO_OF_ONE(abs)
PTO_OF_ONE(neg)
/* |a| with the sign of b. */
PTO_VECTOR_FN pto_f32 pto_copysign_f32(pto_f32 a, pto_f32 b)
{
    return (pto_f32)(((pto_i32)a & 0x7fffffff) | ((pto_i32)b & pto_splat_i32((int)0x80000000u)));
}
PTO_OF_TWO(copysign)

/* One over x, and one over the root: quotients, so that every ISA computes the same. 0.5 ulp, and 1.5 ulp. */
PTO_VECTOR_FN pto_f32 pto_reciprocal_f32(pto_f32 x) { return pto_splat_f32(1) / x; }
PTO_VECTOR_FN pto_f32 pto_rsqrt_f32(pto_f32 x) { return pto_splat_f32(1) / pto_sqrt_f32(x); }
PTO_OF_ONE(reciprocal)
PTO_OF_ONE(rsqrt)

/* ---- whole numbers ---- */

#if PTO_ELEMENTWISE
#define PTO_WHOLE(word, code, adjust) \
    PTO_VECTOR_FN pto_f32 pto_##word##_f32(pto_f32 x) { return __builtin_elementwise_##word(x); }
#elif PTO_MASK_REGISTERS
#define PTO_WHOLE(word, code, adjust)                                                           \
    PTO_VECTOR_FN pto_f32 pto_##word##_f32(pto_f32 x)                                           \
    {                                                                                           \
        return __builtin_ia32_rndscaleps_mask(x, code, x, PTO_ALL_LANES, PTO_CURRENT_ROUNDING); \
    }
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX__)
#define PTO_WHOLE(word, code, adjust) \
    PTO_VECTOR_FN pto_f32 pto_##word##_f32(pto_f32 x) { return __builtin_ia32_roundps256(x, code); }
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE4_1__)
#define PTO_WHOLE(word, code, adjust) \
    PTO_VECTOR_FN pto_f32 pto_##word##_f32(pto_f32 x) { return __builtin_ia32_roundps(x, code); }
#else
/* What is added to 2^23 has no places after the point. From there on, and for NaN, x is whole already. */
#define PTO_WHOLE(word, code, adjust)                                                              \
    PTO_VECTOR_FN pto_f32 pto_##word##_f32(pto_f32 x)                                              \
    {                                                                                              \
        const pto_f32 size = pto_abs_f32(x), big = pto_splat_f32(0x1p23f), one = pto_splat_f32(1); \
        const pto_f32 near = pto_copysign_f32((size + big) - big, x);                              \
        const pto_f32 whole = adjust;                                                              \
        (void)one;                                                                                 \
        return pto_select_f32(pto_lt_f32(size, big), pto_copysign_f32(whole, x), x);               \
    }
#endif
#define PTO_LESS_WHERE(mask, value) \
    ((value) - (pto_f32)((pto_i32)one & pto_select_i32((mask), pto_splat_i32(-1), pto_splat_i32(0))))
#define PTO_MORE_WHERE(mask, value) \
    ((value) + (pto_f32)((pto_i32)one & pto_select_i32((mask), pto_splat_i32(-1), pto_splat_i32(0))))
/* Rounded to whole numbers: to nearest, of two the even one; down; up; towards 0. -0 and what rounds to 0 from below
 * become -0. */
PTO_WHOLE(roundeven, 8, near)
PTO_WHOLE(floor, 9, PTO_LESS_WHERE(pto_gt_f32(near, x), near))
PTO_WHOLE(ceil, 10, PTO_MORE_WHERE(pto_lt_f32(near, x), near))
PTO_WHOLE(trunc, 11, pto_copysign_f32(PTO_LESS_WHERE(pto_gt_f32(pto_abs_f32(near), size), pto_abs_f32(near)), x))
#undef PTO_WHOLE
#undef PTO_LESS_WHERE
#undef PTO_MORE_WHERE

PTO_OF_ONE(roundeven)
PTO_OF_ONE(floor)
PTO_OF_ONE(ceil)
PTO_OF_ONE(trunc)

/* ---- maxima and minima ---- */

/* a > b ? a : b, and a < b ? a : b: b where one is NaN and where both are zeros. */
PTO_VECTOR_FN pto_f32 pto_second_max_f32(pto_f32 a, pto_f32 b)
{
#if PTO_MASK_REGISTERS && defined(__clang__)
    return __builtin_ia32_maxps512(a, b, PTO_CURRENT_ROUNDING);
#elif PTO_MASK_REGISTERS
    return __builtin_ia32_maxps512_mask(a, b, a, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX__)
    return __builtin_ia32_maxps256(a, b);
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE__)
    return __builtin_ia32_maxps(a, b);
#else
    return pto_select_f32(pto_gt_f32(a, b), a, b);
#endif
}
PTO_VECTOR_FN pto_f32 pto_second_min_f32(pto_f32 a, pto_f32 b)
{
#if PTO_MASK_REGISTERS && defined(__clang__)
    return __builtin_ia32_minps512(a, b, PTO_CURRENT_ROUNDING);
#elif PTO_MASK_REGISTERS
    return __builtin_ia32_minps512_mask(a, b, a, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX__)
    return __builtin_ia32_minps256(a, b);
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE__)
    return __builtin_ia32_minps(a, b);
#else
    return pto_select_f32(pto_lt_f32(a, b), a, b);
#endif
}

/* The larger and the smaller, by the rule `nan` of the rows: `any` leaves open what a NaN operand does, `ignore` takes
 * the other operand, `propagate` makes a NaN. +0 is larger than -0: equal numbers have the same bits except for zeros.
 */
PTO_VECTOR_FN pto_f32 pto_max_any_f32(pto_f32 a, pto_f32 b)
{
    return (pto_f32)((pto_i32)pto_second_max_f32(a, b) & (pto_i32)pto_second_max_f32(b, a));
}
PTO_VECTOR_FN pto_f32 pto_min_any_f32(pto_f32 a, pto_f32 b)
{
    return (pto_f32)((pto_i32)pto_second_min_f32(a, b) | (pto_i32)pto_second_min_f32(b, a));
}
PTO_VECTOR_FN pto_f32 pto_max_ignore_f32(pto_f32 a, pto_f32 b)
{
    const pto_f32 most = pto_select_f32(pto_isnan_f32(a), b, pto_max_any_f32(a, b));
    return pto_select_f32(pto_isnan_f32(b), a, most);
}
PTO_VECTOR_FN pto_f32 pto_min_ignore_f32(pto_f32 a, pto_f32 b)
{
    const pto_f32 least = pto_select_f32(pto_isnan_f32(a), b, pto_min_any_f32(a, b));
    return pto_select_f32(pto_isnan_f32(b), a, least);
}
PTO_VECTOR_FN pto_f32 pto_max_propagate_f32(pto_f32 a, pto_f32 b)
{
    const pto_f32 most = pto_select_f32(pto_isnan_f32(b), b, pto_max_any_f32(a, b));
    return pto_select_f32(pto_isnan_f32(a), a, most);
}
PTO_VECTOR_FN pto_f32 pto_min_propagate_f32(pto_f32 a, pto_f32 b)
{
    const pto_f32 least = pto_select_f32(pto_isnan_f32(b), b, pto_min_any_f32(a, b));
    return pto_select_f32(pto_isnan_f32(a), a, least);
}

/* The larger and the smaller of x and a number, as pto_max_ignore_f32: one instruction or two where the compiler knows
 * the number. Of two zeros an instruction takes the second. */
PTO_VECTOR_FN pto_f32 pto_max_scalar_f32(pto_f32 x, float c)
{
    const pto_f32 all = pto_splat_f32(c);
    if (!__builtin_constant_p(c) || c != c) return pto_max_ignore_f32(x, all);
    if (c == 0 && __builtin_signbit(c)) return pto_select_f32(pto_ge_f32(x, all), x, all);
    return pto_second_max_f32(x, all);
}
PTO_VECTOR_FN pto_f32 pto_min_scalar_f32(pto_f32 x, float c)
{
    const pto_f32 all = pto_splat_f32(c);
    if (!__builtin_constant_p(c) || c != c) return pto_min_ignore_f32(x, all);
    if (c == 0 && !__builtin_signbit(c)) return pto_select_f32(pto_le_f32(x, all), x, all);
    return pto_second_min_f32(x, all);
}

/* Integers that wrap: signed vectors may overflow no more than signed numbers may. */
PTO_VECTOR_FN pto_i32 pto_add_i32(pto_i32 a, pto_i32 b) { return (pto_i32)((pto_u32)a + (pto_u32)b); }
PTO_VECTOR_FN pto_i32 pto_sub_i32(pto_i32 a, pto_i32 b) { return (pto_i32)((pto_u32)a - (pto_u32)b); }
PTO_VECTOR_FN pto_i32 pto_mul_i32(pto_i32 a, pto_i32 b) { return (pto_i32)((pto_u32)a * (pto_u32)b); }

/* tensor.relu, tensor.sign, tensor.clip and tensor.prelu: exact, except for the product of the last. */
PTO_VECTOR_FN pto_f32 pto_relu_f32(pto_f32 x)
{
    return pto_select_f32(pto_le_f32(x, pto_splat_f32(0)), pto_splat_f32(0), x);
}
PTO_VECTOR_FN pto_f32 pto_sign_f32(pto_f32 x)
{
    const pto_f32 none = pto_splat_f32(0), one = pto_splat_f32(1), sized = pto_copysign_f32(one, x);
    return pto_select_f32(pto_eq_f32(x, none), none, pto_select_f32(pto_isnan_f32(x), x, sized));
}
PTO_OF_ONE(relu)
PTO_OF_ONE(sign)
PTO_VECTOR_FN pto_f32 pto_clip_f32(pto_f32 x, pto_f32 low, pto_f32 high)
{
    return pto_min_propagate_f32(pto_max_propagate_f32(x, low), high);
}
PTO_VECTOR_FN pto_f32 pto_prelu_f32(pto_f32 a, pto_f32 b)
{
    return pto_select_f32(pto_gt_f32(a, pto_splat_f32(0)), a, a * b);
}
PTO_OF_TWO(prelu)

/* The larger and the smaller of integers. A clang without the first of these makes the instruction of the selection. */
#if PTO_ELEMENTWISE
#define PTO_EXTREME(word, relation, type, letters) __builtin_elementwise_##word(a, b)
#elif defined(__clang__)
#define PTO_EXTREME(word, relation, type, letters) pto_select_##type(pto_##relation##_##type(a, b), a, b)
#elif PTO_MASK_REGISTERS
#define PTO_EXTREME(word, relation, type, letters) \
    (pto_##type) __builtin_ia32_p##word##letters##512_mask((pto_i32)a, (pto_i32)b, (pto_i32)a, PTO_ALL_LANES)
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX2__)
#define PTO_EXTREME(word, relation, type, letters) \
    (pto_##type) __builtin_ia32_p##word##letters##256((pto_i32)a, (pto_i32)b)
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE4_1__)
#define PTO_EXTREME(word, relation, type, letters) \
    (pto_##type) __builtin_ia32_p##word##letters##128((pto_i32)a, (pto_i32)b)
#else
#define PTO_EXTREME(word, relation, type, letters) pto_select_##type(pto_##relation##_##type(a, b), a, b)
#endif
PTO_VECTOR_FN pto_i32 pto_max_i32(pto_i32 a, pto_i32 b) { return PTO_EXTREME(max, gt, i32, sd); }
PTO_VECTOR_FN pto_i32 pto_min_i32(pto_i32 a, pto_i32 b) { return PTO_EXTREME(min, lt, i32, sd); }
PTO_VECTOR_FN pto_u32 pto_max_u32(pto_u32 a, pto_u32 b) { return PTO_EXTREME(max, gt, u32, ud); }
PTO_VECTOR_FN pto_u32 pto_min_u32(pto_u32 a, pto_u32 b) { return PTO_EXTREME(min, lt, u32, ud); }
#undef PTO_EXTREME

/* ---- reductions ---- */

/* Lanes exchanged with those `s` away, a power of two. */
#if PTO_LANES == 16
#define PTO_EXCHANGED(v, s)                                                                                     \
    __builtin_shufflevector(v, v, 0 ^ s, 1 ^ s, 2 ^ s, 3 ^ s, 4 ^ s, 5 ^ s, 6 ^ s, 7 ^ s, 8 ^ s, 9 ^ s, 10 ^ s, \
                            11 ^ s, 12 ^ s, 13 ^ s, 14 ^ s, 15 ^ s)
#elif PTO_LANES == 8
#define PTO_EXCHANGED(v, s) __builtin_shufflevector(v, v, 0 ^ s, 1 ^ s, 2 ^ s, 3 ^ s, 4 ^ s, 5 ^ s, 6 ^ s, 7 ^ s)
#else
#define PTO_EXCHANGED(v, s) __builtin_shufflevector(v, v, 0 ^ s, 1 ^ s, 2 ^ s, 3 ^ s)
#endif
#if PTO_LANES == 16
#define PTO_TREE(v, combine) ((v) = combine((v), PTO_EXCHANGED(v, 8)), PTO_TREE_OF_8(v, combine))
#elif PTO_LANES == 8
#define PTO_TREE(v, combine) PTO_TREE_OF_8(v, combine)
#else
#define PTO_TREE(v, combine) PTO_TREE_OF_4(v, combine)
#endif
#define PTO_TREE_OF_8(v, combine) ((v) = combine((v), PTO_EXCHANGED(v, 4)), PTO_TREE_OF_4(v, combine))
#define PTO_TREE_OF_4(v, combine) \
    ((v) = combine((v), PTO_EXCHANGED(v, 2)), (v) = combine((v), PTO_EXCHANGED(v, 1)), (v)[0])
#define PTO_ADD(a, b) ((a) + (b))
#define PTO_MUL(a, b) ((a) * (b))

/* All lanes combined by one tree: lane i with lane i + n/2, then the halves of what is left. The sum and the product
 * of f32 depend on the number of lanes, thus on the machine alone. Extremes by the rule of their name. */
PTO_VECTOR_FN float pto_sum_f32(pto_f32 v) { return PTO_TREE(v, PTO_ADD); }
PTO_VECTOR_FN float pto_product_f32(pto_f32 v) { return PTO_TREE(v, PTO_MUL); }
PTO_VECTOR_FN float pto_largest_any_f32(pto_f32 v) { return PTO_TREE(v, pto_max_any_f32); }
PTO_VECTOR_FN float pto_largest_ignore_f32(pto_f32 v) { return PTO_TREE(v, pto_max_ignore_f32); }
PTO_VECTOR_FN float pto_largest_propagate_f32(pto_f32 v) { return PTO_TREE(v, pto_max_propagate_f32); }
PTO_VECTOR_FN float pto_smallest_any_f32(pto_f32 v) { return PTO_TREE(v, pto_min_any_f32); }
PTO_VECTOR_FN float pto_smallest_ignore_f32(pto_f32 v) { return PTO_TREE(v, pto_min_ignore_f32); }
PTO_VECTOR_FN float pto_smallest_propagate_f32(pto_f32 v) { return PTO_TREE(v, pto_min_propagate_f32); }
PTO_VECTOR_FN unsigned pto_sum_u32(pto_u32 v) { return PTO_TREE(v, PTO_ADD); }
PTO_VECTOR_FN unsigned pto_product_u32(pto_u32 v) { return PTO_TREE(v, PTO_MUL); }
PTO_VECTOR_FN int pto_sum_i32(pto_i32 v) { return (int)pto_sum_u32((pto_u32)v); }
PTO_VECTOR_FN int pto_product_i32(pto_i32 v) { return (int)pto_product_u32((pto_u32)v); }
PTO_VECTOR_FN int pto_largest_i32(pto_i32 v) { return PTO_TREE(v, pto_max_i32); }
PTO_VECTOR_FN int pto_smallest_i32(pto_i32 v) { return PTO_TREE(v, pto_min_i32); }
PTO_VECTOR_FN unsigned pto_largest_u32(pto_u32 v) { return PTO_TREE(v, pto_max_u32); }
PTO_VECTOR_FN unsigned pto_smallest_u32(pto_u32 v) { return PTO_TREE(v, pto_min_u32); }

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
