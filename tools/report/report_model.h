/* What the pages and pictures of a report are made of: the final module as text with its lines, kernels, units,
 * numbers.
 *
 * Everything lives in the report's arena. The module is not changed. One thread. */
#ifndef TOOLS_REPORT_REPORT_MODEL_H
#define TOOLS_REPORT_REPORT_MODEL_H

#include "tools/report/markup.h"
#include "tools/run/backend_run.h"
#include "tools/run/counter_name.h"
#include "tools/run/run_work.h"

/* Time of one unit, or of the units of one name on all cores of a kind, in cycles. From counters. */
typedef struct report_unit {
    const char *group, *pipe; /* "vector" or "vector 03", "mte2" */
    bool is_core;             /* the group is one core */
    double busy, utilisation; /* utilisation in percent, as the backend counts it */
    double stalls[TRACE_CAUSES_MAX];
    bool is_measured, has_utilisation; /* it has a counter of busy cycles, of utilisation */
} report_unit;

/* One instruction, flag, loop or other op of a kernel, in print order. Descriptors and constants have none. */
typedef enum report_row_kind {
    ROW_INSN,
    ROW_SET,
    ROW_WAIT,
    ROW_BARRIER,
    ROW_BLOCK, /* a loop or branch begins */
    ROW_OTHER
} report_row_kind;
typedef struct report_row {
    report_row_kind kind;
    op_id op;
    uint32_t depth;         /* nesting */
    uint32_t last;          /* of ROW_BLOCK: number of the last row inside; its own number when it is empty */
    const char *pipe, *dst; /* of an instruction or barrier; of a flag: source and target. "" unknown */
    const trace_sum *cost;  /* NULL: not traced */
} report_row;

typedef struct report_buffer {
    op_id op;
    const char *name;
    int64_t address, bytes_per_stage, stages, bytes;
    uint32_t first, last; /* rows of the first and last instruction on it; UINT32_MAX: none */
} report_buffer;

/* One on-chip space of a kernel. */
typedef struct report_memory {
    const char *space;
    int64_t limit, reserved; /* of the machine; 0 unknown */
    int64_t used;            /* end of the last buffer */
    report_buffer *buffers;
    uint32_t count;
} report_memory;

typedef struct report_kernel {
    op_id op;
    const char *name, *file_name; /* file_name: of letters that every file system takes, unique in the report */
    const char *core;
    report_row *rows;
    uint32_t row_count;
    report_memory *memories;
    uint32_t memory_count;
    const trace_kernel *trace; /* NULL: no slices of it */
} report_kernel;

typedef struct report_line {
    size_t at, n; /* in `text`, without the line break */
    op_id op;     /* that begins here; 0: none */
} report_line;

typedef struct report {
    arena *arena;
    module *m;
    const machine *machine; /* or NULL */
    const bound_call *call;
    const backend_result *result;
    const run_trace *trace;
    str text; /* of the module */
    report_line *lines;
    uint32_t line_count;
    uint32_t *line_of; /* by op_id: number of its line, from 1 */
    uint32_t op_limit;
    report_kernel *kernels;
    uint32_t kernel_count;
    report_unit *units; /* sums of kinds first, then cores */
    uint32_t unit_count;
    name_index units_by_name;             /* "vector 03 / mte2" */
    const char *causes[TRACE_CAUSES_MAX]; /* of stalls, from counters */
    uint32_t cause_count;
    bool is_reported[PTO_COUNTER_NONE];
    double cycles; /* 0: the backend counts none */
    run_work work; /* known where a clock of this machine counts */
    double clock_hz;
} report;

/* `trace` may be empty, the pipeline without a machine. All of it must outlive the report. */
void report_model(report *r, arena *a, module *m, const loaded_pipeline *opened, const bound_call *call,
                  const backend_result *result, const run_trace *trace);
/* Line of the text where an op begins; 0: not printed. */
uint32_t report_line_of(const report *r, op_id o);
/* That line without its indentation and without the ` {` at its end. */
str report_line_text(const report *r, op_id o);
/* A counter of the run, or `absent`. */
double report_counter(const report *r, pto_counter counter, double absent);
/* Whether the backend reports it: it declares so, or gave it in this run. */
bool report_has(const report *r, pto_counter counter);
/* Bytes of a tensor or array in global memory with the symbols of the call; -1: not known. */
int64_t report_bytes_of(const report *r, type_id t);
/* "softmax.ptir:3:8", of the user's text. */
const char *report_source_of(const report *r, op_id o);

/* ---- report_pipes.c ---- */
/* As CSS writes it; the same for pipes with one role. */
const char *report_pipe_colour(const report *r, const char *pipe);
/* What a pipe of a core kind does, by the machine: "gm -> vec". Empty when nothing is known. */
const char *report_pipe_work(const report *r, const char *core, const char *pipe);
/* Adds a pipe to names in the order in which pipes are shown, from where data comes in to where it goes out,
 * unless it is among them or `capacity` is used up. Returns the new count. */
uint32_t report_add_pipe(const report *r, const char **pipes, uint32_t count, uint32_t capacity, const char *pipe);
/* The pipes of the trace in that order: their numbers into `out`, at most TRACE_PIPES_MAX. Returns how many. */
uint32_t report_pipe_order(const report *r, uint32_t *out);
/* Of a cause of stalls; one colour for all that the profile does not know. */
const char *report_cause_colour(const char *cause);

/* ---- report_rows.c ---- */
/* Fills `r->kernels` from the module, the counters and the trace. */
void report_kernels(report *r);

#endif
