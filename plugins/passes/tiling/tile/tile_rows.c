/* Lowers a vector group: asks the strategy for rows and columns of a tile, then writes the nest.
 *
 *     forall (%i) to (ceildiv(rows, 16)) out(%o = %e) { load, compute, store }          rows fit
 *     forall (%i) to (..) out(..) { for %j to (..) carry(..) { .. } .. for %j { .. } }  they do not
 *     forall (%i, %j) to (.., ..) out(..) { .. }                                        nothing ties a row together
 *     forall (%ib, %j) to (.., ..) out(..) { for %j0 to (..) carry(..) { .. } .. }      a box, reduced along its rows
 */
#include "tile_rows.h"

static row_nest nest_of(row_group *g, tile_nest *n, const int64_t *tile)
{
    row_nest w = {.g = g, .n = n, .tile = {tile[AXIS_ROWS], tile[AXIS_COLUMNS]}};
    for (uint32_t a = AXIS_OUTER; a < g->axis_count; a++) w.tile[a] = 1;
    return w;
}

static tile_nest count_instance(row_group *g, const int64_t *tile)
{
    tile_nest n = tile_nest_count(g->run, &g->counting, &g->counted);
    row_nest w = nest_of(g, &n, tile);
    rows_emit_instance(&w);
    return n;
}

int64_t rows_footprint(row_group *g, const int64_t *tile, pto_space space)
{
    if (space != pto_space_of_role(g->run, PTO_ROLE_SCRATCHPAD)) return 0;
    const tile_nest n = count_instance(g, tile);
    return tile_counted_bytes(&n);
}

static int64_t footprint(void *self, const int64_t *tile, pto_space space) { return rows_footprint(self, tile, space); }

/* Tiles, or indices of an outer axis, along what is swept. */
static double trips_of(const row_group *g, const int64_t *tile)
{
    const int64_t extent = g->expected[g->swept];
    if (extent < 0) return -1.0;
    return g->swept >= AXIS_OUTER ? (double)extent : (double)pto_ceil_div(extent, tile[g->swept]);
}

static void work(void *self, const int64_t *tile, const pto_work_sink *sink)
{
    const row_group *g = self;
    const tile_nest n = count_instance(self, tile);
    pto_stat_add(g->run, TILE_STAT_PRICED, 1);
    tile_put_work(&n, trips_of(g, tile), 1.0, sink);
}

static int64_t parts(void *self, const int64_t *tile, int64_t *out_kernels)
{
    return rows_parts(self, tile, out_kernels);
}

static int64_t capacity(void *self, pto_space space) { return tile_capacity(((row_group *)self)->run, space); }

/* Instances of axes before rows and columns, -1: not known. */
static int64_t outer_instances(const row_group *g)
{
    int64_t instances = 1;
    for (uint32_t a = AXIS_OUTER; a < g->axis_count; a++) {
        if ((g->sweeps & rows_along(a)) != 0) continue;
        if (g->expected[a] < 0) return -1;
        instances = tile_mul(instances, g->expected[a]);
    }
    return instances;
}

/* A sum whose order is stated; NULL: the group has none. */
static const row_value *find_ascending(const row_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role == ROW_REDUCE && v->is_needed && pto_dtype_is_float(v->dtype) &&
            pto_str_is(pto_attr_str_of(v->op, PTO_STR("order")), "ascending"))
            return v;
    }
    return NULL;
}

/* Whether a tile can hold the whole of an axis. */
static int fits_whole(row_group *g, uint32_t axis)
{
    const int64_t whole = g->static_extent[axis];
    if (whole < 0 || whole > PTO_TILE_SIZE_MAX) return 0;
    const int64_t tile[2] = {axis == AXIS_ROWS ? whole : 1, axis == AXIS_ROWS ? g->granule : whole};
    const pto_space space = pto_space_of_role(g->run, PTO_ROLE_SCRATCHPAD);
    return footprint(g, tile, space) <= tile_capacity(g->run, space);
}

/* What sizes along an axis are multiples of: the whole, where a sum needs it and it fits. */
static int64_t granule_of(row_group *g, uint32_t axis)
{
    const int64_t plain = axis == AXIS_COLUMNS ? g->granule : 1, whole = g->static_extent[axis];
    if (axis == AXIS_COLUMNS && g->bound > 0) return pto_round_up(g->bound, plain);
    if (g->swept != axis || whole <= plain || find_ascending(g) == NULL) return plain;
    return fits_whole(g, axis) ? whole : plain;
}

/* A sum in ascending order of more rows than a tile may have adds them up one by one, as tiles of one row. */
static int is_walked_by_row(row_group *g)
{
    return g->swept == AXIS_ROWS && find_ascending(g) != NULL && !fits_whole(g, AXIS_ROWS);
}

static const char *const size_names[] = {"rows", "columns", NULL};

static pto_status choose(row_group *g, int64_t tile[2])
{
    const int is_box = g->axis_count > 2 || g->swept != AXIS_COLUMNS;
    pto_tiling_dim dims[2];
    for (uint32_t a = 0; a < 2; a++)
        dims[a] = (pto_tiling_dim){.struct_size = sizeof dims[a],
                                   .kind = rows_sweeps(g, a) ? PTO_REDUCE : PTO_PARALLEL,
                                   .name = size_names[a],
                                   .extent = g->extent[a],
                                   .static_extent = g->static_extent[a],
                                   .granule = granule_of(g, a)};
    if (is_walked_by_row(g)) {
        dims[AXIS_ROWS].extent = pto_expr_const(g->run, 1);
        dims[AXIS_ROWS].static_extent = 1;
    }
    const pto_tiling_dim *list[2] = {&dims[0], &dims[1]};
    pto_tiling_problem problem = {.struct_size = sizeof problem,
                                  .dim_count = 2,
                                  .shape = is_box        ? "box"
                                           : g->is_split ? "elementwise"
                                                         : "rows",
                                  .nest = g->group,
                                  .dims = list,
                                  .self = g,
                                  .footprint = footprint,
                                  .capacity = capacity,
                                  .outer_instances = outer_instances(g),
                                  .work = work,
                                  .parts = g->can_part ? parts : NULL};
    rows_put_words(g, &problem);
    tile[0] = tile[1] = 0;
    if (pto_tiling_choose(g->run, TILE_OPT_STRATEGY, &problem, tile, NULL) != PTO_OK) {
        if (tile[0] == 0) return PTO_FAILED;
        const tile_nest n = count_instance(g, tile);
        tile_note_counted(&n, g->group);
        if (g->bound > 0)
            pto_note(g->group,
                     "tiles hold rows of up to %lld elements whole; the option `whole-rows` of this step may say "
                     "fewer, or 0, which cuts all rows into chunks",
                     (long long)g->bound);
        return PTO_FAILED;
    }
    for (int which = 0; which < 2; which++) {
        int64_t most = g->static_extent[which] == 0 ? 1 : g->static_extent[which];
        if (most > 0 && tile[which] > most) tile[which] = most;
    }
    return PTO_OK;
}

/* A pin of the sizes is what the next error is about. */
static void ask_again(const row_group *g)
{
    const pto_decision sizes = {.struct_size = sizeof sizes, .count = 2, .name = "tile", .keys = size_names};
    int64_t pinned[2];
    (void)pto_decision_pinned(g->group, &sizes, pinned);
}

/* Chunks are summed one by one and then together, which is another order than ascending. An outer axis is walked index
 * by index, so that its sums ascend, and so are rows that do not fit. */
static pto_status check_order(const row_group *g, const int64_t tile[2])
{
    const uint32_t axis = g->swept;
    if (axis != AXIS_COLUMNS) return PTO_OK;
    const int64_t size = tile[axis];
    if (g->static_extent[axis] >= 0 && size >= g->static_extent[axis]) return PTO_OK;
    if (g->bound > 0 && size >= g->bound) return PTO_OK;
    const row_value *v = find_ascending(g);
    if (v == NULL) return PTO_OK;
    ask_again(g);
    return pto_error(
        v->op, "pto.tile/ascending-sum",
        "a sum in ascending order needs its row in one tile, and rows are split into chunks of %lld columns; "
        "write {order = \"any\"}, or give rows a static extent that fits",
        (long long)size);
}

/* Extents of memory, one for each axis. */
static void shape_dims(const row_group *g, uint8_t shape, pto_expr *dims)
{
    for (uint32_t a = 0; a < g->axis_count; a++)
        dims[rows_memory_dim(g, a)] = (shape & rows_along(a)) != 0 ? g->extent[a] : pto_expr_const(g->run, 1);
}

/* Where instances walk parts of the swept axis, results have `parts` along it. */
static pto_status make_memory(row_group *g, pto_expr parts, pto_value *empties)
{
    for (uint32_t i = 0; i < g->count; i++) {
        row_value *v = &g->values[i];
        pto_expr dims[AXES_MAX];
        if (v->role != ROW_INPUT || !v->is_needed) continue;
        shape_dims(g, v->shape, dims);
        v->memory = v->window == NULL
                        ? tile_view(g->run, g->group, v->value, g->axis_count, dims)
                        : tile_view(g->run, g->group, v->window->source, v->window->rank, v->window->dims);
        PTO_NEED(v->memory);
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        const row_value *v = &g->values[g->outputs[i]];
        pto_expr dims[AXES_MAX];
        shape_dims(g, v->shape, dims);
        if (PTO_SOME(parts)) dims[rows_memory_dim(g, g->swept)] = parts;
        empties[i] = tile_empty(g->run, g->group, pto_type_tensor(g->run, v->dtype, g->axis_count, dims), PTO_STR("e"));
        PTO_NEED(empties[i]);
    }
    return PTO_OK;
}

/* Whether one tile has all that is along the axis. */
static int covers(const row_nest *w, uint32_t axis)
{
    return w->g->static_extent[axis] >= 0 && w->g->static_extent[axis] <= w->tile[axis];
}

/* Axes of the grid: those before rows, then rows always, unless one tile has them all and columns are split. */
static uint32_t grid_of(const row_nest *w, uint32_t axes[AXES_MAX])
{
    const row_group *g = w->g;
    uint32_t count = 0;
    for (uint32_t a = AXIS_OUTER; a < g->axis_count; a++)
        if (!rows_sweeps(g, a)) axes[count++] = a;
    const int splits = !rows_sweeps(g, AXIS_COLUMNS) && !covers(w, AXIS_COLUMNS);
    const int has_rows = !rows_sweeps(g, AXIS_ROWS) && !((splits || count != 0) && covers(w, AXIS_ROWS));
    if (has_rows) axes[count++] = AXIS_ROWS;
    if (splits || count == 0) axes[count++] = AXIS_COLUMNS;
    return count;
}

/* Opens the forall, and says where its instances are. The last index is that of the part, where there are some. */
static pto_op begin_instances(row_nest *w, pto_expr parts, const pto_value *empties)
{
    const row_group *g = w->g;
    uint32_t axes[AXES_MAX], dims = grid_of(w, axes), indices = dims;
    pto_expr to[AXES_MAX + 1];
    const char *names[AXES_MAX + 1];
    for (uint32_t d = 0; d < dims; d++) {
        to[d] = pto_expr_ceildiv(g->extent[axes[d]], pto_expr_const(g->run, w->tile[axes[d]]));
        names[d] = axes[d] == AXIS_ROWS ? "i" : axes[d] == AXIS_COLUMNS ? "j" : "ib";
    }
    if (PTO_SOME(parts)) {
        to[indices] = parts;
        names[indices++] = "ip";
    }
    pto_op forall = tile_begin_forall(w->n, g->group, indices, to, names, g->output_count, empties);
    if (!PTO_SOME(forall)) return forall;
    if (PTO_SOME(parts)) w->part_index = pto_expr_value(pto_block_arg(w->n->block, dims));
    for (uint32_t a = 0; a < g->axis_count; a++) {
        w->offset[a] = pto_expr_const(g->run, 0);
        w->valid[a] = g->extent[a];
    }
    for (uint32_t d = 0; d < dims; d++) {
        const uint32_t a = axes[d];
        pto_expr index = pto_expr_value(pto_block_arg(w->n->block, d));
        w->offset[a] = pto_expr_scale(index, w->tile[a]);
        w->valid[a] = tile_valid_extent(w->tile[a], g->extent[a], index);
    }
    for (uint32_t i = 0; i < g->output_count; i++) g->targets[i] = pto_block_arg(w->n->block, indices + i);
    return forall;
}

/* Writes the nest before the group. None after a diagnostic. */
static pto_op emit_nest(row_nest *w, pto_expr parts)
{
    row_group *g = w->g;
    pto_value *empties = PTO_SCRATCH(g->run, pto_value, g->output_count);
    if (make_memory(g, parts, empties) != PTO_OK) return pto_op_none(g->run);
    const pto_op forall = begin_instances(w, parts, empties);
    if (PTO_SOME(forall)) rows_emit_instance(w);
    return forall;
}

pto_status rows_lower_part(const pto_run *run, pto_op group, const int64_t *tile, int64_t part, pto_expr count,
                           pto_value *parts)
{
    row_group g;
    PTO_TRY(rows_analyse(&g, run, group));
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(group);
    row_nest w = nest_of(&g, &n, tile);
    w.part = part;
    const pto_op forall = emit_nest(&w, count);
    PTO_NEED(forall);
    PTO_TRY(tile_end_body(&n));
    for (uint32_t i = 0; i < g.output_count; i++) parts[i] = pto_op_result(forall, i);
    return pto_op_erase(group);
}

/* Tiles are those of the products, and what follows is computed on the sums. */
static pto_status lower_with_products(row_group *g)
{
    int64_t tile[3];
    for (uint32_t i = 0; i < g->count; i++)
        if (g->values[i].role == ROW_PRODUCT)
            PTO_TRY(tile_product_check(g->values[i].product, g->extent[AXIS_ROWS], g->extent[AXIS_COLUMNS]));
    PTO_TRY(tile_product_choose(g->product, g->group, tile));
    tile_nest n = tile_nest_make(g->run, NULL);
    n.loc = pto_op_loc(g->group);
    row_nest w = nest_of(g, &n, tile);
    w.depth = tile[2];
    const pto_op forall = emit_nest(&w, pto_expr_none(g->run));
    PTO_NEED(forall);
    return tile_end_forall(&n, g->group, forall);
}

static pto_status lower_in_tiles(row_group *g)
{
    int64_t tile[2] = {1, 1}, part = 0;
    rows_find_parts(g);
    PTO_TRY(choose(g, tile));
    PTO_TRY(check_order(g, tile));
    PTO_TRY(rows_choose_part(g, tile, &part));
    if (part != 0) return rows_lower_in_parts(g, tile, part);
    tile_nest n = tile_nest_make(g->run, NULL);
    n.loc = pto_op_loc(g->group);
    row_nest w = nest_of(g, &n, tile);
    const pto_op forall = emit_nest(&w, pto_expr_none(g->run));
    PTO_NEED(forall);
    return tile_end_forall(&n, g->group, forall);
}

pto_status rows_lower_form(const pto_run *run, pto_op group)
{
    row_group g;
    PTO_TRY(rows_analyse(&g, run, group));
    return lower_in_tiles(&g);
}

pto_status tile_lower_rows(const pto_run *run, pto_op group)
{
    row_group g;
    int64_t border = 0;
    if (pto_op_result_count(group) == 0) return pto_op_erase(group);
    PTO_TRY(rows_analyse(&g, run, group));
    if (g.product != NULL) return lower_with_products(&g);
    PTO_TRY(rows_choose_forms(&g, &border));
    return border != 0 ? rows_lower_in_forms(&g, border) : lower_in_tiles(&g);
}
