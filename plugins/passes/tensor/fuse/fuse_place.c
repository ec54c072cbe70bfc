/* Clusters get stages one after the other, each after what it needs, and go on with those that feed them. */
#include "fuse_plan.h"

/* ---- what must come before ---- */

typedef struct need_list {
    fuse_plan *p;
    uint32_t *ends; /* where the next need of each node goes */
    int counts;     /* just moves the ends */
} need_list;

static void add_need(const need_list *l, uint32_t user, uint32_t made)
{
    const uint32_t at = l->ends[user]++;
    if (!l->counts) l->p->needs[at] = made;
}

/* What computing `made` again reads. Chains have at most FUSE_COPY_LIMIT ops, so has the depth. */
static void add_copied(const need_list *l, uint32_t user, uint32_t made)
{
    const fuse_node *n = &l->p->nodes[made];
    for (uint32_t k = 0; k < n->in_count; k++) {
        if (n->in[k] == FUSE_NONE) continue;
        if (l->p->nodes[n->in[k]].role == FUSE_VECTOR)
            add_copied(l, user, n->in[k]);
        else
            add_need(l, user, n->in[k]);
    }
}

static int is_bind(const fuse_plan *p, uint32_t index) { return PTO_IS(p->nodes[index].op, BIND); }

/* Uses, and ops with effects in their order. */
static void add_needs(const need_list *l)
{
    fuse_plan *p = l->p;
    uint32_t ordered = FUSE_NONE;
    for (uint32_t i = 0; i < p->count; i++) {
        const fuse_node *n = &p->nodes[i];
        for (uint32_t r = 0, end = pto_op_result_count(n->op); r < end; r++)
            PTO_EACH_USE(pto_op_result(n->op, r), use) {
                const uint32_t user = fuse_node_at(p, use.op);
                if (user == FUSE_NONE || user == i) continue;
                if (n->role == FUSE_VECTOR && fuse_is_copied(p, i, user))
                    add_copied(l, user, i);
                else
                    add_need(l, user, i);
            }
        if (n->role != FUSE_OTHER || pto_kind_has(p->run, pto_op_kind(n->op), PTO_TRAIT_PURE)) continue;
        if (ordered != FUSE_NONE) add_need(l, i, ordered);
        ordered = i;
    }
}

void fuse_find_needs(fuse_plan *p)
{
    uint32_t *ends = PTO_SCRATCH(p->run, uint32_t, p->count + 1), bind = FUSE_NONE, total = 0;
    p->need_from = PTO_SCRATCH(p->run, uint32_t, p->count + 1);
    p->bind_before = PTO_SCRATCH(p->run, uint32_t, p->count);
    add_needs(&(need_list){.p = p, .ends = ends, .counts = 1});
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t count = ends[i];
        p->need_from[i] = ends[i] = total;
        total += count;
        p->bind_before[i] = bind;
        if (is_bind(p, i)) bind = i;
    }
    p->need_from[p->count] = total;
    p->needs = PTO_SCRATCH(p->run, uint32_t, total);
    add_needs(&(need_list){.p = p, .ends = ends});
}

/* Needs of node `i` by number: its own, the last `bind`, and of a `bind` those before it, which is how far the numbers
 * go on. FUSE_NONE after the last. Clusters with something after a `bind` come after it and are not awaited. */
static uint32_t need_at(fuse_plan *p, uint32_t i, uint32_t *number)
{
    const uint32_t own = p->need_from[i + 1] - p->need_from[i];
    if (*number < own) return p->needs[p->need_from[i] + (*number)++];
    if (*number == own) {
        ++*number;
        if (p->bind_before[i] != FUSE_NONE) return p->bind_before[i];
    }
    const uint32_t first = p->bind_before[i] == FUSE_NONE ? 0 : p->bind_before[i] + 1;
    while (is_bind(p, i) && first + (*number - own - 1) < i) {
        const uint32_t before = first + ((*number)++ - own - 1);
        if (p->nodes[before].is_live && p->clusters[fuse_root(p, before)].last < i) return before;
    }
    return FUSE_NONE;
}

/* ---- joining what feeds ---- */

int fuse_goes_with(fuse_space *a, const fuse_space *b)
{
    const uint32_t wide_a = a->wide, wide_b = b->wide;
    const int is_box = fuse_space_nest(a).is_box || fuse_space_nest(b).is_box;
    if (!fuse_space_join(a, b)) return 0;
    const fuse_nest nest = fuse_space_nest(a);
    const uint32_t repeated = (a->wide & ~wide_a) | (a->wide & ~wide_b);
    return nest.is_one && (is_box || !nest.is_box) && (repeated & ~nest.known) == 0;
}

/* What a cluster would become with those of its stage that feed it. */
typedef struct joint {
    uint32_t *roots, count;
    uint32_t op_count;
    fuse_space space;
    const char *obstacle; /* why they cannot be one nest, or NULL */
} joint;

static const char *add_root(fuse_plan *p, joint *j, uint32_t root)
{
    j->roots[j->count++] = root;
    j->op_count += p->clusters[root].op_count;
    if (j->op_count > p->max_ops) return "the group would have more ops than `max-ops`";
    if (!fuse_goes_with(&j->space, &p->clusters[root].space)) return "its dims and theirs do not make one nest";
    return NULL;
}

static const char *join_feeder(fuse_plan *p, joint *j, uint32_t cluster, uint32_t index, uint32_t k)
{
    const fuse_node *n = &p->nodes[index];
    const uint32_t made = n->in[k];
    if (n->role == FUSE_PRODUCT) return NULL;
    if (made == FUSE_NONE || p->nodes[made].role == FUSE_OTHER || fuse_is_copied(p, made, index)) return NULL;
    const uint32_t root = fuse_root(p, made);
    if (root == cluster || p->clusters[root].stage != p->clusters[cluster].stage) return NULL;
    if (p->nodes[made].role == FUSE_SOLO) return "what feeds it has a group of its own";
    if (p->nodes[made].ends_group != NULL) return p->nodes[made].ends_group;
    if (n->is_alone) return fuse_shared;
    if (fuse_is_pinned_apart(n, k)) return "the schedule keeps it apart";
    if (p->clusters[root].seen == cluster) return NULL;
    p->clusters[root].seen = cluster;
    return add_root(p, j, root);
}

static joint find_joint(fuse_plan *p, uint32_t cluster)
{
    const fuse_cluster *c = &p->clusters[cluster];
    joint j = {.op_count = c->op_count, .space = c->space};
    uint32_t feeders = 0;
    for (uint32_t m = c->head; m != FUSE_NONE; m = p->nodes[m].next) feeders += p->nodes[m].in_count;
    j.roots = PTO_SCRATCH(p->run, uint32_t, feeders);
    for (uint32_t m = c->head; m != FUSE_NONE; m = p->nodes[m].next)
        for (uint32_t k = 0; k < p->nodes[m].in_count && j.obstacle == NULL; k++) {
            j.obstacle = join_feeder(p, &j, cluster, m, k);
            p->nodes[m].obstacle = j.obstacle;
        }
    return j;
}

static void join_feeders(fuse_plan *p, uint32_t cluster)
{
    fuse_cluster *c = &p->clusters[cluster];
    const joint j = find_joint(p, cluster);
    if (j.obstacle != NULL) c->stage++;
    if (j.obstacle != NULL || j.count == 0) return;
    fuse_cluster *into = &p->clusters[j.roots[0]];
    into->op_count = j.op_count;
    into->space = j.space;
    for (uint32_t i = 1; i < j.count; i++) fuse_merge(p, j.roots[0], j.roots[i]);
    fuse_merge(p, j.roots[0], cluster);
}

/* ---- the order ---- */

enum { WAITS, OPEN, PLACED };

/* Something that the cluster needs and that was not looked at; FUSE_NONE when there is nothing left. */
static uint32_t next_need(fuse_plan *p, uint32_t cluster)
{
    fuse_cluster *c = &p->clusters[cluster];
    for (; c->at != FUSE_NONE; c->at = p->nodes[c->at].next, c->at_need = 0) {
        uint32_t made;
        while ((made = need_at(p, c->at, &c->at_need)) != FUSE_NONE) {
            const uint32_t root = fuse_root(p, made);
            if (root != cluster && p->clusters[root].state != PLACED) return root;
        }
    }
    return FUSE_NONE;
}

/* The least stage of the cluster. Vector ops may be in one stage with those that feed them while these may join. */
static uint32_t stage_of(fuse_plan *p, uint32_t cluster, int joins)
{
    uint32_t stage = 0;
    for (uint32_t m = p->clusters[cluster].head; m != FUSE_NONE; m = p->nodes[m].next) {
        uint32_t number = 0, made;
        while ((made = need_at(p, m, &number)) != FUSE_NONE) {
            const uint32_t root = fuse_root(p, made);
            if (root == cluster) continue;
            const int may_join = joins && p->nodes[m].role == FUSE_VECTOR && p->nodes[made].role >= FUSE_PRODUCT;
            const uint32_t least = p->clusters[root].stage + !may_join;
            if (least > stage) stage = least;
        }
    }
    return stage;
}

/* The clusters from `stack[from]` on need each other in a circle. Only pins make such. */
static pto_status refuse_circle(fuse_plan *p, const uint32_t *stack, uint32_t from, uint32_t depth)
{
    for (uint32_t i = from; i < depth; i++)
        if (fuse_refuse(p, stack[i], "what is between them in another group needs the one and feeds the other")) break;
    return PTO_FAILED;
}

static pto_status place_one(fuse_plan *p, uint32_t *stack, uint32_t cluster, int joins)
{
    uint32_t depth = 0;
    stack[depth++] = cluster;
    p->clusters[cluster].state = OPEN;
    while (depth != 0) {
        const uint32_t top = stack[depth - 1], need = next_need(p, top);
        if (need == FUSE_NONE) {
            fuse_cluster *c = &p->clusters[top];
            c->stage = stage_of(p, top, joins);
            c->state = PLACED;
            if (joins && p->nodes[c->head].role >= FUSE_PRODUCT) join_feeders(p, top);
            depth--;
        } else if (p->clusters[need].state == OPEN) {
            uint32_t from = depth;
            while (stack[--from] != need) {
            }
            return refuse_circle(p, stack, from, depth);
        } else {
            p->clusters[need].state = OPEN;
            stack[depth++] = need;
        }
    }
    return PTO_OK;
}

pto_status fuse_place(fuse_plan *p, int joins)
{
    uint32_t *stack = PTO_SCRATCH(p->run, uint32_t, p->count);
    for (uint32_t i = 0; i < p->count; i++) {
        fuse_cluster *c = &p->clusters[i];
        c->state = WAITS;
        c->at = c->head;
        c->at_need = 0;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t root = fuse_root(p, i);
        if (p->nodes[i].is_live && p->clusters[root].state == WAITS) PTO_TRY(place_one(p, stack, root, joins));
    }
    return PTO_OK;
}
