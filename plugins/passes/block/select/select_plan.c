/* Which tile values share storage: lifetimes in print order, then groups of values that are never needed at once. */
#include "select_plan.h"

int select_is_tile(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TILE; }

int select_is_tile_op(const pto_run *run, pto_op op)
{
    (void)run;
    pto_str name = pto_op_name(op);
    return name.n > 5 && memcmp(name.p, "tile.", 5) == 0;
}

/* ---- tables ---- */

static select_table make_table(const pto_run *run, uint32_t count)
{
    uint32_t capacity = 16;
    while (capacity / 2 < count) capacity *= 2;
    return (select_table){PTO_SCRATCH(run, select_slot, capacity), capacity - 1};
}

static select_slot *table_slot(const select_table *t, uint32_t key)
{
    uint32_t at = key * 2654435761u & t->mask;
    while (t->slots[at].key != 0 && t->slots[at].key != key) at = (at + 1) & t->mask;
    return &t->slots[at];
}

static uint32_t table_find(const select_table *t, uint32_t key)
{
    if (key == 0) return SELECT_NONE;
    const select_slot *s = table_slot(t, key);
    return s->key != 0 ? s->at : SELECT_NONE;
}

static void table_put(const select_table *t, uint32_t key, uint32_t at)
{
    *table_slot(t, key) = (select_slot){key, at};
}

uint32_t select_find_op(const select_plan *p, pto_op op) { return table_find(&p->op_table, op.index); }
uint32_t select_find_value(const select_plan *p, pto_value v) { return table_find(&p->value_table, v.index); }

/* ---- ops and values ---- */

static int is_carrier(const select_plan *p, pto_op op)
{
    return pto_op_is(op, pto_kind(p->run, KIND_FOR)) || pto_op_is(op, pto_kind(p->run, KIND_IF));
}

static void count_all(select_plan *p)
{
    PTO_WALK(p->kernel, op)
    {
        p->op_count++;
        p->value_count += pto_result_count(op);
        for (uint32_t b = 0; b < pto_op_block_count(op); b++)
            p->value_count += pto_block_arg_count(pto_op_block_at(op, b));
    }
    p->ops = PTO_SCRATCH(p->run, select_op, p->op_count);
    p->values = PTO_SCRATCH(p->run, select_value, p->value_count);
    p->op_table = make_table(p->run, p->op_count);
    p->value_table = make_table(p->run, p->value_count);
}

static void add_value(select_plan *p, pto_value v, uint32_t home, uint32_t from)
{
    if (!select_is_tile(v)) return;
    uint32_t i = p->value_count++;
    p->values[i] = (select_value){.value = v, .home = home, .from = from, .end = from + 1, .group = i, .ring = i};
    table_put(&p->value_table, v.index, i);
}

static pto_status check_op(const select_plan *p, pto_op op)
{
    pto_op around = pto_op_parent(op);
    if (pto_op_is(op, pto_kind(p->run, KIND_WHILE)) || pto_op_is(around, pto_kind(p->run, KIND_WHILE)))
        return pto_error(op, "pto.select/while",
                         "a kernel has `while`, which has no lowering yet; legal are `for` and `if`");
    if (!select_is_tile_op(p->run, op)) return PTO_OK;
    if (!pto_kind_column(p->run, pto_op_kind(op), PTO_COLUMN_PARTNER) &&
        !pto_op_is(op, pto_kind(p->run, KIND_ZERO_ACC))) {
        pto_str name = pto_op_name(op);
        return pto_error(op, "pto.select/no-instruction",
                         "`%.*s` has no PTO instruction; bufferize and outline replace it before", PTO_FMT(name));
    }
    return PTO_OK;
}

static pto_status list_ops(select_plan *p)
{
    count_all(p);
    p->op_count = p->value_count = 0;
    PTO_WALK(p->kernel, op)
    {
        uint32_t k = p->op_count++;
        PTO_TRY(check_op(p, op));
        table_put(&p->op_table, op.index, k);
        p->ops[k] = (select_op){.op = op, .parent = select_find_op(p, pto_op_parent(op)), .last = k};
        for (uint32_t a = p->ops[k].parent; a != SELECT_NONE; a = p->ops[a].parent) p->ops[a].last = k;
    }
    return PTO_OK;
}

static void list_values(select_plan *p)
{
    for (uint32_t k = 0; k < p->op_count; k++) {
        pto_op op = p->ops[k].op;
        int carries = is_carrier(p, op);
        if (!carries && !select_is_tile_op(p->run, op)) continue;
        for (uint32_t b = 0; carries && b < pto_op_block_count(op); b++) {
            pto_block block = pto_op_block_at(op, b);
            for (uint32_t i = 0; i < pto_block_arg_count(block); i++)
                add_value(p, pto_block_arg(block, i), k, 2 * k + 1);
        }
        for (uint32_t i = 0; i < pto_result_count(op); i++) add_value(p, pto_result(op, i), k, 2 * p->ops[k].last + 1);
    }
}

/* Whether an instruction may write where it reads this operand: element by element, each read before it is written. */
static int may_be_in_place(const select_plan *p, pto_op op, uint32_t operand)
{
    switch (pto_kind_column(p->run, pto_op_kind(op), PTO_COLUMN_RULE)) {
    case PTO_RULE_UNARY:
    case PTO_RULE_BINARY:
    case PTO_RULE_SCALAR: return 1;
    case PTO_RULE_ROW_BINARY:
    case PTO_RULE_COL_BINARY:
    case PTO_RULE_MATMUL_ACC: return operand == 0;
    case PTO_RULE_NONE: return 1; /* control: what it hands over changes names only */
    default: return 0;
    }
}

static void extend(select_value *v, uint32_t end)
{
    if (v->end < end) v->end = end;
}

/* A value from before a loop is needed until the loop's last iteration ends. */
static void note_use(select_plan *p, uint32_t k, uint32_t operand, select_value *v)
{
    extend(v, 2 * k + (may_be_in_place(p, p->ops[k].op, operand) ? 0u : 2u));
    for (uint32_t a = p->ops[k].parent; a != SELECT_NONE; a = p->ops[a].parent) {
        int inside = v->from > 2 * a && v->from <= 2 * p->ops[a].last;
        if (!inside && pto_op_is(p->ops[a].op, pto_kind(p->run, KIND_FOR))) extend(v, 2 * p->ops[a].last + 2);
    }
}

static pto_status find_lifetimes(select_plan *p)
{
    for (uint32_t k = 0; k < p->op_count; k++) {
        pto_op op = p->ops[k].op;
        int hands_over = is_carrier(p, op) || pto_op_is(op, pto_kind(p->run, KIND_YIELD));
        if (!hands_over && !select_is_tile_op(p->run, op)) continue;
        for (uint32_t i = 0; i < pto_operand_count(op); i++) {
            pto_value v = pto_operand(op, i);
            if (!select_is_tile(v)) continue;
            uint32_t at = select_find_value(p, v);
            if (at == SELECT_NONE) {
                pto_str name = pto_value_name(v), user = pto_op_name(op);
                return pto_error(
                    op, "pto.select/mixed",
                    "`%.*s` uses `%%%.*s`, which is a descriptor already; a kernel is either selected or not",
                    PTO_FMT(user), PTO_FMT(name));
            }
            note_use(p, k, i, &p->values[at]);
        }
    }
    return PTO_OK;
}

/* ---- groups ---- */

uint32_t select_group(const select_plan *p, uint32_t value)
{
    while (p->values[value].group != value) value = p->values[value].group;
    return value;
}

static int are_needed_at_once(const select_value *a, const select_value *b)
{
    return a->from < b->end && b->from < a->end;
}

static int may_share(const select_plan *p, uint32_t a, uint32_t b)
{
    if (!pto_type_same(pto_value_type(p->values[a].value), pto_value_type(p->values[b].value))) return 0;
    uint32_t i = a;
    do {
        uint32_t j = b;
        do {
            if (are_needed_at_once(&p->values[i], &p->values[j])) return 0;
            j = p->values[j].ring;
        } while (j != b);
        i = p->values[i].ring;
    } while (i != a);
    return 1;
}

static void share(select_plan *p, uint32_t a, uint32_t b)
{
    a = select_group(p, a);
    b = select_group(p, b);
    if (a == b || !may_share(p, a, b)) return;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    uint32_t next = p->values[low].ring;
    p->values[low].ring = p->values[high].ring;
    p->values[high].ring = next;
    p->values[high].group = low;
}

static void share_values(select_plan *p, pto_value a, pto_value b)
{
    uint32_t i = select_find_value(p, a), j = select_find_value(p, b);
    if (i != SELECT_NONE && j != SELECT_NONE) share(p, i, j);
}

/* Inner loops run most often, so they choose first; in a loop what goes around does, before what comes in. Sums stay in
 * one accumulator, since `acc` is small and has no copies. */
static void make_groups(select_plan *p)
{
    for (uint32_t k = 0; k < p->op_count; k++) {
        pto_op op = p->ops[k].op;
        if (pto_op_is(op, pto_kind(p->run, KIND_MATMUL_ACC))) share_values(p, pto_result(op, 0), pto_operand(op, 0));
    }
    for (uint32_t k = p->op_count; k-- > 0;) {
        pto_op op = p->ops[k].op;
        if (!pto_op_is(op, pto_kind(p->run, KIND_FOR))) continue;
        for (uint32_t i = 0; i < pto_result_count(op); i++)
            share_values(p, pto_block_arg(pto_body(op), i + 1), pto_result(op, i));
    }
    for (uint32_t k = p->op_count; k-- > 0;) {
        pto_op op = p->ops[k].op;
        if (!is_carrier(p, op)) continue;
        for (uint32_t b = 0; b < pto_op_block_count(op); b++) {
            pto_op yield = pto_block_last(pto_op_block_at(op, b));
            for (uint32_t i = 0; i < pto_result_count(op); i++)
                share_values(p, pto_result(op, i), pto_operand(yield, i));
        }
        for (uint32_t i = 0; i < pto_operand_count(op); i++) share_values(p, pto_result(op, i), pto_operand(op, i));
    }
}

pto_status select_plan_make(select_plan *p, const pto_run *run, pto_op kernel)
{
    *p = (select_plan){.run = run, .kernel = kernel, .last_buffer = pto_op_none(run)};
    PTO_TRY(list_ops(p));
    list_values(p);
    PTO_TRY(find_lifetimes(p));
    make_groups(p);
    return PTO_OK;
}
