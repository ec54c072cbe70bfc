#include "regions.h"

/* ---- the table ---- */

static region_kind kind_of(pto_op op)
{
    if (pto_op_block_count(op) == 0) return REGION_PLAIN;
    const pto_str name = pto_op_name(op);
    if (pto_str_is(name, "for")) return REGION_FOR;
    if (pto_str_is(name, "if")) return REGION_IF;
    return pto_str_is(name, "while") && pto_op_block_count(op) == 2 ? REGION_WHILE : REGION_OTHER;
}

static uint32_t block_number(pto_op parent, pto_op op)
{
    const uint32_t count = pto_op_block_count(parent);
    const pto_block block = count > 1 ? pto_op_block(op) : pto_block_none(op.run);
    uint32_t i = 0;
    while (i + 1 < count && !pto_block_same(pto_op_block_at(parent, i), block)) i++;
    return i;
}

static uint32_t *slot_of(const region_table *r, pto_op op)
{
    uint32_t at = op.index * 2654435761u & r->slot_mask;
    while (r->slots[at] != REGION_NONE && r->ops[r->slots[at]].op.index != op.index) at = (at + 1) & r->slot_mask;
    return &r->slots[at];
}

/* `last_in`: the op seen last directly in each op. */
static void add_op(region_table *r, pto_op op, uint32_t parent, uint32_t *last_in)
{
    const uint32_t place = r->count++;
    region_op *o = &r->ops[place], *p = parent != REGION_NONE ? &r->ops[parent] : NULL;
    *o = (region_op){.op = op,
                     .kind = p != NULL ? kind_of(op) : REGION_OTHER,
                     .parent = parent,
                     .next = REGION_NONE,
                     .last = place,
                     .first = {REGION_NONE, REGION_NONE}};
    *slot_of(r, op) = place;
    if (p == NULL) return;
    o->block = block_number(p->op, op);
    o->depth = p->depth + 1;
    if (o->block < 2 && p->first[o->block] == REGION_NONE)
        p->first[o->block] = place;
    else
        r->ops[last_in[parent]].next = place;
    last_in[parent] = place;
}

region_table regions_of(pto_op root)
{
    region_table r = {.run = root.run, .slot_mask = 31};
    uint32_t count = 0, capacity = 0, around = REGION_ROOT;
    pto_op *inside = NULL;
    PTO_WALK(root, op)
    {
        PTO_GROW(r.run, inside, count, capacity);
        inside[count++] = op;
    }
    while (r.slot_mask < 2 * (count + 1)) r.slot_mask = 2 * r.slot_mask + 1;
    r.ops = PTO_SCRATCH(r.run, region_op, count + 1);
    r.slots = PTO_SCRATCH(r.run, uint32_t, r.slot_mask + 1);
    memset(r.slots, 0xff, (r.slot_mask + 1) * sizeof *r.slots);
    uint32_t *last_in = PTO_SCRATCH(r.run, uint32_t, count + 1);
    add_op(&r, root, REGION_NONE, last_in);
    for (uint32_t i = 0; i < count; i++) {
        const pto_op op = inside[i], parent = pto_op_parent(op);
        while (!pto_op_same(r.ops[around].op, parent)) around = r.ops[around].parent;
        add_op(&r, op, around, last_in);
        if (r.ops[r.count - 1].kind != REGION_PLAIN) around = r.count - 1;
    }
    for (uint32_t i = r.count; i-- > 1;) {
        region_op *o = &r.ops[i], *p = &r.ops[o->parent];
        if (p->last < o->last) p->last = o->last;
        if (o->next == REGION_NONE && o->kind == REGION_PLAIN && pto_str_is(pto_op_name(o->op), "yield"))
            o->kind = REGION_YIELD;
    }
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
