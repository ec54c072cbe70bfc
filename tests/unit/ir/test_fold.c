#include "ir/fold.h"

#include "tests/unit/module_fixture.h"

#include <math.h>
#include <stdio.h>

/* A function whose last op before `return` is the one to fold. */
typedef struct folded {
    module_fixture ir;
    op_id op;
    attr_id value;
} folded;

static folded fold_text(const char *body, const char *type)
{
    folded f;
    char text[2048];
    snprintf(text, sizeof text, "func @f() -> %s {\n%s\n  return %%r\n}\n", type, body);
    f.ir = module_fixture_verified(text);
    f.op = op_prev(f.ir.m, block_last(f.ir.m, function_body(f.ir.m, block_first(f.ir.m, module_top(f.ir.m)))));
    f.value = op_fold(f.ir.m, f.op);
    return f;
}

static void expect_number(const char *body, const char *type, double want)
{
    folded f = fold_text(body, type);
    assert_int_not_equal(f.value, 0);
    const attr_node *n = attr_at(f.ir.c, f.value);
    if (n->kind == ATTR_INT)
        assert_true((double)n->i == want);
    else
        assert_true(n->kind == ATTR_FLOAT && (n->f == want || (isnan(n->f) && isnan(want))));
    module_fixture_end(&f.ir);
}

static void expect_nothing(const char *body, const char *type)
{
    folded f = fold_text(body, type);
    assert_int_equal(f.value, 0);
    module_fixture_end(&f.ir);
}

/* A splat operation of two numbers of one element type. */
static void expect_binary(const char *op, const char *element, const char *a, const char *b, double want)
{
    char type[64], body[512];
    snprintf(type, sizeof type, "tensor<3 x %s>", element);
    snprintf(body, sizeof body,
             "%%a = tensor.constant {value = %s} : %s\n%%b = tensor.constant {value = %s} : %s\n"
             "%%r = tensor.%s %%a, %%b : %s",
             a, type, b, type, op, type);
    expect_number(body, type, want);
}

TEST(floats_are_rounded_once_to_the_element_type)
{
    expect_binary("add", "f32", "16777216.0", "1.0", 16777216.0);
    expect_binary("add", "f32", "16777216.0", "3.0", 16777220.0);
    expect_binary("add", "bf16", "256.0", "1.0", 256.0);
    expect_binary("add", "bf16", "258.0", "1.0", 260.0);
    expect_binary("mul", "f16", "300.0", "300.0", (double)INFINITY);
    expect_binary("sub", "f16", "2049.0", "0.0", 2048.0);
    expect_binary("div", "f32", "1.0", "3.0", (double)(1.0f / 3.0f));
    expect_binary("div", "f32", "1.0", "0.0", (double)INFINITY);
    expect_binary("div", "f16", "1.0", "3.0", 0.333251953125);
}

/* Truth values of two numbers. */
static void expect_truth(const char *op, const char *element, const char *a, const char *b, double want)
{
    char body[512];
    snprintf(body, sizeof body,
             "%%a = tensor.constant {value = %s} : tensor<%s>\n%%b = tensor.constant {value = %s} : tensor<%s>\n"
             "%%r = tensor.%s %%a, %%b : tensor<bool>",
             a, element, b, element, op);
    expect_number(body, "tensor<bool>", want);
}

TEST(comparisons_and_logic_fold)
{
    expect_truth("eq", "f32", "0.0", "-0.0", 1);
    expect_truth("ne", "f32", "nan", "nan", 1);
    expect_truth("le", "f32", "nan", "1.0", 0);
    expect_truth("lt", "u64", "1", "2", 1);
    expect_truth("lt", "i8", "-1", "2", 1);
    expect_truth("ge", "i32", "-3", "-3", 1);
    expect_truth("gt", "f16", "2.0", "1.0", 1);
    expect_truth("logical_and", "f32", "nan", "1.0", 1);
    expect_truth("logical_or", "i32", "0", "0", 0);
    expect_truth("eq", "bool", "true", "true", 1);
    expect_binary("bitwise_xor", "i8", "-1", "5", -6);
    expect_binary("bitwise_and", "u8", "200", "77", 72);
    expect_binary("bitwise_or", "bool", "true", "false", 1);
    expect_binary("fmod", "i32", "-7", "3", -1);
    expect_binary("fmod", "f32", "-7.5", "2.0", -1.5);
}

static void expect_unary(const char *op, const char *element, const char *result, const char *a, double want)
{
    char body[512], type[64];
    snprintf(type, sizeof type, "tensor<%s>", result);
    snprintf(body, sizeof body, "%%a = tensor.constant {value = %s} : tensor<%s>\n%%r = tensor.%s %%a : %s", a, element,
             op, type);
    expect_number(body, type, want);
}

TEST(exact_functions_fold)
{
    expect_unary("abs", "i8", "i8", "-128", -128);
    expect_unary("abs", "f32", "f32", "-2.5", 2.5);
    expect_unary("sign", "i32", "i32", "-9", -1);
    expect_unary("sign", "f32", "f32", "nan", (double)NAN);
    expect_unary("relu", "bf16", "bf16", "-1.0", 0);
    expect_unary("floor", "f32", "f32", "-1.5", -2);
    expect_unary("ceil", "f32", "f32", "1.25", 2);
    expect_unary("round", "f16", "f16", "2.5", 2);
    expect_unary("trunc", "f16", "f16", "-2.5", -2);
    expect_unary("sqrt", "f32", "f32", "2.0", (double)1.41421354f);
    expect_unary("bitwise_not", "u8", "u8", "1", 254);
    expect_unary("bitwise_not", "bool", "bool", "true", 0);
    expect_unary("logical_not", "f32", "bool", "0.0", 1);
    expect_unary("isnan", "f32", "bool", "nan", 1);
    expect_unary("isinf", "f32", "bool", "1.0", 0);
    expect_unary("isfinite", "f32", "bool", "inf", 0);
}

TEST(what_the_c_library_rounds_and_remainders_of_zero_do_not_fold)
{
    expect_nothing("%a = tensor.constant {value = 1.0} : tensor<f32>\n%r = tensor.exp %a : tensor<f32>", "tensor<f32>");
    expect_nothing("%a = tensor.constant {value = 1} : tensor<i32>\n%b = tensor.constant {value = 0} : tensor<i32>\n"
                   "%r = tensor.fmod %a, %b : tensor<i32>",
                   "tensor<i32>");
}

TEST(choices_fold_element_by_element)
{
    expect_number(
        "%c = tensor.constant {value = true} : tensor<4 x bool>\n%a = tensor.constant {value = 3} : tensor<i32>\n"
        "%b = tensor.constant {value = 5} : tensor<4 x i32>\n%r = tensor.where %c, %a, %b : tensor<4 x i32>",
        "tensor<4 x i32>", 3);
    folded f =
        fold_text("%c = tensor.constant {value = dense [true, false, true] : tensor<3 x bool>} : tensor<3 x bool>\n"
                  "%a = tensor.constant {value = -1} : tensor<i8>\n"
                  "%b = tensor.constant {value = dense [7, 8, 9] : tensor<3 x i8>} : tensor<3 x i8>\n"
                  "%r = tensor.where %c, %a, %b : tensor<3 x i8>",
                  "tensor<3 x i8>");
    assert_int_not_equal(f.value, 0);
    const attr_node *n = attr_at(f.ir.c, f.value);
    assert_int_equal(n->kind, ATTR_DENSE);
    static const uint8_t want[] = {0xff, 8, 0xff};
    assert_memory_equal(n->bytes, want, sizeof want);
    module_fixture_end(&f.ir);
}

TEST(integers_wrap_and_divide_toward_zero)
{
    expect_binary("add", "i8", "127", "1", -128);
    expect_binary("add", "u8", "255", "2", 1);
    expect_binary("sub", "u16", "0", "1", 65535);
    expect_binary("mul", "i32", "65536", "65536", 0);
    expect_binary("div", "i32", "-7", "2", -3);
    expect_binary("div", "i8", "-128", "-1", -128);
    expect_binary("div", "u32", "4294967295", "2", 2147483647);
    expect_binary("maximum", "i8", "-3", "2", 2);
    expect_binary("maximum", "u8", "253", "2", 253);
    expect_binary("minimum", "i64", "-3", "2", -3);
}

TEST(integer_division_by_zero_is_left_to_run_time)
{
    expect_nothing(
        "%a = tensor.constant {value = 1} : tensor<2 x i32>\n%b = tensor.constant {value = 0} : tensor<2 x i32>\n"
        "%r = tensor.div %a, %b : tensor<2 x i32>",
        "tensor<2 x i32>");
}

#define OPERANDS \
    "%a = tensor.constant {value = nan} : tensor<2 x f32>\n%b = tensor.constant {value = 1.0} : tensor<2 x f32>\n"

TEST(nan_follows_the_attribute)
{
    expect_binary("maximum", "f32", "nan", "1.0", (double)NAN);
    expect_number(OPERANDS "%r = tensor.maximum %a, %b {nan = \"ignore\"} : tensor<2 x f32>", "tensor<2 x f32>", 1.0);
    expect_nothing(OPERANDS "%r = tensor.maximum %a, %b {nan = \"any\"} : tensor<2 x f32>", "tensor<2 x f32>");
}

TEST(signed_zeros_are_ordered)
{
    folded f = fold_text("%a = tensor.constant {value = -0.0} : tensor<2 x f32>\n%b = tensor.constant {value = 0.0} : "
                         "tensor<2 x f32>\n%r = tensor.maximum %a, %b : tensor<2 x f32>",
                         "tensor<2 x f32>");
    assert_false(signbit(attr_at(f.ir.c, f.value)->f));
    module_fixture_end(&f.ir);
    f = fold_text("%a = tensor.constant {value = 0.0} : tensor<2 x f32>\n%r = tensor.neg %a : tensor<2 x f32>",
                  "tensor<2 x f32>");
    assert_true(signbit(attr_at(f.ir.c, f.value)->f));
    module_fixture_end(&f.ir);
}

static void expect_bytes(const char *body, const char *type, uint32_t count, const void *want)
{
    folded f = fold_text(body, type);
    assert_int_not_equal(f.value, 0);
    const attr_node *n = attr_at(f.ir.c, f.value);
    assert_int_equal(n->kind, ATTR_DENSE);
    assert_int_equal(n->byte_count, count);
    assert_memory_equal(n->bytes, want, count);
    assert_int_equal(n->type, value_type(f.ir.m, op_result(f.ir.m, f.op, 0)));
    module_fixture_end(&f.ir);
}

TEST(dense_operands_broadcast)
{
    const float want[] = {11, 12, 13, 21, 22, 23};
    expect_bytes("%a = tensor.constant {value = dense [10.0, 20.0] : tensor<2 x 1 x f32>} : tensor<2 x 1 x f32>\n"
                 "%b = tensor.constant {value = dense [1.0, 2.0, 3.0] : tensor<3 x f32>} : tensor<3 x f32>\n"
                 "%r = tensor.add %a, %b : tensor<2 x 3 x f32>",
                 "tensor<2 x 3 x f32>", sizeof want, want);
    const int16_t sum[] = {6, 7};
    expect_bytes("%a = tensor.constant {value = 5} : tensor<i16>\n"
                 "%b = tensor.constant {value = dense [1, 2] : tensor<2 x i16>} : tensor<2 x i16>\n"
                 "%r = tensor.add %a, %b : tensor<2 x i16>",
                 "tensor<2 x i16>", sizeof sum, sum);
}

TEST(transpose_and_reshape_move_elements)
{
    const int32_t turned[] = {1, 4, 2, 5, 3, 6};
    expect_bytes("%a = tensor.constant {value = dense [1, 2, 3, 4, 5, 6] : tensor<2 x 3 x i32>} : tensor<2 x 3 x i32>\n"
                 "%r = tensor.transpose %a {perm = [1, 0]} : tensor<3 x 2 x i32>",
                 "tensor<3 x 2 x i32>", sizeof turned, turned);
    const int32_t same[] = {1, 2, 3, 4, 5, 6};
    expect_bytes("%a = tensor.constant {value = dense [1, 2, 3, 4, 5, 6] : tensor<2 x 3 x i32>} : tensor<2 x 3 x i32>\n"
                 "%r = tensor.reshape %a : tensor<6 x i32>",
                 "tensor<6 x i32>", sizeof same, same);
    /* 3-D: result (i, j, k) = operand (k, i, j). */
    const int8_t cube[] = {1, 5, 2, 6, 3, 7, 4, 8};
    expect_bytes("%a = tensor.constant {value = dense [1, 2, 3, 4, 5, 6, 7, 8] : tensor<2 x 2 x 2 x i8>} : tensor<2 x "
                 "2 x 2 x i8>\n"
                 "%r = tensor.transpose %a {perm = [1, 2, 0]} : tensor<2 x 2 x 2 x i8>",
                 "tensor<2 x 2 x 2 x i8>", sizeof cube, cube);
}

static void expect_cast(const char *from, const char *value, const char *to, const char *attrs, double want)
{
    char body[512], type[64];
    snprintf(type, sizeof type, "tensor<2 x %s>", to);
    snprintf(body, sizeof body, "%%a = tensor.constant {value = %s} : tensor<2 x %s>\n%%r = tensor.cast %%a {%s} : %s",
             value, from, attrs, type);
    expect_number(body, type, want);
}

TEST(casts_round_by_mode)
{
    expect_cast("f32", "2.5", "i32", "", 2);
    expect_cast("f32", "2.5", "i32", "mode = \"round\"", 3);
    expect_cast("f32", "-2.5", "i32", "mode = \"floor\"", -3);
    expect_cast("f32", "-2.5", "i32", "mode = \"trunc\"", -2);
    expect_cast("f32", "300.0", "u8", "saturate = true", 255);
    expect_cast("f32", "-3.0", "u8", "saturate = true", 0);
    expect_cast("f32", "-300.0", "i8", "saturate = true", -128);
    expect_cast("f32", "1.00390625", "bf16", "", 1.0);
    expect_cast("f32", "1.00390625", "bf16", "mode = \"ceil\"", 1.0078125);
    expect_cast("i32", "16777217", "f32", "", 16777216);
    expect_cast("i64", "9007199254740993", "f32", "mode = \"ceil\"", 9007200328482816.0);
    expect_cast("i32", "300", "i8", "", 44);
    expect_cast("i32", "300", "i8", "saturate = true", 127);
    expect_cast("i32", "-300", "u8", "saturate = true", 0);
    expect_cast("i32", "-1", "u16", "", 65535);
    expect_cast("f32", "70000.0", "f16", "", (double)INFINITY);
    expect_cast("f32", "70000.0", "f16", "mode = \"floor\", saturate = true", 65504);
}

TEST(doubtful_casts_are_left_to_run_time)
{
    expect_nothing("%a = tensor.constant {value = nan} : tensor<2 x f32>\n%r = tensor.cast %a : tensor<2 x i32>",
                   "tensor<2 x i32>");
    expect_nothing("%a = tensor.constant {value = 1e30} : tensor<2 x f32>\n%r = tensor.cast %a : tensor<2 x i32>",
                   "tensor<2 x i32>");
    expect_nothing("%a = tensor.constant {value = 1e30} : tensor<2 x f32>\n%r = tensor.cast %a {mode = \"trunc\"} : "
                   "tensor<2 x f16>",
                   "tensor<2 x f16>");
}

TEST(only_constants_fold)
{
    diag_engine *d = diag_create(stderr, 0);
    ir_context *c = context_create(d);
    module *m;
    str text =
        STR("func @f(%x: tensor<2 x f32>) -> tensor<2 x f32> {\n  %a = tensor.constant {value = resource(\"a.npy\")} : "
            "tensor<2 x f32>\n  %y = tensor.add %x, %x : tensor<2 x f32>\n  %z = tensor.add %a, %a : tensor<2 x f32>\n"
            "  %e = tensor.exp %a : tensor<2 x f32>\n  return %y\n}\n");
    assert_int_equal(parse_module(c, text, "fold.ptir", &m), OK);
    block_id body = function_body(m, block_first(m, module_top(m)));
    BLOCK_EACH_OP(m, o, body) assert_int_equal(op_fold(m, o), 0);
    module_destroy(m);
    context_destroy(c);
    diag_destroy(d);
}
