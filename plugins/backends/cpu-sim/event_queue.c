#include "cpu-sim/event_queue.h"

void event_queue_init(const pto_run *run, event_queue *q, uint32_t actors)
{
    q->heap = PTO_SCRATCH(run, queued, actors);
    q->place = PTO_SCRATCH(run, uint32_t, actors);
    q->count = 0;
}

static bool is_before(queued a, queued b) { return a.time != b.time ? a.time < b.time : a.actor < b.actor; }

static void put(event_queue *q, uint32_t at, queued e)
{
    q->heap[at] = e;
    q->place[e.actor] = at + 1;
}

/* Moves e from the free place `at` to where it belongs. */
static void settle(event_queue *q, uint32_t at, queued e)
{
    while (at > 0 && is_before(e, q->heap[(at - 1) / 2])) {
        put(q, at, q->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= q->count) break;
        if (child + 1 < q->count && is_before(q->heap[child + 1], q->heap[child])) child++;
        if (!is_before(q->heap[child], e)) break;
        put(q, at, q->heap[child]);
        at = child;
    }
    put(q, at, e);
}

void event_queue_set(event_queue *q, uint32_t actor, int64_t time)
{
    const uint32_t place = q->place[actor];
    settle(q, place ? place - 1 : q->count++, (queued){time, actor});
}

static void event_queue_drop(event_queue *q, uint32_t actor)
{
    const uint32_t place = q->place[actor];
    if (!place) return;
    q->place[actor] = 0;
    const queued last = q->heap[--q->count];
    if (last.actor != actor) settle(q, place - 1, last);
}

bool event_queue_pop(event_queue *q, queued *out)
{
    if (q->count == 0) return false;
    *out = q->heap[0];
    event_queue_drop(q, out->actor);
    return true;
}
