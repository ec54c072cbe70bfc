#include "tools/check/compile_trace.h"

#include "ir/base/monotonic.h"
#include "tools/base/file.h"

#include <inttypes.h>

enum { NUMBERS_MAX = 4, DEPTH_MAX = 32 };

typedef struct span {
    const char *category, *detail;
    str name;
    uint64_t from_ns, to_ns;
    const char *number_names[NUMBERS_MAX];
    int64_t numbers[NUMBERS_MAX];
    uint32_t number_count;
} span;

struct compile_trace {
    arena *arena;
    uint64_t start_ns;
    span *spans; /* in the order in which they began */
    uint32_t count, capacity;
    uint32_t open[DEPTH_MAX]; /* numbers of spans */
    uint32_t depth, too_deep; /* spans beyond DEPTH_MAX are counted and not kept */
};

compile_trace *compile_trace_create(arena *a, const char *tool)
{
    compile_trace *t = arena_alloc(a, sizeof *t);
    *t = (compile_trace){.arena = a, .start_ns = monotonic_ns()};
    compile_trace_begin(t, "tool", str_from(tool), NULL);
    return t;
}

static span *add_span(compile_trace *t)
{
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 64;
        span *bigger = arena_array(t->arena, t->capacity, sizeof *bigger);
        if (t->count > 0) memcpy(bigger, t->spans, t->count * sizeof *bigger);
        t->spans = bigger;
    }
    t->open[t->depth++] = t->count;
    return &t->spans[t->count++];
}

void compile_trace_begin(compile_trace *t, const char *category, str name, const char *detail)
{
    if (t == NULL) return;
    if (t->depth == DEPTH_MAX) {
        t->too_deep++;
        return;
    }
    span *s = add_span(t);
    *s = (span){.category = category,
                .name = {arena_strndup(t->arena, name.p, name.n), name.n},
                .detail = detail != NULL ? arena_strdup(t->arena, detail) : NULL};
    s->from_ns = monotonic_ns() - t->start_ns;
}

void compile_trace_number(compile_trace *t, const char *name, int64_t n)
{
    if (t == NULL || t->depth == 0 || t->too_deep > 0) return;
    span *s = &t->spans[t->open[t->depth - 1]];
    if (s->number_count == NUMBERS_MAX) return;
    s->number_names[s->number_count] = name;
    s->numbers[s->number_count++] = n;
}

void compile_trace_end(compile_trace *t)
{
    if (t == NULL) return;
    if (t->too_deep > 0) {
        t->too_deep--;
        return;
    }
    if (t->depth > 0) t->spans[t->open[--t->depth]].to_ns = monotonic_ns() - t->start_ns;
}

static void begin_span(void *self, const char *category, str name, const char *detail)
{
    compile_trace_begin(self, category, name, detail);
}

static void end_span(void *self) { compile_trace_end(self); }

static exit_status add_numbers(void *self, const step_event *e)
{
    compile_trace_number(self, "changes", (int64_t)e->mutations);
    compile_trace_number(self, "ops", module_count_ops(e->module));
    return EXIT_STATUS_OK;
}

compile_observer compile_trace_observer(compile_trace *t)
{
    return (compile_observer){.self = t, .after_step = add_numbers, .span_begin = begin_span, .span_end = end_span};
}

/* Nanoseconds as microseconds with three digits, which no rounding of a double can change. */
static void put_us(text_buffer *out, const char *name, uint64_t ns)
{
    text_printf(out, "\"%s\": %" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void put_span(const span *s, text_buffer *out)
{
    text_puts(out, "{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"cat\": ");
    text_put_quoted(out, str_from(s->category));
    text_puts(out, ", \"name\": ");
    text_put_quoted(out, s->name);
    text_puts(out, ", ");
    put_us(out, "ts", s->from_ns);
    text_puts(out, ", ");
    put_us(out, "dur", s->to_ns - s->from_ns);
    text_puts(out, ", \"args\": {");
    if (s->detail != NULL) {
        text_puts(out, "\"detail\": ");
        text_put_quoted(out, str_from(s->detail));
    }
    for (uint32_t i = 0; i < s->number_count; i++)
        text_printf(out, "%s\"%s\": %" PRId64, i > 0 || s->detail != NULL ? ", " : "", s->number_names[i],
                    s->numbers[i]);
    text_puts(out, "}}");
}

status compile_trace_write(compile_trace *t, diag_engine *d, const char *path)
{
    file_writer w;
    if (t == NULL) return OK;
    while (t->depth + t->too_deep > 0) compile_trace_end(t);
    TRY(file_writer_open(&w, d, path));
    text_buffer out;
    text_init(&out);
    text_puts(&out, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
    for (uint32_t i = 0; i < t->count; i++) {
        put_span(&t->spans[i], &out);
        text_puts(&out, i + 1 < t->count ? ",\n" : "\n");
    }
    text_puts(&out, "]}\n");
    file_writer_put(&w, out.p, out.n);
    text_fini(&out);
    return file_writer_commit(&w);
}
