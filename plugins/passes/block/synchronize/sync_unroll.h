/* Traces as their builder and their runner see them. */
#ifndef SYNC_UNROLL_H
#define SYNC_UNROLL_H

#include "sync_trace.h"

typedef enum step_kind { STEP_INSN, STEP_SET, STEP_WAIT, STEP_ALL, STEP_SCALAR } step_kind;

/* One thing that a pipe does. STEP_ALL: no pipe goes on before all are here. STEP_SCALAR: none before the scalar pipe.
 */
typedef struct trace_step {
    step_kind kind;
    uint32_t pipe; /* that does it; PTO_PIPE_ALL: every pipe */
    uint32_t op;   /* of the table; SYNC_NONE: of `flag` */
    uint32_t flag;
    uint32_t slot;     /* stage of the flag; for flags of the text the event (src, dst, id) as a number */
    uint32_t loops;    /* in `loops`: iteration of each op around, by depth */
    uint32_t stages;   /* in `stages`: of each access */
    uint32_t number;   /* while running: its position on the pipe, from 1 */
    uint32_t previous; /* while running: the step before of the same op, plus 1 */
} trace_step;

typedef struct trace {
    trace_step *steps;
    uint32_t count, room;
    uint32_t *loops;
    uint32_t loop_count, loop_room;
    int64_t *stages;
    uint32_t stage_count, stage_room;
    uint32_t *order[PTO_PIPE_COUNT]; /* steps of each pipe */
    uint32_t length[PTO_PIPE_COUNT];
    uint32_t set_count;
} trace;

/* Traces of everything by dice; then, for each two blocks whose instructions may meet, traces in which other loops and
 * branches are left out wherever that is possible: nothing in them orders what the two do. */
typedef enum trace_way { WAY_MOST, WAY_ONE, WAY_EVERY_OTHER, WAY_APART, WAY_DICE, WAY_COUNT } trace_way;
enum { TRACE_FREE = 6, TRACE_STEPS_MOST = 1 << 18, TRACE_STEPS_WANTED = 1 << 10, TRACE_STEPS_IN_ALL = 1 << 20 };

typedef struct vector_clock {
    uint32_t at[PTO_PIPE_COUNT];
} vector_clock;

typedef struct token {
    vector_clock clock;
    uint32_t next; /* plus 1 */
} token;

typedef struct event_state {
    uint32_t first, last;            /* tokens plus 1 */
    uint32_t wait_pipe, wait_number; /* of the last wait */
} event_state;

struct sync_traces {
    const sync_model *m;
    const sync_flag *flags;
    uint32_t flag_count, event_count;
    trace *traces;
    uint32_t count, room;
    uint32_t start; /* where the last run found something wrong; the next begins there */
    int is_partial; /* too many: not all were made */
    event_state *events;
    token *tokens;
    vector_clock *scalar; /* at each STEP_SCALAR, by step */
    uint32_t *latest;     /* step of each op that ran last, plus 1 */
};

#endif
