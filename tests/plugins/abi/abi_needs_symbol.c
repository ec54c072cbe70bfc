/* Needs a function that no library has. */
#include <pto/plugin.h>

int test_abi_missing(void);

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return test_abi_missing();
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-needs-symbol",
                              .summary = "Call what is not there",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .run = run};
PTO_PLUGIN("test.abi-needs-symbol", "pass:test.abi-needs-symbol", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
