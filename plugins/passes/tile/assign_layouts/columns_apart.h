/* Columns of tiles whose elements lie apart in memory, for machines whose loads and stores take lines of elements that
 * follow each other (`dense-lines`).
 *
 *     %c = tile.load %x[%i, 3] size(64, 1)           forall (%i) to (..) {
 *     tile.store %r, %y[%i, 5]                   =>    %b = tile.load %x[%i, 3] size(64, 1) : tile<64 x 8 x .., nd>
 *                                                      tile.store %b, %w[%i, 0, 0]         a block for each element
 *                                                      %c = tile.load %w[%i, 0, 0] size(64, 1) : tile<64 x 1 x .., dn>
 *                                                    }
 *
 * A tile of rows takes such a column as rows of one element, each a block on chip. What only copies a column is better
 * one itself; what computes with it has it from workspace, where its elements follow each other, and stores go the
 * same way back. Each instance of a nest has a place of its own in the workspace. */
#ifndef COLUMNS_APART_H
#define COLUMNS_APART_H

#include <pto/plugin.h>

#define LAYOUT_KINDS(X)    \
    X(FOR, "for")          \
    X(FORALL, "forall")    \
    X(WHILE, "while")      \
    X(IF, "if")            \
    X(YIELD, "yield")      \
    X(LOAD, "tile.load")   \
    X(STORE, "tile.store") \
    X(WORKSPACE, "tile.workspace")
PTO_KINDS_AS(layout_kinds, LAYOUT_KINDS);

/* Whether a load or store moves lines of a tile whose columns lie one after the other, and of which the elements of a
 * column may be apart in memory, and the machine cannot do so. */
int columns_are_apart(pto_op op);

/* Whether a column that is loaded and stored, and nothing else, is better a block for each of its elements. */
int columns_go_as_rows(pto_op load);

/* Lets all such columns of the function pass through workspace, and counts them. */
pto_status columns_pack(const pto_run *run, pto_op function, uint32_t *out_count);

#endif
