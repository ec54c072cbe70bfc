/* Truth values on tiles. In memory they are bytes, 0 or 1; instructions make and take masks, a bit for each element.
 * Between the two they are numbers, 0 and 1: the vector unit converts, repeats and chooses those.
 *
 *     bytes -> numbers   tile.cast                 numbers -> bits    tile.cmps {relation = "ne"} with 0
 *     bits -> numbers    tile.selects of 1 and 0   numbers -> bytes   tile.cast
 */
#include "machine_types.h"
#include "tile_rows.h"

/* ---- the type of the numbers ---- */

static int serves(const pto_run *run, pto_dtype t)
{
    static const uint32_t kinds[] = {KIND_CMPS, KIND_SELECTS, KIND_FILL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!machine_takes(run, pto_kind(run, kinds[i]), t)) return 0;
    return machine_converts(run, PTO_BOOL, t) && machine_converts(run, t, PTO_BOOL);
}

static const row_value *find_truth(const row_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->values[i].dtype == PTO_BOOL && g->values[i].role != ROW_INPUT) return &g->values[i];
    for (uint32_t i = 0; i < g->count; i++)
        if (g->values[i].role == ROW_ELEMENTWISE && g->values[g->values[i].in[0]].dtype == PTO_BOOL)
            return &g->values[i];
    return NULL;
}

/* Bits are wanted by what combines them or chooses by them, unless they are repeated on the way. */
static void find_masks(row_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role != ROW_ELEMENTWISE || PTO_IS(v->op, T_CAST)) continue;
        for (uint32_t k = 0; k < v->in_count; k++) {
            row_value *in = &g->values[v->in[k]];
            if (in->role == ROW_INPUT && in->dtype == PTO_BOOL && (v->form & ~in->form & ALONG_BOTH) == 0)
                in->as_mask = 1;
        }
    }
}

pto_status rows_find_truth(row_group *g)
{
    static const pto_dtype types[] = {PTO_F16, PTO_F32, PTO_BF16};
    const row_value *v = find_truth(g);
    if (v == NULL) return PTO_OK;
    find_masks(g);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        g->truth = types[i];
        if (serves(g->run, g->truth)) return PTO_OK;
    }
    return pto_error(v->at, "pto.tile/no-truth-values",
                     "`%.*s` needs truth values on tiles, and the machine has no float type that it compares, selects, "
                     "fills, and converts to bool and from it: choose another machine with --machine, or compute with "
                     "numbers",
                     PTO_FMT(pto_op_name(v->at)));
}

/* ---- changes of form ---- */

static const tile_number zero = {.real = 0.0, .whole = 0}, one = {.real = 1.0, .whole = 1};

tile_piece rows_numbers(row_nest *w, const row_value *v, uint8_t form, pto_dtype dtype)
{
    if (v->role == ROW_SPLAT) return rows_filled(w, dtype, v->number.whole != 0 ? one : zero, form);
    const pto_dtype through = form == v->form || w->g->truth == dtype ? dtype : w->g->truth;
    tile_piece p = v->piece;
    if (p.dtype == PTO_MASK) {
        const tile_piece chosen[2] = {p, rows_filled(w, through, one, v->form)};
        p = tile_emit_with(w->n, pto_kind(w->n->run, KIND_SELECTS), (tile_attr){{0}, {0}}, through, 2, chosen, &zero);
    } else {
        p = rows_converted(w, p, w->g->truth);
    }
    return rows_converted(w, rows_repeated(w, p, v->form, form), dtype);
}

tile_piece rows_mask(row_nest *w, const row_value *v, uint8_t form)
{
    const uint8_t more = form & (uint8_t)~v->form & ALONG_BOTH;
    if (v->role != ROW_SPLAT && v->piece.dtype == PTO_MASK && more == 0) return v->piece;
    const tile_piece p = rows_numbers(w, v, form, w->g->truth);
    const tile_attr differs = {PTO_STR("relation"), PTO_STR("ne")};
    return tile_emit_with(w->n, pto_kind(w->n->run, KIND_CMPS), differs, PTO_MASK, 1, &p, &zero);
}

tile_piece rows_bytes(row_nest *w, const row_value *v, uint8_t form)
{
    const uint8_t more = form & (uint8_t)~v->form & ALONG_BOTH;
    if (v->role != ROW_SPLAT && v->piece.dtype == PTO_BOOL && more == 0) return v->piece;
    return rows_converted(w, rows_numbers(w, v, form, w->g->truth), PTO_BOOL);
}

/* ---- ops ---- */

int rows_is_truth(const row_nest *w, const row_value *v)
{
    return v->dtype == PTO_BOOL || w->g->values[v->in[0]].dtype == PTO_BOOL;
}

/* The relation with the operands exchanged. */
static pto_str mirrored(pto_str relation)
{
    static const char *const pairs[][2] = {{"lt", "gt"}, {"gt", "lt"}, {"le", "ge"}, {"ge", "le"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pto_str_is(relation, pairs[i][0])) return pto_s(pairs[i][1]);
    return relation;
}

static tile_piece compare(row_nest *w, const row_value *v, const row_value *a, const row_value *b)
{
    const pto_run *run = w->n->run;
    tile_attr attr = rows_attr(run, v->op);
    if (a->role == ROW_SPLAT && b->role != ROW_SPLAT) {
        const row_value *left = a;
        a = b;
        b = left;
        attr.word = mirrored(attr.word);
    }
    const tile_piece pair[2] = {rows_widen(w, a, v->form),
                                b->role == ROW_SPLAT ? (tile_piece){.rows = 0} : rows_widen(w, b, v->form)};
    if (b->role == ROW_SPLAT)
        return tile_emit_with(w->n, rows_form(run, v->op, PTO_COLUMN_TILE_SCALAR_RIGHT), attr, PTO_MASK, 1, pair,
                              &b->number);
    return tile_emit_with(w->n, rows_form(run, v->op, PTO_COLUMN_TILE_WHOLE), attr, PTO_MASK, 2, pair, NULL);
}

static tile_piece choose(row_nest *w, const row_value *v)
{
    const row_value *values = w->g->values, *b = &values[v->in[2]];
    const pto_run *run = w->n->run;
    const tile_attr none = rows_attr(run, v->op);
    tile_piece in[3] = {rows_mask(w, &values[v->in[0]], v->form), rows_widen(w, &values[v->in[1]], v->form)};
    if (b->role == ROW_SPLAT)
        return tile_emit_with(w->n, rows_form(run, v->op, PTO_COLUMN_TILE_SCALAR_RIGHT), none, v->dtype, 2, in,
                              &b->number);
    in[2] = rows_widen(w, b, v->form);
    return tile_emit_with(w->n, rows_form(run, v->op, PTO_COLUMN_TILE_WHOLE), none, v->dtype, 3, in, NULL);
}

tile_piece rows_emit_truth(row_nest *w, const row_value *v)
{
    const pto_run *run = w->n->run;
    const row_value *a = &w->g->values[v->in[0]], *b = &w->g->values[v->in[1]];
    if (v->in_count == 3) return choose(w, v);
    if (PTO_IS(v->op, T_CAST)) return rows_numbers(w, a, v->form, v->dtype);
    if (a->dtype != PTO_BOOL) return compare(w, v, a, b);
    const tile_piece in[2] = {rows_mask(w, a, v->form),
                              v->in_count == 2 ? rows_mask(w, b, v->form) : (tile_piece){.rows = 0}};
    return tile_emit_with(w->n, rows_form(run, v->op, PTO_COLUMN_TILE_WHOLE), rows_attr(run, v->op), PTO_MASK,
                          v->in_count, in, NULL);
}
