/* Event tokens: whatever path control takes, each event (source pipe, target pipe, id) gets as many tokens as it puts
 * in.
 *
 * Abstract interpretation over the structure, each block once. The state is a ledger from (source, target, id
 * expression) to sets minus waits. Expressions are uniqued over value leaves, so equal ones are equal ids.
 *
 *   - a loop body must leave every entry at 0: then any trip count, none included, leaves 0. A `for` with constant
 *     bounds and few trips may do otherwise; its entries are then summed over the trips, index put in.
 *   - the blocks of an `if` must leave the same entries; without `else` all must be 0.
 *   - the function must leave every entry at 0.
 *
 * Sound: what passes is balanced for each id, since 0 in every class of expressions is 0 for every number they can
 * denote. Not complete: a set of event(%i mod 2) and a wait of event((%i + 2) mod 2) are not seen to be the same. Order
 * is not looked at: pipes run on their own, so a wait may come before its set; the simulator finds deadlocks. */
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TRIPS_MAX = 64, EXPANDED_MAX = 4096 };

typedef struct token {
    str_id src, dst;
    expr_id event;
    uint32_t order; /* of arrival: the sort is stable by it */
    int64_t count;
    op_id op; /* first op of the class */
} token;

typedef struct token_frame {
    block_id block;
    uint32_t index; /* of the block in its op */
    size_t start;   /* first entry of the block */
    size_t other;   /* second block of an `if`: first entry of the first one */
} token_frame;

typedef struct token_ledger {
    module *m;
    token *entries;
    size_t count, capacity;
    token_frame *frames;
    size_t depth, frame_capacity;
    uint32_t order;
} token_ledger;

static int compare_class(const token *x, const token *y)
{
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst) return x->dst < y->dst ? -1 : 1;
    if (x->event != y->event) return x->event < y->event ? -1 : 1;
    return 0;
}

static int compare_tokens(const void *a, const void *b)
{
    const token *x = a, *y = b;
    int by_class = compare_class(x, y);
    return by_class != 0 ? by_class : (x->order > y->order) - (x->order < y->order);
}

static void append(token_ledger *l, token t)
{
    l->entries = table_grow(l->entries, &l->capacity, l->count + 1, sizeof *l->entries);
    t.order = l->order++;
    l->entries[l->count++] = t;
}

static void append_flag(token_ledger *l, op_id o)
{
    ir_context *c = module_context(l->m);
    token t = {.op = o,
               .src = string_intern(c, op_attr_str(l->m, o, "src")),
               .dst = string_intern(c, op_attr_str(l->m, o, "dst")),
               .event = op_index_expr(l->m, o, "event", 0),
               .count = op_kind_of(l->m, o) == OP_PTO_SET_FLAG ? 1 : -1};
    append(l, t);
}

/* One entry for each class from `start` on, those at 0 dropped. */
static void settle(token_ledger *l, size_t start)
{
    if (l->count - start > 1) qsort(l->entries + start, l->count - start, sizeof *l->entries, compare_tokens);
    size_t kept = start;
    for (size_t i = start; i < l->count;) {
        token sum = l->entries[i++];
        while (i < l->count && compare_class(&sum, &l->entries[i]) == 0) sum.count += l->entries[i++].count;
        if (sum.count != 0) l->entries[kept++] = sum;
    }
    l->count = kept;
}

static status report(const token_ledger *l, const token *t, const char *where)
{
    const ir_context *c = module_context(l->m);
    str src = string_of(c, t->src), dst = string_of(c, t->dst);
    int64_t n = t->count < 0 ? -t->count : t->count;
    return op_error(l->m, t->op, &E0329, "leaves %" PRId64 " token%s of %.*s -> %.*s event(%s) %s %s", n,
                    n == 1 ? "" : "s", (int)src.n, src.p, (int)dst.n, dst.p, expr_words(l->m, t->op, t->event),
                    t->count < 0 ? "missing" : "unused", where);
}

typedef struct index_value {
    module *m;
    value_id index;
    int64_t now;
} index_value;

static expr_id put_index(void *self, uint32_t v)
{
    const index_value *x = self;
    return v == x->index ? expr_const(module_context(x->m), x->now) : 0;
}

/* Replaces the entries of one trip by those of all trips; false when that is not possible. */
static bool expand_loop(token_ledger *l, op_id loop, size_t start)
{
    int64_t from, to, step;
    if (op_kind_of(l->m, loop) != OP_FOR || !loop_constant_bounds(l->m, loop, &from, &to, &step)) return false;
    uint64_t trips = from < to ? ((uint64_t)to - (uint64_t)from - 1) / (uint64_t)step + 1 : 0;
    size_t n = l->count - start;
    if (trips > TRIPS_MAX || trips * n > EXPANDED_MAX) return false;
    index_value x = {l->m, block_arg(l->m, op_block_at(l->m, loop, 0), 0), from};
    expr_substitution s = {.value = put_index, .self = &x};
    for (uint64_t trip = 0; trip < trips; trip++) {
        x.now = from + (int64_t)(trip * (uint64_t)step);
        for (size_t i = 0; i < n; i++) {
            token t = l->entries[start + i];
            t.event = expr_substitute(module_context(l->m), t.event, &s);
            append(l, t);
        }
    }
    for (size_t i = start + n; i < l->count; i++) l->entries[i - n] = l->entries[i];
    l->count -= n;
    settle(l, start);
    return true;
}

static status end_branch(token_ledger *l, const token_frame *f)
{
    size_t n = f->start - f->other;
    size_t same = 0;
    while (same < n && f->start + same < l->count) {
        const token *x = &l->entries[f->other + same], *y = &l->entries[f->start + same];
        if (compare_class(x, y) != 0 || x->count != y->count) break;
        same++;
    }
    if (same < n)
        return report(l, &l->entries[f->other + same], "when this branch of the `if` is taken and not the other");
    if (f->start + same < l->count)
        return report(l, &l->entries[f->start + same], "when this branch of the `if` is taken and not the other");
    l->count = f->start;
    return OK;
}

static status end_block(token_ledger *l, op_id root)
{
    token_frame f = l->frames[--l->depth];
    op_id owner = block_parent(l->m, f.block);
    settle(l, f.start);
    if (op_kind_of(l->m, owner) == OP_IF && op_block_count(l->m, owner) == 2)
        return f.index == 1 ? end_branch(l, &f) : OK;
    if (l->count == f.start) return OK;
    if (owner == root) return report(l, &l->entries[f.start], "at the end of the kernel");
    if (op_kind_of(l->m, owner) == OP_IF)
        return report(l, &l->entries[f.start], "when the `if` without `else` is taken");
    if (expand_loop(l, owner, f.start)) return OK;
    return report(l, &l->entries[f.start], "after each trip of the loop around it");
}

/* Enters block `index` of an op; its first op. */
static op_id begin_block(token_ledger *l, op_id owner, uint32_t index, size_t other)
{
    l->frames = table_grow(l->frames, &l->frame_capacity, l->depth + 1, sizeof *l->frames);
    block_id b = op_block_at(l->m, owner, index);
    l->frames[l->depth++] = (token_frame){b, index, l->count, other};
    return block_first(l->m, b);
}

static status interpret(token_ledger *l, op_id root)
{
    op_id o = begin_block(l, root, 0, 0);
    for (;;) {
        while (o == 0) {
            token_frame f = l->frames[l->depth - 1];
            op_id owner = block_parent(l->m, f.block);
            TRY(end_block(l, root));
            if (owner == root) return OK;
            if (f.index + 1 < op_block_count(l->m, owner))
                o = begin_block(l, owner, f.index + 1, f.start);
            else
                o = op_next(l->m, owner);
        }
        op_kind kind = op_kind_of(l->m, o);
        if (kind == OP_PTO_SET_FLAG || kind == OP_PTO_WAIT_FLAG) append_flag(l, o);
        o = op_block_count(l->m, o) != 0 ? begin_block(l, o, 0, 0) : op_next(l->m, o);
    }
}

status verify_tokens(module *m, op_id function)
{
    token_ledger l = {.m = m};
    status s = op_block_count(m, function) == 0 ? OK : interpret(&l, function);
    table_free(l.entries);
    table_free(l.frames);
    return s;
}
