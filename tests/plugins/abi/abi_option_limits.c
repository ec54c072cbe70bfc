/* A pass whose option limits what has no order. */
#include "abi_plugin.h"

#define OPTIONS(X) \
    X(ROWS, STR, "rows", .def = "few", .min = "1", .doc = "rows of a tile", .example = "with: { rows: many }")
PTO_OPTIONS(OPTIONS);

ABI_PLUGIN_WITH("test.abi-option-limits", pass_options);
