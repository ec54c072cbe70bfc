/* pto.decompose-rms-norm: the root mean square norm becomes a mean of squares, a root and two products.
 *
 *                                                    %q = tensor.mul %x, %x
 *                                                    %m = tensor.reduce_mean %q {axis = 1}
 *     %y = tensor.rms_norm %x, %g {eps = 1e-06} =>   %b = tensor.add %m, %eps
 *                                                    %r = tensor.rsqrt %b
 *                                                    %n = tensor.mul %x, %r
 *                                                    %y = tensor.mul %n, %g
 *
 * f16 and bf16 operands are cast to f32 first and the product is cast back once.
 *
 * Bound in units of 2^-24 of |y|, with e the error of the sum of squares: half of e, of the mean and of the addition
 * (1), the root of 2 ulp (4), the products (2): 7 + e / 2. That is within 8 sqrt(N) for any N, so nothing is gained by
 * the quotient by a square root, which costs a division for each element. `root: sqrt` asks for it nevertheless: 3 + e
 * / 2. Squares are f32: elements beyond 2^63 overflow and give 0. */
#include <pto/plugin.h>

#define KINDS(X)                         \
    X(RMS_NORM, "tensor.rms_norm")       \
    X(CONSTANT, "tensor.constant")       \
    X(MUL, "tensor.mul")                 \
    X(ADD, "tensor.add")                 \
    X(DIV, "tensor.div")                 \
    X(RSQRT, "tensor.rsqrt")             \
    X(SQRT, "tensor.sqrt")               \
    X(REDUCE_MEAN, "tensor.reduce_mean") \
    X(CAST, "tensor.cast")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                              \
    X(ROOT, ENUM, "root", .def = "rsqrt", .choices = root_choices,                                              \
      .doc = "rsqrt: multiply by the reciprocal root; sqrt: divide by the root, slower and 4 units more exact", \
      .example = "with: { root: sqrt }")
static const char *const root_choices[] = {"rsqrt", "sqrt", NULL};
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_type with_dtype(const pto_run *run, pto_type type, pto_dtype dtype)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t i = 0; i < rank; i++) dims[i] = pto_type_dim(type, i);
    return pto_type_tensor(run, dtype, rank, dims);
}

/* The type with extent 1 along the last axis. */
static pto_type column_type(const pto_run *run, pto_type type)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t i = 0; i < rank; i++) dims[i] = i + 1 == rank ? pto_expr_const(run, 1) : pto_type_dim(type, i);
    return pto_type_tensor(run, pto_type_dtype(type), rank, dims);
}

static void set_name(pto_spec *s, pto_op op, const char *suffix)
{
    const pto_str base = pto_value_name(pto_result(op, 0));
    const size_t room = base.n + strlen(suffix) + 1;
    char *name = pto_scratch(op.run, room);
    snprintf(name, room, "%.*s%s", PTO_FMT(base), suffix);
    pto_spec_name(s, pto_s(name));
}

/* Before `op`; the name is that of the result with a suffix, "" for the value that takes its place. */
static pto_value make1(pto_op op, uint32_t kind, pto_type type, const char *suffix, pto_value a)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, kind));
    pto_spec_operand(&s, a);
    if (kind == KIND_REDUCE_MEAN) pto_spec_int(&s, "axis", (int64_t)pto_type_rank(pto_value_type(a)) - 1);
    pto_spec_result(&s, type);
    set_name(&s, op, suffix);
    return pto_spec_value(&s, pto_before(op));
}

static pto_value make2(pto_op op, uint32_t kind, pto_type type, const char *suffix, pto_value a, pto_value b)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, kind));
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    pto_spec_result(&s, type);
    set_name(&s, op, suffix);
    return pto_spec_value(&s, pto_before(op));
}

/* One number, of rank 0. */
static pto_value make_number(pto_op op, const char *suffix, double number)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_CONSTANT));
    pto_spec_float(&s, "value", number);
    pto_spec_result(&s, pto_type_tensor(op.run, PTO_F32, 0, NULL));
    set_name(&s, op, suffix);
    return pto_spec_value(&s, pto_before(op));
}

static pto_status rewrite_rms_norm(const pto_run *run, pto_op op)
{
    const pto_value x = pto_operand(op, 0), gamma = pto_operand(op, 1);
    const pto_type given = pto_value_type(x), type = with_dtype(run, given, PTO_F32), column = column_type(run, type);
    const int narrow = pto_type_dtype(given) != PTO_F32, divides = pto_str_is(pto_opt_str(run, OPT_ROOT), "sqrt");
    const pto_value wide = narrow ? make1(op, KIND_CAST, type, "_x", x) : x;
    const pto_value weight =
        narrow ? make1(op, KIND_CAST, with_dtype(run, pto_value_type(gamma), PTO_F32), "_gamma", gamma) : gamma;
    const pto_value squares = make2(op, KIND_MUL, type, "_squares", wide, wide);
    const pto_value mean = make1(op, KIND_REDUCE_MEAN, column, "_mean", squares);
    const pto_value eps = make_number(op, "_eps", pto_attr_float_of(op, "eps", 0.0));
    const pto_value biased = make2(op, KIND_ADD, column, "_biased", mean, eps);
    const pto_value root = make1(op, divides ? KIND_SQRT : KIND_RSQRT, column, divides ? "_root" : "_rsqrt", biased);
    const pto_value scaled = make2(op, divides ? KIND_DIV : KIND_MUL, type, "_scaled", wide, root);
    pto_value y = make2(op, KIND_MUL, type, narrow ? "_f32" : "", scaled, weight);
    if (narrow) y = make1(op, KIND_CAST, given, "", y);
    PTO_NEED(y);
    pto_count(run, STAT_DECOMPOSED);
    return pto_replace(op, y);
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (pto_op_is(op, pto_kind(run, KIND_RMS_NORM))) PTO_TRY(rewrite_rms_norm(run, op));
    }
    return PTO_OK;
}

static pto_status check_no_rms_norm(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (pto_op_is(op, pto_kind(run, KIND_RMS_NORM)))
            return pto_error(op, "pto.decompose-rms-norm/composite-left",
                             "`tensor.rms_norm` is still a composite; `pto.decompose-rms-norm` takes it apart");
    }
    return PTO_OK;
}

static const pto_property no_rms_norm = {
    .struct_size = sizeof no_rms_norm,
    .id = "pto.no-rms-norm",
    .doc = "no op is a root mean square norm",
    .level = "tensor/1",
    .kinds = pass_kinds,
    .check = check_no_rms_norm,
};
static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES,
    .id = "pto.decompose-rms-norm",
    .summary = "Take the root mean square norm apart into a mean, a root and products",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .establishes = PTO_STRS("pto.no-rms-norm"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-rms-norm", "pass:pto.decompose-rms-norm property:pto.no-rms-norm", "pto.no-rms-norm",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &no_rms_norm));
