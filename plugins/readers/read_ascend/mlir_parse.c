/* Tokens, and the tree of them. An op ends where what follows cannot belong to it, so that lines do not matter. */
#include "mlir_tree.h"

#define SYNTAX "pto.read-ascend/syntax"

typedef struct parser {
    const pto_run *run;
    const char *p, *end, *line_start;
    uint32_t line;
    mlir_node token;
    uint32_t depth;
} parser;

pto_status mlir_error(const pto_run *run, uint32_t line, uint32_t column, const char *code, const char *format, ...)
{
    char text[PTO_REPORT_BYTES];
    va_list args;
    va_start(args, format);
    const pto_str message = pto_vtext(text, format, args);
    va_end(args);
    pto_diag(run, PTO_ERROR, pto_loc_make(run, line, column), pto_s(code), message);
    return PTO_FAILED;
}

/* ---- tokens ---- */

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_name(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }

static uint32_t column_of(const parser *p, const char *at) { return (uint32_t)(at - p->line_start) + 1; }

static pto_status fail(const parser *p, const char *at, const char *what)
{
    return mlir_error(p->run, p->line, column_of(p, at), SYNTAX, "%s", what);
}

static void skip_blanks(parser *p)
{
    while (p->p < p->end) {
        if (*p->p == '\n') {
            p->line++;
            p->line_start = ++p->p;
        } else if (*p->p == ' ' || *p->p == '\t' || *p->p == '\r') {
            p->p++;
        } else if (*p->p == '/' && p->p + 1 < p->end && p->p[1] == '/') {
            while (p->p < p->end && *p->p != '\n') p->p++;
        } else {
            return;
        }
    }
}

/* A name from `p->p` on; empty when there is none. */
static pto_status take_name(parser *p, pto_str *out)
{
    const char *from = p->p;
    while (p->p < p->end && is_name(*p->p)) p->p++;
    *out = pto_str_make(from, (size_t)(p->p - from));
    if (out->n == 0) return fail(p, from, "a name is expected here");
    if (out->n > MLIR_NAME_MAX) return fail(p, from, "a name has more than 256 bytes");
    return PTO_OK;
}

static pto_status take_string(parser *p, pto_str *out)
{
    const char *from = ++p->p;
    while (p->p < p->end && *p->p != '"' && *p->p != '\n') p->p += *p->p == '\\' && p->p + 1 < p->end ? 2 : 1;
    if (p->p >= p->end || *p->p != '"') return fail(p, from - 1, "a text without its closing `\"`");
    *out = pto_str_make(from, (size_t)(p->p++ - from));
    return PTO_OK;
}

/* What is between `<` and the `>` that closes it. */
static pto_status take_body(parser *p, pto_str *out)
{
    const char *open = p->p, *from = ++p->p;
    const parser start = *p;
    uint32_t depth = 1;
    for (; p->p < p->end; p->p++) {
        if (*p->p == '\n') {
            p->line++;
            p->line_start = p->p + 1;
        }
        if (*p->p == '<' && ++depth > MLIR_DEPTH_MAX)
            return fail(&start, open, "brackets are nested more than 64 deep");
        if (*p->p != '>' || p->p[-1] == '-' || --depth != 0) continue;
        *out = pto_str_make(from, (size_t)(p->p++ - from));
        return PTO_OK;
    }
    return fail(&start, open, "a `<` without its `>`");
}

static void skip_digits(parser *p)
{
    while (p->p < p->end && is_digit(*p->p)) p->p++;
}

/* 0.5, 1e-3 */
static void skip_decimal(parser *p)
{
    skip_digits(p);
    if (p->p < p->end && *p->p == '.') {
        p->p++;
        skip_digits(p);
    }
    if (p->p >= p->end || (*p->p != 'e' && *p->p != 'E')) return;
    p->p++;
    if (p->p < p->end && (*p->p == '-' || *p->p == '+')) p->p++;
    skip_digits(p);
}

static pto_status take_number(parser *p, mlir_node *t)
{
    const char *from = p->p;
    if (*p->p == '-') p->p++;
    if (p->p + 1 < p->end && p->p[0] == '0' && p->p[1] == 'x')
        for (p->p += 2; p->p < p->end && (is_digit(*p->p) || is_letter(*p->p));) p->p++;
    else
        skip_decimal(p);
    t->kind = MLIR_NUMBER;
    t->text = pto_str_make(from, (size_t)(p->p - from));
    return t->text.n > MLIR_NAME_MAX ? fail(p, from, "a number has more than 256 digits") : PTO_OK;
}

static pto_status take_sigil(parser *p, mlir_node *t, mlir_kind kind)
{
    const char *from = ++p->p;
    t->kind = kind;
    if (kind == MLIR_SYMBOL && p->p < p->end && *p->p == '"') return take_string(p, &t->text);
    PTO_TRY(take_name(p, &t->text));
    if (kind == MLIR_VALUE && p->p + 1 < p->end && *p->p == '#' && is_digit(p->p[1])) {
        for (p->p++; p->p < p->end && is_digit(*p->p);) p->p++;
        t->text = pto_str_make(from, (size_t)(p->p - from));
    }
    const int has_body = (kind == MLIR_TYPE || kind == MLIR_ATTRIBUTE) && p->p < p->end && *p->p == '<';
    return has_body ? take_body(p, &t->body) : PTO_OK;
}

static pto_status take_word(parser *p, mlir_node *t)
{
    t->kind = MLIR_WORD;
    PTO_TRY(take_name(p, &t->text));
    if (p->p >= p->end || *p->p != '<') return PTO_OK;
    t->kind = MLIR_TYPE;
    return take_body(p, &t->body);
}

static pto_status next(parser *p)
{
    mlir_node *t = &p->token;
    skip_blanks(p);
    *t = (mlir_node){.kind = MLIR_END, .line = p->line, .column = column_of(p, p->p)};
    if (p->p >= p->end) return PTO_OK;
    const char c = *p->p, after = p->p + 1 < p->end ? p->p[1] : 0;
    if (c == '%') return take_sigil(p, t, MLIR_VALUE);
    if (c == '@') return take_sigil(p, t, MLIR_SYMBOL);
    if (c == '!') return take_sigil(p, t, MLIR_TYPE);
    if (c == '#') return take_sigil(p, t, MLIR_ATTRIBUTE);
    if (is_letter(c)) return take_word(p, t);
    if (is_digit(c) || (c == '-' && is_digit(after))) return take_number(p, t);
    if (c == '"') {
        t->kind = MLIR_STRING;
        return take_string(p, &t->text);
    }
    if (c == '<') {
        t->kind = MLIR_ANGLE;
        return take_body(p, &t->body);
    }
    if (c == '-' && after == '>') {
        t->kind = MLIR_MARK;
        t->mark = '>';
        p->p += 2;
        return PTO_OK;
    }
    if (strchr(",:=()[]{}", c) == NULL) return fail(p, p->p, "a character that begins nothing in such a text");
    t->kind = strchr(",:=", c) != NULL ? MLIR_MARK : MLIR_GROUP;
    t->mark = c;
    p->p++;
    return PTO_OK;
}

/* ---- nodes ---- */

static int at_mark(const parser *p, char mark)
{
    return (p->token.kind == MLIR_MARK || p->token.kind == MLIR_GROUP) && p->token.mark == mark;
}

static mlir_node *keep(const parser *p)
{
    mlir_node *n = PTO_SCRATCH(p->run, mlir_node, 1);
    *n = p->token;
    return n;
}

static pto_status deeper(parser *p)
{
    if (++p->depth <= MLIR_DEPTH_MAX) return PTO_OK;
    return mlir_error(p->run, p->token.line, p->token.column, SYNTAX,
                      "brackets and regions are nested more than %d deep", MLIR_DEPTH_MAX);
}

/* A bracket with what is inside; the token is its opening one, and after it the one that follows. */
static pto_status parse_group(parser *p, mlir_node **out)
{
    mlir_node *group = keep(p), *last = NULL;
    const char close = group->mark == '(' ? ')' : group->mark == '[' ? ']' : '}';
    PTO_TRY(deeper(p));
    PTO_TRY(next(p));
    while (!at_mark(p, close)) {
        if (p->token.kind == MLIR_END)
            return mlir_error(p->run, group->line, group->column, SYNTAX, "a `%c` without its `%c`", group->mark,
                              close);
        if (p->token.kind == MLIR_GROUP && strchr(")]}", p->token.mark) != NULL)
            return mlir_error(p->run, p->token.line, p->token.column, SYNTAX, "a `%c` where a `%c` is expected",
                              p->token.mark, close);
        mlir_node *node = NULL;
        if (p->token.kind == MLIR_GROUP) {
            PTO_TRY(parse_group(p, &node));
        } else {
            node = keep(p);
            PTO_TRY(next(p));
        }
        if (last == NULL)
            group->first = node;
        else
            last->next = node;
        last = node;
    }
    p->depth--;
    *out = group;
    return next(p);
}

/* ---- ops ---- */

static int starts_with(pto_str s, const char *start)
{
    return s.n >= strlen(start) && memcmp(s.p, start, strlen(start)) == 0;
}

static int has_regions(pto_str name)
{
    return pto_str_is(name, "module") || pto_str_is(name, "func.func") || starts_with(name, "scf.") ||
           starts_with(name, "pto.section");
}

/* Words that begin an op: names of ops have a point, or are one of a few. */
static int begins_op(pto_str word)
{
    return memchr(word.p, '.', word.n) != NULL || pto_str_is(word, "module") || pto_str_is(word, "return");
}

static pto_status parse_ops(parser *p, mlir_op **first);

/* `bb0(%i: index):` after a `^`: what the first block of a region takes. */
static pto_status parse_label(parser *p, mlir_region *region)
{
    if (p->token.kind == MLIR_WORD) PTO_TRY(next(p));
    if (at_mark(p, '(')) PTO_TRY(parse_group(p, &region->arguments));
    if (!at_mark(p, ':'))
        return mlir_error(p->run, p->token.line, p->token.column, SYNTAX, "a label is `^name(arguments):`");
    return next(p);
}

static pto_status parse_region(parser *p, mlir_op *op, mlir_region ***end)
{
    const mlir_node open = p->token;
    mlir_region *region = PTO_SCRATCH(p->run, mlir_region, 1);
    (void)op;
    **end = region;
    *end = &region->next;
    PTO_TRY(deeper(p));
    skip_blanks(p);
    const int has_label = p->p < p->end && *p->p == '^';
    p->p += has_label;
    PTO_TRY(next(p));
    if (has_label) PTO_TRY(parse_label(p, region));
    PTO_TRY(parse_ops(p, &region->first));
    if (!at_mark(p, '}')) return mlir_error(p->run, open.line, open.column, SYNTAX, "a `{` without its `}`");
    p->depth--;
    return next(p);
}

/* Whether the name is that of a result: a `=` or the number of results follows. */
static int is_result(parser p)
{
    skip_blanks(&p);
    return p.p < p.end && (*p.p == '=' || (*p.p == ':' && p.p + 1 < p.end && is_digit(p.p[1])));
}

/* Whether the token goes on with what `last` is a part of. */
static int goes_on(const parser *p, const mlir_op *op, const mlir_node *last)
{
    const mlir_node *t = &p->token;
    const int is_open =
        (last == NULL && (pto_str_is(op->name, "scf.for") || !is_result(*p))) ||
        (last != NULL && (last->kind == MLIR_MARK || pto_str_is(op->name, "scf.condition"))) ||
        (last != NULL && last->kind == MLIR_WORD && (pto_str_is(last->text, "to") || pto_str_is(last->text, "step")));
    switch (t->kind) {
    case MLIR_END: return 0;
    case MLIR_VALUE:
    case MLIR_STRING: return is_open;
    case MLIR_WORD: return !begins_op(t->text) || (last != NULL && last->kind == MLIR_MARK);
    case MLIR_GROUP: return t->mark == '(' || t->mark == '[' || t->mark == '{';
    case MLIR_MARK: return last != NULL || op->regions != NULL || t->mark == ':';
    default: return 1;
    }
}

static pto_status parse_arguments(parser *p, mlir_op *op)
{
    mlir_node **end = &op->arguments, *last = NULL;
    mlir_region **regions = &op->regions;
    const int takes_regions = has_regions(op->name);
    while (goes_on(p, op, last)) {
        const int is_dict = last != NULL && last->kind == MLIR_WORD && pto_str_is(last->text, "attributes");
        if (at_mark(p, '{') && takes_regions && !is_dict) {
            PTO_TRY(parse_region(p, op, &regions));
            continue;
        }
        if (p->token.kind == MLIR_GROUP) {
            PTO_TRY(parse_group(p, end));
        } else {
            *end = keep(p);
            PTO_TRY(next(p));
        }
        last = *end;
        end = &last->next;
    }
    return PTO_OK;
}

static pto_status parse_results(parser *p, mlir_op *op)
{
    mlir_node **end = &op->results;
    while (!at_mark(p, '=')) {
        const int fits =
            p->token.kind == MLIR_VALUE || p->token.kind == MLIR_NUMBER || at_mark(p, ',') || at_mark(p, ':');
        if (!fits)
            return mlir_error(p->run, p->token.line, p->token.column, SYNTAX,
                              "`=` and an op are expected after the names of results");
        if (p->token.kind != MLIR_MARK) {
            *end = keep(p);
            end = &(*end)->next;
        }
        PTO_TRY(next(p));
    }
    return next(p);
}

static pto_status parse_op(parser *p, mlir_op **out)
{
    mlir_op *op = PTO_SCRATCH(p->run, mlir_op, 1);
    *out = op;
    if (p->token.kind == MLIR_VALUE) PTO_TRY(parse_results(p, op));
    op->line = p->token.line;
    op->column = p->token.column;
    if (p->token.kind == MLIR_STRING)
        return mlir_error(p->run, op->line, op->column, SYNTAX,
                          "an op in the generic form of MLIR, which is not read; print the file without "
                          "--mlir-print-op-generic");
    if (p->token.kind != MLIR_WORD) return mlir_error(p->run, op->line, op->column, SYNTAX, "an op is expected here");
    op->name = p->token.text;
    PTO_TRY(next(p));
    return parse_arguments(p, op);
}

/* Until a `}` or the end. */
static pto_status parse_ops(parser *p, mlir_op **first)
{
    while (p->token.kind != MLIR_END && !at_mark(p, '}')) {
        PTO_TRY(pto_go_on(p->run));
        PTO_TRY(parse_op(p, first));
        first = &(*first)->next;
    }
    return PTO_OK;
}

pto_status mlir_parse(const pto_run *run, pto_str text, mlir_op **out)
{
    parser p = {.run = run, .p = text.p, .end = text.p + text.n, .line_start = text.p, .line = 1};
    *out = NULL;
    if (text.n > MLIR_TEXT_MAX)
        return mlir_error(run, 1, 1, SYNTAX, "the file has %llu bytes; the most are %d", (unsigned long long)text.n,
                          MLIR_TEXT_MAX);
    PTO_TRY(next(&p));
    PTO_TRY(parse_ops(&p, out));
    if (p.token.kind == MLIR_END) return PTO_OK;
    return mlir_error(run, p.token.line, p.token.column, SYNTAX, "a `}` without its `{`");
}

/* ---- cursors ---- */

mlir_cursor mlir_arguments(const pto_run *run, const mlir_op *op)
{
    return (mlir_cursor){.run = run, .op = op, .at = op->arguments, .line = op->line, .column = op->column};
}

static const mlir_node *pass(mlir_cursor *c)
{
    const mlir_node *n = c->at;
    c->line = n->line;
    c->column = n->column;
    c->at = n->next;
    return n;
}

int mlir_take(mlir_cursor *c, mlir_kind kind, const mlir_node **out)
{
    if (c->at == NULL || c->at->kind != kind) return 0;
    const mlir_node *n = pass(c);
    if (out != NULL) *out = n;
    return 1;
}

int mlir_take_mark(mlir_cursor *c, char mark)
{
    return c->at != NULL && c->at->mark == mark && mlir_take(c, MLIR_MARK, NULL);
}

int mlir_take_word(mlir_cursor *c, const char *word)
{
    return c->at != NULL && pto_str_is(c->at->text, word) && mlir_take(c, MLIR_WORD, NULL);
}

int mlir_enter(mlir_cursor *c, char open, mlir_cursor *inside)
{
    if (c->at == NULL || c->at->kind != MLIR_GROUP || c->at->mark != open) return 0;
    const mlir_node *group = pass(c);
    *inside = *c;
    inside->at = group->first;
    return 1;
}

pto_status mlir_expected(const mlir_cursor *c, const char *what)
{
    const uint32_t line = c->at != NULL ? c->at->line : c->line, column = c->at != NULL ? c->at->column : c->column;
    return mlir_error(c->run, line, column, SYNTAX, "%s is expected %s in `%.*s`", what,
                      c->at != NULL ? "here" : "after this", PTO_FMT(c->op->name));
}

pto_status mlir_at_end(const mlir_cursor *c) { return c->at == NULL ? PTO_OK : mlir_expected(c, "nothing more"); }
