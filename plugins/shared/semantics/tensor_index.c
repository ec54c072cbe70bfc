/* Rows of tensor.def that go by indices.
 *
 * All of them walk over indices, and at each one move or combine a run of elements between a listed array, which has
 * the dims of the walk (what gather makes, what scatter takes), and an indexed one (x, or the result that begins as x),
 * whose place follows from the indices read. */
#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LISTED, INDEXED };

typedef struct indexed_walk {
    walk w;                                   /* arrays LISTED and INDEXED; the dims of a run are left out */
    int64_t n, listed_stride, indexed_stride; /* of a run */
    uint32_t first, count;                    /* operands that are indices */
    uint32_t from, rank;                      /* dims of the walk that they have */
    int64_t index_strides[PTO_MAX_DIMS][PTO_MAX_DIMS];
    int64_t extent[PTO_MAX_DIMS], stride[PTO_MAX_DIMS]; /* of the indexed array along the axis of each */
    uint32_t axis[PTO_MAX_DIMS];
} indexed_walk;

static pto_status out_of_range(tensor_call *call, const indexed_walk *x, uint32_t i, int64_t index)
{
    char at[160] = "";
    size_t used = 0;
    for (uint32_t d = 0; d < x->rank; d++)
        used +=
            (size_t)snprintf(at + used, sizeof at - used, "%s%" PRId64, d == 0 ? "" : ", ", x->w.index[x->from + d]);
    call->is_outside = true;
    return tensor_fail(call,
                       "has index %" PRId64 " at [%s] of operand %u, out of the extent %" PRId64
                       " of axis %u; legal are 0 to %" PRId64,
                       index, at, x->first + i + 1, x->extent[i], x->axis[i], x->extent[i] - 1);
}

/* Reads the indices at the place of the walk; `out` is where the run begins in the indexed array. */
static pto_status find_run(tensor_call *call, const indexed_walk *x, int64_t *out)
{
    *out = x->w.offset[INDEXED];
    for (uint32_t i = 0; i < x->count; i++) {
        const pto_tensor *t = call->in[x->first + i];
        int64_t place = 0, index;
        for (uint32_t d = 0; d < x->rank; d++) place += x->w.index[x->from + d] * x->index_strides[i][d];
        element_read_i64(t->dtype, tensor_at(t, place), 1, 1, &index);
        if (index < 0 || index >= x->extent[i]) return out_of_range(call, x, i, index);
        *out += index * x->stride[i];
    }
    return PTO_OK;
}

static pto_status check_index(tensor_call *call, uint32_t operand)
{
    const pto_dtype t = call->in[operand]->dtype;
    if (t == PTO_I16 || t == PTO_I32 || t == PTO_I64) return PTO_OK;
    return tensor_fail(call, "operand %u is %s, indices are i16, i32 or i64", operand + 1, pto_dtype_name(t));
}

/* A dim of the walk, with the strides of the two arrays along it. */
static void add_dim(indexed_walk *x, int64_t extent, int64_t listed, int64_t indexed)
{
    x->w.dims[x->w.rank] = extent;
    x->w.strides[LISTED][x->w.rank] = listed;
    x->w.strides[INDEXED][x->w.rank++] = indexed;
}

static void add_index(tensor_call *call, indexed_walk *x, uint32_t axis, const pto_tensor *indexed)
{
    const pto_tensor *t = call->in[x->first + x->count];
    for (uint32_t d = 0; d < t->rank; d++) x->index_strides[x->count][d] = t->strides[d];
    x->rank = t->rank;
    x->axis[x->count] = axis;
    x->extent[x->count] = indexed->dims[axis];
    x->stride[x->count++] = indexed->strides[axis];
}

/* The last dim of the walk is a run, unless indices have it. */
static void split_run(indexed_walk *x)
{
    x->n = 1;
    if (x->w.rank == 0 || x->from + x->rank == x->w.rank) return;
    x->w.rank--;
    x->n = x->w.dims[x->w.rank];
    x->listed_stride = x->w.strides[LISTED][x->w.rank];
    x->indexed_stride = x->w.strides[INDEXED][x->w.rank];
}

static pto_status extent_differs(tensor_call *call, int64_t have, int64_t want)
{
    return have == want ? PTO_OK : tensor_fail(call, "an extent is %" PRId64 ", it must be %" PRId64, have, want);
}

/* gather and scatter: an index for each element. */
static pto_status walk_elements(tensor_call *call, const pto_tensor *listed, const pto_tensor *indexed, indexed_walk *x)
{
    const pto_tensor *index = call->in[1];
    uint32_t axis;
    *x = (indexed_walk){.first = 1};
    TENSOR_TRY(check_index(call, 1));
    TENSOR_TRY(tensor_check_axis(call, call->axes[0], indexed->rank, &axis));
    if (index->rank != indexed->rank || listed->rank > index->rank)
        return tensor_fail(call, "ranks %u, %u and %u", indexed->rank, index->rank, listed->rank);
    const uint32_t lead = index->rank - listed->rank;
    for (uint32_t d = 0; d < index->rank; d++) {
        if (d != axis && index->dims[d] > indexed->dims[d])
            return tensor_fail(call, "the index has extent %" PRId64 " along dim %u, which has %" PRId64,
                               index->dims[d], d, indexed->dims[d]);
        const bool repeats = d < lead || (listed->dims[d - lead] == 1 && index->dims[d] != 1);
        if (!repeats) TENSOR_TRY(extent_differs(call, listed->dims[d - lead], index->dims[d]));
        add_dim(x, index->dims[d], repeats ? 0 : listed->strides[d - lead], d == axis ? 0 : indexed->strides[d]);
    }
    add_index(call, x, axis, indexed);
    x->n = 1;
    return PTO_OK;
}

/* take, scatter_update and index_add: an index for each slice. */
static pto_status walk_slices(tensor_call *call, const pto_tensor *listed, const pto_tensor *indexed, indexed_walk *x)
{
    const pto_tensor *index = call->in[1];
    uint32_t axis;
    *x = (indexed_walk){.first = 1};
    TENSOR_TRY(check_index(call, 1));
    TENSOR_TRY(tensor_check_axis(call, call->axes[0], indexed->rank, &axis));
    if (listed->rank + 1 != indexed->rank + index->rank)
        return tensor_fail(call, "ranks %u and %u make %u", indexed->rank, index->rank, listed->rank);
    for (uint32_t d = 0; d < listed->rank; d++) {
        const bool is_index = d >= axis && d < axis + index->rank;
        const uint32_t from = d < axis ? d : d + 1 - index->rank;
        TENSOR_TRY(extent_differs(call, listed->dims[d], is_index ? index->dims[d - axis] : indexed->dims[from]));
        add_dim(x, listed->dims[d], listed->strides[d], is_index ? 0 : indexed->strides[from]);
    }
    x->from = axis;
    add_index(call, x, axis, indexed);
    split_run(x);
    return PTO_OK;
}

/* index_put: lists of indices along the first dims. */
static pto_status walk_lists(tensor_call *call, const pto_tensor *listed, const pto_tensor *indexed, indexed_walk *x)
{
    enum { FIRST_INDEX = 2 };
    *x = (indexed_walk){.first = FIRST_INDEX};
    uint32_t count = 0;
    while (FIRST_INDEX + count < TENSOR_OPERANDS && call->in[FIRST_INDEX + count] != NULL) count++;
    if (count == 0 || count > indexed->rank || listed->rank != indexed->rank - count + 1)
        return tensor_fail(call, "%u indices of rank %u", count, indexed->rank);
    add_dim(x, listed->dims[0], listed->strides[0], 0);
    for (uint32_t i = 0; i < count; i++) {
        TENSOR_TRY(check_index(call, FIRST_INDEX + i));
        if (call->in[FIRST_INDEX + i]->rank != 1)
            return tensor_fail(call, "operand %u is not a list", FIRST_INDEX + i + 1);
        TENSOR_TRY(extent_differs(call, call->in[FIRST_INDEX + i]->dims[0], listed->dims[0]));
        add_index(call, x, i, indexed);
    }
    for (uint32_t d = 1; d < listed->rank; d++) {
        TENSOR_TRY(extent_differs(call, listed->dims[d], indexed->dims[d - 1 + count]));
        add_dim(x, listed->dims[d], listed->strides[d], indexed->strides[d - 1 + count]);
    }
    split_run(x);
    return PTO_OK;
}

typedef pto_status (*walk_rule)(tensor_call *call, const pto_tensor *listed, const pto_tensor *indexed,
                                indexed_walk *out);

/* ---- moving ---- */

static pto_status pick(tensor_call *call, walk_rule rule)
{
    indexed_walk x;
    const pto_tensor *from = call->in[0], *to = call->out;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(rule(call, to, from, &x));
    for (bool more = walk_begin(&x.w); more; more = walk_next(&x.w)) {
        int64_t at;
        TENSOR_TRY(find_run(call, &x, &at));
        element_copy(element_bytes(to->dtype), tensor_at(to, x.w.offset[LISTED]), x.listed_stride, tensor_at(from, at),
                     x.indexed_stride, (size_t)x.n);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_GATHER(tensor_call *call) { return pick(call, walk_elements); }
pto_status eval_TENSOR_TAKE(tensor_call *call) { return pick(call, walk_slices); }
pto_status eval_TENSOR_EMBEDDING(tensor_call *call)
{
    return pick(call, walk_slices);
} /* axis 0, where none is given */

/* The result begins as x. */
static pto_status copy_first(tensor_call *call)
{
    walk w;
    int64_t strides[WALK_ARRAYS];
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    const int64_t n = walk_split_last(&w, strides);
    for (bool more = walk_begin(&w); more && n > 0; more = walk_next(&w))
        element_copy(element_bytes(call->out->dtype), tensor_at(call->out, w.offset[0]), strides[0],
                     tensor_at(call->in[0], w.offset[1]), strides[1], (size_t)n);
    return PTO_OK;
}

/* ---- combining ---- */

/* Integers are combined in the result. */
static void combine_ints(const tensor_call *call, const pto_tensor *src, int64_t from, int64_t at)
{
    const pto_tensor *to = call->out;
    int64_t x, y, alpha = call->alpha.is_int ? call->alpha.i : (int64_t)call->alpha.f;
    element_read_i64(to->dtype, tensor_at(to, at), 1, 1, &x);
    element_read_i64(src->dtype, tensor_at(src, from), 1, 1, &y);
    const uint64_t a = (uint64_t)x, b = (uint64_t)y;
    x = (int64_t)(call->combine == COMBINE_MUL ? a * b : a + (uint64_t)alpha * b);
    element_write_i64(to->dtype, tensor_at(to, at), 1, 1, &x);
}

/* Floats in doubles, one for each element of the result in row-major order, which `sums` strides through. */
static void combine_floats(const tensor_call *call, const pto_tensor *src, int64_t from, double *sum)
{
    double y;
    const double alpha = call->alpha.is_int ? (double)call->alpha.i : call->alpha.f;
    element_read_f64(src->dtype, tensor_at(src, from), 1, 1, &y);
    *sum = call->combine == COMBINE_MUL ? *sum * y : *sum + alpha * y;
}

/* The result in doubles, packed: read from it, or written to it. */
static void exchange(const tensor_call *call, double *sums, bool writes)
{
    walk w = {.rank = call->out->rank};
    int64_t strides[WALK_ARRAYS];
    memcpy(w.dims, call->out->dims, sizeof w.dims);
    memcpy(w.strides[0], call->out->strides, sizeof w.strides[0]);
    const int64_t n = walk_split_last(&w, strides);
    for (bool more = walk_begin(&w); more && n > 0; more = walk_next(&w), sums += n) {
        if (writes)
            element_write_f64(call->out->dtype, tensor_at(call->out, w.offset[0]), strides[0], (size_t)n, sums);
        else
            element_read_f64(call->out->dtype, tensor_at(call->out, w.offset[0]), strides[0], (size_t)n, sums);
    }
}

static pto_status combine(tensor_call *call, walk_rule rule, const pto_tensor *src)
{
    indexed_walk x;
    pto_tensor packed = *call->out;
    int64_t stride = 1;
    double *const sums = call->scratch;
    const bool is_float = element_is_float(packed.dtype);
    for (uint32_t d = packed.rank; is_float && d-- > 0; stride *= packed.dims[d]) packed.strides[d] = stride;
    TENSOR_TRY(rule(call, src, &packed, &x));
    if (is_float) exchange(call, sums, false);
    for (bool more = walk_begin(&x.w); more; more = walk_next(&x.w)) {
        int64_t at;
        TENSOR_TRY(find_run(call, &x, &at));
        for (int64_t i = 0; i < x.n; i++) {
            const int64_t from = x.w.offset[LISTED] + i * x.listed_stride;
            if (is_float)
                combine_floats(call, src, from, &sums[at + i * x.indexed_stride]);
            else
                combine_ints(call, src, from, at + i * x.indexed_stride);
        }
    }
    if (is_float) exchange(call, sums, true);
    return PTO_OK;
}

pto_status tensor_each_combined(tensor_op op, tensor_call *call, tensor_visit *visit, void *self)
{
    const walk_rule rule = op == EVAL_TENSOR_SCATTER     ? walk_elements
                           : op == EVAL_TENSOR_INDEX_PUT ? walk_lists
                                                         : walk_slices;
    indexed_walk x;
    TENSOR_TRY(rule(call, call->in[op == EVAL_TENSOR_INDEX_PUT ? 1 : 2], call->out, &x));
    for (bool more = walk_begin(&x.w); more; more = walk_next(&x.w)) {
        int64_t at;
        TENSOR_TRY(find_run(call, &x, &at));
        for (int64_t i = 0; i < x.n; i++)
            visit(self, x.w.offset[LISTED] + i * x.listed_stride, at + i * x.indexed_stride);
    }
    return PTO_OK;
}

static pto_status put(tensor_call *call, walk_rule rule, int operand)
{
    indexed_walk x;
    const pto_tensor *src = call->in[operand], *to = call->out;
    TENSOR_TRY(tensor_check_dtype(call, operand));
    TENSOR_TRY(copy_first(call));
    if (call->combine != COMBINE_NONE) return combine(call, rule, src);
    TENSOR_TRY(rule(call, src, to, &x));
    for (bool more = walk_begin(&x.w); more; more = walk_next(&x.w)) {
        int64_t at;
        TENSOR_TRY(find_run(call, &x, &at));
        element_copy(element_bytes(to->dtype), tensor_at(to, at), x.indexed_stride, tensor_at(src, x.w.offset[LISTED]),
                     x.listed_stride, (size_t)x.n);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_SCATTER(tensor_call *call) { return put(call, walk_elements, 2); }
pto_status eval_TENSOR_SCATTER_UPDATE(tensor_call *call) { return put(call, walk_slices, 2); }
pto_status eval_TENSOR_INDEX_ADD(tensor_call *call) { return put(call, walk_slices, 2); }
pto_status eval_TENSOR_INDEX_PUT(tensor_call *call) { return put(call, walk_lists, 1); }

/* ---- one_hot ---- */

pto_status eval_TENSOR_ONE_HOT(tensor_call *call)
{
    const pto_tensor *index = call->in[0], *out = call->out;
    const uint64_t none = 0, one = element_from_number(out->dtype, number_from_int(1), false);
    TENSOR_TRY(check_index(call, 0));
    if (out->rank != index->rank + 1) return tensor_fail(call, "rank %u makes rank %u", index->rank, out->rank);
    const int64_t classes = out->dims[index->rank], stride = out->strides[index->rank];
    walk w = {.rank = index->rank};
    for (uint32_t d = 0; d < index->rank; d++) {
        TENSOR_TRY(extent_differs(call, out->dims[d], index->dims[d]));
        w.dims[d] = index->dims[d];
        w.strides[0][d] = out->strides[d];
        w.strides[1][d] = index->strides[d];
    }
    for (bool more = walk_begin(&w); more && classes > 0; more = walk_next(&w)) {
        int64_t at;
        element_read_i64(index->dtype, tensor_at(index, w.offset[1]), 1, 1, &at);
        element_copy(element_bytes(out->dtype), tensor_at(out, w.offset[0]), stride, &none, 0, (size_t)classes);
        if (at >= 0 && at < classes)
            element_copy(element_bytes(out->dtype), tensor_at(out, w.offset[0] + at * stride), 1, &one, 1, 1);
    }
    return PTO_OK;
}

/* ---- indices as elements, and as what decides ---- */

pto_status eval_TENSOR_IOTA(tensor_call *call)
{
    const pto_tensor *out = call->out;
    uint32_t axis;
    walk w;
    TENSOR_TRY(tensor_check_axis(call, call->axis_count != 0 ? call->axes[0] : 0, out->rank, &axis));
    TENSOR_TRY(walk_broadcast(call, 0, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const uint64_t bits = element_from_number(out->dtype, number_from_int(w.index[axis]), false);
        memcpy(tensor_at(out, w.offset[0]), &bits, element_bytes(out->dtype));
    }
    return PTO_OK;
}

/* x where `column - row` is at most the diagonal, or at least. */
static pto_status triangle(tensor_call *call, bool is_lower)
{
    const pto_tensor *x = call->in[0], *out = call->out;
    walk w;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    if (out->rank < 2) return tensor_fail(call, "a tensor of rank %u has no rows and columns", out->rank);
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    const size_t size = element_bytes(out->dtype);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const int64_t place = w.index[out->rank - 1] - w.index[out->rank - 2];
        if (is_lower ? place <= call->offsets[0] : place >= call->offsets[0])
            memcpy(tensor_at(out, w.offset[0]), tensor_at(x, w.offset[1]), size);
        else
            memset(tensor_at(out, w.offset[0]), 0, size);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_TRIL(tensor_call *call) { return triangle(call, true); }
pto_status eval_TENSOR_TRIU(tensor_call *call) { return triangle(call, false); }
