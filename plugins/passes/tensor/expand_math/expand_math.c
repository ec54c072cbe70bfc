/* pto.expand-math: functions without an instruction become ops that have one.
 *
 *                                        %a = tensor.abs %x           %h = tensor.minimum %x, 0 {nan = "any"}
 *     %y = tensor.sigmoid %x       =>    %n = tensor.neg %a           %p = tensor.exp %h
 *                                        %t = tensor.exp %n           %q = tensor.add %t, 1
 *                                                                     %y = tensor.div %p, %q
 *
 * What a function becomes is the column `expansion` of its row in ops/tensor.def. A machine that calls functions, as
 * CPUs do, lists `function` among its instructions: there those of functions.def stay one op, unless `functions: steps`
 * says otherwise. Errors in f32, measured by
 * tests/passes/expand-math/accuracy.sh, where every instruction is correctly rounded; an exp that is off by n ulp adds
 * about 2 n:
 *
 *   sigmoid          3 ulp
 *   silu             5 ulp; two small factors, so that results below the least normal number lose one rounding only
 *   gelu sigmoid     5 ulp, and 1.25 |z| more for x < 0: z = 1.702 x is rounded
 *   gelu tanh        5 ulp, and 3 |z| more for x < 0; z = x (1.5957691 + 0.0713548 x x)
 *   tanh             4 ulp: (t + u) / (1 + t u), t = tanh of x clamped to 5/8, u = 1 - 2 / (1 + exp(2 (x - clamped)));
 *                    the far part v = -u is +0 for small x, so that t stays as it is, and NaN for NaN
 *   others           as their rows say
 *   reduce_mean      the sum times 1 / n, or divided by n when n is symbolic; 1 ulp beyond the sum
 *
 * NaN stays NaN, and signs of zeros are kept. silu and gelu of -inf are NaN, as by their formulas.
 *
 * Maxima and minima that propagate NaN become those of the machine, which lose it. Where ops after a reduction bring
 * the NaN back in every element that would have it, as in exp(x - max) / sum, nothing else is needed. Otherwise
 *
 *     maximum(a, b)  =>  max(a, b) - 0 / (|a| + |b| + 1)         reduce_max(x)  =>  max(x) - sum(0 / (|x| + 1))
 *
 * where the subtrahend is +0, or NaN when there is one: exact for every value. A relu that the machine does not have in
 * its type is the maximum with 0.
 *
 * Requires that softmax and rms_norm are taken apart (pto.no-softmax, pto.no-rms-norm), and element types that the
 * machine has (pto.types-legal). Leaves tensor ops that have an instruction each (pto.math-legal). */
#include "expand_math.h"
#include "expand_steps.h"
#include "machine_types.h"

#include <math.h>
#include <stdio.h>

#define STATS(X)              \
    X(EXPANDED, "expanded")   \
    X(RELAXED, "nan-relaxed") \
    X(GUARDED, "nan-guarded")
PTO_STATS(STATS);

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

/* ---- making ops: before `op`, named after its result with a suffix, "" for what takes its place ---- */

/* Of the type of a. */
static pto_value unary(pto_op op, uint32_t kind, const char *suffix, pto_value a)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, kind));
    pto_spec_operand(&s, a);
    pto_spec_result(&s, pto_value_type(a));
    pto_spec_name(&s, pto_name_after(op, pto_s(suffix)));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value binary(pto_op op, uint32_t kind, const char *suffix, pto_type type, pto_value a, pto_value b)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, kind));
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    if (kind == KIND_MAXIMUM || kind == KIND_MINIMUM) pto_spec_str(&s, PTO_STR("nan"), PTO_STR("any"));
    pto_spec_result(&s, type);
    pto_spec_name(&s, pto_name_after(op, pto_s(suffix)));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value by_value(pto_op op, uint32_t kind, const char *suffix, pto_value a, pto_value b)
{
    return binary(op, kind, suffix, pto_value_type(a), a, b);
}

static pto_value by_number(pto_op op, uint32_t kind, const char *suffix, pto_value a, double b)
{
    return binary(op, kind, suffix, pto_value_type(a), a, expand_number(op, dtype_of(a), b));
}

/* value op a */
static pto_value number_by(pto_op op, uint32_t kind, const char *suffix, double value, pto_value a)
{
    return binary(op, kind, suffix, pto_value_type(a), expand_number(op, dtype_of(a), value), a);
}

static uint32_t reduced_dims(pto_op op)
{
    return pto_axes_of(op, pto_type_rank(pto_value_type(pto_op_operand(op, 0))));
}

/* A reduction of `a` along the axes of `op`. Reduced dims are kept whether `op` keeps them or not: more ops follow, and
 * values without those dims have no place in a nest over rows. */
static pto_value reduction(pto_op op, uint32_t kind, const char *suffix, pto_value a)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, kind));
    const pto_type from = pto_value_type(a);
    const uint32_t rank = pto_type_rank(from), reduced = reduced_dims(op);
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = (reduced & (1u << i)) != 0 ? pto_expr_const(s.run, 1) : pto_type_dim(from, i);
    pto_spec_operand(&s, a);
    pto_spec_attr(&s, PTO_STR("axis"), pto_op_attr(op, PTO_STR("axis")));
    if (kind == KIND_REDUCE_MAX || kind == KIND_REDUCE_MIN) pto_spec_str(&s, PTO_STR("nan"), PTO_STR("any"));
    const pto_str order = pto_attr_str_of(op, PTO_STR("order"));
    if (order.n != 0 && !pto_str_is(order, "any")) pto_spec_str(&s, PTO_STR("order"), order);
    pto_spec_result(&s, pto_type_tensor(s.run, pto_type_dtype(from), rank, dims));
    pto_spec_name(&s, pto_name_after(op, pto_s(suffix)));
    return pto_spec_value(&s, pto_before(op));
}

/* ---- means ---- */

/* How many elements go into one of the result; none when that is beyond 64 bits. */
static pto_expr reduced_count(pto_op op)
{
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    const uint32_t mask = reduced_dims(op);
    pto_expr count = pto_expr_const(op.run, 1);
    for (uint32_t i = 0; i < pto_type_rank(type); i++)
        if ((mask & (1u << i)) != 0) count = pto_expr_mul(count, pto_type_dim(type, i));
    return count;
}

/* The value under the type of the result of `op`, which may lack the reduced dims. */
static pto_value without_dims(pto_op op, pto_value y)
{
    if (!PTO_SOME(y) || pto_attr_bool_of(op, PTO_STR("keepdim"), 1)) return y;
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_RESHAPE));
    pto_spec_operand(&s, y);
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("")));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value expand_mean(pto_op op, pto_value x)
{
    const char *suffix = pto_attr_bool_of(op, PTO_STR("keepdim"), 1) ? "" : "_mean";
    const pto_expr count = reduced_count(op);
    int64_t n = 0;
    const int is_const = pto_expr_is_const(count, &n);
    const pto_value sum = reduction(op, KIND_REDUCE_SUM, is_const && n == 1 ? suffix : "_sum", x);
    if (is_const && n == 1) return without_dims(op, sum);
    if (is_const)
        return without_dims(op, by_number(op, KIND_MUL, suffix, sum, n != 0 ? 1.0 / (double)n : (double)INFINITY));
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_INDEX_CAST));
    pto_spec_exprs(&s, PTO_STR("from"), 1, &count);
    pto_spec_result(&s, pto_type_tensor(op.run, dtype_of(x), 0, NULL));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_count")));
    return without_dims(op, by_value(op, KIND_DIV, suffix, sum, pto_spec_value(&s, pto_before(op))));
}

/* ---- NaN ---- */

static int may_be_nan(pto_value v)
{
    const pto_op def = pto_value_op(v);
    if (PTO_IS(def, INDEX_CAST)) return 0;
    if (!PTO_IS(def, CONSTANT)) return 1;
    const pto_attr value = pto_op_attr(def, PTO_STR("value"));
    const pto_attr_kind kind = pto_attr_kind_of(value);
    return kind != PTO_ATTR_INT && (kind != PTO_ATTR_FLOAT || pto_attr_f64(value) != pto_attr_f64(value));
}

static pto_value cast_to(pto_op op, const char *suffix, pto_value x, pto_dtype dtype)
{
    if (!PTO_SOME(x) || dtype_of(x) == dtype) return x;
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_CAST));
    pto_spec_operand(&s, x);
    pto_spec_result(&s, pto_type_with_dtype(op.run, pto_value_type(x), dtype));
    pto_spec_name(&s, pto_name_after(op, pto_s(suffix)));
    return pto_spec_value(&s, pto_before(op));
}

static int takes(const pto_run *run, uint32_t kind, pto_dtype t)
{
    return machine_takes(run, machine_tile_kind(run, pto_kind(run, kind)), t);
}

/* The type to compute guards of type t in: zeros and NaN are the same in f32. */
static pto_dtype guard_dtype(const pto_run *run, pto_dtype t)
{
    const int has_all = takes(run, KIND_ABS, t) && takes(run, KIND_ADD, t) && takes(run, KIND_DIV, t);
    return has_all || !machine_converts(run, t, PTO_F32) || !machine_converts(run, PTO_F32, t) ? t : PTO_F32;
}

/* |x|, in the type of guards. */
static pto_value magnitude_of(pto_op op, pto_value x)
{
    return unary(op, KIND_ABS, "_abs", cast_to(op, "_abs", x, guard_dtype(op.run, dtype_of(x))));
}

/* +0 where `magnitude`, which is not negative, is a number or infinite; NaN where it is NaN. */
static pto_value zero_or_nan(pto_op op, pto_value magnitude)
{
    return number_by(op, KIND_DIV, "_guard", 0.0, by_number(op, KIND_ADD, "_guard", magnitude, 1.0));
}

/* m - guard of that type, in f32 when the machine subtracts in no other. */
static pto_value guarded(pto_op op, const char *suffix, pto_type type, pto_value m, pto_value guard)
{
    const pto_dtype t = pto_type_dtype(type), compute = takes(op.run, KIND_SUB, t) ? t : PTO_F32;
    const pto_type wide = pto_type_with_dtype(op.run, type, compute);
    const pto_value a = cast_to(op, "_number", m, compute), b = cast_to(op, "_guard", guard, compute);
    return cast_to(op, suffix, binary(op, KIND_SUB, compute == t ? suffix : "_wide", wide, a, b), t);
}

static pto_value expand_extreme(pto_op op, uint32_t kind, pto_value a, pto_value b)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    const int from_a = may_be_nan(a), from_b = may_be_nan(b) && !pto_value_same(a, b);
    const int is_plain = (!from_a && !from_b) || !pto_dtype_is_float(pto_type_dtype(type)) ||
                         pto_str_is(pto_opt_str(run, OPT_NAN), "any");
    const pto_value m = binary(op, kind, is_plain ? "" : "_number", type, a, b);
    if (is_plain) return m;
    pto_value magnitude = magnitude_of(op, from_a ? a : b);
    const pto_type wide = pto_type_with_dtype(run, type, dtype_of(magnitude));
    if (from_a && from_b) magnitude = binary(op, KIND_ADD, "_abs", wide, magnitude, magnitude_of(op, b));
    pto_stat_add(run, STAT_GUARDED, 1);
    return guarded(op, "", type, m, zero_or_nan(op, magnitude));
}

static pto_value expand_reduction(pto_op op, uint32_t kind, pto_value x)
{
    const pto_value m = reduction(op, kind, "_number", x);
    /* Sums are f32, whatever the type; the terms are zeros. */
    const pto_value terms = cast_to(op, "_guard", zero_or_nan(op, magnitude_of(op, x)), PTO_F32);
    const pto_value guard = cast_to(op, "_guard", reduction(op, KIND_REDUCE_SUM, "_guard", terms), dtype_of(x));
    pto_stat_add(op.run, STAT_GUARDED, 1);
    return without_dims(
        op, guarded(op, pto_attr_bool_of(op, PTO_STR("keepdim"), 1) ? "" : "_kept", pto_value_type(m), m, guard));
}

/* What is known of a value for each row along the reduced axes in which x has a NaN, when the maximum loses it:
 * nothing; it is NaN where x is; all of the row is NaN, as it would be with a maximum that propagates. */
enum { NAN_UNKNOWN, NAN_SOME, NAN_ALL };
enum { FOLLOWED_MAX = 64 };

typedef struct follower {
    const pto_run *run;
    pto_op reduce;
    pto_value x, values[FOLLOWED_MAX];
    uint8_t level[FOLLOWED_MAX];
    pto_op pending[FOLLOWED_MAX]; /* ops that read a value below NAN_ALL */
    uint32_t value_count, pending_count;
} follower;

static int makes_nan_of_nan(const pto_run *run, pto_op op)
{
    return pto_kind_has(run, pto_op_kind(op), PTO_TRAIT_NAN_STAYS) ||
           (PTO_IS(op, CAST) && pto_dtype_is_float(dtype_of(pto_op_result(op, 0))));
}

enum { CHAIN_MAX = 8 };

/* A function of a value that is followed is at its level. */
static uint8_t level_of(const follower *f, pto_value v)
{
    for (int step = 0; step < CHAIN_MAX; step++) {
        for (uint32_t i = 0; i < f->value_count; i++)
            if (pto_value_same(f->values[i], v)) return f->level[i];
        if (pto_value_same(v, f->x)) return NAN_SOME;
        const pto_op def = pto_value_op(v);
        if (!PTO_SOME(def) || pto_op_operand_count(def) != 1 || !makes_nan_of_nan(f->run, def)) return NAN_UNKNOWN;
        v = pto_op_operand(def, 0);
    }
    return NAN_UNKNOWN;
}

/* 0: there are too many, or one is in another block. */
static int follow(follower *f, pto_value v, uint8_t level)
{
    if (f->value_count == FOLLOWED_MAX) return 0;
    f->values[f->value_count] = v;
    f->level[f->value_count++] = level;
    if (level == NAN_ALL) return 1;
    PTO_EACH_USE(v, use) {
        uint32_t i = 0;
        while (i < f->pending_count && !pto_op_same(f->pending[i], use.op)) i++;
        if (i < f->pending_count) continue;
        if (i == FOLLOWED_MAX || !pto_block_same(pto_op_block(use.op), pto_op_block(f->reduce))) return 0;
        f->pending[f->pending_count++] = use.op;
    }
    return 1;
}

static pto_op take_first(follower *f)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < f->pending_count; i++)
        if (pto_op_is_before(f->pending[i], f->pending[first])) first = i;
    const pto_op op = f->pending[first];
    f->pending[first] = f->pending[--f->pending_count];
    return op;
}

/* The level of the op's result, or -1 when the op may hide a NaN or let one be seen that should be more. */
static int match_level(const follower *f, pto_op op)
{
    if (pto_op_result_count(op) != 1 ||
        pto_type_rank(pto_value_type(pto_op_result(op, 0))) != pto_type_rank(pto_value_type(f->x)))
        return -1;
    if (PTO_IS(op, REDUCE_SUM) || PTO_IS(op, REDUCE_MEAN)) {
        if (reduced_dims(op) != reduced_dims(f->reduce) || !pto_attr_bool_of(op, PTO_STR("keepdim"), 1)) return -1;
        return level_of(f, pto_op_operand(op, 0)) == NAN_UNKNOWN ? NAN_UNKNOWN : NAN_ALL;
    }
    if (!makes_nan_of_nan(f->run, op)) return -1;
    int level = NAN_UNKNOWN;
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const int of_operand = level_of(f, pto_op_operand(op, i));
        if (of_operand > level) level = of_operand;
    }
    return level;
}

/* True when every value that the reduction reaches before it is NaN all along the row is read by ops alone that carry
 * NaN on, so that what leaves them is the same whether the reduction propagates NaN or loses it. In block order, so
 * that the levels of an op's operands are final when it is looked at. */
static int match_restored(const pto_run *run, pto_op reduce)
{
    follower f = {.run = run, .reduce = reduce, .x = pto_op_operand(reduce, 0)};
    if (!pto_attr_bool_of(reduce, PTO_STR("keepdim"), 1) || !follow(&f, pto_op_result(reduce, 0), NAN_UNKNOWN))
        return 0;
    while (f.pending_count != 0) {
        const pto_op op = take_first(&f);
        const int level = match_level(&f, op);
        if (level < 0 || !follow(&f, pto_op_result(op, 0), (uint8_t)level)) return 0;
    }
    return 1;
}

static int propagates(pto_op op)
{
    return pto_str_is(pto_attr_str_of(op, PTO_STR("nan")), "propagate") &&
           pto_dtype_is_float(dtype_of(pto_op_operand(op, 0)));
}

static int is_reduction(pto_op op) { return PTO_IS(op, REDUCE_MAX) || PTO_IS(op, REDUCE_MIN); }

static pto_status relax(const pto_run *run, pto_op op)
{
    if (!is_reduction(op) || !propagates(op)) return PTO_OK;
    if (!pto_str_is(pto_opt_str(run, OPT_NAN), "any") && !match_restored(run, op)) return PTO_OK;
    pto_stat_add(run, STAT_RELAXED, 1);
    return pto_op_set_attr(op, PTO_STR("nan"), pto_attr_make_str(run, PTO_STR("any")));
}

/* ---- truth values ---- */

/* The largest of the numbers 0 and 1, or the smallest, is above 0; of nothing it is infinite. */
static pto_value expand_truth(pto_op op, pto_value x)
{
    static const pto_dtype types[] = {PTO_F16, PTO_F32};
    const pto_run *run = op.run;
    const uint32_t kind = PTO_IS(op, ANY) ? KIND_REDUCE_MAX : KIND_REDUCE_MIN;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!machine_converts(run, PTO_BOOL, types[i]) || !takes(run, kind, types[i]) || !takes(run, KIND_GT, types[i]))
            continue;
        const pto_value found = reduction(op, kind, "_number", cast_to(op, "_numbers", x, types[i]));
        const pto_type type = pto_type_with_dtype(run, pto_value_type(found), PTO_BOOL);
        const char *suffix = pto_attr_bool_of(op, PTO_STR("keepdim"), 1) ? "" : "_kept";
        return without_dims(op, binary(op, KIND_GT, suffix, type, found, expand_number(op, types[i], 0.0)));
    }
    (void)pto_error(op, "pto.expand-math/no-truth-values",
                    "`%.*s` becomes the %s of numbers 0 and 1, and the machine has no float type that it converts bool "
                    "to, reduces and compares: choose another machine with --machine, or reduce numbers in the source",
                    PTO_FMT(pto_op_name(op)), PTO_IS(op, ANY) ? "largest" : "smallest");
    return pto_value_none(run);
}

/* ---- the walk ---- */

static int is_called(const pto_run *run, pto_op op)
{
    return machine_calls(run, pto_op_kind(op), dtype_of(pto_op_result(op, 0)));
}

static int asks_for_calls(const pto_run *run) { return pto_str_is(pto_opt_str(run, OPT_FUNCTIONS), "calls"); }

/* Says why a function of the source is not called. */
static void tell_steps(const pto_run *run, pto_op op)
{
    if (!machine_is_function(run, pto_op_kind(op)) || is_called(run, op) || !asks_for_calls(run)) return;
    const pto_str name = pto_op_name(op);
    pto_remark(op, "pto.expand-math/steps",
               "`%.*s` becomes other ops: the machine lists no `function` in %s among its instructions, so that it "
               "calls none",
               PTO_FMT(name), pto_dtype_name(dtype_of(pto_op_result(op, 0))));
}

/* None for ops that stay; `out_stays` is 1 for those. */
static pto_value expanded(const pto_run *run, pto_op op, int *out_stays)
{
    const pto_value x = pto_op_operand(op, 0);
    *out_stays = is_called(run, op) && asks_for_calls(run);
    if (*out_stays) return pto_value_none(run);
    if (expand_has_steps(op)) return expand_steps(op);
    if (PTO_IS(op, REDUCE_MEAN)) return expand_mean(op, x);
    if (ordered_sum_expands(op)) return ordered_sum_expand(op);
    if (PTO_IS(op, ANY) || PTO_IS(op, ALL)) return expand_truth(op, x);
    if (PTO_IS(op, RELU) && !machine_takes(run, pto_kind(run, KIND_TILE_RELU), dtype_of(x)))
        return expand_extreme(op, KIND_MAXIMUM, x, expand_number(op, dtype_of(x), 0.0));
    static const uint32_t extremes[] = {KIND_MAXIMUM, KIND_MINIMUM}, reductions[] = {KIND_REDUCE_MAX, KIND_REDUCE_MIN};
    for (size_t i = 0; i < 2; i++) {
        if (pto_op_is(op, pto_kind(run, extremes[i])) && propagates(op))
            return expand_extreme(op, extremes[i], x, pto_op_operand(op, 1));
        if (pto_op_is(op, pto_kind(run, reductions[i])) && propagates(op))
            return expand_reduction(op, reductions[i], x);
    }
    *out_stays = 1;
    return pto_value_none(run);
}

/* What the machine lacks for an op that was made; empty: nothing. */
static pto_str find_lack(pto_op made)
{
    const pto_run *run = made.run;
    const pto_dtype result = dtype_of(pto_op_result(made, 0)),
                    to = result == PTO_BOOL ? dtype_of(pto_op_operand(made, 0)) : result;
    if (to == PTO_BOOL) return pto_no_str(); /* masks */
    const int is_cast = PTO_IS(made, CAST);
    const pto_kind_id tile = machine_tile_kind(run, pto_op_kind(made));
    if (tile == 0) return pto_no_str();
    const pto_dtype from = is_cast ? dtype_of(pto_op_operand(made, 0)) : to;
    const int rounds = pto_kind_column(run, tile, PTO_COLUMN_RULE) == PTO_RULE_CONVERT;
    const pto_str has = rounds ? machine_conversions(run, from) : machine_dtypes(run, tile);
    if (machine_lists(has, pto_dtype_name(to))) return pto_no_str();
    const size_t capacity = has.n + 128;
    char *text = (char *)pto_scratch(run, capacity);
    int n = 0;
    if (has.n == 0 && is_cast)
        n = snprintf(text, capacity, "converts %s to nothing", pto_dtype_name(from));
    else if (has.n == 0)
        n = snprintf(text, capacity, "lacks one of them, `%.*s`", PTO_FMT(pto_op_name(made)));
    else if (is_cast)
        n = snprintf(text, capacity, "converts %s to %.*s and not to %s", pto_dtype_name(from), PTO_FMT(has),
                     pto_dtype_name(to));
    else
        n = snprintf(text, capacity, "has one of them, `%.*s`, in %.*s and not in %s", PTO_FMT(pto_op_name(made)),
                     PTO_FMT(has), pto_dtype_name(to));
    return pto_str_make(text, (size_t)n);
}

static pto_status check_made(pto_op op, pto_op made)
{
    const pto_str lack = find_lack(made);
    if (lack.n == 0) return PTO_OK;
    /* The last of them has taken the name under which the source knows the op. */
    PTO_TRY(pto_value_set_name(pto_op_result(pto_op_prev(op), 0), PTO_STR("made")));
    return pto_error(
        op, "pto.expand-math/no-type",
        "`%.*s` in %s becomes several ops, and the machine %.*s: write the function in the source with ops "
        "and types that the machine has",
        PTO_FMT(pto_op_name(op)), pto_dtype_name(dtype_of(pto_op_operand(op, 0))), PTO_FMT(lack));
}

/* The ops between `last`, or the begin of the block, and `op`. */
static pto_status check_all_made(pto_op last, pto_op op)
{
    for (pto_op made = pto_op_prev(op); PTO_SOME(made) && !pto_op_same(made, last); made = pto_op_prev(made))
        PTO_TRY(check_made(op, made));
    return PTO_OK;
}

static int has_instruction(const pto_run *run, pto_op op)
{
    const int64_t rule = pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE);
    if (machine_is_function(run, pto_op_kind(op))) return is_called(run, op);
    return (rule != PTO_ITER_ELEMENTWISE && rule != PTO_ITER_REDUCE) ||
           pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_TILE_WHOLE) != 0;
}

/* Steps of an expansion may have one themselves. */
enum { ROUNDS_MAX = 8 };

/* `out_more`: whether something was expanded. */
static pto_status expand_all(const pto_run *run, pto_op function, int *out_more)
{
    *out_more = 0;
    PTO_WALK(function, op)
    {
        int stays = 0;
        const pto_op last = pto_op_prev(op);
        const pto_value y = expanded(run, op, &stays);
        if (stays) continue;
        PTO_NEED(y);
        PTO_TRY(check_all_made(last, op));
        pto_stat_add(run, STAT_EXPANDED, 1);
        PTO_TRY(pto_op_replace_by(op, y));
        *out_more = 1;
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        tell_steps(run, op);
        PTO_TRY(relax(run, op));
    }
    for (int rounds = 0, more = 1; more && rounds < ROUNDS_MAX; rounds++) PTO_TRY(expand_all(run, function, &more));
    PTO_WALK(function, op)
    {
        if (!has_instruction(run, op))
            return pto_error(op, "pto.expand-math/no-expansion",
                             "`%.*s` has no instruction, and its row does not say which ops it can be made of; a step "
                             "before this one must do that",
                             PTO_FMT(pto_op_name(op)));
    }
    return PTO_OK;
}

/* ---- the property ---- */

static pto_status check_math_legal(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (!has_instruction(run, op))
            return pto_error(op, "pto.expand-math/no-instruction",
                             "`%.*s` has no instruction; `pto.expand-math` makes it of others",
                             PTO_FMT(pto_op_name(op)));
        const int is_extreme = PTO_IS(op, MAXIMUM) || PTO_IS(op, MINIMUM);
        if ((is_extreme || is_reduction(op)) && propagates(op))
            return pto_error(op, "pto.expand-math/propagates-nan",
                             "`%.*s` propagates NaN, which vector instructions do not; write {nan = \"any\"} or let "
                             "`pto.expand-math` guard it",
                             PTO_FMT(pto_op_name(op)));
    }
    return PTO_OK;
}

static const pto_property math_legal = {
    .struct_size = sizeof math_legal,
    .id = "pto.math-legal",
    .doc = "every function has an instruction, and no maximum propagates NaN",
    .level = "tensor/1",
    .kinds = pass_kinds,
    .check = check_math_legal,
};
static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES,
    .id = "pto.expand-math",
    .summary = "Make functions without an instruction of those that have one",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .requires_props = PTO_STRS("pto.no-softmax", "pto.no-rms-norm", "pto.types-legal"),
    .establishes = PTO_STRS("pto.math-legal"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.expand-math", "pass:pto.expand-math property:pto.math-legal", "pto.math-legal", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &math_legal));
