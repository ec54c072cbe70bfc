#include "tools/inspect/kernel_cache.h"

#include "core/core_diag.h"

#include "native/native_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct file {
    const char *name;
    uint64_t bytes;
    int64_t age; /* seconds since it was used */
} file;

typedef struct page {
    arena *arena;
    time_t now;
    file *files;
    uint32_t count, capacity;
} page;

static void add_file(void *self, const native_cache_entry *entry)
{
    page *p = self;
    if (p->count == p->capacity) {
        p->capacity = 2 * p->capacity + 16;
        file *larger = arena_array(p->arena, p->capacity, sizeof *larger);
        if (p->count > 0) memcpy(larger, p->files, p->count * sizeof *larger);
        p->files = larger;
    }
    const int64_t age = p->now > entry->used.tv_sec ? p->now - entry->used.tv_sec : 0;
    p->files[p->count++] = (file){arena_strndup(p->arena, entry->name, strlen(entry->name)), entry->bytes, age};
}

/* The last one that was used comes first. */
static int compare_files(const void *x, const void *y)
{
    const file *a = x, *b = y;
    return a->age != b->age ? (a->age > b->age) - (a->age < b->age) : strcmp(a->name, b->name);
}

static void put_file(const file *f)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};
    uint32_t unit = 0;
    while (unit < 3 && f->age < 2 * units[unit].seconds) unit++;
    printf("%10" PRIu64 " bytes, used %3" PRId64 " %s ago  %s\n", f->bytes, f->age / units[unit].seconds,
           units[unit].name, f->name);
}

static int fail(diag_engine *d, int code, const native_error *e)
{
    diag_error(d, (src_pos){"pto-plugin", 0, 0}, &E1501, "%s", e->text);
    return code;
}

int kernel_cache_run(arena *a, diag_engine *d, const char *path, bool clears)
{
    char own[PATH_MAX];
    native_cache cache;
    native_error e;
    struct stat st;
    page p = {.arena = a, .now = time(NULL)};
    if (path == NULL && native_cache_default(own, &e) != NATIVE_OK) return fail(d, EXIT_STATUS_USAGE, &e);
    if (path == NULL) path = own;
    if (stat(path, &st) != 0 && errno == ENOENT) {
        printf("%s: 0 files, 0 bytes\n", path);
        return EXIT_STATUS_OK;
    }
    if (native_cache_open(&cache, path, UINT64_MAX, &e) != NATIVE_OK) return fail(d, EXIT_STATUS_USAGE, &e);
    const uint64_t bytes = native_cache_list(&cache, add_file, &p);
    const native_status cleared = clears ? native_cache_clear(&cache, &e) : NATIVE_OK;
    native_cache_close(&cache);
    if (cleared != NATIVE_OK) return fail(d, EXIT_STATUS_OUTPUT, &e);
    if (p.count > 0) qsort(p.files, p.count, sizeof *p.files, compare_files);
    for (uint32_t i = 0; i < p.count; i++) put_file(&p.files[i]);
    printf("%s: %" PRIu32 " file%s, %" PRIu64 " bytes%s\n", path, p.count, p.count == 1 ? "" : "s", bytes,
           clears ? ", removed" : "");
    return EXIT_STATUS_OK;
}
