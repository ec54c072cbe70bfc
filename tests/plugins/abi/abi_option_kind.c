/* An option that names plugins of a kind that no option can name. */
#include "abi_plugin.h"

static const char *const backends[] = {"backend", NULL};
#define OPTIONS(X) X(RUN_ON, PLUGIN, "run-on", .choices = backends, .doc = "where to run", .example = "-")
PTO_OPTIONS(OPTIONS);

ABI_PLUGIN_WITH("test.abi-option-kind", pass_options);
