#include "ir/module.h"

#include "tests/unit/module_fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct world {
    module_fixture ir;
    type_id type;
    op_id function;
    block_id body;
} world;

static op_id make_func(world *w)
{
    attr_id name = attr_string(w->ir.c, string_intern_z(w->ir.c, "f"));
    attr_id attrs = attr_with(w->ir.c, 0, string_intern_z(w->ir.c, "name"), name);
    return op_create(w->ir.m, (op_place){module_top(w->ir.m), 0},
                     &(op_spec){.kind = OP_FUNC, .attrs = attrs, .block_count = 1});
}

static world world_make(void)
{
    world w = {.ir = module_fixture_empty()};
    expr_id dim = expr_const(w.ir.c, 8);
    w.type = type_tensor(w.ir.c, DTYPE_F32, 1, &dim);
    w.function = make_func(&w);
    w.body = function_body(w.ir.m, w.function);
    return w;
}

static value_id param(world *w, const char *name)
{
    value_id v = block_add_arg(w->ir.m, w->body, w->type);
    value_set_name(w->ir.m, v, str_from(name));
    return v;
}

static value_id unary(world *w, block_id b, value_id x, const char *name)
{
    op_id o = op_create(
        w->ir.m, (op_place){b, 0},
        &(op_spec){
            .kind = OP_TENSOR_EXP, .operand_count = 1, .operands = &x, .result_count = 1, .result_types = &w->type});
    value_set_name(w->ir.m, op_result(w->ir.m, o, 0), str_from(name));
    return op_result(w->ir.m, o, 0);
}

static void check_name(const world *w, value_id v, const char *expected)
{
    text_buffer t;
    text_init(&t);
    value_print_name(w->ir.m, v, &t);
    assert_string_equal(t.p, expected);
    text_fini(&t);
}

TEST(a_name_is_a_base_and_a_number)
{
    world w = world_make();
    value_id v = param(&w, "x");
    struct {
        const char *text, *base;
        uint32_t number;
    } cases[] = {{"x", "x", VALUE_NO_NUMBER},
                 {"x1", "x", 1},
                 {"x10", "x", 10},
                 {"x0", "x", 0},
                 {"x01", "x01", VALUE_NO_NUMBER},
                 {"x00", "x00", VALUE_NO_NUMBER},
                 {"12", "", 12},
                 {"012", "012", VALUE_NO_NUMBER},
                 {"t_4294967294", "t_", 4294967294u},
                 {"t_4294967295", "t_4294967295", VALUE_NO_NUMBER},
                 {"t99999999999999999999999999", "t99999999999999999999999999", VALUE_NO_NUMBER},
                 {"a1b2", "a1b", 2},
                 {"", "", VALUE_NO_NUMBER}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        value_set_name(w.ir.m, v, str_from(cases[i].text));
        value_name n = value_name_of(w.ir.m, v);
        assert_int_equal(n.number, cases[i].number);
        if (cases[i].base[0] == 0)
            assert_int_equal(n.base, 0);
        else
            assert_true(str_is(string_of(w.ir.c, n.base), cases[i].base));
        char expected[64];
        snprintf(expected, sizeof expected, "%%%s", cases[i].text);
        if (cases[i].text[0] != 0) check_name(&w, v, expected);
    }
    /* Parts that read as another name are put right. */
    value_set_name_parts(w.ir.m, v, (value_name){string_intern_z(w.ir.c, "a1"), 2});
    assert_int_equal(value_name_of(w.ir.m, v).number, 12);
    module_fixture_end(&w.ir);
}

TEST(every_value_gets_a_name_of_its_own)
{
    world w = world_make();
    value_id x = param(&w, "x"), unnamed = param(&w, ""), one = param(&w, "1"), again = param(&w, "x");
    value_id x0 = unary(&w, w.body, x, "x0"), third = unary(&w, w.body, x0, "x"), y = unary(&w, w.body, x, "y7");
    value_id y_twin = unary(&w, w.body, x, "y7"), odd = unary(&w, w.body, x, "z01"),
             odd_twin = unary(&w, w.body, x, "z01");
    value_id none = unary(&w, w.body, x, ""), none_too = unary(&w, w.body, x, "");
    module_settle(w.ir.m);
    check_name(&w, x, "%x");
    check_name(&w, unnamed, "%0");
    check_name(&w, one, "%1");
    check_name(&w, again, "%x1");
    check_name(&w, x0, "%x0");
    check_name(&w, third, "%x2");
    check_name(&w, y, "%y7");
    check_name(&w, y_twin, "%y0");
    check_name(&w, odd, "%z01");
    check_name(&w, odd_twin, "%z01_0");
    check_name(&w, none, "%2");
    check_name(&w, none_too, "%3");
    uint64_t epoch = module_epoch(w.ir.m);
    module_settle(w.ir.m);
    assert_int_equal(module_epoch(w.ir.m), epoch);
    module_fixture_end(&w.ir);
}

/* Far from the other numbers at first, near them when it comes again. */
TEST(numbers_far_from_the_others_are_taken_once)
{
    world w = world_make();
    value_id x = param(&w, "x");
    static const char *const far[] = {"5000", "4294967294", "1100"};
    value_id once[3], again[3];
    char text[16];
    for (size_t i = 0; i < 3; i++) once[i] = unary(&w, w.body, x, far[i]);
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "%d", i);
        if (i != 1100) unary(&w, w.body, x, text);
    }
    for (size_t i = 0; i < 3; i++) again[i] = unary(&w, w.body, x, far[i]);
    module_settle(w.ir.m);
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%%%s", far[i]);
        check_name(&w, once[i], text);
        snprintf(text, sizeof text, "%%%d", 3000 + (int)i);
        check_name(&w, again[i], text);
    }
    module_fixture_end(&w.ir);
}

TEST(names_are_unique_in_a_function_nested_blocks_included)
{
    world w = world_make();
    value_id x = param(&w, "x");
    op_id group =
        op_create(w.ir.m, (op_place){w.body, 0},
                  &(op_spec){.kind = OP_TENSOR_GROUP, .result_count = 1, .result_types = &w.type, .block_count = 1});
    value_set_name(w.ir.m, op_result(w.ir.m, group, 0), STR("y"));
    block_id inside = op_block_at(w.ir.m, group, 0);
    value_id arg = block_add_arg(w.ir.m, inside, w.type);
    value_set_name(w.ir.m, arg, STR("y"));
    value_id inner = unary(&w, inside, x, "y"), outer = unary(&w, w.body, op_result(w.ir.m, group, 0), "y");
    /* Another function starts again. */
    block_id other = function_body(w.ir.m, make_func(&w));
    value_id other_x = block_add_arg(w.ir.m, other, w.type);
    value_set_name(w.ir.m, other_x, STR("x"));
    value_id other_unnamed = unary(&w, other, other_x, "");
    module_settle(w.ir.m);
    check_name(&w, op_result(w.ir.m, group, 0), "%y");
    check_name(&w, arg, "%y0");
    check_name(&w, inner, "%y1");
    check_name(&w, outer, "%y2");
    check_name(&w, other_x, "%x");
    check_name(&w, other_unnamed, "%0");
    module_fixture_end(&w.ir);
}

TEST(uses_go_in_program_order)
{
    world w = world_make();
    value_id x = param(&w, "x"), y = param(&w, "y");
    op_id ops[4];
    for (int i = 0; i < 4; i++) ops[i] = value_op(w.ir.m, unary(&w, w.body, i == 1 ? y : x, ""));
    op_move(w.ir.m, ops[3], (op_place){w.body, ops[0]});
    op_set_operand(w.ir.m, ops[1], 0, x);
    op_id binary = op_create(w.ir.m, (op_place){w.body, ops[2]},
                             &(op_spec){.kind = OP_TENSOR_ADD,
                                        .operand_count = 2,
                                        .operands = (value_id[]){x, x},
                                        .result_count = 1,
                                        .result_types = &w.type});
    module_settle(w.ir.m);
    op_id expected[] = {ops[3], ops[0], ops[1], binary, binary, ops[2]};
    uint32_t slots[] = {0, 0, 0, 0, 1, 0}, n = 0;
    VALUE_EACH_USE(w.ir.m, u, x) {
        assert_int_equal(use_op(w.ir.m, u), expected[n]);
        assert_int_equal(use_slot(w.ir.m, u), slots[n]);
        n++;
    }
    assert_int_equal(n, 6);
    assert_int_equal(value_first_use(w.ir.m, y), 0);
    op_set_operand(w.ir.m, ops[3], 0, y);
    op_set_operand(w.ir.m, ops[2], 0, y);
    assert_int_equal(use_op(w.ir.m, value_first_use(w.ir.m, x)), ops[0]);
    module_fixture_end(&w.ir);
}

static double settle_seconds(world *w)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    module_settle(w->ir.m);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

/* Twice as many values may not take more than a small factor longer; a quadratic algorithm would take minutes. */
TEST(a_million_values_without_names_or_with_the_same_one)
{
    const char *const hints[] = {"", "same", "7"};
    for (size_t h = 0; h < sizeof hints / sizeof hints[0]; h++) {
        world w = world_make();
        value_id v = param(&w, "x");
        for (int i = 0; i < 1000000; i++) v = unary(&w, w.body, v, hints[h]);
        double seconds = settle_seconds(&w);
        print_message("`%s`: %.3f s\n", hints[h], seconds);
        assert_true(seconds < 10);
        check_name(&w, v, h == 1 ? "%same999998" : "%999999");
        module_fixture_end(&w.ir);
    }
}
