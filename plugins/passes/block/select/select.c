/* pto.select: tile values become PTO instructions on descriptors of buffers.
 *
 *     %tx = tile.load %x[..] size(..) {stages = 2}      %tx_b = block.buffer {..., stages = 2}   at the top
 *     %te = tile.exp %tx                          =>    %tx = block.tile %tx_b[trip mod 2] valid(..)
 *     %ty = tile.rowexpanddiv %te, %ts                  pto.tload %tx, %x[..]
 *     tile.store %ty, %y[..] {stages = 2}               pto.texp %tx, %tx
 *                                                       %ty = block.tile %ty_b[trip mod 2] valid(..)
 *                                                       pto.trowexpanddiv %ty, %tx, %ts, %ty_tmp
 *                                                       pto.tstore %y[..], %ty
 *
 * Which values share a buffer is the rule of storage_plan.h: values that loops carry and branches produce, where no two
 * of them are needed at once (out-of-SSA with coalescing by lifetimes); results that are computed in place; scratch
 * operands. Values that are handed over to another buffer are copied, all at once. Exact.
 *
 * A `tile.fused` is its ops, one after the other.
 *
 * Requires kernels of tile ops whose tiles have spaces and layouts, as pto.outline makes them. Leaves kernels of
 * instructions (pto.selected), whose buffers have no addresses yet. */
#include "select_plan.h"

static const char *const select_kinds[] = {SELECT_KINDS(PTO_KIND_TEXT) NULL};
#define OPTIONS(X)                                                                    \
    X(IN_PLACE, BOOL, "in-place", .def = "true",                                      \
      .doc = "element-by-element instructions write over an operand that dies there", \
      .example = "with: { in-place: false }")
PTO_OPTIONS(OPTIONS);

static const char *const select_stats[] = {SELECT_STATS(PTO_STAT_TEXT) NULL};

/* The ops of a region take its place: instructions run one by one. */
static pto_status flatten(pto_op fused)
{
    const pto_block body = pto_body(fused);
    const pto_op yield = pto_block_terminator(body);
    const uint32_t count = pto_op_result_count(fused);
    pto_value *values = PTO_SCRATCH(fused.run, pto_value, count);
    for (uint32_t i = 0; i < count; i++) values[i] = pto_op_operand(yield, i);
    for (pto_op op = pto_block_first(body); !pto_op_same(op, yield); op = pto_block_first(body))
        PTO_TRY(pto_op_move(op, pto_before(fused)));
    return pto_op_replace(fused, count, values);
}

static pto_status flatten_all(const pto_run *run, pto_op kernel)
{
    uint32_t count = 0, n = 0;
    PTO_WALK(kernel, op) count += PTO_IS(op, FUSED) ? 1u : 0u;
    pto_op *regions = PTO_SCRATCH(run, pto_op, count);
    PTO_WALK(kernel, op)
    if (PTO_IS(op, FUSED)) regions[n++] = op;
    for (uint32_t i = 0; i < count; i++) PTO_TRY(flatten(regions[i]));
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    select_plan p;
    if (!PTO_IS(unit, KERNEL)) return PTO_OK;
    PTO_TRY(flatten_all(run, unit));
    PTO_TRY(select_rotate_loops(run, unit));
    PTO_TRY(select_plan_make(&p, run, unit, pto_opt_bool(run, OPT_IN_PLACE)));
    for (uint32_t k = 0; k < p.storage.op_count; k++) {
        PTO_TRY(pto_go_on(run));
        PTO_TRY(select_emit(&p, k));
    }
    return select_clean(&p);
}

/* ---- what it leaves ---- */

static pto_status check_operand(pto_op op, pto_value v)
{
    if (!storage_is_tile(v) || PTO_IS(pto_value_op(v), TILE)) return PTO_OK;
    const pto_str name = pto_value_name(v), user = pto_op_name(op);
    return pto_error(op, "pto.select/tile-value",
                     "`%.*s` uses the tile `%%%.*s`, which is not a descriptor of a buffer", PTO_FMT(user),
                     PTO_FMT(name));
}

static pto_status still_there(pto_op op)
{
    const pto_str name = pto_op_name(op);
    return pto_error(op, "pto.select/tile-op", "`%.*s` is left; every tile op has become an instruction",
                     PTO_FMT(name));
}

static pto_status check_selected(const pto_run *run, pto_op unit)
{
    (void)run;
    PTO_WALK(unit, op)
    {
        if (storage_is_tile_op(op)) return still_there(op);
        for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++)
            PTO_TRY(check_operand(op, pto_op_operand(op, i)));
    }
    return PTO_OK;
}

static const pto_property property = {
    .struct_size = sizeof property,
    .id = "pto.selected",
    .doc = "kernels hold PTO instructions on descriptors of buffers, and no tile ops",
    .level = "block/1",
    .kinds = select_kinds,
    .check = check_selected,
    .excludes = "tile/1",
};

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.select",
    .summary = "Turn tile values into PTO instructions on buffers",
    .scope = "function",
    .consumes = "block/1",
    .produces = "block/1",
    .establishes = PTO_STRS("pto.selected"),
    .breaks = PTO_STRS("pto.addresses-assigned", "pto.synchronised", "pto.native-bound"),
    .kinds = select_kinds,
    .options = pass_options,
    .stats = select_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.select", "pass:pto.select property:pto.selected", "pto.selected", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &property));
