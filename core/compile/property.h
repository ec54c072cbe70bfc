/* Property checkers: what a pass claims is checked, not believed. */
#ifndef CORE_COMPILE_PROPERTY_H
#define CORE_COMPILE_PROPERTY_H

#include "core/compile/contract.h"
#include "core/host/flight_recorder.h"
#include "core/host/plugin_host.h"
#include "core/host/run_context.h"

typedef struct property_set property_set;

/* Lives in the arena. Checkers are loaded when a property is first checked. What they found is kept in `functions`. */
property_set *property_set_create(arena *a, diag_engine *d, plugin_host *host, touched_functions *functions);

/* Runs the checkers of all properties of `state` over the functions of their levels, unless one has found that its
 * property holds and what it looked at has not changed since. Properties without a checker hold by declaration. On
 * failure a diagnostic says which property does not hold and, with `blamed`, which step claimed or broke it. */
MUST_CHECK status property_check_state(property_set *set, run_session *session, module *m, const contract_state *state,
                                       const run_agent *blamed);

/* Whether the functions of a level have a property, by its checker; false when no plugin has one. What the checker
 * finds is reported. */
bool property_holds(property_set *set, run_session *session, module *m, const char *level, const char *property);

/* Adds to `*levels`, as bits, those that properties of `state` exclude. Loads their checkers. */
MUST_CHECK status property_excluded_levels(property_set *set, const contract_state *state, uint32_t *levels);

#endif
