#include "core/host/process_state.h"

#include "core/core_diag.h"
#include "core/exit_status.h"

#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STANDARD_FILES = 3 };

/* Those that the supervisor passes on, and those whose effect the host relies on. What a crash raises is left alone:
 * run-time systems need their handlers. */
static const int kept_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGCHLD};
enum { KEPT_SIGNALS = sizeof kept_signals / sizeof kept_signals[0] };

typedef struct file_identity {
    dev_t device, special;
    ino_t inode;
    bool exists;
} file_identity;

/* What was said of a pass or the like. */
typedef struct said {
    const char *id;
    uint32_t changed;
    struct said *next;
} said;

struct process_state {
    arena *arena;
    said *said;
    pid_t process;
    const volatile char *here; /* 1, but 0 in a copy of the process; NULL: the system does not tell */
    fenv_t floats;
    uint64_t float_controls;
    locale_t locale;
    mode_t mask;
    sigset_t blocked;
    struct sigaction actions[KEPT_SIGNALS];
    char folder[PATH_MAX]; /* empty: unreachable */
    int folder_fd;
    int kept[STANDARD_FILES]; /* copies, or -1 */
    file_identity files[STANDARD_FILES];
    uint32_t diverted;  /* how many ask for it */
    bool output_failed; /* before that */
};

enum {
    CHANGED_FLOATS = 1,
    CHANGED_LOCALE = 2,
    CHANGED_FOLDER = 4,
    CHANGED_MASK = 8,
    CHANGED_FILES = 16,
    LOST_FILES = 32 /* and cannot be put back */
};

static const struct {
    uint32_t bit;
    bool of_loading; /* said of what a plugin does while it is loaded too */
    const char *what;
} changes[] = {
    {CHANGED_FLOATS, false, "how floating point rounds, traps or treats denormals"},
    {CHANGED_LOCALE, false, "the locale of the thread"},
    {CHANGED_FOLDER, true, "the working folder"},
    {CHANGED_MASK, true, "the rights of new files (umask)"},
    {CHANGED_FILES, true, "standard input, output or error"},
};

static file_identity identify(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) return (file_identity){0};
    return (file_identity){st.st_dev, st.st_rdev, st.st_ino, true};
}

static bool is_same_file(file_identity a, file_identity b)
{
    return a.exists == b.exists && a.device == b.device && a.special == b.special && a.inode == b.inode;
}

/* Rounding, traps, denormals; not the flags of what happened, which are nobody's. A few instructions, where fegetenv
 * takes longer than a system call. */
static uint64_t float_controls(void)
{
#if defined __x86_64__
    enum { MXCSR_FLAGS = 0x3f };
    uint16_t x87 = 0;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | (__builtin_ia32_stmxcsr() & ~(unsigned)MXCSR_FLAGS);
#else
    fenv_t now;
    fegetenv(&now);
#if defined __aarch64__
    return now.__fpcr;
#else
    return (uint64_t)fegetround() << 32 | (unsigned)fegetexcept();
#endif
#endif
}

/* ---- what is kept ---- */

/* A process that a plugin forks dies with the worker. One whose worker died before it said so has another parent: the
 * tool, which ends it, or one that runs another program. */
static void die_with_parent(void)
{
    char name[32], ours[256], other[256];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(name, sizeof name, "/proc/%ld/exe", (long)getppid());
    const ssize_t n = readlink("/proc/self/exe", ours, sizeof ours), m = readlink(name, other, sizeof other);
    if (n > 0 && (m != n || memcmp(ours, other, (size_t)n) != 0)) kill(getpid(), SIGKILL);
}

/* A page that a copy of the process has as zeros: looking at it is a thousand times as fast as a system call. */
static const volatile char *mark_process(void)
{
    enum { PAGE_BYTES = 4096 };
    char *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, PAGE_BYTES, MADV_WIPEONFORK) != 0) return NULL;
    *page = 1;
    return page;
}

static void take_signals(process_state *s)
{
    for (int i = 0; i < KEPT_SIGNALS; i++) sigaction(kept_signals[i], NULL, &s->actions[i]);
    sigprocmask(SIG_SETMASK, NULL, &s->blocked);
}

process_state *process_state_capture(arena *a)
{
    process_state *s = arena_alloc(a, sizeof *s);
    s->arena = a;
    s->process = getpid();
    s->here = mark_process();
    fegetenv(&s->floats);
    s->float_controls = float_controls();
    s->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    uselocale(s->locale);
    s->mask = umask(0);
    umask(s->mask);
    take_signals(s);
    if (getcwd(s->folder, sizeof s->folder) == NULL) s->folder[0] = '\0';
    s->folder_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int fd = 0; fd < STANDARD_FILES; fd++) {
        s->kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, STANDARD_FILES);
        s->files[fd] = identify(fd);
    }
    pthread_atfork(NULL, NULL, die_with_parent);
    return s;
}

/* ---- putting it back ---- */

static uint32_t put_back_floats(const process_state *s)
{
    if (float_controls() == s->float_controls) return 0;
    fesetenv(&s->floats);
    return CHANGED_FLOATS;
}

static uint32_t put_back_locale(const process_state *s)
{
    const char *global = setlocale(LC_ALL, NULL);
    if (global == NULL || strcmp(global, "C") != 0) setlocale(LC_ALL, "C");
    return uselocale(s->locale) != s->locale ? CHANGED_LOCALE : 0;
}

static uint32_t put_back_folder(const process_state *s)
{
    char now[PATH_MAX];
    if (getcwd(now, sizeof now) == NULL) now[0] = '\0';
    if (strcmp(now, s->folder) == 0) return 0;
    const bool is_back = fchdir(s->folder_fd) == 0 || chdir(s->folder) == 0;
    return is_back ? CHANGED_FOLDER : CHANGED_FOLDER | LOST_FILES;
}

static uint32_t put_back_file(const process_state *s, int fd)
{
    const int wanted = fd == STDOUT_FILENO && s->diverted != 0 ? STDERR_FILENO : fd;
    if (is_same_file(identify(fd), s->files[wanted])) return 0;
    if (!is_same_file(identify(s->kept[wanted]), s->files[wanted])) return CHANGED_FILES | LOST_FILES;
    return dup2(s->kept[wanted], fd) == fd ? CHANGED_FILES : CHANGED_FILES | LOST_FILES;
}

/* One call of the system for all: whether a number that plugins might close still stands for a file. */
static bool has_closed_file(const process_state *s)
{
    struct pollfd files[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}, {.fd = s->kept[STDOUT_FILENO]}};
    if (poll(files, sizeof files / sizeof files[0], 0) <= 0) return false;
    return ((files[0].revents | files[1].revents | files[2].revents) & POLLNVAL) != 0;
}

static uint32_t put_back_files(const process_state *s)
{
    if (s->kept[STDOUT_FILENO] < 0) return 0;
    const uint32_t changed = put_back_file(s, STDOUT_FILENO) | put_back_file(s, STDERR_FILENO);
    const bool is_kept = is_same_file(identify(s->kept[STDOUT_FILENO]), s->files[STDOUT_FILENO]);
    return is_kept ? changed : changed | LOST_FILES;
}

static uint32_t put_back_all(const process_state *s)
{
    uint32_t changed = put_back_floats(s) | put_back_locale(s) | put_back_folder(s);
    if (umask(s->mask) != s->mask) changed |= CHANGED_MASK;
    const bool is_whole = !has_closed_file(s) && is_same_file(identify(STDERR_FILENO), s->files[STDERR_FILENO]);
    return is_whole ? changed : changed | put_back_files(s);
}

/* What only the host itself meets. */
static void put_back_rest(process_state *s)
{
    sigprocmask(SIG_SETMASK, &s->blocked, NULL);
    for (int i = 0; i < KEPT_SIGNALS; i++) sigaction(kept_signals[i], &s->actions[i], NULL);
    if (s->kept[STDIN_FILENO] >= 0) (void)put_back_file(s, STDIN_FILENO);
}

/* ---- saying it ---- */

static void say(const process_caller *who, const char *what)
{
    static const char rule[] = "a plugin leaves the process as it found it; the host has put that back";
    if (who->role != NULL)
        diag_warning(who->diags, who->at, &E1327, "%s `%s` of plugin `%s` changed %s; %s", who->role, who->id,
                     who->plugin, what, rule);
    else
        diag_warning(who->diags, who->at, &E1327, "plugin `%s` (%s) changed %s while it was loaded; %s", who->plugin,
                     who->path, what, rule);
}

static void end_copy(const process_caller *who)
{
    const bool is_loading = who->role == NULL;
    fprintf(stderr, "error: %s%s%s%splugin `%s` forked, and returned in the new process too, which ends here\n",
            is_loading ? "" : who->role, is_loading ? "" : " `", is_loading ? "" : who->id, is_loading ? "" : "` of ",
            who->plugin);
    fflush(stderr);
    _exit(EXIT_STATUS_INTERNAL);
}

/* What of `changed` was not yet said of `id`, which it is now. */
static uint32_t not_said(process_state *s, const char *id, uint32_t changed)
{
    said *of = s->said;
    while (of != NULL && strcmp(of->id, id) != 0) of = of->next;
    if (of == NULL) {
        of = arena_alloc(s->arena, sizeof *of);
        *of = (said){arena_strdup(s->arena, id), 0, s->said};
        s->said = of;
    }
    const uint32_t fresh = changed & ~of->changed;
    of->changed |= changed;
    return fresh;
}

static void report(flight_recorder *r, const process_caller *who, uint32_t changed)
{
    if (changed == 0) return;
    if (changed & LOST_FILES) {
        /* The supervisor still has them, and says so. */
        r->lost_files = 1;
        if (!r->supervised) fputs("error: standard files or the working folder were taken away by a plugin\n", stderr);
        _exit(EXIT_STATUS_INTERNAL);
    }
    if (who->role != NULL) changed = not_said(r->process, who->id, changed);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        if ((changed & changes[i].bit) && (who->role != NULL || changes[i].of_loading)) say(who, changes[i].what);
    }
}

/* What to name when the supervisor finds processes that outlived the worker. */
static void note_children(flight_recorder *r, const process_caller *who)
{
    siginfo_t child;
    if (r->parent[0] != '\0' || waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    FLIGHT_SET(r, parent, str_from(who->plugin));
}

/* ---- around a call ---- */

void process_divert_output(flight_recorder *r)
{
    process_state *s = r != NULL ? r->process : NULL;
    if (s == NULL || s->diverted++ != 0 || s->kept[STDOUT_FILENO] < 0) return;
    /* What is buffered so far is ours, what is buffered at the end is theirs. */
    fflush(stdout);
    s->output_failed = ferror(stdout) != 0;
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

void process_restore_output(flight_recorder *r)
{
    process_state *s = r != NULL ? r->process : NULL;
    if (s == NULL || --s->diverted != 0) return;
    put_back_rest(s);
    if (s->kept[STDOUT_FILENO] < 0) return;
    /* That nobody reads what a plugin printed is not a failure of ours, and nothing of it may follow. */
    if (fflush(stdout) != 0) __fpurge(stdout);
    if (!s->output_failed) clearerr(stdout);
    dup2(s->kept[STDOUT_FILENO], STDOUT_FILENO);
}

void process_enter(flight_recorder *r) { process_divert_output(r); }

void process_put_back(flight_recorder *r, const process_caller *who)
{
    if (r == NULL || r->process == NULL) return;
    process_check_copy(r, who);
    report(r, who, put_back_all(r->process));
}

void process_check_copy(const flight_recorder *r, const process_caller *who)
{
    const process_state *s = r != NULL ? r->process : NULL;
    if (s != NULL && (s->here != NULL ? *s->here == 0 : getpid() != s->process)) end_copy(who);
}

void process_leave(flight_recorder *r, const process_caller *who)
{
    if (r == NULL || r->process == NULL) return;
    process_check_copy(r, who);
    report(r, who, put_back_all(r->process));
    note_children(r, who);
    process_restore_output(r);
}
