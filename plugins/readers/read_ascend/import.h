/* Functions of the vendor's assembler become kernels.
 *
 * A function is gone through twice. The first time, without building anything, finds what its memory is: each pointer
 * becomes a parameter for each shape that views of it have, and integers that shapes depend on become symbols. The
 * second time builds the kernel. Integers are index expressions: they do not wrap. */
#ifndef IMPORT_H
#define IMPORT_H

#include "mlir_tree.h"

#include <pto/relation.h>

enum {
    IMPORT_RANK_MAX = 5,
    IMPORT_LEAVES_MAX = 128,
    IMPORT_ROUNDS_MAX = 64, /* of a loop that is read round by round */
    IMPORT_STEPS_MAX = 4096,
    IMPORT_WINDOWS_MAX = 64, /* of two dims, that one of more dims is read as */
    IMPORT_CALLS_MAX = 8,    /* in each other */
    IMPORT_ARGUMENTS_MAX = 64,
    IMPORT_QUEUES = 6
};

#define IMPORT_KINDS(X)                     \
    X(FUNC, "func")                         \
    X(RETURN, "return")                     \
    X(YIELD, "yield")                       \
    X(KERNEL, "block.kernel")               \
    X(LAUNCH, "block.launch")               \
    X(BUFFER, "block.buffer")               \
    X(TILE, "block.tile")                   \
    X(VIEW, "view")                         \
    X(FOR, "for")                           \
    X(IF, "if")                             \
    X(CONSTANT, "constant")                 \
    X(INDEX_CAST, "index_cast")             \
    X(SET_FLAG, "pto.set_flag")             \
    X(WAIT_FLAG, "pto.wait_flag")           \
    X(BARRIER, "pto.barrier")               \
    X(TLOAD, "pto.tload")                   \
    X(TSTORE, "pto.tstore")                 \
    X(TMOV, "pto.tmov")                     \
    X(TEXTRACT, "pto.textract")             \
    X(TEXTRACT_FP, "pto.textract_fp")       \
    X(TINSERT_FP, "pto.tinsert_fp")         \
    X(TSTORE_FP, "pto.tstore_fp")           \
    X(TINSERT, "pto.tinsert")               \
    X(TTRI, "pto.ttri")                     \
    X(WORKSPACE, "block.workspace")         \
    X(TADD, "pto.tadd")                     \
    X(TPRINT, "pto.tprint")                 \
    X(TMRGSORT, "pto.tmrgsort")             \
    X(TMRGSORT_LISTS, "pto.tmrgsort_lists") \
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
    int is_words; /* factors of columns, two words of f32 each, which the text has as one of 64 bits */
} import_tile_type;

/* ---- memory ---- */

/* The memory of a pointer in one shape: a parameter of the kernel. */
typedef struct import_memory {
    uint32_t pointer; /* number of the parameter of the function */
    uint32_t rank;
    pto_expr dims[IMPORT_RANK_MAX];
    int reads, writes;
    pto_value value;  /* while the kernel is built */
    pto_value passed; /* where the kernel is launched */
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
    int64_t offset;               /* bytes from the start of its stage */
    pto_block block;              /* that it is defined in */
    struct import_tile *sides[2]; /* of a tile that a branch chose: where `truth` is 1 and where it is 0; NULL: none */
    pto_expr truth;
    struct import_tile *root;     /* the one whose bytes it shows in another way; NULL: itself */
    struct import_tile *like;     /* of a view that is not built yet: what it is a view of */
    uint32_t last_step;           /* number + 1 of the step that used it last */
    struct import_tile *elements; /* its bytes as bits or records, where they were last; NULL: nowhere */
    struct import_tile *twin; /* the column-major one of which this is another view, with rows and columns exchanged */
} import_tile;

/* A tile that is taken as another one: dropped where nothing else uses it. */
typedef struct import_shadow {
    pto_op op;
    struct import_shadow *next;
} import_shadow;

/* ---- names ---- */

typedef enum import_kind {
    IMPORT_INDEX,     /* an integer; its expression is none where that is not known yet */
    IMPORT_NUMBER,    /* a float constant */
    IMPORT_SCALAR,    /* a scalar value */
    IMPORT_CONDITION, /* a comparison of integers */
    IMPORT_POINTER,
    IMPORT_VIEW, /* of global memory, or a part of it */
    IMPORT_TILE,
    IMPORT_COUNTS /* how many of each list were taken, which nobody reads */
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
    int is_pointer, is_symbol, is_queue;
} import_parameter;

/* ---- parts of a function, import_split.c ---- */

enum { IMPORT_VECTOR = 1, IMPORT_CUBE = 2, IMPORT_QUEUE = 4 }; /* what ops use; sets of them */

typedef struct import_step {
    const mlir_op *op;
    uint32_t units;
    int touches;    /* a tile or memory */
    uint32_t group; /* the first step of its kernel that it shares tiles with; `phase` is that of it */
    uint32_t phase;
} import_step;

typedef struct import_access {
    uint32_t step;
    import_memory *memory;
    int writes;
    int64_t slot; /* of a queue; -1: of other memory */
} import_access;

typedef struct import_queue {
    import_memory *memory; /* NULL: it is not used */
    int64_t tile[2];       /* rows and columns */
    pto_dtype dtype;
    int64_t pushed, popped;
    const mlir_op *last_pop;
} import_queue;

enum { IMPORT_BUCKETS = 1024 };

typedef struct importer {
    const pto_run *run;
    pto_kind_id kinds[IMPORT_KIND_COUNT];
    int64_t blocks; /* instances of a kernel */
    int is_for_a5;  /* the text is for that chip; else for A2 and A3 */
    int analyses;   /* the first time */
    int builds;     /* the second time, what belongs to the kernel */
    int is_dry;     /* an instruction is read for the names that it has */
    const mlir_op *file, *function;
    uint32_t floor, calls; /* the first name that a called function sees; how many calls are in each other */
    uint32_t depth;        /* loops and branches that are built around */

    import_name *names;
    uint32_t name_count, name_capacity, buckets[IMPORT_BUCKETS];

    import_parameter *parameters;
    uint32_t parameter_count, parameter_capacity;
    import_memory *memories;

    int is_cube, is_vector; /* what its tiles need */
    import_shadow *shadows;
    pto_op kernel;
    pto_block block; /* that ops are added to */
    pto_loc loc;     /* of what is being built */
    pto_value grid;
    int is_grid_named;
    pto_op first; /* of the body, after its buffers */
    import_buffer *buffers;
    uint32_t buffer_count;

    int has_choices;      /* there are tiles that branches chose */
    uint32_t chosen;      /* number + 1 of the name of one that was last found */
    uint32_t section;     /* unit of the section or called function */
    uint32_t unit, phase; /* of the kernel */
    uint32_t step, step_number, phase_count;
    int is_mixed; /* by its text, it works on several units */
    int is_split, uses_subblock;
    import_step *steps;
    import_access *accesses;
    uint32_t step_count, step_capacity, access_count, access_capacity;
    uint32_t last_of_role[16]; /* number + 1 of the step that last used a tile with an address in such a space */
    import_queue queues[IMPORT_QUEUES];
    int64_t queue_base[IMPORT_QUEUES], queue_slots, queue_slot_bytes; /* base -1: none yet */
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

/* What a condition is, as 1 or 0; none where it is not known yet. */
pto_expr import_truth(const importer *im, const import_name *condition);
/* `x` where `truth` is 1, else `y`; none where that is not an index expression. */
pto_expr import_choose(pto_expr truth, pto_expr x, pto_expr y);

/* ---- import_memory.c ---- */
/* `pto.make_tensor_view` and `pto.partition_view`: what their results stand for. */
pto_status import_make_view(importer *im, const mlir_op *op);
pto_status import_partition(importer *im, const mlir_op *op);
/* `pto.tload`, `pto.tstore`, `pto.tstore_fp`. */
pto_status import_copy(importer *im, const mlir_op *op, int is_load);
/* What a store does with what leaves an accumulator. */
typedef struct import_leaving {
    int has_relu, has_scale, has_factors;
    double scale;
    import_tile *factors;
} import_leaving;
/* The instruction between a window and a tile; `leaving`: of a store, NULL: nothing. */
pto_status import_move(importer *im, const mlir_op *op, const import_window *w, import_tile *tile, int is_load,
                       const import_leaving *leaving);

/* ---- import_tile.c ---- */
/* `pto.alloc_tile` */
pto_status import_alloc_tile(importer *im, const mlir_op *op);
/* A tile of a type, address and valid region, none: those of the type, as the result of the op. */
pto_status import_new_tile(importer *im, const mlir_op *op, import_tile *t);
/* `pto.treshape`: the bytes of a tile as another one; `pto.set_validshape`: another valid region from here on. */
pto_status import_reshape(importer *im, const mlir_op *op);
pto_status import_set_valid(importer *im, const mlir_op *op);
/* Rows of a row-major tile, from `first` on, as a tile. */
pto_status import_part(importer *im, const mlir_op *op, import_tile *of, int64_t first, int64_t rows,
                       import_tile **out);
/* Words of 64 bits as the factors that a tile of them takes; none after a diagnostic. */
pto_value import_factors(importer *im, const mlir_op *op, import_tile *words);
int import_same_type(const import_tile *a, const import_tile *b);
/* A tile that is one of two. */
import_tile *import_choice(importer *im, pto_expr truth, import_tile *a, import_tile *b);
/* The value of a tile, which is built when it was not yet; none after a diagnostic. */
pto_value import_tile_value(importer *im, import_tile *t);

/* Builds a tile as `t`, in the stage that `like`, the op of another one, is in. */
pto_op import_build_alias(importer *im, const import_tile *t, pto_op like, pto_str name, pto_loc loc, pto_place at);

/* ---- import_bits.c ---- */
/* Tile `i` of an instruction of ours by its name, as bits or records where it takes those; none after a diagnostic. */
pto_value import_elements(importer *im, const mlir_op *op, const char *name, import_tile *const *tiles, uint32_t i);
/* At the end of a kernel: what is used as bits or records alone is not there as bytes, too. */
pto_status import_drop_shadows(importer *im);
int import_takes_bits(const char *name, uint32_t i);
/* Which tile of an instruction of ours has the type of its scalars. */
uint32_t import_numbers_of(const char *name);
/* A merge of lists, after which `ins` has the scratch tile. */
pto_status import_merge(importer *im, const mlir_op *op, import_tile *const *ins, uint32_t count, import_tile *to);

/* ---- import_insn.c ---- */
/* Any op of the dialect that is not one of the above. */
pto_status import_insn(importer *im, const mlir_op *op);
/* `pto.sync.set`, `pto.sync.wait` */
pto_status import_signal(importer *im, const mlir_op *op);

/* ---- import_expand.c ---- */
/* An op that has no row of its own. `*is_one` 0: it is another op. */
pto_status import_expanded(importer *im, const mlir_op *op, int *is_one);
/* The PTO_UNIT_* of `#pto.sync_op_type<TLOAD>`. */
pto_status import_pipe_of_kind(const importer *im, const mlir_node *kind, uint32_t *unit);

/* ---- import_control.c ---- */
/* The ops of a region, in order. */
pto_status import_ops(importer *im, const mlir_op *first);

/* ---- import_split.c ---- */
/* Whether it pushes or pops. */
int import_is_queue_op(pto_str name);
/* What ops and all inside of them use. */
uint32_t import_units_of(const mlir_op *first);
/* Whether what uses that is read part by part. */
int import_is_mixed(uint32_t units);
/* Begins the next step. */
pto_status import_begin_step(importer *im, const mlir_op *op, int *is_of_kernel);
/* What the step uses. `is_new`: all of the tile is written and none of it read. `slot`: of a queue, else -1. */
void import_use_unit(importer *im, uint32_t unit);
void import_use_tile(importer *im, import_tile *t, int is_new);
void import_use_memory(importer *im, import_memory *m, int writes, int64_t slot);
/* Which step is of which kernel. */
pto_status import_split(importer *im);
int import_has_kernel(const importer *im, uint32_t phase, uint32_t unit);
/* `reads` and `writes` of memory as the kernel has them, or all kernels. */
void import_set_uses(importer *im, int of_all);
/* Tiles and buffers of the kernel that nothing uses. */
pto_status import_drop_unused(const importer *im);

/* ---- import_queue.c ---- */
/* `pto.tpush_to_aiv` and what belongs to it. */
pto_status import_queue_op(importer *im, const mlir_op *op);
/* A move of a tile from one unit to the other: one step stores it, the next one loads it. */
pto_status import_hand_over(importer *im, const mlir_op *op, import_tile *from, import_tile *to);
/* After the first time: how large the queues are. */
pto_status import_close_queues(importer *im);

/* ---- import_kernel.c ---- */
/* `func.call`: what the function does, in place. */
pto_status import_call(importer *im, const mlir_op *op);
/* Numbers of the cluster that a core is of, and of a vector core in it; 0 of others. */
pto_expr import_block(const importer *im);
pto_expr import_subblock(const importer *im);
/* How many vector cores of a cluster run the kernel; 1 of a cube core. */
int64_t import_subblocks(const importer *im);
/* Whether a function of the file calls it. */
int import_is_called(const mlir_op *file, const mlir_op *function);
/* A `func.func`: a kernel, and where its symbols are known a function that launches it. */
pto_status import_function(importer *im, const mlir_op *op);

#endif
