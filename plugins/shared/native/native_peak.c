#include "native_peak.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { STEPS = 100000 };
#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
/* Twelve sums in registers: as many as hide the time that one instruction takes. */
enum { SUMS = 12 };
#define RATE(name, target, begin, instruction)     \
    target static void name(void)                  \
    {                                              \
        TWELVE(begin)                              \
        for (int step = 0; step < STEPS; step++) { \
            TWELVE(instruction)                    \
        }                                          \
    }

#if defined(__x86_64__)
#define FOR(isa) __attribute__((target(isa)))
#define HOLD(s) __asm__ volatile("" : "+v"(s))
#elif defined(__aarch64__)
#define HOLD(s) __asm__ volatile("" : "+w"(s))
#else
#define HOLD(s) __asm__ volatile("" : "+m"(s))
#endif

typedef float quad __attribute__((vector_size(16)));
#define BEGIN_QUAD(i) quad s##i = {i, i, i, i};
#define APART(i)               \
    s##i = s##i * s##i + s##i; \
    HOLD(s##i);
RATE(apart_f32_128, , BEGIN_QUAD, APART)

#if defined(__x86_64__)
#define BEGIN_F512(i) __m512 s##i = _mm512_set1_ps(i + 1.F);
#define BEGIN_I512(i) __m512i s##i = _mm512_set1_epi32(i + 1);
#define BEGIN_F256(i) __m256 s##i = _mm256_set1_ps(i + 1.F);
#define BEGIN_I256(i) __m256i s##i = _mm256_set1_epi16(i + 1);
#define FMA_512(i)                            \
    s##i = _mm512_fmadd_ps(s##i, s##i, s##i); \
    HOLD(s##i);
#define DOT_BF16(i)                                                \
    s##i = _mm512_dpbf16_ps(s##i, (__m512bh)s##i, (__m512bh)s##i); \
    HOLD(s##i);
#define DOT_I8(i)                                 \
    s##i = _mm512_dpbusd_epi32(s##i, s##i, s##i); \
    HOLD(s##i);
#define DOT_I16_512(i)                                            \
    s##i = _mm512_add_epi32(s##i, _mm512_madd_epi16(s##i, s##i)); \
    HOLD(s##i);
#define FMA_256(i)                            \
    s##i = _mm256_fmadd_ps(s##i, s##i, s##i); \
    HOLD(s##i);
#define DOT_I16_256(i)                                            \
    s##i = _mm256_add_epi32(s##i, _mm256_madd_epi16(s##i, s##i)); \
    HOLD(s##i);
RATE(fma_f32_512, FOR("avx512f"), BEGIN_F512, FMA_512)
RATE(dot_bf16_512, FOR("avx512f,avx512bf16"), BEGIN_F512, DOT_BF16)
RATE(dot_i8_512, FOR("avx512f,avx512vnni"), BEGIN_I512, DOT_I8)
RATE(dot_i16_512, FOR("avx512f,avx512bw"), BEGIN_I512, DOT_I16_512)
RATE(fma_f32_256, FOR("avx2,fma"), BEGIN_F256, FMA_256)
RATE(dot_i16_256, FOR("avx2"), BEGIN_I256, DOT_I16_256)
#endif

/* One instruction of a type, of those that a CPU may have the widest first. */
typedef struct loop {
    const char *type;
    void (*run)(void);
    int products; /* of one step of a sum */
    bool is_there;
} loop;

bool native_peak_of(const char *type, native_peak *out)
{
    const loop loops[] = {
#if defined(__x86_64__)
        {"i8", dot_i8_512, 64, __builtin_cpu_supports("avx512vnni")},
        {"i8", dot_i16_512, 32, __builtin_cpu_supports("avx512bw")},
        {"i8", dot_i16_256, 16, __builtin_cpu_supports("avx2")},
        {"bf16", dot_bf16_512, 32, __builtin_cpu_supports("avx512bf16")},
        {"f32", fma_f32_512, 16, __builtin_cpu_supports("avx512f")},
        {"f32", fma_f32_256, 8, __builtin_cpu_supports("fma")},
#endif
        {"f32", apart_f32_128, 4, true},
    };
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {
        if (strcmp(loops[i].type, type) != 0 || !loops[i].is_there) continue;
        *out = (native_peak){loops[i].run, (double)(SUMS * STEPS) * loops[i].products};
        return true;
    }
    return false;
}
