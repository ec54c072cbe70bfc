/* Entries of a schedule by what they are about: the path of an op and the name of a decision. */
#ifndef CORE_FILES_SCHEDULE_INDEX_H
#define CORE_FILES_SCHEDULE_INDEX_H

#include "ir/base/arena.h"
#include "ir/base/text.h"

#include <stdint.h>

/* The first member of an entry. */
typedef struct schedule_key {
    str path, name; /* "@softmax/y", "tile" */
} schedule_key;

typedef struct schedule_index {
    arena *a;
    schedule_key **slots; /* open addressing; NULL: free */
    uint32_t capacity, count;
} schedule_index;

/* NULL when there is no such entry. */
schedule_key *schedule_index_find(const schedule_index *x, str path, str name);
/* Of entries about the same the first one is found. */
void schedule_index_add(schedule_index *x, schedule_key *entry);
/* Forgets all entries. */
void schedule_index_clear(schedule_index *x);

#endif
