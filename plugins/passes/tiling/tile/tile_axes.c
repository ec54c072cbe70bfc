/* Axes of a vector group: runs of neighbouring dims that everything in the group treats alike. */
#include "tile_rows.h"

static uint32_t lowest(uint32_t mask) { return mask & (~mask + 1u); }

uint32_t rows_wide_dims(pto_type type)
{
    uint32_t rank = pto_type_rank(type), wide = 0;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t extent = 0;
        if (!pto_dim_is_const(type, rank - 1 - i, &extent) || extent != 1) wide |= 1u << i;
    }
    return wide;
}

uint32_t rows_reduced_dims(pto_op op)
{
    uint32_t rank = pto_type_rank(pto_value_type(pto_operand(op, 0))), mask = 0;
    pto_attr axes = pto_op_attr(op, "axis");
    int is_list = pto_attr_kind_of(axes) == PTO_ATTR_LIST;
    for (uint32_t i = 0; i < (is_list ? pto_attr_count(axes) : 1); i++) {
        int64_t axis = pto_attr_i64(is_list ? pto_attr_item(axes, i, NULL) : axes);
        if (axis < 0) axis += rank;
        if (axis >= 0 && axis < (int64_t)rank) mask |= 1u << (rank - 1 - (uint32_t)axis);
    }
    return mask & rows_wide_dims(pto_value_type(pto_operand(op, 0)));
}

int rows_drops_dims(const row_value *v) { return PTO_SOME(v->op) && !pto_attr_bool_of(v->op, "keepdim", 1); }

/* Whether rows are so short that they would waste most of each block, and nothing needs them as rows. */
static int is_narrow(const row_group *g)
{
    int64_t last = 0;
    if (g->rank == 0 || !pto_dim_is_const(g->widest, g->rank - 1, &last) || last >= 16) return 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->values[i].role == ROW_REDUCE || rows_drops_dims(&g->values[i])) return 0;
    return 1;
}

/* Dims of columns when all dims fall into rows before columns, as what is reduced and what operands and results lack
 * says; 0 when they do not. */
static int find_columns(const row_group *g, uint32_t *out_columns)
{
    uint32_t rows = 0, columns = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        uint32_t missing = g->wide & ~rows_wide_dims(pto_value_type(v->value)), present = g->wide & ~missing;
        if (v->role == ROW_REDUCE) {
            uint32_t reduced = rows_reduced_dims(v->op);
            columns |= reduced;
            rows |= rows_wide_dims(pto_value_type(pto_operand(v->op, 0))) & ~reduced;
        } else if (v->role != ROW_SPLAT && !rows_drops_dims(v) && missing != 0 && present != 0) {
            rows |= lowest(present) > missing ? present : missing;
            columns |= lowest(present) > missing ? missing : present;
        }
        if (rows != 0 && columns != 0 && lowest(rows) <= columns) return 0;
    }
    if (columns == 0) columns = rows != 0 ? g->wide & (lowest(rows) - 1u) : g->wide & 1u;
    if (rows == 0 && is_narrow(g)) columns = g->wide;
    for (*out_columns = 1; *out_columns <= columns; *out_columns <<= 1) {
    }
    *out_columns -= 1;
    return 1;
}

/* Adds the places where neighbouring wide dims differ: bit i stands between dim i and the next one. */
static uint32_t cuts_of(uint32_t wide, uint32_t mask)
{
    uint32_t cuts = 0;
    for (uint32_t i = 0, last = PTO_MAX_DIMS; i < PTO_MAX_DIMS; i++) {
        if ((wide & (1u << i)) == 0) continue;
        if (last != PTO_MAX_DIMS && ((mask >> last) & 1) != ((mask >> i) & 1)) cuts |= 1u << last;
        last = i;
    }
    return cuts;
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

/* A box has at least two axes: with one, its dims would be columns. */
static pto_status find_box(row_group *g)
{
    uint32_t cuts = 0, reduced = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role != ROW_SPLAT && !rows_drops_dims(v))
            cuts |= cuts_of(g->wide, rows_wide_dims(pto_value_type(v->value)));
        if (v->role != ROW_REDUCE) continue;
        const uint32_t here = rows_reduced_dims(v->op);
        cuts |= cuts_of(g->wide, here);
        if (reduced != 0 && here != reduced) {
            pto_str name = pto_op_name(v->op);
            return pto_error(v->op, "pto.tile/other-axes",
                             "`%.*s` reduces other dims than what stands before it in its group; a group reduces along "
                             "one axis, so give it a group of its own",
                             PTO_FMT(name));
        }
        reduced = here;
    }
    number_axes(g, cuts);
    g->swept = AXIS_COLUMNS;
    if (reduced == 0) return PTO_OK;
    for (g->swept = 0; g->swept < g->axis_count; g->swept++)
        if (g->axis_dims[g->swept] == reduced) return PTO_OK;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role != ROW_REDUCE) continue;
        pto_str name = pto_op_name(v->op);
        return pto_error(v->op, "pto.tile/several-axes",
                         "`%.*s` reduces dims that are not neighbours, or that a value of its group varies along in "
                         "part; reduce them one after the other, or give it a group of its own",
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
    }
}

pto_status rows_find_axes(row_group *g)
{
    uint32_t columns = 0;
    if (find_columns(g, &columns)) {
        g->axis_count = 2;
        g->axis_dims[AXIS_ROWS] = g->wide & ~columns;
        g->axis_dims[AXIS_COLUMNS] = g->wide & columns;
        g->swept = AXIS_COLUMNS;
    } else {
        PTO_TRY(find_box(g));
    }
    find_extents(g);
    return PTO_OK;
}
