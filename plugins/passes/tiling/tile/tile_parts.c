/* Reductions in parts: where a vector group has fewer instances than there are cores and each sweeps many chunks, the
 * reductions that hang on no other ones run in a nest of their own, whose instances sweep a part of the axis each.
 *
 *     forall "f_0" (%i, %ip) to (4, 12) out(%p = %e) { for %j .. { .. } tile.store %s, %p[%i, %ip] }
 *     %y = tensor.group "f_0_combine" { %y = tensor.reduce_sum %p {axis = 1} yield %y }
 *
 * The partial results are memory, with the parts in the place of what is reduced. They are reduced once more in order
 * of their index, so results do not depend on which core did what. What the group computes beside its reductions, per
 * row alone, is in the group that combines; what it computes along the axis gets a nest after it. */
#include "tile_rows.h"

#include <stdio.h>

static pto_str with_suffix(const pto_run *run, pto_str name, const char *suffix)
{
    const size_t capacity = name.n + 16;
    char *text = pto_scratch(run, capacity);
    (void)snprintf(text, capacity, "%.*s%s", PTO_FMT(name), suffix);
    return pto_s(text);
}

/* ---- the decision ---- */

/* What is known of the sweep before it is split. -1: extents are not known. */
typedef struct sweep_facts {
    int64_t instances, chunks, chunk_cycles; /* chunks: that one instance sweeps; chunk_cycles: of one */
    int64_t least;                           /* chunks of a part: two elements, or combining parts would never end */
} sweep_facts;

static int64_t expected_chunks(const row_group *g, const int64_t *tile)
{
    return pto_expected_extent(g->group, rows_swept_chunks(g, tile));
}

/* -1 where an extent is not known. */
static int64_t expected_instances(const row_group *g, const int64_t *tile)
{
    int64_t instances = 1;
    for (uint32_t a = 0; a < g->axis_count; a++) {
        if ((g->sweeps & rows_along(a)) != 0) continue;
        if (g->expected[a] < 0) return -1;
        instances = tile_mul(instances, pto_ceil_div(g->expected[a], a < AXIS_OUTER ? tile[a] : 1));
    }
    return instances;
}

/* Bytes that one chunk loads. */
static int64_t chunk_bytes(const row_group *g, const int64_t *tile)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (v->role != ROW_INPUT || !v->is_needed || (v->shape & g->sweeps) == 0) continue;
        int64_t elements = 1;
        for (uint32_t a = 0; a < AXIS_OUTER; a++)
            if ((v->shape & rows_along(a)) != 0) elements = tile_mul(elements, tile[a]);
        bytes = tile_add(bytes, tile_mul(elements, pto_dtype_bytes(v->dtype)));
    }
    return bytes;
}

/* Whether the group computes something along a swept axis from what it reduces, or stores such. */
static int goes_on_along(const row_group *g)
{
    const uint8_t swept = g->sweeps;
    for (uint32_t i = 0; i < g->count; i++) {
        const row_value *v = &g->values[i];
        if (!v->is_needed) continue;
        if (v->role == ROW_REDUCE && v->depth > 1) return 1;
        if (((v->shape | v->form) & swept) != 0 && (v->is_output || v->depth != 0)) return 1;
    }
    return 0;
}

static row_part_costs costs_of(const row_group *g)
{
    enum { BLOCK = 2000, TASK = 1000 };
    const pto_run *run = g->run;
    const pto_space_facts space = pto_space_facts_of(run, PTO_ROLE_SCRATCHPAD);
    const pto_path_facts path = pto_path_facts_of(run, PTO_ROLE_GLOBAL, PTO_ROLE_SCRATCHPAD);
    const pto_str core = space != NULL ? space->core : pto_no_str();
    return (row_part_costs){.cores = pto_machine_i64_or(run, 1, "cores.%.*s.count", PTO_FMT(core)),
                            .load_rate = path != NULL && path->bytes_per_cycle > 0.0 ? path->bytes_per_cycle : 1.0,
                            .kernels = goes_on_along(g) ? 2 : 1,
                            /* A launch that waits for another one is prepared beside it. */
                            .kernel_cycles = pto_machine_i64_or(run, BLOCK, "dispatch.block-cycles") +
                                             pto_machine_i64_or(run, TASK, "dispatch.task-cycles")};
}

static sweep_facts facts_of(const row_group *g, const int64_t *tile)
{
    enum { CHUNK_OVERHEAD = 400 };
    sweep_facts f = {.instances = expected_instances(g, tile)};
    f.chunks = f.instances < 0 ? -1 : expected_chunks(g, tile);
    f.least = g->swept < AXIS_OUTER && tile[g->swept] > 1 ? 1 : 2;
    f.chunk_cycles = CHUNK_OVERHEAD + (int64_t)((double)chunk_bytes(g, tile) / g->part_costs.load_rate);
    return f;
}

static int64_t sweep_cycles(const row_group *g, const sweep_facts *f, int64_t parts, int64_t chunks)
{
    return tile_mul(pto_ceil_div(tile_mul(f->instances, parts), g->part_costs.cores),
                    tile_mul(chunks, f->chunk_cycles));
}

/* Chunks of a part, 0: one instance sweeps them all. */
static int64_t best_part(const row_group *g, const sweep_facts *f)
{
    const row_part_costs *c = &g->part_costs;
    if (f->instances <= 0 || f->chunks < 2 || f->instances > c->cores / 2) return 0;
    const int64_t even = pto_ceil_div(f->chunks, c->cores / f->instances);
    const int64_t chunks = even > f->least ? even : f->least, parts = pto_ceil_div(f->chunks, chunks);
    if (parts < 2) return 0;
    const int64_t in_parts = tile_add(sweep_cycles(g, f, parts, chunks), tile_mul(c->kernels, c->kernel_cycles));
    return in_parts < sweep_cycles(g, f, 1, f->chunks) ? chunks : 0;
}

static int is_ascending(const row_value *v)
{
    return pto_dtype_is_float(v->dtype) && pto_str_is(pto_attr_str_of(v->op, PTO_STR("order")), "ascending");
}

/* The reductions that hang on no other ones. */
static int is_first(const row_value *v) { return v->is_needed && v->role == ROW_REDUCE && v->depth == 1; }

/* Whether there are sums whose order is stated: those stay as they are. */
static int has_ascending(const row_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (is_first(&g->values[i]) && is_ascending(&g->values[i])) return 1;
    return 0;
}

/* Whether the reductions without what follows them have the axes of the group, so that its tiles are theirs. */
static int has_same_axes(const row_group *g)
{
    row_group alone = *g;
    uint8_t *is_wanted = PTO_SCRATCH(g->run, uint8_t, g->count);
    int is_wide = 0;
    alone.values = PTO_SCRATCH(g->run, row_value, g->count);
    alone.count = 0;
    for (uint32_t i = g->count; i-- > 0;) {
        const row_value *v = &g->values[i];
        if (is_first(v)) is_wanted[i] = 1;
        for (uint32_t k = 0; k < v->in_count && is_wanted[i]; k++) is_wanted[v->in[k]] = 1;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        if (!is_wanted[i]) continue;
        const row_value *v = &g->values[i];
        alone.values[alone.count++] = *v;
        is_wide |= !rows_drops_dims(v) && dims_of_type(pto_value_type(v->value)) == g->wide;
    }
    if (!is_wide || rows_find_axes(&alone) != PTO_OK) return 0;
    int is_same = alone.axis_count == g->axis_count && alone.sweeps == g->sweeps && alone.swept == g->swept;
    for (uint32_t a = 0; a < g->axis_count && is_same; a++) is_same = alone.axis_dims[a] == g->axis_dims[a];
    return is_same;
}

/* Whether each instance of the groups that would come of it has a part of its own of each result. */
static int has_own_parts(const row_group *g)
{
    const uint8_t all = (uint8_t)((1u << g->axis_count) - 1);
    const int leaves_rest = g->depth == 1 && goes_on_along(g);
    for (uint32_t i = 0; i < g->count; i++)
        if (is_first(&g->values[i]) && (g->values[i].shape | g->sweeps) != all) return 0;
    for (uint32_t i = 0; i < g->output_count && leaves_rest; i++)
        if (g->values[g->outputs[i]].shape != all) return 0;
    return has_same_axes(g);
}

void rows_find_parts(row_group *g)
{
    g->can_part = g->depth != 0 && !has_ascending(g) && has_own_parts(g);
    if (g->can_part) g->part_costs = costs_of(g);
}

int64_t rows_parts(const row_group *g, const int64_t *tile, int64_t *out_kernels)
{
    const sweep_facts f = facts_of(g, tile);
    const int64_t part = best_part(g, &f);
    *out_kernels = part == 0 ? 0 : g->part_costs.kernels;
    return part == 0 ? 1 : pto_ceil_div(f.chunks, part);
}

pto_status rows_choose_part(const row_group *g, const int64_t *tile, int64_t *part)
{
    *part = 0;
    if (!g->can_part || g->bound > 0) return PTO_OK;
    int64_t chunks = PTO_TILE_SIZE_MAX;
    if (pto_expr_is_const(rows_swept_chunks(g, tile), &chunks) && chunks < 2) return PTO_OK;
    const sweep_facts f = facts_of(g, tile);
    const int64_t none = 0, most = chunks - 1;
    char limit[128];
    if (f.instances < 0 || f.chunks < 0)
        (void)snprintf(limit, sizeof limit, "extents are not known");
    else
        (void)snprintf(limit, sizeof limit, "%lld instances for %lld cores, with %lld chunks of %lld cycles each",
                       (long long)f.instances, (long long)g->part_costs.cores, (long long)f.chunks,
                       (long long)f.chunk_cycles);
    const pto_decision d = {
        .struct_size = sizeof d, .count = 1, .name = "part", .min = &none, .max = &most, .limit = limit};
    *part = best_part(g, &f);
    PTO_TRY(pto_decision_pinned(g->group, &d, part));
    return pto_decision_made(g->group, &d, part);
}

/* ---- the groups ---- */

static pto_op make_group(const row_group *g, const char *suffix, uint32_t count, const pto_value *like)
{
    const pto_run *run = g->run;
    const pto_str label = with_suffix(run, pto_attr_str_of(g->group, PTO_STR("label")), suffix);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_GROUP));
    pto_spec_attr(&s, PTO_STR("label"), pto_attr_make_str(run, label));
    for (uint32_t i = 0; i < count; i++) pto_spec_result(&s, pto_value_type(like[i]));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(g->group));
    return pto_spec_build(&s, pto_before(g->group));
}

/* Results are named after what they stand for. */
static pto_status end_group(pto_op group, uint32_t count, const pto_value *values, const pto_value *like,
                            const char *suffix)
{
    pto_spec s = pto_spec_make(group.run, pto_kind(group.run, KIND_YIELD));
    for (uint32_t i = 0; i < count; i++) pto_spec_operand(&s, values[i]);
    PTO_NEED(pto_spec_build(&s, pto_at_end(pto_body(group))));
    for (uint32_t i = 0; i < count; i++)
        PTO_TRY(pto_value_set_name(pto_op_result(group, i), with_suffix(group.run, pto_value_name(like[i]), suffix)));
    return PTO_OK;
}

static pto_status erase_unused(pto_op group)
{
    for (pto_op op = pto_block_last(pto_body(group)); PTO_SOME(op);) {
        const pto_op before = pto_op_prev(op);
        if (pto_op_result_count(op) != 0 && !pto_op_is_used(op)) PTO_TRY(pto_op_erase(op));
        op = before;
    }
    return PTO_OK;
}

/* A group before that of `g`, of the same label, which computes the reductions alone. */
static pto_op clone_reductions(const row_group *g, uint32_t count, const pto_value *reductions)
{
    const pto_op made = make_group(g, "", count, reductions);
    pto_value *from = PTO_SCRATCH(g->run, pto_value, g->count), *to = PTO_SCRATCH(g->run, pto_value, g->count);
    pto_value *yielded = PTO_SCRATCH(g->run, pto_value, count);
    uint32_t copies = 0;
    if (!PTO_SOME(made)) return made;
    PTO_EACH_OP(pto_body(g->group), op) {
        if (pto_op_result_count(op) == 0) continue;
        const pto_op clone = pto_op_clone(op, pto_at_end(pto_body(made)), copies, from, to);
        if (!PTO_SOME(clone)) return clone;
        from[copies] = pto_op_result(op, 0);
        to[copies++] = pto_op_result(clone, 0);
        for (uint32_t r = 0; r < count; r++)
            if (pto_value_same(pto_op_result(op, 0), reductions[r])) yielded[r] = pto_op_result(clone, 0);
    }
    if (end_group(made, count, yielded, reductions, "_parts") != PTO_OK || erase_unused(made) != PTO_OK)
        return pto_op_none(g->run);
    return made;
}

/* The partial results under the shape of what is reduced, with the parts in the place of its last reduced dim. */
static pto_value view_parts(const row_group *g, pto_op reduction, pto_value memory, pto_expr parts)
{
    const pto_type type = pto_value_type(pto_op_operand(reduction, 0));
    const uint32_t rank = pto_type_rank(type), reduced = dims_reduced(reduction);
    pto_expr *dims = PTO_SCRATCH(g->run, pto_expr, rank);
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t bit = 1u << (rank - 1 - d);
        dims[d] = (reduced & bit) == 0          ? pto_type_dim(type, d)
                  : bit == dims_lowest(reduced) ? parts
                                                : pto_expr_const(g->run, 1);
    }
    return tile_view(g->run, g->group, memory, rank, dims);
}

/* The reductions of the parts, in a group of their own: what is left of the first one has other extents. */
static pto_status combine_apart(row_group *g, uint32_t count, const pto_value *reductions, const pto_value *parts)
{
    const pto_op made = make_group(g, "_combine", count, reductions);
    pto_value *yielded = PTO_SCRATCH(g->run, pto_value, count);
    PTO_NEED(made);
    for (uint32_t r = 0; r < count; r++) {
        const pto_op reduction = pto_value_op(reductions[r]);
        const pto_value from = pto_op_operand(reduction, 0);
        const pto_op clone = pto_op_clone(reduction, pto_at_end(pto_body(made)), 1, &from, &parts[r]);
        PTO_NEED(clone);
        yielded[r] = pto_op_result(clone, 0);
    }
    PTO_TRY(end_group(made, count, yielded, reductions, ""));
    for (uint32_t r = 0; r < count; r++) PTO_TRY(pto_value_replace(reductions[r], pto_op_result(made, r)));
    return tile_lower_rows(g->run, made);
}

pto_status rows_lower_in_parts(row_group *g, const int64_t *tile, int64_t part)
{
    const pto_run *run = g->run;
    pto_value *reductions = PTO_SCRATCH(run, pto_value, g->count), *parts = PTO_SCRATCH(run, pto_value, g->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (is_first(&g->values[i])) reductions[count++] = g->values[i].value;
    const pto_op first = clone_reductions(g, count, reductions);
    PTO_NEED(first);
    const pto_expr part_count = pto_expr_ceildiv(rows_swept_chunks(g, tile), pto_expr_const(run, part));
    PTO_TRY(rows_lower_part(run, first, tile, part, part_count, parts));
    for (uint32_t r = 0; r < count; r++) {
        parts[r] = view_parts(g, pto_value_op(reductions[r]), parts[r], part_count);
        PTO_NEED(parts[r]);
    }
    const char *suffix = "_rest";
    if (goes_on_along(g)) {
        PTO_TRY(combine_apart(g, count, reductions, parts));
    } else {
        suffix = "_combine";
        for (uint32_t r = 0; r < count; r++) PTO_TRY(pto_op_set_operand(pto_value_op(reductions[r]), 0, parts[r]));
    }
    PTO_TRY(erase_unused(g->group));
    const pto_str label = with_suffix(run, pto_attr_str_of(g->group, PTO_STR("label")), suffix);
    PTO_TRY(pto_op_set_attr(g->group, PTO_STR("label"), pto_attr_make_str(run, label)));
    return tile_lower_rows(run, g->group);
}
