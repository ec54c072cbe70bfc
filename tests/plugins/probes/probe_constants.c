/* Property checkers that find two equal constants in a function, each by another function of the host. */
#include <pto/plugin.h>

#define KINDS(X) X(CONSTANT, "constant")
PTO_KINDS(KINDS);

static int have_one_attr(pto_op a, pto_op b)
{
    return pto_attr_f64(pto_op_attr(a, PTO_STR("value"))) == pto_attr_f64(pto_op_attr(b, PTO_STR("value")));
}

static int have_one_first_attr(pto_op a, pto_op b)
{
    return pto_attr_f64(pto_op_attr_at(a, 0, NULL)) == pto_attr_f64(pto_op_attr_at(b, 0, NULL));
}

static int have_one_hash(pto_op a, pto_op b) { return pto_op_hash(a) == pto_op_hash(b); }

static int are_equal(pto_op a, pto_op b) { return pto_op_equal(a, b); }

static pto_status look(const pto_run *run, pto_op function, int (*is_twin)(pto_op a, pto_op b))
{
    pto_op before = pto_op_none(run);
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, CONSTANT)) continue;
        if (PTO_SOME(before) && is_twin(before, op))
            return pto_error(op, "test.probe-constants/twin", "is there twice");
        before = op;
    }
    return PTO_OK;
}

static pto_status nothing(const pto_run *run, pto_op function)
{
    (void)run;
    (void)function;
    return PTO_OK;
}

/* A checker, and a pass that claims what it checks. */
#define CHECKER(name, text, is_twin)                                                                            \
    static pto_status look_##name(const pto_run *run, pto_op function) { return look(run, function, is_twin); } \
    static const pto_property property_##name = {.struct_size = sizeof property_##name,                         \
                                                 .id = "test.unlike-" text,                                     \
                                                 .doc = "constants that follow each other are not equal",       \
                                                 .level = "tensor/1",                                           \
                                                 .kinds = pass_kinds,                                           \
                                                 .check = look_##name};                                         \
    static const pto_pass pass_##name = {.struct_size = sizeof pass_##name,                                     \
                                         .id = "test.claim-unlike-" text,                                       \
                                         .summary = "Claim the property",                                       \
                                         .scope = "function",                                                   \
                                         .consumes = "tensor/1",                                                \
                                         .produces = "tensor/1",                                                \
                                         .establishes = PTO_STRS("test.unlike-" text),                          \
                                         .run = nothing}
CHECKER(attr, "attr", have_one_attr);
CHECKER(attr_at, "attr-at", have_one_first_attr);
CHECKER(hash, "hash", have_one_hash);
CHECKER(equal, "equal", are_equal);

PTO_PLUGIN("test.probe-constants",
           "pass:test.claim-unlike-attr pass:test.claim-unlike-attr-at pass:test.claim-unlike-hash "
           "pass:test.claim-unlike-equal property:test.unlike-attr property:test.unlike-attr-at "
           "property:test.unlike-hash property:test.unlike-equal",
           "test.unlike-attr test.unlike-attr-at test.unlike-hash test.unlike-equal", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass_attr, &pass_attr_at, &pass_hash, &pass_equal),
           .properties = PTO_LIST(pto_property, &property_attr, &property_attr_at, &property_hash, &property_equal));
