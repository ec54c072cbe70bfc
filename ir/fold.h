/* Constant folding of tensor ops: the result as a constant attribute, by the fold rule of the op's row. */
#ifndef IR_FOLD_H
#define IR_FOLD_H

#include "ir/module.h"

/* The attribute `value` of a `tensor.constant` that has the result of the op: a number when every element is the same
 * number anyway, else `dense` (at most 16 elements). 0 when the op has no fold rule, an operand is not a constant that
 * the text holds (a `resource` is not), or the result is not certain: integer division by 0, float results that
 * overflow under a mode other than rint, NaN under `nan = any`.
 * Numerics: each element is the exact result rounded once to the element type, to nearest even; integers wrap.
 * Functions that the C library computes, such as exp, do not fold: their last digit would be that of the machine that
 * compiles. The op has passed the verifier. */
attr_id op_fold(module *m, op_id o);

#endif
