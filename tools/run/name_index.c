#include "tools/run/name_index.h"

#include "tools/base/digest.h"

/* Where the name is, or would be. */
static name_slot *slot_of(const name_index *x, str name)
{
    size_t at = digest_add(DIGEST_OF_NOTHING, name.p, name.n) & (x->capacity - 1);
    while (x->slots[at].number != 0 && !str_eq(x->slots[at].name, name)) at = (at + 1) & (x->capacity - 1);
    return &x->slots[at];
}

bool name_index_find(const name_index *x, str name, uint32_t *out_number)
{
    const name_slot *s = x->capacity != 0 ? slot_of(x, name) : NULL;
    if (s == NULL || s->number == 0) return false;
    *out_number = s->number - 1;
    return true;
}

static void grow(arena *a, name_index *x)
{
    const name_index old = *x;
    x->capacity = old.capacity != 0 ? 2 * old.capacity : 32;
    x->slots = arena_array(a, x->capacity, sizeof *x->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].number != 0) *slot_of(x, old.slots[i].name) = old.slots[i];
}

void name_index_put(arena *a, name_index *x, str name, uint32_t number)
{
    if (2 * (x->count + 1) > x->capacity) grow(a, x);
    *slot_of(x, name) = (name_slot){name, number + 1};
    x->count++;
}
