/* The pictures and tables of a report. Each picture is a whole <svg>; what it shows is said in docs/reports.md. */
#ifndef TOOLS_REPORT_REPORT_PICTURES_H
#define TOOLS_REPORT_REPORT_PICTURES_H

#include "tools/report/report_model.h"

/* Launches or ops of the called function and what flows between them. */
void report_draw_graph(const report *r, svg *v);
void report_write_dot(const report *r, text_buffer *out);
/* Instructions by pipe, in loops, with their flags as arrows. */
void report_draw_kernel(const report *r, const report_kernel *k, svg *v);
/* What one core does in a few iterations in the middle of its work; only for a kernel with a trace. */
void report_draw_timeline(const report *r, const report_kernel *k, svg *v);
/* Whether any buffer has an address. */
bool report_is_placed(const report_kernel *k);
/* Where buffers lie, and when they are used; only for a kernel with addresses. */
void report_draw_memory(const report *r, const report_kernel *k, svg *v);
void report_write_memory_csv(const report *r, text_buffer *out);
/* Instances over cores and time; only with a trace. */
void report_draw_cores(const report *r, svg *v);

#endif
