/* String views and a growing text buffer. */
#ifndef IR_BASE_TEXT_H
#define IR_BASE_TEXT_H

#include "ir/base/arena.h"
#include "ir/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A view of bytes; not NUL-terminated; owned by other code. */
typedef struct str {
    const char *p;
    size_t n;
} str;

#define STR(literal) ((str){(literal), sizeof(literal) - 1})
/* A view of a text that ends in NUL; NULL is empty. */
str str_from(const char *text);
/* Most names differ in length or in the first byte, which spares two calls. */
static inline bool str_eq(str a, str b)
{
    return a.n == b.n && (a.n == 0 || (a.p[0] == b.p[0] && memcmp(a.p, b.p, a.n) == 0));
}

/* Below, at or above 0, byte by byte, as memcmp says it; the shorter one of two that begin alike comes first. */
static inline int str_order(str a, str b)
{
    const size_t n = a.n < b.n ? a.n : b.n;
    const int order = n != 0 ? memcmp(a.p, b.p, n) : 0;
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}
static inline bool str_is(str a, const char *text)
{
    if (a.n == 0 || text == NULL) return a.n == 0 && (text == NULL || text[0] == '\0');
    return a.p[0] == text[0] && a.n == strlen(text) && memcmp(a.p, text, a.n) == 0;
}
bool str_starts_with(str a, const char *prefix);
/* Whether a word is in a list that ends in NULL; a list that is NULL is empty. */
bool str_list_has(const char *const *list, const char *word);

/* Edit distance (Levenshtein), for "did you mean". For lengths above 64: SIZE_MAX. */
size_t str_distance(str a, str b);

/* The candidate nearest to `word`, or NULL when none is near enough (distance above a third of its length, at
 * least 2). `candidates` ends in NULL. */
const char *str_nearest(str word, const char *const *candidates);

/* Strict decimal integer with optional sign, or 0x hexadecimal. Whole view or nothing. Fails on overflow. */
MUST_CHECK status str_to_i64(str s, int64_t *out);
/* Strict decimal or hexadecimal floating point, `inf`, `nan`, sign allowed. Whole view or nothing. Fails on overflow
 * and above 511 characters. */
MUST_CHECK status str_to_f64(str s, double *out);
/* First byte offset that is not valid UTF-8, or s.n. NUL counts as invalid. */
size_t str_utf8_error(str s);
/* The code point at the front of valid UTF-8, and its bytes. `s` is not empty. */
uint32_t str_utf8_decode(str s, size_t *out_bytes);
/* How many bytes at the start are printable ASCII: most texts are nothing else. */
size_t str_plain_prefix(str s);
/* Code points that control a terminal or deceive about order: C0 but newline and tab, DEL, C1, line separators, byte
 * order mark, bidirectional controls. */
bool utf8_is_deceptive(uint32_t c);
/* UTF-8 in one line, without tabs and without what utf8_is_deceptive tells of: it can be shown as it is. */
bool str_is_plain_line(str s);

/* A text buffer on the heap, always NUL-terminated after the first write. When `flush` is set, bytes beyond
 * 64 KiB are handed to it and dropped from the buffer, so output of any size needs little memory. */
typedef struct text_buffer {
    char *p;
    size_t n, capacity;
    status (*flush)(void *self, const char *p, size_t n);
    void *self;
    bool flush_failed, is_held;
} text_buffer;

/* An empty buffer that grows; no memory is taken yet. */
void text_init(text_buffer *t);
/* Frees the bytes; what was not flushed is lost. */
void text_fini(text_buffer *t);
/* Ends the buffer and returns its text, NUL-terminated, in the arena; "" when it is empty. */
const char *text_keep(text_buffer *t, arena *a);
/* What printf would write, NUL-terminated, in the arena. */
__attribute__((format(printf, 2, 3))) const char *text_format(arena *a, const char *format, ...);
/* Space for `more` bytes and a NUL: hands what there is to `flush` when that is much, grows otherwise. */
void text_reserve(text_buffer *t, size_t more);
void text_puts(text_buffer *t, const char *s);

/* Appends bytes, one character, a number in decimal. The program ends when there is no memory. */
static inline void text_put(text_buffer *t, const char *p, size_t n)
{
    if (t->capacity - t->n <= n) text_reserve(t, n);
    if (n != 0) memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}
static inline void text_putc(text_buffer *t, char c) { text_put(t, &c, 1); }
void text_put_i64(text_buffer *t, int64_t v);
void text_put_u64(text_buffer *t, uint64_t v);
/* The shortest of 15 to 17 digits that reads back to the same bits, always with `.` or an exponent; `inf`, `-inf`,
 * `nan` (sign and payload of a NaN are lost). */
void text_put_f64(text_buffer *t, double v);
void text_printf(text_buffer *t, const char *format, ...) PRINTF_LIKE(2, 3);
/* Writes `s` with JSON escapes and quotes: also the escape form of .ptir strings. Bytes from 0x80 pass unchanged. */
void text_put_quoted(text_buffer *t, str s);
/* Where the next byte goes. Until text_release nothing is handed to `flush`, so what was put since can be changed. */
size_t text_hold(text_buffer *t);
static inline void text_release(text_buffer *t) { t->is_held = false; }
/* Hands the rest to `flush`. Fails when any flush failed. */
MUST_CHECK status text_finish(text_buffer *t);

#endif
