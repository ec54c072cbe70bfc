#include "tools/check/text_difference.h"

#include <inttypes.h>
#include <string.h>

/* The line that starts at `at`, without its end. */
static str line_at(str text, size_t at)
{
    const char *end = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;
    return (str){text.p + at, (end != NULL ? (size_t)(end - text.p) : text.n) - at};
}

/* Where the next line starts; text.n when there is none. */
static size_t next_line(str text, size_t at)
{
    const size_t end = at + line_at(text, at).n;
    return end < text.n ? end + 1 : text.n;
}

/* A window of lines from a place on. */
typedef struct lines {
    str line[TEXT_DIFFERENCE_WINDOW];
    uint32_t count;
} lines;

static void read_lines(str text, size_t at, lines *out)
{
    for (out->count = 0; out->count < TEXT_DIFFERENCE_WINDOW && at < text.n; at = next_line(text, at))
        out->line[out->count++] = line_at(text, at);
}

/* How many lines of each text belong to the difference: the fewest after which both go on alike. */
static void find_end(const lines *a, const lines *b, uint32_t *in_a, uint32_t *in_b)
{
    for (uint32_t sum = 1; sum < a->count + b->count; sum++) {
        for (uint32_t i = 0; i <= sum && i < a->count; i++) {
            const uint32_t k = sum - i;
            if (k >= b->count || !str_eq(a->line[i], b->line[k])) continue;
            *in_a = i;
            *in_b = k;
            return;
        }
    }
    *in_a = a->count;
    *in_b = b->count;
}

static void put_lines(text_buffer *out, char mark, const lines *from, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < TEXT_DIFFERENCE_LINES; i++)
        text_printf(out, "%c%.*s\n", mark, (int)from->line[i].n, from->line[i].p);
    if (count > TEXT_DIFFERENCE_LINES)
        text_printf(out, "%c... %" PRIu32 " more lines\n", mark, count - TEXT_DIFFERENCE_LINES);
}

/* The place and number of the first line that differs; false: none does. */
static bool find_first(str a, str b, size_t *out_at, uint32_t *out_number, size_t context[TEXT_DIFFERENCE_CONTEXT])
{
    size_t at = 0;
    uint32_t number = 1;
    if (a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0)) return false;
    while (at < a.n && at < b.n && str_eq(line_at(a, at), line_at(b, at)) && next_line(a, at) == next_line(b, at)) {
        context[number % TEXT_DIFFERENCE_CONTEXT] = at;
        at = next_line(a, at);
        number++;
    }
    *out_at = at;
    *out_number = number;
    return true;
}

uint32_t text_first_difference(str old_text, str new_text)
{
    size_t at, context[TEXT_DIFFERENCE_CONTEXT];
    uint32_t number;
    return find_first(old_text, new_text, &at, &number, context) ? number : 0;
}

bool text_difference(str old_text, str new_text, const char *old_name, const char *new_name, text_buffer *out)
{
    size_t at, context[TEXT_DIFFERENCE_CONTEXT];
    uint32_t number, in_old, in_new;
    lines a, b;
    if (!find_first(old_text, new_text, &at, &number, context)) return false;
    read_lines(old_text, at, &a);
    read_lines(new_text, at, &b);
    find_end(&a, &b, &in_old, &in_new);
    const uint32_t before = number - 1 < TEXT_DIFFERENCE_CONTEXT ? number - 1 : TEXT_DIFFERENCE_CONTEXT;
    const uint32_t left = a.count - in_old < b.count - in_new ? a.count - in_old : b.count - in_new;
    uint32_t after = 0;
    while (after < left && after < TEXT_DIFFERENCE_CONTEXT && str_eq(a.line[in_old + after], b.line[in_new + after]))
        after++;
    if (old_name != NULL) text_printf(out, "--- %s\n+++ %s\n", old_name, new_name);
    text_printf(out, "@@ -%" PRIu32 ",%" PRIu32 " +%" PRIu32 ",%" PRIu32 " @@\n", number - before,
                before + in_old + after, number - before, before + in_new + after);
    for (uint32_t i = number - before; i < number; i++) {
        const str line = line_at(old_text, context[i % TEXT_DIFFERENCE_CONTEXT]);
        text_printf(out, " %.*s\n", (int)line.n, line.p);
    }
    put_lines(out, '-', &a, in_old);
    put_lines(out, '+', &b, in_new);
    for (uint32_t i = 0; i < after; i++) text_printf(out, " %.*s\n", (int)a.line[in_old + i].n, a.line[in_old + i].p);
    return true;
}
