/* What passes state to strategies, and strategies to cost models. */
#ifndef CORE_HOST_TILING_PROBLEM_H
#define CORE_HOST_TILING_PROBLEM_H

#include "core/host/host_handle.h"

enum { TILING_DIMS_MAX = SCHEDULE_VALUES_MAX };

/* Whether a problem is whole; reports a misuse of the run when not. */
bool tiling_problem_check(run_context *c, const pto_tiling_problem *p);
/* The same problem with handles that belong to the inner run, in its scratch memory. */
pto_tiling_problem tiling_problem_for(run_context *outer, run_context *inner, const pto_tiling_problem *p);

#endif
