#include "ir/base/arena.h"

#include "ir/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
/* The shadow has a granularity of 8 bytes, and a gap between two allocations catches the small overrun. */
enum { MIN_ALIGN = 8, GAP_BYTES = 16 };
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { MIN_ALIGN = 1, GAP_BYTES = 0 };
#endif

enum {
    DEFAULT_ALIGN = 16,
    FIRST_CHUNK_BYTES = 8 * 1024,
    LARGEST_CHUNK_BYTES = 1024 * 1024,
    KEPT_BYTES = 4 * 1024 * 1024 /* by arena_reset */
};

/* Large arenas ask for huge pages, since page faults would cost as much as the work. Below, a huge page that is used in
 * part would be too much of the whole. */
enum {
    SMALLEST_WITH_HUGE_PAGES = 4 * 1024 * 1024,
    HUGE_PAGE_BYTES = 2 * 1024 * 1024,
    HUGE_CHUNK_BYTES = 8 * 1024 * 1024
};

/* From here on a chunk comes from the system itself: calloc would write zeros to all of it, which touches pages that
 * may never be used. Leak checkers look for pointers in what calloc returned alone. */
#ifdef ARENA_ASAN
#define MAPPED_CHUNK_BYTES SIZE_MAX
#else
#define MAPPED_CHUNK_BYTES ((size_t)32 * 1024)
#endif

typedef struct chunk {
    struct chunk *next;
    size_t capacity;     /* bytes after this header */
    size_t used;         /* bytes handed out, padding included */
    size_t dirty;        /* bytes that were handed out at some time; what lies above is still zero from the system */
    size_t used_before;  /* sum of `used` of all earlier chunks */
    size_t mapped_bytes; /* 0: from calloc */
} chunk;

enum { CHUNK_HEADER_BYTES = (sizeof(chunk) + DEFAULT_ALIGN - 1) / DEFAULT_ALIGN * DEFAULT_ALIGN };

/* Chunks form one list. Those after `current` are empty leftovers of a rewind, kept for the next allocations. */
struct arena {
    const char *name;
    chunk *first, *current;
    size_t reserved_bytes;
    size_t next_chunk_bytes;
};

__attribute__((noreturn)) static void out_of_memory(const char *name, size_t bytes)
{
    fprintf(stderr, "error: out of memory: %zu more bytes needed for `%s`\n", bytes, name);
    _Exit(75);
}

static char *chunk_bytes(chunk *c) { return (char *)c + CHUNK_HEADER_BYTES; }

arena *arena_create(const char *name)
{
    arena *a = calloc(1, sizeof *a);
    if (a == NULL) out_of_memory(name, sizeof *a);
    a->name = name;
    a->next_chunk_bytes = FIRST_CHUNK_BYTES;
    return a;
}

static void chunks_free(chunk *c)
{
    while (c != NULL) {
        chunk *next = c->next;
        UNPOISON(chunk_bytes(c), c->capacity);
        if (c->mapped_bytes != 0) {
            munmap(c, c->mapped_bytes);
        } else {
            free(c);
        }
        c = next;
    }
}

void arena_destroy(arena *a)
{
    if (a == NULL) return;
    chunks_free(a->first);
    free(a);
}

/* Whole huge pages, one at least, else at most a quarter of what the arena has. */
static size_t huge_chunk_bytes(const arena *a)
{
    const size_t share = a->reserved_bytes / 4 / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if (share < HUGE_PAGE_BYTES) return HUGE_PAGE_BYTES;
    return share < HUGE_CHUNK_BYTES ? share : HUGE_CHUNK_BYTES;
}

/* NULL when there is no memory. */
static chunk *chunk_map(size_t bytes, bool has_huge_pages)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (has_huge_pages) (void)madvise(p, bytes, MADV_HUGEPAGE);
    chunk *c = p;
    c->mapped_bytes = bytes;
    return c;
}

/* Links a chunk of at least `bytes` after the current one and makes it current. */
static chunk *chunk_add(arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX - CHUNK_HEADER_BYTES) out_of_memory(a->name, bytes);
    size_t total = bytes + CHUNK_HEADER_BYTES;
    if (total < a->next_chunk_bytes) total = a->next_chunk_bytes;
    if (a->next_chunk_bytes < LARGEST_CHUNK_BYTES) a->next_chunk_bytes *= 2;
    const bool is_large = a->reserved_bytes >= SMALLEST_WITH_HUGE_PAGES && total <= huge_chunk_bytes(a);
    if (is_large) total = huge_chunk_bytes(a);
    /* One allocation that has several huge pages to itself, such as a tensor, is all in use. */
    const bool has_huge_pages = is_large || total >= 4 * HUGE_PAGE_BYTES;
    chunk *c = is_large || total >= MAPPED_CHUNK_BYTES ? chunk_map(total, has_huge_pages) : calloc(1, total);
    if (c == NULL) out_of_memory(a->name, bytes);
    c->capacity = total - CHUNK_HEADER_BYTES;
    a->reserved_bytes += total;
    POISON(chunk_bytes(c), c->capacity);
    chunk **link = a->current == NULL ? &a->first : &a->current->next;
    c->next = *link;
    *link = c;
    return c;
}

static chunk *chunk_enter_next(arena *a, size_t bytes)
{
    chunk *before = a->current;
    chunk *c = before == NULL ? a->first : before->next;
    if (c == NULL || c->capacity < bytes) c = chunk_add(a, bytes);
    c->used = 0;
    c->used_before = before == NULL ? 0 : before->used_before + before->used;
    a->current = c;
    return c;
}

/* Bytes of the chunk from the next multiple of `align` on; SIZE_MAX when they do not fit. */
static size_t chunk_start(chunk *c, size_t bytes, size_t align)
{
    uintptr_t base = (uintptr_t)chunk_bytes(c);
    size_t start = (size_t)(((base + c->used + align - 1) & ~(uintptr_t)(align - 1)) - base);
    bool fits = start <= c->capacity && bytes <= SIZE_MAX - GAP_BYTES && bytes + GAP_BYTES <= c->capacity - start;
    return fits ? start : SIZE_MAX;
}

/* Most pieces are small: a call takes longer than their bytes. */
static inline void clear(char *p, size_t bytes)
{
    if (bytes < 16 || bytes > 64) {
        memset(p, 0, bytes);
        return;
    }
    memset(p, 0, 16);
    memset(p + bytes - 16, 0, 16);
    if (bytes <= 32) return;
    memset(p + 16, 0, 16);
    memset(p + bytes - 32, 0, 16);
}

static void *chunk_take(chunk *c, size_t start, size_t bytes)
{
    char *p = chunk_bytes(c) + start;
    size_t end = start + bytes;
    UNPOISON(p, bytes);
    if (start < c->dirty) clear(p, (end < c->dirty ? end : c->dirty) - start);
    c->used = end + GAP_BYTES;
    if (c->used > c->dirty) c->dirty = c->used;
    return p;
}

static void *alloc_in_next(arena *a, size_t bytes, size_t align)
{
    for (;;) {
        if (bytes > SIZE_MAX / 2 || align > SIZE_MAX / 4) out_of_memory(a->name, bytes);
        chunk *c = chunk_enter_next(a, bytes + GAP_BYTES + align);
        size_t start = chunk_start(c, bytes, align);
        if (start != SIZE_MAX) return chunk_take(c, start, bytes);
    }
}

void *arena_alloc_aligned(arena *a, size_t bytes, size_t align)
{
    BUG_IF(align == 0 || (align & (align - 1)) != 0, "alignment %zu is not a power of two", align);
    if (align < MIN_ALIGN) align = MIN_ALIGN;
    chunk *c = a->current;
    size_t start = c != NULL ? chunk_start(c, bytes, align) : SIZE_MAX;
    return start != SIZE_MAX ? chunk_take(c, start, bytes) : alloc_in_next(a, bytes, align);
}

/* Chunks begin at a multiple of it, so that most allocations need no look at addresses. */
void *arena_alloc(arena *a, size_t bytes)
{
    chunk *c = a->current;
    if (c != NULL && bytes < SIZE_MAX / 2) {
        const size_t start = (c->used + DEFAULT_ALIGN - 1) & ~(size_t)(DEFAULT_ALIGN - 1);
        if (start <= c->capacity && bytes + GAP_BYTES <= c->capacity - start) return chunk_take(c, start, bytes);
    }
    return alloc_in_next(a, bytes, DEFAULT_ALIGN);
}

void *arena_array(arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) out_of_memory(a->name, SIZE_MAX);
    return arena_alloc(a, bytes);
}

void *arena_copy(arena *a, const void *bytes, size_t len)
{
    void *p = arena_alloc(a, len);
    if (len != 0) memcpy(p, bytes, len);
    return p;
}

char *arena_strndup(arena *a, const char *text, size_t len)
{
    if (len == SIZE_MAX) out_of_memory(a->name, len);
    char *p = arena_alloc_aligned(a, len + 1, 1);
    if (len != 0) memcpy(p, text, len);
    return p;
}

char *arena_strdup(arena *a, const char *text) { return arena_strndup(a, text, strlen(text)); }

arena_mark arena_here(const arena *a)
{
    return (arena_mark){.chunk = a->current, .used = a->current == NULL ? 0 : a->current->used};
}

void arena_rewind(arena *a, arena_mark mark)
{
    chunk *c = a->first;
    if (mark.chunk != NULL) {
        c = mark.chunk;
        BUG_IF(mark.used > c->used, "arena `%s` rewound to a mark that lies ahead", a->name);
        c->used = mark.used;
        POISON(chunk_bytes(c) + c->used, c->capacity - c->used);
        c = c->next;
    }
    a->current = mark.chunk;
    for (; c != NULL; c = c->next) {
        c->used = 0;
        POISON(chunk_bytes(c), c->capacity);
    }
}

void arena_reset(arena *a)
{
    arena_rewind(a, (arena_mark){0});
    size_t kept = 0;
    chunk **link = &a->first;
    while (*link != NULL && kept + CHUNK_HEADER_BYTES + (*link)->capacity <= KEPT_BYTES) {
        kept += CHUNK_HEADER_BYTES + (*link)->capacity;
        link = &(*link)->next;
    }
    chunks_free(*link);
    *link = NULL;
    a->reserved_bytes = kept;
}

size_t arena_bytes_used(const arena *a) { return a->current == NULL ? 0 : a->current->used_before + a->current->used; }

size_t arena_bytes_reserved(const arena *a) { return a->reserved_bytes; }

void *table_grow(void *items, size_t *capacity, size_t wanted, size_t size)
{
    if (wanted <= *capacity) return items;
    size_t more = *capacity < 8 ? 8 : *capacity;
    while (more < wanted) {
        if (more > SIZE_MAX / 2) out_of_memory("a table", wanted);
        more *= 2;
    }
    size_t bytes;
    if (__builtin_mul_overflow(more, size, &bytes)) out_of_memory("a table", SIZE_MAX);
    char *grown = realloc(items, bytes);
    if (grown == NULL) out_of_memory("a table", bytes);
    memset(grown + *capacity * size, 0, bytes - *capacity * size);
    *capacity = more;
    return grown;
}

void table_free(void *items) { free(items); }

void *arena_grow(arena *a, const void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    *capacity = *capacity == 0 ? 16 : 2 * *capacity;
    void *grown = arena_array(a, *capacity, size);
    if (count != 0) memcpy(grown, items, count * size);
    return grown;
}
