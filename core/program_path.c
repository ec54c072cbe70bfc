#include "core/program_path.h"

#include <string.h>
#include <unistd.h>

const char *program_path(arena *a)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    return n > 0 ? arena_strndup(a, path, (size_t)n) : NULL;
}

const char *program_prefix(arena *a)
{
    const char *program = program_path(a);
    size_t n = program != NULL ? strlen(program) : 0;
    for (int slashes = 0; n > 0; n--)
        if (program[n - 1] == '/' && ++slashes == 2) return arena_strndup(a, program, n - 1);
    return NULL;
}
