/* Memory maps: addresses to the right, the program downwards; and the same as a table. */
#include "tools/report/report_pictures.h"

#include <inttypes.h>
#include <stdio.h>

/* Pixels. */
static const double width_px = 1100, left_px = 66, right_px = 20, head_px = 54, panel_gap_px = 62, panel_min_px = 96,
                    panel_max_px = 220, row_px = 6;

bool report_is_placed(const report_kernel *k)
{
    for (uint32_t i = 0; i < k->memory_count; i++)
        for (uint32_t b = 0; b < k->memories[i].count; b++)
            if (k->memories[i].buffers[b].address >= 0) return true;
    return false;
}

static double panel_height(const report_kernel *k)
{
    const double wanted = (double)k->row_count * row_px;
    return wanted < panel_min_px ? panel_min_px : wanted > panel_max_px ? panel_max_px : wanted;
}

static int64_t end_of(const report_memory *x) { return x->limit > x->used ? x->limit : x->used; }

typedef struct panel {
    const report *r;
    const report_kernel *k;
    const report_memory *x;
    svg *v;
    double top, height;
} panel;

static double x_of(const panel *p, int64_t byte)
{
    const int64_t end = end_of(p->x);
    return left_px + (double)byte / (double)(end > 0 ? end : 1) * (width_px - left_px - right_px);
}

static void draw_buffer(const panel *p, const report_buffer *b, uint32_t number)
{
    if (b->address < 0) return;
    const uint32_t rows = p->k->row_count ? p->k->row_count : 1, line = report_line_of(p->r, b->op);
    const uint32_t first = b->first == UINT32_MAX ? 0 : b->first, last = b->first == UINT32_MAX ? rows - 1 : b->last;
    const double x = x_of(p, b->address), right = x_of(p, b->address + b->bytes);
    const double width = right - x < 1.5 ? 1.5 : right - x;
    const double y = p->top + (double)first / rows * p->height, bottom = p->top + (double)(last + 1) / rows * p->height;
    text_buffer hint;
    text_init(&hint);
    text_printf(&hint, "%s: bytes %" PRId64 " to %" PRId64 " of %s\n%" PRId64 " stage%s of %" PRId64 " bytes", b->name,
                b->address, b->address + b->bytes, p->x->space, b->stages, b->stages == 1 ? "" : "s",
                b->bytes_per_stage);
    if (b->first != UINT32_MAX)
        text_printf(&hint, "\nused from line %u to line %u", report_line_of(p->r, p->k->rows[first].op),
                    report_line_of(p->r, p->k->rows[last].op));
    else
        text_puts(&hint, "\nnever used");
    svg_group_begin(p->v, line, (str){hint.p, hint.n});
    svg_rect(p->v, x, y, width, bottom - y, 2, markup_nth_colour(number), "fill-opacity=\"0.85\" stroke=\"#fff\"");
    for (int64_t s = 1; s < b->stages && s < 16; s++) {
        const double at = x_of(p, b->address + s * b->bytes_per_stage);
        svg_line(p->v, at, y, at, bottom, "#fff", 1, "stroke-dasharray=\"3 4\" stroke-opacity=\"0.7\"");
    }
    char bytes[32];
    const double middle = (y + bottom) / 2;
    const bool has_two = bottom - y > 30;
    if (width > 26)
        svg_text(p->v, x + width / 2, middle + (has_two ? -2 : 4), SVG_MIDDLE, SVG_CODE, "#fff", width - 6,
                 str_from(b->name));
    hint.n = 0;
    text_puts(&hint, markup_bytes((double)b->bytes_per_stage, bytes));
    if (b->stages > 1) text_printf(&hint, " \xc3\x97 %lld", (long long)b->stages);
    if (width > 44 && has_two)
        svg_text(p->v, x + width / 2, middle + 12, SVG_MIDDLE, SVG_SMALL, "#fff", width - 6, (str){hint.p, hint.n});
    text_fini(&hint);
    svg_group_end(p->v, line);
}

static void draw_limits(const panel *p)
{
    const report_memory *x = p->x;
    if (x->limit <= 0) return;
    if (x->reserved > 0) {
        const double left = x_of(p, x->limit - x->reserved), right = x_of(p, x->limit);
        svg_group_begin(p->v, 0, STR("reserved by the machine"));
        svg_rect(p->v, left, p->top, right - left, p->height, 0, "#aab2bb", "fill-opacity=\"0.55\"");
        svg_group_end(p->v, 0);
        if (right - left > 56)
            svg_label(p->v, (left + right) / 2, p->top + p->height / 2, SVG_MIDDLE, SVG_SMALL, "#30363d", "reserved");
    }
    const int64_t usable = x->limit - x->reserved;
    const double from = x_of(p, x->used), to = x_of(p, usable);
    if (usable > x->used && to - from > 60)
        svg_label(p->v, (from + to) / 2, p->top + p->height / 2 + 4, SVG_MIDDLE, SVG_PLAIN, "#87919c", "free");
    svg_line(p->v, x_of(p, usable), p->top - 4, x_of(p, usable), p->top + p->height + 4, "#c0392b", 1.5, "");
}

static void draw_panel(const panel *p)
{
    const report_memory *x = p->x;
    char used[32], limit[32], percent[32], text[256];
    const int64_t usable = x->limit - x->reserved;
    int n = snprintf(text, sizeof text, "%.40s: %s bytes used", x->space, markup_thousands((double)x->used, used));
    if (usable > 0 && n > 0)
        snprintf(text + n, sizeof text - (size_t)n, " of %s for tiles (%s)%s", markup_thousands((double)usable, limit),
                 markup_percent((double)x->used, (double)usable, percent), x->reserved > 0 ? ", rest reserved" : "");
    svg_label(p->v, left_px, p->top - 10, SVG_START, SVG_PLAIN, "#1f2933", text);
    svg_rect(p->v, left_px, p->top, width_px - left_px - right_px, p->height, 0, "#f4f6f8", "");
    svg_scale(p->v, left_px, p->top + p->height, width_px - left_px - right_px, p->height, 0, (double)end_of(x),
              "byte address");
    svg_label(p->v, left_px - 8, p->top + 10, SVG_END, SVG_SMALL, "#5b6570", "first");
    svg_label(p->v, left_px - 8, p->top + p->height / 2 + 3, SVG_END, SVG_SMALL, "#5b6570", "program \xe2\x86\x93");
    svg_label(p->v, left_px - 8, p->top + p->height, SVG_END, SVG_SMALL, "#5b6570", "last");
    for (uint32_t i = 0; i < x->count; i++) draw_buffer(p, &x->buffers[i], i);
    draw_limits(p);
    text_putc(p->v->out, '\n');
}

void report_draw_memory(const report *r, const report_kernel *k, svg *v)
{
    const double height = panel_height(k);
    char title[160];
    snprintf(title, sizeof title, "On-chip memory of @%.100s: where buffers lie, and when", k->name);
    svg_begin(v, width_px, head_px + (double)k->memory_count * (height + panel_gap_px) - 10, str_from(title));
    svg_label(v, 16, 24, SVG_START, SVG_TITLE, "#1f2933", title);
    for (uint32_t i = 0; i < k->memory_count; i++) {
        const panel p = {r, k, &k->memories[i], v, head_px + 10 + (double)i * (height + panel_gap_px), height};
        draw_panel(&p);
    }
    svg_end(v);
}

/* ---- the table ---- */

static void put_row(text_buffer *out, const report_kernel *k, const report_memory *x, const char *what, int64_t from,
                    int64_t bytes)
{
    text_printf(out, "%s,%s,%s,,%lld,%lld,,,,\n", k->name, x->space, what, (long long)from, (long long)bytes);
}

static void put_memory(const report *r, const report_kernel *k, const report_memory *x, text_buffer *out)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const report_buffer *b = &x->buffers[i];
        text_printf(out, "%s,%s,buffer,%s,", k->name, x->space, b->name);
        if (b->address >= 0) text_printf(out, "%lld", (long long)b->address);
        text_printf(out, ",%lld,%lld,%lld,", (long long)b->bytes, (long long)b->bytes_per_stage, (long long)b->stages);
        if (b->first != UINT32_MAX)
            text_printf(out, "%u,%u", report_line_of(r, k->rows[b->first].op), report_line_of(r, k->rows[b->last].op));
        else
            text_putc(out, ',');
        text_putc(out, '\n');
    }
    put_row(out, k, x, "used", 0, x->used);
    if (x->limit <= 0) return;
    put_row(out, k, x, "free", x->used, x->limit - x->reserved - x->used);
    put_row(out, k, x, "reserved", x->limit - x->reserved, x->reserved);
    put_row(out, k, x, "limit", 0, x->limit);
}

void report_write_memory_csv(const report *r, text_buffer *out)
{
    text_puts(out, "kernel,space,what,name,address,bytes,bytes per stage,stages,first line,last line\n");
    for (uint32_t i = 0; i < r->kernel_count; i++)
        for (uint32_t x = 0; x < r->kernels[i].memory_count; x++)
            put_memory(r, &r->kernels[i], &r->kernels[i].memories[x], out);
}
