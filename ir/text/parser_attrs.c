/* Attributes: values, dicts, and what a row says about them. */
#include "ir/op_words.h"
#include "ir/text/parser_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool list_is_of(const parser *p, const attr_node *n, attr_kind kind)
{
    if (n->kind != ATTR_LIST) return false;
    for (uint32_t i = 0; i < n->count; i++) {
        if (attr_at(p->c, n->items[i])->kind != kind) return false;
    }
    return true;
}

/* Stored form of a value whose kind is near enough: an integer for a float, one item for a list. */
static attr_id converted(parser *p, const attr_spec *spec, attr_id value)
{
    const attr_node *n = attr_at(p->c, value);
    if (spec->kind == SPEC_FLOAT && n->kind == ATTR_INT) return attr_float(p->c, (double)n->i);
    /* `true` is the number 1 of a bool constant. */
    if ((spec->kind == SPEC_NUMBER || spec->kind == SPEC_DENSE) && n->kind == ATTR_BOOL) return attr_int(p->c, n->i);
    if (spec->kind == SPEC_INTS && n->kind == ATTR_INT) return attr_list(p->c, 1, &value);
    return value;
}

static bool kind_fits(const parser *p, const attr_spec *spec, const attr_node *n)
{
    switch ((attr_spec_kind)spec->kind) {
    case SPEC_BOOL: return n->kind == ATTR_BOOL;
    case SPEC_INT: return n->kind == ATTR_INT;
    case SPEC_FLOAT: return n->kind == ATTR_FLOAT;
    case SPEC_NUMBER: return n->kind == ATTR_INT || n->kind == ATTR_FLOAT;
    case SPEC_ENUM:
    case SPEC_WORD:
    case SPEC_STRING: return n->kind == ATTR_STRING;
    case SPEC_DTYPE: return n->kind == ATTR_TYPE && type_at(p->c, n->id)->kind == TYPE_SCALAR;
    case SPEC_TYPES: return list_is_of(p, n, ATTR_TYPE);
    case SPEC_INTS: return list_is_of(p, n, ATTR_INT);
    case SPEC_EXPRS: return list_is_of(p, n, ATTR_EXPR);
    case SPEC_SYMBOL: return n->kind == ATTR_SYMBOL;
    case SPEC_DENSE:
        return n->kind == ATTR_INT || n->kind == ATTR_FLOAT || n->kind == ATTR_BOOL || n->kind == ATTR_DENSE ||
               n->kind == ATTR_RESOURCE;
    case SPEC_LIST: return n->kind == ATTR_LIST;
    case SPEC_DICT: return n->kind == ATTR_DICT || n->kind == ATTR_NONE;
    case SPEC_NONE: break;
    }
    return true;
}

static status fail_choice(parser *p, const attr_spec *spec, src_pos at, str word)
{
    if (!may_report(p)) return FAILED;
    text_buffer legal;
    text_init(&legal);
    attr_spec_print_legal(spec, context_names(p->c), p->declared[spec->names], &legal);
    diag_error(p->diags, at, &E0314, "`%s` cannot be \"%.*s\"; it is one of %s", spec->name,
               (int)(word.n > 40 ? 40 : word.n), word.p, legal.p);
    text_fini(&legal);
    return FAILED;
}

status fit_attr(parser *p, const op_info *info, const attr_spec *spec, src_pos at, attr_id *value)
{
    *value = converted(p, spec, *value);
    const attr_node *n = attr_at(p->c, *value);
    if (!kind_fits(p, spec, n)) {
        FAIL(p, at, E0314, "attribute `%s` of `%s` is %s", spec->name, info->name, attr_spec_words(spec));
    }
    if (n->kind == ATTR_STRING && attr_spec_limits(spec) && !allows_word(p, spec, string_of(p->c, n->id))) {
        return fail_choice(p, spec, at, string_of(p->c, n->id));
    }
    return OK;
}

void push_attr(parser *p, const char *key, attr_id value)
{
    push_id(&p->keys, string_intern_z(p->c, key));
    push_id(&p->attrs, value);
}

attr_id pop_attrs(parser *p, size_t from)
{
    uint32_t count = (uint32_t)(p->keys.count - from);
    attr_id dict =
        count == 0 ? 0 : attr_dict(p->c, count, p->keys.items + from, p->attrs.items + p->attrs.count - count);
    p->keys.count = from;
    p->attrs.count -= count;
    return dict;
}

status parse_nan_bits(parser *p, uint64_t *out)
{
    token open = p->tok;
    next(p);
    const token t = p->tok;
    if (t.kind != TOK_INT || t.n < 3 || t.p[1] != 'x') return fail_expected(p, "the bits of the number, 0x..");
    if (t.n > 18) FAIL(p, pos_of(p, &t), E0107, "%s has more than 64 bits", shown(p, &t));
    *out = 0;
    for (uint32_t i = 2; i < t.n; i++) {
        char c = (char)(t.p[i] | 0x20);
        *out = *out << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    next(p);
    return expect_close(p, ')', &open);
}

/* `nan(0x7ff8000000000001)`: not the usual one. `(` is the current token. */
static status parse_nan(parser *p, const token *nan, attr_id *out)
{
    uint64_t bits;
    double v;
    TRY(parse_nan_bits(p, &bits));
    memcpy(&v, &bits, sizeof v);
    if (!isnan(v)) FAIL(p, pos_of(p, nan), E0107, "these are not the bits of a nan of 64 bits");
    *out = attr_float(p->c, v);
    return OK;
}

/* The bits of a hexadecimal float of MLIR, `0x7FF0000000000000 : f64`. */
static status parse_bits(parser *p, const token *t, attr_id *out)
{
    uint64_t bits = 0;
    if (t->n > 18) FAIL(p, pos_of(p, t), E0107, "%s has more than 64 bits", shown(p, t));
    for (uint32_t i = 2; i < t->n; i++) {
        char c = (char)(t->p[i] | 0x20);
        bits = bits << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    double v;
    memcpy(&v, &bits, sizeof v);
    *out = attr_float(p->c, v);
    return OK;
}

/* `: i64` after a number of the generic form; only whether it is a float counts. */
static status parse_number_type(parser *p, bool *is_float)
{
    *is_float = false;
    if (!p->is_generic || !accept(p, ':')) return OK;
    if (p->tok.kind != TOK_WORD) return fail_expected(p, "a scalar type");
    char first = p->tok.p[0];
    *is_float = first == 'f' || (first == 'b' && p->tok.n > 1 && p->tok.p[1] == 'f');
    next(p);
    return OK;
}

static status parse_whole(parser *p, bool is_negative, attr_id *out)
{
    token t = p->tok;
    bool is_float;
    bool is_hex = p->is_generic && t.n > 2 && t.p[1] == 'x' && peek(p).kind == ':';
    int64_t v = 0;
    bool is_large = !is_negative && token_is_large(&t, &v);
    if (is_hex || is_large) {
        next(p);
    } else {
        TRY(parse_int(p, is_negative, &v));
    }
    TRY(parse_number_type(p, &is_float));
    if (is_float && is_hex) return parse_bits(p, &t, out);
    if (is_hex && str_to_i64(text_of(&t), &v) != OK) {
        FAIL(p, pos_of(p, &t), E0107, "%s does not fit in 64 bits", shown(p, &t));
    }
    if (is_hex && is_negative) v = -v;
    if (is_large) {
        *out = is_float ? attr_float(p->c, (double)(uint64_t)v) : attr_uint(p->c, (uint64_t)v);
        return OK;
    }
    *out = is_float ? attr_float(p->c, (double)v) : attr_int(p->c, v);
    return OK;
}

static status parse_number(parser *p, attr_id *out)
{
    bool is_negative = accept(p, '-');
    token t = p->tok;
    bool is_float;
    double v;
    if (t.kind == TOK_INT) return parse_whole(p, is_negative, out);
    bool is_word = at_word(p, "inf") || at_word(p, "nan");
    if (t.kind != TOK_FLOAT && !is_word) return fail_expected(p, "a number");
    if (str_to_f64(text_of(&t), &v) != OK) {
        FAIL_HERE(p, E0107, "%s is not a number that a 64-bit float can hold", shown(p, &t));
    }
    next(p);
    if (is_word && !is_negative && p->tok.kind == '(' && isnan(v)) return parse_nan(p, &t, out);
    TRY(parse_number_type(p, &is_float));
    *out = attr_float(p->c, is_negative ? -v : v);
    return OK;
}

/* `{k = v, ...}` as a value; any keys. */
static status parse_map(parser *p, attr_id *out)
{
    size_t from = p->keys.count;
    TRY(parse_dict(p, NULL, 0, from));
    *out = pop_attrs(p, from); /* the empty map is 0 */
    return OK;
}

static status parse_list(parser *p, const attr_spec *spec, attr_id *out)
{
    /* `[f32, f16]` of a list of types, `[a, b]` of words: items are read as the list's spec says. */
    static const attr_spec dtype_item = {.name = "item", .kind = SPEC_DTYPE};
    token open = p->tok;
    next(p);
    size_t from = p->attrs.count;
    while (p->tok.kind != ']') {
        attr_id item = 0;
        TRY(parse_attr(p, spec != NULL && spec->kind == SPEC_TYPES ? &dtype_item : NULL, &item));
        push_id(&p->attrs, item);
        if (!accept(p, ',')) break;
    }
    TRY(expect_close(p, ']', &open));
    *out = attr_list(p->c, (uint32_t)(p->attrs.count - from), p->attrs.items + from);
    p->attrs.count = from;
    return OK;
}

/* `#pto.expr<(d0, d1) -> (e)>`, `#pto.dense<"...">`, `#pto.resource<"...">`; the `#` is the current token. */
static status parse_dialect_attr(parser *p, attr_id *out)
{
    next(p);
    token name = p->tok;
    next(p);
    token open = p->tok;
    TRY(expect(p, '<', "`<`"));
    if (str_is(text_of(&name), "pto.expr")) {
        TRY(expect(p, '(', "`(`"));
        while (p->tok.kind == TOK_WORD) {
            next(p);
            if (!accept(p, ',')) break;
        }
        TRY(expect(p, ')', "`)`"));
        TRY(expect(p, TOK_ARROW, "`->`"));
        TRY(expect(p, '(', "`(`"));
        expr_id e;
        TRY(parse_expr(p, &e));
        TRY(expect(p, ')', "`)`"));
        *out = attr_expr(p->c, e);
    } else if (str_is(text_of(&name), "pto.resource")) {
        str_id file;
        TRY(parse_string(p, &file));
        *out = attr_resource(p->c, file);
    } else if (str_is(text_of(&name), "pto.dense")) {
        token t = p->tok;
        if (t.kind != TOK_STRING) return fail_expected(p, "a string");
        /* What is between the quotes is our own text form and is read in place. */
        p->lex.at = t.p;
        next(p);
        TRY(parse_dense(p, out));
        if (p->tok.start != t.p + t.n) return fail_expected(p, "the end of the string");
        p->lex.at = t.p + t.n + 1;
        next(p);
    } else {
        FAIL(p, pos_of(p, &name), E0105, "expected pto.expr, pto.dense or pto.resource but found %s", shown(p, &name));
    }
    return expect_close(p, '>', &open);
}

/* A word as a value: what it means depends on the row. */
static status parse_word_value(parser *p, const attr_spec *spec, attr_id *out)
{
    bool wants_word = spec != NULL && (spec->kind == SPEC_ENUM || spec->kind == SPEC_WORD || spec->kind == SPEC_STRING);
    token t = p->tok;
    if (!wants_word) {
        if (at_word(p, "true") || at_word(p, "false")) {
            *out = attr_bool(p->c, t.p[0] == 't');
            next(p);
            return OK;
        }
        if (at_word(p, "inf") || at_word(p, "nan")) return parse_number(p, out);
        if (at_type(p) || (spec != NULL && spec->kind == SPEC_DTYPE)) {
            type_id type;
            TRY(parse_type(p, &type));
            *out = attr_type(p->c, type);
            return OK;
        }
        token after = peek(p);
        if (at_word(p, "dense") && after.kind == '[') {
            next(p);
            return parse_dense(p, out);
        }
        if (at_word(p, "resource") && after.kind == '(') {
            str_id file;
            next(p);
            next(p);
            TRY(parse_string(p, &file));
            *out = attr_resource(p->c, file);
            return expect_close(p, ')', &after);
        }
        if (at_word(p, "expr") && after.kind == '(') {
            expr_id e;
            next(p);
            next(p);
            p->no_values = true;
            TRY(parse_expr(p, &e));
            p->no_values = false;
            *out = attr_expr(p->c, e);
            return expect_close(p, ')', &after);
        }
    }
    *out = attr_string(p->c, intern_text(p, text_of(&t)));
    next(p);
    return OK;
}

static status parse_value_of_kind(parser *p, const attr_spec *spec, attr_id *out)
{
    str_id s;
    switch (p->tok.kind) {
    case TOK_STRING:
        TRY(parse_string(p, &s));
        *out = attr_string(p->c, s);
        return OK;
    case TOK_AT:
        TRY(parse_symbol_name(p, &s));
        *out = attr_symbol(p->c, s);
        return OK;
    case TOK_INT:
    case TOK_FLOAT:
    case '-': return parse_number(p, out);
    case TOK_WORD: return parse_word_value(p, spec, out);
    case '[': return parse_list(p, spec, out);
    case '{': return parse_map(p, out);
    case '#': return p->is_generic ? parse_dialect_attr(p, out) : fail_expected(p, "the value of an attribute");
    case '!':
        if (p->is_generic) {
            type_id t;
            TRY(parse_type(p, &t));
            *out = attr_type(p->c, t);
            return OK;
        }
        return fail_expected(p, "the value of an attribute");
    default: return fail_expected(p, "the value of an attribute");
    }
}

status parse_attr(parser *p, const attr_spec *spec, attr_id *out)
{
    TRY(enter_bracket(p));
    status s = parse_value_of_kind(p, spec, out);
    leave_bracket(p);
    return s;
}

bool at_dict(const parser *p)
{
    lexer ahead = p->lex;
    token t;
    lexer_next(&ahead, &t);
    if (t.kind != TOK_WORD && t.kind != TOK_STRING) return false;
    lexer_next(&ahead, &t);
    return t.kind == '=';
}

static status fail_unknown_attr(parser *p, const op_info *info, const token *key)
{
    if (!may_report(p)) return FAILED;
    const char *names[sizeof info->attrs / sizeof info->attrs[0] + 1] = {NULL};
    for (size_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0]; i++) names[i] = info->attrs[i].name;
    const char *near = str_nearest(text_of(key), names);
    src_pos at = pos_of(p, key);
    if (near != NULL) {
        diag_error(p->diags, at, &E0313, "`%s` has no attribute %s; did you mean `%s`?", info->name, shown(p, key),
                   near);
        return FAILED;
    }
    text_buffer takers;
    text_init(&takers);
    attr_takers_print(p->ops, info, text_of(key), &takers);
    diag_error(p->diags, at, &E0313, "`%s` has no attribute %s%s; a name with a dot (vendor.name) is allowed on any op",
               info->name, shown(p, key), takers.n != 0 ? takers.p : "");
    text_fini(&takers);
    return FAILED;
}

/* The spec of a key in a dict of an op; NULL for a vendor's. */
static status find_spec(parser *p, const op_info *info, uint32_t custom, const token *key, const attr_spec **out)
{
    *out = NULL;
    for (uint32_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        const attr_spec *spec = &info->attrs[i];
        if (strncmp(spec->name, key->p, key->n) != 0 || spec->name[key->n] != 0) continue;
        if (custom >> i & 1U) {
            FAIL(p, pos_of(p, key), E0105, "`%s` has a place of its own in the text of `%s`, outside the braces",
                 spec->name, info->name);
        }
        *out = spec;
        return OK;
    }
    if (key->n != 0 && memchr(key->p, '.', key->n) != NULL) return OK;
    return fail_unknown_attr(p, info, key);
}

/* May the expressions of an attribute mention operands? Regions of a kernel mention its grid indices. */
static bool takes_slots(const attr_spec *spec)
{
    if (spec == NULL) return false;
    if (spec->kind != SPEC_LIST) return spec->kind == SPEC_EXPRS;
    return strcmp(spec->name, "valid") == 0 || strcmp(spec->name, "reads") == 0 || strcmp(spec->name, "writes") == 0;
}

static status parse_entry(parser *p, const op_info *info, uint32_t custom, size_t from)
{
    token key = p->tok;
    const attr_spec *spec = NULL;
    if (key.kind != TOK_WORD && key.kind != TOK_STRING) return fail_expected(p, "the name of an attribute");
    if (key.n == 0) FAIL_HERE(p, E0105, "the name of an attribute cannot be empty");
    if (info != NULL) TRY(find_spec(p, info, custom, &key, &spec));
    str_id name;
    if (key.kind == TOK_STRING) {
        TRY(parse_string(p, &name));
    } else {
        name = intern_text(p, text_of(&key));
        next(p);
    }
    for (size_t i = from; i < p->keys.count; i++) {
        if (p->keys.items[i] == name) FAIL(p, pos_of(p, &key), E0112, "attribute %s is given twice", shown(p, &key));
    }
    if (p->keys.count - from >= MAX_DICT_ENTRIES) {
        FAIL(p, pos_of(p, &key), E0114, "more than %d attributes", MAX_DICT_ENTRIES);
    }
    attr_id value = 0;
    token at = p->tok;
    if (p->is_generic && (p->tok.kind == ',' || p->tok.kind == '}')) {
        value = attr_bool(p->c, true); /* MLIR's unit attribute */
    } else {
        TRY(expect(p, '=', "`=`"));
        at = p->tok;
        p->no_slots = !takes_slots(spec);
        TRY(parse_attr(p, spec, &value));
        p->no_slots = false;
    }
    if (spec != NULL) TRY(fit_attr(p, info, spec, pos_of(p, &at), &value));
    push_id(&p->keys, name);
    push_id(&p->attrs, value);
    return OK;
}

status parse_dict(parser *p, const op_info *info, uint32_t custom, size_t from)
{
    token open = p->tok;
    TRY(expect(p, '{', "`{`"));
    while (p->tok.kind != '}') {
        TRY(parse_entry(p, info, custom, from));
        if (!accept(p, ',')) break;
    }
    return expect_close(p, '}', &open);
}

status check_required(parser *p, const op_info *info, size_t from, src_pos at)
{
    for (size_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        if (!info->attrs[i].required) continue;
        str_id name = intern_text(p, str_from(info->attrs[i].name));
        bool is_found = false;
        for (size_t k = from; k < p->keys.count; k++) is_found = is_found || p->keys.items[k] == name;
        if (!is_found) {
            FAIL(p, at, E0312, "`%s` needs the attribute `%s`: %s", info->name, info->attrs[i].name,
                 info->attrs[i].doc);
        }
    }
    return OK;
}
