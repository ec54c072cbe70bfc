/* Rows of AVX-512 VNNI, which multiplies unsigned by signed bytes and adds four products in 32 bits, modulo 2^32, with
 * no 16-bit sum in between. A signed A is packed as a + 128, an unsigned B as b - 128; what that adds to a sum,
 *
 *     sum of (a - 128 s) (b + 128 t) = sum of a b + 128 t * sum of a - 128 s * sum of b - 16384 s t k
 *
 * over packed a and b, with s and t 1 or 0, comes after the elements of each panel, for each row and each column. */
#if defined(__x86_64__)
#include "kernel_avx512.h"

KERNEL_INLINE __m512i step_bytes(__m512i sum, __m512i left, __m512i line)
{
    return _mm512_dpbusd_epi32(sum, left, line);
}

#include "kernel_avx512_vnni_skinny.h"

/* What is packed of B at a time where its columns lie beside each other. */
enum { BESIDE_COLUMNS = 256, BESIDE_ROWS = 16 };

KERNEL_MICRO(micro_bytes, step_bytes, true, 4);

/* Adds 128 modulo 2^8 where the mask is set: signed becomes unsigned, or the other way. Padding stays 0. */
KERNEL_INLINE __m512i moved_along(const void *from, int64_t at, int64_t k_left, bool moves)
{
    const __mmask64 mask = k_left >= 64 ? UINT64_MAX : (UINT64_C(1) << k_left) - 1;
    const __m512i x = _mm512_maskz_loadu_epi8(mask, (const char *)from + at);
    return moves ? _mm512_mask_add_epi8(x, mask, x, _mm512_set1_epi8(-128)) : x;
}

/* Four lines of sixteen bytes as sixteen units: units of four columns of each line come together, then their bytes. */
KERNEL_INLINE __m512i units_of_lines(const __m128i x[4])
{
    const __m512i all =
        _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_set_m128i(x[1], x[0])), _mm256_set_m128i(x[3], x[2]), 1);
    const __m512i columns = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0),
                  turned = _mm512_broadcast_i32x4(_mm_set_epi8(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0));
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(columns, all), turned);
}

KERNEL_INLINE __m512i moved_across(const void *from, int64_t at, int64_t k_stride, int64_t k_left, int64_t columns_left,
                                   bool moves)
{
    const __mmask16 mask = mask_of(columns_left);
    __m128i x[4];
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++) {
        x[q] = _mm_setzero_si128();
        if (q >= k_left) continue;
        x[q] = _mm_maskz_loadu_epi8(mask, (const char *)from + at + q * k_stride);
        if (moves) x[q] = _mm_mask_add_epi8(x[q], mask, x[q], _mm_set1_epi8(-128));
    }
    return units_of_lines(x);
}

#define UNITS(load, moves)                                                                              \
    KERNEL_INLINE __m512i along_##load(const void *from, int64_t at, int64_t k_left)                    \
    {                                                                                                   \
        return moved_along(from, at, k_left, moves);                                                    \
    }                                                                                                   \
    KERNEL_INLINE __m512i across_##load(const void *from, int64_t at, int64_t k_stride, int64_t k_left, \
                                        int64_t columns_left)                                           \
    {                                                                                                   \
        return moved_across(from, at, k_stride, k_left, columns_left, moves);                           \
    }                                                                                                   \
    _Static_assert(sizeof(__m512i) == 64, "sixteen units")

UNITS(moved, true);
UNITS(same, false);

KERNEL_INLINE __m512i along_i4(const void *from, int64_t at, int64_t k_left)
{
    __m512i units = _mm512_castsi128_si512(nibbles_at(from, at, k_left));
    units = _mm512_inserti32x4(units, nibbles_at(from, at + 16, k_left - 16), 1);
    units = _mm512_inserti32x4(units, nibbles_at(from, at + 32, k_left - 32), 2);
    return _mm512_inserti32x4(units, nibbles_at(from, at + 48, k_left - 48), 3);
}

KERNEL_INLINE __m512i across_i4(const void *from, int64_t at, int64_t k_stride, int64_t k_left, int64_t columns_left)
{
    __m512i units = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++) {
        if (q >= k_left) break;
        const __m128i x = nibbles_at(from, at + q * k_stride, columns_left);
        units = _mm512_or_si512(units, _mm512_slli_epi32(_mm512_cvtepu8_epi32(x), (unsigned)(8 * q)));
    }
    return units;
}

KERNEL_INLINE uint8_t load_moved(const void *from, int64_t at) { return (uint8_t)(load_u8(from, at) ^ 0x80); }
KERNEL_INLINE uint8_t load_same(const void *from, int64_t at) { return (uint8_t)load_u8(from, at); }
KERNEL_INLINE uint8_t load_i4_byte(const void *from, int64_t at) { return (uint8_t)load_i4(from, at); }

/* What comes after the units of a panel: factor * the sum of each row or column + more. */
KERNEL_INLINE void finish_sums(int64_t width, int64_t k, int32_t *panel, bool is_a, int32_t factor, int32_t more)
{
    const int64_t groups = (k + 3) / 4;
    const __m512i ones = _mm512_set1_epi8(1);
    for (int64_t v = 0; v < width; v += 16) {
        const __mmask16 mask = mask_of(width - v);
        __m512i sum = _mm512_setzero_si512();
        if (factor != 0)
            for (int64_t g = 0; g < groups; g++) {
                const __m512i x = _mm512_maskz_loadu_epi32(mask, panel + g * width + v);
                sum = is_a ? _mm512_dpbusd_epi32(sum, x, ones) : _mm512_dpbusd_epi32(sum, ones, x);
            }
        sum = _mm512_add_epi32(_mm512_mullo_epi32(sum, _mm512_set1_epi32(factor)), _mm512_set1_epi32(more));
        _mm512_mask_storeu_epi32(panel + groups * width + v, mask, sum);
    }
}

#define FINISH(name, is_a, factor, more)                                       \
    KERNEL_INLINE void name(int64_t width, int64_t k, void *panel)             \
    {                                                                          \
        (void)k;                                                               \
        finish_sums(width, k, panel, is_a, factor, (int32_t)(uint32_t)(more)); \
    }                                                                          \
    _Static_assert(sizeof(__m512i) == 64, "sixteen units")

FINISH(finish_a, true, 0, 0);         /* t = 0 */
FINISH(finish_a_moved, true, 128, 0); /* t = 1 */

KERNEL_PACK(any_a_moved, uint8_t, load_moved, MR, 4);
KERNEL_PACK(any_a_same, uint8_t, load_same, MR, 4);
KERNEL_PACK_UNITS(pack_a_i8, moved, any_a_moved, MR, 4, finish_a);
KERNEL_PACK_UNITS(pack_a_u8, same, any_a_same, MR, 4, finish_a);
KERNEL_PACK_UNITS(pack_a_i8_for_u8, moved, any_a_moved, MR, 4, finish_a_moved);
KERNEL_PACK_UNITS(pack_a_u8_for_u8, same, any_a_same, MR, 4, finish_a_moved);

/* Some rows of two panels from row p on, `depth` of them, whose columns lie beside each other: `from` is the first
 * byte, `panels` where the panels begin. After their units comes the sum of each column so far, if it counts. */
KERNEL_INLINE void pack_two(bool moves, bool sums_up, int64_t p, int64_t depth, int64_t k, const char *from,
                            int64_t k_stride, char *panels, int64_t panel_bytes)
{
    const __m512i ones = _mm512_set1_epi8(1);
    char *const ends[2] = {panels + 4 * NR * ((k + 3) / 4), panels + 4 * NR * ((k + 3) / 4) + panel_bytes};
    __m512i sums[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++)
        sums[v] = sums_up && p > 0 ? _mm512_loadu_si512(ends[v / 2] + v % 2 * 64) : _mm512_setzero_si512();
    for (int64_t q = 0; q < depth; q += 4) {
        __m512i row[4], quads[4];
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++) {
            const char *const at = from + (q + r) * k_stride;
            row[r] = q + r < depth ? _mm512_loadu_si512(at) : _mm512_setzero_si512();
            if (moves && q + r < depth) row[r] = _mm512_xor_si512(row[r], _mm512_set1_epi8(-128));
            ask_for((uintptr_t)at + (uintptr_t)(BESIDE_ROWS * k_stride));
        }
        join_quads(row, quads);
        turn_quarters(quads);
        char *const to = panels + NR * (p + q);
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) {
            _mm512_storeu_si512(to + v / 2 * panel_bytes + v % 2 * 64, quads[v]);
            if (sums_up) sums[v] = _mm512_dpbusd_epi32(sums[v], ones, quads[v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) _mm512_storeu_si512(ends[v / 2] + v % 2 * 64, sums[v]);
}

/* Panels of B, of columns that lie beside each other and whose number is a multiple of 64: a few rows of some of them
 * at a time, so that lines of memory are read along. */
KERNEL_INLINE void pack_beside(bool moves, int32_t factor, int32_t more, int64_t count, int64_t k, const char *from,
                               int64_t k_stride, char *panels, int64_t panel_bytes)
{
    for (int64_t first = 0; first < count; first += BESIDE_COLUMNS) {
        const int64_t last = count - first < BESIDE_COLUMNS ? count : first + BESIDE_COLUMNS;
        for (int64_t p = 0; p < k; p += BESIDE_ROWS)
            for (int64_t j = first; j < last; j += QUAD_COLUMNS)
                pack_two(moves, factor != 0, p, k - p < BESIDE_ROWS ? k - p : BESIDE_ROWS, k, from + p * k_stride + j,
                         k_stride, panels + j / NR * panel_bytes, panel_bytes);
    }
    for (int64_t j = 0; j < count; j += NR, panels += panel_bytes)
        for (int v = 0; v < 2; v++) {
            char *const end = panels + 4 * NR * ((k + 3) / 4) + 64 * v;
            const __m512i sum = _mm512_mullo_epi32(_mm512_loadu_si512(end), _mm512_set1_epi32(factor));
            _mm512_storeu_si512(end, _mm512_add_epi32(sum, _mm512_set1_epi32(more)));
        }
}

/* Packs panels of B: of those columns that pack_beside() takes, and of what is left by KERNEL_PACK_UNITS. */
#define PACK_B(name, load, moves, factor, more)                                                                     \
    FINISH(finish_##name, false, factor, more);                                                                     \
    KERNEL_PACK(any_##name, uint8_t, load_##load, NR, 4);                                                           \
    KERNEL_PACK_UNITS(units_##name, load, any_##name, NR, 4, finish_##name);                                        \
    static void name(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride,  \
                     void *panels, int64_t panel_bytes)                                                             \
    {                                                                                                               \
        const int64_t beside = stride == 1 && k > 0 ? count / QUAD_COLUMNS * QUAD_COLUMNS : 0;                      \
        if (beside > 0)                                                                                             \
            pack_beside(moves, factor, (int32_t)(uint32_t)(more), beside, k, (const char *)from + offset, k_stride, \
                        panels, panel_bytes);                                                                       \
        if (beside < count)                                                                                         \
            units_##name(count - beside, k, from, offset + beside * stride, stride, k_stride,                       \
                         (char *)panels + beside / NR * panel_bytes, panel_bytes);                                  \
    }                                                                                                               \
    _Static_assert(QUAD_COLUMNS == 2 * NR, "panels of pack_two()")

PACK_B(pack_b_i8, same, false, 0, 0);                    /* s = 0 */
PACK_B(pack_b_i8_for_i8, same, false, -128, 0);          /* s = 1, t = 0 */
PACK_B(pack_b_u8, moved, true, 0, 0);                    /* s = 0 */
PACK_B(pack_b_u8_for_i8, moved, true, -128, -16384 * k); /* s = 1, t = 1 */

FINISH(finish_b_i4, false, -128, 0);
KERNEL_PACK(any_b_i4, uint8_t, load_i4_byte, NR, 4);
KERNEL_PACK_UNITS(pack_b_i4, i4, any_b_i4, NR, 4, finish_b_i4);

/* ---- few rows ---- */

KERNEL_SKINNY_OF_BYTES(skinny_i8, quad_rows, .b_is_unsigned = true, .moves_b = true, .factor = -128);
KERNEL_SKINNY_OF_BYTES(skinny_u8_i8, quad_rows_of_any, .b_is_unsigned = false);
KERNEL_SKINNY_OF_BYTES(skinny_i8_u8, quad_rows_of_any, .b_is_unsigned = true);
KERNEL_SKINNY_OF_BYTES(skinny_u8, quad_rows_of_any, .moves_b = true, .factor = 128);
KERNEL_SKINNY_OF_BYTES(skinny_i8_i4, quad_rows_of_any, .b_is_unsigned = true, .b_is_i4 = true, .factor = -8);

/* Panels of 64 columns: a piece of a panel is a piece of B whose lines follow each other. */
static bool few_i8(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                   const void *b, int64_t width, int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate,
                   void *scratch)
{
    const skinny_form form = {.b_is_unsigned = true, .moves_b = true, .factor = -128};
    const skinny_product x = {m, n, k, a, a_row_stride, a_k_stride, b, width, c, 4 * c_row_stride, accumulate};
    if (m > FEW_ROWS_MOST || width != QUAD_COLUMNS) return false;
    quad_panels(form, &x, panel_stride, scratch);
    return true;
}

enum { I8, U8_I8, I8_U8, U8, I8_I4 };
KERNEL_ENTRIES(i8, kernel_rows_vnni, I8);
KERNEL_ENTRIES(u8_i8, kernel_rows_vnni, U8_I8);
KERNEL_ENTRIES(i8_u8, kernel_rows_vnni, I8_U8);
KERNEL_ENTRIES(u8, kernel_rows_vnni, U8);
KERNEL_ENTRIES(i8_i4, kernel_rows_vnni, I8_I4);

#define ROW                                                                                                       \
    .acc = PTO_I32, .isa = PTO_ISA_AVX2 | PTO_ISA_AVX512 | PTO_ISA_AVX512_VNNI, .sums = PTO_SUMS_EXACT, .mr = MR, \
    .nr = NR, .k_group = 4, .a_bytes = 1, .b_bytes = 1, .a_tail_bytes = 4, .b_tail_bytes = 4, .m_block = M_BLOCK, \
    .k_block = K_BLOCK_BYTES, .n_block = N_BLOCK, .micro = micro_bytes, .asks_ahead = true, .packed_rows = 1

const pto_contraction kernel_rows_vnni[] = {
    [I8] = {ROW, .name = "i8 i8 avx512-vnni", .a = PTO_I8, .b = PTO_I8, .pack_a = pack_a_i8, .pack_b = pack_b_i8_for_i8,
            .skinny = skinny_i8, .few = few_i8, .few_columns = QUAD_COLUMNS, .few_rows = 6, KERNEL_ENTRIES_OF(i8)},
    [U8_I8] = {ROW, .name = "u8 i8 avx512-vnni", .a = PTO_U8, .b = PTO_I8, .pack_a = pack_a_u8, .pack_b = pack_b_i8,
               .skinny = skinny_u8_i8, KERNEL_ENTRIES_OF(u8_i8)},
    [I8_U8] = {ROW, .name = "i8 u8 avx512-vnni", .a = PTO_I8, .b = PTO_U8, .pack_a = pack_a_i8_for_u8,
               .pack_b = pack_b_u8_for_i8, .skinny = skinny_i8_u8, KERNEL_ENTRIES_OF(i8_u8)},
    [U8] = {ROW, .name = "u8 u8 avx512-vnni", .a = PTO_U8, .b = PTO_U8, .pack_a = pack_a_u8_for_u8, .pack_b = pack_b_u8,
            .skinny = skinny_u8, KERNEL_ENTRIES_OF(u8)},
    [I8_I4] = {ROW, .name = "i8 i4 avx512-vnni", .a = PTO_I8, .b = PTO_KERNEL_I4, .pack_a = pack_a_i8,
               .pack_b = pack_b_i4, .skinny = skinny_i8_i4, KERNEL_ENTRIES_OF(i8_i4)},
    {0},
};
#endif
