/* What every pipe of a kernel knows of the others, for all runs of the kernel at once.
 *
 * A run of the kernel is a sequence: each instruction, set and wait with its loop indices, in the order of the text and
 * of the trips. Each pipe executes its part of it one after the other. Beside that only flags order anything: the n-th
 * wait for an event ends after the n-th set of it, hence after what the setting pipe did or knew of until then.
 *
 * WHAT IS KNOWN. Instructions are put into classes: the op together with the stages that it touches. For each pipe, and
 * for each event that holds a token, the state has a set of classes: "all instances of this class that come before this
 * place of the sequence are over before the pipe goes on" (for an event: "... before the token is there"). Then
 *
 *     instruction, class c, pipe p   c leaves every set but that of p: there is one more instance to know of
 *     set of event e on p            e gets the set of p; with tokens left, what that and its own have in common
 *     wait for e on p                the set of p is joined with that of e
 *     barrier of all pipes           every set becomes everything
 *     barrier of pipe p              what p has done it also knows to be over
 *     two paths meet                 what the sets of both have in common
 *
 * Before an instruction of class d on pipe q runs, each class that touches the same bytes, d or the other writing, must
 * be in the set of q. What a pipe did itself it knows, since it is in order; where the machine says that instructions
 * of a pipe overlap, it has two sets: what is over when a flag of it is set, and what is over when its next instruction
 * begins, which is less. Windows of global memory meet or not by
 * the iterations they are in, so each op that touches one has two or more classes there: all instances, and all
 * instances before the current trip of one of the loops around it.
 *
 * WHY THIS IS ALL RUNS. The number of a trip matters only through the stages and event ids that it leads to, which come
 * round (sync_cycle.h): with p the least common period of those in a loop, trip n does what trip n mod p did. So each
 * loop is laid out p times in a row, its end joined to its start, left from any of them and, unless it is known to have
 * a trip, passed by; a `while` has p = 1, for what decides about it is not followed; an `if` may go either way,
 * whatever it asks. Every run is a path through this finite graph, and along it the state is, by induction over the
 * sequence, a subset of what is really known: each rule above derives the new state from a sound old one. The states at
 * the starts of loops are lowered from "everything" until they no longer change, which is the greatest solution; then
 * every instruction has been looked at in a sound state. No extent, number of trips, or number of cores takes part,
 * except for loops with a constant number of trips, at most two periods, which are laid out trip by trip: what those
 * of the second period know of the pipes is what follows such a loop.
 *
 * Nor does any pipe wait for ever: a wait is only accepted after its set in the sequence, so all waiting is for what
 * is earlier. Numbers of tokens are the same on all paths to a place, or that is an error; then the n-th wait in the
 * sequence takes the n-th token of the event, whatever the pipes' speed.
 *
 * What is given up: where the condition of one branch decides about another, paths are followed that no run takes; a
 * stage that does not come round may be any stage. Both only ask for more order than needed.
 *
 * Memory is scratch of one run; the model and the flags must outlive the flow. */
#ifndef SYNC_FLOW_H
#define SYNC_FLOW_H

#include "sync_model.h"

/* Flags not yet in the text. A forward one is set after the op `set` and waited for before the op `wait` of the same
 * block. A carried one is waited for before `wait` and set after `set`; `around` .. `until` are ops of one block, one
 * token for each stage is set before the first and one for each is waited for after the last. A guest takes the tokens
 * of its host, each of whose waits comes before its own set on every path, and has no first sets and last waits. */
typedef struct sync_flag {
    uint32_t src, dst;      /* pipes */
    uint32_t set, wait;     /* ops of one block */
    uint32_t around, until; /* SYNC_NONE: forward */
    int64_t stages;         /* 1: one event */
    pto_expr stage;         /* of 0 .. stages - 1 when there are several */
    uint32_t cycle;         /* of `stage` */
    uint32_t behind, leads; /* an instruction that must come first and one that must come after: for locations */
    int is_dropped;
    int is_barrier;  /* of all pipes, before `wait` and, if carried, after `until`, in place of the flag; with src ==
                      * dst of that pipe alone */
    uint32_t host;   /* itself, except for guests */
    uint32_t shares; /* the flag whose events it uses; itself normally */
    int64_t event;   /* first event id */
} sync_flag;

/* Two instructions that nothing orders; a wait that no set comes before, `second` being SYNC_NONE; or an op whose
 * paths leave different numbers of tokens, `second` being the same. */
typedef struct sync_race {
    uint32_t first, second;
} sync_race;

/* Whether it is two instructions, or one in two iterations. */
static inline int sync_is_pair(const sync_model *m, const sync_race *race)
{
    return race->second != SYNC_NONE && m->ops[race->first].role == SYNC_INSN;
}

typedef struct sync_flow sync_flow;

/* Where flags are put: in front of an op, in this order. */
typedef enum sync_part {
    SYNC_PART_SET,
    SYNC_PART_FIRST_SETS,
    SYNC_PART_LAST_WAITS,
    SYNC_PART_WAIT,
    SYNC_PART_BARRIER
} sync_part;
typedef struct sync_gap {
    uint32_t before; /* op */
    uint32_t flag;
    sync_part part;
} sync_gap;
/* All parts of the flags that are not dropped, by op; those that set come before those that wait. */
uint32_t sync_list_gaps(const sync_model *m, const sync_flag *flags, uint32_t flag_count, int with_dropped,
                        sync_gap **out);

/* The flag whose events a flag uses. */
static inline uint32_t sync_events_of(const sync_flag *flags, uint32_t flag) { return flags[flags[flag].host].shares; }

/* Lays the kernel out. `flags` may be empty, and are read again by each run; the flags of the text count as well.
 * `with`: some of sync_with. PTO_FAILED after a diagnostic: an event id that is not known. */
enum sync_with {
    SYNC_WITH_FLAGS, /* order between pipes alone */
    SYNC_WITH_WAITS, /* for sync_flow_find_sharing */
    SYNC_WITH_OWN    /* order on pipes whose instructions overlap, too */
};
pto_status sync_flow_make(const sync_model *m, const sync_flag *flags, uint32_t flag_count, int with, sync_flow **out);
/* About what a run costs, in words looked at. */
uint64_t sync_flow_cost(const sync_flow *f);
/* Whether the flags that are not dropped order every pair and every wait has its token. `out_race` may be NULL. */
int sync_flow_run(sync_flow *f, sync_race *out_race);
/* Clears can_share[i * flag_count + k], 1 before, where flag i could be set while flag k of the same pipes and stages
 * has a token left or, for all that the setting pipe knows, a wait not over. With both ways left at 1, one event does
 * for both: at no speed of the pipes it holds a token when it gets one. Needs `with_waits`. */
void sync_flow_find_sharing(sync_flow *f, uint8_t *can_share);
/* Says what a run found, except for different numbers of tokens; PTO_FAILED. */
pto_status sync_report_race(const sync_model *m, const sync_race *race);

#endif
