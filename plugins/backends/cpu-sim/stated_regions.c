/* What an instruction touches of global memory against what its kernel states. Launches are ordered by that. */
#include "cpu-sim/sim.h"

#include <inttypes.h>

/* Boxes of one parameter, for the instance that runs. */
typedef struct box_list {
    const region_box *items;
    uint32_t count;
    bool is_stated, is_whole; /* there is a region; all of the array is stated */
} box_list;

static pto_status find_boxes(sim *s, const sim_core *c, const program_step *step, bool is_write, box_list *out)
{
    const program *p = c->launch->kernel->p;
    const uint32_t count = is_write ? p->write_count : p->read_count;
    const program_region *regions = is_write ? p->writes : p->reads;
    if (s->box_capacity < count) {
        s->boxes = PTO_SCRATCH(s->run, region_box, count);
        s->box_capacity = count;
    }
    *out = (box_list){.items = s->boxes};
    for (uint32_t i = 0; i < count && !out->is_whole; i++) {
        const program_region *r = &regions[i];
        if (r->parameter != step->gm_parameter) continue;
        out->is_stated = true;
        out->is_whole = !r->has_box;
        if (out->is_whole) break;
        region_box *b = &s->boxes[out->count++];
        PTO_TRY(program_region_box(p, r, c->launch->symbols, c->grid, b->from, b->to));
        for (uint32_t d = 0; d < r->rank; d++) b->to[d] += b->from[d];
    }
    return PTO_OK;
}

/* A view has other dims than its parameter, which the boxes are of. */
static bool is_view(const sim_core *c, const program_step *step)
{
    const program_array *a = &c->launch->arguments[step->gm_parameter].array;
    if (a->rank != step->gm.rank) return true;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->dims[d] != step->gm.dims[d]) return true;
    return false;
}

/* Whether the box has the place in all dims but the last. */
static bool has_row(const region_box *b, uint32_t rank, const int64_t *at)
{
    for (uint32_t d = 0; d + 1 < rank; d++)
        if (at[d] < b->from[d] || at[d] >= b->to[d]) return false;
    return true;
}

/* The first element of a row of the window that no box has, `at` being its start; false: all are in one. */
static bool find_outside_row(const box_list *l, uint32_t rank, int64_t *at, int64_t end)
{
    const uint32_t last = rank - 1;
    for (bool goes_on = true; goes_on && at[last] < end;) {
        goes_on = false;
        for (uint32_t i = 0; i < l->count; i++) {
            const region_box *b = &l->items[i];
            if (!has_row(b, rank, at) || at[last] < b->from[last] || at[last] >= b->to[last]) continue;
            at[last] = b->to[last];
            goes_on = true;
        }
    }
    return at[last] < end;
}

/* The first element of the window that no box has. */
static bool find_outside(const box_list *l, const gm_window *w, int64_t *at)
{
    const int64_t down = w->transpose ? w->cols : w->rows, along = w->transpose ? w->rows : w->cols;
    if (w->rank == 0) return false;
    for (int64_t r = 0; along > 0 && r < down; r++) {
        memcpy(at, w->offsets, w->rank * sizeof *at);
        if (w->rank >= 2) at[w->rank - 2] += r;
        if (find_outside_row(l, w->rank, at, w->offsets[w->rank - 1] + along)) return true;
    }
    return false;
}

static pto_status undeclared(const sim_core *c, const program_step *step, bool is_write, const int64_t *at)
{
    const program *p = c->launch->kernel->p;
    char element[32 * PTO_MAX_DIMS] = "";
    int used = 0;
    for (uint32_t d = 0; at != NULL && d < step->gm.rank; d++)
        used +=
            snprintf(element + used, sizeof element - (size_t)used, "%s%" PRId64, d == 0 ? "element [" : ", ", at[d]);
    return pto_error(step->site->op, "pto.cpu-sim/undeclared",
                     "`%.*s` %s %s%s%%%.*s, which @%s does not state in its `%s`; launches would not be ordered by it "
                     "(instance %" PRId64 " of %" PRId64 ")",
                     PTO_FMT(step->site->op_name), is_write ? "writes" : "reads", element, at != NULL ? "] of " : "",
                     PTO_FMT(p->parameters[step->gm_parameter].name), p->name, is_write ? "writes" : "reads",
                     c->instance, c->launch->instances);
}

pto_status check_stated(sim *s, const sim_core *c, const program_step *step, bool is_write)
{
    const program *p = c->launch->kernel->p;
    box_list boxes;
    int64_t at[PTO_MAX_DIMS];
    if (!(is_write ? p->has_writes : p->has_reads) || step->gm_parameter == UINT32_MAX) return PTO_OK;
    PTO_TRY(find_boxes(s, c, step, is_write, &boxes));
    if (!boxes.is_stated) return undeclared(c, step, is_write, NULL);
    if (boxes.is_whole || is_view(c, step) || !find_outside(&boxes, &step->gm, at)) return PTO_OK;
    return undeclared(c, step, is_write, at);
}
