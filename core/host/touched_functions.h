/* What is known of each function of a module, so that after a step only what it changed is looked at again.
 *
 * A function is known by op and generation: one made in the place of an erased one is new. [one thread] */
#ifndef CORE_HOST_TOUCHED_FUNCTIONS_H
#define CORE_HOST_TOUCHED_FUNCTIONS_H

#include "ir/module.h"

enum { FUNCTION_CHECKERS_MAX = 128 };

typedef struct touched_functions touched_functions;

/* Lives in the arena. At first nothing is known of any function. */
touched_functions *touched_functions_create(arena *a, module *m);
/* Something may have changed the function, or, for 0, something of the module outside of all functions. */
void touched_functions_touch(touched_functions *s, op_id function);

/* The module was restored: nothing is known of any function but that all verify. */
void touched_functions_restart(touched_functions *s);

/* Verifies the functions that changed since they were last verified; all of them when a name or a signature changed or
 * a function is gone, since others may call it. */
MUST_CHECK status touched_functions_verify(touched_functions *s);
/* Takes the module as verified. */
void touched_functions_set_verified(touched_functions *s);

/* Whether a property checker (its number is below FUNCTION_CHECKERS_MAX) found that the property holds, and what it
 * looked at is as it was. */
bool touched_functions_holds(touched_functions *s, op_id function, uint32_t checker);
/* It found so. `saw_outside`: it looked at more than the function. */
void touched_functions_set_holds(touched_functions *s, op_id function, uint32_t checker, bool saw_outside);

#endif
