/* Hints: attributes of ops that affect only speed, as their rows say. A backend names those that it heeds; of the
 * others the user is told, since an attribute that does nothing must not look as if it did something. */
#ifndef TOOLS_RUN_HINTS_H
#define TOOLS_RUN_HINTS_H

#include "ir/module.h"

#include <pto/backend.h>

/* Warns once for each function or kernel and each hint that it carries and the backend does not heed, at the first op
 * that carries it. A hint with its default value is none. */
void hints_warn(const module *m, const pto_backend *b);

#endif
