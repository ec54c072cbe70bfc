/* What the files of pto.outline share: a nest with what it uses from outside, and which nests are equal.
 *
 * Everything here lives in scratch memory of one run. */
#ifndef OUTLINE_NEST_H
#define OUTLINE_NEST_H

#include <pto/plugin.h>

enum { USE_READ = 1, USE_WRITE = 2, USE_SHAPE = 4, USE_VALUE = 8, OUTLINE_DEPTH_MAX = 64 };

/* A value from outside that a nest uses. */
typedef struct capture {
    pto_value value;
    uint32_t
        uses; /* USE_* of memory; USE_VALUE of a scalar; 0: a constant. USE_SHAPE alone: only its extents are needed */
} capture;

typedef struct nest {
    const pto_run *run;
    pto_op op, function;
    capture *captures;
    uint32_t count;
    pto_op *binds; /* of the function, that the kernel says again, in order */
    uint32_t bind_count, bind_capacity;
} nest;

/* Memory that all nests of a run share, one after the other. */
typedef struct capture_memory {
    capture *items;
    uint32_t capacity;
    pto_expr *exprs; /* of the nest, in the order in which they are first seen */
    uint32_t expr_count, expr_capacity;
} capture_memory;

typedef struct outline_kinds {
    pto_kind_id constant, bind, view;
} outline_kinds;

/* Finds what the nest uses, in the order of use; the captures are the nest's own. */
void outline_find_captures(nest *n, capture_memory *memory, const outline_kinds *kinds);
/* Lets the nest use one value for views that are the same memory in the same shape, where it writes there. */
pto_status outline_join_views(nest *n, const outline_kinds *kinds);
/* Refuses a nest that writes to one parameter and uses another that may overlap it: instances run in any order. */
pto_status outline_check_overlaps(const nest *n, const outline_kinds *kinds);
/* Whether memory mentions the symbol in an extent. */
int outline_memory_mentions(pto_value memory, pto_expr symbol);

/* ---- equal nests: equal except for the label and for the memory they work on ---- */

/* A nest as a sequence of words that names its values by number: equal nests have equal words. */
typedef struct nest_words {
    uint64_t *items;
    uint32_t count, capacity;
    int is_cut; /* something lies too deep: equal to nothing */
} nest_words;

typedef struct twin_slot {
    uint64_t hash;
    uint32_t nest; /* place + 1; 0: free */
} twin_slot;

/* The value numbers of one nest: open addressing by the index of a value's handle. */
typedef struct value_numbers {
    uint32_t *keys, *numbers;
    uint32_t capacity, mask, count;
} value_numbers;

typedef struct twin_table {
    const pto_run *run;
    const nest *nests; /* the places that slots name */
    twin_slot *slots;  /* open addressing by hash; at most half full */
    uint32_t mask;
    value_numbers numbers;
    nest_words wanted, other;
} twin_table;

#define OUTLINE_NO_TWIN UINT32_MAX

/* For at most `count` nests, which the caller keeps in `nests`. */
twin_table outline_twin_table(const pto_run *run, const nest *nests, uint32_t count);
/* The place of a nest that is equal to `n`. When there is none, `n` is entered as `place`. */
uint32_t outline_find_twin(twin_table *t, const nest *n, uint32_t place);

#endif
