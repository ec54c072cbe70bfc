#include "core/semantics_check.h"

#include "core/core_diag.h"
#include "core/semantics_compare.h"
#include "core/semantics_run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct semantics_check {
    semantics_runs runs;
    module *kept;  /* the module before a step that may change the order of sums, or fix symbols of `tune` */
    bool is_stale; /* what ran last is not the module any more */
    uint32_t step_count, exact_count; /* compared, and with the same bits */
    double worst_ratio;               /* error over limit, of steps that may change the order of sums */
    const char *worst_step;
};

exit_status semantics_check_begin(arena *a, plugin_host *host, const semantics_request *request, module *m,
                                  flight_recorder *recorder, semantics_check **out)
{
    semantics_check *c = arena_alloc(a, sizeof *c);
    c->runs = (semantics_runs){
        .arena = a, .diags = context_diags(module_context(m)), .request = request, .recorder = recorder};
    *out = c;
    TRY_EXIT(semantics_runs_open(&c->runs, host, m));
    for (uint32_t i = 0; i < c->runs.function_count; i++) {
        checked_function *fn = &c->runs.functions[i];
        if (semantics_run(&c->runs, m, fn, 0, &fn->before) == OK) continue;
        semantics_note_inputs(&c->runs, fn);
        diag_note(c->runs.diags, NO_POS, "--check=semantics cannot go on: this is the module as it was given");
        return EXIT_STATUS_FAILED;
    }
    return EXIT_STATUS_OK;
}

static void drop_kept(semantics_check *c)
{
    if (c->kept) module_destroy(c->kept);
    c->kept = NULL;
}

void semantics_check_end(semantics_check *c)
{
    if (c) drop_kept(c);
    for (uint32_t i = 0; c && i < c->runs.function_count; i++) {
        if (c->runs.functions[i].before.arena) arena_destroy(c->runs.functions[i].before.arena);
        c->runs.functions[i].before = (outcome){0};
    }
}

/* ---- comparing ---- */

static void put_index(const bound_tensor *t, uint64_t linear, text_buffer *out)
{
    int64_t index[TYPE_MAX_RANK] = {0};
    for (uint32_t d = t->rank; d-- > 0;) {
        index[d] = (int64_t)(linear % (uint64_t)t->dims[d]);
        linear /= (uint64_t)t->dims[d];
    }
    text_putc(out, '[');
    for (uint32_t d = 0; d < t->rank; d++) text_printf(out, "%s%" PRId64, d ? ", " : "", index[d]);
    text_putc(out, ']');
}

static void blame(const semantics_check *c, const checked_function *fn, const run_agent *agent, bool reassociates,
                  const bound_tensor *before, const bound_tensor *after, const semantics_difference *r)
{
    text_buffer t;
    text_init(&t);
    text_printf(&t, "`%.*s` of @%s at ", (int)before->name.n, before->name.p, fn->name);
    put_index(before, r->at, &t);
    text_puts(&t, " was ");
    semantics_put_element(before, r->at, &t);
    text_puts(&t, " and is ");
    semantics_put_element(after, r->at, &t);
    text_printf(&t, ", error %.3g, limit %.3g", r->error, r->limit);
    diag_error(c->runs.diags, agent->at, &E1901, "step `%s` (pass %s of plugin %s) changed the numbers: %s",
               agent->step, agent->id, agent->plugin, t.p);
    text_fini(&t);
    diag_note(c->runs.diags, agent->at,
              "%" PRIu64 " of %" PRIu64 " elements are beyond their limit; the pass declares %s", r->count,
              before->element_count,
              reassociates ? "that it may change the order of sums" : "exact numerics, so that no bit may change");
    semantics_note_inputs(&c->runs, fn);
}

static status blame_shape(const semantics_check *c, const checked_function *fn, const run_agent *agent)
{
    diag_error(c->runs.diags, agent->at, &E1902,
               "step `%s` (pass %s of plugin %s) changed number, element type or extents of the outputs of @%s",
               agent->step, agent->id, agent->plugin, fn->name);
    semantics_note_inputs(&c->runs, fn);
    return FAILED;
}

static const bound_tensor *next_output(const bound_call *call, uint32_t *at)
{
    while (*at < call->parameter_count + call->result_count) {
        const bound_tensor *t = &call->tensors[(*at)++];
        if (t->is_output) return t;
    }
    return NULL;
}

/* The outputs in one order: inout and out parameters, then results; bufferize turns the last into parameters behind
 * all others. */
static status same_outputs(const bound_call *before, const bound_call *after)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        const bound_tensor *a = next_output(before, &i), *b = next_output(after, &k);
        if (!a && !b) return OK;
        if (!a || !b || a->type != b->type || a->rank != b->rank) return FAILED;
        for (uint32_t d = 0; d < a->rank; d++) {
            if (a->dims[d] != b->dims[d]) return FAILED;
        }
    }
}

/* The spread of every output of the module before the step, one array for each. */
static status measure_spread(semantics_check *c, checked_function *fn, arena *a, double ***out)
{
    const bound_call *call = &fn->before.call;
    const uint32_t count = call->parameter_count + call->result_count;
    double **spread = arena_array(a, count, sizeof *spread);
    for (uint32_t i = 0; i < count; i++) {
        if (call->tensors[i].is_output) spread[i] = arena_array(a, call->tensors[i].element_count, sizeof *spread[i]);
    }
    for (uint64_t n = 1; n <= SEMANTICS_RUNS; n++) {
        outcome perturbed;
        TRY(semantics_run(&c->runs, c->kept, fn, n, &perturbed));
        for (uint32_t i = 0; i < count; i++) {
            if (spread[i]) semantics_add_spread(&call->tensors[i], &perturbed.call.tensors[i], spread[i]);
        }
        arena_destroy(perturbed.arena);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (spread[i]) semantics_finish_spread(&call->tensors[i], SEMANTICS_RUNS, spread[i]);
    }
    *out = spread;
    return OK;
}

/* `spread` NULL: bit for bit. */
static status compare_outputs(semantics_check *c, const checked_function *fn, const outcome *after,
                              const run_agent *agent, double *const *spread, bool *is_same)
{
    uint32_t i = 0, k = 0;
    for (const bound_tensor *t = next_output(&fn->before.call, &i); t; t = next_output(&fn->before.call, &i)) {
        const bound_tensor *now = next_output(&after->call, &k);
        const semantics_difference r = semantics_compare(t, now, spread ? spread[i - 1] : NULL);
        *is_same &= r.is_same;
        if (spread && r.worst_ratio > c->worst_ratio) {
            c->worst_ratio = r.worst_ratio;
            c->worst_step = agent->step;
        }
        if (r.count == 0) continue;
        blame(c, fn, agent, spread != NULL, t, now, &r);
        return FAILED;
    }
    return OK;
}

/* The outputs differ in some bit, and may. */
static status compare_within(semantics_check *c, checked_function *fn, const outcome *after, const run_agent *agent)
{
    arena *a = arena_create("semantics spread");
    double **spread = NULL;
    bool is_same = true;
    status s = measure_spread(c, fn, a, &spread);
    if (s == OK) s = compare_outputs(c, fn, after, agent, spread, &is_same);
    arena_destroy(a);
    return s;
}

static bool has_same_bits(const checked_function *fn, const outcome *after)
{
    uint32_t i = 0, k = 0;
    for (const bound_tensor *t = next_output(&fn->before.call, &i); t; t = next_output(&fn->before.call, &i)) {
        if (!semantics_compare(t, next_output(&after->call, &k), NULL).is_same) return false;
    }
    return true;
}

static double largest_error(const checked_function *fn, const outcome *after)
{
    double most = 0;
    uint32_t i = 0, k = 0;
    for (const bound_tensor *t = next_output(&fn->before.call, &i); t; t = next_output(&fn->before.call, &i))
        most = fmax(most, semantics_compare(t, next_output(&after->call, &k), NULL).error);
    return most;
}

/* A step that fixed symbols of `tune` may have taken any of their values: the numbers before it are those of the value
 * that comes nearest to what it left. */
static status find_choice(semantics_check *c, checked_function *fn, const outcome *after)
{
    const uint64_t count = c->kept ? semantics_choices(c->kept) : 1;
    double nearest = largest_error(fn, after);
    uint64_t best = 0;
    for (uint64_t n = 1; n < count && nearest > 0; n++) {
        checked_function other = *fn;
        c->runs.choice = n;
        TRY(semantics_run(&c->runs, c->kept, fn, 0, &other.before));
        const double error = largest_error(&other, after);
        if (error < nearest) {
            arena_destroy(fn->before.arena);
            fn->before = other.before;
            nearest = error;
            best = n;
        } else
            arena_destroy(other.before.arena);
    }
    c->runs.choice = best;
    return OK;
}

/* The outputs have the same types and other bits. */
static status compare_changed(semantics_check *c, checked_function *fn, const outcome *after, const run_agent *agent,
                              const pto_pass *pass, bool *is_same)
{
    TRY(find_choice(c, fn, after));
    status s = OK;
    if (!has_same_bits(fn, after)) {
        *is_same = false;
        s = pass->flags & PTO_PASS_REASSOCIATES ? compare_within(c, fn, after, agent)
                                                : compare_outputs(c, fn, after, agent, NULL, is_same);
    }
    c->runs.choice = 0;
    return s;
}

static status check_function(semantics_check *c, module *m, checked_function *fn, const run_agent *agent,
                             const pto_pass *pass, bool *is_same)
{
    outcome after;
    if (semantics_run(&c->runs, m, fn, 0, &after) != OK) {
        if (flight_recorder_stop(c->runs.recorder)) return FAILED;
        diag_error(c->runs.diags, agent->at, &E1902,
                   "step `%s` (pass %s of plugin %s) left a module that does not run on %s, as it did before",
                   agent->step, agent->id, agent->plugin, semantics_backend_id);
        semantics_note_inputs(&c->runs, fn);
        return FAILED;
    }
    status s = OK;
    if (same_outputs(&fn->before.call, &after.call) != OK)
        s = blame_shape(c, fn, agent);
    else if (!has_same_bits(fn, &after))
        s = compare_changed(c, fn, &after, agent, pass, is_same);
    arena_destroy(fn->before.arena);
    fn->before = after;
    return s;
}

void semantics_check_go_back(semantics_check *c) { c->is_stale = true; }

static status run_again(semantics_check *c, module *m)
{
    for (uint32_t i = 0; i < c->runs.function_count; i++) {
        outcome again;
        TRY(semantics_run(&c->runs, m, &c->runs.functions[i], 0, &again));
        arena_destroy(c->runs.functions[i].before.arena);
        c->runs.functions[i].before = again;
    }
    c->is_stale = false;
    return OK;
}

status semantics_check_before(semantics_check *c, module *m, const pto_pass *pass)
{
    drop_kept(c);
    if (c->is_stale) TRY(run_again(c, m));
    if (pass->flags & PTO_PASS_REASSOCIATES || semantics_choices(m) > 1) c->kept = module_clone(m);
    return OK;
}

status semantics_check_step(semantics_check *c, module *m, const run_agent *agent, const pto_pass *pass)
{
    bool is_same = true;
    for (uint32_t i = 0; i < c->runs.function_count; i++)
        TRY(check_function(c, m, &c->runs.functions[i], agent, pass, &is_same));
    c->step_count++;
    c->exact_count += is_same;
    return OK;
}

void semantics_check_summary(const semantics_check *c, text_buffer *out)
{
    text_printf(out, "semantics: steps that changed the module and not the numbers: %" PRIu32 ", bit for bit: %" PRIu32,
                c->step_count, c->exact_count);
    if (c->worst_step) text_printf(out, "; largest error %.2g of its limit, after `%s`", c->worst_ratio, c->worst_step);
    text_putc(out, '\n');
    for (uint32_t i = 0; i < c->runs.function_count; i++) {
        const checked_function *fn = &c->runs.functions[i];
        text_printf(out, "semantics: @%s on %s inputs", fn->name, c->runs.request->seed ? "random" : "given");
        for (uint32_t k = 0; k < fn->bound_count; k++)
            text_printf(out, ", $%.*s = %" PRId64, (int)fn->bound[k].name.n, fn->bound[k].name.p, fn->bound[k].value);
        text_putc(out, '\n');
    }
}

exit_status semantics_spread(arena *a, plugin_host *host, const semantics_request *request, module *m,
                             flight_recorder *recorder, double ***out)
{
    semantics_check *c = NULL;
    double **spread = NULL;
    exit_status s = semantics_check_begin(a, host, request, m, recorder, &c);
    if (s == EXIT_STATUS_OK) {
        c->kept = module_clone(m);
        if (measure_spread(c, &c->runs.functions[0], a, &spread) != OK) s = EXIT_STATUS_FAILED;
    }
    if (s == EXIT_STATUS_OK) {
        const bound_call *call = &c->runs.functions[0].before.call;
        const uint32_t count = call->parameter_count + call->result_count;
        uint32_t n = 0;
        *out = arena_array(a, count, sizeof **out);
        for (uint32_t i = 0; i < count; i++) {
            if (!spread[i]) continue;
            for (uint64_t k = 0; k < call->tensors[i].element_count; k++) spread[i][k] *= 2;
            (*out)[n++] = spread[i];
        }
    }
    semantics_check_end(c);
    return s;
}
