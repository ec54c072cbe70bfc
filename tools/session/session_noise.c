/* --quiet, --progress and --trace: how much of its work a tool shows. */
#include "tools/base/tool_diag.h"
#include "tools/session/session.h"

bool session_is_quiet(const session *s) { return command_line_has(s->line, SESSION_QUIET); }

status session_read_noise(session *s)
{
    if (session_is_quiet(s) && command_line_has(s->line, SESSION_PROGRESS)) {
        diag_error(s->diags, (src_pos){s->line->tool, 0, 0}, &E1504, "--quiet excludes --progress");
        return FAILED;
    }
    diag_show_warnings(s->diags, !session_is_quiet(s));
    if (command_line_has(s->line, SESSION_TRACE)) s->trace = compile_trace_create(s->arena, s->line->tool);
    return OK;
}

exit_status session_write_trace(session *s, exit_status code)
{
    if (!s->trace) return code;
    const status written = compile_trace_write(s->trace, s->diags, command_line_value(s->line, SESSION_TRACE));
    return written != OK && code == EXIT_STATUS_OK ? EXIT_STATUS_OUTPUT : code;
}
