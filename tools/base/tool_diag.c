#include "tools/base/tool_diag.h"

#define DIAG(code, summary) const diag_code_info code = {#code, summary};
#include "tools/base/diag.def"
#undef DIAG

const diag_code_info *tool_diag_code_at(uint32_t index)
{
    static const diag_code_info *const rows[] = {
#define DIAG(code, summary) &(code),
#include "tools/base/diag.def"
#undef DIAG
    };
    return index < sizeof rows / sizeof rows[0] ? rows[index] : NULL;
}
