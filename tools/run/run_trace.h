/* What the units of a run did, gathered while it runs: sums for every op and kernel, and enough single slices to draw.
 *
 * Units are named "CORE / PIPE" as in counters. Times are cycles from the start of the run. Sums are of all slices;
 * single slices are kept for one core of each kernel, the first that ran it, and up to a limit. Memory comes from the
 * arena given at the start. One thread. */
#ifndef TOOLS_RUN_RUN_TRACE_H
#define TOOLS_RUN_RUN_TRACE_H

#include "ir/module.h"
#include "tools/run/name_index.h"

enum {
    TRACE_PIPES_MAX = 16,
    TRACE_CAUSES_MAX = 16,
    TRACE_SLICES_MAX = 20000,   /* kept of each kernel */
    TRACE_INSTANCES_MAX = 50000 /* kept of all */
};
#define TRACE_NONE UINT32_MAX

typedef struct trace_unit {
    const char *name;
    uint32_t core, pipe; /* numbers of the parts before and after " / " */
} trace_unit;

/* Sums over all executions of one op, or of all ops on one pipe. Cycles. */
typedef struct trace_sum {
    uint64_t executions;
    int64_t busy, bytes;
    int64_t stalls[TRACE_CAUSES_MAX];
} trace_sum;

typedef struct trace_slice {
    op_id op;
    uint32_t pipe, cause; /* TRACE_NONE: busy */
    int64_t from, to, bytes;
} trace_slice;

typedef struct trace_instance {
    uint32_t kernel, core;
    int64_t from, to, number;
} trace_instance;

typedef struct trace_kernel {
    op_id op;
    uint64_t instances;
    int64_t from, to;                           /* of all instances */
    int64_t instance_cycles, shortest, longest; /* summed, of one */
    trace_sum pipes[TRACE_PIPES_MAX];
    uint32_t core; /* of `slices` */
    trace_slice *slices;
    size_t slice_count, slice_capacity;
    uint64_t slices_left_out;
} trace_kernel;

typedef struct run_trace {
    arena *arena;
    const module *m;
    trace_unit *units;
    size_t unit_count, unit_capacity;
    const char **cores;
    size_t core_count, core_capacity;
    name_index units_by_name, cores_by_name;
    const char *pipes[TRACE_PIPES_MAX];
    uint32_t pipe_count;
    const char *causes[TRACE_CAUSES_MAX];
    uint32_t cause_count;
    trace_sum **ops;     /* by op_id; NULL: no slice */
    uint32_t *kernel_of; /* by op_id: number + 1 */
    size_t op_capacity, kernel_of_capacity;
    trace_kernel *kernels; /* in the order of their first slice */
    size_t kernel_count, kernel_capacity;
    trace_instance *instances; /* in the order of their end */
    size_t instance_count, instance_capacity;
    uint64_t instances_left_out, slice_total;
} run_trace;

/* An empty trace of a run of `m`; everything lives in `a`. */
void run_trace_init(run_trace *t, arena *a, const module *m);
/* The number of a unit. */
uint32_t run_trace_unit(run_trace *t, str name);
bool run_trace_has_unit(const run_trace *t, str name);
typedef struct trace_event {
    uint32_t unit;
    op_id op;  /* 0: unknown */
    str cause; /* of a stall; empty: busy */
    int64_t from, to, bytes, instance;
} trace_event;
/* Slices of units that do not exist, or that end before they begin, are dropped. */
void run_trace_add(run_trace *t, const trace_event *e);

/* NULL when no slice names the op. */
const trace_sum *run_trace_op(const run_trace *t, op_id o);
/* NULL when the kernel did not run. */
const trace_kernel *run_trace_kernel(const run_trace *t, op_id kernel);
int64_t trace_sum_stalled(const trace_sum *s);

#endif
