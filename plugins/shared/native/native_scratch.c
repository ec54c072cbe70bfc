#include "native_scratch.h"

#include "native_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name as make_folder makes it: "<process>-<16 hexadecimal digits>". */
enum { NUMBER_DIGITS = 16 };

static bool is_ours(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    if (digits == 0 || name[digits] != '-') return false;
    const char *number = name + digits + 1;
    return strlen(number) == NUMBER_DIGITS && strspn(number, "0123456789abcdef") == NUMBER_DIGITS;
}

/* Folders whose process has ended: their lock is free. The lock of the root is held, so none is new and not locked yet.
 */
static void remove_left(int root)
{
    DIR *entries = native_folder_entries(root);
    if (entries == NULL) return;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (!is_ours(entry->d_name)) continue;
        struct stat st;
        const int folder = openat(root, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        if (fstat(folder, &st) == 0 && st.st_uid == geteuid() && native_folder_lock(folder, 0, NULL, NULL))
            native_folder_remove(root, entry->d_name);
        close(folder);
    }
    closedir(entries);
}

static const char *name_of(const native_scratch *s) { return strrchr(s->path, '/') + 1; }

static bool make_folder(native_scratch *s, const char *root)
{
    uint64_t number = 0;
    (void)!getrandom(&number, sizeof number, GRND_NONBLOCK);
    if (snprintf(s->path, sizeof s->path, "%s/%ld-%0*jx", root, (long)getpid(), NUMBER_DIGITS, (uintmax_t)number) >=
        (int)sizeof s->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdirat(s->root, name_of(s), S_IRWXU) != 0) return false;
    s->folder = openat(s->root, name_of(s), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->folder >= 0 && native_folder_lock(s->folder, 0, NULL, NULL)) return true;
    const int failed = errno;
    if (s->folder >= 0) close(s->folder);
    unlinkat(s->root, name_of(s), AT_REMOVEDIR);
    errno = failed;
    return false;
}

native_status native_scratch_begin(native_scratch *s, native_error *e)
{
    /* Held for the time of a few system calls; one that was stopped with it is not waited for. */
    static const double root_seconds_max = 2;
    const char *temporary = getenv("TMPDIR");
    if (temporary == NULL || temporary[0] != '/') temporary = "/tmp";
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/pto-native-%ju", temporary, (uintmax_t)geteuid()) >= (int)sizeof path)
        return native_fail(e, NATIVE_NO_FOLDER, "the name of the temporary folder is too long");
    const native_status status = native_folder_open(path, false, "temporary folder", &s->root, e);
    if (status != NATIVE_OK) return status;
    if (native_folder_lock(s->root, root_seconds_max, NULL, NULL)) remove_left(s->root);
    const bool is_made = make_folder(s, path);
    const int failed = errno;
    (void)flock(s->root, LOCK_UN);
    if (is_made) return NATIVE_OK;
    close(s->root);
    return native_fail(e, NATIVE_NO_FOLDER, "temporary folder `%s` cannot be written: %s", path,
                       native_errno_text(failed));
}

void native_scratch_end(native_scratch *s)
{
    native_folder_remove(s->root, name_of(s));
    close(s->folder);
    close(s->root);
}
