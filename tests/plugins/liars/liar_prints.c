/* Passes whose work verifies, and does not come back when it is printed and read. */
#include <pto/plugin.h>

#define KINDS(X) X(REDUCE, "tensor.reduce_sum")
PTO_KINDS(KINDS);

/* The axes of a reduction as a number, which is read as a list. */
static pto_status respell(const pto_run *run, pto_op unit)
{
    PTO_WALK(unit, op)
    {
        if (PTO_IS(op, REDUCE)) PTO_TRY(pto_op_set_attr(op, PTO_STR("axis"), pto_attr_make_i64(run, 1)));
    }
    return PTO_OK;
}

/* More attributes of the module than the reader takes. */
static pto_status add_attributes(const pto_run *run, pto_op unit)
{
    (void)unit;
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "word%d", i);
        PTO_TRY(pto_module_set_attr(run, pto_s(name), pto_attr_make_i64(run, i)));
    }
    return PTO_OK;
}

#define PASS(name, word, scope_, function)                                \
    static const pto_pass name = {.struct_size = sizeof name,             \
                                  .id = "test.liar-prints-" word,         \
                                  .summary = "Leave what cannot be read", \
                                  .scope = (scope_),                      \
                                  .consumes = "tensor/1",                 \
                                  .produces = "tensor/1",                 \
                                  .kinds = pass_kinds,                    \
                                  .run = (function)}
PASS(respells, "respells", "function", respell);
PASS(adds, "adds", "module", add_attributes);

PTO_PLUGIN("test.liar-prints", "pass:test.liar-prints-respells pass:test.liar-prints-adds", "", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &respells, &adds));
