#include "core/supervisor.h"

#include "core/file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
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

int finish_output(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code > EXIT_STATUS_NO) return code;
    fputs("error: standard output cannot be written\n", stderr);
    return EXIT_STATUS_OUTPUT;
}

typedef struct watch {
    const supervision *s;
    flight_recorder *recorder;
    pid_t child;
    bool is_timed;
    struct timespec next; /* when to ask for a stop, then when to kill */
    bool was_killed;      /* since it did not stop */
} watch;

static void report_time(const watch *w)
{
    fprintf(stderr, "%s: the time limit of %g s ran out %s", w->s->tool, w->s->seconds_max,
            w->was_killed ? "and the worker did not stop when asked; it was killed " : "");
    describe(stderr, w->recorder);
}

/* Why a worker died that did not get to the end of its main function; exit status 70 or 75. */
static int report_death(const watch *w, int wait_status)
{
    const flight_recorder *r = w->recorder;
    const bool is_signal = WIFSIGNALED(wait_status);
    const int code = is_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    if (w->was_killed) {
        report_time(w);
        return EXIT_STATUS_RESOURCES;
    }
    /* SIGKILL is what the system sends when memory runs out, SIGXCPU when the time that ulimit grants does. An arena
     * that gets no memory ends the process with status 75, after its own message. */
    const bool is_memory = !is_signal && code == EXIT_STATUS_RESOURCES;
    const bool is_resources = is_memory || (is_signal && (code == SIGKILL || code == SIGXCPU));
    if (is_memory && w->s->memory_bytes_max > 0)
        fprintf(stderr, "%s: the memory limit of %" PRIu64 " bytes ran out ", w->s->tool, w->s->memory_bytes_max);
    else if (is_memory)
        fprintf(stderr, "%s: memory ran out ", w->s->tool);
    else if (is_signal)
        fprintf(stderr, "%s: %s: the worker was ended by signal %d (%s) ", w->s->tool,
                is_resources ? "memory or time ran out" : "internal error", code, strsignal(code));
    else
        fprintf(stderr, "%s: internal error: the worker ended itself with status %d ", w->s->tool, code);
    describe(stderr, r);
    return is_resources ? EXIT_STATUS_RESOURCES : EXIT_STATUS_INTERNAL;
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

static struct timespec now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

static struct timespec later(struct timespec t, double seconds)
{
    const double whole = floor(seconds);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)((seconds - whole) * 1e9);
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

/* From now to then; zero when then has passed. */
static struct timespec until(struct timespec then)
{
    const struct timespec t = now();
    struct timespec d = {then.tv_sec - t.tv_sec, then.tv_nsec - t.tv_nsec};
    if (d.tv_nsec < 0) {
        d.tv_nsec += 1000000000;
        d.tv_sec--;
    }
    return d.tv_sec < 0 ? (struct timespec){0} : d;
}

/* First asks, then kills. */
static void time_is_up(watch *w)
{
    if (!flight_recorder_stop(w->recorder)) {
        atomic_store(&w->recorder->stop, 1);
        w->next = later(w->next, SUPERVISOR_GRACE_SECONDS);
        return;
    }
    kill(w->child, SIGKILL);
    w->was_killed = true;
    w->is_timed = false;
}

/* Passes the user's signals on until the worker has ended. ^C reaches both processes; twice does no harm. */
static int wait_for(watch *w, const sigset_t *waited)
{
    for (;;) {
        int wait_status = 0;
        const struct timespec left = until(w->next);
        const int signal_number = w->is_timed ? sigtimedwait(waited, NULL, &left) : sigwaitinfo(waited, NULL);
        if (signal_number < 0 && errno == EAGAIN) time_is_up(w);
        if (signal_number < 0) continue;
        if (signal_number != SIGCHLD)
            kill(w->child, signal_number);
        else if (waitpid(w->child, &wait_status, WNOHANG) == w->child)
            return wait_status;
    }
}

static void limit_memory(uint64_t bytes)
{
    struct rlimit limit;
    if (bytes == 0 || getrlimit(RLIMIT_AS, &limit) != 0) return;
    if (limit.rlim_max == RLIM_INFINITY || bytes < limit.rlim_max) limit.rlim_cur = (rlim_t)bytes;
    if (setrlimit(RLIMIT_AS, &limit) == 0) return;
    fputs("error: the memory cannot be limited\n", stderr);
    _exit(EXIT_STATUS_RESOURCES);
}

__attribute__((noreturn)) static void be_worker(const supervision *s, pid_t supervisor, const sigset_t *before,
                                                worker_main work, void *self, flight_recorder *r)
{
    /* A worker without its supervisor would go on unseen. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) _exit(EXIT_STATUS_INTERNAL);
    sigprocmask(SIG_SETMASK, before, NULL);
    /* A file that may not grow any more is an output that cannot be written, no crash. */
    signal(SIGXFSZ, SIG_IGN);
    limit_memory(s->memory_bytes_max);
    const int code = finish_output(work(self, r));
    r->finished = 1;
    fflush(stderr);
    _exit(code);
}

static int judge(const watch *w, int wait_status)
{
    const flight_recorder *r = w->recorder;
    if (r->finished && WIFEXITED(wait_status) && !r->stopped) return WEXITSTATUS(wait_status);
    if (WIFSIGNALED(wait_status) && is_users(WTERMSIG(wait_status))) return 128 + WTERMSIG(wait_status);
    if (r->finished && WIFEXITED(wait_status)) {
        report_time(w);
        return EXIT_STATUS_RESOURCES;
    }
    const int code = report_death(w, wait_status);
    fflush(stderr);
    if (w->s->after_death) w->s->after_death(w->s->self);
    return code;
}

int supervise(const supervision *s, worker_main work, void *self)
{
    watch w = {.s = s, .recorder = flight_recorder_create(), .is_timed = s->seconds_max > 0};
    fflush(stdout);
    fflush(stderr);
    /* Inherited as ignored, it would never tell. */
    signal(SIGCHLD, SIG_DFL);
    const sigset_t waited = waited_signals();
    sigset_t before;
    sigprocmask(SIG_BLOCK, &waited, &before);
    if (w.is_timed) w.next = later(now(), s->seconds_max);
    const pid_t supervisor = getpid();
    w.child = fork();
    if (w.child == 0) be_worker(s, supervisor, &before, work, self, w.recorder);
    if (w.child < 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (!w.is_timed && s->memory_bytes_max == 0) return run_unsupervised(work, self);
        fprintf(stderr, "%s: no worker can be started, so nothing can be limited: %s\n", s->tool, strerror(errno));
        return EXIT_STATUS_RESOURCES;
    }
    const int wait_status = wait_for(&w, &waited);
    if (w.recorder->folder[0]) file_remove_tree(w.recorder->folder);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return judge(&w, wait_status);
}

int run_unsupervised(worker_main work, void *self) { return finish_output(work(self, flight_recorder_create())); }
