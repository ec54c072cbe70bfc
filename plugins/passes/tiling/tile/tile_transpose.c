/* Lowers a transpose of the last two dims: each instance loads a tile, transposes it and stores it at the mirrored
 * place. Leading dims become dims of the grid. */
#include "tile_nest.h"

typedef struct transposition {
    const pto_run *run;
    pto_type source;
    uint32_t rank;
    pto_expr extent[2]; /* of the source */
    int64_t static_extent[2], granule;
} transposition;

static void emit(const transposition *t, tile_nest *n, const int64_t *tile, pto_value source, pto_value target)
{
    pto_expr *from = PTO_SCRATCH(t->run, pto_expr, t->rank), *to = PTO_SCRATCH(t->run, pto_expr, t->rank), valid[2];
    for (uint32_t d = 0; d < t->rank && n->counts == NULL; d++) {
        pto_expr index = pto_expr_value(pto_block_arg(n->block, d));
        uint32_t which = d + 2 - t->rank;
        from[d] = d + 2 < t->rank ? index : pto_expr_scale(index, tile[which]);
        to[d + 2 < t->rank ? d : d + 1 < t->rank ? d + 1 : d - 1] = from[d];
        if (d + 2 >= t->rank) valid[which] = tile_valid_extent(tile[which], t->extent[which], index);
    }
    tile_piece loaded = tile_emit_load(n, source, from, valid, tile[0], tile[1], 0);
    tile_piece turned = tile_emit(n, KIND_TRANSPOSE, loaded.dtype, tile[1], tile[0], 1, &loaded);
    tile_emit_store(n, turned, target, to);
}

typedef struct measured {
    const transposition *t;
    pto_value source;
    storage_plan counted;
} measured;

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    measured *m = self;
    if (space != PTO_VEC) return 0;
    tile_nest n = tile_nest_make(m->t->run, &m->counted);
    emit(m->t, &n, tile, m->source, m->source);
    return tile_counted_bytes(&n);
}

static int64_t capacity(void *self, pto_space space) { return tile_capacity(((const measured *)self)->t->run, space); }

static pto_status choose(const transposition *t, pto_op group, pto_value source, int64_t tile[2])
{
    static const char *const names[2] = {"rows", "columns"};
    measured m = {
        .t = t, .source = source, .counted = storage_plan_make(t->run, pto_opt_bool(t->run, TILE_OPT_IN_PLACE))};
    pto_tiling_dim dims[2];
    const pto_tiling_dim *list[2] = {&dims[0], &dims[1]};
    for (int d = 0; d < 2; d++)
        dims[d] = (pto_tiling_dim){.struct_size = sizeof dims[d],
                                   .kind = PTO_PARALLEL,
                                   .name = names[d],
                                   .extent = t->extent[d],
                                   .static_extent = t->static_extent[d],
                                   .granule = t->granule};
    const pto_tiling_problem problem = {.struct_size = sizeof problem,
                                        .dim_count = 2,
                                        .shape = "elementwise",
                                        .nest = group,
                                        .dims = list,
                                        .self = &m,
                                        .footprint = footprint,
                                        .capacity = capacity};
    PTO_TRY(pto_tiling_choose(t->run, TILE_OPT_STRATEGY, &problem, tile, NULL));
    for (int d = 0; d < 2; d++) {
        int64_t most = t->static_extent[d] == 0 ? 1 : t->static_extent[d];
        if (most > 0 && tile[d] > most) tile[d] = most;
    }
    return PTO_OK;
}

static pto_status read_transposition(transposition *t, const pto_run *run, pto_op op)
{
    *t = (transposition){.run = run, .source = pto_value_type(pto_operand(op, 0))};
    t->rank = pto_type_rank(t->source);
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t want = i + 2 < t->rank ? i : i + 2 == t->rank ? i + 1 : i - 1;
        if (t->rank >= 2 && pto_int_of(op, "perm", i, -1) == want) continue;
        return pto_error(op, "pto.tile/unsupported-op",
                         "`tensor.transpose` is supported for the last two dims; entry %u of `perm` is %lld, not %lld",
                         (unsigned)i, (long long)pto_int_of(op, "perm", i, -1), (long long)want);
    }
    int64_t block = tile_machine_i64(run, "vector.block-bytes", 1), bytes = pto_dtype_bytes(pto_type_dtype(t->source));
    t->granule = bytes > 0 && block > bytes ? block / bytes : 1;
    for (uint32_t d = 0; d < 2 && t->rank >= 2; d++) {
        t->extent[d] = pto_type_dim(t->source, t->rank - 2 + d);
        if (!pto_expr_is_const(t->extent[d], &t->static_extent[d])) t->static_extent[d] = -1;
    }
    return PTO_OK;
}

pto_status tile_lower_transpose(const pto_run *run, pto_op group, pto_op op)
{
    transposition t;
    int64_t tile[2] = {1, 1};
    PTO_TRY(read_transposition(&t, run, op));
    if (t.rank < 2) {
        pto_value same = pto_operand(op, 0);
        return pto_replace_all(group, 1, &same);
    }
    pto_value source = pto_operand(op, 0);
    PTO_TRY(choose(&t, group, source, tile));
    pto_expr *to = PTO_SCRATCH(run, pto_expr, t.rank);
    const char **names = pto_scratch_array(run, t.rank, sizeof *names);
    for (uint32_t d = 0; d < t.rank; d++) {
        uint32_t which = d + 2 - t.rank;
        to[d] = d + 2 < t.rank ? pto_type_dim(t.source, d)
                               : pto_expr_ceildiv(t.extent[which], pto_expr_const(run, tile[which]));
        names[d] = d + 2 < t.rank ? "ib" : which == 0 ? "i" : "j";
    }
    pto_value target = tile_empty(run, group, pto_value_type(pto_result(op, 0)), pto_s("e"));
    PTO_NEED(target);
    tile_nest n = tile_nest_make(run, NULL);
    n.loc = pto_op_loc(op);
    n.name = pto_value_name(pto_result(group, 0));
    pto_op forall = tile_begin_forall(&n, group, t.rank, to, names, 1, &target);
    PTO_NEED(forall);
    emit(&t, &n, tile, source, pto_block_arg(n.block, t.rank));
    return tile_end_forall(&n, group, forall);
}
