/* Says that it assigns addresses and does nothing. */
#include <pto/plugin.h>

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return PTO_OK;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-does-nothing",
                              .summary = "Claim to allocate",
                              .scope = "function",
                              .consumes = "block/1",
                              .produces = "block/1",
                              .establishes = PTO_STRS("pto.addresses-assigned"),
                              .run = run};
PTO_PLUGIN("test.liar-does-nothing", "pass:test.liar-does-nothing", "pto.addresses-assigned", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
