/* Command lines from the rows of options.def: help, errors, parsing, and which options need or exclude which.
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

/* Whose option it is. */
enum {
    TOOL_OPT = 1,
    TOOL_RUN = 2,
    TOOL_INSPECT = 4,
    TOOL_PLUGIN = 8,
    TOOL_REDUCE = 16,
    TOOL_BUILD = 32,
    TOOLS_COMPILE = TOOL_OPT | TOOL_RUN,
    TOOLS_PIPELINE = TOOLS_COMPILE | TOOL_REDUCE | TOOL_BUILD,
    TOOLS_ALL = 63
};

typedef enum cli_argument { CLI_NONE, CLI_REQUIRED, CLI_OPTIONAL /* only as --x=v */ } cli_argument;

/* Lists of names are "a|b", without dashes. */
typedef struct cli_option {
    const char *name;   /* without the dashes */
    uint32_t tools;     /* TOOL_* */
    char short_name;    /* 0: none */
    uint8_t argument;   /* cli_argument */
    const char *value;  /* name of the argument in the help, "FILE" */
    bool is_choice;     /* `value` lists all that may be given */
    const char *absent; /* what stands for it when it is not given; or NULL */
    const char *group;  /* heading in --help; rows of one group are together */
    const char *doc;    /* one line */
    bool repeats;       /* may be given more than once */
    const char *needs;  /* has no effect without one of these options; or NULL */
    const char *excludes;
    bool is_output;    /* names a file or folder that is written, as such or as NAME=FILE: no two may be one place */
    bool is_once;      /* of no use in a reproducer, which writes no outputs either */
    bool is_composing; /* says what the effective pipeline is */
    bool is_of_first;  /* changes the first of two pipelines that --compare compares, and is in its name */
} cli_option;

enum {
#define OPTION(ID, name, ...) OPTION_##ID,
#include "tools/session/options.def"
#undef OPTION
    OPTION_COUNT
};
/* The rows of options.def, OPTION_COUNT of them. */
extern const cli_option cli_options[];

typedef struct cli_use {
    uint32_t option;   /* OPTION_* */
    const char *value; /* NULL: given without argument */
    bool is_short;     /* given as -x */
} cli_use;

typedef struct command_line {
    const char *tool;
    uint32_t tool_bit; /* TOOL_* */
    cli_use *uses;
    uint32_t use_count;
    const char **arguments; /* what is not an option */
    uint32_t argument_count;
} command_line;

/* Parses argv[1..]. Errors name the tool and the nearest option. argv must outlive the result. */
MUST_CHECK status command_line_parse(arena *a, diag_engine *d, const char *tool, uint32_t tool_bit, int argc,
                                     char **argv, command_line *out);
/* Each option has one of those that it needs, and none that it excludes. */
MUST_CHECK status command_line_check(diag_engine *d, const command_line *c);
bool command_line_has(const command_line *c, uint32_t option);
/* All values given, in their order; NULL-ended, in the arena. */
const char *const *command_line_values(arena *a, const command_line *c, uint32_t option);
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

/* Prints the help that was asked for; false when none was. */
bool command_line_answer_help(const command_line *c, const char *usage, const char *summary);

#endif
