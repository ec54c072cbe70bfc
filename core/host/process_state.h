/* What of the process a plugin may not leave changed, and putting it back.
 *
 * Plugins run in the worker's process. A caller of one (run_context_begin and _end around everything that takes
 * a pto_run, plugin_load around dlopen and the entry) calls process_enter before and process_leave after: the host
 * goes on as if it alone had run. It is put back
 * - and said, with the plugin's name: rounding, traps and flushing of denormals (MXCSR, x87), the locale of the thread,
 *   the working folder, the umask, standard input, output and error. Of loading floating point and locale are not said:
 *   start files of compilers do it, and nothing was computed yet. When nothing is left to put the standard files back
 *   from, the worker ends and the plugin is named;
 * - in silence: the global locale, since the worker runs under a C locale of its own; and, when the outermost pair
 * ends, the signal mask and the handlers of the user's signals, of SIGPIPE, SIGXFSZ and SIGCHLD, since a worker that
 * does not end at a signal is killed. While plugins run, standard output goes where standard error goes. One thread; a
 * microsecond or two a call. */
#ifndef CORE_HOST_PROCESS_STATE_H
#define CORE_HOST_PROCESS_STATE_H

#include "core/host/flight_recorder.h"
#include "ir/base/diag.h"

typedef struct process_state process_state;

/* What was called, for the diagnostics. `role` and `id` may be NULL: the plugin itself, being loaded from `path`. */
typedef struct process_caller {
    diag_engine *diags;
    src_pos at;
    const char *role, *id, *plugin, *path;
} process_caller;

/* Keeps the process as it is and makes it the host's: a C locale, children that die with it. Once, before the first
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
/* Ends a copy of the worker that the plugin forked and returned in; process_leave and process_put_back do so too. */
void process_check_copy(const flight_recorder *r, const process_caller *who);
/* Puts back without leaving: before the host, or another plugin, does work inside of a call. */
void process_put_back(flight_recorder *r, const process_caller *who);

#endif
