/* pto.decompose-quantize: ops that make few bits of many, and those that bring them back, become arithmetic in f32.
 *
 *                                              %d = tensor.div %x, %s
 *     %q = tensor.quantize %x, %s, %z    =>    %r = tensor.round %d
 *                                              %m = tensor.add %r, %z as f32
 *                                              %q = tensor.cast %m {saturate = true}
 *
 *     %y = tensor.dequantize %q, %s, %z  =>    %y = tensor.mul (%q as f32) - (%z as f32), %s
 *     %y = tensor.scaled_matmul          =>    tensor.matmul of both, dequantised
 *     %q, %s = tensor.quantize_block %x  =>    scales from the largest magnitudes, then as quantize
 *     tensor.pack, tensor.unpack         =>    sums of halves by 1 and 16, and halves from quotients by 16, in f16,
 *                                              of rows of two, or, with columns, of columns of one
 *
 * An axis with blocks becomes two dims, blocks and elements, by a reshape, and one again after that. Every value is
 * that of the row of the op: bit for bit, since the steps of the row are these.
 *
 * Requires tensor ops, of any form. Leaves none of these (pto.no-quantisation). */
#include "composite.h"

#define COMPOSITES(X)                          \
    X(SCALED_MATMUL, "tensor.scaled_matmul")   \
    X(QUANTIZE, "tensor.quantize")             \
    X(DEQUANTIZE, "tensor.dequantize")         \
    X(QUANTIZE_BLOCK, "tensor.quantize_block") \
    X(PACK, "tensor.pack")                     \
    X(UNPACK, "tensor.unpack")
#define KINDS(X)                       \
    COMPOSITES(X)                      \
    X(MATMUL, "tensor.matmul")         \
    X(CONSTANT, "tensor.constant")     \
    X(CAST, "tensor.cast")             \
    X(RESHAPE, "tensor.reshape")       \
    X(VIEW, "tensor.view")             \
    X(CONCAT, "tensor.concat")         \
    X(ABS, "tensor.abs")               \
    X(ROUND, "tensor.round")           \
    X(FLOOR, "tensor.floor")           \
    X(ADD, "tensor.add")               \
    X(SUB, "tensor.sub")               \
    X(MUL, "tensor.mul")               \
    X(DIV, "tensor.div")               \
    X(EQ, "tensor.eq")                 \
    X(WHERE, "tensor.where")           \
    X(REDUCE_MAX, "tensor.reduce_max") \
    X(REDUCE_SUM, "tensor.reduce_sum")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                                 \
    X(COLUMNS, BOOL, "columns", .def = "false",                                                                    \
      .doc = "the halves of bytes of pack and unpack are two columns, and not rows of two elements: for machines " \
             "on which short rows take as long as long ones",                                                      \
      .example = "with: { columns: true }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

static pto_dtype dtype_of(pto_value x) { return pto_type_dtype(pto_value_type(x)); }

/* ---- making ops before `op`, named after its result ---- */

static pto_value binary(pto_op op, uint32_t kind, pto_type type, pto_value a, pto_value b)
{
    return composite_binary(op, pto_kind(op.run, kind), type, "_step", a, b);
}

static pto_value unary(pto_op op, uint32_t kind, pto_value a)
{
    return composite_unary(op, pto_kind(op.run, kind), pto_value_type(a), "_step", a);
}

static pto_value cast(pto_op op, pto_value x, pto_dtype to, const char *mode, int saturates, const char *suffix)
{
    if (!PTO_SOME(x) || dtype_of(x) == to) return x;
    pto_spec s =
        composite_spec(op, pto_kind(op.run, KIND_CAST), pto_type_with_dtype(op.run, pto_value_type(x), to), suffix);
    pto_spec_operand(&s, x);
    if (mode != NULL) pto_spec_str(&s, PTO_STR("mode"), pto_s(mode));
    if (saturates) pto_spec_bool(&s, PTO_STR("saturate"), 1);
    return pto_spec_value(&s, pto_before(op));
}

static pto_value as_f32(pto_op op, pto_value x) { return cast(op, x, PTO_F32, NULL, 0, "_wide"); }

static pto_value number(pto_op op, pto_dtype dtype, double value)
{
    return composite_number(op, pto_kind(op.run, KIND_CONSTANT), dtype, "_c", value);
}

static pto_value by_number(pto_op op, uint32_t kind, pto_value a, double value)
{
    return binary(op, kind, pto_value_type(a), a, number(op, dtype_of(a), value));
}

/* Two numbers of f16, for the two elements of a dim of extent 2. */
static pto_value pair(pto_op op, uint16_t first, uint16_t second)
{
    const pto_expr two = pto_expr_const(op.run, 2);
    const pto_type type = pto_type_tensor(op.run, PTO_F16, 1, &two);
    const uint16_t bits[] = {first, second};
    pto_spec s = composite_spec(op, pto_kind(op.run, KIND_CONSTANT), type, "_c");
    pto_spec_attr(&s, PTO_STR("value"), pto_attr_make_dense(op.run, type, sizeof bits, bits));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value reshape(pto_op op, pto_value x, uint32_t rank, const pto_expr *dims, const char *suffix)
{
    if (!PTO_SOME(x)) return x;
    return composite_unary(op, pto_kind(op.run, KIND_RESHAPE), pto_type_tensor(op.run, dtype_of(x), rank, dims), suffix,
                           x);
}

/* The value under another shape. */
static pto_value with_shape_of(pto_op op, pto_value x, pto_type shape, const char *suffix)
{
    if (!PTO_SOME(x)) return x;
    const pto_type type = pto_type_with_dtype(op.run, shape, dtype_of(x));
    if (pto_type_same(type, pto_value_type(x))) return x;
    return composite_unary(op, pto_kind(op.run, KIND_RESHAPE), type, suffix, x);
}

/* Dim `axis` as two: of `inner` elements the last. */
static pto_value split(pto_op op, pto_value x, uint32_t axis, int64_t inner)
{
    if (!PTO_SOME(x)) return x;
    const pto_type type = pto_value_type(x);
    pto_expr dims[PTO_MAX_DIMS];
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t d = 0; d <= rank; d++)
        dims[d] = d == axis + 1 ? pto_expr_const(op.run, inner) : pto_type_dim(type, d < axis + 1 ? d : d - 1);
    dims[axis] = pto_expr_floordiv(dims[axis], pto_expr_const(op.run, inner));
    return reshape(op, x, rank + 1, dims, "_blocks");
}

enum { F16_1 = 0x3c00, F16_16 = 0x4c00 };

/* ---- what quantising is made of; x and scale in f32, of shapes that broadcast ---- */

/* The op at work, and how its axis is split; block 0: it is not. */
typedef struct blocks {
    pto_op op;
    uint32_t axis;
    int64_t block;
} blocks;

static blocks blocks_of(pto_op op, uint32_t rank)
{
    const int64_t named = pto_attr_int_of(op, PTO_STR("axis"), -1);
    return (blocks){.op = op,
                    .axis = (uint32_t)(named < 0 ? named + rank : named),
                    .block = pto_attr_int_of(op, PTO_STR("block"), 0)};
}

static pto_value in_blocks(const blocks *b, pto_value x, int is_scale)
{
    return b->block == 0 ? x : split(b->op, x, b->axis, is_scale ? 1 : b->block);
}

static pto_value quantised(pto_op op, pto_value x, pto_value scale, pto_value zero, pto_dtype to, const char *suffix)
{
    const pto_type type = pto_value_type(x);
    pto_value y = binary(op, KIND_DIV, type, x, scale);
    if (PTO_SOME(zero) && PTO_SOME(y)) y = binary(op, KIND_ADD, type, unary(op, KIND_ROUND, y), zero);
    return cast(op, y, to, NULL, 1, suffix);
}

static pto_value dequantised(const blocks *b, pto_value x, pto_value scale, pto_value zero)
{
    const pto_op op = b->op;
    const pto_type shape = pto_value_type(x);
    pto_value y = in_blocks(b, as_f32(op, x), 0);
    if (PTO_SOME(zero)) y = binary(op, KIND_SUB, pto_value_type(y), y, in_blocks(b, as_f32(op, zero), 1));
    if (!PTO_SOME(y)) return y;
    y = binary(op, KIND_MUL, pto_value_type(y), y, in_blocks(b, as_f32(op, scale), 1));
    return with_shape_of(op, y, shape, "_wide");
}

static pto_value zero_point_of(pto_op op)
{
    return pto_op_operand_count(op) > 2 ? pto_op_operand(op, 2) : pto_value_none(op.run);
}

/* ---- the ops ---- */

static pto_value expand_quantize(const pto_run *run, pto_op op)
{
    (void)run;
    const pto_value x = pto_op_operand(op, 0), zero = zero_point_of(op);
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    const blocks b = blocks_of(op, pto_type_rank(pto_value_type(x)));
    const pto_value wide = in_blocks(&b, as_f32(op, x), 0), scale = in_blocks(&b, as_f32(op, pto_op_operand(op, 1)), 1);
    if (!PTO_SOME(wide) || !PTO_SOME(scale)) return pto_value_none(op.run);
    const pto_value q = quantised(op, wide, scale, PTO_SOME(zero) ? in_blocks(&b, as_f32(op, zero), 1) : zero,
                                  pto_type_dtype(result), b.block != 0 ? "_blocks" : "");
    return with_shape_of(op, q, result, "");
}

static pto_value expand_dequantize(const pto_run *run, pto_op op)
{
    (void)run;
    const pto_value x = pto_op_operand(op, 0);
    const blocks b = blocks_of(op, pto_type_rank(pto_value_type(x)));
    return cast(op, dequantised(&b, x, pto_op_operand(op, 1), zero_point_of(op)), dtype_of(pto_op_result(op, 0)), NULL,
                0, "");
}

static pto_value expand_scaled_matmul(const pto_run *run, pto_op op)
{
    pto_value in[2];
    for (uint32_t i = 0; i < 2; i++) {
        const pto_value x = pto_op_operand(op, i);
        const int turned = pto_attr_bool_of(op, i == 0 ? PTO_STR("transpose_a") : PTO_STR("transpose_b"), 0);
        const blocks b = {.op = op,
                          .axis = pto_type_rank(pto_value_type(x)) - (turned == (i == 0) ? 2 : 1),
                          .block = pto_attr_int_of(op, PTO_STR("block"), 0)};
        in[i] = dequantised(&b, x, pto_op_operand(op, i + 2), pto_value_none(run));
        if (!PTO_SOME(in[i])) return in[i];
    }
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    pto_spec s = composite_spec(op, pto_kind(run, KIND_MATMUL), result, "");
    for (uint32_t i = 0; i < 2; i++) pto_spec_operand(&s, in[i]);
    if (pto_attr_bool_of(op, PTO_STR("transpose_a"), 0)) pto_spec_bool(&s, PTO_STR("transpose_a"), 1);
    if (pto_attr_bool_of(op, PTO_STR("transpose_b"), 0)) pto_spec_bool(&s, PTO_STR("transpose_b"), 1);
    if (pto_type_dtype(result) != PTO_F32)
        pto_spec_type(&s, PTO_STR("out"), pto_type_scalar(run, pto_type_dtype(result)));
    composite_keep_order(&s, op);
    return pto_spec_value(&s, pto_before(op));
}

/* Halves are numbers from 0 to 15: v - 16 floor(v / 16), exact in f16. */
static pto_value low_half(pto_op op, pto_value v, pto_value *out_floor)
{
    const pto_value above = unary(op, KIND_FLOOR, by_number(op, KIND_MUL, v, 0x1p-4));
    *out_floor = above;
    return binary(op, KIND_SUB, pto_value_type(v), v, by_number(op, KIND_MUL, above, 16));
}

/* The first or the second elements of rows of two. */
static pto_value column_of(pto_op op, pto_value pairs, int64_t which)
{
    const pto_type type = pto_value_type(pairs);
    const uint32_t rank = pto_type_rank(type);
    pto_expr offsets[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < rank; d++) offsets[d] = pto_expr_const(op.run, d + 1 == rank ? which : 0);
    pto_spec s = composite_spec(op, pto_kind(op.run, KIND_VIEW),
                                pto_type_with_dim(op.run, type, rank - 1, pto_expr_const(op.run, 1)), "_column");
    pto_spec_operand(&s, pairs);
    pto_spec_exprs(&s, PTO_STR("offsets"), rank, offsets);
    return pto_spec_value(&s, pto_before(op));
}

/* Two columns as rows of two. */
static pto_value pairs_of(pto_op op, pto_value first, pto_value second)
{
    const pto_type type = pto_value_type(first);
    const uint32_t last = pto_type_rank(type) - 1;
    pto_spec s = composite_spec(op, pto_kind(op.run, KIND_CONCAT),
                                pto_type_with_dim(op.run, type, last, pto_expr_const(op.run, 2)), "_pairs");
    pto_spec_operand(&s, first);
    pto_spec_operand(&s, second);
    pto_spec_int(&s, PTO_STR("axis"), last);
    return pto_spec_value(&s, pto_before(op));
}

static pto_value pack_columns(pto_op op, pto_value pairs)
{
    pto_value low[2], above;
    for (int64_t i = 0; i < 2; i++) {
        const pto_value column = column_of(op, pairs, i);
        if (!PTO_SOME(column)) return column;
        low[i] = low_half(op, cast(op, column, PTO_F16, NULL, 0, "_wide"), &above);
    }
    return binary(op, KIND_ADD, pto_value_type(low[0]), low[0], by_number(op, KIND_MUL, low[1], 16));
}

static pto_value expand_pack(const pto_run *run, pto_op op)
{
    const pto_value x = pto_op_operand(op, 0);
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    const uint32_t last = pto_type_rank(result) - 1;
    pto_value sum, above;
    if (pto_opt_bool(run, OPT_COLUMNS)) {
        const pto_value pairs = split(op, x, last, 2);
        if (!PTO_SOME(pairs)) return pairs;
        sum = pack_columns(op, pairs);
    } else {
        const pto_value v = split(op, cast(op, x, PTO_F16, NULL, 0, "_wide"), last, 2);
        if (!PTO_SOME(v)) return v;
        const pto_value low = low_half(op, v, &above),
                        weighted = binary(op, KIND_MUL, pto_value_type(v), low, pair(op, F16_1, F16_16));
        sum = composite_reduce(op, pto_kind(run, KIND_REDUCE_SUM), (int64_t)last + 1, NULL, "_sum", weighted);
    }
    return with_shape_of(op, cast(op, sum, PTO_U8, NULL, 0, "_bytes"), result, "");
}

/* Of i8 the halves from 8 on are 16 less. */
static pto_value signed_half(pto_op op, pto_value y)
{
    return binary(op, KIND_SUB, pto_value_type(y), y,
                  by_number(op, KIND_MUL, unary(op, KIND_FLOOR, by_number(op, KIND_MUL, y, 0x1p-3)), 16));
}

static pto_value expand_unpack(const pto_run *run, pto_op op)
{
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    const uint32_t last = pto_type_rank(result) - 1;
    const pto_dtype to = pto_type_dtype(result);
    pto_value high, y;
    const pto_value v = split(op, cast(op, pto_op_operand(op, 0), PTO_F16, NULL, 0, "_wide"), last, 1);
    if (!PTO_SOME(v)) return v;
    const pto_value low = low_half(op, v, &high);
    if (pto_opt_bool(run, OPT_COLUMNS)) {
        const pto_value first = cast(op, to == PTO_I8 ? signed_half(op, low) : low, to, NULL, 0, "_half"),
                        second = cast(op, to == PTO_I8 ? signed_half(op, high) : high, to, NULL, 0, "_half");
        return PTO_SOME(first) && PTO_SOME(second) ? with_shape_of(op, pairs_of(op, first, second), result, "") : first;
    }
    const pto_type both = pto_type_with_dim(op.run, pto_value_type(v), last + 1, pto_expr_const(op.run, 2));
    y = binary(op, KIND_ADD, both, binary(op, KIND_MUL, both, low, pair(op, F16_1, 0)),
               binary(op, KIND_MUL, both, high, pair(op, 0, F16_1)));
    if (to == PTO_I8) y = signed_half(op, y);
    return with_shape_of(op, cast(op, y, to, NULL, 0, "_halves"), result, "");
}

/* ---- scales that are found ---- */

static double largest_of(pto_dtype t) { return t == PTO_F8E4M3 ? 448 : t == PTO_F8E5M2 ? 57344 : 127; }
static double power_of(pto_dtype t) { return t == PTO_F8E4M3 ? 0x1p8 : t == PTO_F8E5M2 ? 0x1p15 : 0x1p6; }

static pto_value find_scale(pto_op op, pto_value magnitude, pto_dtype to, pto_dtype scale_type)
{
    const pto_type type = pto_value_type(magnitude);
    if (scale_type != PTO_F32)
        return cast(op, by_number(op, KIND_MUL, magnitude, 1 / power_of(to)), scale_type, "floor", 1, "_scale");
    const pto_value scale = by_number(op, KIND_DIV, magnitude, largest_of(to));
    const pto_value is_none =
        binary(op, KIND_EQ, pto_type_with_dtype(op.run, type, PTO_BOOL), scale, number(op, PTO_F32, 0));
    return composite_where(op, pto_kind(op.run, KIND_WHERE), type, "_scale", is_none, number(op, PTO_F32, 1), scale);
}

static pto_status expand_quantize_block(pto_op op)
{
    const pto_run *run = op.run;
    const pto_value x = pto_op_operand(op, 0);
    const pto_type made = pto_value_type(pto_op_result(op, 0)), scales = pto_value_type(pto_op_result(op, 1));
    const blocks b = blocks_of(op, pto_type_rank(made));
    const pto_value wide = in_blocks(&b, as_f32(op, x), 0);
    PTO_NEED(wide);
    const pto_value magnitude = composite_reduce(op, pto_kind(run, KIND_REDUCE_MAX), (int64_t)b.axis + 1, NULL,
                                                 "_largest", unary(op, KIND_ABS, wide));
    const pto_value scale = find_scale(op, magnitude, pto_type_dtype(made), pto_type_dtype(scales));
    PTO_NEED(scale);
    const pto_value q = with_shape_of(
        op, quantised(op, wide, as_f32(op, scale), pto_value_none(run), pto_type_dtype(made), "_blocks"), made, "");
    PTO_NEED(q);
    const pto_value s = with_shape_of(op, scale, scales, "_scales");
    PTO_NEED(s);
    PTO_TRY(pto_value_replace(pto_op_result(op, 0), q));
    PTO_TRY(pto_value_replace(pto_op_result(op, 1), s));
    return pto_op_erase(op);
}

typedef struct rule {
    uint32_t kind;
    pto_value (*expand)(const pto_run *run, pto_op op);
} rule;
static const rule rules[] = {{KIND_SCALED_MATMUL, expand_scaled_matmul},
                             {KIND_QUANTIZE, expand_quantize},
                             {KIND_DEQUANTIZE, expand_dequantize},
                             {KIND_PACK, expand_pack},
                             {KIND_UNPACK, expand_unpack}};
enum { RULES = sizeof rules / sizeof *rules };

static pto_status visit(const pto_run *run, pto_op op)
{
    if (PTO_IS(op, QUANTIZE_BLOCK)) {
        PTO_TRY(expand_quantize_block(op));
        pto_stat_add(run, STAT_DECOMPOSED, 1);
        return PTO_OK;
    }
    for (uint32_t i = 0; i < RULES; i++) {
        if (!pto_op_is(op, pto_kind(run, rules[i].kind))) continue;
        const pto_value y = rules[i].expand(run, op);
        PTO_NEED(y);
        pto_stat_add(run, STAT_DECOMPOSED, 1);
        return pto_op_replace_by(op, y);
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op) { PTO_TRY(visit(run, op)); }
    return PTO_OK;
}

static pto_status check_no_quantisation(const pto_run *run, pto_op function)
{
#define COMPOSITE_KIND(ID, name) KIND_##ID,
    static const uint32_t kinds[] = {COMPOSITES(COMPOSITE_KIND)};
    PTO_WALK(function, op)
    {
        const pto_kind_id kind = pto_op_kind(op);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kind == pto_kind(run, kinds[i]))
                return pto_error(op, "pto.decompose-quantize/composite-left",
                                 "`%.*s` is still a composite; `pto.decompose-quantize` takes it apart",
                                 PTO_FMT(pto_op_name(op)));
    }
    return PTO_OK;
}

static const pto_property no_quantisation = {
    .struct_size = sizeof no_quantisation,
    .id = "pto.no-quantisation",
    .doc = "no op makes few bits of many or brings them back, except for casts",
    .level = "tensor/1",
    .kinds = pass_kinds,
    .check = check_no_quantisation,
};
static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_NEEDED,
    .id = "pto.decompose-quantize",
    .summary = "Take quantising, its inverse and the packing of halves of bytes apart into arithmetic",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .establishes = PTO_STRS("pto.no-quantisation"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-quantize", "pass:pto.decompose-quantize property:pto.no-quantisation", "pto.no-quantisation",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &no_quantisation));
