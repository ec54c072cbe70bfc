#include "kernel_rows.h"

#include <stddef.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of extended control register 0: the state that the system saves. */
enum { SAVES_AVX = 0x6, SAVES_AVX512 = 0xe0, SAVES_TILES = 0x60000 };
/* Of arch_prctl(). */
enum { ASK_FOR_STATE = 0x1023, STATE_TILE_DATA = 18 };

/* Bits that <cpuid.h> of gcc 12 lacks or names otherwise than clang does. */
enum {
    BIT_AMX_BF16 = 1 << 22,
    BIT_AMX_TILE = 1 << 24,
    BIT_AMX_INT8 = 1 << 25,
    BIT_AVX512_BF16 = 1 << 5,
    BIT_VNNI = 1 << 11
};

static bool has_all(uint32_t bits, uint32_t needed) { return (bits & needed) == needed; }

uint32_t pto_isa_of_host(void)
{
    unsigned a, b, c, d, basic, saves, high;
    if (!__get_cpuid(1, &a, &b, &basic, &d) || !has_all(basic, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C)) return 0;
    __asm__("xgetbv" : "=a"(saves), "=d"(high) : "c"(0));
    if (!has_all(saves, SAVES_AVX) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return 0;
    uint32_t isa = PTO_ISA_AVX2;
    unsigned a1 = 0, b1, c1, d1;
    if (a == 0 || !__get_cpuid_count(7, 1, &a1, &b1, &c1, &d1)) a1 = 0;
    if (!has_all(saves, SAVES_AVX | SAVES_AVX512)) return isa;
    if (!has_all(b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL)) return isa;
    isa |= PTO_ISA_AVX512;
    if (c & BIT_VNNI) isa |= PTO_ISA_AVX512_VNNI;
    if (a1 & BIT_AVX512_BF16) isa |= PTO_ISA_AVX512_BF16;
    if (!has_all(saves, SAVES_TILES) || !(d & BIT_AMX_TILE)) return isa;
    if (syscall(SYS_arch_prctl, ASK_FOR_STATE, STATE_TILE_DATA) != 0) return isa;
    if (d & BIT_AMX_INT8) isa |= PTO_ISA_AMX_INT8;
    if (d & BIT_AMX_BF16) isa |= PTO_ISA_AMX_BF16;
    return isa;
}
#else
uint32_t pto_isa_of_host(void) { return 0; }
#endif

const char *pto_isa_name(uint32_t bit)
{
    static const char *const names[PTO_ISA_COUNT] = {"avx2",        "avx512",   "avx512-vnni",
                                                     "avx512-bf16", "amx-int8", "amx-bf16"};
    for (int i = 0; i < PTO_ISA_COUNT; i++)
        if (bit == 1U << i) return names[i];
    return NULL;
}

/* From the least to the most that a processor has. */
static const pto_contraction *const tables[] = {
    kernel_rows_plain,
#if defined(__x86_64__)
    kernel_rows_avx2,  kernel_rows_avx512, kernel_rows_bf16, kernel_rows_vnni,
#endif
};
enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

const pto_contraction *pto_contraction_at(uint32_t index)
{
    for (int t = 0; t < TABLE_COUNT; t++)
        for (const pto_contraction *row = tables[t]; row->name != NULL; row++)
            if (index-- == 0) return row;
    return NULL;
}

const pto_contraction *pto_contraction_find(pto_dtype a, pto_dtype b, pto_dtype acc, uint32_t isa)
{
    const pto_contraction *found = NULL;
    for (int t = 0; t < TABLE_COUNT; t++)
        for (const pto_contraction *row = tables[t]; row->name != NULL; row++)
            if (row->a == a && row->b == b && row->acc == acc && (row->isa & ~isa) == 0) found = row;
    return found;
}
