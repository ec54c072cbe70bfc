/* The rows of AMX with its instructions in plain C: the same packing, loops and bits. They are in no table that a
 * machine chooses from; tests run them where there is no AMX. */
#include "kernel_amx.h"

/* What few rows are computed by beside AMX, where it runs. */
static bool few_bf16(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                     const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride,
                     bool accumulate)
{
#if defined(__x86_64__)
    if ((pto_isa_of_host() & PTO_ISA_AVX512) != 0)
        return kernel_few_by_tiles(m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c,
                                   c_row_stride, accumulate);
#endif
    (void)m, (void)n, (void)k, (void)a, (void)a_row_stride, (void)a_k_stride, (void)b, (void)b_k_stride;
    (void)b_column_stride, (void)c, (void)c_row_stride, (void)accumulate;
    return false;
}

#define TWIN_FEW(name) TWIN_FEW_##name
#define TWIN_FEW_bf16 few_bf16
#define TWIN_FEW_i8 NULL
#define TWIN_FEW_u8_i8 NULL
#define TWIN_FEW_i8_u8 NULL
#define TWIN_FEW_u8 NULL
#define TWIN_FEW_i8_i4 NULL

KERNEL_AMX_MICROS(TWIN);
KERNEL_AMX_TABLE(kernel_rows_amx_twin, "amx-twin", 0, 0, TWIN_FEW);
