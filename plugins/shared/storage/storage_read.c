/* Ops in print order, then tiles, then what is read and handed over. */
#include "storage_read.h"

int storage_is_tile(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TILE; }

int storage_is_tile_op(pto_op op)
{
    const pto_str name = pto_op_name(op);
    return name.n > 5 && memcmp(name.p, "tile.", 5) == 0;
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

uint32_t storage_find_op(const storage_source *s, pto_op op) { return table_find(&s->op_table, op.index); }
uint32_t storage_find_value(const storage_source *s, pto_value v) { return table_find(&s->value_table, v.index); }

/* ---- reading ---- */

typedef struct reader {
    storage_plan *plan;
    storage_source *source;
    const storage_kinds *kinds;
} reader;

static void make_tables(const reader *r, pto_op root)
{
    uint32_t ops = 0, values = 0;
    PTO_WALK(root, op)
    {
        ops++;
        values += pto_result_count(op);
        for (uint32_t b = 0; b < pto_op_block_count(op); b++) values += pto_block_arg_count(pto_op_block_at(op, b));
    }
    r->source->ops = PTO_SCRATCH(r->plan->run, pto_op, ops);
    r->source->values = PTO_SCRATCH(r->plan->run, pto_value, values);
    r->source->op_table = make_table(r->plan->run, ops);
    r->source->value_table = make_table(r->plan->run, values);
}

static int is_carrier(const reader *r, pto_op op)
{
    return pto_op_is(op, r->kinds->for_) || pto_op_is(op, r->kinds->if_) || pto_op_is(op, r->kinds->while_);
}

static void read_op(const reader *r, pto_op op)
{
    const uint32_t k = storage_add_op(r->plan, pto_op_kind(op), storage_find_op(r->source, pto_op_parent(op)));
    storage_op *o = &r->plan->ops[k];
    o->repeats = pto_op_is(op, r->kinds->for_) || pto_op_is(op, r->kinds->while_);
    o->hands_over = is_carrier(r, op) || pto_op_is(op, r->kinds->yield);
    r->source->ops[k] = op;
    *table_slot(&r->source->op_table, op.index) = (storage_slot){op.index, k};
}

static int64_t bytes_of(const storage_shape *s)
{
    int64_t bytes = 0;
    if (__builtin_mul_overflow(s->rows, s->columns, &bytes) ||
        __builtin_mul_overflow(bytes, pto_dtype_bytes(s->dtype), &bytes))
        return INT64_MAX;
    return bytes;
}

static storage_shape shape_of(pto_type type)
{
    storage_shape s = {.dtype = pto_type_dtype(type), .space = pto_type_space(type), .layout = pto_type_layout(type)};
    (void)pto_dim_is_const(type, 0, &s.rows);
    (void)pto_dim_is_const(type, 1, &s.columns);
    s.bytes = bytes_of(&s);
    return s;
}

static void enter(const reader *r, pto_value v, uint32_t at)
{
    r->source->values[at] = v;
    *table_slot(&r->source->value_table, v.index) = (storage_slot){v.index, at};
}

static void read_values(const reader *r, uint32_t k)
{
    storage_plan *p = r->plan;
    const pto_op op = r->source->ops[k];
    const int carries = is_carrier(r, op);
    if (!carries && !storage_is_tile_op(op)) return;
    for (uint32_t b = 0; carries && b < pto_op_block_count(op); b++) {
        const pto_block block = pto_op_block_at(op, b);
        for (uint32_t i = 0; i < pto_block_arg_count(block); i++) {
            const pto_value v = pto_block_arg(block, i);
            const storage_shape shape = shape_of(pto_value_type(v));
            if (storage_is_tile(v)) enter(r, v, storage_add_value(p, &shape, k, 2 * k + 1));
        }
    }
    for (uint32_t i = 0; i < pto_result_count(op); i++) {
        const pto_value v = pto_result(op, i);
        const storage_shape shape = shape_of(pto_value_type(v));
        if (!storage_is_tile(v)) continue;
        enter(r, v,
              carries ? storage_add_value(p, &shape, k, 2 * p->ops[k].last + 1)
                      : storage_add_result(p, k, &shape, pto_attr_int_of(op, "stages", 1)));
    }
}

static void link_values(const reader *r, storage_reason reason, uint32_t op, pto_value a, pto_value b)
{
    storage_add_link(r->plan, reason, op, storage_find_value(r->source, a), storage_find_value(r->source, b));
}

static void read_links(const reader *r, uint32_t k)
{
    const pto_op op = r->source->ops[k];
    if (pto_kind_column(r->plan->run, pto_op_kind(op), PTO_COLUMN_RULE) == PTO_RULE_MATMUL_ACC &&
        storage_is_tile_op(op))
        link_values(r, STORAGE_SUM, k, pto_result(op, 0), pto_operand(op, 0));
    if (!is_carrier(r, op) || pto_op_is(op, r->kinds->while_)) return;
    const int is_loop = pto_op_is(op, r->kinds->for_);
    for (uint32_t i = 0; is_loop && i < pto_result_count(op); i++)
        link_values(r, STORAGE_AROUND, k, pto_block_arg(pto_body(op), i + 1), pto_result(op, i));
    for (uint32_t b = 0; b < pto_op_block_count(op); b++) {
        const pto_op yield = pto_block_last(pto_op_block_at(op, b));
        for (uint32_t i = 0; i < pto_result_count(op); i++)
            link_values(r, STORAGE_HANDED, k, pto_result(op, i), pto_operand(yield, i));
    }
    for (uint32_t i = 0; i < pto_operand_count(op); i++)
        link_values(r, STORAGE_HANDED, k, pto_result(op, i), pto_operand(op, i));
}

static void read_uses(const reader *r, uint32_t k)
{
    const pto_op op = r->source->ops[k];
    if (!r->plan->ops[k].hands_over && !storage_is_tile_op(op)) return;
    const int is_store = pto_kind_column(r->plan->run, pto_op_kind(op), PTO_COLUMN_RULE) == PTO_RULE_STORE;
    for (uint32_t i = 0; i < pto_operand_count(op); i++) {
        const pto_value v = pto_operand(op, i);
        const uint32_t at = storage_is_tile(v) ? storage_find_value(r->source, v) : STORAGE_NONE;
        if (at == STORAGE_NONE) continue;
        storage_add_use(r->plan, k, i, at, is_store ? pto_attr_int_of(op, "stages", 1) : 1);
    }
}

void storage_read(storage_plan *p, storage_source *s, pto_op root, const storage_kinds *kinds)
{
    const reader r = {p, s, kinds};
    storage_plan_clear(p);
    make_tables(&r, root);
    PTO_WALK(root, op) read_op(&r, op);
    for (uint32_t k = 0; k < p->op_count; k++) read_values(&r, k);
    for (uint32_t k = 0; k < p->op_count; k++) {
        read_links(&r, k);
        read_uses(&r, k);
    }
    storage_solve(p);
}
