#include "ir/text/lexer.h"

#include <string.h>

enum { IS_SPACE = 1, IS_WORD_START = 2, IS_DIGIT = 4, IS_DOT = 8, IS_WORD = IS_WORD_START | IS_DIGIT | IS_DOT };

static const uint8_t classes[256] = {
    [' '] = IS_SPACE, ['\t'] = IS_SPACE, ['\r'] = IS_SPACE, ['\n'] = IS_SPACE, ['.'] = IS_DOT,   ['0'] = IS_DIGIT,
    ['1'] = IS_DIGIT, ['2'] = IS_DIGIT,  ['3'] = IS_DIGIT,  ['4'] = IS_DIGIT,  ['5'] = IS_DIGIT, ['6'] = IS_DIGIT,
    ['7'] = IS_DIGIT, ['8'] = IS_DIGIT,  ['9'] = IS_DIGIT,
#define LETTER IS_WORD_START
    ['_'] = LETTER,   ['a'] = LETTER,    ['b'] = LETTER,    ['c'] = LETTER,    ['d'] = LETTER,   ['e'] = LETTER,
    ['f'] = LETTER,   ['g'] = LETTER,    ['h'] = LETTER,    ['i'] = LETTER,    ['j'] = LETTER,   ['k'] = LETTER,
    ['l'] = LETTER,   ['m'] = LETTER,    ['n'] = LETTER,    ['o'] = LETTER,    ['p'] = LETTER,   ['q'] = LETTER,
    ['r'] = LETTER,   ['s'] = LETTER,    ['t'] = LETTER,    ['u'] = LETTER,    ['v'] = LETTER,   ['w'] = LETTER,
    ['x'] = LETTER,   ['y'] = LETTER,    ['z'] = LETTER,    ['A'] = LETTER,    ['B'] = LETTER,   ['C'] = LETTER,
    ['D'] = LETTER,   ['E'] = LETTER,    ['F'] = LETTER,    ['G'] = LETTER,    ['H'] = LETTER,   ['I'] = LETTER,
    ['J'] = LETTER,   ['K'] = LETTER,    ['L'] = LETTER,    ['M'] = LETTER,    ['N'] = LETTER,   ['O'] = LETTER,
    ['P'] = LETTER,   ['Q'] = LETTER,    ['R'] = LETTER,    ['S'] = LETTER,    ['T'] = LETTER,   ['U'] = LETTER,
    ['V'] = LETTER,   ['W'] = LETTER,    ['X'] = LETTER,    ['Y'] = LETTER,    ['Z'] = LETTER,
#undef LETTER
};

static uint8_t class_of(char c) { return classes[(unsigned char)c]; }

bool lexer_is_word_byte(char c) { return (class_of(c) & IS_WORD) != 0; }

bool lexer_is_value_name(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((class_of(s.p[i]) & (IS_WORD_START | IS_DIGIT)) == 0) return false;
    return s.n != 0 && s.n <= LEXER_NAME_BYTES;
}

bool lexer_is_name(str s, bool with_dots)
{
    if (s.n == 0 || s.n > LEXER_NAME_BYTES || (class_of(s.p[0]) & IS_WORD_START) == 0) return false;
    for (size_t i = 0; i < s.n; i++)
        if (!lexer_is_word_byte(s.p[i]) || (s.p[i] == '.' && !with_dots)) return false;
    return true;
}

void lexer_init(lexer *l, const char *text) { *l = (lexer){.at = text, .line_start = text, .line = 1}; }

static const char *skip_blank(lexer *l)
{
    const char *p = l->at;
    for (;;) {
        while (*p == ' ') p++;
        if (*p == '\n') {
            l->line++;
            l->line_start = ++p;
        } else if (*p == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
        } else if (class_of(*p) & IS_SPACE) {
            p++;
        } else {
            return p;
        }
    }
}

/* A number starts at p. A sign belongs to it only after its exponent letter. */
static const char *lex_number(const char *p, token *out)
{
    const char *start = p;
    bool is_hex = p[0] == '0' && (p[1] | 0x20) == 'x';
    char exponent = is_hex ? 'p' : 'e';
    while (class_of(*p) & IS_DIGIT) p++;
    if (!(class_of(*p) & IS_WORD)) {
        out->kind = TOK_INT;
        return p;
    }
    bool is_float = false;
    bool is_good = true;
    if (is_hex) p++;
    for (; class_of(*p) & IS_WORD; p++) {
        char c = (char)(*p | 0x20);
        bool is_hex_digit = is_hex && c >= 'a' && c <= 'f';
        if (*p == '.') {
            is_float = true;
        } else if (c == exponent) {
            is_float = true;
            if (p[1] == '+' || p[1] == '-') p++;
        } else if (!(class_of(*p) & IS_DIGIT) && !is_hex_digit) {
            is_good = false;
        }
    }
    if (p - start == 2 && is_hex) is_good = false;
    out->kind = !is_good ? TOK_BAD_NUMBER : is_float ? TOK_FLOAT : TOK_INT;
    return p;
}

/* p is after the opening quote. */
static const char *lex_string(const char *p, token *out)
{
    out->p = p;
    while (*p != '"') {
        if (*p == '\n' || *p == 0) {
            out->kind = TOK_UNCLOSED;
            out->n = 0;
            return p;
        }
        if (*p == '\\') {
            out->has_escape = true;
            if (p[1] != '\n' && p[1] != 0) p++;
        }
        p++;
    }
    out->kind = TOK_STRING;
    out->n = (uint32_t)(p - out->p);
    return p + 1;
}

static const char *lex_name(const char *p, uint32_t kind, uint8_t first, uint8_t rest, token *out)
{
    out->p = ++p;
    if (!(class_of(*p) & first)) {
        out->kind = TOK_BAD;
        return p;
    }
    uint8_t seen = 0;
    for (uint8_t c; (c = class_of(*p)) & rest; p++) seen |= c;
    out->has_dot = (seen & IS_DOT) != 0;
    out->n = (uint32_t)(p - out->p);
    out->kind = out->n > LEXER_NAME_BYTES ? TOK_TOO_LONG : kind;
    return p;
}

static const char *lex_pair(const char *p, char second, uint32_t pair, token *out)
{
    out->kind = p[1] == second ? pair : (uint32_t)*p;
    return p + (p[1] == second ? 2 : 1);
}

void lexer_next(lexer *l, token *out)
{
    const char *p = skip_blank(l);
    out->start = p;
    out->p = p;
    out->n = 0;
    out->line = l->line;
    out->column = (uint32_t)(p - l->line_start) + 1;
    out->has_escape = out->has_dot = false;
    char c = *p;
    uint8_t class = class_of(c);
    if (class & IS_WORD_START) {
        do {
            p++;
        } while (class_of(*p) & IS_WORD);
        out->kind = p - out->start > LEXER_NAME_BYTES ? TOK_TOO_LONG : TOK_WORD;
    } else if (class & IS_DIGIT) {
        p = lex_number(p, out);
    } else {
        switch (c) {
        case 0: out->kind = TOK_END; break;
        case '%': p = lex_name(p, TOK_VALUE, IS_WORD, IS_WORD, out); break;
        case '$': p = lex_name(p, TOK_SYMBOL, IS_WORD_START, IS_WORD_START | IS_DIGIT, out); break;
        case '@': p = lex_name(p, TOK_AT, IS_WORD_START, IS_WORD, out); break;
        case '"': p = lex_string(p + 1, out); break;
        case '-': p = lex_pair(p, '>', TOK_ARROW, out); break;
        case '=': p = lex_pair(p, '=', TOK_EQ, out); break;
        case '!': p = lex_pair(p, '=', TOK_NE, out); break;
        case '<': p = lex_pair(p, '=', TOK_LE, out); break;
        case '>': p = lex_pair(p, '=', TOK_GE, out); break;
        case '(':
        case ')':
        case '{':
        case '}':
        case '[':
        case ']':
        case ',':
        case ':':
        case '+':
        case '*':
        case '?':
        case '#':
        case '^':
            out->kind = (uint32_t)c;
            p++;
            break;
        default:
            out->kind = TOK_BAD;
            p++;
            break;
        }
    }
    if (out->p == out->start) out->n = (uint32_t)(p - out->start);
    l->at = p;
}

static int hex_digits(str s, size_t at, size_t count)
{
    int v = 0;
    if (at + count > s.n) return -1;
    for (size_t i = at; i < at + count; i++) {
        char c = s.p[i];
        char lower = (char)(c | 0x20);
        if (c >= '0' && c <= '9') {
            v = v * 16 + (c - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            v = v * 16 + (lower - 'a' + 10);
        } else {
            return -1;
        }
    }
    return v;
}

static void put_utf8(text_buffer *out, uint32_t c)
{
    if (c < 0x80) {
        text_putc(out, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    text_putc(out, (char)(leads[more] | c >> (6 * more)));
    for (int i = more - 1; i >= 0; i--) text_putc(out, (char)(0x80 | (c >> (6 * i) & 0x3F)));
}

/* `\u` is before `at`. Returns the bytes taken after it, 0 when malformed. */
static size_t unescape_unicode(str raw, size_t at, text_buffer *out)
{
    int code = hex_digits(raw, at, 4);
    if (code <= 0 || (code >= 0xDC00 && code < 0xE000)) return 0;
    if (code < 0xD800 || code >= 0xE000) {
        put_utf8(out, (uint32_t)code);
        return 4;
    }
    int low = at + 6 <= raw.n && raw.p[at + 4] == '\\' && raw.p[at + 5] == 'u' ? hex_digits(raw, at + 6, 4) : -1;
    if (low < 0xDC00 || low >= 0xE000) return 0;
    put_utf8(out, 0x10000U + (((uint32_t)code - 0xD800U) << 10) + ((uint32_t)low - 0xDC00U));
    return 10;
}

/* Escape at `at`, which is the byte after the backslash. Returns the bytes taken, 0 when malformed. */
static size_t unescape_one(str raw, size_t at, bool mlir, text_buffer *out)
{
    static const char from[] = "\"\\nt/bfr";
    static const char to[] = "\"\\\n\t/\b\f\r";
    char c = raw.p[at];
    const char *found = strchr(from, c);
    if (found != NULL && (!mlir || found - from < 4)) {
        text_putc(out, to[found - from]);
        return 1;
    }
    if (!mlir) {
        size_t taken = c == 'u' ? unescape_unicode(raw, at + 1, out) : 0;
        return taken == 0 ? 0 : taken + 1;
    }
    int byte = hex_digits(raw, at, 2);
    if (byte <= 0) return 0;
    text_putc(out, (char)byte);
    return 2;
}

int64_t lexer_unescape(str raw, bool mlir, text_buffer *out)
{
    size_t from = 0;
    for (size_t i = 0; i < raw.n; i++) {
        if (raw.p[i] != '\\') continue;
        text_put(out, raw.p + from, i - from);
        size_t taken = i + 1 < raw.n ? unescape_one(raw, i + 1, mlir, out) : 0;
        if (taken == 0) return (int64_t)i;
        i += taken;
        from = i + 1;
    }
    text_put(out, raw.p + from, raw.n - from);
    return -1;
}
