/* Inside of program.h: the flat code of a program. Only program_*.c include this. */
#ifndef PTO_SEMANTICS_PROGRAM_BODY_H
#define PTO_SEMANTICS_PROGRAM_BODY_H

#include "control_code.h"

#include "semantics/program.h"

#include <pto/build.h>
#include <pto/operands.h>
#include <pto/relation.h>

#define NO_ID UINT32_MAX

/* Codes besides those of control_code.h. */
typedef enum code_kind {
    CODE_INSN = CONTROL_CLIENT, /* a: insns */
    CODE_FLAG,                  /* a: flags */
    CODE_TILE,                  /* a: tiles */
    CODE_ARRAY,                 /* a: arrays: a view */
    CODE_BIND,                  /* a: binds */
    CODE_NUMBER,                /* a: binds: the value alone, of an index_cast */
    CODE_COMPARE,               /* a: compares */
    CODE_LAUNCH,                /* a: launches */
    CODE_READ,                  /* a: insns: one element of an array */
    CODE_DEBUG,                 /* a: insns: an array or a scalar */
    CODE_ALLOC,                 /* a: arrays */
    CODE_FREE                   /* a: arrays; b: site */
} code_kind;

typedef struct insn_code {
    const program_site *site;
    uint32_t dst, src[3], src_count, tmp; /* tiles */
    uint32_t array, scalar, result;       /* array; slots */
    index_expr offsets[PTO_MAX_DIMS];
    bool has_place; /* `offsets` are a row and a column of a tile */
    bool transpose, has_pad, saturate, relu, has_scale;
    float scale;
    round_mode mode;
    pto_relation relation; /* of a comparison of tiles */
    const insn_function *function;
    int64_t run; /* of records */
    bool descending, upper;
    number pad;
} insn_code;

typedef struct flag_code {
    const program_site *site;
    step_kind kind;
    pto_pipe pipe, dst_pipe;
    index_expr event;
} flag_code;

typedef struct tile_code {
    const program_site *site;
    uint32_t buffer;
    int64_t offset;
    index_expr stage, valid[2];
    program_tile shape; /* what does not change */
} tile_code;

typedef struct array_code {
    const program_site *site;
    uint32_t source;    /* of a view: an array; NO_ID: parameter or allocation */
    uint32_t parameter; /* NO_ID: none, also of views */
    uint32_t handed;    /* slot + 1 by which loops and branches hand it on; 0: none does */
    pto_dtype dtype;
    uint32_t rank;
    index_expr dims[PTO_MAX_DIMS], strides[PTO_MAX_DIMS];
} array_code;

typedef struct bind_code {
    const program_site *site;
    uint32_t slot;
    index_expr value, lo, hi;
} bind_code;

typedef struct compare_code {
    uint32_t slot, left, right;
    pto_relation relation;
    pto_dtype dtype;
} compare_code;

typedef struct launch_code {
    const program_site *site;
    pto_op kernel;
    uint32_t argument_count, first; /* in launch_arguments */
} launch_code;

/* An array, or a slot when array is NO_ID. */
typedef struct launch_argument {
    uint32_t array, slot;
} launch_argument;

typedef struct program_body {
    uint32_t slot_count, tile_count, array_count, launch_argument_count, most_arguments;
    control_flow flow;
    const insn_code *insns;
    const flag_code *flags;
    const tile_code *tiles;
    const array_code *arrays;
    const bind_code *binds;
    const compare_code *compares;
    const launch_code *launches;
    const launch_argument *launch_arguments;
    const index_code *indices;
    const number *constants;      /* initial value of each slot */
    const uint32_t *slot_arrays;  /* the array of each slot, or NO_ID; NULL: no array is handed on */
    const uint32_t *symbol_slots; /* of program.symbols */
    int64_t *work;                /* slots for what is computed outside of a walk */
} program_body;

/* Reports with code `<id>/<what>`; returns PTO_FAILED. */
PTO_PRINTF_LIKE(4, 5)
pto_status program_error(const program *p, const program_site *site, const char *what, const char *format, ...);
/* Evaluates, or reports what is wrong with expression `which` of the op. */
pto_status program_eval(const program *p, const program_site *site, const index_expr *e, const int64_t *slots,
                        const char *which, int64_t *out);

/* ---- decoding: program_decode.c and program_ops.c ---- */

typedef enum thing_kind { THING_NONE, THING_SLOT, THING_TILE, THING_BUFFER, THING_ARRAY } thing_kind;

/* What a value of the IR is in the program. */
typedef struct thing {
    uint32_t value; /* index of the handle; 0: free */
    thing_kind kind;
    uint32_t id;
} thing;

typedef struct symbol {
    pto_str name;
    uint32_t slot;
    bool is_bound_inside;
} symbol;

/* A growing list in scratch memory. */
typedef struct list {
    void *items;
    uint32_t count, capacity;
} list;

typedef struct decoder {
    const pto_run *run;
    program *p;
    program_body *body;
    index_pool pool;
    control_builder control;
    list things; /* open addressing; count: used places */
    list symbols, sites, buffers, insns, flags, tiles, arrays, binds, compares, launches, launch_arguments, constants;
    uint32_t flags_given;
    bool hands_arrays;
} decoder;

/* A new zeroed item after the others. */
void *list_add(const pto_run *run, list *l, size_t size);
#define LIST_ADD(d, name, type) ((type *)list_add((d)->run, &(d)->name, sizeof(type)))
#define LIST_AT(d, name, type, i) (&((type *)(d)->name.items)[i])

/* What decoding appends: a site for an op, a code, a new slot for a number; and what a value is from here on. */
program_site *decode_site(decoder *d, pto_op op);
void decode_emit(decoder *d, code_kind what, uint32_t a, uint32_t b);
uint32_t decode_slot(decoder *d);
void decode_define(decoder *d, pto_value v, thing_kind kind, uint32_t id);
/* The slot by which loops and branches hand the array on. */
uint32_t decode_array_slot(decoder *d, uint32_t array);
thing decode_find(const decoder *d, pto_value v); /* THING_NONE when undefined */
/* Attribute `name`: a list of expressions. */
pto_status decode_exprs(decoder *d, const program_site *site, pto_op op, const char *name, uint32_t most,
                        index_expr *out, uint32_t *out_count);
uint32_t decode_symbol(decoder *d, pto_str name); /* its slot */
void decode_bound_symbol(decoder *d, pto_str name);
pto_status decode_array_type(decoder *d, const program_site *site, pto_type type, array_code *out);
/* One op without blocks. */
pto_status decode_op(decoder *d, pto_op op);
/* The ops of the body, with the control flow around them: body->flow. */
pto_status decode_body(decoder *d, pto_block block);

#endif
