/* Tables of records in chunks of an arena that never move, and runs of records in them, which are recycled by length.
 * Ids index a table; 0 is none. */
#ifndef IR_BASE_RECORD_TABLE_H
#define IR_BASE_RECORD_TABLE_H

#include "ir/base/arena.h"

#include <stdint.h>

enum { CHUNK_SHIFT = 10, CHUNK_RECORDS = 1 << CHUNK_SHIFT, CHUNK_MASK = CHUNK_RECORDS - 1 };

/* Runs of up to EXACT_RUN records are recycled by their exact length, longer ones have a capacity of a power of two. */
enum { EXACT_RUN = 16, RUN_CLASSES = EXACT_RUN + 1 + 32 };

/* Ids are below it. */
#define RECORDS_END 0x80000000u

typedef struct record_table {
    void **chunks;
    size_t chunk_capacity; /* of `chunks` */
    uint32_t chunk_count;
    uint32_t count; /* ids given out so far, 0 included */
    uint32_t record_bytes;
    uint32_t free[RUN_CLASSES]; /* first record of the first free run of a class; linked by the record's own field */
} record_table;

/* An empty table of records of so many bytes each. */
void record_table_init(record_table *t, uint32_t record_bytes);
/* Frees the list of chunks; the chunks belong to the arena. */
void record_table_fini(record_table *t);
/* A copy with the same ids, its chunks in `memory`. */
void record_table_copy(record_table *to, const record_table *from, arena *memory);
/* The first of `n` ids that were never used before, consecutive; their records are zero. BUG beyond RECORDS_END. */
uint32_t record_table_extend(record_table *t, arena *memory, uint32_t n);
static inline uint32_t record_table_add(record_table *t, arena *memory)
{
    return (t->count & CHUNK_MASK) != 0 ? t->count++ : record_table_extend(t, memory, 1);
}

/* The class of free runs of `n` records, and how many records its runs have. */
uint32_t run_class(uint32_t n);
uint32_t run_capacity(uint32_t class_index);

#endif
