/* What a crash leaves: a folder with the module, the effective pipeline, its machine file and a script that
 * shows the crash again. Made after the worker has died, from what it was given, so a run without a crash pays nothing.
 */
#ifndef TOOLS_SESSION_REPRODUCER_H
#define TOOLS_SESSION_REPRODUCER_H

#include "tools/session/command_line.h"

/* Writes the folder (`folder`, which must not exist; NULL: a new one below TMPDIR) and returns the path of the script
 * in `a`, or NULL with the reason in `d`. `options` of the line are those of session.h and more; `module_fd`: where to
 * read a module that came through standard input, or -1. */
const char *reproducer_write(arena *a, diag_engine *d, const command_line *line, const char *folder, int module_fd);

#endif
