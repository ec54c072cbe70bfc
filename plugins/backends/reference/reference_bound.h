/* Which values an element may have when every op errs as much as its row allows: arithmetic on sets of numbers.
 *
 * A set is all numbers of the element type between two ends, and NaN or not. What leads from sets to a set never leaves
 * a legal outcome out: an end that a rounding, a conversion or an overflow moves is moved to where any of them may put
 * it, and an operation on both sides of a jump (a pole, a wrap, an infinity) has the ends of all sides. Ends that are
 * zero have a sign, -0 below +0. */
#ifndef REFERENCE_BOUND_H
#define REFERENCE_BOUND_H

#include "semantics/insn_semantics.h"
#include "semantics/tensor_ops.h"

typedef struct bound {
    double lo, hi; /* lo > hi: no number */
    bool may_be_nan;
    bool is_exact; /* no op before it may err: the computed bits, whatever lo and hi can hold of them */
} bound;

/* How far an op may be off, from its row. */
typedef struct bound_rule {
    double ulp;          /* units in the last place of the result */
    double argument_ulp; /* and of what its function is taken of */
} bound_rule;

/* Exact. Of a 64-bit integer that a double does not hold, the ends are its neighbours. */
bound bound_of(pto_dtype t, double x);
/* A number that is rounded to f32, or not. */
bound bound_near(double x);
/* Everything that the type holds. */
bound bound_anything(pto_dtype t);
bound bound_nan(void);
bool bound_has_numbers(const bound *b);
/* Neither end says anything: all numbers of the type are in it. */
bool bound_is_unlimited(pto_dtype t, const bound *b);
/* What may come when a number of [lo, hi] is computed with an error of `ulp` and rounded to t. */
bound bound_rounded(pto_dtype t, double lo, double hi, double ulp, bool may_be_nan);
/* Distance of the numbers of a float type at x, away from 0. */
double bound_ulp(pto_dtype t, double x);
/* The largest number of f32, f16 or bf16. */
double bound_largest(pto_dtype t);
/* Both sets. */
bound bound_join(const bound *a, const bound *b);

/* ---- elements; t is the type of operands and result ---- */
/* What an operation may make of elements that may be anything in `a` and `b`, with an error of `ulp` units. */
bound bound_add(pto_dtype t, const bound *a, const bound *b, double ulp);
bound bound_sub(pto_dtype t, const bound *a, const bound *b, double ulp);
bound bound_mul(pto_dtype t, const bound *a, const bound *b, double ulp);
bound bound_product(const bound *a, const bound *b); /* before it is rounded */
bound bound_div(pto_dtype t, const bound *a, const bound *b, double ulp);
bound bound_extreme(const bound *a, const bound *b, bool smaller, nan_rule nan);
/* Of truth values: 0 and 1. What is one of them for sure is exact. */
bound bound_compare(pto_relation relation, const bound *a, const bound *b);
bound bound_neg(pto_dtype t, const bound *x);
bound bound_abs(pto_dtype t, const bound *x);
bound bound_relu(const bound *x);
bound bound_convert(pto_dtype to, pto_dtype from, const bound *x, round_mode mode, bool saturate);
/* Ops of one operand with units in their rows; another op: anything. */
bound bound_function(tensor_op op, gelu_approx approx, pto_dtype t, const bound *x, const bound_rule *rule);

/* b times silu of a. */
bound bound_swiglu(pto_dtype t, const bound *a, const bound *b, double ulp);

/* ---- sums in any order, rounded after each addition to `inside` or wider, and at the end to t ---- */
enum { BOUND_NO_GRAIN = -2000 };
typedef struct bound_sum {
    double lo, hi;             /* sums of the ends that are finite */
    double magnitude;          /* sum of the largest magnitudes */
    double positive, negative; /* of what is above and below zero, as magnitudes */
    int64_t count, rounding_count;
    int grain; /* all terms are multiples of 2^grain */
    bool is_exact, may_be_nan, is_nan, may_be_minus_zero;
    bool has_plus, has_minus, is_plus, is_minus; /* some term may be, or is, an infinity */
    bool may_flush; /* terms, and sums on the way, that are subnormal in f32 may count as 0 */
} bound_sum;
/* A sum of no terms; one more term. */
bound_sum bound_sum_start(void);
void bound_sum_add(bound_sum *s, const bound *x);
/* A product of two terms, rounded before it is added or not. */
void bound_sum_add_product(bound_sum *s, const bound *a, const bound *b);
bound bound_sum_end(pto_dtype t, pto_dtype inside, const bound_sum *s);

#endif
