/* ABI 1.1, needs 1.1, draft. */
#define PTO_ABI_MINOR 1
#define PTO_ABI_DRAFT 1
#include "abi_plugin.h"

ABI_PLUGIN("test.abi-draft-1");
