/* Command lines from a table: one row for each option; help, errors and parsing come from the rows.
 *
 * `--x v` and `--x=v` both work, `-o v` and `-ov` too; `--` ends options; a lone `-` is an ordinary argument. Names are
 * never abbreviated, so adding an option cannot break a script. */
#ifndef TOOLS_SESSION_COMMAND_LINE_H
#define TOOLS_SESSION_COMMAND_LINE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum cli_argument { CLI_NONE, CLI_REQUIRED, CLI_OPTIONAL /* only as --x=v */ } cli_argument;

typedef struct cli_option {
    const char *name;  /* without the dashes */
    char short_name;   /* 0: none */
    uint8_t argument;  /* cli_argument */
    const char *value; /* name of the argument in the help, "FILE" */
    const char *group; /* heading in --help; rows of one group stand together */
    const char *doc;   /* one line */
    bool repeats;      /* may be given more than once */
} cli_option;

typedef struct cli_use {
    uint32_t option;   /* row */
    const char *value; /* NULL: given without argument */
    bool is_short;     /* given as -x */
} cli_use;

typedef struct command_line {
    const char *tool;
    const cli_option *options;
    uint32_t option_count;
    cli_use *uses;
    uint32_t use_count;
    const char **arguments; /* what is not an option */
    uint32_t argument_count;
} command_line;

/* Parses argv[1..]. Errors name the tool and the nearest option. argv must outlive the result. */
MUST_CHECK status command_line_parse(arena *a, diag_engine *d, const char *tool, const cli_option *options,
                                     uint32_t option_count, int argc, char **argv, command_line *out);
bool command_line_has(const command_line *c, uint32_t option);
/* The last value given; NULL when absent or without argument. */
const char *command_line_value(const command_line *c, uint32_t option);
/* A decimal number in [lo, hi] with a diagnostic otherwise; `absent` when the option was not given. */
MUST_CHECK status command_line_i64(diag_engine *d, const command_line *c, uint32_t option, int64_t lo, int64_t hi,
                                   int64_t absent, int64_t *out);
/* A limit of real time, more than 0; `*seconds` stays as it is when the option is not given. */
MUST_CHECK status command_line_seconds(diag_engine *d, const command_line *c, uint32_t option, double *seconds);

/* A word quoted for a shell, when it must be. */
void command_line_put_word(text_buffer *out, const char *word);
/* The line as it can be typed again: the tool, options in their order, then arguments; quoted for a shell. */
void command_line_write(const command_line *c, text_buffer *out);

/* The one that was asked for with option `help`; false when none was. */
bool command_line_answer_help(const command_line *c, uint32_t help, const char *usage, const char *summary);

#endif
