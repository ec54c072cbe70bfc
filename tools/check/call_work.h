/* How much a call of a function computes, before it runs. */
#ifndef TOOLS_CHECK_CALL_WORK_H
#define TOOLS_CHECK_CALL_WORK_H

#include "ir/module.h"

/* Elements that all ops of the function make, its parameters included, with these values of symbols: products of
 * matrices count as parts of one, sorts by the pairs that are compared, nests by what they hold, each op once. Empty
 * extents are 1, and extents that are not known make nothing. At most 2^30 for each op. */
uint64_t call_work(module *m, op_id function, const expr_values *values);

#endif
