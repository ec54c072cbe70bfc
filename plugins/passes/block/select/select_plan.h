/* What the rooms of pto.select share: the plan of a kernel's storage.
 *
 * Every tile value gets a storage of its own, or shares one with the values it is carried into, out of or along with
 * (`for`) or selected from (`if`), when no two of them are needed at one time. Where they cannot share, the value is
 * copied. The plan is made before anything changes. All memory is scratch of one run. */
#ifndef SELECT_PLAN_H
#define SELECT_PLAN_H

#include <pto/plugin.h>

#define SELECT_KINDS(X)              \
    X(KERNEL, "block.kernel")        \
    X(BUFFER, "block.buffer")        \
    X(TILE, "block.tile")            \
    X(FOR, "for")                    \
    X(IF, "if")                      \
    X(WHILE, "while")                \
    X(YIELD, "yield")                \
    X(ZERO_ACC, "tile.zero_acc")     \
    X(MATMUL_ACC, "tile.matmul_acc") \
    X(TMATMUL, "pto.tmatmul")        \
    X(TMOV, "pto.tmov")
enum { SELECT_KINDS(PTO_KIND_ENUM) SELECT_KIND_COUNT };

#define SELECT_STATS(X)                   \
    X(INSTRUCTIONS, "instructions")       \
    X(BUFFERS, "buffers")                 \
    X(COPIES, "copies of carried values") \
    X(ZEROINGS, "accumulators zeroed for loops that may run no iteration")
enum { SELECT_STATS(PTO_STAT_ENUM) SELECT_STAT_COUNT };

#define SELECT_NONE UINT32_MAX

/* An op of the kernel as it was, in print order. Time runs in halves: op k reads at 2k and writes at 2k + 1. */
typedef struct select_op {
    pto_op op;
    uint32_t parent; /* op around it, or SELECT_NONE */
    uint32_t last;   /* the last op inside of it: the yield of its last block; itself without blocks */
} select_op;

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

typedef struct select_value {
    pto_value value;
    uint32_t home;      /* op that defines it; the loop or branch for what is carried */
    uint32_t from, end; /* needed from its writing to its last reading */
    uint32_t group;     /* toward the first value of its group */
    uint32_t ring;      /* next value of its group */
    select_zero zero;
    pto_expr begun; /* ZERO_FIRST: 0 as long as the chain has not begun */
    select_storage storage;
} select_value;

typedef struct select_slot {
    uint32_t key, at;
} select_slot;

typedef struct select_table {
    select_slot *slots;
    uint32_t mask;
} select_table;

typedef struct select_plan {
    const pto_run *run;
    pto_op kernel, last_buffer; /* buffers stand at the top, one behind the other */
    select_op *ops;
    select_value *values;
    uint32_t op_count, value_count;
    select_table op_table, value_table;
} select_plan;

int select_is_tile(pto_value v);
/* A tile op: one with a PTO instruction, or tile.zero_acc. */
int select_is_tile_op(const pto_run *run, pto_op op);

pto_status select_plan_make(select_plan *p, const pto_run *run, pto_op kernel);
/* SELECT_NONE for what the kernel does not hold. */
uint32_t select_find_op(const select_plan *p, pto_op op);
uint32_t select_find_value(const select_plan *p, pto_value v);
/* The value that speaks for the group of a value. */
uint32_t select_group(const select_plan *p, uint32_t value);

/* The storage of a value; makes its buffer when there is none. NULL after a diagnostic. */
select_storage *select_storage_of(select_plan *p, pto_value v);
/* A descriptor of a value for use before `at`. `valid` NULL: the region of the value. */
pto_value select_describe(select_plan *p, pto_value v, pto_op at, const pto_expr *valid);
/* A descriptor of a buffer of its own, named after `like`. `valid` NULL: the whole capacity. */
pto_value select_scratch_tile(select_plan *p, pto_type type, pto_value like, const pto_expr *valid, pto_op at);

/* dst[i] = src[i] for all i at once, before `at`. */
pto_status select_copy_all(select_plan *p, uint32_t count, const pto_value *dst, const pto_value *src, pto_op at);

/* Instructions for op k, in program order; what they replace stays until select_clean. */
pto_status select_emit(select_plan *p, uint32_t k);
pto_status select_clean(select_plan *p);

/* Accumulators: what a loop does to them, before and at its end; a branch; any other use. */
pto_status select_zero_enter(select_plan *p, pto_op loop);
pto_status select_zero_leave(select_plan *p, pto_op yield);
pto_status select_zero_use(select_plan *p, pto_op op, pto_value v);
pto_status select_emit_matmul_acc(select_plan *p, pto_op op);

#endif
