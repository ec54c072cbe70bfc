/* What debug.print and debug.assert do with a value, and tile.print with a tile. */
#ifndef PTO_DEBUG_VALUES_H
#define PTO_DEBUG_VALUES_H

#include "semantics/element.h"
#include "semantics/tile_ref.h"

#include <pto/build.h>

/* Runs `op`, a debug.print or a debug.assert, on all elements of x: base, dtype, rank, dims and strides of the window
 * count, its offsets, rows and columns do not. All of them must have been written.
 *   debug.print    reports a note at the op: the label if there is one, type and elements; of more than 150 elements
 * three at each end of each dim. Floats have the fewest digits that tell them from others of their type. debug.assert
 * fails with the code `<id>/assertion` when an element is false; the message says which is the first in row-major
 * order, and how many are. `id` is that of the backend. Fails after a diagnostic. */
pto_status debug_array(pto_op op, const char *id, const gm_window *x);
/* The same with a scalar of type t. */
pto_status debug_scalar(pto_op op, const char *id, pto_dtype t, number n);

/* Reports a note at the op, a tile.print or pto.tprint: the instance, `index` of `rank` numbers, and the valid region
 * of the tile as debug.print has a tensor. */
void debug_tile(pto_op op, const tile_ref *t, uint32_t rank, const int64_t *index);

#endif
