#include "cpu-sim/bandwidth.h"

#include <math.h>

/* Bytes by which rounding may make a transfer look unfinished. */
static const double slack_bytes = 1e-3;

void bandwidth_init(bandwidth *b, double total)
{
    b->total = total;
    b->now = 0;
    b->class_count = 0;
}

bool bandwidth_add_class(const pto_run *run, bandwidth *b, double limit, uint32_t actors)
{
    uint32_t at = 0;
    while (at < b->class_count && b->classes[at].limit < limit) at++;
    if (at < b->class_count && b->classes[at].limit <= limit) return true;
    if (b->class_count == BANDWIDTH_CLASSES_MAX) return false;
    for (uint32_t i = b->class_count++; i > at; i--) b->classes[i] = b->classes[i - 1];
    b->classes[at] = (bandwidth_class){.limit = limit, .heap = PTO_SCRATCH(run, transfer, actors)};
    return true;
}

static void advance(bandwidth *b, int64_t now)
{
    const double cycles = (double)(now - b->now);
    for (uint32_t i = 0; i < b->class_count; i++) b->classes[i].served += b->classes[i].rate * cycles;
    b->now = now;
}

static void share(bandwidth *b)
{
    double left = b->total;
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->class_count; i++) count += b->classes[i].count;
    for (uint32_t i = 0; i < b->class_count; i++) {
        bandwidth_class *c = &b->classes[i];
        if (c->count == 0) {
            c->rate = c->served = 0;
            continue;
        }
        const double equal = left / count;
        c->rate = b->total > 0 && equal < c->limit ? equal : c->limit;
        left -= c->rate * c->count;
        count -= c->count;
    }
}

static bool is_before(transfer a, transfer b) { return a.end < b.end || (!(b.end < a.end) && a.actor < b.actor); }

static void push(bandwidth_class *c, transfer t)
{
    uint32_t at = c->count++;
    for (; at > 0 && is_before(t, c->heap[(at - 1) / 2]); at = (at - 1) / 2) c->heap[at] = c->heap[(at - 1) / 2];
    c->heap[at] = t;
}

static void pop(bandwidth_class *c)
{
    const transfer last = c->heap[--c->count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < c->count; at = child) {
        if (child + 1 < c->count && is_before(c->heap[child + 1], c->heap[child])) child++;
        if (!is_before(c->heap[child], last)) break;
        c->heap[at] = c->heap[child];
    }
    c->heap[at] = last;
}

void bandwidth_begin(bandwidth *b, int64_t now, double limit, double bytes, uint32_t actor)
{
    uint32_t i = 0;
    while (i + 1 < b->class_count && b->classes[i].limit < limit) i++;
    advance(b, now);
    push(&b->classes[i], (transfer){b->classes[i].served + bytes, actor});
    share(b);
}

/* Until `bytes` have moved. */
static int64_t cycles_of(double bytes, double rate)
{
    const double cycles = ceil((bytes - slack_bytes) / rate);
    return cycles > 0 ? (int64_t)cycles : 0;
}

int64_t bandwidth_alone(double limit, double bytes) { return cycles_of(bytes, limit); }

int64_t bandwidth_next(const bandwidth *b)
{
    int64_t first = -1;
    for (uint32_t i = 0; i < b->class_count; i++) {
        const bandwidth_class *c = &b->classes[i];
        if (c->count == 0) continue;
        const int64_t at = b->now + cycles_of(c->heap[0].end - c->served, c->rate);
        if (first < 0 || at < first) first = at;
    }
    return first;
}

bool bandwidth_end(bandwidth *b, int64_t now, uint32_t *out_actor)
{
    advance(b, now);
    for (uint32_t i = 0; i < b->class_count; i++) {
        bandwidth_class *c = &b->classes[i];
        if (c->count == 0 || c->heap[0].end > c->served + slack_bytes) continue;
        *out_actor = c->heap[0].actor;
        pop(c);
        share(b);
        return true;
    }
    return false;
}
