/* ABI 2.0, draft. */
#define PTO_ABI_MAJOR 2
#define PTO_ABI_MINOR 0
#define PTO_ABI_DRAFT 1
#include "abi_plugin.h"

ABI_PLUGIN("test.abi-draft-2-0");
