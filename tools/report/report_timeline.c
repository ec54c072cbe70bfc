/* The timeline of one core: all of it small, and a few iterations of its steady state large. */
#include "tools/report/report_pictures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 3, SLICES_DRAWN = 4000 };
/* Pixels. */
static const double width_px = 1100, left_px = 66, right_px = 16, strip_top_px = 44, strip_lane_px = 7, lane_px = 34;

typedef struct timeline {
    const report *r;
    const trace_kernel *k;
    svg *v;
    uint32_t lanes[TRACE_PIPES_MAX], lane_of[TRACE_PIPES_MAX], lane_count;
    int64_t first, last; /* of all slices */
    int64_t from, to;    /* of the window */
    uint32_t *number;    /* of each slice among the executions of its op */
    double top;          /* of the large lanes */
    size_t narrow;       /* slices of the window that are not drawn: they are shorter than `least`, or too many */
    double least;        /* cycles */
} timeline;

static bool is_busy(const trace_slice *s) { return s->cause == TRACE_NONE; }

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void number_slices(timeline *t)
{
    uint32_t *seen = arena_array(t->r->arena, t->r->op_limit, sizeof *seen);
    t->number = arena_array(t->r->arena, t->k->slice_count, sizeof *t->number);
    t->first = INT64_MAX;
    for (size_t i = 0; i < t->k->slice_count; i++) {
        const trace_slice *s = &t->k->slices[i];
        if (s->from < t->first) t->first = s->from;
        if (s->to > t->last) t->last = s->to;
        if (is_busy(s)) t->number[i] = seen[s->op]++;
    }
}

/* The op that runs most often, the first in the text among equals: one execution of it is an iteration. */
static op_id pace_maker(const timeline *t, uint32_t *out_count)
{
    uint32_t *count = arena_array(t->r->arena, t->r->op_limit, sizeof *count);
    op_id best = 0;
    for (size_t i = 0; i < t->k->slice_count; i++)
        if (is_busy(&t->k->slices[i])) count[t->k->slices[i].op]++;
    for (op_id o = 1; o < t->r->op_limit; o++) {
        if (count[o] == 0) continue;
        if (best == 0 || count[o] > count[best] ||
            (count[o] == count[best] && report_line_of(t->r, o) < report_line_of(t->r, best)))
            best = o;
    }
    *out_count = best ? count[best] : 0;
    return best;
}

/* A few iterations that take as long as most, near the middle; everything when there are too few. */
static void choose_window(timeline *t)
{
    uint32_t count;
    const op_id pace = pace_maker(t, &count);
    t->from = t->first;
    t->to = t->last;
    if (count < 2 * ITERATIONS) return;
    int64_t *starts = arena_array(t->r->arena, count, sizeof *starts);
    uint32_t n = 0;
    for (size_t i = 0; i < t->k->slice_count; i++)
        if (is_busy(&t->k->slices[i]) && t->k->slices[i].op == pace) starts[n++] = t->k->slices[i].from;
    qsort(starts, n, sizeof *starts, by_number);
    const uint32_t lo = n / 5, hi = n - n / 5 > ITERATIONS + lo ? n - n / 5 - ITERATIONS : lo + 1;
    int64_t *periods = arena_array(t->r->arena, hi - lo, sizeof *periods);
    for (uint32_t i = lo; i < hi; i++) periods[i - lo] = starts[i + ITERATIONS] - starts[i];
    qsort(periods, hi - lo, sizeof *periods, by_number);
    const int64_t usual = periods[(hi - lo) / 2];
    uint32_t best = lo;
    for (uint32_t i = lo; i < hi; i++) {
        const uint32_t away = i > n / 2 ? i - n / 2 : n / 2 - i;
        const uint32_t best_away = best > n / 2 ? best - n / 2 : n / 2 - best;
        const bool is_usual = starts[i + ITERATIONS] - starts[i] == usual;
        const bool best_is_usual = starts[best + ITERATIONS] - starts[best] == usual;
        if (is_usual && (!best_is_usual || away < best_away)) best = i;
    }
    if (usual <= 0) return;
    t->from = starts[best];
    t->to = starts[best + ITERATIONS];
}

static void find_lanes(timeline *t)
{
    uint32_t order[TRACE_PIPES_MAX];
    const uint32_t count = report_pipe_order(t->r, order);
    for (uint32_t i = 0; i < count; i++) {
        const trace_sum *s = &t->k->pipes[order[i]];
        if (s->executions == 0 && trace_sum_stalled(s) == 0) continue;
        t->lane_of[order[i]] = t->lane_count;
        t->lanes[t->lane_count++] = order[i];
    }
}

static double x_of(int64_t at, int64_t from, int64_t to)
{
    if (at < from) at = from;
    if (at > to) at = to;
    return left_px + (double)(at - from) / (double)(to > from ? to - from : 1) * (width_px - left_px - right_px);
}

static void draw_stretch(const timeline *t, uint32_t lane, double from, double to)
{
    if (to > from)
        svg_rect(t->v, from, strip_top_px + lane * strip_lane_px, to - from > 0.4 ? to - from : 0.4, strip_lane_px - 2,
                 0, report_pipe_colour(t->r, t->r->trace->pipes[t->lanes[lane]]), "");
}

/* Slices that touch in the picture are drawn as one. */
static void draw_strip(timeline *t)
{
    for (uint32_t lane = 0; lane < t->lane_count; lane++) {
        double begin = 0, end = 0;
        for (size_t i = 0; i < t->k->slice_count; i++) {
            const trace_slice *s = &t->k->slices[i];
            if (!is_busy(s) || s->pipe != t->lanes[lane]) continue;
            const double x = x_of(s->from, t->first, t->last);
            if (x > end + 0.5) {
                draw_stretch(t, lane, begin, end);
                begin = x;
            }
            end = x_of(s->to, t->first, t->last);
        }
        draw_stretch(t, lane, begin, end);
        text_putc(t->v->out, '\n');
    }
    const double x1 = x_of(t->from, t->first, t->last), x2 = x_of(t->to, t->first, t->last);
    const double bottom = strip_top_px + (double)t->lane_count * strip_lane_px;
    svg_label(t->v, left_px - 8, strip_top_px + (bottom - strip_top_px) / 2 + 3, SVG_END, SVG_SMALL, "#5b6570", "all");
    svg_rect(t->v, x1, strip_top_px - 3, x2 - x1 > 2 ? x2 - x1 : 2, bottom - strip_top_px + 3, 2, "none",
             "stroke=\"#30363d\" stroke-width=\"1.5\"");
    svg_line(t->v, x1, bottom, left_px, t->top - 6, "#b9c1ca", 1, "");
    svg_line(t->v, x2 > x1 + 2 ? x2 : x1 + 2, bottom, width_px - right_px, t->top - 6, "#b9c1ca", 1, "");
}

static void put_hint(const timeline *t, size_t index, text_buffer *hint)
{
    const trace_slice *s = &t->k->slices[index];
    const str text = report_line_text(t->r, s->op);
    hint->n = 0;
    if (!is_busy(s)) text_printf(hint, "%s waits (%s): ", t->r->trace->pipes[s->pipe], t->r->trace->causes[s->cause]);
    text_put(hint, text.p, text.n);
    text_printf(hint, "\ncycles %lld to %lld: %lld", (long long)s->from, (long long)s->to,
                (long long)(s->to - s->from));
    if (s->bytes > 0)
        text_printf(hint, "\n%lld bytes, %.1f a cycle", (long long)s->bytes,
                    (double)s->bytes / (double)(s->to > s->from ? s->to - s->from : 1));
    if (is_busy(s)) text_printf(hint, "\nexecution %u on this core", t->number[index] + 1);
}

static str short_name(const report *r, op_id o)
{
    const char *name = op_info_of(r->m, o)->name, *dot = strchr(name, '.');
    return str_from(dot != NULL ? dot + 1 : name);
}

/* Of an instruction that has begun: the first byte on its way, or others in the way. */
static bool is_transfer_part(const timeline *t, const trace_slice *s)
{
    const pto_counter_row *row = pto_counter_row_at(counter_of_cause(str_from(t->r->trace->causes[s->cause])));
    return row != NULL && row->scope == PTO_SCOPE_TRANSFERS;
}

static void draw_slice(timeline *t, size_t index, text_buffer *hint)
{
    const trace_slice *s = &t->k->slices[index];
    const double x = x_of(s->from, t->from, t->to), end = x_of(s->to, t->from, t->to);
    const double y = t->top + (double)t->lane_of[s->pipe] * lane_px, width = end - x > 0.5 ? end - x : 0.5;
    const uint32_t line = report_line_of(t->r, s->op);
    put_hint(t, index, hint);
    svg_group_begin(t->v, line, (str){hint->p, hint->n});
    if (!is_busy(s) && is_transfer_part(t, s)) {
        svg_rect(t->v, x, y + 2, width, lane_px - 8, 2, report_cause_colour(t->r->trace->causes[s->cause]), "");
    } else if (!is_busy(s)) {
        svg_rect(t->v, x, y + 10, width, lane_px - 24, 0, report_cause_colour(t->r->trace->causes[s->cause]), "");
    } else {
        svg_rect(t->v, x, y + 2, width, lane_px - 8, 2, report_pipe_colour(t->r, t->r->trace->pipes[s->pipe]),
                 t->number[index] % 2 ? "fill-opacity=\"0.72\"" : "stroke=\"#fff\" stroke-width=\"0.5\"");
        text_buffer label;
        text_init(&label);
        const str name = short_name(t->r, s->op);
        text_printf(&label, "%.*s %u", (int)name.n, name.p, t->number[index] + 1);
        const bool fits = svg_width(SVG_CODE, (str){label.p, label.n}) + 4 < width;
        if (width > 30)
            svg_text(t->v, x + 4, y + 19, SVG_START, SVG_CODE, "#fff", width - 4,
                     fits ? (str){label.p, label.n} : name);
        text_fini(&label);
    }
    svg_group_end(t->v, line);
}

static bool is_in_window(const timeline *t, const trace_slice *s) { return s->to > t->from && s->from < t->to; }

/* Too many for the picture: what is narrower than half a pixel is not seen anyway. */
static void leave_narrow_out(timeline *t)
{
    size_t shown = 0, wide = 0;
    const double pixel = (double)(t->to - t->from) / (width_px - left_px - right_px);
    for (size_t i = 0; i < t->k->slice_count; i++) {
        const trace_slice *s = &t->k->slices[i];
        if (!is_in_window(t, s)) continue;
        shown++;
        wide += (double)(s->to - s->from) >= pixel / 2;
    }
    if (shown <= SLICES_DRAWN) return;
    t->least = pixel / 2;
    t->narrow = shown - (wide < SLICES_DRAWN ? wide : SLICES_DRAWN);
}

static void draw_window(timeline *t)
{
    size_t drawn = 0;
    text_buffer hint;
    text_init(&hint);
    for (uint32_t i = 0; i < t->lane_count; i++) {
        const double y = t->top + (double)i * lane_px;
        const char *pipe = t->r->trace->pipes[t->lanes[i]];
        svg_rect(t->v, left_px, y, width_px - left_px - right_px, lane_px - 4, 2, "#f4f6f8", "");
        svg_label(t->v, left_px - 8, y + 19, SVG_END, SVG_CODE, report_pipe_colour(t->r, pipe), pipe);
    }
    for (size_t i = 0; i < t->k->slice_count && drawn < SLICES_DRAWN; i++) {
        const trace_slice *s = &t->k->slices[i];
        if (!is_in_window(t, s) || (double)(s->to - s->from) < t->least) continue;
        draw_slice(t, i, &hint);
        drawn++;
    }
    text_fini(&hint);
}

static void draw_legend(timeline *t, double y)
{
    double x = left_px;
    for (uint32_t c = 0; c < t->r->trace->cause_count; c++) {
        int64_t all = 0;
        for (uint32_t p = 0; p < TRACE_PIPES_MAX; p++) all += t->k->pipes[p].stalls[c];
        if (all == 0) continue;
        char text[96];
        snprintf(text, sizeof text, "waits: %.64s", t->r->trace->causes[c]);
        svg_rect(t->v, x, y - 9, 14, 10, 1, report_cause_colour(t->r->trace->causes[c]), "");
        svg_label(t->v, x + 20, y, SVG_START, SVG_SMALL, "#5b6570", text);
        x += 40 + svg_width(SVG_SMALL, str_from(text));
    }
}

/* The file of the backend that has what the picture lacks; NULL without one. */
static const char *trace_file(const report *r)
{
    for (uint32_t i = 0; i < r->result->file_count; i++)
        if (strcmp(r->result->files[i], PTO_PROFILE_SWIMLANE) == 0) return r->result->files[i];
    return NULL;
}

/* Empty: all slices of the core are there. */
static void say_left_out(const timeline *t, char *text, size_t size)
{
    const char *file = trace_file(t->r);
    const bool is_whole = report_counter(t->r, PTO_COUNTER_SLICES_LEFT_OUT, 0) <= 0;
    const uint64_t later = t->k->slices_left_out, all = t->k->slice_count + later;
    text[0] = '\0';
    if (later + t->narrow == 0) return;
    int n = 0;
    if (later > 0)
        n += snprintf(text, size, "left out: the last %" PRIu64 " of %" PRIu64 " slices of this kernel here", later,
                      all);
    if (t->narrow > 0)
        n += snprintf(text + n, size - (size_t)n, "%s%zu of this stretch, too narrow or too many",
                      later > 0 ? ", and " : "left out: slices, ", t->narrow);
    if (file != NULL) snprintf(text + n, size - (size_t)n, "; %.60s has %s", file, is_whole ? "all" : "more");
}

void report_draw_timeline(const report *r, const report_kernel *k, svg *v)
{
    const arena_mark mark = arena_here(r->arena);
    timeline t = {.r = r, .k = k->trace, .v = v};
    number_slices(&t);
    choose_window(&t);
    find_lanes(&t);
    t.top = strip_top_px + (double)t.lane_count * strip_lane_px + 26;
    const double bottom = t.top + (double)t.lane_count * lane_px;
    char title[256];
    const bool is_part = t.from > t.first || t.to < t.last;
    char left_out[256];
    leave_narrow_out(&t);
    say_left_out(&t, left_out, sizeof left_out);
    snprintf(title, sizeof title, "@%.100s on %.60s, cycles %lld to %lld%s", k->name, r->trace->cores[k->trace->core],
             (long long)t.from, (long long)t.to, is_part ? ": three iterations of its steady state" : "");
    svg_begin(v, width_px, bottom + (left_out[0] ? 72 : 54), str_from(title));
    svg_label(v, 16, 24, SVG_START, SVG_TITLE, "#1f2933", title);
    svg_scale(v, left_px, bottom + 2, width_px - left_px - right_px, bottom - t.top + 2, (double)t.from, (double)t.to,
              "cycles");
    if (is_part) draw_strip(&t);
    draw_window(&t);
    draw_legend(&t, bottom + 44);
    if (left_out[0]) svg_label(v, left_px, bottom + 64, SVG_START, SVG_PLAIN, "#9b3d3d", left_out);
    svg_end(v);
    arena_rewind(r->arena, mark);
}
