/* Reading whole files, and writing files that appear complete or not at all. */
#ifndef TOOLS_BASE_FILE_H
#define TOOLS_BASE_FILE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/base/text.h"

#include <signal.h>
#include <stdint.h>

/* Reads a regular file into the arena. Fails with the system's reason, or when it is larger than `max_bytes`. */
MUST_CHECK status file_read(arena *a, diag_engine *d, const char *path, uint64_t max_bytes, str *out);

/* Maps a regular file until the process ends: what is written to the bytes changes no file. An empty file has no bytes.
 * Fails with the system's reason. A file that is made shorter meanwhile ends the process by SIGBUS when it is read. */
MUST_CHECK status file_map(diag_engine *d, const char *path, str *out);

/* Writes go to a file beside the target that has no name yet, so that a process that dies leaves nothing; commit names
 * it in one step. A file that is replaced has a second name for two system calls, when it is whole; where the
 * system has no files without a name, one with a temporary name takes its place. Signals of the user wait while there
 * is such a name. Links are followed; a file that is replaced keeps its mode and owner, a read-only one is refused.
 * "-" is standard output, written at once; devices and pipes are written at once too. */
typedef struct file_writer {
    diag_engine *diags;
    char *path;               /* as given; NULL for standard output; on the heap */
    char *target, *temporary; /* where the links of `path` lead, and beside that; NULL for a device; on the heap */
    int fd;
    bool is_named; /* the temporary name exists */
    bool holds_signals;
    sigset_t before; /* signal mask to go back to */
    int failed;      /* errno of the first failure, 0 */
} file_writer;

/* Fails after a diagnostic. `path` is copied. Commit or abandon must follow. */
MUST_CHECK status file_writer_open(file_writer *w, diag_engine *d, const char *path);
/* Failures are kept and reported by file_writer_commit. */
void file_writer_put(file_writer *w, const void *bytes, uint64_t n);
/* Ends the file and names it. On failure the temporary is removed and the reason reported. */
MUST_CHECK status file_writer_commit(file_writer *w);
/* Ends several and names all of them or none: each is whole, under a temporary name, before the first one takes its
 * own. On failure nothing of them is left. */
MUST_CHECK status file_writers_commit(file_writer *list, uint32_t count);
/* Removes what was written. */
void file_writer_abandon(file_writer *w);

/* True when two names, neither of which need exist, lead to one regular file or folder. */
bool file_is_same(const char *x, const char *y);

/* "folder/name", in the arena. */
const char *file_join(arena *a, const char *folder, const char *name);

/* When standard input, output or error is closed, something that cannot be read or written takes its number, so that no
 * file which is opened later is taken for it. SIGPIPE has no effect from here on: that nobody reads a pipe is an error
 * of write, which must not end a tool that has more to do than to say something. Once, before all else. */
void file_hold_standard(void);

/* Nobody reads the pipe that our result goes to: ends the process as SIGPIPE ends programs. Returns when the signal was
 * ignored from the start. */
void file_end_of_pipe(void);

/* Removes a folder and everything in it, following no links. */
void file_remove_tree(const char *folder);

#endif
