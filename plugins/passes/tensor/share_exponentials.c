/* pto.share-exponentials: two exponentials that a gated activation takes of one number become one.
 *
 *     %m = tensor.minimum %z, 0                 %a = tensor.abs %z
 *     %h = tensor.mul %m, 0.5                   %h = tensor.mul %a, -0.5
 *     %r = tensor.exp %h                        %e = tensor.exp %h
 *     ..                                  =>    %p = tensor.ge %z, 0
 *     %a = tensor.abs %z                        %r = tensor.where %p, 1, %e
 *     %n = tensor.neg %a                        %d = tensor.mul %e, %e
 *     %d = tensor.exp %n
 *
 * and without the half, with a negation, where %r = exp(min(z, 0)): %r is 1 or %d. Expansions of gelu, silu, swiglu and
 * sigmoid have them. That pays where an exponential costs more than a comparison and a choice, as on CPUs. The second
 * form is exact; in the first, which is for f32 alone, %d is off by 1.5 units in the last place more than %e twice.
 *
 * Requires tensor ops before they are grouped. Leaves the same. */
#include "composite.h"

#define KINDS(X)                   \
    X(EXP, "tensor.exp")           \
    X(NEG, "tensor.neg")           \
    X(ABS, "tensor.abs")           \
    X(MINIMUM, "tensor.minimum")   \
    X(MUL, "tensor.mul")           \
    X(CONSTANT, "tensor.constant") \
    X(GE, "tensor.ge")             \
    X(WHERE, "tensor.where")
PTO_KINDS(KINDS);

#define STATS(X) X(SHARED, "shared")
PTO_STATS(STATS);

enum { NEAR = 16 /* exponentials between the two of a pair */ };

/* exp(min(z, 0) / 2), or without the half, and exp(-|z|), in one block. */
typedef struct pair {
    pto_op below, decay, first; /* first: of the two */
    pto_value z;
    int is_root;
} pair;

/* Whether an operand is one number, that number. */
static int is_number(pto_op op, uint32_t operand, double number)
{
    const pto_op def = pto_value_op(pto_op_operand(op, operand));
    if (!PTO_IS(def, CONSTANT)) return 0;
    const pto_attr value = pto_op_attr(def, PTO_STR("value"));
    return pto_attr_kind_of(value) == PTO_ATTR_FLOAT && pto_attr_f64(value) == number;
}

/* The op that makes an operand, of that kind; none. */
static pto_op maker(pto_op op, pto_kind_id kind)
{
    const pto_op def = pto_value_op(pto_op_operand(op, 0));
    return pto_op_is(def, kind) ? def : pto_op_none(op.run);
}

/* z of exp(-|z|); none. */
static pto_value decays(pto_op exp)
{
    const pto_op neg = maker(exp, pto_kind(exp.run, KIND_NEG));
    const pto_op abs = PTO_SOME(neg) ? maker(neg, pto_kind(exp.run, KIND_ABS)) : pto_op_none(exp.run);
    return PTO_SOME(abs) ? pto_op_operand(abs, 0) : pto_value_none(exp.run);
}

/* z of exp(min(z, 0)) and of its root; none. */
static pto_value stays_below(pto_op exp, int *is_root)
{
    const pto_run *run = exp.run;
    const pto_op half = maker(exp, pto_kind(run, KIND_MUL));
    *is_root = PTO_SOME(half) && is_number(half, 1, 0.5);
    const pto_op min = maker(*is_root ? half : exp, pto_kind(run, KIND_MINIMUM));
    return PTO_SOME(min) && is_number(min, 1, 0.0) ? pto_op_operand(min, 0) : pto_value_none(run);
}

static int is_f32(pto_value v) { return pto_type_dtype(pto_value_type(v)) == PTO_F32; }

/* Pairs of the function: the op that comes first is where both can be computed. */
static uint32_t find_pairs(pto_op function, pair *pairs)
{
    const pto_run *run = function.run;
    uint32_t count = 0;
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, EXP)) continue;
        int is_root = 0;
        const pto_value decay = decays(op), below = PTO_SOME(decay) ? decay : stays_below(op, &is_root);
        if (!PTO_SOME(below)) continue;
        uint32_t i = count > NEAR ? count - NEAR : 0;
        while (i < count &&
               (!pto_value_same(pairs[i].z, below) || PTO_SOME(PTO_SOME(decay) ? pairs[i].decay : pairs[i].below) ||
                pto_op_block(pairs[i].first).index != pto_op_block(op).index))
            i++;
        if (i == count)
            pairs[count++] =
                (pair){.below = pto_op_none(run), .decay = pto_op_none(run), .first = op, .z = below, .is_root = 0};
        if (PTO_SOME(decay)) {
            pairs[i].decay = op;
        } else {
            pairs[i].below = op;
            pairs[i].is_root = is_root;
        }
    }
    return count;
}

/* Erases what nothing reads any more, from an op that computed it on. */
static pto_status erase_unused(pto_op op)
{
    while (PTO_SOME(op) && !PTO_IS(op, CONSTANT) && !pto_op_is_used(op)) {
        const pto_op before = pto_value_op(pto_op_operand(op, 0));
        PTO_TRY(pto_op_erase(op));
        if (!PTO_SOME(before) || pto_op_block_count(before) != 0 ||
            !(PTO_IS(before, MUL) || PTO_IS(before, MINIMUM) || PTO_IS(before, NEG) || PTO_IS(before, ABS)))
            return PTO_OK;
        op = before;
    }
    return PTO_OK;
}

static pto_status replace(pto_op op, pto_value by)
{
    const pto_op argument = pto_value_op(pto_op_operand(op, 0));
    PTO_NEED(by);
    PTO_TRY(pto_op_replace_by(op, by));
    return erase_unused(argument);
}

static pto_status share(const pair *p)
{
    const pto_run *run = p->first.run;
    const pto_op at = p->first;
    const pto_type type = pto_value_type(pto_op_result(p->below, 0)), truth = pto_type_with_dtype(run, type, PTO_BOOL);
    const pto_kind_id constant = pto_kind(run, KIND_CONSTANT), mul = pto_kind(run, KIND_MUL);
    const pto_dtype dtype = pto_type_dtype(type);
    const pto_value abs = composite_unary(at, pto_kind(run, KIND_ABS), type, "_size", p->z);
    const pto_value argument =
        p->is_root ? composite_binary(at, mul, type, "_down", abs, composite_number(at, constant, dtype, "_c", -0.5))
                   : composite_unary(at, pto_kind(run, KIND_NEG), type, "_down", abs);
    const pto_value e = composite_unary(at, pto_kind(run, KIND_EXP), type, "_exp", argument);
    const pto_value is_above = composite_binary(at, pto_kind(run, KIND_GE), truth, "_above", p->z,
                                                composite_number(at, constant, dtype, "_c", 0.0));
    pto_spec s = composite_spec(p->below, pto_kind(run, KIND_WHERE), type, "");
    pto_spec_operand(&s, is_above);
    pto_spec_operand(&s, composite_number(at, constant, dtype, "_c", 1.0));
    pto_spec_operand(&s, e);
    const pto_value below = pto_spec_value(&s, pto_before(at));
    pto_value decay = e;
    if (p->is_root) {
        s = composite_spec(p->decay, mul, type, "");
        pto_spec_operand(&s, e);
        pto_spec_operand(&s, e);
        decay = pto_spec_value(&s, pto_before(at));
    }
    PTO_NEED(below);
    PTO_TRY(replace(p->below, below));
    PTO_TRY(replace(p->decay, decay));
    pto_stat_add(run, STAT_SHARED, 1);
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    uint32_t most = 0;
    PTO_WALK(unit, op) most += (uint32_t)PTO_IS(op, EXP);
    if (most < 2) return PTO_OK;
    pair *pairs = PTO_SCRATCH(run, pair, most);
    const uint32_t count = find_pairs(unit, pairs);
    for (uint32_t i = 0; i < count; i++) {
        const pair *p = &pairs[i];
        if (!PTO_SOME(p->below) || !PTO_SOME(p->decay) || (p->is_root && !is_f32(p->z))) continue;
        if (!pto_type_same(pto_value_type(p->z), pto_value_type(pto_op_result(p->below, 0)))) continue;
        PTO_TRY(share(p));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_REASSOCIATES,
    .id = "pto.share-exponentials",
    .summary = "Take one exponential of a number where gated activations take two",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.share-exponentials", "pass:pto.share-exponentials", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
