/* Lowers sort, argsort and topk of rows of f32 to the instructions that sort.
 *
 *     forall (%i) to ($R) out(%o = %e, %o0 = %e0) {           topk of x [R, 300], k = 8
 *       %tx = tile.load %x[%i, 0] size(1, 300) {pad = -inf}   a tile of 320
 *       %tk = ..                                              keys
 *       %tr = tile.sort32 %tk, %tn                            %tn counts from 0
 *       %tm = tile.merge_runs %tr {run = 32}                  runs of 128
 *       %tf = tile.merge_runs %tm {run = 128}                 the first 8
 *       %ti = tile.record_index %tf
 *       %tv = tile.gather %tx, %ti
 *       ..
 *     }
 *
 * A row of topk that is long, or whose extent is not known, is taken in chunks: the first of all are carried along and
 * merged with each one, and then each chunk is asked for the values at these places.
 *
 * A key is below another one where its element comes later, and equal where they are equal, in the order of the tensor
 * op: NaN above all numbers, -0 equal to 0. It comes from the bits of the element: of -n, 0 and n, where n are the bits
 * without the sign, and one more than those of infinity for NaN. This number, minus 1, is that of the key: so NaN
 * becomes infinity, and -infinity the NaN with a sign, which the instruction puts last. Where the smallest come first
 * the number is taken the other way round, and NaN becomes that NaN. No key is -0 or a NaN without a sign, and of equal
 * keys the lower index is first in each 32, and the earlier run in merges. What is beyond the row has the last key and
 * indices beyond the row. */
#include "tile_nest.h"

#include <math.h>

enum {
    VALUES,
    PLACES,
    RESULTS,
    SORTED_AT_ONCE = 32,
    BLOCK = 64, /* rows are sorted in multiples: no instruction ends within a repeat of 256 bytes */
    MERGED_AT_ONCE = 4,
    CHUNK = 512,          /* of rows that are taken in chunks, unless more are wanted */
    CHUNK_OF_KEPT = 4,    /* a chunk has so many times what is wanted */
    WHOLE_ROW_MAX = 2048, /* longer rows of topk are taken in chunks */
    INFINITY_BITS = 0x7f800000
};

typedef struct sort_nest {
    const pto_run *run;
    pto_op group, op;
    pto_value x, memory, target[RESULTS]; /* targets: none where the op has no such result */
    pto_expr rows, length, row;
    int64_t static_length, kept, chunk; /* of the row, -1: not known; of it in the results; sorted at once */
    int descending;
    storage_plan counted;
} sort_nest;

static int in_chunks(const sort_nest *w) { return w->static_length < 0 || w->chunk < w->static_length; }

static tile_number number(const sort_nest *w, int64_t n)
{
    return (tile_number){.whole = n, .index = pto_expr_none(w->run)};
}

/* ---- keys ---- */

static tile_piece compared(const sort_nest *w, tile_nest *n, const char *relation, tile_piece a, int64_t with)
{
    const tile_attr attr = {PTO_STR("relation"), pto_s(relation)};
    const tile_number other = number(w, with);
    return tile_emit_with(n, pto_kind(w->run, KIND_CMPS), attr, PTO_MASK, 1, &a, &other);
}

static tile_piece of_one(const sort_nest *w, tile_nest *n, uint32_t kind, pto_dtype dtype, tile_piece a)
{
    return tile_emit(n, pto_kind(w->run, kind), dtype, a.rows, a.columns, 1, &a);
}

static tile_piece selected(const sort_nest *w, tile_nest *n, tile_piece mask, tile_piece a, tile_piece b)
{
    const tile_piece t[3] = {mask, a, b};
    return tile_emit(n, pto_kind(w->run, KIND_SELECT), a.dtype, a.rows, a.columns, 3, t);
}

static tile_piece added(const sort_nest *w, tile_nest *n, tile_piece a, int64_t term)
{
    return tile_emit_scalar(n, pto_kind(w->run, KIND_ADDS), a, number(w, term));
}

static tile_piece emit_keys(const sort_nest *w, tile_nest *n, tile_piece x)
{
    const tile_attr none = {{0}, {0}};
    const tile_number nan = number(w, INFINITY_BITS + 1);
    const tile_piece size = of_one(w, n, KIND_BITCAST, PTO_I32, of_one(w, n, KIND_ABS, PTO_F32, x));
    const tile_piece is_number = compared(w, n, "le", size, INFINITY_BITS);
    const tile_piece below = compared(w, n, "lt", of_one(w, n, KIND_BITCAST, PTO_I32, x), 0);
    const tile_piece either = selected(w, n, below, of_one(w, n, KIND_NEG, PTO_I32, size), size);
    const tile_piece by_number[2] = {is_number, either};
    const tile_piece at = tile_emit_with(n, pto_kind(w->run, KIND_SELECTS), none, PTO_I32, 2, by_number, &nan);
    const tile_piece minus = of_one(w, n, KIND_NEG, PTO_I32, at);
    /* The bits of a number below 0 are those of its size and the sign: added, for both fit. */
    const tile_piece up = w->descending ? added(w, n, at, -1) : minus;
    const tile_piece down = added(w, n, w->descending ? minus : at, w->descending ? INT32_MIN + 1 : INT32_MIN);
    const tile_piece bits = selected(w, n, compared(w, n, "lt", up, 0), down, up);
    return of_one(w, n, KIND_BITCAST, PTO_F32, bits);
}

/* ---- the nest, counted or built ---- */

static tile_piece load_chunk(const sort_nest *w, tile_nest *n, pto_expr chunk)
{
    const pto_expr at[2] = {w->row, pto_expr_scale(chunk, w->chunk)};
    const pto_expr size[2] = {pto_expr_const(w->run, 1), tile_valid_extent(w->chunk, w->length, chunk)};
    const double pad = w->descending ? -(double)INFINITY : (double)NAN;
    return tile_emit_filled_load(n, n->counts != NULL ? w->x : w->memory, at, size, 1, w->chunk, pad);
}

/* The first records of a chunk. */
static tile_piece emit_sorted(const sort_nest *w, tile_nest *n, tile_piece x, pto_expr chunk)
{
    const pto_expr all[2] = {pto_expr_const(w->run, 1), pto_expr_const(w->run, w->chunk)};
    const tile_number start = {.index = pto_expr_scale(chunk, w->chunk)};
    const tile_piece pair[2] = {emit_keys(w, n, x), tile_emit_count(n, PTO_I32, start, all, w->chunk)};
    tile_piece records = tile_emit(n, pto_kind(w->run, KIND_SORT32), PTO_REC64, 1, w->chunk, 2, pair);
    int64_t run = SORTED_AT_ONCE;
    do {
        const int64_t merged = tile_mul(run, MERGED_AT_ONCE);
        const int64_t columns = merged >= w->chunk ? w->kept : w->chunk;
        records = tile_emit_merged(n, pto_kind(w->run, KIND_MERGE_RUNS), columns, records, run);
        run = merged;
    } while (run < w->chunk);
    return records;
}

static void store(const sort_nest *w, tile_nest *n, int result, tile_piece t)
{
    const pto_expr at[2] = {w->row, pto_expr_const(w->run, 0)};
    if (PTO_SOME(w->target[result])) tile_emit_store(n, t, w->target[result], at);
}

static void emit_row(const sort_nest *w, tile_nest *n)
{
    const pto_expr zero = pto_expr_const(w->run, 0);
    const tile_piece x = load_chunk(w, n, zero);
    const tile_piece places = of_one(w, n, KIND_RECORD_INDEX, PTO_I32, emit_sorted(w, n, x, zero));
    const tile_piece both[2] = {x, places};
    if (PTO_SOME(w->target[VALUES]))
        store(w, n, VALUES, tile_emit(n, pto_kind(w->run, KIND_GATHER), PTO_F32, 1, w->kept, 2, both));
    store(w, n, PLACES, places);
}

/* Opens a loop that carries a tile, which becomes the one inside; its index. */
static pto_op begin_loop(const sort_nest *w, tile_nest *n, pto_expr trips, tile_piece *carried, pto_expr *out_index)
{
    const pto_expr region[1][2] = {{pto_expr_const(w->run, 1), pto_expr_const(w->run, w->kept)}};
    const pto_op loop = tile_begin_for(n, trips, 1, carried, region);
    *out_index = pto_expr_const(w->run, 0);
    carried->at = n->carried;
    if (n->counts != NULL) return loop;
    const pto_value index = pto_block_add_arg(n->block, pto_type_scalar(w->run, PTO_INDEX), PTO_STR("c"));
    carried->value = pto_block_add_arg(n->block, pto_value_type(carried->value), PTO_STR("so_far"));
    if (!PTO_SOME(index) || !PTO_SOME(carried->value)) n->failed = 1;
    *out_index = pto_expr_value(index);
    return loop;
}

/* The first records of all chunks, the first of which is sorted before the loop. */
static tile_piece emit_first_of_all(const sort_nest *w, tile_nest *n, pto_expr chunks)
{
    const pto_expr zero = pto_expr_const(w->run, 0), one = pto_expr_const(w->run, 1);
    tile_piece first = emit_sorted(w, n, load_chunk(w, n, zero), zero), all;
    pto_expr index;
    const pto_op loop = begin_loop(w, n, pto_expr_sub(chunks, one), &first, &index);
    const pto_expr chunk = pto_expr_add(index, one);
    const tile_piece lists[2] = {emit_sorted(w, n, load_chunk(w, n, chunk), chunk), first};
    const tile_piece merged = tile_emit(n, pto_kind(w->run, KIND_MERGE), PTO_REC64, 1, w->kept, 2, lists);
    tile_end_for(n, loop, 1, &merged, &all);
    return all;
}

/* The elements at the places, a chunk after the other; at first those that the row begins with: a row without so many
 * is a fault. */
static tile_piece emit_values(const sort_nest *w, tile_nest *n, tile_piece places, pto_expr chunks)
{
    const tile_attr equal = {PTO_STR("relation"), PTO_STR("eq")};
    const pto_expr zero = pto_expr_const(w->run, 0), at[2] = {w->row, zero};
    const pto_expr size[2] = {pto_expr_const(w->run, 1), pto_expr_const(w->run, w->kept)};
    tile_piece values = tile_emit_load(n, n->counts != NULL ? w->x : w->memory, at, size, 1, w->kept, 0), all;
    pto_expr index;
    const pto_op loop = begin_loop(w, n, chunks, &values, &index);
    const tile_piece x = load_chunk(w, n, index);
    const tile_number start = {.index = pto_expr_scale(index, -w->chunk)};
    const tile_piece here = tile_emit_scalar(n, pto_kind(w->run, KIND_ADDS), places, start);
    const tile_piece from = tile_emit_scalar(n, pto_kind(w->run, KIND_MAXS), here, number(w, 0));
    const tile_piece within = tile_emit_scalar(n, pto_kind(w->run, KIND_MINS), from, number(w, w->chunk - 1));
    const tile_piece both[2] = {here, within}, found[2] = {x, within};
    const tile_piece is_here = tile_emit_with(n, pto_kind(w->run, KIND_CMP), equal, PTO_MASK, 2, both, NULL);
    const tile_piece got = tile_emit(n, pto_kind(w->run, KIND_GATHER), PTO_F32, 1, w->kept, 2, found);
    const tile_piece next = selected(w, n, is_here, got, values);
    tile_end_for(n, loop, 1, &next, &all);
    return all;
}

static void emit(const sort_nest *w, tile_nest *n)
{
    if (!in_chunks(w)) {
        emit_row(w, n);
        return;
    }
    const pto_expr chunks = pto_expr_ceildiv(w->length, pto_expr_const(w->run, w->chunk));
    const tile_piece places = of_one(w, n, KIND_RECORD_INDEX, PTO_I32, emit_first_of_all(w, n, chunks));
    store(w, n, PLACES, places);
    store(w, n, VALUES, emit_values(w, n, places, chunks));
}

/* ---- how much is sorted at once ---- */

static int64_t bytes_of(sort_nest *w, int64_t chunk)
{
    tile_nest n = tile_nest_make(w->run, &w->counted);
    w->chunk = chunk;
    emit(w, &n);
    return tile_counted_bytes(&n);
}

static int64_t rounded(int64_t n) { return pto_round_up(n < 1 ? 1 : n, BLOCK); }

/* The chunk that is taken unless it is pinned. */
static int64_t usual_chunk(sort_nest *w, int64_t capacity)
{
    const int64_t expected = pto_expected_extent(w->group, w->length);
    if (w->static_length >= 0 && (!PTO_IS(w->op, T_TOPK) || w->static_length <= WHOLE_ROW_MAX) &&
        bytes_of(w, rounded(w->static_length)) <= capacity)
        return rounded(w->static_length);
    int64_t chunk = CHUNK;
    while (chunk < tile_mul(CHUNK_OF_KEPT, w->kept)) chunk *= MERGED_AT_ONCE;
    if (expected >= w->kept && rounded(expected) < chunk) chunk = rounded(expected);
    while (rounded(chunk / 2) >= w->kept && rounded(chunk / 2) < chunk && bytes_of(w, chunk) > capacity)
        chunk = rounded(chunk / 2);
    return chunk;
}

/* The most blocks, of at most `whole`, that memory holds at once; `least` when it does not hold more. */
static int64_t most_blocks(sort_nest *w, int64_t least, int64_t whole, int64_t capacity)
{
    if (bytes_of(w, whole * BLOCK) <= capacity) return whole;
    int64_t fits = least, too_many = whole;
    while (too_many - fits > 1) {
        const int64_t blocks = fits + (too_many - fits) / 2;
        if (bytes_of(w, blocks * BLOCK) <= capacity)
            fits = blocks;
        else
            too_many = blocks;
    }
    return fits;
}

static pto_status choose(sort_nest *w)
{
    const int64_t capacity = tile_capacity(w->run, pto_space_of_role(w->run, PTO_ROLE_SCRATCHPAD));
    const int64_t whole = w->static_length < 0 ? PTO_TILE_SIZE_MAX : rounded(w->static_length);
    int64_t blocks = usual_chunk(w, capacity) / BLOCK;
    if (PTO_IS(w->op, T_TOPK)) {
        const int64_t least = rounded(w->kept) / BLOCK, most = most_blocks(w, least, whole / BLOCK, capacity);
        const pto_decision d = {.struct_size = sizeof d,
                                .count = 1,
                                .name = "blocks",
                                .min = &least,
                                .max = &most,
                                .limit = "of 64 elements, which are sorted at once in the memory of a core"};
        PTO_TRY(pto_decision_pinned(w->group, &d, &blocks));
        PTO_TRY(pto_decision_made(w->group, &d, &blocks));
    } else {
        blocks = whole / BLOCK;
    }
    const int64_t bytes = bytes_of(w, blocks * BLOCK);
    if (bytes <= capacity) return PTO_OK;
    return pto_error(w->op, "pto.tile/unsupported-op",
                     "`%.*s` sorts %lld elements at once, which takes %lld of %lld bytes: have `pto.decompose-sort` "
                     "compare elements instead (`instructions: false`)",
                     PTO_FMT(pto_op_name(w->op)), (long long)w->chunk, (long long)bytes, (long long)capacity);
}

/* ---- the op ---- */

/* Rows of f32, and places in i32: what pto.decompose-sort leaves. */
static pto_status read_op(sort_nest *w)
{
    const int is_topk = PTO_IS(w->op, T_TOPK);
    const pto_type type = pto_value_type(pto_op_operand(w->op, 0));
    const int64_t axis = pto_attr_i64(pto_op_attr(w->op, PTO_STR("axis")));
    const uint32_t count = pto_op_result_count(w->op), places = PTO_IS(w->op, T_ARGSORT) ? 0 : 1;
    if (pto_type_dtype(type) != PTO_F32 || pto_type_rank(type) != 2 || (axis != 1 && axis != -1) ||
        (places < count && pto_type_dtype(pto_value_type(pto_op_result(w->op, places))) != PTO_I32))
        return pto_error(w->op, "pto.tile/unsupported-op",
                         "`%.*s` has a tile form along the rows of an f32 matrix, with places in i32; "
                         "`pto.decompose-sort` makes it of others",
                         PTO_FMT(pto_op_name(w->op)));
    w->x = pto_op_operand(w->op, 0);
    w->rows = pto_type_dim(type, 0);
    w->length = pto_type_dim(type, 1);
    w->row = pto_expr_const(w->run, 0);
    if (!pto_expr_is_const(w->length, &w->static_length)) w->static_length = -1;
    w->kept = is_topk ? pto_attr_int_of(w->op, PTO_STR("k"), 0) : w->static_length;
    w->descending =
        is_topk ? pto_attr_bool_of(w->op, PTO_STR("largest"), 1) : pto_attr_bool_of(w->op, PTO_STR("descending"), 0);
    for (uint32_t r = 0; r < RESULTS; r++) w->target[r] = pto_value_none(w->run);
    if (!PTO_IS(w->op, T_ARGSORT)) w->target[VALUES] = w->x;
    if (!PTO_IS(w->op, T_SORT)) w->target[PLACES] = w->x;
    if (w->kept > 0) return PTO_OK;
    return pto_error(w->op, "pto.tile/unsupported-op", "`%.*s` has a tile form where the extent is known and not 0",
                     PTO_FMT(pto_op_name(w->op)));
}

pto_status tile_lower_sort(const pto_run *run, pto_op group, pto_op op)
{
    static const char *const name = "i";
    sort_nest w = {.run = run, .group = group, .op = op};
    pto_value targets[RESULTS];
    uint32_t count = 0;
    w.counted = storage_plan_make(run, pto_opt_bool(run, TILE_OPT_IN_PLACE));
    PTO_TRY(read_op(&w));
    PTO_TRY(choose(&w));
    const pto_expr dims[2] = {w.rows, w.length}, kept[2] = {w.rows, pto_expr_const(run, w.kept)};
    w.memory = tile_view(run, group, w.x, 2, dims);
    PTO_NEED(w.memory);
    for (uint32_t r = 0; r < RESULTS; r++) {
        if (!PTO_SOME(w.target[r])) continue;
        targets[count] =
            tile_empty(run, group, pto_type_tensor(run, r == VALUES ? PTO_F32 : PTO_I32, 2, kept), PTO_STR("e"));
        PTO_NEED(targets[count]);
        count++;
    }
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    n.name = pto_value_name(pto_op_result(group, 0));
    const pto_op forall = tile_begin_forall(&n, group, 1, &w.rows, &name, count, targets);
    PTO_NEED(forall);
    w.row = pto_expr_value(pto_block_arg(n.block, 0));
    for (uint32_t r = 0, next = 1; r < RESULTS; r++)
        if (PTO_SOME(w.target[r])) w.target[r] = pto_block_arg(n.block, next++);
    emit(&w, &n);
    return tile_end_forall(&n, group, forall);
}
