#include "sync_plan.h"

#include <stdlib.h>

/* ---- one pair of instructions ---- */

/* Whether every way the two can meet is by the same stage of one buffer, its number known where the flags are. */
static int rotates_together(const sync_plan *plan, const sync_pair *p, uint32_t place, const sync_access **out)
{
    const sync_model *m = plan->m;
    const sync_op *x = &m->ops[p->first], *y = &m->ops[p->second];
    *out = NULL;
    if (p->in_gm || p->gm_by != 0) return 0;
    for (uint32_t i = 0; i < x->access_count; i++) {
        for (uint32_t k = 0; k < y->access_count; k++) {
            const sync_access *a = &m->accesses[x->access + i], *b = &m->accesses[y->access + k];
            if ((!a->is_write && !b->is_write) || a->space == PTO_SPACE_NONE ||
                !sync_bytes_meet(a, SYNC_ANY_STAGE, b, SYNC_ANY_STAGE))
                continue;
            if (!pto_op_same(a->buffer, b->buffer) || a->stages < 2 || a->stages > plan->event_ids) return 0;
            if (a->cycle == SYNC_NONE || !sync_cycle_is_below(m, a->cycle, a->stages)) return 0;
            if (!sync_is_same_number(a->stage, b->stage)) return 0;
            if (*out != NULL && !sync_is_same_number((*out)->stage, a->stage)) return 0;
            *out = a;
        }
    }
    int64_t constant;
    return *out != NULL && !pto_expr_is_const((*out)->stage, &constant) && sync_is_visible(m, (*out)->stage, place);
}

static int meets_at_once(const sync_model *m, const sync_pair *p)
{
    const sync_op *x = &m->ops[p->first], *y = &m->ops[p->second];
    if (p->in_gm) return 1;
    for (uint32_t i = 0; i < x->access_count; i++) {
        for (uint32_t k = 0; k < y->access_count; k++) {
            if (sync_meets_at_once(&m->accesses[x->access + i], &m->accesses[y->access + k])) return 1;
        }
    }
    return 0;
}

/* ---- needless ones ---- */

static int has_same_events(const sync_flag *a, const sync_flag *b)
{
    return a->stages == b->stages && (a->stages == 1 || sync_is_same_number(a->stage, b->stage));
}

/* Whether `f` is implied by `g` alone: set no earlier, waited for no later, in the same block. */
static int is_covered(const sync_model *m, const sync_flag *f, const sync_flag *g)
{
    if (f->src != g->src || f->dst != g->dst || m->ops[f->set].at->parent != m->ops[g->set].at->parent ||
        m->ops[f->set].at->block != m->ops[g->set].at->block || (f->around == SYNC_NONE) != (g->around == SYNC_NONE))
        return 0;
    if (f->around != SYNC_NONE && !has_same_events(f, g)) return 0;
    return g->set >= f->set && g->wait <= f->wait;
}

/* Whether `f` is needless beside `g`. Of two in the same places the one with more events stays, since they let tokens
 * wait side by side, or else the first. */
static int is_cover(const sync_model *m, const sync_flag *f, const sync_flag *g, int g_is_first)
{
    if (!is_covered(m, f, g)) return 0;
    if (!is_covered(m, g, f)) return 1;
    return g->stages != f->stages ? g->stages > f->stages : g_is_first;
}

/* Adds a flag unless one of those from `from` on makes it needless; drops those that it makes needless. */
static void add_flag(sync_plan *plan, sync_flag f, uint32_t from)
{
    for (uint32_t i = from; i < plan->count; i++) {
        if (!plan->flags[i].is_dropped && is_cover(plan->m, &f, &plan->flags[i], 1)) {
            plan->implied++;
            return;
        }
    }
    uint32_t kept = from;
    for (uint32_t i = from; i < plan->count; i++) {
        if (!is_cover(plan->m, &plan->flags[i], &f, 0)) plan->flags[kept++] = plan->flags[i];
    }
    plan->implied += plan->count - kept;
    plan->count = kept;
    PTO_GROW(plan->m->run, plan->flags, plan->count, plan->capacity);
    f.host = f.shares = plan->count;
    plan->flags[plan->count++] = f;
}

/* ---- a flag for each pair ---- */

/* The two ops of one block that hold the instructions. They are one op when the instructions are on both sides of an
 * `if`: those meet in different iterations alone. */
static void find_places(const sync_model *m, const sync_pair *p, uint32_t *set, uint32_t *wait)
{
    const uint32_t common = region_common(&m->regions, p->first, p->second);
    *set = *wait = common;
    for (uint32_t b = 0; b < 2; b++) {
        const uint32_t x = region_within(&m->regions, p->first, common, b),
                       y = region_within(&m->regions, p->second, common, b);
        if (x == SYNC_NONE || y == SYNC_NONE) continue;
        *set = x;
        *wait = y;
    }
}

/* Adds what lets `second` run after `first`: forward when `first` is before `second`, carried when only loops bring
 * `second` after `first`. */
static void plan_pair(sync_plan *plan, const sync_pair *p, uint32_t from)
{
    const sync_model *m = plan->m;
    sync_flag f = {.src = m->ops[p->first].pipe,
                   .dst = m->ops[p->second].pipe,
                   .around = SYNC_NONE,
                   .until = SYNC_NONE,
                   .stages = 1,
                   .behind = p->first,
                   .leads = p->second};
    const sync_access *rotating = NULL;
    find_places(m, p, &f.set, &f.wait);
    const int is_forward = f.set < f.wait;
    const uint32_t loop = region_outermost_loop(&m->regions, m->ops[f.set].at->parent);
    if (f.src == f.dst) return; /* see sync_add_barriers */
    if (!is_forward && loop == SYNC_NONE) return;
    if (!is_forward && !p->on_chip && p->gm_by == 0) return;
    /* With nothing around it, what does not meet at once never meets. */
    if (is_forward && loop == SYNC_NONE && !meets_at_once(m, p)) return;
    if (is_forward && !p->on_chip && !p->in_gm && p->gm_by == 0) return;
    if (!is_forward) f.around = f.until = loop;
    if (loop != SYNC_NONE && rotates_together(plan, p, f.set, &rotating)) {
        f.stages = rotating->stages;
        f.stage = rotating->stage;
        f.cycle = rotating->cycle;
    }
    add_flag(plan, f, from);
}

/* ---- leaving out ---- */

static void forget_dropped(sync_plan *plan)
{
    uint32_t kept = 0;
    uint32_t *place = PTO_SCRATCH(plan->m->run, uint32_t, plan->count + 1);
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->flags[i].is_dropped) continue;
        place[i] = kept;
        plan->flags[kept++] = plan->flags[i];
    }
    for (uint32_t i = 0; i < kept; i++) {
        plan->flags[i].host = place[plan->flags[i].host];
        plan->flags[i].shares = i;
    }
    plan->implied += plan->count - kept;
    plan->count = kept;
}

static void drop_covered(sync_plan *plan)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        for (uint32_t k = 0; k < plan->count && !plan->flags[i].is_dropped; k++)
            plan->flags[i].is_dropped = k != i && is_cover(plan->m, &plan->flags[i], &plan->flags[k], k < i);
    }
    forget_dropped(plan);
}

/* Those that hold pipes back most go first: barriers, carried ones without stages, carried ones, the rest. Flags that
 * hand each other tokens stay. */
enum { WEIGHTS = 4 };
static int weight_of(const sync_plan *plan, uint32_t i)
{
    const sync_flag *f = &plan->flags[i];
    for (uint32_t k = 0; k < plan->count; k++) {
        if (k != plan->flags[k].host && (k == i || plan->flags[k].host == i)) return WEIGHTS;
    }
    return f->is_barrier ? 0 : f->around == SYNC_NONE ? 3 : f->stages > 1 ? 2 : 1;
}

pto_status sync_drop_implied(sync_plan *plan)
{
    sync_flow *flow = NULL;
    sync_race race;
    forget_dropped(plan);
    PTO_TRY(sync_flow_make(plan->m, plan->flags, plan->count, SYNC_WITH_FLAGS, &flow));
    if (!sync_flow_run(flow, &race)) return sync_report_race(plan->m, &race);
    uint64_t cost = 0;
    for (int weight = 0; weight < WEIGHTS; weight++) {
        for (uint32_t i = plan->count; i-- > 0 && cost <= SYNC_COST_MAX;) {
            sync_flag *f = &plan->flags[i];
            if (weight_of(plan, i) != weight) continue;
            PTO_TRY(pto_go_on(plan->m->run));
            f->is_dropped = 1;
            f->is_dropped = sync_flow_run(flow, NULL);
            cost += sync_flow_cost(flow);
        }
    }
    forget_dropped(plan);
    return PTO_OK;
}

static int in_text_order(const void *a, const void *b)
{
    const sync_flag *x = (const sync_flag *)a, *y = (const sync_flag *)b;
    const uint32_t keys[][2] = {{x->src, y->src},
                                {x->dst, y->dst},
                                {x->around == SYNC_NONE, y->around == SYNC_NONE},
                                {x->set, y->set},
                                {x->wait, y->wait}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    }
    return 0;
}

pto_status sync_plan_make(const sync_model *m, int64_t event_ids, sync_plan *out)
{
    *out = (sync_plan){.m = m, .event_ids = event_ids};
    for (uint32_t i = 0, from = 0; i < m->pair_count; i++) {
        PTO_TRY(pto_go_on(m->run));
        if (i != 0 && m->pairs[i].second != m->pairs[i - 1].second) from = out->count;
        plan_pair(out, &m->pairs[i], from);
    }
    for (uint32_t i = 0; i < out->count; i++) out->flags[i].host = out->flags[i].shares = i;
    drop_covered(out);
    if (out->count > 0) qsort(out->flags, out->count, sizeof *out->flags, in_text_order);
    for (uint32_t i = 0; i < out->count; i++) out->flags[i].host = out->flags[i].shares = i;
    return PTO_OK;
}
