#include "regions.h"

/* ---- the table ---- */

static region_kind kind_of(pto_op op, uint32_t blocks)
{
    if (blocks == 0) return REGION_PLAIN;
    const pto_str name = pto_op_name(op);
    if (pto_str_is(name, "for")) return REGION_FOR;
    if (pto_str_is(name, "if")) return REGION_IF;
    if (pto_str_is(name, "tile.fused")) return REGION_ONCE;
    return pto_str_is(name, "while") && blocks == 2 ? REGION_WHILE : REGION_OTHER;
}

/* Where the walk is: `before` is the op before the next one in its block; REGION_NONE: it is the first. */
typedef struct walk {
    uint32_t around, block, before;
    uint32_t capacity; /* of the table */
} walk;

static uint32_t add_op(region_table *r, walk *w, pto_op op)
{
    const uint32_t place = r->count, blocks = pto_op_block_count(op);
    PTO_GROW(r->run, r->ops, r->count, w->capacity);
    r->ops[r->count++] = (region_op){.op = op,
                                     .kind = w->around != REGION_NONE ? kind_of(op, blocks) : REGION_OTHER,
                                     .parent = w->around,
                                     .block = w->block,
                                     .blocks = blocks,
                                     .next = REGION_NONE,
                                     .last = place,
                                     .first = {REGION_NONE, REGION_NONE},
                                     .depth = w->around != REGION_NONE ? r->ops[w->around].depth + 1 : 0};
    return place;
}

static void go_to(walk *w, uint32_t around, uint32_t block, uint32_t before)
{
    w->around = around;
    w->block = block;
    w->before = before;
}

/* The first op in a block of an op, of the blocks from `*block` on; none: the rest of them is empty. */
static pto_op first_in(const region_op *o, uint32_t *block)
{
    for (; *block < o->blocks; ++*block) {
        const pto_op op = pto_block_first(pto_op_block_at(o->op, *block));
        if (PTO_SOME(op)) return op;
    }
    return pto_op_none(o->op.run);
}

static void note_yield(region_op *o)
{
    if (o->kind == REGION_PLAIN && pto_str_is(pto_op_name(o->op), "yield")) o->kind = REGION_YIELD;
}

/* The next op after a block has ended; none after the root. */
static pto_op leave_blocks(region_table *r, walk *w)
{
    pto_op op = pto_op_none(r->run);
    while (w->around != REGION_NONE && !PTO_SOME(op)) {
        region_op *o = &r->ops[w->around];
        if (w->before != REGION_NONE) note_yield(&r->ops[w->before]);
        w->before = REGION_NONE;
        w->block++;
        op = first_in(o, &w->block);
        if (PTO_SOME(op)) return op;
        o->last = r->count - 1;
        if (o->parent != REGION_NONE) op = pto_op_next(o->op);
        go_to(w, o->parent, o->block, w->around);
    }
    return op;
}

static void list_ops(region_table *r, pto_op root)
{
    walk w = {.around = REGION_NONE, .before = REGION_NONE};
    for (pto_op op = root; PTO_SOME(op);) {
        const uint32_t place = add_op(r, &w, op);
        if (w.before != REGION_NONE)
            r->ops[w.before].next = place;
        else if (w.around != REGION_NONE && w.block < 2)
            r->ops[w.around].first[w.block] = place;
        if (r->ops[place].blocks != 0) {
            go_to(&w, place, 0, REGION_NONE);
            op = first_in(&r->ops[place], &w.block);
        } else {
            w.before = place;
            op = place != REGION_ROOT ? pto_op_next(op) : pto_op_none(r->run);
        }
        if (!PTO_SOME(op)) op = leave_blocks(r, &w);
    }
}

static uint32_t *slot_of(const region_table *r, pto_op op)
{
    uint32_t at = op.index * 2654435761u & r->slot_mask;
    while (r->slots[at] != REGION_NONE && r->ops[r->slots[at]].op.index != op.index) at = (at + 1) & r->slot_mask;
    return &r->slots[at];
}

region_table regions_of(pto_op root)
{
    region_table r = {.run = root.run, .slot_mask = 31};
    list_ops(&r, root);
    while (r.slot_mask < 2 * r.count) r.slot_mask = 2 * r.slot_mask + 1;
    r.slots = PTO_SCRATCH(r.run, uint32_t, r.slot_mask + 1);
    memset(r.slots, 0xff, (r.slot_mask + 1) * sizeof *r.slots);
    for (uint32_t i = 0; i < r.count; i++) *slot_of(&r, r.ops[i].op) = i;
    return r;
}

uint32_t region_place(const region_table *r, pto_op op) { return PTO_SOME(op) ? *slot_of(r, op) : REGION_NONE; }

int region_is_loop(const region_table *r, uint32_t place)
{
    return r->ops[place].kind == REGION_FOR || r->ops[place].kind == REGION_WHILE;
}

uint32_t region_loop_around(const region_table *r, uint32_t place)
{
    uint32_t p = r->ops[place].parent;
    while (p != REGION_NONE && !region_is_loop(r, p)) p = r->ops[p].parent;
    return p;
}

uint32_t region_outermost_loop(const region_table *r, uint32_t place)
{
    uint32_t found = REGION_NONE;
    for (uint32_t p = place; p != REGION_NONE; p = r->ops[p].parent) {
        if (region_is_loop(r, p)) found = p;
    }
    return found;
}

uint32_t region_common(const region_table *r, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (r->ops[a].depth >= r->ops[b].depth)
            a = r->ops[a].parent;
        else
            b = r->ops[b].parent;
    }
    return a;
}

uint32_t region_within(const region_table *r, uint32_t place, uint32_t parent, uint32_t block)
{
    while (place != REGION_ROOT && place != REGION_NONE) {
        const region_op *o = &r->ops[place];
        if (o->parent == parent) return o->block == block ? place : REGION_NONE;
        place = o->parent;
    }
    return REGION_NONE;
}

/* ---- how often a loop runs ---- */

uint32_t region_trips(const region_table *r, uint32_t place)
{
    const region_op *o = &r->ops[place];
    int64_t from, to, step;
    if (o->kind != REGION_FOR || !pto_expr_is_const(pto_expr_of(o->op, PTO_STR("from"), 0), &from) ||
        !pto_expr_is_const(pto_expr_of(o->op, PTO_STR("to"), 0), &to) ||
        !pto_expr_is_const(pto_expr_of(o->op, PTO_STR("step"), 0), &step) || step < 1)
        return REGION_NONE;
    if (from >= to) return 0;
    const uint64_t trips = ((uint64_t)to - (uint64_t)from - 1) / (uint64_t)step + 1;
    return trips < REGION_NONE ? (uint32_t)trips : REGION_NONE - 1;
}

int region_has_trip(const region_table *r, uint32_t place)
{
    const region_op *o = &r->ops[place];
    const uint32_t trips = region_trips(r, place);
    if (o->kind != REGION_FOR || trips != REGION_NONE) return o->kind == REGION_FOR && trips != 0;
    const pto_expr span = pto_expr_sub(pto_expr_of(o->op, PTO_STR("to"), 0), pto_expr_of(o->op, PTO_STR("from"), 0));
    return pto_expr_range(span, o->op, NULL).lo >= 1;
}

/* ---- what is handed over ---- */

uint32_t region_carried(const region_table *r, uint32_t place)
{
    const region_kind kind = r->ops[place].kind;
    return kind == REGION_FOR || kind == REGION_WHILE || kind == REGION_IF ? pto_op_result_count(r->ops[place].op) : 0;
}

pto_value region_argument(const region_table *r, uint32_t place, uint32_t block, uint32_t i)
{
    const region_op *o = &r->ops[place];
    if (!region_is_loop(r, place)) return pto_value_none(r->run);
    return pto_block_arg(pto_op_block_at(o->op, block), o->kind == REGION_FOR ? i + 1 : i);
}

int region_block_gives(const region_table *r, uint32_t place, uint32_t block)
{
    const region_kind kind = r->ops[place].kind;
    return kind == REGION_FOR || kind == REGION_IF || (kind == REGION_WHILE && block == 1);
}
