/* Refused by its note (ABI 2.0). Its constructor would write the file that PTO_TEST_TOUCH names. */
#define PTO_ABI_MAJOR 2
#include "abi_plugin.h"

#include <stdlib.h>

ABI_PLUGIN("test.abi-constructor");

__attribute__((constructor)) static void touch(void)
{
    const char *path = getenv("PTO_TEST_TOUCH");
    FILE *f = path != NULL ? fopen(path, "w") : NULL;
    if (f != NULL) (void)fclose(f);
}
