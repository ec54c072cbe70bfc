/* Layers for a graph whose edges all lead from lower to higher numbers: which node is in which row, and where in it.
 *
 * Longest paths determine the rows, centres of neighbours the order in a row and the places. The same graph makes the
 * same picture. Pixels. All memory comes from the arena. */
#ifndef TOOLS_REPORT_GRAPH_LAYOUT_H
#define TOOLS_REPORT_GRAPH_LAYOUT_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct layout_node {
    double width;   /* given */
    bool is_source; /* given: is right above its first user instead of in the first row */
    uint32_t layer; /* result */
    double x;       /* result: its middle */
} layout_node;

/* `points`: the nodes it passes, in order: `from`, one for each row between, `to`; numbers of `nodes` below. */
typedef struct layout_edge {
    uint32_t from, to; /* given */
    uint32_t *points;
    uint32_t point_count;
} layout_edge;

typedef struct graph_layout {
    layout_node *nodes; /* those given, then those that edges pass on their way */
    uint32_t node_count;
    uint32_t layer_count;
    double width;
} graph_layout;

/* `nodes` and `edges` are changed; those of the result are a longer copy of the nodes. */
void graph_layout_run(arena *a, const layout_node *nodes, uint32_t node_count, layout_edge *edges, uint32_t edge_count,
                      graph_layout *out);

#endif
