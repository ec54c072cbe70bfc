/* Tables for people: --explain, --timing, --stats. */
#ifndef TOOLS_SESSION_EXPLAIN_H
#define TOOLS_SESSION_EXPLAIN_H

#include "core/compile/compile_stats.h"
#include "core/files/schedule.h"

/* The checked pipeline: step, pass, levels, requires, establishes, breaks, place. `states`: as contract_check left. */
void explain_pipeline(const contract *c, const contract_state *states, text_buffer *out);
/* What was decided, where, by what, at which cost. */
void explain_schedule(const schedule *s, text_buffer *out);
/* Of each step that ran: how long it took; what it changed and counted. */
void explain_timing(const compile_stats *s, text_buffer *out);
void explain_counters(const compile_stats *s, const loaded_pipeline *p, text_buffer *out);

#endif
