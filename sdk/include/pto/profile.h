/* What a backend reports of a run: the counters and stall causes of <pto/profile.def>, by number.
 *
 *     static const pto_backend backend = {..., .counters = PTO_STRS("cycles", "busy", "stall / flag")};
 *     ...
 *     pto_profile_count(call->sink, PTO_COUNTER_CYCLES, 1200);
 *     pto_profile_count_unit(call->sink, PTO_COUNTER_BUSY, "vector 03 / mte2", 480);
 *
 * Tools read these names and no others: the report of a run explains a run of any backend by them, and says which a
 * backend does not report. A backend declares what it reports; a stall that it declares and does not report was 0.
 * Counters of its own have names that begin with its id and a space, as "acme.toy tokens"; tools print them and draw no
 * conclusion. All functions run in `execute`, on its thread. */
#ifndef PTO_PROFILE_H
#define PTO_PROFILE_H

#include <pto/backend.h>

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The report file with all slices, in the form that ui.perfetto.dev reads; the page links to it. */
#define PTO_PROFILE_SWIMLANE "swimlane.json"

typedef enum pto_counter {
#define PTO_COUNTER(ID, scope, name, unit, adds_to, colour, doc) PTO_COUNTER_##ID,
#include <pto/profile.def>
    PTO_COUNTER_NONE
} pto_counter;

typedef enum pto_counter_scope {
    PTO_SCOPE_RUN,
    PTO_SCOPE_EVENT,
    PTO_SCOPE_UNIT,
    PTO_SCOPE_WAITS,
    PTO_SCOPE_TRANSFERS,
    PTO_SCOPE_KERNEL
} pto_counter_scope;

/* A row of profile.def. Texts are constant. */
typedef struct pto_counter_row {
    pto_counter_scope scope;
    const char *name, *unit;
    pto_counter adds_to; /* PTO_COUNTER_NONE: to nothing */
    const char *colour;  /* of a stall; "" */
    const char *doc;
} pto_counter_row;

/* The row of a counter; NULL from PTO_COUNTER_NONE on. */
static inline const pto_counter_row *pto_counter_row_at(uint32_t counter)
{
    static const pto_counter_row rows[] = {
#define PTO_COUNTER(ID, scope, name, unit, adds_to, colour, doc) \
    {PTO_SCOPE_##scope, name, unit, PTO_COUNTER_##adds_to, colour, doc},
#include <pto/profile.def>
    };
    return counter < PTO_COUNTER_NONE ? &rows[counter] : NULL;
}

/* Whether the counter is of cycles that a unit did not work. */
static inline int pto_counter_is_stall(uint32_t counter)
{
    const pto_counter_row *row = pto_counter_row_at(counter);
    return row != NULL && (row->scope == PTO_SCOPE_WAITS || row->scope == PTO_SCOPE_TRANSFERS);
}

/* A view of a text that ends in NUL. */
static inline pto_str pto_profile_text(const char *text)
{
    pto_str s;
    s.p = text;
    s.n = strlen(text);
    return s;
}

/* Reports a counter of the run. Nothing happens when nobody asked for counters, or for one that is of a unit. */
static inline void pto_profile_count(const pto_run_sink *sink, pto_counter counter, double v)
{
    const pto_counter_row *row = pto_counter_row_at(counter);
    if (sink == NULL || sink->counter == NULL || row == NULL || row->scope > PTO_SCOPE_EVENT) return;
    sink->counter(sink->self, pto_profile_text(row->name), pto_profile_text(row->unit), v);
}

/* Reports a counter or stall of the unit, "vector 03 / mte2", or a counter of a kernel; of at most 150 bytes. */
static inline void pto_profile_count_unit(const pto_run_sink *sink, pto_counter counter, const char *unit, double v)
{
    char name[256];
    const pto_counter_row *row = pto_counter_row_at(counter);
    if (sink == NULL || sink->counter == NULL || row == NULL || row->scope < PTO_SCOPE_UNIT) return;
    (void)snprintf(name, sizeof name, "%.150s / %s%s", unit, pto_counter_is_stall(counter) ? "stall / " : "",
                   row->name);
    sink->counter(sink->self, pto_profile_text(name), pto_profile_text(row->unit), v);
}

/* The `cause` of slices that are stalls; empty for what is not a stall. */
static inline pto_str pto_profile_cause(pto_counter counter)
{
    return pto_counter_is_stall(counter) ? pto_profile_text(pto_counter_row_at(counter)->name) : pto_profile_text("");
}

#ifdef __cplusplus
}
#endif
#endif
