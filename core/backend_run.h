/* Running a compiled module on the backend of an opened pipeline. */
#ifndef CORE_BACKEND_RUN_H
#define CORE_BACKEND_RUN_H

#include "core/call_binding.h"
#include "core/flight_recorder.h"
#include "core/output_folder.h"
#include "core/pipeline_open.h"
#include "core/report_trace.h"

typedef struct backend_counter {
    const char *name, *unit;
    double value;
} backend_counter;

typedef struct backend_result {
    backend_counter *counters; /* in the order the backend gave them */
    uint32_t counter_count;
    uint64_t wall_ns;   /* of the last execution */
    const char **files; /* names of the report files that were written */
    uint32_t file_count;
} backend_result;

typedef struct backend_request {
    uint64_t seed;         /* order of independent instances; 0: in order */
    output_folder *folder; /* where files of the backend go, or NULL */
    report_trace *trace;   /* gathers slices when `folder` is given; or NULL */
    uint32_t repeat;       /* executions; outputs and counters are those of the last */
} backend_request;

/* Prepares and executes; every execution begins with the tensors as they were bound. Fails after a diagnostic;
 * `*exit_status` is then 5, or 74 when a file of the report cannot be written. */
MUST_CHECK exit_status backend_run(arena *a, const opened_pipeline *p, const backend_request *request, module *m,
                                   const bound_call *call, flight_recorder *recorder, backend_result *out);

#endif
