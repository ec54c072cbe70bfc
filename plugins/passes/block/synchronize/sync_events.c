#include "sync_plan.h"

static int is_of(const sync_flag *f, uint32_t src, uint32_t dst)
{
    return !f->is_dropped && f->src == src && f->dst == dst;
}

/* Ids that the flags of a pair of pipes take. */
static int64_t count_events(const sync_plan *plan, uint32_t src, uint32_t dst)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (is_of(&plan->flags[i], src, dst) && plan->flags[i].shares == i) n += plan->flags[i].stages;
    }
    return n;
}

/* Places between which events of a flag may hold tokens. */
static void find_span(const sync_model *m, const sync_flag *f, uint32_t *first, uint32_t *last)
{
    *first = f->around == SYNC_NONE ? f->set : f->around;
    *last = f->around == SYNC_NONE ? f->wait : m->ops[f->around].last;
}

static int can_share(const sync_plan *plan, uint32_t i, uint32_t k)
{
    const sync_flag *f = &plan->flags[i], *g = &plan->flags[k];
    uint32_t first_f, last_f, first_g, last_g;
    if (!is_of(g, f->src, f->dst) || g->shares != k || g->stages != f->stages) return 0;
    find_span(plan->m, f, &first_f, &last_f);
    find_span(plan->m, g, &first_g, &last_g);
    return last_f <= first_g || last_g <= first_f;
}

/* Lets flags use the events of others when a run of all traces shows that no event then gets a second token. */
static pto_status share_events(sync_plan *plan, uint32_t src, uint32_t dst, int *out_changed)
{
    sync_traces *traces = NULL;
    PTO_TRY(sync_traces_make(plan->m, plan->flags, plan->count, &traces));
    for (uint32_t i = 0;
         i < plan->count && !sync_traces_are_partial(traces) && count_events(plan, src, dst) > plan->event_ids; i++) {
        sync_flag *f = &plan->flags[i];
        for (uint32_t k = 0; is_of(f, src, dst) && f->shares == i && k < i; k++) {
            if (!can_share(plan, i, k)) continue;
            f->shares = k;
            if (!sync_traces_run_single(traces, k))
                f->shares = i;
            else
                *out_changed = 1;
        }
    }
    return PTO_OK;
}

static uint32_t distance(uint32_t a, uint32_t b) { return a < b ? b - a : a - b; }

static int can_merge(const sync_model *m, const sync_flag *a, const sync_flag *b)
{
    if (m->ops[a->set].parent != m->ops[b->set].parent || m->ops[a->set].block != m->ops[b->set].block ||
        a->around != b->around)
        return 0;
    const int is_one_stage = a->stages == b->stages && (a->stages == 1 || a->stage.index == b->stage.index ||
                                                        pto_expr_same_number(a->stage, b->stage));
    const uint32_t set = a->set > b->set ? a->set : b->set, wait = a->wait < b->wait ? a->wait : b->wait;
    return is_one_stage && (a->around != SYNC_NONE || set < wait);
}

/* Merges the two flags of one block that lose least by it: set at the later place, waited for at the earlier. */
static int merge_flags(sync_plan *plan, uint32_t src, uint32_t dst)
{
    uint32_t best = UINT32_MAX, first = 0, second = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const sync_flag *a = &plan->flags[k], *b = &plan->flags[i];
            if (!is_of(a, src, dst) || !is_of(b, src, dst) || !can_merge(plan->m, a, b)) continue;
            const uint32_t loss = distance(a->set, b->set) + distance(a->wait, b->wait);
            if (loss >= best) continue;
            best = loss;
            first = k;
            second = i;
        }
    }
    if (best == UINT32_MAX) return 0;
    sync_flag *a = &plan->flags[first], *b = &plan->flags[second];
    if (b->set > a->set) a->set = b->set;
    if (b->wait < a->wait) a->wait = b->wait;
    b->is_dropped = 1;
    plan->merged++;
    /* Who shared is on its own again. */
    for (uint32_t i = 0; i < plan->count; i++) plan->flags[i].shares = i;
    return 1;
}

/* The last resort: one event for all stages of the last flag that has several. */
static int join_stages(sync_plan *plan, uint32_t src, uint32_t dst)
{
    for (uint32_t i = plan->count; i-- > 0;) {
        sync_flag *f = &plan->flags[i];
        if (!is_of(f, src, dst) || f->stages == 1) continue;
        f->stages = 1;
        plan->merged++;
        for (uint32_t k = 0; k < plan->count; k++) plan->flags[k].shares = k;
        return 1;
    }
    return 0;
}

static pto_status fit_pair(sync_plan *plan, uint32_t src, uint32_t dst)
{
    while (count_events(plan, src, dst) > plan->event_ids) {
        int changed = 0;
        PTO_TRY(share_events(plan, src, dst, &changed));
        if (changed || merge_flags(plan, src, dst) || join_stages(plan, src, dst)) continue;
        uint32_t worst = 0;
        while (!is_of(&plan->flags[worst], src, dst)) worst++;
        pto_error(plan->m->ops[plan->flags[worst].behind].op, "pto.synchronize/no-event",
                  "the kernel needs %lld events from pipe %s to pipe %s, the machine has %lld",
                  (long long)count_events(plan, src, dst), sync_pipe_name(src), sync_pipe_name(dst),
                  (long long)plan->event_ids);
        pto_note(plan->m->ops[plan->flags[worst].leads].op,
                 "the first of them is for this instruction; fewer loops side by side need fewer");
        return PTO_FAILED;
    }
    return PTO_OK;
}

static pto_status fit_all(sync_plan *plan)
{
    for (uint32_t src = 1; src < PTO_PIPE_ALL; src++) {
        for (uint32_t dst = 1; dst < PTO_PIPE_ALL; dst++) PTO_TRY(fit_pair(plan, src, dst));
    }
    return PTO_OK;
}

static void number_pair(sync_plan *plan, uint32_t src, uint32_t dst)
{
    int64_t next = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        sync_flag *f = &plan->flags[i];
        if (!is_of(f, src, dst)) continue;
        f->event = f->shares == i ? next : plan->flags[f->shares].event;
        if (f->shares == i) next += f->stages;
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
    for (uint32_t src = 1; src < PTO_PIPE_ALL; src++) {
        for (uint32_t dst = 1; dst < PTO_PIPE_ALL; dst++) number_pair(plan, src, dst);
    }
    return PTO_OK;
}
