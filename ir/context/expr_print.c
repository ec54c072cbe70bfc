/* Recursion is bounded by EXPR_MAX_DEPTH. Precedence, loosest first: `+` and binary `-`; `*`, `floordiv`, `mod`, from
 * the left; unary `-`. So `-%i floordiv 2` is (-%i) floordiv 2; `128 * (%t floordiv 2)` needs its parentheses. */
#include "ir/context/context.h"

enum { LEVEL_SUM, LEVEL_FACTOR, LEVEL_ATOM };

typedef struct expr_printer {
    const ir_context *c;
    text_buffer *out;
    expr_slot_printer slot_text;
    void *self;
} expr_printer;

static void print_at(const expr_printer *p, expr_id e, int level);

static int level_of(const expr_node *n)
{
    switch (n->kind) {
    case EXPR_SUM: return n->arg_count == 1 && n->value == 0 ? LEVEL_FACTOR : LEVEL_SUM;
    case EXPR_PRODUCT:
    case EXPR_FLOORDIV:
    case EXPR_MOD: return LEVEL_FACTOR;
    case EXPR_CONST: return n->value < 0 ? LEVEL_FACTOR : LEVEL_ATOM;
    default: return LEVEL_ATOM;
    }
}

static void print_product(const expr_printer *p, const expr_node *n, int first_level)
{
    for (uint32_t i = 0; i < n->arg_count; i++) {
        if (i > 0) text_puts(p->out, " * ");
        print_at(p, n->args[i], i == 0 ? first_level : LEVEL_ATOM);
    }
}

/* A minus in front of `(6 - %i) * %j` would go into the sum and stay there, so such a product needs parentheses. */
static bool takes_minus_apart(const expr_printer *p, const expr_node *n)
{
    const expr_node *first = expr_at(p->c, n->args[0]);
    return first->kind == EXPR_SUM && (first->value < 0 || first->coefs[first->arg_count - 1] < 0);
}

/* magnitude * e, after a sign if `signed_first`: then e may not begin with something that binds looser than it. */
static void print_term(const expr_printer *p, expr_id e, int64_t magnitude, bool signed_first)
{
    const expr_node *n = expr_at(p->c, e);
    int level = magnitude != 1 || signed_first ? LEVEL_ATOM : LEVEL_FACTOR;
    if (magnitude != 1) {
        text_put_i64(p->out, magnitude);
        text_puts(p->out, " * ");
    }
    if (n->kind == EXPR_PRODUCT && !(signed_first && takes_minus_apart(p, n))) {
        print_product(p, n, level);
    } else {
        print_at(p, e, level);
    }
}

static void print_sum(const expr_printer *p, const expr_node *n)
{
    bool first = true, constant_done = n->value == 0;
    for (uint32_t i = 0; i <= n->arg_count; i++) {
        bool negative = i < n->arg_count && n->coefs[i] < 0;
        if (!constant_done && ((n->value > 0 && negative) || i == n->arg_count)) {
            if (!first) text_puts(p->out, n->value > 0 ? " + " : " - ");
            text_put_i64(p->out, first || n->value > 0 ? n->value : -n->value);
            constant_done = true;
            first = false;
        }
        if (i == n->arg_count) break;
        if (first) {
            if (negative) text_putc(p->out, '-');
        } else {
            text_puts(p->out, negative ? " - " : " + ");
        }
        print_term(p, n->args[i], negative ? -n->coefs[i] : n->coefs[i], first && negative);
        first = false;
    }
}

static void print_call(const expr_printer *p, const char *name, const expr_node *n)
{
    text_puts(p->out, name);
    text_putc(p->out, '(');
    for (uint32_t i = 0; i < n->arg_count; i++) {
        if (i > 0) text_puts(p->out, ", ");
        print_at(p, n->args[i], LEVEL_SUM);
    }
    text_putc(p->out, ')');
}

static void print_infix(const expr_printer *p, const char *word, const expr_node *n)
{
    print_at(p, n->args[0], LEVEL_FACTOR);
    text_puts(p->out, word);
    print_at(p, n->args[1], LEVEL_ATOM);
}

static void print_slot(const expr_printer *p, uint32_t slot)
{
    if (p->slot_text != NULL) {
        p->slot_text(p->self, p->out, slot);
        return;
    }
    text_putc(p->out, 'd');
    text_put_u64(p->out, slot);
}

static void print_symbol(const expr_printer *p, str_id name)
{
    str s = string_of(p->c, name);
    text_putc(p->out, '$');
    text_put(p->out, s.p, s.n);
}

static void print_node(const expr_printer *p, const expr_node *n)
{
    switch (n->kind) {
    case EXPR_CONST: text_put_i64(p->out, n->value); break;
    case EXPR_SYMBOL: print_symbol(p, (str_id)n->value); break;
    case EXPR_SLOT: print_slot(p, (uint32_t)n->value); break;
    case EXPR_VALUE:
        text_putc(p->out, 'v');
        text_put_i64(p->out, n->value);
        break;
    case EXPR_SUM: print_sum(p, n); break;
    case EXPR_PRODUCT: print_product(p, n, LEVEL_FACTOR); break;
    case EXPR_FLOORDIV: print_infix(p, " floordiv ", n); break;
    case EXPR_MOD: print_infix(p, " mod ", n); break;
    case EXPR_CEILDIV: print_call(p, "ceildiv", n); break;
    case EXPR_MIN: print_call(p, "min", n); break;
    case EXPR_MAX: print_call(p, "max", n); break;
    default: text_puts(p->out, "<none>"); break;
    }
}

static void print_at(const expr_printer *p, expr_id e, int level)
{
    const expr_node *n = expr_at(p->c, e);
    bool wrapped = level_of(n) < level;
    if (wrapped) text_putc(p->out, '(');
    print_node(p, n);
    if (wrapped) text_putc(p->out, ')');
}

void expr_print(const ir_context *c, expr_id e, text_buffer *out, expr_slot_printer slot_text, void *self)
{
    expr_printer p = {.c = c, .out = out, .slot_text = slot_text, .self = self};
    print_at(&p, e, LEVEL_SUM);
}
