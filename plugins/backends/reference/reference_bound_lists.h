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

/* reference_bound_index.c: what ops that go by indices, sort or scan leave in `to`. PTO_FAILED: memory is short. */
pto_status bound_moved(bound_run *r);
pto_status bound_combined(bound_run *r);
pto_status bound_ordered(bound_run *r);
pto_status bound_scanned(bound_run *r);

#endif
