#include "ir/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_BYTES = 64 * 1024, FIRST_CAPACITY = 256, DISTANCE_LIMIT = 64, FLOAT_CHARS_MAX = 511 };

str str_from(const char *text) { return (str){text, text == NULL ? 0 : strlen(text)}; }

bool str_starts_with(str a, const char *prefix)
{
    size_t n = strlen(prefix);
    return a.n >= n && (n == 0 || memcmp(a.p, prefix, n) == 0);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

size_t str_distance(str a, str b)
{
    if (a.n > DISTANCE_LIMIT || b.n > DISTANCE_LIMIT) return SIZE_MAX;
    size_t row[DISTANCE_LIMIT + 1];
    for (size_t j = 0; j <= b.n; j++) row[j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t above = row[j];
            size_t replaced = diagonal + (a.p[i - 1] == b.p[j - 1] ? 0 : 1);
            row[j] = smaller(replaced, smaller(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[b.n];
}

bool str_list_has(const char *const *list, const char *word)
{
    for (; list != NULL && *list != NULL; list++) {
        if (strcmp(*list, word) == 0) return true;
    }
    return false;
}

const char *str_nearest(str word, const char *const *candidates)
{
    size_t limit = word.n / 3 < 2 ? 2 : word.n / 3;
    const char *best = NULL;
    size_t best_distance = limit + 1;
    for (; *candidates != NULL; candidates++) {
        str candidate = str_from(*candidates);
        size_t distance = str_distance(word, candidate);
        /* Two edits turn any two-letter word into any other: something of the word must be left. */
        if (distance < best_distance && distance < (word.n > candidate.n ? word.n : candidate.n)) {
            best = *candidates;
            best_distance = distance;
        }
    }
    return best;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* Drops one sign. */
static bool take_sign(str *s)
{
    if (s->n == 0 || (s->p[0] != '-' && s->p[0] != '+')) return false;
    bool minus = s->p[0] == '-';
    s->p++;
    s->n--;
    return minus;
}

static bool take_hex_prefix(str *s)
{
    if (s->n < 2 || s->p[0] != '0' || (s->p[1] != 'x' && s->p[1] != 'X')) return false;
    s->p += 2;
    s->n -= 2;
    return true;
}

status str_to_i64(str s, int64_t *out)
{
    bool minus = take_sign(&s);
    unsigned base = take_hex_prefix(&s) ? 16 : 10;
    if (s.n == 0) return FAILED;
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned)digit_value(s.p[i]);
        if (digit >= base) return FAILED;
        if (__builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, (uint64_t)digit, &v)) {
            return FAILED;
        }
    }
    if (v > (uint64_t)INT64_MAX + (minus ? 1 : 0)) return FAILED;
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return OK;
}

static size_t skip_digits(str s, size_t at, int base)
{
    while (at < s.n && digit_value(s.p[at]) < base) at++;
    return at;
}

/* digits [. digits] [exponent], where hexadecimal numbers have `p` exponents. */
static bool is_float_text(str s)
{
    int base = take_hex_prefix(&s) ? 16 : 10;
    size_t at = skip_digits(s, 0, base);
    if (at == 0) return false;
    if (at < s.n && s.p[at] == '.') {
        size_t end = skip_digits(s, at + 1, base);
        if (end == at + 1) return false;
        at = end;
    }
    if (at == s.n) return true;
    if ((s.p[at] | 0x20) != (base == 16 ? 'p' : 'e')) return false;
    at++;
    if (at < s.n && (s.p[at] == '-' || s.p[at] == '+')) at++;
    return at < s.n && skip_digits(s, at, 10) == s.n;
}

status str_to_f64(str s, double *out)
{
    if (s.n > FLOAT_CHARS_MAX) return FAILED;
    bool minus = take_sign(&s);
    if (str_is(s, "inf")) {
        *out = minus ? -(double)INFINITY : (double)INFINITY;
        return OK;
    }
    if (str_is(s, "nan")) {
        *out = minus ? -(double)NAN : (double)NAN;
        return OK;
    }
    if (!is_float_text(s)) return FAILED;
    char copy[FLOAT_CHARS_MAX + 1];
    memcpy(copy, s.p, s.n);
    copy[s.n] = 0;
    double v = strtod(copy, NULL);
    if (isinf(v)) return FAILED;
    *out = minus ? -v : v;
    return OK;
}

/* Bytes of the well-formed sequence at p, 0 when there is none (overlong forms, surrogates, above U+10FFFF). */
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
    unsigned char lead = p[0];
    if (lead == 0) return 0;
    if (lead < 0x80) return 1;
    size_t len = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || len > n) return 0;
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
    }
    return len;
}

size_t str_utf8_error(str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t at = 0;
    while (at < s.n) {
        /* ASCII bytes other than NUL, eight or four times eight at a time: no high bit, and none borrows when 1 is
         * taken from it. */
        while (s.n - at >= 32) {
            uint64_t w[4];
            memcpy(w, p + at, sizeof w);
            uint64_t bits = 0;
            for (int i = 0; i < 4; i++) bits |= w[i] | (w[i] - 0x0101010101010101U);
            if ((bits & 0x8080808080808080U) != 0) break;
            at += 32;
        }
        while (s.n - at >= 8) {
            uint64_t word;
            memcpy(&word, p + at, sizeof word);
            if (((word | (word - 0x0101010101010101U)) & 0x8080808080808080U) != 0) break;
            at += 8;
        }
        while (at < s.n && p[at] - 1U < 0x7F) at++;
        if (at == s.n) break;
        size_t len = utf8_sequence(p + at, s.n - at);
        if (len == 0) return at;
        at += len;
    }
    return s.n;
}

uint32_t str_utf8_decode(str s, size_t *out_bytes)
{
    unsigned char lead = (unsigned char)s.p[0];
    size_t len = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    BUG_IF(len > s.n, "decoding cut UTF-8");
    uint32_t c = len == 1 ? lead : lead & (0x7FU >> len);
    for (size_t i = 1; i < len; i++) c = c << 6 | ((unsigned char)s.p[i] & 0x3FU);
    *out_bytes = len;
    return c;
}

bool utf8_is_deceptive(uint32_t c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E ||
           c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

size_t str_plain_prefix(str s)
{
    const uint64_t ones = 0x0101010101010101U, high = 0x80 * ones;
    size_t at = 0;
    for (uint64_t word; s.n - at >= sizeof word; at += sizeof word) {
        memcpy(&word, s.p + at, sizeof word);
        /* A byte from 0x80 on, one that 1 makes such, or one from which 0x20 borrows. */
        if (((word | (word + ones) | (word - 0x20 * ones)) & high) != 0) break;
    }
    while (at < s.n && s.p[at] >= 0x20 && s.p[at] < 0x7F) at++;
    return at;
}

bool str_is_plain_line(str s)
{
    if (str_plain_prefix(s) == s.n) return true;
    if (s.n != 0 && str_utf8_error(s) != s.n) return false;
    for (size_t at = 0, bytes; at < s.n; at += bytes) {
        const uint32_t c = str_utf8_decode((str){s.p + at, s.n - at}, &bytes);
        if (utf8_is_deceptive(c) || c == '\n' || c == '\t') return false;
    }
    return true;
}

void text_init(text_buffer *t) { *t = (text_buffer){0}; }

void text_fini(text_buffer *t)
{
    table_free(t->p);
    *t = (text_buffer){0};
}

const char *text_keep(text_buffer *t, arena *a)
{
    const char *kept = t->n != 0 ? arena_strndup(a, t->p, t->n) : "";
    text_fini(t);
    return kept;
}

static void text_flush(text_buffer *t)
{
    if (t->n != 0 && !t->flush_failed && t->flush(t->self, t->p, t->n) != OK) t->flush_failed = true;
    t->n = 0;
}

void text_reserve(text_buffer *t, size_t more)
{
    size_t wanted = more < SIZE_MAX - t->n ? t->n + more + 1 : SIZE_MAX;
    if (wanted <= t->capacity) return;
    if (t->flush != NULL && !t->is_held && t->capacity >= FLUSH_BYTES) {
        text_flush(t);
        wanted = more + 1;
    }
    size_t least = t->flush != NULL ? FLUSH_BYTES : FIRST_CAPACITY;
    t->p = table_grow(t->p, &t->capacity, wanted < least ? least : wanted, 1);
}

size_t text_hold(text_buffer *t)
{
    if (t->flush != NULL && t->n >= FLUSH_BYTES) text_flush(t);
    t->is_held = true;
    return t->n;
}

void text_puts(text_buffer *t, const char *s) { text_put(t, s, strlen(s)); }

void text_put_u64(text_buffer *t, uint64_t v)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    enum { MOST = 20 };
    size_t n = 1;
    for (uint64_t end = 10; n < MOST && v >= end; end *= 10) n++;
    if (t->capacity - t->n <= MOST) text_reserve(t, MOST);
    t->n += n;
    char *at = t->p + t->n;
    *at = 0;
    for (; v >= 100; v /= 100) {
        at -= 2;
        memcpy(at, pairs + v % 100 * 2, 2);
    }
    if (v >= 10)
        memcpy(at - 2, pairs + v * 2, 2);
    else
        at[-1] = (char)('0' + v);
}

void text_put_i64(text_buffer *t, int64_t v)
{
    if (v < 0) text_putc(t, '-');
    text_put_u64(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void text_put_f64(text_buffer *t, double v)
{
    if (isnan(v) || isinf(v)) {
        text_puts(t, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, v);
        double back = strtod(digits, NULL);
        if (memcmp(&back, &v, sizeof v) == 0) break;
    }
    text_puts(t, digits);
    if (strpbrk(digits, ".e") == NULL) text_puts(t, ".0");
}

__attribute__((format(printf, 2, 0))) static void put_formatted(text_buffer *t, const char *format, va_list args)
{
    text_reserve(t, 128);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(t->p + t->n, t->capacity - t->n, format, args);
    BUG_IF(n < 0, "bad format `%s`", format);
    if ((size_t)n >= t->capacity - t->n) {
        text_reserve(t, (size_t)n);
        vsnprintf(t->p + t->n, t->capacity - t->n, format, again);
    }
    t->n += (size_t)n;
    va_end(again);
}

void text_printf(text_buffer *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_formatted(t, format, args);
    va_end(args);
}

const char *text_format(arena *a, const char *format, ...)
{
    va_list args;
    text_buffer t;
    text_init(&t);
    va_start(args, format);
    put_formatted(&t, format, args);
    va_end(args);
    return text_keep(&t, a);
}

static void put_escaped(text_buffer *t, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char from[] = "\"\\\n\t\r\b\f";
    static const char to[] = "\"\\ntrbf";
    const char *found = c == 0 ? NULL : strchr(from, c);
    if (found != NULL) {
        char pair[2] = {'\\', to[found - from]};
        text_put(t, pair, sizeof pair);
    } else {
        char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        text_put(t, code, sizeof code);
    }
}

void text_put_quoted(text_buffer *t, str s)
{
    text_putc(t, '"');
    size_t start = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
        text_put(t, s.p + start, i - start);
        put_escaped(t, c);
        start = i + 1;
    }
    text_put(t, s.p + start, s.n - start);
    text_putc(t, '"');
}

status text_finish(text_buffer *t)
{
    if (t->flush == NULL) return OK;
    if (t->p != NULL) text_flush(t);
    return t->flush_failed ? FAILED : OK;
}
