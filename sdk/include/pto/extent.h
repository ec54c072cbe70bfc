/* What is known of extents where an op is: facts of the function, ranges of indices, conditions of branches around it,
 * and what the function says to expect. */
#ifndef PTO_EXTENT_H
#define PTO_EXTENT_H

#include <pto/build.h>
#include <pto/relation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The relation with its sides exchanged; the one that holds when it does not. */
static inline pto_relation pto_relation_mirrored(pto_relation r)
{
    switch (r) {
    case PTO_RELATION_LT: return PTO_RELATION_GT;
    case PTO_RELATION_GT: return PTO_RELATION_LT;
    case PTO_RELATION_LE: return PTO_RELATION_GE;
    case PTO_RELATION_GE: return PTO_RELATION_LE;
    default: return r;
    }
}
static inline pto_relation pto_relation_denied(pto_relation r)
{
    switch (r) {
    case PTO_RELATION_LT: return PTO_RELATION_GE;
    case PTO_RELATION_GE: return PTO_RELATION_LT;
    case PTO_RELATION_LE: return PTO_RELATION_GT;
    case PTO_RELATION_GT: return PTO_RELATION_LE;
    case PTO_RELATION_EQ: return PTO_RELATION_NE;
    case PTO_RELATION_NE: return PTO_RELATION_EQ;
    default: return r;
    }
}

/* Narrows bounds by what `r n` says of what they are of. */
static inline void pto_narrow(pto_relation r, int64_t n, int64_t *lo, int64_t *hi)
{
    int64_t least = *lo, most = *hi;
    if (r == PTO_RELATION_EQ || r == PTO_RELATION_GE) least = n;
    if (r == PTO_RELATION_GT && n < INT64_MAX) least = n + 1;
    if (r == PTO_RELATION_EQ || r == PTO_RELATION_LE) most = n;
    if (r == PTO_RELATION_LT && n > INT64_MIN) most = n - 1;
    if (least > *lo) *lo = least;
    if (most < *hi) *hi = most;
}

/* As pto_expr_env asks: what the `if`s around an op say of a symbol. `self` is the op. */
static inline int32_t pto_branch_symbol(void *self, pto_str name, int64_t *lo, int64_t *hi)
{
    pto_op inside = *(const pto_op *)self;
    int32_t is_known = 0;
    *lo = 0; /* symbols are extents */
    *hi = INT64_MAX;
    for (pto_op around = pto_op_parent(inside); PTO_SOME(around); inside = around, around = pto_op_parent(around)) {
        int64_t n = 0;
        if (!pto_str_is(pto_kind_name(around.run, pto_op_kind(around)), "if")) continue;
        pto_relation r = pto_relation_by_name(pto_attr_str_of(around, PTO_STR("relation")));
        pto_expr left = pto_expr_of(around, PTO_STR("left"), 0), right = pto_expr_of(around, PTO_STR("right"), 0);
        if (pto_expr_is_const(left, &n)) {
            left = right;
            r = pto_relation_mirrored(r);
        } else if (!pto_expr_is_const(right, &n)) {
            continue;
        }
        if (pto_expr_kind_of(left) != PTO_EXPR_SYMBOL || !pto_str_same(pto_expr_symbol_name(left), name)) continue;
        const pto_block first = pto_op_block_at(around, 0), block = pto_op_block(inside);
        pto_narrow(block.index == first.index ? r : pto_relation_denied(r), n, lo, hi);
        is_known = 1;
    }
    return is_known && *lo <= *hi;
}

/* Bounds of an extent at an op, with the conditions of branches around it; INT64_MAX: no bound. [unit] */
static inline pto_range pto_extent_range(pto_op at, pto_expr extent)
{
    pto_expr_env env;
    memset(&env, 0, sizeof env);
    env.struct_size = (uint32_t)sizeof env;
    env.self = &at;
    env.symbol = pto_branch_symbol;
    return pto_expr_range(extent, at, &env);
}

/* A number `n`, or what of the bounds of the extent at the op is nearest to it. [unit] */
static inline int64_t pto_extent_near(pto_op at, pto_expr extent, int64_t n)
{
    const pto_range r = pto_extent_range(at, extent);
    if (r.hi >= 0 && n > r.hi) return r.hi;
    return r.lo > n ? r.lo : n;
}

/* What an extent is or, where the function says by its attribute `expect` what its symbols most likely are, will be;
 * -1: nobody knows. For prices alone: other values must be right too. In a branch it is a number that comes there. `at`
 * is an op of the function. [unit] */
static inline int64_t pto_expected_extent(pto_op at, pto_expr extent)
{
    const pto_attr expect = pto_op_attr(pto_op_function(at), PTO_STR("expect"));
    const uint32_t count = PTO_SOME(expect) ? pto_attr_count(expect) : 0;
    pto_str *symbols = PTO_SCRATCH(at.run, pto_str, count);
    pto_expr *numbers = PTO_SCRATCH(at.run, pto_expr, count);
    for (uint32_t i = 0; i < count; i++) {
        const pto_attr item = pto_attr_item(expect, i, NULL);
        symbols[i] = pto_attr_str(pto_attr_item(item, 0, NULL));
        numbers[i] = pto_expr_const(at.run, pto_attr_i64(pto_attr_item(item, 1, NULL)));
    }
    const pto_expr said = count != 0 ? pto_expr_rename(extent, count, symbols, numbers) : extent;
    if (!PTO_SOME(said) || pto_expr_kind_of(said) != PTO_EXPR_CONST || pto_expr_number(said) < 0) return -1;
    return count != 0 ? pto_extent_near(at, extent, pto_expr_number(said)) : pto_expr_number(said);
}

#ifdef __cplusplus
}
#endif
#endif
