/* Vectors and memory: elements of every type in 32-bit lanes, whole vectors and tails; conversions of tensor.cast.
 * Include <pto/native_vector.h>. */
#ifndef PTO_NATIVE_VECTOR_MEMORY_H
#define PTO_NATIVE_VECTOR_MEMORY_H

#include <pto/native.h>
#include <pto/native_vector_base.h>

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* As many elements of 16 and of 8 bits as a vector has lanes. */
typedef unsigned short pto_raw16 __attribute__((vector_size(PTO_VECTOR_BYTES / 2)));
typedef short pto_raw16s __attribute__((vector_size(PTO_VECTOR_BYTES / 2)));
typedef unsigned char pto_raw8 __attribute__((vector_size(PTO_VECTOR_BYTES / 4)));
typedef signed char pto_raw8s __attribute__((vector_size(PTO_VECTOR_BYTES / 4)));

/* ---- bits of 32, 16 and 8 bits ----
 * Memory may have any alignment. Tails read and write the first n elements alone, 0 <= n <= PTO_LANES; a lane without
 * element is 0. All of them are one branch, which a loop repeats the same way until its last trip. */

#if PTO_MASK_REGISTERS
#define PTO_FIRST_LANES(n) ((unsigned short)((1u << (n)) - 1))
#endif
#if PTO_MASK_REGISTERS && defined(__AVX512BW__) && defined(__AVX512VL__)
#define PTO_NARROW_MASKS 1
typedef short pto_hi_ __attribute__((vector_size(32)));
typedef char pto_qi_ __attribute__((vector_size(16)));
#if defined(__clang__)
#define PTO_MASKED(type, vector, p) ((vector *)(p))
#else
#define PTO_MASKED(type, vector, p) ((type *)(p))
#endif
#else
#define PTO_NARROW_MASKS 0
#endif

/* Vectors of bits, as the functions of types below take them from memory and bring them there. What is in memory has
 * types of its own: GCC makes a copy of bytes of memcpy for some CPUs, which no instruction takes as its operand. */
typedef pto_f32 pto_loose32 __attribute__((aligned(1), may_alias));
typedef pto_raw16 pto_loose16 __attribute__((aligned(1), may_alias));
typedef pto_raw8 pto_loose8 __attribute__((aligned(1), may_alias));
PTO_VECTOR_FN pto_f32 pto_load_bits32(const void *p) { return *(const pto_loose32 *)p; }
PTO_VECTOR_FN void pto_store_bits32(void *p, pto_f32 v) { *(pto_loose32 *)p = v; }
PTO_VECTOR_FN pto_f32 pto_load_bits32_tail(const void *p, int64_t n)
{
    if (n == PTO_LANES) return pto_load_bits32(p);
    pto_f32 v = {0};
#if PTO_MASK_REGISTERS
    v = __builtin_ia32_loadups512_mask((const float *)p, v, PTO_FIRST_LANES(n));
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX2__)
    v = __builtin_ia32_maskloadps256((const pto_f32 *)p, pto_splat_i32((int)n) > pto_lane_numbers());
#else
    __builtin_memcpy(&v, p, (unsigned long)n * 4);
#endif
    return v;
}
PTO_VECTOR_FN void pto_store_bits32_tail(void *p, pto_f32 v, int64_t n)
{
    if (n == PTO_LANES) {
        pto_store_bits32(p, v);
        return;
    }
#if PTO_MASK_REGISTERS
    __builtin_ia32_storeups512_mask((float *)p, v, PTO_FIRST_LANES(n));
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX2__)
    __builtin_ia32_maskstoreps256((pto_f32 *)p, pto_splat_i32((int)n) > pto_lane_numbers(), v);
#else
    __builtin_memcpy(p, &v, (unsigned long)n * 4);
#endif
}
PTO_VECTOR_FN pto_raw16 pto_load_bits16(const void *p) { return *(const pto_loose16 *)p; }
PTO_VECTOR_FN void pto_store_bits16(void *p, pto_raw16 v) { *(pto_loose16 *)p = v; }
PTO_VECTOR_FN pto_raw16 pto_load_bits16_tail(const void *p, int64_t n)
{
    if (n == PTO_LANES) return pto_load_bits16(p);
    pto_raw16 v = {0};
#if PTO_NARROW_MASKS
    v = (pto_raw16)__builtin_ia32_loaddquhi256_mask(PTO_MASKED(const short, const pto_hi_, p), (pto_hi_)v,
                                                    PTO_FIRST_LANES(n));
#else
    __builtin_memcpy(&v, p, (unsigned long)n * 2);
#endif
    return v;
}
PTO_VECTOR_FN void pto_store_bits16_tail(void *p, pto_raw16 v, int64_t n)
{
    if (n == PTO_LANES) {
        pto_store_bits16(p, v);
        return;
    }
#if PTO_NARROW_MASKS
    __builtin_ia32_storedquhi256_mask(PTO_MASKED(short, pto_hi_, p), (pto_hi_)v, PTO_FIRST_LANES(n));
#else
    __builtin_memcpy(p, &v, (unsigned long)n * 2);
#endif
}
PTO_VECTOR_FN pto_raw8 pto_load_bits8(const void *p) { return *(const pto_loose8 *)p; }
PTO_VECTOR_FN void pto_store_bits8(void *p, pto_raw8 v) { *(pto_loose8 *)p = v; }
PTO_VECTOR_FN pto_raw8 pto_load_bits8_tail(const void *p, int64_t n)
{
    if (n == PTO_LANES) return pto_load_bits8(p);
    pto_raw8 v = {0};
#if PTO_NARROW_MASKS
    v = (pto_raw8)__builtin_ia32_loaddquqi128_mask(PTO_MASKED(const char, const pto_qi_, p), (pto_qi_)v,
                                                   PTO_FIRST_LANES(n));
#else
    __builtin_memcpy(&v, p, (unsigned long)n);
#endif
    return v;
}
PTO_VECTOR_FN void pto_store_bits8_tail(void *p, pto_raw8 v, int64_t n)
{
    if (n == PTO_LANES) {
        pto_store_bits8(p, v);
        return;
    }
#if PTO_NARROW_MASKS
    __builtin_ia32_storedquqi128_mask(PTO_MASKED(char, pto_qi_, p), (pto_qi_)v, PTO_FIRST_LANES(n));
#else
    __builtin_memcpy(p, &v, (unsigned long)n);
#endif
}

/* ---- lanes of elements of 16 and of 8 bits ----
 * Widened with their sign or with zeros, and narrowed to their low bits. GCC takes these conversions apart into single
 * elements where it has no instruction of its own for both types, also where the CPU has one. */

#if !defined(__clang__) && PTO_MASK_REGISTERS
typedef char pto_qi_lanes_ __attribute__((vector_size(16)));
#define PTO_LANES_AS(vector, f, v) ((vector)f((v), (vector){0}, PTO_ALL_LANES))
/* By AVX-512: elements of 16 bits. */
PTO_VECTOR_FN pto_i32 pto_widen_s16(pto_raw16 v)
{
    return PTO_LANES_AS(pto_i32, __builtin_ia32_pmovsxwd512_mask, (pto_raw16s)v);
}
PTO_VECTOR_FN pto_u32 pto_widen_u16(pto_raw16 v)
{
    return (pto_u32)PTO_LANES_AS(pto_i32, __builtin_ia32_pmovzxwd512_mask, (pto_raw16s)v);
}
PTO_VECTOR_FN pto_raw16 pto_narrow_16(pto_u32 v)
{
    return (pto_raw16)PTO_LANES_AS(pto_raw16s, __builtin_ia32_pmovdw512_mask, (pto_i32)v);
}
/* By AVX-512: elements of 8 bits. */
PTO_VECTOR_FN pto_i32 pto_widen_s8(pto_raw8 v)
{
    return PTO_LANES_AS(pto_i32, __builtin_ia32_pmovsxbd512_mask, (pto_qi_lanes_)v);
}
PTO_VECTOR_FN pto_u32 pto_widen_u8(pto_raw8 v)
{
    return (pto_u32)PTO_LANES_AS(pto_i32, __builtin_ia32_pmovzxbd512_mask, (pto_qi_lanes_)v);
}
PTO_VECTOR_FN pto_raw8 pto_narrow_8(pto_u32 v)
{
    return (pto_raw8)PTO_LANES_AS(pto_qi_lanes_, __builtin_ia32_pmovdb512_mask, (pto_i32)v);
}
#elif !defined(__clang__) && __GNUC__ >= 12 && PTO_VECTOR_BYTES == 32 && defined(__AVX2__)
typedef char pto_qi_lanes_ __attribute__((vector_size(16)));
typedef char pto_qi_vector_ __attribute__((vector_size(32)));
typedef short pto_hi_vector_ __attribute__((vector_size(32)));
typedef long long pto_di_lanes_ __attribute__((vector_size(16)));
#define PTO_LOW_LANES(v) ((pto_qi_lanes_)(pto_di_lanes_){(long long)(v), 0})
/* By AVX2: elements of 16 bits. */
PTO_VECTOR_FN pto_i32 pto_widen_s16(pto_raw16 v) { return (pto_i32)__builtin_ia32_pmovsxwd256((pto_raw16s)v); }
PTO_VECTOR_FN pto_u32 pto_widen_u16(pto_raw16 v) { return (pto_u32)__builtin_ia32_pmovzxwd256((pto_raw16s)v); }
PTO_VECTOR_FN pto_raw16 pto_narrow_16(pto_u32 v)
{
    const pto_hi_vector_ halves = (pto_hi_vector_)v;
    return (pto_raw16)__builtin_shufflevector(halves, halves, 0, 2, 4, 6, 8, 10, 12, 14);
}
/* By AVX2: elements of 8 bits. */
PTO_VECTOR_FN pto_i32 pto_widen_s8(pto_raw8 v) { return (pto_i32)__builtin_ia32_pmovsxbd256(PTO_LOW_LANES(v)); }
PTO_VECTOR_FN pto_u32 pto_widen_u8(pto_raw8 v) { return (pto_u32)__builtin_ia32_pmovzxbd256(PTO_LOW_LANES(v)); }
PTO_VECTOR_FN pto_raw8 pto_narrow_8(pto_u32 v)
{
    const pto_qi_vector_ bytes = (pto_qi_vector_)v;
    return (pto_raw8)__builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 16, 20, 24, 28);
}
#else
/* By the compiler: elements of 16 bits. */
PTO_VECTOR_FN pto_i32 pto_widen_s16(pto_raw16 v) { return __builtin_convertvector((pto_raw16s)v, pto_i32); }
PTO_VECTOR_FN pto_u32 pto_widen_u16(pto_raw16 v) { return __builtin_convertvector(v, pto_u32); }
PTO_VECTOR_FN pto_raw16 pto_narrow_16(pto_u32 v) { return __builtin_convertvector(v, pto_raw16); }
/* By the compiler: elements of 8 bits. */
PTO_VECTOR_FN pto_i32 pto_widen_s8(pto_raw8 v) { return __builtin_convertvector((pto_raw8s)v, pto_i32); }
PTO_VECTOR_FN pto_u32 pto_widen_u8(pto_raw8 v) { return __builtin_convertvector(v, pto_u32); }
PTO_VECTOR_FN pto_raw8 pto_narrow_8(pto_u32 v) { return __builtin_convertvector(v, pto_raw8); }
#endif

/* ---- streaming ---- */

/* Stores that leave caches alone write large results faster, which nobody reads soon. A vector of them has to be
 * aligned. */
PTO_VECTOR_FN int pto_streams(const void *row, int is_large)
{
    return is_large && (uintptr_t)row % PTO_VECTOR_BYTES == 0;
}
/* How many elements of four bytes there are before the first that vectors may be streamed to, in a row of so many
 * columns; 0 where it is short, too. */
PTO_VECTOR_FN int64_t pto_head(const void *row, int is_large, int64_t columns)
{
    return is_large && columns >= 2 * PTO_LANES ? (int64_t)(-(uintptr_t)row % PTO_VECTOR_BYTES / 4) : 0;
}
PTO_VECTOR_FN void pto_stream_bits32(void *p, pto_f32 v)
{
#if defined(__clang__)
    __builtin_nontemporal_store(v, (pto_f32 *)p);
#elif PTO_MASK_REGISTERS
    __builtin_ia32_movntps512((float *)p, v);
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX__)
    __builtin_ia32_movntps256((float *)p, v);
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE__)
    __builtin_ia32_movntps((float *)p, v);
#else
    pto_store_bits32(p, v);
#endif
}
/* After the last of them, before another thread may read. */
PTO_VECTOR_FN void pto_stream_end(void)
{
#if defined(__SSE__)
    __builtin_ia32_sfence();
#endif
}
/* Memory that is read soon; any address will do. */
PTO_VECTOR_FN void pto_prefetch(const void *p) { __builtin_prefetch(p, 0, 2); }

/* ---- rounding ---- */

/* The modes of tensor.cast. ROUND: to nearest, ties away from zero. ODD: towards zero, then the last bit set where that
 * was inexact. */
enum pto_rounding { PTO_RINT, PTO_ROUND, PTO_FLOOR, PTO_CEIL, PTO_TRUNC, PTO_ODD };

/* 1 where a magnitude with the last digit that of `kept` is rounded up: `rest` was cut off, below 2 `half`. `sign` has
 * the sign bit of the number. */
PTO_VECTOR_FN pto_u32 pto_rounds_up(pto_u32 kept, pto_u32 rest, pto_u32 half, pto_u32 sign, int mode)
{
    const pto_u32 none = pto_splat_u32(0), one = pto_splat_u32(1), negative = sign >> 31;
    switch (mode) {
    case PTO_RINT: return pto_select_u32(pto_gt_u32(rest + (kept & 1), half), one, none);
    case PTO_ROUND: return pto_select_u32(pto_ge_u32(rest, half), one, none);
    case PTO_FLOOR: return pto_select_u32(pto_ne_u32(rest, none), negative, none);
    case PTO_CEIL: return pto_select_u32(pto_ne_u32(rest, none), negative ^ 1, none);
    case PTO_ODD: return pto_select_u32(pto_ne_u32(rest, none), (kept & 1) ^ 1, none);
    default: return none;
    }
}

/* x rounded to whole numbers by a mode: the conversion of f32 to itself. */
PTO_VECTOR_FN pto_f32 pto_whole_f32(pto_f32 x, int mode)
{
    const pto_f32 size = pto_abs_f32(x), least = pto_trunc_f32(size), rest = size - least, none = pto_splat_f32(0);
    const pto_f32 one = pto_splat_f32(1), half = least * 0.5f;
    switch (mode) {
    case PTO_RINT: return pto_roundeven_f32(x);
    case PTO_FLOOR: return pto_floor_f32(x);
    case PTO_CEIL: return pto_ceil_f32(x);
    case PTO_TRUNC: return pto_trunc_f32(x);
    case PTO_ROUND:
        return pto_copysign_f32(least + pto_select_f32(pto_ge_f32(rest, pto_splat_f32(0.5f)), one, none), x);
    default:
        return pto_copysign_f32(
            least +
                pto_select_f32(pto_mask_and(pto_gt_f32(rest, none), pto_eq_f32(half, pto_trunc_f32(half))), one, none),
            x);
    }
}

/* ---- narrow floats ---- */

/* The bits of f32 in a float type with these fields and patterns, as a row of types.def has them: in the low bits of
 * each lane. saturate: overflow becomes the largest value. */
PTO_VECTOR_FN pto_u32 pto_narrow_f32(pto_f32 x, int exponent_bits, int mantissa_bits, unsigned largest,
                                     unsigned quiet_nan, int mode, int saturate)
{
    const pto_u32 bits = (pto_u32)x, size = bits & 0x7fffffff, field = size >> 23;
    const unsigned emin = (unsigned)(128 - (1 << (exponent_bits - 1)) + 1); /* of f32, of the least normal number */
    const pto_mask is_subnormal = pto_eq_u32(field, pto_splat_u32(0));
    const pto_u32 exponent = pto_max_u32(field, pto_splat_u32(1));
    const pto_u32 digits = (size & 0x7fffff) | pto_select_u32(is_subnormal, pto_splat_u32(0), pto_splat_u32(0x800000));
    const pto_u32 place = pto_max_u32(exponent, pto_splat_u32(emin));
    const pto_u32 shift = pto_min_u32(place - exponent + (unsigned)(23 - mantissa_bits), pto_splat_u32(31));
    const pto_u32 kept = digits >> shift, rest = digits - (kept << shift), half = pto_splat_u32(1) << (shift - 1);
    /* The leading one of a normal number adds one to the exponent field, and a carry one more. */
    const pto_u32 value = kept + pto_rounds_up(kept, rest, half, bits, mode) + ((place - emin) << mantissa_bits);
    const unsigned beyond = saturate ? largest : largest + 1;
    const pto_mask is_beyond =
        pto_mask_or(pto_gt_u32(value, pto_splat_u32(largest)), pto_eq_u32(size, pto_splat_u32(0x7f800000)));
    const pto_u32 sign = bits >> 31 << (exponent_bits + mantissa_bits);
    const pto_u32 number = sign | pto_select_u32(is_beyond, pto_splat_u32(beyond), value);
    return pto_select_u32(pto_gt_u32(size, pto_splat_u32(0x7f800000)), pto_splat_u32(quiet_nan), number);
}

/* Bits of f16, bf16, f8e4m3 and f8e5m2 in the low half or quarter of each lane. A NaN is the quiet one of the type. */
PTO_VECTOR_FN pto_u32 pto_f16_from_f32(pto_f32 x, int mode, int saturate)
{
    return pto_narrow_f32(x, 5, 10, 0x7bff, 0x7e00, mode, saturate);
}
PTO_VECTOR_FN pto_u32 pto_bf16_from_f32(pto_f32 x, int mode, int saturate)
{
    return pto_narrow_f32(x, 8, 7, 0x7f7f, 0x7fc0, mode, saturate);
}
PTO_VECTOR_FN pto_u32 pto_f8e4m3_from_f32(pto_f32 x, int mode, int saturate)
{
    return pto_narrow_f32(x, 4, 3, 0x7e, 0x7f, mode, saturate);
}
PTO_VECTOR_FN pto_u32 pto_f8e5m2_from_f32(pto_f32 x, int mode, int saturate)
{
    return pto_narrow_f32(x, 5, 2, 0x7b, 0x7e, mode, saturate);
}
/* A power of two: without sign or zero. NaN of NaN and of what has the sign bit; 0, which is 2^-127, of what is less.
 */
PTO_VECTOR_FN pto_u32 pto_f8e8m0_from_f32(pto_f32 x, int mode, int saturate)
{
    const pto_u32 bits = (pto_u32)x, field = bits >> 23;
    const pto_mask is_subnormal = pto_eq_u32(field, pto_splat_u32(0));
    /* 2^-127 and more of the subnormals: their second bit leads. */
    const pto_u32 rest = pto_select_u32(is_subnormal, (bits & 0x3fffff) << 1, bits & 0x7fffff);
    const pto_u32 value = field + pto_rounds_up(field, rest, pto_splat_u32(0x400000), pto_splat_u32(0), mode);
    const pto_u32 least = pto_select_u32(pto_le_u32(bits, pto_splat_u32(0x400000)), pto_splat_u32(0), value);
    const pto_u32 number =
        pto_select_u32(pto_gt_u32(least, pto_splat_u32(0xfe)), pto_splat_u32(saturate ? 0xfe : 0xff), least);
    return pto_select_u32(pto_gt_u32(bits, pto_splat_u32(0x7f800000)), pto_splat_u32(0xff), number);
}

/* f32 of the bits in the low half or quarter of each lane; exact. */
PTO_VECTOR_FN pto_f32 pto_f32_from_f16(pto_u32 bits)
{
    const pto_u32 size = (bits & 0x7fff) << 13;
    const pto_u32 number = (pto_u32)((pto_f32)size * 0x1p112f);
    const pto_u32 f = pto_select_u32(pto_ge_u32(size, pto_splat_u32(0x0f800000)), size | 0x7f800000, number);
    return (pto_f32)(f | (bits & 0x8000) << 16);
}
PTO_VECTOR_FN pto_f32 pto_f32_from_bf16(pto_u32 bits) { return (pto_f32)(bits << 16); }
PTO_VECTOR_FN pto_f32 pto_f32_from_f8e5m2(pto_u32 bits) { return pto_f32_from_f16(bits << 8); }
PTO_VECTOR_FN pto_f32 pto_f32_from_f8e4m3(pto_u32 bits)
{
    const pto_u32 size = bits & 0x7f, number = (pto_u32)((pto_f32)(size << 20) * 0x1p120f);
    const pto_u32 f = pto_select_u32(pto_eq_u32(size, pto_splat_u32(0x7f)), pto_splat_u32(0x7fc00000), number);
    return (pto_f32)(f | (bits & 0x80) << 24);
}
PTO_VECTOR_FN pto_f32 pto_f32_from_f8e8m0(pto_u32 bits)
{
    const pto_u32 least = pto_select_u32(pto_eq_u32(bits, pto_splat_u32(0)), pto_splat_u32(0x400000), bits << 23);
    return (pto_f32)pto_select_u32(pto_eq_u32(bits, pto_splat_u32(0xff)), pto_splat_u32(0x7fc00000), least);
}

/* ---- f16 and bf16 as the ISA has them ---- */

/* f16 elements widened, and f32 rounded to nearest even f16, overflow to infinity; NaN is 7e00. */
PTO_VECTOR_FN pto_f32 pto_widen_f16(pto_raw16 h)
{
#if PTO_MASK_REGISTERS
    const pto_f32 none = {0};
    return __builtin_ia32_vcvtph2ps512_mask((pto_raw16s)h, none, PTO_ALL_LANES, PTO_CURRENT_ROUNDING);
#elif PTO_VECTOR_BYTES == 32 && defined(__F16C__)
    return __builtin_ia32_vcvtph2ps256((pto_raw16s)h);
#else
    return pto_f32_from_f16(pto_widen_u16(h));
#endif
}
PTO_VECTOR_FN pto_raw16 pto_rint_f16(pto_f32 x)
{
#if PTO_MASK_REGISTERS
    const pto_raw16s none = {0};
    return (pto_raw16)__builtin_ia32_vcvtps2ph512_mask(pto_canonical_f32(x), 0, none, PTO_ALL_LANES);
#elif PTO_VECTOR_BYTES == 32 && defined(__F16C__)
    return (pto_raw16)__builtin_ia32_vcvtps2ph256(pto_canonical_f32(x), 0);
#else
    return pto_narrow_16(pto_f16_from_f32(x, PTO_RINT, 0));
#endif
}
/* f32 rounded to nearest even bf16; NaN is 7fc0. */
PTO_VECTOR_FN pto_u32 pto_rint_bf16(pto_f32 x)
{
    const pto_u32 bits = (pto_u32)x, even = bits >> 16 & 1;
    return pto_select_u32(pto_isnan_f32(x), pto_splat_u32(0x7fc0), (bits + 0x7fff + even) >> 16);
}
/* The same as 16 bits. With PTO_ROUNDS_TO_BF16 the CPU has the instruction for it, which takes subnormal numbers for
 * zeros and keeps the sign and bits of NaN: where there are any it is not used. */
PTO_VECTOR_FN pto_raw16 pto_narrow_bf16(pto_f32 x)
{
#if PTO_MASK_REGISTERS && defined(PTO_ROUNDS_TO_BF16)
    enum { SUBNORMAL_OR_NAN = 0xa1 };
    if (__builtin_expect(__builtin_ia32_fpclassps512_mask(x, SUBNORMAL_OR_NAN, PTO_ALL_LANES) == 0, 1)) {
        pto_raw16 rounded;
        __asm__("vcvtneps2bf16 %1, %0" : "=v"(rounded) : "v"(x));
        return rounded;
    }
#endif
    return pto_narrow_16(pto_rint_bf16(x));
}
/* What storing would write, in the low half of each lane. */
PTO_VECTOR_FN pto_u32 pto_bits_f16(pto_f32 x) { return pto_widen_u16(pto_rint_f16(x)); }
PTO_VECTOR_FN pto_u32 pto_bits_bf16(pto_f32 x) { return pto_rint_bf16(x); }
/* x as storing and loading it as f16 or bf16 would make it. */
PTO_VECTOR_FN pto_f32 pto_through_f16(pto_f32 x) { return pto_widen_f16(pto_rint_f16(x)); }
PTO_VECTOR_FN pto_f32 pto_through_bf16(pto_f32 x) { return pto_f32_from_bf16(pto_rint_bf16(x)); }

/* ---- integers and f32 ---- */

/* i32 and u32 as f32, rounded by a mode. */
PTO_VECTOR_FN pto_f32 pto_f32_from_parts(pto_f32 high, pto_f32 low, int mode)
{
    /* The sum of two exact parts and what its rounding lost: T. J. Dekker (1971); |high| >= |low| or high is 0. */
    const pto_f32 sum = high + low, rest = low - (sum - high), none = pto_splat_f32(0);
    const pto_u32 bits = (pto_u32)sum;
    const pto_mask inexact = pto_ne_f32(rest, none), below = pto_lt_f32(rest, none);
    const pto_mask negative = pto_lt_f32(sum, none), inwards = pto_mask_xor(below, negative);
    const pto_mask even = pto_eq_u32(bits & 1, pto_splat_u32(0));
    const pto_f32 outer = (pto_f32)(bits + 1), inner = (pto_f32)(bits - 1);
    const pto_mask tie = pto_eq_f32(outer - sum, rest + rest);
    switch (mode) {
    case PTO_RINT: return sum;
    case PTO_ROUND: return pto_select_f32(pto_mask_and(inexact, tie), outer, sum);
    case PTO_FLOOR: return pto_select_f32(below, pto_select_f32(negative, outer, inner), sum);
    case PTO_CEIL:
        return pto_select_f32(pto_mask_and(inexact, pto_mask_not(below)), pto_select_f32(negative, inner, outer), sum);
    case PTO_TRUNC: return pto_select_f32(pto_mask_and(inexact, inwards), inner, sum);
    default: return pto_select_f32(pto_mask_and(inexact, even), pto_select_f32(inwards, inner, outer), sum);
    }
}
PTO_VECTOR_FN pto_f32 pto_f32_from_i32(pto_i32 x, int mode)
{
    if (mode == PTO_RINT) return __builtin_convertvector(x, pto_f32);
    return pto_f32_from_parts(__builtin_convertvector(x >> 16, pto_f32) * 65536.0f,
                              __builtin_convertvector(x & 0xffff, pto_f32), mode);
}
PTO_VECTOR_FN pto_f32 pto_f32_from_u32(pto_u32 x, int mode)
{
    return pto_f32_from_parts(__builtin_convertvector((pto_i32)(x >> 16), pto_f32) * 65536.0f,
                              __builtin_convertvector((pto_i32)(x & 0xffff), pto_f32), mode);
}

/* The low 32 bits of x, which is whole; 0 of infinities and NaN. */
PTO_VECTOR_FN pto_u32 pto_wrapped_f32(pto_f32 x)
{
    const pto_u32 bits = (pto_u32)x, size = bits & 0x7fffffff, field = size >> 23;
    const pto_f32 near = pto_select_f32(pto_lt_u32(size, pto_splat_u32(0x4b000000)), x, pto_splat_f32(0));
    const pto_u32 shift = pto_min_u32(field - 150, pto_splat_u32(31)); /* from 2^23 on: digits have zeros after them */
    const pto_u32 digits = ((bits & 0x7fffff) | 0x800000) << shift, none = pto_splat_u32(0);
    const pto_u32 sized = pto_select_u32(pto_ge_u32(size, pto_splat_u32(0x4f800000)),
                                         pto_select_u32(pto_lt_u32(field, pto_splat_u32(182)), digits, none), digits);
    const pto_u32 far = pto_select_u32(pto_ne_u32(bits >> 31, none), none - sized, sized);
    return pto_select_u32(pto_lt_u32(size, pto_splat_u32(0x4b000000)), (pto_u32) __builtin_convertvector(near, pto_i32),
                          far);
}

/* An integer type from `low` to `high`, both within i32: x rounded by the mode; clamped, or the low bits with the sign
 * of the lanes' 32, of which a store takes as many as the type has. NaN and infinities: 0 and the limits, or, not
 * saturated, the lowest value of a signed type and all ones of an unsigned one. */
PTO_VECTOR_FN pto_i32 pto_int_from_f32(pto_f32 x, int low, int high, int mode, int saturate)
{
    const pto_f32 whole = pto_whole_f32(x, mode);
    pto_i32 number = (pto_i32)pto_wrapped_f32(whole);
    if (!saturate) {
        const pto_mask is_finite = pto_lt_f32(pto_abs_f32(x), pto_splat_f32(__builtin_inff()));
        return pto_select_i32(is_finite, number, pto_splat_i32(low < 0 ? low : -1));
    }
    number = pto_select_i32(pto_ge_f32(whole, pto_splat_f32((float)high)), pto_splat_i32(high), number);
    number = pto_select_i32(pto_le_f32(whole, pto_splat_f32((float)low)), pto_splat_i32(low), number);
    return pto_select_i32(pto_isnan_f32(x), pto_splat_i32(0), number);
}
PTO_VECTOR_FN pto_i32 pto_i32_from_f32(pto_f32 x, int mode, int saturate)
{
    return pto_int_from_f32(x, -2147483647 - 1, 2147483647, mode, saturate);
}
PTO_VECTOR_FN pto_u32 pto_u32_from_f32(pto_f32 x, int mode, int saturate)
{
    const pto_f32 whole = pto_whole_f32(x, mode);
    pto_u32 number = pto_wrapped_f32(whole);
    if (!saturate) {
        const pto_mask is_finite = pto_lt_f32(pto_abs_f32(x), pto_splat_f32(__builtin_inff()));
        return pto_select_u32(is_finite, number, pto_splat_u32(0xffffffff));
    }
    number = pto_select_u32(pto_ge_f32(whole, pto_splat_f32(0x1p32f)), pto_splat_u32(0xffffffff), number);
    return pto_select_u32(pto_gt_f32(whole, pto_splat_f32(0)), number, pto_splat_u32(0));
}

/* ---- elements of types ---- */

#define PTO_LOADS(word, element, vector, bits, convert)                                                \
    PTO_VECTOR_FN vector pto_load_##word(const element *p) { return convert(pto_load_bits##bits(p)); } \
    PTO_VECTOR_FN vector pto_load_##word##_tail(const element *p, int64_t n)                           \
    {                                                                                                  \
        return convert(pto_load_bits##bits##_tail(p, n));                                              \
    }
#define PTO_STORES(word, element, vector, bits, convert)                                               \
    PTO_VECTOR_FN void pto_store_##word(element *p, vector v) { pto_store_bits##bits(p, convert(v)); } \
    PTO_VECTOR_FN void pto_store_##word##_tail(element *p, vector v, int64_t n)                        \
    {                                                                                                  \
        pto_store_bits##bits##_tail(p, convert(v), n);                                                 \
    }
#define PTO_SAME(v) (v)
#define PTO_AS_F32(v) ((pto_f32)(v))
#define PTO_AS_I32(v) ((pto_i32)(v))
#define PTO_AS_U32(v) ((pto_u32)(v))
#define PTO_WIDEN_BF16(v) pto_f32_from_bf16(pto_widen_u16(v))
#define PTO_NARROW_I16(v) pto_narrow_16((pto_u32)(v))
#define PTO_NARROW_I8(v) pto_narrow_8((pto_u32)(v))
#define PTO_WIDEN_BOOL(v) pto_mask_from_i32((pto_i32)pto_widen_u8(v))
#define PTO_NARROW_BOOL(m) PTO_NARROW_I8(pto_i32_from_mask(m))
/* pto_load_f32(p), pto_load_f32_tail(p, n), pto_store_f32(p, v), pto_store_f32_tail(p, v, n), and so on: elements of a
 * type in memory as lanes. f16 and bf16 are `unsigned short` in memory and f32 in lanes, rounded to nearest even when
 * stored; integers of 8 and 16 bits are i32 or u32 in lanes, of which the low bits are stored; bool is a byte in memory
 * and a mask in lanes. Other rounding, and floats of 8 bits: pto_store_u16 and pto_store_u8 of what pto_f16_from_f32
 * and its like return, and pto_f32_from_f8e4m3 of what pto_load_u8 loads. */
PTO_LOADS(f32, float, pto_f32, 32, PTO_SAME)
PTO_STORES(f32, float, pto_f32, 32, PTO_SAME)
PTO_LOADS(i32, int, pto_i32, 32, PTO_AS_I32)
PTO_STORES(i32, int, pto_i32, 32, PTO_AS_F32)
PTO_LOADS(u32, unsigned, pto_u32, 32, PTO_AS_U32)
PTO_STORES(u32, unsigned, pto_u32, 32, PTO_AS_F32)
PTO_LOADS(f16, unsigned short, pto_f32, 16, pto_widen_f16)
PTO_STORES(f16, unsigned short, pto_f32, 16, pto_rint_f16)
PTO_LOADS(bf16, unsigned short, pto_f32, 16, PTO_WIDEN_BF16)
PTO_STORES(bf16, unsigned short, pto_f32, 16, pto_narrow_bf16)
PTO_LOADS(i16, short, pto_i32, 16, pto_widen_s16)
PTO_STORES(i16, short, pto_i32, 16, PTO_NARROW_I16)
PTO_LOADS(u16, unsigned short, pto_u32, 16, pto_widen_u16)
PTO_STORES(u16, unsigned short, pto_u32, 16, pto_narrow_16)
PTO_LOADS(i8, signed char, pto_i32, 8, pto_widen_s8)
PTO_STORES(i8, signed char, pto_i32, 8, PTO_NARROW_I8)
PTO_LOADS(u8, unsigned char, pto_u32, 8, pto_widen_u8)
PTO_STORES(u8, unsigned char, pto_u32, 8, pto_narrow_8)
PTO_LOADS(bool, unsigned char, pto_mask, 8, PTO_WIDEN_BOOL)
PTO_STORES(bool, unsigned char, pto_mask, 8, PTO_NARROW_BOOL)

/* The same for a row of which pto_streams says whether its vectors are streamed; n as of a tail. */
#define PTO_PUTS(word, element, vector, convert)                                                           \
    PTO_VECTOR_FN void pto_put_##word(element *p, vector v, int streams)                                   \
    {                                                                                                      \
        if (streams)                                                                                       \
            pto_stream_bits32(p, convert(v));                                                              \
        else                                                                                               \
            pto_store_##word(p, v);                                                                        \
    }                                                                                                      \
    PTO_VECTOR_FN void pto_put_##word##_tail(element *p, vector v, int64_t n, int streams)                 \
    {                                                                                                      \
        if (streams && n == PTO_LANES)                                                                     \
            pto_stream_bits32(p, convert(v));                                                              \
        else                                                                                               \
            pto_store_##word##_tail(p, v, n);                                                              \
    }                                                                                                      \
    /* In PTO_SWEEP_FROM, `before` elements before its head. */                                            \
    PTO_VECTOR_FN void pto_put_##word##_from(element *p, vector v, int64_t n, int streams, int64_t before) \
    {                                                                                                      \
        if (before > 0)                                                                                    \
            pto_store_##word##_tail(p, v, before);                                                         \
        else                                                                                               \
            pto_put_##word##_tail(p, v, n, streams);                                                       \
    }
PTO_PUTS(f32, float, pto_f32, PTO_SAME)
PTO_PUTS(i32, int, pto_i32, PTO_AS_F32)
PTO_PUTS(u32, unsigned, pto_u32, PTO_AS_F32)
#undef PTO_PUTS

/* A row of elements of four bytes from one place to another. */
PTO_ROW_FN void pto_copy_row_b32(void *to, const void *from, int64_t columns, int streams)
{
    const float *const f = (const float *)from;
    PTO_SWEEP(j, n, columns)
    {
        pto_prefetch(f + j + 320);
        pto_put_f32_tail((float *)to + j, pto_load_f32_tail(f + j, n), n, streams);
    }
}

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
