/* Its note says that its pass is for one op alone, and the pass breaks a property. */
#include "abi_plugin.h"

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-rewrites-more",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .kinds = PTO_STRS("tensor.neg"),
                              .breaks = PTO_STRS("test.broken"),
                              .run = abi_run};
PTO_PLUGIN("test.abi-rewrites-more", "pass:test.abi-rewrites-more rewrites:tensor.neg", "", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
