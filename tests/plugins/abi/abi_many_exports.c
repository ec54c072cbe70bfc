/* Exports more than a reader needs to see, as a library that is linked in does. */
#include "abi_plugin.h"

/* Functions: a sanitizer adds symbols to exported data. */
#define EXPORTED(name)                                      \
    __attribute__((visibility("default"))) void name(void); \
    void name(void) {}
EXPORTED(test_export_1)
EXPORTED(test_export_2)
EXPORTED(test_export_3)
EXPORTED(test_export_4)
EXPORTED(test_export_5)
EXPORTED(test_export_6)
EXPORTED(test_export_7)

ABI_PLUGIN("test.abi-many-exports");
