/* A choice that no pipeline file can hold as it is. */
#include "abi_plugin.h"

static const char *const choices[] = {"plain", "a: b [", NULL};
#define OPTIONS(X) X(ODD, ENUM, "odd", .def = "plain", .choices = choices, .doc = "odd", .example = "-")
PTO_OPTIONS(OPTIONS);

ABI_PLUGIN_WITH("test.abi-option-choice", pass_options);
