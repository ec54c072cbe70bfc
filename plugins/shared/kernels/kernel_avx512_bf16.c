/* Rows of AVX-512 BF16. Its product of pairs adds the upper pair first, each addition rounded as an fma; so a panel has
 * the element of the lower k in the upper half, and sums are those of f32. But it takes subnormal operands, in and out,
 * for zeros: a panel says whether it holds any, and pairs of such panels that do are multiplied by fma. */
#if defined(__x86_64__)
#include "kernel_avx512.h"

KERNEL_INLINE __m512i step_bf16(__m512i sum, __m512i left, __m512i line)
{
    return _mm512_castps_si512(_mm512_dpbf16_ps(_mm512_castsi512_ps(sum), (__m512bh)left, (__m512bh)line));
}

KERNEL_MICRO(micro_normal, step_bf16, false, 2);

/* Runs where the processor flushes sums. */
KERNEL_INLINE __m512 step_by_fma(__m512 sum, __m512i left, __m512i line)
{
    const __m512i upper = _mm512_set1_epi32((int32_t)0xffff0000);
    const __m512 first = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(left, upper)),
                                         _mm512_castsi512_ps(_mm512_and_si512(line, upper)), sum);
    return _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(left, 16)),
                           _mm512_castsi512_ps(_mm512_slli_epi32(line, 16)), first);
}

/* Twice the magnitude less 1, modulo 2^16: least for subnormal elements, and most for 0. */
KERNEL_INLINE __m512i size_of(__m512i x) { return _mm512_add_epi16(_mm512_add_epi16(x, x), _mm512_set1_epi16(-1)); }

/* Whether one of those whose least size_of() is known is subnormal. */
KERNEL_INLINE bool is_subnormal(__m512i least) { return _mm512_cmplt_epu16_mask(least, _mm512_set1_epi16(0xff)) != 0; }

/* A pair of elements of each row, `left`, times those of 32 columns: by fma if one of them is subnormal. rows is a
 * constant. */
KERNEL_INLINE void add_pair(int rows, const int32_t *left, const __m512i line[2], __m512 sum[][2])
{
    const __m512i least = _mm512_min_epu16(size_of(line[0]), size_of(line[1]));
    const __m512i all = _mm512_maskz_loadu_epi32((__mmask16)((1U << rows) - 1), left);
    if (is_subnormal(_mm512_min_epu16(least, size_of(all)))) {
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
            for (int v = 0; v < 2; v++) sum[i][v] = step_by_fma(sum[i][v], _mm512_set1_epi32(left[i]), line[v]);
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            sum[i][v] = _mm512_dpbf16_ps(sum[i][v], (__m512bh)_mm512_set1_epi32(left[i]), (__m512bh)line[v]);
}

#include "kernel_avx512_bf16_skinny.h"

/* Some rows of panels pair by pair; rows is a constant. */
KERNEL_INLINE void micro_look_at(int rows, int64_t pairs, const int32_t *a, const int32_t *b, char *c,
                                 int64_t c_row_bytes, int64_t n, bool accumulate)
{
    const __mmask16 masks[] = {mask_of(n), mask_of(n - 16)};
    __m512 sum[HALF][2];
#pragma GCC unroll 7
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            sum[i][v] =
                accumulate ? _mm512_maskz_loadu_ps(masks[v], c + i * c_row_bytes + 64 * v) : _mm512_setzero_ps();
    for (int64_t p = 0; p < pairs; p++, a += MR, b += NR) {
        const __m512i line[] = {_mm512_loadu_si512(b), _mm512_loadu_si512(b + 16)};
        add_pair(rows, a, line, sum);
    }
#pragma GCC unroll 7
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) _mm512_mask_storeu_ps(c + i * c_row_bytes + 64 * v, masks[v], sum[i][v]);
}

/* Panels that hold subnormal elements. */
static void micro_looking(int64_t k, const int32_t *a, const int32_t *b, char *c, int64_t c_row_bytes, int64_t m,
                          int64_t n, bool accumulate)
{
    int64_t i = 0;
    for (; i + HALF <= m; i += HALF)
        micro_look_at(HALF, (k + 1) / 2, a + i, b, c + i * c_row_bytes, c_row_bytes, n, accumulate);
    for (; i < m; i++) micro_look_at(1, (k + 1) / 2, a + i, b, c + i * c_row_bytes, c_row_bytes, n, accumulate);
}

/* After the units of a panel, whether it holds a subnormal element. */
KERNEL_INLINE int32_t *flag_of(void *panel, int64_t width, int64_t k)
{
    return (int32_t *)panel + width * ((k + 1) / 2);
}

static void micro_deeper_bf16(int64_t k, int64_t b_depth, const void *a_panel, const void *b_panel, void *c,
                              int64_t c_row_stride, int64_t m, int64_t n, bool accumulate)
{
    const int32_t *const a = a_panel, *const b = b_panel;
    if (a[MR * ((k + 1) / 2)] | b[NR * ((b_depth + 1) / 2)])
        micro_looking(k, a, b, c, 4 * c_row_stride, m, n, accumulate);
    else
        micro_normal(k, a_panel, b_panel, c, c_row_stride, m, n, accumulate);
}

static void micro_bf16(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride, int64_t m,
                       int64_t n, bool accumulate)
{
    micro_deeper_bf16(k, k, a_panel, b_panel, c, c_row_stride, m, n, accumulate);
}

KERNEL_INLINE __m512i along_bf16(const void *from, int64_t at, int64_t k_left)
{
    const __mmask32 mask = k_left >= 32 ? 0xffffffff : (1U << k_left) - 1;
    return _mm512_rol_epi32(_mm512_maskz_loadu_epi16(mask, (const char *)from + 2 * at), 16);
}

KERNEL_INLINE __m512i across_bf16(const void *from, int64_t at, int64_t k_stride, int64_t k_left, int64_t columns_left)
{
    const __mmask16 mask = mask_of(columns_left);
    const __m256i first = _mm256_maskz_loadu_epi16(mask, (const char *)from + 2 * at);
    const __m512i upper = _mm512_slli_epi32(_mm512_cvtepu16_epi32(first), 16);
    if (k_left < 2) return upper;
    const __m256i next = _mm256_maskz_loadu_epi16(mask, (const char *)from + 2 * (at + k_stride));
    return _mm512_or_si512(upper, _mm512_cvtepu16_epi32(next));
}

/* What a panel of A has beyond an odd k is the zero that leaves a sum of -0 so. */
KERNEL_INLINE void fill_pairs(int64_t k, int32_t *panel)
{
    const int64_t units = MR * ((k + 1) / 2);
    if (k % 2 != 0)
        for (int64_t i = units - MR; i < units; i++) panel[i] |= 0x8000;
}

/* Looks for subnormals. */
KERNEL_INLINE void finish_bf16(int64_t width, int64_t k, void *panel)
{
    const int64_t units = width * ((k + 1) / 2);
    const int32_t *const to = panel;
    __m512i least = _mm512_set1_epi16(-1);
    for (int64_t i = 0; i < units; i += 16)
        least = _mm512_min_epu16(least, size_of(_mm512_maskz_loadu_epi32(mask_of(units - i), to + i)));
    *flag_of(panel, width, k) = is_subnormal(least);
}

KERNEL_INLINE void finish_a(int64_t width, int64_t k, void *panel)
{
    finish_bf16(width, k, panel);
    fill_pairs(k, panel);
}

/* Elements in the order of k, whose units are swapped then. */
KERNEL_PACK(ordered_a, uint16_t, load_bits16, MR, 2);
KERNEL_PACK(ordered_b, uint16_t, load_bits16, NR, 2);

#define PACK_SWAPPED(name, ordered, width)                                                                         \
    static void name(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride, \
                     void *panels, int64_t panel_bytes)                                                            \
    {                                                                                                              \
        ordered(count, k, from, offset, stride, k_stride, panels, panel_bytes);                                    \
        for (int64_t i = 0; i < count; i += (width)) {                                                             \
            uint32_t *const units = (void *)((char *)panels + i / (width) * panel_bytes);                          \
            for (int64_t u = 0; u < (width) * ((k + 1) / 2); u++) units[u] = units[u] << 16 | units[u] >> 16;      \
        }                                                                                                          \
    }                                                                                                              \
    _Static_assert((width) > 0, "of a panel")

PACK_SWAPPED(any_a, ordered_a, MR);
PACK_SWAPPED(any_b, ordered_b, NR);
KERNEL_PACK_UNITS(pack_a_units, bf16, any_a, MR, 2, finish_a);
KERNEL_PACK_UNITS(pack_b_units, bf16, any_b, NR, 2, finish_bf16);

/* A panel of A whose rows, of which `rows` are there, each go upwards along k: in one pass. */
KERNEL_INLINE void pack_rows(int64_t rows, int64_t k, const char *from, int64_t row_bytes, int32_t *panel)
{
    enum { UNITS = 16, ELEMENTS = 2 * UNITS };
    int32_t *to = panel;
    __m512i least = _mm512_set1_epi16(-1);
    for (int64_t p = 0; p < k; p += ELEMENTS, to += UNITS * MR) {
        const int64_t left = k - p;
        const __mmask32 mask = left >= ELEMENTS ? UINT32_MAX : (1U << left) - 1;
        __m512i r[UNITS];
#pragma GCC unroll 16
        for (int i = 0; i < UNITS; i++) {
            const char *const at = from + i * row_bytes + 2 * p;
            if (i >= rows) {
                r[i] = _mm512_setzero_si512();
                continue;
            }
            ask_for((uintptr_t)at + (uintptr_t)(AHEAD_PANELS * MR * row_bytes));
            const __m512i units = load_halves(at, mask);
            least = _mm512_min_epu16(least, size_of(units));
            r[i] = _mm512_rol_epi32(units, 16);
        }
        transpose_16x16(r);
#pragma GCC unroll 16
        for (int i = 0; i < UNITS; i++)
            if (2 * i < left) store_units(to + MR * i, r[i], MR);
    }
    fill_pairs(k, panel);
    *flag_of(panel, MR, k) = is_subnormal(least);
}

static void pack_a(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride,
                   void *panels, int64_t panel_bytes)
{
    if (k_stride != 1 || stride == 1) {
        pack_a_units(count, k, from, offset, stride, k_stride, panels, panel_bytes);
        return;
    }
    for (int64_t i = 0; i < count; i += MR) {
        const char *const rows = (const char *)from + 2 * (offset + i * stride);
        int32_t *const panel = (void *)((char *)panels + i / MR * panel_bytes);
        if (count - i >= MR)
            pack_rows(MR, k, rows, 2 * stride, panel);
        else
            pack_rows(count - i, k, rows, 2 * stride, panel);
    }
}

/* Two rows of 32 columns, as they are in a panel. */
KERNEL_INLINE void join_columns(__m512i low, __m512i high, char *to)
{
    const __m512i each = _mm512_set_epi16(15, 47, 14, 46, 13, 45, 12, 44, 11, 43, 10, 42, 9, 41, 8, 40, 7, 39, 6, 38, 5,
                                          37, 4, 36, 3, 35, 2, 34, 1, 33, 0, 32);
    const __m512i other = _mm512_add_epi16(each, _mm512_set1_epi16(16));
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(low, each, high));
    _mm512_storeu_si512(to + 64, _mm512_permutex2var_epi16(low, other, high));
}

/* A few panels of 32 columns that lie beside each other, so that lines of memory are read along; `count` is a constant.
 */
KERNEL_INLINE void pack_beside(int count, int64_t k, const char *from, int64_t row_bytes, char *panels,
                               int64_t panel_bytes)
{
    enum { PANELS_MOST = 4, ROWS_AHEAD = 16 };
    __m512i least[PANELS_MOST];
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) least[i] = _mm512_set1_epi16(-1);
    for (int64_t p = 0; p < k; p += 2, from += 2 * row_bytes)
#pragma GCC unroll 4
        for (int i = 0; i < count; i++) {
            const char *const at = from + 2 * NR * i;
            const __m512i low = _mm512_loadu_si512(at);
            const __m512i high = p + 1 < k ? _mm512_loadu_si512(at + row_bytes) : _mm512_setzero_si512();
            ask_for((uintptr_t)at + (uintptr_t)(ROWS_AHEAD * row_bytes));
            ask_for((uintptr_t)at + (uintptr_t)((ROWS_AHEAD + 1) * row_bytes));
            join_columns(low, high, panels + i * panel_bytes + 4 * NR * (p / 2));
            least[i] = _mm512_min_epu16(least[i], _mm512_min_epu16(size_of(low), size_of(high)));
        }
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) *flag_of(panels + i * panel_bytes, NR, k) = is_subnormal(least[i]);
}

static void pack_b(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride,
                   void *panels, int64_t panel_bytes)
{
    int64_t first = 0;
    for (int64_t many = 4; many > 0 && stride == 1; many -= 3)
        for (; count - first >= many * NR; first += many * NR) {
            const char *const columns = (const char *)from + 2 * (offset + first);
            char *const to = (char *)panels + first / NR * panel_bytes;
            if (many == 4)
                pack_beside(4, k, columns, 2 * k_stride, to, panel_bytes);
            else
                pack_beside(1, k, columns, 2 * k_stride, to, panel_bytes);
        }
    if (first < count)
        pack_b_units(count - first, k, from, offset + first * stride, stride, k_stride,
                     (char *)panels + first / NR * panel_bytes, panel_bytes);
}

enum { BF16 };
KERNEL_ENTRIES(bf16, kernel_rows_bf16, BF16);

static void bf16_panels_beyond(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                               const void *b, int64_t width, int64_t panel_stride, void *c, int64_t c_row_stride,
                               bool accumulate, void *scratch)
{
    contraction_by_panels(&kernel_rows_bf16[BF16], few_bf16_beyond, m, n, k, a, a_row_stride, a_k_stride, b, width,
                          panel_stride, c, c_row_stride, accumulate, scratch);
}

const pto_contraction kernel_rows_bf16[] = {
    [BF16] = {.name = "bf16 bf16 avx512-bf16",
              .a = PTO_BF16,
              .b = PTO_BF16,
              .acc = PTO_F32,
              .isa = PTO_ISA_AVX2 | PTO_ISA_AVX512 | PTO_ISA_AVX512_BF16,
              .sums = PTO_SUMS_FMA_FLUSHED,
              .mr = MR,
              .nr = NR,
              .k_group = 2,
              .a_bytes = 2,
              .b_bytes = 2,
              .a_tail_bytes = 4,
              .b_tail_bytes = 4,
              .m_block = M_BLOCK,
              .k_block = K_BLOCK_BYTES / 2,
              .n_block = N_BLOCK,
              .pack_a = pack_a,
              .pack_b = pack_b,
              .micro = micro_bf16,
              .micro_deeper = micro_deeper_bf16,
              .asks_ahead = true,
              .flushes = true,
              .skinny = skinny_bf16,
              .few = few_bf16,
              .packed_rows = 4,
              .few_columns = FEW_COLUMNS,
              .few_rows = 8,
              .panels_beyond = bf16_panels_beyond,
              KERNEL_ENTRIES_OF(bf16)},
    {0},
};
#endif
