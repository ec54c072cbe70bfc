/* Sets of values under functions, and under sums. */
#include "reference_bound.h"

#include <math.h>

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* ---- x sigmoid(z), with z of the sign of x: falls to one least value below zero, and rises ---- */

typedef struct gate {
    double (*z_of)(double x);
    double lowest_at, lowest;
} gate;

static double z_of_silu(double x) { return x; }
static double z_of_gelu_sigmoid(double x) { return 1.702 * x; }
static double z_of_gelu_tanh(double x) { return 1.5957691216057308 * (x + 0.044715 * x * x * x); }

static const gate silu = {z_of_silu, -1.2784645427610738, -0.27846454276107379},
                  gelu_by_sigmoid = {z_of_gelu_sigmoid, -0.75115425544716435, -0.16361019639311035},
                  gelu_by_tanh = {z_of_gelu_tanh, -0.75246142042, -0.17004075605};

/* z is off by a factor between 1 - slack and 1 + slack. */
static void add_gated(const gate *g, double x, double slack, double *lo, double *hi)
{
    const double z = g->z_of(x), a = x == -(double)INFINITY ? -0.0 : x * sigmoid(z * (1 - slack)),
                 b = x == -(double)INFINITY ? -0.0 : x * sigmoid(z * (1 + slack));
    *lo = fmin(*lo, fmin(a, b));
    *hi = fmax(*hi, fmax(a, b));
}

/* Before it is rounded. */
static bound gate_of(const gate *g, const bound *x, double slack)
{
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    if (x->lo == 0 && x->hi == 0) return (bound){.lo = x->lo, .hi = x->hi, .may_be_nan = x->may_be_nan};
    add_gated(g, x->lo, slack, &lo, &hi);
    add_gated(g, x->hi, slack, &lo, &hi);
    if (x->lo <= g->lowest_at && g->lowest_at <= x->hi) lo = g->lowest * (1 + 2 * slack) - 1e-9;
    if (x->lo < 0 && x->hi >= 0) hi = fmax(hi, 0);
    /* By its formula the function of -infinity is NaN. */
    return (bound){.lo = lo, .hi = hi, .may_be_nan = x->may_be_nan || x->lo == -(double)INFINITY};
}

static bound gated(const gate *g, pto_dtype t, const bound *x, const bound_rule *rule)
{
    const double unit = ldexp(1, 1 - pto_dtype_significand_bits(t));
    const bound y = gate_of(g, x, rule->argument_ulp * unit);
    if (x->lo == 0 && x->hi == 0) return y;
    return bound_rounded(t, y.lo, y.hi, rule->ulp, y.may_be_nan);
}

bound bound_swiglu(pto_dtype t, const bound *a, const bound *b, double ulp)
{
    if (!bound_has_numbers(a) || !bound_has_numbers(b)) return bound_nan();
    const bound opens = gate_of(&silu, a, 0), y = bound_product(&opens, b);
    return bound_rounded(t, y.lo, y.hi, ulp, y.may_be_nan);
}

/* ---- the others rise or fall all along ---- */

static double reciprocal_root(double x) { return 1 / sqrt(x); }

static bound with_root(pto_dtype t, const bound *x, double ulp, bool reciprocal)
{
    const bool has_negative = x->lo < 0;
    if (x->hi < 0) return bound_nan();
    const double lo = has_negative ? -0.0 : x->lo;
    if (!reciprocal) return bound_rounded(t, sqrt(lo), sqrt(x->hi), ulp, x->may_be_nan || has_negative);
    if (x->hi == 0 && signbit(x->hi))
        return bound_rounded(t, -(double)INFINITY, -(double)INFINITY, 0, x->may_be_nan || has_negative);
    /* 1 / -0 lies at the other end. */
    const double top = lo == 0 ? (double)INFINITY : reciprocal_root(lo);
    bound r = bound_rounded(t, reciprocal_root(x->hi), top, ulp, x->may_be_nan || has_negative);
    if (lo == 0 && signbit(lo)) r.lo = -(double)INFINITY;
    return r;
}

static bound logarithm(pto_dtype t, const bound *x, double ulp)
{
    if (x->hi < 0) return bound_nan();
    return bound_rounded(t, x->lo <= 0 ? -(double)INFINITY : log(x->lo), log(x->hi), ulp, x->may_be_nan || x->lo < 0);
}

/* Odd functions keep the zero. */
static bound tangent(pto_dtype t, const bound *x, double ulp)
{
    if (x->lo == 0 && x->hi == 0) return (bound){.lo = x->lo, .hi = x->hi, .may_be_nan = x->may_be_nan};
    return bound_rounded(t, tanh(x->lo), tanh(x->hi), ulp, x->may_be_nan);
}

/* ---- and these, between two ends beyond which they have no numbers ---- */

typedef struct monotone {
    double (*f)(double x);
    double from, to;
    bool falls, keeps_zero;
} monotone;

static bool find_monotone(tensor_op op, monotone *out)
{
    const double infinity = (double)INFINITY;
    switch (op) {
    case EVAL_TENSOR_EXP2: *out = (monotone){exp2, -infinity, infinity, false, false}; return true;
    case EVAL_TENSOR_EXPM1: *out = (monotone){expm1, -infinity, infinity, false, true}; return true;
    case EVAL_TENSOR_LOG2: *out = (monotone){log2, 0, infinity, false, false}; return true;
    case EVAL_TENSOR_LOG10: *out = (monotone){log10, 0, infinity, false, false}; return true;
    case EVAL_TENSOR_LOG1P: *out = (monotone){log1p, -1, infinity, false, true}; return true;
    case EVAL_TENSOR_SINH: *out = (monotone){sinh, -infinity, infinity, false, true}; return true;
    case EVAL_TENSOR_ASINH: *out = (monotone){asinh, -infinity, infinity, false, true}; return true;
    case EVAL_TENSOR_ACOSH: *out = (monotone){acosh, 1, infinity, false, false}; return true;
    case EVAL_TENSOR_ATANH: *out = (monotone){atanh, -1, 1, false, true}; return true;
    case EVAL_TENSOR_CBRT: *out = (monotone){cbrt, -infinity, infinity, false, true}; return true;
    case EVAL_TENSOR_ASIN: *out = (monotone){asin, -1, 1, false, true}; return true;
    case EVAL_TENSOR_ACOS: *out = (monotone){acos, -1, 1, true, false}; return true;
    case EVAL_TENSOR_ATAN: *out = (monotone){atan, -infinity, infinity, false, true}; return true;
    case EVAL_TENSOR_ERF: *out = (monotone){erf, -infinity, infinity, false, true}; return true;
    case EVAL_TENSOR_ERFC: *out = (monotone){erfc, -infinity, infinity, true, false}; return true;
    default: return false;
    }
}

static bound of_monotone(const monotone *m, pto_dtype t, const bound *x, double ulp)
{
    const bool may_be_nan = x->may_be_nan || x->lo < m->from || x->hi > m->to;
    const double lo = fmax(x->lo, m->from), hi = fmin(x->hi, m->to);
    if (lo > hi) return bound_nan();
    if (m->keeps_zero && lo == 0 && hi == 0) return (bound){.lo = x->lo, .hi = x->hi, .may_be_nan = may_be_nan};
    return bound_rounded(t, m->f(m->falls ? hi : lo), m->f(m->falls ? lo : hi), ulp, may_be_nan);
}

/* Sine and cosine change by no more than their argument does; that of a large one may be NaN. */
static bound wave(double (*f)(double), pto_dtype t, const bound *x, double ulp)
{
    const double far = fmax(fabs(x->lo), fabs(x->hi)), change = (x->hi - x->lo) / 2;
    if (far == (double)INFINITY) return bound_rounded(t, -1, 1, ulp, true);
    const double lo = fmin(f(x->lo), f(x->hi)) - change, hi = fmax(f(x->lo), f(x->hi)) + change;
    return bound_rounded(t, fmax(lo, -1), fmin(hi, 1), ulp, x->may_be_nan || far > 65536);
}

static bound even_exponential(pto_dtype t, const bound *x, double ulp)
{
    const bound size = bound_abs(PTO_F32, x);
    return bound_rounded(t, cosh(size.lo), cosh(size.hi), ulp, x->may_be_nan);
}

bound bound_function(tensor_op op, gelu_approx approx, pto_dtype t, const bound *x, const bound_rule *rule)
{
    const bound one = {.lo = 1, .hi = 1};
    monotone m;
    if (!bound_has_numbers(x)) return bound_nan();
    if (find_monotone(op, &m)) return of_monotone(&m, t, x, rule->ulp);
    switch (op) {
    case EVAL_TENSOR_SQRT: return with_root(t, x, rule->ulp, false);
    case EVAL_TENSOR_RSQRT: return with_root(t, x, rule->ulp, true);
    case EVAL_TENSOR_RECIPROCAL: return bound_div(t, &one, x, rule->ulp);
    case EVAL_TENSOR_EXP: return bound_rounded(t, exp(x->lo), exp(x->hi), rule->ulp, x->may_be_nan);
    case EVAL_TENSOR_LOG: return logarithm(t, x, rule->ulp);
    case EVAL_TENSOR_TANH: return tangent(t, x, rule->ulp);
    case EVAL_TENSOR_SIGMOID: return bound_rounded(t, sigmoid(x->lo), sigmoid(x->hi), rule->ulp, x->may_be_nan);
    case EVAL_TENSOR_SILU: return gated(&silu, t, x, rule);
    case EVAL_TENSOR_GELU: return gated(approx == GELU_SIGMOID ? &gelu_by_sigmoid : &gelu_by_tanh, t, x, rule);
    case EVAL_TENSOR_COSH: return even_exponential(t, x, rule->ulp);
    case EVAL_TENSOR_SIN: return wave(sin, t, x, rule->ulp);
    case EVAL_TENSOR_COS: return wave(cos, t, x, rule->ulp);
    default: return bound_anything(t);
    }
}

/* ---- sums ---- */

bound_sum bound_sum_start(void) { return (bound_sum){.grain = 2000, .is_exact = true, .may_be_minus_zero = true}; }

/* The exponent of the last bit that is set. */
static int grain_of(double x)
{
    int exponent;
    if (x == 0) return 2000;
    const double significand = frexp(x, &exponent);
    const int64_t whole = (int64_t)(significand * 0x1p53);
    return exponent - 53 + __builtin_ctzll((unsigned long long)whole);
}

static void add_term(bound_sum *s, const bound *x)
{
    const double infinity = (double)INFINITY;
    s->may_be_nan |= x->may_be_nan;
    s->is_nan |= !bound_has_numbers(x);
    if (!bound_has_numbers(x)) return;
    s->has_plus |= x->hi == infinity;
    s->has_minus |= x->lo == -infinity;
    s->is_plus |= x->lo == infinity;
    s->is_minus |= x->hi == -infinity;
    s->may_be_minus_zero &= signbit(x->lo) && x->hi >= 0;
    const double lo = isfinite(x->lo) ? x->lo : 0, hi = isfinite(x->hi) ? x->hi : 0;
    s->lo += lo;
    s->hi += hi;
    s->magnitude += fmax(fabs(lo), fabs(hi));
    s->positive += fmax(hi, 0);
    s->negative += fmax(-lo, 0);
    const int grain = x->lo == x->hi && isfinite(x->lo) ? grain_of(x->lo) : BOUND_NO_GRAIN;
    if (grain < s->grain) s->grain = grain;
}

void bound_sum_add(bound_sum *s, const bound *x)
{
    s->is_exact &= x->is_exact;
    s->rounding_count += s->count++ > 0;
    add_term(s, x);
}

void bound_sum_add_product(bound_sum *s, const bound *a, const bound *b)
{
    bound x = bound_product(a, b);
    if (a->lo == a->hi && b->lo == b->hi && isfinite(x.lo) && !a->may_be_nan && !b->may_be_nan)
        x = (bound){.lo = a->lo * b->lo, .hi = a->lo * b->lo};
    s->is_exact &= a->is_exact && b->is_exact;
    s->count++;
    s->rounding_count++;
    add_term(s, &x);
}

double bound_largest(pto_dtype t) { return pto_dtype_float_max(pto_dtype_is_float(t) ? t : PTO_F32); }

/* n terms are added up in n - 1 additions. Each of the terms and each of the sums may count as 0 where it is subnormal,
 * so it is off by less than 2^-126; none is subnormal where all are multiples of 2^-126. What counts as 0 is without
 * its terms: those above zero can be missing and make the sum less, and those below zero make it more. */
static double flushed_away(const bound_sum *s)
{
    return s->may_flush && s->grain < -126 ? (double)(2 * s->count - 1) * 0x1p-126 : 0;
}

/* Of all roundings together, in any order: (1 + u)^n - 1 of the magnitudes, and of what is lost on the way. */
static double sum_error(pto_dtype inside, const bound_sum *s, double lost)
{
    const double unit = bound_ulp(inside, 1) / 2, n = (double)s->rounding_count;
    /* Multiples of one power of two, few enough for every sum of them to be a number of the type: without those that
     * count as 0, too. */
    if (s->grain > BOUND_NO_GRAIN && s->magnitude <= ldexp(2 / bound_ulp(inside, 1), s->grain) &&
        ldexp(1, s->grain) >= bound_ulp(inside, 0))
        return 0;
    if (n * unit >= 0.5) return (double)INFINITY;
    return (s->magnitude + lost) * (n * unit / (1 - n * unit) + n * 0x1p-52) + n * bound_ulp(inside, 0);
}

bound bound_sum_end(pto_dtype t, pto_dtype inside, const bound_sum *s)
{
    const double infinity = (double)INFINITY;
    if (!element_is_float(t)) return bound_rounded(t, s->lo, s->hi, 0, false);
    const double lost = flushed_away(s), error = sum_error(inside, s, lost);
    const bool plus = s->has_plus || s->positive + error > bound_largest(inside),
               minus = s->has_minus || s->negative + error > bound_largest(inside);
    const bool may_be_nan = s->may_be_nan || (plus && minus);
    if (s->is_nan || (s->is_plus && s->is_minus)) return bound_nan();
    double lo = s->is_plus ? infinity
                : minus    ? -infinity
                           : s->lo - error - fmin(lost, s->positive),
           hi = s->is_minus ? -infinity
                : plus      ? infinity
                            : s->hi + error + fmin(lost, s->negative);
    if (lo == 0) lo = s->may_be_minus_zero && s->count > 0 ? -0.0 : 0.0;
    if (hi == 0) hi = 0.0;
    /* Rounded to `inside` first, or not. */
    if (t != inside && error > 0) {
        lo -= bound_ulp(inside, lo);
        hi += bound_ulp(inside, hi);
    }
    return bound_rounded(t, lo, hi, 0, may_be_nan);
}
