/* What the files of pto.select share: the storages of a kernel's tiles, and the buffers made for them.
 *
 * Which tiles share a storage is the rule of storage_plan.h; where tiles that are handed over do not, they are copied.
 * The plan is made before anything changes. All memory is scratch of one run. */
#ifndef SELECT_PLAN_H
#define SELECT_PLAN_H

#include "storage_read.h"

#define SELECT_KINDS(X)              \
    X(KERNEL, "block.kernel")        \
    X(BUFFER, "block.buffer")        \
    X(TILE, "block.tile")            \
    X(IF, "if")                      \
    X(FUSED, "tile.fused")           \
    X(WHILE, "while")                \
    X(YIELD, "yield")                \
    X(ZERO_ACC, "tile.zero_acc")     \
    X(MATMUL_ACC, "tile.matmul_acc") \
    X(TMATMUL, "pto.tmatmul")        \
    X(MOVE, "tile.move")             \
    X(TEXPANDS, "pto.texpands")      \
    X(TFILLPAD, "pto.tfillpad")      \
    X(SUBS, "tile.subs")             \
    X(TADDS, "pto.tadds")            \
    X(TMAX, "pto.tmax")              \
    X(TMAXS, "pto.tmaxs")            \
    X(TMIN, "pto.tmin")              \
    X(TMINS, "pto.tmins")            \
    X(CONSTANT, "constant")          \
    X(TMOV, "pto.tmov")
enum { SELECT_KINDS(PTO_KIND_ENUM) SELECT_KIND_COUNT };

#define SELECT_STATS(X)                                                    \
    X(INSTRUCTIONS, "instructions")                                        \
    X(BUFFERS, "buffers")                                                  \
    X(IN_PLACE, "results in the buffer of an operand")                     \
    X(COPIES, "copies of carried values")                                  \
    X(ZEROINGS, "accumulators zeroed for loops that may run no iteration") \
    X(ROTATED, "conditions of loops computed in the body before")
enum { SELECT_STATS(PTO_STAT_ENUM) SELECT_STAT_COUNT };

typedef struct select_desc {
    pto_value value; /* result of a block.tile */
    pto_expr valid[2];
    struct select_desc *next;
} select_desc;

/* Where values live. Kept with the first value of each group of values that share. */
typedef struct select_storage {
    pto_value buffer; /* none until it is needed */
    pto_expr stage;
    select_desc *descs;
} select_storage;

/* Whether an accumulator holds zeros that nothing wrote, because its chain has not begun. */
typedef enum select_zero { ZERO_NEVER, ZERO_ALWAYS, ZERO_FIRST } select_zero;

/* What is known of a value of the plan besides; `storage` counts for the value that speaks for its group. */
typedef struct select_value {
    select_zero zero;
    pto_expr begun; /* ZERO_FIRST: 0 as long as the chain has not begun */
    select_storage storage;
} select_value;

/* An element type that the machine is known to have for an instruction. */
typedef struct select_known_type {
    pto_kind_id insn;
    pto_dtype dtype;
} select_known_type;
enum { SELECT_KNOWN_TYPES = 16 };

typedef struct select_plan {
    const pto_run *run;
    pto_op kernel, last_buffer; /* buffers are at the top, one after the other */
    storage_plan storage;
    storage_source source;
    select_value *values; /* by number in the plan */
    pto_value *scratches; /* buffers by number in the plan; none until they are needed */
    select_known_type known[SELECT_KNOWN_TYPES];
    uint32_t known_next;
    int is_packed;   /* `matrix.packed` */
    int64_t dim_min; /* `matrix.dim-min` */
} select_plan;

/* Work in conditions of `while` goes to the bodies and before the loops; before the plan is made. */
pto_status select_rotate_loops(const pto_run *run, pto_op kernel);
pto_status select_plan_make(select_plan *p, const pto_run *run, pto_op kernel, int in_place);
/* The storage of a value; makes its buffer when there is none. NULL after a diagnostic. */
select_storage *select_storage_of(select_plan *p, pto_value v);
/* A new descriptor of a stage of a buffer. */
pto_value select_descriptor(const select_plan *p, pto_value buffer, pto_expr stage, const pto_expr valid[2],
                            pto_type type, pto_str name, pto_op at);
/* A descriptor of a value for use before `at`. `valid` NULL: the region of the value. */
pto_value select_describe(select_plan *p, pto_value v, pto_op at, const pto_expr *valid);
/* A descriptor of a buffer of its own, named after `like`. `valid` NULL: the whole capacity. */
pto_value select_scratch_tile(select_plan *p, pto_type type, pto_value like, const pto_expr *valid, pto_op at);
/* A descriptor of the scratch operand of `op`, made before it; none when it needs none. */
pto_status select_scratch_operand(select_plan *p, pto_op op, pto_value *out);

/* dst[i] = src[i] for all i at once, before `at`. */
pto_status select_copy_all(select_plan *p, uint32_t count, const pto_value *dst, const pto_value *src, pto_op at);

/* Instructions for op k, in program order; what they replace stays until select_clean. */
pto_status select_emit(select_plan *p, uint32_t k);
pto_status select_clean(select_plan *p);

/* Accumulators: what a loop (its place in p->source.regions) does to them, before and at its end; a branch; any other
 * use. */
pto_status select_zero_enter(select_plan *p, uint32_t place);
pto_status select_zero_leave(select_plan *p, pto_op yield);
pto_status select_zero_use(select_plan *p, pto_op op, pto_value v);
pto_status select_emit_matmul_acc(select_plan *p, pto_op op);

#endif
