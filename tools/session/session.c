#include "tools/session/session.h"

#include "core/core_diag.h"
#include "tools/base/file.h"
#include "tools/library/library.h"
#include "tools/run/hints.h"
#include "tools/session/explain.h"
#include "tools/session/pipeline_write.h"
#include "tools/session/space_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *value_of(const command_line *line, uint32_t option) { return command_line_value(line, option); }

const char *session_share_folder(arena *a)
{
    const char *prefix = library_prefix(a);
    return prefix != NULL ? file_join(a, prefix, "share/pto") : NULL;
}

const char *const *session_search_folders(arena *a)
{
    const char *share = session_share_folder(a);
    return pipeline_search_folders(a, share != NULL ? file_join(a, share, "pipelines") : NULL);
}

static void read_color(session *s)
{
    const char *color = value_of(s->line, OPTION_COLOR);
    if (color == NULL || strcmp(color, "auto") == 0)
        diag_set_color(s->diags, isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL);
    else
        diag_set_color(s->diags, strcmp(color, "always") == 0);
}

static void read_verify(session *s)
{
    const char *verify = value_of(s->line, OPTION_VERIFY);
    s->request.verify = PIPELINE_VERIFY_EACH;
    BUG_IF(verify != NULL && !pipeline_verify_by_name(str_from(verify), &s->request.verify),
           "--verify=%s is not a choice", verify);
}

bool session_checks_semantics(const session *s) { return command_line_has(s->line, OPTION_CHECK); }

static bool explains(const session *s, const char *what)
{
    const char *given = value_of(s->line, OPTION_EXPLAIN);
    return command_line_has(s->line, OPTION_EXPLAIN) && strcmp(given != NULL ? given : "pipeline", what) == 0;
}

/* Made when something has to read or write it. */
static status open_schedule(session *s)
{
    const char *path = value_of(s->line, OPTION_SCHEDULE);
    const bool wants_space = command_line_has(s->line, OPTION_PRINT_SEARCH_SPACE);
    if (path == NULL && !command_line_has(s->line, OPTION_EMIT_SCHEDULE) && !explains(s, "schedule") && !wants_space)
        return OK;
    s->request.schedule = schedule_create(s->arena, s->diags);
    if (wants_space) schedule_set_space(s->request.schedule, search_space_create(s->arena));
    return path != NULL ? schedule_read(s->request.schedule, path) : OK;
}

/* The options that need no plugin. */
static status read_options(session *s)
{
    const command_line *line = s->line;
    read_color(s);
    const char *remarks = value_of(line, OPTION_REMARKS);
    diag_show_remarks(s->diags, remarks != NULL && strcmp(remarks, "-") == 0);
    diag_keep_remarks(s->diags, remarks != NULL && strcmp(remarks, "-") != 0);
    read_verify(s);
    session_read_verbosity(s);
    s->range = (step_range){.from = value_of(line, OPTION_FROM),
                            .until = value_of(line, OPTION_UNTIL),
                            .only = value_of(line, OPTION_ONLY)};
    s->request.counts_ops =
        command_line_has(line, OPTION_TIMING) || command_line_has(line, OPTION_STATS) || session_compares(s);
    s->printed_steps = command_line_values(s->arena, line, OPTION_PRINT_AFTER);
    return command_line_i64(s->diags, line, OPTION_BISECT, -1, INT32_MAX, -1, &s->bisect_limit);
}

exit_status session_open(session *s, const command_line *line, flight_recorder *recorder)
{
    *s = (session){
        .arena = arena_create("session"), .diags = diag_create(stderr, 0), .line = line, .recorder = recorder};
    s->context = context_create(s->diags);
    context_set_stop(s->context, &recorder->stop);
    TRY_AS(EXIT_STATUS_USAGE, read_options(s));
    s->search = session_search_folders(s->arena);
    plugin_host_params params = plugin_host_defaults();
    params.files = command_line_values(s->arena, line, OPTION_PLUGIN);
    params.folders = command_line_values(s->arena, line, OPTION_PLUGIN_PATH);
    params.recorder = recorder;
    TRY_AS(EXIT_STATUS_PLUGIN, plugin_host_create(s->arena, s->diags, &params, &s->host));
    context_set_ops(s->context, plugin_host_ops(s->host));
    return EXIT_STATUS_OK;
}

static status write_text(session *s, const char *path, const text_buffer *t)
{
    file_writer w;
    TRY(file_writer_open(&w, s->diags, path));
    file_writer_put(&w, t->p, t->n);
    return file_writer_commit(&w);
}

/* Unless they went to stderr. */
static status write_remarks(session *s)
{
    const char *path = value_of(s->line, OPTION_REMARKS);
    if (path == NULL || strcmp(path, "-") == 0) return OK;
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < diag_record_count(s->diags); i++) {
        const diag_record *r = diag_record_at(s->diags, i);
        if (r->severity != DIAG_REMARK) continue;
        if (r->at.file != NULL) text_printf(&t, "%s:%u:%u: ", r->at.file, r->at.line, r->at.column);
        text_printf(&t, "remark: [%s] %s", r->code != NULL ? r->code : "", r->text);
        if (r->path != NULL) text_printf(&t, " [%s]", r->path);
        text_putc(&t, '\n');
    }
    const status result = write_text(s, path, &t);
    text_fini(&t);
    return result;
}

static status write_schedule(session *s)
{
    const char *path = value_of(s->line, OPTION_EMIT_SCHEDULE);
    if (path == NULL) return OK;
    text_buffer t;
    text_init(&t);
    schedule_write(s->request.schedule, s->opened.machine != NULL ? s->opened.machine->name : NULL, &t);
    const status result = write_text(s, path, &t);
    text_fini(&t);
    return result;
}

void session_close(session *s)
{
    schedule_destroy(s->request.schedule);
    if (s->context != NULL) context_destroy(s->context);
    plugin_host_close(s->host);
    if (s->diags != NULL) diag_destroy(s->diags);
    if (s->arena != NULL) arena_destroy(s->arena);
}

/* PATH=VALUE, as --set takes it. */
static pipeline_override setting(arena *a, const char *path, const char *to, src_pos at)
{
    text_buffer t;
    text_init(&t);
    text_printf(&t, "%s=%s", path, to);
    return (pipeline_override){PIPELINE_SET, str_from(text_keep(&t, a)), at};
}

/* As YAML, whatever the text is. */
static const char *quoted(arena *a, const char *given)
{
    text_buffer t;
    text_init(&t);
    text_put_quoted(&t, str_from(given));
    return text_keep(&t, a);
}

/* Options of the command line that are options of the backend. */
static uint32_t collect_settings(arena *a, const command_line *line, pipeline_override *out)
{
    const char *threads = value_of(line, OPTION_THREADS);
    const char *semantics = value_of(line, OPTION_SEMANTICS), *compiler = value_of(line, OPTION_COMPILER);
    uint32_t n = 0;
    if (compiler != NULL)
        out[n++] = setting(a, "backend.with.compiler", quoted(a, compiler), (src_pos){"--compiler", 0, 0});
    if (semantics != NULL) out[n++] = setting(a, "backend.with.semantics", semantics, (src_pos){"--semantics", 0, 0});
    if (threads != NULL) out[n++] = setting(a, "backend.with.threads", threads, (src_pos){"--threads", 0, 0});
    if (command_line_has(line, OPTION_NO_CACHE))
        out[n++] = setting(a, "backend.with.cache", "false", (src_pos){"--no-cache", 0, 0});
    return n;
}

static uint32_t collect_overrides(arena *a, const command_line *line, pipeline_override *out)
{
    static const struct {
        uint32_t option;
        pipeline_change change;
    } kinds[] = {{OPTION_SET, PIPELINE_SET},
                 {OPTION_REPLACE, PIPELINE_REPLACE},
                 {OPTION_INSERT_BEFORE, PIPELINE_INSERT_BEFORE},
                 {OPTION_INSERT_AFTER, PIPELINE_INSERT_AFTER},
                 {OPTION_REMOVE, PIPELINE_REMOVE}};
    uint32_t n = 0;
    const char *backend = value_of(line, OPTION_BACKEND);
    if (backend != NULL && *backend) out[n++] = setting(a, "backend.use", backend, (src_pos){"<command line>", 1, 1});
    for (uint32_t i = 0; i < line->use_count; i++) {
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            if (line->uses[i].option != kinds[k].option) continue;
            out[n++] = (pipeline_override){kinds[k].change, str_from(line->uses[i].value), {"<command line>", 1, 1}};
        }
    }
    return n + collect_settings(a, line, &out[n]);
}

status session_read_pipeline(arena *a, diag_engine *d, const command_line *line, const char *const *search,
                             const pipeline **out)
{
    const char *file = value_of(line, OPTION_PIPELINE), *passes = value_of(line, OPTION_PASSES);
    *out = NULL;
    if (file == NULL && passes == NULL) return OK;
    pipeline_override *overrides = arena_array(a, line->use_count, sizeof *overrides);
    const pipeline_request request = {
        .file = file,
        .passes = str_from(passes != NULL ? passes : ""),
        .passes_at = {"<command line>", 1, 1},
        .machine = value_of(line, OPTION_MACHINE),
        .machine_at = {"<command line>", 1, 1},
        .overrides = overrides,
        .override_count = collect_overrides(a, line, overrides),
        .search = search,
        .machine_stands_for = library_host_machine,
    };
    return pipeline_read(a, d, &request, out);
}

exit_status session_open_pipeline(session *s, const char *backend)
{
    static const pipeline no_passes = {.file = "<command line>"};
    const pipeline *p = NULL;
    if (flight_recorder_phase(s->recorder, "opening the pipeline")) return EXIT_STATUS_RESOURCES;
    TRY_AS(EXIT_STATUS_USAGE, session_read_pipeline(s->arena, s->diags, s->line, s->search, &p));
    if (p == NULL && backend == NULL) return EXIT_STATUS_OK;
    /* It is a setting of a pipeline. */
    if (p != NULL && backend != NULL && *backend) backend = NULL;
    if (p == NULL) p = &no_passes;
    TRY_AS(EXIT_STATUS_USAGE, open_schedule(s));
    compile_trace_begin(s->trace, "open", STR("open pipeline"), p->file);
    const exit_status opened = library_open_pipeline(s->arena, s->diags, s->host, p, backend, s->recorder, &s->opened);
    compile_trace_end(s->trace);
    TRY_EXIT(opened);
    TRY_AS(EXIT_STATUS_USAGE, library_declare_names(s->context, &s->opened));
    if (!command_line_has(s->line, OPTION_VERIFY)) s->request.verify = p->verify;
    s->has_pipeline = true;
    return EXIT_STATUS_OK;
}

static const pto_option *const *options_of(void *self, const char *kind, const char *id)
{
    session *s = self;
    if (strcmp(kind, "pass") == 0) {
        const pto_pass *p = plugin_host_pass(s->host, NO_POS, str_from(id), NULL);
        return p != NULL ? p->options : NULL;
    }
    if (strcmp(kind, "backend") == 0) {
        const pto_backend *b = plugin_host_backend(s->host, NO_POS, str_from(id), NULL);
        return b != NULL ? b->options : NULL;
    }
    if (strcmp(kind, "cost") == 0) {
        const pto_cost *c = plugin_host_cost(s->host, NO_POS, str_from(id), NULL);
        return c != NULL ? c->options : NULL;
    }
    if (strcmp(kind, "generator") == 0) {
        const pto_generator *g = plugin_host_generator(s->host, NO_POS, str_from(id), NULL);
        return g != NULL ? g->options : NULL;
    }
    const pto_tiling *t = plugin_host_tiling(s->host, NO_POS, str_from(id), NULL);
    return t != NULL ? t->options : NULL;
}

void session_write_pipeline(session *s, text_buffer *out) { pipeline_write(out, s->opened.pipeline, options_of, s); }

bool session_answers_after_pipeline(session *s, exit_status *answer)
{
    text_buffer t;
    text_init(&t);
    *answer = EXIT_STATUS_OK;
    const bool print = command_line_has(s->line, OPTION_PRINT_PIPELINE), explain = explains(s, "pipeline");
    if (print) session_write_pipeline(s, &t);
    if (explain) {
        const contract *c = &s->opened.contract;
        contract_state start = {0};
        contract_state_add_level(&start, c->step_count ? c->steps[0].pass->consumes : "tensor/1");
        contract_state *states = arena_array(s->arena, c->step_count + 1u, sizeof *states);
        if (contract_check(s->arena, s->diags, c, &start, states) != OK)
            *answer = EXIT_STATUS_USAGE;
        else
            explain_pipeline(c, states, &t);
    }
    if (t.n != 0) fwrite(t.p, 1, t.n, stdout);
    text_fini(&t);
    return print || explain;
}

bool session_answers_after_compile(session *s)
{
    const bool wants_space = command_line_has(s->line, OPTION_PRINT_SEARCH_SPACE);
    if (!explains(s, "schedule") && !wants_space) return false;
    text_buffer t;
    text_init(&t);
    if (explains(s, "schedule")) explain_schedule(s->request.schedule, &t);
    if (wants_space) space_file_write(schedule_space(s->request.schedule), s->request.schedule, &t);
    fwrite(t.p, 1, t.n, stdout);
    text_fini(&t);
    return true;
}

/* Puts all of standard input into a file that the supervisor can read again, and that file in its place. */
static status keep_standard_input(diag_engine *d, int fd)
{
    char piece[1 << 15];
    uint64_t total = 0;
    /* One byte more than a module may have. */
    while (total <= (uint64_t)INT32_MAX) {
        const ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) break;
        if (n < 0 || write(fd, piece, (size_t)n) != n) {
            diag_error(d, (src_pos){"<stdin>", 0, 0}, &E1501, "cannot be kept: %s", strerror(errno));
            return FAILED;
        }
        total += (uint64_t)n;
        if (memchr(piece, 0, (size_t)n) != NULL) break; /* is refused whatever follows */
    }
    return lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) >= 0 ? OK : FAILED;
}

exit_status session_read_module(session *s, const char *path, module **out)
{
    struct stat st;
    const bool is_there =
        strcmp(path, "-") == 0 || (access(path, R_OK) == 0 && stat(path, &st) == 0 && !S_ISDIR(st.st_mode));
    const exit_status failure = is_there ? EXIT_STATUS_INPUT : EXIT_STATUS_USAGE;
    if (flight_recorder_phase(s->recorder, "reading the module")) return EXIT_STATUS_RESOURCES;
    if (strcmp(path, "-") == 0 && s->recorder->module_fd >= 0)
        TRY_AS(failure, keep_standard_input(s->diags, s->recorder->module_fd));
    const run_agent *reader;
    TRY_EXIT(library_find_reader(s->arena, s->diags, s->host, path, value_of(s->line, OPTION_READER), &reader));
    compile_trace_begin(s->trace, "parse", STR("parse"), NULL);
    const run_session_params params = {.diags = s->diags,
                                       .registry = plugin_host_runs(s->host),
                                       .machine = s->opened.machine,
                                       .abi_minor = plugin_host_abi_minor(s->host),
                                       .recorder = s->recorder};
    const status parsed = reader != NULL ? library_read(s->context, &params, reader, path, NULL, out)
                                         : library_parse(s->context, path, NULL, out);
    compile_trace_end(s->trace);
    if (parsed != OK && flight_recorder_stop(s->recorder)) s->recorder->stopped = 1;
    TRY_AS(failure, parsed);
    compile_trace_begin(s->trace, "verify", STR("verify"), NULL);
    const status verified = library_verify(*out);
    compile_trace_end(s->trace);
    if (verified == OK) return EXIT_STATUS_OK;
    module_destroy(*out);
    return failure;
}

void session_print_checks(const session *s, const session_watch *w)
{
    if (w->semantics.check == NULL || session_is_quiet(s)) return;
    text_buffer t;
    text_init(&t);
    semantics_check_summary(w->semantics.check, &t);
    fwrite(t.p, 1, t.n, stderr);
    text_fini(&t);
}

/* --timing and --stats. */
static void print_stats(const session *s)
{
    text_buffer t;
    text_init(&t);
    if (command_line_has(s->line, OPTION_TIMING)) explain_timing(&s->stats, &t);
    if (command_line_has(s->line, OPTION_STATS)) explain_counters(&s->stats, &s->opened, &t);
    if (t.n != 0) fwrite(t.p, 1, t.n, stderr);
    text_fini(&t);
}

exit_status session_compile(session *s, module *m, flight_recorder *recorder)
{
    if (!s->has_pipeline) return EXIT_STATUS_OK;
    if (flight_recorder_phase(recorder, "compiling")) return EXIT_STATUS_RESOURCES;
    TRY_AS(EXIT_STATUS_INPUT, library_check_functions(m));
    TRY_AS(EXIT_STATUS_USAGE,
           step_range_find(s->diags, &s->opened.contract, &s->range, &s->request.first, &s->request.end));
    session_watch_compile(s, &s->watch, true);
    s->request.observer_count = s->watch.count;
    s->request.observers = s->watch.list;
    exit_status result = pass_manager_run(s->arena, &s->opened, &s->request, m, recorder, &s->stats);
    if (flight_recorder_phase(recorder, "writing what was compiled")) return EXIT_STATUS_RESOURCES;
    /* Remarks of a compile that failed say what it was about. */
    if (write_remarks(s) != OK && result == EXIT_STATUS_OK) result = EXIT_STATUS_OUTPUT;
    if (result == EXIT_STATUS_OK && write_schedule(s) != OK) result = EXIT_STATUS_OUTPUT;
    print_stats(s);
    if (result != EXIT_STATUS_OK) return result;
    session_print_checks(s, &s->watch);
    if (s->opened.contract.backend != NULL) hints_warn(m, s->opened.contract.backend);
    return EXIT_STATUS_OK;
}
