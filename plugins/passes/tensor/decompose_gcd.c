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
 * The 97 steps are a loop that carries the pair, since a remainder of 64 bits is many ops. Exact; the divisor of the
 * lowest value and 0 wraps to the lowest value.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.gcd`. */
#include "composite.h"

#define KINDS(X)                     \
    X(GCD, "tensor.gcd")             \
    X(CONSTANT, "tensor.constant")   \
    X(EQ, "tensor.eq")               \
    X(WHERE, "tensor.where")         \
    X(FMOD, "tensor.fmod")           \
    X(ABS, "tensor.abs")             \
    X(CAST, "tensor.cast")           \
    X(BROADCAST, "tensor.broadcast") \
    X(FOR, "for")                    \
    X(YIELD, "yield")
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

/* A pair of numbers, and the types of numbers and of truth values about them. */
typedef struct euclid {
    pto_type type, truth;
    pto_value none, one; /* the numbers 0 and 1 */
    pto_value a, b;
} euclid;

/* The ops of a step before `op`, which are listed. */
static void make_step(pto_op op, euclid *e, pto_value made[4])
{
    const pto_run *run = op.run;
    const pto_kind_id where = pto_kind(run, KIND_WHERE);
    made[0] = composite_binary(op, pto_kind(run, KIND_EQ), e->truth, "_zero", e->b, e->none);
    made[1] = composite_where(op, where, e->type, "_safe", made[0], e->one, e->b);
    made[2] = composite_binary(op, pto_kind(run, KIND_FMOD), e->type, "_rest", e->a, made[1]);
    made[3] = composite_where(op, where, e->type, "_next", made[0], e->a, e->b);
    e->a = made[3];
    e->b = made[2];
}

/* So many steps in a loop, whose body is one that was made before it. */
static pto_status make_loop(pto_op op, euclid *e, uint32_t steps)
{
    const pto_run *run = op.run;
    const pto_expr from = pto_expr_const(run, 0), to = pto_expr_const(run, steps), by = pto_expr_const(run, 1);
    pto_spec s = composite_spec(op, pto_kind(run, KIND_FOR), e->type, "_first");
    pto_spec_result(&s, e->type);
    pto_spec_operand(&s, e->a);
    pto_spec_operand(&s, e->b);
    pto_spec_exprs(&s, PTO_STR("from"), 1, &from);
    pto_spec_exprs(&s, PTO_STR("to"), 1, &to);
    pto_spec_exprs(&s, PTO_STR("step"), 1, &by);
    pto_spec_blocks(&s, 1);
    const pto_op loop = pto_spec_build(&s, pto_before(op));
    PTO_NEED(loop);
    const pto_block body = pto_body(loop);
    PTO_NEED(pto_block_add_arg(body, pto_type_scalar(run, PTO_INDEX), PTO_STR("i")));
    e->a = pto_block_add_arg(body, e->type, PTO_STR("a"));
    e->b = pto_block_add_arg(body, e->type, PTO_STR("b"));
    PTO_NEED(e->b);
    pto_value made[4];
    make_step(op, e, made);
    for (uint32_t i = 0; i < 4; i++) {
        PTO_NEED(made[i]);
        PTO_TRY(pto_op_move(pto_value_op(made[i]), pto_at_end(body)));
    }
    pto_spec y = pto_spec_make(run, pto_kind(run, KIND_YIELD));
    pto_spec_operand(&y, e->a);
    pto_spec_operand(&y, e->b);
    PTO_NEED(pto_spec_build(&y, pto_at_end(body)));
    e->a = pto_op_result(loop, 0);
    return PTO_OK;
}

static pto_value expand_gcd(const pto_run *run, pto_op op)
{
    const pto_type given = pto_value_type(pto_op_result(op, 0));
    const uint32_t bits = 8 * (uint32_t)pto_dtype_bytes(pto_type_dtype(given)), steps = 3 * bits / 2 + 1;
    const pto_dtype dtype = bits < 32 ? PTO_I32 : pto_type_dtype(given);
    const pto_type type = pto_type_with_dtype(run, given, dtype);
    const pto_kind_id constant = pto_kind(run, KIND_CONSTANT);
    euclid e = {.type = type, .truth = pto_type_with_dtype(run, given, PTO_BOOL)};
    pto_value made[4];
    e.a = prepared(op, 0, type);
    e.b = prepared(op, 1, type);
    e.none = composite_number(op, constant, dtype, "_c", 0);
    e.one = composite_number(op, constant, dtype, "_c", 1);
    if (bits == 64 && PTO_SOME(e.b) && make_loop(op, &e, steps) != PTO_OK) return pto_value_none(run);
    for (uint32_t i = 0; i < steps && bits < 64 && PTO_SOME(e.b); i++) make_step(op, &e, made);
    if (!PTO_SOME(e.b)) return e.b;
    const pto_value y = composite_unary(op, pto_kind(run, KIND_ABS), type, bits < 32 ? "_wide" : "", e.a);
    return PTO_SOME(y) ? composite_cast(op, pto_kind(run, KIND_CAST), pto_type_dtype(given), "", y) : y;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    return composite_expand_all(function, pto_kind(run, KIND_GCD), STAT_DECOMPOSED, expand_gcd);
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_NEEDED,
    .id = "pto.decompose-gcd",
    .summary = "Take greatest common divisors apart into the steps of Euclid",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-gcd", "pass:pto.decompose-gcd rewrites:tensor.gcd", "", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
