/* What the passes over tiles ask the machine: spaces, moves between them, how tiles are padded. Answers are those of
 * the machine file; nothing is remembered. Texts live as long as the run. */
#ifndef TILE_MACHINE_H
#define TILE_MACHINE_H

#include <pto/plugin.h>

static inline pto_str tile_machine_name(const pto_run *run)
{
    const pto_str name = pto_machine_text(run, "name");
    return name.n != 0 ? name : PTO_STR("no machine");
}

/* What a space is for, PTO_ROLE_*; the first space for that, or none. */
static inline uint32_t tile_space_role(const pto_run *run, pto_space space)
{
    static const uint8_t roles[] = {
        0,
#define SPACE(ID, text, role, ...) PTO_ROLE_##role,
#include <pto/ops/types.def>
    };
    (void)run;
    return space < PTO_SPACE_COUNT ? roles[space] : PTO_ROLE_NONE;
}

static inline pto_space tile_space_of_role(const pto_run *run, uint32_t role)
{
    for (pto_space s = 1; s < PTO_SPACE_COUNT; s++)
        if (tile_space_role(run, s) == role) return s;
    return PTO_SPACE_NONE;
}

/* Core kind that owns the space; empty for a space of the whole chip or one that the machine lacks. */
static inline pto_str tile_space_core(const pto_run *run, pto_space space)
{
    return pto_machine_text(run, "spaces.%s.core", pto_space_name(space));
}

/* A list of the path between two spaces, "layouts" or "casts", as text joined by commas; empty when absent. */
static inline pto_str tile_path_list(const pto_run *run, pto_space from, pto_space to, const char *key)
{
    return pto_machine_text(run, "paths.%s.%s.%s", pto_space_name(from), pto_space_name(to), key);
}

static inline int tile_has_path(const pto_run *run, pto_space from, pto_space to)
{
    return tile_path_list(run, from, to, "layouts").n != 0;
}

static inline int tile_list_has(pto_str list, const char *item)
{
    size_t n = strlen(item);
    if (list.p == NULL) return 0;
    for (size_t at = 0; at + n <= list.n;) {
        const char *comma = (const char *)memchr(list.p + at, ',', list.n - at);
        size_t end = comma != NULL ? (size_t)(comma - list.p) : list.n;
        if (end - at == n && memcmp(list.p + at, item, n) == 0) return 1;
        at = end + 1;
    }
    return 0;
}

/* Whether elements can become others on the way; equal ones always pass. */
static inline int tile_path_casts(const pto_run *run, pto_space from, pto_space to, pto_dtype a, pto_dtype b)
{
    char pair[32];
    if (a == b) return 1;
    (void)snprintf(pair, sizeof pair, "%s-%s", pto_dtype_name(a), pto_dtype_name(b));
    return tile_list_has(tile_path_list(run, from, to, "casts"), pair);
}

static inline int tile_path_layouts(const pto_run *run, pto_space from, pto_space to, pto_layout a, pto_layout b)
{
    char pair[32];
    (void)snprintf(pair, sizeof pair, "%s-%s", pto_layout_name(a), pto_layout_name(b));
    return tile_list_has(tile_path_list(run, from, to, "layouts"), pair);
}

static inline int tile_is_tile(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TILE; }

/* Capacity of a tile type: rows for dim 0, columns for dim 1. */
static inline int64_t tile_capacity_of(pto_type type, uint32_t dim)
{
    int64_t n = 0;
    return pto_dim_is_const(type, dim, &n) ? n : 0;
}

static inline int64_t tile_product(int64_t a, int64_t b)
{
    int64_t r = 0;
    return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* What a tile's capacity is rounded up to: blocks of bytes along the contiguous dim of nd and dn, boxes for the others.
 * Boxes are taken both ways round, so that a tile keeps its capacity when it moves from one boxed layout to another. */
static inline void tile_unit(const pto_run *run, pto_space space, pto_layout layout, pto_dtype dtype, int64_t unit[2])
{
    int64_t bytes = pto_dtype_bytes(dtype) > 0 ? pto_dtype_bytes(dtype) : 1;
    int64_t block = pto_machine_i64_or(run, 1, "vector.block-bytes") / bytes;
    unit[0] = unit[1] = 1;
    if (layout == PTO_ND || layout == PTO_DN) {
        unit[layout == PTO_ND ? 1 : 0] = block > 0 ? block : 1;
    } else if (space == PTO_ACC) {
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
