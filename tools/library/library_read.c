/* Files in other languages: which reader reads one, and a module of it. */
#include "ir/text/source_text.h"
#include "tools/base/tool_diag.h"
#include "tools/library/library.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES_MAX = 1 << 28 };

static bool ends_in(const char *path, const char *suffix)
{
    const size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcmp(path + n - m, suffix) == 0;
}

/* The first reader that reads such files, by its id. NULL: none. */
static const char *reader_of_suffix(plugin_host *h, const char *path)
{
    const char *const *ids = plugin_host_ids(h, PLUGIN_READER);
    for (uint32_t i = 0; ids[i] != NULL; i++) {
        const pto_reader *r = plugin_host_reader(h, NO_POS, str_from(ids[i]), NULL);
        for (const char *const *suffix = r != NULL ? r->suffixes : NULL; suffix != NULL && *suffix != NULL; suffix++)
            if (ends_in(path, *suffix)) return ids[i];
    }
    return NULL;
}

/* `pto.read-x`, or `{ use: pto.read-x, with: { option: value } }`. */
static status parse_name(arena *a, diag_engine *d, const char *named, str *id, const yaml_node **with)
{
    yaml_node *root = NULL;
    *id = str_from(named);
    if (named[0] != '{') return OK;
    TRY(yaml_read_text(a, d, (src_pos){"--reader", 1, 1}, str_from(named), &root));
    const yaml_node *use = yaml_find(root, "use");
    *with = yaml_find(root, "with");
    if (use != NULL && use->kind == YAML_SCALAR && root->count == (*with != NULL ? 2u : 1u)) {
        *id = use->text;
        return OK;
    }
    diag_error(d, root->at, &E1503, "a reader is an id, or `{ use: ID, with: { OPTION: VALUE } }`");
    return FAILED;
}

exit_status library_find_reader(arena *a, diag_engine *d, plugin_host *h, const char *path, const char *named,
                                const run_agent **out)
{
    const plugin_file *file = NULL;
    const yaml_node *with = NULL;
    str id;
    *out = NULL;
    if (named == NULL && (strcmp(path, "-") == 0 || ends_in(path, ".ptir") || strrchr(path, '.') == NULL))
        return EXIT_STATUS_OK;
    if (named == NULL) named = reader_of_suffix(h, path);
    if (named == NULL) return EXIT_STATUS_OK;
    TRY_AS(EXIT_STATUS_USAGE, parse_name(a, d, named, &id, &with));
    const src_pos at = {"<command line>", 1, 1};
    const pto_reader *r = plugin_host_reader(h, at, id, &file);
    if (r == NULL) return EXIT_STATUS_PLUGIN;
    run_agent *agent = arena_alloc(a, sizeof *agent);
    *agent = (run_agent){
        .plugin = file->plugin->id, .role = "reader", .id = r->id, .at = at, .options = r->options, .reader = r};
    value *values = NULL;
    text_buffer owner;
    text_init(&owner);
    text_printf(&owner, "reader `%s`", r->id);
    const status typed = options_read(a, d, text_keep(&owner, a), r->options, with, at, &values);
    text_fini(&owner);
    agent->values = values;
    *out = agent;
    return typed == OK ? EXIT_STATUS_OK : EXIT_STATUS_USAGE;
}

static status fail_unreadable(diag_engine *d, const char *file, const char *cause)
{
    diag_error(d, (src_pos){.file = file}, &E0115, "cannot be read: %s", cause);
    return FAILED;
}

static status read_file(diag_engine *d, const char *path, source_text *out)
{
    struct stat info;
    const bool is_stdin = strcmp(path, "-") == 0;
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_unreadable(d, path, strerrordesc_np(errno));
    const char *cause = NULL;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) cause = "it is a directory";
    if (cause == NULL && source_text_read(out, fd, 1 << 16, TEXT_BYTES_MAX) != OK) cause = strerrordesc_np(errno);
    if (cause == NULL && out->n > TEXT_BYTES_MAX) cause = "it is larger than 256 MB";
    if (cause == NULL && memchr(out->bytes, 0, out->n) != NULL) cause = "it has a byte 0";
    if (!is_stdin) close(fd);
    return cause != NULL ? fail_unreadable(d, path, cause) : OK;
}

static status run_reader(ir_context *c, const run_session_params *params, const run_agent *reader, const char *file,
                         str text, module **out)
{
    arena *kept = arena_create("reader");
    run_session *runs = run_session_create(kept, params);
    const str_id name = string_intern_z(c, file);
    loc_set_main_file(c, name);
    module *m = module_create(c, 0);
    module_set_file(m, name);
    diag_add_source(params->diags, file, text);
    const bool is_whole = run_read(runs, reader, m, text);
    diag_add_source(params->diags, file, (str){NULL, 0});
    run_session_destroy(runs);
    arena_destroy(kept);
    if (is_whole) {
        module_settle(m);
        *out = m;
        return OK;
    }
    module_destroy(m);
    return FAILED;
}

status library_read(ir_context *c, const run_session_params *params, const run_agent *reader, const char *path,
                    const str *text, module **out)
{
    if (text != NULL) return run_reader(c, params, reader, path, *text, out);
    source_text read = {0};
    status s = read_file(params->diags, path, &read);
    if (s == OK)
        s = run_reader(c, params, reader, strcmp(path, "-") == 0 ? "<stdin>" : path, (str){read.bytes, read.n}, out);
    source_text_close(&read);
    return s;
}
