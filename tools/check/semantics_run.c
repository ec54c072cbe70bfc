#include "tools/check/semantics_run.h"

#include "ir/tune.h"
#include "ir/verify/verifier.h"
#include "tools/base/tool_diag.h"
#include "tools/check/semantics_trials.h"
#include "tools/run/call_init.h"

#include <inttypes.h>
#include <string.h>

const char semantics_backend_id[] = "pto.reference";

static uint64_t count_of(tune_range r) { return r.hi < r.lo ? 1 : (uint64_t)((r.hi - r.lo) / r.step) + 1; }

uint64_t semantics_choices(module *m)
{
    uint64_t n = 1;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f)
        {
            if (op_kind_of(m, o) == OP_TUNE && n < TUNE_CHOICES_MAX) n *= count_of(tune_range_of(m, o));
        }
    }
    return n < TUNE_CHOICES_MAX ? n : TUNE_CHOICES_MAX;
}

/* A copy without symbols of `tune`: choice 0 takes for all the least value of their range. NULL: there is none. */
static status fix_tunes(module *m, uint64_t choice, module **out)
{
    *out = NULL;
    bool any = false;
    BLOCK_EACH_OP(m, f, module_top(m)) any |= tune_find(m, f, (str){NULL, 0}) != 0;
    if (!any) return OK;
    module *copy = module_clone(m);
    *out = copy;
    BLOCK_EACH_OP(copy, f, module_top(copy)) {
        for (op_id t = tune_find(copy, f, (str){NULL, 0}); t != 0; t = tune_find(copy, f, (str){NULL, 0})) {
            const tune_range r = tune_range_of(copy, t);
            const uint64_t n = count_of(r);
            TRY(tune_fix(copy, t, r.lo + (int64_t)(choice % n) * r.step));
            choice /= n;
        }
    }
    return module_verify(copy);
}

void semantics_inputs_of(arena *a, const module *m, op_id f, semantics_inputs *out)
{
    const block_id body = function_body(m, f);
    *out = (semantics_inputs){.names = arena_array(a, block_arg_count(m, body) + 1u, sizeof *out->names)};
    for (uint32_t i = 0; i < block_arg_count(m, body); i++) {
        if (str_is(function_param_mode(m, f, i), "out")) continue;
        text_buffer text;
        text_init(&text);
        value_print_name(m, block_arg(m, body, i), &text);
        out->names[out->count++] = (str){arena_strndup(a, text.p + 1, text.n - 1), text.n - 1};
        text_fini(&text);
    }
}

/* The inputs under the names that parameters have now; a module that was set back lacks constants that a step made. */
static status name_inputs(semantics_runs *r, arena *a, const module *m, op_id f, const checked_function *fn,
                          const trial *t, uint32_t *count, given_tensor **out)
{
    semantics_inputs now;
    semantics_inputs_of(a, m, f, &now);
    given_tensor *inputs = arena_array(a, t->input_count, sizeof *inputs);
    for (uint32_t i = 0; i < now.count && i < t->input_count; i++) {
        inputs[i] = t->inputs[i];
        inputs[i].name = now.names[i];
    }
    *out = inputs;
    *count = now.count;
    if (now.count == t->input_count || (t->own_count != 0 && now.count == t->own_count)) return OK;
    diag_error(r->diags, op_pos(m, f), &E1902, "@%s has %" PRIu32 " inputs, it had %" PRIu32, fn->name, now.count,
               t->input_count);
    return FAILED;
}

/* Memory for three times the outputs. */
static void make_room_for_bounds(arena *a, const bound_call *call)
{
    for (uint32_t i = 0; i < call->parameter_count + call->result_count; i++) {
        bound_tensor *t = &call->tensors[i];
        if (!t->is_output || t->abi.bytes == 0) continue;
        uint8_t *data = arena_alloc_aligned(a, 3 * t->abi.bytes, 64);
        memcpy(data, t->data, t->abi.bytes);
        t->data = data;
        t->abi.data = data;
        t->abi.bytes *= 3;
    }
    for (uint32_t i = 0; i < call->result_count; i++) {
        bound_tensor *t = &call->tensors[call->parameter_count + i];
        if (t->alias != 0) t->abi = call->tensors[t->alias - 1].abi;
    }
}

static status run_function(semantics_runs *r, module *m, const checked_function *fn, const trial *t, bool with_bounds,
                           outcome *out)
{
    const op_id f = module_find_symbol(m, string_intern_z(module_context(m), fn->name));
    if (f == 0 || op_kind_of(m, f) != OP_FUNC) {
        diag_error(r->diags, NO_POS, &E1902, "function @%s is gone", fn->name);
        return FAILED;
    }
    given_tensor *inputs;
    uint32_t count;
    TRY(name_inputs(r, out->arena, m, f, fn, t, &count, &inputs));
    TRY(call_bind(out->arena, m, f, count, inputs, t->symbol_count, t->symbols, 0, NULL, &out->call));
    call_name_outputs(&out->call, &fn->outputs);
    if (with_bounds) make_room_for_bounds(out->arena, &out->call);
    r->bound->s = with_bounds ? STR("all") : STR("none");
    const backend_request request = {.repeat = 1};
    backend_result result = {0};
    return backend_run(out->arena, &r->reference, &request, m, &out->call, r->recorder, &result) == EXIT_STATUS_OK
               ? OK
               : FAILED;
}

static status run(semantics_runs *r, module *m, const checked_function *fn, const trial *t, bool with_bounds,
                  outcome *out)
{
    module *fixed;
    *out = (outcome){.arena = arena_create("semantics check")};
    status s = fix_tunes(m, r->choice, &fixed);
    if (s == OK) s = run_function(r, fixed != NULL ? fixed : m, fn, t, with_bounds, out);
    if (fixed != NULL) module_destroy(fixed);
    if (s == OK) return OK;
    arena_destroy(out->arena);
    *out = (outcome){0};
    return FAILED;
}

bool semantics_has(module *m, const checked_function *fn)
{
    return !fn->is_made || module_find_symbol(m, string_intern_z(module_context(m), fn->name)) != 0;
}

status semantics_run(semantics_runs *r, module *m, const checked_function *fn, const trial *t, outcome *out)
{
    return run(r, m, fn, t, false, out);
}

status semantics_run_bounds(semantics_runs *r, module *m, const checked_function *fn, const trial *t, outcome *out)
{
    return run(r, m, fn, t, true, out);
}

/* ---- which functions ---- */

static bool is_public(const module *m, op_id f)
{
    return op_kind_of(m, f) == OP_FUNC && str_is(op_attr_str(m, f, "visibility"), "public");
}

static void add_function(semantics_runs *r, module *m, op_id f)
{
    checked_function *fn = &r->functions[r->function_count++];
    *fn = (checked_function){.name = string_of(module_context(m), function_name(m, f)).p};
    call_output_names(r->arena, m, fn->name, &fn->outputs);
}

static status choose_functions(semantics_runs *r, module *m)
{
    const semantics_request *q = r->request;
    uint32_t count = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) count += is_public(m, f);
    r->functions = arena_array(r->arena, 2 * count + 2u, sizeof *r->functions); /* and what computes their constants */
    if (q->entry != NULL || !q->finds_inputs) {
        const op_id f = call_entry(m, q->entry);
        if (f == 0) return FAILED;
        add_function(r, m, f);
        return OK;
    }
    BLOCK_EACH_OP(m, f, module_top(m)) {
        if (is_public(m, f)) add_function(r, m, f);
    }
    if (r->function_count > 0) return OK;
    diag_error(r->diags, (src_pos){string_of(module_context(m), module_file(m)).p, 0, 0}, &E1903,
               "--check=semantics has nothing to run: the module has no public function");
    return FAILED;
}

/* A symbol that no function has is misspelt; symbol_search leaves out those of other functions. */
static status check_symbols(const semantics_runs *r)
{
    const semantics_request *q = r->request;
    for (uint32_t i = 0; q->finds_inputs && i < q->symbol_count; i++) {
        bool is_used = q->symbols[i].is_fixed;
        for (uint32_t k = 0; k < r->function_count; k++) {
            const checked_function *fn = &r->functions[k];
            const trial *t = &fn->trials[0];
            for (uint32_t n = 0; n < t->symbol_count; n++) is_used |= str_eq(t->symbols[n].name, q->symbols[i].name);
        }
        if (is_used) continue;
        diag_error(r->diags, NO_POS, &E1608, "no public function has a symbol $%.*s that --sym could give",
                   (int)q->symbols[i].name.n, q->symbols[i].name.p);
        return FAILED;
    }
    return OK;
}

static exit_status open_reference(semantics_runs *r, plugin_host *host)
{
    static const pipeline no_passes = {.file = "<command line>"};
    TRY_EXIT(pipeline_load(r->arena, r->diags, host, &no_passes, semantics_backend_id, &r->reference));
    const run_agent *agent = r->reference.backend_agent;
    const int32_t option = option_index_by_name(agent->options, STR("bound"));
    value *values = arena_array(r->arena, option_count(agent->options), sizeof *values);
    memcpy(values, agent->values, option_count(agent->options) * sizeof *values);
    r->reference.backend_agent->values = values;
    if (option >= 0) {
        r->bound = &values[option];
        return EXIT_STATUS_OK;
    }
    diag_error(r->diags, NO_POS, &E1903, "the backend %s that was found has no option `bound`", semantics_backend_id);
    return EXIT_STATUS_PLUGIN;
}

void semantics_put_inputs(const semantics_runs *r, const trial *t, bool with_seed, text_buffer *out)
{
    text_puts(out, input_values_name(t->values));
    if (with_seed && t->values != INPUTS_GIVEN)
        text_printf(out, ", seed %" PRIu64, r->request->seed ? r->request->seed : 1);
    for (uint32_t i = 0; i < t->bound_count; i++)
        text_printf(out, ", $%.*s = %" PRId64, (int)t->bound[i].name.n, t->bound[i].name.p, t->bound[i].value);
}

void semantics_note_inputs(const semantics_runs *r, const checked_function *fn, const trial *t)
{
    text_buffer text;
    text_init(&text);
    semantics_put_inputs(r, t, true, &text);
    diag_note(r->diags, NO_POS, "@%s was run on %s", fn->name, text.p);
    text_fini(&text);
}

/* What is given for an @f.init of the user becomes what it makes. */
static exit_status make_constants(semantics_runs *r, module *m)
{
    const semantics_request *q = r->request;
    const op_id f = module_find_symbol(m, string_intern_z(module_context(m), r->functions[0].name));
    if (q->finds_inputs || call_init_of(m, f) == 0) return EXIT_STATUS_OK;
    given_call given = {f, q->tensor_count, q->symbol_count, q->tensors, q->symbols, q->seed, NULL};
    TRY_EXIT(call_init_run(r->arena, &r->reference, m, r->recorder, &given));
    semantics_request *own = arena_alloc(r->arena, sizeof *own);
    *own = *q;
    own->tensor_count = given.tensor_count;
    own->tensors = given.tensors;
    own->symbol_count = given.symbol_count;
    own->symbols = given.symbols;
    r->request = own;
    return EXIT_STATUS_OK;
}

exit_status semantics_runs_open(semantics_runs *r, plugin_host *host, module *m)
{
    TRY_AS(EXIT_STATUS_USAGE, choose_functions(r, m));
    TRY_EXIT(open_reference(r, host));
    TRY_EXIT(make_constants(r, m));
    for (uint32_t i = 0; i < r->function_count; i++) TRY_EXIT(semantics_trials_find(r, m, &r->functions[i]));
    TRY_AS(EXIT_STATUS_USAGE, check_symbols(r));
    return EXIT_STATUS_OK;
}
