/* Two passes of one id. */
#include "abi_plugin.h"

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-same-pass-twice",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .run = abi_run};
static const pto_pass other = {.struct_size = sizeof other,
                               .id = "test.abi-same-pass-twice",
                               .summary = "Do something else",
                               .scope = "module",
                               .consumes = "tensor/1",
                               .produces = "tensor/1",
                               .run = abi_run};
PTO_PLUGIN("test.abi-same-pass-twice", "pass:test.abi-same-pass-twice", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass, &other));
