#include "tools/inspect/inspect.h"

#include <stdarg.h>
#include <stdio.h>

void inspect_begin(inspector *x)
{
    x->entries = 0;
    if (x->format == INSPECT_JSON) text_puts(&x->out, "[");
}

void inspect_entry(inspector *x, const char *title, const char *sentence)
{
    text_buffer *t = &x->out;
    switch (x->format) {
    case INSPECT_TEXT: text_printf(t, "%-28s %s\n", title, sentence != NULL ? sentence : ""); break;
    case INSPECT_MARKDOWN:
        text_printf(t, "%s### `%s`\n%s\n\n", x->entries ? "\n" : "", title, sentence != NULL ? sentence : "");
        break;
    case INSPECT_JSON:
        text_puts(t, x->entries ? ",\n {\"name\": " : "\n {\"name\": ");
        text_put_quoted(t, str_from(title));
        if (sentence != NULL) {
            text_puts(t, ", \"doc\": ");
            text_put_quoted(t, str_from(sentence));
        }
        break;
    }
    x->entries++;
}

void inspect_row(inspector *x, const char *key, const char *value)
{
    text_buffer *t = &x->out;
    if (value == NULL || !*value) return;
    switch (x->format) {
    case INSPECT_TEXT: text_printf(t, "    %-16s %s\n", key, value); break;
    case INSPECT_MARKDOWN: text_printf(t, "- %s: %s\n", key, value); break;
    case INSPECT_JSON:
        text_puts(t, ", ");
        text_put_quoted(t, str_from(key));
        text_puts(t, ": ");
        text_put_quoted(t, str_from(value));
        break;
    }
}

void inspect_rowf(inspector *x, const char *key, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    inspect_row(x, key, text);
}

void inspect_list(inspector *x, const char *key, const char *const *items)
{
    if (items == NULL || *items == NULL) return;
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; items[i] != NULL; i++) text_printf(&t, "%s%s", i ? ", " : "", items[i]);
    inspect_row(x, key, t.p);
    text_fini(&t);
}

void inspect_entry_end(inspector *x)
{
    if (x->format == INSPECT_JSON) text_puts(&x->out, "}");
}

void inspect_end(inspector *x)
{
    if (x->format == INSPECT_JSON) text_puts(&x->out, "\n]\n");
}
