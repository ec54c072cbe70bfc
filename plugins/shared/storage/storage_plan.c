/* Lifetimes of tiles, groups of tiles that share a storage, and the lives of the storages. */
#include "storage_plan.h"

#include "machine_facts.h"

#include <stdlib.h>

/* ---- recording ---- */

/* A core loads as fast as its path, or as its share of what all cores have together. */
static double load_rate(const pto_run *run)
{
    const pto_space_facts space = pto_space_facts_of(run, PTO_ROLE_SCRATCHPAD);
    const pto_path_facts path = pto_path_facts_of(run, PTO_ROLE_GLOBAL, PTO_ROLE_SCRATCHPAD);
    const pto_str core = space != NULL ? space->core : pto_no_str();
    const double alone = path != NULL ? path->bytes_per_cycle : 0.0,
                 cores = pto_machine_f64_or(run, 0.0, "cores.%.*s.count", PTO_FMT(core)),
                 together = pto_machine_f64_or(run, 0.0, "shared.gm-bytes-per-cycle");
    return cores > 0.0 && together > 0.0 && together / cores < alone ? together / cores : alone;
}

storage_plan storage_plan_make(const pto_run *run, int in_place)
{
    storage_plan p = {.run = run, .in_place = in_place != 0};
    const double repeat = pto_machine_f64_or(run, 0.0, "instructions.default.per-repeat");
    if (repeat > 0.0) p.work_rate = pto_machine_f64_or(run, 0.0, "vector.repeat-bytes") / repeat;
    p.load_rate = load_rate(run);
    p.wants_scratch = pto_machine_i64_or(run, 0, "vector.tmp") != 0;
    return p;
}

void storage_plan_clear(storage_plan *p) { p->op_count = p->value_count = p->use_count = p->link_count = 0; }

uint32_t storage_add_op(storage_plan *p, pto_kind_id kind, uint32_t parent)
{
    const uint32_t k = p->op_count;
    PTO_GROW(p->run, p->ops, k, p->op_capacity);
    p->ops[p->op_count++] = (storage_op){.kind = kind,
                                         .parent = parent,
                                         .last = k,
                                         .result = STORAGE_NONE,
                                         .scratch = STORAGE_NONE,
                                         .first_use = p->use_count};
    for (uint32_t a = parent; a != STORAGE_NONE; a = p->ops[a].parent) p->ops[a].last = k;
    return k;
}

uint32_t storage_add_loop(storage_plan *p, pto_kind_id kind, uint32_t parent)
{
    const uint32_t k = storage_add_yield(p, kind, parent);
    p->ops[k].repeats = p->ops[k].counts = 1;
    return k;
}

uint32_t storage_add_yield(storage_plan *p, pto_kind_id kind, uint32_t parent)
{
    const uint32_t k = storage_add_op(p, kind, parent);
    p->ops[k].hands_over = 1;
    return k;
}

void storage_add_use(storage_plan *p, uint32_t op, uint32_t slot, uint32_t value, int64_t stages)
{
    storage_op *o = &p->ops[op];
    if (o->use_count == 0) o->first_use = p->use_count;
    PTO_GROW(p->run, p->uses, p->use_count, p->use_capacity);
    p->uses[p->use_count++] = (storage_use){value, slot, stages > 1 ? stages : 1};
    o->use_count++;
}

uint32_t storage_add_value(storage_plan *p, const storage_shape *shape, uint32_t home, uint32_t from)
{
    const uint32_t i = p->value_count;
    PTO_GROW(p->run, p->values, i, p->value_capacity);
    p->values[p->value_count++] = (storage_value){.shape = *shape, .asked = 1, .home = home, .from = from};
    return i;
}

uint32_t storage_add_result(storage_plan *p, uint32_t op, const storage_shape *shape, int64_t stages)
{
    const uint32_t i = storage_add_value(p, shape, op, 2 * op + 1);
    p->ops[op].result = i;
    if (stages > 1) p->values[i].asked = stages;
    return i;
}

void storage_add_link(storage_plan *p, storage_reason reason, uint32_t op, uint32_t a, uint32_t b)
{
    if (a == STORAGE_NONE || b == STORAGE_NONE) return;
    PTO_GROW(p->run, p->links, p->link_count, p->link_capacity);
    p->links[p->link_count] = (storage_link){op, p->link_count, a, b, reason};
    p->link_count++;
}

void storage_ask(storage_plan *p, uint32_t op, int64_t stages)
{
    const storage_op *o = &p->ops[op];
    if (pto_kind_column(p->run, o->kind, PTO_COLUMN_TRANSFER) != PTO_TRANSFER_STORE)
        p->values[o->result].asked = stages;
    else
        for (uint32_t i = 0; i < o->use_count; i++)
            if (p->uses[o->first_use + i].slot == 0) p->uses[o->first_use + i].stages = stages;
}

/* ---- lifetimes ---- */

uint32_t storage_loop_around(const storage_plan *p, uint32_t op)
{
    uint32_t a = p->ops[op].parent;
    while (a != STORAGE_NONE && !p->ops[a].repeats) a = p->ops[a].parent;
    return a;
}

/* The closest loop around both; loops are numbered outside first. */
static uint32_t common_loop(const storage_plan *p, uint32_t a, uint32_t b)
{
    while (a != b && a != STORAGE_NONE && b != STORAGE_NONE) {
        if (a > b)
            a = storage_loop_around(p, a);
        else
            b = storage_loop_around(p, b);
    }
    return a == b ? a : STORAGE_NONE;
}

/* Whether an instruction may write where it reads this operand; what a loop or branch hands over changes names only. */
static int may_be_in_place(storage_plan *p, const storage_op *op, uint32_t slot)
{
    const size_t at = op->kind % (sizeof p->known / sizeof *p->known);
    if (op->hands_over) return 1;
    if (!pto_kind_is_in_place(p->run, op->kind, slot)) return 0;
    if (p->known[at].kind != op->kind) {
        p->known[at].kind = op->kind;
        p->known[at].may = machine_in_place(p->run, op->kind) != 0;
    }
    return p->known[at].may;
}

static void extend(storage_value *v, uint32_t end, uint32_t last)
{
    if (v->end < end) v->end = end;
    if (v->last < last) v->last = last;
}

/* A value from before a loop is needed until the loop's last iteration ends. */
static void note_use(storage_plan *p, uint32_t k, const storage_use *use)
{
    storage_value *v = &p->values[use->value];
    extend(v, 2 * k + (may_be_in_place(p, &p->ops[k], use->slot) ? 0u : 2u), k);
    if (use->stages > v->stages) v->stages = use->stages;
    for (uint32_t a = p->ops[k].parent; a != STORAGE_NONE; a = p->ops[a].parent) {
        const int inside = v->from > 2 * a && v->from <= 2 * p->ops[a].last;
        if (!inside && p->ops[a].repeats) extend(v, 2 * p->ops[a].last + 2, p->ops[a].last);
    }
}

static void find_lifetimes(storage_plan *p)
{
    for (uint32_t i = 0; i < p->value_count; i++) {
        storage_value *v = &p->values[i];
        v->stages = v->asked;
        v->end = v->from + 1;
        v->last = v->from / 2;
        v->group = v->ring = i;
    }
    for (uint32_t k = 0; k < p->op_count; k++)
        for (uint32_t u = 0; u < p->ops[k].use_count; u++) note_use(p, k, &p->uses[p->ops[k].first_use + u]);
}

static void begin_groups(storage_plan *p)
{
    if (p->group_capacity < p->value_count) {
        p->groups = PTO_SCRATCH(p->run, storage_group, p->value_capacity);
        p->group_capacity = p->value_capacity;
    }
    for (uint32_t i = 0; i < p->value_count; i++) {
        const storage_value *v = &p->values[i];
        p->groups[i] = (storage_group){.from = v->from,
                                       .end = v->end,
                                       .last = v->last,
                                       .first = i,
                                       .loop = storage_loop_around(p, v->home),
                                       .stages = v->stages};
    }
    for (uint32_t k = 0; k < p->op_count; k++) {
        const storage_op *op = &p->ops[k];
        if (op->hands_over) continue;
        const uint32_t pipe = storage_pipe(p->run, op->kind);
        if (op->result != STORAGE_NONE) p->groups[op->result].writers |= pipe;
        for (uint32_t u = 0; u < op->use_count; u++) p->groups[p->uses[op->first_use + u].value].readers |= pipe;
    }
}

/* ---- groups ---- */

uint32_t storage_group_of(const storage_plan *p, uint32_t value)
{
    while (p->values[value].group != value) value = p->values[value].group;
    return value;
}

static int is_same_shape(const storage_shape *a, const storage_shape *b)
{
    return a->rows == b->rows && a->columns == b->columns && a->dtype == b->dtype && a->space == b->space &&
           a->layout == b->layout;
}

static int are_needed_at_once(const storage_plan *p, uint32_t a, uint32_t b)
{
    const storage_group *x = &p->groups[a], *y = &p->groups[b];
    if (x->end <= y->from || y->end <= x->from) return 0;
    uint32_t i = a;
    do {
        const storage_value *v = &p->values[i];
        uint32_t j = b;
        do {
            if (v->from < p->values[j].end && p->values[j].from < v->end) return 1;
            j = p->values[j].ring;
        } while (j != b);
        i = v->ring;
    } while (i != a);
    return 0;
}

static int share(storage_plan *p, uint32_t a, uint32_t b)
{
    a = storage_group_of(p, a);
    b = storage_group_of(p, b);
    if (a == b || !is_same_shape(&p->values[a].shape, &p->values[b].shape) || are_needed_at_once(p, a, b)) return 0;
    const uint32_t low = a < b ? a : b, high = a < b ? b : a, next = p->values[low].ring;
    storage_group *to = &p->groups[low];
    const storage_group *from = &p->groups[high];
    p->values[low].ring = p->values[high].ring;
    p->values[high].ring = next;
    p->values[high].group = low;
    if (from->from < to->from) {
        to->from = from->from;
        to->first = from->first;
    }
    if (from->end > to->end) to->end = from->end;
    if (from->last > to->last) to->last = from->last;
    if (from->stages > to->stages) to->stages = from->stages;
    to->loop = common_loop(p, to->loop, from->loop);
    to->writers |= from->writers;
    to->readers |= from->readers;
    return 1;
}

static int by_op(const void *a, const void *b)
{
    const storage_link *x = (const storage_link *)a, *y = (const storage_link *)b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Inner loops run most often, so they choose first: the last op first, its links in their order. */
static void follow_links(storage_plan *p, storage_reason reason)
{
    for (uint32_t end = p->link_count; end > 0;) {
        uint32_t begin = end - 1;
        while (begin > 0 && p->links[begin - 1].op == p->links[begin].op) begin--;
        for (uint32_t i = begin; i < end; i++)
            if (p->links[i].reason == reason) (void)share(p, p->links[i].a, p->links[i].b);
        end = begin;
    }
}

static double largest_of(const storage_plan *p, const storage_op *op)
{
    int64_t bytes = op->result != STORAGE_NONE ? p->values[op->result].shape.bytes : 0;
    for (uint32_t u = 0; u < op->use_count; u++) {
        const int64_t other = p->values[p->uses[op->first_use + u].value].shape.bytes;
        if (other > bytes) bytes = other;
    }
    return (double)bytes;
}

/* A rough balance of each loop: one pass over the largest tile of each instruction. */
static void find_balance(storage_plan *p)
{
    for (uint32_t k = 0; k < p->op_count; k++) p->ops[k].load_cycles = p->ops[k].work_cycles = 0.0;
    if (p->load_rate <= 0.0 || p->work_rate <= 0.0) return;
    for (uint32_t k = 0; k < p->op_count; k++) {
        const storage_op *op = &p->ops[k];
        const uint32_t loop = storage_loop_around(p, k);
        if (op->hands_over || loop == STORAGE_NONE) continue;
        const int64_t transfer = pto_kind_column(p->run, op->kind, PTO_COLUMN_TRANSFER);
        if (transfer == PTO_TRANSFER_LOAD)
            p->ops[loop].load_cycles += largest_of(p, op) / p->load_rate;
        else if (transfer == PTO_TRANSFER_NONE)
            p->ops[loop].work_cycles += largest_of(p, op) / p->work_rate;
    }
}

static int waits_for_loads(const storage_plan *p, uint32_t loop)
{
    return loop != STORAGE_NONE && p->ops[loop].load_cycles > p->ops[loop].work_cycles;
}

/* Rule 3 for one operand; the result's storage is decided already where it is carried. */
static int may_take(const storage_plan *p, const storage_op *op, uint32_t operand)
{
    const uint32_t loads = storage_transfer_pipe(PTO_TRANSFER_LOAD), stores = storage_transfer_pipe(PTO_TRANSFER_STORE),
                   pipe = storage_pipe(p->run, op->kind);
    const storage_group *from = &p->groups[storage_group_of(p, operand)],
                        *to = &p->groups[storage_group_of(p, op->result)];
    if (from->readers != pipe || from->loop != to->loop) return 0;
    return (from->writers & loads) == 0 || ((to->readers & stores) == 0 && !waits_for_loads(p, from->loop));
}

/* Loaded operands are the last choice: the sooner they are free, the sooner the next load begins. */
static void compute_in_place(storage_plan *p, uint32_t k)
{
    const storage_op *op = &p->ops[k];
    const uint32_t loads = storage_transfer_pipe(PTO_TRANSFER_LOAD);
    for (int loaded = 0; loaded < 2; loaded++) {
        for (uint32_t u = 0; u < op->use_count; u++) {
            const storage_use *use = &p->uses[op->first_use + u];
            const storage_group *from = &p->groups[storage_group_of(p, use->value)];
            if (((from->writers & loads) != 0) != loaded || !may_be_in_place(p, op, use->slot)) continue;
            if (!may_take(p, op, use->value) || !share(p, op->result, use->value)) continue;
            p->shared++;
            return;
        }
    }
}

void storage_solve(storage_plan *p)
{
    p->shared = 0;
    find_lifetimes(p);
    begin_groups(p);
    if (p->link_count != 0) qsort(p->links, p->link_count, sizeof *p->links, by_op);
    /* Sums stay in one accumulator, since `acc` is small and has no copies. */
    for (uint32_t i = 0; i < p->link_count; i++)
        if (p->links[i].reason == STORAGE_SUM) (void)share(p, p->links[i].a, p->links[i].b);
    follow_links(p, STORAGE_AROUND); /* in a loop what goes around chooses before what comes in */
    follow_links(p, STORAGE_HANDED);
    find_balance(p);
    for (uint32_t k = 0; p->in_place && k < p->op_count; k++)
        if (!p->ops[k].hands_over && p->ops[k].result != STORAGE_NONE) compute_in_place(p, k);
    storage_find_scratch(p);
}
