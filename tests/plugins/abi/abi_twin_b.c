/* Provides the same pass as its twin. */
#include "abi_plugin.h"

ABI_PLUGIN("test.abi-twin");
