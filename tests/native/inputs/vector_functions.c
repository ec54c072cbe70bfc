/* Functions of f32 vectors against libm in double: numbers of every exponent, worst error in ulp, special values, and
 * the bits of all results as one number, which must be the same for every width, ISA and compiler. With `bits` these
 * alone: what has the bits of another that was compared needs no libm. */
#include <pto/native_vector.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double relu(double x) { return x > 0 || x != x ? x : 0; }
static double sign(double x) { return x != x ? x : (x > 0) - (x < 0); }
static double minus(double x) { return -x; }
static double recip(double x) { return 1 / x; }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double silu(double x) { return x / (1 + exp(-x)); }
static double gelu_tanh(double x) { return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x))); }
static double gelu_sigmoid(double x) { return x / (1 + exp(-1.702 * x)); }

/* What exponentials of numbers up to 0 are, of minus the size of x; where the bits are not those of pto_exp_f32, 2. */
static double below(double x) { return exp(-fabs(x)); }
static inline pto_f32 pto_below_f32(pto_f32 x)
{
    const pto_f32 down = pto_neg_f32(pto_abs_f32(x)), y = pto_exp_below_f32(down), other = pto_exp_f32(down);
    const pto_mask is_same =
        pto_mask_or(pto_eq_i32((pto_i32)y, (pto_i32)other), pto_mask_and(pto_isnan_f32(y), pto_isnan_f32(other)));
    return pto_select_f32(is_same, y, pto_splat_f32(2));
}
static float pto_below_f32_1(float x) { return pto_below_f32(pto_splat_f32(x))[0]; }

/* Of an argument that is rounded before it is used, below 0. */
static double none(double x) { return 0 * x; }
static double gelu_tanh_more(double x) { return x < 0 ? 2.5 * -x * (1.5957691 + 0.0713548 * x * x) : 0; }
static double gelu_sigmoid_more(double x) { return x < 0 ? 1.25 * 1.702 * -x : 0; }

/* name, function of float64, bound in ulp as the header states it, what it states beyond that */
#define FUNCTIONS(F)                                      \
    F(exp, exp, 1, none)                                  \
    F(below, below, 1, none)                              \
    F(exp2, exp2, 1, none)                                \
    F(expm1, expm1, 2, none)                              \
    F(sigmoid, sigmoid, 3, none)                          \
    F(silu, silu, 3.5, none)                              \
    F(gelu_tanh, gelu_tanh, 3.5, gelu_tanh_more)          \
    F(gelu_sigmoid, gelu_sigmoid, 3.5, gelu_sigmoid_more) \
    F(tanh, tanh, 2.5, none)                              \
    F(sinh, sinh, 2.5, none)                              \
    F(cosh, cosh, 1.5, none)                              \
    F(log, log, 1, none)                                  \
    F(log2, log2, 2, none)                                \
    F(log10, log10, 2, none)                              \
    F(log1p, log1p, 1.5, none)                            \
    F(sqrt, sqrt, 0.5, none)                              \
    F(reciprocal, recip, 0.5, none)                       \
    F(rsqrt, rsqrt, 1.5, none)                            \
    F(erf, erf, 2, none)                                  \
    F(erfc, erfc, 4.5, none)                              \
    F(asinh, asinh, 3, none)                              \
    F(acosh, acosh, 3, none)                              \
    F(atanh, atanh, 3, none)                              \
    F(sin, sin, 2, none)                                  \
    F(cos, cos, 2, none)                                  \
    F(tan, tan, 4, none)                                  \
    F(asin, asin, 2.5, none)                              \
    F(acos, acos, 2.5, none)                              \
    F(atan, atan, 2, none)                                \
    F(cbrt, cbrt, 1, none)                                \
    F(relu, relu, 0, none)                                \
    F(sign, sign, 0, none)                                \
    F(abs, fabs, 0, none)                                 \
    F(neg, minus, 0, none)                                \
    F(roundeven, rint, 0, none)                           \
    F(floor, floor, 0, none)                              \
    F(ceil, ceil, 0, none)                                \
    F(trunc, trunc, 0, none)

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

static int bits_alone;

enum { PER_EXPONENT = 512, CHUNK = PER_EXPONENT };

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
        o->hash = (o->hash ^ bits_of(y[i])) * UINT64_C(0x100000001b3);
        if (bits_alone) continue;
        const double e = ulps(y[i], exact((double)x[i])), beyond = more((double)x[i]);
        const double allowed = beyond < INFINITY ? bound + beyond : bound;
        if (e / allowed > o->excess) {
            o->excess = e / allowed;
            o->worst = e;
            o->at = x[i];
        }
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
            const uint32_t low = i == PER_EXPONENT - 1 ? 0x7fffff : i << 14 | (i == 0 ? 0 : seed >> 18);
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
    printf("%-13s bits %016llx\n", name, (unsigned long long)o.hash);
    fprintf(stderr, "%-13s %6.3f ulp at %a\n", name, o.worst, (double)o.at);
    if (o.excess <= 1) return 0;
    printf("%s: %g ulp are more than %g\n", name, o.worst, bound);
    return 1;
}

/* Functions of two numbers: every pair of a set of edges and random numbers of all exponents and near. */
static double prelu(double a, double b) { return a > 0 ? a : a * b; }
static double swiglu(double a, double b) { return a > -174 && isfinite(b) ? a / (1 + exp(-a)) * b : NAN; }
static double mod(double a, double b)
{
    const double rest = fmod(a, b);
    if (rest == 0) return copysign(0, b);
    return (rest < 0) != (b < 0) && rest == rest ? rest + b : rest;
}
static double floordiv(double a, double b)
{
    if (b == 0) return a / b;
    const double rest = fmod(a, b), whole = rint((a - rest) / b);
    const double quotient = rest != 0 && (rest < 0) != (b < 0) ? whole - 1 : whole;
    return quotient == 0 ? copysign(0, a / b) : quotient;
}
#define FUNCTIONS_OF_TWO(F)    \
    F(pow, pow, 0.51)          \
    F(hypot, hypot, 1.5)       \
    F(atan2, atan2, 3)         \
    F(fmod, fmod, 0)           \
    F(mod, mod, 0.5)           \
    F(floordiv, floordiv, 0.5) \
    F(swiglu, swiglu, 4)       \
    F(copysign, copysign, 0)   \
    F(prelu, prelu, 0.5)

typedef void (*pair_function)(long n, const float *a, const float *b, float *y);

enum { EDGES = 44, PAIRS = EDGES * EDGES + 200000 };

static int run_pairs(const char *name, pair_function f, float (*one)(float, float), double (*exact)(double, double),
                     double bound)
{
    static const float edges[EDGES / 2] = {0,
                                           1,
                                           0.5F,
                                           2,
                                           3,
                                           1.5F,
                                           7,
                                           0x1p-149F,
                                           0x1p-126F,
                                           0x1.fffffep127F,
                                           INFINITY,
                                           NAN,
                                           0.999999940395F,
                                           1.00000011921F,
                                           1e-20F,
                                           1e20F,
                                           16777215,
                                           16777216,
                                           33554432,
                                           0.3F,
                                           3.12F,
                                           173.9F};
    static float a[PAIRS], b[PAIRS], y[PAIRS];
    uint64_t seed = 1, hash = UINT64_C(0xcbf29ce484222325);
    double worst = 0;
    int n = 0, bad = 0, at = 0;
    for (int i = 0; i < EDGES; i++) {
        for (int j = 0; j < EDGES; j++, n++) {
            a[n] = i % 2 ? -edges[i / 2] : edges[i / 2];
            b[n] = j % 2 ? -edges[j / 2] : edges[j / 2];
        }
    }
    for (; n < PAIRS; n++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        a[n] = from_bits((uint32_t)(seed >> 32));
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        b[n] = from_bits((uint32_t)(seed >> 32));
        /* Half of them near 1, where powers and quotients are no extremes; some whole. */
        if (n % 2)
            a[n] = from_bits((bits_of(a[n]) & 0x83ffffff) | 0x3c000000),
            b[n] = from_bits((bits_of(b[n]) & 0x83ffffff) | 0x40000000);
        if (n % 8 == 1) b[n] = rintf(b[n]), a[n] = rintf(a[n]);
    }
    f(PAIRS, a, b, y);
    for (int i = 0; i < PAIRS; i++) {
        hash = (hash ^ bits_of(y[i])) * UINT64_C(0x100000001b3);
        if (i % 64 == 0 && bits_of(one(a[i], b[i])) != bits_of(y[i]))
            bad++, printf("%s(%a, %a) alone\n", name, (double)a[i], (double)b[i]);
        if (bits_alone) continue;
        const double wanted = exact((double)a[i], (double)b[i]), e = ulps(y[i], wanted);
        if (exact == swiglu && isnan(wanted)) continue;
        if (e > bound && bad++ < 5)
            printf("%s(%a, %a) is %a, wanted %a\n", name, (double)a[i], (double)b[i], (double)y[i], wanted);
        if (e > worst) worst = e, at = i;
    }
    printf("%-13s bits %016llx\n", name, (unsigned long long)hash);
    fprintf(stderr, "%-13s %6.3f ulp at %a %a\n", name, worst, (double)a[at], (double)b[at]);
    return bad != 0;
}

#define DEFINE_OF_TWO(name, exact, bound)                                                                             \
    static void pairs_##name(long n, const float *a, const float *b, float *y)                                        \
    {                                                                                                                 \
        for (long i = 0; i < n; i += PTO_LANES) {                                                                     \
            const long k = n - i < PTO_LANES ? n - i : PTO_LANES;                                                     \
            pto_store_f32_tail(y + i, pto_##name##_f32(pto_load_f32_tail(a + i, k), pto_load_f32_tail(b + i, k)), k); \
        }                                                                                                             \
    }                                                                                                                 \
    static float pair_##name(float a, float b) { return pto_##name##_f32_1(a, b); }
FUNCTIONS_OF_TWO(DEFINE_OF_TWO)

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
    bits_alone = argc > 1 && strcmp(argv[1], "bits") == 0;
#define RUN(name, exact, bound, more)                          \
    if (argc < 2 || bits_alone || strcmp(argv[1], #name) == 0) \
        bad |= run(#name, array_##name, one_##name, exact, bound, more);
    FUNCTIONS(RUN)
#define RUN_OF_TWO(name, exact, bound)                         \
    if (argc < 2 || bits_alone || strcmp(argv[1], #name) == 0) \
        bad |= run_pairs(#name, pairs_##name, pair_##name, exact, bound);
    FUNCTIONS_OF_TWO(RUN_OF_TWO)
    return bad;
}
