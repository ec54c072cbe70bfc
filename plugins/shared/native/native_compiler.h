/* The C compiler at hand: finds it and runs it under a time limit. */
#ifndef PTO_NATIVE_COMPILER_H
#define PTO_NATIVE_COMPILER_H

#include "native_error.h"

#include <limits.h>
#include <stdbool.h>

enum { NATIVE_IDENTITY_BYTES = 128 };

typedef struct native_compiler {
    char path[PATH_MAX];     /* absolute, with links followed */
    char name[NAME_MAX + 1]; /* as messages call it: "gcc" */
    /* Differs when another compiler is at `path`: device, inode, size and time of the file. It starts no process. */
    char identity[NATIVE_IDENTITY_BYTES];
} native_compiler;

/* Finds `wanted`, a path or a name that is looked for in $PATH; of NULL the first of gcc, clang and cc that is there.
 * Folders of $PATH that are not absolute do not count: a compiler of the working folder runs only when asked for by its
 * path. NATIVE_NO_COMPILER: the sentence names the Debian package. Reads the environment. */
native_status native_compiler_find(const char *wanted, native_compiler *c, native_error *e);

enum { NATIVE_ARGUMENTS_MAX = 64, NATIVE_COMPILERS_MAX = 4 };

/* One run, of one process or several at a time. All of it is borrowed for the call. */
typedef struct native_compile {
    const char *folder; /* absolute; where it runs, and keeps its temporary files */
    /* Of each process, without the name of the program; NULL-ended, at most NATIVE_ARGUMENTS_MAX. Processes end at the
     * first that has none. */
    const char *const *arguments[NATIVE_COMPILERS_MAX];
    double seconds_max;       /* real time; not positive: no limit */
    bool (*stop)(void *self); /* asked some ten times a second: whether to give up; or NULL */
    void *self;
} native_compile;

/* Runs the compiler and waits until all its processes have ended. It reads no input, and of the environment it sees
 * PATH, HOME and LD_LIBRARY_PATH only: what else there is would change the result and is not part of a key. When this
 * function returns, the compiler and all processes of its groups have ended.
 *   NATIVE_COMPILER_FAILED  one could not be started, or ended otherwise than with status 0; the sentence has the
 *                           first line of what it printed that says "error" or "undefined reference", or else its
 *                           first line. Of several that failed it is that of the first in the list
 *   NATIVE_COMPILER_SLOW    it was killed at the limit
 *   NATIVE_STOPPED          it was killed since `stop` said so
 * Threads wait for each other here. Meanwhile SIGCHLD has its default effect, and the process should fork nothing else;
 * it is as before afterwards. [any thread] */
native_status native_compiler_run(const native_compiler *c, const native_compile *job, native_error *e);

#endif
