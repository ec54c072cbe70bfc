/* What a caller calls the outputs of a function: its `out` parameters, then its results.
 *
 * They are named like their values in the user's text. Passes rename values, merge them, and make results
 * parameters; where the names differ then, the attribute `outputs` of the function keeps the user's, so that a dump is
 * run with the same names as its source. */
#ifndef IR_TEXT_OUTPUT_NAMES_H
#define IR_TEXT_OUTPUT_NAMES_H

#include "ir/base/arena.h"
#include "ir/module.h"

typedef struct output_names {
    uint32_t count;
    str *names;
} output_names;

/* By the attribute, or by the values; in memory of `a`. */
void output_names_of(arena *a, module *m, op_id function, output_names *out);

/* The outputs of all public functions, as they are called now. */
typedef struct output_keeper output_keeper;
output_keeper *output_keeper_create(arena *a, module *m);
/* Between two steps, when names have settled: sets or removes the attribute where that is needed, and tells `touched`
 * of each function that changed. A function with another number of outputs than before has new ones. */
void output_keeper_run(output_keeper *k, module *m, void (*touched)(void *self, op_id function), void *self);

#endif
