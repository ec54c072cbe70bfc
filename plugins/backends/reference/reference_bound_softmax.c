/* Sets of values of softmax and of what is made with it, as what they are composed of, in f32: a maximum, exponentials
 * and their sum. */
#include "reference_bound_lists.h"

#include <math.h>

typedef struct bound_row {
    const bound *x;
    bound *y; /* exp(x - max); may be x */
    int64_t n, stride;
} bound_row;

/* x less the largest of its row: no element is above that. */
static bound below_top(const bound *x, const bound *top)
{
    bound d = bound_sub(PTO_F32, x, top, 1);
    if (d.hi > 0) d.hi = 0;
    return d;
}

/* Writes the exponentials to y, and returns their sum. */
static bound exponentials(const bound_run *r, const bound_row *row, bound *out_top)
{
    const bound_rule rule = {.ulp = bound_row_ulp(r, "tensor.exp")};
    bound top = bound_nan();
    bound_sum s = bound_sum_start();
    for (int64_t i = 0; i < row->n; i++) {
        const bound *x = &row->x[i * row->stride];
        top = i == 0 ? *x : bound_extreme(&top, x, false, NAN_ANY);
    }
    for (int64_t i = 0; i < row->n; i++) {
        const bound d = below_top(&row->x[i * row->stride], &top);
        bound *e = &row->y[i * row->stride];
        *e = bound_function(EVAL_TENSOR_EXP, GELU_TANH, PTO_F32, &d, &rule);
        bound_sum_add(&s, e);
    }
    *out_top = top;
    return bound_sum_end(PTO_F32, PTO_F32, &s);
}

/* exp(x - max) / sum(exp(x - max)). */
static void softmax_row(const bound_run *r, const bound_row *row)
{
    bound top;
    const bound sum = exponentials(r, row, &top);
    /* Distances from minus infinity have no numbers. */
    const bool is_nan = !bound_has_numbers(&top) || top.hi == -(double)INFINITY;
    for (int64_t i = 0; i < row->n; i++) {
        bound *e = &row->y[i * row->stride];
        const bound y = is_nan ? bound_nan() : bound_div(PTO_F32, e, &sum, 1);
        *e = bound_as_result(r, &y);
    }
}

pto_status bound_softmax(bound_run *r)
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

/* log(sum(exp(x - max))) - (x[index] - max). An index that may be another one lets the result be anything. */
pto_status bound_surprise(bound_run *r)
{
    const bound_rule rule = {.ulp = bound_row_ulp(r, "tensor.log")};
    const int64_t n = r->call->in[0]->dims[r->call->in[0]->rank - 1];
    storage *memory = storage_make(r->in->pool, (size_t)(n != 0 ? n : 1) * sizeof(bound));
    if (memory == NULL) return PTO_FAILED;
    void *const powers = memory->data;
    for (int64_t i = 0; i < r->to.count; i++) {
        const bound_row row = {r->from[0].at + i * n, powers, n, 1};
        const bound *index = &r->from[1].at[i];
        r->to.at[i] = bound_anything(r->type);
        if (!index->is_exact || index->lo < 0 || index->lo >= (double)n) continue;
        bound top;
        const bound sum = exponentials(r, &row, &top);
        const bound log = bound_function(EVAL_TENSOR_LOG, GELU_TANH, PTO_F32, &sum, &rule),
                    below = below_top(&row.x[(int64_t)index->lo], &top), y = bound_sub(PTO_F32, &log, &below, 1);
        r->to.at[i] = bound_as_result(r, &y);
    }
    storage_release(r->in->pool, memory);
    return PTO_OK;
}

/* ---- attention: of each head a product, the softmax of its rows, and another product ---- */

/* Arrays of walk_queries. */
enum { MADE, QUERY, KEY, VALUE, MASK };

typedef struct head {
    bound_run *r;
    const pto_tensor *q, *k, *v, *mask, *out;  /* as the lists hold them; mask may be NULL */
    int64_t queries, keys, steps[WALK_ARRAYS]; /* from one query to the next */
    bound scale, *scores;                      /* queries x keys */
} head;

/* Its product with q and k, scaled, and -inf where the query does not see the key. */
static bound masked(const head *h, int64_t query, int64_t key, const bound *mask, const bound *product)
{
    const bound nothing = {.lo = -(double)INFINITY, .hi = -(double)INFINITY};
    if (h->r->call->causal && key > query + h->keys - h->queries) return nothing;
    const bound score = bound_mul(PTO_F32, product, &h->scale, 1);
    if (h->mask == NULL) return score;
    if (h->mask->dtype == PTO_BOOL) return mask->lo > 0 ? score : mask->hi < 1 ? nothing : bound_join(&score, &nothing);
    const bound more = bound_convert(PTO_F32, h->mask->dtype, mask, ROUND_RINT, false);
    return bound_add(PTO_F32, &score, &more, 1);
}

static void weigh(const head *h, const bound *masks)
{
    const int64_t mask_step = h->mask != NULL && h->mask->rank > 0 && h->mask->dims[h->mask->rank - 1] != 1;
    for (int64_t i = 0; i < h->queries; i++) {
        bound *row = h->scores + i * h->keys;
        for (int64_t j = 0; j < h->keys; j++) {
            const bound *mask = h->mask != NULL ? &masks[i * h->steps[MASK] + j * mask_step] : NULL;
            row[j] = masked(h, i, j, mask, &row[j]);
        }
        softmax_row(h->r, &(bound_row){row, row, h->keys, 1});
    }
}

static bool attend(const head *h, const int64_t at[WALK_ARRAYS])
{
    const bound_run *r = h->r;
    const int64_t elements = h->q->dims[h->q->rank - 1], values = h->v->dims[h->v->rank - 1];
    const bound_matrices scores = {.a = r->from[0].at + at[QUERY],
                                   .b = r->from[1].at + at[KEY],
                                   .out = h->scores,
                                   .m = h->queries,
                                   .k = elements,
                                   .n = h->keys,
                                   .a_strides = {h->steps[QUERY], 1},
                                   .b_strides = {1, elements},
                                   .out_strides = {h->keys, 1},
                                   .type = PTO_F32,
                                   .inside = PTO_F32,
                                   .is_bf16 = h->q->dtype == PTO_BF16},
                         sums = {.a = h->scores,
                                 .b = r->from[2].at + at[VALUE],
                                 .out = r->to.at + at[MADE],
                                 .m = h->queries,
                                 .k = h->keys,
                                 .n = values,
                                 .a_strides = {h->keys, 1},
                                 .b_strides = {values, 1},
                                 .out_strides = {h->steps[MADE], 1},
                                 .type = r->type,
                                 .inside = PTO_F32,
                                 .is_bf16 = h->v->dtype == PTO_BF16};
    if (!bound_products(r->in, &scores)) return false;
    weigh(h, h->mask != NULL ? r->from[3].at + at[MASK] : NULL);
    return bound_products(r->in, &sums);
}

/* The scale of the scores, as f32 or not: that of the op, or one over the root of the extent. */
static bound scale_of(const bound_run *r, int64_t elements)
{
    if (r->call->has_scale) return bound_near(r->call->scale);
    const bound extent = {.lo = (double)elements, .hi = (double)elements};
    const bound_rule rule = {.ulp = bound_row_ulp(r, "tensor.rsqrt")};
    return bound_function(EVAL_TENSOR_RSQRT, GELU_TANH, PTO_F32, &extent, &rule);
}

pto_status bound_attention(bound_run *r)
{
    packed_call places;
    walk w;
    bound_pack(r, &places);
    PTO_TRY(walk_queries(&places.call, &w));
    head h = {.r = r,
              .q = &places.in[0],
              .k = &places.in[1],
              .v = &places.in[2],
              .mask = places.call.in[3],
              .out = &places.out};
    h.keys = h.k->dims[h.k->rank - 2];
    h.queries = walk_split_last(&w, h.steps);
    h.scale = scale_of(r, h.q->dims[h.q->rank - 1]);
    storage *memory = storage_make(r->in->pool, (size_t)(h.queries * h.keys + 1) * sizeof(bound));
    if (memory == NULL) return PTO_FAILED;
    void *const scores = memory->data;
    h.scores = scores;
    bool ok = true;
    for (bool more = walk_begin(&w); ok && more; more = walk_next(&w)) ok = attend(&h, w.offset);
    storage_release(r->in->pool, memory);
    return ok ? PTO_OK : PTO_FAILED;
}
