/* Lowers sort, argsort and topk of rows to the instruction that puts rows in order, where a machine has it.
 *
 *     %y, %i = tensor.topk %x {k = 8}  =>  forall (%i) to (ceildiv($B, 64)) out(%o = %e, %p = %f) {
 *                                            %tx = tile.load %x[64 * %i, 0] size(min(64, ..), 256)
 *                                            %ti = tile.order %tx valid(min(64, ..), 8) {descending = true}
 *                                            %ty = tile.rowgather %tx, %ti
 *                                            tile.store ..
 *                                          }
 *
 * Rows are whole, and of any type that the machine lists for `order`; places are i32. Exact. */
#include "machine_types.h"
#include "tile_nest.h"

enum {
    VALUES,
    PLACES,
    RESULTS,
    USUAL_ELEMENTS = 16384, /* of a tile, at most, where a row has not more */
    ROWS_OF_A_STEP = 16     /* more rows are a multiple */
};

typedef struct order_nest {
    const pto_run *run;
    pto_op group, op;
    pto_value x, memory, target[RESULTS]; /* targets: none where the op has no such result */
    pto_dtype dtype;
    pto_expr rows, first_row, valid_rows;
    int64_t length, kept, tile_rows;
    int descending;
} order_nest;

int tile_can_order(const pto_run *run, pto_op op)
{
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    const int64_t axis = pto_attr_i64(pto_op_attr(op, PTO_STR("axis")));
    const uint32_t count = pto_op_result_count(op), places = PTO_IS(op, T_ARGSORT) ? 0 : 1;
    int64_t length = 0;
    return machine_states(run, pto_kind(run, KIND_ORDER), pto_type_dtype(type)) && pto_type_rank(type) == 2 &&
           (axis == 1 || axis == -1) && pto_dim_is_const(type, 1, &length) && length > 0 &&
           pto_attr_int_of(op, PTO_STR("k"), 1) > 0 &&
           (places >= count || pto_type_dtype(pto_value_type(pto_op_result(op, places))) == PTO_I32);
}

static void read_op(order_nest *w)
{
    const int is_topk = PTO_IS(w->op, T_TOPK);
    const pto_type type = pto_value_type(pto_op_operand(w->op, 0));
    w->x = pto_op_operand(w->op, 0);
    w->dtype = pto_type_dtype(type);
    w->rows = pto_type_dim(type, 0);
    w->valid_rows = w->rows;
    w->first_row = pto_expr_const(w->run, 0);
    (void)pto_dim_is_const(type, 1, &w->length);
    w->kept = is_topk ? pto_attr_int_of(w->op, PTO_STR("k"), 0) : w->length;
    w->descending =
        is_topk ? pto_attr_bool_of(w->op, PTO_STR("largest"), 1) : pto_attr_bool_of(w->op, PTO_STR("descending"), 0);
    for (uint32_t r = 0; r < RESULTS; r++) w->target[r] = pto_value_none(w->run);
    if (!PTO_IS(w->op, T_ARGSORT)) w->target[VALUES] = w->x;
    if (!PTO_IS(w->op, T_SORT)) w->target[PLACES] = w->x;
}

static void emit(const order_nest *w, tile_nest *n)
{
    const pto_expr at[2] = {w->first_row, pto_expr_const(w->run, 0)};
    const pto_expr size[2] = {w->valid_rows, pto_expr_const(w->run, w->length)};
    const tile_piece x = tile_emit_load(n, w->memory, at, size, w->tile_rows, w->length, 0);
    const tile_piece places = tile_emit_order(n, x, w->valid_rows, w->kept, w->descending), both[2] = {x, places};
    if (PTO_SOME(w->target[VALUES])) {
        const tile_piece values =
            tile_emit(n, pto_kind(w->run, KIND_ROWGATHER), w->dtype, w->tile_rows, w->kept, 2, both);
        tile_emit_store(n, values, w->target[VALUES], at);
    }
    if (PTO_SOME(w->target[PLACES])) tile_emit_store(n, places, w->target[PLACES], at);
}

/* Of the tiles of an instance. */
static int64_t bytes_of(const order_nest *w, int64_t rows)
{
    const int64_t block = pto_machine_i64_or(w->run, 1, "vector.block-bytes");
    int64_t row = pto_round_up(tile_mul(w->length, pto_dtype_bytes(w->dtype)), block);
    row = tile_add(row, pto_round_up(tile_mul(w->kept, pto_dtype_bytes(PTO_I32)), block));
    if (PTO_SOME(w->target[VALUES]))
        row = tile_add(row, pto_round_up(tile_mul(w->kept, pto_dtype_bytes(w->dtype)), block));
    return tile_mul(rows, row);
}

/* So many rows that a tile has not too much to be near, and each core some of them. */
static int64_t usual_rows(const order_nest *w, int64_t capacity)
{
    const pto_space_facts space = pto_space_facts_of(w->run, PTO_ROLE_SCRATCHPAD);
    const pto_str core = space != NULL ? space->core : pto_no_str();
    const int64_t cores = pto_machine_i64_or(w->run, 1, "cores.%.*s.count", PTO_FMT(core));
    const int64_t expected = pto_expected_extent(w->group, w->rows);
    int64_t rows = USUAL_ELEMENTS / (w->length > 0 ? w->length : 1);
    if (expected >= 0 && rows > pto_ceil_div(expected, cores)) rows = pto_ceil_div(expected, cores);
    if (rows > ROWS_OF_A_STEP) rows = rows / ROWS_OF_A_STEP * ROWS_OF_A_STEP;
    if (rows < 1) rows = 1;
    while (rows > 1 && bytes_of(w, rows) > capacity) rows /= 2;
    return rows;
}

static pto_status choose(order_nest *w)
{
    static const char *const names[] = {"rows", NULL};
    const int64_t capacity = tile_capacity(w->run, pto_space_of_role(w->run, PTO_ROLE_SCRATCHPAD)), least = 1;
    int64_t rows = usual_rows(w, capacity), most = PTO_TILE_SIZE_MAX;
    if (pto_expr_is_const(w->rows, &most) && most < 1) most = 1;
    if (rows > most) rows = most;
    const pto_decision d = {.struct_size = sizeof d,
                            .count = 1,
                            .name = "tile",
                            .keys = names,
                            .min = &least,
                            .max = &most,
                            .limit = "rows that are put in order at once"};
    PTO_TRY(pto_decision_pinned(w->group, &d, &rows));
    PTO_TRY(pto_decision_made(w->group, &d, &rows));
    w->tile_rows = rows;
    const int64_t bytes = bytes_of(w, rows);
    if (bytes <= capacity) return PTO_OK;
    return pto_error(w->op, "pto.tile/unsupported-op",
                     "`%.*s` puts %lld x %lld elements in order at once, which takes %lld of %lld bytes: have "
                     "`pto.decompose-sort` compare elements instead (`order: false`)",
                     PTO_FMT(pto_op_name(w->op)), (long long)rows, (long long)w->length, (long long)bytes,
                     (long long)capacity);
}

pto_status tile_lower_order(const pto_run *run, pto_op group, pto_op op)
{
    static const char *const name = "i";
    order_nest w = {.run = run, .group = group, .op = op};
    pto_value targets[RESULTS];
    uint32_t count = 0;
    read_op(&w);
    PTO_TRY(choose(&w));
    const pto_expr dims[2] = {w.rows, pto_expr_const(run, w.length)}, kept[2] = {w.rows, pto_expr_const(run, w.kept)};
    w.memory = tile_view(run, group, w.x, 2, dims);
    PTO_NEED(w.memory);
    for (uint32_t r = 0; r < RESULTS; r++) {
        if (!PTO_SOME(w.target[r])) continue;
        targets[count] =
            tile_empty(run, group, pto_type_tensor(run, r == VALUES ? w.dtype : PTO_I32, 2, kept), PTO_STR("e"));
        PTO_NEED(targets[count]);
        count++;
    }
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    n.name = pto_value_name(pto_op_result(group, 0));
    const pto_expr trips = pto_expr_ceildiv(w.rows, pto_expr_const(run, w.tile_rows));
    const pto_op forall = tile_begin_forall(&n, group, 1, &trips, &name, count, targets);
    PTO_NEED(forall);
    const pto_expr index = pto_expr_value(pto_block_arg(n.block, 0));
    w.first_row = pto_expr_scale(index, w.tile_rows);
    w.valid_rows = tile_valid_extent(w.tile_rows, w.rows, index);
    for (uint32_t r = 0, next = 1; r < RESULTS; r++)
        if (PTO_SOME(w.target[r])) w.target[r] = pto_block_arg(n.block, next++);
    emit(&w, &n);
    return tile_end_forall(&n, group, forall);
}
