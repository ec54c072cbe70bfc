/* What walks expressions: evaluation, bounds, substitution, visits. Recursion here is bounded by EXPR_MAX_DEPTH and
 * the work by EXPR_MAX_SIZE. */
#include "ir/context/context_impl.h"
#include "ir/context/expr_expand.h"

__extension__ typedef __int128 int128;

/* Of divisors from 1 up. */
static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 && a > 0); }

/* ---- evaluation ---- */

static bool narrow(int128 v, int64_t *out)
{
    *out = (int64_t)v;
    return v >= INT64_MIN && v <= INT64_MAX;
}

static bool eval_leaf(const expr_node *n, const expr_values *v, int64_t *out)
{
    switch (n->kind) {
    case EXPR_CONST: *out = n->value; return true;
    case EXPR_SYMBOL: return v->symbol != NULL && v->symbol(v->self, (str_id)n->value, out);
    case EXPR_SLOT: return v->slot != NULL && v->slot(v->self, (uint32_t)n->value, out);
    case EXPR_VALUE: return v->value != NULL && v->value(v->self, (uint32_t)n->value, out);
    default: return false;
    }
}

static bool eval_sum(const ir_context *c, const expr_node *n, const expr_values *v, int64_t *out)
{
    int128 sum = n->value;
    for (uint32_t i = 0; i < n->arg_count; i++) {
        int64_t arg;
        if (!expr_eval(c, n->args[i], v, &arg)) return false;
        if (__builtin_add_overflow(sum, (int128)arg * n->coefs[i], &sum)) return false;
    }
    return narrow(sum, out);
}

bool expr_eval(const ir_context *c, expr_id e, const expr_values *v, int64_t *out)
{
    const expr_node *n = expr_at(c, e);
    if (n->arg_count == 0) return eval_leaf(n, v, out);
    if (n->kind == EXPR_SUM) return eval_sum(c, n, v, out);
    int64_t a;
    if (!expr_eval(c, n->args[0], v, &a)) return false;
    for (uint32_t i = 1; i < n->arg_count; i++) {
        int64_t b;
        if (!expr_eval(c, n->args[i], v, &b)) return false;
        bool divides = n->kind == EXPR_FLOORDIV || n->kind == EXPR_CEILDIV || n->kind == EXPR_MOD;
        if (divides && b < 1) return false;
        switch (n->kind) {
        case EXPR_PRODUCT:
            if (__builtin_mul_overflow(a, b, &a)) return false;
            break;
        case EXPR_FLOORDIV: a = floor_div(a, b); break;
        case EXPR_CEILDIV: a = ceil_div(a, b); break;
        case EXPR_MOD: a = a % b < 0 ? a % b + b : a % b; break;
        case EXPR_MIN: a = b < a ? b : a; break;
        case EXPR_MAX: a = b > a ? b : a; break;
        default: BUG_IF(true, "expression kind %d", n->kind);
        }
    }
    *out = a;
    return true;
}

/* ---- bounds ---- */

/* Wider than 64 bits, with ends that stand for "no bound". Kept normal: lo is -NO_BOUND or fits 64 bits, hi fits 64
 * bits or is NO_BOUND. Rounding an end outward is always sound. */
#define NO_BOUND ((int128)1 << 70)
typedef struct interval {
    int128 lo, hi;
} interval;

static interval normal(interval x)
{
    if (x.lo <= INT64_MIN) x.lo = -NO_BOUND;
    if (x.lo > INT64_MAX) x.lo = INT64_MAX;
    if (x.hi >= INT64_MAX) x.hi = NO_BOUND;
    if (x.hi < INT64_MIN) x.hi = INT64_MIN;
    return x;
}

static bool is_unbounded(int128 v) { return v == NO_BOUND || v == -NO_BOUND; }

static int128 times(int128 a, int128 b)
{
    if (a == 0 || b == 0) return 0;
    bool negative = (a < 0) != (b < 0);
    if (is_unbounded(a) || is_unbounded(b)) return negative ? -NO_BOUND : NO_BOUND;
    int128 p = a * b;
    return p > NO_BOUND ? NO_BOUND : p < -NO_BOUND ? -NO_BOUND : p;
}

static int128 least(int128 a, int128 b) { return a < b ? a : b; }

static int128 greatest(int128 a, int128 b) { return a > b ? a : b; }

static interval product_bounds(interval a, interval b)
{
    int128 p = times(a.lo, b.lo), q = times(a.lo, b.hi), r = times(a.hi, b.lo), s = times(a.hi, b.hi);
    return normal((interval){least(least(p, q), least(r, s)), greatest(greatest(p, q), greatest(r, s))});
}

static interval scaled(interval x, int64_t by)
{
    if (by == 1) return x;
    const int128 p = times(x.lo, by), q = times(x.hi, by);
    return normal(by < 0 ? (interval){q, p} : (interval){p, q});
}

static interval sum_bounds(interval a, interval b)
{
    interval x = {a.lo + b.lo, a.hi + b.hi};
    if (a.lo == -NO_BOUND || b.lo == -NO_BOUND) x.lo = -NO_BOUND;
    if (a.hi == NO_BOUND || b.hi == NO_BOUND) x.hi = NO_BOUND;
    return normal(x);
}

static int128 quotient_end(int128 a, int128 b, bool up)
{
    if (is_unbounded(a)) return a;
    if (is_unbounded(b)) return up ? (a > 0) : -(a < 0);
    return up ? ceil_div((int64_t)a, (int64_t)b) : floor_div((int64_t)a, (int64_t)b);
}

/* Divisors below 1 make the evaluation fail, so only those from 1 up count. */
static interval quotient_bounds(interval a, interval b, bool up)
{
    if (b.hi < 1) return (interval){-NO_BOUND, NO_BOUND};
    if (b.lo < 1) b.lo = 1;
    if (b.lo == b.hi) return normal((interval){quotient_end(a.lo, b.lo, up), quotient_end(a.hi, b.lo, up)});
    return normal((interval){least(quotient_end(a.lo, b.lo, up), quotient_end(a.lo, b.hi, up)),
                             greatest(quotient_end(a.hi, b.lo, up), quotient_end(a.hi, b.hi, up))});
}

static interval rest_bounds(interval a, interval b)
{
    if (b.hi < 1) return (interval){-NO_BOUND, NO_BOUND};
    if (b.lo < 1) b.lo = 1;
    if (a.lo >= 0 && a.hi < b.lo) return a;
    if (b.lo == b.hi && !is_unbounded(a.lo) && !is_unbounded(a.hi)) {
        int128 first = (int128)floor_div((int64_t)a.lo, (int64_t)b.lo) * b.lo;
        if (a.hi < first + b.lo) return (interval){a.lo - first, a.hi - first};
    }
    interval x = {0, is_unbounded(b.hi) ? NO_BOUND : b.hi - 1};
    if (a.lo >= 0) x.hi = least(x.hi, a.hi);
    return x;
}

static interval leaf_bounds(const expr_node *n, const expr_ranges *r)
{
    expr_range x = {INT64_MIN, INT64_MAX};
    bool known = false;
    switch (n->kind) {
    case EXPR_CONST: return normal((interval){n->value, n->value});
    case EXPR_SYMBOL:
        known = r->symbol != NULL && r->symbol(r->self, (str_id)n->value, &x);
        if (!known) x = (expr_range){0, INT64_MAX};
        break;
    case EXPR_SLOT: known = r->slot != NULL && r->slot(r->self, (uint32_t)n->value, &x); break;
    case EXPR_VALUE: known = r->value != NULL && r->value(r->self, (uint32_t)n->value, &x); break;
    default: break;
    }
    if (!known && n->kind != EXPR_SYMBOL) x = (expr_range){INT64_MIN, INT64_MAX};
    return normal((interval){x.lo, x.hi});
}

static interval bounds_of(const ir_context *c, expr_id e, const expr_ranges *r)
{
    const expr_node *n = expr_at(c, e);
    if (n->arg_count == 0) return leaf_bounds(n, r);
    interval x = bounds_of(c, n->args[0], r);
    if (n->kind == EXPR_SUM) x = sum_bounds((interval){n->value, n->value}, scaled(x, n->coefs[0]));
    for (uint32_t i = 1; i < n->arg_count; i++) {
        interval y = bounds_of(c, n->args[i], r);
        switch (n->kind) {
        case EXPR_SUM: x = sum_bounds(x, scaled(y, n->coefs[i])); break;
        case EXPR_PRODUCT: x = product_bounds(x, y); break;
        case EXPR_FLOORDIV: x = quotient_bounds(x, y, false); break;
        case EXPR_CEILDIV: x = quotient_bounds(x, y, true); break;
        case EXPR_MOD: x = rest_bounds(x, y); break;
        case EXPR_MIN: x = (interval){least(x.lo, y.lo), least(x.hi, y.hi)}; break;
        case EXPR_MAX: x = (interval){greatest(x.lo, y.lo), greatest(x.hi, y.hi)}; break;
        default: BUG_IF(true, "expression kind %d", n->kind);
        }
    }
    return x;
}

expr_range expr_bounds(const ir_context *c, expr_id e, const expr_ranges *r)
{
    static const expr_ranges nothing_known = {0};
    interval x = bounds_of(c, e, r == NULL ? &nothing_known : r);
    return (expr_range){x.lo == -NO_BOUND ? INT64_MIN : (int64_t)x.lo, x.hi == NO_BOUND ? INT64_MAX : (int64_t)x.hi};
}

/* ---- substitution ---- */

static expr_id substitute_leaf(expr_id e, const expr_node *n, const expr_substitution *s)
{
    expr_id other = 0;
    if (n->kind == EXPR_SYMBOL && s->symbol != NULL) other = s->symbol(s->self, (str_id)n->value);
    if (n->kind == EXPR_SLOT && s->slot != NULL) other = s->slot(s->self, (uint32_t)n->value);
    if (n->kind == EXPR_VALUE && s->value != NULL) other = s->value(s->self, (uint32_t)n->value);
    return other != 0 ? other : e;
}

expr_id expr_combine(ir_context *c, uint8_t kind, expr_id a, expr_id b)
{
    switch (kind) {
    case EXPR_SUM: return expr_add(c, a, b);
    case EXPR_PRODUCT: return expr_mul(c, a, b);
    case EXPR_FLOORDIV: return expr_floordiv(c, a, b);
    case EXPR_CEILDIV: return expr_ceildiv(c, a, b);
    case EXPR_MOD: return expr_mod(c, a, b);
    case EXPR_MIN: return expr_min(c, a, b);
    case EXPR_MAX: return expr_max(c, a, b);
    default: BUG_IF(true, "expression kind %d", kind);
    }
    return 0;
}

/* All terms become one sum at once: most substitutions are of sums. */
static expr_id substitute_sum(ir_context *c, expr_id e, const expr_node *n, const expr_substitution *s)
{
    expr_id args[EXPR_MAX_ARGS];
    bool changed = false;
    for (uint32_t i = 0; i < n->arg_count; i++) {
        args[i] = expr_substitute(c, n->args[i], s);
        if (args[i] == 0) return 0;
        changed |= args[i] != n->args[i];
    }
    return changed ? expr_sum(c, n->value, n->arg_count, args, n->coefs) : e;
}

expr_id expr_substitute(ir_context *c, expr_id e, const expr_substitution *s)
{
    const expr_node *n = expr_at(c, e);
    bool touched = (n->has_symbol && s->symbol != NULL) || (n->has_slot && (s->slot != NULL || s->value != NULL));
    if (!touched) return e;
    if (n->arg_count == 0) return substitute_leaf(e, n, s);
    if (n->kind == EXPR_SUM) return substitute_sum(c, e, n, s);
    expr_id result = 0;
    bool changed = false;
    for (uint32_t i = 0; i < n->arg_count; i++) {
        expr_id arg = expr_substitute(c, n->args[i], s);
        if (arg == 0) return 0;
        changed |= arg != n->args[i];
        result = i == 0 ? arg : expr_combine(c, n->kind, result, arg);
        if (result == 0) return 0;
    }
    return changed ? result : e;
}

/* ---- visits ---- */

void expr_visit_slots(const ir_context *c, expr_id e, void (*visit)(void *self, uint32_t slot), void *self)
{
    const expr_node *n = expr_at(c, e);
    if (n->kind == EXPR_SLOT) visit(self, (uint32_t)n->value);
    if (!n->has_slot) return;
    for (uint32_t i = 0; i < n->arg_count; i++) expr_visit_slots(c, n->args[i], visit, self);
}

void expr_visit_symbols(const ir_context *c, expr_id e, void (*visit)(void *self, str_id name), void *self)
{
    const expr_node *n = expr_at(c, e);
    if (n->kind == EXPR_SYMBOL) visit(self, (str_id)n->value);
    if (!n->has_symbol) return;
    for (uint32_t i = 0; i < n->arg_count; i++) expr_visit_symbols(c, n->args[i], visit, self);
}

void expr_visit_values(const ir_context *c, expr_id e, void (*visit)(void *self, uint32_t value), void *self)
{
    const expr_node *n = expr_at(c, e);
    if (n->kind == EXPR_VALUE) visit(self, (uint32_t)n->value);
    if (!n->has_slot) return;
    for (uint32_t i = 0; i < n->arg_count; i++) expr_visit_values(c, n->args[i], visit, self);
}
