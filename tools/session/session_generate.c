/* `-o` with the name of a file of source text: the module as the code generator of the pipeline writes it. */
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/session/session.h"

#include <string.h>

/* Files of source text, which no module is ever written to. */
static const char *const source_suffixes[] = {".c", NULL};

static bool ends_in(const char *path, const char *suffix)
{
    const size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcmp(path + n - m, suffix) == 0;
}

status session_find_generator(session *s, const char *path, const char *name, const run_agent **out)
{
    const run_agent *backend = s->opened.backend_agent;
    *out = NULL;
    for (uint32_t i = 0; backend != NULL && i < option_count(backend->options); i++) {
        const run_agent *named = backend->strategies[i];
        if (named == NULL || named->generator == NULL) continue;
        const bool writes_folder = strcmp(named->generator->suffix, "/") == 0;
        if (writes_folder ? !session_names_folder(name) : !ends_in(name, named->generator->suffix)) continue;
        /* What was decided goes into the folder. */
        if (writes_folder && s->request.schedule == NULL) s->request.schedule = schedule_create(s->arena, s->diags);
        *out = named;
        return OK;
    }
    for (const char *const *suffix = source_suffixes; *suffix != NULL; suffix++) {
        if (!ends_in(name, *suffix)) continue;
        diag_error(s->diags, (src_pos){s->line->tool, 0, 0}, &E1714,
                   "`-o %s` asks for a code generator, and the pipeline has none that writes `%s` files", path,
                   *suffix);
        diag_note(
            s->diags, NO_POS,
            "a backend names one in its options, as that of native.yaml does; `pto-inspect generators` lists them");
        return FAILED;
    }
    return OK;
}

static pto_status put(void *self, const char *text, size_t n)
{
    file_writer *w = self;
    file_writer_put(w, text, n);
    return w->failed ? PTO_FAILED : PTO_OK;
}

exit_status session_generate_text(session *s, module *m, const run_agent *generator, const pto_text_sink *sink,
                                  flight_recorder *recorder)
{
    const run_session_params params = {.diags = s->diags,
                                       .registry = plugin_host_runs(s->host),
                                       .machine = s->opened.machine,
                                       .abi_minor = plugin_host_abi_minor(s->host),
                                       .recorder = recorder};
    run_session *runs = run_session_create(s->arena, &params);
    compile_trace_begin(s->trace, "generate", str_from(generator->id), NULL);
    const bool is_whole = run_generate(runs, generator, generator->generator->generate, m, sink);
    compile_trace_end(s->trace);
    run_session_destroy(runs);
    return is_whole ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
}

exit_status session_generate(session *s, module *m, const run_agent *generator, const char *path,
                             flight_recorder *recorder)
{
    file_writer w;
    if (strcmp(generator->generator->suffix, "/") == 0) return session_generate_tree(s, m, generator, path, recorder);
    if (file_writer_open(&w, s->diags, path) != OK) return EXIT_STATUS_OUTPUT;
    const pto_text_sink sink = {.struct_size = sizeof sink, .self = &w, .write = put};
    const exit_status generated = session_generate_text(s, m, generator, &sink, recorder);
    if (generated == EXIT_STATUS_OK) return file_writer_commit(&w) == OK ? EXIT_STATUS_OK : EXIT_STATUS_OUTPUT;
    file_writer_abandon(&w);
    return w.failed ? EXIT_STATUS_OUTPUT : generated;
}
