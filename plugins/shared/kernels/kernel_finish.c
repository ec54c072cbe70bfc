/* What becomes of sums: bias, scales, activation, conversion. */
#include "kernel_load.h"

#include <math.h>

/* Nearest even; a NaN becomes the quiet one. */
static uint16_t bf16_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The sum with 0.5 rounds at the last place of a subnormal. */
static uint16_t f16_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7e00;
    if (magnitude >= 0x47800000) return (uint16_t)(sign | 0x7c00); /* 65536 and above */
    if (magnitude < 0x38800000) {                                  /* below 2^-14 */
        const float shifted = kernel_float_of_bits(magnitude) + 0.5F;
        uint32_t rounded;
        memcpy(&rounded, &shifted, sizeof rounded);
        return (uint16_t)(sign | (rounded - 0x3f000000));
    }
    return (uint16_t)(sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

static int32_t clamped(float value, float low, float high)
{
    if (isnan(value)) return 0;
    if (value <= low) return (int32_t)low;
    /* 2^31 is the float that stands for the highest i32. */
    if (value >= high) return high >= 0x1p31F ? INT32_MAX : (int32_t)high;
    return (int32_t)rintf(value);
}

static int64_t bytes_of(pto_dtype out)
{
    if (out == PTO_F32 || out == PTO_I32) return 4;
    return out == PTO_BF16 || out == PTO_F16 ? 2 : 1;
}

static void write_f32(pto_dtype out, float value, char *to)
{
    int32_t number;
    uint16_t bits;
    switch (out) {
    case PTO_F32: memcpy(to, &value, sizeof value); return;
    case PTO_BF16: bits = bf16_of(value); break;
    case PTO_F16: bits = f16_of(value); break;
    case PTO_I32:
        number = clamped(value, -0x1p31F, 0x1p31F);
        memcpy(to, &number, sizeof number);
        return;
    case PTO_U8: *(uint8_t *)to = (uint8_t)clamped(value, 0, 255); return;
    default: *(int8_t *)to = (int8_t)clamped(value, -128, 127); return;
    }
    memcpy(to, &bits, sizeof bits);
}

static void write_i32(pto_dtype out, int32_t value, char *to)
{
    if (out == PTO_I32)
        memcpy(to, &value, sizeof value);
    else if (out == PTO_I8)
        *(int8_t *)to = (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
    else if (out == PTO_U8)
        *(uint8_t *)to = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    else
        write_f32(out, (float)value, to);
}

static int32_t load_i32(const void *from, int64_t at)
{
    int32_t value;
    memcpy(&value, (const char *)from + at * (int64_t)sizeof value, sizeof value);
    return value;
}

/* In f32, as soon as there is a scale or the sums are of f32. */
static void finish_f32(const pto_contraction_finish *f, pto_dtype acc, int64_t row, int64_t column, int64_t n,
                       const void *c, char *to)
{
    const float row_scale = f->row_scale != NULL ? load_f32(f->row_scale, row) : 1;
    for (int64_t j = 0; j < n; j++) {
        float value;
        if (acc == PTO_F32) {
            value = load_f32(c, j);
            if (f->bias != NULL) value += load_f32(f->bias, column + j);
        } else {
            const uint32_t bias = f->bias != NULL ? (uint32_t)load_i32(f->bias, column + j) : 0;
            value = (float)(int32_t)((uint32_t)load_i32(c, j) + bias);
        }
        if (f->row_scale != NULL) value *= row_scale;
        if (f->column_scale != NULL) value *= load_f32(f->column_scale, column + j);
        if (f->relu && value < 0) value = 0;
        write_f32(f->out, value, to + j * bytes_of(f->out));
    }
}

static void finish_i32(const pto_contraction_finish *f, int64_t column, int64_t n, const void *c, char *to)
{
    for (int64_t j = 0; j < n; j++) {
        const uint32_t bias = f->bias != NULL ? (uint32_t)load_i32(f->bias, column + j) : 0;
        int32_t value = (int32_t)((uint32_t)load_i32(c, j) + bias);
        if (f->relu && value < 0) value = 0;
        write_i32(f->out, value, to + j * bytes_of(f->out));
    }
}

void contraction_finish(const pto_contraction_finish *finish, pto_dtype acc, int64_t row, int64_t column, int64_t m,
                        int64_t n, const void *c, int64_t c_row_stride)
{
    const bool in_f32 = acc == PTO_F32 || finish->row_scale != NULL || finish->column_scale != NULL;
    for (int64_t i = 0; i < m; i++) {
        const char *const from = (const char *)c + 4 * i * c_row_stride;
        char *const to = (char *)finish->to + ((row + i) * finish->to_row_stride + column) * bytes_of(finish->out);
        if (in_f32)
            finish_f32(finish, acc, row + i, column, n, from, to);
        else
            finish_i32(finish, column, n, from, to);
    }
}
