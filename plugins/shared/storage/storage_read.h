/* A storage plan read off a kernel, or off a nest, whose tiles are values. */
#ifndef STORAGE_READ_H
#define STORAGE_READ_H

#include "storage_plan.h"

#include "regions.h"

typedef struct storage_slot {
    uint32_t key, at;
} storage_slot;

typedef struct storage_table {
    storage_slot *slots;
    uint32_t mask;
} storage_table;

/* The regions that a plan was read off, and the values after its own by their numbers. Op k of the plan is at place
 * k + 1: the root is not part of the plan. */
typedef struct storage_source {
    region_table regions;
    uint8_t *on_tiles; /* of each op, as storage_is_tile_op says */
    pto_value *values;
    storage_table value_table;
} storage_source;

/* Whether the value is a tile. */
int storage_is_tile(pto_value v);
/* An op on tiles: one with a PTO instruction, tile.zero_acc or a product; not a region of them. */
int storage_is_tile_op(pto_op op);

/* Records everything inside `root`, and solves. Tiles that come from elsewhere are left out. */
void storage_read(storage_plan *p, storage_source *s, pto_op root);

/* Lets a transfer inside of the root rotate its tile through so many storages, as the attribute `stages` says it, and
 * solves again. */
void storage_rotate(storage_plan *p, const storage_source *s, pto_op op, int64_t stages);

/* The op that was recorded as op k. */
pto_op storage_op_at(const storage_source *s, uint32_t k);
/* storage_is_tile_op of op k, as it was recorded. */
static inline int storage_on_tiles(const storage_source *s, uint32_t k) { return s->on_tiles[k]; }
/* STORAGE_NONE for what the plan does not hold. */
uint32_t storage_find_op(const storage_source *s, pto_op op);
uint32_t storage_find_value(const storage_source *s, pto_value v);

#endif
