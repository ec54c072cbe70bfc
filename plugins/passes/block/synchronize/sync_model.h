/* What the files of pto.synchronize share: a kernel as a table of ops (regions.h), what each instruction touches, and
 * which pairs of instructions may touch the same bytes, on different pipes or on one that needs barriers.
 *
 * Everything lives in scratch memory of one run. Ops are named by their place in the table; place 0 is the kernel. */
#ifndef SYNC_MODEL_H
#define SYNC_MODEL_H

#include "regions.h"
#include "sync_cycle.h"

#define SYNC_KINDS(X)         \
    X(KERNEL, "block.kernel") \
    X(BUFFER, "block.buffer") \
    X(TILE, "block.tile")     \
    X(VIEW, "view")           \
    X(BIND, "bind")           \
    X(SET, "pto.set_flag")    \
    X(WAIT, "pto.wait_flag")  \
    X(BARRIER, "pto.barrier")
PTO_KINDS_AS(sync_kinds, SYNC_KINDS);

#define SYNC_NONE REGION_NONE
#define SYNC_ALL_PIPES PTO_PIPE_ALL
enum {
    SYNC_DEPTH_MAX = 24,
    SYNC_EVENTS_MAX = 64,
    SYNC_PLACES_MAX = 1 << 16,
    SYNC_INSTRUCTIONS_MAX = 1 << 12,
    SYNC_PAIRS_MAX = 1 << 20
};

typedef enum sync_role {
    SYNC_OTHER,
    SYNC_INSN,
    SYNC_FOR,
    SYNC_IF,
    SYNC_WHILE,
    SYNC_SET,
    SYNC_WAIT,
    SYNC_BARRIER
} sync_role;

enum { SYNC_ANY_STAGE = -1 };

/* Bytes of a space, or a window of global memory, that an instruction touches. */
typedef struct sync_access {
    uint32_t op;
    int is_write;
    pto_space space; /* NONE: a window of memory */
    /* on chip: bytes [first, first + bytes) of each stage, the stages `pitch` bytes apart */
    pto_op buffer;
    pto_expr stage;
    int64_t constant; /* the stage, where it is always the same; else SYNC_ANY_STAGE */
    uint32_t cycle;   /* of the stage; SYNC_NONE: it may be any */
    int is_steady;    /* the stage, or all offsets, depend on loop indices, grid indices and symbols alone */
    int64_t stages, pitch, first, bytes;
    /* window */
    pto_value root, memory;
    uint32_t rank;
    pto_expr offsets[PTO_MAX_DIMS];
    int64_t extents[PTO_MAX_DIMS]; /* most elements along each dim; INT64_MAX: unknown */
} sync_access;

/* The bytes of an access: at its stage, or at all of its stages where that is not known. Beside the accesses, since all
 * are compared with all. */
typedef struct sync_span {
    int64_t lo, hi; /* `hi` excluded */
    pto_space space;
    int is_write;
} sync_span;

typedef struct sync_op {
    const region_op *at; /* what is around it */
    pto_kind_id kind;
    sync_role role;
    uint32_t pipe, dst_pipe;       /* numbers; SYNC_ALL_PIPES: of a barrier */
    uint32_t cycle;                /* of the event id */
    uint32_t trips;                /* of a loop, as region_trips says */
    uint32_t period;               /* trips of a loop after which stages and event ids in it come round */
    int is_counted;                /* all trips of the loop are looked at, one by one */
    int has_trip;                  /* the loop is known to have one */
    int has_window;                /* one of its accesses is a window of memory */
    uint32_t access, access_count; /* in `accesses` */
    uint32_t pair, pair_count;     /* in `pairs`, sorted by the second instruction */
} sync_op;

/* `second` may touch what `first` touched before it, one of them writing; or the other way round, then this may be
 * empty but is there. */
typedef struct sync_pair {
    uint32_t first, second;
    int on_chip;
    int in_gm;      /* in one iteration of all loops around both, `first` being earlier in the text */
    uint32_t gm_by; /* bit d: `first` in an earlier iteration of the common op at depth d than `second` */
} sync_pair;

struct sync_model {
    const pto_run *run;
    /* Pipes have numbers from 1 on in the order of their ids. */
    pto_pipe pipes[PTO_NAMES_MAX]; /* by number */
    uint32_t pipe_end;             /* numbers are below it */
    uint32_t scalar;               /* number of the pipe that issues to the others; 0: nothing waits on it */
    uint8_t first_event[PTO_NAMES_MAX][PTO_NAMES_MAX]; /* by numbers: ids below it are the library's in this kernel */
    uint8_t overlaps[PTO_NAMES_MAX]; /* by number: instructions of the pipe that depend on each other need a barrier */
    region_table regions;
    sync_op *ops; /* as many as regions, and at the same places */
    uint32_t count;
    sync_access *accesses;
    sync_span *spans; /* of each access, at `constant` */
    uint32_t access_count;
    sync_pair *pairs;
    uint32_t pair_count;
    uint32_t *loops; /* places of `for`s */
    uint32_t loop_count;
    pto_str *bound; /* symbols that `bind` ops define */
    uint32_t bound_count;
    sync_cycles *cycles;
    uint32_t *invariant_periods; /* of each invariant of `cycles` */
};

/* PTO_FAILED after a diagnostic: an op that cannot be ordered, a buffer without address, an unknown pipe, too many
 * stages that come round together. */
pto_status sync_model_make(const pto_run *run, pto_op kernel, sync_model *out);
/* The `for` whose index a leaf is; SYNC_NONE: none. */
uint32_t sync_loop_of_index(const sync_model *m, pto_expr leaf);
/* Trips of a loop that are looked at, all of them when it is counted. */
uint32_t sync_trips(const sync_model *m, uint32_t place);
/* Lets all trips of a loop be looked at one by one. PTO_FAILED after a diagnostic: they are too many. */
pto_status sync_count_trips(sync_model *m, uint32_t loop);

/* Whether two instructions are on one pipe, which then needs a barrier between them. */
static inline int sync_is_own(const sync_model *m, uint32_t first, uint32_t second)
{
    return m->ops[first].pipe == m->ops[second].pipe;
}

/* Of a pipe by its number in the model. */
static inline pto_str sync_pipe_name(const sync_model *m, uint32_t pipe)
{
    return pto_pipe_name(m->run, m->pipes[pipe]);
}

/* Fills `pairs`. PTO_FAILED after a diagnostic: there are too many. */
pto_status sync_find_pairs(sync_model *m);
/* The bytes of an on-chip access at a stage; SYNC_ANY_STAGE: at any. */
sync_span sync_span_of(const sync_access *a, int64_t stage);
static inline int sync_spans_meet(const sync_span *a, const sync_span *b)
{
    return a->space == b->space && a->lo < b->hi && b->lo < a->hi;
}
/* Whether two on-chip accesses may touch the same bytes at the stages given; SYNC_ANY_STAGE: any. */
int sync_bytes_meet(const sync_access *a, int64_t stage_a, const sync_access *b, int64_t stage_b);
/* Whether two accesses of one pair may meet while the loops around both are in the same iteration. */
int sync_meets_at_once(const sync_access *a, const sync_access *b);
/* Whether the expression names nothing but grid and loop indices and symbols with one value for the whole kernel. */
int sync_is_steady(const sync_model *m, pto_expr e);
/* Whether everything the expression names is known in the block of `place`. */
int sync_is_visible(const sync_model *m, pto_expr e, uint32_t place);

#endif
