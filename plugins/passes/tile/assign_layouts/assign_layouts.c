/* pto.assign-layouts: every tile gets a layout, and capacities are rounded up to what that layout needs.
 *
 *     %t = tile.load %a[..] size(16, 250) : tile<16 x 250 x f32, vec>      =>  tile<16 x 256 x f32, vec, nd>
 *     %m = tile.rowmax %t : tile<16 x 1 x f32, vec>                        =>  tile<16 x 1 x f32, vec, dn>
 *     %b = tile.load %b[..] size(..) {transpose = true} : tile<.., mat>    =>  tile<.., mat, zn>
 *     %r = tile.move %b : tile<.., right>                                  =>  tile<.., right, zn>
 *
 * The first layout that the machine lists for a space is the usual one; a tile of one column is dn where the space has
 * it. A column whose elements lie apart in memory is a block for each of them where the machine takes no other one and
 * it is only copied; else it passes through workspace (columns_apart.h). In `mat` the path from memory decides, by
 * whether the window is read transposed. A layout that the program states stays. Valid regions do not change. Exact.
 *
 * Requires tiles with spaces (pto.spaces-assigned). Leaves every tile with a layout that fits its capacity
 * (pto.layouts-assigned). */
#include <pto/plugin.h>

#include "columns_apart.h"
#include "tile_machine.h"

#define STATS(X)            \
    X(ASSIGNED, "assigned") \
    X(PADDED, "padded")     \
    X(PACKED, "packed")
PTO_STATS(STATS);

/* Layouts of a space as text, for messages. */
static pto_str space_layouts(const pto_run *run, pto_space space)
{
    return pto_machine_text(run, "spaces.%s.layouts", pto_space_name(run, space));
}

static int space_has(const pto_run *run, pto_space space, pto_layout layout)
{
    const pto_space_facts facts = pto_machine_space(run, space);
    return facts != NULL && (facts->layouts >> layout & 1) != 0;
}

static pto_layout usual_layout(const pto_run *run, pto_space space)
{
    const pto_space_facts facts = pto_machine_space(run, space);
    return facts != NULL ? facts->usual : PTO_LAYOUT_NONE;
}

/* The first layout of an order that the space has, or NONE. */
static pto_layout layout_in(const pto_run *run, pto_space space, uint32_t order)
{
    for (pto_layout l = 1; l < pto_name_count(run, PTO_NAME_LAYOUT); l++)
        if (space_has(run, space, l) && pto_layout_order(run, l) == order) return l;
    return PTO_LAYOUT_NONE;
}

static int is_scratchpad(const pto_run *run, pto_space space)
{
    return pto_space_role(run, space) == PTO_ROLE_SCRATCHPAD;
}

static int is_down(const pto_run *run, pto_type tile)
{
    return pto_layout_order(run, pto_type_layout(tile)) == PTO_ORDER_COLUMN;
}

/* Layout in which a window lies in memory as the tile sees it: rows one after the other, or columns. A single column
 * is both. */
static pto_layout window_layout(pto_op op, pto_type tile)
{
    const int goes_down =
        tile_capacity_of(tile, 1) == 1 || is_down(op.run, tile) || pto_attr_bool_of(op, PTO_STR("transpose"), 0);
    return layout_in(op.run, tile_global(op.run), goes_down ? PTO_ORDER_COLUMN : PTO_ORDER_ROW);
}

/* ---- choosing ---- */

/* Whether all moves that read `v` can go on from `layout`. */
static int moves_go_on(const pto_run *run, pto_value v, pto_layout layout)
{
    PTO_EACH_USE(v, use) {
        if (pto_op_transfer(use.op) != PTO_TRANSFER_MOVE) continue;
        pto_type to = pto_value_type(pto_op_result(use.op, 0));
        int found = 0;
        for (pto_layout next = 1; next < pto_name_count(run, PTO_NAME_LAYOUT); next++)
            found |= (pto_type_layout(to) == PTO_LAYOUT_NONE || pto_type_layout(to) == next) &&
                     space_has(run, pto_type_space(to), next) &&
                     tile_path_layouts(run, pto_type_space(pto_value_type(v)), pto_type_space(to), layout, next);
        if (!found) return 0;
    }
    return 1;
}

/* The layout of what arrives in `v` from another space in layout `have`, or NONE. The usual one of the space is tried
 * first. */
static pto_layout arriving_layout(const pto_run *run, pto_value v, pto_space from, pto_layout have)
{
    pto_space to = pto_type_space(pto_value_type(v));
    pto_layout usual = usual_layout(run, to);
    if (tile_path_layouts(run, from, to, have, usual) && moves_go_on(run, v, usual)) return usual;
    for (pto_layout l = 1; l < pto_name_count(run, PTO_NAME_LAYOUT); l++)
        if (space_has(run, to, l) && tile_path_layouts(run, from, to, have, l) && moves_go_on(run, v, l)) return l;
    return PTO_LAYOUT_NONE;
}

/* Layout of a result that is not carried; NONE after a diagnostic. */
static pto_layout result_layout(const pto_run *run, pto_op op, pto_value v)
{
    pto_type type = pto_value_type(v);
    pto_space space = pto_type_space(type), from = tile_global(run);
    const uint32_t transfer = pto_op_transfer(op);
    const int is_vector = is_scratchpad(run, space);
    const int is_column = tile_capacity_of(type, 1) == 1 && pto_type_dtype(type) != PTO_REC64;
    const pto_layout down = is_vector && is_column ? layout_in(run, space, PTO_ORDER_COLUMN) : PTO_LAYOUT_NONE;
    if (down != PTO_LAYOUT_NONE) return columns_go_as_rows(op) ? usual_layout(run, space) : down;
    if (transfer == PTO_TRANSFER_NONE) return usual_layout(run, space);
    pto_layout have = window_layout(op, type);
    if (transfer == PTO_TRANSFER_MOVE) {
        const pto_value moved = pto_op_operand(op, pto_op_operand_count(op) - 1);
        from = pto_type_space(pto_value_type(moved));
        have = pto_type_layout(pto_value_type(moved));
    }
    pto_layout l = is_vector ? usual_layout(run, space) : arriving_layout(run, v, from, have);
    if (l != PTO_LAYOUT_NONE && tile_path_layouts(run, from, space, have, l)) return l;
    pto_str machine = tile_machine_name(run), pairs = tile_path_list(run, from, space, "layouts");
    (void)pto_error(op, "pto.assign-layouts/no-layout",
                    "`%.*s` brings %%%.*s from `%s` to `%s` as %s; the path of %.*s takes %.*s, and %s",
                    PTO_FMT(pto_op_name(op)), PTO_FMT(pto_value_name(v)), pto_space_name(run, from),
                    pto_space_name(run, space), pto_layout_name(run, have), PTO_FMT(machine),
                    PTO_FMT(pairs.n != 0 ? pairs : PTO_STR("nothing")),
                    is_vector ? "vector work needs rows: load it as it lies and use `tile.transpose`"
                              : "none of these serves what follows");
    return PTO_LAYOUT_NONE;
}

/* ---- rewriting ---- */

static int is_same_region(const pto_expr a[2], const pto_expr b[2])
{
    for (int d = 0; d < 2; d++)
        if (!pto_expr_equal(a[d], b[d])) return 0;
    return 1;
}

/* Some ops make all of a tile valid: such a tile does not grow. */
static pto_status set_type(const pto_run *run, pto_op op, pto_value v, pto_layout layout)
{
    const pto_type t = pto_value_type(v);
    int64_t unit[2], have[2] = {tile_capacity_of(t, 0), tile_capacity_of(t, 1)}, want[2];
    pto_expr before[2], after[2];
    tile_unit(run, pto_type_space(t), layout, pto_type_dtype(t), unit);
    for (int d = 0; d < 2; d++) want[d] = pto_round_up(have[d], unit[d]);
    const int grows = want[0] != have[0] || want[1] != have[1];
    const int is_known = grows && pto_value_valid(v, before) == PTO_OK;
    PTO_TRY(pto_value_set_type(v, pto_type_tile(run, pto_type_dtype(t), want[0], want[1], pto_type_space(t), layout)));
    if (is_known && pto_value_valid(v, after) == PTO_OK && !is_same_region(before, after))
        return pto_error(
            op, "pto.assign-layouts/capacity",
            "`%.*s` makes all of a tile of %lld x %lld %s valid, which layout %s rounds up to %lld x %lld; "
            "give it rows in multiples of %lld and columns in multiples of %lld",
            PTO_FMT(pto_op_name(op)), (long long)have[0], (long long)have[1], pto_dtype_name(pto_type_dtype(t)),
            pto_layout_name(run, layout), (long long)want[0], (long long)want[1], (long long)unit[0],
            (long long)unit[1]);
    if (grows) pto_stat_add(run, STAT_PADDED, 1);
    pto_stat_add(run, STAT_ASSIGNED, 1);
    return PTO_OK;
}

/* Carried tiles have the layout that they begin with. */
static pto_status rewrite_loop(pto_op op)
{
    uint32_t first = PTO_IS(op, FOR) ? 1 : 0;
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
        if (!tile_is_tile(pto_op_result(op, i))) continue;
        pto_type type = pto_value_type(pto_op_operand(op, i));
        PTO_TRY(pto_value_set_type(pto_op_result(op, i), type));
        for (uint32_t b = 0, blocks = pto_op_block_count(op); b < blocks; b++)
            PTO_TRY(pto_value_set_type(pto_block_arg(pto_op_block_at(op, b), first + i), type));
    }
    return PTO_OK;
}

static pto_status check_yield(pto_op yield)
{
    pto_op owner = pto_op_parent(yield);
    if (PTO_IS(owner, WHILE) && pto_block_same(pto_op_block(yield), pto_body(owner))) return PTO_OK;
    for (uint32_t i = 0; i < pto_op_operand_count(yield) && i < pto_op_result_count(owner); i++) {
        pto_value v = pto_op_operand(yield, i), result = pto_op_result(owner, i);
        if (!tile_is_tile(v)) continue;
        if (PTO_IS(owner, IF) && pto_type_layout(pto_value_type(result)) == PTO_LAYOUT_NONE)
            PTO_TRY(pto_value_set_type(result, pto_value_type(v)));
        if (pto_type_same(pto_value_type(v), pto_value_type(result))) continue;
        return pto_error(
            yield, "pto.assign-layouts/carried",
            "`yield` hands over %%%.*s in layout %s where `%.*s` has %s; load both the same way, transposed "
            "or not",
            PTO_FMT(pto_value_name(v)), pto_layout_name(yield.run, pto_type_layout(pto_value_type(v))),
            PTO_FMT(pto_op_name(owner)), pto_layout_name(yield.run, pto_type_layout(pto_value_type(result))));
    }
    return PTO_OK;
}

static pto_status rewrite_op(const pto_run *run, pto_op op)
{
    if (PTO_IS(op, FOR) || PTO_IS(op, WHILE)) return rewrite_loop(op);
    if (PTO_IS(op, YIELD)) return check_yield(op);
    if (PTO_IS(op, IF)) return PTO_OK;
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
        pto_value v = pto_op_result(op, i);
        if (!tile_is_tile(v)) continue;
        pto_layout layout = pto_type_layout(pto_value_type(v));
        if (layout == PTO_LAYOUT_NONE) layout = result_layout(run, op, v);
        if (layout == PTO_LAYOUT_NONE) return PTO_FAILED;
        PTO_TRY(set_type(run, op, v, layout));
    }
    return PTO_OK;
}

/* ---- the property ---- */

/* Whether the path between two spaces makes layout `b` of `a`. */
static pto_status check_path(const pto_run *run, pto_op op, pto_space from, pto_space to, pto_layout a, pto_layout b)
{
    if (tile_path_layouts(run, from, to, a, b)) return PTO_OK;
    pto_str machine = tile_machine_name(op.run), pairs = tile_path_list(op.run, from, to, "layouts");
    return pto_error(op, "pto.layouts-assigned/illegal-change",
                     "`%.*s` makes layout %s of %s between `%s` and `%s`; the path of %.*s takes %.*s",
                     PTO_FMT(pto_op_name(op)), pto_layout_name(run, b), pto_layout_name(run, a),
                     pto_space_name(run, from), pto_space_name(run, to), PTO_FMT(machine),
                     PTO_FMT(pairs.n != 0 ? pairs : PTO_STR("nothing")));
}

/* A machine that moves dense lines alone brings no tile of columns from rows. */
static pto_status check_lines(const pto_run *run, pto_op op)
{
    if (!columns_are_apart(op)) return PTO_OK;
    const int is_load = pto_op_transfer(op) == PTO_TRANSFER_LOAD;
    const pto_value memory = pto_op_operand(op, is_load ? 0 : pto_op_operand_count(op) - 1);
    const pto_type t = pto_value_type(is_load ? pto_op_result(op, 0) : pto_op_operand(op, 0));
    const pto_str machine = tile_machine_name(run);
    return pto_error(op, "pto.layouts-assigned/lines-apart",
                     "`%.*s` moves a tile of %lld x %lld %s in layout %s, and elements of a column of it are apart in "
                     "%%%.*s; %.*s moves lines of elements that follow each other (`dense-lines`): %s",
                     PTO_FMT(pto_op_name(op)), (long long)tile_capacity_of(t, 0), (long long)tile_capacity_of(t, 1),
                     pto_dtype_name(pto_type_dtype(t)), pto_layout_name(run, pto_type_layout(t)),
                     PTO_FMT(pto_value_name(memory)), PTO_FMT(machine),
                     is_load ? "load it as it lies and use `tile.transpose`" : "use `tile.transpose` and store rows");
}

static pto_status check_change(const pto_run *run, pto_op op)
{
    pto_type a, b;
    PTO_TRY(check_lines(run, op));
    switch (pto_op_transfer(op)) {
    case PTO_TRANSFER_LOAD:
        b = pto_value_type(pto_op_result(op, 0));
        return check_path(run, op, tile_global(run), pto_type_space(b), window_layout(op, b), pto_type_layout(b));
    case PTO_TRANSFER_STORE:
        a = pto_value_type(pto_op_operand(op, 0));
        return check_path(run, op, pto_type_space(a), tile_global(run), pto_type_layout(a),
                          layout_in(run, tile_global(run), is_down(run, a) ? PTO_ORDER_COLUMN : PTO_ORDER_ROW));
    case PTO_TRANSFER_MOVE:
        a = pto_value_type(pto_op_operand(op, 0));
        b = pto_value_type(pto_op_result(op, 0));
        return check_path(run, op, pto_type_space(a), pto_type_space(b), pto_type_layout(a), pto_type_layout(b));
    default: return PTO_OK;
    }
}

static pto_status check_value(const pto_run *run, pto_op at, pto_value v)
{
    if (!tile_is_tile(v)) return PTO_OK;
    pto_type t = pto_value_type(v);
    pto_layout layout = pto_type_layout(t);
    pto_space space = pto_type_space(t);
    int64_t unit[2];
    if (layout == PTO_LAYOUT_NONE)
        return pto_error(at, "pto.layouts-assigned/no-layout", "%%%.*s has no layout", PTO_FMT(pto_value_name(v)));
    if (!space_has(run, space, layout)) {
        const pto_str machine = tile_machine_name(run), legal = space_layouts(run, space);
        return pto_error(at, "pto.layouts-assigned/illegal-layout", "%%%.*s is in `%s` as %s; %.*s has there: %.*s",
                         PTO_FMT(pto_value_name(v)), pto_space_name(run, space), pto_layout_name(run, layout),
                         PTO_FMT(machine), PTO_FMT(legal));
    }
    tile_unit(run, space, layout, pto_type_dtype(t), unit);
    for (uint32_t d = 0; d < 2; d++)
        if (tile_capacity_of(t, d) % unit[d] != 0)
            return pto_error(at, "pto.layouts-assigned/unaligned",
                             "%%%.*s has %lld %s; layout %s in `%s` takes multiples of %lld",
                             PTO_FMT(pto_value_name(v)), (long long)tile_capacity_of(t, d), d == 0 ? "rows" : "columns",
                             pto_layout_name(run, layout), pto_space_name(run, space), (long long)unit[d]);
    return PTO_OK;
}

static pto_status check_assigned(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++)
            PTO_TRY(check_value(run, op, pto_op_result(op, i)));
        PTO_TRY(check_change(run, op));
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    uint32_t packed = 0;
    PTO_TRY(columns_pack(run, function, &packed));
    pto_stat_add(run, STAT_PACKED, packed);
    PTO_WALK(function, op) PTO_TRY(rewrite_op(run, op));
    PTO_WALK(function, moving) PTO_TRY(check_change(run, moving));
    return PTO_OK;
}

static const pto_property assigned = {
    .struct_size = sizeof assigned,
    .id = "pto.layouts-assigned",
    .doc = "every tile has a layout of its space and a capacity that fits it; loads, moves and stores can make it",
    .level = "tile/1",
    .kinds = layout_kinds,
    .check = check_assigned,
};

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.assign-layouts",
    .summary = "Give every tile a layout and round its capacity up to it",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .requires_props = PTO_STRS("pto.spaces-assigned"),
    .establishes = PTO_STRS("pto.layouts-assigned"),
    .kinds = layout_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.assign-layouts", "pass:pto.assign-layouts property:pto.layouts-assigned", "pto.layouts-assigned",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &assigned));
