/* pto.decompose-softmax: softmax becomes a maximum, an exponential, a sum and a quotient along its axis.
 *
 *                                              %m = tensor.reduce_max %x {axis = 1, nan = "any"}
 *                                              %d = tensor.sub %x, %m
 *     %y = tensor.softmax %x {axis = 1}   =>   %e = tensor.exp %d
 *                                              %s = tensor.reduce_sum %e {axis = 1}
 *                                              %y = tensor.div %e, %s
 *
 * f16 and bf16 operands are cast to f32 first and the quotient is cast back once. The maximum may treat NaN as it
 * likes: a NaN of x is a NaN of d at the same place, so of the sum, so of the whole row, as softmax requires it.
 *
 * Bound: the relative error is at most (|x - max| + 6) 2^-24, since the difference is rounded, plus that of the sum.
 * `by: reciprocal` divides once a row, and multiplies each element: one unit more. The sum is from 1 to the length of
 * the axis, or NaN, so that its reciprocal is a normal number.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.softmax` (pto.no-softmax). */
#include "composite.h"

#define KINDS(X)                       \
    X(SOFTMAX, "tensor.softmax")       \
    X(REDUCE_MAX, "tensor.reduce_max") \
    X(REDUCE_SUM, "tensor.reduce_sum") \
    X(SUB, "tensor.sub")               \
    X(EXP, "tensor.exp")               \
    X(DIV, "tensor.div")               \
    X(MUL, "tensor.mul")               \
    X(RECIPROCAL, "tensor.reciprocal") \
    X(CAST, "tensor.cast")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                                    \
    X(BY, ENUM, "by", .def = "quotient", .choices = by_choices,                                                       \
      .doc = "quotient: divide each element by the sum; reciprocal: multiply each by one over it, one unit of 2^-24 " \
             "less exact, for machines on which a division takes longer",                                             \
      .example = "with: { by: reciprocal }")
static const char *const by_choices[] = {"quotient", "reciprocal", NULL};
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value expand_softmax(const pto_run *run, pto_op op)
{
    const pto_value x = pto_op_operand(op, 0);
    const pto_dtype given = pto_type_dtype(pto_value_type(x));
    const int64_t named = pto_attr_int_of(op, PTO_STR("axis"), -1);
    const int64_t axis = named < 0 ? named + pto_type_rank(pto_value_type(x)) : named;
    const pto_value wide = composite_cast(op, pto_kind(run, KIND_CAST), PTO_F32, "_x", x);
    const pto_type type = pto_value_type(wide);
    const pto_value m = composite_reduce(op, pto_kind(run, KIND_REDUCE_MAX), axis, "any", "_max", wide);
    const pto_value d = composite_binary(op, pto_kind(run, KIND_SUB), type, "_shifted", wide, m);
    const pto_value e = composite_unary(op, pto_kind(run, KIND_EXP), type, "_exp", d);
    const pto_value s = composite_reduce(op, pto_kind(run, KIND_REDUCE_SUM), axis, NULL, "_sum", e);
    const int multiplies = pto_str_is(pto_opt_str(run, OPT_BY), "reciprocal");
    const pto_value by =
        multiplies ? composite_unary(op, pto_kind(run, KIND_RECIPROCAL), pto_value_type(s), "_over", s) : s;
    const pto_value y = composite_binary(op, pto_kind(run, multiplies ? KIND_MUL : KIND_DIV), type,
                                         given == PTO_F32 ? "" : "_f32", e, by);
    return composite_cast(op, pto_kind(run, KIND_CAST), given, "", y);
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_SOFTMAX), STAT_DECOMPOSED, expand_softmax);
}

static pto_status check_no_softmax(const pto_run *run, pto_op function)
{
    const pto_op left = composite_find(function, pto_kind(run, KIND_SOFTMAX));
    if (!PTO_SOME(left)) return PTO_OK;
    return pto_error(left, "pto.decompose-softmax/composite-left",
                     "`tensor.softmax` is still a composite; `pto.decompose-softmax` takes it apart");
}

static const pto_property no_softmax = {
    .struct_size = sizeof no_softmax,
    .id = "pto.no-softmax",
    .doc = "no op is a softmax",
    .level = "tensor/1",
    .kinds = pass_kinds,
    .check = check_no_softmax,
};
static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-softmax",
    .summary = "Take softmax apart into a maximum, an exponential, a sum and a quotient",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .establishes = PTO_STRS("pto.no-softmax"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-softmax", "pass:pto.decompose-softmax property:pto.no-softmax", "pto.no-softmax",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &no_softmax));
