/* A default that is not YAML. */
#include "abi_plugin.h"

#define OPTIONS(X) X(SIZES, LIST, "sizes", .def = "[1, 2", .doc = "sizes to try", .example = "with: { sizes: [1] }")
PTO_OPTIONS(OPTIONS);

ABI_PLUGIN_WITH("test.abi-odd-default", pass_options);
