/* Where storages go in their space.
 *
 * They follow each other while they fit. When they do not, those that never live at once share bytes, in two
 * steps. First where that costs nothing: one pipe alone uses both, and a pipe runs in order; or they live in different
 * loops, where one waits for the other once and not in every iteration. Only then all others, where one pipe waits for
 * another in every iteration. */
#ifndef STORAGE_PLACE_H
#define STORAGE_PLACE_H

#include <pto/plugin.h>

/* Places count ops in print order, both ends included. */
typedef struct storage_life {
    uint32_t first, last;
    uint32_t loop_first, loop_last; /* of the closest loop around all accesses; without one first and last */
    uint32_t pipes;                 /* set of storage_pipe */
    uint32_t order;                 /* of definition */
    pto_space space;
    int64_t bytes, align, addr; /* bytes: of all stages */
    pto_str name;               /* of its first tile, for messages; may be empty */
} storage_life;

typedef enum storage_sharing { STORAGE_APART, STORAGE_FREELY, STORAGE_ALL } storage_sharing;

/* Bit for what runs an instruction or tile op: the unit of its row, or one that stands for the pipes of all loads,
 * stores or moves, PTO_TRANSFER_*. */
static inline uint32_t storage_transfer_pipe(uint32_t transfer) { return UINT32_C(1) << transfer; }
uint32_t storage_pipe(const pto_run *run, pto_kind_id kind);
/* Whether bytes of a and b may be the same ones. */
int storage_may_share(const storage_life *a, const storage_life *b, storage_sharing sharing);
/* Assigns addresses to lives of one space, which it may reorder; the end of the last. Stops at INT64_MAX, and returns
 * that when the time is up. */
int64_t storage_place(const pto_run *run, storage_life **lives, uint32_t count, storage_sharing sharing);
/* Bytes that lives of one space need where sharing costs nothing; apart when they fit `capacity` so. Where more live at
 * one time than fit: how many. `spare` has space for as many. */
int64_t storage_needed(const pto_run *run, storage_life **lives, storage_life **spare, uint32_t count,
                       int64_t capacity);

#endif
