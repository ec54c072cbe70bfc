/* A pass on tensors that claims a property of kernels, and one of its own plugin. */
#include "abi_plugin.h"

static const pto_pass claims = {.struct_size = sizeof claims,
                                .id = "test.abi-other-level",
                                .summary = "Do nothing",
                                .scope = "function",
                                .consumes = "tensor/1",
                                .produces = "tensor/1",
                                .establishes = PTO_STRS("pto.addresses-assigned"),
                                .run = abi_run};
static const pto_pass needs = {.struct_size = sizeof needs,
                               .id = "test.abi-other-level-needs",
                               .summary = "Do nothing",
                               .scope = "function",
                               .consumes = "tile/1",
                               .produces = "tile/1",
                               .requires_props = PTO_STRS("test.abi-other-level-property"),
                               .run = abi_run};
static const pto_property property = {.struct_size = sizeof property,
                                      .id = "test.abi-other-level-property",
                                      .doc = "Never mind.",
                                      .level = "block/1",
                                      .check = abi_run};
PTO_PLUGIN("test.abi-other-level",
           "pass:test.abi-other-level pass:test.abi-other-level-needs property:test.abi-other-level-property",
           "pto.addresses-assigned", .version = "1.0.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &claims, &needs), .properties = PTO_LIST(pto_property, &property));
