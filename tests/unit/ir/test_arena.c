#include "ir/base/arena.h"

#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool all_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != 0) return false;
    }
    return true;
}

TEST(arena_memory_is_zero_aligned_and_apart)
{
    arena *a = arena_create("test");
    char *last = NULL;
    for (size_t n = 1; n < 5000; n += 37) {
        char *p = arena_alloc(a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        assert_true(all_zero(p, n));
        memset(p, 0xFF, n);
        if (last != NULL) assert_ptr_not_equal(p, last);
        last = p;
    }
    assert_int_equal((uintptr_t)arena_alloc_aligned(a, 1, 4096) % 4096, 0);
    assert_true(arena_bytes_reserved(a) >= arena_bytes_used(a));
    arena_destroy(a);
}

TEST(arena_gives_one_allocation_larger_than_any_chunk)
{
    arena *a = arena_create("test");
    size_t n = 5 * 1024 * 1024 + 3;
    char *p = arena_alloc(a, n);
    p[0] = 1;
    p[n - 1] = 1;
    assert_true(arena_bytes_used(a) >= n);
    arena_destroy(a);
}

TEST(arena_rewind_releases_and_gives_zero_again)
{
    arena *a = arena_create("test");
    int *kept = arena_array(a, 4, sizeof *kept);
    kept[3] = 7;
    arena_mark mark = arena_here(a);
    size_t used = arena_bytes_used(a);
    size_t reserved = 0;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 100; i++) {
            char *p = arena_alloc(a, 1000);
            assert_true(all_zero(p, 1000));
            memset(p, 0xAA, 1000);
        }
        arena_rewind(a, mark);
        assert_int_equal(arena_bytes_used(a), used);
        if (round == 0) reserved = arena_bytes_reserved(a);
        assert_int_equal(arena_bytes_reserved(a), reserved);
    }
    assert_int_equal(kept[3], 7);
    arena_destroy(a);
}

TEST(arena_reset_keeps_a_few_mebibytes)
{
    enum { BLOCK = 64 * 1024, BLOCKS = 512 };
    arena *a = arena_create("test");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            char *p = arena_alloc(a, BLOCK);
            assert_int_equal(p[0], 0);
            memset(p, 1, BLOCK);
        }
        assert_true(arena_bytes_reserved(a) >= (size_t)BLOCK * BLOCKS);
        arena_reset(a);
        assert_int_equal(arena_bytes_used(a), 0);
        assert_true(arena_bytes_reserved(a) <= 4 * 1024 * 1024);
    }
    const size_t kept = arena_bytes_reserved(a);
    arena_reset(a);
    assert_int_equal(arena_bytes_reserved(a), kept);
    arena_alloc(a, BLOCK);
    assert_int_equal(arena_bytes_reserved(a), kept);
    arena_destroy(a);
}

TEST(arena_rewind_to_the_empty_arena)
{
    arena *a = arena_create("test");
    arena_mark mark = arena_here(a);
    memset(arena_alloc(a, 100), 1, 100);
    arena_rewind(a, mark);
    assert_int_equal(arena_bytes_used(a), 0);
    assert_true(all_zero(arena_alloc(a, 100), 100));
    arena_destroy(a);
}

TEST(arena_copies_of_text_end_in_nul)
{
    arena *a = arena_create("test");
    const char bytes[3] = {'a', 'b', 'c'};
    assert_string_equal(arena_strndup(a, bytes, 2), "ab");
    assert_string_equal(arena_strdup(a, "softmax"), "softmax");
    assert_string_equal(arena_strndup(a, NULL, 0), "");
    assert_memory_equal(arena_copy(a, bytes, 3), bytes, 3);
    arena_destroy(a);
}

/* Runs `count * size` in a child and returns its exit status. */
static int exit_status_of_array(size_t count, size_t size)
{
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        arena *a = arena_create("test");
        arena_array(a, count, size);
        _exit(0);
    }
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

TEST(arena_out_of_memory_exits_with_75)
{
    assert_int_equal(exit_status_of_array(8, 8), 0);
    assert_int_equal(exit_status_of_array(SIZE_MAX / 4, 8), 75);
    assert_int_equal(exit_status_of_array(SIZE_MAX - 4, 1), 75);
}

TEST(table_grow_keeps_the_old_and_clears_the_new)
{
    size_t capacity = 0;
    uint32_t *items = NULL;
    for (uint32_t i = 0; i < 1000; i++) {
        items = table_grow(items, &capacity, i + 1, sizeof *items);
        assert_true(capacity > i);
        assert_int_equal(items[i], 0);
        items[i] = i + 1;
    }
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(items[i], i + 1);
    table_free(items);
}

TEST(arena_of_large_size_is_zeroed_like_a_small_one)
{
    enum { BLOCK = 1024 * 1024, BLOCKS = 40 };
    arena *a = arena_create("test");
    arena_mark start = arena_here(a);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            /* One is larger than the chunks of huge pages. */
            size_t bytes = i == BLOCKS / 2 ? (size_t)16 * BLOCK : BLOCK;
            char *p = arena_alloc(a, bytes);
            assert_int_equal(p[0] | p[bytes / 2] | p[bytes - 1], 0);
            memset(p, 0x5A, bytes);
        }
        assert_true(arena_bytes_used(a) >= (size_t)(BLOCKS + 15) * BLOCK);
        arena_rewind(a, start);
    }
    arena_destroy(a);
}
