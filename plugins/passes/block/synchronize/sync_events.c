/* Event ids for the flags of a plan, and what is given up where a pair of pipes has too few. */
#include "sync_plan.h"

/* A flag of the two pipes that has events of its own kind. */
static int is_of(const sync_flag *f, uint32_t src, uint32_t dst)
{
    return !f->is_dropped && !f->is_barrier && f->src == src && f->dst == dst;
}

/* Ids that they may take. */
static int64_t events_for(const sync_plan *plan, uint32_t src, uint32_t dst)
{
    return plan->event_ids - plan->m->first_event[src][dst];
}

/* Ids that the flags of a pair of pipes take. */
static int64_t count_events(const sync_plan *plan, uint32_t src, uint32_t dst)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (is_of(&plan->flags[i], src, dst) && sync_events_of(plan->flags, i) == i) n += plan->flags[i].stages;
    }
    return n;
}

static int has_guests(const sync_plan *plan, uint32_t i)
{
    for (uint32_t k = 0; k < plan->count; k++) {
        if (k != i && plan->flags[k].host == i) return 1;
    }
    return 0;
}

static int is_tied(const sync_plan *plan, uint32_t i) { return plan->flags[i].host != i || has_guests(plan, i); }

static void unshare(sync_plan *plan)
{
    for (uint32_t i = 0; i < plan->count; i++) plan->flags[i].shares = i;
}

/* ---- one event, one flag after the other ---- */

/* Places between which events of a flag may hold tokens. */
static void find_span(const sync_model *m, const sync_flag *f, uint32_t *first, uint32_t *last)
{
    *first = f->around == SYNC_NONE ? f->set : f->around;
    *last = f->around == SYNC_NONE ? f->wait : m->ops[f->until].at->last;
}

/* Whether flag i can use the events of flag k, and of all that use them. */
static int can_share(const sync_plan *plan, const uint8_t *matrix, uint32_t i, uint32_t k)
{
    for (uint32_t j = 0; j < plan->count; j++) {
        const sync_flag *f = &plan->flags[i], *g = &plan->flags[j];
        uint32_t first_f, last_f, first_g, last_g;
        if (sync_events_of(plan->flags, j) != k) continue;
        if (!is_of(g, f->src, f->dst) || g->stages != f->stages || !matrix[(size_t)i * plan->count + j] ||
            !matrix[(size_t)j * plan->count + i])
            return 0;
        find_span(plan->m, f, &first_f, &last_f);
        find_span(plan->m, g, &first_g, &last_g);
        if (last_f > first_g && last_g > first_f) return 0;
    }
    return 1;
}

/* Lets flags use the events of others when no event then gets a second token. */
static pto_status share_events(sync_plan *plan, uint32_t src, uint32_t dst)
{
    sync_flow *flow = NULL;
    if (plan->spent > SYNC_COST_MAX) return PTO_OK;
    uint8_t *matrix = PTO_SCRATCH(plan->m->run, uint8_t, (size_t)plan->count * plan->count);
    memset(matrix, 1, (size_t)plan->count * plan->count);
    for (uint32_t i = 0; i < plan->count; i++) {
        if (is_of(&plan->flags[i], src, dst)) plan->flags[i].shares = i;
    }
    PTO_TRY(sync_flow_make(plan->m, plan->flags, plan->count, SYNC_WITH_WAITS, &flow));
    sync_flow_find_sharing(flow, matrix);
    plan->spent += sync_flow_cost(flow) + (uint64_t)plan->count * plan->count;
    for (uint32_t i = 0; i < plan->count && count_events(plan, src, dst) > events_for(plan, src, dst); i++) {
        sync_flag *f = &plan->flags[i];
        for (uint32_t k = 0; is_of(f, src, dst) && !is_tied(plan, i) && f->shares == i && k < i; k++) {
            if (is_of(&plan->flags[k], src, dst) && !is_tied(plan, k) && plan->flags[k].shares == k &&
                can_share(plan, matrix, i, k))
                f->shares = k;
        }
    }
    return PTO_OK;
}

/* ---- one token, handed from flag to flag ---- */

/* Whether no flag of `host` and its guests is between the wait and the set of `f`, and none of theirs is around
 * them: then waits and sets take turns on every path. */
static int is_apart(const sync_plan *plan, uint32_t host, const sync_flag *f)
{
    const sync_model *m = plan->m;
    for (uint32_t i = 0; i < plan->count; i++) {
        const sync_flag *g = &plan->flags[i];
        if (g->is_dropped || g->is_barrier || g->host != host) continue;
        if (g->wait <= m->ops[f->set].at->last && f->wait <= m->ops[g->set].at->last) return 0;
    }
    return 1;
}

/* The ops of the innermost block around both flags, between which both have their tokens. */
static int find_common_span(const sync_model *m, const sync_flag *f, const sync_flag *g, uint32_t *around,
                            uint32_t *until)
{
    const uint32_t common = region_common(&m->regions, m->ops[f->around].at->parent, m->ops[g->around].at->parent);
    for (uint32_t b = 0; b < 2; b++) {
        const uint32_t x = region_within(&m->regions, f->around, common, b),
                       y = region_within(&m->regions, g->around, common, b),
                       x_end = region_within(&m->regions, f->until, common, b),
                       y_end = region_within(&m->regions, g->until, common, b);
        if (x == SYNC_NONE || y == SYNC_NONE) continue;
        *around = x < y ? x : y;
        *until = x_end > y_end ? x_end : y_end;
        return 1;
    }
    /* On both sides of an `if`. */
    *around = *until = common;
    return common != 0;
}

/* Tokens of one flag for another: the second then waits for the last set of the first as well. */
static pto_status hand_on_token(sync_plan *plan, uint32_t src, uint32_t dst, int *out_changed)
{
    for (uint32_t i = 1; i < plan->count && !*out_changed; i++) {
        sync_flag *f = &plan->flags[i];
        if (!is_of(f, src, dst) || f->around == SYNC_NONE || f->host != i) continue;
        for (uint32_t k = 0; k < i && !*out_changed && plan->spent <= SYNC_COST_MAX; k++) {
            sync_flag *g = &plan->flags[k];
            const sync_flag before = *g;
            if (!is_of(g, src, dst) || g->around == SYNC_NONE || g->host != k || g->stages != f->stages ||
                has_guests(plan, i) || !is_apart(plan, k, f) || !find_common_span(plan->m, f, g, &g->around, &g->until))
                continue;
            sync_flow *flow = NULL;
            f->host = k;
            PTO_TRY(sync_flow_make(plan->m, plan->flags, plan->count, 0, &flow));
            plan->spent += sync_flow_cost(flow);
            *out_changed = sync_flow_run(flow, NULL);
            if (*out_changed) continue;
            f->host = i;
            *g = before;
        }
    }
    if (*out_changed) {
        plan->merged++;
        unshare(plan);
    }
    return PTO_OK;
}

/* ---- one flag for two ---- */

enum { MERGE_ALL_MAX = 128, MERGE_NEAR = 16 };

static uint32_t distance(uint32_t a, uint32_t b) { return a < b ? b - a : a - b; }

static int can_merge(const sync_model *m, const sync_flag *a, const sync_flag *b)
{
    if (m->ops[a->set].at->parent != m->ops[b->set].at->parent ||
        m->ops[a->set].at->block != m->ops[b->set].at->block || a->around != b->around || a->until != b->until)
        return 0;
    const int is_one_stage = a->stages == b->stages && (a->stages == 1 || sync_is_same_number(a->stage, b->stage));
    const uint32_t set = a->set > b->set ? a->set : b->set, wait = a->wait < b->wait ? a->wait : b->wait;
    return is_one_stage && (a->around != SYNC_NONE || set < wait);
}

/* Flags of the two pipes that hand on no tokens, in plan->list. */
static uint32_t list_untied(sync_plan *plan, uint32_t src, uint32_t dst)
{
    uint32_t n = 0;
    if (plan->list_capacity < plan->count) {
        plan->list_capacity = plan->count;
        plan->list = PTO_SCRATCH(plan->m->run, uint32_t, plan->list_capacity);
    }
    for (uint32_t i = 0; i < plan->count; i++) plan->list[i] = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->flags[i].host != i) plan->list[i] = plan->list[plan->flags[i].host] = 1;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        if (is_of(&plan->flags[i], src, dst) && !plan->list[i]) plan->list[n++] = i;
    }
    return n;
}

/* Merges the two flags of one block that lose least by it: set at the later place, waited for at the earlier. Where
 * flags are many, each is only compared with some before it. */
static int merge_flags(sync_plan *plan, uint32_t src, uint32_t dst)
{
    uint32_t best = UINT32_MAX, first = 0, second = 0;
    const uint32_t count = list_untied(plan, src, dst);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = count > MERGE_ALL_MAX && i > MERGE_NEAR ? i - MERGE_NEAR : 0; k < i; k++) {
            const sync_flag *a = &plan->flags[plan->list[k]], *b = &plan->flags[plan->list[i]];
            const uint32_t loss = distance(a->set, b->set) + distance(a->wait, b->wait);
            if (loss >= best || !can_merge(plan->m, a, b)) continue;
            best = loss;
            first = plan->list[k];
            second = plan->list[i];
        }
    }
    if (best == UINT32_MAX) return 0;
    sync_flag *a = &plan->flags[first], *b = &plan->flags[second];
    if (b->set > a->set) a->set = b->set;
    if (b->wait < a->wait) a->wait = b->wait;
    b->is_dropped = 1;
    plan->merged++;
    unshare(plan);
    return 1;
}

/* One event for all stages of the last flag that has several, and of those it hands tokens to. */
static int join_stages(sync_plan *plan, uint32_t src, uint32_t dst)
{
    for (uint32_t i = plan->count; i-- > 0;) {
        const sync_flag *f = &plan->flags[i];
        if (!is_of(f, src, dst) || f->stages == 1 || f->host != i) continue;
        for (uint32_t k = 0; k < plan->count; k++) {
            if (plan->flags[k].host == i) plan->flags[k].stages = 1;
        }
        plan->merged++;
        unshare(plan);
        return 1;
    }
    return 0;
}

/* The last resort: a barrier where the flag was waited for, outside of loops when there is such a one. It orders all
 * that the flag did, so nothing else becomes wrong. */
static void make_barrier(sync_plan *plan, uint32_t src, uint32_t dst)
{
    uint32_t best = SYNC_NONE;
    for (uint32_t i = plan->count; i-- > 0;) {
        const sync_flag *f = &plan->flags[i];
        if (!is_of(f, src, dst)) continue;
        if (best == SYNC_NONE || plan->m->ops[f->wait].at->depth < plan->m->ops[plan->flags[best].wait].at->depth)
            best = i;
    }
    const uint32_t host = plan->flags[best].host;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->flags[i].host == host) plan->flags[i].is_barrier = 1;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->flags[i].is_barrier) plan->flags[i].host = i;
    }
    plan->merged++;
    unshare(plan);
}

/* Hands on a token between any other two pipes: the sooner waits are known, the more events can be shared. */
static pto_status hand_on_elsewhere(sync_plan *plan, int *out_changed)
{
    const uint32_t end = plan->m->pipe_end;
    for (uint32_t src = 1; src < end && !*out_changed; src++) {
        for (uint32_t dst = 1; dst < end && !*out_changed; dst++) PTO_TRY(hand_on_token(plan, src, dst, out_changed));
    }
    return PTO_OK;
}

static pto_status fit_pair(sync_plan *plan, uint32_t src, uint32_t dst)
{
    while (count_events(plan, src, dst) > events_for(plan, src, dst)) {
        int changed = 0;
        PTO_TRY(pto_go_on(plan->m->run));
        PTO_TRY(share_events(plan, src, dst));
        if (count_events(plan, src, dst) <= events_for(plan, src, dst)) break;
        PTO_TRY(hand_on_token(plan, src, dst, &changed));
        if (!changed) PTO_TRY(hand_on_token(plan, dst, src, &changed));
        if (changed || merge_flags(plan, src, dst)) continue;
        PTO_TRY(hand_on_elsewhere(plan, &changed));
        if (changed || join_stages(plan, src, dst)) continue;
        make_barrier(plan, src, dst);
    }
    return PTO_OK;
}

static pto_status fit_all(sync_plan *plan)
{
    const uint32_t end = plan->m->pipe_end;
    for (uint32_t src = 1; src < end; src++) {
        for (uint32_t dst = 1; dst < end; dst++) PTO_TRY(fit_pair(plan, src, dst));
    }
    return PTO_OK;
}

static void number_pair(sync_plan *plan, uint32_t src, uint32_t dst)
{
    int64_t next = plan->m->first_event[src][dst];
    for (uint32_t i = 0; i < plan->count; i++) {
        sync_flag *f = &plan->flags[i];
        if (!is_of(f, src, dst)) continue;
        if (sync_events_of(plan->flags, i) != i) continue;
        f->event = next;
        next += f->stages;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        sync_flag *f = &plan->flags[i];
        if (is_of(f, src, dst)) f->event = plan->flags[sync_events_of(plan->flags, i)].event;
    }
}

pto_status sync_assign_events(sync_plan *plan)
{
    /* A merged flag orders more, so that others may have become needless. */
    for (uint32_t merged = UINT32_MAX; merged != plan->merged;) {
        merged = plan->merged;
        PTO_TRY(fit_all(plan));
        if (merged != plan->merged) PTO_TRY(sync_drop_implied(plan));
    }
    const uint32_t end = plan->m->pipe_end;
    for (uint32_t src = 1; src < end; src++) {
        for (uint32_t dst = 1; dst < end; dst++) number_pair(plan, src, dst);
    }
    return PTO_OK;
}
