#include "tools/report/graph_layout.h"

#include "tests/unit/unit.h"

/* Nodes of a row stand side by side without touching, and within the width. */
static void expect_free_places(const graph_layout *l)
{
    for (uint32_t i = 0; i < l->node_count; i++) {
        const layout_node *a = &l->nodes[i];
        assert_true(a->x - a->width / 2 > -1e-6 && a->x + a->width / 2 < l->width + 1e-6);
        for (uint32_t k = 0; k < i; k++) {
            const layout_node *b = &l->nodes[k];
            const double apart = a->x > b->x ? a->x - b->x : b->x - a->x;
            assert_true(a->layer != b->layer || apart > (a->width + b->width) / 2);
        }
    }
}

TEST(long_edges_bend_through_every_row)
{
    arena *a = arena_create("test");
    const layout_node nodes[] = {
        {.width = 100}, {.width = 50}, {.width = 80}, {.width = 60, .is_source = true}, {.width = 90}};
    layout_edge edges[] = {
        {.from = 0, .to = 1}, {.from = 1, .to = 2}, {.from = 2, .to = 4}, {.from = 0, .to = 4}, {.from = 3, .to = 4}};
    graph_layout l;
    graph_layout_run(a, nodes, 5, edges, 5, &l);
    assert_int_equal(l.layer_count, 4);
    const uint32_t layers[] = {0, 1, 2, 2, 3};
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(l.nodes[i].layer, layers[i]);
    assert_int_equal(edges[3].point_count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(l.nodes[edges[3].points[i]].layer, i);
    assert_int_equal(edges[4].point_count, 2);
    expect_free_places(&l);
    arena_destroy(a);
}

TEST(wide_graphs_keep_their_nodes_apart)
{
    enum { WIDE = 60 };
    arena *a = arena_create("test");
    layout_node nodes[2 * WIDE];
    layout_edge edges[2 * WIDE];
    for (uint32_t i = 0; i < 2 * WIDE; i++) nodes[i] = (layout_node){.width = 40 + i % 7 * 30};
    for (uint32_t i = 0; i < WIDE; i++) {
        edges[2 * i] = (layout_edge){.from = i, .to = WIDE + i * 7 % WIDE};
        edges[2 * i + 1] = (layout_edge){.from = i, .to = WIDE + (WIDE - 1 - i)};
    }
    graph_layout l;
    graph_layout_run(a, nodes, 2 * WIDE, edges, 2 * WIDE, &l);
    assert_int_equal(l.layer_count, 2);
    expect_free_places(&l);
    arena_destroy(a);
}

TEST(nothing_is_a_graph_too)
{
    arena *a = arena_create("test");
    graph_layout l;
    graph_layout_run(a, NULL, 0, NULL, 0, &l);
    assert_int_equal(l.layer_count, 0);
    const layout_node one = {.width = 10};
    graph_layout_run(a, &one, 1, NULL, 0, &l);
    assert_int_equal(l.layer_count, 1);
    assert_true(l.width == 10);
    arena_destroy(a);
}
