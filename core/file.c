#include "core/file.h"

#include "core/core_diag.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *file_join(arena *a, const char *folder, const char *name)
{
    const size_t n = strlen(folder) + strlen(name) + 2;
    char *path = arena_alloc(a, n);
    snprintf(path, n, "%s/%s", folder, name);
    return path;
}

static status fail_open(diag_engine *d, const char *path, const char *what, int error)
{
    diag_error(d, (src_pos){path, 0, 0}, &E1501, "cannot %s: %s", what, strerror(error));
    return FAILED;
}

static status read_all(int fd, char *to, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        const ssize_t r = read(fd, to + *got, n - *got);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) return FAILED;
        if (r == 0) break;
        *got += (size_t)r;
    }
    return OK;
}

void file_hold_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* The lowest free number is taken, which is `fd`. */
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)open("/", O_PATH);
    }
}

status file_read(arena *a, diag_engine *d, const char *path, uint64_t max_bytes, str *out)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail_open(d, path, "open", errno);
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        diag_error(d, (src_pos){path, 0, 0}, &E1501, "cannot read: this is not a regular file");
        return FAILED;
    }
    if ((uint64_t)st.st_size > max_bytes) {
        close(fd);
        diag_error(d, (src_pos){path, 0, 0}, &E1501,
                   "cannot read: the file has %" PRId64 " bytes, the limit is %" PRIu64, (int64_t)st.st_size,
                   max_bytes);
        return FAILED;
    }
    char *bytes = arena_alloc_aligned(a, (size_t)st.st_size + 1, 64);
    size_t got = 0;
    const status s = read_all(fd, bytes, (size_t)st.st_size, &got);
    const int error = errno;
    close(fd);
    if (s != OK) return fail_open(d, path, "read", error);
    *out = (str){bytes, got};
    return OK;
}

/* A device or pipe is written to; a rename would put a file in its place (`-o /dev/null`, run by root). */
static status open_in_place(file_writer *w, const char *path)
{
    w->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (w->fd < 0) return fail_open(w->diags, path, "open", errno);
    w->path = strdup(path);
    if (!w->path) abort();
    return OK;
}

/* A signal that ends the process must not come while a temporary name stands. */
static void hold_signals(file_writer *w)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    w->holds_signals = sigprocmask(SIG_BLOCK, &set, &w->before) == 0;
}

static void release_signals(file_writer *w)
{
    if (w->holds_signals) sigprocmask(SIG_SETMASK, &w->before, NULL);
    w->holds_signals = false;
}

/* A file of the target's folder without a name, or -1 where there is no such thing. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (!folder) abort();
    const int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    free(folder);
    return fd;
}

static status open_named(file_writer *w)
{
    hold_signals(w);
    w->fd = mkstemp(w->temporary);
    w->is_named = w->fd >= 0;
    if (w->is_named) return OK;
    const int error = errno;
    const status s = fail_open(w->diags, w->path, "create", error);
    file_writer_abandon(w);
    return s;
}

status file_writer_open(file_writer *w, diag_engine *d, const char *path)
{
    *w = (file_writer){.diags = d, .fd = STDOUT_FILENO};
    if (strcmp(path, "-") == 0) return OK;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return open_in_place(w, path);
    w->path = strdup(path);
    if (!w->path || asprintf(&w->temporary, "%s.XXXXXX", path) < 0) abort();
    w->fd = open_nameless(path);
    if (w->fd < 0) TRY(open_named(w));
    const mode_t mask = umask(0);
    umask(mask);
    /* Temporary files are private; an output is an ordinary file. */
    if (fchmod(w->fd, 0666 & ~mask) != 0) w->failed = errno;
    return OK;
}

void file_writer_put(file_writer *w, const void *bytes, uint64_t n)
{
    const char *p = bytes;
    while (n > 0 && w->failed == 0) {
        const ssize_t r = write(w->fd, p, n);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) {
            w->failed = errno;
            return;
        }
        p += r;
        n -= (uint64_t)r;
    }
}

/* A link cannot take the place of a file that is there, a rename can: the file gets the temporary name in between.
 * Gives errno or 0. */
static int give_name(file_writer *w)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", w->fd);
    hold_signals(w);
    for (int attempt = 0; attempt < 100; attempt++) {
        /* mkstemp only finds a name that is free. */
        const size_t n = strlen(w->temporary);
        memcpy(w->temporary + n - 6, "XXXXXX", 6);
        const int fd = mkstemp(w->temporary);
        if (fd < 0) return errno;
        close(fd);
        unlink(w->temporary);
        if (linkat(AT_FDCWD, self, AT_FDCWD, w->temporary, AT_SYMLINK_FOLLOW) == 0) {
            w->is_named = true;
            return 0;
        }
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

status file_writer_commit(file_writer *w)
{
    if (!w->temporary) {
        const status s = w->failed ? fail_open(w->diags, w->path ? w->path : "<stdout>", "write", w->failed) : OK;
        file_writer_abandon(w);
        return s;
    }
    if (!w->is_named && w->failed == 0) w->failed = give_name(w);
    if (close(w->fd) != 0 && w->failed == 0) w->failed = errno;
    w->fd = -1;
    if (w->failed == 0 && rename(w->temporary, w->path) != 0) w->failed = errno;
    if (w->failed == 0) w->is_named = false;
    const status s = w->failed ? fail_open(w->diags, w->path, "write", w->failed) : OK;
    file_writer_abandon(w);
    return s;
}

void file_writer_abandon(file_writer *w)
{
    if (w->path && w->fd >= 0) close(w->fd); /* standard output has no path and stays open */
    if (w->is_named && w->temporary) unlink(w->temporary);
    free(w->temporary);
    free(w->path);
    w->temporary = w->path = NULL;
    w->is_named = false;
    release_signals(w);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    (void)st;
    (void)kind;
    (void)place;
    return remove(path);
}

void file_remove_tree(const char *folder) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }
