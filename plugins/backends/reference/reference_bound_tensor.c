/* Which values the result of a tensor op may have: the numbers of its row, carried on from operand to result.
 * Composites are taken as what they are composed of, in f32. */
#include "reference_bound_lists.h"

#include <math.h>
#include <string.h>

/* ---- arrays as lists in row-major order ---- */

static bool make_list(interp *in, int64_t count, bound_list *out)
{
    out->count = count;
    out->in = storage_make(in->pool, (size_t)count * sizeof(bound));
    if (out->in == NULL) return false;
    void *const memory = out->in->data;
    out->at = memory;
    return true;
}

static walk walk_of(const array *a)
{
    walk w = {.rank = a->rank};
    memcpy(w.dims, a->dims, sizeof w.dims);
    memcpy(w.strides[0], a->strides, sizeof w.strides[0]);
    return w;
}

static bool read_list(interp *in, const array *a, bound_list *out)
{
    int64_t count, strides[WALK_ARRAYS];
    if (!array_count(a, &count) || !make_list(in, count, out)) return false;
    walk w = walk_of(a);
    const int64_t n = walk_split_last(&w, strides);
    bound *to = out->at;
    for (bool more = walk_begin(&w); more && n > 0; more = walk_next(&w)) {
        shadow_read(in->pool->shadow, a->dtype, a->base + w.offset[0] * (int64_t)element_bytes(a->dtype), strides[0],
                    (size_t)n, to);
        to += n;
    }
    return true;
}

pto_tensor bound_packed(const pto_tensor *t)
{
    if (t == NULL) return (pto_tensor){0};
    pto_tensor p = *t;
    int64_t stride = 1;
    for (uint32_t d = p.rank; d-- > 0;) {
        p.strides[d] = stride;
        stride *= p.dims[d];
    }
    return p;
}

double bound_row_ulp(const bound_run *r, const char *op)
{
    const pto_run *run = r->in->run;
    return (double)pto_kind_column(run, pto_kind_by_name(run, pto_s(op)), PTO_COLUMN_ULP);
}

/* ---- elements ---- */

static bool is_kept(const bound_run *r, const bound *a, const bound *b)
{
    if (!a->is_exact || (b != NULL && !b->is_exact) || r->rule.ulp != 0) return false;
    const bool is_extreme = r->o->tensor == EVAL_TENSOR_MAXIMUM || r->o->tensor == EVAL_TENSOR_MINIMUM;
    return !is_extreme || r->call->nan != NAN_ANY || (!a->may_be_nan && (b == NULL || !b->may_be_nan));
}

static bound element(const bound_run *r, const bound *a, const bound *b)
{
    const pto_dtype t = r->type;
    const double ulp = r->rule.ulp;
    switch (r->o->tensor) {
    case EVAL_TENSOR_NEG: return bound_neg(t, a);
    case EVAL_TENSOR_ABS: return bound_abs(t, a);
    case EVAL_TENSOR_RELU: return bound_relu(a);
    case EVAL_TENSOR_ADD: return bound_add(t, a, b, ulp);
    case EVAL_TENSOR_SUB: return bound_sub(t, a, b, ulp);
    case EVAL_TENSOR_MUL: return bound_mul(t, a, b, ulp);
    case EVAL_TENSOR_DIV: return bound_div(t, a, b, ulp);
    case EVAL_TENSOR_MAXIMUM: return bound_extreme(a, b, false, r->call->nan);
    case EVAL_TENSOR_MINIMUM: return bound_extreme(a, b, true, r->call->nan);
    case EVAL_TENSOR_EQ:
    case EVAL_TENSOR_NE:
    case EVAL_TENSOR_LT:
    case EVAL_TENSOR_LE:
    case EVAL_TENSOR_GT:
    case EVAL_TENSOR_GE: return bound_compare(PTO_RELATION_EQ + (r->o->tensor - EVAL_TENSOR_EQ), a, b);
    case EVAL_TENSOR_FULL:
    case EVAL_TENSOR_BROADCAST: return *a;
    case EVAL_TENSOR_TRIL:
    case EVAL_TENSOR_TRIU: return bound_join(a, &(bound){.lo = 0, .hi = 0});
    case EVAL_TENSOR_CAST: return bound_convert(t, r->call->in[0]->dtype, a, r->call->mode, r->call->saturate);
    default: return bound_function(r->o->tensor, r->call->approx, t, a, &r->rule);
    }
}

static pto_status elements(bound_run *r)
{
    walk w;
    int64_t s[WALK_ARRAYS];
    const bool is_binary = r->call->in[1] != NULL;
    const pto_tensor a = bound_packed(r->call->in[0]), b = is_binary ? bound_packed(r->call->in[1]) : a,
                     out = bound_packed(r->call->out);
    tensor_call places = {.in = {&a, &b}, .out = &out};
    PTO_TRY(walk_broadcast(&places, is_binary ? 2 : 1, &w));
    const int64_t n = walk_split_last(&w, s);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        for (int64_t i = 0; i < n; i++) {
            const bound *x = &r->from[0].at[w.offset[1] + i * s[1]],
                        *y = is_binary ? &r->from[1].at[w.offset[2] + i * s[2]] : NULL;
            bound *z = &r->to.at[w.offset[0] + i * s[0]];
            if (is_kept(r, x, y)) {
                *z = (bound){.is_exact = true};
                continue;
            }
            *z = element(r, x, y);
            if (r->call->out->dtype != PTO_BOOL) z->is_exact = x->is_exact && r->o->tensor == EVAL_TENSOR_BROADCAST;
        }
    }
    return PTO_OK;
}

/* a where the condition is known to hold, b where it is known not to, else both. */
static pto_status chosen(bound_run *r)
{
    const tensor_call *call = r->call;
    const pto_tensor out = bound_packed(call->out);
    enum { CHOSEN_OPERANDS = 3 };
    pto_tensor in[CHOSEN_OPERANDS];
    tensor_call places = {.out = &out};
    walk w;
    for (int i = 0; i < CHOSEN_OPERANDS; i++) {
        in[i] = bound_packed(call->in[i]);
        places.in[i] = &in[i];
    }
    PTO_TRY(walk_broadcast(&places, CHOSEN_OPERANDS, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const bound *c = &r->from[0].at[w.offset[1]], *a = &r->from[1].at[w.offset[2]],
                    *b = &r->from[2].at[w.offset[3]];
        r->to.at[w.offset[0]] = c->lo > 0 ? *a : c->hi < 1 ? *b : bound_join(a, b);
    }
    return PTO_OK;
}

static pto_status transposed(bound_run *r)
{
    const pto_tensor a = bound_packed(r->call->in[0]), out = bound_packed(r->call->out);
    walk w = {.rank = out.rank};
    for (uint32_t d = 0; d < out.rank; d++) {
        w.dims[d] = out.dims[d];
        w.strides[0][d] = out.strides[d];
        w.strides[1][d] = a.strides[r->call->axes[d]];
    }
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) r->to.at[w.offset[0]] = r->from[0].at[w.offset[1]];
    return PTO_OK;
}

static pto_status reshaped(bound_run *r)
{
    memcpy(r->to.at, r->from[0].at, (size_t)r->to.count * sizeof(bound));
    return PTO_OK;
}

/* Elements that do not come from in[0] are constants, those of the base, or what they were: they are in the list. */
static pto_status moved(bound_run *r)
{
    const pto_tensor a = bound_packed(r->call->in[0]), out = bound_packed(r->call->out);
    tensor_call places = *r->call;
    window_walk w;
    places.in[0] = &a;
    places.out = &out;
    if (r->o->tensor == EVAL_TENSOR_PAD)
        for (int64_t i = 0; i < r->to.count; i++) r->to.at[i] = (bound){.is_exact = true};
    if (r->o->tensor == EVAL_TENSOR_ASSEMBLE) memcpy(r->to.at, r->from[1].at, (size_t)r->to.count * sizeof(bound));
    PTO_TRY(walk_window(r->o->tensor, &places, &w));
    for (bool more = walk_begin(&w.w); more; more = walk_next(&w.w))
        r->to.at[w.at[0] + w.w.offset[0]] = r->from[0].at[w.at[1] + w.w.offset[1]];
    return PTO_OK;
}

/* ---- along axes ---- */

/* All elements of the operand (array 1), with the place of the result that each goes into (array 0). */
static walk walk_reduction(const bound_run *r)
{
    const pto_tensor a = bound_packed(r->call->in[0]), out = bound_packed(r->call->out);
    bool is_reduced[PTO_MAX_DIMS] = {false};
    walk w = {.rank = a.rank};
    for (uint32_t i = 0; i < r->call->axis_count; i++) {
        const int64_t axis = r->call->axes[i];
        is_reduced[axis < 0 ? axis + a.rank : axis] = true;
    }
    for (uint32_t d = 0, o = 0; d < a.rank; d++) {
        w.dims[d] = a.dims[d];
        w.strides[1][d] = a.strides[d];
        if (!is_reduced[d]) w.strides[0][d] = out.strides[o];
        o += !is_reduced[d] || !r->call->drop_reduced;
    }
    return w;
}

static pto_status extremes(bound_run *r)
{
    const bool smaller = r->o->tensor == EVAL_TENSOR_REDUCE_MIN || r->o->tensor == EVAL_TENSOR_ALL;
    for (int64_t i = 0; i < r->to.count; i++) r->to.at[i] = (bound){.lo = 1, .hi = -1, .is_exact = true};
    walk w = walk_reduction(r);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        bound *z = &r->to.at[w.offset[0]];
        const bound *x = &r->from[0].at[w.offset[1]];
        const bool is_first = !bound_has_numbers(z) && !z->may_be_nan,
                   is_exact = z->is_exact && x->is_exact && (r->call->nan != NAN_ANY || !x->may_be_nan);
        *z = is_first ? *x : bound_extreme(z, x, smaller, r->call->nan);
        z->is_exact = is_exact;
    }
    return PTO_OK;
}

/* Along which element an index leads is open as soon as one of them may be another. */
static pto_status chosen_indices(bound_run *r)
{
    for (int64_t i = 0; i < r->to.count; i++) r->to.at[i] = (bound){.is_exact = true};
    walk w = walk_reduction(r);
    for (bool more = walk_begin(&w); more; more = walk_next(&w))
        if (!r->from[0].at[w.offset[1]].is_exact) r->to.at[w.offset[0]] = bound_anything(r->type);
    return PTO_OK;
}

/* Products of floats in any order: between an overflow and an underflow of some order nothing is known. */
static bound product_end(const bound *sum, double magnitude, double smallest, double count)
{
    const double slack = count * 0x1p-23;
    if (!isfinite(magnitude) || magnitude > 0x1p126 || smallest < 0x1p-125 || slack > 0.5 || sum->may_be_nan)
        return bound_anything(PTO_F32);
    return bound_rounded(PTO_F32, sum->lo - fabs(sum->lo) * 2 * slack, sum->hi + fabs(sum->hi) * 2 * slack, 0, false);
}

typedef struct product {
    bound value;
    double magnitude, smallest, count; /* products of what is above 1, and of what is below; terms */
    bool is_exact;
} product;

static void multiply(product *p, const bound *x)
{
    const double least = x->lo <= 0 && x->hi >= 0 ? 0 : fmin(fabs(x->lo), fabs(x->hi)),
                 most = fmax(fabs(x->lo), fabs(x->hi));
    p->is_exact &= x->is_exact;
    p->count++;
    p->magnitude *= fmax(most, 1);
    p->smallest *= fmin(least, 1);
    const bool may_be_nan = p->value.may_be_nan || x->may_be_nan || !bound_has_numbers(x);
    p->value = bound_product(&p->value, x);
    p->value.may_be_nan |= may_be_nan;
}

static pto_status all_products(bound_run *r)
{
    storage *memory = storage_make(r->in->pool, (size_t)r->to.count * sizeof(product));
    if (memory == NULL) return PTO_FAILED;
    void *const data = memory->data;
    product *const p = data;
    for (int64_t i = 0; i < r->to.count; i++)
        p[i] = (product){.value = {.lo = 1, .hi = 1}, .magnitude = 1, .smallest = 1, .is_exact = true};
    walk w = walk_reduction(r);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) multiply(&p[w.offset[0]], &r->from[0].at[w.offset[1]]);
    for (int64_t i = 0; i < r->to.count; i++) {
        if (p[i].is_exact && (p[i].count == 0 || !element_is_float(r->type))) {
            r->to.at[i] = (bound){.is_exact = true};
            continue;
        }
        const bound y = product_end(&p[i].value, p[i].magnitude, p[i].smallest, p[i].count);
        r->to.at[i] = element_is_float(r->type) ? bound_convert(r->type, PTO_F32, &y, ROUND_RINT, false)
                                                : bound_anything(r->type);
    }
    storage_release(r->in->pool, memory);
    return PTO_OK;
}

/* Distances from a mean or a maximum that is off by an unknown amount. */
static pto_status unknown(bound_run *r)
{
    for (int64_t i = 0; i < r->to.count; i++) r->to.at[i] = bound_anything(r->type);
    return PTO_OK;
}

/* A mean is the sum, and `ulp` units more. A sum that overflows in f32 does not in a wider type: the mean is finite, or
 * not. */
bound bound_mean(const bound_sum *s, double ulp)
{
    const double count = (double)s->count, least = s->lo / count, most = s->hi / count;
    const bound sum = bound_sum_end(PTO_F32, PTO_F32, s), n = {.lo = count, .hi = count};
    bound mean = bound_div(PTO_F32, &sum, &n, ulp);
    if (mean.hi == (double)INFINITY && !s->is_plus) mean.lo = fmin(mean.lo, least - fabs(least) * 0x1p-10);
    if (mean.lo == -(double)INFINITY && !s->is_minus) mean.hi = fmax(mean.hi, most + fabs(most) * 0x1p-10);
    return mean;
}

static bound sum_or_mean(const bound_run *r, const bound_sum *s)
{
    if (r->o->tensor == EVAL_TENSOR_REDUCE_SUM) return bound_sum_end(r->type, PTO_F32, s);
    const bound mean = bound_mean(s, r->rule.ulp);
    return bound_convert(r->type, PTO_F32, &mean, ROUND_RINT, false);
}

static pto_status sums(bound_run *r)
{
    storage *memory = storage_make(r->in->pool, (size_t)r->to.count * sizeof(bound_sum));
    if (memory == NULL) return PTO_FAILED;
    void *const data = memory->data;
    bound_sum *const s = data;
    for (int64_t i = 0; i < r->to.count; i++) s[i] = bound_sum_start();
    walk w = walk_reduction(r);
    for (bool more = walk_begin(&w); more; more = walk_next(&w))
        bound_sum_add(&s[w.offset[0]], &r->from[0].at[w.offset[1]]);
    for (int64_t i = 0; i < r->to.count; i++) {
        const bool is_kept_sum = s[i].is_exact && (s[i].count == 0 || !element_is_float(r->type));
        r->to.at[i] = is_kept_sum ? (bound){.is_exact = true} : sum_or_mean(r, &s[i]);
    }
    storage_release(r->in->pool, memory);
    return PTO_OK;
}

/* ---- products of matrices ---- */

static void last_strides(const pto_tensor *t, bool transposed, int64_t out[2])
{
    out[0] = t->strides[t->rank - (transposed ? 1 : 2)];
    out[1] = t->strides[t->rank - (transposed ? 2 : 1)];
}

/* A vector as a matrix: a dim of extent 1 before dim `at`. */
static void insert_dim(pto_tensor *t, uint32_t at)
{
    for (uint32_t d = t->rank++; d > at; d--) {
        t->dims[d] = t->dims[d - 1];
        t->strides[d] = t->strides[d - 1];
    }
    t->dims[at] = 1;
    t->strides[at] = 0;
}

/* The sums alone, of type `t`. */
static pto_status sums_of_products(bound_run *r, pto_dtype t)
{
    const tensor_call *call = r->call;
    pto_tensor cut[3] = {bound_packed(call->out), bound_packed(call->in[0]), bound_packed(call->in[1])};
    const bool row = cut[1].rank == 1, column = cut[2].rank == 1;
    walk w;
    if (row) insert_dim(&cut[0], cut[0].rank - !column);
    if (column) insert_dim(&cut[0], cut[0].rank);
    if (row) insert_dim(&cut[1], 0);
    if (column) insert_dim(&cut[2], 1);
    const pto_tensor out = cut[0], a = cut[1], b = cut[2];
    bound_matrices p = {.m = out.dims[out.rank - 2],
                        .k = a.dims[a.rank - (call->transpose_a ? 2 : 1)],
                        .n = out.dims[out.rank - 1],
                        .type = t,
                        .inside = element_is_float(a.dtype) ? PTO_F32 : t};
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

/* Of one element: the bias, converted to the type `t` of the sum, then scale and relu in f32. Integers that stay
 * integers keep what is exact. */
static void follow_sum(const bound_run *r, pto_dtype t, const bound *bias, const bound *scale, bound *y)
{
    const bool stays = !element_is_float(t) && scale == NULL;
    if (stays && y->is_exact && (bias == NULL || bias->is_exact)) return;
    if (bias != NULL) {
        const bound b = bound_convert(t, r->call->in[2]->dtype, bias, ROUND_RINT, false);
        *y = bound_add(t, y, &b, 1);
    }
    if (scale != NULL) {
        const bound x = bound_convert(PTO_F32, t, y, ROUND_RINT, false);
        *y = bound_mul(PTO_F32, &x, scale, 1);
    }
    if (r->call->relu) *y = bound_relu(y);
    *y =
        bound_convert(r->type, scale != NULL ? PTO_F32 : t, y, ROUND_RINT, !element_is_float(r->type) && scale != NULL);
    y->is_exact = false;
}

static pto_status products(bound_run *r)
{
    const tensor_call *call = r->call;
    const int scale = call->third_is_scale  ? 2
                      : call->in[3] != NULL ? 3
                                            : 0,
              bias = call->in[2] != NULL && !call->third_is_scale ? 2 : 0;
    const pto_dtype from = call->in[0]->dtype;
    const bool is_wide = from == PTO_U32 || from == PTO_U64 || from == PTO_I64;
    if (scale == 0 && bias == 0 && !call->relu) return sums_of_products(r, r->type);
    const pto_dtype t = element_is_float(from) ? PTO_F32 : scale == 0 ? r->type : is_wide ? from : PTO_I32;
    PTO_TRY(sums_of_products(r, t));
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

/* ---- composites: rows along an axis, in f32 ---- */

typedef struct bound_row {
    const bound *x;
    bound *y;
    int64_t n, stride;
} bound_row;

/* exp(x - max) / sum(exp(x - max)). */
static void softmax_row(const bound_run *r, const bound_row *row)
{
    const double exp_ulp = bound_row_ulp(r, "tensor.exp");
    bound top = bound_nan();
    bound_sum s = bound_sum_start();
    for (int64_t i = 0; i < row->n; i++) {
        const bound *x = &row->x[i * row->stride];
        top = i == 0 ? *x : bound_extreme(&top, x, false, NAN_ANY);
    }
    const bound_rule rule = {.ulp = exp_ulp};
    for (int64_t i = 0; i < row->n; i++) {
        bound d = bound_sub(PTO_F32, &row->x[i * row->stride], &top, 1);
        if (d.hi > 0) d.hi = 0; /* no element is above the largest */
        bound *e = &row->y[i * row->stride];
        *e = bound_function(EVAL_TENSOR_EXP, GELU_TANH, PTO_F32, &d, &rule);
        bound_sum_add(&s, e);
    }
    const bound sum = bound_sum_end(PTO_F32, PTO_F32, &s);
    for (int64_t i = 0; i < row->n; i++) {
        bound *e = &row->y[i * row->stride];
        const bound y = bound_div(PTO_F32, e, &sum, 1);
        *e = bound_convert(r->type, PTO_F32, &y, ROUND_RINT, false);
    }
}

static pto_status softmax(bound_run *r)
{
    const pto_tensor a = bound_packed(r->call->in[0]);
    const int64_t named = r->call->axis_count != 0 ? r->call->axes[0] : -1, axis = named < 0 ? named + a.rank : named;
    walk w = {.rank = a.rank};
    for (uint32_t d = 0; d < a.rank; d++) {
        w.dims[d] = d == (uint32_t)axis ? 1 : a.dims[d];
        w.strides[0][d] = a.strides[d];
    }
    if (r->to.count == 0) return PTO_OK;
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const bound_row row = {r->from[0].at + w.offset[0], r->to.at + w.offset[0], a.dims[axis], a.strides[axis]};
        softmax_row(r, &row);
    }
    return PTO_OK;
}

/* x / sqrt(mean(x x) + eps), before gamma. Squares and their sum may overflow f32, or not. */
static void norm_row(const bound_run *r, const bound_row *row)
{
    const bound_rule rule = {.ulp = bound_row_ulp(r, "tensor.rsqrt") + 1};
    bound_sum s = bound_sum_start();
    for (int64_t i = 0; i < row->n; i++) {
        bound size = bound_abs(PTO_F32, &row->x[i]);
        bound square = bound_product(&size, &size);
        square.lo = fmax(square.lo - bound_ulp(PTO_F32, square.lo), 0);
        square.hi += bound_ulp(PTO_F32, square.hi);
        bound_sum_add(&s, &square);
    }
    const bound eps = {.lo = r->call->eps, .hi = r->call->eps};
    bound mean = bound_mean(&s, bound_row_ulp(r, "tensor.reduce_mean"));
    mean.lo = fmax(mean.lo, 0);
    const bound biased = bound_add(PTO_F32, &mean, &eps, 1);
    bound root = bound_function(EVAL_TENSOR_RSQRT, GELU_TANH, PTO_F32, &biased, &rule);
    if (mean.hi == (double)INFINITY) root.lo = 0;
    for (int64_t i = 0; i < row->n; i++) row->y[i] = bound_mul(PTO_F32, &row->x[i], &root, 1);
}

static pto_status rms_norm(bound_run *r)
{
    walk w;
    int64_t s[WALK_ARRAYS];
    const pto_tensor a = bound_packed(r->call->in[0]), b = bound_packed(r->call->in[1]),
                     out = bound_packed(r->call->out);
    tensor_call places = {.in = {&a, &b}, .out = &out};
    PTO_TRY(walk_broadcast(&places, 2, &w));
    const int64_t n = walk_split_last(&w, s);
    for (bool more = walk_begin(&w); more && n > 0; more = walk_next(&w)) {
        const bound_row row = {r->from[0].at + w.offset[1], r->to.at + w.offset[0], n, 1};
        norm_row(r, &row);
        for (int64_t i = 0; i < n; i++) {
            const bound y = bound_mul(PTO_F32, &row.y[i], &r->from[1].at[w.offset[2] + i * s[2]], 1);
            row.y[i] = bound_convert(r->type, PTO_F32, &y, ROUND_RINT, false);
        }
    }
    return PTO_OK;
}

/* ---- ops that compute the same bits however they are composed ---- */

/* What becomes of operands that may be others is not followed: anything. */
static pto_status same_bits(bound_run *r)
{
    bool is_exact = true;
    for (uint32_t i = 0; i < TENSOR_OPERANDS && r->call->in[i] != NULL; i++)
        for (int64_t k = 0; k < r->from[i].count; k++) is_exact = is_exact && r->from[i].at[k].is_exact;
    const bound all = is_exact ? (bound){.is_exact = true} : bound_anything(r->type);
    for (int64_t k = 0; k < r->to.count; k++) r->to.at[k] = all;
    return PTO_OK;
}

/* Products of what is scaled, in any order. */
static pto_status anything(bound_run *r)
{
    for (int64_t k = 0; k < r->to.count; k++) r->to.at[k] = bound_anything(r->type);
    return PTO_OK;
}

/* ---- one op ---- */

static pto_status (*bounds_of(tensor_op op))(bound_run *)
{
    switch (op) {
    case EVAL_TENSOR_RESHAPE:
    case EVAL_TENSOR_SQUEEZE:
    case EVAL_TENSOR_UNSQUEEZE: return reshaped;
    case EVAL_TENSOR_VIEW:
    case EVAL_TENSOR_FLIP:
    case EVAL_TENSOR_SPLIT:
    case EVAL_TENSOR_CONCAT:
    case EVAL_TENSOR_PAD:
    case EVAL_TENSOR_ASSEMBLE: return moved;
    case EVAL_TENSOR_TRANSPOSE: return transposed;
    case EVAL_TENSOR_REDUCE_MAX:
    case EVAL_TENSOR_REDUCE_MIN:
    case EVAL_TENSOR_ANY:
    case EVAL_TENSOR_ALL: return extremes;
    case EVAL_TENSOR_REDUCE_SUM:
    case EVAL_TENSOR_REDUCE_MEAN: return sums;
    case EVAL_TENSOR_REDUCE_PROD: return all_products;
    case EVAL_TENSOR_LAYER_NORM:
    case EVAL_TENSOR_GROUP_NORM: return bound_normal;
    case EVAL_TENSOR_VAR:
    case EVAL_TENSOR_CONV2D:
    case EVAL_TENSOR_CROSS_ENTROPY:
    case EVAL_TENSOR_ATTENTION: return unknown;
    case EVAL_TENSOR_ROPE: return bound_turned;
    case EVAL_TENSOR_ARGMAX:
    case EVAL_TENSOR_ARGMIN: return chosen_indices;
    case EVAL_TENSOR_MATMUL: return products;
    case EVAL_TENSOR_SCALED_MATMUL: return anything;
    case EVAL_TENSOR_QUANTIZE:
    case EVAL_TENSOR_DEQUANTIZE:
    case EVAL_TENSOR_QUANTIZE_BLOCK:
    case EVAL_TENSOR_PACK:
    case EVAL_TENSOR_BITCAST:
    case EVAL_TENSOR_UNPACK: return same_bits;
    case EVAL_TENSOR_WHERE: return chosen;
    case EVAL_TENSOR_GATHER:
    case EVAL_TENSOR_TAKE:
    case EVAL_TENSOR_EMBEDDING:
    case EVAL_TENSOR_SCATTER_UPDATE: return bound_moved;
    case EVAL_TENSOR_SCATTER:
    case EVAL_TENSOR_INDEX_PUT:
    case EVAL_TENSOR_INDEX_ADD: return bound_combined;
    case EVAL_TENSOR_SORT:
    case EVAL_TENSOR_ARGSORT:
    case EVAL_TENSOR_TOPK:
    case EVAL_TENSOR_ONE_HOT: return bound_ordered;
    case EVAL_TENSOR_CUMSUM:
    case EVAL_TENSOR_CUMPROD: return bound_scanned;
    case EVAL_TENSOR_SOFTMAX: return softmax;
    case EVAL_TENSOR_RMS_NORM: return rms_norm;
    default: return elements;
    }
}

static void write_list(interp *in, const array *a, const bound_list *l)
{
    shadow_write(in->pool->shadow, a->dtype, a->base, 1, (size_t)l->count, l->at);
}

/* The sets of one result. */
static pto_status bound_result(interp *in, const op_code *o, const array *const *from, const tensor_call *call,
                               const array *result)
{
    const pto_kind_id kind = pto_op_kind(o->op);
    bound_run r = {.in = in,
                   .o = o,
                   .call = call,
                   .type = result->dtype,
                   .rule = {.ulp = (double)pto_kind_column(in->run, kind, PTO_COLUMN_ULP),
                            .argument_ulp = (double)pto_kind_column(in->run, kind, PTO_COLUMN_ARGUMENT_ULP)}};
    int64_t count = 0;
    if (call->in[0] == NULL || !array_count(result, &count) || count == 0) return PTO_OK;
    /* A part leaves the rest of the result as it is. */
    const bool is_part = o->tensor == EVAL_TENSOR_CONCAT;
    bool ok = is_part ? read_list(in, result, &r.to) : make_list(in, count, &r.to);
    for (uint32_t i = 0; i < TENSOR_OPERANDS && call->in[i] != NULL; i++) ok = ok && read_list(in, from[i], &r.from[i]);
    if (ok) ok = bounds_of(o->tensor)(&r) == PTO_OK;
    if (ok) write_list(in, result, &r.to);
    if (r.to.in != NULL) storage_release(in->pool, r.to.in);
    for (uint32_t i = 0; i < TENSOR_OPERANDS; i++) {
        if (r.from[i].in != NULL) storage_release(in->pool, r.from[i].in);
    }
    return ok ? PTO_OK
              : pto_error(o->op, "pto.reference/limit", "the bounds of `%.*s` take too much memory", PTO_FMT(o->name));
}

pto_status bound_tensor(interp *in, const op_code *o, const array *const *from, const tensor_call *call,
                        const array *const results[TENSOR_RESULTS])
{
    for (uint32_t i = 0; i < TENSOR_RESULTS && results[i] != NULL; i++)
        PTO_TRY(bound_result(in, o, from, call, results[i]));
    return PTO_OK;
}
