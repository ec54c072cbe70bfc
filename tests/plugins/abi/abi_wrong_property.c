/* Its note says that it establishes what its descriptor does not. */
#include "abi_plugin.h"

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-wrong-property",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .run = abi_run};
PTO_PLUGIN("test.abi-wrong-property", "pass:test.abi-wrong-property", "test.promised", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
