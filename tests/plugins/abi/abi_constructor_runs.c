/* Accepted, with the same constructor as abi_constructor.c: shows that the file would have been written. */
#include "abi_plugin.h"

#include <stdlib.h>

ABI_PLUGIN("test.abi-constructor-runs");

__attribute__((constructor)) static void touch(void)
{
    const char *path = getenv("PTO_TEST_TOUCH");
    FILE *f = path != NULL ? fopen(path, "w") : NULL;
    if (f != NULL) (void)fclose(f);
}
