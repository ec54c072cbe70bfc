#include "ir/verify/ranges.h"

#include "tests/unit/module_fixture.h"

#include <string.h>

static op_id find_op(const module_fixture *p, op_kind kind)
{
    op_id top = block_first(p->m, module_top(p->m));
    IR_WALK(p->m, o, top)
    {
        if (op_kind_of(p->m, o) == kind) return o;
    }
    fail_msg("no such op");
    return 0;
}

static void expect_index(const module_fixture *p, op_kind kind, const char *attr, uint32_t index, int64_t lo,
                         int64_t hi)
{
    op_id o = find_op(p, kind);
    expr_range r = op_expr_range(p->m, o, op_index_expr(p->m, o, attr, index));
    assert_true(r.lo == lo && r.hi == hi);
}

TEST(loop_indices_have_the_range_of_their_bounds)
{
    module_fixture p = module_fixture_verified(
        "func @f(%a: gm<400 x 64 x f32>) {\n for %i = 3 to 20 step 4 {\n"
        "  %x = tile.load %a[10 * %i, 0] size(16, 64) : tile<16 x 64 x f32, ?>\n }\n return\n}\n");
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, 30, 190); /* 3, 7, 11, 15, 19 */
    module_fixture_end(&p);
}

TEST(forall_and_kernel_indices_start_at_zero)
{
    module_fixture p = module_fixture_verified(
        "func @f(%a: gm<400 x 64 x f32>) {\n forall (%i, %j) to (8, 4) {\n"
        "  %x = tile.load %a[16 * %i, 16 * %j] size(16, 16) : tile<16 x 16 x f32, ?>\n }\n return\n}\n");
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, 0, 112);
    expect_index(&p, OP_TILE_LOAD, "offsets", 1, 0, 48);
    module_fixture_end(&p);
    p = module_fixture_verified("block.kernel @k core(vector) grid(%c: 24) (%x: gm<16 x 64 x f32>) {\n"
                                " %b = block.buffer {space = vec, bytes_per_stage = 4096, stages = 24} : buffer\n"
                                " %t = block.tile %b[%c] valid(16, 64) : tile<16 x 64 x f32, vec, nd>\n}\n");
    expect_index(&p, OP_BLOCK_TILE, "stage", 0, 0, 23);
    module_fixture_end(&p);
}

TEST(facts_narrow_symbols)
{
    module_fixture p = module_fixture_verified(
        "func @f(%b: gm<$B x $S x f32>, %a: gm<400 x 128 x f32>) where ($B >= 2, 17 >= $B, $S == 128) {\n"
        " %x = tile.load %a[$B, 0] size(16, $S) : tile<16 x 128 x f32, ?>\n return\n}\n");
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, 2, 17);
    expect_index(&p, OP_TILE_LOAD, "sizes", 1, 128, 128);
    op_id load = find_op(&p, OP_TILE_LOAD);
    expr_id s = expr_symbol(p.c, string_intern_z(p.c, "S")), b = expr_symbol(p.c, string_intern_z(p.c, "B"));
    assert_true(op_expr_same(p.m, load, s, expr_const(p.c, 128)));
    assert_false(op_expr_same(p.m, load, s, expr_const(p.c, 127)));
    assert_false(op_expr_same(p.m, load, s, b));
    module_fixture_end(&p);
}

TEST(unknown_symbols_are_not_negative_and_bind_gives_a_range)
{
    module_fixture p = module_fixture_verified(
        "func @f(%b: gm<$B x 64 x f32>, %a: gm<400 x 64 x f32>) {\n for %i to 4 {\n  bind $n = $B - %i in [1, 16]\n"
        "  %x = tile.load %a[$B, 0] size($n, 64) : tile<16 x 64 x f32, ?>\n }\n return\n}\n");
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, 0, INT64_MAX);
    expect_index(&p, OP_TILE_LOAD, "sizes", 0, 1, 16);
    module_fixture_end(&p);
}

TEST(a_range_never_counts_on_a_loop_that_does_not_run)
{
    module_fixture p = module_fixture_verified(
        "func @f(%a: gm<400 x 64 x f32>) {\n for %i = 5 to 5 {\n"
        "  %x = tile.load %a[16 * %i, 0] size(16, 64) : tile<16 x 64 x f32, ?>\n }\n return\n}\n");
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, INT64_MIN, INT64_MAX);
    module_fixture_end(&p);
}

static void set_end(const module_fixture *p, int64_t end)
{
    const attr_id e = attr_expr(p->c, expr_const(p->c, end));
    op_set_attr(p->m, find_op(p, OP_FOR), "to", attr_list(p->c, 1, &e));
}

/* What is kept of a range is dropped with the first change that may have changed it; new ops change none. */
TEST(ranges_follow_changes)
{
    module_fixture p = module_fixture_verified(
        "func @f(%b: gm<$B x 64 x f32>, %a: gm<400 x 64 x f32>) {\n for %i to 8 {\n"
        "  %x = tile.load %a[16 * %i + $B, 0] size(16, 64) : tile<16 x 64 x f32, ?>\n }\n return\n}\n");
    const op_id load = find_op(&p, OP_TILE_LOAD), function = op_function(p.m, load);
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, 0, INT64_MAX);
    const expr_id least[] = {expr_symbol(p.c, string_intern_z(p.c, "B")), expr_const(p.c, 5)};
    const attr_id fact[] = {attr_string(p.c, string_intern_z(p.c, relation_word(RELATION_EQ))),
                            attr_expr(p.c, least[0]), attr_expr(p.c, least[1])};
    const attr_id facts = attr_list(p.c, 3, fact);
    op_set_attr(p.m, function, "facts", attr_list(p.c, 1, &facts));
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, 5, 117);
    const op_id other =
        op_create(p.m, (op_place){op_block(p.m, load), load}, &(op_spec){.kind = OP_YIELD, .loc = op_loc(p.m, load)});
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, 5, 117);
    op_erase(p.m, other);
    set_end(&p, 3);
    expect_index(&p, OP_TILE_LOAD, "offsets", 0, 5, 37);
    assert_false(op_is_never_reached(p.m, load));
    set_end(&p, 0);
    assert_true(op_is_never_reached(p.m, load));
    set_end(&p, 2);
    assert_false(op_is_never_reached(p.m, load));
    module_fixture_end(&p);
}

/* The same expression in front of a `bind` and after it. */
TEST(ranges_of_bound_symbols_belong_to_their_place)
{
    module_fixture p = module_fixture_verified(
        "func @f(%b: gm<$B x 64 x f32>, %a: gm<400 x 64 x f32>) {\n for %i to 4 {\n  bind $n = $B - %i in [1, 16]\n"
        "  %x = tile.load %a[$B, 0] size($n, 64) : tile<16 x 64 x f32, ?>\n }\n return\n}\n");
    const op_id bind = find_op(&p, OP_BIND), load = find_op(&p, OP_TILE_LOAD);
    const expr_id n = expr_add(p.c, expr_symbol(p.c, string_intern_z(p.c, "n")), expr_const(p.c, 1));
    for (uint32_t again = 0; again < 2; again++) {
        assert_int_equal(op_expr_range(p.m, bind, n).lo, 1);
        assert_int_equal(op_expr_range(p.m, bind, n).hi, INT64_MAX);
        assert_int_equal(op_expr_range(p.m, load, n).lo, 2);
        assert_int_equal(op_expr_range(p.m, load, n).hi, 17);
    }
    module_fixture_end(&p);
}

TEST(deep_nests_over_outer_indices_cost_little)
{
    enum { DEPTH = 60 };
    char text[8192];
    text_buffer t;
    text_init(&t);
    text_puts(&t, "func @f(%a: gm<400 x 64 x f32>) {\n");
    for (int i = 0; i < DEPTH; i++) {
        if (i == 0)
            text_puts(&t, "for %i0 to 4 {\n");
        else
            text_printf(&t, "for %%i%d = %%i%d to %%i%d + %%i%d + 1 {\n", i, i - 1, i - 1, i - 1);
    }
    text_printf(&t, "%%x = tile.load %%a[%%i%d, 0] size(16, 64) : tile<16 x 64 x f32, ?>\n", DEPTH - 1);
    for (int i = 0; i < DEPTH; i++) text_puts(&t, "}\n");
    text_puts(&t, "return\n}\n");
    assert_true(t.n < sizeof text);
    memcpy(text, t.p, t.n + 1);
    text_fini(&t);
    module_fixture p = module_fixture_verified(text);
    op_id load = find_op(&p, OP_TILE_LOAD);
    expr_range r = op_expr_range(p.m, load, op_index_expr(p.m, load, "offsets", 0));
    assert_true(r.lo == INT64_MIN || r.lo == 0);
    module_fixture_end(&p);
}

static bool reaches_ends(const char *text)
{
    module_fixture p = module_fixture_verified(text);
    op_id load = find_op(&p, OP_TILE_LOAD);
    bool yes = op_expr_reaches_ends(p.m, load, op_index_expr(p.m, load, "offsets", 0));
    module_fixture_end(&p);
    return yes;
}

TEST(ends_are_reached_in_constant_loops_without_conditions)
{
#define LOAD(offset) "%x = tile.load %a[" offset ", 0] size(16, 64) : tile<16 x 64 x f32, ?>\n"
#define TEXT(body) "func @f(%a: gm<400 x 64 x f32>, %b: gm<$B x f32>) {\n" body "return\n}\n"
    assert_true(reaches_ends(TEXT("for %i to 4 {\n" LOAD("16 * %i") "}\n")));
    assert_true(reaches_ends(TEXT("for %i to 4 {\nforall (%j) to (2) {\n" LOAD("64 * %j + 16 * %i") "}\n}\n")));
    assert_false(reaches_ends(TEXT("for %i to 4 {\nif %i < 3 {\n" LOAD("16 * %i") "}\n}\n")));
    assert_false(reaches_ends(TEXT("for %i to $B {\n" LOAD("16 * %i") "}\n")));
    assert_false(reaches_ends(TEXT("for %i to 4 {\n" LOAD("min(16 * %i, 8)") "}\n")));
    assert_false(reaches_ends(TEXT("for %i to 4 {\n for %j = %i to 4 {\n" LOAD("%i + %j") "}\n}\n")));
}

TEST(relation_words_and_signs)
{
    assert_int_equal(relation_by_name(STR("le")), RELATION_LE);
    assert_int_equal(relation_by_name(STR("!=")), RELATION_NE);
    assert_int_equal(relation_by_name(STR("=<")), RELATION_NONE);
}
