/* Memory of one call after the other: workspaces, packed panels, rows of threads. */
#ifndef PTO_NATIVE_ARENA_H
#define PTO_NATIVE_ARENA_H

#include "native_error.h"

#include <stdint.h>

enum { NATIVE_ARENA_ALIGNMENT = 64 };

/* At the end of its bytes, in whole pages from the system. */
typedef struct native_arena_block {
    struct native_arena_block *before;
    uint64_t bytes, used;
} native_arena_block;

/* In memory of the caller. Of one thread; what was taken may be used by any. */
typedef struct native_arena {
    uint64_t bytes_max;
    uint64_t bytes;          /* of all blocks */
    uint64_t bytes_taken;    /* and not released */
    uint64_t bytes_peak;     /* the most that was taken at a time since the last reset */
    uint64_t bytes_expected; /* the same of the time before it */
    uint32_t block_count;
    native_arena_block *newest;
} native_arena;

/* An arena without memory, of at most so many bytes. */
native_arena native_arena_begin(uint64_t bytes_max);
/* Takes `bytes` at an address that is a multiple of NATIVE_ARENA_ALIGNMENT into `*memory`, until it is released. What
 * it holds is whatever was there. 0 bytes have an address, too. Blocks of 4 MiB and more ask for huge pages.
 * NATIVE_NO_MEMORY: more than bytes_max, or than the system has. */
native_status native_arena_take(native_arena *a, uint64_t bytes, void **memory, native_error *e);
/* What was taken after `mark` returned is released by `release` with its result, in the order of a stack. */
uint64_t native_arena_mark(const native_arena *a);
void native_arena_release(native_arena *a, uint64_t mark);
/* Releases all at the end of a call, and keeps the memory for the next one. When this call had to ask the system more
 * than once, the next one asks it once more, for all; those after it do not, until one needs more. */
void native_arena_reset(native_arena *a);
/* Returns all memory to the system. */
void native_arena_end(native_arena *a);

#endif
