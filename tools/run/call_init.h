/* `@f.init`: a function that computes what `const` parameters of @f are, such as packed weights.
 *
 * Its outputs have the names of those parameters. It runs once, before all executions of @f, on what is given for its
 * own parameters; a constant that is given itself is not computed. */
#ifndef TOOLS_RUN_CALL_INIT_H
#define TOOLS_RUN_CALL_INIT_H

#include "tools/run/backend_run.h"

/* What is given for a call. */
typedef struct given_call {
    op_id function;
    uint32_t tensor_count, symbol_count;
    const given_tensor *tensors;
    const given_symbol *symbols;
    uint64_t random_seed; /* 0: every input is given */
} given_call;

/* What one call made, to be given to another one; the elements stay where they are. */
given_tensor call_tensor_given(arena *a, const bound_tensor *from);

/* Whether every `@f.init` of a module as the user wrote it can compute constants of @f: there is an @f, its own
 * parameters are `const`, and each output has name, element type and extents of a `const` parameter of @f. Fails after
 * a diagnostic. */
MUST_CHECK status call_init_check(module *m);

/* Makes of what is given for both functions what is given for `call->function`, in memory of `a`; `made` says what it
 * cost, in its fields of that. Nothing happens when there is no `@f.init`, or nothing is left for it to make. Fails
 * after a diagnostic, with the exit status of pto-run. */
MUST_CHECK exit_status call_init_run(arena *a, const loaded_pipeline *p, module *m, uint64_t shuffle,
                                     flight_recorder *recorder, given_call *call, backend_result *made);

#endif
