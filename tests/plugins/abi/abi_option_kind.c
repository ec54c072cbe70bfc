/* An option that names plugins of a kind that no option can name. */
#include <pto/plugin.h>

static const char *const backends[] = {"backend", NULL};
#define OPTIONS(X) X(RUN_ON, PLUGIN, "run-on", .choices = backends, .doc = "where to run", .example = "-")
PTO_OPTIONS(OPTIONS);

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return PTO_OK;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-option-kind",
                              .summary = "Name a backend",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = run};
PTO_PLUGIN("test.abi-option-kind", "pass:test.abi-option-kind", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
