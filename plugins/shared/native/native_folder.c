#include "native_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whether there is a reason to go on: the folder may be there already. */
static bool make_folder(const char *path)
{
    return mkdir(path, S_IRWXU) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES;
}

/* Makes every folder of `path` that is missing. */
static bool make_folders(const char *path)
{
    char part[PATH_MAX];
    const size_t n = strlen(path);
    if (n >= sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (!make_folder(part)) return false;
    }
    return true;
}

native_status native_folder_open(const char *path, bool with_parents, const char *what, int *folder, native_error *e)
{
    int fd = -1;
    if (with_parents ? make_folders(path) : make_folder(path)) fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return native_fail(e, NATIVE_NO_FOLDER, "%s `%s` cannot be opened: %s", what, path, native_errno_text(errno));
    struct stat st = {.st_mode = 0};
    const bool is_known = fstat(fd, &st) == 0;
    if (is_known && st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
        *folder = fd;
        return NATIVE_OK;
    }
    close(fd);
    if (!is_known || st.st_uid != geteuid())
        return native_fail(e, NATIVE_NO_FOLDER, "%s `%s` belongs to user %ju, not to user %ju, which runs this", what,
                           path, (uintmax_t)st.st_uid, (uintmax_t)geteuid());
    return native_fail(e, NATIVE_NO_FOLDER, "%s `%s` can be written by others (mode %04o, expected 0700)", what, path,
                       (unsigned)(st.st_mode & 07777));
}

int native_folder_open_file(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

bool native_folder_lock(int fd, double seconds_max, bool (*stop)(void *self), void *self)
{
    const struct timespec step = {.tv_nsec = NATIVE_LOCK_STEP_MS * 1000000L};
    double waited = 0;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        if (waited >= seconds_max || (stop != NULL && stop(self))) return false;
        nanosleep(&step, NULL);
        waited += (double)NATIVE_LOCK_STEP_MS * 1e-3;
    }
    return true;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    remove(path);
    return 0;
}

void native_folder_remove(const char *path)
{
    enum { OPEN_MAX_FOLDERS = 8 };
    nftw(path, remove_entry, OPEN_MAX_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

bool native_folder_write(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        const ssize_t written = write(fd, at, n);
        if (written < 0 && errno != EINTR) return false;
        if (written <= 0) continue;
        at += written;
        n -= (size_t)written;
    }
    return true;
}
