/* Tile ops of elementwise tensor ops, whichever of rows and columns their operands vary along. */
#include "machine_types.h"
#include "tile_rows.h"

#include <math.h>

static pto_kind_id form_of(const pto_run *run, pto_kind_id kind, uint32_t column)
{
    return (pto_kind_id)pto_kind_column(run, kind, column);
}

pto_kind_id rows_form(const pto_run *run, pto_op op, uint32_t column) { return form_of(run, pto_op_kind(op), column); }

static row_forms forms_of(const pto_run *run, pto_kind_id kind)
{
    row_forms f = {.kind = kind,
                   .whole = form_of(run, kind, PTO_COLUMN_TILE_WHOLE),
                   .scalar_right = form_of(run, kind, PTO_COLUMN_TILE_SCALAR_RIGHT),
                   .scalar_left = form_of(run, kind, PTO_COLUMN_TILE_SCALAR_LEFT),
                   .by_row = form_of(run, kind, PTO_COLUMN_TILE_BY_ROW),
                   .by_column = form_of(run, kind, PTO_COLUMN_TILE_BY_COLUMN),
                   .commutes = pto_kind_has(run, kind, PTO_TRAIT_COMMUTATIVE)};
    if (f.commutes) f.scalar_left = f.scalar_right;
    return f;
}

/* Asked once: instances are counted for many sizes of tiles. */
static const row_forms *rows_forms(const pto_run *run, row_value *v)
{
    if (v->forms.kind != 0) return &v->forms;
    v->forms = forms_of(run, pto_op_kind(v->op));
    v->forms.attr = rows_attr(run, v->op);
    return &v->forms;
}

static tile_piece emit_neg(row_nest *w, tile_piece p)
{
    return tile_emit(w->n, pto_kind(w->n->run, KIND_NEG), p.dtype, p.rows, p.columns, 1, &p);
}

/* The lowest or highest value of an integer type; the highest of u64 is not the value of any constant. */
static int64_t integer_limit(pto_dtype dtype, int is_highest)
{
    const int bits = (int)(8 * pto_dtype_bytes(dtype)), is_signed = dtype >= PTO_I8 && dtype <= PTO_I64;
    const int64_t highest = is_signed || bits == 64 ? INT64_MAX >> (64 - bits) : (int64_t)((UINT64_C(1) << bits) - 1);
    return is_highest ? highest : is_signed ? -highest - 1 : 0;
}

static int starts_from_nan(pto_op op)
{
    const int is_extreme = PTO_IS(op, T_REDUCE_MAX) || PTO_IS(op, T_REDUCE_MIN);
    return is_extreme && pto_str_is(pto_attr_str_of(op, PTO_STR("nan")), "ignore") &&
           pto_dtype_is_float(pto_type_dtype(pto_value_type(pto_op_operand(op, 0))));
}

/* The result of a reduction of nothing. */
static tile_number of_nothing(pto_op op)
{
    const pto_dtype dtype = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    if (PTO_IS(op, T_REDUCE_MAX)) return (tile_number){.real = -HUGE_VAL, .whole = integer_limit(dtype, 0)};
    if (PTO_IS(op, T_REDUCE_MIN)) return (tile_number){.real = HUGE_VAL, .whole = integer_limit(dtype, 1)};
    if (PTO_IS(op, T_REDUCE_PROD)) return (tile_number){.real = 1.0, .whole = 1};
    return (tile_number){.real = 0.0};
}

int64_t rows_extent(const row_nest *w, uint8_t form, int which)
{
    return (form & (1 << which)) != 0 ? w->tile[which] : 1;
}

void rows_valid(const row_nest *w, uint8_t form, pto_expr out[2])
{
    for (int which = 0; which < 2; which++)
        out[which] =
            (form & (1 << which)) != 0 || w->n->counts != NULL ? w->valid[which] : pto_expr_const(w->n->run, 1);
}

void rows_offsets(const row_nest *w, uint8_t shape, pto_expr *out)
{
    for (uint32_t a = 0; a < w->g->axis_count; a++)
        out[rows_memory_dim(w->g, a)] = (shape & rows_along(a)) != 0 ? w->offset[a]
                                        : w->n->counts != NULL       ? pto_expr_none(w->n->run)
                                                                     : pto_expr_const(w->n->run, 0);
}

tile_piece rows_filled(row_nest *w, pto_dtype dtype, tile_number number, uint8_t form)
{
    pto_expr valid[2];
    rows_valid(w, form, valid);
    return tile_emit_fill(w->n, dtype, number, valid, rows_extent(w, form, 0), rows_extent(w, form, 1));
}

/* NaN loses against every number, so with `ignore` it is what leaves a row of NaN a NaN. A row of nothing is none:
 * where the extent may be 0 the start is 0 or 1, by the extent, times infinity. The largest u64 is minus 1. */
tile_piece rows_start(row_nest *w, const row_value *v)
{
    const row_group *g = w->g;
    const tile_number nothing = of_nothing(v->op);
    if (v->dtype == PTO_U64 && PTO_IS(v->op, T_REDUCE_MIN))
        return emit_neg(w, rows_filled(w, v->dtype, (tile_number){.whole = 1}, v->form));
    if (!starts_from_nan(v->op)) return rows_filled(w, v->dtype, nothing, v->form);
    const pto_expr extent = rows_swept_extent(g);
    const pto_range swept = pto_expr_range(extent, g->group, NULL);
    if (swept.hi == 0) return rows_filled(w, v->dtype, nothing, v->form);
    if (swept.lo >= 1) return rows_filled(w, v->dtype, (tile_number){.real = nan("")}, v->form);
    const pto_expr one = pto_expr_const(g->run, 1);
    const tile_number is_empty = {.index = pto_expr_sub(one, pto_expr_min(extent, one))};
    return tile_emit_scalar(w->n, pto_kind(g->run, KIND_MULS), rows_filled(w, v->dtype, is_empty, v->form), nothing);
}

/* The type to repeat values of a type in: one that the machine adds in and that has all of them. */
static pto_dtype repeat_dtype(const pto_run *run, pto_kind_id adds, pto_dtype t)
{
    static const pto_dtype wider[][2] = {{PTO_BF16, PTO_F32},   {PTO_F16, PTO_F32},   {PTO_I8, PTO_F16},
                                         {PTO_U8, PTO_F16},     {PTO_I16, PTO_F32},   {PTO_F8E4M3, PTO_F32},
                                         {PTO_F8E5M2, PTO_F32}, {PTO_F8E8M0, PTO_F32}};
    for (size_t i = 0; i < sizeof wider / sizeof *wider && !machine_takes(run, adds, t); i++) {
        const pto_dtype by = wider[i][1];
        if (wider[i][0] == t && machine_takes(run, adds, by) && machine_converts(run, t, by) &&
            machine_converts(run, by, t))
            return by;
    }
    return t;
}

int rows_repeats(const pto_run *run, pto_dtype t)
{
    static const uint32_t adds[] = {KIND_ROWEXPANDADD, KIND_COLEXPANDADD};
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++) {
        const pto_kind_id kind = pto_kind(run, adds[i]);
        if (!machine_takes(run, kind, repeat_dtype(run, kind, t))) return 0;
    }
    return 1;
}

tile_piece rows_converted(row_nest *w, tile_piece p, pto_dtype to)
{
    return p.dtype == to ? p : tile_emit(w->n, pto_kind(w->n->run, KIND_CAST), to, p.rows, p.columns, 1, &p);
}

/* Adding to -0.0 keeps every float as it is, +0.0 and NaN included. */
static tile_piece repeat(row_nest *w, tile_piece narrow, uint8_t form, uint32_t index)
{
    const pto_kind_id kind = pto_kind(w->n->run, index);
    const pto_dtype dtype = repeat_dtype(w->n->run, kind, narrow.dtype);
    const tile_piece from = rows_converted(w, narrow, dtype);
    tile_piece pair[2] = {rows_filled(w, dtype, (tile_number){.real = -0.0}, form), from};
    return rows_converted(w, tile_emit(w->n, kind, dtype, pair[0].rows, pair[0].columns, 2, pair), narrow.dtype);
}

tile_piece rows_repeated(row_nest *w, tile_piece narrow, uint8_t have, uint8_t form)
{
    const uint8_t more = form & (uint8_t)~have & ALONG_BOTH;
    tile_piece p = narrow;
    if ((more & ALONG_COLUMNS) != 0) {
        have |= ALONG_COLUMNS;
        p = repeat(w, p, have, KIND_ROWEXPANDADD);
    }
    if ((more & ALONG_ROWS) != 0) {
        have |= ALONG_ROWS;
        p = repeat(w, p, have, KIND_COLEXPANDADD);
    }
    return p;
}

tile_piece rows_widen(row_nest *w, const row_value *v, uint8_t form)
{
    if (v->dtype == PTO_BOOL) return rows_bytes(w, v, form);
    if (v->role == ROW_SPLAT) return rows_filled(w, v->dtype, v->number, form);
    return rows_repeated(w, v->piece, v->form, form);
}

/* a op b where b may lack what a has. */
static tile_piece emit_by(row_nest *w, const row_forms *f, tile_piece a, uint8_t form, const row_value *b)
{
    uint8_t more = form & (uint8_t)~b->form & ALONG_BOTH;
    pto_kind_id kind = more == 0 ? f->whole : (more & ALONG_ROWS) != 0 ? f->by_column : f->by_row;
    const int must_widen = kind == 0 || b->role == ROW_SPLAT;
    if (must_widen) kind = f->whole;
    tile_piece pair[2] = {a, must_widen           ? rows_widen(w, b, form)
                             : more == ALONG_BOTH ? rows_widen(w, b, ALONG_COLUMNS)
                                                  : b->piece};
    if (kind == f->whole) return tile_emit_with(w->n, kind, f->attr, a.dtype, 2, pair, NULL);
    return tile_emit(w->n, kind, a.dtype, a.rows, a.columns, 2, pair);
}

static tile_piece emit_with_scalar(row_nest *w, const row_forms *f, const row_value *a, const row_value *b)
{
    if (b->role == ROW_SPLAT) return tile_emit_scalar(w->n, f->scalar_right, a->piece, b->number);
    if (f->scalar_left != 0) return tile_emit_scalar(w->n, f->scalar_left, b->piece, a->number);
    return tile_emit_scalar(w->n, pto_kind(w->n->run, KIND_ADDS), emit_neg(w, b->piece), a->number);
}

static tile_piece emit_binary(row_nest *w, row_value *v, const row_value *a, const row_value *b)
{
    const pto_run *run = w->n->run;
    const row_forms *f = rows_forms(run, v);
    const int is_sub = f->kind == pto_kind(run, KIND_T_SUB);
    uint8_t form = v->form & ALONG_BOTH;
    int splats = (a->role == ROW_SPLAT) + (b->role == ROW_SPLAT);
    if (splats == 1 && (b->role == ROW_SPLAT ? f->scalar_right != 0 : f->scalar_left != 0 || is_sub))
        return emit_with_scalar(w, f, a, b);
    if (splats != 0) {
        const tile_piece first = a->role == ROW_SPLAT ? rows_filled(w, a->dtype, a->number, form) : a->piece;
        if (b->role == ROW_SPLAT && f->scalar_right != 0)
            return tile_emit_scalar(w->n, f->scalar_right, first, b->number);
        return emit_by(w, f, first, form, b);
    }
    if ((a->form & ALONG_BOTH) == form) return emit_by(w, f, a->piece, form, b);
    if ((b->form & ALONG_BOTH) == form && f->commutes) return emit_by(w, f, b->piece, form, a);
    if ((b->form & ALONG_BOTH) == form && is_sub) {
        const row_forms add = forms_of(run, pto_kind(run, KIND_T_ADD));
        return emit_by(w, &add, emit_neg(w, b->piece), form, a);
    }
    return emit_by(w, f, rows_widen(w, a, form), form, b);
}

tile_attr rows_attr(const pto_run *run, pto_op op)
{
    const pto_kind_id kind = pto_op_kind(op);
    const pto_str name = pto_kind_text(run, kind, PTO_TEXT_TILE_ATTR),
                  word = pto_kind_text(run, kind, PTO_TEXT_TILE_WORD);
    const char *sign = word.n != 0 ? memchr(word.p, '$', word.n) : NULL;
    if (sign == NULL) return (tile_attr){name, word};
    /* The word of an attribute of the op comes last, as in `gelu_$approx`. */
    const size_t kept = (size_t)(sign - word.p);
    const pto_str last = pto_attr_str_of(op, pto_str_make(sign + 1, word.n - kept - 1));
    char *whole = (char *)pto_scratch(run, kept + last.n + 1);
    memcpy(whole, word.p, kept);
    memcpy(whole + kept, last.p, last.n);
    return (tile_attr){name, pto_str_make(whole, kept + last.n)};
}

static tile_piece emit_unary(row_nest *w, row_value *v, const row_value *a)
{
    tile_piece p = rows_widen(w, a, v->form);
    const row_forms *f = rows_forms(w->n->run, v);
    const int is_cast = f->kind == pto_kind(w->n->run, KIND_T_CAST);
    if (is_cast && p.dtype == v->dtype) return p; /* the instruction would round to whole numbers */
    if (is_cast) return tile_emit_cast(w->n, p, v->dtype, v->op);
    return tile_emit_with(w->n, f->whole, f->attr, v->dtype, 1, &p, NULL);
}

static tile_piece emit_input(row_nest *w, const row_value *v)
{
    pto_expr offsets[AXES_MAX], valid[2];
    rows_valid(w, v->form, valid);
    if (v->window != NULL)
        rows_window_offsets(w, v->window, offsets);
    else
        rows_offsets(w, v->form, offsets);
    return tile_emit_load(w->n, w->n->counts != NULL ? v->value : v->memory, offsets, valid, rows_extent(w, v->form, 0),
                          rows_extent(w, v->form, 1), 0);
}

/* A row counts; a column is a row that is turned. */
static tile_piece emit_count(row_nest *w, const row_value *v)
{
    const uint32_t axis = v->axis;
    const tile_number start = {.index = w->offset[axis]};
    const pto_expr valid[2] = {w->n->counts != NULL ? w->valid[axis] : pto_expr_const(w->n->run, 1), w->valid[axis]};
    const tile_piece row = tile_emit_count(w->n, v->dtype, start, valid, w->tile[axis]);
    if (axis == AXIS_COLUMNS) return row;
    return tile_emit(w->n, pto_kind(w->n->run, KIND_TRANSPOSE), v->dtype, w->tile[axis], 1, 1, &row);
}

static tile_piece emit_product(row_nest *w, const row_value *v)
{
    const int64_t tile[3] = {w->tile[AXIS_ROWS], w->tile[AXIS_COLUMNS], w->depth};
    const tile_piece sums = tile_product_emit(v->product, w->n, tile, w->offset, w->valid);
    return rows_converted(w, sums, v->dtype);
}

static tile_piece emit_elementwise(row_nest *w, row_value *v)
{
    const row_value *a = &w->g->values[v->in[0]], *b = &w->g->values[v->in[1]];
    if (rows_is_truth(w, v)) return rows_emit_truth(w, v);
    return v->in_count == 1 ? emit_unary(w, v, a) : emit_binary(w, v, a, b);
}

void rows_emit_value(row_nest *w, row_value *v)
{
    w->n->name = v->name;
    if (PTO_SOME(v->op) && w->n->counts == NULL) w->n->loc = pto_op_loc(v->op);
    switch (v->role) {
    case ROW_INPUT:
        v->piece = emit_input(w, v);
        if (v->as_mask) v->piece = rows_mask(w, v, v->form);
        break;
    case ROW_SPLAT:
        if (v->axis >= AXIS_OUTER) v->number.index = w->offset[v->axis];
        break;
    case ROW_COUNT: v->piece = emit_count(w, v); break;
    case ROW_PRODUCT: v->piece = emit_product(w, v); break;
    case ROW_BROADCAST: v->piece = w->g->values[v->in[0]].piece; break;
    case ROW_ELEMENTWISE: v->piece = emit_elementwise(w, v); break;
    default: break;
    }
}
