#include "core/data_maker.h"

#include "core/core_diag.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
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
    diag_error(d, (src_pos){program, 0, 0}, &E1506, "the data program ended with %s %d", WIFSIGNALED(wait_status) ? "signal" : "status",
               WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
    diag_note(d, NO_POS, "it needs python3 with numpy; --python names another interpreter");
    return FAILED;
}

status data_maker_run(arena *a, diag_engine *d, const case_description *c, const case_size *size, const char *python, const char *folder)
{
    if (!python) python = access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
    char **argv = arena_array(a, 4u + size->symbol_count + c->data_argument_count, sizeof *argv);
    uint32_t n = 0;
    argv[n++] = arena_strdup(a, python);
    argv[n++] = arena_strdup(a, c->data);
    argv[n++] = arena_strdup(a, folder);
    for (uint32_t i = 0; i < size->symbol_count; i++) argv[n++] = symbol_argument(a, &size->symbols[i]);
    for (uint32_t i = 0; i < c->data_argument_count; i++) argv[n++] = arena_strdup(a, c->data_arguments[i]);
    pid_t child = 0;
    const int error = posix_spawnp(&child, python, NULL, NULL, argv, environ);
    if (error != 0) {
        diag_error(d, (src_pos){python, 0, 0}, &E1506, "cannot run the data program: %s", strerror(error));
        return FAILED;
    }
    return wait_for(d, c->data, child);
}
