#include "tools/run/run_counters.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINES_MAX = 64 };

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool run_counter_is_utilisation(const char *name) { return ends_in(name, "/ utilisation"); }

bool run_counter_is_detail(const backend_result *r, const char *name)
{
    return r->has_utilisation && (ends_in(name, "/ busy") || strstr(name, "/ stall / "));
}

/* Behind "vector / mte2 / utilisation: 14 %": what the rest of the time went to, in percent of all of it. */
static void put_stalls(const backend_result *r, const char *utilisation, text_buffer *out)
{
    const size_t unit = (size_t)(strrchr(utilisation, '/') + 2 - utilisation);
    const char *separator = "; ";
    double all = 0;
    for (int is_sum = 1; is_sum >= 0; is_sum--) {
        for (uint32_t i = 0; i < r->counter_count; i++) {
            const backend_counter *c = &r->counters[i];
            if (strncmp(c->name, utilisation, unit) != 0 || strcmp(c->unit, "cycles") != 0) continue;
            const bool is_stall = strncmp(c->name + unit, "stall / ", 8) == 0;
            if (is_sum) {
                all += c->all.median;
            } else if (is_stall && c->all.median > 0) {
                text_printf(out, "%s%s %.4g %%", separator, c->name + unit + 8, 100 * c->all.median / all);
                separator = ", ";
            }
        }
    }
}

static void put_value(double v, const char *unit, text_buffer *out)
{
    const int digits = strcmp(unit, "%") == 0 ? 4 : floor(v) == v ? 15 : 6;
    text_printf(out, "%.*g%s%s", digits, v, *unit ? " " : "", unit);
}

static void put_counter(const backend_result *r, const backend_counter *c, bool all, text_buffer *out)
{
    text_printf(out, "%s: ", c->name);
    put_value(c->all.median, c->unit, out);
    if (c->all.most != c->all.least) {
        text_puts(out, ", min ");
        put_value(c->all.least, c->unit, out);
        text_puts(out, ", spread ");
        put_value(c->all.most - c->all.least, c->unit, out);
    }
    if (!all && run_counter_is_utilisation(c->name)) put_stalls(r, c->name, out);
    text_putc(out, '\n');
}

static void put_wall(const backend_result *r, text_buffer *out)
{
    const backend_spread w = r->wall_ns;
    text_printf(out, "time on this machine: %.3f ms", w.median / 1e6);
    if (r->runs > 1) text_printf(out, ", min %.3f ms, spread %.3f ms", w.least / 1e6, (w.most - w.least) / 1e6);
    text_putc(out, '\n');
}

void run_counters_print(const backend_result *r, bool all, text_buffer *out)
{
    bool is_timed = false;
    uint32_t lines = 0, left_out = 0;
    if (r->runs > 1)
        text_printf(out, "%" PRIu32 " runs: medians; where runs differ, the least and the spread to the most\n",
                    r->runs);
    for (uint32_t i = 0; i < r->counter_count; i++) {
        const backend_counter *c = &r->counters[i];
        if (!all && run_counter_is_detail(r, c->name)) continue;
        if (!all && lines == LINES_MAX) {
            left_out++;
            continue;
        }
        lines++;
        put_counter(r, c, all, out);
        is_timed |= strcmp(c->name, "cycles") == 0 || strcmp(c->name, "time") == 0;
    }
    if (!is_timed || r->runs > 1) put_wall(r, out);
    if (left_out > 0) text_printf(out, "%" PRIu32 " counters more: --counters prints them\n", left_out);
}
