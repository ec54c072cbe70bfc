/* What two pipelines made of one module: steps, counters and the final text beside each other. */
#ifndef TOOLS_CHECK_PIPELINE_COMPARE_H
#define TOOLS_CHECK_PIPELINE_COMPARE_H

#include "core/compile/compile_stats.h"
#include "tools/check/step_digest.h"

/* One of the two, after it ran with `counts_ops` and an observer of digests. */
typedef struct compiled {
    const char *name; /* "default.yaml", with what the command line changed of it */
    const loaded_pipeline *pipeline;
    const compile_stats *report;
    const step_digests *digests;
    str text; /* of the final module */
} compiled;

/* Appends a table of the steps (where the module differs, ops left, changes, counters that differ), and the first
 * difference of the final texts. True when these are the same. */
bool pipeline_compare(const compiled *one, const compiled *other, text_buffer *out);

#endif
