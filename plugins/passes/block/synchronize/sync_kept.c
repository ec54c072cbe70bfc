#include "sync_kept.h"

/* ---- the key ---- */

static void put(sync_key *key, uint64_t word)
{
    if (key->count < SYNC_KEY_WORDS) key->words[key->count] = word;
    if (key->count <= SYNC_KEY_WORDS) key->count++;
}

static void put_two(sync_key *key, uint32_t low, uint32_t high) { put(key, (uint64_t)high << 32 | low); }

static void put_pipes(sync_key *key, const sync_model *m)
{
    put_two(key, m->pipe_end, m->scalar);
    for (uint32_t p = 1; p < m->pipe_end; p++) {
        put(key, m->overlaps[p]);
        for (uint32_t q = 1; q < m->pipe_end; q++) put(key, m->first_event[p][q]);
    }
}

static void put_ops(sync_key *key, const sync_model *m)
{
    for (uint32_t i = 1; i < m->count; i++) {
        const sync_op *o = &m->ops[i];
        const uint32_t answers = (uint32_t)(o->is_counted != 0) << 1 | (o->has_trip != 0);
        put_two(key, (uint32_t)o->role << 8 | (uint32_t)o->at->kind << 4 | answers, o->at->block);
        put_two(key, o->at->parent, o->cycle);
        put_two(key, o->pipe, o->dst_pipe);
        put_two(key, o->trips, o->period);
        put_two(key, o->access_count, o->pair_count);
    }
}

static void put_accesses(sync_key *key, const sync_model *m)
{
    for (uint32_t i = 0; i < m->access_count; i++) {
        const sync_access *a = &m->accesses[i];
        put_two(key, (uint32_t)a->space << 1 | (a->is_write != 0), a->cycle);
        if (a->space == PTO_SPACE_NONE) continue;
        put(key, (uint64_t)a->stages);
        put(key, (uint64_t)a->pitch);
        put(key, (uint64_t)a->first);
        put(key, (uint64_t)a->bytes);
    }
    for (uint32_t i = 0; i < m->pair_count; i++) {
        const sync_pair *p = &m->pairs[i];
        put_two(key, p->first, p->second);
        put_two(key, (uint32_t)(p->on_chip != 0) << 1 | (p->in_gm != 0), p->gm_by);
    }
}

static void put_cycles(sync_key *key, const sync_model *m)
{
    put_two(key, m->cycles->count, m->cycles->invariant_count);
    for (uint32_t i = 0; i < m->cycles->invariant_count; i++) put(key, m->invariant_periods[i]);
    for (uint32_t i = 0; i < m->cycles->count; i++) {
        const sync_cycle *c = &m->cycles->items[i];
        uint32_t count = c->is_known != 0;
        put_two(key, count, c->rank);
        for (uint32_t k = 0; k < c->rank; k++) {
            put_two(key, c->variables[k], c->periods[k]);
            count *= c->periods[k];
        }
        for (uint32_t k = 0; k < count; k++) put(key, (uint64_t)c->values[k]);
    }
}

void sync_key_of(const sync_model *m, sync_key *out)
{
    out->count = 0;
    put_two(out, m->count, m->access_count);
    put(out, m->pair_count);
    put_pipes(out, m);
    put_ops(out, m);
    put_accesses(out, m);
    put_cycles(out, m);
}

/* The first flag whose stages are numbered alike. */
static uint32_t numbered_as(const sync_plan *plan, uint32_t flag)
{
    uint32_t i = 0;
    const sync_flag *f = &plan->flags[flag];
    while (i < flag && (plan->flags[i].stages == 1 || !sync_is_same_number(plan->flags[i].stage, f->stage))) i++;
    return i;
}

void sync_key_add_plan(sync_key *key, const sync_plan *plan)
{
    put_two(key, plan->count, plan->implied);
    put(key, (uint64_t)plan->event_ids);
    for (uint32_t i = 0; i < plan->count; i++) {
        const sync_flag *f = &plan->flags[i];
        put_two(key, f->src, f->dst);
        put_two(key, f->set, f->wait);
        put_two(key, f->around, f->until);
        put_two(key, f->behind, f->leads);
        put(key, (uint64_t)f->stages);
        if (f->stages > 1) put_two(key, f->cycle, numbered_as(plan, i));
    }
}

/* ---- what is kept ---- */

enum { KEPT = 8, KEPT_FLAGS = 64 };

static uint32_t slot_of(const sync_key *key) { return (key->count + (uint32_t)key->words[0]) % KEPT; }

static int is_same(const sync_key *a, const sync_key *b)
{
    return a->count == b->count && memcmp(a->words, b->words, a->count * sizeof *a->words) == 0;
}

static void copy_key(sync_key *into, const sync_key *key)
{
    into->count = key->count;
    memcpy(into->words, key->words, key->count * sizeof *key->words);
}

static sync_key *checked_at(const sync_model *m, const sync_key *key)
{
    return (sync_key *)pto_recall(m->run, PTO_STR("checked"), KEPT * sizeof *key) + slot_of(key);
}

int sync_find_checked(const sync_model *m, const sync_key *key)
{
    return key->count <= SYNC_KEY_WORDS && is_same(checked_at(m, key), key);
}

void sync_keep_checked(const sync_model *m, const sync_key *key)
{
    if (key->count <= SYNC_KEY_WORDS) copy_key(checked_at(m, key), key);
}

/* The flags without `stage`, which belongs to a kernel: `cycle` says which it is. */
typedef struct kept_plan {
    sync_key key;
    uint32_t count, barriers, implied, merged;
    sync_flag flags[KEPT_FLAGS];
} kept_plan;

static kept_plan *plan_at(const sync_model *m, const sync_key *key)
{
    return (kept_plan *)pto_recall(m->run, PTO_STR("plans"), KEPT * sizeof(kept_plan)) + slot_of(key);
}

int sync_find_plan(sync_plan *plan, const sync_key *key)
{
    const sync_model *m = plan->m;
    if (key->count > SYNC_KEY_WORDS) return 0;
    const kept_plan *kept = plan_at(m, key);
    if (!is_same(&kept->key, key)) return 0;
    plan->count = 0;
    for (uint32_t i = 0; i < kept->count; i++) {
        PTO_GROW(m->run, plan->flags, plan->count, plan->capacity);
        sync_flag *f = &plan->flags[plan->count++];
        *f = kept->flags[i];
        if (f->stages > 1) f->stage = m->cycles->items[f->cycle].expr;
    }
    plan->barriers = kept->barriers;
    plan->implied = kept->implied;
    plan->merged = kept->merged;
    return 1;
}

void sync_keep_plan(const sync_plan *plan, const sync_key *key)
{
    if (key->count > SYNC_KEY_WORDS || plan->count > KEPT_FLAGS) return;
    kept_plan *kept = plan_at(plan->m, key);
    copy_key(&kept->key, key);
    kept->count = plan->count;
    kept->barriers = plan->barriers;
    kept->implied = plan->implied;
    kept->merged = plan->merged;
    for (uint32_t i = 0; i < plan->count; i++) {
        kept->flags[i] = plan->flags[i];
        kept->flags[i].stage = pto_expr_none(NULL);
    }
}
