/* --quiet, --progress and --trace: how much of its work a tool shows. */
#include "tools/session/session.h"

bool session_is_quiet(const session *s) { return command_line_has(s->line, OPTION_QUIET); }

void session_read_verbosity(session *s)
{
    diag_show_warnings(s->diags, !session_is_quiet(s));
    if (command_line_has(s->line, OPTION_TRACE)) s->trace = compile_trace_create(s->arena, s->line->tool);
}

exit_status session_write_trace(session *s, exit_status code)
{
    if (s->trace == NULL) return code;
    const status written = compile_trace_write(s->trace, s->diags, command_line_value(s->line, OPTION_TRACE));
    return written != OK && code == EXIT_STATUS_OK ? EXIT_STATUS_OUTPUT : code;
}
