#include "tools/session/plugin_trial.h"

#include <stdio.h>

enum { LOAD_SECONDS = 10, DIAGNOSTIC_BYTES = 1 << 16 };

typedef struct trials {
    arena *arena;
    plugin_trial trial;
    worker_main work;
} trials;

static bool refuse(void *self, const flight_recorder *r, const char *how)
{
    trials *t = self;
    for (const plugin_refusal *known = t->trial.refused; known != NULL; known = known->next) {
        if (known->device == r->load_device && known->inode == r->load_inode) return false;
    }
    plugin_refusal *more = arena_alloc(t->arena, sizeof *more);
    *more = (plugin_refusal){r->load_device, r->load_inode, arena_strdup(t->arena, how), t->trial.refused};
    t->trial.refused = more;
    return true;
}

static int work_on(void *self, flight_recorder *recorder)
{
    const trials *t = self;
    setvbuf(stderr, NULL, _IOFBF, DIAGNOSTIC_BYTES);
    return t->work((void *)(uintptr_t)&t->trial, recorder);
}

int plugin_trial_run(arena *a, diag_engine *d, const command_line *line, worker_main work)
{
    trials t = {.arena = a, .trial = {.line = line}, .work = work};
    supervision s = {.tool = line->tool, .load_seconds_max = LOAD_SECONDS, .after_bad_load = refuse, .self = &t};
    if (command_line_seconds(d, line, OPTION_LOAD_LIMIT, &s.load_seconds_max) != OK) return EXIT_STATUS_USAGE;
    return supervise(&s, work_on, &t);
}
