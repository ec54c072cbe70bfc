/* The model as text of the vendor's assembler, at the level where addresses and flags are there. */
#ifndef ASSEMBLER_PRINT_H
#define ASSEMBLER_PRINT_H

#include "ascend_model.h"

/* The file of a kernel. PTO_FAILED after a diagnostic at what has no form there. */
pto_status assembler_kernel(const ascend_module *m, const ascend_kernel *k, text *out);

#endif
