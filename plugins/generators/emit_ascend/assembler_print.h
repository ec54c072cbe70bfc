/* The model as text of the vendor's assembler: with addresses and flags (level 3), or without (level 2). */
#ifndef ASSEMBLER_PRINT_H
#define ASSEMBLER_PRINT_H

#include "ascend_model.h"

/* The file of a kernel. PTO_FAILED after a diagnostic at what has no form there. */
pto_status assembler_kernel(const ascend_module *m, const ascend_kernel *k, int level, text *out);

/* `pto.emit-ascend/unsupported` at an op; PTO_FAILED. */
PTO_PRINTF_LIKE(2, 3) pto_status assembler_refuse(pto_op op, const char *format, ...);

#endif
