/* The counters of a run, as pto-run prints them. */
#ifndef TOOLS_RUN_RUN_COUNTERS_H
#define TOOLS_RUN_RUN_COUNTERS_H

#include "tools/run/backend_run.h"

/* "core / mte2 / utilisation": what all units of a kind did together. */
bool run_counter_is_utilisation(const char *name);
/* True when a counter is a detail that is printed only when asked for: what one unit did, "core 03 / mte2 / busy",
 * where the same backend sums it up as "core / mte2 / utilisation". */
bool run_counter_is_detail(const backend_result *r, const char *name);
/* A line for each: all, or those that are not details, and of more than 64 of them the first. A last line says how many
 * were left out then. Of several executions: medians, with least value and spread where they differ. */
void run_counters_print(const backend_result *r, bool all, text_buffer *out);

/* The counter of cycles of an execution; NULL: the backend has none. */
const backend_counter *run_counters_find_cycles(const backend_result *r);
/* One sentence without full stop on what @f.init cost; nothing when none ran. */
void run_counters_print_init(const backend_result *r, text_buffer *out);

/* Whether the backend runs by a clock of this machine, so that the first executions are not like the later ones: it
 * declares the counter `time`, and no `cycles`. */
bool run_counters_has_clock(const pto_backend *b);

#endif
