/* ABI 1.0, draft. */
#define PTO_ABI_MINOR 0
#define PTO_ABI_DRAFT 1
#include "abi_plugin.h"

ABI_PLUGIN("test.abi-draft-0");
