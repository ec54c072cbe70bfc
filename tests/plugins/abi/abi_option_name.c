/* An option whose name no pipeline file can hold as it is. */
#include "abi_plugin.h"

#define OPTIONS(X) X(ODD, I64, "a b: [}", .def = "1", .doc = "odd", .example = "-")
PTO_OPTIONS(OPTIONS);

ABI_PLUGIN_WITH("test.abi-option-name", pass_options);
