/* Ends the process while it is being loaded. */
#include "abi_plugin.h"

#include <stdlib.h>

ABI_PLUGIN("test.abi-dies-in-constructor");

__attribute__((constructor)) static void die(void) { abort(); }
