#include "native_load.h"

#include "native_cache.h"
#include "native_folder.h"
#include "native_image.h"
#include "native_scratch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names without a folder: messages of the compiler have no path of this machine. */
#define SOURCE "module.c"
#define OUTPUT "module.so"

static void add_list(native_hash *h, const char *const *list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) native_hash_add_text(h, list[i]);
    native_hash_add_text(h, NULL);
}

native_digest native_load_key(const native_compiler *c, const native_request *q)
{
    native_hash h = native_hash_begin();
    native_hash_add_text(&h, c->path);
    native_hash_add_text(&h, c->identity);
    native_hash_add_text(&h, q->salt);
    add_list(&h, q->flags);
    add_list(&h, q->libraries);
    for (uint32_t i = 0; i < q->file_count; i++) {
        const native_file *file = &q->files[i];
        native_hash_add_text(&h, file->name);
        native_hash_add(&h, &file->byte_count, sizeof file->byte_count);
        native_hash_add(&h, file->bytes, file->byte_count);
    }
    native_hash_add_text(&h, NULL);
    native_hash_add_text(&h, q->key != NULL ? "key" : "text");
    native_hash_add(&h, q->key != NULL ? q->key : q->text, q->key != NULL ? q->key_bytes : q->text_bytes);
    return native_hash_end(&h);
}

/* ---- with the compiler ---- */

static native_status write_file(const native_scratch *s, const native_file *file, native_error *e)
{
    char folder[NAME_MAX + 1];
    const char *slash = strchr(file->name, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - file->name) : 0, file->name);
    const bool has_folder = slash == NULL || mkdirat(s->folder, folder, S_IRWXU) == 0 || errno == EEXIST;
    const int fd =
        has_folder ? openat(s->folder, file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR) : -1;
    const bool is_written = fd >= 0 && native_folder_write(fd, file->bytes, file->byte_count);
    const int failed = errno;
    if (fd >= 0) close(fd);
    if (is_written) return NATIVE_OK;
    return native_fail(e, NATIVE_NO_FOLDER, "temporary folder `%s` cannot be written: %s", s->path,
                       native_errno_text(failed));
}

static native_status write_files(const native_scratch *s, const native_request *q, native_error *e)
{
    const native_file source = {SOURCE, q->text, q->text_bytes};
    native_status status = write_file(s, &source, e);
    for (uint32_t i = 0; i < q->file_count && status == NATIVE_OK; i++) status = write_file(s, &q->files[i], e);
    return status;
}

/* Adds a list, or NULL; false when there are too many. */
static bool add_arguments(const char **arguments, size_t *n, const char *const *list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        if (*n == NATIVE_ARGUMENTS_MAX) return false;
        arguments[(*n)++] = list[i];
    }
    arguments[*n] = NULL;
    return true;
}

/* How many compilers share the text: one for each of its parts, PTO_PART_1 .. of <pto/native.h>, when there are CPUs
 * for them. Parts 0 and 2 hold as much as 1 and 3 together. */
static uint32_t units_of(const native_request *q)
{
    static const char two[] = "PTO_PART_1(", four[] = "PTO_PART_3(";
    cpu_set_t cpus;
    const int available = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    if (available >= 4 && memmem(q->text, q->text_bytes, four, sizeof four - 1) != NULL) return 4;
    return available >= 2 && memmem(q->text, q->text_bytes, two, sizeof two - 1) != NULL ? 2 : 1;
}

static native_status too_many(const native_compiler *c, native_error *e)
{
    return native_fail(e, NATIVE_COMPILER_FAILED, "C compiler `%s`: more than %d arguments", c->name,
                       NATIVE_ARGUMENTS_MAX);
}

/* The library of what `inputs` are, a source or objects. */
static native_status make_library(const native_compiler *c, const native_request *q, const native_scratch *s,
                                  const char *const *inputs, native_error *e)
{
    static const char *const own[] = {"-I.", "-shared", "-fPIC", "-o", OUTPUT, NULL};
    const char *arguments[NATIVE_ARGUMENTS_MAX + 1];
    size_t n = 0;
    if (!add_arguments(arguments, &n, q->flags) || !add_arguments(arguments, &n, own) ||
        !add_arguments(arguments, &n, inputs) || !add_arguments(arguments, &n, q->libraries))
        return too_many(c, e);
    const native_compile job = {s->path, {arguments}, q->seconds_max, q->stop, q->self};
    return native_compiler_run(c, &job, e);
}

/* Each compiler takes every `units`-th of the NATIVE_COMPILERS_MAX parts. */
static native_status compile_units(const native_compiler *c, const native_request *q, const native_scratch *s,
                                   uint32_t units, native_error *e)
{
    const uint32_t parts = units == 2 ? 1 | 4 : 1; /* of the first */
    const char *arguments[NATIVE_COMPILERS_MAX][NATIVE_ARGUMENTS_MAX + 1], *linked[NATIVE_COMPILERS_MAX + 1] = {NULL};
    char objects[NATIVE_COMPILERS_MAX][16], masks[NATIVE_COMPILERS_MAX][32];
    native_compile job = {.folder = s->path, .seconds_max = q->seconds_max, .stop = q->stop, .self = q->self};
    for (uint32_t i = 0; i < units; i++) {
        const char *const own[] = {"-I.", "-fPIC", masks[i], "-c", "-o", objects[i], SOURCE, NULL};
        size_t n = 0;
        snprintf(objects[i], sizeof objects[i], "part%u.o", i);
        snprintf(masks[i], sizeof masks[i], "-DPTO_PARTS_HERE=%u", parts << i);
        if (!add_arguments(arguments[i], &n, q->flags) || !add_arguments(arguments[i], &n, own)) return too_many(c, e);
        job.arguments[i] = arguments[i];
        linked[i] = objects[i];
    }
    const native_status status = native_compiler_run(c, &job, e);
    return status != NATIVE_OK ? status : make_library(c, q, s, linked, e);
}

static native_status compile(const native_compiler *c, const native_request *q, const native_scratch *s,
                             native_error *e)
{
    static const char *const source[] = {SOURCE, NULL};
    const uint32_t units = units_of(q);
    const native_status status = write_files(s, q, e);
    if (status != NATIVE_OK) return status;
    return units > 1 ? compile_units(c, q, s, units, e) : make_library(c, q, s, source, e);
}

/* What the compiler left: checked, open as `*fd`, and loaded. */
static native_status load_made(const native_compiler *c, const native_request *q, const native_scratch *s, int *fd,
                               void **library, native_error *e)
{
    char path[PATH_MAX + sizeof OUTPUT + 1];
    native_error why;
    snprintf(path, sizeof path, "%s/" OUTPUT, s->path);
    if (faccessat(s->folder, OUTPUT, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        return native_fail(e, NATIVE_NOT_LOADED,
                           "`%s` ended with status 0 and made no file: it is not a C compiler with the options of gcc",
                           c->path);
    native_status status = native_image_open(s->folder, OUTPUT, fd, &why);
    if (status == NATIVE_OK) status = native_image_load(path, q->symbol, library, &why);
    if (status == NATIVE_OK) return NATIVE_OK;
    return native_fail(e, status, "what C compiler `%s` made is not a module: %s", c->name, why.text);
}

/* Into the cache, if there is one, and then from there: debuggers find the file later. */
static native_status make(const native_compiler *c, const native_request *q, native_cache *cache,
                          const native_digest *key, native_loaded *loaded, native_error *e)
{
    native_scratch s;
    int fd = -1;
    void *made = NULL;
    native_status status = native_scratch_begin(&s, e);
    if (status != NATIVE_OK) return status;
    status = compile(c, q, &s, e);
    if (status == NATIVE_OK) status = load_made(c, q, &s, &fd, &made, e);
    if (status == NATIVE_OK && cache != NULL && native_cache_store(cache, key, fd, &loaded->warning) == NATIVE_OK)
        (void)native_cache_load(cache, key, q->symbol, &loaded->library, &loaded->warning);
    if (loaded->library == NULL)
        loaded->library = made;
    else if (made != NULL)
        dlclose(made);
    if (fd >= 0) close(fd);
    loaded->is_compiled = status == NATIVE_OK;
    native_scratch_end(&s);
    return status;
}

/* ---- with the cache ---- */

static native_status load_with(const native_compiler *c, const native_request *q, native_cache *cache,
                               native_loaded *loaded, native_error *e)
{
    const native_digest key = native_load_key(c, q);
    int lock = -1;
    (void)native_cache_load(cache, &key, q->symbol, &loaded->library, &loaded->warning);
    if (loaded->library != NULL || q->text == NULL) return NATIVE_OK;
    const native_status locked =
        native_cache_lock(cache, &key, q->seconds_max, q->stop, q->self, &lock, &loaded->warning);
    if (locked == NATIVE_STOPPED && q->stop != NULL && q->stop(q->self))
        return native_fail(e, NATIVE_STOPPED, "waiting for another process that compiles the same was stopped");
    if (locked != NATIVE_OK) return make(c, q, NULL, &key, loaded, e);
    /* The process that had the lock before us may have made it. */
    (void)native_cache_load(cache, &key, q->symbol, &loaded->library, &loaded->warning);
    const native_status status = loaded->library != NULL ? NATIVE_OK : make(c, q, cache, &key, loaded, e);
    native_cache_unlock(cache, &key, lock);
    return status;
}

native_status native_load(const native_compiler *c, const native_request *q, native_loaded *loaded, native_error *e)
{
    *loaded = (native_loaded){.library = NULL};
    char path[PATH_MAX];
    native_cache cache = {.folder = -1};
    bool is_open = q->uses_cache;
    if (is_open && q->cache_path == NULL) is_open = native_cache_default(path, &loaded->warning) == NATIVE_OK;
    if (is_open)
        is_open = native_cache_open(&cache, q->cache_path != NULL ? q->cache_path : path, q->cache_bytes_max,
                                    &loaded->warning) == NATIVE_OK;
    native_status status = NATIVE_OK;
    if (is_open)
        status = load_with(c, q, &cache, loaded, e);
    else if (q->text != NULL)
        status = make(c, q, NULL, NULL, loaded, e);
    if (is_open) native_cache_close(&cache);
    return status;
}
