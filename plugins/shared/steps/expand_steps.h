/* The steps of an expansion, the column PTO_TEXT_EXPANSION of a tensor op, as ops. */
#ifndef EXPAND_STEPS_H
#define EXPAND_STEPS_H

#include <pto/plugin.h>

/* One number, of rank 0, before `op`. */
pto_value expand_number(pto_op op, pto_dtype dtype, double value);
/* Whether the op's row has an expansion for it. */
int expand_has_steps(pto_op op);
/* Makes the ops before `op`, named after its result, and returns the value for the result of `op`; none when an op
 * could not be made, which is reported. The op has steps. */
pto_value expand_steps(pto_op op);

/* A value, and what a formula calls it. */
typedef struct expand_operand {
    const char *name;
    pto_value value;
} expand_operand;

/* Makes the ops of a formula of a pass before `op`, from the given values. `all` is the shape of what operands of
 * several shapes make, `numbers` the element type of its numbers. Returns the last value, and `made` by their names:
 * none when an op could not be made, which is reported. */
pto_value expand_formula(pto_op op, const char *text, pto_type all, pto_dtype numbers, uint32_t given_count,
                         const expand_operand *given, uint32_t count, expand_operand *made);

#endif
