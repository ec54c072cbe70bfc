#include "ir/op_form.h"

#include <string.h>

bool op_has_own_form(op_kind kind)
{
    switch (kind) {
    case OP_FUNC:
    case OP_BLOCK_KERNEL:
    case OP_FOR:
    case OP_FORALL:
    case OP_IF:
    case OP_WHILE:
    case OP_BIND:
    case OP_TUNE: return true;
    default: return false;
    }
}

static uint8_t attr_index(const op_info *info, str name)
{
    for (uint8_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        if (str_is(name, info->attrs[i].name)) return i;
    }
    BUG_IF(true, "syntax of `%s` names no attribute: %.*s", info->name, (int)name.n, name.p);
}

static form_item *add_item(op_form *f, form_item_kind kind)
{
    BUG_IF(f->count == FORM_ITEMS_MAX, "syntax with too many items");
    f->items[f->count] = (form_item){.kind = (uint8_t)kind};
    return &f->items[f->count++];
}

static void add_attr(op_form *f, const op_info *info, form_item_kind kind, str name)
{
    form_item *item = add_item(f, kind);
    item->attr = attr_index(info, name);
    f->custom_attrs = (uint16_t)(f->custom_attrs | 1U << item->attr);
}

static str inner(str s, size_t front, size_t back) { return (str){s.p + front, s.n - front - back}; }

static void add_word(op_form *f, const op_info *info, str s)
{
    const char *open = memchr(s.p, '(', s.n);
    BUG_IF(open == NULL || s.p[s.n - 1] != ')', "syntax of `%s`: %.*s", info->name, (int)s.n, s.p);
    str word = {s.p, (size_t)(open - s.p)};
    str inside = inner(s, word.n + 1, 1);
    if (str_is(inside, "$*")) {
        add_item(f, FORM_OPERANDS)->word = word;
    } else {
        add_attr(f, info, FORM_CLAUSE, inside);
        f->items[f->count - 1].word = word;
    }
}

static void add_operand(op_form *f, const op_info *info, str s)
{
    if (str_is(s, "$*")) {
        add_item(f, FORM_REST);
        return;
    }
    BUG_IF(s.n < 2 || s.p[1] < '0' || s.p[1] > '9', "syntax of `%s`: %.*s", info->name, (int)s.n, s.p);
    uint8_t number = (uint8_t)(s.p[1] - '0');
    add_item(f, FORM_OPERAND)->operand = number;
    if (number >= f->fixed_operands) f->fixed_operands = (uint8_t)(number + 1);
    if (s.n == 2) return;
    BUG_IF(s.n < 5 || s.p[2] != '[' || s.p[s.n - 1] != ']', "syntax of `%s`: %.*s", info->name, (int)s.n, s.p);
    add_attr(f, info, FORM_INDEX, inner(s, 3, 1));
}

static void add_text(op_form *f, const op_info *info, str s)
{
    switch (s.p[0]) {
    case ',': add_item(f, FORM_COMMA); break;
    case '-': add_item(f, FORM_ARROW); break;
    case '{': add_item(f, FORM_DICT); break;
    case '$': add_operand(f, info, s); break;
    case '@': add_attr(f, info, FORM_SYMBOL, inner(s, 1, 0)); break;
    case '"': add_attr(f, info, FORM_STRING, inner(s, 1, 1)); break;
    case '<': add_attr(f, info, FORM_WORD, inner(s, 1, 1)); break;
    default: add_word(f, info, s); break;
    }
}

void op_form_fill(op_form *f, const op_info *info)
{
    bool has_dict = false;
    const char *p = info->syntax == NULL ? "$*" : info->syntax;
    while (*p != 0) {
        size_t n = strcspn(p, " ");
        bool glued_comma = n > 1 && p[n - 1] == ',';
        if (n != 0) {
            has_dict = has_dict || *p == '{';
            add_text(f, info, (str){p, n - (glued_comma ? 1 : 0)});
            if (glued_comma) add_item(f, FORM_COMMA);
        }
        p += n + (p[n] == ' ' ? 1 : 0);
    }
    if (!has_dict) add_item(f, FORM_DICT);
    f->name = str_from(info->name);
    f->ready = true;
}

void op_print_generic_name(const char *name, text_buffer *out)
{
    text_puts(out, strchr(name, '.') == NULL ? "pto_core." : "pto_");
    text_puts(out, name);
}

op_kind op_kind_by_generic_name(op_table *t, str name)
{
    if (!str_starts_with(name, "pto_")) return OP_NONE;
    bool is_core = str_starts_with(name, "pto_core.");
    size_t skip = is_core ? strlen("pto_core.") : strlen("pto_");
    op_kind kind = op_kind_by_name(t, inner(name, skip, 0));
    if (kind == OP_NONE || (strchr(op_info_at(t, kind)->name, '.') == NULL) != is_core) return OP_NONE;
    return kind;
}

op_kind op_implied_terminator(op_kind kind, uint32_t block_index)
{
    switch (kind) {
    case OP_BLOCK_KERNEL: return OP_RETURN;
    case OP_FOR:
    case OP_FORALL:
    case OP_IF:
    case OP_TENSOR_GROUP:
    case OP_TILE_FUSED: return OP_YIELD;
    case OP_WHILE: return block_index == 1 ? OP_YIELD : OP_NONE;
    default: return OP_NONE;
    }
}

uint32_t function_clause_attrs(const op_info *info)
{
    static const char *const listed[] = {"outputs", "known", "expect", "when"};
    uint32_t mask = 0;
    for (uint32_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        bool is_listed = false;
        for (size_t k = 0; k < sizeof listed / sizeof *listed; k++)
            is_listed = is_listed || strcmp(info->attrs[i].name, listed[k]) == 0;
        if (!is_listed) mask |= 1U << i;
    }
    return mask;
}
