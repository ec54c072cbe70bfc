/* Text in scratch memory of a run, for code generators. */
#ifndef SCRATCH_TEXT_H
#define SCRATCH_TEXT_H

#include <pto/plugin.h>

typedef struct text {
    const pto_run *run;
    char *p;
    size_t n, capacity;
    uint32_t depth; /* blocks around the next line, four spaces each */
} text;

/* Append bytes, and formatted text. */
void text_bytes(text *t, const char *p, size_t n);
PTO_PRINTF_LIKE(2, 3) void text_put(text *t, const char *format, ...);
PTO_PRINTF_LIKE(2, 0) void text_vput(text *t, const char *format, va_list args);
/* A line with indentation; `text_open` and `text_close` are lines of C after which, or before which, it changes. */
PTO_PRINTF_LIKE(2, 3) void text_line(text *t, const char *format, ...);
PTO_PRINTF_LIKE(2, 3) void text_open(text *t, const char *format, ...);
/* `end` follows the brace. */
void text_close(text *t, const char *end);
/* What was put, NUL-ended. */
const char *text_end(text *t);
/* Whether a name of C is used in it. */
int text_has_name(text *t, const char *name);
/* Formats in scratch memory, of which it takes as much as the text has. */
PTO_PRINTF_LIKE(2, 0) const char *text_vformat(const pto_run *run, const char *format, va_list args);
PTO_PRINTF_LIKE(2, 3) const char *text_format(const pto_run *run, const char *format, ...);
/* A name of the module as a part of C identifiers. */
const char *text_identifier(const pto_run *run, pto_str name);

#endif
