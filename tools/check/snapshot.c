#include "tools/check/snapshot.h"

#include "ir/text/printer.h"
#include "tools/check/step_range.h"

#include <stdio.h>
#include <string.h>

/* Writes `NN-STEP.ptir`. */
static status write_file(const snapshot_request *r, module *m, uint32_t number, const char *step)
{
    text_buffer name, text;
    text_init(&name);
    text_init(&text);
    text_printf(&name, "%02u-%s.ptir", number, step);
    module_print(m, &(print_options){0}, &text);
    const status s = output_folder_write(r->opened, (str){name.p, name.n}, (str){text.p, text.n});
    text_fini(&name);
    text_fini(&text);
    return s;
}

static void print(module *m, const char *step)
{
    text_buffer text;
    text_init(&text);
    text_printf(&text, "// after step %s\n", step);
    module_print(m, &(print_options){0}, &text);
    if (text.n > 0) fwrite(text.p, 1, text.n, stderr);
    text_fini(&text);
}

static exit_status begin(void *self, const loaded_pipeline *p, module *m, uint32_t first)
{
    snapshot_request *r = self;
    diag_engine *d = context_diags(module_context(m));
    uint32_t step;
    for (const char *const *id = r->printed; *id != NULL; id++)
        TRY_AS(EXIT_STATUS_USAGE, step_by_id(d, &p->contract, *id, "print-after", &step));
    if (r->folder == NULL) return EXIT_STATUS_OK;
    TRY_AS(EXIT_STATUS_OUTPUT, output_folder_open(r->arena, d, r->folder, &r->opened));
    r->written = arena_array(r->arena, p->contract.step_count, sizeof *r->written);
    if (first == 0) TRY_AS(EXIT_STATUS_OUTPUT, write_file(r, m, 0, "input"));
    return EXIT_STATUS_OK;
}

static exit_status before_step(void *self, const step_event *e)
{
    const snapshot_request *r = self;
    if (r->opened != NULL) r->written[e->index] = output_folder_count(r->opened);
    return EXIT_STATUS_OK;
}

/* What an attempt left that did not come to its end is none of the steps' work. */
static void went_back(void *self, uint32_t step)
{
    const snapshot_request *r = self;
    if (r->opened != NULL) output_folder_rewind(r->opened, r->written[step]);
}

static void end(void *self)
{
    snapshot_request *r = self;
    output_folder_close(r->opened);
    r->opened = NULL;
}

static bool is_printed(const snapshot_request *r, const step_event *e)
{
    if (r->prints_all || (r->prints_changed && e->changed)) return true;
    for (const char *const *id = r->printed; *id != NULL; id++) {
        if (strcmp(*id, e->step->step->id) == 0) return true;
    }
    return false;
}

static exit_status after_step(void *self, const step_event *e)
{
    const snapshot_request *r = self;
    const char *id = e->step->step->id;
    compile_trace_begin(r->trace, "print", STR("write down"), NULL);
    if (is_printed(r, e)) print(e->module, id);
    const status s = r->opened != NULL && e->changed ? write_file(r, e->module, e->index + 1, id) : OK;
    compile_trace_end(r->trace);
    return s == OK ? EXIT_STATUS_OK : EXIT_STATUS_OUTPUT;
}

compile_observer snapshot_observer(snapshot_request *r)
{
    return (compile_observer){.self = r,
                              .begin = begin,
                              .before_step = before_step,
                              .after_step = after_step,
                              .went_back = went_back,
                              .end = end};
}
