/* Lowers a transpose. Dims that stay neighbours are one axis. The last axis of the source makes the columns of the
 * tile that is loaded, and what becomes the last axis of the result makes its rows, or its columns after the
 * tile.transpose; if both are the same, rows are the axis before it in the result. All other axes are dims of the grid.
 *
 *     forall (%ib, %i, %j) to ($B, ceildiv($S, 64), ..) out(%o = %e) {       [B, S, H] to [H, B, S]
 *       %tx = tile.load %x[%ib, 64 * %i, 64 * %j] size(..)                    rows of S, columns of H
 *       %ty = tile.transpose %tx
 *       tile.store %ty, %o_view[64 * %j, $S * %ib + 64 * %i]                  rows of H, columns of S in B S
 *     }
 *
 * Rows need not come before columns in memory: dims after those of the rows are viewed as one, in which the dims of
 * the grid and the columns together are the offset. */
#include "tile_nest.h"

typedef struct transposition {
    const pto_run *run;
    pto_op op;
    pto_dtype dtype;
    uint32_t count; /* axes */
    pto_expr extent[PTO_MAX_DIMS];
    uint32_t order[PTO_MAX_DIMS]; /* axis of the source that is axis i of the result */
    uint32_t rows, columns;       /* axes of the loaded tile */
    int turns;                    /* the tile is transposed */
    int64_t static_extent[2], granule[2];
    storage_plan counted;
} transposition;

/* Where a window is: memory with rows before columns, and offsets into it. */
typedef struct window {
    uint32_t rank;
    pto_expr dims[PTO_MAX_DIMS], offsets[PTO_MAX_DIMS];
} window;

static int is_one(pto_type type, uint32_t dim)
{
    int64_t extent = 0;
    return pto_dim_is_const(type, dim, &extent) && extent == 1;
}

/* Axes are runs of dims that follow each other in source and result, ones left out. */
static void find_axes(transposition *t, pto_type source)
{
    const uint32_t rank = pto_type_rank(source);
    uint32_t dims[PTO_MAX_DIMS], axis_of[PTO_MAX_DIMS] = {0}, wide = 0, place[PTO_MAX_DIMS] = {0};
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t d = (uint32_t)pto_int_of(t->op, PTO_STR("perm"), i, 0);
        if (!is_one(source, d)) dims[wide++] = d;
    }
    for (uint32_t i = 0; i < wide; i++) place[dims[i]] = i;
    for (uint32_t d = 0, last = PTO_MAX_DIMS; d < rank; d++) {
        if (is_one(source, d)) continue;
        if (last == PTO_MAX_DIMS || place[d] != place[last] + 1)
            t->extent[t->count++] = pto_type_dim(source, d);
        else
            t->extent[t->count - 1] = pto_expr_mul(t->extent[t->count - 1], pto_type_dim(source, d));
        axis_of[d] = t->count - 1;
        last = d;
    }
    for (uint32_t i = 0, next = 0; i < wide; i++)
        if (i == 0 || axis_of[dims[i]] != axis_of[dims[i - 1]]) t->order[next++] = axis_of[dims[i]];
}

static void find_tile(transposition *t)
{
    const int64_t block = pto_machine_i64_or(t->run, 1, "vector.block-bytes"), bytes = pto_dtype_bytes(t->dtype);
    const int64_t granule = bytes > 0 && block > bytes ? block / bytes : 1;
    t->columns = t->count - 1;
    t->turns = t->order[t->count - 1] != t->columns;
    t->rows = t->turns ? t->order[t->count - 1] : t->order[t->count - 2];
    t->granule[0] = t->turns ? granule : 1;
    t->granule[1] = granule;
    for (int which = 0; which < 2; which++)
        if (!pto_expr_is_const(t->extent[which == 0 ? t->rows : t->columns], &t->static_extent[which]))
            t->static_extent[which] = -1;
}

/* The window of memory whose axes are in `order`, with `rows` at its place and all after it as columns. */
static window window_of(const transposition *t, const uint32_t *order, uint32_t rows, const pto_expr *offset)
{
    window w = {0};
    uint32_t at = 0;
    for (; order[at] != rows; at++) {
        w.dims[w.rank] = t->extent[order[at]];
        w.offsets[w.rank++] = offset[order[at]];
    }
    w.dims[w.rank] = t->extent[rows];
    w.offsets[w.rank++] = offset[rows];
    w.dims[w.rank] = pto_expr_const(t->run, 1);
    w.offsets[w.rank] = pto_expr_const(t->run, 0);
    for (at++; at < t->count; at++) {
        w.offsets[w.rank] = pto_expr_add(pto_expr_mul(w.offsets[w.rank], t->extent[order[at]]), offset[order[at]]);
        w.dims[w.rank] = pto_expr_mul(w.dims[w.rank], t->extent[order[at]]);
    }
    w.rank++;
    return w;
}

static tile_piece emit_move(const transposition *t, tile_nest *n, const int64_t tile[2], pto_value source,
                            const pto_expr *offsets, const pto_expr valid[2])
{
    tile_piece p = tile_emit_load(n, source, offsets, valid, tile[0], tile[1], 0);
    return t->turns ? tile_emit(n, pto_kind(n->run, KIND_TRANSPOSE), p.dtype, tile[1], tile[0], 1, &p) : p;
}

static tile_nest count_instance(transposition *t, const int64_t *tile)
{
    tile_nest n = tile_nest_make(t->run, &t->counted);
    const pto_value source = pto_op_operand(t->op, 0);
    tile_emit_store(&n, emit_move(t, &n, tile, source, NULL, NULL), source, NULL);
    return n;
}

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    transposition *t = self;
    if (space != pto_space_of_role(t->run, PTO_ROLE_SCRATCHPAD)) return 0;
    const tile_nest n = count_instance(t, tile);
    return tile_counted_bytes(&n);
}

static void work(void *self, const int64_t *tile, const pto_work_sink *sink)
{
    const tile_nest n = count_instance(self, tile);
    tile_put_work(&n, 1.0, 1.0, sink);
}

static int64_t capacity(void *self, pto_space space)
{
    return tile_capacity(((const transposition *)self)->run, space);
}

/* Tiles of the axes that tiles have no size along; -1: not known. */
static int64_t outer_instances(const transposition *t, pto_op group)
{
    int64_t instances = 1;
    for (uint32_t a = 0; a < t->count; a++) {
        if (a == t->rows || a == t->columns) continue;
        const int64_t extent = pto_expected_extent(group, t->extent[a]);
        if (extent < 0) return -1;
        instances = tile_mul(instances, extent);
    }
    return instances;
}

static pto_status choose(transposition *t, pto_op group, int64_t tile[2])
{
    static const char *const names[2] = {"rows", "columns"};
    pto_tiling_dim dims[2];
    const pto_tiling_dim *list[2] = {&dims[0], &dims[1]};
    for (int d = 0; d < 2; d++)
        dims[d] = (pto_tiling_dim){.struct_size = sizeof dims[d],
                                   .kind = PTO_PARALLEL,
                                   .name = names[d],
                                   .extent = t->extent[d == 0 ? t->rows : t->columns],
                                   .static_extent = t->static_extent[d],
                                   .granule = t->granule[d]};
    const pto_tiling_problem problem = {.struct_size = sizeof problem,
                                        .dim_count = 2,
                                        .shape = t->count == 2 ? "elementwise" : "box",
                                        .nest = group,
                                        .dims = list,
                                        .self = t,
                                        .footprint = footprint,
                                        .capacity = capacity,
                                        .outer_instances = outer_instances(t, group),
                                        .work = work};
    PTO_TRY(pto_tiling_choose(t->run, TILE_OPT_STRATEGY, &problem, tile, NULL));
    for (int d = 0; d < 2; d++) {
        int64_t most = t->static_extent[d] == 0 ? 1 : t->static_extent[d];
        if (most > 0 && tile[d] > most) tile[d] = most;
    }
    return PTO_OK;
}

/* Memory of the windows, with offsets of no matter. */
static pto_type memory_of(const transposition *t, const uint32_t *order, uint32_t rows)
{
    const window w = window_of(t, order, rows, t->extent);
    return pto_type_tensor(t->run, t->dtype, w.rank, w.dims);
}

/* Grid: axes outside of tiles in the order of the result, then rows and columns. */
static pto_op begin_instances(const transposition *t, tile_nest *n, pto_op group, const int64_t tile[2],
                              pto_value target, pto_expr *offset, pto_expr valid[2])
{
    pto_expr to[PTO_MAX_DIMS];
    const char *names[PTO_MAX_DIMS];
    uint32_t axes[PTO_MAX_DIMS], count = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->order[i] != t->rows && t->order[i] != t->columns) axes[count++] = t->order[i];
    axes[count++] = t->rows;
    axes[count++] = t->columns;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t size = i + 2 < count ? 1 : tile[i + 2 - count];
        to[i] = pto_expr_ceildiv(t->extent[axes[i]], pto_expr_const(t->run, size));
        names[i] = i + 2 < count ? "ib" : i + 2 == count ? "i" : "j";
    }
    const pto_op forall = tile_begin_forall(n, group, count, to, names, 1, &target);
    for (uint32_t i = 0; i < count && PTO_SOME(forall); i++) {
        const pto_expr index = pto_expr_value(pto_block_arg(n->block, i));
        const int64_t size = i + 2 < count ? 1 : tile[i + 2 - count];
        offset[axes[i]] = pto_expr_scale(index, size);
        if (i + 2 >= count) valid[i + 2 - count] = tile_valid_extent(size, t->extent[axes[i]], index);
    }
    return forall;
}

/* Nothing moves but ones: the same elements under another shape. */
static pto_status replace_by_view(const pto_run *run, pto_op group, pto_op op)
{
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < pto_type_rank(type); d++) dims[d] = pto_type_dim(type, d);
    const pto_str name = pto_name_after(group, PTO_STR(""));
    const pto_value view = tile_view(run, group, pto_op_operand(op, 0), pto_type_rank(type), dims);
    PTO_NEED(view);
    if (!pto_value_same(view, pto_op_operand(op, 0)) && name.n != 0) PTO_TRY(pto_value_set_name(view, name));
    return pto_op_replace(group, 1, &view);
}

pto_status tile_lower_transpose(const pto_run *run, pto_op group, pto_op op)
{
    const pto_value source = pto_op_operand(op, 0);
    transposition t = {.run = run, .op = op, .dtype = pto_type_dtype(pto_value_type(source))};
    uint32_t order[PTO_MAX_DIMS] = {0};
    int64_t tile[2] = {1, 1};
    t.counted = storage_plan_make(run, pto_opt_bool(run, TILE_OPT_IN_PLACE));
    find_axes(&t, pto_value_type(source));
    if (t.count < 2) return replace_by_view(run, group, op);
    find_tile(&t);
    PTO_TRY(choose(&t, group, tile));
    for (uint32_t a = 0; a < t.count; a++) order[a] = a;
    const uint32_t target_rows = t.turns ? t.columns : t.rows;
    const pto_type from_type = memory_of(&t, order, t.rows), to_type = memory_of(&t, t.order, target_rows);
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < pto_type_rank(from_type); d++) dims[d] = pto_type_dim(from_type, d);
    const pto_value memory = tile_view(run, group, source, pto_type_rank(from_type), dims);
    const pto_value target = tile_empty(run, group, to_type, PTO_STR("e"));
    PTO_NEED(memory);
    PTO_NEED(target);
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    n.name = pto_value_name(pto_op_result(group, 0));
    pto_expr offset[PTO_MAX_DIMS], valid[2];
    const pto_op forall = begin_instances(&t, &n, group, tile, target, offset, valid);
    PTO_NEED(forall);
    const window from = window_of(&t, order, t.rows, offset), to = window_of(&t, t.order, target_rows, offset);
    const tile_piece p = emit_move(&t, &n, tile, memory, from.offsets, valid);
    tile_emit_store(&n, p, pto_block_arg(n.block, t.count), to.offsets);
    return tile_end_forall(&n, group, forall);
}
