#include "tools/check/paranoid_check.h"

#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "tools/base/tool_diag.h"
#include "tools/check/text_difference.h"

#include <string.h>

typedef struct reading {
    diag_engine *diags; /* collects */
    ir_context *context;
    module *module;
} reading;

/* Reads a text that was printed of `m`, as a file beside it: resources are found there. */
static status read_back(const module *m, const text_buffer *text, reading *r)
{
    r->diags = diag_create(NULL, 0);
    r->context = context_create(r->diags);
    context_set_ops(r->context, context_ops(module_context(m)));
    r->module = NULL;
    TRY(parse_module(r->context, (str){text->p, text->n}, string_of(module_context(m), module_file(m)).p, &r->module));
    return module_verify(r->module);
}

static void drop(reading *r)
{
    if (r->module != NULL) module_destroy(r->module);
    context_destroy(r->context);
    diag_destroy(r->diags);
}

static void blame(module *m, const run_agent *agent, const char *what)
{
    char who[RUN_AGENT_TEXT_BYTES];
    diag_error(context_diags(module_context(m)), agent->at, &E1905,
               "what %s left does not come back when it is printed and read: %s", run_agent_text(agent, who), what);
}

/* Line `number` of a text, from 1, without what is before and after it. */
static str line_of(const text_buffer *t, uint32_t number)
{
    str line = {t->p, t->n};
    for (uint32_t n = 1; n < number && line.n > 0; n++) {
        const char *end = memchr(line.p, '\n', line.n);
        line = end != NULL ? (str){end + 1, line.n - (size_t)(end + 1 - line.p)} : (str){line.p, 0};
    }
    const char *end = line.n > 0 ? memchr(line.p, '\n', line.n) : NULL;
    if (end != NULL) line.n = (size_t)(end - line.p);
    for (; line.n > 0 && *line.p == ' '; line.n--) line.p++;
    return line;
}

static void note_line(module *m, const char *what, str line)
{
    diag_note(context_diags(module_context(m)), NO_POS, "%s: %.*s", what, (int)(line.n > 2000 ? 2000 : line.n), line.p);
}

/* Why the text could not be read: the first error about it, and the line. */
static void blame_text(module *m, const run_agent *agent, const reading *r, const text_buffer *text)
{
    blame(m, agent, "the text is refused");
    for (uint32_t i = 0; i < diag_record_count(r->diags); i++) {
        const diag_record *record = diag_record_at(r->diags, i);
        if (record->severity != DIAG_ERROR) continue;
        diag_note(context_diags(module_context(m)), NO_POS, "line %u, column %u of the text: [%s] %s", record->at.line,
                  record->at.column, record->code != NULL ? record->code : "", record->text);
        note_line(m, "the line", line_of(text, record->at.line));
        return;
    }
}

static status same_text(module *m, const run_agent *agent, const text_buffer *want, const text_buffer *got,
                        const char *what)
{
    const uint32_t line = text_first_difference((str){want->p, want->n}, (str){got->p, got->n});
    if (line == 0) return OK;
    char place[128];
    snprintf(place, sizeof place, "%s differs from line %u on", what, line);
    blame(m, agent, place);
    note_line(m, "printed", line_of(want, line));
    note_line(m, "read and printed", line_of(got, line));
    return FAILED;
}

static status check_form(module *m, const run_agent *agent, bool is_generic)
{
    const print_options form = {.generic = is_generic};
    reading r;
    text_buffer text, again;
    text_init(&text);
    text_init(&again);
    module_print(m, &form, &text);
    status s = read_back(m, &text, &r);
    if (s == OK) {
        module_print(r.module, &form, &again);
        s = same_text(m, agent, &text, &again, is_generic ? "the generic form" : "the text");
    } else
        blame_text(m, agent, &r, &text);
    if (s == OK && is_generic) {
        text_fini(&text);
        text_fini(&again);
        text_init(&text);
        text_init(&again);
        module_print(m, &(print_options){0}, &text);
        module_print(r.module, &(print_options){0}, &again);
        s = same_text(m, agent, &text, &again, "the text, by way of the generic form,");
    }
    drop(&r);
    text_fini(&text);
    text_fini(&again);
    return s;
}

static exit_status check_step(void *self, const step_event *e)
{
    if (!e->changed) return EXIT_STATUS_OK;
    compile_trace_begin(self, "verify", STR("print and read"), NULL);
    const bool is_same = check_form(e->module, e->agent, false) == OK && check_form(e->module, e->agent, true) == OK;
    compile_trace_end(self);
    if (is_same) return EXIT_STATUS_OK;
    run_agent_note(e->agent, context_diags(module_context(e->module)));
    return EXIT_STATUS_BLAMED;
}

compile_observer paranoid_observer(compile_trace *trace)
{
    return (compile_observer){.self = trace, .after_step = check_step};
}
