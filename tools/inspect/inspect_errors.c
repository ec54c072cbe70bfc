/* pto-inspect errors: the codes of the tables; one code is explained with an example.
 *
 * Explanations are sections of Markdown pages, `## CODE`: those of docs/errors/, installed with the guides, and of a
 * page beside each plugin, with the ending .md in place of .so. */
#include "core/core_diag.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/inspect/inspect.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_BYTES_MAX = 1 << 22, PAGES_MAX = 64 };

/* ---- sections ---- */

static str line_at(str text)
{
    const char *end = memchr(text.p, '\n', text.n);
    return (str){text.p, end != NULL ? (size_t)(end - text.p) : text.n};
}

static str after_line(str text, str line)
{
    const size_t used = line.n < text.n ? line.n + 1 : line.n;
    return (str){text.p + used, text.n - used};
}

/* What follows the heading of a code, to the next one; without a pointer when the page has none. */
static str find_section(str page, const char *code)
{
    str found = {NULL, 0};
    for (bool is_in_block = false; page.n > 0;) {
        const str line = line_at(page);
        const str rest = after_line(page, line);
        if (str_starts_with(line, "```")) is_in_block = !is_in_block;
        if (!is_in_block && str_starts_with(line, "## ")) {
            if (found.p != NULL) return (str){found.p, (size_t)(line.p - found.p)};
            if (str_is((str){line.p + 3, line.n - 3}, code)) found = rest;
        }
        page = rest;
    }
    return found;
}

static str trimmed(str s)
{
    while (s.n > 0 && s.p[0] == '\n') s = (str){s.p + 1, s.n - 1};
    while (s.n > 0 && s.p[s.n - 1] == '\n') s.n--;
    return s;
}

static str section_of_file(inspector *x, const char *path, const char *code)
{
    str page = {NULL, 0};
    if (access(path, R_OK) != 0 || file_read(x->arena, x->diags, path, PAGE_BYTES_MAX, &page) != OK)
        return (str){NULL, 0};
    const str found = find_section(page, code);
    return found.p != NULL ? trimmed(found) : found;
}

static str section_of_guides(inspector *x, const char *code)
{
    str found = {NULL, 0};
    const char *folder = x->share != NULL ? file_join(x->arena, x->share, "docs/errors") : NULL;
    DIR *d = folder != NULL ? opendir(folder) : NULL;
    if (d == NULL) return found;
    for (struct dirent *e; found.p == NULL && (e = readdir(d)) != NULL;) {
        const size_t n = strlen(e->d_name);
        if (n > 3 && strcmp(e->d_name + n - 3, ".md") == 0)
            found = section_of_file(x, file_join(x->arena, folder, e->d_name), code);
    }
    closedir(d);
    return found;
}

/* Of the page that is called like the plugin, with another ending. */
static str section_of_plugin(inspector *x, const plugin_file *file, const char *code)
{
    const char *path = file->path;
    const size_t n = strlen(path);
    if (n < 3 || strcmp(path + n - 3, ".so") != 0) return (str){NULL, 0};
    char *page = arena_strndup(x->arena, path, n);
    page[n - 2] = 'm';
    page[n - 1] = 'd';
    return section_of_file(x, page, code);
}

/* ---- entries ---- */

static const struct {
    const char *first, *last, *by;
} reporters[] = {
    {"E0100", "E0199", "the reader of .ptir text"},
    {"E0200", "E0499", "the verifier, of text and of what passes leave"},
    {"E1000", "E1099", "the reader of YAML files"},
    {"E1100", "E1199", "the reader of pipelines"},
    {"E1200", "E1299", "the reader of machines"},
    {"E1300", "E1399", "the plugin host"},
    {"E1400", "E1499", "the reader of tensor files"},
    {"E1500", "E1599", "the command line"},
    {"E1600", "E1699", "the call of a function by pto-run"},
    {"E1700", "E1799", "the steps of a pipeline"},
    {"E1800", "E1899", "the reader of schedules"},
    {"E1900", "E1999", "checks of what a pipeline computes"},
};

static const char *reporter_of(const char *code)
{
    for (size_t i = 0; i < sizeof reporters / sizeof reporters[0]; i++)
        if (strcmp(code, reporters[i].first) >= 0 && strcmp(code, reporters[i].last) <= 0) return reporters[i].by;
    return NULL;
}

static void show(inspector *x, const char *code, const char *sentence, const char *reporter, str section)
{
    inspect_entry(x, code, sentence);
    inspect_row(x, "reported by", reporter);
    if (section.p != NULL) {
        const char *text = arena_strndup(x->arena, section.p, section.n);
        if (x->format == INSPECT_JSON)
            inspect_row(x, "explanation", text);
        else
            text_printf(&x->out, "\n%s\n", text);
    }
    inspect_entry_end(x);
}

static status fail_unknown(inspector *x, const char *code)
{
    diag_error(x->diags, (src_pos){"pto-inspect", 0, 0}, &E1504, "there is no diagnostic `%s`", code);
    return FAILED;
}

/* "pto.inline/fact": the id of a plugin, or of what one provides, and a word of its own. */
static status show_of_plugin(inspector *x, const char *code)
{
    const str id = {code, (size_t)(strchr(code, '/') - code)};
    bool is_known = false;
    str section = section_of_guides(x, code);
    for (uint32_t i = 0; i < plugin_host_file_count(x->host); i++) {
        const plugin_file *file = plugin_host_file_at(x->host, i);
        if (section.p == NULL) section = section_of_plugin(x, file, code);
        is_known = is_known || str_is(id, file->note.id);
    }
    for (plugin_kind kind = PLUGIN_PASS; kind < PLUGIN_OP; kind++)
        is_known = is_known || plugin_host_has(x->host, kind, id);
    if (section.p == NULL && !is_known) return fail_unknown(x, code);
    text_buffer t;
    text_init(&t);
    text_printf(&t, "`%.*s`", (int)id.n, id.p);
    show(x, code, section.p != NULL ? NULL : "is not explained: a page beside the plugin may do so", t.p, section);
    text_fini(&t);
    return OK;
}

/* The next row of all tables in the order of the codes; NULL at the end. `at`: where each table goes on. */
static const diag_code_info *next_code(uint32_t at[3])
{
    static const diag_code_info *(*const tables[])(uint32_t index) = {diag_code_at, core_diag_code_at,
                                                                      tool_diag_code_at};
    const diag_code_info *least = NULL;
    uint32_t from = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const diag_code_info *info = tables[i](at[i]);
        if (info == NULL || (least != NULL && strcmp(info->code, least->code) > 0)) continue;
        least = info;
        from = i;
    }
    at[from]++;
    return least;
}

status inspect_errors(inspector *x, const char *name)
{
    uint32_t at[3] = {0};
    bool found = false;
    inspect_begin(x);
    if (name != NULL && strchr(name, '/') != NULL) {
        TRY(show_of_plugin(x, name));
        found = true;
    }
    for (const diag_code_info *info; !found && (info = next_code(at)) != NULL;) {
        if (name == NULL) {
            inspect_entry(x, info->code, info->summary);
            inspect_entry_end(x);
        } else if (strcmp(name, info->code) == 0) {
            show(x, name, info->summary, reporter_of(name), section_of_guides(x, name));
            found = true;
        }
    }
    inspect_end(x);
    return found || name == NULL ? OK : fail_unknown(x, name);
}
