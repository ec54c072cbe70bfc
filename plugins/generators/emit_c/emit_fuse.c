/* Runs of ops over one valid region as one nest: rows outside, and for each row as few sweeps along its columns as the
 * reductions between them allow. Values stay in vectors; what a later sweep needs is in a row of its tile's storage, or
 * is loaded again; only what is used elsewhere is stored as a tile.
 *
 * An op has a level: that of its operands, and one more after a reduction of the row. Sweep n runs the ops of level n
 * in the order of the program. An op whose result shares storage with other tiles has at least the level of all ops
 * before it, so that those have read what it overwrites. */
#include "emit_nest.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }
static int is_column(pto_value v) { return emit_columns(v) == 1; }
static int is_store(fused_kind k) { return k == FUSED_STORE || k == FUSED_ROW_STORE; }

static int shares_storage(emitter *e, pto_value v)
{
    const uint32_t i = storage_find_value(&e->source, v);
    return i == STORAGE_NONE || e->plan.values[i].ring != i;
}

/* ---- what can be fused ---- */

static int has_unit_columns(pto_value memory)
{
    const pto_type type = pto_value_type(memory);
    const uint32_t rank = pto_type_rank(type);
    int64_t n = 0;
    return rank >= 1 && pto_expr_is_const(pto_type_stride(type, rank - 1), &n) && n == 1;
}

static fused_kind kind_of_transfer(emitter *e, pto_op op)
{
    const int loads = EMIT_IS(e, op, LOAD);
    const pto_value tile = loads ? pto_op_result(op, 0) : pto_op_operand(op, 0);
    const pto_value memory = pto_op_operand(op, loads ? 0 : 1);
    if (PTO_SOME(pto_op_attr(op, PTO_STR("pad"))) || PTO_SOME(pto_op_attr(op, PTO_STR("scale"))) ||
        pto_attr_bool_of(op, PTO_STR("relu"), 0) || emit_lane_type(dtype_of(tile)) == NULL)
        return FUSED_NONE;
    if (!loads && dtype_of(tile) != dtype_of(memory)) return FUSED_NONE;
    if (!loads && emit_transpose_goes_out(e, pto_value_op(tile))) return FUSED_NONE;
    if (is_column(tile)) return loads ? FUSED_ROW_LOAD : FUSED_ROW_STORE;
    if (!emit_has_lanes(dtype_of(tile)) || pto_attr_bool_of(op, PTO_STR("transpose"), 0) || !has_unit_columns(memory))
        return FUSED_NONE;
    return loads ? FUSED_LOAD : FUSED_STORE;
}

static fused_kind kind_of_map(emitter *e, pto_op op)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const pto_value result = pto_op_result(op, 0);
    const uint32_t rule = emit_rule_of(op);
    const int is_of_row = is_column(result);
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const pto_value v = pto_op_operand(op, i);
        if (emit_lane_type(dtype_of(v)) == NULL) return FUSED_NONE;
        if (!is_of_row && storage_is_tile(v) && !emit_has_lanes(dtype_of(v))) return FUSED_NONE;
    }
    if (emit_lane_type(dtype_of(result)) == NULL) return FUSED_NONE;
    if (is_of_row)
        return rule != PTO_RULE_COL_BINARY && rule != PTO_RULE_COL_EXPAND && emit_formula(e, op, names) != NULL
                   ? FUSED_ROW_MAP
                   : FUSED_NONE;
    return emit_has_lanes(dtype_of(result)) && emit_vector_formula(e, op, names) != NULL ? FUSED_MAP : FUSED_NONE;
}

static fused_kind kind_of_column_reduce(emitter *e, pto_op op)
{
    const pto_value a = pto_op_operand(op, 0), result = pto_op_result(op, 0);
    pto_expr valid[2];
    int64_t n = 0;
    if (is_column(a) || !emit_has_lanes(dtype_of(a)) || dtype_of(a) == PTO_MASK || dtype_of(a) == PTO_BOOL ||
        dtype_of(a) != dtype_of(result) || shares_storage(e, result) || pto_value_valid(a, valid) != PTO_OK)
        return FUSED_NONE;
    return pto_expr_is_const(valid[0], &n) && n == 1 ? FUSED_NONE : FUSED_COLUMN_REDUCE;
}

/* Its kind and the region that it walks. */
static fused_kind classify(emitter *e, pto_op op, pto_expr region[2])
{
    fused_kind kind = FUSED_NONE;
    pto_value walked = pto_value_none(e->run);
    if (!storage_is_tile_op(op)) return FUSED_NONE;
    if (EMIT_IS(e, op, LOAD) || EMIT_IS(e, op, STORE)) {
        kind = kind_of_transfer(e, op);
        walked = EMIT_IS(e, op, LOAD) ? pto_op_result(op, 0) : pto_op_operand(op, 0);
    } else if (emit_rule_of(op) == PTO_RULE_ROW_REDUCE) {
        walked = pto_op_operand(op, 0);
        const int fits = !is_column(walked) && emit_has_lanes(dtype_of(walked)) && dtype_of(walked) != PTO_MASK;
        kind = fits ? FUSED_REDUCE : FUSED_NONE;
    } else if (emit_rule_of(op) == PTO_RULE_COL_REDUCE) {
        walked = pto_op_operand(op, 0);
        kind = kind_of_column_reduce(e, op);
    } else if (emit_is_map(op)) {
        kind = kind_of_map(e, op);
        walked = pto_op_result(op, 0);
    }
    if (kind == FUSED_NONE || pto_value_valid(walked, region) != PTO_OK) return FUSED_NONE;
    /* A tile of one column may hold none. */
    int64_t columns = 0;
    const int has_column = pto_expr_is_const(region[1], &columns) && columns == 1;
    return nest_is_row_kind(kind) && !has_column ? FUSED_NONE : kind;
}

/* ---- memory that two ops may share ---- */

static pto_value root_of(emitter *e, pto_value v)
{
    for (pto_op op = pto_value_op(v); PTO_SOME(op) && EMIT_IS(e, op, VIEW); op = pto_value_op(v))
        v = pto_op_operand(op, 0);
    return v;
}

/* Whether a launch passes the same memory for both parameters. */
static int may_overlap(emitter *e, pto_value a, pto_value b)
{
    const uint32_t rank = pto_attr_count(pto_op_attr(e->function, PTO_STR("grid")));
    const pto_str name = pto_function_name(e->function);
    if (a.index == b.index || PTO_SOME(pto_value_op(a)) || PTO_SOME(pto_value_op(b))) return 1;
    const uint32_t i = pto_value_index(a), k = pto_value_index(b);
    if (i < rank || k < rank) return 1;
    for (uint32_t n = 0; n < e->launch_count; n++) {
        const pto_op op = e->launches[n];
        if (!pto_str_same(pto_attr_str_of(op, PTO_STR("callee")), name)) continue;
        const pto_value x = root_of(e, pto_op_operand(op, i - rank)), y = root_of(e, pto_op_operand(op, k - rank));
        if (x.index == y.index) return 1;
    }
    return 0;
}

/* Whether both store to the same rows of one memory, each to columns of its own. */
static int are_beside(const fused_op *a, const fused_op *b)
{
    const pto_value memory = nest_memory_of(a);
    const uint32_t rank = pto_type_rank(pto_value_type(memory));
    pto_expr valid[2];
    int64_t apart = 0;
    if (a->kind != FUSED_STORE || b->kind != FUSED_STORE || memory.index != nest_memory_of(b).index) return 0;
    for (uint32_t d = 0; d + 1 < rank; d++)
        if (!pto_expr_equal(pto_expr_of(a->op, PTO_STR("offsets"), d), pto_expr_of(b->op, PTO_STR("offsets"), d)))
            return 0;
    const pto_expr first = pto_expr_of(a->op, PTO_STR("offsets"), rank - 1),
                   second = pto_expr_of(b->op, PTO_STR("offsets"), rank - 1);
    if (!pto_expr_is_const(pto_expr_sub(second, first), &apart)) return 0;
    if (pto_value_valid(pto_op_operand(apart > 0 ? a->op : b->op, 0), valid) != PTO_OK) return 0;
    return pto_expr_range(valid[1], a->op, NULL).hi <= (apart > 0 ? apart : -apart);
}

/* A load and a store, or two stores, of what may be the same memory do not share a nest. */
static int clashes(emitter *e, const emit_group *g, const fused_op *f)
{
    const pto_value memory = nest_memory_of(f);
    for (uint32_t i = 0; PTO_SOME(memory) && i < g->count; i++) {
        const pto_value other = nest_memory_of(&g->ops[i]);
        if (PTO_SOME(other) && (is_store(f->kind) || is_store(g->ops[i].kind)) && may_overlap(e, memory, other) &&
            !are_beside(&g->ops[i], f))
            return 1;
    }
    return 0;
}

/* ---- joining ---- */

static int is_made_inside(const emit_group *g, pto_value v)
{
    const pto_op def = pto_value_op(v);
    for (uint32_t i = 0; PTO_SOME(def) && i < g->count; i++)
        if (pto_op_same(g->ops[i].op, def)) return 1;
    return 0;
}

static int reads_inside(const emit_group *g, pto_op op)
{
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (is_made_inside(g, pto_op_operand(op, i))) return 1;
    return 0;
}

/* Row by row, a tile of one row that is spread down the columns is complete before the first row only when it is made
 * elsewhere. */
static int spreads_inside(const emit_group *g, pto_op op)
{
    const uint32_t rule = emit_rule_of(op);
    int64_t n = 0;
    const int is_binary = rule == PTO_RULE_COL_BINARY;
    if (!is_binary && rule != PTO_RULE_COL_EXPAND) return 0;
    if (pto_expr_is_const(g->rows, &n) && n == 1) return 0;
    return is_made_inside(g, pto_op_operand(op, is_binary ? 1 : 0));
}

static int fits(emitter *e, const emit_group *g, const fused_op *f, const pto_expr region[2])
{
    if (g->count == NEST_OPS_MAX || clashes(e, g, f) || !pto_expr_equal(g->rows, region[0])) return 0;
    if (spreads_inside(g, f->op)) return 0;
    return nest_is_row_kind(f->kind) || !g->has_columns || pto_expr_equal(g->columns, region[1]);
}

static void join(emit_group *g, const fused_op *f, const pto_expr region[2])
{
    if (g->count == 0) g->rows = region[0];
    if (!nest_is_row_kind(f->kind) && !g->has_columns) {
        g->columns = region[1];
        g->has_columns = 1;
    }
    g->ops[g->count++] = *f;
}

/* Whether an op of another region may run before the ops that wait: it depends on none, and disturbs none. */
static int may_go_before(emitter *e, const emit_group *g, const fused_op *f)
{
    return !is_store(f->kind) && !reads_inside(g, f->op) && !clashes(e, g, f) &&
           !shares_storage(e, pto_op_result(f->op, 0));
}

/* ---- tiles that stay in memory ---- */

/* What reads tiles from where they are. */
static int reads_windows(emitter *e, pto_op op)
{
    return EMIT_IS(e, op, TRANSPOSE) || EMIT_IS(e, op, ORDER) || EMIT_IS(e, op, ROWGATHER);
}

/* Whether all that uses a tile is in nests or reads windows, and nothing in the kernel writes what it is loaded from.
 */
static int needs_no_copy(emitter *e, pto_op load)
{
    const pto_value tile = pto_op_result(load, 0), memory = pto_op_operand(load, 0);
    pto_expr region[2];
    if (shares_storage(e, tile)) return 0;
    PTO_EACH_USE(tile, use)
        if (!reads_windows(e, use.op) && classify(e, use.op, region) == FUSED_NONE) return 0;
    PTO_WALK(e->function, op)
    if (EMIT_IS(e, op, STORE) && may_overlap(e, memory, pto_op_operand(op, 1))) return 0;
    return 1;
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

emit_group *emit_group_make(emitter *e)
{
    emit_group *g = PTO_SCRATCH(e->run, emit_group, 1);
    return g;
}

pto_status emit_group_take(emitter *e, emit_group *g, pto_op op, int *taken)
{
    pto_expr region[2];
    fused_op f = {.op = op};
    *taken = 0;
    if (!e->is_kernel || (f.kind = classify(e, op, region)) == FUSED_NONE) return PTO_OK;
    *taken = 1;
    if (f.kind == FUSED_LOAD && needs_no_copy(e, op)) return point_to(e, op);
    if (g->count != 0 && !fits(e, g, &f, region)) {
        if (may_go_before(e, g, &f)) {
            emit_group *alone = emit_group_make(e);
            join(alone, &f, region);
            return emit_group_end(e, alone);
        }
        PTO_TRY(emit_group_end(e, g));
    }
    join(g, &f, region);
    return PTO_OK;
}

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
        f->level = has_result && shares_storage(e, pto_op_result(f->op, 0)) ? most : 0;
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

pto_status emit_group_end(emitter *e, emit_group *g)
{
    if (g->count == 0) return PTO_OK;
    const uint32_t most = find_levels(e, g);
    find_crossings(e, g);
    emit_nest(e, g, most);
    *g = (emit_group){.count = 0};
    return PTO_OK;
}
