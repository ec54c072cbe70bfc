/* Tiling strategies: they offer candidates; the host checks and applies the first that is feasible. Sizes that the
 * schedule file pins are taken instead, or refused, and no strategy is asked then.
 *
 * Cost models: they say what candidates cost. A strategy asks the one that an option of its own names (choices:
 * "cost") by pto_tiling_price. */
#ifndef PTO_TILING_H
#define PTO_TILING_H

#include <pto/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTO_TILE_SIZE_MAX (1 << 20)              /* of one dim: a tile of two such counts its bytes in 64 bits */
#define PTO_TILING_EXTENT_MAX (INT64_C(1) << 62) /* rounding up to a granule stays in 64 bits */

/* A dim of the nest that is tiled. */
typedef struct pto_tiling_dim {
    uint32_t struct_size;
    uint32_t kind;         /* PTO_PARALLEL, PTO_REDUCE */
    const char *name;      /* "rows", "columns", "m", "n", "k" */
    pto_expr extent;       /* pto_expected_extent says what it will most likely be */
    int64_t static_extent; /* -1: symbolic; at most PTO_TILING_EXTENT_MAX */
    int64_t granule; /* 1 to PTO_TILE_SIZE_MAX; tile sizes are multiples of it, except for one that covers the extent */
} pto_tiling_dim;

/* A part of what the tile of one instance takes: a copy, or an op on tiles. */
typedef struct pto_tile_work {
    uint32_t struct_size;
    uint32_t reads_last; /* 1: it reads what the op before it on the same unit writes */
    pto_kind_id kind;    /* value form, such as tile.exp; its cost class is the key of its costs in the machine file */
    pto_space from, to;  /* of a copy; PTO_SPACE_NONE of an op */
    int64_t rows, columns, depth; /* of the largest operand; depth: products that a matrix product sums, else 0 */
    pto_dtype dtype;              /* the widest of that operand and the result */
    uint32_t loop, reserved;      /* 0: done once for an instance; else the number of the loop that it is in, from 1 */
    double times; /* how often: 1, or as often as that loop is walked; below 0: so many times in each chunk of the dims
                   * that an instance walks, with the sign turned, where the number of chunks is not known */
} pto_tile_work;
typedef struct pto_work_sink {
    uint32_t struct_size, reserved;
    void *self;
    void (*take)(void *self, const pto_tile_work *work);
} pto_work_sink;

/* What is to be tiled. Borrowed until offer returns; its functions may be called as often as needed until then. */
typedef struct pto_tiling_problem {
    uint32_t struct_size;
    uint32_t dim_count;
    const char
        *shape;  /* "rows" (row-wise vector group), "elementwise", "box" (vector group with outer dims), "matmul" */
    pto_op nest; /* the group being tiled */
    const pto_tiling_dim *const *dims;
    void *self;
    /* Bytes that a tile of these sizes needs in a space, buffering, padding and scratch included. */
    int64_t (*footprint)(void *self, const int64_t *tile, pto_space space);
    /* Bytes that the space has. 0: the machine has no such space. */
    int64_t (*capacity)(void *self, pto_space space);
    /* How often the dims are walked, for indices of others that tiles have no size along, as far as the function says
     * what to expect; 0: once, -1: not known. */
    int64_t outer_instances;
    /* Hands on what an instance with tiles of these sizes takes, in order; sizes may be below a granule, for tiles that
     * an extent cuts. NULL: not known. */
    void (*work)(void *self, const int64_t *tile, const pto_work_sink *sink);
    /* How many instances share the walk along what is reduced, each with a part of it, where tiles have these sizes; 1:
     * none do. `out_kernels` gets how many kernels combine the parts. NULL: none ever do. */
    int64_t (*parts)(void *self, const int64_t *tile, int64_t *out_kernels);
    /* Words that say all that extents and answers of the functions hang on, beside the machine: where a pass states the
     * same ones again, in any function, they are the same, and a model may remember what it has found out. NULL: there
     * are none. */
    const int64_t *words;
    uint32_t word_count, reserved;
} pto_tiling_problem;

/* Where offers go, until offer returns. */
typedef struct pto_tiling_sink {
    uint32_t struct_size, reserved;
    void *self;
    /* Takes one size for each dim: from 1 to the static extent rounded up to the granule, or to PTO_TILE_SIZE_MAX.
     * Another size is a diagnostic that blames the strategy, as is a cost that is not finite. Returns 0 when no more
     * candidates are needed. */
    int32_t (*offer)(void *self, const int64_t *tile);
    /* The same with what the strategy's model says: less is better, in a unit of its own. The schedule file shows it.
     */
    int32_t (*offer_priced)(void *self, const int64_t *tile, double cost);
} pto_tiling_sink;

/* The descriptor of a strategy. */
typedef struct pto_tiling {
    uint32_t struct_size, reserved;
    const char *id, *summary;
    const pto_option *const *options;
    /* Offers candidates, best first, on the thread of the pass that asks. It reads the module and changes nothing.
     * PTO_FAILED after a diagnostic. */
    pto_status (*offer)(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink);
} pto_tiling;

/* The descriptor of a cost model. */
typedef struct pto_cost {
    uint32_t struct_size, reserved;
    const char *id, *summary;
    const pto_option *const *options;
    /* What `count` tiles cost: one after the other, with a size for each dim of the problem; `costs` has a place for
     * each. Less is better, in a unit of the model's own; finite and not negative, or a diagnostic blames the model.
     * Sizes are at least 1 and need not fit. On the thread of the strategy that asks; it reads the module and changes
     * nothing. PTO_FAILED after a diagnostic. */
    pto_status (*price)(const pto_run *run, const pto_tiling_problem *problem, uint32_t count, const int64_t *tiles,
                        double *costs);
} pto_cost;

#ifdef __cplusplus
}
#endif
#endif
