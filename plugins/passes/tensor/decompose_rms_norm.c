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
 * / 2. Squares are f32: elements beyond 2^63 overflow and the result is 0.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.rms_norm` (pto.no-rms-norm). */
#include "composite.h"

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

static pto_value expand_rms_norm(const pto_run *run, pto_op op)
{
    const pto_kind_id cast = pto_kind(run, KIND_CAST), mul = pto_kind(run, KIND_MUL);
    const int divides = pto_str_is(pto_opt_str(run, OPT_ROOT), "sqrt");
    const pto_dtype given = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    const pto_value x = composite_cast(op, cast, PTO_F32, "_x", pto_op_operand(op, 0));
    const pto_value gamma = composite_cast(op, cast, PTO_F32, "_gamma", pto_op_operand(op, 1));
    const pto_type type = pto_value_type(x);
    const int64_t axis = (int64_t)pto_type_rank(type) - 1;
    const pto_value squares = composite_binary(op, mul, type, "_squares", x, x);
    const pto_value mean = composite_reduce(op, pto_kind(run, KIND_REDUCE_MEAN), axis, NULL, "_mean", squares);
    const pto_type column = pto_value_type(mean);
    const pto_value eps =
        composite_number(op, pto_kind(run, KIND_CONSTANT), PTO_F32, "_eps", pto_attr_float_of(op, PTO_STR("eps"), 0.0));
    const pto_value biased = composite_binary(op, pto_kind(run, KIND_ADD), column, "_biased", mean, eps);
    const pto_value root = composite_unary(op, pto_kind(run, divides ? KIND_SQRT : KIND_RSQRT), column,
                                           divides ? "_root" : "_rsqrt", biased);
    const pto_value scaled = composite_binary(op, divides ? pto_kind(run, KIND_DIV) : mul, type, "_scaled", x, root);
    const pto_value y = composite_binary(op, mul, type, given == PTO_F32 ? "" : "_f32", scaled, gamma);
    return composite_cast(op, cast, given, "", y);
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_RMS_NORM), STAT_DECOMPOSED, expand_rms_norm);
}

static pto_status check_no_rms_norm(const pto_run *run, pto_op function)
{
    const pto_op left = composite_find(function, pto_kind(run, KIND_RMS_NORM));
    if (!PTO_SOME(left)) return PTO_OK;
    return pto_error(left, "pto.decompose-rms-norm/composite-left",
                     "`tensor.rms_norm` is still a composite; `pto.decompose-rms-norm` takes it apart");
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
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
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
