/* Instances of a kernel on a pool: scratch memory for each thread, and the fault of the first instance that has one. */
#ifndef PTO_NATIVE_LAUNCH_H
#define PTO_NATIVE_LAUNCH_H

#include "native_arena.h"
#include "native_pool.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Runs one instance; returns 0, or the number of a fault. */
typedef int32_t (*native_kernel)(const void *frame, int64_t instance, char *scratch);

typedef struct native_launch {
    native_kernel kernel;
    const void *frame;
    char *scratch;
    size_t scratch_step; /* from one thread's to the next one's */
    /* The first instance that failed so far: those after it need not run. Its fault is written with the lock. */
    _Atomic int64_t failed_at;
    atomic_flag lock;
    int32_t fault;               /* once all have run; 0: none failed */
    int64_t index_and_extent[2]; /* that the instance left at the begin of its scratch, if it leaves any */
} native_launch;

/* Makes a launch ready, whose scratch memory, `scratch_bytes` for each of so many threads, is all that `scratch` has
 * taken afterwards. NATIVE_NO_MEMORY. */
native_status native_launch_begin(native_launch *l, native_kernel kernel, const void *frame, size_t scratch_bytes,
                                  uint32_t threads, native_arena *scratch, native_error *e);
/* Runs the instances from `from` up to but not `to`: a native_work, whose frame is the launch. */
void native_launch_run(void *launch, int64_t from, int64_t to, uint32_t thread);

enum { NATIVE_INDEX_TEXT = 80 };
/* What the sentence about a fault ends with: that the index is out of the extent, or nothing. Returns `text`. */
const char *native_index_text(bool has_index, const int64_t index_and_extent[2], char text[NATIVE_INDEX_TEXT]);

#endif
