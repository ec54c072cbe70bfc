/* What the shape rules of tensor ops share. */
#ifndef IR_VERIFY_INFER_H
#define IR_VERIFY_INFER_H

#include "ir/verify/verifier_parts.h"

typedef struct shape {
    uint32_t rank;
    expr_id dims[TYPE_MAX_RANK];
} shape;

/* The extents of a type that has some. */
shape infer_shape_of(const type_node *t);
/* Replaces extents and element type of `out`, which arrives as a result type of the op; its format stays. Returns OK.
 */
MUST_CHECK status infer_give(module *m, uint32_t dtype_id, const shape *s, type_id *out);
/* Fails unless all operands without an element type of their own have one. */
MUST_CHECK status infer_same_dtype(module *m, op_id op);
/* An axis of an attribute, counted from the front of `rank` dims. Fails when it is outside. */
MUST_CHECK status infer_axis(const module *m, op_id op, attr_id item, uint32_t rank, uint32_t *out);
/* numpy's rule for one more operand: align at the end, extents equal or 1. `to` grows by what `from` has more. */
MUST_CHECK status infer_broadcast_into(module *m, op_id op, shape *to, uint32_t operand, const shape *from);
/* An extent of the result, and the type that it is stated to have: as stated where both are the same. Fails when `made`
 * is none or depends on a value. */
MUST_CHECK status infer_fit_extent(module *m, op_id op, uint32_t d, expr_id made, type_id stated, expr_id *out);
/* The attribute `block`: 0 where it is absent. Reports one below 1. */
MUST_CHECK status infer_block(const module *m, op_id op, int64_t *out);
/* Operand `scales` has the extents of x, which is that often `block` along an axis; along others 1 will do. */
MUST_CHECK status infer_check_blocks(module *m, op_id op, const type_node *x, uint32_t scales, const type_node *scale,
                                     uint32_t axis, int64_t block);

#endif
