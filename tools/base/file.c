#include "tools/base/file.h"

#include "core/core_diag.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
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

/* Unlike SIG_IGN, a handler does not reach programs that we start. */
static void note_closed_pipe(int signal_number) { (void)signal_number; }

void file_hold_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* The lowest free number is taken, which is `fd`. */
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)open("/", O_PATH);
    }
    struct sigaction pipe;
    if (sigaction(SIGPIPE, NULL, &pipe) != 0 || pipe.sa_handler != SIG_DFL) return;
    pipe = (struct sigaction){.sa_handler = note_closed_pipe, .sa_flags = SA_RESTART};
    sigaction(SIGPIPE, &pipe, NULL);
}

void file_end_of_pipe(void)
{
    struct sigaction pipe;
    sigset_t set;
    if (sigaction(SIGPIPE, NULL, &pipe) != 0 || pipe.sa_handler == SIG_IGN) return;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(SIGPIPE);
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

status file_map(diag_engine *d, const char *path, str *out)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail_open(d, path, "open", errno);
    struct stat st;
    *out = (str){"", 0};
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        diag_error(d, (src_pos){path, 0, 0}, &E1501, "cannot read: this is not a regular file");
        return FAILED;
    }
    const size_t n = (size_t)st.st_size;
    void *bytes = n > 0 ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) : NULL;
    const int error = errno;
    close(fd);
    if (bytes == MAP_FAILED) return fail_open(d, path, "read", error);
    if (n > 0) *out = (str){bytes, n};
    return OK;
}

/* A device or pipe is written to; a rename would put a file in its place (`-o /dev/null`, run by root). */
static status open_in_place(file_writer *w, const char *path)
{
    w->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (w->fd < 0) return fail_open(w->diags, path, "open", errno);
    w->path = strdup(path);
    if (w->path == NULL) abort();
    return OK;
}

/* A signal that ends the process must not come while a temporary name exists. */
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

/* How many bytes of a path name its folder, the last slash among them; 0: the current one. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* On the heap. */
static char *folder_of(const char *path)
{
    const size_t n = folder_length(path);
    char *folder = n == 0 ? strdup(".") : strndup(path, n);
    if (folder == NULL) abort();
    return folder;
}

/* What a name leads to when links are followed, on the heap; the file need not exist. A circle of links stays as it is,
 * and opening it fails. */
static char *follow_links(const char *path)
{
    enum { LINKS_MAX = 40 }; /* as many as the system follows */
    char *target = strdup(path);
    for (int i = 0; target != NULL && i < LINKS_MAX; i++) {
        char link[PATH_MAX];
        const ssize_t n = readlink(target, link, sizeof link - 1);
        if (n <= 0) return target;
        char *next = NULL;
        const int folder_bytes = link[0] == '/' ? 0 : (int)folder_length(target);
        if (asprintf(&next, "%.*s%.*s", folder_bytes, target, (int)n, link) < 0) abort();
        free(target);
        target = next;
    }
    if (target == NULL) abort();
    return target;
}

/* A file of the target's folder without a name, or -1 where there is no such thing. */
static int open_nameless(const char *path)
{
    char *folder = folder_of(path);
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
    char *folder = folder_of(w->target);
    if (error == ENOENT) diag_note(w->diags, NO_POS, "its folder is not there: `mkdir -p %s` makes it", folder);
    free(folder);
    file_writer_abandon(w);
    return s;
}

/* What the file that is replaced allows. Root may write to everything, but nobody means a file that is read-only. */
static status check_replaced(diag_engine *d, const char *path, const struct stat *st)
{
    if ((st->st_mode & 0222) != 0 && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0) return OK;
    diag_error(d, (src_pos){path, 0, 0}, &E1501, "cannot write: there is a file that may not be written to, mode %04o",
               st->st_mode & 07777);
    diag_note(d, NO_POS, "name another file, remove this one, or make it writable with chmod");
    return FAILED;
}

/* A new file is an ordinary one (temporary files are private); another keeps its mode and, if we may, its owner.
 * Returns errno or 0. */
static int take_mode(int fd, const struct stat *replaced)
{
    if (replaced != NULL) {
        struct stat own;
        if (fstat(fd, &own) != 0) return errno;
        const bool is_anothers = own.st_uid != replaced->st_uid || own.st_gid != replaced->st_gid;
        if (is_anothers && fchown(fd, replaced->st_uid, replaced->st_gid) != 0 && errno != EPERM) return errno;
        return fchmod(fd, replaced->st_mode & 0777) == 0 ? 0 : errno;
    }
    const mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, 0666 & ~mask) == 0 ? 0 : errno;
}

status file_writer_open(file_writer *w, diag_engine *d, const char *path)
{
    *w = (file_writer){.diags = d, .fd = STDOUT_FILENO};
    if (strcmp(path, "-") == 0) return OK;
    struct stat st;
    const bool is_there = stat(path, &st) == 0;
    if (is_there && !S_ISREG(st.st_mode)) return open_in_place(w, path);
    if (!is_there && errno != ENOENT) return fail_open(d, path, "create", errno);
    if (is_there) TRY(check_replaced(d, path, &st));
    w->path = strdup(path);
    w->target = follow_links(path);
    if (w->path == NULL || asprintf(&w->temporary, "%s.XXXXXX", w->target) < 0) abort();
    w->fd = open_nameless(w->target);
    if (w->fd < 0) TRY(open_named(w));
    w->failed = take_mode(w->fd, is_there ? &st : NULL);
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
            if (errno == EPIPE) file_end_of_pipe();
            return;
        }
        p += r;
        n -= (uint64_t)r;
    }
}

static int link_as(const file_writer *w, const char *name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", w->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* A link cannot take the place of a file that is there, a rename can: the file, whole by now, gets a temporary name in
 * between. Nothing but linkat makes that name, so there is never an empty file under it. */
static int give_temporary_name(file_writer *w)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    hold_signals(w);
    char *end = w->temporary + strlen(w->temporary) - 6;
    for (int attempt = 0; attempt < 100; attempt++) {
        uint8_t random[6];
        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return EAGAIN;
        for (size_t i = 0; i < sizeof random; i++) end[i] = letters[random[i] % (sizeof letters - 1)];
        const int error = link_as(w, w->temporary);
        w->is_named = error == 0;
        if (error != EEXIST) return error;
    }
    return EEXIST;
}

/* Returns errno or 0. */
static int give_name(file_writer *w)
{
    if (!w->is_named) {
        int error = link_as(w, w->target);
        if (error != EEXIST) return error;
        error = give_temporary_name(w);
        if (error != 0) return error;
    }
    if (rename(w->temporary, w->target) != 0) return errno;
    w->is_named = false;
    return 0;
}

/* Closing a copy tells what closing would, while the file can still be given up. Returns errno or 0. */
static int close_copy(const file_writer *w)
{
    const int copy = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
    return copy >= 0 && close(copy) == 0 ? 0 : errno;
}

static status end(file_writer *w)
{
    const status s = w->failed ? fail_open(w->diags, w->path != NULL ? w->path : "<stdout>", "write", w->failed) : OK;
    file_writer_abandon(w);
    return s;
}

status file_writer_commit(file_writer *w)
{
    if (w->temporary != NULL && w->failed == 0) w->failed = close_copy(w);
    if (w->temporary != NULL && w->failed == 0) w->failed = give_name(w);
    return end(w);
}

/* A step of all that go to files, until one fails. */
static bool each(file_writer *list, uint32_t count, int (*step)(file_writer *w))
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].temporary != NULL && list[i].failed == 0) list[i].failed = step(&list[i]);
        if (list[i].failed != 0) return false;
    }
    return true;
}

static int prepare(file_writer *w)
{
    const int error = close_copy(w);
    return error == 0 && !w->is_named ? give_temporary_name(w) : error;
}

status file_writers_commit(file_writer *list, uint32_t count)
{
    status s = OK;
    if (each(list, count, prepare) && !each(list, count, give_name))
        for (uint32_t i = 0; i < count && list[i].failed == 0; i++) unlink(list[i].target);
    /* Signals were held one after the other. */
    for (uint32_t i = count; i-- > 0;)
        if (end(&list[i]) != OK) s = FAILED;
    return s;
}

void file_writer_abandon(file_writer *w)
{
    if (w->path != NULL && w->fd >= 0) close(w->fd); /* standard output has no path and stays open */
    if (w->is_named && w->temporary != NULL) unlink(w->temporary);
    free(w->temporary);
    free(w->target);
    free(w->path);
    w->temporary = w->target = w->path = NULL;
    w->is_named = false;
    release_signals(w);
}

/* What a path leads to. Devices and pipes take what any number of writers have to say. */
typedef struct file_place {
    bool is_known, is_there;
    dev_t device;
    ino_t inode;
    char *name; /* in the folder `inode`, when nothing is there yet; on the heap */
} file_place;

static file_place place_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return (file_place){S_ISREG(st.st_mode) || S_ISDIR(st.st_mode), true, st.st_dev, st.st_ino, NULL};
    char *target = follow_links(path);
    for (size_t n = strlen(target); n > 1 && target[n - 1] == '/'; n--) target[n - 1] = '\0';
    char *folder = folder_of(target);
    file_place p = {0};
    if (stat(folder, &st) == 0)
        p = (file_place){true, false, st.st_dev, st.st_ino, strdup(target + folder_length(target))};
    free(folder);
    free(target);
    return p;
}

bool file_is_same(const char *x, const char *y)
{
    const file_place a = place_of(x), b = place_of(y);
    bool is_same = a.is_known && b.is_known && a.is_there == b.is_there && a.device == b.device && a.inode == b.inode;
    if (is_same && !a.is_there) is_same = a.name != NULL && b.name != NULL && strcmp(a.name, b.name) == 0;
    free(a.name);
    free(b.name);
    return is_same;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    (void)st;
    (void)kind;
    (void)place;
    return remove(path);
}

void file_remove_tree(const char *folder) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }
