/* What is known of each function of a module, so that after a step only what it changed is looked at again.
 *
 * A function is known by op and generation: one made in the place of an erased one is new. [one thread] */
#ifndef CORE_HOST_FUNCTION_STATE_H
#define CORE_HOST_FUNCTION_STATE_H

#include "ir/module.h"

enum { FUNCTION_CHECKERS_MAX = 128 };

typedef struct function_states function_states;

/* Lives in the arena. At first nothing is known of any function. */
function_states *function_states_create(arena *a, module *m);
/* Somebody may have changed the function, or, for 0, something of the module outside of all functions. */
void function_states_touch(function_states *s, op_id function);

/* The module was restored: nothing is known of any function but that all verify. */
void function_states_restart(function_states *s);

/* Verifies the functions that changed since they were last verified; all of them when a name or a signature changed or
 * a function is gone, since others may call it. */
MUST_CHECK status function_states_verify(function_states *s);
/* Takes the module as verified. */
void function_states_set_verified(function_states *s);

/* Whether a property checker (its number is below FUNCTION_CHECKERS_MAX) found that the property holds, and what it
 * looked at is as it was. */
bool function_states_holds(function_states *s, op_id function, uint32_t checker);
/* It found so. `saw_outside`: it looked at more than the function. */
void function_states_set_holds(function_states *s, op_id function, uint32_t checker, bool saw_outside);

#endif
