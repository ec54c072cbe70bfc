/* pto.distribute: nests go to the cores of the machine, each core walks over its share of the instances.
 *
 *     forall "n" (%im, %in) to (A, B) {          forall "n" (%core) to (min(24, A * B)) core(cube) {
 *       body of %im, %in                           for %t = %core to A * B step 24 {
 *     }                                     =>       body of %t floordiv B, %t mod B
 *                                                  }
 *                                                }
 *
 * With the option `share: blocks` a core walks over neighbours, from %core * ceildiv(A * B, 24) on, where tiles are of
 * vectors alone and no loop or branch lets instances take different times: what they read is in one piece.
 *
 * The core kind follows from the spaces of the nest's tiles, the number of cores from the machine. A nest inside a nest
 * becomes an ordered loop, tile ops outside of any nest a nest of one instance. Exact.
 *
 * Requires tiles with spaces (pto.spaces-assigned). Leaves nests with a core kind and one index, the core
 * (pto.distributed). */
#include <pto/plugin.h>

#include "index_map.h"
#include "tile_machine.h"

#define KINDS(X)        \
    X(FORALL, "forall") \
    X(FOR, "for")       \
    X(IF, "if")         \
    X(YIELD, "yield")   \
    X(WORKSPACE, "tile.workspace")
PTO_KINDS(KINDS);

static const char *const walk_words[] = {"linear", "columns", NULL}, *const share_words[] = {"turns", "blocks", NULL};

#define OPTIONS(X)                                                                                                     \
    X(WALK, ENUM, "walk", .def = "linear", .choices = walk_words,                                                      \
      .doc = "order of the instances: the last index runs fastest, or the first",                                      \
      .example = "with: { walk: columns }")                                                                            \
    X(CORES, I64, "cores", .def = "0", .min = "0", .max = "65536",                                                     \
      .doc = "use at most as many cores; 0: all that the machine has", .example = "with: { cores: 8 }")                \
    X(SHARE, ENUM, "share", .def = "turns", .choices = share_words,                                                    \
      .doc =                                                                                                           \
          "instances of a core: turns: one in as many as there are cores; blocks: neighbours, where all take as long", \
      .example = "with: { share: blocks }")
PTO_OPTIONS(OPTIONS);

#define STATS(X)                  \
    X(DISTRIBUTED, "distributed") \
    X(WRAPPED, "wrapped")         \
    X(SEQUENTIAL, "made sequential")
PTO_STATS(STATS);

enum { WALK_LINEAR, NAME_MAX_BYTES = 96 };
enum { SHARE_TURNS };

/* ---- core kinds ---- */

typedef struct core_kind {
    pto_str name;
    pto_space space; /* that told it */
    pto_value tile;
} core_kind;

static pto_status add_tile(const pto_run *run, pto_op at, pto_value v, core_kind *k)
{
    if (!tile_is_tile(v)) return PTO_OK;
    pto_space space = pto_type_space(pto_value_type(v));
    pto_str core = tile_space_core(run, space);
    if (core.n == 0)
        return pto_error(at, "pto.distribute/no-core", "%%%.*s is in `%s`, which no core kind of %.*s has",
                         PTO_FMT(pto_value_name(v)), pto_space_name(run, space), PTO_FMT(tile_machine_name(run)));
    if (k->name.n == 0) *k = (core_kind){.name = core, .space = space, .tile = v};
    if (pto_str_same(k->name, core)) return PTO_OK;
    return pto_error(
        at, "pto.distribute/mixed",
        "%%%.*s is in `%s` of %.*s cores and %%%.*s in `%s` of %.*s cores; a nest runs on one core kind of "
        "%.*s: split it over a workspace",
        PTO_FMT(pto_value_name(k->tile)), pto_space_name(run, k->space), PTO_FMT(k->name), PTO_FMT(pto_value_name(v)),
        pto_space_name(run, space), PTO_FMT(core), PTO_FMT(tile_machine_name(run)));
}

static pto_status find_core_kind(const pto_run *run, pto_op nest, core_kind *out)
{
    *out = (core_kind){.name = pto_no_str()};
    PTO_WALK(nest, op)
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++)
        PTO_TRY(add_tile(run, op, pto_op_result(op, i), out));
    return PTO_OK;
}

/* Cores of the kind that the machine has; 1 for a nest that touches no tile. */
static int64_t count_cores(const pto_run *run, pto_str name)
{
    return name.n != 0 ? pto_machine_i64_or(run, 1, "cores.%.*s.count", PTO_FMT(name)) : 1;
}

/* How many of them the nest is for. */
static pto_status decide_cores(const pto_run *run, pto_op nest, pto_str name, int64_t *out)
{
    const int64_t one = 1, all = count_cores(run, name), wanted = pto_opt_i64(run, OPT_CORES);
    const pto_str machine = tile_machine_name(run);
    char limit[NAME_MAX_BYTES];
    (void)snprintf(limit, sizeof limit, "%.*s has %lld %.*s cores", PTO_FMT(machine), (long long)all, PTO_FMT(name));
    const pto_decision d = {.struct_size = sizeof d,
                            .count = 1,
                            .name = "cores",
                            .min = &one,
                            .max = &all,
                            .limit = name.n != 0 ? limit : "works on no tile"};
    *out = wanted > 0 && wanted < all ? wanted : all;
    PTO_TRY(pto_decision_pinned(nest, &d, out));
    return pto_decision_made(nest, &d, out);
}

/* The order of the instances, which a nest of one dim has no choice of. */
static pto_status decide_walk(const pto_run *run, pto_op nest, int64_t *out)
{
    const pto_decision d = {.struct_size = sizeof d, .count = 1, .name = "walk", .words = walk_words};
    *out = pto_opt_i64(run, OPT_WALK);
    if (pto_expr_count_of(nest, PTO_STR("to")) < 2) return PTO_OK;
    PTO_TRY(pto_decision_pinned(nest, &d, out));
    return pto_decision_made(nest, &d, out);
}

/* ---- indices ---- */

/* Each index of the grid as an expression of the walk's one. */
static pto_expr *unpack(const pto_run *run, pto_value t, uint32_t dims, pto_expr *extent, int last_fastest)
{
    int64_t n;
    for (uint32_t d = 0; d < dims; d++) {
        /* The walk has no step then, and its expressions must not divide by 0. */
        if (pto_expr_is_const(extent[d], &n) && n == 0) extent[d] = pto_expr_const(run, 1);
    }
    pto_expr *index = PTO_SCRATCH(run, pto_expr, dims), at = pto_expr_value(t), inner = pto_expr_const(run, 1);
    for (uint32_t k = 0; k < dims; k++) {
        uint32_t d = last_fastest ? dims - 1 - k : k;
        index[d] = pto_expr_floordiv(at, inner);
        if (k + 1 < dims) index[d] = pto_expr_mod(index[d], extent[d]);
        inner = pto_expr_mul(inner, extent[d]);
    }
    return index;
}

static pto_expr count_instances(const pto_run *run, pto_op forall)
{
    pto_expr total = pto_expr_const(run, 1);
    for (uint32_t d = 0; d < pto_expr_count_of(forall, PTO_STR("to")); d++)
        total = pto_expr_mul(total, pto_expr_of(forall, PTO_STR("to"), d));
    return total;
}

/* Instances that a core or a loop walks over. */
typedef struct share {
    pto_expr from, to;
    int64_t step;
} share;

/* A loop at `place` over instances of `forall`; it takes the body away. */
static pto_status make_walk(const pto_run *run, pto_op forall, int64_t order, pto_place place, const share *of)
{
    uint32_t dims = pto_expr_count_of(forall, PTO_STR("to"));
    const pto_expr by = pto_expr_const(run, of->step);
    pto_expr *extent = PTO_SCRATCH(run, pto_expr, dims);
    for (uint32_t d = 0; d < dims; d++) extent[d] = pto_expr_of(forall, PTO_STR("to"), d);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FOR));
    pto_spec_exprs(&s, PTO_STR("from"), 1, &of->from);
    pto_spec_exprs(&s, PTO_STR("to"), 1, &of->to);
    pto_spec_exprs(&s, PTO_STR("step"), 1, &by);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(forall));
    pto_op walk = pto_spec_build(&s, place);
    PTO_NEED(walk);
    pto_block body = pto_body(walk), old = pto_body(forall);
    pto_value t = pto_block_add_arg(body, pto_type_scalar(run, PTO_INDEX), PTO_STR("t"));
    PTO_NEED(t);
    PTO_EACH_OP(old, op) PTO_TRY(pto_op_move(op, pto_at_end(body)));
    if (dims == 1) return pto_value_replace(pto_block_arg(old, 0), t);

    pto_value *index = PTO_SCRATCH(run, pto_value, dims);
    for (uint32_t d = 0; d < dims; d++) index[d] = pto_block_arg(old, d);
    const index_map map = {.count = dims, .from = index, .to = unpack(run, t, dims, extent, order == WALK_LINEAR)};
    PTO_WALK(walk, inner)
    {
        if (index_map_apply(inner, &map) < 0)
            return pto_error(inner, "pto.distribute/overflow",
                             "an index expression of `%.*s` does not fit 64 bits when its "
                             "nest is walked over",
                             PTO_FMT(pto_op_name(inner)));
    }
    for (uint32_t d = 0; d < dims; d++) {
        pto_use use = pto_use_at(index[d], 0);
        if (PTO_SOME(use.op))
            return pto_error(
                use.op, "pto.distribute/index-value",
                "`%.*s` takes the index %%%.*s of a grid of %u dims as a value; only index expressions can "
                "follow it",
                PTO_FMT(pto_op_name(use.op)), PTO_FMT(pto_value_name(index[d])), dims);
    }
    return PTO_OK;
}

/* ---- tile ops outside of any nest ---- */

static int handles_tiles(pto_op op)
{
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++)
        if (tile_is_tile(pto_op_operand(op, i))) return 1;
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++)
        if (tile_is_tile(pto_op_result(op, i))) return 1;
    return 0;
}

static pto_op outer_forall(const pto_run *run, pto_op op, pto_op function)
{
    pto_op found = pto_op_none(run);
    for (pto_op at = op; PTO_SOME(at) && !pto_op_same(at, function); at = pto_op_parent(at))
        if (PTO_IS(at, FORALL) && !pto_op_same(at, op)) found = at;
    return found;
}

/* Whether `op`, of a function's body, does tile work that no nest is around; `out_nests`: it has nests inside. */
static int match_bare(const pto_run *run, pto_op op, pto_op function, int *out_nests)
{
    int bare = handles_tiles(op);
    *out_nests = PTO_IS(op, FORALL);
    PTO_WALK(op, inner)
    {
        *out_nests |= PTO_IS(inner, FORALL);
        bare |= handles_tiles(inner) && !PTO_SOME(outer_forall(run, inner, function));
    }
    return bare;
}

static pto_op make_wrapper(const pto_run *run, pto_op before, pto_op function, uint32_t number)
{
    const pto_expr one = pto_expr_const(run, 1);
    char label[NAME_MAX_BYTES];
    pto_str name = pto_function_name(function);
    (void)snprintf(label, sizeof label, "%.*s_bare_%u", (int)(name.n < 64 ? name.n : 64), name.n != 0 ? name.p : "",
                   number);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FORALL));
    pto_spec_str(&s, PTO_STR("label"), pto_s(label));
    pto_spec_exprs(&s, PTO_STR("to"), 1, &one);
    pto_spec_blocks(&s, 1);
    pto_op wrapper = pto_spec_build(&s, pto_before(before));
    if (!PTO_SOME(wrapper)) return wrapper;
    pto_spec yield = pto_spec_make(run, pto_kind(run, KIND_YIELD));
    if (!PTO_SOME(pto_block_add_arg(pto_body(wrapper), pto_type_scalar(run, PTO_INDEX), PTO_STR("i"))) ||
        !PTO_SOME(pto_spec_build(&yield, pto_at_end(pto_body(wrapper)))))
        return pto_op_none(run);
    pto_stat_add(run, STAT_WRAPPED, 1);
    return wrapper;
}

static pto_status check_inside(const pto_run *run, pto_op wrapper)
{
    PTO_EACH_OP(pto_body(wrapper), op)
        for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++)
            PTO_EACH_USE(pto_op_result(op, i), use) {
                pto_op around = use.op;
                while (PTO_SOME(around) && !pto_op_same(around, wrapper)) around = pto_op_parent(around);
                if (PTO_SOME(around)) continue;
                return pto_error(
                    use.op, "pto.distribute/split",
                    "`%.*s` uses %%%.*s, but an op between them is not tile work; put both into one `forall`",
                    PTO_FMT(pto_op_name(use.op)), PTO_FMT(pto_value_name(use.value)));
            }
    (void)run;
    return PTO_OK;
}

/* Each run of bare tile ops of the function's body becomes a nest of one instance. What does no tile work and has no
 * effect moves before it. */
static pto_status wrap_bare(const pto_run *run, pto_op function)
{
    pto_op wrapper = pto_op_none(run);
    uint32_t number = 0;
    PTO_EACH_OP(pto_body(function), op) {
        int nests = 0, bare = match_bare(run, op, function, &nests);
        if (bare && nests)
            return pto_error(op, "pto.distribute/nest-beside-tiles",
                             "`%.*s` holds nests and tile work outside of them; put the tile work into a `forall`",
                             PTO_FMT(pto_op_name(op)));
        int is_free = pto_op_block_count(op) == 0 &&
                      (pto_kind_has(run, pto_op_kind(op), PTO_TRAIT_PURE) || PTO_IS(op, WORKSPACE));
        if (bare && !PTO_SOME(wrapper)) {
            wrapper = make_wrapper(run, op, function, number++);
            PTO_NEED(wrapper);
        }
        if (bare) {
            PTO_TRY(pto_op_move(op, pto_before(pto_block_last(pto_body(wrapper)))));
        } else if (PTO_SOME(wrapper) && is_free) {
            PTO_TRY(pto_op_move(op, pto_before(wrapper)));
        } else {
            if (PTO_SOME(wrapper)) PTO_TRY(check_inside(run, wrapper));
            wrapper = pto_op_none(run);
        }
    }
    return PTO_SOME(wrapper) ? check_inside(run, wrapper) : PTO_OK;
}

/* ---- nests ---- */

static pto_status check_count(const pto_run *run, pto_op forall)
{
    if (PTO_SOME(count_instances(run, forall))) return PTO_OK;
    return pto_error(forall, "pto.distribute/overflow", "`forall` has more instances than fit 64 bits");
}

/* What is decided about a nest before anything changes. */
typedef struct nest_plan {
    pto_op forall;
    core_kind kind;
    int is_inside; /* of another one, so it becomes a loop */
    int64_t cores, order;
} nest_plan;

static pto_status plan_nest(const pto_run *run, pto_op function, nest_plan *p)
{
    p->is_inside = PTO_SOME(outer_forall(run, p->forall, function));
    PTO_TRY(check_count(run, p->forall));
    PTO_TRY(decide_walk(run, p->forall, &p->order));
    if (p->is_inside) return PTO_OK;
    PTO_TRY(find_core_kind(run, p->forall, &p->kind));
    return decide_cores(run, p->forall, p->kind.name, &p->cores);
}

static pto_status make_sequential(const pto_run *run, const nest_plan *p)
{
    const share all = {.from = pto_expr_const(run, 0), .to = count_instances(run, p->forall), .step = 1};
    PTO_TRY(make_walk(run, p->forall, p->order, pto_before(p->forall), &all));
    pto_stat_add(run, STAT_SEQUENTIAL, 1);
    return pto_op_erase(p->forall);
}

/* Whether all instances take as long and read what lies side by side: vector work without loops and branches. */
static int is_even(const pto_run *run, pto_op nest)
{
    const pto_space vectors = pto_space_of_role(run, PTO_ROLE_SCRATCHPAD);
    PTO_WALK(nest, op)
    {
        if (PTO_IS(op, FOR) || PTO_IS(op, IF) || PTO_IS(op, FORALL)) return 0;
        for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
            const pto_value v = pto_op_result(op, i);
            if (tile_is_tile(v) && pto_type_space(pto_value_type(v)) != vectors) return 0;
        }
    }
    return 1;
}

static share share_of(const pto_run *run, const nest_plan *p, pto_expr total, pto_value core)
{
    const pto_expr number = pto_expr_value(core);
    const pto_expr size = pto_expr_ceildiv(total, pto_expr_const(run, p->cores)), first = pto_expr_mul(number, size);
    int64_t count = 0;
    const int is_small = pto_expr_is_const(total, &count) && count <= p->cores;
    if (pto_opt_i64(run, OPT_SHARE) == SHARE_TURNS || is_small || !PTO_SOME(first) || !is_even(run, p->forall))
        return (share){.from = number, .to = total, .step = p->cores};
    return (share){.from = first, .to = pto_expr_min(total, pto_expr_add(first, size)), .step = 1};
}

static pto_status distribute(const pto_run *run, const nest_plan *p)
{
    pto_expr total = count_instances(run, p->forall), to = pto_expr_min(pto_expr_const(run, p->cores), total);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FORALL));
    pto_spec_attrs_of(&s, p->forall);
    pto_spec_exprs(&s, PTO_STR("to"), 1, &to);
    pto_spec_str(&s, PTO_STR("core"), p->kind.name.n != 0 ? p->kind.name : PTO_STR("any"));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(p->forall));
    pto_op launch = pto_spec_build(&s, pto_before(p->forall));
    PTO_NEED(launch);
    pto_value core = pto_block_add_arg(pto_body(launch), pto_type_scalar(run, PTO_INDEX), PTO_STR("core"));
    PTO_NEED(core);
    const share part = share_of(run, p, total, core);
    PTO_TRY(make_walk(run, p->forall, p->order, pto_at_end(pto_body(launch)), &part));
    pto_spec yield = pto_spec_make(run, pto_kind(run, KIND_YIELD));
    PTO_NEED(pto_spec_build(&yield, pto_at_end(pto_body(launch))));
    pto_stat_add(run, STAT_DISTRIBUTED, 1);
    return pto_op_erase(p->forall);
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_TRY(wrap_bare(run, function));
    uint32_t most = 0, count = 0;
    PTO_WALK(function, op) most += PTO_IS(op, FORALL) != 0;
    nest_plan *plans = PTO_SCRATCH(run, nest_plan, most);
    PTO_WALK(function, nest)
    {
        if (!PTO_IS(nest, FORALL) || PTO_SOME(pto_op_attr(nest, PTO_STR("core")))) continue;
        plans[count].forall = nest;
        PTO_TRY(plan_nest(run, function, &plans[count++]));
    }
    /* Inner ones come after outer ones. */
    while (count-- > 0)
        PTO_TRY(plans[count].is_inside ? make_sequential(run, &plans[count]) : distribute(run, &plans[count]));
    return PTO_OK;
}

/* ---- the property ---- */

static pto_status check_nest(const pto_run *run, pto_op forall, pto_op function)
{
    core_kind kind;
    pto_str word = pto_attr_str_of(forall, PTO_STR("core"));
    if (word.n == 0) return pto_error(forall, "pto.distributed/no-core", "`forall` has no core kind");
    if (PTO_SOME(outer_forall(run, forall, function)))
        return pto_error(forall, "pto.distributed/nested", "`forall` is inside another one");
    if (pto_expr_count_of(forall, PTO_STR("to")) != 1)
        return pto_error(forall, "pto.distributed/grid",
                         "`forall` has %u indices; a distributed one has the core alone",
                         pto_expr_count_of(forall, PTO_STR("to")));
    PTO_TRY(find_core_kind(run, forall, &kind));
    if (kind.name.n != 0 && !pto_str_same(word, kind.name))
        return pto_error(forall, "pto.distributed/wrong-core",
                         "`forall` is for %.*s cores, but %%%.*s is in `%s` of %.*s "
                         "cores",
                         PTO_FMT(word), PTO_FMT(pto_value_name(kind.tile)), pto_space_name(run, kind.space),
                         PTO_FMT(kind.name));
    const int64_t cores = pto_machine_i64_or(run, INT64_MAX, "cores.%.*s.count", PTO_FMT(kind.name));
    if (pto_expr_range(pto_expr_of(forall, PTO_STR("to"), 0), forall, NULL).hi <= cores) return PTO_OK;
    pto_str machine = tile_machine_name(run);
    return pto_error(forall, "pto.distributed/too-many",
                     "`forall` can have more instances than the %lld %.*s cores of "
                     "%.*s",
                     (long long)cores, PTO_FMT(kind.name), PTO_FMT(machine));
}

static pto_status check_distributed(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (PTO_IS(op, FORALL)) PTO_TRY(check_nest(run, op, function));
        if (handles_tiles(op) && !PTO_SOME(outer_forall(run, op, function)))
            return pto_error(op, "pto.distributed/bare", "`%.*s` works on tiles outside of any `forall`",
                             PTO_FMT(pto_op_name(op)));
    }
    return PTO_OK;
}

static const pto_property distributed = {
    .struct_size = sizeof distributed,
    .id = "pto.distributed",
    .doc = "every nest has a core kind and one index, the core, of which there are no more than the machine has",
    .level = "tile/1",
    .kinds = pass_kinds,
    .check = check_distributed,
};

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.distribute",
    .summary = "Give nests to the cores, with an ordered walk over each core's instances",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .requires_props = PTO_STRS("pto.spaces-assigned"),
    .establishes = PTO_STRS("pto.distributed"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.distribute", "pass:pto.distribute property:pto.distributed", "pto.distributed", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &distributed));
