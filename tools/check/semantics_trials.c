#include "tools/check/semantics_trials.h"

#include "tools/base/tool_diag.h"
#include "tools/check/call_work.h"
#include "tools/check/symbol_search.h"

#include <inttypes.h>
#include <string.h>

/* ---- binding ---- */

static void keep_symbols(semantics_runs *r, trial *t, const bound_call *call)
{
    t->bound_count = call->symbol_count;
    t->bound = arena_array(r->arena, call->symbol_count, sizeof *t->bound);
    for (uint32_t i = 0; i < call->symbol_count; i++)
        t->bound[i] = (given_symbol){.name = call->symbols[i], .value = call->values[i]};
}

static status keep_input(semantics_runs *r, const checked_function *fn, trial *t, const bound_tensor *from)
{
    const char *descr = tensor_npy_type(from->type);
    if (descr == NULL) {
        diag_error(r->diags, NO_POS, &E1903, "input `%.*s` of @%s has elements of type %s, which no file can hold",
                   (int)from->name.n, from->name.p, fn->name, dtype_name(from->type));
        return FAILED;
    }
    uint8_t *data = arena_alloc_aligned(r->arena, from->abi.bytes, 64);
    if (from->abi.bytes > 0) memcpy(data, from->data, from->abi.bytes);
    tensor_array *array = arena_alloc(r->arena, sizeof *array);
    *array = (tensor_array){.header = {.kind = descr[1],
                                       .item_bytes = dtype_bytes(from->type),
                                       .rank = from->rank,
                                       .element_count = from->element_count},
                            .data = data};
    memcpy(array->header.dims, from->dims, sizeof array->header.dims);
    t->inputs[t->input_count++] =
        (given_tensor){.name = from->name, .path = "<the inputs of --check=semantics>", .array = array};
    return OK;
}

static status keep_inputs(semantics_runs *r, const checked_function *fn, trial *t, const bound_call *call)
{
    t->inputs = arena_array(r->arena, call->parameter_count, sizeof *t->inputs);
    for (uint32_t i = 0; i < call->parameter_count; i++) {
        if (call->tensors[i].is_input) TRY(keep_input(r, fn, t, &call->tensors[i]));
    }
    return OK;
}

/* ---- how much work a call is ---- */

typedef struct extents {
    ir_context *c;
    const bound_call *call;
} extents;

static bool value_of_symbol(void *self, str_id name, int64_t *out)
{
    const extents *e = self;
    for (uint32_t i = 0; i < e->call->symbol_count; i++) {
        if (!str_eq(e->call->symbols[i], string_of(e->c, name))) continue;
        *out = e->call->values[i];
        return true;
    }
    return false;
}

static uint64_t work_of_call(module *m, op_id f, const bound_call *call)
{
    extents e = {module_context(m), call};
    const expr_values values = {.symbol = value_of_symbol, .self = &e};
    return call_work(m, f, &values);
}

/* Binds the inputs once; from then on they are given. `seed` 0: the request has all tensors. */
static status bind(semantics_runs *r, module *m, const checked_function *fn, uint64_t seed, trial *t)
{
    const semantics_request *q = r->request;
    const bool is_given = t == &fn->trials[0];
    arena *scratch = arena_create("semantics inputs");
    const op_id f = module_find_symbol(m, string_intern_z(module_context(m), fn->name));
    bound_call call;
    status s = call_bind(scratch, m, f, is_given ? q->tensor_count : 0, q->tensors, t->symbol_count, t->symbols, seed,
                         NULL, &call);
    if (s == OK) call_fill(&call);
    for (uint32_t i = 0; s == OK && !is_given && i < call.parameter_count; i++) {
        if (call.tensors[i].is_input) input_values_fill(&call.tensors[i], t->values, seed + i);
    }
    if (s == OK) {
        keep_symbols(r, t, &call);
        s = keep_inputs(r, fn, t, &call);
        t->work = work_of_call(m, f, &call);
    }
    arena_destroy(scratch);
    return s;
}

/* ---- what is left out ---- */

static void leave_out(semantics_runs *r, checked_function *fn, const char *what, const char *why)
{
    text_buffer t;
    text_init(&t);
    text_printf(&t, "%s: %s", what, why);
    fn->left_out[fn->left_out_count++] = text_keep(&t, r->arena);
}

void semantics_trials_leave_out(semantics_runs *r, checked_function *fn, uint32_t index, const char *why)
{
    text_buffer t;
    text_init(&t);
    text_puts(&t, "on ");
    semantics_put_inputs(r, &fn->trials[index], false, &t);
    if (fn->left_out_count < TRIALS_MAX) leave_out(r, fn, t.p, why);
    text_fini(&t);
    memmove(&fn->trials[index], &fn->trials[index + 1], (fn->trial_count - index - 1) * sizeof *fn->trials);
    fn->trial_count--;
}

/* ---- further trials ---- */

typedef struct planner {
    semantics_runs *runs;
    module *m;
    checked_function *fn;
    uint64_t seed, work; /* of all trials but the first, so far */
} planner;

static uint64_t work_left(const planner *p) { return p->work < TRIAL_WORK_ALL ? TRIAL_WORK_ALL - p->work : 0; }

/* Fails without a diagnostic. */
static bool add_trial(planner *p, const trial *t, uint64_t most_work)
{
    checked_function *fn = p->fn;
    semantics_runs *r = p->runs;
    if (fn->trial_count == TRIALS_MAX) return false;
    trial *to = &fn->trials[fn->trial_count];
    *to = *t;
    diag_hush(r->diags, true);
    const bool ok = bind(r, p->m, fn, p->seed + 1000 * fn->trial_count, to) == OK;
    diag_hush(r->diags, false);
    if (!ok || to->work > most_work) return false;
    fn->trial_count++;
    p->work += to->work;
    return true;
}

static bool any_input_applies(const planner *p, input_values v)
{
    const trial *first = &p->fn->trials[0];
    const op_id f = module_find_symbol(p->m, string_intern_z(module_context(p->m), p->fn->name));
    for (uint32_t i = 0; i < block_arg_count(p->m, function_body(p->m, f)); i++) {
        const type_node *type =
            type_at(module_context(p->m), value_type(p->m, block_arg(p->m, function_body(p->m, f), i)));
        if (input_values_apply(v, type->dtype)) return first->input_count > 0;
    }
    return false;
}

/* Other values, with the extents of the first trial. */
static void add_values(planner *p, input_values v)
{
    const trial *first = &p->fn->trials[0];
    char why[160], on[80];
    if (!any_input_applies(p, v) || first->work == 0) return;
    snprintf(on, sizeof on, "on %s", input_values_name(v));
    if (first->work > work_left(p)) {
        snprintf(why, sizeof why, "its ops make %" PRIu64 " elements; all inputs but the first together may take %d",
                 first->work, TRIAL_WORK_ALL);
        leave_out(p->runs, p->fn, on, why);
        return;
    }
    trial t = {.values = v, .symbol_count = first->bound_count, .symbols = first->bound};
    if (!add_trial(p, &t, UINT64_MAX)) {
        const char *said = diag_hushed(p->runs->diags);
        leave_out(p->runs, p->fn, on, said != NULL ? said : "there are too many inputs");
    }
}

/* The symbol at a value and the others as they were; or, with `finds_others`, as facts require them then. */
static bool search(planner *p, uint32_t index, int64_t n, bool finds_others, trial *out)
{
    const trial *first = &p->fn->trials[0];
    const semantics_request *q = p->runs->request;
    const op_id f = module_find_symbol(p->m, string_intern_z(module_context(p->m), p->fn->name));
    given_symbol *given = arena_array(p->runs->arena, first->bound_count + q->symbol_count, sizeof *given);
    memcpy(given, first->bound, first->bound_count * sizeof *given);
    given[index].value = n;
    *out = (trial){.values = INPUTS_RANDOM};
    if (symbol_search_within(p->runs->arena, p->m, f, first->bound_count, given, SYMBOL_SEARCH_ELEMENTS_MAX,
                             &out->symbol_count, &out->symbols))
        return true;
    uint32_t count = 1;
    given[0] = (given_symbol){.name = first->bound[index].name, .value = n};
    for (uint32_t i = 0; q->finds_inputs && i < q->symbol_count; i++) given[count++] = q->symbols[i];
    return finds_others && symbol_search_within(p->runs->arena, p->m, f, count, given, SYMBOL_SEARCH_ELEMENTS,
                                                &out->symbol_count, &out->symbols);
}

static void leave_symbol(planner *p, uint32_t index, const char *at, const char *why)
{
    const str name = p->fn->trials[0].bound[index].name;
    char what[320];
    snprintf(what, sizeof what, "with $%.*s %s", (int)name.n, name.p, at);
    if (p->fn->left_out_count < TRIALS_MAX) leave_out(p->runs, p->fn, what, why);
}

static void add_small(planner *p, uint32_t index, int64_t n)
{
    trial t;
    char at[32];
    if (p->fn->trials[0].bound[index].value == n) return;
    snprintf(at, sizeof at, "= %" PRId64, n);
    if (!search(p, index, n, true, &t))
        leave_symbol(p, index, at, "its facts allow no such call, or none that is small");
    else if (!add_trial(p, &t, work_left(p))) {
        const char *said = diag_hushed(p->runs->diags);
        leave_symbol(p, index, at, said != NULL ? said : "it takes too long");
    }
}

/* Primes, so that the last tile is not a whole one. */
static void add_large(planner *p, uint32_t index)
{
    static const int64_t values[] = {262147, 65537, 32771, 16411, 8209, 4099, 2053, 1031, 521, 257, 131, 67, 31};
    const int64_t before = p->fn->trials[0].bound[index].value;
    const uint64_t most = work_left(p) < TRIAL_WORK_LARGE ? work_left(p) : TRIAL_WORK_LARGE;
    trial t;
    for (size_t i = 0; i < sizeof values / sizeof *values && values[i] > before; i++) {
        if (search(p, index, values[i], false, &t) && add_trial(p, &t, most)) return;
    }
    char at[32];
    snprintf(at, sizeof at, "above %" PRId64, before);
    leave_symbol(p, index, at, "its facts allow none, or it takes too long");
}

static bool is_users(const planner *p, str name)
{
    const semantics_request *q = p->runs->request;
    for (uint32_t i = 0; q->finds_inputs && i < q->symbol_count; i++) {
        if (str_eq(q->symbols[i].name, name)) return true;
    }
    return false;
}

static void add_all(planner *p)
{
    const trial *first = &p->fn->trials[0];
    add_values(p, INPUTS_SPECIAL);
    add_values(p, INPUTS_EXTREME);
    add_values(p, INPUTS_NEGATIVE);
    for (uint32_t i = 0; i < first->bound_count; i++) {
        if (is_users(p, first->bound[i].name)) continue;
        add_small(p, i, 0);
        add_small(p, i, 1);
    }
    for (uint32_t i = 0; i < first->bound_count; i++) {
        if (!is_users(p, first->bound[i].name)) add_large(p, i);
    }
}

/* ---- all ---- */

/* The symbols would have had other values, if those took less time. */
static void leave_first(semantics_runs *r, checked_function *fn, const symbol_search_passed *passed)
{
    const trial t = {.values = INPUTS_RANDOM, .bound_count = passed->count, .bound = passed->symbols};
    char why[160];
    text_buffer on;
    text_init(&on);
    text_puts(&on, "on ");
    semantics_put_inputs(r, &t, false, &on);
    snprintf(why, sizeof why, "its ops make %" PRIu64 " elements; smaller extents were taken, with %d at most",
             passed->work, TRIAL_WORK_FIRST);
    leave_out(r, fn, on.p, why);
    text_fini(&on);
}

static exit_status find_first(semantics_runs *r, module *m, checked_function *fn)
{
    const semantics_request *q = r->request;
    trial *t = &fn->trials[0];
    *t = (trial){.values = q->seed ? INPUTS_RANDOM : INPUTS_GIVEN};
    if (q->finds_inputs) {
        const op_id f = module_find_symbol(m, string_intern_z(module_context(m), fn->name));
        symbol_search_passed passed;
        TRY_AS(EXIT_STATUS_USAGE, symbol_search(r->arena, m, f, q->symbol_count, q->symbols, TRIAL_WORK_FIRST,
                                                &t->symbol_count, &t->symbols, &passed));
        if (passed.count != 0) leave_first(r, fn, &passed);
    } else {
        t->symbol_count = q->symbol_count;
        t->symbols = arena_array(r->arena, q->symbol_count, sizeof *t->symbols);
        if (q->symbol_count > 0) memcpy(t->symbols, q->symbols, q->symbol_count * sizeof *t->symbols);
    }
    TRY_AS(EXIT_STATUS_INPUT, bind(r, m, fn, q->seed, t));
    fn->trial_count = 1;
    return EXIT_STATUS_OK;
}

exit_status semantics_trials_find(semantics_runs *r, module *m, checked_function *fn)
{
    fn->trials = arena_array(r->arena, TRIALS_MAX, sizeof *fn->trials);
    fn->left_out = arena_array(r->arena, 2 * TRIALS_MAX, sizeof *fn->left_out);
    TRY_EXIT(find_first(r, m, fn));
    planner p = {.runs = r, .m = m, .fn = fn, .seed = r->request->seed ? r->request->seed : 1};
    if (!r->request->only_first) add_all(&p);
    return EXIT_STATUS_OK;
}
