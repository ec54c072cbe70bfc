/* Parts of tensors along one dim, and loops over them: what products and sums of many numbers of 64 bits are made of.
 */
#ifndef LEGALIZE_PARTS_H
#define LEGALIZE_PARTS_H

#include "legalize_types.h"

/* What is made instead of `op`, where, and along which dim of tensors of that rank. */
typedef struct in_parts {
    pto_op op;
    pto_place at;
    uint32_t axis, rank;
} in_parts;

/* The element type of x; and a number as an expression. */
static inline pto_dtype parts_dtype(pto_value x) { return pto_type_dtype(pto_value_type(x)); }
static inline pto_expr parts_number(const in_parts *p, int64_t n) { return pto_expr_const(p->op.run, n); }

/* The type of x with another extent along the dim. */
pto_type parts_type(const in_parts *p, pto_value x, pto_expr extent);
/* Builds the op with a result of that type, named after `op` and the suffix. */
pto_value parts_make(const in_parts *p, pto_spec *s, pto_type type, const char *suffix);
/* What x has from `first` on. */
pto_value parts_view(const in_parts *p, pto_value x, pto_expr first, pto_expr extent);

/* A loop to `trips` that carries the values, whose arguments follow its index; what is made goes into it. */
pto_op parts_begin_loop(in_parts *p, pto_expr trips, uint32_t count, const pto_value *carried);
/* What the loop carries in the end becomes `next`; what is made goes before `op` again. Returns whether it did. */
int parts_end_loop(in_parts *p, pto_op loop, uint32_t count, pto_value *next);

#endif
