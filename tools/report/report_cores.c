/* Instances of kernels over the cores of the chip and time: whether all cores work, and for how long none does. */
#include "tools/report/report_pictures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { INSTANCES_DRAWN = 6000 };
/* Pixels. */
static const double width_px = 1100, left_px = 90, right_px = 16, top_px = 64;

typedef struct core_rows {
    const report *r;
    uint32_t *row;  /* of each core of the trace */
    uint32_t *core; /* of each row */
    uint32_t count;
} core_rows;

static int compare_names(const void *a, const void *b)
{
    return strcmp(**(const char **const *)a, **(const char **const *)b);
}

/* Cores in the order of their names, since instances come in the order of time. */
static core_rows order_cores(const report *r)
{
    const run_trace *t = r->trace;
    core_rows rows = {.r = r,
                      .row = arena_array(r->arena, t->core_count, sizeof *rows.row),
                      .core = arena_array(r->arena, t->core_count, sizeof *rows.core)};
    rows.count = (uint32_t)t->core_count;
    const char ***by_name = arena_array(r->arena, t->core_count, sizeof *by_name);
    for (uint32_t i = 0; i < rows.count; i++) by_name[i] = &t->cores[i];
    qsort((void *)by_name, rows.count, sizeof *by_name, compare_names);
    for (uint32_t i = 0; i < rows.count; i++) rows.core[i] = (uint32_t)(by_name[i] - t->cores);
    for (uint32_t i = 0; i < rows.count; i++) rows.row[rows.core[i]] = i;
    return rows;
}

static double x_of(const report *r, double cycle)
{
    return left_px + cycle / (r->cycles > 0 ? r->cycles : 1) * (width_px - left_px - right_px);
}

static void draw_instance(const report *r, svg *v, const trace_instance *i, double y, double height)
{
    const trace_kernel *k = &r->trace->kernels[i->kernel];
    const str name = string_of(module_context(r->m), function_name(r->m, k->op));
    const uint32_t line = report_line_of(r, k->op);
    char hint[256];
    snprintf(hint, sizeof hint, "@%.*s, instance %lld on %s\ncycles %lld to %lld: %lld",
             (int)(name.n < 100 ? name.n : 100), name.p, (long long)i->number, r->trace->cores[i->core],
             (long long)i->from, (long long)i->to, (long long)(i->to - i->from));
    const double x = x_of(r, (double)i->from), width = x_of(r, (double)i->to) - x;
    svg_group_begin(v, line, str_from(hint));
    svg_rect(v, x, y, width > 0.6 ? width : 0.6, height, 0, markup_nth_colour(i->kernel), "");
    svg_group_end(v, line);
}

static void draw_legend(const report *r, svg *v)
{
    double x = left_px;
    for (uint32_t i = 0; i < r->trace->kernel_count && x < width_px - 160; i++) {
        const str name = string_of(module_context(r->m), function_name(r->m, r->trace->kernels[i].op));
        svg_rect(v, x, 39, 12, 10, 1, markup_nth_colour(i), "");
        svg_text(v, x + 17, 48, SVG_START, SVG_CODE, "#1f2933", 150, name);
        x += 17 + svg_width(SVG_CODE, name) + 22;
    }
}

void report_draw_cores(const report *r, svg *v)
{
    const core_rows rows = order_cores(r);
    const double lane = rows.count > 96 ? 4 : rows.count > 40 ? 7 : rows.count > 16 ? 10 : 18;
    const double bottom = top_px + lane * rows.count;
    svg_begin(v, width_px, bottom + 40, STR("Instances of kernels on the cores"));
    svg_label(v, 16, 24, SVG_START, SVG_TITLE, "#1f2933", "Which core runs what, and when");
    svg_scale(v, left_px, bottom + 2, width_px - left_px - right_px, bottom - top_px + 4, 0, r->cycles, "cycles");
    draw_legend(r, v);
    const uint32_t every = lane >= 10 ? 1 : lane >= 7 ? 4 : 8;
    for (uint32_t i = 0; i < rows.count; i++) {
        const double y = top_px + lane * i;
        svg_rect(v, left_px, y, width_px - left_px - right_px, lane - 1, 0, "#f4f6f8", "");
        if (i % every == 0)
            svg_label(v, left_px - 8, y + lane / 2 + 3.5, SVG_END, SVG_SMALL, "#5b6570", r->trace->cores[rows.core[i]]);
    }
    text_putc(v->out, '\n');
    const size_t drawn = r->trace->instance_count < INSTANCES_DRAWN ? r->trace->instance_count : INSTANCES_DRAWN;
    for (size_t i = 0; i < drawn; i++) {
        const trace_instance *x = &r->trace->instances[i];
        draw_instance(r, v, x, top_px + lane * rows.row[x->core], lane - 1);
    }
    if (drawn < r->trace->instance_count || r->trace->instances_left_out) {
        char text[96];
        const uint64_t all = r->trace->instance_count + r->trace->instances_left_out;
        snprintf(text, sizeof text, "the first %zu of %" PRIu64 " instances", drawn, all);
        svg_label(v, left_px, bottom + 30, SVG_START, SVG_SMALL, "#5b6570", text);
    }
    svg_end(v);
}
