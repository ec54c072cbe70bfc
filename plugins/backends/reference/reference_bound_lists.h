/* Inside of the bounds of tensor ops: arrays of sets, and the op at work. */
#ifndef REFERENCE_BOUND_LISTS_H
#define REFERENCE_BOUND_LISTS_H

#include "reference_interp.h"

#include "semantics/tensor_walk.h"

/* The sets of an array in row-major order. */
typedef struct bound_list {
    storage *in;
    bound *at;
    int64_t count;
} bound_list;

typedef struct bound_run {
    interp *in;
    const op_code *o;
    const tensor_call *call;
    pto_dtype type; /* of the result */
    bound_rule rule;
    bound_list from[TENSOR_OPERANDS], to;
} bound_run;

/* The tensor whose elements a list holds. */
pto_tensor bound_packed(const pto_tensor *t);

/* The mean of what was added, `ulp` units off, and the units of the row of an op. */
bound bound_mean(const bound_sum *s, double ulp);
double bound_row_ulp(const bound_run *r, const char *op);

/* reference_bound_composite.c: rope, layer_norm and group_norm, taken as what they are composed of. PTO_FAILED: extents
 * do not fit. */
pto_status bound_turned(bound_run *r);
pto_status bound_normal(bound_run *r);

/* reference_bound_index.c: what ops that go by indices, sort or scan leave in `to`. PTO_FAILED: memory is short. */
pto_status bound_moved(bound_run *r);
pto_status bound_combined(bound_run *r);
pto_status bound_ordered(bound_run *r);
pto_status bound_scanned(bound_run *r);

#endif
