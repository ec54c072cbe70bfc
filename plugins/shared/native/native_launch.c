#include "native_launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A load waits for a store that is under way to the same place of another page. Large tensors begin near the begin of a
 * page, where allocators put them, and rows of them often are whole pages long: what a thread writes beside them begins
 * half a page further, in all threads. */
enum { PAGE_BYTES = 4096, MIDDLE_BYTES = PAGE_BYTES / 2 };

/* From the memory of a thread to that of the next one: threads write at the ends of what they have, and prefetchers
 * fetch pairs of lines. */
static size_t step_of(size_t scratch_bytes)
{
    enum { LINES_BYTES = 128 };
    return (scratch_bytes + LINES_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* The first middle of a page from there on, which is less than a page away. */
static char *middle_of_page(void *memory)
{
    return memory == NULL ? NULL : (char *)memory + ((MIDDLE_BYTES - (uintptr_t)memory) & (PAGE_BYTES - 1));
}

native_status native_launch_begin(native_launch *l, native_kernel kernel, const void *frame, size_t scratch_bytes,
                                  uint32_t threads, native_arena *scratch, native_error *e)
{
    const size_t step = step_of(scratch_bytes);
    void *memory = NULL;
    native_arena_reset(scratch);
    const native_status status = native_arena_take(scratch, step * threads + PAGE_BYTES, &memory, e);
    l->kernel = kernel;
    l->frame = frame;
    l->scratch = middle_of_page(memory);
    l->scratch_step = step;
    l->fault = 0;
    l->index_and_extent[0] = l->index_and_extent[1] = 0;
    atomic_init(&l->failed_at, INT64_MAX);
    atomic_flag_clear_explicit(&l->lock, memory_order_relaxed);
    return status;
}

static void note_fault(native_launch *l, int64_t instance, int32_t fault, const char *scratch)
{
    while (atomic_flag_test_and_set_explicit(&l->lock, memory_order_acquire)) continue;
    if (instance < atomic_load_explicit(&l->failed_at, memory_order_relaxed)) {
        atomic_store_explicit(&l->failed_at, instance, memory_order_relaxed);
        l->fault = fault;
        memcpy(l->index_and_extent, scratch, sizeof l->index_and_extent);
    }
    atomic_flag_clear_explicit(&l->lock, memory_order_release);
}

void native_launch_run(void *launch, int64_t from, int64_t to, uint32_t thread)
{
    native_launch *l = launch;
    char *scratch = l->scratch + thread * l->scratch_step;
    for (int64_t i = from; i < to && i < atomic_load_explicit(&l->failed_at, memory_order_relaxed); i++) {
        const int32_t fault = l->kernel(l->frame, i, scratch);
        if (fault != 0) note_fault(l, i, fault, scratch);
    }
}

const char *native_index_text(bool has_index, const int64_t index_and_extent[2], char text[NATIVE_INDEX_TEXT])
{
    text[0] = '\0';
    if (has_index)
        (void)snprintf(text, NATIVE_INDEX_TEXT, ": index %" PRId64 " is out of the extent %" PRId64,
                       index_and_extent[0], index_and_extent[1]);
    return text;
}
