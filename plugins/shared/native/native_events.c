#include "native_events.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(const native_event_kind *kind)
{
    struct perf_event_attr a = {.type = kind->type,
                                .size = sizeof a,
                                .config = kind->config,
                                .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void native_events_open_as(native_events *e, const native_event_kind kinds[NATIVE_EVENTS])
{
    for (int i = 0; i < NATIVE_EVENTS; i++) e->fds[i] = open_event(&kinds[i]);
}

void native_events_open(native_events *e)
{
    static const native_event_kind hardware[NATIVE_EVENTS] = {
        [NATIVE_EVENT_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        [NATIVE_EVENT_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
        [NATIVE_EVENT_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}};
    native_events_open_as(e, hardware);
}

bool native_events_has(const native_events *e, uint32_t event) { return event < NATIVE_EVENTS && e->fds[event] >= 0; }

void native_events_read(const native_events *e, uint64_t counts[NATIVE_EVENTS])
{
    for (int i = 0; i < NATIVE_EVENTS; i++) {
        struct {
            uint64_t value, enabled, running;
        } now = {0, 0, 0};
        counts[i] = 0;
        if (e->fds[i] < 0 || read(e->fds[i], &now, sizeof now) != (ssize_t)sizeof now || now.running == 0) continue;
        counts[i] = now.running >= now.enabled
                        ? now.value
                        : (uint64_t)((double)now.value * (double)now.enabled / (double)now.running);
    }
}

void native_events_close(native_events *e)
{
    for (int i = 0; i < NATIVE_EVENTS; i++) {
        if (e->fds[i] >= 0) close(e->fds[i]);
        e->fds[i] = -1;
    }
}
