/* Runs of ops over one valid region as one nest: rows outside, and for each row as few sweeps along its columns as the
 * reductions between them allow. Values stay in vectors; what a later sweep needs is in a row of its tile's storage, or
 * is loaded again; only what is used elsewhere is stored as a tile.
 *
 * An op has a level: that of its operands, and one more after a reduction of the row. Sweep n runs the ops of level n
 * in the order of the program. An op whose result shares storage with other tiles has at least the level of all ops
 * before it, so that those have read what it overwrites. */
#include "emit.h"

enum { OPS_MAX = 96 };

typedef enum fused_kind {
    FUSED_NONE,
    FUSED_MAP,
    FUSED_LOAD,
    FUSED_STORE,
    FUSED_REDUCE,
    FUSED_ROW_MAP, /* of one column: a scalar for each row */
    FUSED_ROW_LOAD,
    FUSED_ROW_STORE
} fused_kind;

typedef struct fused_op {
    pto_op op;
    fused_kind kind;
    uint32_t level; /* of row kinds: the sweep that they are before */
    int is_kept, is_crossing;
    emit_window window;
    const char *memory; /* pointer to the window */
} fused_op;

struct emit_group {
    uint32_t count;
    int has_columns; /* an op of several columns has joined */
    pto_expr rows, columns;
    fused_op ops[OPS_MAX];
    const char *row; /* C of the row's index */
    uint32_t sweep;
    const char *tail;   /* C of the number of elements of the last vector; NULL: all */
    uint32_t *declared; /* handles of values that the sweep has in variables */
    uint32_t declared_count;
};

static uint32_t rule_of(pto_op op) { return (uint32_t)pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_RULE); }
static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }
static int is_column(pto_value v) { return emit_columns(v) == 1; }
static int is_row_kind(fused_kind k) { return k >= FUSED_ROW_MAP; }

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
    if (is_column(tile)) return loads ? FUSED_ROW_LOAD : FUSED_ROW_STORE;
    if (!emit_has_lanes(dtype_of(tile)) || pto_attr_bool_of(op, PTO_STR("transpose"), 0) || !has_unit_columns(memory))
        return FUSED_NONE;
    return loads ? FUSED_LOAD : FUSED_STORE;
}

static fused_kind kind_of_map(emitter *e, pto_op op)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const pto_value result = pto_op_result(op, 0);
    const uint32_t rule = rule_of(op);
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

/* Its kind and the region that it walks. */
static fused_kind classify(emitter *e, pto_op op, pto_expr region[2])
{
    fused_kind kind = FUSED_NONE;
    pto_value walked = pto_value_none(e->run);
    if (!storage_is_tile_op(op)) return FUSED_NONE;
    if (EMIT_IS(e, op, LOAD) || EMIT_IS(e, op, STORE)) {
        kind = kind_of_transfer(e, op);
        walked = EMIT_IS(e, op, LOAD) ? pto_op_result(op, 0) : pto_op_operand(op, 0);
    } else if (rule_of(op) == PTO_RULE_ROW_REDUCE) {
        walked = pto_op_operand(op, 0);
        const int fits = !is_column(walked) && emit_has_lanes(dtype_of(walked)) && dtype_of(walked) != PTO_MASK;
        kind = fits ? FUSED_REDUCE : FUSED_NONE;
    } else if (emit_is_map(e, op)) {
        kind = kind_of_map(e, op);
        walked = pto_op_result(op, 0);
    }
    if (kind == FUSED_NONE || pto_value_valid(walked, region) != PTO_OK) return FUSED_NONE;
    /* A tile of one column may hold none. */
    int64_t columns = 0;
    const int has_column = pto_expr_is_const(region[1], &columns) && columns == 1;
    return is_row_kind(kind) && !has_column ? FUSED_NONE : kind;
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
    PTO_WALK(pto_op_none(e->run), op)
    {
        if (!EMIT_IS(e, op, LAUNCH) || !pto_str_same(pto_attr_str_of(op, PTO_STR("callee")), name)) continue;
        const pto_value x = root_of(e, pto_op_operand(op, i - rank)), y = root_of(e, pto_op_operand(op, k - rank));
        if (x.index == y.index) return 1;
    }
    return 0;
}

static pto_value memory_of(const fused_op *f)
{
    switch (f->kind) {
    case FUSED_LOAD:
    case FUSED_ROW_LOAD: return pto_op_operand(f->op, 0);
    case FUSED_STORE:
    case FUSED_ROW_STORE: return pto_op_operand(f->op, 1);
    default: return pto_value_none(f->op.run);
    }
}

static int is_store(fused_kind k) { return k == FUSED_STORE || k == FUSED_ROW_STORE; }

/* A load and a store, or two stores, of what may be the same memory do not share a nest. */
static int clashes(emitter *e, const emit_group *g, const fused_op *f)
{
    const pto_value memory = memory_of(f);
    for (uint32_t i = 0; PTO_SOME(memory) && i < g->count; i++) {
        const pto_value other = memory_of(&g->ops[i]);
        if (PTO_SOME(other) && (is_store(f->kind) || is_store(g->ops[i].kind)) && may_overlap(e, memory, other))
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
    const uint32_t rule = rule_of(op);
    int64_t n = 0;
    const int is_binary = rule == PTO_RULE_COL_BINARY;
    if (!is_binary && rule != PTO_RULE_COL_EXPAND) return 0;
    if (pto_expr_is_const(g->rows, &n) && n == 1) return 0;
    return is_made_inside(g, pto_op_operand(op, is_binary ? 1 : 0));
}

static int fits(emitter *e, const emit_group *g, const fused_op *f, const pto_expr region[2])
{
    if (g->count == OPS_MAX || clashes(e, g, f) || !pto_expr_equal(g->rows, region[0])) return 0;
    if (spreads_inside(g, f->op)) return 0;
    return is_row_kind(f->kind) || !g->has_columns || pto_expr_equal(g->columns, region[1]);
}

static void join(emit_group *g, const fused_op *f, const pto_expr region[2])
{
    if (g->count == 0) g->rows = region[0];
    if (!is_row_kind(f->kind) && !g->has_columns) {
        g->columns = region[1];
        g->has_columns = 1;
    }
    g->ops[g->count++] = *f;
}

static int shares_storage(emitter *e, pto_value v)
{
    const uint32_t i = storage_find_value(&e->source, v);
    return i == STORAGE_NONE || e->plan.values[i].ring != i;
}

/* Whether an op of another region may run before the ops that wait: it depends on none, and disturbs none. */
static int may_go_before(emitter *e, const emit_group *g, const fused_op *f)
{
    return !is_store(f->kind) && !reads_inside(g, f->op) && !clashes(e, g, f) &&
           !shares_storage(e, pto_op_result(f->op, 0));
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

static fused_op *maker_of(emit_group *g, pto_value v)
{
    const pto_op def = pto_value_op(v);
    for (uint32_t i = 0; PTO_SOME(def) && i < g->count; i++)
        if (pto_op_same(g->ops[i].op, def)) return &g->ops[i];
    return NULL;
}

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
            const fused_op *from = maker_of(g, pto_op_operand(f->op, k));
            const uint32_t level = from == NULL ? 0 : from->level + (from->kind == FUSED_REDUCE);
            if (level > f->level) f->level = level;
        }
        f->is_kept = has_result && is_used_outside(g, pto_op_result(f->op, 0));
        if (f->level > most) most = f->level;
    }
    return most;
}

/* What is computed and used in a later sweep is kept in a row; what is loaded is loaded again, since no store of the
 * nest is to the same memory. */
static void find_crossings(emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < pto_op_operand_count(g->ops[i].op); k++) {
            fused_op *from = maker_of(g, pto_op_operand(g->ops[i].op, k));
            if (from != NULL && from->kind == FUSED_MAP && from->level < g->ops[i].level) from->is_crossing = 1;
        }
}

/* ---- variables ---- */

static const char *vector_name(emitter *e, pto_value v) { return emit_format(e, "%s_v_", emit_value(e, v)); }
static const char *scalar_name(emitter *e, pto_value v) { return emit_format(e, "%s_r_", emit_value(e, v)); }

/* ` / * place path * /` at the end of a line. */
static const char *remark(emitter *e, pto_op op) { return emit_format(e, " /* %s */", emit_place(e, op)); }

/* Where the vector at column j_ of a tile is; `is_row`: one row is all that there is. */
static const char *place_in_tile(emitter *e, const emit_group *g, pto_value v, int is_row)
{
    const char *name = emit_tile(e, v);
    if (is_row || strcmp(g->row, "0") == 0) return emit_format(e, "%s + j_", name);
    return emit_format(e, "%s + %s * %lld + j_", name, g->row, (long long)emit_columns(v));
}

static const char *place_in_memory(emitter *e, const emit_group *g, const fused_op *f)
{
    if (strcmp(g->row, "0") == 0) return emit_format(e, "%s + j_", f->memory);
    const char *stride = f->window.row_stride;
    return emit_format(e, strpbrk(stride, "+-") != NULL ? "%s + %s * (%s) + j_" : "%s + %s * %s + j_", f->memory,
                       g->row, stride);
}

static int is_declared(const emit_group *g, pto_value v)
{
    for (uint32_t i = 0; i < g->declared_count; i++)
        if (g->declared[i] == v.index) return 1;
    return 0;
}

static void declare(emitter *e, emit_group *g, pto_value v, const char *value, pto_op op)
{
    const pto_dtype t = dtype_of(v);
    emit_line(e, "const %s %s = %s;%s", emit_vector_type(t), vector_name(e, v), value,
              PTO_SOME(op) ? remark(e, op) : "");
    g->declared[g->declared_count++] = v.index;
}

/* The vector of an operand, which is loaded when the sweep does not have it yet. */
static const char *vector_of(emitter *e, emit_group *g, pto_value v, int is_row)
{
    if (is_declared(g, v)) return vector_name(e, v);
    fused_op *from = maker_of(g, v);
    const char *at = from != NULL && from->kind == FUSED_LOAD
                         ? place_in_memory(e, g, from)
                         : place_in_tile(e, g, v, is_row || (from != NULL && !from->is_kept));
    declare(e, g, v, emit_vector_load(e, dtype_of(v), at, g->tail), pto_op_none(e->run));
    return vector_name(e, v);
}

/* The scalar of a tile of one column in this row. */
static const char *scalar_of(emitter *e, emit_group *g, pto_value v)
{
    return maker_of(g, v) != NULL ? scalar_name(e, v) : emit_read(e, dtype_of(v), emit_at(e, v, g->row, "0"));
}

static const char *operand_vector(emitter *e, emit_group *g, pto_op op, uint32_t i)
{
    const uint32_t rule = rule_of(op);
    const pto_value v = pto_op_operand(op, i);
    if (!storage_is_tile(v)) {
        const pto_dtype t = rule == PTO_RULE_FILL || rule == PTO_RULE_SELECT_SCALAR ? dtype_of(pto_op_result(op, 0))
                                                                                    : dtype_of(pto_op_operand(op, 0));
        return emit_splat(e, t, emit_scalar_as(e, op, i, t, emit_value(e, v)));
    }
    if (is_column(v)) return emit_splat(e, dtype_of(v), scalar_of(e, g, v));
    const int is_row = (rule == PTO_RULE_COL_BINARY && i == 1) || rule == PTO_RULE_COL_EXPAND;
    return vector_of(e, g, v, is_row);
}

/* ---- a sweep ---- */

static const char *total_name(emitter *e, const fused_op *f)
{
    return emit_format(e, "%s_all_", emit_value(e, pto_op_result(f->op, 0)));
}

static void sweep_reduce(emitter *e, emit_group *g, const fused_op *f)
{
    const pto_value a = pto_op_operand(f->op, 0);
    const pto_dtype t = dtype_of(a);
    const char *x = vector_of(e, g, a, 0), *all = total_name(e, f);
    if (g->tail != NULL)
        x = emit_format(e, "pto_select_%s(first_, %s, %s)", emit_vector_type(t) + 4, x,
                        emit_splat(e, t, emit_reduce_start(e, f->op, "1")));
    emit_line(e, "%s = %s;%s", all, emit_vector_step(e, f->op, all, x), remark(e, f->op));
}

static void sweep_op(emitter *e, emit_group *g, const fused_op *f)
{
    const char *x[4] = {NULL};
    if (f->kind == FUSED_REDUCE) {
        sweep_reduce(e, g, f);
        return;
    }
    if (f->kind == FUSED_STORE) {
        const pto_value tile = pto_op_operand(f->op, 0);
        const char *value = vector_of(e, g, tile, 0);
        emit_line(e, "%s%s", emit_vector_store(e, dtype_of(tile), place_in_memory(e, g, f), value, g->tail),
                  remark(e, f->op));
        return;
    }
    const pto_value result = pto_op_result(f->op, 0);
    if (f->kind == FUSED_LOAD) {
        declare(e, g, result, emit_vector_load(e, dtype_of(result), place_in_memory(e, g, f), g->tail), f->op);
    } else {
        for (uint32_t i = 0; i < pto_op_operand_count(f->op) && i < 4; i++) x[i] = operand_vector(e, g, f->op, i);
        declare(e, g, result, emit_vector_formula(e, f->op, x), f->op);
    }
    if (f->is_kept || f->is_crossing)
        emit_line(e, "%s",
                  emit_vector_store(e, dtype_of(result), place_in_tile(e, g, result, !f->is_kept),
                                    vector_name(e, result), g->tail));
}

static void sweep_body(emitter *e, emit_group *g, const char *tail)
{
    int reduces = 0;
    g->tail = tail;
    g->declared_count = 0;
    for (uint32_t i = 0; i < g->count; i++) reduces |= g->ops[i].kind == FUSED_REDUCE && g->ops[i].level == g->sweep;
    if (tail != NULL && reduces)
        emit_line(e, "const pto_mask first_ = pto_gt_i32(pto_splat_i32((int)%s), pto_lane_numbers());", tail);
    for (uint32_t i = 0; i < g->count; i++)
        if (!is_row_kind(g->ops[i].kind) && g->ops[i].level == g->sweep) sweep_op(e, g, &g->ops[i]);
    g->tail = NULL;
}

/* What follows the sums of a sweep: scalars of the row. */
static void end_reductions(emitter *e, emit_group *g, const char *columns)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (f->kind != FUSED_REDUCE || f->level != g->sweep) continue;
        const pto_value result = pto_op_result(f->op, 0);
        const pto_dtype t = dtype_of(result);
        const char *total = emit_vector_total(e, f->op, total_name(e, f));
        const char *of_none = emit_reduce_start(e, f->op, "0"), *of_some = emit_reduce_start(e, f->op, "1");
        if (strcmp(of_none, of_some) != 0 && pto_expr_range(g->columns, f->op, NULL).lo < 1)
            total = emit_format(e, "%s == 0 ? %s : %s", columns, of_none, total);
        emit_line(e, "const %s %s = %s;", emit_lane_type(t), scalar_name(e, result), total);
        if (f->is_kept)
            emit_line(e, "%s = %s;", emit_at(e, result, g->row, "0"), emit_write(e, t, scalar_name(e, result)));
    }
}

static void put_sweep(emitter *e, emit_group *g)
{
    const char *columns = emit_index(e, g->columns);
    int64_t n = 1;
    int is_empty = 1;
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (is_row_kind(f->kind) || f->level != g->sweep) continue;
        is_empty = 0;
        if (f->kind != FUSED_REDUCE) continue;
        const pto_dtype t = dtype_of(pto_op_operand(f->op, 0));
        emit_line(e, "%s %s = %s;", emit_vector_type(t), total_name(e, f),
                  emit_splat(e, t, emit_reduce_start(e, f->op, "1")));
    }
    if (is_empty) return;
    const int is_const = pto_expr_is_const(g->columns, &n);
    if (!is_const || n >= 4) { /* a vector has 4 lanes or more */
        emit_open(e, "for (int64_t j_ = 0; j_ + PTO_LANES <= %s; j_ += PTO_LANES)", columns);
        sweep_body(e, g, NULL);
        emit_close(e, "");
    }
    if (!is_const || n % 16 != 0) {
        emit_open(e, "if (%s %% PTO_LANES != 0)",
                  strpbrk(columns, "+-*") != NULL ? emit_format(e, "(%s)", columns) : columns);
        emit_line(e, "const int64_t n_ = (%s) %% PTO_LANES, j_ = (%s) - n_;", columns, columns);
        sweep_body(e, g, "n_");
        emit_close(e, "");
    }
    end_reductions(e, g, columns);
}

/* ---- scalars of a row ---- */

static void put_row_op(emitter *e, emit_group *g, const fused_op *f)
{
    const char *x[4] = {NULL};
    if (f->kind == FUSED_ROW_STORE) {
        const pto_value tile = pto_op_operand(f->op, 0);
        emit_line(e, "%s = %s;%s", emit_window_at(e, &f->window, f->memory, g->row, "0"),
                  emit_write(e, dtype_of(tile), scalar_of(e, g, tile)), remark(e, f->op));
        return;
    }
    const pto_value result = pto_op_result(f->op, 0);
    const pto_dtype t = dtype_of(result);
    const char *value;
    if (f->kind == FUSED_ROW_LOAD) {
        value = emit_read(e, t, emit_window_at(e, &f->window, f->memory, g->row, "0"));
    } else {
        for (uint32_t i = 0; i < pto_op_operand_count(f->op) && i < 4; i++) {
            const pto_value v = pto_op_operand(f->op, i);
            x[i] = storage_is_tile(v) ? scalar_of(e, g, v) : emit_value(e, v);
        }
        value = emit_formula(e, f->op, x);
    }
    emit_line(e, "const %s %s = %s;%s", emit_lane_type(t), scalar_name(e, result), value, remark(e, f->op));
    if (f->is_kept) emit_line(e, "%s = %s;", emit_at(e, result, g->row, "0"), emit_write(e, t, scalar_name(e, result)));
}

/* ---- the nest ---- */

static void open_windows(emitter *e, emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        fused_op *f = &g->ops[i];
        const pto_value memory = memory_of(f);
        if (!PTO_SOME(memory)) continue;
        const int stores = is_store(f->kind);
        const pto_value tile = stores ? pto_op_operand(f->op, 0) : pto_op_result(f->op, 0);
        pto_expr size[2];
        if (pto_value_valid(tile, size) != PTO_OK) continue;
        emit_window_open(e, f->op, memory, size, !stores && pto_attr_bool_of(f->op, PTO_STR("transpose"), 0),
                         &f->window);
        f->memory = emit_spare(e, stores ? "to" : "from");
        emit_line(e, "%s%s *const %s = %s;", stores ? "" : "const ", emit_memory_type(dtype_of(memory)), f->memory,
                  f->window.base);
    }
}

pto_status emit_group_end(emitter *e, emit_group *g)
{
    int64_t n = 0;
    if (g->count == 0) return PTO_OK;
    const uint32_t most = find_levels(e, g);
    find_crossings(g);
    const int is_one_row = pto_expr_is_const(g->rows, &n) && n == 1;
    uint32_t operands = 0;
    for (uint32_t i = 0; i < g->count; i++) operands += pto_op_operand_count(g->ops[i].op) + 1;
    g->declared = PTO_SCRATCH(e->run, uint32_t, operands);
    g->row = is_one_row ? "0" : "i_";
    emit_open_block(e);
    open_windows(e, g);
    if (!is_one_row) emit_open(e, "for (int64_t i_ = 0; i_ < %s; i_++)", emit_index(e, g->rows));
    for (g->sweep = 0; g->sweep <= most; g->sweep++) {
        for (uint32_t i = 0; i < g->count; i++)
            if (is_row_kind(g->ops[i].kind) && g->ops[i].level == g->sweep) put_row_op(e, g, &g->ops[i]);
        if (g->has_columns) put_sweep(e, g);
    }
    if (!is_one_row) emit_close(e, "");
    emit_close(e, "");
    *g = (emit_group){.count = 0};
    return PTO_OK;
}
