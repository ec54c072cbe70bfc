/* The model as C++ on the vendor's headers: a folder that cmake builds. */
#ifndef CPP_PRINT_H
#define CPP_PRINT_H

#include "ascend_model.h"
#include "index_text.h"

/* A name of C++ for a value, a symbol or a tile. */
typedef struct cpp_name {
    uint32_t key; /* index of a value's handle; 0: of a symbol */
    pto_str symbol;
    const char *c;
} cpp_name;

typedef struct cpp_printer {
    const pto_run *run;
    const ascend_module *m;
    text *out;       /* where lines go */
    pto_op function; /* the kernel or function that is written */
    pto_op at;       /* the op that is */
    cpp_name *names;
    uint32_t name_count, name_capacity;
    const char **taken; /* other names of the function */
    uint32_t taken_count, taken_capacity;
    index_names known; /* rounds of loops, extents */
} cpp_printer;

/* ---- cpp_names.c ---- */
/* Forgets the names of the function before. */
void cpp_names_begin(cpp_printer *p, pto_op function);
/* The name of a value or of a symbol, which it gets when it is first asked for. */
const char *cpp_value(cpp_printer *p, pto_value v);
/* Likewise; `name` is without `$`. */
const char *cpp_symbol(cpp_printer *p, pto_str name);
/* A name of its own that begins so. */
const char *cpp_spare(cpp_printer *p, const char *stem);
/* Lets a value have the name of another one. */
void cpp_alias(cpp_printer *p, pto_value v, const char *c);
/* Of a kernel or function. */
const char *cpp_global(const cpp_printer *p, pto_op function);

/* ---- cpp_text.c ---- */
/* The head of a function, whose body begins. */
PTO_PRINTF_LIKE(2, 3) void cpp_begin(cpp_printer *p, const char *format, ...);
/* " // 3:8 tm": where an op comes from, and its name there. */
const char *cpp_remark(cpp_printer *p, pto_op op);
/* An index expression. */
const char *cpp_index(cpp_printer *p, pto_expr x);
/* The same as a factor or a divisor. */
const char *cpp_factor(cpp_printer *p, pto_expr x);
const char *cpp_relation(pto_op op);
/* NULL: the vendor's library has no such element. */
const char *cpp_element(pto_dtype t);
/* Whether a parameter has such a type. Scalars of 8-bit floats have none: they would be numbers of their bits. */
int cpp_has_type(pto_value parameter);
/* A number in an element type. */
const char *cpp_number(cpp_printer *p, pto_dtype t, pto_attr number);

/* ---- cpp_host.c, cpp_body.c ---- */
/* What the host has for a value, and what is before its name: "void *", "int32_t ". Floats of 16 bits are their bits.
 */
const char *cpp_host_type(cpp_printer *p, pto_value v);
/* What a function of the host does. Fails after a diagnostic at what cannot be written. */
pto_status cpp_body(cpp_printer *p, pto_block block);

/* ---- the files ---- */
/* Writes the file of a kernel to p->out. PTO_FAILED after a diagnostic at what cannot be written. */
pto_status cpp_kernel(cpp_printer *p, const ascend_kernel *k);
/* The functions that launch kernels: what is declared, and what is defined. Fails likewise. */
pto_status cpp_host(cpp_printer *p, text *header, text *source);
/* Parameters of the function that launches a kernel, after the number of blocks and the stream: "void *x, int64_t B".
 */
const char *cpp_launch_parameters(cpp_printer *p, const ascend_kernel *k);

#endif
