#include "tools/run/run_counters.h"

#include "tools/run/counter_name.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINES_MAX = 64 };

static pto_counter counter_of(const char *name) { return counter_name_read(str_from(name)).counter; }

bool run_counter_is_utilisation(const char *name) { return counter_of(name) == PTO_COUNTER_UTILISATION; }

bool run_counter_is_detail(const backend_result *r, const char *name)
{
    const counter_name n = counter_name_read(str_from(name));
    return r->has_utilisation && (n.counter == PTO_COUNTER_BUSY || n.is_stall);
}

/* After "vector / mte2 / utilisation: 14 %": what the rest of the time went to, in percent of all of it. */
static void put_stalls(const backend_result *r, str unit, text_buffer *out)
{
    const char *mark = "; ";
    double all = 0;
    for (int is_sum = 1; is_sum >= 0; is_sum--) {
        for (uint32_t i = 0; i < r->counter_count; i++) {
            const backend_counter *c = &r->counters[i];
            const counter_name n = counter_name_read(str_from(c->name));
            if (!str_eq(n.unit, unit) || (!n.is_stall && n.counter != PTO_COUNTER_BUSY)) continue;
            if (is_sum) {
                all += c->all.median;
            } else if (n.is_stall && c->all.median > 0) {
                text_printf(out, "%s%.*s %.4g %%", mark, (int)n.what.n, n.what.p, 100 * c->all.median / all);
                mark = ", ";
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
    if (!all && run_counter_is_utilisation(c->name)) put_stalls(r, counter_name_read(str_from(c->name)).unit, out);
    text_putc(out, '\n');
}

static void put_wall(const backend_result *r, text_buffer *out)
{
    const backend_spread w = r->wall_ns;
    text_printf(out, "time on this machine: %.3f ms", w.median / 1e6);
    if (r->runs > 1) text_printf(out, ", min %.3f ms, spread %.3f ms", w.least / 1e6, (w.most - w.least) / 1e6);
    text_putc(out, '\n');
}

const backend_counter *run_counters_find_cycles(const backend_result *r)
{
    for (uint32_t i = 0; i < r->counter_count; i++)
        if (counter_of(r->counters[i].name) == PTO_COUNTER_CYCLES) return &r->counters[i];
    return NULL;
}

bool run_counters_has_clock(const pto_backend *b)
{
    bool has_time = false, has_cycles = false;
    for (const char *const *c = b->counters; c != NULL && *c != NULL; c++) {
        has_time |= counter_declared(str_from(*c)) == PTO_COUNTER_TIME;
        has_cycles |= counter_declared(str_from(*c)) == PTO_COUNTER_CYCLES;
    }
    return has_time && !has_cycles;
}

void run_counters_print_init(const backend_result *r, text_buffer *out)
{
    if (r->init == NULL) return;
    const backend_counter *cycles = run_counters_find_cycles(r->init);
    if (r->init->runs > 1)
        text_printf(out, "@%s ran %" PRIu32 " times, before the first run and between runs: ", r->init_name,
                    r->init->runs);
    else
        text_printf(out, "@%s ran once, before %s: ", r->init_name, r->runs > 1 ? "all runs" : "the run");
    if (cycles != NULL) {
        put_value(cycles->all.median, cycles->unit, out);
        text_puts(out, ", ");
    }
    text_printf(out, "%.3f ms on this machine", r->init->wall_ns.median / 1e6);
}

void run_counters_print(const backend_result *r, bool all, text_buffer *out)
{
    bool is_timed = false;
    uint32_t lines = 0, left_out = 0;
    const size_t before = out->n;
    run_counters_print_init(r, out);
    if (out->n > before) text_putc(out, '\n');
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
        is_timed |= counter_of(c->name) == PTO_COUNTER_CYCLES || counter_of(c->name) == PTO_COUNTER_TIME;
    }
    if (!is_timed || r->runs > 1) put_wall(r, out);
    if (left_out > 0) text_printf(out, "%" PRIu32 " counters more: --counters prints them\n", left_out);
}
