/* Moves of elements whose type the machine does not transpose or fill tiles with, as moves of other types of as many
 * bits.
 *
 *   transposes   bool and f8 as u8, 64 bits in two planes of i32
 *   numbers      of 64 bits: a number of i32 for each half; of f8: as u8
 *   scalars      of 64 bits: halves of an index expression, in which a scalar may occur */
#include "legalize_types.h"

#include "expand_steps.h"

#include <math.h>

static pto_dtype dtype_of(pto_value x) { return pto_type_dtype(pto_value_type(x)); }
static int is_wide(pto_dtype t) { return t == PTO_I64 || t == PTO_U64; }

static int takes(const pto_run *run, const char *tile_op, pto_dtype t)
{
    return machine_takes(run, pto_kind_by_name(run, pto_s(tile_op)), t);
}

/* ---- bytes of floats ---- */

/* The number that the bits, without a sign, are; NaN and infinity: NaN. */
static double number_of_byte(pto_dtype t, uint32_t bits)
{
    if (t == PTO_F8E8M0) return bits == 255 ? (double)NAN : ldexp(1, (int)bits - 127);
    const int mantissa = t == PTO_F8E4M3 ? 3 : 2, bias = t == PTO_F8E4M3 ? 7 : 15;
    const int exponent = (int)(bits >> mantissa), rest = (int)bits & ((1 << mantissa) - 1);
    if (bits > (t == PTO_F8E4M3 ? 0x7e : 0x7b)) return (double)NAN;
    return exponent == 0 ? ldexp(rest, 1 - bias - mantissa) : ldexp(rest + (1 << mantissa), exponent - bias - mantissa);
}

/* The bits of a number that is one of the type; -1: it is not. */
static int64_t bits_of_number(pto_dtype t, double number)
{
    const int is_signed = t != PTO_F8E8M0, is_negative = is_signed && signbit(number);
    for (uint32_t bits = 0; bits < (is_signed ? 128U : 255U); bits++)
        if (number_of_byte(t, bits) == (is_negative ? -number : number)) return is_negative ? bits + 128 : bits;
    return -1;
}

/* The value of a constant or a pad; it may be written as a whole number. */
static int64_t bits_of_value(pto_op op)
{
    const pto_attr value = pto_op_attr(op, PTO_STR("value"));
    const pto_attr_kind kind = PTO_SOME(value) ? pto_attr_kind_of(value) : PTO_ATTR_FLOAT;
    if (kind != PTO_ATTR_INT && kind != PTO_ATTR_FLOAT) return -1;
    return bits_of_number(dtype_of(pto_op_result(op, 0)), pto_attr_float_of(op, PTO_STR("value"), 0));
}

/* ---- moves ---- */

/* Whether the op fills a tensor with a scalar, or an index expression, in a type that the machine fills no tile with.
 */
static int fills_wide(pto_op op)
{
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    return is_wide(pto_type_dtype(type)) && pto_type_rank(type) < PTO_MAX_DIMS &&
           !takes(op.run, "tile.fill", pto_type_dtype(type)) && takes(op.run, "tile.fill", PTO_I32);
}

int legalize_must_move(pto_op op)
{
    if (PTO_IS(op, FULL) || PTO_IS(op, INDEX_CAST)) return fills_wide(op);
    if (PTO_IS(op, TRANSPOSE)) {
        const pto_dtype t = dtype_of(pto_op_operand(op, 0));
        const int is_full = pto_type_rank(pto_value_type(pto_op_operand(op, 0))) == PTO_MAX_DIMS;
        if (takes(op.run, "tile.transpose", t)) return 0;
        return (is_wide(t) && !is_full && takes(op.run, "tile.transpose", PTO_I32)) ||
               ((t == PTO_BOOL || pto_dtype_is_byte_float(t)) && takes(op.run, "tile.transpose", PTO_U8));
    }
    const pto_dtype t = PTO_IS(op, PAD) ? dtype_of(pto_op_result(op, 0)) : PTO_DTYPE_NONE;
    return pto_dtype_is_byte_float(t) && !takes(op.run, "tile.fill", t) && bits_of_value(op) >= 0;
}

static pto_value from_bytes(pto_op op, pto_value x, pto_dtype to)
{
    const expand_operand given = {"a", x};
    if (to != PTO_BOOL) return legalize_reinterpret(op, x, to, "");
    return expand_formula(op, "ne a 0", pto_value_type(x), PTO_U8, 1, &given, 0, NULL);
}

static pto_value moved_as(pto_op op, pto_value x)
{
    const pto_dtype t = dtype_of(x);
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_TRANSPOSE));
    pto_spec_operand(&s, x);
    pto_spec_attrs_of(&s, op);
    pto_spec_result(&s, pto_type_with_dtype(op.run, pto_value_type(pto_op_result(op, 0)), t));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_moved")));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value transposed(pto_op op)
{
    const pto_value x = pto_op_operand(op, 0);
    const pto_dtype t = dtype_of(x);
    if (is_wide(t)) {
        const pto_value low = moved_as(op, legalize_half_of(op, x, 0)), high = moved_as(op, legalize_half_of(op, x, 1));
        return PTO_SOME(low) && PTO_SOME(high) ? legalize_join(op, low, high, t) : pto_value_none(op.run);
    }
    const pto_value moved = moved_as(op, legalize_reinterpret(op, x, PTO_U8, "_bits"));
    return PTO_SOME(moved) ? from_bytes(op, moved, t) : moved;
}

/* The lower 32 bits of an index expression, as every element. */
static pto_value filled_half(pto_op op, pto_expr number)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_INDEX_CAST));
    pto_spec_exprs(&s, PTO_STR("from"), 1, &number);
    pto_spec_result(&s, pto_type_with_dtype(op.run, pto_value_type(pto_op_result(op, 0)), PTO_I32));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_half")));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value filled(pto_op op)
{
    const pto_expr number =
        PTO_IS(op, FULL) ? pto_expr_value(pto_op_operand(op, 0)) : pto_expr_of(op, PTO_STR("from"), 0);
    const pto_value low = filled_half(op, number),
                    high = filled_half(op, pto_expr_floordiv(number, pto_expr_const(op.run, INT64_C(1) << 32)));
    return PTO_SOME(low) && PTO_SOME(high) ? legalize_join(op, low, high, dtype_of(pto_op_result(op, 0)))
                                           : pto_value_none(op.run);
}

pto_value legalize_move(pto_op op)
{
    if (PTO_IS(op, TRANSPOSE)) return transposed(op);
    if (PTO_IS(op, FULL) || PTO_IS(op, INDEX_CAST)) return filled(op);
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    pto_spec s = pto_spec_make(op.run, pto_op_kind(op));
    pto_spec_operand(&s, legalize_reinterpret(op, pto_op_operand(op, 0), PTO_U8, "_bits"));
    pto_spec_attrs_of(&s, op);
    pto_spec_int(&s, PTO_STR("value"), bits_of_value(op));
    pto_spec_result(&s, pto_type_with_dtype(op.run, result, PTO_U8));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_moved")));
    const pto_value moved = pto_spec_value(&s, pto_before(op));
    return PTO_SOME(moved) ? from_bytes(op, moved, pto_type_dtype(result)) : moved;
}

/* ---- numbers ---- */

int legalize_must_fill(pto_op op)
{
    if (!PTO_IS(op, CONSTANT)) return 0;
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    const pto_dtype t = pto_type_dtype(type);
    if (takes(op.run, "tile.fill", t)) return 0;
    if (pto_dtype_is_byte_float(t)) return bits_of_value(op) >= 0;
    return is_wide(t) && pto_type_rank(type) < PTO_MAX_DIMS &&
           pto_attr_kind_of(pto_op_attr(op, PTO_STR("value"))) == PTO_ATTR_INT;
}

static pto_value number(pto_op op, pto_dtype t, int64_t value)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_CONSTANT));
    pto_spec_int(&s, PTO_STR("value"), value);
    pto_spec_result(&s, pto_type_with_dtype(op.run, pto_value_type(pto_op_result(op, 0)), t));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_bits")));
    return pto_spec_value(&s, pto_before(op));
}

pto_value legalize_fill(pto_op op)
{
    const pto_dtype t = dtype_of(pto_op_result(op, 0));
    if (pto_dtype_is_byte_float(t)) return legalize_reinterpret(op, number(op, PTO_U8, bits_of_value(op)), t, "");
    const int64_t value = pto_attr_int_of(op, PTO_STR("value"), 0);
    return legalize_join(op, number(op, PTO_I32, (int32_t)(uint32_t)value), number(op, PTO_I32, value >> 32), t);
}
