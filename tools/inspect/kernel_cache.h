/* `pto-plugin cache`: what pto.native compiled and keeps for the next run. */
#ifndef TOOLS_INSPECT_KERNEL_CACHE_H
#define TOOLS_INSPECT_KERNEL_CACHE_H

#include "core/exit_status.h"
#include "ir/base/arena.h"
#include "ir/base/diag.h"

#include <stdbool.h>

/* Prints the files of the cache at `path`, NULL: that of the user, with their bytes and when they were last used, and
 * with `clears` removes them. A folder that is missing holds nothing and is not made. Memory comes from `a`. Returns an
 * exit status, after a diagnostic EXIT_STATUS_USAGE for a folder that is not the user's alone, EXIT_STATUS_OUTPUT when
 * a file cannot be removed. */
int kernel_cache_run(arena *a, diag_engine *d, const char *path, bool clears);

#endif
