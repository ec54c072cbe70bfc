/* The flags that a kernel needs. Memory is scratch of one run; the model must outlive the plan. */
#ifndef SYNC_PLAN_H
#define SYNC_PLAN_H

#include "sync_flow.h"

/* What searching may cost for each purpose, in units of sync_flow_cost; what is not looked at stays as it is. */
enum { SYNC_COST_MAX = 1 << 28 };

typedef struct sync_plan {
    const sync_model *m;
    sync_flag *flags;
    uint32_t count, capacity;
    uint32_t implied; /* flags left out because others order the same */
    uint32_t merged;
    uint32_t barriers; /* the first that sync_add_barriers added */
    uint32_t *list;    /* memory for work on flags */
    uint32_t list_capacity;
    uint64_t spent;    /* on looking for events to share */
    int64_t event_ids; /* that the machine has for each ordered pair of pipes */
} sync_plan;

/* Whether two stages are the same number. */
static inline int sync_is_same_number(pto_expr a, pto_expr b) { return a.index == b.index || pto_expr_equal(a, b); }

/* One flag for each pair of instructions that needs one, without those that one other implies. */
pto_status sync_plan_make(const sync_model *m, int64_t event_ids, sync_plan *out);
/* Leaves out each flag without which all pairs are still in order. */
pto_status sync_drop_implied(sync_plan *plan);
/* Assigns ids to events. Where a pair of pipes has too few, in this order: flags whose events are never in use at once
 * share them; flags of different loops hand on one token; flags of one block are merged; events of stages become one; a
 * flag becomes a barrier. So it always ends well. */
pto_status sync_assign_events(sync_plan *plan);
/* Adds barriers of single pipes whose instructions overlap, as few as the flags leave necessary: the last step. */
pto_status sync_add_barriers(sync_plan *plan);

#endif
