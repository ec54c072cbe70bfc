#include "reference_bound.h"

#include <math.h>
#include <string.h>

/* Ends of a set without numbers. */
static const double none_lo = (double)INFINITY, none_hi = -(double)INFINITY;

typedef struct float_form {
    int digits, least_exponent; /* of the significand; of the least normal number */
} float_form;

/* f8e8m0, without fraction, has no numbers below its least normal one. */
static float_form form_of(pto_dtype t)
{
    static const float_form forms[PTO_DTYPE_COUNT] = {
#define DTYPE(ID, text, bits, class, exponent_bits, mantissa_bits, ...) \
    [PTO_##ID] = {(mantissa_bits) + 1, ((mantissa_bits) != 0) + 1 - (1 << (exponent_bits)) / 2},
#include <pto/ops/types.def>
    };
    return forms[pto_dtype_is_float(t) ? t : PTO_F32];
}

/* 2 to the power of n, for an n of normal doubles. */
static double power_of_two(int n)
{
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double bound_ulp(pto_dtype t, double x)
{
    const float_form f = form_of(t);
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024) return 0;
    return power_of_two((exponent > f.least_exponent ? exponent : f.least_exponent) - (f.digits - 1));
}

static double round_to(pto_dtype t, double x, round_mode mode, bool saturate)
{
    if (t == PTO_F32 && mode == ROUND_RINT && !saturate) return (double)(float)x;
    const uint32_t bits = element_encode(t, x, mode, saturate);
    uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
    double y;
    element_read_f64(t, bytes, 1, 1, &y);
    return y;
}

/* -0 is below +0. */
static double least(double a, double b) { return a == b ? (signbit(a) ? a : b) : a < b ? a : b; }
static double most(double a, double b) { return a == b ? (signbit(a) ? b : a) : a > b ? a : b; }

static bool is_wide_int(pto_dtype t) { return !element_is_float(t) && element_bytes(t) == 8; }

/* Limits of an integer type as doubles. */
static double int_lo(pto_dtype t) { return element_is_unsigned(t) ? 0 : (double)element_int_min(t); }
static double int_hi(pto_dtype t)
{
    if (t == PTO_BOOL) return 1;
    return element_is_unsigned(t) ? ldexp(1, 8 * (int)element_bytes(t)) - (is_wide_int(t) ? 2048 : 1)
                                  : (double)element_int_max(t);
}

bound bound_of(pto_dtype t, double x)
{
    if (x != x) return (bound){.lo = none_lo, .hi = none_hi, .may_be_nan = true, .is_exact = true};
    const bool is_between = is_wide_int(t) && fabs(x) > 0x1p53;
    return (bound){
        .lo = is_between ? nextafter(x, none_hi) : x, .hi = is_between ? nextafter(x, none_lo) : x, .is_exact = true};
}

bound bound_near(double x)
{
    const double rounded = (double)(float)x;
    return (bound){.lo = least(x, rounded), .hi = most(x, rounded)};
}

bound bound_nan(void) { return (bound){.lo = none_lo, .hi = none_hi, .may_be_nan = true}; }

bound bound_anything(pto_dtype t)
{
    if (element_is_float(t)) return (bound){.lo = none_hi, .hi = none_lo, .may_be_nan = true};
    return (bound){.lo = int_lo(t), .hi = int_hi(t)};
}

bool bound_has_numbers(const bound *b) { return !(b->lo > b->hi); }

bool bound_is_unlimited(pto_dtype t, const bound *b)
{
    const bound all = bound_anything(t);
    return !b->is_exact && b->lo <= all.lo && b->hi >= all.hi;
}

bound bound_join(const bound *a, const bound *b)
{
    bound r = {.may_be_nan = a->may_be_nan || b->may_be_nan};
    r.lo = bound_has_numbers(b) ? least(a->lo, b->lo) : a->lo;
    r.hi = bound_has_numbers(b) ? most(a->hi, b->hi) : a->hi;
    return r;
}

/* A result of an integer op: what leaves the type may wrap to anything. */
static bound whole(pto_dtype t, double lo, double hi)
{
    const double limit = is_wide_int(t) ? 0x1p53 : (double)INFINITY;
    if (!(lo >= int_lo(t) && hi <= int_hi(t)) || fabs(lo) > limit || fabs(hi) > limit) return bound_anything(t);
    return (bound){.lo = lo, .hi = hi};
}

bound bound_rounded(pto_dtype t, double lo, double hi, double ulp, bool may_be_nan)
{
    if (lo > hi) return (bound){.lo = none_lo, .hi = none_hi, .may_be_nan = true};
    if (!element_is_float(t)) return whole(t, lo, hi);
    if (ulp > 0) {
        lo -= ulp * bound_ulp(t, lo);
        hi += ulp * bound_ulp(t, hi);
    }
    bound r = {
        .lo = round_to(t, lo, ROUND_RINT, false), .hi = round_to(t, hi, ROUND_RINT, false), .may_be_nan = may_be_nan};
    if (isnan(r.lo) || isnan(r.hi)) r = bound_anything(t); /* a type without infinity, or without a sign */
    return r;
}

/* ---- two operands ---- */

static bool has(const bound *b, double x) { return b->lo <= x && x <= b->hi; }
static bool has_infinity(const bound *b) { return b->lo == none_hi || b->hi == none_lo; }

static bool are_numbers(const bound *a, const bound *b) { return bound_has_numbers(a) && bound_has_numbers(b); }

bound bound_add(pto_dtype t, const bound *a, const bound *b, double ulp)
{
    if (!are_numbers(a, b)) return bound_nan();
    const bool cancels = (has(a, none_lo) && has(b, none_hi)) || (has(a, none_hi) && has(b, none_lo));
    double lo = a->lo + b->lo, hi = a->hi + b->hi;
    if (isnan(lo)) lo = none_hi;
    if (isnan(hi)) hi = none_lo;
    return bound_rounded(t, lo, hi, ulp, a->may_be_nan || b->may_be_nan || cancels);
}

bound bound_sub(pto_dtype t, const bound *a, const bound *b, double ulp)
{
    bound minus = {.lo = -b->hi, .hi = -b->lo, .may_be_nan = b->may_be_nan};
    if (!bound_has_numbers(b)) return bound_nan();
    return bound_add(t, a, &minus, ulp);
}

typedef struct corners {
    double lo, hi;
    bool may_be_nan;
} corners;

static void add_corner(corners *c, double x)
{
    if (isnan(x)) {
        c->may_be_nan = true;
        return;
    }
    c->lo = least(c->lo, x);
    c->hi = most(c->hi, x);
}

bound bound_product(const bound *a, const bound *b)
{
    if (!are_numbers(a, b)) return bound_nan();
    corners c = {none_lo, none_hi, a->may_be_nan || b->may_be_nan};
    const bool zero_by_infinity = (has(a, 0) && has_infinity(b)) || (has(b, 0) && has_infinity(a));
    add_corner(&c, a->lo * b->lo);
    add_corner(&c, a->lo * b->hi);
    add_corner(&c, a->hi * b->lo);
    add_corner(&c, a->hi * b->hi);
    /* Beside 0 times infinity lie finite numbers times 0, and infinities. */
    if (zero_by_infinity && (a->lo < a->hi || b->lo < b->hi)) {
        add_corner(&c, -0.0);
        add_corner(&c, 0.0);
        if (has_infinity(a) ? b->lo < b->hi : a->lo < a->hi) {
            add_corner(&c, none_hi);
            add_corner(&c, none_lo);
        }
    }
    return (bound){.lo = c.lo, .hi = c.hi, .may_be_nan = c.may_be_nan || zero_by_infinity};
}

bound bound_mul(pto_dtype t, const bound *a, const bound *b, double ulp)
{
    const bound p = bound_product(a, b);
    return bound_rounded(t, p.lo, p.hi, ulp, p.may_be_nan);
}

/* By divisors of one sign. */
static void add_quotients(corners *c, const bound *a, double lo, double hi)
{
    add_corner(c, a->lo / lo);
    add_corner(c, a->lo / hi);
    add_corner(c, a->hi / lo);
    add_corner(c, a->hi / hi);
}

bound bound_div(pto_dtype t, const bound *a, const bound *b, double ulp)
{
    if (!are_numbers(a, b)) return bound_nan();
    if (!element_is_float(t)) {
        if (has(b, 0)) return bound_anything(t);
        corners c = {none_lo, none_hi, false};
        add_quotients(&c, a, b->lo, b->hi);
        return whole(t, trunc(c.lo), trunc(c.hi));
    }
    const bool has_negative = signbit(b->lo), has_positive = !signbit(b->hi);
    corners c = {none_lo, none_hi, a->may_be_nan || b->may_be_nan};
    if (has_negative) add_quotients(&c, a, b->lo, has_positive ? -0.0 : b->hi);
    if (has_positive) add_quotients(&c, a, has_negative ? 0.0 : b->lo, b->hi);
    const bool poles = has(a, 0) && has(b, 0), infinite = has_infinity(a) && has_infinity(b);
    const bool is_point = a->lo == a->hi && b->lo == b->hi && has_negative != has_positive;
    if ((poles || infinite) && !is_point) {
        add_corner(&c, none_hi);
        add_corner(&c, none_lo);
    }
    return bound_rounded(t, c.lo, c.hi, ulp, c.may_be_nan || poles || infinite);
}

bound bound_extreme(const bound *a, const bound *b, bool smaller, nan_rule nan)
{
    bound r = {.lo = smaller ? least(a->lo, b->lo) : most(a->lo, b->lo),
               .hi = smaller ? least(a->hi, b->hi) : most(a->hi, b->hi),
               .may_be_nan = nan == NAN_IGNORE ? a->may_be_nan && b->may_be_nan : a->may_be_nan || b->may_be_nan};
    if (!are_numbers(a, b)) {
        r.lo = none_lo;
        r.hi = none_hi;
    }
    if (nan == NAN_PROPAGATE) return r;
    bound numbers = r;
    if (a->may_be_nan) numbers = bound_join(&numbers, b);
    if (b->may_be_nan) numbers = bound_join(&numbers, a);
    numbers.may_be_nan = r.may_be_nan;
    return numbers;
}

/* ---- one operand ---- */

bound bound_neg(pto_dtype t, const bound *x)
{
    if (!element_is_float(t)) return whole(t, -x->hi, -x->lo);
    return (bound){.lo = -x->hi, .hi = -x->lo, .may_be_nan = x->may_be_nan};
}

bound bound_abs(pto_dtype t, const bound *x)
{
    bound r = {.lo = fabs(x->lo), .hi = fabs(x->hi), .may_be_nan = x->may_be_nan};
    if (!bound_has_numbers(x)) return *x;
    if (signbit(x->lo) && signbit(x->hi)) r = (bound){.lo = r.hi, .hi = r.lo, .may_be_nan = r.may_be_nan};
    if (signbit(x->lo) && !signbit(x->hi)) r = (bound){.lo = 0, .hi = fmax(r.lo, r.hi), .may_be_nan = r.may_be_nan};
    return element_is_float(t) ? r : whole(t, r.lo, r.hi);
}

bound bound_relu(const bound *x)
{
    if (!bound_has_numbers(x)) return *x;
    return (bound){.lo = x->lo > 0 ? x->lo : 0, .hi = x->hi > 0 ? x->hi : 0, .may_be_nan = x->may_be_nan};
}

static double round_whole(double x, round_mode mode)
{
    double y = trunc(x);
    switch (mode) {
    case ROUND_RINT: return nearbyint(x);
    case ROUND_ROUND: return round(x);
    case ROUND_FLOOR: return floor(x);
    case ROUND_CEIL: return ceil(x);
    case ROUND_ODD:
        if (y != x && fmod(y, 2) == 0) y += x < 0 ? -1 : 1;
        return y;
    default: return y;
    }
}

static bound to_int(pto_dtype to, pto_dtype from, const bound *x, round_mode mode, bool saturate)
{
    const double lo = element_is_float(from) ? round_whole(x->lo, mode) : x->lo,
                 hi = element_is_float(from) ? round_whole(x->hi, mode) : x->hi;
    const bool fits = lo >= int_lo(to) && hi <= int_hi(to);
    if (!saturate) return fits && !x->may_be_nan && bound_has_numbers(x) ? whole(to, lo, hi) : bound_anything(to);
    bound r = {.lo = fmin(fmax(lo, int_lo(to)), int_hi(to)), .hi = fmin(fmax(hi, int_lo(to)), int_hi(to))};
    if (!x->may_be_nan) return r;
    const bound zero = {0};
    return bound_has_numbers(x) ? bound_join(&r, &zero) : zero;
}

static bound to_bool(const bound *x)
{
    const bool is_true = !has(x, 0), is_false = x->lo == 0 && x->hi == 0 && !x->may_be_nan;
    return (bound){.lo = is_true ? 1 : 0, .hi = is_false ? 0 : 1};
}

bound bound_convert(pto_dtype to, pto_dtype from, const bound *x, round_mode mode, bool saturate)
{
    if (to == from) return *x;
    if (to == PTO_BOOL) return to_bool(x);
    if (!element_is_float(to)) return to_int(to, from, x, mode, saturate);
    if (!bound_has_numbers(x)) return bound_nan();
    if (mode == ROUND_NONE) mode = ROUND_RINT;
    bound r = {.lo = round_to(to, x->lo, mode, saturate),
               .hi = round_to(to, x->hi, mode, saturate),
               .may_be_nan = x->may_be_nan};
    if (isnan(r.lo) || isnan(r.hi) || to == PTO_F8E8M0) r = bound_anything(to);
    return r;
}

bound bound_compare(pto_relation relation, const bound *a, const bound *b)
{
    const bool has_nan = a->may_be_nan || b->may_be_nan, has_numbers = bound_has_numbers(a) && bound_has_numbers(b);
    const bool may_be_less = has_numbers && a->lo < b->hi, may_be_more = has_numbers && a->hi > b->lo,
               may_be_equal = has_numbers && a->lo <= b->hi && b->lo <= a->hi;
    bool may_hold = has_nan && relation == PTO_RELATION_NE, may_fail = has_nan && relation != PTO_RELATION_NE;
    for (int order = -1; order <= 1; order++) {
        if (!(order < 0 ? may_be_less : order > 0 ? may_be_more : may_be_equal)) continue;
        const bool holds = pto_relation_holds(relation, order, 0) != 0;
        may_hold |= holds;
        may_fail |= !holds;
    }
    return (bound){.lo = may_fail ? 0 : 1, .hi = may_hold ? 1 : 0, .is_exact = may_hold != may_fail};
}
