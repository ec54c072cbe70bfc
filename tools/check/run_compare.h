/* What two pipelines computed from the same inputs, and what it took, beside each other. */
#ifndef TOOLS_CHECK_RUN_COMPARE_H
#define TOOLS_CHECK_RUN_COMPARE_H

#include "tools/check/semantics_compare.h"
#include "tools/run/backend_run.h"

/* Every output has the same bits. Fails when number, element type or extents of the outputs differ. */
MUST_CHECK status run_compare_bits(const bound_call *one, const bound_call *other, bool *out_is_same);
/* A line for each output; true when all are the same: bit for bit, or with `bounds` (semantics_find_bounds) both
 * within them. */
bool run_compare_outputs(const bound_call *one, const bound_call *other, const semantics_bounds *bounds,
                         text_buffer *out);
/* Counters with their ratio; without `all`, those that pto-run prints unasked. */
void run_compare_counters(const backend_result *one, const backend_result *other, bool all, text_buffer *out);

#endif
