/* Functions of f32 vectors against libm in double: numbers of every exponent, worst error in ulp, special values, and
 * the bits of all results as one number, which must be the same for every width, ISA and compiler. */
#include <pto/native_vector.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double recip(double x) { return 1 / x; }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double silu(double x) { return x / (1 + exp(-x)); }
static double gelu_tanh(double x) { return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x))); }
static double gelu_sigmoid(double x) { return x / (1 + exp(-1.702 * x)); }

/* Of an argument that is rounded before it is used, below 0. */
static double none(double x) { return 0 * x; }
static double gelu_tanh_more(double x) { return x < 0 ? 2.5 * -x * (1.5957691 + 0.0713548 * x * x) : 0; }
static double gelu_sigmoid_more(double x) { return x < 0 ? 1.25 * 1.702 * -x : 0; }

/* name, function of float64, bound in ulp as the header states it, what it states beyond that */
#define FUNCTIONS(F)                                    \
    F(exp, exp, 1, none)                                \
    F(exp2, exp2, 1, none)                              \
    F(expm1, expm1, 1.5, none)                          \
    F(sigmoid, sigmoid, 2, none)                        \
    F(silu, silu, 3, none)                              \
    F(gelu_tanh, gelu_tanh, 3, gelu_tanh_more)          \
    F(gelu_sigmoid, gelu_sigmoid, 3, gelu_sigmoid_more) \
    F(tanh, tanh, 2.5, none)                            \
    F(sinh, sinh, 2.5, none)                            \
    F(cosh, cosh, 1.5, none)                            \
    F(log, log, 1, none)                                \
    F(log2, log2, 1, none)                              \
    F(log10, log10, 1, none)                            \
    F(log1p, log1p, 1.5, none)                          \
    F(sqrt, sqrt, 0.5, none)                            \
    F(reciprocal, recip, 0.5, none)                     \
    F(rsqrt, rsqrt, 1.5, none)                          \
    F(erf, erf, 2, none)

static float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return f != f ? 0x7fc00000 : bits;
}

/* Of one unit in the last place of the f32 nearest to y; infinity counts as 2^128. */
static double ulps(float got, double y)
{
    if (isnan(got) || isnan(y)) return isnan(got) && isnan(y) ? 0 : INFINITY;
    if (fabs(y) > 0x1.fffffefp127) return isinf(got) && (got > 0) == (y > 0) ? 0 : INFINITY;
    if (got == 0 && y == 0) return !signbit(got) == !signbit(y) ? 0 : INFINITY;
    int e;
    frexp(y, &e);
    const double unit = ldexp(1, (e < -125 ? -125 : e) - 24);
    return fabs((isinf(got) ? copysign(0x1p128, (double)got) : (double)got) - y) / unit;
}

enum { PER_EXPONENT = 1024, CHUNK = PER_EXPONENT };

typedef struct outcome {
    double worst, excess;
    float at;
    uint64_t hash;
} outcome;

typedef void (*array_function)(long n, const float *x, float *y);

static void judge(outcome *o, double (*exact)(double), double bound, double (*more)(double), long n, const float *x,
                  const float *y)
{
    for (long i = 0; i < n; i++) {
        const double e = ulps(y[i], exact((double)x[i])), beyond = more((double)x[i]);
        const double allowed = beyond < INFINITY ? bound + beyond : bound;
        if (e / allowed > o->excess) {
            o->excess = e / allowed;
            o->worst = e;
            o->at = x[i];
        }
        o->hash = (o->hash ^ bits_of(y[i])) * UINT64_C(0x100000001b3);
    }
}

static int run(const char *name, array_function f, float (*one)(float), double (*exact)(double), double bound,
               double (*more)(double))
{
    static float x[CHUNK], y[CHUNK];
    outcome o = {.hash = UINT64_C(0xcbf29ce484222325)};
    uint32_t seed = 1;
    for (uint32_t top = 0; top < 512; top++) {
        for (uint32_t i = 0; i < PER_EXPONENT; i++) {
            seed = seed * 1664525 + 1013904223;
            /* Evenly, with random low bits; the first and the last of each exponent. */
            const uint32_t low = i == PER_EXPONENT - 1 ? 0x7fffff : i << 13 | (i == 0 ? 0 : seed >> 19);
            x[i] = from_bits(top << 23 | low);
        }
        f(CHUNK, x, y);
        judge(&o, exact, bound, more, CHUNK, x, y);
        /* Each place in a vector, and tails of each length, and one number alone: the same bits. */
        for (long i = 0; i < 3 * PTO_LANES; i++) {
            float z[3 * PTO_LANES] = {0};
            const long k = (long)(seed >> 8) % (CHUNK - 3 * PTO_LANES);
            f(i, x + k, z);
            for (long j = 0; j < 3 * PTO_LANES; j++) {
                const uint32_t wanted = j < i ? bits_of(y[k + j]) : 0;
                if (bits_of(z[j]) != wanted || (j < i && bits_of(one(x[k + j])) != wanted)) {
                    printf("%s(%a): %a in place %ld of %ld, %a alone, %a before\n", name, (double)x[k + j],
                           (double)z[j], j, i, (double)one(x[k + j]), (double)y[k + j]);
                    return 1;
                }
            }
        }
    }
    printf("%-13s %6.3f ulp at %-16a bits %016llx\n", name, o.worst, (double)o.at, (unsigned long long)o.hash);
    if (o.excess <= 1) return 0;
    printf("%s: %g ulp are more than %g\n", name, o.worst, bound);
    return 1;
}

#define DEFINE(name, exact, bound, more)                                                                        \
    static void array_##name(long n, const float *x, float *y)                                                  \
    {                                                                                                           \
        long i = 0;                                                                                             \
        for (; i + PTO_LANES <= n; i += PTO_LANES) pto_store_f32(y + i, pto_##name##_f32(pto_load_f32(x + i))); \
        if (i < n) pto_store_f32_tail(y + i, pto_##name##_f32(pto_load_f32_tail(x + i, n - i)), n - i);         \
    }                                                                                                           \
    static float one_##name(float x) { return pto_##name##_f32_1(x); }
FUNCTIONS(DEFINE)

int main(int argc, char **argv)
{
    int bad = 0;
#define RUN(name, exact, bound, more) \
    if (argc < 2 || strcmp(argv[1], #name) == 0) bad |= run(#name, array_##name, one_##name, exact, bound, more);
    FUNCTIONS(RUN)
    return bad;
}
