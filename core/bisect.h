/* --bisect=N: the first N optional unit runs are done, the others are left out, so that halving N finds the run that
 * makes the difference.
 *
 * A unit run is one pass on one function, or on the module when that is its scope. It is optional when no contract
 * needs the pass: it changes no level and establishes no property that a later step or the backend requires. What is
 * not optional always runs and is not counted. N = -1 runs everything. Each decision is one line on stderr, unless that
 * is not wanted. The numbers do not depend on N as long as the runs before them are the same. */
#ifndef CORE_BISECT_H
#define CORE_BISECT_H

#include "core/contract.h"
#include "ir/module.h"

typedef struct bisect bisect;

/* For all steps of a pipeline, whichever part of it runs: so a dump and --from give the same decisions. */
bisect *bisect_create(arena *a, int64_t limit, bool is_quiet, const contract *c);
/* Before the first unit of a step: says so when it always runs. */
void bisect_begin_step(bisect *b, uint32_t step);
/* Whether the step runs on the function, or for 0 on the module; counts it and says so. */
bool bisect_runs(bisect *b, uint32_t step, const module *m, op_id unit);
/* The steps as the contract counts them now: one with a unit left out establishes nothing. */
const contract_step *bisect_steps(bisect *b);
/* True when the step left a unit out. */
bool bisect_left_out(const bisect *b, uint32_t step);

#endif
