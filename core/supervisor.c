#include "core/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* "pass pto.fuse (step `fuse`, default.yaml:14) on @softmax", or what is known of it. */
static void describe(FILE *out, const flight_recorder *r)
{
    if (r->plugin[0] == '\0') {
        fputs("outside any plugin", out);
        return;
    }
    fprintf(out, "in plugin `%s`", r->plugin);
    if (r->pass[0]) fprintf(out, ", %s", r->pass);
    if (r->step[0]) fprintf(out, ", step `%s`", r->step);
    if (r->file[0]) fprintf(out, " (%s:%u)", r->file, r->line);
    if (r->function[0]) fprintf(out, ", function @%s", r->function);
    if (r->op[0]) fprintf(out, ", op %s", r->op);
}

static int report_death(const char *tool, const flight_recorder *r, int wait_status)
{
    if (WIFSIGNALED(wait_status)) {
        const int signal_number = WTERMSIG(wait_status);
        if (signal_number == SIGINT || signal_number == SIGTERM) return 128 + signal_number;
        fprintf(stderr, "%s: internal error: the worker was ended by signal %d (%s) ", tool, signal_number, strsignal(signal_number));
    } else {
        const int code = WEXITSTATUS(wait_status);
        /* Out of memory ends the process inside the arena, with its own message. */
        if (code == EXIT_STATUS_RESOURCES) return code;
        fprintf(stderr, "%s: internal error: the worker ended itself with status %d ", tool, code);
    }
    describe(stderr, r);
    fputc('\n', stderr);
    return EXIT_STATUS_INTERNAL;
}

static void nothing(int signal_number) { (void)signal_number; }

/* The terminal sends ^C to both processes; the parent only has to outlive the child. A signal sent to the parent alone
 * interrupts waitpid and is passed on. */
static int wait_for(pid_t child)
{
    int wait_status = 0;
    while (waitpid(child, &wait_status, 0) < 0) {
        if (errno == EINTR) kill(child, SIGTERM);
        else return -1;
    }
    return wait_status;
}

int supervise(const char *tool, worker_main work, void *self)
{
    flight_recorder *r = flight_recorder_create();
    fflush(stdout);
    fflush(stderr);
    const pid_t child = fork();
    if (child < 0) return run_unsupervised(work, self);
    if (child == 0) {
        const int code = work(self, r);
        fflush(stdout);
        r->finished = 1;
        fflush(stderr);
        _exit(code);
    }
    struct sigaction ignore = {.sa_handler = nothing};
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGTERM, &ignore, NULL);
    const int wait_status = wait_for(child);
    if (r->finished && WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
    return report_death(tool, r, wait_status);
}

int run_unsupervised(worker_main work, void *self)
{
    return work(self, flight_recorder_create());
}
