/* Which ops go into one walk through rows: those over the rows of one region, in the order of the program, as long as
 * to take them row by row is the same. */
#ifndef FUSED_RUN_H
#define FUSED_RUN_H

#include "fused_ops.h"

typedef struct fused_member {
    pto_op op;
    fused_kind kind;
} fused_member;

typedef struct fused_run {
    fused_member *members;
    uint32_t count, capacity;
    int has_columns; /* an op of several columns has joined */
    pto_expr rows, columns;
} fused_run;

/* Why an op of that kind and region does not go with those that have joined; NULL: it does. */
const char *fused_run_refuses(const fused_model *m, const fused_run *r, const fused_member *f,
                              const pto_expr region[2]);
void fused_run_join(const fused_model *m, fused_run *r, const fused_member *f, const pto_expr region[2]);
/* Whether an op of another region may run before those that have joined: it depends on none, and disturbs none. */
int fused_run_lets_pass(const fused_model *m, const fused_run *r, const fused_member *f);
/* The ops of a tile.fused as a run. `bad`: the first that does not go with those before it, for the returned reason;
 * NULL: they all do. */
const char *fused_run_read(const fused_model *m, pto_op fused, fused_run *r, pto_op *bad);

#endif
