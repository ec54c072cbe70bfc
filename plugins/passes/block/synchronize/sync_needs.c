/* What must be known before an instruction runs, as facts of sync_flow.h: first those about global memory, then those
 * about bytes on chip. */
#include "sync_schedule.h"

static uint32_t add_fact(sync_flow *f, uint32_t op)
{
    PTO_GROW(f->m->run, f->fact_op, f->fact_count, f->fact_capacity);
    f->fact_op[f->fact_count] = op;
    return f->fact_count++;
}

/* ---- global memory ---- */

/* The loop before whose trip all instances of `first` must be over; `first` itself: all so far; SYNC_NONE: none. After
 * `second` in the text, all instances so far are of earlier trips of the innermost loop around both. */
static uint32_t scope_of(const sync_model *m, const sync_pair *p)
{
    if (p->in_gm) return p->first;
    if (p->gm_by == 0) return SYNC_NONE;
    uint32_t depth = 0;
    while (p->gm_by >> depth > 1) depth++;
    uint32_t loop = region_common(&m->regions, p->first, p->second), innermost = SYNC_NONE;
    for (; m->ops[loop].at->depth != depth; loop = m->ops[loop].at->parent) {
        if (region_is_loop(&m->regions, loop)) innermost = loop;
    }
    return p->first > p->second && innermost == SYNC_NONE ? p->first : loop;
}

static uint32_t age_of(sync_flow *f, uint32_t op, uint32_t loop)
{
    uint32_t i = 0;
    while (i < f->age_count && (f->ages[i].op != op || f->ages[i].loop != loop)) i++;
    if (i < f->age_count) return f->ages[i].fact;
    PTO_GROW(f->m->run, f->ages, f->age_count, f->age_capacity);
    f->ages[f->age_count++] = (flow_age){op, loop, add_fact(f, op), f->gm_fact[op]};
    f->is_aged[loop] = 1;
    return f->ages[i].fact;
}

/* The fact about global memory that `second` of a pair needs; SYNC_NONE: none. */
static uint32_t gm_fact_of(sync_flow *f, const sync_pair *p)
{
    const uint32_t scope = scope_of(f->m, p);
    if (scope == SYNC_NONE) return SYNC_NONE;
    if (f->gm_fact[p->first] == SYNC_NONE) f->gm_fact[p->first] = add_fact(f, p->first);
    return scope == p->first ? f->gm_fact[p->first] : age_of(f, p->first, scope);
}

void sync_find_ages(sync_flow *f)
{
    const sync_model *m = f->m;
    f->gm_fact = PTO_SCRATCH(m->run, uint32_t, m->count);
    f->is_aged = PTO_SCRATCH(m->run, uint8_t, m->count);
    for (uint32_t i = 0; i < m->count; i++) f->gm_fact[i] = SYNC_NONE;
    for (uint32_t i = 0; i < m->pair_count; i++) gm_fact_of(f, &m->pairs[i]);
}

/* ---- on chip ---- */

typedef struct need {
    uint32_t class, fact;
} need;

typedef struct need_list {
    need *items;
    uint32_t count, capacity;
    sync_span *spans; /* of each access of each class, at the places of their stages */
} need_list;

static void add_need(sync_flow *f, need_list *l, uint32_t class, uint32_t fact)
{
    PTO_GROW(f->m->run, l->items, l->count, l->capacity);
    l->items[l->count++] = (need){class, fact};
}

static void find_spans(const sync_flow *f, need_list *l)
{
    const sync_model *m = f->m;
    l->spans = PTO_SCRATCH(m->run, sync_span, f->stage_count);
    for (uint32_t c = 0; c < f->class_count; c++) {
        const sync_op *o = &m->ops[f->classes[c].op];
        for (uint32_t i = 0; i < o->access_count; i++) {
            const uint32_t at = f->classes[c].stages + i;
            l->spans[at] = sync_span_of(&m->accesses[o->access + i], f->stages[at]);
        }
    }
}

static int classes_meet(const sync_flow *f, const need_list *l, const flow_class *a, const flow_class *b)
{
    const uint32_t a_count = f->m->ops[a->op].access_count, b_count = f->m->ops[b->op].access_count;
    for (uint32_t i = 0; i < a_count; i++) {
        const sync_span *p = &l->spans[a->stages + i];
        for (uint32_t k = 0; k < b_count && p->space != PTO_SPACE_NONE; k++) {
            const sync_span *q = &l->spans[b->stages + k];
            if ((p->is_write || q->is_write) && sync_spans_meet(p, q)) return 1;
        }
    }
    return 0;
}

static void need_classes(sync_flow *f, need_list *l, uint32_t class, uint32_t first)
{
    for (uint32_t c = f->class_of[first]; c != SYNC_NONE; c = f->classes[c].next) {
        flow_class *x = &f->classes[c];
        if (!classes_meet(f, l, x, &f->classes[class])) continue;
        if (x->fact[0] == SYNC_NONE) x->fact[0] = add_fact(f, first);
        add_need(f, l, class, x->fact[0]);
    }
}

void sync_find_needs(sync_flow *f, int with)
{
    const sync_model *m = f->m;
    need_list l = {.count = 0};
    find_spans(f, &l);
    for (uint32_t c = 0; c < f->class_count; c++) {
        f->classes[c].fact[0] = SYNC_NONE;
        f->classes[c].fact[1] = f->gm_fact[f->classes[c].op];
    }
    for (uint32_t c = 0; c < f->class_count; c++) {
        const sync_op *y = &m->ops[f->classes[c].op];
        for (uint32_t i = 0; i < y->pair_count; i++) {
            const sync_pair *p = &m->pairs[y->pair + i];
            if (with != SYNC_WITH_OWN && sync_is_own(m, p->first, p->second)) continue;
            const uint32_t fact = gm_fact_of(f, p);
            if (fact != SYNC_NONE) add_need(f, &l, c, fact);
            if (p->on_chip) need_classes(f, &l, c, p->first);
        }
    }
    f->wait_fact = with == SYNC_WITH_WAITS ? f->fact_count : SYNC_NONE;
    for (uint32_t i = m->pipe_end; with == SYNC_WITH_WAITS && i < f->row_count; i++) add_fact(f, 0);
    f->word_count = f->fact_count / 64 + 1;
    f->needs = PTO_SCRATCH(m->run, uint64_t, (size_t)f->class_count * f->word_count + 1);
    for (uint32_t i = 0; i < l.count; i++)
        f->needs[(size_t)l.items[i].class * f->word_count + l.items[i].fact / 64] |= UINT64_C(1)
                                                                                     << l.items[i].fact % 64;
}
