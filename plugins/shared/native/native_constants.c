#include "native_constants.h"

/* In the memory of its constants. */
typedef struct native_made {
    void *memory;
    bool is_made;
    uint32_t number;
    const void *of;
    size_t bytes;
    struct native_made *next;
} native_made;

void native_constants_begin(native_constants *c, uint64_t version)
{
    if (c->version == version) return;
    c->version = version;
    c->newest = NULL;
    native_arena_reset(&c->memory);
}

static native_made *find(const native_constants *c, uint32_t number, const void *of, size_t bytes)
{
    native_made *m = c->newest;
    while (m != NULL && (m->number != number || m->of != of || m->bytes != bytes)) m = m->next;
    return m;
}

static native_made *add(native_constants *c, uint32_t number, const void *of, size_t bytes)
{
    void *place = NULL, *memory = NULL;
    const uint64_t before = native_arena_mark(&c->memory);
    if (native_arena_take(&c->memory, sizeof(native_made), &place, NULL) != NATIVE_OK ||
        native_arena_take(&c->memory, bytes, &memory, NULL) != NATIVE_OK) {
        native_arena_release(&c->memory, before);
        return NULL;
    }
    native_made *const m = place;
    *m = (native_made){.memory = memory, .number = number, .of = of, .bytes = bytes, .next = c->newest};
    return c->newest = m;
}

void *native_constants_keep(native_constants *c, uint32_t number, const void *of, size_t bytes, bool **is_made)
{
    if (c->version == 0) return NULL;
    native_made *m = find(c, number, of, bytes);
    if (m == NULL) m = add(c, number, of, bytes);
    if (m == NULL) return NULL;
    *is_made = &m->is_made;
    return m->memory;
}
