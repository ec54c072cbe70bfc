#include "native_flags.h"

#include <stddef.h>
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

static void add_instructions(const char **out, uint32_t *n)
{
    static const char *const avx2[] = {"-mavx2", "-mfma", "-mf16c", NULL};
    static const char *const avx512[] = {"-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", NULL};
    enum { AVX_STATE = 6, AVX512_STATE = 0xe6 };
    const unsigned saved = saved_registers(), wide = bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ;
    unsigned a, b = 0, c, d, first = 0;
    if ((saved & AVX_STATE) != AVX_STATE || !__get_cpuid(1, &a, &b, &first, &d)) return;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    if (!(first & bit_FMA) || !(first & bit_F16C) || !(b & bit_AVX2)) return;
    add(out, n, avx2);
    if ((saved & AVX512_STATE) == AVX512_STATE && (b & wide) == wide) add(out, n, avx512);
}
#else
static void add_instructions(const char **out, uint32_t *n) { (void)out, (void)n; }
#endif

uint32_t native_flags_of_host(const char **out)
{
    static const char *const always[] = {"-std=gnu17", "-O2", "-ffp-contract=off", "-fno-math-errno", "-w", NULL};
    uint32_t n = 0;
    add(out, &n, always);
    add_instructions(out, &n);
    return n;
}
