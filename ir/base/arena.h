/* Arenas: all memory of the compiler lives in one, by lifetime (session, module, pass run, scratch).
 *
 * Returned memory is zero and aligned to 16 bytes or to what was asked. Nothing is freed one by one.
 * Out of memory is handled here and nowhere else: one line on stderr, exit status 75.
 * Threads: an arena belongs to one thread at a time. */
#ifndef IR_BASE_ARENA_H
#define IR_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct arena arena;

/* Makes an empty arena. `name` appears in `--timing`; it must outlive the arena. */
arena *arena_create(const char *name);
void arena_destroy(arena *a);

/* Zeroed bytes, 16-byte aligned. `bytes` may be 0; the result is never NULL. */
void *arena_alloc(arena *a, size_t bytes);
void *arena_alloc_aligned(arena *a, size_t bytes, size_t align);

/* `count * size` zeroed bytes; an overflow of the product counts as out of memory. */
void *arena_array(arena *a, size_t count, size_t size);

/* Copies of bytes; the string copy is NUL-terminated whatever the source was. */
void *arena_copy(arena *a, const void *bytes, size_t len);
char *arena_strndup(arena *a, const char *text, size_t len);
char *arena_strdup(arena *a, const char *text);

/* A place to return to. Everything allocated after the mark is released by arena_rewind, and poisoned under
 * AddressSanitizer. */
typedef struct arena_mark {
    void *chunk;
    size_t used;
} arena_mark;
arena_mark arena_here(const arena *a);
void arena_rewind(arena *a, arena_mark mark);

/* Releases everything, and returns all but a few MiB to the system: for an arena of many small uses and a few large. */
void arena_reset(arena *a);

/* Bytes handed out and bytes taken from the system, for `--timing` and the benchmarks. */
size_t arena_bytes_used(const arena *a);
size_t arena_bytes_reserved(const arena *a);

/* A larger array in the arena for `count` elements of `size` bytes, which it begins with: for lists that end with their
 * arena. Counts what it has space for in `*capacity`, 16 or twice as many; the new part is zero. */
void *arena_grow(arena *a, const void *items, uint32_t count, uint32_t *capacity, size_t size);

/* Grows a heap array outside any arena: for the few tables that are resized often. `*capacity` counts elements.
 * The new part is zero. `items` may be NULL with capacity 0. Release with table_free. */
void *table_grow(void *items, size_t *capacity, size_t wanted, size_t size);
void table_free(void *items);

#endif
