/* Operands of kernels for tests: numbers from a seed, and memory beyond which nothing is mapped, so that a kernel that
 * touches a byte outside ends the test. */
#ifndef TESTS_UNIT_PLUGINS_KERNEL_OPERANDS_H
#define TESTS_UNIT_PLUGINS_KERNEL_OPERANDS_H

#include "tests/unit/unit.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

/* The seed of what is drawn next. */
static uint64_t draws;

static inline uint32_t draw(uint32_t below)
{
    draws = draws * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(draws >> 33) % below;
}

/* Bytes that end where a page ends, with nothing mapped beyond, or begin where one begins; zeros. */
typedef struct guarded {
    unsigned char *pages, *bytes;
    size_t mapped;
} guarded;

static inline guarded guarded_new(int64_t bytes, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = ((size_t)bytes + page - 1) / page * page + page;
    guarded g = {.mapped = inside + page};
    g.pages = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.pages != MAP_FAILED);
    assert_int_equal(mprotect(at_end ? g.pages + inside : g.pages, page, PROT_NONE), 0);
    g.bytes = at_end ? g.pages + inside - bytes : g.pages + page;
    return g;
}

static inline void guarded_free(guarded *g) { assert_int_equal(munmap(g->pages, g->mapped), 0); }

#endif
