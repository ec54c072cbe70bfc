/* Property checkers that say by a remark which function they look at, and passes that change one function. */
#include <pto/plugin.h>

#include <string.h>

#define KINDS(X)         \
    X(NEG, "tensor.neg") \
    X(ABS, "tensor.abs") \
    X(EXP, "tensor.exp") \
    X(CALL, "call")
PTO_KINDS(KINDS);

/* Functions are told apart by the name in `in`; `to` is what tensor.neg becomes there. */
static const char *const kinds_made[] = {"abs", "exp", NULL};
#define OPTIONS(X)                                                                           \
    X(IN, STR, "in", .doc = "the function to change", .example = "with: { in: f }")          \
    X(TO, ENUM, "to", .def = "abs", .choices = kinds_made, .doc = "what tensor.neg becomes", \
      .example = "with: { to: exp }")
PTO_OPTIONS(OPTIONS);

static int is_named(pto_op function, pto_str name)
{
    const pto_str own = pto_attr_str(pto_op_attr(function, PTO_STR("name")));
    return own.n == name.n && own.n > 0 && memcmp(own.p, name.p, name.n) == 0;
}

static pto_op first_of(const pto_run *run, pto_op function, uint32_t kind)
{
    PTO_WALK(function, op)
    {
        if (pto_op_is(op, pto_kind(run, kind))) return op;
    }
    return pto_op_none(run);
}

static pto_status look(const pto_run *run, pto_op function)
{
    const pto_op wrong = first_of(run, function, KIND_EXP);
    if (PTO_SOME(wrong)) return pto_error(wrong, "test.probe-checks/exp", "there is an exp");
    pto_remark(function, "test.probe-checks/own", "looked at the function");
    return PTO_OK;
}

static pto_status look_at_callees(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, CALL)) continue;
        const pto_op callee = pto_symbol_find(run, pto_attr_str(pto_op_attr(op, PTO_STR("callee"))));
        const pto_op wrong = first_of(run, callee, KIND_EXP);
        if (PTO_SOME(wrong)) return pto_error(wrong, "test.probe-checks/exp", "there is an exp in what is called");
    }
    pto_remark(function, "test.probe-checks/callees", "looked at what it calls");
    return PTO_OK;
}

static pto_status change(const pto_run *run, pto_op function)
{
    if (!is_named(function, pto_opt_str(run, OPT_IN))) return PTO_OK;
    const pto_op neg = first_of(run, function, KIND_NEG);
    if (!PTO_SOME(neg)) return PTO_OK;
    const uint32_t to = pto_opt_i64(run, OPT_TO) == 0 ? KIND_ABS : KIND_EXP;
    pto_spec s = pto_spec_make(run, pto_kind(run, to));
    pto_spec_operand(&s, pto_op_operand(neg, 0));
    pto_spec_result(&s, pto_value_type(pto_op_result(neg, 0)));
    return pto_op_replace_by(neg, pto_spec_value(&s, pto_before(neg)));
}

static pto_status change_one(const pto_run *run, pto_op none)
{
    (void)none;
    for (pto_op f = pto_block_first(pto_module_top(run)); PTO_SOME(f); f = pto_op_next(f)) PTO_TRY(change(run, f));
    return PTO_OK;
}

static pto_status nothing(const pto_run *run, pto_op function)
{
    (void)run;
    (void)function;
    return PTO_OK;
}

static const pto_property own = {.struct_size = sizeof own,
                                 .id = "test.no-exp",
                                 .doc = "no function has an exp",
                                 .level = "tensor/1",
                                 .kinds = pass_kinds,
                                 .check = look};
static const pto_property callees = {.struct_size = sizeof callees,
                                     .id = "test.no-exp-called",
                                     .doc = "nothing that is called has an exp",
                                     .level = "tensor/1",
                                     .kinds = pass_kinds,
                                     .check = look_at_callees};
static const pto_pass claims = {.struct_size = sizeof claims,
                                .id = "test.claim-no-exp",
                                .summary = "Claim both properties",
                                .scope = "function",
                                .consumes = "tensor/1",
                                .produces = "tensor/1",
                                .establishes = PTO_STRS("test.no-exp", "test.no-exp-called"),
                                .run = nothing};
static const pto_pass claims_callees = {.struct_size = sizeof claims_callees,
                                        .id = "test.claim-no-exp-called",
                                        .summary = "Claim the property of callees",
                                        .scope = "function",
                                        .consumes = "tensor/1",
                                        .produces = "tensor/1",
                                        .establishes = PTO_STRS("test.no-exp-called"),
                                        .run = nothing};
static const pto_pass function_pass = {.struct_size = sizeof function_pass,
                                       .id = "test.change",
                                       .summary = "Change one function",
                                       .scope = "function",
                                       .consumes = "tensor/1",
                                       .produces = "tensor/1",
                                       .kinds = pass_kinds,
                                       .options = pass_options,
                                       .run = change};
static const pto_pass module_pass = {.struct_size = sizeof module_pass,
                                     .id = "test.change-one",
                                     .summary = "Change one function of the module",
                                     .scope = "module",
                                     .consumes = "tensor/1",
                                     .produces = "tensor/1",
                                     .kinds = pass_kinds,
                                     .options = pass_options,
                                     .run = change_one};
PTO_PLUGIN("test.probe-checks",
           "pass:test.claim-no-exp pass:test.claim-no-exp-called pass:test.change pass:test.change-one "
           "property:test.no-exp property:test.no-exp-called",
           "test.no-exp test.no-exp-called", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &claims, &claims_callees, &function_pass, &module_pass),
           .properties = PTO_LIST(pto_property, &own, &callees));
