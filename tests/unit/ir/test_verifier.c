/* What the text form cannot say or cannot say in one file; the rest is in tests/errors. */

#include "tests/unit/module_fixture.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct built {
    module_fixture ir;
    loc_id loc;
} built;

static built built_from(module_fixture made)
{
    return (built){made, loc_make(made.c, string_intern_z(made.c, "made.ptir"), 1, 1)};
}

static built begin(void) { return built_from(module_fixture_empty()); }

static built parse(const char *text) { return built_from(module_fixture_parsed(text)); }

static void end(built *b) { module_fixture_end(&b->ir); }

static void expect_code(const built *b, const char *code)
{
    assert_int_equal(module_verify(b->ir.m), FAILED);
    uint32_t n = diag_record_count(b->ir.d);
    for (uint32_t i = 0; i < n; i++) {
        const char *have = diag_record_at(b->ir.d, i)->code;
        if (have != NULL && strcmp(have, code) == 0) return;
    }
    fail_msg("no %s among %u records, first: %s", code, n, n == 0 ? "" : diag_record_at(b->ir.d, 0)->text);
}

static type_id square(built *b, dtype d)
{
    expr_id four = expr_const(b->ir.c, 4);
    return type_tensor(b->ir.c, d, 2, (expr_id[]){four, four});
}

/* func @f(%0: t) -> t, without its `return`. */
static block_id make_function(built *b, const char *name, type_id t)
{
    attr_id attrs =
        attr_with(b->ir.c, 0, string_intern_z(b->ir.c, "name"), attr_string(b->ir.c, string_intern_z(b->ir.c, name)));
    attr_id results = attr_type(b->ir.c, t);
    attrs = attr_with(b->ir.c, attrs, string_intern_z(b->ir.c, "results"), attr_list(b->ir.c, 1, &results));
    op_spec spec = {.kind = OP_FUNC, .loc = b->loc, .attrs = attrs, .block_count = 1};
    block_id body = function_body(b->ir.m, op_create(b->ir.m, (op_place){module_top(b->ir.m), 0}, &spec));
    block_add_arg(b->ir.m, body, t);
    return body;
}

static op_id make_op(built *b, block_id body, op_kind kind, uint32_t count, const value_id *operands, type_id result)
{
    op_spec spec = {.kind = kind,
                    .loc = b->loc,
                    .operand_count = count,
                    .operands = operands,
                    .result_count = result == 0 ? 0 : 1,
                    .result_types = &result};
    return op_create(b->ir.m, (op_place){body, 0}, &spec);
}

TEST(a_built_function_verifies)
{
    built b = begin();
    type_id t = square(&b, DTYPE_F32);
    block_id body = make_function(&b, "f", t);
    value_id x = block_arg(b.ir.m, body, 0);
    op_id e = make_op(&b, body, OP_TENSOR_EXP, 1, &x, t);
    value_id y = op_result(b.ir.m, e, 0);
    make_op(&b, body, OP_RETURN, 1, &y, 0);
    assert_int_equal(op_verify(b.ir.m, e), OK);
    assert_int_equal(module_verify(b.ir.m), OK);
    const op_id function = block_first(b.ir.m, module_top(b.ir.m));
    assert_int_equal(module_verify_functions(b.ir.m, 1, &function), OK);
    end(&b);
}

TEST(an_op_is_refused_before_its_operand_is_defined)
{
    built b = begin();
    type_id t = square(&b, DTYPE_F32);
    block_id body = make_function(&b, "f", t);
    value_id x = block_arg(b.ir.m, body, 0);
    op_id first = make_op(&b, body, OP_TENSOR_EXP, 1, &x, t);
    value_id y = op_result(b.ir.m, first, 0);
    op_id second = make_op(&b, body, OP_TENSOR_NEG, 1, &y, t);
    make_op(&b, body, OP_RETURN, 1, &y, 0);
    op_move(b.ir.m, second, (op_place){body, first});
    expect_code(&b, "E0315");
    end(&b);
}

TEST(an_op_cannot_use_itself_or_another_function)
{
    built b = begin();
    type_id t = square(&b, DTYPE_F32);
    block_id f = make_function(&b, "f", t), g = make_function(&b, "g", t);
    value_id x = block_arg(b.ir.m, f, 0);
    make_op(&b, f, OP_RETURN, 1, &x, 0);
    op_id e = make_op(&b, g, OP_TENSOR_EXP, 1, &x, t);
    value_id y = op_result(b.ir.m, e, 0);
    make_op(&b, g, OP_RETURN, 1, &y, 0);
    expect_code(&b, "E0315");
    op_set_operand(b.ir.m, e, 0, y);
    expect_code(&b, "E0315");
    value_id own = block_arg(b.ir.m, g, 0);
    op_set_operand(b.ir.m, e, 0, own);
    assert_int_equal(module_verify(b.ir.m), OK);
    end(&b);
}

TEST(the_same_op_again_is_still_checked_for_dominance)
{
    /* The second exp takes the short way through the verifier; its operand comes later. */
    built b = begin();
    type_id t = square(&b, DTYPE_F32);
    block_id body = make_function(&b, "f", t);
    value_id x = block_arg(b.ir.m, body, 0);
    value_id last = x;
    op_id ops[4];
    for (uint32_t i = 0; i < 4; i++) {
        ops[i] = make_op(&b, body, OP_TENSOR_EXP, 1, &last, t);
        last = op_result(b.ir.m, ops[i], 0);
    }
    make_op(&b, body, OP_RETURN, 1, &last, 0);
    assert_int_equal(module_verify(b.ir.m), OK);
    op_set_operand(b.ir.m, ops[1], 0, op_result(b.ir.m, ops[2], 0));
    expect_code(&b, "E0315");
    op_set_operand(b.ir.m, ops[1], 0, x);
    assert_int_equal(module_verify(b.ir.m), OK);
    value_set_type(b.ir.m, op_result(b.ir.m, ops[2], 0), square(&b, DTYPE_F16));
    expect_code(&b, "E0214");
    end(&b);
}

TEST(values_do_not_leave_their_block)
{
    built b = parse("func @f(%a: gm<64 x 64 x f32>, out %b: gm<64 x 64 x f32>) {\n for %i to 4 {\n"
                    "  %x = tile.load %a[16 * %i, 0] size(16, 64) : tile<16 x 64 x f32, ?>\n"
                    "  tile.store %x, %b[16 * %i, 0]\n }\n return\n}\n");
    assert_int_equal(module_verify(b.ir.m), OK);
    op_id f = block_first(b.ir.m, module_top(b.ir.m));
    op_id loop = block_first(b.ir.m, function_body(b.ir.m, f));
    op_id store = op_next(b.ir.m, block_first(b.ir.m, op_block_at(b.ir.m, loop, 0)));
    op_move(b.ir.m, store, (op_place){function_body(b.ir.m, f), op_next(b.ir.m, loop)});
    expect_code(&b, "E0315");
    end(&b);
}

TEST(op_verify_names_what_is_wrong_with_one_op)
{
    built b = begin();
    type_id t = square(&b, DTYPE_F32);
    block_id body = make_function(&b, "f", t);
    value_id x = block_arg(b.ir.m, body, 0);
    assert_int_equal(op_verify(b.ir.m, make_op(&b, body, OP_TENSOR_ADD, 1, &x, t)), FAILED);
    assert_string_equal(diag_record_at(b.ir.d, 0)->code, "E0310");
    assert_int_equal(op_verify(b.ir.m, make_op(&b, body, OP_TENSOR_EXP, 1, &x, square(&b, DTYPE_F16))), FAILED);
    assert_string_equal(diag_record_at(b.ir.d, 1)->code, "E0214");
    assert_int_equal(op_verify(b.ir.m, make_op(&b, body, OP_TENSOR_REDUCE_SUM, 1, &x, t)), FAILED);
    assert_string_equal(diag_record_at(b.ir.d, 2)->code, "E0312");
    end(&b);
}

TEST(an_empty_block_has_no_terminator)
{
    built b = begin();
    make_function(&b, "f", square(&b, DTYPE_F32));
    expect_code(&b, "E0316");
    end(&b);
}

TEST(all_problems_are_reported)
{
    built b = begin();
    type_id t = square(&b, DTYPE_F32), other = square(&b, DTYPE_I32);
    block_id body = make_function(&b, "f", t);
    value_id x = block_arg(b.ir.m, body, 0);
    for (uint32_t i = 0; i < 3; i++) make_op(&b, body, OP_TENSOR_EXP, 1, &x, other);
    make_op(&b, body, OP_RETURN, 1, &x, 0);
    assert_int_equal(module_verify(b.ir.m), FAILED);
    assert_int_equal(diag_error_count(b.ir.d), 3);
    end(&b);
}

static const char kernel_head[] = "block.kernel @k core(vector) grid(%c: 4) (%x: gm<16 x 64 x f32>) {\n";

static void expect_tokens(const char *body, bool balanced)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s}\n", kernel_head, body);
    built b = parse(text);
    if (balanced)
        assert_int_equal(module_verify(b.ir.m), OK);
    else
        expect_code(&b, "E0329");
    end(&b);
}

#define SET(event) "pto.set_flag mte2 -> v event(" event ")\n"
#define WAIT(event) "pto.wait_flag mte2 -> v event(" event ")\n"

TEST(tokens_balance_over_loops_of_any_length)
{
    expect_tokens(SET("0") SET("1") "for %i to %c {\n" WAIT("%i mod 2") SET("%i mod 2") "}\n" WAIT("0") WAIT("1"),
                  true);
    expect_tokens(SET("0") "for %i to %c {\n" WAIT("%i mod 2") SET("%i mod 2") "}\n" WAIT("1"), false);
    expect_tokens("for %i to %c {\n" SET("%i mod 2") "}\n", false);
    expect_tokens("for %i to %c {\n" SET("%i mod 2") WAIT("(%i + 1) mod 2") "}\n", false);
    expect_tokens("for %i to %c {\n for %j to %c {\n" SET("%i + %j") "}\n for %j to %c {\n" WAIT("%i + %j") "}\n}\n",
                  false);
}

TEST(loops_of_few_constant_trips_are_summed)
{
    expect_tokens("for %i to 2 {\n" SET("%i") "}\n for %i to %c {\n" WAIT("%i mod 2") SET("%i mod 2") "}\n" WAIT("0")
                      WAIT("1"),
                  true);
    expect_tokens("for %i to 3 {\n" SET("%i") "}\n" WAIT("0") WAIT("1"), false);
    expect_tokens("for %i = 2 to 2 {\n" SET("%i") "}\n", true);
    expect_tokens("for %i to 2 {\n for %j to 2 {\n" SET("2 * %i + %j") "}\n}\n" WAIT("0") WAIT("1") WAIT("2") WAIT("3"),
                  true);
}

TEST(both_branches_leave_the_same_tokens)
{
    expect_tokens("if %c == 0 {\n" SET("0") "} else {\n" SET("0") "}\n" WAIT("0"), true);
    expect_tokens("if %c == 0 {\n" SET("0") "} else {\n" SET("1") "}\n" WAIT("0"), false);
    expect_tokens("if %c == 0 {\n" SET("0") "} else {\n}\n" WAIT("0"), false);
    expect_tokens("if %c == 0 {\n} else {\n" SET("0") "}\n" WAIT("0"), false);
    expect_tokens("if %c == 0 {\n" SET("0") WAIT("0") "}\n", true);
    expect_tokens(SET("0") "if %c == 0 {\n" WAIT("0") SET("1") "} else {\n" WAIT("0") SET("1") "}\n" WAIT("1"), true);
}

TEST(a_wait_may_stand_before_its_set) { expect_tokens(WAIT("0") SET("0"), true); }

TEST(calls_by_value_and_by_memory)
{
    built b = parse("func private @g(%x: gm<$N x f32>, out %y: gm<$N x f32>) {\n return\n}\n"
                    "func @v(%x: tensor<$B x f32>) -> tensor<$B x f32> {\n"
                    " %y = call @g(%x) : tensor<$B x f32>\n return %y\n}\n"
                    "func @m(%x: gm<$B x f32>, out %y: gm<$B x f32>) {\n call @g(%x, %y)\n return\n}\n");
    assert_int_equal(module_verify(b.ir.m), OK);
    end(&b);
    b = parse(
        "func private @g(%x: gm<$N x f32>, out %y: gm<$N x f32>) {\n return\n}\n"
        "func @v(%x: tensor<$B x f32>) -> tensor<4 x f32> {\n %y = call @g(%x) : tensor<4 x f32>\n return %y\n}\n");
    expect_code(&b, "E0323");
    end(&b);
}

TEST(calls_without_a_circle_are_fine_however_they_meet)
{
    built b =
        parse("func @d(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n return %x\n}\n"
              "func @b(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n %y = call @d(%x) : tensor<4 x f32>\n return %y\n}\n"
              "func @c(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n %y = call @d(%x) : tensor<4 x f32>\n return %y\n}\n"
              "func @a(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n %y = call @b(%x) : tensor<4 x f32>\n"
              " %z = call @c(%y) : tensor<4 x f32>\n return %z\n}\n");
    assert_int_equal(module_verify(b.ir.m), OK);
    end(&b);
}

TEST(a_bound_symbol_ends_with_its_block)
{
    built b = parse("func @f(%a: gm<64 x 64 x f32>) {\n for %i to 4 {\n  bind $n = %i + 1 in [1, 4]\n"
                    "  %w = tile.workspace : gm<$n x 64 x f32>\n }\n for %i to 4 {\n  bind $n = %i + 2 in [1, 8]\n"
                    "  %w = tile.workspace : gm<$n x 64 x f32>\n }\n return\n}\n");
    assert_int_equal(module_verify(b.ir.m), OK);
    end(&b);
    b = parse("func @f(%a: gm<64 x 64 x f32>) {\n for %i to 4 {\n  bind $n = %i + 1 in [1, 4]\n }\n"
              " %w = tile.workspace : gm<$n x 64 x f32>\n return\n}\n");
    expect_code(&b, "E0410");
    end(&b);
}

TEST(facts_make_extents_equal)
{
    built b = parse("func @f(%a: tensor<$A x f32>, %b: tensor<4 x f32>) -> tensor<4 x f32> where ($A == 4) {\n"
                    " %c = tensor.add %a, %b : tensor<4 x f32>\n return %c\n}\n");
    assert_int_equal(module_verify(b.ir.m), OK);
    end(&b);
    b = parse("func @f(%a: tensor<$A x f32>, %b: tensor<4 x f32>) -> tensor<4 x f32> where ($A >= 4) {\n"
              " %c = tensor.add %a, %b : tensor<4 x f32>\n return %c\n}\n");
    expect_code(&b, "E0213");
    end(&b);
}

TEST(a_hundred_thousand_ops_take_milliseconds)
{
    built b = begin();
    type_id t = square(&b, DTYPE_F32);
    block_id body = make_function(&b, "f", t);
    value_id last[2] = {block_arg(b.ir.m, body, 0), block_arg(b.ir.m, body, 0)};
    for (uint32_t i = 0; i < 100000; i++) {
        value_id v = op_result(b.ir.m, make_op(&b, body, i % 2 == 0 ? OP_TENSOR_ADD : OP_TENSOR_MUL, 2, last, t), 0);
        last[1] = last[0];
        last[0] = v;
    }
    make_op(&b, body, OP_RETURN, 1, last, 0);
    clock_t start = clock();
    assert_int_equal(module_verify(b.ir.m), OK);
    /* Far above what it takes, so that a slow machine or a sanitizer does not fail it; quadratic work would. */
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 0.5);
    end(&b);
}
