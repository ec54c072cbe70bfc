/* Text in scratch memory. */
#include "scratch_text.h"

void text_bytes(text *t, const char *p, size_t n)
{
    if (t->capacity - t->n < n + 1) {
        const size_t capacity = 2 * (t->n + n) + 256;
        char *bigger = PTO_SCRATCH(t->run, char, capacity);
        if (t->n != 0) memcpy(bigger, t->p, t->n);
        t->p = bigger;
        t->capacity = capacity;
    }
    memcpy(t->p + t->n, p, n);
    t->n += n;
}

/* Most texts are short: what is printed goes through a buffer of this size, and memory is taken for what it has. */
enum { SHORT_BYTES = 512 };

void text_vput(text *t, const char *format, va_list args)
{
    char small[SHORT_BYTES];
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(small, sizeof small, format, args);
    if (n >= 0 && (size_t)n < sizeof small) {
        text_bytes(t, small, (size_t)n);
    } else if (n > 0) {
        char *large = PTO_SCRATCH(t->run, char, (size_t)n + 1);
        (void)vsnprintf(large, (size_t)n + 1, format, again);
        text_bytes(t, large, (size_t)n);
    }
    va_end(again);
}

void text_put(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vput(t, format, args);
    va_end(args);
}

PTO_PRINTF_LIKE(2, 0) static void put_line(text *t, const char *format, va_list args, const char *end)
{
    for (uint32_t i = 0; i < t->depth; i++) text_bytes(t, "    ", 4);
    text_vput(t, format, args);
    text_bytes(t, end, strlen(end));
}

void text_line(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(t, format, args, "\n");
    va_end(args);
}

void text_open(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(t, format, args, " {\n");
    va_end(args);
    t->depth++;
}

void text_close(text *t, const char *end)
{
    t->depth--;
    text_line(t, "}%s", end);
}

const char *text_end(text *t)
{
    text_bytes(t, "", 1);
    t->n--;
    return t->p;
}

int text_has_name(text *t, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t n = strlen(name);
    const char *begin = text_end(t);
    for (const char *p = strstr(begin, name); p != NULL; p = strstr(p + 1, name)) {
        const int is_field = p != begin && (p[-1] == '.' || p[-1] == '>');
        if (!is_field && (p == begin || strchr(letters, p[-1]) == NULL) && (p[n] == 0 || strchr(letters, p[n]) == NULL))
            return 1;
    }
    return 0;
}

const char *text_vformat(const pto_run *run, const char *format, va_list args)
{
    char small[SHORT_BYTES];
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(small, sizeof small, format, args);
    const size_t bytes = n > 0 ? (size_t)n + 1 : 1;
    char *p = PTO_SCRATCH(run, char, bytes);
    if (bytes <= sizeof small)
        memcpy(p, n > 0 ? small : "", bytes);
    else
        (void)vsnprintf(p, bytes, format, again);
    va_end(again);
    return p;
}

const char *text_format(const pto_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *p = text_vformat(run, format, args);
    va_end(args);
    return p;
}

const char *text_identifier(const pto_run *run, pto_str name)
{
    static const char hex[] = "0123456789abcdef";
    char *begin = PTO_SCRATCH(run, char, 3 * name.n + 1), *p = begin;
    for (size_t i = 0; i < name.n; i++) {
        const unsigned char c = (unsigned char)name.p[i];
        const int plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        *p++ = plain ? (char)c : '_';
        if (plain) continue;
        *p++ = hex[c >> 4];
        *p++ = hex[c & 15];
    }
    *p = '\0';
    return begin;
}
