/* Barriers between dependent instructions of one pipe, for pipes whose instructions overlap.
 *
 * A barrier may come before each instruction that depends on an earlier one of its pipe, or before the outermost loop
 * that has the later one and not the earlier. All of them begin left out. The flow says which instruction lacks order
 * first: its barrier is put in, until there is none. Where ops follow each other that takes as few barriers as any
 * choice: what lacks order needs one at or before it, and at it that orders the most. What loops made needless goes at
 * the end. */
#include "sync_plan.h"

/* Where the barrier of a pair may come instead of before `second`: before a loop; SYNC_NONE: nowhere. */
static uint32_t loop_between(const sync_model *m, uint32_t first, uint32_t second)
{
    const uint32_t common = region_common(&m->regions, first, second);
    uint32_t found = SYNC_NONE;
    if (first > second) return SYNC_NONE;
    for (uint32_t p = m->ops[second].at->parent; p != common && p != SYNC_NONE; p = m->ops[p].at->parent) {
        if (region_is_loop(&m->regions, p)) found = p;
    }
    return found;
}

/* The number of the barrier of a pipe before an op, made when it is not there yet. */
static uint32_t barrier_at(sync_plan *plan, uint32_t from, uint32_t before, uint32_t pipe, uint32_t leads)
{
    for (uint32_t i = from; i < plan->count; i++)
        if (plan->flags[i].wait == before && plan->flags[i].src == pipe) return i;
    PTO_GROW(plan->m->run, plan->flags, plan->count, plan->capacity);
    plan->flags[plan->count] = (sync_flag){.src = pipe,
                                           .dst = pipe,
                                           .set = before,
                                           .wait = before,
                                           .around = SYNC_NONE,
                                           .until = SYNC_NONE,
                                           .stages = 1,
                                           .behind = leads,
                                           .leads = leads,
                                           .is_dropped = 1,
                                           .is_barrier = 1,
                                           .host = plan->count,
                                           .shares = plan->count};
    return plan->count++;
}

/* The one that orders a pair: outside of loops, unless that did not do. */
static sync_flag *choose(sync_plan *plan, uint32_t from, const sync_race *race)
{
    const uint32_t pipe = plan->m->ops[race->second].pipe, loop = loop_between(plan->m, race->first, race->second);
    sync_flag *outside = NULL;
    if (loop != SYNC_NONE) outside = &plan->flags[barrier_at(plan, from, loop, pipe, race->second)];
    if (outside != NULL && outside->is_dropped) return outside;
    return &plan->flags[barrier_at(plan, from, race->second, pipe, race->second)];
}

static void list_barriers(sync_plan *plan, uint32_t from)
{
    const sync_model *m = plan->m;
    for (uint32_t i = 0; i < m->pair_count; i++) {
        const sync_pair *p = &m->pairs[i];
        if (!sync_is_own(m, p->first, p->second)) continue;
        const uint32_t pipe = m->ops[p->second].pipe, loop = loop_between(m, p->first, p->second);
        barrier_at(plan, from, p->second, pipe, p->second);
        if (loop != SYNC_NONE) barrier_at(plan, from, loop, pipe, p->second);
    }
}

/* Without more searching: all of them. */
static void take_all(sync_plan *plan, uint32_t from)
{
    for (uint32_t i = from; i < plan->count; i++) plan->flags[i].is_dropped = 0;
}

static pto_status put_in(sync_plan *plan, uint32_t from, sync_flow *flow, uint64_t *cost)
{
    sync_race race;
    while (!sync_flow_run(flow, &race)) {
        PTO_TRY(pto_go_on(plan->m->run));
        if (!sync_is_pair(plan->m, &race) || !sync_is_own(plan->m, race.first, race.second))
            return sync_report_race(plan->m, &race);
        sync_flag *f = choose(plan, from, &race);
        if (!f->is_dropped) return sync_report_race(plan->m, &race);
        f->is_dropped = 0;
        *cost += sync_flow_cost(flow);
        if (*cost > SYNC_COST_MAX) take_all(plan, from);
    }
    return PTO_OK;
}

pto_status sync_add_barriers(sync_plan *plan)
{
    const uint32_t from = plan->barriers = plan->count;
    sync_flow *flow = NULL;
    uint64_t cost = 0;
    list_barriers(plan, from);
    if (plan->count == from) return PTO_OK;
    PTO_TRY(sync_flow_make(plan->m, plan->flags, plan->count, SYNC_WITH_OWN, &flow));
    PTO_TRY(put_in(plan, from, flow, &cost));
    for (uint32_t i = from; i < plan->count && cost <= SYNC_COST_MAX; i++) {
        sync_flag *f = &plan->flags[i];
        if (f->is_dropped) continue;
        PTO_TRY(pto_go_on(plan->m->run));
        f->is_dropped = 1;
        f->is_dropped = sync_flow_run(flow, NULL);
        cost += sync_flow_cost(flow);
    }
    return PTO_OK;
}
