/* The parts of the page of a report. Each appends HTML that is well-formed XML too. */
#ifndef TOOLS_REPORT_REPORT_PAGE_H
#define TOOLS_REPORT_REPORT_PAGE_H

#include "tools/report/report.h"
#include "tools/report/report_model.h"

/* The whole page, from the document type to the end. */
void report_write_page(const report *r, const report_request *q, text_buffer *out);

/* ---- report_tables.c ---- */
/* Busy and stalls of the pipes of each core kind; the numbers of the counters. */
void report_put_units(const report *r, text_buffer *out);
void report_put_limits(const report *r, text_buffer *out);
/* Pipes and longest ops of one kernel. */
void report_put_kernel_pipes(const report *r, const report_kernel *k, text_buffer *out);
void report_put_hot_rows(const report *r, const report_kernel *k, text_buffer *out);
void report_put_buffers(const report *r, const report_kernel *k, text_buffer *out);
void report_put_counters(const report *r, text_buffer *out);

/* ---- report_listing.c: the module with what each line cost ---- */
/* As a table of HTML. */
void report_put_listing(const report *r, text_buffer *out);
/* YAML, with no folder of this machine. */
void report_put_pipeline(const char *yaml, text_buffer *out);

#endif
