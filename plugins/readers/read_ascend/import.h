/* Functions of the vendor's assembler become kernels.
 *
 * A function is gone through twice. The first time, without building anything, finds what its memory is: each pointer
 * becomes a parameter for each shape that views of it have, and integers that shapes depend on become symbols. The
 * second time builds the kernel. Integers are index expressions: they do not wrap. */
#ifndef IMPORT_H
#define IMPORT_H

#include "mlir_tree.h"

#include <pto/relation.h>

enum { IMPORT_RANK_MAX = 5, IMPORT_LEAVES_MAX = 128 };

#define IMPORT_KINDS(X)           \
    X(FUNC, "func")               \
    X(RETURN, "return")           \
    X(YIELD, "yield")             \
    X(KERNEL, "block.kernel")     \
    X(LAUNCH, "block.launch")     \
    X(BUFFER, "block.buffer")     \
    X(TILE, "block.tile")         \
    X(VIEW, "view")               \
    X(FOR, "for")                 \
    X(IF, "if")                   \
    X(CONSTANT, "constant")       \
    X(INDEX_CAST, "index_cast")   \
    X(SET_FLAG, "pto.set_flag")   \
    X(WAIT_FLAG, "pto.wait_flag") \
    X(BARRIER, "pto.barrier")     \
    X(TLOAD, "pto.tload")         \
    X(TSTORE, "pto.tstore")       \
    X(TGETVAL, "pto.tgetval")
enum { IMPORT_KINDS(PTO_KIND_ENUM) IMPORT_KIND_COUNT };

/* ---- types ---- */

/* `!pto.tile_buf<..>`: what it says of the tile. */
typedef struct import_tile_type {
    uint32_t role; /* PTO_ROLE_* of its space */
    pto_dtype dtype;
    int64_t rows, columns;
    int64_t valid[2]; /* -1: `?` */
    uint32_t order;   /* PTO_ORDER_* */
    int64_t pad;      /* 0 nothing, 1 zero, 2 the largest, 3 the least */
    int is_compact;
} import_tile_type;

/* ---- memory ---- */

/* The memory of a pointer in one shape: a parameter of the kernel. */
typedef struct import_memory {
    uint32_t pointer; /* number of the parameter of the function */
    uint32_t rank;
    pto_expr dims[IMPORT_RANK_MAX];
    int reads, writes;
    pto_value value; /* while the kernel is built */
    struct import_memory *next;
} import_memory;

typedef struct import_window {
    uint32_t pointer, rank;
    import_memory *memory;
    int is_turned;                                             /* its last two dims are those of the memory exchanged */
    pto_expr offsets[IMPORT_RANK_MAX], sizes[IMPORT_RANK_MAX]; /* in its own order; none where they are not known yet */
} import_window;

/* ---- tiles ---- */

typedef struct import_buffer {
    pto_space space;
    int64_t address, stage_bytes, stages; /* address -1: none yet */
    pto_op op;
    struct import_buffer *next;
} import_buffer;

typedef struct import_tile {
    import_tile_type type;
    pto_value value; /* none until it is built */
    pto_expr valid[2], address;
    pto_block block;          /* that it is defined in */
    struct import_tile *twin; /* the column-major one of which this is another view, with rows and columns exchanged */
} import_tile;

/* ---- names ---- */

typedef enum import_kind {
    IMPORT_INDEX,     /* an integer; its expression is none where that is not known yet */
    IMPORT_NUMBER,    /* a float constant */
    IMPORT_SCALAR,    /* a scalar value */
    IMPORT_CONDITION, /* a comparison of integers */
    IMPORT_POINTER,
    IMPORT_VIEW, /* of global memory, or a part of it */
    IMPORT_TILE
} import_kind;

typedef struct import_name {
    pto_str name;
    import_kind kind;
    pto_dtype dtype; /* INDEX, NUMBER, SCALAR */
    pto_expr index;  /* INDEX; left side of a CONDITION */
    pto_expr right;
    pto_relation relation;
    double number;
    pto_value value;
    uint32_t pointer;
    import_window *window;
    import_tile *tile;
    uint32_t hides; /* number + 1 of the name in the same bucket before this one */
} import_name;

typedef struct import_parameter {
    pto_str name;
    uint32_t line, column;
    pto_dtype dtype; /* of a pointer: of its elements */
    int is_pointer, is_symbol;
} import_parameter;

enum { IMPORT_BUCKETS = 1024 };

typedef struct importer {
    const pto_run *run;
    pto_kind_id kinds[IMPORT_KIND_COUNT];
    int64_t blocks; /* instances of a kernel */
    int builds;     /* the second time */
    const mlir_op *function;

    import_name *names;
    uint32_t name_count, name_capacity, buckets[IMPORT_BUCKETS];

    import_parameter *parameters;
    uint32_t parameter_count, parameter_capacity;
    import_memory *memories;

    int is_cube, is_vector; /* what its tiles need */
    pto_op kernel;
    pto_block block; /* that ops are added to */
    pto_loc loc;     /* of what is being built */
    pto_value grid;
    int is_grid_named;
    pto_op first; /* of the body, after its buffers */
    import_buffer *buffers;
    uint32_t buffer_count;
} importer;

#define IMPORT_SPEC(im, NAME) pto_spec_make((im)->run, (im)->kinds[KIND_##NAME])

/* ---- import_scope.c ---- */
/* What a name stands for from here on; PTO_FAILED when it is taken. */
pto_status import_define(importer *im, const mlir_node *name, import_name what);
/* PTO_FAILED after a diagnostic: there is none, or it is of another kind; `kinds` is 1 << import_kind for each legal
 * one, and `what` their words. */
pto_status import_find(importer *im, const mlir_node *name, uint32_t kinds, const char *what, const import_name **out);
/* Names that are defined between both calls are gone after the second. */
uint32_t import_open(const importer *im);
void import_close(importer *im, uint32_t mark);
/* Letters, digits and `_` of a name of the text; a `_` at its end is left out. */
pto_str import_plain_name(const importer *im, pto_str name);
pto_loc import_loc(const importer *im, const mlir_op *op);
/* Ends an op: builds it at the end of the block. None after a diagnostic. */
pto_op import_build(importer *im, pto_spec *s);
PTO_PRINTF_LIKE(3, 4) pto_status import_refuse(const importer *im, const mlir_op *op, const char *format, ...);

/* ---- import_type.c ---- */
/* `f32` and so on; NONE: not an element type. */
pto_dtype import_dtype(pto_str word);
pto_status import_tile_type_of(const importer *im, const mlir_node *type, import_tile_type *out);
/* Takes a type, whatever it is. */
pto_status import_take_type(mlir_cursor *c, const mlir_node **out);
/* `16x?xf32`: how many dims, and the element type. */
pto_status import_shaped_type(const importer *im, const mlir_node *type, uint32_t *rank, pto_dtype *dtype);
pto_layout import_layout(const importer *im, const import_tile_type *t);
int64_t import_tile_bytes(const import_tile_type *t);

/* ---- import_index.c ---- */
/* `arith` ops. */
pto_status import_arith(importer *im, const mlir_op *op);
/* A name that is an integer, as an expression. */
pto_status import_index(importer *im, mlir_cursor *c, pto_expr *out);
/* `[%a, %b]` */
pto_status import_index_list(importer *im, mlir_cursor *c, uint32_t *count, pto_expr out[IMPORT_RANK_MAX]);
pto_status import_number_of(const importer *im, const mlir_node *number, int64_t *out);
/* A name as a scalar operand of that element type; PTO_DTYPE_NONE: its own. */
pto_status import_scalar(importer *im, const mlir_op *op, const import_name *name, pto_dtype dtype, pto_value *out);
/* Whether the expression is known to be at least `least`. */
int import_is_at_least(const importer *im, pto_expr x, int64_t least);

/* ---- import_memory.c ---- */
/* `pto.make_tensor_view` and `pto.partition_view`: what their results stand for. */
pto_status import_make_view(importer *im, const mlir_op *op);
pto_status import_partition(importer *im, const mlir_op *op);
/* `pto.tload`, `pto.tstore`. */
pto_status import_copy(importer *im, const mlir_op *op, int is_load);

/* ---- import_tile.c ---- */
/* `pto.alloc_tile` */
pto_status import_alloc_tile(importer *im, const mlir_op *op);
/* `pto.treshape`: the bytes of a tile as another one; `pto.set_validshape`: another valid region from here on. */
pto_status import_reshape(importer *im, const mlir_op *op);
pto_status import_set_valid(importer *im, const mlir_op *op);
/* The value of a tile, which is built when it was not yet; none after a diagnostic. */
pto_value import_tile_value(importer *im, import_tile *t);

/* ---- import_insn.c ---- */
/* Any op of the dialect that is not one of the above. */
pto_status import_insn(importer *im, const mlir_op *op);

/* ---- import_control.c ---- */
/* The ops of a region, in order. */
pto_status import_ops(importer *im, const mlir_op *first);

/* ---- import_kernel.c ---- */
/* A `func.func`: a kernel, and where its symbols are known a function that launches it. */
pto_status import_function(importer *im, const mlir_op *op);

#endif
