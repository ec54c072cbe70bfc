/* plugins/shared/native/native_launch.h: where the scratch memory of threads begins. */
#include "tests/unit/unit.h"

#include <native_launch.h>

#include <string.h>

enum { PAGE_BYTES = 4096, THREADS = 3 };

static int32_t write_own(const void *frame, int64_t instance, char *scratch)
{
    const size_t *bytes = frame;
    memset(scratch, (int)instance + 1, *bytes);
    return 0;
}

static void assert_places(size_t bytes)
{
    native_arena scratch = native_arena_begin(UINT64_C(1) << 30);
    native_launch l;
    native_error e;
    assert_int_equal(native_launch_begin(&l, write_own, &bytes, bytes, THREADS, &scratch, &e), NATIVE_OK);
    for (uint32_t t = 0; t < THREADS; t++) {
        const char *at = l.scratch + t * l.scratch_step;
        assert_int_equal((uintptr_t)at % PAGE_BYTES, PAGE_BYTES / 2);
        native_launch_run(&l, t, t + 1, t);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        for (size_t i = 0; i < bytes; i++) assert_int_equal(l.scratch[t * l.scratch_step + i], t + 1);
    const native_arena_block *const block = scratch.newest;
    assert_true(l.scratch + 2 * l.scratch_step + bytes <= (const char *)block - block->bytes + block->used);
    native_arena_end(&scratch);
}

TEST(scratch_of_each_thread_begins_in_the_middle_of_a_page)
{
    static const size_t bytes[] = {0, 1, 64, PAGE_BYTES / 2, PAGE_BYTES - 127, PAGE_BYTES, 65536};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) assert_places(bytes[i]);
}
