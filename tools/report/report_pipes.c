/* Pipes by what they do: order, colour and words. Names come from the machine, roles from its paths. */
#include "tools/report/report_model.h"

#include <stdlib.h>

typedef struct role_row {
    const char *doc, *colour, *further;
} role_row;

static const role_row roles[PTO_ROLE_COUNT] = {
#define PTO_PIPE_ROLE(ID, doc, colour, further) [PTO_ROLE_##ID] = {doc, colour, further},
#include <pto/profile.def>
};

static pto_pipe_role role_of_paths(const machine *chip, const char *pipe)
{
    pto_pipe_role role = PTO_ROLE_OTHER;
    for (uint32_t i = 0; chip && i < chip->path_count; i++) {
        const machine_path *p = &chip->paths[i];
        if (strcmp(p->pipe, pipe) != 0) continue;
        if (machine_space_role(chip, p->from) == SPACE_ROLE_GLOBAL) return PTO_ROLE_LOAD;
        if (machine_space_role(chip, p->to) == SPACE_ROLE_GLOBAL)
            role = PTO_ROLE_STORE;
        else if (role == PTO_ROLE_OTHER)
            role = PTO_ROLE_MOVE;
    }
    return role;
}

pto_pipe_role report_pipe_role(const report *r, const char *pipe)
{
    if (strcmp(pipe, pipe_name(UNIT_SCALAR)) == 0) return PTO_ROLE_ISSUE;
    if (strcmp(pipe, pipe_name(UNIT_VECTOR)) == 0) return PTO_ROLE_VECTOR;
    if (strcmp(pipe, pipe_name(UNIT_MATRIX)) == 0) return PTO_ROLE_MATRIX;
    return role_of_paths(r->machine, pipe);
}

/* The pipes of the machine's cores in the order of its file, each as often as cores have it. NULL past the last. */
static const char *machine_pipe(const report *r, uint32_t index)
{
    for (uint32_t i = 0; r->machine && i < r->machine->core_count; i++) {
        const machine_core *core = &r->machine->cores[i];
        if (index < core->pipe_count) return core->pipes[index];
        index -= core->pipe_count;
    }
    return NULL;
}

const char *report_pipe_colour(const report *r, const char *pipe)
{
    const pto_pipe_role role = report_pipe_role(r, pipe);
    const char *known;
    for (uint32_t i = 0; (known = machine_pipe(r, i)) && strcmp(known, pipe) != 0; i++)
        if (report_pipe_role(r, known) == role) return roles[role].further;
    return roles[role].colour;
}

/* Roles in the order of their rows, pipes of one role in that of the machine, then others. */
static uint32_t rank(const report *r, const char *pipe)
{
    uint32_t i = 0;
    if (*pipe == '\0') return UINT32_MAX; /* none at all: last */
    for (const char *known; (known = machine_pipe(r, i)) && strcmp(known, pipe) != 0;) i++;
    return (uint32_t)report_pipe_role(r, pipe) << 16 | (i < 0xffff ? i : 0xffff);
}

uint32_t report_add_pipe(const report *r, const char **pipes, uint32_t count, uint32_t room, const char *pipe)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(pipes[i], pipe) == 0) return count;
    if (count == room) return count;
    uint32_t at = count;
    for (; at > 0 && rank(r, pipe) < rank(r, pipes[at - 1]); at--) pipes[at] = pipes[at - 1];
    pipes[at] = pipe;
    return count + 1;
}

uint32_t report_pipe_order(const report *r, uint32_t *out)
{
    const run_trace *t = r->trace;
    const char *names[TRACE_PIPES_MAX];
    uint32_t count = 0;
    for (uint32_t p = 0; p < t->pipe_count; p++) count = report_add_pipe(r, names, count, TRACE_PIPES_MAX, t->pipes[p]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = 0;
        while (strcmp(t->pipes[p], names[i]) != 0) p++;
        out[i] = p;
    }
    return count;
}

const char *report_pipe_work(const report *r, const char *core, const char *pipe)
{
    const pto_pipe_role role = report_pipe_role(r, pipe);
    if (role == PTO_ROLE_ISSUE || role == PTO_ROLE_VECTOR || role == PTO_ROLE_MATRIX) return roles[role].doc;
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; r->machine && i < r->machine->path_count; i++) {
        const machine_path *p = &r->machine->paths[i];
        if (strcmp(p->pipe, pipe) != 0 || strcmp(p->core, core) != 0) continue;
        text_printf(&t, "%s%s \xe2\x86\x92 %s", t.n ? ", " : "", p->from, p->to);
    }
    return text_keep(&t, r->arena);
}

const char *report_cause_colour(const char *cause)
{
    const pto_counter_row *row = pto_counter_row_at(counter_of_cause(str_from(cause)));
    return row ? row->colour : "#c5c9b4";
}
