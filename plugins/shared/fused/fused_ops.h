/* Ops of a kernel as parts of a walk through rows: a loop over the rows of a region, in it sweeps along the columns,
 * whose values are in vectors.
 *
 * A model is of one kernel whose tiles are values, with or without `tile.fused` in it: what it says of an op is the
 * same before ops are in such regions and after. Memory is scratch of one run. */
#ifndef FUSED_OPS_H
#define FUSED_OPS_H

#include "storage_read.h"

#define FUSED_KINDS(X)                           \
    X(LAUNCH, "block.launch")                    \
    X(FUNC, "func")                              \
    X(WORKSPACE, "block.workspace")              \
    X(ARRAY, "constant_array")                   \
    X(CONSTANT, "constant")                      \
    X(INDEX_CAST, "index_cast")                  \
    X(VIEW, "view")                              \
    X(LOAD, "tile.load")                         \
    X(STORE, "tile.store")                       \
    X(LRELU, "tile.lrelu")                       \
    X(ZERO_ACC, "tile.zero_acc")                 \
    X(CONTRACT, "tile.contract")                 \
    X(CONTRACT_WEIGHTS, "tile.contract_weights") \
    X(TRANSPOSE, "tile.transpose")               \
    X(ORDER, "tile.order")                       \
    X(ROWGATHER, "tile.rowgather")
#define FUSED_KIND_ENUM(ID, text) FUSED_KIND_##ID,
enum { FUSED_KINDS(FUSED_KIND_ENUM) FUSED_KIND_COUNT };
#undef FUSED_KIND_ENUM

/* What an op is in a walk. */
typedef enum fused_kind {
    FUSED_NONE,
    FUSED_MAP,
    FUSED_LOAD,
    FUSED_STORE,
    FUSED_REDUCE,
    FUSED_COLUMN_REDUCE, /* into a tile of one row, which the walk does not read */
    FUSED_ROW_MAP,       /* of one column: a scalar for each row */
    FUSED_ROW_LOAD,
    FUSED_ROW_STORE
} fused_kind;

typedef enum fused_lane { FUSED_LANE_NONE, FUSED_LANE_F32, FUSED_LANE_I32, FUSED_LANE_U32, FUSED_LANE_MASK } fused_lane;

/* A launch of a kernel, for the model. */
typedef struct fused_launch {
    pto_op op;
    uint32_t before; /* of the same kernel, as `last` of the model */
} fused_launch;

/* Which tiles share storage, without results in place; read when something asks. */
typedef struct fused_storage {
    int is_read;
    storage_plan plan;
    storage_source source;
} fused_storage;

typedef struct fused_model {
    const pto_run *run;
    pto_kind_id kinds[FUSED_KIND_COUNT];
    struct fused_launch *all; /* launches of the module */
    uint32_t all_count, all_capacity;
    uint32_t *last, op_count; /* by the index of a kernel: 1 + the number of its last launch; 0: there is none */
    /* Of the kernel. */
    pto_op kernel;
    pto_op *launches;
    uint32_t launch_count, launch_capacity;
    fused_storage *storage;
    pto_op *stores;
    uint32_t store_count, store_capacity;
} fused_model;

/* Of no kernel yet; reads the launches of the module, which are not changed as long as it is used. */
fused_model fused_model_make(const pto_run *run);
/* Turns to a kernel, or to a function, for its storage. */
void fused_model_enter(fused_model *m, pto_op kernel);

/* Whether an op is of a kind, FUSED_KIND_*. */
static inline int fused_is(const fused_model *m, pto_op op, uint32_t kind) { return pto_op_kind(op) == m->kinds[kind]; }

/* ---- ops ---- */

/* What an op is in a walk, and the rows and columns that it goes through. FUSED_NONE: it is in none, with the
 * reason in `why` (which may be NULL). */
fused_kind fused_kind_of(const fused_model *m, pto_op op, pto_expr region[2], const char **why);
/* Whether it makes or takes a scalar of each row. */
static inline int fused_is_of_row(fused_kind k) { return k >= FUSED_ROW_MAP; }
static inline int fused_is_store(fused_kind k) { return k == FUSED_STORE || k == FUSED_ROW_STORE; }
/* What a transfer is from or to; none of other ops. */
pto_value fused_memory_of(pto_op op, fused_kind kind);
/* Whether the value stands for the one that a region yields: that, or else the value itself. */
pto_value fused_inside(pto_value v);
/* Whether each element of the result is of the elements in the same place. */
int fused_is_map(pto_op op);
/* Whether such an op takes the first row of an operand for every row, or the first column for every column. */
int fused_repeats_row(pto_op op, uint32_t operand);
int fused_repeats_column(pto_op op, uint32_t operand);
/* The lanes of 32 bits that a vector has for an element type: narrow integers are i32 or u32 in them, masks are truth
 * values; FUSED_LANE_NONE: vectors do not hold the type. */
fused_lane fused_lane_of(pto_dtype t);
static inline int fused_has_lanes(pto_dtype t) { return fused_lane_of(t) != FUSED_LANE_NONE; }
/* That of the kernel. */
const fused_storage *fused_storage_of(const fused_model *m);
/* Whether the storage of a tile is that of other ones, too. */
int fused_shares_storage(const fused_model *m, pto_value v);

/* ---- memory ---- */

/* Whether memory may be the same, wherever the kernel is launched. */
int fused_may_overlap(const fused_model *m, pto_value a, pto_value b);
/* Whether nothing in the kernel writes memory, a parameter of it. */
int fused_is_only_read(const fused_model *m, pto_value memory);
/* Whether neighbours along the last dim lie side by side. */
int fused_has_unit_columns(pto_value memory);
/* Whether a load, which is FUSED_LOAD, needs no copy: all that reads its tile can read rows where they lie, and nothing
 * in the kernel writes there. */
int fused_stays_in_memory(const fused_model *m, pto_op load);
/* Whether a transpose goes from memory to memory, by the store of its result. */
int fused_transpose_goes_out(const fused_model *m, pto_op op);
int fused_is_product(const fused_model *m, pto_op op);
/* Whether zeros are only what a product begins with. */
int fused_is_start_of_product(const fused_model *m, pto_op zeros);
int fused_starts_at_zero(const fused_model *m, pto_op product);
/* The store that comes right after a product and is all that becomes of it: the product goes to memory as it is; none:
 * there is no such store. */
pto_op fused_store_of_product(const fused_model *m, pto_op product);
/* Whether an op is that. */
int fused_stores_product(const fused_model *m, pto_op op);

#endif
