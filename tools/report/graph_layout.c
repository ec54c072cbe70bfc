#include "tools/report/graph_layout.h"

#include <string.h>

enum { SWEEPS = 8 };
/* Pixels. */
static const double gap_px = 28, bend_width_px = 8;

typedef struct link {
    uint32_t up, down; /* neighbours in rows next to each other */
} link;

typedef struct layers {
    arena *a;
    graph_layout *g;
    link *links;
    uint32_t link_count;
    uint32_t *members, *first; /* members of row i: first[i] .. first[i + 1] */
    double *wish;
} layers;

static void find_layers(layout_node *nodes, uint32_t count, const layout_edge *edges, uint32_t edge_count,
                        uint32_t *out_layers)
{
    /* Edges lead upwards in number, but are in any order: as often as rows can still grow. */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < edge_count; i++) {
            const uint32_t least = nodes[edges[i].from].layer + 1;
            if (nodes[edges[i].to].layer >= least) continue;
            nodes[edges[i].to].layer = least;
            changed = true;
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        uint32_t nearest = UINT32_MAX;
        for (uint32_t i = 0; nodes[n].is_source && i < edge_count; i++)
            if (edges[i].from == n && nodes[edges[i].to].layer < nearest) nearest = nodes[edges[i].to].layer;
        if (nearest != UINT32_MAX && nearest > 0) nodes[n].layer = nearest - 1;
    }
    *out_layers = 0;
    for (uint32_t n = 0; n < count; n++)
        if (nodes[n].layer + 1 > *out_layers) *out_layers = nodes[n].layer + 1;
}

static void bend_edges(layers *l, layout_edge *edges, uint32_t edge_count)
{
    for (uint32_t i = 0; i < edge_count; i++) {
        layout_edge *e = &edges[i];
        const uint32_t from = l->g->nodes[e->from].layer, to = l->g->nodes[e->to].layer;
        e->points = arena_array(l->a, to - from + 1, sizeof *e->points);
        e->points[e->point_count++] = e->from;
        for (uint32_t layer = from + 1; layer < to; layer++) {
            l->g->nodes[l->g->node_count] = (layout_node){.width = bend_width_px, .layer = layer};
            e->points[e->point_count++] = l->g->node_count++;
        }
        e->points[e->point_count++] = e->to;
        for (uint32_t p = 1; p < e->point_count; p++)
            l->links[l->link_count++] = (link){e->points[p - 1], e->points[p]};
    }
}

static void collect_members(layers *l)
{
    const graph_layout *g = l->g;
    l->first = arena_array(l->a, g->layer_count + 2u, sizeof *l->first);
    l->members = arena_array(l->a, g->node_count, sizeof *l->members);
    for (uint32_t n = 0; n < g->node_count; n++) l->first[g->nodes[n].layer + 1]++;
    for (uint32_t i = 0; i < g->layer_count; i++) l->first[i + 1] += l->first[i];
    uint32_t *next = arena_array(l->a, g->layer_count + 1u, sizeof *next);
    for (uint32_t n = 0; n < g->node_count; n++) {
        const uint32_t layer = g->nodes[n].layer;
        l->members[l->first[layer] + next[layer]++] = n;
    }
}

/* Where each node would like to be: over or under the middle of its neighbours. */
static void find_wishes(layers *l, bool looks_up)
{
    uint32_t *count = arena_array(l->a, l->g->node_count, sizeof *count);
    for (uint32_t n = 0; n < l->g->node_count; n++) l->wish[n] = 0;
    for (uint32_t i = 0; i < l->link_count; i++) {
        const uint32_t me = looks_up ? l->links[i].down : l->links[i].up;
        l->wish[me] += l->g->nodes[looks_up ? l->links[i].up : l->links[i].down].x;
        count[me]++;
    }
    for (uint32_t n = 0; n < l->g->node_count; n++) l->wish[n] = count[n] ? l->wish[n] / count[n] : l->g->nodes[n].x;
}

/* Side by side in the order of the row, as near to the wishes as all of them together can be. */
static void place_row(layers *l, uint32_t layer)
{
    layout_node *nodes = l->g->nodes;
    double edge = 0, off = 0;
    const uint32_t from = l->first[layer], to = l->first[layer + 1];
    for (uint32_t i = from; i < to; i++) {
        const uint32_t n = l->members[i];
        const double least = edge + nodes[n].width / 2;
        nodes[n].x = i == from || l->wish[n] > least ? l->wish[n] : least;
        edge = nodes[n].x + nodes[n].width / 2 + gap_px;
        off += l->wish[n] - nodes[n].x;
    }
    for (uint32_t i = from; i < to; i++) nodes[l->members[i]].x += off / (to - from);
}

/* A stable insertion sort by wish: rows are short, and nearly in order after the first sweeps. */
static void sort_row(layers *l, uint32_t layer)
{
    for (uint32_t i = l->first[layer] + 1; i < l->first[layer + 1]; i++) {
        const uint32_t n = l->members[i];
        uint32_t at = i;
        for (; at > l->first[layer] && l->wish[l->members[at - 1]] > l->wish[n]; at--)
            l->members[at] = l->members[at - 1];
        l->members[at] = n;
    }
}

static void sweep(layers *l, uint32_t number)
{
    const uint32_t count = l->g->layer_count;
    const bool goes_down = number % 2 == 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t layer = goes_down ? i : count - 1 - i;
        const arena_mark mark = arena_here(l->a);
        find_wishes(l, goes_down);
        arena_rewind(l->a, mark);
        if (number + 2 < SWEEPS) sort_row(l, layer);
        place_row(l, layer);
    }
}

static void shift_to_origin(graph_layout *g)
{
    double left = 0, right = 0;
    for (uint32_t n = 0; n < g->node_count; n++) {
        const double from = g->nodes[n].x - g->nodes[n].width / 2, to = g->nodes[n].x + g->nodes[n].width / 2;
        if (n == 0 || from < left) left = from;
        if (n == 0 || to > right) right = to;
    }
    for (uint32_t n = 0; n < g->node_count; n++) g->nodes[n].x -= left;
    g->width = right - left;
}

void graph_layout_run(arena *a, const layout_node *nodes, uint32_t node_count, layout_edge *edges, uint32_t edge_count,
                      graph_layout *out)
{
    *out = (graph_layout){0};
    if (node_count == 0) return;
    layout_node *own = arena_array(a, node_count, sizeof *own);
    memcpy(own, nodes, node_count * sizeof *own);
    find_layers(own, node_count, edges, edge_count, &out->layer_count);
    uint32_t bends = 0;
    for (uint32_t i = 0; i < edge_count; i++) bends += own[edges[i].to].layer - own[edges[i].from].layer;
    out->nodes = arena_array(a, (size_t)node_count + bends, sizeof *out->nodes);
    memcpy(out->nodes, own, node_count * sizeof *own);
    out->node_count = node_count;
    layers l = {.a = a, .g = out, .links = arena_array(a, bends, sizeof *l.links)};
    bend_edges(&l, edges, edge_count);
    collect_members(&l);
    l.wish = arena_array(a, out->node_count, sizeof *l.wish);
    /* At first side by side, each row from the left. */
    for (uint32_t layer = 0; layer < out->layer_count; layer++) place_row(&l, layer);
    for (uint32_t i = 0; i < SWEEPS; i++) sweep(&l, i);
    shift_to_origin(out);
}
