/* The inside of an instance of a vector group. What fits along the swept axis is walked once; else each depth of
 * reductions takes a sweep over chunks of that axis, which computes again what it needs from the loads and from the
 * results of earlier sweeps. Outer axes are swept one index at a time. */
#include "tile_rows.h"

static uint8_t swept(const row_nest *w) { return w->g->sweeps; }

static int is_whole(const row_nest *w)
{
    const uint32_t axis = w->g->swept;
    if (w->g->is_split) return 1;
    if (w->g->bound > 0 && w->tile[AXIS_COLUMNS] >= w->g->bound) return 1;
    return axis < AXIS_OUTER && w->g->sweeps == rows_along(axis) && w->g->static_extent[axis] >= 0 &&
           w->tile[axis] >= w->g->static_extent[axis];
}

/* The sweep that stores an output: the first in which all it hangs on is known. */
static uint32_t sweep_of(const row_value *v) { return v->depth + 1; }

static tile_piece reduced(row_nest *w, const row_value *v)
{
    const row_value *in = &w->g->values[v->in[0]];
    const uint32_t axis = w->g->swept;
    if (axis >= AXIS_OUTER) return rows_widen(w, in, v->form);
    tile_piece p = rows_widen(w, in, in->form | swept(w));
    const uint32_t form = axis == AXIS_ROWS ? PTO_COLUMN_TILE_ALONG_ROWS : PTO_COLUMN_TILE_ALONG_COLUMNS;
    return tile_emit(w->n, rows_form(w->n->run, v->op, form), p.dtype, axis == AXIS_ROWS ? 1 : p.rows,
                     axis == AXIS_COLUMNS ? 1 : p.columns, 1, &p);
}

static void name_after(row_nest *w, const row_value *v)
{
    w->n->name = v->name;
    if (PTO_SOME(v->op)) w->n->loc = pto_op_loc(v->op);
}

static void store(row_nest *w, uint32_t output)
{
    const row_value *v = &w->g->values[w->g->outputs[output]];
    pto_expr offsets[AXES_MAX];
    name_after(w, v);
    rows_offsets(w, v->shape, offsets);
    if (w->part != 0) offsets[rows_memory_dim(w->g, w->g->swept)] = w->part_index;
    tile_emit_store(w->n, rows_widen(w, v, v->shape), w->g->targets[output], offsets);
}

static void emit_whole(row_nest *w)
{
    row_group *g = w->g;
    for (uint32_t i = 0; i < g->count; i++) {
        row_value *v = &g->values[i];
        if (!v->is_needed) continue;
        if (v->role != ROW_REDUCE) {
            rows_emit_value(w, v);
            continue;
        }
        name_after(w, v);
        const row_value *in = &g->values[v->in[0]];
        int has_one = (v->form & swept(w)) != 0;
        v->piece = has_one ? rows_widen(w, in, v->form) : reduced(w, v);
    }
    for (uint32_t i = 0; i < g->output_count; i++) store(w, i);
}

/* Values that do not vary along the swept axis and hang on `depth` reductions: once per instance. */
static void emit_level(row_nest *w, uint32_t depth)
{
    for (uint32_t i = 0; i < w->g->count; i++) {
        row_value *v = &w->g->values[i];
        if (v->is_needed && v->depth == depth && (v->form & swept(w)) == 0 && v->role != ROW_REDUCE)
            rows_emit_value(w, v);
    }
}

static int reduces_in(const row_value *v, uint32_t sweep)
{
    return v->is_needed && v->role == ROW_REDUCE && v->depth == sweep;
}

static int stores_in(const row_group *g, const row_value *v, uint32_t sweep)
{
    return v->is_output && (v->shape & g->sweeps) != 0 && sweep_of(v) == sweep;
}

/* Marks what the sweep computes; returns how many reductions it carries. */
static uint32_t mark_sweep(row_group *g, uint32_t sweep)
{
    uint32_t carried = 0;
    for (uint32_t i = 0; i < g->count; i++) g->values[i].in_sweep = 0;
    for (uint32_t i = g->count; i-- > 0;) {
        row_value *v = &g->values[i];
        if (stores_in(g, v, sweep)) v->in_sweep = 1;
        carried += (uint32_t)reduces_in(v, sweep);
        if (!v->in_sweep && !reduces_in(v, sweep)) continue;
        for (uint32_t k = 0; k < v->in_count; k++)
            if ((g->values[v->in[k]].form & g->sweeps) != 0) g->values[v->in[k]].in_sweep = 1;
    }
    return carried;
}

static void emit_chunk(row_nest *w, uint32_t sweep)
{
    for (uint32_t i = 0; i < w->g->count; i++) {
        row_value *v = &w->g->values[i];
        if (v->in_sweep && v->role != ROW_REDUCE && (v->form & swept(w)) != 0) rows_emit_value(w, v);
    }
    for (uint32_t i = 0; i < w->g->output_count; i++) {
        const row_value *v = &w->g->values[w->g->outputs[i]];
        if (stores_in(w->g, v, sweep)) store(w, i);
    }
}

/* Start values of the sweep's reductions, and their valid regions. */
static void emit_identities(row_nest *w, uint32_t sweep, tile_piece *initial, pto_expr (*valid)[2])
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < w->g->count; i++) {
        const row_value *v = &w->g->values[i];
        if (!reduces_in(v, sweep)) continue;
        name_after(w, v);
        rows_valid(w, v->form, valid[next]);
        initial[next++] = rows_start(w, v);
    }
}

static void emit_reductions(row_nest *w, uint32_t sweep, pto_block body, const tile_piece *initial, tile_piece *out)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < w->g->count; i++) {
        const row_value *v = &w->g->values[i];
        if (!reduces_in(v, sweep)) continue;
        name_after(w, v);
        tile_piece pair[2] = {initial[next], reduced(w, v)};
        if (w->n->counts == NULL) pair[0].value = pto_block_arg(body, next + 1);
        pair[0].at = w->n->carried + next;
        out[next] = tile_emit(w->n, rows_form(w->n->run, v->op, PTO_COLUMN_TILE_WHOLE), v->dtype, pair[1].rows,
                              pair[1].columns, 2, pair);
        next++;
    }
}

static void add_loop_args(row_nest *w, pto_block body, uint32_t count, const tile_piece *initial)
{
    if (!PTO_SOME(pto_block_add_arg(body, pto_type_scalar(w->n->run, PTO_INDEX), PTO_STR("j")))) w->n->failed = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!PTO_SOME(pto_block_add_arg(body, pto_value_type(initial[i].value), PTO_STR("s")))) w->n->failed = 1;
}

/* Chunks that an instance walks. */
static pto_expr trips_of(const row_nest *w)
{
    const pto_expr chunks = rows_swept_chunks(w->g, w->tile);
    return w->part == 0 ? chunks : tile_valid_extent(w->part, chunks, w->part_index);
}

/* Sets where the window of chunk `index` is: the innermost axis goes fastest. */
static void place_chunk(row_nest *w, pto_expr index)
{
    const row_group *g = w->g;
    uint8_t left = g->sweeps;
    for (uint32_t a = g->swept; left != 0;) {
        left &= (uint8_t)~rows_along(a);
        pto_expr here = index;
        if (left != 0) {
            /* Of an axis of extent 0 there is no chunk, and what is written here is never walked. */
            const pto_expr count = g->static_extent[a] == 0
                                       ? pto_expr_const(g->run, 1)
                                       : pto_expr_ceildiv(g->extent[a], pto_expr_const(g->run, w->tile[a]));
            here = pto_expr_mod(index, count);
            index = pto_expr_floordiv(index, count);
        }
        w->offset[a] = pto_expr_scale(here, w->tile[a]);
        w->valid[a] = tile_valid_extent(w->tile[a], g->extent[a], here);
        for (uint32_t next = 0; next < g->axis_count; next++)
            if ((left & rows_along(next)) != 0) a = next;
    }
}

static void emit_sweep(row_nest *w, uint32_t sweep)
{
    row_group *g = w->g;
    uint32_t count = mark_sweep(g, sweep), next = 0;
    tile_piece *tiles = PTO_SCRATCH(g->run, tile_piece, count * 3);
    pto_expr(*valid)[2] = pto_scratch_array(g->run, count, sizeof *valid);
    emit_identities(w, sweep, tiles, valid);
    row_nest inner = *w;
    pto_op loop = pto_op_none(g->run);
    pto_block body = pto_block_none(g->run);
    if (w->n->counts != NULL) {
        (void)tile_begin_for(w->n, pto_expr_none(g->run), count, tiles, NULL);
    } else {
        loop = tile_begin_for(w->n, trips_of(w), count, tiles, (const pto_expr(*)[2])valid);
        body = pto_body(loop);
        add_loop_args(w, body, count, tiles);
        pto_expr index = pto_expr_value(pto_block_arg(body, 0));
        if (w->part != 0) index = pto_expr_add(pto_expr_scale(w->part_index, w->part), index);
        place_chunk(&inner, index);
    }
    emit_chunk(&inner, sweep);
    emit_reductions(&inner, sweep, body, tiles, tiles + count);
    tile_end_for(w->n, loop, count, tiles + count, tiles + count * 2u);
    for (uint32_t i = 0; i < g->count; i++)
        if (reduces_in(&g->values[i], sweep)) g->values[i].piece = tiles[count * 2u + next++];
}

uint32_t rows_last_sweep(const row_group *g)
{
    uint32_t last = g->depth;
    for (uint32_t i = 0; i < g->output_count; i++) {
        const row_value *v = &g->values[g->outputs[i]];
        if ((v->shape & g->sweeps) != 0 && sweep_of(v) > last) last = sweep_of(v);
    }
    return last;
}

void rows_emit_instance(row_nest *w)
{
    row_group *g = w->g;
    if (is_whole(w)) {
        emit_whole(w);
        return;
    }
    const uint32_t last = rows_last_sweep(g);
    emit_level(w, 0);
    for (uint32_t sweep = 1; sweep <= last; sweep++) {
        emit_sweep(w, sweep);
        emit_level(w, sweep);
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        const row_value *v = &g->values[g->outputs[i]];
        if ((v->shape & swept(w)) == 0) store(w, i);
    }
}
