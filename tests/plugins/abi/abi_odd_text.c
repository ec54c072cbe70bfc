/* A summary that would colour the terminal of a user that lists passes. */
#include "abi_plugin.h"

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-odd-text",
                              .summary = "Do \033[31mnothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .run = abi_run};
PTO_PLUGIN("test.abi-odd-text", "pass:test.abi-odd-text", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
