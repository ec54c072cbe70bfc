#include "tools/report/report_clock.h"

#include "tools/run/run_rates.h"

#include <stdarg.h>
#include <stdio.h>

bool report_is_clocked(const report *r)
{
    return report_counter(r, PTO_COUNTER_CYCLES, -1) < 0 && report_counter(r, PTO_COUNTER_TIME, 0) > 0;
}

/* The median of a counter; -1: not reported. `kernel`: NULL of a counter of the run. */
static double median_of(const report *r, const char *kernel, pto_counter counter)
{
    for (uint32_t i = 0; i < r->result->counter_count; i++) {
        const counter_name n = counter_name_read(str_from(r->result->counters[i].name));
        if (n.counter == counter && str_is(n.unit, kernel != NULL ? kernel : ""))
            return r->result->counters[i].all.median;
    }
    return -1;
}

double report_clock_us(const report *r)
{
    const double us = median_of(r, NULL, PTO_COUNTER_TIME);
    return us > 0 ? us : 0;
}

static double threads_of(const report *r) { return report_counter(r, PTO_COUNTER_THREADS, 1); }

static const kernel_work *work_of(const report *r, op_id kernel)
{
    for (uint32_t i = 0; r->work.is_known && i < r->work.kernel_count; i++)
        if (r->work.kernels[i].kernel == kernel) return &r->work.kernels[i];
    return NULL;
}

/* ---- verdict ---- */

/* Of a peak: from here on it is what bounds a run. */
static const double near_share = 0.4;

PRINTF_LIKE(2, 3) static const char *say(const report *r, const char *format, ...);

static const char *say(const report *r, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return arena_strdup(r->arena, text);
}

report_verdict report_judge_clocked(const report *r)
{
    const double us = report_clock_us(r);
    report_verdict v = {say(r, "%.6g \xc2\xb5s by the clock of this machine", us), "", ""};
    if (!r->work.is_known) {
        v.reason = "How much it moved and computed is not known: a loop or a branch depends on data.";
        return v;
    }
    const run_rates q = run_rates_of(r->machine, &r->work.all, us / 1e6, threads_of(r));
    if (q.peak_bytes_per_second <= 0 || q.peak_ops_per_second <= 0) {
        v.reason =
            r->machine != NULL && !run_rates_is_host(r->machine)
                ? say(r, "What %s could do says nothing of this host, which has one kind of core.", r->machine->name)
                : "The machine file does not say what the memory and products could do.";
        return v;
    }
    const double memory = q.bytes_per_second / q.peak_bytes_per_second,
                 arithmetic = q.ops_per_second / q.peak_ops_per_second;
    v.reason = say(r, "Memory moved %.4g GB/s, %.3g %% of the peak of %s; arithmetic made %.4g GFLOP/s, %.3g %%.",
                   q.bytes_per_second / 1e9, 100 * memory, r->machine->name, q.ops_per_second / 1e9, 100 * arithmetic);
    if (memory < near_share && arithmetic < near_share)
        v.advice =
            "Neither is near its peak: look at the kernels that take longest, and at how many threads they have.";
    else
        v.advice = memory >= arithmetic ? "Memory is nearer to its peak: fewer bytes would help most."
                                        : "Arithmetic is nearer to its peak: fewer operations would help most.";
    return v;
}

/* ---- table ---- */

static void put_number(double v, text_buffer *out) { text_printf(out, "<td class=\"n\">%.5g</td>", v); }

static void put_not_reported(text_buffer *out) { text_puts(out, "<td class=\"n z\">not reported</td>"); }

static void put_share(double part, double whole, text_buffer *out)
{
    char text[32];
    if (whole > 0)
        text_printf(out, "<td class=\"n\">%s</td>", markup_percent(part, whole, text));
    else
        put_not_reported(out);
}

static void put_work(const report *r, const kernel_work *w, double us, text_buffer *out)
{
    char text[32];
    if (w == NULL || us <= 0) {
        for (int i = 0; i < 6; i++) put_not_reported(out);
        return;
    }
    const run_rates q = run_rates_of(r->machine, w, us / 1e6, threads_of(r));
    text_printf(out, "<td class=\"n\">%s</td>", markup_bytes(w->bytes_read + w->bytes_written, text));
    put_number(q.bytes_per_second / 1e9, out);
    put_share(q.bytes_per_second, q.peak_bytes_per_second, out);
    text_printf(out, "<td class=\"n\">%s</td>", markup_thousands(w->ops, text));
    put_number(q.ops_per_second / 1e9, out);
    put_share(q.ops_per_second, q.peak_ops_per_second, out);
}

static void put_events(const report *r, const char *kernel, text_buffer *out)
{
    static const pto_counter counters[] = {PTO_COUNTER_KERNEL_CYCLES, PTO_COUNTER_KERNEL_INSTRUCTIONS,
                                           PTO_COUNTER_KERNEL_CACHE_MISSES};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        char text[32];
        const double v = median_of(r, kernel, counters[i]);
        if (v < 0)
            put_not_reported(out);
        else
            text_printf(out, "<td class=\"n\">%s</td>", markup_thousands(v, text));
    }
}

/* The rest of a row, whose first cell is there. */
static void put_times(const report *r, const char *name, const kernel_work *w, double us, text_buffer *out)
{
    char text[32];
    text_printf(out, "<td class=\"n\">%s</td>",
                markup_thousands(median_of(r, name, PTO_COUNTER_KERNEL_LAUNCHES), text));
    put_number(us, out);
    put_share(us, report_clock_us(r), out);
    put_work(r, w, us, out);
    put_events(r, name, out);
    text_puts(out, "</tr>\n");
}

static void put_row(const report *r, const report_kernel *k, uint32_t number, text_buffer *out)
{
    const double us = median_of(r, k->name, PTO_COUNTER_KERNEL_TIME);
    if (us < 0) return; /* of @f.init */
    text_printf(out, "<tr><td><a href=\"#kernel-%u\">@", number);
    markup_text(out, str_from(k->name));
    text_puts(out, "</a></td>");
    put_times(r, k->name, work_of(r, k->op), us, out);
}

static bool is_kernel(const report *r, str name)
{
    for (uint32_t i = 0; i < r->kernel_count; i++)
        if (str_is(name, r->kernels[i].name)) return true;
    return false;
}

/* What the backend launched besides kernels of the module. */
static void put_others(const report *r, text_buffer *out)
{
    for (uint32_t i = 0; i < r->result->counter_count; i++) {
        const counter_name n = counter_name_read(str_from(r->result->counters[i].name));
        if (n.counter != PTO_COUNTER_KERNEL_TIME || is_kernel(r, n.unit)) continue;
        text_puts(out, "<tr><td>");
        markup_text(out, n.unit);
        text_puts(out, "</td>");
        put_times(r, arena_strndup(r->arena, n.unit.p, n.unit.n), NULL, r->result->counters[i].all.median, out);
    }
}

void report_put_clock(const report *r, text_buffer *out)
{
    if (!report_is_clocked(r)) return;
    text_puts(out, "<section id=\"time\"><h2>Where the time goes</h2>\n<p>By the clock of this machine");
    if (r->result->runs > 1) text_printf(out, ", medians of %u executions", r->result->runs);
    text_puts(out, ": from the launch of a kernel to the end of its last instance. Bytes are those "
                   "that its tiles load and store, each array once in a launch at most; operations are results of "
                   "arithmetic on elements, two for a product and its sum. Peaks are those of the machine file.</p>\n"
                   "<div class=\"scroll\"><table id=\"kernels\"><thead><tr><th>kernel</th><th class=\"n\">launches</th>"
                   "<th class=\"n\">\xc2\xb5s</th><th class=\"n\">of the run</th><th class=\"n\">bytes</th>"
                   "<th class=\"n\">GB/s</th><th class=\"n\">of the peak</th><th class=\"n\">operations</th>"
                   "<th class=\"n\">GFLOP/s</th><th class=\"n\">of the peak</th><th class=\"n\">CPU cycles</th>"
                   "<th class=\"n\">CPU instructions</th><th class=\"n\">cache misses</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < r->kernel_count; i++) put_row(r, &r->kernels[i], i, out);
    put_others(r, out);
    text_puts(out, "</tbody></table></div>\n</section>\n");
}
