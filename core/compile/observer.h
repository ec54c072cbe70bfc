/* An observer watches a compile, or has a say in it.
 *
 * The pass manager calls the observers of a request in the order of their list and knows none of them. Every function
 * may be NULL. One that returns an exit status other than EXIT_STATUS_OK ends the compile with it, after a diagnostic;
 * when the time is up by then, the compile ends with that instead. [one thread, in the order of the steps] */
#ifndef CORE_COMPILE_OBSERVER_H
#define CORE_COMPILE_OBSERVER_H

#include "core/compile/pipeline_load.h"
#include "core/exit_status.h"

/* A step of a compile. */
typedef struct step_event {
    uint32_t index; /* from 0 */
    uint32_t end;   /* the first step that does not run */
    const contract_step *step;
    const run_agent *agent;
    module *module;
    bool changed;       /* after the step: it changed the module */
    uint64_t mutations; /* after the step: how often */
} step_event;

typedef struct compile_observer {
    void *self; /* passed to each function */
    /* Before step `first`, the first that runs; the contracts were checked. */
    exit_status (*begin)(void *self, const loaded_pipeline *p, module *m, uint32_t first);
    exit_status (*before_step)(void *self, const step_event *e);
    /* False: the step does not run on the function `unit`, or for 0 on the module. It then establishes nothing. */
    bool (*runs_unit)(void *self, const step_event *e, op_id unit);
    /* The module was verified, when the request says so. */
    exit_status (*after_step)(void *self, const step_event *e);
    /* The module was set back to what it was before `step`, which runs next. */
    void (*went_back)(void *self, uint32_t step);
    /* Spans of time nest: category "step", name "tile", detail "acme.tile" or NULL. */
    void (*span_begin)(void *self, const char *category, str name, const char *detail);
    void (*span_end)(void *self);
    /* Once, however the compile ended, and when it ended before `begin` too. */
    void (*end)(void *self);
} compile_observer;

#endif
