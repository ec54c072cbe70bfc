#include "tools/run/hints.h"

#include "ir/op_info.h"
#include "tools/base/tool_diag.h"

#include <inttypes.h>
#include <string.h>

enum { HINTS_MAX = 16 }; /* names of hints in all op tables */

/* A hint of one function that the backend does not heed. */
typedef struct ignored_hint {
    const attr_spec *spec;
    op_id first;
    uint32_t count;
} ignored_hint;

static bool is_heeded(const pto_backend *b, const char *hint)
{
    for (const char *const *h = b->hints; *h != NULL; h++)
        if (strcmp(*h, hint) == 0) return true;
    return false;
}

static void add(ignored_hint *hints, uint32_t *count, const attr_spec *spec, op_id o)
{
    uint32_t i = 0;
    while (i < *count && strcmp(hints[i].spec->name, spec->name) != 0) i++;
    BUG_IF(i == HINTS_MAX, "more hints than the op tables have");
    if (i == *count) hints[(*count)++] = (ignored_hint){.spec = spec, .first = o};
    hints[i].count++;
}

/* Ops do not store defaults: what is there was wished for. */
static void collect(const module *m, op_id o, const pto_backend *b, ignored_hint *hints, uint32_t *count)
{
    ir_context *c = module_context(m);
    const op_info *info = op_info_of(m, o);
    for (size_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        const attr_spec *spec = &info->attrs[i];
        if (!spec->hint || is_heeded(b, spec->name)) continue;
        if (attr_get(c, op_attrs(m, o), string_intern_z(c, spec->name)) == 0) continue;
        add(hints, count, spec, o);
    }
}

void hints_warn(const module *m, const pto_backend *b)
{
    diag_engine *d = context_diags(module_context(m));
    BLOCK_EACH_OP(m, f, module_top(m)) {
        ignored_hint hints[HINTS_MAX];
        uint32_t count = 0;
        IR_WALK(m, o, f) collect(m, o, b, hints, &count);
        const str name = string_of(module_context(m), function_name(m, f));
        for (uint32_t i = 0; i < count; i++) {
            const src_pos at = op_pos(m, hints[i].first);
            op_name_diag(d, m, hints[i].first, DIAG_WARNING);
            if (hints[i].count == 1)
                diag_warning(d, at, &E1712,
                             "backend `%s` ignores the hint `%s`, which 1 op of @%.*s carries: results and cycles are "
                             "those without it",
                             b->id, hints[i].spec->name, (int)name.n, name.p);
            else
                diag_warning(d, at, &E1712,
                             "backend `%s` ignores the hint `%s`, which %" PRIu32
                             " ops of @%.*s carry: results and cycles are those without it",
                             b->id, hints[i].spec->name, hints[i].count, (int)name.n, name.p);
        }
    }
}
