/* pto.decompose-rope: the rotary position embedding becomes products of the two elements of each pair.
 *
 *                                                       %p = tensor.view %x[0, 0] : tensor<$T x 4 x f32>
 *                                                       %q = tensor.view %x[0, 4] : tensor<$T x 4 x f32>
 *     %x: tensor<$T x 8 x f32>                     =>   %a = tensor.sub %p * %c, %q * %s
 *     %y = tensor.rope %x, %c, %s                       %b = tensor.add %q * %c, %p * %s
 *                                                       %y = tensor.concat %a, %b {axis = 1}
 *
 * Interleaved pairs are rows of two: their columns are the two views, and are side by side again afterwards. f16 and
 * bf16 operands are cast to f32 first, and the result is cast back once.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.rope`. */
#include "composite.h"

#define KINDS(X)               \
    X(ROPE, "tensor.rope")     \
    X(VIEW, "tensor.view")     \
    X(MUL, "tensor.mul")       \
    X(ADD, "tensor.add")       \
    X(SUB, "tensor.sub")       \
    X(CONCAT, "tensor.concat") \
    X(CAST, "tensor.cast")     \
    X(RESHAPE, "tensor.reshape")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value binary(pto_op op, uint32_t kind, const char *suffix, pto_value a, pto_value b)
{
    return composite_binary(op, pto_kind(op.run, kind), pto_value_type(a), suffix, a, b);
}

/* Columns of x from one on, in the shape `type`. */
static pto_value columns_of(pto_op op, pto_value x, pto_expr first, pto_type type, const char *suffix)
{
    const uint32_t rank = pto_type_rank(type);
    pto_expr offsets[PTO_MAX_DIMS];
    for (uint32_t d = 0; d + 1 < rank; d++) offsets[d] = pto_expr_const(op.run, 0);
    offsets[rank - 1] = first;
    pto_spec s = composite_spec(op, pto_kind(op.run, KIND_VIEW), type, suffix);
    pto_spec_operand(&s, x);
    pto_spec_exprs(&s, PTO_STR("offsets"), rank, offsets);
    return pto_spec_value(&s, pto_before(op));
}

/* All elements of a type as rows of so many. */
static pto_type rows_of(pto_op op, pto_type type, int64_t columns)
{
    pto_expr dims[2] = {pto_expr_const(op.run, 1), pto_expr_const(op.run, columns)};
    for (uint32_t d = 0; d < pto_type_rank(type); d++) dims[0] = pto_expr_mul(dims[0], pto_type_dim(type, d));
    dims[0] = pto_expr_floordiv(dims[0], dims[1]);
    return pto_type_tensor(op.run, PTO_F32, 2, dims);
}

/* The first or the second elements of the pairs: halves of rows of x, or, of interleaved ones, columns of rows of two.
 */
static pto_value part_of(pto_op op, pto_value x, pto_value pairs, int is_second, const char *suffix)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(x);
    const uint32_t last = pto_type_rank(type) - 1;
    const pto_expr half = pto_expr_floordiv(pto_type_dim(type, last), pto_expr_const(run, 2));
    const pto_type part = pto_type_with_dim(run, type, last, half);
    if (!PTO_SOME(pairs)) return columns_of(op, x, is_second ? half : pto_expr_const(run, 0), part, suffix);
    const pto_value column = columns_of(op, pairs, pto_expr_const(run, is_second), rows_of(op, part, 1), "_column");
    return PTO_SOME(column) ? composite_unary(op, pto_kind(run, KIND_RESHAPE), part, suffix, column) : column;
}

/* Both along `axis`, in the shape `type`. */
static pto_value joined(pto_op op, pto_type type, int64_t axis, const char *suffix, pto_value a, pto_value b)
{
    pto_spec s = composite_spec(op, pto_kind(op.run, KIND_CONCAT), type, suffix);
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    pto_spec_int(&s, PTO_STR("axis"), axis);
    return pto_spec_value(&s, pto_before(op));
}

/* The pairs as rows of two, which are the elements in their order. */
static pto_value interleaved(pto_op op, pto_type type, const char *suffix, pto_value a, pto_value b)
{
    const pto_run *run = op.run;
    const pto_type column = rows_of(op, pto_value_type(a), 1);
    const pto_kind_id reshape = pto_kind(run, KIND_RESHAPE);
    const pto_value first = composite_unary(op, reshape, column, "_firsts", a),
                    second = composite_unary(op, reshape, column, "_seconds", b);
    const pto_value pairs =
        joined(op, pto_type_with_dim(run, column, 1, pto_expr_const(run, 2)), 1, "_pairs", first, second);
    return composite_unary(op, reshape, type, suffix, pairs);
}

static pto_value expand_rope(const pto_run *run, pto_op op)
{
    const int is_interleaved = pto_str_is(pto_attr_str_of(op, PTO_STR("pairs")), "interleaved");
    const pto_kind_id cast = pto_kind(run, KIND_CAST);
    const pto_dtype given = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    const pto_value x = composite_cast(op, cast, PTO_F32, "_x", pto_op_operand(op, 0)),
                    c = composite_cast(op, cast, PTO_F32, "_cos", pto_op_operand(op, 1)),
                    s = composite_cast(op, cast, PTO_F32, "_sin", pto_op_operand(op, 2));
    if (!PTO_SOME(x)) return x;
    const pto_type type = pto_value_type(x);
    const pto_value pairs = is_interleaved
                                ? composite_unary(op, pto_kind(run, KIND_RESHAPE), rows_of(op, type, 2), "_given", x)
                                : pto_value_none(run);
    if (is_interleaved && !PTO_SOME(pairs)) return pairs;
    const pto_value p = part_of(op, x, pairs, 0, "_p"), q = part_of(op, x, pairs, 1, "_q");
    if (!PTO_SOME(p) || !PTO_SOME(q)) return pto_value_none(run);
    const pto_value pc = binary(op, KIND_MUL, "_pc", p, c), qs = binary(op, KIND_MUL, "_qs", q, s),
                    qc = binary(op, KIND_MUL, "_qc", q, c), ps = binary(op, KIND_MUL, "_ps", p, s);
    if (!PTO_SOME(pc) || !PTO_SOME(qc)) return pto_value_none(run);
    const pto_value a = binary(op, KIND_SUB, "_first", pc, qs), b = binary(op, KIND_ADD, "_second", qc, ps);
    if (!PTO_SOME(a) || !PTO_SOME(b)) return pto_value_none(run);
    const char *last = given == PTO_F32 ? "" : "_f32";
    const pto_value y = is_interleaved ? interleaved(op, type, last, a, b)
                                       : joined(op, type, (int64_t)pto_type_rank(type) - 1, last, a, b);
    return PTO_SOME(y) ? composite_cast(op, cast, given, "", y) : y;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_ROPE), STAT_DECOMPOSED, expand_rope);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-rope",
    .summary = "Take the rotary position embedding apart into views, products and their sums",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-rope", "pass:pto.decompose-rope rewrites:tensor.rope", "", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
