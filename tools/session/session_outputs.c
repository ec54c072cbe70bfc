/* What a run writes, by the options that name it: no two of them may be one file. */
#include "core/file.h"
#include "tools/base/tool_diag.h"
#include "tools/session/session.h"

#include <string.h>

/* "-" is standard output, and for --remarks standard error. */
static bool is_same(const session_output *x, const session_output *y)
{
    const bool is_standard = strcmp(x->path, "-") == 0;
    if (is_standard != (strcmp(y->path, "-") == 0)) return false;
    if (!is_standard) return file_is_same(x->path, y->path);
    return (x->option == SESSION_REMARKS) == (y->option == SESSION_REMARKS);
}

static status check_pair(const session *s, const session_output *x, const session_output *y)
{
    if (!is_same(x, y)) return OK;
    const char *tool = s->line->tool, *a = s->line->options[x->option].name, *b = s->line->options[y->option].name;
    if (strcmp(x->path, "-") == 0)
        diag_error(s->diags, (src_pos){tool, 0, 0}, &E1509, "--%s and --%s both go to standard output", a, b);
    else if (strcmp(x->path, y->path) == 0)
        diag_error(s->diags, (src_pos){tool, 0, 0}, &E1509, "--%s and --%s both name `%s`", a, b, x->path);
    else
        diag_error(s->diags, (src_pos){tool, 0, 0}, &E1509, "--%s and --%s lead to one place, `%s` and `%s`", a, b,
                   x->path, y->path);
    diag_note(s->diags, NO_POS, "give each output a place of its own");
    return FAILED;
}

exit_status session_check_outputs(const session *s, uint32_t count, const session_output *outputs)
{
    static const uint32_t shared[] = {SESSION_DUMP_DIR, SESSION_TRACE, SESSION_REMARKS, SESSION_EMIT_SCHEDULE};
    enum { SHARED_COUNT = sizeof shared / sizeof shared[0] };
    session_output *all = arena_array(s->arena, count + SHARED_COUNT, sizeof *all);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) all[n++] = outputs[i];
    for (size_t i = 0; i < SHARED_COUNT; i++) {
        const char *path = command_line_value(s->line, shared[i]);
        if (path) all[n++] = (session_output){shared[i], path};
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) TRY_AS(EXIT_STATUS_USAGE, check_pair(s, &all[i], &all[k]));
    return EXIT_STATUS_OK;
}
