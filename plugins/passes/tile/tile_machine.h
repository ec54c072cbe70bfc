/* What the passes over tiles ask the machine: spaces, moves between them, how tiles are padded. Answers are those of
 * the machine file; nothing is remembered. Texts live as long as the run. */
#ifndef TILE_MACHINE_H
#define TILE_MACHINE_H

#include <pto/plugin.h>

/* For messages. */
static inline pto_str tile_machine_name(const pto_run *run)
{
    const pto_str name = pto_machine_text(run, "name");
    return name.n != 0 ? name : PTO_STR("no machine");
}

/* The machine's first memory space of the role. */
static inline pto_space tile_global(const pto_run *run) { return pto_space_of_role(run, PTO_ROLE_GLOBAL); }
static inline pto_space tile_scratchpad(const pto_run *run) { return pto_space_of_role(run, PTO_ROLE_SCRATCHPAD); }

/* Core kind that owns the space; empty for a space of the whole chip or one that the machine lacks. */
static inline pto_str tile_space_core(const pto_run *run, pto_space space)
{
    const pto_space_facts facts = pto_machine_space(run, space);
    return facts != NULL ? facts->core : pto_no_str();
}

/* A list of the path between two spaces, "layouts" or "casts", as text joined by commas, for messages; empty when
 * absent. */
static inline pto_str tile_path_list(const pto_run *run, pto_space from, pto_space to, const char *key)
{
    return pto_machine_text(run, "paths.%s.%s.%s", pto_space_name(run, from), pto_space_name(run, to), key);
}

/* Whether the machine moves data from one space to the other. */
static inline int tile_has_path(const pto_run *run, pto_space from, pto_space to)
{
    return pto_machine_path(run, from, to) != NULL;
}

/* Whether elements can become others on the way; equal ones always pass. */
static inline int tile_path_casts(const pto_run *run, pto_space from, pto_space to, pto_dtype a, pto_dtype b)
{
    if (a == b) return 1;
    const pto_path_facts path = pto_machine_path(run, from, to);
    return path != NULL && (path->casts[a] >> b & 1) != 0;
}

/* The same of layouts. */
static inline int tile_path_layouts(const pto_run *run, pto_space from, pto_space to, pto_layout a, pto_layout b)
{
    const pto_path_facts path = pto_machine_path(run, from, to);
    return path != NULL && (path->layouts[a] >> b & 1) != 0;
}

/* Whether the value is a tile. */
static inline int tile_is_tile(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TILE; }

/* Capacity of a tile type: rows for dim 0, columns for dim 1. */
static inline int64_t tile_capacity_of(pto_type type, uint32_t dim)
{
    int64_t n = 0;
    return pto_dim_is_const(type, dim, &n) ? n : 0;
}

/* Of two numbers from 0 on; INT64_MAX when it does not fit. */
static inline int64_t tile_product(int64_t a, int64_t b)
{
    int64_t r = 0;
    return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* What a tile's capacity is rounded up to: blocks of bytes along the contiguous dim of layouts without boxes, else
 * boxes. Boxes are taken both ways round, so that a tile keeps its capacity when it moves from one boxed layout to
 * another. */
static inline void tile_unit(const pto_run *run, pto_space space, pto_layout layout, pto_dtype dtype, int64_t unit[2])
{
    int64_t bytes = pto_dtype_bytes(dtype) > 0 ? pto_dtype_bytes(dtype) : 1;
    int64_t block = pto_machine_i64_or(run, 1, "vector.block-bytes") / bytes;
    if (dtype == PTO_MASK) block = 256;
    unit[0] = unit[1] = 1;
    const uint32_t order = pto_layout_order(run, layout);
    if (pto_order_boxes(order) == PTO_LINES_NONE) {
        unit[order == PTO_ORDER_ROW ? 1 : 0] = block > 0 ? block : 1;
    } else if (pto_space_role(run, space) == PTO_ROLE_ACCUMULATOR) {
        unit[0] = pto_machine_i64_or(run, 1, "matrix.acc-box-rows");
        unit[1] = pto_machine_i64_or(run, 1, "matrix.acc-box-cols");
    } else {
        int64_t rows = pto_machine_i64_or(run, 1, "matrix.box-rows");
        int64_t row = pto_machine_i64_or(run, 1, "matrix.box-row-bytes") / bytes;
        int64_t most = rows;
        while (row > 0 && most % row != 0) most += rows;
        unit[0] = unit[1] = most;
    }
}

#endif
