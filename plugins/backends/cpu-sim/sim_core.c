/* A core: the scalar unit that issues, and the life of an instance. */
#include "cpu-sim/sim.h"

#include <inttypes.h>

pto_counter pipe_state_counter(uint32_t state)
{
    static const uint8_t counters[PIPE_STATES] = {
        [PIPE_BUSY] = PTO_COUNTER_BUSY,
        [PIPE_LATENCY] = PTO_COUNTER_LATENCY,
        [PIPE_SHARED] = PTO_COUNTER_SHARED_BANDWIDTH,
        [PIPE_FLAG] = PTO_COUNTER_FLAG,
        [PIPE_RESULT] = PTO_COUNTER_RESULT,
        [PIPE_BARRIER] = PTO_COUNTER_BARRIER,
        [PIPE_EMPTY] = PTO_COUNTER_QUEUE_EMPTY,
        [PIPE_FULL] = PTO_COUNTER_QUEUE_FULL,
        [PIPE_LAUNCH] = PTO_COUNTER_LAUNCH,
    };
    return (pto_counter)counters[state];
}

static sim_pipe *scalar_of(sim_core *c) { return &c->pipes[SCALAR_PIPE]; }

void core_init(sim *s, sim_core *c)
{
    history_init(s->run, &c->history);
    for (uint32_t p = SCALAR_PIPE; p < c->kind->pipe_end; p++)
        c->history.overlaps[p] = c->kind->barriers[p] == MACHINE_BARRIERS_NEEDED;
    for (uint32_t p = SCALAR_PIPE; p < c->kind->pipe_end; p++) c->pipes[p].state = PIPE_LAUNCH;
}

/* Queues and memory, when the core gets its first instance. */
static void furnish(sim *s, sim_core *c)
{
    if (c->events != NULL) return;
    c->events = PTO_SCRATCH(s->run, sim_event, c->kind->pipe_end * c->kind->pipe_end * PROGRAM_EVENTS_MAX);
    for (uint32_t p = SCALAR_PIPE; p < c->kind->pipe_end; p++) {
        c->pipes[p].ring = PTO_SCRATCH(s->run, sim_entry, s->options.queue_depth);
        if (s->options.has_data) c->pipes[p].calls = PTO_SCRATCH(s->run, insn_call, s->options.queue_depth);
    }
    for (pto_space m = 1; s->options.has_data && m < PTO_NAMES_MAX; m++) {
        const int64_t bytes = c->kind->space_bytes[m];
        if (bytes > 0) c->memory[m] = pto_scratch(s->run, (size_t)bytes);
    }
}

void core_take(sim *s, sim_core *c, sim_launch *l, int64_t instance, int64_t at)
{
    c->launch = l;
    c->instance = instance;
    c->is_begun = false;
    event_queue_set(&s->queue, pipe_actor(c, NO_PIPE), at);
}

static pto_status begin(sim *s, sim_core *c)
{
    const sim_launch *l = c->launch;
    const program *p = l->kernel->p;
    program_frame frame = {.symbols = l->symbols, .arguments = l->arguments, .grid = c->grid};
    furnish(s, c);
    int64_t rest = c->instance;
    for (uint32_t i = p->grid_rank; i-- > 0;) {
        c->grid[i] = rest % l->extents[i];
        rest /= l->extents[i];
    }
    memcpy(frame.memory, c->memory, sizeof frame.memory);
    memcpy(frame.memory_bytes, c->kind->space_bytes, sizeof frame.memory_bytes);
    if (c->state_of != p) {
        c->state = program_state_make(p);
        c->state_of = p;
    }
    PTO_TRY(program_start(c->state, &frame));
    history_clear(&c->history);
    for (uint32_t i = SCALAR_PIPE; i < c->kind->pipe_end; i++) {
        sim_pipe *q = &c->pipes[i];
        q->clock = (vector_clock){{0}};
        q->over = c->history.overlaps[i] ? 0 : UINT32_MAX;
        q->result = (byte_access){0};
        q->idle_from = q->result_at = q->settled = s->now - 1;
        pipe_set_state(q, i == SCALAR_PIPE ? PIPE_BUSY : PIPE_EMPTY, s->now);
    }
    c->is_begun = true;
    c->pad_count = 0;
    c->has_step = c->has_ended = false;
    c->begun = c->scalar_time = s->now;
    c->scalar_clock = NULL;
    return core_issue(s, c);
}

/* ---- the end of an instance ---- */

static pto_status end_instance(sim *s, sim_core *c)
{
    core_discard_tokens(s, c);
    PTO_TRY(report_overlap(c));
    PTO_TRY(report_blank(c));
    for (uint32_t i = SCALAR_PIPE; i < c->kind->pipe_end; i++) pipe_set_state(&c->pipes[i], PIPE_LAUNCH, s->now);
    if (s->options.has_timing)
        trace_slice(s, &(sim_slice){.site = c->launch->kernel->p->self,
                                    .from = c->begun,
                                    .to = s->now,
                                    .core = c->number,
                                    .pipe = SCALAR_PIPE,
                                    .instance = c->instance});
    return chip_instance_done(s, c);
}

/* When the queues are empty and the results there; INT64_MAX: a queue is not empty. */
static int64_t drained_at(const sim *s, const sim_core *c)
{
    int64_t at = s->now;
    for (uint32_t i = SCALAR_PIPE + 1; i < c->kind->pipe_end; i++) {
        if (c->pipes[i].count) return INT64_MAX;
        if (c->pipes[i].settled > at) at = c->pipes[i].settled;
    }
    return at;
}

static pto_status try_end(sim *s, sim_core *c)
{
    int64_t at = drained_at(s, c);
    if (at == INT64_MAX) return PTO_OK;
    if (c->scalar_time > at) at = c->scalar_time;
    if (at <= s->now) return end_instance(s, c);
    event_queue_set(&s->queue, pipe_actor(c, SCALAR_PIPE), at);
    return PTO_OK;
}

/* ---- issuing ---- */

/* The scalar unit stops at its own time. */
static void block(sim_core *c, pipe_state state)
{
    sim_pipe *p = scalar_of(c);
    if (p->state != state) pipe_set_state(p, state, c->scalar_time);
}

/* It goes on, from s->now when it had to wait, and is busy for `cycles`. */
static void pass(sim *s, sim_core *c, int64_t cycles)
{
    sim_pipe *p = scalar_of(c);
    if (p->state != PIPE_BUSY) {
        if (c->scalar_time < s->now) c->scalar_time = s->now;
        pipe_set_state(p, PIPE_BUSY, c->scalar_time);
    }
    c->scalar_time += cycles;
    c->has_step = false;
}

static void set_scalar_clock(sim *s, sim_core *c, const vector_clock *clock)
{
    vector_clock *snapshot = PTO_SCRATCH(s->run, vector_clock, 1);
    *snapshot = *clock;
    c->scalar_clock = snapshot;
}

static pto_status pipe_missing(const sim *s, const sim_core *c, pto_pipe pipe)
{
    return pto_error(c->step.site->op, "pto.cpu-sim/no-path", "`%.*s` names pipe `%.*s`; a core of kind `%s` has none",
                     PTO_FMT(c->step.site->op_name), PTO_FMT(pto_pipe_name(s->run, pipe)), c->kind->name);
}

static pto_status cannot_execute(const sim_core *c)
{
    return pto_error(c->step.site->op, "pto.cpu-sim/unsupported", "`%.*s` cannot be executed inside of a kernel",
                     PTO_FMT(c->step.site->op_name));
}

static pto_status check_flag(sim *s, const sim_core *c)
{
    const program_step *t = &c->step;
    if (c->step_pipe == NO_PIPE) return pipe_missing(s, c, t->pipe);
    if (c->step_dst == NO_PIPE) return pipe_missing(s, c, t->dst_pipe);
    if ((int64_t)t->event < s->machine->event_ids) return PTO_OK;
    return pto_error(t->site->op, "pto.cpu-sim/event",
                     "event id %" PRIu32 " of %s -> %s; machine `%s` has ids 0 to %" PRId64, t->event,
                     c->kind->pipe_names[c->step_pipe], c->kind->pipe_names[c->step_dst], s->machine->name,
                     s->machine->event_ids - 1);
}

static void wait_for_token(sim *s, sim_core *c)
{
    const program_step *t = &c->step;
    sim_pipe *p = scalar_of(c);
    if (!event_take(c, core_event(c, c->step_pipe, SCALAR_PIPE, t->event), &p->clock)) {
        block(c, PIPE_FLAG);
        return;
    }
    set_scalar_clock(s, c, &p->clock);
    pass(s, c, s->machine->flag_cycles);
}

/* A barrier of all pipes, or of the scalar unit, which does not wait for itself. */
static void wait_for_pipes(sim *s, sim_core *c)
{
    const bool is_all = c->step.pipe == PTO_PIPE_ALL;
    sim_pipe *p = scalar_of(c);
    const int64_t at = is_all ? drained_at(s, c) : s->now;
    if (at > s->now) {
        block(c, PIPE_BARRIER);
        if (at != INT64_MAX) event_queue_set(&s->queue, pipe_actor(c, SCALAR_PIPE), at);
        return;
    }
    for (uint32_t i = 1; is_all && i < c->kind->pipe_end; i++) clock_join(&p->clock, &c->pipes[i].clock);
    set_scalar_clock(s, c, &p->clock);
    pass(s, c, s->machine->barrier_cycles);
}

/* A pipe that the core has not: what it lacks may be the path. */
static pto_status check_insn(sim *s, const sim_core *c)
{
    const program_step *t = &c->step;
    site_charge ignored;
    if (c->step_pipe != NO_PIPE) return PTO_OK;
    PTO_TRY(sim_charge_site(s->machine, c->launch->kernel->p, t, &ignored));
    return pipe_missing(s, c, t->pipe);
}

/* An instruction that the machine file assigns to the scalar unit, which issues nothing until that has ended. It goes
 * through the queue of the pipe as on every other one: the same cost, checks and effects. */
static pto_status run_on_scalar(sim *s, sim_core *c)
{
    pto_status status = PTO_OK;
    if (program_wants_scalar(&c->step) && !s->options.has_data)
        return pto_error(c->step.site->op, "pto.cpu-sim/no-data",
                         "`%.*s` in @%s decides what comes next, and no data is simulated; leave `data: none` out",
                         PTO_FMT(c->step.site->op_name), c->step.site->function);
    c->has_step = !pipe_append(s, c, SCALAR_PIPE, s->now, &status);
    return status;
}

/* Ops of the scalar unit itself. They take place at its own time, which may still have to come. */
static pto_status do_scalar(sim *s, sim_core *c)
{
    const program_step *t = &c->step;
    if (c->scalar_time > s->now) {
        event_queue_set(&s->queue, pipe_actor(c, SCALAR_PIPE), c->scalar_time);
        return PTO_OK;
    }
    switch (t->kind) {
    case STEP_SET_FLAG:
        event_put(s, c, core_event(c, SCALAR_PIPE, c->step_dst, t->event), t->site, &scalar_of(c)->clock);
        if (c->pipes[c->step_dst].state == PIPE_FLAG) event_queue_set(&s->queue, pipe_actor(c, c->step_dst), s->now);
        pass(s, c, s->machine->flag_cycles);
        return PTO_OK;
    case STEP_WAIT_FLAG: wait_for_token(s, c); return PTO_OK;
    case STEP_BARRIER: wait_for_pipes(s, c); return PTO_OK;
    case STEP_INSN: return run_on_scalar(s, c);
    case STEP_END:
    case STEP_READ:
    case STEP_DEBUG:
    case STEP_LAUNCH:
    case STEP_ALLOC:
    case STEP_FREE: break;
    }
    return cannot_execute(c);
}

/* One step; it stays in c->step when it cannot be issued yet. */
static pto_status issue_step(sim *s, sim_core *c)
{
    const program_step *t = &c->step;
    const uint32_t pipe = t->kind == STEP_WAIT_FLAG ? c->step_dst : c->step_pipe;
    const bool is_all = t->kind == STEP_BARRIER && t->pipe == PTO_PIPE_ALL;
    pto_status status = PTO_OK;
    switch (t->kind) {
    case STEP_END:
        c->has_ended = true;
        c->has_step = false;
        block(c, PIPE_EMPTY);
        return try_end(s, c);
    case STEP_SET_FLAG:
    case STEP_WAIT_FLAG: PTO_TRY(check_flag(s, c)); break;
    case STEP_BARRIER:
        if (!is_all && pipe == NO_PIPE) return pipe_missing(s, c, t->pipe);
        if (!is_all && c->kind->barriers[pipe] == MACHINE_BARRIERS_FORBIDDEN) return report_barrier(s, c);
        break;
    case STEP_INSN: PTO_TRY(check_insn(s, c)); break;
    case STEP_READ:
    case STEP_DEBUG:
    case STEP_LAUNCH:
    case STEP_ALLOC:
    case STEP_FREE: return cannot_execute(c);
    }
    if (pipe == SCALAR_PIPE || is_all) return do_scalar(s, c);
    const int64_t at = scalar_of(c)->state != PIPE_BUSY && c->scalar_time < s->now ? s->now : c->scalar_time;
    if (!pipe_append(s, c, pipe, at + 1, &status)) {
        block(c, PIPE_FULL);
        return PTO_OK;
    }
    pass(s, c, 1);
    return status;
}

pto_status core_issue(sim *s, sim_core *c)
{
    if (c->launch == NULL || !c->is_begun || scalar_of(c)->count != 0) return PTO_OK;
    if (c->has_ended) return try_end(s, c);
    for (;;) {
        if (!c->has_step) {
            PTO_TRY(program_next(c->state, &c->step));
            c->has_step = true;
            c->step_pipe = sim_pipe_number(c->kind, c->step.pipe);
            c->step_dst = sim_pipe_number(c->kind, c->step.dst_pipe);
            if (c->step.kind != STEP_END) s->ops++;
            if (c->launch->kernel->is_dropped[c->step.site->index]) {
                c->has_step = false;
                continue;
            }
        }
        PTO_TRY(issue_step(s, c));
        if (c->has_step || c->has_ended || scalar_of(c)->count != 0) return PTO_OK;
    }
}

pto_status core_wake(sim *s, sim_core *c, uint32_t pipe)
{
    if (pipe == NO_PIPE) return begin(s, c);
    return pipe == SCALAR_PIPE && scalar_of(c)->count == 0 ? core_issue(s, c) : pipe_wake(s, c, pipe);
}
