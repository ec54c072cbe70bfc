/* Which actor acts when: one wake-up time for each of a fixed set of actors, earliest first, equal times by number. */
#ifndef PTO_CPU_SIM_EVENT_QUEUE_H
#define PTO_CPU_SIM_EVENT_QUEUE_H

#include <pto/call.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct queued {
    int64_t time;
    uint32_t actor;
} queued;

typedef struct event_queue {
    queued *heap;
    uint32_t *place; /* of each actor in the heap plus 1; 0: not in it */
    uint32_t count;
} event_queue;

/* An empty queue for actors with numbers below `actors`, in scratch memory of the run. */
void event_queue_init(const pto_run *run, event_queue *q, uint32_t actors);
/* Replaces the time the actor had. */
void event_queue_set(event_queue *q, uint32_t actor, int64_t time);
/* False when nothing waits. */
bool event_queue_pop(event_queue *q, queued *out);

#endif
