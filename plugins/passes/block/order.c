/* pto.order: inside each block loads go up and stores go down, as far as what they depend on allows.
 *
 *     pto.tload %a, ..                  pto.tload %a, ..
 *     pto.texp %c, %a            =>     pto.tload %b, ..
 *     pto.tload %b, ..                  pto.texp %c, %a
 *
 * List scheduling: of the instructions whose predecessors are placed, a load is next before a move to the matrix unit,
 * that before anything else, a store last; loads in the order of their first readers, the rest as it was, except for
 * what reads the result of the instruction right before it: its pipe would wait, so another goes between. Dependences
 * are those of buffers, stage by stage, and of global memory, where a store depends on every access. Loops and branches
 * stay, and nothing passes them. A block whose buffers do not all fit at once is left alone, since longer lifetimes
 * would take what `pto.allocate` needs for sharing. Exact.
 *
 * Requires kernels of instructions (pto.selected). Leaves the same instructions in another order; addresses and flags
 * are to be assigned afterwards (breaks pto.addresses-assigned and pto.synchronised). */
#include "regions.h"

#define KINDS(X)              \
    X(KERNEL, "block.kernel") \
    X(BUFFER, "block.buffer") \
    X(TILE, "block.tile")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                              \
    X(WINDOW, I64, "window", .def = "128", .min = "1", .max = "1024", .doc = "instructions looked at together", \
      .example = "with: { window: 32 }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(MOVED, "moved ops") X(LEFT, "blocks left alone for lack of space")
PTO_STATS(STATS);

enum { OPERANDS_MAX = 8, RANK_LOAD = 0, RANK_FEED = 1, RANK_WORK = 2, RANK_STORE = 3 };

/* A block of an op; owner REGION_NONE: none. */
typedef struct home {
    uint32_t owner, block;
} home;

typedef struct buffer {
    pto_op op;
    home around; /* all uses, of one at the top of the kernel */
    pto_space space;
    int64_t from, end, bytes; /* of all stages; from, end -1: it has no address yet */
} buffer;

/* Bytes on chip that an instruction reads or writes. */
typedef struct access {
    const buffer *of;
    pto_expr stage;
    int is_write;
} access;

typedef struct node {
    pto_op op;
    access accesses[OPERANDS_MAX];
    uint32_t access_count, rank, key, waits; /* waits: predecessors that are not placed */
    int reads_memory, writes_memory, is_placed;
} node;

typedef struct chip_space {
    node *nodes;
    uint8_t *before;
    pto_op *tiles;
    uint32_t window, tile_capacity;
    region_table regions; /* of the kernel before anything moved; ops stay in their blocks */
    buffer *buffers;
    uint32_t buffer_count;
} chip_space;

/* Instructions between two ops that stay. */
typedef struct piece {
    const pto_run *run;
    node *nodes;
    uint8_t *before; /* [i * count + j]: i comes before j */
    uint32_t count;
    pto_op stop; /* the op after */
} piece;

/* ---- what instructions touch ---- */

/* It works on tiles and produces nothing but what it writes. Prints stay, in their order. */
static int is_movable(pto_op op)
{
    return pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_RULE) != PTO_RULE_NONE && pto_op_writes(op, 0);
}

/* The buffer that a tile is in; NULL: none of this kernel. */
static const buffer *buffer_of(const chip_space *r, pto_op tile)
{
    const pto_op op = PTO_IS(tile, TILE) ? pto_value_op(pto_op_operand(tile, 0)) : pto_op_none(tile.run);
    for (uint32_t i = 0; PTO_SOME(op) && i < r->buffer_count; i++)
        if (pto_op_same(r->buffers[i].op, op)) return &r->buffers[i];
    return NULL;
}

static pto_status no_buffer(pto_op op)
{
    const pto_str name = pto_op_name(op);
    return pto_error(op, "pto.order/operand",
                     "`%.*s` has an operand that is not a tile of a `block.buffer` of this kernel", PTO_FMT(name));
}

static pto_status describe(const chip_space *r, node *n, pto_op op)
{
    const uint32_t count = pto_op_operand_count(op), transfer = pto_op_transfer(op);
    const int64_t written = pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_WRITTEN);
    *n = (node){.op = op, .rank = RANK_WORK};
    for (uint32_t i = 0; i < count; i++) {
        const pto_value v = pto_op_operand(op, i);
        const pto_type type = pto_value_type(v);
        const pto_type_kind kind = pto_type_kind_of(type);
        const int is_write = (written >> i & 1) != 0;
        if (kind == PTO_TYPE_GM) {
            n->reads_memory |= !is_write;
            n->writes_memory |= is_write;
        }
        if (kind != PTO_TYPE_TILE) continue;
        const pto_op tile = pto_value_op(v);
        const buffer *of = buffer_of(r, tile);
        if (of == NULL || n->access_count == OPERANDS_MAX) return no_buffer(op);
        n->accesses[n->access_count++] = (access){of, pto_expr_of(tile, PTO_STR("stage"), 0), is_write};
        if (transfer == PTO_TRANSFER_MOVE && !is_write &&
            pto_space_role(op.run, pto_type_space(type)) == PTO_ROLE_PANEL)
            n->rank = RANK_FEED;
    }
    if (transfer == PTO_TRANSFER_LOAD) n->rank = RANK_LOAD;
    if (transfer == PTO_TRANSFER_STORE) n->rank = RANK_STORE;
    return PTO_OK;
}

static int overlap(const access *a, const access *b)
{
    int64_t difference = 0;
    if (a->of == b->of)
        return pto_expr_same(a->stage, b->stage) || !pto_expr_is_const(pto_expr_sub(a->stage, b->stage), &difference) ||
               difference == 0;
    const buffer *x = a->of, *y = b->of;
    return x->from >= 0 && y->from >= 0 && x->from < y->end && y->from < x->end && x->space == y->space;
}

/* Whether b, the later one, must stay after a. */
static int depends(const node *a, const node *b)
{
    if ((a->writes_memory && (b->reads_memory || b->writes_memory)) || (b->writes_memory && a->reads_memory)) return 1;
    for (uint32_t i = 0; i < a->access_count; i++) {
        for (uint32_t j = 0; j < b->access_count; j++) {
            if ((a->accesses[i].is_write || b->accesses[j].is_write) && overlap(&a->accesses[i], &b->accesses[j]))
                return 1;
        }
    }
    return 0;
}

/* ---- a piece ---- */

static void find_dependences(piece *p)
{
    for (uint32_t j = 0; j < p->count; j++) {
        p->nodes[j].key = j;
        p->nodes[j].waits = 0;
    }
    for (uint32_t i = p->count; i-- > 0;) {
        uint32_t first = p->count;
        for (uint32_t j = i + 1; j < p->count; j++) {
            if (!depends(&p->nodes[i], &p->nodes[j])) continue;
            p->before[i * p->count + j] = 1;
            p->nodes[j].waits++;
            if (first == p->count) first = j;
        }
        if (p->nodes[i].rank == RANK_LOAD) p->nodes[i].key = first;
    }
}

/* Whether n reads what `last` wrote, so that its pipe would wait for the end of that. */
static int waits_for(const node *n, const node *last)
{
    for (uint32_t i = 0; i < n->access_count; i++) {
        for (uint32_t j = 0; j < last->access_count; j++) {
            if (!n->accesses[i].is_write && last->accesses[j].is_write && overlap(&n->accesses[i], &last->accesses[j]))
                return 1;
        }
    }
    return 0;
}

/* `last`: what was chosen before, or count. */
static uint32_t choose(const piece *p, uint32_t last)
{
    uint32_t best = p->count;
    int best_waits = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const node *n = &p->nodes[i];
        if (n->is_placed || n->waits != 0) continue;
        const int waits = n->rank == RANK_WORK && last < p->count && waits_for(n, &p->nodes[last]);
        if (best != p->count && n->rank > p->nodes[best].rank) continue;
        if (best == p->count || n->rank < p->nodes[best].rank || waits < best_waits ||
            (waits == best_waits && n->key < p->nodes[best].key)) {
            best = i;
            best_waits = waits;
        }
    }
    return best;
}

static void find_order(piece *p, uint32_t *order)
{
    for (uint32_t k = 0, last = p->count; k < p->count; k++) {
        uint32_t i = choose(p, last);
        if (p->nodes[i].rank == RANK_WORK) last = i;
        order[k] = i;
        p->nodes[i].is_placed = 1;
        for (uint32_t j = i + 1; j < p->count; j++) p->nodes[j].waits -= p->before[i * p->count + j];
    }
}

/* To the end of the piece; descriptors that are in it go right before their first use. */
static pto_status place(const piece *p, pto_op op, pto_op *waiting, uint32_t waiting_count)
{
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        pto_op tile = pto_value_op(pto_op_operand(op, i));
        for (uint32_t w = 0; w < waiting_count; w++) {
            if (!PTO_SOME(waiting[w]) || !PTO_SOME(tile) || !pto_op_same(waiting[w], tile)) continue;
            PTO_TRY(pto_op_move(tile, pto_before(p->stop)));
            waiting[w] = pto_op_none(p->run);
        }
    }
    return pto_op_move(op, pto_before(p->stop));
}

static pto_status order_piece(piece *p, pto_op *tiles, uint32_t tile_count)
{
    if (p->count < 2) return PTO_OK;
    uint32_t *order = PTO_SCRATCH(p->run, uint32_t, p->count), moved = 0;
    memset(p->before, 0, (size_t)p->count * p->count);
    find_dependences(p);
    find_order(p, order);
    for (uint32_t k = 0; k < p->count; k++) moved += order[k] != k;
    if (moved == 0) return PTO_OK;
    pto_stat_add(p->run, STAT_MOVED, moved);
    for (uint32_t k = 0; k < p->count; k++) PTO_TRY(place(p, p->nodes[order[k]].op, tiles, tile_count));
    for (uint32_t w = 0; w < tile_count; w++) {
        if (PTO_SOME(tiles[w])) PTO_TRY(pto_op_move(tiles[w], pto_before(p->stop)));
    }
    return PTO_OK;
}

/* ---- space on chip ---- */

/* The innermost block around all uses of a buffer. */
static home home_of(const region_table *r, pto_op op)
{
    home h = {REGION_NONE, 0};
    PTO_EACH_USE(pto_op_result(op, 0), tile) {
        PTO_EACH_USE(pto_op_result(tile.op, 0), use) {
            const uint32_t place = region_place(r, use.op);
            if (h.owner == REGION_NONE) h = (home){r->ops[place].parent, r->ops[place].block};
            while (region_within(r, place, h.owner, h.block) == REGION_NONE)
                h = (home){r->ops[h.owner].parent, r->ops[h.owner].block};
        }
    }
    return h;
}

static buffer read_buffer(const region_table *r, uint32_t place)
{
    const pto_op op = r->ops[place].op;
    buffer b = {.op = op, .around = {REGION_NONE, 0}};
    if (r->ops[place].parent == REGION_ROOT && r->ops[place].block == 0) b.around = home_of(r, op);
    b.space = pto_space_by_name(op.run, pto_attr_str_of(op, PTO_STR("space")));
    b.bytes = pto_attr_int_of(op, PTO_STR("bytes_per_stage"), 0) * pto_attr_int_of(op, PTO_STR("stages"), 1);
    b.from = b.end = pto_attr_int_of(op, PTO_STR("addr"), -1);
    if (b.from >= 0) b.end += b.bytes;
    return b;
}

static void list_buffers(chip_space *r)
{
    uint32_t capacity = 0;
    for (uint32_t place = 1; place < r->regions.count; place++) {
        if (!PTO_IS(r->regions.ops[place].op, BUFFER)) continue;
        PTO_GROW(r->regions.run, r->buffers, r->buffer_count, capacity);
        r->buffers[r->buffer_count++] = read_buffer(&r->regions, place);
    }
}

/* Whether all buffers that may hold something while the block runs fit beside each other. Those of a loop in it,
 * or beside it, hold nothing then. */
static int fits(const pto_run *run, const chip_space *r, uint32_t owner, uint32_t block)
{
    const uint32_t first = r->regions.ops[owner].first[block];
    for (pto_space s = 1; s < pto_name_count(run, PTO_NAME_SPACE); s++) {
        int64_t used = 0;
        const int64_t most = pto_space_usable_bytes(run, s, INT64_MAX);
        for (uint32_t i = 0; i < r->buffer_count; i++) {
            const buffer *b = &r->buffers[i];
            const home h = b->around;
            if (b->space != s || h.owner == REGION_NONE ||
                region_within(&r->regions, first, h.owner, h.block) == REGION_NONE)
                continue;
            if (__builtin_add_overflow(used, b->bytes, &used) || used > most) return 0;
        }
    }
    return 1;
}

/* ---- a kernel ---- */

static pto_status has_flags(pto_op op)
{
    const pto_str name = pto_op_name(op);
    return pto_error(op, "pto.order/flags", "`%.*s` orders pipes already; pto.order runs before pto.synchronize",
                     PTO_FMT(name));
}

static pto_status order_block(const pto_run *run, const chip_space *r, uint32_t owner, uint32_t block)
{
    uint32_t count = 0, tiles = 0;
    PTO_TRY(pto_go_on(run));
    if (!fits(run, r, owner, block)) {
        pto_stat_add(run, STAT_LEFT, 1);
        return PTO_OK;
    }
    PTO_EACH_OP(pto_op_block_at(r->regions.ops[owner].op, block), op) {
        if (pto_kind_has(run, pto_op_kind(op), PTO_TRAIT_SYNC)) return has_flags(op);
        const int is_insn = is_movable(op), is_tile = PTO_IS(op, TILE);
        if ((!is_insn && !is_tile) || (is_insn && count == r->window) || (is_tile && tiles == r->tile_capacity)) {
            piece p = {run, r->nodes, r->before, count, op};
            PTO_TRY(order_piece(&p, r->tiles, tiles));
            count = tiles = 0;
        }
        if (is_tile) r->tiles[tiles++] = op;
        if (is_insn) PTO_TRY(describe(r, &r->nodes[count++], op));
    }
    return PTO_OK; /* a terminator has ended the last piece */
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    if (!PTO_IS(unit, KERNEL)) return PTO_OK;
    chip_space r = {.window = (uint32_t)pto_opt_i64(run, OPT_WINDOW), .regions = regions_of(unit)};
    if (r.window > r.regions.count) r.window = r.regions.count;
    r.tile_capacity = r.window * OPERANDS_MAX;
    r.nodes = PTO_SCRATCH(run, node, r.window);
    r.before = PTO_SCRATCH(run, uint8_t, (size_t)r.window *r.window);
    r.tiles = PTO_SCRATCH(run, pto_op, r.tile_capacity);
    list_buffers(&r);
    for (uint32_t owner = REGION_ROOT; owner < r.regions.count; owner++) {
        for (uint32_t b = 0; b < r.regions.ops[owner].blocks; b++) PTO_TRY(order_block(run, &r, owner, b));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.order",
    .summary = "Move loads up and stores down inside blocks",
    .scope = "function",
    .consumes = "block/1",
    .produces = "block/1",
    .requires_props = PTO_STRS("pto.selected"),
    .breaks = PTO_STRS("pto.addresses-assigned", "pto.synchronised"),
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.order", "pass:pto.order", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
