/* A pass with an option that has no default. */
#include "abi_plugin.h"

#define OPTIONS(X) X(ROWS, I64, "rows", .min = "1", .doc = "rows of a tile", .example = "with: { rows: 4 }")
PTO_OPTIONS(OPTIONS);

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-option-required",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = abi_run};
PTO_PLUGIN("test.abi-option-required", "pass:test.abi-option-required", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
