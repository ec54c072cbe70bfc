/* Chains of conversions, each step of which the machine has and none of which changes the result of the last one. */
#include "legalize_types.h"

#include "cast_options.h"

/* Whether every float of type `values` is one of t: no field of t is shorter, and a wider exponent reaches below the
 * subnormals of `values`. */
static int holds_floats(pto_dtype t, pto_dtype values)
{
    const pto_float_format wide = pto_dtype_float_format(t), narrow = pto_dtype_float_format(values);
    return values != PTO_F8E8M0 && !pto_dtype_is_byte_float(t) && wide.exponent_bits >= narrow.exponent_bits &&
           wide.mantissa_bits >= narrow.mantissa_bits;
}

int legalize_holds(pto_dtype t, pto_dtype values)
{
    if (t == values) return 1;
    if (pto_dtype_is_float(t) && pto_dtype_is_float(values)) return holds_floats(t, values);
    if (values == PTO_BOOL) return pto_dtype_is_float(t) || legalize_is_integer(t);
    if (!legalize_is_integer(values)) return 0;
    const int magnitude = legalize_bits(values) - legalize_is_signed(values);
    if (pto_dtype_is_float(t)) return magnitude <= pto_dtype_significand_bits(t);
    if (legalize_is_unsigned(t)) return legalize_is_unsigned(values) && magnitude <= legalize_bits(t);
    return legalize_is_signed(t) && magnitude <= legalize_bits(t) - 1;
}

/* Whether the chain from -> ... -> to may pass through t. `values`: what is converted, all values of that type. */
static int may_pass(pto_dtype t, pto_dtype from, pto_dtype to, pto_dtype values, int narrows)
{
    if (!narrows) return legalize_holds(t, values);
    if (legalize_is_signed(t) != legalize_is_signed(from) || !legalize_is_integer(t)) return 0;
    return legalize_bits(t) < legalize_bits(from) && legalize_bits(t) > legalize_bits(to);
}

/* The shortest way, breadth first; of equal ones that through the types with lower numbers. */
static legalize_chain search(const pto_run *run, pto_dtype from, pto_dtype to, pto_dtype values, int narrows)
{
    pto_dtype queue[PTO_DTYPE_COUNT], before[PTO_DTYPE_COUNT] = {0};
    uint32_t head = 0, tail = 0;
    legalize_chain c = {0};
    queue[tail++] = from;
    before[from] = from;
    while (head < tail && before[to] == PTO_DTYPE_NONE) {
        const pto_dtype at = queue[head++];
        for (pto_dtype next = PTO_F32; next < PTO_DTYPE_COUNT; next++) {
            const int is_number = pto_dtype_is_float(next) || legalize_is_integer(next);
            if (!is_number || before[next] != PTO_DTYPE_NONE || !machine_converts(run, at, next)) continue;
            if (next != to && !may_pass(next, from, to, values, narrows)) continue;
            before[next] = at;
            queue[tail++] = next;
        }
    }
    if (before[to] == PTO_DTYPE_NONE || from == to) return c;
    for (pto_dtype t = to; t != from; t = before[t]) c.count++;
    uint32_t i = c.count;
    for (pto_dtype t = to; t != from; t = before[t]) c.to[--i] = t;
    return c;
}

legalize_chain legalize_find_chain(const pto_run *run, pto_dtype from, pto_dtype to, pto_dtype values)
{
    const legalize_chain c = search(run, from, to, values, 0);
    const int narrows = legalize_is_integer(from) && legalize_is_integer(to) &&
                        legalize_is_signed(from) == legalize_is_signed(to) && legalize_bits(to) < legalize_bits(from);
    return c.count != 0 || !narrows ? c : search(run, from, to, values, 1);
}

/* `mode` and `saturate` of `from`, unless that is none, where they have an effect. */
static pto_value make_cast(pto_op at, pto_value x, pto_dtype to, pto_str name, pto_op from)
{
    const pto_run *run = at.run;
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_CAST));
    pto_spec_operand(&s, x);
    if (PTO_SOME(from)) cast_put_options_of(&s, pto_type_dtype(pto_value_type(x)), to, from);
    pto_spec_result(&s, pto_type_with_dtype(run, pto_value_type(x), to));
    pto_spec_name(&s, name);
    pto_stat_add(run, STAT_CASTS, 1);
    return pto_spec_value(&s, pto_before(at));
}

pto_value legalize_fold_constant(pto_value cast)
{
    const pto_op op = pto_value_op(cast);
    const pto_attr number = PTO_SOME(op) ? pto_op_fold(op) : pto_attr_none(cast.run);
    if (!PTO_SOME(number)) return cast;
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_CONSTANT));
    pto_spec_attr(&s, PTO_STR("value"), number);
    pto_spec_result(&s, pto_value_type(cast));
    pto_spec_name(&s, pto_value_name(cast));
    const pto_value constant = pto_spec_value(&s, pto_before(op));
    return pto_op_replace_by(op, constant) == PTO_OK ? constant : pto_value_none(op.run);
}

pto_value legalize_convert(pto_op at, pto_value x, const legalize_chain *c, pto_str name, pto_op from)
{
    const pto_op none = pto_op_none(at.run);
    for (uint32_t i = 0; i < c->count && PTO_SOME(x); i++) {
        const int is_last = i + 1 == c->count,
                  narrows = legalize_bits(c->to[i]) < legalize_bits(pto_type_dtype(pto_value_type(x)));
        const pto_str step = is_last ? name : pto_name_after(at, PTO_STR("_step"));
        x = legalize_fold_constant(make_cast(at, x, c->to[i], step, is_last || narrows ? from : none));
    }
    return x;
}
