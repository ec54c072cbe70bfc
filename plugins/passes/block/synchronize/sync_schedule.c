#include "sync_schedule.h"

/* ---- where flags are ---- */

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
        if (f->is_barrier) {
            add_gap(gaps, &n, f->wait, i, SYNC_PART_BARRIER);
            if (f->around != SYNC_NONE) add_gap(gaps, &n, m->ops[f->until].at->next, i, SYNC_PART_BARRIER);
            continue;
        }
        add_gap(gaps, &n, m->ops[f->set].at->next, i, SYNC_PART_SET);
        if (f->around != SYNC_NONE && f->host == i) {
            add_gap(gaps, &n, f->around, i, SYNC_PART_FIRST_SETS);
            add_gap(gaps, &n, m->ops[f->until].at->next, i, SYNC_PART_LAST_WAITS);
        }
        add_gap(gaps, &n, f->wait, i, SYNC_PART_WAIT);
    }
    *out = PTO_SCRATCH(m->run, sync_gap, n + 1);
    sort_gaps(m, gaps, n, *out);
    return n;
}

/* ---- steps ---- */

typedef struct frame {
    uint32_t op, block, at;
    uint32_t trip, trips;
    uint32_t kept; /* SYNC_NONE: all trips are laid out one after the other */
} frame;

typedef struct layout {
    sync_flow *f;
    const sync_gap *gaps;
    uint32_t *gap_start; /* by op */
    uint32_t *residues;
    frame frames[SYNC_DEPTH_MAX + 2];
    uint32_t depth;
} layout;

static void add_step(sync_flow *f, flow_step step)
{
    PTO_GROW(f->m->run, f->steps, f->step_count, f->step_capacity);
    f->steps[f->step_count++] = step;
}

static void add_mark(sync_flow *f, flow_kind kind, uint32_t op, uint32_t at)
{
    add_step(f, (flow_step){.kind = kind, .pipe = SYNC_ALL_PIPES, .op = op, .flag = SYNC_NONE, .at = at});
}

static int64_t stage_of(const layout *l, const sync_access *a)
{
    int64_t stage = SYNC_ANY_STAGE;
    if (a->space == PTO_SPACE_NONE || a->cycle == SYNC_NONE || !sync_cycle_at(l->f->m, a->cycle, l->residues, &stage) ||
        stage < 0 || stage >= a->stages)
        return SYNC_ANY_STAGE;
    return stage;
}

/* The class of an instruction at the present residues. */
static uint32_t class_of(layout *l, uint32_t place)
{
    sync_flow *f = l->f;
    const sync_op *o = &f->m->ops[place];
    const uint32_t from = f->stage_count;
    for (uint32_t i = 0; i < o->access_count; i++) {
        PTO_GROW(f->m->run, f->stages, f->stage_count, f->stage_capacity);
        f->stages[f->stage_count++] = stage_of(l, &f->m->accesses[o->access + i]);
    }
    for (uint32_t c = f->class_of[place]; c != SYNC_NONE; c = f->classes[c].next) {
        const size_t bytes = o->access_count * sizeof *f->stages;
        if (bytes != 0 && memcmp(&f->stages[f->classes[c].stages], &f->stages[from], bytes) != 0) continue;
        f->stage_count = from;
        return c;
    }
    PTO_GROW(f->m->run, f->classes, f->class_count, f->class_capacity);
    f->classes[f->class_count] = (flow_class){.op = place, .next = f->class_of[place], .stages = from};
    f->class_of[place] = f->class_count;
    return f->class_count++;
}

static void add_gap_steps(layout *l, const sync_gap *g)
{
    const sync_flag *flag = &l->f->flags[g->flag];
    const int is_set = g->part == SYNC_PART_SET || g->part == SYNC_PART_FIRST_SETS;
    if (g->part == SYNC_PART_BARRIER) {
        const int is_own = flag->src == flag->dst;
        add_step(l->f, (flow_step){.kind = is_own ? FLOW_OWN : FLOW_ALL,
                                   .pipe = is_own ? flag->src : SYNC_ALL_PIPES,
                                   .op = SYNC_NONE,
                                   .flag = g->flag});
        return;
    }
    flow_step s = {.kind = is_set ? FLOW_SET : FLOW_WAIT,
                   .pipe = is_set ? flag->src : flag->dst,
                   .op = SYNC_NONE,
                   .flag = g->flag};
    if (g->part == SYNC_PART_FIRST_SETS || g->part == SYNC_PART_LAST_WAITS) {
        for (; s.at < (uint32_t)flag->stages; s.at++) add_step(l->f, s);
        return;
    }
    int64_t stage = 0;
    if (flag->stages > 1 && sync_cycle_at(l->f->m, flag->cycle, l->residues, &stage)) s.at = (uint32_t)stage;
    add_step(l->f, s);
}

static uint32_t event_of_text(sync_flow *f, const sync_op *o, uint32_t id)
{
    uint32_t i = 0;
    while (i < f->event_count &&
           (f->events[i].src != o->pipe || f->events[i].dst != o->dst_pipe || f->events[i].id != id))
        i++;
    if (i == f->event_count) {
        PTO_GROW(f->m->run, f->events, i, f->event_capacity);
        f->events[f->event_count++] = (flow_event){o->pipe, o->dst_pipe, id};
    }
    return i;
}

static pto_status add_text_flag(layout *l, uint32_t place)
{
    const sync_op *o = &l->f->m->ops[place];
    const int is_set = o->role == SYNC_SET;
    int64_t event = 0;
    if (!sync_cycle_at(l->f->m, o->cycle, l->residues, &event) || event < 0 || event >= SYNC_EVENTS_MAX)
        return pto_error(o->at->op, "pto.synchronize/unknown-event",
                         "the event id is not known to be one of 0 .. %d from indices and symbols",
                         SYNC_EVENTS_MAX - 1);
    add_step(l->f, (flow_step){.kind = is_set ? FLOW_SET : FLOW_WAIT,
                               .pipe = is_set ? o->pipe : o->dst_pipe,
                               .op = place,
                               .flag = SYNC_NONE,
                               .at = event_of_text(l->f, o, (uint32_t)event)});
    if (!is_set && o->dst_pipe == l->f->m->scalar) add_mark(l->f, FLOW_SCALAR, place, 0);
    return PTO_OK;
}

/* ---- control ---- */

static void push(layout *l, frame top)
{
    top.at = l->f->m->ops[top.op].at->first[top.block];
    l->frames[l->depth++] = top;
}

static void begin_trip(layout *l, const frame *top)
{
    const sync_op *o = &l->f->m->ops[top->op];
    l->residues[top->op] = top->trip;
    if (top->kept != SYNC_NONE && !o->has_trip) add_mark(l->f, FLOW_LEAVE, top->op, 0);
    if (l->f->is_aged[top->op]) add_mark(l->f, FLOW_TRIP, top->op, 0);
}

static void enter(layout *l, uint32_t place)
{
    const sync_op *o = &l->f->m->ops[place];
    if (o->role == SYNC_IF) {
        add_mark(l->f, FLOW_IF, place, 0);
        push(l, (frame){.op = place, .trips = 1, .kept = SYNC_NONE});
        return;
    }
    const uint32_t trips = sync_trips(l->f->m, place);
    if (trips == 0) return;
    const uint32_t kept = o->is_counted ? SYNC_NONE : l->f->kept_count++;
    if (kept != SYNC_NONE) add_mark(l->f, FLOW_LOOP, place, kept);
    push(l, (frame){.op = place, .block = o->role == SYNC_WHILE ? 1 : 0, .trips = trips, .kept = kept});
    begin_trip(l, &l->frames[l->depth - 1]);
}

/* The end of a block. */
static void leave(layout *l)
{
    frame *top = &l->frames[l->depth - 1];
    const sync_op *o = &l->f->m->ops[top->op];
    if (o->role == SYNC_IF) {
        add_mark(l->f, top->block == 0 ? FLOW_ELSE : FLOW_END, top->op, 0);
        top->at = top->block == 0 ? o->at->first[1] : SYNC_NONE;
        if (top->block++ != 0) l->depth--;
        return;
    }
    if (top->kept != SYNC_NONE && o->has_trip) add_mark(l->f, FLOW_LEAVE, top->op, 0);
    if (++top->trip < top->trips) {
        begin_trip(l, top);
        top->at = o->at->first[top->block];
        return;
    }
    if (top->kept != SYNC_NONE) {
        add_mark(l->f, FLOW_AGAIN, top->op, top->kept);
        add_mark(l->f, FLOW_BEHIND, top->op, 0);
    }
    l->depth--;
}

static pto_status visit(layout *l, uint32_t place)
{
    const sync_op *o = &l->f->m->ops[place];
    for (uint32_t i = l->gap_start[place]; i < l->gap_start[place + 1]; i++) add_gap_steps(l, &l->gaps[i]);
    if (o->role == SYNC_INSN)
        add_step(l->f, (flow_step){.kind = FLOW_INSN, .pipe = o->pipe, .op = place, .at = class_of(l, place)});
    else if (o->role == SYNC_SET || o->role == SYNC_WAIT)
        return add_text_flag(l, place);
    else if (o->role == SYNC_BARRIER)
        add_step(l->f, (flow_step){.kind = o->pipe == SYNC_ALL_PIPES ? FLOW_ALL : FLOW_OWN,
                                   .pipe = o->pipe,
                                   .op = place,
                                   .flag = SYNC_NONE});
    else if (o->role == SYNC_FOR || o->role == SYNC_IF || o->role == SYNC_WHILE)
        enter(l, place);
    return PTO_OK;
}

/* Appends the steps; classes and events of the text are made on the way. `residues`: by variable, those of invariants
 * filled in. */
static pto_status sync_lay_out(sync_flow *f, const sync_gap *gaps, uint32_t gap_count, uint32_t *residues)
{
    const sync_model *m = f->m;
    layout l = {.f = f, .gaps = gaps, .residues = residues};
    l.gap_start = PTO_SCRATCH(m->run, uint32_t, m->count + 1);
    for (uint32_t i = 0; i < gap_count; i++) l.gap_start[gaps[i].before + 1]++;
    for (uint32_t i = 0; i < m->count; i++) l.gap_start[i + 1] += l.gap_start[i];
    f->class_of = PTO_SCRATCH(m->run, uint32_t, m->count);
    for (uint32_t i = 0; i < m->count; i++) f->class_of[i] = SYNC_NONE;
    push(&l, (frame){.trips = 1, .kept = SYNC_NONE});
    while (l.depth > 0) {
        frame *top = &l.frames[l.depth - 1];
        if (top->at == SYNC_NONE) {
            leave(&l);
            continue;
        }
        const uint32_t place = top->at;
        top->at = m->ops[place].at->next;
        PTO_TRY(visit(&l, place));
    }
    return PTO_OK;
}

/* ---- making ---- */

/* Rows of the events: those of flags are made before the layout, those of the text after it. Then those of pipes whose
 * instructions overlap. */
static void number_rows(sync_flow *f, int with)
{
    f->first_row = PTO_SCRATCH(f->m->run, uint32_t, f->flag_count + 1);
    f->text_row = f->m->pipe_end;
    for (uint32_t i = 0; i < f->flag_count; i++) {
        f->first_row[i] = f->text_row;
        f->text_row += (uint32_t)f->flags[i].stages;
    }
    f->row_count = f->text_row + f->event_count;
    for (uint32_t p = 1; with == SYNC_WITH_OWN && p < f->m->pipe_end; p++)
        if (f->m->overlaps[p]) f->own_row[p] = f->row_count++;
}

static void make_space(sync_flow *f)
{
    for (uint32_t i = 0; i < f->m->count; i++)
        if (f->m->ops[i].at->depth > f->depth) f->depth = f->m->ops[i].at->depth;
    const size_t size = (size_t)f->row_count * f->word_count + f->row_count - f->m->pipe_end;
    f->states = PTO_SCRATCH(f->m->run, uint64_t, size *(f->kept_count + 1 + f->depth * 2));
    f->is_kept = PTO_SCRATCH(f->m->run, int, f->kept_count + 1);
}

/* The next values of the invariants; 0 when there are none. */
static int next_values(const sync_model *m, uint32_t *residues)
{
    for (uint32_t i = 0; i < m->cycles->invariant_count; i++) {
        if (++residues[m->count + i] < m->invariant_periods[i]) return 1;
        residues[m->count + i] = 0;
    }
    return 0;
}

pto_status sync_flow_make(const sync_model *m, const sync_flag *flags, uint32_t flag_count, int with, sync_flow **out)
{
    uint32_t *residues = PTO_SCRATCH(m->run, uint32_t, m->count + m->cycles->invariant_count);
    sync_gap *gaps = NULL;
    const uint32_t gap_count = sync_list_gaps(m, flags, flag_count, 1, &gaps);
    do {
        sync_flow *f = PTO_SCRATCH(m->run, sync_flow, 1);
        f->m = m;
        f->flags = flags;
        f->flag_count = flag_count;
        sync_find_ages(f);
        PTO_TRY(sync_lay_out(f, gaps, gap_count, residues));
        number_rows(f, with);
        sync_find_needs(f, with);
        make_space(f);
        *out = f;
        out = &f->next;
    } while (next_values(m, residues));
    return PTO_OK;
}

uint64_t sync_flow_cost(const sync_flow *f)
{
    uint64_t cost = 0;
    for (; f != NULL; f = f->next)
        cost += (uint64_t)f->step_count * (f->row_count + f->word_count) +
                (uint64_t)f->kept_count * 4 * f->row_count * f->word_count;
    return cost;
}
