/* Decides otherwise than the schedule pins, or without saying all of it. */
#include <pto/plugin.h>

#define OPTIONS(X)                                                                                          \
    X(HOW, ENUM, "how", .def = "otherwise", .choices = PTO_STRS("otherwise", "unasked", "unnamed", "word"), \
      .doc = "What is wrong.", .example = "with: { how: unnamed }")
PTO_OPTIONS(OPTIONS);

static pto_status run(const pto_run *run, pto_op unit)
{
    static const char *const words[] = {"none", "all", NULL};
    pto_decision d = {.struct_size = sizeof d, .count = 1, .name = "test.unroll"};
    int64_t value = 1;
    switch (pto_opt_i64(run, OPT_HOW)) {
    case 0: {
        const int32_t pinned = pto_decision_pinned(unit, &d, &value);
        if (pinned < 0) return PTO_FAILED;
        value += 1;
        break;
    }
    case 1: break;
    case 2: d.name = NULL; break;
    default: d.words = words; value = 2;
    }
    return pto_decision_made(unit, &d, &value);
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-decides",
                              .summary = "Break a rule",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = run};
PTO_PLUGIN("test.liar-decides", "pass:test.liar-decides", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
