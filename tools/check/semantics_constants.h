/* Constants that a step makes an @f.init compute: from then on they are inputs of @f like others, with the elements
 * that
 * @f.init made of the inputs that there were, and @f.init is a function to be checked itself. */
#ifndef TOOLS_CHECK_SEMANTICS_CONSTANTS_H
#define TOOLS_CHECK_SEMANTICS_CONSTANTS_H

#include "tools/check/semantics_run.h"

/* After a step. Nothing happens where functions have the inputs that they had. Fails after a diagnostic. */
MUST_CHECK status semantics_take_constants(semantics_runs *r, module *m);

#endif
