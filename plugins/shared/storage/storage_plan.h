/* What on-chip storage the tiles of a kernel or of a nest need: the one rule that pto.select follows when it makes
 * buffers, and by which pto.pipeline and the footprint of pto.tile know what fits.
 *
 * A plan is a program without IR: ops in print order, the tiles they produce and take, loops and branches around them.
 * It is read off a module (storage_read.h), or recorded for tile sizes that are only being considered. storage_solve
 * then puts tiles into groups; the tiles of a group share one storage:
 *
 *   1. sums: the result of an accumulating product and the sum it adds to;
 *   2. what a loop carries, and what branches return, with what is handed over, inner loops first;
 *   3. in place: the result of an element-by-element instruction takes the storage of an operand that is not read
 *      afterwards. Not where another pipe reads that storage, since the instruction would wait for it; not where a
 *      loaded tile and a stored one would share, since their pipes would take turns; not over a loaded tile in a loop
 *      whose loads take longer than its work, since the next load would wait for all of that; not across loops; and
 *      not where the machine says that the instruction may not (`facts.<name>.in-place`).
 *
 * Scratch operands of the instructions that one pipe runs in one loop share one storage. Nothing is shared by tiles of
 * different capacity, element type, layout or space, nor by tiles that are needed at one time.
 * Time runs in halves: op k reads at 2k and writes at 2k + 1. All memory is scratch of one run. */
#ifndef STORAGE_PLAN_H
#define STORAGE_PLAN_H

#include "storage_place.h"

#define STORAGE_NONE UINT32_MAX

typedef struct storage_shape {
    int64_t rows, columns, bytes; /* bytes: of one stage, padded and aligned */
    pto_dtype dtype;
    pto_space space;
    pto_layout layout;
} storage_shape;

typedef struct storage_op {
    pto_kind_id kind;
    uint32_t parent;  /* op around it, or STORAGE_NONE */
    uint32_t last;    /* the last op inside of it; itself without blocks */
    uint32_t result;  /* tile that it produces, or STORAGE_NONE */
    uint32_t scratch; /* of its scratch operand, or STORAGE_NONE */
    uint32_t first_use, use_count;
    uint8_t repeats, counts;         /* a loop; one with an index, with which storages rotate */
    uint8_t hands_over;              /* a loop, branch or yield, which renames tiles */
    double load_cycles, work_cycles; /* of an iteration of a loop, without the loops in it */
} storage_op;

typedef struct storage_value {
    storage_shape shape;
    pto_str name;       /* for messages; may be empty */
    int64_t asked;      /* storages that what produces it lets it rotate through */
    int64_t stages;     /* the same with what its uses let it */
    uint32_t home;      /* op that produces it; the loop or branch for what is carried */
    uint32_t from, end; /* needed from its writing to its last reading, in halves */
    uint32_t last;      /* op of the last reading */
    uint32_t group;     /* toward the first value of its group */
    uint32_t ring;      /* next value of its group */
} storage_value;

typedef struct storage_use {
    uint32_t value, slot; /* slot: of the value form */
    int64_t stages;       /* that the user asked it to rotate through */
} storage_use;

typedef enum storage_reason { STORAGE_SUM, STORAGE_AROUND, STORAGE_HANDED } storage_reason;

typedef struct storage_link {
    uint32_t op, order, a, b;
    storage_reason reason;
} storage_link;

/* Of all values of a group, kept with the one that speaks for it. */
typedef struct storage_group {
    uint32_t from, end, last;
    uint32_t first; /* the value that is needed first */
    uint32_t loop;  /* the closest loop around all homes, or STORAGE_NONE */
    uint32_t writers, readers;
    int64_t stages;
} storage_group;

/* A scratch storage: that of the instructions of one pipe in one loop. */
typedef struct storage_scratch {
    uint32_t loop, pipe, first, last; /* first, last: ops that use it */
    uint8_t is_fresh;                 /* written first in every iteration of its loop */
    pto_space space;
    int64_t bytes;
} storage_scratch;

typedef struct storage_plan {
    const pto_run *run;
    uint8_t in_place, wants_scratch;
    struct {
        pto_kind_id kind;
        uint8_t may;
    } known[16];                 /* what the machine said of instructions in place, by kind modulo their number */
    double load_rate, work_rate; /* bytes of `vec` per cycle that a core loads, and works on; 0: not known */
    storage_op *ops;
    storage_value *values;
    storage_use *uses;
    storage_link *links;
    storage_group *groups; /* as many as values */
    storage_scratch *scratches;
    storage_life *lives, **pointers; /* pointers: two for each */
    uint32_t op_count, op_capacity, value_count, value_capacity, use_count, use_capacity, link_count, link_capacity,
        scratch_count, scratch_capacity, group_capacity, life_count, life_capacity;
    uint32_t shared; /* results that are computed in place */
} storage_plan;

/* `in_place`: whether rule 3 holds. */
storage_plan storage_plan_make(const pto_run *run, int in_place);
/* Forgets what was recorded; keeps the memory. */
void storage_plan_clear(storage_plan *p);

/* Recording, in print order. The uses of an op come right after it. */
uint32_t storage_add_op(storage_plan *p, pto_kind_id kind, uint32_t parent);
uint32_t storage_add_loop(storage_plan *p, pto_kind_id kind, uint32_t parent);
uint32_t storage_add_yield(storage_plan *p, pto_kind_id kind, uint32_t parent);
void storage_add_use(storage_plan *p, uint32_t op, uint32_t slot, uint32_t value, int64_t stages);
uint32_t storage_add_value(storage_plan *p, const storage_shape *shape, uint32_t home, uint32_t from);
uint32_t storage_add_result(storage_plan *p, uint32_t op, const storage_shape *shape, int64_t stages);
/* Two values that had better share, and the op because of which. */
void storage_add_link(storage_plan *p, storage_reason reason, uint32_t op, uint32_t a, uint32_t b);

/* Lets a transfer rotate its tile through so many storages. */
void storage_ask(storage_plan *p, uint32_t op, int64_t stages);

/* After recording, and again after stages have changed: decides by the rules above which values share. The answers
 * below need it. */
void storage_solve(storage_plan *p);

/* ---- answers ---- */

/* The value that speaks for the group of a value. */
uint32_t storage_group_of(const storage_plan *p, uint32_t value);
/* The closest loop around an op, or STORAGE_NONE. */
uint32_t storage_loop_around(const storage_plan *p, uint32_t op);
/* How many storages a group rotates through, with the loop around all its values; 1 without such a loop, and when that
 * has no index. */
int64_t storage_stages(const storage_plan *p, uint32_t group);
/* Extents and bytes of the scratch operand that an instruction requires, in the space of its result. 0: it needs none.
 */
int storage_scratch_shape(const storage_plan *p, pto_kind_id kind, const storage_shape *source,
                          const storage_shape *result, storage_shape *out);
/* All storages. The array belongs to the plan. */
uint32_t storage_lives(storage_plan *p, storage_life **out);
/* Bytes that the space must have, as storage_needed says; `capacity` is what it has. */
int64_t storage_bytes(storage_plan *p, pto_space space, int64_t capacity);

/* ---- between the files of the plan ---- */

/* Adds the scratch operands of instructions to the plan, for storage_solve. */
void storage_find_scratch(storage_plan *p);

#endif
