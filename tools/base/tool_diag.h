/* The diagnostic codes of tools/; their rows are in tools/base/diag.def. */
#ifndef TOOLS_BASE_TOOL_DIAG_H
#define TOOLS_BASE_TOOL_DIAG_H

#include "ir/base/diag.h"

#include <stdint.h>

#define DIAG(code, summary) extern const diag_code_info code;
#include "tools/base/diag.def"
#undef DIAG

/* The row number `index` of tools/base/diag.def, or NULL past the last. */
const diag_code_info *tool_diag_code_at(uint32_t index);

#endif
