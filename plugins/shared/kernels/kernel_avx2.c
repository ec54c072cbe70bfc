/* Rows of AVX2, FMA and F16C: panels of f32, whatever is multiplied, and panels of pairs of 16-bit integers, whose
 * products are added in 32 bits. (Products of bytes are added in pairs of 16 bits by this instruction set, which
 * saturates.) */
#if defined(__x86_64__)
#include "kernel_avx2_skinny.h"

KERNEL_MICRO(micro_f32, step_f32, 1);
KERNEL_MICRO(micro_pairs, step_pairs, 2);

/* Elements of f32 need no panel. */
static void micro_strided_f32(int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride, const void *b,
                              int64_t b_k_stride, void *c, int64_t c_row_stride, int64_t m, int64_t n, bool accumulate)
{
    const micro_left left = {a, 4 * a_row_stride, 4 * a_k_stride};
    micro_of_any(step_f32, k, left, b, b_k_stride, c, 4 * c_row_stride, m, n, accumulate);
}

/* Sixteen bytes of which `bytes` are there, the others 0; bytes may be any number. */
KERNEL_INLINE __m128i load_bytes(const char *from, int64_t bytes)
{
    __m128i x = _mm_setzero_si128();
    if (bytes >= 16) return _mm_loadu_si128((const void *)from);
    if (bytes == 8) return _mm_loadl_epi64((const void *)from);
    if (bytes > 0) memcpy(&x, from, (size_t)bytes);
    return x;
}

/* ---- eight units of one row from `at` upwards along k, of which k_left elements are there ---- */

KERNEL_INLINE __m256i along_f32(const void *from, int64_t at, int64_t k_left)
{
    return load_units((const char *)from + 4 * at, k_left);
}

KERNEL_INLINE __m256i along_bf16(const void *from, int64_t at, int64_t k_left)
{
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(load_bytes((const char *)from + 2 * at, 2 * k_left)), 16);
}

KERNEL_INLINE __m256i along_f16(const void *from, int64_t at, int64_t k_left)
{
    return _mm256_castps_si256(_mm256_cvtph_ps(load_bytes((const char *)from + 2 * at, 2 * k_left)));
}

KERNEL_INLINE __m256i along_i8(const void *from, int64_t at, int64_t k_left)
{
    return _mm256_cvtepi8_epi16(load_bytes((const char *)from + at, k_left));
}

KERNEL_INLINE __m256i along_u8(const void *from, int64_t at, int64_t k_left)
{
    return _mm256_cvtepu8_epi16(load_bytes((const char *)from + at, k_left));
}

KERNEL_INLINE __m256i along_i4(const void *from, int64_t at, int64_t k_left)
{
    return _mm256_cvtepi8_epi16(nibbles_at(from, at, k_left));
}

KERNEL_INLINE __m256i along_i4_f32(const void *from, int64_t at, int64_t k_left)
{
    return _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(nibbles_at(from, at, k_left < 8 ? k_left : 8))));
}

KERNEL_INLINE __m128i bytes_across(const void *from, int64_t at, int64_t left)
{
    return load_bytes((const char *)from + at, left);
}

/* ---- one unit of each of eight columns beside each other, of which columns_left are there ---- */

#define ACROSS_AS_ALONG(load)                                                                           \
    KERNEL_INLINE __m256i across_##load(const void *from, int64_t at, int64_t k_stride, int64_t k_left, \
                                        int64_t columns_left)                                           \
    {                                                                                                   \
        (void)k_stride;                                                                                 \
        (void)k_left;                                                                                   \
        return along_##load(from, at, columns_left);                                                    \
    }                                                                                                   \
    _Static_assert(sizeof(__m256i) == 32, "eight units")

ACROSS_AS_ALONG(f32);
ACROSS_AS_ALONG(bf16);
ACROSS_AS_ALONG(f16);
ACROSS_AS_ALONG(i4_f32);

/* Row k in the lower half of each unit, row k + 1 in the upper one. */
#define ACROSS_PAIRS(load, widen, bytes)                                                                \
    KERNEL_INLINE __m256i across_##load(const void *from, int64_t at, int64_t k_stride, int64_t k_left, \
                                        int64_t columns_left)                                           \
    {                                                                                                   \
        const int64_t left = columns_left < 8 ? columns_left : 8;                                       \
        const __m256i low = widen(bytes(from, at, left));                                               \
        if (k_left < 2) return _mm256_and_si256(low, _mm256_set1_epi32(0xffff));                        \
        const __m256i high = widen(bytes(from, at + k_stride, left));                                   \
        return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);                              \
    }                                                                                                   \
    _Static_assert(sizeof(__m256i) == 32, "eight units")

ACROSS_PAIRS(i8, _mm256_cvtepi8_epi32, bytes_across);
ACROSS_PAIRS(u8, _mm256_cvtepu8_epi32, bytes_across);
ACROSS_PAIRS(i4, _mm256_cvtepi8_epi32, nibbles_at);

#define PACK(name, type, load, width, group)                  \
    KERNEL_PACK(name##_any, type, load_##load, width, group); \
    KERNEL_PACK_UNITS(name, load, name##_any, width, group, finish_nothing)

PACK(pack_a_f32, float, f32, MR, 1);
PACK(pack_b_f32, float, f32, NR, 1);
PACK(pack_a_bf16, float, bf16, MR, 1);
PACK(pack_b_bf16, float, bf16, NR, 1);
PACK(pack_a_f16, float, f16, MR, 1);
PACK(pack_b_f16, float, f16, NR, 1);
PACK(pack_a_i8, int16_t, i8, MR, 2);
PACK(pack_b_i8, int16_t, i8, NR, 2);
PACK(pack_a_u8, int16_t, u8, MR, 2);
PACK(pack_b_u8, int16_t, u8, NR, 2);
PACK(pack_b_i4_f32, float, i4_f32, NR, 1);
PACK(pack_b_i4, int16_t, i4, NR, 2);

/* ---- few rows ---- */

#define LINES_OF_UNITS(load)                                                                                \
    KERNEL_INLINE void lines_##load(const void *b, int64_t at, int64_t k_stride, int64_t k_left, int64_t n, \
                                    __m256i line[2])                                                        \
    {                                                                                                       \
        line[0] = across_##load(b, at, k_stride, k_left, n);                                                \
        line[1] = across_##load(b, at + 8, k_stride, k_left, n - 8);                                        \
    }                                                                                                       \
    _Static_assert(sizeof(float) == 4, "a unit")

#define UNIT_OF_FLOAT(load)                                                                 \
    static int32_t unit_##load(const void *a, int64_t at, int64_t k_stride, int64_t k_left) \
    {                                                                                       \
        (void)k_stride;                                                                     \
        (void)k_left;                                                                       \
        const float value = load_##load(a, at);                                             \
        int32_t unit;                                                                       \
        memcpy(&unit, &value, sizeof unit);                                                 \
        return unit;                                                                        \
    }                                                                                       \
    _Static_assert(sizeof(float) == 4, "a unit")

/* Rows k and k + 1 beside each other: columns 0 to 3 and 8 to 11, then the others. */
#define LINES_OF_PAIRS(load, widen)                                                                          \
    KERNEL_INLINE void lines_##load(const void *b, int64_t at, int64_t k_stride, int64_t k_left, int64_t n,  \
                                    __m256i line[2])                                                         \
    {                                                                                                        \
        const __m256i low = widen(bytes_across(b, at, n));                                                   \
        const __m256i high = k_left < 2 ? _mm256_setzero_si256() : widen(bytes_across(b, at + k_stride, n)); \
        line[0] = _mm256_unpacklo_epi16(low, high);                                                          \
        line[1] = _mm256_unpackhi_epi16(low, high);                                                          \
    }                                                                                                        \
    static int32_t unit_##load(const void *a, int64_t at, int64_t k_stride, int64_t k_left)                  \
    {                                                                                                        \
        const uint32_t low = (uint32_t)load_##load(a, at) & 0xffff,                                          \
                       high = k_left < 2 ? 0 : (uint32_t)load_##load(a, at + k_stride);                      \
        return (int32_t)(high << 16 | low);                                                                  \
    }                                                                                                        \
    _Static_assert(sizeof(__m256i) == 32, "eight units")

LINES_OF_UNITS(f32);
LINES_OF_UNITS(bf16);
LINES_OF_UNITS(f16);
LINES_OF_UNITS(i4_f32);
UNIT_OF_FLOAT(f32);
UNIT_OF_FLOAT(bf16);
UNIT_OF_FLOAT(f16);
LINES_OF_PAIRS(i8, _mm256_cvtepi8_epi16);
LINES_OF_PAIRS(u8, _mm256_cvtepu8_epi16);

KERNEL_INLINE void turn_f32(const void *b, int64_t at, int64_t column_stride, __m256 out[TURNED_MOST])
{
    __m256i units[4];
    turn_units((const char *)b + 4 * at, 4 * column_stride, units);
#pragma GCC unroll 4
    for (int t = 0; t < 4; t++) out[t] = _mm256_castsi256_ps(units[t]);
}

/* Units are of two elements, of which the first is the lower half. */
KERNEL_INLINE void turn_bf16(const void *b, int64_t at, int64_t column_stride, __m256 out[TURNED_MOST])
{
    __m256i units[4];
    turn_units((const char *)b + 2 * at, 2 * column_stride, units);
#pragma GCC unroll 4
    for (int t = 0; t < 4; t++) {
        out[2 * t] = _mm256_castsi256_ps(_mm256_slli_epi32(units[t], 16));
        out[2 * t + 1] = _mm256_castsi256_ps(_mm256_and_si256(units[t], _mm256_set1_epi32((int32_t)0xffff0000)));
    }
}

KERNEL_INLINE void turn_f16(const void *b, int64_t at, int64_t column_stride, __m256 out[TURNED_MOST])
{
    __m256i units[8];
#pragma GCC unroll 8
    for (int c = 0; c < 8; c++) units[c] = along_f16(b, at + c * column_stride, 8);
    transpose_8x8(units);
#pragma GCC unroll 8
    for (int t = 0; t < 8; t++) out[t] = _mm256_castsi256_ps(units[t]);
}

KERNEL_TURNED(turned_f32, turn_f32, load_f32, 32);
KERNEL_TURNED(turned_bf16, turn_bf16, load_bf16, 16);
KERNEL_TURNED(turned_f16, turn_f16, load_f16, 16);

static bool turned_not(const skinny_product *x, int64_t column_stride)
{
    (void)x;
    (void)column_stride;
    return false;
}

KERNEL_FEW(few_f32, micro_f32, lines_f32, step_f32, 1, 32, false);
KERNEL_FEW(few_bf16, micro_f32, lines_bf16, step_f32, 1, 16, false);
KERNEL_FEW(few_f16, micro_f32, lines_f16, step_f32, 1, 16, false);
KERNEL_FEW(few_i4, micro_f32, lines_i4_f32, step_f32, 1, 4, false);
KERNEL_FEW(few_i8, micro_pairs, lines_i8, step_pairs, 2, 8, true);
KERNEL_FEW(few_u8, micro_pairs, lines_u8, step_pairs, 2, 8, true);

KERNEL_SKINNY(skinny_f32, few_f32, unit_f32, pack_a_f32, turned_f32);
KERNEL_SKINNY(skinny_bf16, few_bf16, unit_bf16, pack_a_bf16, turned_bf16);
KERNEL_SKINNY(skinny_f16, few_f16, unit_f16, pack_a_f16, turned_f16);
KERNEL_SKINNY(skinny_f32_i4, few_i4, unit_f32, pack_a_f32, turned_not);
KERNEL_SKINNY(skinny_i8, few_i8, unit_i8, pack_a_i8, turned_not);
KERNEL_SKINNY(skinny_u8_i8, few_i8, unit_u8, pack_a_u8, turned_not);
KERNEL_SKINNY(skinny_i8_u8, few_u8, unit_i8, pack_a_i8, turned_not);
KERNEL_SKINNY(skinny_u8, few_u8, unit_u8, pack_a_u8, turned_not);
/* Halves of bytes are unpacked once for all rows. */
#define skinny_i8_i4 NULL

/* Rows of A that lie within half of a second-level cache stay there as they are; lines of B are short. */
#define NEAR_f32 .micro_strided = micro_strided_f32, .a_near_bytes = 256 << 10, .packed_rows = 3
#define NEAR_f32_i4 NEAR_f32
#define NEAR_bf16 .packed_rows = 5
#define NEAR_f16 NEAR_bf16

/* Blocks: one of A fills two thirds of a second-level cache of 512 KiB, one of B lies in the third. The deeper they
 * are, the fewer times C is read and written; a panel of B then passes through the first one. */
#define ROW .isa = PTO_ISA_AVX2, .mr = MR, .nr = NR, .m_block = 28 * MR, .n_block = 4096, .asks_ahead = true
#define FLOATS(name)                                                                                                  \
    ROW, NEAR_##name, .acc = PTO_F32, .sums = PTO_SUMS_FMA, .k_group = 1, .a_bytes = 4, .b_bytes = 4, .k_block = 512, \
        .micro = micro_f32, .skinny = skinny_##name
#define BYTES(name)                                                                                        \
    ROW, .acc = PTO_I32, .sums = PTO_SUMS_EXACT, .k_group = 2, .a_bytes = 2, .b_bytes = 2, .k_block = 768, \
        .micro = micro_pairs, .skinny = skinny_##name, .packed_rows = 3

KERNEL_TABLE(kernel_rows_avx2, "avx2");
#endif
