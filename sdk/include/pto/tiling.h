/* Tiling strategies: they offer candidates; the host checks and applies the first that is feasible. Sizes that the
 * schedule file pins are taken instead, or refused, and no strategy is asked then. */
#ifndef PTO_TILING_H
#define PTO_TILING_H

#include <pto/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pto_tiling_dim {
    uint32_t struct_size;
    uint32_t kind;    /* PTO_PARALLEL, PTO_REDUCE */
    const char *name; /* "rows", "columns", "m", "n", "k" */
    pto_expr extent;
    int64_t static_extent; /* -1: symbolic */
    int64_t granule;       /* tile sizes are multiples of this, except one that covers a smaller static extent */
} pto_tiling_dim;

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
    /* How often the dims are walked, for indices of others that tiles have no size along; 0: once, -1: symbolic. */
    int64_t outer_instances;
} pto_tiling_problem;

typedef struct pto_tiling_sink {
    uint32_t struct_size, reserved;
    void *self;
    /* Takes one size for each dim. Returns 0 when no more candidates are wanted. */
    int32_t (*offer)(void *self, const int64_t *tile);
    /* The same with what the strategy's model says: less is better, in a unit of its own. The schedule file shows it.
     */
    int32_t (*offer_priced)(void *self, const int64_t *tile, double cost);
} pto_tiling_sink;

typedef struct pto_tiling {
    uint32_t struct_size, reserved;
    const char *id, *summary;
    const pto_option *const *options;
    /* Offers candidates, best first. [unit] */
    pto_status (*offer)(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink);
} pto_tiling;

#ifdef __cplusplus
}
#endif
#endif
