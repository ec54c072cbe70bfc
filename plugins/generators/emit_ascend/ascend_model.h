/* A module at exec level as the vendor's tile library takes it: kernels as lists of instructions on tile descriptors
 * at addresses, with flags; and the functions that launch them. Printers write it; nothing here knows their syntax.
 *
 * Expressions are those of the IR, over symbols and values. All memory is scratch of the run. */
#ifndef ASCEND_MODEL_H
#define ASCEND_MODEL_H

#include "ascend_rows.h"
#include "scratch_text.h"

#define ASCEND_KINDS(X)                 \
    X(FUNC, "func")                     \
    X(KERNEL, "block.kernel")           \
    X(BUFFER, "block.buffer")           \
    X(TILE, "block.tile")               \
    X(LAUNCH, "exec.launch")            \
    X(ALLOC, "exec.alloc")              \
    X(FREE, "exec.free")                \
    X(RETURN, "return")                 \
    X(YIELD, "yield")                   \
    X(FOR, "for")                       \
    X(IF, "if")                         \
    X(WHILE, "while")                   \
    X(BIND, "bind")                     \
    X(CONSTANT, "constant")             \
    X(CONSTANT_ARRAY, "constant_array") \
    X(SCALAR_OF, "scalar_of")           \
    X(COMPARE, "compare")               \
    X(INDEX_CAST, "index_cast")         \
    X(VIEW, "view")                     \
    X(SET_FLAG, "pto.set_flag")         \
    X(WAIT_FLAG, "pto.wait_flag")       \
    X(BARRIER, "pto.barrier")           \
    X(TGETVAL, "pto.tgetval")           \
    X(TMATMUL, "pto.tmatmul")           \
    X(TMATMUL_ACC, "pto.tmatmul_acc")   \
    X(TMRGSORT, "pto.tmrgsort")         \
    X(TFILLPAD, "pto.tfillpad")         \
    X(TLOAD, "pto.tload")               \
    X(TSTORE, "pto.tstore")             \
    X(TSTORE_FP, "pto.tstore_fp")
enum { ASCEND_KINDS(PTO_KIND_ENUM) ASCEND_KIND_COUNT };

/* Operands of a fill that the text says in two steps: all of the target, as integers; source; the part of the target
 * that it becomes, and the source again, both by 16 bits. */
enum { ASCEND_FILL_ALL, ASCEND_FILL_SOURCE, ASCEND_FILL_PART, ASCEND_FILL_COPIED, ASCEND_FILL_COUNT };

/* NULL: the vendor's library has no such instruction, or nobody wrote down how it is called. */
const ascend_insn *ascend_insn_of(pto_op op);

/* ---- tiles ---- */

enum { ASCEND_PAD_NONE, ASCEND_PAD_ZERO, ASCEND_PAD_MAX, ASCEND_PAD_MIN, ASCEND_PAD_NUMBER };

/* How a tile lies in its memory: everything that is part of its type in the vendor's library. Bits are bytes there,
 * eight each, and a record is two f32. */
typedef struct ascend_tile_type {
    uint32_t role; /* PTO_ROLE_* of its space */
    pto_dtype dtype;
    int64_t rows, columns;
    int is_column_major; /* rows of elements, or of boxes, follow each other */
    uint32_t boxes;      /* PTO_LINES_*: how elements follow each other in a box; NONE: there are no boxes */
    int box_bytes;       /* 512, or 1024 of accumulators */
    uint32_t pad;        /* ASCEND_PAD_*: what is beyond the valid region */
    uint32_t pad_bits;   /* of ASCEND_PAD_NUMBER: the element */
    int is_compact;      /* rows and columns beyond the valid region take no place */
} ascend_tile_type;

/* A name for a tile: an IR tile as some instruction takes it. */
typedef struct ascend_tile {
    pto_op op; /* block.tile */
    ascend_tile_type type;
    pto_expr valid[2]; /* rows, columns */
    int64_t address;   /* of stage 0 */
    int64_t stage_bytes;
    pto_expr stage;
    const char *suffix; /* of the name, of all but the first form: "_turned" */
    struct ascend_tile *next_form;
} ascend_tile;

/* A window of global memory: rows and columns in the order of the tile. */
typedef struct ascend_window {
    pto_value memory;
    pto_expr offset;                /* elements */
    pto_expr rows, columns;         /* how many */
    pto_expr row_step, column_step; /* elements between them */
    int is_columns;                 /* columns are what is contiguous */
} ascend_window;

/* ---- kernels ---- */

enum { ASCEND_TILE, ASCEND_INSN, ASCEND_SET, ASCEND_WAIT, ASCEND_BARRIER, ASCEND_FOR, ASCEND_IF, ASCEND_SCALAR };

typedef struct ascend_operand {
    const ascend_tile *tile;     /* NULL: another kind of operand */
    const ascend_window *window; /* likewise; the rest are scalars */
    pto_value value;
} ascend_operand;

typedef struct ascend_node {
    uint32_t kind;
    pto_op op;
    const ascend_insn *insn;
    ascend_tile *tile; /* with its forms */
    ascend_operand *operands;
    uint32_t operand_count;
    struct ascend_node *first[2], *last[2]; /* inside: of a loop, of both sides of a branch */
    struct ascend_node *next;
} ascend_node;

/* What must not hold where a kernel is launched: a branch that has no instructions. */
typedef struct ascend_refusal {
    pto_op branch;
    struct ascend_refusal *next;
} ascend_refusal;

typedef struct ascend_kernel {
    pto_op op;
    int is_cube;
    uint32_t rank;    /* of the grid */
    pto_str *symbols; /* parameters after those of the IR */
    uint32_t symbol_count;
    ascend_node *first;
    ascend_refusal *refusals;
    struct ascend_kernel *next;
} ascend_kernel;

typedef struct ascend_module {
    const pto_run *run;
    pto_kind_id kinds[ASCEND_KIND_COUNT];
    pto_str arch; /* "a3" */
    int is_text;  /* it becomes text of the assembler */
    ascend_kernel *kernels;
    pto_op *functions;
    uint32_t function_count;
} ascend_module;

#define ASCEND_IS(m, op, NAME) (pto_op_kind(op) == (m)->kinds[KIND_##NAME])

/* PTO_FAILED after a diagnostic at the op that cannot be emitted. */
pto_status ascend_model_make(const pto_run *run, int is_text, ascend_module *out);
/* A kernel by its op; NULL: none. */
const ascend_kernel *ascend_kernel_of(const ascend_module *m, pto_op op);
/* Symbols in the order of their first mention in a list of types, then of expressions. */
typedef struct ascend_symbols {
    const pto_run *run;
    pto_str *items;
    uint32_t count, capacity;
} ascend_symbols;
void ascend_symbols_of_expr(ascend_symbols *s, pto_expr x);
void ascend_symbols_of_type(ascend_symbols *s, pto_type type);

/* The element type that a scalar of the instruction has: that of its first tile that is not a mask. */
pto_dtype ascend_scalar_type(const ascend_node *n, pto_value scalar);
/* The word by which a store of an accumulator scales; 0: it does not. */
int ascend_scale(const ascend_node *n, uint64_t *word);
/* Of a triangle: how many columns of row 0 are left of the diagonal. */
pto_expr ascend_diagonal(pto_op op);

/* The vendor's word for the pipe that an attribute names, and for how an op rounds. */
const char *ascend_pipe(pto_op op, const char *attr);
const char *ascend_rounding(pto_op op);

/* The bits of a number of an attribute in an element type of at most 32 bits. */
uint32_t ascend_bits(pto_dtype t, pto_attr number);
/* Whether a scalar is a constant that is an infinity or NaN. */
int ascend_is_special(const ascend_module *m, pto_value v);
/* Flags of instructions whose tiles have one capacity in the text for this chip. */
uint32_t ascend_even_flags(const ascend_module *m);
/* A number as the element type has it: to nearest, ties to even. */
double ascend_rounded(double x, pto_dtype t);

/* `pto.emit-ascend/unsupported` at an op; PTO_FAILED. */
PTO_PRINTF_LIKE(2, 3) pto_status ascend_refuse(pto_op op, const char *format, ...);
/* The same of another language that is printed: "the text of the vendor's assembler". */
PTO_PRINTF_LIKE(3, 0) pto_status ascend_refuse_in(pto_op op, const char *language, const char *format, va_list args);

/* How a function takes parameter `i`: "in", "const", "inout" or "out". */
pto_str ascend_role(pto_op function, uint32_t i);
int ascend_is_output(pto_op function, uint32_t i);
/* What a user calls parameter `i`: outputs may have another name in the text that it comes from. */
pto_str ascend_argument_name(pto_op function, uint32_t i);

#endif
