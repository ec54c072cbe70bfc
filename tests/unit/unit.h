/* Unit tests that register themselves: adding a file tests/unit/<library>/test_<module>.c is all.
 *
 *     TEST(rewind_gives_the_bytes_back)
 *     {
 *         assert_int_equal(...);
 *     }
 *
 * Each file becomes one executable and one ctest, unit/<module>; tests run in the order they stand in. The
 * executable takes a pattern (`test_arena '*rewind*'`). <cmocka.h> comes with this header. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka's own declaration does not say that the test ends here; compilers and analyzers then follow the NULL. */
#undef assert_non_null
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of cmocka
#define assert_non_null(pointer)                                                  \
    do {                                                                          \
        const int is_set_ = (pointer) != NULL;                                    \
        _assert_true((LargestIntegralType)is_set_, #pointer, __FILE__, __LINE__); \
        if (!is_set_) __builtin_unreachable();                                    \
    } while (0)

typedef struct unit_test {
    const char *name;
    void (*run)(void **state);
    struct unit_test *next;
} unit_test;

/* Appends to the list that main() runs. `test` must live as long as the program. */
void unit_register(unit_test *test);

#define TEST(name)                                                 \
    static void test_##name(void **state);                         \
    __attribute__((constructor)) static void register_##name(void) \
    {                                                              \
        static unit_test self = {#name, test_##name, NULL};        \
        unit_register(&self);                                      \
    }                                                              \
    static void test_##name(void **state __attribute__((unused)))

#endif
