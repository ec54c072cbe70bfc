/* Facts of the chip that the meaning of instructions does not show (`facts` of the machine file): a kernel that every
 * simulator of the instructions runs well, and a chip does not, is refused where it goes wrong.
 *
 * Everything is looked at in the order in which the scalar unit issues, so what is found does not depend on timing. */
#include "cpu-sim/sim.h"

#include <inttypes.h>

static const site_facts *facts_of(const sim *s, const sim_core *c)
{
    const program_site *site = c->step.site;
    const pto_kind_id kind = pto_op_kind(site->op);
    site_facts *f = &c->launch->kernel->facts[site->index];
    if (f->is_known) return f;
    f->is_known = true;
    f->in_place = machine_in_place(s->run, kind) != 0;
    const program_tile *of = c->step.src_count != 0 ? c->step.src[0] : c->step.dst;
    f->event_count = of != NULL ? machine_events(s->run, kind, of->ref.dtype, f->events) : 0;
    return f;
}

/* ---- results in the place of operands ---- */

static pto_status check_in_place(const sim *s, const sim_core *c)
{
    const program_step *step = &c->step;
    const program_tile *to = step->dst;
    for (uint32_t i = 0; to != NULL && i < step->src_count; i++) {
        const program_tile *from = step->src[i];
        const int64_t lo = from->address > to->address ? from->address : to->address,
                      hi = from->end < to->end ? from->end : to->end;
        if (from->ref.space != to->ref.space || lo >= hi) continue;
        return pto_error(step->site->op, "pto.cpu-sim/in-place",
                         "`%.*s` writes bytes %" PRId64 " to %" PRId64
                         " of `%s`, which it reads; on machine `%s` it writes before it has read: give the result a "
                         "tile of its own",
                         PTO_FMT(step->site->op_name), lo, hi, pto_space_name(s->run, to->ref.space), s->machine->name);
    }
    return PTO_OK;
}

/* ---- events of the library ---- */

/* Entries of a queue that set, or wait for, an event. */
static int64_t count_queued(const sim *s, const sim_pipe *p, step_kind kind, uint32_t src, uint32_t dst, uint32_t id)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const sim_entry *e = &p->ring[(p->head + i) % s->options.queue_depth];
        n += e->kind == kind && e->pipe == src && e->dst_pipe == dst && e->event == id;
    }
    return n;
}

/* Tokens of an event that are there when everything that was issued has been done. */
static int64_t count_issued(const sim *s, sim_core *c, uint32_t src, uint32_t dst, uint32_t id)
{
    int64_t n = 0;
    for (const sim_token *t = core_event(c, src, dst, id)->first; t != NULL; t = t->next) n++;
    return n + count_queued(s, &c->pipes[src], STEP_SET_FLAG, src, dst, id) -
           count_queued(s, &c->pipes[dst], STEP_WAIT_FLAG, src, dst, id);
}

static pto_status check_events(const sim *s, sim_core *c, const site_facts *f)
{
    for (uint32_t i = 0; i < f->event_count; i++) {
        const machine_event *e = &f->events[i];
        const uint32_t src = sim_pipe_number(c->kind, e->src), dst = sim_pipe_number(c->kind, e->dst);
        if (src == NO_PIPE || dst == NO_PIPE || count_issued(s, c, src, dst, e->id) <= 0) continue;
        return pto_error(c->step.site->op, "pto.cpu-sim/event-in-use",
                         "the code of `%.*s` uses event %" PRIu32
                         " of %s -> %s on machine `%s`, and a token that the kernel has set is there: take another id",
                         PTO_FMT(c->step.site->op_name), e->id, c->kind->pipe_names[src], c->kind->pipe_names[dst],
                         s->machine->name);
    }
    return PTO_OK;
}

pto_status check_facts(sim *s, sim_core *c)
{
    const site_facts *f = facts_of(s, c);
    if (!f->in_place) PTO_TRY(check_in_place(s, c));
    return check_events(s, c, f);
}
