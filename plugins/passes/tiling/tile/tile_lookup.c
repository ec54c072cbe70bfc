/* Lowers gather and scatter along the last axis where a row of x fits on chip: one instruction goes by all indices.
 *
 *     forall (%ib, %i) to ($A, ceildiv($L, 64)) out(%o = %e) {       gather; x [A, 100], index [A, L]
 *       %tx = tile.load %x[%ib, 0] size(1, 100)
 *       %ti = tile.load %index[%ib, 64 * %i] size(1, ..)
 *       %ty = tile.gather %tx, %ti
 *       tile.store %ty, %o[%ib, 64 * %i]
 *     }
 *
 * Scatter loads the row of the result, which begins as x, and puts a row of src into it. Other axes, indices that are
 * not i32 and rows whose extent is not known go element by element: tile_index.c. */
#include "machine_types.h"
#include "tile_nest.h"

enum {
    PLACE_X,
    PLACE_INDEX,
    PLACE_LISTED, /* what gather makes, what scatter puts */
    PLACES,
    PARTS_MAX = 256 /* a row is not loaded for fewer elements of it than one in so many */
};

typedef struct lookup {
    const pto_run *run;
    pto_op group, op;
    int puts;
    uint32_t rank; /* of all memories: ones come first, two dims at least */
    pto_value tensor[PLACES], memory[PLACES];
    pto_expr dims[PLACES][PTO_MAX_DIMS], at[PTO_MAX_DIMS];
    int64_t length, static_count, size; /* elements of a row of x; indices of a row, -1: not known; in a tile */
    pto_dtype dtype;
    storage_plan counted;
} lookup;

static int64_t static_extent(pto_expr e)
{
    int64_t n = 0;
    return pto_expr_is_const(e, &n) ? n : -1;
}

static void read_dims(lookup *w, int place)
{
    const pto_type type = pto_value_type(w->tensor[place]);
    const uint32_t have = pto_type_rank(type);
    for (uint32_t d = 0; d < w->rank; d++)
        w->dims[place][d] = d + have < w->rank ? pto_expr_const(w->run, 1) : pto_type_dim(type, d + have - w->rank);
}

static void read_op(lookup *w)
{
    const uint32_t have = pto_type_rank(pto_value_type(pto_op_operand(w->op, 0)));
    w->puts = PTO_IS(w->op, T_SCATTER);
    w->rank = have < 2 ? 2 : have;
    w->tensor[PLACE_X] = pto_op_operand(w->op, 0);
    w->tensor[PLACE_INDEX] = pto_op_operand(w->op, 1);
    w->tensor[PLACE_LISTED] = w->puts ? pto_op_operand(w->op, 2) : pto_op_result(w->op, 0);
    for (int place = 0; place < PLACES; place++) read_dims(w, place);
    w->dtype = pto_type_dtype(pto_value_type(w->tensor[PLACE_X]));
    w->length = static_extent(w->dims[PLACE_X][w->rank - 1]);
    w->static_count = static_extent(w->dims[PLACE_INDEX][w->rank - 1]);
}

/* ---- the nest, counted or built ---- */

static tile_piece load(const lookup *w, tile_nest *n, int place, pto_expr column, pto_expr valid, int64_t columns)
{
    pto_expr at[PTO_MAX_DIMS];
    const pto_expr size[2] = {pto_expr_const(w->run, 1), valid};
    for (uint32_t d = 0; d + 1 < w->rank; d++)
        at[d] = static_extent(w->dims[place][d]) == 1 ? pto_expr_const(w->run, 0) : w->at[d];
    at[w->rank - 1] = column;
    const pto_value from = n->counts != NULL ? w->tensor[place] : w->memory[place];
    return tile_emit_load(n, from, at, size, 1, columns, 0);
}

/* One row of indices, or a part of it from `column` on. `to` is where the result goes. */
static void emit(const lookup *w, tile_nest *n, pto_value to, pto_expr column, pto_expr count)
{
    const pto_expr zero = pto_expr_const(w->run, 0), length = w->dims[PLACE_X][w->rank - 1];
    pto_expr at[PTO_MAX_DIMS];
    for (uint32_t d = 0; d + 1 < w->rank; d++) at[d] = w->at[d];
    at[w->rank - 1] = w->puts ? zero : column;
    tile_piece t[PLACES];
    t[0] = load(w, n, PLACE_X, zero, length, w->length);
    if (w->puts) t[1] = load(w, n, PLACE_LISTED, column, count, w->size);
    t[w->puts ? 2 : 1] = load(w, n, PLACE_INDEX, column, count, w->size);
    const tile_piece y = w->puts ? tile_emit(n, pto_kind(w->run, KIND_SCATTER), w->dtype, 1, w->length, 3, t)
                                 : tile_emit(n, pto_kind(w->run, KIND_GATHER), w->dtype, 1, w->size, 2, t);
    tile_emit_store(n, y, to, at);
}

static tile_nest count_instance(lookup *w, const int64_t *tile)
{
    const pto_expr none = pto_expr_none(w->run);
    tile_nest n = tile_nest_make(w->run, &w->counted);
    w->size = tile[1];
    emit(w, &n, w->tensor[PLACE_X], none, none);
    return n;
}

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    if (space != pto_space_of_role(((const lookup *)self)->run, PTO_ROLE_SCRATCHPAD)) return 0;
    const tile_nest n = count_instance(self, tile);
    return tile_counted_bytes(&n);
}

static void work(void *self, const int64_t *tile, const pto_work_sink *sink)
{
    const tile_nest n = count_instance(self, tile);
    tile_put_work(&n, 1.0, 1.0, sink);
}

static int64_t capacity(void *self, pto_space space) { return tile_capacity(((const lookup *)self)->run, space); }

static int fits(lookup *w)
{
    const pto_space space = pto_space_of_role(w->run, PTO_ROLE_SCRATCHPAD);
    const int64_t tile[2] = {1, w->puts ? w->static_count : 1};
    w->counted = storage_plan_make(w->run, pto_opt_bool(w->run, TILE_OPT_IN_PLACE));
    return footprint(w, tile, space) <= tile_capacity(w->run, space);
}

int tile_can_look_up(const pto_run *run, pto_op group, pto_op op)
{
    const int gathers = PTO_IS(op, T_GATHER);
    const pto_str reduce = pto_attr_str_of(op, PTO_STR("reduce"));
    if (!gathers && (!PTO_IS(op, T_SCATTER) || (reduce.n != 0 && !pto_str_is(reduce, "none")))) return 0;
    lookup w = {.run = run, .group = group, .op = op};
    const pto_type x = pto_value_type(pto_op_operand(op, 0)), index = pto_value_type(pto_op_operand(op, 1));
    const int64_t named = pto_attr_i64(pto_op_attr(op, PTO_STR("axis")));
    if (named != -1 && named + 1 != pto_type_rank(x)) return 0;
    if (pto_type_dtype(index) != PTO_I32 ||
        !machine_takes(run, pto_kind(run, gathers ? KIND_GATHER : KIND_SCATTER), pto_type_dtype(x)))
        return 0;
    read_op(&w);
    if (w.length <= 0 || (!gathers && w.static_count <= 0)) return 0;
    if (!gathers && !pto_expr_same(w.dims[PLACE_LISTED][w.rank - 1], w.dims[PLACE_INDEX][w.rank - 1])) return 0;
    if (w.static_count >= 0 && w.length / PARTS_MAX > w.static_count) return 0;
    return fits(&w);
}

static pto_status choose(lookup *w)
{
    pto_expr rows = pto_expr_const(w->run, 1);
    if (w->puts) { /* all of a row */
        w->size = w->static_count;
        return PTO_OK;
    }
    for (uint32_t d = 0; d + 1 < w->rank; d++) rows = pto_expr_mul(rows, w->dims[PLACE_INDEX][d]);
    const tile_rectangle row = {.self = w, .footprint = footprint, .capacity = capacity, .work = work};
    return tile_choose_row(w->group, rows, w->dims[PLACE_INDEX][w->rank - 1], w->dtype, &row, &w->size);
}

/* The memory that instances write to: scatter's begins as x. */
static pto_value make_memory(lookup *w)
{
    for (int place = 0; place < PLACES; place++) {
        if (place == PLACE_LISTED && !w->puts) continue;
        w->memory[place] = tile_view(w->run, w->group, w->tensor[place], w->rank, w->dims[place]);
        if (!PTO_SOME(w->memory[place])) return w->memory[place];
    }
    if (w->puts) return w->memory[PLACE_X];
    return tile_empty(w->run, w->group, pto_type_tensor(w->run, w->dtype, w->rank, w->dims[PLACE_LISTED]),
                      PTO_STR("e"));
}

pto_status tile_lower_lookup(const pto_run *run, pto_op group, pto_op op)
{
    lookup w = {.run = run, .group = group, .op = op};
    pto_expr to[PTO_MAX_DIMS];
    const char *names[PTO_MAX_DIMS];
    w.counted = storage_plan_make(run, pto_opt_bool(run, TILE_OPT_IN_PLACE));
    read_op(&w);
    PTO_TRY(choose(&w));
    const pto_value target = make_memory(&w);
    PTO_NEED(target);
    const uint32_t last = w.rank - 1, dims = w.puts ? last : last + 1;
    const pto_expr count = w.dims[PLACE_INDEX][last];
    for (uint32_t d = 0; d < dims; d++) {
        to[d] = d == last ? pto_expr_ceildiv(count, pto_expr_const(run, w.size)) : w.dims[PLACE_INDEX][d];
        names[d] = d == last ? "i" : "ib";
    }
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    n.name = pto_value_name(pto_op_result(group, 0));
    const pto_op forall = tile_begin_forall(&n, group, dims, to, names, 1, &target);
    PTO_NEED(forall);
    const pto_value out = pto_block_arg(n.block, dims);
    if (w.puts) w.memory[PLACE_X] = out;
    for (uint32_t d = 0; d < last; d++) w.at[d] = pto_expr_value(pto_block_arg(n.block, d));
    if (w.puts) {
        emit(&w, &n, out, pto_expr_const(run, 0), count);
    } else {
        const pto_expr i = pto_expr_value(pto_block_arg(n.block, last));
        emit(&w, &n, out, pto_expr_scale(i, w.size), tile_valid_extent(w.size, count, i));
    }
    return tile_end_forall(&n, group, forall);
}
