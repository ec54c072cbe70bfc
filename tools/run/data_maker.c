#include "tools/run/data_maker.h"

#include "tools/base/tool_diag.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char *symbol_argument(arena *a, const case_size_symbol *s)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s=%" PRId64, (int)s->name.n, s->name.p, s->value);
    return arena_strdup(a, text);
}

static status wait_for(diag_engine *d, const char *program, pid_t child)
{
    int wait_status = 0;
    while (waitpid(child, &wait_status, 0) < 0) {
        if (errno != EINTR) break;
    }
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return OK;
    diag_error(d, (src_pos){program, 0, 0}, &E1506, "the data program ended with %s %d",
               WIFSIGNALED(wait_status) ? "signal" : "status",
               WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
    diag_note(d, NO_POS, "it needs python3 with numpy; --python names another interpreter");
    return FAILED;
}

/* The program ends with us: it would write on into a folder that nothing needs. Through `told` goes why it did not
 * start. */
__attribute__((noreturn)) static void be_program(const char *python, char *const *argv, const char *path, pid_t us,
                                                 int told)
{
    if (path != NULL) setenv("PYTHONPATH", path, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != us) _exit(127);
    /* Where we have no standard file is one that cannot be read or written (see file_hold_standard). */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        const int flags = fcntl(fd, F_GETFL), nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (nothing >= 0 && (flags < 0 || (flags & O_PATH) != 0)) dup2(nothing, fd);
    }
    execvp(python, argv);
    const int error = errno;
    _exit(write(told, &error, sizeof error) == (ssize_t)sizeof error ? 127 : 126);
}

static status run_program(diag_engine *d, const char *python, char *const *argv, const char *program, const char *path)
{
    int told[2], error = 0;
    const pid_t us = getpid();
    const pid_t child = pipe2(told, O_CLOEXEC) == 0 ? fork() : -1;
    if (child == 0) be_program(python, argv, path, us, told[1]);
    if (child < 0) {
        diag_error(d, (src_pos){python, 0, 0}, &E1506, "cannot run the data program: %s", strerror(errno));
        return FAILED;
    }
    close(told[1]);
    const bool failed = read(told[0], &error, sizeof error) == (ssize_t)sizeof error;
    close(told[0]);
    if (!failed) return wait_for(d, program, child);
    waitpid(child, NULL, 0);
    diag_error(d, (src_pos){python, 0, 0}, &E1506, "cannot run the data program: %s", strerror(error));
    return FAILED;
}

/* The folder, after those of the user. */
static const char *python_path(arena *a, const char *modules)
{
    const char *own = getenv("PYTHONPATH");
    if (modules == NULL || own == NULL || *own == '\0') return modules;
    const size_t n = strlen(own) + strlen(modules) + 2;
    char *both = arena_alloc(a, n);
    snprintf(both, n, "%s:%s", own, modules);
    return both;
}

status data_maker_run(arena *a, diag_engine *d, const case_description *c, const case_size *size, const char *python,
                      const char *modules, const char *folder)
{
    if (python == NULL) python = access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
    char **argv = arena_array(a, 4u + size->symbol_count + c->data_argument_count, sizeof *argv);
    uint32_t n = 0;
    argv[n++] = arena_strdup(a, python);
    argv[n++] = arena_strdup(a, c->data);
    argv[n++] = arena_strdup(a, folder);
    for (uint32_t i = 0; i < size->symbol_count; i++) argv[n++] = symbol_argument(a, &size->symbols[i]);
    for (uint32_t i = 0; i < c->data_argument_count; i++) argv[n++] = arena_strdup(a, c->data_arguments[i]);
    return run_program(d, python, argv, c->data, python_path(a, modules));
}
