/* Running the functions of a module on pto.reference, again and again on the same inputs; what --check=semantics
 * compares. */
#ifndef TOOLS_CHECK_SEMANTICS_RUN_H
#define TOOLS_CHECK_SEMANTICS_RUN_H

#include "tools/check/semantics_check.h"
#include "tools/check/semantics_inputs.h"

enum { TUNE_CHOICES_MAX = 256 };

/* What one run produced; lives in an arena of its own. */
typedef struct outcome {
    arena *arena;
    bound_call call;
} outcome;

/* One set of inputs that a function is run on. */
typedef struct trial {
    input_values values;
    given_tensor *inputs; /* in the order of the parameters; names as they were */
    uint32_t input_count;
    uint32_t own_count; /* of them, before a step made constants of a function of its own; 0: there is none */
    given_symbol *symbols;
    uint32_t symbol_count;
    given_symbol *bound; /* all of them, for messages */
    uint32_t bound_count;
    uint64_t work;  /* elements that its ops make */
    outcome before; /* of the caller */
} trial;

typedef struct checked_function {
    const char *name;
    bool is_made;         /* by a step, to compute constants of another one */
    output_names outputs; /* what the user calls them */
    trial *trials;
    uint32_t trial_count;
    const char **left_out; /* "with $N = 0: its facts allow no such call" */
    uint32_t left_out_count;
} checked_function;

typedef struct semantics_runs {
    arena *arena;
    diag_engine *diags;
    const semantics_request *request;
    flight_recorder *recorder;
    loaded_pipeline reference; /* no steps, and the backend */
    value *bound;              /* the backend's option, to be set */
    uint64_t choice;           /* of values for symbols of `tune`: below semantics_choices */
    checked_function *functions;
    uint32_t function_count;
} semantics_runs;

extern const char semantics_backend_id[];

/* Chooses functions, opens the backend, finds inputs; arena, diags, request and recorder are set. Fails as
 * semantics_check_begin does. */
MUST_CHECK exit_status semantics_runs_open(semantics_runs *r, plugin_host *host, module *m);
/* Runs one function of a module that may be at any level. Fails after a diagnostic; `out` is to be destroyed with its
 * arena. */
MUST_CHECK status semantics_run(semantics_runs *r, module *m, const checked_function *fn, const trial *t, outcome *out);
/* The same on sets of values: outputs hold the least, the most and whether NaN is allowed, one after the other. */
MUST_CHECK status semantics_run_bounds(semantics_runs *r, module *m, const checked_function *fn, const trial *t,
                                       outcome *out);
/* The parameters of a function that are not `out`, in order. */
typedef struct semantics_inputs {
    str *names;
    uint32_t count;
} semantics_inputs;
void semantics_inputs_of(arena *a, const module *m, op_id f, semantics_inputs *out);
/* Whether the module has the function: one that a step made is gone when the module is set back. */
bool semantics_has(module *m, const checked_function *fn);
/* How many ways there are to fix all symbols of `tune`; 1 when there is none, TUNE_CHOICES_MAX when there are more. */
uint64_t semantics_choices(module *m);
/* "random inputs, seed 1, $N = 37" */
void semantics_put_inputs(const semantics_runs *r, const trial *t, bool with_seed, text_buffer *out);
/* Says on which inputs the function was run. */
void semantics_note_inputs(const semantics_runs *r, const checked_function *fn, const trial *t);

#endif
