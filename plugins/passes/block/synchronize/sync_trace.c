#include "sync_unroll.h"

typedef struct runner {
    sync_traces *all;
    trace *t;
    uint32_t at[PTO_PIPE_COUNT]; /* next in the order of each pipe */
    uint32_t numbers[PTO_PIPE_COUNT];
    vector_clock clocks[PTO_PIPE_COUNT];
    uint32_t token_count;
    uint32_t single; /* flag whose events may hold one token; SYNC_NONE: none */
    sync_race race;
    int is_wrong;
} runner;

static void join(vector_clock *into, const vector_clock *from)
{
    for (uint32_t i = 0; i < PTO_PIPE_COUNT; i++) {
        if (into->at[i] < from->at[i]) into->at[i] = from->at[i];
    }
}

static event_state *event_of(const runner *r, const trace_step *s)
{
    const uint32_t slot = s->flag == SYNC_NONE ? r->all->flag_count * SYNC_EVENTS_MAX + s->slot
                                               : r->all->flags[s->flag].shares * SYNC_EVENTS_MAX + s->slot;
    return &r->all->events[slot];
}

static uint32_t count_step(runner *r, uint32_t pipe)
{
    r->clocks[pipe].at[pipe] = ++r->numbers[pipe];
    return r->numbers[pipe];
}

/* ---- instructions ---- */

static int on_chip_meets(const sync_model *m, const trace *t, const trace_step *a, const trace_step *b)
{
    const sync_op *x = &m->ops[a->op], *y = &m->ops[b->op];
    for (uint32_t i = 0; i < x->access_count; i++) {
        for (uint32_t k = 0; k < y->access_count; k++) {
            const sync_access *p = &m->accesses[x->access + i], *q = &m->accesses[y->access + k];
            if (p->space == PTO_GM || (!p->is_write && !q->is_write)) continue;
            if (sync_bytes_meet(p, t->stages[a->stages + i], q, t->stages[b->stages + k])) return 1;
        }
    }
    return 0;
}

static const sync_pair *find_pair(const sync_model *m, uint32_t first, uint32_t second)
{
    const sync_op *o = &m->ops[second];
    for (uint32_t i = 0; i < o->pair_count; i++) {
        if (m->pairs[o->pair + i].first == first) return &m->pairs[o->pair + i];
    }
    return NULL;
}

/* Whether two steps touch the same bytes; `a` was issued before `b`. */
static int steps_meet(const sync_model *m, const trace *t, const trace_step *a, const trace_step *b, const sync_pair *p)
{
    if (p == NULL) return 0;
    if (p->on_chip && on_chip_meets(m, t, a, b)) return 1;
    const uint32_t common = m->ops[sync_common(m, a->op, b->op)].depth;
    for (uint32_t d = 0; d <= common; d++) {
        if (t->loops[a->loops + d] != t->loops[b->loops + d]) return (p->gm_by >> d & 1) != 0;
    }
    return p->in_gm;
}

/* The steps of another op that ran before, back to the first that is known to be over. */
static void check_pair(runner *r, uint32_t step, const sync_pair *p)
{
    const sync_model *m = r->all->m;
    const trace_step *s = &r->t->steps[step];
    const vector_clock *known = &r->clocks[s->pipe];
    for (uint32_t i = r->all->latest[p->first]; i != 0; i = r->t->steps[i - 1].previous) {
        const trace_step *other = &r->t->steps[i - 1];
        const int is_earlier = i - 1 < step;
        if (is_earlier && other->number <= known->at[other->pipe]) return;
        const trace_step *a = is_earlier ? other : s, *b = is_earlier ? s : other;
        if (!steps_meet(m, r->t, a, b, is_earlier ? p : find_pair(m, s->op, other->op))) continue;
        r->race = (sync_race){a->op, b->op};
        r->is_wrong = 1;
        return;
    }
}

static void run_insn(runner *r, uint32_t step)
{
    const sync_model *m = r->all->m;
    trace_step *s = &r->t->steps[step];
    const sync_op *o = &m->ops[s->op];
    s->number = count_step(r, s->pipe);
    for (uint32_t i = 0; i < o->pair_count && !r->is_wrong; i++) check_pair(r, step, &m->pairs[o->pair + i]);
    s->previous = r->all->latest[s->op];
    r->all->latest[s->op] = step + 1;
}

/* ---- flags ---- */

static void run_set(runner *r, const trace_step *s)
{
    event_state *e = event_of(r, s);
    const uint32_t n = r->token_count++;
    count_step(r, s->pipe);
    const int is_watched = r->single != SYNC_NONE && s->flag != SYNC_NONE && r->all->flags[s->flag].shares == r->single;
    if (is_watched && (e->first != 0 || r->clocks[s->pipe].at[e->wait_pipe] < e->wait_number)) r->is_wrong = 1;
    r->all->tokens[n] = (token){r->clocks[s->pipe], 0};
    if (e->first == 0)
        e->first = n + 1;
    else
        r->all->tokens[e->last - 1].next = n + 1;
    e->last = n + 1;
}

/* 0: no token yet. */
static int run_wait(runner *r, const trace_step *s)
{
    event_state *e = event_of(r, s);
    if (e->first == 0) return 0;
    const token *t = &r->all->tokens[e->first - 1];
    join(&r->clocks[s->pipe], &t->clock);
    e->first = t->next;
    e->wait_pipe = s->pipe;
    e->wait_number = count_step(r, s->pipe);
    return 1;
}

/* ---- pipes ---- */

static int is_at(const runner *r, uint32_t pipe, uint32_t step)
{
    return r->at[pipe] < r->t->length[pipe] && r->t->order[pipe][r->at[pipe]] == step;
}

/* All pipes are at the step: they leave it together. */
static int run_all(runner *r, uint32_t step)
{
    vector_clock sum = {{0}};
    for (uint32_t p = 1; p < PTO_PIPE_ALL; p++) {
        if (!is_at(r, p, step)) return 0;
    }
    for (uint32_t p = 1; p < PTO_PIPE_ALL; p++) join(&sum, &r->clocks[p]);
    for (uint32_t p = 1; p < PTO_PIPE_ALL; p++) {
        r->clocks[p] = sum;
        r->at[p]++;
    }
    return 1;
}

static int run_scalar(runner *r, uint32_t pipe, uint32_t step)
{
    if (pipe == PTO_PIPE_SCALAR) {
        r->all->scalar[step] = r->clocks[pipe];
    } else {
        const uint32_t at = r->at[PTO_PIPE_SCALAR];
        if (at < r->t->length[PTO_PIPE_SCALAR] && r->t->order[PTO_PIPE_SCALAR][at] <= step) return 0;
        join(&r->clocks[pipe], &r->all->scalar[step]);
    }
    r->at[pipe]++;
    return 1;
}

/* One step of a pipe; 0 when it cannot go on. */
static int advance(runner *r, uint32_t pipe)
{
    if (r->at[pipe] == r->t->length[pipe]) return 0;
    const uint32_t step = r->t->order[pipe][r->at[pipe]];
    const trace_step *s = &r->t->steps[step];
    if (s->kind == STEP_ALL) return run_all(r, step);
    if (s->kind == STEP_SCALAR) return run_scalar(r, pipe, step);
    const int is_dropped = s->flag != SYNC_NONE && s->kind != STEP_INSN && r->all->flags[s->flag].is_dropped;
    if (s->kind == STEP_INSN)
        run_insn(r, step);
    else if (!is_dropped && s->kind == STEP_SET)
        run_set(r, s);
    else if (!is_dropped && !run_wait(r, s))
        return 0;
    r->at[pipe]++;
    return 1;
}

static int run_trace(sync_traces *all, trace *t, uint32_t single, sync_race *out)
{
    runner r = {.all = all, .t = t, .single = single};
    memset(all->events, 0, all->event_count * sizeof *all->events);
    memset(all->latest, 0, all->m->count * sizeof *all->latest);
    for (int moved = 1; moved && !r.is_wrong;) {
        moved = 0;
        for (uint32_t p = 1; p < PTO_PIPE_ALL && !r.is_wrong; p++) {
            while (!r.is_wrong && advance(&r, p)) moved = 1;
        }
    }
    for (uint32_t p = 1; p < PTO_PIPE_ALL && !r.is_wrong; p++) {
        if (r.at[p] == t->length[p]) continue;
        r.race = (sync_race){t->steps[t->order[p][r.at[p]]].op, SYNC_NONE};
        r.is_wrong = 1;
    }
    if (out != NULL) *out = r.race;
    return !r.is_wrong;
}

static int run_all_traces(sync_traces *t, uint32_t single, sync_race *out_race)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t at = (t->start + i) % t->count;
        if (run_trace(t, &t->traces[at], single, out_race)) continue;
        t->start = at;
        return 0;
    }
    return 1;
}

int sync_traces_run(sync_traces *t, sync_race *out_race) { return run_all_traces(t, SYNC_NONE, out_race); }

int sync_traces_run_single(sync_traces *t, uint32_t flag) { return run_all_traces(t, flag, NULL); }

int sync_traces_are_partial(const sync_traces *t) { return t->is_partial; }

/* ---- telling ---- */

/* The buffer, or the parameter, in which the two meet. */
static pto_str meeting_place(const sync_model *m, uint32_t first, uint32_t second)
{
    const sync_op *x = &m->ops[first], *y = &m->ops[second];
    for (uint32_t i = 0; i < x->access_count; i++) {
        for (uint32_t k = 0; k < y->access_count; k++) {
            const sync_access *a = &m->accesses[x->access + i], *b = &m->accesses[y->access + k];
            if (!a->is_write && !b->is_write) continue;
            if (a->space == PTO_GM && b->space == PTO_GM && pto_value_same(a->root, b->root))
                return pto_value_name(a->root);
            if (a->space != PTO_GM && sync_bytes_meet(a, SYNC_ANY_STAGE, b, SYNC_ANY_STAGE))
                return pto_value_name(pto_result(a->buffer, 0));
        }
    }
    return pto_s("?");
}

pto_status sync_report_race(const sync_model *m, const sync_race *race)
{
    const sync_op *x = &m->ops[race->first];
    const pto_str first = pto_op_name(x->op);
    if (race->second == SYNC_NONE)
        return pto_error(x->op, "pto.synchronize/endless-wait", "`%.*s` from %s to %s gets no token", PTO_FMT(first),
                         sync_pipe_name(x->pipe), sync_pipe_name(x->dst_pipe));
    const sync_op *y = &m->ops[race->second];
    const pto_str second = pto_op_name(y->op), place = meeting_place(m, race->first, race->second);
    pto_error(y->op, "pto.synchronize/race",
              "nothing orders `%.*s` on pipe %s after `%.*s` on pipe %s, and both touch `%%%.*s`", PTO_FMT(second),
              sync_pipe_name(y->pipe), PTO_FMT(first), sync_pipe_name(x->pipe), PTO_FMT(place));
    pto_note(x->op, "the earlier instruction is here; pto.synchronize sets flags between them");
    return PTO_FAILED;
}
