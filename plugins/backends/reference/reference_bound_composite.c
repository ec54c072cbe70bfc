/* Sets of values of rope, of norms along axes and of the variance, as what they are composed of, in f32. */
#include "reference_bound_lists.h"

#include <math.h>

pto_status bound_turned(bound_run *r)
{
    packed_call places;
    walk w;
    int64_t apart;
    bound_pack(r, &places);
    PTO_TRY(walk_pairs(&places.call, &w, &apart));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const bound *p = &r->from[0].at[w.offset[1]], *q = p + apart, *c = &r->from[1].at[w.offset[2]],
                    *s = &r->from[2].at[w.offset[3]];
        const bound pc = bound_mul(PTO_F32, p, c, 1), qs = bound_mul(PTO_F32, q, s, 1),
                    qc = bound_mul(PTO_F32, q, c, 1), ps = bound_mul(PTO_F32, p, s, 1);
        const bound first = bound_sub(PTO_F32, &pc, &qs, 1), second = bound_add(PTO_F32, &qc, &ps, 1);
        r->to.at[w.offset[0]] = bound_as_result(r, &first);
        r->to.at[w.offset[0] + apart] = bound_as_result(r, &second);
    }
    return PTO_OK;
}

/* ---- means, and squares of what is around them ---- */

/* A sum over a divisor. One that overflows in f32 does not in a wider type: the quotient is finite, or not. */
static bound quotient(const bound_sum *s, double divisor, double ulp)
{
    const double least = s->lo / divisor, most = s->hi / divisor;
    const bound sum = bound_sum_end(PTO_F32, PTO_F32, s), n = {.lo = divisor, .hi = divisor};
    bound q = bound_div(PTO_F32, &sum, &n, ulp);
    if (q.hi == (double)INFINITY && !s->is_plus) q.lo = fmin(q.lo, least - fabs(least) * 0x1p-10);
    if (q.lo == -(double)INFINITY && !s->is_minus) q.hi = fmax(q.hi, most + fabs(most) * 0x1p-10);
    return q;
}

bound bound_mean(const bound_sum *s, double ulp) { return quotient(s, (double)s->count, ulp); }

/* A square may overflow f32, or not. */
static void add_square(bound_sum *s, const bound *x)
{
    const bound size = bound_abs(PTO_F32, x);
    bound square = bound_product(&size, &size);
    square.lo = fmax(square.lo - bound_ulp(PTO_F32, square.lo), 0);
    square.hi += bound_ulp(PTO_F32, square.hi);
    bound_sum_add(s, &square);
}

/* One over the root of the mean of what was added, and of eps. */
static bound inverse_root(const bound_run *r, const bound_sum *squares)
{
    const bound_rule rule = {.ulp = bound_row_ulp(r, "tensor.rsqrt") + 1};
    const bound eps = {.lo = r->call->eps, .hi = r->call->eps};
    bound mean = bound_mean(squares, bound_row_ulp(r, "tensor.reduce_mean"));
    mean.lo = fmax(mean.lo, 0);
    const bound biased = bound_add(PTO_F32, &mean, &eps, 1);
    bound root = bound_function(EVAL_TENSOR_RSQRT, GELU_TANH, PTO_F32, &biased, &rule);
    if (mean.hi == (double)INFINITY) {
        /* What overflows in f32 has the root 0; in a wider type it may not overflow. */
        const double most = 1 / sqrt(mean.lo + r->call->eps);
        root.lo = 0;
        root.hi = fmax(root.hi, bound_rounded(PTO_F32, most, most, rule.ulp, false).hi);
    }
    return root;
}

/* One over the root of the mean of squares of distances, which `to` holds. */
static bound root_of(const bound_run *r, const walk *outer, walk *inner)
{
    bound_sum s = bound_sum_start();
    for (bool more = walk_begin(inner); more; more = walk_next(inner))
        add_square(&s, &r->to.at[outer->offset[0] + inner->offset[0]]);
    return inverse_root(r, &s);
}

static void norm_part(const bound_run *r, const walk *outer, walk *inner)
{
    bound_sum s = bound_sum_start();
    for (bool more = walk_begin(inner); more; more = walk_next(inner))
        bound_sum_add(&s, &r->from[0].at[outer->offset[1] + inner->offset[1]]);
    const bound mean = bound_mean(&s, bound_row_ulp(r, "tensor.reduce_mean"));
    for (bool more = walk_begin(inner); more; more = walk_next(inner))
        r->to.at[outer->offset[0] + inner->offset[0]] =
            bound_sub(PTO_F32, &r->from[0].at[outer->offset[1] + inner->offset[1]], &mean, 1);
    const bound root = root_of(r, outer, inner);
    for (bool more = walk_begin(inner); more; more = walk_next(inner)) {
        bound *y = &r->to.at[outer->offset[0] + inner->offset[0]];
        *y = bound_mul(PTO_F32, y, &root, 1);
        if (r->call->in[1] != NULL) *y = bound_mul(PTO_F32, y, &r->from[1].at[outer->offset[2] + inner->offset[2]], 1);
        if (r->call->in[2] != NULL) *y = bound_add(PTO_F32, y, &r->from[2].at[outer->offset[3] + inner->offset[3]], 1);
        *y = bound_as_result(r, y);
    }
}

pto_status bound_normal(bound_run *r)
{
    packed_call places;
    walk outer, inner;
    bound_pack(r, &places);
    PTO_TRY(walk_norm(r->o->tensor, &places.call, &outer, &inner));
    for (bool more = walk_begin(&outer); more; more = walk_next(&outer)) norm_part(r, &outer, &inner);
    return PTO_OK;
}

/* x / sqrt(mean(x x) + eps) gamma along the last axis. */
pto_status bound_rms_norm(bound_run *r)
{
    packed_call places;
    walk w;
    int64_t s[WALK_ARRAYS];
    bound_pack(r, &places);
    PTO_TRY(walk_broadcast(&places.call, 2, &w));
    const int64_t n = walk_split_last(&w, s);
    for (bool more = walk_begin(&w); more && n > 0; more = walk_next(&w)) {
        const bound *x = r->from[0].at + w.offset[1];
        bound *to = r->to.at + w.offset[0];
        bound_sum squares = bound_sum_start();
        for (int64_t i = 0; i < n; i++) add_square(&squares, &x[i]);
        const bound root = inverse_root(r, &squares);
        for (int64_t i = 0; i < n; i++) {
            const bound y = bound_mul(PTO_F32, &x[i], &root, 1),
                        z = bound_mul(PTO_F32, &y, &r->from[1].at[w.offset[2] + i * s[2]], 1);
            to[i] = bound_as_result(r, &z);
        }
    }
    return PTO_OK;
}

pto_status bound_variance(bound_run *r)
{
    packed_call places;
    walk kept, reduced;
    bound_pack(r, &places);
    PTO_TRY(walk_reduction(&places.call, &kept, &reduced));
    for (bool more = walk_begin(&kept); more; more = walk_next(&kept)) {
        bound_sum s = bound_sum_start(), squares = s;
        for (bool on = walk_begin(&reduced); on; on = walk_next(&reduced))
            bound_sum_add(&s, &r->from[0].at[kept.offset[1] + reduced.offset[1]]);
        const bound mean = bound_mean(&s, bound_row_ulp(r, "tensor.reduce_mean"));
        for (bool on = walk_begin(&reduced); on; on = walk_next(&reduced)) {
            const bound distance = bound_sub(PTO_F32, &r->from[0].at[kept.offset[1] + reduced.offset[1]], &mean, 1);
            add_square(&squares, &distance);
        }
        const double divisor = (double)(squares.count - r->call->offsets[0]);
        const bound y = quotient(&squares, fmax(divisor, 0), r->rule.ulp);
        r->to.at[kept.offset[0]] = bound_as_result(r, &y);
    }
    return PTO_OK;
}
