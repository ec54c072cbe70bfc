/* The report of a run: counters and traces as pictures, tables and one page that explains them (docs/reports.md).
 *
 * The page needs no network, no script and no other file. The same run writes the same bytes. */
#ifndef TOOLS_REPORT_REPORT_H
#define TOOLS_REPORT_REPORT_H

#include "tools/run/backend_run.h"

typedef struct report_request {
    output_folder *folder;
    module *m; /* as the backend ran it */
    const loaded_pipeline *opened;
    const bound_call *call;
    const backend_result *result;
    const run_trace *trace; /* empty when the backend tells no slices */
    const char *command;    /* as one would type it */
    const char *outcome;    /* lines that compare outputs; "" */
    const char *pipeline;   /* effective, as YAML; "" */
} report_request;

/* Writes all files, each under a temporary name until it is whole. `out_files` gets their names and those of the
 * backend, one in a line, the page first. */
MUST_CHECK status report_write(arena *a, const report_request *request, text_buffer *out_files);

/* Whether the report itself may write a file of this name, so that a backend must not. */
bool report_writes_name(str name);

#endif
