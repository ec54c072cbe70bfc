/* What of the process a plugin may not leave changed, and putting it back.
 *
 * Plugins run in the worker's process. Whoever calls into one (run_context_begin and _end around everything that takes
 * a pto_run, plugin_load around dlopen and the entry) calls process_enter before and process_leave after: the host
 * goes on as if it alone had run. What is put back, and whether that is said:
 *
 *   floating point: rounding, traps, flushing of denormals (MXCSR, x87)   said, but not of loading: a compiler's start
 *                                                                         files do it, and nothing was computed yet
 *   locale of the thread                                                  likewise; the global one in silence, since
 *                                                                         the worker runs under a C locale of its own
 *   working folder, umask                                                 said
 *   standard input, output, error                                         said; when nothing is left to put them back
 *                                                                         from, the worker ends and the plugin is named
 *   signal mask; handlers of the user's signals, of SIGPIPE, SIGXFSZ, SIGCHLD   in silence
 *
 * While plugins run, standard output goes where standard error goes. One thread; a microsecond or two a call. */
#ifndef CORE_PROCESS_STATE_H
#define CORE_PROCESS_STATE_H

#include "core/flight_recorder.h"
#include "ir/diag.h"

typedef struct process_state process_state;

/* Who was called, for the diagnostics. `role` and `id` may be NULL: the plugin itself, being loaded from `path`. */
typedef struct process_caller {
    diag_engine *diags;
    src_pos at;
    const char *role, *id, *plugin, *path;
    bool only_reads; /* a checker or strategy, of which there are many calls: the folder is looked at after the pass */
} process_caller;

/* Keeps the process as it stands and makes it the host's: a C locale, children that die with it. Once, before the first
 * plugin. Never NULL; released with the process. */
process_state *process_state_capture(arena *a);

/* What is printed in between is a plugin's. Pairs nest, and calls into plugins are pairs; one around many calls saves
 * time. The recorder may be NULL or without a process_state: then nothing is kept. */
void process_divert_output(flight_recorder *r);
void process_restore_output(flight_recorder *r);

/* Around each call into a plugin. The recorder, which may be NULL, knows the state. A change is said once of one
 * caller. The worker may end in process_leave: when its standard files are lost, and in a copy of it that the plugin
 * forked and returned in. */
void process_enter(flight_recorder *r);
void process_leave(flight_recorder *r, const process_caller *who);
/* Puts back without leaving: before the host, or another plugin, does work inside of a call. */
void process_put_back(flight_recorder *r, const process_caller *who);

#endif
