/* A sweep that trails: the last one of a row, where all it does is to bring to memory what the sweep before it left in
 * rows of scratch and in scalars. It runs within that sweep of the next row, an element ahead of what overwrites those,
 * and at the end once more, for the last row. So stores, which memory takes slowly, and quotients go on beside the work
 * of a whole sweep instead of coming all at once. Where a loop around runs nothing but the nest, the next row may be
 * one of its next trip, and the end comes after the loop. */
#include "emit_nest.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

/* ---- whether there is one ---- */

/* Whether the trailing sweep takes a value from where the sweep before left it. */
static int is_left_behind(emitter *e, emit_group *g, pto_value v, uint32_t most)
{
    const fused_op *from = nest_maker_of(g, v);
    if (from == NULL || emit_tile_window(e, v) != NULL || from->kind == FUSED_LOAD || from->is_cheap) return 0;
    if (from->level == most) return 1;
    return (from->kind == FUSED_REDUCE || from->is_crossing) && from->level + 1 == most && !from->is_kept;
}

/* An op of the last sweep: it stores, or takes such values alone. Streams are worth more than to trail where they begin
 * in the midst of lines, which depends on the row. */
static int op_may_trail(emitter *e, emit_group *g, const fused_op *f, uint32_t most)
{
    int64_t n = 0;
    const int is_uneven = pto_expr_is_const(g->columns, &n) && !nest_has_whole_vectors(g);
    if (f->kind == FUSED_STORE && is_uneven && emit_may_stream(e, nest_memory_of(f))) return 0;
    if (f->kind == FUSED_ROW_STORE || f->kind == FUSED_ROW_MAP) return 1;
    if (f->kind != FUSED_MAP && f->kind != FUSED_STORE) return 0;
    for (uint32_t k = 0; k < pto_op_operand_count(f->op); k++) {
        const pto_value v = pto_op_operand(f->op, k);
        if (storage_is_tile(v) && !is_left_behind(e, g, v, most)) return 0;
    }
    return 1;
}

int trail_is_possible(emitter *e, emit_group *g, uint32_t most)
{
    enum { COLUMNS_LEAST = 512 }; /* of what is shorter few are on their way at once */
    uint32_t stores = 0, before = 0;
    int64_t n = 0;
    if (most == 0 || !g->has_columns || nest_has_one_row(g)) return 0;
    if (pto_expr_is_const(g->columns, &n) && n < COLUMNS_LEAST) return 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        /* Rows that are left must stay as they are through all of the next row up to there. */
        if (f->kind == FUSED_COLUMN_REDUCE || f->is_kept || (f->is_crossing && f->level + 1 != most)) return 0;
        if (f->level == most && !op_may_trail(e, g, f, most)) return 0;
        before += !fused_is_of_row(f->kind) && f->kind != FUSED_LOAD && f->level + 1 == most;
        stores += f->level == most && f->kind == FUSED_STORE;
    }
    return stores != 0 && before > 1; /* a sweep that is more than a reduction of memory */
}

int trail_has(const emit_group *g, const fused_op *f)
{
    return g->trails && f->level == g->last && (f->kind == FUSED_MAP || f->kind == FUSED_STORE);
}

static int is_store(const emit_group *g, const fused_op *f) { return trail_has(g, f) && f->kind == FUSED_STORE; }

int trail_takes(emit_group *g, pto_value v, int as_bits)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        for (uint32_t k = 0; trail_has(g, f) && k < pto_op_operand_count(f->op); k++)
            if (pto_op_operand(f->op, k).index == v.index &&
                (as_bits ? nest_takes_bits(g, f, k) : nest_takes_number(g, f, k)))
                return 1;
    }
    return 0;
}

/* Whether a transfer must not come before a store of the trip before. */
static int waits_for_store(emitter *e, emit_group *g, const fused_op *f)
{
    const pto_value memory = nest_memory_of(f);
    if (!PTO_SOME(memory) || is_store(g, f)) return 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (is_store(g, &g->ops[i]) && fused_may_overlap(&e->model, memory, nest_memory_of(&g->ops[i]))) return 1;
    return 0;
}

/* Whether an op of the loop around only names what the nest takes: a number, or a pointer to what it reads. */
static int is_name(emitter *e, pto_op op)
{
    pto_expr region[2];
    return EMIT_IS(e, op, CONSTANT) || EMIT_IS(e, op, INDEX_CAST) || EMIT_IS(e, op, COMPARE) || EMIT_IS(e, op, YIELD) ||
           (fused_kind_of(&e->model, op, region, NULL) == FUSED_LOAD && fused_stays_in_memory(&e->model, op));
}

/* Whether an op takes one of those numbers, whose name is one within the loop; constants of f32 have none. */
static int takes_name(emitter *e, const fused_op *f, pto_block body)
{
    for (uint32_t k = 0; k < pto_op_operand_count(f->op); k++) {
        const pto_value v = pto_op_operand(f->op, k);
        const pto_op def = pto_value_op(v);
        if (!PTO_SOME(def) || storage_is_tile(v) || pto_op_block(def).index != body.index) continue;
        if (!EMIT_IS(e, def, CONSTANT) || dtype_of(v) != PTO_F32) return 1;
    }
    return 0;
}

/* Whether the row after the last one is the first of the next trip of the loop around, which runs nothing else. */
static int goes_on(emitter *e, emit_group *g)
{
    const pto_op loop = e->loop != NULL ? e->loop->op : pto_op_none(e->run);
    if (!PTO_SOME(loop) || pto_op_block(g->whole).index != pto_body(loop).index || pto_op_result_count(loop) != 0)
        return 0;
    PTO_EACH_OP(pto_body(loop), op)
        if (!pto_op_same(op, g->whole) && !is_name(e, op)) return 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (waits_for_store(e, g, f) || (trail_has(g, f) && takes_name(e, f, pto_body(loop)))) return 0;
    }
    return emit_is_known_around(e, g->columns);
}

/* ---- how it is written ---- */

/* The first of its stores: NULL before the first row. */
static const char *row_before(const emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (is_store(g, &g->ops[i])) return g->ops[i].before;
    return NULL;
}

void trail_declare(emitter *e, emit_group *g)
{
    g->goes_on = goes_on(e, g);
    text *const out = g->goes_on ? &e->loop->before : e->out;
    for (uint32_t i = 0; i < g->count; i++) {
        fused_op *f = &g->ops[i];
        if (f->kind == FUSED_REDUCE || f->kind == FUSED_ROW_MAP) {
            const pto_value result = pto_op_result(f->op, 0);
            if (trail_takes(g, result, 0))
                text_line(out, "%s %s = 0;", emit_lane_type(dtype_of(result)), nest_scalar_name(e, result));
            if (trail_takes(g, result, 1))
                text_line(out, "%s %s = 0;", emit_memory_type(dtype_of(result)), nest_bits_name(e, result));
        }
        if (!is_store(g, f)) continue;
        const pto_value memory = nest_memory_of(f);
        f->before = emit_format(e, "%sbefore_", f->memory);
        text_line(out, "%s *%s = NULL;", emit_memory_type(dtype_of(memory)), f->before);
        if (!emit_may_stream(e, memory)) continue;
        f->streams = emit_spare(e, "streams");
        text_line(out, "int %s = 0;", f->streams);
    }
}

static void put_ops(emitter *e, emit_group *g)
{
    const uint32_t sweep = g->sweep;
    g->sweep = g->last;
    g->declared_count = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        fused_op *f = &g->ops[i];
        const char *memory = f->memory;
        if (!trail_has(g, f)) continue;
        if (f->kind == FUSED_STORE) f->memory = f->before;
        nest_sweep_op(e, g, f);
        f->memory = memory;
    }
    g->declared_count = 0;
    g->sweep = sweep;
}

void trail_put(emitter *e, emit_group *g)
{
    text_open(e->out, "if (%s != NULL)", row_before(g));
    put_ops(e, g);
    text_close(e->out, " /* of the row before */");
}

void trail_end_row(emitter *e, emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (!is_store(g, f)) continue;
        text_line(e->out, "%s = &%s;", f->before, emit_window_at(e, &f->window, f->memory, g->row, "0"));
        if (f->streams != NULL)
            text_line(e->out, "%s = pto_streams(%s, %s);", f->streams, f->before, emit_is_large(e, nest_memory_of(f)));
    }
}

void trail_end(emitter *e, emit_group *g)
{
    text *const out = e->out;
    if (g->goes_on) e->out = &e->loop->after;
    text_open(e->out, "if (%s != NULL)", row_before(g));
    nest_open_sweep(e, g);
    put_ops(e, g);
    text_close(e->out, "");
    text_close(e->out, "");
    e->out = out;
}
