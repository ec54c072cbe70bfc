#include "ir/context/float_format.h"

#include <math.h>
#include <string.h>

typedef struct float_format {
    uint8_t exponent_bits, mantissa_bits;
    bool has_infinity;
    int32_t bias;
    uint32_t largest;   /* pattern of the largest finite value */
    uint32_t quiet_nan; /* pattern without sign */
} float_format;

enum { DOUBLE_MANTISSA_BITS = 52, DOUBLE_BIAS = 1023, E8M0_NAN = 0xff };

static const float_format formats[DTYPE_COUNT] = {
#define DTYPE(ID, text, bits, class, exponent_bits, mantissa_bits, largest, quiet_nan, ...)                     \
    [DTYPE_##ID] = {exponent_bits, mantissa_bits, (quiet_nan) != (largest) + 1, (1 << (exponent_bits)) / 2 - 1, \
                    largest,       quiet_nan},
#include "ir/ops/types.def"
};

static const float_format *format_of(dtype d)
{
    BUG_IF(d >= DTYPE_COUNT || formats[d].largest == 0, "dtype %u is not a float format", (unsigned)d);
    return &formats[d];
}

bool round_mode_by_name(str s, round_mode *out)
{
    static const char *const names[] = {[ROUND_RINT] = "rint", [ROUND_ROUND] = "round", [ROUND_FLOOR] = "floor",
                                        [ROUND_CEIL] = "ceil", [ROUND_TRUNC] = "trunc", [ROUND_ODD] = "odd"};
    *out = ROUND_RINT;
    if (str_is(s, "none")) return true;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!str_is(s, names[i])) continue;
        *out = (round_mode)i;
        return true;
    }
    return false;
}

double float_decode(dtype d, uint32_t bits)
{
    const float_format *f = format_of(d);
    if (d == DTYPE_F8E8M0) {
        bits &= 0xff;
        return bits == E8M0_NAN ? (double)NAN : ldexp(1.0, (int)bits - f->bias);
    }
    uint32_t magnitude_bits = (uint32_t)f->exponent_bits + f->mantissa_bits;
    uint32_t mantissa = bits & ((1u << f->mantissa_bits) - 1);
    int32_t exponent = (int32_t)((bits >> f->mantissa_bits) & ((1u << f->exponent_bits) - 1));
    uint32_t magnitude = bits & ((1u << magnitude_bits) - 1);
    double sign = (bits >> magnitude_bits) & 1 ? -1.0 : 1.0;
    if (magnitude > f->largest) {
        bool infinite = f->has_infinity && mantissa == 0;
        return copysign(infinite ? (double)INFINITY : (double)NAN, sign);
    }
    if (exponent == 0) return sign * ldexp((double)mantissa, 1 - f->bias - f->mantissa_bits);
    return sign * ldexp((double)(mantissa | (1u << f->mantissa_bits)), exponent - f->bias - f->mantissa_bits);
}

/* Drops `shift` low bits of `mantissa` by the mode. */
static uint64_t shift_round(uint64_t mantissa, int32_t shift, bool negative, round_mode mode)
{
    uint64_t kept = shift >= 64 ? 0 : mantissa >> shift;
    uint64_t rest = shift >= 64 ? mantissa : mantissa & ((UINT64_C(1) << shift) - 1);
    uint64_t half = shift > 64 ? 0 : UINT64_C(1) << (shift - 1);
    bool is_half = half != 0 && rest == half;
    bool above_half = half != 0 && rest > half;
    bool up = false;
    switch (mode) {
    case ROUND_RINT: up = above_half || (is_half && (kept & 1) != 0); break;
    case ROUND_ROUND: up = above_half || is_half; break;
    case ROUND_FLOOR: up = negative && rest != 0; break;
    case ROUND_CEIL: up = !negative && rest != 0; break;
    case ROUND_TRUNC: break;
    case ROUND_ODD: return rest != 0 ? kept | 1 : kept;
    }
    return kept + up;
}

static uint32_t overflowed(const float_format *f, bool negative, round_mode mode, bool saturate)
{
    bool to_finite = saturate || mode == ROUND_TRUNC || mode == ROUND_ODD || (mode == ROUND_FLOOR && !negative) ||
                     (mode == ROUND_CEIL && negative);
    if (to_finite) return f->largest;
    return f->has_infinity ? f->largest + 1 : f->quiet_nan;
}

/* mantissa * 2^exponent, mantissa not 0, into f8e8m0. */
static uint32_t encode_power(uint64_t mantissa, int32_t exponent, round_mode mode, bool saturate)
{
    const float_format *f = format_of(DTYPE_F8E8M0);
    int32_t top = 63 - __builtin_clzll(mantissa);
    int32_t field = exponent + top + f->bias;
    if (field < 0) return 0;
    if (top > 0 && shift_round(mantissa, top, false, mode) == 2) field++;
    return field > (int32_t)f->largest ? overflowed(f, false, mode, saturate) : (uint32_t)field;
}

/* The pattern of (-1)^negative * mantissa * 2^exponent; the mantissa is not 0. */
static uint32_t encode_parts(dtype d, bool negative, uint64_t mantissa, int32_t exponent, round_mode mode,
                             bool saturate)
{
    const float_format *f = format_of(d);
    if (d == DTYPE_F8E8M0) return negative ? (uint32_t)E8M0_NAN : encode_power(mantissa, exponent, mode, saturate);
    int32_t top = exponent + 63 - __builtin_clzll(mantissa);
    int32_t lowest = 1 - f->bias - f->mantissa_bits; /* exponent of the last bit of a subnormal */
    int32_t last = top - f->mantissa_bits;
    if (last < lowest) last = lowest;
    uint32_t sign = (uint32_t)negative << (f->exponent_bits + f->mantissa_bits);
    if (last - lowest >= 1 << f->exponent_bits) return sign | overflowed(f, negative, mode, saturate);
    int32_t shift = last - exponent;
    uint64_t kept = shift <= 0 ? mantissa << -shift : shift_round(mantissa, shift, negative, mode);
    /* The implicit bit of a normal number adds 1 to the exponent field, and so does a carry out of rounding. */
    uint64_t magnitude = ((uint64_t)(uint32_t)(last - lowest) << f->mantissa_bits) + kept;
    if (magnitude > f->largest) return sign | overflowed(f, negative, mode, saturate);
    return sign | (uint32_t)magnitude;
}

uint32_t float_encode(dtype d, double v, round_mode mode, bool saturate)
{
    const float_format *f = format_of(d);
    bool negative = signbit(v) != 0;
    uint32_t sign = d == DTYPE_F8E8M0 ? 0 : (uint32_t)negative << (f->exponent_bits + f->mantissa_bits);
    if (isnan(v)) return sign | f->quiet_nan;
    if (d == DTYPE_F8E8M0 && v < 0) return E8M0_NAN;
    if (isinf(v)) return sign | (saturate ? f->largest : f->has_infinity ? f->largest + 1 : f->quiet_nan);
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint64_t mantissa = bits & ((UINT64_C(1) << DOUBLE_MANTISSA_BITS) - 1);
    int32_t exponent = (int32_t)((bits >> DOUBLE_MANTISSA_BITS) & 0x7ff);
    if (exponent == 0 && mantissa == 0) return sign;
    if (exponent == 0)
        exponent = 1;
    else
        mantissa |= UINT64_C(1) << DOUBLE_MANTISSA_BITS;
    return encode_parts(d, negative, mantissa, exponent - DOUBLE_BIAS - DOUBLE_MANTISSA_BITS, mode, saturate);
}

uint32_t float_encode_integer(dtype d, bool negative, uint64_t magnitude, round_mode mode, bool saturate)
{
    if (magnitude == 0) return 0;
    return encode_parts(d, negative, magnitude, 0, mode, saturate);
}

bool float_has_float(dtype d, dtype other)
{
    const float_format *to = format_of(d), *from = format_of(other);
    if (d == other) return true;
    return to->has_infinity && to->exponent_bits >= from->exponent_bits && to->mantissa_bits >= from->mantissa_bits;
}

bool float_has_integers(dtype d, uint32_t bits)
{
    const float_format *f = format_of(d);
    return d != DTYPE_F8E8M0 && bits <= f->mantissa_bits + 1u;
}

bool float_spans_float(dtype d, dtype other)
{
    const float_format *to = format_of(d), *from = format_of(other);
    if (d == other) return true;
    return to->has_infinity && (to->exponent_bits > from->exponent_bits ||
                                (to->exponent_bits == from->exponent_bits && to->mantissa_bits >= from->mantissa_bits));
}

bool float_spans_integers(dtype d, uint32_t bits)
{
    return d != DTYPE_F8E8M0 && ldexp(1.0, (int)bits) - 1.0 <= float_largest(d);
}

double float_largest(dtype d) { return float_decode(d, format_of(d)->largest); }

double float_round_integral(double v, round_mode mode)
{
    switch (mode) {
    case ROUND_RINT: return rint(v);
    case ROUND_ROUND: return round(v);
    case ROUND_FLOOR: return floor(v);
    case ROUND_CEIL: return ceil(v);
    case ROUND_TRUNC: return trunc(v);
    case ROUND_ODD: break;
    }
    double whole = trunc(v);
    if (whole == v || isnan(v) || fmod(whole, 2.0) != 0) return whole;
    return whole + copysign(1.0, v);
}
