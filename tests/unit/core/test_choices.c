/* What is chosen again, and when no longer. */
#include "core/host/choices.h"
#include "tests/unit/unit.h"

static const int tile, buffers; /* steps */

TEST(sends_back_the_nests_of_a_kernel)
{
    arena *a = arena_create("test");
    choices *r = choices_create(a);
    assert_false(choices_ask(r, STR("f_0")));
    for (int i = 0; i < 40; i++)
        assert_int_equal(choices_next(r, &tile, STR("f"), i % 2 == 0 ? STR("f_0") : STR("f_1"), CHOICE_ANY), 0);
    assert_false(choices_is_wanted(r));
    assert_false(choices_ask(r, STR("other")));
    assert_true(choices_ask(r, STR("f_1")));
    /* Once for each time that the steps run. */
    assert_true(choices_ask(r, STR("f_1")));
    assert_true(choices_is_wanted(r));
    choices_restart(r);
    assert_false(choices_is_wanted(r));
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(choices_next(r, &tile, STR("f"), i % 2 == 0 ? STR("f_0") : STR("f_1"), CHOICE_ANY), i % 2);
    /* A function that was not made kernels yet has all nests of its own. */
    assert_true(choices_ask(r, STR("f")));
    choices_restart(r);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(choices_next(r, &tile, STR("f"), i % 2 == 0 ? STR("f_0") : STR("f_1"), CHOICE_ANY), 1 + i % 2);
    arena_destroy(a);
}

TEST(stands_when_there_is_no_other)
{
    arena *a = arena_create("test");
    choices *r = choices_create(a);
    (void)choices_next(r, &tile, STR("f"), STR("f_0"), CHOICE_ANY);
    assert_true(choices_ask(r, STR("f_0")));
    choices_restart(r);
    assert_int_equal(choices_next(r, &tile, STR("f"), STR("f_0"), CHOICE_ANY), 1);
    choices_give_up(r);
    assert_true(choices_is_wanted(r));
    choices_restart(r);
    assert_int_equal(choices_next(r, &tile, STR("f"), STR("f_0"), CHOICE_ANY), 0);
    assert_false(choices_ask(r, STR("f_0")));
    arena_destroy(a);
}

TEST(ends_after_some_times)
{
    arena *a = arena_create("test");
    choices *r = choices_create(a);
    for (uint32_t round = 0; round < CHOICE_TRIES_MAX; round++) {
        assert_int_equal(choices_next(r, &tile, STR("f"), STR("f_0"), CHOICE_ANY), round);
        assert_true(choices_ask(r, STR("f_0")));
        choices_restart(r);
    }
    (void)choices_next(r, &tile, STR("f"), STR("f_0"), CHOICE_ANY);
    assert_false(choices_ask(r, STR("f_0")));
    arena_destroy(a);
}

TEST(the_first_step_tries_all_it_has_before_the_second)
{
    static const uint32_t tried[][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}};
    arena *a = arena_create("test");
    choices *c = choices_create(a);
    for (uint32_t round = 0; round < 4; round++) {
        assert_int_equal(choices_next(c, &tile, STR("f"), STR("f_0"), 3), tried[round][0]);
        assert_int_equal(choices_next(c, &buffers, STR("f"), STR("f_0"), 2), tried[round][1]);
        assert_int_equal(choices_ask(c, STR("f_0")), round < 3);
        if (round < 3) choices_restart(c);
    }
    arena_destroy(a);
}

TEST(a_step_may_choose_less_often_than_in_the_round_before)
{
    arena *a = arena_create("test");
    choices *c = choices_create(a);
    (void)choices_next(c, &buffers, STR("f"), STR("f_0"), 4);
    (void)choices_next(c, &buffers, STR("f"), STR("f_1"), 4);
    assert_true(choices_ask(c, STR("f_1")));
    choices_restart(c);
    assert_int_equal(choices_next(c, &buffers, STR("f"), STR("f_1"), 4), 1);
    assert_false(choices_ask(c, STR("f_0"))); /* of an earlier round: nothing came of it in this one */
    assert_true(choices_ask(c, STR("f_1")));
    choices_restart(c);
    assert_int_equal(choices_next(c, &buffers, STR("f"), STR("f_1"), 2), 0); /* it has no third one any more */
    arena_destroy(a);
}

TEST(rounds_end)
{
    arena *a = arena_create("test");
    choices *c = choices_create(a);
    uint32_t rounds = 0;
    for (bool again = true; again; rounds++) {
        for (const char *name = "abcdefghijklmnopqrstuvwxyz"; *name != '\0'; name++)
            (void)choices_next(c, &buffers, STR("f"), (str){name, 1}, 100);
        again = false;
        for (char name = 'z'; name >= 'a' && !again; name--) again = choices_ask(c, (str){&name, 1});
        if (again) choices_restart(c);
    }
    assert_int_equal(rounds, CHOICE_ROUNDS_MAX + 1);
    arena_destroy(a);
}
