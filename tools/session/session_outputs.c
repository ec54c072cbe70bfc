/* What a run writes, by the options that name it: no two of them may be one file. */
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/run/tensor_file.h"
#include "tools/session/session.h"

#include <string.h>

typedef struct output {
    uint32_t option;
    const char *path; /* of a file or folder, or "-" */
    str entry;        /* of a tensor in an archive, which others may be in too; else empty */
} output;

/* "-" is standard output, and for --remarks standard error. */
static bool is_same(const output *x, const output *y)
{
    const bool is_standard = strcmp(x->path, "-") == 0;
    if (is_standard != (strcmp(y->path, "-") == 0)) return false;
    if (!is_standard) return file_is_same(x->path, y->path);
    return (x->option == OPTION_REMARKS) == (y->option == OPTION_REMARKS);
}

/* Tensors of two names in one archive. */
static bool is_shared(const output *x, const output *y)
{
    return x->entry.n > 0 && y->entry.n > 0 && strcmp(x->path, y->path) == 0 && !str_eq(x->entry, y->entry);
}

static status check_pair(const session *s, const output *x, const output *y)
{
    if (!is_same(x, y) || is_shared(x, y)) return OK;
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

/* The path of a use: all of its value, or what follows NAME= where the row asks for that, which may be in an archive.
 */
static output output_of(const session *s, uint32_t option, const char *given)
{
    const char *equals = strncmp(cli_options[option].value, "NAME=", 5) == 0 ? strchr(given, '=') : NULL;
    if (equals == NULL) return (output){.option = option, .path = given};
    size_t path_bytes;
    const char *entry;
    const tensor_file_kind kind = tensor_split(equals + 1, &path_bytes, &entry);
    return (output){.option = option,
                    .path = tensor_path(s->arena, equals + 1),
                    .entry = kind == TENSOR_NPY ? STR("")
                             : entry != NULL    ? str_from(entry)
                                                : (str){given, (size_t)(equals - given)}};
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
            if (line->uses[k].option == i) all[n++] = output_of(s, i, line->uses[k].value);
        if (o->absent != NULL && !command_line_has(line, i)) all[n++] = (output){.option = i, .path = o->absent};
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) TRY(check_pair(s, &all[i], &all[k]));
    return OK;
}
