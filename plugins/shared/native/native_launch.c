#include "native_launch.h"

native_status native_launch_begin(native_launch *l, native_kernel kernel, const void *frame, size_t scratch_bytes,
                                  uint32_t threads, native_arena *scratch, native_error *e)
{
    /* Threads write at the ends of what they have; prefetchers fetch pairs of lines. */
    enum { LINES_BYTES = 128 };
    const size_t step = (scratch_bytes + LINES_BYTES - 1) / LINES_BYTES * LINES_BYTES + LINES_BYTES;
    void *memory = NULL;
    native_arena_reset(scratch);
    const native_status status = native_arena_take(scratch, step * threads, &memory, e);
    l->kernel = kernel;
    l->frame = frame;
    l->scratch = memory;
    l->scratch_step = step;
    l->fault = 0;
    atomic_init(&l->failed_at, INT64_MAX);
    atomic_flag_clear_explicit(&l->lock, memory_order_relaxed);
    return status;
}

static void note_fault(native_launch *l, int64_t instance, int32_t fault)
{
    while (atomic_flag_test_and_set_explicit(&l->lock, memory_order_acquire)) continue;
    if (instance < atomic_load_explicit(&l->failed_at, memory_order_relaxed)) {
        atomic_store_explicit(&l->failed_at, instance, memory_order_relaxed);
        l->fault = fault;
    }
    atomic_flag_clear_explicit(&l->lock, memory_order_release);
}

void native_launch_run(void *launch, int64_t from, int64_t to, uint32_t thread)
{
    native_launch *l = launch;
    char *scratch = l->scratch + thread * l->scratch_step;
    for (int64_t i = from; i < to && i < atomic_load_explicit(&l->failed_at, memory_order_relaxed); i++) {
        const int32_t fault = l->kernel(l->frame, i, scratch);
        if (fault != 0) note_fault(l, i, fault);
    }
}
