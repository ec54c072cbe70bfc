/* A nest in C: a loop over rows, in it for each level the scalars of the row and a sweep along its columns. */
#include "emit_nest.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }
static int is_column(pto_value v) { return emit_columns(v) == 1; }

fused_op *nest_maker_of(emit_group *g, pto_value v)
{
    const pto_op def = pto_value_op(v);
    for (uint32_t i = 0; PTO_SOME(def) && i < g->count; i++)
        if (pto_op_same(g->ops[i].op, def)) return &g->ops[i];
    return NULL;
}

/* ---- variables ---- */

static const char *vector_name(emitter *e, pto_value v) { return emit_format(e, "%s_v_", emit_value(e, v)); }
const char *nest_scalar_name(emitter *e, pto_value v) { return emit_format(e, "%s_r_", emit_value(e, v)); }
const char *nest_bits_name(emitter *e, pto_value v) { return emit_format(e, "%s_b_", emit_value(e, v)); }
static const char *row_name(emitter *e, pto_value v) { return emit_format(e, "%s_i_", emit_value(e, v)); }

int nest_has_one_row(const emit_group *g) { return strcmp(g->row, "0") == 0; }

/* Where the row of a tile is; `is_row`: one row is all that there is. */
static const char *row_of_tile(emitter *e, const emit_group *g, pto_value v, int is_row)
{
    const emit_window *loaded = emit_tile_window(e, v);
    if (is_row || nest_has_one_row(g)) return loaded != NULL ? emit_value(e, v) : emit_tile(e, v);
    if (loaded != NULL) return row_name(e, v);
    return emit_format(e, "%s + %s * %lld", emit_tile(e, v), g->row, (long long)emit_columns(v));
}

/* Values that the sweep has in variables, as numbers and as bits. */
static uint32_t form_of(pto_value v, int as_bits) { return 2 * v.index + (uint32_t)as_bits; }
static pto_dtype form_type(pto_value v, int as_bits) { return as_bits ? emit_moved_type(dtype_of(v)) : dtype_of(v); }

static int is_declared(const emit_group *g, pto_value v, int as_bits)
{
    for (uint32_t i = 0; i < g->declared_count; i++)
        if (g->declared[i] == form_of(v, as_bits)) return 1;
    return 0;
}

static void note_declared(emit_group *g, pto_value v, int as_bits)
{
    g->declared[g->declared_count++] = form_of(v, as_bits);
}

static void declare(emitter *e, emit_group *g, pto_value v, int as_bits, const char *value, pto_op op)
{
    text_line(e->out, "const %s %s = %s;%s", emit_vector_type(form_type(v, as_bits)),
              as_bits ? nest_bits_name(e, v) : vector_name(e, v), emit_bare(e, value),
              PTO_SOME(op) ? emit_remark(e, op) : "");
    note_declared(g, v, as_bits);
}

static void sweep_map(emitter *e, emit_group *g, const fused_op *f, pto_op remarked);

/* Where the row of an operand is. */
static const char *row_of_operand(emitter *e, emit_group *g, pto_value v, int is_row)
{
    const fused_op *from = nest_maker_of(g, v);
    if (from != NULL && from->kind == FUSED_LOAD) return from->memory;
    return row_of_tile(e, g, v, is_row || (from != NULL && !from->is_kept));
}

/* The vector of an operand, which is loaded or computed again when the sweep does not have it yet. */
static const char *form_in_sweep(emitter *e, emit_group *g, pto_value v, int is_row, int as_bits)
{
    if (is_declared(g, v, as_bits)) return as_bits ? nest_bits_name(e, v) : vector_name(e, v);
    const fused_op *from = nest_maker_of(g, v);
    if (from != NULL && from->is_cheap) {
        sweep_map(e, g, from, pto_op_none(e->run));
        return vector_name(e, v);
    }
    const char *at = emit_format(e, "%s + j_", row_of_operand(e, g, v, is_row));
    declare(e, g, v, as_bits, emit_vector_load(e, form_type(v, as_bits), at, g->tail), pto_op_none(e->run));
    return as_bits ? nest_bits_name(e, v) : vector_name(e, v);
}

static const char *vector_of(emitter *e, emit_group *g, pto_value v, int is_row)
{
    return form_in_sweep(e, g, v, is_row, 0);
}

/* The same as it moves. */
static const char *bits_of(emitter *e, emit_group *g, pto_value v, int is_row)
{
    if (is_declared(g, v, 1) || nest_has_bits(g, v) || !is_declared(g, v, 0)) return form_in_sweep(e, g, v, is_row, 1);
    return emit_format(e, "pto_bits_%s(%s)", pto_dtype_name(dtype_of(v)), vector_name(e, v));
}

static const char *scalar_bits(emitter *e, emit_group *g, pto_value v)
{
    return nest_has_bits(g, v) ? nest_bits_name(e, v) : emit_write(e, dtype_of(v), nest_scalar_name(e, v));
}

static const char *operand_bits(emitter *e, emit_group *g, pto_op op, uint32_t i)
{
    const pto_value v = pto_op_operand(op, i);
    const pto_dtype t = emit_moved_type(dtype_of(pto_op_result(op, 0)));
    if (!storage_is_tile(v)) return emit_splat(e, t, emit_moved_scalar(e, op, i));
    if (is_column(v)) return emit_splat(e, t, scalar_bits(e, g, v));
    return bits_of(e, g, v, fused_repeats_row(op, i));
}

static const char *operand_vector(emitter *e, emit_group *g, pto_op op, uint32_t i)
{
    const uint32_t rule = emit_rule_of(op);
    const pto_value v = pto_op_operand(op, i);
    if (!storage_is_tile(v)) {
        const pto_dtype t = rule == PTO_RULE_FILL || rule == PTO_RULE_SELECT_SCALAR ? dtype_of(pto_op_result(op, 0))
                                                                                    : dtype_of(pto_op_operand(op, 0));
        return emit_splat(e, t, emit_scalar_as(e, op, i, t, emit_value(e, v)));
    }
    if (is_column(v)) return emit_splat(e, dtype_of(v), nest_scalar_name(e, v));
    return vector_of(e, g, v, fused_repeats_row(op, i));
}

/* ---- a sweep ---- */

static int is_in_sweep(const emit_group *g, const fused_op *f)
{
    return !fused_is_of_row(f->kind) && f->level == g->sweep;
}

static const char *total_name(emitter *e, const fused_op *f)
{
    return emit_format(e, "%s_all_", emit_value(e, pto_op_result(f->op, 0)));
}

/* Whether a sum goes on in two: where the sweep does so little that it would wait for the additions. */
static int sums_in_turn(const emit_group *g, const fused_op *f)
{
    const pto_str name = pto_op_name(f->op);
    if (dtype_of(pto_op_operand(f->op, 0)) != PTO_F32 || name.n < 3 || memcmp(name.p + name.n - 3, "sum", 3) != 0)
        return 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->ops[i].kind == FUSED_MAP && g->ops[i].level == f->level && !nest_is_one_step(g->ops[i].op)) return 0;
    return 1;
}

static void sweep_reduce(emitter *e, emit_group *g, const fused_op *f)
{
    const pto_value a = pto_op_operand(f->op, 0);
    const pto_dtype t = dtype_of(a);
    const char *x = vector_of(e, g, a, 0), *all = total_name(e, f);
    if (g->tail != NULL)
        x = emit_format(e, "pto_first_%s_tail(%s, %s, %s)", emit_vector_type(t) + 4, x,
                        emit_reduce_start(e, f->op, "1"), g->tail);
    const char *extreme = emit_extreme(f->op);
    const char *step = extreme != NULL      ? emit_format(e, "pto_extreme_%s(%s, %s)", extreme, all, x)
                       : sums_in_turn(g, f) ? emit_format(e, "pto_sums_with(%s, %s)", all, x)
                                            : emit_vector_step(e, f->op, all, x);
    text_line(e->out, "%s = %s;%s", all, step, emit_remark(e, f->op));
}

/* One row more for the sums of columns. */
static void sweep_column_reduce(emitter *e, emit_group *g, const fused_op *f)
{
    const pto_value result = pto_op_result(f->op, 0);
    const pto_dtype t = dtype_of(result);
    const char *x = vector_of(e, g, pto_op_operand(f->op, 0), 0);
    const char *at = emit_format(e, "%s + j_", emit_tile(e, result));
    const char *step = emit_vector_step(e, f->op, emit_vector_load(e, t, at, g->tail), x);
    text_line(e->out, "%s%s", emit_vector_store(e, t, at, step, g->tail), emit_remark(e, f->op));
}

int nest_has_whole_vectors(const emit_group *g)
{
    int64_t n = 1;
    return pto_expr_is_const(g->columns, &n) && n % 16 == 0; /* of any width */
}

/* Whether a store takes what was loaded, which may be a copy of the whole row. */
static int is_copy(emit_group *g, const fused_op *f)
{
    const fused_op *from = nest_maker_of(g, pto_op_operand(f->op, 0));
    return from == NULL || from->kind == FUSED_LOAD;
}

/* Whether a sweep may begin its whole vectors anywhere in a row, where rows are not whole vectors and begin in the
 * midst of lines: all it does with what it computes is to store it where it may be streamed. Sums depend on where
 * vectors begin, and what a trip writes the next one must not read, whose vector has a part of the first one's in it.
 */
static int may_begin_later(emitter *e, emit_group *g, uint32_t level)
{
    uint32_t stores = 0;
    if (g->trails || nest_has_whole_vectors(g)) return 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (fused_is_of_row(f->kind) || f->level != level || f->kind == FUSED_LOAD) continue;
        if (f->kind == FUSED_STORE && (!emit_may_stream(e, nest_memory_of(f)) || is_copy(g, f))) return 0;
        if ((f->kind != FUSED_STORE && f->kind != FUSED_MAP) || f->is_kept || f->is_crossing) return 0;
        stores += f->kind == FUSED_STORE;
    }
    return stores != 0;
}

/* Whether the sweep that is written does: the row has said where. */
static int begins_later(emitter *e, emit_group *g) { return g->head != NULL && may_begin_later(e, g, g->sweep); }

static void sweep_store(emitter *e, emit_group *g, const fused_op *f)
{
    const pto_value tile = pto_op_operand(f->op, 0);
    const int as_bits = nest_is_moved(g, tile);
    const char *value = form_in_sweep(e, g, tile, 0, as_bits);
    const char *at = emit_format(e, "%s + j_", f->memory), *remark = emit_remark(e, f->op);
    if (f->streams == NULL)
        text_line(e->out, "%s%s", emit_vector_store(e, form_type(tile, as_bits), at, value, g->tail), remark);
    else if (g->tail == NULL)
        text_line(e->out, "pto_put_%s(%s, %s, %s);%s", pto_dtype_name(dtype_of(tile)), at, value, f->streams, remark);
    else if (begins_later(e, g))
        text_line(e->out, "pto_put_%s_from(%s, %s, %s, %s, %s - j_);%s", pto_dtype_name(dtype_of(tile)), at, value,
                  g->tail, f->streams, g->head, remark);
    else
        text_line(e->out, "pto_put_%s_tail(%s, %s, %s, %s);%s", pto_dtype_name(dtype_of(tile)), at, value, g->tail,
                  f->streams, remark);
}

/* Whether an op rounds a value that it takes. */
static int rounds(const fused_op *f)
{
    return f->kind == FUSED_STORE || (emit_moves(f->op) && f->as_bits && !f->as_number);
}

/* Whether the sweep that computes a value only stores it. */
static int is_only_stored(const emit_group *g, const fused_op *f)
{
    const uint32_t result = pto_op_result(f->op, 0).index;
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *by = &g->ops[i];
        if (by->level != f->level || rounds(by)) continue;
        for (uint32_t k = 0; k < pto_op_operand_count(by->op); k++)
            if (pto_op_operand(by->op, k).index == result) return 0;
    }
    return 1;
}

static void sweep_bits(emitter *e, emit_group *g, const fused_op *f, pto_op remarked)
{
    const char *x[4] = {NULL};
    for (uint32_t i = 0; i < pto_op_operand_count(f->op) && i < 4; i++)
        x[i] = emit_is_condition(f->op, i) ? operand_vector(e, g, f->op, i) : operand_bits(e, g, f->op, i);
    declare(e, g, pto_op_result(f->op, 0), 1, emit_moved(e, f->op, x, 1), remarked);
}

/* What is only stored is rounded by that. */
static void sweep_map(emitter *e, emit_group *g, const fused_op *f, pto_op remarked)
{
    const char *x[4] = {NULL};
    if (f->as_bits) sweep_bits(e, g, f, remarked);
    if (f->as_bits && !f->as_number) return;
    for (uint32_t i = 0; i < pto_op_operand_count(f->op) && i < 4; i++) x[i] = operand_vector(e, g, f->op, i);
    const pto_value result = pto_op_result(f->op, 0);
    const char *value = emit_vector_formula(e, f->op, x);
    if (value != NULL && is_only_stored(g, f)) value = emit_uncut(e, dtype_of(result), value);
    declare(e, g, result, 0, value, remarked);
}

static void sweep_load(emitter *e, emit_group *g, const fused_op *f)
{
    const char *at = emit_format(e, "%s + j_", f->memory);
    const pto_value v = pto_op_result(f->op, 0);
    for (int as_bits = f->as_bits; as_bits >= (f->as_bits && !f->as_number); as_bits--)
        declare(e, g, v, as_bits, emit_vector_load(e, form_type(v, as_bits), at, g->tail), f->op);
}

/* Whether the sweep has that of the row before in it. */
static int has_trail(const emit_group *g) { return g->trails && g->sweep + 1 == g->last; }

/* Stores what later sweeps or other ops use. */
static void leave_row(emitter *e, emit_group *g, const fused_op *f)
{
    const pto_value result = pto_op_result(f->op, 0);
    const char *at = emit_format(e, "%s + j_", row_of_tile(e, g, result, !f->is_kept));
    text_line(e->out, "%s",
              emit_vector_store(e, form_type(result, f->as_bits), at,
                                f->as_bits ? nest_bits_name(e, result) : vector_name(e, result), g->tail));
}

/* After what the sweep computes, so that its loads come before these stores, and before it overwrites what it leaves.
 */
static void put_trail(emitter *e, emit_group *g)
{
    trail_put(e, g);
    for (uint32_t i = 0; i < g->count; i++)
        if (is_in_sweep(g, &g->ops[i]) && g->ops[i].kind == FUSED_MAP && g->ops[i].is_crossing)
            leave_row(e, g, &g->ops[i]);
}

void nest_sweep_op(emitter *e, emit_group *g, const fused_op *f)
{
    if (f->kind == FUSED_REDUCE) {
        sweep_reduce(e, g, f);
        return;
    }
    if (f->kind == FUSED_COLUMN_REDUCE) {
        sweep_column_reduce(e, g, f);
        return;
    }
    if (f->kind == FUSED_STORE) {
        sweep_store(e, g, f);
        return;
    }
    if (f->kind == FUSED_LOAD)
        sweep_load(e, g, f);
    else
        sweep_map(e, g, f, f->op);
    if ((f->is_kept || f->is_crossing) && !has_trail(g)) leave_row(e, g, f);
}

/* ---- reductions ---- */

/* The scalar of a row, and what else there is to do with it. */
static void put_scalar(emitter *e, emit_group *g, const fused_op *f, const char *value)
{
    const pto_value result = pto_op_result(f->op, 0);
    const pto_dtype t = dtype_of(result);
    int is_used = !f->is_kept;
    for (uint32_t i = 0; i < g->count && !is_used; i++)
        for (uint32_t k = 0; k < pto_op_operand_count(g->ops[i].op); k++)
            is_used |= pto_op_operand(g->ops[i].op, k).index == result.index;
    if (is_used) {
        const char *type = trail_takes(g, result, 0) ? "" : emit_format(e, "const %s ", emit_lane_type(t));
        text_line(e->out, "%s%s = %s;%s", type, nest_scalar_name(e, result), emit_bare(e, value),
                  emit_remark(e, f->op));
        value = nest_scalar_name(e, result);
    }
    if (f->is_kept && !f->as_bits)
        text_line(e->out, "%s = %s;%s", emit_at(e, result, g->row, "0"), emit_bare(e, emit_write(e, t, value)),
                  is_used ? "" : emit_remark(e, f->op));
}

/* Where the vectors of a row go. */
static void start_total(emitter *e, const emit_group *g, const fused_op *f)
{
    const pto_dtype t = dtype_of(pto_op_operand(f->op, 0));
    if (sums_in_turn(g, f)) {
        text_line(e->out, "pto_sums %s = pto_sums_of_none();", total_name(e, f));
        return;
    }
    if (emit_extreme(f->op) != NULL)
        text_line(e->out, "pto_extreme %s = pto_extreme_of_none(%s);", total_name(e, f),
                  emit_reduce_start(e, f->op, "0"));
    else
        text_line(e->out, "%s %s = %s;", emit_vector_type(t), total_name(e, f),
                  emit_splat(e, t, emit_reduce_start(e, f->op, "1")));
}

static const char *total_of(emitter *e, const emit_group *g, const fused_op *f)
{
    const char *extreme = emit_extreme(f->op), *all = total_name(e, f);
    if (sums_in_turn(g, f)) all = emit_format(e, "pto_sums_both(%s)", all);
    if (extreme == NULL) return emit_vector_total(e, f->op, all);
    const char *word = strcmp(extreme, "max") == 0 ? "largest" : "smallest";
    return emit_rounded(e, dtype_of(pto_op_result(f->op, 0)), emit_format(e, "pto_extreme_%s(%s)", word, all));
}

/* What follows the sums of a sweep: scalars of the row. */
static void end_reductions(emitter *e, emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (f->kind != FUSED_REDUCE || f->level != g->sweep) continue;
        const char *total = total_of(e, g, f);
        const char *of_none = emit_reduce_start(e, f->op, "0"), *of_some = emit_reduce_start(e, f->op, "1");
        if (strcmp(of_none, of_some) != 0 && pto_expr_range(g->columns, f->op, NULL).lo < 1)
            total = emit_format(e, "%s == 0 ? %s : %s", g->column_count, of_none, total);
        put_scalar(e, g, f, total);
    }
}

/* The only reduction of a sweep that does nothing else: one of a row in memory. */
static const fused_op *reduction_alone(emitter *e, emit_group *g)
{
    const fused_op *alone = NULL;
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (!is_in_sweep(g, f) || (f->kind == FUSED_LOAD && !f->is_kept)) continue;
        if (f->kind != FUSED_REDUCE || alone != NULL) return NULL;
        alone = f;
    }
    if (alone == NULL || emit_row_function(e, alone->op) == NULL) return NULL;
    const fused_op *from = nest_maker_of(g, pto_op_operand(alone->op, 0));
    const int is_in_memory =
        from == NULL || from->kind == FUSED_LOAD || (from->kind == FUSED_MAP && from->level < g->sweep);
    return is_in_memory && (from == NULL || !from->is_cheap) ? alone : NULL;
}

/* ---- memory ---- */

/* The only store of a sweep that does nothing else: a row in memory, of elements of four bytes, goes to another place.
 */
static const fused_op *copy_alone(emit_group *g)
{
    const fused_op *alone = NULL;
    if (has_trail(g)) return NULL;
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (!is_in_sweep(g, f) || (f->kind == FUSED_LOAD && !f->is_kept)) continue;
        if (f->kind != FUSED_STORE || alone != NULL) return NULL;
        alone = f;
    }
    if (alone == NULL) return NULL;
    const pto_value tile = pto_op_operand(alone->op, 0);
    const pto_dtype t = dtype_of(tile);
    return is_copy(g, alone) && (t == PTO_F32 || t == PTO_I32 || t == PTO_U32) ? alone : NULL;
}

static void put_copy(emitter *e, emit_group *g, const fused_op *f)
{
    text_line(e->out, "pto_copy_row_b32(%s, %s, %s, %s);%s", f->memory,
              row_of_operand(e, g, pto_op_operand(f->op, 0), 0), g->column_count, f->streams != NULL ? f->streams : "0",
              emit_remark(e, f->op));
}

static int has_more_sweeps(const emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (!fused_is_of_row(g->ops[i].kind) && g->ops[i].level != g->sweep) return 1;
    return 0;
}

/* Bytes of a row; 0: they are not known. */
static int64_t row_bytes(const emit_group *g, pto_value v)
{
    int64_t n = 0;
    return pto_expr_is_const(g->columns, &n) ? n * pto_dtype_bytes(dtype_of(v)) : 0;
}

/* Rows of which a processor sees too little at a time to see by itself what comes. */
static int is_short_row(const emit_group *g, pto_value v)
{
    enum { SHORT_BYTES = 2048 };
    const int64_t bytes = row_bytes(g, v);
    return bytes != 0 && bytes < SHORT_BYTES;
}

/* How many rows ahead memory is asked for; 0: none. Of rows that are walked more than once two, or as many as are
 * FAR_BYTES, where processors do not look by themselves: what they and the program ask for at the same time takes
 * longer than either. */
static int64_t rows_ahead(const emit_group *g, pto_value v, const char *stride)
{
    enum { SHORT_ROWS = 8, FAR_BYTES = 8192, LONG_BYTES = 64 << 10 };
    const int64_t bytes = row_bytes(g, v);
    if (nest_has_one_row(g)) return 0;
    if (is_short_row(g, v)) return strcmp(stride, g->column_count) != 0 ? SHORT_ROWS : 0;
    if (!has_more_sweeps(g)) return 0;
    if (bytes > LONG_BYTES) return 1;
    return bytes == 0 || bytes >= FAR_BYTES ? 2 : (FAR_BYTES + bytes - 1) / bytes;
}

/* Whether memory is read once from end to end, and is not known to be in a cache. */
static int is_streamed_in(const emit_group *g, pto_value memory)
{
    enum { CACHED_BYTES = 256 << 10 };
    const pto_type type = pto_value_type(memory);
    int64_t bytes = pto_dtype_bytes(pto_type_dtype(type)), n = 0;
    for (uint32_t d = 0; d < pto_type_rank(type) && bytes < CACHED_BYTES; d++)
        bytes = pto_expr_is_const(pto_type_dim(type, d), &n) ? bytes * n : CACHED_BYTES;
    return bytes >= CACHED_BYTES && !has_more_sweeps(g);
}

/* Memory is slow with nothing but loads or nothing but stores: where a later sweep stores, that asks for the second
 * half of the next row, and the first sweep for the first. */
static int asks_in_halves(const emit_group *g) { return !g->trails && g->ahead < g->last; }

/* The place in the next row. */
static const char *place_ahead(emitter *e, const emit_group *g)
{
    if (!asks_in_halves(g)) return "j_";
    return g->sweep == g->last ? emit_format(e, "(%s + j_) / 2", g->column_count) : "j_ / 2";
}

/* Asks for what comes after what the sweep is at in a row of `v`: the same place some rows on, or, in memory that is
 * read once, further on than processors look by themselves. */
static void ask_for(emitter *e, emit_group *g, pto_value v, pto_value memory, const char *row, const char *stride)
{
    enum { AHEAD_BYTES = 1280 };
    const int64_t rows = rows_ahead(g, v, stride);
    if (is_declared(g, v, 0) || (rows == 0 && !is_streamed_in(g, memory))) return;
    const int is_short = is_short_row(g, v);
    if ((rows == 0 || is_short) && g->sweep != g->ahead) return;
    const char *times = rows == 1 ? "" : emit_format(e, "%lld * ", (long long)rows);
    const int bytes = (int)pto_dtype_bytes(dtype_of(memory));
    if (rows == 0)
        text_line(e->out, "pto_prefetch(%s + j_ + %d);", row, bytes > 0 ? AHEAD_BYTES / bytes : 0);
    else
        text_line(e->out,
                  strpbrk(stride, "+-*") != NULL ? "pto_prefetch(%s + %s(%s) + %s);" : "pto_prefetch(%s + %s%s + %s);",
                  row, times, stride, is_short ? "j_" : place_ahead(e, g));
    note_declared(g, v, 0);
}

/* Rows that are walked more than once are in cache but the first time: the next ones come while this one is worked on.
 */
static void look_ahead(emitter *e, emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (f->kind == FUSED_LOAD)
            ask_for(e, g, pto_op_result(f->op, 0), nest_memory_of(f), f->memory, f->window.row_stride);
        for (uint32_t k = 0; k < pto_op_operand_count(f->op); k++) {
            const pto_value v = pto_op_operand(f->op, k);
            const emit_window *loaded = storage_is_tile(v) ? emit_tile_window(e, v) : NULL;
            const int is_row = fused_repeats_row(f->op, k);
            if (loaded == NULL || is_row || is_column(v)) continue;
            ask_for(e, g, v, pto_op_operand(pto_value_op(v), 0), row_of_tile(e, g, v, 0), loaded->row_stride);
        }
    }
    g->is_ahead = 1;
    g->declared_count = 0;
}

/* In the first sweep that comes here, and where it asks for half in the last one too. */
static void look_ahead_once(emitter *e, emit_group *g)
{
    if (!g->is_ahead) g->ahead = g->sweep;
    if (!g->is_ahead || (asks_in_halves(g) && g->sweep == g->last)) look_ahead(e, g);
}

/* ---- the nest ---- */

/* Opens the loop over a row's columns. */
void nest_open_sweep(emitter *e, emit_group *g)
{
    const int is_whole = nest_has_whole_vectors(g);
    g->tail = is_whole ? NULL : "n_";
    g->declared_count = 0;
    e->sweeps += !is_whole;
    if (is_whole)
        text_open(e->out, "for (int64_t j_ = 0; j_ < %s; j_ += PTO_LANES)", g->column_count);
    else if (begins_later(e, g))
        text_open(e->out, "PTO_SWEEP_FROM(j_, n_, %s, %s)", g->column_count, g->head);
    else
        text_open(e->out, "PTO_SWEEP(j_, n_, %s)", g->column_count);
}

/* What sums of columns start from. */
static void start_columns(emitter *e, emit_group *g)
{
    int is_open = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (f->kind != FUSED_COLUMN_REDUCE) continue;
        const pto_value result = pto_op_result(f->op, 0);
        const char *of_none = emit_reduce_start(e, f->op, "0"), *start = emit_reduce_start(e, f->op, "1");
        if (strcmp(of_none, start) != 0 && pto_expr_range(g->rows, f->op, NULL).lo < 1)
            start = emit_format(e, "%s == 0 ? %s : %s", g->row_count, of_none, start);
        if (!is_open) nest_open_sweep(e, g);
        is_open = 1;
        text_line(e->out, "%s",
                  emit_vector_store(e, dtype_of(result), emit_format(e, "%s + j_", emit_tile(e, result)),
                                    emit_splat(e, dtype_of(result), start), g->tail));
    }
    if (is_open) text_close(e->out, "");
}

static void put_sweep(emitter *e, emit_group *g)
{
    int is_empty = 1;
    for (uint32_t i = 0; i < g->count; i++) is_empty &= !is_in_sweep(g, &g->ops[i]);
    if (is_empty) return;
    const fused_op *alone = reduction_alone(e, g);
    if (alone != NULL) {
        const char *at = row_of_operand(e, g, pto_op_operand(alone->op, 0), 0);
        put_scalar(e, g, alone,
                   emit_rounded(e, dtype_of(pto_op_result(alone->op, 0)),
                                emit_format(e, "%s(%s, %s)", emit_row_function(e, alone->op), at, g->column_count)));
        return;
    }
    const fused_op *copied = copy_alone(g);
    if (copied != NULL) {
        put_copy(e, g, copied);
        return;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const fused_op *f = &g->ops[i];
        if (is_in_sweep(g, f) && f->kind == FUSED_REDUCE) start_total(e, g, f);
    }
    nest_open_sweep(e, g);
    look_ahead_once(e, g);
    for (uint32_t i = 0; i < g->count; i++)
        if (is_in_sweep(g, &g->ops[i])) nest_sweep_op(e, g, &g->ops[i]);
    if (has_trail(g)) put_trail(e, g);
    text_close(e->out, "");
    end_reductions(e, g);
}

/* Of an op that chooses or repeats scalars of a row, as they move. */
static const char *moved_scalars(emitter *e, emit_group *g, pto_op op)
{
    const char *x[4] = {NULL};
    for (uint32_t i = 0; i < pto_op_operand_count(op) && i < 4; i++) {
        const pto_value v = pto_op_operand(op, i);
        if (!storage_is_tile(v))
            x[i] = emit_moved_scalar(e, op, i);
        else
            x[i] = emit_is_condition(op, i) ? nest_scalar_name(e, v) : scalar_bits(e, g, v);
    }
    return emit_bare(e, emit_moved(e, op, x, 0));
}

/* The scalar of a row as it moves. */
static void put_row_bits(emitter *e, emit_group *g, const fused_op *f)
{
    const pto_value result = pto_op_result(f->op, 0);
    const char *type = emit_format(e, "const %s ", emit_memory_type(dtype_of(result)));
    const char *value =
        f->kind == FUSED_ROW_LOAD ? emit_window_at(e, &f->window, f->memory, g->row, "0") : moved_scalars(e, g, f->op);
    text_line(e->out, "%s%s = %s;%s", trail_takes(g, result, 1) ? "" : type, nest_bits_name(e, result), value,
              emit_remark(e, f->op));
    if (f->is_kept) text_line(e->out, "%s = %s;", emit_at(e, result, g->row, "0"), nest_bits_name(e, result));
}

static void put_row_op(emitter *e, emit_group *g, const fused_op *f)
{
    const char *x[4] = {NULL};
    if (f->kind == FUSED_ROW_STORE) {
        const pto_value tile = pto_op_operand(f->op, 0);
        text_line(e->out, "%s = %s;%s", emit_window_at(e, &f->window, f->memory, g->row, "0"),
                  nest_is_moved(g, tile) ? nest_bits_name(e, tile)
                                         : emit_write(e, dtype_of(tile), nest_scalar_name(e, tile)),
                  emit_remark(e, f->op));
        return;
    }
    if (f->as_bits) put_row_bits(e, g, f);
    if (f->as_bits && !f->as_number) return;
    if (f->kind == FUSED_ROW_LOAD) {
        const char *at = emit_window_at(e, &f->window, f->memory, g->row, "0");
        put_scalar(e, g, f, emit_read(e, dtype_of(pto_op_result(f->op, 0)), at));
        return;
    }
    for (uint32_t i = 0; i < pto_op_operand_count(f->op) && i < 4; i++) {
        const pto_value v = pto_op_operand(f->op, i);
        x[i] = storage_is_tile(v) ? nest_scalar_name(e, v) : emit_value(e, v);
    }
    put_scalar(e, g, f, emit_formula(e, f->op, x));
}

/* Pointers to windows of memory; in the loop over rows they point to rows. */
static void open_windows(emitter *e, emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        fused_op *f = &g->ops[i];
        const pto_value memory = nest_memory_of(f);
        if (!PTO_SOME(memory)) continue;
        const int stores = f->kind == FUSED_STORE || f->kind == FUSED_ROW_STORE;
        const pto_value tile = stores ? pto_op_operand(f->op, 0) : pto_op_result(f->op, 0);
        pto_expr size[2];
        if (pto_value_valid(tile, size) != PTO_OK) continue;
        emit_window_open(e, f->op, memory, size, !stores && pto_attr_bool_of(f->op, PTO_STR("transpose"), 0),
                         &f->window);
        f->memory = emit_spare(e, stores ? "to" : "from");
        text_line(e->out, "%s%s *const %s = %s;", stores ? "" : "const ", emit_memory_type(dtype_of(memory)), f->memory,
                  f->window.base);
    }
}

static int is_scalar_from_outside(emit_group *g, pto_value v)
{
    return storage_is_tile(v) && is_column(v) && nest_maker_of(g, v) == NULL;
}

static int has_scalars_from_outside(emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < pto_op_operand_count(g->ops[i].op); k++)
            if (is_scalar_from_outside(g, pto_op_operand(g->ops[i].op, k))) return 1;
    return 0;
}

static void open_memory_row(emitter *e, emit_group *g, fused_op *f)
{
    const char *row = emit_format(e, "%si_", f->memory);
    text_line(e->out, "%s%s *const %s = &%s;", f->kind == FUSED_LOAD ? "const " : "",
              emit_memory_type(dtype_of(nest_memory_of(f))), row,
              emit_window_at(e, &f->window, f->memory, g->row, "0"));
    f->memory = row;
}

static void open_store(emitter *e, emit_group *g, fused_op *f)
{
    if (!nest_has_one_row(g)) open_memory_row(e, g, f);
    const pto_value memory = nest_memory_of(f);
    if (!emit_may_stream(e, memory)) return;
    const char *is_large = emit_is_large(e, memory), *from = f->memory;
    const int is_from_head = may_begin_later(e, g, f->level);
    if (is_from_head && g->head == NULL) {
        g->head = emit_spare(e, "head");
        text_line(e->out, "const int64_t %s = pto_head(%s, %s, %s);", g->head, f->memory, is_large, g->column_count);
    }
    if (is_from_head) from = emit_format(e, "%s + %s", f->memory, g->head);
    f->streams = emit_spare(e, "streams");
    text_line(e->out, "const int %s = pto_streams(%s, %s);", f->streams, from, is_large);
}

/* Operand k of an op, a scalar of the row that is there: as the op takes it. */
static void open_scalar(emitter *e, emit_group *g, const fused_op *f, uint32_t k)
{
    const pto_value v = pto_op_operand(f->op, k);
    const pto_dtype t = dtype_of(v);
    const char *at = emit_at(e, v, g->row, "0");
    if (nest_takes_number(g, f, k) && !is_declared(g, v, 0)) {
        text_line(e->out, "const %s %s = %s;", emit_lane_type(t), nest_scalar_name(e, v), emit_read(e, t, at));
        note_declared(g, v, 0);
    }
    if (nest_takes_bits(g, f, k) && !is_declared(g, v, 1)) {
        text_line(e->out, "const %s %s = %s;", emit_memory_type(t), nest_bits_name(e, v), at);
        note_declared(g, v, 1);
    }
}

/* What a row begins with, before an op of the nest overwrites it: pointers to the rows, scalars that are there. */
static void open_row(emitter *e, emit_group *g)
{
    g->declared_count = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        fused_op *f = &g->ops[i];
        if (!nest_has_one_row(g) && f->kind == FUSED_LOAD) open_memory_row(e, g, f);
        if (f->kind == FUSED_STORE && !trail_has(g, f)) open_store(e, g, f);
        for (uint32_t k = 0; k < pto_op_operand_count(f->op); k++) {
            const pto_value v = pto_op_operand(f->op, k);
            const emit_window *loaded = storage_is_tile(v) ? emit_tile_window(e, v) : NULL;
            const int is_row = fused_repeats_row(f->op, k);
            if (is_scalar_from_outside(g, v)) {
                open_scalar(e, g, f, k);
                continue;
            }
            if (loaded == NULL || is_row || nest_has_one_row(g) || is_declared(g, v, 0)) continue;
            text_line(e->out, "const %s *const %s = &%s;", emit_memory_type(dtype_of(v)), row_name(e, v),
                      emit_window_at(e, loaded, emit_value(e, v), g->row, "0"));
            note_declared(g, v, 0);
        }
    }
}

void emit_nest(emitter *e, emit_group *g, uint32_t most)
{
    int64_t n = 0;
    const int is_one_row = pto_expr_is_const(g->rows, &n) && n == 1;
    uint32_t operands = 0;
    for (uint32_t i = 0; i < g->count; i++) operands += pto_op_operand_count(g->ops[i].op) + 1;
    g->declared = PTO_SCRATCH(e->run, uint32_t, 2 * operands);
    g->row = is_one_row ? "0" : "i_";
    g->row_count = emit_extent(e, g->rows, "rows");
    if (g->has_columns) g->column_count = emit_extent(e, g->columns, "columns");
    open_windows(e, g);
    start_columns(e, g);
    g->last = most;
    g->trails = trail_is_possible(e, g, most);
    if (g->trails) trail_declare(e, g);
    e->has_trail |= g->trails;
    const int has_block = !is_one_row || has_scalars_from_outside(g);
    if (!is_one_row)
        text_open(e->out, "for (int64_t i_ = 0; i_ < %s; i_++)", g->row_count);
    else if (has_block)
        emit_open_block(e);
    open_row(e, g);
    for (g->sweep = 0; g->sweep <= most; g->sweep++) {
        for (uint32_t i = 0; i < g->count; i++)
            if (fused_is_of_row(g->ops[i].kind) && g->ops[i].level == g->sweep) put_row_op(e, g, &g->ops[i]);
        if (g->has_columns && !(g->trails && g->sweep == most)) put_sweep(e, g);
    }
    if (g->trails) trail_end_row(e, g);
    if (has_block) text_close(e->out, "");
    if (g->trails) trail_end(e, g);
}
