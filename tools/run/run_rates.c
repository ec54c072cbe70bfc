#include "tools/run/run_rates.h"

#include "tools/run/counter_name.h"

#include <sched.h>
#include <string.h>

static double number_of(const machine *m, const char *path)
{
    double v = 0;
    return machine_query_f64(m, str_from(path), &v) ? v : 0;
}

/* Operations a cycle of one core: of a product of two boxes. */
static double products_per_cycle(const machine *m, dtype type)
{
    char path[64];
    (void)snprintf(path, sizeof path, "matrix.cycles-per-box.%s", dtype_name(type));
    const double cycles = number_of(m, path), rows = number_of(m, "matrix.acc-box-rows"),
                 columns = number_of(m, "matrix.acc-box-cols"), bytes = number_of(m, "matrix.box-row-bytes");
    return cycles > 0 ? 2 * rows * columns * (bytes / dtype_bytes(type)) / cycles : 0;
}

/* More threads than CPUs share these. */
static double cpus_of(double threads)
{
    cpu_set_t set;
    /* It fails on a system of more than CPU_SETSIZE of them. */
    const int available = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
    return threads < available ? threads : available;
}

bool run_rates_is_host(const machine *m) { return m != NULL && m->core_count == 1; }

run_rates run_rates_of(const machine *m, const kernel_work *work, double seconds, double threads)
{
    run_rates r = {.bytes_per_second = (work->bytes_read + work->bytes_written) / seconds,
                   .ops_per_second = work->ops / seconds};
    if (!run_rates_is_host(m)) return r;
    const double clock = (double)m->clock_hz;
    r.peak_bytes_per_second = m->shared_bytes_per_cycle * clock;
    const dtype type = work->products > 0 ? work->product_type : DTYPE_F32;
    r.peak_ops_per_second = products_per_cycle(m, type) * clock * cpus_of(threads);
    return r;
}

bool run_rates_measured(const backend_result *r, double *seconds, double *threads)
{
    bool has_time = false;
    *threads = 1;
    for (uint32_t i = 0; i < r->counter_count; i++) {
        const pto_counter counter = counter_name_read(str_from(r->counters[i].name)).counter;
        const double v = r->counters[i].all.median;
        if (counter == PTO_COUNTER_CYCLES) return false;
        if (counter == PTO_COUNTER_THREADS) *threads = v;
        if (counter == PTO_COUNTER_TIME && v > 0) {
            *seconds = v * 1e-6;
            has_time = true;
        }
    }
    return has_time;
}

static void put_rate(const char *what, double rate, double peak, const char *unit, const machine *m, text_buffer *out)
{
    text_printf(out, "%s: %.4g %s", what, rate / 1e9, unit);
    if (peak > 0) text_printf(out, ", %.3g %% of %.4g %s of %s", 100 * rate / peak, peak / 1e9, unit, m->name);
}

void run_rates_print(const machine *m, const run_work *work, const backend_result *r, text_buffer *out)
{
    double seconds = 0, threads = 1;
    if (!work->is_known || !run_rates_measured(r, &seconds, &threads)) return;
    const run_rates rates = run_rates_of(m, &work->all, seconds, threads);
    put_rate("memory", rates.bytes_per_second, rates.peak_bytes_per_second, "GB/s", m, out);
    text_printf(out, "; %.0f bytes\n", work->all.bytes_read + work->all.bytes_written);
    if (work->all.ops == 0) return;
    put_rate("arithmetic", rates.ops_per_second, rates.peak_ops_per_second, "GFLOP/s", m, out);
    text_printf(out, " on %.0f thread%s; %.0f operations\n", threads, threads > 1 ? "s" : "", work->all.ops);
}
