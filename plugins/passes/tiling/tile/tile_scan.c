/* Lowers cumsum and cumprod: a row of results so far is carried along the axis, and stored for each index.
 *
 *     forall (%ib, %j) to ($A, ceildiv($C, 256)) out(%o = %e) {      x [A, N, C], along N
 *       %tz = tile.fill 0
 *       for %r to $N carry(%s = %tz) {
 *         %tx = tile.load %x[%ib, %r, 256 * %j] size(1, ..)
 *         %ty = tile.add %s, %tx
 *         tile.store %ty, %o[%ib, %r, 256 * %j]
 *         yield %ty
 *       }
 *     } */
#include "tile_nest.h"

typedef struct scan_nest {
    const pto_run *run;
    pto_op group, op;
    pto_value x, memory, target;
    pto_dtype dtype;
    pto_kind_id combine;
    int exclusive, reverse;
    pto_expr before, count, columns;
    int64_t size;
    storage_plan counted;
} scan_nest;

static pto_expr product_of(pto_type type, uint32_t from, uint32_t to)
{
    pto_expr e = pto_expr_const(type.run, 1);
    for (uint32_t d = from; d < to; d++) e = pto_expr_mul(e, pto_type_dim(type, d));
    return e;
}

static void read_op(scan_nest *w)
{
    const int multiplies = PTO_IS(w->op, T_CUMPROD);
    const pto_type type = pto_value_type(pto_op_operand(w->op, 0));
    const int64_t named = pto_attr_i64(pto_op_attr(w->op, PTO_STR("axis")));
    const uint32_t axis = (uint32_t)(named < 0 ? named + pto_type_rank(type) : named);
    w->x = pto_op_operand(w->op, 0);
    w->dtype = pto_type_dtype(type);
    w->combine = pto_kind(w->run, multiplies ? KIND_MUL : KIND_ADD);
    w->exclusive = pto_attr_bool_of(w->op, PTO_STR("exclusive"), 0);
    w->reverse = pto_attr_bool_of(w->op, PTO_STR("reverse"), 0);
    w->before = product_of(type, 0, axis);
    w->count = pto_type_dim(type, axis);
    w->columns = product_of(type, axis + 1, pto_type_rank(type));
}

/* The loop along the axis. `at` is where the instance is, except for its second offset; while counting all is open. */
static void emit_loop(const scan_nest *w, tile_nest *n, pto_expr *at, const pto_expr valid[2])
{
    const int multiplies = w->combine == pto_kind(w->run, KIND_MUL), counts = n->counts != NULL;
    const int is_open = counts || valid == NULL;
    const pto_expr none = pto_expr_none(w->run);
    const pto_expr region[1][2] = {{is_open ? none : valid[0], is_open ? none : valid[1]}};
    const tile_number start = {.real = multiplies, .whole = multiplies, .index = none};
    const tile_piece first = tile_emit_fill(n, w->dtype, start, valid, 1, w->size);
    tile_piece pair[2] = {first, first}, last;
    const pto_op loop = tile_begin_for(n, w->count, 1, &first, region);
    pair[0].at = n->carried;
    if (!counts && at != NULL) {
        const pto_value r = pto_block_add_arg(n->block, pto_type_scalar(w->run, PTO_INDEX), PTO_STR("r"));
        const pto_expr index = pto_expr_value(r);
        pair[0].value = pto_block_add_arg(n->block, pto_value_type(first.value), PTO_STR("so_far"));
        if (!PTO_SOME(pair[0].value)) n->failed = 1;
        at[1] = w->reverse ? pto_expr_sub(pto_expr_add(w->count, pto_expr_const(w->run, -1)), index) : index;
    }
    pair[1] = tile_emit_load(n, counts ? w->x : w->memory, at, valid, 1, w->size, 0);
    const tile_piece through = tile_emit(n, w->combine, w->dtype, 1, w->size, 2, pair);
    tile_emit_store(n, w->exclusive ? pair[0] : through, w->target, at);
    tile_end_for(n, loop, 1, &through, &last);
}

static tile_nest count_instance(scan_nest *w, const int64_t *tile)
{
    tile_nest n = tile_nest_make(w->run, &w->counted);
    w->size = tile[1];
    emit_loop(w, &n, NULL, NULL);
    return n;
}

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    if (space != pto_space_of_role(((const scan_nest *)self)->run, PTO_ROLE_SCRATCHPAD)) return 0;
    const tile_nest n = count_instance(self, tile);
    return tile_counted_bytes(&n);
}

static void work(void *self, const int64_t *tile, const pto_work_sink *sink)
{
    const scan_nest *w = self;
    const tile_nest n = count_instance(self, tile);
    tile_put_work(&n, (double)pto_expected_extent(w->group, w->count), 1.0, sink);
}

static int64_t capacity(void *self, pto_space space) { return tile_capacity(((const scan_nest *)self)->run, space); }

static pto_status choose(scan_nest *w)
{
    const tile_rectangle row = {.self = w, .footprint = footprint, .capacity = capacity, .work = work};
    return tile_choose_row(w->group, w->before, w->columns, w->dtype, &row, &w->size);
}

pto_status tile_lower_scan(const pto_run *run, pto_op group, pto_op op)
{
    static const char *const names[2] = {"ib", "j"};
    scan_nest w = {.run = run, .group = group, .op = op};
    w.counted = storage_plan_make(run, pto_opt_bool(run, TILE_OPT_IN_PLACE));
    read_op(&w);
    w.target = w.x;
    PTO_TRY(choose(&w));
    const pto_expr dims[3] = {w.before, w.count, w.columns};
    const pto_expr to[2] = {w.before, pto_expr_ceildiv(w.columns, pto_expr_const(run, w.size))};
    w.memory = tile_view(run, group, w.x, 3, dims);
    const pto_value target = tile_empty(run, group, pto_type_tensor(run, w.dtype, 3, dims), PTO_STR("e"));
    PTO_NEED(w.memory);
    PTO_NEED(target);
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    n.name = pto_value_name(pto_op_result(group, 0));
    const pto_op forall = tile_begin_forall(&n, group, 2, to, names, 1, &target);
    PTO_NEED(forall);
    const pto_expr j = pto_expr_value(pto_block_arg(n.block, 1));
    const pto_expr valid[2] = {pto_expr_const(run, 1), tile_valid_extent(w.size, w.columns, j)};
    pto_expr at[3] = {pto_expr_value(pto_block_arg(n.block, 0)), pto_expr_none(run), pto_expr_scale(j, w.size)};
    w.target = pto_block_arg(n.block, 2);
    emit_loop(&w, &n, at, valid);
    return tile_end_forall(&n, group, forall);
}
