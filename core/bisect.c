#include "core/bisect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct bisect_step {
    bool is_needed, was_left_out;
    const char *reason; /* of a needed one, in words */
} bisect_step;

struct bisect {
    arena *arena;
    int64_t limit, count;
    bool is_quiet;
    contract_step *steps;
    bisect_step *decisions;
};

static bool names(const char *const *list, const char *word)
{
    for (; list && *list; list++) {
        if (strcmp(*list, word) == 0) return true;
    }
    return false;
}

/* Who behind the step requires the property: "step `tile`", "backend pto.cpu-sim"; NULL: nobody. */
static const char *find_user(arena *a, const contract *c, uint32_t index, const char *property)
{
    char text[256];
    for (uint32_t i = index + 1; i < c->step_count; i++) {
        if (!names(c->steps[i].pass->requires_props, property)) continue;
        snprintf(text, sizeof text, "step `%.200s`", c->steps[i].step->id);
        return arena_strdup(a, text);
    }
    if (!c->backend || !names(c->backend->requires_props, property)) return NULL;
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
    for (const char *const *p = pass->establishes; p && *p; p++) {
        const char *user = find_user(a, c, index, *p);
        if (!user) continue;
        snprintf(text, sizeof text, "it establishes %.100s, which %.220s needs", *p, user);
        return arena_strdup(a, text);
    }
    return NULL;
}

bisect *bisect_create(arena *a, int64_t limit, bool is_quiet, const contract *c)
{
    bisect *b = arena_alloc(a, sizeof *b);
    *b = (bisect){.arena = a, .limit = limit, .is_quiet = is_quiet};
    b->steps = arena_array(a, c->step_count, sizeof *b->steps);
    b->decisions = arena_array(a, c->step_count, sizeof *b->decisions);
    for (uint32_t i = 0; i < c->step_count; i++) {
        b->steps[i] = c->steps[i];
        b->decisions[i].reason = find_reason(a, c, i);
        b->decisions[i].is_needed = b->decisions[i].reason != NULL;
    }
    return b;
}

void bisect_begin_step(bisect *b, uint32_t step)
{
    if (!b->decisions[step].is_needed || b->is_quiet) return;
    fprintf(stderr, "bisect: step `%s` always runs: %s\n", b->steps[step].step->id, b->decisions[step].reason);
}

/* It establishes nothing any more for all functions. */
static void leave_out(bisect *b, uint32_t step)
{
    if (b->decisions[step].was_left_out) return;
    b->decisions[step].was_left_out = true;
    pto_pass *pass = arena_alloc(b->arena, sizeof *pass);
    *pass = *b->steps[step].pass;
    pass->establishes = NULL;
    b->steps[step].pass = pass;
}

bool bisect_runs(bisect *b, uint32_t step, const module *m, op_id unit)
{
    if (b->decisions[step].is_needed) return true;
    const bool runs = ++b->count <= b->limit || b->limit < 0;
    if (!runs) leave_out(b, step);
    if (b->is_quiet) return runs;
    const str name = unit ? string_of(module_context(m), function_name(m, unit)) : STR("the module");
    fprintf(stderr, "bisect: %s pass (%" PRId64 ") %s on %s%.*s, step `%s`\n", runs ? "running" : "NOT running",
            b->count, b->steps[step].pass->id, unit ? "@" : "", (int)name.n, name.p, b->steps[step].step->id);
    return runs;
}

const contract_step *bisect_steps(bisect *b) { return b->steps; }

bool bisect_left_out(const bisect *b, uint32_t step) { return b->decisions[step].was_left_out; }
