#include "sync_schedule.h"

/* A state: the facts of each row, word_count words each, then the tokens of each event row. */
typedef struct runner {
    const sync_flow *f;
    uint8_t *can_share; /* see sync_flow_find_sharing; NULL: not asked for */
    size_t size;        /* words of a state */
    uint64_t *now;
    uint64_t *kept;  /* by number of the loop */
    uint64_t *stack; /* two for each op that is open */
    int *is_left;    /* whether the second of them holds something */
    uint32_t depth;
    int is_lowered; /* a kept state became smaller: once more */
    sync_race race;
    int is_wrong;
} runner;

static uint64_t *row_of(const runner *r, uint32_t row) { return r->now + (size_t)row * r->f->word_count; }

static uint64_t *tokens_of(const runner *r, uint32_t row)
{
    return r->now + (size_t)r->f->row_count * r->f->word_count + (row - r->f->m->pipe_end);
}

static int knows(const runner *r, uint32_t row, uint32_t fact) { return row_of(r, row)[fact / 64] >> fact % 64 & 1; }

static int fail(runner *r, uint32_t first, uint32_t second)
{
    r->race = (sync_race){first, second};
    r->is_wrong = 1;
    return 0;
}

/* ---- instructions and flags ---- */

/* One more instance that only the pipe itself knows of. */
static void forget(runner *r, uint32_t fact, uint32_t pipe)
{
    if (fact == SYNC_NONE) return;
    const size_t words = r->f->word_count;
    const uint64_t bit = UINT64_C(1) << fact % 64;
    uint64_t *at = r->now + fact / 64;
    const uint64_t own = at[pipe * words] & bit;
    for (uint32_t i = 0; i < r->f->row_count; i++) at[i * words] &= ~bit;
    at[pipe * words] |= own;
}

static void run_insn(runner *r, const flow_step *s)
{
    const sync_flow *f = r->f;
    const uint32_t own = f->own_row[s->pipe];
    const uint64_t *need = f->needs + (size_t)s->at * f->word_count, *known = row_of(r, own != 0 ? own : s->pipe);
    for (uint32_t i = 0; i < f->word_count; i++) {
        const uint64_t missing = need[i] & ~known[i];
        if (missing == 0) continue;
        fail(r, f->fact_op[i * 64 + (uint32_t)__builtin_ctzll(missing)], s->op);
        return;
    }
    forget(r, f->classes[s->at].fact[0], s->pipe);
    forget(r, f->classes[s->at].fact[1], s->pipe);
}

static uint32_t event_row(const sync_flow *f, const flow_step *s)
{
    return s->flag == SYNC_NONE ? f->text_row + s->at : f->first_row[sync_events_of(f->flags, s->flag)] + s->at;
}

static void find_sharing(const runner *r, const flow_step *s)
{
    const sync_flow *f = r->f;
    const sync_flag *flag = &f->flags[s->flag];
    uint8_t *can_share = r->can_share + (size_t)s->flag * f->flag_count;
    for (uint32_t k = 0; k < f->flag_count; k++) {
        const sync_flag *other = &f->flags[k];
        if (other->is_barrier || other->src != flag->src || other->dst != flag->dst || other->stages != flag->stages)
            continue;
        const uint32_t row = f->first_row[other->host] + s->at;
        if (*tokens_of(r, row) != 0 || !knows(r, s->pipe, f->wait_fact + row - f->m->pipe_end)) can_share[k] = 0;
    }
}

static void run_set(runner *r, const flow_step *s)
{
    const uint32_t row = event_row(r->f, s);
    if (r->can_share != NULL && s->flag != SYNC_NONE) find_sharing(r, s);
    uint64_t *token = row_of(r, row), *count = tokens_of(r, row);
    const uint64_t *known = row_of(r, s->pipe);
    for (uint32_t i = 0; i < r->f->word_count; i++) token[i] = *count != 0 ? token[i] & known[i] : known[i];
    ++*count;
}

/* A pipe gets to know more. */
static void join_words(const runner *r, uint32_t pipe, const uint64_t *more)
{
    const uint32_t own = r->f->own_row[pipe];
    for (uint32_t i = 0; i < r->f->word_count; i++) row_of(r, pipe)[i] |= more[i];
    for (uint32_t i = 0; own != 0 && i < r->f->word_count; i++) row_of(r, own)[i] |= more[i];
}

static void run_wait(runner *r, const flow_step *s)
{
    const uint32_t row = event_row(r->f, s);
    uint64_t *count = tokens_of(r, row);
    const uint64_t *token = row_of(r, row);
    if (*count == 0) {
        fail(r, s->op, SYNC_NONE);
        return;
    }
    join_words(r, s->pipe, token);
    --*count;
    if (r->f->wait_fact != SYNC_NONE) forget(r, r->f->wait_fact + row - r->f->m->pipe_end, s->pipe);
}

static void run_all(runner *r)
{
    const size_t bytes = r->f->word_count * sizeof(uint64_t);
    memset(row_of(r, 0), 0xff, r->f->m->pipe_end * bytes);
    for (uint32_t p = 0; p < r->f->m->pipe_end; p++)
        if (r->f->own_row[p] != 0) memset(row_of(r, r->f->own_row[p]), 0xff, bytes);
}

static void run_own(runner *r, uint32_t pipe)
{
    const uint32_t own = r->f->own_row[pipe];
    if (own != 0) memcpy(row_of(r, own), row_of(r, pipe), r->f->word_count * sizeof(uint64_t));
}

static void run_scalar(runner *r)
{
    const uint64_t *scalar = row_of(r, r->f->m->scalar);
    for (uint32_t p = 0; p < r->f->m->pipe_end; p++) join_words(r, p, scalar);
}

/* What is known of all instances so far is now known of those before this trip. */
static void begin_trip(runner *r, uint32_t loop)
{
    const sync_flow *f = r->f;
    for (uint32_t i = 0; i < f->age_count; i++) {
        const flow_age *a = &f->ages[i];
        if (a->loop != loop) continue;
        for (uint32_t row = 0; row < f->row_count; row++) {
            uint64_t *word = row_of(r, row) + a->fact / 64;
            const uint64_t bit = UINT64_C(1) << a->fact % 64;
            *word = knows(r, row, a->all) ? *word | bit : *word & ~bit;
        }
    }
}

/* ---- control ---- */

/* Where a path with state `from` joins those with state `into`. 1 when that becomes smaller. */
static int join(runner *r, uint64_t *into, const uint64_t *from, int *is_there, uint32_t op)
{
    const size_t facts = (size_t)r->f->row_count * r->f->word_count;
    if (!*is_there) {
        memcpy(into, from, r->size * sizeof *into);
        *is_there = 1;
        return 1;
    }
    uint64_t lost = 0;
    for (size_t i = 0; i < facts; i++) {
        lost |= into[i] & ~from[i];
        into[i] &= from[i];
    }
    for (size_t i = facts; i < r->size; i++) {
        if (into[i] != from[i]) fail(r, op, op);
    }
    return lost != 0;
}

static uint64_t *stack_at(const runner *r, uint32_t which) { return r->stack + ((r->depth - 1) * 2 + which) * r->size; }

static void run_control(runner *r, const flow_step *s)
{
    const size_t bytes = r->size * sizeof *r->now;
    uint64_t *kept = r->kept + s->at * r->size;
    switch (s->kind) {
    case FLOW_LOOP:
        r->is_left[r->depth++] = 0;
        join(r, kept, r->now, &r->f->is_kept[s->at], s->op);
        memcpy(r->now, kept, bytes);
        return;
    case FLOW_AGAIN: r->is_lowered |= join(r, kept, r->now, &r->f->is_kept[s->at], s->op); return;
    case FLOW_LEAVE: join(r, stack_at(r, 1), r->now, &r->is_left[r->depth - 1], s->op); return;
    case FLOW_IF:
        r->is_left[r->depth++] = 0;
        memcpy(stack_at(r, 0), r->now, bytes);
        return;
    case FLOW_ELSE:
        join(r, stack_at(r, 1), r->now, &r->is_left[r->depth - 1], s->op);
        memcpy(r->now, stack_at(r, 0), bytes);
        return;
    case FLOW_END: join(r, stack_at(r, 1), r->now, &r->is_left[r->depth - 1], s->op); __attribute__((fallthrough));
    case FLOW_BEHIND:
        memcpy(r->now, stack_at(r, 1), bytes);
        r->depth--;
        return;
    default: return;
    }
}

/* ---- runs ---- */

static void run_once(runner *r)
{
    const sync_flow *f = r->f;
    const size_t facts = (size_t)f->row_count * f->word_count;
    memset(r->now, 0xff, facts * sizeof *r->now);
    memset(r->now + facts, 0, (r->size - facts) * sizeof *r->now);
    r->is_lowered = 0;
    for (uint32_t i = 0; i < f->step_count && !r->is_wrong; i++) {
        const flow_step *s = &f->steps[i];
        const int is_dropped = s->flag != SYNC_NONE && s->kind != FLOW_INSN && f->flags[s->flag].is_dropped;
        switch (s->kind) {
        case FLOW_INSN: run_insn(r, s); break;
        case FLOW_SET:
            if (!is_dropped) run_set(r, s);
            break;
        case FLOW_WAIT:
            if (!is_dropped) run_wait(r, s);
            break;
        case FLOW_ALL:
            if (!is_dropped) run_all(r);
            break;
        case FLOW_OWN:
            if (!is_dropped) run_own(r, s->pipe);
            break;
        case FLOW_SCALAR: run_scalar(r); break;
        case FLOW_TRIP: begin_trip(r, s->op); break;
        default: run_control(r, s); break;
        }
    }
}

static int run(const sync_flow *f, uint8_t *can_share, sync_race *out)
{
    runner r = {.f = f, .can_share = can_share};
    int is_left[SYNC_DEPTH_MAX + 2] = {0};
    r.size = (size_t)f->row_count * f->word_count + f->row_count - f->m->pipe_end;
    r.now = f->states;
    r.stack = r.now + r.size;
    r.kept = r.stack + (size_t)f->depth * 2 * r.size;
    r.is_left = is_left;
    memset(f->is_kept, 0, (f->kept_count + 1) * sizeof *f->is_kept);
    do run_once(&r);
    while (r.is_lowered && !r.is_wrong);
    if (out != NULL) *out = r.race;
    return !r.is_wrong;
}

void sync_flow_find_sharing(sync_flow *f, uint8_t *can_share)
{
    for (; f != NULL; f = f->next) run(f, can_share, NULL);
}

int sync_flow_run(sync_flow *f, sync_race *out_race)
{
    for (; f != NULL; f = f->next) {
        if (!run(f, NULL, out_race)) return 0;
    }
    return 1;
}
