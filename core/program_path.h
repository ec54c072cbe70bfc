/* Where the running executable is. */
#ifndef CORE_PROGRAM_PATH_H
#define CORE_PROGRAM_PATH_H

#include "ir/base/arena.h"

/* The executable that runs; NULL when the system does not say. In the arena. */
const char *program_path(arena *a);
/* The folder that it is installed in, <prefix> of <prefix>/bin/<tool>: build tree and installed tree have one shape.
 * NULL likewise. */
const char *program_prefix(arena *a);

#endif
