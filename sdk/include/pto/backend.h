/* Backends: run a module on tensors.
 *
 * Calls of what was prepared come on one thread: prepare, then bind, then execute once or several times, then both
 * again when constants changed, then release. Others may be prepared and run on other threads at the same time. The
 * functions of a sink are called in bind and execute, on their thread. */
#ifndef PTO_BACKEND_H
#define PTO_BACKEND_H

#include <pto/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor in the caller's memory, which is there until execute returns. strides count elements; a rank-0 tensor has
 * one element. */
typedef struct pto_tensor {
    uint32_t struct_size;
    pto_dtype dtype;
    uint32_t rank, reserved;
    void *data;
    uint64_t bytes; /* from data to the end of the last element */
    int64_t dims[PTO_MAX_DIMS], strides[PTO_MAX_DIMS];
} pto_tensor;

/* A stretch of the time of one unit, in cycles from the start of the run. Busy ones of an instruction carry the bytes
 * it moved; a kernel as `op` stands for one of its instances, on the unit that issues it. A stall names what the unit
 * could not begin, or none. */
typedef struct pto_slice {
    uint32_t struct_size;
    uint32_t unit; /* what `unit` of the sink returned */
    pto_op op;
    pto_str cause; /* of a stall, pto_profile_cause(PTO_COUNTER_FLAG); empty: busy */
    int64_t from, to;
    int64_t bytes, instance;
} pto_slice;

/* Where a run puts what it made besides tensors. Texts and bytes are copied. */
typedef struct pto_run_sink {
    uint32_t struct_size;
    uint32_t measures; /* 1: a report is asked for, and counters that cost time to measure: kernel times */
    void *self;
    /* One number: name "cycles" or "core 03 / mte2 / busy", unit "cycles", "bytes", "count". pto_profile_count and
     * pto_profile_count_unit (profile.h) write both. */
    void (*counter)(void *self, pto_str name, pto_str unit, double value);
    /* A file of the report: name "swimlane.json", then its bytes piece by piece. NULL: no files are asked for, as in
     * all executions but the last. */
    void (*file_begin)(void *self, pto_str name);
    void (*file_write)(void *self, const void *bytes, size_t n);
    void (*file_end)(void *self);
    /* Names a unit, as counters do: "core 03 / mte2". Its number, for slices; the same name has the same number. */
    uint32_t (*unit)(void *self, pto_str name);
    /* What a unit did, in any order; what the pictures of the report are made of. NULL: not asked for. */
    void (*slice)(void *self, const pto_slice *slice);
} pto_run_sink;

/* What execute runs: the function that prepare got, on tensors. All of it is borrowed for the call. */
typedef struct pto_call {
    uint32_t struct_size;
    uint32_t symbol_count, argument_count, result_count;
    pto_op function;
    const pto_str *symbols; /* every symbol of the function, bound and checked */
    const int64_t *symbol_values;
    /* One for each parameter in order (out and inout ones are written), then results as further tensors. */
    const pto_tensor *const *arguments;
    const pto_tensor *const *results;
    uint64_t seed; /* order of independent instances; 0: in order */
    const pto_run_sink *sink;
    /* Executions of one executable with the same number have the same elements in `const` arguments, at the same
     * addresses: what was made of these may be kept for them. 0: nothing is known. */
    uint64_t constants;
} pto_call;

/* The descriptor. */
typedef struct pto_backend {
    uint32_t struct_size, reserved;
    const char *id, *summary;
    const pto_option *const *options;
    const char *const *kinds;
    const char *const *consumes;       /* levels it runs: "exec/1"; NULL-ended */
    const char *const *requires_props; /* properties it needs at those levels */
    /* Makes what execute needs of the function, which has the levels and properties above: into `*exe`, in memory of
     * pto_keep or of its own. PTO_FAILED or PTO_MISSING after a diagnostic; release is not called then. */
    pto_status (*prepare)(const pto_run *run, pto_op function, void **exe);
    /* Computes the results. PTO_FAILED after a diagnostic: what the results hold then is not used. */
    pto_status (*execute)(const pto_run *run, void *exe, const pto_call *call);
    /* Frees what prepare took that is not the host's. */
    void (*release)(const pto_run *run, void *exe);
    /* Attributes of ops that their rows call hints, and that the backend heeds: "cache"; NULL-ended. Of every other
     * hint in what it runs the host says that it is ignored. */
    const char *const *hints;
    /* 0: with the options of this run `execute` reads no element of a tensor, so that the host need not make up inputs
     * that nobody gave; they are zero then. Called once, after `prepare`. NULL: elements are read. */
    uint32_t (*reads_data)(const pto_run *run);
    /* What it reports of a run, by the names of <pto/profile.h>: "cycles", "busy", "stall / flag"; NULL-ended. It
     * reports no others except its own, whose names begin with its id and a space. NULL or empty: it does not say. */
    const char *const *counters;
    /* Runs `init`, of the function that computes constants of the prepared one (`@f.init` of @f), which wrote none yet:
     * its results are `const` arguments of the executions that follow. Called after prepare, and again when what `init`
     * reads has changed; `execute` may keep what it makes of those constants until then. Fails like execute. NULL: the
     * host prepares and executes that function like any other, as often. */
    pto_status (*bind)(const pto_run *run, void *exe, const pto_call *init);
} pto_backend;

#ifdef __cplusplus
}
#endif
#endif
