/* Takes what a process has little of, or takes away what others need: memory, descriptors, limits, the standard files,
 * system calls. */
#include "hostile.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <unistd.h>

static pto_status limit(__rlimit_resource_t what, rlim_t to)
{
    struct rlimit l;
    if (getrlimit(what, &l) != 0) return PTO_FAILED;
    l.rlim_cur = to;
    return setrlimit(what, &l) ? PTO_FAILED : PTO_OK;
}

HOSTILE_WAY(scratch_all) { return PTO_SCRATCH(run, char, SIZE_MAX) != NULL ? PTO_OK : PTO_FAILED; }
HOSTILE_WAY(scratch_product) { return PTO_SCRATCH(run, int64_t, SIZE_MAX / 4) != NULL ? PTO_OK : PTO_FAILED; }
HOSTILE_WAY(keep_all) { return pto_keep(run, SIZE_MAX - 7) != NULL ? PTO_OK : PTO_FAILED; }
HOSTILE_WAY(descriptors)
{
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
    return PTO_OK;
}
HOSTILE_WAY(limit_descriptors) { return limit(RLIMIT_NOFILE, 0); }
HOSTILE_WAY(limit_files) { return limit(RLIMIT_FSIZE, 0); }
HOSTILE_WAY(limit_stack) { return limit(RLIMIT_STACK, 4096); }
HOSTILE_WAY(close_stdout)
{
    (void)fclose(stdout);
    return PTO_OK;
}
HOSTILE_WAY(reopen_stdout) { return freopen("reopened", "w", stdout) != NULL ? PTO_OK : PTO_FAILED; }
HOSTILE_WAY(buffer_stdout)
{
    printf("nobody flushes this");
    return PTO_OK;
}
/* Garbage into all that is open for writing: what the plugin did not open is not its own, but the results are
 * elsewhere. */
HOSTILE_WAY(garbage)
{
    for (int fd = 1; fd < 3; fd++) (void)!write(fd, "GARBAGE\n", 8);
    return PTO_OK;
}
HOSTILE_WAY(trace_me) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? PTO_FAILED : PTO_OK; }
/* From now on the kernel kills for every system call but read, write and exit. */
HOSTILE_WAY(no_calls) { return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(environment)
{
    return clearenv() || setenv("PATH", "/nowhere", 1) || setenv("TMPDIR", "/nowhere", 1) ? PTO_FAILED : PTO_OK;
}
HOSTILE_WAY(no_environment)
{
    environ = NULL;
    return PTO_OK;
}
HOSTILE_WAY(lowest_priority) { return nice(19) < 0 ? PTO_FAILED : PTO_OK; }

#define WAYS(X)          \
    X(scratch_all)       \
    X(scratch_product)   \
    X(keep_all)          \
    X(descriptors)       \
    X(limit_descriptors) \
    X(limit_files)       \
    X(limit_stack)       \
    X(close_stdout)      \
    X(reopen_stdout)     \
    X(buffer_stdout)     \
    X(garbage)           \
    X(trace_me)          \
    X(no_calls)          \
    X(environment)       \
    X(no_environment)    \
    X(lowest_priority)
HOSTILE("test.hostile-takes", WAYS);
