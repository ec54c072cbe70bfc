/* plugins/shared/native/native_constants.h: what stays, and what goes with the version. */
#include "tests/unit/unit.h"

#include <native_constants.h>

#include <string.h>

static native_constants constants_of(uint64_t bytes_max)
{
    return (native_constants){.memory = native_arena_begin(bytes_max)};
}

/* With a key of the bytes of the text. */
static char *keep(native_constants *c, const char *key, size_t bytes, bool **is_made)
{
    return native_constants_keep(c, key, strlen(key), bytes, is_made);
}

TEST(nothing_stays_without_a_version)
{
    native_constants c = constants_of(1 << 20);
    bool *is_made = NULL;
    assert_null(keep(&c, "w", 64, &is_made));
    native_constants_begin(&c, 7);
    assert_non_null(keep(&c, "w", 64, &is_made));
    native_constants_begin(&c, 0);
    assert_null(keep(&c, "w", 64, &is_made));
    assert_int_equal(c.memory.bytes_taken, 0);
    native_arena_end(&c.memory);
}

TEST(a_place_is_of_a_key_and_a_size)
{
    native_constants c = constants_of(1 << 20);
    bool *is_made = NULL, *other = NULL;
    native_constants_begin(&c, 7);
    char *place = keep(&c, "first", 64, &is_made);
    assert_int_equal((uintptr_t)place % NATIVE_ARENA_ALIGNMENT, 0);
    assert_false(*is_made);
    *is_made = true;
    const char *const keys[] = {"firs", "first1", "fjrst", ""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_ptr_not_equal(keep(&c, keys[i], 64, &other), place);
        assert_false(*other);
    }
    assert_ptr_not_equal(keep(&c, "first", 65, &other), place);
    assert_false(*other);
    native_constants_begin(&c, 7);
    assert_ptr_equal(keep(&c, "first", 64, &other), place);
    assert_true(*other);
    native_constants_begin(&c, 8);
    assert_non_null(keep(&c, "first", 64, &other));
    assert_false(*other);
    native_arena_end(&c.memory);
}

TEST(what_is_too_much_takes_nothing)
{
    native_constants c = constants_of(1000);
    bool *is_made = NULL;
    native_constants_begin(&c, 1);
    assert_null(keep(&c, "w", 1000, &is_made));
    assert_null(is_made);
    assert_int_equal(c.memory.bytes_taken, 0);
    assert_non_null(keep(&c, "w", 100, &is_made));
    native_arena_end(&c.memory);
    c = constants_of(0);
    native_constants_begin(&c, 1);
    assert_null(keep(&c, "w", 1, &is_made));
    native_arena_end(&c.memory);
}
