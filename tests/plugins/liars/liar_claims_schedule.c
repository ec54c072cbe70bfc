/* Claims pto.scheduled for functions it leaves alone. */
#include <pto/plugin.h>

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return PTO_OK;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-claims-schedule",
                              .summary = "Claim to schedule",
                              .scope = "function",
                              .consumes = "exec/1",
                              .produces = "exec/1",
                              .establishes = PTO_STRS("pto.scheduled"),
                              .run = run};
PTO_PLUGIN("test.liar-claims-schedule", "pass:test.liar-claims-schedule", "pto.scheduled", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
