/* Numbers that come round: what a stage or an event id is, trip by trip.
 *
 * The trips of a loop are numbered from 0; its index is `from + step * trip`. A number is followed along each variable:
 * the trip numbers of the loops around it, and the grid indices and symbols in it, which have one value for the whole
 * kernel. A number x has period p and drift d along a variable n when x(n + p) = x(n) + d whatever the others are:
 *
 *     constant, other variable      p = 1                               d = 0
 *     n itself                      p = 1                               d = 1
 *     c * x                         p(x)                                c * d(x)
 *     x + y                         p = lcm(p(x), p(y))                 d(x) * p / p(x) + d(y) * p / p(y)
 *     x floordiv c, x ceildiv c     p = p(x) * c / gcd(c, d(x))         d(x) * p / p(x) / c
 *     x mod c                       p = p(x) * c / gcd(c, d(x))         0
 *     min(x, y), max(x, y)          as x + y, when the drifts over p agree
 *     x * y                         as x + y, when both drifts are 0
 *
 * A number whose drift is 0 along every variable is one of finitely many: it depends on the variables modulo their
 * periods alone, and its table is computed once. A loop with a constant number of trips, at most CYCLE_TRIPS_MAX, may
 * stand in for a period: then the table has all its trips. Indices do not overflow 64 bits.
 * Memory is scratch of one run. */
#ifndef SYNC_CYCLE_H
#define SYNC_CYCLE_H

#include <pto/plugin.h>

enum { CYCLE_RANK_MAX = 6, CYCLE_VALUES_MAX = 256, CYCLE_TRIPS_MAX = 64 };

typedef struct sync_model sync_model;

typedef struct sync_cycle {
    pto_expr expr;
    int is_steady; /* see sync_is_steady */
    /* What sync_is_visible said last, of an op in a block of `around`. */
    int is_asked, is_visible;
    uint32_t around;
    int is_known; /* 0: it does not come round, or too late */
    uint32_t rank;
    uint32_t variables[CYCLE_RANK_MAX]; /* place of a loop, or sync_model.count + number of an invariant */
    uint32_t periods[CYCLE_RANK_MAX];   /* 2 or more */
    uint32_t counted;                   /* bit i: no period, but all trips of a loop that has few */
    const int64_t *values;              /* the first variable runs fastest */
} sync_cycle;

/* Everything that comes round in a kernel, and the grid indices and symbols it depends on. */
typedef struct sync_cycles {
    sync_cycle *items;
    uint32_t count, capacity;
    pto_expr *invariants;
    uint32_t invariant_count, invariant_capacity;
} sync_cycles;

/* The number of the cycle of an expression in m->cycles, made when it is not there yet. */
uint32_t sync_cycle_of(const sync_model *m, pto_expr e);
/* The number at given residues, by variable. 0: not known. */
int sync_cycle_at(const sync_model *m, uint32_t cycle, const uint32_t *residues, int64_t *out);
/* Whether it is known and always in [0, bound). */
int sync_cycle_is_below(const sync_model *m, uint32_t cycle, int64_t bound);

#endif
