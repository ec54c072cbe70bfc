/* pto.pipeline: what is loaded, moved and stored inside loops rotates through several buffers, so that the next transfer
 * runs beside the work on this one.
 *
 *     for %t = %core to 64 step 48 {                for %t = %core to 64 step 48 {
 *       %x = tile.load ..                             %x = tile.load .. {stages = 2}
 *       %y = tile.exp %x                        =>    %y = tile.exp %x
 *       tile.store %y, ..                             tile.store %y, .. {stages = 2}
 *     }                                             }
 *
 * Loads come first, then moves to the matrix unit, then stores, each from the innermost loop outwards, as long as the
 * space has room for all tiles of the nest, scratch operands included. Exact. */
#include <pto/plugin.h>

#include "tile_machine.h"

#define KINDS(X)         \
    X(FORALL, "forall")  \
    X(FOR, "for")        \
    X(WHILE, "while")    \
    X(IF, "if")          \
    X(YIELD, "yield")    \
    X(STORE, "tile.store")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                               \
    X(STAGES, I64, "stages", .def = "2", .min = "1", .max = "8", .doc = "buffers that a transfer rotates through", \
      .example = "with: { stages: 3 }")                                                                          \
    X(LOADS, BOOL, "loads", .def = "true", .doc = "loads rotate", .example = "with: { loads: false }")           \
    X(MOVES, BOOL, "moves", .def = "true", .doc = "moves between on-chip spaces rotate",                         \
      .example = "with: { moves: false }")                                                                       \
    X(STORES, BOOL, "stores", .def = "true", .doc = "stored tiles rotate", .example = "with: { stores: false }")
PTO_OPTIONS(OPTIONS);

#define STATS(X)          \
    X(ROTATED, "rotated") \
    X(NO_ROOM, "left single for lack of room")
PTO_STATS(STATS);

/* Bytes that a nest holds in each space, and what the space has. */
typedef struct room {
    int64_t used[PTO_SPACE_COUNT], capacity[PTO_SPACE_COUNT];
} room;

static int64_t rule_of(const pto_run *run, pto_op op)
{
    return pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_RULE);
}

static void add_bytes(room *r, pto_space space, int64_t bytes)
{
    if (__builtin_add_overflow(r->used[space], bytes, &r->used[space])) r->used[space] = INT64_MAX;
}

/* Scratch operand of the instruction behind an op. */
static int64_t scratch_bytes(const pto_run *run, pto_op op)
{
    pto_type result = pto_value_type(pto_result(op, 0));
    switch (pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_TMP)) {
    case PTO_TMP_LIKE_SRC: return tile_type_bytes(run, pto_value_type(pto_operand(op, 0)));
    case PTO_TMP_LIKE_DST: return tile_type_bytes(run, result);
    case PTO_TMP_ROW_BLOCKS: {
        int64_t rows = tile_capacity_of(result, 0);
        return rows >= 256 ? 7680 : (rows + 7) / 8 * 256;
    }
    default: return 0;
    }
}

/* Results of loops and branches are the tiles that went in; so is the result of a product accumulated in place. */
static int has_own_storage(const pto_run *run, pto_op op)
{
    return !pto_op_is(op, pto_kind(run, KIND_FOR)) && !pto_op_is(op, pto_kind(run, KIND_WHILE)) &&
           !pto_op_is(op, pto_kind(run, KIND_IF)) && rule_of(run, op) != PTO_RULE_MATMUL_ACC;
}

static room measure(const pto_run *run, pto_op nest)
{
    room r = {.used = {0}};
    for (pto_space s = PTO_VEC; s < PTO_SPACE_COUNT; s++) r.capacity[s] = tile_space_number(run, s, "usable-bytes", 0);
    PTO_WALK (nest, op) {
        for (uint32_t i = 0; i < pto_result_count(op); i++) {
            pto_value v = pto_result(op, i);
            if (!tile_is_tile(v)) continue;
            pto_space space = pto_type_space(pto_value_type(v));
            int64_t bytes = has_own_storage(run, op) ? tile_type_bytes(run, pto_value_type(v)) : 0;
            int64_t stages = pto_attr_int_of(op, "stages", 1);
            add_bytes(&r, space, tile_product(bytes, stages > 0 ? stages : 1));
            add_bytes(&r, space, scratch_bytes(run, op));
        }
    }
    return r;
}

/* ---- candidates ---- */

enum { WAVE_LOADS, WAVE_MOVES, WAVE_STORES, WAVE_COUNT };

static int match_wave(const pto_run *run, pto_op op, int wave)
{
    switch (rule_of(run, op)) {
    case PTO_RULE_LOAD: return wave == WAVE_LOADS;
    case PTO_RULE_MOVE: return wave == WAVE_MOVES;
    case PTO_RULE_STORE: return wave == WAVE_STORES;
    default: return 0;
    }
}

/* Loops around an op inside its nest. */
static uint32_t loop_depth(const pto_run *run, pto_op op, pto_op nest)
{
    uint32_t depth = 0;
    for (pto_op at = pto_op_parent(op); PTO_SOME(at) && !pto_op_same(at, nest); at = pto_op_parent(at))
        depth += pto_op_is(at, pto_kind(run, KIND_FOR)) != 0;
    return depth;
}

/* The tile whose buffer rotates. */
static pto_value rotated_tile(const pto_run *run, pto_op op)
{
    return pto_op_is(op, pto_kind(run, KIND_STORE)) ? pto_operand(op, 0) : pto_result(op, 0);
}

/* Whether each iteration begins with a tile of its own: none that an earlier iteration hands over. */
static int match_fresh(const pto_run *run, pto_value tile)
{
    PTO_EACH_USE (tile, use)
        if (pto_op_is(use.op, pto_kind(run, KIND_YIELD))) return 0;
    for (pto_value v = tile;;) {
        pto_op def = pto_value_op(v);
        if (!PTO_SOME(def) || pto_op_is(def, pto_kind(run, KIND_IF))) return 0;
        int is_loop = pto_op_is(def, pto_kind(run, KIND_FOR)) || pto_op_is(def, pto_kind(run, KIND_WHILE));
        if (!is_loop && rule_of(run, def) != PTO_RULE_MATMUL_ACC) return 1;
        v = pto_operand(def, is_loop ? pto_value_index(v) : 0);
    }
}

/* Whether another store or the load of the same tile gives it its stages already. */
static int match_rotating(pto_value tile)
{
    if (pto_attr_int_of(pto_value_op(tile), "stages", 1) > 1) return 1;
    PTO_EACH_USE (tile, use)
        if (pto_value_same(tile, pto_operand(use.op, 0)) && pto_kind_column(tile.run, pto_op_kind(use.op), PTO_COLUMN_RULE) ==
                PTO_RULE_STORE && pto_attr_int_of(use.op, "stages", 1) > 1)
            return 1;
    return 0;
}

static pto_status rotate(const pto_run *run, pto_op op, room *r, int64_t stages)
{
    pto_value tile = rotated_tile(run, op);
    pto_type type = pto_value_type(tile);
    pto_space space = pto_type_space(type);
    int is_store = pto_op_is(op, pto_kind(run, KIND_STORE));
    int64_t more = is_store && match_rotating(tile) ? 0 : tile_product(tile_type_bytes(run, type), stages - 1);
    if (more > r->capacity[space] || r->used[space] > r->capacity[space] - more) {
        pto_count(run, STAT_NO_ROOM);
        pto_remark(op, "pto.pipeline/no-room",
                   "%%%.*s keeps one buffer: %lld more ones take %lld bytes of `%s`, where %lld of %lld are used",
                   PTO_FMT(pto_value_name(tile)), (long long)(stages - 1), (long long)more, tile_space_name(space),
                   (long long)r->used[space], (long long)r->capacity[space]);
        return PTO_OK;
    }
    add_bytes(r, space, more);
    pto_count(run, STAT_ROTATED);
    return pto_op_set_attr(op, "stages", pto_attr_make_i64(run, stages));
}

static pto_status pipeline_nest(const pto_run *run, pto_op nest)
{
    const int wanted[WAVE_COUNT] = {pto_opt_bool(run, OPT_LOADS), pto_opt_bool(run, OPT_MOVES),
                                    pto_opt_bool(run, OPT_STORES)};
    int64_t stages = pto_opt_i64(run, OPT_STAGES);
    uint32_t deepest = 0;
    room r = measure(run, nest);
    if (stages < 2) return PTO_OK;
    PTO_WALK (nest, op) {
        uint32_t depth = loop_depth(run, op, nest);
        if (depth > deepest) deepest = depth;
    }
    for (int wave = 0; wave < WAVE_COUNT; wave++) {
        for (uint32_t depth = deepest; wanted[wave] && depth > 0; depth--) {
            PTO_WALK (nest, candidate) {
                if (!match_wave(run, candidate, wave) || loop_depth(run, candidate, nest) != depth) continue;
                pto_value tile = rotated_tile(run, candidate);
                if (!match_fresh(run, tile) || loop_depth(run, pto_value_op(tile), nest) == 0) continue;
                if (PTO_SOME(pto_op_attr(candidate, "stages")) && pto_attr_int_of(candidate, "stages", 1) != 1) continue;
                PTO_TRY(rotate(run, candidate, &r, stages));
            }
        }
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK (function, nest)
        if (pto_op_is(nest, pto_kind(run, KIND_FORALL))) PTO_TRY(pipeline_nest(run, nest));
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.pipeline",
    .summary = "Rotate what loops load, move and store through several buffers where there is room",
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
