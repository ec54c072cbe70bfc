/* Rounding by mode, and conversion between any two element types. */
#include "semantics/element.h"

#include <math.h>
#include <string.h>

/* max_bits: the largest finite value; inf_bits: what overflow becomes. */
typedef struct float_format {
    int mantissa_bits, bias;
    uint32_t max_bits, inf_bits, nan_bits, sign_bit;
} float_format;

static const float_format formats[PTO_DTYPE_COUNT] = {
#define DTYPE(ID, text, bits, class, exponent_bits, mantissa_bits, largest, quiet_nan, ...) \
    [PTO_##ID] = {mantissa_bits, (1 << (exponent_bits)) / 2 - 1,  largest, (largest) + 1,   \
                  quiet_nan,     UINT32_C(1) << ((bits) - 1) % 32},
#include <pto/ops/types.def>
};

round_mode round_mode_by_name(const char *p, size_t n)
{
    static const char *const names[ROUND_COUNT] = {"none", "rint", "round", "floor", "ceil", "trunc", "odd"};
    for (int m = 0; m < ROUND_COUNT; m++) {
        if (strlen(names[m]) == n && memcmp(names[m], p, n) == 0) return (round_mode)m;
    }
    return ROUND_COUNT;
}

/* Whether a magnitude whose integral part is odd or not, with `rest` in [0, 1) cut off, is rounded up. */
static bool rounds_up(double rest, bool odd, bool negative, round_mode mode)
{
    switch (mode) {
    case ROUND_NONE:
    case ROUND_RINT: return rest > 0.5 || (rest == 0.5 && odd);
    case ROUND_ROUND: return rest >= 0.5;
    case ROUND_FLOOR: return rest > 0 && negative;
    case ROUND_CEIL: return rest > 0 && !negative;
    case ROUND_ODD: return rest > 0 && !odd;
    case ROUND_TRUNC:
    case ROUND_COUNT: break;
    }
    return false;
}

/* x rounded to an integral value. */
static double element_round_integral(double x, round_mode mode)
{
    const double a = fabs(x);
    if (!(a < 0x1p53)) return x;
    double whole = floor(a);
    if (rounds_up(a - whole, fmod(whole, 2) != 0, signbit(x), mode)) whole += 1;
    return copysign(whole, x);
}

static uint32_t encode_e8m0(double x, round_mode mode, bool saturate)
{
    if (x != x || signbit(x)) return 0xff;
    if (isinf(x)) return saturate ? 0xfe : 0xff;
    if (x <= 0x1p-127) return 0;
    int e;
    const double rest = frexp(x, &e) * 2 - 1; /* x = (1 + rest) * 2^(e-1) */
    const int exponent = e - 1 + 127 + rounds_up(rest, ((e - 1 + 127) & 1) != 0, false, mode);
    if (exponent < 0) return 0;
    if (exponent > 0xfe) return saturate ? 0xfe : 0xff;
    return (uint32_t)exponent;
}

uint32_t element_encode(pto_dtype t, double x, round_mode mode, bool saturate)
{
    if (t == PTO_F8E8M0) return encode_e8m0(x, mode, saturate);
    if (!element_is_float(t)) return 0;
    const float_format *f = &formats[t];
    if (x != x) return f->nan_bits;
    const bool negative = signbit(x);
    const uint32_t sign = negative ? f->sign_bit : 0;
    const double a = fabs(x);
    if (isinf(a)) return sign | (saturate ? f->max_bits : f->inf_bits);
    if (a == 0) return sign;
    int e;
    frexp(a, &e);
    /* 2^quantum is one ulp of the result: the last mantissa bit of a's binade, or of the subnormals. */
    const int least = 1 - f->bias - f->mantissa_bits;
    const int quantum = e - 1 - f->mantissa_bits > least ? e - 1 - f->mantissa_bits : least;
    const double scaled = ldexp(a, -quantum), whole = floor(scaled);
    uint64_t bits = (uint64_t)whole;
    bits += rounds_up(scaled - whole, bits & 1, negative, mode);
    /* The leading one of a normal number adds one to the exponent field; a carry adds one more. */
    bits += (uint64_t)(quantum - least) << f->mantissa_bits;
    if (bits > f->max_bits) bits = saturate ? f->max_bits : f->inf_bits;
    return sign | (uint32_t)bits;
}

double element_decode(pto_dtype t, uint32_t bits)
{
    const float_format *f = &formats[t];
    const uint32_t magnitude = bits & (f->sign_bit - 1), mantissa = magnitude & ((1u << f->mantissa_bits) - 1);
    const int exponent = (int)(magnitude >> f->mantissa_bits), least = 1 - f->bias - f->mantissa_bits;
    const double sign = (bits & f->sign_bit) != 0 ? -1.0 : 1.0;
    if (magnitude > f->max_bits)
        return f->inf_bits != f->nan_bits && mantissa == 0 ? sign * HUGE_VAL : copysign(nan(""), sign);
    if (exponent == 0) return sign * ldexp((double)mantissa, least);
    return sign * ldexp((double)(mantissa + (1u << f->mantissa_bits)), least + exponent - 1);
}

/* Truncated to 53 bits, with an odd last bit when inexact: rounding that once more to at most 51 bits is exact. */
static double f64_odd_from_int(int64_t v, bool is_unsigned)
{
    const bool negative = !is_unsigned && v < 0;
    uint64_t a = negative ? -(uint64_t)v : (uint64_t)v;
    int shift = 0;
    for (bool sticky = false; a >> 53; shift++) {
        sticky = sticky || (a & 1);
        a = a >> 1 | sticky;
    }
    const double magnitude = ldexp((double)a, shift);
    return negative ? -magnitude : magnitude;
}

static int64_t int_from_special(double x, pto_dtype t, bool saturate)
{
    if (!saturate) return element_is_unsigned(t) ? -1 : element_int_min(t);
    if (x != x) return 0;
    return x > 0 ? element_int_max(t) : element_int_min(t);
}

/* Modulo 2^64. x is integral. */
static int64_t wrap_f64(double x)
{
    const double a = fmod(fabs(x), 0x1p64);
    const uint64_t magnitude = (uint64_t)a;
    return (int64_t)(x < 0 ? -magnitude : magnitude);
}

static int64_t int_from_f64(double x, pto_dtype t, round_mode mode, bool saturate)
{
    if (!isfinite(x)) return int_from_special(x, t, saturate);
    x = element_round_integral(x, mode == ROUND_NONE ? ROUND_TRUNC : mode);
    if (saturate) {
        const int64_t lo = element_int_min(t), hi = element_int_max(t);
        const double limit = element_is_unsigned(t) ? (double)(uint64_t)hi : (double)hi;
        /* limit rounds up to a power of two for 64-bit types, which is then itself out of range. */
        if (x >= limit) return hi;
        if (x <= (double)lo) return lo;
    }
    return wrap_f64(x);
}

static int64_t clamp_int(int64_t v, bool is_unsigned, pto_dtype t)
{
    const int64_t lo = element_int_min(t), hi = element_int_max(t);
    const bool huge = is_unsigned && v < 0; /* 2^63 and more */
    if (t == PTO_U64) return !is_unsigned && v < 0 ? 0 : v;
    if (huge || v > hi) return hi;
    return v < lo ? lo : v;
}

enum { PIECE = 64 };

static void convert_from_int(pto_dtype to_type, void *to, int64_t to_stride, pto_dtype from_type, int64_t *ints,
                             size_t n, round_mode mode, bool saturate)
{
    const bool is_unsigned = element_is_unsigned(from_type);
    if (element_is_float(to_type)) {
        for (size_t i = 0; i < n; i++)
            ints[i] = (int64_t)element_encode(to_type, f64_odd_from_int(ints[i], is_unsigned), mode, saturate);
        element_write_i64(element_bits_type(to_type), to, to_stride, n, ints);
        return;
    }
    if (saturate && to_type != PTO_BOOL) {
        for (size_t i = 0; i < n; i++) ints[i] = clamp_int(ints[i], is_unsigned, to_type);
    }
    element_write_i64(to_type, to, to_stride, n, ints);
}

static void convert_from_float(pto_dtype to_type, void *to, int64_t to_stride, const double *from, size_t n,
                               round_mode mode, bool saturate)
{
    int64_t ints[PIECE];
    if (to_type == PTO_BOOL) {
        for (size_t i = 0; i < n; i++) ints[i] = from[i] != 0;
    } else if (element_is_float(to_type)) {
        for (size_t i = 0; i < n; i++) ints[i] = (int64_t)element_encode(to_type, from[i], mode, saturate);
    } else {
        for (size_t i = 0; i < n; i++) ints[i] = int_from_f64(from[i], to_type, mode, saturate);
    }
    element_write_i64(element_bits_type(to_type), to, to_stride, n, ints);
}

static void convert_piece(pto_dtype to_type, void *to, int64_t to_stride, pto_dtype from_type, const void *from,
                          int64_t from_stride, size_t n, round_mode mode, bool saturate)
{
    double floats[PIECE];
    int64_t ints[PIECE];
    float narrow[PIECE];
    if (!element_is_float(from_type)) {
        element_read_i64(from_type, from, from_stride, n, ints);
        convert_from_int(to_type, to, to_stride, from_type, ints, n, mode, saturate);
    } else if (element_is_float(to_type) && mode <= ROUND_RINT && !saturate && to_type != from_type) {
        element_read_f32(from_type, from, from_stride, n, narrow);
        element_write_f32(to_type, to, to_stride, n, narrow);
    } else {
        element_read_f64(from_type, from, from_stride, n, floats);
        if (from_type == to_type) {
            for (size_t i = 0; i < n; i++) floats[i] = element_round_integral(floats[i], mode);
        }
        convert_from_float(to_type, to, to_stride, floats, n, mode, saturate);
    }
}

/* Whether one float type has an infinity and all numbers of another, so that nothing overflows. */
static bool widens(pto_dtype to, pto_dtype from)
{
    if (!element_is_float(to) || !element_is_float(from) || to == PTO_F8E8M0) return false;
    const double largest = from == PTO_F8E8M0 ? 0x1p127 : element_decode(from, formats[from].max_bits);
    return largest <= element_decode(to, formats[to].max_bits);
}

void element_convert(pto_dtype to_type, void *to, int64_t to_stride, pto_dtype from_type, const void *from,
                     int64_t from_stride, size_t n, round_mode mode, bool saturate, bool integral)
{
    if (to_type == from_type && (!element_is_float(to_type) || !integral || mode == ROUND_NONE)) {
        element_copy(element_bytes(to_type), to, to_stride, from, from_stride, n);
        return;
    }
    if (saturate && widens(to_type, from_type)) saturate = false;
    uint8_t *p = to;
    const uint8_t *q = from;
    while (n) {
        const size_t k = n < PIECE ? n : PIECE;
        convert_piece(to_type, p, to_stride, from_type, q, from_stride, k, mode, saturate);
        p += (ptrdiff_t)k * to_stride * (ptrdiff_t)element_bytes(to_type);
        q += (ptrdiff_t)k * from_stride * (ptrdiff_t)element_bytes(from_type);
        n -= k;
    }
}

uint64_t element_from_number(pto_dtype t, number x, bool saturate)
{
    uint64_t bits = 0;
    if (x.is_int) {
        element_convert(t, &bits, 1, PTO_I64, &x.i, 1, 1, ROUND_RINT, saturate, false);
    } else if (element_is_float(t)) {
        bits = element_encode(t, x.f, ROUND_RINT, false);
    } else if (t == PTO_BOOL) {
        bits = x.f != 0;
    } else {
        const int64_t v = int_from_f64(x.f, t, ROUND_RINT, saturate);
        memcpy(&bits, &v, sizeof bits);
        if (element_bytes(t) < 8) bits &= (UINT64_C(1) << 8 * element_bytes(t)) - 1;
    }
    return bits;
}
