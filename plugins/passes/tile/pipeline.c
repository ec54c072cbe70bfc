/* pto.pipeline: what is loaded, moved and stored inside loops rotates through several buffers, so that the next
 * transfer runs beside the work on this one.
 *
 *     for %t = %core to 64 step 48 {                for %t = %core to 64 step 48 {
 *       %x = tile.load ..                             %x = tile.load .. {stages = 2}
 *       %y = tile.exp %x                        =>    %y = tile.exp %x
 *       tile.store %y, ..                             tile.store %y, .. {stages = 2}
 *     }                                             }
 *
 * Loads come first, then moves to the matrix unit, then stores, each from the innermost loop outwards, as long as the
 * space can hold the buffers that pto.select will make of all tiles of the nest (storage_plan.h), without bytes
 * that pipes would have to wait for in every iteration (storage_place.h). When a later step finds no space for the
 * kernel all the same, stores keep one buffer, then moves too, then all. Exact.
 *
 * Requires nests of one core each (pto.distributed). Leaves the attribute `stages` on loads, moves and stores, by which
 * pto.select makes buffers. */
#include "storage_read.h"

#define KINDS(X)        \
    X(FORALL, "forall") \
    X(FOR, "for")       \
    X(WHILE, "while")   \
    X(IF, "if")         \
    X(YIELD, "yield")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                                 \
    X(STAGES, I64, "stages", .def = "2", .min = "1", .max = "8", .doc = "buffers that a transfer rotates through", \
      .example = "with: { stages: 3 }")                                                                            \
    X(LOADS, BOOL, "loads", .def = "true", .doc = "loads rotate", .example = "with: { loads: false }")             \
    X(MOVES, BOOL, "moves", .def = "true", .doc = "moves between on-chip spaces rotate",                           \
      .example = "with: { moves: false }")                                                                         \
    X(STORES, BOOL, "stores", .def = "true", .doc = "stored tiles rotate", .example = "with: { stores: false }")   \
    X(IN_PLACE, BOOL, "in-place", .def = "true",                                                                   \
      .doc = "space is counted as pto.select with this option makes buffers", .example = "with: { in-place: false }")
PTO_OPTIONS(OPTIONS);

#define STATS(X)          \
    X(ROTATED, "rotated") \
    X(NO_ROOM, "left single for lack of space")
PTO_STATS(STATS);

/* Results of loops and branches are the tiles that went in; so is the result of a product accumulated in place. */
static int has_own_storage(pto_op op)
{
    return !PTO_IS(op, FOR) && !PTO_IS(op, WHILE) && !PTO_IS(op, IF) && !pto_op_continues(op, 0);
}

/* The value whose buffer a tile is in, or none when it is handed over by an earlier iteration or by a branch. */
static pto_value storage_of(const pto_run *run, pto_value v)
{
    for (;;) {
        pto_op def = pto_value_op(v);
        if (!PTO_SOME(def) || PTO_IS(def, IF)) return pto_value_none(run);
        if (has_own_storage(def)) return v;
        v = pto_op_operand(def, pto_op_continues(def, 0) ? 0 : pto_value_index(v));
    }
}

/* ---- candidates ---- */

enum { WAVE_LOADS, WAVE_MOVES, WAVE_STORES, WAVE_COUNT };

/* WAVE_COUNT: the op is not a transfer. */
static int wave_of(pto_op op)
{
    switch (pto_op_transfer(op)) {
    case PTO_TRANSFER_LOAD: return WAVE_LOADS;
    case PTO_TRANSFER_MOVE: return WAVE_MOVES;
    case PTO_TRANSFER_STORE: return WAVE_STORES;
    default: return WAVE_COUNT;
    }
}

/* Loops around an op inside its nest; 0 when the innermost has no index to rotate by. */
static uint32_t loop_depth(pto_op op, pto_op nest)
{
    uint32_t depth = 0;
    for (pto_op at = pto_op_parent(op); PTO_SOME(at) && !pto_op_same(at, nest); at = pto_op_parent(at)) {
        if (depth == 0 && PTO_IS(at, WHILE)) return 0;
        depth += PTO_IS(at, FOR) != 0;
    }
    return depth;
}

/* The tile whose buffer rotates. */
static pto_value rotated_tile(pto_op op)
{
    return pto_op_transfer(op) == PTO_TRANSFER_STORE ? pto_op_operand(op, 0) : pto_op_result(op, 0);
}

/* Whether each iteration begins with a tile of its own: none that an earlier iteration hands over. */
static int match_fresh(const pto_run *run, pto_value tile)
{
    PTO_EACH_USE(tile, use)
        if (PTO_IS(use.op, YIELD)) return 0;
    return PTO_SOME(storage_of(run, tile));
}

/* What the nest needs, as pto.select and pto.allocate will see it. */
typedef struct needs {
    storage_plan plan;
    storage_source source;
} needs;

/* A transfer that can rotate. */
typedef struct candidate {
    pto_op op;
    int wave;
    uint32_t depth;
    int is_pinned, gave_way;
    int64_t needed, capacity; /* bytes of its space, with the stages that were tried; 0: none were */
} candidate;

static const int64_t stages_min = 1, stages_max = 8;

static pto_status set_stages(const pto_run *run, pto_op op, int64_t stages, needs *n)
{
    storage_rotate(&n->plan, &n->source, op, stages);
    return pto_op_set_attr(op, PTO_STR("stages"), stages > 1 ? pto_attr_make_i64(run, stages) : pto_attr_none(run));
}

static pto_status rotate(const pto_run *run, candidate *c, int64_t stages, needs *n)
{
    const pto_value tile = rotated_tile(c->op);
    const pto_space space = pto_type_space(pto_value_type(tile));
    const int64_t capacity = pto_space_usable_bytes(run, space, 0);
    PTO_TRY(set_stages(run, c->op, stages, n));
    const int64_t needed = storage_bytes(&n->plan, space, capacity);
    c->needed = needed;
    c->capacity = capacity;
    if (needed <= capacity) {
        pto_stat_add(run, STAT_ROTATED, 1);
        return PTO_OK;
    }
    if (c->is_pinned)
        return pto_error(c->op, "pto.pipeline/does-not-fit",
                         "%%%.*s rotates through %lld buffers, and then the nest needs %lld bytes of `%s`, which has "
                         "%lld; pin fewer, or smaller tiles",
                         PTO_FMT(pto_value_name(tile)), (long long)stages, (long long)needed,
                         pto_space_name(run, space), (long long)capacity);
    pto_stat_add(run, STAT_NO_ROOM, 1);
    pto_remark(c->op, "pto.pipeline/no-space",
               "%%%.*s keeps one buffer: with %lld the nest would need %lld bytes of `%s`, which has %lld",
               PTO_FMT(pto_value_name(tile)), (long long)stages, (long long)needed, pto_space_name(run, space),
               (long long)capacity);
    return set_stages(run, c->op, 1, n);
}

/* What can rotate, in the order of the nest. */
static uint32_t find_candidates(const pto_run *run, pto_op nest, candidate **out)
{
    uint32_t count = 0, capacity = 0;
    candidate *items = NULL;
    PTO_WALK(nest, op)
    {
        const int wave = wave_of(op);
        const uint32_t depth = wave < WAVE_COUNT ? loop_depth(op, nest) : 0;
        if (depth == 0) continue;
        const pto_value tile = rotated_tile(op);
        if (!match_fresh(run, tile) || loop_depth(pto_value_op(tile), nest) == 0) continue;
        if (PTO_SOME(pto_op_attr(op, PTO_STR("stages"))) && pto_attr_int_of(op, PTO_STR("stages"), 1) != 1) continue;
        PTO_GROW(run, items, count, capacity);
        items[count++] = (candidate){.op = op, .wave = wave, .depth = depth};
    }
    *out = items;
    return count;
}

static pto_status record(const candidate *c)
{
    const int64_t stages = pto_attr_int_of(c->op, PTO_STR("stages"), 1);
    char text[96];
    const char *limit = c->gave_way ? "a later step had no space for more" : c->needed != 0 ? text : NULL;
    (void)snprintf(text, sizeof text, "%s: %lld of %lld bytes%s",
                   pto_space_name(c->op.run, pto_type_space(pto_value_type(rotated_tile(c->op)))), (long long)c->needed,
                   (long long)c->capacity, c->needed > c->capacity ? " with more" : "");
    const pto_decision d = {.struct_size = sizeof d, .count = 1, .name = "stages", .limit = limit};
    return pto_decision_made(c->op, &d, &stages);
}

/* What the user pins comes first, so that others share what it leaves. */
static pto_status rotate_pinned(const pto_run *run, uint32_t count, candidate *items, needs *n)
{
    const pto_decision d = {
        .struct_size = sizeof d, .count = 1, .name = "stages", .min = &stages_min, .max = &stages_max};
    for (uint32_t i = 0; i < count; i++) {
        int64_t stages = 1;
        const int32_t answer = pto_decision_pinned(items[i].op, &d, &stages);
        PTO_TRY(answer);
        items[i].is_pinned = answer;
        if (answer && stages > 1) PTO_TRY(rotate(run, &items[i], stages, n));
        if (answer) PTO_TRY(record(&items[i]));
    }
    return PTO_OK;
}

/* Which waves rotate: those that options ask for and that have a free candidate, of which the last ones give way when
 * the kernel did not fit. */
static void choose_waves(const pto_run *run, pto_op nest, uint32_t count, candidate *items, int *waves)
{
    const int wanted[WAVE_COUNT] = {pto_opt_bool(run, OPT_LOADS), pto_opt_bool(run, OPT_MOVES),
                                    pto_opt_bool(run, OPT_STORES)};
    uint32_t present = 0;
    for (int wave = 0; wave < WAVE_COUNT; wave++) {
        waves[wave] = 0;
        for (uint32_t i = 0; wanted[wave] && pto_opt_i64(run, OPT_STAGES) > 1 && i < count; i++)
            waves[wave] |= items[i].wave == wave && !items[i].is_pinned;
        present += (uint32_t)waves[wave];
    }
    uint32_t give_way = present > 0 ? pto_choice_take(nest, present + 1) : 0;
    for (int wave = WAVE_COUNT; wave-- > 0 && give_way > 0;) {
        if (!waves[wave]) continue;
        waves[wave] = 0;
        give_way--;
        for (uint32_t i = 0; i < count; i++) items[i].gave_way |= items[i].wave == wave && !items[i].is_pinned;
    }
}

static pto_status pipeline_nest(const pto_run *run, pto_op nest)
{
    const int64_t stages = pto_opt_i64(run, OPT_STAGES);
    int waves[WAVE_COUNT];
    candidate *items = NULL;
    const uint32_t count = find_candidates(run, nest, &items);
    if (count == 0) return PTO_OK;
    needs n = {.plan = storage_plan_make(run, pto_opt_bool(run, OPT_IN_PLACE))};
    storage_read(&n.plan, &n.source, nest);
    PTO_TRY(rotate_pinned(run, count, items, &n));
    choose_waves(run, nest, count, items, waves);
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < count; i++) deepest = items[i].depth > deepest ? items[i].depth : deepest;
    for (int wave = 0; wave < WAVE_COUNT; wave++)
        for (uint32_t depth = deepest; waves[wave] && depth > 0; depth--)
            for (uint32_t i = 0; i < count; i++)
                if (items[i].wave == wave && items[i].depth == depth && !items[i].is_pinned)
                    PTO_TRY(rotate(run, &items[i], stages, &n));
    for (uint32_t i = 0; i < count; i++)
        if (!items[i].is_pinned) PTO_TRY(record(&items[i]));
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, nest)
    if (PTO_IS(nest, FORALL)) PTO_TRY(pipeline_nest(run, nest));
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_CHOOSES,
    .id = "pto.pipeline",
    .summary = "Rotate what loops load, move and store through several buffers where there is space",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .requires_props = PTO_STRS("pto.distributed"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.pipeline", "pass:pto.pipeline", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
