#include "native_compiler.h"

#include "native_clock.h"
#include "native_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- finding it ---- */

static bool is_program(const char *path, struct stat *st)
{
    return stat(path, st) == 0 && S_ISREG(st->st_mode) && access(path, X_OK) == 0;
}

static bool accept(const char *path, native_compiler *c)
{
    struct stat st;
    char real[PATH_MAX];
    if (!is_program(path, &st) || realpath(path, real) == NULL) return false;
    /* Some programs, as ccache, ask by which name they were called: links stay in `path`. */
    const char *last = strrchr(path, '/');
    snprintf(c->name, sizeof c->name, "%s", last != NULL ? last + 1 : path);
    const bool is_absolute = path[0] == '/';
    if (snprintf(c->path, sizeof c->path, "%s", is_absolute ? path : real) >= (int)sizeof c->path) return false;
    snprintf(c->identity, sizeof c->identity, "%jx %jx %jx %jx.%09lx", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
             (uintmax_t)st.st_size, (uintmax_t)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec);
    return true;
}

/* The next folder of a list with colons, as one of `n` bytes at the result; NULL at the end. */
static const char *next_folder(const char **list, size_t *n)
{
    if (*list == NULL) return NULL;
    const char *folder = *list, *end = strchrnul(folder, ':');
    *n = (size_t)(end - folder);
    *list = *end != '\0' ? end + 1 : NULL;
    return folder;
}

static bool find_in_path(const char *name, native_compiler *c)
{
    const char *list = getenv("PATH");
    size_t n = 0;
    for (const char *folder = next_folder(&list, &n); folder != NULL; folder = next_folder(&list, &n)) {
        char path[PATH_MAX];
        if (n == 0 || folder[0] != '/' || n + strlen(name) + 2 > sizeof path) continue;
        snprintf(path, sizeof path, "%.*s/%s", (int)n, folder, name);
        if (accept(path, c)) return true;
    }
    return false;
}

native_status native_compiler_find(const char *wanted, native_compiler *c, native_error *e)
{
    static const char *const names[] = {"gcc", "clang", "cc"};
    if (wanted != NULL && strchr(wanted, '/') != NULL) {
        if (accept(wanted, c)) return NATIVE_OK;
        return native_fail(e, NATIVE_NO_COMPILER, "C compiler `%s` is not a program that can be run", wanted);
    }
    if (wanted != NULL) {
        if (find_in_path(wanted, c)) return NATIVE_OK;
        return native_fail(e, NATIVE_NO_COMPILER,
                           "C compiler `%s` is in no folder of $PATH; Debian packages `gcc` and `libc6-dev` have one",
                           wanted);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (find_in_path(names[i], c)) return NATIVE_OK;
    return native_fail(e, NATIVE_NO_COMPILER,
                       "no C compiler is in a folder of $PATH; Debian packages `gcc` and `libc6-dev` have one");
}

/* ---- what it prints ---- */

enum { LINE_BYTES = 512 };

/* How much a line says of a failure, the more the higher. */
typedef enum telling {
    TELLS_NOTHING,
    TELLS_ANYTHING,
    TELLS_OF_LINKER, /* that it failed: why, it said itself before */
    TELLS_LINKER,    /* what it says itself, in which "error" need not be */
    TELLS_ERROR
} telling;

static telling telling_of(const char *line)
{
    if (line[0] == '\0') return TELLS_NOTHING;
    if (strstr(line, "ld returned") != NULL || strstr(line, "linker command failed") != NULL) return TELLS_OF_LINKER;
    if (strstr(line, "error") != NULL || strstr(line, "undefined reference") != NULL) return TELLS_ERROR;
    return strstr(line, "ld: ") != NULL && strstr(line, "warning") == NULL ? TELLS_LINKER : TELLS_ANYTHING;
}

/* Keeps one line of all that goes by: the first of those that tell most. */
typedef struct said {
    char line[LINE_BYTES], best[LINE_BYTES];
    size_t length;
    telling tells;
} said;

static void end_line(said *s)
{
    s->line[s->length] = '\0';
    const telling tells = telling_of(s->line);
    if (tells > s->tells) {
        memcpy(s->best, s->line, s->length + 1);
        s->tells = tells;
    }
    s->length = 0;
}

static void hear(said *s, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char c = bytes[i];
        if (c == '\n')
            end_line(s);
        else if (s->length < LINE_BYTES - 1)
            s->line[s->length++] = (unsigned char)c < ' ' ? ' ' : c;
    }
}

enum { READS_MAX = 64 }; /* of one look, so that one that prints without end meets its limit */

/* Takes what is in the pipe; false at its end. */
static bool drain(int from, said *s)
{
    char bytes[4096];
    for (int i = 0; i < READS_MAX; i++) {
        const ssize_t n = read(from, bytes, sizeof bytes);
        if (n > 0) hear(s, bytes, (size_t)n);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) return false;
        if (n < 0 && errno == EAGAIN) return true;
    }
    return true;
}

/* ---- running it ---- */

static const char *const kept_variables[] = {"PATH=", "HOME=", "LD_LIBRARY_PATH="};
enum { KEPT_VARIABLES = sizeof kept_variables / sizeof kept_variables[0] };

static char *find_variable(const char *name)
{
    for (char **v = environ; v != NULL && *v != NULL; v++)
        if (strncmp(*v, name, strlen(name)) == 0) return *v;
    return NULL;
}

/* As the first act of the child: signals as a program expects them, and a group of its own. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

static int set_files(posix_spawn_file_actions_t *files, const char *folder, int output)
{
    int failed = posix_spawn_file_actions_addchdir_np(files, folder);
    if (failed == 0) failed = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(files, output, STDOUT_FILENO);
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(files, output, STDERR_FILENO);
    /* Descriptors of the host that it did not mark. */
    if (failed == 0) failed = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
    return failed;
}

/* With the arguments of the job at `which`. */
static int start(const native_compiler *c, const native_compile *job, size_t which, int output, pid_t *process)
{
    /* posix_spawn expects pointers to char that it does not write through. */
    union {
        const char *const *read;
        char *const *given;
    } arguments;
    const char *argv[NATIVE_ARGUMENTS_MAX + 2] = {c->path};
    size_t n = 0;
    for (const char *const *list = job->arguments[which]; list[n] != NULL; n++) {
        if (n == NATIVE_ARGUMENTS_MAX) return E2BIG;
        argv[n + 1] = list[n];
    }
    arguments.read = argv;

    char temporary[PATH_MAX + 8], locale[] = "LC_ALL=C";
    char *variables[KEPT_VARIABLES + 3];
    size_t set = 0;
    for (size_t i = 0; i < KEPT_VARIABLES; i++) {
        char *variable = find_variable(kept_variables[i]);
        if (variable != NULL) variables[set++] = variable;
    }
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", job->folder);
    variables[set++] = temporary;
    variables[set++] = locale;
    variables[set] = NULL;

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed != 0) return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed == 0) {
        failed = set_attributes(&attributes);
        if (failed == 0) failed = set_files(&files, job->folder, output);
        if (failed == 0) failed = posix_spawn(process, c->path, &files, &attributes, arguments.given, variables);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* A process that was started, and what it says. */
typedef struct child {
    pid_t process;
    int from;
    bool is_open, has_ended;
    said heard;
} child;

/* How long one look lasts when nothing is printed: the end of a compiler whose children keep the pipe is seen so much
 * later. */
enum { LOOK_MS = 50 };

static void listen(child *children, size_t count)
{
    struct pollfd p[NATIVE_COMPILERS_MAX];
    int wait_ms = LOOK_MS;
    for (size_t i = 0; i < count; i++) {
        const child *h = &children[i];
        p[i] = (struct pollfd){.fd = h->is_open && !h->has_ended ? h->from : -1, .events = POLLIN};
        if (!h->is_open && !h->has_ended) wait_ms = 1;
    }
    if (poll(p, count, wait_ms) <= 0) return;
    for (size_t i = 0; i < count; i++)
        if (p[i].fd >= 0 && p[i].revents != 0) children[i].is_open = drain(children[i].from, &children[i].heard);
}

/* Whether all have. They are not waited for: their groups stay what they are. */
static bool have_ended(child *children, size_t count)
{
    size_t ended = 0;
    for (size_t i = 0; i < count; i++) {
        child *h = &children[i];
        siginfo_t end = {.si_pid = 0};
        if (!h->has_ended && waitid(P_PID, (id_t)h->process, &end, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != EINTR)
            h->has_ended = true;
        if (end.si_pid == h->process) h->has_ended = true;
        ended += h->has_ended;
    }
    return ended == count;
}

/* Until all have ended, or are to be killed. */
static native_status await(child *children, size_t count, const native_compile *job)
{
    const uint64_t began = native_now_ns();
    for (;;) {
        listen(children, count);
        if (have_ended(children, count)) return NATIVE_OK;
        if (job->stop != NULL && job->stop(job->self)) return NATIVE_STOPPED;
        const double seconds = 1e-9 * (double)(native_now_ns() - began);
        if (job->seconds_max > 0 && seconds >= job->seconds_max) return NATIVE_COMPILER_SLOW;
    }
}

/* Ends what is left of a process and its group. Returns its wait status. Children of its children are ours when it has
 * ended, and waited for too: nothing of the group is left. */
static int end_group(pid_t process)
{
    int wait_status = -1, other = 0;
    kill(-process, SIGKILL);
    while (waitpid(process, &wait_status, 0) < 0 && errno == EINTR) continue;
    while (waitpid(-process, &other, 0) > 0 || errno == EINTR) continue;
    return wait_status;
}

static native_status say_stopped(const native_compiler *c, native_error *e)
{
    return native_fail(e, NATIVE_STOPPED, "C compiler `%s` was stopped", c->name);
}

static native_status say_end(const native_compiler *c, int wait_status, const said *s, native_error *e)
{
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return NATIVE_OK;
    const bool is_signal = WIFSIGNALED(wait_status);
    return native_fail(
        e, NATIVE_COMPILER_FAILED, "C compiler `%s` ended %s %d%s%s", c->name, is_signal ? "by signal" : "with status",
        is_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status), s->tells > TELLS_NOTHING ? ": " : "", s->best);
}

/* Hears them until all ended. Of several that failed the first has the word. */
static native_status follow(const native_compiler *c, const native_compile *job, child *children, size_t count,
                            native_error *e)
{
    const native_status status = await(children, count, job);
    native_status ends = NATIVE_OK;
    for (size_t i = 0; i < count; i++) {
        child *h = &children[i];
        const int wait_status = end_group(h->process);
        (void)drain(h->from, &h->heard);
        end_line(&h->heard);
        if (status == NATIVE_OK && ends == NATIVE_OK) ends = say_end(c, wait_status, &h->heard, e);
    }
    if (status == NATIVE_STOPPED) return say_stopped(c, e);
    if (status == NATIVE_COMPILER_SLOW)
        return native_fail(e, status, "C compiler `%s` did not end within %g s and was killed", c->name,
                           job->seconds_max);
    return ends;
}

/* Of the job at `which`, with a pipe; an errno. */
static int start_child(const native_compiler *c, const native_compile *job, size_t which, child *h)
{
    int ends[2];
    *h = (child){.process = -1, .from = -1, .is_open = true};
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    /* The end that the compiler has blocks: it waits when we are slow. */
    const int failed = fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ? errno : start(c, job, which, ends[1], &h->process);
    close(ends[1]);
    if (failed == 0)
        h->from = ends[0];
    else
        close(ends[0]);
    return failed;
}

static native_status run_all(const native_compiler *c, const native_compile *job, native_error *e)
{
    child children[NATIVE_COMPILERS_MAX];
    size_t count = 0;
    int failed = 0;
    native_status status = NATIVE_OK;
    while (failed == 0 && count < NATIVE_COMPILERS_MAX && job->arguments[count] != NULL) {
        failed = start_child(c, job, count, &children[count]);
        if (failed == 0) count++;
    }
    if (failed == 0) status = follow(c, job, children, count, e);
    for (size_t i = 0; i < count; i++) {
        if (failed != 0) (void)end_group(children[i].process);
        close(children[i].from);
    }
    if (failed == 0) return status;
    return native_fail(e, NATIVE_COMPILER_FAILED, "C compiler `%s` cannot be started: %s", c->path,
                       native_errno_text(failed));
}

/* How the end of children is taken, and whether they leave their own to it, is the process's: one thread at a time
 * changes it and puts it back. So is the lock, which is not data of the plugin: the section says that. */
static atomic_flag process_is_changed __attribute__((section("of_process"))) = ATOMIC_FLAG_INIT;

/* Waits in steps, between which `stop` is asked; false when that said so. */
static bool hold_process(const native_compile *job)
{
    const struct timespec step = {.tv_nsec = NATIVE_LOCK_STEP_MS * 1000000L};
    while (atomic_flag_test_and_set(&process_is_changed)) {
        if (job->stop != NULL && job->stop(job->self)) return false;
        nanosleep(&step, NULL);
    }
    return true;
}

native_status native_compiler_run(const native_compiler *c, const native_compile *job, native_error *e)
{
    /* Inherited as ignored, it would take the status of a child away. */
    const struct sigaction wanted = {.sa_handler = SIG_DFL};
    struct sigaction before;
    int adopted_before = 0;
    if (!hold_process(job)) return say_stopped(c, e);
    (void)sigaction(SIGCHLD, &wanted, &before);
    /* Where that fails, others inherit what the compiler leaves: it is killed all the same. */
    prctl(PR_GET_CHILD_SUBREAPER, &adopted_before);
    prctl(PR_SET_CHILD_SUBREAPER, 1L);
    const native_status status = run_all(c, job, e);
    prctl(PR_SET_CHILD_SUBREAPER, (long)adopted_before);
    (void)sigaction(SIGCHLD, &before, NULL);
    atomic_flag_clear(&process_is_changed);
    return status;
}
