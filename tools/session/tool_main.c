#include "tools/session/tool_main.h"

#include "tools/base/file.h"
#include "tools/inspect/json_schema.h"
#include "tools/library/library.h"

static void print_schema(const char *kind)
{
    const schema_file *file = schema_file_by_kind(str_from(kind));
    BUG_IF(file == NULL, "--print-schema=%s is not a choice", kind);
    text_buffer t;
    text_init(&t);
    schema_write_json(&t, file);
    if (t.n > 0) fwrite(t.p, 1, t.n, stdout);
    text_fini(&t);
}

/* What needs no work: true when it was asked for. */
static bool answer(const cli_tool *tool, const command_line *line)
{
    if (command_line_answer_help(line, tool->usage, tool->summary)) return true;
    if (command_line_has(line, OPTION_VERSION))
        printf("%s %s\n", tool->name, library_version());
    else if (command_line_has(line, OPTION_PRINT_SCHEMA))
        print_schema(command_line_value(line, OPTION_PRINT_SCHEMA));
    else
        return false;
    return true;
}

static int run(const cli_tool *tool, arena *a, diag_engine *d, command_line *line)
{
    if (answer(tool, line)) return EXIT_STATUS_OK;
    if (tool->complete != NULL) tool->complete(a, line);
    if (command_line_check(d, line) != OK) return EXIT_STATUS_USAGE;
    return tool->run != NULL ? tool->run(a, d, line) : session_supervise(line, tool->supervised);
}

int tool_main(const cli_tool *tool, int argc, char **argv)
{
    file_hold_standard();
    arena *a = arena_create("command line");
    diag_engine *d = diag_create(stderr, 0);
    command_line line;
    int code = EXIT_STATUS_USAGE;
    if (command_line_parse(a, d, tool->name, tool->bit, argc, argv, &line) == OK) code = run(tool, a, d, &line);
    diag_destroy(d);
    arena_destroy(a);
    return finish_output(code);
}
