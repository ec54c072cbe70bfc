#include "native_threads.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- text ---- */

/* The file as a text, or as much as fits; false: it cannot be read. */
static bool read_text(const char *path, char *text, size_t bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    size_t n = 0;
    while (n + 1 < bytes) {
        const ssize_t got = read(fd, text + n, bytes - 1 - n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        n += (size_t)got;
    }
    close(fd);
    text[n] = '\0';
    return true;
}

/* Copies the next line of `*text` without its end; false when there is none. */
static bool next_line(const char **text, char *line, size_t bytes)
{
    if (**text == '\0') return false;
    const char *end = strchrnul(*text, '\n');
    const size_t n = (size_t)(end - *text) < bytes - 1 ? (size_t)(end - *text) : bytes - 1;
    memcpy(line, *text, n);
    line[n] = '\0';
    *text = *end != '\0' ? end + 1 : end;
    return true;
}

static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0')) return true;
    return false;
}

/* ---- what the cgroup grants ---- */

enum { PATH_TEXT = 1024, LINE_TEXT = 4096, FOLDER_TEXT = 3 * PATH_TEXT };

/* A hierarchy of cgroups that controls the time of CPUs. */
typedef struct hierarchy {
    bool is_unified;
    char group[PATH_TEXT];        /* in the hierarchy: "/user.slice" */
    char mounted_root[PATH_TEXT]; /* what of the hierarchy is at the mount point: "/" */
    char mount_point[PATH_TEXT];
} hierarchy;

/* "4:cpu,cpuacct:/group", or "0::/group" of the unified one. */
static bool find_group(const char *cgroups, hierarchy *h)
{
    char line[LINE_TEXT];
    while (next_line(&cgroups, line, sizeof line)) {
        char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = '\0';
        controllers++;
        if (h->is_unified ? *controllers != '\0' : !has_word(controllers, "cpu")) continue;
        snprintf(h->group, sizeof h->group, "%s", group);
        return true;
    }
    return false;
}

/* "31 23 0:27 /root /mount/point options.. - cgroup name options" */
static bool find_mount(const char *mounts, hierarchy *h)
{
    char line[LINE_TEXT];
    while (next_line(&mounts, line, sizeof line)) {
        char type[32], options[PATH_TEXT];
        char *rest = strstr(line, " - ");
        if (rest == NULL || sscanf(rest, " - %31s %*s %1023s", type, options) != 2) continue;
        if (strcmp(type, h->is_unified ? "cgroup2" : "cgroup") != 0) continue;
        if (!h->is_unified && !has_word(options, "cpu")) continue;
        if (sscanf(line, "%*s %*s %*s %1023s %1023s", h->mounted_root, h->mount_point) == 2) return true;
    }
    return false;
}

/* CPUs that one group grants, rounded up; 0: without a limit. */
static uint32_t quota_at(const hierarchy *h, const char *folder)
{
    char path[FOLDER_TEXT + 32], text[64];
    snprintf(path, sizeof path, "%s/%s", folder, h->is_unified ? "cpu.max" : "cpu.cfs_quota_us");
    if (!read_text(path, text, sizeof text)) return 0;
    char *end = text; /* "max 100000", "50000 100000"; of the other kind "-1" or "50000" */
    const int64_t quota = strtoll(text, &end, 10);
    if (quota <= 0) return 0;
    if (!h->is_unified) {
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
        if (!read_text(path, text, sizeof text)) return 0;
        end = text;
    }
    const int64_t period = strtoll(end, NULL, 10);
    if (period <= 0) return 0;
    const int64_t cpus = quota / period + (quota % period != 0);
    return cpus < NATIVE_THREADS_MAX ? (uint32_t)cpus : NATIVE_THREADS_MAX;
}

static uint32_t smaller_quota(uint32_t a, uint32_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

static uint32_t quota_in(const hierarchy *h, const char *root)
{
    char folder[FOLDER_TEXT];
    const size_t n = strlen(h->mounted_root);
    /* In a container the group may lie outside of what it sees; the mount point is its own then. */
    const char *group = strcmp(h->mounted_root, "/") == 0            ? h->group
                        : strncmp(h->group, h->mounted_root, n) == 0 ? h->group + n
                                                                     : "";
    if (strstr(group, "..") != NULL) group = "";
    const int top = snprintf(folder, sizeof folder, "%s%s", root, h->mount_point);
    if (top < 0 || top >= (int)sizeof folder) return 0;
    snprintf(folder + top, sizeof folder - (size_t)top, "%s", group);
    uint32_t quota = 0;
    for (;;) {
        quota = smaller_quota(quota, quota_at(h, folder));
        char *last = strrchr(folder, '/');
        if (last == NULL || last - folder < top) return quota;
        *last = '\0';
    }
}

uint32_t native_threads_quota(const char *cgroups, const char *mounts, const char *root)
{
    uint32_t quota = 0;
    for (int is_unified = 0; is_unified < 2; is_unified++) {
        hierarchy h = {.is_unified = is_unified != 0};
        if (find_group(cgroups, &h) && find_mount(mounts, &h)) quota = smaller_quota(quota, quota_in(&h, root));
    }
    return quota;
}

/* ---- caches ---- */

/* A number of a file of one cache, in bytes where K or M follows; 0: there is none. */
static int64_t read_size(const char *folder, uint32_t cpu, int cache, const char *name)
{
    enum { SIZE_MAX_KIB = 1 << 30 };
    char path[PATH_TEXT], text[32], *end = text;
    const int n = snprintf(path, sizeof path, "%s/cpu%" PRIu32 "/cache/index%d/%s", folder, cpu, cache, name);
    if (n < 0 || n >= (int)sizeof path || !read_text(path, text, sizeof text)) return 0;
    const long long size = strtoll(text, &end, 10);
    if (end == text || size < 0 || size > SIZE_MAX_KIB) return 0;
    return *end == 'K' ? size * 1024 : *end == 'M' ? size * 1024 * 1024 : size;
}

int64_t native_threads_cache(const char *folder, uint32_t cpu)
{
    enum { CACHES_MAX = 16 };
    int64_t bytes = 0, last = 0;
    for (int i = 0; i < CACHES_MAX; i++) {
        const int64_t level = read_size(folder, cpu, i, "level");
        if (level < last || level == 0) continue;
        last = level;
        bytes = read_size(folder, cpu, i, "size");
    }
    return bytes;
}

/* ---- the plan ---- */

static uint32_t granted(void)
{
    char cgroups[LINE_TEXT], mounts[64 * 1024];
    if (!read_text("/proc/self/cgroup", cgroups, sizeof cgroups)) return 0;
    if (!read_text("/proc/self/mountinfo", mounts, sizeof mounts)) return 0;
    return native_threads_quota(cgroups, mounts, "");
}

static void find_cpus(native_thread_plan *plan)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    plan->cpu_count = 0;
    /* It fails on a system of more than CPU_SETSIZE of them. */
    if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_SET(0, &set);
    for (uint16_t i = 0; i < CPU_SETSIZE && plan->cpu_count < NATIVE_THREADS_MAX; i++)
        if (CPU_ISSET(i, &set)) plan->cpus[plan->cpu_count++] = i;
}

/* 0: it is not set. */
static native_status read_openmp(uint32_t *threads, native_error *e)
{
    const char *text = getenv("OMP_NUM_THREADS");
    *threads = 0;
    if (text == NULL || *text == '\0') return NATIVE_OK;
    char *end = NULL;
    errno = 0;
    const long n = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    if (n <= 0 || errno != 0 || (*end != '\0' && *end != ','))
        return native_fail(e, NATIVE_NO_THREAD, "OMP_NUM_THREADS is `%s`, expected a number of threads from 1 on",
                           text);
    *threads = n < NATIVE_THREADS_MAX ? (uint32_t)n : NATIVE_THREADS_MAX;
    return NATIVE_OK;
}

native_status native_threads_plan(uint32_t wanted, native_thread_plan *plan, native_error *e)
{
    find_cpus(plan);
    plan->cache_bytes = native_threads_cache("/sys/devices/system/cpu", plan->cpus[0]);
    if (wanted > NATIVE_THREADS_MAX)
        return native_fail(e, NATIVE_NO_THREAD, "%" PRIu32 " threads are asked for, at most %d are possible", wanted,
                           NATIVE_THREADS_MAX);
    plan->threads = wanted != 0 ? wanted : plan->cpu_count;
    plan->reason = wanted != 0 ? "asked for" : "CPUs of the process";
    if (wanted != 0) return NATIVE_OK;
    uint32_t openmp = 0;
    const native_status status = read_openmp(&openmp, e);
    if (status != NATIVE_OK) return status;
    const uint32_t quota = granted();
    if (quota != 0 && quota < plan->threads) {
        plan->threads = quota;
        plan->reason = "quota of the cgroup";
    }
    if (openmp != 0 && openmp < plan->threads) {
        plan->threads = openmp;
        plan->reason = "OMP_NUM_THREADS";
    }
    return NATIVE_OK;
}
