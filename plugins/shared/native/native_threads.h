/* How many threads may compute, and on which CPUs. */
#ifndef PTO_NATIVE_THREADS_H
#define PTO_NATIVE_THREADS_H

#include "native_error.h"

#include <sched.h>
#include <stdint.h>

enum { NATIVE_THREADS_MAX = 256 };

typedef struct native_thread_plan {
    uint32_t threads;   /* 1 to NATIVE_THREADS_MAX, the one that calls included */
    uint32_t cpu_count; /* on which this process may run; 1 to NATIVE_THREADS_MAX */
    uint16_t cpus[NATIVE_THREADS_MAX];
    int64_t cache_bytes; /* of the last cache of the first of them; 0: not known */
    const char *reason; /* what decided: "asked for", "CPUs of the process", "OMP_NUM_THREADS", "quota of the cgroup" */
} native_thread_plan;

/* Plans for `wanted` threads, or, of 0, for the least of: the CPUs that this process may run on, the first number of
 * $OMP_NUM_THREADS, and what the cgroup grants (rounded up). More than there are CPUs is only done when asked for.
 * NATIVE_NO_THREAD: `wanted` is above NATIVE_THREADS_MAX, or OMP_NUM_THREADS is not a positive number. Reads the
 * environment and files of /proc and /sys. */
native_status native_threads_plan(uint32_t wanted, native_thread_plan *plan, native_error *e);

/* Bytes of the last cache of a CPU, as the kernel's files below `folder` say (/sys/devices/system/cpu unless a test has
 * made one); 0: they do not. The C library is not asked: of guests it says what all of the host has. */
int64_t native_threads_cache(const char *folder, uint32_t cpu);

/* CPUs that the cgroup of a process grants, rounded up; 0: it does not limit them. `cgroups` is the text of
 * /proc/self/cgroup, `mounts` of /proc/self/mountinfo; `root` is put before every path that is read: "" unless a test
 * has made one. The smallest quota of the cgroup and those around it counts. */
uint32_t native_threads_quota(const char *cgroups, const char *mounts, const char *root);

#endif
