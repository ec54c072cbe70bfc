/* Ops by their rows' syntax, results, locations, and the stack of open blocks. */
#include "ir/text/parser_state.h"

#include <string.h>

loc_id loc_of(parser *p, const token *t) { return loc_make(p->c, p->file_id, t->line, t->column); }

/* `"file":line:column` */
static status parse_place(parser *p, loc_id *out)
{
    str_id file;
    int64_t line, column;
    TRY(parse_string(p, &file));
    TRY(expect(p, ':', "`:` and a line"));
    token at = p->tok;
    TRY(parse_int(p, false, &line));
    TRY(expect(p, ':', "`:` and a column"));
    TRY(parse_int(p, false, &column));
    if (line < 0 || line > INT32_MAX || column < 0 || column > INT32_MAX) {
        FAIL(p, pos_of(p, &at), E0107, "lines and columns are at most %d", INT32_MAX);
    }
    *out = loc_make(p->c, file, (uint32_t)line, (uint32_t)column);
    return OK;
}

static status parse_fused(parser *p, loc_id *out)
{
    token open = p->tok;
    TRY(expect(p, '[', "`[`"));
    size_t from = p->types.count;
    while (p->tok.kind != ']') {
        loc_id l;
        TRY(parse_place(p, &l));
        push_id(&p->types, l);
        if (!accept(p, ',')) break;
    }
    TRY(expect_close(p, ']', &open));
    *out = loc_fuse(p->c, (uint32_t)(p->types.count - from), p->types.items + from);
    p->types.count = from;
    return OK;
}

status parse_loc(parser *p, loc_id *out)
{
    next(p);
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    if (accept_word(p, "fused")) {
        TRY(parse_fused(p, out));
    } else if (!accept_word(p, "unknown")) {
        TRY(parse_place(p, out));
    }
    return expect_close(p, ')', &open);
}

status parse_tail(parser *p, uint32_t count, src_pos at, loc_id *loc)
{
    size_t from = p->types.count;
    if (accept(p, ':')) {
        TRY(parse_types(p));
    } else if (count != 0 && p->tok.line == at.line && p->tok.kind != TOK_END && p->tok.kind != '}') {
        return fail_expected(p, "`:` and a type for each result");
    }
    size_t given = p->types.count - from;
    if (given != count) {
        FAIL(p, at, E0113,
             "%u result%s named but %zu result type%s given; an op ends in `: ` and a type for each result", count,
             count == 1 ? " is" : "s are", given, given == 1 ? " is" : "s are");
    }
    if (p->tok.kind == TOK_WORD && at_word(p, "loc")) TRY(parse_loc(p, loc));
    return OK;
}

status define_results(parser *p, op_id o, size_t names, size_t count)
{
    status s = OK;
    for (size_t i = 0; i < count; i++) {
        value_id v = o == 0 ? POISON_VALUE : op_result(p->m, o, (uint32_t)i);
        if (names_define(p, &p->results.items[names + i], v) != OK) s = FAILED;
    }
    p->results.count = names;
    return s;
}

void define_block_arg(parser *p, block_id b, const name_ref *ref, type_id type, status *bad)
{
    if (block_arg_count(p->m, b) >= MAX_COUNT) {
        if (may_report(p)) {
            diag_error(p->diags, pos_at(p, ref->line, ref->column), &E0114, "more than %d arguments", MAX_COUNT);
        }
        *bad = FAILED;
        return;
    }
    if (names_define(p, ref, block_add_arg(p->m, b, type)) != OK) *bad = FAILED;
}

op_id add_second_block(parser *p, op_id o)
{
    type_id few[4];
    uint32_t count = op_result_count(p->m, o);
    size_t capacity = 0;
    type_id *types = count <= 4 ? few : table_grow(NULL, &capacity, count, sizeof *types);
    for (uint32_t i = 0; i < count; i++) types[i] = value_type(p->m, op_result(p->m, o, i));
    uint32_t operand_count = op_operand_count(p->m, o);
    size_t from = p->operands.count;
    for (uint32_t i = 0; i < operand_count; i++) push_id(&p->operands, op_operand(p->m, o, i));
    op_id wide = op_create(p->m, (op_place){.block = op_block(p->m, o), .before = o},
                           &(op_spec){.kind = op_kind_of(p->m, o),
                                      .loc = op_loc(p->m, o),
                                      .operand_count = operand_count,
                                      .operands = p->operands.items + from,
                                      .result_count = count,
                                      .result_types = types,
                                      .attrs = op_attrs(p->m, o),
                                      .block_count = 2});
    p->operands.count = from;
    if (types != few) table_free(types);
    block_id from_block = op_block_at(p->m, o, 0);
    block_id to_block = op_block_at(p->m, wide, 0);
    for (op_id inner = block_first(p->m, from_block); inner != 0; inner = block_first(p->m, from_block)) {
        op_move(p->m, inner, (op_place){.block = to_block});
    }
    /* A malformed op: the verifier refuses the arguments. */
    for (uint32_t i = 0; i < block_arg_count(p->m, from_block); i++) {
        value_id old = block_arg(p->m, from_block, i);
        value_id new = block_add_arg(p->m, to_block, value_type(p->m, old));
        value_set_name_parts(p->m, new, value_name_of(p->m, old));
        value_replace_all(p->m, old, new);
    }
    op_erase(p->m, o);
    p->needs_settle = true;
    return wide;
}

/* ---- one op ---- */

/* The number that begins here, its sign included. False when none does. */
static bool see_number(const parser *p, str *out, bool *is_float)
{
    lexer ahead = p->lex;
    token last = p->tok;
    if (last.kind == '-') lexer_next(&ahead, &last);
    const bool is_word = last.kind == TOK_WORD && (str_is(text_of(&last), "inf") || str_is(text_of(&last), "nan"));
    *out = (str){p->tok.start, (size_t)(last.start + last.n - p->tok.start)};
    *is_float = is_word || last.kind == TOK_FLOAT;
    return *is_float || last.kind == TOK_INT;
}

static status push_operand(parser *p, size_t from)
{
    str number;
    bool is_float = false;
    /* Operands are values: a number is one after an op that makes it. */
    if (p->tok.kind != TOK_VALUE && see_number(p, &number, &is_float))
        FAIL_HERE(p, E0105,
                  "expected a value but found `%.*s`; an operand has a name: `%%c = constant {value = %.*s} : %s`",
                  (int)number.n, number.p, (int)number.n, number.p, is_float ? "f32" : "i32");
    if (p->operands.count - from >= MAX_COUNT) FAIL_HERE(p, E0114, "more than %d operands", MAX_COUNT);
    value_id v;
    TRY(parse_value(p, &v));
    push_id(&p->operands, v);
    return OK;
}

static status parse_rest(parser *p, size_t from)
{
    if (p->tok.kind != TOK_VALUE) return OK;
    do {
        TRY(push_operand(p, from));
    } while (accept(p, ','));
    return OK;
}

static status parse_paren_operands(parser *p, const form_item *item, size_t from)
{
    if (item->word.n != 0) {
        if (p->tok.kind != TOK_WORD || !str_eq(text_of(&p->tok), item->word)) {
            char what[32];
            snprintf(what, sizeof what, "`%.*s(`", (int)item->word.n, item->word.p);
            return fail_expected(p, what);
        }
        next(p);
    }
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    TRY(parse_rest(p, from));
    return expect_close(p, ')', &open);
}

/* An attribute that is outside the dict. Absent ones that may be absent push nothing. */
static status parse_item_attr(parser *p, const op_info *info, const form_item *item)
{
    const attr_spec *spec = &info->attrs[item->attr];
    token at = p->tok;
    attr_id value;
    bool is_here = item->kind == FORM_SYMBOL   ? at.kind == TOK_AT
                   : item->kind == FORM_STRING ? at.kind == TOK_STRING
                   : item->kind == FORM_WORD   ? at.kind == TOK_WORD
                   : item->kind == FORM_INDEX  ? at.kind == '['
                                               : at.kind == TOK_WORD && str_eq(text_of(&at), item->word);
    if (!is_here) {
        if (!spec->required) return OK;
        char what[96];
        snprintf(what, sizeof what, "`%.*s%s` (%s)", (int)item->word.n, item->word.p,
                 item->kind == FORM_SYMBOL   ? "@name"
                 : item->kind == FORM_STRING ? "\"text\""
                 : item->kind == FORM_WORD   ? "word"
                 : item->kind == FORM_INDEX  ? "["
                                             : "(",
                 spec->doc);
        return fail_expected(p, what);
    }
    if (item->kind == FORM_INDEX || item->kind == FORM_CLAUSE) {
        next(p);
        token open = at;
        if (item->kind == FORM_CLAUSE) {
            open = p->tok;
            TRY(expect(p, '(', "`(`"));
        }
        TRY(parse_expr_list(p, &open, item->kind == FORM_CLAUSE ? ')' : ']', &value));
    } else {
        TRY(parse_attr(p, spec, &value));
        TRY(fit_attr(p, info, spec, pos_of(p, &at), &value));
    }
    push_attr(p, spec->name, value);
    return OK;
}

static status parse_item(parser *p, const op_info *info, const op_form *form, const form_item *item, size_t operands,
                         size_t attrs)
{
    switch ((form_item_kind)item->kind) {
    case FORM_OPERAND:
        if (item->operand == p->operands.count - operands) return push_operand(p, operands);
        {
            /* Out of order: read it, then put it where it belongs. */
            value_id v;
            TRY(parse_value(p, &v));
            while (p->operands.count - operands <= item->operand) push_id(&p->operands, v);
            p->operands.items[operands + item->operand] = v;
            return OK;
        }
    case FORM_REST: return parse_rest(p, operands);
    case FORM_OPERANDS: return parse_paren_operands(p, item, operands);
    case FORM_COMMA: return expect(p, ',', "`,`");
    case FORM_ARROW: return expect(p, TOK_ARROW, "`->`");
    case FORM_DICT:
        if (p->tok.kind == '{' && (info->blocks == 0 || at_dict(p))) {
            return parse_dict(p, info, form->custom_attrs, attrs);
        }
        return OK;
    default: return parse_item_attr(p, info, item);
    }
}

typedef struct op_start {
    op_kind kind;
    token name;
    size_t names, name_count; /* in p->results */
    size_t operands, attrs;   /* where this op's begin */
} op_start;

static status parse_parts(parser *p, const op_start *s)
{
    const op_info *info = op_info_at(p->ops, s->kind);
    const op_form *form = op_form_of(p->forms, p->ops, s->kind);
    for (uint32_t i = 0; i < form->count; i++) {
        TRY(parse_item(p, info, form, &form->items[i], s->operands, s->attrs));
    }
    return check_required(p, info, s->attrs, pos_of(p, &s->name));
}

static block_id current_block(const parser *p) { return p->frames[p->depth - 1].block; }

/* An op of a row with blocks: created with provisional result types, which the text states after the block. */
static status open_region_op(parser *p, const op_start *s)
{
    if (p->poisoned) return FAILED;
    token brace = p->tok;
    TRY(expect(p, '{', "`{`"));
    size_t types = p->types.count;
    for (size_t i = 0; i < s->name_count; i++) push_id(&p->types, p->index_type);
    op_id o = op_create(p->m, (op_place){.block = current_block(p)},
                        &(op_spec){.kind = s->kind,
                                   .loc = loc_of(p, &s->name),
                                   .operand_count = (uint32_t)(p->operands.count - s->operands),
                                   .operands = p->operands.items + s->operands,
                                   .result_count = (uint32_t)s->name_count,
                                   .result_types = p->types.items + types,
                                   .attrs = pop_attrs(p, s->attrs),
                                   .block_count = 1});
    p->types.count = types;
    p->operands.count = s->operands;
    return push_frame(p, &(frame){.op = o,
                                  .kind = s->kind,
                                  .block = op_block_at(p->m, o, 0),
                                  .names = s->names,
                                  .name_count = s->name_count,
                                  .line = brace.line,
                                  .column = brace.column,
                                  .op_line = s->name.line,
                                  .op_column = s->name.column});
}

static status parse_plain(parser *p, const op_start *s)
{
    TRY(parse_parts(p, s));
    if (op_info_at(p->ops, s->kind)->blocks != 0) return open_region_op(p, s);
    size_t types = p->types.count;
    loc_id loc = loc_of(p, &s->name);
    TRY(parse_tail(p, (uint32_t)s->name_count, pos_of(p, &s->name), &loc));
    op_id o = 0;
    if (!p->poisoned) {
        o = op_create(p->m, (op_place){.block = current_block(p)},
                      &(op_spec){.kind = s->kind,
                                 .loc = loc,
                                 .operand_count = (uint32_t)(p->operands.count - s->operands),
                                 .operands = p->operands.items + s->operands,
                                 .result_count = (uint32_t)s->name_count,
                                 .result_types = p->types.items + types,
                                 .attrs = pop_attrs(p, s->attrs)});
    }
    p->types.count = types;
    p->operands.count = s->operands;
    return define_results(p, o, s->names, s->name_count);
}

static op_kind kind_of_word(parser *p, str word)
{
    uint32_t hash = (uint32_t)word.n * 0x9E3779B1u ^ (uint32_t)(unsigned char)word.p[word.n - 1] * 0x85EBCA77u ^
                    (uint32_t)(unsigned char)word.p[word.n / 2] * 0xC2B2AE3Du ^
                    (uint32_t)(unsigned char)word.p[word.n - 1 - word.n / 4] * 0x27D4EB2Fu;
    kind_cache_entry *cached = &p->kind_cache[(hash >> 16) % KIND_CACHE_SIZE];
    if (cached->n == word.n && memcmp(op_info_at(p->ops, cached->kind)->name, word.p, word.n) == 0) return cached->kind;
    op_kind kind = op_kind_by_name(p->ops, word);
    if (kind != OP_NONE) *cached = (kind_cache_entry){kind, (uint32_t)word.n};
    return kind;
}

static status fail_unknown_op(parser *p)
{
    const char *near = op_nearest_name(p->ops, text_of(&p->tok));
    if (near != NULL) FAIL_HERE(p, E0109, "unknown op %s; did you mean `%s`?", shown(p, &p->tok), near);
    const char *excuse = op_table_excuse(p->ops, text_of(&p->tok));
    FAIL_HERE(p, E0109, "unknown op %s; %s", shown(p, &p->tok),
              excuse != NULL ? excuse : "`pto-inspect ops` lists them");
}

/* `%a, %b =`, in the generic form also `%a:2 =`. */
static status parse_result_names(parser *p, size_t from)
{
    do {
        token t = p->tok;
        name_ref ref;
        TRY(parse_value_name(p, &ref));
        if (p->tok.kind == ':') {
            int64_t count;
            next(p);
            TRY(parse_int(p, false, &count));
            if (count < 1 || count > MAX_COUNT) {
                FAIL(p, pos_of(p, &t), E0114, "%lld results; from 1 to %d are possible", (long long)count, MAX_COUNT);
            }
            for (int64_t i = 0; i < count && count > 1; i++) {
                p->scratch.n = 0;
                text_printf(&p->scratch, "%.*s.%lld", (int)t.n, t.p, (long long)i);
                value_name name = {.base = string_intern(p->c, (str){p->scratch.p, p->scratch.n}),
                                   .number = VALUE_NO_NUMBER};
                push_name(&p->results, &t, name);
            }
            if (count > 1) continue;
        }
        push_name(&p->results, &t, ref.name);
        if (p->results.count - from > MAX_COUNT) FAIL(p, pos_of(p, &t), E0114, "more than %d results", MAX_COUNT);
    } while (accept(p, ','));
    if (p->results.count - from > MAX_COUNT) FAIL_HERE(p, E0114, "more than %d results", MAX_COUNT);
    return expect(p, '=', "`=`");
}

static status parse_op_body(parser *p, op_start *s)
{
    s->names = p->results.count;
    s->operands = p->operands.count;
    s->attrs = p->keys.count;
    if (p->tok.kind == TOK_VALUE) {
        TRY(parse_result_names(p, s->names));
        s->name_count = p->results.count - s->names;
    }
    s->name = p->tok;
    if (p->tok.kind == TOK_STRING) return parse_generic(p, s->names, s->name_count);
    if (p->tok.kind != TOK_WORD) return fail_expected(p, "an op");
    s->kind = kind_of_word(p, text_of(&p->tok));
    if (s->kind == OP_NONE) return fail_unknown_op(p);
    if (s->kind == OP_FUNC || s->kind == OP_BLOCK_KERNEL) {
        FAIL_HERE(p, E0105, "%s cannot be inside of a function; is a `}` missing above?", shown(p, &p->tok));
    }
    if (op_has_own_form(s->kind)) return parse_control(p, s->kind, s->names, s->name_count);
    next(p);
    return parse_plain(p, s);
}

/* Does an op start at the current token, for all that can be said without its context? */
static bool starts_op(const parser *p)
{
    str word = text_of(&p->tok);
    if (p->tok.kind == TOK_WORD) return memchr(word.p, '.', word.n) != NULL || op_kind_by_name(p->ops, word) != OP_NONE;
    if (p->tok.kind == TOK_STRING) return peek(p).kind == '(';
    if (p->tok.kind != TOK_VALUE) return false;
    uint32_t after = peek(p).kind;
    return after == '=' || after == ',' || after == ':';
}

typedef struct text_place {
    lexer lex;
    token tok;
} text_place;

/* Goes on after a faulty op that starts at `from`: at the next op on a line of its own outside of the blocks that
 * this one opened, or at the `}` that closes the block around it. */
static void skip_op(parser *p, const text_place *from)
{
    const char *error = p->tok.start;
    uint32_t nested = 0;
    p->lex = from->lex;
    p->tok = from->tok;
    uint32_t line = p->tok.line;
    while (p->tok.kind != TOK_END) {
        if (p->tok.kind == '{') nested++;
        if (p->tok.kind == '}') {
            if (nested == 0) return;
            nested--;
        } else if (nested == 0 && p->tok.line != line && p->tok.start >= error && starts_op(p)) {
            return;
        }
        line = p->tok.line;
        next(p);
    }
}

status parse_op(parser *p)
{
    op_start s = {0};
    uint32_t depth = p->depth;
    size_t types = p->types.count, exprs = p->exprs.count, refs = p->refs.count;
    size_t results = p->results.count, operands = p->operands.count, keys = p->keys.count, attrs = p->attrs.count;
    text_place start = {p->lex, p->tok};
    p->poisoned = false;
    p->is_generic = false;
    if (parse_op_body(p, &s) == OK) return OK;
    if (p->stop) return FAILED;
    BUG_IF(p->depth < depth, "the parser lost a block");
    p->depth = depth;
    p->types.count = types;
    p->exprs.count = exprs;
    p->refs.count = refs;
    p->operands.count = operands;
    p->keys.count = keys;
    p->attrs.count = attrs;
    p->brackets = 0;
    p->no_values = p->no_slots = false;
    skip_op(p, &start);
    status ignored = define_results(p, 0, results, p->results.count - results);
    (void)ignored;
    return OK;
}

/* ---- blocks ---- */

status push_frame(parser *p, const frame *f)
{
    if (p->depth == MAX_BLOCK_NESTING) {
        p->stop = true;
        p->errors++;
        diag_error(p->diags, pos_at(p, f->line, f->column), &E0104, "blocks are nested %d deep; the limit is %d",
                   MAX_BLOCK_NESTING + 1, MAX_BLOCK_NESTING);
        return FAILED;
    }
    frame *to = &p->frames[p->depth++];
    *to = *f;
    to->scope = p->names.visible_count;
    return OK;
}

static void add_implied_terminator(parser *p, const frame *f)
{
    op_kind kind = op_implied_terminator(f->kind, f->block_index);
    if (kind == OP_NONE || f->is_generic) return;
    op_id last = block_last(p->m, f->block);
    if (last != 0 && (op_info_of(p->m, last)->traits & TRAIT_TERMINATOR) != 0) return;
    op_create(p->m, (op_place){.block = f->block}, &(op_spec){.kind = kind, .loc = loc_of(p, &p->tok)});
}

status parse_tail_of_block(parser *p, const frame *f)
{
    size_t types = p->types.count;
    loc_id loc = op_loc(p->m, f->op);
    status s = parse_tail(p, (uint32_t)f->name_count, pos_at(p, f->op_line, f->op_column), &loc);
    for (size_t i = 0; s == OK && i < f->name_count; i++) {
        value_set_type(p->m, op_result(p->m, f->op, (uint32_t)i), p->types.items[types + i]);
    }
    p->types.count = types;
    op_set_loc(p->m, f->op, loc);
    return s;
}

status close_block(parser *p)
{
    frame f = p->frames[p->depth - 1];
    add_implied_terminator(p, &f);
    names_leave(p, f.scope);
    next(p);
    text_place start = {p->lex, p->tok};
    uint32_t depth = --p->depth;
    p->poisoned = false;
    p->is_generic = f.is_generic;
    status s = f.is_generic              ? finish_generic(p, &f)
               : op_has_own_form(f.kind) ? finish_control(p, &f)
                                         : parse_tail_of_block(p, &f);
    if (s == OK && p->depth > depth) return OK; /* the next block of the same op */
    if (s == OK) return define_results(p, f.op, f.names, f.name_count) == OK || !p->stop ? OK : FAILED;
    p->is_generic = false;
    if (p->stop) return FAILED;
    p->depth = depth;
    p->brackets = 0;
    p->no_values = p->no_slots = false;
    p->types.count = 0;
    if (f.is_generic) p->operands.count = f.generic_operands;
    if (depth == 0) return FAILED;
    skip_op(p, &start);
    status ignored = define_results(p, 0, f.names, f.name_count);
    (void)ignored;
    return OK;
}
