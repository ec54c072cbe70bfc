/* Rows of AVX-512: panels of f32, whatever is multiplied, and panels of pairs of 16-bit integers, whose products are
 * added in 32 bits. */
#if defined(__x86_64__)
#include "kernel_avx512_narrow.h"
#include "kernel_avx512_turned.h"

/* ---- f32 ---- */

KERNEL_INLINE __m512i step_f32(__m512i sum, __m512i left, __m512i line)
{
    return _mm512_castps_si512(
        _mm512_fmadd_ps(_mm512_castsi512_ps(left), _mm512_castsi512_ps(line), _mm512_castsi512_ps(sum)));
}

KERNEL_MICRO(micro_f32, step_f32, false, 1);

/* Elements of f32 need no panel. */
static void micro_strided_f32(int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride, const void *b,
                              int64_t b_k_stride, void *c, int64_t c_row_stride, int64_t m, int64_t n, bool accumulate)
{
    const micro_left left = {a, 4 * a_row_stride, 4 * a_k_stride};
    micro_of_any(step_f32, false, k, left, b, b_k_stride, c, 4 * c_row_stride, m, n, accumulate);
}

KERNEL_INLINE __m512i along_f32(const void *from, int64_t at, int64_t k_left)
{
    return _mm512_maskz_loadu_epi32(mask_of(k_left), (const char *)from + 4 * at);
}

KERNEL_INLINE __m512i along_bf16(const void *from, int64_t at, int64_t k_left)
{
    const __m256i bits = _mm256_maskz_loadu_epi16(mask_of(k_left), (const char *)from + 2 * at);
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
}

KERNEL_INLINE __m512i along_f16(const void *from, int64_t at, int64_t k_left)
{
    const __m256i bits = _mm256_maskz_loadu_epi16(mask_of(k_left), (const char *)from + 2 * at);
    return _mm512_castps_si512(_mm512_cvtph_ps(bits));
}

KERNEL_INLINE __m512i along_i4_f32(const void *from, int64_t at, int64_t k_left)
{
    return _mm512_castps_si512(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(nibbles_at(from, at, k_left))));
}

/* Where a unit is one element, columns beside each other are read as elements along k are. */
#define ACROSS_AS_ALONG(load)                                                                           \
    KERNEL_INLINE __m512i across_##load(const void *from, int64_t at, int64_t k_stride, int64_t k_left, \
                                        int64_t columns_left)                                           \
    {                                                                                                   \
        (void)k_stride;                                                                                 \
        (void)k_left;                                                                                   \
        return along_##load(from, at, columns_left);                                                    \
    }                                                                                                   \
    _Static_assert(sizeof(__m512i) == 64, "sixteen units")

ACROSS_AS_ALONG(f32);
ACROSS_AS_ALONG(bf16);
ACROSS_AS_ALONG(f16);
ACROSS_AS_ALONG(i4_f32);

KERNEL_PACK(any_a_f32, float, load_f32, MR, 1);
KERNEL_PACK(any_b_f32, float, load_f32, NR, 1);
KERNEL_PACK(any_a_bf16, float, load_bf16, MR, 1);
KERNEL_PACK(any_b_bf16, float, load_bf16, NR, 1);
KERNEL_PACK(any_a_f16, float, load_f16, MR, 1);
KERNEL_PACK(any_b_f16, float, load_f16, NR, 1);
KERNEL_PACK(any_b_i4_f32, float, load_i4_f32, NR, 1);
KERNEL_PACK_UNITS(pack_a_f32, f32, any_a_f32, MR, 1, finish_nothing);
KERNEL_PACK_UNITS(pack_b_f32, f32, any_b_f32, NR, 1, finish_nothing);
KERNEL_PACK_UNITS(pack_a_bf16, bf16, any_a_bf16, MR, 1, finish_nothing);
KERNEL_PACK_UNITS(pack_b_bf16, bf16, any_b_bf16, NR, 1, finish_nothing);
KERNEL_PACK_UNITS(pack_a_f16, f16, any_a_f16, MR, 1, finish_nothing);
KERNEL_PACK_UNITS(pack_b_f16, f16, any_b_f16, NR, 1, finish_nothing);
KERNEL_PACK_UNITS(pack_b_i4_f32, i4_f32, any_b_i4_f32, NR, 1, finish_nothing);

KERNEL_NARROW(static, narrow_f32, f32, halves_f32, false, 128);
KERNEL_NARROW(extern, kernel_narrow_bf16, bf16, turns_bf16, true, 64);
KERNEL_NARROW(static, narrow_f16, f16, halves_f16, false, 64);
KERNEL_TURNED(static, turned_f32, f32, elements_f32, 32, 1);
KERNEL_TURNED(extern, kernel_turned_bf16, bf16, elements_bf16, 16, 2);

KERNEL_TURNED(static, many_turned_f16, f16, elements_f16, 16, 1);

/* One row or two by the row of AVX2: wider vectors of f16 are turned no faster, but multiplied. */
static bool turned_f16(const skinny_product *x, int64_t column_stride)
{
    const pto_contraction *const row = pto_contraction_find(PTO_F16, PTO_F16, PTO_F32, PTO_ISA_AVX2);
    if (x->m > 2) return many_turned_f16(x, column_stride);
    return row->skinny(x->m, x->n, x->k, x->a, x->a_row_stride, x->a_k_stride, x->b, x->b_k_stride, column_stride, x->c,
                       x->c_row_bytes / 4, x->accumulate);
}

/* Halves of bytes are read in pieces of their rows. */
static bool narrow_i4(const skinny_product *x)
{
    (void)x;
    return false;
}
static bool turned_i4(const skinny_product *x, int64_t column_stride)
{
    (void)x;
    (void)column_stride;
    return false;
}

KERNEL_SKINNY_OF_FLOATS(skinny_f32_i4, f32, i4_f32, 4, narrow_i4, turned_i4);
KERNEL_SKINNY_OF_FLOATS(skinny_f32, f32, f32, 32, narrow_f32, turned_f32);
KERNEL_SKINNY_OF_FLOATS(skinny_bf16, bf16, bf16, 16, kernel_narrow_bf16, kernel_turned_bf16);
KERNEL_SKINNY_OF_FLOATS(skinny_f16, f16, f16, 16, narrow_f16, turned_f16);

KERNEL_FEW_OF_FLOATS(static, few_f32, f32, halves_f32, false, 128);
KERNEL_FEW_OF_FLOATS(extern, kernel_few_bf16, bf16, turns_bf16, true, 64);
KERNEL_FEW_OF_FLOATS(static, few_f16, f16, halves_f16, false, 64);
#define few_bf16 kernel_few_bf16
#define few_f32_i4 NULL

/* ---- pairs of 16-bit integers ---- */

KERNEL_INLINE __m512i step_pairs(__m512i sum, __m512i left, __m512i line)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(left, line));
}

KERNEL_MICRO(micro_pairs, step_pairs, false, 2);

KERNEL_INLINE __m256i bytes_along(const void *from, int64_t at, int64_t left)
{
    const __mmask32 mask = left >= 32 ? 0xffffffff : (1U << left) - 1;
    return _mm256_maskz_loadu_epi8(mask, (const char *)from + at);
}

KERNEL_INLINE __m512i along_i8(const void *from, int64_t at, int64_t k_left)
{
    return _mm512_cvtepi8_epi16(bytes_along(from, at, k_left));
}

KERNEL_INLINE __m512i along_u8(const void *from, int64_t at, int64_t k_left)
{
    return _mm512_cvtepu8_epi16(bytes_along(from, at, k_left));
}

KERNEL_INLINE __m512i along_i4(const void *from, int64_t at, int64_t k_left)
{
    return _mm512_cvtepi8_epi16(_mm256_set_m128i(nibbles_at(from, at + 16, k_left - 16), nibbles_at(from, at, k_left)));
}

KERNEL_INLINE __m128i bytes_across(const void *from, int64_t at, int64_t left)
{
    return _mm_maskz_loadu_epi8(mask_of(left), (const char *)from + at);
}

/* Row k in the lower half of each unit, row k + 1 in the upper one. */
#define ACROSS_PAIRS(load, widen, bytes)                                                                \
    KERNEL_INLINE __m512i across_##load(const void *from, int64_t at, int64_t k_stride, int64_t k_left, \
                                        int64_t columns_left)                                           \
    {                                                                                                   \
        const __m512i low = widen(bytes(from, at, columns_left));                                       \
        if (k_left < 2) return _mm512_and_si512(low, _mm512_set1_epi32(0xffff));                        \
        const __m512i high = widen(bytes(from, at + k_stride, columns_left));                           \
        return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));                   \
    }                                                                                                   \
    _Static_assert(sizeof(__m512i) == 64, "sixteen units")

ACROSS_PAIRS(i8, _mm512_cvtepi8_epi32, bytes_across);
ACROSS_PAIRS(u8, _mm512_cvtepu8_epi32, bytes_across);
ACROSS_PAIRS(i4, _mm512_cvtepi8_epi32, nibbles_at);

KERNEL_PACK(any_a_i8, int16_t, load_i8, MR, 2);
KERNEL_PACK(any_b_i8, int16_t, load_i8, NR, 2);
KERNEL_PACK(any_a_u8, int16_t, load_u8, MR, 2);
KERNEL_PACK(any_b_u8, int16_t, load_u8, NR, 2);
KERNEL_PACK(any_b_i4, int16_t, load_i4, NR, 2);
KERNEL_PACK_UNITS(pack_a_i8, i8, any_a_i8, MR, 2, finish_nothing);
KERNEL_PACK_UNITS(pack_b_i8, i8, any_b_i8, NR, 2, finish_nothing);
KERNEL_PACK_UNITS(pack_a_u8, u8, any_a_u8, MR, 2, finish_nothing);
KERNEL_PACK_UNITS(pack_b_i4, i4, any_b_i4, NR, 2, finish_nothing);
KERNEL_PACK_UNITS(pack_b_u8, u8, any_b_u8, NR, 2, finish_nothing);

/* What lies within half of a second-level cache stays there as it is. */
#define NEAR_f32 FEW, NEAR_f32_i4, .b_near_bytes = M_BLOCK * K_BLOCK_BYTES, .near_rows = 4
#define NEAR_f32_i4 .micro_strided = micro_strided_f32, .a_near_bytes = M_BLOCK * K_BLOCK_BYTES, .packed_rows = 9
#define NEAR_bf16 .packed_rows = 5, FEW
#define NEAR_f16 NEAR_bf16
#define FEW .few_columns = FEW_COLUMNS, .few_rows = 8

#define ROW \
    .isa = PTO_ISA_AVX2 | PTO_ISA_AVX512, .mr = MR, .nr = NR, .m_block = M_BLOCK, .n_block = N_BLOCK, .asks_ahead = true
/* Of bf16 the same bits as rows that have an instruction for it, so that either may be used. */
#define SUMS_OF_f32 .sums = PTO_SUMS_FMA
#define SUMS_OF_f16 SUMS_OF_f32
#define SUMS_OF_f32_i4 SUMS_OF_f32
#define SUMS_OF_bf16 .sums = PTO_SUMS_FMA_FLUSHED, .flushes = true
#define FLOATS(name)                                                                            \
    ROW, NEAR_##name, .acc = PTO_F32, SUMS_OF_##name, .k_group = 1, .a_bytes = 4, .b_bytes = 4, \
        .k_block = K_BLOCK_BYTES / 4, .micro = micro_f32, .skinny = skinny_##name, .few = few_##name
#define BYTES(name)                                                                        \
    ROW, .acc = PTO_I32, .sums = PTO_SUMS_EXACT, .k_group = 2, .a_bytes = 2, .b_bytes = 2, \
        .k_block = K_BLOCK_BYTES / 2, .micro = micro_pairs

KERNEL_TABLE(kernel_rows_avx512, "avx512");
#endif
