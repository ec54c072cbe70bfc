/* What the outputs of a run must equal, and what comparing them found. */
#ifndef TOOLS_RUN_EXPECTATION_H
#define TOOLS_RUN_EXPECTATION_H

#include "tools/run/call_binding.h"
#include "tools/run/tensor_compare.h"

typedef struct expectation {
    str name; /* of the output */
    comparison comparison;
    const char *rule_text; /* "tolerance", or as in case files */
    comparison_result found;
    bool is_found; /* it was compared */
} expectation;

/* Before anything runs: each is of an output, of its shape, with numbers that can be compared. `tool` is for messages.
 */
MUST_CHECK status expectations_check(diag_engine *d, const char *tool, const bound_call *call, uint32_t count,
                                     const expectation *list);
/* The output of a name; NULL after a diagnostic that lists the outputs. */
const bound_tensor *expectation_output(diag_engine *d, const char *tool, const bound_call *call, str name);
/* After expectations_check and a run: fills in what is found, appends lines that say it to `out`, and returns whether
 * all hold. */
bool expectations_compare(const bound_call *call, uint32_t count, expectation *list, text_buffer *out);

#endif
