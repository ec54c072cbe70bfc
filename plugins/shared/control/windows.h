/* Windows of memory that loads and stores cover, and how they move with an index. */
#ifndef CONTROL_WINDOWS_H
#define CONTROL_WINDOWS_H

#include <pto/plugin.h>

/* What an expression grows by with the index, from 0 on; 0: it does not, or not in equal steps. */
int64_t window_step_along(pto_expr e, pto_value index);
/* Extent of the window of a load or store along a dim of its memory, at most. */
int64_t window_extent(pto_op access, uint32_t dim);
/* The dim along which the window goes to other elements with each value of the index; -1: there is none. */
int32_t window_dim_along(pto_op access, pto_value index);
/* Whether both cover the same elements along the dim. */
int window_is_same_along(pto_op a, pto_op b, uint32_t dim);
/* Whether a load or store `a` is at the place that `b` has, and covers the same region of it. */
int window_is_same(pto_op a, pto_op b);

#endif
