/* A folder for the time of one compilation. */
#ifndef PTO_NATIVE_SCRATCH_H
#define PTO_NATIVE_SCRATCH_H

#include "native_error.h"

#include <limits.h>

typedef struct native_scratch {
    char path[PATH_MAX]; /* absolute, without a slash at the end */
    int folder;          /* open while the folder is in use: others see by its lock that it is */
    int root;            /* the folder that it is in, open */
} native_scratch;

/* Makes an empty folder below $TMPDIR, or /tmp: in `pto-native-<user>`, which is made when it is missing, and where it
 * is a link or not the user's alone is not used. What processes left there that were killed is removed, and nothing
 * else. NATIVE_NO_FOLDER. Reads the environment. [any thread] */
native_status native_scratch_begin(native_scratch *s, native_error *e);
/* Removes it with all that is in it. */
void native_scratch_end(native_scratch *s);

#endif
