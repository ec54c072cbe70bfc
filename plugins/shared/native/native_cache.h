/* A folder of compiled files, by key: what was compiled once is loaded the next time.
 *
 * A key stands for all that the file depends on. A file is written under another name first, ends with a digest of
 * itself and its key, and is only loaded when that is right. Any number of processes use the folder at a time.
 * Functions of one native_cache: one thread. */
#ifndef PTO_NATIVE_CACHE_H
#define PTO_NATIVE_CACHE_H

#include "native_digest.h"
#include "native_error.h"

#include <limits.h>
#include <stdbool.h>
#include <time.h>

typedef struct native_cache {
    char path[PATH_MAX];
    int folder;         /* open, or -1 */
    uint64_t bytes_max; /* the oldest files go when all together are larger; the newest stays */
} native_cache;

/* Where the cache of the user is: $XDG_CACHE_HOME/pto/native-1, or $HOME/.cache/pto/native-1. NATIVE_NO_FOLDER: neither
 * variable is an absolute path. */
native_status native_cache_default(char path[PATH_MAX], native_error *e);

/* Opens the folder at `path`, or makes it: NATIVE_NO_FOLDER as native_folder_open says. It may be read-only. */
native_status native_cache_open(native_cache *c, const char *path, uint64_t bytes_max, native_error *e);
void native_cache_close(native_cache *c); /* also of one that is not open */

/* Loads the file of `key`, which must have `symbol`, or anything when that is NULL: `*library` is a handle for dlsym
 * and dlclose, or NULL when there is no such file.
 *   NATIVE_DAMAGED     it is not what was written; it is removed where that is allowed, but not a folder that holds
 *                      something
 *   NATIVE_NOT_LOADED  it is, but cannot be loaded or lacks the symbol: it is to be stored anew */
native_status native_cache_load(native_cache *c, const native_digest *key, const char *symbol, void **library,
                                native_error *e);

/* Waits until no other process makes the file of `key`, at most `seconds_max`; afterwards load again, it may be there.
 * `*lock` is for native_cache_unlock; a process that dies does not keep it. NATIVE_NO_FOLDER: nothing can be written;
 * NATIVE_STOPPED: `stop` (or NULL) said so, or the time is up. */
native_status native_cache_lock(native_cache *c, const native_digest *key, double seconds_max, bool (*stop)(void *self),
                                void *self, int *lock, native_error *e);
void native_cache_unlock(native_cache *c, const native_digest *key, int lock);

/* Copies what is left of the file that is open as `from` into the cache; the lock of `key` is held. Removes what is too
 * old, and what processes left that were killed. NATIVE_NO_FOLDER: it cannot be read or written, as where a folder
 * that holds something has its name, and nothing of it is left. */
native_status native_cache_store(native_cache *c, const native_digest *key, int from, native_error *e);

/* A file of the folder. */
typedef struct native_cache_entry {
    const char *name; /* lives during the visit */
    uint64_t bytes;
    struct timespec used; /* when it was last loaded or written */
} native_cache_entry;

/* Hands every compiled file to `visit`, with `self`, in any order; returns their bytes together. Other files do not
 * count. What processes left that were killed is removed. */
uint64_t native_cache_list(native_cache *c, void (*visit)(void *self, const native_cache_entry *entry), void *self);

/* Removes every compiled file; a process that has loaded one keeps it. NATIVE_NO_FOLDER: one cannot be removed. */
native_status native_cache_clear(native_cache *c, native_error *e);

#endif
