/* Axes of a vector group: runs of neighbouring dims that everything in the group treats alike. */
#include "tile_rows.h"

int rows_drops_dims(const row_value *v) { return PTO_SOME(v->op) && !pto_attr_bool_of(v->op, PTO_STR("keepdim"), 1); }

/* Whether rows are so short that they would waste most of each block, and nothing needs them as rows. */
static int is_narrow(const row_group *g)
{
    int64_t last = 0;
    if (g->product != NULL || g->rank == 0 || !pto_dim_is_const(g->widest, g->rank - 1, &last) || last >= 16) return 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->values[i].role == ROW_REDUCE || rows_drops_dims(&g->values[i])) return 0;
    return 1;
}

/* What all values say; one number for the whole space says nothing. */
static dims_space read_dims(const row_group *g)
{
    dims_space s = {.wide = g->wide};
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role == ROW_REDUCE) {
            const uint32_t reduced = dims_reduced(v->op);
            dims_note_reduction(&s, reduced, dims_of_type(pto_value_type(pto_op_operand(v->op, 0))) & ~reduced);
        }
        if (v->role != ROW_SPLAT && !rows_drops_dims(v)) dims_note_value(&s, dims_of_type(pto_value_type(v->value)));
    }
    return s;
}

static void number_axes(row_group *g, uint32_t cuts)
{
    uint32_t runs[PTO_MAX_DIMS] = {0}, count = 0;
    for (uint32_t i = 0; i < PTO_MAX_DIMS; i++) {
        if ((g->wide & (1u << i)) == 0) continue;
        runs[count] |= 1u << i;
        if ((cuts & (1u << i)) != 0 || (g->wide >> i) == 1) count++;
    }
    g->axis_count = count;
    for (uint32_t k = 0; k < count; k++)
        g->axis_dims[k == 0 ? AXIS_COLUMNS : k == 1 ? AXIS_ROWS : AXIS_OUTER + (count - 1 - k)] = runs[k];
}

static pto_status check_reductions(const row_group *g)
{
    uint32_t reduced = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role != ROW_REDUCE) continue;
        const uint32_t here = dims_reduced(v->op);
        if (reduced != 0 && here != reduced) {
            pto_str name = pto_op_name(v->op);
            return pto_error(v->op, "pto.tile/other-axes",
                             "`%.*s` reduces other dims than what is before it in its group; a group reduces along "
                             "one axis, so give it a group of its own",
                             PTO_FMT(name));
        }
        reduced = here;
    }
    return PTO_OK;
}

/* Whether the dims are whole axes, at most one of them in tiles. A float sum in ascending order is along one. */
static int find_swept(row_group *g, uint32_t reduced)
{
    uint32_t found = 0, count = 0;
    g->sweeps = 0;
    for (uint32_t a = g->axis_count; a-- > 0;) {
        if ((g->axis_dims[a] & ~reduced) != 0) continue;
        found |= g->axis_dims[a];
        g->sweeps |= rows_along(a);
        /* Outer axes come from the innermost on, then columns, then rows. */
        if (count == 0 || a < AXIS_OUTER) g->swept = a;
        count++;
    }
    if (found != reduced || (g->sweeps & ALONG_BOTH) == ALONG_BOTH) return 0;
    for (uint32_t i = 0; i < g->count && count > 1; i++) {
        const row_value *v = &g->values[i];
        if (v->role == ROW_REDUCE && pto_dtype_is_float(v->dtype) &&
            pto_str_is(pto_attr_str_of(v->op, PTO_STR("order")), "ascending"))
            return 0;
    }
    return 1;
}

/* A box has at least two axes: with one, its dims would be columns. */
static pto_status find_box(row_group *g, const dims_space *s)
{
    const uint32_t reduced = s->reduced;
    PTO_TRY(check_reductions(g));
    number_axes(g, s->cuts);
    g->swept = AXIS_COLUMNS;
    g->sweeps = rows_along(AXIS_COLUMNS);
    if (reduced == 0) return PTO_OK;
    if (find_swept(g, reduced)) return PTO_OK;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role != ROW_REDUCE) continue;
        pto_str name = pto_op_name(v->op);
        return pto_error(v->op, "pto.tile/several-axes",
                         "`%.*s` reduces dims that a value of its group varies along in part, or adds up dims that are "
                         "not neighbours in ascending order; reduce them one after the other, or give it a group of "
                         "its own",
                         PTO_FMT(name));
    }
    return PTO_OK;
}

static void find_extents(row_group *g)
{
    for (uint32_t a = 0; a < g->axis_count; a++) {
        g->extent[a] = pto_expr_const(g->run, 1);
        for (uint32_t d = 0; d < g->rank; d++)
            if ((g->axis_dims[a] & (1u << (g->rank - 1 - d))) != 0)
                g->extent[a] = pto_expr_mul(g->extent[a], pto_type_dim(g->widest, d));
        if (!pto_expr_is_const(g->extent[a], &g->static_extent[a])) g->static_extent[a] = -1;
        g->expected[a] = pto_expected_extent(g->group, g->extent[a]);
    }
}

pto_expr rows_swept_extent(const row_group *g)
{
    pto_expr extent = pto_expr_const(g->run, 1);
    for (uint32_t a = 0; a < g->axis_count; a++)
        if ((g->sweeps & rows_along(a)) != 0) extent = pto_expr_mul(extent, g->extent[a]);
    return extent;
}

pto_expr rows_swept_chunks(const row_group *g, const int64_t *tile)
{
    pto_expr chunks = pto_expr_const(g->run, 1);
    for (uint32_t a = 0; a < g->axis_count; a++) {
        if ((g->sweeps & rows_along(a)) == 0) continue;
        const pto_expr size = pto_expr_const(g->run, a < AXIS_OUTER ? tile[a] : 1);
        chunks = pto_expr_mul(chunks, pto_expr_ceildiv(g->extent[a], size));
    }
    return chunks;
}

/* What windows cut; nothing where there are reductions, whose dims must stay one axis. */
static uint32_t window_cuts(const row_group *g)
{
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role == ROW_REDUCE || rows_drops_dims(v)) return 0;
        cuts |= rows_window_cuts(v);
    }
    return cuts;
}

/* Whether rows and columns are each in one piece. */
static int is_cut(const row_group *g, uint32_t columns, uint32_t cuts)
{
    for (uint32_t i = 0, inner = PTO_MAX_DIMS; i < PTO_MAX_DIMS; i++) {
        if ((g->wide >> i & 1) == 0) continue;
        if (inner != PTO_MAX_DIMS && (cuts >> inner & 1) != 0 && (columns >> inner & 1) == (columns >> i & 1)) return 1;
        inner = i;
    }
    return 0;
}

pto_status rows_find_axes(row_group *g)
{
    dims_space s = read_dims(g);
    const uint32_t cuts = window_cuts(g);
    const int flattens = s.rows == 0 && is_narrow(g) && !is_cut(g, g->wide, cuts);
    const uint32_t columns = flattens ? g->wide : dims_columns(&s);
    s.cuts |= cuts;
    if (dims_are_split(&s) && !is_cut(g, columns, cuts)) {
        g->axis_count = 2;
        g->axis_dims[AXIS_ROWS] = g->wide & ~columns;
        g->axis_dims[AXIS_COLUMNS] = columns;
        g->swept = AXIS_COLUMNS;
        g->sweeps = rows_along(AXIS_COLUMNS);
    } else {
        PTO_TRY(find_box(g, &s));
    }
    find_extents(g);
    return PTO_OK;
}
