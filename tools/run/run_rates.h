/* How fast a call was, beside what the machine could do. */
#ifndef TOOLS_RUN_RUN_RATES_H
#define TOOLS_RUN_RUN_RATES_H

#include "core/files/machine.h"
#include "tools/run/backend_run.h"
#include "tools/run/run_work.h"

/* Rates of so much work in so much time. Peaks are 0 where the machine does not say, or cannot be this host. */
typedef struct run_rates {
    double bytes_per_second, ops_per_second;
    double peak_bytes_per_second; /* of global memory, reads and writes together */
    /* Of matrix products of the type of most of them, of f32 without any, on all threads, as far as the process has
     * CPUs for them. */
    double peak_ops_per_second;
} run_rates;

/* Whether a machine can be what threads run on: a CPU, which has one kind of core. `m` may be NULL. */
bool run_rates_is_host(const machine *m);

/* `m` may be NULL. `threads`: cores that worked, 1 or more. */
run_rates run_rates_of(const machine *m, const kernel_work *work, double seconds, double threads);

/* The counters `time`, in seconds of the median execution, and `threads` of a result; false: the backend does not run
 * by a clock of this machine. */
bool run_rates_measured(const backend_result *r, double *seconds, double *threads);

/* Two lines: "memory: 13.4 GB/s, 28 % of 48 GB/s of cpu-avx512; 134217728 bytes" and the same of operations. Nothing
 * when the work is not known, or nothing was measured. */
void run_rates_print(const machine *m, const run_work *work, const backend_result *r, text_buffer *out);

#endif
