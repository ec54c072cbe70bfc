/* Functions of f32 vectors against libm in double: numbers of every exponent, those on which errors are largest, worst
 * error in ulp, special values, and the bits of all results as one number, which must be the same for every width, ISA
 * and compiler. `bits`: these alone, since what has the bits of another that was compared needs no libm. `part P`: one
 * number in PARTS of all that there are, those whose lowest bits are P, and pairs of its own. A word more is the one
 * function that runs. */
#include <pto/native_vector.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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
static double gelu_tanh_more(double x) { return x < 0 ? 2.6 * -x * (1.5957691 + 0.0713548 * x * x) : 0; }
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
    F(tanh, tanh, 2.6, none)                              \
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

/* Of an exponent 2^n numbers, evenly: n near 1, where most functions are more than a line, and elsewhere. `part`: which
 * of all numbers, or -1: random ones. */
enum { NEAR_BITS = 14, FAR_BITS = 9, PARTS = 1 << (23 - NEAR_BITS), CHUNK = 1 << FAR_BITS };
static int part = -1;

static int is_near(uint32_t top) { return (top & 0xff) >= 127 - 12 && (top & 0xff) < 127 + 8; }

/* The `i`-th of 2^n numbers with this exponent and sign: the first and the last too, unless the part says which. */
static float sample(uint32_t top, int n, uint32_t i, uint32_t random)
{
    const uint32_t step = 1U << (23 - n);
    const uint32_t low = part >= 0 ? (uint32_t)part : i == 0 ? 0 : i == (1U << n) - 1 ? step - 1 : random >> (9 + n);
    return from_bits(top << 23 | i * step | low);
}

/* Where errors of the functions were found to be the largest, by all numbers that there are, or were too large once. */
static const float found[] = {
    0x1.019566p-12F, 0x1.f8646ep-12F, 0x1.4371cep-11F, 0x1.fc1832p-5F,  0x1.e34a9ep-4F, 0x1.fb8708p-4F, 0x1.bfed6ep-3F,
    0x1.0033e6p-2F,  0x1.82573ep-2F,  0x1.9141ap-2F,   0x1.950c58p-2F,  0x1.f071e6p-2F, 0x1.002018p-1F, 0x1.0949p-1F,
    0x1.10ee52p-1F,  0x1.185644p-1F,  0x1.534e62p-1F,  0x1.7fbe42p-1F,  0x1.7fc608p-1F, 0x1.7ff5fcp-1F, 0x1.a16f9cp-1F,
    0x1.ba6ffcp-1F,  0x1.c1f652p-1F,  0x1.01e3dp+0F,   0x1.02402ep+0F,  0x1.472ddep+0F, 0x1.015ab2p+1F, 0x1.2f7598p+1F,
    0x1.b7d252p+1F,  0x1.f5f22p+1F,   0x1.363ab6p+2F,  0x1.79c966p+2F,  0x1.b0cdaap+2F, 0x1.b2794ep+2F, 0x1.f6fd5p+2F,
    0x1.3349dcp+3F,  0x1.4150cp+3F,   0x1.9f8aaep+4F,  0x1.2fce92p+5F,  0x1.a9f09ep+5F, 0x1.5df32p+6F,  0x1.5ea62ap+6F,
    0x1.5ea9f8p+6F,  0x1.fb213ap+6F,  0x1.d02c14p+30F, 0x1.6f0b56p+44F, 0x1.ce5738p+87F};
enum { FOUND = sizeof found / sizeof *found };

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

/* Each place in a vector, and tails of each length, and one number alone: the same bits. */
static int check_places(const char *name, array_function f, float (*one)(float), const float *x, const float *y)
{
    for (long i = 0; i < 3 * PTO_LANES; i++) {
        float z[3 * PTO_LANES] = {0};
        f(i, x, z);
        for (long j = 0; j < 3 * PTO_LANES; j++) {
            const uint32_t wanted = j < i ? bits_of(y[j]) : 0;
            if (bits_of(z[j]) != wanted || (j < i && bits_of(one(x[j])) != wanted)) {
                printf("%s(%a): %a in place %ld of %ld, %a alone, %a before\n", name, (double)x[j], (double)z[j], j, i,
                       (double)one(x[j]), (double)y[j]);
                return 1;
            }
        }
    }
    return 0;
}

static int run(const char *name, array_function f, float (*one)(float), double (*exact)(double), double bound,
               double (*more)(double))
{
    static float x[CHUNK], y[CHUNK];
    outcome o = {.hash = UINT64_C(0xcbf29ce484222325)};
    uint32_t seed = 1;
    for (uint32_t top = 0; top < 512; top++) {
        const int n = part >= 0 || is_near(top) ? NEAR_BITS : FAR_BITS;
        for (uint32_t from = 0; from < 1U << n; from += CHUNK) {
            for (uint32_t i = 0; i < CHUNK; i++) {
                seed = seed * 1664525 + 1013904223;
                x[i] = sample(top, n, from + i, seed);
            }
            f(CHUNK, x, y);
            judge(&o, exact, bound, more, CHUNK, x, y);
        }
        const long k = (long)(seed >> 8) % (CHUNK - 3 * PTO_LANES);
        if (part < 0 && check_places(name, f, one, x + k, y + k)) return 1;
    }
    for (long i = 0; i < 2 * FOUND; i++) x[i] = i % 2 ? -found[i / 2] : found[i / 2];
    f(2 * FOUND, x, y);
    judge(&o, exact, bound, more, 2 * FOUND, x, y);
    printf("%-13s bits %016llx\n", name, (unsigned long long)o.hash);
    fprintf(stderr, "%-13s %6.3f ulp at %a\n", name, o.worst, (double)o.at);
    if (o.excess <= 1) return 0;
    printf("%s(%a): %g ulp are more than %g\n", name, (double)o.at, o.worst, bound);
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
    F(hypot, hypot, 1.1)       \
    F(atan2, atan2, 3)         \
    F(fmod, fmod, 0)           \
    F(mod, mod, 0.5)           \
    F(floordiv, floordiv, 0.5) \
    F(swiglu, swiglu, 5)       \
    F(copysign, copysign, 0)   \
    F(prelu, prelu, 0.5)

typedef void (*pair_function)(long n, const float *a, const float *b, float *y);

/* As `found`. */
static const float found_pairs[][2] = {{-0x1.024654p+1F, 0x1.e71c2cp+33F},  {-0x1.dfbd64p+2F, 0x1.e07bf2p+0F},
                                       {-0x1.e3da72p+2F, 0x1.fc2adep+0F},   {-0x1.e1c38p+2F, 0x1.edd1d4p+0F},
                                       {-0x1.d16038p+6F, 0x1.f68426p+118F}, {0x1.007594p+0F, 0x1.003512p+0F},
                                       {0x1.c605e8p-2F, 0x1.c45112p+1F},    {0x1.ce6e06p-1F, -0x1.a8da3ap+9F}};

enum { EDGES = 44, FOUND_PAIRS = sizeof found_pairs / sizeof *found_pairs };
enum { PAIRS = EDGES * EDGES + FOUND_PAIRS + 400000 };

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
    uint64_t seed = (uint64_t)part + 2, hash = UINT64_C(0xcbf29ce484222325);
    double worst = 0;
    int n = 0, bad = 0, at = 0;
    for (int i = 0; i < EDGES; i++) {
        for (int j = 0; j < EDGES; j++, n++) {
            a[n] = i % 2 ? -edges[i / 2] : edges[i / 2];
            b[n] = j % 2 ? -edges[j / 2] : edges[j / 2];
        }
    }
    for (int i = 0; i < FOUND_PAIRS; i++, n++) a[n] = found_pairs[i][0], b[n] = found_pairs[i][1];
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
    int bad = 0, next = 1;
    if (next < argc && strcmp(argv[next], "bits") == 0) bits_alone = next++;
    if (next + 1 < argc && strcmp(argv[next], "part") == 0) {
        part = (int)(strtoul(argv[next + 1], NULL, 10) % PARTS);
        next += 2;
    }
#define RUN(name, exact, bound, more) \
    if (next == argc || strcmp(argv[next], #name) == 0) bad |= run(#name, array_##name, one_##name, exact, bound, more);
    FUNCTIONS(RUN)
#define RUN_OF_TWO(name, exact, bound)                  \
    if (next == argc || strcmp(argv[next], #name) == 0) \
        bad |= run_pairs(#name, pairs_##name, pair_##name, exact, bound);
    FUNCTIONS_OF_TWO(RUN_OF_TWO)
    return bad;
}
