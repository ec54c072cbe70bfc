/* What every tool that compiles has in common: options of the command line, plugins, pipeline, module.
 *
 * The rows of SESSION_OPTIONS stand in the tables of pto-opt and pto-run, so both understand the same options. */
#ifndef TOOLS_SESSION_SESSION_H
#define TOOLS_SESSION_SESSION_H

#include "core/compile/pass_manager.h"
#include "ir/text/printer.h"
#include "tools/check/pipeline_compare.h"
#include "tools/check/semantics_observer.h"
#include "tools/check/snapshot.h"
#include "tools/check/step_range.h"
#include "tools/session/command_line.h"
#include "tools/session/supervisor.h"

/* X(ID, name, short, argument, value, group, doc, repeats) */
#define SESSION_OPTIONS(X)                                                                                             \
    X(PIPELINE, "pipeline", 0, CLI_REQUIRED, "FILE", "pipeline", "a YAML file, or the name of an installed one",       \
      false)                                                                                                           \
    X(PASSES, "passes", 0, CLI_REQUIRED, "LIST", "pipeline", "an ad-hoc list instead: 'a,b{x=1}'", false)              \
    X(MACHINE, "machine", 0, CLI_REQUIRED, "FILE", "pipeline", "machine file, or the name of an installed one", false) \
    X(SCHEDULE, "schedule", 0, CLI_REQUIRED, "FILE", "pipeline", "keep what this schedule file pins", false)           \
    X(SET, "set", 0, CLI_REQUIRED, "K=V", "pipeline", "set STEP.with.KEY, params.NAME, backend.with.KEY, backend.use", \
      true)                                                                                                            \
    X(REPLACE, "replace", 0, CLI_REQUIRED, "STEP=PASS", "pipeline", "run another pass in place of a step", true)       \
    X(INSERT_BEFORE, "insert-before", 0, CLI_REQUIRED, "STEP=PASS", "pipeline", "run a pass before a step", true)      \
    X(INSERT_AFTER, "insert-after", 0, CLI_REQUIRED, "STEP=PASS", "pipeline", "run a pass after a step", true)         \
    X(REMOVE, "remove", 0, CLI_REQUIRED, "STEP", "pipeline", "leave a step out", true)                                 \
    X(FROM, "from", 0, CLI_REQUIRED, "STEP", "pipeline", "begin with this step, from a snapshot", false)               \
    X(UNTIL, "until", 0, CLI_REQUIRED, "STEP", "pipeline", "end after this step", false)                               \
    X(ONLY, "only", 0, CLI_REQUIRED, "STEP", "pipeline", "run this step alone", false)                                 \
    X(PLUGIN, "plugin", 0, CLI_REQUIRED, "FILE", "plugins", "one more plugin", true)                                   \
    X(PLUGIN_PATH, "plugin-path", 0, CLI_REQUIRED, "DIR", "plugins", "one more folder of plugins", true)               \
    X(DUMP_DIR, "dump-dir", 0, CLI_REQUIRED, "DIR", "looking inside",                                                  \
      "a numbered .ptir after every step that changed something", false)                                               \
    X(PRINT_AFTER, "print-after", 0, CLI_REQUIRED, "STEP", "looking inside",                                           \
      "print the module after a step, to stderr", true)                                                                \
    X(PRINT_AFTER_ALL, "print-after-all", 0, CLI_NONE, NULL, "looking inside", "print it after every step", false)     \
    X(PRINT_AFTER_CHANGE, "print-after-change", 0, CLI_NONE, NULL, "looking inside",                                   \
      "print it after every step that changed something", false)                                                       \
    X(VERIFY, "verify", 0, CLI_REQUIRED, "off|each|paranoid", "looking inside",                                        \
      "verifier and property checkers after each step", false)                                                         \
    X(CHECK, "check", 0, CLI_REQUIRED, "semantics", "looking inside",                                                  \
      "run the module after each step and compare the numbers", false)                                                 \
    X(BISECT, "bisect", 0, CLI_REQUIRED, "N", "looking inside",                                                        \
      "run only the first N optional runs of passes; -1: all, numbered", false)                                        \
    X(COMPARE, "compare", 0, CLI_REQUIRED, "OTHER.yaml", "looking inside",                                             \
      "run another pipeline too; print what differs", false)                                                           \
    X(TIMING, "timing", 0, CLI_NONE, NULL, "looking inside", "time of each step, to stderr", false)                    \
    X(STATS, "stats", 0, CLI_NONE, NULL, "looking inside", "counters of each step, to stderr", false)                  \
    X(TRACE, "trace", 0, CLI_REQUIRED, "FILE.json", "looking inside",                                                  \
      "what the compile spends its time on, for Perfetto", false)                                                      \
    X(PROGRESS, "progress", 0, CLI_NONE, NULL, "looking inside", "a line as each step starts, to stderr", false)       \
    X(REMARKS, "remarks", 0, CLI_REQUIRED, "FILE", "looking inside",                                                   \
      "what passes say about their choices; `-` is stderr", false)                                                     \
    X(EMIT_SCHEDULE, "emit-schedule", 0, CLI_REQUIRED, "FILE", "looking inside",                                       \
      "what was decided, as a schedule file", false)                                                                   \
    X(EXPLAIN, "explain", 0, CLI_OPTIONAL, "pipeline|schedule", "looking inside",                                      \
      "the checked pipeline with levels and properties, or what was decided", false)                                   \
    X(PRINT_PIPELINE, "print-pipeline", 0, CLI_NONE, NULL, "looking inside",                                           \
      "the effective pipeline with defaults and origins", false)                                                       \
    X(PRINT_SEARCH_SPACE, "print-search-space", 0, CLI_NONE, NULL, "looking inside",                                   \
      "what could be decided, and what strategies offer, as YAML", false)                                              \
    X(PRINT_SCHEMA, "print-schema", 0, CLI_REQUIRED, "pipeline|machine|schedule|case", "looking inside",               \
      "JSON Schema of a kind of file", false)                                                                          \
    X(TIME_LIMIT, "time-limit", 0, CLI_REQUIRED, "SECONDS", "other",                                                   \
      "status 75 when it takes longer; default no limit", false)                                                       \
    X(MEMORY_LIMIT, "memory-limit", 0, CLI_REQUIRED, "BYTES", "other",                                                 \
      "address space of the worker, such as 2GiB; default what the system grants", false)                              \
    X(REPRODUCER, "reproducer", 0, CLI_REQUIRED, "DIR", "other",                                                       \
      "where a crash leaves its reproducer; default a new folder in TMPDIR", false)                                    \
    X(NO_SUPERVISE, "no-supervise", 0, CLI_NONE, NULL, "other", "run in this process, for debuggers", false)           \
    X(QUIET, "quiet", 0, CLI_NONE, NULL, "other", "on stderr errors alone, and what was asked for", false)             \
    X(COLOR, "color", 0, CLI_REQUIRED, "auto|always|never", "other", "colour in diagnostics", false)                   \
    X(VERSION, "version", 0, CLI_NONE, NULL, "other", "print the version", false)                                      \
    X(HELP, "help", 'h', CLI_NONE, NULL, "other", "this text", false)

#define SESSION_ENUM(ID, ...) SESSION_##ID,
enum { SESSION_OPTIONS(SESSION_ENUM) SESSION_OPTION_COUNT };
#define SESSION_ROW(ID, name, short_name, argument, value, group, doc, repeats) \
    {name, short_name, argument, value, group, doc, repeats},

enum { SESSION_OBSERVERS_MAX = 7 };

/* Who observes one compile, with what they found out. */
typedef struct session_watch {
    snapshot_request snapshots;
    semantics_watch semantics;
    step_digests digests;
    compile_observer list[SESSION_OBSERVERS_MAX];
    uint32_t count;
} session_watch;

typedef struct session {
    arena *arena;
    diag_engine *diags;
    ir_context *context;
    const command_line *line;
    flight_recorder *recorder;
    const char *const *search; /* folders for pipelines and machines */
    plugin_host *host;
    opened_pipeline opened;
    bool has_pipeline;
    step_range range; /* --from, --until, --only */
    compile_request request;
    compile_trace *trace; /* of --trace, or NULL */
    const char *const *printed_steps;
    int64_t bisect_limit;
    session_watch watch, other_watch; /* of session_compile; of --compare */
    compile_stats stats, other_stats;
    opened_pipeline other;
    semantics_request semantics; /* of --check=semantics; the tool fills it in before session_compile */
} session;

/* Folders where pipelines and machines are sought: PTO_PIPELINE_PATH, then the installed ones. NULL-ended. */
const char *const *session_search_folders(arena *a);
const char *session_version(void);
/* <prefix>/share/pto of the running executable: pipelines, machines, templates. NULL when it cannot be found out. */
const char *session_share_folder(arena *a);

/* Runs `work` as --no-supervise, --time-limit and --memory-limit say, and gives its exit status. A worker that dies
 * leaves a reproducer, whose path is the last line on stderr. */
int session_supervise(const command_line *line, worker_main work);

MUST_CHECK exit_status session_open(session *s, const command_line *line, flight_recorder *recorder);
void session_close(session *s);
/* Reads --pipeline or --passes and opens all plugins of it. `backend` as in pipeline_open. Does nothing without either.
 */
MUST_CHECK exit_status session_open_pipeline(session *s, const char *backend);
/* The pipeline that --pipeline or --passes, --machine, --set and their like describe; no plugin is opened. NULL when
 * there is neither of the first two. */
MUST_CHECK status session_read_pipeline(arena *a, diag_engine *d, const command_line *line, const char *const *search,
                                        const pipeline **out);
/* Answer --version, --help and --print-schema; --explain=pipeline and --print-pipeline; --explain=schedule and
 * --print-search-space: true when
 * one of them was asked for. */
bool session_answers_before_pipeline(const command_line *line, const char *usage, const char *summary,
                                     exit_status *answer);
bool session_answers_after_pipeline(session *s, exit_status *answer);
bool session_answers_after_compile(session *s);
/* The effective pipeline, as --print-pipeline prints it. */
void session_write_pipeline(session *s, text_buffer *out);
/* Reads and verifies a module (exit status 2 when the file cannot be read, 4 for wrong text). */
MUST_CHECK exit_status session_read_module(session *s, const char *path, module **out);
bool session_checks_semantics(const session *s);
/* To stderr, what --check found out about a pipeline that ran to its end. */
void session_print_checks(const session *s, const session_watch *w);
/* Runs the pipeline, if any, prints --timing and --stats, and writes --remarks and --emit-schedule. */
MUST_CHECK exit_status session_compile(session *s, module *m, flight_recorder *recorder);

/* ---- session_watch.c ---- */
/* Fills `w` with the observers that the options ask for; some watch the first of two compiles only. `w` stays where it
 * is until the compile ends. */
void session_watch_compile(session *s, session_watch *w, bool is_first);

/* ---- session_outputs.c ---- */
typedef struct session_output {
    uint32_t option;
    const char *path; /* of a file or folder, or "-" */
} session_output;
/* No two outputs may be one file: those of the tool, and those that the options above name. */
MUST_CHECK exit_status session_check_outputs(const session *s, uint32_t count, const session_output *outputs);

/* ---- session_noise.c: --quiet, --progress, --trace ---- */
MUST_CHECK status session_read_noise(session *s);
/* No warnings and no lines that nobody asked for. */
bool session_is_quiet(const session *s);
/* At the end of a tool: its status, or 74 when it was 0 and the trace cannot be written. */
exit_status session_write_trace(session *s, exit_status code);

/* ---- --compare: the pipeline OTHER as it stands in its file; what the command line changes is of the first ---- */
bool session_compares(const session *s);
MUST_CHECK status session_check_compare(const session *s);
MUST_CHECK exit_status session_open_other(session *s);
/* `m`: a copy of the module, made before session_compile. */
MUST_CHECK exit_status session_compile_other(session *s, module *m, flight_recorder *recorder);
/* Steps, counters and final IR of both; true when the last is the same. */
bool session_write_comparison(const session *s, module *m, module *other, const print_options *form, text_buffer *out);

#endif
