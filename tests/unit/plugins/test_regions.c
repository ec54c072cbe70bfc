/* plugins/shared/control/regions.h: places of nested ops, loops around them, trips, what is handed over. It comes
 * first: names of the SDK's parameters are types of the IR. */
#include <regions.h>

#include "tests/unit/core/run_fixture.h"

#include <string.h>

/* Values are tensors of one number. */
#define ONE " : tensor<1 x i64>\n"

typedef struct fixture {
    run_fixture f;
    region_table r;
} fixture;

static void begin(fixture *x, const char *text)
{
    run_fixture_begin(&x->f, text, NULL);
    x->r = regions_of(run_fixture_start(&x->f));
}

static void end(fixture *x)
{
    run_fixture_stop(&x->f, PTO_OK);
    assert_false(x->f.result.failed);
    assert_int_equal(x->f.result.changes, 0);
    run_fixture_end(&x->f);
}

/* Number `index` of the ops with that name, in print order. */
static uint32_t place_of(const fixture *x, const char *name, uint32_t index)
{
    for (uint32_t i = 0; i < x->r.count; i++)
        if (pto_str_is(pto_op_name(x->r.ops[i].op), name) && index-- == 0) return i;
    fail_msg("no further `%s`", name);
    return REGION_NONE;
}

static const char nested[] = "func @f(%x: tensor<1 x i64>, %n: index) {\n"
                             "  %a = tensor.neg %x" ONE       /* 1 */
                             "  for %i to %n {\n"             /* 2 */
                             "    for %j = 1 to 8 step 3 {\n" /* 3 */
                             "      %b = tensor.neg %x" ONE   /* 4, and its yield 5 */
                             "    }\n"
                             "    if %i < 4 {\n"            /* 6 */
                             "      %c = tensor.exp %x" ONE /* 7, 8 */
                             "    } else {\n"
                             "      for %k to 2 {\n"          /* 9 */
                             "        %d = tensor.exp %x" ONE /* 10, 11; 12 ends the block */
                             "      }\n"
                             "    }\n"
                             "  }\n"      /* 13 */
                             "  return\n" /* 14 */
                             "}\n";

TEST(places_are_in_print_order)
{
    fixture x;
    begin(&x, nested);
    static const region_kind kinds[] = {REGION_OTHER, REGION_PLAIN, REGION_FOR,   REGION_FOR,   REGION_PLAIN,
                                        REGION_YIELD, REGION_IF,    REGION_PLAIN, REGION_YIELD, REGION_FOR,
                                        REGION_PLAIN, REGION_YIELD, REGION_YIELD, REGION_YIELD, REGION_PLAIN};
    static const uint32_t parents[] = {REGION_NONE, 0, 0, 2, 3, 3, 2, 6, 6, 6, 9, 9, 6, 2, 0};
    static const uint32_t blocks[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0};
    static const uint32_t lasts[] = {14, 1, 13, 5, 4, 5, 12, 7, 8, 11, 10, 11, 12, 13, 14};
    static const uint32_t nexts[] = {REGION_NONE, 2,  14, 6,           5,           REGION_NONE, 13,         8,
                                     REGION_NONE, 12, 11, REGION_NONE, REGION_NONE, REGION_NONE, REGION_NONE};
    static const uint32_t depths[] = {0, 1, 1, 2, 3, 3, 2, 3, 3, 3, 4, 4, 3, 2, 1};
    assert_int_equal(x.r.count, 15);
    for (uint32_t i = 0; i < x.r.count; i++) {
        const region_op *o = &x.r.ops[i];
        assert_int_equal(o->kind, kinds[i]);
        assert_int_equal(o->parent, parents[i]);
        assert_int_equal(o->block, blocks[i]);
        assert_int_equal(o->last, lasts[i]);
        assert_int_equal(o->next, nexts[i]);
        assert_int_equal(o->depth, depths[i]);
        assert_int_equal(region_place(&x.r, o->op), i);
    }
    assert_int_equal(x.r.ops[REGION_ROOT].first[0], 1);
    assert_int_equal(x.r.ops[REGION_ROOT].first[1], REGION_NONE);
    assert_int_equal(x.r.ops[6].first[0], 7);
    assert_int_equal(x.r.ops[6].first[1], 9);
    assert_int_equal(x.r.ops[1].first[0], REGION_NONE);
    end(&x);
}

TEST(ops_that_are_not_in_the_table_have_no_place)
{
    fixture x;
    begin(&x, nested);
    const region_table inner = regions_of(x.r.ops[6].op);
    assert_int_equal(inner.count, 7);
    assert_int_equal(region_place(&inner, x.r.ops[9].op), 3);
    assert_int_equal(region_place(&inner, x.r.ops[1].op), REGION_NONE);
    assert_int_equal(region_place(&inner, x.r.ops[2].op), REGION_NONE);
    assert_int_equal(region_place(&inner, pto_op_none(x.f.run)), REGION_NONE);
    assert_int_equal(inner.ops[REGION_ROOT].kind, REGION_OTHER);
    end(&x);
}

TEST(loops_around_an_op_are_found)
{
    fixture x;
    begin(&x, nested);
    static const uint32_t around[] = {REGION_NONE, REGION_NONE, REGION_NONE, 2, 3, 3, 2,          2,
                                      2,           2,           9,           9, 2, 2, REGION_NONE};
    static const uint32_t outermost[] = {REGION_NONE, REGION_NONE, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, REGION_NONE};
    for (uint32_t i = 0; i < x.r.count; i++) {
        assert_int_equal(region_loop_around(&x.r, i), around[i]);
        assert_int_equal(region_outermost_loop(&x.r, i), outermost[i]);
        assert_int_equal(region_is_loop(&x.r, i), i == 2 || i == 3 || i == 9);
    }
    end(&x);
}

TEST(two_ops_have_an_innermost_op_in_common)
{
    fixture x;
    begin(&x, nested);
    assert_int_equal(region_common(&x.r, 4, 10), 2);
    assert_int_equal(region_common(&x.r, 10, 4), 2);
    assert_int_equal(region_common(&x.r, 7, 10), 6);
    assert_int_equal(region_common(&x.r, 10, 9), 9);
    assert_int_equal(region_common(&x.r, 9, 10), 9);
    assert_int_equal(region_common(&x.r, 5, 5), 5);
    assert_int_equal(region_common(&x.r, 1, 14), REGION_ROOT);
    assert_int_equal(region_common(&x.r, REGION_ROOT, 10), REGION_ROOT);
    end(&x);
}

TEST(the_op_of_a_block_that_contains_another_is_found)
{
    fixture x;
    begin(&x, nested);
    assert_int_equal(region_within(&x.r, 10, 6, 1), 9);
    assert_int_equal(region_within(&x.r, 10, 6, 0), REGION_NONE); /* is in the other branch */
    assert_int_equal(region_within(&x.r, 10, 2, 0), 6);
    assert_int_equal(region_within(&x.r, 9, 6, 1), 9);
    assert_int_equal(region_within(&x.r, 4, 6, 0), REGION_NONE);
    assert_int_equal(region_within(&x.r, 6, 6, 0), REGION_NONE); /* is not in itself */
    assert_int_equal(region_within(&x.r, REGION_ROOT, REGION_ROOT, 0), REGION_NONE);
    assert_int_equal(region_within(&x.r, REGION_NONE, REGION_ROOT, 0), REGION_NONE);
    end(&x);
}

/* ---- trips ---- */

static const char loops[] = "func @f(%n: index, %x: tensor<1 x i64>) {\n"
                            "  bind $N = %n in [3, 100]\n"
                            "  for %a to 8 {\n"
                            "  }\n"
                            "  for %b = 1 to 8 step 3 {\n"
                            "  }\n"
                            "  for %c = -4 to 5 step 3 {\n"
                            "  }\n"
                            "  for %d = 8 to 8 {\n"
                            "  }\n"
                            "  for %e = 9 to 8 {\n"
                            "  }\n"
                            "  for %g = -9223372036854775807 to 9223372036854775807 {\n"
                            "  }\n"
                            "  for %h to 4294967295 {\n"
                            "  }\n"
                            "  for %i to 4294967294 {\n"
                            "  }\n"
                            "  for %j to $N {\n"
                            "  }\n"
                            "  for %k = 3 to $N {\n"
                            "  }\n"
                            "  for %l to %n {\n"
                            "  }\n"
                            "  for %m to 8 step %n {\n"
                            "  }\n"
                            "  if %n < 4 {\n"
                            "  }\n"
                            "  return\n"
                            "}\n";

TEST(trips_are_counted_when_all_bounds_are_constants)
{
    /* The last numbers are as many trips as can be told apart from `not known`. */
    static const uint32_t trips[] = {
        8,           3,           3,           0,          0, REGION_NONE - 1, REGION_NONE - 1, REGION_NONE - 1,
        REGION_NONE, REGION_NONE, REGION_NONE, REGION_NONE};
    fixture x;
    begin(&x, loops);
    for (uint32_t i = 0; i < sizeof trips / sizeof *trips; i++)
        assert_int_equal(region_trips(&x.r, place_of(&x, "for", i)), trips[i]);
    assert_int_equal(region_trips(&x.r, place_of(&x, "if", 0)), REGION_NONE);
    assert_int_equal(region_trips(&x.r, REGION_ROOT), REGION_NONE);
    end(&x);
}

TEST(a_loop_that_surely_runs_is_known_from_ranges)
{
    static const int runs[] = {1, 1, 1, 0, 0, 1, 1, 1, /* to $N */ 1, /* from 3 to $N, which may be 3 */ 0};
    fixture x;
    begin(&x, loops);
    for (uint32_t i = 0; i < sizeof runs / sizeof *runs; i++)
        assert_int_equal(region_has_trip(&x.r, place_of(&x, "for", i)), runs[i]);
    assert_int_equal(region_has_trip(&x.r, place_of(&x, "if", 0)), 0);
    end(&x);
}

/* ---- what is handed over ---- */

static const char carrying[] = "func @f(%x: tensor<1 x i64>, %y: tensor<1 x i64>, %go: bool) {\n"
                               "  %p, %q = for %i to 8 carry(%a = %x, %b = %y) {\n"
                               "    yield %b, %a\n"
                               "  } : tensor<1 x i64>, tensor<1 x i64>\n"
                               "  %w, %u = while carry(%c = %x, %d = %go) {\n"
                               "    yield %d\n"
                               "  } do (%e, %g) {\n"
                               "    yield %e, %g\n"
                               "  } : tensor<1 x i64>, bool\n"
                               "  %m = if 1 < 2 {\n"
                               "    yield %x\n"
                               "  } else {\n"
                               "    yield %y\n"
                               "  } : tensor<1 x i64>\n"
                               "  if 1 < 2 {\n"
                               "  }\n"
                               "  return\n"
                               "}\n";

static void expect_argument(const fixture *x, uint32_t place, uint32_t block, uint32_t i, const char *name)
{
    assert_true(pto_str_is(pto_value_name(region_argument(&x->r, place, block, i)), name));
}

TEST(carried_values_are_arguments_of_loops)
{
    fixture x;
    begin(&x, carrying);
    const uint32_t loop = place_of(&x, "for", 0), rest = place_of(&x, "while", 0), branch = place_of(&x, "if", 0);
    assert_int_equal(x.r.ops[rest].kind, REGION_WHILE);
    assert_true(region_is_loop(&x.r, rest));
    assert_int_equal(region_carried(&x.r, loop), 2);
    assert_int_equal(region_carried(&x.r, rest), 2);
    assert_int_equal(region_carried(&x.r, branch), 1);
    assert_int_equal(region_carried(&x.r, place_of(&x, "if", 1)), 0);
    assert_int_equal(region_carried(&x.r, REGION_ROOT), 0);
    expect_argument(&x, loop, 0, 0, "a");
    expect_argument(&x, loop, 0, 1, "b");
    expect_argument(&x, rest, 0, 0, "c");
    expect_argument(&x, rest, 1, 1, "g");
    assert_false(PTO_SOME(region_argument(&x.r, branch, 0, 0)));
    assert_int_equal(region_trips(&x.r, rest), REGION_NONE);
    assert_false(region_has_trip(&x.r, rest));
    end(&x);
}

TEST(every_block_but_a_condition_hands_over_the_carried_values)
{
    fixture x;
    begin(&x, carrying);
    const uint32_t loop = place_of(&x, "for", 0), rest = place_of(&x, "while", 0), branch = place_of(&x, "if", 0);
    assert_true(region_block_gives(&x.r, loop, 0));
    assert_false(region_block_gives(&x.r, rest, 0));
    assert_true(region_block_gives(&x.r, rest, 1));
    assert_true(region_block_gives(&x.r, branch, 0));
    assert_true(region_block_gives(&x.r, branch, 1));
    assert_false(region_block_gives(&x.r, REGION_ROOT, 0));
    end(&x);
}
