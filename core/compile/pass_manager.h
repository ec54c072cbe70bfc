/* Runs the steps of an opened pipeline over a module and checks what they declare.
 *
 * After each step that changed something: names settle, the verifier runs over the functions that changed, the level of
 * each function is compared with the declared one, and the checkers of all properties that should hold run where what
 * they look at changed. The first that fails blames the step, by plugin, pass, step and YAML line. From the first step
 * on that read the machine description, the module's attribute `machine` names it. */
#ifndef CORE_COMPILE_PASS_MANAGER_H
#define CORE_COMPILE_PASS_MANAGER_H

#include "core/compile/compile_stats.h"
#include "core/compile/observer.h"
#include "core/host/flight_recorder.h"
#include "ir/module.h"

typedef struct compile_request {
    uint32_t first, end;    /* the steps that run are [first, end); 0 as `end`: all from `first` on */
    pipeline_verify verify; /* verifier and checkers after each step */
    bool counts_ops;        /* after each step, for the statistics */
    schedule *schedule;     /* asked what is pinned, told what is decided; or NULL */
    uint32_t observer_count;
    const compile_observer *observers;
} compile_request;

/* Checks the contracts statically, then runs over a verified module. Returns, after a diagnostic, EXIT_STATUS_USAGE (a
 * pipeline that cannot work, an unknown step, a pin that cannot be kept), EXIT_STATUS_FAILED (a pass failed),
 * EXIT_STATUS_BLAMED (a step broke what it declares), EXIT_STATUS_RESOURCES (the time is up), or what an observer says.
 */
MUST_CHECK exit_status pass_manager_run(arena *a, const loaded_pipeline *p, const compile_request *request, module *m,
                                        flight_recorder *recorder, compile_stats *stats);

#endif
