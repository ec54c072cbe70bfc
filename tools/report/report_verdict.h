/* What bounds a run, in words and numbers: derived from counters, slices and the machine alone.
 * Texts live in the report's arena; the report is not changed. */
#ifndef TOOLS_REPORT_REPORT_VERDICT_H
#define TOOLS_REPORT_REPORT_VERDICT_H

#include "tools/report/report_model.h"

/* Sentences, not escaped; "" where there is nothing to say. */
typedef struct report_verdict {
    const char *headline, *reason, *advice;
} report_verdict;

/* Of one kernel with a trace. */
report_verdict report_judge_kernel(const report *r, const report_kernel *k);
/* Of the whole run; without cycles it says so. */
report_verdict report_judge_run(const report *r);

/* Cycles that the run would take if one unit were all there is: its work spread evenly over all cores, and nothing
 * waiting. The first two are what the run took, and how much of it kernels ran. */
typedef struct report_limit {
    const char *name, *note, *pipe; /* pipe: for the colour; "" */
    double cycles;
} report_limit;
/* At most `capacity` of them; how many. */
uint32_t report_limits(const report *r, report_limit *out, uint32_t capacity);

#endif
