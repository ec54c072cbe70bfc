/* Proposals on texts: numbers for symbols, smaller numbers, fewer lines. */
#include "tools/reduce/reduce.h"

#include <inttypes.h>
#include <string.h>

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* From `at` on, the next symbol, `$` included, or number outside of names, paths and floats; empty at the end. */
static str next_word(str text, size_t at, bool is_symbol)
{
    for (size_t i = at; i < text.n; i++) {
        const char before = i > 0 ? text.p[i - 1] : ' ';
        size_t n = 1;
        if (is_symbol ? text.p[i] != '$' : !is_digit(text.p[i])) continue;
        while (i + n < text.n && (is_symbol ? is_name_char(text.p[i + n]) : is_digit(text.p[i + n]))) n++;
        const char after = i + n < text.n ? text.p[i + n] : ' ';
        const bool is_whole = is_symbol ? n > 1
                                        : !is_name_char(before) && strchr("%$@.#\"-", before) == NULL &&
                                              !is_name_char(after) && after != '.';
        if (is_whole) return (str){text.p + i, n};
        i += n - 1;
    }
    return (str){text.p + text.n, 0};
}

/* All words like this one become `by`; of numbers, only extents when `is_extent`. */
static void replace_words(str text, str word, bool is_extent, const char *by, text_buffer *out)
{
    size_t from = 0;
    const bool is_symbol = word.p[0] == '$';
    for (str w; (w = next_word(text, from, is_symbol)).n > 0;) {
        const size_t at = (size_t)(w.p - text.p), end = at + w.n;
        const bool is_meant =
            str_eq(w, word) && (!is_extent || (end + 3 <= text.n && memcmp(text.p + end, " x ", 3) == 0));
        text_put(out, text.p + from, at - from);
        if (is_meant)
            text_puts(out, by);
        else
            text_put(out, w.p, w.n);
        from = end;
    }
    text_put(out, text.p + from, text.n - from);
}

static bool try_replaced(reducer *r, str word, bool is_extent, const char *by)
{
    text_buffer t;
    text_init(&t);
    replace_words(r->best, word, is_extent, by, &t);
    module *m = reduce_module(r, (str){t.p, t.n});
    const bool is_taken = m != NULL && reduce_try_module(r, m);
    module_destroy(m);
    text_fini(&t);
    return is_taken;
}

static bool is_first(str text, str word, bool is_symbol)
{
    for (str w; (w = next_word(text, 0, is_symbol)).n > 0;) {
        if (w.p == word.p) return true;
        if (str_eq(w, word)) return false;
        const size_t used = (size_t)(w.p - text.p) + w.n;
        text = (str){text.p + used, text.n - used};
    }
    return false;
}

static bool shrink_number(reducer *r, str word)
{
    char by[32];
    int64_t n = 0;
    if (str_to_i64(word, &n) != OK || n < 2) return false;
    const int64_t smaller[] = {1, 2, 4, 8, 16, n / 2, n - 1};
    for (size_t i = 0; i < sizeof smaller / sizeof smaller[0]; i++) {
        if (smaller[i] >= n || smaller[i] < 1) continue;
        snprintf(by, sizeof by, "%" PRId64, smaller[i]);
        if (try_replaced(r, word, false, by) || try_replaced(r, word, true, by)) return true;
    }
    return false;
}

static bool fix_symbol(reducer *r, str word)
{
    static const char *const numbers[] = {"1", "2", "8", "16", "37", "64", "128", "512"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (try_replaced(r, word, false, numbers[i])) return true;
    return false;
}

static bool reduce_kind(reducer *r, bool is_symbol)
{
    bool is_any = false;
    size_t at = 0;
    for (str w; !r->is_stopped && (w = next_word(r->best, at, is_symbol)).n > 0;) {
        const size_t begin = (size_t)(w.p - r->best.p);
        if (is_first(r->best, w, is_symbol) && (is_symbol ? fix_symbol(r, w) : shrink_number(r, w)))
            is_any = true; /* the text is another one: what is at `begin` now is looked at */
        else
            at = begin + w.n;
    }
    return is_any;
}

bool reduce_words(reducer *r)
{
    bool is_any = reduce_kind(r, true);
    is_any |= reduce_kind(r, false);
    return is_any;
}

/* ---- lines, of what cannot be read as a module ---- */

static size_t line_end(str text, size_t at)
{
    const char *end = memchr(text.p + at, '\n', text.n - at);
    return end != NULL ? (size_t)(end - text.p) + 1 : text.n;
}

static bool try_without(reducer *r, size_t from, size_t to)
{
    text_buffer t;
    text_init(&t);
    text_put(&t, r->best.p, from);
    text_put(&t, r->best.p + to, r->best.n - to);
    const bool is_taken = t.n > 0 && reduce_try(r, (str){t.p, t.n});
    text_fini(&t);
    return is_taken;
}

bool reduce_lines(reducer *r)
{
    bool is_any = false;
    uint32_t lines = 0;
    for (size_t at = 0; at < r->best.n; at = line_end(r->best, at)) lines++;
    for (uint32_t size = lines > 1 ? lines / 2 : 1; size > 0 && !r->is_stopped; size /= 2) {
        for (size_t at = 0; at < r->best.n && !r->is_stopped;) {
            size_t to = at;
            for (uint32_t i = 0; i < size && to < r->best.n; i++) to = line_end(r->best, to);
            if (try_without(r, at, to))
                is_any = true;
            else
                at = line_end(r->best, at);
        }
    }
    return is_any;
}
