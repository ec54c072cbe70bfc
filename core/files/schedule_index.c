#include "core/files/schedule_index.h"

static uint32_t hash_text(uint32_t hash, str text)
{
    for (size_t i = 0; i < text.n; i++) hash = (hash ^ (unsigned char)text.p[i]) * UINT32_C(16777619);
    return hash;
}

/* The slot of the entry, or the free one where it would be. */
static schedule_key **slot_of(const schedule_index *x, str path, str name)
{
    uint32_t at = hash_text(hash_text(UINT32_C(2166136261), path), name) & (x->capacity - 1);
    while (x->slots[at] != NULL && !(str_eq(x->slots[at]->path, path) && str_eq(x->slots[at]->name, name)))
        at = (at + 1) & (x->capacity - 1);
    return &x->slots[at];
}

schedule_key *schedule_index_find(const schedule_index *x, str path, str name)
{
    return x->capacity != 0 ? *slot_of(x, path, name) : NULL;
}

static void grow(schedule_index *x)
{
    schedule_key **old = x->slots;
    const uint32_t before = x->capacity;
    x->capacity = before == 0 ? 64 : 2 * before;
    x->slots = arena_array(x->a, x->capacity, sizeof(schedule_key *));
    for (uint32_t i = 0; i < before; i++)
        if (old[i] != NULL) *slot_of(x, old[i]->path, old[i]->name) = old[i];
}

void schedule_index_add(schedule_index *x, schedule_key *entry)
{
    if (2 * (x->count + 1) > x->capacity) grow(x);
    schedule_key **slot = slot_of(x, entry->path, entry->name);
    if (*slot != NULL) return;
    *slot = entry;
    x->count++;
}

void schedule_index_clear(schedule_index *x)
{
    for (uint32_t i = 0; i < x->capacity; i++) x->slots[i] = NULL;
    x->count = 0;
}
