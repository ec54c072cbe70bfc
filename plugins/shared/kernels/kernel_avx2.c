/* Rows of AVX2, FMA and F16C: panels of f32, whatever is multiplied, and panels of pairs of 16-bit integers, whose
 * products are added in 32 bits. (Products of bytes are added in pairs of 16 bits by this instruction set, which
 * saturates.) */
#if defined(__x86_64__)
#include "kernel_load.h"
#include "kernel_nibbles.h"

#include <immintrin.h>

/* Of 16 registers 12 are sums; the rest are a line of B and what is broadcast of A. */
enum { MR = 6, NR = 16 };

/* The first n of eight lanes; n may be any number. */
KERNEL_INLINE __m256i mask_of(int64_t n)
{
    const int32_t count = n > 8 ? 8 : (int32_t)n;
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

KERNEL_INLINE __m256i load_line(const void *from) { return _mm256_loadu_si256(from); }

/* What one step of a micro-kernel does: sum + left * line, in units of four bytes. */
typedef __m256i kernel_step(__m256i sum, __m256i left, __m256i line);

KERNEL_INLINE __m256i step_f32(__m256i sum, __m256i left, __m256i line)
{
    return _mm256_castps_si256(
        _mm256_fmadd_ps(_mm256_castsi256_ps(left), _mm256_castsi256_ps(line), _mm256_castsi256_ps(sum)));
}

KERNEL_INLINE __m256i step_pairs(__m256i sum, __m256i left, __m256i line)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(left, line));
}

/* rows and vectors are constants where this is called, so that sums stay in registers. C is at an address that is a
 * multiple of nothing, which masked loads and stores do not mind. */
KERNEL_INLINE void micro_of(kernel_step step, int rows, int vectors, int64_t groups, const int32_t *a, const int32_t *b,
                            char *c, int64_t c_row_bytes, int64_t n, bool accumulate)
{
    const __m256i last = mask_of(n - 8 * (vectors - 1));
    __m256i sum[MR][2];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            const void *const from = c + i * c_row_bytes + 32 * v;
            sum[i][v] = !accumulate        ? _mm256_setzero_si256()
                        : v == vectors - 1 ? _mm256_maskload_epi32(from, last)
                                           : load_line(from);
        }
    for (int64_t g = 0; g < groups; g++, a += MR, b += NR) {
        __m256i line[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) line[v] = load_line(b + 8 * v);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            const __m256i left = _mm256_set1_epi32(a[i]);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sum[i][v] = step(sum[i][v], left, line[v]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            void *const to = c + i * c_row_bytes + 32 * v;
            if (v == vectors - 1)
                _mm256_maskstore_epi32(to, last, sum[i][v]);
            else
                _mm256_storeu_si256(to, sum[i][v]);
        }
}

#define MICRO_CASE(rows)                                                                          \
    case 2 * (rows): micro_of(step, rows, 1, groups, a, b, c, c_row_bytes, n, accumulate); break; \
    case 2 * (rows) + 1: micro_of(step, rows, 2, groups, a, b, c, c_row_bytes, n, accumulate); break;

#define MICRO(name, step_of, group)                                                                                  \
    static void name(int64_t k, const void *a_panel, const void *b_panel, void *to, int64_t c_row_stride, int64_t m, \
                     int64_t n, bool accumulate)                                                                     \
    {                                                                                                                \
        kernel_step *const step = step_of;                                                                           \
        const int32_t *a = a_panel, *b = b_panel;                                                                    \
        char *const c = to;                                                                                          \
        const int64_t c_row_bytes = 4 * c_row_stride, groups = (k + (group) - 1) / (group);                          \
        switch (2 * m + (n > 8)) {                                                                                   \
            MICRO_CASE(1) MICRO_CASE(2) MICRO_CASE(3) MICRO_CASE(4) MICRO_CASE(5) MICRO_CASE(6) default : break;     \
        }                                                                                                            \
    }                                                                                                                \
    _Static_assert((group) > 0, "of elements")

MICRO(micro_f32, step_f32, 1);
MICRO(micro_pairs, step_pairs, 2);

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
    const void *const p = (const char *)from + 4 * at;
    return k_left >= 8 ? load_line(p) : _mm256_maskload_epi32(p, mask_of(k_left));
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

typedef __m256i units_along(const void *from, int64_t at, int64_t k_left);
typedef __m256i units_across(const void *from, int64_t at, int64_t k_stride, int64_t k_left, int64_t columns_left);

/* Rows become columns, in place. */
KERNEL_INLINE void transpose_8x8(__m256i r[8])
{
    __m256i t[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        t[c] = _mm256_permute2x128_si256(r[c], r[c + 4], 0x20);
        t[c + 4] = _mm256_permute2x128_si256(r[c], r[c + 4], 0x31);
    }
#pragma GCC unroll 8
    for (int c = 0; c < 8; c++) r[c] = t[c];
}

/* Eight units of a line whose first is unit v of a panel's `width`. */
KERNEL_INLINE void store_units(int32_t *to, int64_t width, int64_t v, __m256i units)
{
    if (width - v >= 8)
        _mm256_storeu_si256((void *)to, units);
    else
        _mm256_maskstore_epi32(to, mask_of(width - v), units);
}

KERNEL_INLINE void pack_across(units_across units, int64_t width, int64_t group, int64_t count, int64_t k,
                               const void *from, int64_t offset, int64_t k_stride, int32_t *to)
{
    for (int64_t p = 0; p < k; p += group, to += width)
        for (int64_t v = 0; v < width; v += 8)
            store_units(to + v, width, v, units(from, offset + p * k_stride + v, k_stride, k - p, count - v));
}

KERNEL_INLINE void pack_along(units_along units, int64_t width, int64_t group, int64_t count, int64_t k,
                              const void *from, int64_t offset, int64_t stride, int32_t *to)
{
    for (int64_t p = 0; p < k; p += 8 * group, to += 8 * width)
        for (int64_t v = 0; v < width; v += 8) {
            __m256i r[8];
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                r[i] = v + i < count ? units(from, offset + (v + i) * stride + p, k - p) : _mm256_setzero_si256();
            transpose_8x8(r);
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                if (p + i * group < k) store_units(to + i * width + v, width, v, r[i]);
        }
}

#define PACK(name, type, load, width, group)                                                                       \
    KERNEL_PACK(name##_any, type, load_##load, width, group);                                                      \
    static void name(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride, \
                     void *panels, int64_t panel_bytes)                                                            \
    {                                                                                                              \
        if (stride != 1 && k_stride != 1) {                                                                        \
            name##_any(count, k, from, offset, stride, k_stride, panels, panel_bytes);                             \
            return;                                                                                                \
        }                                                                                                          \
        for (int64_t i = 0; i < count; i += (width)) {                                                             \
            int32_t *const panel = (void *)((char *)panels + i / (width) * panel_bytes);                           \
            if (stride == 1)                                                                                       \
                pack_across(across_##load, width, group, count - i, k, from, offset + i, k_stride, panel);         \
            else                                                                                                   \
                pack_along(along_##load, width, group, count - i, k, from, offset + i * stride, stride, panel);    \
        }                                                                                                          \
    }                                                                                                              \
    _Static_assert((width) > 0, "of a panel")

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

/* ---- few rows of floats: B is read once, as it lies, and not packed ---- */

enum { SKINNY_ROWS = 4, SKINNY_DEPTH = 8, SKINNY_COLUMNS = 2048 };

/* `depth` lines of B, each times its element of A's rows, for `n` columns of C; rows and depth are constants. */
KERNEL_INLINE void skinny_lines(units_across units, int rows, int depth, float left[][SKINNY_ROWS], const void *b,
                                int64_t offset, int64_t b_k_stride, int64_t n, char *c, int64_t c_row_bytes, bool adds)
{
    for (int64_t j = 0; j < n; j += 8, c += 32) {
        const __m256i mask = mask_of(n - j);
        __m256 sum[SKINNY_ROWS];
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum[i] = adds ? _mm256_maskload_ps((const void *)(c + i * c_row_bytes), mask) : _mm256_setzero_ps();
#pragma GCC unroll 8
        for (int q = 0; q < depth; q++) {
            const __m256 line = _mm256_castsi256_ps(units(b, offset + q * b_k_stride + j, 0, 1, n - j));
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++) sum[i] = _mm256_fmadd_ps(_mm256_set1_ps(left[q][i]), line, sum[i]);
        }
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) _mm256_maskstore_ps((void *)(c + i * c_row_bytes), mask, sum[i]);
    }
}

typedef float load_element(const void *from, int64_t at);

/* All of C, some columns at a time, so that their sums stay in the first-level cache while k goes upwards. */
KERNEL_INLINE void skinny_rows(load_element load, units_across units, int rows, int64_t n, int64_t k, const void *a,
                               int64_t first, int64_t a_row_stride, int64_t a_k_stride, const void *b,
                               int64_t b_k_stride, char *c, int64_t c_row_bytes, bool accumulate)
{
    float left[SKINNY_DEPTH][SKINNY_ROWS];
    for (int64_t j = 0; j < n; j += SKINNY_COLUMNS) {
        const int64_t columns = n - j < SKINNY_COLUMNS ? n - j : SKINNY_COLUMNS;
        int64_t depth;
        for (int64_t p = 0; p < k; p += depth) {
            const int64_t offset = p * b_k_stride + j;
            const bool adds = accumulate || p > 0;
            depth = k - p < SKINNY_DEPTH ? 1 : SKINNY_DEPTH;
            for (int q = 0; q < depth; q++)
                for (int i = 0; i < rows; i++) left[q][i] = load(a, first + i * a_row_stride + (p + q) * a_k_stride);
            if (depth == 1)
                skinny_lines(units, rows, 1, left, b, offset, b_k_stride, columns, c + 4 * j, c_row_bytes, adds);
            else
                skinny_lines(units, rows, SKINNY_DEPTH, left, b, offset, b_k_stride, columns, c + 4 * j, c_row_bytes,
                             adds);
        }
    }
}

#define SKINNY_CASE(rows, load, units)                                                                         \
    case rows:                                                                                                 \
        skinny_rows(load_##load, across_##units, rows, n, k, a, 0, a_row_stride, a_k_stride, b, b_k_stride, c, \
                    4 * c_row_stride, accumulate);                                                             \
        break;

#define SKINNY(name, load, units)                                                                               \
    static bool name(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,  \
                     const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride, \
                     bool accumulate)                                                                           \
    {                                                                                                           \
        if (b_column_stride != 1) return false;                                                                 \
        switch (m) {                                                                                            \
            SKINNY_CASE(1, load, units)                                                                         \
            SKINNY_CASE(2, load, units)                                                                         \
            SKINNY_CASE(3, load, units)                                                                         \
            SKINNY_CASE(4, load, units)                                                                         \
        default: return false;                                                                                  \
        }                                                                                                       \
        return true;                                                                                            \
    }                                                                                                           \
    _Static_assert(SKINNY_ROWS == 4, "cases")

SKINNY(skinny_f32, f32, f32);
SKINNY(skinny_bf16, bf16, bf16);
SKINNY(skinny_f16, f16, f16);
SKINNY(skinny_f32_i4, f32, i4_f32);

/* Blocks: one of A fills about half of a second-level cache of 512 KiB, one of B lies in the third. */
#define ROW .isa = PTO_ISA_AVX2, .mr = MR, .nr = NR, .m_block = 28 * MR, .n_block = 4096
#define FLOATS(name)                                                                                     \
    ROW, .acc = PTO_F32, .sums = PTO_SUMS_FMA, .k_group = 1, .a_bytes = 4, .b_bytes = 4, .k_block = 384, \
        .micro = micro_f32, .skinny = skinny_##name
#define BYTES(name)                                                                                        \
    ROW, .acc = PTO_I32, .sums = PTO_SUMS_EXACT, .k_group = 2, .a_bytes = 2, .b_bytes = 2, .k_block = 768, \
        .micro = micro_pairs

KERNEL_TABLE(kernel_rows_avx2, "avx2");
#endif
