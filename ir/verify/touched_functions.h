/* What is known of each function of a module, so that after a step only what it changed is looked at again.
 *
 * A function is known by op and generation: one made in the place of an erased one is new. [one thread] */
#ifndef IR_VERIFY_TOUCHED_FUNCTIONS_H
#define IR_VERIFY_TOUCHED_FUNCTIONS_H

#include "ir/verify/function_class.h"

typedef struct touched_functions touched_functions;

/* What a checker looked at: what all functions of a class have, what the function has as its own (its names are), or
 * more. */
typedef enum function_sight { SAW_CLASS, SAW_FUNCTION, SAW_MODULE } function_sight;

/* Lives in the arena. At first nothing is known of any function. */
touched_functions *touched_functions_create(arena *a, module *m);
/* Something may have changed the function, or, for 0, something of the module outside of all functions. */
void touched_functions_touch(touched_functions *s, op_id function);

/* All that there is may have changed, and nothing is concluded from one function to another from now on. */
void touched_functions_doubt(touched_functions *s);
/* function_level, kept. */
ir_level touched_functions_level(touched_functions *s, op_id function);

/* The module was restored: nothing is known of any function but that all verify. */
void touched_functions_restart(touched_functions *s);

/* Verifies the functions that changed since they were last verified, of those of one class one; all of them when a name
 * or a signature changed or a function is gone, since others may call it. */
MUST_CHECK status touched_functions_verify(touched_functions *s);
/* Takes the module as verified. */
void touched_functions_set_verified(touched_functions *s);

/* Whether a property checker (its number is below FUNCTION_FACTS_MAX) found that the property holds, for the function
 * or one of its class, and what it looked at is as it was. */
bool touched_functions_holds(touched_functions *s, op_id function, uint32_t checker);
/* It found so. */
void touched_functions_set_holds(touched_functions *s, op_id function, uint32_t checker, function_sight saw);

#endif
