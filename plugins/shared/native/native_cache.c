#include "native_cache.h"

#include "native_folder.h"
#include "native_image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Loaders do not look at what follows the last section of a file. */
typedef struct trailer {
    char magic[16];
    native_digest digest; /* of the key and all bytes before the trailer */
} trailer;

static const char magic[16] = "pto native 1";

enum { NAME_BYTES = NATIVE_DIGEST_DIGITS + 8, COPY_BYTES = 16 * 1024 };
#define LIBRARY ".so"
#define LOCK ".lock"
#define UNFINISHED ".tmp"

static void name_of(const native_digest *key, const char *ending, char name[NAME_BYTES])
{
    native_digest_print(key, name);
    memcpy(name + NATIVE_DIGEST_DIGITS, ending, strlen(ending) + 1);
}

static native_hash begin_digest(const native_digest *key)
{
    native_hash h = native_hash_begin();
    native_hash_add(&h, key->bytes, sizeof key->bytes);
    return h;
}

/* ---- the folder ---- */

native_status native_cache_default(char path[PATH_MAX], native_error *e)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (cache != NULL && cache[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/pto/native-1", cache);
    else if (home != NULL && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.cache/pto/native-1", home);
    if (n >= 0 && n < PATH_MAX) return NATIVE_OK;
    return native_fail(e, NATIVE_NO_FOLDER, "%s",
                       n < 0 ? "neither $XDG_CACHE_HOME nor $HOME is an absolute path"
                             : "the name of the cache folder is too long");
}

native_status native_cache_open(native_cache *c, const char *path, uint64_t bytes_max, native_error *e)
{
    *c = (native_cache){.folder = -1, .bytes_max = bytes_max};
    if (snprintf(c->path, sizeof c->path, "%s", path) + NAME_BYTES >= (int)sizeof c->path)
        return native_fail(e, NATIVE_NO_FOLDER, "the name of the cache folder is too long");
    return native_folder_open(path, true, "cache folder", &c->folder, e);
}

void native_cache_close(native_cache *c)
{
    if (c->folder >= 0) close(c->folder);
    c->folder = -1;
}

/* Removes what has a name of ours and is not what we put there: a file, a link, or a folder that is empty. */
static void remove_spoilt(const native_cache *c, const char *name)
{
    if (unlinkat(c->folder, name, 0) != 0 && errno == EISDIR) unlinkat(c->folder, name, AT_REMOVEDIR);
}

/* What stops a file of that name from being written; `failed` is the errno. */
static native_status fail_to_write(const native_cache *c, const char *name, int failed, native_error *e)
{
    struct stat st;
    if (fstatat(c->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
        return native_fail(e, NATIVE_NO_FOLDER,
                           "`%s/%s` is a folder that is not empty, where a file of the cache belongs; remove it",
                           c->path, name);
    return native_fail(e, NATIVE_NO_FOLDER, "cache folder `%s` cannot be written: %s", c->path,
                       native_errno_text(failed));
}

/* ---- reading ---- */

/* Whether the file ends with the digest of what it holds. */
static bool is_whole(int fd, const native_digest *key)
{
    struct stat st;
    trailer end;
    if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof end) return false;
    native_hash h = begin_digest(key);
    off_t at = 0;
    const off_t body = st.st_size - (off_t)sizeof end;
    while (at < body) {
        char bytes[COPY_BYTES];
        const off_t left = body - at;
        const ssize_t n = pread(fd, bytes, left < COPY_BYTES ? (size_t)left : COPY_BYTES, at);
        if (n <= 0) return false;
        native_hash_add(&h, bytes, (size_t)n);
        at += n;
    }
    if (pread(fd, &end, sizeof end, body) != (ssize_t)sizeof end) return false;
    const native_digest digest = native_hash_end(&h);
    return memcmp(end.magic, magic, sizeof magic) == 0 && memcmp(&end.digest, &digest, sizeof digest) == 0;
}

native_status native_cache_load(native_cache *c, const native_digest *key, const char *symbol, void **library,
                                native_error *e)
{
    char name[NAME_BYTES], path[PATH_MAX + NAME_BYTES + 1];
    *library = NULL;
    name_of(key, LIBRARY, name);
    snprintf(path, sizeof path, "%s/%s", c->path, name);
    struct stat st;
    const int fd = native_folder_open_file(c->folder, name);
    /* Another process may make it just now: to look again would be to see another file. */
    if (fd < 0 && errno == ENOENT) return NATIVE_OK;
    if (fd < 0 || !is_whole(fd, key)) {
        if (fd >= 0) close(fd);
        remove_spoilt(c, name);
        return native_fail(e, NATIVE_DAMAGED, "file `%s` of the cache is not what was written", path);
    }
    /* It was used today. */
    futimens(fd, NULL);
    native_error why;
    native_status status = native_image_check(fd, &why);
    close(fd);
    if (status == NATIVE_OK) status = native_image_load(path, symbol, library, &why);
    if (status == NATIVE_OK) return NATIVE_OK;
    /* Another process may have removed it just now, as the oldest one. */
    if (fstatat(c->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) return NATIVE_OK;
    return native_fail(e, status, "file `%s` of the cache is not a module: %s", path, why.text);
}

/* ---- the lock of a key ---- */

static int open_lock(const native_cache *c, const char *name)
{
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, fd = openat(c->folder, name, flags, S_IRUSR | S_IWUSR);
    if (fd >= 0 || (errno != EISDIR && errno != ELOOP)) return fd;
    remove_spoilt(c, name);
    return openat(c->folder, name, flags, S_IRUSR | S_IWUSR);
}

native_status native_cache_lock(native_cache *c, const native_digest *key, double seconds_max, bool (*stop)(void *self),
                                void *self, int *lock, native_error *e)
{
    char name[NAME_BYTES];
    name_of(key, LOCK, name);
    for (;;) {
        const int fd = open_lock(c, name);
        if (fd < 0) return fail_to_write(c, name, errno, e);
        struct stat st = {.st_nlink = 0};
        const bool is_locked = native_folder_lock(fd, seconds_max, stop, self);
        if (is_locked && fstat(fd, &st) == 0 && st.st_nlink > 0) {
            *lock = fd;
            return NATIVE_OK;
        }
        close(fd);
        /* The process before us has removed it: nobody else would see this lock. */
        if (is_locked) continue;
        return native_fail(e, NATIVE_STOPPED, "another process compiles the same for cache folder `%s` and did not end",
                           c->path);
    }
}

void native_cache_unlock(native_cache *c, const native_digest *key, int lock)
{
    char name[NAME_BYTES];
    name_of(key, LOCK, name);
    unlinkat(c->folder, name, 0);
    close(lock);
}

/* ---- writing ---- */

/* Whether the name is one of name_of: nothing else in the folder is ours. */
static bool is_ours(const char *name, const char *ending)
{
    return strspn(name, "0123456789abcdef") == NATIVE_DIGEST_DIGITS && strcmp(name + NATIVE_DIGEST_DIGITS, ending) == 0;
}

/* Whether it is a compiled file of ours. */
static bool is_file(const native_cache *c, const char *name, struct stat *st)
{
    return is_ours(name, LIBRARY) && fstatat(c->folder, name, st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st->st_mode);
}

/* What a process left that was killed: its lock is free. */
static void remove_left(native_cache *c, const char *lock_name)
{
    const int fd = openat(c->folder, lock_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    struct stat st = {.st_nlink = 0};
    if (native_folder_lock(fd, 0, NULL, NULL) && fstat(fd, &st) == 0 && st.st_nlink > 0) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%.*s%s", NATIVE_DIGEST_DIGITS, lock_name, UNFINISHED);
        unlinkat(c->folder, name, 0);
        unlinkat(c->folder, lock_name, 0);
    }
    close(fd);
}

typedef struct oldest_file {
    char name[NAME_BYTES];
    struct timespec used;
    bool is_set;
} oldest_file;

static bool is_earlier(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* Bytes of all files, and the one that was not used for the longest time, `newest` apart. */
static uint64_t survey(native_cache *c, const char *newest, oldest_file *oldest)
{
    uint64_t bytes = 0;
    oldest->is_set = false;
    DIR *entries = native_folder_entries(c->folder);
    if (entries == NULL) return 0;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        struct stat st;
        const char *name = entry->d_name;
        if (is_ours(name, LOCK)) remove_left(c, name);
        if (!is_file(c, name, &st)) continue;
        bytes += (uint64_t)st.st_size;
        if (strcmp(name, newest) == 0 || (oldest->is_set && !is_earlier(st.st_mtim, oldest->used))) continue;
        memcpy(oldest->name, name, strlen(name) + 1);
        oldest->used = st.st_mtim;
        oldest->is_set = true;
    }
    closedir(entries);
    return bytes;
}

uint64_t native_cache_list(native_cache *c, void (*visit)(void *self, const native_cache_entry *entry), void *self)
{
    uint64_t bytes = 0;
    DIR *entries = native_folder_entries(c->folder);
    if (entries == NULL) return 0;
    for (const struct dirent *e = readdir(entries); e != NULL; e = readdir(entries)) {
        struct stat st;
        if (is_ours(e->d_name, LOCK)) remove_left(c, e->d_name);
        if (!is_file(c, e->d_name, &st)) continue;
        const native_cache_entry entry = {e->d_name, (uint64_t)st.st_size, st.st_mtim};
        bytes += entry.bytes;
        visit(self, &entry);
    }
    closedir(entries);
    return bytes;
}

typedef struct clearing {
    native_cache *cache;
    int failed; /* errno of the first that could not be removed */
} clearing;

static void clear_one(void *self, const native_cache_entry *entry)
{
    clearing *w = self;
    if (unlinkat(w->cache->folder, entry->name, 0) != 0 && errno != ENOENT && w->failed == 0) w->failed = errno;
}

native_status native_cache_clear(native_cache *c, native_error *e)
{
    clearing w = {.cache = c};
    native_cache_list(c, clear_one, &w);
    if (w.failed == 0) return NATIVE_OK;
    return native_fail(e, NATIVE_NO_FOLDER, "cache folder `%s` cannot be cleared: %s", c->path,
                       native_errno_text(w.failed));
}

static void remove_oldest(native_cache *c, const char *newest)
{
    oldest_file oldest;
    while (survey(c, newest, &oldest) > c->bytes_max && oldest.is_set)
        if (unlinkat(c->folder, oldest.name, 0) != 0 && errno != ENOENT) return;
}

/* Copies all bytes and adds the trailer; false with errno set. */
static bool copy(int from, int to, const native_digest *key)
{
    native_hash h = begin_digest(key);
    for (;;) {
        char bytes[COPY_BYTES];
        const ssize_t n = read(from, bytes, sizeof bytes);
        if (n < 0 && errno != EINTR) return false;
        if (n == 0) break;
        if (n < 0) continue;
        native_hash_add(&h, bytes, (size_t)n);
        if (!native_folder_write(to, bytes, (size_t)n)) return false;
    }
    trailer end = {.digest = native_hash_end(&h)};
    memcpy(end.magic, magic, sizeof magic);
    return native_folder_write(to, &end, sizeof end);
}

native_status native_cache_store(native_cache *c, const native_digest *key, int from, native_error *e)
{
    char unfinished[NAME_BYTES], name[NAME_BYTES];
    name_of(key, UNFINISHED, unfinished);
    name_of(key, LIBRARY, name);
    remove_spoilt(c, unfinished);
    const int to = openat(c->folder, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          S_IRUSR | S_IWUSR | S_IXUSR);
    bool is_stored = to >= 0 && copy(from, to, key);
    int failed = errno;
    if (to >= 0 && close(to) != 0 && is_stored) {
        failed = errno;
        is_stored = false;
    }
    if (is_stored && renameat(c->folder, unfinished, c->folder, name) != 0) {
        failed = errno;
        is_stored = false;
    }
    if (!is_stored) {
        unlinkat(c->folder, unfinished, 0);
        return fail_to_write(c, to >= 0 ? name : unfinished, failed, e);
    }
    remove_oldest(c, name);
    return NATIVE_OK;
}
