/* Inputs of vector groups that are windows of other tensors: loads read them where they lie, so that no nest copies
 * them. The axes of the group stay what they are, except for a group without reductions, which gets the cuts that its
 * windows need.
 *
 *     %v = tensor.view %x[0, 8]                    forall (%i, %j) .. {
 *     %y = tensor.exp %v                     =>      %tv = tile.load %x[16 * %i, 64 * %j + 8]
 */
#include "tile_rows.h"

/* Dims of a type that are wide, outermost first. Returns how many. */
static uint32_t list_wide(pto_type type, uint32_t out[PTO_MAX_DIMS])
{
    const uint32_t rank = pto_type_rank(type), wide = dims_of_type(type);
    uint32_t count = 0;
    for (uint32_t d = 0; d < rank; d++)
        if ((wide >> (rank - 1 - d) & 1) != 0) out[count++] = d;
    return count;
}

/* Whether dims of extent 1 alone come or go. */
static int keeps_wide_dims(pto_type a, pto_type b)
{
    uint32_t of_a[PTO_MAX_DIMS], of_b[PTO_MAX_DIMS];
    const uint32_t count = list_wide(a, of_a);
    if (list_wide(b, of_b) != count) return 0;
    for (uint32_t i = 0; i < count; i++)
        if (!pto_expr_equal(pto_type_dim(a, of_a[i]), pto_type_dim(b, of_b[i]))) return 0;
    return 1;
}

pto_op tile_view_op(pto_value value)
{
    const pto_op none = pto_op_none(value.run);
    pto_op op = pto_value_op(value);
    if (PTO_IS(op, T_RESHAPE) && keeps_wide_dims(pto_value_type(value), pto_value_type(pto_op_operand(op, 0))))
        op = pto_value_op(pto_op_operand(op, 0));
    if (!PTO_IS(op, GROUP)) return none;
    const pto_op first = pto_block_first(pto_body(op));
    return PTO_IS(first, T_VIEW) ? first : none;
}

static int is_const(pto_expr e, int64_t n)
{
    int64_t v = 0;
    return pto_expr_is_const(e, &v) && v == n;
}

/* A dim of the source: `extent` elements of `all`, from `start` on. */
typedef struct source_dim {
    pto_expr extent, all, start;
    int64_t step;
    uint32_t axis; /* AXES_MAX: it has one element */
} source_dim;

static source_dim dim_of(pto_op view, uint32_t d)
{
    return (source_dim){.extent = pto_type_dim(pto_value_type(pto_op_result(view, 0)), d),
                        .all = pto_type_dim(pto_value_type(pto_op_operand(view, 0)), d),
                        .start = pto_expr_of(view, PTO_STR("offsets"), d),
                        .step = pto_int_of(view, PTO_STR("strides"), d, 1),
                        .axis = AXES_MAX};
}

static int is_whole(const source_dim *s)
{
    return s->step == 1 && is_const(s->start, 0) && pto_expr_equal(s->extent, s->all);
}

/* Whether the dim certainly has all that is read: else a fault could become an element of a neighbour. */
static int is_certain(const source_dim *s, pto_op view)
{
    const pto_expr end = pto_expr_add(s->start, s->extent);
    return s->step == 1 && pto_expr_range(s->start, view, NULL).lo >= 0 &&
           pto_expr_range(pto_expr_sub(s->all, end), view, NULL).lo >= 0;
}

/* The bit of the group's dims that each dim of the view walks; 0: it has one element. */
static uint32_t read_bits(const row_value *v, pto_op view, uint32_t out[PTO_MAX_DIMS])
{
    const pto_type type = pto_value_type(v->value), from = pto_value_type(pto_op_result(view, 0));
    uint32_t of_v[PTO_MAX_DIMS], of_view[PTO_MAX_DIMS];
    const uint32_t count = list_wide(type, of_v), rank = pto_type_rank(from);
    for (uint32_t d = 0; d < rank; d++) out[d] = 0;
    if (list_wide(from, of_view) != count) return 0;
    for (uint32_t i = 0; i < count; i++) out[of_view[i]] = 1u << (pto_type_rank(type) - 1 - of_v[i]);
    return rank;
}

uint32_t rows_window_cuts(const row_value *v)
{
    const pto_op view = v->role == ROW_INPUT ? tile_view_op(v->value) : pto_op_none(v->value.run);
    uint32_t bits[PTO_MAX_DIMS], cuts = 0, inner = 0;
    if (!PTO_SOME(view)) return 0;
    for (uint32_t d = read_bits(v, view, bits); d-- > 0;) {
        const source_dim s = dim_of(view, d);
        if (bits[d] != 0) inner = bits[d];
        if (!is_whole(&s)) cuts |= inner;
    }
    return cuts;
}

/* `outer` and `inner` as one dim of the memory. */
static source_dim joined(const source_dim *outer, const source_dim *inner)
{
    source_dim s = *inner;
    s.all = pto_expr_mul(outer->all, inner->all);
    s.start = pto_expr_add(pto_expr_mul(outer->start, inner->all), inner->start);
    s.extent = pto_expr_mul(outer->extent, inner->extent);
    if (s.axis == AXES_MAX) s.axis = outer->axis;
    return s;
}

/* Dims of the source in order, those of one axis together. Returns how many; 0: an axis is not in one piece. */
static uint32_t read_dims(const row_group *g, const row_value *v, pto_op view, source_dim *out)
{
    uint32_t bits[PTO_MAX_DIMS], count = 0, seen = 0;
    const uint32_t rank = read_bits(v, view, bits);
    for (uint32_t d = 0; d < rank; d++) {
        source_dim s = dim_of(view, d);
        for (uint32_t a = 0; a < g->axis_count; a++)
            if ((g->axis_dims[a] & bits[d]) != 0) s.axis = a;
        if (is_const(s.all, 1) && is_const(s.start, 0)) continue;
        if (s.axis < AXIS_OUTER && s.step != 1) return 0;
        source_dim *last = count == 0 ? NULL : &out[count - 1];
        if (last != NULL && s.axis != AXES_MAX && last->axis == s.axis) {
            if (!is_whole(&s) || !is_certain(last, view)) return 0;
            *last = joined(last, &s);
            continue;
        }
        if (s.axis != AXES_MAX && (seen >> s.axis & 1) != 0) return 0;
        if (s.axis != AXES_MAX) seen |= 1u << s.axis;
        out[count++] = s;
    }
    return count;
}

/* What comes after the rows is one dim, whose columns are last. Returns how many dims are left; 0: it is not so. */
static uint32_t gather_columns(source_dim *dims, uint32_t count, pto_op view)
{
    uint32_t rows = 0;
    while (rows < count && dims[rows].axis != AXIS_ROWS) rows++;
    for (uint32_t i = 0; i + 1 < count; i++)
        if (dims[i].axis == AXIS_COLUMNS) return 0;
    while (rows + 2 < count) {
        if (!is_certain(&dims[count - 2], view) || !is_certain(&dims[count - 1], view)) return 0;
        dims[count - 2] = joined(&dims[count - 2], &dims[count - 1]);
        count--;
    }
    return count;
}

static void add_dim(row_window *w, const source_dim *s)
{
    w->dims[w->rank] = s->all;
    w->start[w->rank] = s->start;
    w->step[w->rank] = s->step;
    w->axis[w->rank++] = s->axis;
}

static row_window *find_window(const row_group *g, const row_value *v, pto_op view)
{
    const pto_expr one = pto_expr_const(g->run, 1), zero = pto_expr_const(g->run, 0);
    const source_dim unit = {.extent = one, .all = one, .start = zero, .step = 1, .axis = AXES_MAX};
    source_dim dims[PTO_MAX_DIMS];
    uint32_t count = read_dims(g, v, view, dims);
    if (count != 0) count = gather_columns(dims, count, view);
    if (count == 0) return NULL;
    const int ends_in_rows = dims[count - 1].axis == AXIS_ROWS;
    if (count + (uint32_t)ends_in_rows > AXES_MAX) return NULL;
    row_window *w = PTO_SCRATCH(g->run, row_window, 1);
    *w = (row_window){.source = pto_op_operand(view, 0)};
    if (count == 1 && !ends_in_rows) add_dim(w, &unit);
    for (uint32_t i = 0; i < count; i++) add_dim(w, &dims[i]);
    if (ends_in_rows) add_dim(w, &unit);
    return w;
}

void rows_find_windows(row_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        row_value *v = &g->values[i];
        const pto_op view = v->role == ROW_INPUT ? tile_view_op(v->value) : pto_op_none(g->run);
        if (!PTO_SOME(view) || !v->is_needed) continue;
        v->window = find_window(g, v, view);
        if (v->window == NULL)
            pto_remark(v->at, "pto.tile/copied-window",
                       "%%%.*s is read from a copy, since its elements are not rows and columns of %%%.*s, or may be "
                       "beyond them",
                       PTO_FMT(v->name), PTO_FMT(pto_value_name(pto_op_operand(view, 0))));
    }
}

void rows_window_offsets(const row_nest *w, const row_window *from, pto_expr *out)
{
    for (uint32_t d = 0; d < from->rank; d++) {
        const int walks = from->axis[d] != AXES_MAX && w->n->counts == NULL;
        out[d] = walks ? pto_expr_add(from->start[d], pto_expr_scale(w->offset[from->axis[d]], from->step[d]))
                       : from->start[d];
    }
}
