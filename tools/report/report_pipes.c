/* Pipes by what their units do: order, colour and words. */
#include "tools/report/report_model.h"

#include <stdlib.h>

typedef struct shown_unit {
    uint32_t unit;
    const char *doc, *colour, *further;
} shown_unit;

static const shown_unit units[] = {
#define PTO_UNIT_SHOWN(ID, doc, colour, further) {PTO_UNIT_##ID, doc, colour, further},
#include <pto/profile.def>
};

/* The place of its row in `units`. A pipe that the machine does not have is of the unit none. */
static uint32_t row_of(const report *r, const char *pipe)
{
    const role_names *names = context_names(module_context(r->m));
    const uint32_t id = role_names_find(names, NAME_PIPE, str_from(pipe));
    const uint32_t unit = id != 0 ? role_names_role(names, NAME_PIPE, id) : PTO_UNIT_NONE;
    uint32_t i = 0;
    while (units[i].unit != unit) i++;
    return i;
}

/* The pipes of the machine's cores in the order of its file, each as often as cores have it. NULL past the last. */
static const char *machine_pipe(const report *r, uint32_t index)
{
    for (uint32_t i = 0; r->machine != NULL && i < r->machine->core_count; i++) {
        const machine_core *core = &r->machine->cores[i];
        if (index < core->pipe_count) return core->pipes[index];
        index -= core->pipe_count;
    }
    return NULL;
}

const char *report_pipe_colour(const report *r, const char *pipe)
{
    const uint32_t row = row_of(r, pipe);
    const char *known;
    for (uint32_t i = 0; (known = machine_pipe(r, i)) != NULL && strcmp(known, pipe) != 0; i++)
        if (row_of(r, known) == row) return units[row].further;
    return units[row].colour;
}

/* Units in the order of their rows, pipes of one unit in that of the machine, then others. */
static uint32_t rank(const report *r, const char *pipe)
{
    uint32_t i = 0;
    if (*pipe == '\0') return UINT32_MAX; /* none at all: last */
    for (const char *known; (known = machine_pipe(r, i)) != NULL && strcmp(known, pipe) != 0;) i++;
    return row_of(r, pipe) << 16 | (i < 0xffff ? i : 0xffff);
}

uint32_t report_add_pipe(const report *r, const char **pipes, uint32_t count, uint32_t capacity, const char *pipe)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(pipes[i], pipe) == 0) return count;
    if (count == capacity) return count;
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
    const shown_unit *u = &units[row_of(r, pipe)];
    if (u->unit == PTO_UNIT_SCALAR || u->unit == PTO_UNIT_VECTOR || u->unit == PTO_UNIT_MATRIX) return u->doc;
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; r->machine != NULL && i < r->machine->path_count; i++) {
        const machine_path *p = &r->machine->paths[i];
        if (strcmp(p->pipe, pipe) != 0 || strcmp(p->core, core) != 0) continue;
        text_printf(&t, "%s%s \xe2\x86\x92 %s", t.n ? ", " : "", p->from, p->to);
    }
    return text_keep(&t, r->arena);
}

const char *report_cause_colour(const char *cause)
{
    const pto_counter_row *row = pto_counter_row_at(counter_of_cause(str_from(cause)));
    return row != NULL ? row->colour : "#c5c9b4";
}
