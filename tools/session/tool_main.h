/* The main function of every tool. */
#ifndef TOOLS_SESSION_TOOL_MAIN_H
#define TOOLS_SESSION_TOOL_MAIN_H

#include "tools/session/session.h"

typedef struct cli_tool {
    const char *name, *usage, *summary;
    uint32_t bit;                                                   /* TOOL_*: which rows of options.def it has */
    void (*complete)(arena *a, command_line *line);                 /* adds what the line leaves to the tool; or NULL */
    int (*run)(arena *a, diag_engine *d, const command_line *line); /* NULL: `supervised` is what it does */
    session_run supervised;                                         /* under the supervisor, with a session */
} cli_tool;

/* Parses the line, answers --help, --version and --print-schema, checks which options need or exclude which, runs the
 * tool and returns its exit status. */
int tool_main(const cli_tool *tool, int argc, char **argv);

#endif
