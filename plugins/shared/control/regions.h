/* The regions of a kernel or nest as one table, for passes: every op in print order, what is around it, how often loops
 * run, and what loops and branches hand over.
 *
 * Place 0 is the root, which counts as run once. The ops in it follow in print order, so an op and all that is inside
 * of it have the places from its own to its `last`. The table is of the moment: ops that are moved inside their block
 * keep what is said of the blocks around them, and nothing else.
 *
 * Carried values, by number i, in the words of the text:
 *
 *     %r = for %t .. carry(%a = %x) { yield %n }              %x -> %a or %r; %n -> %a or %r
 *     %r = while carry(%a = %x) { yield %go } do (%b) { yield %n }   %x -> %a; %a -> %b or %r; %n -> %a
 *     %r = if .. { yield %m } else { yield %n }               %m -> %r; %n -> %r
 *
 * Memory is scratch of one run. */
#ifndef CONTROL_REGIONS_H
#define CONTROL_REGIONS_H

#include <pto/plugin.h>

#define REGION_NONE UINT32_MAX
enum { REGION_ROOT = 0 };

typedef enum region_kind {
    REGION_PLAIN, /* without blocks */
    REGION_FOR,
    REGION_IF,
    REGION_WHILE,
    REGION_ONCE, /* tile.fused: runs its block once, and has what that yields as results */
    REGION_YIELD,
    REGION_OTHER /* with blocks, and what it does with them is not known here; the root */
} region_kind;

typedef struct region_op {
    pto_op op;
    region_kind kind;
    uint32_t parent, block; /* the op around it, and which of its blocks; of the root REGION_NONE and 0 */
    uint32_t blocks;        /* how many it has */
    uint32_t next;          /* in the block; REGION_NONE at its end */
    uint32_t last;          /* the last op inside; itself without blocks */
    uint32_t first[2];      /* of each block; REGION_NONE: there is none */
    uint32_t depth;         /* ops around it, the root counted */
} region_op;

typedef struct region_table {
    const pto_run *run;
    region_op *ops;
    uint32_t count;
    uint32_t *slots, slot_mask; /* places by the hash of the op's handle, REGION_NONE where free */
} region_table;

/* `root` and all ops inside, in print order, each with what it is in; in scratch memory of the run. */
region_table regions_of(pto_op root);
/* REGION_NONE for an op that is not in the table. */
uint32_t region_place(const region_table *r, pto_op op);
int region_is_loop(const region_table *r, uint32_t place);
/* The innermost loop around an op, without itself, and the outermost one, with itself; REGION_NONE: there is none. */
uint32_t region_loop_around(const region_table *r, uint32_t place);
uint32_t region_outermost_loop(const region_table *r, uint32_t place);
/* The innermost op around both, which may be one of them. */
uint32_t region_common(const region_table *r, uint32_t a, uint32_t b);
/* The op directly in that block of `parent` that is or contains `place`; REGION_NONE when there is none. */
uint32_t region_within(const region_table *r, uint32_t place, uint32_t parent, uint32_t block);

/* ---- how often a loop runs ---- */

/* Trips of a `for` with constant bounds, below REGION_NONE; REGION_NONE when they are not known. */
uint32_t region_trips(const region_table *r, uint32_t place);
/* Whether the body of a loop is known to run once or more. */
int region_has_trip(const region_table *r, uint32_t place);

/* ---- what is handed over ---- */

/* The values that the op carries or returns: one for each result. */
uint32_t region_carried(const region_table *r, uint32_t place);
/* Number i as a block of the loop sees it; none: the op is not a loop. */
pto_value region_argument(const region_table *r, uint32_t place, uint32_t block, uint32_t i);
/* Whether the yield of the block hands over the carried values. That of a condition hands over whether to go on. */
int region_block_gives(const region_table *r, uint32_t place, uint32_t block);

#endif
