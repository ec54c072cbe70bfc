/* What the tools that compile have in common: plugins, pipeline, module, and the life of a run. */
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

enum { SESSION_OBSERVERS_MAX = 7 };

/* What observes one compile, with what they found out. */
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
    loaded_pipeline opened;
    bool has_pipeline;
    step_range range; /* --from, --until, --only */
    compile_request request;
    compile_trace *trace; /* of --trace, or NULL */
    const char *const *printed_steps;
    int64_t bisect_limit;
    session_watch watch, other_watch; /* of session_compile; of --compare */
    compile_stats stats, other_stats;
    loaded_pipeline other;
    semantics_request semantics; /* of --check=semantics; the tool fills it in before session_compile */
} session;

/* Folders where pipelines and machines are sought: PTO_PIPELINE_PATH, then the installed ones. NULL-ended. */
const char *const *session_search_folders(arena *a);
/* <prefix>/share/pto of the running executable: pipelines, machines, templates. NULL when it cannot be found out. */
const char *session_share_folder(arena *a);

typedef exit_status (*session_run)(session *s, flight_recorder *recorder);
/* Opens a session, runs `run` in it as --no-supervise, --time-limit and --memory-limit say, and returns its exit
 * status. A worker that dies leaves a reproducer, whose path is the last line on stderr. */
int session_supervise(const command_line *line, session_run run);

/* Makes everything that a tool needs, as the command line says. Call session_close also when it fails. */
MUST_CHECK exit_status session_open(session *s, const command_line *line, flight_recorder *recorder);
void session_close(session *s);
/* Reads --pipeline or --passes and opens all plugins of it. `backend` as in pipeline_load. Does nothing without either.
 */
MUST_CHECK exit_status session_open_pipeline(session *s, const char *backend);
/* The pipeline that --pipeline or --passes, --machine, --set and their like describe; no plugin is opened. NULL when
 * there is neither of the first two. */
MUST_CHECK status session_read_pipeline(arena *a, diag_engine *d, const command_line *line, const char *const *search,
                                        const pipeline **out);
/* Answer --explain=pipeline and --print-pipeline; --explain=schedule and --print-search-space: true when one of them
 * was asked for. */
bool session_answers_after_pipeline(session *s, exit_status *answer);
bool session_answers_after_compile(session *s);
/* The effective pipeline, as --print-pipeline prints it. */
void session_write_pipeline(session *s, text_buffer *out);
/* Reads and verifies a module (exit status 2 when the file cannot be read, 4 for wrong text). */
MUST_CHECK exit_status session_read_module(session *s, const char *path, module **out);
/* Functions with these symbols get their values as what to expect, which changes prices and no result. A symbol that no
 * function has fails after a diagnostic when `is_strict`. */
MUST_CHECK status session_expect(session *s, module *m, uint32_t count, const given_symbol *sizes, bool is_strict);
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
/* No two of the files and folders that options name as outputs may be one place. */
MUST_CHECK status session_check_outputs(const session *s);

/* ---- session_verbosity.c: --quiet, --progress, --trace ---- */
/* Reads the options, before anything is printed. */
void session_read_verbosity(session *s);
/* No warnings and no lines that nobody asked for. */
bool session_is_quiet(const session *s);
/* At the end of a tool: its status, or 74 when it was 0 and the trace cannot be written. */
exit_status session_write_trace(session *s, exit_status code);

/* ---- --compare: the pipeline OTHER as it is in its file; what the command line changes is of the first ---- */
/* Whether --compare was given; opens OTHER, after the first pipeline. */
bool session_compares(const session *s);
MUST_CHECK exit_status session_open_other(session *s);
/* `m`: a copy of the module, made before session_compile. */
MUST_CHECK exit_status session_compile_other(session *s, module *m, flight_recorder *recorder);
/* Steps, counters and final IR of both; true when the last is the same. */
bool session_write_comparison(const session *s, module *m, module *other, const print_options *form, text_buffer *out);

/* ---- source text ---- */
/* The code generator of the pipeline that writes files with the suffix of `name`, or folders where it names one; NULL:
 * `-o` means the module's own text. FAILED after a diagnostic: a suffix of source text, and no generator for it. `path`
 * is what the user gave to `-o`. */
MUST_CHECK status session_find_generator(session *s, const char *path, const char *name, const run_agent **out);
/* Hands what it makes of the module to the sink; 5 after a diagnostic, or when the sink failed. */
MUST_CHECK exit_status session_generate_text(session *s, module *m, const run_agent *generator,
                                             const pto_text_sink *sink, flight_recorder *recorder);
/* Writes it to a file, or into a folder. */
MUST_CHECK exit_status session_generate(session *s, module *m, const run_agent *generator, const char *path,
                                        flight_recorder *recorder);
/* Whether a path can only be a folder's: there is one, it ends with `/`, or there is nothing and it has no suffix. */
bool session_names_folder(const char *path);
/* Fills a folder with what it makes, with the pipeline, the schedule and the machine, and with a manifest. */
MUST_CHECK exit_status session_generate_tree(session *s, module *m, const run_agent *generator, const char *path,
                                             flight_recorder *recorder);

#endif
