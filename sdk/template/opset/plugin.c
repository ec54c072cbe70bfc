/* org.example.opset: an op of its own, and a pass that makes ops of it that every pipeline knows.
 *
 *                                                            %s = tensor.sub %a, %b
 *     %d = org.example.squared_distance %a, %b {axis = 1} => %q = tensor.mul %s, %s
 *                                                            %d = tensor.reduce_sum %q {axis = 1}
 *
 * Bound: a difference, a square and a sum of n terms that are not negative are each rounded to f32, so that the result
 * is within (n + 2) 2^-24 of the exact one, relatively. */
#include <pto/plugin.h>

/* ---- the op ---- */

static int64_t axis_of(pto_op op, uint32_t rank)
{
    const int64_t axis = pto_attr_int_of(op, PTO_STR("axis"), -1);
    return axis < 0 ? axis + rank : axis;
}

static pto_status infer_distance(const pto_run *run, pto_op op, pto_type *results)
{
    const pto_type a = pto_value_type(pto_op_operand(op, 0)), b = pto_value_type(pto_op_operand(op, 1));
    const uint32_t rank = pto_type_rank(a);
    const int64_t axis = axis_of(op, rank);
    if (rank != pto_type_rank(b))
        return pto_error(op, "org.example/shapes", "has operands of %u and %u dims", rank, pto_type_rank(b));
    for (uint32_t d = 0; d < rank; d++)
        if (!pto_expr_equal(pto_type_dim(a, d), pto_type_dim(b, d)))
            return pto_error(op, "org.example/shapes", "has operands that differ in dim %u", d);
    if (axis < 0 || axis >= rank)
        return pto_error(op, "org.example/axis", "has no axis %lld; its operands have %u dims",
                         (long long)pto_attr_int_of(op, PTO_STR("axis"), -1), rank);
    results[0] = pto_type_with_dim(run, a, (uint32_t)axis, pto_expr_const(run, 1));
    return PTO_OK;
}

/* The element of a tensor that `index` names, an index for each dim; dims of extent 1 stay at their one element. */
static float *element(const pto_tensor *t, const int64_t *index)
{
    float *at = (float *)t->data;
    for (uint32_t d = 0; d < t->rank; d++) at += t->dims[d] == 1 ? 0 : index[d] * t->strides[d];
    return at;
}

/* The next index, the last dim fastest; 0 after the last. */
static int step(const pto_tensor *t, int64_t *index)
{
    for (uint32_t d = t->rank; d-- > 0;) {
        if (++index[d] < t->dims[d]) return 1;
        index[d] = 0;
    }
    return 0;
}

/* Sums in f64, in ascending order, rounded once. */
static pto_status evaluate_distance(const pto_run *run, pto_op op, const pto_tensor *const *operands,
                                    const pto_tensor *const *results)
{
    const pto_tensor *a = operands[0], *b = operands[1], *out = results[0];
    const uint32_t axis = (uint32_t)axis_of(op, a->rank);
    int64_t index[PTO_MAX_DIMS] = {0};
    (void)run;
    for (uint32_t d = 0; d < out->rank; d++)
        if (out->dims[d] == 0) return PTO_OK;
    do {
        double sum = 0;
        for (index[axis] = 0; index[axis] < a->dims[axis]; index[axis]++) {
            const double difference = (double)*element(a, index) - (double)*element(b, index);
            sum += difference * difference;
        }
        index[axis] = 0;
        *element(out, index) = (float)sum;
    } while (step(out, index));
    return PTO_OK;
}

static const pto_row_operand operand_a = {.struct_size = sizeof operand_a, .types = PTO_OF_TENSOR, .name = "a"};
static const pto_row_operand operand_b = {.struct_size = sizeof operand_b, .types = PTO_OF_TENSOR, .name = "b"};
static const pto_row_attr attr_axis = {.struct_size = sizeof attr_axis,
                                       .type = PTO_ROW_INT,
                                       .name = "axis",
                                       .doc = "axis of the sum, which stays with extent 1; negative: from the end",
                                       .def = "-1"};
static const pto_op_row squared_distance = {
    .struct_size = sizeof squared_distance,
    .traits = PTO_TRAIT_PURE | PTO_TRAIT_COMMUTATIVE,
    .name = "org.example.squared_distance",
    .doc = "Sum of (a - b)^2 along an axis. Of nothing: 0.",
    .dtypes = PTO_DTYPE_SET(F32),
    .result_count = 1,
    .result_types = PTO_OF_TENSOR,
    .operands = PTO_LIST(pto_row_operand, &operand_a, &operand_b),
    .attrs = PTO_LIST(pto_row_attr, &attr_axis),
    .numerics = "relative error at most (n + 2) 2^-24 for n terms",
    .ulp = 255,
    .infer = infer_distance,
    .evaluate = evaluate_distance,
};
static const pto_opset opset = {.struct_size = sizeof opset,
                                .id = "org.example",
                                .level = "tensor/1",
                                .rows = PTO_LIST(pto_op_row, &squared_distance)};

/* ---- the pass ---- */

#define KINDS(X)                                \
    X(DISTANCE, "org.example.squared_distance") \
    X(SUB, "tensor.sub")                        \
    X(MUL, "tensor.mul") X(SUM, "tensor.reduce_sum")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value decompose(const pto_run *run, pto_op op)
{
    const pto_value a = pto_op_operand(op, 0), b = pto_op_operand(op, 1);
    const pto_type type = pto_value_type(a);
    const int64_t axis = axis_of(op, pto_type_rank(type));
    const pto_value s = pto_make2(run, pto_before(op), pto_kind(run, KIND_SUB), type, a, b);
    const pto_value q = pto_make2(run, pto_before(op), pto_kind(run, KIND_MUL), type, s, s);
    pto_spec sum = pto_spec_make(run, pto_kind(run, KIND_SUM));
    pto_spec_operand(&sum, q);
    pto_spec_result(&sum, pto_value_type(pto_op_result(op, 0)));
    pto_spec_ints(&sum, PTO_STR("axis"), 1, &axis);
    return pto_spec_value(&sum, pto_before(op));
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (!pto_op_is(op, pto_kind(run, KIND_DISTANCE))) continue;
        const pto_value d = decompose(run, op);
        PTO_NEED(d);
        pto_stat_add(run, STAT_DECOMPOSED, 1);
        PTO_TRY(pto_op_replace_by(op, d));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES,
    .id = "org.example.decompose-squared-distance",
    .summary = "Take squared distances apart into a difference, a square and a sum",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("org.example.opset", "op:org.example.squared_distance pass:org.example.decompose-squared-distance", "",
           .version = "0.1.0", .license = "MIT", .passes = PTO_LIST(pto_pass, &pass),
           .opsets = PTO_LIST(pto_opset, &opset));
