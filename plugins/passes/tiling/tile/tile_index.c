/* Lowers ops that go by indices: a loop reads one index after the other from a tile, and moves what it is for.
 *
 *     forall (%i, %j) to (ceildiv($K, 64), ..) out(%o = %e) {        take: a slice for each index
 *       %t = tile.load %index[0, 64 * %i] size(1, ..)
 *       for %r to .. {
 *         %s = tile.read_scalar %t[0, %r]
 *         %tx = tile.load %x[%s, 256 * %j] size(1, ..)
 *         tile.store %tx, %o[64 * %i + %r, 256 * %j]
 *       }
 *     }
 *
 * gather and scatter have an index for each element, and move one at a time where tile_lookup.c has no better way. What
 * puts elements into x begins as x; all indices that may lead to one place are those of one instance, which goes
 * through them in their order. */
#include "tile_nest.h"

typedef enum index_way { WAY_TAKES, WAY_PUTS, WAY_ADDS, WAY_MULTIPLIES } index_way;

/* Memory with one row of a tile at a time: its dims, and where the row is. */
typedef struct index_memory {
    pto_value tensor, memory;
    uint32_t rank;
    pto_expr dims[PTO_MAX_DIMS], at[PTO_MAX_DIMS];
} index_memory;

typedef struct index_nest {
    const pto_run *run;
    pto_op group, op;
    index_way way;
    int by_element;         /* an index for each element, else for each slice */
    uint32_t axis;          /* dim of the memory of x that the first index is for */
    index_memory x, listed; /* listed: what take makes, what is put */
    uint32_t list_count;    /* indices for each move */
    index_memory list[PTO_MAX_DIMS];
    pto_dtype index_type;
    pto_expr extent[2]; /* indices of a list, or of the last dim of the index; columns of a slice */
    int64_t static_extent[2], tile[2];
    tile_number alpha;
    int has_alpha;
    storage_plan counted;
} index_nest;

/* ---- what the op moves ---- */

static void add_dim(index_memory *m, pto_expr extent) { m->dims[m->rank++] = extent; }

static pto_expr product_of(pto_type type, uint32_t from, uint32_t to)
{
    pto_expr e = pto_expr_const(type.run, 1);
    for (uint32_t d = from; d < to; d++) e = pto_expr_mul(e, pto_type_dim(type, d));
    return e;
}

static int is_one(pto_expr e)
{
    int64_t n = 0;
    return pto_expr_is_const(e, &n) && n == 1;
}

/* Of x: what is before the axes of the indices, these, and what is after them. */
static pto_status read_slices(index_nest *w, pto_op op, uint32_t axis, uint32_t first_list, uint32_t lists)
{
    const pto_type x = pto_value_type(w->x.tensor);
    const pto_expr before = product_of(x, 0, axis), after = product_of(x, axis + lists, pto_type_rank(x));
    const pto_type index = pto_value_type(pto_op_operand(op, first_list));
    if (lists + 1 > PTO_MAX_DIMS)
        return pto_error(
            op, "pto.tile/unsupported-op",
            "`tensor.index_put` has %u indices; at most %d become loops: reshape `x` and compute one index of two",
            (unsigned)lists, PTO_MAX_DIMS - 1);
    w->extent[0] = product_of(index, 0, pto_type_rank(index));
    w->extent[1] = after;
    if (!is_one(before)) {
        add_dim(&w->x, before);
        add_dim(&w->listed, before);
    }
    w->axis = w->x.rank;
    w->list_count = lists;
    for (uint32_t i = 0; i < lists; i++) {
        add_dim(&w->x, pto_type_dim(x, axis + i));
        w->list[i].tensor = pto_op_operand(op, first_list + i);
        add_dim(&w->list[i], pto_expr_const(w->run, 1));
        add_dim(&w->list[i], w->extent[0]);
    }
    add_dim(&w->x, after);
    add_dim(&w->listed, w->extent[0]);
    add_dim(&w->listed, after);
    return PTO_OK;
}

/* Dims of a tensor, with ones before them up to `rank`. */
static void read_dims(index_memory *m, uint32_t rank)
{
    const pto_type type = pto_value_type(m->tensor);
    for (uint32_t d = pto_type_rank(type); d < rank; d++) add_dim(m, pto_expr_const(type.run, 1));
    for (uint32_t d = 0; d < pto_type_rank(type); d++) add_dim(m, pto_type_dim(type, d));
}

static void read_elements(index_nest *w, pto_op op, uint32_t axis)
{
    const uint32_t have = pto_type_rank(pto_value_type(w->x.tensor)), rank = have < 2 ? 2 : have;
    w->by_element = 1;
    w->axis = axis + rank - have;
    w->list_count = 1;
    w->list[0].tensor = pto_op_operand(op, 1);
    read_dims(&w->x, rank);
    read_dims(&w->list[0], rank);
    read_dims(&w->listed, rank);
    w->extent[0] = w->list[0].dims[rank - 1];
    w->extent[1] = pto_expr_const(w->run, 1);
}

static uint32_t axis_of(pto_op op)
{
    const int64_t axis = pto_attr_i64(pto_op_attr(op, PTO_STR("axis")));
    return (uint32_t)(axis < 0 ? axis + pto_type_rank(pto_value_type(pto_op_operand(op, 0))) : axis);
}

static index_way way_of(pto_op op)
{
    const pto_str reduce = pto_attr_str_of(op, PTO_STR("reduce"));
    if (PTO_IS(op, T_INDEX_ADD) || pto_str_is(reduce, "add") || pto_attr_bool_of(op, PTO_STR("accumulate"), 0))
        return WAY_ADDS;
    if (pto_str_is(reduce, "mul")) return WAY_MULTIPLIES;
    return PTO_IS(op, T_TAKE) || PTO_IS(op, T_GATHER) ? WAY_TAKES : WAY_PUTS;
}

static void read_alpha(index_nest *w)
{
    const pto_attr a = pto_op_attr(w->op, PTO_STR("alpha"));
    if (!PTO_SOME(a)) return;
    const int is_float = pto_attr_kind_of(a) == PTO_ATTR_FLOAT;
    w->alpha = (tile_number){.real = is_float ? pto_attr_f64(a) : (double)pto_attr_i64(a),
                             .whole = is_float ? 0 : pto_attr_i64(a),
                             .index = pto_expr_none(w->run)};
    w->has_alpha = is_float ? w->alpha.real != 1.0 : w->alpha.whole != 1;
}

static pto_status read_op(index_nest *w)
{
    const int is_put = PTO_IS(w->op, T_INDEX_PUT), by_element = PTO_IS(w->op, T_GATHER) || PTO_IS(w->op, T_SCATTER);
    w->way = way_of(w->op);
    w->x.tensor = pto_op_operand(w->op, 0);
    w->listed.tensor = w->way == WAY_TAKES ? pto_op_result(w->op, 0) : pto_op_operand(w->op, is_put ? 1 : 2);
    w->index_type = pto_type_dtype(pto_value_type(pto_op_operand(w->op, is_put ? 2 : 1)));
    read_alpha(w);
    if (by_element)
        read_elements(w, w->op, axis_of(w->op));
    else
        PTO_TRY(read_slices(w, w->op, is_put ? 0 : axis_of(w->op), is_put ? 2 : 1,
                            is_put ? pto_op_operand_count(w->op) - 2 : 1));
    for (int d = 0; d < 2; d++)
        if (!pto_expr_is_const(w->extent[d], &w->static_extent[d])) w->static_extent[d] = -1;
    return PTO_OK;
}

/* ---- tile sizes ---- */

static tile_piece load_row(tile_nest *n, const index_memory *m, const pto_expr valid[2], int64_t columns)
{
    const pto_value from = n->counts != NULL ? m->tensor : m->memory;
    return tile_emit_load(n, from, m->at, valid, 1, columns, 0);
}

/* What is done for one index, or for those of one move. */
static void emit_move(const index_nest *w, tile_nest *n, const pto_expr valid[2])
{
    const int takes = w->way == WAY_TAKES;
    const index_memory *from = takes ? &w->x : &w->listed, *to = takes ? &w->listed : &w->x;
    tile_piece p = load_row(n, from, valid, w->tile[1]);
    if (w->has_alpha) p = tile_emit_scalar(n, pto_kind(n->run, KIND_MULS), p, w->alpha);
    if (w->way == WAY_ADDS || w->way == WAY_MULTIPLIES) {
        const tile_piece both[2] = {load_row(n, to, valid, w->tile[1]), p};
        p = tile_emit(n, pto_kind(n->run, w->way == WAY_ADDS ? KIND_ADD : KIND_MUL), p.dtype, 1, w->tile[1], 2, both);
    }
    tile_emit_store(n, p, to->memory, to->at);
}

/* Whether an instance walks what it puts: chunks of the indices, or the axis when that is not their last dim. */
static int walks(const index_nest *w) { return w->way != WAY_TAKES; }
static int walks_chunks(const index_nest *w) { return walks(w) && (!w->by_element || w->axis == w->x.rank - 1); }

static tile_nest count_instance(index_nest *w, const int64_t *tile)
{
    const pto_op none = pto_op_none(w->run);
    tile_nest n = tile_nest_make(w->run, &w->counted);
    w->tile[0] = tile[0];
    w->tile[1] = tile[1];
    if (walks(w)) (void)tile_begin_for(&n, pto_expr_none(w->run), 0, NULL, NULL);
    for (uint32_t i = 0; i < w->list_count; i++) (void)load_row(&n, &w->list[i], NULL, tile[0]);
    (void)tile_begin_for(&n, pto_expr_none(w->run), 0, NULL, NULL);
    emit_move(w, &n, NULL);
    tile_end_for(&n, none, 0, NULL, NULL);
    if (walks(w)) tile_end_for(&n, none, 0, NULL, NULL);
    return n;
}

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    if (space != pto_space_of_role(((const index_nest *)self)->run, PTO_ROLE_SCRATCHPAD)) return 0;
    const tile_nest n = count_instance(self, tile);
    return tile_counted_bytes(&n);
}

/* An index after the other of each chunk that is loaded. */
static void work(void *self, const int64_t *tile, const pto_work_sink *sink)
{
    const index_nest *w = self;
    const tile_nest n = count_instance(self, tile);
    const int64_t extent =
        pto_expected_extent(w->group, walks_chunks(w) ? w->extent[0] : w->list[0].dims[w->by_element ? w->axis : 0]);
    const int64_t trips = extent < 0 ? -1 : walks_chunks(w) ? pto_ceil_div(extent, tile[0]) : extent;
    tile_put_work(&n, walks(w) ? (double)trips : (double)tile[0], (double)tile[0], sink);
}

/* Instances at indices of dims that tiles have no size along; -1: not known. */
static int64_t outer_instances(const index_nest *w)
{
    int64_t instances = 1;
    const uint32_t dims = w->by_element ? w->x.rank - 1 : w->axis;
    for (uint32_t d = 0; d < dims; d++) {
        if (w->by_element && walks(w) && d == w->axis) continue;
        const int64_t extent = pto_expected_extent(w->group, w->by_element ? w->list[0].dims[d] : w->x.dims[d]);
        if (extent < 0) return -1;
        instances = tile_mul(instances, extent);
    }
    return instances;
}

static int64_t capacity(void *self, pto_space space) { return tile_capacity(((const index_nest *)self)->run, space); }

static pto_status choose(index_nest *w)
{
    const int64_t bytes = pto_dtype_bytes(pto_type_dtype(pto_value_type(w->x.tensor)));
    const tile_rectangle both = {.group = w->group,
                                 .extent = {w->extent[0], w->extent[1]},
                                 .static_extent = {w->static_extent[0], w->static_extent[1]},
                                 .element_bytes = w->by_element ? 0 : bytes,
                                 .row_kind = walks_chunks(w) ? PTO_REDUCE : PTO_PARALLEL,
                                 .outer_instances = outer_instances(w),
                                 .self = w,
                                 .footprint = footprint,
                                 .capacity = capacity,
                                 .work = work};
    return tile_choose_rectangle(w->run, &both, w->tile);
}

/* ---- the nest ---- */

/* Opens a loop; its index. */
static pto_op begin_loop(tile_nest *n, pto_expr trips, const char *name, pto_expr *out_index)
{
    const pto_op loop = tile_begin_for(n, trips, 0, NULL, NULL);
    const pto_value index = pto_block_add_arg(n->block, pto_type_scalar(n->run, PTO_INDEX), pto_s(name));
    if (!PTO_SOME(index)) n->failed = 1;
    *out_index = pto_expr_value(index);
    return loop;
}

/* Loads the chunk `i` of the indices, whose other offsets are set, and makes the move of each. `place` gets the number
 * of the index among all. */
static void emit_indices(index_nest *w, tile_nest *n, pto_expr i, pto_expr *place, const pto_expr valid[2])
{
    const pto_expr start = pto_expr_scale(i, w->tile[0]), count = tile_valid_extent(w->tile[0], w->extent[0], i);
    const pto_expr size[2] = {pto_expr_const(n->run, 1), count};
    tile_piece t[PTO_MAX_DIMS];
    for (uint32_t k = 0; k < w->list_count; k++) {
        w->list[k].at[w->list[k].rank - 1] = start;
        t[k] = load_row(n, &w->list[k], size, w->tile[0]);
    }
    pto_expr r;
    const pto_op loop = begin_loop(n, count, "r", &r);
    *place = pto_expr_add(start, r);
    if (w->by_element) { /* the last dim of all, until the index says otherwise */
        const uint32_t last = w->x.rank - 1;
        w->x.at[last] = *place;
        w->listed.at[last] = is_one(w->listed.dims[last]) ? pto_expr_const(n->run, 0) : *place;
    }
    for (uint32_t k = 0; k < w->list_count; k++) w->x.at[w->axis + k] = pto_expr_value(tile_emit_read(n, t[k], r));
    if (!w->by_element) w->listed.at[w->listed.rank - 2] = *place;
    emit_move(w, n, valid);
    tile_end_for(n, loop, 0, NULL, NULL);
}

/* The memory that the instances write to, before the nest. */
static pto_value target_of(index_nest *w)
{
    if (w->way != WAY_TAKES) return w->x.memory;
    const pto_dtype dtype = pto_type_dtype(pto_value_type(w->x.tensor));
    return tile_empty(w->run, w->group, pto_type_tensor(w->run, dtype, w->listed.rank, w->listed.dims), PTO_STR("e"));
}

static pto_status make_memory(index_nest *w)
{
    index_memory *const all[] = {&w->x, w->way == WAY_TAKES ? NULL : &w->listed};
    for (uint32_t i = 0; i < 2 + w->list_count; i++) {
        index_memory *m = i < 2 ? all[i] : &w->list[i - 2];
        if (m == NULL) continue;
        m->memory = tile_view(w->run, w->group, m->tensor, m->rank, m->dims);
        PTO_NEED(m->memory);
    }
    return PTO_OK;
}

/* One dim of the grid. */
typedef struct grid_dim {
    pto_expr extent;
    int64_t size;
    uint32_t dim; /* by element: of the memories */
    const char *name;
} grid_dim;

/* By slice: dims before the indices, chunks of indices when it takes, chunks of columns. By element: all dims but the
 * last, chunks of the last; the axis of what is put is a loop inside. */
static uint32_t find_grid(const index_nest *w, grid_dim grid[PTO_MAX_DIMS])
{
    const int takes = w->way == WAY_TAKES;
    uint32_t count = 0;
    if (w->by_element) {
        const uint32_t last = w->x.rank - 1;
        for (uint32_t d = 0; d < last; d++)
            if (takes || d != w->axis) grid[count++] = (grid_dim){w->list[0].dims[d], 1, d, "ib"};
        if (takes || last != w->axis) grid[count++] = (grid_dim){w->extent[0], w->tile[0], last, "i"};
        return count;
    }
    if (w->axis != 0) grid[count++] = (grid_dim){w->x.dims[0], 1, 0, "ib"};
    if (takes) grid[count++] = (grid_dim){w->extent[0], w->tile[0], 0, "i"};
    grid[count++] = (grid_dim){w->extent[1], w->tile[1], 0, "j"};
    return count;
}

static void set_coordinate(index_nest *w, uint32_t dim, pto_expr at)
{
    w->x.at[dim] = w->list[0].at[dim] = at;
    w->listed.at[dim] = is_one(w->listed.dims[dim]) ? pto_expr_const(w->run, 0) : at;
}

static void emit_elements(index_nest *w, tile_nest *n, uint32_t dims, const grid_dim *grid)
{
    const uint32_t last = w->x.rank - 1;
    const pto_expr one = pto_expr_const(n->run, 1), valid[2] = {one, one};
    pto_expr place, index, chunk = pto_expr_none(n->run);
    pto_op loop = pto_op_none(n->run);
    for (uint32_t d = 0; d < dims; d++) {
        const pto_expr at = pto_expr_value(pto_block_arg(n->block, d));
        if (grid[d].dim == last)
            chunk = at;
        else
            set_coordinate(w, grid[d].dim, at);
    }
    const int sweeps = w->way != WAY_TAKES;
    if (sweeps && w->axis == last) {
        loop = begin_loop(n, pto_expr_ceildiv(w->extent[0], pto_expr_const(n->run, w->tile[0])), "i", &chunk);
    } else if (sweeps) {
        loop = begin_loop(n, w->list[0].dims[w->axis], "k", &index);
        set_coordinate(w, w->axis, index);
    }
    emit_indices(w, n, chunk, &place, valid);
    if (sweeps) tile_end_for(n, loop, 0, NULL, NULL);
}

static void emit_slices(index_nest *w, tile_nest *n, uint32_t dims)
{
    const int takes = w->way == WAY_TAKES;
    uint32_t next = 0;
    pto_expr i = pto_expr_none(n->run), place;
    pto_op loop = pto_op_none(n->run);
    if (w->axis != 0) w->x.at[0] = w->listed.at[0] = pto_expr_value(pto_block_arg(n->block, next++));
    if (takes) i = pto_expr_value(pto_block_arg(n->block, next++));
    const pto_expr j = pto_expr_value(pto_block_arg(n->block, dims - 1));
    const pto_expr valid[2] = {pto_expr_const(n->run, 1), tile_valid_extent(w->tile[1], w->extent[1], j)};
    w->x.at[w->x.rank - 1] = w->listed.at[w->listed.rank - 1] = pto_expr_scale(j, w->tile[1]);
    for (uint32_t k = 0; k < w->list_count; k++) w->list[k].at[0] = pto_expr_const(n->run, 0);
    if (!takes) loop = begin_loop(n, pto_expr_ceildiv(w->extent[0], pto_expr_const(n->run, w->tile[0])), "i", &i);
    emit_indices(w, n, i, &place, valid);
    if (!takes) tile_end_for(n, loop, 0, NULL, NULL);
}

pto_status tile_lower_index(const pto_run *run, pto_op group, pto_op op)
{
    index_nest w = {.run = run, .group = group, .op = op};
    grid_dim grid[PTO_MAX_DIMS];
    pto_expr to[PTO_MAX_DIMS];
    const char *names[PTO_MAX_DIMS];
    w.counted = storage_plan_make(run, pto_opt_bool(run, TILE_OPT_IN_PLACE));
    PTO_TRY(read_op(&w));
    PTO_TRY(choose(&w));
    PTO_TRY(make_memory(&w));
    const pto_value target = target_of(&w);
    PTO_NEED(target);
    const uint32_t dims = find_grid(&w, grid);
    for (uint32_t d = 0; d < dims; d++) {
        to[d] = pto_expr_ceildiv(grid[d].extent, pto_expr_const(run, grid[d].size));
        names[d] = grid[d].name;
    }
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    n.name = pto_value_name(pto_op_result(group, 0));
    const pto_op forall = tile_begin_forall(&n, group, dims, to, names, 1, &target);
    PTO_NEED(forall);
    *(w.way == WAY_TAKES ? &w.listed.memory : &w.x.memory) = pto_block_arg(n.block, dims);
    if (w.by_element)
        emit_elements(&w, &n, dims, grid);
    else
        emit_slices(&w, &n, dims);
    return tile_end_forall(&n, group, forall);
}
