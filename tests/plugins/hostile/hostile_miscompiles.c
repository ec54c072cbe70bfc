/* Miscompiles, each planted at the first op that it fits: the verifier sees nothing wrong, the numbers are others.
 *
 *     --insert-after 'tile=test.hostile-miscompiles-tile{plant=swaps-sub}'
 *
 * One pass for each level; all declare exact numerics but the last, which may change the order of sums. */
#include <pto/plugin.h>

#include <string.h>

/* What a row says beside its op. */
typedef struct defect {
    const char *name, *op;
    pto_status (*plant)(pto_op op, const struct defect *d);
    const char *text;
    double number;
} defect;

#define TEXT_MAX 64

static pto_kind_id kind_of(const pto_run *run, const char *name) { return pto_kind_by_name(run, pto_s(name)); }

/* ---- operands ---- */

/* Operands number and number + 1 change places. */
static pto_status swap(pto_op op, const defect *d)
{
    const uint32_t i = (uint32_t)d->number;
    const pto_value a = pto_op_operand(op, i), b = pto_op_operand(op, i + 1);
    PTO_TRY(pto_op_set_operand(op, i, b));
    return pto_op_set_operand(op, i + 1, a);
}

/* Operand number + 1 is operand number. */
static pto_status repeat(pto_op op, const defect *d)
{
    const uint32_t i = (uint32_t)d->number;
    return pto_op_set_operand(op, i + 1, pto_op_operand(op, i));
}

/* ---- ops ---- */

/* Another op on the same operands; without `text` the op is gone, and its first operand stands for its result. */
static pto_status become(pto_op op, const defect *d)
{
    if (d->text == NULL)
        return pto_op_result_count(op) != 0 ? pto_op_replace_by(op, pto_op_operand(op, 0)) : pto_op_erase(op);
    pto_spec s = pto_spec_make(op.run, kind_of(op.run, d->text));
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) pto_spec_operand(&s, pto_op_operand(op, i));
    pto_spec_attrs_of(&s, op);
    if (pto_op_result_count(op) == 0) {
        if (!PTO_SOME(pto_spec_build(&s, pto_before(op)))) return PTO_FAILED;
        return pto_op_erase(op);
    }
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    const pto_value y = pto_spec_value(&s, pto_before(op));
    PTO_NEED(y);
    return pto_op_replace_by(op, y);
}

/* Once more, after itself. */
static pto_status copy_again(pto_op op, const defect *d)
{
    (void)d;
    PTO_NEED(op);
    pto_spec s = pto_spec_make(op.run, pto_op_kind(op));
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) pto_spec_operand(&s, pto_op_operand(op, i));
    pto_spec_attrs_of(&s, op);
    return PTO_SOME(pto_spec_build(&s, pto_after(op))) ? PTO_OK : PTO_FAILED;
}

/* Each step of a loop begins with what the loop began with. */
static pto_status start_anew(pto_op op, const defect *d)
{
    (void)d;
    return pto_op_set_operand(op, 0, pto_op_operand(pto_op_parent(op), 0));
}

/* ---- attributes ---- */

static void split(const char *text, char name[TEXT_MAX], const char **value)
{
    const char *sign = strchr(text, '=');
    const size_t n = sign != NULL ? (size_t)(sign - text) : strlen(text);
    memcpy(name, text, n);
    name[n] = 0;
    *value = sign != NULL ? sign + 1 : "";
}

static pto_status set_word(pto_op op, const defect *d)
{
    char name[TEXT_MAX];
    const char *word;
    split(d->text, name, &word);
    return pto_op_set_attr(op, pto_s(name), pto_attr_make_str(op.run, pto_s(word)));
}

static pto_status set_flag(pto_op op, const defect *d)
{
    return pto_op_set_attr(op, pto_s(d->text), pto_attr_make_bool(op.run, d->number != 0));
}

static pto_status set_number(pto_op op, const defect *d)
{
    return pto_op_set_attr(op, pto_s(d->text), pto_attr_make_f64(op.run, d->number));
}

static pto_status set_int(pto_op op, const defect *d)
{
    return pto_op_set_attr(op, pto_s(d->text), pto_attr_make_i64(op.run, (int64_t)d->number));
}

/* Expression `index` of a list becomes another. */
static pto_status set_expr(pto_op op, const char *name, uint32_t index, pto_expr by)
{
    pto_expr all[2 * PTO_MAX_DIMS];
    const uint32_t count = pto_expr_count_of(op, pto_s(name));
    for (uint32_t i = 0; i < count && i < 2 * PTO_MAX_DIMS; i++)
        all[i] = i == index ? by : pto_expr_of(op, pto_s(name), i);
    return pto_op_set_attr(op, pto_s(name), pto_attr_make_exprs(op.run, count, all));
}

/* The first expression is `number` more. */
static pto_status shift(pto_op op, const defect *d)
{
    return set_expr(op, d->text, 0, pto_expr_offset(pto_expr_of(op, pto_s(d->text), 0), (int64_t)d->number));
}

/* The last one is `number` more, or that number. */
static pto_status shift_last(pto_op op, const defect *d)
{
    const uint32_t last = pto_expr_count_of(op, pto_s(d->text)) - 1;
    return set_expr(op, d->text, last, pto_expr_offset(pto_expr_of(op, pto_s(d->text), last), (int64_t)d->number));
}

static pto_status fix_last(pto_op op, const defect *d)
{
    return set_expr(op, d->text, pto_expr_count_of(op, pto_s(d->text)) - 1, pto_expr_const(op.run, (int64_t)d->number));
}

static pto_status fix(pto_op op, const defect *d)
{
    return set_expr(op, d->text, 0, pto_expr_const(op.run, (int64_t)d->number));
}

/* A loop over the tiles of a core ends after the first. */
static pto_status run_once(pto_op op, const defect *d)
{
    (void)d;
    const pto_expr end = pto_expr_add(pto_expr_of(op, PTO_STR("from"), 0), pto_expr_of(op, PTO_STR("step"), 0));
    return set_expr(op, "to", 0, pto_expr_min(pto_expr_of(op, PTO_STR("to"), 0), end));
}

/* ---- tensors: something beside the op ---- */

static pto_value constant(pto_op op, pto_dtype dtype, double number)
{
    pto_spec s = pto_spec_make(op.run, kind_of(op.run, "tensor.constant"));
    if (pto_dtype_is_float(dtype))
        pto_spec_float(&s, PTO_STR("value"), number);
    else
        pto_spec_int(&s, PTO_STR("value"), (int64_t)number);
    pto_spec_result(&s, pto_type_tensor(op.run, dtype, 0, NULL));
    return pto_spec_value(&s, pto_before(op));
}

static pto_value apply(pto_op op, pto_place at, const char *name, pto_value a, pto_value b)
{
    pto_spec s = pto_spec_make(op.run, kind_of(op.run, name));
    pto_spec_operand(&s, a);
    if (PTO_SOME(b)) pto_spec_operand(&s, b);
    pto_spec_result(&s, pto_value_type(a));
    return pto_spec_value(&s, at);
}

/* All uses of the result read `by`, which is made of it. */
static pto_status read_instead(pto_value y, pto_value by)
{
    PTO_NEED(by);
    PTO_TRY(pto_value_replace(y, by));
    return pto_op_set_operand(pto_value_op(by), 0, y);
}

static pto_status then(pto_op op, const defect *d)
{
    const pto_value y = pto_op_result(op, 0);
    const pto_value c = constant(op, pto_type_dtype(pto_value_type(y)), d->number);
    PTO_NEED(c);
    return read_instead(y, apply(op, pto_after(op), d->text, y, c));
}

/* The operand goes through a function first. */
static pto_status first(pto_op op, const defect *d)
{
    const pto_value x = apply(op, pto_before(op), d->text, pto_op_operand(op, 0), pto_value_none(op.run));
    PTO_NEED(x);
    return pto_op_set_operand(op, 0, x);
}

/* The operand goes through one with a number. */
static pto_status first_with(pto_op op, const defect *d)
{
    const pto_value a = pto_op_operand(op, 0), c = constant(op, pto_type_dtype(pto_value_type(a)), d->number);
    PTO_NEED(c);
    const pto_value x = apply(op, pto_before(op), d->text, a, c);
    PTO_NEED(x);
    return pto_op_set_operand(op, 0, x);
}

/* (x + c) - c: what is small is gone. */
static pto_status flush(pto_op op, const defect *d)
{
    const pto_value a = pto_op_operand(op, 0), c = constant(op, pto_type_dtype(pto_value_type(a)), d->number);
    PTO_NEED(c);
    const pto_value more = apply(op, pto_before(op), "tensor.add", a, c);
    PTO_NEED(more);
    const pto_value x = apply(op, pto_before(op), "tensor.sub", more, c);
    PTO_NEED(x);
    return pto_op_set_operand(op, 0, x);
}

/* The result is a number, whatever the operands are. */
static pto_status fold(pto_op op, const defect *d)
{
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    pto_spec s = pto_spec_make(op.run, kind_of(op.run, "tensor.constant"));
    pto_spec_float(&s, PTO_STR("value"), d->number);
    pto_spec_result(&s, type);
    const pto_value y = pto_spec_value(&s, pto_before(op));
    PTO_NEED(y);
    return pto_op_replace_by(op, y);
}

/* Wrong for some values of $N alone: for all others `e` is 0, and the result times e + 1, or plus e. */
static pto_status change_by(pto_op op, const char *name, pto_expr e)
{
    const pto_value y = pto_op_result(op, 0);
    pto_spec s = pto_spec_make(op.run, kind_of(op.run, "tensor.index_cast"));
    pto_spec_exprs(&s, PTO_STR("from"), 1, &e);
    pto_spec_result(&s, pto_type_tensor(op.run, pto_type_dtype(pto_value_type(y)), 0, NULL));
    const pto_value c = pto_spec_value(&s, pto_before(op));
    PTO_NEED(c);
    return read_instead(y, apply(op, pto_after(op), name, y, c));
}

static pto_expr symbol(pto_op op) { return pto_expr_symbol(op.run, PTO_STR("N")); }
static pto_expr whole(pto_op op, int64_t n) { return pto_expr_const(op.run, n); }

static pto_status only_at_0(pto_op op, const defect *d)
{
    (void)d;
    return change_by(op, "tensor.add", pto_expr_floordiv(whole(op, 1), pto_expr_offset(symbol(op), 1)));
}

/* Times 2 at 1: 2 / N rounded down, at least 1. */
static pto_status only_at_1(pto_op op, const defect *d)
{
    (void)d;
    const pto_expr n = pto_expr_max(symbol(op), whole(op, 1));
    return change_by(op, "tensor.mul",
                     pto_expr_max(whole(op, 1), pto_expr_floordiv(whole(op, 2), pto_expr_min(n, whole(op, 3)))));
}

static pto_status only_from(pto_op op, const defect *d)
{
    const pto_expr more = pto_expr_floordiv(symbol(op), whole(op, (int64_t)d->number));
    return change_by(op, "tensor.mul", pto_expr_offset(more, 1));
}

/* Integers that wrapped stay at the end of their type. */
static pto_status saturate(pto_op op, const defect *d)
{
    (void)d;
    const pto_type type = pto_value_type(pto_op_result(op, 0)), wide = pto_type_with_dtype(op.run, type, PTO_F32);
    const pto_kind_id cast = kind_of(op.run, "tensor.cast");
    const pto_value a = pto_make1(op.run, pto_before(op), cast, wide, pto_op_operand(op, 0)),
                    b = pto_make1(op.run, pto_before(op), cast, wide, pto_op_operand(op, 1));
    const pto_value sum = pto_make2(op.run, pto_before(op), pto_op_kind(op), wide, a, b);
    pto_spec s = pto_spec_make(op.run, cast);
    pto_spec_operand(&s, sum);
    pto_spec_bool(&s, PTO_STR("saturate"), 1);
    pto_spec_result(&s, type);
    const pto_value y = pto_spec_value(&s, pto_before(op));
    PTO_NEED(y);
    return pto_op_replace_by(op, y);
}

/* Rows of a square for its columns. */
static pto_status turn(pto_op op, const defect *d)
{
    static const int64_t perm[] = {1, 0};
    (void)d;
    const pto_value a = pto_op_operand(op, 0);
    pto_spec s = pto_spec_make(op.run, kind_of(op.run, "tensor.transpose"));
    pto_spec_operand(&s, a);
    pto_spec_ints(&s, PTO_STR("perm"), 2, perm);
    pto_spec_result(&s, pto_value_type(a));
    const pto_value x = pto_spec_value(&s, pto_before(op));
    PTO_NEED(x);
    return pto_op_set_operand(op, 0, x);
}

/* ---- the rows ---- */

static const defect tensor_defects[] = {
    {"swaps-sub", "tensor.sub", swap, NULL, 0},
    {"swaps-div", "tensor.div", swap, NULL, 0},
    {"repeats-operand", "tensor.sub", repeat, NULL, 0},
    {"min-for-max", "tensor.maximum", become, "tensor.minimum", 0},
    {"min-for-max-of-rows", "tensor.reduce_max", become, "tensor.reduce_min", 0},
    {"mul-for-div", "tensor.div", become, "tensor.mul", 0},
    {"drops-abs", "tensor.abs", become, NULL, 0},
    {"drops-relu", "tensor.relu", become, NULL, 0},
    {"drops-neg", "tensor.neg", become, NULL, 0},
    {"loses-minus-zero", "tensor.neg", then, "tensor.add", 0.0},
    {"loses-nan", "tensor.maximum", set_word, "nan=ignore", 0},
    {"loses-nan-of-rows", "tensor.reduce_max", set_word, "nan=ignore", 0},
    {"maximum-starts-at-zero", "tensor.reduce_max", then, "tensor.maximum", 0},
    {"maximum-starts-at-lowest", "tensor.reduce_max", then, "tensor.maximum", -3.4028234663852886e38},
    {"root-of-magnitude", "tensor.sqrt", first, "tensor.abs", 0},
    {"flushes-denormals", "tensor.abs", flush, NULL, 0x1p-103},
    {"one-unit", "tensor.abs", then, "tensor.mul", 1.00000011920928955078125},
    {"rounds-by-trunc", "tensor.cast", set_word, "mode=trunc", 0},
    {"rounds-by-rint", "tensor.cast", set_word, "mode=rint", 0},
    {"wraps", "tensor.cast", set_flag, "saturate", 0},
    {"saturates", "tensor.add", saturate, NULL, 0},
    {"other-axis", "tensor.reduce_sum", turn, NULL, 0},
    {"turns-before-reshape", "tensor.reshape", turn, NULL, 0},
    {"turns-back", "tensor.transpose", turn, NULL, 0},
    {"other-axis-of-softmax", "tensor.softmax", set_int, "axis", 0},
    {"other-gelu", "tensor.gelu", set_word, "approx=sigmoid", 0},
    {"larger-eps", "tensor.rms_norm", set_number, "eps", 1e-3},
    {"folds-x-minus-x", "tensor.sub", fold, NULL, 0},
    {"only-at-0", "tensor.reduce_sum", only_at_0, NULL, 0},
    {"only-at-1", "tensor.neg", only_at_1, NULL, 0},
    {"only-from-200", "tensor.neg", only_from, NULL, 200},
    {"log-of-more", "tensor.log", first_with, "tensor.maximum", 1e-38},
    {"swaps-planes", "tensor.concat", swap, NULL, 0},
    {"reads-low-plane", "tensor.view", fix_last, "offsets", 0},
    {"carries-always", "tensor.bitwise_not", become, NULL, 0},
    {"and-for-or", "tensor.bitwise_or", become, "tensor.bitwise_and", 0},
    {"shifts-up", "tensor.shr", become, "tensor.shl", 0},
    {"drops-activation", "tensor.matmul", set_word, "activation=none", 0},
    {"ranks-equals-alike", "tensor.le", become, "tensor.lt", 0},
    {"ranks-backwards", "tensor.lt", become, "tensor.gt", 0},
    {"ranks-from-one", "tensor.reduce_sum", then, "tensor.add", 1},
    {"joins-first-part", "tensor.assemble", fix, "offsets", 0},
    {"smallest-for-largest", "tensor.topk", set_flag, "largest", 0},
    {"sorts-up", "tensor.sort", set_flag, "descending", 0},
};

static const defect tile_defects[] = {
    {"swaps-sub", "tile.sub", swap, NULL, 0},
    {"min-for-max", "tile.max", become, "tile.min", 0},
    {"min-for-max-of-rows", "tile.rowmax", become, "tile.rowmin", 0},
    {"drops-exp", "tile.exp", become, NULL, 0},
    {"drops-last-tile", "forall", shift, "to", -1},
    {"drops-last-product", "for", shift, "to", -1},
    {"loads-first-tile", "tile.load", fix, "offsets", 0},
    {"starts-anew", "tile.matmul_acc", start_anew, NULL, 0},
    {"drops-last-part", "forall", shift_last, "to", -1},
    {"sums-first-part", "tile.load", fix_last, "offsets", 0},
    {"drops-relu", "tile.store", set_flag, "relu", 0},
    {"writes-first-row", "tile.store", fix_last, "offsets", 0},
    {"drops-last-iteration", "for", shift, "to", -1},
    {"sorts-by-magnitude", "tile.neg", become, NULL, 0},
    {"pads-with-zero", "tile.load", set_number, "pad", 0},
    {"infinity-is-no-number", "tile.cmps", set_word, "relation=lt", 0},
    {"sign-of-others", "tile.select", swap, NULL, 1},
    {"merges-longer-runs", "tile.merge_runs", set_int, "run", 128},
    {"later-chunk-first", "tile.merge", swap, NULL, 0},
    {"value-of-other-chunks", "tile.cmp", set_word, "relation=ne", 0},
    {"place-beyond-chunk", "tile.mins", become, "tile.maxs", 0},
};

static const defect block_defects[] = {
    {"swaps-div", "pto.tdiv", swap, NULL, 1},
    {"max-for-min", "pto.tmin", become, "pto.tmax", 0},
    {"drops-store", "pto.tstore", become, NULL, 0},
    {"drops-load", "pto.tload", become, NULL, 0},
    {"adds-twice", "pto.tmatmul_acc", copy_again, NULL, 0},
    {"one-tile-for-each-core", "for", run_once, NULL, 0},
    {"stores-first-tile", "pto.tstore", fix, "offsets", 0},
    {"loads-next-row", "pto.tload", shift, "offsets", 1},
    {"swaps-arguments", "block.launch", swap, NULL, 0},
    {"drops-relu", "pto.tstore", set_flag, "relu", 0},
    {"drops-products", "pto.tmatmul_acc", become, NULL, 0},
    {"merges-one-run", "pto.tmrgsort", set_int, "run", 256},
    {"keeps-old-list", "pto.tmrgsort_lists", repeat, NULL, 1},
    {"counts-no-places", "pto.tci", become, NULL, 0},
};

static const defect exec_defects[] = {
    {"swaps-arguments", "exec.launch", swap, NULL, 0},
    {"drops-launch", "exec.launch", become, NULL, 0},
    {"repeats-argument", "exec.launch", repeat, NULL, 0},
};

/* A pass that may change the order of sums, and does more. */
static const defect reassociates_defects[] = {
    {"many-units", "tensor.reduce_sum", then, "tensor.mul", 1.001},
    {"drops-abs", "tensor.abs", become, NULL, 0},
    {"numbs", "tensor.reduce_max", set_word, "nan=ignore", 0},
    {"scores-off", "tensor.attention", set_number, "scale", 0.126},
    {"sees-later-keys", "tensor.attention", set_flag, "causal", 0},
    {"values-off", "tensor.attention", then, "tensor.mul", 1.001},
    {"forgets-correction", "tensor.var", set_int, "correction", 0},
    {"windows-off", "tensor.conv2d", then, "tensor.mul", 1.001},
    {"entropy-off", "tensor.cross_entropy", then, "tensor.add", 0.001},
    {"scales-off", "tensor.scaled_matmul", then, "tensor.mul", 1.001},
    {"sine-for-tangent", "tensor.tan", become, "tensor.sin", 0},
    {"power-off", "tensor.pow", then, "tensor.mul", 1.00001},
};

static pto_status plant(const pto_run *run, pto_op unit, const defect *d)
{
    PTO_WALK(unit, op)
    {
        if (pto_str_is(pto_op_name(op), d->op)) return d->plant(op, d);
    }
    (void)run;
    return PTO_OK;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define LEVEL(level_, flags_, consumes_, word_)                                                                  \
    static pto_status run_##level_(const pto_run *run, pto_op unit)                                              \
    {                                                                                                            \
        for (size_t i = 0; i < COUNT(level_##_defects); i++)                                                     \
            if (pto_str_is(pto_opt_str(run, 0), level_##_defects[i].name))                                       \
                return plant(run, unit, &level_##_defects[i]);                                                   \
        return pto_error(unit, "test.hostile-miscompiles/unknown", "there is no such miscompile");               \
    }                                                                                                            \
    static const pto_option option_##level_ = {                                                                  \
        .struct_size = sizeof option_##level_, .name = "plant", .doc = "which miscompile", .type = PTO_OPT_STR}; \
    static const pto_pass pass_##level_ = {.struct_size = sizeof pass_##level_,                                  \
                                           .flags = (flags_),                                                    \
                                           .id = "test.hostile-miscompiles-" word_,                              \
                                           .summary = "Miscompile",                                              \
                                           .scope = "function",                                                  \
                                           .consumes = (consumes_),                                              \
                                           .produces = (consumes_),                                              \
                                           .options = PTO_LIST(pto_option, &option_##level_),                    \
                                           .run = run_##level_}
LEVEL(tensor, 0, "tensor/1", "tensor");
LEVEL(tile, 0, "tile/1", "tile");
LEVEL(block, 0, "block/1", "block");
LEVEL(exec, 0, "exec/1", "exec");
LEVEL(reassociates, PTO_PASS_REASSOCIATES, "tensor/1", "reassociates");

PTO_PLUGIN("test.hostile-miscompiles",
           "pass:test.hostile-miscompiles-tensor pass:test.hostile-miscompiles-tile "
           "pass:test.hostile-miscompiles-block pass:test.hostile-miscompiles-exec "
           "pass:test.hostile-miscompiles-reassociates",
           "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass_tensor, &pass_tile, &pass_block, &pass_exec, &pass_reassociates));
