/* Ends the process while it is being loaded. */
#include "abi_plugin.h"
