/* Tile ops of elementwise tensor ops, whichever of rows and columns their operands vary along. */
#include "machine_types.h"
#include "tile_rows.h"

#include <math.h>

typedef struct binary_row {
    uint32_t from, plain, scalar_right, scalar_left, by_row, by_column;
    int commutes;
} binary_row;

enum { NO_KIND = tile_kinds_count };

static const binary_row binary_rows[] = {
    {KIND_T_ADD, KIND_ADD, KIND_ADDS, KIND_ADDS, KIND_ROWEXPANDADD, KIND_COLEXPANDADD, 1},
    {KIND_T_SUB, KIND_SUB, KIND_SUBS, NO_KIND, KIND_ROWEXPANDSUB, KIND_COLEXPANDSUB, 0},
    {KIND_T_MUL, KIND_MUL, KIND_MULS, KIND_MULS, KIND_ROWEXPANDMUL, KIND_COLEXPANDMUL, 1},
    {KIND_T_DIV, KIND_DIV, KIND_DIVS, KIND_RDIVS, KIND_ROWEXPANDDIV, KIND_COLEXPANDDIV, 0},
    {KIND_T_MAXIMUM, KIND_MAX, KIND_MAXS, KIND_MAXS, KIND_ROWEXPANDMAX, KIND_COLEXPANDMAX, 1},
    {KIND_T_MINIMUM, KIND_MIN, KIND_MINS, KIND_MINS, KIND_ROWEXPANDMIN, KIND_COLEXPANDMIN, 1},
};
static const uint32_t unary_rows[][2] = {
    {KIND_T_NEG, KIND_NEG},     {KIND_T_ABS, KIND_ABS},   {KIND_T_SQRT, KIND_SQRT},
    {KIND_T_RSQRT, KIND_RSQRT}, {KIND_T_EXP, KIND_EXP},   {KIND_T_RECIPROCAL, KIND_RECIPROCAL},
    {KIND_T_LOG, KIND_LOG},     {KIND_T_CAST, KIND_CAST},
};
/* tensor op, op on one tile along its rows and along its columns, op on two results */
static const uint32_t reduce_rows[][4] = {
    {KIND_T_REDUCE_SUM, KIND_COLSUM, KIND_ROWSUM, KIND_ADD},
    {KIND_T_REDUCE_MAX, KIND_COLMAX, KIND_ROWMAX, KIND_MAX},
    {KIND_T_REDUCE_MIN, KIND_COLMIN, KIND_ROWMIN, KIND_MIN},
};

static const binary_row *find_binary(const pto_run *run, pto_op op)
{
    for (size_t i = 0; i < sizeof binary_rows / sizeof *binary_rows; i++)
        if (pto_op_is(op, pto_kind(run, binary_rows[i].from))) return &binary_rows[i];
    return NULL;
}

static uint32_t find_unary(const pto_run *run, pto_op op)
{
    for (size_t i = 0; i < sizeof unary_rows / sizeof *unary_rows; i++)
        if (pto_op_is(op, pto_kind(run, unary_rows[i][0]))) return unary_rows[i][1];
    return NO_KIND;
}

static uint32_t find_reduce(const pto_run *run, pto_op op, uint32_t column)
{
    for (size_t i = 0; i < sizeof reduce_rows / sizeof *reduce_rows; i++)
        if (pto_op_is(op, pto_kind(run, reduce_rows[i][0]))) return reduce_rows[i][column];
    return NO_KIND;
}

int rows_has_form(const pto_run *run, pto_op op)
{
    return find_unary(run, op) != NO_KIND || find_binary(run, op) != NULL;
}

uint32_t rows_reduce_kind(const pto_run *run, pto_op op, uint32_t axis) { return find_reduce(run, op, 1 + axis); }
uint32_t rows_combine_kind(const pto_run *run, pto_op op) { return find_reduce(run, op, 3); }

/* The lowest or highest value of an integer type. */
static int64_t integer_limit(pto_dtype dtype, int is_highest)
{
    const int bits = (int)(8 * pto_dtype_bytes(dtype)), is_signed = dtype >= PTO_I8 && dtype <= PTO_I64;
    const int64_t highest = is_signed    ? INT64_MAX >> (64 - bits)
                            : bits == 64 ? -1
                                         : (int64_t)((UINT64_C(1) << bits) - 1);
    return is_highest ? highest : is_signed ? -highest - 1 : 0;
}

static int starts_from_nan(pto_op op)
{
    const int is_extreme = PTO_IS(op, T_REDUCE_MAX) || PTO_IS(op, T_REDUCE_MIN);
    return is_extreme && pto_str_is(pto_attr_str_of(op, PTO_STR("nan")), "ignore") &&
           pto_dtype_is_float(pto_type_dtype(pto_value_type(pto_op_operand(op, 0))));
}

/* What a reduction of nothing gives. */
static tile_number of_nothing(pto_op op)
{
    const pto_dtype dtype = pto_type_dtype(pto_value_type(pto_op_operand(op, 0)));
    if (PTO_IS(op, T_REDUCE_MAX)) return (tile_number){.real = -HUGE_VAL, .whole = integer_limit(dtype, 0)};
    if (PTO_IS(op, T_REDUCE_MIN)) return (tile_number){.real = HUGE_VAL, .whole = integer_limit(dtype, 1)};
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

static tile_piece filled(row_nest *w, pto_dtype dtype, tile_number number, uint8_t form)
{
    pto_expr valid[2];
    rows_valid(w, form, valid);
    return tile_emit_fill(w->n, dtype, number, valid, rows_extent(w, form, 0), rows_extent(w, form, 1));
}

/* NaN loses against every number, so with `ignore` it is what leaves a row of NaN a NaN. A row of nothing is none:
 * where the extent may be 0 the start is 0 or 1, by the extent, times infinity. */
tile_piece rows_start(row_nest *w, const row_value *v)
{
    const row_group *g = w->g;
    const pto_expr extent = g->extent[g->swept];
    const tile_number nothing = of_nothing(v->op);
    const pto_range swept = pto_expr_range(extent, g->group, NULL);
    if (!starts_from_nan(v->op) || swept.hi == 0) return filled(w, v->dtype, nothing, v->form);
    if (swept.lo >= 1) return filled(w, v->dtype, (tile_number){.real = nan("")}, v->form);
    const pto_expr one = pto_expr_const(g->run, 1);
    const tile_number is_empty = {.index = pto_expr_sub(one, pto_expr_min(extent, one))};
    return tile_emit_scalar(w->n, KIND_MULS, filled(w, v->dtype, is_empty, v->form), nothing);
}

/* The type to repeat values of a type in: one that the machine adds in and that has all of them. */
static pto_dtype repeat_dtype(const pto_run *run, uint32_t kind, pto_dtype t)
{
    static const pto_dtype wider[][2] = {
        {PTO_BF16, PTO_F32}, {PTO_F16, PTO_F32}, {PTO_I8, PTO_F16}, {PTO_U8, PTO_F16}, {PTO_I16, PTO_F32}};
    const pto_kind_id adds = pto_kind(run, kind);
    for (size_t i = 0; i < sizeof wider / sizeof *wider && !machine_takes(run, adds, t); i++) {
        const pto_dtype by = wider[i][1];
        if (wider[i][0] == t && machine_takes(run, adds, by) && machine_converts(run, t, by) &&
            machine_converts(run, by, t))
            return by;
    }
    return t;
}

static tile_piece converted(row_nest *w, tile_piece p, pto_dtype to)
{
    return p.dtype == to ? p : tile_emit(w->n, KIND_CAST, to, p.rows, p.columns, 1, &p);
}

/* Adding to -0.0 keeps every float as it is, +0.0 and NaN included. */
static tile_piece repeat(row_nest *w, tile_piece narrow, uint8_t form, uint32_t kind)
{
    const pto_dtype dtype = repeat_dtype(w->n->run, kind, narrow.dtype);
    const tile_piece from = converted(w, narrow, dtype);
    tile_piece pair[2] = {filled(w, dtype, (tile_number){.real = -0.0}, form), from};
    return converted(w, tile_emit(w->n, kind, dtype, pair[0].rows, pair[0].columns, 2, pair), narrow.dtype);
}

tile_piece rows_widen(row_nest *w, const row_value *v, uint8_t form)
{
    uint8_t more = form & (uint8_t)~v->form & ALONG_BOTH;
    tile_piece p = v->piece;
    if (v->role == ROW_SPLAT) return filled(w, v->dtype, v->number, form);
    uint8_t have = v->form;
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

/* a op b where b may lack what a has. */
static tile_piece emit_by(row_nest *w, const binary_row *row, tile_piece a, uint8_t form, const row_value *b)
{
    uint8_t more = form & (uint8_t)~b->form & ALONG_BOTH;
    uint32_t kind = more == 0 ? row->plain : (more & ALONG_ROWS) != 0 ? row->by_column : row->by_row;
    tile_piece pair[2] = {a, more == ALONG_BOTH ? rows_widen(w, b, ALONG_COLUMNS) : b->piece};
    return tile_emit(w->n, kind, a.dtype, a.rows, a.columns, 2, pair);
}

static tile_piece emit_with_scalar(row_nest *w, const binary_row *row, const row_value *a, const row_value *b)
{
    if (b->role == ROW_SPLAT) return tile_emit_scalar(w->n, row->scalar_right, a->piece, b->number);
    if (row->scalar_left != NO_KIND) return tile_emit_scalar(w->n, row->scalar_left, b->piece, a->number);
    tile_piece minus = tile_emit(w->n, KIND_NEG, b->dtype, b->piece.rows, b->piece.columns, 1, &b->piece);
    return tile_emit_scalar(w->n, KIND_ADDS, minus, a->number);
}

static tile_piece emit_binary(row_nest *w, const binary_row *row, const row_value *a, const row_value *b)
{
    uint8_t form = (a->form | b->form) & ALONG_BOTH;
    int splats = (a->role == ROW_SPLAT) + (b->role == ROW_SPLAT);
    if (splats == 1) return emit_with_scalar(w, row, a, b);
    if (splats == 2) {
        tile_piece first = filled(w, a->dtype, a->number, form);
        return tile_emit_scalar(w->n, row->scalar_right, first, b->number);
    }
    if ((a->form & ALONG_BOTH) == form) return emit_by(w, row, a->piece, form, b);
    if ((b->form & ALONG_BOTH) == form && row->commutes) return emit_by(w, row, b->piece, form, a);
    if ((b->form & ALONG_BOTH) == form && row->from == KIND_T_SUB) {
        tile_piece minus = tile_emit(w->n, KIND_NEG, b->dtype, b->piece.rows, b->piece.columns, 1, &b->piece);
        return emit_by(w, &binary_rows[0], minus, form, a);
    }
    return emit_by(w, row, rows_widen(w, a, form), form, b);
}

static tile_piece emit_unary(row_nest *w, row_value *v, const row_value *a)
{
    tile_piece p = a->role == ROW_SPLAT ? filled(w, a->dtype, a->number, a->form) : a->piece;
    uint32_t kind = find_unary(w->n->run, v->op);
    if (kind == KIND_CAST && p.dtype == v->dtype) return p; /* the instruction would round to whole numbers */
    if (kind == KIND_CAST) return tile_emit_cast(w->n, p, v->dtype, v->op);
    return tile_emit(w->n, kind, v->dtype, p.rows, p.columns, 1, &p);
}

static tile_piece emit_input(row_nest *w, const row_value *v)
{
    pto_expr offsets[AXES_MAX], valid[2];
    rows_valid(w, v->form, valid);
    rows_offsets(w, v->form, offsets);
    return tile_emit_load(w->n, w->n->counts != NULL ? v->value : v->memory, offsets, valid, rows_extent(w, v->form, 0),
                          rows_extent(w, v->form, 1), 0);
}

void rows_emit_value(row_nest *w, row_value *v)
{
    const row_value *a = &w->g->values[v->in[0]], *b = &w->g->values[v->in[1]];
    w->n->name = v->name;
    if (PTO_SOME(v->op)) w->n->loc = pto_op_loc(v->op);
    switch (v->role) {
    case ROW_INPUT: v->piece = emit_input(w, v); break;
    case ROW_SPLAT: break;
    case ROW_BROADCAST: v->piece = a->piece; break;
    case ROW_ELEMENTWISE:
        v->piece = v->in_count == 1 ? emit_unary(w, v, a) : emit_binary(w, find_binary(w->n->run, v->op), a, b);
        break;
    default: break;
    }
}
