/* The page: everything about a run in one file, from the answer to the details. */
#include "tools/report/report_page.h"

#include "tools/report/report_clock.h"
#include "tools/report/report_pictures.h"
#include "tools/report/report_verdict.h"

#include <stdarg.h>
#include <stdio.h>

static const char style_sheet[] =
    ":root{color-scheme:light}*{box-sizing:border-box}\n"
    "body{margin:0;background:#eef1f4;color:#1f2933;font:15px/1.5 system-ui,-apple-system,'Segoe "
    "UI',Roboto,sans-serif}\n"
    "header{background:#1f2933;color:#fff;padding:22px 28px 18px}header h1{margin:0;font-size:24px;font-weight:650}\n"
    "header p{margin:4px 0 0;color:#b9c4cf}nav{background:#28343f;padding:7px 28px;position:sticky;top:0;z-index:2}\n"
    "nav a{color:#d5dde5;text-decoration:none;margin-right:20px;font-size:14px}nav a:hover{color:#fff}\n"
    "main{max-width:1380px;margin:0 auto;padding:8px 20px 60px}\n"
    "section{background:#fff;border-radius:8px;padding:16px 22px 20px;margin:18px 0;box-shadow:0 1px 2px "
    "rgba(31,41,51,.12)}\n"
    "section,tr[id],span[id]{scroll-margin-top:44px}\n"
    "h2{font-size:19px;margin:2px 0 10px}h3{font-size:16px;margin:20px 0 8px}p{margin:6px 0 10px;max-width:100ch}\n"
    ".verdict{border-left:5px solid #d0562f;padding:2px 0 2px 14px;margin:4px 0 14px}.verdict b{font-size:17px}\n"
    ".verdict p{margin:3px 0}.advice{color:#4a5763}\n"
    ".tiles{display:flex;flex-wrap:wrap;gap:8px;margin:12px 0}\n"
    ".tile{background:#f4f6f8;border-radius:6px;padding:8px 14px;min-width:112px}\n"
    ".tile b{display:block;font-size:19px;font-weight:650}.tile span{color:#5b6570;font-size:13px}\n"
    "table{border-collapse:collapse;font-size:13.5px;margin:6px 0 "
    "10px}th{text-align:left;color:#5b6570;font-weight:600}\n"
    "th,td{padding:3px 12px 3px 0;border-bottom:1px solid #eceff2;white-space:nowrap;vertical-align:middle}\n"
    "th:last-child,td:last-child{padding-right:0}\n"
    "th{white-space:normal;vertical-align:bottom}td.m{white-space:normal;min-width:130px}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums}.m{color:#5b6570}.z{color:#b9c1ca}.missing{color:#5b6570}.w{"
    "width:160px}\n"
    ".c{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans "
    "Mono',monospace;min-width:260px;overflow-wrap:anywhere}td.c{white-space:normal}\n"
    ".bar{display:flex;height:13px;min-width:110px;background:#f4f6f8;border-radius:2px;overflow:hidden}.bar "
    "i{display:block}\n"
    ".chip{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}\n"
    /* A line may break beside a block. */
    "th .chip{display:inline;padding:0 5px;font-size:9px}\n"
    /* What is beyond an edge casts a shadow on it: scroll bars may be hidden. */
    ".scroll,.picture{overflow-x:auto}\n"
    ".scroll{background:linear-gradient(90deg,#fff 40%,transparent) 0 0/40px 100% no-repeat local,"
    "linear-gradient(270deg,#fff 40%,transparent) 100% 0/40px 100% no-repeat local,"
    "linear-gradient(90deg,rgba(31,41,51,.22),transparent) 0 0/12px 100% no-repeat scroll,"
    "linear-gradient(270deg,rgba(31,41,51,.22),transparent) 100% 0/12px 100% no-repeat scroll}\n"
    ".picture svg{border:1px solid #e3e6ea;border-radius:6px;margin:6px "
    "0;display:block}\n"
    "summary{cursor:pointer;font-weight:600;margin:10px 0 4px}a{color:#2b6cb0}\n"
    "pre{margin:0}.code{font:12.5px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans "
    "Mono',monospace;overflow-x:auto}\n"
    ".code span{display:block;min-width:max-content}.code span:target{background:#fff3c4}.code "
    "s{display:inline-block;width:4ch;"
    "text-align:right;color:#aab2bb;text-decoration:none;margin-right:10px}\n"
    ".code u{display:inline-block;width:9.5ch;text-align:right;text-decoration:none;color:#4a5763;padding-right:6px;"
    "margin-right:4px;border-radius:2px;min-height:1em}.code u:last-of-type{margin-right:12px}.head{color:#5b6570}\n"
    ".code b{font-weight:400}.code .v{color:#7a4a14}.code .f{color:#7b3f8c}.code .y{color:#0f766e}.code "
    ".o{color:#1d4f91;"
    "font-weight:600}\n"
    ".outcome{margin:8px 0}\n"
    ".command{background:#1f2933;color:#e8edf2;border-radius:6px;padding:10px 14px;font-size:13px;white-space:pre-wrap;"
    "overflow-wrap:anywhere}\n";

static void put_text(text_buffer *out, const char *s) { markup_text(out, str_from(s)); }

static void put_function_name(const report *r, text_buffer *out)
{
    text_putc(out, '@');
    markup_text(out, string_of(module_context(r->m), function_name(r->m, r->call->function)));
}

static void put_head(const report *r, const report_request *q, text_buffer *out)
{
    text_puts(out, "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
                   "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>");
    put_function_name(r, out);
    text_puts(out, ": report</title>\n<style>\n");
    text_puts(out, style_sheet);
    text_puts(out, "</style>\n</head>\n<body>\n<header><h1>");
    put_function_name(r, out);
    text_puts(out, "</h1><p>");
    put_text(out, q->opened->contract.backend->id);
    if (r->machine != NULL) {
        text_puts(out, " \xc2\xb7 ");
        put_text(out, r->machine->doc != NULL && *r->machine->doc ? r->machine->doc : r->machine->name);
        text_printf(out, " \xc2\xb7 %g GHz", r->clock_hz / 1e9);
    }
    for (uint32_t i = 0; i < r->call->symbol_count; i++) {
        text_puts(out, i ? ", $" : " \xc2\xb7 $");
        markup_text(out, r->call->symbols[i]);
        text_printf(out, " = %lld", (long long)r->call->values[i]);
    }
    text_puts(out, "</p></header>\n");
}

static void put_navigation(const report *r, text_buffer *out)
{
    text_puts(out, "<nav><a href=\"#summary\">Summary</a>");
    if (r->cycles > 0 || report_is_clocked(r)) text_puts(out, "<a href=\"#time\">Time</a>");
    text_puts(out, "<a href=\"#graph\">Graph</a>");
    for (uint32_t i = 0; i < r->kernel_count; i++) {
        text_printf(out, "<a href=\"#kernel-%u\">@", i);
        put_text(out, r->kernels[i].name);
        text_puts(out, "</a>");
    }
    text_puts(out,
              "<a href=\"#module\">Module</a><a href=\"#pipeline\">Pipeline</a><a href=\"#files\">Files</a></nav>\n"
              "<main>\n");
}

static void put_verdict(report_verdict v, text_buffer *out)
{
    text_puts(out, "<div class=\"verdict\"><b>");
    put_text(out, v.headline);
    text_puts(out, "</b><p>");
    put_text(out, v.reason);
    text_puts(out, "</p>");
    if (*v.advice) {
        text_puts(out, "<p class=\"advice\">");
        put_text(out, v.advice);
        text_puts(out, "</p>");
    }
    text_puts(out, "</div>\n");
}

PRINTF_LIKE(3, 4) static void put_tile(text_buffer *out, const char *what, const char *format, ...);

static void put_tile(text_buffer *out, const char *what, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_puts(out, "<div class=\"tile\"><b>");
    put_text(out, text);
    text_puts(out, "</b><span>");
    put_text(out, what);
    text_puts(out, "</span></div>");
}

static void put_run_tiles(const report *r, text_buffer *out)
{
    char text[32];
    const double read = report_counter(r, PTO_COUNTER_GM_READ, -1);
    const double written = report_counter(r, PTO_COUNTER_GM_WRITTEN, -1);
    const double us = report_clock_us(r), launches = report_counter(r, PTO_COUNTER_LAUNCHES, 0);
    const double instances = report_counter(r, PTO_COUNTER_INSTANCES, 0);
    text_puts(out, "<div class=\"tiles\">");
    if (r->cycles > 0) put_tile(out, "cycles", "%s", markup_thousands(r->cycles, text));
    if (us > 0) put_tile(out, report_is_clocked(r) ? "time" : "simulated time", "%.4g \xc2\xb5s", us);
    if (read >= 0) put_tile(out, "read from global memory", "%s", markup_bytes(read, text));
    if (written >= 0) put_tile(out, "written to global memory", "%s", markup_bytes(written, text));
    if (us > 0 && read >= 0 && written >= 0 && read + written > 0)
        put_tile(out, "through global memory", "%.4g GB/s", (read + written) / us / 1e3);
    if (launches > 0) put_tile(out, launches == 1 ? "launch" : "launches", "%s", markup_thousands(launches, text));
    if (instances > 0) put_tile(out, "instances of kernels", "%s", markup_thousands(instances, text));
    text_puts(out, "</div>\n");
}

/* What the profile knows and the backend does not say, so that nobody takes its absence for a zero. */
static void put_unreported(const report *r, text_buffer *out)
{
    const char *mark = "<p class=\"missing\">This backend does not report ";
    for (uint32_t i = 0; i < PTO_COUNTER_NONE; i++) {
        const pto_counter_row *row = pto_counter_row_at(i);
        const bool is_modelled = i == PTO_COUNTER_CYCLES || row->scope >= PTO_SCOPE_UNIT;
        if (report_has(r, (pto_counter)i) || row->scope == PTO_SCOPE_EVENT || row->scope == PTO_SCOPE_KERNEL) continue;
        if (is_modelled && report_is_clocked(r)) continue;
        text_printf(out, "%s<span title=\"", mark);
        put_text(out, row->doc);
        text_puts(out, "\">");
        put_text(out, row->name);
        text_puts(out, "</span>");
        mark = ", ";
    }
    if (*mark == ',') text_puts(out, ".</p>\n");
}

/* One line for each, where there are several. */
static void put_kernels(const report *r, text_buffer *out)
{
    if (r->trace->kernel_count < 2) return;
    text_puts(out, "<div class=\"scroll\"><table><thead><tr><th>kernel</th><th class=\"n\">instances</th><th "
                   "class=\"n\">cycles from first to "
                   "last</th><th class=\"n\">of the run</th><th></th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < r->kernel_count; i++) {
        const trace_kernel *t = r->kernels[i].trace;
        if (t == NULL) continue;
        char count[32], cycles[32], share[32];
        const double all = (double)(t->to - t->from);
        text_printf(out, "<tr><td><a href=\"#kernel-%u\">@", i);
        put_text(out, r->kernels[i].name);
        text_printf(out, "</a></td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td>",
                    markup_thousands((double)t->instances, count), markup_thousands(all, cycles),
                    r->cycles > 0 ? markup_percent(all, r->cycles, share) : "");
        put_text(out, report_judge_kernel(r, &r->kernels[i]).headline);
        text_puts(out, "</td></tr>\n");
    }
    text_puts(out, "</tbody></table></div>\n");
}

static void put_summary(const report *r, const report_request *q, text_buffer *out)
{
    text_puts(out, "<section id=\"summary\"><h2>Summary</h2>\n");
    put_verdict(report_judge_run(r), out);
    put_run_tiles(r, out);
    put_unreported(r, out);
    put_kernels(r, out);
    if (*q->outcome) {
        text_puts(out, "<pre class=\"code outcome\">");
        put_text(out, q->outcome);
        text_puts(out, "</pre>\n");
    }
    text_puts(out, "<pre class=\"command\">");
    put_text(out, q->command);
    text_puts(out, "</pre>\n<details><summary>All totals</summary>\n");
    report_put_counters(r, out);
    text_puts(out, "</details></section>\n");
}

/* ---- pictures in the page ---- */

typedef void (*draw_run)(const report *r, svg *v);
typedef void (*draw_kernel)(const report *r, const report_kernel *k, svg *v);

static void put_run_picture(const report *r, draw_run draw, text_buffer *out)
{
    svg v = {.out = out, .page = ""};
    text_puts(out, "<div class=\"picture\">\n");
    draw(r, &v);
    text_puts(out, "</div>\n");
}

static void put_kernel_picture(const report *r, const report_kernel *k, draw_kernel draw, text_buffer *out)
{
    svg v = {.out = out, .page = ""};
    text_puts(out, "<div class=\"picture\">\n");
    draw(r, k, &v);
    text_puts(out, "</div>\n");
}

static void put_time(const report *r, text_buffer *out)
{
    if (r->cycles <= 0) return;
    text_puts(
        out,
        "<section id=\"time\"><h2>Where the time goes</h2>\n<p>What the run took, and how long it would take "
        "if one unit were all there is: its work spread evenly over all cores, and nothing waiting. The longest bar "
        "of a unit is a bound that no order of the same work can beat.</p>\n");
    report_put_limits(r, out);
    text_puts(out,
              "<h3>Units: busy, and why not</h3>\n<p>Cycles of all cores of a kind added up; busy and stalls of a pipe "
              "make cores times cycles. The same numbers are in counters.csv, for each core too.</p>\n");
    report_put_units(r, out);
    if (r->trace->instance_count > 0) {
        text_puts(out, "<h3>Cores</h3>\n");
        put_run_picture(r, report_draw_cores, out);
    }
    text_puts(out, "</section>\n");
}

/* ---- kernels ---- */

static void put_kernel_tiles(const report *r, const report_kernel *k, text_buffer *out)
{
    const trace_kernel *t = k->trace;
    char text[32], share[32];
    text_puts(out, "<div class=\"tiles\">");
    markup_thousands((double)(t->to - t->from), text);
    markup_percent((double)(t->to - t->from), r->cycles, share);
    if (r->cycles > 0)
        put_tile(out, "cycles from first to last", "%s (%s)", text, share);
    else
        put_tile(out, "cycles from first to last", "%s", text);
    put_tile(out, t->instances == 1 ? "instance" : "instances", "%s", markup_thousands((double)t->instances, text));
    put_tile(out, "shortest instance", "%s", markup_thousands((double)t->shortest, text));
    put_tile(out, "longest instance", "%s", markup_thousands((double)t->longest, text));
    text_puts(out, "</div>\n");
}

static bool has_flags(const report_kernel *k)
{
    for (uint32_t i = 0; i < k->row_count; i++)
        if (k->rows[i].kind == ROW_SET || k->rows[i].kind == ROW_WAIT) return true;
    return false;
}

static void put_kernel(const report *r, const report_kernel *k, uint32_t number, text_buffer *out)
{
    const uint32_t line = report_line_of(r, k->op);
    text_printf(out, "<section id=\"kernel-%u\"><h2>Kernel @", number);
    put_text(out, k->name);
    text_printf(out, " <a class=\"m\" href=\"#L%u\">line %u</a></h2>\n", line, line);
    if (k->trace != NULL) {
        put_verdict(report_judge_kernel(r, k), out);
        put_kernel_tiles(r, k, out);
        text_puts(out,
                  "<p>Of the time its instances run, on all cores together. Busy are instructions; an empty bar is an "
                  "empty queue.</p>\n");
        report_put_kernel_pipes(r, k, out);
        text_puts(out, "<h3>One core at work</h3>\n");
        put_kernel_picture(r, k, report_draw_timeline, out);
        text_puts(out, "<h3>What costs most</h3>\n");
        report_put_hot_rows(r, k, out);
    }
    text_puts(out, "<details open=\"open\"><summary>Instructions by pipe, with loops");
    if (has_flags(k))
        text_puts(out,
                  " and flags</summary>\n"
                  "<p>Solid arrows lead from the set_flag (full dot) to the wait_flag (ring) that takes its token; "
                  "dashed ones reach into the next iteration.</p>\n");
    else
        text_puts(out, "</summary>\n");
    put_kernel_picture(r, k, report_draw_kernel, out);
    text_puts(out, "</details>\n");
    if (k->memory_count > 0) {
        text_puts(out, "<details open=\"open\"><summary>On-chip memory</summary>\n");
        if (report_is_placed(k)) put_kernel_picture(r, k, report_draw_memory, out);
        report_put_buffers(r, k, out);
        text_puts(out, "</details>\n");
    }
    text_puts(out, "</section>\n");
}

/* ---- the rest ---- */

static void put_files(const report *r, const report_request *q, text_buffer *out)
{
    text_puts(out, "<section id=\"files\"><h2>Files</h2>\n<p>Beside this page:");
    static const char *const always[] = {"counters.csv", "memory.csv", "graph.svg", "graph.dot"};
    for (uint32_t i = 0; i < sizeof always / sizeof *always; i++)
        text_printf(out, "%s <a href=\"%s\">%s</a>", i ? "," : "", always[i], always[i]);
    for (uint32_t i = 0; i < q->result->file_count; i++) {
        const char *name = q->result->files[i];
        if (strcmp(name, "counters.csv") == 0) continue;
        text_puts(out, ", <a href=\"./");
        put_text(out, name);
        text_puts(out, "\">");
        put_text(out, name);
        text_puts(out, "</a>");
        if (strcmp(name, PTO_PROFILE_SWIMLANE) != 0) continue;
        const double left_out = report_counter(r, PTO_COUNTER_SLICES_LEFT_OUT, 0);
        text_printf(out, " (every %s; open it in ui.perfetto.dev",
                    report_is_clocked(r) ? "thread" : "pipe of every core");
        if (left_out > 0) text_printf(out, "; the last %.0f slices are left out", left_out);
        text_puts(out, ")");
    }
    for (uint32_t i = 0; i < r->kernel_count; i++)
        text_printf(out, ", <a href=\"kernel-%s.svg\">kernel-%s.svg</a>", r->kernels[i].file_name,
                    r->kernels[i].file_name);
    text_puts(out, " and the other pictures of each kernel.</p></section>\n");
}

void report_write_page(const report *r, const report_request *q, text_buffer *out)
{
    put_head(r, q, out);
    put_navigation(r, out);
    put_summary(r, q, out);
    put_time(r, out);
    report_put_clock(r, out);
    text_puts(out, "<section id=\"graph\"><h2>Graph</h2>\n");
    put_run_picture(r, report_draw_graph, out);
    text_puts(out, "</section>\n");
    for (uint32_t i = 0; i < r->kernel_count; i++) put_kernel(r, &r->kernels[i], i, out);
    text_printf(out, "<section id=\"module\"><h2>Module</h2>\n<p>As it ran%s.</p>\n",
                r->trace->slice_total > 0
                    ? ", with what each line cost on all cores together: how often it ran, cycles it "
                      "kept its pipe busy, and cycles its pipe waited for it to begin or to go on"
                    : "");
    report_put_listing(r, out);
    text_puts(out, "</section>\n<section id=\"pipeline\"><h2>Pipeline</h2>\n");
    if (*q->pipeline)
        report_put_pipeline(q->pipeline, out);
    else
        text_puts(out, "<p>No pipeline: the module ran as it was read.</p>\n");
    text_puts(out, "</section>\n");
    put_files(r, q, out);
    text_puts(out, "</main>\n</body>\n</html>\n");
}
