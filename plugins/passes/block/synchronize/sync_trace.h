/* What a kernel may do, unrolled: for each of a few choices of trips and branches the instructions and flags in the
 * order they are issued, run on pipes that know nothing of each other but what flags tell them.
 *
 * A trace takes loops a few trips, more than the largest number of stages needs, or one, or none, and either side of an
 * `if`. For each two blocks whose instructions may meet there are traces that leave out all other control, since what
 * does not run orders nothing. Flags repeat with stages, so a few trips stand for many. */
#ifndef SYNC_TRACE_H
#define SYNC_TRACE_H

#include "sync_model.h"

/* Flags not yet in the text. A forward one is set behind the op `set` and waited for before the op `wait` of the same
 * block. A carried one is waited for before `wait` and set behind `set`; `around` is the outermost loop, before which
 * one token for each stage is set and behind which one for each is waited for. */
typedef struct sync_flag {
    uint32_t src, dst;      /* pipes */
    uint32_t set, wait;     /* ops of one block */
    uint32_t around;        /* SYNC_NONE: forward */
    int64_t stages;         /* 1: one event */
    pto_expr stage;         /* of 0 .. stages - 1 when there are several */
    uint32_t behind, leads; /* an instruction that must come first and one that must come after: for messages */
    int is_dropped;
    uint32_t shares; /* the flag whose events it uses; itself normally */
    int64_t event;   /* first event id */
} sync_flag;

/* Two instructions that nothing orders, or a wait that never ends (`second` SYNC_NONE). */
typedef struct sync_race {
    uint32_t first, second;
} sync_race;

typedef struct sync_traces sync_traces;

/* Where flags come to stand: in front of an op, in this order. */
typedef enum sync_part { SYNC_PART_SET, SYNC_PART_FIRST_SETS, SYNC_PART_LAST_WAITS, SYNC_PART_WAIT } sync_part;
typedef struct sync_gap {
    uint32_t before; /* op */
    uint32_t flag;
    sync_part part;
} sync_gap;
/* All parts of the flags that are not dropped, by op; those that set come before those that wait. */
uint32_t sync_list_gaps(const sync_model *m, const sync_flag *flags, uint32_t flag_count, int with_dropped,
                        sync_gap **out);

/* Unrolls. `flags` may be empty; the flags of the text count as well. PTO_FAILED after a diagnostic: too much to
 * unroll, or an event id out of bounds. */
pto_status sync_traces_make(const sync_model *m, const sync_flag *flags, uint32_t flag_count, sync_traces **out);
/* Whether the flags that are not dropped order every pair and no pipe waits for ever. `out_race` may be NULL. */
int sync_traces_run(sync_traces *t, sync_race *out_race);
/* Whether in addition no event ever holds a token when it gets one, for the events that `flag` uses. */
int sync_traces_run_single(sync_traces *t, uint32_t flag);
/* Whether the kernel has more pairs of blocks than are looked at: then a run shows nothing about the rest. */
int sync_traces_are_partial(const sync_traces *t);
/* Says what a run found; PTO_FAILED. */
pto_status sync_report_race(const sync_model *m, const sync_race *race);

#endif
