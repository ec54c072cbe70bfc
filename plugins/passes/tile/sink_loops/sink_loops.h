/* What the files of pto.sink-loops share: the two forms of a loop that runs in instances of a nest, and what is asked
 * of both. Everything here lives in scratch memory of one run. */
#ifndef SINK_LOOPS_H
#define SINK_LOOPS_H

#include <pto/plugin.h>

#include "windows.h"

#define SINK_KINDS(X)        \
    X(FOR, "for")            \
    X(FORALL, "forall")      \
    X(YIELD, "yield")        \
    X(BIND, "bind")          \
    X(VIEW, "view")          \
    X(EMPTY, "tile.empty")   \
    X(LOAD, "tile.load")     \
    X(STORE, "tile.store")   \
    X(MATMUL, "tile.matmul") \
    X(MATMUL_ACC, "tile.matmul_acc")
PTO_KINDS_AS(sink_kinds, SINK_KINDS);

#define SINK_STATS(X)               \
    X(SUNK, "sunk")                 \
    X(BODIES, "bodies of nests")    \
    X(COPIES, "copies of states")   \
    X(FORWARDED, "forwarded tiles") \
    X(HOISTED, "hoisted nests")     \
    X(LIFTED, "lifted loads")
PTO_STATS_AS(sink_stats, SINK_STATS);

/* Whether the op is `around`, or is inside of it. */
int sink_is_inside(pto_op op, pto_op around);
/* Whether the loop is known to have an iteration: a window may be outside of its tensor when there is none. */
int sink_has_iteration(const pto_run *run, pto_op loop);
/* Moves out of the loop the nests that make the same in each iteration: sink_hoist.c. */
pto_status sink_hoist(const pto_run *run, pto_op loop);
/* Lets the loop carry each tensor in the type in which its body makes it: sink_retype.c. */
pto_status sink_retype(pto_op loop);

/* ---- one nest, what is carried stays in tiles: sink_tiles.c ---- */

typedef struct sink_tiles sink_tiles;
/* `*why`: why the loop cannot be sunk so, NULL: it can. */
sink_tiles *sink_tiles_match(const pto_run *run, pto_op loop, const char **why);
pto_status sink_tiles_apply(sink_tiles *s);

/* ---- several nests, what is carried stays in memory: sink_body.c ---- */

/* num / den; none where den is 0. */
typedef struct sink_ratio {
    int64_t num, den;
} sink_ratio;

/* A tensor that an instance writes to: one that the loop carries, or one that an iteration makes. */
typedef struct sink_memory {
    pto_value begin; /* what the loop begins with; none: an iteration makes it */
    pto_type type;
    pto_str name;
    int32_t dim;     /* along which instances divide it, -1: not known */
    sink_ratio part; /* of it, for an index of the first nest */
    int64_t block;   /* of the dim, for an instance */
    int32_t home;    /* the carried tensor that it becomes, -1: none */
    int is_in_place; /* it is made in the memory of its home */
    pto_value place; /* of the new nest, when it is there */
    pto_value result;
} sink_memory;

typedef struct sink_nest {
    pto_op op;
    int32_t index; /* of the grid, that instances divide; -1: not known */
    int64_t step;  /* rows of it, of `extent`, in one of the accesses */
    pto_expr extent;
    sink_ratio ratio; /* of what an index covers to what one of the first nest does */
    int64_t share;    /* indices that an instance takes */
    int is_matrix;
} sink_nest;

/* A value of the loop that is one of the memories. */
typedef struct sink_name {
    pto_value value;
    uint32_t memory;
    int is_view;
} sink_name;

typedef struct sink_body {
    const pto_run *run;
    pto_op loop;
    const char *why;       /* it stays; NULL: it does not */
    const char *why_whole; /* one instance does all; NULL: instances divide a dim of each memory */
    pto_expr instances;
    sink_memory *memories;
    uint32_t memory_count, memory_capacity;
    sink_nest *nests;
    uint32_t nest_count, nest_capacity;
    sink_name *names;
    uint32_t name_count, name_capacity;
    double in_nest, launches; /* cycles of an iteration */
    int is_better;            /* in one nest */
    int is_open;              /* extents that nobody knows were tried at several sizes */
} sink_body;

/* What the loop is made of, and whether it can be one nest: `why`. */
void sink_body_match(sink_body *b);
/* The memory that a value of the loop is; NULL: it is not one. */
const sink_name *sink_body_find(const sink_body *b, pto_value v);
/* Whether a nest of the loop runs once, as a whole, in an instance and iteration. */
int sink_body_is_single(const sink_nest *n);
/* Finds a dim that instances may divide: sink_split.c. */
void sink_body_split(sink_body *b);
/* Finds what may be made in the memory that it is carried in: sink_place.c. */
void sink_body_place(sink_body *b);
/* Cycles of an iteration, in both forms: sink_cost.c. */
void sink_body_price(sink_body *b);
pto_status sink_body_apply(sink_body *b); /* sink_rewrite.c */
/* Loads of what was stored just before take the stored tile: sink_forward.c. `loop`: the new one. */
pto_status sink_forward(const sink_body *b, pto_op loop);

#endif
