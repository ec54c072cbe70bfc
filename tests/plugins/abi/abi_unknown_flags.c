/* A pass with flags that nobody knows. */
#include "abi_plugin.h"

static const pto_pass pass = {.struct_size = sizeof pass,
                              .flags = 0x50 | PTO_PASS_REASSOCIATES,
                              .id = "test.abi-unknown-flags",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .run = abi_run};
PTO_PLUGIN("test.abi-unknown-flags", "pass:test.abi-unknown-flags", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
