/* A region of ops, or an op alone, as one nest: rows outside, and for each row as few sweeps along its columns as the
 * reductions between them allow. Values stay in vectors; what a later sweep needs is in a row of its tile's storage, or
 * is loaded again; only what is used elsewhere is stored as a tile.
 *
 * An op has a level: that of its operands, and one more after a reduction of the row. Sweep n runs the ops of level n
 * in the order of the program. An op whose result shares storage with other tiles has at least the level of all ops
 * before it, so that those have read what it overwrites. */
#include "emit_nest.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }
static int is_column(pto_value v) { return emit_columns(v) == 1; }

/* ---- levels ---- */

static int is_used_outside(emit_group *g, pto_value v)
{
    PTO_EACH_USE(v, use) {
        int is_inside = 0;
        for (uint32_t i = 0; i < g->count && !is_inside; i++) is_inside = pto_op_same(g->ops[i].op, use.op);
        if (!is_inside) return 1;
    }
    return 0;
}

static uint32_t find_levels(emitter *e, emit_group *g)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        fused_op *f = &g->ops[i];
        const int has_result = pto_op_result_count(f->op) != 0;
        f->level = has_result && fused_shares_storage(&e->model, pto_op_result(f->op, 0)) ? most : 0;
        for (uint32_t k = 0; k < pto_op_operand_count(f->op); k++) {
            const fused_op *from = nest_maker_of(g, pto_op_operand(f->op, k));
            const uint32_t level = from == NULL ? 0 : from->level + (from->kind == FUSED_REDUCE);
            if (level > f->level) f->level = level;
        }
        f->is_kept = has_result && is_used_outside(g, pto_op_result(f->op, 0));
        if (f->level > most) most = f->level;
    }
    return most;
}

int nest_is_one_step(pto_op op)
{
    static const char *const stems[] = {"add", "sub", "mul", "neg", "abs", NULL};
    const pto_str stem = emit_stem(op);
    uint32_t n = 0;
    while (stems[n] != NULL && !pto_str_is(stem, stems[n])) n++;
    return stems[n] != NULL && dtype_of(pto_op_result(op, 0)) == PTO_F32;
}

/* One operation on what is at hand in any sweep: rows in memory that nothing writes, and scalars. */
static int is_cheap(emitter *e, emit_group *g, const fused_op *f)
{
    if (f->kind != FUSED_MAP || f->is_kept || !nest_is_one_step(f->op)) return 0;
    for (uint32_t i = 0; i < pto_op_operand_count(f->op); i++) {
        const pto_value v = pto_op_operand(f->op, i);
        const fused_op *from = nest_maker_of(g, v);
        if (!storage_is_tile(v) || emit_tile_window(e, v) != NULL) continue;
        if (from == NULL || !(from->kind == FUSED_LOAD || is_column(v) || from->is_cheap)) return 0;
    }
    return 1;
}

/* What is computed and used in a later sweep is kept in a row, or computed again; what is loaded is loaded again, since
 * no store of the nest is to the same memory. */
static void find_crossings(emitter *e, emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) g->ops[i].is_cheap = is_cheap(e, g, &g->ops[i]);
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < pto_op_operand_count(g->ops[i].op); k++) {
            fused_op *from = nest_maker_of(g, pto_op_operand(g->ops[i].op, k));
            const int crosses = from != NULL && from->kind == FUSED_MAP && from->level < g->ops[i].level;
            if (crosses && !from->is_cheap) from->is_crossing = 1;
        }
}

/* Whether all that the nest reads of a tile is read before a vector of what an op makes is stored over it. */
static int is_read_before(emitter *e, emit_group *g, pto_value tile, const fused_op *f)
{
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < pto_op_operand_count(g->ops[i].op); k++) {
            const fused_op *by = &g->ops[i];
            if (!emit_tiles_share(e, pto_op_operand(by->op, k), tile)) continue;
            const int is_in_place =
                by->kind == FUSED_REDUCE || (by->kind == FUSED_MAP && !fused_repeats_row(by->op, k));
            if (!is_in_place || by->level > f->level || (by->level == f->level && by > f)) return 0;
        }
    return 1;
}

/* A tile that the nest reads last has its place taken by one that it makes of it: caches hold fewer bytes, and have
 * those that are stored. */
static void take_places(emitter *e, emit_group *g, pto_op whole)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (f->kind != FUSED_MAP || !f->is_kept || is_column(pto_op_result(f->op, 0))) continue;
        int is_taken = 0;
        for (uint32_t n = 0; n < g->count && !is_taken; n++)
            for (uint32_t k = 0; k < pto_op_operand_count(g->ops[n].op) && !is_taken; k++) {
                const pto_value v = pto_op_operand(g->ops[n].op, k);
                if (!storage_is_tile(v) || nest_maker_of(g, v) != NULL || emit_tile_window(e, v) != NULL) continue;
                is_taken = is_read_before(e, g, v, f) && emit_tile_take(e, pto_op_result(f->op, 0), v, whole);
            }
    }
}

/* Writes ops that go together, `whole` or the ops inside of it. */
static void put_run(emitter *e, const fused_run *r, pto_op whole)
{
    emit_group g = {
        .whole = whole, .count = r->count, .has_columns = r->has_columns, .rows = r->rows, .columns = r->columns};
    g.ops = PTO_SCRATCH(e->run, fused_op, r->count);
    for (uint32_t i = 0; i < r->count; i++) g.ops[i] = (fused_op){.op = r->members[i].op, .kind = r->members[i].kind};
    const uint32_t most = find_levels(e, &g);
    find_crossings(e, &g);
    nest_find_moves(&g);
    take_places(e, &g, whole);
    emit_nest(e, &g, most);
}

pto_status emit_fused(emitter *e, pto_op fused)
{
    fused_run r = {.count = 0};
    pto_op bad = fused;
    const char *why = fused_run_read(&e->model, fused, &r, &bad);
    if (why != NULL) return emit_refuse(bad, why);
    if (r.count != 0) put_run(e, &r, fused);
    return PTO_OK;
}

static pto_status point_to(emitter *e, pto_op load)
{
    const pto_value tile = pto_op_result(load, 0), memory = pto_op_operand(load, 0);
    pto_expr size[2];
    emit_window w;
    PTO_TRY(pto_value_valid(tile, size));
    emit_window_open(e, load, memory, size, 0, &w);
    text_line(e->out, "const %s *const %s = %s;%s", emit_memory_type(dtype_of(memory)), emit_value(e, tile), w.base,
              emit_remark(e, load));
    emit_tile_stays(e, tile, &w);
    return PTO_OK;
}

pto_status emit_alone(emitter *e, pto_op op, int *taken)
{
    pto_expr region[2];
    const fused_member f = {op, fused_kind_of(&e->model, op, region, NULL)};
    fused_run r = {.count = 0};
    *taken = f.kind != FUSED_NONE;
    if (!*taken) return PTO_OK;
    if (f.kind == FUSED_LOAD && fused_stays_in_memory(&e->model, op)) return point_to(e, op);
    fused_run_join(&e->model, &r, &f, region);
    put_run(e, &r, op);
    return PTO_OK;
}
