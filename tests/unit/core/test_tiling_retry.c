/* Which nests are sent back for other sizes, and when no longer. */
#include "core/host/tiling_retry.h"
#include "tests/unit/unit.h"

TEST(sends_back_the_nests_of_a_kernel)
{
    arena *a = arena_create("test");
    tiling_retry *r = tiling_retry_create(a);
    assert_false(tiling_retry_ask(r, STR("f_0")));
    for (int i = 0; i < 40; i++)
        assert_int_equal(tiling_retry_next(r, STR("f"), i % 2 == 0 ? STR("f_0") : STR("f_1")), 0);
    assert_false(tiling_retry_is_wanted(r));
    assert_false(tiling_retry_ask(r, STR("other")));
    assert_true(tiling_retry_ask(r, STR("f_1")));
    /* Once for each time that the steps run. */
    assert_true(tiling_retry_ask(r, STR("f_1")));
    assert_true(tiling_retry_is_wanted(r));
    tiling_retry_restart(r);
    assert_false(tiling_retry_is_wanted(r));
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(tiling_retry_next(r, STR("f"), i % 2 == 0 ? STR("f_0") : STR("f_1")), i % 2);
    /* A function that was not made kernels yet has all nests of its own. */
    assert_true(tiling_retry_ask(r, STR("f")));
    tiling_retry_restart(r);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(tiling_retry_next(r, STR("f"), i % 2 == 0 ? STR("f_0") : STR("f_1")), 1 + i % 2);
    arena_destroy(a);
}

TEST(stands_when_there_is_no_other)
{
    arena *a = arena_create("test");
    tiling_retry *r = tiling_retry_create(a);
    (void)tiling_retry_next(r, STR("f"), STR("f_0"));
    assert_true(tiling_retry_ask(r, STR("f_0")));
    tiling_retry_restart(r);
    assert_int_equal(tiling_retry_next(r, STR("f"), STR("f_0")), 1);
    tiling_retry_give_up(r);
    assert_true(tiling_retry_is_wanted(r));
    tiling_retry_restart(r);
    assert_int_equal(tiling_retry_next(r, STR("f"), STR("f_0")), 0);
    assert_false(tiling_retry_ask(r, STR("f_0")));
    arena_destroy(a);
}

TEST(ends_after_some_times)
{
    arena *a = arena_create("test");
    tiling_retry *r = tiling_retry_create(a);
    for (uint32_t round = 0; round < TILING_RETRIES_MAX; round++) {
        assert_int_equal(tiling_retry_next(r, STR("f"), STR("f_0")), round);
        assert_true(tiling_retry_ask(r, STR("f_0")));
        tiling_retry_restart(r);
    }
    (void)tiling_retry_next(r, STR("f"), STR("f_0"));
    assert_false(tiling_retry_ask(r, STR("f_0")));
    arena_destroy(a);
}
