#include "semantics/element.h"

#include <math.h>
#include <string.h>

enum { ELEMENT_INDEX = ELEMENT_SINT, ELEMENT_OPAQUE = ELEMENT_NONE };
static const uint8_t classes[PTO_DTYPE_COUNT] = {
#define DTYPE(ID, text, bits, class, ...) [PTO_##ID] = (uint8_t)ELEMENT_##class,
#include <pto/ops/types.def>
};

element_class element_class_of(pto_dtype t) { return t < PTO_DTYPE_COUNT ? (element_class)classes[t] : ELEMENT_NONE; }
size_t element_bytes(pto_dtype t) { return (size_t)pto_dtype_bytes(t); }
bool element_is_float(pto_dtype t) { return element_class_of(t) == ELEMENT_FLOAT; }
bool element_is_wide_float(pto_dtype t) { return element_is_float(t) && !pto_dtype_is_byte_float(t); }

bool element_is_unsigned(pto_dtype t)
{
    const element_class c = element_class_of(t);
    return c == ELEMENT_UINT || c == ELEMENT_BOOL;
}

pto_dtype element_bits_type(pto_dtype t)
{
    switch (element_bytes(t)) {
    case 1: return PTO_U8;
    case 2: return PTO_U16;
    case 4: return PTO_U32;
    case 8: return PTO_U64;
    default: return PTO_DTYPE_NONE;
    }
}

int64_t element_int_min(pto_dtype t)
{
    return element_class_of(t) == ELEMENT_SINT ? INT64_MIN >> (64 - 8 * element_bytes(t)) : 0;
}

int64_t element_int_max(pto_dtype t)
{
    switch (element_class_of(t)) {
    case ELEMENT_SINT: return INT64_MAX >> (64 - 8 * element_bytes(t));
    case ELEMENT_UINT: return (int64_t)(UINT64_MAX >> (64 - 8 * element_bytes(t)));
    case ELEMENT_BOOL: return 1;
    case ELEMENT_FLOAT:
    case ELEMENT_NONE: break;
    }
    return 0;
}

number number_from_int(int64_t i) { return (number){.is_int = true, .i = i}; }
number number_from_float(double f) { return (number){.f = f}; }

static float float_from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_from_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Elements are loaded and stored bytewise: any alignment. */
#define LOAD(TYPE)                                   \
    static inline TYPE load_##TYPE(const uint8_t *p) \
    {                                                \
        TYPE v;                                      \
        memcpy(&v, p, sizeof v);                     \
        return v;                                    \
    }
#define STORE(TYPE) \
    static inline void store_##TYPE(uint8_t *p, TYPE v) { memcpy(p, &v, sizeof v); }
LOAD(int8_t)
LOAD(int16_t)
LOAD(int32_t)
LOAD(int64_t)
LOAD(uint16_t)
LOAD(uint32_t)
LOAD(uint64_t)
LOAD(float)
STORE(uint16_t)
STORE(uint32_t)
STORE(uint64_t)
STORE(float)
#undef STORE
#undef LOAD

static inline float f32_from_f16(uint16_t h)
{
    uint32_t bits = (uint32_t)(h & 0x7fff) << 13;
    if ((h & 0x7c00) == 0x7c00) {
        bits |= 0x7f800000;
    } else {
        bits = bits_from_float(float_from_bits(bits) * 0x1p112f);
    }
    return float_from_bits(bits | (uint32_t)(h & 0x8000) << 16);
}

static inline uint16_t f16_from_f32(float f)
{
    const uint32_t bits = bits_from_float(f), sign = bits >> 16 & 0x8000;
    uint32_t a = bits & 0x7fffffff;
    if (a > 0x7f800000) return 0x7e00;
    if (a >= 0x477ff000) { /* 65520 is half way to what would be the next value */
        a = 0x7c00;
    } else if (a < 0x38800000) {
        /* One ulp of 0.5 is the smallest f16 subnormal: the addition rounds. */
        a = bits_from_float(float_from_bits(a) + 0.5F) - 0x3f000000;
    } else {
        a = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
    }
    return (uint16_t)(sign | a);
}

static inline float f32_from_bf16(uint16_t h) { return float_from_bits((uint32_t)h << 16); }

static inline uint16_t bf16_from_f32(float f)
{
    const uint32_t bits = bits_from_float(f);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float f32_from_f8e4m3(uint8_t b)
{
    if ((b & 0x7f) == 0x7f) return float_from_bits(0x7fc00000 | (uint32_t)(b & 0x80) << 24);
    return float_from_bits((uint32_t)(b & 0x80) << 24 |
                           bits_from_float(float_from_bits((uint32_t)(b & 0x7f) << 20) * 0x1p120f));
}

static float f32_from_f8e8m0(uint8_t b)
{
    if (b == 0xff) return float_from_bits(0x7fc00000);
    return b == 0 ? 0x1p-127f : float_from_bits((uint32_t)b << 23);
}

/* The nearest f32, but with an odd last bit when inexact, so that a second rounding to fewer than 23 bits is as exact
 * as one. Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums". */
static inline float f32_odd_from_f64(double x)
{
    const float f = (float)x;
    if ((double)f == x || f != f) return f;
    const uint32_t bits = bits_from_float(f);
    if (bits & 1) return f;
    return float_from_bits(fabs((double)f) > fabs(x) ? bits - 1 : bits + 1);
}

static inline float f32_canonical(float f) { return f != f ? float_from_bits(0x7fc00000) : f; }

#define EACH_ELEMENT(TYPE, p, statement)                                   \
    do {                                                                   \
        if (stride == 1) {                                                 \
            for (size_t i = 0; i < n; i++, (p) += sizeof(TYPE)) statement; \
        } else {                                                           \
            for (size_t i = 0; i < n; i++, (p) += step) statement;         \
        }                                                                  \
    } while (0)

void element_read_f32(pto_dtype t, const void *from, int64_t stride, size_t n, float *out)
{
    const uint8_t *p = from;
    const ptrdiff_t step = stride * (ptrdiff_t)element_bytes(t);
    switch (t) {
    case PTO_F32:
        if (stride == 1) {
            if (n) memcpy(out, from, n * sizeof *out);
        } else {
            for (size_t i = 0; i < n; i++, p += step) out[i] = load_float(p);
        }
        break;
    case PTO_F16: EACH_ELEMENT(uint16_t, p, out[i] = f32_from_f16(load_uint16_t(p))); break;
    case PTO_BF16: EACH_ELEMENT(uint16_t, p, out[i] = f32_from_bf16(load_uint16_t(p))); break;
    case PTO_F8E4M3: EACH_ELEMENT(uint8_t, p, out[i] = f32_from_f8e4m3(*p)); break;
    case PTO_F8E5M2: EACH_ELEMENT(uint8_t, p, out[i] = f32_from_f16((uint16_t)(*p << 8))); break;
    case PTO_F8E8M0: EACH_ELEMENT(uint8_t, p, out[i] = f32_from_f8e8m0(*p)); break;
    default:
        if (element_bytes(t) == 2)
            EACH_ELEMENT(uint16_t, p, out[i] = (float)element_decode(t, load_uint16_t(p)));
        else
            EACH_ELEMENT(uint8_t, p, out[i] = (float)element_decode(t, *p));
        break;
    }
}

void element_read_f64(pto_dtype t, const void *from, int64_t stride, size_t n, double *out)
{
    const uint8_t *p = from;
    const ptrdiff_t step = stride * (ptrdiff_t)element_bytes(t);
    switch (t) {
    case PTO_F32: EACH_ELEMENT(float, p, out[i] = (double)load_float(p)); return;
    case PTO_U64: EACH_ELEMENT(uint64_t, p, out[i] = (double)load_uint64_t(p)); return;
    default: break;
    }
    while (n) {
        enum { PIECE = 64 };
        const size_t k = n < PIECE ? n : PIECE;
        if (element_is_float(t)) {
            float piece[PIECE] = {0};
            element_read_f32(t, p, stride, k, piece);
            for (size_t i = 0; i < k; i++) out[i] = (double)piece[i];
        } else {
            int64_t piece[PIECE];
            element_read_i64(t, p, stride, k, piece);
            for (size_t i = 0; i < k; i++) out[i] = (double)piece[i];
        }
        p += step * (ptrdiff_t)k;
        out += k;
        n -= k;
    }
}

void element_read_i64(pto_dtype t, const void *from, int64_t stride, size_t n, int64_t *out)
{
    const uint8_t *p = from;
    const ptrdiff_t step = stride * (ptrdiff_t)element_bytes(t);
    switch (t) {
    case PTO_I8: EACH_ELEMENT(int8_t, p, out[i] = load_int8_t(p)); break;
    case PTO_I16: EACH_ELEMENT(int16_t, p, out[i] = load_int16_t(p)); break;
    case PTO_I32: EACH_ELEMENT(int32_t, p, out[i] = load_int32_t(p)); break;
    case PTO_I64:
    case PTO_U64:
    case PTO_INDEX: EACH_ELEMENT(int64_t, p, out[i] = load_int64_t(p)); break;
    case PTO_U8: EACH_ELEMENT(uint8_t, p, out[i] = *p); break;
    case PTO_U16: EACH_ELEMENT(uint16_t, p, out[i] = load_uint16_t(p)); break;
    case PTO_U32: EACH_ELEMENT(uint32_t, p, out[i] = load_uint32_t(p)); break;
    case PTO_BOOL: EACH_ELEMENT(uint8_t, p, out[i] = *p != 0); break;
    default: break;
    }
}

number element_number(pto_dtype t, const void *from)
{
    int64_t i = 0;
    double f = 0;
    if (element_is_float(t)) {
        element_read_f64(t, from, 1, 1, &f);
        return number_from_float(f);
    }
    element_read_i64(t, from, 1, 1, &i);
    return number_from_int(i);
}

/* Encodes x, which may depend on i, as each element in turn, of a type of one or two bytes. */
#define EACH_ENCODED(t, p, x)                                                                                \
    do {                                                                                                     \
        if (element_bytes(t) == 2)                                                                           \
            EACH_ELEMENT(uint16_t, p, store_uint16_t(p, (uint16_t)element_encode(t, x, ROUND_RINT, false))); \
        else                                                                                                 \
            EACH_ELEMENT(uint8_t, p, *(p) = (uint8_t)element_encode(t, x, ROUND_RINT, false));               \
    } while (0)

void element_write_f32(pto_dtype t, void *to, int64_t stride, size_t n, const float *from)
{
    uint8_t *p = to;
    const ptrdiff_t step = stride * (ptrdiff_t)element_bytes(t);
    switch (t) {
    case PTO_F32: EACH_ELEMENT(float, p, store_float(p, f32_canonical(from[i]))); break;
    case PTO_F16: EACH_ELEMENT(uint16_t, p, store_uint16_t(p, f16_from_f32(from[i]))); break;
    case PTO_BF16: EACH_ELEMENT(uint16_t, p, store_uint16_t(p, bf16_from_f32(from[i]))); break;
    default: EACH_ENCODED(t, p, (double)from[i]); break;
    }
}

void element_write_f64(pto_dtype t, void *to, int64_t stride, size_t n, const double *from)
{
    uint8_t *p = to;
    const ptrdiff_t step = stride * (ptrdiff_t)element_bytes(t);
    switch (t) {
    case PTO_F32: EACH_ELEMENT(float, p, store_float(p, f32_canonical((float)from[i]))); break;
    case PTO_F16: EACH_ELEMENT(uint16_t, p, store_uint16_t(p, f16_from_f32(f32_odd_from_f64(from[i])))); break;
    case PTO_BF16: EACH_ELEMENT(uint16_t, p, store_uint16_t(p, bf16_from_f32(f32_odd_from_f64(from[i])))); break;
    default: EACH_ENCODED(t, p, from[i]); break;
    }
}

void element_write_i64(pto_dtype t, void *to, int64_t stride, size_t n, const int64_t *from)
{
    uint8_t *p = to;
    const ptrdiff_t step = stride * (ptrdiff_t)element_bytes(t);
    if (t == PTO_BOOL) {
        EACH_ELEMENT(uint8_t, p, *p = from[i] != 0);
        return;
    }
    switch (element_bytes(t)) {
    case 1: EACH_ELEMENT(uint8_t, p, *p = (uint8_t)from[i]); break;
    case 2: EACH_ELEMENT(uint16_t, p, store_uint16_t(p, (uint16_t)from[i])); break;
    case 4: EACH_ELEMENT(uint32_t, p, store_uint32_t(p, (uint32_t)from[i])); break;
    case 8: EACH_ELEMENT(uint64_t, p, store_uint64_t(p, (uint64_t)from[i])); break;
    default: break;
    }
}

void element_copy(size_t bytes, void *to, int64_t to_stride, const void *from, int64_t from_stride, size_t n)
{
    uint8_t *p = to;
    const uint8_t *q = from;
    if (n == 0) return;
    if (to_stride == 1 && from_stride == 1) {
        memmove(p, q, n * bytes);
        return;
    }
    const ptrdiff_t step = to_stride * (ptrdiff_t)bytes, from_step = from_stride * (ptrdiff_t)bytes;
    switch (bytes) {
    case 1:
        for (size_t i = 0; i < n; i++, p += step, q += from_step) *p = *q;
        break;
    case 2:
        for (size_t i = 0; i < n; i++, p += step, q += from_step) store_uint16_t(p, load_uint16_t(q));
        break;
    case 4:
        for (size_t i = 0; i < n; i++, p += step, q += from_step) store_uint32_t(p, load_uint32_t(q));
        break;
    default:
        for (size_t i = 0; i < n; i++, p += step, q += from_step) store_uint64_t(p, load_uint64_t(q));
        break;
    }
}

void element_round_f32(pto_dtype t, size_t n, float *values)
{
    switch (t) {
    case PTO_F32: break;
    case PTO_F16:
        for (size_t i = 0; i < n; i++) values[i] = f32_from_f16(f16_from_f32(values[i]));
        break;
    case PTO_BF16:
        for (size_t i = 0; i < n; i++) values[i] = f32_from_bf16(bf16_from_f32(values[i]));
        break;
    default:
        for (size_t i = 0; i < n; i++)
            values[i] = (float)element_decode(t, element_encode(t, (double)values[i], ROUND_RINT, false));
        break;
    }
}

bool element_relation_holds(pto_dtype t, pto_relation r, number a, number b)
{
    const uint64_t bits[2] = {element_from_number(t, a, false), element_from_number(t, b, false)};
    if (element_is_float(t)) {
        double x[2];
        for (int i = 0; i < 2; i++) element_read_f64(t, &bits[i], 1, 1, &x[i]);
        if (x[0] != x[0] || x[1] != x[1]) return r == PTO_RELATION_NE;
        return pto_relation_holds(r, (x[0] > x[1]) - (x[0] < x[1]), 0);
    }
    int64_t x[2];
    for (int i = 0; i < 2; i++) element_read_i64(t, &bits[i], 1, 1, &x[i]);
    const bool is_above = t == PTO_U64 ? (uint64_t)x[0] > (uint64_t)x[1] : x[0] > x[1];
    return pto_relation_holds(r, is_above - (x[0] != x[1] && !is_above), 0);
}
