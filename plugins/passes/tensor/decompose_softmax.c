/* pto.decompose-softmax: softmax becomes a maximum, an exponential, a sum and a quotient along its axis.
 *
 *                                              %m = tensor.reduce_max %x {axis = 1, nan = "any"}
 *                                              %d = tensor.sub %x, %m
 *     %y = tensor.softmax %x {axis = 1}   =>   %e = tensor.exp %d
 *                                              %s = tensor.reduce_sum %e {axis = 1}
 *                                              %y = tensor.div %e, %s
 *
 * f16 and bf16 operands are cast to f32 first and the quotient is cast back once. The maximum may treat NaN as it
 * likes: a NaN of x is a NaN of d at the same place, so of the sum, so of the whole row, as softmax wants it.
 *
 * Bound: the relative error is at most (|x - max| + 6) 2^-24, since the difference is rounded, plus that of the sum. */
#include <pto/plugin.h>

#define KINDS(X)                       \
    X(SOFTMAX, "tensor.softmax")       \
    X(REDUCE_MAX, "tensor.reduce_max") \
    X(REDUCE_SUM, "tensor.reduce_sum") \
    X(SUB, "tensor.sub")               \
    X(EXP, "tensor.exp")               \
    X(DIV, "tensor.div")               \
    X(CAST, "tensor.cast")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_type with_dtype(const pto_run *run, pto_type type, pto_dtype dtype)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t i = 0; i < rank; i++) dims[i] = pto_type_dim(type, i);
    return pto_type_tensor(run, dtype, rank, dims);
}

/* The type with extent 1 along one axis. */
static pto_type reduced_type(const pto_run *run, pto_type type, int64_t axis)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t i = 0; i < rank; i++) dims[i] = i == axis ? pto_expr_const(run, 1) : pto_type_dim(type, i);
    return pto_type_tensor(run, pto_type_dtype(type), rank, dims);
}

/* Before `op`; the name is that of the result with a suffix, "" for the value that takes its place. */
static pto_value make(pto_op op, uint32_t kind, pto_type type, const char *suffix, pto_value a, pto_value b)
{
    const pto_run *run = op.run;
    const pto_str base = pto_value_name(pto_result(op, 0));
    const size_t room = base.n + strlen(suffix) + 1;
    char *name = pto_scratch(run, room);
    snprintf(name, room, "%.*s%s", PTO_FMT(base), suffix);
    pto_spec s = pto_spec_make(run, pto_kind(run, kind));
    pto_spec_operand(&s, a);
    if (kind == KIND_SUB || kind == KIND_DIV) pto_spec_operand(&s, b);
    if (kind == KIND_REDUCE_MAX || kind == KIND_REDUCE_SUM) {
        const int64_t axis = pto_attr_int_of(op, "axis", -1), rank = pto_type_rank(pto_value_type(a));
        pto_spec_int(&s, "axis", axis < 0 ? axis + rank : axis);
    }
    if (kind == KIND_REDUCE_MAX) pto_spec_str(&s, "nan", "any");
    pto_spec_result(&s, type);
    pto_spec_name(&s, pto_s(name));
    return pto_spec_value(&s, pto_before(op));
}

static pto_status rewrite_softmax(const pto_run *run, pto_op op)
{
    const pto_value none = pto_value_none(run), x = pto_operand(op, 0);
    const pto_type given = pto_value_type(x), type = with_dtype(run, given, PTO_F32);
    const int narrow = pto_type_dtype(given) != PTO_F32;
    const int64_t axis = pto_attr_int_of(op, "axis", -1);
    const pto_type column = reduced_type(run, type, axis < 0 ? axis + pto_type_rank(type) : axis);
    const pto_value wide = narrow ? make(op, KIND_CAST, type, "_x", x, none) : x;
    const pto_value m = make(op, KIND_REDUCE_MAX, column, "_max", wide, none);
    const pto_value d = make(op, KIND_SUB, type, "_shifted", wide, m);
    const pto_value e = make(op, KIND_EXP, type, "_exp", d, none);
    const pto_value s = make(op, KIND_REDUCE_SUM, column, "_sum", e, none);
    pto_value y = make(op, KIND_DIV, type, narrow ? "_f32" : "", e, s);
    if (narrow) y = make(op, KIND_CAST, given, "", y, none);
    PTO_NEED(y);
    pto_count(run, STAT_DECOMPOSED);
    return pto_replace(op, y);
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (pto_op_is(op, pto_kind(run, KIND_SOFTMAX))) PTO_TRY(rewrite_softmax(run, op));
    }
    return PTO_OK;
}

static pto_status check_no_softmax(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (pto_op_is(op, pto_kind(run, KIND_SOFTMAX)))
            return pto_error(op, "pto.decompose-softmax/composite-left",
                             "`tensor.softmax` is still a composite; `pto.decompose-softmax` takes it apart");
    }
    return PTO_OK;
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
    .flags = PTO_PASS_REASSOCIATES,
    .id = "pto.decompose-softmax",
    .summary = "Take softmax apart into a maximum, an exponential, a sum and a quotient",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .establishes = PTO_STRS("pto.no-softmax"),
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-softmax", "pass:pto.decompose-softmax property:pto.no-softmax", "pto.no-softmax",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &no_softmax));
