/* pto-inspect: what there is: plugins, passes, strategies, backends, properties, ops, machines, options, counters,
 * diagnostics.
 *
 * Everything comes from descriptors, notes and tables; no list is kept by hand. What notes do not say comes from the
 * plugin's entry, which is called in a child process: what does not survive that is listed as refused. */
#include "core/core_diag.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/inspect/inspect.h"
#include "tools/library/library.h"
#include "tools/session/plugin_trial.h"
#include "tools/session/tool_main.h"

#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "pto-inspect "
    "plugins|passes|tilings|costs|generators|readers|backends|properties|ops|machines|options|counters|errors|host "
    "[NAME]";
static const char summary[] = "Lists what there is, or shows one of them in full.";

typedef struct subject {
    const char *word;
    bool wants_plugins;
    bool from_tables; /* what is not there is an error of the command line, not of plugins */
    status (*show)(inspector *x, const char *name);
} subject;

static const subject subjects[] = {
    {"plugins", true, false, inspect_plugins},
    {"passes", true, false, inspect_passes},
    {"tilings", true, false, inspect_tilings},
    {"costs", true, false, inspect_costs},
    {"generators", true, false, inspect_generators},
    {"readers", true, false, inspect_readers},
    {"backends", true, false, inspect_backends},
    {"properties", true, false, inspect_properties},
    {"ops", true, true, inspect_ops},
    {"machines", false, true, inspect_machines},
    {"machine", false, true, inspect_probed_machine},
    {"options", true, false, inspect_options},
    {"errors", false, true, inspect_errors},
    {"counters", false, true, inspect_counters},
    {"host", false, true, inspect_host},
};

static inspect_format read_format(const command_line *line)
{
    static const char *const names[] = {"text", "json", "markdown", NULL};
    const char *text = command_line_value(line, OPTION_FORMAT);
    int i = 0;
    while (text != NULL && names[i + 1] != NULL && strcmp(text, names[i]) != 0) i++;
    return (inspect_format)i;
}

static const subject *find_subject(diag_engine *d, const char *word)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        if (strcmp(subjects[i].word, word) == 0) return &subjects[i];
    }
    diag_error(d, (src_pos){"pto-inspect", 0, 0}, &E1504, "nothing is called `%s` here", word);
    diag_note(d, NO_POS, "usage: %s", usage);
    return NULL;
}

/* `machine` and --probe need each other. */
static bool is_probe_consistent(diag_engine *d, const command_line *line, const subject *s)
{
    const bool is_machine = s->show == inspect_probed_machine, has_probe = command_line_has(line, OPTION_PROBE);
    if (is_machine == has_probe) return true;
    diag_error(d, (src_pos){"pto-inspect", 0, 0}, &E1504,
               is_machine ? "`machine` is this host, and needs --probe; `machines` are those that ship"
                          : "--probe is for `machine`, and has no effect on `%s`",
               s->word);
    return false;
}

/* A host may lack such files, but what was named is there. */
static status find_cpu_files(inspector *x, const command_line *line)
{
    const char *given = command_line_value(line, OPTION_CPU_FILES);
    struct stat st;
    x->cpu_files = given != NULL ? given : cli_options[OPTION_CPU_FILES].absent;
    if (given == NULL || (stat(given, &st) == 0 && S_ISDIR(st.st_mode))) return OK;
    diag_error(x->diags, (src_pos){given, 0, 0}, &E1501, "--cpu-files names a folder, and this is none");
    return FAILED;
}

/* What is shown goes where -o says, which is known before a host is measured for seconds. */
static int show(inspector *x, const subject *s, const command_line *line)
{
    const char *path = command_line_value(line, OPTION_OUTPUT);
    file_writer w;
    TRY_AS(EXIT_STATUS_OUTPUT, file_writer_open(&w, x->diags, path != NULL ? path : "-"));
    text_init(&x->out);
    const status shown = s->show(x, line->argument_count == 2 ? line->arguments[1] : NULL);
    const bool is_empty = x->out.n == 0;
    file_writer_put(&w, x->out.p, x->out.n);
    text_fini(&x->out);
    if (is_empty)
        file_writer_abandon(&w);
    else
        TRY_AS(EXIT_STATUS_OUTPUT, file_writer_commit(&w));
    if (x->host != NULL && !plugin_host_is_whole(x->host)) return EXIT_STATUS_PLUGIN;
    return shown == OK ? EXIT_STATUS_OK : s->from_tables ? EXIT_STATUS_USAGE : EXIT_STATUS_PLUGIN;
}

static int run(arena *a, diag_engine *d, const plugin_trial *trial, flight_recorder *recorder)
{
    const command_line *line = trial->line;
    if (line->argument_count < 1 || line->argument_count > 2) {
        diag_error(d, (src_pos){"pto-inspect", 0, 0}, &E1504,
                   "a subject and perhaps a name are needed, %u words are given", line->argument_count);
        diag_note(d, NO_POS, "usage: %s", usage);
        return EXIT_STATUS_USAGE;
    }
    inspector x = {.arena = a, .diags = d, .format = read_format(line)};
    const subject *s = find_subject(d, line->arguments[0]);
    if (s == NULL) return EXIT_STATUS_USAGE;
    if (!is_probe_consistent(d, line, s)) return EXIT_STATUS_USAGE;
    x.search = session_search_folders(a);
    const char *why;
    x.host_machine = library_host_machine(a, x.search, "host", &why);
    x.share = session_share_folder(a);
    TRY_AS(EXIT_STATUS_USAGE, find_cpu_files(&x, line));
    const bool is_of_plugin =
        s->show == inspect_errors && line->argument_count == 2 && strchr(line->arguments[1], '/') != NULL;
    if (s->wants_plugins || is_of_plugin) {
        plugin_host_params params = plugin_host_defaults();
        params.files = command_line_values(a, line, OPTION_PLUGIN);
        params.folders = command_line_values(a, line, OPTION_PLUGIN_PATH);
        params.recorder = recorder;
        params.refused = trial->refused;
        params.goes_on = true;
        if (plugin_host_create(a, d, &params, &x.host) != OK) return EXIT_STATUS_PLUGIN;
    }
    return show(&x, s, line);
}

static int work(void *self, flight_recorder *recorder)
{
    arena *a = arena_create("inspect");
    diag_engine *d = diag_create(stderr, 0);
    const int code = run(a, d, self, recorder);
    diag_destroy(d);
    arena_destroy(a);
    return code;
}

static int run_on_trial(arena *a, diag_engine *d, const command_line *line)
{
    return plugin_trial_run(a, d, line, work);
}

int main(int argc, char **argv)
{
    static const cli_tool tool = {"pto-inspect", usage, summary, TOOL_INSPECT, NULL, run_on_trial, NULL};
    return tool_main(&tool, argc, argv);
}
