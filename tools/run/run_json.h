/* A run as one JSON object: `pto-run --json`. docs/cases.md lists the keys, which stay; new ones may come. */
#ifndef TOOLS_RUN_RUN_JSON_H
#define TOOLS_RUN_RUN_JSON_H

#include "core/exit_status.h"
#include "tools/run/backend_run.h"
#include "tools/run/expectation.h"
#include "tools/run/run_rates.h"

typedef struct run_json {
    const char *name, *size;      /* of a case; NULL: it is none */
    const char *module, *backend; /* NULL: not known yet */
    int status;
    const bound_call *call;       /* NULL: it did not come to a run */
    const machine *machine;       /* or NULL */
    const run_work *work;         /* of an execution, or NULL: not known */
    const backend_result *result; /* NULL: it did not run to its end */
    uint32_t expectation_count;
    const expectation *expectations;
    const diag_engine *diags; /* or NULL */
} run_json;

/* The object, without a line break at its end. */
void run_json_write(const run_json *r, text_buffer *out);
/* The records so far, as a list: severity, code, place, text and path of the op. NULL: an empty list. */
void run_json_write_diagnostics(const diag_engine *d, text_buffer *out);

#endif
