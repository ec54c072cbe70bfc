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

/* Makes of what is given for both functions what is given for `call->function`, in memory of `a`. Nothing happens when
 * there is no `@f.init`. Fails after a diagnostic, with the exit status of pto-run. */
MUST_CHECK exit_status call_init_run(arena *a, const loaded_pipeline *p, module *m, uint64_t shuffle,
                                     flight_recorder *recorder, given_call *call);

#endif
