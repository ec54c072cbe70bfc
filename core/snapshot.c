#include "core/snapshot.h"

#include "core/core_diag.h"
#include "core/file.h"
#include "core/step_range.h"
#include "ir/printer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Writes `DIR/NN-STEP.ptir`. */
static status write_file(module *m, const char *folder, uint32_t number, const char *step)
{
    diag_engine *d = context_diags(module_context(m));
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        diag_error(d, (src_pos){folder, 0, 0}, &E1501, "cannot create the folder: %s", strerror(errno));
        return FAILED;
    }
    text_buffer path, text;
    text_init(&path);
    text_init(&text);
    text_printf(&path, "%s/%02u-%s.ptir", folder, number, step);
    module_print(m, &(print_options){0}, &text);
    file_writer w;
    status s = file_writer_open(&w, d, path.p);
    if (s == OK) {
        file_writer_put(&w, text.p, text.n);
        s = file_writer_commit(&w);
    }
    text_fini(&path);
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

static exit_status begin(void *self, const opened_pipeline *p, module *m, uint32_t first)
{
    const snapshot_request *r = self;
    uint32_t step;
    for (const char *const *id = r->printed; *id; id++)
        TRY_AS(EXIT_STATUS_USAGE,
               step_by_id(context_diags(module_context(m)), &p->contract, *id, "print-after", &step));
    if (r->folder && first == 0) TRY_AS(EXIT_STATUS_OUTPUT, write_file(m, r->folder, 0, "input"));
    return EXIT_STATUS_OK;
}

static bool is_printed(const snapshot_request *r, const step_event *e)
{
    if (r->prints_all || (r->prints_changed && e->changed)) return true;
    for (const char *const *id = r->printed; *id; id++) {
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
    const status s = r->folder && e->changed ? write_file(e->module, r->folder, e->index + 1, id) : OK;
    compile_trace_end(r->trace);
    return s == OK ? EXIT_STATUS_OK : EXIT_STATUS_OUTPUT;
}

compile_observer snapshot_observer(const snapshot_request *r)
{
    return (compile_observer){.self = (void *)(uintptr_t)r, .begin = begin, .after_step = after_step};
}
