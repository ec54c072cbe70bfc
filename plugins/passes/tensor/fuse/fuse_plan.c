/* Clusters: every vector op joins those of the ops that feed it, as far as one nest can compute them together. */
#include "fuse_plan.h"

static uint32_t slot_of(const fuse_plan *p, uint32_t index)
{
    uint32_t slot = (index * UINT32_C(2654435769)) & p->slot_mask;
    while (p->slots[slot] != 0 && p->nodes[p->slots[slot] - 1].op.index != index) slot = (slot + 1) & p->slot_mask;
    return slot;
}

uint32_t fuse_node_at(const fuse_plan *p, pto_op op)
{
    while (PTO_SOME(op) && !pto_block_same(pto_op_block(op), p->block)) op = pto_op_parent(op);
    if (!PTO_SOME(op)) return FUSE_NONE;
    uint32_t found = p->slots[slot_of(p, op.index)];
    return found == 0 ? FUSE_NONE : found - 1;
}

static uint32_t producer_of(const fuse_plan *p, pto_op op, uint32_t k)
{
    pto_op made = pto_value_op(pto_operand(op, k));
    uint32_t found = PTO_SOME(made) ? p->slots[slot_of(p, made.index)] : 0;
    return found == 0 ? FUSE_NONE : found - 1;
}

uint32_t fuse_root(fuse_plan *p, uint32_t cluster)
{
    while (p->clusters[cluster].parent != cluster) {
        p->clusters[cluster].parent = p->clusters[p->clusters[cluster].parent].parent;
        cluster = p->clusters[cluster].parent;
    }
    return cluster;
}

int fuse_is_copied(const fuse_plan *p, uint32_t made, uint32_t user)
{
    const fuse_node *from = &p->nodes[made], *to = &p->nodes[user];
    if (from->copies == 0 || to->role != FUSE_VECTOR) return 0;
    return fuse_is_splat(from->op) || fuse_shape_repeats(&from->space, &to->space);
}

static uint32_t stage_of(fuse_plan *p, const fuse_node *n)
{
    return n->role == FUSE_OTHER ? n->stage : p->clusters[fuse_root(p, n->cluster)].stage;
}

static uint8_t role_of(pto_op op)
{
    switch (pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE)) {
    case PTO_ITER_ELEMENTWISE:
    case PTO_ITER_REDUCE:
    case PTO_ITER_BROADCAST: return FUSE_VECTOR;
    case PTO_ITER_FILL: return fuse_is_splat(op) ? FUSE_VECTOR : FUSE_SOLO;
    case PTO_ITER_MATMUL:
    case PTO_ITER_TRANSPOSE: return FUSE_SOLO;
    default: return FUSE_OTHER;
    }
}

static int is_reduction(pto_op op)
{
    return pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) == PTO_ITER_REDUCE;
}

static void read_block(fuse_plan *p)
{
    for (pto_op op = pto_block_first(p->block); PTO_SOME(op); op = pto_op_next(op)) p->count++;
    uint32_t room = 16;
    while (room < p->count * 2) room *= 2;
    p->slots = PTO_SCRATCH(p->run, uint32_t, room);
    p->slot_mask = room - 1;
    p->nodes = PTO_SCRATCH(p->run, fuse_node, p->count);
    p->clusters = PTO_SCRATCH(p->run, fuse_cluster, p->count);
    uint32_t i = 0;
    for (pto_op op = pto_block_first(p->block); PTO_SOME(op); op = pto_op_next(op), i++) {
        fuse_node *n = &p->nodes[i];
        n->op = op;
        n->role = role_of(op);
        n->cluster = n->copied_for = FUSE_NONE;
        p->slots[slot_of(p, op.index)] = i + 1;
        if (n->role != FUSE_OTHER) n->in_count = pto_operand_count(op);
        if (n->in_count > PTO_MAX_SPACE_OPERANDS) n->in_count = PTO_MAX_SPACE_OPERANDS;
        for (uint32_t k = 0; k < n->in_count; k++) n->in[k] = producer_of(p, op, k);
        if (n->role != FUSE_VECTOR) continue;
        n->space = fuse_shape_of_op(op);
        n->drops_dims = is_reduction(op) && !pto_attr_bool_of(op, "keepdim", 1);
    }
}

/* How many ops it takes to compute the node again from values that no vector op makes. */
static void find_copies(fuse_plan *p, fuse_node *n)
{
    uint32_t total = 1, stage = 0;
    if (n->role != FUSE_VECTOR) return;
    if (is_reduction(n->op)) return;
    for (uint32_t k = 0; k < n->in_count; k++) {
        uint32_t made = n->in[k];
        if (made == FUSE_NONE) continue;
        const fuse_node *from = &p->nodes[made];
        if (from->role == FUSE_VECTOR && from->copies == 0) return;
        uint32_t after = from->role == FUSE_VECTOR ? from->copy_stage : stage_of(p, from) + 1;
        if (after > stage) stage = after;
        total += from->copies;
    }
    if (total > FUSE_COPY_LIMIT) return;
    n->copies = total;
    n->copy_stage = stage;
}

/* Joins the clusters of this stage that feed the node. 0: they cannot be one nest, nothing has changed. */
static int join_producers(fuse_plan *p, uint32_t index, uint32_t stage)
{
    fuse_node *n = &p->nodes[index];
    fuse_shape space = n->space;
    uint32_t roots[PTO_MAX_SPACE_OPERANDS], count = 0;
    int64_t ops = 1;
    for (uint32_t k = 0; k < n->in_count; k++) {
        uint32_t made = n->in[k];
        if (made == FUSE_NONE || p->nodes[made].role == FUSE_OTHER || fuse_is_copied(p, made, index)) continue;
        uint32_t root = fuse_root(p, p->nodes[made].cluster), seen = 0;
        if (p->clusters[root].stage != stage) continue;
        if (p->nodes[made].role == FUSE_SOLO || p->nodes[made].drops_dims || count == PTO_MAX_SPACE_OPERANDS) return 0;
        while (seen < count && roots[seen] != root) seen++;
        if (seen < count) continue;
        roots[count++] = root;
        ops += p->clusters[root].op_count;
        if (ops > p->max_ops || !fuse_shape_join(&space, &p->clusters[root].space)) return 0;
    }
    uint32_t into = count != 0 ? roots[0] : p->cluster_count++;
    p->clusters[into] = (fuse_cluster){.parent = into, .stage = stage, .op_count = (uint32_t)ops, .space = space};
    for (uint32_t i = 1; i < count; i++) p->clusters[roots[i]].parent = into;
    n->cluster = into;
    return 1;
}

static void cluster_alone(fuse_plan *p, fuse_node *n, uint32_t stage)
{
    n->cluster = p->cluster_count++;
    p->clusters[n->cluster] = (fuse_cluster){.parent = n->cluster, .stage = stage, .op_count = 1, .space = n->space};
}

/* Lowest stage of a vector op when it joins the clusters that feed it. */
static uint32_t joined_stage(fuse_plan *p, uint32_t index, uint32_t least)
{
    const fuse_node *n = &p->nodes[index];
    for (uint32_t k = 0; k < n->in_count; k++) {
        uint32_t made = n->in[k];
        if (made == FUSE_NONE) continue;
        const fuse_node *from = &p->nodes[made];
        uint32_t after = fuse_is_copied(p, made, index) ? from->copy_stage
                         : from->role == FUSE_VECTOR    ? stage_of(p, from)
                                                        : stage_of(p, from) + 1;
        if (after > least) least = after;
    }
    return least;
}

static void place_nodes(fuse_plan *p)
{
    uint32_t floor = 0, highest = 0, ordered = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        fuse_node *n = &p->nodes[i];
        if (n->stage < floor) n->stage = floor;
        if (n->role == FUSE_VECTOR) {
            find_copies(p, n);
            uint32_t stage = joined_stage(p, i, n->stage);
            if (!join_producers(p, i, stage)) cluster_alone(p, n, stage + 1);
        } else if (n->role == FUSE_SOLO) {
            cluster_alone(p, n, n->stage);
        } else if (pto_op_is(n->op, pto_kind(p->run, KIND_BIND))) {
            n->stage = highest + 1;
            floor = n->stage + 1;
        } else if (!pto_kind_has(p->run, pto_op_kind(n->op), PTO_TRAIT_PURE)) {
            if (n->stage < ordered) n->stage = ordered;
            ordered = n->stage + 1;
        }
        uint32_t stage = stage_of(p, n);
        if (stage > highest) highest = stage;
        for (uint32_t r = 0; r < pto_result_count(n->op); r++)
            PTO_EACH_USE(pto_result(n->op, r), use) {
                uint32_t user = fuse_node_at(p, use.op);
                if (user == FUSE_NONE || p->nodes[user].role == FUSE_VECTOR) continue;
                if (p->nodes[user].stage < stage + 1) p->nodes[user].stage = stage + 1;
            }
    }
}

static void mark_live(fuse_plan *p)
{
    for (uint32_t i = p->count; i-- > 0;) {
        fuse_node *n = &p->nodes[i];
        n->is_live = n->role == FUSE_OTHER;
        for (uint32_t r = 0; r < pto_result_count(n->op) && !n->is_live; r++)
            PTO_EACH_USE(pto_result(n->op, r), use) {
                uint32_t user = fuse_node_at(p, use.op);
                if (user == FUSE_NONE) continue;
                if (p->nodes[user].is_live && !fuse_is_copied(p, i, user)) n->is_live = 1;
            }
    }
}

enum { NO_USER = FUSE_NONE, MANY_USERS = FUSE_NONE - 1 };

/* For each cluster the one other cluster that reads it, NO_USER or MANY_USERS. */
static uint32_t *find_only_users(fuse_plan *p)
{
    uint32_t *only = PTO_SCRATCH(p->run, uint32_t, p->cluster_count);
    for (uint32_t c = 0; c < p->cluster_count; c++) only[c] = NO_USER;
    for (uint32_t i = 0; i < p->count; i++) {
        const fuse_node *n = &p->nodes[i];
        if (n->role == FUSE_OTHER || !n->is_live) continue;
        uint32_t root = fuse_root(p, n->cluster);
        PTO_EACH_USE(pto_result(n->op, 0), use) {
            uint32_t user = fuse_node_at(p, use.op);
            if (user == FUSE_NONE || !p->nodes[user].is_live || fuse_is_copied(p, i, user)) continue;
            uint32_t reader = p->nodes[user].role == FUSE_VECTOR ? fuse_root(p, p->nodes[user].cluster) : MANY_USERS;
            if (reader == root) continue;
            if (n->role == FUSE_SOLO || n->drops_dims) reader = MANY_USERS;
            only[root] = only[root] == NO_USER || only[root] == reader ? reader : MANY_USERS;
        }
    }
    return only;
}

/* What only one later cluster reads moves there, so that it need not go through memory. */
static void join_later(fuse_plan *p)
{
    uint32_t *only = find_only_users(p);
    for (uint32_t c = p->cluster_count; c-- > 0;) {
        if (p->clusters[c].parent != c || only[c] >= MANY_USERS) continue;
        fuse_cluster *into = &p->clusters[fuse_root(p, only[c])];
        fuse_shape space = into->space;
        uint32_t ops = into->op_count + p->clusters[c].op_count;
        if (ops > p->max_ops || !fuse_shape_join(&space, &p->clusters[c].space)) continue;
        into->space = space;
        into->op_count = ops;
        p->clusters[c].parent = into->parent;
    }
}

void fuse_plan_make(fuse_plan *p)
{
    read_block(p);
    place_nodes(p);
    mark_live(p);
    join_later(p);
}
