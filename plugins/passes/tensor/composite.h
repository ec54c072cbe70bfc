/* What the passes that take composites apart share: ops made in front of a composite, and the walks over a function.
 * The name of what is made is that of the composite's result and a suffix, "" for the value that takes its place. */
#ifndef COMPOSITE_H
#define COMPOSITE_H

#include <pto/plugin.h>

/* Begins an op of the kind with a result of that type; makes one of one or two operands before `op`, and returns its
 * result: none after a diagnostic. */
static inline pto_spec composite_spec(pto_op op, pto_kind_id kind, pto_type type, const char *suffix)
{
    pto_spec s = pto_spec_make(op.run, kind);
    pto_spec_result(&s, type);
    pto_spec_name(&s, pto_name_after(op, pto_s(suffix)));
    return s;
}
static inline pto_value composite_unary(pto_op op, pto_kind_id kind, pto_type type, const char *suffix, pto_value a)
{
    pto_spec s = composite_spec(op, kind, type, suffix);
    pto_spec_operand(&s, a);
    return pto_spec_value(&s, pto_before(op));
}
static inline pto_value composite_binary(pto_op op, pto_kind_id kind, pto_type type, const char *suffix, pto_value a,
                                         pto_value b)
{
    pto_spec s = composite_spec(op, kind, type, suffix);
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    return pto_spec_value(&s, pto_before(op));
}

/* One number, of rank 0. Of integer types `number` is whole and below 2^53. */
static inline pto_value composite_number(pto_op op, pto_kind_id constant, pto_dtype dtype, const char *suffix,
                                         double number)
{
    pto_spec s = composite_spec(op, constant, pto_type_tensor(op.run, dtype, 0, NULL), suffix);
    if (pto_dtype_is_float(dtype))
        pto_spec_float(&s, PTO_STR("value"), number);
    else
        pto_spec_int(&s, PTO_STR("value"), (int64_t)number);
    return pto_spec_value(&s, pto_before(op));
}

/* The index along dim `axis` of `shape` in i32, with extents of 1 elsewhere. */
static inline pto_value composite_count(pto_op op, pto_kind_id iota, pto_type shape, uint32_t axis, const char *suffix)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(shape);
    for (uint32_t i = 0; i < rank; i++) dims[i] = i == axis ? pto_type_dim(shape, i) : pto_expr_const(op.run, 1);
    pto_spec s = composite_spec(op, iota, pto_type_tensor(op.run, PTO_I32, rank, dims), suffix);
    pto_spec_int(&s, PTO_STR("axis"), axis);
    return pto_spec_value(&s, pto_before(op));
}

/* `a` where the condition holds, else `b`. */
static inline pto_value composite_where(pto_op op, pto_kind_id where, pto_type type, const char *suffix,
                                        pto_value condition, pto_value a, pto_value b)
{
    pto_spec s = composite_spec(op, where, type, suffix);
    pto_spec_operand(&s, condition);
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    return pto_spec_value(&s, pto_before(op));
}

/* A reduction of `a` along `axis`, which counts from the front and is kept as extent 1. `nan` may be NULL. */
static inline pto_value composite_reduce(pto_op op, pto_kind_id kind, int64_t axis, const char *nan, const char *suffix,
                                         pto_value a)
{
    const pto_type column = pto_type_with_dim(op.run, pto_value_type(a), (uint32_t)axis, pto_expr_const(op.run, 1));
    pto_spec s = composite_spec(op, kind, column, suffix);
    pto_spec_operand(&s, a);
    pto_spec_ints(&s, PTO_STR("axis"), 1, &axis);
    if (nan != NULL) pto_spec_str(&s, PTO_STR("nan"), pto_s(nan));
    return pto_spec_value(&s, pto_before(op));
}

/* A cast, or the value itself when it has the type. */
static inline pto_value composite_cast(pto_op op, pto_kind_id cast, pto_dtype dtype, const char *suffix, pto_value a)
{
    const pto_type type = pto_value_type(a);
    if (pto_type_dtype(type) == dtype) return a;
    return composite_unary(op, cast, pto_type_with_dtype(op.run, type, dtype), suffix, a);
}

/* Sums of what `op` becomes have its order, where it says one. */
static inline void composite_keep_order(pto_spec *s, pto_op op)
{
    const pto_str order = pto_attr_str_of(op, PTO_STR("order"));
    if (order.n != 0 && !pto_str_is(order, "any")) pto_spec_str(s, PTO_STR("order"), order);
}

/* Every op of one kind is replaced by the value that `expand` makes of it. */
static inline pto_status composite_expand_all(pto_op function, pto_kind_id kind, uint32_t stat,
                                              pto_value (*expand)(const pto_run *run, pto_op op))
{
    PTO_WALK(function, op)
    {
        if (!pto_op_is(op, kind)) continue;
        const pto_value y = expand(function.run, op);
        PTO_NEED(y);
        pto_stat_add(function.run, stat, 1);
        PTO_TRY(pto_op_replace_by(op, y));
    }
    return PTO_OK;
}

/* The first op of the kind in the function; none when there is none. */
static inline pto_op composite_find(pto_op function, pto_kind_id kind)
{
    PTO_WALK(function, op)
    {
        if (pto_op_is(op, kind)) return op;
    }
    return pto_op_none(function.run);
}

#endif
