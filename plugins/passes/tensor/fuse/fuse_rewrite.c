/* Groups are made in an order that keeps every op after what it needs, and near to where it was. */
#include "fuse_plan.h"

#include <stdlib.h>

/* Key of the last value that computing `made` again needs. Chains have at most FUSE_COPY_LIMIT ops, so has the depth.
 */
static uint64_t copied_key(const fuse_plan *p, uint32_t made)
{
    uint64_t key = 0;
    for (uint32_t k = 0; k < p->nodes[made].in_count; k++) {
        uint32_t from = p->nodes[made].in[k];
        if (from == FUSE_NONE) continue;
        uint64_t after = p->nodes[from].role == FUSE_VECTOR ? copied_key(p, from) : p->nodes[from].key + 1;
        if (after > key) key = after;
    }
    return key;
}

static uint64_t least_key(const fuse_plan *p, uint32_t index)
{
    const fuse_node *n = &p->nodes[index];
    uint64_t key = n->least_key > 2ull * index ? n->least_key : 2ull * index;
    for (uint32_t k = 0; n->role == FUSE_VECTOR && k < n->in_count; k++) {
        uint32_t made = n->in[k];
        if (made == FUSE_NONE || !fuse_is_copied(p, made, index)) continue;
        uint64_t after = copied_key(p, made);
        if (after > key) key = after;
    }
    return key;
}

static void push_key(fuse_plan *p, uint32_t index, uint64_t key)
{
    fuse_node *n = &p->nodes[index];
    n->key = key;
    for (uint32_t r = 0, end = pto_op_result_count(n->op); r < end; r++)
        PTO_EACH_USE(pto_op_result(n->op, r), use) {
            uint32_t user = fuse_node_at(p, use.op);
            if (user == FUSE_NONE || fuse_is_copied(p, index, user)) continue;
            if (p->nodes[user].least_key < key + 1) p->nodes[user].least_key = key + 1;
        }
}

typedef struct sort_item {
    uint64_t key;
    uint32_t index;
} sort_item;

static int compare_items(const void *a, const void *b)
{
    const sort_item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Members of each cluster, in order of the block. */
static void list_members(fuse_plan *p)
{
    p->members = PTO_SCRATCH(p->run, uint32_t, p->count);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->nodes[i].role != FUSE_OTHER && p->nodes[i].is_live) p->clusters[fuse_root(p, i)].end++;
    uint32_t next = 0;
    for (uint32_t c = 0; c < p->count; c++) {
        uint32_t count = p->clusters[c].end;
        p->clusters[c].first = p->clusters[c].end = next;
        next += count;
    }
    for (uint32_t i = 0; i < p->count; i++)
        if (p->nodes[i].role != FUSE_OTHER && p->nodes[i].is_live) p->members[p->clusters[fuse_root(p, i)].end++] = i;
}

/* Keys are given in order of stages, so all that a node needs has one. Ops with effects keep their order. */
static void give_keys(fuse_plan *p, const sort_item *by_stage, uint32_t count)
{
    uint64_t last_ordered = 0, highest = 0, floor = 0;
    for (uint32_t s = 0; s < count; s++) {
        uint32_t i = by_stage[s].index;
        fuse_node *n = &p->nodes[i];
        uint64_t key = least_key(p, i);
        if (key < floor) key = floor;
        if (n->role != FUSE_OTHER) {
            const fuse_cluster *c = &p->clusters[fuse_root(p, i)];
            for (uint32_t m = c->first; m < c->end; m++) {
                uint64_t least = least_key(p, p->members[m]);
                if (least > key) key = least;
            }
            for (uint32_t m = c->first; m < c->end; m++) push_key(p, p->members[m], key);
        } else {
            if (PTO_IS(n->op, BIND) && key <= highest) key = highest + 1;
            if (!pto_kind_has(p->run, pto_op_kind(n->op), PTO_TRAIT_PURE)) {
                if (key <= last_ordered) key = last_ordered + 1;
                last_ordered = key;
            }
            if (PTO_IS(n->op, BIND)) floor = key + 1;
            push_key(p, i, key);
        }
        if (key > highest) highest = key;
    }
}

/* One item for each live op that stays alone and one, its first member, for each cluster. */
static uint32_t list_items(fuse_plan *p, sort_item *items, int by_key)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < p->count; i++) {
        const fuse_node *n = &p->nodes[i];
        if (!n->is_live) continue;
        const fuse_cluster *c = &p->clusters[fuse_root(p, i)];
        if (n->role != FUSE_OTHER && p->members[c->first] != i) continue;
        items[count++] = (sort_item){.key = by_key ? n->key : c->stage, .index = i};
    }
    qsort(items, count, sizeof *items, compare_items);
    return count;
}

/* Order in which nodes come out: ascending `key`, members of a cluster together. Fills members, first and end. */
static void fuse_order(fuse_plan *p, uint32_t *order, uint32_t *out_count)
{
    sort_item *items = PTO_SCRATCH(p->run, sort_item, p->count);
    list_members(p);
    uint32_t count = list_items(p, items, 0);
    give_keys(p, items, count);
    *out_count = list_items(p, items, 1);
    for (uint32_t i = 0; i < count; i++) order[i] = items[i].index;
}

/* The value of node `made`, computed again at the end of the group's body. */
static pto_value copy_value(fuse_plan *p, uint32_t made, uint32_t cluster, pto_block body)
{
    fuse_node *n = &p->nodes[made];
    if (n->copied_for == cluster) return n->copy;
    pto_value from[PTO_MAX_SPACE_OPERANDS], to[PTO_MAX_SPACE_OPERANDS];
    uint32_t count = 0;
    for (uint32_t k = 0; k < n->in_count; k++) {
        uint32_t producer = n->in[k];
        if (producer == FUSE_NONE || p->nodes[producer].role != FUSE_VECTOR) continue;
        from[count] = pto_op_operand(n->op, k);
        to[count++] = copy_value(p, producer, cluster, body);
    }
    pto_op clone = pto_op_clone(n->op, pto_at_end(body), count, from, to);
    n->copied_for = cluster;
    n->copy = PTO_SOME(clone) ? pto_op_result(clone, 0) : pto_value_none(p->run);
    return n->copy;
}

static pto_status move_members(fuse_plan *p, uint32_t root, pto_block body)
{
    for (uint32_t m = p->clusters[root].first; m < p->clusters[root].end; m++) {
        uint32_t index = p->members[m];
        pto_op op = p->nodes[index].op;
        for (uint32_t k = 0; k < p->nodes[index].in_count; k++) {
            uint32_t made = p->nodes[index].in[k];
            if (made == FUSE_NONE || !fuse_is_copied(p, made, index)) continue;
            pto_value copy = copy_value(p, made, root, body);
            PTO_NEED(copy);
            PTO_TRY(pto_op_set_operand(op, k, copy));
        }
        PTO_TRY(pto_op_move(op, pto_at_end(body)));
    }
    return PTO_OK;
}

/* Uses outside of the group read its result, except for those that compute it again. */
static pto_status redirect_uses(const fuse_plan *p, uint32_t made, pto_value inner, pto_value outer, pto_op group)
{
    uint32_t count = pto_value_use_count(inner);
    pto_use *uses = PTO_SCRATCH(p->run, pto_use, count);
    for (uint32_t i = 0; i < count; i++) uses[i] = pto_use_at(inner, i);
    for (uint32_t i = 0; i < count; i++) {
        if (pto_op_same(pto_op_parent(uses[i].op), group)) continue;
        uint32_t user = fuse_node_at(p, uses[i].op);
        if (user != FUSE_NONE && fuse_is_copied(p, made, user)) continue;
        PTO_TRY(pto_op_set_operand(uses[i].op, uses[i].slot, outer));
    }
    return PTO_OK;
}

/* The host names the first result only. */
static pto_status name_results(pto_op group, uint32_t count, const pto_value *outputs)
{
    for (uint32_t i = 1; i < count; i++) {
        PTO_TRY(pto_value_set_name(pto_op_result(group, i), pto_value_name(outputs[i])));
    }
    return PTO_OK;
}

static pto_op build_group(fuse_plan *p, uint32_t root, pto_place at, const char *label, uint32_t count,
                          const pto_value *outputs)
{
    const fuse_cluster *c = &p->clusters[root];
    pto_loc *locs = PTO_SCRATCH(p->run, pto_loc, c->end - c->first);
    for (uint32_t m = c->first; m < c->end; m++) locs[m - c->first] = pto_op_loc(p->nodes[p->members[m]].op);
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_GROUP));
    pto_spec_str(&s, PTO_STR("label"), pto_s(label));
    for (uint32_t i = 0; i < count; i++) pto_spec_result(&s, pto_value_type(outputs[i]));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_loc_fuse(p->run, c->end - c->first, locs));
    if (count != 0) pto_spec_name(&s, pto_value_name(outputs[0]));
    return pto_spec_build(&s, at);
}

/* Of an op that is in a group: what sorts makes values and places. */
enum { FUSE_RESULTS_MAX = 2 };

static pto_status make_group(fuse_plan *p, uint32_t root, pto_place at, const char *label)
{
    const fuse_cluster *c = &p->clusters[root];
    const uint32_t most = (c->end - c->first) * FUSE_RESULTS_MAX;
    pto_value *outputs = PTO_SCRATCH(p->run, pto_value, most);
    uint32_t *made = PTO_SCRATCH(p->run, uint32_t, most), count = 0;
    for (uint32_t m = c->first; m < c->end; m++) {
        const pto_op op = p->nodes[p->members[m]].op;
        if (!fuse_is_used_outside(p, p->members[m], root)) continue;
        for (uint32_t r = 0; r < pto_op_result_count(op) && r < FUSE_RESULTS_MAX; r++) {
            outputs[count] = pto_op_result(op, r);
            made[count++] = p->members[m];
        }
    }
    pto_op group = build_group(p, root, at, label, count, outputs);
    PTO_NEED(group);
    PTO_TRY(name_results(group, count, outputs));
    pto_block body = pto_body(group);
    PTO_TRY(move_members(p, root, body));
    pto_spec yield = pto_spec_make(p->run, pto_kind(p->run, KIND_YIELD));
    pto_spec_operands(&yield, count, outputs);
    pto_spec_loc(&yield, pto_op_loc(group));
    PTO_NEED(pto_spec_build(&yield, pto_at_end(body)));
    for (uint32_t i = 0; i < count; i++) PTO_TRY(redirect_uses(p, made[i], outputs[i], pto_op_result(group, i), group));
    return PTO_OK;
}

/* The next op that keeps its place: not yet emitted, not dead. */
static pto_op skip_done(const fuse_plan *p, pto_op cursor)
{
    for (; PTO_SOME(cursor); cursor = pto_op_next(cursor)) {
        uint32_t i = fuse_node_at(p, cursor);
        if (i != FUSE_NONE && !p->nodes[i].done && p->nodes[i].is_live) break;
    }
    return cursor;
}

static pto_status emit_node(fuse_plan *p, uint32_t index, pto_op *cursor, pto_str label, uint32_t *serial)
{
    fuse_node *n = &p->nodes[index];
    if (n->role == FUSE_OTHER) {
        n->done = 1;
        if (pto_op_same(n->op, *cursor))
            *cursor = skip_done(p, *cursor);
        else
            PTO_TRY(pto_op_move(n->op, pto_before(*cursor)));
        return PTO_OK;
    }
    uint32_t root = fuse_root(p, index);
    char text[256];
    snprintf(text, sizeof text, "%.*s_%u", label.n < 200 ? (int)label.n : 200, label.p, (unsigned)(*serial)++);
    for (uint32_t m = p->clusters[root].first; m < p->clusters[root].end; m++) p->nodes[p->members[m]].done = 1;
    *cursor = skip_done(p, *cursor);
    return make_group(p, root, pto_before(*cursor), text);
}

pto_status fuse_rewrite(fuse_plan *p, pto_str label, uint32_t *serial)
{
    uint32_t *order = PTO_SCRATCH(p->run, uint32_t, p->count), count = 0;
    fuse_order(p, order, &count);
    pto_op cursor = skip_done(p, pto_block_first(p->block));
    for (uint32_t i = 0; i < count; i++) PTO_TRY(emit_node(p, order[i], &cursor, label, serial));
    for (uint32_t i = p->count; i-- > 0;)
        if (!p->nodes[i].is_live) PTO_TRY(pto_op_erase(p->nodes[i].op));
    return PTO_OK;
}
