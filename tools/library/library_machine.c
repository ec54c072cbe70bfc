/* The machine `host`: a file for the CPU that this runs on. */
#include "tools/base/file.h"
#include "tools/library/library.h"

#include <native_flags.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char probed_name[] = "pto/cpu-host.yaml";

/* What the user keeps of a probe; NULL: nothing that can be read. */
static const char *find_probed(arena *a)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *path = NULL;
    if (cache != NULL && cache[0] == '/')
        path = file_join(a, cache, probed_name);
    else if (home != NULL && home[0] == '/')
        path = file_join(a, file_join(a, home, ".cache"), probed_name);
    return path != NULL && access(path, R_OK) == 0 ? path : NULL;
}

static const char *shipped_name(void)
{
    const uint32_t vector_bytes = native_host_vector_bytes();
    if (native_host_has_amx() && vector_bytes == 64) return "machines/cpu-amx.yaml";
    return vector_bytes == 64   ? "machines/cpu-avx512.yaml"
           : vector_bytes == 32 ? "machines/cpu-avx2.yaml"
                                : "machines/cpu-generic.yaml";
}

static const char *find_shipped(arena *a, const char *const *search)
{
    for (; search != NULL && *search != NULL; search++) {
        const char *path = file_join(a, *search, shipped_name());
        if (access(path, R_OK) == 0) return path;
    }
    return NULL;
}

const char *library_host_machine(arena *a, const char *const *search, const char *name, const char **why)
{
    if (strcmp(name, "host") != 0) return NULL;
    const char *path = find_probed(a), *reason = "which was measured on this host";
    if (path == NULL) {
        path = find_shipped(a, search);
        reason = "by the instructions that this CPU has";
    }
    if (path == NULL) return NULL;
    text_buffer t;
    text_init(&t);
    text_printf(&t, "the machine `%s` is `%s`, %s", name, path, reason);
    *why = text_keep(&t, a);
    text_fini(&t);
    return path;
}
