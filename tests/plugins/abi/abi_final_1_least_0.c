/* ABI 1.1, content with 1.0, final. Its structs are longer than this core's, as those of a later minor are. */
#define PTO_ABI_MINOR 1
#define PTO_ABI_LEAST_MINOR 0
#define PTO_ABI_DRAFT 0
#include "abi_plugin.h"

typedef struct long_pass {
    pto_pass pass;
    const char *later;
} long_pass;

static const long_pass pass = {.pass = {.struct_size = sizeof pass,
                                        .id = "test.abi-final-1-least-0",
                                        .summary = "Do nothing",
                                        .scope = "function",
                                        .consumes = "tensor/1",
                                        .produces = "tensor/1",
                                        .run = abi_run},
                               .later = "unknown to this core"};
PTO_PLUGIN("test.abi-final-1-least-0", "pass:test.abi-final-1-least-0", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass.pass));
