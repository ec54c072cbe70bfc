/* pto.tile: makes each group a nest of loops over tiles; a strategy picks the sizes.
 *
 *     %y = tensor.group "f_0" {            %e = tile.empty
 *       %d = tensor.exp %x          =>     %y = forall "f_0" (%i) to (ceildiv($B, 16)) out(%o = %e) {
 *       yield %d                             %tx = tile.load %x[16 * %i, 0] size(min(16, $B - 16 * %i), 256)
 *     }                                      %td = tile.exp %tx
 *                                            tile.store %td, %o[16 * %i, 0]
 *                                          }
 *
 * Ops that move elements are nests that copy, one for each box that the result is made of: tile_move.c. A view that
 * only vector groups read is none: they load from what it is a window of (tile_windows.c).
 *
 * Tails are valid regions and nothing is unrolled, so the number of ops does not depend on extents. Sums of rows that
 * do not fit are split into chunks, in ascending order of chunks, and where there are few rows each core takes a part
 * of the chunks (tile_parts.c); everything else is exact. Source: own.
 *
 * Requires every structured op in a group (pto.grouped). Leaves nests of tile ops on tensors, whose tiles have neither
 * space nor layout. */
#include "machine_types.h"
#include "tile_nest.h"

#define OPTIONS(X)                                                                                            \
    X(STRATEGY, PLUGIN, "strategy", .def = "pto.tiling-heuristic", .choices = PTO_STRS("tiling"),             \
      .doc = "Which tiling strategy offers the sizes.",                                                       \
      .example = "{ pass: pto.tile, with: { strategy: { use: pto.tiling-manual, with: { rows: 16 } } } }")    \
    X(SYMBOLS, STR, "symbols", .def = "\"\"",                                                                 \
      .doc = "Values of symbols that `tune` declares, as `NAME=N, NAME=N`; others get their largest value.",  \
      .example = "{ pass: pto.tile, with: { symbols: \"KB=128, MB=64\" } }")                                  \
    X(IN_PLACE, BOOL, "in-place", .def = "true",                                                              \
      .doc = "What a tile needs is counted as pto.select with this option makes buffers.",                    \
      .example = "{ pass: pto.tile, with: { in-place: false } }")                                             \
    X(WHOLE_ROWS, I64, "whole-rows", .def = "0", .min = "0",                                                  \
      .doc = "Rows of a length that is known at run time alone have a second nest, for those of so many "     \
             "elements at most: they are not cut into chunks. 0: they have one nest.",                        \
      .example = "{ pass: pto.tile, with: { whole-rows: 16384 } }")                                           \
    X(JOIN_PARTS, BOOL, "join-parts", .def = "false",                                                         \
      .doc = "What is concatenated along the last axis is stored where the result has it, by the nests that " \
             "compute it; those of one grid become one.",                                                     \
      .example = "{ pass: pto.tile, with: { join-parts: true } }")
PTO_OPTIONS(OPTIONS);
_Static_assert((int)OPT_STRATEGY == (int)TILE_OPT_STRATEGY && (int)OPT_SYMBOLS == (int)TILE_OPT_SYMBOLS &&
                   (int)OPT_IN_PLACE == (int)TILE_OPT_IN_PLACE && (int)OPT_WHOLE_ROWS == (int)TILE_OPT_WHOLE_ROWS &&
                   (int)OPT_JOIN_PARTS == (int)TILE_OPT_JOIN_PARTS,
               "the files ask for options by number");

#define STATS(X) X(NESTS, "nests") X(PRICED, "tiles counted for their price")
PTO_STATS(STATS);
_Static_assert((int)STAT_PRICED == (int)TILE_STAT_PRICED, "the files count by number");

/* The op of a kind that needs a group of its own, if the group is that op; numbers that it takes come before. */
static pto_op sole_op(pto_op group, pto_kind_id kind)
{
    pto_op first = pto_block_first(pto_body(group));
    while (PTO_IS(first, T_CONSTANT)) first = pto_op_next(first);
    return pto_op_is(first, kind) ? first : pto_op_none(group.run);
}

/* The op that moves elements, if the group is one. */
static pto_op sole_move(pto_op group)
{
    const pto_op first = pto_block_first(pto_body(group));
    const int64_t rule = pto_kind_column(group.run, pto_op_kind(first), PTO_COLUMN_SPACE_RULE);
    return rule == PTO_ITER_WINDOW || rule == PTO_ITER_PARTS ? first : pto_op_none(group.run);
}

static pto_status check_alone(pto_op op)
{
    pto_op next = pto_op_next(op);
    if (PTO_SOME(next) && !PTO_SOME(pto_op_next(next)) && pto_op_operand_count(next) == pto_op_result_count(op))
        return PTO_OK;
    pto_str name = pto_op_name(op);
    return pto_error(op, "pto.tile/not-alone", "`%.*s` shares its group; supported is a group of this op alone",
                     PTO_FMT(name));
}

/* Constants that are arrays are memory, before the group. */
static pto_status hoist_arrays(const pto_run *run, pto_op group)
{
    PTO_EACH_OP(pto_body(group), op) {
        const pto_attr value = pto_op_attr(op, PTO_STR("value"));
        const pto_attr_kind kind = pto_attr_kind_of(value);
        if (!PTO_IS(op, T_CONSTANT) || (kind != PTO_ATTR_DENSE && kind != PTO_ATTR_RESOURCE)) continue;
        pto_spec s = pto_spec_make(run, pto_kind(run, KIND_CONSTANT_ARRAY));
        pto_spec_attr(&s, PTO_STR("value"), value);
        pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
        pto_spec_loc(&s, pto_op_loc(op));
        pto_spec_name(&s, pto_name_after(op, PTO_STR("")));
        const pto_value memory = pto_spec_value(&s, pto_before(group));
        PTO_NEED(memory);
        PTO_TRY(pto_op_replace_by(op, memory));
    }
    return PTO_OK;
}

/* Whether a core can go on with the sums of the product, and ops of the group do. */
static int has_vector_work(pto_op product)
{
    const pto_op next = pto_op_next(product);
    return PTO_SOME(next) && PTO_SOME(pto_op_next(next)) && machine_has_common_core(product.run);
}

static pto_status lower_group(const pto_run *run, pto_op group)
{
    const pto_kind_id array = pto_kind(run, KIND_CONSTANT_ARRAY);
    pto_stat_add(run, STAT_NESTS, 1);
    pto_op product = sole_op(group, pto_kind(run, KIND_T_MATMUL));
    pto_op transpose = sole_op(group, pto_kind(run, KIND_T_TRANSPOSE));
    if (pto_op_result_count(group) == 0) return pto_op_erase(group);
    if (PTO_SOME(product) && !has_vector_work(product)) {
        PTO_TRY(check_alone(product));
        return tile_lower_matmul(run, group, product);
    }
    if (PTO_SOME(transpose)) {
        PTO_TRY(check_alone(transpose));
        return tile_lower_transpose(run, group, transpose);
    }
    const pto_op move = sole_move(group);
    if (PTO_SOME(move)) {
        int is_joined = 0;
        PTO_TRY(check_alone(move));
        PTO_TRY(tile_join(group, move, &is_joined));
        return is_joined ? PTO_OK : tile_lower_move(run, group, move);
    }
    const pto_op sole = pto_block_first(pto_body(group));
    const int64_t space = pto_kind_column(run, pto_op_kind(sole), PTO_COLUMN_SPACE_RULE);
    if (space == PTO_ITER_INDEXED || space == PTO_ITER_SCAN) {
        PTO_TRY(check_alone(sole));
        if (tile_can_look_up(run, group, sole)) return tile_lower_lookup(run, group, sole);
        return space == PTO_ITER_SCAN ? tile_lower_scan(run, group, sole) : tile_lower_index(run, group, sole);
    }
    if (space == PTO_ITER_ORDER) {
        PTO_TRY(check_alone(sole));
        return tile_can_order(run, sole) ? tile_lower_order(run, group, sole) : tile_lower_sort(run, group, sole);
    }
    PTO_TRY(hoist_arrays(run, group));
    pto_op first = pto_block_first(pto_body(group));
    const int is_bare = PTO_IS(first, YIELD) && pto_op_operand_count(first) == 1;
    if (is_bare && pto_op_is(pto_value_op(pto_op_operand(first, 0)), array)) {
        pto_value memory = pto_op_operand(first, 0);
        const pto_str name = pto_name_after(group, PTO_STR(""));
        PTO_TRY(pto_op_replace(group, 1, &memory));
        return name.n == 0 ? PTO_OK : pto_value_set_name(memory, name);
    }
    return tile_lower_rows(run, group);
}

static pto_status lower_reshape(const pto_run *run, pto_op op)
{
    pto_type type = pto_value_type(pto_op_result(op, 0));
    uint32_t rank = pto_type_rank(type);
    pto_expr *dims = PTO_SCRATCH(run, pto_expr, rank);
    for (uint32_t d = 0; d < rank; d++) dims[d] = pto_type_dim(type, d);
    pto_value view = tile_view(run, op, pto_op_operand(op, 0), rank, dims);
    PTO_NEED(view);
    /* The user's name of an output may be that of the reshape. */
    const pto_str name = pto_name_after(op, PTO_STR(""));
    if (!pto_value_same(view, pto_op_operand(op, 0)) && name.n != 0) PTO_TRY(pto_value_set_name(view, name));
    return pto_op_replace_by(op, view);
}

static pto_status lower_bitcast(const pto_run *run, pto_op op)
{
    if (pto_type_same(pto_value_type(pto_op_operand(op, 0)), pto_value_type(pto_op_result(op, 0))))
        return pto_op_replace_by(op, pto_op_operand(op, 0));
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_VIEW));
    pto_spec_operand(&s, pto_op_operand(op, 0));
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_loc(&s, pto_op_loc(op));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("")));
    const pto_value view = pto_spec_value(&s, pto_before(op));
    PTO_NEED(view);
    return pto_op_replace_by(op, view);
}

/* What is left of the tensor level: reshapes and bitcasts are views, unused constants go, the rest has no lowering. */
static pto_status lower_rest(const pto_run *run, pto_op op)
{
    if (PTO_IS(op, T_RESHAPE) || PTO_IS(op, T_SQUEEZE) || PTO_IS(op, T_UNSQUEEZE)) return lower_reshape(run, op);
    if (PTO_IS(op, T_BITCAST)) return lower_bitcast(run, op);
    const int is_splat = PTO_IS(op, T_CONSTANT) || PTO_IS(op, T_INDEX_CAST) || PTO_IS(op, T_FULL);
    if (is_splat && pto_value_use_count(pto_op_result(op, 0)) == 0) return pto_op_erase(op);
    pto_str name = pto_op_name(op);
    if (pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_HOME) != PTO_HOME_TENSOR) return PTO_OK;
    if (name.n < 7 || memcmp(name.p, "tensor.", 7) != 0)
        return pto_error(op, "pto.tile/unsupported-op",
                         "`%.*s` has no tile form; a pass of the plugin that it comes from must make tensor ops of it "
                         "in a step before",
                         PTO_FMT(name));
    return pto_error(
        op, "pto.tile/unsupported-op",
        "`%.*s` has no tile form; composites are taken apart by the `pto.decompose-*` passes, and groups are "
        "made by `pto.fuse`",
        PTO_FMT(name));
}

/* A function that calls functions of nests alone has nothing of the tile level: memory that nothing uses makes it one.
 * Returns whether it is such a function. */
static int marked(const pto_run *run, pto_op unit)
{
    PTO_WALK(unit, op)
    {
        if (!PTO_IS(op, CALL) || pto_op_result_count(op) == 0) continue;
        return PTO_SOME(tile_empty(run, op, pto_value_type(pto_op_result(op, 0)), PTO_STR("e")));
    }
    return 0;
}

/* A function that only hands its parameters on has nothing of the tile level: copying a result makes it one. */
static pto_status copy_a_result(const pto_run *run, pto_op unit)
{
    pto_op ret = pto_block_terminator(pto_body(unit));
    uint32_t k = 0;
    while (k < pto_op_operand_count(ret) && pto_type_kind_of(pto_value_type(pto_op_operand(ret, k))) != PTO_TYPE_TENSOR)
        k++;
    if (k == pto_op_operand_count(ret)) return PTO_OK;
    pto_value value = pto_op_operand(ret, k);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_GROUP));
    pto_str name = pto_function_name(unit);
    pto_spec_attr(&s, PTO_STR("label"), pto_attr_make_str(run, name));
    pto_spec_result(&s, pto_value_type(value));
    pto_spec_blocks(&s, 1);
    pto_spec_name(&s, pto_value_name(value));
    pto_op group = pto_spec_build(&s, pto_before(ret));
    PTO_NEED(group);
    pto_spec yield = pto_spec_make(run, pto_kind(run, KIND_YIELD));
    pto_spec_operand(&yield, value);
    PTO_NEED(pto_spec_build(&yield, pto_at_end(pto_body(group))));
    PTO_TRY(pto_op_set_operand(ret, k, pto_op_result(group, 0)));
    return tile_lower_rows(run, group);
}

/* A view that all its readers load from where it lies is not a nest. */
static pto_status lower_view(const pto_run *run, pto_op group)
{
    return pto_op_is_used(group) ? lower_group(run, group) : pto_op_erase(group);
}

/* Views come last: what reads them may take them from where they lie. */
static pto_status lower_groups(const pto_run *run, pto_op unit, int views)
{
    PTO_WALK(unit, op)
    {
        if (!PTO_IS(op, GROUP)) continue;
        const int is_view = pto_op_result_count(op) != 0 && PTO_IS(pto_block_first(pto_body(op)), T_VIEW);
        if (is_view != views) continue;
        PTO_TRY(pto_go_on(run));
        PTO_TRY(views ? lower_view(run, op) : lower_group(run, op));
    }
    return PTO_OK;
}

static pto_status run_tile(const pto_run *run, pto_op unit)
{
    int found = 0;
    PTO_TRY(tile_fix_symbols(run, unit));
    PTO_TRY(lower_groups(run, unit, 0));
    PTO_WALK(unit, op)
    {
        if (PTO_IS(op, T_RESHAPE) && !pto_op_is_used(op)) PTO_TRY(pto_op_erase(op));
    }
    PTO_TRY(lower_groups(run, unit, 1));
    PTO_WALK(unit, op) found |= PTO_IS(op, FORALL);
    if (!found && !marked(run, unit)) PTO_TRY(copy_a_result(run, unit));
    PTO_WALK(unit, op) PTO_TRY(lower_rest(run, op));
    return PTO_OK;
}

static const pto_pass tile_pass = {
    .struct_size = sizeof tile_pass,
    .flags = PTO_PASS_REASSOCIATES,
    .id = "pto.tile",
    .summary = "Turn groups into nests of loops over tiles",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tile/1",
    .requires_props = PTO_STRS("pto.grouped"),
    .kinds = tile_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_tile,
};
PTO_PLUGIN("pto.tile", "pass:pto.tile", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &tile_pass));
