/* Sets of values of ops element by element: the numbers of their rows, carried on from operands to result. */
#include "reference_bound_lists.h"

#include <math.h>

enum { ELEMENT_OPERANDS = 3 };

/* Exact operands make the bits that were computed. */
static bool is_kept(const bound_run *r, int count, const bound *const x[ELEMENT_OPERANDS])
{
    const bool is_extreme = r->o->tensor == EVAL_TENSOR_MAXIMUM || r->o->tensor == EVAL_TENSOR_MINIMUM;
    if (r->rule.ulp != 0 && element_is_float(r->type)) return false;
    for (int i = 0; i < count; i++) {
        if (!x[i]->is_exact) return false;
        if (is_extreme && r->call->nan == NAN_ANY && x[i]->may_be_nan) return false;
    }
    return true;
}

/* ---- functions of exact operands: some units around what was computed, which is rounded once ---- */

static double computed_at(const bound_run *r, int64_t at)
{
    double y;
    element_read_f64(r->type, r->computed + at * (int64_t)element_bytes(r->type), 1, 1, &y);
    return y;
}

static bound around(pto_dtype t, double y, double ulp)
{
    double lo = y, hi = y;
    if (isnan(y)) return bound_nan();
    /* What is infinite once it is rounded may be the largest number of the type. */
    const double largest = bound_largest(t);
    if (y == (double)INFINITY) lo = largest;
    if (y == -(double)INFINITY) hi = -largest;
    return bound_rounded(t, lo, hi, ulp + 0.5, false);
}

/* Where rows say that their units do not hold. */
static void add_exceptions(const bound_run *r, const bound *const x[ELEMENT_OPERANDS], bound *y)
{
    const double turns_known = 65536, gate_known = -174, a = fmax(fabs(x[0]->lo), fabs(x[0]->hi));
    switch (r->o->tensor) {
    case EVAL_TENSOR_SIN:
    case EVAL_TENSOR_COS:
    case EVAL_TENSOR_TAN: y->may_be_nan |= a > turns_known; break;
    case EVAL_TENSOR_SWIGLU:
        if (x[0]->lo < gate_known) *y = bound_join(y, &(bound){.lo = -0.0, .hi = 0, .may_be_nan = true});
        if (a * fmax(fabs(x[1]->lo), fabs(x[1]->hi)) > bound_largest(PTO_F32)) *y = bound_anything(r->type);
        break;
    default: break;
    }
}

static bool has_own_sets(tensor_op op)
{
    switch (op) {
    case EVAL_TENSOR_SQRT:
    case EVAL_TENSOR_RSQRT:
    case EVAL_TENSOR_RECIPROCAL:
    case EVAL_TENSOR_EXP:
    case EVAL_TENSOR_LOG:
    case EVAL_TENSOR_TANH:
    case EVAL_TENSOR_SIGMOID:
    case EVAL_TENSOR_SILU:
    case EVAL_TENSOR_GELU: return true;
    default: return false;
    }
}

static bool is_around(const bound_run *r, int count, const bound *const x[ELEMENT_OPERANDS])
{
    bool is_exact = r->rule.ulp != 0 && !has_own_sets(r->o->tensor);
    for (int i = 0; i < count; i++) is_exact = is_exact && x[i]->is_exact;
    return is_exact;
}

/* ---- functions of sets ---- */

static double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/* Of a function that rises in steps; its zeros have either sign. */
static bound in_steps(const bound *x, double (*f)(double))
{
    const double lo = f(x->lo), hi = f(x->hi);
    return (bound){.lo = lo == 0 ? -0.0 : lo, .hi = hi == 0 ? 0.0 : hi, .may_be_nan = x->may_be_nan};
}

/* The smaller of high and the larger of x and low; any NaN stays. */
static bound clipped(const bound *const x[ELEMENT_OPERANDS])
{
    const bound up = bound_extreme(x[0], x[1], false, NAN_PROPAGATE);
    return bound_extreme(&up, x[2], true, NAN_PROPAGATE);
}

/* a where it is above 0, else a b. */
static bound sloped(pto_dtype t, const bound *a, const bound *b)
{
    const bound part = bound_mul(t, a, b, 1);
    return a->lo > 0 && !a->may_be_nan ? *a : a->hi <= 0 ? part : bound_join(a, &part);
}

/* Rest of a division: below the divisor, and not above what is divided, in magnitude. */
static bound rest(const bound *a, const bound *b)
{
    const double most = fmax(fabs(b->lo), fabs(b->hi));
    if (!bound_has_numbers(a) || !bound_has_numbers(b)) return bound_nan();
    return (bound){.lo = -most, .hi = most, .may_be_nan = true};
}

static bound with_sign(const bound *a, const bound *b)
{
    const bound size = bound_abs(PTO_F32, a), minus = {.lo = -size.hi, .hi = -size.lo, .may_be_nan = size.may_be_nan};
    if (b->may_be_nan || (signbit(b->lo) && !signbit(b->hi))) return bound_join(&size, &minus);
    return signbit(b->hi) ? minus : size;
}

/* The root of a a + b b; infinite when one of them is, also beside NaN. */
static bound length(const bound_run *r, const bound *a, const bound *b)
{
    const bound p = bound_abs(PTO_F32, a), q = bound_abs(PTO_F32, b);
    const bool may_be_nan = a->may_be_nan || b->may_be_nan;
    if (!bound_has_numbers(a) || !bound_has_numbers(b)) return bound_anything(r->type);
    return bound_rounded(r->type, hypot(p.lo, q.lo), hypot(p.hi, q.hi), r->rule.ulp, may_be_nan);
}

static bound opened(const bound_run *r, const bound *const x[ELEMENT_OPERANDS])
{
    bound y = bound_swiglu(r->type, x[0], x[1], r->rule.ulp);
    add_exceptions(r, x, &y);
    return y;
}

static bound truth(bool may_fail, bool may_hold)
{
    return (bound){.lo = may_fail ? 0 : 1, .hi = may_hold ? 1 : 0, .is_exact = may_fail != may_hold};
}

static bound truth_of(tensor_op op, pto_dtype t, const bound *a, const bound *b)
{
    const bound p = bound_convert(PTO_BOOL, t, a, ROUND_RINT, false),
                q = b != NULL ? bound_convert(PTO_BOOL, t, b, ROUND_RINT, false) : p;
    const double infinity = (double)INFINITY;
    const bool has_numbers = bound_has_numbers(a),
               may_be_infinite = has_numbers && (a->lo == -infinity || a->hi == infinity),
               may_be_finite = has_numbers && a->lo < infinity && a->hi > -infinity;
    switch (op) {
    case EVAL_TENSOR_LOGICAL_NOT: return truth(p.hi > 0, p.lo < 1);
    case EVAL_TENSOR_LOGICAL_AND: return truth(p.lo < 1 || q.lo < 1, p.hi > 0 && q.hi > 0);
    case EVAL_TENSOR_LOGICAL_OR: return truth(p.lo < 1 && q.lo < 1, p.hi > 0 || q.hi > 0);
    case EVAL_TENSOR_ISNAN: return truth(has_numbers, a->may_be_nan);
    case EVAL_TENSOR_ISINF: return truth(a->may_be_nan || may_be_finite, may_be_infinite);
    case EVAL_TENSOR_ISFINITE: return truth(a->may_be_nan || may_be_infinite, may_be_finite);
    default: return bound_anything(PTO_BOOL);
    }
}

static bound of_two(const bound_run *r, const bound *a, const bound *b)
{
    const pto_dtype t = r->type;
    const double ulp = r->rule.ulp;
    switch (r->o->tensor) {
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
    case EVAL_TENSOR_PRELU: return sloped(t, a, b);
    case EVAL_TENSOR_COPYSIGN: return with_sign(a, b);
    case EVAL_TENSOR_HYPOT: return length(r, a, b);
    case EVAL_TENSOR_SWIGLU: return opened(r, (const bound *const[ELEMENT_OPERANDS]){a, b});
    case EVAL_TENSOR_MOD:
    case EVAL_TENSOR_FMOD: return element_is_float(t) ? rest(a, b) : bound_anything(t);
    case EVAL_TENSOR_LOGICAL_AND:
    case EVAL_TENSOR_LOGICAL_OR: return truth_of(r->o->tensor, r->call->in[0]->dtype, a, b);
    default: return bound_anything(t);
    }
}

static bound element(const bound_run *r, const bound *const x[ELEMENT_OPERANDS])
{
    const pto_dtype t = r->type;
    const bound *a = x[0];
    if (x[1] != a && r->o->tensor != EVAL_TENSOR_CLIP) return of_two(r, a, x[1]);
    switch (r->o->tensor) {
    case EVAL_TENSOR_NEG: return bound_neg(t, a);
    case EVAL_TENSOR_ABS: return bound_abs(t, a);
    case EVAL_TENSOR_RELU: return bound_relu(a);
    case EVAL_TENSOR_FLOOR: return in_steps(a, floor);
    case EVAL_TENSOR_CEIL: return in_steps(a, ceil);
    case EVAL_TENSOR_ROUND: return in_steps(a, nearbyint);
    case EVAL_TENSOR_TRUNC: return in_steps(a, trunc);
    case EVAL_TENSOR_SIGN: return in_steps(a, sign_of);
    case EVAL_TENSOR_CLIP: return clipped(x);
    case EVAL_TENSOR_LOGICAL_NOT:
    case EVAL_TENSOR_ISNAN:
    case EVAL_TENSOR_ISINF:
    case EVAL_TENSOR_ISFINITE: return truth_of(r->o->tensor, r->call->in[0]->dtype, a, NULL);
    case EVAL_TENSOR_FULL:
    case EVAL_TENSOR_BROADCAST: return *a;
    case EVAL_TENSOR_TRIL:
    case EVAL_TENSOR_TRIU: return bound_join(a, &(bound){.lo = 0, .hi = 0});
    case EVAL_TENSOR_CAST: return bound_convert(t, r->call->in[0]->dtype, a, r->call->mode, r->call->saturate);
    default: return bound_function(r->o->tensor, r->call->approx, t, a, &r->rule);
    }
}

pto_status bound_elements(bound_run *r)
{
    packed_call places;
    walk w;
    int count = 1; /* it has an operand */
    bound_pack(r, &places);
    while (count < ELEMENT_OPERANDS && r->call->in[count] != NULL) count++;
    PTO_TRY(walk_broadcast(&places.call, count, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const bound *x[ELEMENT_OPERANDS] = {NULL};
        for (int i = 0; i < ELEMENT_OPERANDS; i++) x[i] = i < count ? &r->from[i].at[w.offset[1 + i]] : x[0];
        bound *z = &r->to.at[w.offset[0]];
        if (is_kept(r, count, x)) {
            *z = (bound){.is_exact = true};
        } else if (is_around(r, count, x)) {
            *z = around(r->type, computed_at(r, w.offset[0]), r->rule.ulp);
            add_exceptions(r, x, z);
        } else {
            *z = element(r, x);
            if (r->type != PTO_BOOL) z->is_exact = x[0]->is_exact && r->o->tensor == EVAL_TENSOR_BROADCAST;
        }
    }
    return PTO_OK;
}

/* Units of the root of a pair, which both are a part of, or of 1. The largest root that 24 bits make is below 5.8. */
pto_status bound_random(bound_run *r)
{
    for (int64_t i = 0; i < r->to.count; i++) {
        const int64_t other = i ^ 1;
        const double y = computed_at(r, i), root = other < r->to.count ? fmax(hypot(y, computed_at(r, other)), 1) : 5.8,
                     error = (r->rule.ulp + 0.5) * bound_ulp(r->type, root);
        r->to.at[i] = bound_rounded(r->type, y - error, y + error, 0, false);
    }
    return PTO_OK;
}

/* a where the condition is known to hold, b where it is known not to, else both. */
pto_status bound_chosen(bound_run *r)
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
