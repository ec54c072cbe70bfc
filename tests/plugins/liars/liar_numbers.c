/* Passes that change what a module computes; the verifier sees nothing wrong. */
#include <pto/plugin.h>

#define KINDS(X)                   \
    X(CONSTANT, "tensor.constant") \
    X(MUL, "tensor.mul")           \
    X(DIV, "tensor.div")           \
    X(EXP, "tensor.exp") X(NEG, "tensor.neg") X(ADD, "tensor.add") X(MAXIMUM, "tensor.maximum") X(RETURN, "return")
PTO_KINDS(KINDS);

#define OPTIONS(X) X(FACTOR, F64, "factor", .def = "2", .doc = "what results of tensor.exp are multiplied by")
PTO_OPTIONS(OPTIONS);

static pto_value make_constant(const pto_run *run, pto_op before, pto_attr value, pto_type type)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_CONSTANT));
    pto_spec_attr(&s, PTO_STR("value"), value);
    pto_spec_result(&s, type);
    return pto_spec_value(&s, pto_before(before));
}

static pto_status scale(const pto_run *run, pto_op unit)
{
    PTO_WALK(unit, op)
    {
        if (!PTO_IS(op, EXP)) continue;
        const pto_value y = pto_op_result(op, 0);
        const pto_attr number = pto_attr_make_f64(run, pto_opt_f64(run, OPT_FACTOR));
        const pto_value factor = make_constant(run, op, number, pto_value_type(y));
        PTO_NEED(factor);
        const pto_value by = pto_make2(run, pto_after(op), pto_kind(run, KIND_MUL), pto_value_type(y), y, factor);
        PTO_NEED(by);
        PTO_TRY(pto_value_replace(y, by));
        PTO_TRY(pto_op_set_operand(pto_value_op(by), 0, y));
    }
    return PTO_OK;
}

/* a + a, in another order: the same numbers. */
static pto_status swap(const pto_run *run, pto_op unit)
{
    (void)run;
    PTO_WALK(unit, op)
    {
        if (!PTO_IS(op, ADD)) continue;
        const pto_value a = pto_op_operand(op, 0);
        PTO_TRY(pto_op_set_operand(op, 0, pto_op_operand(op, 1)));
        PTO_TRY(pto_op_set_operand(op, 1, a));
    }
    return PTO_OK;
}

static pto_status erase_functions(const pto_run *run, pto_op unit)
{
    (void)unit;
    const pto_op first = pto_block_first(pto_module_top(run));
    return PTO_SOME(first) ? pto_op_erase(first) : PTO_OK;
}

static pto_status divide_by_zero(const pto_run *run, pto_op unit)
{
    PTO_WALK(unit, op)
    {
        if (!PTO_IS(op, NEG)) continue;
        const pto_value x = pto_op_operand(op, 0);
        const pto_value zero = make_constant(run, op, pto_attr_make_i64(run, 0), pto_value_type(x));
        PTO_NEED(zero);
        PTO_NEED(pto_make2(run, pto_before(op), pto_kind(run, KIND_DIV), pto_value_type(x), x, zero));
    }
    return PTO_OK;
}

/* Returns the second result alone. */
static pto_status drop_result(const pto_run *run, pto_op unit)
{
    const pto_op last = pto_block_terminator(pto_body(unit));
    const pto_value y = pto_op_operand(last, pto_op_operand_count(last) - 1);
    const pto_attr type = pto_attr_make_type(run, pto_value_type(y));
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_RETURN));
    pto_spec_operand(&s, y);
    PTO_TRY(pto_op_set_attr(unit, PTO_STR("results"), pto_attr_make_list(run, 1, &type)));
    PTO_TRY(pto_op_erase(last));
    return PTO_SOME(pto_spec_build(&s, pto_at_end(pto_body(unit)))) ? PTO_OK : PTO_FAILED;
}

/* One input more, which nothing reads. */
static pto_status add_input(const pto_run *run, pto_op unit)
{
    (void)run;
    const pto_value x = pto_block_arg(pto_body(unit), 0);
    const pto_value more = pto_block_add_arg(pto_body(unit), pto_value_type(x), PTO_STR("more"));
    return PTO_SOME(more) ? PTO_OK : PTO_FAILED;
}

/* exp of a NaN becomes 0. */
static pto_status numb(const pto_run *run, pto_op unit)
{
    PTO_WALK(unit, op)
    {
        if (!PTO_IS(op, EXP)) continue;
        const pto_value y = pto_op_result(op, 0);
        const pto_value zero = make_constant(run, op, pto_attr_make_f64(run, 0), pto_value_type(y));
        PTO_NEED(zero);
        pto_spec s = pto_spec_make(run, pto_kind(run, KIND_MAXIMUM));
        pto_spec_operand(&s, y);
        pto_spec_operand(&s, zero);
        pto_spec_str(&s, PTO_STR("nan"), PTO_STR("ignore"));
        pto_spec_result(&s, pto_value_type(y));
        const pto_value by = pto_spec_value(&s, pto_after(op));
        PTO_NEED(by);
        PTO_TRY(pto_value_replace(y, by));
        PTO_TRY(pto_op_set_operand(pto_value_op(by), 0, y));
    }
    return PTO_OK;
}

#define PASS(name, word, scope_, flags_, function)                      \
    static const pto_pass name = {.struct_size = sizeof name,           \
                                  .flags = (flags_),                    \
                                  .id = "test.liar-numbers-" word,      \
                                  .summary = "Change what is computed", \
                                  .scope = (scope_),                    \
                                  .consumes = "tensor/1",               \
                                  .produces = "tensor/1",               \
                                  .kinds = pass_kinds,                  \
                                  .options = pass_options,              \
                                  .run = (function)}
PASS(scales, "scales", "function", 0, scale);
PASS(reassociates, "reassociates", "function", PTO_PASS_REASSOCIATES, scale);
PASS(swaps, "swaps", "function", 0, swap);
PASS(erases, "erases", "module", 0, erase_functions);
PASS(divides, "divides", "function", 0, divide_by_zero);
PASS(drops, "drops", "function", 0, drop_result);
PASS(adds_input, "adds-input", "function", 0, add_input);
PASS(numbs, "numbs", "function", PTO_PASS_REASSOCIATES, numb);

PTO_PLUGIN("test.liar-numbers",
           "pass:test.liar-numbers-scales pass:test.liar-numbers-reassociates pass:test.liar-numbers-swaps "
           "pass:test.liar-numbers-erases pass:test.liar-numbers-divides pass:test.liar-numbers-drops "
           "pass:test.liar-numbers-adds-input pass:test.liar-numbers-numbs",
           "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &scales, &reassociates, &swaps, &erases, &divides, &drops, &adds_input,
                              &numbs));
