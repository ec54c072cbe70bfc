/* What the CPU counts of a thread: cycles, instructions, accesses that missed the last cache; where the system allows
 * it, which in virtual machines and containers it often does not. */
#ifndef PTO_NATIVE_EVENTS_H
#define PTO_NATIVE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { NATIVE_EVENT_CYCLES, NATIVE_EVENT_INSTRUCTIONS, NATIVE_EVENT_CACHE_MISSES, NATIVE_EVENTS };

/* Counters of one thread, in the caller's memory. */
typedef struct native_events {
    int fds[NATIVE_EVENTS]; /* -1: not to be had */
} native_events;

/* What to count, as perf_event_open takes it. */
typedef struct native_event_kind {
    uint32_t type;
    uint64_t config;
} native_event_kind;

/* Begins to count what the calling thread does outside of the kernel. Nothing is said of what cannot be counted. */
void native_events_open(native_events *e);
/* The same of other events: what tests count where there is no hardware for it. */
void native_events_open_as(native_events *e, const native_event_kind kinds[NATIVE_EVENTS]);
/* Whether an event is counted. [any thread] */
bool native_events_has(const native_events *e, uint32_t event);
/* What was counted so far; 0 of what is not. When events shared a counter, what all of the time would have come to.
 * [any thread] */
void native_events_read(const native_events *e, uint64_t counts[NATIVE_EVENTS]);
/* Ends it. [any thread] */
void native_events_close(native_events *e);

#endif
