#include "tools/session/reproducer.h"

#include "core/core_diag.h"
#include "core/program_path.h"
#include "tools/base/file.h"
#include "tools/library/library.h"
#include "tools/session/pipeline_write.h"
#include "tools/session/session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES_MAX = INT32_MAX };

typedef struct writer {
    arena *arena;
    diag_engine *diags;
    const command_line *line;
    const char *folder;
    bool has_module, has_pipeline, has_machine;
} writer;

static status make_folder(writer *w, const char *folder)
{
    const char *top = getenv("TMPDIR");
    char *path = (char *)(uintptr_t)(folder != NULL ? arena_strdup(w->arena, folder)
                                                    : file_join(w->arena, top != NULL && *top ? top : "/tmp",
                                                                "pto-reproducer-XXXXXX"));
    const bool is_made = folder != NULL ? mkdir(path, 0777) == 0 : mkdtemp(path) != NULL;
    if (!is_made) {
        diag_error(w->diags, (src_pos){path, 0, 0}, &E1501, "cannot create the folder: %s", strerror(errno));
        return FAILED;
    }
    char absolute[PATH_MAX];
    w->folder = arena_strdup(w->arena, realpath(path, absolute) != NULL ? absolute : path);
    return OK;
}

static status write_file(writer *w, const char *name, str text, bool is_script)
{
    file_writer f;
    const char *path = file_join(w->arena, w->folder, name);
    TRY(file_writer_open(&f, w->diags, path));
    file_writer_put(&f, text.p, text.n);
    TRY(file_writer_commit(&f));
    if (!is_script || chmod(path, 0755) == 0) return OK;
    diag_error(w->diags, (src_pos){path, 0, 0}, &E1501, "cannot make it a program: %s", strerror(errno));
    return FAILED;
}

static status copy_file(writer *w, const char *from, const char *name)
{
    str text;
    TRY(file_read(w->arena, w->diags, from, COPY_BYTES_MAX, &text));
    return write_file(w, name, text, false);
}

/* The file that the line names, if it names one; of `--case` alone the script names the case. */
static status copy_module(writer *w, int module_fd)
{
    if (w->line->argument_count == 0) return OK;
    const char *from = w->line->arguments[0];
    char standard_input[64];
    if (strcmp(from, "-") == 0) {
        snprintf(standard_input, sizeof standard_input, "/proc/self/fd/%d", module_fd >= 0 ? module_fd : STDIN_FILENO);
        from = standard_input;
    }
    TRY(copy_file(w, from, "module.ptir"));
    w->has_module = true;
    return OK;
}

/* What composing, overriding and parameters came to. A pipeline that cannot be read stays what the line says. */
static status write_effective_pipeline(writer *w)
{
    const pipeline *p = NULL;
    struct stat st;
    const char *file = command_line_value(w->line, OPTION_PIPELINE);
    /* What the worker read of a pipe is gone. */
    if (file != NULL && stat(file, &st) == 0 && !S_ISREG(st.st_mode)) return OK;
    diag_engine *nobody = diag_create(NULL, 0);
    const status read = session_read_pipeline(w->arena, nobody, w->line, session_search_folders(w->arena), &p);
    diag_destroy(nobody);
    if (read != OK || p == NULL) return OK;
    if (p->machine != NULL) {
        TRY(copy_file(w, p->machine, "machine.yaml"));
        w->has_machine = true;
    }
    pipeline effective = *p;
    effective.machine = NULL; /* the script names the copy */
    text_buffer t;
    text_init(&t);
    pipeline_write(&t, &effective, NULL, NULL);
    const status s = write_file(w, "pipeline.yaml", (str){t.p, t.n}, false);
    text_fini(&t);
    w->has_pipeline = s == OK;
    return s;
}

/* Outputs are not needed again, and what the effective pipeline says need not be said again. */
static bool is_left_out(const writer *w, const cli_option *o)
{
    return o->is_output || o->is_once || (w->has_pipeline && o->is_composing);
}

static void put_environment(text_buffer *t)
{
    static const char *const names[] = {"PTO_PLUGIN_PATH", "PTO_PIPELINE_PATH", "XDG_DATA_HOME"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        if (text == NULL) continue;
        text_printf(t, "export %s=", names[i]);
        command_line_put_word(t, text);
        text_putc(t, '\n');
    }
}

static void put_command(const writer *w, text_buffer *t)
{
    const char *program = program_path(w->arena);
    text_puts(t, "exec ");
    command_line_put_word(t, program != NULL ? program : w->line->tool);
    for (uint32_t i = 0; i < w->line->use_count; i++) {
        const cli_use *use = &w->line->uses[i];
        const cli_option *o = &cli_options[use->option];
        if (is_left_out(w, o)) continue;
        text_printf(t, " --%s", o->name);
        if (use->value == NULL) continue;
        text_putc(t, '=');
        command_line_put_word(t, use->value);
    }
    if (w->has_pipeline) text_puts(t, " --pipeline=\"$here/pipeline.yaml\"");
    if (w->has_machine) text_puts(t, " --machine=\"$here/machine.yaml\"");
    for (uint32_t i = 0; i < w->line->argument_count; i++) {
        text_putc(t, ' ');
        if (i == 0 && w->has_module)
            text_puts(t, "\"$here/module.ptir\"");
        else
            command_line_put_word(t, w->line->arguments[i]);
    }
    text_putc(t, '\n');
}

/* Relative paths of the line count from the folder that it was given in. */
static status write_script(writer *w)
{
    text_buffer t;
    text_init(&t);
    char folder[PATH_MAX];
    text_printf(&t, "#!/bin/sh\n# Shows a crash of %s %s again.\n", w->line->tool, library_version());
    text_puts(&t, "here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 2\n");
    if (getcwd(folder, sizeof folder) != NULL) {
        text_puts(&t, "cd ");
        command_line_put_word(&t, folder);
        text_puts(&t, " || exit 2\n");
    }
    put_environment(&t);
    put_command(w, &t);
    const status s = write_file(w, "reproduce", (str){t.p, t.n}, true);
    text_fini(&t);
    return s;
}

const char *reproducer_write(arena *a, diag_engine *d, const command_line *line, const char *folder, int module_fd)
{
    writer w = {.arena = a, .diags = d, .line = line};
    if (make_folder(&w, folder) != OK) return NULL;
    if (copy_module(&w, module_fd) == OK && write_effective_pipeline(&w) == OK && write_script(&w) == OK)
        return file_join(a, w.folder, "reproduce");
    file_remove_tree(w.folder);
    return NULL;
}
