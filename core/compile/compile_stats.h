/* What the steps of a compile did and how long they took. */
#ifndef CORE_COMPILE_COMPILE_STATS_H
#define CORE_COMPILE_COMPILE_STATS_H

#include "core/compile/pipeline_load.h"

typedef struct step_stats {
    const char *id, *pass;
    uint64_t run_ns, verify_ns; /* in the pass; in everything that looks at what it left */
    uint64_t changes;           /* mutations */
    uint32_t op_count;          /* after the step, when the request counts ops */
    int64_t *stats;             /* one for each name in pass->stats */
    bool ran;
} step_stats;

typedef struct compile_stats {
    step_stats *steps; /* one for each step of the pipeline */
    uint32_t step_count;
} compile_stats;

/* Makes `s` ready for the steps of `p`, whose statistics it shows; its array lives in `a`. */
void compile_stats_start(compile_stats *s, arena *a, const loaded_pipeline *p);
/* Forgets what the pass of a step counted: the step runs again. */
void compile_stats_forget(compile_stats *s, const loaded_pipeline *p, uint32_t step);

#endif
