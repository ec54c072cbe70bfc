#include "tools/run/backend_run.h"

#include "core/host/host_handle.h"
#include "ir/base/monotonic.h"
#include "tools/base/digest.h"
#include "tools/base/tool_diag.h"
#include "tools/run/counter_name.h"
#include "tools/run/name_index.h"
#include "tools/run/run_counters.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS_MAX = 1 << 20, UNITS_MAX = 1 << 16, NAME_BYTES_MAX = 255 };

/* What executions said about one number. All values are kept only when they differ: those of a simulator do not. */
typedef struct series {
    double first, *values; /* `values` has space for all executions, or is NULL: all are `first` */
    uint32_t count, given_in;
} series;

typedef struct sink {
    arena *arena;
    diag_engine *diags;
    backend_result *result;
    size_t capacity;
    series *series;          /* one for each counter */
    name_index by_name;      /* of counters */
    uint32_t number, repeat; /* of the execution, from 1 */
    output_folder *folder;
    bool (*reserves)(str name);
    run_trace *trace;
    run_session *session;
    const run_agent *agent; /* of the backend */
    module *module;
    const pto_run *run;
    const pto_backend *backend;
    const char *file_name; /* of the file that the backend writes now, or NULL */
    bool failed;
} sink;

static const char *copy_text(arena *a, pto_str s) { return arena_strndup(a, s.p, s.n); }

static void series_add(arena *a, series *s, double v, uint32_t repeat)
{
    if (s->count == 0) s->first = v;
    if (s->values == NULL && v != s->first) {
        s->values = arena_array(a, repeat, sizeof *s->values);
        for (uint32_t i = 0; i < s->count; i++) s->values[i] = s->first;
    }
    if (s->values != NULL) s->values[s->count] = v;
    s->count++;
}

static int compare_numbers(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static backend_spread series_end(const series *s)
{
    if (s->values == NULL) return (backend_spread){s->first, s->first, s->first};
    qsort(s->values, s->count, sizeof *s->values, compare_numbers);
    const double low = s->values[(s->count - 1) / 2], high = s->values[s->count / 2];
    return (backend_spread){s->values[0], low + (high - low) / 2, s->values[s->count - 1]};
}

/* Of a counter, unit or cause: what the tools print. False after a diagnostic. */
static bool check_name(sink *k, const char *what, pto_str name, bool may_be_empty)
{
    if ((name.n != 0 || may_be_empty) && name.n <= NAME_BYTES_MAX && str_is_plain_line((str){name.p, name.n}))
        return true;
    run_misuse(run_of(k->run), &E1342, "gave %s that is not plain text in one line of %s%d bytes", what,
               may_be_empty ? "at most " : "1 to ", NAME_BYTES_MAX);
    return false;
}

/* The number of a counter that no execution gave before. */
static uint32_t add_counter(sink *k, pto_str name, pto_str unit)
{
    backend_result *r = k->result;
    if (r->counter_count == k->capacity) {
        k->capacity = k->capacity ? 2 * k->capacity : 256;
        backend_counter *counters = arena_array(k->arena, k->capacity, sizeof *counters);
        series *all = arena_array(k->arena, k->capacity, sizeof *all);
        if (r->counter_count > 0) {
            memcpy(counters, r->counters, r->counter_count * sizeof *counters);
            memcpy(all, k->series, r->counter_count * sizeof *all);
        }
        r->counters = counters;
        k->series = all;
    }
    const str own = {copy_text(k->arena, name), name.n};
    r->counters[r->counter_count] = (backend_counter){.name = own.p, .unit = copy_text(k->arena, unit)};
    r->has_utilisation |= run_counter_is_utilisation(own.p);
    name_index_put(k->arena, &k->by_name, own, r->counter_count);
    return r->counter_count++;
}

/* The profile has a unit for each counter, and the backend declares which it reports. False after a diagnostic. */
static bool check_counter(sink *k, pto_str name, pto_str unit)
{
    const counter_name n = counter_name_read((str){name.p, name.n});
    const pto_counter_row *row = pto_counter_row_at(n.counter);
    if (row != NULL && !str_is((str){unit.p, unit.n}, row->unit))
        run_misuse(run_of(k->run), &E1342, "gave the counter `%.*s` in `%.*s`; its unit is `%s`", (int)name.n, name.p,
                   (int)unit.n, unit.p, row->unit);
    else if (!counter_may_be_given(k->backend, &n))
        run_misuse(run_of(k->run), &E1342, "gave the counter `%.*s`, which it does not declare", (int)name.n, name.p);
    else
        return true;
    return false;
}

static void take_counter(void *self, pto_str name, pto_str unit, double v)
{
    sink *k = self;
    uint32_t at;
    if (!check_name(k, "the name of a counter", name, false) || !check_name(k, "the unit of a counter", unit, true))
        return;
    const bool is_known = name_index_find(&k->by_name, (str){name.p, name.n}, &at);
    if (!is_known && !check_counter(k, name, unit)) return;
    if (!is_known && k->result->counter_count == COUNTERS_MAX) {
        run_misuse(run_of(k->run), &E1342, "gave more than %d counters", COUNTERS_MAX);
        return;
    }
    if (!is_known) at = add_counter(k, name, unit);
    if (k->series[at].given_in == k->number) {
        run_misuse(run_of(k->run), &E1342, "gave the counter `%s` twice", k->result->counters[at].name);
        return;
    }
    k->result->counters[at].value = v;
    k->series[at].given_in = k->number;
    series_add(k->arena, &k->series[at], v, k->repeat);
}

static bool is_written(const sink *k, str name)
{
    for (uint32_t i = 0; i < k->result->file_count; i++)
        if (str_is(name, k->result->files[i])) return true;
    return false;
}

/* What is wrong with the name of a file of a backend; NULL when nothing is. */
static const char *fault_of_name(const sink *k, str name)
{
    if (!output_folder_takes_name(name)) return "which is not a plain file name";
    if (is_written(k, name)) return "which it wrote before";
    return k->reserves != NULL && k->reserves(name) ? "which the report itself writes" : NULL;
}

static void begin_file(void *self, pto_str name)
{
    sink *k = self;
    const str own = {name.p, name.n};
    const char *fault = fault_of_name(k, own);
    run_context_put_back(k->run);
    if (k->file_name != NULL)
        run_misuse(run_of(k->run), &E1341, "began a report file before `%s` had ended", k->file_name);
    else if (fault != NULL)
        run_misuse(run_of(k->run), &E1341, "began a report file `%.*s`, %s",
                   name.n > NAME_BYTES_MAX ? NAME_BYTES_MAX : (int)name.n, name.n ? name.p : "", fault);
    else if (output_folder_begin(k->folder, own) == OK)
        k->file_name = copy_text(k->arena, name);
    else
        k->failed = true;
}

static void add_file(sink *k, const char *name)
{
    const char **files = arena_array(k->arena, k->result->file_count + 1u, sizeof *files);
    if (k->result->file_count > 0) memcpy(files, k->result->files, k->result->file_count * sizeof *files);
    files[k->result->file_count++] = name;
    k->result->files = files;
}

/* Whether a report file is open; reports when not, and no earlier fault says why. */
static bool has_file(sink *k, const char *verb)
{
    if (k->file_name == NULL && !k->failed)
        run_misuse(run_of(k->run), &E1341, "tried to %s a report file that it did not begin", verb);
    return k->file_name != NULL;
}

static void write_file(void *self, const void *bytes, size_t n)
{
    sink *k = self;
    if (has_file(k, "write to")) output_folder_put(k->folder, bytes, n);
}

static void end_file(void *self)
{
    sink *k = self;
    if (!has_file(k, "end")) return;
    run_context_put_back(k->run);
    const char *name = k->file_name;
    k->file_name = NULL;
    if (output_folder_end(k->folder) != OK) {
        k->failed = true;
        return;
    }
    add_file(k, name);
}

static uint32_t take_unit(void *self, pto_str name)
{
    sink *k = self;
    if (!check_name(k, "the name of a unit", name, false)) return 0;
    if (k->trace->unit_count < UNITS_MAX || run_trace_has_unit(k->trace, (str){name.p, name.n}))
        return run_trace_unit(k->trace, (str){name.p, name.n});
    run_misuse(run_of(k->run), &E1342, "named more than %d units", UNITS_MAX);
    return 0;
}

/* A cause that was not there before is one that the backend declares, as a stall. */
static void check_cause(sink *k, pto_str cause)
{
    const str what = {cause.p, cause.n};
    const counter_name n = {.whole = what, .counter = counter_of_cause(what), .is_stall = true, .what = what};
    if (!counter_may_be_given(k->backend, &n))
        run_misuse(run_of(k->run), &E1342, "gave slices with the cause `%.*s`, which it does not declare", (int)cause.n,
                   cause.p);
}

static void take_slice(void *self, const pto_slice *slice)
{
    sink *k = self;
    run_context *c = run_of(k->run);
    if (!PTO_HAS(slice, instance)) {
        run_misuse(c, &E1342, "gave a slice without its struct_size");
    } else if (slice->unit >= k->trace->unit_count) {
        run_misuse(c, &E1342, "gave a slice of unit %" PRIu32 "; it has named %zu", slice->unit, k->trace->unit_count);
    } else if (slice->from < 0 || slice->to < slice->from) {
        run_misuse(c, &E1342, "gave a slice from cycle %" PRId64 " to %" PRId64, slice->from, slice->to);
    } else if (check_name(k, "the cause of a slice", slice->cause, true)) {
        const uint32_t causes = k->trace->cause_count;
        run_trace_add(k->trace, &(trace_event){.unit = slice->unit,
                                               .op = op_from(c, slice->op),
                                               .cause = {slice->cause.p, slice->cause.n},
                                               .from = slice->from,
                                               .to = slice->to,
                                               .bytes = slice->bytes,
                                               .instance = slice->instance});
        if (k->trace->cause_count > causes) check_cause(k, slice->cause);
    }
}

/* A field of a table, in quotes when it holds a separator. */
static void put_field(text_buffer *t, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        text_puts(t, text);
        return;
    }
    text_putc(t, '"');
    for (; *text; text++) {
        if (*text == '"') text_putc(t, '"');
        text_putc(t, *text);
    }
    text_putc(t, '"');
}

static status write_counters(sink *k)
{
    text_buffer t;
    text_init(&t);
    const bool is_repeated = k->result->runs > 1;
    text_puts(&t, is_repeated ? "name,unit,value,min,median,spread\n" : "name,unit,value\n");
    for (uint32_t i = 0; i < k->result->counter_count; i++) {
        put_field(&t, k->result->counters[i].name);
        text_putc(&t, ',');
        put_field(&t, k->result->counters[i].unit);
        const backend_spread all = k->result->counters[i].all;
        text_printf(&t, ",%.17g", k->result->counters[i].value);
        if (is_repeated) text_printf(&t, ",%.17g,%.17g,%.17g", all.least, all.median, all.most - all.least);
        text_putc(&t, '\n');
    }
    const status s = output_folder_write(k->folder, STR("counters.csv"), (str){t.p, t.n});
    text_fini(&t);
    if (s == OK) add_file(k, "counters.csv");
    return s;
}

/* Copies of all tensors that an execution may write; NULL when there is only one execution. */
static uint8_t **keep_tensors(arena *a, const bound_call *call, uint32_t repeat)
{
    const uint32_t count = call->parameter_count + call->result_count;
    if (repeat < 2) return NULL;
    uint8_t **kept = arena_array(a, count, sizeof *kept);
    for (uint32_t i = 0; i < count; i++) {
        const bound_tensor *t = &call->tensors[i];
        if (!t->is_output || t->abi.bytes == 0) continue;
        kept[i] = arena_alloc_aligned(a, t->abi.bytes, 64);
        memcpy(kept[i], t->data, t->abi.bytes);
    }
    return kept;
}

static void put_back(const bound_call *call, uint8_t *const *kept)
{
    for (uint32_t i = 0; i < call->parameter_count + call->result_count; i++) {
        if (kept[i] != NULL) memcpy(call->tensors[i].data, kept[i], call->tensors[i].abi.bytes);
    }
}

/* ---- inputs stay what they were ---- */

/* Eight words at a time, since inputs are large. */
static uint64_t sum_of(const uint8_t *p, uint64_t n)
{
    uint64_t lanes[8], word;
    for (uint32_t l = 0; l < 8; l++) lanes[l] = DIGEST_OF_NOTHING + l;
    for (; n >= sizeof lanes; p += sizeof lanes, n -= sizeof lanes) {
        for (uint32_t l = 0; l < 8; l++) {
            memcpy(&word, p + l * sizeof word, sizeof word);
            lanes[l] = (lanes[l] ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        }
    }
    return digest_add(digest_add(DIGEST_OF_NOTHING, lanes, sizeof lanes), p, n);
}

static uint64_t *sum_inputs(arena *a, const bound_call *call)
{
    uint64_t *sums = arena_array(a, call->parameter_count, sizeof *sums);
    for (uint32_t i = 0; i < call->parameter_count; i++) {
        const bound_tensor *t = &call->tensors[i];
        if (!t->is_output && t->data != NULL) sums[i] = sum_of(t->data, t->abi.bytes);
    }
    return sums;
}

/* The next execution would read something else, and so would a comparison. */
static void check_inputs(const pto_run *run, const bound_call *call, const uint64_t *sums)
{
    for (uint32_t i = 0; i < call->parameter_count; i++) {
        const bound_tensor *t = &call->tensors[i];
        if (t->is_output || t->data == NULL || sum_of(t->data, t->abi.bytes) == sums[i]) continue;
        run_misuse(run_of(run), &E1343, "wrote to the input `%.*s`", (int)t->name.n, t->name.p);
        return;
    }
}

/* Forgets what executions said so far. */
static void restart(sink *k, series *wall)
{
    k->result->counter_count = 0;
    k->result->has_utilisation = false;
    k->capacity = 0;
    k->series = NULL;
    k->by_name = (name_index){0};
    *wall = (series){0};
}

static void end_series(sink *k, series *wall)
{
    k->result->runs = wall->count;
    k->result->wall_ns = series_end(wall);
    for (uint32_t i = 0; k->series != NULL && i < k->result->counter_count; i++)
        k->result->counters[i].all = series_end(&k->series[i]);
}

/* ---- constants ---- */

/* The function that computes constants, and what its executions say. */
typedef struct binder {
    const bound_call *call;
    sink to;
    series wall;
} binder;

/* As any function, in a run of its own. */
static pto_status run_init(const sink *k, binder *i, const pto_call *c)
{
    const pto_backend *b = k->backend;
    const run_request wanted = {.agent = k->agent, .module = k->module, .unit = i->call->function, .access = RUN_READS};
    const pto_run *run = run_context_begin(k->session, &wanted);
    i->to.run = run;
    pto_call own = *c;
    own.function = run_context_op(run, i->call->function);
    void *exe = NULL;
    pto_status s = b->prepare(run, own.function, &exe);
    if (s == PTO_OK) {
        s = b->execute(run, exe, &own);
        b->release(run, exe);
    }
    return run_context_end(run, s).failed && s == PTO_OK ? PTO_FAILED : s;
}

static pto_status bind_constants(arena *a, const sink *k, const backend_request *request, binder *i, void *exe)
{
    pto_run_sink to = {.struct_size = sizeof to, .self = &i->to, .counter = take_counter};
    const pto_call c = backend_run_call(a, k->run, i->call, &to, request->seed, 0);
    const uint64_t *sums = sum_inputs(a, i->call);
    i->to.number++;
    const uint64_t begin = monotonic_ns();
    const pto_status s = k->backend->bind != NULL ? k->backend->bind(k->run, exe, &c) : run_init(k, i, &c);
    series_add(a, &i->wall, (double)(monotonic_ns() - begin), i->to.repeat);
    check_inputs(k->run, i->call, sums);
    return s;
}

static uint32_t bind_count(const backend_request *request)
{
    return request->rebind == 0 ? 1 : (request->repeat - 1) / request->rebind + 1;
}

/* ---- executions ---- */

static pto_status execute_all(arena *a, const pto_backend *b, const pto_run *run, const bound_call *call,
                              const backend_request *request, sink *k, binder *init, void *exe)
{
    pto_run_sink to = {.struct_size = sizeof to, .measures = k->folder != NULL, .self = k, .counter = take_counter};
    pto_status s = PTO_OK;
    series wall = {0};
    uint64_t constants = 1;
    const uint32_t all = request->warm_up + request->repeat;
    k->repeat = all;
    if (init != NULL) s = bind_constants(a, k, request, init, exe);
    uint8_t *const *kept = keep_tensors(a, call, all);
    const uint64_t *sums = sum_inputs(a, call);
    for (uint32_t i = 0; s == PTO_OK && !run_of(run)->misused && i < all; i++) {
        const bool is_last = i + 1 == all;
        k->number = i + 1;
        if (i == request->warm_up) restart(k, &wall);
        if (request->rebind != 0 && i > request->warm_up && (i - request->warm_up) % request->rebind == 0) {
            constants++;
            if (init != NULL) s = bind_constants(a, k, request, init, exe);
        }
        if (s != PTO_OK) break;
        if (i > 0) put_back(call, kept);
        if (k->folder != NULL && is_last) {
            to.file_begin = begin_file;
            to.file_write = write_file;
            to.file_end = end_file;
            if (k->trace != NULL) {
                to.unit = take_unit;
                to.slice = take_slice;
            }
        }
        const pto_call c = backend_run_call(a, run, call, &to, request->seed, constants);
        const uint64_t begin = monotonic_ns();
        s = b->execute(run, exe, &c);
        if (k->file_name != NULL) run_misuse(run_of(run), &E1341, "did not end the report file `%s`", k->file_name);
        series_add(a, &wall, (double)(monotonic_ns() - begin), k->repeat);
        check_inputs(run, call, sums);
    }
    end_series(k, &wall);
    return s;
}

exit_status backend_run(arena *a, const loaded_pipeline *p, const backend_request *request, module *m,
                        const bound_call *call, flight_recorder *recorder, backend_result *out)
{
    diag_engine *d = context_diags(module_context(m));
    const run_session_params params = {.diags = d,
                                       .registry = plugin_host_runs(p->host),
                                       .machine = p->machine,
                                       .abi_minor = plugin_host_abi_minor(p->host),
                                       .recorder = recorder};
    run_session *session = run_session_create(a, &params);
    const pto_backend *b = p->contract.backend;
    const run_request wanted = {.agent = p->backend_agent, .module = m, .unit = call->function, .access = RUN_READS};
    const pto_run *run = run_context_begin(session, &wanted);
    sink k = {.arena = a,
              .diags = d,
              .result = out,
              .folder = request->folder,
              .reserves = request->reserves,
              .trace = request->trace,
              .session = session,
              .agent = p->backend_agent,
              .module = m,
              .run = run,
              .backend = b};
    backend_result *made = arena_alloc(a, sizeof *made);
    binder init = {.call = request->init, .to = k};
    init.to.result = made;
    init.to.folder = NULL;
    init.to.trace = NULL;
    init.to.repeat = bind_count(request);
    void *exe = NULL;
    pto_status s = b->prepare(run, run_context_op(run, call->function), &exe);
    if (s == PTO_OK) {
        if (b->reads_data == NULL || b->reads_data(run) != 0) {
            if (request->init != NULL) call_fill(request->init);
            call_fill(call);
        }
        s = execute_all(a, b, run, call, request, &k, request->init != NULL ? &init : NULL, exe);
        b->release(run, exe);
    }
    run_context_put_back(run);
    const run_result result = run_context_end(run, s);
    run_session_destroy(session);
    if (request->init != NULL) {
        end_series(&init.to, &init.wall);
        out->init = made;
        out->init_name = string_of(module_context(m), function_name(m, request->init->function)).p;
    }
    if (k.failed) return EXIT_STATUS_OUTPUT;
    if (result.failed) return s == PTO_MISSING ? EXIT_STATUS_PLUGIN : EXIT_STATUS_FAILED;
    if (k.folder != NULL) TRY_AS(EXIT_STATUS_OUTPUT, write_counters(&k));
    return EXIT_STATUS_OK;
}

pto_call backend_run_call(arena *a, const pto_run *run, const bound_call *call, const pto_run_sink *to, uint64_t seed,
                          uint64_t constants)
{
    pto_str *symbols = arena_array(a, call->symbol_count, sizeof *symbols);
    for (uint32_t i = 0; i < call->symbol_count; i++) symbols[i] = (pto_str){call->symbols[i].p, call->symbols[i].n};
    const uint32_t count = call->parameter_count + call->result_count;
    const pto_tensor **tensors = arena_array(a, count, sizeof *tensors);
    pto_tensor *copies = arena_array(a, count, sizeof *copies); /* what it does to them is not done to ours */
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = call->tensors[i].abi;
        tensors[i] = &copies[i];
    }
    return (pto_call){.struct_size = sizeof(pto_call),
                      .symbol_count = call->symbol_count,
                      .argument_count = call->parameter_count,
                      .result_count = call->result_count,
                      .function = run_context_op(run, call->function),
                      .symbols = symbols,
                      .symbol_values = call->values,
                      .arguments = tensors,
                      .results = tensors + call->parameter_count,
                      .seed = seed,
                      .sink = to,
                      .constants = constants};
}
