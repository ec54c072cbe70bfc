/* Writes nests: builds the ops, or counts the bytes that they would need. */
#include "tile_nest.h"

#include <math.h>
#include <stdlib.h>

enum { ROTATING_STAGES = 2 }; /* what pto.pipeline assigns to loads and stores unless it is told otherwise */

int64_t tile_mul(int64_t a, int64_t b)
{
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

int64_t tile_add(int64_t a, int64_t b)
{
    int64_t r;
    return __builtin_add_overflow(a, b, &r) ? INT64_MAX : r;
}

pto_status tile_check_order(pto_op op)
{
    const int is_product = PTO_IS(op, T_MATMUL);
    if (pto_tree_of(op) == 0 || !pto_dtype_is_float(pto_type_dtype(pto_value_type(pto_op_operand(op, 0)))))
        return PTO_OK;
    return pto_error(op, "pto.tile/tree-order",
                     "a nest adds up in ascending order or in any, not as `%.*s`: let `%s` make such sums of ascending "
                     "ones",
                     PTO_FMT(pto_attr_str_of(op, PTO_STR("order"))),
                     is_product ? "pto.decompose-matmul" : "pto.expand-math");
}

int64_t tile_capacity(const pto_run *run, pto_space space) { return pto_space_usable_bytes(run, space, 0); }

pto_status tile_choose_rectangle(const pto_run *run, const tile_rectangle *r, int64_t out_tile[2])
{
    static const char *const names[2] = {"rows", "columns"};
    const int64_t block = pto_machine_i64_or(run, 1, "vector.block-bytes"), bytes = r->element_bytes;
    pto_tiling_dim dims[2];
    const pto_tiling_dim *const list[2] = {&dims[0], &dims[1]};
    int64_t tile[2] = {1, 1};
    for (int d = 0; d < 2; d++)
        dims[d] = (pto_tiling_dim){.struct_size = sizeof dims[d],
                                   .kind = d == 0 ? r->row_kind : PTO_PARALLEL,
                                   .name = names[d],
                                   .extent = r->extent[d],
                                   .static_extent = r->static_extent[d],
                                   .granule = d == 1 && bytes > 0 && block > bytes ? block / bytes : 1};
    const pto_tiling_problem problem = {.struct_size = sizeof problem,
                                        .dim_count = 2,
                                        .shape = "elementwise",
                                        .nest = r->group,
                                        .dims = list,
                                        .self = r->self,
                                        .footprint = r->footprint,
                                        .capacity = r->capacity,
                                        .outer_instances = r->outer_instances,
                                        .work = r->work};
    PTO_TRY(pto_tiling_choose(run, TILE_OPT_STRATEGY, &problem, tile, NULL));
    for (int d = 0; d < 2; d++) {
        const int64_t most = r->static_extent[d] == 0 ? 1 : r->static_extent[d];
        out_tile[d] = most > 0 && tile[d] > most ? most : tile[d];
    }
    return PTO_OK;
}

pto_status tile_choose_row(pto_op group, pto_expr rows, pto_expr columns, pto_dtype dtype, const tile_rectangle *r,
                           int64_t *out_columns)
{
    const pto_run *run = group.run;
    tile_rectangle row = *r;
    int64_t tile[2];
    row.group = group;
    row.extent[0] = pto_expr_const(run, 1);
    row.extent[1] = columns;
    row.static_extent[0] = 1;
    if (!pto_expr_is_const(columns, &row.static_extent[1])) row.static_extent[1] = -1;
    row.element_bytes = pto_dtype_bytes(dtype);
    row.row_kind = PTO_PARALLEL;
    row.outer_instances = pto_expected_extent(group, rows);
    PTO_TRY(tile_choose_rectangle(run, &row, tile));
    *out_columns = tile[1];
    return PTO_OK;
}

tile_nest tile_nest_make(const pto_run *run, storage_plan *counts)
{
    tile_nest n = {.run = run, .block = pto_block_none(run), .loc = pto_loc_none(run)};
    n.block_bytes = pto_machine_i64_or(run, 1, "vector.block-bytes");
    n.global = pto_space_of_role(run, PTO_ROLE_GLOBAL);
    n.scratchpad = pto_space_of_role(run, PTO_ROLE_SCRATCHPAD);
    n.align_bytes = pto_space_align(run, n.scratchpad, 1);
    return counts == NULL ? n : tile_nest_count(run, &n, counts);
}

tile_nest tile_nest_count(const pto_run *run, tile_nest *n, storage_plan *counts)
{
    if (n->run == NULL) *n = tile_nest_make(run, NULL);
    tile_nest again = *n;
    again.counts = counts;
    /* A core walks over instances, so what rotates does so even when the nest has no loop of its own. */
    storage_plan_clear(counts);
    again.around = storage_add_loop(counts, pto_kind(run, KIND_FOR), STORAGE_NONE);
    return again;
}

int64_t tile_counted_bytes(const tile_nest *n)
{
    storage_solve(n->counts);
    return storage_bytes(n->counts, n->scratchpad, tile_capacity(n->run, n->scratchpad));
}

static int larger_first(const void *a, const void *b)
{
    const storage_life *x = (const storage_life *)a, *y = (const storage_life *)b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Ends in NUL. */
static pto_str joined(const pto_run *run, const char *before, pto_str name, const char *behind)
{
    size_t capacity = strlen(before) + name.n + strlen(behind) + 1;
    char *text = pto_scratch(run, capacity);
    (void)snprintf(text, capacity, "%s%.*s%s", before, PTO_FMT(name), behind);
    return pto_str_make(text, capacity - 1);
}

void tile_note_counted(const tile_nest *n, pto_op at)
{
    enum { NOTES_MAX = 8 };
    storage_life *lives = NULL;
    for (uint32_t i = 0; i < n->counts->value_count; i++)
        n->counts->values[i].name = joined(n->run, "t", n->counts->values[i].name, "");
    storage_solve(n->counts);
    const uint32_t count = storage_lives(n->counts, &lives);
    if (count != 0) qsort(lives, count, sizeof *lives, larger_first);
    for (uint32_t i = 0; i < count && i < NOTES_MAX; i++)
        pto_note(at, "`%%%.*s` takes %lld bytes", PTO_FMT(lives[i].name), (long long)lives[i].bytes);
    if (count > NOTES_MAX) pto_note(at, "and %u smaller ones", (unsigned)(count - NOTES_MAX));
}

/* Bytes of a vector tile: rows padded to blocks, one column stored densely. */
static int64_t tile_vector_bytes(const tile_nest *n, int64_t rows, int64_t columns, pto_dtype dtype)
{
    if (dtype == PTO_MASK) return pto_tile_bytes(dtype, columns == 1 ? PTO_ORDER_COLUMN : PTO_ORDER_ROW, rows, columns);
    int64_t bytes = columns == 1
                        ? pto_round_up(tile_mul(rows, pto_dtype_bytes(dtype)), n->block_bytes)
                        : tile_mul(rows, pto_round_up(tile_mul(columns, pto_dtype_bytes(dtype)), n->block_bytes));
    return pto_round_up(bytes, n->align_bytes);
}

static pto_str result_name(const tile_nest *n) { return joined(n->run, "t", n->name, ""); }

static storage_shape shape_of(const tile_nest *n, const tile_piece *p)
{
    return (storage_shape){.rows = p->rows,
                           .columns = p->columns,
                           .bytes = tile_vector_bytes(n, p->rows, p->columns, p->dtype),
                           .dtype = p->dtype,
                           .space = n->scratchpad};
}

/* Counts an op that produces `p`, which may rotate. */
static tile_piece count_op(const tile_nest *n, pto_kind_id kind, tile_piece p, int64_t stages, uint32_t count,
                           const tile_piece *operands)
{
    const storage_shape shape = shape_of(n, &p);
    const uint32_t op = storage_add_op(n->counts, kind, n->around);
    for (uint32_t i = 0; i < count; i++) storage_add_use(n->counts, op, i, operands[i].at, 1);
    p.at = storage_add_result(n->counts, op, &shape, stages);
    n->counts->values[p.at].name = n->name;
    return p;
}

static tile_piece finish(tile_nest *n, pto_spec *s, tile_piece p)
{
    pto_spec_result(s, pto_type_tile(n->run, p.dtype, p.rows, p.columns, PTO_SPACE_NONE, PTO_LAYOUT_NONE));
    pto_spec_loc(s, n->loc);
    pto_spec_name(s, result_name(n));
    p.value = pto_spec_value(s, pto_at_end(n->block));
    if (!PTO_SOME(p.value)) n->failed = 1;
    return p;
}

static tile_piece piece_of(const tile_nest *n, int64_t rows, int64_t columns, pto_dtype dtype)
{
    return (tile_piece){.value = pto_value_none(n->run), .rows = rows, .columns = columns, .dtype = dtype};
}

static tile_piece emit_load(tile_nest *n, pto_value memory, const pto_expr *offsets, const pto_expr valid[2],
                            int64_t rows, int64_t columns, int transpose, const double *pad)
{
    pto_type type = pto_value_type(memory);
    tile_piece p = piece_of(n, rows, columns, pto_type_dtype(type));
    if (n->counts != NULL) return count_op(n, pto_kind(n->run, KIND_LOAD), p, ROTATING_STAGES, 0, NULL);
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_LOAD));
    pto_spec_operand(&s, memory);
    pto_spec_exprs(&s, PTO_STR("offsets"), pto_type_rank(type), offsets);
    pto_spec_exprs(&s, PTO_STR("sizes"), 2, valid);
    if (transpose) pto_spec_bool(&s, PTO_STR("transpose"), 1);
    if (pad != NULL) pto_spec_float(&s, PTO_STR("pad"), *pad);
    return finish(n, &s, p);
}

tile_piece tile_emit_load(tile_nest *n, pto_value memory, const pto_expr *offsets, const pto_expr valid[2],
                          int64_t rows, int64_t columns, int transpose)
{
    return emit_load(n, memory, offsets, valid, rows, columns, transpose, NULL);
}

tile_piece tile_emit_filled_load(tile_nest *n, pto_value memory, const pto_expr *offsets, const pto_expr valid[2],
                                 int64_t rows, int64_t columns, double pad)
{
    return emit_load(n, memory, offsets, valid, rows, columns, 0, &pad);
}

void tile_emit_store_after(tile_nest *n, tile_piece tile, pto_value memory, const pto_expr *offsets, int relu,
                           double scale)
{
    if (n->counts != NULL) {
        const uint32_t op = storage_add_op(n->counts, pto_kind(n->run, KIND_STORE), n->around);
        storage_add_use(n->counts, op, 0, tile.at, ROTATING_STAGES);
        return;
    }
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_STORE));
    pto_spec_operand(&s, tile.value);
    pto_spec_operand(&s, memory);
    pto_spec_exprs(&s, PTO_STR("offsets"), pto_type_rank(pto_value_type(memory)), offsets);
    if (relu) pto_spec_bool(&s, PTO_STR("relu"), 1);
    if (!isnan(scale)) pto_spec_float(&s, PTO_STR("scale"), scale);
    pto_spec_loc(&s, n->loc);
    if (!PTO_SOME(pto_spec_build(&s, pto_at_end(n->block)))) n->failed = 1;
}

void tile_emit_store_by_factors(tile_nest *n, tile_piece tile, tile_piece factors, pto_value memory,
                                const pto_expr *offsets)
{
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_STORE_FP));
    pto_spec_operand(&s, tile.value);
    pto_spec_operand(&s, factors.value);
    pto_spec_operand(&s, memory);
    pto_spec_exprs(&s, PTO_STR("offsets"), pto_type_rank(pto_value_type(memory)), offsets);
    pto_spec_loc(&s, n->loc);
    if (!PTO_SOME(pto_spec_build(&s, pto_at_end(n->block)))) n->failed = 1;
}

void tile_emit_store(tile_nest *n, tile_piece tile, pto_value memory, const pto_expr *offsets)
{
    tile_emit_store_after(n, tile, memory, offsets, 0, (double)NAN);
}

/* To the nearest value with `mantissa` stored bits and exponents from `least` up, ties to even. */
static double round_to_bits(double x, int mantissa, int least, double largest)
{
    int exponent = 0;
    if (x == 0.0 || !isfinite(x)) return x;
    (void)frexp(x, &exponent);
    exponent -= 1;
    if (exponent < least) exponent = least;
    double rounded = ldexp(rint(ldexp(x, mantissa - exponent)), exponent - mantissa);
    return fabs(rounded) > largest ? copysign(HUGE_VAL, x) : rounded;
}

static double round_to(double x, pto_dtype dtype)
{
    if (!pto_dtype_is_float(dtype) || pto_dtype_is_byte_float(dtype)) return x;
    return round_to_bits(x, pto_dtype_significand_bits(dtype) - 1, pto_dtype_exponent_min(dtype),
                         pto_dtype_float_max(dtype));
}

static pto_value scalar(tile_nest *n, pto_dtype dtype, tile_number number)
{
    const int is_index = PTO_SOME(number.index);
    if (PTO_SOME(number.value)) return number.value;
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, is_index ? KIND_INDEX_CAST : KIND_CONSTANT));
    if (is_index)
        pto_spec_exprs(&s, PTO_STR("from"), 1, &number.index);
    else if (pto_dtype_is_float(dtype))
        pto_spec_float(&s, PTO_STR("value"), round_to(number.real, dtype));
    else
        pto_spec_int(&s, PTO_STR("value"), number.whole);
    pto_spec_result(&s, pto_type_scalar(n->run, dtype));
    pto_spec_loc(&s, n->loc);
    pto_value value = pto_spec_value(&s, pto_at_end(n->block));
    if (!PTO_SOME(value)) n->failed = 1;
    return value;
}

static tile_piece emit_from_scalar(tile_nest *n, uint32_t kind, tile_number number, const pto_expr valid[2],
                                   tile_piece p)
{
    if (n->counts != NULL) return count_op(n, pto_kind(n->run, kind), p, 1, 0, NULL);
    pto_value value = scalar(n, p.dtype, number);
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, kind));
    pto_spec_operand(&s, value);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    return finish(n, &s, p);
}

pto_value tile_emit_read(tile_nest *n, tile_piece t, pto_expr column)
{
    const pto_expr at[2] = {pto_expr_const(n->run, 0), column};
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_READ_SCALAR));
    pto_spec_operand(&s, t.value);
    pto_spec_exprs(&s, PTO_STR("offsets"), 2, at);
    pto_spec_result(&s, pto_type_scalar(n->run, t.dtype));
    pto_spec_loc(&s, n->loc);
    pto_spec_name(&s, PTO_STR("s"));
    const pto_value v = pto_spec_value(&s, pto_at_end(n->block));
    if (!PTO_SOME(v)) n->failed = 1;
    return v;
}

tile_piece tile_emit_fill(tile_nest *n, pto_dtype dtype, tile_number number, const pto_expr valid[2], int64_t rows,
                          int64_t columns)
{
    return emit_from_scalar(n, KIND_FILL, number, valid, piece_of(n, rows, columns, dtype));
}

tile_piece tile_emit_count(tile_nest *n, pto_dtype dtype, tile_number start, const pto_expr valid[2], int64_t columns)
{
    return emit_from_scalar(n, KIND_IOTA, start, valid, piece_of(n, 1, columns, dtype));
}

tile_piece tile_emit(tile_nest *n, pto_kind_id kind, pto_dtype dtype, int64_t rows, int64_t columns, uint32_t count,
                     const tile_piece *operands)
{
    tile_piece p = piece_of(n, rows, columns, dtype);
    if (n->counts != NULL) return count_op(n, kind, p, 1, count, operands);
    pto_spec s = pto_spec_make(n->run, kind);
    for (uint32_t i = 0; i < count; i++) pto_spec_operand(&s, operands[i].value);
    return finish(n, &s, p);
}

tile_piece tile_emit_with(tile_nest *n, pto_kind_id kind, tile_attr attr, pto_dtype dtype, uint32_t count,
                          const tile_piece *operands, const tile_number *number)
{
    const tile_piece *last = &operands[count - 1];
    tile_piece p = piece_of(n, last->rows, last->columns, dtype);
    if (n->counts != NULL) return count_op(n, kind, p, 1, count, operands);
    const pto_value s_value = number != NULL ? scalar(n, last->dtype, *number) : pto_value_none(n->run);
    pto_spec s = pto_spec_make(n->run, kind);
    for (uint32_t i = 0; i < count; i++) pto_spec_operand(&s, operands[i].value);
    if (number != NULL) pto_spec_operand(&s, s_value);
    if (attr.name.n != 0) pto_spec_str(&s, attr.name, attr.word);
    return finish(n, &s, p);
}

tile_piece tile_emit_scalar(tile_nest *n, pto_kind_id kind, tile_piece tile, tile_number number)
{
    tile_piece p = piece_of(n, tile.rows, tile.columns, tile.dtype);
    if (n->counts != NULL) return count_op(n, kind, p, 1, 1, &tile);
    pto_value value = scalar(n, tile.dtype, number);
    pto_spec s = pto_spec_make(n->run, kind);
    pto_spec_operand(&s, tile.value);
    pto_spec_operand(&s, value);
    return finish(n, &s, p);
}

tile_piece tile_emit_merged(tile_nest *n, pto_kind_id kind, int64_t columns, tile_piece tile, int64_t run)
{
    const pto_expr valid[2] = {pto_expr_const(n->run, tile.rows), pto_expr_const(n->run, columns)};
    tile_piece p = piece_of(n, tile.rows, columns, tile.dtype);
    if (n->counts != NULL) return count_op(n, kind, p, 1, 1, &tile);
    pto_spec s = pto_spec_make(n->run, kind);
    pto_spec_operand(&s, tile.value);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    pto_spec_int(&s, PTO_STR("run"), run);
    return finish(n, &s, p);
}

tile_piece tile_emit_order(tile_nest *n, tile_piece tile, pto_expr rows, int64_t columns, int descending)
{
    const pto_expr valid[2] = {rows, pto_expr_const(n->run, columns)};
    tile_piece p = piece_of(n, tile.rows, columns, PTO_I32);
    if (n->counts != NULL) return count_op(n, pto_kind(n->run, KIND_ORDER), p, 1, 1, &tile);
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_ORDER));
    pto_spec_operand(&s, tile.value);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    pto_spec_bool(&s, PTO_STR("descending"), descending);
    return finish(n, &s, p);
}

tile_piece tile_emit_cast(tile_nest *n, tile_piece tile, pto_dtype to, pto_op from)
{
    tile_piece p = piece_of(n, tile.rows, tile.columns, to);
    if (n->counts != NULL) return count_op(n, pto_kind(n->run, KIND_CAST), p, 1, 1, &tile);
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_CAST));
    pto_spec_operand(&s, tile.value);
    pto_spec_attr(&s, PTO_STR("mode"), pto_op_attr(from, PTO_STR("mode")));
    pto_spec_attr(&s, PTO_STR("saturate"), pto_op_attr(from, PTO_STR("saturate")));
    return finish(n, &s, p);
}

static void count_loop(tile_nest *n, uint32_t count, const tile_piece *initial)
{
    const uint32_t loop = storage_add_loop(n->counts, pto_kind(n->run, KIND_FOR), n->around);
    for (uint32_t i = 0; i < count; i++) storage_add_use(n->counts, loop, i, initial[i].at, 1);
    n->around = loop;
    n->carried = n->counts->value_count;
    for (uint32_t i = 0; i < count; i++) {
        const storage_shape shape = shape_of(n, &initial[i]);
        (void)storage_add_value(n->counts, &shape, loop, 2 * loop + 1);
    }
}

/* `results` arrive as what the body yields. Loops do not nest in each other, so `carried` is still that of this one. */
static void count_loop_end(tile_nest *n, uint32_t count, tile_piece *results)
{
    storage_plan *p = n->counts;
    const uint32_t loop = n->around, yield = storage_add_yield(p, pto_kind(n->run, KIND_YIELD), loop);
    for (uint32_t i = 0; i < count; i++) storage_add_use(p, yield, i, results[i].at, 1);
    n->around = p->ops[loop].parent;
    for (uint32_t i = 0; i < count; i++) {
        const storage_shape shape = shape_of(n, &results[i]);
        const uint32_t result = storage_add_value(p, &shape, loop, 2 * p->ops[loop].last + 1);
        storage_add_link(p, STORAGE_AROUND, loop, n->carried + i, result);
        storage_add_link(p, STORAGE_HANDED, loop, result, results[i].at);
        storage_add_link(p, STORAGE_HANDED, loop, result, p->uses[p->ops[loop].first_use + i].value);
        results[i].at = result;
    }
}

pto_op tile_begin_for(tile_nest *n, pto_expr trips, uint32_t count, const tile_piece *initial,
                      const pto_expr (*valid)[2])
{
    if (n->counts != NULL) {
        count_loop(n, count, initial);
        return pto_op_none(n->run);
    }
    const pto_expr zero = pto_expr_const(n->run, 0), one = pto_expr_const(n->run, 1);
    pto_attr *regions = PTO_SCRATCH(n->run, pto_attr, count);
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_FOR));
    for (uint32_t i = 0; i < count; i++) {
        pto_spec_operand(&s, initial[i].value);
        pto_spec_result(&s, pto_value_type(initial[i].value));
        regions[i] = pto_attr_make_exprs(n->run, 2, valid[i]);
    }
    pto_spec_exprs(&s, PTO_STR("from"), 1, &zero);
    pto_spec_exprs(&s, PTO_STR("to"), 1, &trips);
    pto_spec_exprs(&s, PTO_STR("step"), 1, &one);
    if (count != 0) pto_spec_attr(&s, PTO_STR("valid"), pto_attr_make_list(n->run, count, regions));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, n->loc);
    if (count != 0) pto_spec_name(&s, result_name(n));
    pto_op loop = pto_spec_build(&s, pto_at_end(n->block));
    if (!PTO_SOME(loop)) n->failed = 1;
    n->block = pto_body(loop);
    return loop;
}

void tile_end_for(tile_nest *n, pto_op loop, uint32_t count, const tile_piece *next, tile_piece *results)
{
    for (uint32_t i = 0; i < count; i++) results[i] = next[i];
    if (n->counts != NULL) {
        count_loop_end(n, count, results);
        return;
    }
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_YIELD));
    for (uint32_t i = 0; i < count; i++) pto_spec_operand(&s, next[i].value);
    pto_spec_loc(&s, n->loc);
    if (!PTO_SOME(pto_spec_build(&s, pto_at_end(n->block)))) n->failed = 1;
    n->block = pto_op_block(loop);
    for (uint32_t i = 0; i < count; i++) results[i].value = pto_op_result(loop, i);
}

/* What a nest stores, before it is viewed under the shape of the result. */
static pto_str stored_name(const pto_run *run, pto_str name, pto_value target)
{
    char behind[16];
    (void)snprintf(behind, sizeof behind, "_%ud", (unsigned)pto_type_rank(pto_value_type(target)));
    return joined(run, "", name, behind);
}

pto_op tile_begin_forall(tile_nest *n, pto_op group, uint32_t dims, const pto_expr *to, const char *const *names,
                         uint32_t outs, const pto_value *targets)
{
    pto_str label = pto_attr_str_of(group, PTO_STR("label"));
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_FORALL));
    pto_spec_attr(&s, PTO_STR("label"), pto_attr_make_str(n->run, label));
    pto_spec_exprs(&s, PTO_STR("to"), dims, to);
    for (uint32_t i = 0; i < outs; i++) {
        pto_spec_operand(&s, targets[i]);
        pto_spec_result(&s, pto_value_type(targets[i]));
    }
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, n->loc);
    if (outs != 0) pto_spec_name(&s, stored_name(n->run, pto_value_name(pto_op_result(group, 0)), targets[0]));
    pto_op forall = pto_spec_build(&s, pto_before(group));
    for (uint32_t i = 1; i < outs && PTO_SOME(forall); i++) {
        pto_str name = stored_name(n->run, pto_value_name(pto_op_result(group, i)), targets[i]);
        if (pto_value_set_name(pto_op_result(forall, i), name) < 0) n->failed = 1;
    }
    n->block = pto_body(forall);
    pto_type index = pto_type_scalar(n->run, PTO_INDEX);
    for (uint32_t i = 0; i < dims; i++)
        if (!PTO_SOME(pto_block_add_arg(n->block, index, pto_s(names[i])))) n->failed = 1;
    for (uint32_t i = 0; i < outs; i++)
        if (!PTO_SOME(pto_block_add_arg(n->block, pto_value_type(targets[i]), PTO_STR("o")))) n->failed = 1;
    return forall;
}

pto_status tile_end_body(tile_nest *n)
{
    pto_spec s = pto_spec_make(n->run, pto_kind(n->run, KIND_YIELD));
    pto_spec_loc(&s, n->loc);
    PTO_NEED(pto_spec_build(&s, pto_at_end(n->block)));
    return n->failed ? PTO_FAILED : PTO_OK;
}

pto_status tile_end_forall(tile_nest *n, pto_op group, pto_op forall)
{
    uint32_t count = pto_op_result_count(group);
    pto_value *values = PTO_SCRATCH(n->run, pto_value, count);
    pto_str *names = PTO_SCRATCH(n->run, pto_str, count);
    PTO_TRY(tile_end_body(n));
    for (uint32_t i = 0; i < count; i++) {
        pto_type type = pto_value_type(pto_op_result(group, i));
        uint32_t rank = pto_type_rank(type);
        pto_expr *dims = PTO_SCRATCH(n->run, pto_expr, rank);
        for (uint32_t d = 0; d < rank; d++) dims[d] = pto_type_dim(type, d);
        values[i] = tile_view(n->run, group, pto_op_result(forall, i), rank, dims);
        PTO_NEED(values[i]);
        names[i] = pto_value_name(pto_op_result(group, i));
    }
    PTO_TRY(pto_op_replace(group, count, values));
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pto_value_set_name(values[i], names[i]));
    return PTO_OK;
}

pto_value tile_view(const pto_run *run, pto_op at, pto_value value, uint32_t rank, const pto_expr *dims)
{
    pto_type type = pto_value_type(value);
    int is_same = pto_type_rank(type) == rank;
    for (uint32_t d = 0; d < rank && is_same; d++) is_same = pto_expr_equal(pto_type_dim(type, d), dims[d]);
    if (is_same) return value;
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_VIEW));
    pto_spec_operand(&s, value);
    pto_spec_result(&s, pto_type_tensor(run, pto_type_dtype(type), rank, dims));
    pto_spec_loc(&s, pto_op_loc(at));
    char behind[16];
    (void)snprintf(behind, sizeof behind, "_%ud", (unsigned)rank);
    pto_spec_name(&s, joined(run, "", pto_value_name(value), behind));
    return pto_spec_value(&s, pto_before(at));
}

pto_value tile_empty(const pto_run *run, pto_op at, pto_type type, pto_str name)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_EMPTY));
    pto_spec_result(&s, type);
    pto_spec_loc(&s, pto_op_loc(at));
    pto_spec_name(&s, name);
    return pto_spec_value(&s, pto_before(at));
}

pto_expr tile_valid_extent(int64_t size, pto_expr extent, pto_expr index)
{
    int64_t rest = -1;
    pto_expr whole = pto_expr_const(extent.run, size);
    if (pto_expr_is_const(pto_expr_mod(extent, whole), &rest) && rest == 0) return whole;
    return pto_expr_min(whole, pto_expr_sub(extent, pto_expr_scale(index, size)));
}
