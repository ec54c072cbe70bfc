/* Ops that are one walk through rows, in C a nest of loops: emit_fused.c reads it, emit_nest.c writes it. */
#ifndef EMIT_NEST_H
#define EMIT_NEST_H

#include "emit.h"

typedef struct fused_op {
    pto_op op;
    fused_kind kind;
    uint32_t level;  /* of row kinds: the sweep that they are before */
    int is_kept;     /* its result is used elsewhere, and stored as a tile */
    int is_crossing; /* a later sweep uses it: a row keeps it */
    int is_cheap;    /* a later sweep computes it again instead */
    int is_moved;    /* elements of its result are of memory, or tiles, as they are: of narrow floats alone */
    int as_bits;     /* the result is needed as an integer */
    int as_number;   /* and as a float, too */
    emit_window window;
    const char *memory;  /* pointer to the row, or of row kinds to the window */
    const char *streams; /* of a store: whether it is streamed; NULL: it is not */
    const char *before;  /* of a store that trails: pointer to the row before */
} fused_op;

typedef struct emit_group {
    pto_op whole; /* the region of the ops, or the only one */
    uint32_t count;
    int has_columns; /* an op of several columns has joined */
    pto_expr rows, columns;
    fused_op *ops;
    /* While it is written. */
    const char *row; /* C of the row's index; "0": there is one */
    const char *row_count, *column_count;
    uint32_t sweep, last; /* the one that is written, and the last one */
    int is_ahead;         /* what the next row needs has been asked for, or half of it */
    uint32_t ahead;       /* the sweep that asked first */
    int trails;           /* the last sweep of a row runs within the one before it of the next row */
    int goes_on;          /* which may be one of the next trip of the loop around */
    const char *tail;     /* C of the number of elements of a vector; NULL: all */
    const char *head;     /* C of where a sweep that only stores has its second trip; NULL: none has one */
    uint32_t *declared;   /* handles of values that the sweep has in variables */
    uint32_t declared_count;
} emit_group;

/* As fused_memory_of. */
static inline pto_value nest_memory_of(const fused_op *f) { return fused_memory_of(f->op, f->kind); }
/* The op of the nest that makes a value; NULL: it is made elsewhere. */
fused_op *nest_maker_of(emit_group *g, pto_value v);
/* What is moved, of all ops: windows and levels are known. */
void nest_find_moves(emit_group *g);
/* Whether a value is of a narrow float and moved, so that it is stored as bits. */
int nest_is_moved(emit_group *g, pto_value v);
/* Whether no op of the nest computes it. */
int nest_has_bits(emit_group *g, pto_value v);
/* As what an op takes operand i; it may be both. What is computed comes as a number. */
int nest_takes_bits(emit_group *g, const fused_op *f, uint32_t i);
int nest_takes_number(emit_group *g, const fused_op *f, uint32_t i);
/* Whether an op of f32 is one instruction for each vector. */
int nest_is_one_step(pto_op op);
/* Writes it; sweeps are 0 to `most`. */
void emit_nest(emitter *e, emit_group *g, uint32_t most);

/* What of it emit_trail.c needs: the variable of a row's scalar, what is known of rows, and parts of a sweep. */
const char *nest_scalar_name(emitter *e, pto_value v);
const char *nest_bits_name(emitter *e, pto_value v);
int nest_has_one_row(const emit_group *g);
int nest_has_whole_vectors(const emit_group *g);
void nest_open_sweep(emitter *e, emit_group *g);
void nest_sweep_op(emitter *e, emit_group *g, const fused_op *f);

/* ---- a sweep that trails: emit_trail.c ---- */

/* Whether the last sweep may trail, of `most` + 1. */
int trail_is_possible(emitter *e, emit_group *g, uint32_t most);
/* Whether an op is of it, and whether it takes a value, as a number or as bits. */
int trail_has(const emit_group *g, const fused_op *f);
int trail_takes(emit_group *g, pto_value v, int as_bits);
/* Variables that one row leaves to the next; windows are open. */
void trail_declare(emitter *e, emit_group *g);
/* Within the sweep before: that of the row before. */
void trail_put(emitter *e, emit_group *g);
/* At the end of a row, and after the last one. */
void trail_end_row(emitter *e, emit_group *g);
void trail_end(emitter *e, emit_group *g);

#endif
