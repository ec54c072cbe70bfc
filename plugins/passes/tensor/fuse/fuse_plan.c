/* Clusters: every vector op joins those of the ops that feed it, as far as one nest can compute them together. */
#include "fuse_plan.h"

#include "machine_types.h"

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
    pto_op made = pto_value_op(pto_op_operand(op, k));
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

void fuse_merge(fuse_plan *p, uint32_t into, uint32_t from)
{
    fuse_cluster *a = &p->clusters[into], *b = &p->clusters[from];
    b->parent = into;
    p->nodes[a->tail].next = b->head;
    a->tail = b->tail;
    if (b->last > a->last) a->last = b->last;
}

/* A number without dims as an operand of a product is its scale, which the store has; all others are memory. */
static int is_scale(pto_op splat, pto_op user)
{
    return pto_kind_column(user.run, pto_op_kind(user), PTO_COLUMN_SPACE_RULE) == PTO_ITER_MATMUL &&
           pto_type_rank(pto_value_type(pto_op_result(splat, 0))) == 0;
}

int fuse_is_copied(const fuse_plan *p, uint32_t made, uint32_t user)
{
    const fuse_node *from = &p->nodes[made], *to = &p->nodes[user];
    if (from->copies == 0) return 0;
    if (to->role == FUSE_SOLO) return fuse_is_splat(from->op) && is_scale(from->op, to->op);
    if (to->role != FUSE_VECTOR) return 0;
    return fuse_is_splat(from->op) || fuse_is_count(from->op) || fuse_space_repeats(&from->space, &to->space);
}

/* ---- reading ---- */

/* Whether rows of the result are rows of the left operand, all of them one after the other, and no store changes sums
 * on their way. */
static int is_plain_product(pto_op op)
{
    const machine_epilogue epilogue = machine_epilogue_of(op);
    const pto_type a = pto_value_type(pto_op_operand(op, 0)), b = pto_value_type(pto_op_operand(op, 1)),
                   made = pto_value_type(pto_op_result(op, 0));
    const uint32_t rank = pto_type_rank(made), wide = dims_of_type(made);
    if (PTO_SOME(epilogue.scale) || epilogue.relu || rank < 2 || pto_type_rank(a) != rank) return 0;
    if ((wide & 1) == 0 || (wide & ~1u) == 0) return 0;
    return rank == 2 || (pto_type_rank(b) == 2 && !pto_attr_bool_of(op, PTO_STR("transpose_a"), 0));
}

static uint8_t role_of(const fuse_plan *p, pto_op op)
{
    switch (pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE)) {
    case PTO_ITER_ELEMENTWISE:
    case PTO_ITER_REDUCE:
    case PTO_ITER_COUNT:
    case PTO_ITER_BROADCAST: return FUSE_VECTOR;
    case PTO_ITER_FILL: return fuse_is_splat(op) ? FUSE_VECTOR : FUSE_SOLO;
    case PTO_ITER_MATMUL: return p->joins_products && is_plain_product(op) ? FUSE_PRODUCT : FUSE_SOLO;
    case PTO_ITER_TRANSPOSE:
    case PTO_ITER_WINDOW:
    case PTO_ITER_PARTS:
    case PTO_ITER_INDEXED:
    case PTO_ITER_SCAN:
    case PTO_ITER_ORDER: return FUSE_SOLO;
    default: return FUSE_OTHER;
    }
}

static void read_node(fuse_plan *p, fuse_node *n, pto_op op)
{
    n->op = op;
    n->role = role_of(p, op);
    n->copied_for = FUSE_NONE;
    if (n->role == FUSE_OTHER) return;
    p->grouped++;
    n->in_count = pto_op_operand_count(op);
    if (n->in_count > PTO_MAX_SPACE_OPERANDS) n->in_count = PTO_MAX_SPACE_OPERANDS;
    for (uint32_t k = 0; k < n->in_count; k++) n->in[k] = producer_of(p, op, k);
    if (n->role == FUSE_SOLO) return;
    n->space = fuse_space_of_op(op);
    if (fuse_is_reduction(op) && !pto_attr_bool_of(op, PTO_STR("keepdim"), 1))
        n->ends_group = "extents of a reduction without kept dims, which feeds it, are in other places";
}

static void read_block(fuse_plan *p)
{
    for (pto_op op = pto_block_first(p->block); PTO_SOME(op); op = pto_op_next(op)) p->count++;
    uint32_t capacity = 16, i = 0;
    while (capacity < p->count * 2) capacity *= 2;
    p->slots = PTO_SCRATCH(p->run, uint32_t, capacity);
    p->slot_mask = capacity - 1;
    p->nodes = PTO_SCRATCH(p->run, fuse_node, p->count);
    p->clusters = PTO_SCRATCH(p->run, fuse_cluster, p->count);
    for (pto_op op = pto_block_first(p->block); PTO_SOME(op); op = pto_op_next(op)) {
        p->slots[slot_of(p, op.index)] = i + 1;
        read_node(p, &p->nodes[i++], op);
    }
}

static void note_masks(uint64_t *into, const uint64_t *masks)
{
    for (uint32_t i = 0; i < FUSE_MASKS / 64; i++) into[i] |= masks[i];
}

/* How many ops it takes to compute the node again from values that no vector op makes, and how all of them vary. */
static void find_copies(fuse_plan *p, fuse_node *n)
{
    uint32_t total = 1;
    if (n->role != FUSE_VECTOR || fuse_is_reduction(n->op)) return;
    for (uint32_t k = 0; k < n->in_count; k++) {
        if (n->in[k] == FUSE_NONE) continue;
        const fuse_node *from = &p->nodes[n->in[k]];
        if (from->role == FUSE_VECTOR && from->copies == 0) return;
        total += from->copies;
    }
    if (total > FUSE_COPY_LIMIT) return;
    n->copies = total;
    if (fuse_is_splat(n->op)) return;
    note_masks(n->taken, n->space.varies);
    for (uint32_t k = 0; k < n->in_count; k++)
        if (n->in[k] != FUSE_NONE) note_masks(n->taken, p->nodes[n->in[k]].taken);
}

/* What is copied for a node brings along what it takes, and how that varies. */
static void note_copied(fuse_plan *p, uint32_t index)
{
    fuse_node *n = &p->nodes[index];
    if (n->role != FUSE_VECTOR) return;
    for (uint32_t k = 0; k < n->in_count; k++) {
        if (n->in[k] == FUSE_NONE || !fuse_is_copied(p, n->in[k], index)) continue;
        note_masks(n->space.varies, p->nodes[n->in[k]].taken);
    }
}

/* Copies of the user take copies of vector ops along, and read what other ops produce. */
static void mark_user(fuse_node *n, const fuse_node *user, int is_copied)
{
    if (is_copied) n->has_copies |= user->is_live | user->has_copies;
    if (user->has_copies && n->role == FUSE_VECTOR) n->has_copies = 1;
    if ((user->is_live && !is_copied) || (user->has_copies && n->role != FUSE_VECTOR)) n->is_live = 1;
}

static void mark_live(fuse_plan *p)
{
    for (uint32_t i = p->count; i-- > 0;) {
        fuse_node *n = &p->nodes[i];
        n->is_live = n->role == FUSE_OTHER;
        for (uint32_t r = 0, end = pto_op_result_count(n->op); r < end; r++)
            PTO_EACH_USE(pto_op_result(n->op, r), use) {
                uint32_t user = fuse_node_at(p, use.op);
                if (user != FUSE_NONE) mark_user(n, &p->nodes[user], fuse_is_copied(p, i, user));
            }
    }
}

/* Which operands could come from the same group. */
static void find_open(fuse_plan *p, uint32_t index)
{
    fuse_node *n = &p->nodes[index];
    if (n->role != FUSE_VECTOR || !n->is_live) return;
    for (uint32_t k = 0; k < n->in_count; k++) {
        const uint32_t made = n->in[k];
        if (made == FUSE_NONE || p->nodes[made].role < FUSE_PRODUCT || p->nodes[made].ends_group != NULL) continue;
        if (fuse_is_copied(p, made, index)) continue;
        uint32_t first = 0;
        while (n->in[first] != made) first++;
        n->open |= (uint8_t)(1u << first);
    }
}

int fuse_is_used_outside(fuse_plan *p, uint32_t index, uint32_t root)
{
    for (uint32_t r = 0, end = pto_op_result_count(p->nodes[index].op); r < end; r++)
        PTO_EACH_USE(pto_op_result(p->nodes[index].op, r), use) {
            uint32_t user = fuse_node_at(p, use.op);
            if (user == FUSE_NONE || fuse_is_copied(p, index, user)) continue;
            const int is_read =
                p->nodes[user].is_live || (p->nodes[user].has_copies && p->nodes[index].role != FUSE_VECTOR);
            if (is_read && fuse_root(p, user) != root) return 1;
        }
    return 0;
}

/* ---- joining what only one reads ---- */

enum { NO_USER = FUSE_NONE, MANY_USERS = FUSE_NONE - 1 };

/* The cluster that reads node `made` as an operand of `user`, MANY_USERS when they must not become one. */
static uint32_t reader_of(fuse_plan *p, uint32_t made, uint32_t user)
{
    const fuse_node *from = &p->nodes[made], *to = &p->nodes[user];
    if (to->role != FUSE_VECTOR || to->is_alone) return MANY_USERS;
    for (uint32_t k = 0; k < to->in_count; k++)
        if (to->in[k] == made && fuse_is_pinned_apart(to, k)) return MANY_USERS;
    const uint32_t reader = fuse_root(p, user);
    if (reader != fuse_root(p, made) && (from->role == FUSE_SOLO || from->ends_group != NULL)) return MANY_USERS;
    return reader;
}

/* For each cluster the one other cluster that reads it, NO_USER or MANY_USERS. */
static uint32_t *find_only_users(fuse_plan *p)
{
    uint32_t *only = PTO_SCRATCH(p->run, uint32_t, p->count);
    for (uint32_t c = 0; c < p->count; c++) only[c] = NO_USER;
    for (uint32_t i = 0; i < p->count; i++) {
        const fuse_node *n = &p->nodes[i];
        if (n->role == FUSE_OTHER || !n->is_live) continue;
        uint32_t root = fuse_root(p, i);
        for (uint32_t r = 0, end = pto_op_result_count(n->op); r < end; r++)
            PTO_EACH_USE(pto_op_result(n->op, r), use) {
                uint32_t user = fuse_node_at(p, use.op);
                if (user == FUSE_NONE || !p->nodes[user].is_live || fuse_is_copied(p, i, user)) continue;
                const uint32_t reader = reader_of(p, i, user);
                if (reader != root) only[root] = only[root] == NO_USER || only[root] == reader ? reader : MANY_USERS;
            }
    }
    return only;
}

/* What only one later cluster reads moves there, so that it need not go through memory. */
static void join_later(fuse_plan *p)
{
    uint32_t *only = find_only_users(p);
    for (uint32_t c = p->count; c-- > 0;) {
        if (p->clusters[c].parent != c || only[c] >= MANY_USERS) continue;
        const uint32_t root = fuse_root(p, only[c]);
        fuse_cluster *into = &p->clusters[root];
        fuse_space space = into->space;
        const uint32_t ops = into->op_count + p->clusters[c].op_count;
        if (ops > p->max_ops || !fuse_goes_with(&space, &p->clusters[c].space)) continue;
        into->space = space;
        into->op_count = ops;
        fuse_merge(p, root, c);
    }
}

/* ---- results that vary less than the nest ---- */

const char fuse_shared[] = "several instances of the nest would write one result";

/* Whether several instances of its nest would write the node. */
static int is_shared(fuse_plan *p, uint32_t index)
{
    const fuse_node *n = &p->nodes[index];
    if (n->role != FUSE_VECTOR || !n->is_live) return 0;
    const uint32_t root = fuse_root(p, index);
    const fuse_cluster *c = &p->clusters[root];
    if (c->op_count == 1 || c->space.common == c->space.wide || n->space.common == c->space.wide) return 0;
    const fuse_nest nest = fuse_space_nest(&c->space);
    return (c->space.wide & ~nest.walked & ~n->space.common) != 0 && fuse_is_used_outside(p, index, root);
}

/* What uses such nodes goes into other groups, and where that was not enough what feeds them too. Returns how many. */
static uint32_t set_shared_apart(fuse_plan *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        fuse_node *n = &p->nodes[i];
        if (!is_shared(p, i)) continue;
        n->is_alone = n->ends_group != NULL;
        n->ends_group = fuse_shared;
        count++;
    }
    return count;
}

/* ---- the plan ---- */

static void restart(fuse_plan *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        fuse_node *n = &p->nodes[i];
        n->next = FUSE_NONE;
        n->obstacle = NULL;
        p->clusters[i] = (fuse_cluster){
            .parent = i, .head = i, .tail = i, .last = i, .seen = FUSE_NONE, .op_count = 1, .space = n->space};
    }
}

static pto_status find_clusters(fuse_plan *p)
{
    restart(p);
    PTO_TRY(fuse_join_pinned(p));
    PTO_TRY(fuse_place(p, 1));
    join_later(p);
    return PTO_OK;
}

pto_status fuse_plan_make(fuse_plan *p)
{
    read_block(p);
    if (p->grouped == 0) return PTO_OK;
    for (uint32_t i = 0; i < p->count; i++) {
        find_copies(p, &p->nodes[i]);
        note_copied(p, i);
    }
    mark_live(p);
    for (uint32_t i = 0; i < p->count; i++) find_open(p, i);
    fuse_find_needs(p);
    PTO_TRY(fuse_read_pins(p));
    PTO_TRY(find_clusters(p));
    while (set_shared_apart(p) != 0) PTO_TRY(find_clusters(p));
    PTO_TRY(fuse_place(p, 0));
    return fuse_record(p);
}
