#include "tools/run/run_trace.h"

void run_trace_init(run_trace *t, arena *a, const module *m) { *t = (run_trace){.arena = a, .m = m}; }

/* Space for `wanted` things of `size` bytes; the old ones are copied. */
static void *grow(arena *a, void *items, size_t *capacity, size_t wanted, size_t size)
{
    if (wanted <= *capacity) return items;
    size_t bigger = *capacity ? *capacity : 16;
    while (bigger < wanted) bigger *= 2;
    void *copy = arena_array(a, bigger, size);
    if (*capacity > 0) memcpy(copy, items, *capacity * size);
    *capacity = bigger;
    return copy;
}

static uint32_t core_number(run_trace *t, str name)
{
    uint32_t number;
    if (name_index_find(&t->cores_by_name, name, &number)) return number;
    t->cores = grow(t->arena, t->cores, &t->core_capacity, t->core_count + 1, sizeof *t->cores);
    t->cores[t->core_count] = arena_strndup(t->arena, name.p, name.n);
    name_index_put(t->arena, &t->cores_by_name, (str){t->cores[t->core_count], name.n}, (uint32_t)t->core_count);
    return (uint32_t)t->core_count++;
}

/* Names beyond the last share its number: a table has that many columns. */
static uint32_t name_number(arena *a, const char **names, uint32_t *count, uint32_t most, str name)
{
    for (uint32_t i = 0; i < *count; i++)
        if (str_is(name, names[i])) return i;
    if (*count == most) return most - 1;
    names[*count] = arena_strndup(a, name.p, name.n);
    return (*count)++;
}

bool run_trace_has_unit(const run_trace *t, str name)
{
    uint32_t number;
    return name_index_find(&t->units_by_name, name, &number);
}

uint32_t run_trace_unit(run_trace *t, str name)
{
    uint32_t number;
    if (name_index_find(&t->units_by_name, name, &number)) return number;
    str core = name, pipe = {name.p, 0};
    for (size_t i = 0; i + 3 <= name.n; i++) {
        if (memcmp(name.p + i, " / ", 3) != 0) continue;
        core.n = i;
        pipe = (str){name.p + i + 3, name.n - i - 3};
    }
    t->units = grow(t->arena, t->units, &t->unit_capacity, t->unit_count + 1, sizeof *t->units);
    t->units[t->unit_count] = (trace_unit){arena_strndup(t->arena, name.p, name.n), core_number(t, core),
                                           name_number(t->arena, t->pipes, &t->pipe_count, TRACE_PIPES_MAX, pipe)};
    name_index_put(t->arena, &t->units_by_name, (str){t->units[t->unit_count].name, name.n}, (uint32_t)t->unit_count);
    return (uint32_t)t->unit_count++;
}

static trace_kernel *kernel_of(run_trace *t, op_id o)
{
    t->kernel_of = grow(t->arena, t->kernel_of, &t->kernel_of_capacity, (size_t)o + 1, sizeof *t->kernel_of);
    if (t->kernel_of[o]) return &t->kernels[t->kernel_of[o] - 1];
    const op_id kernel = op_function(t->m, o);
    size_t k = 0;
    while (k < t->kernel_count && t->kernels[k].op != kernel) k++;
    if (k == t->kernel_count) {
        t->kernels = grow(t->arena, t->kernels, &t->kernel_capacity, k + 1, sizeof *t->kernels);
        t->kernels[t->kernel_count++] = (trace_kernel){.op = kernel, .from = INT64_MAX, .core = TRACE_NONE};
    }
    t->kernel_of[o] = (uint32_t)k + 1;
    return &t->kernels[k];
}

/* Backends say what they like: a sum that would overflow stays at its end. */
static void add_number(int64_t *sum, int64_t by)
{
    if (__builtin_add_overflow(*sum, by, sum)) *sum = by < 0 ? INT64_MIN : INT64_MAX;
}

static void add_instance(run_trace *t, trace_kernel *k, const trace_event *e)
{
    const int64_t cycles = e->to - e->from;
    const uint32_t core = t->units[e->unit].core;
    if (k->instances == 0 || cycles < k->shortest) k->shortest = cycles;
    if (cycles > k->longest) k->longest = cycles;
    if (e->from < k->from) k->from = e->from;
    if (e->to > k->to) k->to = e->to;
    k->instances++;
    add_number(&k->instance_cycles, cycles);
    if (t->instance_count == TRACE_INSTANCES_MAX) {
        t->instances_left_out++;
        return;
    }
    t->instances = grow(t->arena, t->instances, &t->instance_capacity, t->instance_count + 1, sizeof *t->instances);
    t->instances[t->instance_count++] = (trace_instance){(uint32_t)(k - t->kernels), core, e->from, e->to, e->instance};
}

static void add_to(trace_sum *s, const trace_event *e, uint32_t cause)
{
    if (cause != TRACE_NONE) {
        add_number(&s->stalls[cause], e->to - e->from);
        return;
    }
    s->executions++;
    add_number(&s->busy, e->to - e->from);
    add_number(&s->bytes, e->bytes);
}

static void keep(run_trace *t, trace_kernel *k, const trace_event *e, uint32_t cause)
{
    const trace_unit *u = &t->units[e->unit];
    if (k->core == TRACE_NONE) k->core = u->core;
    if (k->core != u->core) return;
    if (k->slice_count == TRACE_SLICES_MAX) {
        k->slices_left_out++;
        return;
    }
    k->slices = grow(t->arena, k->slices, &k->slice_capacity, k->slice_count + 1, sizeof *k->slices);
    k->slices[k->slice_count++] = (trace_slice){e->op, u->pipe, cause, e->from, e->to, e->bytes};
}

void run_trace_add(run_trace *t, const trace_event *e)
{
    if (e->unit >= t->unit_count || e->op == 0 || e->to < e->from || op_function(t->m, e->op) == 0) return;
    trace_kernel *k = kernel_of(t, e->op);
    t->slice_total++;
    if (e->op == k->op) {
        if (e->cause.n == 0) add_instance(t, k, e);
        return;
    }
    const uint32_t cause =
        e->cause.n == 0 ? TRACE_NONE : name_number(t->arena, t->causes, &t->cause_count, TRACE_CAUSES_MAX, e->cause);
    t->ops = grow(t->arena, t->ops, &t->op_capacity, (size_t)e->op + 1, sizeof *t->ops);
    if (t->ops[e->op] == NULL) t->ops[e->op] = arena_alloc(t->arena, sizeof *t->ops[0]);
    add_to(t->ops[e->op], e, cause);
    add_to(&k->pipes[t->units[e->unit].pipe], e, cause);
    keep(t, k, e, cause);
}

const trace_sum *run_trace_op(const run_trace *t, op_id o) { return o < t->op_capacity ? t->ops[o] : NULL; }

const trace_kernel *run_trace_kernel(const run_trace *t, op_id kernel)
{
    for (size_t i = 0; i < t->kernel_count; i++)
        if (t->kernels[i].op == kernel) return &t->kernels[i];
    return NULL;
}

int64_t trace_sum_stalled(const trace_sum *s)
{
    int64_t all = 0;
    for (uint32_t i = 0; i < TRACE_CAUSES_MAX; i++) add_number(&all, s->stalls[i]);
    return all;
}
