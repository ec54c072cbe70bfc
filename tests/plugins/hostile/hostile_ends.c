/* Ends the process, or its memory, in a way that is not a return; or makes something else of it end later. */
#include "hostile.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fall(void) { (void)raise(SIGSEGV); }

HOSTILE_WAY(null_read)
{
    const int *volatile nowhere = NULL;
    return *nowhere ? PTO_OK : PTO_FAILED; // NOLINT(clang-analyzer-core.NullDereference): it is meant
}
HOSTILE_WAY(null_call)
{
    void (*volatile f)(void) = NULL;
    f(); // NOLINT(clang-analyzer-core.CallAndMessage): it is meant
    return PTO_OK;
}
HOSTILE_WAY(exit_0) { exit(0); }
HOSTILE_WAY(quick_exit) { quick_exit(3); }
HOSTILE_WAY(exit_at_once) { _exit(0); }
HOSTILE_WAY(exit_group) { return syscall(SYS_exit_group, 4) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(exit_thread) { return syscall(SYS_exit, 5) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(exec) { return execlp("true", "true", (char *)NULL) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(trap) { __builtin_trap(); }
HOSTILE_WAY(bus) { return raise(SIGBUS) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(divide) { return raise(SIGFPE) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(alarm)
{
    (void)raise(SIGALRM);
    return PTO_OK;
}
/* A function's own frame beyond the guard page: it must be seen before it lands in another mapping. */
HOSTILE_WAY(big_frame)
{
    const size_t bytes = (size_t)1 << 30;
    volatile char *p = __builtin_alloca(bytes);
    p[bytes - 1] = p[0] = 1;
    return p[bytes - 1] ? PTO_OK : PTO_FAILED;
}
_Noreturn static void jump_nowhere(void)
{
    static jmp_buf nowhere;
    memset(&nowhere, 0x41, sizeof nowhere);
    longjmp(nowhere, 1);
}
HOSTILE_WAY(jump) { jump_nowhere(); }

static void *falls(void *nothing)
{
    (void)nothing;
    fall();
    return NULL;
}
static void *waits(void *nothing)
{
    while (pause() != 0) continue;
    return nothing;
}
HOSTILE_WAY(thread_falls)
{
    pthread_t t;
    if (pthread_create(&t, NULL, falls, NULL) != 0) return PTO_FAILED;
    (void)pthread_join(t, NULL);
    return PTO_OK;
}
/* Ends with the process. */
HOSTILE_WAY(thread_stays)
{
    pthread_t t;
    return pthread_create(&t, NULL, waits, NULL) == 0 && pthread_detach(t) == 0 ? PTO_OK : PTO_FAILED;
}
HOSTILE_WAY(exit_of_thread_alone) { pthread_exit(NULL); }
/* After the result was written nobody is left to say so; before, it would be lost. */
HOSTILE_WAY(at_exit) { return atexit(fall) ? PTO_FAILED : PTO_OK; }

#define WAYS(X)             \
    X(null_read)            \
    X(null_call)            \
    X(exit_0)               \
    X(quick_exit)           \
    X(exit_at_once)         \
    X(exit_group)           \
    X(exit_thread)          \
    X(exec)                 \
    X(trap)                 \
    X(bus)                  \
    X(divide)               \
    X(alarm)                \
    X(big_frame)            \
    X(jump)                 \
    X(thread_falls)         \
    X(thread_stays)         \
    X(exit_of_thread_alone) \
    X(at_exit)
HOSTILE("test.hostile-ends", WAYS);
