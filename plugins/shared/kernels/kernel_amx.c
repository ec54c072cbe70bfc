/* Rows of AMX. Each product of panels configures the tiles of its thread and releases them: libraries that configure
 * them otherwise may be in the same process, and a switch of threads saves less. Not yet seen to run: the machines that
 * this was written on have none; kernel_amx_twin.c is what was tested. */
#if defined(__x86_64__)
#include "kernel_amx.h"

#include <immintrin.h>

/* As LDTILECFG reads it: eight tiles of 16 rows of 64 bytes. */
typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;
_Static_assert(sizeof(tile_config) == 64, "as the instruction reads it");

static const _Alignas(64) tile_config whole_tiles = {
    .palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

/* The instructions of gcc 12 say nothing of the memory that they read. */
#define AMX_BARRIER() __asm__ volatile("" ::: "memory")
#define AMX_BEGIN() \
    AMX_BARRIER();  \
    _tile_loadconfig(&whole_tiles)
#define AMX_END()    \
    _tile_release(); \
    AMX_BARRIER()
#define AMX_CLEAR(t) _tile_zero(t)
#define AMX_LOAD(t, from, row_bytes) _tile_loadd(t, from, row_bytes)
#define AMX_STORE(t, to, row_bytes) _tile_stored(t, to, row_bytes)
#define AMX_BF16(c, a, b) _tile_dpbf16ps(c, a, b)
#define AMX_I8_I8(c, a, b) _tile_dpbssd(c, a, b)
#define AMX_U8_I8(c, a, b) _tile_dpbusd(c, a, b)
#define AMX_I8_U8(c, a, b) _tile_dpbsud(c, a, b)
#define AMX_U8_U8(c, a, b) _tile_dpbuud(c, a, b)

/* Sums of bytes are exact: few rows are those of VNNI, which every machine with AMX has. */
#define FEW_BYTES(pair, a_type, b_type)                                                                               \
    static bool few_##pair(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,  \
                           const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride, \
                           bool accumulate)                                                                           \
    {                                                                                                                 \
        for (const pto_contraction *row = kernel_rows_vnni; row->name != NULL; row++)                                 \
            if (row->a == (a_type) && row->b == (b_type))                                                             \
                return row->skinny(m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c,           \
                                   c_row_stride, accumulate);                                                         \
        return false;                                                                                                 \
    }                                                                                                                 \
    _Static_assert((a_type) != PTO_F32, "of bytes")

FEW_BYTES(i8, PTO_I8, PTO_I8);
FEW_BYTES(u8_i8, PTO_U8, PTO_I8);
FEW_BYTES(i8_u8, PTO_I8, PTO_U8);
FEW_BYTES(u8, PTO_U8, PTO_U8);
FEW_BYTES(i8_i4, PTO_I8, PTO_KERNEL_I4);
#define few_bf16 kernel_few_by_tiles
#define AMX_FEW(name) few_##name

KERNEL_AMX_MICROS(AMX);
KERNEL_AMX_TABLE(kernel_rows_amx, "amx", PTO_ISA_AVX2 | PTO_ISA_AVX512 | PTO_ISA_AMX_BF16,
                 PTO_ISA_AVX2 | PTO_ISA_AVX512 | PTO_ISA_AVX512_VNNI | PTO_ISA_AMX_INT8, AMX_FEW);
#endif
