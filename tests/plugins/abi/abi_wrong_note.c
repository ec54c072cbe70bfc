/* Its note promises a pass that its descriptor does not have. */
#include "abi_plugin.h"

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-other",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .run = abi_run};
PTO_PLUGIN("test.abi-wrong-note", "pass:test.abi-wrong-note", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
