#include "ir/text/printer.h"

#include "tests/unit/module_fixture.h"

#include <string.h>

typedef struct printed {
    module_fixture ir;
    text_buffer text;
} printed;

static void print_end(printed *p)
{
    text_fini(&p->text);
    module_fixture_end(&p->ir);
}

static void print_begin(printed *p, const char *text, const print_options *o)
{
    p->ir = module_fixture_parsed(text);
    text_init(&p->text);
    module_print(p->ir.m, o, &p->text);
}

static void prints_as(const char *text, const char *want)
{
    printed p;
    print_begin(&p, text, NULL);
    assert_string_equal(p.text.p, want);
    print_end(&p);
}

/* The text is canonical, and comes back from the generic form and with locations. */
static void stays(const char *text)
{
    prints_as(text, text);
    printed generic, back;
    print_begin(&generic, text, &(print_options){.generic = true, .locations = true});
    print_begin(&back, generic.text.p, NULL);
    assert_string_equal(back.text.p, text);
    print_end(&back);
    print_end(&generic);
    print_begin(&generic, text, &(print_options){.locations = true});
    print_begin(&back, generic.text.p, &(print_options){.locations = true});
    assert_string_equal(back.text.p, generic.text.p);
    print_end(&back);
    print_end(&generic);
}

#define IN_FUNC(lines) "func @f(%n: index, %x: tensor<4 x f32>) {\n" lines "  return\n}\n"

TEST(wrapper_only_with_a_name_or_attributes)
{
    prints_as("module {\n func @f() { return }\n}\n", "func @f() {\n  return\n}\n");
    stays("module @m {\n  func @f() {\n    return\n  }\n}\n");
    stays("module {a = 1} {\n}\n");
}

TEST(white_space_and_comments_do_not_matter)
{
    prints_as("func@f(%n:index){for %i=0 to %n step 1{}//c\n return}",
              "func @f(%n: index) {\n  for %i to %n {\n  }\n  return\n}\n");
}

TEST(attributes_stand_in_the_order_of_the_row)
{
    prints_as(IN_FUNC("  %y = tensor.reduce_sum %x {z.z = 1, order = \"ascending\", keepdim = false, a.a = 2, axis = "
                      "[0]} : tensor<f32>\n"),
              IN_FUNC("  %y = tensor.reduce_sum %x {axis = 0, keepdim = false, order = \"ascending\", a.a = 2, z.z = "
                      "1} : tensor<f32>\n"));
}

TEST(values_of_every_kind_of_attribute_come_back)
{
    stays(IN_FUNC("  %y = tensor.neg %x {v.a = [true, false, 1, -2, 0.5, -0.0, 1e+300, inf, -inf, nan], v.b = "
                  "\"\\\"\\\\\\n\\u0001\", "
                  "v.c = @f, v.d = tile<16 x 16 x f32, ?>, v.e = {a = {}, b = [], \"c d\" = 1}, v.f = u8, "
                  "v.g = dense [1, -1] : tensor<2 x i8>, v.h = resource(\"a\\\"b.npy\"), v.i = expr(2 * $B + 1), "
                  "v.j = -9223372036854775808, v.k = \"\xC3\xA9\"} : tensor<4 x f32>\n"));
}

TEST(every_scalar_type_comes_back)
{
    stays("func @f(%a: f32, %b: f16, %c: bf16, %d: f8e4m3, %e: f8e5m2, %g: f8e8m0, %h: i8, %i: i16, %j: i32, %k: i64, "
          "%l: u8, %m: u16, %n: u32, %o: u64, %p: bool, %q: index) {\n  return\n}\n");
}

TEST(dense_constants_come_back_in_every_type)
{
    static const char *const types[] = {"f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32", "i64"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        text_buffer t;
        text_init(&t);
        bool is_float = types[i][0] == 'f' || types[i][0] == 'b';
        text_printf(
            &t,
            "func @f() {\n  %%c = tensor.constant {value = dense %s : tensor<3 x %s>} : tensor<3 x %s>\n  return\n}\n",
            is_float ? "[0.1, -3.5, nan]" : "[0, -128, 127]", types[i], types[i]);
        printed first, second;
        print_begin(&first, t.p, NULL);
        print_begin(&second, first.text.p, NULL);
        assert_string_equal(first.text.p, second.text.p);
        if (!is_float || strcmp(types[i], "f32") == 0) assert_string_equal(first.text.p, t.p);
        print_end(&second);
        print_end(&first);
        text_fini(&t);
    }
}

TEST(names_that_mlir_cannot_read_come_back)
{
    printed p;
    print_begin(&p, "func @f(%2d: index, %_2: index, %7: index, %a: index) {\n  return\n}\n",
                &(print_options){.generic = true});
    assert_non_null(strstr(p.text.p, "^bb0(%_.2d: index, %_2: index, %7: index, %a: index):"));
    print_end(&p);
    stays("func @f(%2d: index, %_2: index, %7: index, %a: index) {\n  return\n}\n");
}

TEST(control_comes_back)
{
    stays("func @f(%n: index, %x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
          "  %w = while carry(%a = %x) {\n"
          "    %k = constant {value = 0} : bool\n"
          "    yield %k\n"
          "  } do (%b) {\n"
          "    %c = if %n + 1 >= 3 * %n {\n"
          "      yield %b\n"
          "    } else {\n"
          "      yield %x\n"
          "    } : tensor<4 x f32>\n"
          "    yield %c\n"
          "  } : tensor<4 x f32>\n"
          "  return %w\n"
          "}\n");
}

TEST(op_print_prints_one_op_with_its_blocks)
{
    printed p;
    print_begin(&p, IN_FUNC("  for %i to %n {\n    if %i < 2 {\n    }\n  }\n"), NULL);
    p.text.n = 0;
    op_id loop = block_first(p.ir.m, function_body(p.ir.m, block_first(p.ir.m, module_top(p.ir.m))));
    op_print(p.ir.m, loop, NULL, &p.text);
    assert_string_equal(p.text.p, "for %i to %n {\n  if %i < 2 {\n  }\n}");
    print_end(&p);
}

TEST(a_deep_module_prints)
{
    text_buffer t;
    text_init(&t);
    text_puts(&t, "func @f(%n: index) {\n");
    for (int i = 1; i <= 255; i++) {
        for (int k = 0; k < i; k++) text_puts(&t, "  ");
        text_puts(&t, "if %n < 1 {\n");
    }
    for (int i = 255; i >= 1; i--) {
        for (int k = 0; k < i; k++) text_puts(&t, "  ");
        text_puts(&t, "}\n");
    }
    text_puts(&t, "  return\n}\n");
    stays(t.p);
    text_fini(&t);
}
