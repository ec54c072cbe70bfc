/* What the files of pto.emit-c share.
 *
 * A kernel becomes a function of an instance. Its tiles are arrays in the scratch memory of the thread, row-major,
 * whatever space and layout their types name; tiles that a loop or a branch hands over without need of a copy share
 * one. A function becomes a function that allocates workspaces and launches. Text is made in scratch memory of the run
 * and handed to the sink at the end. */
#ifndef EMIT_H
#define EMIT_H

#include "fused_run.h"
#include "scratch_text.h"

#include <pto/native.h>
#include <pto/plugin.h>

#define EMIT_KINDS(X)                            \
    X(FUNC, "func")                              \
    X(KERNEL, "block.kernel")                    \
    X(LAUNCH, "block.launch")                    \
    X(WORKSPACE, "block.workspace")              \
    X(RETURN, "return")                          \
    X(YIELD, "yield")                            \
    X(FOR, "for")                                \
    X(IF, "if")                                  \
    X(WHILE, "while")                            \
    X(BIND, "bind")                              \
    X(CONSTANT, "constant")                      \
    X(ARRAY, "constant_array")                   \
    X(COMPARE, "compare")                        \
    X(SCALAR_OF, "scalar_of")                    \
    X(PRINT, "debug.print")                      \
    X(ASSERT, "debug.assert")                    \
    X(INDEX_CAST, "index_cast")                  \
    X(VIEW, "view")                              \
    X(FUSED, "tile.fused")                       \
    X(ZERO_ACC, "tile.zero_acc")                 \
    X(LOAD, "tile.load")                         \
    X(STORE, "tile.store")                       \
    X(FILL, "tile.fill")                         \
    X(IOTA, "tile.iota")                         \
    X(MOVE, "tile.move")                         \
    X(CAST, "tile.cast")                         \
    X(TRANSPOSE, "tile.transpose")               \
    X(GATHER, "tile.gather")                     \
    X(SCATTER, "tile.scatter")                   \
    X(FILLPAD, "tile.fillpad")                   \
    X(READ_SCALAR, "tile.read_scalar")           \
    X(MATMUL, "tile.matmul")                     \
    X(MATMUL_ACC, "tile.matmul_acc")             \
    X(CONTRACT_WEIGHTS, "tile.contract_weights") \
    X(ORDER, "tile.order")                       \
    X(ROWGATHER, "tile.rowgather")
enum { EMIT_KINDS(PTO_KIND_ENUM) EMIT_KIND_COUNT };

/* ---- the generator ---- */

/* A C name of a value or of a symbol. */
typedef struct emit_name {
    uint32_t key; /* of a value: its index */
    pto_str symbol;
    const char *c;
} emit_name;

/* Something that can go wrong, as pto_native_fault has it. */
typedef struct emit_fault {
    pto_op op;
    const char *text;
    int is_memory, has_index;
} emit_fault;

/* Kernels that the caller is asked for, PTO_PRODUCT_* or one of these, and the capacity of what they compute. */
enum {
    EMIT_WEIGHTS = PTO_PRODUCT_COUNT,
    EMIT_PANELS, /* and PTO_PRODUCT_* more */
    EMIT_PRODUCT_COUNT = EMIT_PANELS + PTO_PRODUCT_COUNT
};
typedef struct emit_product {
    int64_t kind, rows, columns;
} emit_product;

/* What is packed before a kernel is launched. */
typedef struct emit_packed {
    uint32_t kind, right, result; /* of the product; parameters of the kernel, the second to count rows */
    int turns;                    /* it is (n, k) */
    int64_t rows;                 /* that are multiplied by it at a time */
    const char *name;
} emit_packed;

/* A kernel, and the symbols that its frame has. */
typedef struct emit_kernel_info {
    pto_op op;
    pto_str *symbols;
    uint32_t symbol_count;
    int64_t scratch_bytes; /* of tiles */
    const emit_product *products;
    uint32_t product_count;
    const emit_packed *packed;
    uint32_t packed_count;
    int asks_stream_bytes; /* of pto_native_stream_bytes */
    /* In the text of all kernels: bytes of this one, and where its function has its name. */
    size_t bytes, name_begin, name_end;
    uint32_t sweeps; /* PTO_SWEEP in it */
    uint32_t part;   /* that it is of: PTO_PART_1 .. of <pto/native.h>, or 0 */
} emit_kernel_info;

/* A block that is being written. */
typedef struct emit_scope emit_scope;

/* A loop over an index that is being written, and lines that come before and after it. */
typedef struct emit_loop {
    pto_op op;
    text before, after;
} emit_loop;

typedef struct emitter {
    const pto_run *run;
    pto_kind_id kinds[EMIT_KIND_COUNT];
    text *out; /* where lines go */
    emit_fault *faults;
    uint32_t fault_count, fault_capacity;
    uint32_t *op_numbers; /* by the index of the op's handle, of a walk through the module; 0: none */
    uint32_t op_capacity;
    emit_kernel_info *kernels_done;
    uint32_t kernel_count, kernel_capacity;
    uint32_t array_count; /* constant arrays, for their names */
    text arrays;          /* their definitions */
    fused_model model;
    /* Of the function or kernel that is written. */
    pto_op function;
    int is_kernel;
    emit_name *names;
    uint32_t name_count, name_capacity, bound_count; /* the first names are those of symbols that it binds */
    emit_scope *scope;
    emit_loop *loop;  /* the innermost one; NULL: there is none */
    pto_str *symbols; /* of a function: those that the caller binds, or of a kernel: its frame's */
    uint32_t symbol_count, symbol_capacity;
    const fused_storage *storage;
    int64_t *places; /* of each group of the plan: bytes from the start of scratch; -1: none yet */
    int64_t scratch_bytes;
    emit_product *products;
    uint32_t product_count, product_capacity;
    emit_packed *packed;
    uint32_t packed_count, packed_capacity;
    uint32_t spare_count;       /* temporaries, for their names */
    int has_streams;            /* the kernel has stores that are */
    int asks_stream_bytes;      /* of pto_native_stream_bytes, by its frame */
    int has_trail;              /* the kernel has a sweep that trails */
    uint32_t sweeps;            /* that the kernel has */
    int sorts;                  /* the module needs <pto/native_vector_sort.h> */
    struct emit_loaded *loaded; /* tiles that stay in memory */
    uint32_t loaded_count, loaded_capacity;
} emitter;

#define EMIT_IS(e, op, NAME) (pto_op_kind(op) == (e)->kinds[KIND_##NAME])

/* Formats in scratch memory. */
PTO_PRINTF_LIKE(2, 3) const char *emit_format(emitter *e, const char *format, ...);
/* Braces alone. */
void emit_open_block(emitter *e);
/* Where an op stands in the text, and its path; fit for a comment. */
const char *emit_place(emitter *e, pto_op op);
/* At the end of a line: where an op stands in the text that its kernel is of, and its name there. */
const char *emit_remark(emitter *e, pto_op op);
/* An expression without parentheses around all of it. */
const char *emit_bare(emitter *e, const char *c);
/* Above what an op becomes: its text's place and its path. */
void emit_comment(emitter *e, pto_op op);
/* The number of a fault at an op, for `return`. */
uint32_t emit_fault_of(emitter *e, pto_op op, const char *why);
/* What C returns where an index, or what begins there, is not within an extent; kernels leave both numbers, too. */
const char *emit_index_fault(emitter *e, pto_op op, const char *why, const char *at, const char *extent);
/* The same as emit_fault_of() where there is no memory. */
uint32_t emit_fault_of_memory(emitter *e, pto_op op);

/* ---- names ---- */

/* Forgets the names of the function before. */
void emit_names_reset(emitter *e);
/* The C name of a value, which it gets when it is first asked for. */
const char *emit_value(emitter *e, pto_value v);
/* Of a symbol, without `$`; notes it as one that the function needs unless it is bound inside. */
const char *emit_symbol(emitter *e, pto_str name);
/* The C names of a symbol and of a value as fields of frames have them. */
const char *emit_field(emitter *e, pto_str name);
const char *emit_plain_name(emitter *e, pto_str name);
/* Lets a value have the name of another one. */
void emit_alias(emitter *e, pto_value v, const char *c);
/* A name that no value has, `stem` with a number. */
const char *emit_spare(emitter *e, const char *stem);
/* A name of the module as a part of C identifiers. */
const char *emit_global(emitter *e, pto_str name);

/* ---- index expressions ---- */

/* An expression as C of int64_t. */
const char *emit_index(emitter *e, pto_expr x);
/* The same as a name or a number: what has more to it is a constant, `stem` with a number, which is declared once for
 * all that is inside of a block, or else here. */
const char *emit_extent(emitter *e, pto_expr x, const char *stem);
/* Whether it is the same before the block that is written, and after it. */
int emit_is_known_around(const emitter *e, pto_expr x);
/* Of a quotient or a rest: its name, given at the head of the outermost block that has what it is made of; NULL: there
 * is none. `quotient` writes it in full. */
const char *emit_quotient_name(emitter *e, pto_expr x, const char *(*quotient)(emitter *e, pto_expr x));
/* Whether a condition has been checked, at the head of which it is written; from now on it is. */
int emit_is_checked(emitter *e, const char *condition);
/* Item `i` of a list attribute. */
const char *emit_index_of(emitter *e, pto_op op, const char *attr, uint32_t i);

/* ---- element types ---- */

/* Of one element in memory, in a C variable; NULL: this generator has no such type. */
const char *emit_memory_type(pto_dtype t);
const char *emit_lane_type(pto_dtype t);
/* Part of the names of the functions of <pto/native.h>: "f32", "i8". */
const char *emit_type_name(pto_dtype t);
/* What a `float` becomes when the op around computes in type t. */
const char *emit_rounded(emitter *e, pto_dtype t, const char *value);
/* What reads an element `at` ("tx[..]") from memory to a variable, and back. */
const char *emit_read(emitter *e, pto_dtype t, const char *at);
const char *emit_write(emitter *e, pto_dtype t, const char *value);
/* A number of an attribute as a value of that type, rounded to it; integers clamped when `saturates`. */
const char *emit_number(emitter *e, pto_dtype t, pto_attr number, int saturates);
/* A value of one type as one of another. */
const char *emit_convert(emitter *e, pto_dtype to, pto_dtype from, const char *value, int mode, int saturates,
                         int integral);
int emit_cast_mode(pto_op op);
/* Whether a cast clamps; one to a float type that has all numbers of the other does not. */
int emit_cast_saturates(pto_op op, pto_dtype to, pto_dtype from);

/* ---- tiles ---- */

/* Where the tile of a value is: the name of a pointer, which is declared where the kernel begins. */
void emit_tiles_plan(emitter *e);
void emit_tiles_declare(emitter *e, text *out);
const char *emit_tile(emitter *e, pto_value v);
/* Element [row, column], which are C expressions. */
const char *emit_at(emitter *e, pto_value tile, const char *row, const char *column);
int64_t emit_columns(pto_value tile);
/* tiles of `to` become those of `from`, all at once. */
/* What C declares a scalar or memory with, a space or `*` at the end. */
const char *emit_type_of(emitter *e, pto_value v);
pto_status emit_hand_over(emitter *e, uint32_t count, const pto_value *to, const pto_value *from, int declares);

/* ---- windows of memory ---- */

typedef struct emit_window {
    const char *base, *row_stride, *column_stride; /* C: a pointer, and elements */
} emit_window;

/* Checks that a window of `size` rows and columns lies within the memory, where that is not known, and finds it. */
void emit_window_open(emitter *e, pto_op op, pto_value memory, const pto_expr size[2], int transposed,
                      emit_window *out);
/* The same by the offsets in the attribute `starts`. */
void emit_window_of(emitter *e, pto_op op, const char *starts, pto_value memory, const pto_expr size[2], int transposed,
                    emit_window *out);
/* Checks that `size` elements of a dim from `offset` on are there, where that is not known. */
void emit_check_dim(emitter *e, pto_op op, pto_expr offset, pto_expr size, pto_expr dim);
/* Element [row, column] of a window whose pointer is called `name`. */
const char *emit_window_at(emitter *e, const emit_window *w, const char *name, const char *row, const char *column);

/* A tile that was loaded and needs no copy: a window, whose pointer has the name of the tile. */
typedef struct emit_loaded {
    uint32_t key; /* of the value: its index */
    emit_window window;
} emit_loaded;
void emit_tile_stays(emitter *e, pto_value tile, const emit_window *w);
/* Whether both are in one storage. */
int emit_tiles_share(const emitter *e, pto_value a, pto_value b);
/* Puts a tile that `by`, an op or a region, makes where another one is that it reads, if that may be: nothing reads the
 * other one afterwards, in no pass of a loop either, and they are alike. It is for the caller that `by` reads an
 * element before it stores there. */
int emit_tile_take(emitter *e, pto_value to, pto_value from, pto_op by);
/* NULL: the tile is in scratch memory. */
const emit_window *emit_tile_window(const emitter *e, pto_value tile);

/* Whether vectors of 32 bits that are stored to memory may be streamed: its elements have four bytes, and it is not
 * known to be small. */
int emit_may_stream(const emitter *e, pto_value memory);
/* How many bytes it has. */
const char *emit_bytes(emitter *e, pto_value memory);
/* Whether it has as many bytes as what the launch streams, for what asks at run time. */
const char *emit_is_large(emitter *e, pto_value memory);
/* How many bytes all arrays have that a launch hands to its kernel. */
const char *emit_moved_bytes(emitter *e, pto_op launch);
/* Of all that the function is called with. */
const char *emit_call_bytes(emitter *e);

/* ---- transposes ---- */

/* Of a transpose that goes from memory to memory, by its store. `to`: a pointer, and elements between its rows. */
pto_status emit_transpose_out(emitter *e, pto_op store, const char *to, const char *to_stride);
pto_status emit_transpose(emitter *e, pto_op op);
/* A load that transposes; returns whether it is one. `rows` and `columns` are those of the tile. */
int emit_load_transposed(emitter *e, pto_op load, const emit_window *from, const char *rows, const char *columns);

/* ---- vectors ---- */

/* What C calls a vector of 32-bit lanes that hold the type. */
const char *emit_vector_type(pto_dtype t);
/* Of memory at a pointer; `tail`: how many elements, NULL: as many as there are lanes. */
const char *emit_vector_load(emitter *e, pto_dtype t, const char *at, const char *tail);
const char *emit_vector_store(emitter *e, pto_dtype t, const char *at, const char *value, const char *tail);
const char *emit_splat(emitter *e, pto_dtype t, const char *scalar);
/* A vector before it is rounded to its type, where rounding it is the last that a formula does; else the same. */
const char *emit_uncut(emitter *e, pto_dtype t, const char *x);
const char *emit_vector_convert(emitter *e, pto_dtype to, pto_dtype from, const char *x, int mode, int saturates,
                                int integral);
/* As emit_formula; `x` are names of vectors, or splats. */
const char *emit_vector_formula(emitter *e, pto_op op, const char *const *x);
/* Of a reduction of rows: one vector into all before it; the scalar of all. */
const char *emit_vector_step(emitter *e, pto_op reduce, const char *all, const char *x);
const char *emit_vector_total(emitter *e, pto_op reduce, const char *all);
/* "max" or "min" of floats, which have accumulators of their own: pto_extreme; NULL: it is neither. */
const char *emit_extreme(pto_op reduce);
/* The function of <pto/native_vector_row.h> that reduces a row in memory; NULL: there is none. */
const char *emit_row_function(emitter *e, pto_op reduce);
/* What it starts from, by the number of elements, which is C. */
const char *emit_reduce_start(emitter *e, pto_op reduce, const char *count);

/* ---- walks through rows ---- */

/* A tile.fused. */
pto_status emit_fused(emitter *e, pto_op fused);
/* An op outside of all of them as a walk of its own; `taken`: whether it can be one. */
pto_status emit_alone(emitter *e, pto_op op, int *taken);

/* ---- memory ---- */

/* Whether something may write memory, or nothing uses it. */
int emit_is_ever_written(emitter *e, pto_value memory);

/* ---- products ---- */

/* A product; nothing when its store writes it. */
pto_status emit_contract(emitter *e, pto_op op);
/* The weights of tile.contract_weights as a pto_native_weights: its name. */
const char *emit_weights(emitter *e, pto_op op, pto_expr columns);
/* The right side of tile.contract in panels, as arguments. */
const char *emit_panels(emitter *e, pto_op op, pto_expr depth, pto_expr columns);
/* What the frame calls the right side of tile.contract, all of it packed before the launch; NULL: it is not. */
const char *emit_packed_right(emitter *e, pto_op op, uint32_t kind, pto_expr depth, pto_expr columns);
/* That as arguments: the matrix, which of them, and the first column. */
const char *emit_packed_arguments(emitter *e, pto_op op, const char *name);
/* Fields of the frame for that, variables of the function, and what fills the fields. */
void emit_packed_fields(emitter *e, text *out);
void emit_packed_declare(emitter *e, text *out);
void emit_packed_fill(emitter *e, pto_op launch, const emit_kernel_info *kernel, const char *frame);
/* What a frame calls the kernels of products, EMIT_WEIGHTS and so on. */
const char *emit_product_name(uint32_t kind);
/* A product and its store at once. */
pto_status emit_stored_product(emitter *e, pto_op store);
/* Whether a store of sums, whatever becomes of them on the way, is written in vectors; that. */
int emit_leaves_in_vectors(emitter *e, pto_op store);
pto_status emit_leaving_store(emitter *e, pto_op store);
/* What the products of the kernel that was written need: fields of its frame, variables of its function; where it is
 * launched, what fills the fields, and the bytes of scratch as C. */
void emit_products_fields(emitter *e, text *out);
void emit_products_declare(emitter *e, text *out);
void emit_products_find(emitter *e, pto_op launch, const emit_kernel_info *kernel, const char *frame);
const char *emit_products_scratch(emitter *e, const emit_kernel_info *kernel, const char *frame);

/* ---- order ---- */

/* tile.order and tile.rowgather; `taken`: whether the op is one of them. */
pto_status emit_in_order(emitter *e, pto_op op, int *taken);
/* Scratch memory for the op being written: bytes from the start of that of the kernel. */
int64_t emit_scratch(emitter *e, int64_t bytes);

/* ---- ops ---- */

/* The op without the letters that say where its second operand comes from: "rowexpandadd" and "adds" are "add". */
pto_str emit_stem(pto_op op);
/* The comparison of an op as C writes it; NULL: it is not known. */
const char *emit_relation(pto_op op);
/* PTO_RULE_* of an op, or of the instruction that a value form has. */
static inline uint32_t emit_rule_of(pto_op op)
{
    return (uint32_t)pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_RULE);
}
/* A scalar operand in the type of the elements. */
const char *emit_scalar_as(emitter *e, pto_op op, uint32_t i, pto_dtype t, const char *x);

/* ---- moves ---- */

/* As what an element moves, so that its bits stay: of narrow floats an integer, else the type. */
pto_dtype emit_moved_type(pto_dtype t);
/* Whether an op computes nothing: each element of the result is one of the operands'. */
int emit_moves(pto_op op);
/* Whether operand i of it decides which one. */
int emit_is_condition(pto_op op, uint32_t i);
/* A scalar operand of it as it moves. */
const char *emit_moved_scalar(emitter *e, pto_op op, uint32_t i);
/* Its formula, of operands as they move. */
const char *emit_moved(emitter *e, pto_op op, const char *const *x, int in_vectors);

/* The formula of an op that makes each element of elements in the same place; `x` are its operands' elements, in order,
 * scalars included. NULL: the op is not of that kind, or not in this type. */
const char *emit_formula(emitter *e, pto_op op, const char *const *x);

/* How formulas are written, of elements or of vectors: what each returns is C, or NULL where it cannot be written. */
typedef struct emit_words {
    /* Of operands of type t; b is NULL where there is one. */
    const char *(*arithmetic)(emitter *e, pto_op op, pto_dtype t, const char *a, const char *b);
    const char *(*comparison)(emitter *e, pto_op op, pto_dtype t, const char *a, const char *b);
    const char *(*selection)(emitter *e, pto_dtype t, const char *mask, const char *a, const char *b);
    /* As emit_convert. */
    const char *(*conversion)(emitter *e, pto_dtype to, pto_dtype from, const char *x, int mode, int saturates,
                              int integral);
    /* As emit_scalar_as. */
    const char *(*scalar)(emitter *e, pto_op op, uint32_t i, pto_dtype t, const char *x);
} emit_words;
/* As emit_formula, in these words. */
const char *emit_formula_of(emitter *e, pto_op op, const char *const *x, const emit_words *w);
/* Whether there is a formula of the op. */
int emit_is_map(pto_op op);
pto_status emit_tile_op(emitter *e, pto_op op);
pto_status emit_scalar_of(emitter *e, pto_op op);
/* The ops of a block; with what comes before them. */
pto_status emit_ops(emitter *e, pto_block block);
pto_status emit_block(emitter *e, pto_block block);
/* A kernel, or a function, with all that C needs before it. */
pto_status emit_kernel(emitter *e, pto_op kernel, text *out);
/* `key` of the generator. */
pto_status emit_key(const pto_run *run, const pto_text_sink *sink);
/* Adds the text of all kernels and functions, and says of which part each kernel is. */
void emit_parts(emitter *e, text *all, const text *code);
pto_status emit_function(emitter *e, pto_op function, text *out);
/* Ops of functions: launches, workspaces, memory, debug ops, `return`. */
pto_status emit_function_op(emitter *e, pto_op op);
pto_status emit_refuse(pto_op op, const char *why);

#endif
