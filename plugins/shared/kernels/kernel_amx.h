/* Products of tiles as AMX has them: 16 rows of 64 bytes, a register for each of four blocks of sums, two of A and two
 * of B. What is here is the same for the instructions and for their twin in plain C: packing, the loop over k, and what
 * each instruction computes, after Intel's description of them (Intel 64 and IA-32 Architectures Software Developer's
 * Manual, volume 2, TDPBF16PS and TDPBSSD).
 *
 * A panel holds steps of 64 bytes of k for each row or column, each step two tiles: of A 16 rows of 64 bytes; of B 16
 * lines, each of the next 4 bytes of k of 16 columns. */
#ifndef PTO_KERNEL_AMX_H
#define PTO_KERNEL_AMX_H

#include "kernel_load.h"

#include <math.h>

enum {
    TILE_ROWS = 16,
    TILE_LINE = 64,
    TILE_BYTES = TILE_ROWS * TILE_LINE,
    STEP_BYTES = 2 * TILE_BYTES,
    MR = 2 * TILE_ROWS,
    NR = 2 * TILE_ROWS
};

/* ---- what the instructions compute ---- */

typedef struct tile_register {
    unsigned char bytes[TILE_ROWS][TILE_LINE];
} tile_register;

/* A subnormal number as a zero of its sign. */
KERNEL_INLINE float flushed_to_zero(float x) { return fabsf(x) < 0x1p-126F ? copysignf(0, x) : x; }

/* The 4 bytes of a column of a row, read and written. */
KERNEL_INLINE uint32_t word_of(const tile_register *t, int row, int column)
{
    uint32_t word;
    memcpy(&word, t->bytes[row] + 4 * column, sizeof word);
    return word;
}

/* Writes them. */
KERNEL_INLINE void set_word(tile_register *t, int row, int column, uint32_t word)
{
    memcpy(t->bytes[row] + 4 * column, &word, sizeof word);
}

/* TDPBF16PS: of the upper and of the lower elements of the pairs a sum each, by fma from 0 on and k upwards; these two
 * are added, and that to C. Subnormal numbers become 0, operands as well where `flushes_operands`. */
KERNEL_INLINE void tile_product_bf16(tile_register *c, const tile_register *a, const tile_register *b,
                                     bool flushes_operands)
{
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_ROWS; j++) {
            float sums[2] = {0, 0}, before;
            const uint32_t bits = word_of(c, i, j);
            memcpy(&before, &bits, sizeof before);
            for (int p = 0; p < TILE_ROWS; p++)
                for (int q = 0; q < 2; q++) {
                    float x = kernel_float_of_bits(word_of(a, i, p) >> 16 * q << 16),
                          y = kernel_float_of_bits(word_of(b, p, j) >> 16 * q << 16);
                    if (flushes_operands) {
                        x = flushed_to_zero(x);
                        y = flushed_to_zero(y);
                    }
                    sums[q] = flushed_to_zero(fmaf(x, y, sums[q]));
                }
            const float more = flushed_to_zero(sums[0] + sums[1]),
                        sum = flushed_to_zero(flushed_to_zero(before) + more);
            uint32_t made;
            memcpy(&made, &sum, sizeof made);
            set_word(c, i, j, made);
        }
}

/* TDPBSSD, TDPBUSD, TDPBSUD and TDPBUUD: exact products, added modulo 2^32. */
KERNEL_INLINE void tile_product_bytes(tile_register *c, const tile_register *a, const tile_register *b,
                                      bool a_is_signed, bool b_is_signed)
{
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_ROWS; j++) {
            uint32_t sum = word_of(c, i, j);
            for (int p = 0; p < TILE_LINE; p++) {
                const unsigned char x = a->bytes[i][p], y = b->bytes[p / 4][4 * j + p % 4];
                sum += (uint32_t)((a_is_signed ? (int8_t)x : x) * (b_is_signed ? (int8_t)y : y));
            }
            set_word(c, i, j, sum);
        }
}

/* TILELOADD: rows that are `row_bytes` apart. */
KERNEL_INLINE void tile_load(tile_register *t, const void *from, int64_t row_bytes)
{
    for (int i = 0; i < TILE_ROWS; i++) memcpy(t->bytes[i], (const char *)from + i * row_bytes, TILE_LINE);
}

/* TILESTORED: the same to memory. */
KERNEL_INLINE void tile_store(const tile_register *t, void *to, int64_t row_bytes)
{
    for (int i = 0; i < TILE_ROWS; i++) memcpy((char *)to + i * row_bytes, t->bytes[i], TILE_LINE);
}

#define TWIN_BEGIN() tile_register tiles[8]
#define TWIN_END() (void)tiles
#define TWIN_CLEAR(t) memset(&tiles[t], 0, sizeof tiles[t])
#define TWIN_LOAD(t, from, row_bytes) tile_load(&tiles[t], from, row_bytes)
#define TWIN_STORE(t, to, row_bytes) tile_store(&tiles[t], to, row_bytes)
#define TWIN_BF16(c, a, b) tile_product_bf16(&tiles[c], &tiles[a], &tiles[b], true)
#define TWIN_BF16_VALUES(c, a, b) tile_product_bf16(&tiles[c], &tiles[a], &tiles[b], false)
#define TWIN_I8_I8(c, a, b) tile_product_bytes(&tiles[c], &tiles[a], &tiles[b], true, true)
#define TWIN_U8_I8(c, a, b) tile_product_bytes(&tiles[c], &tiles[a], &tiles[b], false, true)
#define TWIN_I8_U8(c, a, b) tile_product_bytes(&tiles[c], &tiles[a], &tiles[b], true, false)
#define TWIN_U8_U8(c, a, b) tile_product_bytes(&tiles[c], &tiles[a], &tiles[b], false, false)

/* ---- one panel of A times one of B ---- */

/* Rows of C, m x n of them, to or from a whole block; from: with zeros around. */
KERNEL_INLINE void copy_part(int64_t m, int64_t n, const char *from, int64_t from_bytes, char *to, int64_t to_bytes)
{
    for (int64_t i = 0; i < m; i++) memcpy(to + i * to_bytes, from + i * from_bytes, (size_t)(4 * n));
}

/* A pto_contraction_micro by the operations WAY##_BEGIN and so on, `per_step` elements of k at a time. A part of a
 * block of C is computed in a whole one. */
#define KERNEL_AMX_MICRO(name, WAY, PRODUCT, per_step)                                                              \
    static void name(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride, int64_t m, \
                     int64_t n, bool accumulate)                                                                    \
    {                                                                                                               \
        _Alignas(TILE_LINE) char whole[MR * NR * 4];                                                                \
        const char *a = a_panel, *b = b_panel;                                                                      \
        const bool is_part = m < MR || n < NR;                                                                      \
        const int64_t row_bytes = is_part ? NR * 4 : c_row_stride * 4;                                              \
        char *const to = is_part ? whole : c;                                                                       \
        if (is_part && accumulate) {                                                                                \
            memset(whole, 0, sizeof whole);                                                                         \
            copy_part(m, n, c, c_row_stride * 4, whole, row_bytes);                                                 \
        }                                                                                                           \
        WAY##_BEGIN();                                                                                              \
        if (accumulate) {                                                                                           \
            WAY##_LOAD(0, to, row_bytes);                                                                           \
            WAY##_LOAD(1, to + TILE_LINE, row_bytes);                                                               \
            WAY##_LOAD(2, to + TILE_ROWS * row_bytes, row_bytes);                                                   \
            WAY##_LOAD(3, to + TILE_ROWS * row_bytes + TILE_LINE, row_bytes);                                       \
        } else {                                                                                                    \
            WAY##_CLEAR(0);                                                                                         \
            WAY##_CLEAR(1);                                                                                         \
            WAY##_CLEAR(2);                                                                                         \
            WAY##_CLEAR(3);                                                                                         \
        }                                                                                                           \
        for (int64_t p = 0; p < k; p += (per_step), a += STEP_BYTES, b += STEP_BYTES) {                             \
            WAY##_LOAD(4, a, TILE_LINE);                                                                            \
            WAY##_LOAD(6, b, TILE_LINE);                                                                            \
            PRODUCT(0, 4, 6);                                                                                       \
            WAY##_LOAD(7, b + TILE_BYTES, TILE_LINE);                                                               \
            PRODUCT(1, 4, 7);                                                                                       \
            WAY##_LOAD(5, a + TILE_BYTES, TILE_LINE);                                                               \
            PRODUCT(2, 5, 6);                                                                                       \
            PRODUCT(3, 5, 7);                                                                                       \
        }                                                                                                           \
        WAY##_STORE(0, to, row_bytes);                                                                              \
        WAY##_STORE(1, to + TILE_LINE, row_bytes);                                                                  \
        WAY##_STORE(2, to + TILE_ROWS * row_bytes, row_bytes);                                                      \
        WAY##_STORE(3, to + TILE_ROWS * row_bytes + TILE_LINE, row_bytes);                                          \
        WAY##_END();                                                                                                \
        if (is_part) copy_part(m, n, whole, row_bytes, c, c_row_stride * 4);                                        \
    }                                                                                                               \
    _Static_assert((per_step) > 0, "elements of 64 bytes")

/* ---- packing ---- */

/* A pto_contraction_pack by NAME_panel, which packs one panel. */
#define KERNEL_AMX_PANELS(name)                                                                                       \
    static void name(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride, int64_t k_stride,    \
                     void *panels, int64_t panel_bytes)                                                               \
    {                                                                                                                 \
        for (int64_t first = 0; first < count; first += MR)                                                           \
            name##_panel(count - first < MR ? count - first : MR, k, from, offset + first * stride, stride, k_stride, \
                         (char *)panels + first / MR * panel_bytes);                                                  \
    }

/* NAME packs elements of TYPE that LOAD reads, and then FINISH(panel, steps) is done. */
#define KERNEL_AMX_PACK_A(name, type, load, finish)                                                             \
    static void name##_panel(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride,        \
                             int64_t k_stride, void *panel)                                                     \
    {                                                                                                           \
        enum { PER_STEP = TILE_LINE / sizeof(type) };                                                           \
        const int64_t steps = (k + PER_STEP - 1) / PER_STEP;                                                    \
        memset(panel, 0, (size_t)(steps * STEP_BYTES));                                                         \
        for (int64_t s = 0; s < steps; s++)                                                                     \
            for (int64_t i = 0; i < count; i++) {                                                               \
                type *const to = (type *)panel + (s * STEP_BYTES + i * TILE_LINE) / (int64_t)sizeof(type);      \
                const int64_t at = offset + i * stride + s * PER_STEP * k_stride, left = k - s * PER_STEP;      \
                for (int64_t p = 0; p < PER_STEP && p < left; p++) to[p] = (type)load(from, at + p * k_stride); \
            }                                                                                                   \
        finish(panel, steps);                                                                                   \
    }                                                                                                           \
    KERNEL_AMX_PANELS(name)                                                                                     \
    _Static_assert(sizeof(type) <= 2, "elements that tiles have")
#define KERNEL_AMX_PACK_B(name, type, load, finish)                                                                  \
    static void name##_panel(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride,             \
                             int64_t k_stride, void *panel)                                                          \
    {                                                                                                                \
        enum { PER_STEP = TILE_LINE / sizeof(type), UNIT = 4 / sizeof(type) };                                       \
        const int64_t steps = (k + PER_STEP - 1) / PER_STEP;                                                         \
        memset(panel, 0, (size_t)(steps * STEP_BYTES));                                                              \
        for (int64_t p = 0; p < k; p++) {                                                                            \
            const int64_t in_step = p % PER_STEP;                                                                    \
            const int64_t line = p / PER_STEP * STEP_BYTES + in_step / UNIT * TILE_LINE;                             \
            for (int64_t half = 0; half < count; half += TILE_ROWS) {                                                \
                type *const to =                                                                                     \
                    (type *)panel + (line + half / TILE_ROWS * TILE_BYTES) / (int64_t)sizeof(type) + in_step % UNIT; \
                const int64_t left = count - half < TILE_ROWS ? count - half : TILE_ROWS;                            \
                for (int64_t j = 0; j < left; j++)                                                                   \
                    to[UNIT * j] = (type)load(from, offset + (half + j) * stride + p * k_stride);                    \
            }                                                                                                        \
        }                                                                                                            \
        finish(panel, steps);                                                                                        \
    }                                                                                                                \
    KERNEL_AMX_PANELS(name)                                                                                          \
    _Static_assert(sizeof(type) <= 2, "elements that tiles have")

/* After the steps of a panel of bf16: whether it holds a subnormal element, which the instruction takes for 0. */
KERNEL_INLINE int32_t *subnormal_flag(const void *panel, int64_t steps)
{
    return (int32_t *)((uintptr_t)panel + (uintptr_t)(steps * STEP_BYTES));
}

/* Sets the flag of a panel of so many steps. */
KERNEL_INLINE void find_subnormals(void *panel, int64_t steps)
{
    const uint16_t *const bits = panel;
    int32_t found = 0;
    for (int64_t i = 0; i < steps * STEP_BYTES / 2; i++) found |= (bits[i] & 0x7f80) == 0 && (bits[i] & 0x7f) != 0;
    *subnormal_flag(panel, steps) = found;
}

/* Of bytes, of which nothing has to be known. */
KERNEL_INLINE void find_nothing(void *panel, int64_t steps)
{
    (void)panel;
    (void)steps;
}

enum { BF16_STEP = TILE_LINE / 2, BYTES_STEP = TILE_LINE };

KERNEL_AMX_PACK_A(pack_a_bf16, uint16_t, load_bits16, find_subnormals);
KERNEL_AMX_PACK_B(pack_b_bf16, uint16_t, load_bits16, find_subnormals);
KERNEL_AMX_PACK_A(pack_a_bytes, uint8_t, load_u8, find_nothing);
KERNEL_AMX_PACK_B(pack_b_bytes, uint8_t, load_u8, find_nothing);
KERNEL_AMX_PACK_B(pack_b_i4, uint8_t, load_i4, find_nothing);

/* Products of panels that hold subnormal elements: they count with their value. It is rare. */
KERNEL_AMX_MICRO(micro_of_values, TWIN, TWIN_BF16_VALUES, BF16_STEP);

/* The table ROWS, whose rows need `bf16_isa` or `bytes_isa`; by the functions micro_bf16, micro_i8_i8 and so on, which
 * KERNEL_AMX_MICROS(WAY) defines before; FEW(bf16), FEW(i8) and so on are what computes few rows, or NULL. A semicolon
 * comes after both. */
#define KERNEL_AMX_MICROS(WAY)                                                                                   \
    KERNEL_AMX_MICRO(micro_of_numbers, WAY, WAY##_BF16, BF16_STEP);                                              \
    KERNEL_AMX_MICRO(micro_i8_i8, WAY, WAY##_I8_I8, BYTES_STEP);                                                 \
    KERNEL_AMX_MICRO(micro_u8_i8, WAY, WAY##_U8_I8, BYTES_STEP);                                                 \
    KERNEL_AMX_MICRO(micro_i8_u8, WAY, WAY##_I8_U8, BYTES_STEP);                                                 \
    KERNEL_AMX_MICRO(micro_u8_u8, WAY, WAY##_U8_U8, BYTES_STEP);                                                 \
    static void micro_deeper_bf16(int64_t k, int64_t b_depth, const void *a_panel, const void *b_panel, void *c, \
                                  int64_t c_row_stride, int64_t m, int64_t n, bool accumulate)                   \
    {                                                                                                            \
        const int64_t steps = (k + BF16_STEP - 1) / BF16_STEP, b_steps = (b_depth + BF16_STEP - 1) / BF16_STEP;  \
        if (*subnormal_flag(a_panel, steps) | *subnormal_flag(b_panel, b_steps))                                 \
            micro_of_values(k, a_panel, b_panel, c, c_row_stride, m, n, accumulate);                             \
        else                                                                                                     \
            micro_of_numbers(k, a_panel, b_panel, c, c_row_stride, m, n, accumulate);                            \
    }                                                                                                            \
    static void micro_bf16(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride,   \
                           int64_t m, int64_t n, bool accumulate)                                                \
    {                                                                                                            \
        micro_deeper_bf16(k, k, a_panel, b_panel, c, c_row_stride, m, n, accumulate);                            \
    }                                                                                                            \
    _Static_assert(MR == NR, "blocks are square")

#define KERNEL_AMX_BYTES(entries, types, a_type, b_type, micro_name, b_way)                                 \
    .name = types, .a = a_type, .b = b_type, .acc = PTO_I32, .sums = PTO_SUMS_EXACT, .mr = MR, .nr = NR,    \
    .k_group = BYTES_STEP, .a_bytes = 1, .b_bytes = 1, .m_block = 8 * MR, .k_block = 2048, .n_block = 2048, \
    .pack_a = pack_a_bytes, .pack_b = b_way, .micro = micro_name, KERNEL_ENTRIES_OF(entries)

#define KERNEL_AMX_TABLE(rows, way, bf16_isa, bytes_isa, FEW)                                                 \
    enum { ROW_BF16, ROW_I8, ROW_U8_I8, ROW_I8_U8, ROW_U8, ROW_I8_I4 };                                       \
    KERNEL_ENTRIES(bf16, rows, ROW_BF16);                                                                     \
    KERNEL_ENTRIES(i8, rows, ROW_I8);                                                                         \
    KERNEL_ENTRIES(u8_i8, rows, ROW_U8_I8);                                                                   \
    KERNEL_ENTRIES(i8_u8, rows, ROW_I8_U8);                                                                   \
    KERNEL_ENTRIES(u8, rows, ROW_U8);                                                                         \
    KERNEL_ENTRIES(i8_i4, rows, ROW_I8_I4);                                                                   \
    const pto_contraction rows[] = {                                                                          \
        [ROW_BF16] = {.name = "bf16 bf16 " way,                                                               \
                      .a = PTO_BF16,                                                                          \
                      .b = PTO_BF16,                                                                          \
                      .acc = PTO_F32,                                                                         \
                      .isa = bf16_isa,                                                                        \
                      .sums = PTO_SUMS_BY_TILES,                                                              \
                      .mr = MR,                                                                               \
                      .nr = NR,                                                                               \
                      .k_group = BF16_STEP,                                                                   \
                      .a_bytes = 2,                                                                           \
                      .b_bytes = 2,                                                                           \
                      .a_tail_bytes = 4,                                                                      \
                      .b_tail_bytes = 4,                                                                      \
                      .m_block = 8 * MR,                                                                      \
                      .k_block = 1024,                                                                        \
                      .n_block = 2048,                                                                        \
                      .pack_a = pack_a_bf16,                                                                  \
                      .pack_b = pack_b_bf16,                                                                  \
                      .micro = micro_bf16,                                                                    \
                      .micro_deeper = micro_deeper_bf16,                                                      \
                      .packed_rows = 17, /* fewer read memory once */                                         \
                      .skinny = FEW(bf16),                                                                    \
                      KERNEL_ENTRIES_OF(bf16)},                                                               \
        [ROW_I8] = {.isa = bytes_isa,                                                                         \
                    .skinny = FEW(i8),                                                                        \
                    KERNEL_AMX_BYTES(i8, "i8 i8 " way, PTO_I8, PTO_I8, micro_i8_i8, pack_b_bytes)},           \
        [ROW_U8_I8] = {.isa = bytes_isa,                                                                      \
                       .skinny = FEW(u8_i8),                                                                  \
                       KERNEL_AMX_BYTES(u8_i8, "u8 i8 " way, PTO_U8, PTO_I8, micro_u8_i8, pack_b_bytes)},     \
        [ROW_I8_U8] = {.isa = bytes_isa,                                                                      \
                       .skinny = FEW(i8_u8),                                                                  \
                       KERNEL_AMX_BYTES(i8_u8, "i8 u8 " way, PTO_I8, PTO_U8, micro_i8_u8, pack_b_bytes)},     \
        [ROW_U8] = {.isa = bytes_isa,                                                                         \
                    .skinny = FEW(u8),                                                                        \
                    KERNEL_AMX_BYTES(u8, "u8 u8 " way, PTO_U8, PTO_U8, micro_u8_u8, pack_b_bytes)},           \
        [ROW_I8_I4] = {.isa = bytes_isa,                                                                      \
                       .skinny = FEW(i8_i4),                                                                  \
                       KERNEL_AMX_BYTES(i8_i4, "i8 i4 " way, PTO_I8, PTO_KERNEL_I4, micro_i8_i8, pack_b_i4)}, \
        {0}}

#endif
