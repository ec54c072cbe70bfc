/* Walking, and maps of values. */
#include "ir/module_read.h"

#include <string.h>

/* The first op in the blocks of `parent` from number `index` on. */
static inline op_id first_from(const module *m, op_id parent, uint32_t index)
{
    const op_record *op = op_at(m, parent);
    uint32_t n = block_count(m, op);
    for (; index < n; index++) {
        op_id first = block_raw(m, first_block(m, op) + index)->first;
        if (first != 0) return first;
    }
    return 0;
}

op_id walk_next(const module *m, op_id root, op_id current)
{
    if (current == 0) return 0;
    const op_record *op = op_at(m, current);
    if (first_block(m, op) == 0) return op->next != 0 && current != root ? op->next : walk_skip(m, root, current);
    op_id inside = first_from(m, current, 0);
    return inside != 0 ? inside : walk_skip(m, root, current);
}

op_id walk_skip(const module *m, op_id root, op_id current)
{
    while (current != root) {
        const op_record *op = op_at(m, current);
        if (op->next != 0) return op->next;
        op_id parent = block_at(m, op->block)->parent;
        if (parent == 0) return 0;
        op_id behind = first_from(m, parent, op->block - first_block(m, op_raw(m, parent)) + 1);
        if (behind != 0) return behind;
        current = parent;
    }
    return 0;
}

op_id walk_on(const module *m, op_id root, op_id current, op_id *out_behind)
{
    const op_record *op = op_at(m, current);
    *out_behind = current != root && op->next != 0 ? op->next : walk_skip(m, root, current);
    const op_id inside = first_block(m, op) != 0 ? first_from(m, current, 0) : 0;
    return inside != 0 ? inside : *out_behind;
}

uint32_t module_count_ops(const module *m)
{
    uint32_t n = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f) n++;
    }
    return n;
}

bool module_has_op(const module *m, const uint32_t *kinds, uint32_t count)
{
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f)
        {
            for (uint32_t k = 0; k < count; k++)
                if (op_kind_of(m, o) == kinds[k]) return true;
        }
    }
    return false;
}

/* ---- value_map: open addressing ---- */

typedef struct value_pair {
    value_id from, to;
} value_pair;

struct value_map {
    value_pair *pairs;
    size_t capacity; /* power of two, or 0 */
    size_t count;
};

value_map *value_map_create(void)
{
    size_t capacity = 0;
    return table_grow(NULL, &capacity, 1, sizeof(value_map));
}

void value_map_destroy(value_map *map)
{
    if (map == NULL) return;
    table_free(map->pairs);
    table_free(map);
}

static value_pair *pair_of(const value_map *map, value_id from)
{
    size_t at = (from * 0x9E3779B1u) & (map->capacity - 1);
    while (map->pairs[at].from != 0 && map->pairs[at].from != from) at = (at + 1) & (map->capacity - 1);
    return &map->pairs[at];
}

void value_map_put(value_map *map, value_id from, value_id to)
{
    BUG_IF(from == 0, "a map has no place for value 0");
    if (2 * (map->count + 1) > map->capacity) {
        value_map bigger = {.count = map->count};
        size_t wanted = map->capacity == 0 ? 64 : 2 * map->capacity, got = 0;
        bigger.pairs = table_grow(NULL, &got, wanted, sizeof *bigger.pairs);
        bigger.capacity = wanted;
        for (size_t i = 0; i < map->capacity; i++) {
            if (map->pairs[i].from != 0) *pair_of(&bigger, map->pairs[i].from) = map->pairs[i];
        }
        table_free(map->pairs);
        *map = bigger;
    }
    value_pair *pair = pair_of(map, from);
    if (pair->from == 0) map->count++;
    *pair = (value_pair){from, to};
}

value_id value_map_get(const value_map *map, value_id from)
{
    if (map == NULL || map->capacity == 0) return from;
    const value_pair *pair = pair_of(map, from);
    return pair->from == 0 ? from : pair->to;
}
