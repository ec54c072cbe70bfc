/* From a command line to a supervised worker: limits, and what a crash leaves. */
#include "tools/base/tool_diag.h"
#include "tools/session/reproducer.h"
#include "tools/session/session.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pto/note.h>

enum { REPRODUCER_SECONDS_MAX = 10 };

static const bool is_sanitized = (int)PTO_SANITIZER_KIND > 0;

typedef struct guard {
    arena *arena;
    diag_engine *diags;
    const command_line *line;
    session_run run;
    supervision limits;
    int module_fd; /* keeps what comes through standard input, when that cannot be read twice; or -1 */
} guard;

static status read_memory_limit(guard *g)
{
    const char *text = command_line_value(g->line, OPTION_MEMORY_LIMIT);
    if (text == NULL) return OK;
    if (is_sanitized) {
        diag_error(g->diags, (src_pos){g->line->tool, 0, 0}, &E1504,
                   "option `--memory-limit`: this program was built with a sanitizer, which needs more address space "
                   "than any limit");
        return FAILED;
    }
    const value_rule rule = {.type = VALUE_BYTES, .min = "1MiB", .what = "option `--memory-limit`"};
    value v;
    TRY(value_from_text(g->arena, g->diags, (src_pos){g->line->tool, 0, 0}, text, &rule, &v));
    g->limits.memory_bytes_max = (uint64_t)v.i;
    return OK;
}

static status read_limits(guard *g)
{
    TRY(command_line_seconds(g->diags, g->line, OPTION_TIME_LIMIT, &g->limits.seconds_max));
    return read_memory_limit(g);
}

/* In a process of its own: what ended the worker may end what reads the same files. */
static void leave_reproducer(void *self)
{
    const guard *g = self;
    const pid_t child = fork();
    if (child == 0) {
        alarm(REPRODUCER_SECONDS_MAX); /* a file of the pipeline may be a pipe that nobody writes to */
        const char *folder = command_line_value(g->line, OPTION_REPRODUCER);
        const char *path = reproducer_write(g->arena, g->diags, g->line, folder, g->module_fd);
        if (path != NULL) fprintf(stderr, "%s: this shows it again:\n%s\n", g->line->tool, path);
        fflush(stderr);
        _exit(path != NULL ? 0 : 1);
    }
    int wait_status = 0;
    if (child > 0 && waitpid(child, &wait_status, 0) == child && WIFEXITED(wait_status) &&
        WEXITSTATUS(wait_status) == 0)
        return;
    fprintf(stderr, "%s: no reproducer could be written\n", g->line->tool);
}

static int work(void *self, flight_recorder *recorder)
{
    const guard *g = self;
    session s;
    recorder->module_fd = g->module_fd;
    exit_status code = session_open(&s, g->line, recorder);
    if (code == EXIT_STATUS_OK && session_check_outputs(&s) != OK) code = EXIT_STATUS_USAGE;
    if (code == EXIT_STATUS_OK) code = session_write_trace(&s, g->run(&s, recorder));
    session_close(&s);
    return (int)code;
}

/* A pipe is gone once it was read. */
static int keep_standard_input(const command_line *line)
{
    bool is_read = false;
    for (uint32_t i = 0; i < line->argument_count; i++) is_read |= strcmp(line->arguments[i], "-") == 0;
    if (!is_read || lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0) return -1;
    return memfd_create("standard input", MFD_CLOEXEC);
}

int session_supervise(const command_line *line, session_run run)
{
    guard g = {.arena = arena_create("supervisor"),
               .diags = diag_create(stderr, 0),
               .line = line,
               .run = run,
               .limits = {.tool = line->tool, .after_death = leave_reproducer},
               .module_fd = -1};
    g.limits.self = &g;
    int code = EXIT_STATUS_USAGE;
    if (read_limits(&g) == OK) {
        if (command_line_has(line, OPTION_NO_SUPERVISE)) {
            code = run_unsupervised(work, &g);
        } else {
            g.module_fd = keep_standard_input(line);
            code = supervise(&g.limits, work, &g);
        }
    }
    if (g.module_fd >= 0) close(g.module_fd);
    diag_destroy(g.diags);
    arena_destroy(g.arena);
    return code;
}
