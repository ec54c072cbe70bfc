/* The part of a report about runs by a clock of this machine: no cycles of a model, but time of each kernel. */
#ifndef TOOLS_REPORT_REPORT_CLOCK_H
#define TOOLS_REPORT_REPORT_CLOCK_H

#include "tools/report/report_model.h"
#include "tools/report/report_verdict.h"

/* Whether the run is one: the backend reports time, and no cycles. */
bool report_is_clocked(const report *r);
/* Microseconds of an execution, the median of all; 0: the backend reports no time. */
double report_clock_us(const report *r);
/* What bounds it: memory or arithmetic, whichever is nearer to the peak of the machine. */
report_verdict report_judge_clocked(const report *r);
/* The section `time`: each kernel with its time, what it moved and computed, the share of the machine's peaks, and what
 * the CPU counted. What was not counted is "not reported". */
void report_put_clock(const report *r, text_buffer *out);

#endif
