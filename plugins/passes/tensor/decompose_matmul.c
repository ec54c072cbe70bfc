/* pto.decompose-matmul: products of matrices become those that a matrix unit makes, and what follows the sum ops of
 * their own.
 *
 *                                                        %p = tensor.matmul %a, %b {out = f32}
 *     %y = tensor.matmul %a, %b, %bias                   %q = tensor.add %p, %bias
 *          {out = f16, activation = "relu"}       =>     %r = tensor.relu %q
 *                                                        %y = tensor.cast %r
 *
 * What the kernel of the product can do by itself stays with it (machine_epilogue_obstacle): a bias, a scale, a relu,
 * and the rounding to the result type. A scale is one known number, or one for each column or for all, which stores of
 * the machine cut to 11 bits: unless `column-scales` says that they may, these are of f16 or bf16. Where they are ops
 * of their own after the product, they become part of it:
 *
 *     %p = tensor.matmul %a, %b {out = f32}
 *     %q = tensor.add %p, %bias
 *     %r = tensor.relu %q                            %y = tensor.matmul %a, %b, %bias
 *     %y = tensor.cast %r                      =>         {out = f16, activation = "relu"}
 *
 * as long as each has one user, and the kernel rounds where they do. The schedule may have them apart.
 *
 * The sum is f32, or of integers the result's type, where they are scaled i32. A vector becomes a matrix of one row or
 * column by a reshape, and the result loses that dim by another one.
 *
 * A product of floats whose sum is a tree becomes n products, of every n-th column of a with every n-th row of b, and
 * the tree of these. What n does not divide is filled up with 0.
 *
 *     %y = tensor.matmul %a, %b                        %p = tensor.matmul %a', %b' {order = "ascending"}
 *          {order = "tree(8)"} : M x N           =>         : 8 x M x N
 *                                                      %y = tensor.reduce_sum %p {axis = 0, order = "tree(8)"}
 *
 * Integers that the matrix unit of the machine does not multiply, and that are not scaled, become a product element by
 * element and a sum, in the type of the result: both wrap.
 *
 *     %y = tensor.matmul %a, %b {out = i32}      =>    %p = tensor.mul %a', %b' : M x K x N or M x N x K
 *                                                      %y = tensor.reduce_sum %p
 *
 * Bound: that of the product, and of what follows 1 ulp each in f32.
 *
 * Requires tensor ops, of any form. Leaves products of two matrices, with what their kernel does beside them
 * (pto.plain-products). */
#include "composite.h"
#include "machine_types.h"

#define KINDS(X)                       \
    X(MATMUL, "tensor.matmul")         \
    X(ADD, "tensor.add")               \
    X(MUL, "tensor.mul")               \
    X(RELU, "tensor.relu")             \
    X(CAST, "tensor.cast")             \
    X(CONSTANT, "tensor.constant")     \
    X(PAD, "tensor.pad")               \
    X(BROADCAST, "tensor.broadcast")   \
    X(RESHAPE, "tensor.reshape")       \
    X(TRANSPOSE, "tensor.transpose")   \
    X(REDUCE_SUM, "tensor.reduce_sum") \
    X(SCATTER, "tile.scatter")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                                    \
    X(COLUMN_SCALES, ENUM, "column-scales", .def = "exact", .choices = scales_choices,                                \
      .doc = "exact: a scale for each column is in the kernel of a product where its numbers are f16 or bf16, which " \
             "stores do not cut; cut: also where they are f32, less than 2^-10 of them off",                          \
      .example = "with: { column-scales: cut }")                                                                      \
    X(NARROW_BIAS, BOOL, "narrow-bias", .def = "true",                                                                \
      .doc = "a bias that was widened for the sum is added as it was before: the same number, unless the machine "    \
             "takes small ones of that type as zeros",                                                                \
      .example = "with: { narrow-bias: false }")
static const char *const scales_choices[] = {"exact", "cut", NULL};
PTO_OPTIONS(OPTIONS);

#define STATS(X)                      \
    X(DECOMPOSED, "decomposed")       \
    X(SUMMED, "products-by-elements") \
    X(TREES, "trees")                 \
    X(KEPT, "epilogues-in-kernels")   \
    X(ABSORBED, "absorbed")
PTO_STATS(STATS);

enum { MOST_FOLLOWERS = 5 };

typedef struct product {
    const pto_run *run;
    pto_op op;
    pto_value a, b;
    machine_epilogue after; /* what the op itself says */
    pto_dtype from, sum;
    int transpose_a, transpose_b;
    int64_t lanes; /* n of a sum that is a tree; 0: another one, or of integers, whose order does not matter */
} product;

/* Ops after a product that its kernel may do, each the only user of the one before. */
typedef struct followers {
    uint32_t count, taken; /* the kernel can do the first `taken` */
    pto_op op[MOST_FOLLOWERS];
    machine_epilogue after; /* what the kernel does then */
    const char *obstacle;   /* why it can do none; NULL: it can */
} followers;

static int is_float(pto_dtype t) { return pto_dtype_is_float(t); }

static product read_product(pto_op op)
{
    const pto_run *run = op.run;
    product p = {.run = run,
                 .op = op,
                 .a = pto_op_operand(op, 0),
                 .b = pto_op_operand(op, 1),
                 .after = machine_epilogue_of(op),
                 .transpose_a = pto_attr_bool_of(op, PTO_STR("transpose_a"), 0),
                 .transpose_b = pto_attr_bool_of(op, PTO_STR("transpose_b"), 0)};
    p.from = pto_type_dtype(pto_value_type(p.a));
    p.lanes = is_float(p.from) ? pto_tree_of(op) : 0;
    const int is_wide = p.from == PTO_U32 || p.from == PTO_U64 || p.from == PTO_I64;
    p.sum = is_float(p.from) ? PTO_F32 : !PTO_SOME(p.after.scale) ? p.after.to : is_wide ? p.from : PTO_I32;
    return p;
}

static int has_epilogue(const product *p)
{
    return PTO_SOME(p->after.bias) || PTO_SOME(p->after.scale) || p->after.relu;
}

/* Of integers that the machine's matrix unit multiplies, or where there is no such unit or no machine, nothing. */
static int is_by_elements(const product *p)
{
    const pto_run *run = p->run;
    const uint32_t rank_a = pto_type_rank(pto_value_type(p->a)), rank_b = pto_type_rank(pto_value_type(p->b));
    if (rank_a == PTO_MAX_DIMS || rank_b == PTO_MAX_DIMS) return 0; /* the product element by element has one more */
    if (is_float(p->from) || pto_machine_i64_or(run, -1, "matrix.head") < 0) return 0;
    return pto_machine_i64_or(run, -1, "matrix.cycles-per-box.%s", pto_dtype_name(p->from)) < 0;
}

static int is_plain(const product *p)
{
    if (p->lanes != 0) return 0;
    if (has_epilogue(p) && machine_epilogue_obstacle(p->op, &p->after) == NULL) return 1;
    return pto_type_rank(pto_value_type(p->a)) > 1 && pto_type_rank(pto_value_type(p->b)) > 1 && !has_epilogue(p);
}

/* ---- ops ---- */

static pto_value reshape(const product *p, pto_value x, uint32_t rank, const pto_expr *dims, const char *suffix)
{
    if (!PTO_SOME(x)) return x;
    const pto_type type = pto_type_tensor(p->run, pto_type_dtype(pto_value_type(x)), rank, dims);
    return composite_unary(p->op, pto_kind(p->run, KIND_RESHAPE), type, suffix, x);
}

/* One more dim, of extent 1, before dim `at`. */
static pto_value unsqueeze(const product *p, pto_value x, uint32_t at, const char *suffix)
{
    const pto_type type = pto_value_type(x);
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t d = 0; d <= rank; d++)
        dims[d] = d == at ? pto_expr_const(p->run, 1) : pto_type_dim(type, d < at ? d : d - 1);
    return reshape(p, x, rank + 1, dims, suffix);
}

static pto_value swap_last(const product *p, pto_value x, const char *suffix)
{
    const pto_type type = pto_value_type(x);
    const uint32_t rank = pto_type_rank(type);
    int64_t perm[PTO_MAX_DIMS];
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < rank; d++) perm[d] = d;
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    for (uint32_t d = 0; d < rank; d++) dims[d] = pto_type_dim(type, (uint32_t)perm[d]);
    pto_spec s = composite_spec(p->op, pto_kind(p->run, KIND_TRANSPOSE),
                                pto_type_tensor(p->run, pto_type_dtype(type), rank, dims), suffix);
    pto_spec_operand(&s, x);
    pto_spec_ints(&s, PTO_STR("perm"), rank, perm);
    return pto_spec_value(&s, pto_before(p->op));
}

/* ---- the product ---- */

/* The shape of a product of two matrices: dims before the last two repeated to those of the result, m, n. */
static uint32_t product_dims(const product *p, pto_value a, pto_value b, pto_expr dims[PTO_MAX_DIMS])
{
    const pto_type ta = pto_value_type(a), tb = pto_value_type(b), result = pto_value_type(pto_op_result(p->op, 0));
    const uint32_t rank_a = pto_type_rank(ta), rank_b = pto_type_rank(tb), rank = rank_a > rank_b ? rank_a : rank_b;
    for (uint32_t d = 0; d + 2 < rank; d++) dims[d] = pto_type_dim(result, d);
    dims[rank - 2] = pto_type_dim(ta, rank_a - (p->transpose_a ? 1 : 2));
    dims[rank - 1] = pto_type_dim(tb, rank_b - (p->transpose_b ? 2 : 1));
    return rank;
}

static pto_value unit_product(const product *p, pto_value a, pto_value b, uint32_t rank, const pto_expr *dims,
                              pto_dtype out, const char *suffix)
{
    pto_spec s = composite_spec(p->op, pto_kind(p->run, KIND_MATMUL), pto_type_tensor(p->run, out, rank, dims), suffix);
    pto_spec_operand(&s, a);
    pto_spec_operand(&s, b);
    if (p->transpose_a) pto_spec_bool(&s, PTO_STR("transpose_a"), 1);
    if (p->transpose_b) pto_spec_bool(&s, PTO_STR("transpose_b"), 1);
    if (out != p->from) pto_spec_type(&s, PTO_STR("out"), pto_type_scalar(p->run, out));
    if (p->lanes != 0 || pto_str_is(pto_attr_str_of(p->op, PTO_STR("order")), "ascending"))
        pto_spec_str(&s, PTO_STR("order"), PTO_STR("ascending"));
    return pto_spec_value(&s, pto_before(p->op));
}

static pto_value by_unit(const product *p, pto_value a, pto_value b, pto_dtype out, const char *suffix)
{
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = product_dims(p, a, b, dims);
    return unit_product(p, a, b, rank, dims, out, suffix);
}

/* The dims of both in one order: (m, k, n) where b is k x n, else (m, n, k); (k, m, n) where both begin with k. */
static pto_value by_elements(const product *p, pto_value a, pto_value b, pto_dtype out, const char *suffix)
{
    pto_expr dims[PTO_MAX_DIMS];
    const pto_kind_id cast = pto_kind(p->run, KIND_CAST);
    const uint32_t rank = product_dims(p, a, b, dims), rank_a = pto_type_rank(pto_value_type(a)),
                   rank_b = pto_type_rank(pto_value_type(b));
    const pto_expr k = pto_type_dim(pto_value_type(a), rank_a - (p->transpose_a ? 2 : 1)), m = dims[rank - 2],
                   n = dims[rank - 1];
    if (p->transpose_a && p->transpose_b) b = swap_last(p, b, "_b");
    const int k_first = p->transpose_a, k_last = !p->transpose_a && p->transpose_b;
    a = composite_cast(p->op, cast, out, "_a", unsqueeze(p, a, rank_a - (k_last ? 1 : 0), "_a"));
    b = composite_cast(p->op, cast, out, "_b", unsqueeze(p, b, rank_b - (k_first ? 1 : 2), "_b"));
    dims[rank - 2] = k_first ? k : m;
    dims[rank - 1] = k_first ? m : k_last ? n : k;
    dims[rank] = k_last ? k : n;
    const pto_value products = composite_binary(p->op, pto_kind(p->run, KIND_MUL),
                                                pto_type_tensor(p->run, out, rank + 1, dims), "_products", a, b);
    const int64_t axis = (int64_t)rank - (k_first ? 2 : k_last ? 0 : 1);
    dims[rank - 2] = m;
    dims[rank - 1] = n;
    pto_spec s =
        composite_spec(p->op, pto_kind(p->run, KIND_REDUCE_SUM), pto_type_tensor(p->run, out, rank, dims), suffix);
    pto_spec_operand(&s, products);
    pto_spec_ints(&s, PTO_STR("axis"), 1, &axis);
    pto_spec_bool(&s, PTO_STR("keepdim"), 0);
    pto_stat_add(p->run, STAT_SUMMED, 1);
    return pto_spec_value(&s, pto_before(p->op));
}

/* ---- trees ---- */

/* The first two dims as one, of an operand that has them, so that there may be one more. */
static pto_value join_first(const product *p, pto_value x, const char *suffix)
{
    const pto_type type = pto_value_type(x), result = pto_value_type(pto_op_result(p->op, 0));
    const uint32_t rank = pto_type_rank(type), missing = PTO_MAX_DIMS - rank;
    pto_expr dims[PTO_MAX_DIMS];
    if (missing > 1) return x;
    for (uint32_t d = 0; d < PTO_MAX_DIMS; d++)
        dims[d] = d < 2 ? pto_type_dim(result, d) : pto_type_dim(type, d - missing);
    const pto_type all = pto_type_tensor(p->run, pto_type_dtype(type), PTO_MAX_DIMS, dims);
    if (!pto_type_same(all, type)) x = composite_unary(p->op, pto_kind(p->run, KIND_BROADCAST), all, suffix, x);
    dims[1] = pto_expr_mul(dims[0], dims[1]);
    return reshape(p, x, PTO_MAX_DIMS - 1, dims + 1, suffix);
}

/* The terms along `axis`, which is k, in one more dim before the matrices: of n parts each has every n-th term. */
static pto_value deal_terms(const product *p, pto_value x, uint32_t axis, const char *suffix)
{
    const pto_run *run = p->run;
    pto_type type = pto_value_type(x);
    const uint32_t rank = pto_type_rank(type);
    const pto_expr zero = pto_expr_const(run, 0), lanes = pto_expr_const(run, p->lanes), k = pto_type_dim(type, axis),
                   each = pto_expr_ceildiv(k, lanes), all = pto_expr_mul(lanes, each);
    pto_expr dims[PTO_MAX_DIMS], low[PTO_MAX_DIMS], high[PTO_MAX_DIMS];
    int64_t perm[PTO_MAX_DIMS];
    if (!pto_expr_equal(all, k)) {
        for (uint32_t d = 0; d < rank; d++) low[d] = high[d] = zero;
        high[axis] = pto_expr_sub(all, k);
        type = pto_type_with_dim(run, type, axis, all);
        pto_spec s = composite_spec(p->op, pto_kind(run, KIND_PAD), type, suffix);
        pto_spec_operand(&s, x);
        pto_spec_exprs(&s, PTO_STR("low"), rank, low);
        pto_spec_exprs(&s, PTO_STR("high"), rank, high);
        x = pto_spec_value(&s, pto_before(p->op));
    }
    for (uint32_t d = 0; d <= rank; d++)
        dims[d] = d == axis ? each : d == axis + 1 ? lanes : pto_type_dim(type, d < axis ? d : d - 1);
    x = reshape(p, x, rank + 1, dims, suffix);
    uint32_t n = 0;
    for (uint32_t d = 0; d + 2 < rank; d++) perm[n++] = d;
    perm[n++] = axis + 1;
    for (uint32_t d = rank - 2; d <= rank; d++)
        if (d != axis + 1) perm[n++] = d;
    for (uint32_t d = 0; d <= rank; d++) dims[d] = pto_type_dim(pto_value_type(x), (uint32_t)perm[d]);
    pto_spec s = composite_spec(p->op, pto_kind(run, KIND_TRANSPOSE),
                                pto_type_tensor(run, pto_type_dtype(type), rank + 1, dims), suffix);
    pto_spec_operand(&s, x);
    pto_spec_ints(&s, PTO_STR("perm"), rank + 1, perm);
    return pto_spec_value(&s, pto_before(p->op));
}

/* The dims of the product before those of its matrices, then `lanes` (none: left out), m and n; `out_rank` of them. */
static void tree_dims(const product *p, const pto_expr *dims, uint32_t rank, pto_expr lanes, pto_expr *out,
                      uint32_t *out_rank)
{
    uint32_t n = 0, d = 0;
    if (rank == PTO_MAX_DIMS) {
        out[n++] = pto_expr_mul(dims[0], dims[1]);
        d = 2;
    }
    while (d + 2 < rank) out[n++] = dims[d++];
    if (p->lanes != 0 && PTO_SOME(lanes)) out[n++] = lanes;
    while (d < rank) out[n++] = dims[d++];
    *out_rank = n;
}

static pto_value by_tree(const product *p, pto_value a, pto_value b, pto_dtype out, const char *suffix)
{
    const pto_run *run = p->run;
    pto_expr dims[PTO_MAX_DIMS], all[PTO_MAX_DIMS];
    const uint32_t rank = product_dims(p, a, b, dims);
    const int is_full = rank == PTO_MAX_DIMS;
    uint32_t n;
    if (is_full) {
        a = join_first(p, a, "_a");
        b = join_first(p, b, "_b");
    }
    if (!PTO_SOME(a) || !PTO_SOME(b)) return pto_value_none(run);
    a = deal_terms(p, a, pto_type_rank(pto_value_type(a)) - (p->transpose_a ? 2 : 1), "_a");
    b = deal_terms(p, b, pto_type_rank(pto_value_type(b)) - (p->transpose_b ? 1 : 2), "_b");
    tree_dims(p, dims, rank, pto_expr_const(run, p->lanes), all, &n);
    const pto_value products = unit_product(p, a, b, n, all, PTO_F32, "_products");
    const int64_t axis = (int64_t)n - 3;
    tree_dims(p, dims, rank, pto_expr_none(run), all, &n);
    pto_spec s = composite_spec(p->op, pto_kind(run, KIND_REDUCE_SUM), pto_type_tensor(run, PTO_F32, n, all),
                                is_full || out != PTO_F32 ? "_tree" : suffix);
    pto_spec_operand(&s, products);
    pto_spec_ints(&s, PTO_STR("axis"), 1, &axis);
    pto_spec_bool(&s, PTO_STR("keepdim"), 0);
    composite_keep_order(&s, p->op);
    pto_value y = pto_spec_value(&s, pto_before(p->op));
    if (is_full) y = reshape(p, y, rank, dims, out == PTO_F32 ? suffix : "_tree");
    pto_stat_add(run, STAT_TREES, 1);
    return PTO_SOME(y) ? composite_cast(p->op, pto_kind(run, KIND_CAST), out, suffix, y) : y;
}

/* The sum, with the shape of the result. */
static pto_value make_sum(const product *p, const char *suffix)
{
    const pto_type result = pto_value_type(pto_op_result(p->op, 0));
    const int is_row = pto_type_rank(pto_value_type(p->a)) == 1, is_column = pto_type_rank(pto_value_type(p->b)) == 1;
    const char *inner = is_row || is_column ? "_matrix" : suffix;
    const pto_value a = is_row ? unsqueeze(p, p->a, 0, "_a") : p->a, b = is_column ? unsqueeze(p, p->b, 1, "_b") : p->b;
    if (!PTO_SOME(a) || !PTO_SOME(b)) return pto_value_none(p->run);
    const pto_dtype out = has_epilogue(p) ? p->sum : p->after.to;
    const pto_value sum = p->lanes != 0       ? by_tree(p, a, b, out, inner)
                          : is_by_elements(p) ? by_elements(p, a, b, out, inner)
                                              : by_unit(p, a, b, out, inner);
    if (!is_row && !is_column) return sum;
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(result);
    for (uint32_t d = 0; d < rank; d++) dims[d] = pto_type_dim(result, d);
    return reshape(p, sum, rank, dims, suffix);
}

/* ---- what follows ---- */

static pto_value convert(const product *p, pto_value x, pto_dtype to, int saturates, const char *suffix)
{
    const pto_type type = pto_value_type(x);
    if (!PTO_SOME(x) || pto_type_dtype(type) == to) return x;
    pto_spec s = composite_spec(p->op, pto_kind(p->run, KIND_CAST), pto_type_with_dtype(p->run, type, to), suffix);
    pto_spec_operand(&s, x);
    if (saturates) pto_spec_bool(&s, PTO_STR("saturate"), 1);
    return pto_spec_value(&s, pto_before(p->op));
}

static pto_value make_epilogue(const product *p, pto_value y)
{
    const pto_type shape = pto_value_type(pto_op_result(p->op, 0));
    const int scales = PTO_SOME(p->after.scale);
    const char *last = p->after.to == PTO_F32 || (!is_float(p->from) && !scales) ? "" : "_wide";
    if (PTO_SOME(p->after.bias) && PTO_SOME(y)) {
        const pto_value bias = convert(p, p->after.bias, p->sum, 0, "_bias");
        y = composite_binary(p->op, pto_kind(p->run, KIND_ADD), pto_type_with_dtype(p->run, shape, p->sum),
                             scales || p->after.relu ? "_biased" : last, y, bias);
    }
    if (scales) {
        const pto_value scale = convert(p, p->after.scale, PTO_F32, 0, "_scale");
        y = convert(p, y, PTO_F32, 0, "_number");
        y = composite_binary(p->op, pto_kind(p->run, KIND_MUL), pto_type_with_dtype(p->run, shape, PTO_F32),
                             p->after.relu ? "_scaled" : last, y, scale);
    }
    if (p->after.relu && PTO_SOME(y))
        y = composite_unary(p->op, pto_kind(p->run, KIND_RELU), pto_value_type(y), last, y);
    return convert(p, y, p->after.to, scales && !is_float(p->after.to), "");
}

static pto_status visit(const product *p)
{
    const int epilogue = has_epilogue(p);
    pto_value y = make_sum(p, epilogue ? "_sum" : "");
    if (epilogue) y = make_epilogue(p, y);
    PTO_NEED(y);
    pto_stat_add(p->run, STAT_DECOMPOSED, 1);
    return pto_op_replace_by(p->op, y);
}

/* ---- what follows as ops of its own ---- */

/* The only user of a value, in the block of what makes it; else none. */
static pto_op sole_user(pto_value value)
{
    const pto_op none = pto_op_none(value.run);
    if (pto_value_use_count(value) != 1) return none;
    const pto_op user = pto_use_at(value, 0).op;
    return pto_block_same(pto_op_block(user), pto_op_block(pto_value_op(value))) ? user : none;
}

/* The numbers of a scale before they were widened to f32, which changes none. */
static pto_value narrow_scale(pto_value scale)
{
    const pto_op made = pto_value_op(scale);
    if (!PTO_IS(made, CAST)) return scale;
    const pto_value narrow = pto_op_operand(made, 0);
    const pto_dtype t = pto_type_dtype(pto_value_type(narrow));
    return pto_dtype_is_half_float(t) ? narrow : scale;
}

/* Why what follows the sum is not in the kernel of the product; NULL: it may be. */
static const char *obstacle_of(const product *p, const machine_epilogue *after)
{
    double number = 0;
    const char *why = machine_epilogue_obstacle(p->op, after);
    if (why != NULL || !PTO_SOME(after->scale) || machine_scale_number(after->scale, &number)) return why;
    if (!machine_takes(p->run, pto_kind(p->run, KIND_SCATTER), PTO_F32))
        return "the machine scatters no f32, so it makes no table of factors";
    if (machine_scale_is_short(after->scale) || pto_str_is(pto_opt_str(p->run, OPT_COLUMN_SCALES), "cut")) return NULL;
    return "stores would cut the numbers of the scale to 11 bits (`column-scales: cut`)";
}

/* A row of the type of the operands that was widened for the sum is added as it was: that is the same number. */
static pto_value narrow_bias(const product *p, pto_value bias)
{
    const pto_op made = pto_value_op(bias);
    if (!PTO_IS(made, CAST) || !pto_opt_bool(p->run, OPT_NARROW_BIAS)) return bias;
    const pto_value narrow = pto_op_operand(made, 0);
    const int is_narrow = pto_dtype_is_half_float(p->from) && pto_type_dtype(pto_value_type(narrow)) == p->from;
    return is_narrow ? narrow : bias;
}

/* Rounding to nearest; to integers within their range, as what is scaled is. */
static int may_round(pto_op cast, const machine_epilogue *after)
{
    const pto_str mode = pto_attr_str_of(cast, PTO_STR("mode"));
    const pto_dtype to = pto_type_dtype(pto_value_type(pto_op_result(cast, 0)));
    const int saturates = pto_attr_bool_of(cast, PTO_STR("saturate"), 0);
    if (mode.n != 0 && !pto_str_is(mode, "rint")) return 0;
    if (after->to == PTO_I32) return to == PTO_F32;
    return after->to == PTO_F32 && (is_float(to) ? !saturates : saturates && PTO_SOME(after->scale));
}

/* Whether `op`, which takes `sum`, is what may come next; a relu changes no number that rounding makes. */
static int may_follow(const product *p, pto_op op, pto_value sum, machine_epilogue *after)
{
    const pto_type type = pto_value_type(sum), result = pto_value_type(pto_op_result(op, 0));
    if (PTO_IS(op, RELU)) {
        if (after->relu || !is_float(after->to)) return 0;
        after->relu = 1;
        return 1;
    }
    if (PTO_IS(op, CAST)) {
        if (!may_round(op, after)) return 0;
        after->to = pto_type_dtype(result);
        return 1;
    }
    if (after->to != PTO_F32 || PTO_SOME(after->scale) || !pto_type_same(type, result)) return 0;
    const pto_value other = pto_op_operand(op, pto_value_same(pto_op_operand(op, 0), sum) ? 1 : 0);
    if (PTO_IS(op, MUL)) {
        after->scale = narrow_scale(other);
        return 1;
    }
    if (!PTO_IS(op, ADD) || PTO_SOME(after->bias) || after->relu || !is_float(p->from)) return 0;
    after->bias = narrow_bias(p, other);
    return 1;
}

/* The kernel may do all up to an op after which it can store, though not after one before that. */
static followers find_followers(const product *p)
{
    followers f = {.after = p->after};
    machine_epilogue after = p->after;
    pto_value sum = pto_op_result(p->op, 0);
    for (pto_op op = sole_user(sum); PTO_SOME(op) && f.count < MOST_FOLLOWERS; op = sole_user(sum)) {
        if (!may_follow(p, op, sum, &after)) break;
        f.op[f.count++] = op;
        sum = pto_op_result(op, 0);
        const char *obstacle = obstacle_of(p, &after);
        if (obstacle == NULL) {
            f.after = after;
            f.taken = f.count;
        } else {
            f.obstacle = obstacle;
        }
    }
    if (f.taken != 0) f.obstacle = NULL;
    return f;
}

/* The scale that a kernel applies: a known one as a number without dims before `op`. */
static pto_value scale_number(pto_op op, pto_value scale)
{
    double number = 0;
    if (!machine_scale_number(scale, &number)) return narrow_scale(scale);
    if (pto_type_rank(pto_value_type(scale)) == 0) return scale;
    return composite_number(op, pto_kind(op.run, KIND_CONSTANT), PTO_F32, "_scale", number);
}

/* The op stays, for its kernel. */
static pto_status keep(const product *p)
{
    if (!PTO_SOME(p->after.scale)) return PTO_OK;
    const pto_value number = scale_number(p->op, p->after.scale);
    PTO_NEED(number);
    if (pto_value_same(number, p->after.scale)) return PTO_OK;
    return pto_op_set_operand(p->op, pto_op_operand_count(p->op) - 1, number);
}

/* One product at the place of the last op that its kernel takes, which then has the operands of all. */
static pto_status absorb(const product *p, const followers *f)
{
    const pto_op last = f->op[f->taken - 1];
    pto_spec s = composite_spec(last, pto_kind(p->run, KIND_MATMUL), pto_value_type(pto_op_result(last, 0)), "");
    pto_spec_operand(&s, p->a);
    pto_spec_operand(&s, p->b);
    if (PTO_SOME(f->after.bias)) pto_spec_operand(&s, f->after.bias);
    if (PTO_SOME(f->after.scale)) pto_spec_operand(&s, scale_number(last, f->after.scale));
    pto_spec_attrs_of(&s, p->op);
    if (PTO_SOME(f->after.scale) && !PTO_SOME(f->after.bias)) pto_spec_str(&s, PTO_STR("third"), PTO_STR("scale"));
    pto_spec_type(&s, PTO_STR("out"), pto_type_scalar(p->run, f->after.to));
    if (f->after.relu) pto_spec_str(&s, PTO_STR("activation"), PTO_STR("relu"));
    const pto_value y = pto_spec_value(&s, pto_before(last));
    PTO_NEED(y);
    PTO_TRY(pto_op_replace_by(last, y));
    for (uint32_t i = f->taken - 1; i-- > 0;) PTO_TRY(pto_op_erase(f->op[i]));
    pto_stat_add(p->run, STAT_ABSORBED, f->taken);
    return pto_op_erase(p->op);
}

/* Where what follows the sum is computed: in the kernel of the product where that can do it. */
static pto_status decide_epilogue(const product *p, const char *obstacle, int *is_apart)
{
    enum { KERNEL, APART };
    static const char *const words[] = {"kernel", "apart", NULL};
    const int64_t least = obstacle != NULL ? APART : KERNEL, most = APART;
    int64_t choice = least;
    const pto_decision d = {.struct_size = sizeof d,
                            .count = 1,
                            .name = "epilogue",
                            .words = words,
                            .min = &least,
                            .max = &most,
                            .limit = obstacle};
    PTO_TRY(pto_decision_pinned(p->op, &d, &choice));
    *is_apart = choice == APART;
    if (!*is_apart) pto_stat_add(p->run, STAT_KEPT, 1);
    if (*is_apart && obstacle != NULL)
        pto_remark(p->op, "pto.decompose-matmul/apart", "what follows the product is not in its kernel: %s", obstacle);
    return pto_decision_made(p->op, &d, &choice);
}

static pto_status visit_product(pto_op op)
{
    const product p = read_product(op);
    const int owns = has_epilogue(&p);
    const followers f = p.lanes == 0 ? find_followers(&p) : (followers){.count = 0};
    const char *obstacle = p.lanes != 0 ? "its sum is a tree, which is added up after the product"
                           : owns       ? obstacle_of(&p, &p.after)
                                        : f.obstacle;
    int is_apart = !is_plain(&p) || is_by_elements(&p);
    if (owns || f.count != 0) PTO_TRY(decide_epilogue(&p, obstacle, &is_apart));
    if (!is_apart) return f.taken != 0 ? absorb(&p, &f) : keep(&p);
    return owns || !is_plain(&p) || is_by_elements(&p) ? visit(&p) : PTO_OK;
}

/* Products are listed first, since what is absorbed is after them. */
static pto_status run_pass(const pto_run *run, pto_op function)
{
    uint32_t count = 0, i = 0;
    PTO_WALK(function, op) count += PTO_IS(op, MATMUL) ? 1 : 0;
    pto_op *products = PTO_SCRATCH(run, pto_op, count);
    PTO_WALK(function, op)
    {
        if (PTO_IS(op, MATMUL)) products[i++] = op;
    }
    for (i = 0; i < count; i++) PTO_TRY(visit_product(products[i]));
    return PTO_OK;
}

static pto_status check_plain_products(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (!pto_op_is(op, pto_kind(run, KIND_MATMUL))) continue;
        const product p = read_product(op);
        if (!is_plain(&p))
            return pto_error(op, "pto.decompose-matmul/composite-left",
                             "`tensor.matmul` has a vector, a bias, a scale, an activation or a tree of sums; "
                             "`pto.decompose-matmul` takes it apart");
    }
    return PTO_OK;
}

static const pto_property plain_products = {
    .struct_size = sizeof plain_products,
    .id = "pto.plain-products",
    .doc = "every product is one of two matrices, with what its kernel does beside it",
    .level = "tensor/1",
    .kinds = pass_kinds,
    .check = check_plain_products,
};
static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-matmul",
    .summary = "Take products of matrices apart into the plain product and what follows it",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .establishes = PTO_STRS("pto.plain-products"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-matmul", "pass:pto.decompose-matmul property:pto.plain-products", "pto.plain-products",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &plain_products));
