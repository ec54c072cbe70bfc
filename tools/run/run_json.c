#include "tools/run/run_json.h"

#include "tools/run/run_counters.h"

#include <inttypes.h>
#include <math.h>

/* Writes objects and lists: a comma before everything but the first. */
typedef struct json_writer {
    text_buffer *out;
    bool is_first;
} json_writer;

static void next(json_writer *w)
{
    if (!w->is_first) text_puts(w->out, ", ");
    w->is_first = false;
}

static void open_with(json_writer *w, char c)
{
    text_putc(w->out, c);
    w->is_first = true;
}

static void close_with(json_writer *w, char c)
{
    text_putc(w->out, c);
    w->is_first = false;
}

static void key(json_writer *w, const char *name)
{
    next(w);
    text_printf(w->out, "\"%s\": ", name);
}

/* Bytes that are not UTF-8 are question marks: names of files may hold any. */
static void put_text(json_writer *w, str s)
{
    text_buffer valid;
    text_init(&valid);
    while (s.n > 0) {
        const size_t n = str_utf8_error(s), used = n < s.n ? n + 1 : n;
        text_put(&valid, s.p, n);
        if (n < s.n) text_putc(&valid, '?');
        s = (str){s.p + used, s.n - used};
    }
    text_put_quoted(w->out, (str){valid.p, valid.n});
    text_fini(&valid);
}

static void put_text_or_null(json_writer *w, const char *name, const char *text)
{
    key(w, name);
    if (text != NULL)
        put_text(w, str_from(text));
    else
        text_puts(w->out, "null");
}

/* JSON has no infinity and no NaN: they are texts. */
static void put_number(json_writer *w, const char *name, double v)
{
    key(w, name);
    if (!isfinite(v))
        text_puts(w->out, isnan(v) ? "\"nan\"" : v > 0 ? "\"inf\"" : "\"-inf\"");
    else if (floor(v) == v && fabs(v) < 0x1p53)
        text_printf(w->out, "%.0f", v);
    else
        text_put_f64(w->out, v);
}

static void put_count(json_writer *w, const char *name, uint64_t n)
{
    key(w, name);
    text_put_u64(w->out, n);
}

static void put_dims(json_writer *w, const char *name, uint32_t rank, const int64_t *dims)
{
    key(w, name);
    open_with(w, '[');
    for (uint32_t i = 0; i < rank; i++) {
        next(w);
        text_put_i64(w->out, dims[i]);
    }
    close_with(w, ']');
}

/* ---- outputs ---- */

/* The element that exceeds its bound most. */
static void put_worst(json_writer *w, const bound_tensor *t, const comparison_result *r)
{
    int64_t index[TYPE_MAX_RANK] = {0};
    uint64_t element = r->worst;
    for (uint32_t i = t->rank; i-- > 0;) {
        const uint64_t extent = t->dims[i] > 0 ? (uint64_t)t->dims[i] : 1;
        index[i] = (int64_t)(element % extent);
        element /= extent;
    }
    key(w, "worst");
    open_with(w, '{');
    put_dims(w, "index", t->rank, index);
    put_number(w, "got", r->worst_got);
    put_number(w, "want", r->worst_want);
    put_number(w, "bound", r->worst_bound);
    close_with(w, '}');
}

static void put_expectation(json_writer *w, const bound_tensor *t, const run_json *r)
{
    const expectation *e = NULL;
    for (uint32_t i = 0; i < r->expectation_count; i++)
        if (str_eq(r->expectations[i].name, t->name) && r->expectations[i].is_found) e = &r->expectations[i];
    key(w, "expectation");
    if (e == NULL) {
        text_puts(w->out, "null");
        return;
    }
    open_with(w, '{');
    key(w, "holds");
    text_puts(w->out, e->found.is_equal ? "true" : "false");
    put_text_or_null(w, "rule", e->rule_text);
    put_number(w, "max_abs_error", e->found.max_abs);
    put_number(w, "max_rel_error", e->found.max_rel);
    put_count(w, "beyond_bound", e->found.bad_count);
    if (e->found.max_abs > 0)
        put_worst(w, t, &e->found);
    else
        put_text_or_null(w, "worst", NULL);
    close_with(w, '}');
}

static void put_outputs(json_writer *w, const run_json *r)
{
    key(w, "outputs");
    open_with(w, '[');
    const uint32_t count = r->call != NULL ? r->call->parameter_count + r->call->result_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const bound_tensor *t = &r->call->tensors[i];
        if (!t->is_output) continue;
        next(w);
        open_with(w, '{');
        key(w, "name");
        put_text(w, t->name);
        put_text_or_null(w, "dtype", dtype_name(t->type));
        put_dims(w, "dims", t->rank, t->dims);
        put_expectation(w, t, r);
        close_with(w, '}');
    }
    close_with(w, ']');
}

/* ---- counters ---- */

static void put_spread(json_writer *w, const backend_spread *s)
{
    put_number(w, "median", s->median);
    put_number(w, "least", s->least);
    put_number(w, "most", s->most);
}

/* How long it took. */
static void put_time(json_writer *w, const backend_result *r)
{
    const backend_counter *cycles = r != NULL ? run_counters_find_cycles(r) : NULL;
    if (cycles != NULL) {
        put_number(w, "cycles", cycles->all.median);
    } else {
        put_text_or_null(w, "cycles", NULL);
    }
    put_count(w, "runs", r != NULL ? r->runs : 0);
    key(w, "wall_ns");
    if (r != NULL) {
        open_with(w, '{');
        put_spread(w, &r->wall_ns);
        close_with(w, '}');
    } else {
        text_puts(w->out, "null");
    }
}

static void put_counters(json_writer *w, const backend_result *r)
{
    put_time(w, r);
    key(w, "counters");
    open_with(w, '[');
    for (uint32_t i = 0; r != NULL && i < r->counter_count; i++) {
        next(w);
        open_with(w, '{');
        put_text_or_null(w, "name", r->counters[i].name);
        put_text_or_null(w, "unit", r->counters[i].unit);
        put_spread(w, &r->counters[i].all);
        close_with(w, '}');
    }
    close_with(w, ']');
}

/* The one run of @f.init. */
static void put_init(json_writer *w, const backend_result *r)
{
    if (r == NULL || r->init == NULL) {
        put_text_or_null(w, "init", NULL);
        return;
    }
    key(w, "init");
    open_with(w, '{');
    put_text_or_null(w, "function", r->init_name);
    put_time(w, r->init);
    close_with(w, '}');
}

/* ---- rates ---- */

static void put_rates(json_writer *w, const run_json *r)
{
    double seconds = 0, threads = 1;
    if (r->work == NULL || r->result == NULL || !run_rates_measured(r->result, &seconds, &threads)) {
        put_text_or_null(w, "rates", NULL);
        return;
    }
    const kernel_work *all = &r->work->all;
    const run_rates rates = run_rates_of(r->machine, all, seconds, threads);
    key(w, "rates");
    open_with(w, '{');
    put_number(w, "seconds", seconds);
    put_number(w, "threads", threads);
    put_number(w, "bytes", all->bytes_read + all->bytes_written);
    put_number(w, "bytes_per_second", rates.bytes_per_second);
    put_number(w, "peak_bytes_per_second", rates.peak_bytes_per_second);
    put_number(w, "operations", all->ops);
    put_number(w, "operations_per_second", rates.ops_per_second);
    put_number(w, "peak_operations_per_second", rates.peak_ops_per_second);
    close_with(w, '}');
}

/* ---- diagnostics ---- */

static void put_diagnostics(json_writer *w, const diag_engine *d)
{
    open_with(w, '[');
    for (uint32_t i = 0; d != NULL && i < diag_record_count(d); i++) {
        const diag_record *r = diag_record_at(d, i);
        if (r->severity == DIAG_REMARK) continue;
        next(w);
        open_with(w, '{');
        put_text_or_null(w, "severity", diag_severity_name(r->severity));
        put_text_or_null(w, "code", r->code);
        put_text_or_null(w, "file", r->at.file);
        put_count(w, "line", r->at.line);
        put_count(w, "column", r->at.column);
        put_text_or_null(w, "text", r->text);
        put_text_or_null(w, "op", r->path);
        close_with(w, '}');
    }
    close_with(w, ']');
}

void run_json_write_diagnostics(const diag_engine *d, text_buffer *out)
{
    json_writer w = {out, true};
    put_diagnostics(&w, d);
}

void run_json_write(const run_json *r, text_buffer *out)
{
    json_writer w = {out, true};
    open_with(&w, '{');
    put_text_or_null(&w, "case", r->name);
    put_text_or_null(&w, "size", r->size);
    put_text_or_null(&w, "module", r->module);
    put_text_or_null(&w, "backend", r->backend);
    put_count(&w, "status", (uint64_t)r->status);
    put_outputs(&w, r);
    put_counters(&w, r->result);
    put_init(&w, r->result);
    put_rates(&w, r);
    key(&w, "diagnostics");
    put_diagnostics(&w, r->diags);
    close_with(&w, '}');
}
