/* As ir/verify/infer_tensor.c has it, in types of plugins. */
#include "cast_options.h"

#include <math.h>

static int is_signed(pto_dtype t) { return t >= PTO_I8 && t <= PTO_I64; }

/* Bits of an integer or a bool beside its sign. */
static int whole_bits(pto_dtype t) { return t == PTO_BOOL ? 1 : 8 * (int)pto_dtype_bytes(t) - is_signed(t); }

static int has_infinity(pto_float_format f) { return f.quiet_nan != f.largest + 1; }

static int has_all(pto_dtype to, pto_dtype from)
{
    const pto_float_format wide = pto_dtype_float_format(to), narrow = pto_dtype_float_format(from);
    if (to == from) return 1;
    if (pto_dtype_is_float(to) && pto_dtype_is_float(from))
        return has_infinity(wide) && wide.exponent_bits >= narrow.exponent_bits &&
               wide.mantissa_bits >= narrow.mantissa_bits;
    if (pto_dtype_is_float(to)) return to != PTO_F8E8M0 && whole_bits(from) <= pto_dtype_significand_bits(to);
    if (pto_dtype_is_float(from) || to == PTO_BOOL) return 0;
    return whole_bits(to) >= whole_bits(from) && (is_signed(to) || !is_signed(from));
}

static int spans_all(pto_dtype to, pto_dtype from)
{
    const pto_float_format wide = pto_dtype_float_format(to), narrow = pto_dtype_float_format(from);
    if (!pto_dtype_is_float(to) || to == from) return has_all(to, from);
    if (!pto_dtype_is_float(from))
        return to != PTO_F8E8M0 && ldexp(1.0, whole_bits(from)) - 1.0 <= pto_dtype_float_max(to);
    return has_infinity(wide) &&
           (wide.exponent_bits > narrow.exponent_bits ||
            (wide.exponent_bits == narrow.exponent_bits && wide.mantissa_bits >= narrow.mantissa_bits));
}

void cast_put_options(pto_spec *cast, pto_dtype from, pto_dtype to, pto_str mode, int saturate)
{
    const int has_float = pto_dtype_is_float(from) || pto_dtype_is_float(to);
    if (mode.n != 0 && to != PTO_BOOL && has_float && !has_all(to, from)) pto_spec_str(cast, PTO_STR("mode"), mode);
    if (saturate && to != PTO_BOOL && !spans_all(to, from)) pto_spec_bool(cast, PTO_STR("saturate"), 1);
}

void cast_put_options_of(pto_spec *cast, pto_dtype from, pto_dtype to, pto_op other)
{
    const int has_mode = PTO_SOME(pto_op_attr(other, PTO_STR("mode")));
    cast_put_options(cast, from, to, has_mode ? pto_attr_str_of(other, PTO_STR("mode")) : pto_no_str(),
                     pto_attr_bool_of(other, PTO_STR("saturate"), 0));
}
