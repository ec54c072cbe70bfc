/* pto.decompose-attention: attention becomes two products with a softmax between them.
 *
 *                                                   %s = tensor.matmul %q, %k {transpose_b = true, out = f32}
 *     %y = tensor.attention %q, %k, %v, %m    =>    %a = tensor.add %s * scale, %m
 *                                                   %p = tensor.softmax %a
 *                                                   %y = tensor.matmul %p, %v
 *
 * Heads of q that share one of k become more rows of it, by a reshape, so that nothing is repeated. A mask of bool and
 * `causal` put minus infinity where a query does not see a key. Weights of f16 and bf16 are rounded to that type before
 * the second product.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.attention`, and `tensor.softmax` in its place. */
#include "composite.h"

#define KINDS(X)                       \
    X(ATTENTION, "tensor.attention")   \
    X(CONSTANT, "tensor.constant")     \
    X(INDEX_CAST, "tensor.index_cast") \
    X(IOTA, "tensor.iota")             \
    X(MATMUL, "tensor.matmul")         \
    X(SOFTMAX, "tensor.softmax")       \
    X(MUL, "tensor.mul")               \
    X(ADD, "tensor.add")               \
    X(SUB, "tensor.sub")               \
    X(LE, "tensor.le")                 \
    X(WHERE, "tensor.where")           \
    X(RSQRT, "tensor.rsqrt")           \
    X(CAST, "tensor.cast")             \
    X(RESHAPE, "tensor.reshape")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value number(pto_op op, double value)
{
    return composite_number(op, pto_kind(op.run, KIND_CONSTANT), PTO_F32, "_c", value);
}

static pto_value index_as(pto_op op, pto_dtype dtype, pto_expr from, const char *suffix)
{
    pto_spec s = composite_spec(op, pto_kind(op.run, KIND_INDEX_CAST), pto_type_tensor(op.run, dtype, 0, NULL), suffix);
    pto_spec_exprs(&s, PTO_STR("from"), 1, &from);
    return pto_spec_value(&s, pto_before(op));
}

/* A product of which the heads of `a` share those of `b`: `made`, in its own shape. */
static pto_value product(pto_op op, pto_type made, pto_value a, pto_value b, int is_turned, const char *suffix)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(a), shared = pto_value_type(b);
    const uint32_t rank = pto_type_rank(type);
    const int is_split = rank > 2 && !pto_expr_same(pto_type_dim(type, rank - 3), pto_type_dim(shared, rank - 3));
    pto_type rows = made;
    if (is_split) {
        const pto_expr heads = pto_type_dim(shared, rank - 3);
        const pto_expr more =
            pto_expr_mul(pto_expr_floordiv(pto_type_dim(type, rank - 3), heads), pto_type_dim(type, rank - 2));
        const pto_type from = pto_type_with_dim(run, pto_type_with_dim(run, type, rank - 3, heads), rank - 2, more);
        a = composite_unary(op, pto_kind(run, KIND_RESHAPE), from, "_rows", a);
        rows = pto_type_with_dim(run, pto_type_with_dim(run, made, rank - 3, heads), rank - 2, more);
    }
    pto_spec s = composite_spec(op, pto_kind(run, KIND_MATMUL), rows, is_split ? "_product" : suffix);
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    if (is_turned) pto_spec_bool(&s, PTO_STR("transpose_b"), 1);
    if (pto_type_dtype(made) != pto_type_dtype(type))
        pto_spec_type(&s, PTO_STR("out"), pto_type_scalar(run, pto_type_dtype(made)));
    const pto_value y = pto_spec_value(&s, pto_before(op));
    return is_split ? composite_unary(op, pto_kind(run, KIND_RESHAPE), made, suffix, y) : y;
}

static pto_value scaled(pto_op op, pto_value scores)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    const pto_expr extent = pto_type_dim(type, pto_type_rank(type) - 1);
    const pto_kind_id rsqrt = pto_kind(run, KIND_RSQRT);
    const pto_value scale = PTO_SOME(pto_op_attr(op, PTO_STR("scale")))
                                ? number(op, pto_attr_float_of(op, PTO_STR("scale"), 1))
                                : composite_unary(op, rsqrt, pto_type_tensor(run, PTO_F32, 0, NULL), "_scale",
                                                  index_as(op, PTO_F32, extent, "_extent"));
    return composite_binary(op, pto_kind(run, KIND_MUL), pto_value_type(scores), "_scaled", scores, scale);
}

static pto_value seen_only(pto_op op, pto_value sees, pto_value scores)
{
    return composite_where(op, pto_kind(op.run, KIND_WHERE), pto_value_type(scores), "_seen", sees, scores,
                           number(op, -__builtin_inf()));
}

static pto_value masked(pto_op op, pto_value scores)
{
    const pto_run *run = op.run;
    if (pto_op_operand_count(op) < 4) return scores;
    const pto_value mask = pto_op_operand(op, 3);
    if (pto_type_dtype(pto_value_type(mask)) == PTO_BOOL) return seen_only(op, mask, scores);
    return composite_binary(op, pto_kind(run, KIND_ADD), pto_value_type(scores), "_masked", scores,
                            composite_cast(op, pto_kind(run, KIND_CAST), PTO_F32, "_mask", mask));
}

static pto_value count(pto_op op, pto_expr rows, pto_expr columns, int64_t axis, const char *suffix)
{
    const pto_expr dims[] = {rows, columns};
    pto_spec s = composite_spec(op, pto_kind(op.run, KIND_IOTA), pto_type_tensor(op.run, PTO_I32, 2, dims), suffix);
    pto_spec_int(&s, PTO_STR("axis"), axis);
    return pto_spec_value(&s, pto_before(op));
}

/* A key is seen when it is at most as many places after a query as there are more keys than queries. */
static pto_value causal(pto_op op, pto_value scores)
{
    const pto_run *run = op.run;
    if (!pto_attr_bool_of(op, PTO_STR("causal"), 0)) return scores;
    const pto_type type = pto_value_type(scores);
    const uint32_t rank = pto_type_rank(type);
    const pto_expr queries = pto_type_dim(type, rank - 2), keys = pto_type_dim(type, rank - 1),
                   one = pto_expr_const(run, 1);
    const pto_expr dims[] = {queries, keys};
    const pto_type places = pto_type_tensor(run, PTO_I32, 2, dims);
    const pto_value key = count(op, one, keys, 1, "_key"), query = count(op, queries, one, 0, "_query");
    const pto_value after = composite_binary(op, pto_kind(run, KIND_SUB), places, "_after", key, query);
    const pto_value sees =
        composite_binary(op, pto_kind(run, KIND_LE), pto_type_with_dtype(run, places, PTO_BOOL), "_sees", after,
                         index_as(op, PTO_I32, pto_expr_sub(keys, queries), "_more"));
    return seen_only(op, sees, scores);
}

static pto_value expand_attention(const pto_run *run, pto_op op)
{
    const pto_value q = pto_op_operand(op, 0), k = pto_op_operand(op, 1), v = pto_op_operand(op, 2);
    const pto_type type = pto_value_type(q), result = pto_value_type(pto_op_result(op, 0));
    const uint32_t rank = pto_type_rank(type);
    const pto_expr keys = pto_type_dim(pto_value_type(k), rank - 2);
    const pto_type score = pto_type_with_dtype(run, pto_type_with_dim(run, type, rank - 1, keys), PTO_F32);
    pto_value scores = product(op, score, q, k, 1, "_scores");
    if (!PTO_SOME(scores)) return scores;
    scores = scaled(op, scores);
    if (PTO_SOME(scores)) scores = masked(op, scores);
    if (PTO_SOME(scores)) scores = causal(op, scores);
    if (!PTO_SOME(scores)) return scores;
    const pto_value wide = composite_unary(op, pto_kind(run, KIND_SOFTMAX), score, "_weights", scores);
    if (!PTO_SOME(wide)) return wide;
    const pto_value weights =
        composite_cast(op, pto_kind(run, KIND_CAST), pto_type_dtype(pto_value_type(v)), "_weights", wide);
    return PTO_SOME(weights) ? product(op, result, weights, v, 0, "") : weights;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_ATTENTION), STAT_DECOMPOSED, expand_attention);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-attention",
    .summary = "Take attention apart into two products and a softmax",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-attention", "pass:pto.decompose-attention rewrites:tensor.attention", "", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
