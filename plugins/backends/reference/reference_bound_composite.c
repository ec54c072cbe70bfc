/* Sets of values of rope and of norms along axes, as what they are composed of, in f32. */
#include "reference_bound_lists.h"

#include <math.h>

/* The op on tensors that hold the lists: `in` and `out` are where it reads them from. */
typedef struct packed_call {
    pto_tensor in[3], out;
    tensor_call call;
} packed_call;

static void pack(const bound_run *r, packed_call *p)
{
    p->call = *r->call;
    p->out = bound_packed(r->call->out);
    p->call.out = &p->out;
    for (int i = 0; i < 3 && r->call->in[i] != NULL; i++) {
        p->in[i] = bound_packed(r->call->in[i]);
        p->call.in[i] = &p->in[i];
    }
}

static bound as_result(const bound_run *r, const bound *x)
{
    return bound_convert(r->type, PTO_F32, x, ROUND_RINT, false);
}

pto_status bound_turned(bound_run *r)
{
    packed_call places;
    walk w;
    int64_t apart;
    pack(r, &places);
    PTO_TRY(walk_pairs(&places.call, &w, &apart));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const bound *p = &r->from[0].at[w.offset[1]], *q = p + apart, *c = &r->from[1].at[w.offset[2]],
                    *s = &r->from[2].at[w.offset[3]];
        const bound pc = bound_mul(PTO_F32, p, c, 1), qs = bound_mul(PTO_F32, q, s, 1),
                    qc = bound_mul(PTO_F32, q, c, 1), ps = bound_mul(PTO_F32, p, s, 1);
        const bound first = bound_sub(PTO_F32, &pc, &qs, 1), second = bound_add(PTO_F32, &qc, &ps, 1);
        r->to.at[w.offset[0]] = as_result(r, &first);
        r->to.at[w.offset[0] + apart] = as_result(r, &second);
    }
    return PTO_OK;
}

/* One over the root of the mean of squares of distances, which `to` holds. Squares and their sum may overflow f32, or
 * not. */
static bound root_of(const bound_run *r, const walk *outer, walk *inner)
{
    const bound_rule rule = {.ulp = bound_row_ulp(r, "tensor.rsqrt") + 1};
    bound_sum s = bound_sum_start();
    for (bool more = walk_begin(inner); more; more = walk_next(inner)) {
        const bound size = bound_abs(PTO_F32, &r->to.at[outer->offset[0] + inner->offset[0]]);
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
    return root;
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
        *y = as_result(r, y);
    }
}

pto_status bound_normal(bound_run *r)
{
    packed_call places;
    walk outer, inner;
    pack(r, &places);
    PTO_TRY(walk_norm(r->o->tensor, &places.call, &outer, &inner));
    for (bool more = walk_begin(&outer); more; more = walk_next(&outer)) norm_part(r, &outer, &inner);
    return PTO_OK;
}
