/* Ours in `./dev bench native`: compiles a module as pto-run does, with its options, and calls it as often as the
 * driver says, so that what is timed is a call in a process that is warm.
 *
 *     native_worker --no-supervise --pipeline=native.yaml FILE.ptir --in NAME=FILE --sym NAME=N ..
 *
 * It computes once, prints `ready`, and then obeys lines of standard input. `time SECONDS` calls until so many have
 * passed, after one call that is not timed (with `warm`: without it), and prints nanoseconds of each call in one line.
 * `save NUMBER FILE` writes a result, counted from 0. */
#include "core/host/host_handle.h"
#include "ir/base/monotonic.h"
#include "tools/run/call_init.h"
#include "tools/session/tool_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pto/backend.h>

enum { CALLS_MAX = 1 << 16, LINE_BYTES = 4096 };

typedef struct target {
    FILE *answers; /* standard output, which is not a plugin's to write to, and so not ours during a run */
    const pto_backend *backend;
    const pto_run *run;
    void *exe;
    pto_call call;
} target;

/* ---- tensors ---- */

/* Memory as a program that computes much has it: huge pages, and a few bytes after the begin of a page, as allocators
 * put what is large, those of the peers too. */
static void move_to_huge_pages(bound_tensor *t, uint32_t number)
{
    enum { HUGE_BYTES = 2 << 20, PAGE_BYTES = 4096, HEAD_BYTES = 64 };
    const size_t bytes = t->abi.bytes + 2 * HUGE_BYTES + (size_t)(number + 1) * PAGE_BYTES;
    uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t->abi.bytes == 0 || t->data == NULL || p == MAP_FAILED) return;
    p += HUGE_BYTES - (uintptr_t)p % HUGE_BYTES;
    madvise(p, bytes - HUGE_BYTES, MADV_HUGEPAGE);
    p += (size_t)number * PAGE_BYTES + HEAD_BYTES;
    memcpy(p, t->data, t->abi.bytes);
    t->data = p;
    t->abi.data = p;
}

static status read_line(session *s, const command_line *line, given_call *given)
{
    given_tensor *tensors = arena_array(s->arena, line->use_count, sizeof *tensors);
    given_symbol *symbols = arena_array(s->arena, line->use_count, sizeof *symbols);
    *given = (given_call){.tensors = tensors, .symbols = symbols};
    for (uint32_t i = 0; i < line->use_count; i++) {
        const char *text = line->uses[i].value;
        if (line->uses[i].option == OPTION_SYM)
            TRY(given_symbol_read(s->diags, line->tool, "sym", text, &symbols[given->symbol_count++]));
        if (line->uses[i].option != OPTION_IN) continue;
        const char *equals = strchr(text, '=');
        if (equals == NULL) return FAILED;
        tensor_array *array = arena_alloc(s->arena, sizeof *array);
        TRY(tensor_read(s->arena, s->diags, equals + 1, array));
        tensors[given->tensor_count++] = (given_tensor){
            .name = {text, (size_t)(equals - text)}, .path = equals + 1, .array = array, .is_lent = true};
    }
    return OK;
}

/* ---- calls ---- */

/* What the backend counts is of no interest here. */
static void ignore(void *self, pto_str name, pto_str unit, double number)
{
    (void)self;
    (void)name;
    (void)unit;
    (void)number;
}

static pto_status call_once(target *t) { return t->backend->execute(t->run, t->exe, &t->call); }

static bool time_calls(target *t, const char *text)
{
    static uint64_t ns[CALLS_MAX];
    uint32_t count = 0;
    char *rest = NULL;
    const double seconds = strtod(text, &rest);
    const bool is_cold = strcmp(rest, " warm") != 0;
    if (is_cold && call_once(t) != PTO_OK) return false; /* what others left in the caches is not measured */
    const uint64_t end = monotonic_ns() + (uint64_t)(1e9 * seconds);
    for (uint64_t now = 0; count < CALLS_MAX && now < end;) {
        const uint64_t begin = monotonic_ns();
        if (call_once(t) != PTO_OK) return false;
        now = monotonic_ns();
        ns[count++] = now - begin;
    }
    for (uint32_t i = 0; i < count; i++) fprintf(t->answers, "%s%llu", i > 0 ? " " : "", (unsigned long long)ns[i]);
    fprintf(t->answers, "\n");
    return true;
}

/* Passes may have made parameters of results; what is changed in place is not one of them. */
static bool save(session *s, FILE *answers, const bound_call *call, const char *text)
{
    char *path = NULL;
    unsigned long number = strtoul(text, &path, 10);
    for (uint32_t i = 0; i < call->parameter_count + call->result_count; i++) {
        const bound_tensor *t = &call->tensors[i];
        if (!t->is_output || t->is_input || number-- > 0) continue;
        const tensor_output o = {path + strspn(path, " "), t->name, t->type, t->rank, t->dims, t->data};
        if (tensor_write(s->arena, s->diags, 1, &o) != OK) return false;
        fprintf(answers, "saved\n");
        return true;
    }
    return false;
}

static exit_status obey(session *s, target *t, const bound_call *call)
{
    char line[LINE_BYTES];
    if (call_once(t) != PTO_OK) return EXIT_STATUS_FAILED;
    for (fprintf(t->answers, "ready\n"); fflush(t->answers) == 0 && fgets(line, sizeof line, stdin) != NULL;) {
        line[strcspn(line, "\n")] = '\0';
        bool done = false;
        if (strncmp(line, "time ", 5) == 0) done = time_calls(t, line + 5);
        if (strncmp(line, "save ", 5) == 0) done = save(s, t->answers, call, line + 5);
        if (!done) return EXIT_STATUS_FAILED;
    }
    return EXIT_STATUS_OK;
}

static exit_status serve(session *s, FILE *answers, module *m, bound_call *call, flight_recorder *recorder)
{
    const run_session_params params = {.diags = s->diags,
                                       .registry = plugin_host_runs(s->opened.host),
                                       .machine = s->opened.machine,
                                       .abi_minor = plugin_host_abi_minor(s->opened.host),
                                       .recorder = recorder};
    run_session *runs = run_session_create(s->arena, &params);
    const run_request wanted = {
        .agent = s->opened.backend_agent, .module = m, .unit = call->function, .access = RUN_READS};
    const uint32_t count = call->parameter_count + call->result_count;
    const pto_tensor **tensors = arena_array(s->arena, count, sizeof *tensors);
    pto_str *symbols = arena_array(s->arena, call->symbol_count, sizeof *symbols);
    for (uint32_t i = 0; i < count; i++) {
        move_to_huge_pages(&call->tensors[i], i);
        tensors[i] = &call->tensors[i].abi;
    }
    for (uint32_t i = 0; i < call->symbol_count; i++) symbols[i] = pto_str_of(call->symbols[i]);
    target t = {.answers = answers, .backend = s->opened.contract.backend, .run = run_context_begin(runs, &wanted)};
    const pto_run_sink sink = {.struct_size = sizeof sink, .counter = ignore};
    t.call = (pto_call){.struct_size = sizeof t.call,
                        .symbol_count = call->symbol_count,
                        .argument_count = call->parameter_count,
                        .result_count = call->result_count,
                        .function = run_context_op(t.run, call->function),
                        .symbols = symbols,
                        .symbol_values = call->values,
                        .arguments = tensors,
                        .results = tensors + call->parameter_count,
                        .sink = &sink,
                        .constants = 1};
    pto_status done = t.backend->prepare(t.run, run_context_op(t.run, call->function), &t.exe);
    const bool is_prepared = done == PTO_OK;
    exit_status code = is_prepared ? obey(s, &t, call) : EXIT_STATUS_FAILED;
    if (is_prepared) t.backend->release(t.run, t.exe);
    if (code != EXIT_STATUS_OK) done = PTO_FAILED;
    if (run_context_end(t.run, done).failed && code == EXIT_STATUS_OK) code = EXIT_STATUS_FAILED;
    run_session_destroy(runs);
    return code;
}

static exit_status run(session *s, flight_recorder *recorder)
{
    module *m = NULL;
    given_call given;
    bound_call call;
    TRY_EXIT(session_open_pipeline(s, NULL));
    if (s->line->argument_count != 1) return EXIT_STATUS_USAGE;
    if (read_line(s, s->line, &given) != OK) return EXIT_STATUS_INPUT;
    TRY_EXIT(session_read_module(s, s->line->arguments[0], &m));
    TRY_EXIT(session_compile(s, m, recorder));
    given.function = call_entry(m, NULL);
    if (given.function == 0) return EXIT_STATUS_INPUT;
    TRY_EXIT(call_init_run(s->arena, &s->opened, m, recorder, &given));
    if (call_bind(s->arena, m, given.function, given.tensor_count, given.tensors, given.symbol_count, given.symbols, 0,
                  NULL, &call) != OK)
        return EXIT_STATUS_INPUT;
    const int standard = dup(STDOUT_FILENO);
    FILE *answers = standard >= 0 ? fdopen(standard, "w") : NULL;
    if (answers == NULL) return EXIT_STATUS_RESOURCES;
    const exit_status code = serve(s, answers, m, &call, recorder);
    fclose(answers);
    module_destroy(m);
    return code;
}

int main(int argc, char **argv)
{
    static const cli_tool tool = {.name = "native_worker",
                                  .usage = "native_worker [options] FILE.ptir --in NAME=FILE ...",
                                  .summary = "Runs a module again and again, as standard input says.",
                                  .bit = TOOL_RUN,
                                  .supervised = run};
    return tool_main(&tool, argc, argv);
}
