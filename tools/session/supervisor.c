#include "tools/session/supervisor.h"

#include "core/host/process_state.h"
#include "ir/base/monotonic.h"
#include "tools/base/file.h"
#include "tools/session/case_folder.h"
#include "tools/session/descendants.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Leaks are looked for when a process exits by itself, which a worker does not. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define CHECK_LEAKS() __lsan_do_leak_check()
#endif
#endif
#ifndef CHECK_LEAKS
#define CHECK_LEAKS() ((void)0)
#endif

/* "in plugin `pto.fuse`, pass pto.fuse, step `fuse` (default.yaml:14), function @softmax", or what is known of it. */
static void describe(FILE *out, const flight_recorder *r)
{
    if (r->plugin[0] == '\0') {
        fprintf(out, "outside any plugin%s%s\n", r->phase[0] ? ", while " : "", r->phase);
        return;
    }
    fprintf(out, "in plugin `%s`", r->plugin);
    if (r->pass[0]) fprintf(out, ", %s %s", r->role, r->pass);
    if (r->step[0]) fprintf(out, ", step `%s`", r->step);
    if (r->file[0]) fprintf(out, " (%s:%u)", r->file, r->line);
    if (r->function[0]) fprintf(out, ", function @%s", r->function);
    fputc('\n', out);
}

/* The end of a pipe that nobody reads any more. */
static bool has_no_reader(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0;
}

int finish_output(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code > EXIT_STATUS_NO) return code;
    if (has_no_reader(STDOUT_FILENO)) file_end_of_pipe();
    fputs("error: standard output cannot be written\n", stderr);
    return EXIT_STATUS_OUTPUT;
}

enum { NEVER = 0 };

typedef struct watch {
    const supervision *s;
    flight_recorder *recorder;
    pid_t child;
    uint64_t limit_at; /* when to ask for a stop, then when to kill; NEVER */
    uint64_t asked_at;
    uint64_t kill_at; /* when a worker that a signal did not end is killed; NEVER */
    int user_signal;  /* the first signal that was passed on, or 0 */
    bool was_killed;  /* since it did not stop in time */
    bool was_loading; /* the limit is that of loading a plugin */
    bool was_forced;  /* since the user's signal did not end it */
} watch;

static void report_time(const watch *w)
{
    if (w->was_loading)
        fprintf(stderr, "%s: the time limit of %g s for loading a plugin ran out; the worker was killed ", w->s->tool,
                w->s->load_seconds_max);
    else
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
    else if (r->lost_files)
        fprintf(stderr, "%s: internal error: standard input, output or error, or the working folder, was taken away ",
                w->s->tool);
    else if (is_signal)
        fprintf(stderr, "%s: %s: the worker was ended by signal %d (%s) ", w->s->tool,
                is_resources ? "memory or time ran out" : "internal error", code, strsignal(code));
    else
        fprintf(stderr, "%s: internal error: the worker ended itself with status %d ", w->s->tool, code);
    describe(stderr, r);
    return is_resources ? EXIT_STATUS_RESOURCES : EXIT_STATUS_INTERNAL;
}

/* ---- signals and time ---- */

/* Those that the supervisor waits for instead of taking them; one that comes before the worker exists waits. What was
 * ignored from the start (nohup, jobs in the background) stays ignored. */
static sigset_t waited_signals(void)
{
    static const int users[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        struct sigaction before;
        if (sigaction(users[i], NULL, &before) != 0 || before.sa_handler != SIG_IGN) sigaddset(&set, users[i]);
    }
    return set;
}

static uint64_t ns_of(double seconds) { return (uint64_t)(seconds * 1e9); }

static uint64_t earlier(uint64_t a, uint64_t b) { return a == NEVER || (b != NEVER && b < a) ? b : a; }

/* When the plugin that is being loaded takes too long; when none is, so long from now. */
static uint64_t load_limit(const watch *w, uint64_t now)
{
    if (w->s->load_seconds_max <= 0) return NEVER;
    const uint64_t began = atomic_load(&w->recorder->load_began_ns);
    return (began != 0 ? began : now) + ns_of(w->s->load_seconds_max);
}

/* For a worker that was asked to stop: what the host does besides plugins is not worth waiting for. */
static uint64_t grace(const watch *w)
{
    return ns_of(w->recorder->plugin[0] ? SUPERVISOR_GRACE_SECONDS : SUPERVISOR_HOST_GRACE_SECONDS);
}

/* Whether the worker is to be killed for the time; asks it to stop first. */
static bool is_overdue(watch *w, uint64_t now)
{
    if (w->limit_at == NEVER || w->limit_at > now) return false;
    if (!flight_recorder_stop(w->recorder)) {
        atomic_store(&w->recorder->stop, 1);
        w->asked_at = w->limit_at;
    }
    /* What runs may change meanwhile. */
    const uint64_t due = w->asked_at + grace(w), soon = now + ns_of(SUPERVISOR_HOST_GRACE_SECONDS);
    w->limit_at = due < soon ? due : soon;
    return due <= now;
}

/* Something is due, or was, at `now`. A plugin that is being loaded cannot be asked. */
static void time_is_up(watch *w, uint64_t now)
{
    const bool is_late = is_overdue(w, now);
    w->was_forced = w->kill_at != NEVER && w->kill_at <= now;
    w->was_loading = !is_late && w->s->load_seconds_max > 0 && load_limit(w, now) <= now;
    w->was_killed = is_late || w->was_loading;
    if (!w->was_forced && !w->was_killed) return;
    kill(w->child, SIGKILL);
    w->limit_at = w->kill_at = NEVER;
}

/* ^C reaches both processes; twice does no harm. One that is stopped goes on, to be ended; one that ignores the signal
 * is killed a little later, or when the user insists. */
static void pass_on(watch *w, int signal_number)
{
    if (w->user_signal != 0) {
        w->was_forced = true;
        kill(w->child, SIGKILL);
        return;
    }
    w->user_signal = signal_number;
    w->kill_at = monotonic_ns() + ns_of(SUPERVISOR_GRACE_SECONDS);
    kill(w->child, signal_number);
    kill(w->child, SIGCONT);
}

static int wait_until(const sigset_t *waited, uint64_t then, uint64_t now)
{
    if (then == NEVER) return sigwaitinfo(waited, NULL);
    const uint64_t left = then > now ? then - now : 0;
    const struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    return sigtimedwait(waited, NULL, &t);
}

static int wait_for(watch *w, const sigset_t *waited)
{
    for (;;) {
        int wait_status = 0;
        const uint64_t now = monotonic_ns();
        const int signal_number =
            wait_until(waited, earlier(earlier(w->limit_at, w->kill_at), load_limit(w, now)), now);
        if (signal_number < 0 && errno == EAGAIN) time_is_up(w, monotonic_ns());
        if (signal_number < 0) continue;
        if (signal_number != SIGCHLD)
            pass_on(w, signal_number);
        else if (waitpid(w->child, &wait_status, WNOHANG) == w->child)
            return wait_status;
    }
}

/* A signal that went to the worker and to us may reach the worker first. */
static void look_for_signal(watch *w, const sigset_t *waited, int wait_status)
{
    if (w->user_signal != 0 || !WIFSIGNALED(wait_status) || !sigismember(waited, WTERMSIG(wait_status))) return;
    sigset_t same;
    sigemptyset(&same);
    sigaddset(&same, WTERMSIG(wait_status));
    const struct timespec moment = {.tv_nsec = 100000000};
    if (sigtimedwait(&same, NULL, &moment) > 0) w->user_signal = WTERMSIG(wait_status);
}

/* ---- the two processes ---- */

static void limit_memory(uint64_t bytes)
{
    struct rlimit limit;
    if (bytes == 0 || getrlimit(RLIMIT_AS, &limit) != 0) return;
    if (limit.rlim_max == RLIM_INFINITY || bytes < limit.rlim_max) limit.rlim_cur = (rlim_t)bytes;
    if (setrlimit(RLIMIT_AS, &limit) == 0) return;
    fputs("error: the memory cannot be limited\n", stderr);
    _exit(EXIT_STATUS_RESOURCES);
}

static int be_host(worker_main work, void *self, flight_recorder *r)
{
    arena *kept = arena_create("process");
    r->process = process_state_capture(kept);
    const int code = finish_output(work(self, r));
    if (r->parent[0] != '\0') descendants_await();
    r->process = NULL;
    arena_destroy(kept);
    return code;
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
    const int code = be_host(work, self, r);
    CHECK_LEAKS();
    r->finished = 1;
    fflush(stderr);
    _exit(code);
}

/* Whether the worker ended as the user or the reader of its output asked for, and not by itself. */
static bool is_wanted(const watch *w, int wait_status)
{
    if (!WIFSIGNALED(wait_status)) return w->user_signal != 0;
    const int signal_number = WTERMSIG(wait_status);
    if (signal_number == SIGPIPE) return w->recorder->plugin[0] == '\0';
    return w->user_signal != 0 && (signal_number == w->user_signal || w->was_forced);
}

static int judge(const watch *w, int wait_status)
{
    const flight_recorder *r = w->recorder;
    if (r->finished && WIFEXITED(wait_status) && !r->stopped) return WEXITSTATUS(wait_status);
    if (r->finished && WIFEXITED(wait_status)) {
        report_time(w);
        return EXIT_STATUS_RESOURCES;
    }
    if (is_wanted(w, wait_status)) {
        if (w->was_forced) {
            fprintf(stderr, "%s: the worker did not end at signal %d (%s) and was killed ", w->s->tool, w->user_signal,
                    strsignal(w->user_signal));
            describe(stderr, r);
        }
        return 128 + (w->user_signal != 0 ? w->user_signal : SIGPIPE);
    }
    const int code = report_death(w, wait_status);
    fflush(stderr);
    if (w->s->after_death != NULL) w->s->after_death(w->s->self);
    return code;
}

static void end_descendants(const watch *w)
{
    const flight_recorder *r = w->recorder;
    const uint32_t n = descendants_end();
    const char *plugin = r->parent[0] ? r->parent : r->plugin;
    /* Of a worker that was ended in a phase of the host it may be the host's own, which makes data. */
    if (n == 0 || w->user_signal != 0 || (!plugin[0] && !r->finished)) return;
    fprintf(stderr, "%s: warning: %" PRIu32 " process%s that %s%s%s started did not end and %s killed\n", w->s->tool, n,
            n == 1 ? "" : "es", plugin[0] ? "plugin `" : "a plugin", plugin, plugin[0] ? "`" : "",
            n == 1 ? "was" : "were");
}

/* Whether the worker is to begin again, without the plugin of which it died. */
static bool begins_again(const watch *w, int wait_status)
{
    const flight_recorder *r = w->recorder;
    char how[128];
    if (w->s->after_bad_load == NULL || r->finished || atomic_load(&r->load_began_ns) == 0 || is_wanted(w, wait_status))
        return false;
    if (w->was_loading)
        snprintf(how, sizeof how, "did not return within %g s", w->s->load_seconds_max);
    else if (r->lost_files)
        snprintf(how, sizeof how, "took standard input, output or error, or the working folder, away");
    else if (WIFSIGNALED(wait_status))
        snprintf(how, sizeof how, "ended the process by signal %d (%s)", WTERMSIG(wait_status),
                 strsignal(WTERMSIG(wait_status)));
    else
        snprintf(how, sizeof how, "ended the process with status %d", WEXITSTATUS(wait_status));
    return w->s->after_bad_load(w->s->self, r, how);
}

/* Returns the exit status, or true in `*again`. */
static int supervise_once(const supervision *s, worker_main work, void *self, bool *again)
{
    watch w = {.s = s, .recorder = flight_recorder_create()};
    fflush(stdout);
    fflush(stderr);
    /* Inherited as ignored, it would never tell. */
    signal(SIGCHLD, SIG_DFL);
    const sigset_t waited = waited_signals();
    sigset_t before;
    sigprocmask(SIG_BLOCK, &waited, &before);
    if (s->seconds_max > 0) w.limit_at = monotonic_ns() + ns_of(s->seconds_max);
    const bool adopts = descendants_adopt();
    const pid_t supervisor = getpid();
    w.recorder->supervised = 1;
    /* This process has one thread: what fork has to do for others, which sanitizers make long, is left out. */
    w.child = _Fork();
    if (w.child == 0) be_worker(s, supervisor, &before, work, self, w.recorder);
    if (w.child < 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (s->seconds_max <= 0 && s->load_seconds_max <= 0 && s->memory_bytes_max == 0)
            return run_unsupervised(work, self);
        fprintf(stderr, "%s: no worker can be started, so nothing can be limited: %s\n", s->tool, strerror(errno));
        return EXIT_STATUS_RESOURCES;
    }
    const int wait_status = wait_for(&w, &waited);
    look_for_signal(&w, &waited, wait_status);
    flight_recorder last;
    flight_recorder_read(w.recorder, &last);
    w.recorder = &last;
    if (adopts) end_descendants(&w);
    if (case_folder_is(last.folder)) file_remove_tree(last.folder);
    sigprocmask(SIG_SETMASK, &before, NULL);
    *again = begins_again(&w, wait_status);
    return *again ? EXIT_STATUS_INTERNAL : judge(&w, wait_status);
}

int supervise(const supervision *s, worker_main work, void *self)
{
    for (;;) {
        bool again = false;
        const int code = supervise_once(s, work, self, &again);
        if (!again) return code;
    }
}

int run_unsupervised(worker_main work, void *self) { return be_host(work, self, flight_recorder_create()); }
