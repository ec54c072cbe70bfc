/* Ops in print order, then tiles, then what is read and handed over. */
#include "storage_read.h"

int storage_is_tile(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TILE; }

int storage_is_tile_op(pto_op op)
{
    const pto_str name = pto_op_name(op);
    return name.n > 5 && memcmp(name.p, "tile.", 5) == 0 && !pto_str_is(name, "tile.fused");
}

/* ---- tables ---- */

static storage_table make_table(const pto_run *run, uint32_t count)
{
    uint32_t capacity = 16;
    while (capacity / 2 < count) capacity *= 2;
    return (storage_table){PTO_SCRATCH(run, storage_slot, capacity), capacity - 1};
}

static storage_slot *table_slot(const storage_table *t, uint32_t key)
{
    uint32_t at = key * 2654435761u & t->mask;
    while (t->slots[at].key != 0 && t->slots[at].key != key) at = (at + 1) & t->mask;
    return &t->slots[at];
}

static uint32_t table_find(const storage_table *t, uint32_t key)
{
    if (key == 0) return STORAGE_NONE;
    const storage_slot *s = table_slot(t, key);
    return s->key != 0 ? s->at : STORAGE_NONE;
}

pto_op storage_op_at(const storage_source *s, uint32_t k) { return s->regions.ops[k + 1].op; }

uint32_t storage_find_op(const storage_source *s, pto_op op)
{
    const uint32_t place = region_place(&s->regions, op);
    return place == REGION_NONE || place == REGION_ROOT ? STORAGE_NONE : place - 1;
}

uint32_t storage_find_value(const storage_source *s, pto_value v) { return table_find(&s->value_table, v.index); }

/* ---- reading ---- */

typedef struct reader {
    storage_plan *plan;
    storage_source *source;
    const region_table *regions;
} reader;

static void make_table_of_values(const reader *r)
{
    uint32_t values = 0;
    for (uint32_t place = 1; place < r->regions->count; place++) {
        const region_op *at = &r->regions->ops[place];
        values += pto_op_result_count(at->op);
        for (uint32_t b = 0; b < at->blocks; b++) values += pto_block_arg_count(pto_op_block_at(at->op, b));
    }
    r->source->values = PTO_SCRATCH(r->plan->run, pto_value, values);
    r->source->value_table = make_table(r->plan->run, values);
}

static int is_carrier(const reader *r, uint32_t k)
{
    const region_kind kind = r->regions->ops[k + 1].kind;
    return kind == REGION_FOR || kind == REGION_IF || kind == REGION_WHILE;
}

static void read_op(const reader *r, uint32_t k)
{
    const region_op *at = &r->regions->ops[k + 1];
    storage_add_op(r->plan, pto_op_kind(at->op), at->parent == REGION_ROOT ? STORAGE_NONE : at->parent - 1);
    r->plan->ops[k].repeats = region_is_loop(r->regions, k + 1) != 0;
    r->plan->ops[k].counts = at->kind == REGION_FOR;
    r->plan->ops[k].hands_over = is_carrier(r, k) || at->kind == REGION_YIELD;
    r->source->on_tiles[k] = storage_is_tile_op(at->op) != 0;
}

static int64_t bytes_of(const pto_run *run, const storage_shape *s)
{
    const int64_t bytes = pto_tile_bytes(s->dtype, pto_layout_order(run, s->layout), s->rows, s->columns);
    return bytes < 0 ? INT64_MAX : bytes;
}

static storage_shape shape_of(pto_type type)
{
    storage_shape s = {.dtype = pto_type_dtype(type), .space = pto_type_space(type), .layout = pto_type_layout(type)};
    (void)pto_dim_is_const(type, 0, &s.rows);
    (void)pto_dim_is_const(type, 1, &s.columns);
    s.bytes = bytes_of(type.run, &s);
    return s;
}

static void enter(const reader *r, pto_value v, uint32_t at)
{
    r->source->values[at] = v;
    *table_slot(&r->source->value_table, v.index) = (storage_slot){v.index, at};
}

/* What a loop carries, as each of its blocks sees it: there from the end of the block before it. */
static void read_arguments(const reader *r, uint32_t k)
{
    const uint32_t place = k + 1;
    const pto_op op = r->regions->ops[place].op;
    for (uint32_t b = 0, from = 2 * k + 1; b < r->regions->ops[place].blocks; b++) {
        for (uint32_t i = 0; i < region_carried(r->regions, place); i++) {
            const pto_value v = region_argument(r->regions, place, b, i);
            const storage_shape shape = shape_of(pto_value_type(v));
            if (storage_is_tile(v)) enter(r, v, storage_add_value(r->plan, &shape, k, from));
        }
        from = 2 * storage_find_op(r->source, pto_block_last(pto_op_block_at(op, b))) + 1;
    }
}

/* The results of a region that runs once are the values that it yields. */
static void read_yielded(const reader *r, uint32_t k)
{
    const region_op *at = &r->regions->ops[k + 1];
    const region_op *around = &r->regions->ops[at->parent];
    if (at->kind != REGION_YIELD || around->kind != REGION_ONCE) return;
    for (uint32_t i = 0, end = pto_op_result_count(around->op); i < end; i++) {
        const pto_value v = pto_op_result(around->op, i);
        const uint32_t made = storage_find_value(r->source, pto_op_operand(at->op, i));
        if (made != STORAGE_NONE) *table_slot(&r->source->value_table, v.index) = (storage_slot){v.index, made};
    }
}

static void read_values(const reader *r, uint32_t k)
{
    read_yielded(r, k);

    storage_plan *p = r->plan;
    const pto_op op = storage_op_at(r->source, k);
    const int carries = is_carrier(r, k);
    if (!carries && !storage_on_tiles(r->source, k)) return;
    if (region_is_loop(r->regions, k + 1)) read_arguments(r, k);
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) {
        const pto_value v = pto_op_result(op, i);
        if (!storage_is_tile(v)) continue;
        const storage_shape shape = shape_of(pto_value_type(v));
        enter(r, v,
              carries ? storage_add_value(p, &shape, k, 2 * p->ops[k].last + 1)
                      : storage_add_result(p, k, &shape, pto_attr_int_of(op, PTO_STR("stages"), 1)));
    }
}

static void link_values(const reader *r, storage_reason reason, uint32_t op, pto_value a, pto_value b)
{
    storage_add_link(r->plan, reason, op, storage_find_value(r->source, a), storage_find_value(r->source, b));
}

static void read_links(const reader *r, uint32_t k)
{
    const pto_op op = storage_op_at(r->source, k);
    const uint32_t place = k + 1, count = region_carried(r->regions, place);
    const int64_t continued =
        storage_on_tiles(r->source, k) ? pto_kind_column(op.run, r->plan->ops[k].kind, PTO_COLUMN_CONTINUED) : 0;
    for (uint32_t i = 0; continued >> i != 0; i++)
        if ((continued >> i & 1) != 0) link_values(r, STORAGE_SUM, k, pto_op_result(op, 0), pto_op_operand(op, i));
    if (!is_carrier(r, k)) return;
    for (uint32_t b = 0; region_is_loop(r->regions, place) && b < r->regions->ops[place].blocks; b++) {
        for (uint32_t i = 0; i < count; i++)
            link_values(r, STORAGE_AROUND, k, region_argument(r->regions, place, b, i), pto_op_result(op, i));
    }
    for (uint32_t b = 0; b < r->regions->ops[place].blocks; b++) {
        const pto_op yield = pto_block_last(pto_op_block_at(op, b));
        for (uint32_t i = 0; region_block_gives(r->regions, place, b) && i < count; i++)
            link_values(r, STORAGE_HANDED, k, pto_op_result(op, i), pto_op_operand(yield, i));
    }
    for (uint32_t i = 0; region_is_loop(r->regions, place) && i < count; i++)
        link_values(r, STORAGE_HANDED, k, pto_op_result(op, i), pto_op_operand(op, i));
}

static void read_uses(const reader *r, uint32_t k)
{
    const pto_op op = storage_op_at(r->source, k);
    if (!r->plan->ops[k].hands_over && !storage_on_tiles(r->source, k)) return;
    const int is_store = pto_op_transfer(op) == PTO_TRANSFER_STORE;
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        const pto_value v = pto_op_operand(op, i);
        const uint32_t at = storage_is_tile(v) ? storage_find_value(r->source, v) : STORAGE_NONE;
        if (at == STORAGE_NONE) continue;
        storage_add_use(r->plan, k, i, at, is_store && i == 0 ? pto_attr_int_of(op, PTO_STR("stages"), 1) : 1);
    }
}

void storage_read(storage_plan *p, storage_source *s, pto_op root)
{
    const reader r = {p, s, &s->regions};
    storage_plan_clear(p);
    s->regions = regions_of(root);
    make_table_of_values(&r);
    s->on_tiles = PTO_SCRATCH(p->run, uint8_t, s->regions.count);
    for (uint32_t k = 0; k + 1 < s->regions.count; k++) read_op(&r, k);
    for (uint32_t k = 0; k < p->op_count; k++) read_values(&r, k);
    for (uint32_t k = 0; k < p->op_count; k++) {
        read_links(&r, k);
        read_uses(&r, k);
    }
    storage_solve(p);
}

void storage_rotate(storage_plan *p, const storage_source *s, pto_op op, int64_t stages)
{
    storage_ask(p, storage_find_op(s, op), stages);
    storage_solve(p);
}
