#include "tools/report/report.h"

#include "tools/report/report_page.h"
#include "tools/report/report_pictures.h"

#include <stdio.h>

static const char page_name[] = "index.html";

bool report_writes_name(str name)
{
    static const char *const whole[] = {"index.html", "counters.csv", "memory.csv",
                                        "graph.svg",  "graph.dot",    "cores.svg"};
    static const char *const begins[] = {"kernel-", "memory-", "timeline-"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (str_is(name, whole[i])) return true;
    const bool is_picture = name.n > 4 && memcmp(name.p + name.n - 4, ".svg", 4) == 0;
    for (size_t i = 0; is_picture && i < sizeof begins / sizeof *begins; i++)
        if (str_starts_with(name, begins[i])) return true;
    return false;
}

typedef struct writer {
    const report *r;
    output_folder *folder;
    text_buffer *names, text;
} writer;

/* Writes what was gathered, under this name. */
static status end_file(writer *w, const char *name)
{
    const status s = output_folder_write(w->folder, str_from(name), (str){w->text.p, w->text.n});
    w->text.n = 0;
    if (s == OK) text_printf(w->names, "%s\n", name);
    return s;
}

static status write_run_picture(writer *w, const char *name, void (*draw)(const report *r, svg *v))
{
    svg v = {.out = &w->text, .page = page_name};
    draw(w->r, &v);
    return end_file(w, name);
}

static status write_kernel_picture(writer *w, const report_kernel *k, const char *what,
                                   void (*draw)(const report *r, const report_kernel *k, svg *v))
{
    char name[128];
    svg v = {.out = &w->text, .page = page_name};
    snprintf(name, sizeof name, "%s-%s.svg", what, k->file_name);
    draw(w->r, k, &v);
    return end_file(w, name);
}

static status write_kernel(writer *w, const report_kernel *k)
{
    TRY(write_kernel_picture(w, k, "kernel", report_draw_kernel));
    if (report_is_placed(k)) TRY(write_kernel_picture(w, k, "memory", report_draw_memory));
    return k->trace != NULL ? write_kernel_picture(w, k, "timeline", report_draw_timeline) : OK;
}

static status write_files(writer *w, const report_request *q)
{
    report_write_page(w->r, q, &w->text);
    TRY(end_file(w, page_name));
    for (uint32_t i = 0; i < q->result->file_count; i++) text_printf(w->names, "%s\n", q->result->files[i]);
    TRY(write_run_picture(w, "graph.svg", report_draw_graph));
    report_write_dot(w->r, &w->text);
    TRY(end_file(w, "graph.dot"));
    if (w->r->trace->instance_count > 0) TRY(write_run_picture(w, "cores.svg", report_draw_cores));
    report_write_memory_csv(w->r, &w->text);
    TRY(end_file(w, "memory.csv"));
    for (uint32_t i = 0; i < w->r->kernel_count; i++) TRY(write_kernel(w, &w->r->kernels[i]));
    return OK;
}

status report_write(arena *a, const report_request *q, text_buffer *out_files)
{
    report r;
    report_model(&r, a, q->m, q->opened, q->call, q->result, q->trace);
    writer w = {.r = &r, .folder = q->folder, .names = out_files};
    text_init(&w.text);
    const status s = write_files(&w, q);
    text_fini(&w.text);
    return s;
}
