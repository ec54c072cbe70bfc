#include "ir/verify/function_class.h"

#include "tests/unit/module_fixture.h"

/* Two functions, of which all but the name is given. */
static bool are_of_one_class(const char *one, const char *other)
{
    text_buffer t;
    text_init(&t);
    text_printf(&t, "func @k(%%x: tensor<4 x f32>) -> tensor<4 x f32> { return %%x }\nfunc @one%s\nfunc @other%s\n",
                one, other);
    module_fixture x = module_fixture_verified(t.p);
    text_fini(&t);
    arena *a = arena_create("test");
    function_classes *s = function_classes_create(a, x.m);
    function_class *c = function_class_join(s, module_find_symbol(x.m, string_intern_z(x.c, "one")), false);
    function_class *d = function_class_join(s, module_find_symbol(x.m, string_intern_z(x.c, "other")), false);
    const bool is_one = c == d;
    assert_int_equal(c->members, is_one ? 2 : 1);
    function_class_leave(s, c);
    function_class_leave(s, d);
    module_fixture_end(&x);
    arena_destroy(a);
    return is_one;
}

#define SIGNATURE "(%x: tensor<4 x f32>, %z: tensor<4 x f32>) -> tensor<4 x f32> "

TEST(names_and_places_do_not_count)
{
    assert_true(are_of_one_class(SIGNATURE "{ %a = tensor.sub %x, %z : tensor<4 x f32>\n return %a }",
                                 "(%p: tensor<4 x f32>, %q: tensor<4 x f32>) -> tensor<4 x f32> {\n\n"
                                 "  %r = tensor.sub %p, %q : tensor<4 x f32>\n  return %r\n}"));
}

TEST(labels_of_nests_do_not_count)
{
    static const char nest[] = "(%%x: gm<8 x 4 x f32>, out %%y: gm<8 x 4 x f32>) {\n  forall \"%s\" (%%i) to (2) {\n"
                               "    %%t = tile.load %%x[4 * %%i, 0] size(4, 4) : tile<4 x 4 x f32, ?>\n"
                               "    tile.store %%t, %%y[4 * %%i, 0]\n  }\n  return\n}";
    text_buffer one, other;
    text_init(&one);
    text_init(&other);
    text_printf(&one, nest, "one_0");
    text_printf(&other, nest, "other_0");
    assert_true(are_of_one_class(one.p, other.p));
    text_fini(&one);
    text_fini(&other);
}

TEST(ops_and_what_they_say_count)
{
    static const char *const bodies[] = {
        "{ %a = tensor.sub %x, %z : tensor<4 x f32>\n return %a }",
        "{ %a = tensor.sub %z, %x : tensor<4 x f32>\n return %a }",
        "{ %a = tensor.sub %x, %x : tensor<4 x f32>\n return %a }",
        "{ %a = tensor.add %x, %z : tensor<4 x f32>\n return %a }",
        "{ %a = tensor.sub %x, %z : tensor<4 x f32>\n return %x }",
        "{ %a = tensor.cumsum %x {axis = 0} : tensor<4 x f32>\n return %a }",
        "{ %a = tensor.cumsum %x {axis = 0, reverse = true} : tensor<4 x f32>\n return %a }",
        "{ %a = tensor.sub %x, %z : tensor<4 x f32>\n %b = tensor.neg %a : tensor<4 x f32>\n return %a }",
        "{ %a = tensor.sub %x, %z : tensor<4 x f32>\n %b = tensor.neg %a : tensor<4 x f32>\n return %b }",
        "{ %a = tensor.constant {value = 1.0} : tensor<4 x f32>\n return %a }",
        "{ %a = tensor.constant {value = 2.0} : tensor<4 x f32>\n return %a }",
        "{ return %x }",
        "{ return %z }",
    };
    enum { COUNT = sizeof bodies / sizeof bodies[0] };
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t k = 0; k < COUNT; k++) {
            text_buffer one, other;
            text_init(&one);
            text_init(&other);
            text_printf(&one, "%s%s", SIGNATURE, bodies[i]);
            text_printf(&other, "%s%s", SIGNATURE, bodies[k]);
            assert_int_equal(are_of_one_class(one.p, other.p), i == k);
            text_fini(&one);
            text_fini(&other);
        }
    }
}

/* Two functions that differ in what they say after `constant`. */
static bool are_alike(const char *one, const char *other)
{
    text_buffer first, second;
    text_init(&first);
    text_init(&second);
    text_printf(&first, "%s{ %%c = constant %s\n return %%x }", SIGNATURE, one);
    text_printf(&second, "%s{ %%c = constant %s\n return %%x }", SIGNATURE, other);
    const bool is_one = are_of_one_class(first.p, second.p);
    text_fini(&first);
    text_fini(&second);
    return is_one;
}

TEST(numbers_of_float_constants_do_not_count)
{
    assert_true(are_alike("{value = 1.5} : f32", "{value = -2.5e30} : f32"));
    assert_true(are_alike("{value = 0.5} : f16", "{value = 65504.0} : f16"));
}

TEST(other_constants_count)
{
    assert_false(are_alike("{value = 1} : i32", "{value = 2} : i32"));
    assert_false(are_alike("{value = 1} : index", "{value = 2} : index"));
    assert_false(are_alike("{value = 1} : f32", "{value = 2} : f32"));
    assert_false(are_alike("{value = 1.5} : f32", "{value = 1.5} : f16"));
    assert_false(are_alike("{value = 1.5} : f32", "{value = inf} : f32"));
    assert_false(are_alike("{value = 1.5} : f32", "{value = nan} : f32"));
    assert_false(are_alike("{value = 1.5} : f32", "{value = 1.5, a.b = 1} : f32"));
    /* A number that only rounding brings into the range, which another one is not in. */
    assert_false(are_alike("{value = 65504.0} : f16", "{value = 65519.0} : f16"));
}

TEST(types_of_parameters_and_attributes_of_functions_count)
{
    assert_true(are_of_one_class("(%x: tensor<4 x f32>) -> tensor<4 x f32> { return %x }",
                                 "(%x: tensor<4 x f32>) -> tensor<4 x f32> { return %x }"));
    assert_false(are_of_one_class("(%x: tensor<4 x f32>) -> tensor<4 x f32> { return %x }",
                                  "(%x: tensor<5 x f32>) -> tensor<5 x f32> { return %x }"));
    assert_false(are_of_one_class("(%x: tensor<$A x f32>) -> tensor<$A x f32> { return %x }",
                                  "(%x: tensor<$A x f32>) -> tensor<$A x f32> where ($A >= 1) { return %x }"));
}

TEST(in_which_block_an_op_is_counts)
{
    static const char both[] = "(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  for %i = 0 to 4 {\n    debug.print %x\n"
                               "    debug.print %x\n  }\n  return %x\n}",
                      one[] =
                          "(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  for %i = 0 to 4 {\n    debug.print %x\n  }\n"
                          "  debug.print %x\n  return %x\n}";
    assert_true(are_of_one_class(both, both));
    assert_true(are_of_one_class(one, one));
    assert_false(are_of_one_class(both, one));
}

TEST(a_function_that_calls_is_of_a_class_of_its_own)
{
    static const char call[] =
        "(%x: tensor<4 x f32>) -> tensor<4 x f32> { %a = call @k(%x) : tensor<4 x f32>\n return %a }";
    assert_false(are_of_one_class(call, call));
}

TEST(many_classes_come_and_go)
{
    text_buffer t;
    text_init(&t);
    for (int i = 0; i < 300; i++)
        text_printf(&t, "func @f%d(%%x: tensor<%d x f32>) -> tensor<%d x f32> { return %%x }\n", i, 1 + i / 2,
                    1 + i / 2);
    module_fixture x = module_fixture_verified(t.p);
    text_fini(&t);
    arena *a = arena_create("test");
    function_classes *s = function_classes_create(a, x.m);
    for (int round = 0; round < 3; round++) {
        function_class *classes[300];
        uint32_t n = 0;
        BLOCK_EACH_OP(x.m, f, module_top(x.m)) {
            classes[n] = function_class_join(s, f, false);
            assert_int_equal(classes[n]->facts[0], n % 2);
            assert_true(n % 2 == 0 || classes[n] == classes[n - 1]);
            classes[n++]->facts[0] = 1;
        }
        for (uint32_t i = 0; i < n; i++) function_class_leave(s, classes[i]);
    }
    module_fixture_end(&x);
    arena_destroy(a);
}
