#include "ir/op_space.h"

#include "tests/unit/module_fixture.h"

#include <stdio.h>

typedef struct spaced {
    module_fixture ir;
    iteration it;
    status s;
} spaced;

/* The space of the first op of a function with the given parameters. */
static spaced space_of(const char *params, const char *op)
{
    char text[1024];
    snprintf(text, sizeof text, "func @f(%s) {\n  %%r = %s\n  return\n}\n", params, op);
    spaced p = {.ir = module_fixture_verified(text)};
    p.s = op_iteration(p.ir.m, block_first(p.ir.m, function_body(p.ir.m, block_first(p.ir.m, module_top(p.ir.m)))),
                       &p.it);
    return p;
}

static void expect_map(const int8_t *map, uint32_t count, const int *want)
{
    for (uint32_t i = 0; i < count; i++) assert_int_equal(map[i], want[i]);
}

static void expect_extents(const spaced *p, uint32_t count, const int64_t *want, const uint8_t *kinds)
{
    assert_int_equal(p->s, OK);
    assert_int_equal(p->it.dim_count, count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t v = -1; /* a symbol */
        expr_is_const(p->ir.c, p->it.extent[i], &v);
        assert_int_equal(v, want[i]);
        assert_int_equal(p->it.kind[i], kinds[i]);
    }
}

enum { P = ITERATION_PARALLEL, R = ITERATION_REDUCE };

TEST(broadcast_operands_stand_still)
{
    spaced p = space_of("%a: tensor<$B x 4 x 8 x f32>, %b: tensor<4 x 1 x f32>",
                        "tensor.add %a, %b : tensor<$B x 4 x 8 x f32>");
    expect_extents(&p, 3, (int64_t[]){-1, 4, 8}, (uint8_t[]){P, P, P});
    assert_int_equal(p.it.operand_count, 2);
    assert_int_equal(p.it.operand_rank[1], 2);
    expect_map(p.it.operand_dim[0], 3, (int[]){0, 1, 2});
    expect_map(p.it.operand_dim[1], 2, (int[]){1, -1});
    expect_map(p.it.result_dim, 3, (int[]){0, 1, 2});
    module_fixture_end(&p.ir);
}

TEST(reductions_keep_or_drop_axes)
{
    spaced p = space_of("%a: tensor<$B x 4 x 8 x f32>", "tensor.reduce_sum %a {axis = -2} : tensor<$B x 1 x 8 x f32>");
    expect_extents(&p, 3, (int64_t[]){-1, 4, 8}, (uint8_t[]){P, R, P});
    expect_map(p.it.result_dim, 3, (int[]){0, -1, 2});
    module_fixture_end(&p.ir);
    p = space_of("%a: tensor<$B x 4 x 8 x f32>",
                 "tensor.reduce_max %a {axis = [0, 1], keepdim = false} : tensor<8 x f32>");
    expect_extents(&p, 3, (int64_t[]){-1, 4, 8}, (uint8_t[]){R, R, P});
    assert_int_equal(p.it.result_rank, 1);
    expect_map(p.it.result_dim, 1, (int[]){2});
    module_fixture_end(&p.ir);
}

TEST(matmul_has_batch_rows_columns_and_a_sum)
{
    spaced p = space_of("%a: tensor<7 x 3 x 5 x f32>, %b: tensor<9 x 5 x f32>",
                        "tensor.matmul %a, %b {transpose_b = true} : tensor<7 x 3 x 9 x f32>");
    expect_extents(&p, 4, (int64_t[]){7, 3, 9, 5}, (uint8_t[]){P, P, P, R});
    expect_map(p.it.operand_dim[0], 3, (int[]){0, 1, 3});
    expect_map(p.it.operand_dim[1], 2, (int[]){2, 3});
    expect_map(p.it.result_dim, 3, (int[]){0, 1, 2});
    module_fixture_end(&p.ir);
    p = space_of("%a: tensor<5 x 3 x f32>, %b: tensor<5 x 9 x f32>",
                 "tensor.matmul %a, %b {transpose_a = true} : tensor<3 x 9 x f32>");
    expect_extents(&p, 3, (int64_t[]){3, 9, 5}, (uint8_t[]){P, P, R});
    expect_map(p.it.operand_dim[0], 2, (int[]){2, 0});
    expect_map(p.it.operand_dim[1], 2, (int[]){2, 1});
    module_fixture_end(&p.ir);
}

TEST(matmul_batch_of_one_is_shared)
{
    spaced p = space_of("%a: tensor<1 x 3 x 5 x f32>, %b: tensor<7 x 5 x 9 x f32>",
                        "tensor.matmul %a, %b : tensor<7 x 3 x 9 x f32>");
    expect_extents(&p, 4, (int64_t[]){7, 3, 9, 5}, (uint8_t[]){P, P, P, R});
    expect_map(p.it.operand_dim[0], 3, (int[]){-1, 1, 3});
    module_fixture_end(&p.ir);
}

TEST(transposes_permute)
{
    spaced p =
        space_of("%a: tensor<2 x 3 x 4 x f32>", "tensor.transpose %a {perm = [1, 2, 0]} : tensor<3 x 4 x 2 x f32>");
    expect_extents(&p, 3, (int64_t[]){3, 4, 2}, (uint8_t[]){P, P, P});
    expect_map(p.it.operand_dim[0], 3, (int[]){2, 0, 1});
    module_fixture_end(&p.ir);
}

TEST(reshapes_that_add_ones_are_structured_others_not)
{
    spaced p = space_of("%a: tensor<1 x $B x 4 x f32>", "tensor.reshape %a : tensor<$B x 1 x 4 x f32>");
    expect_extents(&p, 3, (int64_t[]){-1, 1, 4}, (uint8_t[]){P, P, P});
    expect_map(p.it.operand_dim[0], 3, (int[]){-1, 0, 2});
    module_fixture_end(&p.ir);
    p = space_of("%a: tensor<$B x 4 x f32>", "tensor.reshape %a : tensor<4 * $B x f32>");
    assert_int_equal(p.s, FAILED);
    module_fixture_end(&p.ir);
}

/* Offsets that are numbers, 99 for the others, and steps. */
static void expect_walk(const spaced *p, uint32_t operand, uint32_t count, const int64_t *offsets, const int64_t *steps)
{
    for (uint32_t d = 0; d < count; d++) {
        const expr_id e = p->it.operand_offset[operand][d];
        int64_t v = 0;
        if (e != 0 && !expr_is_const(p->ir.c, e, &v)) v = 99;
        assert_int_equal(p->it.operand_dim[operand][d], (int)d);
        assert_int_equal(v, offsets[d]);
        assert_int_equal(p->it.operand_step[operand][d], steps[d]);
    }
}

TEST(windows_walk_their_operand_from_an_index_on)
{
    spaced p =
        space_of("%a: tensor<$B x 9 x f32>", "tensor.view %a[$B - 3, 8] {strides = [1, -2]} : tensor<3 x 4 x f32>");
    expect_extents(&p, 2, (int64_t[]){3, 4}, (uint8_t[]){P, P});
    expect_walk(&p, 0, 2, (int64_t[]){99, 8}, (int64_t[]){1, -2});
    module_fixture_end(&p.ir);
    p = space_of("%a: tensor<3 x 9 x f32>", "tensor.flip %a {axis = -1} : tensor<3 x 9 x f32>");
    expect_walk(&p, 0, 2, (int64_t[]){0, 8}, (int64_t[]){0, -1});
    module_fixture_end(&p.ir);
}

TEST(parts_start_before_their_operand)
{
    spaced p = space_of("%a: tensor<3 x 9 x f32>", "tensor.concat %a, %a, %a {axis = 1} : tensor<3 x 27 x f32>");
    expect_extents(&p, 2, (int64_t[]){3, 27}, (uint8_t[]){P, P});
    expect_walk(&p, 0, 2, (int64_t[]){0, 0}, (int64_t[]){0, 0});
    expect_walk(&p, 2, 2, (int64_t[]){0, -18}, (int64_t[]){0, 0});
    module_fixture_end(&p.ir);
    p = space_of("%a: tensor<3 x 9 x f32>", "tensor.pad %a low(1, 0) high(0, 2) : tensor<4 x 11 x f32>");
    expect_walk(&p, 0, 2, (int64_t[]){-1, 0}, (int64_t[]){0, 0});
    module_fixture_end(&p.ir);
    p = space_of("%a: tensor<3 x 9 x f32>, %b: tensor<5 x 9 x f32>",
                 "tensor.assemble %a, %b[2, 0] : tensor<5 x 9 x f32>");
    expect_walk(&p, 0, 2, (int64_t[]){-2, 0}, (int64_t[]){0, 0});
    expect_walk(&p, 1, 2, (int64_t[]){0, 0}, (int64_t[]){0, 0});
    module_fixture_end(&p.ir);
    p = space_of("%a: tensor<3 x f32>", "tensor.concat %a, %a, %a, %a, %a, %a, %a {axis = 0} : tensor<21 x f32>");
    assert_int_equal(p.s, FAILED);
    module_fixture_end(&p.ir);
}

TEST(constants_have_no_operand_and_composites_no_space)
{
    spaced p = space_of("%a: tensor<4 x f32>", "tensor.constant {value = 1.0} : tensor<3 x 4 x f32>");
    expect_extents(&p, 2, (int64_t[]){3, 4}, (uint8_t[]){P, P});
    assert_int_equal(p.it.operand_count, 0);
    module_fixture_end(&p.ir);
    p = space_of("%a: tensor<4 x f32>", "tensor.softmax %a : tensor<4 x f32>");
    assert_int_equal(p.s, FAILED);
    module_fixture_end(&p.ir);
}
