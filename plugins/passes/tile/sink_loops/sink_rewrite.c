/* The nest that a loop over nests becomes.
 *
 *     %r = for %i to 10 carry(%a = %x) {                %r, .. = forall "n" (%k) to (8) out(%s = %x, %p = %e) {
 *       %p = forall "n" (%j) to (8, 2) out(..) {          for %i to 10 {
 *         .. %a[4 * %j, 64 * %c] .. %o[..] ..               forall (%c) to (2) { .. %s[4 * %k, 64 * %c] .. %p[..] .. }
 *       }                                           =>      forall (%c) to (2) { .. %p .. %s .. }
 *       %y = forall "m" (%j, %c) to (8, 2) ..             }
 *       yield %y                                        }
 *     }
 *
 * Nests in a nest run in order, index by index. What is not made where it is carried is copied there at the end of an
 * iteration, by nests of their own. */
#include "index_map.h"
#include "sink_loops.h"

enum { COPY_BYTES = 16 << 10, COPY_ROWS = 64, COPY_COLUMNS = 512 };

typedef struct rewrite {
    sink_body *b;
    pto_op nest, loop; /* the new ones */
    pto_value instance;
} rewrite;

static pto_value add_index(const rewrite *w, pto_block block, pto_str name)
{
    return pto_block_add_arg(block, pto_type_scalar(w->b->run, PTO_INDEX), name);
}

static pto_status end_block(const rewrite *w, pto_block block)
{
    pto_spec yield = pto_spec_make(w->b->run, pto_kind(w->b->run, KIND_YIELD));
    pto_spec_loc(&yield, pto_op_loc(w->b->loop));
    return PTO_SOME(pto_spec_build(&yield, pto_at_end(block))) ? PTO_OK : PTO_FAILED;
}

/* An empty nest at the end of the new loop's body. */
static pto_op add_nest(const rewrite *w, uint32_t dims, const pto_expr *extents, pto_loc loc)
{
    pto_spec spec = pto_spec_make(w->b->run, pto_kind(w->b->run, KIND_FORALL));
    pto_spec_exprs(&spec, PTO_STR("to"), dims, extents);
    pto_spec_blocks(&spec, 1);
    pto_spec_loc(&spec, loc);
    return pto_spec_build(&spec, pto_at_end(pto_body(w->loop)));
}

/* ---- the new nest and its loop ---- */

static pto_value begin_of(const sink_body *b, const sink_memory *m)
{
    if (PTO_SOME(m->begin)) return m->begin;
    pto_spec spec = pto_spec_make(b->run, pto_kind(b->run, KIND_EMPTY));
    pto_spec_result(&spec, m->type);
    pto_spec_name(&spec, m->name);
    return pto_spec_value(&spec, pto_before(b->loop));
}

static int is_own(const sink_memory *m) { return m->home < 0 || !m->is_in_place; }

static pto_status make_nest(rewrite *w)
{
    sink_body *b = w->b;
    const pto_run *run = b->run;
    pto_spec spec = pto_spec_make(run, pto_kind(run, KIND_FORALL));
    const pto_str label = pto_attr_str_of(b->nests[0].op, PTO_STR("label"));
    if (label.n != 0) pto_spec_str(&spec, PTO_STR("label"), label);
    pto_spec_exprs(&spec, PTO_STR("to"), 1, &b->instances);
    for (uint32_t i = 0; i < b->memory_count; i++) {
        if (!is_own(&b->memories[i])) continue;
        const pto_value begin = begin_of(b, &b->memories[i]);
        PTO_NEED(begin);
        pto_spec_operand(&spec, begin);
        pto_spec_result(&spec, b->memories[i].type);
    }
    pto_spec_blocks(&spec, 1);
    pto_spec_loc(&spec, pto_op_loc(b->loop));
    w->nest = pto_spec_build(&spec, pto_before(b->loop));
    PTO_NEED(w->nest);
    w->instance = add_index(w, pto_body(w->nest), PTO_STR("instance"));
    PTO_NEED(w->instance);
    for (uint32_t i = 0, k = 0; i < b->memory_count; i++) {
        sink_memory *m = &b->memories[i];
        if (!is_own(m)) continue;
        m->place = pto_block_add_arg(pto_body(w->nest), m->type, m->name);
        m->result = pto_op_result(w->nest, k++);
        PTO_NEED(m->place);
        PTO_TRY(pto_value_set_name(m->result, m->name));
    }
    return PTO_OK;
}

static pto_status make_loop(rewrite *w)
{
    const sink_body *b = w->b;
    static const char *const bounds[] = {"from", "to", "step"};
    pto_spec spec = pto_spec_make(b->run, pto_kind(b->run, KIND_FOR));
    for (uint32_t i = 0; i < 3; i++) pto_spec_attr(&spec, pto_s(bounds[i]), pto_op_attr(b->loop, pto_s(bounds[i])));
    pto_spec_blocks(&spec, 1);
    pto_spec_loc(&spec, pto_op_loc(b->loop));
    w->loop = pto_spec_build(&spec, pto_at_end(pto_body(w->nest)));
    PTO_NEED(w->loop);
    const pto_value old = pto_block_arg(pto_body(b->loop), 0),
                    fresh = add_index(w, pto_body(w->loop), pto_value_name(old));
    PTO_NEED(fresh);
    PTO_TRY(pto_value_replace(old, fresh));
    return end_block(w, pto_body(w->nest));
}

/* The memory as a value of the new nest: its output, or a view of that. */
static pto_value place_of(const rewrite *w, const sink_memory *m, pto_type type)
{
    const pto_value place = is_own(m) ? m->place : w->b->memories[m->home].place;
    if (pto_type_same(pto_value_type(place), type)) return place;
    PTO_EACH_USE(place, use) {
        if (PTO_IS(use.op, VIEW) && pto_op_same(pto_op_parent(use.op), w->nest) &&
            pto_type_same(pto_value_type(pto_op_result(use.op, 0)), type))
            return pto_op_result(use.op, 0);
    }
    pto_spec spec = pto_spec_make(w->b->run, pto_kind(w->b->run, KIND_VIEW));
    pto_spec_operand(&spec, place);
    pto_spec_result(&spec, type);
    pto_spec_name(&spec, m->name);
    return pto_spec_value(&spec, pto_before(w->loop));
}

/* A name of a memory becomes what it is in the new nest. */
static pto_status replace_name(const rewrite *w, pto_value name)
{
    const sink_memory *m = &w->b->memories[sink_body_find(w->b, name)->memory];
    const pto_value place = place_of(w, m, pto_value_type(name));
    PTO_NEED(place);
    return pto_value_replace(name, place);
}

/* ---- its body ---- */

/* What an index of an old nest becomes. */
typedef struct index_form {
    int is_kept;
    pto_expr extent; /* of the kept one */
    pto_expr value;  /* of the old one, by the kept one where there is one */
} index_form;

static int is_read_as_value(pto_value index)
{
    PTO_EACH_USE(index, use) {
        if (use.slot < pto_op_operand_count(use.op)) return 1;
    }
    return 0;
}

static index_form form_of(const rewrite *w, const sink_nest *n, uint32_t d)
{
    const sink_body *b = w->b;
    const pto_expr extent = pto_expr_of(n->op, PTO_STR("to"), d);
    const int64_t share = n->share;
    int64_t whole = 0;
    index_form f = {.is_kept = 1, .extent = extent, .value = pto_expr_none(b->run)};
    if ((int32_t)d == n->index) {
        const pto_expr first = pto_expr_scale(pto_expr_value(w->instance), share);
        f.is_kept = share != 1;
        f.extent = pto_expr_min(pto_expr_const(b->run, share), pto_expr_sub(extent, first));
        f.value = first;
    } else if (pto_expr_is_const(extent, &whole) && whole == 1 &&
               !is_read_as_value(pto_block_arg(pto_body(n->op), d))) {
        f.is_kept = 0;
        f.value = pto_expr_const(b->run, 0);
    }
    return f;
}

static pto_status replace_tensors(const rewrite *w, const sink_nest *n, uint32_t dims)
{
    for (uint32_t i = 0; i < pto_op_result_count(n->op); i++) {
        PTO_TRY(replace_name(w, pto_block_arg(pto_body(n->op), dims + i)));
        PTO_TRY(replace_name(w, pto_op_result(n->op, i)));
    }
    return PTO_OK;
}

static pto_status apply_map(pto_op op, const index_map *map)
{
    PTO_TRY(index_map_apply(op, map));
    PTO_WALK(op, inner) PTO_TRY(index_map_apply(inner, map));
    return PTO_OK;
}

/* Moves what the nest does to the end of the block, with other indices. */
static pto_status move_ops(const sink_nest *n, pto_block to, int is_nest, const index_map *map)
{
    PTO_EACH_OP(pto_body(n->op), op) {
        if (PTO_IS(op, YIELD) && !is_nest) continue;
        PTO_TRY(pto_op_move(op, pto_at_end(to)));
        if (apply_map(op, map) < 0)
            return pto_error(op, "pto.sink-loops/overflow", "an index expression of `%.*s` does not fit 64 bits",
                             PTO_FMT(pto_op_name(op)));
    }
    return PTO_OK;
}

static pto_status move_nest(const rewrite *w, const sink_nest *n)
{
    const pto_run *run = w->b->run;
    const uint32_t dims = pto_expr_count_of(n->op, PTO_STR("to"));
    pto_value *from = PTO_SCRATCH(run, pto_value, dims);
    pto_expr *to = PTO_SCRATCH(run, pto_expr, dims), *extents = PTO_SCRATCH(run, pto_expr, dims);
    index_form *forms = PTO_SCRATCH(run, index_form, dims);
    uint32_t kept = 0;
    for (uint32_t d = 0; d < dims; d++) {
        forms[d] = form_of(w, n, d);
        if (forms[d].is_kept) extents[kept++] = forms[d].extent;
    }
    pto_block target = pto_body(w->loop);
    if (kept != 0) {
        const pto_op nest = add_nest(w, kept, extents, pto_op_loc(n->op));
        PTO_NEED(nest);
        target = pto_body(nest);
    }
    for (uint32_t d = 0; d < dims; d++) {
        from[d] = pto_block_arg(pto_body(n->op), d);
        to[d] = forms[d].value;
        if (!forms[d].is_kept) continue;
        const pto_value index = add_index(w, target, pto_value_name(from[d]));
        PTO_NEED(index);
        to[d] = PTO_SOME(forms[d].value) ? pto_expr_add(forms[d].value, pto_expr_value(index)) : pto_expr_value(index);
        if (!PTO_SOME(forms[d].value)) PTO_TRY(pto_value_replace(from[d], index));
    }
    if (n->index >= 0 && n->share == 1) PTO_TRY(pto_value_replace(from[n->index], w->instance));
    const index_map map = {.count = dims, .from = from, .to = to};
    PTO_TRY(replace_tensors(w, n, dims));
    PTO_TRY(move_ops(n, target, kept != 0, &map));
    return pto_op_erase(n->op);
}

/* ---- what is copied at the end of an iteration ---- */

/* How many elements along a dim a tile of the copy takes: at most `most`, of `extent`. */
static int64_t tile_extent(pto_expr extent, int64_t most, int64_t unknown)
{
    int64_t n = 0;
    if (!pto_expr_is_const(extent, &n)) n = unknown;
    if (n > most) n = most;
    return n > 0 ? n : 1;
}

typedef struct copy_dim {
    pto_expr first, count; /* what the instance copies along it */
    int64_t tile;
    int is_whole; /* one tile does it */
} copy_dim;

static void copy_dims(const rewrite *w, const sink_memory *m, copy_dim *dims)
{
    const sink_body *b = w->b;
    const uint32_t rank = pto_type_rank(m->type);
    const int64_t size = pto_dtype_bytes(pto_type_dtype(m->type));
    int64_t most = COPY_BYTES / (size > 0 ? size : 1);
    for (uint32_t d = rank; d-- > 0;) {
        const int is_divided = b->why_whole == NULL && (int32_t)d == m->dim;
        const pto_expr extent = pto_type_dim(m->type, d), block = pto_expr_const(b->run, m->block);
        int64_t here = d + 1 == rank ? most : d + 2 == rank ? (most < COPY_ROWS ? most : COPY_ROWS) : 1, whole = 0;
        dims[d] = (copy_dim){.first = pto_expr_const(b->run, 0), .count = extent};
        if (is_divided) {
            dims[d].first = pto_expr_mul(block, pto_expr_value(w->instance));
            dims[d].count = pto_expr_min(block, pto_expr_sub(extent, dims[d].first));
            if (here > m->block) here = m->block;
        }
        dims[d].tile = tile_extent(extent, here, d + 1 == rank ? COPY_COLUMNS : COPY_ROWS);
        dims[d].is_whole =
            (is_divided && dims[d].tile == m->block) || (pto_expr_is_const(extent, &whole) && dims[d].tile >= whole);
        if (d + 1 == rank) most /= dims[d].tile;
    }
}

/* The load and the store of a tile at the end of `block`, whose indices are the dims that are not whole. */
static pto_status fill_copy(const rewrite *w, pto_block block, const sink_memory *from, const sink_memory *to,
                            const copy_dim *dims)
{
    const pto_run *run = w->b->run;
    const uint32_t rank = pto_type_rank(to->type);
    pto_expr offsets[PTO_MAX_DIMS], sizes[2] = {pto_expr_const(run, 1), pto_expr_const(run, 1)};
    for (uint32_t d = 0; d < rank; d++) {
        pto_expr at = pto_expr_const(run, 0);
        if (!dims[d].is_whole) {
            const pto_value index = add_index(w, block, PTO_STR("c"));
            PTO_NEED(index);
            at = pto_expr_scale(pto_expr_value(index), dims[d].tile);
        }
        offsets[d] = pto_expr_add(dims[d].first, at);
        if (d + 2 < rank) continue;
        sizes[d + 2 - rank] = pto_expr_min(pto_expr_const(run, dims[d].tile), pto_expr_sub(dims[d].count, at));
    }
    pto_spec load = pto_spec_make(run, pto_kind(run, KIND_LOAD));
    pto_spec_operand(&load, place_of(w, from, to->type));
    pto_spec_exprs(&load, PTO_STR("offsets"), rank, offsets);
    pto_spec_exprs(&load, PTO_STR("sizes"), 2, sizes);
    pto_spec_result(&load, pto_type_tile(run, pto_type_dtype(to->type), rank > 1 ? dims[rank - 2].tile : 1,
                                         rank > 0 ? dims[rank - 1].tile : 1, PTO_SPACE_NONE, PTO_LAYOUT_NONE));
    pto_spec_name(&load, from->name);
    const pto_value tile = pto_spec_value(&load, pto_at_end(block));
    PTO_NEED(tile);
    pto_spec store = pto_spec_make(run, pto_kind(run, KIND_STORE));
    pto_spec_operand(&store, tile);
    pto_spec_operand(&store, to->place);
    pto_spec_exprs(&store, PTO_STR("offsets"), rank, offsets);
    return PTO_SOME(pto_spec_build(&store, pto_at_end(block))) ? PTO_OK : PTO_FAILED;
}

static pto_status add_copy(const rewrite *w, const sink_memory *m)
{
    const sink_memory *home = &w->b->memories[m->home];
    const uint32_t rank = pto_type_rank(home->type);
    copy_dim dims[PTO_MAX_DIMS] = {{.tile = 0}};
    pto_expr extents[PTO_MAX_DIMS];
    uint32_t kept = 0;
    copy_dims(w, home, dims);
    for (uint32_t d = 0; d < rank; d++)
        if (!dims[d].is_whole)
            extents[kept++] = pto_expr_ceildiv(dims[d].count, pto_expr_const(w->b->run, dims[d].tile));
    pto_stat_add(w->b->run, STAT_COPIES, 1);
    if (kept == 0) return fill_copy(w, pto_body(w->loop), m, home, dims);
    const pto_op nest = add_nest(w, kept, extents, pto_op_loc(w->b->loop));
    PTO_NEED(nest);
    PTO_TRY(fill_copy(w, pto_body(nest), m, home, dims));
    return end_block(w, pto_body(nest));
}

/* ---- all of it ---- */

static const sink_nest *nest_of(const sink_body *b, pto_op op)
{
    for (uint32_t i = 0; i < b->nest_count; i++)
        if (pto_op_same(b->nests[i].op, op)) return &b->nests[i];
    return NULL;
}

/* Views of what an iteration makes are views of memory now, those of tensors of outside are made there. */
static pto_status move_view(const rewrite *w, pto_op view)
{
    const pto_value v = pto_op_result(view, 0);
    if (sink_body_find(w->b, v) == NULL) return pto_op_move(view, pto_before(w->nest));
    PTO_TRY(replace_name(w, v));
    return pto_op_erase(view);
}

static pto_status fill_loop(const rewrite *w)
{
    const sink_body *b = w->b;
    for (uint32_t i = 0; i < pto_op_result_count(b->loop); i++)
        PTO_TRY(replace_name(w, pto_block_arg(pto_body(b->loop), i + 1)));
    PTO_EACH_OP(pto_body(b->loop), op) {
        const sink_nest *n = nest_of(b, op);
        if (n != NULL)
            PTO_TRY(move_nest(w, n));
        else if (PTO_IS(op, VIEW))
            PTO_TRY(move_view(w, op));
        else if (!PTO_IS(op, YIELD) && !PTO_IS(op, EMPTY))
            PTO_TRY(pto_op_move(op, pto_at_end(pto_body(w->loop))));
    }
    for (uint32_t i = 0; i < b->memory_count; i++)
        if (b->memories[i].home >= 0 && !b->memories[i].is_in_place) PTO_TRY(add_copy(w, &b->memories[i]));
    return end_block(w, pto_body(w->loop));
}

pto_status sink_body_apply(sink_body *b)
{
    rewrite w = {.b = b};
    pto_str *names = PTO_SCRATCH(b->run, pto_str, pto_op_result_count(b->loop));
    PTO_TRY(make_nest(&w));
    PTO_TRY(make_loop(&w));
    PTO_TRY(fill_loop(&w));
    PTO_TRY(sink_forward(b, w.loop));
    for (uint32_t i = 0; i < pto_op_result_count(b->loop); i++) {
        const pto_value old = pto_op_result(b->loop, i);
        names[i] = pto_value_name(old);
        PTO_TRY(pto_value_replace(old, b->memories[i].result));
    }
    pto_stat_add(b->run, STAT_BODIES, 1);
    const uint32_t count = pto_op_result_count(b->loop);
    PTO_TRY(pto_op_erase(b->loop));
    for (uint32_t i = 0; i < count; i++) PTO_TRY(pto_value_set_name(b->memories[i].result, names[i]));
    return PTO_OK;
}
