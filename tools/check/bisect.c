#include "tools/check/bisect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct bisect {
    arena *arena;
    int64_t limit, count;
    bool is_quiet;
    const contract *contract;
    const char *reason; /* why the step at hand always runs, in words; NULL: it need not */
} bisect;

/* What after the step requires the property: "step `tile`", "backend pto.cpu-sim"; NULL: nothing. */
static const char *find_user(arena *a, const contract *c, uint32_t index, const char *property)
{
    char text[256];
    for (uint32_t i = index + 1; i < c->step_count; i++) {
        if (!str_list_has(c->steps[i].pass->requires_props, property)) continue;
        snprintf(text, sizeof text, "step `%.200s`", c->steps[i].step->id);
        return arena_strdup(a, text);
    }
    if (c->backend == NULL || !str_list_has(c->backend->requires_props, property)) return NULL;
    snprintf(text, sizeof text, "backend %.200s", c->backend_id);
    return arena_strdup(a, text);
}

static const char *find_reason(arena *a, const contract *c, uint32_t index)
{
    const pto_pass *pass = c->steps[index].pass;
    char text[512];
    if (strcmp(pass->consumes, pass->produces) != 0) {
        snprintf(text, sizeof text, "it takes %.100s to %.100s", pass->consumes, pass->produces);
        return arena_strdup(a, text);
    }
    for (const char *const *p = pass->establishes; p != NULL && *p != NULL; p++) {
        const char *user = find_user(a, c, index, *p);
        if (user == NULL) continue;
        snprintf(text, sizeof text, "it establishes %.100s, which %.220s needs", *p, user);
        return arena_strdup(a, text);
    }
    return pass->flags & PTO_PASS_NEEDED ? "later steps have no form for what it replaces" : NULL;
}

static exit_status begin(void *self, const loaded_pipeline *p, module *m, uint32_t first)
{
    bisect *b = self;
    (void)m;
    (void)first;
    b->contract = &p->contract;
    return EXIT_STATUS_OK;
}

/* Passes that are loaded when they find something to do are loaded by now. */
static exit_status before_step(void *self, const step_event *e)
{
    bisect *b = self;
    b->reason = find_reason(b->arena, b->contract, e->index);
    if (b->reason != NULL && !b->is_quiet)
        fprintf(stderr, "bisect: step `%s` always runs: %s\n", e->step->step->id, b->reason);
    return EXIT_STATUS_OK;
}

static bool runs_unit(void *self, const step_event *e, op_id unit)
{
    bisect *b = self;
    const bool is_idle = e->step->pass->run == NULL; /* it was not loaded: there is no op that it is for */
    if (is_idle || b->reason != NULL) return true;
    const bool runs = ++b->count <= b->limit || b->limit < 0;
    if (b->is_quiet) return runs;
    const str name = unit ? string_of(module_context(e->module), function_name(e->module, unit)) : STR("the module");
    fprintf(stderr, "bisect: %s pass (%" PRId64 ") %s on %s%.*s, step `%s`\n", runs ? "running" : "NOT running",
            b->count, e->step->pass->id, unit ? "@" : "", (int)name.n, name.p, e->step->step->id);
    return runs;
}

compile_observer bisect_observer(arena *a, int64_t limit, bool is_quiet)
{
    bisect *b = arena_alloc(a, sizeof *b);
    *b = (bisect){.arena = a, .limit = limit, .is_quiet = is_quiet};
    return (compile_observer){.self = b, .begin = begin, .before_step = before_step, .runs_unit = runs_unit};
}
