/* pto.fuse: gathers tensor ops into groups; each group becomes one nest and later one kernel.
 *
 *     %m = tensor.reduce_max %x          %y = tensor.group "f_0" {
 *     %d = tensor.sub %x, %m      =>       %m = tensor.reduce_max %x
 *     %y = tensor.exp %d                   %d = tensor.sub %x, %m
 *                                          %y = tensor.exp %d
 *                                          yield %y
 *                                        }
 *
 * Elementwise ops, broadcasts and reductions join the ops that feed them while all dims fall into rows followed by
 * columns, reductions run along all columns and no group would need itself. Where they do not, a group is a box: all
 * that is in it has the same dims except for those of its reductions, which are all along the same ones. What is
 * repeated along dims before its own (a cast of a bias, a constant) is computed again in each group. With the option
 * `products` elementwise ops join products that feed them, on a machine of which one kind of core has matrix and vector
 * units. Other matrix products, transposes, arrays, scans and what goes by indices get groups of their own. One number
 * for all elements is computed again in each block of a loop or branch that uses it. Unused ops go away. Exact. Source:
 * own.
 *
 * Requires tensor ops that have an instruction each (pto.math-legal). Leaves every structured op but reshapes in a
 * group (pto.grouped). */
#include "fuse_plan.h"

#include "machine_types.h"

#define OPTIONS(X)                                                                         \
    X(MAX_OPS, I64, "max-ops", .def = "64", .min = "1", .max = "4096", .unit = "ops",      \
      .doc = "Largest number of ops in one group; copies of repeated values not counted.", \
      .example = "{ pass: pto.fuse, with: { max-ops: 16 } }")                              \
    X(PRODUCTS, BOOL, "products", .def = "false",                                          \
      .doc = "Elementwise ops join the product that feeds them where one core does both.", \
      .example = "{ pass: pto.fuse, with: { products: true } }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(GROUPS, "groups")
PTO_STATS(STATS);

static pto_status fuse_block(const pto_run *run, pto_block block, pto_str label, uint32_t *serial)
{
    fuse_plan plan = {.run = run, .block = block, .max_ops = pto_opt_i64(run, OPT_MAX_OPS)};
    plan.joins_products = pto_opt_bool(run, OPT_PRODUCTS) && machine_has_common_core(run);
    PTO_TRY(fuse_plan_make(&plan));
    if (plan.grouped == 0) return PTO_OK;
    return fuse_rewrite(&plan, label, serial);
}

/* A number that ops in loops and branches use, once in each of their blocks. */
typedef struct sunk_copy {
    pto_block block;
    pto_value value;
} sunk_copy;

static pto_value copy_in(const pto_run *run, pto_op splat, pto_block block, sunk_copy *copies, uint32_t *count)
{
    for (uint32_t i = *count; i-- > 0;)
        if (pto_block_same(copies[i].block, block)) return copies[i].value;
    const pto_op made = pto_op_clone(splat, pto_at_start(block), 0, NULL, NULL);
    const pto_value value = PTO_SOME(made) ? pto_op_result(made, 0) : pto_value_none(run);
    copies[(*count)++] = (sunk_copy){block, value};
    return value;
}

/* What is the same number everywhere is computed again where it is used: else it would be an array in memory for the
 * groups of other blocks. */
static pto_status sink_number(const pto_run *run, pto_op splat)
{
    const pto_value number = pto_op_result(splat, 0);
    const uint32_t uses = pto_value_use_count(number);
    pto_use *all = PTO_SCRATCH(run, pto_use, uses);
    sunk_copy *copies = PTO_SCRATCH(run, sunk_copy, uses);
    uint32_t count = 0;
    for (uint32_t i = 0; i < uses; i++) all[i] = pto_use_at(number, i);
    for (uint32_t i = 0; i < uses; i++) {
        const pto_block block = pto_op_block(all[i].op);
        const int is_handed_on = PTO_IS(all[i].op, YIELD) || pto_op_block_count(all[i].op) != 0;
        if (is_handed_on || pto_block_same(block, pto_op_block(splat))) continue;
        const pto_value copy = copy_in(run, splat, block, copies, &count);
        PTO_NEED(copy);
        PTO_TRY(pto_op_set_operand(all[i].op, all[i].slot, copy));
    }
    return PTO_OK;
}

static pto_status sink_numbers(const pto_run *run, pto_op unit)
{
    PTO_WALK(unit, op)
    {
        if (fuse_is_splat(op) && !PTO_IS(pto_op_parent(op), GROUP)) PTO_TRY(sink_number(run, op));
    }
    return PTO_OK;
}

/* Blocks of the function and of its control ops, insides of groups left out. */
static pto_status fuse_run(const pto_run *run, pto_op unit)
{
    const pto_kind_id group = pto_kind(run, KIND_GROUP);
    pto_str label = pto_function_name(unit);
    uint32_t serial = 0;
    PTO_TRY(sink_numbers(run, unit));
    for (pto_op op = unit; PTO_SOME(op);) {
        for (uint32_t b = 0; b < pto_op_block_count(op) && !pto_op_is(op, group); b++)
            PTO_TRY(fuse_block(run, pto_op_block_at(op, b), label, &serial));
        op = pto_op_is(op, group) ? pto_walk_skip(op, unit) : pto_op_walk_next(op, unit);
    }
    pto_stat_add(run, STAT_GROUPS, serial);
    return PTO_OK;
}

static pto_status check_grouped(const pto_run *run, pto_op unit)
{
    const pto_kind_id group = pto_kind(run, KIND_GROUP);
    PTO_WALK(unit, op)
    {
        int64_t rule = pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE);
        if (rule == PTO_ITER_NONE || rule == PTO_ITER_RESHAPE || pto_op_is(pto_op_parent(op), group)) continue;
        if (rule == PTO_ITER_FILL && pto_value_use_count(pto_op_result(op, 0)) == 0) continue;
        pto_str name = pto_op_name(op);
        return pto_error(op, "pto.fuse/ungrouped", "`%.*s` is outside of every `tensor.group`", PTO_FMT(name));
    }
    return PTO_OK;
}

static const pto_pass fuse_pass = {
    .struct_size = sizeof fuse_pass,
    .id = "pto.fuse",
    .summary = "Gather tensor ops into groups that become one kernel each",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .requires_props = PTO_STRS("pto.math-legal"),
    .establishes = PTO_STRS("pto.grouped"),
    .kinds = fuse_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = fuse_run,
};
static const pto_property grouped = {
    .struct_size = sizeof grouped,
    .id = "pto.grouped",
    .doc = "Every structured tensor op but reshape is in a tensor.group.",
    .level = "tensor/1",
    .kinds = fuse_kinds,
    .check = check_grouped,
};
PTO_PLUGIN("pto.fuse", "pass:pto.fuse property:pto.grouped", "pto.grouped", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &fuse_pass), .properties = PTO_LIST(pto_property, &grouped));
