/* ABI 1.1, content with 1.0, draft. */
#define PTO_ABI_MINOR 1
#define PTO_ABI_LEAST_MINOR 0
#define PTO_ABI_DRAFT 1
#include "abi_plugin.h"

ABI_PLUGIN("test.abi-draft-1-least-0");
