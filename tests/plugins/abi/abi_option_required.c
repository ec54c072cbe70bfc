/* A pass with an option that has no default. */
#include "abi_plugin.h"

#define OPTIONS(X) X(ROWS, I64, "rows", .min = "1", .doc = "rows of a tile", .example = "with: { rows: 4 }")
PTO_OPTIONS(OPTIONS);

ABI_PLUGIN_WITH("test.abi-option-required", pass_options);
