/* Claims the properties of the tensor level and does nothing. */
#include <pto/plugin.h>

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return PTO_OK;
}

static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.liar-claims-legal-tensors",
                              .summary = "Claim to legalize",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .establishes =
                                  PTO_STRS("pto.no-softmax", "pto.no-rms-norm", "pto.plain-products",
                                           "pto.no-quantisation", "pto.no-random", "pto.types-legal", "pto.math-legal"),
                              .run = run};
PTO_PLUGIN("test.liar-claims-legal-tensors", "pass:test.liar-claims-legal-tensors",
           "pto.no-softmax pto.no-rms-norm pto.plain-products pto.no-quantisation pto.no-random pto.types-legal "
           "pto.math-legal",
           .version = "1.0.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
