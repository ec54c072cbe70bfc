/* What the files of pto.hoist share: the ops of a nest, which loops each may leave, and what that gains. Ops are named
 * by their places in the table of regions (regions.h), which are those of the nest as it was. All memory is scratch of
 * one run. */
#ifndef HOIST_H
#define HOIST_H

#include "op_prices.h"
#include "storage_read.h"

/* What ops save when they leave a loop. */
typedef struct hoist_gain {
    double share;         /* of the time of the nest that is saved, the mean of what was tried; above 0: it gains */
    double before, after; /* cycles of an iteration of the loop, of the first that was tried */
    double trips;         /* likewise */
    int is_open;          /* an extent is not known */
} hoist_gain;

typedef struct hoist_op {
    uint32_t loops;  /* that it may leave; 0: it stays */
    uint32_t most;   /* that it could where the schedule pins nothing */
    uint32_t left;   /* that it leaves */
    uint32_t around; /* the op around it, when it has left them */
    uint32_t bound;  /* the innermost op in whose block an operand is made; it cannot leave that */
    uint8_t is_pinned, is_marked;
    hoist_gain gain; /* of what it leaves */
    const char *why; /* it stays in a loop that it may leave, for the schedule; NULL: it does not */
} hoist_op;

typedef struct hoist_nest {
    const pto_run *run;
    pto_op nest;
    region_table regions;
    hoist_op *ops;        /* by place */
    const pto_op *stores; /* what writes to memory */
    uint32_t store_count;
    op_prices prices;
    pto_space only; /* tiles of other spaces stay; PTO_SPACE_NONE: of any one may leave */
} hoist_nest;

/* ---- which loops an op may leave: hoist_find.c ---- */

/* Whether the op is worth a decision of its own: it makes a tile, or a scalar from one. What it takes of scalars and
 * views comes along. */
int hoist_is_candidate(const hoist_nest *n, uint32_t place);
/* Fills `ops` of the nest, and asks for what the schedule pins. */
pto_status hoist_find(hoist_nest *n);
/* The outermost loop that an op leaves when it leaves so many, at least one. */
uint32_t hoist_target(const hoist_nest *n, uint32_t place, uint32_t loops);
/* Marks the op, and what in the loop it takes, which leaves with it. */
void hoist_mark(hoist_nest *n, uint32_t place, uint32_t loop);

/* ---- what it gains: hoist_price.c ---- */

/* Of the marked ops, when they leave the loop. */
hoist_gain hoist_price(hoist_nest *n, uint32_t loop);

#endif
