/* The diagnostic codes of core/; their rows are in core/diag.def. */
#ifndef CORE_CORE_DIAG_H
#define CORE_CORE_DIAG_H

#include "ir/base/diag.h"

#include <stdint.h>

#define DIAG(code, summary) extern const diag_code_info code;
#include "core/diag.def"
#undef DIAG

/* The row number `index` of core/diag.def, or NULL past the last. */
const diag_code_info *core_diag_code_at(uint32_t index);

#endif
