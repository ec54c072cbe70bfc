/* Inside of decoding: what reference_decode.c and reference_decode_ops.c share. */
#ifndef REFERENCE_DECODER_H
#define REFERENCE_DECODER_H

#include "reference_code.h"

/* A list that grows in scratch memory. */
typedef struct growing {
    void *items;
    uint32_t count, capacity;
} growing;

typedef struct symbol_entry {
    pto_str name;
    uint32_t slot;
    bool is_bound_inside;
} symbol_entry;

typedef struct coder {
    const pto_run *run;
    function_code *functions; /* all, the newest first */
    function_code *f;         /* the one at work */
    index_pool pool;
    growing ids;     /* uint32_t: number + 1 of the value with this handle index */
    growing ops;     /* op_code *: by the index of the handle of the op */
    growing shapes;  /* shape_code: one for each number of f */
    growing symbols; /* symbol_entry */
    growing results; /* pto_value: results that are arrays or tiles */
    growing code;    /* op_code *: function_code.ops */
    control_builder control;
} coder;

/* Reports what cannot be executed, at the op; returns PTO_FAILED. */
PTO_PRINTF_LIKE(3, 4)
pto_status coder_refuse(pto_op op, const char *code, const char *format, ...);
/* Space for an item at `index`; zeroed when new. */
void *coder_at(coder *c, growing *g, uint32_t index, size_t size);
#define CODER_ADD(c, list, type) ((type *)coder_at((c), &(c)->list, (c)->list.count, sizeof(type)))

/* Number of a value; assigns one when it has none. */
uint32_t coder_value(coder *c, pto_value v);
uint32_t coder_symbol(coder *c, pto_str name);
void coder_bind_symbol(coder *c, pto_str name);
pto_status coder_expr(coder *c, pto_op op, pto_expr e, index_expr *out);
/* The code of a function, which may be decoded later. */
function_code *coder_function(coder *c, pto_op function);

/* A new op, with its operands and results; NULL after a diagnostic. */
op_code *coder_op(coder *c, pto_op op);
/* One that is not in the text, for `at`. */
op_code *coder_new_op(coder *c, pto_op at, op_action what);

/* reference_decode_control.c: the body of c->f. */
pto_status coder_body(coder *c);
uint32_t coder_spare(coder *c); /* a number that no value has */

#endif
