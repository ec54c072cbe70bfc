/* Lists an op that does not exist. */
#include "abi_plugin.h"

#define KINDS(X) X(SOFTMIX, "tensor.softmix")
PTO_KINDS(KINDS);

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-unknown-op",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .kinds = pass_kinds,
                              .run = abi_run};
PTO_PLUGIN("test.abi-unknown-op", "pass:test.abi-unknown-op", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
