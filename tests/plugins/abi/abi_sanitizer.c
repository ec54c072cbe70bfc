/* Says that it was built with the memory sanitizer, which no core is. */
#define PTO_SANITIZER_KIND 3
#include "abi_plugin.h"

ABI_PLUGIN("test.abi-sanitizer");
