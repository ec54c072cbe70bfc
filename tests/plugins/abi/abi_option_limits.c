/* A pass whose option limits what has no order. */
#include "abi_plugin.h"

#define OPTIONS(X) \
    X(ROWS, STR, "rows", .def = "few", .min = "1", .doc = "rows of a tile", .example = "with: { rows: many }")
PTO_OPTIONS(OPTIONS);

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-option-limits",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = abi_run};
PTO_PLUGIN("test.abi-option-limits", "pass:test.abi-option-limits", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
