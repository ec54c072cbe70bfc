#include "tools/check/semantics_check.h"

#include "tools/base/tool_diag.h"
#include "tools/check/semantics_compare.h"
#include "tools/check/semantics_constants.h"
#include "tools/check/semantics_trials.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct semantics_check {
    semantics_runs runs;
    module *kept;  /* the module before a step that may change the order of sums, or fix symbols of `tune` */
    bool is_stale; /* what ran last is not the module any more */
    uint32_t step_count, exact_count; /* compared, and with the same bits */
    uint64_t open_count;              /* elements that changed where any number is allowed */
    const char *open_step;            /* the first that changed some */
    double worst_ratio;               /* error over limit, of steps that may change the order of sums */
    const char *worst_step;
};

/* What does not run before any step says nothing about one: an error when it is what was asked for. */
static status run_first(semantics_check *c, module *m, checked_function *fn)
{
    for (uint32_t k = 0; k < fn->trial_count;) {
        trial *t = &fn->trials[k];
        diag_hush(c->runs.diags, k > 0);
        const status s = semantics_run(&c->runs, m, fn, t, &t->before);
        diag_hush(c->runs.diags, false);
        if (s == OK) {
            k++;
            continue;
        }
        if (flight_recorder_stop(c->runs.recorder)) return FAILED;
        if (k == 0) {
            semantics_note_inputs(&c->runs, fn, t);
            diag_note(c->runs.diags, NO_POS, "--check=semantics cannot go on: this is the module as it was given");
            return FAILED;
        }
        const char *why = diag_hushed(c->runs.diags);
        semantics_trials_leave_out(&c->runs, fn, k, why != NULL ? why : "it does not run");
    }
    return OK;
}

exit_status semantics_check_begin(arena *a, plugin_host *host, const semantics_request *request, module *m,
                                  flight_recorder *recorder, semantics_check **out)
{
    semantics_check *c = arena_alloc(a, sizeof *c);
    c->runs = (semantics_runs){
        .arena = a, .diags = context_diags(module_context(m)), .request = request, .recorder = recorder};
    *out = c;
    TRY_EXIT(semantics_runs_open(&c->runs, host, m));
    for (uint32_t i = 0; i < c->runs.function_count; i++)
        TRY_AS(EXIT_STATUS_FAILED, run_first(c, m, &c->runs.functions[i]));
    return EXIT_STATUS_OK;
}

static void drop_kept(semantics_check *c)
{
    if (c->kept != NULL) module_destroy(c->kept);
    c->kept = NULL;
}

void semantics_check_end(semantics_check *c)
{
    if (c != NULL) drop_kept(c);
    for (uint32_t i = 0; c != NULL && i < c->runs.function_count; i++) {
        checked_function *fn = &c->runs.functions[i];
        for (uint32_t k = 0; k < fn->trial_count; k++) {
            if (fn->trials[k].before.arena != NULL) arena_destroy(fn->trials[k].before.arena);
            fn->trials[k].before = (outcome){0};
        }
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

static void note_bounds(const semantics_check *c, const semantics_bounds *b, uint64_t at)
{
    text_buffer t;
    text_init(&t);
    semantics_put_element(b->least, at, &t);
    text_puts(&t, " to ");
    semantics_put_element(b->most, at, &t);
    const bool is_nan = semantics_allows_nan(b, at);
    diag_note(c->runs.diags, NO_POS, "the rows of the ops before the step allow %s there%s", t.p,
              is_nan ? ", and NaN" : "");
    text_fini(&t);
}

/* A step at work on one function and one set of inputs. */
typedef struct judgement {
    const checked_function *fn;
    trial *trial;
    const run_agent *agent;
    const pto_pass *pass;
} judgement;

static void blame(const semantics_check *c, const judgement *j, const semantics_bounds *bounds,
                  const bound_tensor *before, const bound_tensor *after, const semantics_difference *r)
{
    const run_agent *agent = j->agent;
    text_buffer t;
    text_init(&t);
    text_printf(&t, "`%.*s` of @%s at ", (int)before->name.n, before->name.p, j->fn->name);
    put_index(before, r->at, &t);
    text_puts(&t, " was ");
    semantics_put_element(before, r->at, &t);
    text_puts(&t, " and is ");
    semantics_put_element(after, r->at, &t);
    text_printf(&t, ", error %.3g, limit %.3g", r->error, r->limit);
    char who[RUN_AGENT_TEXT_BYTES];
    diag_error(c->runs.diags, agent->at, &E1901, "%s changed the numbers: %s", run_agent_text(agent, who), t.p);
    text_fini(&t);
    diag_note(c->runs.diags, agent->at,
              "%" PRIu64 " of %" PRIu64 " elements are beyond their limit; the pass declares %s", r->count,
              before->element_count,
              bounds != NULL ? "that it may change the order of sums" : "exact numerics, so that no bit may change");
    if (bounds != NULL) note_bounds(c, bounds, r->at);
    semantics_note_inputs(&c->runs, j->fn, j->trial);
}

static status blame_shape(const semantics_check *c, const judgement *j)
{
    char who[RUN_AGENT_TEXT_BYTES];
    diag_error(c->runs.diags, j->agent->at, &E1902, "%s changed number, element type or extents of the outputs of @%s",
               run_agent_text(j->agent, who), j->fn->name);
    semantics_note_inputs(&c->runs, j->fn, j->trial);
    return FAILED;
}

static status blame_run(const semantics_check *c, const judgement *j)
{
    if (flight_recorder_stop(c->runs.recorder)) return FAILED;
    char who[RUN_AGENT_TEXT_BYTES];
    diag_error(c->runs.diags, j->agent->at, &E1902, "%s left a module that does not run on %s, as it did before",
               run_agent_text(j->agent, who), semantics_backend_id);
    semantics_note_inputs(&c->runs, j->fn, j->trial);
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

/* The outputs in one order: inout and out parameters, then results; bufferize turns the last into parameters after
 * all others. */
static status same_outputs(const bound_call *before, const bound_call *after)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        const bound_tensor *a = next_output(before, &i), *b = next_output(after, &k);
        if (a == NULL && b == NULL) return OK;
        if (a == NULL || b == NULL || a->type != b->type || a->rank != b->rank) return FAILED;
        for (uint32_t d = 0; d < a->rank; d++) {
            if (a->dims[d] != b->dims[d]) return FAILED;
        }
    }
}

/* ---- bounds ---- */

/* A part of an output: least, most, NaN. */
static const bound_tensor *part_of(arena *a, const bound_tensor *output, uint32_t part)
{
    bound_tensor *t = arena_alloc(a, sizeof *t);
    *t = *output;
    if (t->element_count > 0) t->data += part * t->element_count * dtype_bytes(t->type);
    return t;
}

/* A row for each output, in their order, with what they point at in out->arena. */
static status find_bounds(semantics_check *c, module *m, const checked_function *fn, const trial *t, outcome *out,
                          const semantics_bounds **rows)
{
    TRY(semantics_run_bounds(&c->runs, m, fn, t, out));
    const bound_call *call = &out->call;
    semantics_bounds *row = arena_array(out->arena, call->parameter_count + call->result_count + 1u, sizeof *row);
    *rows = row;
    uint32_t i = 0;
    for (const bound_tensor *o = next_output(call, &i); o != NULL; o = next_output(call, &i))
        *row++ = (semantics_bounds){part_of(out->arena, o, 0), part_of(out->arena, o, 1), part_of(out->arena, o, 2)};
    return OK;
}

/* ---- one step ---- */

/* `rows` NULL: bit for bit. */
static status compare_outputs(semantics_check *c, const judgement *j, const outcome *after,
                              const semantics_bounds *rows, bool *is_same)
{
    uint32_t i = 0, k = 0, row = 0;
    for (const bound_tensor *t = next_output(&j->trial->before.call, &i); t != NULL;
         t = next_output(&j->trial->before.call, &i)) {
        const bound_tensor *now = next_output(&after->call, &k);
        const semantics_bounds *bounds = rows != NULL ? &rows[row++] : NULL;
        const semantics_difference r = semantics_compare(t, now, bounds);
        *is_same &= r.is_same;
        if (r.open > 0 && c->open_count == 0) c->open_step = j->agent->step;
        c->open_count += r.open;
        if (bounds != NULL && r.worst_ratio > c->worst_ratio) {
            c->worst_ratio = r.worst_ratio;
            c->worst_step = j->agent->step;
        }
        if (r.count == 0) continue;
        blame(c, j, bounds, t, now, &r);
        return FAILED;
    }
    return OK;
}

/* The outputs differ in some bit, and may. */
static status compare_within(semantics_check *c, const judgement *j, const outcome *after)
{
    outcome sets;
    const semantics_bounds *rows;
    bool is_same = true;
    TRY(find_bounds(c, c->kept, j->fn, j->trial, &sets, &rows));
    const status s = compare_outputs(c, j, after, rows, &is_same);
    arena_destroy(sets.arena);
    return s;
}

static bool has_same_bits(const trial *j, const outcome *after)
{
    uint32_t i = 0, k = 0;
    for (const bound_tensor *t = next_output(&j->before.call, &i); t != NULL; t = next_output(&j->before.call, &i)) {
        if (!semantics_compare(t, next_output(&after->call, &k), NULL).is_same) return false;
    }
    return true;
}

static double largest_error(const outcome *before, const outcome *after)
{
    double most = 0;
    uint32_t i = 0, k = 0;
    for (const bound_tensor *t = next_output(&before->call, &i); t != NULL; t = next_output(&before->call, &i))
        most = fmax(most, semantics_compare(t, next_output(&after->call, &k), NULL).error);
    return most;
}

/* A step that fixed symbols of `tune` may have taken any of their values: the numbers before it are those of the value
 * that comes nearest to what it left. */
static status find_choice(semantics_check *c, const judgement *j, const outcome *after)
{
    const uint64_t count = c->kept != NULL ? semantics_choices(c->kept) : 1;
    outcome *before = &j->trial->before;
    double nearest = largest_error(before, after);
    uint64_t best = 0;
    for (uint64_t n = 1; n < count && nearest > 0; n++) {
        outcome other;
        c->runs.choice = n;
        TRY(semantics_run(&c->runs, c->kept, j->fn, j->trial, &other));
        const double error = largest_error(&other, after);
        const bool is_nearer = error < nearest;
        arena_destroy(is_nearer ? before->arena : other.arena);
        if (!is_nearer) continue;
        *before = other;
        nearest = error;
        best = n;
    }
    c->runs.choice = best;
    return OK;
}

/* The outputs have the same types and other bits. */
static status compare_changed(semantics_check *c, const judgement *j, const outcome *after, bool *is_same)
{
    TRY(find_choice(c, j, after));
    status s = OK;
    if (!has_same_bits(j->trial, after)) {
        *is_same = false;
        s = j->pass->flags & PTO_PASS_REASSOCIATES ? compare_within(c, j, after)
                                                   : compare_outputs(c, j, after, NULL, is_same);
    }
    c->runs.choice = 0;
    return s;
}

static status check_trial(semantics_check *c, module *m, const judgement *j, bool *is_same)
{
    outcome after;
    if (semantics_run(&c->runs, m, j->fn, j->trial, &after) != OK) return blame_run(c, j);
    status s = OK;
    if (same_outputs(&j->trial->before.call, &after.call) != OK)
        s = blame_shape(c, j);
    else if (!has_same_bits(j->trial, &after))
        s = compare_changed(c, j, &after, is_same);
    arena_destroy(j->trial->before.arena);
    j->trial->before = after;
    return s;
}

void semantics_check_go_back(semantics_check *c) { c->is_stale = true; }

static status run_again(semantics_check *c, module *m)
{
    for (uint32_t i = 0; i < c->runs.function_count; i++) {
        checked_function *fn = &c->runs.functions[i];
        for (uint32_t k = 0; k < fn->trial_count && semantics_has(m, fn); k++) {
            outcome again;
            TRY(semantics_run(&c->runs, m, fn, &fn->trials[k], &again));
            arena_destroy(fn->trials[k].before.arena);
            fn->trials[k].before = again;
        }
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
    if (semantics_take_constants(&c->runs, m) != OK) {
        checked_function *first = &c->runs.functions[0];
        return blame_run(c, &(judgement){first, &first->trials[0], agent, pass});
    }
    for (uint32_t i = 0; i < c->runs.function_count; i++) {
        checked_function *fn = &c->runs.functions[i];
        for (uint32_t k = 0; k < fn->trial_count && semantics_has(m, fn); k++) {
            const judgement j = {fn, &fn->trials[k], agent, pass};
            TRY(check_trial(c, m, &j, &is_same));
        }
    }
    c->step_count++;
    c->exact_count += is_same;
    return OK;
}

void semantics_check_summary(const semantics_check *c, text_buffer *out)
{
    text_printf(out, "semantics: steps that changed the module and not the numbers: %" PRIu32 ", bit for bit: %" PRIu32,
                c->step_count, c->exact_count);
    if (c->worst_step != NULL)
        text_printf(out, "; largest error %.2g of its limit, after `%s`", c->worst_ratio, c->worst_step);
    text_putc(out, '\n');
    if (c->open_count > 0)
        text_printf(
            out, "semantics: undecided: %" PRIu64 " elements changed where any number is allowed, first after `%s`\n",
            c->open_count, c->open_step);
    for (uint32_t i = 0; i < c->runs.function_count; i++) {
        const checked_function *fn = &c->runs.functions[i];
        for (uint32_t k = 0; k < fn->trial_count; k++) {
            text_printf(out, "semantics: @%s on ", fn->name);
            semantics_put_inputs(&c->runs, &fn->trials[k], false, out);
            text_putc(out, '\n');
        }
        for (uint32_t k = 0; k < fn->left_out_count; k++)
            text_printf(out, "semantics: @%s not %s\n", fn->name, fn->left_out[k]);
    }
}

exit_status semantics_find_bounds(plugin_host *host, const semantics_request *request, module *m,
                                  flight_recorder *recorder, arena **out_arena, const semantics_bounds **out)
{
    semantics_check *c = NULL;
    semantics_request first = *request;
    outcome sets = {0};
    arena *a = arena_create("semantics bounds");
    first.only_first = true;
    exit_status s = semantics_check_begin(a, host, &first, m, recorder, &c);
    if (s == EXIT_STATUS_OK &&
        find_bounds(c, m, &c->runs.functions[0], &c->runs.functions[0].trials[0], &sets, out) != OK)
        s = EXIT_STATUS_FAILED;
    semantics_check_end(c);
    arena_destroy(a);
    *out_arena = sets.arena;
    return s;
}
