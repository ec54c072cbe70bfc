/* What a run writes, by the options that name it: no two of them may be one file. */
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/session/session.h"

#include <string.h>

typedef struct output {
    uint32_t option;
    const char *path; /* of a file or folder, or "-" */
} output;

/* "-" is standard output, and for --remarks standard error. */
static bool is_same(const output *x, const output *y)
{
    const bool is_standard = strcmp(x->path, "-") == 0;
    if (is_standard != (strcmp(y->path, "-") == 0)) return false;
    if (!is_standard) return file_is_same(x->path, y->path);
    return (x->option == OPTION_REMARKS) == (y->option == OPTION_REMARKS);
}

static status check_pair(const session *s, const output *x, const output *y)
{
    if (!is_same(x, y)) return OK;
    const char *tool = s->line->tool, *a = cli_options[x->option].name, *b = cli_options[y->option].name;
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

/* The path of a use: all of its value, or what follows NAME= where the row asks for that. */
static const char *path_of(const cli_option *o, const char *given)
{
    const char *equals = strncmp(o->value, "NAME=", 5) == 0 ? strchr(given, '=') : NULL;
    return equals != NULL ? equals + 1 : given;
}

status session_check_outputs(const session *s)
{
    const command_line *line = s->line;
    output *all = arena_array(s->arena, line->use_count + (size_t)OPTION_COUNT, sizeof *all);
    uint32_t n = 0;
    for (uint32_t i = 0; i < OPTION_COUNT; i++) {
        const cli_option *o = &cli_options[i];
        if (!o->is_output || !(o->tools & line->tool_bit)) continue;
        for (uint32_t k = 0; k < line->use_count; k++)
            if (line->uses[k].option == i) all[n++] = (output){i, path_of(o, line->uses[k].value)};
        if (o->absent != NULL && !command_line_has(line, i)) all[n++] = (output){i, o->absent};
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) TRY(check_pair(s, &all[i], &all[k]));
    return OK;
}
