#include "sync_model.h"

#include "machine_facts.h"

uint32_t sync_loop_of_index(const sync_model *m, pto_expr leaf)
{
    if (pto_expr_kind_of(leaf) != PTO_EXPR_VALUE) return SYNC_NONE;
    const pto_value v = pto_expr_leaf(leaf);
    if (PTO_SOME(pto_value_op(v)) || pto_value_index(v) != 0) return SYNC_NONE;
    const pto_op owner = pto_block_parent(pto_value_block(v));
    for (uint32_t i = 0; i < m->loop_count; i++) {
        if (pto_op_same(m->ops[m->loops[i]].at->op, owner)) return m->loops[i];
    }
    return SYNC_NONE;
}

uint32_t sync_trips(const sync_model *m, uint32_t place)
{
    const sync_op *o = &m->ops[place];
    return o->is_counted || o->trips == 0 ? o->trips : o->period;
}

/* ---- the table of ops ---- */

static sync_role role_of(const pto_run *run, const region_op *at, pto_kind_id kind)
{
    switch (at->kind) {
    case REGION_FOR: return SYNC_FOR;
    case REGION_IF: return SYNC_IF;
    case REGION_WHILE: return SYNC_WHILE;
    case REGION_YIELD:
    case REGION_ONCE:
    case REGION_OTHER: return SYNC_OTHER;
    case REGION_PLAIN: break;
    }
    if (kind == pto_kind(run, KIND_SET)) return SYNC_SET;
    if (kind == pto_kind(run, KIND_WAIT)) return SYNC_WAIT;
    if (kind == pto_kind(run, KIND_BARRIER)) return SYNC_BARRIER;
    return pto_kind_column(run, kind, PTO_COLUMN_RULE) != PTO_RULE_NONE ? SYNC_INSN : SYNC_OTHER;
}

static pto_status check_op(const sync_model *m, const sync_op *o)
{
    const int is_deep = o->at->depth > SYNC_DEPTH_MAX,
              is_unknown = o->at->kind == REGION_OTHER || o->at->kind == REGION_ONCE,
              decides = o->role != SYNC_OTHER && m->ops[o->at->parent].role == SYNC_WHILE && o->at->block == 0;
    if (!is_deep && !is_unknown && !decides) return PTO_OK;
    const pto_str name = pto_op_name(o->at->op);
    if (is_deep)
        return pto_error(o->at->op, "pto.synchronize/too-deep", "`%.*s` is %u blocks deep, the limit is %d",
                         PTO_FMT(name), o->at->depth, SYNC_DEPTH_MAX);
    if (is_unknown)
        return pto_error(o->at->op, "pto.synchronize/unknown-control",
                         "what `%.*s` does with its blocks is not known here", PTO_FMT(name));
    return pto_error(
        o->at->op, "pto.synchronize/in-condition",
        "`%.*s` is in the condition of a `while`, where nothing can be ordered; decide before the loop and "
        "at the end of its body, and carry the decision",
        PTO_FMT(name));
}

static pto_status list_ops(sync_model *m, pto_op kernel)
{
    m->regions = regions_of(kernel);
    m->count = m->regions.count;
    m->ops = PTO_SCRATCH(m->run, sync_op, m->count);
    m->loops = PTO_SCRATCH(m->run, uint32_t, m->count);
    m->bound = PTO_SCRATCH(m->run, pto_str, m->count);
    m->ops[0].at = &m->regions.ops[0];
    for (uint32_t i = 1; i < m->count; i++) {
        sync_op *o = &m->ops[i];
        *o = (sync_op){.at = &m->regions.ops[i], .period = 1, .cycle = SYNC_NONE};
        o->kind = pto_op_kind(o->at->op);
        o->role = role_of(m->run, o->at, o->kind);
        o->trips = REGION_NONE;
        if (o->role == SYNC_FOR) {
            m->loops[m->loop_count++] = i;
            o->trips = region_trips(&m->regions, i);
            o->has_trip = region_has_trip(&m->regions, i);
        }
        if (o->kind == pto_kind(m->run, KIND_BIND))
            m->bound[m->bound_count++] = pto_attr_str_of(o->at->op, PTO_STR("symbol"));
        PTO_TRY(check_op(m, o));
    }
    return PTO_OK;
}

/* ---- expressions ---- */

/* Calls that return 0 for a leaf end the walk with 0. An expression too wide for the walk counts as such. */
typedef int leaf_test(const sync_model *m, pto_expr leaf, uint32_t place);

static int all_leaves(const sync_model *m, pto_expr e, uint32_t place, leaf_test *test)
{
    enum { ROOM = 64 };
    pto_expr open[ROOM];
    uint32_t n = 0;
    open[n++] = e;
    while (n > 0) {
        const pto_expr x = open[--n];
        const pto_expr_kind kind = pto_expr_kind_of(x);
        if ((kind == PTO_EXPR_VALUE || kind == PTO_EXPR_SYMBOL) && !test(m, x, place)) return 0;
        const uint32_t count = pto_expr_arg_count(x);
        if (count > ROOM - n) return 0;
        for (uint32_t i = 0; i < count; i++) open[n++] = pto_expr_arg(x, i);
    }
    return 1;
}

static int is_steady_leaf(const sync_model *m, pto_expr leaf, uint32_t place)
{
    (void)place;
    if (pto_expr_kind_of(leaf) == PTO_EXPR_SYMBOL) {
        for (uint32_t i = 0; i < m->bound_count; i++) {
            if (pto_str_same(m->bound[i], pto_expr_symbol_name(leaf))) return 0;
        }
        return 1;
    }
    const pto_value v = pto_expr_leaf(leaf);
    if (PTO_SOME(pto_value_op(v))) return 0;
    const pto_op owner = pto_block_parent(pto_value_block(v));
    return PTO_IS(owner, KERNEL) || sync_loop_of_index(m, leaf) != SYNC_NONE;
}

int sync_is_steady(const sync_model *m, pto_expr e)
{
    for (uint32_t i = 0; i < m->cycles->count; i++)
        if (m->cycles->items[i].expr.index == e.index) return m->cycles->items[i].is_steady;
    return all_leaves(m, e, 0, is_steady_leaf);
}

static int is_visible_leaf(const sync_model *m, pto_expr leaf, uint32_t place)
{
    if (pto_expr_kind_of(leaf) == PTO_EXPR_SYMBOL) return 1;
    const pto_op owner = pto_block_parent(pto_value_block(pto_expr_leaf(leaf)));
    for (uint32_t p = m->ops[place].at->parent; p != SYNC_NONE; p = m->ops[p].at->parent) {
        if (pto_op_same(m->ops[p].at->op, owner)) return 1;
    }
    return 0;
}

int sync_is_visible(const sync_model *m, pto_expr e, uint32_t place)
{
    const uint32_t around = m->ops[place].at->parent;
    sync_cycle *c = NULL;
    for (uint32_t i = 0; i < m->cycles->count && c == NULL; i++)
        if (m->cycles->items[i].expr.index == e.index) c = &m->cycles->items[i];
    if (c != NULL && c->is_asked && c->around == around) return c->is_visible;
    const int is_visible = sync_is_steady(m, e) && all_leaves(m, e, place, is_visible_leaf);
    if (c == NULL) return is_visible;
    c->is_asked = 1;
    c->around = around;
    return c->is_visible = is_visible;
}

/* ---- what instructions touch ---- */

/* Bytes that a tile may touch: its capacity, but no more than what is left of the stage. */
static int64_t tile_bytes(pto_type type, int64_t left)
{
    int64_t rows = 0, columns = 0;
    if (!pto_dim_is_const(type, 0, &rows) || !pto_dim_is_const(type, 1, &columns)) return left;
    const int64_t bytes =
        pto_tile_bytes(pto_type_dtype(type), pto_layout_order(type.run, pto_type_layout(type)), rows, columns);
    return bytes >= 0 && bytes < left ? bytes : left;
}

typedef struct tile_readers {
    pto_value *tiles;
    uint32_t *first; /* access */
    uint32_t count;
} tile_readers;

/* What an access by way of a `block.tile` touches. */
static pto_status read_new_tile(const sync_model *m, pto_value tile, pto_op user, sync_access *a)
{
    const pto_op describes = pto_value_op(tile);
    const pto_op buffer = PTO_IS(describes, TILE) ? pto_value_op(pto_op_operand(describes, 0)) : pto_op_none(m->run);
    const int64_t addr = PTO_IS(buffer, BUFFER) ? pto_attr_int_of(buffer, PTO_STR("addr"), -1) : -1;
    if (addr < 0) {
        const pto_str name = pto_value_name(tile);
        return pto_error(user, "pto.synchronize/no-address",
                         "`%%%.*s` is not a tile of a `block.buffer` that has an address; run pto.allocate before",
                         PTO_FMT(name));
    }
    const pto_type type = pto_value_type(tile);
    const int64_t offset = pto_attr_int_of(describes, PTO_STR("offset"), 0);
    a->space = pto_type_space(type);
    a->buffer = buffer;
    a->stage = pto_expr_of(describes, PTO_STR("stage"), 0);
    if (!pto_expr_is_const(a->stage, &a->constant)) a->constant = SYNC_ANY_STAGE;
    a->cycle = sync_cycle_of(m, a->stage);
    a->is_steady = m->cycles->items[a->cycle].is_steady;
    a->stages = pto_attr_int_of(buffer, PTO_STR("stages"), 1);
    a->pitch = pto_attr_int_of(buffer, PTO_STR("bytes_per_stage"), 0);
    a->first = addr + offset;
    a->bytes = tile_bytes(type, a->pitch - offset);
    return PTO_OK;
}

/* Tiles have several users: each is read once. `readers` has the first access by way of each. */
static pto_status read_tile(const sync_model *m, pto_value tile, tile_readers *r, uint32_t at)
{
    sync_access *a = &m->accesses[at];
    for (uint32_t i = 0; i < r->count; i++) {
        if (!pto_value_same(r->tiles[i], tile)) continue;
        const sync_access own = *a;
        *a = m->accesses[r->first[i]];
        a->op = own.op;
        a->is_write = own.is_write;
        return PTO_OK;
    }
    r->tiles[r->count] = tile;
    r->first[r->count++] = at;
    return read_new_tile(m, tile, m->ops[a->op].at->op, a);
}

static pto_value root_of(pto_value memory)
{
    while (PTO_IS(pto_value_op(memory), VIEW)) memory = pto_op_operand(pto_value_op(memory), 0);
    return memory;
}

/* Elements along a dim of the window, by the valid region of the tile on the other side. */
static int64_t most_elements(pto_op user, pto_value tile, uint32_t dim)
{
    pto_expr valid[2] = {pto_expr_none(user.run), pto_expr_none(user.run)};
    int64_t hi = INT64_MAX, capacity = INT64_MAX;
    if (pto_value_valid(tile, valid) == PTO_OK) hi = pto_expr_range(valid[dim], user, NULL).hi;
    if (pto_dim_is_const(pto_value_type(tile), dim, &capacity) && capacity < hi) hi = capacity;
    return hi;
}

static void read_window(const sync_model *m, pto_value memory, pto_value tile, sync_access *a)
{
    const pto_op user = m->ops[a->op].at->op;
    const int is_transposed = pto_attr_bool_of(user, PTO_STR("transpose"), 0);
    a->memory = memory;
    a->root = root_of(memory);
    const pto_attr offsets = pto_op_attr(user, PTO_STR("offsets"));
    a->rank = PTO_SOME(offsets) ? pto_attr_count(offsets) : 0;
    a->is_steady = a->rank <= PTO_MAX_DIMS;
    for (uint32_t d = 0; d < a->rank && d < PTO_MAX_DIMS; d++) {
        a->offsets[d] = pto_attr_expr(pto_attr_item(offsets, d, NULL));
        a->extents[d] = d + 2 < a->rank ? 1 : most_elements(user, tile, (a->rank - 1 - d == 0) != is_transposed);
        if (!sync_is_steady(m, a->offsets[d])) a->is_steady = 0;
    }
}

static pto_status no_pipe(pto_op op, pto_space from, pto_space to)
{
    const pto_str name = pto_op_name(op);
    if (pto_op_transfer(op) == PTO_TRANSFER_NONE)
        return pto_error(op, "pto.synchronize/no-pipe",
                         "`%.*s` works in `%s`, and the core that owns it has no pipe of the unit `%s`", PTO_FMT(name),
                         pto_space_name(op.run, to),
                         pto_unit_name((uint32_t)pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_UNIT)));
    return pto_error(op, "pto.synchronize/no-path", "`%.*s` moves from `%s` to `%s`, for which the machine has no path",
                     PTO_FMT(name), pto_space_name(op.run, from), pto_space_name(op.run, to));
}

/* Pipes of instructions that were asked for last: they hang on the kind and on the spaces of all operands. */
enum { PIPES_KEPT = 64, PIPES_OPERANDS = 8, PIPES_SPACE_BITS = 5 };
typedef struct kept_pipes {
    uint64_t key[PIPES_KEPT]; /* 0: none */
    pto_pipe pipe[PIPES_KEPT];
} kept_pipes;

/* `spaces`: of the operands, PIPES_SPACE_BITS each. */
static pto_pipe pipe_of(const sync_model *m, const sync_op *o, uint32_t operands, uint64_t spaces)
{
    if (operands > PIPES_OPERANDS || o->kind >> 16 != 0) return pto_op_pipe(o->at->op);
    kept_pipes *kept = pto_recall(m->run, PTO_STR("pipes"), sizeof *kept);
    const uint64_t key = (uint64_t)o->kind << (PIPES_OPERANDS * PIPES_SPACE_BITS) | spaces;
    const size_t at = (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PIPES_KEPT;
    if (kept->key[at] != key) {
        kept->pipe[at] = pto_op_pipe(o->at->op);
        kept->key[at] = key;
    }
    (void)pto_machine_space(m->run, PTO_SPACE_NONE); /* so that the host knows that this run hangs on the machine */
    return kept->pipe[at];
}

static pto_status read_operands(sync_model *m, uint32_t place, tile_readers *readers)
{
    sync_op *o = &m->ops[place];
    const uint32_t count = pto_op_operand_count(o->at->op);
    const int64_t written = pto_kind_column(m->run, o->kind, PTO_COLUMN_WRITTEN);
    const pto_space memory = pto_space_of_role(m->run, PTO_ROLE_GLOBAL);
    pto_space to = PTO_SPACE_NONE, from = PTO_SPACE_NONE;
    uint64_t spaces = 0;
    o->access = m->access_count;
    for (uint32_t i = 0; i < count; i++) {
        const pto_value v = pto_op_operand(o->at->op, i);
        const pto_type_kind kind = pto_type_kind_of(pto_value_type(v));
        sync_access *a = &m->accesses[m->access_count];
        if (kind != PTO_TYPE_TILE && kind != PTO_TYPE_GM) continue;
        *a = (sync_access){.op = place, .is_write = (written >> i & 1) != 0, .cycle = SYNC_NONE, .stages = 1};
        if (kind == PTO_TYPE_TILE)
            PTO_TRY(read_tile(m, v, readers, m->access_count));
        else
            read_window(m, v, pto_op_operand(o->at->op, i == 0 ? 1 : 0), a);
        o->has_window |= kind == PTO_TYPE_GM;
        const pto_space space = kind == PTO_TYPE_TILE ? a->space : memory;
        if (i < PIPES_OPERANDS) spaces |= (uint64_t)space << (i * PIPES_SPACE_BITS);
        if (i == 0)
            to = space;
        else if (from == PTO_SPACE_NONE)
            from = space;
        m->access_count++;
    }
    o->access_count = m->access_count - o->access;
    o->pipe = pipe_of(m, o, count, spaces);
    if (o->pipe != PTO_PIPE_NONE) return PTO_OK;
    return no_pipe(o->at->op, from == PTO_SPACE_NONE ? to : from, to);
}

static pto_status read_ops(sync_model *m)
{
    uint32_t capacity = 0;
    for (uint32_t i = 1; i < m->count; i++)
        capacity += m->ops[i].role == SYNC_INSN ? pto_op_operand_count(m->ops[i].at->op) : 0;
    m->accesses = PTO_SCRATCH(m->run, sync_access, capacity + 1);
    tile_readers readers = {.tiles = PTO_SCRATCH(m->run, pto_value, capacity + 1),
                            .first = PTO_SCRATCH(m->run, uint32_t, capacity + 1)};
    for (uint32_t i = 1; i < m->count; i++) {
        sync_op *o = &m->ops[i];
        if (o->role == SYNC_INSN) {
            PTO_TRY(read_operands(m, i, &readers));
        } else if (o->role == SYNC_BARRIER) {
            o->pipe = pto_pipe_by_name(m->run, pto_attr_str_of(o->at->op, PTO_STR("pipe")));
        } else if (o->role == SYNC_SET || o->role == SYNC_WAIT) {
            o->pipe = pto_pipe_by_name(m->run, pto_attr_str_of(o->at->op, PTO_STR("src")));
            o->dst_pipe = pto_pipe_by_name(m->run, pto_attr_str_of(o->at->op, PTO_STR("dst")));
            o->cycle = sync_cycle_of(m, pto_expr_of(o->at->op, PTO_STR("event"), 0));
        }
    }
    return PTO_OK;
}

/* Numbers in the place of ids. */
static void number_pipes(sync_model *m)
{
    uint32_t numbers[PTO_NAMES_MAX + 1] = {[PTO_PIPE_ALL] = SYNC_ALL_PIPES}, set = 0;
    for (uint32_t i = 1; i < m->count; i++) {
        if (m->ops[i].pipe < PTO_NAMES_MAX) set |= UINT32_C(1) << m->ops[i].pipe;
        if (m->ops[i].dst_pipe < PTO_NAMES_MAX) set |= UINT32_C(1) << m->ops[i].dst_pipe;
    }
    m->pipe_end = 1;
    for (pto_pipe p = 1; p < PTO_NAMES_MAX; p++) {
        if ((set >> p & 1) == 0) continue;
        if (pto_pipe_role(m->run, p) == PTO_UNIT_SCALAR) m->scalar = m->pipe_end;
        numbers[p] = m->pipe_end;
        m->overlaps[m->pipe_end] = machine_barriers(m->run, p) == MACHINE_BARRIERS_NEEDED;
        m->pipes[m->pipe_end++] = p;
    }
    for (uint32_t i = 1; i < m->count; i++) {
        m->ops[i].pipe = numbers[m->ops[i].pipe];
        m->ops[i].dst_pipe = numbers[m->ops[i].dst_pipe];
    }
}

static int is_tile(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TILE; }

/* 0: no instruction of the kernel is on it. */
static uint32_t number_of(const sync_model *m, pto_pipe pipe)
{
    for (uint32_t n = 1; n < m->pipe_end; n++)
        if (m->pipes[n] == pipe) return n;
    return 0;
}

/* Events that the code of instructions of the kernel uses. */
static void reserve_events(sync_model *m)
{
    for (uint32_t i = 1; i < m->count; i++) {
        machine_event events[MACHINE_EVENTS_MAX];
        const pto_op op = m->ops[i].at->op;
        if (m->ops[i].role != SYNC_INSN ||
            pto_kind_column(m->run, m->ops[i].kind, PTO_COLUMN_TRANSFER) != PTO_TRANSFER_NONE)
            continue;
        const uint32_t last = pto_op_operand_count(op) > 1 && is_tile(pto_op_operand(op, 1)) ? 1 : 0;
        const pto_dtype dtype = pto_type_dtype(pto_value_type(pto_op_operand(op, last)));
        const uint32_t count = machine_events(m->run, m->ops[i].kind, dtype, events);
        for (uint32_t k = 0; k < count; k++) {
            uint8_t *first = &m->first_event[number_of(m, events[k].src)][number_of(m, events[k].dst)];
            if (*first <= events[k].id) *first = (uint8_t)(events[k].id + 1);
        }
    }
}

/* ---- periods ---- */

static uint32_t least_multiple(uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b;
    while (y != 0) {
        const uint32_t rest = x % y;
        x = y;
        y = rest;
    }
    const uint64_t multiple = (uint64_t)a / x * b;
    return multiple > SYNC_PLACES_MAX ? SYNC_PLACES_MAX : (uint32_t)multiple;
}

static void add_periods(sync_model *m, uint32_t cycle)
{
    if (cycle == SYNC_NONE || !m->cycles->items[cycle].is_known) return;
    const sync_cycle *c = &m->cycles->items[cycle];
    for (uint32_t i = 0; i < c->rank; i++) {
        const uint32_t v = c->variables[i];
        if (c->counted >> i & 1)
            m->ops[v].is_counted = 1;
        else if (v < m->count)
            m->ops[v].period = least_multiple(m->ops[v].period, c->periods[i]);
        else
            m->invariant_periods[v - m->count] = least_multiple(m->invariant_periods[v - m->count], c->periods[i]);
    }
}

static int is_flag(const sync_op *o) { return o->role == SYNC_SET || o->role == SYNC_WAIT || o->role == SYNC_BARRIER; }

/* Ops of the kernel, those in loops as often as they are looked at; not exact above PLACES_COUNTED. */
enum { PLACES_COUNTED = 1 << 30 };
static uint64_t count_places(const sync_model *m, int with_flags)
{
    uint64_t each = 1, places = 0;
    uint64_t *times = PTO_SCRATCH(m->run, uint64_t, m->count);
    for (uint32_t i = 0; i < m->cycles->invariant_count && each <= PLACES_COUNTED; i++) each *= m->invariant_periods[i];
    times[0] = each;
    for (uint32_t i = 1; i < m->count && places <= PLACES_COUNTED; i++) {
        times[i] = times[m->ops[i].at->parent];
        if (with_flags || !is_flag(&m->ops[i])) places += times[i];
        if (region_is_loop(&m->regions, i)) times[i] *= sync_trips(m, i);
        if (times[i] > PLACES_COUNTED) times[i] = PLACES_COUNTED;
    }
    return places;
}

/* Flags have a limit of their own: the pass, which makes them, and the checker, which finds them in the text, must come
 * to one answer about the instructions. */
enum { FLAGS_PER_INSTRUCTION = 16 };
static int has_few_places(const sync_model *m)
{
    return count_places(m, 0) <= SYNC_PLACES_MAX &&
           count_places(m, 1) <= (uint64_t)SYNC_PLACES_MAX * FLAGS_PER_INSTRUCTION;
}

/* Loops with no more trips than `rounds` periods are looked at trip by trip. */
static void find_periods(sync_model *m, int with_stages, uint32_t rounds)
{
    m->invariant_periods = PTO_SCRATCH(m->run, uint32_t, m->cycles->invariant_count + 1);
    for (uint32_t i = 0; i < m->cycles->invariant_count; i++) m->invariant_periods[i] = 1;
    for (uint32_t i = 1; i < m->count; i++) {
        m->ops[i].period = 1;
        m->ops[i].is_counted = 0;
    }
    for (uint32_t i = 1; i < m->count; i++) add_periods(m, m->ops[i].cycle);
    for (uint32_t i = 0; i < m->access_count; i++) {
        if (!with_stages) m->accesses[i].cycle = SYNC_NONE;
        add_periods(m, m->accesses[i].cycle);
    }
    /* Nothing comes round in a loop with no more trips than its period. */
    for (uint32_t i = 0; i < m->loop_count; i++) {
        sync_op *o = &m->ops[m->loops[i]];
        o->is_counted |= o->trips <= (o->period > 1 ? rounds * (uint64_t)o->period : 1);
    }
}

enum { ROUNDS_COUNTED = 2 };
static pto_status lay_out_periods(sync_model *m)
{
    find_periods(m, 1, ROUNDS_COUNTED);
    if (has_few_places(m)) return PTO_OK;
    find_periods(m, 1, 1);
    if (has_few_places(m)) return PTO_OK;
    find_periods(m, 0, 1);
    if (has_few_places(m)) return PTO_OK;
    return pto_error(m->ops[0].at->op, "pto.synchronize/too-large",
                     "the event ids of the kernel come round together only after more than %d instructions, the most "
                     "that are looked at",
                     SYNC_PLACES_MAX);
}

pto_status sync_model_make(const pto_run *run, pto_op kernel, sync_model *out)
{
    *out = (sync_model){.run = run};
    out->cycles = PTO_SCRATCH(run, sync_cycles, 1);
    PTO_TRY(list_ops(out, kernel));
    PTO_TRY(read_ops(out));
    number_pipes(out);
    reserve_events(out);
    PTO_TRY(lay_out_periods(out));
    return sync_find_pairs(out);
}

pto_status sync_count_trips(sync_model *m, uint32_t loop)
{
    sync_op *o = &m->ops[loop];
    const pto_str name = pto_op_name(o->at->op);
    const int can_count = o->role == SYNC_FOR && !o->is_counted && o->trips <= CYCLE_TRIPS_MAX;
    o->is_counted |= can_count;
    if (can_count && has_few_places(m)) return PTO_OK;
    return pto_error(o->at->op, "pto.synchronize/too-large",
                     "the trips of this `%.*s` leave different numbers of tokens, and all of them are more than %d "
                     "instructions, the most that are looked at",
                     PTO_FMT(name), SYNC_PLACES_MAX);
}
