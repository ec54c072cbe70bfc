/* Element types: how C holds one in memory and in a variable, and conversions between them.
 *
 * Floats of any size are `float` in variables, which then holds what the narrow type can. A mask is a byte of 0 or 1
 * for each element. */
#include "c_types.h"
#include "emit.h"
#include "float_bits.h"

#include <math.h>
#include <stdlib.h>

static int bits_of(pto_dtype t) { return (int)(8 * pto_dtype_bytes(t)); }

const char *emit_memory_type(pto_dtype t)
{
    if (t == PTO_F32) return "float";
    if (t == PTO_MASK || pto_dtype_is_float(t)) return c_integer_of(pto_dtype_bytes(t), 0);
    return c_integer_type(t);
}

const char *emit_lane_type(pto_dtype t) { return pto_dtype_is_float(t) ? "float" : emit_memory_type(t); }
const char *emit_type_name(pto_dtype t) { return pto_dtype_name(t == PTO_INDEX ? PTO_I64 : t); }

static int is_narrow(pto_dtype t) { return pto_dtype_is_float(t) && t != PTO_F32; }

const char *emit_read(emitter *e, pto_dtype t, const char *at)
{
    return is_narrow(t) ? emit_format(e, "pto_%s_load_1(%s)", emit_type_name(t), at) : at;
}

const char *emit_write(emitter *e, pto_dtype t, const char *value)
{
    return is_narrow(t) ? emit_format(e, "pto_%s_store_1(%s)", emit_type_name(t), value) : value;
}

const char *emit_rounded(emitter *e, pto_dtype t, const char *value)
{
    if (pto_dtype_is_half_float(t)) return emit_format(e, "pto_%s_round_1(%s)", emit_type_name(t), value);
    return value;
}

/* To any float type, nearest even. */
static const char *rounded_any(emitter *e, pto_dtype t, const char *value)
{
    if (!pto_dtype_is_byte_float(t)) return emit_rounded(e, t, value);
    return emit_format(e, "pto_%s_load_1(pto_%s_store_1(%s))", emit_type_name(t), emit_type_name(t), value);
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

const char *emit_number(emitter *e, pto_dtype t, pto_attr number, int saturates)
{
    const int is_float = pto_attr_kind_of(number) == PTO_ATTR_FLOAT;
    if (!is_float) {
        const int64_t v = pto_attr_i64(number);
        if (!pto_dtype_is_float(t)) return emit_convert(e, t, PTO_I64, int_text(e, v), 1, saturates, 0);
        return float_text(e, (double)float_bits_rounded(t, pto_cast_from_int(v, 0)));
    }
    const double x = pto_attr_f64(number);
    if (pto_dtype_is_float(t)) return float_text(e, (double)float_bits_rounded(t, x));
    return int_text(e, pto_cast_to_int(x, bits_of(t), !c_type_is_signed(t), PTO_CAST_RINT, saturates));
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
    return to != PTO_F8E8M0 && pto_dtype_is_float(from) && pto_dtype_float_max(from) <= pto_dtype_float_max(to);
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
                           : emit_format(e, "pto_cast_encode(pto_format_%s, %s, PTO_CAST_%s, %d)", emit_type_name(to),
                                         x, modes[mode], saturates);
    if (to == PTO_F32) return emit_format(e, "pto_float_of_bits(%s)", bits);
    return emit_format(e, "pto_%s_load_1((%s)%s)", emit_type_name(to), emit_memory_type(to), bits);
}

static const char *from_int(emitter *e, pto_dtype to, pto_dtype from, const char *v, int mode, int saturates)
{
    const int from_unsigned = !c_type_is_signed(from);
    if (to == PTO_BOOL || to == PTO_MASK) return emit_format(e, "(uint8_t)(%s != 0)", v);
    if (!pto_dtype_is_float(to)) {
        if (!saturates) return emit_format(e, "(%s)%s", emit_lane_type(to), v);
        return emit_format(e, "(%s)pto_cast_clamp((int64_t)%s, %d, %d, %d)", emit_lane_type(to), v, from_unsigned,
                           bits_of(to), !c_type_is_signed(to));
    }
    if (mode <= 1 && (to == PTO_F32 || (bits_of(from) <= 16 && !saturates)))
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
        return emit_format(e, "(%s)pto_cast_to_int((double)%s, %d, %d, PTO_CAST_%s, %d)", emit_lane_type(to), value,
                           bits_of(to), !c_type_is_signed(to), modes[mode], saturates);
    if (to == from) {
        static const char *const whole[] = {"", "rintf", "roundf", "floorf", "ceilf", "truncf", NULL};
        if (mode <= 5) return emit_format(e, "__builtin_%s(%s)", whole[mode], value);
        return emit_format(e, "(float)pto_cast_integral((double)%s, PTO_CAST_ODD)", value);
    }
    if (mode <= 1 && !saturates) return rounded_any(e, to, value);
    return encoded(e, to, emit_format(e, "(double)%s", value), mode, saturates);
}
