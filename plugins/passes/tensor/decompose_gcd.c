/* pto.decompose-gcd: the greatest common divisor becomes the steps of Euclid, as many as the longest run of them takes.
 *
 *                                              %z = tensor.eq %b, 0
 *                                              %s = tensor.where %z, 1, %b
 *     %y = tensor.gcd %a, %b             =>    %r = tensor.fmod %a, %s
 *                                              %n = tensor.where %z, %a, %b        the next pair is %n, %r
 *                                              .. and at the end tensor.abs of the first
 *
 * Of numbers below 2^n the remainders reach 0 in less than 1.45 n + 2 steps (neighbours in the Fibonacci sequence take
 * most), so 3 n / 2 + 1 are enough for types of n bits: 13, 25, 49 and 97. Types of 8 and 16 bits are computed in i32.
 * Exact; the divisor of the lowest value and 0 wraps to the lowest value.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.gcd`. */
#include "composite.h"

#define KINDS(X)                   \
    X(GCD, "tensor.gcd")           \
    X(CONSTANT, "tensor.constant") \
    X(EQ, "tensor.eq")             \
    X(WHERE, "tensor.where")       \
    X(FMOD, "tensor.fmod")         \
    X(ABS, "tensor.abs")           \
    X(CAST, "tensor.cast")         \
    X(BROADCAST, "tensor.broadcast")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

/* An operand in the type to compute in, and with the extents of the result. */
static pto_value prepared(pto_op op, uint32_t operand, pto_type type)
{
    const pto_run *run = op.run;
    const pto_value x = composite_cast(op, pto_kind(run, KIND_CAST), pto_type_dtype(type), operand == 0 ? "_a" : "_b",
                                       pto_op_operand(op, operand));
    if (!PTO_SOME(x) || pto_type_same(pto_value_type(x), type)) return x;
    return composite_unary(op, pto_kind(run, KIND_BROADCAST), type, operand == 0 ? "_a" : "_b", x);
}

static pto_value expand_gcd(const pto_run *run, pto_op op)
{
    const pto_type given = pto_value_type(pto_op_result(op, 0));
    const uint32_t bits = 8 * (uint32_t)pto_dtype_bytes(pto_type_dtype(given)), steps = 3 * bits / 2 + 1;
    const pto_dtype dtype = bits < 32 ? PTO_I32 : pto_type_dtype(given);
    const pto_type type = pto_type_with_dtype(run, given, dtype), truth = pto_type_with_dtype(run, given, PTO_BOOL);
    pto_value a = prepared(op, 0, type), b = prepared(op, 1, type);
    const pto_kind_id constant = pto_kind(run, KIND_CONSTANT), where = pto_kind(run, KIND_WHERE);
    const pto_value none = composite_number(op, constant, dtype, "_c", 0),
                    one = composite_number(op, constant, dtype, "_c", 1);
    for (uint32_t i = 0; i < steps && PTO_SOME(b); i++) {
        const pto_value zero = composite_binary(op, pto_kind(run, KIND_EQ), truth, "_zero", b, none);
        const pto_value safe = composite_where(op, where, type, "_safe", zero, one, b);
        const pto_value rest = composite_binary(op, pto_kind(run, KIND_FMOD), type, "_rest", a, safe);
        a = composite_where(op, where, type, "_next", zero, a, b);
        b = rest;
    }
    if (!PTO_SOME(b)) return b;
    const pto_value y = composite_unary(op, pto_kind(run, KIND_ABS), type, bits < 32 ? "_wide" : "", a);
    return PTO_SOME(y) ? composite_cast(op, pto_kind(run, KIND_CAST), pto_type_dtype(given), "", y) : y;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_GCD), STAT_DECOMPOSED, expand_gcd);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.decompose-gcd",
    .summary = "Take greatest common divisors apart into the steps of Euclid",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-gcd", "pass:pto.decompose-gcd", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
