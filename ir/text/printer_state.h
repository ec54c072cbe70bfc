/* What the parts of the printer share; only for ir/printer*.c. */
#ifndef IR_TEXT_PRINTER_STATE_H
#define IR_TEXT_PRINTER_STATE_H

#include "ir/op_form.h"
#include "ir/text/printer.h"

enum { PRINTED_TYPES = 256 };

typedef struct printed_type {
    type_id type;
    uint32_t at, n; /* in `type_texts` */
} printed_type;

typedef struct printer {
    module *m;
    ir_context *c;
    text_buffer *out;
    bool is_generic, locations;
    void (*on_op)(void *self, op_id o);
    void *self;
    uint32_t indent; /* nesting */
    op_id op;        /* the op whose expressions are printed: slots name its operands */
    printed_type types[PRINTED_TYPES];
    text_buffer type_texts;
    op_form forms[OP_KIND_COUNT];
} printer;

/* All of these append to `out`. */

/* ---- printer.c ---- */
/* `%x`; a type; the blanks before a line. */
void print_value(printer *r, value_id v);
void print_type(printer *r, type_id t);
void print_comma(printer *r, bool *is_first); /* ", ", except before the first */
void print_indent(printer *r);
/* `{k = v}` with a blank before it: row order, then by spelling, without the attributes of the mask. */
void print_dict(printer *r, op_id o, uint32_t without);
void print_attr(printer *r, const attr_spec *spec, attr_id a);
void print_exprs(printer *r, attr_id list);
void print_expr_of(printer *r, attr_id a);
attr_id attr_of(const printer *r, op_id o, const char *name);
/* Item of a list, 0 when there is none: printing looks at modules before the verifier has. */
attr_id item_of(const printer *r, attr_id list, uint32_t index);
uint32_t count_of(const printer *r, attr_id list);

/* ---- printer_control.c ---- */
/* Of an op with blocks: from its name to its `{`; from the `}` of one block to the `{` of the next. */
void print_control_head(printer *r, op_id o);
void print_between_blocks(printer *r, op_id o);

/* ---- printer_attrs.c ---- */
/* ` loc(..)`, every origin. */
void print_loc(printer *r, loc_id l);

/* ---- printer_generic.c: the same parts in the generic form ---- */
/* From results to attributes; the label of a block with arguments; types and location; attributes of the module. */
void print_generic_head(printer *r, op_id o);
void print_generic_block_start(printer *r, block_id b);
void print_generic_tail(printer *r, op_id o);
void print_generic_module_attrs(printer *r, attr_id dict);

#endif
