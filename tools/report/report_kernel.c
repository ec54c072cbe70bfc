/* A kernel as a chart: pipes from left to right, the program downwards, loops around it, flags as arrows. */
#include "tools/report/report_pictures.h"

#include <stdio.h>

enum { ROWS_MAX = 400 };
/* Pixels. */
static const double head_px = 84, row_tall_px = 26, row_flag_px = 13, row_head_px = 22, indent_px = 16, lines_px = 44,
                    notes_px = 172;

typedef struct chart {
    const report *r;
    const report_kernel *k;
    svg *v;
    const char *pipes[TRACE_PIPES_MAX];
    uint32_t pipe_count, row_count, depth;
    double left, column, width;
    double *y;    /* top of each row, and the end */
    int64_t most; /* cycles of the longest row */
} chart;

static double row_height(const report_row *row)
{
    if (row->kind == ROW_SET || row->kind == ROW_WAIT) return row_flag_px;
    return row->kind == ROW_INSN ? row_tall_px : row_head_px;
}

/* A row without a pipe is in the last column; loops have none and need none. */
static void find_pipes(chart *c)
{
    for (uint32_t i = 0; i < c->k->row_count; i++) {
        const report_row *row = &c->k->rows[i];
        const char *names[] = {row->pipe, row->dst};
        for (uint32_t n = 0; n < 2; n++)
            if (*names[n]) c->pipe_count = report_add_pipe(c->r, c->pipes, c->pipe_count, TRACE_PIPES_MAX, names[n]);
        if (i < c->row_count && !*row->pipe && (row->kind == ROW_INSN || row->kind == ROW_OTHER))
            c->pipe_count = report_add_pipe(c->r, c->pipes, c->pipe_count, TRACE_PIPES_MAX, "");
    }
}

static void measure(chart *c)
{
    c->row_count = c->k->row_count < ROWS_MAX ? c->k->row_count : ROWS_MAX;
    find_pipes(c);
    c->y = arena_array(c->r->arena, c->row_count + 1u, sizeof *c->y);
    c->y[0] = head_px;
    for (uint32_t i = 0; i < c->row_count; i++) {
        const report_row *row = &c->k->rows[i];
        c->y[i + 1] = c->y[i] + row_height(row);
        if (row->depth > c->depth) c->depth = row->depth;
        if (row->cost != NULL && row->cost->busy > c->most) c->most = row->cost->busy;
    }
    c->left = lines_px + indent_px * (double)(c->depth + 1);
    c->width = c->pipe_count <= 2 ? 900 : 1100;
    c->column = (c->width - c->left - notes_px) / (c->pipe_count ? c->pipe_count : 1);
}

static uint32_t column_of(const chart *c, const char *pipe)
{
    for (uint32_t i = 0; i < c->pipe_count; i++)
        if (strcmp(c->pipes[i], pipe) == 0) return i;
    return c->pipe_count ? c->pipe_count - 1 : 0;
}

static double column_x(const chart *c, uint32_t column) { return c->left + c->column * column; }

static void draw_columns(const chart *c)
{
    const double bottom = c->y[c->row_count];
    for (uint32_t i = 0; i < c->pipe_count; i++) {
        const double x = column_x(c, i);
        const char *pipe = c->pipes[i];
        svg_rect(c->v, x + 3, head_px - 6, c->column - 6, bottom - head_px + 12, 3, i % 2 ? "#f8f9fb" : "#f4f6f8", "");
        svg_label(c->v, x + c->column / 2, head_px - 26, SVG_MIDDLE, SVG_TITLE, report_pipe_colour(c->r, pipe),
                  *pipe ? pipe : "other");
        svg_text(c->v, x + c->column / 2, head_px - 11, SVG_MIDDLE, SVG_SMALL, "#5b6570", c->column - 8,
                 str_from(report_pipe_work(c->r, c->k->core, pipe)));
    }
    if (c->most > 0) {
        svg_label(c->v, c->width - notes_px + 102, head_px - 11, SVG_END, SVG_SMALL, "#1f2933", "busy cycles");
        if (c->r->trace->cause_count > 0)
            svg_label(c->v, c->width - 12, head_px - 11, SVG_END, SVG_SMALL, "#b4534a", "waits");
    }
    text_putc(c->v->out, '\n');
}

/* Loops and branches, outer ones first. */
static void draw_blocks(const chart *c)
{
    for (uint32_t i = 0; i < c->row_count; i++) {
        const report_row *row = &c->k->rows[i];
        if (row->kind != ROW_BLOCK) continue;
        const uint32_t last = row->last < c->row_count ? row->last : c->row_count - 1;
        const double x = lines_px + indent_px * (double)row->depth, bottom = c->y[last + 1] - 1;
        const bool is_loop = op_info_of(c->r->m, row->op)->traits & TRAIT_LOOP;
        const uint32_t line = report_line_of(c->r, row->op);
        svg_group_begin(c->v, line, report_line_text(c->r, row->op));
        svg_rect(c->v, x, c->y[i] + 2, c->width - notes_px - x + 4, bottom - c->y[i], 5,
                 is_loop ? "#3b6ea5" : "#7a6fa8",
                 is_loop ? "fill-opacity=\"0.025\" stroke=\"#3b6ea5\" stroke-opacity=\"0.55\""
                         : "fill-opacity=\"0.025\" stroke=\"#7a6fa8\" stroke-opacity=\"0.5\" stroke-dasharray=\"4 3\"");
        svg_text(c->v, x + 8, c->y[i] + 16, SVG_START, SVG_CODE, is_loop ? "#2c5580" : "#5d5390",
                 c->width - notes_px - x - 16, report_line_text(c->r, row->op));
        svg_group_end(c->v, line);
    }
}

static void draw_cost(const chart *c, const report_row *row, double y)
{
    if (row->cost == NULL || c->most <= 0) return;
    char text[32];
    const int64_t stalled = trace_sum_stalled(row->cost);
    const double x = c->width - notes_px + 14;
    if (row->cost->busy > 0) {
        svg_rect(c->v, x, y + 5, 30 * (double)row->cost->busy / (double)c->most, 9, 0,
                 report_pipe_colour(c->r, row->pipe), "");
        svg_label(c->v, x + 88, y + 14, SVG_END, SVG_SMALL, "#1f2933", markup_thousands((double)row->cost->busy, text));
    }
    if (stalled > 0)
        svg_label(c->v, c->width - 12, y + 14, SVG_END, SVG_SMALL, "#b4534a", markup_thousands((double)stalled, text));
}

static void put_hint(const chart *c, const report_row *row, text_buffer *hint)
{
    const str text = report_line_text(c->r, row->op);
    hint->n = 0;
    text_put(hint, text.p, text.n);
    const char *source = report_source_of(c->r, row->op);
    if (*source) text_printf(hint, "\nfrom %s", source);
    if (row->cost == NULL) return;
    if (row->cost->executions)
        text_printf(hint, "\n%llu executions, %lld cycles busy", (unsigned long long)row->cost->executions,
                    (long long)row->cost->busy);
    if (row->cost->bytes) text_printf(hint, ", %lld bytes", (long long)row->cost->bytes);
    for (uint32_t i = 0; i < c->r->trace->cause_count; i++)
        if (row->cost->stalls[i])
            text_printf(hint, "\nwaits (%s): %lld cycles", c->r->trace->causes[i], (long long)row->cost->stalls[i]);
}

/* "tload %tx, %x[..]" without the dialect. */
static str insn_text(const chart *c, op_id o)
{
    str s = report_line_text(c->r, o);
    if (s.n > 4 && memcmp(s.p, "pto.", 4) == 0) s = (str){s.p + 4, s.n - 4};
    return s;
}

static double flag_x(const chart *c, const report_row *row)
{
    return column_x(c, column_of(c, row->kind == ROW_SET ? row->pipe : row->dst)) + c->column / 2;
}

static void draw_row(const chart *c, uint32_t i, text_buffer *hint)
{
    const report_row *row = &c->k->rows[i];
    if (row->kind == ROW_BLOCK) return;
    const double y = c->y[i], x = column_x(c, column_of(c, row->pipe)) + 8, width = c->column - 16;
    const uint32_t line = report_line_of(c->r, row->op);
    put_hint(c, row, hint);
    svg_group_begin(c->v, line, (str){hint->p, hint->n});
    if (row->kind == ROW_SET || row->kind == ROW_WAIT) {
        text_printf(
            c->v->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.4\"/>",
            flag_x(c, row), y + row_flag_px / 2, row->kind == ROW_SET ? report_pipe_colour(c->r, row->pipe) : "#fff",
            report_pipe_colour(c->r, row->pipe));
        if (row->cost != NULL && trace_sum_stalled(row->cost) > 0) draw_cost(c, row, y - 4);
    } else {
        svg_rect(c->v, x, y + 2, width, row_height(row) - 4, 3,
                 row->kind == ROW_BARRIER ? "#9b3d3d" : report_pipe_colour(c->r, row->pipe), "");
        svg_text(c->v, x + 6, y + row_height(row) / 2 + 4, SVG_START, SVG_CODE, "#fff", width - 10,
                 insn_text(c, row->op));
        draw_cost(c, row, y + 3);
    }
    svg_group_end(c->v, line);
}

static bool is_match(const chart *c, const report_row *set, const report_row *wait)
{
    return set->kind == ROW_SET && strcmp(set->pipe, wait->pipe) == 0 && strcmp(set->dst, wait->dst) == 0 &&
           op_index_expr(c->r->m, set->op, "event", 0) == op_index_expr(c->r->m, wait->op, "event", 0);
}

/* The set_flag a wait_flag gets its token from: the nearest one before it in the text, or else the nearest after it,
 * which is that of the iteration before. Of the same event as written; UINT32_MAX: none. */
static uint32_t source_of(const chart *c, uint32_t wait)
{
    const report_row *w = &c->k->rows[wait];
    for (uint32_t i = wait; i-- > 0;)
        if (is_match(c, &c->k->rows[i], w)) return i;
    for (uint32_t i = wait + 1; i < c->row_count; i++)
        if (is_match(c, &c->k->rows[i], w)) return i;
    return UINT32_MAX;
}

static void draw_flags(const chart *c)
{
    for (uint32_t i = 0; i < c->row_count; i++) {
        const report_row *wait = &c->k->rows[i];
        if (wait->kind != ROW_WAIT) continue;
        const uint32_t from = source_of(c, i);
        /* Tokens put in before all loops and taken out after them are dots: their events are numbers. */
        if (from == UINT32_MAX || (wait->depth == 0 && c->k->rows[from].depth == 0)) continue;
        const double x1 = flag_x(c, &c->k->rows[from]), x2 = flag_x(c, wait), side = x2 > x1 ? 1 : -1;
        const char *colour = report_pipe_colour(c->r, wait->pipe);
        svg_group_begin(c->v, 0, report_line_text(c->r, wait->op));
        svg_arrow(c->v, x1 + side * 4, c->y[from] + row_flag_px / 2, x2 - side * 4, c->y[i] + row_flag_px / 2,
                  SVG_ACROSS, colour,
                  from > i ? "stroke-width=\"1.1\" stroke-dasharray=\"4 3\" stroke-opacity=\"0.75\""
                           : "stroke-width=\"1.6\"");
        svg_group_end(c->v, 0);
    }
}

static void draw_line_numbers(const chart *c)
{
    for (uint32_t i = 0; i < c->row_count; i++) {
        const report_row *row = &c->k->rows[i];
        if (row->kind == ROW_SET || row->kind == ROW_WAIT) continue;
        char text[16];
        snprintf(text, sizeof text, "%u", report_line_of(c->r, row->op));
        svg_label(c->v, lines_px - 12, c->y[i] + row_height(row) / 2 + 4, SVG_END, SVG_SMALL, "#87919c", text);
    }
    text_putc(c->v->out, '\n');
}

void report_draw_kernel(const report *r, const report_kernel *k, svg *v)
{
    chart c = {.r = r, .k = k, .v = v};
    measure(&c);
    char title[256];
    const double bottom = c.y[c.row_count];
    const bool is_cut = c.row_count < k->row_count;
    snprintf(title, sizeof title, "@%.100s on a %.40s core", k->name, *k->core ? k->core : "any");
    svg_begin(v, c.width, bottom + (is_cut ? 40 : 22), str_from(title));
    svg_label(v, 16, 24, SVG_START, SVG_TITLE, "#1f2933", title);
    draw_columns(&c);
    draw_blocks(&c);
    draw_line_numbers(&c);
    draw_flags(&c);
    text_buffer hint;
    text_init(&hint);
    for (uint32_t i = 0; i < c.row_count; i++) draw_row(&c, i, &hint);
    text_fini(&hint);
    if (is_cut) {
        snprintf(title, sizeof title, "%u more rows are in the text only", k->row_count - c.row_count);
        svg_label(v, lines_px, bottom + 26, SVG_START, SVG_PLAIN, "#9b3d3d", title);
    }
    svg_end(v);
}
