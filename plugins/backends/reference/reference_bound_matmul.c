/* Sets of values of products of matrices, of what is scaled, and of windows with kernels: sums of products in any
 * order, and what follows them. */
#include "reference_bound_lists.h"

#include <math.h>
#include <string.h>

static void last_strides(const pto_tensor *t, bool transposed, int64_t out[2])
{
    out[0] = t->strides[t->rank - (transposed ? 1 : 2)];
    out[1] = t->strides[t->rank - (transposed ? 2 : 1)];
}

/* The sums alone, of type `t`, of what the lists of the operands hold. */
static pto_status sums_of_products(bound_run *r, pto_dtype t, pto_dtype inside, bool needs_numbers)
{
    const tensor_call *call = r->call;
    pto_tensor cut[3] = {bound_packed(call->out), bound_packed(call->in[0]), bound_packed(call->in[1])};
    const bool row = cut[1].rank == 1, column = cut[2].rank == 1;
    walk w;
    if (row) tensor_insert_dim(&cut[0], cut[0].rank - !column);
    if (column) tensor_insert_dim(&cut[0], cut[0].rank);
    if (row) tensor_insert_dim(&cut[1], 0);
    if (column) tensor_insert_dim(&cut[2], 1);
    const pto_tensor out = cut[0], a = cut[1], b = cut[2];
    bound_matrices p = {.m = out.dims[out.rank - 2],
                        .k = a.dims[a.rank - (call->transpose_a ? 2 : 1)],
                        .n = out.dims[out.rank - 1],
                        .type = t,
                        .inside = inside,
                        .needs_numbers = needs_numbers,
                        .is_bf16 = r->o->tensor == EVAL_TENSOR_MATMUL && call->in[0]->dtype == PTO_BF16};
    last_strides(&a, call->transpose_a, p.a_strides);
    last_strides(&b, call->transpose_b, p.b_strides);
    last_strides(&out, false, p.out_strides);
    for (int i = 0; i < 3; i++) cut[i].rank -= 2;
    tensor_call batch = {.in = {&cut[1], &cut[2]}, .out = &cut[0]};
    PTO_TRY(walk_broadcast(&batch, 2, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        p.out = r->to.at + w.offset[0];
        p.a = r->from[0].at + w.offset[1];
        p.b = r->from[1].at + w.offset[2];
        if (!bound_products(r->in, &p)) return PTO_FAILED;
    }
    return PTO_OK;
}

/* Whether all elements of operand `i` are exact, or there is none (0). */
static bool is_exact(const bound_run *r, int i)
{
    for (int64_t k = 0; i != 0 && k < r->from[i].count; k++)
        if (!r->from[i].at[k].is_exact) return false;
    return true;
}

/* What is subnormal in f32 may count as 0. */
static void flush(bound *x)
{
    const double least = 0x1p-126;
    if (x->lo > 0 && x->lo < least) x->lo = 0.0;
    if (x->hi < 0 && x->hi > -least) x->hi = -0.0;
}

/* The bias, converted to the type `t` of the sum. One of bf16 may be one more product, of itself and 1. */
static void add_bias(const bound_run *r, pto_dtype t, const bound *bias, bound *y)
{
    const bool may_flush = r->call->in[0]->dtype == PTO_BF16 && r->call->in[2]->dtype == PTO_BF16;
    bound b = bound_convert(t, r->call->in[2]->dtype, bias, ROUND_RINT, false);
    if (may_flush) flush(&b);
    *y = bound_add(t, y, &b, 1);
    if (may_flush) flush(y);
}

/* Of one element: the bias, then scale and relu in f32. Integers that stay integers keep what is exact. */
static void follow_sum(const bound_run *r, pto_dtype t, const bound *bias, const bound *scale, bound *y)
{
    const bool stays = !element_is_float(t) && scale == NULL;
    if (stays && y->is_exact && (bias == NULL || bias->is_exact)) return;
    if (bias != NULL) add_bias(r, t, bias, y);
    if (scale != NULL) {
        const bound x = bound_convert(PTO_F32, t, y, ROUND_RINT, false);
        *y = bound_mul(PTO_F32, &x, scale, 1);
    }
    if (r->call->relu) *y = bound_relu(y);
    *y =
        bound_convert(r->type, scale != NULL ? PTO_F32 : t, y, ROUND_RINT, !element_is_float(r->type) && scale != NULL);
    y->is_exact = false;
}

/* What sums are kept in before anything follows them. */
static pto_dtype sum_type(const bound_run *r, bool is_scaled)
{
    const pto_dtype from = r->call->in[0]->dtype;
    if (element_is_float(from)) return PTO_F32;
    if (!is_scaled) return r->type;
    return from == PTO_U32 || from == PTO_U64 || from == PTO_I64 ? from : PTO_I32;
}

pto_status bound_matmul(bound_run *r)
{
    const tensor_call *call = r->call;
    const int scale = call->third_is_scale  ? 2
                      : call->in[3] != NULL ? 3
                                            : 0,
              bias = call->in[2] != NULL && !call->third_is_scale ? 2 : 0;
    const pto_dtype t = sum_type(r, scale != 0);
    if (scale == 0 && bias == 0 && !call->relu) return sums_of_products(r, r->type, t, false);
    PTO_TRY(sums_of_products(r, t, t, scale != 0 || !is_exact(r, bias)));
    const pto_tensor out = bound_packed(call->out);
    pto_tensor in[2];
    tensor_call places = {.out = &out};
    for (int i = 0; i < 2; i++) {
        const int operand = i == 0 ? bias : scale;
        in[i] = operand != 0 ? bound_packed(call->in[operand]) : out;
        places.in[i] = &in[i];
    }
    walk w;
    PTO_TRY(walk_broadcast(&places, 2, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const bound *b = bias != 0 ? &r->from[bias].at[w.offset[1]] : NULL,
                    *s = scale != 0 ? &r->from[scale].at[w.offset[2]] : NULL;
        follow_sum(r, t, b, s, &r->to.at[w.offset[0]]);
    }
    return PTO_OK;
}

/* ---- products of what is scaled ---- */

/* The set in `list` that belongs to the element of a walk: of t, whose dims of extent 1 are repeated, and of which
 * there is one for each block along `axis` (none: block 0). */
static const bound *set_of(const bound_list *list, const pto_tensor *t, const walk *w, uint32_t axis, int64_t block)
{
    const uint32_t lead = w->rank - t->rank;
    int64_t at = 0, stride = 1;
    for (uint32_t d = t->rank; d-- > 0; stride *= t->dims[d]) {
        const int64_t index = w->index[lead + d];
        if (t->dims[d] != 1) at += (block != 0 && lead + d == axis ? index / block : index) * stride;
    }
    return &list->at[at];
}

static walk walk_all(const pto_tensor *t)
{
    const pto_tensor packed = bound_packed(t);
    walk w = {.rank = t->rank};
    memcpy(w.dims, packed.dims, sizeof w.dims);
    memcpy(w.strides[0], packed.strides, sizeof w.strides[0]);
    return w;
}

/* The elements of operand `i` times their scales, in f32, in the place of the elements: as the row of the op computes
 * them. */
static void scale_operand(bound_run *r, int i)
{
    const pto_tensor *x = r->call->in[i];
    const bool is_turned = i == 0 ? r->call->transpose_a : r->call->transpose_b;
    const uint32_t along = x->rank - (is_turned == (i == 0) ? 2 : 1);
    walk w = walk_all(x);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        bound *b = &r->from[i].at[w.offset[0]];
        const bound wide = bound_convert(PTO_F32, x->dtype, b, ROUND_RINT, false);
        *b = bound_mul(PTO_F32, &wide, set_of(&r->from[i + 2], r->call->in[i + 2], &w, along, r->call->block), 0);
    }
}

pto_status bound_scaled_matmul(bound_run *r)
{
    for (int i = 0; i < 2; i++) scale_operand(r, i);
    return sums_of_products(r, r->type, PTO_F32, false);
}

/* ---- one element and its scale ---- */

/* (x - zero) scale. */
static bound dequantised(const bound_run *r, const bound *x, const bound *scale, const bound *zero)
{
    bound y = bound_convert(PTO_F32, r->call->in[0]->dtype, x, ROUND_RINT, false);
    if (zero != NULL) {
        const bound z = bound_convert(PTO_F32, r->call->in[2]->dtype, zero, ROUND_RINT, false);
        y = bound_sub(PTO_F32, &y, &z, 0);
    }
    y = bound_mul(PTO_F32, &y, scale, 0);
    return bound_as_result(r, &y);
}

/* x / scale, to nearest, plus zero, within the range of the type; 0 for NaN. */
static bound quantised(const bound_run *r, const bound *x, const bound *scale, const bound *zero)
{
    const bound wide = bound_convert(PTO_F32, r->call->in[0]->dtype, x, ROUND_RINT, false);
    bound y = bound_div(PTO_F32, &wide, scale, 0);
    if (element_is_float(r->type)) return bound_convert(r->type, PTO_F32, &y, ROUND_RINT, true);
    y.lo = nearbyint(y.lo) + (zero != NULL ? zero->lo : 0);
    y.hi = nearbyint(y.hi) + (zero != NULL ? zero->hi : 0);
    return bound_convert(r->type, PTO_F32, &y, ROUND_RINT, true);
}

pto_status bound_quantised(bound_run *r)
{
    const bool has_zero = r->call->in[2] != NULL, makes = r->o->tensor == EVAL_TENSOR_QUANTIZE;
    const int64_t named = r->call->axis_count != 0 ? r->call->axes[0] : -1;
    const uint32_t axis = (uint32_t)(named < 0 ? named + r->call->out->rank : named);
    walk w = walk_all(r->call->out);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const bound *x = &r->from[0].at[w.offset[0]],
                    *scale = set_of(&r->from[1], r->call->in[1], &w, axis, r->call->block),
                    *zero = has_zero ? set_of(&r->from[2], r->call->in[2], &w, axis, r->call->block) : NULL;
        bound *y = &r->to.at[w.offset[0]];
        if (x->is_exact && scale->is_exact && (zero == NULL || zero->is_exact))
            *y = (bound){.is_exact = true};
        else
            *y = makes ? quantised(r, x, scale, zero) : dequantised(r, x, scale, zero);
    }
    return PTO_OK;
}

/* ---- windows with kernels: one row of results is a product of its windows and the kernels of a group ---- */

typedef struct windows {
    bound_run *r;
    tensor_conv of;                   /* as the lists hold them */
    int64_t channels, results, depth; /* channels and results of a group; elements of a window */
    pto_dtype sum;
    bound *columns, *kernels; /* windows x depth; depth x results */
} windows;

/* The windows of row `row` of batch `batch`, of one group; around x there are zeros. */
static void gather_row(const windows *v, int64_t batch, int64_t row, int64_t group)
{
    const tensor_conv *of = &v->of;
    const int64_t *dims = of->x.dims, *strides = of->x.strides, *low = v->r->call->offsets;
    bound *to = v->columns;
    for (int64_t j = 0; j < of->out.dims[2]; j++) {
        for (int64_t k = 0; k < of->w.dims[0] * of->w.dims[1]; k++, to += v->channels) {
            const int64_t y = row * of->strides[0] - low[0] + k / of->w.dims[1] * of->dilations[0],
                          x = j * of->strides[1] - low[1] + k % of->w.dims[1] * of->dilations[1];
            const bool is_outside = y < 0 || y >= dims[1] || x < 0 || x >= dims[2];
            const int64_t from =
                batch * strides[0] + y * strides[1] + x * strides[2] + group * v->channels * strides[3];
            for (int64_t c = 0; c < v->channels; c++)
                to[c] = is_outside ? (bound){.is_exact = true} : v->r->from[0].at[from + c * strides[3]];
        }
    }
}

static void gather_kernels(const windows *v, int64_t group)
{
    const int64_t *dims = v->of.w.dims, *strides = v->of.w.strides;
    bound *to = v->kernels;
    for (int64_t k = 0; k < dims[0] * dims[1] * dims[2]; k++) {
        const int64_t from = k / dims[2] / dims[1] * strides[0] + k / dims[2] % dims[1] * strides[1] +
                             k % dims[2] * strides[2] + group * v->results * strides[3];
        for (int64_t j = 0; j < v->results; j++) *to++ = v->r->from[1].at[from + j * strides[3]];
    }
}

static pto_status row_of_windows(const windows *v, int64_t batch, int64_t row, int64_t group)
{
    bound_run *const r = v->r;
    const pto_tensor *out = &v->of.out;
    const bool has_bias = r->call->in[2] != NULL;
    const bound_matrices p = {.a = v->columns,
                              .b = v->kernels,
                              .out = r->to.at + batch * out->strides[0] + row * out->strides[1] +
                                     group * v->results * out->strides[3],
                              .m = out->dims[2],
                              .k = v->depth,
                              .n = v->results,
                              .a_strides = {v->depth, 1},
                              .b_strides = {v->results, 1},
                              .out_strides = {out->strides[2], out->strides[3]},
                              .type = has_bias ? v->sum : r->type,
                              .inside = v->sum,
                              .needs_numbers = !is_exact(r, has_bias ? 2 : 0),
                              .is_bf16 = v->of.x.dtype == PTO_BF16};
    gather_row(v, batch, row, group);
    if (!bound_products(r->in, &p)) return PTO_FAILED;
    for (int64_t i = 0; has_bias && i < p.m * p.n; i++) {
        const int64_t j = i % p.n;
        bound *y = &p.out[i / p.n * p.out_strides[0] + j * p.out_strides[1]];
        follow_sum(r, v->sum, &r->from[2].at[group * v->results + j], NULL, y);
    }
    return PTO_OK;
}

static pto_status all_windows(const windows *v)
{
    const int64_t *dims = v->of.out.dims;
    for (int64_t group = 0; group < v->of.groups; group++) {
        gather_kernels(v, group);
        for (int64_t i = 0; i < dims[0] * dims[1]; i++) PTO_TRY(row_of_windows(v, i / dims[1], i % dims[1], group));
    }
    return PTO_OK;
}

pto_status bound_windows(bound_run *r)
{
    packed_call places;
    windows v = {.r = r};
    bound_pack(r, &places);
    PTO_TRY(tensor_conv_of(&places.call, &v.of));
    v.channels = v.of.w.dims[2];
    v.results = v.of.w.dims[3] / v.of.groups;
    v.depth = v.of.w.dims[0] * v.of.w.dims[1] * v.channels;
    v.sum = element_is_float(v.of.x.dtype) ? PTO_F32 : r->type;
    storage *columns = storage_make(r->in->pool, (size_t)(v.of.out.dims[2] * v.depth + 1) * sizeof(bound)),
            *kernels = storage_make(r->in->pool, (size_t)(v.results * v.depth + 1) * sizeof(bound));
    if (columns == NULL || kernels == NULL) return PTO_FAILED;
    void *const a = columns->data, *const b = kernels->data;
    v.columns = a;
    v.kernels = b;
    const pto_status s = all_windows(&v);
    storage_release(r->in->pool, columns);
    storage_release(r->in->pool, kernels);
    return s;
}
