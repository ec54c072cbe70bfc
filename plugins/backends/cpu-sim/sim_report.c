/* What the simulator says: errors with both places, counters. */
#include "cpu-sim/sim.h"

#include <inttypes.h>
#include <stdarg.h>

/* ---- errors ---- */

static void instance_text(const sim_core *c, char *out, size_t size)
{
    const sim_launch *l = c->launch;
    snprintf(out, size, "@%s, instance %" PRId64 " of %" PRId64, l->kernel->p->name, c->instance, l->instances);
}

/* NONE: that of windows. */
static const char *space_text(const sim_core *c, pto_space space)
{
    const pto_run *run = c->launch->kernel->p->run;
    return pto_space_name(run, space != PTO_SPACE_NONE ? space : pto_space_of_role(run, PTO_ROLE_GLOBAL));
}

/* Of one pipe whose instructions overlap. */
static pto_status report_own(const sim_core *c, const race *r, const char *where)
{
    const char *pipe = c->kind->pipe_names[r->second_pipe];
    pto_error(r->second->op, "pto.cpu-sim/no-barrier",
              "`%.*s` %s bytes %" PRId64 " to %" PRId64
              " of `%s`, which `%.*s` before it on pipe %s %s; instructions of this pipe overlap, and no barrier is "
              "between them (%s)",
              PTO_FMT(r->second->op_name), r->second_writes ? "writes" : "reads", r->lo, r->hi, space_text(c, r->space),
              PTO_FMT(r->first->op_name), pipe, r->first_writes ? "writes" : "reads", where);
    pto_note(r->first->op,
             "the other access, `%.*s`, is here; a `pto.barrier %s` after it and before the second orders them",
             PTO_FMT(r->first->op_name), pipe);
    return PTO_FAILED;
}

pto_status report_barrier(const sim *s, const sim_core *c)
{
    return pto_error(
        c->step.site->op, "pto.cpu-sim/barrier",
        "machine `%s` has no barrier of pipe %s, whose instructions see each other's results; leave it out",
        s->machine->name, c->kind->pipe_names[c->step_pipe]);
}

pto_status report_race(const sim_core *c, const race *r)
{
    char where[160];
    const char *const *pipes = c->kind->pipe_names;
    instance_text(c, where, sizeof where);
    if (r->first_pipe == r->second_pipe) return report_own(c, r, where);
    pto_error(r->second->op, "pto.cpu-sim/race",
              "`%.*s` on pipe %s %s bytes %" PRId64 " to %" PRId64
              " of `%s`, which `%.*s` on pipe %s %s without any order between them (%s)",
              PTO_FMT(r->second->op_name), pipes[r->second_pipe], r->second_writes ? "writes" : "reads", r->lo, r->hi,
              space_text(c, r->space), PTO_FMT(r->first->op_name), pipes[r->first_pipe],
              r->first_writes ? "writes" : "reads", where);
    pto_note(r->first->op,
             "the other access, `%.*s`, is here; %s -> %s needs a set_flag after it and a wait_flag before the second",
             PTO_FMT(r->first->op_name), pipes[r->first_pipe], pipes[r->second_pipe]);
    return PTO_FAILED;
}

pto_status report_instances(const sim_core *c, const race *r, int64_t other)
{
    const sim_launch *l = c->launch;
    pto_error(r->second->op, "pto.cpu-sim/race",
              "`%.*s` of instance %" PRId64 " %s bytes %" PRId64 " to %" PRId64 " of an array, which instance %" PRId64
              " %s; the instances of @%s are independent of one another",
              PTO_FMT(r->second->op_name), c->instance, r->second_writes ? "writes" : "reads", r->lo, r->hi, other,
              r->first_writes ? "writes" : "reads", l->kernel->p->name);
    pto_note(r->first->op, "the other access, `%.*s`, is here", PTO_FMT(r->first->op_name));
    return PTO_FAILED;
}

pto_status report_blank(const sim_core *c)
{
    const blank_read *b = &c->history.blank;
    char where[160];
    if (b->site == NULL) return PTO_OK;
    instance_text(c, where, sizeof where);
    return pto_error(b->site->op, "pto.cpu-sim/uninitialised",
                     "`%.*s` reads bytes %" PRId64 " to %" PRId64 " of `%s`, which nothing wrote before (%s)",
                     PTO_FMT(b->site->op_name), b->lo, b->hi, space_text(c, b->space), where);
}

pto_status report_overlap(const sim_core *c)
{
    const overlap_read *o = &c->history.overlap;
    char where[160];
    if (o->reader == NULL) return PTO_OK;
    instance_text(c, where, sizeof where);
    const char *space = space_text(c, o->space);
    if (o->reader == o->writer) {
        pto_error(o->reader->op, "pto.cpu-sim/overlap",
                  "`%.*s` writes bytes %" PRId64 " to %" PRId64
                  " of `%s` through one buffer and needs them through another; buffers that are in use at once may "
                  "not share addresses (%s)",
                  PTO_FMT(o->reader->op_name), o->lo, o->hi, space, where);
    } else {
        pto_error(o->reader->op, "pto.cpu-sim/overlap",
                  "`%.*s` reads bytes %" PRId64 " to %" PRId64
                  " of `%s` that another buffer has overwritten; buffers that are in use at once may not share "
                  "addresses (%s)",
                  PTO_FMT(o->reader->op_name), o->lo, o->hi, space, where);
        pto_note(o->writer->op, "the write, `%.*s`, is here", PTO_FMT(o->writer->op_name));
    }
    pto_note(o->read_buffer->site->op, "it is read through this buffer, at address %" PRId64, o->read_buffer->address);
    pto_note(o->written_buffer->site->op, "it is written through this buffer, at address %" PRId64,
             o->written_buffer->address);
    return PTO_FAILED;
}

pto_status report_unwritten(const sim *s, const sim_core *c, const program_site *site, uint32_t root, int64_t element)
{
    const gm_root *r = &s->written.roots[root];
    char where[160];
    instance_text(c, where, sizeof where);
    pto_error(site->op, "pto.cpu-sim/uninitialised",
              "`%.*s` reads element %" PRId64 " of %%%.*s, which nothing wrote before (%s)", PTO_FMT(site->op_name),
              element, PTO_FMT(r->name), where);
    pto_note(r->at, "the memory is that of this op");
    return PTO_FAILED;
}

pto_status report_unwritten_scalar(const sim *s, const program_site *site, uint32_t root, int64_t element)
{
    const gm_root *r = &s->written.roots[root];
    pto_error(site->op, "pto.cpu-sim/uninitialised",
              "`%.*s` reads element %" PRId64 " of %%%.*s, which nothing wrote before", PTO_FMT(site->op_name), element,
              PTO_FMT(r->name));
    pto_note(r->at, "the memory is that of this op");
    return PTO_FAILED;
}

void report_no_data(const program_site *site)
{
    pto_warning(site->op, "pto.cpu-sim/no-data",
                "`%.*s` does nothing: this run has no elements; the option `data` must be `full`",
                PTO_FMT(site->op_name));
}

pto_status report_never_written(const sim *s)
{
    const program *p = s->orchestrator;
    for (uint32_t i = 0; i < p->parameter_count; i++) {
        const gm_root *r = &s->written.roots[i];
        size_t count, first = 0;
        const size_t missing = written_count_blank(r, &count, &first);
        if (missing != 0)
            return pto_error(r->at, "pto.cpu-sim/never-written",
                             "%zu of the %zu elements of %%%.*s are never written, the first one is %zu", missing,
                             count, PTO_FMT(r->name), first);
    }
    return PTO_OK;
}

/* A race ends a run at once. After a run that came to its end, what conflicts was in order, and not by these tokens:
 * nothing took them. */
pto_status report_leftover(sim *s)
{
    const sim_leftover *l = &s->leftover;
    if (l->set == NULL) return PTO_OK;
    return pto_error(l->set->op, "pto.cpu-sim/leftover-tokens",
                     "%" PRIu32 " token%s of %s -> %s event(%" PRIu32
                     "), set here, %s left when the kernel ends; no wait_flag takes %s (@%s, instance %" PRId64
                     " of %" PRId64 "). Such a wait_flag is redundant by happens-before: without it, every two "
                     "accesses of this run that conflict are ordered",
                     l->count, l->count == 1 ? "" : "s", l->src, l->dst, l->id, l->count == 1 ? "is" : "are",
                     l->count == 1 ? "it" : "them", l->kernel, l->instance, l->instances);
}

/* What the pipe waits for, or NULL when it does not. */
static const program_site *blocked_at(const sim_core *c, uint32_t pipe, char *out, size_t size)
{
    const sim_pipe *p = &c->pipes[pipe];
    const char *const *pipes = c->kind->pipe_names;
    if (pipe == SCALAR_PIPE) {
        if (c->has_ended || !c->has_step) return NULL;
        const char *target = pipes[c->step.kind == STEP_WAIT_FLAG ? c->step_dst : c->step_pipe];
        if (p->state == PIPE_FULL)
            snprintf(out, size, "waits for a free place in the queue of pipe %s", target);
        else if (p->state == PIPE_BARRIER)
            snprintf(out, size, "waits at a barrier for the other pipes");
        else
            snprintf(out, size, "waits for a token of %s -> %s event(%" PRIu32 ")", pipes[c->step_pipe],
                     pipes[SCALAR_PIPE], c->step.event);
        return c->step.site;
    }
    if (p->count == 0) return NULL;
    const sim_entry *e = &p->ring[p->head];
    if (e->kind == STEP_WAIT_FLAG)
        snprintf(out, size, "waits for a token of %s -> %s event(%" PRIu32 ")", pipes[e->pipe], pipes[pipe], e->event);
    else
        snprintf(out, size, "is at `%.*s`", PTO_FMT(e->site->op_name));
    return e->site;
}

/* The first core that cannot go on stands for all of them. */
pto_status report_deadlock(sim *s)
{
    char what[128], where[160];
    for (uint32_t i = 0; i < s->machine->core_count; i++) {
        const sim_core *c = &s->cores[i];
        if (c->launch == NULL) continue;
        instance_text(c, where, sizeof where);
        bool is_first = true;
        for (uint32_t k = SCALAR_PIPE + 1; k <= c->kind->pipe_end; k++) {
            const uint32_t pipe = k < c->kind->pipe_end ? k : SCALAR_PIPE; /* the scalar unit last */
            const program_site *site = blocked_at(c, pipe, what, sizeof what);
            if (site == NULL) continue;
            if (is_first) {
                pto_error(site->op, "pto.cpu-sim/deadlock",
                          "pipe %s %s and no pipe can go on, at cycle %" PRId64 " (%s)", c->kind->pipe_names[pipe],
                          what, s->now, where);
            } else {
                pto_note(site->op, "pipe %s %s", c->kind->pipe_names[pipe], what);
            }
            is_first = false;
        }
        if (!is_first) return PTO_FAILED;
    }
    return pto_error(s->orchestrator->self->op, "pto.cpu-sim/deadlock", "launches of @%s wait for one another",
                     s->orchestrator->name);
}

/* ---- counters ---- */

enum { UNIT_BYTES = 128 };

static void count_kind(const sim *s, const sim_core_kind *k, uint32_t pipe)
{
    int64_t sums[PIPE_STATES] = {0};
    int64_t all = 0;
    for (uint32_t i = k->first; i < k->first + k->count; i++)
        for (uint32_t t = 0; t < PIPE_STATES; t++) sums[t] += s->cores[i].pipes[pipe].ticks[t];
    for (uint32_t t = 0; t < PIPE_STATES; t++) all += sums[t];
    char unit[UNIT_BYTES];
    snprintf(unit, sizeof unit, "%s / %s", k->name, k->pipe_names[pipe]);
    pto_profile_count_unit(s->sink, PTO_COUNTER_BUSY, unit, (double)sums[PIPE_BUSY]);
    pto_profile_count_unit(s->sink, PTO_COUNTER_UTILISATION, unit,
                           all > 0 ? 100.0 * (double)sums[PIPE_BUSY] / (double)all : 0.0);
    for (uint32_t t = PIPE_BUSY + 1; t < PIPE_STATES; t++)
        if (sums[t]) pto_profile_count_unit(s->sink, pipe_state_counter(t), unit, (double)sums[t]);
}

bool report_is_used(const sim *s, const sim_core_kind *k)
{
    for (uint32_t i = 0; i < s->kernel_count; i++)
        if (&s->machine->kinds[s->kernels[i].kind] == k) return true;
    return false;
}

static void count_core(const sim *s, const sim_core_kind *k, const sim_core *c)
{
    for (uint32_t pipe = SCALAR_PIPE; pipe < k->pipe_end; pipe++) {
        char unit[UNIT_BYTES];
        snprintf(unit, sizeof unit, "%s %02" PRIu32 " / %s", k->name, c->number - k->first, k->pipe_names[pipe]);
        for (uint32_t t = 0; t < PIPE_STATES; t++)
            if (t == PIPE_BUSY || c->pipes[pipe].ticks[t])
                pto_profile_count_unit(s->sink, pipe_state_counter(t), unit, (double)c->pipes[pipe].ticks[t]);
    }
}

/* What is only worth a line when it happened. */
static void count_event(const sim *s, pto_counter counter, double n)
{
    if (n > 0) pto_profile_count(s->sink, counter, n);
}

void report_counters(sim *s)
{
    if (s->sink == NULL || s->sink->counter == NULL) return;
    if (s->options.has_timing) {
        pto_profile_count(s->sink, PTO_COUNTER_CYCLES, (double)s->now);
        pto_profile_count(s->sink, PTO_COUNTER_TIME, (double)s->now * 1e6 / (double)s->machine->clock_hz);
    }
    count_event(s, PTO_COUNTER_SLICES_LEFT_OUT, (double)s->slices_dropped);
    pto_profile_count(s->sink, PTO_COUNTER_GM_READ, (double)s->gm_read);
    pto_profile_count(s->sink, PTO_COUNTER_GM_WRITTEN, (double)s->gm_written);
    pto_profile_count(s->sink, PTO_COUNTER_OPS, (double)s->ops);
    pto_profile_count(s->sink, PTO_COUNTER_INSTRUCTIONS, (double)s->instructions);
    pto_profile_count(s->sink, PTO_COUNTER_LAUNCHES, (double)s->launch_total);
    pto_profile_count(s->sink, PTO_COUNTER_INSTANCES, (double)s->instance_total);
    count_event(s, PTO_COUNTER_FAULTS, (double)s->faults);
    count_event(s, PTO_COUNTER_UNCOMPARED, (double)s->claims_dropped);
    for (uint32_t i = 0; s->options.has_timing && i < s->machine->kind_count; i++) {
        const sim_core_kind *k = &s->machine->kinds[i];
        if (!report_is_used(s, k)) continue;
        for (uint32_t pipe = SCALAR_PIPE; pipe < k->pipe_end; pipe++) count_kind(s, k, pipe);
        for (uint32_t c = k->first; c < k->first + k->count; c++) count_core(s, k, &s->cores[c]);
    }
}
