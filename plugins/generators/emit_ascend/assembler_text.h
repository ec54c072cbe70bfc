/* What the text of the vendor's assembler is made of: lines, names, element types, index expressions. */
#ifndef ASSEMBLER_TEXT_H
#define ASSEMBLER_TEXT_H

#include "ascend_model.h"
#include "assembler_storage.h"
#include "index_text.h"

typedef struct assembler_printer {
    const pto_run *run;
    const ascend_module *m;
    const ascend_kernel *k;
    text *out, *constants; /* lines of the function, and those at its head */
    uint32_t depth, temporary_count;
    int is_placed; /* addresses and flags are written */
    assembler_base *bases;
    pto_op at;
    index_names known; /* what was computed */
} assembler_printer;

PTO_PRINTF_LIKE(2, 3) void assembler_line(assembler_printer *p, const char *format, ...);

/* ---- names: those of values; symbols and what is made here end in `_` ---- */
/* A view of memory goes by the name of its memory: what it is, is said of each window. */
const char *assembler_value(assembler_printer *p, pto_value v);
const char *assembler_symbol(assembler_printer *p, pto_str name);
/* A new one. */
const char *assembler_temporary(assembler_printer *p);
/* Returns `name`, which is a constant at the head of the function. */
const char *assembler_at_head(assembler_printer *p, const char *name, const char *number, const char *type);
/* A whole number there. */
const char *assembler_constant(assembler_printer *p, int64_t n, const char *type);

/* ---- types ---- */
/* NULL: the assembler has no such element. */
const char *assembler_element(pto_dtype t);
/* Likewise the type of a number, in whose name is not said whether it has a sign. */
const char *assembler_number_type(pto_dtype t);

/* ---- index expressions ---- */
/* As an index, which has 32 bits in C++. */
const char *assembler_index(assembler_printer *p, pto_expr x);
/* An op of `arith` on two of them. */
const char *assembler_binary(assembler_printer *p, const char *op, const char *a, const char *b);
/* Whether 32 bits are too few for an expression. */
int assembler_needs_64_bits(pto_expr x);
/* In 64 bits. */
const char *assembler_wide(assembler_printer *p, pto_expr x);

#endif
