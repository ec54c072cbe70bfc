/* Instructions that a library was made of, and those that a CPU has. */
#ifndef PTO_RUNTIME_ISA_H
#define PTO_RUNTIME_ISA_H

#include <kernel_table.h>

#include <pto/native_runtime.h>

/* `isa` is PTO_RUNTIME_AVX2 and PTO_RUNTIME_AVX512, `has` is PTO_ISA_* of a processor. */

/* NULL, or in a sentence what of the instructions the processor lacks. */
const char *runtime_isa_lacks(uint32_t isa, uint32_t has);
/* PTO_ISA_* that kernels of products may use beside code of `isa`, as the backend `pto.native` has it: what comes with
 * vectors of the same width. */
uint32_t runtime_isa_of_products(uint32_t isa, uint32_t has);

#endif
