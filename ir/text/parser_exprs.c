/* Index expressions. Recursion goes as deep as brackets nest, which is bounded. */
#include "ir/relations.h"
#include "ir/text/parser_state.h"

#include <inttypes.h>

static status built(parser *p, const token *at, expr_id e, expr_id *out)
{
    if (e == 0) {
        FAIL(p, pos_of(p, at), E0401, "the expression does not fit in 64 bits or is too large");
    }
    *out = e;
    return OK;
}

typedef expr_id (*expr_builder)(ir_context *c, expr_id a, expr_id b);

/* `build` of two expressions; `at` is its operator. */
static status combine(parser *p, const token *at, expr_builder build, expr_id left, expr_id right, expr_id *out)
{
    int64_t v;
    bool divides = build == expr_floordiv || build == expr_ceildiv || build == expr_mod;
    if (divides && expr_is_const(p->c, right, &v) && v <= 0) {
        if (v == 0) FAIL(p, pos_of(p, at), E0401, "division by 0");
        FAIL(p, pos_of(p, at), E0401, "division by %" PRId64 "; a divisor is positive", v);
    }
    return built(p, at, build(p->c, left, right), out);
}

static status count_leaf(parser *p)
{
    if (++p->leaves > MAX_EXPR_LEAVES) {
        FAIL_HERE(p, E0402, "an expression of more than %d names and numbers", MAX_EXPR_LEAVES);
    }
    return OK;
}

static status parse_sum(parser *p, expr_id *out);

/* `min(a, b, ...)` and the like; the word is the current token. */
static status parse_function(parser *p, expr_id *out)
{
    static const struct {
        const char *name;
        expr_builder build;
        bool is_variadic;
    } functions[] = {{"ceildiv", expr_ceildiv, false},
                     {"min", expr_min, true},
                     {"max", expr_max, true},
                     {"mod", expr_mod, false},
                     {"floordiv", expr_floordiv, false}};
    token name = p->tok;
    uint32_t f = 0;
    while (f < 5 && !at_word(p, functions[f].name)) f++;
    if (f == 5) return fail_expected(p, "an expression");
    next(p);
    token open = p->tok;
    TRY(enter_bracket(p));
    TRY(expect(p, '(', "`(`"));
    expr_id acc, arg;
    TRY(parse_sum(p, &acc));
    uint32_t count = 1;
    while (accept(p, ',')) {
        TRY(parse_sum(p, &arg));
        if (++count > 2 && !functions[f].is_variadic) {
            FAIL(p, pos_of(p, &name), E0105, "`%s` takes 2 arguments", functions[f].name);
        }
        TRY(combine(p, &name, functions[f].build, acc, arg, &acc));
    }
    if (count < 2 && !functions[f].is_variadic) {
        FAIL(p, pos_of(p, &name), E0105, "`%s` takes 2 arguments", functions[f].name);
    }
    TRY(expect_close(p, ')', &open));
    leave_bracket(p);
    *out = acc;
    return OK;
}

/* `d3` of the generic form. */
static bool slot_number(const token *t, uint32_t *out)
{
    int64_t v;
    if (t->n < 2 || t->n > 6 || t->p[0] != 'd' || str_to_i64((str){t->p + 1, t->n - 1}, &v) != OK) return false;
    if (v < 0 || v > MAX_COUNT || t->p[1] == '+') return false;
    *out = (uint32_t)v;
    return true;
}

static status parse_leaf_value(parser *p, expr_id *out)
{
    if (p->no_values) {
        FAIL_HERE(p, E0207, "%s cannot be used here: types, facts and grids mention symbols ($x) and numbers only",
                  shown(p, &p->tok));
    }
    value_id v;
    TRY(parse_value(p, &v));
    *out = v == POISON_VALUE ? expr_const(p->c, 1) : expr_value(p->c, v);
    return OK;
}

/* Slots become the operands themselves, so that equal ones merge and every overflow shows here. */
static status parse_slot(parser *p, uint32_t slot, expr_id *out)
{
    if (p->no_slots) {
        FAIL_HERE(p, E0207, "%s cannot be used here: this attribute mentions symbols only", shown(p, &p->tok));
    }
    size_t count = p->operands.count - p->slot_base;
    if (p->keep_slots) {
        *out = expr_slot(p->c, slot);
    } else if (slot < count) {
        value_id v = p->operands.items[p->slot_base + slot];
        *out = v == POISON_VALUE ? expr_const(p->c, 1) : expr_value(p->c, v);
    } else {
        FAIL_HERE(p, E0105, "%s counts from d0, but the op has %zu operands", shown(p, &p->tok), count);
    }
    next(p);
    return OK;
}

static status parse_primary(parser *p, bool is_negative, expr_id *out)
{
    TRY(count_leaf(p));
    token t = p->tok;
    uint32_t slot;
    int64_t v;
    switch (t.kind) {
    case TOK_INT: TRY(parse_int(p, is_negative, &v)); return built(p, &t, expr_const(p->c, v), out);
    case TOK_SYMBOL:
        *out = expr_symbol(p->c, intern_text(p, text_of(&t)));
        next(p);
        break;
    case TOK_VALUE: TRY(parse_leaf_value(p, out)); break;
    case TOK_WORD:
        if (p->is_generic && slot_number(&t, &slot)) {
            TRY(parse_slot(p, slot, out));
        } else {
            TRY(parse_function(p, out));
        }
        break;
    case '(':
        TRY(enter_bracket(p));
        next(p);
        TRY(parse_sum(p, out));
        TRY(expect_close(p, ')', &t));
        leave_bracket(p);
        break;
    default: return fail_expected(p, "an expression");
    }
    return is_negative ? built(p, &t, expr_mul(p->c, expr_const(p->c, -1), *out), out) : OK;
}

static status parse_unary(parser *p, expr_id *out)
{
    bool is_negative = false;
    while (p->tok.kind == '-') {
        TRY(count_leaf(p));
        is_negative = !is_negative;
        next(p);
    }
    return parse_primary(p, is_negative, out);
}

static expr_builder factor_operator(const parser *p)
{
    if (p->tok.kind == '*') return expr_mul;
    if (p->tok.kind != TOK_WORD) return NULL;
    if (at_word(p, "floordiv")) return expr_floordiv;
    if (at_word(p, "mod")) return expr_mod;
    return at_word(p, "ceildiv") ? expr_ceildiv : NULL;
}

static status parse_term(parser *p, expr_id *out)
{
    TRY(parse_unary(p, out));
    expr_builder build;
    while ((build = factor_operator(p)) != NULL) {
        token at = p->tok;
        expr_id right;
        next(p);
        TRY(parse_unary(p, &right));
        TRY(combine(p, &at, build, *out, right, out));
    }
    return OK;
}

static status parse_sum(parser *p, expr_id *out)
{
    TRY(parse_term(p, out));
    while (p->tok.kind == '+' || p->tok.kind == '-') {
        token at = p->tok;
        expr_id right;
        next(p);
        TRY(parse_term(p, &right));
        TRY(combine(p, &at, at.kind == '+' ? expr_add : expr_sub, *out, right, out));
    }
    return OK;
}

status parse_expr(parser *p, expr_id *out)
{
    if (p->tok.kind == TOK_INT) {
        /* The common case of a lone number. */
        token after = peek(p);
        if (after.kind == ',' || after.kind == ')' || after.kind == ']') {
            int64_t v;
            TRY(parse_int(p, false, &v));
            *out = expr_const(p->c, v);
            return OK;
        }
    }
    p->leaves = 0;
    uint32_t brackets = p->brackets;
    status s = parse_sum(p, out);
    p->brackets = brackets;
    return s;
}

attr_id list_of_one(parser *p, expr_id e)
{
    attr_id item = attr_expr(p->c, e);
    return attr_list(p->c, 1, &item);
}

status parse_expr_list(parser *p, const token *open, uint32_t close, attr_id *out)
{
    size_t from = p->exprs.count;
    while (p->tok.kind != close) {
        expr_id e;
        TRY(parse_expr(p, &e));
        push_id(&p->exprs, attr_expr(p->c, e));
        if (!accept(p, ',')) break;
    }
    TRY(expect_close(p, close, open));
    *out = attr_list(p->c, (uint32_t)(p->exprs.count - from), p->exprs.items + from);
    p->exprs.count = from;
    return OK;
}

status parse_relation(parser *p, attr_id *out)
{
    relation r;
    switch (p->tok.kind) {
    case TOK_EQ: r = RELATION_EQ; break;
    case TOK_NE: r = RELATION_NE; break;
    case TOK_LE: r = RELATION_LE; break;
    case TOK_GE: r = RELATION_GE; break;
    case '<': r = RELATION_LT; break;
    case '>': r = RELATION_GT; break;
    default: return fail_expected(p, "one of == != < <= > >=");
    }
    next(p);
    *out = attr_string(p->c, string_intern_z(p->c, relation_word(r)));
    return OK;
}
