/* Element types: how C holds one in memory and in a variable, and conversions between them.
 *
 * Floats of any size are `float` in variables, which then holds what the narrow type can. A mask is a byte of 0 or 1
 * for each element. */
#include "emit.h"

#include <pto/native.h>

#include <math.h>
#include <stdlib.h>

typedef struct type_row {
    const char *memory, *lane, *name; /* name: part of the functions of <pto/native.h> */
    int bits;
} type_row;

static const type_row types[PTO_DTYPE_COUNT] = {
    [PTO_F32] = {"float", "float", "f32", 32},        [PTO_F16] = {"uint16_t", "float", "f16", 16},
    [PTO_BF16] = {"uint16_t", "float", "bf16", 16},   [PTO_F8E4M3] = {"uint8_t", "float", "f8e4m3", 8},
    [PTO_F8E5M2] = {"uint8_t", "float", "f8e5m2", 8}, [PTO_F8E8M0] = {"uint8_t", "float", "f8e8m0", 8},
    [PTO_I8] = {"int8_t", "int8_t", "i8", 8},         [PTO_I16] = {"int16_t", "int16_t", "i16", 16},
    [PTO_I32] = {"int32_t", "int32_t", "i32", 32},    [PTO_I64] = {"int64_t", "int64_t", "i64", 64},
    [PTO_U8] = {"uint8_t", "uint8_t", "u8", 8},       [PTO_U16] = {"uint16_t", "uint16_t", "u16", 16},
    [PTO_U32] = {"uint32_t", "uint32_t", "u32", 32},  [PTO_U64] = {"uint64_t", "uint64_t", "u64", 64},
    [PTO_BOOL] = {"uint8_t", "uint8_t", "bool", 8},   [PTO_INDEX] = {"int64_t", "int64_t", "i64", 64},
    [PTO_MASK] = {"uint8_t", "uint8_t", "mask", 8},
};

const char *emit_memory_type(pto_dtype t) { return t < PTO_DTYPE_COUNT ? types[t].memory : NULL; }
const char *emit_lane_type(pto_dtype t) { return t < PTO_DTYPE_COUNT ? types[t].lane : NULL; }
const char *emit_type_name(pto_dtype t) { return types[t].name; }

static int is_narrow(pto_dtype t) { return pto_dtype_is_float(t) && t != PTO_F32; }
static int is_unsigned(pto_dtype t)
{
    return t == PTO_U8 || t == PTO_U16 || t == PTO_U32 || t == PTO_U64 || t == PTO_BOOL || t == PTO_MASK;
}

const char *emit_read(emitter *e, pto_dtype t, const char *at)
{
    return is_narrow(t) ? emit_format(e, "pto_%s_load_1(%s)", types[t].name, at) : at;
}

const char *emit_write(emitter *e, pto_dtype t, const char *value)
{
    return is_narrow(t) ? emit_format(e, "pto_%s_store_1(%s)", types[t].name, value) : value;
}

const char *emit_rounded(emitter *e, pto_dtype t, const char *value)
{
    if (t == PTO_F16 || t == PTO_BF16) return emit_format(e, "pto_%s_round_1(%s)", types[t].name, value);
    return value;
}

/* To any float type, nearest even. */
static const char *rounded_any(emitter *e, pto_dtype t, const char *value)
{
    if (t == PTO_F32 || t == PTO_F16 || t == PTO_BF16) return emit_rounded(e, t, value);
    return emit_format(e, "pto_%s_load_1(pto_%s_store_1(%s))", types[t].name, types[t].name, value);
}

/* ---- numbers ---- */

static const char *float_text(emitter *e, double x)
{
    if (x != x) return "__builtin_nanf(\"\")";
    if (isinf(x)) return x > 0 ? "__builtin_inff()" : "-__builtin_inff()";
    const char *digits = emit_format(e, "%.9g", x);
    if ((double)strtof(digits, NULL) != x) digits = emit_format(e, "%.17g", x);
    const int is_whole = strpbrk(digits, ".en") == NULL;
    return emit_format(e, is_whole ? "%s.0f" : "%sf", digits);
}

static const char *int_text(emitter *e, int64_t v)
{
    if (v == INT64_MIN) return "INT64_MIN";
    return emit_format(e, v > INT32_MAX || v < INT32_MIN ? "INT64_C(%lld)" : "%lld", (long long)v);
}

/* What a number of an attribute is in a narrow float type. */
static float narrowed(pto_dtype t, double x)
{
    switch (t) {
    case PTO_F16: return pto_f16_load_1((uint16_t)pto_cast_encode(pto_format_f16, x, PTO_CAST_RINT, 0));
    case PTO_BF16: return pto_bf16_load_1((uint16_t)pto_cast_encode(pto_format_bf16, x, PTO_CAST_RINT, 0));
    case PTO_F8E4M3: return pto_f8e4m3_load_1((uint8_t)pto_cast_encode(pto_format_f8e4m3, x, PTO_CAST_RINT, 0));
    case PTO_F8E5M2: return pto_f8e5m2_load_1((uint8_t)pto_cast_encode(pto_format_f8e5m2, x, PTO_CAST_RINT, 0));
    case PTO_F8E8M0: return pto_f8e8m0_load_1((uint8_t)pto_cast_encode_f8e8m0(x, PTO_CAST_RINT, 0));
    default: return (float)x;
    }
}

const char *emit_number(emitter *e, pto_dtype t, pto_attr number, int saturates)
{
    const int is_float = pto_attr_kind_of(number) == PTO_ATTR_FLOAT;
    if (!is_float) {
        const int64_t v = pto_attr_i64(number);
        if (!pto_dtype_is_float(t)) return emit_convert(e, t, PTO_I64, int_text(e, v), 1, saturates, 0);
        return float_text(e, (double)narrowed(t, pto_cast_from_int(v, 0)));
    }
    const double x = pto_attr_f64(number);
    if (pto_dtype_is_float(t)) return float_text(e, (double)narrowed(t, x));
    return int_text(e, pto_cast_to_int(x, types[t].bits, is_unsigned(t), PTO_CAST_RINT, saturates));
}

/* ---- conversions ---- */

static const char *const modes[] = {"NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD"};
static const char *const mode_words[] = {"none", "rint", "round", "floor", "ceil", "trunc", "odd", NULL};

int emit_cast_mode(pto_op op)
{
    const pto_str word = pto_attr_str_of(op, PTO_STR("mode"));
    int i = 0;
    while (mode_words[i] != NULL && !pto_str_is(word, mode_words[i])) i++;
    return mode_words[i] != NULL ? i : 1;
}

/* Whether one float type has an infinity and all numbers of another: then nothing is clamped. */
static int widens(pto_dtype to, pto_dtype from)
{
    static const int range[PTO_DTYPE_COUNT] = {
        [PTO_F8E4M3] = 1, [PTO_F8E5M2] = 2, [PTO_F16] = 3, [PTO_F8E8M0] = 4, [PTO_BF16] = 5, [PTO_F32] = 6};
    return to != PTO_F8E8M0 && range[from] != 0 && range[from] <= range[to];
}

int emit_cast_saturates(pto_op op, pto_dtype to, pto_dtype from)
{
    return pto_attr_bool_of(op, PTO_STR("saturate"), 0) && !widens(to, from);
}

/* `x`: a double. */
static const char *encoded(emitter *e, pto_dtype to, const char *x, int mode, int saturates)
{
    const char *bits = to == PTO_F8E8M0
                           ? emit_format(e, "pto_cast_encode_f8e8m0(%s, PTO_CAST_%s, %d)", x, modes[mode], saturates)
                           : emit_format(e, "pto_cast_encode(pto_format_%s, %s, PTO_CAST_%s, %d)", types[to].name, x,
                                         modes[mode], saturates);
    if (to == PTO_F32) return emit_format(e, "pto_float_of_bits(%s)", bits);
    return emit_format(e, "pto_%s_load_1((%s)%s)", types[to].name, types[to].memory, bits);
}

static const char *from_int(emitter *e, pto_dtype to, pto_dtype from, const char *v, int mode, int saturates)
{
    const int from_unsigned = is_unsigned(from);
    if (to == PTO_BOOL || to == PTO_MASK) return emit_format(e, "(uint8_t)(%s != 0)", v);
    if (!pto_dtype_is_float(to)) {
        if (!saturates) return emit_format(e, "(%s)%s", types[to].lane, v);
        return emit_format(e, "(%s)pto_cast_clamp((int64_t)%s, %d, %d, %d)", types[to].lane, v, from_unsigned,
                           types[to].bits, is_unsigned(to));
    }
    if (mode <= 1 && (to == PTO_F32 || (types[from].bits <= 16 && !saturates)))
        return rounded_any(e, to, emit_format(e, "(float)%s", v));
    return encoded(e, to, emit_format(e, "pto_cast_from_int((int64_t)%s, %d)", v, from_unsigned), mode, saturates);
}

const char *emit_convert(emitter *e, pto_dtype to, pto_dtype from, const char *value, int mode, int saturates,
                         int integral)
{
    if (to == from && (!pto_dtype_is_float(to) || !integral || mode == 0)) return value;
    if (!pto_dtype_is_float(from)) return from_int(e, to, from, value, mode, saturates);
    if (to == PTO_BOOL || to == PTO_MASK) return emit_format(e, "(uint8_t)(%s != 0)", value);
    if (!pto_dtype_is_float(to))
        return emit_format(e, "(%s)pto_cast_to_int((double)%s, %d, %d, PTO_CAST_%s, %d)", types[to].lane, value,
                           types[to].bits, is_unsigned(to), modes[mode], saturates);
    if (to == from) {
        static const char *const whole[] = {"", "rintf", "roundf", "floorf", "ceilf", "truncf", NULL};
        if (mode <= 5) return emit_format(e, "__builtin_%s(%s)", whole[mode], value);
        return emit_format(e, "(float)pto_cast_integral((double)%s, PTO_CAST_ODD)", value);
    }
    if (mode <= 1 && !saturates) return rounded_any(e, to, value);
    return encoded(e, to, emit_format(e, "(double)%s", value), mode, saturates);
}
