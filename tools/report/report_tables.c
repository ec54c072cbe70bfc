/* The tables of the page. */
#include "tools/report/report_page.h"
#include "tools/report/report_verdict.h"
#include "tools/run/run_counters.h"

#include <stdlib.h>

enum { LIMITS_MAX = 48, HOT_ROWS = 12 };

static void put_text(text_buffer *out, const char *s) { markup_text(out, str_from(s)); }

/* A number as people read it, and as it is. */
static void put_number_cell(text_buffer *out, double v)
{
    char text[32];
    if (v == 0)
        text_puts(out, "<td class=\"n z\"><data value=\"0\">0</data></td>");
    else
        text_printf(out, "<td class=\"n\"><data value=\"%.17g\">%s</data></td>", v, markup_thousands(v, text));
}

static void put_percent_cell(text_buffer *out, double part, double whole)
{
    char text[32];
    text_printf(out, "<td class=\"n\">%s</td>", markup_percent(part, whole, text));
}

static void put_chip(text_buffer *out, const char *colour, const char *text)
{
    text_printf(out, "<span class=\"chip\" style=\"background:%s\"></span>", colour);
    put_text(out, text);
}

static void put_part(text_buffer *out, double part, double whole, const char *colour, const char *what)
{
    if (!(part > 0) || !(whole > 0)) return;
    char text[32];
    text_printf(out, "<i style=\"width:%.3f%%;background:%s\" title=\"", 100 * part / whole, colour);
    put_text(out, what);
    text_printf(out, ": %s\"></i>", markup_percent(part, whole, text));
}

/* ---- units ---- */

/* The cycles of a unit or, where it stands for a kind of core, of all of them; at least what is said of it. */
static double unit_total(const report *r, const report_unit *u)
{
    const machine_core *kind = r->machine != NULL ? machine_core_by_name(r->machine, str_from(u->group)) : NULL;
    const double time = u->is_core ? r->cycles : kind != NULL ? r->cycles * (double)kind->count : 0;
    double all = u->busy;
    for (uint32_t c = 0; c < r->cause_count; c++) all += u->stalls[c];
    return all > time ? all : time;
}

static void put_unit(const report *r, const report_unit *u, text_buffer *out)
{
    const double all = unit_total(r, u);
    text_puts(out, "<tr><td>");
    put_text(out, u->group);
    text_puts(out, "</td><td>");
    put_chip(out, report_pipe_colour(r, u->pipe), u->pipe);
    text_puts(out, "</td><td class=\"m\">");
    put_text(out, report_pipe_work(r, u->group, u->pipe));
    text_puts(out, "</td>");
    put_number_cell(out, u->busy);
    if (u->has_utilisation)
        text_printf(out, "<td class=\"n\"><data value=\"%.17g\">%.2f\xc2\xa0%%</data></td>", u->utilisation,
                    u->utilisation);
    else
        text_puts(out, "<td class=\"n z\">not reported</td>");
    text_puts(out, "<td class=\"w\"><div class=\"bar\">");
    put_part(out, u->busy, all, report_pipe_colour(r, u->pipe), "busy");
    for (uint32_t c = 0; c < r->cause_count; c++)
        put_part(out, u->stalls[c], all, report_cause_colour(r->causes[c]), r->causes[c]);
    text_puts(out, "</div></td>");
    for (uint32_t c = 0; c < r->cause_count; c++) put_number_cell(out, u->stalls[c]);
    text_puts(out, "</tr>\n");
}

void report_put_units(const report *r, text_buffer *out)
{
    text_puts(out, "<div class=\"scroll\"><table id=\"units\"><thead><tr><th>cores</th><th>pipe</th><th>work</th>"
                   "<th class=\"n\">busy</th><th class=\"n\">utilisation</th><th>time of all cores</th>");
    for (uint32_t c = 0; c < r->cause_count; c++) {
        text_puts(out, "<th class=\"n\">");
        put_chip(out, report_cause_colour(r->causes[c]), r->causes[c]);
        text_puts(out, "</th>");
    }
    text_puts(out, "</tr></thead><tbody>\n");
    /* Kinds of cores, or single ones where the backend does not add them up. */
    bool has_kinds = false;
    for (uint32_t i = 0; i < r->unit_count; i++) has_kinds |= !r->units[i].is_core && r->units[i].is_measured;
    for (uint32_t i = 0; i < r->unit_count; i++)
        if (r->units[i].is_core != has_kinds && r->units[i].is_measured) put_unit(r, &r->units[i], out);
    text_puts(out, "</tbody></table></div>\n");
}

void report_put_limits(const report *r, text_buffer *out)
{
    report_limit *limits = arena_array(r->arena, LIMITS_MAX, sizeof *limits);
    const uint32_t count = report_limits(r, limits, LIMITS_MAX);
    char text[32];
    text_puts(out, "<div class=\"scroll\"><table id=\"limits\"><tbody>\n");
    for (uint32_t i = 0; i < count; i++) {
        const char *colour = *limits[i].pipe ? report_pipe_colour(r, limits[i].pipe) : i == 0 ? "#30363d" : "#6d7f99";
        text_puts(out, "<tr><td>");
        put_text(out, limits[i].name);
        text_puts(out, "</td><td class=\"m\">");
        put_text(out, limits[i].note);
        text_printf(out, "</td><td class=\"n\">%s</td>", markup_thousands(limits[i].cycles, text));
        put_percent_cell(out, limits[i].cycles, r->cycles);
        text_puts(out, "<td class=\"w\"><div class=\"bar\">");
        put_part(out, limits[i].cycles < r->cycles ? limits[i].cycles : r->cycles, r->cycles, colour, limits[i].name);
        text_puts(out, "</div></td></tr>\n");
    }
    text_puts(out, "</tbody></table></div>\n");
}

static void put_counter_cell(text_buffer *out, double v)
{
    char text[32];
    text_printf(out, "<td class=\"n\"><data value=\"%.17g\">", v);
    if (v == (double)(int64_t)v)
        text_puts(out, markup_thousands(v, text));
    else
        text_printf(out, "%.6g", v);
    text_puts(out, "</data></td>");
}

void report_put_counters(const report *r, text_buffer *out)
{
    const bool is_repeated = r->result->runs > 1;
    if (r->result->init != NULL) {
        text_buffer init;
        text_init(&init);
        run_counters_print_init(r->result, &init);
        text_puts(out, "<p id=\"init\">");
        put_text(out, init.p);
        text_puts(out, ".</p>\n");
        text_fini(&init);
    }
    text_puts(out, "<div class=\"scroll\"><table id=\"counters\">");
    if (is_repeated)
        text_printf(out,
                    "<thead><tr><th>of %u runs</th><th class=\"n\">the last</th><th class=\"n\">min</th>"
                    "<th class=\"n\">median</th><th class=\"n\">spread</th><th></th></tr></thead>",
                    r->result->runs);
    text_puts(out, "<tbody>\n");
    for (uint32_t i = 0; i < r->result->counter_count; i++) {
        const backend_counter *c = &r->result->counters[i];
        /* Those are in the table of units. */
        if (run_counter_is_detail(r->result, c->name) || run_counter_is_utilisation(c->name)) continue;
        text_puts(out, "<tr><td>");
        put_text(out, c->name);
        text_puts(out, "</td>");
        put_counter_cell(out, c->value);
        if (is_repeated) {
            put_counter_cell(out, c->all.least);
            put_counter_cell(out, c->all.median);
            put_counter_cell(out, c->all.most - c->all.least);
        }
        text_puts(out, "<td class=\"m\">");
        put_text(out, c->unit);
        text_puts(out, "</td></tr>\n");
    }
    text_puts(out, "</tbody></table></div>\n");
}

/* ---- one kernel ---- */

/* Whether slices say how many bytes they moved; where none does, nothing is said of bytes. */
static bool has_bytes(const trace_kernel *t)
{
    bool is_any = false;
    for (uint32_t p = 0; p < TRACE_PIPES_MAX; p++) is_any |= t->pipes[p].bytes > 0;
    return is_any;
}

static void put_kernel_pipe(const report *r, const report_kernel *k, uint32_t pipe, text_buffer *out)
{
    const trace_sum *s = &k->trace->pipes[pipe];
    const double all = (double)k->trace->instance_cycles;
    const char *name = r->trace->pipes[pipe];
    text_puts(out, "<tr><td>");
    put_chip(out, report_pipe_colour(r, name), name);
    text_puts(out, "</td><td class=\"m\">");
    put_text(out, report_pipe_work(r, k->core, name));
    text_puts(out, "</td>");
    put_number_cell(out, (double)s->executions);
    put_number_cell(out, (double)s->busy);
    put_percent_cell(out, (double)s->busy, all);
    if (has_bytes(k->trace)) {
        put_number_cell(out, (double)s->bytes);
        if (s->bytes > 0 && s->busy > 0)
            text_printf(out, "<td class=\"n\">%.1f</td>", (double)s->bytes / (double)s->busy);
        else
            text_puts(out, "<td class=\"n z\">0</td>");
    }
    text_puts(out, "<td class=\"w\"><div class=\"bar\">");
    put_part(out, (double)s->busy, all, report_pipe_colour(r, name), "busy");
    for (uint32_t c = 0; c < r->trace->cause_count; c++)
        put_part(out, (double)s->stalls[c], all, report_cause_colour(r->trace->causes[c]), r->trace->causes[c]);
    text_puts(out, "</div></td>");
    for (uint32_t c = 0; c < r->trace->cause_count; c++) put_number_cell(out, (double)s->stalls[c]);
    text_puts(out, "</tr>\n");
}

void report_put_kernel_pipes(const report *r, const report_kernel *k, text_buffer *out)
{
    uint32_t order[TRACE_PIPES_MAX];
    const uint32_t count = report_pipe_order(r, order);
    text_puts(out, "<div class=\"scroll\"><table><thead><tr><th>pipe</th><th>work</th><th class=\"n\">instructions</th>"
                   "<th class=\"n\">busy</th><th class=\"n\">of instance time</th>");
    if (has_bytes(k->trace)) text_puts(out, "<th class=\"n\">bytes</th><th class=\"n\">bytes a cycle</th>");
    text_puts(out, "<th>time instances run</th>");
    for (uint32_t c = 0; c < r->trace->cause_count; c++) {
        text_puts(out, "<th class=\"n\">");
        put_chip(out, report_cause_colour(r->trace->causes[c]), r->trace->causes[c]);
        text_puts(out, "</th>");
    }
    text_puts(out, "</tr></thead><tbody>\n");
    for (uint32_t i = 0; i < count; i++) {
        const trace_sum *s = &k->trace->pipes[order[i]];
        if (s->executions > 0 || trace_sum_stalled(s) > 0) put_kernel_pipe(r, k, order[i], out);
    }
    text_puts(out, "</tbody></table></div>\n");
    if (!has_bytes(k->trace))
        text_puts(out, "<p class=\"missing\">This backend does not report bytes of slices.</p>\n");
}

typedef struct hot_row {
    const report_row *row;
    int64_t cycles;
} hot_row;

static int longest_first(const void *a, const void *b)
{
    const hot_row *x = a, *y = b;
    if (x->cycles != y->cycles) return x->cycles > y->cycles ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void put_hot_row(const report *r, const report_kernel *k, const report_row *row, text_buffer *out)
{
    const uint32_t line = report_line_of(r, row->op);
    const double all = (double)k->trace->instance_cycles;
    const char *pipe = row->kind == ROW_WAIT ? row->dst : row->pipe;
    text_printf(out, "<tr><td class=\"n\"><a href=\"#L%u\">%u</a></td><td>", line, line);
    put_chip(out, report_pipe_colour(r, pipe), pipe);
    text_puts(out, "</td><td class=\"c\">");
    markup_text(out, report_line_text(r, row->op));
    text_puts(out, "</td>");
    put_number_cell(out, (double)row->cost->executions);
    put_number_cell(out, (double)row->cost->busy);
    if (r->trace->cause_count > 0) put_number_cell(out, (double)trace_sum_stalled(row->cost));
    text_puts(out, "<td class=\"w\"><div class=\"bar\">");
    put_part(out, (double)row->cost->busy, all, report_pipe_colour(r, pipe), "busy");
    for (uint32_t c = 0; c < r->trace->cause_count; c++)
        put_part(out, (double)row->cost->stalls[c], all, report_cause_colour(r->trace->causes[c]), r->trace->causes[c]);
    text_puts(out, "</div></td><td class=\"m\">");
    put_text(out, report_source_of(r, row->op));
    text_puts(out, "</td></tr>\n");
}

void report_put_hot_rows(const report *r, const report_kernel *k, text_buffer *out)
{
    hot_row *hot = arena_array(r->arena, k->row_count, sizeof *hot);
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->row_count; i++) {
        const trace_sum *cost = k->rows[i].cost;
        if (cost != NULL && cost->busy + trace_sum_stalled(cost) > 0)
            hot[count++] = (hot_row){&k->rows[i], cost->busy + trace_sum_stalled(cost)};
    }
    if (count > 1) qsort(hot, count, sizeof *hot, longest_first);
    text_puts(out, "<div class=\"scroll\"><table><thead><tr><th class=\"n\">line</th><th>pipe</th><th>op</th>"
                   "<th class=\"n\">executions</th><th class=\"n\">busy</th>");
    if (r->trace->cause_count > 0) text_puts(out, "<th class=\"n\">waits</th>");
    text_puts(out, "<th>of instance time</th><th>from</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < count && i < HOT_ROWS; i++) put_hot_row(r, k, hot[i].row, out);
    text_puts(out, "</tbody></table></div>\n");
}

void report_put_buffers(const report *r, const report_kernel *k, text_buffer *out)
{
    text_puts(out, "<div class=\"scroll\"><table><thead><tr><th>space</th><th>buffer</th><th class=\"n\">address</th>"
                   "<th class=\"n\">bytes</th><th class=\"n\">bytes per stage</th><th class=\"n\">stages</th>"
                   "<th class=\"n\">used from line</th><th class=\"n\">to line</th></tr></thead><tbody>\n");
    for (uint32_t x = 0; x < k->memory_count; x++) {
        for (uint32_t i = 0; i < k->memories[x].count; i++) {
            const report_buffer *b = &k->memories[x].buffers[i];
            text_puts(out, "<tr><td>");
            put_text(out, k->memories[x].space);
            text_printf(out, "</td><td class=\"c\"><a href=\"#L%u\">", report_line_of(r, b->op));
            put_text(out, b->name);
            text_puts(out, "</a></td>");
            if (b->address >= 0)
                put_number_cell(out, (double)b->address);
            else
                text_puts(out, "<td class=\"n z\">none yet</td>");
            put_number_cell(out, (double)b->bytes);
            put_number_cell(out, (double)b->bytes_per_stage);
            put_number_cell(out, (double)b->stages);
            for (uint32_t end = 0; end < 2; end++) {
                const uint32_t row = end ? b->last : b->first;
                const uint32_t line = row == UINT32_MAX ? 0 : report_line_of(r, k->rows[row].op);
                if (line)
                    text_printf(out, "<td class=\"n\"><a href=\"#L%u\">%u</a></td>", line, line);
                else
                    text_puts(out, "<td class=\"n z\">never</td>");
            }
            text_puts(out, "</tr>\n");
        }
    }
    text_puts(out, "</tbody></table></div>\n");
}
