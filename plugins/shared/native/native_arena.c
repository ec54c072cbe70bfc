#include "native_arena.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SMALLEST_BLOCK_BYTES = 1024 * 1024,
    HUGE_PAGE_BYTES = 2 * 1024 * 1024,
    SMALLEST_WITH_HUGE_PAGES = 2 * HUGE_PAGE_BYTES
};

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* `bytes` in whole pages, huge ones if there are many, from an address that such a page can have, and space for a block
 * after them. NULL with errno set. */
static char *map(uint64_t bytes)
{
    const bool is_huge = bytes >= SMALLEST_WITH_HUGE_PAGES;
    const uint64_t spare = is_huge ? HUGE_PAGE_BYTES : 0, all = bytes + sizeof(native_arena_block);
    if (bytes > INT64_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    char *from = mmap(NULL, all + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED) return NULL;
    if (!is_huge) return from;
    const uint64_t before = round_up((uint64_t)(uintptr_t)from, HUGE_PAGE_BYTES) - (uint64_t)(uintptr_t)from;
    const uint64_t end = round_up(all, (uint64_t)sysconf(_SC_PAGESIZE));
    if (before > 0) munmap(from, before);
    if (before < spare) munmap(from + before + end, spare - before);
    /* A system that has none uses small ones. */
    madvise(from + before, bytes, MADV_HUGEPAGE);
    return from + before;
}

static void unmap(char *base, uint64_t bytes) { munmap(base, bytes + sizeof(native_arena_block)); }

static char *base_of(native_arena_block *b) { return (char *)b - b->bytes; }

static void drop_newest(native_arena *a)
{
    native_arena_block *const b = a->newest;
    a->newest = b->before;
    a->block_count--;
    a->bytes -= b->bytes;
    unmap(base_of(b), b->bytes);
}

/* With space for `bytes`; NULL: more than the limit, or than the system has. */
static native_arena_block *add_block(native_arena *a, uint64_t bytes, native_error *e)
{
    const uint64_t left = a->bytes_max - a->bytes;
    if (bytes > left) {
        (void)native_fail(e, NATIVE_NO_MEMORY,
                          "a workspace of %" PRIu64 " bytes is needed beside %" PRIu64 " bytes, the limit is %" PRIu64
                          " bytes",
                          bytes, a->bytes, a->bytes_max);
        return NULL;
    }
    /* As much as last time at once, in pages that are not small; but the limit is one of bytes. */
    uint64_t size = bytes > a->bytes_expected ? bytes : a->bytes_expected;
    size = round_up(size, size >= SMALLEST_WITH_HUGE_PAGES ? HUGE_PAGE_BYTES : SMALLEST_BLOCK_BYTES);
    if (size > left) size = bytes;
    char *base = map(bytes > INT64_MAX ? bytes : size); /* rounded, it may be nothing */
    if (base == NULL) {
        (void)native_fail(e, NATIVE_NO_MEMORY, "a workspace of %" PRIu64 " bytes cannot be had: %s", bytes,
                          native_errno_text(errno));
        return NULL;
    }
    void *const end = base + size;
    native_arena_block *const b = end;
    *b = (native_arena_block){.before = a->newest, .bytes = size};
    a->newest = b;
    a->block_count++;
    a->bytes += size;
    return b;
}

native_arena native_arena_begin(uint64_t bytes_max) { return (native_arena){.bytes_max = bytes_max}; }

native_status native_arena_take(native_arena *a, uint64_t bytes, void **memory, native_error *e)
{
    /* What is too much is so before it is rounded, too. */
    const uint64_t size =
        bytes > a->bytes_max || bytes > INT64_MAX ? bytes : round_up(bytes > 0 ? bytes : 1, NATIVE_ARENA_ALIGNMENT);
    native_arena_block *b = a->newest;
    if (b == NULL || size > b->bytes - b->used) b = add_block(a, size, e);
    if (b == NULL) return NATIVE_NO_MEMORY;
    *memory = base_of(b) + b->used;
    b->used += size;
    a->bytes_taken += size;
    if (a->bytes_taken > a->bytes_peak) a->bytes_peak = a->bytes_taken;
    return NATIVE_OK;
}

uint64_t native_arena_mark(const native_arena *a) { return a->bytes_taken; }

void native_arena_release(native_arena *a, uint64_t mark)
{
    while (a->bytes_taken > mark) {
        native_arena_block *b = a->newest;
        const uint64_t excess = a->bytes_taken - mark, back = excess < b->used ? excess : b->used;
        b->used -= back;
        a->bytes_taken -= back;
        if (b->used > 0 || a->block_count == 1) continue;
        drop_newest(a);
    }
}

void native_arena_reset(native_arena *a)
{
    a->bytes_expected = a->bytes_peak;
    if (a->block_count > 1 || (a->block_count == 1 && a->newest->bytes < a->bytes_peak))
        native_arena_end(a);
    else
        native_arena_release(a, 0);
    a->bytes_peak = 0;
}

void native_arena_end(native_arena *a)
{
    while (a->newest != NULL) drop_newest(a);
    a->bytes_taken = 0;
}
