/* ABI 2.0, final. */
#define PTO_ABI_MAJOR 2
#define PTO_ABI_MINOR 0
#define PTO_ABI_DRAFT 0
#include "abi_plugin.h"

ABI_PLUGIN("test.abi-final-2-0");
