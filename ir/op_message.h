/* Diagnostics about an op, and what it is made of in words. */
#ifndef IR_OP_MESSAGE_H
#define IR_OP_MESSAGE_H

#include "ir/module.h"

/* Reports against an op, the op's name in front: "`tensor.add` " and the message. Always FAILED. */
MUST_CHECK status op_error(const module *m, op_id o, const diag_code_info *code, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Another op that the error before it is about. */
void op_note(const module *m, op_id o, const char *text);

/* Printed forms for messages; they live as long as the context. */
const char *type_words(const module *m, type_id t);
const char *value_words(const module *m, value_id v);
const char *expr_words(const module *m, op_id o, expr_id e); /* slots by the names of the op's operands */

#endif
