/* Reductions of a row in memory: n elements from p on, 0 <= n. Include <pto/native_vector.h>.
 *
 * Vectors go to four accumulators in turn, those after the last four to the first one; then the accumulators,
 * then the lanes are combined in pairs. So the bits depend on n and on the number of lanes alone. */
#ifndef PTO_NATIVE_VECTOR_ROW_H
#define PTO_NATIVE_VECTOR_ROW_H

#include <pto/native_vector_memory.h>

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* The extreme of many numbers by the rule `ignore`, with one instruction for each vector: that may take either of two
 * zeros, and forgets NaN. Bits, the least as unsigned and as signed numbers, say which zeros there were and whether
 * there was a number at all. */
typedef struct pto_extreme {
    pto_f32 most;
    pto_u32 low;
    pto_i32 least;
} pto_extreme;

/* Of no number: `most` is -inf for the largest, inf for the smallest. */
PTO_VECTOR_FN pto_extreme pto_extreme_of_none(float most)
{
    const pto_extreme none = {pto_splat_f32(most), pto_splat_u32(0xffffffff), pto_splat_i32(0x7fffffff)};
    return none;
}
/* With a vector more. */
PTO_VECTOR_FN pto_extreme pto_extreme_max(pto_extreme e, pto_f32 x)
{
    const pto_extreme more = {pto_second_max_f32(x, e.most), pto_min_u32(e.low, (pto_u32)x),
                              pto_min_i32(e.least, (pto_i32)x)};
    return more;
}
/* With a vector more, for the smallest. */
PTO_VECTOR_FN pto_extreme pto_extreme_min(pto_extreme e, pto_f32 x)
{
    const pto_extreme less = {pto_second_min_f32(x, e.most), pto_min_u32(e.low, (pto_u32)x),
                              pto_min_i32(e.least, (pto_i32)x)};
    return less;
}

/* Of all lanes: +0 has the bits 0, and -0 the least of all signed numbers. Where the largest is -inf the others are
 * NaN, whose bits are more; where the smallest is +inf, too. */
PTO_ROW_FN float pto_largest_of_extreme(pto_f32 all, pto_u32 low, pto_i32 least)
{
    const float most = PTO_TREE(all, pto_second_max_f32);
    if (most == 0) return pto_smallest_u32(low) == 0 ? 0.0f : -0.0f;
    if (most == -__builtin_inff() && (unsigned)pto_smallest_i32(least) != 0xff800000u) return __builtin_nanf("");
    return most;
}
PTO_ROW_FN float pto_smallest_of_extreme(pto_f32 all, pto_u32 low, pto_i32 least)
{
    const float most = PTO_TREE(all, pto_second_min_f32);
    if (most == 0) return pto_smallest_i32(least) == -0x7fffffff - 1 ? -0.0f : 0.0f;
    if (most == __builtin_inff() && pto_smallest_u32(low) != 0x7f800000u) return __builtin_nanf("");
    return most;
}
/* The parts go to these one by one: a compiler may keep a structure in memory that it passes as one. */
PTO_VECTOR_FN float pto_extreme_largest(pto_extreme e) { return pto_largest_of_extreme(e.most, e.low, e.least); }
PTO_VECTOR_FN float pto_extreme_smallest(pto_extreme e) { return pto_smallest_of_extreme(e.most, e.low, e.least); }

/* The first of the two is for the few rows of which the second finds a zero, or no number that is finite: one
 * instruction for each vector tells all others. */
#define PTO_ROW_EXTREME(word, element, name, total, none)                                          \
    PTO_ROW_FN float pto_row_bits_##name##_##word(const element *p, int64_t n)                     \
    {                                                                                              \
        pto_extreme all = pto_extreme_of_none(none);                                               \
        for (int64_t j = 0; j < n; j += PTO_LANES) {                                               \
            const int64_t rest = n - j < PTO_LANES ? n - j : PTO_LANES;                            \
            const pto_f32 x = pto_load_##word##_tail(p + j, rest);                                 \
            all = pto_extreme_##name(all, pto_first_f32_tail(x, __builtin_nanf(""), rest));        \
        }                                                                                          \
        return pto_extreme_##total(all);                                                           \
    }                                                                                              \
    PTO_VECTOR_FN float pto_row_##name##_##word(const element *p, int64_t n)                       \
    {                                                                                              \
        pto_f32 a = pto_splat_f32(none), b = a, c = a, d = a;                                      \
        int64_t j = 0;                                                                             \
        for (; j + 4 * PTO_LANES <= n; j += 4 * PTO_LANES) {                                       \
            a = pto_second_##name##_f32(pto_load_##word(p + j), a);                                \
            b = pto_second_##name##_f32(pto_load_##word(p + j + PTO_LANES), b);                    \
            c = pto_second_##name##_f32(pto_load_##word(p + j + 2 * PTO_LANES), c);                \
            d = pto_second_##name##_f32(pto_load_##word(p + j + 3 * PTO_LANES), d);                \
        }                                                                                          \
        for (; j < n; j += PTO_LANES) {                                                            \
            const int64_t rest = n - j < PTO_LANES ? n - j : PTO_LANES;                            \
            const pto_f32 x = pto_load_##word##_tail(p + j, rest);                                 \
            a = pto_second_##name##_f32(pto_first_f32_tail(x, __builtin_nanf(""), rest), a);       \
        }                                                                                          \
        a = pto_second_##name##_f32(pto_second_##name##_f32(a, c), pto_second_##name##_f32(b, d)); \
        const float most = PTO_TREE(a, pto_second_##name##_f32);                                   \
        return n > 0 && (most == 0 || most == none) ? pto_row_bits_##name##_##word(p, n) : most;   \
    }
/* The sum of many vectors, which go to two sums in turn, so that an addition waits for the last but one. */
typedef struct pto_sums {
    pto_f32 last, other;
} pto_sums;

/* Of no vector; with one more; all of them as one vector. */
PTO_VECTOR_FN pto_sums pto_sums_of_none(void)
{
    const pto_sums none = {pto_splat_f32(0), pto_splat_f32(0)};
    return none;
}
PTO_VECTOR_FN pto_sums pto_sums_with(pto_sums s, pto_f32 x)
{
    const pto_sums more = {s.other + x, s.last};
    return more;
}
PTO_VECTOR_FN pto_f32 pto_sums_both(pto_sums s) { return s.last + s.other; }

#define PTO_ROW_SUM(word, element)                                                                               \
    PTO_VECTOR_FN float pto_row_sum_##word(const element *p, int64_t n)                                          \
    {                                                                                                            \
        pto_f32 a = pto_splat_f32(0), b = a, c = a, d = a;                                                       \
        int64_t j = 0;                                                                                           \
        for (; j + 4 * PTO_LANES <= n; j += 4 * PTO_LANES) {                                                     \
            a += pto_load_##word(p + j);                                                                         \
            b += pto_load_##word(p + j + PTO_LANES);                                                             \
            c += pto_load_##word(p + j + 2 * PTO_LANES);                                                         \
            d += pto_load_##word(p + j + 3 * PTO_LANES);                                                         \
        }                                                                                                        \
        for (; j < n; j += PTO_LANES) a += pto_load_##word##_tail(p + j, n - j < PTO_LANES ? n - j : PTO_LANES); \
        return pto_sum_f32((a + c) + (b + d));                                                                   \
    }
/* pto_row_max_f32(p, n), pto_row_min_f32, pto_row_sum_f32, and of f16 and bf16: the largest and the smallest number, a
 * NaN where there is no other, infinite where n is 0; the sum in f32. */
PTO_ROW_EXTREME(f32, float, max, largest, -__builtin_inff())
PTO_ROW_EXTREME(f32, float, min, smallest, __builtin_inff())
PTO_ROW_EXTREME(f16, unsigned short, max, largest, -__builtin_inff())
PTO_ROW_EXTREME(f16, unsigned short, min, smallest, __builtin_inff())
PTO_ROW_EXTREME(bf16, unsigned short, max, largest, -__builtin_inff())
PTO_ROW_EXTREME(bf16, unsigned short, min, smallest, __builtin_inff())
PTO_ROW_SUM(f32, float)
PTO_ROW_SUM(f16, unsigned short)
PTO_ROW_SUM(bf16, unsigned short)
#undef PTO_ROW_EXTREME
#undef PTO_ROW_SUM

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
