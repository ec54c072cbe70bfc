/* plugins/shared/native/native_constants.h: what stays, and what goes with the version. */
#include "tests/unit/unit.h"

#include <native_constants.h>

static native_constants constants_of(uint64_t bytes_max)
{
    return (native_constants){.memory = native_arena_begin(bytes_max)};
}

TEST(nothing_stays_without_a_version)
{
    native_constants c = constants_of(1 << 20);
    bool *is_made = NULL;
    assert_null(native_constants_keep(&c, 1, &c, 64, &is_made));
    native_constants_begin(&c, 7);
    assert_non_null(native_constants_keep(&c, 1, &c, 64, &is_made));
    native_constants_begin(&c, 0);
    assert_null(native_constants_keep(&c, 1, &c, 64, &is_made));
    assert_int_equal(c.memory.bytes_taken, 0);
    native_arena_end(&c.memory);
}

TEST(a_place_is_of_a_number_an_address_and_a_size)
{
    native_constants c = constants_of(1 << 20);
    char first, second;
    bool *is_made = NULL, *other = NULL;
    native_constants_begin(&c, 7);
    char *place = native_constants_keep(&c, 1, &first, 64, &is_made);
    assert_int_equal((uintptr_t)place % NATIVE_ARENA_ALIGNMENT, 0);
    assert_false(*is_made);
    *is_made = true;
    assert_ptr_not_equal(native_constants_keep(&c, 2, &first, 64, &other), place);
    assert_false(*other);
    assert_ptr_not_equal(native_constants_keep(&c, 1, &second, 64, &other), place);
    assert_false(*other);
    assert_ptr_not_equal(native_constants_keep(&c, 1, &first, 65, &other), place);
    assert_false(*other);
    native_constants_begin(&c, 7);
    assert_ptr_equal(native_constants_keep(&c, 1, &first, 64, &other), place);
    assert_true(*other);
    native_constants_begin(&c, 8);
    assert_non_null(native_constants_keep(&c, 1, &first, 64, &other));
    assert_false(*other);
    native_arena_end(&c.memory);
}

TEST(what_is_too_much_takes_nothing)
{
    native_constants c = constants_of(1000);
    bool *is_made = NULL;
    native_constants_begin(&c, 1);
    assert_null(native_constants_keep(&c, 1, &c, 1000, &is_made));
    assert_null(is_made);
    assert_int_equal(c.memory.bytes_taken, 0);
    assert_non_null(native_constants_keep(&c, 1, &c, 100, &is_made));
    native_arena_end(&c.memory);
    c = constants_of(0);
    native_constants_begin(&c, 1);
    assert_null(native_constants_keep(&c, 1, &c, 1, &is_made));
    native_arena_end(&c.memory);
}
