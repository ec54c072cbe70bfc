/* What the files of rows have in common: the entries of a row, and the rows of each instruction set. */
#ifndef PTO_KERNEL_ROWS_H
#define PTO_KERNEL_ROWS_H

#include "kernel_table.h"

#define KERNEL_INLINE static inline __attribute__((always_inline))

/* Bytes of scratch that contraction_block() needs for a row. */
int64_t contraction_scratch_bytes(const pto_contraction *row, int64_t m, int64_t n, int64_t k);

/* Bytes that are enough for at most m x n, whatever k is. */
int64_t contraction_scratch_most(const pto_contraction *row, int64_t m, int64_t n);

/* pto_contraction_block for a row. */
void contraction_block(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                       int64_t a_k_stride, const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c,
                       int64_t c_row_stride, bool accumulate, void *scratch);

/* Of a cache line: where panels begin. */
enum { CONTRACTION_LINE = 64 };

/* The first multiple of a cache line from there on. */
KERNEL_INLINE void *contraction_align(void *scratch)
{
    return (char *)scratch + (-(uintptr_t)scratch & (CONTRACTION_LINE - 1));
}

/* The product with panels of B that are there, `b_panel` bytes apart and as deep as all of k; k_group of the row is 1.
 * Scratch: contraction_panels_scratch(row, m, k) bytes, of any alignment. */
void contraction_panels(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a,
                        int64_t a_row_stride, int64_t a_k_stride, const void *panels, int64_t b_panel, void *c,
                        int64_t c_row_stride, bool accumulate, void *scratch);
/* Enough for fewer rows, and for less depth, too. */
int64_t contraction_panels_scratch(const pto_contraction *row, int64_t m, int64_t k);

/* pto_contraction_packed_bytes, pto_contraction_pack_part and pto_contraction_packed for a row. */
int64_t contraction_packed_bytes(const pto_contraction *row, int64_t n, int64_t k, int64_t b_k_stride,
                                 int64_t b_column_stride);
void contraction_pack(const pto_contraction *row, int64_t part, int64_t n, int64_t k, const void *from,
                      int64_t b_k_stride, int64_t b_column_stride, void *packed);
bool contraction_packed(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a,
                        int64_t a_row_stride, int64_t a_k_stride, const void *packed, int64_t columns, int64_t depth,
                        int64_t column, void *c, int64_t c_row_stride, bool accumulate, void *scratch);

/* Of scratch for pto_contraction_few, from a cache line on. */
enum { CONTRACTION_FEW_BYTES = 256 << 10 };

/* `few` for a row, if it is not NULL. */
bool contraction_few(const pto_contraction *row, pto_contraction_few *few, int64_t m, int64_t n, int64_t k,
                     const void *a, int64_t a_row_stride, int64_t a_k_stride, const void *b, int64_t width,
                     int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate, void *scratch);

/* pto_contraction_panels for a row and its `few`, or NULL, and bytes of scratch that are enough for at most m x n. */
void contraction_by_panels(const pto_contraction *row, pto_contraction_few *few, int64_t m, int64_t n, int64_t k,
                           const void *a, int64_t a_row_stride, int64_t a_k_stride, const void *b, int64_t width,
                           int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate, void *scratch);
int64_t contraction_by_panels_scratch(const pto_contraction *row, int64_t m, int64_t n);

/* pto_contraction_few_bytes and pto_contraction_pack_part of its panels for a row. */
int64_t contraction_few_bytes(const pto_contraction *row, int64_t n, int64_t k, int64_t b_k_stride,
                              int64_t b_column_stride);
void contraction_few_pack(const pto_contraction *row, int64_t part, int64_t n, int64_t k, const void *from,
                          int64_t b_k_stride, int64_t b_column_stride, void *panels);

/* Functions without a row among their arguments, for emitted code to call through a pointer: NAME_scratch_bytes,
 * NAME_scratch_most, NAME_block, NAME_panels_scratch, NAME_panels, NAME_packed_bytes, NAME_pack, NAME_packed,
 * NAME_few_bytes and NAME_few_pack of ROWS[INDEX]. A semicolon comes after it. */
#define KERNEL_ENTRIES(name, rows, index)                                                                              \
    static int64_t name##_scratch_bytes(int64_t m, int64_t n, int64_t k)                                               \
    {                                                                                                                  \
        return contraction_scratch_bytes(&rows[index], m, n, k);                                                       \
    }                                                                                                                  \
    static int64_t name##_scratch_most(int64_t m, int64_t n) { return contraction_scratch_most(&rows[index], m, n); }  \
    static void name##_block(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride, \
                             const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c,                      \
                             int64_t c_row_stride, bool accumulate, void *scratch)                                     \
    {                                                                                                                  \
        contraction_block(&rows[index], m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c,       \
                          c_row_stride, accumulate, scratch);                                                          \
    }                                                                                                                  \
    static int64_t name##_panels_scratch(int64_t m, int64_t n)                                                         \
    {                                                                                                                  \
        return contraction_by_panels_scratch(&rows[index], m, n);                                                      \
    }                                                                                                                  \
    static void name##_panels(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,                    \
                              int64_t a_k_stride, const void *b, int64_t width, int64_t panel_stride, void *c,         \
                              int64_t c_row_stride, bool accumulate, void *scratch)                                    \
    {                                                                                                                  \
        contraction_by_panels(&rows[index], rows[index].few, m, n, k, a, a_row_stride, a_k_stride, b, width,           \
                              panel_stride, c, c_row_stride, accumulate, scratch);                                     \
    }                                                                                                                  \
    static int64_t name##_packed_bytes(int64_t n, int64_t k, int64_t b_k_stride, int64_t b_column_stride)              \
    {                                                                                                                  \
        return contraction_packed_bytes(&rows[index], n, k, b_k_stride, b_column_stride);                              \
    }                                                                                                                  \
    static void name##_pack(int64_t part, int64_t n, int64_t k, const void *from, int64_t b_k_stride,                  \
                            int64_t b_column_stride, void *packed)                                                     \
    {                                                                                                                  \
        contraction_pack(&rows[index], part, n, k, from, b_k_stride, b_column_stride, packed);                         \
    }                                                                                                                  \
    static bool name##_packed(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,                    \
                              int64_t a_k_stride, const void *packed, int64_t columns, int64_t depth, int64_t column,  \
                              void *c, int64_t c_row_stride, bool accumulate, void *scratch)                           \
    {                                                                                                                  \
        return contraction_packed(&rows[index], m, n, k, a, a_row_stride, a_k_stride, packed, columns, depth, column,  \
                                  c, c_row_stride, accumulate, scratch);                                               \
    }                                                                                                                  \
    static int64_t name##_few_bytes(int64_t n, int64_t k, int64_t b_k_stride, int64_t b_column_stride)                 \
    {                                                                                                                  \
        return contraction_few_bytes(&rows[index], n, k, b_k_stride, b_column_stride);                                 \
    }                                                                                                                  \
    static void name##_few_pack(int64_t part, int64_t n, int64_t k, const void *from, int64_t b_k_stride,              \
                                int64_t b_column_stride, void *panels)                                                 \
    {                                                                                                                  \
        contraction_few_pack(&rows[index], part, n, k, from, b_k_stride, b_column_stride, panels);                     \
    }                                                                                                                  \
    _Static_assert((index) >= 0, "a row's index")

#define KERNEL_ENTRIES_OF(name)                                                                            \
    .scratch_bytes = name##_scratch_bytes, .scratch_most = name##_scratch_most, .block = name##_block,     \
    .panels_scratch = name##_panels_scratch, .panels = name##_panels, .packed_bytes = name##_packed_bytes, \
    .pack = name##_pack, .packed = name##_packed, .few_bytes = name##_few_bytes, .few_pack = name##_few_pack

/* The pairs of types that processors without instructions for products of narrow types have, as X(name, "types", a, b,
 * SUMS, how a is packed, how b is packed, ..); SUMS is FLOATS or BYTES. */
#define KERNEL_PAIRS(X, ...)                                                      \
    X(f32, "f32 f32", PTO_F32, PTO_F32, FLOATS, f32, f32, __VA_ARGS__)            \
    X(bf16, "bf16 bf16", PTO_BF16, PTO_BF16, FLOATS, bf16, bf16, __VA_ARGS__)     \
    X(f16, "f16 f16", PTO_F16, PTO_F16, FLOATS, f16, f16, __VA_ARGS__)            \
    X(f32_i4, "f32 i4", PTO_F32, PTO_KERNEL_I4, FLOATS, f32, i4_f32, __VA_ARGS__) \
    X(i8, "i8 i8", PTO_I8, PTO_I8, BYTES, i8, i8, __VA_ARGS__)                    \
    X(u8_i8, "u8 i8", PTO_U8, PTO_I8, BYTES, u8, i8, __VA_ARGS__)                 \
    X(i8_u8, "i8 u8", PTO_I8, PTO_U8, BYTES, i8, u8, __VA_ARGS__)                 \
    X(u8, "u8 u8", PTO_U8, PTO_U8, BYTES, u8, u8, __VA_ARGS__)                    \
    X(i8_i4, "i8 i4", PTO_I8, PTO_KERNEL_I4, BYTES, i8, i4, __VA_ARGS__)

#define KERNEL_PAIR_INDEX(name, types, a_type, b_type, SUMS, a_way, b_way, rows, isa_name) ROW_##name,
#define KERNEL_PAIR_ENTRIES(name, types, a_type, b_type, SUMS, a_way, b_way, rows, isa_name) \
    KERNEL_ENTRIES(name, rows, ROW_##name);
#define KERNEL_PAIR_ROW(name_, types, a_type, b_type, SUMS, a_way, b_way, rows, isa_name) \
    [ROW_##name_] = {SUMS(name_),                                                         \
                     .name = types " " isa_name,                                          \
                     .a = a_type,                                                         \
                     .b = b_type,                                                         \
                     .pack_a = pack_a_##a_way,                                            \
                     .pack_b = pack_b_##b_way,                                            \
                     KERNEL_ENTRIES_OF(name_)},

/* The table ROWS of all these pairs. Before it stand FLOATS(name) and BYTES(name), initializers of what rows that sum
 * in floats and in integers have in common, and the functions pack_a_WAY and pack_b_WAY. A semicolon comes after it. */
#define KERNEL_TABLE(rows, isa_name)                          \
    enum { KERNEL_PAIRS(KERNEL_PAIR_INDEX, rows, isa_name) }; \
    KERNEL_PAIRS(KERNEL_PAIR_ENTRIES, rows, isa_name)         \
    const pto_contraction rows[] = {KERNEL_PAIRS(KERNEL_PAIR_ROW, rows, isa_name){0}}

/* Rows of one file each, ended by a row without a name. */
extern const pto_contraction kernel_rows_plain[];
extern const pto_contraction kernel_rows_amx_twin[];
#if defined(__x86_64__)
extern const pto_contraction kernel_rows_avx2[];
extern const pto_contraction kernel_rows_avx512[];
extern const pto_contraction kernel_rows_vnni[];
extern const pto_contraction kernel_rows_bf16[];
extern const pto_contraction kernel_rows_amx[];

/* A pto_contraction_few of bf16 that sums by fma, where sums are flushed; needs AVX-512. */
bool kernel_few_bf16(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                     const void *b, int64_t width, int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate,
                     void *scratch);

/* A pto_contraction_skinny of bf16 that sums by tiles; needs AVX-512. */
bool kernel_few_by_tiles(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                         const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride,
                         bool accumulate);
#endif

#endif
