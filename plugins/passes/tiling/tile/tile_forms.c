/* Rows whose length is only known at run time: a nest whose tiles hold whole rows, for those that fit, and one in
 * chunks for all others, chosen at launch.
 *
 *     %y = tensor.group "f_0" { .. }     =>     %y = if $C <= 16384 {
 *                                                 %y_whole = tensor.group "f_0_whole" { .. }
 *                                                 yield %y_whole
 *                                               } else {
 *                                                 %y_chunks = tensor.group "f_0" { .. }
 *                                                 yield %y_chunks
 *                                               }
 *
 * Only where chunks take more than one sweep, each of which reads the row again and computes again what it needs. */
#include "tile_rows.h"

#include <stdio.h>

/* Of a tile of one row that has so many columns at most, and so has no sweeps. */
static int64_t row_bytes(row_group *g, int64_t columns)
{
    const int64_t tile[2] = {1, pto_round_up(columns, g->granule)}, bound = g->bound;
    g->bound = columns;
    const int64_t bytes = rows_footprint(g, tile, pto_space_of_role(g->run, PTO_ROLE_SCRATCHPAD));
    g->bound = bound;
    return bytes;
}

static int64_t space_bytes(const row_group *g)
{
    return tile_capacity(g->run, pto_space_of_role(g->run, PTO_ROLE_SCRATCHPAD));
}

static int can_hold(row_group *g, int64_t columns)
{
    return columns <= PTO_TILE_SIZE_MAX && row_bytes(g, columns) <= space_bytes(g);
}

/* Whether chunks of the columns are swept several times, for want of their number. */
static int takes_sweeps(const row_group *g)
{
    return g->product == NULL && !g->is_split && g->swept == AXIS_COLUMNS && g->sweeps == rows_along(AXIS_COLUMNS) &&
           g->static_extent[AXIS_COLUMNS] < 0 && rows_last_sweep(g) >= 2;
}

void rows_find_bound(row_group *g)
{
    g->bound = -1;
    if (pto_opt_i64(g->run, TILE_OPT_WHOLE_ROWS) == 0 || !takes_sweeps(g)) return;
    const pto_range r = pto_extent_range(g->group, g->extent[AXIS_COLUMNS]);
    if (r.hi > 0 && r.hi <= PTO_TILE_SIZE_MAX && can_hold(g, r.hi)) g->bound = r.hi;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The option asks for a nest of rows of up to `asked` columns, and not even those of `columns` fit. */
static void say_none_fits(row_group *g, int64_t asked, int64_t columns)
{
    pto_remark(g->group, "pto.tile/no-whole-rows",
               "rows are cut into chunks, and those of up to %lld elements have no nest beside it: one of %lld needs "
               "%lld bytes of `%s`, which has %lld",
               (long long)asked, (long long)columns, (long long)row_bytes(g, columns),
               pto_space_name(g->run, pto_space_of_role(g->run, PTO_ROLE_SCRATCHPAD)), (long long)space_bytes(g));
}

pto_status rows_choose_forms(row_group *g, int64_t *border)
{
    *border = 0;
    const pto_expr extent = g->extent[AXIS_COLUMNS];
    if (pto_opt_i64(g->run, TILE_OPT_WHOLE_ROWS) == 0 || g->bound > 0 || !takes_sweeps(g) ||
        pto_expr_kind_of(extent) != PTO_EXPR_SYMBOL)
        return PTO_OK;
    const pto_range r = pto_extent_range(g->group, extent);
    const int64_t asked = pto_opt_i64(g->run, TILE_OPT_WHOLE_ROWS), least = larger(r.lo, g->granule);
    int64_t none = 0, most = asked;
    while (most > least && !can_hold(g, most)) most = larger(most / 2, least);
    if (r.hi > 0 && most >= r.hi) most = r.hi - 1;
    if (most < 1 || most < r.lo) return PTO_OK;
    if (!can_hold(g, most)) {
        say_none_fits(g, asked, most);
        return PTO_OK;
    }
    char limit[96];
    (void)snprintf(limit, sizeof limit, "a row of so many takes %lld of %lld bytes", (long long)row_bytes(g, most),
                   (long long)space_bytes(g));
    const pto_decision d = {
        .struct_size = sizeof d, .count = 1, .name = "whole-rows", .min = &none, .max = &most, .limit = limit};
    *border = most;
    PTO_TRY(pto_decision_pinned(g->group, &d, border));
    if (*border < r.lo) *border = 0; /* would never be taken */
    return pto_decision_made(g->group, &d, border);
}

static pto_str named(const pto_run *run, pto_str name, const char *suffix)
{
    const size_t capacity = name.n + 16;
    char *text = pto_scratch(run, capacity);
    (void)snprintf(text, capacity, "%.*s%s", PTO_FMT(name), suffix);
    return pto_s(text);
}

static pto_op build_if(const row_group *g, int64_t border)
{
    const pto_expr left = g->extent[AXIS_COLUMNS], right = pto_expr_const(g->run, border);
    pto_spec s = pto_spec_make(g->run, pto_kind(g->run, KIND_IF));
    pto_spec_str(&s, PTO_STR("relation"), PTO_STR("le"));
    pto_spec_exprs(&s, PTO_STR("left"), 1, &left);
    pto_spec_exprs(&s, PTO_STR("right"), 1, &right);
    for (uint32_t i = 0; i < pto_op_result_count(g->group); i++)
        pto_spec_result(&s, pto_value_type(pto_op_result(g->group, i)));
    pto_spec_blocks(&s, 2);
    pto_spec_loc(&s, pto_op_loc(g->group));
    return pto_spec_build(&s, pto_before(g->group));
}

/* A copy of the group, whose results are those of the block. */
static pto_op fill_block(const row_group *g, pto_block block, const char *suffix)
{
    const pto_op clone = pto_op_clone(g->group, pto_at_end(block), 0, NULL, NULL);
    if (!PTO_SOME(clone)) return clone;
    pto_spec s = pto_spec_make(g->run, pto_kind(g->run, KIND_YIELD));
    for (uint32_t i = 0; i < pto_op_result_count(clone); i++) {
        const pto_value result = pto_op_result(clone, i);
        if (pto_value_set_name(result, named(g->run, pto_value_name(pto_op_result(g->group, i)), suffix)) != PTO_OK)
            return pto_op_none(g->run);
        pto_spec_operand(&s, result);
    }
    pto_spec_loc(&s, pto_op_loc(g->group));
    return PTO_SOME(pto_spec_build(&s, pto_at_end(block))) ? clone : pto_op_none(g->run);
}

pto_status rows_lower_in_forms(row_group *g, int64_t border)
{
    const pto_run *run = g->run;
    const pto_op branch = build_if(g, border);
    PTO_NEED(branch);
    const pto_op whole = fill_block(g, pto_op_block_at(branch, 0), "_whole"),
                 chunks = fill_block(g, pto_op_block_at(branch, 1), "_chunks");
    PTO_NEED(whole);
    PTO_NEED(chunks);
    const pto_str label = named(run, pto_attr_str_of(g->group, PTO_STR("label")), "_whole");
    PTO_TRY(pto_op_set_attr(whole, PTO_STR("label"), pto_attr_make_str(run, label)));
    const uint32_t count = pto_op_result_count(g->group);
    pto_str *names = PTO_SCRATCH(run, pto_str, count);
    pto_value *values = PTO_SCRATCH(run, pto_value, count);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = pto_value_name(pto_op_result(g->group, i));
        values[i] = pto_op_result(branch, i);
    }
    PTO_TRY(pto_op_replace(g->group, count, values));
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pto_value_set_name(values[i], names[i]));
    PTO_TRY(rows_lower_form(run, whole));
    return rows_lower_form(run, chunks);
}
