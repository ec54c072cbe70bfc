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
    pto_dtype type;          /* of the result */
    const uint8_t *computed; /* the result on exact operands, in row-major order */
    bound_rule rule;
    bound_list from[TENSOR_OPERANDS], to;
} bound_run;

/* The tensor whose elements a list holds. */
pto_tensor bound_packed(const pto_tensor *t);
/* The op on tensors that hold the lists. */
typedef struct packed_call {
    pto_tensor in[TENSOR_OPERANDS], out;
    tensor_call call;
} packed_call;
void bound_pack(const bound_run *r, packed_call *out);
/* A set of f32 as the result's type. */
bound bound_as_result(const bound_run *r, const bound *x);

/* The units of the row of an op. */
double bound_row_ulp(const bound_run *r, const char *op);

/* reference_bound_elements.c. PTO_FAILED: extents do not fit. */
pto_status bound_elements(bound_run *r);
pto_status bound_chosen(bound_run *r); /* where */
pto_status bound_random(bound_run *r); /* random_normal */

/* reference_bound_composite.c: rope, norms and the variance, taken as what they are composed of. PTO_FAILED: extents do
 * not fit. */
pto_status bound_turned(bound_run *r);
pto_status bound_normal(bound_run *r);
pto_status bound_rms_norm(bound_run *r);
pto_status bound_variance(bound_run *r);
/* The mean of what was added, `ulp` units off. */
bound bound_mean(const bound_sum *s, double ulp);

/* reference_bound_softmax.c. PTO_FAILED: extents do not fit, or memory is short. */
pto_status bound_softmax(bound_run *r);
pto_status bound_surprise(bound_run *r); /* cross_entropy */
pto_status bound_attention(bound_run *r);

/* reference_bound_matmul.c. PTO_FAILED: extents do not fit, or memory is short. */
pto_status bound_matmul(bound_run *r);
pto_status bound_scaled_matmul(bound_run *r);
pto_status bound_windows(bound_run *r);   /* conv2d */
pto_status bound_quantised(bound_run *r); /* quantize and dequantize */

/* reference_bound_index.c: what ops that go by indices, sort or scan leave in `to`. PTO_FAILED: memory is short. */
pto_status bound_moved(bound_run *r);
pto_status bound_combined(bound_run *r);
pto_status bound_ordered(bound_run *r);
pto_status bound_scanned(bound_run *r);

#endif
