/* Casts from and to floats of one byte, of integer ops on their bits.
 *
 *   f8e5m2 ->   the high byte of an f16
 *   f8e4m3 ->   bits of an f16 whose exponent is 8 too small; what would be 480 is NaN
 *   f8e8m0 ->   bits of an f32; 2^-127 is a denormal there
 *   -> f8e4m3 f8e5m2   of an f32 x: with u the exponent of x, or the least one of the type, x 2^(mantissa bits - u) is
 *               rounded to a whole number, as the cast says. That and u, which begins above the mantissa, add up to the
 *               bits of the result: a carry counts for the next exponent.
 *   -> f8e8m0   of an f32: half a step is added to its bits, and the exponent stays; signs are NaN
 *
 * Integers that f32 does not hold are rounded to odd before, which keeps what the last rounding goes by. */
#include "legalize_types.h"

#include "expand_steps.h"

#include <stdio.h>

static pto_dtype dtype_of(pto_value x) { return pto_type_dtype(pto_value_type(x)); }

/* Formulas of `a` in the shape of the cast's result. */
static pto_value formula_of(pto_op op, const char *text, pto_dtype numbers, pto_value a)
{
    const expand_operand given = {"a", a};
    return expand_formula(op, text, pto_value_type(pto_op_result(op, 0)), numbers, 1, &given, 0, NULL);
}

/* ---- from bytes ---- */

static pto_value float_of_byte(pto_op op, pto_value x)
{
    const pto_dtype from = dtype_of(x);
    const pto_value bits = legalize_reinterpret(op, x, PTO_U8, "_bits");
    if (from == PTO_F8E5M2) return formula_of(op, "n = cast:i16 a; n = shl n 8; y = bitcast:f16 n", PTO_I16, bits);
    if (from == PTO_F8E8M0)
        return formula_of(op,
                          "n = cast:i32 a; m = shl n 23; e = eq n 0; m = where e 4194304 m; e = eq n 255; "
                          "m = where e 2143289344 m; y = bitcast:f32 m",
                          PTO_I32, bits);
    const pto_value small = formula_of(op,
                                       "n = cast:i16 a; m = bitwise_and n 127; m = shl m 7; s = bitwise_and n 128; "
                                       "s = shl s 8; m = bitwise_or m s; y = bitcast:f16 m",
                                       PTO_I16, bits);
    return formula_of(op, "m = mul a 256; w = abs m; e = eq w 480; y = where e nan m", PTO_F16, small);
}

/* ---- to bytes ---- */

/* A number as f32, from which rounding once more is as rounding once. */
static pto_value as_f32(pto_op op, pto_value x)
{
    const pto_dtype from = dtype_of(x);
    const int is_wide = legalize_is_integer(from) && legalize_bits(from) >= 32;
    if (from == PTO_F32) return x;
    return formula_of(op, is_wide ? "y = cast:f32:odd a" : "y = cast:f32 a", PTO_F32, x);
}

static pto_value bytes_of_bits(pto_op op, pto_value bits, pto_dtype to)
{
    const pto_value bytes = formula_of(op, "h = cast:f16 a; y = cast:u8 h", PTO_I32, bits);
    return PTO_SOME(bytes) ? legalize_reinterpret(op, bytes, to, "") : bytes;
}

static pto_value to_power_of_two(pto_op op, pto_value x, const char *mode, int saturate)
{
    static const struct {
        const char *mode, *half_a_step; /* less one for a tie that goes to even */
    } halves[] = {{"rint", "t = shr m 23; t = bitwise_and t 1; t = add t 4194303; k = add m t"},
                  {"round", "k = add m 4194304"},
                  {"ceil", "k = add m 8388607"},
                  {"odd", "t = shr m 23; t = bitwise_and t 1; t = sub 1 t; t = mul t 8388607; k = add m t"}};
    char text[512];
    const char *half = "k = add m 0";
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (strcmp(halves[i].mode, mode) == 0) half = halves[i].half_a_step;
    (void)snprintf(text, sizeof text,
                   "n = bitcast:i32 a; d = shl n 1; d = bitwise_and d 8388607; e = le n 4194304; d = where e 0 d; "
                   "e = lt n 8388608; m = where e d n; %s; k = shr k 23; e = gt k 254; k = where e %d k; "
                   "e = lt n 0; k = where e 255 k; e = gt n 2139095040; y = where e 255 k",
                   half, saturate ? 254 : 255);
    return formula_of(op, text, PTO_I32, x);
}

static pto_value to_byte_float(pto_op op, pto_value x, const char *mode, int saturate)
{
    const int is_e4m3 = dtype_of(pto_op_result(op, 0)) == PTO_F8E4M3, mantissa = is_e4m3 ? 3 : 2;
    const int least = is_e4m3 ? 121 : 113, largest = is_e4m3 ? 0x7e : 0x7b, nan = is_e4m3 ? 0x7f : 0x7e;
    char text[640];
    (void)snprintf(text, sizeof text,
                   "n = bitcast:i32 a; m = bitwise_and n highest; u = shr m 23; u = maximum u %d; q = sub %d u; "
                   "q = shl q 23; q = bitcast:f32 q; v = mul a q; k = cast:i32:%s v; w = neg k; k = maximum k w; "
                   "u = sub u %d; u = shl u %d; k = add k u; e = gt k %d; k = where e %d k; e = ge m 2139095040; "
                   "k = where e %d k; s = shr n 24; s = bitwise_and s 128; k = bitwise_or k s; e = gt m 2139095040; "
                   "y = where e %d k",
                   least, 254 + mantissa, mode, least, mantissa, largest, largest + !saturate, largest + !saturate,
                   nan);
    return formula_of(op, text, PTO_I32, x);
}

pto_value legalize_float8_cast(pto_op op)
{
    char mode[16], text[32];
    const pto_value x = pto_op_operand(op, 0);
    const pto_dtype from = dtype_of(x), to = dtype_of(pto_op_result(op, 0));
    const pto_str given = pto_attr_str_of(op, PTO_STR("mode"));
    const int saturate = pto_attr_bool_of(op, PTO_STR("saturate"), 0);
    if (pto_dtype_is_byte_float(from)) {
        const pto_value number = float_of_byte(op, x);
        if (!PTO_SOME(number) || dtype_of(number) == to) return number;
        (void)snprintf(text, sizeof text, "@cast:%s a", pto_dtype_name(to));
        return formula_of(op, text, PTO_F32, number);
    }
    if (!pto_dtype_is_byte_float(to)) return pto_value_none(op.run);
    (void)snprintf(mode, sizeof mode, "%.*s", PTO_FMT(given.n == 0 ? PTO_STR("rint") : given));
    const pto_value wide = as_f32(op, x);
    if (!PTO_SOME(wide)) return wide;
    const pto_value bits =
        to == PTO_F8E8M0 ? to_power_of_two(op, wide, mode, saturate) : to_byte_float(op, wide, mode, saturate);
    return PTO_SOME(bits) ? bytes_of_bits(op, bits, to) : bits;
}
