/* plugins/shared/native/native_events.h: counts where the system lets them, silence where it does not. */
#include "tests/unit/unit.h"

#include <native_events.h>

#include <linux/perf_event.h>

/* Software counts need no hardware: two of them and one that no system has. */
static const native_event_kind some[NATIVE_EVENTS] = {{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
                                                      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
                                                      {PERF_TYPE_SOFTWARE, 1000}};

TEST(counts_what_the_thread_does_and_says_nothing_of_the_rest)
{
    native_events e;
    native_events_open_as(&e, some);
    assert_false(native_events_has(&e, 2));
    assert_false(native_events_has(&e, NATIVE_EVENTS));
    uint64_t before[NATIVE_EVENTS], after[NATIVE_EVENTS];
    native_events_read(&e, before);
    volatile double sum = 0;
    for (int i = 0; i < 1000000; i++) sum += i;
    native_events_read(&e, after);
    if (native_events_has(&e, 0)) assert_true(after[0] > before[0]);
    for (int i = 0; i < NATIVE_EVENTS; i++) {
        assert_true(after[i] >= before[i]);
        if (!native_events_has(&e, (uint32_t)i)) assert_true(after[i] == 0);
    }
    native_events_close(&e);
    for (uint32_t i = 0; i < NATIVE_EVENTS; i++) assert_false(native_events_has(&e, i));
    native_events_read(&e, after);
    assert_true(after[0] == 0);
}

TEST(counters_of_the_hardware_count_or_are_absent)
{
    native_events e;
    native_events_open(&e);
    uint64_t before[NATIVE_EVENTS], after[NATIVE_EVENTS];
    native_events_read(&e, before);
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < 1000000; i++) sum += i;
    native_events_read(&e, after);
    if (native_events_has(&e, NATIVE_EVENT_INSTRUCTIONS))
        assert_true(after[NATIVE_EVENT_INSTRUCTIONS] - before[NATIVE_EVENT_INSTRUCTIONS] > 1000000);
    else
        assert_true(after[NATIVE_EVENT_INSTRUCTIONS] == 0);
    native_events_close(&e);
}
