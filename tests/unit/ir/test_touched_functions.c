#include "ir/verify/touched_functions.h"

#include "tests/unit/module_fixture.h"

#include <string.h>

/* @g calls @f; @h stands alone. */
static const char source[] = "func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                             "  %a = tensor.neg %x : tensor<4 x f32>\n"
                             "  return %a\n"
                             "}\n"
                             "func @g(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                             "  %a = call @f(%x) : tensor<4 x f32>\n"
                             "  return %a\n"
                             "}\n"
                             "func @h(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                             "  %a = tensor.neg %x : tensor<4 x f32>\n"
                             "  return %a\n"
                             "}\n";

typedef struct fixture {
    arena *a;
    module_fixture ir;
    touched_functions *s;
    op_id f, g, h;
} fixture;

static op_id function(const fixture *x, const char *name)
{
    return module_find_symbol(x->ir.m, string_intern_z(x->ir.c, name));
}

static fixture begin(void)
{
    fixture x = {.a = arena_create("test"), .ir = module_fixture_verified(source)};
    x.s = touched_functions_create(x.a, x.ir.m);
    touched_functions_set_verified(x.s);
    x.f = function(&x, "f");
    x.g = function(&x, "g");
    x.h = function(&x, "h");
    return x;
}

static void end(fixture *x)
{
    module_fixture_end(&x->ir);
    arena_destroy(x->a);
}

static const char *only_code(const fixture *x)
{
    assert_int_equal(diag_record_count(x->ir.d), 1);
    return diag_record_at(x->ir.d, 0)->code;
}

static op_id first_op(const fixture *x, op_id f) { return block_first(x->ir.m, op_block_at(x->ir.m, f, 0)); }

static type_id other_type(const fixture *x)
{
    const expr_id five = expr_const(x->ir.c, 5);
    return type_tensor(x->ir.c, dtype_by_name(STR("f32")), 1, &five);
}

/* The result of its first op is of another type, which neither its operand makes it nor the function returns. */
enum { ERRORS_OF_CHANGED = 2 };

static void change(const fixture *x, op_id f)
{
    value_set_type(x->ir.m, op_result(x->ir.m, first_op(x, f), 0), other_type(x));
}

static void check_until_touched(function_sight saw)
{
    fixture x = begin();
    assert_false(touched_functions_holds(x.s, x.f, 100));
    touched_functions_set_holds(x.s, x.f, 100, saw);
    touched_functions_set_holds(x.s, x.g, 100, saw);
    assert_true(touched_functions_holds(x.s, x.f, 100));
    assert_false(touched_functions_holds(x.s, x.f, 36));
    change(&x, x.g);
    touched_functions_touch(x.s, x.g);
    touched_functions_touch(x.s, 0);
    assert_true(touched_functions_holds(x.s, x.f, 100));
    assert_false(touched_functions_holds(x.s, x.g, 100));
    change(&x, x.f);
    touched_functions_touch(x.s, x.f);
    assert_false(touched_functions_holds(x.s, x.f, 100));
    end(&x);
}

TEST(a_property_holds_until_its_function_changes) { check_until_touched(SAW_CLASS); }

TEST(what_a_checker_found_that_reads_names_holds_until_its_function_changes) { check_until_touched(SAW_FUNCTION); }

TEST(functions_of_one_class_share_what_saw_no_names)
{
    fixture x = begin();
    touched_functions_set_holds(x.s, x.f, 7, SAW_CLASS);
    touched_functions_set_holds(x.s, x.f, 8, SAW_FUNCTION);
    touched_functions_set_holds(x.s, x.f, 9, SAW_MODULE);
    assert_true(touched_functions_holds(x.s, x.h, 7));
    assert_false(touched_functions_holds(x.s, x.g, 7));
    for (uint32_t checker = 8; checker <= 9; checker++) {
        assert_true(touched_functions_holds(x.s, x.f, checker));
        assert_false(touched_functions_holds(x.s, x.h, checker));
    }
    change(&x, x.h);
    touched_functions_touch(x.s, x.h);
    assert_false(touched_functions_holds(x.s, x.h, 7));
    assert_true(touched_functions_holds(x.s, x.f, 7));
    end(&x);
}

TEST(where_all_is_doubted_nothing_is_shared)
{
    fixture x = begin();
    touched_functions_set_holds(x.s, x.f, 7, SAW_CLASS);
    touched_functions_doubt(x.s);
    assert_false(touched_functions_holds(x.s, x.f, 7));
    touched_functions_set_holds(x.s, x.f, 7, SAW_CLASS);
    assert_true(touched_functions_holds(x.s, x.f, 7));
    assert_false(touched_functions_holds(x.s, x.h, 7));
    change(&x, x.f);
    change(&x, x.h);
    touched_functions_doubt(x.s);
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    assert_int_equal(diag_record_count(x.ir.d), 2 * ERRORS_OF_CHANGED);
    end(&x);
}

TEST(levels_are_those_of_now)
{
    fixture x = begin();
    assert_int_equal(touched_functions_level(x.s, x.f), LEVEL_TENSOR);
    touched_functions_touch(x.s, x.f);
    op_erase(x.ir.m, block_last(x.ir.m, op_block_at(x.ir.m, x.f, 0)));
    op_erase(x.ir.m, first_op(&x, x.f));
    op_set_attr(x.ir.m, x.f, "results", 0);
    assert_int_equal(touched_functions_level(x.s, x.f), LEVEL_NONE);
    assert_int_equal(touched_functions_level(x.s, x.h), LEVEL_TENSOR);
    end(&x);
}

TEST(of_functions_of_one_class_one_is_verified)
{
    fixture x = begin();
    change(&x, x.f);
    change(&x, x.h);
    touched_functions_touch(x.s, x.h);
    touched_functions_touch(x.s, x.f);
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    assert_int_equal(diag_record_count(x.ir.d), ERRORS_OF_CHANGED);
    /* None of them counts as verified. */
    touched_functions_touch(x.s, x.f);
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    end(&x);
}

TEST(a_new_function_is_verified_whatever_it_is_like)
{
    fixture x = begin();
    value_map *map = value_map_create();
    const op_id copy = op_clone(x.ir.m, x.h, (op_place){module_top(x.ir.m), 0}, map);
    value_map_destroy(map);
    touched_functions_touch(x.s, copy);
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    assert_string_equal(diag_record_at(x.ir.d, 0)->code, "E0325");
    end(&x);
}

TEST(a_checker_that_saw_more_is_asked_after_any_change)
{
    fixture x = begin();
    touched_functions_set_holds(x.s, x.f, 5, SAW_MODULE);
    assert_true(touched_functions_holds(x.s, x.f, 5));
    touched_functions_touch(x.s, x.h);
    assert_false(touched_functions_holds(x.s, x.f, 5));
    /* What another checker found since does not bring it back. */
    touched_functions_set_holds(x.s, x.f, 6, SAW_MODULE);
    assert_true(touched_functions_holds(x.s, x.f, 6));
    assert_false(touched_functions_holds(x.s, x.f, 5));
    touched_functions_touch(x.s, 0);
    assert_false(touched_functions_holds(x.s, x.f, 6));
    end(&x);
}

TEST(only_touched_functions_are_verified)
{
    fixture x = begin();
    value_set_type(x.ir.m, op_result(x.ir.m, first_op(&x, x.h), 0), other_type(&x));
    assert_int_equal(touched_functions_verify(x.s), OK);
    touched_functions_touch(x.s, x.f);
    assert_int_equal(touched_functions_verify(x.s), OK);
    assert_int_equal(diag_record_count(x.ir.d), 0);
    touched_functions_touch(x.s, x.h);
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    /* It stays unverified. */
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    end(&x);
}

TEST(callers_are_verified_when_a_signature_changes)
{
    fixture x = begin();
    const block_id body = op_block_at(x.ir.m, x.f, 0);
    const op_id neg = first_op(&x, x.f);
    value_set_type(x.ir.m, block_arg(x.ir.m, body, 0), other_type(&x));
    value_set_type(x.ir.m, op_result(x.ir.m, neg, 0), other_type(&x));
    const attr_id type = attr_type(x.ir.c, other_type(&x));
    op_set_attr(x.ir.m, x.f, "results", attr_list(x.ir.c, 1, &type));
    touched_functions_touch(x.s, x.f);
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    assert_string_equal(only_code(&x), "E0323");
    end(&x);
}

TEST(callers_are_verified_when_a_function_is_gone)
{
    fixture x = begin();
    touched_functions_touch(x.s, x.f);
    op_erase(x.ir.m, x.f);
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    assert_string_equal(only_code(&x), "E0321");
    end(&x);
}

TEST(a_circle_of_calls_through_what_was_not_touched_is_found)
{
    fixture x = begin();
    /* @f calls @g in place of its neg. */
    const op_id neg = first_op(&x, x.f);
    value_map *map = value_map_create();
    value_map_put(map, block_arg(x.ir.m, op_block_at(x.ir.m, x.g, 0), 0),
                  block_arg(x.ir.m, op_block_at(x.ir.m, x.f, 0), 0));
    const op_id call = op_clone(x.ir.m, first_op(&x, x.g), (op_place){op_block(x.ir.m, neg), neg}, map);
    value_map_destroy(map);
    op_set_attr(x.ir.m, call, "callee", attr_symbol(x.ir.c, string_intern_z(x.ir.c, "g")));
    touched_functions_touch(x.s, x.f);
    assert_int_equal(touched_functions_verify(x.s), FAILED);
    assert_string_equal(only_code(&x), "E0324");
    end(&x);
}

TEST(many_functions)
{
    arena *a = arena_create("test");
    diag_engine *d = diag_create(NULL, 0);
    ir_context *c = context_create(d);
    text_buffer t;
    text_init(&t);
    for (int i = 0; i < 1000; i++)
        text_printf(&t, "func @f%d(%%x: tensor<%d x f32>) -> tensor<%d x f32> { return %%x }\n", i, i + 1, i + 1);
    module *m = NULL;
    assert_int_equal(parse_module(c, (str){t.p, t.n}, "t.ptir", &m), OK);
    text_fini(&t);
    touched_functions *s = touched_functions_create(a, m);
    touched_functions_set_verified(s);
    int number = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        if (number++ % 3 == 0) touched_functions_set_holds(s, f, 127, SAW_CLASS);
    }
    number = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) assert_int_equal(touched_functions_holds(s, f, 127), number++ % 3 == 0);
    module_destroy(m);
    context_destroy(c);
    diag_destroy(d);
    arena_destroy(a);
}
