/* A run of ops that are one nest: emit_fuse.c finds it, emit_nest.c writes it. */
#ifndef EMIT_NEST_H
#define EMIT_NEST_H

#include "emit.h"

enum { NEST_OPS_MAX = 96 };

typedef enum fused_kind {
    FUSED_NONE,
    FUSED_MAP,
    FUSED_LOAD,
    FUSED_STORE,
    FUSED_REDUCE,
    FUSED_COLUMN_REDUCE, /* into a tile of one row, which the nest does not read */
    FUSED_ROW_MAP,       /* of one column: a scalar for each row */
    FUSED_ROW_LOAD,
    FUSED_ROW_STORE
} fused_kind;

typedef struct fused_op {
    pto_op op;
    fused_kind kind;
    uint32_t level;  /* of row kinds: the sweep that they are before */
    int is_kept;     /* its result is used elsewhere, and stored as a tile */
    int is_crossing; /* a later sweep uses it: a row keeps it */
    int is_cheap;    /* a later sweep computes it again instead */
    emit_window window;
    const char *memory;  /* pointer to the row, or of row kinds to the window */
    const char *streams; /* of a store: whether it is streamed; NULL: it is not */
} fused_op;

struct emit_group {
    uint32_t count;
    int has_columns; /* an op of several columns has joined */
    pto_expr rows, columns;
    fused_op ops[NEST_OPS_MAX];
    /* While it is written. */
    const char *row; /* C of the row's index; "0": there is one */
    const char *row_count, *column_count;
    uint32_t sweep, last; /* the one that is written, and the last one */
    int is_ahead;         /* what the next row needs has been asked for, or half of it */
    uint32_t ahead;       /* the sweep that asked first */
    int trails;           /* the last sweep of a row runs within the one before it of the next row */
    const char *tail;     /* C of the number of elements of a vector; NULL: all */
    uint32_t *declared;   /* handles of values that the sweep has in variables */
    uint32_t declared_count;
};

/* Whether it makes a scalar of a row. */
static inline int nest_is_row_kind(fused_kind k) { return k >= FUSED_ROW_MAP; }
/* What a transfer is from or to; none of other ops. */
pto_value nest_memory_of(const fused_op *f);
/* The op of the nest that makes a value; NULL: it is made elsewhere. */
fused_op *nest_maker_of(emit_group *g, pto_value v);
/* Whether an op of f32 is one instruction for each vector. */
int nest_is_one_step(pto_op op);
/* Writes it; sweeps are 0 to `most`. */
void emit_nest(emitter *e, emit_group *g, uint32_t most);

#endif
