/* The normal form of polynomials: recursion is bounded by EXPR_MAX_DEPTH. */
#ifndef IR_CONTEXT_EXPR_EXPAND_H
#define IR_CONTEXT_EXPR_EXPAND_H

#include "ir/context/context.h"

/* The same value with products of sums multiplied out and factors in one order, so that equal polynomials are equal;
 * 0 when there are too many terms. For comparing: printing and ranges need the factors that were written. */
expr_id expr_expand(ir_context *c, expr_id e);
bool expr_has_product(const ir_context *c, expr_id e);
/* The builder of a kind with two arguments: a sum, a product, a quotient, a rest, the least or the greatest. */
expr_id expr_combine(ir_context *c, uint8_t kind, expr_id a, expr_id b);

#endif
