/* Declares to lower to the tile level and leaves everything where it is. */
#include <pto/plugin.h>

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return PTO_OK;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-stays",
                              .summary = "Claim to lower",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tile/1",
                              .run = run};
PTO_PLUGIN("test.liar-stays", "pass:test.liar-stays", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
