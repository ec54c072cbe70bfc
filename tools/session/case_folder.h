/* Temporary folders for the data of a case, below TMPDIR. */
#ifndef TOOLS_SESSION_CASE_FOLDER_H
#define TOOLS_SESSION_CASE_FOLDER_H

#include "ir/base/arena.h"

#include <stdbool.h>

/* Makes one; NULL with errno when it cannot. */
char *case_folder_make(arena *a);
/* Whether this names one that case_folder_make could have made: the supervisor removes what a worker leaves, and relies
 * on no message of it. */
bool case_folder_is(const char *path);

#endif
