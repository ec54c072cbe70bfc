/* Which values the result of a tensor op may have: the numbers of its row, carried on from operand to result. */
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

void bound_pack(const bound_run *r, packed_call *out)
{
    out->call = *r->call;
    out->out = bound_packed(r->call->out);
    out->call.out = &out->out;
    for (int i = 0; i < TENSOR_OPERANDS && r->call->in[i] != NULL; i++) {
        out->in[i] = bound_packed(r->call->in[i]);
        out->call.in[i] = &out->in[i];
    }
}

bound bound_as_result(const bound_run *r, const bound *x)
{
    return bound_convert(r->type, PTO_F32, x, ROUND_RINT, false);
}

double bound_row_ulp(const bound_run *r, const char *op)
{
    const pto_run *run = r->in->run;
    return (double)pto_kind_column(run, pto_kind_by_name(run, pto_s(op)), PTO_COLUMN_ULP);
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
    const bool adds = r->o->tensor == EVAL_TENSOR_ASSEMBLE && r->call->combine == COMBINE_ADD;
    const bool has_numbers = element_is_float(r->type);
    for (bool more = walk_begin(&w.w); more; more = walk_next(&w.w)) {
        bound *const to = &r->to.at[w.at[0] + w.w.offset[0]];
        const bound *const from = &r->from[0].at[w.at[1] + w.w.offset[1]];
        if (!adds)
            *to = *from;
        else if (to->is_exact && from->is_exact)
            *to = (bound){.is_exact = true};
        else
            *to = has_numbers ? bound_add(r->type, to, from, r->rule.ulp) : bound_anything(r->type);
    }
    return PTO_OK;
}

/* ---- along axes ---- */

/* All elements of the operand (array 1), with the place of the result that each goes into (array 0). */
static walk walk_operand(const bound_run *r)
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
    walk w = walk_operand(r);
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
    walk w = walk_operand(r);
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
    walk w = walk_operand(r);
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

static bound sum_or_mean(const bound_run *r, const bound_sum *s)
{
    if (r->o->tensor == EVAL_TENSOR_REDUCE_SUM) return bound_sum_end(r->type, PTO_F32, s);
    const bound mean = bound_mean(s, r->rule.ulp);
    return bound_as_result(r, &mean);
}

static pto_status sums(bound_run *r)
{
    storage *memory = storage_make(r->in->pool, (size_t)r->to.count * sizeof(bound_sum));
    if (memory == NULL) return PTO_FAILED;
    void *const data = memory->data;
    bound_sum *const s = data;
    for (int64_t i = 0; i < r->to.count; i++) s[i] = bound_sum_start();
    walk w = walk_operand(r);
    for (bool more = walk_begin(&w); more; more = walk_next(&w))
        bound_sum_add(&s[w.offset[0]], &r->from[0].at[w.offset[1]]);
    for (int64_t i = 0; i < r->to.count; i++) {
        const bool is_kept_sum = s[i].is_exact && (s[i].count == 0 || !element_is_float(r->type));
        r->to.at[i] = is_kept_sum ? (bound){.is_exact = true} : sum_or_mean(r, &s[i]);
    }
    storage_release(r->in->pool, memory);
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
    case EVAL_TENSOR_VAR: return bound_variance;
    case EVAL_TENSOR_CONV2D: return bound_windows;
    case EVAL_TENSOR_CROSS_ENTROPY: return bound_surprise;
    case EVAL_TENSOR_ATTENTION: return bound_attention;
    case EVAL_TENSOR_ROPE: return bound_turned;
    case EVAL_TENSOR_ARGMAX:
    case EVAL_TENSOR_ARGMIN: return chosen_indices;
    case EVAL_TENSOR_MATMUL: return bound_matmul;
    case EVAL_TENSOR_SCALED_MATMUL: return bound_scaled_matmul;
    case EVAL_TENSOR_QUANTIZE:
    case EVAL_TENSOR_DEQUANTIZE: return bound_quantised;
    case EVAL_TENSOR_QUANTIZE_BLOCK:
    case EVAL_TENSOR_PACK:
    case EVAL_TENSOR_BITCAST:
    case EVAL_TENSOR_UNPACK: return same_bits;
    case EVAL_TENSOR_WHERE: return bound_chosen;
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
    case EVAL_TENSOR_RANDOM_NORMAL: return bound_random;
    case EVAL_TENSOR_SOFTMAX: return bound_softmax;
    case EVAL_TENSOR_RMS_NORM: return bound_rms_norm;
    default: return bound_elements;
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
                   .computed = result->base,
                   .rule = {.ulp = (double)pto_kind_column(in->run, kind, PTO_COLUMN_ULP),
                            .argument_ulp = (double)pto_kind_column(in->run, kind, PTO_COLUMN_ARGUMENT_ULP)}};
    int64_t count = 0;
    if (!array_count(result, &count) || count == 0) return PTO_OK;
    /* What has no operand is exact; numbers of a distribution have a bound of their own. */
    if (call->in[0] == NULL && o->tensor != EVAL_TENSOR_RANDOM_NORMAL) return PTO_OK;
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
