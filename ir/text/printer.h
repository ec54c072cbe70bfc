/* Printing: the canonical text form, and MLIR's generic form of the same module.
 *
 * Equal modules have equal text; the text reads back to the same module (the generic one up to value names). Value
 * names must be unique in each function: as parsed, or after module_settle. Malformed modules print too, though
 * what is printed then need not read back. [one thread per context] */
#ifndef IR_TEXT_PRINTER_H
#define IR_TEXT_PRINTER_H

#include "ir/module.h"

typedef struct print_options {
    bool generic;
    bool locations; /* `loc(..)` after every op; fused ones with all origins */
    /* Told of each op before its text goes to `out`, in print order. NULL: nothing listens. */
    void (*on_op)(void *self, op_id o);
    void *self;
} print_options;

/* `o` may be NULL: all false. */
void module_print(module *m, const print_options *o, text_buffer *out);
/* One op with what is inside of it, without the line break at the end. */
void op_print(module *m, op_id op, const print_options *o, text_buffer *out);

/* One attribute value as it is in a dict of the text form. */
void attr_print(const ir_context *c, attr_id a, text_buffer *out);
void text_put_integer(text_buffer *out, const attr_node *n);

#endif
