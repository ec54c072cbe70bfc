/* The parser's view of tokens, and its errors. */
#include "ir/text/parser_state.h"

#include <string.h>

enum { SHOWN_BYTES = 40 };

src_pos pos_at(const parser *p, uint32_t line, uint32_t column)
{
    return (src_pos){.file = p->file, .line = line, .column = column};
}

src_pos pos_of(const parser *p, const token *t) { return pos_at(p, t->line, t->column); }

bool may_report(parser *p)
{
    if (p->stop) return false;
    if (++p->errors >= MAX_ERRORS) p->stop = true;
    return true;
}

const char *shown(parser *p, const token *t)
{
    if (t->kind == TOK_END) return "the end of the text";
    size_t n = (size_t)(t->p - t->start) + t->n + (t->kind == TOK_STRING ? 1 : 0);
    bool is_cut = n > SHOWN_BYTES;
    if (is_cut) {
        n = SHOWN_BYTES;
        while (n > 0 && ((unsigned char)t->start[n] & 0xC0) == 0x80) n--;
    }
    p->scratch.n = 0;
    text_putc(&p->scratch, '`');
    text_put(&p->scratch, t->start, n);
    text_puts(&p->scratch, is_cut ? "...`" : "`");
    return p->scratch.p;
}

static status fail_bad_token(parser *p)
{
    const token *t = &p->tok;
    if (t->kind == TOK_UNCLOSED) {
        FAIL_HERE(p, E0106, "the string is not closed on its line; write a line break as \\n");
    }
    if (t->kind == TOK_BAD_NUMBER) {
        if (memchr(t->p, 'x', t->n) != NULL) {
            FAIL_HERE(p, E0107, "%s is not a number; extents are separated by ` x ` with blanks", shown(p, t));
        }
        FAIL_HERE(p, E0107, "%s is not a number", shown(p, t));
    }
    if (t->kind == TOK_TOO_LONG) {
        FAIL_HERE(p, E0103, "the name %s has %u bytes; the limit is %d", shown(p, t), t->n, LEXER_NAME_BYTES);
    }
    char c = *t->start;
    if (c == '%' || c == '$' || c == '@') FAIL_HERE(p, E0102, "a name must follow `%c`", c);
    if (c >= 0x20 && c < 0x7F) FAIL_HERE(p, E0102, "the character `%c` has no meaning here", c);
    FAIL_HERE(p, E0102, "the byte 0x%02x has no meaning outside strings and comments", (unsigned)(unsigned char)c);
}

status fail_expected(parser *p, const char *what)
{
    if (p->tok.kind == TOK_BAD || p->tok.kind == TOK_UNCLOSED || p->tok.kind == TOK_BAD_NUMBER ||
        p->tok.kind == TOK_TOO_LONG) {
        return fail_bad_token(p);
    }
    FAIL_HERE(p, E0105, "expected %s but found %s", what, shown(p, &p->tok));
}

status expect(parser *p, uint32_t kind, const char *what)
{
    if (p->tok.kind != kind) return fail_expected(p, what);
    next(p);
    return OK;
}

status expect_close(parser *p, uint32_t kind, const token *open)
{
    if (p->tok.kind == kind) {
        next(p);
        return OK;
    }
    char what[] = "`,` or `?`";
    what[8] = (char)kind;
    if (p->tok.kind != TOK_END) return fail_expected(p, what);
    if (may_report(p)) {
        diag_error(p->diags, pos_of(p, &p->tok), &E0106, "expected `%c` before the end of the text", (char)kind);
        diag_note(p->diags, pos_of(p, open), "to close this");
    }
    return FAILED;
}

bool accept_word(parser *p, const char *word)
{
    if (!at_word(p, word)) return false;
    next(p);
    return true;
}

status expect_word(parser *p, const char *word)
{
    if (accept_word(p, word)) return OK;
    char what[64];
    snprintf(what, sizeof what, "`%s`", word);
    return fail_expected(p, what);
}

status enter_bracket(parser *p)
{
    if (p->brackets >= MAX_BRACKET_NESTING) {
        FAIL_HERE(p, E0104, "brackets are nested %u deep; the limit is %d", p->brackets + 1, MAX_BRACKET_NESTING);
    }
    p->brackets++;
    return OK;
}

token peek(const parser *p)
{
    lexer ahead = p->lex;
    token t;
    lexer_next(&ahead, &t);
    return t;
}

void push_name(name_stack *s, const token *t, value_name name)
{
    if (s->count == s->capacity) s->items = table_grow(s->items, &s->capacity, s->count + 1, sizeof *s->items);
    s->items[s->count++] = (name_ref){.name = name, .line = t->line, .column = t->column};
}

str_id intern_text(parser *p, str s)
{
    uint32_t hash = (uint32_t)s.n * 0x9E3779B1u;
    if (s.n != 0) {
        hash ^= ((uint32_t)(unsigned char)s.p[0] << 16 | (uint32_t)(unsigned char)s.p[s.n / 2] << 8 |
                 (unsigned char)s.p[s.n - 1]) *
                0x85EBCA77u;
    }
    string_cache_entry *e = &p->string_cache[(hash >> 20) % STRING_CACHE_SIZE];
    if (e->n == s.n && e->p != NULL && memcmp(e->p, s.p, s.n) == 0) return e->id;
    str_id id = string_intern(p->c, s);
    *e = (string_cache_entry){.p = s.p, .n = (uint32_t)s.n, .id = id};
    return id;
}

bool token_is_large(const token *t, int64_t *out_bits)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t digit = (uint64_t)(t->p[i] - '0');
        if (t->p[i] < '0' || t->p[i] > '9' || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out_bits = (int64_t)v;
    return v > INT64_MAX;
}

status parse_int(parser *p, bool is_negative, int64_t *out)
{
    const token *t = &p->tok;
    if (t->kind != TOK_INT) return fail_expected(p, "an integer");
    /* With the sign before it, so that the least 64-bit number can be written. */
    char text[32];
    size_t skip = t->n > 16 ? strspn(t->p, "0") : 0;
    bool is_short = t->n - skip < sizeof text - 1 && (skip == 0 || t->p[skip] != 'x');
    if (is_short) {
        text[0] = is_negative ? '-' : '+';
        memcpy(text + 1, t->p + skip, t->n - skip);
    }
    size_t n = t->n - skip;
    if (is_short && n == 0) text[1 + n++] = '0';
    if (!is_short || str_to_i64((str){text, n + 1}, out) != OK) {
        FAIL_HERE(p, E0107, "%s%s does not fit in 64 bits", is_negative ? "minus " : "", shown(p, t));
    }
    next(p);
    return OK;
}

/* `s` is what the string token at hand stands for. */
static status take_string(parser *p, str s, str_id *out)
{
    if (s.n > LEXER_STRING_BYTES) {
        FAIL_HERE(p, E0103, "the string has %zu bytes; the limit is %d", s.n, LEXER_STRING_BYTES);
    }
    *out = string_intern(p->c, s);
    next(p);
    return OK;
}

status parse_string(parser *p, str_id *out)
{
    const token *t = &p->tok;
    if (t->kind != TOK_STRING) return fail_expected(p, "a string");
    if (!t->has_escape) return take_string(p, text_of(t), out);
    p->scratch.n = 0;
    int64_t bad = lexer_unescape(text_of(t), p->is_generic, &p->scratch);
    if (bad >= 0) {
        src_pos at = pos_of(p, t);
        at.column += (uint32_t)bad + 1;
        FAIL(p, at, E0108, "unknown or incomplete escape `\\%.1s`; known are %s", t->p + bad + 1,
             p->is_generic ? "\\\\ \\\" \\n \\t and two hexadecimal digits"
                           : "\\\\ \\\" \\/ \\b \\f \\n \\r \\t \\uXXXX");
    }
    str s = {p->scratch.p, p->scratch.n};
    if (str_utf8_error(s) != s.n) FAIL_HERE(p, E0108, "the escapes of this string give invalid UTF-8");
    return take_string(p, s, out);
}

status parse_symbol_name(parser *p, str_id *out)
{
    if (p->tok.kind != TOK_AT) return fail_expected(p, "`@` and a name");
    *out = intern_text(p, text_of(&p->tok));
    next(p);
    return OK;
}
