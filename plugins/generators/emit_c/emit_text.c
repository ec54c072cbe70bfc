/* Lines of C. */
#include "emit.h"

const char *emit_format(emitter *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *p = text_vformat(e->run, format, args);
    va_end(args);
    return p;
}

void emit_open_block(emitter *e)
{
    text_line(e->out, "{");
    e->out->depth++;
}

const char *emit_place(emitter *e, pto_op op)
{
    char at[512], path[512];
    if (pto_loc_text(pto_op_loc(op), at, sizeof at) == 0) at[0] = 0;
    (void)pto_op_path(op, path, sizeof path);
    /* A file may be called anything. */
    for (char *p = at; *p != 0; p++)
        if (*p == '*' || *p == '\\' || (unsigned char)*p < ' ') *p = '_';
    return emit_format(e, "%s%s%s", at, at[0] != 0 ? " " : "", path);
}

/* "FILE:line:column " of both is the same up to the first ':' after the folder. */
static const char *without_file(const char *at, const char *around)
{
    const char *slash = strrchr(around, '/'), *colon = strchr(slash != NULL ? slash : around, ':');
    if (colon == NULL) return at;
    const size_t n = (size_t)(colon - around) + 1;
    return strncmp(at, around, n) == 0 ? at + n : at;
}

const char *emit_remark(emitter *e, pto_op op)
{
    char at[512], around[512], path[512];
    const size_t outer = pto_op_path(e->function, path, sizeof path);
    if (pto_loc_text(pto_op_loc(op), at, sizeof at) == 0 || pto_loc_text(pto_op_loc(e->function), around, 512) == 0 ||
        outer >= sizeof path || pto_op_path(op, path, sizeof path) >= sizeof path || strpbrk(at, "*\\") != NULL)
        return emit_format(e, " /* %s */", emit_place(e, op));
    return emit_format(e, " /* %s %s */", without_file(at, around), path + outer + 1);
}

const char *emit_bare(emitter *e, const char *c)
{
    const size_t n = strlen(c);
    int depth = 0;
    if (n < 2 || c[0] != '(' || c[n - 1] != ')') return c;
    for (size_t i = 0; i + 1 < n; i++) {
        depth += c[i] == '(' ? 1 : c[i] == ')' ? -1 : 0;
        if (depth == 0) return c;
    }
    return emit_format(e, "%.*s", (int)n - 2, c + 1);
}

void emit_comment(emitter *e, pto_op op) { text_line(e->out, "/* %s */", emit_place(e, op)); }

static uint32_t add_fault(emitter *e, emit_fault f)
{
    for (uint32_t i = 0; i < e->fault_count; i++)
        if (e->faults[i].op.index == f.op.index && strcmp(e->faults[i].text, f.text) == 0) return i + 1;
    PTO_GROW(e->run, e->faults, e->fault_count, e->fault_capacity);
    e->faults[e->fault_count++] = f;
    return e->fault_count;
}

uint32_t emit_fault_of(emitter *e, pto_op op, const char *why) { return add_fault(e, (emit_fault){op, why, 0, 0}); }

const char *emit_index_fault(emitter *e, pto_op op, const char *why, const char *at, const char *extent)
{
    const uint32_t fault = add_fault(e, (emit_fault){op, why, 0, e->is_kernel});
    return e->is_kernel ? emit_format(e, "pto_index_fault(scratch_, %u, %s, %s)", fault, at, extent)
                        : emit_format(e, "%u", fault);
}

uint32_t emit_fault_of_memory(emitter *e, pto_op op)
{
    return add_fault(e, (emit_fault){op, "needs more memory than there is", 1, 0});
}

pto_status emit_refuse(pto_op op, const char *why)
{
    const pto_str name = pto_op_name(op);
    return pto_error(op, "pto.emit-c/unsupported", "`%.*s` has no C yet: %s", PTO_FMT(name), why);
}
