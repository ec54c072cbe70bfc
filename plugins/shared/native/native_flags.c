#include "native_flags.h"

#include <stddef.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static void add(const char **out, uint32_t *n, const char *const *list)
{
    for (; *list != NULL; list++) out[(*n)++] = *list;
}

#if defined(__x86_64__)
/* Registers that the system saves, as bits of XCR0; 0: it does not say. */
static unsigned saved_registers(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

uint32_t native_host_vector_bytes(void)
{
    enum { AVX_STATE = 6, AVX512_STATE = 0xe6 };
    const unsigned saved = saved_registers(), wide = bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ;
    unsigned a, b = 0, c, d, first = 0;
    if ((saved & AVX_STATE) != AVX_STATE || !__get_cpuid(1, &a, &b, &first, &d)) return 16;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 16;
    if (!(first & bit_FMA) || !(first & bit_F16C) || !(b & bit_AVX2)) return 16;
    return (saved & AVX512_STATE) == AVX512_STATE && (b & wide) == wide ? 64 : 32;
}

bool native_host_has_amx(void)
{
    enum { TILE_STATE = 0x60000, AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25 };
    const unsigned all = AMX_BF16 | AMX_TILE | AMX_INT8;
    unsigned a, b, c, d = 0;
    return (saved_registers() & TILE_STATE) == TILE_STATE && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (d & all) == all;
}
#else
uint32_t native_host_vector_bytes(void) { return 16; }
bool native_host_has_amx(void) { return false; }
#endif

/* Whether the file at a path is GCC, by its name: links to it are followed, and clang refuses options of it. */
static bool is_gcc(const char *compiler)
{
    const char *slash = strrchr(compiler, '/');
    return strstr(slash != NULL ? slash + 1 : compiler, "gcc") != NULL;
}

uint32_t native_flags_upto(const char *compiler, uint32_t vector_bytes, const char **out)
{
    /* Scratch memory holds numbers of one type after those of another. */
    static const char *const always[] = {
        "-std=gnu17", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing", "-w", NULL};
    /* What of -O2 takes a fifth of the time and has no effect on straight loops over vectors. Not -fgcse: it keeps what
     * a loop needs in registers where a trip may call what few need. */
    static const char *const without[] = {"-fno-tree-vrp",
                                          "-fno-tree-pre",
                                          "-fno-thread-jumps",
                                          "-fno-code-hoisting",
                                          "-fno-tree-tail-merge",
                                          "-fno-store-merging",
                                          "-fno-crossjumping",
                                          "-fno-caller-saves",
                                          "-fno-tree-slp-vectorize",
                                          "-fno-schedule-insns2",
                                          NULL};
    static const char *const avx2[] = {"-mavx2", "-mfma", "-mf16c", NULL};
    static const char *const avx512[] = {"-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", NULL};
    uint32_t n = 0;
    add(out, &n, always);
    if (is_gcc(compiler)) add(out, &n, without);
    if (vector_bytes >= 32) add(out, &n, avx2);
    if (vector_bytes >= 64) add(out, &n, avx512);
    return n;
}
