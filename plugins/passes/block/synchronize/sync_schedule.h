/* The finite graph of sync_flow.h as a list of steps: each loop laid out for as many trips as its stages and events
 * need to come round, the paths between as steps of their own. */
#ifndef SYNC_SCHEDULE_H
#define SYNC_SCHEDULE_H

#include "sync_flow.h"

typedef enum flow_kind {
    FLOW_INSN,
    FLOW_SET,
    FLOW_WAIT,
    FLOW_ALL,    /* barrier of all pipes */
    FLOW_OWN,    /* barrier of one */
    FLOW_SCALAR, /* nothing is issued before the scalar pipe is here */
    FLOW_LOOP,   /* start of a loop: where the first trip and `at`, the state at the end of the last, meet */
    FLOW_TRIP,   /* start of a trip */
    FLOW_LEAVE,  /* where the loop may be left */
    FLOW_AGAIN,  /* back to FLOW_LOOP */
    FLOW_BEHIND, /* where all ways to leave meet */
    FLOW_IF,
    FLOW_ELSE,
    FLOW_END
} flow_kind;

typedef struct flow_step {
    flow_kind kind;
    uint32_t pipe;
    uint32_t op;   /* SYNC_NONE: of a flag that is not in the text */
    uint32_t flag; /* SYNC_NONE: of the text */
    uint32_t at;   /* class of an instruction; stage of a flag; event of the text; state that a loop keeps */
} flow_step;

/* Instances of one op that touch the same stages. */
typedef struct flow_class {
    uint32_t op;
    uint32_t next;    /* of the same op; SYNC_NONE at the end */
    uint32_t stages;  /* in `stages`: of each access, SYNC_ANY_STAGE when not known */
    uint32_t fact[2]; /* those that an instance makes untrue: on chip, in global memory; SYNC_NONE: none */
} flow_class;

/* What is known of an op in global memory: `fact` all instances before the trip of `loop`, `all` all instances. */
typedef struct flow_age {
    uint32_t op, loop;
    uint32_t fact, all;
} flow_age;

/* One event of the text. */
typedef struct flow_event {
    uint32_t src, dst, id;
} flow_event;

struct sync_flow {
    const sync_model *m;
    const sync_flag *flags;
    uint32_t flag_count;
    uint32_t *first_row; /* of each flag, one for each stage; rows of pipes come first */
    uint32_t text_row;   /* of the first event of the text */
    uint32_t
        own_row[PTO_NAMES_MAX]; /* of each pipe whose instructions overlap: what is over when the next begins; else 0 */
    uint32_t row_count;
    flow_step *steps;
    uint32_t step_count, step_capacity;
    flow_class *classes;
    uint32_t class_count, class_capacity;
    uint32_t *class_of; /* first of each op */
    int64_t *stages;
    uint32_t stage_count, stage_capacity;
    uint32_t *gm_fact; /* of each op: all its instances in global memory; SYNC_NONE: nothing asks */
    flow_age *ages;
    uint8_t *is_aged; /* by op: loops that have ages */
    uint32_t age_count, age_capacity;
    flow_event *events;
    uint32_t event_count, event_capacity;
    uint32_t kept_count;
    uint32_t depth;    /* at most so many loops and branches are open */
    uint32_t *fact_op; /* what each fact is about */
    uint32_t fact_count, fact_capacity;
    uint32_t word_count; /* of 64 facts */
    uint64_t *needs;     /* word_count for each class: what must be known before it runs */
    uint32_t wait_fact;  /* of the first event row: that its last wait is over; SYNC_NONE: not looked at */
    /* of a run */
    uint64_t *states;
    int *is_kept;
    sync_flow *next; /* the same for other values of the invariants */
};

/* Makes the facts about global memory: before the layout. */
void sync_find_ages(sync_flow *f);
/* Makes those about classes, and says which each class needs: after the layout. */
void sync_find_needs(sync_flow *f, int with);

#endif
