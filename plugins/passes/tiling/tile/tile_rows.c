/* Lowers a row group: asks the strategy for rows and columns of a tile, then writes the nest.
 *
 *     forall (%i) to (ceildiv(rows, 16)) out(%o = %e) { load, compute, store }          rows fit
 *     forall (%i) to (..) out(..) { for %j to (..) carry(..) { .. } .. for %j { .. } }  they do not
 *     forall (%i, %j) to (.., ..) out(..) { .. }                                        nothing ties a row together */
#include "tile_rows.h"

static tile_nest count_instance(row_group *g, const int64_t *tile)
{
    tile_nest n = tile_nest_make(g->run, &g->counted);
    row_nest w = {.g = g, .n = &n, .tile = {tile[0], tile[1]}};
    rows_emit_instance(&w);
    return n;
}

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    if (space != PTO_VEC) return 0;
    const tile_nest n = count_instance(self, tile);
    return tile_counted_bytes(&n);
}

static int64_t capacity(void *self, pto_space space) { return tile_capacity(((row_group *)self)->run, space); }

static pto_status choose(row_group *g, int64_t tile[2])
{
    const pto_tiling_dim dims[2] = {
        {.struct_size = sizeof dims[0],
         .kind = PTO_PARALLEL,
         .name = "rows",
         .extent = g->extent[0],
         .static_extent = g->static_extent[0],
         .granule = 1},
        {.struct_size = sizeof dims[1],
         .kind = g->splits_columns ? PTO_PARALLEL : PTO_REDUCE,
         .name = "columns",
         .extent = g->extent[1],
         .static_extent = g->static_extent[1],
         .granule = g->granule},
    };
    const pto_tiling_dim *list[2] = {&dims[0], &dims[1]};
    const pto_tiling_problem problem = {.struct_size = sizeof problem,
                                        .dim_count = 2,
                                        .shape = g->splits_columns ? "elementwise" : "rows",
                                        .nest = g->group,
                                        .dims = list,
                                        .self = g,
                                        .footprint = footprint,
                                        .capacity = capacity};
    tile[0] = tile[1] = 0;
    if (pto_tiling_choose(g->run, TILE_OPT_STRATEGY, &problem, tile, NULL) != PTO_OK) {
        if (tile[0] == 0) return PTO_FAILED;
        const tile_nest n = count_instance(g, tile);
        tile_note_counted(&n, g->group);
        return PTO_FAILED;
    }
    for (int which = 0; which < 2; which++) {
        int64_t most = g->static_extent[which] == 0 ? 1 : g->static_extent[which];
        if (most > 0 && tile[which] > most) tile[which] = most;
    }
    return PTO_OK;
}

/* Chunks are summed one by one and then together, which is another order than ascending. */
static pto_status check_order(const row_group *g, const int64_t tile[2])
{
    if (g->static_extent[1] >= 0 && tile[1] >= g->static_extent[1]) return PTO_OK;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role != ROW_REDUCE || !v->is_needed || !pto_str_is(pto_attr_str_of(v->op, "order"), "ascending"))
            continue;
        if (!pto_dtype_is_float(v->dtype)) continue;
        return pto_error(
            v->op, "pto.tile/ascending-sum",
            "a sum in ascending order needs its row in one tile, and rows are split into chunks of %lld columns; "
            "write {order = \"any\"}, or give rows a static extent that fits",
            (long long)tile[1]);
    }
    return PTO_OK;
}

static void shape_dims(const row_group *g, uint8_t shape, pto_expr dims[2])
{
    for (int which = 0; which < 2; which++)
        dims[which] = (shape & (1 << which)) != 0 ? g->extent[which] : pto_expr_const(g->run, 1);
}

static pto_status make_memory(row_group *g, pto_value *empties)
{
    for (uint32_t i = 0; i < g->count; i++) {
        row_value *v = &g->values[i];
        pto_expr dims[2];
        if (v->role != ROW_INPUT || !v->is_needed) continue;
        shape_dims(g, v->shape, dims);
        v->memory = tile_view(g->run, g->group, v->value, 2, dims, "_2d");
        PTO_NEED(v->memory);
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        const row_value *v = &g->values[g->outputs[i]];
        pto_expr dims[2];
        shape_dims(g, v->shape, dims);
        empties[i] = tile_empty(g->run, g->group, pto_type_tensor(g->run, v->dtype, 2, dims), pto_s("e"));
        PTO_NEED(empties[i]);
    }
    return PTO_OK;
}

/* Dims of the grid: rows always, unless one tile has them all and columns are split. */
static uint32_t grid_of(const row_group *g, const int64_t tile[2], pto_expr to[2], int which_of[2])
{
    uint32_t count = 0;
    int splits = g->splits_columns && (g->static_extent[1] < 0 || tile[1] < g->static_extent[1]);
    for (int which = 0; which < 2; which++) {
        if (which == 1 && !splits) continue;
        if (which == 0 && splits && g->static_extent[0] >= 0 && g->static_extent[0] <= tile[0]) continue;
        which_of[count] = which;
        to[count++] = pto_expr_ceildiv(g->extent[which], pto_expr_const(g->run, tile[which]));
    }
    return count;
}

pto_status tile_lower_rows(const pto_run *run, pto_op group)
{
    static const char *const names[2] = {"i", "j"};
    row_group g;
    int64_t tile[2] = {1, 1};
    if (pto_result_count(group) == 0) return pto_erase(group);
    PTO_TRY(rows_analyse(&g, run, group));
    PTO_TRY(choose(&g, tile));
    PTO_TRY(check_order(&g, tile));
    pto_value *empties = PTO_SCRATCH(run, pto_value, g.output_count);
    PTO_TRY(make_memory(&g, empties));

    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(group);
    pto_expr to[2];
    int which_of[2];
    uint32_t dims = grid_of(&g, tile, to, which_of);
    const char *arg_names[2] = {names[which_of[0]], dims == 2 ? names[which_of[1]] : NULL};
    pto_op forall = tile_begin_forall(&n, group, dims, to, arg_names, g.output_count, empties);
    PTO_NEED(forall);
    row_nest w = {.g = &g, .n = &n, .tile = {tile[0], tile[1]}};
    for (int which = 0; which < 2; which++) {
        w.offset[which] = pto_expr_const(run, 0);
        w.valid[which] = g.extent[which];
    }
    for (uint32_t d = 0; d < dims; d++) {
        pto_expr index = pto_expr_value(pto_block_arg(n.block, d));
        int which = which_of[d];
        w.offset[which] = pto_expr_scale(index, tile[which]);
        w.valid[which] = tile_valid_extent(tile[which], g.extent[which], index);
    }
    for (uint32_t i = 0; i < g.output_count; i++) g.targets[i] = pto_block_arg(n.block, dims + i);
    rows_emit_instance(&w);
    return tile_end_forall(&n, group, forall);
}
