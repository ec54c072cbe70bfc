/* Rough cycles of ops on tiles, by the unit that runs them, as the machine file says: for passes that compare two forms
 * of a nest. Both forms are to be counted alike, so that what is left out is left out of both. */
#ifndef PRICES_OP_PRICES_H
#define PRICES_OP_PRICES_H

#include <pto/plugin.h>

/* Cycles by unit, and bytes of global memory. */
typedef struct op_cycles {
    double units[PTO_UNIT_COUNT], bytes;
} op_cycles;

/* What the machine says, read once for many ops. */
typedef struct op_prices {
    const pto_run *run;
    int is_serial; /* one core does what units of a chip do beside each other */
    double flag, gm_rate;
    int64_t repeat_bytes;
    pto_space global;
    int64_t trial; /* what symbols count as that nobody knows */
    int is_open;   /* op_extent met one */
} op_prices;

/* Of the machine of the run. */
op_prices op_prices_of(const pto_run *run);

/* Adds what the op takes when it runs `times` often: a copy of the tile between two spaces, an op on vectors, a
 * product. */
void op_price_copy(const op_prices *p, pto_value tile, pto_space from, pto_space to, double times, op_cycles *c);
void op_price_vector(const op_prices *p, pto_op op, double times, op_cycles *c);
void op_price_matrix(const op_prices *p, pto_op op, double times, op_cycles *c);

/* Cycles of all units, and those of the busiest one, beside global memory that `busy` cores share. */
double op_cycles_sum(const op_cycles *c);
double op_cycles_most(const op_prices *p, const op_cycles *c, double busy);
/* Cycles of an iteration between others: of all units on one core, else of the busiest beside half of the way through
 * all of them, since there are two buffers. */
double op_cycles_pace(const op_prices *p, const op_cycles *c, double busy);

/* What an extent counts as at an op: what it is or is expected to be, else its bound with `trial` for each symbol.
 * [unit] */
double op_extent(op_prices *p, pto_op at, pto_expr extent);
/* The iterations of a `for`, likewise. */
double op_trips(op_prices *p, pto_op loop);
/* Cores of a kind; 1 where the machine does not say. */
double op_cores(const op_prices *p, pto_str core);

#endif
