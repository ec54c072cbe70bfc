/* Running the functions of a module on pto.reference, again and again on the same inputs; what --check=semantics
 * compares. */
#ifndef CORE_SEMANTICS_RUN_H
#define CORE_SEMANTICS_RUN_H

#include "core/semantics_check.h"

enum { TUNE_CHOICES_MAX = 256 };

/* What one run gave; lives in an arena of its own. */
typedef struct outcome {
    arena *arena;
    bound_call call;
} outcome;

typedef struct checked_function {
    const char *name;
    given_tensor *inputs; /* in the order of the parameters; names as they were */
    uint32_t input_count;
    given_symbol *symbols;
    uint32_t symbol_count;
    given_symbol *bound; /* all of them, for messages */
    uint32_t bound_count;
    output_names outputs; /* what the user calls them */
    outcome before;       /* of the caller */
} checked_function;

typedef struct semantics_runs {
    arena *arena;
    diag_engine *diags;
    const semantics_request *request;
    flight_recorder *recorder;
    opened_pipeline reference; /* no steps, and the backend */
    value *perturb;            /* the backend's option, to be set */
    uint64_t choice;           /* of values for symbols of `tune`: below semantics_choices */
    checked_function *functions;
    uint32_t function_count;
} semantics_runs;

extern const char semantics_backend_id[];

/* Chooses functions, opens the backend, finds inputs; arena, diags, request and recorder are set. Fails as
 * semantics_check_begin does. */
MUST_CHECK exit_status semantics_runs_open(semantics_runs *r, plugin_host *host, module *m);
/* Runs one function of a module that may be at any level. `perturb`: seed of random errors, or 0. Fails after a
 * diagnostic; `out` is to be destroyed with its arena. */
MUST_CHECK status semantics_run(semantics_runs *r, module *m, checked_function *fn, uint64_t perturb, outcome *out);
/* How many ways there are to fix all symbols of `tune`; 1 when there is none, TUNE_CHOICES_MAX when there are more. */
uint64_t semantics_choices(module *m);
/* Says on which inputs the function was run. */
void semantics_note_inputs(const semantics_runs *r, const checked_function *fn);

#endif
