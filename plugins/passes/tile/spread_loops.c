/* pto.spread-loops: iterations of a `parallel` loop over nests become instances of the nests.
 *
 *     %w = tile.workspace : gm<8 x 64 x f32>              %w = tile.workspace : gm<8 * $B x 64 x f32>
 *     for %i parallel to $B {                             forall "n" (%i, %j) to ($B, 8) {
 *       forall "n" (%j) to (8) {                            .. store to %w[8 * %i + %j, 0] ..
 *         .. store to %w[%j, 0] ..                    =>  }
 *       }                                                 forall "m" (%i, %j) to ($B, 8) {
 *       forall "m" (%j) to (8) {                            .. load from %w[8 * %i + %j, 0] ..
 *         .. load from %w[%j, 0] ..                       }
 *       }
 *     }
 *
 * No iteration reads or writes what another one writes, so each nest may run for all of them before the next nest does.
 * Workspace of one iteration alone gets a place for each. Inner loops come first: a loop in a loop becomes two indices.
 * A nest in a branch is one for all iterations too, whose instances ask first. What else is in a loop keeps it in
 * order, as a remark tells. Exact.
 *
 * Requires functions on memory (pto.bufferized). Leaves loops that run in order. */
#include <pto/plugin.h>

#include "index_map.h"

#define KINDS(X)                   \
    X(FOR, "for")                  \
    X(FORALL, "forall")            \
    X(IF, "if")                    \
    X(YIELD, "yield")              \
    X(BIND, "bind")                \
    X(VIEW, "view")                \
    X(WORKSPACE, "tile.workspace") \
    X(LOAD, "tile.load")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                   \
    X(WORKSPACE, BYTES, "workspace", .def = "256MiB", .min = "0", .unit = "bytes",   \
      .doc = "largest workspace, of known extents, with a place for each iteration", \
      .example = "with: { workspace: "                                               \
                 "64MiB }")
PTO_OPTIONS(OPTIONS);

#define STATS(X)        \
    X(SPREAD, "spread") \
    X(NESTS, "nests")   \
    X(PLACES, "places") \
    X(ORDERED, "ordered")
PTO_STATS(STATS);

enum { BRANCHES_MAX = 8 };

/* What holds where a nest of a branch runs. */
typedef struct condition {
    pto_op branch;
    const char *relation;
} condition;

typedef struct spread_loop {
    const pto_run *run;
    pto_op loop, function;
    pto_value index;
    pto_expr from, step, trips;
    pto_value *places; /* workspace of one iteration, and views of it */
    pto_expr *extents; /* of their first dims, for one iteration */
    uint32_t place_count, place_capacity;
    const char *why; /* it stays in order; NULL: it does not */
    pto_op at;       /* what keeps it so */
} spread_loop;

static int is_inside(pto_op op, pto_op around)
{
    while (PTO_SOME(op) && !pto_op_same(op, around)) op = pto_op_parent(op);
    return PTO_SOME(op);
}

static void refuse(spread_loop *s, pto_op at, const char *why)
{
    if (s->why != NULL) return;
    s->why = why;
    s->at = at;
}

/* ---- workspace of one iteration ---- */

static int is_used_inside(pto_value v, pto_op loop)
{
    PTO_EACH_USE(v, use) {
        if (PTO_IS(use.op, VIEW) ? !is_used_inside(pto_op_result(use.op, 0), loop) : !is_inside(use.op, loop)) return 0;
    }
    return 1;
}

static int names_symbol(pto_expr e, pto_str symbol)
{
    if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL) return pto_str_same(pto_expr_symbol_name(e), symbol);
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++)
        if (names_symbol(pto_expr_arg(e, i), symbol)) return 1;
    return 0;
}

/* Whether the number of iterations is known where the function begins. */
static int is_early(const spread_loop *s)
{
    if (pto_expr_has_value(s->trips)) return 0;
    PTO_WALK(s->function, op)
    {
        if (PTO_IS(op, BIND) && names_symbol(s->trips, pto_attr_str_of(op, PTO_STR("symbol")))) return 0;
    }
    return 1;
}

static int is_too_large(const spread_loop *s, pto_type type)
{
    pto_expr bytes = pto_expr_scale(s->trips, pto_dtype_bytes(pto_type_dtype(type)));
    int64_t all;
    for (uint32_t d = 0; d < pto_type_rank(type); d++) bytes = pto_expr_mul(bytes, pto_type_dim(type, d));
    if (!PTO_SOME(bytes)) return 1;
    return pto_expr_is_const(bytes, &all) && all > pto_opt_i64(s->run, OPT_WORKSPACE);
}

/* Where a load has the memory that it reads, a store what it writes. */
static uint32_t memory_slot(pto_op op)
{
    return pto_op_transfer(op) == PTO_TRANSFER_STORE ? pto_op_operand_count(op) - 1 : 0;
}

static int is_memory_of(pto_op op, uint32_t slot)
{
    const uint32_t transfer = pto_op_transfer(op);
    return (transfer == PTO_TRANSFER_LOAD || transfer == PTO_TRANSFER_STORE) && slot == memory_slot(op);
}

static void add_place(spread_loop *s, pto_value v)
{
    const pto_run *run = s->run;
    uint32_t capacity = s->place_capacity;
    if (pto_type_rank(pto_value_type(v)) == 0) {
        refuse(s, PTO_SOME(pto_value_op(v)) ? pto_value_op(v) : s->loop,
               "workspace of one element has no dim for them");
        return;
    }
    PTO_GROW(run, s->extents, s->place_count, capacity);
    PTO_GROW(run, s->places, s->place_count, s->place_capacity);
    s->extents[s->place_count] = pto_type_dim(pto_value_type(v), 0);
    s->places[s->place_count++] = v;
    PTO_EACH_USE(v, use) {
        if (PTO_IS(use.op, VIEW))
            add_place(s, pto_op_result(use.op, 0));
        else if (!is_memory_of(use.op, use.slot))
            refuse(s, use.op, "workspace of an iteration is used by other ops than loads and stores");
    }
}

static void find_places(spread_loop *s)
{
    PTO_WALK(s->function, op)
    {
        if (!PTO_IS(op, WORKSPACE) || is_inside(op, s->loop)) continue;
        const pto_value v = pto_op_result(op, 0);
        if (pto_value_use_count(v) == 0 || !is_used_inside(v, s->loop)) continue;
        if (!is_early(s)) refuse(s, op, "workspace for all iterations needs their number when the function begins");
        if (is_too_large(s, pto_value_type(v))) refuse(s, op, "workspace for all iterations is too large");
        add_place(s, v);
    }
}

/* ---- what can be spread ---- */

/* The nests in a block. What is beside them goes before the loop, out of branches too. */
static uint32_t match_block(spread_loop *s, pto_block block, uint32_t depth)
{
    uint32_t nests = 0;
    PTO_EACH_OP(block, op) {
        if (PTO_IS(op, YIELD)) continue;
        if (PTO_IS(op, FORALL)) {
            if (PTO_SOME(pto_op_attr(op, PTO_STR("core")))) refuse(s, op, "the nest is given to cores already");
            nests++;
        } else if (PTO_IS(op, IF) && depth < BRANCHES_MAX && pto_op_result_count(op) == 0) {
            for (uint32_t b = 0; b < pto_op_block_count(op); b++)
                nests += match_block(s, pto_op_block_at(op, b), depth + 1);
        } else if (pto_op_block_count(op) != 0) {
            refuse(s, op, "the loop holds control flow beside nests");
        } else if (!pto_kind_has(s->run, pto_op_kind(op), PTO_TRAIT_PURE)) {
            refuse(s, op, "the loop holds an op beside nests that is not one");
        }
    }
    return nests;
}

static int is_in_nest(const spread_loop *s, pto_op op)
{
    for (pto_op at = pto_op_parent(op); !pto_op_same(at, s->loop); at = pto_op_parent(at))
        if (PTO_IS(at, FORALL)) return 1;
    return 0;
}

static void match_index(spread_loop *s)
{
    PTO_EACH_USE(s->index, use) {
        if (!PTO_IS(use.op, IF) && !is_in_nest(s, use.op))
            refuse(s, use.op, "the index is used outside of nests");
        else if (use.slot < pto_op_operand_count(use.op))
            refuse(s, use.op, "the index is taken as a value");
    }
}

static void match(spread_loop *s)
{
    const pto_run *run = s->run;
    const pto_op loop = s->loop;
    s->index = pto_block_arg(pto_body(loop), 0);
    s->from = pto_expr_of(loop, PTO_STR("from"), 0);
    s->step = pto_expr_of(loop, PTO_STR("step"), 0);
    s->trips = pto_expr_ceildiv(pto_expr_sub(pto_expr_of(loop, PTO_STR("to"), 0), s->from), s->step);
    if (!PTO_SOME(s->trips)) {
        refuse(s, loop, "the number of iterations does not fit 64 bits");
        return;
    }
    if (pto_expr_range(s->trips, loop, NULL).lo < 0) s->trips = pto_expr_max(pto_expr_const(run, 0), s->trips);
    if (pto_op_result_count(loop) != 0) refuse(s, loop, "what it carries changes places between two buffers");
    if (match_block(s, pto_body(loop), 0) == 0) refuse(s, loop, "the loop holds no nest");
    match_index(s);
    find_places(s);
}

/* ---- the change ---- */

/* The extent of one iteration's place in the memory; none: it is not one of those. */
static pto_expr place_extent(const spread_loop *s, pto_value memory)
{
    for (uint32_t i = 0; i < s->place_count; i++)
        if (pto_value_same(s->places[i], memory)) return s->extents[i];
    return pto_expr_none(s->run);
}

static pto_status move_to_place(const spread_loop *s, pto_op op, pto_value number)
{
    const pto_expr extent = place_extent(s, pto_op_operand(op, memory_slot(op)));
    if (!PTO_SOME(extent)) return PTO_OK;
    const uint32_t rank = pto_expr_count_of(op, PTO_STR("offsets"));
    pto_expr *offsets = PTO_SCRATCH(s->run, pto_expr, rank);
    for (uint32_t d = 0; d < rank; d++) offsets[d] = pto_expr_of(op, PTO_STR("offsets"), d);
    offsets[0] = pto_expr_add(pto_expr_mul(extent, pto_expr_value(number)), offsets[0]);
    const pto_attr all = pto_attr_make_exprs(s->run, rank, offsets);
    if (!PTO_SOME(all))
        return pto_error(op, "pto.spread-loops/overflow", "the offset of an iteration's place does not fit 64 bits");
    return pto_op_set_attr(op, PTO_STR("offsets"), all);
}

/* Ends the block by a branch that is taken where the condition holds; the block becomes that of the branch. */
static pto_status add_branch(const condition *c, pto_loc loc, pto_block *block)
{
    pto_spec spec = pto_spec_make(c->branch.run, pto_kind(c->branch.run, KIND_IF));
    pto_spec_str(&spec, PTO_STR("relation"), pto_s(c->relation));
    pto_spec_attr(&spec, PTO_STR("left"), pto_op_attr(c->branch, PTO_STR("left")));
    pto_spec_attr(&spec, PTO_STR("right"), pto_op_attr(c->branch, PTO_STR("right")));
    pto_spec_blocks(&spec, 1);
    pto_spec_loc(&spec, loc);
    const pto_op branch = pto_spec_build(&spec, pto_at_end(*block));
    PTO_NEED(branch);
    pto_spec yield = pto_spec_make(c->branch.run, pto_kind(c->branch.run, KIND_YIELD));
    pto_spec_loc(&yield, loc);
    PTO_NEED(pto_spec_build(&yield, pto_at_end(*block)));
    *block = pto_body(branch);
    return PTO_OK;
}

static pto_status fill_nest(const spread_loop *s, pto_op old, pto_op fresh, pto_value number, uint32_t count,
                            const condition *conditions)
{
    const pto_block from = pto_body(old);
    pto_block to = pto_body(fresh);
    const pto_expr index = pto_expr_add(s->from, pto_expr_mul(s->step, pto_expr_value(number)));
    const index_map map = {.count = 1, .from = &s->index, .to = &index};
    for (uint32_t i = 0; i < pto_block_arg_count(from); i++) {
        const pto_value arg = pto_block_arg(from, i);
        const pto_value now = pto_block_add_arg(to, pto_value_type(arg), pto_value_name(arg));
        PTO_NEED(now);
        PTO_TRY(pto_value_replace(arg, now));
    }
    for (uint32_t i = 0; i < count; i++) PTO_TRY(add_branch(&conditions[i], pto_op_loc(conditions[i].branch), &to));
    PTO_EACH_OP(from, op) PTO_TRY(pto_op_move(op, pto_at_end(to)));
    PTO_WALK(fresh, op)
    {
        if (index_map_apply(op, &map) < 0)
            return pto_error(op, "pto.spread-loops/overflow", "an index expression of `%.*s` does not fit 64 bits",
                             PTO_FMT(pto_op_name(op)));
        if (pto_op_transfer(op) == PTO_TRANSFER_LOAD || pto_op_transfer(op) == PTO_TRANSFER_STORE)
            PTO_TRY(move_to_place(s, op, number));
    }
    return PTO_OK;
}

static pto_status spread_nest(const spread_loop *s, pto_op nest, uint32_t count, const condition *conditions)
{
    const pto_run *run = s->run;
    const uint32_t dims = pto_expr_count_of(nest, PTO_STR("to"));
    pto_expr *extents = PTO_SCRATCH(run, pto_expr, dims + 1);
    extents[0] = s->trips;
    for (uint32_t d = 0; d < dims; d++) extents[d + 1] = pto_expr_of(nest, PTO_STR("to"), d);
    pto_spec spec = pto_spec_make(run, pto_kind(run, KIND_FORALL));
    pto_spec_attrs_of(&spec, nest);
    pto_spec_exprs(&spec, PTO_STR("to"), dims + 1, extents);
    pto_spec_blocks(&spec, 1);
    pto_spec_loc(&spec, pto_op_loc(nest));
    const pto_op fresh = pto_spec_build(&spec, pto_before(s->loop));
    PTO_NEED(fresh);
    const pto_value number = pto_block_add_arg(pto_body(fresh), pto_value_type(s->index), pto_value_name(s->index));
    PTO_NEED(number);
    PTO_TRY(fill_nest(s, nest, fresh, number, count, conditions));
    pto_stat_add(run, STAT_NESTS, 1);
    return pto_op_erase(nest);
}

static pto_status widen_place(const spread_loop *s, uint32_t i)
{
    const pto_run *run = s->run;
    const pto_type type = pto_value_type(s->places[i]);
    pto_expr dims[PTO_MAX_DIMS] = {pto_expr_mul(pto_type_dim(type, 0), s->trips)};
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t d = 1; d < rank; d++) dims[d] = pto_type_dim(type, d);
    const pto_type wide = pto_type_gm(run, pto_type_dtype(type), rank, dims);
    PTO_NEED(wide);
    pto_stat_add(run, STAT_PLACES, PTO_IS(pto_value_op(s->places[i]), WORKSPACE) != 0);
    return pto_value_set_type(s->places[i], wide);
}

/* The relation of the first block of a branch, or of the second. */
static const char *relation_of(pto_op branch, uint32_t block)
{
    static const char *const words[][2] = {{"eq", "ne"}, {"lt", "ge"}, {"le", "gt"}};
    const pto_str word = pto_attr_str_of(branch, PTO_STR("relation"));
    for (uint32_t i = 0; i < 6; i++)
        if (pto_str_is(word, words[i / 2][i % 2])) return words[i / 2][(i % 2) ^ block];
    return "";
}

static pto_status spread_block(const spread_loop *s, pto_block block, uint32_t count, condition *conditions)
{
    PTO_EACH_OP(block, op) {
        if (PTO_IS(op, FORALL)) {
            PTO_TRY(spread_nest(s, op, count, conditions));
        } else if (PTO_IS(op, IF)) {
            for (uint32_t b = 0; b < pto_op_block_count(op); b++) {
                conditions[count] = (condition){.branch = op, .relation = relation_of(op, b)};
                PTO_TRY(spread_block(s, pto_op_block_at(op, b), count + 1, conditions));
            }
        } else if (!PTO_IS(op, YIELD)) {
            PTO_TRY(pto_op_move(op, pto_before(s->loop)));
        }
    }
    return PTO_OK;
}

static pto_status spread(const spread_loop *s)
{
    condition conditions[BRANCHES_MAX];
    PTO_TRY(spread_block(s, pto_body(s->loop), 0, conditions));
    for (uint32_t i = 0; i < s->place_count; i++) PTO_TRY(widen_place(s, i));
    pto_stat_add(s->run, STAT_SPREAD, 1);
    return pto_op_erase(s->loop);
}

static pto_status keep_in_order(const spread_loop *s)
{
    char path[PTO_PATH_BYTES] = "";
    (void)pto_op_path(s->at, path, sizeof path);
    pto_remark(s->loop, "pto.spread-loops/in-order", "the `parallel` loop runs in order: %s (%s)", s->why, path);
    pto_stat_add(s->run, STAT_ORDERED, 1);
    return pto_op_set_attr(s->loop, PTO_STR("parallel"), pto_attr_none(s->run));
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    uint32_t count = 0, capacity = 0;
    pto_op *loops = NULL;
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, FOR) || !pto_attr_bool_of(op, PTO_STR("parallel"), 0)) continue;
        PTO_GROW(run, loops, count, capacity);
        loops[count++] = op;
    }
    while (count-- > 0) {
        spread_loop s = {.run = run, .loop = loops[count], .function = function};
        match(&s);
        PTO_TRY(s.why == NULL ? spread(&s) : keep_in_order(&s));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.spread-loops",
    .summary = "Run iterations of parallel loops as instances of the nests in them",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .requires_props = PTO_STRS("pto.bufferized"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.spread-loops", "pass:pto.spread-loops", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
