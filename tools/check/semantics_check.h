/* --check=semantics: after every step that changed something the module runs on pto.reference with the same inputs as
 * before it, several sets of them (semantics_trials.h), and the outputs are compared.
 *
 * What a pass with exact numerics leaves must be the same bit for bit (every NaN is the same). What one that declares
 * PTO_PASS_REASSOCIATES leaves must be a value that the rows of the ops of the module before the step allow: the module
 * runs once more, on sets of values (option `bound` of pto.reference), when a bit changed. */
#ifndef TOOLS_CHECK_SEMANTICS_CHECK_H
#define TOOLS_CHECK_SEMANTICS_CHECK_H

#include "core/compile/pipeline_load.h"
#include "core/host/flight_recorder.h"
#include "tools/check/semantics_compare.h"
#include "tools/run/call_binding.h"

/* What to run, and on what. */
typedef struct semantics_request {
    const char *entry; /* the function; NULL: the only public one, or with `finds_inputs` all public ones */
    uint32_t tensor_count;
    const given_tensor *tensors;
    uint32_t symbol_count;
    const given_symbol *symbols;
    uint64_t seed;     /* of inputs that are not given; 0: all are */
    bool finds_inputs; /* symbols that are not given get small values */
    bool only_first;   /* no other inputs than these */
} semantics_request;

typedef struct semantics_check semantics_check;

/* Opens pto.reference and runs the module as it is. Returns, after a diagnostic, 2 (nothing to run,
 * or too large), 3 (no such backend), 4 (inputs that do not fit) or 5 (it reported an error). */
MUST_CHECK exit_status semantics_check_begin(arena *a, plugin_host *host, const semantics_request *request, module *m,
                                             flight_recorder *recorder, semantics_check **out);
/* The module was set back to what it was before an earlier step. */
void semantics_check_go_back(semantics_check *c);
/* Before a step, which may change the module. Fails after a diagnostic when a module that was set back does not run. */
MUST_CHECK status semantics_check_before(semantics_check *c, module *m, const pto_pass *pass);
/* After a step that changed something. Fails when the numbers changed, after a diagnostic that blames `agent`. */
MUST_CHECK status semantics_check_step(semantics_check *c, module *m, const run_agent *agent, const pto_pass *pass);
/* What was checked, on which inputs, and what could not be. */
void semantics_check_summary(const semantics_check *c, text_buffer *out);
void semantics_check_end(semantics_check *c);

/* Which values the outputs of a module may have, in their order; they live in `*out_arena`, NULL on failure. Made to
 * compare what two pipelines made of the module. Fails as semantics_check_begin does. */
MUST_CHECK exit_status semantics_find_bounds(plugin_host *host, const semantics_request *request, module *m,
                                             flight_recorder *recorder, arena **out_arena,
                                             const semantics_bounds **out);

#endif
