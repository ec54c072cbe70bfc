/* Rows in plain C: what every machine has, and what the other rows are compared with. */
#include "kernel_load.h"

#include <math.h>

/* NR is a few vectors of any machine, so that compilers make vectors of the inner loops. */
enum { MR = 4, NR = 16 };

static void micro_f32(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride, int64_t m,
                      int64_t n, bool accumulate)
{
    const float *a = a_panel, *b = b_panel;
    float sum[MR][NR] = {{0}};
    if (accumulate)
        for (int64_t i = 0; i < m; i++) memcpy(sum[i], (const char *)c + 4 * i * c_row_stride, (size_t)(4 * n));
    for (int64_t p = 0; p < k; p++, a += MR, b += NR)
        for (int i = 0; i < MR; i++)
            for (int j = 0; j < NR; j++) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    for (int64_t i = 0; i < m; i++) memcpy((char *)c + 4 * i * c_row_stride, sum[i], (size_t)(4 * n));
}

static void micro_i32(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride, int64_t m,
                      int64_t n, bool accumulate)
{
    const int16_t *a = a_panel, *b = b_panel;
    uint32_t sum[MR][NR] = {{0}};
    if (accumulate)
        for (int64_t i = 0; i < m; i++) memcpy(sum[i], (const char *)c + 4 * i * c_row_stride, (size_t)(4 * n));
    for (int64_t p = 0; p < k; p++, a += MR, b += NR)
        for (int i = 0; i < MR; i++)
            for (int j = 0; j < NR; j++) sum[i][j] += (uint32_t)(a[i] * b[j]);
    for (int64_t i = 0; i < m; i++) memcpy((char *)c + 4 * i * c_row_stride, sum[i], (size_t)(4 * n));
}

KERNEL_PACK(pack_a_f32, float, load_f32, MR, 1);
KERNEL_PACK(pack_b_f32, float, load_f32, NR, 1);
KERNEL_PACK(pack_a_bf16, float, load_bf16, MR, 1);
KERNEL_PACK(pack_b_bf16, float, load_bf16, NR, 1);
KERNEL_PACK(pack_a_f16, float, load_f16, MR, 1);
KERNEL_PACK(pack_b_f16, float, load_f16, NR, 1);
KERNEL_PACK(pack_b_i4_f32, float, load_i4_f32, NR, 1);
KERNEL_PACK(pack_a_i8, int16_t, load_i8, MR, 1);
KERNEL_PACK(pack_b_i8, int16_t, load_i8, NR, 1);
KERNEL_PACK(pack_a_u8, int16_t, load_u8, MR, 1);
KERNEL_PACK(pack_b_u8, int16_t, load_u8, NR, 1);
KERNEL_PACK(pack_b_i4, int16_t, load_i4, NR, 1);

/* Panels of f32, and of 16-bit integers. */
#define FLOATS(name)                                                                                    \
    .acc = PTO_F32, .sums = PTO_SUMS_FMA, .mr = MR, .nr = NR, .k_group = 1, .a_bytes = 4, .b_bytes = 4, \
    .m_block = 128, .k_block = 256, .n_block = 2048, .micro = micro_f32
#define BYTES(name)                                                                                       \
    .acc = PTO_I32, .sums = PTO_SUMS_EXACT, .mr = MR, .nr = NR, .k_group = 1, .a_bytes = 2, .b_bytes = 2, \
    .m_block = 128, .k_block = 256, .n_block = 2048, .micro = micro_i32

KERNEL_TABLE(kernel_rows_plain, "plain");
