/* The greedy pattern driver: a worklist of ops, fed by what the patterns change. */
#include "core/host/host_handle.h"

enum { VISITS_UNASKED = 64 }; /* before the driver looks at the clock again */

/* Ops that wait, first in first out; `queued` holds the generation + 1 of those that are in, by id. */
typedef struct greedy greedy;
struct greedy {
    run_context *c;
    op_id root; /* 0: the module */
    op_id *queue;
    size_t capacity, head, count; /* a ring */
    uint32_t *queued;
    size_t queued_capacity;
};

static void push(greedy *g, op_id o)
{
    const uint32_t mark = (op_generation(g->c->m, o) & 0xffffu) + 1;
    if (o >= g->queued_capacity)
        g->queued = table_grow(g->queued, &g->queued_capacity, (size_t)o + 1, sizeof *g->queued);
    if (g->queued[o] == mark) return;
    g->queued[o] = mark;
    if (g->count == g->capacity) {
        const size_t old = g->capacity;
        size_t bigger = 0;
        op_id *queue = table_grow(NULL, &bigger, old == 0 ? 256 : 2 * old, sizeof *queue);
        for (size_t i = 0; i < g->count; i++) queue[i] = g->queue[(g->head + i) % old];
        table_free(g->queue);
        g->queue = queue;
        g->capacity = bigger;
        g->head = 0;
    }
    g->queue[(g->head + g->count++) % g->capacity] = o;
}

static op_id pop(greedy *g)
{
    const op_id o = g->queue[g->head];
    g->head = (g->head + 1) % g->capacity;
    g->count--;
    g->queued[o] = 0;
    return o;
}

static bool is_inside(const greedy *g, op_id o)
{
    if (g->root == 0) return true;
    for (o = op_parent(g->c->m, o); o != 0; o = op_parent(g->c->m, o)) {
        if (o == g->root) return true;
    }
    return false;
}

void greedy_touched(greedy *g, op_id o, bool changed)
{
    if (!op_is_live(g->c->m, o)) return;
    if (is_inside(g, o)) push(g, o);
    if (!changed) return;
    /* A changed op may let a pattern match at the ops that read it. */
    for (uint32_t i = 0; i < op_result_count(g->c->m, o); i++) {
        VALUE_EACH_USE(g->c->m, u, op_result(g->c->m, o, i)) {
            if (is_inside(g, use_op(g->c->m, u))) push(g, use_op(g->c->m, u));
        }
    }
}

static pto_status apply(greedy *g, op_id o, uint32_t count, const pto_pattern *const *patterns)
{
    for (uint32_t i = 0; i < count; i++) {
        const pto_pattern *p = patterns[i];
        if (p->kind != 0 && p->kind != op_kind_of(g->c->m, o)) continue;
        const pto_status s = p->rewrite(&g->c->run, op_handle(g->c, o));
        if (s > PTO_CHANGED) run_misuse(g->c, &E1323, "returned %d from a pattern, which is not a status", s);
        if (s < 0 || g->c->misused) return PTO_FAILED;
        if (s != PTO_CHANGED) continue;
        if (!op_is_live(g->c->m, o)) return PTO_OK;
        push(g, o);
        return PTO_OK;
    }
    return PTO_OK;
}

static uint64_t fill(greedy *g)
{
    const module *m = g->c->m;
    uint64_t n = 0;
    const op_id first = g->root == 0 ? block_first(m, module_top(m)) : walk_next(m, g->root, g->root);
    for (op_id o = first; o != 0; o = walk_next(m, g->root, o), n++) push(g, o);
    return n;
}

static pto_status drive(greedy *g, uint32_t count, const pto_pattern *const *patterns, uint32_t max_rounds)
{
    /* A round is as many visits as there were ops: patterns that undo each other end, and are told. */
    const uint64_t ops = fill(g) + 16;
    uint64_t left = ops * (max_rounds != 0 ? max_rounds : 10);
    for (; g->count != 0 && left != 0; left--) {
        if (left % VISITS_UNASKED == 0 && host_should_stop(&g->c->run)) {
            g->c->was_stopped = true;
            return PTO_FAILED;
        }
        const op_id o = pop(g);
        if (!op_is_live(g->c->m, o)) continue;
        if (apply(g, o, count, patterns) != PTO_OK) return PTO_FAILED;
    }
    return g->count == 0 ? PTO_OK : PTO_CHANGED;
}

pto_status host_greedy(const pto_run *run, pto_op root, uint32_t count, const pto_pattern *const *patterns,
                       uint32_t max_rounds)
{
    run_context *c = run_of(run);
    const op_id r = op_from(c, root);
    if (root.index != 0 && r == 0) return PTO_FAILED;
    if (c->greedy != NULL) {
        run_misuse(c, &E1324, "asked for the pattern driver inside a pattern");
        return PTO_FAILED;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (patterns[i] != NULL && PTO_HAS(patterns[i], rewrite) && patterns[i]->rewrite != NULL) continue;
        run_misuse(c, &E1324, "gave a pattern without its struct_size or rewrite");
        return PTO_FAILED;
    }
    greedy g = {.c = c, .root = r};
    c->greedy = &g;
    const pto_status s = drive(&g, count, patterns, max_rounds);
    c->greedy = NULL;
    table_free(g.queue);
    table_free(g.queued);
    return s;
}
