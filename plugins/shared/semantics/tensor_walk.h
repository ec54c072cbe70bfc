/* Inside of the tensor ops: one function for each row, walks over indices, checks. */
#ifndef PTO_SEMANTICS_TENSOR_WALK_H
#define PTO_SEMANTICS_TENSOR_WALK_H

#include "semantics/tensor_ops.h"

typedef pto_status (*tensor_fn)(tensor_call *call);
#define OP(ID, ...) pto_status eval_##ID(tensor_call *call);
#include <pto/ops/tensor.def>
#undef OP

/* Elements handled at a time. */
enum { TENSOR_LANES = 256, WALK_ARRAYS = 5 };

/* All indices of some dims in row-major order, with the place in the result and the operands. */
typedef struct walk {
    uint32_t rank;
    int64_t dims[PTO_MAX_DIMS], strides[WALK_ARRAYS][PTO_MAX_DIMS];
    int64_t index[PTO_MAX_DIMS], offset[WALK_ARRAYS]; /* in elements */
} walk;

/* for (bool more = walk_begin(&w); more; more = walk_next(&w)). walk_begin: false when there is no index. */
bool walk_begin(walk *w);
bool walk_next(walk *w);
/* Takes the last dim out of the walk, for a run along it; rank 0: a run of one. Returns its extent. */
int64_t walk_split_last(walk *w, int64_t out_strides[WALK_ARRAYS]);
/* Walk over the dims of `out`; array 0 is out, array 1 + i is in[i], broadcast. Fails when one does not broadcast. */
pto_status walk_broadcast(tensor_call *call, int count, walk *out_walk);

/* Of tensor.view, flip, split, concat, pad and assemble: the elements that come from in[0]. Array 0 is the result,
 * array 1 in[0]; `at`: the element of each at which the walk starts. Fails when a window that is not empty leaves its
 * tensor.
 */
typedef struct window_walk {
    walk w;
    int64_t at[2];
} window_walk;
pto_status walk_window(tensor_op op, tensor_call *call, window_walk *out);

/* Of tensor.rope: the first element of each pair, and how many elements along the last dim the second is after it.
 * Arrays 0 to 3 are the result, x, cos and sin. Fails when extents do not fit. */
pto_status walk_pairs(tensor_call *call, walk *out_walk, int64_t *out_apart);
/* Of tensor.layer_norm and group_norm: `inner` walks what has one mean, from each place of `outer` on. Arrays 0 to 3
 * are the result, x, gamma and beta. Fails when types or extents do not fit. */
pto_status walk_norm(tensor_op op, tensor_call *call, walk *outer, walk *inner);
/* Of tensor.attention: batches, heads of keys, heads of queries that share one, queries. Arrays 0 to 4 are the result,
 * q, k, v and the mask. Fails when heads do not fit. */
pto_status walk_queries(tensor_call *call, walk *out_walk);
/* Of tensor.conv2d, whatever its layout. x and out: batch, rows, columns, channels; w: rows, columns, channels of a
 * group, results. */
typedef struct tensor_conv {
    pto_tensor x, w, out;
    const pto_tensor *bias;
    int64_t strides[2], dilations[2], groups;
} tensor_conv;
/* Fails when types or extents do not fit. */
pto_status tensor_conv_of(tensor_call *call, tensor_conv *out);
/* Of a reduction: the dims that stay (array 0: the result, array 1: in[0]), and those that are reduced (array 1). Fails
 * when axes or extents do not fit. */
pto_status walk_reduction(tensor_call *call, walk *kept, walk *reduced);

/* Of tensor.scatter, index_put and index_add: each element of the source and the place in the result that it is
 * combined with, in the order of the op. Fails when extents do not fit, or an index is outside. */
typedef void tensor_visit(void *self, int64_t from, int64_t to);
pto_status tensor_each_combined(tensor_op op, tensor_call *call, tensor_visit *visit, void *self);

/* One more dim, of extent 1, before dim `at`: of a vector it makes a matrix. */
void tensor_insert_dim(pto_tensor *t, uint32_t at);
/* The byte of an element, by its offset in elements. */
uint8_t *tensor_at(const pto_tensor *t, int64_t offset);
/* The product of the extents; 1 for rank 0. */
int64_t tensor_count(const pto_tensor *t);
/* Length of the piece of a run of n that starts at i. */
size_t tensor_piece(int64_t n, int64_t i);

/* All dims but `axis`: array 0 is out, array 1 in[0], array 2 the second result. */
walk tensor_lines(const tensor_call *call, uint32_t axis);

/* The larger of a and b, or with `smaller` the smaller one; -0 < +0. */
double tensor_extreme(double a, double b, bool smaller, nan_rule nan);

__attribute__((format(printf, 2, 3))) pto_status tensor_fail(tensor_call *call, const char *format, ...);
pto_status tensor_check_dtype(tensor_call *call, int i);     /* in[i] has the type of out */
pto_status tensor_check_float(tensor_call *call);            /* out is f32, f16 or bf16 */
pto_status tensor_check_same_dims(tensor_call *call, int i); /* in[i] has the extents of out */
/* The axis within 0 .. rank-1. */
pto_status tensor_check_axis(tensor_call *call, int64_t axis, uint32_t rank, uint32_t *out_axis);

#define TENSOR_TRY(x)                         \
    do {                                      \
        if ((x) != PTO_OK) return PTO_FAILED; \
    } while (0)

/* Elements as numbers that compare as they do, and the order that tensor.sort and pto.torder have them in. `reals` are
 * those of floats, `wholes` of others; order and spare have space for n, and either may be `order` afterwards. */
typedef struct order_line {
    pto_dtype dtype;
    bool descending;
    int64_t n;
    double *reals;
    int64_t *wholes;
    int64_t *order, *spare;
} order_line;
void order_sort(order_line *l);

#endif
