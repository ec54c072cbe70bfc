/* Numbers to run a function on when nobody gave any: those that arithmetic trips over. */
#ifndef TOOLS_CHECK_SEMANTICS_INPUTS_H
#define TOOLS_CHECK_SEMANTICS_INPUTS_H

#include "tools/run/call_binding.h"

typedef enum input_values {
    INPUTS_GIVEN,
    INPUTS_RANDOM,   /* small numbers of both signs: what call_bind makes */
    INPUTS_SPECIAL,  /* NaN and infinities among them */
    INPUTS_EXTREME,  /* zeros of both signs, denormals, what is halfway, the largest; integers: the ends of the type */
    INPUTS_NEGATIVE, /* nothing else; unsigned integers: the largest */
    INPUTS_COUNT
} input_values;

/* "random inputs": after "was run on". */
const char *input_values_name(input_values v);
/* Whether the kind of values says anything that random ones do not, for an input of this type. */
bool input_values_apply(input_values v, dtype type);
/* Fills a tensor that call_bind has filled with random numbers. The same seed makes the same numbers. */
void input_values_fill(bound_tensor *t, input_values v, uint64_t seed);

#endif
