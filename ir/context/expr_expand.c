/* The normal form of polynomials, in which equal ones are equal. Expressions themselves keep the products that were
 * written: factors tell more about ranges than the terms they multiply out to. */
#include "ir/context/expr_expand.h"

enum { FACTORS_MAX = EXPR_MAX_ARGS };

/* An expression as a sum: its constant part first, when it is a sum. */
static uint32_t term_count(const expr_node *n) { return n->kind == EXPR_SUM ? n->arg_count + 1u : 1u; }

/* The factor beside the coefficient of a term; 0 for 1. */
static expr_id term_at(const ir_context *c, expr_id e, uint32_t i, int64_t *coef)
{
    const expr_node *n = expr_at(c, e);
    if (n->kind == EXPR_CONST || (n->kind == EXPR_SUM && i == 0)) {
        *coef = n->value;
        return 0;
    }
    *coef = n->kind == EXPR_SUM ? n->coefs[i - 1] : 1;
    return n->kind == EXPR_SUM ? n->args[i - 1] : e;
}

static uint32_t add_factors(const ir_context *c, expr_id e, expr_id *factors, uint32_t count)
{
    const expr_node *n = expr_at(c, e);
    const uint32_t more = e == 0 ? 0 : n->kind == EXPR_PRODUCT ? n->arg_count : 1;
    if (count + more > FACTORS_MAX) return FACTORS_MAX + 1;
    for (uint32_t i = 0; i < more; i++) factors[count + i] = n->kind == EXPR_PRODUCT ? n->args[i] : e;
    return count + more;
}

/* The product of two factors without sums, their factors in the order of their ids; 0 when there are too many. */
static expr_id product_of(ir_context *c, expr_id a, expr_id b)
{
    expr_id factors[FACTORS_MAX];
    uint32_t count = add_factors(c, a, factors, 0);
    if (count <= FACTORS_MAX) count = add_factors(c, b, factors, count);
    if (count > FACTORS_MAX) return 0;
    expr_id product = expr_const(c, 1);
    for (uint32_t i = 0; i < count && product != 0; i++) {
        uint32_t least = i;
        for (uint32_t k = i + 1; k < count; k++)
            if (factors[k] < factors[least]) least = k;
        const expr_id factor = factors[least];
        factors[least] = factors[i];
        factors[i] = factor;
        product = expr_mul(c, product, factor);
    }
    return product;
}

/* a * b of expanded ones, term by term. */
static expr_id multiply_out(ir_context *c, expr_id a, expr_id b)
{
    const uint32_t rows = term_count(expr_at(c, a)), columns = term_count(expr_at(c, b));
    if (rows * columns > EXPR_MAX_ARGS) return 0;
    expr_id sum = expr_const(c, 0);
    for (uint32_t i = 0; i < rows * columns && sum != 0; i++) {
        int64_t x, y, coef;
        const expr_id left = term_at(c, a, i / columns, &x), right = term_at(c, b, i % columns, &y);
        if (__builtin_mul_overflow(x, y, &coef)) return 0;
        sum = expr_add(c, sum, expr_mul(c, product_of(c, left, right), expr_const(c, coef)));
    }
    return sum;
}

static expr_id combine(ir_context *c, const expr_node *n, uint32_t i, expr_id a, expr_id b)
{
    switch (n->kind) {
    case EXPR_SUM: return expr_add(c, a, expr_mul(c, b, expr_const(c, n->coefs[i])));
    case EXPR_PRODUCT: return multiply_out(c, a, b);
    default: return expr_combine(c, n->kind, a, b);
    }
}

bool expr_has_product(const ir_context *c, expr_id e)
{
    const expr_node *n = expr_at(c, e);
    bool found = n->kind == EXPR_PRODUCT;
    for (uint32_t i = 0; i < n->arg_count && !found; i++) found = expr_has_product(c, n->args[i]);
    return found;
}

expr_id expr_expand(ir_context *c, expr_id e)
{
    const expr_node *n = expr_at(c, e);
    if (!expr_has_product(c, e)) return e;
    const bool starts_empty = n->kind == EXPR_SUM || n->kind == EXPR_PRODUCT;
    expr_id result = starts_empty ? expr_const(c, n->kind == EXPR_SUM ? n->value : 1) : expr_expand(c, n->args[0]);
    for (uint32_t i = starts_empty ? 0 : 1; i < n->arg_count && result != 0; i++) {
        const expr_id arg = expr_expand(c, n->args[i]);
        result = arg == 0 ? 0 : combine(c, n, i, result, arg);
    }
    return result;
}
