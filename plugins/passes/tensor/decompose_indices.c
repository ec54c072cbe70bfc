/* pto.decompose-indices: what computes with indices becomes arithmetic on rows and columns of them.
 *
 *     %y = tensor.iota {axis = 0} : tensor<4 x $N x f32>      %i = tensor.iota {axis = 0} : tensor<4 x 1 x i32>
 *                                                       =>    %b = tensor.broadcast %i : tensor<4 x $N x i32>
 *                                                             %y = tensor.cast %b : tensor<4 x $N x f32>
 *
 *                                                             %c = tensor.iota {axis = 1} : tensor<1 x $N x i32>
 *                                                             %r = tensor.iota {axis = 0} : tensor<4 x 1 x i32>
 *     %y = tensor.tril %x                               =>    %d = tensor.sub %c, %r
 *                                                             %k = tensor.le %d, 0
 *                                                             %y = tensor.where %k, %x, 0
 *
 *                                                             %m = tensor.reduce_max %x {axis = 1}
 *                                                             %h = tensor.eq %x, %m, or NaN
 *     %y = tensor.argmax %x {axis = 1}                  =>    %c = tensor.iota {axis = 1} : tensor<1 x $N x i32>
 *                                                             %w = tensor.where %h, %c, the largest i32
 *                                                             %y = tensor.reduce_min %w {axis = 1}
 *
 * The lowest index stays the lowest in whatever tiles an axis is split into. Indices are i32. Exact.
 *
 * Requires tensor ops, of any form. Leaves no tensor.tril, triu, argmax and argmin, and tensor.iota in i32 of which no
 * dim but its axis is longer than 1. */
#include "composite.h"

#define KINDS(X)                       \
    X(IOTA, "tensor.iota")             \
    X(TRIL, "tensor.tril")             \
    X(TRIU, "tensor.triu")             \
    X(ARGMAX, "tensor.argmax")         \
    X(ARGMIN, "tensor.argmin")         \
    X(REDUCE_MAX, "tensor.reduce_max") \
    X(REDUCE_MIN, "tensor.reduce_min") \
    X(EQ, "tensor.eq")                 \
    X(NE, "tensor.ne")                 \
    X(OR, "tensor.logical_or")         \
    X(ADD, "tensor.add")               \
    X(MUL, "tensor.mul")               \
    X(INDEX_CAST, "tensor.index_cast") \
    X(CONSTANT, "tensor.constant")     \
    X(SUB, "tensor.sub")               \
    X(LE, "tensor.le")                 \
    X(GE, "tensor.ge")                 \
    X(WHERE, "tensor.where")           \
    X(CAST, "tensor.cast")             \
    X(BROADCAST, "tensor.broadcast")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_value number(pto_op op, pto_dtype dtype, int64_t value)
{
    return composite_number(op, pto_kind(op.run, KIND_CONSTANT), dtype, "_c", (double)value);
}

static pto_value count(pto_op op, pto_type shape, uint32_t axis, const char *suffix)
{
    return composite_count(op, pto_kind(op.run, KIND_IOTA), shape, axis, suffix);
}

static pto_status check_extent(pto_op op, pto_type shape, uint32_t axis)
{
    int64_t extent = 0;
    if (!pto_dim_is_const(shape, axis, &extent) || extent <= INT32_MAX) return PTO_OK;
    return pto_error(op, "pto.decompose-indices/many",
                     "`%.*s` counts %lld elements along dim %u, and indices are lowered in i32, to %d: split the axis",
                     PTO_FMT(pto_op_name(op)), (long long)extent, (unsigned)axis, INT32_MAX);
}

static pto_value expand_iota(pto_op op)
{
    const pto_run *run = op.run;
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    int64_t axis = pto_attr_int_of(op, PTO_STR("axis"), 0);
    if (axis < 0) axis += pto_type_rank(type);
    if (check_extent(op, type, (uint32_t)axis) != PTO_OK) return pto_value_none(run);
    const pto_type indices = pto_type_with_dtype(run, type, PTO_I32);
    pto_value y = count(op, type, (uint32_t)axis, "_index");
    if (PTO_SOME(y) && !pto_type_same(pto_value_type(y), indices))
        y = composite_unary(op, pto_kind(run, KIND_BROADCAST), indices, "_all", y);
    return PTO_SOME(y) ? composite_cast(op, pto_kind(run, KIND_CAST), pto_type_dtype(type), "", y) : y;
}

static pto_value expand_triangle(pto_op op)
{
    const pto_run *run = op.run;
    const pto_value x = pto_op_operand(op, 0);
    const pto_type type = pto_value_type(x);
    const uint32_t rank = pto_type_rank(type);
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t i = 0; i < rank; i++) dims[i] = i + 2 < rank ? pto_expr_const(run, 1) : pto_type_dim(type, i);
    if (check_extent(op, type, rank - 1) != PTO_OK || check_extent(op, type, rank - 2) != PTO_OK)
        return pto_value_none(run);
    const pto_type matrix = pto_type_tensor(run, PTO_I32, rank, dims);
    const pto_value columns = count(op, type, rank - 1, "_column"), rows = count(op, type, rank - 2, "_row");
    const pto_value place = composite_binary(op, pto_kind(run, KIND_SUB), matrix, "_place", columns, rows);
    int64_t diagonal = pto_attr_int_of(op, PTO_STR("diagonal"), 0);
    diagonal = diagonal > INT32_MAX ? INT32_MAX : diagonal < INT32_MIN ? INT32_MIN : diagonal;
    const pto_value keep =
        composite_binary(op, pto_kind(run, PTO_IS(op, TRIL) ? KIND_LE : KIND_GE),
                         pto_type_with_dtype(run, matrix, PTO_BOOL), "_keep", place, number(op, PTO_I32, diagonal));
    return composite_where(op, pto_kind(run, KIND_WHERE), type, "", keep, x, number(op, pto_type_dtype(type), 0));
}

/* Extents of 1 where `op` reduces. */
static pto_type kept_type(pto_op op, pto_type type, uint32_t reduced)
{
    for (uint32_t i = 0; i < pto_type_rank(type); i++)
        if ((reduced & (1u << i)) != 0) type = pto_type_with_dim(op.run, type, i, pto_expr_const(op.run, 1));
    return type;
}

/* a + b of indices, of extents as both have. */
static pto_value add_indices(pto_op op, pto_type shape, uint32_t dims, pto_value a, pto_value b)
{
    return composite_binary(op, pto_kind(op.run, KIND_ADD),
                            pto_type_with_dtype(op.run, kept_type(op, shape, ~dims), PTO_I32), "_index", a, b);
}

/* The index in row-major order of the reduced dims: that along each of them times the extents of those after it. */
static pto_value linear_index(pto_op op, pto_type shape, uint32_t reduced)
{
    const pto_run *run = op.run;
    pto_value all = pto_value_none(run);
    pto_expr stride = pto_expr_const(run, 1);
    uint32_t done = 0;
    for (uint32_t axis = pto_type_rank(shape); axis-- > 0;) {
        if ((reduced & (1u << axis)) == 0) continue;
        pto_value index = count(op, shape, axis, "_along");
        if (done != 0) {
            pto_spec s =
                composite_spec(op, pto_kind(run, KIND_INDEX_CAST), pto_type_tensor(run, PTO_I32, 0, NULL), "_stride");
            pto_spec_exprs(&s, PTO_STR("from"), 1, &stride);
            index = composite_binary(op, pto_kind(run, KIND_MUL), pto_value_type(index), "_scaled", index,
                                     pto_spec_value(&s, pto_before(op)));
        }
        done |= 1u << axis;
        all = PTO_SOME(all) ? add_indices(op, shape, done, index, all) : index;
        stride = pto_expr_mul(stride, pto_type_dim(shape, axis));
    }
    return all;
}

static pto_value reduced_along(pto_op op, uint32_t kind, pto_type type, const char *suffix, pto_value x)
{
    pto_spec s = composite_spec(op, pto_kind(op.run, kind), type, suffix);
    pto_spec_operand(&s, x);
    pto_spec_attr(&s, PTO_STR("axis"), pto_op_attr(op, PTO_STR("axis")));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value expand_argument(pto_op op)
{
    const pto_run *run = op.run;
    const pto_value x = pto_op_operand(op, 0);
    const pto_type type = pto_value_type(x), truth = pto_type_with_dtype(run, type, PTO_BOOL);
    const uint32_t reduced = pto_axes_of(op, pto_type_rank(type));
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    for (uint32_t i = 0; i < pto_type_rank(type); i++)
        if ((reduced & (1u << i)) != 0 && check_extent(op, type, i) != PTO_OK) return pto_value_none(run);
    const pto_value most = reduced_along(op, PTO_IS(op, ARGMAX) ? KIND_REDUCE_MAX : KIND_REDUCE_MIN,
                                         kept_type(op, type, reduced), "_value", x);
    pto_value hit = composite_binary(op, pto_kind(run, KIND_EQ), truth, "_hit", x, most);
    if (pto_dtype_is_float(pto_type_dtype(type))) {
        const pto_value nan = composite_binary(op, pto_kind(run, KIND_NE), truth, "_nan", x, x);
        hit = composite_binary(op, pto_kind(run, KIND_OR), truth, "_hit", hit, nan);
    }
    const pto_value index = linear_index(op, type, reduced), none = number(op, PTO_I32, INT32_MAX);
    const pto_value candidates = composite_where(op, pto_kind(run, KIND_WHERE), pto_type_with_dtype(run, type, PTO_I32),
                                                 "_candidate", hit, index, none);
    pto_spec r = composite_spec(op, pto_kind(run, KIND_REDUCE_MIN), pto_type_with_dtype(run, result, PTO_I32),
                                pto_type_dtype(result) == PTO_I32 ? "" : "_i32");
    pto_spec_operand(&r, candidates);
    pto_spec_attr(&r, PTO_STR("axis"), pto_op_attr(op, PTO_STR("axis")));
    pto_spec_bool(&r, PTO_STR("keepdim"), pto_attr_bool_of(op, PTO_STR("keepdim"), 1));
    return composite_cast(op, pto_kind(run, KIND_CAST), pto_type_dtype(result), "", pto_spec_value(&r, pto_before(op)));
}

/* An iota that stays. */
static int is_plain(pto_op op)
{
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    int64_t axis = pto_attr_int_of(op, PTO_STR("axis"), 0);
    if (axis < 0) axis += pto_type_rank(type);
    for (uint32_t i = 0; i < pto_type_rank(type); i++) {
        int64_t extent = 0;
        if (i != (uint32_t)axis && (!pto_dim_is_const(type, i, &extent) || extent != 1)) return 0;
    }
    return pto_type_dtype(type) == PTO_I32;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        const int is_iota = PTO_IS(op, IOTA) && !is_plain(op), is_triangle = PTO_IS(op, TRIL) || PTO_IS(op, TRIU);
        if (!is_iota && !is_triangle && !PTO_IS(op, ARGMAX) && !PTO_IS(op, ARGMIN)) continue;
        const pto_value y = is_iota ? expand_iota(op) : is_triangle ? expand_triangle(op) : expand_argument(op);
        PTO_NEED(y);
        pto_stat_add(run, STAT_DECOMPOSED, 1);
        PTO_TRY(pto_op_replace_by(op, y));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_NEEDED,
    .id = "pto.decompose-indices",
    .summary = "Make arithmetic on indices of iota, triangles, argmax and argmin",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-indices",
           "pass:pto.decompose-indices rewrites:tensor.iota rewrites:tensor.tril rewrites:tensor.triu "
           "rewrites:tensor.argmax rewrites:tensor.argmin",
           "", .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
