#include "ir/base/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DIAG(code, summary) const diag_code_info code = {#code, summary};
#include "ir/base/diag.def"
#undef DIAG

enum {
    DEFAULT_MAX_ERRORS = 20,
    RECORDS_MAX = 1000,
    WINDOW_BYTES = 120,
    LINE_READ_BYTES = 64 * 1024,
    MESSAGE_BYTES_MAX = 4096
};

typedef struct diag_source {
    const char *file;
    str text;
} diag_source;

struct diag_engine {
    FILE *out;
    arena *memory;
    arena_mark start; /* of what diag_forget releases */
    diag_record *records;
    size_t record_count, record_capacity;
    diag_source *sources;
    size_t source_count, source_capacity;
    uint32_t max_printed;
    uint32_t seen[DIAG_REMARK + 1]; /* by severity */
    const char *next_path;          /* of the report to come; or NULL */
    const char *last_path;          /* of the last report that is not a note; or NULL */
    bool last_was_remark, shows_remarks, keeps_remarks, hides_paths;
    bool last_was_warning, hides_warnings;
    bool last_was_dropped; /* then its notes are dropped with it */
    bool color;
    bool is_hushed;
    const char *hushed; /* the first error meanwhile */
};

const diag_code_info *diag_code_at(uint32_t index)
{
    static const diag_code_info *const rows[] = {
#define DIAG(code, summary) &(code),
#include "ir/base/diag.def"
#undef DIAG
    };
    return index < sizeof rows / sizeof rows[0] ? rows[index] : NULL;
}

diag_engine *diag_create(FILE *out, int max_errors)
{
    arena *memory = arena_create("diagnostics");
    diag_engine *d = arena_alloc(memory, sizeof *d);
    d->memory = memory;
    d->out = out;
    d->max_printed = max_errors <= 0 ? DEFAULT_MAX_ERRORS : (uint32_t)max_errors;
    d->start = arena_here(memory);
    return d;
}

void diag_forget(diag_engine *d)
{
    d->record_count = d->source_count = 0;
    memset(d->seen, 0, sizeof d->seen);
    d->next_path = d->last_path = d->hushed = NULL;
    d->last_was_remark = d->last_was_warning = d->last_was_dropped = false;
    arena_rewind(d->memory, d->start);
}

static uint32_t dropped(const diag_engine *d, diag_severity severity)
{
    return d->seen[severity] > d->max_printed ? d->seen[severity] - d->max_printed : 0;
}

void diag_destroy(diag_engine *d)
{
    if (d == NULL) return;
    static const struct {
        diag_severity severity;
        const char *name;
    } rows[] = {{DIAG_ERROR, "error"}, {DIAG_WARNING, "warning"}, {DIAG_NOTE, "note"}, {DIAG_REMARK, "remark"}};
    if (!d->shows_remarks) d->seen[DIAG_REMARK] = 0;
    if (d->hides_warnings) d->seen[DIAG_WARNING] = 0;
    for (size_t i = 0; d->out != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t more = dropped(d, rows[i].severity);
        if (more != 0) fprintf(d->out, "%u more %s%s not shown\n", more, rows[i].name, more == 1 ? "" : "s");
    }
    table_free(d->records);
    table_free(d->sources);
    arena_destroy(d->memory);
}

void diag_add_source(diag_engine *d, const char *file, str text)
{
    for (size_t i = 0; i < d->source_count; i++) {
        if (strcmp(d->sources[i].file, file) == 0) {
            d->sources[i].text = text;
            return;
        }
    }
    d->sources = table_grow(d->sources, &d->source_capacity, d->source_count + 1, sizeof *d->sources);
    d->sources[d->source_count++] = (diag_source){arena_strdup(d->memory, file), text};
}

/* Writes the character at the front of `s` so that no terminal is confused; returns its bytes, adds its columns. */
static size_t put_visible(text_buffer *t, str s, size_t *columns)
{
    unsigned char c = (unsigned char)s.p[0];
    if (c >= 0x20 && c < 0x7F) {
        text_putc(t, s.p[0]);
        *columns += 1;
        return 1;
    }
    if (c == '\t') {
        text_puts(t, "    ");
        *columns += 4;
        return 1;
    }
    size_t before = t->n;
    size_t len = 1;
    while (len < s.n && len < 4 && ((unsigned char)s.p[len] & 0xC0) == 0x80) len++;
    if (c < 0x80 || str_utf8_error((str){s.p, len}) != len) {
        text_printf(t, "\\x%02x", c);
        *columns += t->n - before;
        return 1;
    }
    uint32_t code = str_utf8_decode(s, &len);
    if (utf8_is_deceptive(code)) {
        text_printf(t, "<U+%04X>", code);
        *columns += t->n - before;
    } else {
        text_put(t, s.p, len);
        *columns += 1;
    }
    return len;
}

static void put_safe(text_buffer *t, str s)
{
    size_t columns = 0;
    for (size_t i = 0; i < s.n;) i += put_visible(t, (str){s.p + i, s.n - i}, &columns);
}

/* Lines after the first are indented: none can be taken for a diagnostic of its own. */
static void put_message(text_buffer *t, str s)
{
    for (;;) {
        const char *end = s.n != 0 ? memchr(s.p, '\n', s.n) : NULL;
        const size_t n = end != NULL ? (size_t)(end - s.p) : s.n;
        put_safe(t, (str){s.p, n});
        if (end == NULL) return;
        text_puts(t, "\n    ");
        s = (str){s.p + n + 1, s.n - n - 1};
    }
}

static bool line_in_text(str text, uint32_t line, str *out)
{
    const char *p = text.p;
    const char *end = text.p + text.n;
    for (uint32_t i = 1; i < line; i++) {
        const char *newline = p == end ? NULL : memchr(p, '\n', (size_t)(end - p));
        if (newline == NULL) return false;
        p = newline + 1;
    }
    const char *newline = p == end ? NULL : memchr(p, '\n', (size_t)(end - p));
    *out = (str){p, (size_t)((newline == NULL ? end : newline) - p)};
    return true;
}

/* Reads line `line` of a regular file into `buffer`; what lies beyond LINE_READ_BYTES of it is left out. */
static bool line_on_disk(const char *file, uint32_t line, text_buffer *buffer, str *out)
{
    struct stat info;
    if (stat(file, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    FILE *in = fopen(file, "rb");
    if (in == NULL) return false;
    uint32_t at = 1;
    int c = 0;
    while (at < line && (c = getc(in)) != EOF) at += c == '\n';
    while (at == line && (c = getc(in)) != EOF && c != '\n' && buffer->n < LINE_READ_BYTES) text_putc(buffer, (char)c);
    fclose(in);
    *out = (str){buffer->p, buffer->n};
    return at == line && buffer->n != 0;
}

static bool source_line(const diag_engine *d, src_pos at, text_buffer *buffer, str *out)
{
    if (at.file == NULL || at.line == 0 || at.column == 0) return false;
    for (size_t i = 0; i < d->source_count; i++) {
        if (strcmp(d->sources[i].file, at.file) != 0 || d->sources[i].text.p == NULL) continue;
        return line_in_text(d->sources[i].text, at.line, out);
    }
    return line_on_disk(at.file, at.line, buffer, out);
}

static bool is_continuation(str s, size_t at) { return at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80; }

static void print_line_and_caret(text_buffer *t, str line, size_t caret, bool color)
{
    if (line.n != 0 && line.p[line.n - 1] == '\r') line.n--;
    if (caret > line.n) caret = line.n;
    size_t start = 0;
    size_t end = line.n;
    if (line.n > WINDOW_BYTES) {
        start = caret > WINDOW_BYTES / 2 ? caret - WINDOW_BYTES / 2 : 0;
        if (start > line.n - WINDOW_BYTES) start = line.n - WINDOW_BYTES;
        end = start + WINDOW_BYTES;
        while (start < caret && is_continuation(line, start)) start++;
        while (end > caret + 1 && is_continuation(line, end)) end--;
    }
    size_t columns = start > 0 ? 3 : 0;
    if (start > 0) text_puts(t, "...");
    size_t caret_column = columns;
    for (size_t i = start; i < end;) {
        if (i <= caret) caret_column = columns;
        i += put_visible(t, (str){line.p + i, end - i}, &columns);
    }
    if (caret >= end) caret_column = columns;
    if (end < line.n) text_puts(t, "...");
    text_putc(t, '\n');
    for (size_t i = 0; i < caret_column; i++) text_putc(t, ' ');
    text_puts(t, color ? "\033[32m^\033[0m\n" : "^\n");
}

static void print_place(text_buffer *t, src_pos at)
{
    if (at.file == NULL) return;
    put_safe(t, str_from(at.file));
    if (at.line != 0) text_printf(t, ":%u", at.line);
    if (at.line != 0 && at.column != 0) text_printf(t, ":%u", at.column);
    text_puts(t, ": ");
}

const char *diag_severity_name(diag_severity s)
{
    static const char *const names[] = {
#define SEVERITY(ID, word) [DIAG_##ID] = (word),
#include "ir/ops/kinds.def"
    };
    return names[s];
}

static void put_record(text_buffer *t, const diag_record *r, bool color)
{
    static const char *const colors[] = {"\033[36m", "\033[35m", "\033[31m", "\033[34m"};
    if (color) text_puts(t, "\033[1m");
    print_place(t, r->at);
    if (color) text_puts(t, colors[r->severity]);
    text_printf(t, "%s: ", diag_severity_name(r->severity));
    if (color) text_puts(t, "\033[0m");
    if (r->code != NULL) {
        text_putc(t, '[');
        put_safe(t, str_from(r->code));
        text_puts(t, "] ");
    }
    put_message(t, str_from(r->text));
    if (r->path != NULL) {
        text_puts(t, " [");
        put_safe(t, str_from(r->path));
        text_putc(t, ']');
    }
    text_putc(t, '\n');
}

void diag_write(const diag_record *r, text_buffer *out) { put_record(out, r, false); }

static void print_record(const diag_engine *d, const diag_record *r, bool with_line)
{
    text_buffer t;
    text_init(&t);
    put_record(&t, r, d->color);
    text_buffer read;
    text_init(&read);
    str line;
    if (with_line && source_line(d, r->at, &read, &line)) print_line_and_caret(&t, line, r->at.column - 1, d->color);
    fwrite(t.p, 1, t.n, d->out);
    fflush(d->out);
    text_fini(&read);
    text_fini(&t);
}

static bool same_place(src_pos a, src_pos b)
{
    return a.line == b.line && a.column == b.column &&
           (a.file == b.file || (a.file != NULL && b.file != NULL && strcmp(a.file, b.file) == 0));
}

/* The path to record: none in a note about the op of what it belongs to. */
static const char *take_path(diag_engine *d, bool is_note)
{
    const char *path = d->next_path;
    d->next_path = NULL;
    if (!is_note) d->last_path = path;
    return !is_note || path == NULL || d->last_path == NULL || strcmp(path, d->last_path) != 0 ? path : NULL;
}

/* Keeps the first error for callers that asked for silence. */
static bool hush(diag_engine *d, diag_severity severity, str message)
{
    if (!d->is_hushed || (severity != DIAG_ERROR && severity != DIAG_NOTE)) return false;
    if (severity == DIAG_ERROR && d->hushed == NULL) d->hushed = arena_strndup(d->memory, message.p, message.n);
    return true;
}

static void report(diag_engine *d, diag_severity severity, src_pos at, const char *code, str message)
{
    const bool is_note = severity == DIAG_NOTE && code == NULL;
    const char *path = take_path(d, is_note);
    if (hush(d, severity, message)) return;
    if (!is_note) d->last_was_remark = severity == DIAG_REMARK;
    if (!is_note) d->last_was_warning = severity == DIAG_WARNING;
    if (!is_note) d->last_was_dropped = ++d->seen[severity] > d->max_printed;
    if (d->record_count >= RECORDS_MAX && (is_note || d->last_was_dropped)) return;
    d->records = table_grow(d->records, &d->record_capacity, d->record_count + 1, sizeof *d->records);
    diag_record *r = &d->records[d->record_count++];
    *r = (diag_record){.severity = severity, .at = at, .path = path};
    r->at.file = at.file == NULL ? NULL : arena_strdup(d->memory, at.file);
    r->code = code == NULL ? NULL : arena_strdup(d->memory, code);
    if (message.n > MESSAGE_BYTES_MAX) message.n = MESSAGE_BYTES_MAX;
    r->text = arena_strndup(d->memory, message.p, message.n);
    if (d->out == NULL || d->last_was_dropped || (d->last_was_remark && !d->shows_remarks)) return;
    if (d->last_was_warning && d->hides_warnings) return;
    bool repeats = is_note && d->record_count >= 2 && same_place(r->at, r[-1].at);
    print_record(d, r, !repeats);
}

#define REPORT_FORMATTED(severity, code)                                \
    do {                                                                \
        va_list args;                                                   \
        va_start(args, format);                                         \
        char *message = NULL;                                           \
        int len = vasprintf(&message, format, args);                    \
        va_end(args);                                                   \
        BUG_IF(len < 0, "bad diagnostic format `%s`", format);          \
        report(d, (severity), at, (code), (str){message, (size_t)len}); \
        free(message);                                                  \
    } while (0)

void diag_error(diag_engine *d, src_pos at, const diag_code_info *code, const char *format, ...)
{
    REPORT_FORMATTED(DIAG_ERROR, code->code);
}

void diag_warning(diag_engine *d, src_pos at, const diag_code_info *code, const char *format, ...)
{
    REPORT_FORMATTED(DIAG_WARNING, code->code);
}

void diag_note(diag_engine *d, src_pos at, const char *format, ...) { REPORT_FORMATTED(DIAG_NOTE, NULL); }

void diag_report(diag_engine *d, diag_severity severity, src_pos at, const char *code, str message)
{
    report(d, severity, at, code, message);
}

void diag_set_path(diag_engine *d, str path)
{
    if (path.n > MESSAGE_BYTES_MAX) path.n = MESSAGE_BYTES_MAX;
    d->next_path = arena_strndup(d->memory, path.p, path.n);
}

bool diag_wants_path(const diag_engine *d, diag_severity severity)
{
    const bool is_note = severity == DIAG_NOTE;
    const bool is_remark = severity == DIAG_REMARK || (is_note && d->last_was_remark);
    const bool is_dropped = is_note ? d->last_was_dropped : d->seen[severity] >= d->max_printed;
    if (d->hides_paths) return false;
    if (is_remark && d->keeps_remarks && !is_note && d->record_count < RECORDS_MAX) return true;
    return !is_dropped && (!is_remark || d->shows_remarks);
}

void diag_show_paths(diag_engine *d, bool on) { d->hides_paths = !on; }

uint32_t diag_error_count(const diag_engine *d) { return d->seen[DIAG_ERROR]; }

uint32_t diag_record_count(const diag_engine *d) { return (uint32_t)d->record_count; }

const diag_record *diag_record_at(const diag_engine *d, uint32_t index)
{
    return index < d->record_count ? &d->records[index] : NULL;
}

void diag_show_remarks(diag_engine *d, bool on) { d->shows_remarks = on; }

void diag_show_warnings(diag_engine *d, bool on) { d->hides_warnings = !on; }

void diag_keep_remarks(diag_engine *d, bool on) { d->keeps_remarks = on; }

void diag_hush(diag_engine *d, bool on)
{
    if (on) d->hushed = NULL;
    d->is_hushed = on;
}

const char *diag_hushed(const diag_engine *d) { return d->hushed; }

void diag_set_color(diag_engine *d, bool on) { d->color = on; }
