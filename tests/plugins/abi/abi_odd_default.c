/* A default that is no YAML. */
#include "abi_plugin.h"

#define OPTIONS(X) X(SIZES, LIST, "sizes", .def = "[1, 2", .doc = "sizes to try", .example = "with: { sizes: [1] }")
PTO_OPTIONS(OPTIONS);

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-odd-default",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = abi_run};
PTO_PLUGIN("test.abi-odd-default", "pass:test.abi-odd-default", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
