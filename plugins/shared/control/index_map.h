/* Other expressions in the place of indices, in all that an op says: what a pass needs that makes a nest or loop of
 * other indices. */
#ifndef CONTROL_INDEX_MAP_H
#define CONTROL_INDEX_MAP_H

#include <pto/plugin.h>

typedef struct index_map {
    uint32_t count;
    const pto_value *from; /* indices or other scalars */
    const pto_expr *to;
} index_map;

/* Replaces the values in the expressions of the attributes of the op, lists of lists included, not in what is inside of
 * it and not where it takes one as an operand. PTO_FAILED, with nothing reported, when an expression leaves 64 bits. */
pto_status index_map_apply(pto_op op, const index_map *map);

#endif
