#include "core/file.h"

#include "core/core_diag.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        diag_error(d, (src_pos){path, 0, 0}, &E1501, "cannot read: the file has %" PRId64 " bytes, the limit is %" PRIu64,
                   (int64_t)st.st_size, max_bytes);
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

status file_writer_open(file_writer *w, diag_engine *d, const char *path)
{
    *w = (file_writer){.diags = d, .fd = STDOUT_FILENO};
    if (strcmp(path, "-") == 0) return OK;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return open_in_place(w, path);
    if (asprintf(&w->temporary, "%s.XXXXXX", path) < 0) abort();
    w->fd = mkstemp(w->temporary);
    if (w->fd < 0) {
        const int error = errno;
        free(w->temporary);
        *w = (file_writer){.diags = d, .fd = -1};
        return fail_open(d, path, "create", error);
    }
    const mode_t mask = umask(0);
    umask(mask);
    /* mkstemp makes files private; an output is an ordinary file. */
    if (fchmod(w->fd, 0666 & ~mask) != 0) w->failed = errno;
    w->path = strdup(path);
    if (!w->path) abort();
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

status file_writer_commit(file_writer *w)
{
    if (!w->temporary) {
        const status s = w->failed ? fail_open(w->diags, w->path ? w->path : "<stdout>", "write", w->failed) : OK;
        file_writer_abandon(w);
        return s;
    }
    if (close(w->fd) != 0 && w->failed == 0) w->failed = errno;
    w->fd = -1;
    if (w->failed == 0 && rename(w->temporary, w->path) != 0) w->failed = errno;
    const status s = w->failed ? fail_open(w->diags, w->path, "write", w->failed) : OK;
    file_writer_abandon(w);
    return s;
}

void file_writer_abandon(file_writer *w)
{
    if (w->path && w->fd >= 0) close(w->fd); /* standard output has no path and stays open */
    if (w->temporary) {
        unlink(w->temporary); /* after a rename there is nothing to remove */
        free(w->temporary);
    }
    free(w->path);
    w->temporary = w->path = NULL;
}
