/* Running a compiled module on the backend of an opened pipeline. */
#ifndef TOOLS_RUN_BACKEND_RUN_H
#define TOOLS_RUN_BACKEND_RUN_H

#include "core/compile/pipeline_load.h"
#include "core/host/flight_recorder.h"
#include "tools/run/call_binding.h"
#include "tools/run/output_folder.h"
#include "tools/run/run_trace.h"

/* Of one number in all executions; with one execution all three are that number. The spread is most - least. */
typedef struct backend_spread {
    double least, median, most;
} backend_spread;

typedef struct backend_counter {
    const char *name, *unit;
    double value; /* of the last execution that gave it */
    backend_spread all;
} backend_counter;

typedef struct backend_result {
    backend_counter *counters; /* in the order the backend gave them */
    uint32_t counter_count;
    bool has_utilisation;   /* among them; see run_counters.h */
    uint32_t runs;          /* executions */
    backend_spread wall_ns; /* of an execution */
    const char **files;     /* names of the report files that were written */
    uint32_t file_count;
    const char *init_name;             /* "f.init", when it computed constants before the first execution; else NULL */
    const struct backend_result *init; /* what its executions cost */
} backend_result;

typedef struct backend_request {
    uint64_t seed;              /* order of independent instances; 0: in order */
    output_folder *folder;      /* where files of the backend go, or NULL */
    bool (*reserves)(str name); /* true for names in the folder that the caller takes itself; or NULL */
    run_trace *trace;           /* gathers slices when `folder` is given; or NULL */
    uint32_t repeat;            /* executions; outputs, files and slices are those of the last */
    uint32_t warm_up;           /* executions before them, of which nothing is kept */
    uint32_t rebind;            /* constants count as changed after so many of `repeat`: `init` runs again; 0: never */
    const bound_call *init;     /* of the function that computes constants of the call, into their memory; or NULL */
} backend_request;

/* Prepares, binds and executes; every execution begins with the tensors as they were bound. Fails after a diagnostic;
 * `*exit_status` is then 5, or 74 when a file of the report cannot be written. */
MUST_CHECK exit_status backend_run(arena *a, const loaded_pipeline *p, const backend_request *request, module *m,
                                   const bound_call *call, flight_recorder *recorder, backend_result *out);

/* A call as a backend gets it in the run, in memory of `a`. `constants` is as in pto_call. */
pto_call backend_run_call(arena *a, const pto_run *run, const bound_call *call, const pto_run_sink *to, uint64_t seed,
                          uint64_t constants);

#endif
