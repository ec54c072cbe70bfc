/* pto.legalize-types: every op computes in an element type that the machine has instructions for.
 *
 *     %y = tensor.add %a, %b : tensor<4 x bf16>   =>   %y_a = tensor.cast %a : tensor<4 x f32>
 *                                                      %y_b = tensor.cast %b : tensor<4 x f32>
 *                                                      %y_wide = tensor.add %y_a, %y_b : tensor<4 x f32>
 *                                                      %y = tensor.cast %y_wide : tensor<4 x bf16>
 *
 *   - Float ops that the machine lacks, ops that become several later and sums are computed in f32, and cast. For + - *
 * / and the square root that is the correctly rounded result, since f32 has more than twice the digits of f16 and bf16.
 * Other functions and means are rounded twice: where the f32 result is off by n ulp of f32, that of f16 is off by at
 * most 0.5 + (n + 0.5) 2^-13 of its ulp, that of bf16 by 0.5 + (n + 0.5) 2^-16; down at denormals of f16 too, since f32
 * has more digits there. The bound of the op's row, in ulp of the narrow type, holds.
 *   - Integers go through a wider type only where all values fit and the result is one of the operands: maxima, minima,
 *     broadcasts. The extreme of an axis that may be empty is limited to the values of the narrow type. Sums,
 *     differences and products do when the low bits can be cut out of the result again. |x| becomes the maximum of x
 *     and -x.
 *   - A cast becomes a chain of casts when that computes the same: every type on the way holds all values of the first
 * one, or integers of one sign narrow step by step. Other casts have ways of their own, in legalize_casts.c and
 * legalize_float8.c.
 *   - Matrix products get operands and results that the matrix unit and its path to memory have.
 *
 * Exact except for functions and means of f16 and bf16, of which every result that is near the middle of two numbers
 * may become the other one. What cannot be done so is an error at the op.
 *
 * Requires tensor ops whose operands are tensors, as pto.spread-scalars leaves them. Leaves ops in element types that
 * the machine has instructions for, and casts (pto.types-legal). */
#include "legalize_types.h"

/* Whether elements are added or multiplied where they are put. */
static int combines(pto_op op)
{
    const pto_str reduce = pto_attr_str_of(op, PTO_STR("reduce"));
    return PTO_IS(op, INDEX_ADD) || (reduce.n != 0 && !pto_str_is(reduce, "none")) ||
           pto_attr_bool_of(op, PTO_STR("accumulate"), 0);
}

/* Ops that compute element by element, reductions and scans, but casts, which are legalized in their own way. */
static int is_vector_op(pto_op op)
{
    const int64_t rule = pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE);
    if (rule == PTO_ITER_INDEXED) return combines(op);
    if (rule == PTO_ITER_SCAN) return 1;
    return (rule == PTO_ITER_ELEMENTWISE || rule == PTO_ITER_REDUCE || rule == PTO_ITER_BROADCAST) && !PTO_IS(op, CAST);
}

/* ---- what the machine has ---- */

static int takes(const pto_run *run, const char *tile_op, pto_dtype t)
{
    return machine_takes(run, pto_kind_by_name(run, pto_s(tile_op)), t);
}

static int multiplies(const pto_run *run, pto_dtype t)
{
    return pto_machine_i64_or(run, -1, "matrix.cycles-per-box.%s", pto_dtype_name(t)) >= 0;
}

static int has_matrix(const pto_run *run) { return pto_machine_i64_or(run, -1, "matrix.head") >= 0; }

static int stores_as(const pto_run *run, pto_dtype acc, pto_dtype out)
{
    const pto_path_facts path = pto_path_facts_of(run, PTO_ROLE_ACCUMULATOR, PTO_ROLE_GLOBAL);
    return acc == out || (path != NULL && (path->casts[acc] >> out & 1) != 0);
}

/* ---- what to compute in ---- */

enum { CANNOT = PTO_DTYPE_NONE };

/* Whether a cast without saturation can be made of what the machine has. */
static int narrows_to(const pto_run *run, pto_dtype from, pto_dtype to)
{
    return legalize_find_chain(run, from, to, from).count != 0 || legalize_has_recipe(run, from, to);
}

static pto_dtype match_float_type(const pto_run *run, pto_kind_id kind, pto_dtype t)
{
    const pto_kind_id tile = machine_tile_kind(run, kind);
    if (tile == 0 || pto_kind_has(run, kind, PTO_TRAIT_SUMS)) return PTO_F32;
    if (machine_takes(run, tile, t)) return t;
    return machine_takes(run, tile, PTO_F32) && legalize_find_chain(run, t, PTO_F32, t).count != 0 &&
                   legalize_find_chain(run, PTO_F32, t, PTO_F32).count != 0
               ? PTO_F32
               : CANNOT;
}

static int makes_truth(const pto_run *run, pto_kind_id kind)
{
    return pto_kind_column(run, kind, PTO_COLUMN_MAKES) == PTO_BOOL;
}

/* Whether integers of type t can be computed in the wider type and come back. An extreme of many is combined too. */
static int serves(const pto_run *run, pto_kind_id kind, pto_dtype wider, pto_dtype t)
{
    const int picks = pto_kind_has(run, kind, PTO_TRAIT_PICKS);
    const pto_kind_id combined = (pto_kind_id)pto_kind_column(run, kind, PTO_COLUMN_TILE_WHOLE);
    if (!legalize_holds(wider, t) || !machine_takes(run, machine_tile_kind(run, kind), wider)) return 0;
    if (picks && combined != 0 && !machine_takes(run, combined, wider)) return 0;
    if (legalize_find_chain(run, t, wider, t).count == 0) return 0;
    if (makes_truth(run, kind)) return 1;
    if (picks) return legalize_find_chain(run, wider, t, t).count != 0;
    return pto_kind_has(run, kind, PTO_TRAIT_WRAPS) && legalize_is_integer(wider) && narrows_to(run, wider, t);
}

/* The element type that the op's operands should have; CANNOT: there is no exact way. */
static pto_dtype match_compute_type(const pto_run *run, pto_kind_id kind, pto_dtype t)
{
    static const pto_dtype wider[] = {PTO_F16, PTO_I16, PTO_F32, PTO_I32};
    if (t == PTO_BOOL) return t; /* masks */
    if (pto_dtype_is_float(t)) return match_float_type(run, kind, t);
    const pto_kind_id tile = machine_tile_kind(run, kind);
    if (tile == 0) return CANNOT;
    if (machine_takes(run, tile, t)) return t;
    for (size_t i = 0; i < sizeof wider / sizeof *wider; i++)
        if (serves(run, kind, wider[i], t)) return wider[i];
    return CANNOT;
}

/* The element type that an op computes in: of its first operand other than truth values. */
static pto_dtype operand_dtype(pto_op op)
{
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(op, i)));
        if (t != PTO_BOOL) return t;
    }
    return PTO_BOOL;
}
static pto_dtype result_dtype(pto_op op) { return pto_type_dtype(pto_value_type(pto_op_result(op, 0))); }

/* |x| of integers where the machine has it for floats only. */
static int match_integer_abs(const pto_run *run, pto_op op)
{
    const pto_dtype t = operand_dtype(op);
    if (!PTO_IS(op, ABS) || !legalize_is_integer(t) || takes(run, "tile.abs", t)) return 0;
    return legalize_is_unsigned(t) || (takes(run, "tile.neg", t) && takes(run, "tile.max", t));
}

static pto_dtype accumulator_of(pto_dtype operand) { return pto_dtype_is_float(operand) ? PTO_F32 : PTO_I32; }

/* The element type that the operands of a product should have; CANNOT: there is no exact way. */
static pto_dtype match_product_type(const pto_run *run, pto_dtype t)
{
    if (multiplies(run, t)) return t;
    if (pto_dtype_is_byte_float(t) && multiplies(run, PTO_F16)) return PTO_F16;
    return pto_dtype_is_float(t) && multiplies(run, PTO_F32) && legalize_find_chain(run, t, PTO_F32, t).count != 0
               ? PTO_F32
               : CANNOT;
}

/* ---- rewriting ---- */

/* That cast, before `op` and with the name of its result. */
static pto_value narrow(pto_op op, pto_value x, const legalize_chain *c, pto_dtype to)
{
    const legalize_chain direct = {.count = 1, .to = {to}};
    const pto_op none = pto_op_none(op.run);
    if (c->count != 0 || pto_type_dtype(pto_value_type(x)) == to)
        return legalize_convert(op, x, c, pto_name_after(op, PTO_STR("")), none);
    const pto_value cast = legalize_convert(op, x, &direct, pto_name_after(op, PTO_STR("")), none);
    const pto_op at = PTO_SOME(cast) ? pto_value_op(cast) : none;
    if (!PTO_SOME(at) || !PTO_IS(at, CAST)) return cast;
    const pto_value y = legalize_follow_recipe(at);
    return PTO_SOME(y) && pto_op_replace_by(at, y) == PTO_OK ? y : pto_value_none(op.run);
}

static int is_reduced_extreme(pto_op op) { return PTO_IS(op, REDUCE_MAX) || PTO_IS(op, REDUCE_MIN); }

static int may_reduce_nothing(pto_op op)
{
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    const uint32_t rank = pto_type_rank(type), reduced = pto_axes_of(op, rank);
    for (uint32_t i = 0; i < rank; i++) {
        const pto_range extent = pto_expr_range(pto_type_dim(type, i), op, NULL);
        if ((reduced & (1u << i)) != 0 && extent.lo < 1) return 1;
    }
    return 0;
}

/* The extreme of nothing in `wide` is beyond all values of the type that `op` has; what is within stays. */
static pto_value limit(pto_op op, pto_value wide)
{
    const pto_run *run = op.run;
    const pto_dtype t = result_dtype(op), compute = pto_type_dtype(pto_value_type(wide));
    if (!is_reduced_extreme(op) || !legalize_is_integer(t) || compute == t || !may_reduce_nothing(op)) return wide;
    const int is_max = PTO_IS(op, REDUCE_MAX), is_signed = legalize_is_signed(t);
    const int64_t highest = (INT64_C(1) << (legalize_bits(t) - is_signed)) - 1, value = !is_max     ? highest
                                                                                        : is_signed ? -highest - 1
                                                                                                    : 0;
    pto_spec c = pto_spec_make(run, pto_kind(run, KIND_CONSTANT));
    if (pto_dtype_is_float(compute))
        pto_spec_float(&c, PTO_STR("value"), (double)value);
    else
        pto_spec_int(&c, PTO_STR("value"), value);
    pto_spec_result(&c, pto_type_tensor(run, compute, 0, NULL));
    pto_spec_name(&c, pto_name_after(op, PTO_STR("_c")));
    pto_spec s = pto_spec_make(run, pto_kind(run, is_max ? KIND_MAXIMUM : KIND_MINIMUM));
    pto_spec_operand(&s, wide);
    pto_spec_operand(&s, pto_spec_value(&c, pto_before(op)));
    pto_spec_str(&s, PTO_STR("nan"), PTO_STR("any"));
    pto_spec_result(&s, pto_value_type(wide));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_limit")));
    return pto_spec_value(&s, pto_before(op));
}

/* Builds `s` before `op`, with a result in `type`, and puts it in the place of `op` in the type that `op` has. */
static pto_status replace_by(pto_op op, pto_spec *s, pto_dtype type, const legalize_chain *back, uint32_t stat)
{
    const pto_dtype to = result_dtype(op);
    pto_spec_result(s, pto_type_with_dtype(op.run, pto_value_type(pto_op_result(op, 0)), type));
    pto_spec_name(s, pto_name_after(op, pto_s(type == to ? "" : "_wide")));
    const pto_value made = pto_spec_value(s, pto_before(op));
    PTO_NEED(made);
    const pto_value wide = limit(op, made);
    PTO_NEED(wide);
    const pto_value y = narrow(op, wide, back, to);
    PTO_NEED(y);
    pto_stat_add(op.run, stat, 1);
    return pto_op_replace_by(op, y);
}

static pto_status rewrite_vector(const pto_run *run, pto_op op, pto_dtype compute)
{
    static const char *const suffixes[] = {"_a", "_b"};
    const pto_op none = pto_op_none(run);
    const pto_dtype t = operand_dtype(op);
    const legalize_chain in = legalize_find_chain(run, t, compute, t);
    const pto_kind_id kind = pto_op_kind(op);
    const int wraps = pto_kind_has(run, kind, PTO_TRAIT_WRAPS);
    const legalize_chain out =
        legalize_find_chain(run, compute, t, pto_kind_has(run, kind, PTO_TRAIT_PICKS) ? t : compute);
    const int is_truth = makes_truth(run, kind);
    if (in.count == 0 || (!is_truth && out.count == 0 && !(wraps && narrows_to(run, compute, t))))
        return pto_error(op, "pto.legalize-types/no-conversion",
                         "`%.*s` in %s has no instruction, and there is no conversion to %s and back",
                         PTO_FMT(pto_op_name(op)), pto_dtype_name(t), pto_dtype_name(compute));
    pto_spec s = pto_spec_make(run, kind);
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        const pto_value x = pto_op_operand(op, i);
        const int twice = i != 0 && pto_value_same(pto_op_operand(op, i - 1), x);
        pto_spec_operand(&s, pto_type_dtype(pto_value_type(x)) != t ? x
                             : twice                                ? s.operands[i - 1]
                                     : legalize_convert(op, x, &in, pto_name_after(op, pto_s(suffixes[i & 1])), none));
    }
    pto_spec_attrs_of(&s, op);
    if (legalize_is_integer(t) && PTO_SOME(pto_op_attr(op, PTO_STR("nan"))))
        pto_spec_str(&s, PTO_STR("nan"), PTO_STR("any"));
    const legalize_chain stays = {0};
    return is_truth ? replace_by(op, &s, PTO_BOOL, &stays, STAT_WIDENED)
                    : replace_by(op, &s, compute, &out, STAT_WIDENED);
}

static pto_status rewrite_integer_abs(const pto_run *run, pto_op op)
{
    const pto_value x = pto_op_operand(op, 0);
    if (legalize_is_unsigned(operand_dtype(op))) return pto_op_replace_by(op, x);
    const pto_value minus = pto_make1(run, pto_before(op), pto_kind(run, KIND_NEG), pto_value_type(x), x);
    const pto_value y = pto_make2(run, pto_before(op), pto_kind(run, KIND_MAXIMUM), pto_value_type(x), x, minus);
    PTO_NEED(y);
    PTO_TRY(pto_value_set_name(y, pto_name_after(op, PTO_STR(""))));
    return pto_op_replace_by(op, y);
}

/* A broadcast to the type that its operand has computes nothing. */
static int repeats_nothing(pto_op op)
{
    return PTO_IS(op, BROADCAST) &&
           pto_type_same(pto_value_type(pto_op_operand(op, 0)), pto_value_type(pto_op_result(op, 0)));
}

static pto_status visit_vector(const pto_run *run, pto_op op)
{
    const pto_dtype t = operand_dtype(op), compute = match_compute_type(run, pto_op_kind(op), t);
    const int spreads = compute == t && legalize_must_spread(op, t);
    if (compute == t && !spreads && !legalize_must_divide(op, t) && !legalize_must_limit(op, t)) return PTO_OK;
    if (repeats_nothing(op)) return pto_op_replace_by(op, pto_op_operand(op, 0));
    if (match_integer_abs(run, op)) return rewrite_integer_abs(run, op);
    if (compute != CANNOT && compute != t) return rewrite_vector(run, op, compute);
    const pto_value made = spreads ? legalize_spread(op, t) : legalize_integer_op(op, t);
    if (PTO_SOME(made)) {
        pto_stat_add(run, STAT_INTEGERS, 1);
        return pto_op_replace_by(op, made);
    }
    PTO_TRY(pto_go_on(run));
    const pto_kind_id tile = machine_tile_kind(run, pto_op_kind(op));
    const pto_str have = machine_dtypes(run, tile != 0 ? tile : pto_kind_by_name(run, PTO_STR("tile.add")));
    return pto_error(
        op, "pto.legalize-types/no-exact-way",
        "the machine has no `%.*s` in %s, and no wider type has the same results; its types are %.*s: cast the "
        "operands to one of them in the source",
        PTO_FMT(pto_op_name(op)), pto_dtype_name(t), PTO_FMT(have));
}

static pto_status cast_error(const pto_run *run, pto_op op, pto_dtype from, pto_dtype to)
{
    const pto_str have = machine_conversions(run, from);
    if (have.n == 0)
        return pto_error(op, "pto.legalize-types/no-conversion",
                         "the machine has no conversion from %s, so none to %s; `vector.conversions` of its file "
                         "lists what it has, and the pipeline reference.yaml needs none",
                         pto_dtype_name(from), pto_dtype_name(to));
    return pto_error(op, "pto.legalize-types/no-conversion",
                     "the machine has no conversion from %s to %s, and every chain of its conversions rounds or wraps "
                     "twice; from %s "
                     "it has %.*s: write the casts of the chain you want",
                     pto_dtype_name(from), pto_dtype_name(to), pto_dtype_name(from), PTO_FMT(have));
}

/* Whether a number is not 0. Floats of one byte are not compared. */
static pto_status rewrite_truth(const pto_run *run, pto_op op)
{
    const legalize_chain to_f32 = {.count = pto_dtype_is_byte_float(operand_dtype(op)) ? 1 : 0, .to = {PTO_F32}};
    const pto_value x =
        legalize_convert(op, pto_op_operand(op, 0), &to_f32, pto_name_after(op, PTO_STR("_wide")), pto_op_none(run));
    PTO_NEED(x);
    const pto_dtype t = pto_type_dtype(pto_value_type(x));
    pto_spec c = pto_spec_make(run, pto_kind(run, KIND_CONSTANT));
    if (pto_dtype_is_float(t))
        pto_spec_float(&c, PTO_STR("value"), 0.0);
    else
        pto_spec_int(&c, PTO_STR("value"), 0);
    pto_spec_result(&c, pto_type_tensor(run, t, 0, NULL));
    pto_spec_name(&c, pto_name_after(op, PTO_STR("_c")));
    const pto_value zero = pto_spec_value(&c, pto_before(op));
    const pto_value y =
        pto_make2(run, pto_before(op), pto_kind(run, KIND_NE), pto_value_type(pto_op_result(op, 0)), x, zero);
    PTO_NEED(y);
    PTO_TRY(pto_value_set_name(y, pto_name_after(op, PTO_STR(""))));
    PTO_TRY(pto_op_replace_by(op, y));
    return visit_vector(run, pto_value_op(y));
}

static pto_status put(pto_op op, pto_value made)
{
    if (!PTO_SOME(made)) return pto_go_on(op.run); /* pto.tile says what it lacks */
    pto_stat_add(op.run, STAT_INTEGERS, 1);
    return pto_op_replace_by(op, made);
}

/* The mode that `none` stands for: of several casts in the place of this one each would have one of its own. */
static pto_status name_mode(const pto_run *run, pto_op op)
{
    if (!pto_str_is(pto_attr_str_of(op, PTO_STR("mode")), "none")) return PTO_OK;
    const int cuts = pto_dtype_is_float(operand_dtype(op)) && legalize_is_integer(result_dtype(op));
    return pto_op_set_attr(op, PTO_STR("mode"), pto_attr_make_str(run, cuts ? PTO_STR("trunc") : PTO_STR("rint")));
}

static pto_status visit_cast(const pto_run *run, pto_op op)
{
    const pto_dtype from = operand_dtype(op), to = result_dtype(op);
    PTO_TRY(name_mode(run, op));
    if (to == PTO_BOOL && from != to) return rewrite_truth(run, op);
    if (from == to) return pto_op_replace_by(op, pto_op_operand(op, 0));
    if (legalize_must_round(op)) return put(op, legalize_rounded(op));
    if (machine_converts(run, from, to)) return PTO_OK;
    const legalize_chain c = legalize_find_chain(run, from, to, from);
    if (c.count == 0) {
        (void)legalize_fold_constant(pto_op_result(op, 0));
        if (!pto_op_is_live(op)) return PTO_OK;
        if (!legalize_has_recipe(run, from, to)) {
            const int is_byte = pto_dtype_is_byte_float(from) || pto_dtype_is_byte_float(to);
            const pto_value made = is_byte ? legalize_float8_cast(op) : legalize_integer_cast(op);
            if (!PTO_SOME(made)) return cast_error(run, op, from, to);
            pto_stat_add(run, STAT_INTEGERS, 1);
            return pto_op_replace_by(op, made);
        }
    }
    const pto_value y = c.count == 0
                            ? legalize_follow_recipe(op)
                            : legalize_convert(op, pto_op_operand(op, 0), &c, pto_name_after(op, PTO_STR("")), op);
    PTO_NEED(y);
    pto_stat_add(run, STAT_CHAINED, 1);
    return pto_op_replace_by(op, y);
}

static pto_status visit_matmul(const pto_run *run, pto_op op)
{
    const pto_op none = pto_op_none(run);
    const pto_dtype t = operand_dtype(op), out = result_dtype(op), want = match_product_type(run, t);
    if (!has_matrix(run) || pto_op_operand_count(op) > 2) return PTO_OK;
    if (want == CANNOT)
        return pto_error(op, "pto.legalize-types/no-product",
                         "the machine has no matrix product of %s; cast the operands to %s%s%s%s in the source",
                         pto_dtype_name(t), multiplies(run, PTO_F32) ? "f32 " : "",
                         multiplies(run, PTO_F16) ? "f16 " : "", multiplies(run, PTO_BF16) ? "bf16 " : "",
                         multiplies(run, PTO_I8) ? "or i8" : "");
    const pto_dtype acc = accumulator_of(want), stored = stores_as(run, acc, out) ? out : acc;
    if (want == t && stored == out) return PTO_OK;
    legalize_chain in = legalize_find_chain(run, t, want, t);
    const legalize_chain back = legalize_find_chain(run, stored, out, stored);
    if (in.count == 0 && want != t) in = (legalize_chain){.count = 1, .to = {want}};
    /* A sum of more than 32 bits would be cut to them before it is widened. */
    const int is_cut = legalize_is_integer(out) && legalize_bits(out) > legalize_bits(acc);
    if (stored != out && (!narrows_to(run, stored, out) || is_cut))
        return pto_error(op, "pto.legalize-types/no-product",
                         "the product of %s is %s, and the machine converts that neither on the way to memory nor in "
                         "exact steps to %s; "
                         "write {out = %s} and the cast that you want",
                         pto_dtype_name(want), pto_dtype_name(acc), pto_dtype_name(out), pto_dtype_name(acc));
    pto_spec s = pto_spec_make(run, pto_op_kind(op));
    pto_spec_operand(&s, legalize_convert(op, pto_op_operand(op, 0), &in, pto_name_after(op, PTO_STR("_a")), none));
    pto_spec_operand(&s, legalize_convert(op, pto_op_operand(op, 1), &in, pto_name_after(op, PTO_STR("_b")), none));
    pto_spec_attrs_of(&s, op);
    pto_spec_type(&s, PTO_STR("out"), pto_type_scalar(run, stored));
    return replace_by(op, &s, stored, &back, STAT_PRODUCTS);
}

static pto_status check_machine(const pto_run *run, pto_op function)
{
    if (pto_machine_text(run, "vector.dtypes").n != 0) return PTO_OK;
    return pto_error(
        function, "pto.legalize-types/no-machine",
        "what types are legal depends on the machine, and none is given; name one with `machine:` or --machine=FILE");
}

static pto_status check_operands(pto_op op)
{
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++)
        if (pto_type_kind_of(pto_value_type(pto_op_operand(op, i))) == PTO_TYPE_SCALAR)
            return pto_error(op, "pto.legalize-types/scalar-operand",
                             "`%.*s` has a scalar as operand; `pto.spread-scalars` makes a tensor of it",
                             PTO_FMT(pto_op_name(op)));
    return PTO_OK;
}

static pto_status legalize(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        const int is_vector = is_vector_op(op);
        if (is_vector) PTO_TRY(check_operands(op));
        if (is_vector)
            PTO_TRY(visit_vector(run, op));
        else if (PTO_IS(op, CAST))
            PTO_TRY(visit_cast(run, op));
        else if (PTO_IS(op, MATMUL))
            PTO_TRY(visit_matmul(run, op));
        else if (legalize_must_move(op))
            PTO_TRY(put(op, legalize_move(op)));
    }
    return PTO_OK;
}

/* ---- the property ---- */

static int is_legal(const pto_run *run, pto_op op)
{
    if (is_vector_op(op)) {
        const pto_dtype t = operand_dtype(op);
        return match_compute_type(run, pto_op_kind(op), t) == t && !legalize_must_divide(op, t) &&
               !legalize_must_spread(op, t);
    }
    if (PTO_IS(op, CAST))
        return operand_dtype(op) == result_dtype(op) ||
               (machine_converts(run, operand_dtype(op), result_dtype(op)) && !legalize_must_round(op));
    if (legalize_must_move(op)) return 0;
    if (!PTO_IS(op, MATMUL) || !has_matrix(run)) return 1;
    const machine_epilogue after = machine_epilogue_of(op);
    if (PTO_SOME(after.scale)) return machine_epilogue_obstacle(op, &after) == NULL;
    return multiplies(run, operand_dtype(op)) && stores_as(run, accumulator_of(operand_dtype(op)), result_dtype(op));
}

/* Not a property: steps that follow may take out of sight how an amount was made. */
static int is_limited(pto_op op) { return !is_vector_op(op) || !legalize_must_limit(op, operand_dtype(op)); }

static int has_illegal(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (!is_legal(run, op) || !is_limited(op)) return 1;
    }
    return 0;
}

/* What integer ops become may be illegal itself, in narrower types or fewer kinds of ops. */
static pto_status run_pass(const pto_run *run, pto_op function)
{
    enum { ROUNDS_MAX = 16 };
    PTO_TRY(check_machine(run, function));
    PTO_TRY(legalize(run, function));
    for (int i = 1; i < ROUNDS_MAX && has_illegal(run, function); i++) PTO_TRY(legalize(run, function));
    PTO_WALK(function, op)
    {
        if (legalize_must_fill(op)) PTO_TRY(put(op, legalize_fill(op)));
    }
    return PTO_OK;
}

static pto_status check_types_legal(const pto_run *run, pto_op function)
{
    PTO_TRY(check_machine(run, function));
    PTO_WALK(function, op)
    {
        if (!is_legal(run, op))
            return pto_error(op, "pto.legalize-types/illegal-type",
                             "the machine has no `%.*s` from %s to %s; `pto.legalize-types` puts casts around it",
                             PTO_FMT(pto_op_name(op)), pto_dtype_name(operand_dtype(op)),
                             pto_dtype_name(result_dtype(op)));
    }
    return PTO_OK;
}

static const pto_property types_legal = {
    .struct_size = sizeof types_legal,
    .id = "pto.types-legal",
    .doc = "every op computes in element types that the machine has",
    .level = "tensor/1",
    .kinds = pass_kinds,
    .check = check_types_legal,
};
static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES,
    .id = "pto.legalize-types",
    .summary = "Compute in element types that the machine has, with casts around",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .establishes = PTO_STRS("pto.types-legal"),
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.legalize-types", "pass:pto.legalize-types property:pto.types-legal", "pto.types-legal",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &types_legal));
