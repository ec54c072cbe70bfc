/* plugins/shared/native/native_arena.h: alignment, what is kept between calls, the limit. */
#include "tests/unit/plugins/native_fixture.h"

#include <native_arena.h>

enum { MIB = 1024 * 1024 };

static char *take(native_arena *a, uint64_t bytes)
{
    void *memory = NULL;
    native_error e;
    assert_int_equal(native_arena_take(a, bytes, &memory, &e), NATIVE_OK);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % NATIVE_ARENA_ALIGNMENT, 0);
    if (bytes > 0) memset(memory, 0x5a, bytes);
    return memory;
}

TEST(memory_is_aligned_and_apart)
{
    native_arena a = native_arena_begin(64 * MIB);
    char *x = take(&a, 1), *y = take(&a, 100), *none = take(&a, 0), *z = take(&a, 5 * MIB + 3), *w = take(&a, 64);
    assert_ptr_equal(y, x + 64);
    assert_ptr_equal(none, y + 128);
    assert_int_equal(x[0], 0x5a);
    assert_int_equal(y[99], 0x5a);
    assert_int_equal(z[5 * MIB + 2], 0x5a);
    assert_int_equal(w[63], 0x5a);
    native_arena_end(&a);
    assert_int_equal(a.bytes, 0);
}

TEST(big_blocks_begin_where_huge_pages_do)
{
    native_arena a = native_arena_begin(64 * MIB);
    assert_int_equal((uintptr_t)take(&a, 5 * MIB) % (2 * MIB), 0);
    assert_int_equal(a.bytes, 6 * MIB);
    native_arena_end(&a);
}

TEST(the_next_call_finds_the_memory_in_one_block)
{
    native_arena a = native_arena_begin(64 * MIB);
    take(&a, 3 * MIB);
    take(&a, 3 * MIB);
    assert_int_equal(a.block_count, 2);
    native_arena_reset(&a);
    char *first = take(&a, 3 * MIB);
    assert_ptr_equal(take(&a, 3 * MIB), first + 3 * MIB);
    assert_int_equal(a.block_count, 1);
    native_arena_reset(&a);
    assert_ptr_equal(take(&a, 100), first);
    native_arena_reset(&a);
    assert_ptr_equal(take(&a, 3 * MIB), first);
    native_arena_end(&a);
}

TEST(a_mark_releases_what_came_after_it)
{
    native_arena a = native_arena_begin(64 * MIB);
    char *x = take(&a, 100);
    const uint64_t mark = native_arena_mark(&a);
    char *y = take(&a, 200);
    take(&a, 5 * MIB);
    assert_int_equal(a.block_count, 2);
    native_arena_release(&a, mark);
    assert_int_equal(a.block_count, 1);
    assert_ptr_equal(take(&a, 200), y);
    native_arena_release(&a, 0);
    assert_ptr_equal(take(&a, 200), x);
    native_arena_end(&a);
}

TEST(many_blocks_are_found_again)
{
    enum { COUNT = 300 };
    native_arena a = native_arena_begin((uint64_t)COUNT * 2 * MIB);
    char *all[COUNT];
    for (int i = 0; i < COUNT; i++) {
        all[i] = take(&a, MIB);
        all[i][0] = (char)i;
    }
    assert_int_equal(a.block_count, COUNT);
    for (int i = 0; i < COUNT; i++) assert_int_equal(all[i][0], (char)i);
    native_arena_release(&a, 2 * MIB);
    assert_int_equal(a.block_count, 2);
    native_arena_end(&a);
    assert_int_equal(a.bytes, 0);
    assert_null(a.newest);
}

TEST(the_limit_is_one_of_bytes)
{
    native_fixture f = {.folder = ""};
    native_arena a = native_arena_begin(1000 * 64);
    take(&a, 999 * 64);
    void *memory = NULL;
    assert_int_equal(native_arena_take(&a, 65, &memory, &f.e), NATIVE_NO_MEMORY);
    assert_string_equal(f.e.text, "a workspace of 128 bytes is needed beside 63936 bytes, the limit is 64000 bytes");
    assert_null(memory);
    take(&a, 64);
    assert_int_equal(native_arena_take(&a, UINT64_MAX, &memory, &f.e), NATIVE_NO_MEMORY);
    native_arena_end(&a);
    a = native_arena_begin(UINT64_MAX);
    assert_int_equal(native_arena_take(&a, UINT64_MAX, &memory, &f.e), NATIVE_NO_MEMORY);
    native_arena_end(&a);
}

TEST(what_the_system_does_not_have)
{
    native_fixture f = {.folder = ""};
    native_arena a = native_arena_begin(UINT64_MAX);
    void *memory = NULL;
    assert_int_equal(native_arena_take(&a, (uint64_t)1 << 50, &memory, &f.e), NATIVE_NO_MEMORY);
    assert_string_equal(f.e.text, "a workspace of 1125899906842624 bytes cannot be had: Cannot allocate memory");
    assert_int_equal(a.bytes, 0);
    take(&a, 10);
    native_arena_end(&a);
}
