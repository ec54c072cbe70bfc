/* What each op of <pto/ops/tensor.def> computes, on strided arrays.
 *
 * Numerics: float ops compute in double and round once to the result type, nearest even; sums add in double, in
 * row-major order of the reduced dims; integers wrap; integer division truncates, x / 0 is all ones and counts in
 * `faults`. Products of a matmul are exact in double for floats; what follows its sums is computed in double too.
 * Maxima: -0 < +0; of no element: the lowest value; a sum of none is 0, a mean of none NaN. A cast to the same type
 * copies bits. A NaN result is the canonical one.
 * What is moved, chosen by an index or sorted keeps its bits. Orders have NaN above all numbers, and -0 = +0. Indices
 * are visited in row-major order.
 *
 * Of tensor.concat and tensor.split a call moves one part: in[0] to the window of the result at `offsets`, where the
 * rest of the result stays, and the window of in[0] at `offsets` to the result. tensor.assemble takes the window and
 * the base, in this order.
 *
 * tensor.group has no semantics of its own: the interpreter runs its block. */
#ifndef PTO_SEMANTICS_TENSOR_OPS_H
#define PTO_SEMANTICS_TENSOR_OPS_H

#include "semantics/element.h"

#include <pto/backend.h>

/* EVAL_TENSOR_ADD ... */
typedef enum tensor_op {
    EVAL_NONE,
#define OP(ID, ...) EVAL_##ID,
#include <pto/ops/tensor.def>
#undef OP
    EVAL_COUNT
} tensor_op;

typedef enum nan_rule { NAN_PROPAGATE, NAN_IGNORE, NAN_ANY } nan_rule; /* ANY: as IGNORE */
typedef enum gelu_approx { GELU_TANH, GELU_SIGMOID } gelu_approx;

typedef enum combine_rule { COMBINE_NONE, COMBINE_ADD, COMBINE_MUL } combine_rule;

/* What a row of functions.def computes of one number, or of two; NULL: functions.def does not have it. */
double (*tensor_function(tensor_op row, gelu_approx approx))(double);
double (*tensor_function2(tensor_op row))(double, double);

enum { TENSOR_OPERANDS = 2 + PTO_MAX_DIMS, TENSOR_RESULTS = 2 };
/* Operands and results do not overlap; results have their dims and type set. Ranks are 0 to PTO_MAX_DIMS. */
typedef struct tensor_call {
    uint32_t cpu; /* from insn_cpu(), or 0; results do not depend on it */
    const pto_tensor *in[TENSOR_OPERANDS];
    const pto_tensor *out, *second; /* second: scales, or the places of tensor.topk */
    /* attributes, those that the op has */
    uint32_t axis_count;
    int64_t axes[PTO_MAX_DIMS];    /* axis (negative: from the end), perm; conv2d: dilations */
    int64_t offsets[PTO_MAX_DIMS]; /* of windows; pad, conv2d: low; tril, triu: the diagonal; var: the correction */
    int64_t strides[PTO_MAX_DIMS]; /* of view and conv2d, when has_strides */
    bool has_strides;
    nan_rule nan;
    bool drop_reduced; /* keepdim = false */
    bool transpose_a, transpose_b, saturate;
    bool third_is_scale, relu;           /* of a product */
    bool causal, has_scale, interleaved; /* of attention; of rope */
    int64_t block;                       /* elements along the axis with one scale; 0: none */
    int64_t groups;                      /* of channels */
    bool channels_first;                 /* of conv2d: nchw */
    round_mode mode;
    gelu_approx approx;
    uint64_t key, counter;               /* of random numbers */
    combine_rule combine;                /* reduce, accumulate, atomic */
    bool descending, exclusive, reverse; /* descending: of topk, largest */
    double eps, scale;                   /* scale: of the scores of attention, when has_scale */
    number alpha;
    number value;    /* tensor.index_cast; tensor.constant without in[0]; with in[0]: broadcast of that array */
    void *scratch;   /* tensor_scratch_bytes(), aligned as malloc does */
    uint64_t faults; /* out, added to: integer divisions by zero */
    bool is_outside; /* out, when PTO_FAILED: a window or an index leaves its tensor */
    char text[256];  /* out: what is wrong, when PTO_FAILED */
} tensor_call;

const char *tensor_op_name(tensor_op op);             /* "tensor.add"; "?" outside the table */
tensor_op tensor_op_by_name(const char *p, size_t n); /* EVAL_NONE when unknown */
/* What `scratch` must have; 0 for most ops. SIZE_MAX: more than there is. */
size_t tensor_scratch_bytes(tensor_op op, const tensor_call *call);
/* Executes. PTO_FAILED: shapes or types do not fit; text says how, the result is unchanged, unless it is an
 * index that is outside. */
pto_status tensor_run(tensor_op op, tensor_call *call);

#endif
