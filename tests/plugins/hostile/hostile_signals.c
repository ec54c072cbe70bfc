/* Ends, stops or deafens the process by signals, or leaves processes of its own. */
#include "hostile.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn static void hang(void)
{
    for (;;) pause();
}

HOSTILE_WAY(abort) { abort(); }
HOSTILE_WAY(hang) { hang(); }
HOSTILE_WAY(raise_term) { return raise(SIGTERM) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(raise_int) { return raise(SIGINT) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(raise_hup) { return raise(SIGHUP) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(raise_quit) { return raise(SIGQUIT) ? PTO_FAILED : PTO_OK; }
HOSTILE_WAY(raise_pipe)
{
    (void)signal(SIGPIPE, SIG_DFL);
    return raise(SIGPIPE) ? PTO_FAILED : PTO_OK;
}
/* To a pipe of its own that nobody reads; that is an error of write and no more. */
HOSTILE_WAY(write_pipe)
{
    int ends[2];
    if (pipe(ends) != 0) return PTO_FAILED;
    close(ends[0]);
    const int is_refused = write(ends[1], "x", 1) < 0;
    close(ends[1]);
    return is_refused ? PTO_OK : PTO_FAILED;
}
HOSTILE_WAY(be_deaf)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    hang();
}
HOSTILE_WAY(stop) { return raise(SIGSTOP) ? PTO_FAILED : PTO_OK; }
/* A stopped process that would hear nothing if it went on. */
HOSTILE_WAY(stop_deaf)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    while (raise(SIGSTOP) == 0) continue;
    return PTO_FAILED;
}

HOSTILE_WAY(fork_stays)
{
    if (fork() == 0) hang();
    return PTO_OK;
}
HOSTILE_WAY(fork_and_abort)
{
    if (fork() == 0) hang();
    abort();
}
HOSTILE_WAY(fork_and_hang)
{
    (void)!fork();
    hang();
}
/* As daemons do it: nobody's child, in a session of its own. */
HOSTILE_WAY(fork_daemon)
{
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) hang();
        _exit(0);
    }
    return waitpid(child, NULL, 0) == child ? PTO_OK : PTO_FAILED;
}
/* A program, which no handler of fork sees. */
HOSTILE_WAY(spawn)
{
    char name[] = "sleep", seconds[] = "1000";
    char *const words[] = {name, seconds, NULL};
    pid_t child;
    return posix_spawnp(&child, "sleep", NULL, NULL, words, environ) == 0 ? PTO_OK : PTO_FAILED;
}
/* A process that ends by itself is nobody's business. */
HOSTILE_WAY(fork_ends)
{
    if (fork() == 0) _exit(0);
    return PTO_OK;
}

#define WAYS(X)       \
    X(abort)          \
    X(hang)           \
    X(raise_term)     \
    X(raise_int)      \
    X(raise_hup)      \
    X(raise_quit)     \
    X(raise_pipe)     \
    X(write_pipe)     \
    X(be_deaf)        \
    X(stop)           \
    X(stop_deaf)      \
    X(fork_stays)     \
    X(fork_and_abort) \
    X(fork_and_hang)  \
    X(fork_daemon)    \
    X(spawn)          \
    X(fork_ends)
HOSTILE("test.hostile-signals", WAYS);
