/* The chip: launches in the order of the orchestrating function, instances to free cores, time. */
#include "cpu-sim/sim.h"

#include "debug_values.h"
#include "semantics/array_file.h"

#include <inttypes.h>

enum { EVENTS_PER_LOOK = 1 << 16 };

/* ---- kernels ---- */

static pto_status check_buffer(sim *s, const sim_kernel *k, const program_buffer *b)
{
    const sim_core_kind *kind = &s->machine->kinds[k->kind];
    const int64_t have = kind->space_bytes[b->space], usable = kind->usable_bytes[b->space];
    const int64_t bytes = b->bytes_per_stage * b->stages, end = b->address + bytes;
    const char *space = pto_space_name(s->run, b->space);
    if (bytes > usable)
        return pto_error(b->site->op, "pto.cpu-sim/capacity",
                         "the buffer has %" PRId64 " bytes of `%s`, which has %" PRId64 " on a core of kind `%s`",
                         bytes, space, usable, kind->name);
    if (end > have)
        return pto_error(b->site->op, "pto.cpu-sim/out-of-bounds",
                         "the buffer has bytes %" PRId64 " to %" PRId64 " of `%s`, which has %" PRId64, b->address, end,
                         space, have);
    if (end > usable)
        return pto_error(b->site->op, "pto.cpu-sim/capacity",
                         "the buffer has bytes %" PRId64 " to %" PRId64 " of `%s`; those from %" PRId64
                         " on are reserved",
                         b->address, end, space, usable);
    if (kind->align_bytes[b->space] > 1 && b->address % kind->align_bytes[b->space])
        return pto_error(b->site->op, "pto.cpu-sim/misaligned",
                         "the buffer has the address %" PRId64 " in `%s`; addresses are multiples of %" PRId64,
                         b->address, space, kind->align_bytes[b->space]);
    return PTO_OK;
}

/* Fault injection: the numbers count the flag ops of the kernels in the order of their first launch. */
static void drop_flags(sim *s, sim_kernel *k)
{
    for (uint32_t i = 0; i < k->p->site_count; i++) {
        const pto_str name = k->p->sites[i]->op_name;
        int64_t *left = pto_str_is(name, "pto.wait_flag")  ? &s->options.drop_wait
                        : pto_str_is(name, "pto.set_flag") ? &s->options.drop_set
                                                           : NULL;
        if (left == NULL || *left < 0) continue;
        k->is_dropped[i] = *left == 0;
        --*left;
    }
}

static bool has_two_stores(const program *p)
{
    uint32_t pipes = 0;
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i]->insn != INSN_NONE && p->sites[i]->transfer == PTO_TRANSFER_STORE)
            pipes |= 1u << p->sites[i]->pipe;
    return (pipes & (pipes - 1)) != 0;
}

static bool uses_scalar(const program *p, const sim_core_kind *kind)
{
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i]->insn != INSN_NONE && sim_pipe_number(kind, p->sites[i]->pipe) == SCALAR_PIPE) return true;
    return false;
}

/* A kernel names a kind of core that the machine has, or none. */
static pto_status check_core(const sim_machine *m, const sim_kernel *k)
{
    if (k->p->core.n == 0 || pto_str_is(k->p->core, m->kinds[k->kind].name)) return PTO_OK;
    const bool has_two = m->kind_count > 1;
    return pto_error(k->p->op, "pto.cpu-sim/no-core",
                     "kernel `@%s` is for cores of kind `%.*s`; machine `%s` runs kernels on `%s`%s%s%s", k->p->name,
                     PTO_FMT(k->p->core), m->name, m->kinds[0].name, has_two ? " and `" : "",
                     has_two ? m->kinds[1].name : "", has_two ? "`" : "");
}

static sim_kernel *find_kernel(sim *s, pto_op op)
{
    for (uint32_t i = 0; i < s->kernel_count; i++)
        if (pto_op_same(s->kernels[i].p->op, op)) return &s->kernels[i];
    sim_kernel *k = &s->kernels[s->kernel_count];
    k->p = program_decode(s->run, op, "pto.cpu-sim", 0);
    if (k->p == NULL) return NULL;
    k->kind = sim_machine_kind_of(s->machine, k->p);
    if (check_core(s->machine, k) < 0) return NULL;
    for (uint32_t i = 0; i < k->p->buffer_count; i++)
        if (check_buffer(s, k, &k->p->buffers[i]) < 0) return NULL;
    k->charges = PTO_SCRATCH(s->run, site_charge, k->p->site_count);
    k->facts = PTO_SCRATCH(s->run, site_facts, k->p->site_count);
    k->is_dropped = PTO_SCRATCH(s->run, bool, k->p->site_count);
    k->has_two_stores = has_two_stores(k->p);
    k->uses_scalar = uses_scalar(k->p, &s->machine->kinds[k->kind]);
    drop_flags(s, k);
    s->kernel_count++;
    return k;
}

/* ---- launches ---- */

static pto_status take_spans(sim *s, const sim_launch *l, const program_region *regions, uint32_t count, sim_span **out)
{
    sim_span *spans = PTO_SCRATCH(s->run, sim_span, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        spans[i].root = l->arguments[regions[i].parameter].array.root;
        PTO_TRY(program_region_bytes(l->kernel->p, &regions[i], l->symbols, l->arguments, &spans[i].lo, &spans[i].hi));
    }
    *out = spans;
    return PTO_OK;
}

static bool has_root(const sim_span *spans, uint32_t count, uint32_t root)
{
    for (uint32_t i = 0; i < count; i++)
        if (spans[i].root == root) return true;
    return false;
}

static pto_status fill_launch(sim *s, sim_launch *l, const program_step *step)
{
    const program *p = l->kernel->p;
    l->symbols = PTO_SCRATCH(s->run, int64_t, p->symbol_count + 1);
    l->arguments = PTO_SCRATCH(s->run, program_argument, step->argument_count + 1);
    l->is_written = PTO_SCRATCH(s->run, bool, step->argument_count + 1);
    l->is_read = PTO_SCRATCH(s->run, bool, step->argument_count + 1);
    PTO_TRY(program_bind_symbols(p, s->orchestrator_state, step, l->symbols));
    for (uint32_t i = 0; i < step->argument_count; i++) l->arguments[i] = step->arguments[i];
    PTO_TRY(program_grid(p, l->symbols, l->extents));
    l->instances = 1;
    for (uint32_t i = 0; i < p->grid_rank; i++) l->instances *= l->extents[i];
    l->read_count = p->read_count;
    l->write_count = p->write_count;
    PTO_TRY(take_spans(s, l, p->reads, p->read_count, &l->reads));
    PTO_TRY(take_spans(s, l, p->writes, p->write_count, &l->writes));
    for (uint32_t i = 0; i < step->argument_count; i++) {
        const uint32_t root = l->arguments[i].array.root;
        l->is_read[i] = has_root(l->reads, l->read_count, root);
        l->is_written[i] = has_root(l->writes, l->write_count, root);
    }
    return PTO_OK;
}

/* Memory of the caller may be that of two parameters. */
static bool spans_overlap(const sim *s, const sim_span *a, const sim_span *b)
{
    if (a->root == b->root) return a->lo < b->hi && b->lo < a->hi;
    const uint8_t *first = s->written.roots[a->root].array.base, *second = s->written.roots[b->root].array.base;
    if (first == NULL || second == NULL) return false;
    const uintptr_t from = (uintptr_t)first, other = (uintptr_t)second;
    return from + (uintptr_t)a->lo < other + (uintptr_t)b->hi && other + (uintptr_t)b->lo < from + (uintptr_t)a->hi;
}

static bool overlap(const sim *s, const sim_span *a, uint32_t a_count, const sim_span *b, uint32_t b_count)
{
    for (uint32_t i = 0; i < a_count; i++)
        for (uint32_t k = 0; k < b_count; k++)
            if (spans_overlap(s, &a[i], &b[k])) return true;
    return false;
}

/* Read after write, write after read, write after write. */
static bool conflicts(const sim *s, const sim_launch *a, const sim_launch *b)
{
    return overlap(s, a->writes, a->write_count, b->reads, b->read_count) ||
           overlap(s, a->reads, a->read_count, b->writes, b->write_count) ||
           overlap(s, a->writes, a->write_count, b->writes, b->write_count);
}

static bool must_wait(const sim *s, const sim_launch *l)
{
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++) {
        const sim_launch *other = &s->launches[i];
        if (other->phase != LAUNCH_FREE && other->order < l->order && conflicts(s, other, l)) return true;
    }
    return false;
}

static sim_launch *free_launch(sim *s)
{
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++)
        if (s->launches[i].phase == LAUNCH_FREE) return &s->launches[i];
    return NULL;
}

static pto_status give_workspace(sim *s, program_step *step)
{
    const int64_t bytes = (int64_t)step->array->bytes;
    if (bytes > s->machine->gm_bytes - s->workspace_bytes)
        return pto_error(step->site->op, "pto.cpu-sim/capacity",
                         "workspace of %" PRId64 " bytes, after %" PRId64 " bytes before; `gm` has %" PRId64, bytes,
                         s->workspace_bytes, s->machine->gm_bytes);
    s->workspace_bytes += bytes;
    const program_array *a = step->array;
    const pto_attr value = pto_op_attr(step->site->op, PTO_STR("value"));
    const array_file file = {.op = step->site->op,
                             .code = "pto.cpu-sim/resource",
                             .rest_code = "pto.cpu-sim/resource-rest",
                             .dtype = a->dtype,
                             .rank = a->rank,
                             .dims = a->dims,
                             .base = s->options.has_data ? pto_scratch(s->run, (size_t)bytes + 1) : NULL,
                             .bytes = (size_t)bytes};
    program_give(s->orchestrator_state, step, file.base, s->written.count);
    written_add(&s->written, step->site->op, pto_value_name(pto_op_result(step->site->op, 0)), a, PTO_SOME(value),
                false);
    return file.base != NULL && PTO_SOME(value) ? array_file_read(&file, value) : PTO_OK;
}

static pto_status take_launch(sim *s, sim_launch *l, const program_step *step)
{
    const claim_table claims = l->claims; /* keeps its memory */
    *l = (sim_launch){.site = step->site, .order = s->launch_order++, .claims = claims};
    l->kernel = find_kernel(s, step->kernel);
    if (l->kernel == NULL) return PTO_FAILED;
    PTO_TRY(fill_launch(s, l, step));
    if (s->orchestrator_time < s->now) s->orchestrator_time = s->now;
    l->issued = s->orchestrator_time;
    s->orchestrator_time += s->machine->task_cycles;
    s->launch_total++;
    if (l->instances == 0) return PTO_OK;
    l->instance_order = pto_order_make(s->seed == 0 ? 0 : s->seed + l->order, l->instances);
    l->phase = LAUNCH_WAITS;
    l->ready = -1;
    return PTO_OK;
}

/* Whether a launch that is not done may write to the array. */
static bool is_being_written(const sim *s, uint32_t root)
{
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++)
        if (s->launches[i].phase != LAUNCH_FREE && has_root(s->launches[i].writes, s->launches[i].write_count, root))
            return true;
    return false;
}

/* An element for the function, which goes on when all that may write it is done. */
static pto_status read_scalar(sim *s, const program_step *step)
{
    s->orchestrator_reads = is_being_written(s, step->gm_root);
    if (s->orchestrator_reads) return PTO_OK;
    if (!s->options.has_data)
        return pto_error(step->site->op, "pto.cpu-sim/no-data",
                         "`%.*s` reads an element, and this run has none: the option `data` must be `full`",
                         PTO_FMT(step->site->op_name));
    const int64_t blank = written_find_blank(&s->written, step->gm_root, &step->gm);
    if (blank >= 0) return report_unwritten_scalar(s, step->site, step->gm_root, blank);
    const uint8_t *at = step->gm.base + gm_offset(&step->gm, 0, 0) * (int64_t)element_bytes(step->gm.dtype);
    program_give_scalar(s->orchestrator_state, step, element_number(step->gm.dtype, at));
    if (s->orchestrator_time < s->now) s->orchestrator_time = s->now;
    s->orchestrator_time += s->machine->task_cycles;
    return PTO_OK;
}

/* A debug op, when all that may write what it looks at is done. */
static pto_status look(sim *s, const program_step *step)
{
    const program_array *a = step->array;
    s->orchestrator_reads = a != NULL && is_being_written(s, a->root);
    if (s->orchestrator_reads) return PTO_OK;
    if (s->orchestrator_time < s->now) s->orchestrator_time = s->now;
    s->orchestrator_time += s->machine->task_cycles;
    const pto_type type = pto_value_type(pto_op_operand(step->site->op, 0));
    if (a == NULL) return debug_scalar(step->site->op, "pto.cpu-sim", pto_type_dtype(type), step->scalar);
    if (!s->options.has_data) {
        report_no_data(step->site);
        return PTO_OK;
    }
    gm_window w = {.base = a->base, .bytes = a->bytes, .dtype = a->dtype, .rank = a->rank};
    memcpy(w.dims, a->dims, sizeof w.dims);
    memcpy(w.strides, a->strides, sizeof w.strides);
    const int64_t blank = written_find_blank_of(&s->written, a->root, &w);
    if (blank >= 0) return report_unwritten_scalar(s, step->site, a->root, blank);
    return debug_array(step->site->op, "pto.cpu-sim", &w);
}

/* Takes launches from the function while there is space for them. */
static pto_status orchestrate(sim *s)
{
    sim_launch *l;
    while (!s->orchestrator_ended && (l = free_launch(s)) != NULL) {
        program_step *step = &s->orchestrator_step;
        if (!s->orchestrator_reads) PTO_TRY(program_next(s->orchestrator_state, step));
        switch (step->kind) {
        case STEP_READ:
            PTO_TRY(read_scalar(s, step));
            if (s->orchestrator_reads) return PTO_OK;
            break;
        case STEP_DEBUG:
            PTO_TRY(look(s, step));
            if (s->orchestrator_reads) return PTO_OK;
            break;
        case STEP_END: s->orchestrator_ended = true; break;
        case STEP_LAUNCH: PTO_TRY(take_launch(s, l, step)); break;
        case STEP_ALLOC: PTO_TRY(give_workspace(s, step)); break;
        case STEP_FREE: break; /* no workspace takes the place of another */
        case STEP_INSN:
        case STEP_SET_FLAG:
        case STEP_WAIT_FLAG:
        case STEP_BARRIER:
            return pto_error(step->site->op, "pto.cpu-sim/unsupported", "`%.*s` cannot be executed outside of a kernel",
                             PTO_FMT(step->site->op_name));
        }
    }
    return PTO_OK;
}

static void release_launches(sim *s)
{
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++) {
        sim_launch *l = &s->launches[i];
        if (l->phase != LAUNCH_WAITS) continue;
        if (must_wait(s, l)) {
            l->ready = -2; /* had to wait for another one */
            continue;
        }
        const int64_t behind = s->now + (l->ready == -2 ? s->machine->task_cycles : 0);
        l->ready = l->issued + s->machine->launch_cycles;
        if (l->ready < behind) l->ready = behind;
        l->phase = LAUNCH_RUNS;
    }
}

static int compare_order(const sim_launch *a, const sim_launch *b)
{
    return (a->order > b->order) - (a->order < b->order);
}

/* The launch to take an instance from for a core of this kind: the earliest that is ready. */
static sim_launch *next_launch(sim *s, uint32_t kind)
{
    sim_launch *best = NULL;
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++) {
        sim_launch *l = &s->launches[i];
        if (l->phase != LAUNCH_RUNS || l->ready > s->now || l->started == l->instances || l->kernel->kind != kind)
            continue;
        if (best == NULL || compare_order(l, best) < 0) best = l;
    }
    return best;
}

static void dispatch(sim *s)
{
    for (uint32_t kind = 0; kind < s->machine->kind_count; kind++) {
        const sim_core_kind *k = &s->machine->kinds[kind];
        sim_launch *l = next_launch(s, kind);
        for (uint32_t i = k->first; l != NULL && i < k->first + k->count; i++) {
            if (s->cores[i].launch != NULL) continue;
            const int64_t instance = pto_order_at(&l->instance_order, l->started++);
            core_take(s, &s->cores[i], l, instance, s->now + s->machine->block_cycles);
            s->instance_total++;
            if (l->started == l->instances) l = next_launch(s, kind);
        }
    }
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++) {
        const sim_launch *l = &s->launches[i];
        if (l->phase == LAUNCH_RUNS && l->ready > s->now && l->ready < next) next = l->ready;
    }
    if (next != INT64_MAX) event_queue_set(&s->queue, dispatcher_actor(s), next);
}

static pto_status advance(sim *s)
{
    PTO_TRY(orchestrate(s));
    release_launches(s);
    dispatch(s);
    return PTO_OK;
}

pto_status chip_instance_done(sim *s, sim_core *c)
{
    sim_launch *l = c->launch;
    c->launch = NULL;
    c->is_begun = false;
    if (++l->done < l->instances) {
        dispatch(s);
        return PTO_OK;
    }
    l->phase = LAUNCH_FREE;
    s->claims_dropped += l->claims.left_out;
    claims_clear(&l->claims);
    return advance(s);
}

/* ---- time ---- */

static pto_status move_memory(sim *s)
{
    uint32_t actor;
    while (bandwidth_end(&s->memory, s->now, &actor))
        PTO_TRY(pipe_transferred(s, &s->cores[actor / CORE_ACTORS], actor % CORE_ACTORS));
    const int64_t next = bandwidth_next(&s->memory);
    if (next >= 0) event_queue_set(&s->queue, memory_actor(s), next > s->now ? next : s->now + 1);
    return PTO_OK;
}

static bool is_done(const sim *s)
{
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++)
        if (s->launches[i].phase != LAUNCH_FREE) return false;
    return s->orchestrator_ended;
}

pto_status chip_run(sim *s)
{
    queued e;
    uint32_t left = EVENTS_PER_LOOK;
    PTO_TRY(advance(s));
    while (event_queue_pop(&s->queue, &e)) {
        s->now = e.time;
        if (e.actor == dispatcher_actor(s))
            dispatch(s);
        else if (e.actor == memory_actor(s))
            PTO_TRY(move_memory(s));
        else
            PTO_TRY(core_wake(s, &s->cores[e.actor / CORE_ACTORS], e.actor % CORE_ACTORS));
        if (--left) continue;
        left = EVENTS_PER_LOOK;
        if (pto_should_stop(s->run))
            return pto_error(s->orchestrator->self->op, "pto.cpu-sim/interrupted",
                             "the simulation was stopped at cycle %" PRId64, s->now);
    }
    return is_done(s) ? PTO_OK : report_deadlock(s);
}
