#include "core/semantics_check.h"

#include "core/backend_run.h"
#include "core/core_diag.h"
#include "core/semantics_compare.h"
#include "core/supervisor.h"
#include "core/symbol_search.h"
#include "ir/float_format.h"
#include "ir/tune.h"
#include "ir/verifier.h"

#include <inttypes.h>
#include <string.h>

static const char backend_id[] = "pto.reference";

/* What one run gave; lives in an arena of its own. */
typedef struct outcome {
    arena *arena;
    bound_call call;
} outcome;

typedef struct checked_function {
    const char *name;
    given_tensor *inputs; /* in the order of the parameters; names as they were */
    uint32_t input_count;
    given_symbol *symbols;
    uint32_t symbol_count;
    given_symbol *bound; /* all of them, for messages */
    uint32_t bound_count;
    output_names outputs; /* what the user calls them */
    outcome before;
} checked_function;

struct semantics_check {
    arena *arena;
    diag_engine *diags;
    const semantics_request *request;
    flight_recorder *recorder;
    opened_pipeline reference;
    value *perturb; /* the backend's option, to be set */
    module *kept;   /* the module before a step that may change the order of sums */
    bool is_stale;  /* what ran last is not the module any more */
    checked_function *functions;
    uint32_t function_count;
    uint32_t step_count, exact_count; /* compared, and with the same bits */
    double worst_ratio;               /* error over limit, of steps that may change the order of sums */
    const char *worst_step;
};

/* ---- one run ---- */

/* A copy without symbols of `tune`: those that nobody gave get the least value of their range. NULL: there is none. */
static status fix_tunes(module *m, module **out)
{
    bool any = false;
    *out = NULL;
    BLOCK_EACH_OP(m, f, module_top(m)) any |= tune_find(m, f, (str){NULL, 0}) != 0;
    if (!any) return OK;
    module *copy = module_clone(m);
    *out = copy;
    BLOCK_EACH_OP(copy, f, module_top(copy)) {
        for (op_id t = tune_find(copy, f, (str){NULL, 0}); t != 0; t = tune_find(copy, f, (str){NULL, 0}))
            TRY(tune_fix(copy, t, tune_range_of(copy, t).lo));
    }
    return module_verify(copy);
}

/* In +-[0.5, 1] times the error that one op may make. The backend does the same to what ops give. */
static void perturb_inputs(const bound_call *call, uint64_t seed)
{
    uint64_t state = seed;
    for (uint32_t i = 0; i < call->parameter_count; i++) {
        const bound_tensor *t = &call->tensors[i];
        for (uint64_t k = 0; t->is_input && t->type == DTYPE_F32 && k < t->element_count; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const double size = 0.5 + (double)(state >> 33) * 0x1p-32;
            float x;
            memcpy(&x, t->data + 4 * k, sizeof x);
            x = (float)((double)x * (1 + ((state & UINT64_C(1) << 32) != 0 ? size : -size) * 0x1p-21));
            memcpy(t->data + 4 * k, &x, sizeof x);
        }
    }
}

/* The inputs under the names that parameters have now. */
static status name_inputs(semantics_check *c, arena *a, const module *m, op_id f, const checked_function *fn,
                          given_tensor **out)
{
    bound_call call = {0};
    given_tensor *inputs = arena_array(a, fn->input_count, sizeof *inputs);
    uint32_t count = 0;
    const attr_id kinds = op_attr(m, f, "params");
    const ir_context *ir = module_context(m);
    call.parameter_count = block_arg_count(m, function_body(m, f));
    for (uint32_t i = 0; i < call.parameter_count; i++) {
        const attr_node *list = kinds ? attr_at(ir, kinds) : NULL;
        const bool is_out = list && i < list->count && str_is(string_of(ir, attr_at(ir, list->items[i])->id), "out");
        if (is_out) continue;
        if (count < fn->input_count) {
            text_buffer t;
            text_init(&t);
            value_print_name(m, block_arg(m, function_body(m, f), i), &t);
            inputs[count] = fn->inputs[count];
            inputs[count].name = (str){arena_strndup(a, t.p + 1, t.n - 1), t.n - 1};
            text_fini(&t);
        }
        count++;
    }
    *out = inputs;
    if (count == fn->input_count) return OK;
    diag_error(c->diags, op_pos(m, f), &E1902, "@%s has %" PRIu32 " inputs, it had %" PRIu32, fn->name, count,
               fn->input_count);
    return FAILED;
}

static status run_function(semantics_check *c, module *m, checked_function *fn, uint64_t perturb, outcome *out)
{
    int unused;
    const op_id f = module_find_symbol(m, string_intern_z(module_context(m), fn->name));
    if (f == 0 || op_kind_of(m, f) != OP_FUNC) {
        diag_error(c->diags, NO_POS, &E1902, "function @%s is gone", fn->name);
        return FAILED;
    }
    given_tensor *inputs;
    TRY(name_inputs(c, out->arena, m, f, fn, &inputs));
    TRY(call_bind(out->arena, m, f, fn->input_count, inputs, fn->symbol_count, fn->symbols, 0, &out->call));
    call_name_outputs(&out->call, &fn->outputs);
    if (perturb) perturb_inputs(&out->call, perturb);
    c->perturb->i = (int64_t)perturb;
    const backend_request request = {.repeat = 1};
    backend_result result = {0};
    return backend_run(out->arena, &c->reference, &request, m, &out->call, c->recorder, &result, &unused);
}

static status run(semantics_check *c, module *m, checked_function *fn, uint64_t perturb, outcome *out)
{
    module *fixed;
    *out = (outcome){.arena = arena_create("semantics check")};
    status s = fix_tunes(m, &fixed);
    if (s == OK) s = run_function(c, fixed ? fixed : m, fn, perturb, out);
    if (fixed) module_destroy(fixed);
    if (s == OK) return OK;
    arena_destroy(out->arena);
    *out = (outcome){0};
    return FAILED;
}

/* ---- inputs ---- */

static void keep_symbols(semantics_check *c, checked_function *fn, const bound_call *call)
{
    fn->bound_count = call->symbol_count;
    fn->bound = arena_array(c->arena, call->symbol_count, sizeof *fn->bound);
    for (uint32_t i = 0; i < call->symbol_count; i++)
        fn->bound[i] = (given_symbol){.name = call->symbols[i], .value = call->values[i]};
}

static status keep_inputs(semantics_check *c, checked_function *fn, const bound_call *call)
{
    fn->inputs = arena_array(c->arena, call->parameter_count, sizeof *fn->inputs);
    for (uint32_t i = 0; i < call->parameter_count; i++) {
        const bound_tensor *t = &call->tensors[i];
        if (!t->is_input) continue;
        uint8_t *data = arena_alloc_aligned(c->arena, t->abi.bytes, 64);
        if (t->abi.bytes > 0) memcpy(data, t->data, t->abi.bytes);
        npy_array *array = arena_alloc(c->arena, sizeof *array);
        const char *descr = npy_descr(t->type);
        if (!descr) {
            diag_error(c->diags, NO_POS, &E1903, "input `%.*s` of @%s has elements of type %s, which no file can hold",
                       (int)t->name.n, t->name.p, fn->name, dtype_name(t->type));
            return FAILED;
        }
        *array = (npy_array){.header = {.kind = descr[1],
                                        .item_bytes = dtype_bytes(t->type),
                                        .rank = t->rank,
                                        .element_count = t->element_count},
                             .data = data};
        memcpy(array->header.dims, t->dims, sizeof array->header.dims);
        fn->inputs[fn->input_count++] =
            (given_tensor){.name = t->name, .path = "<the inputs of --check=semantics>", .array = array};
    }
    return OK;
}

/* Binds the inputs once; from then on they are given. */
static status bind_inputs(semantics_check *c, module *m, checked_function *fn, int *exit_status)
{
    const semantics_request *q = c->request;
    arena *scratch = arena_create("semantics inputs");
    const op_id f = module_find_symbol(m, string_intern_z(module_context(m), fn->name));
    bound_call call;
    *exit_status = EXIT_STATUS_USAGE;
    status s = OK;
    if (q->finds_inputs) {
        s = symbol_search(c->arena, m, f, q->symbol_count, q->symbols, &fn->symbol_count, &fn->symbols);
    } else {
        fn->symbol_count = q->symbol_count;
        fn->symbols = arena_array(c->arena, q->symbol_count, sizeof *fn->symbols);
        if (q->symbol_count > 0) memcpy(fn->symbols, q->symbols, q->symbol_count * sizeof *fn->symbols);
    }
    if (s == OK) {
        *exit_status = EXIT_STATUS_INPUT;
        s = call_bind(scratch, m, f, q->tensor_count, q->tensors, fn->symbol_count, fn->symbols, q->seed, &call);
    }
    if (s == OK) {
        keep_symbols(c, fn, &call);
        s = keep_inputs(c, fn, &call);
    }
    arena_destroy(scratch);
    return s;
}

/* ---- which functions ---- */

static bool is_public(const module *m, op_id f)
{
    return op_kind_of(m, f) == OP_FUNC && str_is(op_attr_str(m, f, "visibility"), "public");
}

static void add_function(semantics_check *c, module *m, op_id f)
{
    checked_function *fn = &c->functions[c->function_count++];
    *fn = (checked_function){.name = string_of(module_context(m), function_name(m, f)).p};
    call_output_names(c->arena, m, fn->name, &fn->outputs);
}

static status choose_functions(semantics_check *c, module *m)
{
    const semantics_request *q = c->request;
    uint32_t count = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) count += is_public(m, f);
    c->functions = arena_array(c->arena, count + 1u, sizeof *c->functions);
    if (q->entry || !q->finds_inputs) {
        const op_id f = call_entry(m, q->entry);
        if (f == 0) return FAILED;
        add_function(c, m, f);
        return OK;
    }
    BLOCK_EACH_OP(m, f, module_top(m)) {
        if (is_public(m, f)) add_function(c, m, f);
    }
    if (c->function_count > 0) return OK;
    diag_error(c->diags, (src_pos){string_of(module_context(m), module_file(m)).p, 0, 0}, &E1903,
               "--check=semantics has nothing to run: the module has no public function");
    return FAILED;
}

/* A symbol that no function has is misspelt; symbol_search leaves out those of other functions. */
static status check_symbols(const semantics_check *c)
{
    const semantics_request *q = c->request;
    for (uint32_t i = 0; q->finds_inputs && i < q->symbol_count; i++) {
        bool is_used = q->symbols[i].is_fixed;
        for (uint32_t k = 0; k < c->function_count; k++) {
            const checked_function *fn = &c->functions[k];
            for (uint32_t n = 0; n < fn->symbol_count; n++) is_used |= str_eq(fn->symbols[n].name, q->symbols[i].name);
        }
        if (is_used) continue;
        diag_error(c->diags, NO_POS, &E1608, "no public function has a symbol $%.*s that --sym could give",
                   (int)q->symbols[i].name.n, q->symbols[i].name.p);
        return FAILED;
    }
    return OK;
}

static status open_reference(semantics_check *c, plugin_host *host, int *exit_status)
{
    static const pipeline no_passes = {.file = "<command line>"};
    TRY(pipeline_open(c->arena, c->diags, host, &no_passes, backend_id, &c->reference, exit_status));
    const run_agent *agent = c->reference.backend_agent;
    const int32_t option = option_index_by_name(agent->options, STR("perturb"));
    value *values = arena_array(c->arena, option_count(agent->options), sizeof *values);
    memcpy(values, agent->values, option_count(agent->options) * sizeof *values);
    c->reference.backend_agent->values = values;
    if (option >= 0) {
        c->perturb = &values[option];
        return OK;
    }
    *exit_status = EXIT_STATUS_PLUGIN;
    diag_error(c->diags, NO_POS, &E1903, "the backend %s that was found has no option `perturb`", backend_id);
    return FAILED;
}

static void note_inputs(const semantics_check *c, const checked_function *fn)
{
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < fn->bound_count; i++)
        text_printf(&t, ", $%.*s = %" PRId64, (int)fn->bound[i].name.n, fn->bound[i].name.p, fn->bound[i].value);
    if (c->request->seed)
        diag_note(c->diags, NO_POS, "@%s was run on random inputs, seed %" PRIu64 "%s", fn->name, c->request->seed,
                  t.n > 0 ? t.p : "");
    else
        diag_note(c->diags, NO_POS, "@%s was run on the inputs that were given%s", fn->name, t.n > 0 ? t.p : "");
    text_fini(&t);
}

status semantics_check_begin(arena *a, plugin_host *host, const semantics_request *request, module *m,
                             flight_recorder *recorder, semantics_check **out, int *exit_status)
{
    semantics_check *c = arena_alloc(a, sizeof *c);
    *c = (semantics_check){
        .arena = a, .diags = context_diags(module_context(m)), .request = request, .recorder = recorder};
    *out = c;
    *exit_status = EXIT_STATUS_USAGE;
    TRY(choose_functions(c, m));
    TRY(open_reference(c, host, exit_status));
    for (uint32_t i = 0; i < c->function_count; i++) TRY(bind_inputs(c, m, &c->functions[i], exit_status));
    *exit_status = EXIT_STATUS_USAGE;
    TRY(check_symbols(c));
    *exit_status = EXIT_STATUS_FAILED;
    for (uint32_t i = 0; i < c->function_count; i++) {
        checked_function *fn = &c->functions[i];
        if (run(c, m, fn, 0, &fn->before) == OK) continue;
        note_inputs(c, fn);
        diag_note(c->diags, NO_POS, "--check=semantics cannot go on: this is the module as it was given");
        return FAILED;
    }
    return OK;
}

static void drop_kept(semantics_check *c)
{
    if (c->kept) module_destroy(c->kept);
    c->kept = NULL;
}

void semantics_check_end(semantics_check *c)
{
    if (c) drop_kept(c);
    for (uint32_t i = 0; c && i < c->function_count; i++) {
        if (c->functions[i].before.arena) arena_destroy(c->functions[i].before.arena);
        c->functions[i].before = (outcome){0};
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
    diag_error(c->diags, agent->at, &E1901, "step `%s` (pass %s of plugin %s) changed the numbers: %s", agent->step,
               agent->id, agent->plugin, t.p);
    text_fini(&t);
    diag_note(c->diags, agent->at, "%" PRIu64 " of %" PRIu64 " elements are beyond their limit; the pass declares %s",
              r->count, before->element_count,
              reassociates ? "that it may change the order of sums" : "exact numerics, so that no bit may change");
    note_inputs(c, fn);
}

static status blame_shape(const semantics_check *c, const checked_function *fn, const run_agent *agent)
{
    diag_error(c->diags, agent->at, &E1902,
               "step `%s` (pass %s of plugin %s) changed number, element type or extents of the outputs of @%s",
               agent->step, agent->id, agent->plugin, fn->name);
    note_inputs(c, fn);
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
        TRY(run(c, c->kept, fn, n, &perturbed));
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

static status check_function(semantics_check *c, module *m, checked_function *fn, const run_agent *agent,
                             const pto_pass *pass, bool *is_same)
{
    outcome after;
    if (run(c, m, fn, 0, &after) != OK) {
        diag_error(c->diags, agent->at, &E1902,
                   "step `%s` (pass %s of plugin %s) left a module that does not run on %s, as it did before",
                   agent->step, agent->id, agent->plugin, backend_id);
        note_inputs(c, fn);
        return FAILED;
    }
    status s = OK;
    if (same_outputs(&fn->before.call, &after.call) != OK)
        s = blame_shape(c, fn, agent);
    else if (!has_same_bits(fn, &after)) {
        *is_same = false;
        s = pass->flags & PTO_PASS_REASSOCIATES ? compare_within(c, fn, &after, agent)
                                                : compare_outputs(c, fn, &after, agent, NULL, is_same);
    }
    arena_destroy(fn->before.arena);
    fn->before = after;
    return s;
}

void semantics_check_go_back(semantics_check *c) { c->is_stale = true; }

static status run_again(semantics_check *c, module *m)
{
    for (uint32_t i = 0; i < c->function_count; i++) {
        outcome again;
        TRY(run(c, m, &c->functions[i], 0, &again));
        arena_destroy(c->functions[i].before.arena);
        c->functions[i].before = again;
    }
    c->is_stale = false;
    return OK;
}

status semantics_check_before(semantics_check *c, module *m, const pto_pass *pass)
{
    drop_kept(c);
    if (c->is_stale) TRY(run_again(c, m));
    if (pass->flags & PTO_PASS_REASSOCIATES) c->kept = module_clone(m);
    return OK;
}

status semantics_check_step(semantics_check *c, module *m, const run_agent *agent, const pto_pass *pass)
{
    bool is_same = true;
    for (uint32_t i = 0; i < c->function_count; i++) TRY(check_function(c, m, &c->functions[i], agent, pass, &is_same));
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
    for (uint32_t i = 0; i < c->function_count; i++) {
        const checked_function *fn = &c->functions[i];
        text_printf(out, "semantics: @%s on %s inputs", fn->name, c->request->seed ? "random" : "given");
        for (uint32_t k = 0; k < fn->bound_count; k++)
            text_printf(out, ", $%.*s = %" PRId64, (int)fn->bound[k].name.n, fn->bound[k].name.p, fn->bound[k].value);
        text_putc(out, '\n');
    }
}

status semantics_spread(arena *a, plugin_host *host, const semantics_request *request, module *m,
                        flight_recorder *recorder, double ***out, int *exit_status)
{
    semantics_check *c = NULL;
    double **spread = NULL;
    status s = semantics_check_begin(a, host, request, m, recorder, &c, exit_status);
    if (s == OK) {
        c->kept = module_clone(m);
        s = measure_spread(c, &c->functions[0], a, &spread);
    }
    if (s == OK) {
        const bound_call *call = &c->functions[0].before.call;
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
