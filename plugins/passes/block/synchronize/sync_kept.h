/* What was found out for one kernel, kept for the next that is like it: modules have many kernels that differ in
 * constants, names and instructions of one pipe alone.
 *
 * Which flags order a kernel follows from a part of the model: control, pipes, the bytes of accesses, what comes round,
 * and which pairs need an order. The numbers of that part are the key. All of them are compared, so what is found is
 * what would be made. Nothing is kept of a kernel with more numbers, nor of one with errors. */
#ifndef SYNC_KEPT_H
#define SYNC_KEPT_H

#include "sync_plan.h"

enum { SYNC_KEY_WORDS = 2048 };

typedef struct sync_key {
    uint32_t count; /* above SYNC_KEY_WORDS: too many, and never found */
    uint64_t words[SYNC_KEY_WORDS];
} sync_key;

/* The numbers of the model that sync_flow.h looks at. */
void sync_key_of(const sync_model *m, sync_key *out);
/* Adds those of a plan of which nothing has been left out. */
void sync_key_add_plan(sync_key *key, const sync_plan *plan);

/* Whether a kernel with this key is known to be in order, and the note that it is. */
int sync_find_checked(const sync_model *m, const sync_key *key);
void sync_keep_checked(const sync_model *m, const sync_key *key);

/* Turns the plan that is in the key into what became of such a one. 0: it is not known. */
int sync_find_plan(sync_plan *plan, const sync_key *key);
void sync_keep_plan(const sync_plan *plan, const sync_key *key);

#endif
