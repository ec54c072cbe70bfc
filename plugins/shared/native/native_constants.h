/* What generated code makes of constants, for further calls with the same. */
#ifndef PTO_NATIVE_CONSTANTS_H
#define PTO_NATIVE_CONSTANTS_H

#include "native_arena.h"

#include <stdbool.h>
#include <stddef.h>

/* In memory of the caller, which sets `memory` before the first call and ends that arena. Of one thread. */
typedef struct native_constants {
    native_arena memory;
    uint64_t version;           /* of the constants that it is of; 0: nothing is known of them */
    struct native_made *newest; /* of a list in `memory` */
} native_constants;

/* Before a call with constants of that version: what was made of others goes. */
void native_constants_begin(native_constants *c, uint64_t version);
/* Memory for what is made of constants and of what the key says: the same until the version changes. `**is_made`: it
 * was made; the caller says so then. NULL: nothing is known of constants, or there is no memory, which is not an error:
 * what does not stay is made in each call. */
void *native_constants_keep(native_constants *c, const void *key, size_t key_bytes, size_t bytes, bool **is_made);

#endif
