/* pto-inspect host: the functions that plugins can call, from the rows of <pto/host.def>. */
#include "tools/base/tool_diag.h"
#include "tools/inspect/inspect.h"

#include <pto/abi.h>

#include <string.h>

/* A topic has no name. */
typedef struct host_row {
    const char *table, *name, *returns, *parameters, *doc;
} host_row;

static const host_row rows[] = {
#define HOST_TOPIC(title, sentence) {.table = title},
#define HOST(returns, name, parameters, arguments, doc) {"base", #name, #returns, #parameters, doc},
#define HOST_TILING(returns, name, parameters, arguments, doc) {PTO_TILING_HOST, #name, #returns, #parameters, doc},
#define HOST_SCHEDULE(returns, name, parameters, arguments, doc) {PTO_SCHEDULE_HOST, #name, #returns, #parameters, doc},
#include <pto/host.def>
};

/* What follows a tag in brackets; `out` is whether it is there. */
static const char *without_tag(const char *doc, const char *tag, bool *out)
{
    const size_t n = strlen(tag);
    *out = strncmp(doc, tag, n) == 0;
    return *out ? doc + n : doc;
}

static void show_row(inspector *x, const host_row *r, const char *topic)
{
    bool is_for_passes, is_kept;
    const char *doc = without_tag(r->doc, "[pass] ", &is_for_passes);
    doc = without_tag(doc, "[session] ", &is_kept);
    text_buffer title;
    text_init(&title);
    text_printf(&title, "pto_%s", r->name);
    inspect_entry(x, title.p, doc);
    inspect_rowf(x, "call", "%s pto_%s%s", r->returns, r->name, r->parameters);
    inspect_row(x, "topic", topic);
    inspect_row(x, "table", r->table);
    inspect_row(x, "callers", is_for_passes ? "passes only" : NULL);
    inspect_row(x, "valid", is_kept ? "until the tool ends" : NULL);
    inspect_entry_end(x);
    text_fini(&title);
}

status inspect_host(inspector *x, const char *name)
{
    const char *topic = NULL, *wanted = name != NULL && strncmp(name, "pto_", 4) == 0 ? name + 4 : name;
    bool is_found = false;
    inspect_begin(x);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].name == NULL) topic = rows[i].table;
        if (rows[i].name == NULL || (wanted != NULL && strcmp(wanted, rows[i].name) != 0)) continue;
        is_found = true;
        show_row(x, &rows[i], topic);
    }
    inspect_end(x);
    if (is_found) return OK;
    diag_error(x->diags, (src_pos){"pto-inspect", 0, 0}, &E1504, "there is no host function `%s`", name);
    return FAILED;
}
