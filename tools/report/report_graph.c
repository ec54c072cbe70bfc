/* The graph of the called function: launches (or ops, where nothing is launched) and the memory between them. A launch
 * that writes memory makes a new version of it, so that the graph has no cycles. */
#include "tools/report/graph_layout.h"
#include "tools/report/report_pictures.h"

#include <stdio.h>

/* What a picture can show, and what graph.dot has. */
enum { NODES_DRAWN = 160, EDGES_DRAWN = 1200, NODES_MAX = 2000, EDGES_MAX = 20000 };
/* Pixels. */
static const double layer_height_px = 84, node_height_px = 42, margin_px = 20, top_px = 44;

typedef enum node_kind { NODE_ARGUMENT, NODE_WORKSPACE, NODE_LAUNCH, NODE_OP } node_kind;

typedef struct graph_node {
    node_kind kind;
    op_id op; /* 0: a parameter */
    const char *name, *note;
    uint32_t kernel; /* of a launch: number of the traced kernel, for its colour; UINT32_MAX */
} graph_node;

typedef struct graph_edge {
    uint32_t from, to;
    bool is_order; /* the target must wait, no data flows */
} graph_edge;

typedef struct graph {
    const report *r;
    graph_node *nodes;
    uint32_t node_count, nodes_max;
    graph_edge *edges;
    uint32_t edge_count, edges_max;
    uint8_t *is_linked; /* by from * nodes_max + to: there is such an edge, or it was left out */
    uint32_t *holders;  /* by value_id: the node that stands for what a value or memory holds now, + 1; 0: none */
    value_id *base;     /* by value_id: the value a view is of */
    uint32_t value_limit;
    uint32_t nodes_left_out, edges_left_out; /* the latter between nodes that are there */
} graph;

/* ---- building ---- */

static uint32_t add_node(graph *g, graph_node n)
{
    if (g->node_count == g->nodes_max) {
        g->nodes_left_out++;
        return UINT32_MAX;
    }
    g->nodes[g->node_count] = n;
    return g->node_count++;
}

static void add_edge(graph *g, uint32_t from, uint32_t to, bool is_order)
{
    if (from == UINT32_MAX || to == UINT32_MAX || from >= to) return;
    uint8_t *is_linked = &g->is_linked[(size_t)from * g->nodes_max + to];
    if (*is_linked) return;
    *is_linked = 1;
    if (g->edge_count < g->edges_max)
        g->edges[g->edge_count++] = (graph_edge){from, to, is_order};
    else
        g->edges_left_out++;
}

static const char *value_name_text(const graph *g, value_id v)
{
    text_buffer t;
    text_init(&t);
    value_print_name(g->r->m, v, &t);
    return text_keep(&t, g->r->arena);
}

/* "24 KiB, $B x 32 x 256 x f32" */
static const char *memory_note(const graph *g, value_id v)
{
    text_buffer t;
    text_init(&t);
    char size[32];
    const int64_t bytes = report_bytes_of(g->r, value_type(g->r->m, v));
    if (bytes >= 0) text_printf(&t, "%s, ", markup_bytes((double)bytes, size));
    type_print(module_context(g->r->m), value_type(g->r->m, v), &t);
    return text_keep(&t, g->r->arena);
}

static uint32_t *holder_of(graph *g, value_id v)
{
    while (g->base[v]) v = g->base[v];
    return &g->holders[v];
}

static void set_holder(graph *g, value_id v, uint32_t node) { *holder_of(g, v) = node == UINT32_MAX ? 0 : node + 1; }

static void read_memory(graph *g, uint32_t node, value_id v)
{
    const uint32_t holder = *holder_of(g, v);
    if (holder) add_edge(g, holder - 1, node, false);
}

/* Readers of what was there before come first; so does its writer. */
static void write_memory(graph *g, uint32_t node, value_id v)
{
    const uint32_t before = *holder_of(g, v), edges = g->edge_count;
    while (g->base[v]) v = g->base[v];
    for (uint32_t i = 0; before && i < edges; i++)
        if (g->edges[i].from == before - 1) add_edge(g, g->edges[i].to, node, true);
    if (before) add_edge(g, before - 1, node, true);
    const op_id def = value_op(g->r->m, v);
    const uint32_t version = add_node(g, (graph_node){.kind = def ? NODE_WORKSPACE : NODE_ARGUMENT,
                                                      .op = def,
                                                      .name = value_name_text(g, v),
                                                      .note = memory_note(g, v),
                                                      .kernel = UINT32_MAX});
    add_edge(g, node, version, false);
    set_holder(g, v, version);
}

static bool is_region_of(const graph *g, op_id kernel, const char *which, uint32_t parameter)
{
    const ir_context *c = module_context(g->r->m);
    const attr_id list = op_attr(g->r->m, kernel, which);
    for (uint32_t i = 0; list != 0 && i < attr_at(c, list)->count; i++) {
        const attr_node *region = attr_at(c, attr_at(c, list)->items[i]);
        if (region->count > 0 && attr_at(c, region->items[0])->i == (int64_t)parameter) return true;
    }
    return false;
}

/* What a kernel or function does to a parameter: what it states of its regions or, without, how it takes it. */
static void find_access(const graph *g, op_id callee, uint32_t parameter, bool *reads, bool *writes)
{
    *reads = is_region_of(g, callee, "reads", parameter);
    *writes = is_region_of(g, callee, "writes", parameter);
    if (op_attr(g->r->m, callee, "reads") || op_attr(g->r->m, callee, "writes")) return;
    const str mode = function_param_mode(g->r->m, callee, parameter);
    *writes = str_is(mode, "out") || str_is(mode, "inout");
    *reads = !str_is(mode, "out");
}

static op_id callee_of(const graph *g, op_id o)
{
    const attr_id a = op_attr(g->r->m, o, "callee");
    return a ? module_find_symbol(g->r->m, attr_at(module_context(g->r->m), a)->id) : 0;
}

static const char *launch_note(const graph *g, op_id kernel)
{
    const trace_kernel *k = run_trace_kernel(g->r->trace, kernel);
    char cycles[32];
    text_buffer t;
    text_init(&t);
    const str core = op_attr_str(g->r->m, kernel, "core");
    if (core.p != NULL) text_printf(&t, "%.*s", (int)core.n, core.p);
    if (k != NULL)
        text_printf(&t, ", %llu instances, %s cycles", (unsigned long long)k->instances,
                    markup_thousands((double)(k->to - k->from), cycles));
    return text_keep(&t, g->r->arena);
}

static void add_launch(graph *g, op_id o, op_id callee)
{
    text_buffer t;
    text_init(&t);
    const str name = string_of(module_context(g->r->m), function_name(g->r->m, callee));
    text_printf(&t, "@%.*s", (int)name.n, name.p);
    const trace_kernel *k = run_trace_kernel(g->r->trace, callee);
    const uint32_t node =
        add_node(g, (graph_node){.kind = NODE_LAUNCH,
                                 .op = o,
                                 .name = text_keep(&t, g->r->arena),
                                 .note = launch_note(g, callee),
                                 .kernel = k != NULL ? (uint32_t)(k - g->r->trace->kernels) : UINT32_MAX});
    if (node == UINT32_MAX) return;
    bool reads, writes;
    for (uint32_t i = 0; i < op_operand_count(g->r->m, o); i++) {
        find_access(g, callee, i, &reads, &writes);
        if (reads) read_memory(g, node, op_operand(g->r->m, o, i));
    }
    for (uint32_t i = 0; i < op_operand_count(g->r->m, o); i++) {
        find_access(g, callee, i, &reads, &writes);
        if (writes) write_memory(g, node, op_operand(g->r->m, o, i));
    }
    for (uint32_t i = 0; i < op_result_count(g->r->m, o); i++) set_holder(g, op_result(g->r->m, o, i), node);
}

/* An op of another level, with all that is inside of it. */
static void add_op(graph *g, op_id o)
{
    text_buffer note;
    text_init(&note);
    if (op_result_count(g->r->m, o) > 0) {
        value_print_name(g->r->m, op_result(g->r->m, o, 0), &note);
        text_printf(&note, ": %s", memory_note(g, op_result(g->r->m, o, 0)));
    } else {
        const str text = report_line_text(g->r, o);
        text_put(&note, text.p, text.n);
    }
    const uint32_t node = add_node(g, (graph_node){.kind = NODE_OP,
                                                   .op = o,
                                                   .name = op_info_of(g->r->m, o)->name,
                                                   .note = text_keep(&note, g->r->arena),
                                                   .kernel = UINT32_MAX});
    if (node == UINT32_MAX) return;
    IR_WALK(g->r->m, inner, o)
    {
        for (uint32_t i = 0; i < op_operand_count(g->r->m, inner); i++) {
            const bool is_target = i == 0 && op_info_of(g->r->m, inner)->rule == RULE_STORE;
            if (!is_target) read_memory(g, node, op_operand(g->r->m, inner, i));
        }
    }
    IR_WALK(g->r->m, inner, o)
    {
        if (op_info_of(g->r->m, inner)->rule == RULE_STORE && *holder_of(g, op_operand(g->r->m, inner, 0)))
            write_memory(g, node, op_operand(g->r->m, inner, 0));
    }
    for (uint32_t i = 0; i < op_result_count(g->r->m, o); i++) set_holder(g, op_result(g->r->m, o, i), node);
}

static void visit(graph *g, op_id o)
{
    const op_id callee = callee_of(g, o);
    switch (op_kind_of(g->r->m, o)) {
    case OP_VIEW: g->base[op_result(g->r->m, o, 0)] = op_operand(g->r->m, o, 0); return;
    case OP_EXEC_FREE:
    case OP_CONSTANT:
    case OP_BIND:
    case OP_EXEC_ALLOC:
    case OP_CONSTANT_ARRAY:
    case OP_BLOCK_WORKSPACE: return; /* memory is in the graph when something is written to it */
    default: break;
    }
    if (callee)
        add_launch(g, o, callee);
    else if (!(op_info_of(g->r->m, o)->traits & TRAIT_TERMINATOR))
        add_op(g, o);
}

static bool holds_launch(const module *m, op_id o)
{
    IR_WALK(m, inner, o)
    {
        if (inner != o && op_attr_spec(op_info_of(m, inner), STR("callee")) != NULL) return true;
    }
    return false;
}

static uint32_t value_limit(const module *m, op_id f)
{
    uint32_t limit = 1;
    IR_WALK(m, o, f)
    {
        for (uint32_t i = 0; i < op_result_count(m, o); i++)
            if (op_result(m, o, i) >= limit) limit = op_result(m, o, i) + 1;
        for (uint32_t b = 0; b < op_block_count(m, o); b++)
            for (uint32_t i = 0; i < block_arg_count(m, op_block_at(m, o, b)); i++)
                if (block_arg(m, op_block_at(m, o, b), i) >= limit) limit = block_arg(m, op_block_at(m, o, b), i) + 1;
    }
    return limit;
}

static graph build(const report *r, uint32_t nodes_max, uint32_t edges_max)
{
    const op_id f = r->call->function;
    graph g = {.r = r, .value_limit = value_limit(r->m, f), .nodes_max = nodes_max, .edges_max = edges_max};
    g.nodes = arena_array(r->arena, nodes_max, sizeof *g.nodes);
    g.edges = arena_array(r->arena, edges_max, sizeof *g.edges);
    g.is_linked = arena_array(r->arena, (size_t)nodes_max * nodes_max, sizeof *g.is_linked);
    g.holders = arena_array(r->arena, g.value_limit, sizeof *g.holders);
    g.base = arena_array(r->arena, g.value_limit, sizeof *g.base);
    const block_id body = function_body(r->m, f);
    for (uint32_t i = 0; i < block_arg_count(r->m, body); i++) {
        const value_id v = block_arg(r->m, body, i);
        bool reads, writes;
        find_access(&g, f, i, &reads, &writes);
        if (!reads) continue;
        set_holder(&g, v,
                   add_node(&g, (graph_node){.kind = NODE_ARGUMENT,
                                             .name = value_name_text(&g, v),
                                             .note = memory_note(&g, v),
                                             .kernel = UINT32_MAX}));
    }
    /* Loops and branches of an orchestrator are opened; those around ops stand for what is in them. */
    for (op_id o = walk_next(r->m, f, f), next; o != 0; o = next) {
        const bool is_opened = op_block_count(r->m, o) == 0 || holds_launch(r->m, o);
        next = walk_next(r->m, f, o);
        while (!is_opened && next != 0) {
            op_id p = next;
            while (p != 0 && p != o) p = op_parent(r->m, p);
            if (p == 0) break;
            next = walk_next(r->m, f, next);
        }
        if (op_block_count(r->m, o) == 0 || !is_opened) visit(&g, o);
    }
    return g;
}

/* ---- drawing ---- */

static double node_width(const graph_node *n)
{
    const double name = svg_width(SVG_CODE, str_from(n->name)) + 12, note = svg_width(SVG_SMALL, str_from(n->note));
    const double wanted = (name > note ? name : note) + 22;
    return wanted < 90 ? 90 : wanted > 300 ? 300 : wanted;
}

static double layer_y(uint32_t layer) { return top_px + (double)layer * layer_height_px; }

static void draw_node(const graph *g, const graph_node *n, const layout_node *at, svg *v)
{
    static const char *const fills[] = {"#eef3f8", "#fbf6ea", "#4e79a7", "#f1f0f6"};
    static const char *const strokes[] = {"stroke=\"#8fa9c4\"", "stroke=\"#c5a75a\" stroke-dasharray=\"5 3\"",
                                          "stroke=\"none\"", "stroke=\"#a9a4c4\""};
    const uint32_t line = n->op ? report_line_of(g->r, n->op) : report_line_of(g->r, g->r->call->function);
    const double y = layer_y(at->layer), x = margin_px + at->x;
    const bool is_launch = n->kind == NODE_LAUNCH;
    text_buffer hint;
    text_init(&hint);
    text_printf(&hint, "%s\n%s", n->name, n->note);
    svg_group_begin(v, line, (str){hint.p, hint.n});
    text_fini(&hint);
    svg_rect(v, x - at->width / 2, y, at->width, node_height_px, n->kind >= NODE_LAUNCH ? 4 : node_height_px / 2,
             is_launch && n->kernel != UINT32_MAX ? markup_nth_colour(n->kernel) : fills[n->kind], strokes[n->kind]);
    svg_text(v, x, y + 18, SVG_MIDDLE, SVG_CODE, is_launch ? "#fff" : "#1f2933", at->width - 14, str_from(n->name));
    svg_text(v, x, y + 33, SVG_MIDDLE, SVG_SMALL, is_launch ? "#fff" : "#5b6570", at->width - 14, str_from(n->note));
    svg_group_end(v, line);
}

/* Down to the row of each point, straight through it. */
static void draw_edge(const layout_edge *e, bool is_order, const graph_layout *l, svg *v)
{
    const char *colour = is_order ? "#b9838a" : "#7b8794";
    for (uint32_t i = 1; i < e->point_count; i++) {
        const layout_node *a = &l->nodes[e->points[i - 1]], *b = &l->nodes[e->points[i]];
        const double x1 = margin_px + a->x, x2 = margin_px + b->x, y1 = layer_y(a->layer) + node_height_px,
                     y2 = layer_y(b->layer);
        const char *style = is_order ? "stroke-dasharray=\"4 3\"" : "stroke-width=\"1.4\"";
        if (i + 1 == e->point_count) {
            svg_arrow(v, x1, y1, x2, y2, SVG_DOWN, colour, style);
        } else {
            const double middle = (y1 + y2) / 2;
            text_printf(
                v->out,
                "<path d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f V%.1f\" fill=\"none\" stroke=\"%s\" %s/>\n", x1,
                y1, x1, middle, x2, middle, x2, y2, y2 + node_height_px, colour, style);
        }
    }
}

/* What the picture lacks of all there is, and where that is; empty: nothing. */
static void say_left_out(const graph *drawn, char *text, size_t size)
{
    text[0] = '\0';
    if (drawn->nodes_left_out + drawn->edges_left_out == 0) return;
    const graph all = build(drawn->r, NODES_MAX, EDGES_MAX);
    const uint32_t nodes = all.node_count + all.nodes_left_out, edges = all.edge_count + all.edges_left_out;
    const bool is_whole = all.nodes_left_out + all.edges_left_out == 0;
    snprintf(text, size, "%u of %u nodes and %u of %s%u edges are left out of the picture; graph.dot has %s",
             nodes - drawn->node_count, nodes, edges - drawn->edge_count, all.nodes_left_out ? "more than " : "", edges,
             is_whole ? "all" : "more, the module all");
}

void report_draw_graph(const report *r, svg *v)
{
    const graph g = build(r, NODES_DRAWN, EDGES_DRAWN);
    char left_out[200];
    say_left_out(&g, left_out, sizeof left_out);
    layout_node *nodes = arena_array(r->arena, g.node_count, sizeof *nodes);
    layout_edge *edges = arena_array(r->arena, g.edge_count, sizeof *edges);
    for (uint32_t i = 0; i < g.node_count; i++)
        nodes[i] = (layout_node){.width = node_width(&g.nodes[i]), .is_source = g.nodes[i].kind == NODE_ARGUMENT};
    for (uint32_t i = 0; i < g.edge_count; i++) edges[i] = (layout_edge){.from = g.edges[i].from, .to = g.edges[i].to};
    graph_layout l;
    graph_layout_run(r->arena, nodes, g.node_count, edges, g.edge_count, &l);
    char title[160];
    const str name = string_of(module_context(r->m), function_name(r->m, r->call->function));
    snprintf(title, sizeof title, "@%.*s: what runs, and the memory between", (int)(name.n < 100 ? name.n : 100),
             name.p);
    const double title_px = svg_width(SVG_TITLE, str_from(title)), note_px = svg_width(SVG_PLAIN, str_from(left_out));
    const double least = (title_px > note_px ? title_px : note_px) + 2 * margin_px;
    const double width = l.width + 2 * margin_px < least ? least : l.width + 2 * margin_px;
    svg_begin(v, width, layer_y(l.layer_count) - (layer_height_px - node_height_px) + (left_out[0] ? 40 : 20),
              str_from(title));
    svg_label(v, 16, 24, SVG_START, SVG_TITLE, "#1f2933", title);
    for (uint32_t i = 0; i < g.edge_count; i++) draw_edge(&edges[i], g.edges[i].is_order, &l, v);
    for (uint32_t i = 0; i < g.node_count; i++) draw_node(&g, &g.nodes[i], &l.nodes[i], v);
    if (left_out[0]) svg_label(v, 16, layer_y(l.layer_count), SVG_START, SVG_PLAIN, "#9b3d3d", left_out);
    svg_end(v);
}

/* ---- text ---- */

static void put_dot_text(text_buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') text_putc(out, '\\');
        text_putc(out, *text == '\n' ? ' ' : *text);
    }
}

void report_write_dot(const report *r, text_buffer *out)
{
    static const char *const shapes[] = {"ellipse", "ellipse, style=dashed", "box, style=filled, fillcolor=\"#d5e0ec\"",
                                         "box"};
    const graph g = build(r, NODES_MAX, EDGES_MAX);
    text_puts(out, "digraph task_graph {\n  node [fontname=\"sans-serif\", fontsize=11]\n");
    for (uint32_t i = 0; i < g.node_count; i++) {
        text_printf(out, "  n%u [label=\"", i);
        put_dot_text(out, g.nodes[i].name);
        text_puts(out, "\\n");
        put_dot_text(out, g.nodes[i].note);
        text_printf(out, "\", shape=%s]\n", shapes[g.nodes[i].kind]);
    }
    for (uint32_t i = 0; i < g.edge_count; i++)
        text_printf(out, "  n%u -> n%u%s\n", g.edges[i].from, g.edges[i].to,
                    g.edges[i].is_order ? " [style=dashed]" : "");
    if (g.nodes_left_out + g.edges_left_out > 0)
        text_printf(out, "  // %u more nodes with their edges, and %u more edges, are in the module only\n",
                    g.nodes_left_out, g.edges_left_out);
    text_puts(out, "}\n");
}
