/* Ops that are not rows of ir/ops: read, verified and printed like those that are. */
#include "ir/op_table.h"

#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "tests/unit/module_fixture.h"

#include <string.h>

static status infer_like_first(module *m, uint32_t o, type_id *out)
{
    out[0] = value_type(m, op_operand(m, o, 0));
    return OK;
}

static const operand_spec two_tensors[] = {
    {.name = "a", .types = TY_TENSOR}, {.name = "b", .types = TY_TENSOR}, {.types = 0}};

static op_info row_of(const char *name)
{
    return (op_info){.name = name,
                     .doc = "A pair.",
                     .home = HOME_TENSOR,
                     .traits = TRAIT_PURE,
                     .dtypes = DT_FLOAT,
                     .in = two_tensors,
                     .out_count = 1,
                     .out_types = TY_TENSOR,
                     .attrs = {{"scale", SPEC_FLOAT, .def = "1.0", .doc = "factor"},
                               {"side", SPEC_ENUM, .choices = "left|right", .doc = "of the pair"}},
                     .infer = infer_like_first};
}

typedef struct counter {
    uint32_t asked;
} counter;

static void find_pair(void *self, op_table *t, str name)
{
    counter *c = self;
    c->asked++;
    const op_info row = row_of("acme.pair");
    if (str_is(name, "acme.pair")) op_table_add(t, &row);
}

static const char *const *pair_names(void *self)
{
    static const char *const names[] = {"acme.pair", NULL};
    (void)self;
    return names;
}

static const char *nowhere(void *self)
{
    (void)self;
    return "it was looked for in the attic";
}

typedef struct fixture {
    arena *a;
    counter asked;
    op_table *ops;
    module_fixture f;
} fixture;

static void start(fixture *x)
{
    *x = (fixture){.a = arena_create("test"), .f = module_fixture_none()};
    x->ops = op_table_create(x->a);
    const op_source source = {&x->asked, find_pair, pair_names, nowhere};
    op_table_set_source(x->ops, &source);
    context_set_ops(x->f.c, x->ops);
}

static void end(fixture *x)
{
    module_fixture_end(&x->f);
    arena_destroy(x->a);
}

static const char text[] = "func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                           "  %p = acme.pair %x, %x {scale = 2.0, side = \"left\"} : tensor<4 x f32>\n"
                           "  %p_1 = acme.pair %p, %x : tensor<4 x f32>\n"
                           "  return %p_1\n"
                           "}\n";

TEST(an_added_op_is_asked_for_once_read_verified_and_printed_in_both_forms)
{
    fixture x;
    start(&x);
    if (parse_module(x.f.c, str_from(text), "t.ptir", &x.f.m) != OK) fail_msg("%s", diag_record_at(x.f.d, 0)->text);
    assert_int_equal(module_verify(x.f.m), OK);
    assert_int_equal(x.asked.asked, 1);
    text_buffer out;
    text_init(&out);
    module_print(x.f.m, NULL, &out);
    assert_string_equal(out.p, text);
    out.n = 0;
    module_print(x.f.m, &(print_options){.generic = true}, &out);
    assert_non_null(strstr(out.p, "\"pto_acme.pair\"(%x, %x)"));
    module *again = NULL;
    assert_int_equal(parse_module(x.f.c, (str){out.p, out.n}, "g.ptir", &again), OK);
    out.n = 0;
    module_print(again, NULL, &out);
    assert_string_equal(out.p, text);
    text_fini(&out);
    module_destroy(again);
    end(&x);
}

static void expect_error(const char *op, const char *expected)
{
    fixture x;
    start(&x);
    char source[512];
    snprintf(source, sizeof source, "func @f(%%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  %%p = %s\n  return %%p\n}\n",
             op);
    if (parse_module(x.f.c, str_from(source), "t.ptir", &x.f.m) == OK) assert_int_equal(module_verify(x.f.m), FAILED);
    const char *said = diag_record_at(x.f.d, 0)->text;
    if (strstr(said, expected) == NULL) fail_msg("%s", said);
    end(&x);
}

TEST(an_added_op_is_checked_against_its_row)
{
    expect_error("acme.pair %x : tensor<4 x f32>", "has 1 operand and needs 2");
    expect_error("acme.pair %x, %x : tensor<5 x f32>", "has result type tensor<5 x f32>");
    expect_error("acme.pair %x, %x {side = \"middle\"} : tensor<4 x f32>", "one of left|right");
    expect_error("acme.pair %x, %x {scal = 1.0} : tensor<4 x f32>", "did you mean `scale`");
    expect_error("acme.pear %x, %x : tensor<4 x f32>", "did you mean `acme.pair`");
    expect_error("acme.something_else %x : tensor<4 x f32>", "looked for in the attic");
    expect_error("\"pto_acme.something_else\"(%x) : (tensor<4 x f32>) -> tensor<4 x f32>", "looked for in the attic");
}

TEST(a_level_that_is_added_has_a_number_and_a_home)
{
    arena *a = arena_create("test");
    op_table *t = op_table_create(a);
    assert_int_equal(op_table_add_level(t, "tile/1"), LEVEL_TILE);
    assert_int_equal(level_by_name(t, STR("acme.image/1")), LEVEL_NONE);
    const ir_level image = op_table_add_level(t, "acme.image/1");
    assert_int_equal(image, LEVEL_COUNT);
    assert_int_equal(op_table_add_level(t, "acme.image/1"), image);
    assert_string_equal(level_name(t, image), "acme.image/1");
    assert_int_equal(op_home_level(level_home(image)), image);
    assert_int_equal(level_guest(image), LEVEL_NONE);
    char name[16];
    for (uint32_t i = LEVEL_COUNT + 1; i < LEVELS_MAX; i++) {
        snprintf(name, sizeof name, "acme.l%u/1", i);
        assert_int_equal(op_table_add_level(t, name), i);
    }
    assert_int_equal(op_table_add_level(t, "acme.one_more/1"), LEVEL_NONE);
    arena_destroy(a);
}

TEST(a_table_numbers_what_is_added_after_the_rows_of_ours)
{
    arena *a = arena_create("test");
    op_table *t = op_table_create(a);
    char names[40][16];
    for (uint32_t i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "acme.op_%u", i);
        const op_info row = row_of(names[i]);
        assert_int_equal(op_table_add(t, &row), OP_KIND_COUNT + i);
    }
    assert_int_equal(op_kind_count(t), OP_KIND_COUNT + 40);
    assert_int_equal(op_kind_by_name(t, STR("acme.op_39")), OP_KIND_COUNT + 39);
    assert_string_equal(op_info_at(t, OP_KIND_COUNT + 20)->name, "acme.op_20");
    assert_int_equal(op_kind_by_name(t, STR("tensor.add")), OP_TENSOR_ADD);
    assert_int_equal(op_kind_by_name(t, STR("acme.op_40")), OP_NONE);
    assert_int_equal(op_kind_by_name(NULL, STR("acme.op_1")), OP_NONE);
    arena_destroy(a);
}
