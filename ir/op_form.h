/* The custom text form of ops without a hand-written one: the row's `.syntax` as a list of items, for parser and
 * printer.
 *
 * `.syntax` is items separated by spaces: `$N` value operand, `$N[attr]` with a glued index list, `$*` all remaining
 * operands, `($*)` and `word($*)` the same in parentheses, `,` and `->` themselves, `@attr` symbol attribute,
 * `"attr"` string attribute, `<attr>` bare-word attribute, `word(attr)` keyword and index list, `{}` where the
 * attribute dict goes (else at the end). A comma may be glued to the item before it. Absent syntax is `$*`. */
#ifndef IR_OP_FORM_H
#define IR_OP_FORM_H

#include "ir/op_info.h"

typedef enum form_item_kind {
    FORM_OPERAND,  /* operand */
    FORM_REST,     /* comma-separated */
    FORM_OPERANDS, /* word (may be empty), then the rest in parentheses */
    FORM_COMMA,
    FORM_ARROW,
    FORM_SYMBOL, /* attr */
    FORM_STRING, /* attr */
    FORM_WORD,   /* attr */
    FORM_INDEX,  /* attr, in brackets */
    FORM_CLAUSE, /* word, attr, in parentheses */
    FORM_DICT
} form_item_kind;

typedef struct form_item {
    uint8_t kind;
    uint8_t operand; /* FORM_OPERAND */
    uint8_t attr;    /* index into the row's attrs */
    str word;
} form_item;

enum { FORM_ITEMS_MAX = 12 };

typedef struct op_form {
    bool ready;
    str name; /* of the kind */
    uint8_t count;
    uint8_t fixed_operands; /* 1 + the largest operand number */
    uint16_t custom_attrs;  /* bit i: attribute i of the row is outside the dict */
    form_item items[FORM_ITEMS_MAX];
} op_form;

/* Ops whose text form is written by hand: for, if, func and so on. */
bool op_has_own_form(op_kind kind);
/* Fills an empty form from the row. BUG for a malformed `.syntax`. */
void op_form_fill(op_form *f, const op_info *info);
/* The form of an added kind (op_table.h); BUG for another. */
const op_form *op_table_form(const op_table *t, op_kind kind);
/* The form of a kind; `forms`, one for each row of ir/ops, are filled on demand. */
static inline const op_form *op_form_of(op_form *forms, const op_table *t, op_kind kind)
{
    if (kind >= OP_KIND_COUNT) return op_table_form(t, kind);
    if (!forms[kind].ready) op_form_fill(&forms[kind], &op_rows[kind]);
    return &forms[kind];
}

/* Name of the op in the generic form: `pto_tensor.add`, `pto_core.for`. */
void op_print_generic_name(const char *name, text_buffer *out);
/* The kind of a generic name, OP_NONE when there is none. */
op_kind op_kind_by_generic_name(op_table *t, str name);

/* Bit i: attribute i of a function's row has its place in front of the dict. */
uint32_t function_clause_attrs(const op_info *info);

/* A block of this op that ends in a terminator without operands is printed without it: the parser adds it. */
op_kind op_implied_terminator(op_kind kind, uint32_t block_index);

#endif
