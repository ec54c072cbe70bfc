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

/* What a node would become with the clusters of its stage that feed it. */
typedef struct joint {
    uint32_t roots[PTO_MAX_SPACE_OPERANDS], count;
    int64_t op_count;
    fuse_shape space;
    int stands_alone;     /* it is fed by what no group goes on from */
    const char *obstacle; /* why they cannot be one nest, or NULL */
} joint;

static joint find_joint(fuse_plan *p, uint32_t index, uint32_t stage)
{
    const fuse_node *n = &p->nodes[index];
    joint j = {.op_count = 1, .space = n->space};
    for (uint32_t k = 0; k < n->in_count && j.obstacle == NULL; k++) {
        uint32_t made = n->in[k];
        if (made == FUSE_NONE || p->nodes[made].role == FUSE_OTHER || fuse_is_copied(p, made, index)) continue;
        uint32_t root = fuse_root(p, p->nodes[made].cluster), seen = 0;
        if (p->clusters[root].stage != stage) continue;
        j.stands_alone = p->nodes[made].role == FUSE_SOLO || p->nodes[made].drops_dims;
        if (j.stands_alone || j.count == PTO_MAX_SPACE_OPERANDS) {
            j.obstacle = "what feeds it has a group of its own";
            continue;
        }
        while (seen < j.count && j.roots[seen] != root) seen++;
        if (seen < j.count) continue;
        j.roots[j.count++] = root;
        j.op_count += p->clusters[root].op_count;
        if (j.op_count > p->max_ops)
            j.obstacle = "the group would have more ops than `max-ops`";
        else if (!fuse_shape_join(&j.space, &p->clusters[root].space))
            j.obstacle = "its dims and theirs do not make one nest";
    }
    return j;
}

static void join_producers(fuse_plan *p, uint32_t index, const joint *j, uint32_t stage)
{
    uint32_t into = j->count != 0 ? j->roots[0] : p->cluster_count++;
    p->clusters[into] =
        (fuse_cluster){.parent = into, .stage = stage, .op_count = (uint32_t)j->op_count, .space = j->space};
    for (uint32_t i = 1; i < j->count; i++) p->clusters[j->roots[i]].parent = into;
    p->nodes[index].cluster = into;
}

static void cluster_alone(fuse_plan *p, fuse_node *n, uint32_t stage)
{
    n->cluster = p->cluster_count++;
    p->clusters[n->cluster] = (fuse_cluster){.parent = n->cluster, .stage = stage, .op_count = 1, .space = n->space};
}

enum { FUSE_JOINED, FUSE_APART };
static const char *const fuse_words[] = {"joined", "apart", NULL};

/* Whether the node goes on with the groups that feed it. */
static pto_status place_vector(fuse_plan *p, uint32_t index, uint32_t stage)
{
    fuse_node *n = &p->nodes[index];
    const joint j = find_joint(p, index, stage);
    const pto_decision d = {.struct_size = sizeof d, .count = 1, .name = "fuse", .words = fuse_words};
    int64_t word = j.obstacle != NULL ? FUSE_APART : FUSE_JOINED;
    n->has_choice = !j.stands_alone && j.count != 0;
    n->obstacle = j.obstacle;
    if (n->has_choice) {
        const int32_t pinned = pto_decision_pinned(n->op, &d, &word);
        PTO_TRY(pinned);
        n->is_pinned = pinned != 0;
    }
    n->is_apart = n->is_pinned && word == FUSE_APART;
    if (n->is_pinned && word == FUSE_JOINED && j.obstacle != NULL)
        return pto_error(n->op, "pto.fuse/cannot-join", "`%.*s` cannot be in one group with what feeds it: %s",
                         PTO_FMT(pto_op_name(n->op)), j.obstacle);
    if (word == FUSE_JOINED)
        join_producers(p, index, &j, stage);
    else
        cluster_alone(p, n, stage + 1);
    return PTO_OK;
}

/* Whether some op that feeds the node, and that it need not compute again, is in another group. */
static int is_fed_from_outside(fuse_plan *p, uint32_t index)
{
    const fuse_node *n = &p->nodes[index];
    for (uint32_t k = 0; k < n->in_count; k++) {
        const uint32_t made = n->in[k];
        if (made == FUSE_NONE || p->nodes[made].role != FUSE_VECTOR || fuse_is_copied(p, made, index)) continue;
        if (fuse_root(p, p->nodes[made].cluster) != fuse_root(p, n->cluster)) return 1;
    }
    return 0;
}

static pto_status refuse_pin(const fuse_node *n)
{
    const pto_decision d = {.struct_size = sizeof d, .count = 1, .name = "fuse", .words = fuse_words};
    int64_t word;
    /* Others were asked about since; the note is to stand at this one's line. */
    PTO_TRY(pto_decision_pinned(n->op, &d, &word));
    return pto_error(n->op, "pto.fuse/in-no-group",
                     "`%.*s` is in no group of its own: each group that uses it computes it again, or none does",
                     PTO_FMT(pto_op_name(n->op)));
}

/* The schedule shows what stays apart from what feeds it, and what it pins; everything else is joined. */
static pto_status record_choices(fuse_plan *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const fuse_node *n = &p->nodes[i];
        if (n->is_pinned && !n->is_live) return refuse_pin(n);
        if (!n->has_choice || !n->is_live) continue;
        const int64_t word = is_fed_from_outside(p, i) ? FUSE_APART : FUSE_JOINED;
        const pto_decision d = {
            .struct_size = sizeof d, .count = 1, .name = "fuse", .words = fuse_words, .limit = n->obstacle};
        if (n->is_pinned || word == FUSE_APART) PTO_TRY(pto_decision_made(n->op, &d, &word));
    }
    return PTO_OK;
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

static pto_status place_nodes(fuse_plan *p)
{
    uint32_t floor = 0, highest = 0, ordered = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        fuse_node *n = &p->nodes[i];
        if (n->stage < floor) n->stage = floor;
        if (n->role == FUSE_VECTOR) {
            find_copies(p, n);
            PTO_TRY(place_vector(p, i, joined_stage(p, i, n->stage)));
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
    return PTO_OK;
}

/* Copies of the user take copies of vector ops along, and read what other ops give. */
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
        for (uint32_t r = 0; r < pto_result_count(n->op); r++)
            PTO_EACH_USE(pto_result(n->op, r), use) {
                uint32_t user = fuse_node_at(p, use.op);
                if (user != FUSE_NONE) mark_user(n, &p->nodes[user], fuse_is_copied(p, i, user));
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
            if (p->nodes[user].is_apart) reader = MANY_USERS;
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

pto_status fuse_plan_make(fuse_plan *p)
{
    read_block(p);
    PTO_TRY(place_nodes(p));
    mark_live(p);
    join_later(p);
    return record_choices(p);
}
