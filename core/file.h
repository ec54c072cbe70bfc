/* Reading whole files, and writing files that appear complete or not at all. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include "ir/arena.h"
#include "ir/diag.h"
#include "ir/status.h"
#include "ir/text.h"

#include <stdint.h>

/* Reads a regular file into the arena. Fails with the system's reason, or when it is larger than `max_bytes`. */
MUST_CHECK status file_read(arena *a, diag_engine *d, const char *path, uint64_t max_bytes, str *out);

/* Writes go to a temporary file beside the target; commit renames it. "-" is standard output, written at once;
 * devices and pipes are written at once too. */
typedef struct file_writer {
    diag_engine *diags;
    char *path, *temporary; /* on the heap; NULL for standard output */
    int fd;
    int failed; /* errno of the first failure, 0 */
} file_writer;

MUST_CHECK status file_writer_open(file_writer *w, diag_engine *d, const char *path);
void file_writer_put(file_writer *w, const void *bytes, uint64_t n);
/* Ends the file and gives it its name. On failure the temporary is removed and the reason reported. */
MUST_CHECK status file_writer_commit(file_writer *w);
/* Removes the temporary. */
void file_writer_abandon(file_writer *w);

#endif
