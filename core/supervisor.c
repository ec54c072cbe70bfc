#include "core/supervisor.h"

#include "core/file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* "in plugin `pto.fuse`, pass pto.fuse, step `fuse` (default.yaml:14), function @softmax", or what is known of it. */
static void describe(FILE *out, const flight_recorder *r)
{
    if (r->plugin[0] == '\0') {
        fputs("outside any plugin\n", out);
        return;
    }
    fprintf(out, "in plugin `%s`", r->plugin);
    if (r->pass[0]) fprintf(out, ", %s %s", r->role, r->pass);
    if (r->step[0]) fprintf(out, ", step `%s`", r->step);
    if (r->file[0]) fprintf(out, " (%s:%u)", r->file, r->line);
    if (r->function[0]) fprintf(out, ", function @%s", r->function);
    fputc('\n', out);
}

/* Signals that come from the user or from the end of a pipe, not from a defect. */
static bool is_users(int signal_number)
{
    return signal_number == SIGINT || signal_number == SIGTERM || signal_number == SIGHUP || signal_number == SIGQUIT ||
           signal_number == SIGPIPE;
}

static int report_signal(const char *tool, const flight_recorder *r, int signal_number)
{
    if (is_users(signal_number)) return 128 + signal_number;
    /* SIGKILL is what the system sends when memory runs out, SIGXCPU when the time that ulimit grants does. */
    const bool resources = signal_number == SIGKILL || signal_number == SIGXCPU;
    fprintf(stderr, "%s: %s: the worker was ended by signal %d (%s) ", tool,
            resources ? "memory or time ran out" : "internal error", signal_number, strsignal(signal_number));
    describe(stderr, r);
    return resources ? EXIT_STATUS_RESOURCES : EXIT_STATUS_INTERNAL;
}

static int report_death(const char *tool, const flight_recorder *r, int wait_status)
{
    if (WIFSIGNALED(wait_status)) return report_signal(tool, r, WTERMSIG(wait_status));
    const int code = WEXITSTATUS(wait_status);
    /* An arena that gets no memory ends the process with this status, after its own message. */
    if (code == EXIT_STATUS_RESOURCES)
        fprintf(stderr, "%s: memory ran out ", tool);
    else
        fprintf(stderr, "%s: internal error: the worker ended itself with status %d ", tool, code);
    describe(stderr, r);
    return code == EXIT_STATUS_RESOURCES ? code : EXIT_STATUS_INTERNAL;
}

/* The signals that the supervisor waits for instead of taking them; a signal that comes before the worker exists waits.
 */
static sigset_t waited_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    return set;
}

/* Passes the user's signals on until the worker has ended. ^C reaches both processes; twice does no harm. */
static int wait_for(pid_t child, const sigset_t *waited)
{
    for (;;) {
        int signal_number = 0, wait_status = 0;
        if (sigwait(waited, &signal_number) != 0) continue;
        if (signal_number != SIGCHLD)
            kill(child, signal_number);
        else if (waitpid(child, &wait_status, WNOHANG) == child)
            return wait_status;
    }
}

__attribute__((noreturn)) static void be_worker(pid_t supervisor, const sigset_t *before, worker_main work, void *self,
                                                flight_recorder *r)
{
    /* A worker without its supervisor would go on unseen. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) _exit(EXIT_STATUS_INTERNAL);
    sigprocmask(SIG_SETMASK, before, NULL);
    int code = work(self, r);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code <= EXIT_STATUS_NO) {
        fputs("error: standard output cannot be written\n", stderr);
        code = EXIT_STATUS_OUTPUT;
    }
    r->finished = 1;
    fflush(stderr);
    _exit(code);
}

int supervise(const char *tool, worker_main work, void *self)
{
    flight_recorder *r = flight_recorder_create();
    fflush(stdout);
    fflush(stderr);
    /* Inherited as ignored, it would never tell. */
    signal(SIGCHLD, SIG_DFL);
    const sigset_t waited = waited_signals();
    sigset_t before;
    sigprocmask(SIG_BLOCK, &waited, &before);
    const pid_t supervisor = getpid(), child = fork();
    if (child == 0) be_worker(supervisor, &before, work, self, r);
    if (child < 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return run_unsupervised(work, self);
    }
    const int wait_status = wait_for(child, &waited);
    if (r->folder[0]) file_remove_tree(r->folder);
    if (r->finished && WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
    return report_death(tool, r, wait_status);
}

int run_unsupervised(worker_main work, void *self) { return work(self, flight_recorder_create()); }
