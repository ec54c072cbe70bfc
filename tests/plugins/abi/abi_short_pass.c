/* A pass struct that ends before its run. */
#include "abi_plugin.h"

static const pto_pass pass = {.struct_size = offsetof(pto_pass, kinds), .id = "test.abi-short-pass", .run = abi_run};
PTO_PLUGIN("test.abi-short-pass", "pass:test.abi-short-pass", "", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
