/* Numbers by name, in time that does not grow with how many there are. Zeroed memory is an empty index. */
#ifndef TOOLS_RUN_NAME_INDEX_H
#define TOOLS_RUN_NAME_INDEX_H

#include "ir/base/arena.h"
#include "ir/base/text.h"

#include <stdbool.h>

typedef struct name_slot {
    str name;
    uint32_t number; /* and 1; 0: free */
} name_slot;

typedef struct name_index {
    name_slot *slots;       /* open addressing */
    size_t capacity, count; /* capacity: a power of two */
} name_index;

/* False when the name is not there. */
bool name_index_find(const name_index *x, str name, uint32_t *out_number);
/* `name` is not there yet, and lives as long as the index. */
void name_index_put(arena *a, name_index *x, str name, uint32_t number);

#endif
