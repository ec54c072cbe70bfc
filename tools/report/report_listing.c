/* Text in the page: the module with what each line cost, and the pipeline. */
#include "tools/report/report_page.h"

/* ---- colours of words ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static void put_word(text_buffer *out, const char *class_name, str s)
{
    text_printf(out, "<b class=\"%s\">", class_name);
    markup_text(out, s);
    text_puts(out, "</b>");
}

/* "pto.tload": an op; a bare word or number is none. */
static bool is_op_word(str s)
{
    const char *dot = memchr(s.p, '.', s.n);
    return dot != NULL && dot != s.p && !(s.p[0] >= '0' && s.p[0] <= '9');
}

static bool is_control(str s)
{
    return str_is(s, "for") || str_is(s, "if") || str_is(s, "else") || str_is(s, "func") || str_is(s, "while") ||
           str_is(s, "forall") || str_is(s, "return") || str_is(s, "view");
}

static void put_code(text_buffer *out, str s)
{
    while (s.n > 0) {
        size_t n = 0;
        const bool is_name = *s.p == '%' || *s.p == '@' || *s.p == '$';
        if (is_name) n = 1;
        while (n < s.n && is_word(s.p[n])) n++;
        if (is_name) {
            put_word(out, *s.p == '%' ? "v" : *s.p == '@' ? "f" : "y", (str){s.p, n});
        } else if (n > 0 && (is_op_word((str){s.p, n}) || is_control((str){s.p, n}))) {
            put_word(out, "o", (str){s.p, n});
        } else {
            /* Everything up to the next word, whole characters at a time. */
            if (n == 0)
                while (n < s.n && !is_word(s.p[n]) && *(s.p + n) != '%' && s.p[n] != '@' && s.p[n] != '$') n++;
            markup_text(out, (str){s.p, n});
        }
        s = (str){s.p + n, s.n - n};
    }
}

/* ---- lines ---- */

static int64_t line_cycles(const report *r, op_id o)
{
    const trace_sum *s = o ? run_trace_op(r->trace, o) : NULL;
    return s != NULL ? s->busy + trace_sum_stalled(s) : 0;
}

static void put_cost(const report *r, op_id o, int64_t most, text_buffer *out)
{
    const trace_sum *s = o ? run_trace_op(r->trace, o) : NULL;
    char text[32];
    if (s == NULL) {
        text_puts(out, "<u></u><u></u><u></u>");
        return;
    }
    const double whole = most > 0 ? (double)most : 1;
    if (s->executions)
        text_printf(out, "<u>%s</u>", markup_thousands((double)s->executions, text));
    else
        text_puts(out, "<u></u>");
    if (s->busy)
        text_printf(out, "<u style=\"background:rgba(227,156,45,%.2f)\">%s</u>", 0.8 * (double)s->busy / whole,
                    markup_thousands((double)s->busy, text));
    else
        text_puts(out, "<u></u>");
    if (trace_sum_stalled(s))
        text_printf(out, "<u style=\"background:rgba(224,110,100,%.2f)\">%s</u>",
                    0.7 * (double)trace_sum_stalled(s) / whole, markup_thousands((double)trace_sum_stalled(s), text));
    else
        text_puts(out, "<u></u>");
}

void report_put_listing(const report *r, text_buffer *out)
{
    int64_t most = 0;
    const bool has_costs = r->trace->slice_total > 0;
    if (has_costs) text_puts(out, "<pre class=\"code head\"><s>line</s><u>runs</u><u>busy</u><u>waits</u></pre>\n");
    text_puts(out, "<pre class=\"code\">");
    for (uint32_t i = 0; i < r->line_count; i++) {
        const report_line *l = &r->lines[i];
        if (has_costs && l->op && op_function(r->m, l->op) == l->op) {
            most = 0;
            IR_WALK(r->m, o, l->op)
            {
                if (line_cycles(r, o) > most) most = line_cycles(r, o);
            }
        }
        text_printf(out, "<span id=\"L%u\"><s>%u</s>", i + 1, i + 1);
        if (has_costs) put_cost(r, l->op, most, out);
        put_code(out, (str){r->text.p + l->at, l->n});
        text_puts(out, "\n</span>");
    }
    text_puts(out, "</pre>\n");
}

/* ---- the pipeline ---- */

/* Paths begin after a blank or a quote; what is left of one is its last part. */
void report_put_pipeline(const char *yaml, text_buffer *out)
{
    text_puts(out, "<pre class=\"code\">");
    for (const char *p = yaml; *p;) {
        if (*p == '/' && p > yaml && (p[-1] == ' ' || p[-1] == '"')) {
            const size_t n = strcspn(p, " \"\n");
            const char *last = p;
            for (size_t i = 0; i < n; i++)
                if (p[i] == '/') last = p + i + 1;
            markup_text(out, (str){last, (size_t)(p + n - last)});
            p += n;
            continue;
        }
        const size_t n = 1 + strcspn(p + 1, "/");
        markup_text(out, (str){p, n});
        p += n;
    }
    text_puts(out, "</pre>\n");
}
