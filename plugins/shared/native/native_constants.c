#include "native_constants.h"

#include <string.h>

/* In the memory of its constants, its key after it. */
typedef struct native_made {
    void *memory;
    bool is_made;
    size_t bytes, key_bytes;
    struct native_made *next;
} native_made;

void native_constants_begin(native_constants *c, uint64_t version)
{
    if (c->version == version) return;
    c->version = version;
    c->newest = NULL;
    native_arena_reset(&c->memory);
}

static native_made *find(const native_constants *c, const void *key, size_t key_bytes, size_t bytes)
{
    native_made *m = c->newest;
    while (m != NULL && (m->bytes != bytes || m->key_bytes != key_bytes || memcmp(m + 1, key, key_bytes) != 0))
        m = m->next;
    return m;
}

static native_made *add(native_constants *c, const void *key, size_t key_bytes, size_t bytes)
{
    void *place = NULL, *memory = NULL;
    const uint64_t before = native_arena_mark(&c->memory);
    if (native_arena_take(&c->memory, sizeof(native_made) + key_bytes, &place, NULL) != NATIVE_OK ||
        native_arena_take(&c->memory, bytes, &memory, NULL) != NATIVE_OK) {
        native_arena_release(&c->memory, before);
        return NULL;
    }
    native_made *const m = place;
    *m = (native_made){.memory = memory, .bytes = bytes, .key_bytes = key_bytes, .next = c->newest};
    memcpy(m + 1, key, key_bytes);
    return c->newest = m;
}

void *native_constants_keep(native_constants *c, const void *key, size_t key_bytes, size_t bytes, bool **is_made)
{
    if (c->version == 0) return NULL;
    native_made *m = find(c, key, key_bytes, bytes);
    if (m == NULL) m = add(c, key, key_bytes, bytes);
    if (m == NULL) return NULL;
    *is_made = &m->is_made;
    return m->memory;
}
