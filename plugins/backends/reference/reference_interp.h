/* The interpreter: frames of functions, instances, and what single ops do. */
#ifndef REFERENCE_INTERP_H
#define REFERENCE_INTERP_H

#include "reference_code.h"
#include "reference_value.h"

#include <pto/backend.h>

/* Independent instances of a forall or a kernel. They get ascending serial numbers in the order in which they run, so
 * whatever was marked from `first` on but below `current` was written by another instance. */
typedef struct instances instances;
struct instances {
    instances *around;
    uint32_t rank;
    int64_t extents[PTO_MAX_DIMS], count, done;
    const uint32_t *order; /* NULL: ascending */
    uint32_t first, current;
    uint32_t *serials; /* of the instances that ran; NULL when there are too many to keep */
    storage *order_in, *serials_in;
    pto_op op;
};

typedef struct frame {
    const function_code *f;
    value *values;
    int64_t *slots; /* symbols, index and integer scalars, by value number */
    struct frame *caller;
    const op_code *call;  /* in the caller; NULL for the entry */
    uint32_t at;          /* the next code */
    instances *instances; /* of a kernel */
} frame;

typedef struct interp {
    const pto_run *run;
    const pto_call *call;
    pool *pool;
    frame *frame; /* that runs; NULL at the end */
    instances *innermost, *free_instances;
    frame *free_frames; /* linked by `caller` */
    uint32_t serial;
    uint64_t code_count, op_count, instance_count, insn_count, random;
    uint32_t cpu;
    void *scratch; /* of instructions */
    size_t scratch_bytes;
} interp;

/* ---- reference_control.c ---- */
/* Runs the function on the call's tensors. */
pto_status interp_run(interp *in, const function_code *entry);
pto_status interp_eval(const frame *fr, pto_op at, const index_expr *e, int64_t *out);
/* The op is done: drops what nothing needs any more. */
void interp_done(interp *in, frame *fr, const op_code *o);
void interp_set_number(frame *fr, uint32_t id, pto_dtype dtype, number n);
void interp_set_index(frame *fr, uint32_t id, int64_t n);

/* ---- reference_instances.c ---- */
/* Makes the set of independent instances and numbers the first; NULL after a diagnostic. */
instances *instances_begin(interp *in, pto_op at, uint32_t rank, const int64_t *extents);
/* Index of the running instance along each dim. */
void instances_indices(const instances *s, int64_t *out);
/* False when all have run. */
pto_status instances_next(interp *in, instances *s, bool *out_more);
void instances_end(interp *in, instances *s);
/* All elements of a window or an array. */
pto_status instances_read_window(interp *in, pto_op op, storage *s, const gm_window *w);
pto_status instances_write_window(interp *in, pto_op op, storage *s, const gm_window *w);
pto_status instances_read_array(interp *in, pto_op op, const array *a);

/* ---- reference_call.c ---- */
/* Enters the function that the call of the backend names, a called one, or a kernel for each instance of its grid. They
 * fail after a diagnostic. */
pto_status interp_start(interp *in, const function_code *f);
pto_status interp_call(interp *in, frame *caller, const op_code *o);
pto_status interp_launch(interp *in, frame *caller, const op_code *o);
/* At a return: of a function, or of one instance of a kernel. */
pto_status interp_return(interp *in, const op_code *o);
/* Dims of an array by its type in a frame. */
pto_status interp_shape(const frame *fr, pto_op at, const shape_code *s, array *out);

/* ---- reference_kernel.c: kernels of instructions ---- */
/* Runs an instance of the kernel. Fails after a diagnostic. */
pto_status interp_program(interp *in, frame *fr, const op_code *o);

/* ---- reference_evaluate.c ---- */
/* An op of a plugin, by the reference semantics of its row. Fails after a diagnostic. */
pto_status interp_evaluate(interp *in, frame *fr, const op_code *o);

/* ---- reference_ops.c, reference_tile.c ---- */
/* An array as the functions of tensor ops take it. */
pto_tensor interp_tensor_of(const array *a);
/* Result number `index` of an op, in memory of its own. */
pto_status interp_make_result(interp *in, frame *fr, const op_code *o, uint32_t index, value *out);
pto_status interp_view(interp *in, frame *fr, const op_code *o);
pto_status interp_constant(interp *in, frame *fr, const op_code *o);
pto_status interp_tensor(interp *in, frame *fr, const op_code *o);
/* tensor.index_cast of an expression with the value n. */
pto_status interp_index_tensor(interp *in, frame *fr, const op_code *o, int64_t n);
pto_status interp_concat(interp *in, frame *fr, const op_code *o);
pto_status interp_split(interp *in, frame *fr, const op_code *o);
pto_status interp_empty(interp *in, frame *fr, const op_code *o);
pto_status interp_free(frame *fr, const op_code *o);
pto_status interp_zero_acc(interp *in, frame *fr, const op_code *o);
pto_status interp_contract(interp *in, frame *fr, const op_code *o);
pto_status interp_contract_weights(interp *in, frame *fr, const op_code *o);
pto_status interp_tile(interp *in, frame *fr, const op_code *o);
pto_status interp_scalar_of(interp *in, frame *fr, const op_code *o);
pto_status interp_debug(interp *in, frame *fr, const op_code *o);
/* Runs an instruction, with scratch when it asks for some. */
pto_status interp_insn(interp *in, pto_op at, insn_id id, insn_call *call);
/* ---- reference_bound_tensor.c, reference_bound_insn.c: only while in->pool->shadow is not NULL ---- */
/* Sets of values of what an op made of `from`. */
pto_status bound_tensor(interp *in, const op_code *o, const array *const *from, const tensor_call *call,
                        const array *const results[TENSOR_RESULTS]);
/* a (m x k) by b (k x n); strides in elements along rows and columns. `first`: m x n terms before the products, or
 * NULL. */
typedef struct bound_matrices {
    const bound *a, *b, *first;
    bound *out;
    int64_t m, k, n, a_strides[2], b_strides[2], out_strides[2];
    pto_dtype type, inside; /* of the result, and of sums */
    bool needs_numbers;     /* sums of integers that are exact have their numbers, and not only that they are */
    bool is_bf16;           /* elements of a and b: sums on the way that are subnormal in f32 may count as 0 */
} bound_matrices;
/* False when memory is short. */
bool bound_products(interp *in, const bound_matrices *p);
/* Those of an instruction's destination, between reading its sources and writing it. */
typedef struct insn_bounds {
    storage *in;
    bound *at;
    int64_t rows, cols;
} insn_bounds;
pto_status bound_insn_begin(interp *in, pto_op at, insn_id id, const insn_call *call, insn_bounds *out);
void bound_insn_end(interp *in, insn_id id, const insn_call *call, insn_bounds *b);

#endif
