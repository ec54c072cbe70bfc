/* Exports more than a reader wants to see, as a library that is linked in does. */
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

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.abi-many-exports",
                              .summary = "Do nothing",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .run = abi_run};
PTO_PLUGIN("test.abi-many-exports", "pass:test.abi-many-exports", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
