/* A pipe of a core: its queue, its entries one after the other, their checks and effects. */
#include "cpu-sim/sim.h"

#include "debug_values.h"

#include <inttypes.h>

/* ---- states ---- */

void pipe_set_state(sim_pipe *p, pipe_state state, int64_t now)
{
    p->ticks[p->state] += now - p->since;
    p->since = now;
    p->state = state;
}

/* ---- events ---- */

sim_event *core_event(sim_core *c, uint32_t src, uint32_t dst, uint32_t id)
{
    return &c->events[(src * c->kind->pipe_end + dst) * PROGRAM_EVENTS_MAX + id];
}

void event_put(sim *s, sim_core *c, sim_event *e, const program_site *site, const vector_clock *clock)
{
    sim_token *t = c->free_tokens;
    if (t != NULL)
        c->free_tokens = t->next;
    else
        t = PTO_SCRATCH(s->run, sim_token, 1);
    *t = (sim_token){NULL, site, *clock};
    if (e->last != NULL)
        e->last->next = t;
    else
        e->first = t;
    e->last = t;
    c->token_count++;
}

bool event_take(sim_core *c, sim_event *e, vector_clock *into)
{
    sim_token *t = e->first;
    if (t == NULL) return false;
    clock_join(into, &t->clock);
    e->first = t->next;
    if (e->first == NULL) e->last = NULL;
    t->next = c->free_tokens;
    c->free_tokens = t;
    c->token_count--;
    return true;
}

static uint32_t count_tokens(const sim_event *e)
{
    uint32_t n = 0;
    for (const sim_token *t = e->first; t != NULL; t = t->next) n++;
    return n;
}

void core_discard_tokens(sim *s, sim_core *c)
{
    vector_clock ignored = {{0}};
    const uint32_t pipes = c->kind->pipe_end;
    for (uint32_t i = 0; c->token_count != 0 && i < pipes * pipes * PROGRAM_EVENTS_MAX; i++) {
        sim_event *e = &c->events[i];
        if (e->first != NULL && s->leftover.set == NULL)
            s->leftover = (sim_leftover){.set = e->first->site,
                                         .kernel = c->launch->kernel->p->name,
                                         .instance = c->instance,
                                         .instances = c->launch->instances,
                                         .src = c->kind->pipe_names[i / PROGRAM_EVENTS_MAX / pipes],
                                         .dst = c->kind->pipe_names[i / PROGRAM_EVENTS_MAX % pipes],
                                         .id = i % PROGRAM_EVENTS_MAX,
                                         .count = count_tokens(e)};
        while (event_take(c, e, &ignored)) {
        }
    }
}

/* ---- appending ---- */

static void add_access(sim_entry *e, const program_tile *t, bool is_write)
{
    e->accesses[e->access_count++] = (byte_access){t->address, t->end, t->buffer, t->ref.space, is_write};
}

/* Where a window lies in its array, as runs of bytes. */
static window_access window_of(const program_step *step, bool is_write)
{
    const gm_window *w = &step->gm;
    const int64_t size = (int64_t)element_bytes(w->dtype);
    const int64_t down = w->transpose ? w->cols : w->rows, along = w->transpose ? w->rows : w->cols;
    window_access a = {.root = step->gm_root, .is_write = is_write, .rows = 1, .row_bytes = size};
    if (w->rows == 0 || w->cols == 0) return (window_access){0};
    for (uint32_t d = 0; d < w->rank; d++) a.first += w->offsets[d] * w->strides[d] * size;
    if (w->rank >= 1) a.row_bytes = ((along - 1) * w->strides[w->rank - 1] + 1) * size;
    if (w->rank >= 2) {
        a.rows = down;
        a.pitch = w->strides[w->rank - 2] * size;
        if (a.pitch == a.row_bytes) {
            a.row_bytes *= a.rows;
            a.rows = 1;
        }
    }
    return a;
}

static pto_status fill_insn(sim *s, sim_core *c, sim_entry *e)
{
    const program_step *step = &c->step;
    site_charge *charge = &c->launch->kernel->charges[step->site->index];
    if (charge->kind == CHARGE_NONE) {
        PTO_TRY(sim_charge_site(s->machine, c->launch->kernel->p, step, charge));
        if (step->site->insn == INSN_TPRINT && !s->options.has_data) report_no_data(step->site);
    }
    sim_charge_insn(s->machine, charge, step, &e->charge);
    e->bytes_per_cycle = charge->bytes_per_cycle;
    PTO_TRY(check_facts(s, c));
    for (uint32_t i = 0; i < step->src_count; i++) add_access(e, step->src[i], false);
    if (step->dst != NULL) {
        add_access(e, step->dst, true);
        if (step->has_pad)
            e->accesses[e->access_count - 1].hi = step->dst->address + (int64_t)tile_capacity_bytes(&step->dst->ref);
    }
    if (step->tmp != NULL) add_access(e, step->tmp, true);
    s->instructions++;
    if (!step->has_gm) return PTO_OK;
    e->root = step->gm_root;
    const bool is_write = step->site->transfer == PTO_TRANSFER_STORE;
    *(is_write ? &s->gm_written : &s->gm_read) += (uint64_t)e->charge.bytes;
    PTO_TRY(check_stated(s, c, step, is_write));
    if (step->gm_parameter == UINT32_MAX || !c->launch->is_written[step->gm_parameter]) return PTO_OK;
    e->window = window_of(step, is_write);
    e->is_shared = c->launch->is_read[step->gm_parameter] || c->launch->kernel->has_two_stores;
    return PTO_OK;
}

bool pipe_append(sim *s, sim_core *c, uint32_t pipe, int64_t at, pto_status *out_status)
{
    sim_pipe *p = &c->pipes[pipe];
    const program_step *step = &c->step;
    *out_status = PTO_OK;
    if (p->count == s->options.queue_depth) return false;
    const uint32_t place = (p->head + p->count) % s->options.queue_depth;
    sim_entry *e = &p->ring[place];
    e->kind = step->kind;
    e->pipe = c->step_pipe;
    e->dst_pipe = c->step_dst;
    e->event = step->event;
    e->access_count = 0;
    e->site = step->site;
    e->scalar = c->scalar_clock;
    e->issued = at;
    e->root = UINT32_MAX;
    e->window.rows = 0;
    if (step->kind == STEP_INSN) {
        *out_status = fill_insn(s, c, e);
        if (s->options.has_data) program_insn_call(step, &p->calls[place]);
    }
    if (p->count++ == 0) event_queue_set(&s->queue, pipe_actor(c, pipe), at > s->now ? at : s->now);
    return true;
}

/* ---- taking entries ---- */

static bool reads_result(const sim_pipe *p, const sim_entry *e)
{
    for (uint32_t i = 0; i < e->access_count; i++) {
        const byte_access *a = &e->accesses[i];
        if (!a->is_write && a->space == p->result.space && a->lo < p->result.hi && p->result.lo < a->hi) return true;
    }
    return false;
}

/* An instruction that writes bytes through one buffer and touches them through another. */
static void find_own_overlap(sim_core *c, const sim_entry *e)
{
    for (uint32_t i = 1; c->history.overlap.reader == NULL && i < e->access_count; i++) {
        const byte_access *a = &e->accesses[i];
        for (uint32_t k = 0; a->is_write && k < i; k++) {
            const byte_access *b = &e->accesses[k];
            const int64_t lo = a->lo > b->lo ? a->lo : b->lo, hi = a->hi < b->hi ? a->hi : b->hi;
            if (a->buffer == b->buffer || a->space != b->space || lo >= hi) continue;
            c->history.overlap = (overlap_read){e->site, e->site, b->buffer, a->buffer, a->space, lo, hi};
        }
    }
}

static pto_status check_accesses(sim_core *c, uint32_t pipe, const sim_entry *e)
{
    sim_pipe *p = &c->pipes[pipe];
    race found;
    const access_by by = {e->site, pipe, ++p->clock.at[pipe], &p->clock, p->over};
    /* What it reads itself would hide what an earlier one read. */
    for (uint32_t i = 0; p->over != UINT32_MAX && i < e->access_count; i++)
        if (history_has_race(&c->history, &e->accesses[i], &by, &found)) return report_race(c, &found);
    for (uint32_t i = 0; i < e->access_count; i++)
        if (!history_touch(&c->history, &e->accesses[i], &by, &found)) return report_race(c, &found);
    find_own_overlap(c, e);
    if (e->window.rows == 0) return PTO_OK;
    int64_t other = 0;
    const claim window = {.window = e->window, .instance = c->instance, .site = e->site, .pipe = pipe};
    if (!claims_add(&c->launch->claims, &window, &found, &other)) return report_instances(c, &found, other);
    if (!e->is_shared) return PTO_OK;
    const vector_clock *clocks[CLOCK_PIPES] = {NULL};
    for (uint32_t i = SCALAR_PIPE; i < c->kind->pipe_end; i++)
        if (i != SCALAR_PIPE || c->launch->kernel->uses_scalar) clocks[i] = &c->pipes[i].clock;
    return history_touch_window(&c->history, &e->window, &by, clocks, &found) ? PTO_OK : report_race(c, &found);
}

static void start(sim *s, sim_pipe *p)
{
    p->is_running = true;
    p->started = s->now;
    pipe_set_state(p, PIPE_BUSY, s->now);
}

static void run_for(sim *s, sim_core *c, uint32_t pipe, int64_t cycles)
{
    start(s, &c->pipes[pipe]);
    event_queue_set(&s->queue, pipe_actor(c, pipe), s->now + cycles);
}

static void wait_until(sim *s, sim_core *c, uint32_t pipe, pipe_state state, int64_t at)
{
    pipe_set_state(&c->pipes[pipe], state, s->now);
    event_queue_set(&s->queue, pipe_actor(c, pipe), at);
}

/* Beside others, if there is more than one. */
static void begin_transfer(sim *s, sim_core *c, uint32_t pipe)
{
    sim_pipe *p = &c->pipes[pipe];
    const sim_entry *e = &p->ring[p->head];
    p->is_in_latency = false;
    if (e->charge.bytes == 0) {
        event_queue_set(&s->queue, pipe_actor(c, pipe), s->now + e->charge.cycles);
        return;
    }
    bandwidth_begin(&s->memory, s->now, e->bytes_per_cycle, (double)e->charge.bytes, pipe_actor(c, pipe));
    const int64_t next = bandwidth_next(&s->memory);
    event_queue_set(&s->queue, memory_actor(s), next > s->now ? next : s->now + 1);
}

static pto_status start_insn(sim *s, sim_core *c, uint32_t pipe, const sim_entry *e)
{
    sim_pipe *p = &c->pipes[pipe];
    if (p->result_at > s->now && reads_result(p, e)) {
        wait_until(s, c, pipe, PIPE_RESULT, p->result_at);
        return PTO_OK;
    }
    PTO_TRY(check_accesses(c, pipe, e));
    const bool was_idle = s->now > p->idle_from && s->now > p->result_at;
    start(s, p);
    p->latency = was_idle ? e->charge.latency : 0;
    if (p->latency > 0) {
        pipe_set_state(p, PIPE_LATENCY, s->now);
        pipe_set_state(p, PIPE_BUSY, s->now + p->latency);
    }
    p->is_in_latency = e->charge.kind == CHARGE_GM && p->latency > 0;
    if (e->charge.kind == CHARGE_GM && !p->is_in_latency) {
        begin_transfer(s, c, pipe);
        return PTO_OK;
    }
    int64_t cycles = p->latency;
    if (e->charge.kind != CHARGE_GM) cycles += e->charge.cycles + (was_idle ? e->charge.head : 0);
    event_queue_set(&s->queue, pipe_actor(c, pipe), s->now + cycles);
    return PTO_OK;
}

/* Runs for `cycles` when the results of all earlier instructions are there. */
static void finish_results(sim *s, sim_core *c, uint32_t pipe, pipe_state waiting, int64_t cycles)
{
    const sim_pipe *p = &c->pipes[pipe];
    if (p->settled > s->now)
        wait_until(s, c, pipe, waiting, p->settled);
    else
        run_for(s, c, pipe, cycles);
}

/* The pipe goes on after what `more` is after. */
static void learn(sim_pipe *p, uint32_t pipe, const vector_clock *more)
{
    if (p->over < more->at[pipe]) p->over = more->at[pipe];
    clock_join(&p->clock, more);
}

static bool take_token(sim_core *c, uint32_t pipe, sim_event *event)
{
    vector_clock set = {{0}};
    if (!event_take(c, event, &set)) return false;
    learn(&c->pipes[pipe], pipe, &set);
    return true;
}

/* Looks at the first entry of the queue and begins it, or finds out until when to wait. */
static pto_status take(sim *s, sim_core *c, uint32_t pipe)
{
    sim_pipe *p = &c->pipes[pipe];
    const sim_entry *e = &p->ring[p->head];
    if (p->count == 0) {
        pipe_set_state(p, PIPE_EMPTY, s->now);
        return PTO_OK;
    }
    trace_wait(s, c, pipe);
    if (e->issued > s->now) {
        wait_until(s, c, pipe, PIPE_EMPTY, e->issued);
        return PTO_OK;
    }
    if (e->scalar != NULL) learn(p, pipe, e->scalar);
    switch (e->kind) {
    case STEP_INSN: return start_insn(s, c, pipe, e);
    case STEP_WAIT_FLAG:
        if (take_token(c, pipe, core_event(c, e->pipe, pipe, e->event)))
            run_for(s, c, pipe, s->machine->flag_cycles);
        else
            pipe_set_state(p, PIPE_FLAG, s->now);
        return PTO_OK;
    case STEP_SET_FLAG: finish_results(s, c, pipe, PIPE_RESULT, s->machine->flag_cycles); return PTO_OK;
    case STEP_BARRIER: finish_results(s, c, pipe, PIPE_BARRIER, s->machine->barrier_cycles); return PTO_OK;
    case STEP_END:
    case STEP_READ:
    case STEP_DEBUG:
    case STEP_LAUNCH:
    case STEP_ALLOC:
    case STEP_FREE: break;
    }
    return pto_error(e->site->op, "pto.cpu-sim/unsupported", "`%.*s` is nothing that pipe %s does",
                     PTO_FMT(e->site->op_name), c->kind->pipe_names[pipe]);
}

/* ---- ending entries ---- */

static pto_status check_written(sim *s, const sim_core *c, const sim_entry *e, const insn_call *call)
{
    if (e->root == UINT32_MAX || e->site->transfer == PTO_TRANSFER_STORE) return PTO_OK;
    const int64_t element = written_find_blank(&s->written, e->root, &call->gm);
    return element < 0 ? PTO_OK : report_unwritten(s, c, e->site, e->root, element);
}

static pto_status apply(sim *s, sim_core *c, const sim_entry *e, insn_call *call)
{
    PTO_TRY(check_written(s, c, e, call));
    PTO_TRY(check_elements(s, c, e->site, call));
    call->cpu = s->cpu;
    call->scratch = s->scratch;
    call->scratch_bytes = s->scratch_bytes;
    call->faults = 0;
    const uint8_t *meant = chip_begin(s, c, e->site, call);
    pto_status status = insn_run(e->site->insn, call);
    if (status < 0 && call->scratch_needed > s->scratch_bytes) {
        s->scratch = call->scratch = pto_scratch(s->run, call->scratch_needed);
        s->scratch_bytes = call->scratch_bytes = call->scratch_needed;
        status = insn_run(e->site->insn, call);
    }
    s->faults += call->faults;
    if (status == PTO_OK && e->site->insn == INSN_TPRINT)
        debug_tile(e->site->op, &call->src[0], c->launch->kernel->p->grid_rank, c->grid);
    if (status == PTO_OK) {
        chip_end(s, c, e->site, call, meant);
        /* The scalar unit has issued nothing since: its step is the one that ends. */
        if (e->site == c->step.site && program_wants_scalar(&c->step))
            program_give_scalar(c->state, &c->step, call->scalar);
        if (e->root != UINT32_MAX && e->site->transfer == PTO_TRANSFER_STORE)
            written_mark(&s->written, e->root, &call->gm);
        return PTO_OK;
    }
    return pto_error(e->site->op, "pto.cpu-sim/instruction", "in @%s: %s", e->site->function, call->text);
}

static pto_status end_insn(sim *s, sim_core *c, uint32_t pipe, const sim_entry *e)
{
    sim_pipe *p = &c->pipes[pipe];
    int64_t shared = 0;
    if (e->charge.kind == CHARGE_GM && e->charge.bytes) {
        const int64_t alone = bandwidth_alone(e->bytes_per_cycle, (double)e->charge.bytes);
        shared = s->now - p->started - p->latency - alone;
        if (shared > 0) pipe_set_state(p, PIPE_SHARED, s->now - shared);
    }
    p->idle_from = s->now;
    p->result_at = s->now + e->charge.tail;
    if (p->settled < p->result_at) p->settled = p->result_at;
    p->result.hi = p->result.lo = 0;
    for (uint32_t i = 0; i < e->access_count; i++)
        if (e->accesses[i].is_write && p->result.hi == p->result.lo) p->result = e->accesses[i];
    if (s->options.has_timing)
        trace_slice(s, &(sim_slice){.site = e->site,
                                    .from = p->started,
                                    .to = s->now,
                                    .bytes = e->charge.bytes,
                                    .latency = p->latency,
                                    .shared = shared,
                                    .core = c->number,
                                    .pipe = pipe});
    return s->options.has_data ? apply(s, c, e, &p->calls[p->head]) : PTO_OK;
}

/* A token for `pipe`: what waits for it goes on. */
static pto_status wake_waiter(sim *s, sim_core *c, uint32_t pipe)
{
    if (pipe != SCALAR_PIPE) {
        if (c->pipes[pipe].state == PIPE_FLAG) event_queue_set(&s->queue, pipe_actor(c, pipe), s->now);
    } else if (c->pipes[SCALAR_PIPE].state == PIPE_FLAG) {
        event_queue_set(&s->queue, pipe_actor(c, pipe), s->now > c->scalar_time ? s->now : c->scalar_time);
    }
    return PTO_OK;
}

static pto_status end_entry(sim *s, sim_core *c, uint32_t pipe)
{
    sim_pipe *p = &c->pipes[pipe];
    const sim_entry *e = &p->ring[p->head];
    p->is_running = false;
    if (e->kind == STEP_INSN) PTO_TRY(end_insn(s, c, pipe, e));
    /* A flag that nothing had to wait for does not let the pipe run dry. */
    else if (s->now - p->idle_from <= s->machine->flag_cycles)
        p->idle_from = s->now;
    if (e->kind == STEP_BARRIER && p->over != UINT32_MAX) p->over = p->clock.at[pipe];
    if (e->kind == STEP_SET_FLAG) {
        event_put(s, c, core_event(c, pipe, e->dst_pipe, e->event), e->site, &p->clock);
        PTO_TRY(wake_waiter(s, c, e->dst_pipe));
    }
    p->head = (p->head + 1) % s->options.queue_depth;
    p->count--;
    if (pipe == SCALAR_PIPE) c->scalar_time = s->now;
    PTO_TRY(take(s, c, pipe));
    return core_issue(s, c);
}

pto_status pipe_transferred(sim *s, sim_core *c, uint32_t pipe) { return end_entry(s, c, pipe); }

pto_status pipe_wake(sim *s, sim_core *c, uint32_t pipe)
{
    sim_pipe *p = &c->pipes[pipe];
    if (!p->is_running) return take(s, c, pipe);
    if (!p->is_in_latency) return end_entry(s, c, pipe);
    begin_transfer(s, c, pipe);
    return PTO_OK;
}
