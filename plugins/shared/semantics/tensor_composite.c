/* Rows of tensor.def that are made of others: norms, rope, cross entropy, attention. Each is computed in double and
 * rounded once, whatever passes take it apart into. */
#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <math.h>

static double read_at(const pto_tensor *t, int64_t at)
{
    double x;
    element_read_f64(t->dtype, tensor_at(t, at), 1, 1, &x);
    return x;
}

static void write_at(const pto_tensor *t, int64_t at, double x)
{
    element_write_f64(t->dtype, tensor_at(t, at), 1, 1, &x);
}

static pto_status check_float_operand(tensor_call *call, int i)
{
    const pto_dtype t = call->in[i]->dtype;
    if (element_is_wide_float(t)) return PTO_OK;
    return tensor_fail(call, "operand %d is %s, not a float that ops compute in", i + 1, pto_dtype_name(t));
}

/* ---- norms: arrays 0 to 3 of walks are the result, x, gamma and beta ---- */

/* The elements that `inner` walks from that of `outer` on. */
static void normalise(const tensor_call *call, const walk *outer, walk *inner)
{
    const pto_tensor *x = call->in[0], *gamma = call->in[1], *beta = call->in[2];
    double sum = 0, squares = 0, count = 0;
    for (bool more = walk_begin(inner); more; more = walk_next(inner), count++)
        sum += read_at(x, outer->offset[1] + inner->offset[1]);
    const double mean = sum / count;
    for (bool more = walk_begin(inner); more; more = walk_next(inner)) {
        const double distance = read_at(x, outer->offset[1] + inner->offset[1]) - mean;
        squares += distance * distance;
    }
    const double root = sqrt(squares / count + call->eps);
    for (bool more = walk_begin(inner); more; more = walk_next(inner)) {
        double y = (read_at(x, outer->offset[1] + inner->offset[1]) - mean) / root;
        if (gamma != NULL) y *= read_at(gamma, outer->offset[2] + inner->offset[2]);
        if (beta != NULL) y += read_at(beta, outer->offset[3] + inner->offset[3]);
        write_at(call->out, outer->offset[0] + inner->offset[0], y);
    }
}

/* A dim of a walk: `places` apart along dim d of x, and `channels` along gamma and beta. */
static void add_dim(const tensor_call *call, walk *w, uint32_t d, int64_t extent, int64_t places, int64_t channels)
{
    w->dims[w->rank] = extent;
    w->strides[0][w->rank] = call->out->strides[d] * places;
    w->strides[1][w->rank] = call->in[0]->strides[d] * places;
    for (int i = 1; i < 3; i++)
        w->strides[i + 1][w->rank] = call->in[i] != NULL ? call->in[i]->strides[0] * channels : 0;
    w->rank++;
}

static pto_status check_norm(tensor_call *call, uint32_t axis)
{
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    for (int i = 1; i < 3 && call->in[i] != NULL; i++) {
        TENSOR_TRY(check_float_operand(call, i));
        if (call->in[i]->rank != 1 || call->in[i]->dims[0] != call->in[0]->dims[axis])
            return tensor_fail(call, "operand %d has not the extent %" PRId64 " of dim %u", i + 1,
                               call->in[0]->dims[axis], axis);
    }
    return PTO_OK;
}

pto_status walk_norm(tensor_op op, tensor_call *call, walk *outer, walk *inner)
{
    const pto_tensor *x = call->in[0];
    *outer = *inner = (walk){0};
    if (op == EVAL_TENSOR_LAYER_NORM) {
        uint32_t axis;
        TENSOR_TRY(tensor_check_axis(call, call->axis_count != 0 ? call->axes[0] : -1, x->rank, &axis));
        TENSOR_TRY(check_norm(call, axis));
        for (uint32_t d = 0; d < x->rank; d++) add_dim(call, d == axis ? inner : outer, d, x->dims[d], 1, d == axis);
        return PTO_OK;
    }
    if (x->rank < 2 || call->groups < 1 || x->dims[1] % call->groups != 0)
        return tensor_fail(call, "%" PRId64 " groups of the channels of a tensor of rank %u", call->groups, x->rank);
    TENSOR_TRY(check_norm(call, 1));
    const int64_t channels = x->dims[1] / call->groups;
    add_dim(call, outer, 0, x->dims[0], 1, 0);
    add_dim(call, outer, 1, call->groups, channels, channels);
    add_dim(call, inner, 1, channels, 1, 1);
    for (uint32_t d = 2; d < x->rank; d++) add_dim(call, inner, d, x->dims[d], 1, 0);
    return PTO_OK;
}

static pto_status norm(tensor_call *call, tensor_op op)
{
    walk outer, inner;
    TENSOR_TRY(walk_norm(op, call, &outer, &inner));
    for (bool more = walk_begin(&outer); more; more = walk_next(&outer)) normalise(call, &outer, &inner);
    return PTO_OK;
}

pto_status eval_TENSOR_LAYER_NORM(tensor_call *call) { return norm(call, EVAL_TENSOR_LAYER_NORM); }
pto_status eval_TENSOR_GROUP_NORM(tensor_call *call) { return norm(call, EVAL_TENSOR_GROUP_NORM); }

/* ---- rope: arrays 0 to 3 are the result, x, cos and sin ---- */

pto_status walk_pairs(tensor_call *call, walk *out_walk, int64_t *out_apart)
{
    const pto_tensor *x = call->in[0], *out = call->out;
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    if (x->rank == 0 || x->dims[x->rank - 1] % 2 != 0) return tensor_fail(call, "the last extent is not even");
    const uint32_t last = x->rank - 1;
    const int64_t n = x->dims[last] / 2, step = call->interleaved ? 2 : 1;
    walk w = {.rank = x->rank};
    for (uint32_t d = 0; d < x->rank; d++) {
        w.dims[d] = d == last ? n : x->dims[d];
        w.strides[0][d] = out->strides[d] * (d == last ? step : 1);
        w.strides[1][d] = x->strides[d] * (d == last ? step : 1);
    }
    for (int i = 1; i < 3; i++) {
        const pto_tensor *t = call->in[i];
        if (t->rank > x->rank) return tensor_fail(call, "operand %d has rank %u, x %u", i + 1, t->rank, x->rank);
        const uint32_t skip = x->rank - t->rank;
        for (uint32_t d = 0; d < t->rank; d++) {
            if (t->dims[d] != w.dims[skip + d] && t->dims[d] != 1)
                return tensor_fail(
                    call, "operand %d has extent %" PRId64 " along dim %u, which is not repeated up to %" PRId64, i + 1,
                    t->dims[d], d, w.dims[skip + d]);
            w.strides[i + 1][skip + d] = t->dims[d] == 1 ? 0 : t->strides[d];
        }
    }
    *out_walk = w;
    *out_apart = call->interleaved ? 1 : n;
    return PTO_OK;
}

pto_status eval_TENSOR_ROPE(tensor_call *call)
{
    const pto_tensor *x = call->in[0], *out = call->out;
    walk w;
    int64_t apart = 0;
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    for (int i = 1; i < 3; i++) TENSOR_TRY(check_float_operand(call, i));
    TENSOR_TRY(walk_pairs(call, &w, &apart));
    const int64_t from = apart * x->strides[x->rank - 1], to = apart * out->strides[x->rank - 1];
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const double p = read_at(x, w.offset[1]), q = read_at(x, w.offset[1] + from);
        const double c = read_at(call->in[1], w.offset[2]), s = read_at(call->in[2], w.offset[3]);
        write_at(out, w.offset[0], p * c - q * s);
        write_at(out, w.offset[0] + to, q * c + p * s);
    }
    return PTO_OK;
}

/* ---- cross entropy: arrays 0 to 2 are the result, x and the index ---- */

static double surprise(const pto_tensor *x, int64_t at, int64_t stride, int64_t n, int64_t index)
{
    double most = -(double)INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) most = tensor_extreme(most, read_at(x, at + i * stride), false, NAN_PROPAGATE);
    for (int64_t i = 0; i < n; i++) sum += exp(read_at(x, at + i * stride) - most);
    return log(sum) - (read_at(x, at + index * stride) - most);
}

pto_status eval_TENSOR_CROSS_ENTROPY(tensor_call *call)
{
    const pto_tensor *x = call->in[0], *index = call->in[1], *out = call->out;
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 1));
    if (x->rank != out->rank + 1) return tensor_fail(call, "x has rank %u, it must be %u", x->rank, out->rank + 1);
    if (index->dtype != PTO_I16 && index->dtype != PTO_I32 && index->dtype != PTO_I64)
        return tensor_fail(call, "operand 2 is %s, indices are i16, i32 or i64", pto_dtype_name(index->dtype));
    walk w = {.rank = out->rank};
    for (uint32_t d = 0; d < w.rank; d++) {
        w.dims[d] = out->dims[d];
        w.strides[0][d] = out->strides[d];
        w.strides[1][d] = x->strides[d];
        w.strides[2][d] = index->strides[d];
    }
    const int64_t n = x->dims[out->rank];
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        int64_t at;
        element_read_i64(index->dtype, tensor_at(index, w.offset[2]), 1, 1, &at);
        if (at < 0 || at >= n) {
            call->is_outside = true;
            return tensor_fail(call, "has index %" PRId64 ", out of the extent %" PRId64 " of the last dim", at, n);
        }
        write_at(out, w.offset[0], surprise(x, w.offset[1], x->strides[out->rank], n, at));
    }
    return PTO_OK;
}

/* ---- attention ---- */

/* Arrays of the walk over batches, heads and queries. */
enum { MADE, QUERY, KEY, VALUE, MASK };

typedef struct attention {
    tensor_call *call;
    walk w;
    int64_t keys, elements, values;
    int64_t key_step, mask_step; /* from one key to the next */
    double scale, *scores, *sums;
} attention;

/* Of a query and a key, in pieces. */
static double product_with(const attention *a, int64_t key)
{
    const pto_tensor *q = a->call->in[0], *k = a->call->in[1];
    const int64_t q_step = q->strides[q->rank - 1], k_step = k->strides[k->rank - 1];
    double x[TENSOR_LANES], y[TENSOR_LANES], sum = 0;
    for (int64_t i = 0; i < a->elements; i += TENSOR_LANES) {
        const size_t n = tensor_piece(a->elements, i);
        element_read_f64(q->dtype, tensor_at(q, a->w.offset[QUERY] + i * q_step), q_step, n, x);
        element_read_f64(k->dtype, tensor_at(k, a->w.offset[KEY] + key * a->key_step + i * k_step), k_step, n, y);
        for (size_t j = 0; j < n; j++) sum += x[j] * y[j];
    }
    return sum;
}

static double score(const attention *a, int64_t key)
{
    const pto_tensor *mask = a->call->in[3];
    const double scaled = product_with(a, key) * a->scale;
    if (mask == NULL) return scaled;
    const int64_t at = a->w.offset[MASK] + key * a->mask_step;
    if (element_is_float(mask->dtype)) return scaled + read_at(mask, at);
    return *tensor_at(mask, at) != 0 ? scaled : -(double)INFINITY;
}

/* Adds `weight` times the values of a key to the sums. */
static void add_values(const attention *a, int64_t key, double weight)
{
    const pto_tensor *v = a->call->in[2];
    const int64_t step = v->strides[v->rank - 1], at = a->w.offset[VALUE] + key * v->strides[v->rank - 2];
    double x[TENSOR_LANES];
    for (int64_t i = 0; i < a->values; i += TENSOR_LANES) {
        const size_t n = tensor_piece(a->values, i);
        element_read_f64(v->dtype, tensor_at(v, at + i * step), step, n, x);
        for (size_t j = 0; j < n; j++) a->sums[i + (int64_t)j] += weight * x[j];
    }
}

/* Weights of 16 bits are rounded before they are multiplied by values. */
static double rounded_weight(pto_dtype t, double weight)
{
    uint16_t bits;
    if (t == PTO_F32) return weight;
    element_write_f64(t, &bits, 1, 1, &weight);
    element_read_f64(t, &bits, 1, 1, &weight);
    return weight;
}

/* One query, which sees the first `seen` keys. */
static void attend(const attention *a, int64_t seen)
{
    const pto_tensor *out = a->call->out;
    double most = -(double)INFINITY, sum = 0;
    for (int64_t i = 0; i < a->keys; i++) {
        a->scores[i] = i < seen ? score(a, i) : -(double)INFINITY;
        most = tensor_extreme(most, a->scores[i], false, NAN_PROPAGATE);
    }
    for (int64_t i = 0; i < a->keys; i++) sum += a->scores[i] = exp(a->scores[i] - most);
    for (int64_t j = 0; j < a->values; j++) a->sums[j] = 0;
    for (int64_t i = 0; i < a->keys; i++) add_values(a, i, rounded_weight(out->dtype, a->scores[i] / sum));
    const int64_t step = out->strides[out->rank - 1];
    for (int64_t j = 0; j < a->values; j++) write_at(out, a->w.offset[MADE] + j * step, a->sums[j]);
}

/* How far tensor `i` goes for one step along `part` of dim d: 0 where it stays. Heads are walked in two parts: groups,
 * and the `shared` heads of q in one. */
static int64_t query_stride(const pto_tensor *t, int i, uint32_t d, uint32_t rank, int part, int64_t shared)
{
    if (t == NULL || t->rank + d < rank || t->dims[d + t->rank - rank] == 1) return 0;
    const int64_t stride = t->strides[d + t->rank - rank];
    const bool is_shared = i == KEY || i == VALUE, is_heads = d + 3 == rank;
    if (is_shared && (part == 1 || d + 2 == rank)) return 0;
    return part == 0 && is_heads && !is_shared ? stride * shared : stride;
}

pto_status walk_queries(tensor_call *call, walk *out_walk)
{
    const pto_tensor *all[] = {call->out, call->in[0], call->in[1], call->in[2], call->in[3]};
    const uint32_t rank = call->out->rank;
    walk w = {0};
    for (uint32_t d = 0; d + 1 < rank; d++) {
        const int64_t extent = call->out->dims[d], own = d + 2 < rank ? call->in[1]->dims[d] : extent;
        const int64_t shared = own != 0 ? extent / own : 1;
        if (own != 0 && (extent % own != 0 || (shared != 1 && d + 3 != rank)))
            return tensor_fail(call, "extent %" PRId64 " of q along dim %u, and %" PRId64 " of k", extent, d, own);
        for (int part = 0; part < (d + 3 == rank ? 2 : 1); part++) {
            w.dims[w.rank] = part == 1 ? shared : d + 3 == rank ? own : extent;
            for (int i = MADE; i <= MASK; i++) w.strides[i][w.rank] = query_stride(all[i], i, d, rank, part, shared);
            w.rank++;
        }
    }
    *out_walk = w;
    return PTO_OK;
}

static pto_status check_attention(tensor_call *call)
{
    const pto_tensor *q = call->in[0], *k = call->in[1], *v = call->in[2], *out = call->out;
    TENSOR_TRY(tensor_check_float(call));
    for (int i = 0; i < 3; i++) TENSOR_TRY(tensor_check_dtype(call, i));
    const uint32_t rank = out->rank;
    if (rank < 2 || rank >= PTO_MAX_DIMS + 1 || q->rank != rank || k->rank != rank || v->rank != rank)
        return tensor_fail(call, "ranks %u, %u, %u and %u", q->rank, k->rank, v->rank, rank);
    for (uint32_t d = 0; d + 1 < rank; d++)
        if (q->dims[d] != out->dims[d] || k->dims[d] != v->dims[d])
            return tensor_fail(call, "extents along dim %u differ", d);
    if (q->dims[rank - 1] != k->dims[rank - 1] || v->dims[rank - 1] != out->dims[rank - 1])
        return tensor_fail(call, "extents along dim %u differ", rank - 1);
    return PTO_OK;
}

pto_status eval_TENSOR_ATTENTION(tensor_call *call)
{
    const pto_tensor *q = call->in[0], *k = call->in[1], *v = call->in[2], *mask = call->in[3];
    TENSOR_TRY(check_attention(call));
    const uint32_t last = q->rank - 1;
    attention a = {.call = call,
                   .keys = k->dims[last - 1],
                   .elements = q->dims[last],
                   .values = v->dims[last],
                   .key_step = k->strides[last - 1],
                   .scores = call->scratch,
                   .sums = (double *)call->scratch + k->dims[last - 1]};
    if (mask != NULL && mask->rank != 0 && mask->dims[mask->rank - 1] != 1) a.mask_step = mask->strides[mask->rank - 1];
    a.scale = call->has_scale ? call->scale : 1 / sqrt((double)a.elements);
    TENSOR_TRY(walk_queries(call, &a.w));
    for (bool more = walk_begin(&a.w); more; more = walk_next(&a.w)) {
        const int64_t query = a.w.index[a.w.rank - 1];
        attend(&a, call->causal ? query + 1 + a.keys - q->dims[last - 1] : a.keys);
    }
    return PTO_OK;
}
