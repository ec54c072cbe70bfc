/* Casts that no chain of exact steps makes, each in its own way, with the result of the cast for every value.
 *
 *   rounded to odd                          where the machine does not: cut; then the last bit is set where something
 *                                           was cut off
 *   i32 i64 -> f16 bf16                     f32 rounded to odd, which keeps what the last rounding goes by: it has more
 *                                           than two digits more than the result
 *   f32 bf16 i16 i32 i64 -> i8 u8, clamped  i16 clamped, then f16: that rounds beyond 2048, but to nothing below 2048
 *   the same, wrapped                       v in i16, wrapped; v - 256 floor((v + 128) / 256) is its lowest byte with a
 *                                           sign, v - 256 floor(v / 256) that without. What is not finite becomes 0 on
 *                                           the way, and x 0 as i16, 0 or -32768, brings its -128 or 255 back. */
#include "legalize_types.h"

#include "cast_options.h"
#include "expand_steps.h"
#include "machine_facts.h"

static pto_dtype dtype_of(pto_value x) { return pto_type_dtype(pto_value_type(x)); }

/* ---- making ops before the cast, named after its result ---- */

static pto_value cast(pto_op op, pto_value x, pto_dtype to, const char *suffix, const char *mode)
{
    const pto_run *run = op.run;
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_CAST));
    pto_spec_operand(&s, x);
    cast_put_options(&s, dtype_of(x), to, mode != NULL ? pto_s(mode) : pto_no_str(), 0);
    pto_spec_result(&s, pto_type_with_dtype(run, pto_value_type(x), to));
    pto_spec_name(&s, pto_name_after(op, pto_s(suffix)));
    pto_stat_add(run, STAT_CASTS, 1);
    return pto_spec_value(&s, pto_before(op));
}

/* With mode and saturation of the cast. */
static pto_value cast_as_given(pto_op op, pto_value x, pto_dtype to, const char *suffix)
{
    const legalize_chain c = {.count = 1, .to = {to}};
    return legalize_convert(op, x, &c, pto_name_after(op, pto_s(suffix)), op);
}

static pto_value binary(pto_op op, uint32_t kind, pto_value a, pto_value b)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, kind));
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    pto_spec_result(&s, pto_value_type(a));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_step")));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value by_number(pto_op op, uint32_t kind, pto_value a, double number)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_CONSTANT));
    pto_spec_float(&s, PTO_STR("value"), number);
    pto_spec_result(&s, pto_type_tensor(op.run, PTO_F32, 0, NULL));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_c")));
    return binary(op, kind, a, pto_spec_value(&s, pto_before(op)));
}

/* ---- rounding to odd ---- */

static int rounds_to_odd(const pto_run *run, pto_dtype from, pto_dtype to)
{
    return (from == PTO_I32 || from == PTO_I64) && pto_dtype_is_half_float(to) &&
           machine_converts(run, from, PTO_F32) && machine_converts(run, PTO_F32, to);
}

int legalize_must_round(pto_op op)
{
    const pto_dtype from = dtype_of(pto_op_operand(op, 0)), to = dtype_of(pto_op_result(op, 0));
    return pto_str_is(pto_attr_str_of(op, PTO_STR("mode")), "odd") && machine_converts(op.run, from, to) &&
           !machine_rounds_to_odd(op.run, pto_kind_by_name(op.run, PTO_STR("tile.cast")), from, to);
}

/* Of a number that the target has, or that is a whole one: nothing is rounded. */
static pto_value cast_exactly(pto_op op, pto_value x)
{
    const pto_dtype to = dtype_of(pto_op_result(op, 0));
    if (!PTO_SOME(x) || dtype_of(x) == to) return x;
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_CAST));
    pto_spec_operand(&s, x);
    cast_put_options(&s, dtype_of(x), to, PTO_STR("trunc"), pto_attr_bool_of(op, PTO_STR("saturate"), 0));
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("")));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value formula_of(pto_op op, const char *text, pto_dtype numbers, pto_value a)
{
    const expand_operand given = {"a", a};
    return expand_formula(op, text, pto_value_type(pto_op_result(op, 0)), numbers, 1, &given, 0, NULL);
}

pto_value legalize_rounded(pto_op op)
{
#define SET_LAST "e = eq t a; b = bitcast:i32 h; c = bitwise_or b 1; b = where e b c; y = bitcast:f32 b"
    static const char bf16[] = "b = bitcast:i32 a; c = bitwise_and b 65535; e = eq c 0; t = bitwise_and b -65536; "
                               "c = bitwise_or t 65536; b = where e t c; y = bitcast:f32 b";
    static const char whole[] = "h = trunc a; e = eq h a; g = mul h 0.5; k = trunc g; d = eq k g; "
                                "l = lt a 0; s = where l -1 1; n = add h s; n = where d n h; y = where e h n";
    const pto_value x = pto_op_operand(op, 0);
    const pto_dtype from = dtype_of(x), to = dtype_of(pto_op_result(op, 0));
    if (!pto_dtype_is_float(from) && to != PTO_F32)
        return cast_as_given(op, cast(op, x, PTO_F32, "_step", "odd"), to, "");
    if (from == PTO_I32) return formula_of(op, "h = cast:f32:trunc a; t = cast:i32 h; " SET_LAST, PTO_I32, x);
    if (from == PTO_I64) return formula_of(op, "h = cast:f32:trunc a; t = cast:i64 h; " SET_LAST, PTO_I32, x);
    const pto_value wide = from == PTO_F32 ? x : cast(op, x, PTO_F32, "_step", NULL);
    return cast_exactly(op,
                        to == PTO_BF16 ? formula_of(op, bf16, PTO_I32, wide) : formula_of(op, whole, PTO_F32, wide));
#undef SET_LAST
}

static pto_value through_odd(pto_op op)
{
    const pto_value odd = cast(op, pto_op_operand(op, 0), PTO_F32, "_step", "odd");
    return cast_as_given(op, odd, dtype_of(pto_op_result(op, 0)), "");
}

/* ---- bytes ---- */

static int becomes_bytes(const pto_run *run, pto_dtype from, pto_dtype to)
{
    static const pto_dtype steps[][2] = {{PTO_F32, PTO_I16}, {PTO_F32, PTO_I32}, {PTO_I32, PTO_I16},
                                         {PTO_I16, PTO_F32}, {PTO_I16, PTO_F16}, {PTO_F32, PTO_F16}};
    if (to != PTO_I8 && to != PTO_U8) return 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!machine_converts(run, steps[i][0], steps[i][1])) return 0;
    static const uint32_t kinds[] = {KIND_ADD, KIND_SUB, KIND_MUL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!machine_takes(run, machine_tile_kind(run, pto_kind(run, kinds[i])), PTO_F32)) return 0;
    const int is_float = pto_dtype_is_float(from), is_there = from == PTO_F32 || from == PTO_I16;
    return machine_converts(run, PTO_F16, to) && (is_float || legalize_is_signed(from)) &&
           (is_there || legalize_find_chain(run, from, is_float ? PTO_F32 : PTO_I16, from).count != 0);
}

/* A float as f32, an integer as i16 as the cast says. */
static pto_value as_f32_or_i16(pto_op op, pto_value x)
{
    const pto_dtype from = dtype_of(x), to = pto_dtype_is_float(from) ? PTO_F32 : PTO_I16;
    if (from == to) return x;
    const legalize_chain c = legalize_find_chain(op.run, from, to, from);
    return legalize_convert(op, x, &c, pto_name_after(op, PTO_STR("_step")), to == PTO_I16 ? op : pto_op_none(op.run));
}

static pto_value clamped(pto_op op)
{
    pto_value x = as_f32_or_i16(op, pto_op_operand(op, 0));
    if (dtype_of(x) == PTO_F32) x = cast_as_given(op, x, PTO_I16, "_step");
    x = cast(op, x, PTO_F16, "_step", NULL);
    return cast_as_given(op, x, dtype_of(pto_op_result(op, 0)), "");
}

static pto_value wrapped(pto_op op)
{
    const int is_signed = dtype_of(pto_op_result(op, 0)) == PTO_I8;
    const pto_value x = as_f32_or_i16(op, pto_op_operand(op, 0));
    const int is_float = dtype_of(x) == PTO_F32;
    const pto_value word = is_float ? cast_as_given(op, x, PTO_I32, "_step") : x;
    const pto_value v = cast(op, is_float ? cast(op, word, PTO_I16, "_step", NULL) : word, PTO_F32, "_step", NULL);
    const pto_value moved = is_signed ? by_number(op, KIND_ADD, v, 128.0) : v;
    const pto_value above = cast(op, by_number(op, KIND_MUL, moved, 0x1p-8), PTO_I16, "_step", "floor");
    const pto_value rest = by_number(op, KIND_MUL, cast(op, above, PTO_F32, "_step", NULL), 256.0);
    pto_value byte = binary(op, KIND_SUB, v, rest);
    if (is_float) {
        const pto_value is_wild = cast(op, by_number(op, KIND_MUL, x, 0.0), PTO_I16, "_step", NULL);
        const pto_value as_float = cast(op, is_wild, PTO_F32, "_step", NULL);
        byte = binary(op, KIND_ADD, byte, by_number(op, KIND_MUL, as_float, is_signed ? 0x1p-8 : -255.0 * 0x1p-15));
    }
    const pto_value half = cast(op, byte, PTO_F16, "_step", NULL);
    return cast(op, half, is_signed ? PTO_I8 : PTO_U8, "", NULL);
}

int legalize_has_recipe(const pto_run *run, pto_dtype from, pto_dtype to)
{
    return rounds_to_odd(run, from, to) || becomes_bytes(run, from, to);
}

pto_value legalize_follow_recipe(pto_op op)
{
    if (rounds_to_odd(op.run, dtype_of(pto_op_operand(op, 0)), dtype_of(pto_op_result(op, 0)))) return through_odd(op);
    return pto_attr_bool_of(op, PTO_STR("saturate"), 0) ? clamped(op) : wrapped(op);
}
