#include "tools/library/library_impl.h"

#include "tools/base/file.h"
#include "tools/base/tool_diag.h"

#include <string.h>

/* ---- around each function ---- */

library_scope library_enter(pto_context *c)
{
    library_scope s = {.locale = (locale_t)0};
    if (c == NULL) return s;
    if (diag_record_count(c->diags) > 0) {
        diag_forget(c->diags);
        arena_reset(c->report);
    }
    s.locale = uselocale(c->locale);
    s.floats = native_floats_begin();
    return s;
}

pto_result library_leave(pto_context *c, const library_scope *scope, exit_status code)
{
    if (c == NULL) return (pto_result)code;
    native_floats_end(scope->floats);
    uselocale(scope->locale);
    return (pto_result)code;
}

bool library_needs(pto_context *c, const void *argument, const char *function, const char *what)
{
    if (c == NULL) return false;
    if (c->host == NULL)
        diag_error(c->diags, NO_POS, &E1611, "%s was called with a context that could not be made", function);
    else if (argument == NULL)
        diag_error(c->diags, NO_POS, &E1611, "%s needs %s, which is NULL", function, what);
    return c->host != NULL && argument != NULL;
}

/* ---- contexts ---- */

static const char *const *copy_texts(arena *a, const char *const *list)
{
    uint32_t n = 0;
    while (list != NULL && list[n] != NULL) n++;
    const char **copy = arena_array(a, n + 1u, sizeof *copy);
    for (uint32_t i = 0; i < n; i++) copy[i] = arena_strdup(a, list[i]);
    return copy;
}

/* Folders that are given, then those that the tools look in. */
static const char *const *search_folders(arena *a, const char *const *given, const char *prefix)
{
    const char *const *rest =
        pipeline_search_folders(a, prefix != NULL ? file_join(a, prefix, "share/pto/pipelines") : NULL);
    uint32_t given_count = 0, rest_count = 0;
    while (given[given_count] != NULL) given_count++;
    while (rest[rest_count] != NULL) rest_count++;
    const char **all = arena_array(a, given_count + rest_count + 1u, sizeof *all);
    for (uint32_t i = 0; i < given_count; i++) all[i] = given[i];
    for (uint32_t i = 0; i < rest_count; i++) all[given_count + i] = rest[i];
    return all;
}

pto_result pto_context_create(const pto_context_params *params, pto_context **out)
{
    if (out == NULL) return PTO_RESULT_USAGE;
    arena *a = arena_create("context");
    pto_context *c = arena_alloc(a, sizeof *c);
    pto_context_params p = {.struct_size = sizeof p};
    if (params != NULL) memcpy(&p, params, params->struct_size < sizeof p ? params->struct_size : sizeof p);
    *c = (pto_context){.arena = a,
                       .report = arena_create("diagnostics of a context"),
                       .diags = diag_create(NULL, 0),
                       .recorder = arena_alloc(a, sizeof *c->recorder),
                       .locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    c->recorder->module_fd = -1;
    *out = c;
    const library_scope scope = library_enter(c);
    const char *prefix = p.prefix != NULL ? arena_strdup(a, p.prefix) : library_prefix(a);
    c->search = search_folders(a, copy_texts(a, p.pipeline_folders), prefix);
    plugin_host_params host = plugin_host_defaults();
    host.prefix = prefix;
    host.files = copy_texts(a, p.plugins);
    host.folders = copy_texts(a, p.plugin_folders);
    const status made = plugin_host_create(a, c->diags, &host, &c->host);
    if (made != OK) c->host = NULL;
    return library_leave(c, &scope, made == OK ? EXIT_STATUS_OK : EXIT_STATUS_PLUGIN);
}

void pto_context_destroy(pto_context *c)
{
    if (c == NULL) return;
    while (c->programs != NULL) pto_program_destroy(c->programs);
    plugin_host_close(c->host);
    diag_destroy(c->diags);
    if (c->locale != (locale_t)0) freelocale(c->locale);
    arena_destroy(c->report);
    arena_destroy(c->arena);
}

const char *pto_version(void) { return library_version(); }

/* ---- diagnostics ---- */

uint32_t pto_diagnostic_count(const pto_context *c) { return c != NULL ? diag_record_count(c->diags) : 0; }

static pto_severity severity_of(diag_severity s)
{
    switch (s) {
    case DIAG_NOTE: return PTO_SEVERITY_NOTE;
    case DIAG_WARNING: return PTO_SEVERITY_WARNING;
    case DIAG_REMARK: return PTO_SEVERITY_REMARK;
    case DIAG_ERROR: break;
    }
    return PTO_SEVERITY_ERROR;
}

const pto_diagnostic *pto_diagnostic_at(pto_context *c, uint32_t index)
{
    const diag_record *r = c != NULL ? diag_record_at(c->diags, index) : NULL;
    if (r == NULL) return NULL;
    pto_diagnostic *d = arena_alloc(c->report, sizeof *d);
    *d = (pto_diagnostic){.struct_size = sizeof *d,
                          .severity = severity_of(r->severity),
                          .file = r->at.file,
                          .line = r->at.line,
                          .column = r->at.column,
                          .code = r->code,
                          .text = r->text,
                          .path = r->path};
    return d;
}

const char *pto_diagnostics_text(pto_context *c)
{
    if (c == NULL) return "";
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < diag_record_count(c->diags); i++) diag_write(diag_record_at(c->diags, i), &t);
    return text_keep(&t, c->report);
}
