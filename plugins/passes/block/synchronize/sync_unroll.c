#include "sync_unroll.h"

/* ---- where flags stand ---- */

static void add_gap(sync_gap *gaps, uint32_t *count, uint32_t before, uint32_t flag, sync_part part)
{
    gaps[(*count)++] = (sync_gap){before, flag, part};
}

/* Sorts by op and by setting before waiting, keeping the order otherwise; `into` is as large. */
static void sort_gaps(const sync_model *m, const sync_gap *gaps, uint32_t count, sync_gap *into)
{
    uint32_t *start = PTO_SCRATCH(m->run, uint32_t, m->count * 2 + 1);
    for (uint32_t i = 0; i < count; i++) start[gaps[i].before * 2 + (gaps[i].part >= SYNC_PART_LAST_WAITS) + 1]++;
    for (uint32_t i = 0; i < m->count * 2; i++) start[i + 1] += start[i];
    for (uint32_t i = 0; i < count; i++)
        into[start[gaps[i].before * 2 + (gaps[i].part >= SYNC_PART_LAST_WAITS)]++] = gaps[i];
}

uint32_t sync_list_gaps(const sync_model *m, const sync_flag *flags, uint32_t flag_count, int with_dropped,
                        sync_gap **out)
{
    sync_gap *gaps = PTO_SCRATCH(m->run, sync_gap, (size_t)flag_count * 4 + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < flag_count; i++) {
        const sync_flag *f = &flags[i];
        if (f->is_dropped && !with_dropped) continue;
        add_gap(gaps, &n, m->ops[f->set].next, i, SYNC_PART_SET);
        if (f->around != SYNC_NONE) {
            add_gap(gaps, &n, f->around, i, SYNC_PART_FIRST_SETS);
            add_gap(gaps, &n, m->ops[f->around].next, i, SYNC_PART_LAST_WAITS);
        }
        add_gap(gaps, &n, f->wait, i, SYNC_PART_WAIT);
    }
    *out = PTO_SCRATCH(m->run, sync_gap, n + 1);
    sort_gaps(m, gaps, n, *out);
    return n;
}

/* ---- unrolling ---- */

typedef struct frame {
    uint32_t op, at;
    uint32_t trip, trips;
    int64_t value, step;
} frame;

enum { KNOWN_ROOM = 64 };

typedef struct unroller {
    const sync_model *m;
    sync_traces *all;
    trace *t;
    uint32_t choice, trips_most;
    trace_way way;
    const uint8_t *first, *second; /* by op: which of its blocks hold the first and the second instruction; NULL: all */
    uint32_t *times;               /* by op: how often it was reached */
    const sync_gap *gaps;
    const uint32_t *gap_start; /* by op */
    frame frames[SYNC_DEPTH_MAX + 2];
    uint32_t depth;
    uint32_t version; /* of the values of indices */
    struct {
        uint32_t expr, version;
        int64_t value;
        int is_known;
    } known[KNOWN_ROOM];
    uint32_t counter;
} unroller;

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t x = a * 2654435761u ^ (b + 0x9e3779b9u + (a << 6));
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static int32_t symbol_now(void *self, pto_str name, int64_t *lo, int64_t *hi)
{
    const unroller *u = (const unroller *)self;
    (void)name;
    *lo = *hi = 64 + u->choice;
    return 1;
}

static int32_t value_now(void *self, pto_value v, int64_t *lo, int64_t *hi)
{
    const unroller *u = (const unroller *)self;
    const pto_op owner = pto_block_parent(pto_value_block(v));
    if (!PTO_SOME(owner)) return 0;
    for (uint32_t i = 0; i < u->depth; i++) {
        if (!pto_op_same(u->m->ops[u->frames[i].op].op, owner)) continue;
        *lo = *hi = i == 0 ? u->choice % 3 : u->frames[i].value;
        return 1;
    }
    return 0;
}

/* 0 when the expression does not come out as one number. */
static int evaluate(unroller *u, pto_expr e, int64_t *out)
{
    if (pto_expr_is_const(e, out)) return 1;
    const uint32_t i = e.index % KNOWN_ROOM;
    if (u->known[i].expr != e.index || u->known[i].version != u->version) {
        const pto_expr_env env = {.struct_size = sizeof env, .self = u, .symbol = symbol_now, .value = value_now};
        int64_t lo, hi;
        pto_expr_range(e, pto_op_none(u->m->run), &env, &lo, &hi);
        u->known[i].expr = e.index;
        u->known[i].version = u->version;
        u->known[i].value = lo;
        u->known[i].is_known = lo == hi;
    }
    *out = u->known[i].value;
    return u->known[i].is_known;
}

static void *grow(const pto_run *run, void *items, uint32_t count, uint32_t needed, uint32_t *room, size_t size)
{
    if (needed <= *room) return items;
    while (*room < needed) *room = *room == 0 ? 256 : *room * 2;
    void *bigger = pto_scratch_array(run, *room, size);
    if (count != 0) memcpy(bigger, items, count * size);
    return bigger;
}

static trace_step *add_step(unroller *u, trace_step step)
{
    trace *t = u->t;
    t->steps = (trace_step *)grow(u->m->run, t->steps, t->count, t->count + 1, &t->room, sizeof *t->steps);
    t->steps[t->count] = step;
    if (step.kind == STEP_SET) t->set_count++;
    return &t->steps[t->count++];
}

static void add_insn(unroller *u, uint32_t place)
{
    const sync_op *o = &u->m->ops[place];
    trace *t = u->t;
    t->loops =
        (uint32_t *)grow(u->m->run, t->loops, t->loop_count, t->loop_count + u->depth, &t->loop_room, sizeof *t->loops);
    t->stages = (int64_t *)grow(u->m->run, t->stages, t->stage_count, t->stage_count + o->access_count, &t->stage_room,
                                sizeof *t->stages);
    add_step(u, (trace_step){
                    .kind = STEP_INSN, .pipe = o->pipe, .op = place, .loops = t->loop_count, .stages = t->stage_count});
    for (uint32_t i = 0; i < u->depth; i++) t->loops[t->loop_count++] = u->frames[i].trip;
    for (uint32_t i = 0; i < o->access_count; i++) {
        const sync_access *a = &u->m->accesses[o->access + i];
        int64_t stage = SYNC_ANY_STAGE;
        if (a->space != PTO_GM && (!a->is_steady || !evaluate(u, a->stage, &stage) || stage < 0 || stage >= a->stages))
            stage = SYNC_ANY_STAGE;
        t->stages[t->stage_count++] = stage;
    }
}

static void add_gap_steps(unroller *u, const sync_gap *g)
{
    const sync_flag *f = &u->all->flags[g->flag];
    const int is_set = g->part == SYNC_PART_SET || g->part == SYNC_PART_FIRST_SETS;
    trace_step s = {
        .kind = is_set ? STEP_SET : STEP_WAIT, .pipe = is_set ? f->src : f->dst, .op = SYNC_NONE, .flag = g->flag};
    if (g->part == SYNC_PART_FIRST_SETS || g->part == SYNC_PART_LAST_WAITS) {
        for (; s.slot < (uint32_t)f->stages; s.slot++) add_step(u, s);
        return;
    }
    int64_t stage = 0;
    if (f->stages > 1 && evaluate(u, f->stage, &stage))
        s.slot = (uint32_t)(((stage % f->stages) + f->stages) % f->stages);
    add_step(u, s);
}

static pto_status add_text_flag(unroller *u, uint32_t place)
{
    const sync_op *o = &u->m->ops[place];
    const int is_set = o->role == SYNC_SET;
    int64_t event = 0;
    if (!o->is_steady || !evaluate(u, o->event, &event) || event < 0 || event >= SYNC_EVENTS_MAX)
        return pto_error(o->op, "pto.synchronize/unknown-event",
                         "the event id is not known to be one of 0 .. %d from indices and symbols",
                         SYNC_EVENTS_MAX - 1);
    const uint32_t slot = (o->pipe * PTO_PIPE_COUNT + o->dst_pipe) * SYNC_EVENTS_MAX + (uint32_t)event;
    add_step(u, (trace_step){.kind = is_set ? STEP_SET : STEP_WAIT,
                             .pipe = is_set ? o->pipe : o->dst_pipe,
                             .op = place,
                             .flag = SYNC_NONE,
                             .slot = slot});
    if (!is_set && o->dst_pipe == PTO_PIPE_SCALAR)
        add_step(u, (trace_step){.kind = STEP_SCALAR, .pipe = PTO_PIPE_ALL, .op = place, .flag = SYNC_NONE});
    return PTO_OK;
}

static void push(unroller *u, uint32_t op, uint32_t block, uint32_t trips, int64_t value, int64_t step)
{
    u->frames[u->depth++] = (frame){op, u->m->ops[op].first[block], 0, trips, value, step};
    u->version++;
}

/* 1 and the trips when the bounds are constants: exact up to `most`, else about that many. */
static int constant_trips(const sync_op *o, uint32_t most, uint32_t dice, uint32_t *out)
{
    int64_t from, to, step;
    if (o->role != SYNC_FOR || !pto_expr_is_const(pto_expr_of(o->op, "from", 0), &from) ||
        !pto_expr_is_const(pto_expr_of(o->op, "to", 0), &to) ||
        !pto_expr_is_const(pto_expr_of(o->op, "step", 0), &step))
        return 0;
    const int64_t trips = from >= to || step < 1 ? 0 : (to - from - 1) / step + 1;
    *out = trips <= most ? (uint32_t)trips : most - dice % 2;
    return 1;
}

/* Whether a loop or branch that may be left out is entered this time. */
static int is_entered(const unroller *u, uint32_t place, uint32_t time, uint32_t dice)
{
    const int for_first = u->first[place] != 0, for_second = u->second[place] != 0;
    if (!for_first && !for_second) return 0;
    switch (u->way) {
    case WAY_MOST:
    case WAY_ONE:
    case WAY_COUNT: return 1;
    case WAY_EVERY_OTHER: return (time + (for_second && !for_first)) % 2 == 0;
    case WAY_APART: return for_first == for_second ? time % 3 != 1 : for_first ? time == 0 : time != 0;
    case WAY_DICE: return dice % 3 != 0;
    }
    return 1;
}

static uint32_t choose_trips(unroller *u, uint32_t place)
{
    const sync_op *o = &u->m->ops[place];
    const uint32_t most = u->trips_most, dice = mix(o->control * 31 + u->choice, u->counter++),
                   time = u->times[place]++;
    uint32_t trips;
    if (constant_trips(o, most, dice, &trips)) return trips;
    if (u->first == NULL) {
        if (u->choice == 0) return most;
        if (u->choice == 1) return 1;
        return u->choice < 4 && o->depth == 1 ? most : dice % (most + 1);
    }
    if (!is_entered(u, place, time, dice)) return 0;
    return u->way == WAY_ONE && o->depth > 1 ? 1 : u->way == WAY_DICE ? 1 + dice / 3 % most : most;
}

/* The block of an `if` that is taken; SYNC_NONE: an absent one. */
static uint32_t choose_side(unroller *u, uint32_t place)
{
    const sync_op *o = &u->m->ops[place];
    const uint32_t dice = mix(o->control * 31 + u->choice, u->counter++), time = u->times[place]++;
    uint32_t side = dice % 2;
    if (u->first != NULL) {
        const uint8_t sides = u->first[place] | u->second[place];
        if (sides == 3 && u->first[place] != u->second[place])
            side = (u->way == WAY_APART ? time != 0 : time % 2) ^ (u->first[place] == 2);
        else if (sides == 3)
            side = dice % 2;
        else if (sides != 0)
            side = (sides == 2) ^ !is_entered(u, place, time, dice);
        else if (o->first[1] == SYNC_NONE)
            side = 1;
    }
    return o->first[side] == SYNC_NONE ? SYNC_NONE : side;
}

static void enter(unroller *u, uint32_t place)
{
    const sync_op *o = &u->m->ops[place];
    if (o->role == SYNC_IF) {
        const uint32_t side = choose_side(u, place);
        if (side != SYNC_NONE) push(u, place, side, 1, 0, 0);
        return;
    }
    const uint32_t trips = choose_trips(u, place);
    int64_t from = 0, step = 1;
    if (trips == 0) return;
    if (o->role == SYNC_FOR && !evaluate(u, pto_expr_of(o->op, "from", 0), &from)) from = 0;
    if (o->role == SYNC_FOR && !evaluate(u, pto_expr_of(o->op, "step", 0), &step)) step = 1;
    push(u, place, o->role == SYNC_WHILE ? 1 : 0, trips, from, step);
}

static pto_status visit(unroller *u, uint32_t place)
{
    const sync_op *o = &u->m->ops[place];
    for (uint32_t i = u->gap_start[place]; i < u->gap_start[place + 1]; i++) add_gap_steps(u, &u->gaps[i]);
    if (u->t->count > TRACE_STEPS_MOST)
        return pto_error(o->op, "pto.synchronize/too-large",
                         "the loops of the kernel unroll to more than %d instructions with %u trips each",
                         TRACE_STEPS_MOST, u->trips_most);
    if (o->role == SYNC_INSN)
        add_insn(u, place);
    else if (o->role == SYNC_SET || o->role == SYNC_WAIT)
        return add_text_flag(u, place);
    else if (o->role == SYNC_BARRIER && o->pipe == PTO_PIPE_ALL)
        add_step(u, (trace_step){.kind = STEP_ALL, .pipe = PTO_PIPE_ALL, .op = place, .flag = SYNC_NONE});
    else if (o->role == SYNC_FOR || o->role == SYNC_IF || o->role == SYNC_WHILE)
        enter(u, place);
    return PTO_OK;
}

static pto_status unroll(unroller *u)
{
    push(u, 0, 0, 1, 0, 0);
    while (u->depth > 0) {
        frame *f = &u->frames[u->depth - 1];
        if (f->at != SYNC_NONE) {
            const uint32_t place = f->at;
            f->at = u->m->ops[place].next;
            PTO_TRY(visit(u, place));
            continue;
        }
        u->version++;
        if (++f->trip == f->trips) {
            u->depth--;
            continue;
        }
        f->value += f->step;
        f->at = u->m->ops[f->op].first[u->m->ops[f->op].role == SYNC_WHILE ? 1 : 0];
    }
    return PTO_OK;
}

static void sort_by_pipe(const sync_model *m, trace *t)
{
    for (uint32_t p = 0; p < PTO_PIPE_COUNT; p++) t->order[p] = PTO_SCRATCH(m->run, uint32_t, t->count + 1);
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t pipe = t->steps[i].pipe;
        for (uint32_t p = 1; p < PTO_PIPE_ALL; p++) {
            if (pipe == p || pipe == PTO_PIPE_ALL) t->order[p][t->length[p]++] = i;
        }
    }
}

/* Trips that keep a trace short, but enough for a stage to come round again, twice where there is room. */
static uint32_t trips_for(const sync_model *m)
{
    const uint32_t stages = (uint32_t)(m->stages_most < 8 ? m->stages_most : 8);
    uint32_t trips = stages * 2 + 1;
    for (; trips > stages + 1; trips--) {
        uint64_t steps = 0;
        for (uint32_t i = 1; i < m->count && steps <= TRACE_STEPS_WANTED; i++) {
            uint64_t times = 1;
            for (uint32_t p = m->ops[i].parent; p != 0 && times <= TRACE_STEPS_WANTED; p = m->ops[p].parent)
                times *= sync_is_loop(m, p) ? trips : 1;
            if (m->ops[i].role != SYNC_OTHER) steps += times;
        }
        if (steps <= TRACE_STEPS_WANTED) break;
    }
    return trips;
}

/* ---- all traces ---- */

static pto_status add_trace(unroller *u, sync_traces *all)
{
    const sync_model *m = u->m;
    all->traces = (trace *)grow(m->run, all->traces, all->count, all->count + 1, &all->room, sizeof *all->traces);
    u->t = &all->traces[all->count++];
    memset(u->t, 0, sizeof *u->t);
    u->depth = u->counter = 0;
    memset(u->times, 0, m->count * sizeof *u->times);
    memset(u->known, 0, sizeof u->known);
    PTO_TRY(unroll(u));
    sort_by_pipe(m, u->t);
    return PTO_OK;
}

/* Marks the blocks around an instruction. */
static void mark_around(const sync_model *m, uint32_t place, uint8_t *marks)
{
    memset(marks, 0, m->count);
    for (; place != 0; place = m->ops[place].parent)
        marks[m->ops[place].parent] = (uint8_t)(1u << (m->ops[place].block & 1u));
}

typedef struct block_pair {
    uint32_t first_op, second_op;
    uint32_t first_block, second_block;
} block_pair;

static block_pair blocks_of(const sync_model *m, const sync_pair *p)
{
    const sync_op *x = &m->ops[p->first], *y = &m->ops[p->second];
    return (block_pair){x->parent, y->parent, x->block, y->block};
}

/* Traces for each two blocks in which instructions of a pair stand. */
static pto_status add_block_traces(unroller *u, sync_traces *all)
{
    const sync_model *m = u->m;
    uint8_t *first = PTO_SCRATCH(m->run, uint8_t, m->count), *second = PTO_SCRATCH(m->run, uint8_t, m->count);
    block_pair *seen = PTO_SCRATCH(m->run, block_pair, m->pair_count + 1);
    uint32_t seen_count = 0;
    uint64_t steps = 0;
    u->first = first;
    u->second = second;
    for (uint32_t i = 0; i < m->pair_count; i++) {
        seen[seen_count] = blocks_of(m, &m->pairs[i]);
        uint32_t k = 0;
        while (memcmp(&seen[k], &seen[seen_count], sizeof *seen) != 0) k++;
        if (k < seen_count) continue;
        seen_count++;
        mark_around(m, m->pairs[i].first, first);
        mark_around(m, m->pairs[i].second, second);
        for (u->way = WAY_MOST; u->way < WAY_COUNT; u->way++) {
            u->choice = all->count;
            PTO_TRY(add_trace(u, all));
            steps += u->t->count;
        }
        all->is_partial = steps > TRACE_STEPS_IN_ALL;
        if (all->is_partial) break;
    }
    return PTO_OK;
}

static void make_room(sync_traces *all)
{
    const sync_model *m = all->m;
    uint32_t steps = 0, sets = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->traces[i].count > steps) steps = all->traces[i].count;
        if (all->traces[i].set_count > sets) sets = all->traces[i].set_count;
    }
    all->event_count = (all->flag_count + PTO_PIPE_COUNT * PTO_PIPE_COUNT) * SYNC_EVENTS_MAX;
    all->events = PTO_SCRATCH(m->run, event_state, all->event_count);
    all->tokens = PTO_SCRATCH(m->run, token, sets + 1);
    all->scalar = PTO_SCRATCH(m->run, vector_clock, steps + 1);
    all->latest = PTO_SCRATCH(m->run, uint32_t, m->count);
}

pto_status sync_traces_make(const sync_model *m, const sync_flag *flags, uint32_t flag_count, sync_traces **out)
{
    sync_traces *all = PTO_SCRATCH(m->run, sync_traces, 1);
    sync_gap *gaps = NULL;
    *out = all;
    all->m = m;
    all->flags = flags;
    all->flag_count = flag_count;
    const uint32_t gap_count = sync_list_gaps(m, flags, flag_count, 1, &gaps);
    uint32_t *gap_start = PTO_SCRATCH(m->run, uint32_t, m->count + 1);
    for (uint32_t i = 0; i < gap_count; i++) gap_start[gaps[i].before + 1]++;
    for (uint32_t i = 0; i < m->count; i++) gap_start[i + 1] += gap_start[i];
    unroller u = {.m = m, .all = all, .trips_most = trips_for(m), .gaps = gaps, .gap_start = gap_start};
    u.times = PTO_SCRATCH(m->run, uint32_t, m->count);
    for (u.choice = 0; u.choice < TRACE_FREE; u.choice++) PTO_TRY(add_trace(&u, all));
    PTO_TRY(add_block_traces(&u, all));
    make_room(all);
    return PTO_OK;
}
