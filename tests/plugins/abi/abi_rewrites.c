/* Its note says which op its pass is for. */
#include "abi_plugin.h"

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-rewrites",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .kinds = PTO_STRS("tensor.neg"),
                              .run = abi_run};
PTO_PLUGIN("test.abi-rewrites", "pass:test.abi-rewrites rewrites:tensor.neg", "", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
