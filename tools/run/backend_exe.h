/* A function that a backend has prepared, open for any number of executions. */
#ifndef TOOLS_RUN_BACKEND_EXE_H
#define TOOLS_RUN_BACKEND_EXE_H

#include "core/compile/pipeline_load.h"
#include "core/host/flight_recorder.h"
#include "tools/run/call_binding.h"

typedef struct backend_exe {
    const pto_backend *backend;
    run_session *session;
    run_request request;
    const pto_run *run; /* of all its calls */
    void *exe;
    pto_status prepared; /* what `prepare` returned */
} backend_exe;

/* Prepares `function` of the module, which stays as it is meanwhile; what a backend keeps lives in `a`. Look at
 * `prepared`; backend_exe_close follows in any case. With a registry of its own (NULL) it may stay open while others
 * are opened and closed. One thread until then. */
void backend_exe_open(arena *a, const loaded_pipeline *p, module *m, op_id function, run_registry *registry,
                      flight_recorder *recorder, backend_exe *out);
/* Releases it. `last` is what its last call returned. The exit status of a tool, after a diagnostic: 5, or 3 when
 * something that the backend needs is not on this host. */
exit_status backend_exe_close(backend_exe *x, pto_status last);

/* One execution in a run of its own, whose scratch memory ends with it; nobody is told counters. `constants` is as in
 * pto_call. 5 after a diagnostic. */
MUST_CHECK exit_status backend_exe_call(backend_exe *x, arena *a, const bound_call *call, uint64_t constants);

#endif
