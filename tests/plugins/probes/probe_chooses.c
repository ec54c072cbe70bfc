/* A pass that is not a tiling and has alternatives: it copies the first op of a function, best as often as it may.
 * Another one finds that a function has too many ops. A third one chooses without saying that it does. */
#include <pto/plugin.h>

#define OPTIONS(X)                                                                                                   \
    X(COPIES, I64, "copies", .def = "3", .min = "0", .max = "20", .doc = "of the first op, in the best alternative", \
      .example = "with: { copies: 1 }")
PTO_OPTIONS(OPTIONS);
#define LIMITS(X) \
    X(MOST, I64, "most", .def = "4", .min = "0", .doc = "ops of a function", .example = "with: { most: 8 }")
PTO_OPTIONS_AS(limit_options, LIMITS);

static pto_status choose(const pto_run *run, pto_op unit)
{
    const uint32_t copies = (uint32_t)pto_opt_i64(run, OPT_COPIES), tried = pto_choice_take(unit, copies + 1);
    const pto_op first = pto_block_first(pto_body(unit));
    for (uint32_t i = tried; i < copies; i++) PTO_NEED(pto_op_clone(first, pto_before(first), 0, NULL, NULL));
    return PTO_OK;
}

static pto_status check(const pto_run *run, pto_op unit)
{
    int64_t count = 0;
    for (pto_op op = pto_block_first(pto_body(unit)); PTO_SOME(op); op = pto_op_next(op)) count++;
    if (count <= pto_opt_i64(run, OPT_MOST)) return PTO_OK;
    return pto_does_not_fit(unit, "test.limits/does-not-fit", "has %lld ops", (long long)count);
}

#define PASS(name, its_id, its_flags, its_options, its_run)      \
    static const pto_pass name = {.struct_size = sizeof name,    \
                                  .flags = its_flags,            \
                                  .id = its_id,                  \
                                  .summary = "Try alternatives", \
                                  .scope = "function",           \
                                  .consumes = "tensor/1",        \
                                  .produces = "tensor/1",        \
                                  .options = its_options,        \
                                  .run = its_run}
PASS(copies, "test.copies", PTO_PASS_CHOOSES, pass_options, choose);
PASS(unsaid, "test.copies-unsaid", 0, pass_options, choose);
PASS(limits, "test.limits", 0, limit_options, check);
PTO_PLUGIN("test.probe-chooses", "pass:test.copies pass:test.copies-unsaid pass:test.limits", "", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &copies, &unsaid, &limits));
