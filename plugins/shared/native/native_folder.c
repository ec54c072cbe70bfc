#include "native_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

static native_status refuse(const char *path, bool with_parents, const char *what, int failed, native_error *e)
{
    struct stat st;
    if (!with_parents && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return native_fail(e, NATIVE_NO_FOLDER, "%s `%s` is a link, which is not followed; remove it", what, path);
    return native_fail(e, NATIVE_NO_FOLDER, "%s `%s` cannot be opened: %s", what, path, native_errno_text(failed));
}

native_status native_folder_open(const char *path, bool with_parents, const char *what, int *folder, native_error *e)
{
    int fd = -1;
    if (with_parents ? make_folders(path) : make_folder(path))
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (with_parents ? 0 : O_NOFOLLOW));
    if (fd < 0) return refuse(path, with_parents, what, errno, e);
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

DIR *native_folder_entries(int folder)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && entries == NULL) close(fd);
    return entries;
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

void native_folder_remove(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0 || errno != EISDIR) return;
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
    if (entries == NULL) {
        if (folder >= 0) close(folder);
        return;
    }
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            native_folder_remove(folder, entry->d_name);
    closedir(entries);
    unlinkat(parent, name, AT_REMOVEDIR);
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
