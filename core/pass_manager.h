/* Runs the steps of an opened pipeline over a module and checks what they declare.
 *
 * After each step that changed something: names settle, the verifier runs over the functions that changed, the level of
 * each function is compared with the declared one, and the checkers of all properties that should hold run where what
 * they look at changed. The first that fails blames the step, by plugin, pass, step and YAML line. From the first step
 * on that read the machine description, the module's attribute `machine` names it. */
#ifndef CORE_PASS_MANAGER_H
#define CORE_PASS_MANAGER_H

#include "core/compile_trace.h"
#include "core/flight_recorder.h"
#include "core/pipeline_open.h"
#include "core/semantics_check.h"
#include "ir/module.h"

typedef struct compile_request {
    const char *from, *until, *only; /* step ids or NULL */
    pipeline_verify verify;          /* verifier and checkers after each step */
    const char *dump_dir;            /* or NULL */
    const char *const *print_after;  /* step ids, NULL-ended, or NULL */
    bool print_after_all, print_after_change;
    bool time_steps, count_statistics;  /* collect for the reports below */
    compile_trace *trace;               /* told what takes time; or NULL */
    bool says_progress;                 /* one line on stderr as each step starts */
    bool digest_steps;                  /* collect for pipeline_compare */
    bool is_quiet;                      /* say nothing that is no error */
    bool bisects;                       /* leave out optional unit runs from number bisect_limit + 1 on */
    int64_t bisect_limit;               /* -1: leave out none */
    const semantics_request *semantics; /* compare numbers after each step; or NULL */
    schedule *schedule;                 /* asked what is pinned, told what is decided; or NULL */
} compile_request;

typedef struct step_report {
    const char *id, *pass;
    uint64_t run_ns, verify_ns;
    uint64_t changes;  /* mutations */
    uint32_t op_count; /* after the step */
    uint64_t digest;   /* of the module's text after the step */
    int64_t *stats;    /* one for each name in pass->stats */
    bool ran;
} step_report;

typedef struct run_report {
    step_report *steps; /* one for each step of the pipeline */
    uint32_t step_count;
    const semantics_check *semantics; /* what was compared, or NULL */
} run_report;

/* Checks the contracts statically, then runs over a verified module. On failure `*exit_status` is 2 (a pipeline that
 * cannot work, an unknown step), 5 (a pass failed) or 6 (a step is blamed). */
MUST_CHECK status pass_manager_run(arena *a, const opened_pipeline *p, const compile_request *request, module *m,
                                   flight_recorder *recorder, run_report *report, int *exit_status);

/* Tables for --timing and --stats. */
void run_report_print_timing(const run_report *r, text_buffer *out);
void run_report_print_stats(const run_report *r, const opened_pipeline *p, text_buffer *out);

#endif
