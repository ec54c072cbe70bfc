/* ABI 1.1, needs 1.1, final. */
#define PTO_ABI_MINOR 1
#define PTO_ABI_DRAFT 0
#include "abi_plugin.h"

ABI_PLUGIN("test.abi-final-1");
