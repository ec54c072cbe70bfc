/* `@f.init`: a function that computes what `const` parameters of @f are, such as packed weights.
 *
 * Its outputs have the names of those parameters. It runs before all executions of @f, and again when what it
 * reads has changed, on what is given for its own parameters; a constant that is given itself is not computed. */
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
    const call_words *words;
} given_call;

/* Whether a function has parameters that are `const`. */
bool call_has_constants(const module *m, op_id f);
/* What one call made, to be given to another one; the elements stay where they are. */
given_tensor call_tensor_given(arena *a, const bound_tensor *from);

/* Whether every `@f.init` of a module as the user wrote it can compute constants of @f: there is an @f, its own
 * parameters are `const`, and each output has name, element type and extents of a `const` parameter of @f. Fails after
 * a diagnostic. */
MUST_CHECK status call_init_check(module *m);

/* Makes of what is given for both functions what is given for `call->function`, in memory of `a`, and `*bound`, the
 * call of `@f.init` that computes the rest of its constants into the memory that is given; NULL: there is no `@f.init`,
 * or nothing is left for it to make. What is given holds nothing before it has run. Fails after a diagnostic, with the
 * exit status of pto-run. */
MUST_CHECK exit_status call_init_bind(arena *a, module *m, given_call *call, const bound_call **bound);
/* The same, and runs that call: what is given afterwards may be read in any number of calls. */
MUST_CHECK exit_status call_init_run(arena *a, const loaded_pipeline *p, module *m, flight_recorder *recorder,
                                     given_call *call);

#endif
