#include "native_scratch.h"

#include "native_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders whose process has ended: their lock is free. The lock of the root is held, so none is new and not locked yet.
 */
static void remove_left(const char *root)
{
    DIR *entries = opendir(root);
    if (entries == NULL) return;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (entry->d_name[0] == '.') continue;
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", root, entry->d_name) >= (int)sizeof path) continue;
        const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0 && native_folder_lock(folder, 0, NULL, NULL)) native_folder_remove(path);
        if (folder >= 0) close(folder);
    }
    closedir(entries);
}

static bool make_folder(native_scratch *s, const char *root)
{
    uint64_t number = 0;
    (void)!getrandom(&number, sizeof number, GRND_NONBLOCK);
    if (snprintf(s->path, sizeof s->path, "%s/%ld-%016jx", root, (long)getpid(), (uintmax_t)number) >=
        (int)sizeof s->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdir(s->path, S_IRWXU) != 0) return false;
    s->folder = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return s->folder >= 0 && native_folder_lock(s->folder, 0, NULL, NULL);
}

native_status native_scratch_begin(native_scratch *s, native_error *e)
{
    /* Held for the time of a few system calls; one that was stopped with it is not waited for. */
    static const double root_seconds_max = 2;
    const char *temporary = getenv("TMPDIR");
    if (temporary == NULL || temporary[0] != '/') temporary = "/tmp";
    char path[PATH_MAX];
    s->folder = -1;
    int root = -1;
    if (snprintf(path, sizeof path, "%s/pto-native-%ju", temporary, (uintmax_t)geteuid()) >= (int)sizeof path)
        return native_fail(e, NATIVE_NO_FOLDER, "the name of the temporary folder is too long");
    const native_status status = native_folder_open(path, false, "temporary folder", &root, e);
    if (status != NATIVE_OK) return status;
    if (native_folder_lock(root, root_seconds_max, NULL, NULL)) remove_left(path);
    const bool is_made = make_folder(s, path);
    const int failed = errno;
    close(root);
    if (is_made) return NATIVE_OK;
    native_scratch_end(s);
    return native_fail(e, NATIVE_NO_FOLDER, "temporary folder `%s` cannot be written: %s", path,
                       native_errno_text(failed));
}

void native_scratch_end(native_scratch *s)
{
    native_folder_remove(s->path);
    if (s->folder >= 0) close(s->folder);
    s->folder = -1;
}
