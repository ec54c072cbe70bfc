/* Folders that hold what will be executed: ours alone. */
#ifndef PTO_NATIVE_FOLDER_H
#define PTO_NATIVE_FOLDER_H

#include "native_error.h"

#include <dirent.h>
#include <stdbool.h>
#include <sys/types.h>

enum { NATIVE_LOCK_STEP_MS = 5 };

/* Opens the folder at `path`, which is made with mode 0700 when it is missing. It must belong to the user that runs and
 * be writable for nobody else, or files of others would be run as that user's. `with_parents`: a path of the user's
 * choice; all folders above it are made, too, and links in it are followed. Otherwise its last part is a name of ours
 * where others may write, too: a link of that name is refused. `what` begins the sentence: "cache folder". `*folder` is
 * to be closed by the caller. NATIVE_NO_FOLDER. */
native_status native_folder_open(const char *path, bool with_parents, const char *what, int *folder, native_error *e);

/* Opens `name` below `folder` for reading; -1 when it is missing, which errno says then and only then by ENOENT, or is
 * not a file of the user that others cannot write. */
int native_folder_open_file(int folder, const char *name);

/* Takes the lock of a file or folder that is open as `fd`, which every process honours that asks for it; it ends with
 * the descriptor, thus also with the process. Waits up to `seconds_max`, asking `stop` (or NULL) meanwhile. Returns
 * whether it has the lock. */
bool native_folder_lock(int fd, double seconds_max, bool (*stop)(void *self), void *self);

/* What is in an open folder, for readdir and closedir; NULL with errno set. */
DIR *native_folder_entries(int folder);

/* Removes the file, link or folder `name` of the folder `parent`, as openat takes both, with all that is in it. No link
 * is followed. */
void native_folder_remove(int parent, const char *name);

/* Writes all n bytes at p to fd; false with errno set. */
bool native_folder_write(int fd, const void *p, size_t n);

#endif
