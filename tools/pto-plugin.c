/* pto-plugin new pass|tiling|cost|backend|opset ID DIR: copies a template that builds against the installed SDK.
 * pto-plugin lint FILE.so...: whether built plugins keep the rules.
 * pto-plugin cache [DIR]: what pto.native compiled and keeps. */
#include "core/core_diag.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/inspect/kernel_cache.h"
#include "tools/inspect/plugin_lint.h"
#include "tools/session/plugin_trial.h"
#include "tools/session/tool_main.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { TEMPLATE_BYTES_MAX = 1 << 20, ID_BYTES_MAX = 100 };

/* What there are templates of. */
#define COMMA ,
#define KINDS(between) "pass" between "tiling" between "cost" between "backend" between "opset"

static const char usage[] = "pto-plugin new " KINDS("|") " ID DIR   or   pto-plugin lint FILE.so...   or "
                                                         "  pto-plugin cache [DIR] [--clear]";
static const char summary[] =
    "new: starts a plugin out of tree: copies a template to DIR with the id ID, such as org.acme.copies.\n"
    "lint: whether a built plugin keeps the rules: exports, libraries, static data, note, documentation.\n"
    "cache: what pto.native compiled for this user and keeps in $XDG_CACHE_HOME/pto/native-1 or ~/.cache, or in DIR.";
static const char *const kinds[] = {KINDS(COMMA), NULL};

static src_pos tool(void) { return (src_pos){"pto-plugin", 0, 0}; }

/* Reverse DNS: words of letters, digits and dashes, joined by dots, at least one dot; `pto.` is ours. */
static status check_id(diag_engine *d, const char *id)
{
    size_t word = 0, dots = 0;
    bool legal = strlen(id) <= ID_BYTES_MAX && strncmp(id, "pto.", 4) != 0;
    for (const char *p = id; *p; p++) {
        const bool letter = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9' && word > 0) || (*p == '-' && word > 0);
        legal &= letter || (*p == '.' && word > 0);
        word = *p == '.' ? 0 : word + 1;
        dots += *p == '.';
    }
    if (legal && dots > 0 && word > 0) return OK;
    diag_error(d, tool(), &E1503, "`%s` is not a plugin id", id);
    diag_note(d, NO_POS,
              "an id is at most %d lower-case letters, digits and dashes in words joined by dots, such as "
              "org.acme.copies; `pto.` is taken",
              ID_BYTES_MAX);
    return FAILED;
}

/* `text` with the id of the template replaced by `id`, and what its other ids begin with, `org.example`, by what `id`
 * begins with up to its last dot. */
static void put_replaced(file_writer *w, str text, const char *template_id, const char *id)
{
    static const char example[] = "org.example";
    const size_t whole = strlen(template_id);
    const char *p = text.p, *end = text.p + text.n, *dot = strrchr(id, '.');
    for (const char *hit; (hit = memmem(p, (size_t)(end - p), example, sizeof example - 1)) != NULL;) {
        const bool is_whole = (size_t)(end - hit) >= whole && memcmp(hit, template_id, whole) == 0;
        file_writer_put(w, p, (uint64_t)(hit - p));
        file_writer_put(w, id, is_whole || dot == NULL ? strlen(id) : (size_t)(dot - id));
        p = hit + (is_whole ? whole : sizeof example - 1);
    }
    file_writer_put(w, p, (uint64_t)(end - p));
}

static status copy_file(arena *a, diag_engine *d, const char *from, const char *to, const char *template_id,
                        const char *id)
{
    str text;
    TRY(file_read(a, d, from, TEMPLATE_BYTES_MAX, &text));
    file_writer w;
    TRY(file_writer_open(&w, d, to));
    put_replaced(&w, text, template_id, id);
    return file_writer_commit(&w);
}

static status copy_template(arena *a, diag_engine *d, const char *kind, const char *id, const char *folder)
{
    char template_id[64];
    snprintf(template_id, sizeof template_id, "org.example.%s", kind);
    const char *source = file_join(a, file_join(a, session_share_folder(a), "template"), kind);
    DIR *dir = opendir(source);
    if (dir == NULL) {
        diag_error(d, (src_pos){source, 0, 0}, &E1501, "cannot open the folder of the template: %s", strerror(errno));
        return FAILED;
    }
    status s = OK;
    if (mkdir(folder, 0777) != 0) {
        diag_error(d, (src_pos){folder, 0, 0}, &E1501, "cannot create the folder: %s", strerror(errno));
        s = FAILED;
    }
    for (struct dirent *e; s == OK && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] != '.')
            s = copy_file(a, d, file_join(a, source, e->d_name), file_join(a, folder, e->d_name), template_id, id);
    }
    closedir(dir);
    return s;
}

/* Status 1 when there are findings, 3 when one is not a plugin that this host takes. */
static int lint(void *self, flight_recorder *recorder)
{
    const plugin_trial *trial = self;
    const command_line *line = trial->line;
    arena *a = arena_create("lint");
    diag_engine *d = diag_create(stderr, 0);
    int code = EXIT_STATUS_OK;
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 1; i < line->argument_count; i++) {
        uint32_t count = 0;
        const status s = plugin_lint(a, d, recorder, trial->refused, line->arguments[i], &t, &count);
        if (s == OK && count == 0) text_printf(&t, "%s: ok\n", line->arguments[i]);
        if (s == OK && count > 0 && code == EXIT_STATUS_OK) code = EXIT_STATUS_NO;
        if (s != OK) code = EXIT_STATUS_PLUGIN;
    }
    if (t.n > 0) fwrite(t.p, 1, t.n, stdout);
    text_fini(&t);
    diag_destroy(d);
    arena_destroy(a);
    return code;
}

static int run(arena *a, diag_engine *d, const command_line *line)
{
    const bool is_cache =
        line->argument_count >= 1 && line->argument_count <= 2 && strcmp(line->arguments[0], "cache") == 0;
    if (command_line_has(line, OPTION_CLEAR) && !is_cache) {
        diag_error(d, tool(), &E1504, "option `--clear` is for `pto-plugin cache [DIR]`");
        return EXIT_STATUS_USAGE;
    }
    if (line->argument_count >= 2 && strcmp(line->arguments[0], "lint") == 0) return plugin_trial_run(a, d, line, lint);
    if (is_cache)
        return kernel_cache_run(a, d, line->argument_count == 2 ? line->arguments[1] : NULL,
                                command_line_has(line, OPTION_CLEAR));
    if (line->argument_count != 4 || strcmp(line->arguments[0], "new") != 0) {
        diag_error(d, tool(), &E1504, "usage: %s", usage);
        return EXIT_STATUS_USAGE;
    }
    const char *kind = line->arguments[1], *id = line->arguments[2], *folder = line->arguments[3];
    bool known = false;
    for (int i = 0; kinds[i] != NULL; i++) known |= strcmp(kinds[i], kind) == 0;
    if (!known) {
        diag_error(d, tool(), &E1503, "there is no template `%s`; there are: %s", kind, KINDS(", "));
        return EXIT_STATUS_USAGE;
    }
    if (check_id(d, id) != OK) return EXIT_STATUS_USAGE;
    if (copy_template(a, d, kind, id, folder) != OK) return EXIT_STATUS_OUTPUT;
    printf("%s/plugin.c is %s; %s/README.md says how to build and run it\n", folder, id, folder);
    return EXIT_STATUS_OK;
}

int main(int argc, char **argv)
{
    static const cli_tool self = {"pto-plugin", usage, summary, TOOL_PLUGIN, NULL, run, NULL};
    return tool_main(&self, argc, argv);
}
