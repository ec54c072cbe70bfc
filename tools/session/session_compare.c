/* --compare: a second pipeline over the same module. */
#include "ir/text/printer.h"
#include "tools/library/library.h"
#include "tools/run/hints.h"
#include "tools/session/session.h"

#include <string.h>

bool session_compares(const session *s) { return command_line_has(s->line, OPTION_COMPARE); }

exit_status session_open_other(session *s)
{
    const char *file = command_line_value(s->line, OPTION_COMPARE);
    const pipeline *p = NULL;
    if (!session_compares(s)) return EXIT_STATUS_OK;
    const pipeline_request request = {.file = file, .search = s->search, .machine_stands_for = library_host_machine};
    TRY_AS(EXIT_STATUS_USAGE, pipeline_read(s->arena, s->diags, &request, &p));
    TRY_EXIT(library_open_pipeline(s->arena, s->diags, s->host, p, NULL, s->recorder, &s->other));
    return library_declare_names(s->context, &s->other) == OK ? EXIT_STATUS_OK : EXIT_STATUS_USAGE;
}

exit_status session_compile_other(session *s, module *m, flight_recorder *recorder)
{
    session_watch_compile(s, &s->other_watch, false);
    compile_request request = {.verify = s->request.verify,
                               .counts_ops = true,
                               .observer_count = s->other_watch.count,
                               .observers = s->other_watch.list};
    if (!command_line_has(s->line, OPTION_VERIFY)) request.verify = s->other.pipeline->verify;
    TRY_AS(EXIT_STATUS_USAGE, step_range_find(s->diags, &s->other.contract, &s->range, &request.first, &request.end));
    TRY_EXIT(pass_manager_run(s->arena, &s->other, &request, m, recorder, &s->other_stats));
    session_print_checks(s, &s->other_watch);
    if (s->other.contract.backend != NULL) hints_warn(m, s->other.contract.backend);
    return EXIT_STATUS_OK;
}

/* "default.yaml --set=tile.with.x=1" */
static const char *name_of_first(const session *s)
{
    const char *file = command_line_value(s->line, OPTION_PIPELINE);
    text_buffer t;
    text_init(&t);
    text_puts(&t, file != NULL ? file : "");
    if (file == NULL) text_printf(&t, "--passes=%s", command_line_value(s->line, OPTION_PASSES));
    for (uint32_t i = 0; i < s->line->use_count; i++) {
        const cli_use *use = &s->line->uses[i];
        if (!cli_options[use->option].is_of_first) continue;
        text_printf(&t, " --%s=", cli_options[use->option].name);
        command_line_put_word(&t, use->value);
    }
    return text_keep(&t, s->arena);
}

bool session_write_comparison(const session *s, module *m, module *other, const print_options *form, text_buffer *out)
{
    text_buffer text, other_text;
    text_init(&text);
    text_init(&other_text);
    module_print(m, form, &text);
    module_print(other, form, &other_text);
    const compiled a = {name_of_first(s), &s->opened, &s->stats, &s->watch.digests, {text.p, text.n}},
                   b = {command_line_value(s->line, OPTION_COMPARE),
                        &s->other,
                        &s->other_stats,
                        &s->other_watch.digests,
                        {other_text.p, other_text.n}};
    const bool is_same = pipeline_compare(&a, &b, out);
    text_fini(&text);
    text_fini(&other_text);
    return is_same;
}
