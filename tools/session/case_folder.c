#include "tools/session/case_folder.h"

#include "tools/base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char begins[] = "pto-case-";
enum { RANDOM_LETTERS = 6 }; /* mkdtemp puts as many */

static const char *base(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder ? folder : "/tmp";
}

char *case_folder_make(arena *a)
{
    char name[sizeof begins + RANDOM_LETTERS];
    memcpy(name, begins, sizeof begins - 1);
    memset(name + sizeof begins - 1, 'X', RANDOM_LETTERS);
    name[sizeof name - 1] = '\0';
    return mkdtemp(arena_strdup(a, file_join(a, base(), name)));
}

bool case_folder_is(const char *path)
{
    struct stat at, wanted;
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    if (slash == NULL || strncmp(name, begins, sizeof begins - 1) != 0) return false;
    if (strlen(name) != sizeof begins - 1 + RANDOM_LETTERS || lstat(path, &at) != 0) return false;
    if (!S_ISDIR(at.st_mode) || at.st_uid != geteuid()) return false;
    /* The folder that it is in, by what it is and not by its name. */
    arena *a = arena_create("path");
    const char *parent = arena_strndup(a, path, (size_t)(slash - path) + 1);
    const bool is_below = stat(parent, &at) == 0 && stat(base(), &wanted) == 0 && at.st_dev == wanted.st_dev &&
                          at.st_ino == wanted.st_ino;
    arena_destroy(a);
    return is_below;
}
