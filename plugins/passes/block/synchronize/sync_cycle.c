#include "sync_cycle.h"

#include "sync_model.h"

#include "index_code.h"

/* An expression as a list, arguments after what uses them. */
enum { PARTS_MAX = 64, PERIOD_MAX = 1 << 20, DRIFT_MAX = 1 << 30 };

typedef struct part {
    pto_expr expr;
    pto_expr_kind kind; /* PTO_EXPR_VALUE: a loop index, its argument `from` */
    uint32_t first, count;
    uint32_t variable; /* SYNC_NONE: none */
    int64_t step;
    int64_t period, drift; /* along the variable in question */
    index_expr from;       /* of a loop index */
} part;

typedef struct part_list {
    part items[PARTS_MAX];
    uint32_t count;
    uint32_t variables[CYCLE_RANK_MAX];
    uint32_t variable_count;
    index_expr whole; /* items[0] */
} part_list;

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* ---- listing ---- */

static uint32_t invariant_of(const sync_model *m, pto_expr leaf)
{
    sync_cycles *c = m->cycles;
    uint32_t i = 0;
    while (i < c->invariant_count && c->invariants[i].index != leaf.index) i++;
    if (i == c->invariant_count) {
        PTO_GROW(m->run, c->invariants, c->invariant_count, c->invariant_capacity);
        c->invariants[c->invariant_count++] = leaf;
    }
    return m->count + i;
}

static int add_variable(part_list *l, part *p, uint32_t variable)
{
    uint32_t i = 0;
    p->variable = variable;
    while (i < l->variable_count && l->variables[i] != variable) i++;
    if (i < l->variable_count) return 1;
    if (l->variable_count == CYCLE_RANK_MAX) return 0;
    l->variables[l->variable_count++] = variable;
    return 1;
}

static int add_parts(part_list *l, part *of, uint32_t count, const pto_expr *args)
{
    if (count > PARTS_MAX - l->count) return 0;
    of->first = l->count;
    of->count = count;
    for (uint32_t i = 0; i < count; i++)
        l->items[l->count++] =
            (part){.expr = args[i], .kind = pto_expr_kind_of(args[i]), .variable = SYNC_NONE, .first = 0};
    return 1;
}

static int list_leaf(const sync_model *m, part_list *l, part *p)
{
    const uint32_t loop = sync_loop_of_index(m, p->expr);
    if (loop == SYNC_NONE) return sync_is_steady(m, p->expr) && add_variable(l, p, invariant_of(m, p->expr));
    const pto_expr from = pto_expr_of(m->ops[loop].at->op, PTO_STR("from"), 0);
    return pto_expr_is_const(pto_expr_of(m->ops[loop].at->op, PTO_STR("step"), 0), &p->step) && p->step >= 1 &&
           p->step <= DRIFT_MAX && add_variable(l, p, loop) && add_parts(l, p, 1, &from);
}

static int list_parts(const sync_model *m, pto_expr e, part_list *l)
{
    l->count = l->variable_count = 0;
    part root = {.first = 0};
    if (!add_parts(l, &root, 1, &e)) return 0;
    for (uint32_t i = 0; i < l->count; i++) {
        part *p = &l->items[i];
        if (p->kind == PTO_EXPR_CONST) continue;
        if (p->kind == PTO_EXPR_VALUE || p->kind == PTO_EXPR_SYMBOL) {
            if (!list_leaf(m, l, p)) return 0;
            continue;
        }
        pto_expr args[PARTS_MAX];
        const uint32_t count = pto_expr_arg_count(p->expr);
        if (p->kind < PTO_EXPR_SUM || count == 0 || count > PARTS_MAX) return 0;
        for (uint32_t k = 0; k < count; k++) args[k] = pto_expr_arg(p->expr, k);
        if (!add_parts(l, p, count, args)) return 0;
    }
    return 1;
}

/* ---- period and drift ---- */

/* Drift of an argument over a period of the whole. */
static int64_t drift_over(const part *arg, int64_t period) { return arg->drift * (period / arg->period); }

static int join_periods(const part_list *l, part *p)
{
    p->period = 1;
    for (uint32_t i = 0; i < p->count; i++) {
        const int64_t other = l->items[p->first + i].period;
        p->period = p->period / greatest_divisor(p->period, other) * other;
        if (p->period > PERIOD_MAX) return 0;
    }
    return 1;
}

static int follow_sum(const part_list *l, part *p)
{
    if (!join_periods(l, p)) return 0;
    for (uint32_t i = 0; i < p->count; i++) {
        int64_t drift;
        if (__builtin_mul_overflow(drift_over(&l->items[p->first + i], p->period), pto_expr_coef(p->expr, i), &drift) ||
            __builtin_add_overflow(p->drift, drift, &p->drift))
            return 0;
    }
    return 1;
}

static int follow_product(const part_list *l, part *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (l->items[p->first + i].drift != 0) return 0;
    }
    return join_periods(l, p);
}

static int follow_extreme(const part_list *l, part *p)
{
    if (!join_periods(l, p)) return 0;
    p->drift = drift_over(&l->items[p->first], p->period);
    for (uint32_t i = 1; i < p->count; i++) {
        if (drift_over(&l->items[p->first + i], p->period) != p->drift) return 0;
    }
    return 1;
}

static int follow_division(const part_list *l, part *p)
{
    const part *x = &l->items[p->first];
    int64_t by = 0;
    if (p->count != 2 || !pto_expr_is_const(l->items[p->first + 1].expr, &by) || by < 1 || by > DRIFT_MAX) return 0;
    const int64_t times = by / greatest_divisor(by, x->drift);
    if (times > PERIOD_MAX) return 0;
    p->period = x->period * times;
    p->drift = p->kind == PTO_EXPR_MOD ? 0 : x->drift * times / by;
    return 1;
}

static int follow(const part_list *l, part *p, uint32_t variable)
{
    p->period = 1;
    p->drift = 0;
    switch (p->kind) {
    case PTO_EXPR_CONST: return 1;
    case PTO_EXPR_SYMBOL: p->drift = p->variable == variable; return 1;
    case PTO_EXPR_VALUE:
        if (p->count != 0) {
            p->period = l->items[p->first].period;
            p->drift = l->items[p->first].drift;
        }
        if (p->variable == variable) p->drift += p->period * (p->count != 0 ? p->step : 1);
        return 1;
    case PTO_EXPR_SUM: return follow_sum(l, p);
    case PTO_EXPR_PRODUCT: return follow_product(l, p);
    case PTO_EXPR_MIN:
    case PTO_EXPR_MAX: return follow_extreme(l, p);
    default: return follow_division(l, p);
    }
}

/* The period of the whole along a variable; 0: it has none. */
static int64_t period_along(part_list *l, uint32_t variable)
{
    for (uint32_t i = l->count; i-- > 0;) {
        part *p = &l->items[i];
        if (!follow(l, p, variable) || p->period > PERIOD_MAX || p->drift > DRIFT_MAX || p->drift < -DRIFT_MAX)
            return 0;
    }
    return l->items[0].drift == 0 ? l->items[0].period : 0;
}

/* ---- numbers ---- */

static int is_division(const part *p)
{
    return p->kind == PTO_EXPR_FLOORDIV || p->kind == PTO_EXPR_CEILDIV || p->kind == PTO_EXPR_MOD;
}

/* Whether all divisors are constants that divide. */
static int has_divisors(const part_list *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        int64_t by = 0;
        const part *p = &l->items[i];
        if (is_division(p) && (p->count != 2 || !pto_expr_is_const(l->items[p->first + 1].expr, &by) || by < 1))
            return 0;
    }
    return 1;
}

/* Slots of compiled expressions are parts: the last one of a leaf, since the parts of a `from` come after its loop. */
static uint32_t part_of_symbol(void *self, pto_str name)
{
    const part_list *l = (const part_list *)self;
    for (uint32_t i = l->count; i-- > 0;)
        if (l->items[i].kind == PTO_EXPR_SYMBOL && pto_str_same(pto_expr_symbol_name(l->items[i].expr), name)) return i;
    return UINT32_MAX;
}

static uint32_t part_of_value(void *self, pto_value v)
{
    const part_list *l = (const part_list *)self;
    for (uint32_t i = l->count; i-- > 0;)
        if (l->items[i].kind == PTO_EXPR_VALUE && pto_value_same(pto_expr_leaf(l->items[i].expr), v)) return i;
    return UINT32_MAX;
}

/* Compiles the whole and the `from` of each loop index in it. */
static int compile(part_list *l, index_pool *pool)
{
    const index_leaves leaves = {l, part_of_symbol, part_of_value};
    for (uint32_t i = 0; i < l->count; i++) {
        part *p = &l->items[i];
        if (p->kind == PTO_EXPR_VALUE && p->count != 0 &&
            !index_compile(pool, &leaves, l->items[p->first].expr, &p->from))
            return 0;
    }
    return index_compile(pool, &leaves, l->items[0].expr, &l->whole);
}

/* 0: a number is beyond 64 bits. */
static int number_at(const part_list *l, const sync_cycle *c, const index_code *codes, const uint32_t *residues,
                     int64_t *out)
{
    int64_t slots[PARTS_MAX] = {0};
    for (uint32_t k = l->count; k-- > 0;) {
        const part *p = &l->items[k];
        int64_t from = 0;
        if (p->kind != PTO_EXPR_SYMBOL && p->kind != PTO_EXPR_VALUE) continue;
        for (uint32_t i = 0; i < c->rank; i++) {
            if (c->variables[i] == p->variable) slots[k] = residues[i];
        }
        if (p->count != 0 &&
            (index_eval(codes, &p->from, slots, &from) != INDEX_OK ||
             __builtin_mul_overflow(slots[k], p->step, &slots[k]) || __builtin_add_overflow(slots[k], from, &slots[k])))
            return 0;
    }
    return index_eval(codes, &l->whole, slots, out) == INDEX_OK;
}

/* 0: a number is beyond 64 bits. */
static int fill_values(const sync_model *m, part_list *l, sync_cycle *c, uint32_t count)
{
    int64_t *values = PTO_SCRATCH(m->run, int64_t, count);
    uint32_t residues[CYCLE_RANK_MAX] = {0};
    index_pool pool = {.run = m->run};
    if (!compile(l, &pool)) return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!number_at(l, c, pool.codes, residues, &values[i])) return 0;
        for (uint32_t k = 0; k < c->rank && ++residues[k] == c->periods[k]; k++) residues[k] = 0;
    }
    c->values = values;
    return 1;
}

/* Trips of a loop that has few, of a constant number; 0: others, and no loop. */
static uint32_t few_trips(const sync_model *m, uint32_t variable)
{
    return variable < m->count && m->ops[variable].trips <= CYCLE_TRIPS_MAX ? m->ops[variable].trips : 0;
}

/* 0: it does not come round. */
static int add_period(const sync_model *m, part_list *l, uint32_t variable, sync_cycle *c, uint32_t *count)
{
    int64_t period = period_along(l, variable);
    const int is_round = period >= 1 && period * *count <= CYCLE_VALUES_MAX;
    if (!is_round) period = few_trips(m, variable);
    if (period < 1 || period * *count > CYCLE_VALUES_MAX) return 0;
    if (period == 1) return 1;
    if (!is_round) c->counted |= 1u << c->rank;
    c->variables[c->rank] = variable;
    c->periods[c->rank++] = (uint32_t)period;
    *count *= (uint32_t)period;
    return 1;
}

static sync_cycle make_cycle(const sync_model *m, pto_expr e)
{
    sync_cycle c = {.expr = e};
    part_list l;
    uint32_t count = 1;
    int64_t number = 0;
    if (PTO_SOME(e) && pto_expr_is_const(e, &number)) {
        int64_t *values = PTO_SCRATCH(m->run, int64_t, 1);
        *values = number;
        c.is_known = 1;
        c.values = values;
        return c;
    }
    if (!PTO_SOME(e) || !list_parts(m, e, &l) || !has_divisors(&l)) return c;
    for (uint32_t i = 0; i < l.variable_count; i++) {
        if (!add_period(m, &l, l.variables[i], &c, &count)) return c;
    }
    c.is_known = fill_values(m, &l, &c, count);
    return c;
}

/* ---- the table ---- */

uint32_t sync_cycle_of(const sync_model *m, pto_expr e)
{
    sync_cycles *all = m->cycles;
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i].expr.index == e.index) return i;
    }
    PTO_GROW(m->run, all->items, all->count, all->capacity);
    all->items[all->count] = make_cycle(m, e);
    sync_cycle *made = &all->items[all->count];
    made->is_steady = made->is_known || sync_is_steady(m, e); /* unsteady leaves are not followed */
    return all->count++;
}

int sync_cycle_at(const sync_model *m, uint32_t cycle, const uint32_t *residues, int64_t *out)
{
    const sync_cycle *c = &m->cycles->items[cycle];
    uint32_t at = 0, stride = 1;
    if (!c->is_known) return 0;
    for (uint32_t i = 0; i < c->rank; i++) {
        at += residues[c->variables[i]] % c->periods[i] * stride;
        stride *= c->periods[i];
    }
    *out = c->values[at];
    return 1;
}

int sync_cycle_is_below(const sync_model *m, uint32_t cycle, int64_t bound)
{
    const sync_cycle *c = &m->cycles->items[cycle];
    uint32_t count = 1;
    if (!c->is_known) return 0;
    for (uint32_t i = 0; i < c->rank; i++) count *= c->periods[i];
    for (uint32_t i = 0; i < count; i++) {
        if (c->values[i] < 0 || c->values[i] >= bound) return 0;
    }
    return 1;
}
