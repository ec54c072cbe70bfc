/* pto.decompose-random: random numbers become the integer arithmetic of Philox4x32-10, on the index of each element.
 *
 *     %y = tensor.random_uniform {key = 7}   =>   %i = tensor.iota {axis = 0}
 *                                                 ..  ten rounds on words of i32
 *                                                 %y = tensor.reshape (word >> 8) as f32 * 2^-24
 *
 * Words are i32, which wraps as the 32 bits of the paper do; the high half of a product comes from halves of 16 bits.
 * What is known is computed here: most of the first round. A normal number is the root of -2 ln(u) times the cosine of
 * a turn, of which sines and cosines of eighths are taken: 16 ulp of the root and of 1, whichever is the larger. A
 * uniform one has the bits of the row.
 *
 * Requires tensor ops, of any form. Leaves no random numbers (pto.no-random). */
#include "composite.h"

#define KINDS(X)                               \
    X(RANDOM_UNIFORM, "tensor.random_uniform") \
    X(RANDOM_NORMAL, "tensor.random_normal")   \
    X(IOTA, "tensor.iota")                     \
    X(CONSTANT, "tensor.constant")             \
    X(CAST, "tensor.cast")                     \
    X(RESHAPE, "tensor.reshape")               \
    X(BITWISE_AND, "tensor.bitwise_and")       \
    X(BITWISE_XOR, "tensor.bitwise_xor")       \
    X(SHR, "tensor.shr")                       \
    X(ADD, "tensor.add")                       \
    X(SUB, "tensor.sub")                       \
    X(MUL, "tensor.mul")                       \
    X(EQ, "tensor.eq")                         \
    X(GT, "tensor.gt")                         \
    X(WHERE, "tensor.where")                   \
    X(NEG, "tensor.neg")                       \
    X(ROUND, "tensor.round")                   \
    X(LOG, "tensor.log")                       \
    X(SQRT, "tensor.sqrt")                     \
    X(SIN, "tensor.sin")                       \
    X(COS, "tensor.cos")
PTO_KINDS(KINDS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

/* ---- ops before the one at work, named after its result ---- */

static pto_value number(pto_op op, pto_dtype dtype, double value)
{
    return composite_number(op, pto_kind(op.run, KIND_CONSTANT), dtype, "_c", value);
}

static pto_value unary(pto_op op, uint32_t kind, pto_value a)
{
    return composite_unary(op, pto_kind(op.run, kind), pto_value_type(a), "_step", a);
}

static pto_value binary(pto_op op, uint32_t kind, pto_value a, pto_value b)
{
    return composite_binary(op, pto_kind(op.run, kind), pto_value_type(a), "_step", a, b);
}

static pto_value by_number(pto_op op, uint32_t kind, pto_value a, double value)
{
    return binary(op, kind, a, number(op, pto_type_dtype(pto_value_type(a)), value));
}

static pto_value compare(pto_op op, uint32_t kind, pto_value a, double value)
{
    const pto_type type = pto_value_type(a);
    return composite_binary(op, pto_kind(op.run, kind), pto_type_with_dtype(op.run, type, PTO_BOOL), "_step", a,
                            number(op, pto_type_dtype(type), value));
}

static pto_value choose(pto_op op, pto_value condition, pto_value a, pto_value b, pto_type type)
{
    return composite_where(op, pto_kind(op.run, KIND_WHERE), type, "_step", condition, a, b);
}

static pto_value convert(pto_op op, pto_value x, pto_dtype to)
{
    return composite_cast(op, pto_kind(op.run, KIND_CAST), to, "_step", x);
}

/* ---- words of 32 bits: known numbers, or tensors of i32 ---- */

typedef struct word {
    pto_value tensor; /* none: the word is `known` */
    uint32_t known;
} word;

static word known(pto_op op, uint32_t x) { return (word){pto_value_none(op.run), x}; }
static word varies(pto_value tensor) { return (word){tensor, 0}; }
static int is_known(const word *x) { return !PTO_SOME(x->tensor); }
/* The bits of a word as a number of i32. */
static double as_i32(uint32_t x) { return x < UINT32_C(0x80000000) ? (double)x : (double)x - 4294967296.0; }

static word add(pto_op op, word a, word b)
{
    if (is_known(&a) && is_known(&b)) return known(op, a.known + b.known);
    if (is_known(&a) || (is_known(&b) && b.known == 0)) return is_known(&a) ? add(op, b, a) : a;
    return varies(is_known(&b) ? by_number(op, KIND_ADD, a.tensor, as_i32(b.known))
                               : binary(op, KIND_ADD, a.tensor, b.tensor));
}

static word exclusive(pto_op op, word a, word b)
{
    if (is_known(&a) && is_known(&b)) return known(op, a.known ^ b.known);
    if (is_known(&a) || (is_known(&b) && b.known == 0)) return is_known(&a) ? exclusive(op, b, a) : a;
    return varies(is_known(&b) ? by_number(op, KIND_BITWISE_XOR, a.tensor, as_i32(b.known))
                               : binary(op, KIND_BITWISE_XOR, a.tensor, b.tensor));
}

static pto_value times(pto_op op, pto_value x, uint32_t by) { return by_number(op, KIND_MUL, x, as_i32(by)); }
static pto_value low_half(pto_op op, pto_value x) { return by_number(op, KIND_BITWISE_AND, x, 0xffff); }
/* The first `bits` bits. */
static pto_value first_bits(pto_op op, pto_value x, int bits)
{
    return by_number(op, KIND_BITWISE_AND, by_number(op, KIND_SHR, x, 32 - bits), (double)((UINT32_C(1) << bits) - 1));
}

/* The product of 64 bits. */
static void multiply(pto_op op, word x, uint32_t by, word *out_high, word *out_low)
{
    if (is_known(&x)) {
        const uint64_t product = (uint64_t)x.known * by;
        *out_high = known(op, (uint32_t)(product >> 32));
        *out_low = known(op, (uint32_t)product);
        return;
    }
    const pto_value low = low_half(op, x.tensor), high = first_bits(op, x.tensor, 16);
    const pto_value carry = first_bits(op, times(op, low, by & 0xffff), 16);
    const pto_value middle = binary(op, KIND_ADD, times(op, high, by & 0xffff), carry);
    const pto_value other = binary(op, KIND_ADD, times(op, low, by >> 16), low_half(op, middle));
    const pto_value sum = binary(op, KIND_ADD, times(op, high, by >> 16), first_bits(op, middle, 16));
    *out_high = varies(binary(op, KIND_ADD, sum, first_bits(op, other, 16)));
    *out_low = varies(times(op, x.tensor, by));
}

static void philox(pto_op op, uint64_t key, word c[4])
{
    uint32_t key0 = (uint32_t)key, key1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        word a_high, a_low, b_high, b_low;
        multiply(op, c[0], 0xd2511f53, &a_high, &a_low);
        multiply(op, c[2], 0xcd9e8d57, &b_high, &b_low);
        c[0] = exclusive(op, exclusive(op, b_high, c[1]), known(op, key0));
        c[2] = exclusive(op, exclusive(op, a_high, c[3]), known(op, key1));
        c[1] = b_low;
        c[3] = a_low;
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
    }
}

/* ---- the op ---- */

/* Words of the counter of each element: counter + place floordiv 4. */
static void count(pto_op op, pto_value place, uint64_t counter, word c[4])
{
    const pto_value group = by_number(op, KIND_SHR, place, 2);
    const uint32_t left = ~(uint32_t)counter; /* what can be added without a carry */
    c[0] = add(op, varies(group), known(op, (uint32_t)counter));
    c[1] = known(op, (uint32_t)(counter >> 32));
    c[2] = c[3] = known(op, 0);
    if (left >= UINT32_C(0x7fffffff)) return;
    const pto_type type = pto_value_type(group);
    const pto_value carry = choose(op, compare(op, KIND_GT, group, left), number(op, PTO_I32, as_i32(c[1].known + 1)),
                                   number(op, PTO_I32, as_i32(c[1].known)), type);
    c[1] = varies(carry);
}

static pto_value words_of(pto_op op, pto_value place, word c[4])
{
    count(op, place, (uint64_t)pto_attr_int_of(op, PTO_STR("counter"), 0), c);
    philox(op, (uint64_t)pto_attr_int_of(op, PTO_STR("key"), 0), c);
    return by_number(op, KIND_BITWISE_AND, place, 3);
}

static pto_value make_uniform(pto_op op, pto_value place, int bits)
{
    word c[4];
    const pto_value which = words_of(op, place, c);
    const pto_type type = pto_value_type(place);
    pto_value w = c[3].tensor;
    for (int i = 3; i-- > 0;) w = choose(op, compare(op, KIND_EQ, which, i), c[i].tensor, w, type);
    return by_number(op, KIND_MUL, convert(op, first_bits(op, w, bits), PTO_F32), 1.0 / (double)(UINT32_C(1) << bits));
}

static pto_value make_normal(pto_op op, pto_value place)
{
    word c[4];
    const pto_value which = words_of(op, place, c);
    const pto_type type = pto_value_type(place);
    const pto_value is_first = compare(op, KIND_EQ, by_number(op, KIND_SHR, which, 1), 0),
                    w = choose(op, is_first, c[0].tensor, c[2].tensor, type),
                    w2 = choose(op, is_first, c[1].tensor, c[3].tensor, type);
    const pto_value u =
        by_number(op, KIND_MUL, by_number(op, KIND_ADD, convert(op, first_bits(op, w, 24), PTO_F32), 1), 0x1p-24);
    const pto_value root = unary(op, KIND_SQRT, by_number(op, KIND_MUL, unary(op, KIND_LOG, u), -2));
    /* Quarters of a turn, and what is left of one, both exact. The sine is the cosine of one quarter less. */
    const pto_value quarters = by_number(op, KIND_MUL, convert(op, first_bits(op, w2, 24), PTO_F32), 0x1p-22),
                    whole = unary(op, KIND_ROUND, quarters),
                    rest = by_number(op, KIND_MUL, binary(op, KIND_SUB, quarters, whole), 1.5707963267948966);
    const pto_value turns =
        by_number(op, KIND_BITWISE_AND,
                  binary(op, KIND_SUB, convert(op, whole, PTO_I32), by_number(op, KIND_BITWISE_AND, which, 1)), 3);
    const pto_value sine = unary(op, KIND_SIN, rest), cosine = unary(op, KIND_COS, rest);
    const pto_value is_odd = compare(op, KIND_EQ, by_number(op, KIND_BITWISE_AND, turns, 1), 1),
                    part = choose(op, is_odd, sine, cosine, pto_value_type(sine));
    const pto_value shifted = by_number(op, KIND_BITWISE_AND, by_number(op, KIND_ADD, turns, 1), 2),
                    is_below = compare(op, KIND_EQ, shifted, 2);
    return binary(op, KIND_MUL, root, choose(op, is_below, unary(op, KIND_NEG, part), part, pto_value_type(part)));
}

static pto_status expand(pto_op op)
{
    const pto_run *run = op.run;
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    const pto_dtype t = pto_type_dtype(result);
    pto_expr total = pto_expr_const(run, 1);
    for (uint32_t d = 0; d < pto_type_rank(result); d++) total = pto_expr_mul(total, pto_type_dim(result, d));
    pto_spec s = composite_spec(op, pto_kind(run, KIND_IOTA), pto_type_tensor(run, PTO_I32, 1, &total), "_place");
    pto_spec_int(&s, PTO_STR("axis"), 0);
    const pto_value place = pto_spec_value(&s, pto_before(op));
    PTO_NEED(place);
    const int is_uniform = PTO_IS(op, RANDOM_UNIFORM), bits = pto_dtype_significand_bits(t);
    const pto_value y = is_uniform ? make_uniform(op, place, bits) : make_normal(op, place);
    PTO_NEED(y);
    const pto_value shaped = composite_unary(op, pto_kind(run, KIND_RESHAPE), pto_type_with_dtype(run, result, PTO_F32),
                                             t == PTO_F32 ? "" : "_wide", y);
    PTO_NEED(shaped);
    const pto_value made = composite_cast(op, pto_kind(run, KIND_CAST), t, "", shaped);
    PTO_NEED(made);
    pto_stat_add(run, STAT_DECOMPOSED, 1);
    return pto_op_replace_by(op, made);
}

static int is_random(const pto_run *run, pto_op op)
{
    return pto_op_is(op, pto_kind(run, KIND_RANDOM_UNIFORM)) || pto_op_is(op, pto_kind(run, KIND_RANDOM_NORMAL));
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (is_random(run, op)) PTO_TRY(expand(op));
    }
    return PTO_OK;
}

static pto_status check_no_random(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (is_random(run, op))
            return pto_error(op, "pto.decompose-random/composite-left",
                             "`%.*s` is still a composite; `pto.decompose-random` takes it apart",
                             PTO_FMT(pto_op_name(op)));
    }
    return PTO_OK;
}

static const pto_property no_random = {
    .struct_size = sizeof no_random,
    .id = "pto.no-random",
    .doc = "no op makes random numbers",
    .level = "tensor/1",
    .kinds = pass_kinds,
    .check = check_no_random,
};
static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES | PTO_PASS_NEEDED,
    .id = "pto.decompose-random",
    .summary = "Take random numbers apart into the arithmetic that makes their bits",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .establishes = PTO_STRS("pto.no-random"),
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-random", "pass:pto.decompose-random property:pto.no-random", "pto.no-random",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &no_random));
